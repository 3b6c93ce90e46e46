//! Kernels with work-groups: the loops that the threads of a group share, arrays of the group, and
//! barriers (dpia.txt §6.3, §6.4).
//!
//! A thread that fails must not leave the others waiting at a barrier. It leaves only the loop that the
//! threads share. At the next barrier all threads of the group see that one of them has failed, and
//! return together.

use crate::context::function::Emitter;
use crate::context::groups::arrays;
use crate::context::writer::Writer;
use crate::dialect::Dialect;
use crate::emit::exits::leaves;
use crate::emit::expression::plain;
use crate::scalar::memory_type;
use crate::syntax::{context, int64, literal, parameter};
use nova_c_ast::ast::{Binary, Expression, Hint, Name, Parameter, Statement, Type};
use nova_core::ScalarOperation;
use nova_loop::captures::captured;
use nova_loop::ir::{self, Command, Level, Variable};
use nova_loop::walk::{each_command, has_ordered_region};

/// True if the body of a kernel has barriers of a work-group.
pub fn waits(body: &[Command]) -> bool {
    let mut found = false;
    each_command(body, |command| {
        found |= matches!(command, Command::Barrier(Level::Thread));
    });
    found
}

/// Returns the arguments that the host passes for the arrays of a group: their sizes.
pub(crate) fn group_arguments(code: &mut Emitter, body: &[Command]) -> Vec<Expression> {
    let mut arguments = Vec::new();
    for (pointer, count) in arrays(body) {
        let size = Expression::SizeOf(memory_type(code.element_of(pointer)));
        let all = vec![context(), plain(code, count), size];
        arguments.push(Expression::call("nova_local_array", all));
    }
    arguments
}

/// Returns the number of threads of a group that have work: that of the largest loop that they
/// share. If it is not known before the launch, it is the largest size of groups.
pub(crate) fn threads_of_group(
    code: &mut Emitter,
    index: Variable,
    body: &[Command],
) -> Expression {
    match most_threads(index, body) {
        Some(threads) => plain(code, &threads),
        None => Expression::name("NOVA_BLOCK_SIZE"),
    }
}

/// Adds the parameters for the arrays of the group.
pub(crate) fn take_arrays_of_group(
    code: &mut Emitter,
    body: &[Command],
    parameters: &mut Vec<Parameter>,
) {
    let arrays = arrays(body);
    if arrays.is_empty() {
        return;
    }
    let memory = code.fresh("shared");
    let declared = code.unit.options.dialect.group_memory(memory.clone());
    let has_offsets = declared.is_some();
    declared.into_iter().for_each(|d| code.push(d));
    for (pointer, _) in arrays {
        let name = code.declare(pointer);
        let ty = code.type_of_variable(pointer);
        if !has_offsets {
            parameters.push(parameter(ty, name));
            continue;
        }
        let offset = code.fresh(&format!("{name}_offset"));
        let [all, from] = [&memory, &offset].map(|name| Expression::Name(name.clone()));
        let place = Expression::binary(Binary::Add, all, from).cast(ty.clone());
        code.push(Statement::declare(ty, name, place));
        let ty = int64();
        parameters.push(parameter(ty, offset));
    }
}

/// Emits the start of a kernel. After an earlier failure the kernel does nothing, where kernels of
/// the program may fail; `fails` says whether this one may. `slice` is the start and the size of
/// the thread's memory, `tables` the address of its node tables.
pub(crate) fn start_kernel(
    code: &mut Emitter,
    (failure, fails): (Name, bool),
    state: Name,
    slice: Option<(Expression, Expression)>,
    tables: Option<Expression>,
) {
    let dialect = code.unit.options.dialect;
    let mut fields = vec![Expression::Name(failure.clone()), Expression::name("false")];
    if code.device.waits {
        let name = code.fresh("failed_in");
        let (declared, address) = dialect.group_variable("int", name);
        code.push(declared);
        fields.push(address);
    } else {
        fields.push(literal(0));
        // Nothing is written there while a kernel without failures runs.
        let question = match fails {
            true => "nova_has_failed",
            false => "nova_failed_before",
        };
        if code.unit.kernels.may_fail {
            let failed = Expression::call(question, vec![Expression::Name(failure)]);
            code.push(Statement::when(failed, vec![Statement::Return(None)]));
        }
    }
    let zero = || literal(0);
    let (heap, size) = slice.unwrap_or_else(|| (zero(), zero()));
    fields.extend([zero(), heap, size, zero(), zero()]);
    fields.push(tables.unwrap_or_else(zero));
    let ty = Type::name("nova_context");
    let value = Expression::Braces(fields);
    code.push(Statement::declare(ty.clone(), state.clone(), value));
    let value = Expression::Name(state).address();
    code.push(Statement::declare(ty.pointer(), "context", value));
    if code.device.waits {
        return_if(code, "nova_group_begins_failed");
    }
}

