//! Reclaiming of nodes. The functions defined here say where the links and the arrays of nodes are
//! (`runtime-c/common/reclaim.h`).

use crate::context::function::Emitter;
use crate::context::unit::Unit;
use crate::context::writer::Writer;
use crate::emit::expression::assigned;
use crate::emit::nodes::{node_count, node_table, table};
use crate::emit::variables::assign;
use crate::ffi::parts::{Part, parts_of};
use crate::ffi::source::push_switch;
use crate::groups::walks::{by_table, node};
use crate::syntax::{
    context, context_parameter, int64, literal, null, parameter, procedure, product,
};
use nova_c_ast::ast::{Binary, Block, Expression, Function, Name, Statement, Type};
use nova_core::SumId;
use nova_diag::Place;
use nova_flat::representation::Component;
use nova_loop::ir::{self, Variable};

/// Emits the assignments of the place of the next node before a loop, and of the first limit: a number of
/// nodes.
pub(crate) fn mark(code: &mut Emitter, sum: SumId, first: Variable, limit: Variable) {
    let count = next_place(code.unit, sum);
    assign(code, first, count);
    let young = Expression::name("NOVA_FIRST_RECLAIM");
    let made = match code.unit.shared.contains(&sum) {
        true => appended(code.unit, sum),
        false => code.named(first),
    };
    assign(code, limit, Expression::binary(Binary::Add, made, young));
}

/// Returns the place of the next node of a table.
fn next_place(unit: &mut Unit, sum: SumId) -> Expression {
    let table = node_table(unit, sum);
    node_count(unit, sum, table)
}

/// Returns the number of nodes that a thread has appended to a table.
fn appended(unit: &mut Unit, sum: SumId) -> Expression {
    match unit.shared.contains(&sum) {
        true => {
            let own = node_table(unit, sum).member("own").address();
            Expression::call("nova_appended", vec![own])
        }
        false => next_place(unit, sum),
    }
}

/// Emits the test whether nodes are to be reclaimed, and what that changes: links and limits.
pub(crate) fn reclaim(
    code: &mut Emitter,
    (sums, targets): (&[SumId], &[SumId]),
    first: &[ir::Expression],
    (limits, links): (&[Variable], &[Variable]),
    place: &Place,
) {
    let mut is_due: Option<Expression> = None;
    for (sum, limit) in sums.iter().zip(limits) {
        let count = appended(code.unit, *sum);
        let limit = code.named(*limit);
        let reached = Expression::binary(Binary::GreaterEqual, count, limit);
        is_due = Some(match is_due {
            None => reached,
            Some(others) => Expression::binary(Binary::Or, others, reached),
        });
    }
    let Some(is_due) = is_due else { return };
    let (statements, ()) = code.apart(|code| {
        let first: Vec<Expression> = first.iter().map(|f| assigned(code, f)).collect();
        let list = |count: usize| Type::Array(int64().into(), count as u32);
        let first = code.variable(list(sums.len()), "first_nodes", Expression::Braces(first));
        let own: Vec<Expression> = limits.iter().map(|limit| code.named(*limit)).collect();
        let next = code.variable(list(sums.len()), "limits", Expression::Braces(own));
        let mut roots = Vec::with_capacity(links.len());
        for (link, target) in links.iter().zip(targets) {
            let table = sums.iter().position(|sum| sum == target).unwrap_or(0);
            roots.push(Expression::Braces(vec![literal(table), code.named(*link)]));
        }
        let roots = match roots.is_empty() {
            true => null(),
            false => {
                let ty = Type::Array(Type::name("nova_target").into(), links.len() as u32);
                code.variable(ty, "roots", Expression::Braces(roots))
            }
        };
        let function = reclaim_function(code.unit, sums);
        let arguments = vec![
            context(),
            first,
            next.clone(),
            roots.clone(),
            literal(links.len()),
            Expression::text(place.to_string()),
        ];
        code.push(Statement::call(function, arguments));
        for (k, link) in links.iter().enumerate() {
            let link_after = roots.clone().index(literal(k)).member("link");
            assign(code, *link, link_after);
        }
        for (k, limit) in limits.iter().enumerate() {
            assign(code, *limit, next.clone().index(literal(k)));
        }
    });
    code.push(Statement::when(is_due, statements));
}

