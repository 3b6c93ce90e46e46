//! Tail calls run in constant space.
//!
//! A call is in tail position when it is the last statement of its function, perhaps inside
//! conditionals, and its results are the function's. Tail calls of a function to itself are marked.
//! Functions that tail-call each other are merged into one with a selector and a `Switch`. Each of
//! them stays as a wrapper for other callers. So mutual tail recursion, and tail calls through the
//! `apply` of a class of closures, become tail calls of one function to itself.

use crate::reachable::drop_unreachable;
use nova_core::{Scalar, ScalarValue};
use nova_flat::ir::{
    Atom, Body, Expression, Function, FunctionId, Program, Statement, Type, Variable,
};
use nova_flat::recursion;
use nova_flat::visit::{Substitution, fresh_variable, fresh_variables};
use nova_flat::{array_expressions, node_expressions, other_expressions, pure_expressions};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Merges groups of functions that tail-call each other, marks tail calls, drops functions that
/// nothing calls any more, and recomputes which functions are recursive.
pub fn run(program: &mut Program) {
    for group in groups(program) {
        merge(program, &group);
    }
    drop_unreachable(program);
    for k in 0..program.functions.len() {
        let own = FunctionId(k as u32);
        let mut body = std::mem::take(&mut program.functions[k].body);
        each_tail_call(&mut body, &mut |function, _, tail| {
            *tail = *function == own;
        });
        program.functions[k].body = body;
    }
    recursion::mark(program);
}

/// Calls `visit` with callee, arguments and mark of each call in tail position.
pub(crate) fn each_tail_call(
    body: &mut Body,
    visit: &mut dyn FnMut(&mut FunctionId, &mut Vec<Atom>, &mut bool),
) {
    let results = std::mem::take(&mut body.results);
    if let Some(last) = body.statements.last_mut() {
        let own = last.pattern.iter().map(|v| Atom::Variable(*v));
        if own.eq(results.iter().copied()) {
            match &mut last.expression {
                Expression::Call {
                    function,
                    arguments,
                    tail,
                } => visit(function, arguments, tail),
                Expression::If {
                    then, otherwise, ..
                } => {
                    nova_diag::deep(|| each_tail_call(then, visit));
                    nova_diag::deep(|| each_tail_call(otherwise, visit));
                }
                Expression::Switch { cases, .. } => {
                    for case in cases {
                        nova_diag::deep(|| each_tail_call(case, visit));
                    }
                }
                Expression::While { .. }
                | Expression::Foreign { .. }
                | pure_expressions!()
                | array_expressions!()
                | node_expressions!()
                | other_expressions!() => {}
            }
        }
    }
    body.results = results;
}

/// Returns the groups of more than one function that tail-call each other and have the same
/// results.
fn groups(program: &mut Program) -> Vec<Vec<usize>> {
    let mut graph: DiGraph<(), ()> = DiGraph::new();
    for _ in &program.functions {
        graph.add_node(());
    }
    for k in 0..program.functions.len() {
        each_tail_call(&mut program.functions[k].body, &mut |callee, _, _| {
            graph.update_edge(NodeIndex::new(k), NodeIndex::new(callee.0 as usize), ());
        });
    }
    let mut groups = Vec::new();
    for component in kosaraju_scc(&graph) {
        let mut group: Vec<usize> = component.iter().map(|n| n.index()).collect();
        group.sort_unstable();
        let signatures: Vec<_> = group.iter().map(|k| signature(program, *k)).collect();
        let same = signatures.windows(2).all(|pair| pair[0] == pair[1]);
        if group.len() > 1 && same && signatures[0].is_some() {
            groups.push(group);
        }
    }
    groups
}

/// An extent of a result: a constant or another result.
#[derive(PartialEq, Eq)]
enum Extent {
    Constant(i64),
    Result(usize),
}

/// Returns the results' types by position, or `None` when a size is a parameter.
fn signature(program: &Program, function: usize) -> Option<Vec<(Scalar, Vec<Extent>)>> {
    let results = &program.functions[function].results;
    let extent = |atom: &Atom| match atom {
        Atom::Constant(ScalarValue::I64(value)) => Some(Extent::Constant(*value)),
        Atom::Constant(_) => None,
        Atom::Variable(v) => results.iter().position(|r| r == v).map(Extent::Result),
    };
    let ty = |variable: &Variable| match program.ty(*variable) {
        Type::Scalar(scalar) => Some((*scalar, Vec::new())),
        Type::Array(scalar, shape) => {
            let shape: Option<Vec<Extent>> = shape.iter().map(extent).collect();
            Some((*scalar, shape?))
        }
        Type::Block(_) => None,
    };
    results.iter().map(ty).collect()
}

