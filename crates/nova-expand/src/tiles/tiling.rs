//! Selection of the operations that become tiles ([`super`]): maps whose elements are reductions, such as
//! products of matrices, sums of columns, and forces between all pairs. Neighbouring results must read
//! neighbouring elements, or the same ones, or elements of which rows of results share a transposed copy.

use crate::accumulators::zero;
use crate::env::Env;
use crate::facts::Origin;
use crate::limits::{STATEMENTS_OF_A_ROW, TERMS_OF_AN_ADDRESS};
use crate::nest::{Nest, is_plain_or_checked};
use crate::translator::Translator;
use crate::writer::Writer;
use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir as flat;
use nova_flat::ir::Bracketing;
use nova_flat::memory::{Polynomial, polynomial_of};
use nova_flat::operators::{Operator, by_component};
use nova_flat::visit::{self, each_statement, used_variables};
use nova_loop::ir::Expression;
use nova_machine::{PROCESSOR, figures};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of rows of results in one tile, if rows share elements.
const ROWS: u32 = figures::TILES.rows;
/// The number of rows of results from which elements that lie far from each other are copied into a panel.
const ROWS_OF_A_COPY: u32 = figures::TILES.copied_rows;
/// The number of neighbouring results from which these are computed side by side.
const FEW: u32 = figures::TILES.few;
/// The factor by which a narrow tile has fewer lanes, for results that do not fill a tile.
const NARROW: u32 = figures::TILES.narrow;

/// A map whose elements are reductions.
#[derive(Clone)]
pub(crate) struct Tiling<'a> {
    /// The map.
    pub(super) map: &'a flat::ArrayOperation,
    /// The statements of its body before the reduction.
    pub(super) before: &'a [flat::Statement],
    /// The variables of its body that differ between neighbouring results.
    pub(super) by_lane: BTreeSet<flat::Variable>,
    /// The reduction.
    pub(super) reduction: &'a flat::ArrayOperation,
    /// The results of the reduction.
    pub(super) sums: &'a [flat::Variable],
    /// The statements of its body after the reduction.
    pub(super) after: &'a [flat::Statement],
    /// The operators of each output of the reduction.
    pub(super) operators: Vec<Vec<Operator>>,
    /// The elements that all rows of a tile share. There are none if a tile has one row.
    pub(super) panels: Vec<Panel<'a>>,
    /// The number of rows of results in a tile.
    pub(super) rows: u32,
    /// The number of neighbouring results in each row of a tile.
    pub(super) lanes: u32,
    /// True if the lanes read neighbours, others at each step. Without panels, a tile has as many lanes as there
    /// is room for then, so that memory is read along its lines.
    pub(super) streams: bool,
    /// True if rows of results have reductions of different lengths.
    pub(super) irregular: bool,
    /// The approximate number of bytes of its local arrays.
    pub(crate) bytes: u32,
}

/// Elements that all rows of a tile share.
#[derive(Clone)]
pub(super) struct Panel<'a> {
    /// The statement that reads them.
    pub(super) statement: &'a flat::Statement,
    /// True if neighbouring results read elements that lie far from each other in memory, and successive steps
    /// of a reduction read neighbours: as of the second factor of a product with a transposed matrix.
    pub(super) is_transposed: bool,
}

impl Tiling<'_> {
    /// Returns the condition that the results fill a tile, and that there are enough rows of them, of the
    /// dimensions of the map.
    pub(super) fn fits(&self, extents: &[Expression]) -> Expression {
        let least = |least: u32, extent: Option<&Expression>| {
            let extent = extent.cloned().unwrap_or(zero());
            Expression::index(i64::from(least)).compare(ScalarOperation::LessEqual, extent)
        };
        let fills = least(self.lanes, extents.last());
        match self.panels.iter().any(|panel| panel.is_transposed) {
            true => fills.and(least(ROWS_OF_A_COPY, extents.iter().rev().nth(1))),
            false => fills,
        }
    }

    /// Returns the condition that a row of results, which does not fill a tile, is worth one that it fills in
    /// part.
    pub(super) fn fits_in_part(&self, extents: &[Expression]) -> Expression {
        let results = extents.last().cloned().unwrap_or(zero());
        let few = Expression::index(i64::from(self.lanes.min(FEW)));
        few.compare(ScalarOperation::LessEqual, results)
    }

    /// Returns the same tiles with fewer lanes, for results that do not fill these. There are none if
    /// elements lie in a panel, since few results do not pay for a panel, or if they differ at each step.
    pub(super) fn narrow(&self) -> Option<Self> {
        let lanes = self.lanes / NARROW;
        (self.panels.is_empty() && !self.streams && lanes > 1).then(|| Tiling {
            lanes,
            ..self.clone()
        })
    }
}

