//! Adds code that traces races (`runtime-c/common/races.h`). Parallel loops run in order and report the
//! current iteration. Every access to an array is reported, and every access to a variable that
//! iterations of an enclosing parallel loop assign. [`bulk`] handles commands on many elements.

pub(crate) mod bulk;

use crate::context::function::Emitter;
use crate::context::groups::arrays;
use crate::context::tracing::kind;
use crate::context::writer::Writer;
use crate::dialect;
use crate::emit::accesses::trace_memory;
use crate::emit::expression::assigned;
use crate::scalar::memory_type;
use crate::syntax::{block_type, context, declaration, truth};
use nova_c_ast::ast::{Expression, Name, Statement};
use nova_core::Scalar;
use nova_diag::Place;
use nova_loop::ir::{self, Command, Level, Variable};

/// Emits a loop whose iterations run in order.
pub(crate) fn traced_loop(
    code: &mut Emitter,
    variable: Variable,
    count: Expression,
    level: Level,
    body: &[Command],
    place: &Place,
) {
    let enclosing = code.tracing.at(place);
    let index = code.declare(variable);
    code.add_index(variable);
    let kind = kind(level);
    let groups = match level {
        Level::Block => arrays_of_groups(code, body, place),
        Level::Sequential
        | Level::Grid
        | Level::Thread
        | Level::Vector
        | Level::Independent
        | Level::Unrolled
        | Level::Rank => Vec::new(),
    };
    if let Some(kind) = kind {
        let place = place_text(code);
        let arguments = vec![place, Expression::name(kind)];
        code.push(Statement::call("nova_race_enter", arguments));
    }
    code.tracing.parallel += usize::from(kind.is_some());
    let mut block = code.block(body);
    code.tracing.parallel -= usize::from(kind.is_some());
    if kind.is_some() {
        let iteration = vec![Expression::Name(index.clone())];
        block.insert(0, Statement::call("nova_race_next", iteration));
    }
    let counted = dialect::counted_loop(Level::Sequential, index, count, block);
    code.push(counted);
    if kind.is_some() {
        code.push(Statement::call("nova_race_leave", Vec::new()));
    }
    for group in groups {
        let arguments = vec![context(), Expression::Name(group)];
        code.push(Statement::call("nova_release", arguments));
    }
    code.tracing.place = enclosing;
}

/// Allocates the arrays that the threads of a group share, once for all groups. Returns their
/// blocks.
fn arrays_of_groups(code: &mut Emitter, body: &[Command], place: &Place) -> Vec<Name> {
    let mut blocks = Vec::new();
    for (pointer, count) in arrays(body) {
        let element = memory_type(code.element_of(pointer));
        let name = code.declare(pointer);
        let block = code.fresh(&format!("{name}_block"));
        code.push(declaration(block_type(), block.clone()));
        let arguments = vec![
            context(),
            Expression::Name(block.clone()).address(),
            assigned(code, count),
            Expression::SizeOf(element.clone()),
            Expression::text(place.to_string()),
        ];
        let data = Expression::call("nova_allocate", arguments).cast(element.clone().pointer());
        code.push(Statement::declare(element.pointer(), name, data));
        blocks.push(block);
    }
    blocks
}

/// Emits a barrier of the loop at a level.
pub(crate) fn traced_barrier(code: &mut Writer, level: Level) {
    if let Some(kind) = kind(level) {
        let arguments = vec![Expression::name(kind)];
        code.push(Statement::call("nova_race_barrier", arguments));
    }
}

/// Emits the beginning or the end of the ordered region of an iteration.
pub(crate) fn traced_ordered(code: &mut Writer, ends: bool) {
    let ends = truth(ends);
    code.push(Statement::call("nova_race_ordered", vec![ends]));
}

/// Returns the place of the innermost loop, or the name of the function if there is none.
fn place_text(code: &Emitter) -> Expression {
    Expression::text(match &code.tracing.place {
        Some(place) => place.to_string(),
        None => code.function.to_string(),
    })
}

/// Reports an array that the threads of a group share, which is new for each group.
pub(crate) fn trace_shared(code: &mut Emitter, pointer: Variable, count: &ir::Expression) {
    trace_new(code, pointer, code.element_of(pointer), count);
}

/// Reports a new array.
pub(crate) fn trace_new(
    code: &mut Emitter,
    pointer: Variable,
    element: Scalar,
    count: &ir::Expression,
) {
    if code.unit.traces() {
        let place = code.named(pointer);
        let count = assigned(code, count);
        trace_memory(code, "nova_race_new", place, count, memory_type(element));
    }
}
