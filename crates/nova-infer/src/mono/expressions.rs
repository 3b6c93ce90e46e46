//! Translation of expressions to Core, except for applications and bindings.

use super::{Meaning, Mono};
use crate::literals::{bad_literal, literal};
use crate::resolve::{BindingId, Resolution, count_names};
use nova_core::ir::{self, Arm, ExpressionKind, Variable};
use nova_core::{ScalarValue, SumId, Type};
use nova_diag::deep;
use nova_syntax::ast::{self, ExpressionKind as Syntax};

impl Mono<'_, '_> {
    /// Translates an expression.
    pub fn translate(&mut self, id: ast::ExpressionId) -> ir::ExpressionId {
        if self.too_large {
            return self.writer.add(ExpressionKind::Unit, Type::Unit, id);
        }
        if !self.hoisted.is_empty()
            && let Some(&variable) = self.hoisted.get(&id)
        {
            return self.writer.variable(variable, id);
        }
        deep(|| self.translate_kind(id))
    }

    /// Translates several expressions, in order.
    pub fn translate_all(&mut self, ids: &[ast::ExpressionId]) -> Vec<ir::ExpressionId> {
        ids.iter().map(|id| self.translate(*id)).collect()
    }

    fn translate_kind(&mut self, id: ast::ExpressionId) -> ir::ExpressionId {
        let program = self.source.program;
        match &program.expression(id).kind {
            Syntax::Name(_) => self.translate_name(id),
            Syntax::Number(number) => self.translate_number(id, number),
            Syntax::Bool(value) => {
                let kind = ExpressionKind::Literal(ScalarValue::Bool(*value));
                self.writer.add(kind, Type::BOOL, id)
            }
            Syntax::Nil | Syntax::Wrong(_) => self.writer.add(ExpressionKind::Unit, Type::Unit, id),
            Syntax::Foreach {
                datum,
                links,
                nodes,
            } => self.translate_foreach(id, *datum, links, nodes),
            Syntax::Up { body, links } => self.translate_up(id, *body, links),
            Syntax::Down(datum) => self.translate_down(id, *datum),
            Syntax::Text(bytes) => {
                let ty = self.type_of(id);
                self.writer.add(ExpressionKind::Text(bytes.clone()), ty, id)
            }
            Syntax::Vector(elements) => {
                let elements = self.translate_all(elements);
                let ty = self.type_of(id);
                self.writer.add(ExpressionKind::Vector(elements), ty, id)
            }
            Syntax::Apply(function, arguments) => self.translate_apply(id, *function, arguments),
            Syntax::Lambda {
                parameters, body, ..
            } => {
                let (parameters, body) = self.translate_lambda_parts(id, parameters, *body);
                self.writer.lambda(parameters, body, id)
            }
            Syntax::Let { bindings, body } => self.translate_let(id, bindings, *body),
            Syntax::Mu { value, .. } => self.translate_mu(id, *value),
            Syntax::If {
                condition,
                then,
                otherwise,
            } => {
                let condition = self.translate(*condition);
                let then = self.translate(*then);
                let otherwise = self.translate(*otherwise);
                let ty = self.type_of(id);
                let kind = ExpressionKind::If {
                    condition,
                    then,
                    otherwise,
                };
                self.writer.add(kind, ty, id)
            }
            Syntax::Case { scrutinee, arms } => self.translate_case(id, *scrutinee, arms),
            Syntax::Tuple(elements) => {
                let elements = self.translate_all(elements);
                let ty = self.type_of(id);
                self.writer.add(ExpressionKind::Tuple(elements), ty, id)
            }
            Syntax::Project(tuple, index, _) => {
                let tuple = self.translate(*tuple);
                let ty = self.type_of(id);
                self.writer
                    .add(ExpressionKind::Project(tuple, *index), ty, id)
            }
            Syntax::Index(collection, index) => self.translate_index(id, *collection, *index),
            Syntax::Annotate(inner, _) => self.translate(*inner),
        }
    }

    fn translate_name(&mut self, id: ast::ExpressionId) -> ir::ExpressionId {
        match self.source.resolved.names[id.0 as usize] {
            Resolution::Unbound => self.writer.add(ExpressionKind::Unit, Type::Unit, id),
            Resolution::Binding(binding) => {
                if let Some((parameters, body)) = self.link_lambda(id) {
                    return self.writer.lambda(parameters, body, id);
                }
                let variable = self.binding_variable(id, binding);
                self.writer.variable(variable, id)
            }
            Resolution::Definition(definition) => {
                let variable = self.definition_instance(id, definition);
                self.writer.variable(variable, id)
            }
            Resolution::Constructor(sum, constructor)
                if self.source.is_constant(sum, constructor) =>
            {
                let payload = self.writer.add(ExpressionKind::Unit, Type::Unit, id);
                let ty = self.type_of(id);
                let kind = ExpressionKind::Construct {
                    constructor,
                    payload,
                };
                self.writer.add(kind, ty, id)
            }
            Resolution::Builtin(_) | Resolution::Constructor(..) | Resolution::Foreign(_) => {
                self.known_value(id, id, &[])
            }
        }
    }

