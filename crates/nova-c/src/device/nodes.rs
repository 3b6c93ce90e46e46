//! Node tables inside of kernels.
//!
//! Kernels read and append nodes without arrays in the device memory of the host's table; the host takes
//! over new nodes after the kernel. Of nodes with arrays, kernels read copies: an array is an offset into
//! one array of bytes that holds all elements (`runtime-c/device/nodes.h`, `new_nodes.h`).
//!
//! A kernel has the tables that it uses in a `struct nova_device_tables`, to which its context points,
//! as the context of the host points to `struct nova_tables`.

use crate::context::ctype::field_name;
use crate::context::unit::Unit;
use crate::context::writer::Writer;
use crate::device::launch::array_argument;
use crate::emit::nodes::{fields_with, node_table, payload_fields, table};
use crate::scalar::memory_type;
use crate::syntax::{
    block_type, context, context_parameter, declaration, int64, null, parameter, procedure,
};
use nova_c_ast::ast::{
    Binary, Expression, Field, Function, Item, Name, Parameter, Statement, Type,
};
use nova_core::{Scalar, SumId};
use nova_flat::representation::components;
use nova_loop::call_graph::called;
use nova_loop::ir::{self, Command, Program};
use nova_loop::walk::{each_command, reads};
use std::collections::BTreeMap;

/// The structure with the tables that a kernel uses.
const TABLES: &str = "nova_device_tables";

/// The type that describes a table to which a kernel appends.
const GROWTH: &str = "nova_device_nodes";

/// The node tables that a kernel uses; `true` for those that it appends to.
pub type UsedTables = BTreeMap<SumId, bool>;

/// Returns the node tables that commands use, and the functions that they call.
pub fn tables_used(program: &Program, body: &[Command]) -> UsedTables {
    let mut found = UsedTables::new();
    used_in(body, &mut found);
    for id in called(program, body) {
        if let Some(function) = program.functions.get(id.index()) {
            used_in(&function.body, &mut found);
        }
    }
    found
}

/// Returns the tables that a kernel appends to.
pub fn growing(tables: &UsedTables) -> impl Iterator<Item = SumId> {
    let all = tables.iter();
    all.filter_map(|(sum, appends)| appends.then_some(*sum))
}

fn used_in(commands: &[Command], found: &mut UsedTables) {
    each_command(commands, |command| {
        if let Command::NodePayload { sum, .. } = command {
            found.entry(*sum).or_default();
        }
        // Nodes that hold nothing are not appended.
        if let Command::NodeNew { sum, payload, .. } = command
            && !payload.is_empty()
        {
            found.insert(*sum, true);
        }
        reads(command, &mut |expression| tags_in(expression, found));
    });
}

fn tags_in(expression: &ir::Expression, found: &mut UsedTables) {
    if let ir::Expression::NodeTag { sum, .. } = expression {
        found.entry(*sum).or_default();
    }
    for child in expression.children() {
        nova_diag::deep(|| tags_in(child, found));
    }
}

/// A component of a payload: its field and, for an array, its element and the fields whose product is
/// the number of elements.
struct Component {
    field: Name,
    array: Option<(Scalar, Vec<Name>)>,
}

/// Returns the components of a constructor's payload.
fn payload_components(unit: &Unit, sum: SumId, constructor: u32) -> Vec<Component> {
    let fields = payload_fields(unit, sum, constructor);
    let mut fields = fields.into_iter().filter_map(|mut path| path.pop());
    let payload = unit.types.sum(sum).constructors.get(constructor as usize);
    let known = payload.map_or_else(Vec::new, |c| components(&c.payload, &unit.program.sums));
    let mut found: Vec<Component> = Vec::new();
    for component in known {
        let Some(field) = fields.next() else { break };
        let array = (!component.shape.is_empty()).then(|| {
            // The handle of the array's block, which kernels do not have.
            fields.next();
            let extents = component.shape.iter().filter_map(|k| found.get(*k));
            (component.scalar, extents.map(|c| c.field.clone()).collect())
        });
        found.push(Component { field, array });
    }
    found
}

/// True if nodes of a sum hold arrays.
fn nodes_hold_arrays(unit: &Unit, sum: SumId) -> bool {
    unit.program.nodes_hold_arrays(sum)
}

