//! Divides operations among threads: an operation over `n` indices becomes a grid of parts, each of
//! which runs the same body over the indices of its own, as `join (map_global (map_seq f) (split m
//! x))` of dpia.txt §3. Arrays are joined of the parts; what the parts reduce to is reduced once
//! more.
//!
//! How large a part is depends on the number of indices and on what the body costs, never on the
//! number of threads, so that results do not either. What costs less than two parts stays as it is,
//! which is decided when the program runs. Divided are operations whose outputs are maps, filters,
//! collections of rows, and reductions, scans and histograms of scalars; [`ordered`] has those whose
//! order is strict, [`carried`] state that is a running result, [`sort`] the sorts. Scatters stay with
//! one thread: parts would have to agree on which of several elements is the last.
//!
//! Operations inside of a divided one are left to the thread that has the part, in which they may be
//! fused with what is around them. Only where there are few indices, or one of them has a row so long
//! that the others would wait for it, the body is another one, whose operations are divided in turn
//! (nova.txt §5.1 makes one segmented operation of such nests; here the sizes decide between balanced
//! rows and shared ones).
//!
//! Whether threads can share the loop that a grid becomes is decided in Loop (`nova_loop::regions`).

mod carried;
mod collect;
mod control;
mod cost;
mod cut;
mod grid;
mod histogram;
mod merge;
mod ordered;
mod parts;
mod rows;
mod running;
mod sort;

use crate::effects::FunctionEffects;
use carried::carries_run;
use cost::Cost;
use grid::Way;
use nova_core::ScalarValue;
use nova_diag::deep;
use nova_flat::ir::{ArrayOperation, Atom, Body, Expression, Level, Output, Program, Statement};
use nova_flat::visit::{bodies_mut, each_statement};
use ordered::{is_exact, is_free, is_orderly};
use parts::{Code, fresh_operation};
use running::{DEAREST, is_scan};

/// How operations are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// Whether reductions keep the order of docs/order.md.
    pub strict: bool,
    /// The least that a part should cost, in scalar operations.
    pub grain: i64,
    /// How many parts there are at most.
    pub parts: i64,
}

impl Division {
    /// Parts that are worth the time of handing them out, and enough of them for many threads.
    pub const DEFAULT: Division = Division {
        strict: false,
        grain: 1 << 15,
        parts: 256,
    };
    /// So small parts that short arrays are divided too, for tests.
    pub const SMALL: Division = Division {
        strict: true,
        grain: 2,
        parts: 4,
    };
}

/// In how many divided operations others are divided: each level has the code inside of it once more.
const DEEPEST: usize = 3;

/// Divides the operations of a program that are worth it.
pub fn run(program: &mut Program, division: Division) {
    let mut divider = Divider {
        effects: FunctionEffects::new(program),
        division,
        program,
        depth: 0,
    };
    for k in 0..divider.program.functions.len() {
        let mut body = std::mem::take(&mut divider.program.functions[k].body);
        divider.body(&mut body);
        divider.program.functions[k].body = body;
    }
}

struct Divider<'a> {
    program: &'a mut Program,
    effects: FunctionEffects,
    division: Division,
    /// How many divided operations are around.
    depth: usize,
}

