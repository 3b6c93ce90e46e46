//! Reports the accesses of commands that move or combine many elements. Functions of the runtime make
//! these accesses; they are reported before the command.

use crate::context::function::FunctionEmitter;
use crate::emit::races::array_of;
use crate::scalar::memory_type;
use nova_c_ast::ast::{Binary, Expression, Statement, Type};
use nova_core::Scalar;
use nova_loop::ir::{
    self, Command, FIXED_BLOCK, GATHER_WIDTH, Gather, PARTIAL_LANES, PREFIX_WIDTH, Variable,
    block_commands, calls, errors, jumps, remarks, structures, variable_commands,
};

/// Returns a constant number of elements.
fn constant(count: u32) -> Expression {
    Expression::literal(count.to_string())
}

impl FunctionEmitter<'_, '_> {
    /// Reports the reads and writes of a command on many elements.
    pub fn trace_bulk(&mut self, command: &Command) {
        if !self.unit.traces() {
            return;
        }
        match command {
            Command::Copy {
                to,
                from,
                element,
                count,
            } => {
                let many = self.assigned(count);
                self.trace_reads(from, many.clone(), *element);
                self.trace_writes(to, many, *element);
            }
            Command::NonTemporalStore {
                fields,
                start,
                from,
                count,
                ..
            } => self.trace_non_temporal(fields, start, from, count),
            Command::PaddedCopy {
                to,
                from,
                element,
                count,
                ..
            } => {
                let many = self.assigned(count);
                self.trace_reads(from, many, *element);
                self.trace_writes(to, constant(FIXED_BLOCK), *element);
            }
            Command::TreeReduce {
                pointer, element, ..
            } => self.trace_writes(
                &ir::Expression::Variable(*pointer),
                constant(FIXED_BLOCK),
                *element,
            ),
            Command::LaneReduce {
                to,
                from,
                element,
                count,
                ..
            } => {
                let many = self.assigned(count);
                self.trace_reads(from, many, *element);
                self.trace_writes(to, constant(PARTIAL_LANES), *element);
            }
            Command::PrefixScan {
                to, from, element, ..
            } => {
                self.trace_reads(from, constant(PREFIX_WIDTH), *element);
                self.trace_writes(to, constant(PREFIX_WIDTH), *element);
            }
            Command::Gather(gather) => self.trace_gather(gather),
            // These access no elements.
            Command::PlanNonTemporal { .. } | Command::PlanRows { .. } => {}
            // `memory` passes no other commands to this function.
            block_commands!()
            | variable_commands!()
            | structures!()
            | jumps!()
            | errors!()
            | calls!()
            | remarks!() => {}
        }
    }

    fn trace_non_temporal(
        &mut self,
        fields: &[Variable],
        start: &ir::Expression,
        from: &ir::Expression,
        count: &ir::Expression,
    ) {
        let size = self.structure_size(fields);
        let what = self.what(array_of(from));
        let arguments = vec![
            self.expression(from),
            self.assigned(count),
            size.clone(),
            size.clone(),
            what,
        ];
        self.push(Statement::call("nova_race_reads", arguments));
        let what = self.what(fields.first().copied());
        let arguments = vec![
            self.first_stored(fields, start),
            self.assigned(count),
            size,
            what,
        ];
        self.push(Statement::call("nova_race_writes", arguments));
    }

    /// Reports the reads and writes of a gather.
    fn trace_gather(&mut self, gather: &Gather) {
        match gather {
            Gather::Strided {
                to,
                from,
                element,
                stride,
            } => {
                self.trace_strided(from, *element, *stride);
                self.trace_writes(to, constant(GATHER_WIDTH), *element);
            }
            Gather::Precheck {
                indices,
                index,
                stride,
                ..
            } => self.trace_strided(indices, *index, *stride),
            Gather::Indexed {
                to,
                from,
                element,
                indices,
                index,
                stride,
            } => {
                self.trace_strided(indices, *index, *stride);
                self.trace_gathered(from, *element, indices, *stride);
                self.trace_writes(to, constant(GATHER_WIDTH), *element);
            }
        }
    }