/// Returns the type of the nodes of a sum as kernels see them.
fn device_node(unit: &mut Unit, sum: SumId) -> Name {
    let node = table(unit, sum).node;
    match nodes_hold_arrays(unit, sum) {
        true => format!("{node}_on_device").into(),
        false => node,
    }
}

/// Returns the type of the copies of a sum's nodes that kernels read; empty where kernels read the
/// nodes themselves.
pub(crate) fn copied_nodes(unit: &Unit, sum: SumId) -> Vec<Item> {
    let Some(table) = unit.tables.get(&sum.0) else {
        return Vec::new();
    };
    if !nodes_hold_arrays(unit, sum) {
        return Vec::new();
    }
    let comment = "The same as kernels see it: an array is where it begins among the bytes of all.";
    let name = format!("{}_on_device", table.node).into();
    let struct_item = Item::Struct {
        name,
        fields: device_fields(unit, sum),
        typedef: true,
    };
    vec![Item::Comment(comment.into()), struct_item, Item::Blank]
}

fn device_fields(unit: &Unit, sum: SumId) -> Vec<Field> {
    let block = block_type();
    fields_with(unit, unit.types.sum(sum), &|name, ty| match ty {
        ty if ty == block => None,
        Type::Pointer(_) => Some(Field::Plain(int64(), name)),
        ty => Some(Field::Plain(ty, name)),
    })
}

/// Returns the types that the kernels of a file need for tables; empty if they use none.
pub(crate) fn device_table_items(unit: &mut Unit) -> Vec<Item> {
    let dialect = unit.options.dialect;
    let sums: Vec<SumId> = unit.kernels.nodes.iter().copied().collect();
    if sums.is_empty() {
        return Vec::new();
    }
    let mut items = Vec::new();
    let mut tables = Vec::new();
    for sum in sums {
        let node = device_node(unit, sum);
        // In CUDA the types of the host stand before the kernels.
        if !dialect.kernels_see_host() {
            items.push(Item::Struct {
                name: node.clone(),
                fields: device_fields(unit, sum),
                typedef: true,
            });
            items.push(Item::Blank);
        }
        let shared = |ty| dialect.shared_type(ty).pointer();
        let mut fields = vec![Field::Plain(shared(Type::Name(node)), "nodes".into())];
        if nodes_hold_arrays(unit, sum) {
            fields.push(Field::Plain(shared(Type::name("uint8_t")), "bytes".into()));
        }
        if unit.kernels.growing.contains(&sum) {
            fields.push(Field::Plain(Type::name(GROWTH), "growth".into()));
        }
        tables.push(Field::Struct(fields, table(unit, sum).field));
    }
    items.push(Item::Struct {
        name: TABLES.into(),
        fields: tables,
        typedef: false,
    });
    items.push(Item::Blank);
    items
}

/// Returns the function that prepares a table for a kernel, where its nodes hold arrays.
fn send_function(unit: &mut Unit, sum: SumId) -> Name {
    let key = format!("send {}", sum.0);
    if let Some(name) = unit.helper_names.get(&key) {
        return name.clone();
    }
    let instance = unit.types.instance(sum);
    let name = unit.names.fresh(&format!("send_{instance}"), None);
    unit.helper_names.insert(key, name.clone());
    let function = define_send(unit, sum, name.clone());
    unit.helpers.push(function);
    name
}

