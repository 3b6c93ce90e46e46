//! Imports recursive data of an argument: checks it, then appends it to the tables.

use crate::context::ctype::payload_of;
use crate::context::unit::Unit;
use crate::context::writer::Writer;
use crate::emit::nodes::{add_function, node_of, node_table, payload_fields};
use crate::ffi::data::{Member, context_parameter, data_type, members, parameter, plus, text_type};
use crate::ffi::input::read_value;
use crate::ffi::parts::Part;
use crate::ffi::source::{Source, check_data, check_tag, checked_count, push_switch};
use crate::ffi::walk::{Step, each_value, extents_of};
use crate::syntax::{context, int64, literal, null, static_function};
use nova_c_ast::ast::{Expression, Function, Name, Statement, Type};
use nova_core::{SumId, Type as CoreType};
use nova_diag::deep;

pub fn import(unit: &mut Unit, id: SumId, name: Name) -> Function {
    let data_type = data_type(unit, id);
    let copy = unit.copies_imports;
    let code = &mut Writer::new(unit);
    for reserved in ["data", "name"] {
        code.fresh(reserved);
    }
    let data = Expression::name("data");
    let mut source = Source {
        name: Expression::name("name"),
        hint: "payload".into(),
        copy,
        on_device: false,
        result: None,
        group: Vec::new(),
    };
    let members = members(code, id, &data);
    check_members(code, id, &members, &mut source);
    let total = find_links(code, &members, &source);
    let check = vec![
        context(),
        source.name.clone(),
        Expression::name("links").address(),
        total,
    ];
    code.push(Statement::call("nova_check_acyclic", check));
    source.group.clear();
    for member in &members {
        let count = node_table(code.unit, member.id).member("count");
        let hint = format!("first_{}", code.unit.types.instance(member.id));
        let first = code.variable(int64(), &hint, count);
        source.group.push((member.id, first));
    }
    for member in &members {
        append_nodes(code, member, &source);
    }
    let own = source.group.iter().find(|(member, _)| *member == id);
    let first = own.map_or_else(|| literal(0), |(_, first)| first.clone());
    let root = plus(first, data.arrow("root"));
    code.push(Statement::Return(Some(root)));
    let statements = code.take();
    static_function(
        int64(),
        name,
        vec![
            context_parameter(),
            parameter(text_type(), "name"),
            parameter(data_type.constant().pointer(), "data"),
        ],
        statements,
    )
}

/// Checks the tables and the root. Numbers the nodes of all tables together for the search for cycles:
/// `source.group` gets the first number of each table.
fn check_members(code: &mut Writer, id: SumId, members: &[Member], source: &mut Source) {
    let mut base = literal(0);
    for member in members {
        let node = Type::Name(code.unit.types.node(member.id));
        let check = vec![
            context(),
            source.name.clone(),
            member.len.clone(),
            member.nodes.clone(),
            Expression::SizeOf(node),
        ];
        code.push(Statement::call("nova_check_array", check));
        source.group.push((member.id, base.clone()));
        if members.len() > 1 {
            let next = Expression::call(
                "nova_add_length",
                vec![context(), source.name.clone(), base, member.len.clone()],
            );
            base = code.variable(int64(), "before", next);
        }
    }
    let own = members.iter().find(|member| member.id == id);
    if let Some(own) = own {
        let root = Expression::name("data").arrow("root");
        let check = vec![context(), source.name.clone(), root, own.len.clone()];
        code.push(Statement::call("nova_check_link", check));
    }
}

/// Finds all links between the nodes of an argument. Returns the number of its nodes.
fn find_links(code: &mut Writer, members: &[Member], source: &Source) -> Expression {
    let links = code.fresh("links");
    let none = vec![null(), null(), null(), null(), literal(0)];
    code.push(Statement::declare(
        Type::name("nova_links"),
        links,
        Expression::Braces(none),
    ));
    let mut total = literal(0);
    for (member, (_, base)) in members.iter().zip(&source.group) {
        let is_first = *base == literal(0);
        total = match is_first {
            true => member.len.clone(),
            false => plus(base.clone(), member.len.clone()),
        };
        code.each_index(member.len.clone(), |code, index| {
            let node = member.nodes.clone().index(index.clone());
            let from = match is_first {
                true => index,
                false => plus(base.clone(), index),
            };
            let sum = code.unit.types.sum(member.id);
            let tag = node.clone().member("tag");
            check_tag(code, &tag, sum.constructors.len(), source);
            let mut cases = Vec::new();
            for constructor in &sum.constructors {
                let payload = payload_of(&node, constructor);
                cases.push(code.nested(|code| {
                    add_links(code, &constructor.payload, payload, &from, members, source)
                }));
            }
            push_switch(code, tag, cases);
        });
    }
    total
}