/// The change of an address with an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stride {
    Zero,
    /// The address changes by few elements.
    Near,
    /// The address changes by more elements, or by an unknown number.
    Far,
}

/// Returns the tiles of an operation, if it is such a map.
pub(crate) fn tiling_of<'a>(
    cx: &Translator<'a>,
    map: &'a flat::ArrayOperation,
    results: &[flat::Variable],
) -> Option<Tiling<'a>> {
    some_tiling_of(cx, map, results, true)
}

/// Returns the tiles of an operation that have one row and no panels, if it is such a map and neighbouring
/// results read neighbours.
pub(crate) fn tiling_without_panels<'a>(
    cx: &Translator<'a>,
    map: &'a flat::ArrayOperation,
    results: &[flat::Variable],
) -> Option<Tiling<'a>> {
    some_tiling_of(cx, map, results, false)
}

/// Returns the tiles of an operation, which have panels only if these are `wanted`.
fn some_tiling_of<'a>(
    cx: &Translator<'a>,
    map: &'a flat::ArrayOperation,
    results: &[flat::Variable],
    wanted: bool,
) -> Option<Tiling<'a>> {
    if cx.recursive {
        return None;
    }
    let Nest {
        before,
        reduction,
        results: sums,
        after,
    } = Nest::of(map)?;
    let operators = tiled_operators(cx, reduction)?;
    let by_lane = differing(map, before, reduction)?;
    if !is_plain_or_checked(&reduction.body.statements) {
        return None;
    }
    let Reads {
        panels,
        streams,
        irregular,
    } = reads_of(cx, (map, reduction), &by_lane, results)?;
    let components: usize = operators.iter().map(Vec::len).sum();
    let one = components == 1 && visit::size(&reduction.body) <= STATEMENTS_OF_A_ROW;
    // A single row shares its elements with no other.
    let rows = map.shape.iter().rev().nth(1);
    let several = rows.is_some_and(|rows| *rows != flat::Atom::index(1));
    let panels = match wanted && one && several {
        true => panels,
        false if panels.iter().any(|panel| panel.is_transposed) => return None,
        false => Vec::new(),
    };
    let width = widest(cx.source, reduction);
    let (rows, lanes) = match panels.is_empty() {
        true => {
            let bytes = match streams {
                true => cx.tiles.step_accumulators,
                false => cx.tiles.accumulators,
            };
            let lanes = bytes / (width * components as u32).max(1);
            (1, 1 << lanes.max(2).ilog2())
        }
        false => {
            let all = cx.tiles.panel_accumulators;
            let lanes = cx.tiles.panel_lanes.max(all / ROWS / width);
            (1 << (all / (lanes * width)).clamp(1, ROWS).ilog2(), lanes)
        }
    };
    let shared = match panels.len() as u32 {
        0 => 1,
        count => cx.tiles.rows + count * cx.tiles.steps,
    };
    // Elements have at most eight bytes.
    let mut bytes = 8 * lanes * (components as u32 * (rows + 1) + shared);
    if panels.is_empty() {
        bytes += bytes / NARROW;
    }
    (cx.frame + bytes <= PROCESSOR.tile_stack_bytes).then_some(Tiling {
        map,
        before,
        by_lane,
        reduction,
        sums,
        after,
        operators,
        panels,
        rows,
        lanes,
        streams,
        irregular,
        bytes,
    })
}

