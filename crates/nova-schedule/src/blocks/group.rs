//! The code of a group that reduces in tiles: the start values of its sums, the values that its threads
//! bring to local memory, the computations of each thread, and the results of the group.

use super::{Blocks, SIDE, Side, constant, shift, sums_like, times_plus, variable_of};
use crate::chunks::even_bounds;
use crate::nest::{Depends, INNER, Nest};
use crate::ordered::parallelise_reduction;
use crate::writer::Writer;
use nova_core::strategy::Space;
use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir::{Atom, Body, Output, Statement, Variable};
use nova_flat::neutral::neutral;
use nova_flat::visit::{Substitution, fresh_copy};

/// Replacements of variables of the nest.
type Known = Vec<(Variable, Atom)>;

/// The inputs of the code of a group.
pub(super) struct Group<'a> {
    pub(super) nest: &'a Nest<'a>,
    pub(super) blocks: &'a Blocks,
    /// The number of the group, and the results of the reduction for an index.
    pub(super) number: Variable,
    pub(super) own: &'a [Variable],
    pub(super) sides: Vec<Side>,
    /// The number of indices of the reduction, and the number of their tiles.
    pub(super) length: Atom,
    pub(super) tiles: Atom,
}

/// A tile: its first index, the number of its indices, and the values that its threads share. Each
/// value has its dependences and its array.
struct Tile {
    first: Atom,
    length: Atom,
    shared: Vec<(Variable, Depends, Variable)>,
}

/// Writes the code of a group. Returns the start of its chunk, and the chunk, for each result.
pub(super) fn write_group(code: &mut Writer, group: &Group) -> Vec<Atom> {
    if group.nest.strict {
        return strict_group(code, group);
    }
    let threads = constant(group.blocks.all_threads());
    let values = group.blocks.values() as usize;
    let all: Vec<Variable> = (0..values).flat_map(|_| group.own.to_vec()).collect();
    let [start, carries, next, last] = [(); 4].map(|()| sums_like(code, &all, threads));
    write_starts(code, group, start.clone());
    let tile = code.fresh("tile", Scalar::I64);
    let body = code.body(|code| {
        let tile = tile_of(code, group, tile);
        add_tile(code, group, &tile, &carries, next.clone());
        next.into_iter().map(Atom::Variable).collect()
    });
    let start = start.into_iter().map(Atom::Variable);
    let indices = (group.tiles, tile);
    let carries = carries.into_iter().zip(start).collect();
    code.loop_of_thread(last.clone(), indices, carries, body, Vec::new());
    results(code, group, &last)
}

/// Does the same in the strict order: a tile is a block of that order, of which each thread makes
/// one value. The tree of adjacent pairs combines these in the end.
fn strict_group(code: &mut Writer, group: &Group) -> Vec<Atom> {
    let threads = constant(group.blocks.all_threads());
    let mut outputs = code.fresh_outputs(&group.nest.inner.outputs);
    let of_blocks = outputs
        .iter_mut()
        .filter_map(|o| parallelise_reduction(code, o));
    let of_blocks: Vec<Output> = of_blocks.collect();
    let extent = code.scalar(ScalarOperation::Multiply, group.tiles, threads);
    let partial = sums_like(code, group.own, extent);
    let tile = code.fresh("tile", Scalar::I64);
    let body = code.body(|code| {
        let first = code.scalar(ScalarOperation::Multiply, Atom::Variable(tile), threads);
        let tile = tile_of(code, group, tile);
        let values = reduce_tile(code, group, &tile, outputs);
        let values = values.into_iter();
        values
            .flat_map(|array| [first, Atom::Variable(array)])
            .collect()
    });
    let join = |_: &Variable| Output::Join {
        shape: vec![extent],
    };
    let joins = partial.iter().map(join).collect();
    let none = Vec::new();
    code.loop_of_thread(partial.clone(), (group.tiles, tile), none, body, joins);
    combine_blocks(code, group, &partial, of_blocks)
}

