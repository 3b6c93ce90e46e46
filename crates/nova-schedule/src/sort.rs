//! Sorts in chunks: chunks whose size is a power of two are sorted, then neighbouring runs are merged,
//! in passes of doubling width. These are exactly the merges of the bottom-up merge sort of
//! docs/order.md, so that the resulting order is the same for any comparison.
//!
//! Late passes have few pairs of runs. So the output of a pass is split into pieces of the size of a
//! chunk. Bisection finds the start of a piece in the two runs (the merge path). This presumes that the
//! comparison is a total preorder, which is not known.
//!
//! If each piece ends where the next one begins, the pieces are the merge from its start to its end. If
//! not, as may happen with nan, the pass is repeated with one piece for each pair of runs, and so are
//! all passes after it. A comparison that may fail must not see other pairs of elements than those of
//! the merge, so it is never bisected.
//!
//! Sorts of keys have ways of their own: [`crate::sample_sort`] and [`crate::least_keys`] on processors,
//! [`crate::radix`] on devices.

use crate::chunks::even_bounds;
use crate::cost::Cost;
use crate::costs::cost_of;
use crate::least_keys::{few, least_keys};
use crate::merge::{MergePass, count_gaps, merge};
use crate::policy::Parallelism;
use crate::radix::{least, radix_passes};
use crate::sample_sort::{KeySort, sample_sort};
use crate::writer::Writer;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_flat::ir::{Atom, Expression, Lambda, Level, Output, Sorted, Type, Variable};
use nova_machine::figures;

/// The cost of a merge step besides the comparison, and the estimated number of steps for each element.
const STEP: i64 = figures::SORTS.merge_work;
const PASSES: i64 = figures::SORTS.merge_steps;
/// The most chunks of a sort: each doubling of their number adds a pass.
const CHUNKS: i64 = figures::SORTS.merge_chunks;
/// The estimated cost of the sort of a key, and the most chunks of keys.
const KEY: i64 = figures::SORTS.key_work;
const KEY_CHUNKS: i64 = figures::SORTS.key_chunks;

/// A sort in chunks.
struct Sort<'a> {
    count: Atom,
    compare: &'a Lambda,
    /// The size of a chunk, a power of two.
    size: Atom,
    /// True if pairs of elements may be compared that the merge does not compare.
    bisects: bool,
}

/// Writes a sort in chunks, or the sort as it is if it is small. With `bisects`, any two elements may be
/// compared. Returns the variable that the unchanged sort binds, if the choice contains one.
pub(crate) fn parallelise_sort(
    code: &mut Writer,
    order: Variable,
    (count, compare): (Atom, &Lambda),
    bisects: bool,
) -> Option<Variable> {
    let size = run_size(code, count, compare);
    let sort = Sort {
        count,
        compare,
        size,
        bisects,
    };
    let many = code.compare(ScalarOperation::Greater, count, size);
    let whole = |code: &mut Writer| Expression::Sort {
        count,
        compare: code.fresh_operator(compare),
    };
    choose_sort(code, &[order], many, whole, |code, own| {
        own.iter().for_each(|order| merge_sort(code, *order, &sort));
    })
}

/// Writes a sort of keys for threads, or as it is if it is small. Returns the first variable that the
/// unchanged sort binds, if the choice contains one.
pub(crate) fn parallelise_sort_keys(
    code: &mut Writer,
    pattern: &[Variable],
    sort: &KeySort,
) -> Option<Variable> {
    let whole = |_code: &mut Writer| Expression::SortKeys {
        count: sort.count,
        first: sort.first,
        keys: sort.keys,
        low: sort.low,
        gives: sort.gives.clone(),
    };
    if code.parallelism.kernels {
        let most = Atom::index(least(code.parallelism));
        let many = code.compare(ScalarOperation::Greater, sort.count, most);
        return choose_sort(code, pattern, many, whole, |code, own| {
            if let Some([keys, order]) = radix_passes(code, (sort.count, sort.first), sort.keys) {
                bind_sorted(code, &own, sort, (order, keys));
            }
        });
    }
    // Threads share a sort of all keys alone inside of the runtime.
    if sort.first == sort.count && sort.gives[..] == [Sorted::Keys] {
        let whole = whole(code);
        code.push(pattern.to_vec(), whole);
        return pattern.first().copied();
    }
    let size = key_chunk_size(code, sort.count);
    let many = code.compare(ScalarOperation::Greater, sort.count, size);
    choose_sort(code, pattern, many, whole, |code, own| {
        if sort.first == sort.count {
            return sort_all(code, &own, sort, size);
        }
        let (few, wide) = few(code, sort, size);
        code.choose_way(
            &own,
            few,
            |code, own| {
                let [order, keys] = least_keys(code, sort, wide);
                bind_sorted(code, &own, sort, (order, keys));
            },
            |code, own| sort_all(code, &own, sort, size),
        );
    })
}

