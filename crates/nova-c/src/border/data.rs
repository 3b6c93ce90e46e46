//! Recursive data at the border: an argument's nodes are checked and appended to the tables; of a
//! result, the nodes that its root reaches are copied out, the root first.

use super::input::{Source, Step};
use super::output::{Purpose, Sink};
use super::{Part, block_type, int64, null};
use crate::ast::{Binary, Block, Expression, Function, Name, Parameter, Statement, Type};
use crate::border::ctype::{field_name, free_declaration};
use crate::command::context;
use crate::function::FunctionEmitter;
use crate::unit::Unit;
use nova_core::{SumId, Type as CoreType};
use nova_diag::deep;

/// One table of a datum in C.
struct Member {
    id: SumId,
    /// How many nodes it has, and where they are.
    len: Expression,
    nodes: Expression,
}

fn text_type() -> Type {
    Type::name("char").constant().pointer()
}

fn parameter(ty: Type, name: &str) -> Parameter {
    Parameter {
        ty,
        name: name.into(),
    }
}

fn context_parameter() -> Parameter {
    parameter(Type::name("nova_context").pointer(), "context")
}

fn plus(a: Expression, b: Expression) -> Expression {
    Expression::binary(Binary::Add, a, b)
}

impl Unit<'_> {
    /// A helper that is defined when it is first asked for.
    pub fn helper(
        &mut self,
        key: String,
        name: &str,
        define: impl FnOnce(&mut Self, Name) -> Function,
    ) -> Name {
        if let Some(name) = self.helper_names.get(&key) {
            return name.clone();
        }
        let name = self.names.fresh(name, None);
        self.helper_names.insert(key, name.clone());
        let function = deep(|| define(self, name.clone()));
        self.helpers.push(function);
        name
    }

    /// The function that takes recursive data of a caller into the tables and gives its root's link.
    pub fn import_function(&mut self, id: SumId) -> Name {
        let name = format!("import_{}", self.types.instance(id));
        self.helper(format!("import {}", id.0), &name, |unit, name| {
            import(unit, id, name)
        })
    }

    /// The function that copies recursive data out of the tables.
    pub fn export_function(&mut self, id: SumId, purpose: Purpose) -> Name {
        let (kind, purpose) = match purpose {
            Purpose::Give | Purpose::Copy => ("export", Purpose::Copy),
            Purpose::Lend => ("lend", Purpose::Lend),
        };
        let name = format!("{kind}_{}", self.types.instance(id));
        self.helper(format!("{kind} {}", id.0), &name, |unit, name| {
            export(unit, id, name, purpose)
        })
    }

    /// The C type of recursive data.
    pub fn data_type(&mut self, id: SumId) -> Type {
        let ty = self.types.value(&CoreType::Sum(id), &[]);
        ty.unwrap_or_else(int64)
    }

    /// The public functions that free recursive data.
    pub fn free_functions(&mut self) -> Vec<Function> {
        let data = self.types.data.clone();
        data.into_iter().map(|id| free(self, id)).collect()
    }
}

fn members(emitter: &mut FunctionEmitter, id: SumId, data: &Expression) -> Vec<Member> {
    let fields = emitter.unit.types.node_fields(id);
    fields
        .into_iter()
        .map(|(id, len, nodes)| {
            let (len, nodes) = match data {
                Expression::Name(name) if &**name == "data" => {
                    (data.clone().arrow(len), data.clone().arrow(nodes))
                }
                other => (other.clone().member(len), other.clone().member(nodes)),
            };
            Member { id, len, nodes }
        })
        .collect()
}

fn import(unit: &mut Unit, id: SumId, name: Name) -> Function {
    let data_type = unit.data_type(id);
    let copy = unit.copies_imports;
    let mut emitter = FunctionEmitter::new(unit);
    let emitter = &mut emitter;
    for reserved in ["data", "name"] {
        emitter.fresh(reserved);
    }
    let data = Expression::name("data");
    let mut source = Source {
        name: Expression::name("name"),
        hint: "payload".into(),
        copy,
        group: Vec::new(),
    };
    let members = members(emitter, id, &data);
    check_members(emitter, id, &members, &mut source);
    let total = find_links(emitter, &members, &source);
    let check = vec![
        context(),
        source.name.clone(),
        Expression::name("links").address(),
        total,
    ];
    emitter.push(Statement::call("nova_check_acyclic", check));
    source.group.clear();
    for member in &members {
        let count = emitter.unit.node_table(member.id).member("count");
        let hint = format!("first_{}", emitter.unit.types.instance(member.id));
        let first = emitter.variable(int64(), &hint, count);
        source.group.push((member.id, first));
    }
    for member in &members {
        append_nodes(emitter, member, &source);
    }
    let own = source.group.iter().find(|(member, _)| *member == id);
    let first = own.map_or_else(|| Expression::literal("0"), |(_, first)| first.clone());
    let root = plus(first, data.arrow("root"));
    emitter.push(Statement::Return(Some(root)));
    let statements = emitter.take();
    Function {
        prefix: vec!["static".into()],
        result: int64(),
        name,
        parameters: vec![
            context_parameter(),
            parameter(text_type(), "name"),
            parameter(data_type.constant().pointer(), "data"),
        ],
        body: Some(statements.into()),
    }
}

