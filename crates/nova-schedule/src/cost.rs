//! An estimate of the cost of an operation's body, to decide how many of its indices are worth a
//! thread. It decides how work is chunked, never what comes out.

use crate::rows::{Rows, bound_in};
use nova_flat::freedom::is_free;
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Lambda, Output, Program, Statement, Variable,
};
use nova_flat::operators::by_component;
use nova_machine::cost::{SIMPLE, price_of};
use nova_machine::figures;
use std::collections::BTreeSet;

/// The costs of a call, and of a call of a foreign function, which is unknown.
const CALL: i64 = figures::ESTIMATES.call;
const FOREIGN: i64 = figures::ESTIMATES.foreign;
/// The assumed number of iterations of a loop of unknown length.
const ITERATIONS: i64 = figures::ESTIMATES.iterations;

/// The assumed cost of a call of a recursive function, if nothing tells how much work it has.
const RECURSION: i64 = figures::ESTIMATES.recursion;

/// The upper limit of costs.
const LIMIT: i64 = 1 << 30;

/// Bodies that cost more are not computed twice.
pub(crate) const COMPUTED_TWICE: i64 = figures::ESTIMATES.computed_twice;

/// The greatest weight of an index or an element. With fewer than 2^40 of both, sums of weights do not
/// wrap; if they did, chunks might overlap.
const HEAVIEST: i64 = 1 << 20;

/// The cost of a body, in simple scalar operations. It consists of a constant, the costs of the
/// operations in the body, and the cost of an element of a row that the body works on. An operation has
/// the extents of its space, known outside of the body, and the cost of an iteration.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cost {
    pub(crate) fixed: i64,
    pub(crate) loops: Vec<(Vec<Atom>, i64)>,
    /// The cost of an element of the row that an index stands for.
    pub(crate) element: i64,
    /// True if a recursive function is called, and nothing tells how much work it has.
    pub(crate) unknown: bool,
}

/// The context in which a cost is added up.
struct Context<'a> {
    program: &'a Program,
    /// Variables bound in the body.
    bound: BTreeSet<Variable>,
    /// The length of the row that an index stands for.
    length: Option<Variable>,
}

/// The number of times that a body runs for each index: once for each index of a space of these extents
/// and, with `row`, for each element of a row, times a factor.
#[derive(Clone)]
struct Times {
    extents: Vec<Atom>,
    row: bool,
    times: i64,
}

impl Cost {
    /// Returns the cost of the body of an operation, and all bodies in it, and the rows on which it
    /// depends.
    pub(crate) fn of(program: &Program, operation: &ArrayOperation) -> (Cost, Option<Rows>) {
        let measured = Rows::measured(program, operation);
        let by_row = measured.into_iter().find_map(|rows| {
            let cost = Cost::with(program, operation, Some(rows.length));
            (cost.element > 0).then_some((cost, Some(rows)))
        });
        by_row.unwrap_or_else(|| (Cost::with(program, operation, None), None))
    }

    fn with(program: &Program, operation: &ArrayOperation, length: Option<Variable>) -> Cost {
        let mut bound: BTreeSet<Variable> = operation.indices.iter().copied().collect();
        bound.extend(operation.carries.iter().map(|(carry, _)| carry));
        let operators = operation.outputs.iter().filter_map(unknown_operator);
        let bodies: Vec<&Body> = std::iter::once(&operation.body).chain(operators).collect();
        Cost::of_bodies(program, bound, &bodies, length)
    }

    /// Returns the cost of the body of a lambda, and all bodies in it.
    pub(crate) fn of_lambda(program: &Program, lambda: &Lambda) -> Cost {
        let bound = lambda.parameters.iter().copied().collect();
        Cost::of_bodies(program, bound, &[&lambda.body], None)
    }

    /// Returns the cost of bodies in which these variables are bound.
    fn of_bodies(
        program: &Program,
        mut bound: BTreeSet<Variable>,
        bodies: &[&Body],
        length: Option<Variable>,
    ) -> Cost {
        for body in bodies {
            bound.append(&mut bound_in(body));
        }
        let context = Context {
            program,
            bound,
            length,
        };
        let once = Times {
            extents: Vec::new(),
            row: false,
            times: 1,
        };
        let mut cost = Cost::default();
        for body in bodies {
            cost.add(body, &once, &context);
        }
        cost
    }

