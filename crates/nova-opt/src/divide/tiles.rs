//! Scans in tiles, for devices: where no order changes the result, or any will do, a work-group takes a
//! tile of neighbouring indices, whose values its threads compute in turn, so that what the threads of a
//! warp read at a time lies together in memory, and keep in memory of the group. There each thread has a
//! few neighbouring values.
//!
//! The first grid of groups reduces each tile, the tiles' results are scanned, and the second grid
//! computes each tile again, scans it from what the tiles before it come to, and writes it in turn. The
//! tiles' results are scanned by one group where they fit a tile, else in tiles, too.
//!
//! Where groups can hand numbers on, each in its turn, one grid does all of it ([`takes_turns`]): a tile
//! begins with what the tile before hands on, and hands that on with what its own values come to. So
//! memory is read once, and no host waits in between.
//!
//! All of it is said by strategies (dpia.txt §6.2) that a program could say itself: `map_workgroup` over
//! tiles, in which `map_local` makes arrays `to_local`. So nothing is believed of these kernels that is
//! not proved of all others.
//!
//! What depends on the order ([`Freedom::Strict`]), or has no value that changes nothing, has a thread
//! for each part ([`super::running`]); so have bodies that do more than compute numbers, or are dear.
//! Filters are in [`super::kept`].

use super::Division;
use super::carried::drop_carried;
use super::cost::Cost;
use super::group::{Running, SOME, THREADS, neutrals};
use super::kept::COUNT;
use super::ordered::{Freedom, freedom, is_exact};
use super::parts::{Code, fresh_operation};
use super::running::{DEAREST, is_scan};
use nova_core::strategy::Space;
use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Bracketing, Expression, Output, Program, Variable,
};
use nova_flat::operators::by_component;
use nova_flat::visit::each_statement;

/// How many values of a tile a thread has at most, and at least. Odd numbers: threads that read at odd
/// distances read from different banks of the group's memory.
const MOST: i64 = 9;
const LEAST: i64 = 1;

/// Bytes of a group's memory for what grows with the number of threads: 32 KB are what any device of
/// OpenCL has, and the sums of sixteen threads are small.
const BYTES: i64 = 28 << 10;

/// The tiles of an operation.
pub(super) struct Tiles {
    /// How many indices there are, and how many a tile has; the last may have fewer.
    pub(super) n: Atom,
    pub(super) size: i64,
    /// How many values of a tile a thread has.
    pub(super) each: i64,
    pub(super) count: Atom,
}

/// What scans start with.
fn start_of(scans: &[Running]) -> Vec<Atom> {
    scans.iter().flat_map(|scan| scan.start.clone()).collect()
}

/// The tile of a group.
pub(super) struct Tile {
    pub(super) number: Variable,
    /// Its first index, and how many it has.
    pub(super) first: Atom,
    pub(super) length: Atom,
}

/// What tiles begin with: of each component one value, where there is one tile, or an array of them, or
/// what the tile before hands on.
enum Begin<'a> {
    Start,
    Of(&'a [Variable]),
    Turn,
}

/// How many bytes of a group's memory an operation has for each index of a tile: for each running
/// result its values and what they come to, of a filter whether and as which an element is kept, and
/// what it is.
fn bytes_of_index(program: &Program, operation: &ArrayOperation) -> i64 {
    let bytes = |atom: &Atom| {
        let scalar = program.scalar_of(*atom).unwrap_or(Scalar::I64);
        i64::from(scalar.info().bytes)
    };
    let mut sum: i64 = operation.carries.iter().map(|(_, s)| 2 * bytes(s)).sum();
    let mut results = operation.body.results.iter().skip(operation.carries.len());
    for output in &operation.outputs {
        let consumed = results.by_ref().take(output.consumes());
        sum += match output {
            Output::Scan { .. } => consumed.map(|value| 2 * bytes(value)).sum::<i64>(),
            Output::Filter { .. } => {
                let counts = 2 * i64::from(COUNT.info().bytes);
                counts + consumed.skip(1).map(bytes).sum::<i64>()
            }
            Output::Map
            | Output::Reduce { .. }
            | Output::Scatter { .. }
            | Output::Histogram { .. }
            | Output::Collect { .. }
            | Output::Join { .. } => {
                consumed.for_each(drop);
                0
            }
        };
    }
    sum
}