/// Reduces a tile in each thread. Returns an array for each result.
fn reduce_tile(
    code: &mut Writer,
    group: &Group,
    tile: &Tile,
    outputs: Vec<Output>,
) -> Vec<Variable> {
    let threads = constant(group.blocks.all_threads());
    let thread = code.fresh("thread", Scalar::I64);
    let body = code.body(|code| {
        let place = Atom::Variable(thread);
        let known = known_of_thread(code, group, place);
        let index = code.fresh("k", Scalar::I64);
        let body = code.body(|code| values_at(code, group, tile, (place, index), known));
        let values = code.scalars_like(group.own, "sum");
        let none = Vec::new();
        code.loop_of_thread(values.clone(), (tile.length, index), none, body, outputs);
        values.into_iter().map(Atom::Variable).collect()
    });
    let values = sums_like(code, group.own, threads);
    let maps = values.iter().map(|_| Output::Map).collect();
    code.map_threads(values.clone(), (threads, thread), body, maps, None);
    values
}

/// Combines the values that the threads of a group have of each tile. Returns the results of the
/// group.
fn combine_blocks(
    code: &mut Writer,
    group: &Group,
    partial: &[Variable],
    reductions: Vec<Output>,
) -> Vec<Atom> {
    let (first, length) = chunk(code, group);
    let threads = constant(group.blocks.all_threads());
    let thread = code.fresh("thread", Scalar::I64);
    let body = code.body(|code| {
        let known = starts_of(code, group, Atom::Variable(thread));
        let mut outputs = reductions;
        for output in &mut outputs {
            if let Output::Reduce { start, .. } = output {
                start.iter_mut().for_each(|atom| *atom = known.atom(*atom));
            }
        }
        let tile = code.fresh("tile", Scalar::I64);
        let body = code.body(|code| {
            let at = times_plus(code, Atom::Variable(tile), threads, Atom::Variable(thread));
            partial
                .iter()
                .map(|array| code.element(*array, at))
                .collect()
        });
        let sums = code.scalars_like(partial, "sum");
        let none = Vec::new();
        code.loop_of_thread(sums.clone(), (group.tiles, tile), none, body, outputs);
        sums.into_iter().map(Atom::Variable).collect()
    });
    write_chunk(code, body, (first, length, thread), partial)
}

/// Computes the start values of the threads' sums.
fn write_starts(code: &mut Writer, group: &Group, arrays: Vec<Variable>) {
    let thread = code.fresh("thread", Scalar::I64);
    let body = code.body(|code| {
        let starts = group.nest.reductions.iter();
        let starts: Vec<Atom> = starts.flat_map(|(_, s)| s.iter().copied()).collect();
        let known = starts_of(code, group, Atom::Variable(thread));
        let starts: Vec<Atom> = starts.into_iter().map(|a| known.atom(a)).collect();
        let all = (0..group.blocks.values()).flat_map(|_| starts.clone());
        all.collect()
    });
    map_of_threads(code, group, (arrays, thread), body);
}

/// Returns the replacements of variables in the start values of reductions.
fn starts_of(code: &mut Writer, group: &Group, thread: Atom) -> Substitution {
    let mut known = Known::new();
    if let [side] = group.sides.as_slice() {
        known.push((side.index, index_of(code, side, thread)));
    }
    let starts = group.nest.reductions.iter().flat_map(|(_, s)| s.iter());
    let variables: Vec<Variable> = starts.filter_map(variable_of).collect();
    let needed = group.nest.needed_for(code.program, &variables);
    copy_of(code, &needed, &known)
}

/// Writes a `map_local` of all threads of a group, to local memory.
fn map_of_threads(
    code: &mut Writer,
    group: &Group,
    (arrays, thread): (Vec<Variable>, Variable),
    body: Body,
) {
    let outputs = arrays.iter().map(|_| Output::Map).collect();
    let indices = (constant(group.blocks.all_threads()), thread);
    code.map_threads(arrays, indices, body, outputs, Some(Space::Local));
}