/// Returns the least number of keys of a chunk.
pub(crate) fn least_chunk_of_keys(parallelism: Parallelism) -> i64 {
    (parallelism.grain / KEY).max(1)
}

/// Returns the number of keys up to which one thread sorts them.
pub(crate) fn least_shared_keys(parallelism: Parallelism) -> i64 {
    match parallelism.kernels {
        true => least(parallelism),
        false => least_chunk_of_keys(parallelism),
    }
}

/// Returns the number of keys of a chunk.
fn key_chunk_size(code: &mut Writer, count: Atom) -> Atom {
    let least = least_chunk_of_keys(code.parallelism);
    let even = code.quotient_up(count, Atom::index(code.parallelism.chunks.min(KEY_CHUNKS)));
    code.scalar(ScalarOperation::Maximum, even, Atom::index(least))
}

fn sort_all(code: &mut Writer, pattern: &[Variable], sort: &KeySort, size: Atom) {
    let [order, keys] = sample_sort(code, sort, size);
    bind_sorted(code, pattern, sort, (order, keys));
}

/// Binds what a sort of keys gives to the first elements of an order and of sorted keys.
fn bind_sorted(
    code: &mut Writer,
    pattern: &[Variable],
    sort: &KeySort,
    (order, keys): (Variable, Variable),
) {
    for (given, sorted) in pattern.iter().zip(&sort.gives) {
        let all = match sorted {
            Sorted::Positions => order,
            Sorted::Keys => keys,
        };
        if code.program.ty(all).shape() == [sort.first] {
            code.push(vec![*given], Expression::Atom(Atom::Variable(all)));
            continue;
        }
        code.to_parallelise.insert(*given);
        code.map(*given, Level::Sequential, |code, at| code.element(all, at));
    }
}

/// Writes a choice between another way of sorting and the unchanged sort. Returns the first variable that
/// the unchanged sort binds.
fn choose_sort(
    code: &mut Writer,
    pattern: &[Variable],
    condition: Atom,
    whole: impl Fn(&mut Writer) -> Expression,
    other: impl FnOnce(&mut Writer, Vec<Variable>),
) -> Option<Variable> {
    if condition == Atom::Constant(ScalarValue::Bool(false)) {
        let whole = whole(code);
        code.push(pattern.to_vec(), whole);
        return None;
    }
    let then = code.branch(pattern, other);
    let otherwise = code.branch(pattern, |code, own| {
        let whole = whole(code);
        code.push(own, whole);
    });
    let bound = match otherwise.results.first() {
        Some(Atom::Variable(bound)) => Some(*bound),
        Some(Atom::Constant(_)) | None => None,
    };
    let choice = Expression::If {
        condition,
        then,
        otherwise,
    };
    code.push(pattern.to_vec(), choice);
    bound
}

fn merge_sort(code: &mut Writer, order: Variable, sort: &Sort) {
    let runs = sort_chunks(code, order, sort);
    merge_runs(code, order, runs, sort);
}

/// Returns the number of indices of a chunk: a power of two, whose cost is at least the grain.
fn run_size(code: &mut Writer, count: Atom, compare: &Lambda) -> Atom {
    let cost = cost_of(code, &Cost::of_lambda(code.program, compare));
    let step = code.scalar(ScalarOperation::Add, cost, Atom::index(STEP));
    let each = code.scalar(ScalarOperation::Multiply, step, Atom::index(PASSES));
    let least = code.quotient_up(Atom::index(code.parallelism.grain), each);
    let even = code.quotient_up(count, Atom::index(code.parallelism.chunks.min(CHUNKS)));
    let least = code.scalar(ScalarOperation::Maximum, least, even);
    let least = code.scalar(ScalarOperation::Maximum, least, Atom::index(1));
    code.power_of_two(least)
}