/// True if a payload contains links of the group.
fn has_links(ty: &CoreType, source: &Source) -> bool {
    deep(|| match ty {
        CoreType::Unit | CoreType::Scalar(_) | CoreType::Function(..) => false,
        CoreType::Tuple(elements) => elements.iter().any(|e| has_links(e, source)),
        CoreType::Vector(element) | CoreType::Array(_, element) => has_links(element, source),
        CoreType::Sum(id) => source.group.iter().any(|(member, _)| member == id),
    })
}

/// Adds the links in a value inside of a node.
fn add_links(
    code: &mut Writer,
    ty: &CoreType,
    value: Expression,
    from: &Expression,
    members: &[Member],
    source: &Source,
) {
    if !has_links(ty, source) {
        return;
    }
    deep(|| match ty {
        CoreType::Unit | CoreType::Scalar(_) | CoreType::Function(..) => {}
        CoreType::Tuple(elements) => {
            for (k, element) in elements.iter().enumerate() {
                let field = value.clone().member(format!("e{k}"));
                add_links(code, element, field, from, members, source);
            }
        }
        CoreType::Vector(element) => {
            let extents = extents_of(&value, 1);
            vector_links(code, extents, element, value, from, members, source);
        }
        CoreType::Array(rank, element) => {
            let extents = extents_of(&value, *rank);
            vector_links(code, extents, element, value, from, members, source);
        }
        CoreType::Sum(id) => {
            let target = members
                .iter()
                .zip(&source.group)
                .find(|(member, _)| member.id == *id);
            if let Some((member, (_, base))) = target {
                let arguments = vec![
                    context(),
                    source.name.clone(),
                    Expression::name("links").address(),
                    from.clone(),
                    base.clone(),
                    member.len.clone(),
                    value,
                ];
                code.push(Statement::call("nova_add_link", arguments));
            }
        }
    })
}

fn vector_links(
    code: &mut Writer,
    extents: Vec<Expression>,
    element: &CoreType,
    value: Expression,
    from: &Expression,
    members: &[Member],
    source: &Source,
) {
    let count = checked_count(code, &extents, source);
    let data = value.member("data");
    check_data(code, element, &data, &count, source);
    let walk = [Step::Array { data, count }];
    each_value(code, &walk, &mut |code, value, _| {
        add_links(code, element, value, from, members, source)
    });
}

/// Appends the nodes of one table of an argument.
fn append_nodes(code: &mut Writer, member: &Member, source: &Source) {
    let add = add_function(code.unit, member.id);
    code.each_index(member.len.clone(), |code, i| {
        let node = member.nodes.clone().index(i.clone());
        let sum = code.unit.types.sum(member.id);
        let tag = node.clone().member("tag");
        let arguments = vec![context(), tag.clone(), null()];
        let new = code.variable(int64(), "link", Expression::call(add, arguments));
        let mut cases = Vec::new();
        for (k, constructor) in sum.constructors.iter().enumerate() {
            let payload = payload_of(&node, constructor);
            cases.push(code.nested(|code| {
                let mut parts = Vec::new();
                read_value(code, &constructor.payload, payload, source, &mut parts);
                let values = parts.into_iter().flat_map(Part::expressions);
                let fields = payload_fields(code.unit, member.id, k as u32);
                for (path, value) in fields.into_iter().zip(values) {
                    let node = node_of(code.unit, member.id, new.clone());
                    let field = path.into_iter().fold(node, Expression::member);
                    code.push(Statement::assign(field, value));
                }
            }));
        }
        push_switch(code, tag, cases);
    });
}
