//! The pass that parallelises the operations of a program: which of them may be parallelised, and
//! which form each takes.

use crate::carried::carries_run;
use crate::chunking::{is_worth, least_work, most_of_small};
use crate::cost::{COMPUTED_TWICE, Cost};
use crate::describe::parallelised;
use crate::joined::joins_equal_rows;
use crate::kernels::kernel;
use crate::limits::NESTED_PARALLELISM;
use crate::lockstep::is_same_in_chunks;
use crate::notes::{Fate, Note, Notes, Parallelised, Reason, key, pairs};
use crate::policy::Parallelism;
use crate::sample_sort::KeySort;
use crate::shared::NodeMakers;
use crate::short_dimensions::{has_rows, rows_or_chunks};
use crate::sort::{least_shared_keys, parallelise_sort, parallelise_sort_keys};
use crate::stencil::{Definitions, Stencil};
use crate::stores::{is_orderless, scatters, stores_blocks};
use crate::strategies::Asked;
use crate::way::Way;
use crate::writer::{Writer, fresh_operation};
use nova_core::ScalarValue;
use nova_diag::{Place, deep};
use nova_flat::alone::Alone;
use nova_flat::freedom::{Freedom, freedom, is_exact, is_free, is_orderly};
use nova_flat::greatest::Greatest;
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Level, Output, Program, Statement, Variable,
};
use nova_flat::kinds::is_scan;
use nova_flat::visit::{bodies_mut, each_statement};
use nova_opt::effects::FunctionEffects;
use nova_opt::flatten_regular::irregular;
use nova_plan::{Choice, Plan};
use std::collections::BTreeSet;

/// Parallelises the operations of a program that are worth it.
pub fn run(program: &mut Program, parallelism: Parallelism) {
    run_by_plan(program, parallelism, &Alone::default(), &Plan::default());
}

/// Does the same as [`run`] by a plan, except for the operations that are left to one thread.
pub fn run_by_plan(program: &mut Program, parallelism: Parallelism, alone: &Alone, plan: &Plan) {
    parallelise(program, parallelism, (alone, plan), None);
}

/// Parallelises the operations of a program as [`run_by_plan`] does, and returns the outcome of each.
pub fn notes(
    program: &mut Program,
    parallelism: Parallelism,
    alone: &Alone,
    plan: &Plan,
) -> Option<Notes> {
    let notes = Notes::new(parallelism);
    parallelise(program, parallelism, (alone, plan), Some(notes))
}

fn parallelise(
    program: &mut Program,
    parallelism: Parallelism,
    (alone, plan): (&Alone, &Plan),
    notes: Option<Notes>,
) -> Option<Notes> {
    let mut paralleliser = Paralleliser {
        effects: FunctionEffects::new(program),
        node_makers: NodeMakers::new(program, parallelism.kernels),
        asked: Asked::new(program),
        parallelism,
        usual: parallelism,
        definitions: Definitions::default(),
        alone,
        plan,
        greatest: Greatest::default(),
        program,
        depth: 0,
        repeated: false,
        notes,
    };
    if parallelism.kernels {
        for function in &paralleliser.program.functions {
            paralleliser.definitions.add(&function.body);
        }
    }
    for k in 0..paralleliser.program.functions.len() {
        let mut body = std::mem::take(&mut paralleliser.program.functions[k].body);
        paralleliser.body(&mut body);
        paralleliser.program.functions[k].body = body;
    }
    paralleliser.notes
}

/// True if a statement is an operation or a sort.
fn may_be_parallelised(statement: &Statement) -> bool {
    matches!(
        statement.expression,
        Expression::Operation(_) | Expression::Sort { .. } | Expression::SortKeys { .. }
    )
}

/// True for a grid that an earlier pass has written: threads share it as it is.
fn is_shared(statement: &Statement) -> bool {
    matches!(&statement.expression, Expression::Operation(operation)
        if operation.level == Level::Grid && !operation.is_marked())
}

