//! The work of the threads of a group on the values of a tile ([`crate::tiles`]), as operations with
//! strategies (dpia.txt §6.2). It consists of the sums of neighbouring threads, the values with which
//! each thread begins, and the running results. A thread combines values in a loop with loop-carried
//! results, since those of floats would get lanes as reductions.

use crate::writer::Writer;
use nova_core::strategy::Space;
use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir::{Atom, Body, Lambda, Output, Variable};
use nova_flat::neutral::neutral;
use nova_machine::DEVICE;

/// The number of threads of a group, which share a tile.
pub(crate) const THREADS: i64 = DEVICE.group_threads;
/// The number of threads that combine the values of all threads, each those of as many threads.
pub(crate) const SOME: i64 = DEVICE.group_side();

/// A running result of an operation: a scan, or loop-carried state.
pub(crate) struct Running {
    pub(crate) lambda: Lambda,
    pub(crate) start: Vec<Atom>,
    /// True if the result at an index does not include its value, as with state.
    pub(crate) exclusive: bool,
    /// The arrays that a scan gives, or the variable of the final state.
    pub(crate) own: Vec<Variable>,
}

/// Returns the identities for the components of scans.
pub(crate) fn neutrals(scans: &[Running]) -> Vec<Atom> {
    let each = scans.iter();
    each.flat_map(|scan| neutral(&scan.lambda, &scan.start))
        .collect()
}

/// Combines `each` neighbouring values of arrays in each of `count` threads.
fn sums_of_threads(
    code: &mut Writer,
    scans: &[Running],
    arrays: &[Variable],
    count: i64,
    each: i64,
) -> Vec<Variable> {
    let index = code.fresh("thread", Scalar::I64);
    let body = code.body(|code| {
        let each = Atom::index(each);
        let first = code.scalar(ScalarOperation::Multiply, Atom::Variable(index), each);
        fold(code, scans, arrays, (first, each), neutrals(scans))
    });
    let sums = arrays_like(code, scans, Atom::index(count));
    let outputs = sums.iter().map(|_| Output::Map).collect();
    let indices = (Atom::index(count), index);
    code.map_threads(sums.clone(), indices, body, outputs, Some(Space::Local));
    sums
}

/// The sums of the values of a tile: those of each thread, and those of each sequence of some threads.
pub(crate) struct Sums {
    of_threads: Vec<Variable>,
    pub(crate) of_some: Vec<Variable>,
}

/// Combines the values of a tile, of which each thread has `each`.
pub(crate) fn sums_of_tile(
    code: &mut Writer,
    scans: &[Running],
    values: &[Variable],
    each: i64,
) -> Sums {
    let of_threads = sums_of_threads(code, scans, values, THREADS, each);
    let of_some = sums_of_threads(code, scans, &of_threads, SOME, SOME);
    Sums {
        of_threads,
        of_some,
    }
}

/// Computes the values with which each thread begins. They combine the value with which the tile
/// begins, the sums of groups of neighbouring threads before it, and the sums of the threads before
/// it in its own group.
pub(crate) fn starts(
    code: &mut Writer,
    scans: &[Running],
    sums: &Sums,
    begin: Vec<Atom>,
) -> Vec<Variable> {
    let index = code.fresh("thread", Scalar::I64);
    let body = code.body(|code| {
        let before = (Atom::index(0), Atom::Variable(index));
        let begin = fold(code, scans, &sums.of_some, before, begin);
        run_through(code, scans, &sums.of_threads, (index, SOME), begin, |_| {
            true
        })
    });
    let all = Atom::index(THREADS);
    joined(code, scans, all, (SOME, index), body)
}

/// Computes the running results of a tile, of which each thread scans its own values.
pub(crate) fn running_in_tile(
    code: &mut Writer,
    scans: &[Running],
    values: &[Variable],
    starts: &[Variable],
    each: i64,
) -> Vec<Variable> {
    let index = code.fresh("thread", Scalar::I64);
    let body = code.body(|code| {
        let starts = starts.iter();
        let begin = starts.map(|a| code.element(*a, Atom::Variable(index)));
        let begin = begin.collect();
        let own = (index, each);
        run_through(code, scans, values, own, begin, |scan| scan.exclusive)
    });
    let all = Atom::index(each * THREADS);
    joined(code, scans, all, (THREADS, index), body)
}

