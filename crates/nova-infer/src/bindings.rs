//! The types of the expressions that bind: lambdas, lets, recursive functions, patterns.

use crate::inference::Inference;
use crate::reasons::Because;
use crate::resolve::BindingId;
use crate::scheme::Scheme;
use crate::solver::Solver;
use crate::types::{Shallow, Ty, TyNode};
use crate::values::Forms;
use nova_diag::{Diagnostic, codes, deep};
use nova_syntax::ast::{self, ExpressionId, ExpressionKind, Name, Pattern, PatternKind};

impl Inference<'_> {
    /// Returns the data that decide which expressions are values.
    pub fn forms(&self) -> Forms<'_> {
        Forms {
            program: self.source.program,
            resolved: self.source.resolved,
            arities: &self.arities,
            definition_arities: &self.definition_arities,
        }
    }

    /// True if evaluating an expression again, or not at all, makes no difference.
    pub fn is_duplicable(&self, id: ExpressionId) -> bool {
        self.forms().is_duplicable(id)
    }

    /// Infers the type of a lambda.
    pub fn infer_lambda(
        &mut self,
        id: ExpressionId,
        parameters: &[Pattern],
        result: Option<ast::TypeId>,
        body: ExpressionId,
    ) -> Ty {
        let mut next = self.source.resolved.first_binding[id.0 as usize].0;
        let known = self.known_parameters.take_if(|(lambda, _)| *lambda == id);
        let known = known.map_or_else(Vec::new, |(_, types)| types);
        let mut inferred = Vec::with_capacity(parameters.len());
        for (index, parameter) in parameters.iter().enumerate() {
            let ty = self.infer_pattern(parameter, &mut next);
            if let Some(Some(known)) = known.get(index) {
                self.know_parameter(parameter, ty, *known);
            }
            inferred.push(ty);
        }
        let parameters = inferred;
        let recursive = match &self.expected_lambda {
            Some((lambda, _, _)) if *lambda == id => self.expected_lambda.take(),
            Some(_) | None => None,
        };
        let (expected_result, because) = match (result, &recursive) {
            (Some(annotation), _) => {
                let ty = self.annotation(annotation);
                let at = self.source.program.ty(annotation).span;
                (ty, Because::Annotation { at })
            }
            (None, Some((_, _, why))) => {
                (self.solver.types.open(self.source.span(body)), why.clone())
            }
            (None, None) => {
                // No variable for the result: the types of nested lambdas stay cheap.
                let result = self.infer(body);
                return self.solver.types.functions(&parameters, result);
            }
        };
        let whole = self.solver.types.functions(&parameters, expected_result);
        if let Some((_, expected, why)) = recursive {
            self.solver.expect(expected, whole, id, &why);
        }
        let found = self.infer(body);
        self.solver.expect(expected_result, found, body, &because);
        whole
    }

    /// Gives a parameter without annotation its type before the body of its lambda is inferred, so that a
    /// mistake is reported in the body. Types that do not agree are reported later, as those of an argument.
    fn know_parameter(&mut self, parameter: &Pattern, ty: Ty, known: Ty) {
        if parameter.annotation.is_some() {
            return;
        }
        match &parameter.kind {
            PatternKind::Name(_) | PatternKind::Wildcard => {
                let _ = self.solver.types.unify(ty, known);
            }
            PatternKind::Tuple(elements) => {
                let both = [ty, known].map(|ty| self.solver.types.shallow(ty));
                if let [
                    Shallow::Node(TyNode::Tuple(own)),
                    Shallow::Node(TyNode::Tuple(given)),
                ] = both
                    && own.len() == given.len()
                {
                    for ((element, own), given) in elements.iter().zip(&*own).zip(&*given) {
                        nova_diag::deep(|| self.know_parameter(element, *own, *given));
                    }
                }
            }
        }
    }

    /// Infers the type that a pattern matches. Its names get their types.
    pub fn infer_pattern(&mut self, pattern: &Pattern, next: &mut u32) -> Ty {
        let annotated = pattern
            .annotation
            .map(|annotation| (self.annotation(annotation), annotation));
        let ty = match (&pattern.kind, annotated) {
            (PatternKind::Tuple(elements), annotated) => {
                let elements: Vec<Ty> = elements
                    .iter()
                    .map(|element| {
                        let ty = deep(|| self.infer_pattern(element, next));
                        let diagnostics = &mut self.solver.diagnostics;
                        crate::convert::hold(&mut self.solver.types, diagnostics, ty, element.span);
                        ty
                    })
                    .collect();
                let tuple = self.solver.types.tuple(elements);
                if let Some((expected, annotation)) = annotated {
                    let at = self.source.program.ty(annotation).span;
                    let because = Because::Annotation { at };
                    self.solver
                        .expect_pattern(expected, tuple, pattern, &because);
                }
                tuple
            }
            (PatternKind::Name(_) | PatternKind::Wildcard, Some((ty, _))) => ty,
            (PatternKind::Name(_) | PatternKind::Wildcard, None) => {
                self.solver.types.open(pattern.span)
            }
        };
        if let PatternKind::Name(_) = pattern.kind {
            self.bindings[*next as usize] = Scheme::monomorphic(ty);
            *next += 1;
        }
        ty
    }

    /// Infers the type of a let.
    pub fn infer_let(
        &mut self,
        id: ExpressionId,
        bindings: &[(Pattern, ExpressionId)],
        body: ExpressionId,
    ) -> Ty {
        let mut next = self.source.resolved.first_binding[id.0 as usize].0;
        for (pattern, value) in bindings {
            if self.source.is_alias(pattern, *value) {
                next += 1;
            } else if matches!(pattern.kind, PatternKind::Name(_))
                && self.forms().generalises(*value)
            {
                self.generalised_binding(pattern, *value, &mut next);
            } else {
                self.plain_binding(pattern, *value, &mut next);
            }
        }
        self.infer(body)
    }

    fn generalised_binding(&mut self, pattern: &Pattern, value: ExpressionId, next: &mut u32) {
        let binding = BindingId(*next);
        self.solver.types.enter();
        let ty = self.in_binding(|this| {
            let found = this.infer_value(value);
            this.bind_value(found, pattern, value, next)
        });
        let quantified = self.solver.generalise(&[ty]);
        self.bindings[binding.index()] = Scheme { quantified, ty };
        self.arities[binding.index()] = self.forms().arity(value);
    }

    /// Infers the type of a value that is generalised.
    pub fn infer_value(&mut self, value: ExpressionId) -> Ty {
        let outer = self.partial_value;
        self.partial_value = self.forms().application(value);
        let ty = self.infer(value);
        self.partial_value = outer;
        ty
    }

    fn plain_binding(&mut self, pattern: &Pattern, value: ExpressionId, next: &mut u32) {
        self.in_binding(|this| {
            let found = this.infer(value);
            this.bind_value(found, pattern, value, next);
        });
    }

    /// Binds a pattern to a value of type `found`. Returns the type of the bound value.
    fn bind_value(
        &mut self,
        found: Ty,
        pattern: &Pattern,
        value: ExpressionId,
        next: &mut u32,
    ) -> Ty {
        if let (PatternKind::Name(_), None) = (&pattern.kind, pattern.annotation) {
            // No variable in between: types that grow along a let stay cheap.
            self.bindings[*next as usize] = Scheme::monomorphic(found);
            *next += 1;
            return found;
        }
        let expected = self.infer_pattern(pattern, next);
        match pattern.annotation {
            Some(annotation) => {
                let at = self.source.program.ty(annotation).span;
                self.solver
                    .expect(expected, found, value, &Because::Annotation { at });
            }
            None => {
                let because = Because::Value { at: value };
                self.solver
                    .expect_pattern(found, expected, pattern, &because);
            }
        }
        expected
    }

    /// Infers the type of a recursive function.
    pub fn infer_mu(
        &mut self,
        id: ExpressionId,
        name: &Name,
        annotation: Option<ast::TypeId>,
        value: ExpressionId,
    ) -> Ty {
        let binding = self.source.resolved.first_binding[id.0 as usize];
        if !self.forms().is_lambda(value) {
            self.solver
                .recursive_value(&name.text, self.source.span(value));
        }
        self.in_binding(|this| {
            let (ty, because) = match annotation {
                Some(annotation) => {
                    let at = this.source.program.ty(annotation).span;
                    (this.annotation(annotation), Because::Annotation { at })
                }
                None => {
                    let because = Because::Recursion {
                        name: name.text.clone(),
                        at: name.span,
                    };
                    (this.solver.types.open(name.span), because)
                }
            };
            this.bindings[binding.index()] = Scheme::monomorphic(ty);
            this.solver.recursive.insert(binding);
            this.infer_recursive(ty, value, because);
            this.solver.recursive.remove(&binding);
            ty
        })
    }

    /// Infers the value of a recursive binding of type `ty`.
    pub fn infer_recursive(&mut self, ty: Ty, value: ExpressionId, because: Because) {
        let mut lambda = value;
        while let ExpressionKind::Annotate(inner, _) = &self.source.program.expression(lambda).kind
        {
            lambda = *inner;
        }
        let outer = self.partial_value.take();
        self.expected_lambda = Some((lambda, ty, because.clone()));
        let found = self.infer(value);
        self.expected_lambda = None;
        self.partial_value = outer;
        self.solver.expect(ty, found, value, &because);
    }
}

impl Solver<'_> {
    /// Reports a recursive binding that is no function.
    pub fn recursive_value(&mut self, name: &str, span: nova_diag::Span) {
        let message = format!("`{name}` is recursive, but it is no lambda");
        let diagnostic = Diagnostic::error(codes::BAD_RECURSION, span, message)
            .label("must be a lambda")
            .help("only functions can refer to themselves: `(mu (f : int -> int) (lambda (n) …))`");
        self.diagnostics.push(diagnostic);
    }
}