    /// Reports reads of the elements at indices in memory.
    fn trace_gathered(
        &mut self,
        from: &ir::Expression,
        element: Scalar,
        indices: &ir::Expression,
        stride: u32,
    ) {
        let variable = self.fresh("gathered");
        let number = Expression::Name(variable.clone());
        let at = Expression::binary(Binary::Multiply, number, constant(stride));
        let index = self.expression(indices).index(at);
        let arguments = vec![
            self.expression(from).index(index).address(),
            Expression::SizeOf(memory_type(element)),
            self.what(array_of(from)),
        ];
        self.push(Statement::For {
            ty: Type::name("int64_t"),
            variable,
            count: constant(GATHER_WIDTH),
            body: vec![Statement::call("nova_race_read", arguments)].into(),
        });
    }

    fn trace_reads(&mut self, from: &ir::Expression, count: Expression, element: Scalar) {
        let size = Expression::SizeOf(memory_type(element));
        self.trace_apart(from, count, size.clone(), size);
    }

    /// Reports reads of as many elements as a gather has, at a stride.
    fn trace_strided(&mut self, from: &ir::Expression, element: Scalar, stride: u32) {
        let size = Expression::SizeOf(memory_type(element));
        let apart = Expression::binary(Binary::Multiply, constant(stride), size.clone());
        self.trace_apart(from, constant(GATHER_WIDTH), size, apart);
    }

    fn trace_apart(
        &mut self,
        from: &ir::Expression,
        count: Expression,
        size: Expression,
        apart: Expression,
    ) {
        // Constants are never written.
        if let Some(array) = array_of(from) {
            let from = self.expression(from);
            let arguments = vec![from, count, size, apart, self.what(Some(array))];
            self.push(Statement::call("nova_race_reads", arguments));
        }
    }

    fn trace_writes(&mut self, to: &ir::Expression, count: Expression, element: Scalar) {
        let size = Expression::SizeOf(memory_type(element));
        let arguments = vec![self.expression(to), count, size, self.what(array_of(to))];
        self.push(Statement::call("nova_race_writes", arguments));
    }

    /// Reports the accesses of commands on result buffers: to their elements, and to the table of
    /// buffers.
    pub fn trace_result_buffers(&mut self, command: &Command) {
        match command {
            Command::StoreBuffer {
                pieces,
                index,
                pointer,
                element,
                count,
                ..
            } if self.unit.traces() => {
                let many = self.assigned(count);
                self.trace_reads(pointer, many, *element);
                self.trace_result_buffer("nova_race_write", *pieces, index);
            }
            Command::Buffer { pieces, index, .. } if self.unit.traces() => {
                self.trace_result_buffer("nova_race_read", *pieces, index);
            }
            _others => {}
        }
    }

    /// Reports the result buffers that a command has allocated.
    pub fn trace_made_result_buffers(&mut self, command: &Command) {
        match command {
            Command::ResultBuffers { pieces, count, .. } if self.unit.traces() => {
                let table = Expression::Name(self.name(*pieces)).arrow("data");
                let count = self.assigned(count);
                let ty = Type::name("nova_block").pointer();
                self.trace_memory("nova_race_new", table, count, ty);
            }
            Command::StoreBuffer {
                pieces,
                index,
                element,
                count,
                ..
            } if self.unit.traces() => {
                let arguments = vec![Expression::Name(self.name(*pieces)), self.assigned(index)];
                let void = Type::name("void").pointer();
                let buffer = Expression::call("nova_result_buffer", arguments).cast(void);
                let count = self.assigned(count);
                self.trace_memory("nova_race_new", buffer, count, memory_type(*element));
            }
            _others => {}
        }
    }

    fn trace_result_buffer(&mut self, function: &str, buffers: Variable, index: &ir::Expression) {
        let ty = Type::name("nova_block").pointer();
        let table = Expression::Name(self.name(buffers)).arrow("data");
        let index = self.assigned(index);
        let arguments = vec![
            table.cast(ty.clone().pointer()).index(index).address(),
            Expression::SizeOf(ty),
            self.what(Some(buffers)),
        ];
        self.push(Statement::call(function, arguments));
    }
}
