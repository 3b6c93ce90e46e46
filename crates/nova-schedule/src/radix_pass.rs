//! A radix-sort pass ([`crate::radix`]): keys and indices are sorted by one digit of the keys.

use crate::chunks::even_bounds;
use crate::keys::word;
use crate::writer::Writer;
use nova_core::{Scalar, ScalarOperation as Operation, ScalarValue};
use nova_flat::ir::{Atom, Bracketing, Expression, Level, Output, Positions, Type, Variable};
use nova_machine::figures;

/// The bits of a digit, and the number of digits.
pub(crate) const BITS: u64 = figures::SORTS.device_digit_bits;
pub(crate) const DIGITS: i64 = 1 << BITS;

/// The number of elements of a tile. It is so large that a thread's counts and the table of runs are
/// small beside the elements. It is so small that there are many threads, and that a byte holds the
/// position of an element in its tile.
pub(crate) const TILE: i64 = figures::SORTS.device_tile;
/// The number of elements that a thread takes from runs.
pub(crate) const TAKEN: i64 = figures::SORTS.device_taken;

/// Counts of a thread are packed in words, so that they are in registers: the number of counts in a
/// word, and their bits.
const PACKED: i64 = 4;
const WIDTH: i64 = 16;
/// A one at each count of a word.
const ONES: u64 = 0x0001_0001_0001_0001;

/// The number of limits of a tile: the start of each digit, and the end of the last one.
const LIMITS: i64 = DIGITS + 1;

/// The least block of the table of runs. All block sizes are powers of two.
const BLOCK: i64 = figures::SORTS.device_run_block;

/// One pass.
pub(crate) struct Pass {
    pub(crate) count: Atom,
    /// The keys, the indices that they belong to, and the type of the keys.
    pub(crate) bits: Variable,
    pub(crate) order: Variable,
    pub(crate) ty: Scalar,
    /// The first bit of the digit.
    pub(crate) shift: Atom,
}

/// Tiles that are sorted by the digit.
struct Tiles {
    count: Atom,
    /// For each tile, the positions of its elements in sorted order.
    places: Variable,
    /// For each tile, [`LIMITS`] numbers: the start of each digit in its `places`, and the end.
    limits: Variable,
}

/// The table of runs. It has a run for each digit and tile, and some empty runs, so that those of a
/// digit are whole blocks.
struct Runs {
    /// The number of runs of a block, a power of two.
    block: Atom,
    /// The number of blocks, and the number of those of each digit.
    blocks: Atom,
    of_digit: Atom,
    /// The number of runs, and the number of those of each digit.
    count: Atom,
    stride: Atom,
}

/// The table of runs with the start of each, from which the whole is taken.
struct PlacedRuns<'a> {
    pass: &'a Pass,
    tiles: &'a Tiles,
    runs: &'a Runs,
    begins: Variable,
}

/// Writes a pass; returns the sorted keys and indices.
pub(crate) fn radix_pass(code: &mut Writer, pass: &Pass) -> [Variable; 2] {
    let tiles = sort_tiles(code, pass);
    let runs = runs(code, &tiles);
    let sums = sums_of_blocks(code, &tiles, &runs);
    let begins = begins_of_runs(code, &tiles, &runs, sums);
    let placed = PlacedRuns {
        pass,
        tiles: &tiles,
        runs: &runs,
        begins,
    };
    placed.take(code)
}

/// Computes a digit, as a number.
fn digit(code: &mut Writer, bits: Atom, pass: &Pass) -> Atom {
    let ty = pass.ty;
    let shifted = code.compute(Operation::ShiftRight, ty, &[bits, pass.shift], ty);
    let mask = word(ty, DIGITS as u64 - 1);
    let digit = code.compute(Operation::BitAnd, ty, &[shifted, mask], ty);
    let number = Operation::Wrap(Scalar::I64);
    code.compute(number, ty, &[digit], Scalar::I64)
}