/// Returns the operators of a reduction in one dimension whose order is free.
fn tiled_operators(out: &Writer, reduction: &flat::ArrayOperation) -> Option<Vec<Vec<Operator>>> {
    if !reduction.carries.is_empty() || reduction.shape.len() != 1 {
        return None;
    }
    let operators = |output: &flat::Output| match output {
        flat::Output::Reduce {
            lambda,
            bracketing: Bracketing::Whole,
            ..
        } => by_component(lambda),
        flat::Output::Reduce { .. }
        | flat::Output::Map
        | flat::Output::Scan { .. }
        | flat::Output::Filter { .. }
        | flat::Output::Scatter { .. }
        | flat::Output::Histogram { .. }
        | flat::Output::Collect { .. }
        | flat::Output::Join { .. } => None,
    };
    let all: Vec<Vec<Operator>> = reduction
        .outputs
        .iter()
        .map(operators)
        .collect::<Option<_>>()?;
    let exact = all.iter().flatten().all(|operator| operator.exact);
    (exact || !out.program.strict).then_some(all)
}

/// The reads in a map of reductions.
struct Reads<'a> {
    /// The reads that rows of results share.
    panels: Vec<Panel<'a>>,
    /// True if neighbouring results read neighbours, others at each step.
    streams: bool,
    /// True if the length of the reduction is only known inside the map.
    irregular: bool,
}

/// Returns the variables of a map of reductions that differ between neighbouring results. Returns `None` if the
/// length of the reduction is one of them, or the condition of a check.
fn differing(
    map: &flat::ArrayOperation,
    before: &[flat::Statement],
    reduction: &flat::ArrayOperation,
) -> Option<BTreeSet<flat::Variable>> {
    let mut found: BTreeSet<_> = map.indices.last().copied().into_iter().collect();
    let mut same = true;
    for statement in before.iter().chain(&reduction.body.statements) {
        let mut differs = false;
        used_variables(&statement.expression, &mut |v| {
            differs |= found.contains(&v)
        });
        if differs {
            found.extend(&statement.pattern);
            same &= !matches!(statement.expression, flat::Expression::Check { .. });
        }
    }
    let is_known = |atom: &flat::Atom| match atom {
        flat::Atom::Variable(variable) => !found.contains(variable),
        flat::Atom::Constant(_) => true,
    };
    (same && reduction.shape.iter().all(is_known)).then_some(found)
}

/// Looks at the reads in a map of reductions. Returns `None` if neighbouring
/// results read neither neighbours nor elements that can be copied into a panel, if an address depends on a value
/// of the lane other than linearly, or if the map writes to memory that it reads.
fn reads_of<'a>(
    env: &Env<'a>,
    (map, reduction): (&'a flat::ArrayOperation, &'a flat::ArrayOperation),
    differing: &BTreeSet<flat::Variable>,
    results: &[flat::Variable],
) -> Option<Reads<'a>> {
    let (lane, rows) = map.indices.split_last()?;
    let step = reduction.indices.first()?;
    let mut inside = BTreeSet::new();
    each_statement(&map.body, &mut |s| inside.extend(s.pattern.iter().copied()));
    let mut of_steps: BTreeSet<flat::Variable> = BTreeSet::new();
    each_statement(&reduction.body, &mut |s| of_steps.extend(&s.pattern));
    let is_inside = |atom: &flat::Atom| match atom {
        flat::Atom::Variable(variable) => inside.contains(variable),
        flat::Atom::Constant(_) => false,
    };
    let irregular = reduction.shape.iter().any(is_inside);
    let mut written = Vec::new();
    for result in results {
        let block = env
            .source
            .variables
            .get(result.index())?
            .memory
            .as_ref()?
            .block;
        if env.facts.block(block).origin != Origin::Allocated {
            return None;
        }
        written.push(block);
    }
    let mut panels = Vec::new();
    let (mut fits, mut streams) = (true, false);
    let mut sums = BTreeMap::new();
    each_statement(&map.body, &mut |statement| {
        let flat::Expression::Index { array, indices } = &statement.expression else {
            define_sum(statement, &mut sums);
            return;
        };
        let Some((block, address)) = polynomial_address(env.source, *array, indices, &sums) else {
            fits = false;
            return;
        };
        let known = address
            .variables()
            .all(|v| v == lane || !differing.contains(v));
        let by_lane = stride(&address, *lane);
        let by_step = match address.variables().any(|v| of_steps.contains(v)) {
            true => Stride::Far,
            false => stride(&address, *step),
        };
        let row = rows.last().map(|row| stride(&address, *row));
        let is_shared = row == Some(Stride::Zero)
            && !irregular
            && !indices.iter().any(is_inside)
            && by_lane != Stride::Zero
            && by_step != Stride::Zero;
        streams |= by_lane == Stride::Near && by_step != Stride::Zero;
        let is_transposed = by_lane == Stride::Far && by_step == Stride::Near;
        fits &= known && !written.contains(&block);
        fits &= by_lane != Stride::Far || is_shared && is_transposed;
        if is_shared {
            panels.push(Panel {
                statement,
                is_transposed,
            });
        }
    });
    fits.then_some(Reads {
        panels,
        streams,
        irregular,
    })
}

