//! Emits commands on whole node tables.

use crate::context::function::Emitter;
use crate::emit::accesses::trace_memory;
use crate::emit::expression::assigned;
use crate::emit::node_commands::{fill_node, payload_values};
use crate::emit::nodes::{node_of, node_table, reserve_function};
use crate::emit::variables::assign;
use crate::groups::reclaim::{mark, reclaim};
use crate::groups::walks::{Purpose, walk_function};
use crate::syntax::{context, int64, literal, truth};
use nova_c_ast::ast::{Binary, Expression, Statement, Type};
use nova_core::SumId;
use nova_loop::ir::{self, TableCommand, Variable};

/// The fields of the runtime's description of the nodes of a member, in the order of a command's results.
const FIELDS: [&str; 7] = [
    "count",
    "order",
    "order_block",
    "lowest",
    "span",
    "number",
    "number_block",
];

/// Emits a command that numbers, reserves, fills or checks nodes of whole tables. Only the host has it.
pub(crate) fn table_command(code: &mut Emitter, command: &TableCommand) {
    match command {
        TableCommand::Reached {
            members,
            link,
            results,
            place,
        } => {
            let link = assigned(code, link);
            let found = code.fresh("reached");
            let ty = Type::Array(Type::name("nova_reached").into(), members.len() as u32);
            code.push(Statement::Declare {
                ty,
                name: found.clone(),
                value: None,
            });
            let found = Expression::Name(found);
            let function = walk_function(code.unit, members, Purpose::Reached);
            let place = Expression::text(place.to_string());
            let arguments = vec![context(), link, found.clone(), place];
            code.push(Statement::call(function, arguments));
            take_reached(code, &found, results);
        }
        TableCommand::Reserve {
            sum,
            count,
            link,
            place,
        } => {
            let count = assigned(code, count);
            let function = reserve_function(code.unit, *sum);
            let arguments = vec![context(), count, Expression::text(place.to_string())];
            assign(code, *link, Expression::call(function, arguments));
        }
        TableCommand::Store {
            sum,
            constructor,
            link,
            payload,
        } => store(code, (*sum, *constructor), link, payload),
        TableCommand::Seal { from, link, .. } => {
            let from = assigned(code, from);
            assign(code, *link, from);
        }
        TableCommand::Acyclic {
            members,
            first,
            counts,
            acyclic,
            ..
        } => {
            let first = list(code, "first", first);
            let counts = list(code, "counts", counts);
            let function = walk_function(code.unit, members, Purpose::Acyclic);
            let arguments = vec![context(), first, counts];
            assign(code, *acyclic, Expression::call(function, arguments));
        }
        TableCommand::Mark { sum, first, limit } => mark(code, *sum, *first, *limit),
        TableCommand::Reclaim {
            sums,
            first,
            limits,
            links,
            targets,
            place,
        } => reclaim(code, (sums, targets), first, (limits, links), place),
    }
}

/// Assigns the nodes that a link reaches to the results of a command.
fn take_reached(code: &mut Emitter, found: &Expression, results: &[Variable]) {
    for (member, results) in results.chunks(FIELDS.len()).enumerate() {
        let own = found.clone().index(literal(member));
        for (result, field) in results.iter().zip(FIELDS) {
            assign(code, *result, own.clone().member(field));
        }
        note_array(code, &own, "order", "count", "int64_t");
        note_array(code, &own, "number", "span", "int32_t");
    }
}

/// Tells the runtime about a new array that the host has written.
fn note_array(code: &mut Emitter, own: &Expression, array: &str, count: &str, element: &str) {
    let array = own.clone().member(array.to_string());
    if code.unit.has_kernels {
        // The memory may have belonged to an array of the device.
        let fresh = vec![context(), array.clone()];
        code.push(Statement::call("nova_fresh", fresh));
        let written = vec![context(), array.clone(), truth(true)];
        code.push(Statement::call("nova_on_host", written));
    }
    if code.unit.traces() {
        let count = own.clone().member(count.to_string());
        trace_memory(
            code,
            "nova_race_new",
            array,
            count,
            Type::name(element.to_string()),
        );
    }
}

/// Declares a list of numbers.
fn list(code: &mut Emitter, name: &str, values: &[ir::Expression]) -> Expression {
    let values: Vec<Expression> = values.iter().map(|v| assigned(code, v)).collect();
    let ty = Type::Array(int64().into(), values.len() as u32);
    code.variable(ty, name, Expression::Braces(values))
}

/// Emits the assignment of a node to a reserved place.
fn store(
    code: &mut Emitter,
    (sum, constructor): (SumId, u32),
    link: &ir::Expression,
    payload: &[ir::Expression],
) {
    let values = payload_values(code, payload);
    let link = assigned(code, link);
    let link = code.variable(int64(), "node", link);
    if code.unit.has_kernels {
        // The device must get the node, although it may have seen its place.
        code.unit.kernels.stored.insert(sum);
        let sent = node_table(code.unit, sum).member("sent").member("count");
        let seen = Expression::binary(Binary::Greater, sent.clone(), link.clone());
        let again = Statement::assign(sent, link.clone());
        code.push(Statement::when(seen, vec![again]));
    }
    let tag = node_of(code.unit, sum, link.clone()).member("tag");
    code.push(Statement::assign(tag, literal(constructor)));
    fill_node(code, (sum, constructor), &link, values, payload);
}