/// Writes the first grid, which sorts each tile.
fn sort_tiles(code: &mut Writer, pass: &Pass) -> Tiles {
    let count = code.quotient_up(pass.count, Atom::index(TILE));
    let tile = code.fresh("tile", Scalar::I64);
    let body = code.body(|code| {
        let (number, size) = (Atom::Variable(tile), Atom::index(TILE));
        let (first, length) = even_bounds(code, number, pass.count, size);
        let limits_at = code.scalar(Operation::Multiply, number, Atom::index(LIMITS));
        let counts = count_digits(code, pass, first, length);
        let begins = begins_of_digits(code, &counts);
        let limits = limits(code, &begins, length);
        let places = place(code, pass, (first, length), begins);
        let [places, limits] = [places, limits].map(Atom::Variable);
        vec![first, places, limits_at, limits]
    });
    let all = code.scalar(Operation::Multiply, count, Atom::index(LIMITS));
    let tiles = Tiles {
        count,
        places: code.fresh_array("places", Scalar::U8, pass.count),
        limits: code.fresh_array("limits", Scalar::I64, all),
    };
    let join = |extent| Output::Join {
        shape: vec![extent],
    };
    let outputs = vec![join(pass.count), join(all)];
    let pattern = vec![tiles.places, tiles.limits];
    code.operation(pattern, count, tile, Level::Grid, body, outputs);
    tiles
}

fn packed(code: &mut Writer, operation: Operation, left: Atom, right: Atom) -> Atom {
    code.compute(operation, Scalar::U64, &[left, right], Scalar::U64)
}

/// Computes the word and the bit at which the count of a digit begins.
fn place_of_count(code: &mut Writer, digit: Atom) -> (Atom, Atom) {
    let shift = PACKED.trailing_zeros();
    let which = code.scalar(Operation::ShiftRight, digit, Atom::index(shift.into()));
    let within = code.scalar(Operation::BitAnd, digit, Atom::index(PACKED - 1));
    let bit = code.scalar(Operation::Multiply, within, Atom::index(WIDTH));
    let wrap = Operation::Wrap(Scalar::U64);
    (which, code.compute(wrap, Scalar::I64, &[bit], Scalar::U64))
}

/// Adds one to the count of a digit.
fn count_one(code: &mut Writer, words: &[Atom], (which, bit): (Atom, Atom)) -> Vec<Atom> {
    let one = packed(code, Operation::ShiftLeft, word(Scalar::U64, 1), bit);
    let none = word(Scalar::U64, 0);
    let mut results = Vec::new();
    for (k, counts) in words.iter().enumerate() {
        let here = code.compare(Operation::Equal, which, Atom::index(k as i64));
        let addend = code.choose_one(here, Scalar::U64, |_| one, |_| none);
        results.push(packed(code, Operation::Add, *counts, addend));
    }
    results
}

/// Computes the place of the count of the digit at an index of a tile, which begins at `first`.
fn count_at(code: &mut Writer, pass: &Pass, first: Atom, index: Variable) -> (Atom, Atom) {
    let at = code.scalar(Operation::Add, first, Atom::Variable(index));
    let bits = code.element(pass.bits, at);
    let digit = digit(code, bits, pass);
    place_of_count(code, digit)
}

fn fresh_words(code: &mut Writer) -> Vec<Variable> {
    let words = 0..DIGITS / PACKED;
    words.map(|_| code.fresh("counts", Scalar::U64)).collect()
}

/// Counts the occurrences of each digit in a tile, packed.
fn count_digits(code: &mut Writer, pass: &Pass, first: Atom, length: Atom) -> Vec<Atom> {
    let carries = fresh_words(code);
    let index = code.fresh("i", Scalar::I64);
    let body = code.body(|code| {
        let place = count_at(code, pass, first, index);
        let words: Vec<Atom> = carries.iter().map(|v| Atom::Variable(*v)).collect();
        count_one(code, &words, place)
    });
    let pattern = fresh_words(code);
    let none = word(Scalar::U64, 0);
    let carries = carries.into_iter().map(|carry| (carry, none)).collect();
    code.loop_of_thread(pattern.clone(), (length, index), carries, body, Vec::new());
    pattern.into_iter().map(Atom::Variable).collect()
}

