//! Translation of the array operation to one loop nest, which runs the body, passes its results to every
//! output, and replaces the carries.

use crate::machine::Machine;
use crate::ordered::{Surrounding, make_ordered};
use crate::output::{Output, is_staged};
use crate::places::State;
use crate::references::Moving;
use crate::space::{Rows, Space, split};
use crate::translator::{INDEX, Result, Translator};
use nova_core::{Scalar, ScalarOperation, strategy};
use nova_diag::Place;
use nova_flat::ir as flat;
use nova_loop::ir::{Command, Expression, Level, Variable};

impl<'a> Translator<'a> {
    /// Translates an array operation.
    pub(crate) fn operation(
        &mut self,
        operation: &'a flat::ArrayOperation,
        pattern: &'a [flat::Variable],
        place: &Place,
    ) -> Result<()> {
        // Chunks of a grid are long, and each belongs to one thread. An operation with a strategy becomes
        // the loop that the strategy states.
        let in_order = operation.level == flat::Level::Sequential && !operation.is_marked();
        if in_order && self.machine == Machine::Processor {
            if let Some(tiling) = self.tiling(operation, pattern) {
                return self.operation_in_tiles(tiling, pattern, place);
            }
            if let Some(grouping) = self.grouping(operation)
                && self.operation_in_groups(&grouping, pattern, place)?
            {
                return Ok(());
            }
        }
        if let Some(schedule) = self.lane_schedule(operation) {
            return self.operation_in_rows(operation, schedule, pattern, place);
        }
        let states = self.start_states(&operation.carries)?;
        let mut extents = Vec::with_capacity(operation.shape.len());
        for extent in &operation.shape {
            extents.push(self.simple(*extent)?);
        }
        let mut indices = Vec::with_capacity(extents.len());
        for index in &operation.indices {
            let variable = self.add_variable(self.name(*index), INDEX);
            self.bind_simple(*index, Expression::Variable(variable))?;
            indices.push(variable);
        }
        let (space, counter) = self.space(operation, &extents, &indices, place)?;
        let (carried, made) = split(pattern, operation.carries.len())?;
        let mut outputs = self.start_outputs(operation, made, &space)?;
        self.stage_survivors(operation, &mut outputs)?;
        let made_in_place = match self.machine {
            Machine::Processor => self.grow_rows(operation, &outputs)?,
            Machine::Device => Vec::new(),
        };
        self.flush_loads()?;
        let sequential = u32::from(operation.level == flat::Level::Sequential);
        self.loops += sequential;
        self.grids += 1 - sequential;
        let (code, ()) = self.nested(|this| {
            this.body(&operation.body, |this, results| {
                let (next, mut rest) = split(results, operation.carries.len())?;
                for (output, state) in operation.outputs.iter().zip(&outputs) {
                    let (consumed, others) = split(rest, output.consumes())?;
                    rest = others;
                    this.consume(state, consumed, &space)?;
                }
                this.replace(next, &states, Moving::Body)?;
                if let Some(counter) = counter {
                    let next = Expression::Variable(counter).plus(Expression::index(1));
                    this.assign(counter, next);
                }
                Ok(())
            })?;
            Ok(())
        })?;
        self.end_rows_in_place(&made_in_place);
        self.loops -= sequential;
        self.grids -= 1 - sequential;
        let mut code = code;
        let surrounding =
            self.order_iterations(operation, carried, (&states, &indices), &mut code, place);
        let level = match operation.carries.is_empty() || surrounding.is_some() {
            true => self.level_of(operation),
            false => Level::Sequential,
        };
        self.note_space(operation, made)?;
        let (before, after) = surrounding.map_or_else(Default::default, |e| (e.before, e.after));
        before.into_iter().for_each(|command| self.emit(command));
        if let ([extent], [index]) = (&extents[..], &indices[..])
            && outputs.iter().any(is_staged)
        {
            self.wrap_in_staged_chunks(&outputs, (extent, *index), code, place)?;
        } else if level == Level::Grid && self.stores_in_chunks(operation) {
            self.wrap_in_chunks(&extents, &indices, code, place);
        } else if let Some(tiles) = self.tiles_of_map(operation) {
            self.wrap_in_tiles(&extents, &indices, &tiles, code, place);
        } else {
            self.wrap_at(level, &extents, &indices, code, place);
        }
        self.note_strategy(operation);
        after.into_iter().for_each(|command| self.emit(command));
        for output in outputs {
            self.finish_output(output, place)?;
        }
        self.bind_states(carried, &states, true)
    }