/// Checks the tables and the root; numbers the nodes of all tables together for the search of
/// cycles: `source.group` gets the first number of each.
fn check_members(
    emitter: &mut FunctionEmitter,
    id: SumId,
    members: &[Member],
    source: &mut Source,
) {
    let mut base = Expression::literal("0");
    for member in members {
        let node = Type::Name(emitter.unit.types.node(member.id));
        let check = vec![
            context(),
            source.name.clone(),
            member.len.clone(),
            member.nodes.clone(),
            Expression::SizeOf(node),
        ];
        emitter.push(Statement::call("nova_check_array", check));
        source.group.push((member.id, base.clone()));
        if members.len() > 1 {
            let next = Expression::call(
                "nova_add_length",
                vec![context(), source.name.clone(), base, member.len.clone()],
            );
            base = emitter.variable(int64(), "before", next);
        }
    }
    let own = members.iter().find(|member| member.id == id);
    if let Some(own) = own {
        let root = Expression::name("data").arrow("root");
        let check = vec![context(), source.name.clone(), root, own.len.clone()];
        emitter.push(Statement::call("nova_check_link", check));
    }
}

/// Finds all links between the nodes of an argument; gives the number of its nodes.
fn find_links(emitter: &mut FunctionEmitter, members: &[Member], source: &Source) -> Expression {
    let links = emitter.fresh("links");
    let none = vec![null(), null(), null(), null(), Expression::literal("0")];
    emitter.push(Statement::declare(
        Type::name("nova_links"),
        links,
        Expression::Braces(none),
    ));
    let mut total = Expression::literal("0");
    for (member, (_, base)) in members.iter().zip(&source.group) {
        let i = emitter.fresh("i");
        let index = Expression::Name(i.clone());
        let node = member.nodes.clone().index(index.clone());
        let zero = Expression::literal("0");
        let from = if *base == zero {
            index
        } else {
            plus(base.clone(), index)
        };
        total = if *base == zero {
            member.len.clone()
        } else {
            plus(base.clone(), member.len.clone())
        };
        let sum = emitter.unit.types.sum(member.id);
        let (body, ()) = emitter.apart(|emitter| {
            let tag = node.clone().member("tag");
            emitter.check_tag(&tag, sum.constructors.len(), source);
            let mut cases = Vec::new();
            for constructor in &sum.constructors {
                let payload = node
                    .clone()
                    .member("u")
                    .member(field_name(&constructor.name));
                let (statements, ()) = emitter.apart(|emitter| {
                    add_links(
                        emitter,
                        &constructor.payload,
                        payload,
                        &from,
                        members,
                        source,
                    )
                });
                cases.push(Block(statements));
            }
            emitter.push_switch(tag, cases);
        });
        emitter.push(Statement::For {
            ty: int64(),
            variable: i,
            count: member.len.clone(),
            body: body.into(),
        });
    }
    total
}

/// Whether a payload contains links of the group.
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
    emitter: &mut FunctionEmitter,
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
                add_links(emitter, element, field, from, members, source);
            }
        }
        CoreType::Vector(element) => {
            let extents = super::input::extents_of(&value, 1);
            vector_links(emitter, extents, element, value, from, members, source);
        }
        CoreType::Array(rank, element) => {
            let extents = super::input::extents_of(&value, *rank);
            vector_links(emitter, extents, element, value, from, members, source);
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
                emitter.push(Statement::call("nova_add_link", arguments));
            }
        }
    })
}

fn vector_links(
    emitter: &mut FunctionEmitter,
    extents: Vec<Expression>,
    element: &CoreType,
    value: Expression,
    from: &Expression,
    members: &[Member],
    source: &Source,
) {
    let count = emitter.checked_count(&extents, source);
    let data = value.member("data");
    emitter.check_data(element, &data, &count, source);
    let walk = [Step::Array { data, count }];
    emitter.walk(&walk, &mut |emitter, value, _| {
        add_links(emitter, element, value, from, members, source)
    });
}

