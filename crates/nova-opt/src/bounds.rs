//! Comparisons with a fixed outcome: above all checks of indices that cannot be out of range.
//!
//! One walk in order gives every integer a sum of symbols ([`affine`]) where its computation cannot
//! wrap. It collects facts about symbols: the range of a type, sizes that are not negative, and
//! indices between 0 and their extents. Checks and conditionals establish facts, too, and so do the
//! bounds of both branches of a conditional ([`choices`]). A comparison that follows from the facts
//! becomes a constant. Simplification then drops the check. A check that cannot be proved stays.
//! The same walk finds maps that change only some elements of an array ([`narrow`]), and reads that
//! need no condition ([`speculate`]).

mod affine;
mod arrays;
mod bits;
mod choices;
mod code;
mod condition;
mod conditions;
mod ends;
mod iterations;
mod narrow;
mod speculate;
mod state;
mod wrapping;

use crate::effects::FunctionEffects;
use crate::fuse::Replaced;
use affine::{Affine, Facts};
use arrays::Arrays;
use choices::Joined;
use condition::Condition;
use conditions::{comparison, exception, range};
use nova_core::{LONGEST, Scalar, ScalarOperation, ScalarValue};
use nova_diag::deep;
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Function, Output, Program, Statement, Type, Variable,
};
use nova_flat::visit::{binders, bodies_mut};
use state::Bounds;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Decides comparisons in every function. Converts integers that were wrapped and keep their
/// values.
pub fn run(program: &mut Program) {
    walk(program, Task::Decide { converts: true });
}

/// Decides comparisons in every function. Wrapped integers stay, since a wrap is defined
/// everywhere. A conversion is defined only where its value fits, and does not leave its loop as
/// freely.
pub fn run_early(program: &mut Program) {
    walk(program, Task::Decide { converts: false });
}

/// Restricts maps that keep the elements of an array outside of a block to that block ([`narrow`]).
pub fn run_narrow(program: &mut Program) {
    walk(program, Task::Narrow);
}

/// Moves reads before a condition that are in range whether it holds or not ([`speculate`]).
pub fn run_speculate(program: &mut Program) {
    walk(program, Task::Speculate);
}

/// Returns the variables that hold comparisons which are always true. The program stays as it is.
pub fn proved(program: &Program) -> HashSet<Variable> {
    walk(&mut program.clone(), Task::Decide { converts: true })
}

/// The purpose of a walk.
#[derive(Clone, Copy)]
enum Task {
    /// Decides comparisons, and perhaps converts integers that were wrapped and keep their values.
    Decide { converts: bool },
    /// Restricts maps.
    Narrow,
    /// Moves reads before conditions.
    Speculate,
}

/// Walks all functions. Returns the comparisons that are always true.
fn walk(program: &mut Program, task: Task) -> HashSet<Variable> {
    let mut proved = HashSet::new();
    let effects = FunctionEffects::new(program);
    let replaced = match task {
        Task::Decide { .. } | Task::Speculate => None,
        Task::Narrow => Some(Rc::new(Replaced::of(program))),
    };
    for k in 0..program.functions.len() {
        let function = &program.functions[k];
        let arrays = replaced.as_ref().map(|r| Arrays::of(function, r));
        let mut body = std::mem::take(&mut program.functions[k].body);
        let mut bounds = Bounds {
            program,
            effects: &effects,
            arrays,
            converts: matches!(task, Task::Decide { converts: true }),
            speculates: matches!(task, Task::Speculate),
            filtered: Vec::new(),
            wrapped: HashMap::new(),
            ranges: HashMap::new(),
            fitting: HashMap::new(),
            order: HashMap::new(),
            facts: Facts::default(),
            values: HashMap::new(),
            modular: HashMap::new(),
            clamped: HashMap::new(),
            conditions: HashMap::new(),
            unless: HashMap::new(),
            open: Vec::new(),
            proved: HashSet::new(),
        };
        bounds.parameters(k);
        bounds.body(&mut body);
        proved.extend(bounds.proved);
        program.functions[k].body = body;
    }
    proved
}

