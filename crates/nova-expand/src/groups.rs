//! Maps whose elements are reductions over rows of varying length, computed for [`PARTIAL_LANES`] rows at a
//! time. First the elements of each row, if it is short ([`crate::fixed_blocks`]), are combined down to
//! [`PARTIAL_LANES`] partial results. Then all rows are combined together, which vector instructions do with
//! one transposition instead of many sums across lanes. At last one loop computes for all rows what follows
//! the reductions. Rows at the end, and groups with a long row, are reduced like all others, with the same
//! values.

use crate::accumulators::{Kind, Reduction, at, zero};
use crate::grouping::{GroupMethod, Grouping};
use crate::lanes::RowLoops;
use crate::nest::Nest;
use crate::output::Output;
use crate::space::{LaneSchedule, Rows, ShortRows, Space, split};
use crate::tiles::groups_of;
use crate::translator::{INDEX, Result, Translator};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::Place;
use nova_flat::ir as flat;
use nova_flat::operators::by_component;
use nova_loop::error::internal;
use nova_loop::ir::{
    Combined, Command, Expression, FIXED_BLOCK, Level, PARTIAL_LANES, Type, Variable,
};

impl<'a> Translator<'a> {
    /// Returns an operation as a map of reductions over rows, if it is one.
    pub(crate) fn grouping(&mut self, map: &'a flat::ArrayOperation) -> Option<Grouping<'a>> {
        let nest = Nest::of(map)?;
        let ([index], [inner]) = (&map.indices[..], &nest.reduction.indices[..]) else {
            return None;
        };
        let [flat::Atom::Variable(length)] = nest.reduction.shape[..] else {
            return None;
        };
        let varies = nest.before.iter().any(|s| s.pattern.contains(&length));
        self.loops += 1;
        let schedule = self.lane_schedule(nest.reduction);
        self.loops -= 1;
        let schedule = schedule?;
        let (method, operation) = match schedule.short {
            ShortRows::FixedBlock(operation) => (GroupMethod::Rows(schedule), operation),
            ShortRows::Fold => {
                let operation = self.operation_of_all(nest.reduction)?;
                (
                    GroupMethod::Strips(self.strip_facts(map, &nest, *inner)?),
                    operation,
                )
            }
            ShortRows::AsLong => return None,
        };
        (varies && !self.recursive).then_some(Grouping {
            map,
            method,
            operation,
            index: *index,
            inner: *inner,
            length: flat::Atom::Variable(length),
            nest,
        })
    }

    /// Translates a map of reductions over rows in groups. Returns true if that is possible.
    pub(crate) fn operation_in_groups(
        &mut self,
        grouping: &Grouping<'a>,
        pattern: &'a [flat::Variable],
        place: &Place,
    ) -> Result<bool> {
        let schedule = match &grouping.method {
            GroupMethod::Rows(schedule) => *schedule,
            GroupMethod::Strips(facts) => {
                self.operation_in_strips(grouping, facts, pattern, place)?;
                return Ok(true);
            }
        };
        self.flush_loads()?;
        let begin = self.add_variable("begin", INDEX);
        let first = Expression::Variable(begin);
        let longest = self.add_variable("longest", INDEX);
        self.loops += 1;
        let rows = (&first, &Expression::Variable(longest));
        let (mut together, partials) =
            self.nested(|this| this.partials_of_rows(grouping, schedule, rows, place))?;
        self.loops -= 1;
        let Some(partials) = partials else {
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
            let (code, ()) = this.nested(|this| {
                this.results_of_rows(grouping, &partials, &outputs, &first, place)
            })?;
            together.extend(code);
            let left = extent.clone().minus(first.clone());
            let count = left.compare(ScalarOperation::Minimum, size);
            let (alone, ()) =
                this.nested(|this| this.rows_alone(grouping, &outputs, (&first, count), place))?;
            let limit = Expression::index(i64::from(FIXED_BLOCK));
            let short = Expression::Variable(longest).compare(ScalarOperation::LessEqual, limit);
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

    /// Computes the results of `count` rows from `first` on, one after the other.
    pub(crate) fn rows_alone(
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

    /// Computes the number of elements of the longest row of a group, or a number that is too large if the
    /// group is not full. Returns the variable that says whether it is full. It shows that all rows of the
    /// group exist.
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

    /// Combines the elements of the rows from `first` on to one for each row; the longest row has `longest`
    /// elements. Returns the local arrays of the results, for each component of each reduction, or `None` if
    /// the elements do not allow it. If all rows are empty there is nothing to combine.
    fn partials_of_rows(
        &mut self,
        grouping: &Grouping<'a>,
        schedule: LaneSchedule,
        (first, longest): (&Expression, &Expression),
        place: &Place,
    ) -> Result<Option<Vec<Vec<Variable>>>> {
        let partials = self.component_buffers("parts", grouping, FIXED_BLOCK)?;
        let size = Expression::index(i64::from(PARTIAL_LANES));
        let (otherwise, done) = self.nested(|this| {
            let mut done = true;
            this.each("k", size.clone(), place, |this, k| {
                this.bind_group_row(grouping, first, k.clone(), place)?;
                this.scope(|this| {
                    this.statements(grouping.nest.before)?;
                    let to = k.times(size.clone());
                    done = this.partials_of_row(grouping, schedule, &partials, to, place)?;
                    Ok(())
                })
            })?;
            this.combine_group(grouping, &partials);
            Ok(done)
        })?;
        let (then, ()) = self.nested(|this| {
            this.each("k", size, place, |this, k| {
                this.identities_of_empty_row(grouping, &partials, &k)
            })
        })?;
        self.emit(Command::If {
            condition: longest.clone().compare(ScalarOperation::Equal, zero()),
            then,
            otherwise,
        });
        Ok(done.then_some(partials))
    }

    /// Writes the identities of the operators as the results of an empty row, row `k` of a group.
    fn identities_of_empty_row(
        &mut self,
        grouping: &Grouping<'a>,
        partials: &[Vec<Variable>],
        k: &Expression,
    ) -> Result<()> {
        for (output, partials) in grouping.nest.reduction.outputs.iter().zip(partials) {
            let flat::Output::Reduce { lambda, .. } = output else {
                return Err(internal("rows of what is no reduction"));
            };
            let Some(operators) = by_component(lambda) else {
                return Err(internal("an empty row of an operator without identity"));
            };
            for (operator, partial) in operators.iter().zip(partials) {
                self.set_element(*partial, k.clone(), Expression::Constant(operator.identity));
            }
        }
        Ok(())
    }

    /// Combines the partial results of a group to one value for each row. The loop that computes the
    /// partial results must come immediately before.
    pub(crate) fn combine_group(&mut self, grouping: &Grouping<'a>, partials: &[Vec<Variable>]) {
        if let Some(Command::For { level, .. }) = self.code.last_mut() {
            *level = Level::Unrolled;
        }
        for arrays in partials {
            self.tree_reduce(arrays, grouping.operation, Combined::Rows);
        }
    }

    /// Declares local arrays for each component of each reduction.
    pub(crate) fn component_buffers(
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

    /// Returns the types of a reduction's components.
    fn start_scalars(&self, output: &flat::Output) -> Result<Vec<Scalar>> {
        let flat::Output::Reduce { start, .. } = output else {
            return Err(internal("rows of what is no reduction"));
        };
        start.iter().map(|atom| self.scalar_type(*atom)).collect()
    }

    /// Combines the elements of one row to partial results, from element `to` on of `partials`.
    fn partials_of_row(
        &mut self,
        grouping: &Grouping<'a>,
        schedule: LaneSchedule,
        partials: &[Vec<Variable>],
        to: Expression,
        place: &Place,
    ) -> Result<bool> {
        let reduction = grouping.nest.reduction;
        let length = self.simple(grouping.length)?;
        let space = Space::unordered(std::slice::from_ref(&length), Rows::Of(schedule), place);
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
        for (output, partials) in rows.outputs.iter().zip(partials) {
            let Output::Reduction(Reduction {
                kind: Kind::Rows(lanes),
                scalars,
                ..
            }) = output
            else {
                return Err(internal("rows of what is no reduction"));
            };
            self.tree_reduce(&lanes.fixed_block, grouping.operation, Combined::Lanes);
            for ((block, partial), element) in lanes.fixed_block.iter().zip(partials).zip(scalars) {
                self.emit(Command::Copy {
                    to: Expression::offset(*partial, to.clone()),
                    from: Expression::Variable(*block),
                    element: *element,
                    count: Expression::index(i64::from(PARTIAL_LANES)),
                });
            }
        }
        Ok(true)
    }

    /// Returns the reductions of a nest, without accumulators.
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

    /// Computes what follows the reductions, for all rows of a group.
    pub(crate) fn results_of_rows(
        &mut self,
        grouping: &Grouping<'a>,
        partials: &[Vec<Variable>],
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
                for (output, partials) in nest.reduction.outputs.iter().zip(partials) {
                    let (pattern, others) = split(rest, output.gives())?;
                    rest = others;
                    let values = partials
                        .iter()
                        .map(|partial| at(*partial, k.clone()))
                        .collect();
                    this.bind_reduced(output, pattern, values)?;
                }
                this.statements(nest.after)?;
                this.consume_all(grouping.map, outputs, &grouping.map.body.results, &space)
            })
        })
    }

    /// Binds the index of the map to that of row `k` of a group.
    pub(crate) fn bind_group_row(
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
