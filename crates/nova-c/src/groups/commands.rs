//! Emits commands on whole node tables.

use crate::context::function::Emitter;
use crate::context::unit::Unit;
use crate::emit::accesses::trace_memory;
use crate::emit::expression::assigned;
use crate::emit::node_commands::{fill_node, payload_values};
use crate::emit::nodes::{node_of, node_table, table};
use crate::emit::variables::assign;
use crate::groups::reclaim::{mark, reclaim};
use crate::groups::walks::{Purpose, walk_function};
use crate::syntax::{
    context, context_parameter, int64, literal, null, parameter, static_function, truth,
};
use nova_c_ast::ast::{Binary, Expression, Function, Name, Statement, Type};
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

/// Returns the function that reserves nodes.
fn reserve_function(unit: &mut Unit, sum: SumId) -> Name {
    let name = format!("reserve_{}", unit.types.instance(sum));
    unit.helper(format!("reserve {}", sum.0), &name, |unit, name| {
        define_reserve(unit, sum, name)
    })
}

/// Defines `static int64_t reserve_List(context, count, place)`, which returns the first link.
fn define_reserve(unit: &mut Unit, sum: SumId, name: Name) -> Function {
    let node = Type::Name(table(unit, sum).node);
    let table = node_table(unit, sum);
    let (block, count) = (table.clone().member("block"), table.clone().member("count"));
    let nodes = table.member("nodes");
    let link = Expression::name("link");
    let reserve = vec![
        context(),
        block.clone().address(),
        count.address(),
        Expression::name("count"),
        Expression::SizeOf(node.clone()),
        Expression::name("place"),
    ];
    let mut body = Vec::new();
    let is_new = Expression::name("is_new");
    if unit.has_kernels {
        let none = Expression::binary(Binary::Equal, block.clone(), null());
        body.push(Statement::declare(Type::name("bool"), "is_new", none));
    }
    let data = block.arrow("data").cast(node.clone().pointer());
    body.extend([
        Statement::declare(
            int64(),
            "link",
            Expression::call("nova_reserve_nodes", reserve),
        ),
        Statement::assign(nodes.clone(), data),
    ]);
    if unit.has_kernels {
        // The memory may have belonged to an array of the device.
        let fresh = Statement::call("nova_fresh", vec![context(), nodes.clone()]);
        let written = vec![context(), nodes.clone(), truth(true)];
        let written = Statement::call("nova_on_host", written);
        body.push(Statement::when(is_new, vec![fresh, written]));
        // A kernel may copy nodes that are not stored yet.
        let bytes = Expression::SizeOf(node);
        let count = Expression::name("count").cast(Type::name("size_t"));
        let bytes = Expression::binary(Binary::Multiply, count, bytes);
        let at = Expression::binary(Binary::Add, nodes, link.clone());
        body.push(Statement::call("memset", vec![at, literal(0), bytes]));
    }
    body.push(Statement::Return(Some(link)));
    static_function(
        int64(),
        name,
        vec![
            context_parameter(),
            parameter(int64(), "count"),
            parameter(Type::name("char").constant().pointer(), "place"),
        ],
        body,
    )
}
