//! Segmented reductions, for devices: a map each of whose indices reduces a row of its own, as the
//! product of a matrix and a vector does, dense or sparse. A thread for each row would read elements
//! that lie far from those of its neighbours, and its work would grow with the length of its row. So
//! the threads of a work-group share rows. Each row has a number of lanes: neighbouring threads that
//! take its elements cyclically, so that they read what lies together. The results of the lanes are
//! combined in local memory, and a thread for each row does the rest of the map.
//!
//! The number of lanes of a row, 4 up to all threads of a group, depends on the average number of
//! elements of rows. It is found when the program runs; one kernel serves all numbers. If there may be
//! long rows among short ones, there may also be 1 or 2 lanes. Otherwise rows of few elements have a
//! thread each. Rows many times as long as others have a group each ([`long`]).
//!
//! Reductions that depend on the order have a thread for each row. So do maps that do more for an index
//! than compute numbers and reduce once.

mod long;

use crate::chunks::even_bounds;
use crate::costs::elements;
use crate::grid::completed;
use crate::group::{Running, SOME, THREADS, arrays_like, fold, neutrals, scalars_of};
use crate::nest::{first_loop, is_strict, reductions};
use crate::notes::Step;
use crate::plain_kernels::plain_kernel;
use crate::policy::Parallelism;
use crate::rows::Rows;
use crate::way::Way;
use crate::writer::{Writer, fresh_operation};
use long::{LONG_TIMES, LongRows, are_many_elements, long_rows};
use nova_core::strategy::Space;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_flat::ir::{ArrayOperation, Atom, Body, Expression, Output, Program, Statement, Variable};
use nova_flat::kinds::{computes_numbers, is_map};
use nova_flat::visit::{binders, each_statement};
use nova_machine::figures;

/// The least average number of elements of rows that are worth lanes. A lane has two elements at least.
const LANES_FROM: i64 = figures::SEGMENTS.lanes_from;
/// With fewer rows than this many times the operations that are worth a thread, all threads of the
/// device share the elements of each row, if they can.
const FEW_ROWS: i64 = figures::SEGMENTS.few_rows;

/// Returns the number of rows from which on their elements are not parallelised.
pub(crate) fn few_rows(parallelism: Parallelism) -> i64 {
    FEW_ROWS.saturating_mul(parallelism.grain)
}

/// The number of elements of the rows.
enum Length {
    /// The same for all rows, and known before the map.
    Same(Atom),
    /// That of each row of a nested vector.
    Of(Rows),
}

/// A map of reductions of rows.
pub(crate) struct SegmentedReduction {
    /// The position of the reduction among the statements of the body.
    position: usize,
    length: Length,
}

/// The map of a segmented reduction, and the position of the reduction among its statements.
struct RowMap<'a> {
    operation: &'a ArrayOperation,
    position: usize,
}

/// The lanes of rows, as computed when the program runs.
struct Lanes {
    /// The exponent of the number of lanes of a row, a power of 2, and this number.
    shift: Atom,
    count: Atom,
    /// The number of rows of a group.
    rows: Atom,
    /// The same for the results of lanes that a thread combines first, and for the results that these
    /// leave.
    some_shift: Atom,
    some: Atom,
    left_shift: Atom,
    left: Atom,
}

/// The body of the map at a row, in new variables.
struct AtRow {
    inner: ArrayOperation,
    /// The variables that the reduction binds, and the statements after it.
    given: Vec<Variable>,
    after: Vec<Statement>,
    results: Vec<Atom>,
}

/// True if a body, apart from one operation in it, only computes numbers.
fn computes_numbers_beside(body: &Body, position: usize) -> bool {
    let mut statements = body.statements.clone();
    if position < statements.len() {
        statements.remove(position);
    }
    computes_numbers(&Body {
        statements,
        results: Vec::new(),
    })
}

