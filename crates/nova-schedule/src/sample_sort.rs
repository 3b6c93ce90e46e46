//! Sorts of wide keys, with their positions, by threads of a processor: with regular samples (Shi and Schaeffer
//! 1992). Chunks are sorted, then each piece of the result takes its part of every chunk and is sorted once more.
//!
//! 1. Chunks are sorted.
//! 2. Samples at equal distances in each sorted chunk are sorted. Some of them, again at equal distances,
//!    are the *splitters* between pieces.
//! 3. For each splitter and chunk, bisection finds how many keys of the chunk come before the splitter.
//!    These numbers are the limits of pieces.
//! 4. A piece takes its keys from the chunks, in their order, and sorts them.
//!
//! Keys that are equal have an order, too: that of their chunks and of their places there. So a piece has at
//! most about twice its share of the keys, also if many are equal, and the sort is stable.
//!
//! Pieces begin where a scan of their lengths says, which is what the checker of races proves them apart by.

use crate::chunks::even_bounds;
use crate::writer::Writer;
use nova_core::{Scalar, ScalarOperation as Operation};
use nova_flat::ir::{
    Atom, Bracketing, Expression, Level, Output, SliceDimension, Sorted, Variable, View,
};
use nova_machine::figures;

/// The samples of a chunk, a power of two, and its logarithm.
const SAMPLES: i64 = 1 << SAMPLE_BITS;
const SAMPLE_BITS: u32 = figures::SORTS.sample_bits;

/// A sort of keys ([`Expression::SortKeys`]).
pub(crate) struct KeySort {
    pub(crate) count: Atom,
    pub(crate) first: Atom,
    pub(crate) keys: Variable,
    /// The number of bits of a key that do not count.
    pub(crate) low: u32,
    pub(crate) gives: Vec<Sorted>,
}

/// The sorted chunks of the keys.
struct Chunks {
    /// The number of keys.
    count: Atom,
    /// The number of keys of a chunk, and the number of chunks, which is that of pieces, too.
    size: Atom,
    chunks: Atom,
    /// The keys, and their positions, with 32 bits.
    keys: Variable,
    positions: Variable,
}

/// The pieces of the result.
struct Pieces {
    /// For each piece and one more, how many keys of each chunk come before it.
    limits: Variable,
    /// The places at which each piece begins and ends.
    begins: Variable,
    ends: Variable,
}

/// Sorts keys in chunks of a size. Returns the positions and the keys.
pub(crate) fn sample_sort(code: &mut Writer, sort: &KeySort, size: Atom) -> [Variable; 2] {
    let chunks = sort_chunks(code, sort, size);
    let pieces = pieces(code, &chunks);
    sort_pieces(code, &chunks, &pieces)
}

/// Returns a part of a vector.
pub(crate) fn part(code: &mut Writer, array: Variable, start: Atom, count: Atom) -> Variable {
    let part = code.like(array, vec![count]);
    let step = Atom::index(1);
    let view = View::Slice(vec![SliceDimension { start, step, count }]);
    code.push(vec![part], Expression::View { array, view });
    part
}

/// Sorts keys. Returns the positions and the keys of the `first` least ones.
pub(crate) fn sort_with_positions(
    code: &mut Writer,
    keys: Variable,
    (count, first): (Atom, Atom),
) -> [Variable; 2] {
    let order = code.fresh_array("order", Scalar::I64, first);
    let sorted = code.like(keys, vec![first]);
    let expression = Expression::SortKeys {
        count,
        first,
        keys,
        low: 0,
        gives: vec![Sorted::Positions, Sorted::Keys],
    };
    code.push(vec![order, sorted], expression);
    [order, sorted]
}

/// Writes a grid whose iterations join arrays at the places where these begin.
fn joining_grid(
    code: &mut Writer,
    whole: Vec<Variable>,
    (count, number): (Atom, Variable),
    body: impl FnOnce(&mut Writer) -> (Atom, Vec<Variable>),
) {
    let body = code.body(|code| {
        let (begin, arrays) = body(code);
        let arrays = arrays.into_iter();
        arrays.flat_map(|v| [begin, Atom::Variable(v)]).collect()
    });
    let outputs = joins(code, &whole);
    code.operation(whole, count, number, Level::Grid, body, outputs);
}