/// Returns the name of a function for these sums, of which `define` defines one.
fn function_of(
    unit: &mut Unit,
    sums: &[SumId],
    prefix: &str,
    define: impl FnOnce(&mut Unit, Name) -> Function,
) -> Name {
    let instance = sums.first().map(|sum| unit.types.instance(*sum));
    let name = format!("{prefix}_{}", instance.unwrap_or_default());
    unit.helper(format!("{prefix} {sums:?}"), &name, define)
}

/// Returns the function that reclaims nodes of these sums.
fn reclaim_function(unit: &mut Unit, sums: &[SumId]) -> Name {
    function_of(unit, sums, "reclaim", |unit, name| {
        define_reclaim(unit, sums, name)
    })
}

/// Defines `static void reclaim_List(context, first, limits, roots, root_count, place)`.
fn define_reclaim(unit: &mut Unit, sums: &[SumId], name: Name) -> Function {
    let see = function_of(unit, sums, "see_links_of", |unit, name| {
        define_see(unit, sums, name)
    });
    let holds_arrays = sums.iter().any(|sum| unit.program.nodes_hold_arrays(*sum));
    let drop = match holds_arrays {
        false => null(),
        true => Expression::Name(function_of(unit, sums, "drop", |unit, name| {
            define_drop(unit, sums, name)
        })),
    };
    let young = Expression::name("young");
    let mut body = vec![Statement::Declare {
        ty: Type::Array(Type::name("nova_young").into(), sums.len() as u32),
        name: "young".into(),
        value: None,
    }];
    for (k, sum) in sums.iter().enumerate() {
        let own = node_table(unit, *sum);
        let node = Type::Name(table(unit, *sum).node);
        let total = node_count(unit, *sum, own.clone());
        let nodes = own.clone().member("nodes");
        let char_pointer = Type::name("char").pointer();
        let fields = [
            ("nodes", nodes.cast(char_pointer)),
            ("size", Expression::SizeOf(node)),
            ("total", total.address()),
            ("first", Expression::name("first").index(literal(k))),
            ("run_count", literal(0)),
        ];
        for (field, value) in fields {
            let place = young.clone().index(literal(k)).member(field);
            body.push(Statement::assign(place, value));
        }
        if unit.shared.contains(sum) {
            let young = young.clone().index(literal(k)).address();
            let arguments = vec![young, own.member("own").address()];
            body.push(Statement::call("nova_take_places", arguments));
        }
    }
    let arguments = vec![
        context(),
        young.clone(),
        literal(sums.len()),
        Expression::name("roots"),
        Expression::name("root_count"),
        Expression::Name(see),
        drop,
        Expression::name("place"),
    ];
    body.push(Statement::call("nova_reclaim_nodes", arguments));
    for (k, sum) in sums.iter().enumerate() {
        if unit.shared.contains(sum) {
            let own = node_table(unit, *sum).member("own").address();
            body.push(Statement::call("nova_find_run", vec![own]));
        }
        let own = young.clone().index(literal(k)).address();
        let more = Expression::call("nova_next_reclaim", vec![own]);
        let next = Expression::binary(Binary::Add, appended(unit, *sum), more);
        let limit = Expression::name("limits").index(literal(k));
        body.push(Statement::assign(limit, next));
    }
    let parameters = vec![
        context_parameter(),
        parameter(int64().constant().pointer(), "first"),
        parameter(int64().pointer(), "limits"),
        parameter(Type::name("nova_target").pointer(), "roots"),
        parameter(int64(), "root_count"),
        parameter(Type::name("char").constant().pointer(), "place"),
    ];
    procedure(name, parameters, body)
}

