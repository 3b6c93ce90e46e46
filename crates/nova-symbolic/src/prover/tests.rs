//! Tests that the prover is sound: a proved sum is not negative wherever the learned facts hold. Random facts
//! about three variables are tried on all values of a small cube.

use super::*;
use crate::random::{Random, VALUES, VARIABLES, each_point, value};

impl Random {
    fn fact(&mut self) -> Fact<usize> {
        if self.below(4) > 0 {
            return Fact::AtLeastZero(self.sum(VARIABLES));
        }
        let variable = self.below(VARIABLES as u64) as usize;
        let condition = self.sum(variable);
        let opposite = Exact::constant(-1).minus(&condition).unwrap();
        let mut cases = vec![Case::of(self.sum(variable)), Case::of(self.sum(variable))];
        if self.below(2) == 0 {
            cases[0].conditions = vec![condition];
            cases[1].conditions = vec![opposite];
        }
        Fact::OneOf(variable, cases)
    }
}

fn is_true(fact: &Fact<usize>, values: &[i128]) -> bool {
    match fact {
        Fact::AtLeastZero(sum) => value(sum, values) >= 0,
        Fact::OneOf(variable, cases) => cases.iter().any(|case| {
            case.conditions.iter().all(|sum| value(sum, values) >= 0)
                && value(&case.value, values) == values[*variable]
        }),
    }
}

/// The prover learns that variables are in the cube, as only its values are tried.
fn in_the_cube(prover: &mut Prover<usize>) {
    for variable in 0..VARIABLES {
        let variable = Exact::variable(variable);
        let above = variable.plus_number(*VALUES.end());
        let below = variable.negated().plus_number(*VALUES.end());
        prover.learn(&Fact::AtLeastZero(above.unwrap()));
        prover.learn(&Fact::AtLeastZero(below.unwrap()));
    }
}

#[test]
fn what_is_proved_is_true() {
    let mut random = Random(1);
    let (mut proved, mut nowhere) = (0, 0);
    for round in 0..6000 {
        let mut prover = Prover::default();
        let mut facts: Vec<Fact<usize>> = (0..2 + random.below(5)).map(|_| random.fact()).collect();
        // Some variables have equations.
        if random.below(4) == 0 {
            let variable = random.below(VARIABLES as u64) as usize;
            let value = random.sum(variable);
            let more = Exact::variable(variable).minus(&value).unwrap();
            facts.push(Fact::AtLeastZero(more.negated()));
            facts.push(Fact::AtLeastZero(more));
        }
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
            let sum = random.sum(VARIABLES);
            if !prover.holds(&sum) {
                continue;
            }
            proved += 1;
            each_point(|values| {
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

/// A sum of many variables with useless bounds: a proof that tries every bound, one after the other, takes a
/// hundred thousand steps for it.
#[test]
fn bounds_that_say_no_more_cost_nothing() {
    let variable = Exact::<usize>::variable;
    let mut prover = Prover::default();
    let mut sum = Exact::constant(0);
    for index in 0..40 {
        for least in [0i128, 1, -63, 64, -15, 32, 7, -1] {
            let fact = variable(index).plus_number(-least).unwrap();
            prover.learn(&Fact::AtLeastZero(fact));
        }
        let factor = if index % 2 == 0 { 1 } else { 3 };
        sum = sum.plus_times(factor, &variable(index)).unwrap();
    }
    let least = |missing: i128| sum.plus_number(-40 * 64 * 2 - missing).unwrap();
    assert_eq!(prover.holds_within(1, &least(0)), Some(true));
    assert_eq!(prover.holds_within(400, &least(1)), Some(false));
}

/// Sums of many variables, each of which has bounds by others, are proved or given up in few steps.
#[test]
fn proofs_take_few_steps() {
    const VARIABLES: usize = 24;
    let variable = Exact::<usize>::variable;
    let mut prover = Prover::default();
    let at_least =
        |prover: &mut Prover<usize>, sum: Exact<usize>| prover.learn(&Fact::AtLeastZero(sum));
    for index in 0..VARIABLES {
        at_least(&mut prover, variable(index));
        for before in [1, 2, 3] {
            if let Some(earlier) = index.checked_sub(before) {
                at_least(
                    &mut prover,
                    variable(index).minus(&variable(earlier)).unwrap(),
                );
                at_least(
                    &mut prover,
                    Exact::pair(earlier, index, 64)
                        .plus_times(-2, &variable(index))
                        .unwrap(),
                );
            }
        }
    }
    let (first, last) = (variable(0), variable(VARIABLES - 1));
    assert_eq!(
        prover.holds_within(60, &last.minus(&first).unwrap()),
        Some(true)
    );
    let far = first.gap_to(&last).unwrap();
    assert_eq!(prover.holds_within(300, &far), Some(false));
}

/// The number of an iteration is that of three nested loops taken apart and put together again. That the
/// extent has bounds by many others does not matter.
#[test]
fn equations_come_before_bounds() {
    let variable = Exact::<usize>::variable;
    let mut prover = Prover::default();
    let mut learn = |sum: Option<Exact<usize>>| {
        prover.learn(&Fact::AtLeastZero(sum.unwrap()));
    };
    let extent = variable(9);
    learn(extent.plus_number(-3));
    for other in 0..9 {
        learn(variable(other).minus(&extent));
    }
    let mut put_together = |first: usize| {
        let [number, rows, row, columns, column] = [0, 1, 2, 3, 4].map(|k| variable(first + k));
        learn(Some(number.clone()));
        let mut divide = |whole: &Exact<usize>, quotient: &Exact<usize>, rest: &Exact<usize>| {
            learn(Some(quotient.clone()));
            let difference = whole
                .minus(&extent.times(quotient).unwrap())
                .and_then(|sum| sum.minus(rest))
                .unwrap();
            learn(Some(rest.clone()));
            learn(rest.gap_to(&extent));
            learn(Some(difference.negated()));
            learn(Some(difference));
        };
        divide(&number, &rows, &row);
        divide(&rows, &columns, &column);
        let sum = columns.times(&extent).unwrap().plus(&column).unwrap();
        (number, sum.times(&extent).unwrap().plus(&row).unwrap())
    };
    let ((one, first), (other, second)) = (put_together(10), put_together(20));
    learn(one.gap_to(&other));
    assert_eq!(
        prover.holds_within(100, &first.gap_to(&second).unwrap()),
        Some(true)
    );
}
