//! Selection of the maps that are contractions ([`super`]).

use super::symmetry;
use crate::accumulators::zero;
use crate::facts::Origin;
use crate::nest::{Nest, is_plain};
use crate::tiles::tiling::{Stride, Sums, define_sum, polynomial_address, stride};
use crate::translator::Translator;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_flat::ir as flat;
use nova_flat::ir::Bracketing;
use nova_flat::operators::by_component;
use nova_flat::visit::{each_statement, used_variables};
use nova_loop::ir::{Expression, PANEL_ROWS, panel_lanes};
use nova_machine::{PROCESSOR, figures};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of left factors that are kept for the loops around.
const SHARED_FACTORS: i64 = figures::TILES.shared_factors;

/// A map whose elements are sums of products.
pub(crate) struct Contraction<'a> {
    pub(super) map: &'a flat::ArrayOperation,
    /// The statements of its body before and after the sum.
    pub(super) before: &'a [flat::Statement],
    pub(super) after: &'a [flat::Statement],
    /// The output of the outermost reduction, and what it binds.
    pub(super) output: &'a flat::Output,
    pub(super) sums: &'a [flat::Variable],
    /// The indices and extents of the nested reductions, from outside to inside.
    pub(super) steps: Vec<(flat::Variable, flat::Atom)>,
    /// The factor that does not depend on the column, and the one that does not depend on the row.
    pub(super) left: Factor<'a>,
    pub(super) right: Factor<'a>,
    /// The dimensions of the map that are rows and columns. The others are loops around.
    pub(super) row: usize,
    pub(super) lane: usize,
    /// The type of the sums.
    pub(super) element: Scalar,
    /// True if the left factor depends on an index of the loops around.
    left_varies: bool,
    /// True if the result is a symmetric matrix, of which a half need not be computed.
    pub(super) is_symmetric: bool,
}

/// One of the two factors.
pub(super) struct Factor<'a> {
    pub(super) value: flat::Atom,
    /// The statements that compute it.
    pub(super) statements: Vec<&'a flat::Statement>,
    /// True if it reads neighbours at successive steps, and does not at neighbouring rows or columns.
    pub(super) steps_are_near: bool,
}

impl Contraction<'_> {
    /// Returns the condition that panels are worth their making, of the extents of the map and the number of
    /// steps.
    pub(super) fn fits(&self, extents: &[Expression], steps: &Expression) -> Expression {
        let least = |least: i64, extent: Option<&Expression>| {
            let extent = extent.cloned().unwrap_or(zero());
            Expression::index(least).compare(ScalarOperation::LessEqual, extent)
        };
        let fits = least(i64::from(panel_lanes(self.element)), extents.get(self.lane))
            .and(least(i64::from(PANEL_ROWS), extents.get(self.row)))
            .and(least(PROCESSOR.contracted_steps, Some(steps)));
        if !self.shares_left() {
            return fits;
        }
        // All left factors must have room. There are rows, so that the division is defined.
        let rows = extents.get(self.row).cloned().unwrap_or(zero());
        let room = Expression::index(SHARED_FACTORS).compare(ScalarOperation::Divide, rows);
        fits.and(steps.clone().compare(ScalarOperation::LessEqual, room))
    }

    /// True if the loops around share the left factors.
    pub(super) fn shares_left(&self) -> bool {
        self.map.indices.len() > 2 && !self.left_varies
    }
}

/// The indices of the map and of the reductions that each value depends on.
type Dependences = BTreeMap<flat::Variable, BTreeSet<flat::Variable>>;