/// Computes the start of each digit in a tile, packed. The product with ones adds up the counts of
/// a word.
fn begins_of_digits(code: &mut Writer, counts: &[Atom]) -> Vec<Atom> {
    let ones = word(Scalar::U64, ONES);
    let (width, last) = (WIDTH as u64, (WIDTH * (PACKED - 1)) as u64);
    let mut before = None;
    let mut begins = Vec::new();
    for counts in counts {
        let sums = packed(code, Operation::Multiply, *counts, ones);
        let mut own = packed(code, Operation::ShiftLeft, sums, word(Scalar::U64, width));
        let mut total = packed(code, Operation::ShiftRight, sums, word(Scalar::U64, last));
        if let Some(before) = before {
            let base = packed(code, Operation::Multiply, before, ones);
            own = packed(code, Operation::Add, own, base);
            total = packed(code, Operation::Add, before, total);
        }
        begins.push(own);
        before = Some(total);
    }
    begins
}

/// Returns the number at a bit of a word.
fn unpacked(code: &mut Writer, counts: Atom, bit: Atom) -> Atom {
    let shifted = packed(code, Operation::ShiftRight, counts, bit);
    let mask = word(Scalar::U64, (1 << WIDTH) - 1);
    let number = packed(code, Operation::BitAnd, shifted, mask);
    let wrap = Operation::Wrap(Scalar::I64);
    code.compute(wrap, Scalar::U64, &[number], Scalar::I64)
}

/// Makes an array of the starts of the digits of a tile, and the end of the last one.
fn limits(code: &mut Writer, begins: &[Atom], length: Atom) -> Variable {
    let mut elements = Vec::new();
    for begins in begins {
        for k in 0..PACKED {
            let bit = word(Scalar::U64, (k * WIDTH) as u64);
            elements.push(unpacked(code, *begins, bit));
        }
    }
    elements.push(length);
    let limits = code.fresh_array("limits", Scalar::I64, Atom::index(LIMITS));
    let element = Scalar::I64;
    code.push(vec![limits], Expression::Literal { element, elements });
    limits
}

/// Sorts the elements of a tile by the digit, stably. Returns their positions in sorted order.
fn place(
    code: &mut Writer,
    pass: &Pass,
    (first, length): (Atom, Atom),
    begins: Vec<Atom>,
) -> Variable {
    // This array belongs to the thread, since its length is known.
    let size = Atom::index(TILE);
    let [none, placed] = [(); 2].map(|()| code.fresh_array("places", Scalar::U8, size));
    let replicate = Expression::Replicate {
        shape: vec![size],
        value: Atom::Constant(ScalarValue::U8(0)),
    };
    code.push(vec![none], replicate);
    let carries = fresh_words(code);
    let index = code.fresh("i", Scalar::I64);
    let body = code.body(|code| {
        let (which, bit) = count_at(code, pass, first, index);
        let words: Vec<Atom> = carries.iter().map(|v| Atom::Variable(*v)).collect();
        let mut own = words.first().copied().unwrap_or(bit);
        for (k, begins) in words.iter().enumerate().skip(1) {
            let here = code.compare(Operation::Equal, which, Atom::index(k as i64));
            own = code.choose_one(here, Scalar::U64, |_| *begins, |_| own);
        }
        let place = unpacked(code, own, bit);
        let mut results = count_one(code, &words, (which, bit));
        let index = [Atom::Variable(index)];
        let byte = Operation::Wrap(Scalar::U8);
        let element = code.compute(byte, Scalar::I64, &index, Scalar::U8);
        results.extend([place, element]);
        results
    });
    let mut pattern = fresh_words(code);
    pattern.push(placed);
    let carries = carries.into_iter().zip(begins).collect();
    let outputs = vec![Output::Scatter {
        destinations: vec![none],
        positions: Positions::Given,
    }];
    code.loop_of_thread(pattern, (length, index), carries, body, outputs);
    let index = code.fresh("i", Scalar::I64);
    let body = code.body(|code| vec![code.element(placed, Atom::Variable(index))]);
    let places = code.fresh_array("places", Scalar::U8, length);
    let outputs = vec![Output::Map];
    let level = Level::Sequential;
    code.operation(vec![places], length, index, level, body, outputs);
    places
}