/// Computes the index at a distance after the first one of a block, or the last index if that comes
/// before.
fn index_of(code: &mut Writer, side: &Side, distance: Atom) -> Atom {
    let index = code.scalar(ScalarOperation::Add, side.first, distance);
    let last = code.scalar(ScalarOperation::Subtract, side.n, constant(1));
    code.scalar(ScalarOperation::Minimum, index, last)
}

/// Writes copies of statements. Returns the replacements of their variables, besides the known
/// ones.
fn copy_of(
    code: &mut Writer,
    statements: &[&Statement],
    known: &[(Variable, Atom)],
) -> Substitution {
    let mut substitution = Substitution::default();
    for (variable, atom) in known {
        substitution.insert(*variable, *atom);
    }
    let body = Body {
        statements: statements.iter().map(|s| (*s).clone()).collect(),
        results: Vec::new(),
    };
    let mut body = fresh_copy(code.program, &body, &mut substitution);
    code.out.append(&mut body.statements);
    substitution
}

/// Brings a tile to local memory.
fn tile_of(code: &mut Writer, group: &Group, number: Variable) -> Tile {
    let size = constant(group.blocks.tile);
    let (first, length) = even_bounds(code, Atom::Variable(number), group.length, size);
    let mut tile = Tile {
        first,
        length,
        shared: Vec::new(),
    };
    let sides = (0..group.sides.len()).map(|side| INNER | 1 << side);
    for depends in std::iter::once(INNER).chain(sides) {
        if depends != group.nest.all {
            bring(code, group, depends, &mut tile);
        }
    }
    tile
}

/// Brings the values of a tile that depend on these indices to local memory.
fn bring(code: &mut Writer, group: &Group, depends: Depends, tile: &mut Tile) {
    let nest = group.nest;
    let values = nest.given(code.program, depends);
    if values.is_empty() {
        return;
    }
    let extent = match depends & !INNER {
        0 => group.blocks.tile,
        side => group.blocks.tile * group.blocks.block(side.trailing_zeros() as usize),
    };
    let element = code.fresh("j", Scalar::I64);
    let body = code.body(|code| {
        let known = indices_of(code, group, depends, (tile, Atom::Variable(element)));
        let needed = nest.needed_for(code.program, &values);
        let known = copy_of(code, &needed, &known);
        let given = values.iter().map(|v| known.atom(Atom::Variable(*v)));
        given.collect()
    });
    let shared: Vec<Variable> = values
        .iter()
        .map(|v| code.like(*v, vec![constant(extent)]))
        .collect();
    let outputs = shared.iter().map(|_| Output::Map).collect();
    let indices = (constant(extent), element);
    code.map_threads(shared.clone(), indices, body, outputs, Some(Space::Local));
    let shared = values.into_iter().zip(shared);
    tile.shared
        .extend(shared.map(|(v, array)| (v, depends, array)));
}

/// Computes the indices of an element of a tile. Values that depend on the first index lie in rows
/// of a tile's length, those that depend on the second one in rows of a block's length.
fn indices_of(
    code: &mut Writer,
    group: &Group,
    depends: Depends,
    (tile, element): (&Tile, Atom),
) -> Known {
    let split = |code: &mut Writer, size: i64| {
        let row = code.scalar(ScalarOperation::ShiftRight, element, shift(size));
        let column = code.scalar(ScalarOperation::BitAnd, element, constant(size - 1));
        (row, column)
    };
    let (inner, side) = match depends & !INNER {
        0 => (element, None),
        1 => {
            let (row, inner) = split(code, group.blocks.tile);
            (inner, group.sides.first().map(|side| (side, row)))
        }
        _second => {
            let (inner, column) = split(code, group.blocks.block(1));
            (inner, group.sides.get(1).map(|side| (side, column)))
        }
    };
    let last = code.scalar(ScalarOperation::Subtract, tile.length, constant(1));
    let inner = code.scalar(ScalarOperation::Minimum, inner, last);
    let inner = code.scalar(ScalarOperation::Add, tile.first, inner);
    let mut known: Known = group
        .nest
        .inner
        .indices
        .iter()
        .map(|v| (*v, inner))
        .collect();
    if let Some((side, distance)) = side {
        known.push((side.index, index_of(code, side, distance)));
    }
    known
}

