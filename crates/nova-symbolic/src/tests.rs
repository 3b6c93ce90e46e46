//! Tests of polynomials and intervals against evaluation. Each law that is tested was broken once to see that
//! the test finds it: `-=` in place of `+=` in a sum, products without sorting, a bound of `LARGEST` that is
//! not tested, the ends of an interval's product in the wrong order, a proof that accepts -1.

use crate::random::{Random, VALUES, VARIABLES, each_point, value};
use crate::{Affine, Bounds, Exact, Interval, LARGEST, Polynomial, Shifted, Wrapping};

/// A wrapping polynomial with coefficients of any size.
fn wrapping(random: &mut Random) -> Wrapping<usize> {
    let mut sum = Wrapping::default();
    for _ in 0..random.below(4) {
        let number = (random.below(1 << 31) as i64).wrapping_mul(random.below(1 << 31) as i64 * 8);
        let mut product = Wrapping::constant(number.wrapping_sub(i64::MAX / 3));
        for _ in 0..random.below(3) {
            let variable = random.below(VARIABLES as u64) as usize;
            product = product.times(&Wrapping::variable(variable));
        }
        sum = sum.plus(&product);
    }
    sum
}

#[test]
fn exact_arithmetic_agrees_with_values() {
    let mut random = Random(11);
    for _ in 0..400 {
        let (a, b) = (random.sum(VARIABLES), random.sum(VARIABLES));
        let (sum, difference) = (a.plus(&b).unwrap(), a.minus(&b).unwrap());
        let product = a.times(&b).unwrap();
        let (multiple, gap) = (a.plus_times(-5, &b).unwrap(), a.gap_to(&b).unwrap());
        let composed = a.substitute(&|v| {
            if *v == 1 {
                b.clone()
            } else {
                Exact::variable(*v)
            }
        });
        let variable = random.below(VARIABLES as u64) as usize;
        let (factor, rest) = a.split_once(&variable);
        let linear = a.split(&variable);
        let (others, number) = a.split_number();
        let down = a.divided_down(2);
        each_point(|at| {
            let (x, y) = (value(&a, at), value(&b, at));
            assert_eq!(value(&sum, at), x + y);
            assert_eq!(value(&difference, at), x - y);
            assert_eq!(value(&product, at), x * y);
            assert_eq!(value(&multiple, at), x - 5 * y);
            assert_eq!(value(&gap, at), y - x - 1);
            assert_eq!(value(&a.negated(), at), -x);
            assert_eq!(value(&a.scaled(7).unwrap(), at), 7 * x);
            assert_eq!(
                value(composed.as_ref().unwrap(), at),
                value(&a, &[at[0], y, at[2]])
            );
            assert_eq!(value(&factor, at) * at[variable] + value(&rest, at), x);
            if let Some((factor, rest)) = &linear {
                assert!(!factor.variables().any(|v| *v == variable));
                assert_eq!(value(factor, at) * at[variable] + value(rest, at), x);
            }
            assert_eq!(value(&others, at) + number, x);
            if let Some(down) = &down {
                assert_eq!(value(down, at), x.div_euclid(2));
            }
            let pair = Exact::pair(variable, 0, -4);
            assert_eq!(value(&pair, at), at[variable] + at[0] - 4);
        });
        // Equal polynomials are identical.
        assert_eq!(sum.minus(&b).unwrap(), a);
        assert_eq!(product, b.times(&a).unwrap());
    }
}

#[test]
fn wrapping_arithmetic_agrees_with_values() {
    let mut random = Random(12);
    for _ in 0..3000 {
        let (a, b) = (wrapping(&mut random), wrapping(&mut random));
        let at: Vec<i64> = (0..VARIABLES)
            .map(|_| (random.below(1 << 31) as i64).wrapping_mul(random.below(1 << 31) as i64 * 7))
            .collect();
        let (x, y) = (value(&a, &at), value(&b, &at));
        assert_eq!(value(&a.plus(&b), &at), x.wrapping_add(y));
        assert_eq!(value(&a.minus(&b), &at), x.wrapping_sub(y));
        assert_eq!(value(&a.times(&b), &at), x.wrapping_mul(y));
        assert_eq!(
            value(&a.plus_times(i64::MIN + 1, &b), &at),
            x.wrapping_add(y.wrapping_mul(i64::MIN + 1))
        );
        assert_eq!(value(&a.negated(), &at), x.wrapping_neg());
        assert_eq!(value(&a.narrow(), &at) as i32, x as i32);
        let composed = a.substitute(|v| {
            if *v == 1 {
                b.clone()
            } else {
                Wrapping::variable(*v)
            }
        });
        assert_eq!(value(&composed, &at), value(&a, &[at[0], y, at[2]]));
        assert_eq!(a.plus(&b).minus(&b), a);
    }
}