/// Computes the size of the table of runs. Its blocks are so large that there are few blocks of
/// blocks.
fn runs(code: &mut Writer, tiles: &Tiles) -> Runs {
    let all = code.scalar(Operation::Multiply, tiles.count, Atom::index(DIGITS));
    let number = Type::Scalar(Scalar::I64);
    let states = vec![("block", number, Atom::index(BLOCK))];
    let found = code.repeat(
        states,
        |code, states| {
            let block = states.first().copied().unwrap_or(all);
            let square = code.scalar(Operation::Multiply, block, block);
            let cube = code.scalar(Operation::Multiply, square, block);
            code.compare(Operation::Less, cube, all)
        },
        |code, states| {
            let block = states.first().copied().unwrap_or(all);
            vec![code.scalar(Operation::Multiply, block, Atom::index(2))]
        },
    );
    let block = found.first().copied().unwrap_or(Atom::index(BLOCK));
    let of_digit = code.quotient_up(tiles.count, block);
    let blocks = code.scalar(Operation::Multiply, of_digit, Atom::index(DIGITS));
    Runs {
        block,
        blocks,
        of_digit,
        count: code.scalar(Operation::Multiply, blocks, block),
        stride: code.scalar(Operation::Multiply, of_digit, block),
    }
}

/// Computes the digit of a block of runs, and its first tile.
fn first_run(code: &mut Writer, block: Atom, runs: &Runs) -> (Atom, Atom) {
    let digit = code.scalar(Operation::Divide, block, runs.of_digit);
    let within = code.scalar(Operation::Remainder, block, runs.of_digit);
    (digit, code.scalar(Operation::Multiply, within, runs.block))
}

/// Computes the number of elements of a run.
fn length_of_run(code: &mut Writer, tiles: &Tiles, digit: Atom, tile: Atom) -> Atom {
    // No read is conditional.
    let last = code.scalar(Operation::Subtract, tiles.count, Atom::index(1));
    let read = code.scalar(Operation::Minimum, tile, last);
    let limits = code.scalar(Operation::Multiply, read, Atom::index(LIMITS));
    let at = code.scalar(Operation::Add, limits, digit);
    let next = code.scalar(Operation::Add, at, Atom::index(1));
    let [begin, end] = [at, next].map(|at| code.element(tiles.limits, at));
    let length = code.scalar(Operation::Subtract, end, begin);
    let is_there = code.compare(Operation::Less, tile, tiles.count);
    code.choose_one(is_there, Scalar::I64, |_| length, |_| Atom::index(0))
}

/// Computes the sum of `count` numbers.
fn sum(code: &mut Writer, count: Atom, number: impl FnOnce(&mut Writer, Atom) -> Atom) -> Atom {
    let index = code.fresh("k", Scalar::I64);
    let body = code.body(|code| vec![number(code, Atom::Variable(index))]);
    let sum = code.fresh("sum", Scalar::I64);
    let output = Output::Reduce {
        lambda: code.lambda(Operation::Add),
        start: vec![Atom::index(0)],
        commutes: true,
        bracketing: Bracketing::Whole,
    };
    let level = Level::Sequential;
    code.operation(vec![sum], count, index, level, body, vec![output]);
    Atom::Variable(sum)
}