impl Bounds<'_> {
    /// Makes symbols of the parameters. Those that are extents of others are not negative.
    fn parameters(&mut self, function: usize) {
        let Some(Function { parameters, .. }) = self.program.functions.get(function) else {
            return;
        };
        let parameters = parameters.clone();
        for parameter in &parameters {
            self.bind_symbol(*parameter);
        }
        self.sizes(&parameters);
    }

    /// Notes that extents of arrays that are bound together with them are not negative. The extent
    /// of an array of one dimension is at most the largest number of elements of an array.
    fn sizes(&mut self, bound: &[Variable]) {
        let names: HashSet<Variable> = bound.iter().copied().collect();
        for variable in bound {
            let shape = self.program.ty(*variable).shape();
            for extent in shape {
                if let Atom::Variable(size) = extent
                    && names.contains(size)
                {
                    if shape.len() == 1 {
                        self.facts.at_most(*size, Affine::constant(LONGEST));
                    }
                    self.facts.at_least(*size, Affine::constant(0));
                }
            }
        }
    }

    /// Makes a symbol of a variable of integer type. Only its type is known.
    fn bind_symbol(&mut self, variable: Variable) {
        if let Type::Scalar(scalar) = self.program.ty(variable)
            && let Some((smallest, largest)) = range(*scalar)
        {
            self.values.insert(variable, Affine::variable(variable));
            let place = self.order.len();
            self.order.insert(variable, place);
            self.facts.at_least(variable, Affine::integer(smallest));
            self.facts.at_most(variable, Affine::integer(largest));
        }
    }

    fn body(&mut self, body: &mut Body) {
        let mark = self.mark();
        self.statements(body);
        self.forget(mark);
    }

    /// Walks a body. The facts at its end stay known.
    fn statements(&mut self, body: &mut Body) {
        for mut statement in std::mem::take(&mut body.statements) {
            let start = self.order.len();
            self.statement(&mut statement);
            let mut before = self.checks_at_ends(&mut statement, start);
            before.append(&mut self.narrow(&mut statement, start));
            body.statements.append(&mut before);
            let mut sums = self.widen(&mut statement);
            body.statements.append(&mut sums);
            let mut early = self.speculate(&mut statement, &body.statements);
            body.statements.append(&mut early);
            body.statements.push(statement);
        }
    }

    fn statement(&mut self, statement: &mut Statement) {
        let start = self.order.len();
        let choices = self.inner(&mut statement.expression);
        match &statement.expression {
            Expression::Scalar {
                operation,
                operand,
                arguments,
            } => {
                if let [variable] = statement.pattern[..] {
                    let known = self.scalar(variable, *operation, *operand, &arguments.clone());
                    if known == Some(true) {
                        self.proved.insert(variable);
                    }
                    let known = known.map(|value| Atom::Constant(ScalarValue::Bool(value)));
                    if let Some(same) = known.or_else(|| self.same(variable)) {
                        statement.expression = Expression::Atom(same);
                    } else if let Some(direct) = self.direct(variable, &statement.expression) {
                        statement.expression = direct;
                    } else if let ScalarOperation::Wrap(to) = *operation
                        && self.is_exact(*operand, variable)
                    {
                        statement.expression = Expression::Scalar {
                            operation: ScalarOperation::Convert(to),
                            operand: *operand,
                            arguments: arguments.clone(),
                        };
                    }
                }
            }
            Expression::Check { condition, .. } => {
                if let Some(known) = self.condition(*condition) {
                    self.assume(&known);
                }
                if let Atom::Variable(condition) = condition
                    && let Some((value, to)) = self.fitting.get(condition).cloned()
                {
                    self.assume_fits(&value, to);
                }
            }
            _ => {
                for variable in &statement.pattern {
                    self.bind_symbol(*variable);
                }
                self.sizes(&statement.pattern);
                self.bound_choice(&statement.pattern, choices);
                self.note_choice(statement, start);
            }
        }
    }

    /// Notes the condition under which a conditional gives true.
    fn note_choice(&mut self, statement: &Statement, start: usize) {
        if let (
            [variable],
            Expression::If {
                condition,
                then,
                otherwise,
            },
        ) = (&statement.pattern[..], &statement.expression)
        {
            if let Some(found) = self.of_choice(*condition, [then, otherwise], start) {
                self.conditions.insert(*variable, found);
            }
            let asked = self.condition(*condition);
            if let Some(found) = asked.and_then(|asked| exception(asked, [then, otherwise])) {
                self.unless.insert(*variable, found);
            }
        }
    }

    /// Walks the bodies of an expression, each with the facts that hold inside it. Returns bounds
    /// of the results of a conditional.
    fn inner(&mut self, expression: &mut Expression) -> Vec<Joined> {
        let mut bound = Vec::new();
        binders(expression, &mut |v| bound.push(*v));
        match expression {
            Expression::If {
                condition,
                then,
                otherwise,
            } => return self.choose(*condition, then, otherwise),
            Expression::Operation(operation) => self.operation(operation),
            other => {
                let mark = self.mark();
                for variable in &bound {
                    self.bind_symbol(*variable);
                }
                self.sizes(&bound);
                bodies_mut(other, &mut |body| deep(|| self.body(body)));
                self.forget(mark);
            }
        }
        Vec::new()
    }

    /// Walks an operation. Its indices lie between 0 and their extents, which are then not 0.
    fn operation(&mut self, operation: &mut ArrayOperation) {
        let mark = self.mark();
        for index in &operation.indices {
            self.bind_symbol(*index);
        }
        self.assume_indices(operation);
        self.reconsider();
        let carries: Vec<Variable> = operation.carries.iter().map(|(v, _)| *v).collect();
        for carry in &carries {
            self.bind_symbol(*carry);
        }
        self.sizes(&carries);
        let filters = (operation.outputs.iter()).any(|o| matches!(o, Output::Filter { .. }));
        let indices = operation.indices.iter().copied();
        let filtered = indices.filter(|_| filters).collect();
        let around = std::mem::replace(&mut self.filtered, filtered);
        deep(|| self.body(&mut operation.body));
        self.filtered = around;
        self.forget(mark);
        for output in &mut operation.outputs {
            if let Some(lambda) = output.lambda_mut() {
                let mark = self.mark();
                for parameter in &lambda.parameters {
                    self.bind_symbol(*parameter);
                }
                deep(|| self.body(&mut lambda.body));
                self.forget(mark);
            }
        }
    }

    /// Notes that the indices of an operation are in range.
    fn assume_indices(&mut self, operation: &ArrayOperation) {
        for (index, extent) in operation.indices.iter().zip(&operation.shape) {
            self.facts.at_least(*index, Affine::constant(0));
            let extent = self.value(*extent);
            if let Some(last) = extent.as_ref().and_then(|e| e.shifted(-1)) {
                self.assume(&Condition::NotNegative(last.clone()));
                self.facts.at_most(*index, last);
            }
            let positive = extent.as_ref().and_then(Affine::as_variable);
            if let Some(symbol) = positive
                && let Some(sum) = self.clamped.get(&symbol)
                && let Some(more) = sum.plus(-1, &Affine::variable(symbol))
            {
                self.assume_not_negative(&more);
            }
        }
    }

    fn value(&self, atom: Atom) -> Option<Affine> {
        match atom {
            Atom::Variable(variable) => self.values.get(&variable).cloned(),
            Atom::Constant(value) => value.as_integer().and_then(Affine::integer),
        }
    }

    /// True if an integer was wrapped and kept its value, so that it need only be converted.
    fn is_exact(&self, from: Scalar, wrapped: Variable) -> bool {
        let is_own_symbol = |sum: &Affine| sum.as_variable() == Some(wrapped);
        let value = self.values.get(&wrapped);
        self.converts && from.is_integer() && value.is_some_and(|sum| !is_own_symbol(sum))
    }

    /// Returns another variable of the same type that always has the value of this one. An example
    /// is an index that is wrapped to a smaller type and widened again.
    fn same(&self, variable: Variable) -> Option<Atom> {
        let symbol = self.values.get(&variable)?.as_variable()?;
        let is_other = symbol != variable && self.program.ty(symbol) == self.program.ty(variable);
        is_other.then_some(Atom::Variable(symbol))
    }

    fn condition(&self, atom: Atom) -> Option<Condition> {
        atom.as_variable()
            .and_then(|variable| self.conditions.get(&variable).cloned())
    }

    /// Notes the result of a scalar operation. Returns the truth of a comparison that can be
    /// decided.
    fn scalar(
        &mut self,
        variable: Variable,
        operation: ScalarOperation,
        operand: Scalar,
        arguments: &[Atom],
    ) -> Option<bool> {
        self.note_range(variable, operation, operand, arguments);
        if self.is_in_range(variable) {
            return Some(true);
        }
        let operands: Option<Vec<Affine>> = arguments.iter().map(|a| self.value(*a)).collect();
        let operands = operands.filter(|_| operand.is_integer());
        if let ScalarOperation::Not = operation {
            let condition = arguments.first().and_then(|a| self.condition(*a))?;
            self.conditions.insert(variable, condition.contrary());
            return None;
        }
        let Some(operands) = operands else {
            self.bind_symbol(variable);
            return None;
        };
        if let Some(condition) = comparison(operation, &operands) {
            self.conditions.insert(variable, condition.clone());
            return self.decide(&condition);
        }
        let Type::Scalar(scalar) = *self.program.ty(variable) else {
            return None;
        };
        if let (ScalarOperation::Fits(to), [value]) = (operation, &operands[..]) {
            self.fitting.insert(variable, (value.clone(), to));
            return self.fits(value, to).then_some(true);
        }
        if let (ScalarOperation::Convert(to), [value]) = (operation, &operands[..])
            && to.is_integer()
        {
            // Defined only where the value fits.
            self.assume_fits(value, to);
            self.values.insert(variable, value.clone());
            return None;
        }
        match self.computed(operation, &operands, scalar) {
            Some(value) if self.fits(&value, scalar) => {
                self.values.insert(variable, value);
            }
            value => {
                self.bind_symbol(variable);
                self.bound_result(variable, operation, &operands);
                if let Some(sum) = value {
                    self.note_wrapped(variable, &sum);
                }
            }
        }
        None
    }

    /// Notes comparisons that test whether an index is in range.
    fn note_range(
        &mut self,
        variable: Variable,
        operation: ScalarOperation,
        operand: Scalar,
        arguments: &[Atom],
    ) {
        match (operation, operand, arguments) {
            (ScalarOperation::Wrap(Scalar::U64), Scalar::I64, [value]) => {
                self.wrapped.insert(variable, *value);
            }
            (ScalarOperation::Less, Scalar::U64, [Atom::Variable(index), Atom::Variable(size)]) => {
                let known = (self.wrapped.get(index), self.wrapped.get(size));
                if let (Some(index), Some(size)) = known
                    && self
                        .value(*size)
                        .is_some_and(|s| self.facts.is_not_negative(&s))
                {
                    self.ranges.insert(variable, (*index, *size));
                }
            }
            _ => {}
        }
    }

    /// True if a comparison tests whether an index is in range, and the index is known to be.
    fn is_in_range(&self, comparison: Variable) -> bool {
        let Some((index, size)) = self.ranges.get(&comparison) else {
            return false;
        };
        let (index, size) = (self.value(*index), self.value(*size));
        index.zip(size).is_some_and(|(index, size)| {
            let below = size.plus(-1, &index).and_then(|rest| rest.shifted(-1));
            self.facts.is_not_negative(&index)
                && below.is_some_and(|below| self.facts.is_not_negative(&below))
        })
    }

    /// Returns the sum that an operation gives where nothing wraps.
    fn computed(
        &self,
        operation: ScalarOperation,
        operands: &[Affine],
        result: Scalar,
    ) -> Option<Affine> {
        match (operation, operands) {
            (ScalarOperation::Add, [a, b]) => a.plus(1, b),
            (ScalarOperation::Subtract, [a, b]) => a.plus(-1, b),
            (ScalarOperation::Multiply, [a, b]) => match (a.as_constant(), b.as_constant()) {
                (Some(factor), _) => b.times(factor),
                (None, Some(factor)) => a.times(factor),
                (None, None) => None,
            },
            (ScalarOperation::Negate, [a]) => Some(a.negated()),
            (ScalarOperation::Wrap(_), [a]) if result.is_integer() => Some(a.clone()),
            (ScalarOperation::Minimum, [a, b]) => match self.is_at_most(a, b) {
                true => Some(a.clone()),
                false => self.is_at_most(b, a).then(|| b.clone()),
            },
            (ScalarOperation::Maximum, [a, b]) => match self.is_at_most(a, b) {
                true => Some(b.clone()),
                false => self.is_at_most(b, a).then(|| a.clone()),
            },
            _ => None,
        }
    }

    /// True if a sum lies in the range of a type.
    fn fits(&self, value: &Affine, scalar: Scalar) -> bool {
        let Some((smallest, largest)) = range(scalar) else {
            return false;
        };
        let above = value.shifted(-smallest);
        let below = value.negated().shifted(largest);
        [above, below]
            .iter()
            .all(|sum| sum.as_ref().is_some_and(|s| self.facts.is_not_negative(s)))
    }

    /// Notes that a sum lies in the range of a type.
    fn assume_fits(&mut self, value: &Affine, scalar: Scalar) {
        let Some((smallest, largest)) = range(scalar) else {
            return;
        };
        let above = value.shifted(-smallest);
        let below = value.negated().shifted(largest);
        for sum in [above, below].into_iter().flatten() {
            self.assume_not_negative(&sum);
        }
    }

    /// Notes bounds of the result of an operation that gives no sum.
    fn bound_result(
        &mut self,
        variable: Variable,
        operation: ScalarOperation,
        operands: &[Affine],
    ) {
        let zero = Affine::constant(0);
        match (operation, operands) {
            (ScalarOperation::Minimum, [a, b]) => {
                if let (Some(one), Some(other)) = (self.facts.least(a), self.facts.least(b)) {
                    self.facts
                        .at_least(variable, Affine::integer(one.min(other)));
                }
                self.facts.at_most(variable, a.clone());
                self.facts.at_most(variable, b.clone());
                for (one, other) in [(a, b), (b, a)] {
                    for bound in self.facts.lower_bounds(one) {
                        if self.is_at_most(&bound, other) {
                            self.facts.at_least(variable, bound);
                        }
                    }
                }
            }
            (ScalarOperation::Maximum, [a, b]) => {
                if let (Some(one), Some(other)) = (self.facts.most(a), self.facts.most(b)) {
                    self.facts
                        .at_most(variable, Affine::integer(one.max(other)));
                }
                self.facts.at_least(variable, a.clone());
                self.facts.at_least(variable, b.clone());
                for (sum, bound) in [(a, b), (b, a)] {
                    if bound.as_constant().is_some_and(|number| number <= 0) {
                        self.clamped.insert(variable, sum.clone());
                    }
                }
                for (one, other) in [(a, b), (b, a)] {
                    for bound in self.facts.upper_bounds(one) {
                        if self.is_at_most(other, &bound) {
                            self.facts.at_most(variable, bound);
                        }
                    }
                }
            }
            (ScalarOperation::Remainder, [a, b]) if self.facts.is_not_negative(a) => {
                self.facts.at_least(variable, zero);
                self.facts.at_most(variable, a.clone());
                if let Some(last) = b.shifted(-1).filter(|l| self.facts.is_not_negative(l)) {
                    self.facts.at_most(variable, last);
                }
            }
            (ScalarOperation::Divide, [a, b])
                if self.facts.is_not_negative(a) && self.is_at_most(&Affine::constant(1), b) =>
            {
                self.facts.at_least(variable, zero);
                self.facts.at_most(variable, a.clone());
                if let Some(divisor) = b.as_constant() {
                    self.bound_quotient(variable, a, divisor);
                }
            }
            _ => bits::bound_bits(self, variable, operation, operands),
        }
    }

    /// Notes bounds of the quotient of a sum that is not negative and a positive number.
    fn bound_quotient(&mut self, quotient: Variable, sum: &Affine, divisor: i128) {
        if let Some(most) = self.facts.most(sum) {
            let most = Affine::integer(most / divisor);
            self.facts.at_most(quotient, most);
        }
        if let Some(rest) = sum.plus(-divisor, &Affine::variable(quotient)) {
            self.assume_not_negative(&rest);
        }
    }

    /// True if one sum is never more than another.
    fn is_at_most(&self, less: &Affine, more: &Affine) -> bool {
        let difference = more.plus(-1, less);
        difference.is_some_and(|d| self.facts.is_not_negative(&d))
    }
}
