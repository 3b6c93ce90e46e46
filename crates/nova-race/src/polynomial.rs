//! Sums of products of symbols, as numbers that do not wrap. Addresses, counts and conditions are
//! compared in this form. A symbol stands for one value that is computed at one place. Later symbols may be
//! bounded by earlier ones, never the other way round, so that a proof that goes from the last
//! symbol of a sum to the first comes to an end.

use std::collections::BTreeMap;

/// Products of sums with more terms than this are not multiplied out.
const MOST_TERMS: usize = 48;
/// No factor may be larger.
const LARGEST: i128 = 1 << 100;

nova_diag::ids! {
    /// A value that is computed at one place.
    pub(crate) struct Symbol;
}

/// A sum of products, with their constant factors, none of which is 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Polynomial(BTreeMap<Vec<Symbol>, i128>);

impl Polynomial {
    /// A number.
    pub(crate) fn constant(value: i64) -> Polynomial {
        let mut made = Polynomial::default();
        made.add(Vec::new(), i128::from(value));
        made
    }

    /// A symbol alone.
    pub(crate) fn symbol(symbol: Symbol) -> Polynomial {
        Polynomial(BTreeMap::from([(vec![symbol], 1)]))
    }

    fn add(&mut self, symbols: Vec<Symbol>, factor: i128) {
        let sum = self.0.get(&symbols).copied().unwrap_or(0);
        match sum.saturating_add(factor) {
            0 => self.0.remove(&symbols),
            sum => self.0.insert(symbols, sum),
        };
    }

    /// A sum.
    pub(crate) fn plus(&self, other: &Polynomial) -> Polynomial {
        let mut made = self.clone();
        for (symbols, factor) in &other.0 {
            made.add(symbols.clone(), *factor);
        }
        made
    }

    /// A difference.
    pub(crate) fn minus(&self, other: &Polynomial) -> Polynomial {
        let mut made = self.clone();
        for (symbols, factor) in &other.0 {
            made.add(symbols.clone(), -factor);
        }
        made
    }

    /// A sum with a number.
    pub(crate) fn plus_number(&self, number: i64) -> Polynomial {
        self.plus(&Polynomial::constant(number))
    }

    /// A product with a number.
    pub(crate) fn scaled(&self, number: i64) -> Option<Polynomial> {
        self.times(&Polynomial::constant(number))
    }

    /// A product, unless it is too large.
    pub(crate) fn times(&self, other: &Polynomial) -> Option<Polynomial> {
        if self.0.len() * other.0.len() > MOST_TERMS {
            return None;
        }
        let mut made = Polynomial::default();
        for (left, factor) in &self.0 {
            for (right, other) in &other.0 {
                let mut symbols = [left.as_slice(), right].concat();
                symbols.sort_unstable();
                made.add(symbols, factor.checked_mul(*other)?);
            }
        }
        let fits = |factor: &i128| factor.abs() <= LARGEST;
        made.0.values().all(fits).then_some(made)
    }

    /// The number, if it is one.
    pub(crate) fn as_constant(&self) -> Option<i128> {
        match self.0.first_key_value() {
            None => Some(0),
            Some((symbols, factor)) => (symbols.is_empty() && self.0.len() == 1).then_some(*factor),
        }
    }

    /// The sum without its number, and that number.
    pub(crate) fn split_number(&self) -> (Polynomial, i128) {
        let mut rest = self.clone();
        let number = rest.0.remove(&Vec::new()).unwrap_or(0);
        (rest, number)
    }

    /// The number of products in it.
    pub(crate) fn terms(&self) -> usize {
        self.0.len()
    }

    /// The symbol, if it is one.
    pub(crate) fn as_symbol(&self) -> Option<Symbol> {
        match self.0.first_key_value() {
            Some((symbols, 1)) if self.0.len() == 1 && symbols.len() == 1 => Some(symbols[0]),
            Some(_) | None => None,
        }
    }

    /// The factors, if it is a product of symbols alone.
    pub(crate) fn as_product(&self) -> Option<&[Symbol]> {
        match self.0.first_key_value() {
            Some((symbols, 1)) if self.0.len() == 1 => Some(symbols),
            Some(_) | None => None,
        }
    }

    /// The products, with their factors.
    pub(crate) fn products(&self) -> impl Iterator<Item = (&[Symbol], i128)> {
        let products = self.0.iter();
        products.map(|(symbols, factor)| (symbols.as_slice(), *factor))
    }

    /// The symbols in it.
    pub(crate) fn symbols(&self) -> impl Iterator<Item = Symbol> {
        self.0.keys().flatten().copied()
    }

    /// The last symbol in it.
    pub(crate) fn latest(&self) -> Option<Symbol> {
        self.symbols().max()
    }

    /// Splits the sum into the factor of a symbol and the rest; `None` if the symbol is multiplied by itself.
    pub(crate) fn split(&self, symbol: Symbol) -> Option<(Polynomial, Polynomial)> {
        let (mut factor, mut rest) = (Polynomial::default(), Polynomial::default());
        for (symbols, number) in &self.0 {
            match symbols.iter().filter(|s| **s == symbol).count() {
                0 => rest.add(symbols.clone(), *number),
                1 => {
                    let others = symbols.iter().copied().filter(|s| *s != symbol);
                    factor.add(others.collect(), *number);
                }
                _more => return None,
            }
        }
        Some((factor, rest))
    }

    /// Splits the sum into the factor of one occurrence of a symbol in each product, and the rest. The rest
    /// does not have the symbol; the factor has it where it is multiplied by itself.
    pub(crate) fn split_once(&self, symbol: Symbol) -> (Polynomial, Polynomial) {
        let (mut factor, mut rest) = (Polynomial::default(), Polynomial::default());
        for (symbols, number) in &self.0 {
            match symbols.iter().position(|s| *s == symbol) {
                None => rest.add(symbols.clone(), *number),
                Some(at) => {
                    let mut others = symbols.clone();
                    others.remove(at);
                    factor.add(others, *number);
                }
            }
        }
        (factor, rest)
    }

    /// The sum with the value `of` a symbol in place of each symbol.
    pub(crate) fn substitute(&self, of: &dyn Fn(Symbol) -> Polynomial) -> Option<Polynomial> {
        let mut made = Polynomial::default();
        for (symbols, factor) in &self.0 {
            let mut product = Polynomial(BTreeMap::from([(Vec::new(), *factor)]));
            for symbol in symbols {
                product = product.times(&of(*symbol))?;
            }
            made = made.plus(&product);
        }
        Some(made)
    }

    /// The sum divided by a number of which it is a multiple, term by term.
    pub(crate) fn divided(&self, by: i64) -> Option<Polynomial> {
        self.is_multiple(by).then(|| {
            let terms = self.0.iter();
            let terms = terms.map(|(symbols, factor)| (symbols.clone(), factor / i128::from(by)));
            Polynomial(terms.collect())
        })
    }

    /// The sum divided by a positive number and rounded down, if it is a multiple of that number plus a
    /// constant.
    pub(crate) fn divided_down(&self, by: i64) -> Option<Polynomial> {
        let number = self.0.get(&Vec::new()).copied().unwrap_or(0);
        let rest = i64::try_from(number.rem_euclid(i128::from(by))).ok()?;
        self.plus_number(-rest).divided(by)
    }

    /// True if all factors are multiples of a number.
    pub(crate) fn is_multiple(&self, of: i64) -> bool {
        self.0.values().all(|factor| factor % i128::from(of) == 0)
    }
}