/// Computes the number of elements of the runs of each block, and of those of as many blocks as a
/// block has runs.
fn sums_of_blocks(code: &mut Writer, tiles: &Tiles, runs: &Runs) -> [Variable; 2] {
    let grid = |code: &mut Writer, count: Atom, sum: &mut dyn FnMut(&mut Writer, Atom) -> Atom| {
        let thread = code.fresh("block", Scalar::I64);
        let body = code.body(|code| vec![sum(code, Atom::Variable(thread))]);
        let sums = code.fresh_array("sums", Scalar::I64, count);
        code.operation(
            vec![sums],
            count,
            thread,
            Level::Grid,
            body,
            vec![Output::Map],
        );
        sums
    };
    let of_blocks = grid(code, runs.blocks, &mut |code, block| {
        let (digit, first) = first_run(code, block, runs);
        sum(code, runs.block, |code, k| {
            let tile = code.scalar(Operation::Add, first, k);
            length_of_run(code, tiles, digit, tile)
        })
    });
    let groups = code.quotient_up(runs.blocks, runs.block);
    let of_groups = grid(code, groups, &mut |code, group| {
        let (first, length) = even_bounds(code, group, runs.blocks, runs.block);
        sum(code, length, |code, k| {
            let at = code.scalar(Operation::Add, first, k);
            code.element(of_blocks, at)
        })
    });
    [of_blocks, of_groups]
}

/// Computes the start of each run in the whole.
fn begins_of_runs(
    code: &mut Writer,
    tiles: &Tiles,
    runs: &Runs,
    [of_blocks, of_groups]: [Variable; 2],
) -> Variable {
    let thread = code.fresh("block", Scalar::I64);
    let body = code.body(|code| {
        let block = Atom::Variable(thread);
        let at = code.scalar(Operation::Multiply, block, runs.block);
        let group = code.scalar(Operation::Divide, block, runs.block);
        let groups = sum(code, group, |code, k| code.element(of_groups, k));
        let first = code.scalar(Operation::Multiply, group, runs.block);
        let others = code.scalar(Operation::Subtract, block, first);
        let blocks = sum(code, others, |code, k| {
            let at = code.scalar(Operation::Add, first, k);
            code.element(of_blocks, at)
        });
        let before = code.scalar(Operation::Add, groups, blocks);
        let (digit, tile) = first_run(code, block, runs);
        let (total, index) = (
            code.fresh("total", Scalar::I64),
            code.fresh("k", Scalar::I64),
        );
        let body = code.body(|code| {
            let tile = code.scalar(Operation::Add, tile, Atom::Variable(index));
            let own = length_of_run(code, tiles, digit, tile);
            let total = Atom::Variable(total);
            vec![code.scalar(Operation::Add, total, own), total]
        });
        let begins = code.fresh_array("begins", Scalar::I64, runs.block);
        let pattern = vec![code.fresh("total", Scalar::I64), begins];
        let carries = vec![(total, before)];
        let outputs = vec![Output::Map];
        code.loop_of_thread(pattern, (runs.block, index), carries, body, outputs);
        vec![at, Atom::Variable(begins)]
    });
    let begins = code.fresh_array("begins", Scalar::I64, runs.count);
    let outputs = vec![Output::Join {
        shape: vec![runs.count],
    }];
    let level = Level::Grid;
    code.operation(vec![begins], runs.blocks, thread, level, body, outputs);
    begins
}

