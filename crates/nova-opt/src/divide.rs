//! Divides operations among threads: an operation over `n` indices becomes a grid of parts, each of
//! which runs the same body over the indices of its own, as `join (map_global (map_seq f) (split m
//! x))` of dpia.txt §3. Arrays are joined of the parts; what the parts reduce to is reduced once
//! more.
//!
//! How large a part is depends on the number of indices and on what the body costs, never on the
//! number of threads, so that results do not either. Divided are sorts, and outermost operations whose
//! outputs are maps and filters, and reductions, scans and histograms in which the order makes no
//! difference or need not be strict. Whether threads can share the loop that a grid becomes is decided
//! in Loop (`nova_loop::regions`), where references to memory and nodes are counted.

mod carried;
mod control;
mod cost;
mod histogram;
mod merge;
mod parts;
mod running;
mod sort;

use crate::effects::FunctionEffects;
use carried::carries_run;
use cost::Cost;
use nova_core::{Scalar, ScalarValue};
use nova_diag::deep;
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Level, Output, Program, Statement, Variable,
};
use nova_flat::operators::by_component;
use nova_flat::visit::bodies_mut;
use parts::{Code, Grid};
use running::{DEAREST, is_running};

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

/// Divides the operations of a program that are worth it.
pub fn run(program: &mut Program, division: Division) {
    let mut divider = Divider {
        effects: FunctionEffects::new(program),
        division,
        program,
    };
    for k in 0..divider.program.functions.len() {
        let mut body = std::mem::take(&mut divider.program.functions[k].body);
        divider.body(&mut body);
        divider.program.functions[k].body = body;
    }
}

/// Whether an operation costs so little that its body may be computed twice.
fn is_cheap(operation: &ArrayOperation) -> bool {
    let cost = Cost::of(operation).constant();
    cost.is_some_and(|cost| cost <= DEAREST)
}

struct Divider<'a> {
    program: &'a mut Program,
    effects: FunctionEffects,
    division: Division,
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
            Output::Map | Output::Filter { .. } => true,
            Output::Reduce { lambda, .. }
            | Output::Scan { lambda, .. }
            | Output::Histogram { lambda, .. } => by_component(lambda)
                .is_some_and(|all| all.iter().all(|o| o.exact || !self.division.strict)),
            Output::Scatter { .. } | Output::Collect { .. } | Output::Join { .. } => false,
        };
        let runs = !operation.carries.is_empty() || operation.outputs.iter().any(is_running);
        operation.level == Level::Sequential
            && !(operation.outputs.is_empty() && operation.carries.is_empty())
            && operation.outputs.iter().all(combines)
            && !self.effects.of_body(&operation.body).observable
            && !self.is_small(operation)
            && carries_run(operation, &self.effects)
            && (!runs || is_cheap(operation))
    }

    /// Whether a statement is a sort whose comparisons may be made by any thread.
    fn is_divisible_sort(&self, statement: &Statement) -> bool {
        match &statement.expression {
            Expression::Sort { compare, .. } => !self.effects.of_body(&compare.body).observable,
            _ => false,
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
        let mut code = Code {
            program: self.program,
            place,
            out: Vec::new(),
        };
        for order in pattern {
            code.divide_sort(order, (count, &compare), effects, self.division);
        }
        out.append(&mut code.out);
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
        match (product, Cost::of(operation).constant()) {
            (Some(n), Some(cost)) => n.saturating_mul(cost) < 2 * self.division.grain,
            (Some(_), None) | (None, _) => false,
        }
    }

    /// Writes an operation as a grid of parts, and a reduction of what these reduce to.
    fn divide(&mut self, statement: Statement, out: &mut Vec<Statement>) {
        let Statement {
            pattern,
            expression: Expression::Operation(mut operation),
            place,
        } = statement
        else {
            return;
        };
        let mut code = Code {
            program: self.program,
            place,
            out: Vec::new(),
        };
        let n = operation.shape.first().copied().unwrap_or(Atom::index(0));
        let size = code.part_size(n, &operation, self.division);
        let count = code.quotient_up(n, size);
        let (size, count) = code.parts_for_bins(&operation.outputs, n, (size, count));
        if count == Atom::index(1) {
            let expression = Expression::Operation(operation);
            out.push(Statement {
                pattern,
                expression,
                place: code.place,
            });
            return;
        }
        let part = code.fresh("part", Scalar::I64);
        let mut begins = code.begin_parts(&operation, &pattern, size, count);
        code.begin_bins(&operation.outputs, count, &mut begins.outputs);
        if operation.outputs.is_empty() {
            out.append(&mut code.out);
            return;
        }
        let mut grid = Grid::new(part, count, operation.shape.clone());
        let (statements, ()) = code.apart(|code| {
            let (first, length) = code.bounds(part, n, size);
            let mut given = pattern.iter().copied();
            let carries = operation.carries.iter_mut().zip(&begins.carries);
            for (((_, start), begin), last) in carries.zip(given.by_ref()) {
                *start = code.of_part(*begin, part);
                grid.made.push(code.like_scalar(last));
            }
            for output in operation.outputs.iter_mut().zip(&begins.outputs) {
                let own: Vec<Variable> = given.by_ref().take(output.0.gives()).collect();
                code.divide_output(output, own, (first, length), &mut grid);
            }
            code.restrict(operation, first, length, std::mem::take(&mut grid.made));
        });
        let body = Body {
            statements,
            results: std::mem::take(&mut grid.results),
        };
        let outputs = std::mem::take(&mut grid.outputs);
        let pattern = std::mem::take(&mut grid.pattern);
        code.operation(pattern, count, part, Level::Grid, body, outputs);
        let bins = std::mem::take(&mut grid.bins);
        code.reduce_partial(grid);
        let mut behind = code.body(|code| {
            code.combine_bins(bins, count);
            Vec::new()
        });
        out.append(&mut code.out);
        // Bins may be many, so that combining them is worth dividing.
        self.body(&mut behind);
        out.append(&mut behind.statements);
    }
}