/// Returns outputs that join these arrays.
fn joins(code: &Writer, whole: &[Variable]) -> Vec<Output> {
    let shape = |array: &Variable| code.program.ty(*array).shape().to_vec();
    let join = |array| Output::Join {
        shape: shape(array),
    };
    whole.iter().map(join).collect()
}

/// Writes the first grid, which sorts each chunk.
fn sort_chunks(code: &mut Writer, sort: &KeySort, size: Atom) -> Chunks {
    let count = sort.count;
    let chunks = Chunks {
        count,
        size,
        chunks: code.quotient_up(count, size),
        keys: code.like(sort.keys, vec![count]),
        positions: code.fresh_array("positions", Scalar::U32, count),
    };
    let chunk = code.fresh("chunk", Scalar::I64);
    let whole = vec![chunks.positions, chunks.keys];
    joining_grid(code, whole, (chunks.chunks, chunk), |code| {
        let (first, length) = even_bounds(code, Atom::Variable(chunk), count, size);
        let keys = part(code, sort.keys, first, length);
        let [order, keys] = sort_with_positions(code, keys, (length, length));
        let positions = code.fresh_array("positions", Scalar::U32, length);
        code.map(positions, Level::Sequential, |code, index| {
            let own = code.element(order, index);
            let whole = code.scalar(Operation::Add, first, own);
            let narrow = Operation::Wrap(Scalar::U32);
            code.compute(narrow, Scalar::I64, &[whole], Scalar::U32)
        });
        (first, vec![positions, keys])
    });
    chunks
}

/// Computes the chunk of a sample, and its place there.
fn sample(code: &mut Writer, chunks: &Chunks, number: Atom) -> (Atom, Atom) {
    let bits = Atom::index(SAMPLE_BITS.into());
    let chunk = code.scalar(Operation::ShiftRight, number, bits);
    let own = code.scalar(Operation::BitAnd, number, Atom::index(SAMPLES - 1));
    let (_, length) = even_bounds(code, chunk, chunks.count, chunks.size);
    // The middle of one of as many equal parts.
    let halves = code.scalar(Operation::Multiply, own, Atom::index(2));
    let halves = code.scalar(Operation::Add, halves, Atom::index(1));
    let scaled = code.scalar(Operation::Multiply, halves, length);
    let bits = Atom::index(i64::from(SAMPLE_BITS) + 1);
    (chunk, code.scalar(Operation::ShiftRight, scaled, bits))
}

/// Reads a key of a chunk.
fn key_of_chunk(code: &mut Writer, chunks: &Chunks, chunk: Atom, place: Atom) -> Atom {
    let first = code.scalar(Operation::Multiply, chunk, chunks.size);
    let at = code.scalar(Operation::Add, first, place);
    code.element(chunks.keys, at)
}

/// Sorts the samples. Returns their numbers in sorted order.
fn sorted_samples(code: &mut Writer, chunks: &Chunks) -> (Atom, Variable) {
    let count = code.scalar(Operation::Multiply, chunks.chunks, Atom::index(SAMPLES));
    let samples = code.like(chunks.keys, vec![count]);
    code.map(samples, Level::Sequential, |code, number| {
        let (chunk, place) = sample(code, chunks, number);
        key_of_chunk(code, chunks, chunk, place)
    });
    let order = code.fresh_array("samples", Scalar::I64, count);
    let sort = Expression::SortKeys {
        count,
        first: count,
        keys: samples,
        low: 0,
        gives: vec![Sorted::Positions],
    };
    code.push(vec![order], sort);
    (count, order)
}

