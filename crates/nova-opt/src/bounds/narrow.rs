//! Maps that leave the elements of an array unchanged where a condition does not hold. The
//! condition is that the index lies between numbers that are known before. Then only the elements
//! between them, a block of the array, are computed and stored. The others stay where they are
//! (lambda-dp.txt §3.2, the rule S-IMAP-R: the set of indices I' for which the function is not the
//! identity). A block of one element is an update.
//!
//! That saves work only where the array is overwritten. So nothing may need the array afterwards,
//! and it may not be a caller's. A read of it must be of the element that is stored in the same
//! iteration, or lie outside of the block (the rules R.1 and R.2). Everything else that an
//! iteration does where the element is unchanged must have no effects.

mod element;
mod slices;
mod unchanged;

use super::affine::Affine;
use super::code::Code;
use super::condition::Condition;
use super::state::Bounds;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Output, Positions, Statement, Type, Variable,
};
use nova_flat::visit::each_body_mut;
use std::collections::HashMap;
use std::rc::Rc;
use unchanged::{Unchanged, conjuncts};

/// The indices of one dimension for which a map computes elements.
#[derive(Default)]
struct Span {
    /// Numbers that the index is not less than.
    least: Vec<Affine>,
    /// Numbers that the index is less than.
    ends: Vec<Affine>,
}

/// A number as code, and also as a sum, if it is one.
#[derive(Clone)]
struct Number {
    atom: Atom,
    sum: Option<Affine>,
}

