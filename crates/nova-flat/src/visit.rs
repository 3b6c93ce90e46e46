//! Traversals and rewriting of Flat, the tools of every pass.
//!
//! **Shallow.** [`operands`], [`operands_mut`], [`bodies`], [`bodies_mut`], [`binders`] and
//! [`binders_mut`] visit one expression, not its bodies. Operands come in two sorts, atoms and arrays
//! (which must be variables). Binders are the parameters, indices and carries that an expression binds
//! for its bodies. A statement's pattern is not among them.
//!
//! **Deep.** [`each_statement`] and [`each_body_mut`] visit everything below a body, however deep.
//! [`holds_strategies`] finds operations that must stay as they are. [`free_variables`] and
//! [`count_uses`] also visit the types (and memory) of bound variables.
//!
//! **Rewriting.** A [`Substitution`] maps variables to atoms. [`substitute`] applies one to a body in
//! place, including the types of its binders. [`fresh_copy`] and [`fresh_lambda`] copy code with new
//! variables for all that it binds, as inlining needs: names stay unique in the program. Bind
//! parameters by putting them into the substitution first. Both are for Flat: in Mem, blocks that are
//! bound together with arrays keep their names.
//!
//! ```
//! use nova_flat::ir::{Atom, Body, Program, Type};
//! use nova_flat::visit::{Substitution, fresh_copy};
//! # use nova_core::Scalar;
//! # let mut program = Program::default();
//! # let parameter = program.add_variable("x", Type::Scalar(Scalar::I64));
//! # let body = Body { statements: vec![], results: vec![Atom::Variable(parameter)] };
//! // Inline `body` with 7 for its parameter:
//! let mut substitution = Substitution::default();
//! substitution.insert(parameter, Atom::index(7));
//! let copy = fresh_copy(&mut program, &body, &mut substitution);
//! assert_eq!(copy.results, [Atom::index(7)]);
//! ```

mod rewrite;

pub use rewrite::{
    Substitution, choice_of_versions, fresh_copy, fresh_lambda, fresh_variable, fresh_variables,
    substitute,
};

use crate::ir::{
    ArrayOperation, Atom, Body, Expression, FunctionId, Output, Positions, Program, SliceDimension,
    Statement, Type, Variable, View,
};
use crate::memory::Memory;
use crate::{array_expressions, call_expressions, node_expressions, pure_expressions};
use nova_core::Strategy;
use nova_diag::deep;
use std::collections::BTreeSet;