    /// Returns the cost if it is a constant.
    pub(crate) fn constant(&self) -> Option<i64> {
        (self.loops.is_empty() && self.element == 0).then_some(self.fixed)
    }

    /// Adds the cost of a body that runs this often.
    fn add(&mut self, body: &Body, often: &Times, context: &Context) {
        let mut own = 0i64;
        for statement in &body.statements {
            own = own.saturating_add(of_statement(statement));
            if takes_row(statement, context) {
                self.element = (self.element + CALL).min(LIMIT);
            } else if is_recursion(statement, context) {
                self.unknown = true;
                own = own.saturating_add(RECURSION);
            }
            let mut inner = often.clone();
            if let Expression::Operation(operation) = &statement.expression {
                for extent in &operation.shape {
                    inner.repeat(*extent, context);
                }
            }
            nova_flat::visit::bodies(&statement.expression, &mut |body| {
                nova_diag::deep(|| self.add(body, &inner, context));
            });
        }
        let own = own.max(1).saturating_mul(often.times).min(LIMIT);
        let more = |sum: &mut i64| *sum = sum.saturating_add(own).min(LIMIT);
        if often.row {
            more(&mut self.element);
        } else if often.extents.is_empty() {
            more(&mut self.fixed);
        } else {
            match self.loops.iter_mut().find(|(e, _)| *e == often.extents) {
                Some((_, each)) => more(each),
                None => self.loops.push((often.extents.clone(), own)),
            }
        }
    }
}

impl Times {
    /// Adds another dimension.
    fn repeat(&mut self, extent: Atom, context: &Context) {
        match extent {
            Atom::Variable(v) if context.length == Some(v) && !self.row => self.row = true,
            Atom::Variable(v) if context.bound.contains(&v) || self.row => {
                self.times = self.times.saturating_mul(ITERATIONS);
            }
            Atom::Variable(_) | Atom::Constant(_) => self.extents.push(extent),
        }
    }
}

/// True if a statement calls a recursive function.
fn is_recursion(statement: &Statement, context: &Context) -> bool {
    match &statement.expression {
        Expression::Call { function, .. } => {
            let functions = &context.program.functions;
            functions.get(function.index()).is_some_and(|f| f.recursive)
        }
        _no_call => false,
    }
}

/// True if a statement calls a function with the row that an index stands for.
fn takes_row(statement: &Statement, context: &Context) -> bool {
    let Expression::Call { arguments, .. } = &statement.expression else {
        return false;
    };
    arguments.iter().any(|argument| match argument {
        Atom::Variable(v) => {
            let mut extents = context.program.ty(*v).shape().iter();
            extents.any(|e| matches!(e, Atom::Variable(v) if context.length == Some(*v)))
        }
        Atom::Constant(_) => false,
    })
}

/// Returns the body of the operator of a reduction or scan, if it is not a known one, which is cheap.
fn unknown_operator(output: &Output) -> Option<&Body> {
    match output {
        Output::Reduce { lambda, .. } | Output::Scan { lambda, .. } => {
            by_component(lambda).is_none().then_some(&lambda.body)
        }
        _others => None,
    }
}

/// Returns the cost of a statement apart from the bodies in it.
fn of_statement(statement: &Statement) -> i64 {
    match &statement.expression {
        Expression::Scalar {
            operation, operand, ..
        } => price_of(*operation, *operand).weight,
        Expression::Atom(_) | Expression::View { .. } => 0,
        Expression::Call { .. } => CALL,
        Expression::Foreign { .. } => FOREIGN,
        Expression::Sort { .. } | Expression::SortKeys { .. } => CALL * ITERATIONS,
        _ => SIMPLE.weight,
    }
}

/// Returns the cost of an index of an operation, and the rows if it depends on them.
pub(crate) fn cost_by_row(
    program: &Program,
    operation: &ArrayOperation,
    strict: bool,
) -> (Cost, Option<Rows>) {
    let (mut cost, rows) = Cost::of(program, operation);
    let by_row = cost.loops.is_empty() && is_free(operation, strict);
    let rows = rows.filter(|_| by_row);
    if rows.is_some() {
        cost.fixed = cost.fixed.min(HEAVIEST);
        cost.element = cost.element.min(HEAVIEST);
    }
    (cost, rows)
}
