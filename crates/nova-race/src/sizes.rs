//! Signs of the factors of the size of an allocation. The size is not negative. So where all factors but
//! one are positive, as in a loop over the rows of an array, that one is not negative. Such a factor is
//! the length of a row that comes from memory or from another function, of which nothing else is known.

use crate::facts::Facts;
use crate::refusal::Rule;
use crate::state::State;
use crate::symbolic::{Case, Fact, Polynomial, Symbol};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::deep;
use nova_loop::ir::Expression;
use std::collections::BTreeSet;

/// A size with more factors is not considered.
const MOST_FACTORS: usize = 4;

/// Records that an allocation has this many elements: a negative number would be out of memory.
pub(crate) fn allocated(facts: &mut Facts, count: &Polynomial) {
    facts.learn(count.clone());
    let Some(product) = product(facts, count) else {
        return;
    };
    let is_known = |symbol: &Symbol| facts.is_never_negative(&Polynomial::variable(*symbol));
    if !product.iter().all(is_known) {
        facts.sizes.push(product);
    }
}

/// Learns, in an iteration of a loop whose count is a product, that the factors are positive, if all but at most
/// one of them are known not to be negative.
pub(crate) fn learn_product(facts: &mut Facts, count: &Polynomial) {
    let mut products = count.products();
    let (Some((factors, 1)), None) = (products.next(), products.next()) else {
        return;
    };
    if !(2..=MOST_FACTORS).contains(&factors.len()) {
        return;
    }
    let factors = factors.iter().map(|f| Polynomial::variable(*f)).collect();
    learn_positive(facts, factors);
}

/// Learns the same from the expression of the count, in which factors may be sums.
pub(crate) fn learn_written_product(state: &mut State, count: &Expression) {
    let mut factors = Vec::new();
    each_factor(count, &mut |factor| factors.push(state.number(factor)));
    if (2..=MOST_FACTORS).contains(&factors.len()) {
        learn_positive(&mut state.facts, factors);
    }
}

/// Learns that numbers whose product is positive are positive, if at most one of them may be negative.
fn learn_positive(facts: &mut Facts, factors: Vec<Polynomial>) {
    let may_be_negative = |factor: &&Polynomial| !facts.is_never_negative(*factor);
    if factors.iter().filter(may_be_negative).nth(1).is_none() {
        for factor in factors {
            facts.learn(factor.plus_number(-1));
        }
    }
}

/// *Sizes.* Learns, in an iteration of a loop with this count, that factors of sizes are not negative:
/// those whose other factors are positive there.
pub(crate) fn learn_factors(state: &mut State, count: &Polynomial) {
    if state.facts.sizes.is_empty() {
        return;
    }
    if state.without.contains(&Rule::Sizes) {
        for factor in state.facts.sizes.concat() {
            state.facts.learn(Polynomial::variable(factor));
        }
        return;
    }
    let most = at_most(&state.facts, count);
    let factors: BTreeSet<Symbol> = state.facts.sizes.iter().flatten().copied().collect();
    let factors: Vec<Polynomial> = factors.into_iter().map(Polynomial::variable).collect();
    let sums: Vec<&Polynomial> = factors.iter().chain(&most).collect();
    let prover = state.facts.prover(state.facts.context, &sums);
    let is_positive = |factor: &Symbol| {
        let factor = Polynomial::variable(*factor);
        let is_more = |most: &Polynomial| prover.is_at_least(&factor, most);
        prover.is_positive(&factor) || most.iter().any(is_more)
    };
    // A fact that is known now is known inside, too.
    let mut found = Vec::new();
    state.facts.sizes.retain(|product| {
        let mut others = product.iter().filter(|factor| !is_positive(factor));
        let unknown = (others.next(), others.next());
        if let (Some(factor), None) = unknown {
            found.push(*factor);
        }
        unknown.1.is_some()
    });
    for factor in found {
        state.facts.learn(Polynomial::variable(factor));
    }
}

/// Returns upper bounds of a number: itself, and for a minimum its operands.
fn at_most(facts: &Facts, number: &Polynomial) -> Vec<Polynomial> {
    let mut found = vec![number.clone()];
    let mut at = 0;
    while let Some(value) = found.get(at).cloned().filter(|_| at < MOST_FACTORS) {
        at += 1;
        let Some(symbol) = value.as_variable() else {
            continue;
        };
        for fact in &facts.definitions[symbol.index()] {
            if let Fact::AtLeastZero(sum) = fact
                && let Some((factor, rest)) = sum.split(&symbol)
                && factor.as_constant() == Some(-1)
            {
                found.push(rest);
            }
        }
    }
    found
}

/// Returns the factors of a product that is not negative if this size is not. It is the size itself, or
/// the product in `one factor is 0 ? 0 : they are too large ? -1 : product`.
fn product(facts: &Facts, count: &Polynomial) -> Option<Vec<Symbol>> {
    let mut cases = Vec::new();
    cases_of(facts, Case::of(count.clone()), &mut cases);
    let mut product: Option<Vec<Symbol>> = None;
    let mut others = Vec::new();
    for case in cases {
        match case.value.as_constant() {
            Some(number) if number < 0 => {}
            Some(_) => others.push(case),
            None if product.is_some() => return None,
            None => product = Some(case.value.as_product()?.to_vec()),
        }
    }
    let product = product.filter(|factors| (2..=MOST_FACTORS).contains(&factors.len()))?;
    let is_nothing = |case: &Case| {
        let has = |sum: Polynomial| case.conditions.contains(&sum);
        product.iter().any(|factor| {
            let factor = Polynomial::variable(*factor);
            has(factor.negated()) && has(factor)
        })
    };
    others.iter().all(is_nothing).then_some(product)
}

/// Collects the values that a number may have, and the conditions under which it has them.
fn cases_of(facts: &Facts, case: Case, found: &mut Vec<Case>) {
    let own = case
        .value
        .as_variable()
        .map(|s| &facts.definitions[s.index()]);
    let cases = own.into_iter().flatten().find_map(|fact| match fact {
        Fact::OneOf(_, cases) => Some(cases),
        Fact::AtLeastZero(_) => None,
    });
    let Some(cases) = cases.filter(|_| case.conditions.len() < 2 * MOST_FACTORS) else {
        found.push(case);
        return;
    };
    for inner in cases {
        let conditions = [&case.conditions[..], &inner.conditions].concat();
        let value = inner.value.clone();
        cases_of(facts, Case { conditions, value }, found);
    }
}

/// Calls `visit` on the factors of a product of `i64`s, or on an expression that is no product.
fn each_factor<'e>(expression: &'e Expression, visit: &mut dyn FnMut(&'e Expression)) {
    match expression {
        Expression::Scalar {
            operation: ScalarOperation::Multiply,
            operand: Scalar::I64,
            arguments,
        } => arguments
            .iter()
            .for_each(|argument| deep(|| each_factor(argument, visit))),
        other => visit(other),
    }
}
