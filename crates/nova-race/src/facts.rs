//! Facts about symbols: those that always hold, and those that hold in a context.

use crate::provers::Provers;
use crate::symbolic::{Case, Context, Fact, Polynomial, Prover, Sizes, Spot, Symbol};
use nova_core::Scalar;
use nova_symbolic::Sum;
use std::collections::BTreeSet;
use std::rc::Rc;

/// The number of facts of a context that are considered, the nearest ones.
const MOST_FACTS: usize = 300;

/// Makes symbols, and answers by the facts about them whether a number may be negative.
pub(crate) struct Facts {
    /// The facts that always hold for each symbol.
    pub(crate) definitions: Vec<Vec<Fact>>,
    /// Facts that hold in a context, each with its parent in the tree.
    tree: Vec<(Fact, Context)>,
    pub(crate) context: Context,
    /// Products that are not negative since they are the sizes of allocations.
    pub(crate) sizes: Sizes,
    pub(crate) provers: Provers,
}

impl Default for Facts {
    fn default() -> Self {
        // The root of the tree says nothing.
        let nothing = Fact::AtLeastZero(Polynomial::default());
        Facts {
            definitions: Vec::new(),
            tree: vec![(nothing, Context(0))],
            context: Context(0),
            sizes: Sizes::new(),
            provers: Provers::default(),
        }
    }
}

impl Facts {
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

    pub(crate) fn any(&mut self, scalar: Scalar) -> Polynomial {
        Polynomial::variable(self.fresh(scalar))
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

    /// Learns a fact for the rest of the list.
    pub(crate) fn learn(&mut self, sum: impl Into<Option<Polynomial>>) {
        let Some(sum) = sum.into() else { return };
        if sum.as_constant().is_some() {
            return;
        }
        self.tree.push((Fact::AtLeastZero(sum), self.context));
        self.context = Context(self.tree.len() as u32 - 1);
    }

    /// Learns facts for the rest of the list.
    pub(crate) fn learn_all(&mut self, sums: Vec<Polynomial>) {
        sums.into_iter().for_each(|sum| self.learn(sum));
    }

    /// Returns a prover with the facts of a context and of the symbols of these sums.
    pub(crate) fn prover(&self, context: Context, sums: &[&Polynomial]) -> Rc<Prover> {
        self.provers.that_knows(&self.known(context, sums, &[]))
    }

    /// Returns the facts that hold in a context. First come the definitions of the symbols in `sums`, in
    /// `more` and in the facts of the context. Then come the facts of the context, those that hold longest
    /// first, and at last `more`.
    pub(crate) fn known<'f>(
        &'f self,
        context: Context,
        sums: &[&Polynomial],
        more: &'f [Fact],
    ) -> Vec<&'f Fact> {
        let mut chain: Vec<&Fact> = more.iter().collect();
        let mut at = context;
        while at.0 != 0 && chain.len() < MOST_FACTS {
            let (fact, before) = &self.tree[at.0 as usize];
            chain.push(fact);
            at = *before;
        }
        let mut left: Vec<Symbol> = sums
            .iter()
            .flat_map(|sum| sum.variables().copied())
            .collect();
        chain.iter().for_each(|fact| symbols_of(fact, &mut left));
        let mut seen = BTreeSet::new();
        while let Some(symbol) = left.pop() {
            if seen.insert(symbol)
                && let Some(facts) = self.definitions.get(symbol.index())
            {
                facts.iter().for_each(|fact| symbols_of(fact, &mut left));
            }
        }
        let definitions = seen.iter().filter_map(|s| self.definitions.get(s.index()));
        let mut found: Vec<&Fact> = definitions.flatten().collect();
        found.extend(chain.into_iter().rev());
        found
    }

    /// True if a number is known never to be negative here.
    pub(crate) fn is_never_negative(&self, value: &impl Sum<Symbol>) -> bool {
        let Some(value) = value.known() else {
            return false;
        };
        value.as_constant().is_some_and(|number| number >= 0)
            || self.prover(self.context, &[value]).holds(value)
    }

    /// Returns the index of one of `count` elements from a place on, or of any element from there if no
    /// count is given.
    pub(crate) fn within(&mut self, spot: &Spot, count: Option<&Polynomial>) -> Polynomial {
        if count.and_then(Polynomial::as_constant) == Some(1) {
            return spot.index.clone();
        }
        let symbol = self.fresh(Scalar::I64);
        let offset = Polynomial::variable(symbol);
        if let Some(count) = count {
            self.define(symbol, offset.clone());
            self.define(symbol, offset.gap_to(count));
        }
        self.sum(&spot.index, &offset)
    }
}

fn symbols_of(fact: &Fact, found: &mut Vec<Symbol>) {
    match fact {
        Fact::AtLeastZero(sum) => found.extend(sum.variables().copied()),
        Fact::OneOf(symbol, values) => {
            found.push(*symbol);
            for case in values {
                found.extend(case.value.variables().copied());
                found.extend(case.conditions.iter().flat_map(Polynomial::variables));
            }
        }
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
