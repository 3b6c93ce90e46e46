//! Kernels whose work-groups propagate prefixes in an ordered region, by decoupled look-back. Groups
//! take iterations by tickets, and combine the aggregates of the iterations before
//! (`runtime-c/cuda/ordered.h`). Only CUDA guarantees enough about the groups that run at the same
//! time. No pass makes such loops for OpenCL, whose compilers would not know the names.

use crate::context::function::Emitter;
use crate::context::ordered::Ordered;
use crate::context::writer::Writer;
use crate::device::launch::array_argument;
use crate::emit::expression::expression;
use crate::scalar::{self, Value, memory_type, variable_type};
use crate::syntax::{block_type, context, literal, parameter};
use nova_c_ast::ast::{Expression, Function, Name, Parameter, Statement, Type};
use nova_core::{Scalar, ScalarOperation};
use nova_loop::ir::Command;
use nova_loop::ordered_regions::propagated;

/// Before a launch, allocates the state of the ordered region for `count` iterations, if the loop
/// has a region. Returns its block and the argument for it.
pub(crate) fn new_ordered(
    code: &mut Writer,
    count: &Expression,
    body: &[Command],
) -> Option<(Name, Expression)> {
    let numbers = propagated(body)?.len();
    let block = code.fresh("ordered");
    let all = vec![context(), count.clone(), literal(numbers)];
    let made = Expression::call("nova_new_ordered", all);
    let ty = block_type();
    code.push(Statement::declare(ty, block.clone(), made));
    let data = Expression::Name(block.clone()).arrow("data");
    Some((block, array_argument(data, Type::name("uint64_t"), true)))
}

/// Adds the parameter for the state of the ordered region, if the loop of a kernel has one.
pub(crate) fn take_ordered_from_host(
    code: &mut Emitter,
    (index, count): (&Name, &Name),
    body: &[Command],
    parameters: &mut Vec<Parameter>,
) {
    if propagated(body).is_none() {
        return;
    }
    let words = code.fresh("ordered");
    parameters.push(parameter(Type::name("uint64_t").pointer(), words.clone()));
    code.device.ordered = Some(Ordered {
        words,
        index: index.clone(),
        count: count.clone(),
    });
}

/// Emits the ordered region at the start of `commands`. Returns the number of its commands; 0 if
/// there is none.
pub(crate) fn ordered_region(code: &mut Emitter, commands: &[Command]) -> usize {
    let Some(ordered) = code.device.ordered.clone() else {
        return 0;
    };
    let (Some(Command::BeginOrdered(_)), Some(values)) = (commands.first(), propagated(commands))
    else {
        return 0;
    };
    for (number, each) in values.iter().enumerate() {
        let combine = combination(code, each.operation, each.scalar);
        let own = expression(code, each.own);
        let arguments = vec![
            Expression::Name(ordered.words.clone()),
            Expression::Name(ordered.index.clone()),
            Expression::Name(ordered.count.clone()),
            literal(number),
            code.named(each.state),
            own.cast(memory_type(each.scalar)),
            Expression::Name(combine),
        ];
        let name = code.declare(each.begin);
        let given = Expression::call("nova_propagate_prefix", arguments);
        let ty = variable_type(each.scalar);
        code.push(Statement::declare(ty, name, given));
    }
    // The region consists of its beginning, a declaration and a store for each number, and its end.
    2 + 2 * values.len()
}

/// Defines a function of the device that combines two numbers.
fn combination(code: &mut Emitter, operation: ScalarOperation, scalar: Scalar) -> Name {
    let name = format!("{}_combine", code.function);
    let name = code.unit.names.fresh(&name, None);
    let [a, b] = ["a", "b"].map(|name| Value::exact(Expression::name(name), scalar, 0));
    let functions = code.functions();
    let value = scalar::apply(operation, vec![a, b], functions).own();
    let ty = || memory_type(scalar);
    let parameters = ["a", "b"].map(|name| parameter(ty(), name));
    code.unit.kernels.functions.push(Function {
        prefix: vec!["static __device__ inline".into()],
        result: ty(),
        name: name.clone(),
        parameters: parameters.into(),
        body: Some(vec![Statement::Return(Some(value))].into()),
    });
    name
}
