//! Node tables of recursive data (data-parallel-recursion.txt §2). Each recursive sum has an
//! append-only array of nodes, each with a tag and a union of the payloads' components; links are
//! indices. All tables of a call are fields of `struct nova_tables`.

use crate::context::ctype::field_name;
use crate::context::tables::NodeTable;
use crate::context::unit::Unit;
use crate::context::writer::Writer;
use crate::names::escape;
use crate::scalar::memory_type;
use crate::syntax::{
    block_type, context, context_parameter, int64, literal, null, parameter, procedure,
    static_function, truth,
};
use nova_c_ast::ast::{Binary, Expression, Field, Function, Name, Statement, Type};
use nova_core::{SumId, SumType};
use nova_flat::representation::components;

/// Returns the components of a constructor's payload as fields: names and types. An array has two
/// fields, a pointer to its elements and its block.
fn payload(sum: &SumType, constructor: u32, sums: &[SumType]) -> Vec<(Name, Type)> {
    let Some(constructor) = sum.constructors.get(constructor as usize) else {
        return Vec::new();
    };
    let mut fields = Vec::new();
    for component in components(&constructor.payload, sums) {
        let name = match component.name.is_empty() {
            true => "value".to_string(),
            false => crate::names::identifier(&component.name),
        };
        if component.shape.is_empty() {
            let ty = match component.link {
                Some(_) => link_type(),
                None => memory_type(component.scalar),
            };
            fields.push((name.into(), ty));
        } else {
            let block = format!("{name}_block").into();
            fields.push((name.into(), memory_type(component.scalar).pointer()));
            fields.push((block, block_type()));
        }
    }
    fields
}

/// Returns the type of a link in a node.
fn link_type() -> Type {
    Type::name("nova_link")
}

/// Returns values of a payload's fields as the fields hold them.
pub(crate) fn stored_values(
    unit: &Unit,
    sum: SumId,
    constructor: u32,
    values: impl Iterator<Item = Expression>,
) -> Vec<Expression> {
    let types = payload(unit.types.sum(sum), constructor, &unit.program.sums);
    let both = types.into_iter().zip(values);
    both.map(|((_, ty), value)| match ty == link_type() {
        true => value.cast(ty),
        false => value,
    })
    .collect()
}

/// Returns the names of a recursive sum's table.
pub(crate) fn table(unit: &mut Unit, sum: SumId) -> NodeTable {
    if let Some(table) = unit.tables.get(&sum.0) {
        return table.clone();
    }
    let instance = unit.types.instance(sum);
    let table = NodeTable {
        field: escape(&instance).into(),
        node: unit.names.fresh(&format!("{instance}_node"), None),
        table: unit.names.fresh(&format!("{instance}_table"), None),
        add: unit.names.fresh(&format!("add_{instance}"), None),
    };
    unit.tables.insert(sum.0, table.clone());
    table
}

/// Returns the table, as functions access it: `context->tables->List_int`.
pub(crate) fn node_table(unit: &mut Unit, sum: SumId) -> Expression {
    let field = table(unit, sum).field;
    context().arrow("tables").arrow(field)
}

/// Returns the field of a table with the number of its nodes.
pub(crate) fn node_count(unit: &Unit, sum: SumId, table: Expression) -> Expression {
    match unit.shared.contains(&sum) {
        true => table.member("own").member("count"),
        false => table.member("count"),
    }
}

/// Returns the node that a link refers to.
pub(crate) fn node_of(unit: &mut Unit, sum: SumId, link: Expression) -> Expression {
    node_table(unit, sum).member("nodes").index(link)
}

/// Returns the constructors of a sum whose nodes hold nothing, by number. Each has one node: those with the
/// first links of the table, in this order.
pub(crate) fn constants(unit: &Unit, sum: SumId) -> Vec<usize> {
    let constructors = unit.types.sum(sum).constructors.iter().enumerate();
    constructors
        .filter(|(_, constructor)| unit.components(&constructor.payload).is_empty())
        .map(|(k, _)| k)
        .collect()
}

/// Returns the link of the node of a constructor that holds nothing; `None` for other constructors.
pub(crate) fn constant_link(unit: &Unit, sum: SumId, constructor: u32) -> Option<Expression> {
    let all = constants(unit, sum);
    let link = all.iter().position(|k| *k == constructor as usize);
    link.map(literal)
}

/// Returns the function that appends the nodes of constructors that hold nothing, before all others.
pub(crate) fn start_function(unit: &mut Unit, sum: SumId) -> Name {
    let name = format!("start_{}", unit.types.instance(sum));
    unit.helper(format!("start {}", sum.0), &name, |unit, name| {
        let add = add_function(unit, sum);
        let append = |k| {
            let arguments = vec![context(), literal(k), null()];
            Statement::call(add.clone(), arguments)
        };
        let body = constants(unit, sum).into_iter().map(append).collect();
        procedure(name, vec![context_parameter()], body)
    })
}

