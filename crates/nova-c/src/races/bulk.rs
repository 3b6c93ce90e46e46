//! The accesses of commands that move or combine many elements, which the runtime's functions make:
//! they are told before the command.

use super::array_of;
use crate::ast::{Binary, Expression, Statement, Type};
use crate::function::FunctionEmitter;
use crate::scalar::memory_type;
use nova_core::Scalar;
use nova_loop::ir::{
    self, Command, FIXED_BLOCK, GATHER_WIDTH, Gather, PARTIAL_LANES, PREFIX_WIDTH, Variable,
};
use nova_loop::ir::{block_commands, calls, errors, jumps, remarks, structures, variable_commands};

/// A constant number of elements.
fn constant(count: u32) -> Expression {
    Expression::literal(count.to_string())
}

impl FunctionEmitter<'_, '_> {
    /// What a command on many elements reads and writes.
    pub fn trace_bulk(&mut self, command: &Command) {
        if !self.traces() {
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
            } => self.trace_stream(fields, start, from, count),
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
            Command::Gather(round) => self.trace_gather(round),
            // These touch no elements.
            Command::PlanNonTemporal { .. } | Command::PlanRows { .. } => {}
            // `memory` sends no others here.
            block_commands!()
            | variable_commands!()
            | structures!()
            | jumps!()
            | errors!()
            | calls!()
            | remarks!() => {}
        }
    }

    fn trace_stream(
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
            self.streamed_from(fields, start),
            self.assigned(count),
            size,
            what,
        ];
        self.push(Statement::call("nova_race_writes", arguments));
    }

    /// What the preparation of a round reads and writes.
    fn trace_gather(&mut self, round: &Gather) {
        match round {
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

    /// The elements that indices in memory name.
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

    /// As many elements as a round has, with others between them.
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
        // Nobody writes constants.
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

    /// What commands on the pieces of a loop read and write: elements, and which piece is which.
    pub fn trace_pieces(&mut self, command: &Command) {
        match command {
            Command::StoreBuffer {
                pieces,
                index,
                pointer,
                element,
                count,
                ..
            } if self.traces() => {
                let many = self.assigned(count);
                self.trace_reads(pointer, many, *element);
                self.trace_piece("nova_race_write", *pieces, index);
            }
            Command::Buffer { pieces, index, .. } if self.traces() => {
                self.trace_piece("nova_race_read", *pieces, index);
            }
            _others => {}
        }
    }

    /// What commands on the pieces of a loop have made.
    pub fn trace_made_pieces(&mut self, command: &Command) {
        match command {
            Command::ResultBuffers { pieces, count, .. } if self.traces() => {
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
            } if self.traces() => {
                let arguments = vec![Expression::Name(self.name(*pieces)), self.assigned(index)];
                let void = Type::name("void").pointer();
                let piece = Expression::call("nova_piece", arguments).cast(void);
                let count = self.assigned(count);
                self.trace_memory("nova_race_new", piece, count, memory_type(*element));
            }
            _others => {}
        }
    }

    fn trace_piece(&mut self, function: &str, pieces: Variable, index: &ir::Expression) {
        let ty = Type::name("nova_block").pointer();
        let table = Expression::Name(self.name(pieces)).arrow("data");
        let index = self.assigned(index);
        let arguments = vec![
            table.cast(ty.clone().pointer()).index(index).address(),
            Expression::SizeOf(ty),
            self.what(Some(pieces)),
        ];
        self.push(Statement::call(function, arguments));
    }
}
