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

use crate::chunks::even_bounds;
use crate::cost::Cost;
use crate::costs::cost_of;
use crate::merge::{MergePass, count_gaps, merge};
use crate::radix::{least, radix_passes};
use crate::writer::Writer;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_flat::ir::{
    Atom, Expression, Lambda, Level, Output, SliceDimension, Sorted, Type, Variable, View,
};

/// The cost of a merge step besides the comparison, and the estimated number of steps for each element.
const STEP: i64 = 8;
const PASSES: i64 = 16;
/// The most chunks of a sort: each doubling of their number adds a pass.
const CHUNKS: i64 = 64;

/// A sort in chunks.
struct Sort<'a> {
    count: Atom,
    compare: &'a Lambda,
    /// The size of a chunk, a power of two.
    size: Atom,
    /// True if pairs of elements may be compared that the merge does not compare.
    bisects: bool,
    /// The keys by which chunks are sorted, if the comparison is that of keys.
    keys: Option<Variable>,
}

/// A sort of keys ([`Expression::SortKeys`]).
pub(crate) struct KeySort {
    pub(crate) count: Atom,
    pub(crate) first: Atom,
    pub(crate) keys: Variable,
    pub(crate) gives: Vec<Sorted>,
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
        keys: None,
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
        gives: sort.gives.clone(),
    };
    if code.parallelism.kernels {
        let most = Atom::index(least(code.parallelism));
        let many = code.compare(ScalarOperation::Greater, sort.count, most);
        return choose_sort(code, pattern, many, whole, |code, own| {
            if let Some([keys, order]) = radix_passes(code, (sort.count, sort.first), sort.keys) {
                bind_sorted(code, &own, sort, order, |code, at| code.element(keys, at));
            }
        });
    }
    let [left, right] = ["left", "right"].map(|name| code.fresh(name, Scalar::I64));
    let ty = code.program.ty(sort.keys).element();
    let body = code.body(|code| {
        let both = [left, right].map(|at| code.element(sort.keys, Atom::Variable(at)));
        vec![code.compute(ScalarOperation::LessEqual, ty, &both, Scalar::Bool)]
    });
    let compare = Lambda {
        parameters: vec![left, right],
        body,
    };
    let size = run_size(code, sort.count, &compare);
    let many = code.compare(ScalarOperation::Greater, sort.count, size);
    choose_sort(code, pattern, many, whole, |code, own| {
        let order = code.fresh_array("order", Scalar::I64, sort.count);
        let chunks = Sort {
            count: sort.count,
            compare: &compare,
            size,
            bisects: true,
            keys: Some(sort.keys),
        };
        merge_sort(code, order, &chunks);
        bind_sorted(code, &own, sort, order, |code, index| {
            let at = code.element(order, index);
            code.element(sort.keys, at)
        });
    })
}

/// Binds what a sort of keys gives: the first positions of an order, and the keys there.
fn bind_sorted(
    code: &mut Writer,
    pattern: &[Variable],
    sort: &KeySort,
    order: Variable,
    key_at: impl Fn(&mut Writer, Atom) -> Atom,
) {
    let is_whole = code.program.ty(order).shape() == [sort.first];
    for (given, sorted) in pattern.iter().zip(&sort.gives) {
        if *sorted == Sorted::Positions && is_whole {
            code.push(vec![*given], Expression::Atom(Atom::Variable(order)));
            continue;
        }
        code.to_parallelise.insert(*given);
        code.map(*given, Level::Sequential, |code, at| match sorted {
            Sorted::Positions => code.element(order, at),
            Sorted::Keys => key_at(code, at),
        });
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
    let expression = match sort.keys {
        Some(keys) => {
            let chunk = code.like(keys, vec![length]);
            let view = View::Slice(vec![SliceDimension {
                start: first,
                step: Atom::index(1),
                count: length,
            }]);
            code.push(vec![chunk], Expression::View { array: keys, view });
            Expression::SortKeys {
                count: length,
                first: length,
                keys: chunk,
                gives: vec![Sorted::Positions],
            }
        }
        None => {
            let [left, right] = ["left", "right"].map(|name| code.fresh(name, Scalar::I64));
            let body = code.body(|code| {
                let both = [left, right]
                    .map(|own| code.scalar(ScalarOperation::Add, first, Atom::Variable(own)));
                code.apply(sort.compare, &both)
            });
            let parameters = vec![left, right];
            Expression::Sort {
                count: length,
                compare: Lambda { parameters, body },
            }
        }
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
