//! The values of scalars and pointers, expressed in symbols: numbers as sums of products, bools as the facts
//! that follow from them and from their negations, pointers as places in blocks.

use crate::state::State;
use crate::symbolic::{Case, Polynomial, Spot, Truth, Value};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::deep;
use nova_loop::ir::{Expression, Type, Variable};

impl State<'_> {
    /// Returns the value of an integer or bool expression as a sum.
    pub(crate) fn number(&mut self, expression: &Expression) -> Polynomial {
        match expression {
            Expression::Constant(value) => match value.as_integer().map(i64::try_from) {
                Some(Ok(number)) => Polynomial::constant(number),
                Some(Err(_)) | None => self.facts.any(Scalar::F64),
            },
            Expression::Variable(variable) => self.number_of(*variable),
            Expression::Scalar {
                operation,
                operand,
                arguments,
            } => deep(|| self.operation(*operation, *operand, arguments)),
            Expression::Select {
                condition,
                then,
                otherwise,
            } => deep(|| self.selected(condition, then, otherwise)),
            Expression::Load { pointer, index } => deep(|| self.loaded(pointer, index)),
            Expression::Bytes(_)
            | Expression::Data(..)
            | Expression::Offset { .. }
            | Expression::NullPointer(_)
            | Expression::NullBlock
            | Expression::NodeTag { .. } => self.facts.any(Scalar::F64),
        }
    }

    /// Returns a symbol that is one of two values, or the only possible one where the condition is known.
    fn selected(
        &mut self,
        condition: &Expression,
        then: &Expression,
        otherwise: &Expression,
    ) -> Polynomial {
        let Truth { yes, no } = self.truth(condition);
        let never = |conditions: &[Polynomial]| {
            let mut beyond = conditions
                .iter()
                .map(|sum| Polynomial::constant(-1).minus(sum));
            beyond.any(|beyond| self.facts.is_never_negative(&beyond))
        };
        let (never_then, never_otherwise) = (never(&yes), never(&no));
        let case = |conditions, value| Case { conditions, value };
        let (then, otherwise) = (self.number(then), self.number(otherwise));
        match (never_then, never_otherwise) {
            (true, false) => otherwise,
            (false, true) => then,
            (false, false) | (true, true) => self
                .facts
                .one_of(vec![case(yes, then), case(no, otherwise)]),
        }
    }

    /// Returns the value of a variable here.
    pub(crate) fn number_of(&mut self, variable: Variable) -> Polynomial {
        if let Some(Value::Number(value)) = self.values.get(&variable) {
            return value.clone();
        }
        let value = self.unknown(variable);
        self.values.insert(variable, Value::Number(value.clone()));
        value
    }

    /// Makes a symbol for a variable whose value is not known, with the facts that always hold for it.
    fn unknown(&mut self, variable: Variable) -> Polynomial {
        let scalar = match self.program.variable(variable).ty {
            Type::Scalar(scalar) => scalar,
            Type::Pointer(_) | Type::Block => Scalar::F64,
        };
        let symbol = self.facts.fresh(scalar);
        let value = Polynomial::variable(symbol);
        if self.invariants.is_never_negative(variable) {
            self.facts.define(symbol, value.clone());
        }
        if let Some(rising) = self.rising.get(&variable) {
            let (first, last) = (rising.first.clone(), rising.last.clone());
            self.facts.define(symbol, value.minus(&first));
            self.facts.define(symbol, last.minus(&value));
        }
        value
    }

    /// Returns the value of an element: the same symbol for the same place in memory, if the innermost loop
    /// does not write that block.
    fn loaded(&mut self, pointer: &Expression, index: &Expression) -> Polynomial {
        let index = self.number(index);
        let scalar = self.element(pointer);
        let spots = self.spots(pointer);
        let [spot] = &spots[..] else {
            return self.facts.any(scalar);
        };
        let key = (spot.base, self.facts.sum(&spot.index, &index));
        let is_stable = self.is_stable(spot.base);
        if let Some(known) = self.loads.get(&key).filter(|_| is_stable) {
            return Polynomial::variable(*known);
        }
        let symbol = self.facts.fresh(scalar);
        if is_stable {
            self.loads.insert(key, symbol);
        }
        Polynomial::variable(symbol)
    }

    fn element(&self, pointer: &Expression) -> Scalar {
        let mut found = Scalar::F64;
        pointer.each_variable(&mut |v| {
            if let Type::Pointer(scalar) = self.program.variable(v).ty {
                found = scalar;
            }
        });
        found
    }

    /// Returns the places to which a pointer may lead.
    pub(crate) fn spots(&mut self, pointer: &Expression) -> Vec<Spot> {
        match pointer {
            Expression::Variable(variable) => match self.values.get(variable) {
                Some(Value::Spots(spots)) => spots.clone(),
                Some(Value::Number(_)) | None => self.some_spot(*variable),
            },
            Expression::Offset { pointer, index, .. } => {
                let index = self.number(index);
                let mut spots = deep(|| self.spots(pointer));
                for spot in &mut spots {
                    spot.index = self.facts.sum(&spot.index, &index);
                }
                spots
            }
            Expression::Select {
                then, otherwise, ..
            } => {
                let mut spots = deep(|| self.spots(then));
                spots.extend(deep(|| self.spots(otherwise)));
                spots
            }
            Expression::Constant(_)
            | Expression::Bytes(_)
            | Expression::Data(..)
            | Expression::Scalar { .. }
            | Expression::Load { .. }
            | Expression::NullPointer(_)
            | Expression::NullBlock
            | Expression::NodeTag { .. } => Vec::new(),
        }
    }

    /// Makes a base for a pointer whose value is not known.
    fn some_spot(&mut self, variable: Variable) -> Vec<Spot> {
        let roots = self.bases.blocks.of_variable(variable);
        if roots.is_empty() {
            return Vec::new();
        }
        let spots = vec![self.bases.base(roots, false, 1)];
        self.values.insert(variable, Value::Spots(spots.clone()));
        spots
    }

    pub(crate) fn operation(
        &mut self,
        operation: ScalarOperation,
        operand: Scalar,
        arguments: &[Expression],
    ) -> Polynomial {
        let values: Vec<Polynomial> = arguments.iter().map(|a| self.number(a)).collect();
        self.operations
            .result(&mut self.facts, operation, operand, values)
    }
}