/// Returns the number of elements of rows, if it is known before the map.
fn length(program: &Program, operation: &ArrayOperation, inner: &ArrayOperation) -> Option<Length> {
    let [extent] = inner.shape[..] else {
        return None;
    };
    let Atom::Variable(own) = extent else {
        return Some(Length::Same(extent));
    };
    let mut measured = Rows::measured(program, operation).into_iter();
    if let Some(rows) = measured.find(|rows| rows.length == own) {
        return Some(Length::Of(rows));
    }
    let mut is_bound = operation.indices.contains(&own);
    each_statement(&operation.body, &mut |statement| {
        is_bound |= statement.pattern.contains(&own);
        binders(&statement.expression, &mut |v| is_bound |= *v == own);
    });
    (!is_bound).then_some(Length::Same(extent))
}

impl SegmentedReduction {
    /// Returns the segmented reduction that an operation is, if it is such a map.
    fn of(
        program: &Program,
        operation: &ArrayOperation,
        strict: bool,
    ) -> Option<SegmentedReduction> {
        if !is_map(operation) || operation.is_marked() || operation.shape.len() != 1 {
            return None;
        }
        let (position, inner) = first_loop(&operation.body)?;
        reductions(inner, strict)?;
        let is_free = !inner.outputs.iter().any(|output| is_strict(output, strict));
        let is_plain =
            computes_numbers(&inner.body) && computes_numbers_beside(&operation.body, position);
        let length = length(program, operation, inner)?;
        (is_free && is_plain).then_some(SegmentedReduction { position, length })
    }

    /// Returns the step that is reported for segmented reductions.
    pub(crate) fn step() -> Step {
        Step::SegmentedReduction {
            worth: LANES_FROM,
            threads: THREADS,
            times: LONG_TIMES,
        }
    }
}

/// Returns the segmented reduction that an operation is, if the operation may be parallelised and
/// lanes are to share its rows.
pub(crate) fn segmented_reduction(
    program: &Program,
    operation: &ArrayOperation,
    parallelism: Parallelism,
) -> Option<SegmentedReduction> {
    let is_device = parallelism.kernels;
    is_device
        .then(|| SegmentedReduction::of(program, operation, parallelism.strict))
        .flatten()
}

/// Writes a map of reductions of rows. If there are few rows, their reductions are parallelised. If
/// they are long enough, each has lanes; else each has a thread.
pub(crate) fn kernel_of_segmented_reduction(
    code: &mut Writer,
    (operation, segmented): (ArrayOperation, &SegmentedReduction),
    pattern: &[Variable],
    mut way: Way,
) {
    let n = operation.shape.first().copied().unwrap_or(Atom::index(0));
    if let Some(inside) = way.inside.take() {
        let most = Atom::index(few_rows(code.parallelism));
        let few = code.compare(ScalarOperation::Less, n, most);
        let inside = completed(code, inside, &operation);
        return code.choose_way(
            pattern,
            few,
            |code, own| {
                code.push(own, Expression::Operation(inside));
            },
            |code, own| {
                kernel_of_segmented_reduction(code, (operation, segmented), &own, way);
            },
        );
    }
    let (mean, various) = match &segmented.length {
        Length::Same(length) => (*length, None),
        Length::Of(rows) => {
            let (_, elements) = elements(code, n, rows);
            let some = code.scalar(ScalarOperation::Maximum, n, Atom::index(1));
            let mean = code.scalar(ScalarOperation::Divide, elements, some);
            let many = are_many_elements(code, elements);
            (mean, Some((rows, many)))
        }
    };
    let worth = code.compare(ScalarOperation::GreaterEqual, mean, Atom::index(LANES_FROM));
    let condition = match various {
        None => worth,
        Some((_, many)) => {
            // There may be long rows among short ones.
            let yes = Atom::Constant(ScalarValue::Bool(true));
            code.choose_one(many, Scalar::Bool, |_| yes, |_| worth)
        }
    };
    let copy = code.fresh_whole(&operation);
    code.choose_way(
        pattern,
        condition,
        |code, own| {
            let map = &RowMap {
                operation: &copy,
                position: segmented.position,
            };
            let long = various.map(|(rows, many)| long_rows(code, map, (n, rows), (mean, many)));
            let lanes = lanes_of_rows(code, mean);
            rows_in_lanes(code, map, &lanes, long.as_ref(), &own);
        },
        |code, own| {
            plain_kernel(code, operation, &own, way);
        },
    );
}

