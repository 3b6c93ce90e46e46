//! Maps whose elements are reductions over rows of varying length, [`PARTIAL_LANES`] rows at a time. The
//! elements of each row, if they are few ([`super::fixed_blocks`]), are combined down to [`PARTIAL_LANES`] of them; then
//! all rows together, which vector instructions do with one transposition instead of many sums
//! across lanes; then what follows the reductions is computed for all rows in one loop. Rows at the
//! end, and groups with a long row, go the way of all reductions, which gives the same values.

use super::joined::Joined;
use super::lanes::RowLoops;
use super::nest::Nest;
use super::operation::{Few, Filling, Rows, Space, split};
use super::outputs::Output;
use super::reduction::{Kind, Reduction, at, zero};
use super::tiles::groups_of;
use super::{INDEX, Result, Translator};
use crate::error::internal;
use crate::ir::{Combined, Command, Expression, FIXED_BLOCK, Level, PARTIAL_LANES, Type, Variable};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::Place;
use nova_flat::ir as flat;
use nova_flat::operators::by_component;

/// A map of reductions over rows.
pub(super) struct Grouping<'a> {
    pub(super) map: &'a flat::ArrayOperation,
    pub(super) nest: Nest<'a>,
    how: How<'a>,
    /// What combines the elements of all reductions.
    pub(super) operation: ScalarOperation,
    /// The index of the map, of the reduction.
    index: flat::Variable,
    pub(super) inner: flat::Variable,
    /// The number of elements a row has.
    pub(super) length: flat::Atom,
}

/// How the elements of the rows of a group are computed.
enum How<'a> {
    /// Row by row, with what fills the array of few elements.
    Rows(Filling),
    /// All together ([`super::joined`]).
    Joined(Joined<'a>),
}