#[test]
fn intervals_hold_the_values_of_sums() {
    let mut random = Random(2);
    for _ in 0..2000 {
        let interval = |random: &mut Random| {
            let mut end = || (random.below(3) > 0).then(|| i128::from(random.number(3)));
            let (least, most) = (end(), end());
            Interval { least, most }
        };
        let of: Vec<Interval> = (0..VARIABLES).map(|_| interval(&mut random)).collect();
        let sum = random.sum(VARIABLES);
        let whole = sum.interval(|variable| of[*variable]);
        each_point(|values| {
            if of.iter().zip(values).all(|(i, v)| i.contains(*v)) {
                assert!(
                    whole.contains(value(&sum, values)),
                    "{sum:?} {of:?} {whole:?}"
                );
            }
        });
    }
}

#[test]
fn intervals_hold_the_values_of_operations() {
    let ends = [None, Some(-2), Some(0), Some(1), Some(3)];
    let all = ends.iter().flat_map(|least| {
        ends.iter().map(|most| Interval {
            least: *least,
            most: *most,
        })
    });
    let all: Vec<Interval> = all.filter(|interval| !interval.is_empty()).collect();
    let numbers = -5i128..=5;
    for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (*a, *b))) {
        for x in numbers.clone() {
            assert_eq!(
                a.intersection(b).contains(x),
                a.contains(x) && b.contains(x)
            );
            assert!(a.hull(b).contains(x) || !a.contains(x) && !b.contains(x));
            assert!(!a.includes(b) || !b.contains(x) || a.contains(x));
            for y in numbers.clone().filter(|y| a.contains(x) && b.contains(*y)) {
                assert!(a.plus(b).contains(x + y) && a.times(b).contains(x * y));
                assert!(a.minimum(b).contains(x.min(y)) && a.maximum(b).contains(x.max(y)));
            }
        }
        let both = a.intersection(b);
        assert!(a.hull(b).includes(a) && (both.is_empty() || a.includes(both)));
    }
}

#[test]
fn large_coefficients_are_not_known() {
    let x = Exact::<usize>::variable(0);
    let large = x.scaled(LARGEST).unwrap();
    assert_eq!(large.plus(&x), None);
    assert_eq!(large.negated().minus(&x), None);
    assert_eq!(large.scaled(2), None);
    assert_eq!(large.scaled(i128::MAX), None);
    assert_eq!(large.times(&large), None);
    assert_eq!(Exact::<usize>::integer(LARGEST + 1), None);
    assert_eq!(Exact::<usize>::default().plus_number(i128::MIN), None);
    assert!(Exact::<usize>::integer(-LARGEST).is_some());
    // Doubling ends; it gives no wrong number.
    let (mut doubled, mut times) = (x.clone(), 0);
    while let Some(twice) = doubled.plus(&doubled) {
        (doubled, times) = (twice, times + 1);
        assert_eq!(doubled.coefficient(&[0]), 1 << times);
    }
    assert_eq!(times, 100);
}

#[test]
fn forms_are_recognised() {
    let (x, y) = (Exact::<usize>::variable(0), Exact::<usize>::variable(1));
    let zero = Polynomial::<usize, i128>::default();
    assert_eq!((zero.as_constant(), zero.as_product()), (Some(0), None));
    assert_eq!(Exact::<usize>::constant(1).as_product(), Some(&[][..]));
    assert_eq!((x.as_variable(), x.as_constant()), (Some(0), None));
    assert_eq!(x.scaled(2).unwrap().as_variable(), None);
    let product = y.times(&x).unwrap();
    assert_eq!(product.as_product(), Some(&[0, 1][..]));
    assert_eq!((product.as_variable(), product.latest()), (None, Some(1)));
    assert_eq!(x.plus_number(3).unwrap().number(), 3);
    assert_eq!(x.minus(&x).unwrap(), zero);
    assert!(x.scaled(6).unwrap().is_multiple(3) && !x.is_multiple(3));
}

/// The value of an affine sum.
fn affine_value(sum: &Affine<usize>, values: &[i128]) -> i128 {
    let terms = sum.terms().map(|(variable, c)| c * values[*variable]);
    sum.number() + terms.sum::<i128>()
}

/// An affine sum of the first variables.
fn affine(random: &mut Random, variables: usize) -> Affine<usize> {
    let mut sum = Affine::constant(random.number(4));
    for variable in 0..variables {
        let factor = i128::from(random.number(2));
        sum = sum.plus(factor, &Affine::variable(variable)).unwrap();
    }
    sum
}