/// Appends the nodes of one table of an argument.
fn append_nodes(emitter: &mut FunctionEmitter, member: &Member, source: &Source) {
    let add = emitter.unit.add_function(member.id);
    let i = emitter.fresh("i");
    let node = member.nodes.clone().index(Expression::Name(i.clone()));
    let sum = emitter.unit.types.sum(member.id);
    let (body, ()) = emitter.apart(|emitter| {
        let tag = node.clone().member("tag");
        let arguments = vec![context(), tag.clone(), null()];
        let new = emitter.variable(int64(), "link", Expression::call(add, arguments));
        let mut cases = Vec::new();
        for (k, constructor) in sum.constructors.iter().enumerate() {
            let payload = node
                .clone()
                .member("u")
                .member(field_name(&constructor.name));
            let (statements, ()) = emitter.apart(|emitter| {
                let mut parts = Vec::new();
                emitter.read_value(&constructor.payload, payload, source, &mut parts);
                let values = parts.into_iter().flat_map(Part::expressions);
                let fields = emitter.unit.payload_fields(member.id, k as u32);
                for (path, value) in fields.into_iter().zip(values) {
                    let node = emitter.node(member.id, new.clone());
                    let field = path.into_iter().fold(node, Expression::member);
                    emitter.push(Statement::assign(field, value));
                }
            });
            cases.push(Block(statements));
        }
        emitter.push_switch(tag, cases);
    });
    emitter.push(Statement::For {
        ty: int64(),
        variable: i,
        count: member.len.clone(),
        body: body.into(),
    });
}

fn export(unit: &mut Unit, id: SumId, name: Name, purpose: Purpose) -> Function {
    let data_type = unit.data_type(id);
    let group = unit.types.sum(id).group.clone();
    let mut emitter = FunctionEmitter::new(unit);
    let emitter = &mut emitter;
    emitter.fresh("link");
    let data = emitter.unset(data_type.clone(), "result");
    for member in &group {
        let table = emitter.unit.node_table(*member);
        let start = vec![
            context(),
            table.clone().member("reach").address(),
            table.member("count"),
        ];
        emitter.push(Statement::call("nova_start_reach", start));
    }
    let reach =
        |emitter: &mut FunctionEmitter, id: SumId| emitter.unit.node_table(id).member("reach");
    let own = reach(emitter, id).address();
    let root = Expression::call("nova_reach_node", vec![own, Expression::name("link")]);
    emitter.push(Statement::assign(data.clone().member("root"), root));
    let sink = Sink {
        purpose,
        group: group.clone(),
    };
    let members = members(emitter, id, &data);
    let mut states = Vec::new();
    for member in &members {
        let hint = emitter.unit.types.instance(member.id);
        let block = emitter.variable(block_type(), &format!("{hint}_block"), null());
        let done = emitter.variable(int64(), &format!("{hint}_done"), Expression::literal("0"));
        emitter.push(Statement::assign(member.nodes.clone(), null()));
        states.push((block, done));
    }
    let mut undecided = None;
    let mut loops = Vec::new();
    for (member, (block, done)) in members.iter().zip(&states) {
        let count = reach(emitter, member.id).member("count");
        let less = Expression::binary(Binary::Less, done.clone(), count);
        let (body, ()) = emitter.apart(|emitter| export_node(emitter, member, block, done, &sink));
        loops.push(Statement::While {
            condition: Some(less.clone()),
            body: body.into(),
        });
        undecided = Some(match undecided {
            None => less,
            Some(before) => Expression::binary(Binary::Or, before, less),
        });
    }
    if loops.len() > 1 {
        loops = vec![Statement::While {
            condition: undecided,
            body: loops.into(),
        }];
    }
    for statement in loops {
        emitter.push(statement);
    }
    for (member, (block, done)) in members.iter().zip(&states) {
        finish_nodes(emitter, member, block, done, purpose);
    }
    emitter.push(Statement::Return(Some(data)));
    let statements = emitter.take();
    Function {
        prefix: vec!["static".into()],
        result: data_type,
        name,
        parameters: vec![context_parameter(), parameter(int64(), "link")],
        body: Some(statements.into()),
    }
}

