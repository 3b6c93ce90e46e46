//! Translation of lambdas, lets, recursive functions and patterns to Core.

use super::concrete::MonoType;
use super::known::tuple_types;
use super::{Instances, Meaning, Mono};
use crate::resolve::{BindingId, count_names};
use crate::source::spine;
use crate::types::TypeVariable;
use nova_core::Type;
use nova_core::ir::{self, ExpressionKind, Variable};
use nova_diag::deep;
use nova_syntax::ast::{self, Pattern, PatternKind};
use std::sync::Arc;

/// The variable of the whole value that a pattern matches, and the variables of its parts. Each
/// part has its variable, that of its tuple, and its index.
pub(super) struct Bound {
    pub variable: Variable,
    pub pieces: Vec<(Variable, Variable, u32)>,
}

/// The translation of a binding of a let.
enum Plan {
    /// None: it is another name for a built-in.
    Alias,
    Plain(Bound),
    Generalised(BindingId),
}

impl Mono<'_, '_> {
    /// Returns the variable of a binding that is not generalised.
    pub fn plain_variable(&mut self, binding: BindingId) -> Variable {
        let ty = self.inference.bindings[binding.index()].ty;
        let at = self.source.resolved.bindings[binding.index()].span;
        let ty = self.core_type(ty, at);
        let name = &self.source.resolved.bindings[binding.index()].name;
        let variable = self.writer.core.add_variable(name.clone(), ty);
        self.bindings[binding.index()] = Meaning::Variable(variable);
        variable
    }

    /// Makes the variables of a pattern for values of type `ty`.
    pub fn bind_pattern(&mut self, pattern: &Pattern, ty: Type, next: &mut u32) -> Bound {
        let mut pieces = Vec::new();
        let variable = self.pattern_variable(pattern, ty, next, &mut pieces);
        Bound { variable, pieces }
    }

    fn pattern_variable(
        &mut self,
        pattern: &Pattern,
        ty: Type,
        next: &mut u32,
        pieces: &mut Vec<(Variable, Variable, u32)>,
    ) -> Variable {
        match &pattern.kind {
            PatternKind::Name(_) => {
                let binding = BindingId(*next);
                *next += 1;
                self.plain_variable(binding)
            }
            PatternKind::Wildcard => self.writer.core.add_variable("_", ty),
            PatternKind::Tuple(elements) => {
                let types = tuple_types(&ty);
                let whole = self.writer.core.add_variable("t", ty);
                for (index, (element, ty)) in elements.iter().zip(types).enumerate() {
                    if let PatternKind::Wildcard = element.kind {
                        continue;
                    }
                    // A part is bound before its own parts.
                    let at = pieces.len();
                    pieces.push((whole, whole, index as u32));
                    let part = deep(|| self.pattern_variable(element, ty, next, pieces));
                    pieces[at].0 = part;
                }
                whole
            }
        }
    }

    /// Translates the parameters and the body of a lambda.
    pub fn translate_lambda_parts(
        &mut self,
        id: ast::ExpressionId,
        parameters: &[Pattern],
        body: ast::ExpressionId,
    ) -> (Vec<Variable>, ir::ExpressionId) {
        let mut next = self.source.resolved.first_binding[id.0 as usize].0;
        let mut ty = self.type_of(id);
        let mut variables = Vec::new();
        let mut pieces = Vec::new();
        for parameter in parameters {
            let (parameter_type, rest) = match ty {
                Type::Function(parameter, result) => ((*parameter).clone(), (*result).clone()),
                _ => (Type::Unit, ty),
            };
            let bound = self.bind_pattern(parameter, parameter_type, &mut next);
            variables.push(bound.variable);
            pieces.extend(bound.pieces);
            ty = rest;
        }
        let translated = self.translate(body);
        let translated = self.writer.wrap_pieces(&pieces, translated, body);
        (variables, translated)
    }

    /// Translates the value of a recursive binding to a lambda.
    pub fn translate_lambda(&mut self, value: ast::ExpressionId) -> ir::ExpressionId {
        let function = self.translate(value);
        let ty = self.writer.core.expression(function).ty.clone();
        match (&self.writer.core.expression(function).kind, ty) {
            (ExpressionKind::Lambda { .. }, _) => function,
            (_, Type::Function(parameter, result)) => {
                let parameter = self.writer.core.add_variable("x", (*parameter).clone());
                let argument = self.writer.variable(parameter, value);
                let kind = ExpressionKind::Apply {
                    function,
                    arguments: vec![argument],
                };
                let body = self.writer.add(kind, (*result).clone(), value);
                self.writer.lambda(vec![parameter], body, value)
            }
            (_, _) => function,
        }
    }

