//! Exports recursive data of a result: copies the nodes that its root reaches out of the tables.

use crate::context::ctype::{field_name, free_declaration};
use crate::context::unit::Unit;
use crate::context::writer::Writer;
use crate::emit::nodes::{node_count, node_of, node_table, table};
use crate::ffi::data::{Member, context_parameter, data_type, members, parameter, plus};
use crate::ffi::entry::bring_to_host;
use crate::ffi::output::{Purpose, Sink, free_payloads, held, write_value};
use crate::ffi::parts::parts_of;
use crate::ffi::source::push_switch;
use crate::syntax::{block_type, context, int64, literal, null, static_function};
use nova_c_ast::ast::{Binary, Expression, Function, Name, Statement, Type};
use nova_core::SumId;

pub fn export(unit: &mut Unit, id: SumId, name: Name, purpose: Purpose) -> Function {
    let data_type = data_type(unit, id);
    let group = unit.types.sum(id).group.clone();
    let code = &mut Writer::new(unit);
    code.fresh("link");
    let data = code.unset(data_type.clone(), "result");
    for member in &group {
        code.unit.exported.insert(*member);
        let table = node_table(code.unit, *member);
        let start = vec![
            table.clone().member("exported").address(),
            table.clone().member("reach").address(),
            node_count(code.unit, *member, table),
        ];
        code.push(Statement::call("nova_start_export", start));
    }
    let exported = |code: &mut Writer, id: SumId| node_table(code.unit, id).member("exported");
    let own = exported(code, id).address();
    let arguments = vec![context(), own, Expression::name("link")];
    let root = Expression::call("nova_export_node", arguments);
    code.push(Statement::assign(data.clone().member("root"), root));
    let sink = Sink {
        purpose,
        group: group.clone(),
    };
    let members = members(code, id, &data);
    let mut states = Vec::new();
    for member in &members {
        let hint = code.unit.types.instance(member.id);
        let block = code.variable(block_type(), &format!("{hint}_block"), null());
        let done = code.variable(int64(), &format!("{hint}_done"), literal(0));
        code.push(Statement::assign(member.nodes.clone(), null()));
        states.push((block, done));
    }
    let mut undecided = None;
    let mut loops = Vec::new();
    for (member, (block, done)) in members.iter().zip(&states) {
        let count = exported(code, member.id).member("count");
        let less = Expression::binary(Binary::Less, done.clone(), count);
        let (body, ()) = code.apart(|code| export_node(code, member, block, done, &sink));
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
        code.push(statement);
    }
    for (member, (block, done)) in members.iter().zip(&states) {
        finish_nodes(code, member, block, done, purpose);
    }
    code.push(Statement::Return(Some(data)));
    let statements = code.take();
    static_function(
        data_type,
        name,
        vec![context_parameter(), parameter(int64(), "link")],
        statements,
    )
}

/// Emits the copy of the next reached node.
fn export_node(
    code: &mut Writer,
    member: &Member,
    block: &Expression,
    done: &Expression,
    sink: &Sink,
) {
    let c_type = Type::Name(code.unit.types.node(member.id));
    let one = literal(1);
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
    code.push(Statement::assign(member.nodes.clone(), room));
    let exported = node_table(code.unit, member.id)
        .member("exported")
        .address();
    let link = Expression::call("nova_exported_node", vec![exported, done.clone()]);
    let table = table(code.unit, member.id);
    let node = node_of(code.unit, member.id, link).address();
    let node = code.variable(Type::Name(table.node).pointer(), "node", node);
    let copy = member.nodes.clone().index(done.clone()).address();
    let copy = code.variable(c_type.pointer(), "copy", copy);
    let tag = node.clone().arrow("tag");
    code.push(Statement::assign(copy.clone().arrow("tag"), tag.clone()));
    let sum = code.unit.types.sum(member.id);
    let mut cases = Vec::new();
    for (k, constructor) in sum.constructors.iter().enumerate() {
        let parts = parts_of(code, member.id, k as u32, &constructor.payload, &node);
        let payload = copy
            .clone()
            .arrow("u")
            .member(field_name(&constructor.name));
        cases.push(code.nested(|code| {
            bring_to_host(code, &parts);
            write_value(
                code,
                &constructor.payload,
                payload,
                None,
                &mut parts.iter(),
                sink,
            )
        }));
    }
    push_switch(code, tag, cases);
    code.push(Statement::assign(done.clone(), more));
}

/// Transfers the copied nodes to the caller.
fn finish_nodes(
    code: &mut Writer,
    member: &Member,
    block: &Expression,
    done: &Expression,
    purpose: Purpose,
) {
    code.push(Statement::assign(member.len.clone(), done.clone()));
    if purpose == Purpose::Lend {
        let lend = vec![context(), block.clone()];
        code.push(Statement::call("nova_make_temporary", lend));
        return;
    }
    let c_type = Type::Name(code.unit.types.node(member.id));
    let give = vec![
        context(),
        member.nodes.clone(),
        block.clone(),
        done.clone(),
        Expression::SizeOf(c_type.clone()),
    ];
    let given = Expression::call("nova_give", give).cast(c_type.pointer());
    code.push(Statement::assign(member.nodes.clone(), given));
}

/// Returns the public function that frees recursive data.
pub fn free(unit: &mut Unit, id: SumId) -> Function {
    let group = unit.types.sum(id).group.clone();
    let name = match data_type(unit, id) {
        Type::Name(name) => name,
        other @ (Type::Struct(_) | Type::Pointer(_) | Type::Const(_) | Type::Array(..)) => {
            nova_c_ast::print::type_text(&other).into()
        }
    };
    let code = &mut Writer::new(unit);
    code.fresh("data");
    let members = members(code, id, &Expression::name("data"));
    for member in &members {
        let i = code.fresh("i");
        let node = member.nodes.clone().index(Expression::Name(i.clone()));
        let (body, ()) = code.apart(|code| free_payloads(code, member.id, &node, &group));
        if !body.is_empty() {
            let ty = Type::Name(code.unit.types.node(member.id));
            let count = held(code, member.nodes.clone(), member.len.clone(), ty);
            code.push(Statement::For {
                ty: int64(),
                variable: i,
                count,
                body: body.into(),
            });
        }
        code.push(Statement::call("free", vec![member.nodes.clone()]));
        code.push(Statement::assign(member.nodes.clone(), null()));
        code.push(Statement::assign(member.len.clone(), literal(0)));
    }
    let statements = code.take();
    Function {
        prefix: vec!["NOVA_WEAK".into()],
        body: Some(statements.into()),
        ..free_declaration(&name)
    }
}
