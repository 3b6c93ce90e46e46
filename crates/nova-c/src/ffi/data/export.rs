//! Exports recursive data of a result: copies the nodes that its root reaches out of the tables.

use crate::context::ctype::{field_name, free_declaration};
use crate::context::expressions::{block_type, context, int64, null};
use crate::context::function::FunctionEmitter;
use crate::context::unit::Unit;
use crate::ffi::data::{Member, context_parameter, members, parameter, plus};
use crate::ffi::output::{Purpose, Sink};
use crate::ffi::parts::Part;
use nova_c_ast::ast::{Binary, Block, Expression, Function, Name, Statement, Type};
use nova_core::SumId;

pub fn export(unit: &mut Unit, id: SumId, name: Name, purpose: Purpose) -> Function {
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

/// Emits the copy of the next reached node.
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
            emitter.bring_to_host(&parts);
            emitter.write_value(&constructor.payload, payload, None, &mut parts.iter(), sink)
        });
        cases.push(Block(statements));
    }
    emitter.push_switch(tag, cases);
    emitter.push(Statement::assign(done.clone(), more));
}

/// Transfers the copied nodes to the caller.
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

/// Returns the public function that frees recursive data.
pub fn free(unit: &mut Unit, id: SumId) -> Function {
    let group = unit.types.sum(id).group.clone();
    let name = match unit.data_type(id) {
        Type::Name(name) => name,
        other @ (Type::Struct(_) | Type::Pointer(_) | Type::Const(_) | Type::Array(..)) => {
            nova_c_ast::print::type_text(&other).into()
        }
    };
    let mut emitter = FunctionEmitter::new(unit);
    let emitter = &mut emitter;
    emitter.fresh("data");
    let members = members(emitter, id, &Expression::name("data"));
    for member in &members {
        let i = emitter.fresh("i");
        let node = member.nodes.clone().index(Expression::Name(i.clone()));
        let (body, ()) = emitter.apart(|emitter| emitter.free_payloads(member.id, &node, &group));
        if !body.is_empty() {
            let ty = Type::Name(emitter.unit.types.node(member.id));
            let count = emitter.held(member.nodes.clone(), member.len.clone(), ty);
            emitter.push(Statement::For {
                ty: int64(),
                variable: i,
                count,
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
