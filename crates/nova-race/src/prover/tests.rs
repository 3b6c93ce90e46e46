//! Tests that the prover is sound: a proved sum is not negative wherever the learned facts hold. Random facts
//! about three symbols are tried on all values of a small cube.

use super::*;
use std::ops::RangeInclusive;

const SYMBOLS: u32 = 3;
const VALUES: RangeInclusive<i128> = -3..=3;

/// Numbers that look random, the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn number(&mut self, most: i64) -> i64 {
        let span = u64::try_from(2 * most + 1).unwrap();
        i64::try_from(self.below(span)).unwrap() - most
    }

    /// A sum of at most two products of at most two of the first symbols.
    fn sum(&mut self, symbols: u32) -> Polynomial {
        let mut sum = Polynomial::constant(self.number(3));
        for _ in 0..self.below(3) {
            if symbols == 0 {
                break;
            }
            let mut product = Polynomial::constant(self.number(2));
            for _ in 0..=self.below(2) {
                let symbol = u32::try_from(self.below(u64::from(symbols))).unwrap();
                product = product.times(&Polynomial::symbol(Symbol(symbol))).unwrap();
            }
            sum = sum.plus(&product);
        }
        sum
    }

    fn fact(&mut self) -> Fact {
        if self.below(4) > 0 {
            return Fact::AtLeastZero(self.sum(SYMBOLS));
        }
        let symbol = u32::try_from(self.below(u64::from(SYMBOLS))).unwrap();
        let condition = self.sum(symbol);
        let opposite = Polynomial::constant(-1).minus(&condition);
        let mut cases = vec![Case::of(self.sum(symbol)), Case::of(self.sum(symbol))];
        if self.below(2) == 0 {
            cases[0].conditions = vec![condition];
            cases[1].conditions = vec![opposite];
        }
        Fact::OneOf(Symbol(symbol), cases)
    }
}

fn value(sum: &Polynomial, values: &[i128]) -> i128 {
    let of_product = |(symbols, factor): (&[Symbol], i128)| {
        let values = symbols.iter().map(|symbol| values[symbol.index()]);
        factor * values.product::<i128>()
    };
    sum.products().map(of_product).sum()
}

fn is_true(fact: &Fact, values: &[i128]) -> bool {
    match fact {
        Fact::AtLeastZero(sum) => value(sum, values) >= 0,
        Fact::OneOf(symbol, cases) => cases.iter().any(|case| {
            case.conditions.iter().all(|sum| value(sum, values) >= 0)
                && value(&case.value, values) == values[symbol.index()]
        }),
    }
}

fn each_value(mut look: impl FnMut(&[i128])) {
    for a in VALUES {
        for b in VALUES {
            for c in VALUES {
                look(&[a, b, c]);
            }
        }
    }
}

/// The prover learns that symbols are in the cube, as only its values are tried.
fn in_the_cube(prover: &mut Prover) {
    for symbol in 0..SYMBOLS {
        let symbol = Polynomial::symbol(Symbol(symbol));
        let most = i64::try_from(*VALUES.end()).unwrap();
        prover.learn(&Fact::AtLeastZero(symbol.plus_number(most)));
        prover.learn(&Fact::AtLeastZero(
            Polynomial::constant(most).minus(&symbol),
        ));
    }
}

#[test]
fn what_is_proved_is_true() {
    let mut random = Random(1);
    let (mut proved, mut nowhere) = (0, 0);
    for round in 0..6000 {
        let mut prover = Prover::default();
        let facts: Vec<Fact> = (0..2 + random.below(5)).map(|_| random.fact()).collect();
        // Learned before all other facts, or after them, as ranges decide which bounds are stored.
        let is_first = round % 2 == 0;
        if is_first {
            in_the_cube(&mut prover);
        }
        facts.iter().for_each(|fact| prover.learn(fact));
        if !is_first {
            in_the_cube(&mut prover);
        }
        nowhere += u32::from(prover.is_nowhere);
        for _ in 0..4 {
            let sum = random.sum(SYMBOLS);
            if !prover.holds(&sum) {
                continue;
            }
            proved += 1;
            each_value(|values| {
                let is_possible = facts.iter().all(|fact| is_true(fact, values));
                assert!(
                    !is_possible || value(&sum, values) >= 0,
                    "{sum:?} at {values:?} by {facts:?}"
                );
            });
        }
    }
    assert!(proved > 3000 && nowhere > 100, "{proved} {nowhere}");
}

#[test]
fn ranges_hold_the_values_of_sums() {
    let mut random = Random(2);
    for _ in 0..2000 {
        let range = |random: &mut Random| {
            let mut end = || (random.below(3) > 0).then(|| i128::from(random.number(3)));
            let (least, most) = (end(), end());
            Range { least, most }
        };
        let of: Vec<Range> = (0..SYMBOLS).map(|_| range(&mut random)).collect();
        let sum = random.sum(SYMBOLS);
        let whole = ranges::of_sum(&sum, &|symbol| of[symbol.index()]);
        each_value(|values| {
            let is_in = |range: &Range, value: i128| !range.and(Range::exactly(value)).is_empty();
            if of
                .iter()
                .zip(values)
                .all(|(range, value)| is_in(range, *value))
            {
                assert!(
                    is_in(&whole, value(&sum, values)),
                    "{sum:?} {of:?} {whole:?}"
                );
            }
        });
    }
}

/// A sum of many symbols with useless bounds: a proof that tries every bound, one after the other, takes a
/// hundred thousand steps for it.
#[test]
fn bounds_that_say_no_more_cost_nothing() {
    let symbol = |index| Polynomial::symbol(Symbol(index));
    let mut prover = Prover::default();
    let mut sum = Polynomial::constant(0);
    for index in 0..40 {
        for least in [0, 1, -63, 64, -15, 32, 7, -1] {
            let fact = symbol(index).plus_number(-least);
            prover.learn(&Fact::AtLeastZero(fact));
        }
        let factor = if index % 2 == 0 { 1 } else { 3 };
        sum = sum.plus(&symbol(index).scaled(factor).unwrap());
    }
    let least = |missing: i64| sum.plus_number(-40 * 64 * 2 - missing);
    assert_eq!(prover.holds_within(1, &least(0)), Some(true));
    assert_eq!(prover.holds_within(400, &least(1)), Some(false));
}

/// Sums of many symbols, each of which has bounds by others, are proved or given up in few steps.
#[test]
fn proofs_take_few_steps() {
    const SYMBOLS: u32 = 24;
    let symbol = |index| Polynomial::symbol(Symbol(index));
    let mut prover = Prover::default();
    let at_least = |prover: &mut Prover, sum: Polynomial| prover.learn(&Fact::AtLeastZero(sum));
    for index in 0..SYMBOLS {
        at_least(&mut prover, symbol(index));
        for before in [1, 2, 3] {
            if let Some(earlier) = index.checked_sub(before) {
                at_least(&mut prover, symbol(index).minus(&symbol(earlier)));
                at_least(
                    &mut prover,
                    symbol(earlier).plus_number(64).minus(&symbol(index)),
                );
            }
        }
    }
    let (first, last) = (symbol(0), symbol(SYMBOLS - 1));
    assert_eq!(prover.holds_within(60, &last.minus(&first)), Some(true));
    let far = last.minus(&first).plus_number(-1);
    assert_eq!(prover.holds_within(300, &far), Some(false));
}