    /// Gives a loop over work-groups an ordered region in which its iterations propagate prefixes, if that is
    /// possible.
    fn order_iterations(
        &mut self,
        operation: &flat::ArrayOperation,
        carried: &[flat::Variable],
        (states, indices): (&[State], &[Variable]),
        code: &mut Vec<Command>,
        place: &Place,
    ) -> Option<Surrounding> {
        let [index] = indices else { return None };
        if operation.carries.is_empty() || self.level_of(operation) != Level::Block {
            return None;
        }
        let mut carried_states = Vec::with_capacity(states.len());
        for (state, result) in states.iter().zip(carried) {
            match state {
                State::Scalar(state) => {
                    carried_states.push((*state, !self.facts.is_unused(*result)))
                }
                State::Array { .. } | State::Placed => return None,
            }
        }
        make_ordered(&mut self.program, *index, &carried_states, code, place)
    }

    /// Returns the level of an operation's loop. Processors have no work-groups: their threads run the groups
    /// in parallel, and the loops inside a group run in order.
    fn level_of(&self, operation: &flat::ArrayOperation) -> Level {
        let by = operation.strategy.map(|strategy| strategy.level);
        let writes_apart =
            |output: &flat::Output| matches!(output, flat::Output::Map | flat::Output::Join { .. });
        let is_map = operation.outputs.iter().all(writes_apart);
        let has_carries = !operation.carries.is_empty();
        match (operation.level, by, self.machine) {
            // Groups with carries propagate prefixes in ordered regions.
            (flat::Level::Grid, Some(strategy::Level::Workgroup), Machine::Device) if is_map => {
                Level::Block
            }
            (flat::Level::Sequential, Some(strategy::Level::Local), Machine::Device)
                if is_map && !has_carries =>
            {
                Level::Thread
            }
            (flat::Level::Grid, _, _) => Level::Grid,
            (flat::Level::Sequential, _, _) => Level::Sequential,
        }
    }

    /// Records the strategy of the source program for the loop that was written last.
    fn note_strategy(&mut self, operation: &flat::ArrayOperation) {
        let (Some(strategy), [index, ..]) = (operation.strategy, &operation.indices[..]) else {
            return;
        };
        let is_rows = |output: &flat::Output| matches!(output, flat::Output::Collect { .. });
        if let Some(Command::For { variable, .. }) = self.code.last() {
            let strategy = nova_loop::ir::Strategy {
                level: strategy.level,
                index: *index,
                has_rows: operation.outputs.iter().any(is_rows),
            };
            self.program.strategies.insert(*variable, strategy);
        }
    }

    /// Records the memory space for the arrays that an operation makes.
    fn note_space(
        &mut self,
        operation: &flat::ArrayOperation,
        made: &[flat::Variable],
    ) -> Result<()> {
        let space = operation.strategy.and_then(|strategy| strategy.space);
        let (Some(space), Machine::Device) = (space, self.machine) else {
            return Ok(());
        };
        for array in made {
            if let Some(block) = self.array_block(flat::Atom::Variable(*array))?
                && let Some(Some(bound)) = self.blocks.get(block.index())
            {
                self.program.variables[bound.pointer.index()].space = Some(space);
            }
        }
        Ok(())
    }

