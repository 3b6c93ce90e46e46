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
use nova_c_ast::ast::{Binary, Expression, Field, Function, Item, Name, Statement, Type};
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

impl Unit<'_> {
    /// Returns the names of a recursive sum's table.
    pub fn table(&mut self, sum: SumId) -> NodeTable {
        if let Some(table) = self.tables.get(&sum.0) {
            return table.clone();
        }
        let instance = self.types.instance(sum);
        let table = NodeTable {
            field: escape(&instance).into(),
            node: self.names.fresh(&format!("{instance}_node"), None),
            table: self.names.fresh(&format!("{instance}_table"), None),
            add: self.names.fresh(&format!("add_{instance}"), None),
        };
        self.tables.insert(sum.0, table.clone());
        table
    }

    /// Returns the table, as functions access it: `context->tables->List_int`.
    pub fn node_table(&mut self, sum: SumId) -> Expression {
        let field = self.table(sum).field;
        context().arrow("tables").arrow(field)
    }

    /// Returns the node that a link refers to.
    pub fn node(&mut self, sum: SumId, link: Expression) -> Expression {
        self.node_table(sum).member("nodes").index(link)
    }

    /// Returns the function that appends a node.
    pub fn add_function(&mut self, sum: SumId) -> Name {
        let add = self.table(sum).add;
        let key = format!("add {}", sum.0);
        if self.helper_names.insert(key, add.clone()).is_none() {
            let function = self.define_add(sum);
            self.helpers.push(function);
        }
        add
    }

    /// Returns the paths, from the node, to the fields of a payload's components.
    pub fn payload_fields(&self, sum: SumId, constructor: u32) -> Vec<Vec<Name>> {
        let sum = self.types.sum(sum);
        let name = sum.constructors.get(constructor as usize);
        let name = name.map_or("u".into(), |c| field_name(&c.name));
        payload(sum, constructor, &self.program.sums)
            .into_iter()
            .map(|(field, _)| vec!["u".into(), name.clone(), field])
            .collect()
    }

    /// Defines `static int64_t add_List(context, tag, place)`, which appends a node with a tag and
    /// returns its link.
    fn define_add(&mut self, sum: SumId) -> Function {
        let table = self.table(sum);
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

    /// Returns the types of the nodes and `struct nova_tables`; empty if there are no tables.
    pub fn table_items(&self) -> Vec<Item> {
        if self.tables.is_empty() {
            return Vec::new();
        }
        let mut items = Vec::new();
        let mut tables = Vec::new();
        for (id, table) in &self.tables {
            let sum = self.types.sum(SumId(*id));
            items.push(Item::Comment(format!(
                "A node of {}: what its links name are other nodes.",
                self.types.instance(SumId(*id))
            )));
            items.push(Item::Struct {
                name: table.node.clone(),
                fields: self.node_fields(sum),
                typedef: true,
            });
            items.push(Item::Blank);
            let node = Type::Name(table.node.clone());
            let mut fields = vec![
                Field::Plain(node.pointer(), "nodes".into()),
                Field::Plain(block_type(), "block".into()),
                Field::Plain(int64(), "count".into()),
                Field::Plain(Type::name("nova_reach"), "reach".into()),
            ];
            if self.kernels.nodes.contains(&SumId(*id)) {
                fields.push(Field::Plain(Type::name("nova_sent_nodes"), "sent".into()));
                items.extend(self.copied_nodes(SumId(*id)));
            }
            items.push(Item::Struct {
                name: table.table.clone(),
                fields,
                typedef: true,
            });
            items.push(Item::Blank);
            let table_type = Type::Name(table.table.clone());
            tables.push(Field::Plain(table_type, table.field.clone()));
        }
        items.push(Item::Struct {
            name: "nova_tables".into(),
            fields: tables,
            typedef: false,
        });
        items.push(Item::Blank);
        items
    }

    fn node_fields(&self, sum: &SumType) -> Vec<Field> {
        self.fields_with(sum, &|name, ty| Some(Field::Plain(ty, name)))
    }

    /// Returns the fields of a node. `field` makes the field of each component of a payload, or leaves
    /// it out.
    pub(crate) fn fields_with(
        &self,
        sum: &SumType,
        field: &dyn Fn(Name, Type) -> Option<Field>,
    ) -> Vec<Field> {
        let mut fields = vec![Field::Plain(Type::name("int32_t"), "tag".into())];
        let mut payloads = Vec::new();
        for (k, constructor) in sum.constructors.iter().enumerate() {
            let inside: Vec<Field> = payload(sum, k as u32, &self.program.sums)
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
}
