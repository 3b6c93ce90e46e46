//! Functions with which the runtime walks over the nodes of a group.

use crate::context::unit::Unit;
use crate::context::writer::Writer;
use crate::emit::nodes::{node_count, node_of, node_table, table};
use crate::ffi::source::push_switch;
use crate::groups::links::link_cases;
use crate::syntax::{
    context, context_parameter, int64, literal, null, parameter, procedure, static_function, truth,
};
use nova_c_ast::ast::{Binary, Block, Expression, Function, Name, Statement, Type};
use nova_core::Type as CoreType;
use nova_core::{Member, SumId};
use nova_flat::links::{Links, links};

/// The functions that walk over a group.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    /// Gives the nodes that a link reaches.
    Reached,
    /// Tells whether ranges of nodes have no cycle.
    Acyclic,
}

/// Returns the function that walks over a group for a purpose.
pub(crate) fn walk_function(unit: &mut Unit, members: &[Member], purpose: Purpose) -> Name {
    let (key, prefix) = match purpose {
        Purpose::Reached => ("reached", "reached"),
        Purpose::Acyclic => ("acyclic", "are_acyclic"),
    };
    let name = name_of(unit, prefix, members);
    let members = members.to_vec();
    unit.helper(format!("{key} {members:?}"), &name, |unit, name| {
        define_walk(unit, &members, purpose, name)
    })
}

fn name_of(unit: &Unit, prefix: &str, members: &[Member]) -> String {
    let first = members
        .first()
        .map(|member| unit.types.instance(member.data));
    format!("{prefix}_{}", first.unwrap_or_default())
}

/// Defines `static void reached_List(context, link, results, place)`, or
/// `static bool are_acyclic_List(context, first, counts)`.
fn define_walk(unit: &mut Unit, members: &[Member], purpose: Purpose, name: Name) -> Function {
    // The verifier has checked the members.
    let group = links(members, &unit.program.sums).unwrap_or(Links {
        pairs: Vec::new(),
        members: 0,
    });
    let find_links = links_function(unit, members, &group);
    let constants = constants(unit, &group);
    let find_constant = match constants.is_empty() {
        true => null(),
        false => Expression::Name(constant_function(unit, members, &group, &constants)),
    };
    let again = group.repeated();
    let numbers = |k| Expression::name("again").index(literal(k)).address();
    let release = |k| Statement::call("nova_release_reach", vec![context(), numbers(k)]);
    let walked = group.pairs.iter().enumerate().map(|(k, pair)| {
        let table = node_table(unit, pair.sum);
        let reach = match again.iter().position(|pair| *pair == k) {
            Some(own) => numbers(own),
            None => table.clone().member("reach").address(),
        };
        let count = node_count(unit, pair.sum, table);
        Expression::Braces(vec![reach, count])
    });
    let walked = Expression::Braces(walked.collect());
    let count = group.pairs.len();
    let walk = Expression::Braces(vec![
        Expression::Name(find_links),
        find_constant,
        literal(constants.len()),
        Expression::name("tables"),
        literal(count),
        literal(group.members),
        truth(group.is_list()),
        Expression::Braces(vec![null(), null(), literal(0), literal(0)]),
    ]);
    let tables = Type::Array(Type::name("nova_walked").into(), count as u32);
    let mut body = match purpose {
        Purpose::Acyclic if count == group.members => order_of_ranges(unit, &group),
        Purpose::Acyclic | Purpose::Reached => Vec::new(),
    };
    if !again.is_empty() {
        let ty = Type::Array(Type::name("nova_reach").into(), again.len() as u32);
        let empty = Expression::Braces(vec![literal(0)]);
        body.push(Statement::declare(ty, "again", empty));
    }
    body.extend([
        Statement::declare(tables, "tables", walked),
        Statement::declare(Type::name("nova_walk"), "walk", walk),
    ]);
    let walk = Expression::name("walk").address();
    let mut parameters = vec![context_parameter()];
    let call = |function: &str, names: &[&str]| {
        let names = names.iter().map(|name| Expression::name(*name));
        let arguments = [context(), walk].into_iter().chain(names);
        Expression::call(function, arguments.collect())
    };
    match purpose {
        Purpose::Reached => {
            parameters.extend([
                parameter(int64(), "link"),
                parameter(Type::name("nova_reached").pointer(), "results"),
                parameter(Type::name("char").constant().pointer(), "place"),
            ]);
            let find = call("nova_find_reached", &["link", "results", "place"]);
            body.push(Statement::Expression(find));
            body.extend((0..again.len()).map(release));
            procedure(name, parameters, body)
        }
        Purpose::Acyclic => {
            let list = int64().constant().pointer();
            parameters.extend([parameter(list.clone(), "first"), parameter(list, "counts")]);
            let answer = call("nova_are_acyclic", &["first", "counts"]);
            body.push(Statement::declare(Type::name("bool"), "acyclic", answer));
            body.extend((0..again.len()).map(release));
            body.push(Statement::Return(Some(Expression::name("acyclic"))));
            static_function(Type::name("bool"), name, parameters, body)
        }
    }
}