impl<'a> Translator<'a> {
    /// The map of reductions over rows that an operation is, if it is one.
    pub(super) fn grouping(&mut self, map: &'a flat::ArrayOperation) -> Option<Grouping<'a>> {
        let nest = Nest::of(map)?;
        let ([index], [inner]) = (&map.indices[..], &nest.reduction.indices[..]) else {
            return None;
        };
        let [flat::Atom::Variable(length)] = nest.reduction.shape[..] else {
            return None;
        };
        let varies = nest.before.iter().any(|s| s.pattern.contains(&length));
        self.loops += 1;
        let filling = self.fills_rows(nest.reduction);
        self.loops -= 1;
        let filling = filling?;
        let (how, operation) = match filling.few {
            Few::Vectors(operation) => (How::Rows(filling), operation),
            Few::Fold => {
                let operation = self.operation_of_all(nest.reduction)?;
                (How::Joined(self.joined(map, &nest, *inner)?), operation)
            }
            Few::AsMany => return None,
        };
        (varies && !self.recursive).then_some(Grouping {
            map,
            how,
            operation,
            index: *index,
            inner: *inner,
            length: flat::Atom::Variable(length),
            nest,
        })
    }

    /// Translates a map of reductions over rows, in groups; says whether that could be done.
    pub(super) fn operation_in_groups(
        &mut self,
        grouping: &Grouping<'a>,
        pattern: &'a [flat::Variable],
        place: &Place,
    ) -> Result<bool> {
        let filling = match &grouping.how {
            How::Rows(filling) => *filling,
            How::Joined(joined) => {
                self.operation_in_strips(grouping, joined, pattern, place)?;
                return Ok(true);
            }
        };
        self.flush_loads()?;
        let begin = self.add_variable("begin", INDEX);
        let first = Expression::Variable(begin);
        let longest = self.add_variable("longest", INDEX);
        self.loops += 1;
        let rows = (&first, &Expression::Variable(longest));
        let (mut together, parts) =
            self.nested(|this| this.parts_of_rows(grouping, filling, rows, place))?;
        self.loops -= 1;
        let Some(parts) = parts else {
            return Ok(false);
        };
        let map = grouping.map;
        let extents = self.simple_values(&map.shape)?;
        let extent = extents.first().cloned().unwrap_or(zero());
        let outputs =
            self.start_outputs(map, pattern, &Space::unordered(&extents, Rows::None, place))?;
        self.flush_loads()?;
        self.loops += 1;
        let size = Expression::index(i64::from(PARTIAL_LANES));
        let count = groups_of(extent.clone(), i64::from(PARTIAL_LANES));
        self.each("group", count, place, |this, number| {
            this.emit(Command::Declare {
                variable: begin,
                value: Some(number.times(size.clone())),
            });
            let full = this.longest_row(grouping, (&first, longest), &extent, place)?;
            let (code, ()) = this
                .nested(|this| this.results_of_rows(grouping, &parts, &outputs, &first, place))?;
            together.extend(code);
            let left = extent.clone().minus(first.clone());
            let count = left.compare(ScalarOperation::Minimum, size);
            let (alone, ()) =
                this.nested(|this| this.rows_alone(grouping, &outputs, (&first, count), place))?;
            let few = Expression::index(i64::from(FIXED_BLOCK));
            let short = Expression::Variable(longest).compare(ScalarOperation::LessEqual, few);
            this.emit(Command::If {
                condition: Expression::Variable(full).and(short),
                then: together,
                otherwise: alone,
            });
            Ok(())
        })?;
        self.loops -= 1;
        Ok(true)
    }

    /// The results of `count` rows from `first` on, one after the other.
    pub(super) fn rows_alone(
        &mut self,
        grouping: &Grouping<'a>,
        outputs: &[Output<'a>],
        (first, count): (&Expression, Expression),
        place: &Place,
    ) -> Result<()> {
        self.each("k", count, place, |this, k| {
            let space = this.bind_group_row(grouping, first, k, place)?;
            this.body(&grouping.map.body, |this, results| {
                this.consume_all(grouping.map, outputs, results, &space)
            })?;
            Ok(())
        })
    }

    /// How many elements the longest row of a group has; too many where the group is not full. Gives
    /// whether it is, which says that the rows taken together are there.
    fn longest_row(
        &mut self,
        grouping: &Grouping<'a>,
        (first, longest): (&Expression, Variable),
        extent: &Expression,
        place: &Place,
    ) -> Result<Variable> {
        self.emit(Command::Declare {
            variable: longest,
            value: Some(Expression::index(i64::from(FIXED_BLOCK) + 1)),
        });
        let size = Expression::index(i64::from(PARTIAL_LANES));
        let end = first.clone().plus(size.clone());
        let is_full = end.compare(ScalarOperation::LessEqual, extent.clone());
        let full = self.add_variable("full", Type::Scalar(Scalar::Bool));
        self.emit(Command::Declare {
            variable: full,
            value: Some(is_full),
        });
        self.when(Expression::Variable(full), |this| {
            this.assign(longest, zero());
            this.each("k", size, place, |this, k| {
                this.bind_group_row(grouping, first, k, place)?;
                this.scope(|this| {
                    this.statements(grouping.nest.before)?;
                    let length = this.scalar(grouping.length)?;
                    let longer = Expression::Variable(longest);
                    let longer = longer.compare(ScalarOperation::Maximum, length);
                    this.assign(longest, longer);
                    Ok(())
                })
            })
        })?;
        Ok(full)
    }

    /// The elements of the rows from `first` on, the longest of which has so many, combined to one for
    /// each row: the local arrays that have them, for each component of each reduction. `None` if the
    /// elements do not allow it. Where all rows are empty there is nothing to combine.
    fn parts_of_rows(
        &mut self,
        grouping: &Grouping<'a>,
        filling: Filling,
        (first, longest): (&Expression, &Expression),
        place: &Place,
    ) -> Result<Option<Vec<Vec<Variable>>>> {
        let parts = self.component_buffers("parts", grouping, FIXED_BLOCK)?;
        let size = Expression::index(i64::from(PARTIAL_LANES));
        let (otherwise, done) = self.nested(|this| {
            let mut done = true;
            this.each("k", size.clone(), place, |this, k| {
                this.bind_group_row(grouping, first, k.clone(), place)?;
                this.scope(|this| {
                    this.statements(grouping.nest.before)?;
                    let to = k.times(size.clone());
                    done = this.part_of_row(grouping, filling, &parts, to, place)?;
                    Ok(())
                })
            })?;
            this.combine_group(grouping, &parts);
            Ok(done)
        })?;
        let (then, ()) = self.nested(|this| {
            this.each("k", size, place, |this, k| {
                this.parts_of_no_elements(grouping, &parts, &k)
            })
        })?;
        self.emit(Command::If {
            condition: longest.clone().compare(ScalarOperation::Equal, zero()),
            then,
            otherwise,
        });
        Ok(done.then_some(parts))
    }

    /// Writes what the elements of an empty row combine to, as row `k` of a group.
    fn parts_of_no_elements(
        &mut self,
        grouping: &Grouping<'a>,
        parts: &[Vec<Variable>],
        k: &Expression,
    ) -> Result<()> {
        for (output, parts) in grouping.nest.reduction.outputs.iter().zip(parts) {
            let flat::Output::Reduce { lambda, .. } = output else {
                return Err(internal("rows of what is no reduction"));
            };
            let operators = by_component(lambda).unwrap_or_default();
            for (operator, part) in operators.iter().zip(parts) {
                self.set_element(*part, k.clone(), Expression::Constant(operator.identity));
            }
        }
        Ok(())
    }

    /// After the loop that makes the parts of a group: combines them to one value for each row.
    pub(super) fn combine_group(&mut self, grouping: &Grouping<'a>, parts: &[Vec<Variable>]) {
        if let Some(Command::For { level, .. }) = self.code.last_mut() {
            *level = Level::WrittenOut;
        }
        for arrays in parts {
            self.tree_reduce(arrays, grouping.operation, Combined::Rows);
        }
    }

    /// Local arrays for each component of each reduction.
    pub(super) fn component_buffers(
        &mut self,
        name: &str,
        grouping: &Grouping<'a>,
        count: u32,
    ) -> Result<Vec<Vec<Variable>>> {
        let mut buffers = Vec::with_capacity(grouping.nest.reduction.outputs.len());
        for output in &grouping.nest.reduction.outputs {
            let scalars = self.start_scalars(output)?;
            buffers.push(self.buffers(name, &scalars, count));
        }
        Ok(buffers)
    }

    /// The types of a reduction's components.
    fn start_scalars(&self, output: &flat::Output) -> Result<Vec<Scalar>> {
        let flat::Output::Reduce { start, .. } = output else {
            return Err(internal("rows of what is no reduction"));
        };
        start.iter().map(|atom| self.scalar_type(*atom)).collect()
    }

    /// The elements of one row combined to a part, from element `to` on of the parts.
    fn part_of_row(
        &mut self,
        grouping: &Grouping<'a>,
        filling: Filling,
        parts: &[Vec<Variable>],
        to: Expression,
        place: &Place,
    ) -> Result<bool> {
        let reduction = grouping.nest.reduction;
        let length = self.simple(grouping.length)?;
        let space = Space::unordered(std::slice::from_ref(&length), Rows::Of(filling), place);
        let mut rows = RowLoops {
            operation: reduction,
            width: 0,
            outputs: self.plain_reductions(&grouping.nest)?,
            index: grouping.inner,
            outer: Vec::new(),
            space,
        };
        if !self.fill_block(&mut rows, &length, grouping.operation)? {
            return Ok(false);
        }
        for (output, parts) in rows.outputs.iter().zip(parts) {
            let Output::Reduction(Reduction {
                kind: Kind::Rows(lanes),
                scalars,
                ..
            }) = output
            else {
                return Err(internal("rows of what is no reduction"));
            };
            self.tree_reduce(&lanes.few, grouping.operation, Combined::Part);
            for ((few, part), element) in lanes.few.iter().zip(parts).zip(scalars) {
                self.emit(Command::Copy {
                    to: Expression::offset(*part, to.clone()),
                    from: Expression::Variable(*few),
                    element: *element,
                    count: Expression::index(i64::from(PARTIAL_LANES)),
                });
            }
        }
        Ok(true)
    }

    /// The reductions of a nest, without accumulators.
    fn plain_reductions(&mut self, nest: &Nest<'a>) -> Result<Vec<Output<'a>>> {
        let mut outputs = Vec::with_capacity(nest.reduction.outputs.len());
        let mut rest = nest.results;
        for output in &nest.reduction.outputs {
            let (pattern, others) = split(rest, output.gives())?;
            rest = others;
            let flat::Output::Reduce { lambda, .. } = output else {
                return Err(internal("rows of what is no reduction"));
            };
            let operators = by_component(lambda).unwrap_or_default();
            let scalars = self.start_scalars(output)?;
            outputs.push(Output::Reduction(Reduction::in_lanes(
                lambda,
                pattern,
                &scalars,
                Vec::new(),
                &operators,
            )));
        }
        Ok(outputs)
    }

    /// What follows the reductions, for all rows of a group.
    pub(super) fn results_of_rows(
        &mut self,
        grouping: &Grouping<'a>,
        parts: &[Vec<Variable>],
        outputs: &[Output<'a>],
        first: &Expression,
        place: &Place,
    ) -> Result<()> {
        let nest = &grouping.nest;
        let size = Expression::index(i64::from(PARTIAL_LANES));
        self.each("k", size, place, |this, k| {
            let space = this.bind_group_row(grouping, first, k.clone(), place)?;
            this.scope(|this| {
                this.statements(nest.before)?;
                let mut rest = nest.results;
                for (output, parts) in nest.reduction.outputs.iter().zip(parts) {
                    let (pattern, others) = split(rest, output.gives())?;
                    rest = others;
                    let values = parts.iter().map(|part| at(*part, k.clone())).collect();
                    this.bind_reduced(output, pattern, values)?;
                }
                this.statements(nest.after)?;
                this.consume_all(grouping.map, outputs, &grouping.map.body.results, &space)
            })
        })
    }

    /// Binds the index of the map to that of row `k` of a group.
    pub(super) fn bind_group_row(
        &mut self,
        grouping: &Grouping<'a>,
        first: &Expression,
        k: Expression,
        place: &Place,
    ) -> Result<Space> {
        let index = first.clone().plus(k);
        let index = Expression::Variable(self.declare(self.name(grouping.index), INDEX, index));
        self.bind_simple(grouping.index, index.clone())?;
        let mut space = Space::unordered(&[], Rows::None, place);
        space.indices = vec![index.clone()];
        space.number = index;
        Ok(space)
    }
}