    /// Returns the variable that a use of a binding refers to.
    pub fn binding_variable(&mut self, id: ast::ExpressionId, binding: BindingId) -> Variable {
        if let Meaning::Variable(variable) = &self.bindings[binding.index()] {
            return *variable;
        }
        let types = self.instance_types(id);
        if let Meaning::Instances(instances) = &self.bindings[binding.index()]
            && let Some(&found) = instances.by_types.get(&types)
        {
            return instances.list[found].1[0];
        }
        self.check_instance(&types, id);
        let name = self.source.resolved.bindings[binding.index()].name.clone();
        let ty = self.type_of(id);
        let variable = self.writer.core.add_variable(name, ty);
        if let Meaning::Instances(instances) = &mut self.bindings[binding.index()]
            && instances.list.len() < super::MOST_INSTANCES
        {
            instances.insert(types, vec![variable]);
        }
        variable
    }

    fn translate_number(
        &mut self,
        id: ast::ExpressionId,
        number: &ast::Number,
    ) -> ir::ExpressionId {
        let ty = self.type_of(id);
        if let Some((lanes, scalar)) = ty.as_lanes() {
            let element = Type::Scalar(scalar);
            let elements = (0..lanes).map(|_| self.number(id, number, element.clone()));
            let elements = elements.collect();
            return self.writer.add(ExpressionKind::Tuple(elements), ty, id);
        }
        self.number(id, number, ty)
    }

    fn number(
        &mut self,
        id: ast::ExpressionId,
        number: &ast::Number,
        ty: Type,
    ) -> ir::ExpressionId {
        let scalar = ty.as_scalar().unwrap_or(nova_core::Scalar::I32);
        let value = match literal(number, scalar) {
            Some(value) => value,
            None => {
                let span = self.source.span(id);
                self.report(bad_literal(number, scalar, span));
                ScalarValue::from_integer_wrapping(scalar, 0)
            }
        };
        self.writer.add(ExpressionKind::Literal(value), ty, id)
    }

    fn translate_case(
        &mut self,
        id: ast::ExpressionId,
        scrutinee: ast::ExpressionId,
        arms: &[ast::Arm],
    ) -> ir::ExpressionId {
        let value = self.translate(scrutinee);
        let ty = self.type_of(id);
        let mut sum = None;
        if let Type::Sum(known) = self.writer.core.expression(value).ty {
            sum = Some(known);
        }
        let payloads = self.inference.payloads.get(&id).cloned();
        let payloads = payloads.unwrap_or_default();
        let mut translated: Vec<Option<Arm>> = vec![None; self.constructors_of(sum)];
        let mut default = None;
        let mut next = self.source.resolved.first_binding[id.0 as usize].0;
        for (index, arm) in arms.iter().enumerate() {
            let at = self.source.span(id);
            let payload = payloads.get(index).map(|ty| self.core_type(*ty, at));
            let first = next;
            next += arm.payload.as_ref().map_or(0, count_names);
            let constructor = arm.constructor.as_ref();
            let constructor =
                constructor.and_then(|name| self.source.declarations.constructor(&name.text));
            match constructor {
                Some((_, constructor)) => {
                    let arm = self.translate_arm(arm, first, payload.unwrap_or(Type::Unit));
                    if let Some(place) = translated.get_mut(constructor as usize) {
                        *place = Some(arm);
                    }
                }
                None => default = Some(self.translate(arm.body)),
            }
        }
        match (sum, default) {
            (None, Some(body)) => {
                let given = self.writer.core.expression(value).ty.clone();
                let unused = self.writer.core.add_variable("_", given);
                self.writer.bind(unused, value, body, id)
            }
            (_, default) => {
                let all = translated.iter().all(Option::is_some);
                let kind = ExpressionKind::Case {
                    scrutinee: value,
                    arms: translated,
                    default: default.filter(|_| !all),
                };
                self.writer.add(kind, ty, id)
            }
        }
    }

    /// Returns the number of constructors a sum has.
    fn constructors_of(&self, sum: Option<SumId>) -> usize {
        sum.and_then(|sum| self.concrete.declaration(sum))
            .map_or(0, |id| self.source.declarations.sum(id).constructors.len())
    }

    fn translate_arm(&mut self, arm: &ast::Arm, first: u32, payload: Type) -> Arm {
        let Some(pattern) = &arm.payload else {
            let body = self.translate(arm.body);
            return Arm {
                variable: None,
                body,
            };
        };
        if let ast::PatternKind::Wildcard = pattern.kind {
            let body = self.translate(arm.body);
            return Arm {
                variable: None,
                body,
            };
        }
        let mut next = first;
        let bound = self.bind_pattern(pattern, payload, &mut next);
        let body = self.translate(arm.body);
        let body = self.writer.wrap_pieces(&bound.pieces, body, arm.body);
        Arm {
            variable: Some(bound.variable),
            body,
        }
    }
}