/// Returns statements that end `are_acyclic_List` early, where all links within the ranges rise, or all fall.
/// Then there is no cycle, and nothing needs memory.
fn order_of_ranges(unit: &mut Unit, group: &Links) -> Vec<Statement> {
    let code = &mut Writer::new(unit);
    for reserved in ["first", "counts", "tables", "walk"] {
        code.fresh(reserved);
    }
    let both = Expression::Braces(vec![truth(true), truth(true)]);
    let order = code.variable(Type::name("nova_order"), "order", both);
    let of = |list: &str, pair: usize| Expression::name(list.to_string()).index(literal(pair));
    let mut before = vec![literal(0)];
    for pair in 1..group.pairs.len() {
        let last = before.last().cloned().unwrap_or_else(|| literal(0));
        let sum = Expression::binary(Binary::Add, last, of("counts", pair - 1));
        before.push(code.variable(int64(), "before", sum));
    }
    for (k, pair) in group.pairs.iter().enumerate() {
        code.each_index(of("counts", k), |code, i| {
            let link = Expression::binary(Binary::Add, of("first", k), i.clone());
            let node = node_of(code.unit, pair.sum, link).address();
            let ty = Type::Name(table(code.unit, pair.sum).node);
            let node = code.variable(ty.constant().pointer(), "node", node);
            let from = match before.get(k) {
                Some(before) if k > 0 => Expression::binary(Binary::Add, before.clone(), i),
                Some(_) | None => i,
            };
            let cases = link_cases(code, pair, &node, &|code, to, link| {
                let arguments = vec![
                    order.clone().address(),
                    from.clone(),
                    of("first", to),
                    of("counts", to),
                    before.get(to).cloned().unwrap_or_else(|| literal(0)),
                    link,
                ];
                code.push(Statement::call("nova_order_node", arguments));
            });
            push_switch(code, node.arrow("tag"), cases);
        });
    }
    let [rising, falling] = ["rising", "falling"].map(|field| order.clone().member(field));
    let one_way = Expression::binary(Binary::Or, rising, falling);
    let found = Statement::Return(Some(truth(true)));
    code.push(Statement::when(one_way, vec![found]));
    code.take()
}

/// Returns the function that finds the links of the nodes of a group.
fn links_function(unit: &mut Unit, members: &[Member], group: &Links) -> Name {
    let name = name_of(unit, "links_of", members);
    unit.helper(format!("links {members:?}"), &name, |unit, name| {
        define_links(unit, group, name)
    })
}

