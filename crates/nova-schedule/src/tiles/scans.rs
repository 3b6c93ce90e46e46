//! Scans in tiles. The first grid of groups reduces each tile, and the tiles' results are scanned. The
//! second grid computes each tile again, scans it from the result of the tiles before it, and writes it
//! in a coalesced manner. The tiles' results are scanned by one group if they fit a tile, else in
//! tiles, too.
//!
//! If groups can propagate prefixes in ordered regions, one grid does all of it ([`is_single_pass`]). A
//! tile begins with the prefix that the tile before propagates, and propagates that combined with its
//! own values. So memory is read once, and the host does not wait in between.

use super::{Tile, Tiles, compute_at, fill_tile, is_single_pass, tile, tiles};
use crate::carried::{combinations, drop_carried};
use crate::grid::reduction_of;
use crate::group::{
    Running, SOME, arrays_like, fold, neutrals, running_in_tile, scalars_of, starts, sums_of_tile,
};
use crate::writer::{Writer, fresh_operation};
use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir::{ArrayOperation, Atom, Bracketing, Expression, Output, Variable};
use nova_flat::kinds::is_scan;

/// Returns the start values of scans.
fn start_of(scans: &[Running]) -> Vec<Atom> {
    scans.iter().flat_map(|scan| scan.start.clone()).collect()
}

/// The values with which tiles begin: the start values if there is one tile, an array of values for
/// each component, or the prefix that the tile before propagates.
enum Begin<'a> {
    Start,
    Of(&'a [Variable]),
    Propagated,
}

pub(super) fn scan_in_tiles(code: &mut Writer, operation: ArrayOperation, pattern: &[Variable]) {
    let single_pass = is_single_pass(&operation, code.parallelism);
    let tiles = tiles(code, &operation, single_pass);
    if single_pass {
        return finish_tiles(code, operation, pattern, &tiles, Begin::Propagated);
    }
    let scans = running(code, &operation, pattern);
    let partial = reduce_tiles(code, &operation, &scans, &tiles);
    let last = pattern.get(..operation.carries.len()).unwrap_or_default();
    last_states(code, last, &partial, &scans, tiles.count);
    let begins = arrays_like(code, &scans, tiles.count);
    let of_tiles = scan_of(code, &partial, &scans, tiles.count);
    scan_partial(code, of_tiles, &begins);
    finish_tiles(code, operation, pattern, &tiles, Begin::Of(&begins));
}

/// Computes the final states, whose running results are the first of `scans`. Later stages drop
/// those that are not used.
fn last_states(
    code: &mut Writer,
    last: &[Variable],
    partial: &[Variable],
    scans: &[Running],
    count: Atom,
) {
    if last.is_empty() {
        return;
    }
    let mut outputs = Vec::with_capacity(last.len());
    for state in scans.iter().take(last.len()) {
        outputs.push(Output::Reduce {
            lambda: code.fresh_operator(&state.lambda),
            start: state.start.clone(),
            commutes: false,
            bracketing: Bracketing::Whole,
        });
    }
    let arrays = partial.get(..last.len()).unwrap_or_default();
    let operation = reduction_of(code, arrays, count, outputs);
    code.push(last.to_vec(), Expression::Operation(operation));
}

/// Scans the tiles' results: by one group, if they are one tile; else in tiles again. Of these
/// there are so few that the host scans their results.
fn scan_partial(code: &mut Writer, operation: ArrayOperation, pattern: &[Variable]) {
    let tiles = tiles(code, &operation, false);
    let one = code.compare(ScalarOperation::LessEqual, tiles.n, Atom::index(tiles.size));
    let copy = code.fresh_whole(&operation);
    code.choose_way(
        pattern,
        one,
        |code, own| {
            let count = code.within(tiles.count, 0, 1);
            let tiles = Tiles { count, ..tiles };
            finish_tiles(code, operation, &own, &tiles, Begin::Start);
        },
        |code, own| {
            let scans = running(code, &copy, &own);
            let partial = reduce_tiles(code, &copy, &scans, &tiles);
            let begins = arrays_like(code, &scans, tiles.count);
            let by_host = scan_of(code, &partial, &scans, tiles.count);
            code.push(begins.clone(), Expression::Operation(by_host));
            finish_tiles(code, copy, &own, &tiles, Begin::Of(&begins));
        },
    );
}