impl Bounds<'_> {
    /// Restricts a map to the block that it changes. Returns the statements that must precede the
    /// map. Symbols that were bound before it have positions below `start`.
    pub(super) fn narrow(&mut self, statement: &mut Statement, start: usize) -> Vec<Statement> {
        let Some((narrowed, mut before)) = self.narrowed(statement, start) else {
            return Vec::new();
        };
        statement.expression = narrowed;
        std::mem::take(&mut before.statements)
    }

    /// Returns the block or the update that replaces a map, with the statements that must precede
    /// it.
    fn narrowed(&mut self, statement: &Statement, start: usize) -> Option<(Expression, Body)> {
        let Expression::Operation(operation) = &statement.expression else {
            return None;
        };
        let arrays = self.arrays.as_ref()?;
        let is_replaced = |array: Variable| {
            arrays.replaced.is_own(array)
                && arrays.last_uses.end_with(array, statement)
                && self.program.ty(array).shape() == operation.shape
        };
        let unchanged = Unchanged::of(operation, self.effects, &is_replaced)?;
        let (spans, decided) = self.spans(operation, &unchanged, start);
        if spans
            .iter()
            .all(|s| s.least.is_empty() && s.ends.is_empty())
        {
            return None;
        }
        let mut code = Code {
            statements: Vec::new(),
            place: statement.place.clone(),
        };
        let update = self.element(operation, &unchanged, &spans, &decided, &mut code);
        let narrowed = match update {
            Some(update) => update,
            None => {
                let arrays = unchanged.arrays.clone();
                let block = self.block(operation, unchanged, &spans, &decided, &mut code)?;
                self.in_place(operation, (block, &arrays), start, &mut code)?
            }
        };
        let before = Body {
            statements: code.statements,
            results: Vec::new(),
        };
        Some((narrowed, before))
    }

    /// Returns a block that reads nothing that it changes but the element that it stores in the same iteration:
    /// the block itself, or one that reads copies of slices.
    fn in_place(
        &mut self,
        operation: &ArrayOperation,
        (mut block, arrays): (Expression, &[Variable]),
        start: usize,
        code: &mut Code,
    ) -> Option<Expression> {
        let replaced = Rc::clone(&self.arrays.as_ref()?.replaced);
        let is_in_place = |block: &Expression, code: &Code| {
            let before = Body {
                statements: code.statements.clone(),
                results: Vec::new(),
            };
            replaced.is_in_place(block, &before)
        };
        if is_in_place(&block, code) {
            return Some(block);
        }
        let copies = self.copy_slices(operation, (&mut block, arrays), start, code);
        (copies && is_in_place(&block, code)).then_some(block)
    }

    /// Returns the operation on the block of elements that a map changes.
    fn block(
        &mut self,
        operation: &ArrayOperation,
        unchanged: Unchanged,
        spans: &[Span],
        decided: &HashMap<Variable, bool>,
        code: &mut Code,
    ) -> Option<Expression> {
        let mut block = operation.clone();
        let mut starts = Vec::new();
        for (dimension, span) in spans.iter().enumerate() {
            starts.push(self.restrict(operation, &mut block, dimension, span, code)?);
        }
        block.outputs = vec![Output::Scatter {
            destinations: unchanged.arrays,
            positions: Positions::Block(starts),
        }];
        decide(&mut block.body, decided);
        Some(Expression::Operation(block))
    }

    /// Returns the indices for which elements are computed, and the comparisons that have a fixed
    /// outcome for them.
    fn spans(
        &mut self,
        operation: &ArrayOperation,
        unchanged: &Unchanged,
        start: usize,
    ) -> (Vec<Span>, HashMap<Variable, bool>) {
        let mut spans: Vec<Span> = operation.shape.iter().map(|_| Span::default()).collect();
        let mut decided = HashMap::new();
        let mark = self.mark();
        self.assume_indices(operation);
        for (variable, truth) in conjuncts(&operation.body, &unchanged.conditions) {
            let Some(condition) = self.conditions.get(&variable).cloned() else {
                continue;
            };
            let condition = match truth {
                true => condition,
                false => condition.contrary(),
            };
            let sums = self.inequalities(&condition).unwrap_or_default();
            let limits = sums.iter().map(|sum| self.limit(operation, sum, start));
            let Some(limits) = limits.collect::<Option<Vec<_>>>() else {
                continue;
            };
            if limits.is_empty() {
                continue;
            }
            decided.insert(variable, truth);
            for (dimension, is_least, number) in limits {
                if let Some(span) = spans.get_mut(dimension) {
                    match is_least {
                        true => span.least.push(number),
                        false => span.ends.push(number),
                    }
                }
            }
        }
        self.forget(mark);
        (spans, decided)
    }

    /// Returns the sums that are not negative exactly if a condition holds of indices in range.
    fn inequalities(&self, condition: &Condition) -> Option<Vec<Affine>> {
        let less = |sum: &Affine| sum.shifted(-1);
        match condition {
            Condition::NotNegative(sum) => Some(vec![sum.clone()]),
            Condition::Zero(sum) => Some(vec![sum.clone(), sum.negated()]),
            Condition::Not(inner) => match &**inner {
                Condition::NotNegative(sum) => Some(vec![less(&sum.negated())?]),
                Condition::Zero(sum) => {
                    // A sum that is not 0 and lies on one side of 0 is at least 1 away from 0.
                    let sides = [sum.clone(), sum.negated()];
                    let side = sides.iter().find(|s| self.facts.is_not_negative(s))?;
                    Some(vec![less(side)?])
                }
                Condition::Not(condition) => self.inequalities(condition),
                Condition::Both(_) | Condition::Unknown => None,
            },
            Condition::Both(both) => {
                let [one, other] = both.each_ref().map(|one| self.inequalities(one));
                Some([one?, other?].concat())
            }
            Condition::Unknown => None,
        }
    }

    /// Returns the limit on an index that holds if a sum is not negative. It consists of the
    /// dimension, a flag that is true for a lower limit, and the number, which is known before the
    /// operation.
    fn limit(
        &self,
        operation: &ArrayOperation,
        sum: &Affine,
        start: usize,
    ) -> Option<(usize, bool, Affine)> {
        let mut changing = operation.indices.iter().enumerate();
        let (dimension, index) = changing.find(|(_, index)| sum.coefficient(index) != 0)?;
        let rest = sum.without(index);
        if changing.any(|(_, other)| sum.coefficient(other) != 0) || !self.is_outside(&rest, start)
        {
            return None;
        }
        match sum.coefficient(index) {
            1 => Some((dimension, true, rest.negated())),
            -1 => Some((dimension, false, rest.shifted(1)?)),
            _ => None,
        }
    }

    /// Restricts a dimension of an operation to a span. Returns its first index, or `None` where
    /// the code might overflow.
    fn restrict(
        &mut self,
        operation: &ArrayOperation,
        block: &mut ArrayOperation,
        dimension: usize,
        span: &Span,
        code: &mut Code,
    ) -> Option<Atom> {
        let (shape, indices) = (&mut block.shape, &mut block.indices);
        let (extent, index) = (shape.get_mut(dimension)?, indices.get_mut(dimension)?);
        let all = Number {
            atom: *extent,
            sum: self.value(*extent),
        };
        let zero = Number {
            atom: Atom::index(0),
            sum: Some(Affine::constant(0)),
        };
        if span.least.is_empty() && span.ends.is_empty() {
            return Some(zero.atom);
        }
        let mut first = zero.clone();
        for least in &span.least {
            let least = self.number(least, &all, code)?;
            first = self.larger(first, least, code);
        }
        // A block without elements may begin anywhere.
        let mark = self.mark();
        self.assume_indices(operation);
        first = self.smaller(first, all.clone(), code);
        self.forget(mark);
        let mut end = all.clone();
        for other in &span.ends {
            let other = self.number(other, &all, code)?;
            end = self.smaller(end, other, code);
        }
        let difference =
            (end.sum.as_ref().zip(first.sum.as_ref())).and_then(|(end, first)| end.plus(-1, first));
        let count = Number {
            atom: self.compute(ScalarOperation::Subtract, vec![end.atom, first.atom], code),
            sum: difference,
        };
        *extent = self.larger(count, zero, code).atom;
        let own = self.program.add_variable("i", Type::Scalar(Scalar::I64));
        let place = Expression::Scalar {
            operation: ScalarOperation::Add,
            operand: Scalar::I64,
            arguments: vec![first.atom, Atom::Variable(own)],
        };
        let place = code.statement(vec![*index], place);
        block.body.statements.insert(0, place);
        *index = own;
        Some(first.atom)
    }

    /// Adds code that computes a sum. Where the code might overflow, it computes the minimum of the
    /// sum and `end`, which limits an index below `end` alike.
    fn number(&mut self, sum: &Affine, end: &Number, code: &mut Code) -> Option<Number> {
        if let Some(atom) = self.sum(sum, code) {
            let sum = Some(sum.clone());
            return Some(Number { atom, sum });
        }
        // The sum less 1 fits where the sum is one more than a number, which may be the largest of
        // its type.
        let before = self.sum(&sum.shifted(-1)?, code)?;
        let one = Atom::index(1);
        let last = self.compute(ScalarOperation::Subtract, vec![end.atom, one], code);
        let before = self.compute(ScalarOperation::Minimum, vec![before, last], code);
        Some(Number {
            atom: self.compute(ScalarOperation::Add, vec![before, one], code),
            sum: None,
        })
    }

    fn larger(&mut self, one: Number, other: Number, code: &mut Code) -> Number {
        self.chosen(ScalarOperation::Maximum, one, other, code)
    }

    fn smaller(&mut self, one: Number, other: Number, code: &mut Code) -> Number {
        self.chosen(ScalarOperation::Minimum, one, other, code)
    }

    /// Returns the larger or the smaller of two numbers. Adds no code where the result is known.
    fn chosen(
        &mut self,
        operation: ScalarOperation,
        one: Number,
        other: Number,
        code: &mut Code,
    ) -> Number {
        if let (Some(a), Some(b)) = (&one.sum, &other.sum)
            && let Some(sum) = self.computed(operation, &[a.clone(), b.clone()], Scalar::I64)
        {
            return match sum == *a {
                true => one,
                false => other,
            };
        }
        Number {
            atom: self.compute(operation, vec![one.atom, other.atom], code),
            sum: None,
        }
    }
}

/// Replaces comparisons in a body by their fixed outcome.
fn decide(body: &mut Body, decided: &HashMap<Variable, bool>) {
    each_body_mut(body, &mut |inner| {
        for statement in &mut inner.statements {
            if let [variable] = statement.pattern[..]
                && let Some(truth) = decided.get(&variable)
            {
                statement.expression = Expression::Atom(Atom::Constant(ScalarValue::Bool(*truth)));
            }
        }
    });
}