/// Merges a group into one function, which has a selector, the parameters of all, and a case for
/// each.
fn merge(program: &mut Program, group: &[usize]) {
    let merged = FunctionId(program.functions.len() as u32);
    let selector = program.add_variable("selector", Type::Scalar(Scalar::I32));
    let mut parameters = vec![selector];
    for k in group {
        parameters.extend(&program.functions[*k].parameters);
    }
    let place = program.functions[group[0]].place.clone();
    let name = merged_name(program, group);
    let mut cases = Vec::with_capacity(group.len());
    for k in group {
        let mut body = std::mem::take(&mut program.functions[*k].body);
        each_tail_call(&mut body, &mut |callee, arguments, _| {
            if let Some(position) = group.iter().position(|g| *g == callee.0 as usize) {
                let given = std::mem::take(arguments);
                *arguments = all_arguments(program, group, position, given, Atom::Variable);
                *callee = merged;
            }
        });
        cases.push(body);
    }
    let wrappers: Vec<Function> = (0..group.len())
        .map(|position| wrapper(program, group, position, merged))
        .collect();
    let results = program.functions[group[0]].results.clone();
    for (k, wrapper) in group.iter().zip(wrappers) {
        program.functions[*k] = wrapper;
    }
    let pattern = fresh_like(program, &results);
    let body = Body {
        results: atoms(&pattern),
        statements: vec![Statement {
            pattern,
            expression: Expression::Switch {
                scrutinee: Atom::Variable(selector),
                cases,
            },
            place: place.clone(),
        }],
    };
    program.functions.push(Function {
        name,
        parameters,
        results,
        body,
        recursive: false,
        takes: false,
        place,
    });
}

fn merged_name(program: &Program, group: &[usize]) -> Arc<str> {
    let names: BTreeSet<&str> = program.functions.iter().map(|f| &*f.name).collect();
    let shown = group.iter().take(3).map(|k| &*program.functions[*k].name);
    let mut name = shown.collect::<Vec<_>>().join("_");
    while names.contains(&*name) {
        name.push('_');
    }
    Arc::from(name)
}

/// Returns the arguments of the merged function for a call of one member. `other` gives those of
/// the parameters that this member does not have.
fn all_arguments(
    program: &Program,
    group: &[usize],
    position: usize,
    given: Vec<Atom>,
    mut other: impl FnMut(Variable) -> Atom,
) -> Vec<Atom> {
    let mut all = vec![Atom::Constant(ScalarValue::I32(position as i32))];
    let mut given = Some(given);
    for (k, member) in group.iter().enumerate() {
        if k == position {
            all.extend(given.take().unwrap_or_default());
        } else {
            let parameters = &program.functions[*member].parameters;
            all.extend(parameters.iter().map(|p| other(*p)));
        }
    }
    all
}

/// Returns the member as a function that calls the merged one, with zeros for the others'
/// parameters.
fn wrapper(
    program: &mut Program,
    group: &[usize],
    position: usize,
    merged: FunctionId,
) -> Function {
    let member = group[position];
    let place = program.functions[member].place.clone();
    let own = program.functions[member].parameters.clone();
    let mut substitution = Substitution::default();
    let parameters: Vec<Variable> = own
        .into_iter()
        .map(|p| fresh_variable(program, p, &mut substitution))
        .collect();
    let mut statements = Vec::new();
    for (k, other) in group.iter().enumerate() {
        if k != position {
            for parameter in program.functions[*other].parameters.clone() {
                let zero = zero(
                    program,
                    parameter,
                    &mut substitution,
                    &mut statements,
                    &place,
                );
                substitution.insert(parameter, zero);
            }
        }
    }
    let arguments = all_arguments(program, group, position, atoms(&parameters), |p| {
        substitution.atom(Atom::Variable(p))
    });
    let own = program.functions[member].results.clone();
    let results = fresh_like(program, &own);
    let pattern = fresh_like(program, &own);
    let given = atoms(&pattern);
    statements.push(Statement {
        pattern,
        expression: Expression::Call {
            function: merged,
            arguments,
            tail: false,
        },
        place: place.clone(),
    });
    Function {
        name: program.functions[member].name.clone(),
        parameters,
        results,
        body: Body {
            statements,
            results: given,
        },
        recursive: false,
        takes: false,
        place,
    }
}

/// Returns a value for a parameter that nothing reads: zero, or an array of zeros. The values for
/// the array's sizes give its size.
fn zero(
    program: &mut Program,
    parameter: Variable,
    substitution: &mut Substitution,
    statements: &mut Vec<Statement>,
    place: &nova_diag::Place,
) -> Atom {
    let of = |scalar: Scalar| Atom::Constant(ScalarValue::from_integer_wrapping(scalar, 0));
    match substitution.ty(program.ty(parameter)) {
        Type::Scalar(scalar) | Type::Block(scalar) => of(scalar),
        Type::Array(scalar, shape) => {
            let ty = Type::Array(scalar, shape.clone());
            let variable = program.add_variable("unused", ty);
            let value = of(scalar);
            statements.push(Statement {
                pattern: vec![variable],
                expression: Expression::Replicate { shape, value },
                place: place.clone(),
            });
            Atom::Variable(variable)
        }
    }
}

/// Returns new variables of the same types. Their types name each other in the same way.
fn fresh_like(program: &mut Program, variables: &[Variable]) -> Vec<Variable> {
    fresh_variables(program, variables, &mut Substitution::default())
}

fn atoms(variables: &[Variable]) -> Vec<Atom> {
    variables.iter().map(|v| Atom::Variable(*v)).collect()
}