/// Returns arrays of the group that are joined from what `count` threads make.
fn joined(
    code: &mut Writer,
    scans: &[Running],
    extent: Atom,
    (count, index): (i64, Variable),
    body: Body,
) -> Vec<Variable> {
    let arrays = arrays_like(code, scans, extent);
    let join = |_: &Variable| Output::Join {
        shape: vec![extent],
    };
    let outputs = arrays.iter().map(join).collect();
    let indices = (Atom::index(count), index);
    code.map_threads(arrays.clone(), indices, body, outputs, Some(Space::Local));
    arrays
}

/// Combines `start` with `count` values of arrays from an index on, from left to right.
pub(crate) fn fold(
    code: &mut Writer,
    scans: &[Running],
    arrays: &[Variable],
    (first, count): (Atom, Atom),
    start: Vec<Atom>,
) -> Vec<Atom> {
    let carries = scalars_of(code, scans, "sum");
    let index = code.fresh("k", Scalar::I64);
    let body = code.body(|code| {
        let at = code.scalar(ScalarOperation::Add, first, Atom::Variable(index));
        combine_at(code, scans, &carries, arrays, at)
    });
    let pattern = scalars_of(code, scans, "sum");
    code.loop_of_thread(
        pattern.clone(),
        (count, index),
        carries.into_iter().zip(start).collect(),
        body,
        vec![],
    );
    pattern.into_iter().map(Atom::Variable).collect()
}

/// Computes the running results of the `each` values of arrays that a thread has, for a join: the
/// position of the first one, and the array of them. They are exclusive for those scans for which
/// `exclusive` holds.
fn run_through(
    code: &mut Writer,
    scans: &[Running],
    arrays: &[Variable],
    (thread, each): (Variable, i64),
    start: Vec<Atom>,
    exclusive: impl Fn(&Running) -> bool,
) -> Vec<Atom> {
    let count = Atom::index(each);
    let first = code.scalar(ScalarOperation::Multiply, Atom::Variable(thread), count);
    let carries = scalars_of(code, scans, "sum");
    let index = code.fresh("k", Scalar::I64);
    let (statements, mut results) = code.apart(|code| {
        let at = code.scalar(ScalarOperation::Add, first, Atom::Variable(index));
        combine_at(code, scans, &carries, arrays, at)
    });
    let next = results.clone();
    let is_exclusive = scans
        .iter()
        .flat_map(|s| s.own.iter().map(|_| exclusive(s)));
    let both = carries.iter().zip(next).zip(is_exclusive);
    results.extend(both.map(|((carry, next), before)| match before {
        true => Atom::Variable(*carry),
        false => next,
    }));
    let made = arrays_like(code, scans, count);
    let mut pattern = scalars_of(code, scans, "sum");
    pattern.extend(&made);
    let outputs = made.iter().map(|_| Output::Map).collect();
    let body = Body {
        statements,
        results,
    };
    let carries = carries.into_iter().zip(start).collect();
    code.loop_of_thread(pattern, (count, index), carries, body, outputs);
    let made = made.into_iter();
    made.flat_map(|array| [first, Atom::Variable(array)])
        .collect()
}

/// Combines running results with the elements of arrays at an index.
fn combine_at(
    code: &mut Writer,
    scans: &[Running],
    carries: &[Variable],
    arrays: &[Variable],
    at: Atom,
) -> Vec<Atom> {
    let (mut carries, mut arrays) = (carries.iter(), arrays.iter());
    let mut results = Vec::new();
    for scan in scans {
        let width = scan.own.len();
        let left = carries.by_ref().take(width);
        let mut operands: Vec<Atom> = left.map(|v| Atom::Variable(*v)).collect();
        for array in arrays.by_ref().take(width) {
            operands.push(code.element(*array, at));
        }
        results.extend(code.apply(&scan.lambda, &operands));
    }
    results
}

/// Creates arrays for the elements of what scans give, by component.
pub(crate) fn arrays_like(code: &mut Writer, scans: &[Running], extent: Atom) -> Vec<Variable> {
    let all = scans.iter().flat_map(|s| &s.own);
    all.map(|own| code.like(*own, vec![extent])).collect()
}

/// Creates variables for the elements of what scans give, by component.
pub(crate) fn scalars_of(code: &mut Writer, scans: &[Running], name: &str) -> Vec<Variable> {
    let all = scans.iter().flat_map(|s| s.own.iter().copied());
    code.scalars_like(&all.collect::<Vec<Variable>>(), name)
}