/// Computes the lanes of rows with this average number of elements: half as many lanes, rounded
/// down to a power of 2.
fn lanes_of_rows(code: &mut Writer, mean: Atom) -> Lanes {
    let mut shift = Atom::index(0);
    for power in 1..=THREADS.trailing_zeros() {
        let least = Atom::index(2 << power);
        let is_long = code.compare(ScalarOperation::GreaterEqual, mean, least);
        let one = code.as_number(is_long);
        shift = code.scalar(ScalarOperation::Add, shift, one);
    }
    let shift = code.within(shift, 0, i64::from(THREADS.trailing_zeros()));
    let some = Atom::index(i64::from(SOME.trailing_zeros()));
    let some_shift = code.scalar(ScalarOperation::Minimum, shift, some);
    let left_shift = code.scalar(ScalarOperation::Subtract, shift, some_shift);
    let power = |code: &mut Writer, shift| {
        let power = code.scalar(ScalarOperation::ShiftLeft, Atom::index(1), shift);
        code.within(power, 1, THREADS)
    };
    let rows = code.scalar(ScalarOperation::ShiftRight, Atom::index(THREADS), shift);
    Lanes {
        shift,
        count: power(code, shift),
        rows: code.within(rows, 1, THREADS),
        some_shift,
        some: power(code, some_shift),
        left_shift,
        left: power(code, left_shift),
    }
}

/// Writes the kernel of a map that reduces rows, whose groups have some rows each.
fn rows_in_lanes(
    code: &mut Writer,
    map: &RowMap,
    lanes: &Lanes,
    long: Option<&LongRows>,
    pattern: &[Variable],
) {
    let n = map
        .operation
        .shape
        .first()
        .copied()
        .unwrap_or(Atom::index(0));
    let count = code.quotient_up(n, lanes.rows);
    let group = code.fresh("group", Scalar::I64);
    let body = code.body(|code| {
        let (first, length) = even_bounds(code, Atom::Variable(group), n, lanes.rows);
        let bounds = (first, length);
        let (scans, sums) = sums_of_lanes(code, map, lanes, bounds, long);
        let sums = some_lanes(code, &scans, &sums, lanes);
        finish_rows(code, map, (&sums, lanes, long), bounds, pattern)
    });
    let outputs = pattern.iter();
    let outputs = outputs.map(|_| Output::Join { shape: vec![n] }).collect();
    code.map_groups(pattern.to_vec(), (count, group), Vec::new(), body, outputs);
}

impl RowMap<'_> {
    /// Writes the body of the map at a row up to the reduction, and returns the rest of it.
    fn at_row(&self, code: &mut Writer, row: Atom) -> Option<AtRow> {
        let mut copy = fresh_operation(code.program, self.operation);
        let index = copy.indices.first()?;
        code.push(vec![*index], Expression::Atom(row));
        let after = copy.body.statements.split_off(self.position + 1);
        let reduction = copy.body.statements.pop()?;
        code.out.append(&mut copy.body.statements);
        match reduction.expression {
            Expression::Operation(inner) => Some(AtRow {
                inner,
                given: reduction.pattern,
                after,
                results: std::mem::take(&mut copy.body.results),
            }),
            _no_reduction => None,
        }
    }
}

