//! Programs whose loops change a state. They measure that the changes are made in place.

use super::{Rc, matrix, moved, side, vector};
use crate::bench::memory::{Array, Plain};
use crate::bench::workload::{Argument, Check, Output, Shape, Workload};
use crate::random::Random;

/// Returns the check that the elements are exactly these.
pub(super) fn exactly<T: Plain + PartialEq + std::fmt::Debug>(expected: Vec<T>) -> Check {
    Box::new(move |output: &Output, _| {
        let found = output.elements::<T>();
        match found.iter().zip(&expected).position(|(a, b)| a != b) {
            None if found.len() == expected.len() => Ok(()),
            None => Err(format!(
                "{} elements instead of {}",
                found.len(),
                expected.len()
            )),
            Some(k) => Err(format!(
                "element {k}: {:?} instead of {:?}",
                found[k], expected[k]
            )),
        }
    })
}

/// Returns a workload with a tenth as many updates as there are elements.
pub fn updates(_: &mut Random, n: usize) -> Workload {
    let x = Rc::new(Array::from_fn(n, || 0i32));
    let steps = n / 10;
    let (mut state, mut at) = (vec![0i32; n], 0usize);
    for _ in 0..steps {
        state[at] += 1;
        at = (at + state[at] as usize) % n;
    }
    let bytes = n * size_of::<i32>();
    Workload {
        size: format!("{steps} updates of {n}"),
        arguments: [&[Argument::Int(steps as i32)], &vector(&x)[..]].concat(),
        result: Shape::Elements(vec![n], size_of::<i32>()),
        work: moved(bytes, bytes),
        check: exactly(state),
    }
}

/// Returns the primes below a number.
pub fn sieve(_: &mut Random, n: usize) -> Workload {
    let mut prime = vec![true; n];
    for p in (2..).take_while(|p| p * p < n) {
        if prime[p] {
            (p * p..n).step_by(p).for_each(|k| prime[k] = false);
        }
    }
    let primes: Vec<i32> = (2..n).filter(|&k| prime[k]).map(|k| k as i32).collect();
    Workload {
        size: format!("primes below {n}"),
        arguments: vec![Argument::Int(n as i32)],
        result: Shape::Elements(vec![primes.len()], size_of::<i32>()),
        work: moved(n, n + primes.len() * size_of::<i32>()),
        check: exactly(primes),
    }
}

/// Draws a hundred generations of a square world.
pub fn life(random: &mut Random, n: usize) -> Workload {
    const STEPS: usize = 100;
    let side = side(n);
    let world = Rc::new(Array::from_fn(side * side, || {
        u8::from(random.bits() >> 63 == 1)
    }));
    let mut now = world.to_vec();
    for _ in 0..STEPS {
        now = generation(&now, side);
    }
    Workload {
        size: format!("{side} x {side}, {STEPS} generations"),
        arguments: [
            &[Argument::Int(STEPS as i32)],
            &matrix(side, side, &world)[..],
        ]
        .concat(),
        result: Shape::Elements(vec![side, side], 1),
        // The worlds stay in a cache.
        work: moved(side * side, side * side),
        check: exactly(now),
    }
}

fn generation(now: &[u8], side: usize) -> Vec<u8> {
    let near = |k: usize| [(k + side - 1) % side, k, (k + 1) % side];
    let cell = |k: usize| {
        let (i, j) = (k / side, k % side);
        let rows = near(i).into_iter();
        let all: u8 = rows.flat_map(|i| near(j).map(|j| now[i * side + j])).sum();
        u8::from(all - now[k] == 3 || (all - now[k] == 2 && now[k] == 1))
    };
    (0..now.len()).map(cell).collect()
}