fn return_if(code: &mut Writer, question: &str) {
    let failed = Expression::call(question, vec![context()]);
    code.push(Statement::when(failed, vec![Statement::Return(None)]));
}

/// Emits a barrier of the work-group.
pub(crate) fn group_barrier(code: &mut Emitter) {
    let barrier = code.unit.options.dialect.group_barrier();
    code.push(barrier);
    if code.device.waits {
        return_if(code, "nova_group_has_failed");
    }
}

/// Emits a barrier after a block that contains barriers and may be left early, in OpenCL C. PoCL
/// splits kernels at barriers into regions, and runs the work-items of a group one after the other
/// in each region. If a region has several successors (the end of the block, and the end of the
/// kernel), the first work-item chooses the successor for all. Then all work-items enter a
/// following loop of threads, or none does (seen with PoCL 3.1, which wrote past the end of
/// arrays).
pub(crate) fn meet_at_end(code: &mut Emitter, commands: &[Command]) {
    let comes_there = commands
        .last()
        .is_some_and(|last| !leaves(last) && !matches!(last, Command::Barrier(_)));
    if code.device.waits && comes_there && waits(commands) {
        let barrier = code.unit.options.dialect.barrier_at_end();
        barrier.into_iter().for_each(|b| code.push(b));
    }
}

/// Emits a loop that the threads of a group share.
pub(crate) fn loop_of_threads(
    code: &mut Emitter,
    variable: Variable,
    count: Expression,
    body: &[Command],
) {
    if code.device.waits {
        code.device.after_threads = Some((code.fresh("after"), false));
    }
    let name = code.declare(variable);
    code.add_index(variable);
    let body = code.block(body);
    code.push(Statement::Lanes {
        hint: Hint::SharedInGroup,
        variable: name,
        count,
        body: body.into(),
    });
    if let Some((label, true)) = code.device.after_threads.take() {
        code.push(Statement::Label(label));
        let failed = context().arrow("failed");
        code.push(Statement::assign(failed, Expression::name("false")));
    }
}

/// Returns the largest number of threads of a group that have work, if it is known before the launch:
/// that of the largest loop that they share.
fn most_threads(index: Variable, body: &[Command]) -> Option<ir::Expression> {
    let known = captured(index, body);
    // A whole warp looks back in an ordered region.
    let least = if has_ordered_region(body) { 32 } else { 1 };
    let mut threads = ir::Expression::index(least);
    let mut all_known = true;
    each_command(body, |command| {
        if let Command::For {
            count,
            level: Level::Thread,
            ..
        } = command
        {
            count.each_variable(&mut |v| all_known &= known.contains(&v));
            all_known &= !count.reads_memory();
            let more = count
                .clone()
                .compare(ScalarOperation::Maximum, threads.clone());
            threads = match (count.as_index(), threads.as_index()) {
                (Some(a), Some(b)) => ir::Expression::index(a.max(b)),
                (None, Some(1)) => count.clone(),
                (Some(1), None) => threads.clone(),
                (_, _) => more,
            };
        }
    });
    all_known.then_some(threads)
}

/// Returns the statement at the start of a kernel of groups that states the number of their threads, if
/// it is known when the kernel is compiled.
pub fn size_of_groups(dialect: &Dialect, index: Variable, body: &[Command]) -> Option<Statement> {
    let threads = match most_threads(index, body) {
        Some(threads) => literal(threads.as_index()?),
        None => Expression::name("NOVA_BLOCK_SIZE"),
    };
    dialect.size_of_groups(threads)
}