/// Returns the reductions of a row.
fn reductions_of_row(code: &mut Writer, at: &AtRow) -> Vec<Running> {
    let mut given = at.given.iter().copied();
    let mut all = Vec::new();
    for output in &at.inner.outputs {
        let own: Vec<Variable> = given.by_ref().take(output.gives()).collect();
        if let Output::Reduce { lambda, start, .. } = output {
            all.push(Running {
                lambda: code.fresh_operator(lambda),
                start: start.clone(),
                exclusive: false,
                own: own.into_iter().map(|v| code.like_scalar(v)).collect(),
            });
        }
    }
    all
}

/// Computes the result of each lane of each row of a group, except for long rows.
fn sums_of_lanes(
    code: &mut Writer,
    map: &RowMap,
    lanes: &Lanes,
    (first, length): (Atom, Atom),
    long: Option<&LongRows>,
) -> (Vec<Running>, Vec<Variable>) {
    let thread = code.fresh("thread", Scalar::I64);
    let mut scans = Vec::new();
    let body = code.body(|code| {
        let thread = Atom::Variable(thread);
        let own = code.scalar(ScalarOperation::ShiftRight, thread, lanes.shift);
        let last = code.scalar(ScalarOperation::Subtract, length, Atom::index(1));
        // Lanes after the last row have no elements.
        let row = code.scalar(ScalarOperation::Minimum, own, last);
        let row = code.scalar(ScalarOperation::Add, first, row);
        let most = code.scalar(ScalarOperation::Subtract, lanes.count, Atom::index(1));
        let lane = code.scalar(ScalarOperation::BitAnd, thread, most);
        let Some(at) = map.at_row(code, row) else {
            return Vec::new();
        };
        scans = reductions_of_row(code, &at);
        let extent = at.inner.shape.first().copied().unwrap_or(Atom::index(0));
        let left = code.scalar(ScalarOperation::Subtract, extent, lane);
        let left = code.scalar(ScalarOperation::Add, left, most);
        let iterations = code.scalar(ScalarOperation::ShiftRight, left, lanes.shift);
        let there = code.compare(ScalarOperation::LessEqual, own, last);
        let iterations = code.choose_one(there, Scalar::I64, |_| iterations, |_| Atom::index(0));
        let iterations = match long {
            Some(long) => {
                let is_long = long.has(code, extent);
                code.choose_one(is_long, Scalar::I64, |_| Atom::index(0), |_| iterations)
            }
            None => iterations,
        };
        let iterations = code.scalar(ScalarOperation::Maximum, iterations, Atom::index(0));
        reduce_lane(code, &scans, at.inner, (lane, lanes.shift), iterations)
    });
    let arrays = arrays_like(code, &scans, Atom::index(THREADS));
    let outputs = arrays.iter().map(|_| Output::Map).collect();
    let indices = (Atom::index(THREADS), thread);
    code.map_threads(arrays.clone(), indices, body, outputs, Some(Space::Local));
    (scans, arrays)
}

/// Reduces the elements of a row that a lane has: this many from its own number on, in steps of the
/// number of lanes.
fn reduce_lane(
    code: &mut Writer,
    scans: &[Running],
    mut inner: ArrayOperation,
    (lane, shift): (Atom, Atom),
    iterations: Atom,
) -> Vec<Atom> {
    let carries = scalars_of(code, scans, "sum");
    let iteration = code.fresh("round", Scalar::I64);
    let body = code.body(|code| {
        let distance = code.scalar(ScalarOperation::ShiftLeft, Atom::Variable(iteration), shift);
        if let Some(index) = inner.indices.first() {
            let sum = Expression::Scalar {
                operation: ScalarOperation::Add,
                operand: Scalar::I64,
                arguments: vec![lane, distance],
            };
            code.push(vec![*index], sum);
        }
        code.out.append(&mut inner.body.statements);
        let (mut before, mut values) = (carries.iter(), inner.body.results.iter());
        let mut results = Vec::new();
        for scan in scans {
            let width = scan.own.len();
            let left = before.by_ref().take(width);
            let mut operands: Vec<Atom> = left.map(|v| Atom::Variable(*v)).collect();
            operands.extend(values.by_ref().take(width).copied());
            results.extend(code.apply(&scan.lambda, &operands));
        }
        results
    });
    let pattern = scalars_of(code, scans, "sum");
    let starts = carries.into_iter().zip(neutrals(scans)).collect();
    code.loop_of_thread(
        pattern.clone(),
        (iterations, iteration),
        starts,
        body,
        Vec::new(),
    );
    pattern.into_iter().map(Atom::Variable).collect()
}

