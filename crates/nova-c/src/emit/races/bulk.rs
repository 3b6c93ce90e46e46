//! Reports the accesses of commands that move or combine many elements. Functions of the runtime make
//! these accesses; they are reported before the command.

use crate::context::function::Emitter;
use crate::emit::accesses::{array_of, trace_memory, what};
use crate::emit::expression::{assigned, expression};
use crate::emit::non_temporal::{first_stored, structure_size};
use crate::scalar::memory_type;
use crate::syntax::{block_type, int64, literal};
use nova_c_ast::ast::{Binary, Expression, Statement, Type};
use nova_core::Scalar;
use nova_loop::ir::{
    self, Command, Extent, FIXED_BLOCK, GATHER_WIDTH, Gather, Operand, Use, Variable,
    block_commands, calls, errors, jumps, operands, remarks, structures, variable_commands,
};

/// Reports the reads and writes of a command on many elements.
pub(crate) fn trace_bulk(code: &mut Emitter, command: &Command) {
    if !code.unit.traces() {
        return;
    }
    match command {
        Command::Copy { .. }
        | Command::PaddedCopy { .. }
        | Command::LaneReduce { .. }
        | Command::MultiplyPanels { .. }
        | Command::Gather(Gather::Rows { .. })
        | Command::SortWords { .. }
        | Command::PrefixScan { .. } => trace_addresses(code, command),
        Command::NonTemporalStore {
            fields,
            start,
            from,
            count,
            ..
        } => trace_non_temporal(code, fields, start, from, count),
        Command::TreeReduce {
            pointer, element, ..
        } => trace_writes(
            code,
            &ir::Expression::Variable(*pointer),
            literal(FIXED_BLOCK),
            *element,
        ),
        Command::Gather(gather) => trace_gather(code, gather),
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

/// Reports what a command reads and writes through its addresses.
fn trace_addresses(code: &mut Emitter, command: &Command) {
    let mut addresses = Vec::new();
    operands(command, &mut |operand| {
        if let Operand::Address(address, how, element, extent) = operand {
            addresses.push((address, how, element, extent));
        }
    });
    // The table has what a command writes first.
    for (address, how, element, extent) in addresses.into_iter().rev() {
        let count = match extent {
            Extent::Count(count) => assigned(code, count),
            Extent::Groups(count, size) => {
                Expression::binary(Binary::Multiply, assigned(code, count), literal(size))
            }
            Extent::Fixed(count) => literal(count),
            Extent::At(_) | Extent::Any => literal(1),
        };
        match how {
            Use::Read => trace_reads(code, address, count, element),
            Use::Written | Use::Value => trace_writes(code, address, count, element),
        }
    }
}

fn trace_non_temporal(
    code: &mut Emitter,
    fields: &[Variable],
    start: &ir::Expression,
    from: &ir::Expression,
    count: &ir::Expression,
) {
    let size = structure_size(code, fields);
    let arguments = vec![
        expression(code, from),
        assigned(code, count),
        size.clone(),
        size.clone(),
        what(code, array_of(from)),
    ];
    code.push(Statement::call("nova_race_reads", arguments));
    let arguments = vec![
        first_stored(code, fields, start),
        assigned(code, count),
        size,
        what(code, fields.first().copied()),
    ];
    code.push(Statement::call("nova_race_writes", arguments));
}

/// Reports the reads and writes of a gather.
fn trace_gather(code: &mut Emitter, gather: &Gather) {
    match gather {
        Gather::Rows { .. } => {}
        Gather::Strided {
            to,
            from,
            element,
            stride,
        } => {
            trace_strided(code, from, *element, *stride);
            trace_writes(code, to, literal(GATHER_WIDTH), *element);
        }
        Gather::Precheck {
            indices,
            index,
            stride,
            ..
        } => trace_strided(code, indices, *index, *stride),
        Gather::Indexed {
            to,
            from,
            element,
            indices,
            index,
            stride,
        } => {
            trace_strided(code, indices, *index, *stride);
            trace_gathered(code, from, *element, indices, *stride);
            trace_writes(code, to, literal(GATHER_WIDTH), *element);
        }
    }
}

/// Reports reads of the elements at indices in memory.
fn trace_gathered(
    code: &mut Emitter,
    from: &ir::Expression,
    element: Scalar,
    indices: &ir::Expression,
    stride: u32,
) {
    let variable = code.fresh("gathered");
    let number = Expression::Name(variable.clone());
    let at = Expression::binary(Binary::Multiply, number, literal(stride));
    let index = expression(code, indices).index(at);
    let arguments = vec![
        expression(code, from).index(index).address(),
        Expression::SizeOf(memory_type(element)),
        what(code, array_of(from)),
    ];
    code.push(Statement::For {
        ty: int64(),
        variable,
        count: literal(GATHER_WIDTH),
        body: vec![Statement::call("nova_race_read", arguments)].into(),
    });
}

fn trace_reads(code: &mut Emitter, from: &ir::Expression, count: Expression, element: Scalar) {
    let size = Expression::SizeOf(memory_type(element));
    trace_apart(code, from, count, size.clone(), size);
}

/// Reports reads of as many elements as a gather has, at a stride.
fn trace_strided(code: &mut Emitter, from: &ir::Expression, element: Scalar, stride: u32) {
    let size = Expression::SizeOf(memory_type(element));
    let apart = Expression::binary(Binary::Multiply, literal(stride), size.clone());
    trace_apart(code, from, literal(GATHER_WIDTH), size, apart);
}

fn trace_apart(
    code: &mut Emitter,
    from: &ir::Expression,
    count: Expression,
    size: Expression,
    apart: Expression,
) {
    // Constants are never written.
    if let Some(array) = array_of(from) {
        let from = expression(code, from);
        let arguments = vec![from, count, size, apart, what(code, Some(array))];
        code.push(Statement::call("nova_race_reads", arguments));
    }
}

fn trace_writes(code: &mut Emitter, to: &ir::Expression, count: Expression, element: Scalar) {
    let size = Expression::SizeOf(memory_type(element));
    let arguments = vec![expression(code, to), count, size, what(code, array_of(to))];
    code.push(Statement::call("nova_race_writes", arguments));
}

/// Reports the accesses of commands on result buffers: to their elements, and to the table of
/// buffers.
pub(crate) fn trace_result_buffers(code: &mut Emitter, command: &Command) {
    match command {
        Command::StoreBuffer {
            pieces,
            index,
            pointer,
            element,
            count,
            ..
        } if code.unit.traces() => {
            let many = assigned(code, count);
            trace_reads(code, pointer, many, *element);
            trace_result_buffer(code, "nova_race_write", *pieces, index);
        }
        Command::Buffer { pieces, index, .. } if code.unit.traces() => {
            trace_result_buffer(code, "nova_race_read", *pieces, index);
        }
        _others => {}
    }
}

/// Reports the result buffers that a command has allocated.
pub(crate) fn trace_made_result_buffers(code: &mut Emitter, command: &Command) {
    match command {
        Command::ResultBuffers { pieces, count, .. } if code.unit.traces() => {
            let table = code.named(*pieces).arrow("data");
            let count = assigned(code, count);
            let ty = block_type();
            trace_memory(code, "nova_race_new", table, count, ty);
        }
        Command::StoreBuffer {
            pieces,
            index,
            element,
            count,
            ..
        } if code.unit.traces() => {
            let arguments = vec![code.named(*pieces), assigned(code, index)];
            let void = Type::name("void").pointer();
            let buffer = Expression::call("nova_result_buffer", arguments).cast(void);
            let count = assigned(code, count);
            trace_memory(code, "nova_race_new", buffer, count, memory_type(*element));
        }
        _others => {}
    }
}

fn trace_result_buffer(
    code: &mut Emitter,
    function: &str,
    buffers: Variable,
    index: &ir::Expression,
) {
    let ty = block_type();
    let table = code.named(buffers).arrow("data");
    let index = assigned(code, index);
    let arguments = vec![
        table.cast(ty.clone().pointer()).index(index).address(),
        Expression::SizeOf(ty),
        what(code, Some(buffers)),
    ];
    code.push(Statement::call(function, arguments));
}
