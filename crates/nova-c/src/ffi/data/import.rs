//! Imports recursive data of an argument: checks its nodes and copies them to the tables, in one pass.
//! Another pass searches for cycles if the links neither all rise nor all fall.

use crate::context::ctype::payload_of;
use crate::context::unit::Unit;
use crate::context::writer::Writer;
use crate::emit::nodes::{node_of, payload_fields, reserve_function, stored_values, table};
use crate::ffi::data::{Member, context_parameter, data_type, members, parameter, plus, text_type};
use crate::ffi::input::read_value;
use crate::ffi::parts::Part;
use crate::ffi::source::{Source, check_data, check_tag, checked_count, push_switch};
use crate::ffi::walk::{Step, each_value, extents_of};
use crate::syntax::{context, int64, literal, null, static_function, truth};
use nova_c_ast::ast::{Binary, Expression, Function, Name, Statement, Type, not};
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
    let numbers = source.group.split_off(0);
    for member in &members {
        let reserve = reserve_function(code.unit, member.id);
        let hint = format!("first_{}", code.unit.types.instance(member.id));
        let places = Expression::call(reserve, vec![context(), member.len.clone(), null()]);
        let first = code.variable(int64(), &hint, places);
        source.group.push((member.id, first));
    }
    let order = Type::name("nova_order");
    let unknown = Expression::Braces(vec![truth(true), truth(true)]);
    let order = code.variable(order, "order", unknown);
    let numbered = Numbered {
        members: &members,
        numbers: &numbers,
        see: Seen::Order(order.clone().address()),
    };
    for (member, (_, first)) in members.iter().zip(&source.group) {
        copy_nodes(code, member, first, &numbered, &source);
    }
    check_cycles(code, order, numbered, &source);
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

/// The nodes of an argument, numbered together.
struct Numbered<'a> {
    members: &'a [Member],
    /// The number of the first node of each table.
    numbers: &'a [(SumId, Expression)],
    see: Seen,
}

/// The use of the links that are found.
enum Seen {
    /// They are checked, and the runtime notes at this address whether all rise, or all fall.
    Order(Expression),
    /// They are added to the list at this address.
    Links(Expression),
}

impl Numbered<'_> {
    /// Returns the number of the node at an index of a table.
    fn number(&self, id: SumId, index: Expression) -> Expression {
        let known = self.numbers.iter().find(|(member, _)| *member == id);
        match known {
            Some((_, first)) if *first != literal(0) => plus(first.clone(), index),
            Some(_) | None => index,
        }
    }

    /// Returns the number of all nodes.
    fn total(&self) -> Expression {
        match self.members.last() {
            Some(last) => self.number(last.id, last.len.clone()),
            None => literal(0),
        }
    }
}

/// Emits the search for cycles, where the links neither all rise nor all fall.
fn check_cycles(code: &mut Writer, order: Expression, numbered: Numbered, source: &Source) {
    let [rises, falls] = ["rising", "falling"].map(|field| not(order.clone().member(field)));
    let is_open = Expression::binary(Binary::And, rises, falls);
    let (search, ()) = code.apart(|code| {
        let none = vec![null(), null(), null(), null(), literal(0)];
        let none = Expression::Braces(none);
        let links = code.variable(Type::name("nova_links"), "links", none);
        let numbered = Numbered {
            see: Seen::Links(links.clone().address()),
            ..numbered
        };
        for member in numbered.members {
            code.each_index(member.len.clone(), |code, index| {
                let node = member.nodes.clone().index(index.clone());
                let from = numbered.number(member.id, index);
                let sum = code.unit.types.sum(member.id);
                let mut cases = Vec::new();
                for constructor in &sum.constructors {
                    let payload = payload_of(&node, constructor);
                    cases.push(code.nested(|code| {
                        let ty = &constructor.payload;
                        see_links(code, ty, payload, &from, &numbered, source);
                    }));
                }
                push_switch(code, node.member("tag"), cases);
            });
        }
        let check = vec![
            context(),
            source.name.clone(),
            links.address(),
            numbered.total(),
        ];
        code.push(Statement::call("nova_check_acyclic", check));
    });
    code.push(Statement::when(is_open, search));
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

/// Emits what is done with the links in a value inside of a node.
fn see_links(
    code: &mut Writer,
    ty: &CoreType,
    value: Expression,
    from: &Expression,
    numbered: &Numbered,
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
                see_links(code, element, field, from, numbered, source);
            }
        }
        CoreType::Vector(element) => {
            let extents = extents_of(&value, 1);
            see_elements(code, extents, element, value, from, numbered, source);
        }
        CoreType::Array(rank, element) => {
            let extents = extents_of(&value, *rank);
            see_elements(code, extents, element, value, from, numbered, source);
        }
        CoreType::Sum(id) => {
            let members = numbered.members.iter().zip(numbered.numbers);
            let target = members.into_iter().find(|(member, _)| member.id == *id);
            if let Some((member, (_, base))) = target {
                let (function, to) = match &numbered.see {
                    Seen::Order(order) => ("nova_order_link", order),
                    Seen::Links(links) => ("nova_add_link", links),
                };
                let arguments = vec![
                    context(),
                    source.name.clone(),
                    to.clone(),
                    from.clone(),
                    base.clone(),
                    member.len.clone(),
                    value,
                ];
                code.push(Statement::call(function, arguments));
            }
        }
    })
}

fn see_elements(
    code: &mut Writer,
    extents: Vec<Expression>,
    element: &CoreType,
    value: Expression,
    from: &Expression,
    numbered: &Numbered,
    source: &Source,
) {
    let count = checked_count(code, &extents, source);
    let data = value.member("data");
    check_data(code, element, &data, &count, source);
    let walk = [Step::Array { data, count }];
    each_value(code, &walk, &mut |code, value, _| {
        see_links(code, element, value, from, numbered, source)
    });
}

/// Emits the copy of the nodes of one table of an argument to places from `first` on.
fn copy_nodes(
    code: &mut Writer,
    member: &Member,
    first: &Expression,
    numbered: &Numbered,
    source: &Source,
) {
    code.each_index(member.len.clone(), |code, i| {
        let node = member.nodes.clone().index(i.clone());
        let sum = code.unit.types.sum(member.id);
        let tag = node.clone().member("tag");
        check_tag(code, &tag, sum.constructors.len(), source);
        let new = node_of(code.unit, member.id, plus(first.clone(), i.clone())).address();
        let ty = Type::Name(table(code.unit, member.id).node).pointer();
        let new = code.variable(ty, "node", new);
        code.push(Statement::assign(new.clone().arrow("tag"), tag.clone()));
        let from = numbered.number(member.id, i);
        let mut cases = Vec::new();
        for (k, constructor) in sum.constructors.iter().enumerate() {
            let payload = payload_of(&node, constructor);
            cases.push(code.nested(|code| {
                let ty = &constructor.payload;
                see_links(code, ty, payload.clone(), &from, numbered, source);
                let mut parts = Vec::new();
                read_value(code, ty, payload, source, &mut parts);
                let values = parts.into_iter().flat_map(Part::expressions);
                let values = stored_values(code.unit, member.id, k as u32, values);
                let fields = payload_fields(code.unit, member.id, k as u32);
                for (path, value) in fields.into_iter().zip(values) {
                    let mut path = path.into_iter();
                    let field = path.next().map(|name| new.clone().arrow(name));
                    if let Some(field) = field {
                        let field = path.fold(field, Expression::member);
                        code.push(Statement::assign(field, value));
                    }
                }
            }));
        }
        push_switch(code, tag, cases);
    });
}
