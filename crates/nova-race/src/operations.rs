//! The results of scalar operations, expressed in symbols. A result that is exact is a sum of products.
//! Any other is a new symbol with facts, such as the bounds of a remainder, the cases of a minimum, or that
//! a quotient times the divisor is no more than the dividend.

use crate::facts::Facts;
use crate::refusal::Rule;
use crate::symbolic::{Case, Context, Fact, Operation, Polynomial, Symbol};
use nova_core::{Scalar, ScalarOperation};
use nova_symbolic::Sum;
use std::collections::{BTreeMap, BTreeSet};

/// Computes operations on numbers. The same operation on the same numbers gives the same symbol.
pub(crate) struct Operations<'p> {
    /// Rules that are not applied.
    without: &'p BTreeSet<Rule>,
    known: BTreeMap<Operation, Symbol>,
    /// The quotients by positive numbers, each with its dividend and divisor.
    pub(crate) divided: Vec<(Symbol, [Polynomial; 2])>,
    /// The symbol for the quotient of each dividend and divisor of which nothing else is known.
    quotients: BTreeMap<(Polynomial, Polynomial), Symbol>,
    /// The signed numbers of which unsigned symbols are the conversions.
    pub(crate) wrapped: BTreeMap<Symbol, Polynomial>,
    /// True if a fact about the current operation holds in this context only.
    is_local: bool,
}

impl<'p> Operations<'p> {
    /// Creates a table without operations.
    pub(crate) fn new(without: &'p BTreeSet<Rule>) -> Self {
        Operations {
            without,
            known: BTreeMap::new(),
            divided: Vec::new(),
            quotients: BTreeMap::new(),
            wrapped: BTreeMap::new(),
            is_local: false,
        }
    }