/// Returns the function that appends a node.
pub(crate) fn add_function(unit: &mut Unit, sum: SumId) -> Name {
    let add = table(unit, sum).add;
    let key = format!("add {}", sum.0);
    if unit.helper_names.insert(key, add.clone()).is_none() {
        let function = define_add(unit, sum);
        unit.helpers.push(function);
    }
    add
}

/// Returns the paths, from the node, to the fields of a payload's components.
pub(crate) fn payload_fields(unit: &Unit, sum: SumId, constructor: u32) -> Vec<Vec<Name>> {
    let sum = unit.types.sum(sum);
    let name = sum.constructors.get(constructor as usize);
    let name = name.map_or("u".into(), |c| field_name(&c.name));
    payload(sum, constructor, &unit.program.sums)
        .into_iter()
        .map(|(field, _)| vec!["u".into(), name.clone(), field])
        .collect()
}

/// The table that the variable `table` points to.
struct OwnTable {
    /// True if threads append to it.
    is_shared: bool,
    /// The type of its nodes.
    node: Type,
}

impl OwnTable {
    fn new(unit: &Unit, sum: SumId, table: &NodeTable) -> OwnTable {
        OwnTable {
            is_shared: unit.shared.contains(&sum),
            node: Type::Name(table.node.clone()),
        }
    }

    fn field(&self, name: &str) -> Expression {
        Expression::name("table").arrow(name.to_string())
    }

    /// Returns a field that says where the next node lies.
    fn place(&self, name: &str) -> Expression {
        match self.is_shared {
            true => self.field("own").member(name.to_string()),
            false => self.field(name),
        }
    }
}

/// Returns the assignment that makes room for more nodes of a table.
fn grow(own: &OwnTable, more: Expression) -> Statement {
    let node = own.node.clone();
    let field = |name: &str| own.field(name);
    if own.is_shared {
        let arguments = vec![
            context(),
            field("own").address(),
            more,
            Expression::SizeOf(node.clone()),
            Expression::name("place"),
        ];
        let grown = Expression::call("nova_append_more", arguments);
        return Statement::assign(field("nodes"), grown.cast(node.pointer()));
    }
    let arguments = vec![
        context(),
        field("block").address(),
        field("room").address(),
        field("count"),
        more,
        Expression::SizeOf(node.clone()),
        Expression::name("place"),
    ];
    let grown = Expression::call("nova_grow_nodes", arguments);
    Statement::assign(field("nodes"), grown.cast(node.pointer()))
}

/// Defines `static int64_t add_List(context, tag, place)`, which appends a node with a tag and
/// returns its link.
fn define_add(unit: &mut Unit, sum: SumId) -> Function {
    let table = table(unit, sum);
    let fields = context().arrow("tables").arrow(table.field.clone());
    let own = OwnTable::new(unit, sum, &table);
    let (count, nodes) = (own.place("count"), own.field("nodes"));
    let link = Expression::name("link");
    let table_type = Type::Name(table.table).pointer();
    let is_full = Expression::binary(Binary::Equal, link.clone(), own.place("room"));
    let tag = nodes.index(link.clone()).member("tag");
    let next = Expression::binary(Binary::Add, link.clone(), literal(1));
    let mut grown = vec![grow(&own, literal(1))];
    if own.is_shared {
        // The thread may go on in another run of places.
        grown.push(Statement::assign(link.clone(), count.clone()));
    }
    let body = vec![
        Statement::declare(table_type, "table", fields.address()),
        Statement::declare(int64(), "link", count.clone()),
        Statement::when(is_full, grown),
        Statement::assign(tag, Expression::name("tag")),
        Statement::assign(count, next),
        Statement::Return(Some(link)),
    ];
    let parameters = vec![
        context_parameter(),
        parameter(Type::name("int32_t"), "tag"),
        parameter(Type::name("char").constant().pointer(), "place"),
    ];
    Function {
        prefix: vec!["static".into(), "inline".into()],
        ..static_function(int64(), table.add, parameters, body)
    }
}

/// Returns the function that reserves places for nodes.
pub(crate) fn reserve_function(unit: &mut Unit, sum: SumId) -> Name {
    let name = format!("reserve_{}", unit.types.instance(sum));
    unit.helper(format!("reserve {}", sum.0), &name, |unit, name| {
        define_reserve(unit, sum, name)
    })
}

