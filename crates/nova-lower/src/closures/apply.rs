//! Applications: direct calls, partial applications, and `case`s over closures.

use super::Function;
use super::classes::{ClassId, Member};
use super::convert::{Converter, Pending, Target};
use super::flow::{Arrow, LambdaId};
use super::types::{ClosureType, captured};
use crate::error::Result;
use nova_core::Type;
use nova_core::ir::{Arm, ExpressionId, ExpressionKind, Variable};
use nova_diag::Place;

impl Converter {
    /// Applies a target to converted arguments. The target is evaluated first, then the arguments in
    /// order.
    pub fn apply(
        &mut self,
        target: Target,
        arguments: Vec<ExpressionId>,
        place: &Place,
    ) -> Result<ExpressionId> {
        match target {
            Target::Lambda {
                lambda,
                given,
                held,
            } => self.apply_lambda(lambda, given, held, arguments, place),
            Target::Value { value, arrow } => self.apply_value(value, arrow, arguments, place),
        }
    }

    fn apply_lambda(
        &mut self,
        lambda: LambdaId,
        given: usize,
        mut held: Vec<ExpressionId>,
        arguments: Vec<ExpressionId>,
        place: &Place,
    ) -> Result<ExpressionId> {
        let info = &self.flow.lambdas[lambda.index()];
        let missing = info.parameters.len() - given;
        let result = info.result.clone();
        if arguments.len() < missing {
            let given = given + arguments.len();
            held.extend(arguments);
            return self.closure(lambda, given, held, place);
        }
        let ty = self
            .types
            .convert(&mut self.flow, &self.classes, (&result.0, result.1));
        let function = self.function_of_lambda(lambda);
        let arrow = match result.1 {
            Some(arrow) if arguments.len() > missing => arrow,
            _ => {
                held.extend(arguments);
                return Ok(self.call(function, held, ty, place));
            }
        };
        // All arguments are evaluated before the call. The rest go to its result.
        let (bindings, mut atoms) = self.bind_all(arguments, place);
        let rest = atoms.split_off(missing);
        held.extend(atoms);
        let value = self.call(function, held, ty, place);
        let applied = self.apply_value(value, arrow, rest, place)?;
        Ok(self.wrap(bindings, applied, place))
    }

    fn apply_value(
        &mut self,
        value: ExpressionId,
        arrow: Arrow,
        arguments: Vec<ExpressionId>,
        place: &Place,
    ) -> Result<ExpressionId> {
        let ty = self.result_after(arrow, arguments.len());
        let Some(class) = self.classes.of(&mut self.flow, arrow) else {
            // No function ever flows here.
            let kind = ExpressionKind::Case {
                scrutinee: value,
                arms: Vec::new(),
                default: None,
            };
            return Ok(self.program.add(kind, ty, place.clone()));
        };
        let only = match self.classes.members(class) {
            [member] => Some(*member),
            _ => None,
        };
        match (only, self.types.of[class.index()].clone()) {
            (Some(member), ClosureType::Tuple(closure)) => {
                let variable = self.fresh("closure", closure);
                let held = self.held(member, variable, place);
                let target = Target::Lambda {
                    lambda: member.lambda,
                    given: member.given,
                    held,
                };
                let applied = self.apply(target, arguments, place)?;
                Ok(self.wrap(vec![(variable, value)], applied, place))
            }
            (Some(_), ClosureType::Sum(_)) | (None, _) => {
                let function = self.function_of_apply(class, arguments.len());
                let mut all = vec![value];
                all.extend(arguments);
                Ok(self.call(function, all, ty, place))
            }
        }
    }

    /// Returns the first-order type of the result of a function of this arrow after `count` arguments.
    fn result_after(&mut self, mut arrow: Arrow, count: usize) -> Type {
        for _ in 1..count {
            if let Some(next) = self.flow.table.probe_value(arrow).result.1 {
                arrow = next;
            }
        }
        let (ty, result) = self.flow.table.probe_value(arrow).result;
        self.types
            .convert(&mut self.flow, &self.classes, (&ty, result))
    }

    fn call(
        &mut self,
        function: Variable,
        arguments: Vec<ExpressionId>,
        ty: Type,
        place: &Place,
    ) -> ExpressionId {
        let function = self.variable(function, place);
        let kind = ExpressionKind::Apply {
            function,
            arguments,
        };
        self.program.add(kind, ty, place.clone())
    }

