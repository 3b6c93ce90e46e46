//! The outputs of array operations: the code before the loop, in it, and after it.

use crate::machine::Machine;
use crate::output::{Collect, Compaction, Output, Positions, ScatterMode};
use crate::places::Place;
use crate::space::{Space, split};
use crate::statements::single;
use crate::terms::Term;
use crate::translator::{INDEX, Result, Translator};
use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir as flat;
use nova_flat::memory::{Polynomial, polynomial_of};
use nova_loop::cost::work;
use nova_loop::error::internal;
use nova_loop::ir::{Command, Expression, Stays, Type, Variable};

/// The maximum number of instructions for the values of a filter that are also computed for elements that
/// do not survive.
const MOST_WORK: u32 = 8;

impl<'a> Translator<'a> {
    /// Prepares an output before the loop over these extents.
    pub(crate) fn start_output(
        &mut self,
        output: &'a flat::Output,
        (pattern, extents): (&'a [flat::Variable], &[flat::Atom]),
        space: &Space,
    ) -> Result<Output<'a>> {
        match output {
            flat::Output::Map => {
                let array = single(pattern)?;
                self.destination(array, space.count.clone(), &space.place)?;
                Ok(Output::Map(array))
            }
            flat::Output::Reduce {
                lambda,
                start,
                commutes,
                bracketing,
            } => {
                let order = (*commutes, *bracketing);
                let reduction = self.start_reduction(lambda, start, order, pattern, space)?;
                Ok(Output::Reduction(reduction))
            }
            flat::Output::Scan {
                lambda,
                start,
                exclusive,
            } => {
                let scan = self.start_scan(lambda, start, *exclusive, pattern, space)?;
                Ok(Output::Scan(scan))
            }
            flat::Output::Filter { .. } => {
                let (count, arrays) = split(pattern, 1)?;
                for array in arrays {
                    self.destination(*array, space.count.clone(), &space.place)?;
                }
                let compaction = match arrays.iter().all(|array| self.has_room(*array, extents)) {
                    true => Compaction::Branchless,
                    false => Compaction::Branching,
                };
                Ok(Output::Filter {
                    count: self.counter(single(count)?)?,
                    arrays,
                    compaction,
                })
            }
            flat::Output::Scatter {
                destinations,
                positions,
            } => {
                let positions = self.start_scatter(destinations, positions, pattern, space)?;
                Ok(Output::Scatter {
                    positions,
                    arrays: pattern,
                })
            }
            flat::Output::Histogram {
                lambda,
                start,
                bins,
            } => {
                let bins = self.simple(*bins)?;
                for (array, start) in pattern.iter().zip(start) {
                    let to = self.destination(*array, bins.clone(), &space.place)?;
                    self.fill(to, *start, &space.place)?;
                }
                Ok(Output::Histogram {
                    lambda,
                    bins,
                    arrays: pattern,
                })
            }
            flat::Output::Collect { .. } => self.start_collect(pattern, space),
            flat::Output::Join { shape } => {
                let array = single(pattern)?;
                let mut count = Expression::index(1);
                for extent in shape {
                    count = count.times(self.simple(*extent)?);
                }
                self.destination(array, count, &space.place)?;
                Ok(Output::Join(array))
            }
        }
    }

    /// Declares a counter that starts at 0, whose final value is a scalar result.
    fn counter(&mut self, variable: flat::Variable) -> Result<Variable> {
        let counter = self.declare(self.name(variable), INDEX, Expression::index(0));
        self.bind_simple(variable, Expression::Variable(counter))?;
        Ok(counter)
    }

    fn start_scatter(
        &mut self,
        destinations: &[flat::Variable],
        positions: &flat::Positions,
        pattern: &[flat::Variable],
        space: &Space,
    ) -> Result<Positions> {
        let mut length = Expression::index(0);
        for (from, to) in destinations.iter().zip(pattern) {
            let from = self.place(*from)?;
            length = self.product(from.shape)?;
            let to = self.destination(*to, length.clone(), &space.place)?;
            self.copy_unless_same(to, from, &space.place)?;
        }
        let mode = match (positions, space.parallel) {
            (flat::Positions::Unordered, true) => ScatterMode::Contends(Stays::Any),
            (flat::Positions::Greatest, true) => ScatterMode::Contends(Stays::Greatest),
            (flat::Positions::Greatest, false) => ScatterMode::IfGreater,
            (
                flat::Positions::Given | flat::Positions::Unordered | flat::Positions::Block(_),
                _,
            ) => ScatterMode::Overwrite,
        };
        match positions {
            flat::Positions::Given | flat::Positions::Unordered | flat::Positions::Greatest => {
                Ok(Positions::Given { length, mode })
            }
            flat::Positions::Block(starts) => {
                let starts = starts.iter().map(|start| self.simple(*start));
                let starts = starts.collect::<Result<_>>()?;
                Ok(Positions::Block { starts })
            }
        }
    }