/// Returns the contraction that an operation is, if it is one.
pub(crate) fn contraction_of<'a>(
    cx: &Translator<'a>,
    map: &'a flat::ArrayOperation,
    results: &[flat::Variable],
) -> Option<Contraction<'a>> {
    if cx.recursive || cx.program.strict || map.indices.len() < 2 {
        return None;
    }
    let nest = Nest::of(map)?;
    let sum = Sum::of(nest.reduction)?;
    let mut inside = BTreeSet::new();
    each_statement(&map.body, &mut |s| inside.extend(s.pattern.iter().copied()));
    let is_inside =
        |atom: &flat::Atom| matches!(atom, flat::Atom::Variable(v) if inside.contains(v));
    if sum.steps.iter().any(|(_, extent)| is_inside(extent)) || !reads_elsewhere(cx, map, results) {
        return None;
    }
    let statements: Vec<&flat::Statement> = nest
        .before
        .iter()
        .chain(sum.statements.iter().copied())
        .collect();
    let dependences = dependences(map, &sum.steps, &statements);
    let depends = |atom: flat::Atom, index: flat::Variable| match atom {
        flat::Atom::Variable(variable) => dependences
            .get(&variable)
            .is_some_and(|found| found.contains(&index)),
        flat::Atom::Constant(_) => false,
    };
    let (lane, others) = map.indices.split_last()?;
    let (left, right) = match sum.factors.map(|factor| depends(factor, *lane)) {
        [false, true] => (sum.factors[0], sum.factors[1]),
        [true, false] => (sum.factors[1], sum.factors[0]),
        _ => return None,
    };
    let is_row = |index: &flat::Variable| depends(left, *index) && !depends(right, *index);
    let row = others.iter().rposition(is_row)?;
    let around = |index: &&flat::Variable| **index != map.indices[row];
    let left_varies = others
        .iter()
        .filter(around)
        .any(|index| depends(left, *index));
    let factor = |value: flat::Atom, index: flat::Variable| {
        Factor {
            value,
            statements: slice(value, &statements),
            steps_are_near: false,
        }
        .in_order(cx, index, &sum)
    };
    let is_symmetric =
        cx.grids == 0 && symmetry::is_symmetric(map, &nest, &statements, [left, right]);

    Some(Contraction {
        map,
        is_symmetric,
        before: nest.before,
        after: nest.after,
        output: nest.reduction.outputs.first()?,
        sums: nest.results,
        left: factor(left, map.indices[row]),
        right: factor(right, *lane),
        row,
        lane: others.len(),
        element: sum.element,
        left_varies,
        steps: sum.steps,
    })
}

/// Nested sums of products.
struct Sum<'a> {
    steps: Vec<(flat::Variable, flat::Atom)>,
    /// The statements of all levels, without the reductions.
    statements: Vec<&'a flat::Statement>,
    factors: [flat::Atom; 2],
    element: Scalar,
}

impl<'a> Sum<'a> {
    /// Returns the sums that a reduction is, if it is some: of floats, in any order.
    fn of(reduction: &'a flat::ArrayOperation) -> Option<Self> {
        let element = summed(reduction)?;
        let ([index], [extent]) = (&reduction.indices[..], &reduction.shape[..]) else {
            return None;
        };
        let body = &reduction.body;
        let [flat::Atom::Variable(result)] = body.results[..] else {
            return None;
        };
        let (last, others) = body.statements.split_last()?;
        if !is_plain(others) || last.pattern[..] != [result] {
            return None;
        }
        match &last.expression {
            flat::Expression::Operation(inner) => {
                let mut sum = Sum::of(inner)?;
                // The start of an inner sum must add nothing.
                let Some(flat::Output::Reduce { start, .. }) = inner.outputs.first() else {
                    return None;
                };
                let is_zero = match start[..] {
                    [flat::Atom::Constant(ScalarValue::F32(value))] => value == 0.0,
                    [flat::Atom::Constant(ScalarValue::F64(value))] => value == 0.0,
                    _ => false,
                };
                sum.steps.insert(0, (*index, *extent));
                sum.statements.splice(0..0, others);
                (is_zero && sum.element == element).then_some(sum)
            }
            flat::Expression::Scalar {
                operation: ScalarOperation::Multiply,
                operand,
                arguments,
            } if *operand == element => {
                let [left, right] = arguments[..] else {
                    return None;
                };
                Some(Sum {
                    steps: vec![(*index, *extent)],
                    statements: others.iter().collect(),
                    factors: [left, right],
                    element,
                })
            }
            _ => None,
        }
    }
}