/// Returns the running results of an operation, which binds `pattern`. Its states come first.
fn running(code: &mut Writer, operation: &ArrayOperation, pattern: &[Variable]) -> Vec<Running> {
    let mut given = pattern.iter().copied();
    let mut all = Vec::new();
    let combinations = combinations(code, &operation.carries, &operation.body);
    for ((_, start), (lambda, _)) in operation.carries.iter().zip(combinations) {
        all.push(Running {
            lambda,
            start: vec![*start],
            exclusive: true,
            own: given.by_ref().take(1).collect(),
        });
    }
    for output in &operation.outputs {
        let own = given.by_ref().take(output.gives()).collect();
        if let Output::Scan {
            lambda,
            start,
            exclusive,
        } = output
        {
            all.push(Running {
                lambda: lambda.clone(),
                start: start.clone(),
                exclusive: *exclusive,
                own,
            });
        }
    }
    all
}

/// Writes the first grid, which reduces each tile, for each component of the scans.
fn reduce_tiles(
    code: &mut Writer,
    operation: &ArrayOperation,
    scans: &[Running],
    tiles: &Tiles,
) -> Vec<Variable> {
    let partial = arrays_like(code, scans, tiles.count);
    let number = code.fresh("tile", Scalar::I64);
    let body = code.body(|code| {
        let tile = tile(code, number, tiles);
        let values = values_of_tile(code, operation, scans, &tile, tiles);
        let sums = sums_of_tile(code, scans, &values, tiles.each);
        let (none, all) = (Atom::index(0), Atom::index(SOME));
        let start = neutrals(scans);
        fold(code, scans, &sums.of_some, (none, all), start)
    });
    let outputs = partial.iter().map(|_| Output::Map).collect();
    code.map_groups(
        partial.clone(),
        (tiles.count, number),
        Vec::new(),
        body,
        outputs,
    );
    partial
}

/// Writes the second grid: the running results of each tile, and the other results of the
/// operation.
fn finish_tiles(
    code: &mut Writer,
    operation: ArrayOperation,
    pattern: &[Variable],
    tiles: &Tiles,
    begin: Begin,
) {
    let scans = running(code, &operation, pattern);
    let (last, pattern) = pattern.split_at(operation.carries.len().min(pattern.len()));
    let number = code.fresh("tile", Scalar::I64);
    let carries = match begin {
        Begin::Start | Begin::Of(_) => Vec::new(),
        Begin::Propagated => scalars_of(code, &scans, "begin"),
    };
    let propagated = carries.iter().copied().zip(start_of(&scans)).collect();
    // Scans do not use the prefix that the last tile propagates.
    let mut finals = scalars_of(code, &scans, "last");
    finals.truncate(carries.len());
    for (own, asked) in finals.iter_mut().zip(last) {
        *own = *asked;
    }
    let body = code.body(|code| {
        let tile = tile(code, number, tiles);
        let values = values_of_tile(code, &operation, &scans, &tile, tiles);
        let sums = sums_of_tile(code, &scans, &values, tiles.each);
        let mut results = Vec::new();
        let begin = match begin {
            Begin::Start => start_of(&scans),
            Begin::Of(arrays) => {
                let arrays = arrays.iter();
                let begin = arrays.map(|a| code.element(*a, Atom::Variable(tile.number)));
                begin.collect::<Vec<Atom>>()
            }
            Begin::Propagated => {
                results = next_prefix(code, &scans, &sums.of_some, &carries);
                carries.iter().map(|v| Atom::Variable(*v)).collect()
            }
        };
        let starts = starts(code, &scans, &sums, begin);
        let running = running_in_tile(code, &scans, &values, &starts, tiles.each);
        let arrays = write_tile(code, operation, pattern, (&scans, &running), &tile);
        let joined = arrays.into_iter();
        results.extend(joined.flat_map(|a| [tile.first, Atom::Variable(a)]));
        results
    });
    let join = |_: &Variable| Output::Join {
        shape: vec![tiles.n],
    };
    let outputs = pattern.iter().map(join).collect();
    let given = finals.into_iter().chain(pattern.iter().copied()).collect();
    code.map_groups(given, (tiles.count, number), propagated, body, outputs);
}

