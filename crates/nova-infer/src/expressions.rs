//! The types of expressions, except for applications, bindings and matches.

use crate::inference::Inference;
use crate::obligations::Demand;
use crate::reasons::Because;
use crate::resolve::Resolution;
use crate::types::{Constraint, SumDeclarationId, Ty};
use nova_core::Scalar;
use nova_core::builtin::Class;
use nova_diag::deep;
use nova_syntax::ast::{self, ExpressionId, ExpressionKind, NumberValue, Suffix};

impl Inference<'_> {
    /// Infers the type of an expression.
    pub fn infer(&mut self, id: ExpressionId) -> Ty {
        let ty = deep(|| self.infer_kind(id));
        if self.solver.types.say_overgrown() {
            let diagnostic = crate::scheme::too_large(self.source.span(id));
            self.solver.diagnostics.push(diagnostic);
        }
        self.expressions[id.0 as usize] = ty;
        ty
    }

    fn infer_kind(&mut self, id: ExpressionId) -> Ty {
        let program = self.source.program;
        match &program.expression(id).kind {
            ExpressionKind::Name(_) => self.infer_name(id),
            ExpressionKind::Number(number) => self.infer_number(id, number),
            ExpressionKind::Bool(_) => self.solver.types.bool(),
            ExpressionKind::Nil => self.solver.types.unit(),
            ExpressionKind::Wrong(parts) => {
                for part in parts {
                    self.infer(*part);
                }
                self.solver.types.error()
            }
            ExpressionKind::Text(_) => {
                let byte = self.solver.types.scalar(Scalar::U8);
                self.solver.types.vector(byte)
            }
            ExpressionKind::Vector(elements) => self.infer_vector(id, elements),
            ExpressionKind::Apply(function, arguments) => {
                self.infer_apply(id, *function, arguments)
            }
            ExpressionKind::Lambda {
                parameters,
                result,
                body,
            } => self.infer_lambda(id, parameters, *result, *body),
            ExpressionKind::Let { bindings, body } => self.infer_let(id, bindings, *body),
            ExpressionKind::Mu { name, ty, value } => self.infer_mu(id, name, *ty, *value),
            ExpressionKind::If {
                condition,
                then,
                otherwise,
            } => self.infer_if(*condition, *then, *otherwise),
            ExpressionKind::Case { scrutinee, arms } => self.infer_case(id, *scrutinee, arms),
            ExpressionKind::Tuple(elements) => {
                let elements = elements
                    .iter()
                    .map(|element| {
                        let ty = self.infer(*element);
                        self.solver.hold(ty, *element);
                        ty
                    })
                    .collect();
                self.solver.types.tuple(elements)
            }
            ExpressionKind::Project(tuple, index, _) => self.infer_project(id, *tuple, *index),
            ExpressionKind::Index(collection, index) => self.infer_index(id, *collection, *index),
            ExpressionKind::Annotate(inner, ty) => {
                let expected = self.annotation(*ty);
                let found = self.infer(*inner);
                let at = program.ty(*ty).span;
                self.solver
                    .expect(expected, found, *inner, &Because::Annotation { at });
                expected
            }
            ExpressionKind::Foreach {
                datum,
                links,
                nodes,
            } => self.infer_foreach(id, *datum, links, nodes),
            ExpressionKind::Up { body, links } => self.infer_up(id, *body, links),
            ExpressionKind::Down(datum) => self.infer_down(id, *datum),
        }
    }

    fn infer_name(&mut self, id: ExpressionId) -> Ty {
        match self.source.resolved.names[id.0 as usize] {
            Resolution::Unbound => self.solver.types.error(),
            Resolution::Binding(binding) => {
                if let Some(ty) = self.infer_link_function(id, binding) {
                    return ty;
                }
                let scheme = self.bindings[binding.index()].clone();
                self.use_scheme(id, &scheme)
            }
            Resolution::Definition(definition) => {
                match self.definitions[definition as usize].clone() {
                    Some(scheme) if self.solver.current_group.contains(&definition) => scheme.ty,
                    Some(scheme) => {
                        let ty = self.use_scheme(id, &scheme);
                        self.instances.entry(id).or_insert_with(|| [].into());
                        ty
                    }
                    None => self.solver.types.error(),
                }
            }
            Resolution::Builtin(builtin) => self.infer_builtin_value(id, builtin),
            Resolution::Constructor(sum, constructor) => {
                let (payload, whole) = self.instantiate_constructor(id, sum, constructor);
                if self.source.is_constant(sum, constructor) {
                    whole
                } else {
                    self.solver.types.function(payload, whole)
                }
            }
            Resolution::Foreign(foreign) => {
                self.source.declarations.foreign_types[foreign as usize].ty
            }
        }
    }

    fn use_scheme(&mut self, id: ExpressionId, scheme: &crate::scheme::Scheme) -> Ty {
        if scheme.quantified.is_empty() {
            return scheme.ty;
        }
        let (ty, instance) = self.solver.types.instantiate(scheme, self.source.span(id));
        self.instances.insert(id, instance);
        ty
    }

    /// Returns the payload and the sum type of a fresh instance of a constructor.
    pub fn instantiate_constructor(
        &mut self,
        id: ExpressionId,
        sum: u32,
        constructor: u32,
    ) -> (Ty, Ty) {
        let origin = self.source.span(id);
        let declarations = self.source.declarations;
        let declaration = &declarations.sums[sum as usize];
        let arguments: Vec<Ty> = declaration
            .parameters
            .iter()
            .map(|_| self.solver.types.fresh(Constraint::DATA, origin))
            .collect();
        let payload = declaration.constructors[constructor as usize].payload;
        let payload = self
            .solver
            .types
            .substitute(payload, &declaration.parameters, &arguments);
        let whole = self.solver.types.sum(SumDeclarationId(sum), arguments);
        (payload, whole)
    }

    fn infer_number(&mut self, id: ExpressionId, number: &ast::Number) -> Ty {
        self.literals.push(id);
        if let Some(suffix) = number.suffix {
            return self.solver.types.scalar(suffix_scalar(suffix));
        }
        let class = match number.value {
            NumberValue::Integer(_) => Class::Number,
            NumberValue::Decimal(_) => Class::Floating,
        };
        self.solver
            .types
            .fresh(Constraint::by_element(class), self.source.span(id))
    }

    fn infer_vector(&mut self, id: ExpressionId, elements: &[ExpressionId]) -> Ty {
        let Some((&first, others)) = elements.split_first() else {
            let element = self
                .solver
                .types
                .fresh(Constraint::DATA, self.source.span(id));
            return self.solver.types.vector(element);
        };
        let ty = self.infer(first);
        self.solver.hold(ty, first);
        for &element in others {
            let found = self.infer(element);
            self.solver
                .expect(ty, found, element, &Because::Element { first });
        }
        self.solver.types.vector(ty)
    }

    fn infer_if(
        &mut self,
        condition: ExpressionId,
        then: ExpressionId,
        otherwise: ExpressionId,
    ) -> Ty {
        let found = self.infer(condition);
        let bool = self.solver.types.bool();
        self.solver
            .expect(bool, found, condition, &Because::Condition);
        let ty = self.infer(then);
        let other = self.infer(otherwise);
        self.solver
            .expect(ty, other, otherwise, &Because::Branch { first: then });
        ty
    }

    fn infer_project(&mut self, id: ExpressionId, tuple: ExpressionId, index: u32) -> Ty {
        let tuple = self.infer(tuple);
        let element = self
            .solver
            .types
            .fresh(Constraint::DATA, self.source.span(id));
        let demand = Demand::Project {
            tuple,
            index,
            element,
        };
        self.solver.demand(demand, id, Because::Form);
        element
    }

    fn infer_index(
        &mut self,
        id: ExpressionId,
        collection: ExpressionId,
        index: ExpressionId,
    ) -> Ty {
        let collection = self.infer(collection);
        let index = self.infer(index);
        let element = self
            .solver
            .types
            .fresh(Constraint::DATA, self.source.span(id));
        let demand = Demand::Index {
            collection,
            index,
            element,
        };
        self.solver.demand(demand, id, Because::Indexed);
        element
    }
}

/// Returns the type that a literal's suffix fixes.
pub(crate) fn suffix_scalar(suffix: Suffix) -> Scalar {
    match suffix {
        Suffix::Double => Scalar::F64,
        Suffix::Float => Scalar::F32,
        Suffix::Signed(8) => Scalar::I8,
        Suffix::Signed(16) => Scalar::I16,
        Suffix::Signed(64) => Scalar::I64,
        Suffix::Signed(_) => Scalar::I32,
        Suffix::Unsigned(8) => Scalar::U8,
        Suffix::Unsigned(16) => Scalar::U16,
        Suffix::Unsigned(64) => Scalar::U64,
        Suffix::Unsigned(_) => Scalar::U32,
    }
}
