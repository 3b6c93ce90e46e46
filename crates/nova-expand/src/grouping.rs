//! Maps whose elements are reductions over rows of varying length, and what their expansions in groups
//! ([`crate::groups`]) and in strips ([`crate::row_strips`]) share.

use crate::accumulators::at;
use crate::env::Env;
use crate::fixed_blocks::tree_reduce;
use crate::loops::each;
use crate::nest::Nest;
use crate::operators::bind_reduced;
use crate::output::Output;
use crate::outputs::consume_all;
use crate::source::{name_of, scalar_type};
use crate::space::{LaneSchedule, Rows, Space, split};
use crate::translator::Translator;
use crate::writer::{INDEX, Result, Writer};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::Place;
use nova_flat::ir as flat;
use nova_loop::error::internal;
use nova_loop::ir::{Combined, Command, Expression, Level, PARTIAL_LANES, Type, Variable};

/// A map of reductions over rows.
pub(crate) struct Grouping<'a> {
    pub(crate) map: &'a flat::ArrayOperation,
    pub(crate) nest: Nest<'a>,
    pub(crate) method: GroupMethod<'a>,
    /// The operation of all reductions.
    pub(crate) operation: ScalarOperation,
    /// The index of the map.
    pub(crate) index: flat::Variable,
    /// The index of the reduction.
    pub(crate) inner: flat::Variable,
    /// The number of elements of a row.
    pub(crate) length: flat::Atom,
}

/// The way in which the elements of the rows of a group are computed.
pub(crate) enum GroupMethod<'a> {
    /// Row by row, in fixed-size blocks.
    Rows(LaneSchedule),
    /// In strips of adjacent rows ([`crate::row_strips`]).
    Strips(StripFacts<'a>),
}

/// Facts about reductions over rows that may be adjacent.
pub(crate) struct StripFacts<'a> {
    /// The index of a row's first element, which is added to the index of the reduction.
    pub(crate) from: flat::Variable,
    /// The statements that compute the conditions of the checks.
    pub(crate) needed: Vec<&'a flat::Statement>,
    /// The conditions.
    pub(crate) conditions: Vec<flat::Atom>,
}

/// The type of conditions.
pub(crate) const BOOL: Type = Type::Scalar(Scalar::Bool);

/// A full strip whose rows are adjacent.
pub(crate) struct Strip<'s, 'a> {
    pub(crate) grouping: &'s Grouping<'a>,
    pub(crate) facts: &'s StripFacts<'a>,
    /// Its first row.
    pub(crate) begin: &'s Expression,
    /// The index of its first element.
    pub(crate) origin: Expression,
    /// The number of its elements.
    pub(crate) total: Expression,
    /// The elements of each component of each reduction.
    pub(crate) buffers: Vec<Vec<Variable>>,
    /// The variable that becomes true if a check fails.
    pub(crate) fails: Variable,
    pub(crate) place: &'s Place,
}

/// Computes the results of `count` rows from `first` on, one after the other.
pub(crate) fn rows_alone<'a>(
    cx: &mut Translator<'a>,
    grouping: &Grouping<'a>,
    outputs: &[Output<'a>],
    (first, count): (&Expression, Expression),
    place: &Place,
) -> Result<()> {
    each(cx, "k", count, place, |cx, k| {
        let space = bind_group_row(cx, grouping, first, k, place)?;
        cx.body(&grouping.map.body, |cx, results| {
            consume_all(cx, grouping.map, outputs, results, &space)
        })?;
        Ok(())
    })
}

/// Combines the partial results of a group to one value for each row. The loop that computes the
/// partial results must come immediately before.
pub(crate) fn combine_group(out: &mut Writer, grouping: &Grouping<'_>, partials: &[Vec<Variable>]) {
    if let Some(Command::For { level, .. }) = out.commands.last_mut() {
        *level = Level::Unrolled;
    }
    for arrays in partials {
        tree_reduce(out, arrays, grouping.operation, Combined::Rows);
    }
}

/// Declares local arrays for each component of each reduction.
pub(crate) fn component_buffers(
    env: &mut Env<'_>,
    name: &str,
    grouping: &Grouping<'_>,
    count: u32,
) -> Result<Vec<Vec<Variable>>> {
    let mut buffers = Vec::with_capacity(grouping.nest.reduction.outputs.len());
    for output in &grouping.nest.reduction.outputs {
        let scalars = start_scalars(env.source, output)?;
        buffers.push(env.buffers(name, &scalars, count));
    }
    Ok(buffers)
}

/// Returns the types of a reduction's components.
pub(crate) fn start_scalars(source: &flat::Program, output: &flat::Output) -> Result<Vec<Scalar>> {
    let flat::Output::Reduce { start, .. } = output else {
        return Err(internal("rows of what is no reduction"));
    };
    start
        .iter()
        .map(|atom| scalar_type(source, *atom))
        .collect()
}

/// Computes what follows the reductions, for all rows of a group.
pub(crate) fn results_of_rows<'a>(
    cx: &mut Translator<'a>,
    grouping: &Grouping<'a>,
    partials: &[Vec<Variable>],
    outputs: &[Output<'a>],
    first: &Expression,
    place: &Place,
) -> Result<()> {
    let nest = &grouping.nest;
    let size = Expression::index(i64::from(PARTIAL_LANES));
    each(cx, "k", size, place, |cx, k| {
        let space = bind_group_row(cx, grouping, first, k.clone(), place)?;
        cx.scope(|cx| {
            cx.statements(nest.before)?;
            let mut rest = nest.results;
            for (output, partials) in nest.reduction.outputs.iter().zip(partials) {
                let (pattern, others) = split(rest, output.gives())?;
                rest = others;
                let values = partials
                    .iter()
                    .map(|partial| at(*partial, k.clone()))
                    .collect();
                bind_reduced(cx, output, pattern, values)?;
            }
            cx.statements(nest.after)?;
            let results = &grouping.map.body.results;
            consume_all(cx, grouping.map, outputs, results, &space)
        })
    })
}

/// Binds the index of the map to that of row `k` of a group.
pub(crate) fn bind_group_row(
    env: &mut Env<'_>,
    grouping: &Grouping<'_>,
    first: &Expression,
    k: Expression,
    place: &Place,
) -> Result<Space> {
    let index = first.clone().plus(k);
    let name = name_of(env.source, grouping.index);
    let index = Expression::Variable(env.declare(name, INDEX, index));
    env.bind_simple(grouping.index, index.clone())?;
    let mut space = Space::unordered(&[], Rows::None, place);
    space.indices = vec![index.clone()];
    space.number = index;
    Ok(space)
}
