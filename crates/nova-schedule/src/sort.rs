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
use crate::keys::{Key, key_of};
use crate::merge::{MergePass, count_gaps, merge};
use crate::policy::Parallelism;
use crate::radix::{has_positions, least, sort_by_key};
use crate::writer::Writer;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_flat::ir::{Atom, Body, Expression, Lambda, Level, Output, Type, Variable};
use nova_opt::effects::Effects;

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
}

/// Returns the key by which kernels sort, if the comparison has the order of a key. The key must be
/// allowed to be computed for elements that the merge sort does not compare.
pub(crate) fn key_of_sort(
    compare: &Lambda,
    effects: Effects,
    parallelism: Parallelism,
) -> Option<Key> {
    let may_be_asked = parallelism.kernels && effects.is_pure();
    may_be_asked.then(|| key_of(compare)).flatten()
}

/// Writes a sort by key, a sort in chunks, or the sort as it is if it is small. Returns the
/// variable that the unchanged sort binds, if the choice contains one.
pub(crate) fn parallelise_sort(
    code: &mut Writer,
    order: Variable,
    (count, compare): (Atom, &Lambda),
    (effects, key): (Effects, Option<&Key>),
) -> Option<Variable> {
    let size = run_size(code, count, compare);
    let sort = Sort {
        count,
        compare,
        size,
        bisects: effects.is_pure(),
    };
    let most = match key {
        Some(_) => Atom::index(least(code.parallelism)),
        None => size,
    };
    let many = code.compare(ScalarOperation::Greater, count, most);
    if many == Atom::Constant(ScalarValue::Bool(false)) {
        let compare = compare.clone();
        code.push(vec![order], Expression::Sort { count, compare });
        return None;
    }
    let condition = match key {
        Some(_) => code.choose_one(
            many,
            Scalar::Bool,
            |code| has_positions(code, count),
            |_| many,
        ),
        None => many,
    };
    let then = code.branch(&[order], |code, own| {
        for order in own {
            match key {
                Some(key) => sort_by_key(code, order, count, key, |code, own| {
                    merge_sort(code, own, &sort);
                }),
                None => merge_sort(code, order, &sort),
            }
        }
    });
    choose_sort(code, order, condition, then, (count, compare))
}

/// Writes a choice between another way of sorting and the unchanged sort. Returns the variable that
/// the unchanged sort binds.
fn choose_sort(
    code: &mut Writer,
    order: Variable,
    condition: Atom,
    then: Body,
    (count, compare): (Atom, &Lambda),
) -> Option<Variable> {
    let compare = code.fresh_operator(compare);
    let otherwise = code.branch(&[order], |code, own| {
        code.push(own, Expression::Sort { count, compare });
    });
    let whole = match otherwise.results[..] {
        [Atom::Variable(whole)] => Some(whole),
        _ => None,
    };
    let choice = Expression::If {
        condition,
        then,
        otherwise,
    };
    code.push(vec![order], choice);
    whole
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
        let own = code.like(order, vec![length]);
        let [left, right] = ["left", "right"].map(|name| code.fresh(name, Scalar::I64));
        let body = code.body(|code| {
            let both = [left, right]
                .map(|own| code.scalar(ScalarOperation::Add, first, Atom::Variable(own)));
            code.apply(sort.compare, &both)
        });
        let parameters = vec![left, right];
        let compare = Lambda { parameters, body };
        let count = length;
        code.push(vec![own], Expression::Sort { count, compare });
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