/// How many values of a tile a thread has, if there is room for as many in the memory of a group.
fn values_of_thread(program: &Program, operation: &ArrayOperation) -> Option<i64> {
    // Beside its values, a thread has their sum and what it begins with.
    let bytes = bytes_of_index(program, operation).saturating_mul(THREADS);
    let mut odd = (LEAST..=MOST).rev().step_by(2);
    odd.find(|each| bytes.saturating_mul(each + 1) <= BYTES)
}

/// How many indices a tile of an operation has that [has tiles](Code::has_tiles).
pub(super) fn tile_size(program: &Program, operation: &ArrayOperation) -> i64 {
    values_of_thread(program, operation).unwrap_or(LEAST) * THREADS
}

/// Whether the groups of an operation that [has tiles](Code::has_tiles) hand on what their tiles come to,
/// in one pass: the device can do that, no order makes a difference, so that results are the same in
/// each run, and no group can fail while others wait for it.
pub(super) fn takes_turns(operation: &ArrayOperation, division: Division) -> bool {
    let is_plain = |output: &Output| match output {
        Output::Scan { lambda, .. } => by_component(lambda)
            .is_some_and(|all| all.iter().all(|operator| operator.bound.is_none())),
        Output::Map
        | Output::Reduce { .. }
        | Output::Filter { .. }
        | Output::Scatter { .. }
        | Output::Histogram { .. }
        | Output::Collect { .. }
        | Output::Join { .. } => true,
    };
    division.turns
        && !may_fail(&operation.body)
        && is_exact(operation)
        && operation.outputs.iter().all(is_plain)
}

/// Whether a body checks something.
fn may_fail(body: &Body) -> bool {
    let mut fails = false;
    each_statement(body, &mut |statement| {
        let expression = &statement.expression;
        fails |= matches!(
            expression,
            Expression::Check { .. } | Expression::Fail { .. }
        );
    });
    fails
}

/// Whether a body only computes numbers, reads arrays and checks.
pub(super) fn computes_numbers(body: &Body) -> bool {
    let mut all = true;
    each_statement(body, &mut |statement| {
        all &= match &statement.expression {
            Expression::Atom(_)
            | Expression::Scalar { .. }
            | Expression::Index { .. }
            | Expression::View { .. }
            | Expression::Check { .. }
            | Expression::Fail { .. }
            | Expression::If { .. }
            | Expression::Switch { .. } => true,
            _makes_more => false,
        };
    });
    all
}

/// Whether an operation only keeps elements.
pub(super) fn is_filter(operation: &ArrayOperation) -> bool {
    operation.carries.is_empty() && matches!(operation.outputs[..], [Output::Filter { .. }])
}

