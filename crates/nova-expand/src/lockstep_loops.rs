//! Maps that are taken in lockstep: the loops around their elements.
//!
//! A map has one version whose loop the pass `lockstep` of nova-loop-opt rewrites, and where this version does
//! not always gain a second one in order. Conditions choose between them, or each has a part of the elements.

use crate::lockstep::Lockstep;
use crate::loops::wrap;
use crate::output::Output;
use crate::outputs::{consume_all, finish_output, start_outputs};
use crate::source::name_of;
use crate::space::{Rows, Space};
use crate::translator::Translator;
use crate::writer::{INDEX, Nesting, Result};
use nova_core::ScalarOperation;
use nova_diag::Place;
use nova_flat::ir as flat;
use nova_loop::error::internal;
use nova_loop::ir::{Command, Expression, Level, Variable};

/// Translates an operation whose elements are taken in lockstep where the conditions hold.
pub(crate) fn operation_in_lockstep<'a>(
    cx: &mut Translator<'a>,
    operation: &'a flat::ArrayOperation,
    lockstep: &Lockstep,
    pattern: &'a [flat::Variable],
    place: &Place,
) -> Result<()> {
    let extents = cx.simple_values(&operation.shape)?;
    let (Some((inner, outer)), Some((index, outer_indices))) =
        (extents.split_last(), operation.indices.split_last())
    else {
        return Err(internal("an operation without dimensions"));
    };
    let condition = condition_of(cx, lockstep)?;
    let variables = cx.bind_indices(outer_indices)?;
    let space = Space::unordered(&extents, Rows::None, place);
    let outputs = start_outputs(cx, operation, pattern, &space)?;
    cx.flush_loads()?;
    cx.loops += 1;
    let mut map = Map {
        operation,
        index: *index,
        variables: &variables,
        outputs: &outputs,
        space,
    };
    let (code, ()) = cx.nested(|cx| {
        if lockstep.fills_lanes {
            return map.by_parts(cx, inner);
        }
        let (then, ()) = cx.nested(|cx| map.in_lockstep(cx, inner))?;
        let Some(condition) = condition else {
            then.into_iter().for_each(|command| cx.emit(command));
            return Ok(());
        };
        let none = Expression::index(0);
        let (otherwise, ()) = cx.nested(|cx| map.version(cx, Level::Sequential, inner, &none))?;
        cx.emit(Command::If {
            condition,
            then,
            otherwise,
        });
        Ok(())
    })?;
    cx.loops -= 1;
    wrap(cx, outer, &variables, code, place);
    for output in outputs {
        finish_output(cx, output, place)?;
    }
    Ok(())
}

/// Returns the condition that extents are within their limits, if there are any.
fn condition_of(cx: &mut Translator<'_>, lockstep: &Lockstep) -> Result<Option<Expression>> {
    let mut condition = None;
    for (extent, most) in &lockstep.limits {
        let extent = cx.simple(*extent)?;
        let few = extent.compare(ScalarOperation::LessEqual, Expression::index(*most));
        condition = Some(match condition {
            None => few,
            Some(all) => Expression::and(all, few),
        });
    }
    Ok(condition)
}

/// A map, whose body is translated once for each version.
struct Map<'m, 'a> {
    operation: &'a flat::ArrayOperation,
    /// The innermost index, and the variables of the others.
    index: flat::Variable,
    variables: &'m [Variable],
    outputs: &'m [Output<'a>],
    space: Space,
}

impl<'a> Map<'_, 'a> {
    /// Writes the loop that is taken in lockstep.
    fn in_lockstep(&mut self, cx: &mut Translator<'a>, count: &Expression) -> Result<()> {
        cx.lockstep = true;
        let made = self.version(cx, Level::Independent, count, &Expression::index(0));
        cx.lockstep = false;
        made
    }

    /// Writes both versions: elements that fill the lanes are taken in lockstep, and the others in order.
    fn by_parts(&mut self, cx: &mut Translator<'a>, count: &Expression) -> Result<()> {
        let lanes = Expression::index(-i64::from(cx.tiles.lanes));
        // The checker of races need not know that the last chunk of a grid has elements.
        let some = count
            .clone()
            .compare(ScalarOperation::Maximum, Expression::index(0));
        let whole = some.compare(ScalarOperation::BitAnd, lanes);
        let whole = cx.simplify(whole, "whole", INDEX);
        self.in_lockstep(cx, &whole)?;
        let rest = count.clone().minus(whole.clone());
        self.version(cx, Level::Sequential, &rest, &whole)
    }

    /// Writes a loop over `count` elements from `first` on.
    fn version(
        &mut self,
        cx: &mut Translator<'a>,
        level: Level,
        count: &Expression,
        first: &Expression,
    ) -> Result<()> {
        let name = name_of(cx.source, self.index);
        let variable = cx.add_variable(name.clone(), INDEX);
        let (body, ()) = cx.nested(|cx| {
            let index = first.clone().plus(Expression::Variable(variable));
            let index = cx.simplify(index, &name, INDEX);
            cx.bind_simple(self.index, index.clone())?;
            let outer = self.variables.iter().map(|v| Expression::Variable(*v));
            self.space.indices = outer.chain([index]).collect();
            cx.body(&self.operation.body, |cx, results| {
                consume_all(cx, self.operation, self.outputs, results, &self.space)
            })?;
            Ok(())
        })?;
        cx.emit(Command::For {
            variable,
            count: count.clone(),
            level,
            body,
            place: self.space.place.clone(),
        });
        Ok(())
    }
}