/// Writes the first grid, which sorts each chunk.
fn sort_chunks(code: &mut Writer, order: Variable, sort: &Sort) -> Variable {
    let chunk = code.fresh("chunk", Scalar::I64);
    let count = code.quotient_up(sort.count, sort.size);
    let body = code.body(|code| {
        let (first, length) = even_bounds(code, Atom::Variable(chunk), sort.count, sort.size);
        let own = sort_chunk(code, order, (first, length), sort);
        let index = code.fresh("i", Scalar::I64);
        let body = code.body(|code| {
            let own = code.element(own, Atom::Variable(index));
            vec![code.scalar(ScalarOperation::Add, first, own)]
        });
        let run = code.like(order, vec![length]);
        let outputs = vec![Output::Map];
        code.operation(vec![run], length, index, Level::Sequential, body, outputs);
        vec![first, Atom::Variable(run)]
    });
    let runs = code.like(order, vec![sort.count]);
    let shape = vec![sort.count];
    let outputs = vec![Output::Join { shape }];
    code.operation(vec![runs], count, chunk, Level::Grid, body, outputs);
    runs
}

/// Writes the sort of a chunk; returns the order of its elements.
fn sort_chunk(
    code: &mut Writer,
    order: Variable,
    (first, length): (Atom, Atom),
    sort: &Sort,
) -> Variable {
    let own = code.like(order, vec![length]);
    let [left, right] = ["left", "right"].map(|name| code.fresh(name, Scalar::I64));
    let body = code.body(|code| {
        let both =
            [left, right].map(|own| code.scalar(ScalarOperation::Add, first, Atom::Variable(own)));
        code.apply(sort.compare, &both)
    });
    let parameters = vec![left, right];
    let expression = Expression::Sort {
        count: length,
        compare: Lambda { parameters, body },
    };
    code.push(vec![own], expression);
    own
}

/// Merges runs, which first have the size of a chunk, until there is one.
fn merge_runs(code: &mut Writer, order: Variable, runs: Variable, sort: &Sort) {
    let number = Type::Scalar(Scalar::I64);
    let mut states = vec![
        ("runs", code.program.ty(runs).clone(), Atom::Variable(runs)),
        ("width", number.clone(), sort.size),
    ];
    if sort.bisects {
        states.push(("size", number, sort.size));
    }
    let results = code.repeat(
        states,
        |code, states| match states {
            [_, width, ..] => code.compare(ScalarOperation::Less, *width, sort.count),
            _ => Atom::Constant(ScalarValue::Bool(false)),
        },
        |code, states| match states {
            [Atom::Variable(runs), width] => merge_pairs(code, *runs, *width, sort),
            [Atom::Variable(runs), width, size] => merge_pieces(code, *runs, (*width, *size), sort),
            _ => Vec::new(),
        },
    );
    if let Some(last) = results.first() {
        code.push(vec![order], Expression::Atom(*last));
    }
}

/// Writes a pass with one piece for each pair of runs; returns the next states.
fn merge_pairs(code: &mut Writer, runs: Variable, width: Atom, sort: &Sort) -> Vec<Atom> {
    let double = code.scalar(ScalarOperation::Multiply, width, Atom::index(2));
    let pieces = code.quotient_up(sort.count, double);
    let pass = MergePass {
        count: sort.count,
        runs,
        width,
        double,
        piece: double,
        pieces,
    };
    let merged = merge(code, &pass, sort.compare, None);
    vec![Atom::Variable(merged), double]
}

/// Writes a pass in pieces of a size, where 0 stands for one piece for each pair of runs. Returns
/// the next states.
fn merge_pieces(
    code: &mut Writer,
    runs: Variable,
    (width, size): (Atom, Atom),
    sort: &Sort,
) -> Vec<Atom> {
    let double = code.scalar(ScalarOperation::Multiply, width, Atom::index(2));
    let whole = code.compare(ScalarOperation::Equal, size, Atom::index(0));
    let piece = code.choose_one(whole, Scalar::I64, |_| double, |_| size);
    let pieces = code.quotient_up(sort.count, piece);
    let pass = MergePass {
        count: sort.count,
        runs,
        width,
        double,
        piece,
        pieces,
    };
    let ends = ["begins", "ends"].map(|name| code.fresh_array(name, Scalar::I64, pieces));
    let merged = merge(code, &pass, sort.compare, Some(ends));
    let gaps = count_gaps(code, ends, &pass);
    let fits = code.compare(ScalarOperation::Equal, gaps, Atom::index(0));
    let next = code.like(runs, vec![sort.count]);
    let [next_width, next_size] = ["width", "size"].map(|name| code.fresh(name, Scalar::I64));
    code.choose(
        vec![next, next_width, next_size],
        fits,
        |_| vec![Atom::Variable(merged), double, size],
        |_| vec![Atom::Variable(runs), width, Atom::index(0)],
    );
    [next, next_width, next_size].map(Atom::Variable).to_vec()
}
