//! What scalars and pointers are, told in symbols: numbers as sums of products, bools as what is known
//! where they hold and where not, pointers as places in blocks.

use super::Rule;
use super::blocks::RootSet;
use super::polynomial::{Polynomial, Symbol};
use super::prover::{Case, Fact};
use super::truths::Truth;
use super::walk::Walk;
use crate::ir::{Expression, Type, Variable};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::deep;
use std::collections::BTreeSet;

/// Of how many blocks it is remembered that a pointer leads to one of them.
const MOST_BASES: usize = 16;

/// Of how many places it is remembered that a pointer leads to one of them.
const MOST_SPOTS: usize = 4;

nova_diag::ids! {
    /// A pointer as it was made at one place: indices from the same one can be compared.
    pub(super) struct Base;
}

/// What is known of a base.
#[derive(Clone, Debug)]
pub(super) struct BaseInfo {
    /// Where its block may come from.
    pub(super) roots: RootSet,
    /// Whether the block was made at this moment, and so is none that was there before.
    pub(super) is_new: bool,
    /// How many bases there were when a node may first have held the block.
    pub(super) held: Option<usize>,
    /// Loops of any kind around the place where it was made.
    pub(super) depth: usize,
    /// If there are any, it is one of these, which are earlier and one block each.
    pub(super) one_of: Vec<Base>,
    /// How far elements lie apart that belong to it, if other arrays lie between them.
    pub(super) stride: i64,
}

/// A place in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) base: Base,
    pub(super) index: Polynomial,
}

/// The value of a variable.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Number(Polynomial),
    Spots(Vec<Spot>),
}

/// An operation on known numbers, which has the same value wherever it stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Operation(ScalarOperation, Scalar, Vec<Polynomial>);