/// Copies out the next node that was reached.
fn export_node(
    emitter: &mut FunctionEmitter,
    member: &Member,
    block: &Expression,
    done: &Expression,
    sink: &Sink,
) {
    let c_type = Type::Name(emitter.unit.types.node(member.id));
    let one = Expression::literal("1");
    let more = plus(done.clone(), one);
    let reserve = vec![
        context(),
        block.clone().address(),
        done.clone(),
        more.clone(),
        Expression::SizeOf(c_type.clone()),
        null(),
    ];
    let room = Expression::call("nova_reserve", reserve).cast(c_type.clone().pointer());
    emitter.push(Statement::assign(member.nodes.clone(), room));
    let order = emitter
        .unit
        .node_table(member.id)
        .member("reach")
        .member("order");
    let table = emitter.unit.table(member.id);
    let node = emitter.node(member.id, order.index(done.clone())).address();
    let node = emitter.variable(Type::Name(table.node).pointer(), "node", node);
    let copy = member.nodes.clone().index(done.clone()).address();
    let copy = emitter.variable(c_type.pointer(), "copy", copy);
    let tag = node.clone().arrow("tag");
    emitter.push(Statement::assign(copy.clone().arrow("tag"), tag.clone()));
    let sum = emitter.unit.types.sum(member.id);
    let mut cases = Vec::new();
    for (k, constructor) in sum.constructors.iter().enumerate() {
        let components = emitter.components(&constructor.payload);
        let mut paths = emitter.unit.payload_fields(member.id, k as u32).into_iter();
        let mut field = || {
            let path = paths.next().unwrap_or_default();
            let mut names = path.into_iter();
            let first = names
                .next()
                .map_or(node.clone(), |name| node.clone().arrow(name));
            names.fold(first, Expression::member)
        };
        let parts: Vec<Part> = components
            .iter()
            .map(|component| match component.shape.is_empty() {
                true => Part::Scalar(field()),
                false => Part::Array {
                    pointer: field(),
                    block: field(),
                },
            })
            .collect();
        let payload = copy
            .clone()
            .arrow("u")
            .member(field_name(&constructor.name));
        let (statements, ()) = emitter.apart(|emitter| {
            emitter.write_value(&constructor.payload, payload, None, &mut parts.iter(), sink)
        });
        cases.push(Block(statements));
    }
    emitter.push_switch(tag, cases);
    emitter.push(Statement::assign(done.clone(), more));
}

/// Hands over the copied nodes.
fn finish_nodes(
    emitter: &mut FunctionEmitter,
    member: &Member,
    block: &Expression,
    done: &Expression,
    purpose: Purpose,
) {
    emitter.push(Statement::assign(member.len.clone(), done.clone()));
    if purpose == Purpose::Lend {
        let lend = vec![context(), block.clone()];
        emitter.push(Statement::call("nova_make_temporary", lend));
        return;
    }
    let c_type = Type::Name(emitter.unit.types.node(member.id));
    let give = vec![
        context(),
        member.nodes.clone(),
        block.clone(),
        done.clone(),
        Expression::SizeOf(c_type.clone()),
    ];
    let given = Expression::call("nova_give", give).cast(c_type.pointer());
    emitter.push(Statement::assign(member.nodes.clone(), given));
}

/// The public function that frees recursive data.
fn free(unit: &mut Unit, id: SumId) -> Function {
    let group = unit.types.sum(id).group.clone();
    let name = match unit.data_type(id) {
        Type::Name(name) => name,
        other => crate::print::type_text(&other).into(),
    };
    let mut emitter = FunctionEmitter::new(unit);
    let emitter = &mut emitter;
    emitter.fresh("data");
    let members = members(emitter, id, &Expression::name("data"));
    for member in &members {
        let i = emitter.fresh("i");
        let node = member.nodes.clone().index(Expression::Name(i.clone()));
        let sum = emitter.unit.types.sum(member.id);
        let mut cases = Vec::new();
        for constructor in &sum.constructors {
            let payload = node
                .clone()
                .member("u")
                .member(field_name(&constructor.name));
            let (statements, ()) =
                emitter.apart(|emitter| emitter.free_value(&constructor.payload, payload, &group));
            cases.push(Block(statements));
        }
        let (body, ()) = emitter.apart(|emitter| emitter.push_switch(node.member("tag"), cases));
        if !body.is_empty() {
            emitter.push(Statement::For {
                ty: int64(),
                variable: i,
                count: member.len.clone(),
                body: body.into(),
            });
        }
        emitter.push(Statement::call("free", vec![member.nodes.clone()]));
        emitter.push(Statement::assign(member.nodes.clone(), null()));
        emitter.push(Statement::assign(
            member.len.clone(),
            Expression::literal("0"),
        ));
    }
    let statements = emitter.take();
    Function {
        prefix: vec!["NOVA_WEAK".into()],
        body: Some(statements.into()),
        ..free_declaration(&name)
    }
}
