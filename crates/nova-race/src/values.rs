//! The values of scalars and pointers, expressed in symbols: numbers as sums of products, bools as the facts
//! that follow from them and from their negations, pointers as places in blocks.

use crate::blocks::RootSet;
use crate::symbolic::{Base, BaseInfo, Case, Fact, Polynomial, Spot, Symbol, Truth, Value};
use crate::walk::Walk;
use nova_core::Scalar;
use nova_diag::deep;
use nova_loop::ir::{Expression, Type, Variable};
use std::collections::BTreeSet;

/// The largest number of blocks for which it is recorded that a pointer leads to one of them.
const MOST_BASES: usize = 16;

/// The largest number of places for which it is recorded that a pointer leads to one of them.
const MOST_SPOTS: usize = 4;

impl Walk<'_> {
    /// Makes a new symbol for a number of a type.
    pub(crate) fn fresh(&mut self, scalar: Scalar) -> Symbol {
        let symbol = Symbol(self.definitions.len() as u32);
        self.definitions.push(Vec::new());
        if let Some((low, high)) = range(scalar) {
            let value = Polynomial::variable(symbol);
            self.define(symbol, value.plus_number(-i128::from(low)));
            self.define(symbol, Polynomial::constant(high).minus(&value));
        }
        symbol
    }

    /// Adds a fact that always holds for a symbol: a sum with it is not negative.
    pub(crate) fn define(&mut self, symbol: Symbol, sum: impl Into<Option<Polynomial>>) {
        let fact = sum.into().map(Fact::AtLeastZero);
        self.definitions[symbol.index()].extend(fact);
    }

    /// Returns the sum of two numbers, or a number of which nothing is known.
    pub(crate) fn sum(&mut self, one: &Polynomial, other: &Polynomial) -> Polynomial {
        let sum = one.plus(other);
        sum.unwrap_or_else(|| self.any(Scalar::F64))
    }

    /// Returns the value of an integer or bool expression as a sum.
    pub(crate) fn number(&mut self, expression: &Expression) -> Polynomial {
        match expression {
            Expression::Constant(value) => match value.as_integer().map(i64::try_from) {
                Some(Ok(number)) => Polynomial::constant(number),
                Some(Err(_)) | None => self.any(Scalar::F64),
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
            | Expression::NodeTag { .. } => self.any(Scalar::F64),
        }
    }

    pub(crate) fn any(&mut self, scalar: Scalar) -> Polynomial {
        Polynomial::variable(self.fresh(scalar))
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
            beyond.any(|beyond| self.is_never_negative(&beyond))
        };
        let (never_then, never_otherwise) = (never(&yes), never(&no));
        let case = |conditions, value| Case { conditions, value };
        let (then, otherwise) = (self.number(then), self.number(otherwise));
        match (never_then, never_otherwise) {
            (true, false) => otherwise,
            (false, true) => then,
            (false, false) | (true, true) => {
                self.one_of(vec![case(yes, then), case(no, otherwise)])
            }
        }
    }

    /// Returns a symbol that is one of these values.
    pub(crate) fn one_of(&mut self, cases: Vec<Case>) -> Polynomial {
        if cases.iter().all(|case| case.value == cases[0].value) {
            return cases[0].value.clone();
        }
        let symbol = self.fresh(Scalar::I64);
        self.definitions[symbol.index()].push(Fact::OneOf(symbol, cases));
        Polynomial::variable(symbol)
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
        let symbol = self.fresh(scalar);
        let value = Polynomial::variable(symbol);
        if self.invariants.is_never_negative(variable) {
            self.define(symbol, value.clone());
        }
        if let Some(rising) = self.rising.get(&variable) {
            let (first, last) = (rising.first.clone(), rising.last.clone());
            self.define(symbol, value.minus(&first));
            self.define(symbol, last.minus(&value));
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
            return self.any(scalar);
        };
        let key = (spot.base, self.sum(&spot.index, &index));
        let is_stable = self.is_stable(spot.base);
        if let Some(known) = self.loads.get(&key).filter(|_| is_stable) {
            return Polynomial::variable(*known);
        }
        let symbol = self.fresh(scalar);
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
                    spot.index = self.sum(&spot.index, &index);
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
        let roots = self.blocks.of_variable(variable);
        if roots.is_empty() {
            return Vec::new();
        }
        let spots = vec![self.base(roots, false, 1)];
        self.values.insert(variable, Value::Spots(spots.clone()));
        spots
    }

    /// Makes a new base; returns its start.
    pub(crate) fn base(&mut self, roots: RootSet, is_new: bool, stride: i64) -> Spot {
        let base = Base(self.bases.len() as u32);
        self.bases.push(BaseInfo {
            roots,
            is_new,
            held: None,
            depth: self.depth,
            one_of: Vec::new(),
            apart: Vec::new(),
            stride,
        });
        let index = Polynomial::default();
        Spot { base, index }
    }

    /// Returns the bases of one block each to which these bases may be equal.
    pub(crate) fn blocks_of(&self, bases: &[Base]) -> BTreeSet<Base> {
        let mut found = BTreeSet::new();
        for base in bases {
            match &self.bases[base.index()].one_of[..] {
                [] => {
                    found.insert(*base);
                }
                others => found.extend(others),
            }
        }
        found
    }

    /// Returns these places if they are exact and tell more than their blocks; else a place somewhere in one
    /// of the blocks.
    pub(crate) fn one_spot_of(&mut self, spots: Vec<Spot>, exact: bool) -> Vec<Spot> {
        let begins = |spot: &Spot| spot.index == Polynomial::default();
        match exact && spots.len() <= MOST_SPOTS && !spots.iter().all(begins) {
            true => spots,
            false => vec![self.one_base_of(spots.iter().map(|spot| spot.base).collect())],
        }
    }

    /// Makes a place somewhere in one of these blocks.
    pub(crate) fn one_base_of(&mut self, bases: Vec<Base>) -> Spot {
        let found = self.blocks_of(&bases);
        let mut roots = RootSet::new();
        for base in &found {
            roots.extend(&self.bases[base.index()].roots);
        }
        let spot = self.base(roots, false, 1);
        if found.len() <= MOST_BASES {
            self.bases[spot.base.index()].one_of = found.into_iter().collect();
        }
        spot
    }
}

/// Returns the least and greatest number of a bool or of an integer type of less than 64 bits.
fn range(scalar: Scalar) -> Option<(i64, i64)> {
    match scalar {
        Scalar::Bool => Some((0, 1)),
        Scalar::U8 => Some((0, u8::MAX.into())),
        Scalar::U16 => Some((0, u16::MAX.into())),
        Scalar::U32 => Some((0, u32::MAX.into())),
        Scalar::I8 => Some((i8::MIN.into(), i8::MAX.into())),
        Scalar::I16 => Some((i16::MIN.into(), i16::MAX.into())),
        Scalar::I32 => Some((i32::MIN.into(), i32::MAX.into())),
        Scalar::I64 | Scalar::U64 | Scalar::F32 | Scalar::F64 => None,
    }
}