pub(crate) struct Paralleliser<'a> {
    pub(crate) program: &'a mut Program,
    effects: FunctionEffects,
    node_makers: NodeMakers,
    /// The functions and grids for which the program requests threads itself.
    asked: Asked,
    /// The policy for the current operation.
    pub(crate) parallelism: Parallelism,
    /// The policy for operations of which the plan says nothing.
    usual: Parallelism,
    /// The definitions of variables, for devices.
    definitions: Definitions,
    /// The operations that one thread runs whatever they cost.
    alone: &'a Alone,
    plan: &'a Plan,
    /// The greatest values of sizes.
    greatest: Greatest,
    /// The number of enclosing parallelised operations.
    depth: usize,
    /// True in a loop inside of a parallelised operation. Its operations are parallelised in those iterations in
    /// which threads are idle, if that makes no difference to the bit.
    repeated: bool,
    /// The outcomes of operations, if they are to be recorded.
    pub(crate) notes: Option<Notes>,
}

impl Paralleliser<'_> {
    pub(crate) fn body(&mut self, body: &mut Body) {
        let mut statements = Vec::with_capacity(body.statements.len());
        for mut statement in std::mem::take(&mut body.statements) {
            self.fill_by_threads(&mut statement);
            self.greatest.note(&statement);
            if is_shared(&statement) {
                self.note(
                    &statement,
                    Fate::Parallelised(Parallelised::rows(self.parallelism.grain)),
                );
                statements.push(statement);
                continue;
            }
            let enclosing = self.parallelism;
            if may_be_parallelised(&statement) {
                self.parallelism = self.usual.planned(self.plan, &statement);
            }
            match self.obstacle(&statement) {
                Some(None) => {
                    self.parallelise(statement, &mut statements);
                    self.parallelism = enclosing;
                    continue;
                }
                Some(Some(reason)) => self.note(&statement, Fate::Whole(reason)),
                None => {}
            }
            self.parallelism = enclosing;
            let repeated = self.repeated;
            self.repeated |= self.depth > 0 && statement.expression.repeats();
            bodies_mut(&mut statement.expression, &mut |inner| {
                deep(|| self.body(inner));
            });
            self.repeated = repeated;
            statements.push(statement);
        }
        body.statements = statements;
    }

    /// Records the outcome of an operation or a sort.
    fn note(&mut self, statement: &Statement, fate: Fate) {
        if let (Some(notes), Some(key)) = (&mut self.notes, key(statement)) {
            let note = Note {
                fate,
                nested: self.depth > 0,
                irregular: irregular(&statement.expression),
            };
            notes.insert(key, note);
        }
    }

    /// Returns the reason why an operation or a sort may not be parallelised, or `Some(None)` if it
    /// may. Returns `None` for other statements.
    fn obstacle(&self, statement: &Statement) -> Option<Option<Reason>> {
        if self.alone.has(statement) {
            return Some(Some(Reason::Unproved));
        }
        let obstacle = match &statement.expression {
            Expression::Operation(operation) => self.obstacle_of(operation),
            Expression::Sort { compare, .. } => self.obstacle_in(&compare.body),
            Expression::SortKeys { count, .. } => {
                let most = self.greatest.of(*count);
                let is_small = most.is_some_and(|most| most <= least_shared_keys(self.parallelism));
                is_small.then_some(Reason::Small)
            }
            _nothing_to_parallelise => return None,
        };
        let is_wanted = || self.plan.allows(&statement.place, Choice::Threads);
        Some(obstacle.or_else(|| (!is_wanted()).then_some(Reason::Plan)))
    }

    /// True if an operation or a sort may be parallelised.
    fn is_parallelisable(&self, statement: &Statement) -> bool {
        self.obstacle(statement) == Some(None)
    }

    /// Returns the obstacle in the body of an operator or a comparison: a grid, or something that
    /// threads cannot share.
    fn obstacle_in(&self, body: &Body) -> Option<Reason> {
        let grids = self.asked.is_in(body).then_some(Reason::Inside);
        grids.or_else(|| self.shared_in(body))
    }

    /// Returns the obstacle in a body that threads cannot share.
    fn shared_in(&self, body: &Body) -> Option<Reason> {
        if self.node_makers.may_run_in(body) {
            return Some(Reason::Nodes);
        }
        let effects = self.effects.of_body(body);
        if effects.observable {
            return Some(Reason::Observable);
        }
        (self.parallelism.kernels && effects.hosted).then_some(Reason::Foreign)
    }

    /// Returns the reason why the indices of an operation may not be parallelised, if there is one.
    fn obstacle_of(&self, operation: &ArrayOperation) -> Option<Reason> {
        let ArrayOperation {
            outputs, carries, ..
        } = operation;
        if operation.is_marked() {
            return Some(Reason::Strategy);
        }
        if operation.level != Level::Sequential || outputs.is_empty() && carries.is_empty() {
            return Some(Reason::Nothing);
        }
        let rank = operation.shape.len();
        let of_output = |output: &Output| match output {
            Output::Map | Output::Filter { .. } | Output::Collect { .. } => None,
            Output::Reduce { lambda, .. }
            | Output::Scan { lambda, .. }
            | Output::Histogram { lambda, .. } => {
                let strict = self.parallelism.strict;
                match is_orderly(output, rank, strict) {
                    true => self.obstacle_in(&lambda.body),
                    false if freedom(lambda, strict) == Freedom::Any => Some(Reason::Operator),
                    false => Some(Reason::Order),
                }
            }
            Output::Scatter { .. } if self.may_store(operation) => None,
            Output::Join { .. } if joins_equal_rows(operation) => None,
            Output::Scatter { .. } | Output::Join { .. } => Some(Reason::Scatter),
        };
        let shared = || self.obstacle_in(&operation.body);
        if let Some(reason) = outputs.iter().find_map(of_output).or_else(shared) {
            return Some(reason);
        }
        if !(self.parallelism.kernels && self.may_store(operation)) && self.is_small(operation) {
            Some(Reason::Small)
        } else if !carries.is_empty() && !self.carries_run(operation) {
            Some(Reason::State)
        } else if !is_exact(operation) && Cost::of(self.program, operation).0.unknown {
            Some(Reason::Recursion)
        } else if outputs.iter().any(is_scan) && !self.is_cheap(operation) {
            Some(Reason::Expensive)
        } else {
            None
        }
    }

    /// True if threads may share an operation that maps and stores. Threads of a processor may if the
    /// order of the stores does not matter.
    fn may_store(&self, operation: &ArrayOperation) -> bool {
        let stores = stores_blocks(operation) || scatters(operation);
        stores && (self.parallelism.kernels || is_orderless(operation))
    }

    /// True if the carries of an operation are running results that can be computed in chunks.
    fn carries_run(&self, operation: &ArrayOperation) -> bool {
        carries_run(operation, &self.effects)
            && is_free(operation, self.parallelism.strict)
            && self.is_cheap(operation)
    }

    /// True if an operation is so cheap that its body may be computed twice.
    fn is_cheap(&self, operation: &ArrayOperation) -> bool {
        let cost = Cost::of(self.program, operation).0.constant();
        cost.is_some_and(|cost| cost <= COMPUTED_TWICE)
    }

    /// True if an operation is known to cost less than two chunks.
    fn is_small(&self, operation: &ArrayOperation) -> bool {
        let product = operation.shape.iter().try_fold(1i64, |n, extent| {
            Some(n.saturating_mul(self.greatest.of(*extent)?.max(0)))
        });
        match (product, Cost::of(self.program, operation).0.constant()) {
            (Some(n), Some(cost)) => {
                n.saturating_mul(cost) < least_work(operation, self.parallelism)
            }
            (Some(n), None) => n == 0,
            (None, _) => false,
        }
    }

    /// Writes an operation or a sort in chunks.
    fn parallelise(&mut self, statement: Statement, out: &mut Vec<Statement>) {
        // This is the outcome unless the code below records another one.
        self.note(&statement, Fate::Whole(Reason::Small));
        let Statement {
            pattern,
            expression,
            place,
        } = statement;
        match expression {
            Expression::Operation(operation) if self.may_store(&operation) => {
                let kernels = self.parallelism.kernels;
                match stores_blocks(&operation) {
                    _ if !kernels => self.store_in_chunks(pattern, operation, place, out),
                    true => self.parallelise_blocks(pattern, operation, place, out),
                    false => self.parallelise_scatter(pattern, operation, place, out),
                }
            }
            Expression::Operation(operation) => {
                self.parallelise_operation(pattern, operation, place, out);
            }
            Expression::Sort { count, compare } => {
                let bisects = self.effects.of_body(&compare.body).is_pure();
                let mut code = Writer::new(self.program, place, self.parallelism);
                for order in pattern {
                    let whole = parallelise_sort(&mut code, order, (count, &compare), bisects);
                    if let (Some(notes), Some(whole)) = (&mut self.notes, whole) {
                        notes.parallelise(order, Parallelised::sort(false, self.parallelism));
                        notes.copy(&[(whole, order)]);
                    }
                }
                out.append(&mut code.out);
            }
            Expression::SortKeys {
                count,
                first,
                keys,
                low,
                gives,
            } => {
                let sort = KeySort {
                    count,
                    first,
                    keys,
                    low,
                    gives,
                };
                let mut code = Writer::new(self.program, place, self.parallelism);
                let whole = parallelise_sort_keys(&mut code, &pattern, &sort);
                if let (Some(notes), Some(whole), Some(given)) =
                    (&mut self.notes, whole, pattern.first())
                {
                    notes.parallelise(*given, Parallelised::sort(true, self.parallelism));
                    notes.copy(&[(whole, *given)]);
                }
                let made = std::mem::take(&mut code.to_parallelise);
                let body = Body {
                    statements: std::mem::take(&mut code.out),
                    results: Vec::new(),
                };
                out.append(&mut self.parallelise_made(body, &made).statements);
            }
            expression => out.push(Statement {
                pattern,
                expression,
                place,
            }),
        }
    }

    /// Writes an operation as a choice by its size: the operation itself, or a grid of chunks.
    fn parallelise_operation(
        &mut self,
        pattern: Vec<Variable>,
        operation: ArrayOperation,
        place: Place,
        out: &mut Vec<Statement>,
    ) {
        let inside = self.inside(&operation);
        if inside.is_none() {
            self.note_inside(&operation);
        }
        let twice = self.is_cheap(&operation);
        let parallelism = self.parallelism;
        let stencil = Stencil::of(self.program, &operation, &self.definitions, parallelism);
        let mut code = Writer::new(self.program, place.clone(), parallelism);
        let by_body = inside.is_some() && !has_rows(code.program, &operation, parallelism);
        let is_same = || is_exact(&operation) && is_same_in_chunks(&operation.body);
        let asks = self.repeated && !parallelism.kernels && is_same();
        let condition = match is_worth(&mut code, &operation, (by_body, asks)) {
            Err(false) => {
                code.push(pattern, Expression::Operation(operation));
                return out.append(&mut code.out);
            }
            known => known.unwrap_or(Atom::Constant(ScalarValue::Bool(true))),
        };
        let mut whole = code.fresh_whole(&operation);
        let most = most_of_small(&mut code, &operation);
        let kernels = parallelism.kernels;
        if let (Some(notes), Some(key)) = (&mut self.notes, pattern.first()) {
            let mut parallelised = parallelised(
                code.program,
                &operation,
                (inside.is_some(), twice),
                parallelism,
            );
            parallelised.idle |= asks;
            parallelised
                .steps
                .extend(stencil.as_ref().map(Stencil::step));
            notes.parallelise(*key, parallelised);
            notes.copy(&pairs(&whole.body, &operation.body));
        }
        let way = Way { inside, twice };
        let then = code.branch(&pattern, |code, own| match kernels {
            true => kernel(code, (operation, stencil.as_ref()), &own, way),
            false => rows_or_chunks(code, operation, &own, way),
        });
        let otherwise = code.branch(&pattern, |code, own| {
            if let Some(notes) = &mut self.notes {
                let both = own.iter().copied().zip(pattern.iter().copied());
                notes.copy(&both.collect::<Vec<_>>());
            }
            // The minimum tells later stages that there are no more indices than this.
            if let (Some(most), Some(n)) = (most, whole.shape.first_mut()) {
                *n = code.at_most(*n, most);
            }
            code.push(own, Expression::Operation(whole));
        });
        out.append(&mut code.out);
        let to_parallelise = std::mem::take(&mut code.to_parallelise);
        let choice = Expression::If {
            condition,
            then: self.parallelise_made(then, &to_parallelise),
            otherwise,
        };
        out.push(Statement {
            pattern,
            expression: choice,
            place,
        });
    }

    /// Parallelises those statements written by this pass that bind the variables in `made`.
    fn parallelise_made(&mut self, mut body: Body, made: &BTreeSet<Variable>) -> Body {
        if made.is_empty() {
            return body;
        }
        let mut statements = Vec::with_capacity(body.statements.len());
        for mut statement in std::mem::take(&mut body.statements) {
            let is_made = |v: &Variable| made.contains(v);
            if statement.pattern.first().is_some_and(is_made) {
                let mut one = Body {
                    statements: vec![statement],
                    results: Vec::new(),
                };
                self.body(&mut one);
                statements.append(&mut one.statements);
            } else {
                if let Expression::If {
                    then, otherwise, ..
                } = &mut statement.expression
                {
                    for branch in [then, otherwise] {
                        *branch = self.parallelise_made(std::mem::take(branch), made);
                    }
                }
                statements.push(statement);
            }
        }
        body.statements = statements;
        body
    }

    /// Returns a copy of an operation, without outputs, whose inner operations are parallelised.
    /// Returns `None` if none of them can be.
    fn inside(&mut self, operation: &ArrayOperation) -> Option<ArrayOperation> {
        if self.depth >= NESTED_PARALLELISM {
            return None;
        }
        let mut parallelisable = false;
        each_statement(&operation.body, &mut |statement| {
            parallelisable = parallelisable || self.is_parallelisable(statement);
        });
        if !parallelisable {
            return None;
        }
        let mut copy = fresh_operation(self.program, operation);
        if self.parallelism.kernels {
            self.definitions.add(&copy.body);
        }
        let both = match &self.notes {
            Some(_) => pairs(&operation.body, &copy.body),
            None => Vec::new(),
        };
        self.depth += 1;
        deep(|| self.body(&mut copy.body));
        self.depth -= 1;
        if let Some(notes) = &mut self.notes {
            notes.copy(&both);
        }
        Some(copy)
    }

    /// Records that the operations inside of an operation stay with its threads.
    fn note_inside(&mut self, operation: &ArrayOperation) {
        if self.notes.is_none() {
            return;
        }
        let mut found = Vec::new();
        each_statement(&operation.body, &mut |statement| {
            if let Some(reason) = self.obstacle(statement) {
                found.push((statement, reason.unwrap_or(Reason::Deep)));
            }
        });
        self.depth += 1;
        for (statement, reason) in found {
            self.note(statement, Fate::Whole(reason));
        }
        self.depth -= 1;
    }
}