#[test]
fn affine_arithmetic_agrees_with_values() {
    let mut random = Random(21);
    for _ in 0..400 {
        let (a, b) = (affine(&mut random, 3), affine(&mut random, 3));
        let factor = i128::from(random.number(5));
        let variable = random.below(VARIABLES as u64) as usize;
        let (more, less) = a.sides();
        assert!([&more, &less].iter().all(|side| side.number() <= 0));
        assert!(
            [&more, &less]
                .iter()
                .all(|side| side.terms().all(|(_, c)| c > 0))
        );
        let substituted = a.substitute(&variable, &b).unwrap();
        each_point(|at| {
            let (x, y) = (affine_value(&a, at), affine_value(&b, at));
            assert_eq!(
                affine_value(&a.plus(factor, &b).unwrap(), at),
                x + factor * y
            );
            assert_eq!(affine_value(&a.times(factor).unwrap(), at), factor * x);
            assert_eq!(affine_value(&a.negated(), at), -x);
            assert_eq!(affine_value(&a.shifted(factor).unwrap(), at), x + factor);
            assert_eq!(affine_value(&more, at) - affine_value(&less, at), x);
            let mut changed = at.to_vec();
            changed[variable] = 0;
            assert_eq!(
                affine_value(&a.without(&variable), at),
                affine_value(&a, &changed)
            );
            changed[variable] = y;
            assert_eq!(affine_value(&substituted, at), affine_value(&a, &changed));
            if let Some((variable, number)) = a.as_shifted_variable() {
                assert_eq!(at[variable] + number, x);
            }
        });
    }
}

/// What follows from bounds holds wherever the bounds hold. Bounds of a variable name any other variable, so
/// they may contradict each other or be circular.
#[test]
fn bounds_prove_what_is_true() {
    let mut random = Random(22);
    let (mut proved, mut numbers) = (0, 0);
    for _ in 0..4000 {
        let mut bounds = Bounds::<usize>::default();
        for variable in 0..VARIABLES {
            bounds.at_least(variable, Affine::integer(*VALUES.start()));
            bounds.at_most(variable, Affine::integer(*VALUES.end()));
        }
        let mut facts = Vec::new();
        let (mut mark, mut kept) = (bounds.mark(), 0);
        for k in 0..2 + random.below(5) {
            let variable = random.below(VARIABLES as u64) as usize;
            let bound = affine(&mut random, VARIABLES);
            let is_lower = random.below(2) == 0;
            if k == 2 {
                (mark, kept) = (bounds.mark(), facts.len());
            }
            match is_lower {
                true => bounds.at_least(variable, bound.clone()),
                false => bounds.at_most(variable, bound.clone()),
            }
            facts.push((variable, is_lower, bound));
        }
        if random.below(2) == 0 {
            bounds.forget(mark);
            facts.truncate(kept);
        }
        let is_true = |at: &[i128]| {
            facts
                .iter()
                .all(|(variable, is_lower, bound)| match is_lower {
                    true => affine_value(bound, at) <= at[*variable],
                    false => at[*variable] <= affine_value(bound, at),
                })
        };
        for _ in 0..4 {
            let sum = affine(&mut random, VARIABLES);
            let is_proved = bounds.is_not_negative(&sum);
            let (least, most) = (bounds.least(&sum), bounds.most(&sum));
            proved += u32::from(is_proved);
            numbers += u32::from(least.is_some_and(|least| least > -10));
            let interval = Interval { least, most };
            let lower = bounds.lower_bounds(&sum);
            let upper = bounds.upper_bounds(&sum);
            each_point(|at| {
                if is_true(at) {
                    let x = affine_value(&sum, at);
                    assert!(!is_proved || x >= 0, "{sum:?} at {at:?} by {facts:?}");
                    assert!(interval.contains(x), "{sum:?} at {at:?} by {facts:?}");
                    assert!(lower.iter().all(|bound| affine_value(bound, at) <= x));
                    assert!(upper.iter().all(|bound| affine_value(bound, at) >= x));
                }
            });
        }
    }
    assert!(proved > 500 && numbers > 4000, "{proved} {numbers}");
}

#[test]
fn a_shifted_variable_does_not_wrap() {
    let sum = Shifted::variable(1).plus(i64::MAX).unwrap();
    assert_eq!((sum.root, sum.offset), (Some(1), i64::MAX));
    assert_eq!(sum.plus(1), None);
    assert_eq!(sum.plus(-1).and_then(|sum| sum.plus(1)), Some(sum));
    assert_eq!(
        Shifted::<u32>::constant(3).plus(4),
        Some(Shifted::constant(7))
    );
}
