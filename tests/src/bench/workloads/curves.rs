//! The three programs that are timed on vectors of every size: a map, a reduction and a scan.

use super::loops::exactly;
use super::{FLOAT, Rc, every_float, floats, moved, vector, vector_of_floats};
use crate::bench::memory::Array;
use crate::bench::workload::{Shape, Workload};
use crate::random::Random;
use crate::reference::cases::sum_of;

pub fn map(random: &mut Random, n: usize) -> Workload {
    let x = floats(random, n);
    Workload {
        size: n.to_string(),
        arguments: vector(&x).into(),
        result: vector_of_floats(n, 1),
        work: moved(n * FLOAT, n * FLOAT),
        check: every_float(n, move |k| sum_of([2.0 * f64::from(x[k]), 1.0])),
    }
}

pub fn reduce(random: &mut Random, n: usize) -> Workload {
    let x = floats(random, n);
    let expected = sum_of(x.iter().map(|&v| f64::from(v)));
    Workload {
        size: n.to_string(),
        arguments: vector(&x).into(),
        result: Shape::Value(FLOAT),
        work: moved(n * FLOAT, 0),
        check: every_float(1, move |_| expected),
    }
}

pub fn scan(random: &mut Random, n: usize) -> Workload {
    let x = Rc::new(Array::from_fn(n, || random.below(15) as i32 - 7));
    let mut sum = 0i32;
    let add = |&v: &i32| {
        sum = sum.wrapping_add(v);
        sum
    };
    let expected = x.iter().map(add).collect();
    Workload {
        size: n.to_string(),
        arguments: vector(&x).into(),
        result: Shape::Elements(vec![n], size_of::<i32>()),
        work: moved(n * FLOAT, n * FLOAT),
        check: exactly(expected),
    }
}