/// Computes the pieces, as many as chunks.
fn pieces(code: &mut Writer, chunks: &Chunks) -> Pieces {
    let (samples, order) = sorted_samples(code, chunks);
    let boundaries = code.scalar(Operation::Add, chunks.chunks, Atom::index(1));
    let all = code.scalar(Operation::Multiply, boundaries, chunks.chunks);
    let limits = code.fresh_array("limits", Scalar::I64, all);
    let before = code.fresh_array("before", Scalar::I64, boundaries);
    let number = code.fresh("boundary", Scalar::I64);
    let body = code.body(|code| {
        let boundary = Atom::Variable(number);
        let is_first = code.compare(Operation::Equal, boundary, Atom::index(0));
        let is_last = code.compare(Operation::Equal, boundary, chunks.chunks);
        let at = code.scalar(Operation::Multiply, boundary, Atom::index(SAMPLES));
        let last = code.scalar(Operation::Subtract, samples, Atom::index(1));
        let at = code.scalar(Operation::Minimum, at, last);
        let number = code.element(order, at);
        let own = limits_of(code, chunks, number, [is_first, is_last]);
        let begin = code.scalar(Operation::Multiply, boundary, chunks.chunks);
        let [own, sum] = own.map(Atom::Variable);
        vec![begin, own, sum]
    });
    let mut outputs = joins(code, &[limits]);
    outputs.push(Output::Map);
    let pattern = vec![limits, before];
    code.operation(pattern, boundaries, number, Level::Grid, body, outputs);
    let [begins, ends] = scan(code, chunks, before);
    Pieces {
        limits,
        begins,
        ends,
    }
}

/// Computes how many keys of each chunk come before a boundary, and of all. That is the one of this sample,
/// unless it is the first or the last one.
fn limits_of(
    code: &mut Writer,
    chunks: &Chunks,
    number: Atom,
    [is_first, is_last]: [Atom; 2],
) -> [Variable; 2] {
    let (its_chunk, its_place) = sample(code, chunks, number);
    let key = key_of_chunk(code, chunks, its_chunk, its_place);
    let ty = code.program.ty(chunks.keys).element();
    let zero = Atom::index(0);
    let chunk = code.fresh("chunk", Scalar::I64);
    let body = code.body(|code| {
        let other = Atom::Variable(chunk);
        let (first, length) = even_bounds(code, other, chunks.count, chunks.size);
        let is_its = code.compare(Operation::Equal, other, its_chunk);
        let is_earlier = code.compare(Operation::Less, other, its_chunk);
        let low = code.choose_one(is_its, Scalar::I64, |_| its_place, |_| zero);
        let high = code.choose_one(is_its, Scalar::I64, |_| its_place, |_| length);
        let low = code.choose_one(is_first, Scalar::I64, |_| zero, |_| low);
        let high = code.choose_one(is_first, Scalar::I64, |_| zero, |_| high);
        let low = code.choose_one(is_last, Scalar::I64, |_| length, |_| low);
        let high = code.choose_one(is_last, Scalar::I64, |_| length, |_| high);
        let limit = code.bisect((low, high), |code, [low, high]| {
            let sum = code.scalar(Operation::Add, low, high);
            let half = code.scalar(Operation::ShiftRight, sum, Atom::index(1));
            let at = code.scalar(Operation::Add, first, half);
            let found = [code.element(chunks.keys, at), key];
            // Of equal keys those of earlier chunks come before the sample.
            let [at_most, below] = [Operation::LessEqual, Operation::Less]
                .map(|compares| code.compute(compares, ty, &found, Scalar::Bool));
            let before = code.choose_one(is_earlier, Scalar::Bool, |_| at_most, |_| below);
            let above = code.scalar(Operation::Add, half, Atom::index(1));
            let low = code.choose_one(before, Scalar::I64, |_| above, |_| low);
            let high = code.choose_one(before, Scalar::I64, |_| high, |_| half);
            [low, high]
        });
        vec![limit, limit]
    });
    let limits = code.fresh_array("limits", Scalar::I64, chunks.chunks);
    let sum = code.fresh("before", Scalar::I64);
    let add = Output::Reduce {
        lambda: code.lambda(Operation::Add),
        start: vec![zero],
        commutes: true,
        bracketing: Bracketing::Whole,
    };
    let space = (chunks.chunks, chunk);
    let outputs = vec![Output::Map, add];
    code.loop_of_thread(vec![limits, sum], space, Vec::new(), body, outputs);
    [limits, sum]
}