/// Adds to the sums what threads combine the values of a tile to.
fn add_tile(
    code: &mut Writer,
    group: &Group,
    tile: &Tile,
    carries: &[Variable],
    next: Vec<Variable>,
) {
    let thread = code.fresh("thread", Scalar::I64);
    let body = code.body(|code| {
        let sums = combine_tile(code, group, tile, Atom::Variable(thread), carries);
        let before: Vec<Atom> = carries
            .iter()
            .map(|array| code.element(*array, Atom::Variable(thread)))
            .collect();
        combine_values(code, group.nest, &before, &sums)
    });
    map_of_threads(code, group, (next, thread), body);
}

/// Combines values with others by the operators of the reduction, for each index of a thread.
fn combine_values(code: &mut Writer, nest: &Nest, left: &[Atom], right: &[Atom]) -> Vec<Atom> {
    let mut pairs = (left.iter(), right.iter());
    let mut results = Vec::with_capacity(left.len());
    while pairs.0.len() > 0 {
        for (lambda, start) in &nest.reductions {
            let width = start.len().max(1);
            let mut operands: Vec<Atom> = pairs.0.by_ref().take(width).copied().collect();
            operands.extend(pairs.1.by_ref().take(width).copied());
            results.extend(code.apply(lambda, &operands));
        }
    }
    results
}

/// Combines the values of a tile in a thread, for each of its indices. `like` are variables with
/// elements like these.
fn combine_tile(
    code: &mut Writer,
    group: &Group,
    tile: &Tile,
    thread: Atom,
    like: &[Variable],
) -> Vec<Atom> {
    let nest = group.nest;
    let known = known_of_thread(code, group, thread);
    let starts = nest.reductions.iter();
    let start: Vec<Atom> = starts.flat_map(|(l, start)| neutral(l, start)).collect();
    let all = (0..group.blocks.values()).flat_map(|_| start.clone());
    let carries = code.scalars_like(like, "sum");
    let sums = code.scalars_like(like, "sum");
    let index = code.fresh("k", Scalar::I64);
    let body = code.body(|code| {
        let values = values_at(code, group, tile, (thread, index), known);
        let before: Vec<Atom> = carries.iter().map(|v| Atom::Variable(*v)).collect();
        combine_values(code, nest, &before, &values)
    });
    let indices = (tile.length, index);
    let carries = carries.into_iter().zip(all).collect();
    code.loop_of_thread(sums.clone(), indices, carries, body, Vec::new());
    sums.into_iter().map(Atom::Variable).collect()
}

/// Computes what is known for each direction and each index that a thread has in it: the index, and
/// the values that depend on it but not on the index of the reduction.
fn known_of_thread(code: &mut Writer, group: &Group, thread: Atom) -> Vec<Vec<Known>> {
    let mut all = Vec::new();
    for (number, side) in group.sides.iter().enumerate() {
        let mut known = Vec::new();
        let values = group.nest.given(code.program, 1 << number);
        let needed = group.nest.needed_for(code.program, &values);
        let place = place_of_thread(code, group, number, thread);
        for slot in 0..group.blocks.each_of(number) {
            let distance = constant(slot * group.blocks.threads);
            let distance = code.scalar(ScalarOperation::Add, distance, place);
            let mut own = vec![(side.index, index_of(code, side, distance))];
            let copies = copy_of(code, &needed, &own);
            let copied = values.iter().map(|v| (*v, copies.atom(Atom::Variable(*v))));
            own.extend(copied);
            known.push(own);
        }
        all.push(known);
    }
    all
}

/// Computes the position of a thread in a direction.
fn place_of_thread(code: &mut Writer, group: &Group, side: usize, thread: Atom) -> Atom {
    match (group.sides.len(), side) {
        (1, _) => thread,
        (_, 0) => code.scalar(ScalarOperation::ShiftRight, thread, shift(SIDE)),
        (_, _) => code.scalar(ScalarOperation::BitAnd, thread, constant(SIDE - 1)),
    }
}