/// Defines `static void send_Rose(nova_context *context)`, which copies the nodes that the device
/// does not have yet.
fn define_send(unit: &mut Unit, sum: SumId, name: Name) -> Function {
    let table = table(unit, sum);
    let node = Type::Name(device_node(unit, sum));
    let own = Expression::name("table");
    let sent = own.clone().arrow("sent");
    let (first, count) = (sent.clone().member("count"), own.clone().arrow("count"));
    let copies = sent.clone().member("nodes");
    let reserve = vec![
        context(),
        sent.clone().member("nodes_block").address(),
        first.clone(),
        count.clone(),
        Expression::SizeOf(node.clone()),
        null(),
    ];
    let known = Expression::binary(Binary::Equal, first.clone(), count.clone());
    let fields = context().arrow("tables").arrow(table.field.clone());
    let on_host = vec![context(), copies.clone(), Expression::name("true")];
    let link = Expression::binary(Binary::Add, first.clone(), Expression::name("i"));
    let cases = copied_payloads(unit, sum, &sent);
    let (from, to) = (Expression::name("node"), Expression::name("copy"));
    let mut each = vec![
        Statement::declare(
            Type::Name(table.node).constant().pointer(),
            "node",
            own.arrow("nodes").index(link.clone()).address(),
        ),
        Statement::declare(
            node.clone().pointer(),
            "copy",
            Expression::binary(Binary::Add, copies.clone().cast(node.pointer()), link),
        ),
        Statement::assign(to.arrow("tag"), from.clone().arrow("tag")),
    ];
    each.push(Statement::Switch {
        value: from.arrow("tag"),
        cases,
    });
    let body = vec![
        Statement::declare(Type::Name(table.table).pointer(), "table", fields.address()),
        Statement::when(known, vec![Statement::Return(None)]),
        Statement::assign(copies, Expression::call("nova_reserve", reserve)),
        Statement::call("nova_on_host", on_host),
        Statement::For {
            ty: int64(),
            variable: "i".into(),
            count: Expression::binary(Binary::Subtract, count.clone(), first.clone()),
            body: each.into(),
        },
        Statement::assign(first, count),
    ];
    procedure(name, vec![context_parameter()], body)
}

/// For each constructor, the statements that copy a payload from `node` to `copy`.
fn copied_payloads(unit: &Unit, sum: SumId, sent: &Expression) -> Vec<nova_c_ast::ast::Block> {
    let constructors = unit.types.sum(sum).constructors.iter().enumerate();
    let copied = constructors.map(|(k, constructor)| {
        let inside = |name: &str, field: &Name| {
            let union = Expression::name(name).arrow("u");
            union
                .member(field_name(&constructor.name))
                .member(field.clone())
        };
        let all = payload_components(unit, sum, k as u32);
        let statements = all.iter().map(|component| {
            let value = inside("node", &component.field);
            let value = match &component.array {
                None => value,
                Some((element, extents)) => {
                    let size = Expression::SizeOf(memory_type(*element));
                    let size = size.cast(int64());
                    let bytes = extents.iter().fold(size, |bytes, extent| {
                        Expression::binary(Binary::Multiply, bytes, inside("node", extent))
                    });
                    let all = vec![context(), sent.clone().address(), value, bytes];
                    Expression::call("nova_send_array", all)
                }
            };
            Statement::assign(inside("copy", &component.field), value)
        });
        statements.collect::<Vec<_>>().into()
    });
    copied.collect()
}

/// Prepares tables for a kernel, and returns the arguments that the host passes for them.
pub(crate) fn node_arguments(code: &mut Writer, tables: &UsedTables) -> Vec<Expression> {
    let mut arguments = Vec::new();
    for (sum, appends) in tables {
        let table = node_table(code.unit, *sum);
        let sent = table.clone().member("sent");
        let (nodes, count) = (table.clone().member("nodes"), table.clone().member("count"));
        let ty = Type::Name(device_node(code.unit, *sum));
        if *appends {
            let block = table.member("block").address();
            let size = Expression::SizeOf(ty);
            let all = vec![sent.address(), block, count.address(), size];
            arguments.push(Expression::call("nova_growing_table", all));
            continue;
        }
        if !nodes_hold_arrays(code.unit, *sum) {
            let size = Expression::SizeOf(ty.clone());
            let all = vec![context(), sent.address(), nodes.clone(), count, size];
            code.push(Statement::call("nova_send_nodes", all));
            arguments.push(array_argument(nodes, ty, false));
            continue;
        }
        let send = send_function(code.unit, *sum);
        code.push(Statement::call(send, vec![context()]));
        let copies = sent.clone().member("nodes").cast(ty.clone().pointer());
        arguments.push(array_argument(copies, ty, false));
        let byte = Type::name("uint8_t");
        arguments.push(array_argument(sent.member("bytes"), byte, false));
    }
    arguments
}

/// After a kernel, updates the pointers to the nodes of tables that it has appended to: the nodes
/// may have moved.
pub(crate) fn find_nodes(code: &mut Writer, tables: &UsedTables) {
    for sum in growing(tables) {
        let node = Type::Name(table(code.unit, sum).node);
        let table = node_table(code.unit, sum);
        let block = table.clone().member("block");
        let nodes = Expression::call("nova_nodes_of", vec![block.clone()]);
        let size = Expression::SizeOf(node.clone());
        let room = Expression::call("nova_room_for_nodes", vec![block, size]);
        let place = table.clone().member("nodes");
        code.push(Statement::assign(place, nodes.cast(node.pointer())));
        code.push(Statement::assign(table.member("room"), room));
    }
}