/// Returns the prefix that a tile propagates: the given one, combined with the result of its own
/// values.
fn next_prefix(
    code: &mut Writer,
    scans: &[Running],
    of_some: &[Variable],
    given: &[Variable],
) -> Vec<Atom> {
    let all = (Atom::index(0), Atom::index(SOME));
    let own = fold(code, scans, of_some, all, neutrals(scans));
    let (mut given, mut own) = (given.iter(), own.into_iter());
    let mut next = Vec::new();
    for scan in scans {
        let mut both: Vec<Atom> = Vec::new();
        both.extend(
            given
                .by_ref()
                .take(scan.start.len())
                .map(|v| Atom::Variable(*v)),
        );
        both.extend(own.by_ref().take(scan.start.len()));
        next.extend(code.apply(&scan.lambda, &both));
    }
    next
}

/// Computes the values that scans combine, as an array of the group for each component. After the
/// last index they are the identity.
fn values_of_tile(
    code: &mut Writer,
    operation: &ArrayOperation,
    scans: &[Running],
    tile: &Tile,
    tiles: &Tiles,
) -> Vec<Variable> {
    let mut copy = fresh_operation(code.program, operation);
    let combined = combined(code, operation, &copy);
    drop_carried(&copy.carries, &mut copy.body);
    let arrays = arrays_like(code, scans, Atom::index(tiles.size));
    let compute = |code: &mut Writer, index| {
        compute_at(code, copy, tile, index);
        combined
    };
    fill_tile(code, &arrays, tile, neutrals(scans), compute);
    arrays
}

/// Returns the values that running results are combined with, in a copy of an operation.
fn combined(code: &mut Writer, operation: &ArrayOperation, copy: &ArrayOperation) -> Vec<Atom> {
    let states = combinations(code, &copy.carries, &copy.body).into_iter();
    let mut combined: Vec<Atom> = states.map(|(_, value)| value).collect();
    let mut results = copy.body.results.iter().skip(copy.carries.len());
    for output in &operation.outputs {
        let own = results.by_ref().take(output.consumes());
        match is_scan(output) {
            true => combined.extend(own),
            false => own.for_each(drop),
        }
    }
    combined
}

/// Writes the outputs of a tile. Those of scans are the running results. Others are computed again,
/// with the states at each index.
fn write_tile(
    code: &mut Writer,
    operation: ArrayOperation,
    pattern: &[Variable],
    (scans, running): (&[Running], &[Variable]),
    tile: &Tile,
) -> Vec<Variable> {
    let index = code.fresh("j", Scalar::I64);
    let given = scans.iter().flat_map(|s| s.own.iter().copied());
    let given: Vec<(Variable, Variable)> = given.zip(running.iter().copied()).collect();
    let only_scans = operation.outputs.iter().all(is_scan);
    let body = code.body(|code| {
        let copy = fresh_operation(code.program, &operation);
        let computed = copy.body.results.clone().into_iter();
        let computed = computed.skip(copy.carries.len());
        for ((carry, _), array) in copy.carries.iter().zip(running) {
            let state = code.element(*array, Atom::Variable(index));
            code.push(vec![*carry], Expression::Atom(state));
        }
        if !only_scans {
            compute_at(code, copy, tile, Atom::Variable(index));
        }
        let results = pattern.iter().zip(computed).map(|(own, value)| {
            let array = given.iter().find(|(whole, _)| whole == own);
            array.map_or(value, |(_, array)| {
                code.element(*array, Atom::Variable(index))
            })
        });
        results.collect()
    });
    let mut arrays = Vec::with_capacity(pattern.len());
    for whole in pattern {
        arrays.push(code.like(*whole, vec![tile.length]));
    }
    let outputs = arrays.iter().map(|_| Output::Map).collect();
    code.map_threads(arrays.clone(), (tile.length, index), body, outputs, None);
    arrays
}

/// Returns the scans of the tiles' results, which give the values with which tiles begin.
fn scan_of(
    code: &mut Writer,
    arrays: &[Variable],
    scans: &[Running],
    count: Atom,
) -> ArrayOperation {
    let mut outputs = Vec::with_capacity(scans.len());
    for scan in scans {
        outputs.push(Output::Scan {
            lambda: code.fresh_operator(&scan.lambda),
            start: scan.start.clone(),
            exclusive: true,
        });
    }
    reduction_of(code, arrays, count, outputs)
}