/// Computes the values that the reduction combines at an index of a tile, for each index of a
/// thread.
fn values_at(
    code: &mut Writer,
    group: &Group,
    tile: &Tile,
    (thread, index): (Atom, Variable),
    mut known: Vec<Vec<Known>>,
) -> Vec<Atom> {
    let nest = group.nest;
    let index = Atom::Variable(index);
    let inner = code.scalar(ScalarOperation::Add, tile.first, index);
    let mut common: Known = nest.inner.indices.iter().map(|v| (*v, inner)).collect();
    let constants = nest.given(code.program, 0);
    let needed = nest.needed_for(code.program, &constants);
    let copies = copy_of(code, &needed, &[]);
    common.extend(
        constants
            .iter()
            .map(|v| (*v, copies.atom(Atom::Variable(*v)))),
    );
    for (value, depends, array) in &tile.shared {
        match depends & !INNER {
            0 => common.push((*value, code.element(*array, index))),
            side => {
                let side = side.trailing_zeros() as usize;
                let place = place_of_thread(code, group, side, thread);
                for (slot, own) in known.get_mut(side).into_iter().flatten().enumerate() {
                    let distance = constant(slot as i64 * group.blocks.threads);
                    let row = code.scalar(ScalarOperation::Add, distance, place);
                    let at = match side {
                        0 => times_plus(code, row, constant(group.blocks.tile), index),
                        _ => times_plus(code, index, constant(group.blocks.block(1)), row),
                    };
                    own.push((*value, code.element(*array, at)));
                }
            }
        }
    }
    let full: Vec<&Statement> = nest.exactly(nest.all).collect();
    let mut values = Vec::new();
    for row in known.first().into_iter().flatten() {
        let none = vec![Known::new()];
        for column in known.get(1).unwrap_or(&none) {
            let all = [common.as_slice(), row, column].concat();
            let copies = copy_of(code, &full, &all);
            let results = nest.inner.body.results.iter();
            values.extend(results.map(|atom| copies.atom(*atom)));
        }
    }
    values
}

/// Returns the results of a group: the start of its chunk, and the chunk, for each of the arrays.
fn results(code: &mut Writer, group: &Group, sums: &[Variable]) -> Vec<Atom> {
    let (first, length) = chunk(code, group);
    let thread = code.fresh("thread", Scalar::I64);
    let at = Atom::Variable(thread);
    let body = code.body(|code| sums.iter().map(|a| code.element(*a, at)).collect());
    write_chunk(code, body, (first, length, thread), sums)
}

/// Computes the start of the chunk of a group, and the number of its threads that have elements of
/// it.
fn chunk(code: &mut Writer, group: &Group) -> (Atom, Atom) {
    let threads = constant(group.blocks.all_threads());
    match group.sides.as_slice() {
        [side] => {
            let left = code.scalar(ScalarOperation::Subtract, side.n, side.first);
            let length = code.scalar(ScalarOperation::Minimum, left, threads);
            (side.first, length)
        }
        _two => {
            let number = Atom::Variable(group.number);
            let first = code.scalar(ScalarOperation::Multiply, number, threads);
            (first, threads)
        }
    }
}

/// Writes the chunk of a group: the results of a body for each thread, as elements like those of
/// arrays.
fn write_chunk(
    code: &mut Writer,
    body: Body,
    (first, length, thread): (Atom, Atom, Variable),
    arrays: &[Variable],
) -> Vec<Atom> {
    let chunks: Vec<Variable> = arrays.iter().map(|v| code.like(*v, vec![length])).collect();
    let outputs = chunks.iter().map(|_| Output::Map).collect();
    code.map_threads(chunks.clone(), (length, thread), body, outputs, None);
    let chunks = chunks.into_iter();
    chunks
        .flat_map(|chunk| [first, Atom::Variable(chunk)])
        .collect()
}
