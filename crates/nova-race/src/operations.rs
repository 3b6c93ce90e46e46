//! The results of scalar operations, expressed in symbols. A result that is exact is a sum of products.
//! Any other is a new symbol with facts, such as the bounds of a remainder, the cases of a minimum, or that
//! a quotient times the divisor is no more than the dividend.

use crate::refusal::Rule;
use crate::symbolic::{Case, Fact, Operation, Polynomial, Symbol};
use crate::walk::Walk;
use nova_core::{Scalar, ScalarOperation};
use nova_loop::ir::Expression;

impl Walk<'_> {
    pub(crate) fn operation(
        &mut self,
        operation: ScalarOperation,
        operand: Scalar,
        arguments: &[Expression],
    ) -> Polynomial {
        let values: Vec<Polynomial> = arguments.iter().map(|a| self.number(a)).collect();
        self.result(operation, operand, values)
    }

    /// Returns the result of an operation on numbers.
    fn result(
        &mut self,
        operation: ScalarOperation,
        operand: Scalar,
        values: Vec<Polynomial>,
    ) -> Polynomial {
        use ScalarOperation as O;
        if let Some(exact) = self.exact(operation, operand, &values) {
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
        if let Some(known) = self.operations.get(&key) {
            return Polynomial::variable(*known);
        }
        // The facts about a remainder name the quotient, which must be an earlier symbol.
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
        // Facts that hold here need not hold elsewhere.
        if !self.is_local {
            self.operations.insert(key, symbol);
        }
        Polynomial::variable(symbol)
    }

    /// Returns the result of an operation if it is a sum of products itself.
    fn exact(
        &mut self,
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
            (O::Maximum, [a, b]) if self.is_never_negative(&a.minus(b)) => Some(a.clone()),
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
        self.operations.get(&key).copied()
    }

    /// Adds the facts about the result of an operation on `i64`s that is no sum of products.
    fn define_operation(&mut self, symbol: Symbol, operation: ScalarOperation, of: &[Polynomial]) {
        use ScalarOperation as O;
        let value = Polynomial::variable(symbol);
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
                if let Some(below) = below.filter(|below| self.is_low_bits(below)) {
                    let least = a.minus(&below);
                    self.define(symbol, least.and_then(|least| value.minus(&least)));
                }
            }
            (O::ShiftRight, Some(by @ 0..62)) => self.define_quotient(symbol, a, 1 << by, true),
            (O::Divide, Some(by)) if by > 0 => {
                self.define_quotient(symbol, a, by, false);
                self.divided.push((symbol, [a.clone(), b.clone()]));
            }
            (O::Divide, None) if self.is_never_negative_here(a) && self.is_positive(b) => {
                self.define(symbol, value.clone());
                self.define(symbol, a.minus(&value));
                if let Some(product) = value.times(b) {
                    self.define(symbol, a.minus(&product));
                }
                self.divided.push((symbol, [a.clone(), b.clone()]));
            }
            (O::Remainder, _) if self.is_never_negative_here(a) && self.is_positive(b) => {
                self.define(symbol, value.clone());
                self.define(symbol, a.minus(&value));
                self.define(symbol, value.gap_to(b));
            }
            _other => {}
        }
    }

    /// *Divisions.* `a = b · (a div b) + (a rem b)`, whatever the signs: the quotient and the remainder
    /// of the same numbers are of one division. A quotient about which facts hold in one context only has a
    /// symbol of its own there, which is equal to a symbol without other facts.
    fn define_division(&mut self, symbol: Symbol, operation: ScalarOperation, of: &[Polynomial]) {
        use ScalarOperation as O;
        let (value, [a, b]) = (Polynomial::variable(symbol), of) else {
            return;
        };
        let equal = match operation {
            O::Divide if self.is_local => Some(Polynomial::variable(self.bare_quotient(a, b))),
            O::Remainder => {
                let known = self.operation_of(O::Divide, a, b);
                let quotient = known.unwrap_or_else(|| self.bare_quotient(a, b));
                let product = b.times(&Polynomial::variable(quotient));
                product.and_then(|product| a.minus(&product))
            }
            _others => None,
        };
        if let Some(equal) = equal.filter(|sum| sum.latest() < Some(symbol)) {
            self.define(symbol, value.minus(&equal));
            self.define(symbol, equal.minus(&value));
        }
    }

    /// Returns the remainder of a number that is never negative by a positive constant, expressed by the
    /// quotient.
    fn exact_remainder(
        &self,
        a: &Polynomial,
        b: &Polynomial,
        quotient: &Polynomial,
    ) -> Option<Polynomial> {
        let by = b.as_constant().filter(|by| *by > 0)?;
        let product = quotient.scaled(by)?;
        let rest = a.minus(&product)?;
        self.is_never_negative(a).then_some(rest)
    }

    /// Returns a symbol for the quotient of two numbers, the same everywhere and without facts.
    fn bare_quotient(&mut self, a: &Polynomial, b: &Polynomial) -> Symbol {
        let key = (a.clone(), b.clone());
        let next = Symbol(self.definitions.len() as u32);
        let symbol = *self.quotients.entry(key).or_insert(next);
        if symbol == next {
            self.definitions.push(Vec::new());
        }
        symbol
    }

    /// Returns the cases of a quotient of a number of unknown sign by a positive constant: it is rounded down
    /// where the number is not negative, else up.
    fn quotients_by_sign(&mut self, a: &Polynomial, b: &Polynomial) -> Option<Vec<Case>> {
        let by = i64::try_from(b.as_constant()?).ok().filter(|by| *by > 0)?;
        if self.is_never_negative(a) {
            return None;
        }
        let (down, up) = (self.any(Scalar::I64), self.any(Scalar::I64));
        let rest = a.minus(&down.scaled(by)?)?;
        let lack = up.scaled(by)?.minus(a)?;
        for (value, missing) in [(&down, rest), (&up, lack)] {
            let symbol = value.latest()?;
            self.define(symbol, Polynomial::constant(by - 1).minus(&missing));
            self.define(symbol, missing);
        }
        let case = |conditions, value| Case { conditions, value };
        let negative = Polynomial::constant(-1).minus(a)?;
        Some(vec![
            case(vec![a.clone(), down.clone()], down),
            case(vec![negative, up.negated()], up),
        ])
    }

    /// Adds the facts about a symbol that is a quotient, rounded down if `floors`, else towards 0.
    fn define_quotient(&mut self, symbol: Symbol, of: &Polynomial, by: i64, floors: bool) {
        let value = Polynomial::variable(symbol);
        let is_never_negative = self.is_never_negative_here(of);
        if is_never_negative {
            self.define(symbol, value.clone());
        }
        let Some(product) = value.scaled(by) else {
            return;
        };
        if floors || is_never_negative {
            self.define(symbol, of.minus(&product));
            let most = product.plus_number(by - 1);
            self.define(symbol, most.and_then(|most| most.minus(of)));
            self.define_whole_parts(symbol, of, by);
        }
    }

    /// *Whole parts.* Adds bounds of a quotient. The last symbol of the dividend may have an upper bound
    /// with which the dividend is a multiple of the divisor plus a constant. The quotient is then at most
    /// that dividend, divided and rounded down.
    fn define_whole_parts(&mut self, symbol: Symbol, of: &Polynomial, by: i64) {
        let Some(last) = of.latest() else { return };
        let Some((factor, rest)) = of.split(&last) else {
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
            let Some((Some(-1), most)) = sum.split(&last).map(|(f, rest)| (f.as_constant(), rest))
            else {
                continue;
            };
            if let Some(whole) = rest.plus(&most).and_then(|sum| sum.divided_down(by)) {
                self.define(symbol, whole.minus(&Polynomial::variable(symbol)));
            }
        }
    }

    fn define_cases(&mut self, symbol: Symbol, values: &[Polynomial]) {
        let cases = values.iter().cloned().map(Case::of).collect();
        self.definitions[symbol.index()].push(Fact::OneOf(symbol, cases));
    }

    /// True if a number is 0 or one less than a power of two.
    fn is_low_bits(&mut self, value: &Polynomial) -> bool {
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
            && self.is_never_negative_here(&bit)
            && self.is_never_negative_here(&Polynomial::constant(1).minus(&bit))
    }

    fn is_positive(&mut self, value: &Polynomial) -> bool {
        self.is_never_negative_here(&value.plus_number(-1))
    }
}