/// Defines `static int64_t reserve_List(context, count, place)`, which returns the first link.
fn define_reserve(unit: &mut Unit, sum: SumId, name: Name) -> Function {
    let table = table(unit, sum);
    let fields = context().arrow("tables").arrow(table.field.clone());
    let own = OwnTable::new(unit, sum, &table);
    let node = own.node.clone();
    let field = |name: &str| own.field(name);
    let (count, link) = (Expression::name("count"), Expression::name("link"));
    let table_type = Type::Name(table.table).pointer();
    let end = Expression::binary(Binary::Add, link.clone(), count.clone());
    let mut body = vec![
        Statement::declare(table_type, "table", fields.address()),
        Statement::declare(int64(), "link", own.place("count")),
    ];
    let is_new = Expression::name("is_new");
    if unit.has_kernels {
        let none = Expression::binary(Binary::Equal, field("block"), null());
        body.push(Statement::declare(Type::name("bool"), "is_new", none));
    }
    // The number of nodes may be a wrong one of a caller.
    let is_negative = Expression::binary(Binary::Less, count.clone(), literal(0));
    let fail = vec![context(), Expression::name("place")];
    let fail = Statement::call("nova_fail_memory", fail);
    body.push(Statement::when(is_negative, vec![fail]));
    let left = Expression::binary(Binary::Subtract, own.place("room"), link.clone());
    let is_full = Expression::binary(Binary::Greater, count.clone(), left);
    let grows = vec![grow(&own, count.clone())];
    body.push(Statement::when(is_full, grows));
    if unit.has_kernels {
        // The memory may have belonged to an array of the device.
        let fresh = Statement::call("nova_fresh", vec![context(), field("nodes")]);
        let written = vec![context(), field("nodes"), truth(true)];
        let written = Statement::call("nova_on_host", written);
        let has_nodes = Expression::binary(Binary::NotEqual, field("block"), null());
        let is_new = Expression::binary(Binary::And, is_new, has_nodes);
        body.push(Statement::when(is_new, vec![fresh, written]));
        // A kernel may copy nodes that are not stored yet.
        let bytes = Expression::SizeOf(node);
        let bytes = Expression::binary(Binary::Multiply, count.cast(Type::name("size_t")), bytes);
        let at = Expression::binary(Binary::Add, field("nodes"), link.clone());
        let clear = Statement::call("memset", vec![at, literal(0), bytes]);
        let some = Expression::binary(Binary::Less, link.clone(), end.clone());
        body.push(Statement::when(some, vec![clear]));
    }
    body.push(Statement::assign(own.place("count"), end));
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

/// Emits what lets threads append to tables of the call, if they do.
pub(crate) fn share_tables(code: &mut Writer) {
    if code.unit.shared.is_empty() {
        return;
    }
    let functions = [
        "begin_sharing",
        "enter_tables",
        "leave_tables",
        "end_sharing",
    ];
    let size = Expression::SizeOf(Type::Struct("nova_tables".into()));
    let each = Expression::Name(each_shared_function(code.unit));
    let functions = functions.map(|name| Expression::name(format!("nova_{name}")));
    let values = [size, each].into_iter().chain(functions).collect();
    let ty = Type::name("nova_sharing");
    let sharing = code.variable(ty, "sharing", Expression::Braces(values));
    let place = context().arrow("sharing");
    code.push(Statement::assign(place, sharing.address()));
}

/// Returns the function that shows all tables to which threads append.
fn each_shared_function(unit: &mut Unit) -> Name {
    unit.helper(
        "each shared".to_string(),
        "each_shared_table",
        |unit, name| {
            let mut body = Vec::new();
            for sum in unit.shared.clone() {
                let node = Type::Name(table(unit, sum).node);
                let own = node_table(unit, sum);
                let arguments = vec![
                    context(),
                    own.clone().member("own").address(),
                    Expression::SizeOf(node.clone()),
                ];
                let nodes = Expression::call("see", arguments).cast(node.pointer());
                body.push(Statement::assign(own.member("nodes"), nodes));
            }
            let see = Type::name("nova_see_appender").pointer();
            procedure(name, vec![context_parameter(), parameter(see, "see")], body)
        },
    )
}

/// Returns the fields of a node on the host.
pub(crate) fn node_fields(unit: &Unit, sum: &SumType) -> Vec<Field> {
    fields_with(unit, sum, &|name, ty| Some(Field::Plain(ty, name)))
}

/// Returns the fields of a node. `field` makes the field of each component of a payload, or leaves
/// it out.
pub(crate) fn fields_with(
    unit: &Unit,
    sum: &SumType,
    field: &dyn Fn(Name, Type) -> Option<Field>,
) -> Vec<Field> {
    let mut fields = vec![Field::Plain(Type::name("int32_t"), "tag".into())];
    let mut payloads = Vec::new();
    for (k, constructor) in sum.constructors.iter().enumerate() {
        let inside: Vec<Field> = payload(sum, k as u32, &unit.program.sums)
            .into_iter()
            .filter_map(|(name, ty)| field(name, ty))
            .collect();
        if !inside.is_empty() {
            payloads.push(Field::Struct(inside, field_name(&constructor.name)));
        }
    }
    if !payloads.is_empty() {
        fields.push(Field::Union(payloads, "u".into()));
    }
    fields
}