impl Walk<'_> {
    /// A new symbol for a number of a type.
    pub(super) fn fresh(&mut self, scalar: Scalar) -> Symbol {
        let symbol = Symbol(self.definitions.len() as u32);
        self.definitions.push(Vec::new());
        if let Some((low, high)) = range(scalar) {
            let value = Polynomial::symbol(symbol);
            self.define(symbol, value.plus_number(-low));
            self.define(symbol, Polynomial::constant(high).minus(&value));
        }
        symbol
    }

    /// What always holds for a symbol: a sum with it is not negative.
    pub(super) fn define(&mut self, symbol: Symbol, sum: Polynomial) {
        self.definitions[symbol.index()].push(Fact::AtLeastZero(sum));
    }

    /// An integer or bool as a sum.
    pub(super) fn number(&mut self, expression: &Expression) -> Polynomial {
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
            | Expression::Offset { .. }
            | Expression::NullPointer(_)
            | Expression::NullBlock
            | Expression::NodeTag { .. } => self.any(Scalar::F64),
        }
    }

    fn any(&mut self, scalar: Scalar) -> Polynomial {
        Polynomial::symbol(self.fresh(scalar))
    }

    /// One of two values, or the one that there is where the condition is known.
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

    /// A symbol that is one of these values.
    pub(super) fn one_of(&mut self, cases: Vec<Case>) -> Polynomial {
        if cases.iter().all(|case| case.value == cases[0].value) {
            return cases[0].value.clone();
        }
        let symbol = self.fresh(Scalar::I64);
        self.definitions[symbol.index()].push(Fact::OneOf(symbol, cases));
        Polynomial::symbol(symbol)
    }

    /// The number that a variable is here.
    pub(super) fn number_of(&mut self, variable: Variable) -> Polynomial {
        if let Some(Value::Number(value)) = self.values.get(&variable) {
            return value.clone();
        }
        let value = self.unknown(variable);
        self.values.insert(variable, Value::Number(value.clone()));
        value
    }

    /// A number of which only the variable is known.
    fn unknown(&mut self, variable: Variable) -> Polynomial {
        let scalar = match self.program.variable(variable).ty {
            Type::Scalar(scalar) => scalar,
            Type::Pointer(_) | Type::Block => Scalar::F64,
        };
        let symbol = self.fresh(scalar);
        let value = Polynomial::symbol(symbol);
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

    /// The element that lies somewhere: the same for the same place in memory that the innermost loop
    /// does not write.
    fn loaded(&mut self, pointer: &Expression, index: &Expression) -> Polynomial {
        let index = self.number(index);
        let scalar = self.element(pointer);
        let spots = self.spots(pointer);
        let [spot] = &spots[..] else {
            return self.any(scalar);
        };
        let key = (spot.base, spot.index.plus(&index));
        let is_stable = self.is_stable(spot.base);
        if let Some(known) = self.loads.get(&key).filter(|_| is_stable) {
            return Polynomial::symbol(*known);
        }
        let symbol = self.fresh(scalar);
        if is_stable {
            self.loads.insert(key, symbol);
        }
        Polynomial::symbol(symbol)
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

    fn operation(
        &mut self,
        operation: ScalarOperation,
        operand: Scalar,
        arguments: &[Expression],
    ) -> Polynomial {
        let values: Vec<Polynomial> = arguments.iter().map(|a| self.number(a)).collect();
        self.result(operation, operand, values)
    }

    /// The result of an operation on numbers.
    fn result(
        &mut self,
        operation: ScalarOperation,
        operand: Scalar,
        values: Vec<Polynomial>,
    ) -> Polynomial {
        use ScalarOperation as O;
        if operand == Scalar::I64 {
            let exact = match (operation, &values[..]) {
                (O::Add, [a, b]) => Some(a.plus(b)),
                (O::Subtract, [a, b]) => Some(a.minus(b)),
                (O::Multiply, [a, b]) => a.times(b),
                (O::Negate, [a]) => Some(Polynomial::default().minus(a)),
                (O::BitNot, [a]) => Some(Polynomial::constant(-1).minus(a)),
                (O::BitXor, [a, b]) if b.as_constant() == Some(-1) => {
                    Some(Polynomial::constant(-1).minus(a))
                }
                (O::Maximum, [a, b]) if self.is_never_negative(&a.minus(b)) => Some(a.clone()),
                (O::ShiftRight, [a, b]) => match b.as_constant() {
                    Some(by @ 0..62) => a.divided(1 << by),
                    _others => None,
                },
                _other => None,
            };
            if let Some(exact) = exact {
                return exact;
            }
        }
        if let (O::Convert(Scalar::I64), [value]) = (operation, &values[..])
            && operand.is_integer()
            && (operand.is_signed() || operand.bits() < 64)
        {
            return value.clone();
        }
        let result = match operation {
            O::Convert(to) | O::Wrap(to) | O::Bits(to) => to,
            O::Equal
            | O::NotEqual
            | O::Less
            | O::LessEqual
            | O::Greater
            | O::GreaterEqual
            | O::Fits(_) => Scalar::Bool,
            _same_type => operand,
        };
        let key = self.key(operation, operand, &values);
        if let Some(known) = self.operations.get(&key) {
            return Polynomial::symbol(*known);
        }
        // What is known of a remainder names the quotient, which must be an earlier symbol.
        let mut signs = None;
        match (operation, operand, &values[..]) {
            (O::Divide, Scalar::I64, [a, b]) => {
                self.bare_quotient(a, b);
                let (a, b) = (a.clone(), b.clone());
                signs = self.quotients_by_sign(&a, &b);
            }
            (O::Remainder, Scalar::I64, [_, _]) => {
                let quotient = self.result(O::Divide, operand, values.clone());
                if let Some(exact) = self.exact_remainder(&values[0], &values[1], &quotient) {
                    return exact;
                }
            }
            _others => {}
        }
        let symbol = self.fresh(result);
        if let (O::Wrap(Scalar::U64), Scalar::I64, [value]) = (operation, operand, &values[..]) {
            self.wrapped.insert(symbol, value.clone());
        }
        self.is_local = false;
        if operand == Scalar::I64 {
            self.define_operation(symbol, operation, &values);
            self.define_division(symbol, operation, &values);
        }
        if let Some(cases) = signs {
            self.definitions[symbol.index()].push(Fact::OneOf(symbol, cases));
        }
        // What is known of it here need not hold elsewhere.
        if !self.is_local {
            self.operations.insert(key, symbol);
        }
        Polynomial::symbol(symbol)
    }

    /// What the result of an operation depends on: *divisions* on the number that is divided, too.
    fn key(&self, operation: ScalarOperation, operand: Scalar, of: &[Polynomial]) -> Operation {
        let is_quotient = operation == ScalarOperation::Divide;
        let of = match is_quotient && self.without.contains(&Rule::Divisions) {
            true => &of[of.len().min(1)..],
            false => of,
        };
        Operation(operation, operand, of.to_vec())
    }

    /// The result of an operation on two `i64`s, if it has been computed.
    pub(super) fn operation_of(
        &self,
        operation: ScalarOperation,
        left: &Polynomial,
        right: &Polynomial,
    ) -> Option<Symbol> {
        let key = self.key(operation, Scalar::I64, &[left.clone(), right.clone()]);
        self.operations.get(&key).copied()
    }

    /// What holds for the result of an operation on `i64`s that is no sum or product.
    fn define_operation(&mut self, symbol: Symbol, operation: ScalarOperation, of: &[Polynomial]) {
        use ScalarOperation as O;
        let value = Polynomial::symbol(symbol);
        let [a, b] = of else { return };
        let number = b.as_constant().and_then(|b| i64::try_from(b).ok());
        match (operation, number) {
            (O::Minimum, _) => {
                self.define(symbol, a.minus(&value));
                self.define(symbol, b.minus(&value));
                self.define_cases(symbol, of);
            }
            (O::Maximum, _) => {
                self.define(symbol, value.minus(a));
                self.define(symbol, value.minus(b));
                self.define_cases(symbol, of);
            }
            (O::BitAnd, Some(mask)) if mask >= 0 => {
                self.define(symbol, value.clone());
                self.define(symbol, Polynomial::constant(mask).minus(&value));
                if self.is_never_negative_here(a) {
                    self.define(symbol, a.minus(&value));
                }
            }
            (O::BitAnd, _) if self.is_never_negative_here(a) => {
                self.define(symbol, value.clone());
                self.define(symbol, a.minus(&value));
                let below = Polynomial::constant(-1).minus(b);
                if self.is_low_bits(&below) {
                    self.define(symbol, value.minus(&a.minus(&below)));
                }
            }
            (O::ShiftRight, Some(by @ 0..62)) => self.define_quotient(symbol, a, 1 << by, true),
            (O::Divide, Some(by)) if by > 0 => self.define_quotient(symbol, a, by, false),
            (O::Divide, None) if self.is_never_negative_here(a) && self.is_positive(b) => {
                self.define(symbol, value.clone());
                self.define(symbol, a.minus(&value));
                if let Some(product) = value.times(b) {
                    self.define(symbol, a.minus(&product));
                }
            }
            (O::Remainder, _) if self.is_never_negative_here(a) && self.is_positive(b) => {
                self.define(symbol, value.clone());
                self.define(symbol, a.minus(&value));
                self.define(symbol, b.minus(&value).plus_number(-1));
            }
            _other => {}
        }
    }

    /// *Divisions.* `a = b · (a div b) + (a rem b)`, whatever the signs: the quotient and the remainder
    /// of the same numbers are of one division. What is known of a quotient in one context only has a
    /// symbol of its own there, equal to one of which nothing else is known.
    fn define_division(&mut self, symbol: Symbol, operation: ScalarOperation, of: &[Polynomial]) {
        use ScalarOperation as O;
        let (value, [a, b]) = (Polynomial::symbol(symbol), of) else {
            return;
        };
        let equal = match operation {
            O::Divide if self.is_local => Some(Polynomial::symbol(self.bare_quotient(a, b))),
            O::Remainder => {
                let known = self.operation_of(O::Divide, a, b);
                let quotient = known.unwrap_or_else(|| self.bare_quotient(a, b));
                let product = b.times(&Polynomial::symbol(quotient));
                product.map(|product| a.minus(&product))
            }
            _others => None,
        };
        if let Some(equal) = equal.filter(|sum| sum.latest() < Some(symbol)) {
            self.define(symbol, value.minus(&equal));
            self.define(symbol, equal.minus(&value));
        }
    }

    /// The remainder of a number that is never negative and a positive constant, as what the quotient
    /// leaves.
    fn exact_remainder(
        &self,
        a: &Polynomial,
        b: &Polynomial,
        quotient: &Polynomial,
    ) -> Option<Polynomial> {
        let by = b.as_constant().filter(|by| *by > 0)?;
        let product = quotient.scaled(i64::try_from(by).ok()?)?;
        self.is_never_negative(a).then(|| a.minus(&product))
    }

    /// The quotient of two numbers, of which nothing is known but that it is the same everywhere.
    fn bare_quotient(&mut self, a: &Polynomial, b: &Polynomial) -> Symbol {
        let key = (a.clone(), b.clone());
        let next = Symbol(self.definitions.len() as u32);
        let symbol = *self.quotients.entry(key).or_insert(next);
        if symbol == next {
            self.definitions.push(Vec::new());
        }
        symbol
    }

    /// A number of which the sign is not known, divided by a positive constant: rounded down where it
    /// is not negative, else up.
    fn quotients_by_sign(&mut self, a: &Polynomial, b: &Polynomial) -> Option<Vec<Case>> {
        let by = i64::try_from(b.as_constant()?).ok().filter(|by| *by > 0)?;
        if self.is_never_negative(a) {
            return None;
        }
        let (down, up) = (self.any(Scalar::I64), self.any(Scalar::I64));
        let rest = a.minus(&down.scaled(by)?);
        let lack = up.scaled(by)?.minus(a);
        for (value, missing) in [(&down, rest), (&up, lack)] {
            let symbol = value.latest()?;
            self.define(symbol, Polynomial::constant(by - 1).minus(&missing));
            self.define(symbol, missing);
        }
        let case = |conditions, value| Case { conditions, value };
        let negative = Polynomial::constant(-1).minus(a);
        let none = Polynomial::default();
        Some(vec![
            case(vec![a.clone(), down.clone()], down),
            case(vec![negative, none.minus(&up)], up),
        ])
    }

    /// The symbol is a number divided by another one, rounded down if `floors`, else towards 0.
    fn define_quotient(&mut self, symbol: Symbol, of: &Polynomial, by: i64, floors: bool) {
        let value = Polynomial::symbol(symbol);
        let is_never_negative = self.is_never_negative_here(of);
        if is_never_negative {
            self.define(symbol, value.clone());
        }
        let Some(product) = value.scaled(by) else {
            return;
        };
        if floors || is_never_negative {
            self.define(symbol, of.minus(&product));
            self.define(symbol, product.plus_number(by - 1).minus(of));
            self.define_whole_parts(symbol, of, by);
        }
    }

    /// *Whole parts.* The last symbol of a divided number is at most something with which the number is
    /// a multiple of the divisor and a rest: then the quotient is at most as many, with the rest's.
    fn define_whole_parts(&mut self, symbol: Symbol, of: &Polynomial, by: i64) {
        let Some(last) = of.latest() else { return };
        let Some((factor, rest)) = of.split(last) else {
            return;
        };
        if factor.as_constant() != Some(1) {
            return;
        }
        let own = self.definitions[last.index()].clone();
        for fact in own {
            let Fact::AtLeastZero(sum) = fact else {
                continue;
            };
            let Some((Some(-1), most)) = sum.split(last).map(|(f, rest)| (f.as_constant(), rest))
            else {
                continue;
            };
            if let Some(whole) = rest.plus(&most).divided_down(by) {
                self.define(symbol, whole.minus(&Polynomial::symbol(symbol)));
            }
        }
    }

    fn define_cases(&mut self, symbol: Symbol, values: &[Polynomial]) {
        let cases = values.iter().cloned().map(Case::of).collect();
        self.definitions[symbol.index()].push(Fact::OneOf(symbol, cases));
    }

    /// Whether a number is 0 or one less than a power of two.
    fn is_low_bits(&mut self, value: &Polynomial) -> bool {
        let is_mask = |number: i128| number >= 0 && (number & (number + 1)) == 0;
        if let Some(number) = value.as_constant() {
            return is_mask(number);
        }
        let Some(symbol) = value.latest() else {
            return false;
        };
        let Some((factor, rest)) = value.split(symbol) else {
            return false;
        };
        let bit = Polynomial::symbol(symbol);
        factor.as_constant().is_some_and(is_mask)
            && rest.as_constant() == Some(0)
            && self.is_never_negative_here(&bit)
            && self.is_never_negative_here(&Polynomial::constant(1).minus(&bit))
    }

    fn is_positive(&mut self, value: &Polynomial) -> bool {
        self.is_never_negative_here(&value.plus_number(-1))
    }

    /// Where a pointer may point to.
    pub(super) fn spots(&mut self, pointer: &Expression) -> Vec<Spot> {
        match pointer {
            Expression::Variable(variable) => match self.values.get(variable) {
                Some(Value::Spots(spots)) => spots.clone(),
                Some(Value::Number(_)) | None => self.some_spot(*variable),
            },
            Expression::Offset { pointer, index, .. } => {
                let index = self.number(index);
                let mut spots = deep(|| self.spots(pointer));
                for spot in &mut spots {
                    spot.index = spot.index.plus(&index);
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
            | Expression::Scalar { .. }
            | Expression::Load { .. }
            | Expression::NullPointer(_)
            | Expression::NullBlock
            | Expression::NodeTag { .. } => Vec::new(),
        }
    }

    /// Where a pointer points to of which only the variable is known.
    fn some_spot(&mut self, variable: Variable) -> Vec<Spot> {
        let roots = self.blocks.of_variable(variable);
        if roots.is_empty() {
            return Vec::new();
        }
        let spots = vec![self.base(roots, false, 1)];
        self.values.insert(variable, Value::Spots(spots.clone()));
        spots
    }

    /// The beginning of a new base.
    pub(super) fn base(&mut self, roots: RootSet, is_new: bool, stride: i64) -> Spot {
        let base = Base(self.bases.len() as u32);
        self.bases.push(BaseInfo {
            roots,
            is_new,
            held: None,
            depth: self.depth,
            one_of: Vec::new(),
            stride,
        });
        let index = Polynomial::default();
        Spot { base, index }
    }

    /// The bases that are one block each of which these are one.
    pub(super) fn blocks_of(&self, bases: &[Base]) -> BTreeSet<Base> {
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

    /// One of these places, if they are exact and tell more than their blocks; else somewhere in these.
    pub(super) fn one_spot_of(&mut self, spots: Vec<Spot>, exact: bool) -> Vec<Spot> {
        let begins = |spot: &Spot| spot.index == Polynomial::default();
        match exact && spots.len() <= MOST_SPOTS && !spots.iter().all(begins) {
            true => spots,
            false => vec![self.one_base_of(spots.iter().map(|spot| spot.base).collect())],
        }
    }

    /// A place somewhere in one of these blocks.
    pub(super) fn one_base_of(&mut self, bases: Vec<Base>) -> Spot {
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

/// The least and greatest number of a type of less than 64 bits, or the least of one without signs.
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