    fn start_collect(
        &mut self,
        pattern: &'a [flat::Variable],
        space: &Space,
    ) -> Result<Output<'a>> {
        let ([starts, ends, total], arrays) = pattern
            .split_at_checked(3)
            .and_then(|(fixed, arrays)| Some((<&[_; 3]>::try_from(fixed).ok()?, arrays)))
            .ok_or_else(|| internal("a collect with too few results"))?;
        for array in [starts, ends] {
            self.destination(*array, space.count.clone(), &space.place)?;
        }
        let total = self.counter(*total)?;
        for array in arrays {
            let block = self.array_block(flat::Atom::Variable(*array))?;
            let block = block.ok_or_else(|| internal("a collect of scalars"))?;
            let flat::Type::Array(element, _) = self.info(*array)?.ty else {
                return Err(internal("a collect of scalars"));
            };
            let (pointer, handle) = self.block_variables(block, element);
            let (null, none) = (Expression::NullPointer(element), Expression::NullBlock);
            for (variable, value) in [(pointer, null), (handle, none)] {
                // Result buffers are copied to memory of the right size, rows to memory that grows.
                let value = (!space.parallel).then_some(value);
                self.emit(Command::Declare { variable, value });
            }
            self.bind_block(block, pointer, handle)?;
        }
        let buffers = match space.parallel {
            true => Some(self.start_result_buffers(arrays, &space.count, &space.place)),
            false => None,
        };
        Ok(Output::Collect(Collect {
            starts: *starts,
            ends: *ends,
            total,
            arrays,
            buffers,
        }))
    }

    /// Consumes the values that the body passes to an output.
    pub(crate) fn consume(
        &mut self,
        output: &Output<'a>,
        values: &[flat::Atom],
        space: &Space,
    ) -> Result<()> {
        match output {
            Output::Map(array) => {
                let value = self.scalar(single_value(values)?)?;
                let place = self.place(*array)?;
                self.store(place, space.indices.clone(), value)
            }
            Output::Reduction(reduction) => self.consume_reduction(reduction, values, space),
            Output::Scan(scan) => self.consume_scan(scan, values, space),
            Output::Filter {
                count,
                arrays,
                compaction,
            } => {
                let (condition, values) = split(values, 1)?;
                let condition = self.scalar(single_value(condition)?)?;
                self.flush_for(arrays)?;
                let (count, for_all) = match compaction {
                    Compaction::Branching => (*count, false),
                    Compaction::Branchless => (*count, self.are_cheap(values)),
                    Compaction::Staged(staging) => (staging.count, self.are_cheap(values)),
                };
                let index = Expression::Variable(count);
                let store = |this: &mut Self| match compaction {
                    Compaction::Branching | Compaction::Branchless => {
                        this.store_all(arrays, std::slice::from_ref(&index), values)
                    }
                    Compaction::Staged(staging) => {
                        this.store_local(&staging.locals, &index, values)
                    }
                };
                if for_all {
                    store(self)?;
                    let increment = Expression::Scalar {
                        operation: ScalarOperation::Convert(Scalar::I64),
                        operand: Scalar::Bool,
                        arguments: vec![condition],
                    };
                    self.assign(count, index.clone().plus(increment));
                    return Ok(());
                }
                self.when(condition, |this| {
                    store(this)?;
                    this.assign(count, index.clone().plus(Expression::index(1)));
                    Ok(())
                })
            }
            Output::Scatter {
                positions: Positions::Given { length, mode },
                arrays,
            } => {
                let (index, values) = split(values, 1)?;
                let index = self.simple(single_value(index)?)?;
                self.flush_for(arrays)?;
                self.when(Self::in_range(&index, length), |this| match mode {
                    ScatterMode::Overwrite => this.store_all(arrays, &[index], values),
                    ScatterMode::IfGreater => this.store_greater(arrays, index, values),
                    ScatterMode::Contends(stays) => this.contend(arrays, &index, values, *stays),
                })
            }
            Output::Scatter {
                positions: Positions::Block { starts },
                arrays,
            } => {
                let indices = space.indices.iter().zip(starts);
                let indices: Vec<_> = indices
                    .map(|(i, start)| start.clone().plus(i.clone()))
                    .collect();
                self.store_all(arrays, &indices, values)
            }
            Output::Histogram {
                lambda,
                bins,
                arrays,
            } => self.consume_histogram(lambda, bins, arrays, values),
            Output::Collect(collect) => self.consume_collect(collect, values, space),
            Output::Join(array) => self.consume_join(*array, values, space),
        }
    }

    /// True if a filter over these extents may write after its survivors, on a processor. The array must lie
    /// at the start of a block with room for an element of each index. Then a store for every index, of
    /// which only those of survivors remain, needs no branch that a processor would mispredict. In programs
    /// with parallel loops the branch stays, since the interference checker only knows stores of survivors.
    fn has_room(&self, array: flat::Variable, extents: &[flat::Atom]) -> bool {
        let memory = self.info(array).ok().and_then(|info| info.memory.as_ref());
        memory.is_some_and(|memory| {
            self.machine == Machine::Processor
                && !self.facts.grids
                && memory.lmad.offset.as_constant() == Some(0)
                && memory.lmad.is_row_major()
                && extents.len() == 1
                && self.facts.block(memory.block).room.as_ref() == extents.first()
        })
    }

    /// True if values cost less than a branch that is sometimes mispredicted.
    fn are_cheap(&self, values: &[flat::Atom]) -> bool {
        let pending = values.iter().filter_map(|value| self.pending(*value));
        pending.map(work).sum::<u32>() <= MOST_WORK
    }

    /// Evaluates the pending terms that read the memory of these arrays.
    fn flush_for(&mut self, arrays: &[flat::Variable]) -> Result<()> {
        for array in arrays {
            let block = self.place(*array)?.block;
            self.flush_conflicts(block)?;
        }
        Ok(())
    }

    /// Stores a value to each array.
    fn store_all(
        &mut self,
        arrays: &[flat::Variable],
        indices: &[Expression],
        values: &[flat::Atom],
    ) -> Result<()> {
        for (array, value) in arrays.iter().zip(values) {
            let value = self.scalar(*value)?;
            let place = self.place(*array)?;
            self.store(place, indices.to_vec(), value)?;
        }
        Ok(())
    }

    /// Stores a value to each array if it is greater than the element.
    fn store_greater(
        &mut self,
        arrays: &[flat::Variable],
        index: Expression,
        values: &[flat::Atom],
    ) -> Result<()> {
        for (array, value) in arrays.iter().zip(values) {
            let value = self.simple(*value)?;
            let place = self.place(*array)?;
            let element = place.element;
            let before = self.load(place, vec![index.clone()])?;
            let is_greater = Expression::Scalar {
                operation: ScalarOperation::Greater,
                operand: element,
                arguments: vec![value.clone(), before],
            };
            self.when(is_greater, |this| {
                this.store(place, vec![index.clone()], value)
            })?;
        }
        Ok(())
    }

    /// Stores a value to each array atomically.
    fn contend(
        &mut self,
        arrays: &[flat::Variable],
        index: &Expression,
        values: &[flat::Atom],
        stays: Stays,
    ) -> Result<()> {
        for (array, value) in arrays.iter().zip(values) {
            let value = self.scalar(*value)?;
            let place = self.place(*array)?;
            let index = self.address(place.lmad, vec![index.clone()])?;
            self.flush_conflicts(place.block)?;
            self.emit(Command::Contend {
                pointer: place.pointer,
                index,
                value,
                stays,
            });
        }
        Ok(())
    }

    fn consume_histogram(
        &mut self,
        lambda: &'a flat::Lambda,
        bins: &Expression,
        arrays: &[flat::Variable],
        values: &[flat::Atom],
    ) -> Result<()> {
        let (index, values) = split(values, 1)?;
        let index = self.simple(single_value(index)?)?;
        self.flush_for(arrays)?;
        self.when(Self::in_range(&index, bins), |this| {
            let mut arguments = Vec::with_capacity(2 * arrays.len());
            for array in arrays {
                let place = this.place(*array)?;
                let address = this.address(place.lmad, vec![index.clone()])?;
                arguments.push(Term {
                    expression: Expression::load(place.pointer, address),
                    size: 4,
                    loads: vec![place.block],
                });
            }
            for value in values {
                arguments.push(this.term(*value)?);
            }
            this.apply(lambda, arguments, |this, results| {
                this.store_all(arrays, std::slice::from_ref(&index), results)
            })?;
            Ok(())
        })
    }

    fn consume_collect(
        &mut self,
        collect: &Collect<'a>,
        values: &[flat::Atom],
        space: &Space,
    ) -> Result<()> {
        let (length, rows) = split(values, 1)?;
        let length = self.simple(single_value(length)?)?;
        if let Some(buffers) = &collect.buffers {
            let (number, place) = (&space.number, &space.place);
            return self.store_result_buffers(collect, buffers, (length, rows), number, place);
        }
        let total = Expression::Variable(collect.total);
        let starts = self.place(collect.starts)?;
        self.store(starts, vec![space.number.clone()], total.clone())?;
        for (array, row) in collect.arrays.iter().zip(rows) {
            let flat::Atom::Variable(row) = row else {
                return Err(internal("a row that is no array"));
            };
            let to = self.place(*array)?;
            let from = self.place(*row)?;
            let made_there = self.growing.get(&from.block).map(|growing| growing.rows);
            if made_there == Some(to.block) {
                continue;
            }
            self.flush_conflicts(to.block)?;
            self.emit(Command::Reserve {
                block: self.block(to.block)?.handle,
                pointer: to.pointer,
                element: to.element,
                used: total.clone(),
                count: total.clone().plus(length.clone()),
                place: space.place.clone(),
            });
            self.copy_to(to, total.clone(), from, length.clone(), &space.place)?;
        }
        self.assign(collect.total, total.clone().plus(length));
        let ends = self.place(collect.ends)?;
        self.store(ends, vec![space.number.clone()], total)
    }

    /// Copies an array to its part of the joined array, unless it was made there.
    fn consume_join(
        &mut self,
        joined: flat::Variable,
        values: &[flat::Atom],
        space: &Space,
    ) -> Result<()> {
        let [first, flat::Atom::Variable(chunk)] = values else {
            return Err(internal("a join of no array"));
        };
        let (to, from) = (self.place(joined)?, self.place(*chunk)?);
        let stride = to.lmad.dimensions.first().map(|d| d.1.clone());
        let offset = polynomial_of(*first).and_then(|first| Some(first.times(&stride?)));
        let offset = offset.ok_or_else(|| internal("a join at no index"))?;
        let strides = |place: &Place<'_>| -> Vec<Polynomial> {
            place.lmad.dimensions.iter().map(|d| d.1.clone()).collect()
        };
        if to.block == from.block
            && from.lmad.offset == to.lmad.offset.plus(&offset)
            && strides(&to) == strides(&from)
        {
            return Ok(());
        }
        let first = self.simple(*first)?;
        let mut extents = Vec::with_capacity(from.shape.len());
        for extent in from.shape {
            extents.push(self.simple(*extent)?);
        }
        // For arrays that threads join, the interference checker needs single stores.
        if let ([count], Machine::Processor, false) = (&extents[..], self.machine, space.parallel)
            && to.block != from.block
        {
            return self.copy_to(to, first, from, count.clone(), &space.place);
        }
        self.flush_conflicts(to.block)?;
        self.each_index(&extents, &space.place, |this, indices| {
            let value = this.load(from, indices.clone())?;
            let mut indices = indices;
            if let Some(outermost) = indices.first_mut() {
                *outermost = first.clone().plus(outermost.clone());
            }
            this.store(to, indices, value)
        })
    }

    /// Binds the results of an output after the loop.
    pub(crate) fn finish_output(
        &mut self,
        output: Output<'a>,
        place: &nova_diag::Place,
    ) -> Result<()> {
        match output {
            Output::Reduction(reduction) => self.finish_reduction(reduction, place),
            Output::Scan(scan) => self.finish_scan(scan),
            Output::Collect(collect) => {
                if let Some(buffers) = &collect.buffers {
                    self.concatenate_buffers(&collect, buffers, place)?;
                }
                for array in collect.arrays {
                    if let Some(block) = self.array_block(flat::Atom::Variable(*array))? {
                        self.own(block)?;
                    }
                }
                Ok(())
            }
            Output::Map(_)
            | Output::Filter { .. }
            | Output::Scatter { .. }
            | Output::Histogram { .. }
            | Output::Join(_) => Ok(()),
        }
    }

    /// Declares scalar variables for the components of a reduction or scan.
    pub(crate) fn accumulators(
        &mut self,
        names: &[&str],
        starts: &[(Expression, nova_core::Scalar)],
    ) -> Vec<Variable> {
        let mut variables = Vec::with_capacity(starts.len());
        for ((start, scalar), name) in starts.iter().zip(names) {
            variables.push(self.declare(*name, Type::Scalar(*scalar), start.clone()));
        }
        variables
    }
}

/// Returns the only value of an output.
fn single_value(values: &[flat::Atom]) -> Result<flat::Atom> {
    match values {
        [value] => Ok(*value),
        _ => Err(internal("an output with other values")),
    }
}