    /// Binds each expression to a variable. Returns the bindings and the uses of the variables.
    fn bind_all(
        &mut self,
        values: Vec<ExpressionId>,
        place: &Place,
    ) -> (Vec<(Variable, ExpressionId)>, Vec<ExpressionId>) {
        let mut bindings = Vec::with_capacity(values.len());
        let mut uses = Vec::with_capacity(values.len());
        for value in values {
            let ty = self.program.expression(value).ty.clone();
            let variable = self.fresh("argument", ty);
            bindings.push((variable, value));
            uses.push(self.variable(variable, place));
        }
        (bindings, uses)
    }

    /// Wraps a body in `let`s.
    fn wrap(
        &mut self,
        bindings: Vec<(Variable, ExpressionId)>,
        body: ExpressionId,
        place: &Place,
    ) -> ExpressionId {
        let ty = self.program.expression(body).ty.clone();
        bindings.into_iter().rev().fold(body, |body, binding| {
            let (variable, value) = binding;
            let kind = ExpressionKind::Let {
                variable,
                value,
                body,
            };
            self.program.add(kind, ty.clone(), place.clone())
        })
    }

    /// Returns the values that the closure in `variable`, of this member, holds.
    fn held(&mut self, member: Member, variable: Variable, place: &Place) -> Vec<ExpressionId> {
        let types: Vec<Type> = captured(&self.flow, &self.free, member)
            .into_iter()
            .map(|v| self.program.variable(v).ty.clone())
            .collect();
        match types.len() {
            0 => Vec::new(),
            1 => vec![self.variable(variable, place)],
            _ => {
                let mut held = Vec::with_capacity(types.len());
                for (k, ty) in types.into_iter().enumerate() {
                    let tuple = self.variable(variable, place);
                    let kind = ExpressionKind::Project(tuple, k as u32);
                    held.push(self.program.add(kind, ty, place.clone()));
                }
                held
            }
        }
    }

    /// Returns the function that applies the closures of a class to `count` arguments.
    fn function_of_apply(&mut self, class: ClassId, count: usize) -> Variable {
        if let Some(variable) = self.function_of_apply.get(&(class, count)) {
            return *variable;
        }
        let first = self.classes.members(class)[0];
        let info = &self.flow.lambdas[first.lambda.index()];
        let place = self.program.expression(info.expression).place.clone();
        let closure = self.fresh("closure", self.types.of(class));
        let mut parameters = vec![closure];
        let mut arrow = Some(self.classes.arrows[class.index()]);
        for k in 0..count {
            let Some(sides) = arrow.map(|a| self.flow.table.probe_value(a)) else {
                break;
            };
            let (ty, own) = sides.parameter;
            let ty = self
                .types
                .convert(&mut self.flow, &self.classes, (&ty, own));
            parameters.push(self.fresh(&format!("argument{k}"), ty));
            arrow = sides.result.1;
        }
        let body = self.variable(closure, &place);
        let (variable, index) = self.add_function(Function {
            name: format!("apply_{}", class.0).into(),
            parameters,
            body,
            place,
        });
        self.function_of_apply.insert((class, count), variable);
        self.pending.push(Pending::Apply(class, count, index));
        variable
    }

    /// Writes the body of such a function, with an arm for each member.
    pub fn define_apply(&mut self, class: ClassId, count: usize, index: usize) -> Result<()> {
        let place = self.functions[index].place.clone();
        let parameters = self.functions[index].parameters.clone();
        let arrow = self.classes.arrows[class.index()];
        let ty = self.result_after(arrow, count);
        let mut arms = Vec::new();
        for member in self.classes.members(class).to_vec() {
            let types: Vec<Type> = captured(&self.flow, &self.free, member)
                .into_iter()
                .map(|v| self.program.variable(v).ty.clone())
                .collect();
            let payload = self.fresh("captured", Type::tuple(types));
            let held = self.held(member, payload, &place);
            let target = Target::Lambda {
                lambda: member.lambda,
                given: member.given,
                held,
            };
            let arguments = parameters[1..]
                .iter()
                .map(|p| self.variable(*p, &place))
                .collect();
            let body = self.apply(target, arguments, &place)?;
            arms.push(Some(Arm {
                variable: Some(payload),
                body,
            }));
        }
        let scrutinee = self.variable(parameters[0], &place);
        let kind = ExpressionKind::Case {
            scrutinee,
            arms,
            default: None,
        };
        self.functions[index].body = self.program.add(kind, ty, place);
        Ok(())
    }
}