impl Divider<'_> {
    fn body(&mut self, body: &mut Body) {
        let mut statements = Vec::with_capacity(body.statements.len());
        for mut statement in std::mem::take(&mut body.statements) {
            if self.is_divisible(&statement) {
                self.divide(statement, &mut statements);
                continue;
            }
            if self.is_divisible_sort(&statement) {
                self.divide_sort(statement, &mut statements);
                continue;
            }
            bodies_mut(&mut statement.expression, &mut |inner| {
                deep(|| self.body(inner));
            });
            statements.push(statement);
        }
        body.statements = statements;
    }

    /// Whether the indices of an operation may be divided among threads.
    fn is_divisible(&self, statement: &Statement) -> bool {
        let Expression::Operation(operation) = &statement.expression else {
            return false;
        };
        let combines = |output: &Output| match output {
            Output::Map | Output::Filter { .. } | Output::Collect { .. } => true,
            Output::Reduce { lambda, .. }
            | Output::Scan { lambda, .. }
            | Output::Histogram { lambda, .. } => {
                let in_parts = is_orderly(output, operation.shape.len(), self.division.strict);
                in_parts && !self.effects.of_body(&lambda.body).observable
            }
            Output::Scatter { .. } | Output::Join { .. } => false,
        };
        operation.level == Level::Sequential
            && !(operation.outputs.is_empty() && operation.carries.is_empty())
            && operation.outputs.iter().all(combines)
            && !self.effects.of_body(&operation.body).observable
            && !self.is_small(operation)
            && (operation.carries.is_empty() || self.carries_run(operation))
            && (is_exact(operation) || !Cost::of(self.program, operation).0.unknown)
            && (!operation.outputs.iter().any(is_scan) || self.is_cheap(operation))
    }

    /// Whether the carries of an operation are running results that may be found in parts.
    fn carries_run(&self, operation: &ArrayOperation) -> bool {
        carries_run(operation, &self.effects)
            && is_free(operation, self.division.strict)
            && self.is_cheap(operation)
    }

    /// Whether a statement is a sort whose comparisons may be made by any thread.
    fn is_divisible_sort(&self, statement: &Statement) -> bool {
        match &statement.expression {
            Expression::Sort { compare, .. } => !self.effects.of_body(&compare.body).observable,
            _no_sort => false,
        }
    }

    /// Writes a sort as a grid of parts, and rounds of merges.
    fn divide_sort(&mut self, statement: Statement, out: &mut Vec<Statement>) {
        let Statement {
            pattern,
            expression: Expression::Sort { count, compare },
            place,
        } = statement
        else {
            return;
        };
        let effects = self.effects.of_body(&compare.body);
        let mut code = Code::new(self.program, place, self.division);
        for order in pattern {
            code.divide_sort(order, (count, &compare), effects, self.division);
        }
        out.append(&mut code.out);
    }

    /// Whether an operation costs so little that its body may be computed twice.
    fn is_cheap(&self, operation: &ArrayOperation) -> bool {
        let cost = Cost::of(self.program, operation).0.constant();
        cost.is_some_and(|cost| cost <= DEAREST)
    }

    /// Whether an operation is known to cost less than two parts.
    fn is_small(&self, operation: &ArrayOperation) -> bool {
        let product = operation
            .shape
            .iter()
            .try_fold(1i64, |n, extent| match extent {
                Atom::Constant(ScalarValue::I64(m)) => Some(n.saturating_mul(*m)),
                Atom::Constant(_) | Atom::Variable(_) => None,
            });
        match (product, Cost::of(self.program, operation).0.constant()) {
            (Some(n), Some(cost)) => n.saturating_mul(cost) < 2 * self.division.grain,
            (Some(_), None) | (None, _) => false,
        }
    }

    /// Writes an operation as a choice by its size: itself, or a grid of parts.
    fn divide(&mut self, statement: Statement, out: &mut Vec<Statement>) {
        let Statement {
            pattern,
            expression: Expression::Operation(operation),
            place,
        } = statement
        else {
            return;
        };
        let inside = self.inside(&operation);
        let is_cheap = self.is_cheap(&operation);
        let mut code = Code::new(self.program, place.clone(), self.division);
        let worth = code.is_worth(&operation, inside.is_some(), self.division);
        let way = Way {
            inside,
            twice: is_cheap,
            division: self.division,
        };
        let (then, otherwise, condition) = match worth {
            Err(false) => {
                code.push(pattern, Expression::Operation(operation));
                return out.append(&mut code.out);
            }
            known => {
                let whole = code.fresh_whole(&operation);
                let then = code.branch(&pattern, |code, own| code.grid(operation, &own, way));
                let otherwise = code.branch(&pattern, |code, own| {
                    code.push(own, Expression::Operation(whole));
                });
                let yes = Atom::Constant(ScalarValue::Bool(true));
                (then, otherwise, known.unwrap_or(yes))
            }
        };
        out.append(&mut code.out);
        let undivided = code.undivided;
        let choice = Expression::If {
            condition,
            then: self.divide_last(then, undivided),
            otherwise,
        };
        out.push(Statement {
            pattern,
            expression: choice,
            place,
        });
    }

    /// Divides the last statements of a body.
    fn divide_last(&mut self, mut body: Body, count: usize) -> Body {
        let at = body.statements.len().saturating_sub(count);
        let mut last = Body {
            statements: body.statements.split_off(at),
            results: Vec::new(),
        };
        self.body(&mut last);
        body.statements.append(&mut last.statements);
        body
    }

    /// An operation without outputs whose body is that of another one, with the operations in it
    /// divided, if there are any to divide.
    fn inside(&mut self, operation: &ArrayOperation) -> Option<ArrayOperation> {
        if self.depth >= DEEPEST {
            return None;
        }
        let mut divisible = false;
        each_statement(&operation.body, &mut |statement| {
            divisible =
                divisible || self.is_divisible(statement) || self.is_divisible_sort(statement);
        });
        divisible.then(|| {
            let mut copy = fresh_operation(self.program, operation);
            self.depth += 1;
            deep(|| self.body(&mut copy.body));
            self.depth -= 1;
            copy
        })
    }
}