/// Defines `static void links_of_List(context, found, table, link)`.
fn define_links(unit: &mut Unit, group: &Links, name: Name) -> Function {
    let code = &mut Writer::new(unit);
    for reserved in ["found", "table", "link"] {
        code.fresh(reserved);
    }
    let cases = group.pairs.iter().map(|pair| {
        code.nested(|code| {
            let node = constant_node(code, pair.sum);
            let tag = node.clone().arrow("tag");
            let cases = link_cases(code, pair, &node, &|code, to, link| {
                let arguments = vec![context(), Expression::name("found"), literal(to), link];
                code.push(Statement::call("nova_push_target", arguments));
            });
            push_switch(code, tag, cases);
        })
    });
    let cases: Vec<Block> = cases.collect();
    by_table(code, cases);
    let body = code.take();
    let targets = Type::name("nova_targets").pointer();
    let parameters = vec![
        context_parameter(),
        parameter(targets, "found"),
        parameter(int64(), "table"),
        parameter(int64(), "link"),
    ];
    procedure(name, parameters, body)
}

/// Declares the node of a sum at `link`, which is only read.
fn constant_node(code: &mut Writer, sum: SumId) -> Expression {
    let node = node_of(code.unit, sum, Expression::name("link")).address();
    let ty = Type::Name(table(code.unit, sum).node);
    code.variable(ty.constant().pointer(), "node", node)
}

/// Declares the node of a sum at `link`.
pub(super) fn node(code: &mut Writer, sum: SumId) -> Expression {
    let node = node_of(code.unit, sum, Expression::name("link")).address();
    let ty = Type::Name(table(code.unit, sum).node);
    code.variable(ty.pointer(), "node", node)
}

/// Emits the code for one of the tables of a group.
pub(super) fn by_table(code: &mut Writer, mut cases: Vec<Block>) {
    let table = Expression::name("table");
    if cases.len() > 1 {
        let value = table;
        code.push(Statement::Switch { value, cases });
    } else if let Some(only) = cases.pop() {
        // The parameter has no other use.
        let unused = table.cast(Type::name("void"));
        code.push(Statement::Expression(unused));
        code.push(Statement::Block(only));
    }
}

/// Returns the constructors without payload of the members of a group: the numbers of the member and of
/// the constructor.
fn constants(unit: &Unit, group: &Links) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (member, pair) in group.pairs.iter().take(group.members).enumerate() {
        for (k, constructor) in unit.types.sum(pair.sum).constructors.iter().enumerate() {
            if constructor.payload == CoreType::Unit {
                found.push((member, k));
            }
        }
    }
    found
}

/// Returns the function that tells the constructor of nodes without payload.
fn constant_function(
    unit: &mut Unit,
    members: &[Member],
    group: &Links,
    constants: &[(usize, usize)],
) -> Name {
    let name = name_of(unit, "constant_of", members);
    unit.helper(format!("constant {members:?}"), &name, |unit, name| {
        define_constant(unit, group, constants, name)
    })
}

/// Defines `static int64_t constant_of_List(context, table, link)`.
fn define_constant(
    unit: &mut Unit,
    group: &Links,
    constants: &[(usize, usize)],
    name: Name,
) -> Function {
    let code = &mut Writer::new(unit);
    for reserved in ["table", "link"] {
        code.fresh(reserved);
    }
    let answer = |number: Option<usize>| match number {
        Some(number) => literal(number),
        None => literal(-1),
    };
    let pairs = group.pairs.iter().take(group.members).enumerate();
    let cases = pairs.map(|(member, pair)| {
        code.nested(|code| {
            let node = constant_node(code, pair.sum);
            let constructors = 0..code.unit.types.sum(pair.sum).constructors.len();
            let cases = constructors.map(|k| {
                let number = constants.iter().position(|c| *c == (member, k));
                vec![Statement::Return(Some(answer(number)))].into()
            });
            code.push(Statement::Switch {
                value: node.arrow("tag"),
                cases: cases.collect(),
            });
        })
    });
    let cases: Vec<Block> = cases.collect();
    by_table(code, cases);
    let body = code.take();
    let parameters = vec![
        context_parameter(),
        parameter(int64(), "table"),
        parameter(int64(), "link"),
    ];
    static_function(int64(), name, parameters, body)
}