    /// Returns the result of an operation on numbers.
    pub(crate) fn result(
        &mut self,
        facts: &mut Facts,
        operation: ScalarOperation,
        operand: Scalar,
        values: Vec<Polynomial>,
    ) -> Polynomial {
        use ScalarOperation as O;
        if let Some(exact) = self.exact(facts, operation, operand, &values) {
            return exact;
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
        if let Some(known) = self.known.get(&key) {
            return Polynomial::variable(*known);
        }
        // The facts about a remainder name the quotient, which must be an earlier symbol.
        let mut signs = None;
        match (operation, operand, &values[..]) {
            (O::Divide, Scalar::I64, [a, b]) => {
                self.bare_quotient(facts, a, b);
                let (a, b) = (a.clone(), b.clone());
                signs = self.quotients_by_sign(facts, &a, &b);
            }
            (O::Remainder, Scalar::I64, [_, _]) => {
                let quotient = self.result(facts, O::Divide, operand, values.clone());
                if let Some(exact) = self.exact_remainder(facts, &values[0], &values[1], &quotient)
                {
                    return exact;
                }
            }
            _others => {}
        }
        let symbol = facts.fresh(result);
        if let (O::Wrap(Scalar::U64), Scalar::I64, [value]) = (operation, operand, &values[..]) {
            self.wrapped.insert(symbol, value.clone());
        }
        self.is_local = false;
        if operand == Scalar::I64 {
            self.define_operation(facts, symbol, operation, &values);
            self.define_division(facts, symbol, operation, &values);
        }
        if let Some(cases) = signs {
            facts.definitions[symbol.index()].push(Fact::OneOf(symbol, cases));
        }
        // Facts that hold here need not hold elsewhere.
        if !self.is_local {
            self.known.insert(key, symbol);
        }
        Polynomial::variable(symbol)
    }

    /// Returns the result of an operation if it is a sum of products itself.
    fn exact(
        &mut self,
        facts: &Facts,
        operation: ScalarOperation,
        operand: Scalar,
        values: &[Polynomial],
    ) -> Option<Polynomial> {
        use ScalarOperation as O;
        if let (O::Convert(Scalar::I64), [value]) = (operation, values)
            && operand.is_integer()
            && (operand.is_signed() || operand.bits() < 64)
        {
            return Some(value.clone());
        }
        if operand != Scalar::I64 {
            return None;
        }
        match (operation, values) {
            (O::Add, [a, b]) => a.plus(b),
            (O::Subtract, [a, b]) => a.minus(b),
            (O::Multiply, [a, b]) => a.times(b),
            (O::Negate, [a]) => Some(a.negated()),
            (O::BitNot, [a]) => Polynomial::constant(-1).minus(a),
            (O::BitXor, [a, b]) if b.as_constant() == Some(-1) => Polynomial::constant(-1).minus(a),
            (O::Maximum, [a, b]) if facts.is_never_negative(&a.minus(b)) => Some(a.clone()),
            (O::ShiftRight, [a, b]) => match b.as_constant() {
                Some(by @ 0..62) => a.divided(1 << by),
                _others => None,
            },
            _other => None,
        }
    }

    /// Returns all that the result of an operation depends on. *Divisions* depend on the dividend, too.
    fn key(&self, operation: ScalarOperation, operand: Scalar, of: &[Polynomial]) -> Operation {
        let is_quotient = operation == ScalarOperation::Divide;
        let of = match is_quotient && self.without.contains(&Rule::Divisions) {
            true => &of[of.len().min(1)..],
            false => of,
        };
        Operation(operation, operand, of.to_vec())
    }

    /// Returns the result of an operation on two `i64`s, if it has been computed.
    pub(crate) fn operation_of(
        &self,
        operation: ScalarOperation,
        left: &Polynomial,
        right: &Polynomial,
    ) -> Option<Symbol> {
        let key = self.key(operation, Scalar::I64, &[left.clone(), right.clone()]);
        self.known.get(&key).copied()
    }

    /// Adds the facts about the result of an operation on `i64`s that is no sum of products.
    fn define_operation(
        &mut self,
        facts: &mut Facts,
        symbol: Symbol,
        operation: ScalarOperation,
        of: &[Polynomial],
    ) {
        use ScalarOperation as O;
        let value = Polynomial::variable(symbol);
        let [a, b] = of else { return };
        let number = b.as_constant().and_then(|b| i64::try_from(b).ok());
        match (operation, number) {
            (O::Minimum, _) => {
                facts.define(symbol, a.minus(&value));
                facts.define(symbol, b.minus(&value));
                self.define_cases(facts, symbol, of);
            }
            (O::Maximum, _) => {
                facts.define(symbol, value.minus(a));
                facts.define(symbol, value.minus(b));
                self.define_cases(facts, symbol, of);
            }
            (O::BitAnd, Some(mask)) if mask >= 0 => {
                facts.define(symbol, value.clone());
                facts.define(symbol, Polynomial::constant(mask).minus(&value));
                if self.is_never_negative_here(facts, a) {
                    facts.define(symbol, a.minus(&value));
                }
            }
            (O::BitAnd, _) if self.is_never_negative_here(facts, a) => {
                facts.define(symbol, value.clone());
                facts.define(symbol, a.minus(&value));
                let below = Polynomial::constant(-1).minus(b);
                if let Some(below) = below.filter(|below| self.is_low_bits(facts, below)) {
                    let least = a.minus(&below);
                    facts.define(symbol, least.and_then(|least| value.minus(&least)));
                }
            }
            (O::ShiftRight, Some(by @ 0..62)) => {
                self.define_quotient(facts, symbol, a, 1 << by, true)
            }
            (O::Divide, Some(by)) if by > 0 => {
                self.define_quotient(facts, symbol, a, by, false);
                self.divided.push((symbol, [a.clone(), b.clone()]));
            }
            (O::Divide, None)
                if self.is_never_negative_here(facts, a) && self.is_positive(facts, b) =>
            {
                facts.define(symbol, value.clone());
                facts.define(symbol, a.minus(&value));
                if let Some(product) = value.times(b) {
                    facts.define(symbol, a.minus(&product));
                }
                self.divided.push((symbol, [a.clone(), b.clone()]));
            }
            (O::Remainder, _)
                if self.is_never_negative_here(facts, a) && self.is_positive(facts, b) =>
            {
                facts.define(symbol, value.clone());
                facts.define(symbol, a.minus(&value));
                facts.define(symbol, value.gap_to(b));
            }
            _other => {}
        }
    }

    /// *Divisions.* `a = b · (a div b) + (a rem b)`, whatever the signs: the quotient and the remainder
    /// of the same numbers are of one division. A quotient about which facts hold in one context only has a
    /// symbol of its own there, which is equal to a symbol without other facts.
    fn define_division(
        &mut self,
        facts: &mut Facts,
        symbol: Symbol,
        operation: ScalarOperation,
        of: &[Polynomial],
    ) {
        use ScalarOperation as O;
        let (value, [a, b]) = (Polynomial::variable(symbol), of) else {
            return;
        };
        let equal = match operation {
            O::Divide if self.is_local => {
                Some(Polynomial::variable(self.bare_quotient(facts, a, b)))
            }
            O::Remainder => {
                let known = self.operation_of(O::Divide, a, b);
                let quotient = known.unwrap_or_else(|| self.bare_quotient(facts, a, b));
                let product = b.times(&Polynomial::variable(quotient));
                product.and_then(|product| a.minus(&product))
            }
            _others => None,
        };
        if let Some(equal) = equal.filter(|sum| sum.latest() < Some(symbol)) {
            facts.define(symbol, value.minus(&equal));
            facts.define(symbol, equal.minus(&value));
        }
    }

    /// Returns the remainder of a number that is never negative by a positive constant, expressed by the
    /// quotient.
    fn exact_remainder(
        &self,
        facts: &Facts,
        a: &Polynomial,
        b: &Polynomial,
        quotient: &Polynomial,
    ) -> Option<Polynomial> {
        let by = b.as_constant().filter(|by| *by > 0)?;
        let product = quotient.scaled(by)?;
        let rest = a.minus(&product)?;
        facts.is_never_negative(a).then_some(rest)
    }

    /// Returns a symbol for the quotient of two numbers, the same everywhere and without facts.
    fn bare_quotient(&mut self, facts: &mut Facts, a: &Polynomial, b: &Polynomial) -> Symbol {
        let key = (a.clone(), b.clone());
        let next = Symbol(facts.definitions.len() as u32);
        let symbol = *self.quotients.entry(key).or_insert(next);
        if symbol == next {
            facts.definitions.push(Vec::new());
        }
        symbol
    }

    /// Returns the cases of a quotient of a number of unknown sign by a positive constant: it is rounded down
    /// where the number is not negative, else up.
    fn quotients_by_sign(
        &mut self,
        facts: &mut Facts,
        a: &Polynomial,
        b: &Polynomial,
    ) -> Option<Vec<Case>> {
        let by = i64::try_from(b.as_constant()?).ok().filter(|by| *by > 0)?;
        if facts.is_never_negative(a) {
            return None;
        }
        let (down, up) = (facts.any(Scalar::I64), facts.any(Scalar::I64));
        let rest = a.minus(&down.scaled(by)?)?;
        let lack = up.scaled(by)?.minus(a)?;
        for (value, missing) in [(&down, rest), (&up, lack)] {
            let symbol = value.latest()?;
            facts.define(symbol, Polynomial::constant(by - 1).minus(&missing));
            facts.define(symbol, missing);
        }
        let case = |conditions, value| Case { conditions, value };
        let negative = Polynomial::constant(-1).minus(a)?;
        Some(vec![
            case(vec![a.clone(), down.clone()], down),
            case(vec![negative, up.negated()], up),
        ])
    }

    /// Adds the facts about a symbol that is a quotient, rounded down if `floors`, else towards 0.
    fn define_quotient(
        &mut self,
        facts: &mut Facts,
        symbol: Symbol,
        of: &Polynomial,
        by: i64,
        floors: bool,
    ) {
        let value = Polynomial::variable(symbol);
        let is_never_negative = self.is_never_negative_here(facts, of);
        if is_never_negative {
            facts.define(symbol, value.clone());
        }
        let Some(product) = value.scaled(by) else {
            return;
        };
        if floors || is_never_negative {
            facts.define(symbol, of.minus(&product));
            let most = product.plus_number(by - 1);
            facts.define(symbol, most.and_then(|most| most.minus(of)));
            self.define_whole_parts(facts, symbol, of, by);
        }
    }

    /// *Whole parts.* Adds bounds of a quotient. The last symbol of the dividend may have an upper bound
    /// with which the dividend is a multiple of the divisor plus a constant. The quotient is then at most
    /// that dividend, divided and rounded down.
    fn define_whole_parts(&mut self, facts: &mut Facts, symbol: Symbol, of: &Polynomial, by: i64) {
        let Some(last) = of.latest() else { return };
        let Some((factor, rest)) = of.split(&last) else {
            return;
        };
        if factor.as_constant() != Some(1) {
            return;
        }
        let own = facts.definitions[last.index()].clone();
        for fact in own {
            let Fact::AtLeastZero(sum) = fact else {
                continue;
            };
            let Some((Some(-1), most)) = sum.split(&last).map(|(f, rest)| (f.as_constant(), rest))
            else {
                continue;
            };
            if let Some(whole) = rest.plus(&most).and_then(|sum| sum.divided_down(by)) {
                facts.define(symbol, whole.minus(&Polynomial::variable(symbol)));
            }
        }
    }

    fn define_cases(&mut self, facts: &mut Facts, symbol: Symbol, values: &[Polynomial]) {
        let cases = values.iter().cloned().map(Case::of).collect();
        facts.definitions[symbol.index()].push(Fact::OneOf(symbol, cases));
    }

    /// True if a number is 0 or one less than a power of two.
    fn is_low_bits(&mut self, facts: &mut Facts, value: &Polynomial) -> bool {
        let is_mask = |number: i128| number >= 0 && (number & (number + 1)) == 0;
        if let Some(number) = value.as_constant() {
            return is_mask(number);
        }
        let Some(symbol) = value.latest() else {
            return false;
        };
        let Some((factor, rest)) = value.split(&symbol) else {
            return false;
        };
        let bit = Polynomial::variable(symbol);
        factor.as_constant().is_some_and(is_mask)
            && rest.as_constant() == Some(0)
            && self.is_never_negative_here(facts, &bit)
            && self.is_never_negative_here(facts, &Polynomial::constant(1).minus(&bit))
    }

    fn is_positive(&mut self, facts: &mut Facts, value: &Polynomial) -> bool {
        self.is_never_negative_here(facts, &value.plus_number(-1))
    }

    /// Does the same as [`Facts::is_never_negative`], and notes in `is_local` whether the proof needs facts of
    /// this context.
    pub(crate) fn is_never_negative_here(
        &mut self,
        facts: &mut Facts,
        value: &impl Sum<Symbol>,
    ) -> bool {
        let Some(value) = value.known() else {
            return false;
        };
        if value.as_constant().is_some_and(|number| number >= 0)
            || facts.prover(Context(0), &[value]).holds(value)
        {
            return true;
        }
        let is = facts.is_never_negative(value);
        self.is_local |= is;
        is
    }
}