/// Returns the block and the address of an element.
pub(crate) fn polynomial_address(
    source: &flat::Program,
    array: flat::Variable,
    indices: &[flat::Atom],
    sums: &Sums,
) -> Option<(flat::Variable, Polynomial)> {
    let memory = source.variables.get(array.index())?.memory.as_ref()?;
    let indices: Option<Vec<_>> = indices.iter().map(|a| polynomial(*a, sums)).collect();
    Some((memory.block, memory.lmad.address(&indices?)))
}

/// Returns the bytes of the widest value that a reduction accumulates.
fn widest(source: &flat::Program, reduction: &flat::ArrayOperation) -> u32 {
    let mut widest = 1;
    for output in &reduction.outputs {
        if let flat::Output::Reduce { start, .. } = output {
            let scalars = start.iter().filter_map(|s| source.scalar_of(*s));
            let bytes = scalars.map(|scalar: Scalar| scalar.bits().max(8) / 8);
            widest = bytes.fold(widest, u32::max);
        }
    }
    widest
}

/// The indices that the body computes, as polynomials.
pub(crate) type Sums = BTreeMap<flat::Variable, Polynomial>;

/// Returns an index as a polynomial of values that the body does not compute, if it is one.
fn polynomial(atom: flat::Atom, sums: &Sums) -> Option<Polynomial> {
    match atom {
        flat::Atom::Variable(variable) if sums.contains_key(&variable) => {
            sums.get(&variable).cloned()
        }
        atom => polynomial_of(atom),
    }
}

/// Records the value of a statement that computes a sum or product of indices.
pub(crate) fn define_sum(statement: &flat::Statement, sums: &mut Sums) {
    let flat::Expression::Scalar {
        operation,
        operand: Scalar::I64,
        arguments,
    } = &statement.expression
    else {
        return;
    };
    let ([variable], [left, right]) = (&statement.pattern[..], &arguments[..]) else {
        return;
    };
    let (Some(left), Some(right)) = (polynomial(*left, sums), polynomial(*right, sums)) else {
        return;
    };
    let sum = match operation {
        ScalarOperation::Add => left.plus(&right),
        ScalarOperation::Subtract => left.minus(&right),
        ScalarOperation::Multiply => left.times(&right),
        _ => return,
    };
    if sum.terms() <= TERMS_OF_AN_ADDRESS {
        sums.insert(*variable, sum);
    }
}

/// Returns the change of an address with an index.
pub(crate) fn stride(address: &Polynomial, index: flat::Variable) -> Stride {
    let mut found = Stride::Zero;
    for (product, coefficient) in address.products() {
        if !product.contains(&index) {
            continue;
        }
        let near = product.len() == 1
            && coefficient.unsigned_abs() <= PROCESSOR.neighbour_stride().unsigned_abs();
        found = match near {
            true if found == Stride::Zero => Stride::Near,
            _ => Stride::Far,
        };
    }
    found
}