impl Code<'_> {
    /// Whether an operation that may be divided is a scan or a filter in tiles: it makes arrays of running
    /// results or with these, or of what it keeps; it does for each index of one dimension about as much,
    /// and so little that it may be done again; and its values may be combined in any order.
    pub(super) fn has_tiles(&self, operation: &ArrayOperation, division: Division) -> bool {
        let is_free = |output: &Output| match output {
            Output::Map => true,
            Output::Scan { lambda, .. } => freedom(lambda, self.strict) == Freedom::Neutral,
            Output::Reduce { .. }
            | Output::Filter { .. }
            | Output::Scatter { .. }
            | Output::Histogram { .. }
            | Output::Collect { .. }
            | Output::Join { .. } => false,
        };
        let (cost, rows): (Cost, _) = self.cost_by_row(operation);
        let runs = !operation.carries.is_empty() || operation.outputs.iter().any(is_scan);
        let runs = runs && !operation.outputs.is_empty();
        division.kernels
            && operation.shape.len() == 1
            && (is_filter(operation) || runs && operation.outputs.iter().all(is_free))
            && rows.is_none()
            && cost.loops.is_empty()
            && !cost.unknown
            && cost.fixed <= DEAREST
            && computes_numbers(&operation.body)
            && values_of_thread(self.program, operation).is_some()
    }

    /// Writes an operation that [has tiles](Code::has_tiles) as two grids of groups, and what is between
    /// them. `pattern` is what the operation gives.
    pub(super) fn in_tiles(
        &mut self,
        operation: ArrayOperation,
        pattern: &[Variable],
        division: Division,
    ) {
        match is_filter(&operation) {
            true => self.filter_in_tiles(&operation, pattern),
            false => self.scan_in_tiles(operation, pattern, division),
        }
    }

    fn scan_in_tiles(
        &mut self,
        operation: ArrayOperation,
        pattern: &[Variable],
        division: Division,
    ) {
        let tiles = self.tiles(&operation);
        if takes_turns(&operation, division) {
            return self.finish_tiles(operation, pattern, &tiles, Begin::Turn);
        }
        let scans = self.running(&operation, pattern);
        let partial = self.reduce_tiles(&operation, &scans, &tiles);
        let last = pattern.get(..operation.carries.len()).unwrap_or_default();
        self.last_states(last, &partial, &scans, tiles.count);
        let begins = self.arrays_like(&scans, tiles.count);
        let of_tiles = self.scan_of(&partial, &scans, tiles.count);
        self.scan_partial(of_tiles, &begins);
        self.finish_tiles(operation, pattern, &tiles, Begin::Of(&begins));
    }

    /// What states become in the end, of which the scans are the first: later stages drop what nobody
    /// uses.
    fn last_states(
        &mut self,
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
                lambda: self.fresh_operator(&state.lambda),
                start: state.start.clone(),
                commutes: false,
                bracketing: Bracketing::Whole,
            });
        }
        let arrays = partial.get(..last.len()).unwrap_or_default();
        let operation = self.reduction_of(arrays, count, outputs);
        self.push(last.to_vec(), Expression::Operation(operation));
    }

    /// Scans what tiles reduce to: one group, where all of it is one tile; else in tiles again, of which
    /// there are so few that the host scans what these reduce to.
    fn scan_partial(&mut self, operation: ArrayOperation, pattern: &[Variable]) {
        let tiles = self.tiles(&operation);
        let one = self.compare(ScalarOperation::LessEqual, tiles.n, Atom::index(tiles.size));
        let copy = self.fresh_whole(&operation);
        let then = self.branch(pattern, |code, own| {
            let count = code.within(tiles.count, 0, 1);
            let tiles = Tiles { count, ..tiles };
            code.finish_tiles(operation, &own, &tiles, Begin::Start);
        });
        let otherwise = self.branch(pattern, |code, own| {
            let scans = code.running(&copy, &own);
            let partial = code.reduce_tiles(&copy, &scans, &tiles);
            let begins = code.arrays_like(&scans, tiles.count);
            let by_host = code.scan_of(&partial, &scans, tiles.count);
            code.push(begins.clone(), Expression::Operation(by_host));
            code.finish_tiles(copy, &own, &tiles, Begin::Of(&begins));
        });
        let choice = Expression::If {
            condition: one,
            then,
            otherwise,
        };
        self.push(pattern.to_vec(), choice);
    }

    /// The running results of an operation, which gives `pattern`: first its states.
    fn running(&mut self, operation: &ArrayOperation, pattern: &[Variable]) -> Vec<Running> {
        let mut given = pattern.iter().copied();
        let mut all = Vec::new();
        let combinations = self.combinations(&operation.carries, &operation.body);
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

    /// The tiles of an operation.
    pub(super) fn tiles(&mut self, operation: &ArrayOperation) -> Tiles {
        let n = operation.shape.first().copied().unwrap_or(Atom::index(0));
        let size = tile_size(self.program, operation);
        let count = self.quotient_up(n, Atom::index(size));
        Tiles {
            n,
            size,
            each: size / THREADS,
            count: self.within(count, 0, i64::MAX / size),
        }
    }

    /// The first grid: what each tile reduces to, for each component of the scans.
    fn reduce_tiles(
        &mut self,
        operation: &ArrayOperation,
        scans: &[Running],
        tiles: &Tiles,
    ) -> Vec<Variable> {
        let partial = self.arrays_like(scans, tiles.count);
        let number = self.fresh("tile", Scalar::I64);
        let (statements, results) = self.apart(|code| {
            let tile = code.tile(number, tiles);
            let values = code.values_of_tile(operation, scans, &tile, tiles);
            let sums = code.sums(scans, &values, THREADS, tiles.each);
            let sums = code.sums(scans, &sums, SOME, SOME);
            let (none, all) = (Atom::index(0), Atom::index(SOME));
            let start = neutrals(scans);
            code.fold(scans, &sums, (none, all), start)
        });
        let body = Body {
            statements,
            results,
        };
        let outputs = partial.iter().map(|_| Output::Map).collect();
        self.map_groups(
            partial.clone(),
            (tiles.count, number),
            Vec::new(),
            body,
            outputs,
        );
        partial
    }

    /// The second grid: the running results of each tile, and what else the operation gives.
    fn finish_tiles(
        &mut self,
        operation: ArrayOperation,
        pattern: &[Variable],
        tiles: &Tiles,
        begin: Begin,
    ) {
        let scans = self.running(&operation, pattern);
        let (last, pattern) = pattern.split_at(operation.carries.len().min(pattern.len()));
        let number = self.fresh("tile", Scalar::I64);
        let carries = match begin {
            Begin::Start | Begin::Of(_) => Vec::new(),
            Begin::Turn => self.scalars_of(&scans, "begin"),
        };
        let handed = carries.iter().copied().zip(start_of(&scans)).collect();
        // Of scans nobody asks what the last tile hands on.
        let mut finals = self.scalars_of(&scans, "last");
        finals.truncate(carries.len());
        for (own, asked) in finals.iter_mut().zip(last) {
            *own = *asked;
        }
        let (statements, results) = self.apart(|code| {
            let tile = code.tile(number, tiles);
            let values = code.values_of_tile(&operation, &scans, &tile, tiles);
            let sums = code.sums(&scans, &values, THREADS, tiles.each);
            let of_some = code.sums(&scans, &sums, SOME, SOME);
            let mut results = Vec::new();
            let begin = match begin {
                Begin::Start => start_of(&scans),
                Begin::Of(arrays) => {
                    let arrays = arrays.iter();
                    let begin = arrays.map(|a| code.element(*a, Atom::Variable(tile.number)));
                    begin.collect::<Vec<Atom>>()
                }
                Begin::Turn => {
                    results = code.handed_on(&scans, &of_some, &carries);
                    carries.iter().map(|v| Atom::Variable(*v)).collect()
                }
            };
            let starts = code.starts(&scans, (&sums, &of_some), begin);
            let running = code.running_in_tile(&scans, &values, &starts, tiles.each);
            let arrays = code.write_tile(operation, pattern, (&scans, &running), &tile);
            let joined = arrays.into_iter();
            results.extend(joined.flat_map(|a| [tile.first, Atom::Variable(a)]));
            results
        });
        let body = Body {
            statements,
            results,
        };
        let join = |_: &Variable| Output::Join {
            shape: vec![tiles.n],
        };
        let outputs = pattern.iter().map(join).collect();
        let given = finals.into_iter().chain(pattern.iter().copied()).collect();
        self.map_groups(given, (tiles.count, number), handed, body, outputs);
    }

    /// What a tile hands on, which has been given these values: combined with what its own come to.
    fn handed_on(
        &mut self,
        scans: &[Running],
        of_some: &[Variable],
        given: &[Variable],
    ) -> Vec<Atom> {
        let all = (Atom::index(0), Atom::index(SOME));
        let own = self.fold(scans, of_some, all, neutrals(scans));
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
            next.extend(self.apply(&scan.lambda, &both));
        }
        next
    }

    pub(super) fn tile(&mut self, number: Variable, tiles: &Tiles) -> Tile {
        let size = Atom::index(tiles.size);
        let (first, length) = self.even_bounds(Atom::Variable(number), tiles.n, size);
        Tile {
            number,
            first,
            length,
        }
    }

    /// The values that scans combine, for each component an array of the group; behind the last index
    /// what changes nothing.
    fn values_of_tile(
        &mut self,
        operation: &ArrayOperation,
        scans: &[Running],
        tile: &Tile,
        tiles: &Tiles,
    ) -> Vec<Variable> {
        let mut copy = fresh_operation(self.program, operation);
        let combined = self.combined(operation, &copy);
        drop_carried(&copy.carries, &mut copy.body);
        let arrays = self.arrays_like(scans, Atom::index(tiles.size));
        let compute = |code: &mut Self, index| {
            code.compute_at(copy, tile, index);
            combined
        };
        self.fill_tile(&arrays, tile, neutrals(scans), compute);
        arrays
    }

    /// Arrays of the group of what `compute` gives for each index of a tile, and of other values behind
    /// the last one. There the last one is computed again, so that all threads do the same, which costs
    /// nothing.
    pub(super) fn fill_tile(
        &mut self,
        arrays: &[Variable],
        tile: &Tile,
        behind: Vec<Atom>,
        compute: impl FnOnce(&mut Self, Atom) -> Vec<Atom>,
    ) {
        let index = self.fresh("j", Scalar::I64);
        let values = self.scalars_like(arrays, "value");
        let body = self.body(|code| {
            let inside = code.compare(ScalarOperation::Less, Atom::Variable(index), tile.length);
            let last = code.scalar(ScalarOperation::Subtract, tile.length, Atom::index(1));
            let at = code.scalar(ScalarOperation::Minimum, Atom::Variable(index), last);
            let computed = compute(code, at);
            code.choose(values.clone(), inside, |_| computed, |_| behind);
            values.into_iter().map(Atom::Variable).collect()
        });
        let outputs = arrays.iter().map(|_| Output::Map).collect();
        let extents = arrays.first().map(|array| self.program.ty(*array).shape());
        let size = extents.and_then(|extents| extents.first()).copied();
        let indices = (size.unwrap_or(Atom::index(0)), index);
        self.map_threads(arrays.to_vec(), indices, body, outputs, Some(Space::Local));
    }

    /// What running results are combined with, in a copy of an operation.
    fn combined(&mut self, operation: &ArrayOperation, copy: &ArrayOperation) -> Vec<Atom> {
        let states = self.combinations(&copy.carries, &copy.body).into_iter();
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

    /// The statements of the body of an operation at an index of a tile.
    pub(super) fn compute_at(&mut self, mut operation: ArrayOperation, tile: &Tile, index: Atom) {
        if let Some(whole) = operation.indices.first() {
            let sum = Expression::Scalar {
                operation: ScalarOperation::Add,
                operand: Scalar::I64,
                arguments: vec![tile.first, index],
            };
            self.push(vec![*whole], sum);
        }
        self.out.append(&mut operation.body.statements);
    }

    /// Writes what the outputs give of a tile: of scans the running results; what else there is, is
    /// computed again, with the states that come to an index.
    fn write_tile(
        &mut self,
        operation: ArrayOperation,
        pattern: &[Variable],
        (scans, running): (&[Running], &[Variable]),
        tile: &Tile,
    ) -> Vec<Variable> {
        let index = self.fresh("j", Scalar::I64);
        let given = scans.iter().flat_map(|s| s.own.iter().copied());
        let given: Vec<(Variable, Variable)> = given.zip(running.iter().copied()).collect();
        let only_scans = operation.outputs.iter().all(is_scan);
        let (statements, results) = self.apart(|code| {
            let copy = fresh_operation(code.program, &operation);
            let computed = copy.body.results.clone().into_iter();
            let computed = computed.skip(copy.carries.len());
            for ((carry, _), array) in copy.carries.iter().zip(running) {
                let state = code.element(*array, Atom::Variable(index));
                code.push(vec![*carry], Expression::Atom(state));
            }
            if !only_scans {
                code.compute_at(copy, tile, Atom::Variable(index));
            }
            let results = pattern.iter().zip(computed).map(|(own, value)| {
                let array = given.iter().find(|(whole, _)| whole == own);
                array.map_or(value, |(_, array)| {
                    code.element(*array, Atom::Variable(index))
                })
            });
            results.collect()
        });
        let body = Body {
            statements,
            results,
        };
        let mut arrays = Vec::with_capacity(pattern.len());
        for whole in pattern {
            arrays.push(self.like(*whole, vec![tile.length]));
        }
        let outputs = arrays.iter().map(|_| Output::Map).collect();
        self.map_threads(arrays.clone(), (tile.length, index), body, outputs, None);
        arrays
    }

    /// The scans of what tiles reduce to: what each tile begins with.
    fn scan_of(&mut self, arrays: &[Variable], scans: &[Running], count: Atom) -> ArrayOperation {
        let mut outputs = Vec::with_capacity(scans.len());
        for scan in scans {
            outputs.push(Output::Scan {
                lambda: self.fresh_operator(&scan.lambda),
                start: scan.start.clone(),
                exclusive: true,
            });
        }
        self.reduction_of(arrays, count, outputs)
    }
}