/// Adds the parameters for the tables that a kernel uses. Returns the address of the structure that
/// holds them; `None` if there are no tables.
pub(crate) fn take_tables(
    code: &mut Writer,
    used: &UsedTables,
    parameters: &mut Vec<Parameter>,
) -> Option<Expression> {
    if used.is_empty() {
        return None;
    }
    code.unit.kernels.nodes.extend(used.keys());
    code.unit.kernels.growing.extend(growing(used));
    let tables = code.fresh("tables");
    code.push(declaration(Type::Struct(TABLES.into()), tables.clone()));
    for (sum, appends) in used {
        let node = Type::Name(device_node(code.unit, *sum));
        let field = table(code.unit, *sum).field;
        let table = Expression::Name(tables.clone()).member(field.clone());
        if *appends {
            let growth = take_growth(code, &field, node, table.clone(), parameters);
            code.push(Statement::assign(table.member("growth"), growth));
            continue;
        }
        let mut parts = vec![("nodes", node)];
        if nodes_hold_arrays(code.unit, *sum) {
            parts.push(("bytes", Type::name("uint8_t")));
        }
        for (part, element) in parts {
            let name = code.fresh(&format!("{field}_{part}"));
            let value = array_parameter(code, &name, element, parameters);
            code.push(Statement::assign(table.clone().member(part), value));
        }
    }
    Some(Expression::Name(tables).address())
}

/// Adds the parameters for a table that a kernel appends to, and sets its nodes. Returns the
/// description of the table.
fn take_growth(
    code: &mut Writer,
    field: &Name,
    node: Type,
    table: Expression,
    parameters: &mut Vec<Parameter>,
) -> Expression {
    let dialect = code.unit.options.dialect;
    let shared = |ty: Type| dialect.shared_type(ty).pointer();
    let name = code.fresh(&format!("{field}_growth"));
    let parts = [
        ("nodes", shared(node.clone())),
        ("next", shared(int64())),
        ("capacity", int64()),
        ("number", int64()),
    ];
    take_structure(code, &name, Type::name(GROWTH), parts.to_vec(), parameters);
    let growth = Expression::Name(name);
    let nodes = growth.clone().member("nodes").cast(shared(node));
    code.push(Statement::assign(table.member("nodes"), nodes));
    growth
}

/// Adds the parameters for a structure: the structure itself, or its fields, from which a local
/// structure is declared.
pub(crate) fn take_structure(
    code: &mut Writer,
    name: &Name,
    ty: Type,
    parts: Vec<(&str, Type)>,
    parameters: &mut Vec<Parameter>,
) {
    let dialect = code.unit.options.dialect;
    let ty = ty.constant();
    let name = name.clone();
    if !dialect.passes_offsets() {
        parameters.push(parameter(ty, name));
        return;
    }
    let mut fields = Vec::new();
    for (part, ty) in parts {
        let own = code.fresh(&format!("{name}_{part}"));
        let is_array = matches!(ty, Type::Pointer(_));
        parameters.push(parameter(ty, own.clone()));
        fields.push(Expression::Name(own.clone()));
        if is_array {
            // Memory is always passed with an offset, which is 0 here and not read.
            let name = code.fresh(&format!("{own}_offset"));
            let ty = int64();
            parameters.push(parameter(ty, name));
        }
    }
    let value = Expression::Braces(fields);
    code.push(Statement::declare(ty, name, value));
}

/// Adds the parameters for an array, and returns the address of its first element.
fn array_parameter(
    code: &mut Writer,
    name: &Name,
    element: Type,
    parameters: &mut Vec<Parameter>,
) -> Expression {
    let dialect = code.unit.options.dialect;
    let array = Expression::Name(name.clone());
    parameters.push(parameter(
        dialect.shared_type(element).pointer(),
        name.clone(),
    ));
    if !dialect.passes_offsets() {
        return array;
    }
    let offset = code.fresh(&format!("{name}_offset"));
    parameters.push(parameter(int64(), offset.clone()));
    Expression::binary(Binary::Add, array, Expression::Name(offset))
}