    /// Prepares the outputs of an operation, which bind the variables of `pattern`.
    pub(crate) fn start_outputs(
        &mut self,
        operation: &'a flat::ArrayOperation,
        pattern: &'a [flat::Variable],
        space: &Space,
    ) -> Result<Vec<Output<'a>>> {
        let mut outputs = Vec::with_capacity(operation.outputs.len());
        let mut rest = pattern;
        for output in &operation.outputs {
            let (given, next) = split(rest, output.gives())?;
            rest = next;
            let extents = &operation.shape;
            outputs.push(self.start_output(output, (given, extents), space)?);
        }
        Ok(outputs)
    }

    /// Returns the space of an operation. Several dimensions have a counter if an output needs the number of
    /// an index.
    fn space(
        &mut self,
        operation: &flat::ArrayOperation,
        extents: &[Expression],
        indices: &[Variable],
        place: &Place,
    ) -> Result<(Space, Option<Variable>)> {
        let mut space = Space::unordered(extents, Rows::None, place);
        space.parallel = operation.level == flat::Level::Grid;
        space.indices = indices.iter().map(|v| Expression::Variable(*v)).collect();
        if let [index] = indices {
            space.number = Expression::Variable(*index);
            return Ok((space, None));
        }
        let ordered = operation.outputs.iter().any(|o| match o {
            flat::Output::Reduce { .. } => true,
            flat::Output::Map => false,
            flat::Output::Scatter { positions, .. } => !positions.are_orderless(),
            flat::Output::Scan { .. }
            | flat::Output::Filter { .. }
            | flat::Output::Histogram { .. }
            | flat::Output::Collect { .. } => true,
            flat::Output::Join { .. } => false,
        });
        if !ordered {
            return Ok((space, None));
        }
        space.count = self.simplify(space.count, "count", INDEX);
        let counter = self.declare("number", INDEX, Expression::index(0));
        space.number = Expression::Variable(counter);
        Ok((space, Some(counter)))
    }

    /// Writes code inside the loops of a space. The outermost loop has level `level`.
    fn wrap_at(
        &mut self,
        level: Level,
        extents: &[Expression],
        indices: &[Variable],
        code: Vec<Command>,
        place: &Place,
    ) {
        if level == Level::Grid && self.machine == Machine::Device && indices.len() > 1 {
            return self.wrap_flat(level, extents, indices, code, place);
        }
        self.wrap(extents, indices, code, place);
        if let Some(Command::For {
            level: outermost, ..
        }) = self.code.last_mut()
        {
            *outermost = level;
        }
    }

    /// Writes code inside one loop over all indices of a space, so that each thread has one index.
    pub(crate) fn wrap_flat(
        &mut self,
        level: Level,
        extents: &[Expression],
        indices: &[Variable],
        code: Vec<Command>,
        place: &Place,
    ) {
        let all = extents.iter().cloned();
        let count = all.fold(Expression::index(1), Expression::times);
        let number = self.add_variable("number", INDEX);
        let mut rest = Expression::Variable(number);
        let mut body = Vec::new();
        for (extent, index) in extents.iter().zip(indices).skip(1).rev() {
            let (quotient, remainder) = self.quotient_and_remainder(rest, extent);
            body.push(Command::declare(*index, remainder));
            let left = self.add_variable("rest", INDEX);
            body.push(Command::declare(left, quotient));
            rest = Expression::Variable(left);
        }
        if let Some(first) = indices.first() {
            body.push(Command::declare(*first, rest));
        }
        body.extend(code);
        self.emit(Command::For {
            variable: number,
            count,
            level,
            body,
            place: place.clone(),
        });
    }

    /// Returns quotient and remainder of numbers that are not negative.
    fn quotient_and_remainder(
        &self,
        number: Expression,
        by: &Expression,
    ) -> (Expression, Expression) {
        let apply = |operation| Expression::Scalar {
            operation,
            operand: Scalar::I64,
            arguments: vec![number.clone(), by.clone()],
        };
        let (quotient, remainder) = (ScalarOperation::Divide, ScalarOperation::Remainder);
        (apply(quotient), apply(remainder))
    }
}
