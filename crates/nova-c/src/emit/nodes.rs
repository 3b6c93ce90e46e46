//! Node tables of recursive data (data-parallel-recursion.txt §2). Each recursive sum has an
//! append-only array of nodes, each with a tag and a union of the payloads' components; links are
//! indices. All tables of a call are fields of `struct nova_tables`.

use crate::context::ctype::field_name;
use crate::context::tables::NodeTable;
use crate::context::unit::Unit;
use crate::names::escape;
use crate::scalar::memory_type;
use crate::syntax::{
    block_type, context, context_parameter, int64, literal, parameter, static_function,
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
            fields.push((name.into(), memory_type(component.scalar)));
        } else {
            let block = format!("{name}_block").into();
            fields.push((name.into(), memory_type(component.scalar).pointer()));
            fields.push((block, block_type()));
        }
    }
    fields
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

/// Returns the node that a link refers to.
pub(crate) fn node_of(unit: &mut Unit, sum: SumId, link: Expression) -> Expression {
    node_table(unit, sum).member("nodes").index(link)
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

/// Defines `static int64_t add_List(context, tag, place)`, which appends a node with a tag and
/// returns its link.
fn define_add(unit: &mut Unit, sum: SumId) -> Function {
    let table = table(unit, sum);
    let fields = context().arrow("tables").arrow(table.field.clone());
    let node = Type::Name(table.node);
    let own = Expression::name("table");
    let (count, nodes) = (own.clone().arrow("count"), own.clone().arrow("nodes"));
    let link = Expression::name("link");
    let plus_one = |value| Expression::binary(Binary::Add, value, literal(1));
    let reserve = Expression::call(
        "nova_reserve",
        vec![
            context(),
            own.arrow("block").address(),
            link.clone(),
            plus_one(link.clone()),
            Expression::SizeOf(node.clone()),
            Expression::name("place"),
        ],
    );
    let table_type = Type::Name(table.table).pointer();
    let tag = nodes.clone().index(link.clone()).member("tag");
    let body = vec![
        Statement::declare(table_type, "table", fields.address()),
        Statement::declare(int64(), "link", count.clone()),
        Statement::assign(nodes, reserve.cast(node.pointer())),
        Statement::assign(tag, Expression::name("tag")),
        Statement::assign(count, plus_one(link.clone())),
        Statement::Return(Some(link)),
    ];
    static_function(
        int64(),
        table.add,
        vec![
            context_parameter(),
            parameter(Type::name("int32_t"), "tag"),
            parameter(Type::name("char").constant().pointer(), "place"),
        ],
        body,
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
