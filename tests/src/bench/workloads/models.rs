//! Workloads of finance, physics and image processing.

use super::{FLOAT, draw, every_float, every_tuple, floats, matrix, moved, side, vector};
use super::{Rc, vector_of_floats};
use crate::bench::memory::Array;
use crate::bench::workload::{Argument, Shape, Work, Workload};
use crate::random::Random;
use crate::reference::models::{acceleration, mean_around, prices};

/// Multiplications, fused ones included, for sixteen options, counted in the C written by hand.
const OPTION_OPERATIONS: usize = 88;
/// Multiplications, fused ones and estimated roots included, for sixteen pairs of bodies, counted in
/// the C written by hand.
const PAIR_OPERATIONS: usize = 14;

pub fn blackscholes(random: &mut Random, n: usize) -> Workload {
    let mut between = |low: f32, high: f32| {
        let uniform = |random: &mut Random| (random.bits() >> 40) as f32 / (1 << 24) as f32;
        Rc::new(Array::from_fn(n, || low + (high - low) * uniform(random)))
    };
    // The distribution of the CUDA SDK's sample.
    let (s, x, t) = (between(5.0, 30.0), between(1.0, 100.0), between(0.25, 10.0));
    let (rate, volatility) = (0.02, 0.3);
    let numbers = [Argument::Float(rate), Argument::Float(volatility)];
    Workload {
        size: format!("{n} options"),
        arguments: [&vector(&s)[..], &vector(&x), &vector(&t), &numbers].concat(),
        result: vector_of_floats(n, 2),
        work: Work {
            read: n * 3 * FLOAT,
            written: n * 2 * FLOAT,
            operations: n / 16 * OPTION_OPERATIONS,
        },
        check: every_tuple(n, move |k| prices([s[k], x[k], t[k]], rate, volatility)),
    }
}

pub fn nbody(random: &mut Random, n: usize) -> Workload {
    let mut body = || [draw(random), draw(random), draw(random), draw(random).abs()];
    let bodies = Rc::new(Array::from_fn(n, &mut body));
    let eps2 = 0.01;
    Workload {
        size: format!("{n} bodies"),
        arguments: [&vector(&bodies)[..], &[Argument::Float(eps2)]].concat(),
        result: vector_of_floats(n, 3),
        work: Work {
            operations: n * n / 16 * PAIR_OPERATIONS,
            ..Work::default()
        },
        check: every_tuple(n, move |k| acceleration(&bodies[k], &bodies, eps2)),
    }
}

pub fn box3x3(random: &mut Random, n: usize) -> Workload {
    let side = side(n);
    let img = floats(random, side * side);
    let bytes = side * side * FLOAT;
    Workload {
        size: format!("{side} x {side}"),
        arguments: matrix(side, side, &img).into(),
        result: Shape::Elements(vec![side, side], FLOAT),
        work: moved(bytes, bytes),
        check: every_float(side * side, move |k| {
            mean_around(&img, (side, side), (k / side, k % side))
        }),
    }
}