impl PlacedRuns<'_> {
    /// Writes the last grid, which takes each chunk of the whole from runs.
    fn take(&self, code: &mut Writer) -> [Variable; 2] {
        let chunks = code.quotient_up(self.pass.count, Atom::index(TAKEN));
        let chunk = code.fresh("chunk", Scalar::I64);
        let body = code.body(|code| {
            let size = Atom::index(TAKEN);
            let (first, length) = even_bounds(code, Atom::Variable(chunk), self.pass.count, size);
            let taken = self.take_chunk(code, first, length);
            let taken = taken.into_iter();
            taken.flat_map(|v| [first, Atom::Variable(v)]).collect()
        });
        let whole =
            [self.pass.bits, self.pass.order].map(|array| code.like(array, vec![self.pass.count]));
        let join = |_| Output::Join {
            shape: vec![self.pass.count],
        };
        let outputs = whole.iter().map(join).collect();
        code.operation(whole.to_vec(), chunks, chunk, Level::Grid, body, outputs);
        whole
    }

    /// Takes neighbouring elements from runs, one after the other.
    fn take_chunk(&self, code: &mut Writer, first: Atom, length: Atom) -> [Variable; 2] {
        let states = ["run", "end", "distance", "base"];
        let carries = states.map(|name| code.fresh(name, Scalar::I64));
        let next = states.map(|name| code.fresh(name, Scalar::I64));
        let index = code.fresh("i", Scalar::I64);
        let body = code.body(|code| {
            let at = code.scalar(Operation::Add, first, Atom::Variable(index));
            let [run, end, distance, base] = carries.map(Atom::Variable);
            let ends = code.compare(Operation::GreaterEqual, at, end);
            code.choose(
                next.to_vec(),
                ends,
                |code| self.find_run(code, run, at),
                |_| vec![run, end, distance, base],
            );
            let [run, end, distance, base] = next.map(Atom::Variable);
            let from = code.scalar(Operation::Add, at, distance);
            let place = code.element(self.tiles.places, from);
            let wide = Operation::Convert(Scalar::I64);
            let place = code.compute(wide, Scalar::U8, &[place], Scalar::I64);
            let from = code.scalar(Operation::Add, base, place);
            let [bits, order] =
                [self.pass.bits, self.pass.order].map(|array| code.element(array, from));
            vec![run, end, distance, base, bits, order]
        });
        let taken = [self.pass.bits, self.pass.order].map(|array| code.like(array, vec![length]));
        let mut pattern: Vec<Variable> = states
            .iter()
            .map(|name| code.fresh(name, Scalar::I64))
            .collect();
        pattern.extend(taken);
        let zero = Atom::index(0);
        let starts = [zero, first, zero, zero];
        let carries = carries.into_iter().zip(starts).collect();
        let outputs = vec![Output::Map, Output::Map];
        code.loop_of_thread(pattern, (length, index), carries, body, outputs);
        taken
    }

    /// Finds the run that has the element at a position of the whole, searching from a run on that
    /// begins before it. Returns the run, its end, the distance from a position to its entry in
    /// `places`, and the start of the tile.
    fn find_run(&self, code: &mut Writer, from: Atom, at: Atom) -> Vec<Atom> {
        let last = code.scalar(Operation::Subtract, self.runs.count, Atom::index(1));
        let run = last_run_before(code, self.begins, (from, last), at);
        let next = code.scalar(Operation::Add, run, Atom::index(1));
        let is_last = code.compare(Operation::Equal, run, last);
        let read = code.scalar(Operation::Minimum, next, last);
        let end = code.element(self.begins, read);
        let end = code.choose_one(is_last, Scalar::I64, |_| self.pass.count, |_| end);
        let digit = code.scalar(Operation::Divide, run, self.runs.stride);
        let tile = code.scalar(Operation::Remainder, run, self.runs.stride);
        let limits = code.scalar(Operation::Multiply, tile, Atom::index(LIMITS));
        let limit = code.scalar(Operation::Add, limits, digit);
        let within = code.element(self.tiles.limits, limit);
        let first = code.scalar(Operation::Multiply, tile, Atom::index(TILE));
        let source = code.scalar(Operation::Add, first, within);
        let begin = code.element(self.begins, run);
        let distance = code.scalar(Operation::Subtract, source, begin);
        vec![run, end, distance, first]
    }
}

/// Returns the last of some runs that does not begin after a position; the first of them must not.
/// So the run is not empty.
fn last_run_before(
    code: &mut Writer,
    begins: Variable,
    (low, high): (Atom, Atom),
    at: Atom,
) -> Atom {
    code.bisect((low, high), |code, [low, high]| {
        let sum = code.scalar(Operation::Add, low, high);
        let sum = code.scalar(Operation::Add, sum, Atom::index(1));
        let half = code.scalar(Operation::ShiftRight, sum, Atom::index(1));
        let before = code.scalar(Operation::Subtract, half, Atom::index(1));
        let begin = code.element(begins, half);
        let begins = code.compare(Operation::LessEqual, begin, at);
        let low = code.choose_one(begins, Scalar::I64, |_| half, |_| low);
        let high = code.choose_one(begins, Scalar::I64, |_| high, |_| before);
        [low, high]
    })
}