/// Adds up the lengths of pieces; returns where these begin and end.
fn scan(code: &mut Writer, chunks: &Chunks, before: Variable) -> [Variable; 2] {
    let [total, all] = [(); 2].map(|()| code.fresh("total", Scalar::I64));
    let piece = code.fresh("piece", Scalar::I64);
    let body = code.body(|code| {
        let own = Atom::Variable(piece);
        let next = code.scalar(Operation::Add, own, Atom::index(1));
        let [begin, end] = [own, next].map(|at| code.element(before, at));
        let length = code.scalar(Operation::Subtract, end, begin);
        // The checker of races asks for lengths that are not negative.
        let length = code.scalar(Operation::Maximum, length, Atom::index(0));
        let total = Atom::Variable(total);
        let behind = code.scalar(Operation::Add, total, length);
        vec![behind, total, behind]
    });
    let tables = ["begins", "ends"].map(|name| code.fresh_array(name, Scalar::I64, chunks.chunks));
    let pattern = [all].into_iter().chain(tables).collect();
    let carries = vec![(total, Atom::index(0))];
    let outputs = vec![Output::Map, Output::Map];
    code.loop_of_thread(pattern, (chunks.chunks, piece), carries, body, outputs);
    tables
}

/// Writes the last grid, which takes the keys of each piece from the chunks and sorts them.
fn sort_pieces(code: &mut Writer, chunks: &Chunks, pieces: &Pieces) -> [Variable; 2] {
    let keys = code.like(chunks.keys, vec![chunks.count]);
    let positions = code.fresh_array("order", Scalar::I64, chunks.count);
    let piece = code.fresh("piece", Scalar::I64);
    let whole = vec![positions, keys];
    joining_grid(code, whole, (chunks.chunks, piece), |code| {
        let own = Atom::Variable(piece);
        let [begin, end] = [pieces.begins, pieces.ends].map(|table| code.element(table, own));
        let length = code.scalar(Operation::Subtract, end, begin);
        let [taken, keys] = take(code, chunks, pieces.limits, (own, length));
        let [order, keys] = sort_with_positions(code, keys, (length, length));
        let positions = code.like(order, vec![length]);
        code.map(positions, Level::Sequential, |code, index| {
            let at = code.element(order, index);
            let narrow = code.element(taken, at);
            let wide = Operation::Convert(Scalar::I64);
            code.compute(wide, Scalar::U32, &[narrow], Scalar::I64)
        });
        (begin, vec![positions, keys])
    });
    [positions, keys]
}

/// Takes the keys of a piece from the chunks, one chunk after the other, and their positions.
fn take(
    code: &mut Writer,
    chunks: &Chunks,
    limits: Variable,
    (piece, length): (Atom, Atom),
) -> [Variable; 2] {
    let row = code.scalar(Operation::Multiply, piece, chunks.chunks);
    let next = code.scalar(Operation::Add, row, chunks.chunks);
    let [offset, all] = [(); 2].map(|()| code.fresh("offset", Scalar::I64));
    let chunk = code.fresh("chunk", Scalar::I64);
    let sources = [chunks.positions, chunks.keys];
    let body = code.body(|code| {
        let [low, high] = [row, next].map(|row| {
            let at = code.scalar(Operation::Add, row, Atom::Variable(chunk));
            code.element(limits, at)
        });
        let some = code.scalar(Operation::Subtract, high, low);
        let first = code.scalar(Operation::Multiply, Atom::Variable(chunk), chunks.size);
        let from = code.scalar(Operation::Add, first, low);
        let behind = code.scalar(Operation::Add, Atom::Variable(offset), some);
        let mut results = vec![behind];
        for source in sources {
            let part = part(code, source, from, some);
            results.extend([Atom::Variable(offset), Atom::Variable(part)]);
        }
        results
    });
    let taken = sources.map(|source| code.like(source, vec![length]));
    let outputs = joins(code, &taken);
    let pattern = [all].into_iter().chain(taken).collect();
    let carries = vec![(offset, Atom::index(0))];
    code.loop_of_thread(pattern, (chunks.chunks, chunk), carries, body, outputs);
    taken
}