/// Declares the shallow walks twice, for shared and for exclusive references.
macro_rules! walks {
    ($operands:ident, $views:ident, $outputs:ident, $bodies:ident, $binders:ident,
     $lambda:ident $(, $mutable:tt)?) => {
        /// Calls `atom` and `array` on the operands of an expression, roughly in the order written.
        /// Does not visit its bodies. The start values of carries and of `while` parameters are
        /// operands too.
        pub fn $operands<'a>(
            expression: &'a $($mutable)? Expression,
            atom: &mut dyn FnMut(&'a $($mutable)? Atom),
            array: &mut dyn FnMut(&'a $($mutable)? Variable),
        ) {
            match expression {
                Expression::Atom(a) => atom(a),
                Expression::Scalar { arguments, .. }
                | Expression::Fail { arguments, .. }
                | Expression::Call { arguments, .. }
                | Expression::Foreign { arguments, .. } => arguments.into_iter().for_each(atom),
                Expression::Check { condition, arguments, .. } => {
                    atom(condition);
                    arguments.into_iter().for_each(atom);
                }
                Expression::Index { array: source, indices } => {
                    array(source);
                    indices.into_iter().for_each(atom);
                }
                Expression::View { array: source, view } => {
                    array(source);
                    $views(view, atom);
                }
                Expression::Literal { elements, .. } => elements.into_iter().for_each(atom),
                Expression::Bytes(_) | Expression::MaySplit => {}
                Expression::Iota { count, start, step } => {
                    atom(count);
                    atom(start);
                    atom(step);
                }
                Expression::Replicate { shape, value } => {
                    shape.into_iter().for_each(&mut *atom);
                    atom(value);
                }
                Expression::Copy(source) | Expression::Unique(source) => array(source),
                Expression::Concat { arrays, count } => {
                    arrays.into_iter().for_each(array);
                    atom(count);
                }
                Expression::Update { array: source, indices, value } => {
                    array(source);
                    indices.into_iter().for_each(&mut *atom);
                    atom(value);
                }
                Expression::Sort { count, .. } | Expression::Allocate { count, .. } => atom(count),
                Expression::SortKeys { count, first, keys, .. } => {
                    atom(count);
                    atom(first);
                    array(keys);
                }
                Expression::Operation(operation) => $outputs(operation, atom, array),
                Expression::If { condition, .. } => atom(condition),
                Expression::Switch { scrutinee, .. } => atom(scrutinee),
                Expression::While { parameters, .. } => {
                    parameters.into_iter().for_each(|p| atom(& $($mutable)? p.1));
                }
                Expression::NodeNew { payload, .. } => payload.into_iter().for_each(atom),
                Expression::NodeTag { link, .. }
                | Expression::NodePayload { link, .. }
                | Expression::NodesReached { link, .. }
                | Expression::TableOpen { link, .. }
                | Expression::NodesSeal { link, .. } => atom(link),
                Expression::NodesReserve { count, .. } => atom(count),
                Expression::TableClose { root, tables, .. } => {
                    atom(root);
                    tables.into_iter().for_each(atom);
                }
                Expression::TableShrink { tables, .. } => tables.into_iter().for_each(atom),
                Expression::NodeStore { link, payload, .. } => {
                    atom(link);
                    payload.into_iter().for_each(atom);
                }
                Expression::NodesAcyclic { first, counts, .. } => {
                    first.into_iter().for_each(&mut *atom);
                    counts.into_iter().for_each(atom);
                }
                Expression::Trace { components, .. } => components.into_iter().for_each(atom),
            }
        }

        /// Calls `atom` on the operands of a view.
        pub fn $views<'a>(
            view: &'a $($mutable)? View,
            atom: &mut dyn FnMut(&'a $($mutable)? Atom),
        ) {
            match view {
                View::Slice(dimensions) => {
                    for SliceDimension { start, step, count } in dimensions {
                        atom(start);
                        atom(step);
                        atom(count);
                    }
                }
                View::Transpose(_) => {}
                View::Reshape(atoms) | View::Row(atoms) => atoms.into_iter().for_each(atom),
            }
        }

        fn $outputs<'a>(
            operation: &'a $($mutable)? ArrayOperation,
            atom: &mut dyn FnMut(&'a $($mutable)? Atom),
            array: &mut dyn FnMut(&'a $($mutable)? Variable),
        ) {
            let ArrayOperation { shape, carries, outputs, .. } = operation;
            shape.into_iter().for_each(&mut *atom);
            for (_, start) in carries {
                atom(start);
            }
            for output in outputs {
                match output {
                    Output::Map | Output::Filter { .. } | Output::Collect { .. } => {}
                    Output::Reduce { start, .. } | Output::Scan { start, .. } => {
                        start.into_iter().for_each(&mut *atom);
                    }
                    Output::Scatter { destinations, positions } => {
                        destinations.into_iter().for_each(&mut *array);
                        match positions {
                            Positions::Given | Positions::Unordered | Positions::Greatest => {}
                            Positions::Block(starts) => {
                                starts.into_iter().for_each(&mut *atom);
                            }
                        }
                    }
                    Output::Histogram { start, bins, .. } => {
                        start.into_iter().for_each(&mut *atom);
                        atom(bins);
                    }
                    Output::Join { shape } => shape.into_iter().for_each(&mut *atom),
                }
            }
        }

        /// Calls `visit` on each body of an expression, including those of lambdas, in order.
        pub fn $bodies<'a>(
            expression: &'a $($mutable)? Expression,
            visit: &mut dyn FnMut(&'a $($mutable)? Body),
        ) {
            match expression {
                Expression::Sort { compare, .. } => visit(& $($mutable)? compare.body),
                Expression::Operation(operation) => {
                    visit(& $($mutable)? operation.body);
                    for output in & $($mutable)? operation.outputs {
                        if let Some(lambda) = output.$lambda() {
                            visit(& $($mutable)? lambda.body);
                        }
                    }
                }
                Expression::If { then, otherwise, .. } => {
                    visit(then);
                    visit(otherwise);
                }
                Expression::Switch { cases, .. } => cases.into_iter().for_each(visit),
                Expression::While { condition, body, .. } => {
                    visit(condition);
                    visit(body);
                }
                pure_expressions!() | array_expressions!() | call_expressions!()
                | node_expressions!() | Expression::View { .. } | Expression::Check { .. }
                | Expression::Fail { .. } | Expression::Allocate { .. }
                | Expression::SortKeys { .. } | Expression::Unique(_) => {}
            }
        }

        /// Calls `visit` on each variable that an expression binds for its bodies: indices, carries and
        /// parameters. Sizes come before the arrays that have them.
        pub fn $binders<'a>(
            expression: &'a $($mutable)? Expression,
            visit: &mut dyn FnMut(&'a $($mutable)? Variable),
        ) {
            match expression {
                Expression::Sort { compare, .. } => {
                    (& $($mutable)? compare.parameters).into_iter().for_each(visit);
                }
                Expression::Operation(operation) => {
                    (& $($mutable)? operation.indices).into_iter().for_each(&mut *visit);
                    for (carry, _) in & $($mutable)? operation.carries {
                        visit(carry);
                    }
                    for output in & $($mutable)? operation.outputs {
                        if let Some(lambda) = output.$lambda() {
                            let parameters = & $($mutable)? lambda.parameters;
                            parameters.into_iter().for_each(&mut *visit);
                        }
                    }
                }
                Expression::While { parameters, .. } => {
                    for (parameter, _) in parameters {
                        visit(parameter);
                    }
                }
                pure_expressions!() | array_expressions!() | call_expressions!()
                | node_expressions!() | Expression::View { .. } | Expression::Check { .. }
                | Expression::Fail { .. } | Expression::Allocate { .. } | Expression::Unique(_)
                | Expression::SortKeys { .. } | Expression::If { .. } | Expression::Switch { .. } => {}
            }
        }
    };
}

walks!(
    operands,
    view_operands,
    operation_operands,
    bodies,
    binders,
    lambda
);
walks!(
    operands_mut,
    view_operands_mut,
    operation_operands_mut,
    bodies_mut,
    binders_mut,
    lambda_mut,
    mut
);

/// Calls `visit` on each variable among the operands of an expression, arrays included.
pub fn used_variables(expression: &Expression, visit: &mut dyn FnMut(Variable)) {
    // Both sorts of operand go to one closure, which they cannot borrow at the same time.
    let visit = std::cell::RefCell::new(visit);
    operands(
        expression,
        &mut |atom| {
            if let Atom::Variable(variable) = atom {
                (visit.borrow_mut())(*variable);
            }
        },
        &mut |array| (visit.borrow_mut())(*array),
    );
}

/// Calls `visit` on each variable that a type and a memory name: sizes, blocks, addresses.
pub fn type_variables(ty: &Type, memory: Option<&Memory>, visit: &mut dyn FnMut(Variable)) {
    match ty {
        Type::Scalar(_) | Type::Block(_) => {}
        Type::Array(_, shape) => {
            for extent in shape {
                if let Atom::Variable(variable) = extent {
                    visit(*variable);
                }
            }
        }
    }
    if let Some(memory) = memory {
        visit(memory.block);
        let lmad = &memory.lmad;
        let dimensions = lmad.dimensions.iter().flat_map(|d| [&d.0, &d.1]);
        for polynomial in std::iter::once(&lmad.offset).chain(dimensions) {
            polynomial.variables().for_each(|v| visit(*v));
        }
    }
}

/// Calls `visit` on every statement below a body, in order, each before its nested statements.
pub fn each_statement<'a>(body: &'a Body, visit: &mut dyn FnMut(&'a Statement)) {
    for statement in &body.statements {
        visit(statement);
        bodies(&statement.expression, &mut |inner| {
            deep(|| each_statement(inner, &mut *visit));
        });
    }
}

/// True if an operation that carries a strategy is in a body, at any depth.
pub fn holds_strategies(body: &Body) -> bool {
    let mut found = false;
    each_statement(body, &mut |statement| {
        found |= strategy_of(&statement.expression).is_some();
    });
    found
}

/// Returns the strategy that an expression itself carries.
pub fn strategy_of(expression: &Expression) -> Option<Strategy> {
    match expression {
        Expression::Operation(operation) => operation.strategy,
        _no_operation => None,
    }
}

/// Calls `visit` with the program and the body of each function. Meanwhile the program lacks that body.
pub fn each_function(program: &mut Program, mut visit: impl FnMut(&mut Program, &mut Body)) {
    for k in 0..program.functions.len() {
        let mut body = std::mem::take(&mut program.functions[k].body);
        visit(program, &mut body);
        program.functions[k].body = body;
    }
}

/// Calls `visit` on every body below a body, then on the body itself. Inner bodies come first.
pub fn each_body_mut(body: &mut Body, visit: &mut dyn FnMut(&mut Body)) {
    for statement in &mut body.statements {
        bodies_mut(&mut statement.expression, &mut |inner| {
            deep(|| each_body_mut(inner, &mut *visit));
        });
    }
    visit(body);
}

/// True if a statement binds an atom.
pub fn binds(statement: &Statement, atom: Atom) -> bool {
    statement.pattern.iter().any(|v| Atom::Variable(*v) == atom)
}

/// Returns the statement of a body that binds an atom. Nested bodies are not searched.
pub fn binding(body: &Body, atom: Atom) -> Option<&Statement> {
    body.statements.iter().find(|s| binds(s, atom))
}

/// Returns the number of statements of a body, at any depth.
pub fn size(body: &Body) -> usize {
    let mut count = 0;
    each_statement(body, &mut |_| count += 1);
    count
}

/// Calls `binder` on every variable bound at any depth in a body, and `user` on every variable used: as
/// an operand, as a result, or in the type or memory of a variable bound there.
pub fn each_variable(
    program: &Program,
    body: &Body,
    binder: &mut dyn FnMut(Variable),
    user: &mut dyn FnMut(Variable),
) {
    let mut bound = |variable: Variable, user: &mut dyn FnMut(Variable)| {
        binder(variable);
        let info = program.variable(variable);
        type_variables(&info.ty, info.memory.as_ref(), user);
    };
    let results = |body: &Body, user: &mut dyn FnMut(Variable)| {
        for result in &body.results {
            if let Atom::Variable(variable) = result {
                user(*variable);
            }
        }
    };
    results(body, user);
    each_statement(body, &mut |statement| {
        statement.pattern.iter().for_each(|v| bound(*v, user));
        binders(&statement.expression, &mut |v| bound(*v, user));
        used_variables(&statement.expression, user);
        bodies(&statement.expression, &mut |inner| results(inner, user));
    });
}

/// Returns the variables that a body uses and does not bind, including those in types of its binders.
pub fn free_variables(program: &Program, body: &Body) -> BTreeSet<Variable> {
    let mut bound = BTreeSet::new();
    let mut used = BTreeSet::new();
    each_variable(
        program,
        body,
        &mut |v| {
            bound.insert(v);
        },
        &mut |v| {
            used.insert(v);
        },
    );
    // Names are unique, so a variable bound anywhere in the body is used only inside it.
    used.difference(&bound).copied().collect()
}

/// Adds to `counts`, indexed by variable, the number of uses of each in a body: as an operand, as a
/// result, or in the type or memory of a binder.
pub fn count_uses(program: &Program, body: &Body, counts: &mut Vec<u32>) {
    if counts.len() < program.variables.len() {
        counts.resize(program.variables.len(), 0);
    }
    each_variable(program, body, &mut |_| {}, &mut |v| {
        if let Some(count) = counts.get_mut(v.index()) {
            *count += 1;
        }
    });
}

impl Program {
    /// Returns the functions that belong to one entry each and that nothing calls.
    pub fn entry_functions(&self) -> BTreeSet<FunctionId> {
        let mut apart = BTreeSet::new();
        let mut others = BTreeSet::new();
        for entry in &self.entries {
            if !apart.insert(entry.function) {
                others.insert(entry.function);
            }
        }
        for function in &self.functions {
            each_statement(&function.body, &mut |statement| {
                if let Expression::Call { function, .. } = &statement.expression {
                    others.insert(*function);
                }
            });
        }
        apart.retain(|function| !others.contains(function));
        apart
    }
}