    /// Translates a recursive function.
    pub fn translate_mu(
        &mut self,
        id: ast::ExpressionId,
        value: ast::ExpressionId,
    ) -> ir::ExpressionId {
        let binding = self.source.resolved.first_binding[id.0 as usize];
        let variable = self.plain_variable(binding);
        let function = self.translate_lambda(value);
        let body = self.writer.variable(variable, id);
        let ty = self.writer.core.variable(variable).ty.clone();
        let kind = ExpressionKind::Letrec {
            bindings: vec![(variable, function)],
            body,
        };
        self.writer.add(kind, ty, id)
    }

    /// Translates a let. Its scope comes first, so that the instances that its values need are
    /// known.
    pub fn translate_let(
        &mut self,
        id: ast::ExpressionId,
        bindings: &[(Pattern, ast::ExpressionId)],
        body: ast::ExpressionId,
    ) -> ir::ExpressionId {
        let mut next = self.source.resolved.first_binding[id.0 as usize].0;
        let mut plans = Vec::with_capacity(bindings.len());
        for (pattern, value) in bindings {
            let first = next;
            if self.source.is_alias(pattern, *value) {
                plans.push(Plan::Alias);
                next += 1;
            } else if self.is_generalised(pattern, first) {
                let instances = Meaning::Instances(Instances::default());
                self.bindings[first as usize] = instances;
                plans.push(Plan::Generalised(BindingId(first)));
                next += 1;
            } else {
                let ty = self.type_of(*value);
                let bound = self.bind_pattern(pattern, ty, &mut next);
                debug_assert_eq!(next, first + count_names(pattern));
                plans.push(Plan::Plain(bound));
            }
        }
        let mut body = self.translate(body);
        for ((_, value), plan) in bindings.iter().zip(plans).rev() {
            body = self.translate_binding(*value, plan, body, id);
        }
        body
    }

    fn is_generalised(&self, pattern: &Pattern, binding: u32) -> bool {
        matches!(pattern.kind, PatternKind::Name(_))
            && !self.inference.bindings[binding as usize]
                .quantified
                .is_empty()
    }

    fn translate_binding(
        &mut self,
        value: ast::ExpressionId,
        plan: Plan,
        body: ir::ExpressionId,
        at: ast::ExpressionId,
    ) -> ir::ExpressionId {
        match plan {
            Plan::Alias => body,
            Plan::Plain(bound) => {
                let translated = self.translate(value);
                let body = self.writer.wrap_pieces(&bound.pieces, body, at);
                self.writer.bind(bound.variable, translated, body, at)
            }
            Plan::Generalised(binding) => {
                let meaning =
                    std::mem::replace(&mut self.bindings[binding.index()], Meaning::Unused);
                let Meaning::Instances(instances) = meaning else {
                    return body;
                };
                let quantified = self.inference.bindings[binding.index()].quantified.clone();
                let list = instances.list.into_iter();
                let list = list.map(|(types, variables)| (types, variables[0]));
                self.instances(value, &quantified, list.collect(), body, at)
            }
        }
    }

    /// Binds the instances of a generalised value around `body`. Arguments of a partial application
    /// that are no values are evaluated once, before.
    pub fn instances(
        &mut self,
        value: ast::ExpressionId,
        quantified: &Arc<[TypeVariable]>,
        list: Vec<(Arc<[MonoType]>, Variable)>,
        body: ir::ExpressionId,
        at: ast::ExpressionId,
    ) -> ir::ExpressionId {
        let arguments = match quantified.is_empty() {
            true => Vec::new(),
            false => self.arguments_to_hoist(value),
        };
        let mut hoisted = Vec::new();
        for &argument in &arguments {
            let translated = self.translate(argument);
            let ty = self.writer.core.expression(translated).ty.clone();
            let variable = self.writer.core.add_variable("a", ty);
            hoisted.push((variable, translated));
        }
        for (&argument, (variable, _)) in arguments.iter().zip(&hoisted) {
            self.hoisted.insert(argument, *variable);
        }
        let mut body = body;
        for (types, variable) in list.into_iter().rev() {
            if self.too_large {
                break;
            }
            self.enter_instance(quantified, &types);
            let translated = self.translate(value);
            self.leave_instance(quantified);
            body = self.writer.bind(variable, translated, body, at);
        }
        for argument in &arguments {
            self.hoisted.remove(argument);
        }
        for (variable, translated) in hoisted.into_iter().rev() {
            body = self.writer.bind(variable, translated, body, at);
        }
        body
    }

    /// Returns the arguments of a partial application that must be evaluated once.
    fn arguments_to_hoist(&self, value: ast::ExpressionId) -> Vec<ast::ExpressionId> {
        let forms = self.forms();
        let Some(application) = forms.application(value) else {
            return Vec::new();
        };
        let (_, arguments) = spine(forms.program, forms.resolved, application);
        arguments
            .into_iter()
            .filter(|argument| !forms.is_duplicable(*argument))
            .collect()
    }
}