/// Defines `static void see_links_of_List(context, reclaim, table, link)`.
fn define_see(unit: &mut Unit, sums: &[SumId], name: Name) -> Function {
    let code = &mut Writer::new(unit);
    for reserved in ["reclaim", "table", "link"] {
        code.fresh(reserved);
    }
    let mut sees = false;
    let cases: Vec<Block> = sums
        .iter()
        .map(|sum| {
            each_constructor(code, *sum, &mut |code, components, parts| {
                for (component, part) in components.iter().zip(parts) {
                    let table = component.link.and_then(|sum| position(sums, sum));
                    if let Some(table) = table {
                        sees = true;
                        see_component(code, table, component, part, parts);
                    }
                }
            })
        })
        .collect();
    by_table(code, cases);
    if !sees {
        for unused in [context(), Expression::name("reclaim")] {
            code.push(Statement::Expression(unused.cast(Type::name("void"))));
        }
    }
    let body = code.take();
    let parameters = vec![
        context_parameter(),
        parameter(Type::name("nova_reclaim").pointer(), "reclaim"),
        parameter(int64(), "table"),
        parameter(int64(), "link"),
    ];
    procedure(name, parameters, body)
}

fn position(sums: &[SumId], sum: SumId) -> Option<usize> {
    sums.iter().position(|own| *own == sum)
}

/// Emits the call that sees the link or the links of a component of a node.
fn see_component(
    code: &mut Writer,
    table: usize,
    component: &Component,
    part: &Part,
    parts: &[Part],
) {
    let reclaim = Expression::name("reclaim");
    match part {
        Part::Scalar(link) => {
            let arguments = vec![context(), reclaim, literal(table), link.clone()];
            let seen = Expression::call("nova_see_link", arguments);
            let seen = seen.cast(Type::name("nova_link"));
            code.push(Statement::assign(link.clone(), seen));
        }
        Part::Array { pointer, .. } => {
            let extents = component.shape.iter().filter_map(|k| match parts.get(*k) {
                Some(Part::Scalar(extent)) => Some(extent.clone()),
                Some(Part::Array { .. }) | None => None,
            });
            let count = product(extents);
            let arguments = vec![context(), reclaim, literal(table), pointer.clone(), count];
            code.push(Statement::call("nova_see_links", arguments));
        }
    }
}

/// Defines `static void drop_List(context, table, link)`, which releases the arrays of a node.
fn define_drop(unit: &mut Unit, sums: &[SumId], name: Name) -> Function {
    let code = &mut Writer::new(unit);
    for reserved in ["table", "link"] {
        code.fresh(reserved);
    }
    let cases: Vec<Block> = sums
        .iter()
        .map(|sum| {
            each_constructor(code, *sum, &mut |code, _, parts| {
                for part in parts {
                    if let Part::Array { block, .. } = part {
                        let arguments = vec![context(), block.clone()];
                        code.push(Statement::call("nova_release", arguments));
                    }
                }
            })
        })
        .collect();
    by_table(code, cases);
    let body = code.take();
    let parameters = vec![
        context_parameter(),
        parameter(int64(), "table"),
        parameter(int64(), "link"),
    ];
    procedure(name, parameters, body)
}

/// Emits code for the components of a payload, of which the parts are the fields of a node.
type EmitPayload<'a> = dyn FnMut(&mut Writer, &[Component], &[Part]) + 'a;

/// Emits code for the components of a node, which depends on its constructor.
fn each_constructor(code: &mut Writer, sum: SumId, emit: &mut EmitPayload) -> Block {
    code.nested(|code| {
        let node = node(code, sum);
        let constructors = code.unit.types.sum(sum).constructors.clone();
        let mut cases = Vec::with_capacity(constructors.len());
        for (k, constructor) in constructors.iter().enumerate() {
            let components = code.unit.components(&constructor.payload);
            let parts = parts_of(code, sum, k as u32, &constructor.payload, &node);
            cases.push(code.nested(|code| emit(code, &components, &parts)));
        }
        push_switch(code, node.arrow("tag"), cases);
    })
}