/// Returns the type of the floats that a reduction only adds up, in any order.
fn summed(reduction: &flat::ArrayOperation) -> Option<Scalar> {
    let [
        flat::Output::Reduce {
            lambda,
            bracketing: Bracketing::Whole,
            ..
        },
    ] = &reduction.outputs[..]
    else {
        return None;
    };
    if !reduction.carries.is_empty() {
        return None;
    }
    match by_component(lambda)?[..] {
        [operator] if operator.identity.same(ScalarValue::F32(-0.0)) => Some(Scalar::F32),
        [operator] if operator.identity.same(ScalarValue::F64(-0.0)) => Some(Scalar::F64),
        _ => None,
    }
}

/// True if a map writes new memory, and none that it reads.
fn reads_elsewhere(
    cx: &Translator<'_>,
    map: &flat::ArrayOperation,
    results: &[flat::Variable],
) -> bool {
    let block = |array: &flat::Variable| {
        let info = cx.source.variables.get(array.index())?;
        Some(info.memory.as_ref()?.block)
    };
    let mut written = Vec::new();
    for result in results {
        match block(result) {
            Some(block) if cx.facts.block(block).origin == Origin::Allocated => written.push(block),
            _ => return false,
        }
    }
    let mut apart = true;
    each_statement(&map.body, &mut |statement| match &statement.expression {
        flat::Expression::Index { array, .. } => {
            apart &= block(array).is_some_and(|block| !written.contains(&block));
        }
        flat::Expression::View { .. } => apart = false,
        _others => {}
    });
    apart
}

/// Returns what the values of statements depend on.
fn dependences(
    map: &flat::ArrayOperation,
    steps: &[(flat::Variable, flat::Atom)],
    statements: &[&flat::Statement],
) -> Dependences {
    let steps = steps.iter().map(|(index, _)| index);
    let indices = map.indices.iter().chain(steps);
    let mut found: Dependences = indices.map(|i| (*i, BTreeSet::from([*i]))).collect();
    for statement in statements {
        let mut all = BTreeSet::new();
        used_variables(&statement.expression, &mut |variable| {
            all.extend(found.get(&variable).into_iter().flatten().copied());
        });
        for variable in &statement.pattern {
            found.insert(*variable, all.clone());
        }
    }
    found
}

/// Returns the statements that compute a value.
fn slice<'a>(value: flat::Atom, statements: &[&'a flat::Statement]) -> Vec<&'a flat::Statement> {
    let mut needed = BTreeSet::new();
    if let flat::Atom::Variable(variable) = value {
        needed.insert(variable);
    }
    let mut found = Vec::new();
    for statement in statements.iter().rev() {
        if statement.pattern.iter().any(|v| needed.contains(v)) {
            used_variables(&statement.expression, &mut |variable| {
                needed.insert(variable);
            });
            found.push(*statement);
        }
    }
    found.reverse();
    found
}

impl Factor<'_> {
    /// Decides in which order the factor is computed: along memory.
    fn in_order(self, cx: &Translator<'_>, index: flat::Variable, sum: &Sum<'_>) -> Self {
        let Some((step, _)) = sum.steps.last() else {
            return self;
        };
        let mut sums = Sums::new();
        let (mut by_index, mut by_step) = (false, false);
        for statement in &self.statements {
            let flat::Expression::Index { array, indices } = &statement.expression else {
                define_sum(statement, &mut sums);
                continue;
            };
            let address = polynomial_address(cx.source, *array, indices, &sums);
            let near = |index| {
                let address = address.as_ref().map(|(_, address)| address);
                address.is_some_and(|address| stride(address, index) == Stride::Near)
            };
            by_index |= near(index);
            by_step |= near(*step);
        }
        Factor {
            steps_are_near: by_step && !by_index,
            ..self
        }
    }
}