/// Combines the start values of reductions with these values.
fn start_with(code: &mut Writer, scans: &[Running], values: &[Atom]) -> Vec<Atom> {
    let mut values = values.iter().copied();
    let mut results = Vec::new();
    for scan in scans {
        let mut operands = scan.start.clone();
        operands.extend(values.by_ref().take(scan.own.len()));
        results.extend(code.apply(&scan.lambda, &operands));
    }
    results
}

/// Combines the results of some neighbouring lanes of a row.
fn some_lanes(
    code: &mut Writer,
    scans: &[Running],
    sums: &[Variable],
    lanes: &Lanes,
) -> Vec<Variable> {
    let thread = code.fresh("thread", Scalar::I64);
    let body = code.body(|code| {
        let thread = Atom::Variable(thread);
        let first = code.scalar(ScalarOperation::ShiftLeft, thread, lanes.some_shift);
        let there = code.compare(ScalarOperation::Less, first, Atom::index(THREADS));
        let count = code.choose_one(there, Scalar::I64, |_| lanes.some, |_| Atom::index(0));
        fold(code, scans, sums, (first, count), neutrals(scans))
    });
    let arrays = arrays_like(code, scans, Atom::index(THREADS));
    let outputs = arrays.iter().map(|_| Output::Map).collect();
    let indices = (Atom::index(THREADS), thread);
    code.map_threads(arrays.clone(), indices, body, outputs, Some(Space::Local));
    arrays
}

/// Computes the results of the map for the rows of a group, from the results of some lanes of each.
fn finish_rows(
    code: &mut Writer,
    map: &RowMap,
    (sums, lanes, long): (&[Variable], &Lanes, Option<&LongRows>),
    (first, length): (Atom, Atom),
    pattern: &[Variable],
) -> Vec<Atom> {
    let index = code.fresh("i", Scalar::I64);
    let body = code.body(|code| {
        let own = Atom::Variable(index);
        let row = code.scalar(ScalarOperation::Add, first, own);
        let Some(mut at) = map.at_row(code, row) else {
            return Vec::new();
        };
        let scans = reductions_of_row(code, &at);
        let begin = code.scalar(ScalarOperation::ShiftLeft, own, lanes.left_shift);
        let start = scans.iter().flat_map(|scan| scan.start.clone()).collect();
        let own_sums = |code: &mut Writer| fold(code, &scans, sums, (begin, lanes.left), start);
        let values = match long {
            None => own_sums(code),
            Some(long) => {
                let extent = at.inner.shape.first().copied().unwrap_or(Atom::index(0));
                let is_long = long.has(code, extent);
                let chosen = scalars_of(code, &scans, "sum");
                let of_long = |code: &mut Writer| {
                    let values = long.values_of(code, row);
                    start_with(code, &scans, &values)
                };
                code.choose(chosen.clone(), is_long, of_long, own_sums);
                chosen.into_iter().map(Atom::Variable).collect()
            }
        };
        for (given, value) in at.given.iter().zip(values) {
            code.push(vec![*given], Expression::Atom(value));
        }
        code.out.append(&mut at.after);
        at.results
    });
    let mut arrays = Vec::with_capacity(pattern.len());
    for whole in pattern {
        arrays.push(code.like(*whole, vec![length]));
    }
    let outputs = arrays.iter().map(|_| Output::Map).collect();
    code.map_threads(arrays.clone(), (length, index), body, outputs, None);
    let arrays = arrays.into_iter();
    arrays.flat_map(|a| [first, Atom::Variable(a)]).collect()
}
