//! Divides operations among threads: an operation over `n` indices becomes a grid of parts, each of
//! which runs the same body over the indices of its own, as `join (map_global (map_seq f) (split m
//! x))` of dpia.txt §3. Arrays are joined of the parts; what the parts reduce to is reduced once
//! more.
//!
//! How large a part is depends on the number of indices and on what the body costs, never on the
//! number of threads, so that results do not either. What costs less than two parts stays as it is,
//! which is decided when the program runs. Divided are operations whose outputs are maps, filters,
//! rows, collected or joined ([`joined`]), and reductions, scans and histograms of scalars; [`ordered`] has those whose
//! order is strict, [`carried`] state that is a running result, [`sort`] the sorts, [`lanes`] the
//! reductions of devices that no order changes, [`tiles`] their scans and filters, [`privatised_histogram`] their
//! histograms of few bins, [`blocks`] maps of devices whose threads all reduce over the same, [`stencil`]
//! maps whose threads read neighbours in arrays. Scatters stay with one thread: parts would have to
//! agree on which of several elements is the last.
//!
//! Operations inside of a divided one are left to the thread that has the part, in which they may be
//! fused with what is around them. Only where there are few indices, or one of them has a row so long
//! that the others would wait for it, the body is another one, whose operations are divided in turn
//! (nova.txt §5.1 makes one segmented operation of such nests; here the sizes decide between balanced
//! rows and shared ones).
//!
//! What the program says itself of an operation is honoured as it is ([`strategies`]), and operations
//! around one that it gives to threads are left to one thread.
//!
//! What threads cannot share stays whole: effects that can be seen from outside, and node tables
//! ([`shared`]). That nothing else is shared is made sure of in Loop (`nova_loop::parallel_regions`). What became
//! of each operation, and why, is recorded for those who ask ([`Notes`]). Operations
//! of which a later stage cannot prove that threads may share them stay whole, too ([`Alone`]).

mod alone;
mod blocks;
mod carried;
mod chunked_scans;
mod chunking;
mod code;
mod collect;
mod control;
mod cost;
mod device;
mod grid;
mod group;
mod histogram;
mod joined;
mod keys;
mod lanes;
mod levels;
mod merge;
mod nest;
mod notes;
mod ordered;
mod privatised_histogram;
mod radix;
mod radix_pass;
mod rows;
mod scattered;
mod segmented_reduction;
mod shared;
mod sort;
mod stencil;
mod stored;
mod strategies;
mod tiles;

pub use alone::Alone;
pub use histogram::ELEMENTS;
pub use lanes::LANES;
pub use notes::{Chunking, Fate, Note, Notes, Parallelised, Reason, Step};
pub use ordered::Freedom;
pub use privatised_histogram::LOCAL_ELEMENTS;
pub use strategies::honour;

use crate::effects::FunctionEffects;
use crate::flatten_regular::irregular;
use carried::carries_run;
use chunked_scans::{MOST_EXPENSIVE, is_scan};
use code::{Code, fresh_operation};
use cost::Cost;
use grid::Way;
use joined::joins_equal_rows;
use notes::pairs;
use nova_core::ScalarValue;
use nova_diag::{Place, deep};
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Level, Output, Program, Statement, Variable,
};
use nova_flat::visit::{bodies_mut, each_statement};
use ordered::{freedom, is_exact, is_free, is_orderly};
use scattered::{is_orderless, scatters};
use shared::NodeMakers;
use sort::key_of_sort;
use std::collections::BTreeSet;
use stencil::{Definitions, Stencil};
use stored::stores_blocks;
use strategies::Asked;

/// How operations are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parallelism {
    /// True if reductions keep the order of docs/order.md.
    pub strict: bool,
    /// The least that a part should cost, in scalar operations.
    pub grain: i64,
    /// The number of parts at most.
    pub parts: i64,
    /// True if an index or a part is a thread of a kernel: there are as many threads as there is work,
    /// and no others inside of one.
    pub kernels: bool,
    /// True if work-groups of kernels may hand numbers on, each in its turn.
    pub turns: bool,
}

impl Parallelism {
    /// Parts that are worth the time of handing them out, and enough of them for many threads.
    pub const DEFAULT: Parallelism = Parallelism {
        strict: false,
        grain: 1 << 15,
        parts: 256,
        kernels: false,
        turns: false,
    };
    /// Threads of a kernel, which are worth their start where there are thousands.
    pub const KERNELS: Parallelism = Parallelism {
        strict: false,
        grain: 1 << 6,
        parts: 1 << 14,
        kernels: true,
        turns: false,
    };
    /// So small parts that short arrays are divided too, for tests.
    pub const SMALL: Parallelism = Parallelism {
        strict: true,
        grain: 2,
        parts: 4,
        kernels: false,
        turns: false,
    };
}

/// In how many divided operations others are divided at most: each level has the code inside of it once more.
pub const DEEPEST: usize = 3;

/// Divides the operations of a program that are worth it.
pub fn run(program: &mut Program, parallelism: Parallelism) {
    run_but(program, parallelism, &Alone::default());
}

/// The same, but for those that are left to one thread.
pub fn run_but(program: &mut Program, parallelism: Parallelism, alone: &Alone) {
    divide(program, parallelism, alone, None);
}

/// Divides the operations of a program as [`run_but`] does, and says what became of each.
pub fn notes(program: &mut Program, parallelism: Parallelism, alone: &Alone) -> Option<Notes> {
    divide(program, parallelism, alone, Some(Notes::new(parallelism)))
}

fn divide(
    program: &mut Program,
    parallelism: Parallelism,
    alone: &Alone,
    notes: Option<Notes>,
) -> Option<Notes> {
    let mut paralleliser = Paralleliser {
        effects: FunctionEffects::new(program),
        node_makers: NodeMakers::new(program, parallelism.kernels),
        asked: Asked::new(program),
        parallelism,
        definitions: Definitions::default(),
        alone,
        program,
        depth: 0,
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

struct Paralleliser<'a> {
    program: &'a mut Program,
    effects: FunctionEffects,
    node_makers: NodeMakers,
    /// The functions and grids that the program gives to threads itself.
    asked: Asked,
    parallelism: Parallelism,
    /// How variables are computed, for devices.
    definitions: Definitions,
    /// What one thread runs whatever it costs.
    alone: &'a Alone,
    /// How many divided operations are around.
    depth: usize,
    /// What became of operations, where somebody asks.
    notes: Option<Notes>,
}

impl Paralleliser<'_> {
    fn body(&mut self, body: &mut Body) {
        let mut statements = Vec::with_capacity(body.statements.len());
        for mut statement in std::mem::take(&mut body.statements) {
            self.fill_by_threads(&mut statement);
            match self.obstacle(&statement) {
                Some(None) => {
                    self.divide(statement, &mut statements);
                    continue;
                }
                Some(Some(reason)) => self.note(&statement, Fate::Whole(reason)),
                None => {}
            }
            bodies_mut(&mut statement.expression, &mut |inner| {
                deep(|| self.body(inner));
            });
            statements.push(statement);
        }
        body.statements = statements;
    }

    /// Records what became of an operation or a sort.
    fn note(&mut self, statement: &Statement, fate: Fate) {
        if let (Some(notes), Some(key)) = (&mut self.notes, notes::key(statement)) {
            let note = Note {
                fate,
                nested: self.depth > 0,
                irregular: irregular(&statement.expression),
            };
            notes.insert(key, note);
        }
    }

    /// Why an operation or a sort may not be divided among threads, if it may not.
    fn obstacle(&self, statement: &Statement) -> Option<Option<Reason>> {
        if self.alone.has(statement) {
            return Some(Some(Reason::Unproved));
        }
        match &statement.expression {
            Expression::Operation(operation) => Some(self.obstacle_of(operation)),
            Expression::Sort { compare, .. } => Some(self.obstacle_in(&compare.body)),
            _nothing_to_divide => None,
        }
    }

    /// True if an operation or a sort may be divided among threads.
    fn is_divisible(&self, statement: &Statement) -> bool {
        self.obstacle(statement) == Some(None)
    }

    /// What is in the body of an operator or a comparison that threads cannot share, or share already.
    fn obstacle_in(&self, body: &Body) -> Option<Reason> {
        let grids = self.asked.is_in(body).then_some(Reason::Inside);
        grids.or_else(|| self.shared_in(body))
    }

    /// What is in a body that threads cannot share.
    fn shared_in(&self, body: &Body) -> Option<Reason> {
        let effects = self.effects.of_body(body);
        if effects.observable {
            return Some(Reason::Observable);
        }
        if self.parallelism.kernels && effects.hosted {
            return Some(Reason::Foreign);
        }
        self.node_makers.may_run_in(body).then_some(Reason::Nodes)
    }

    /// Why the indices of an operation may not be divided among threads, if they may not.
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
            Some(Reason::Dear)
        } else {
            None
        }
    }

    /// True if threads may share an operation that maps and stores. Those of a processor do where no order
    /// of what is stored is to be kept.
    fn may_store(&self, operation: &ArrayOperation) -> bool {
        let stores = stores_blocks(operation) || scatters(operation);
        stores && (self.parallelism.kernels || is_orderless(operation))
    }

    /// True if the carries of an operation are running results that may be found in parts.
    fn carries_run(&self, operation: &ArrayOperation) -> bool {
        carries_run(operation, &self.effects)
            && is_free(operation, self.parallelism.strict)
            && self.is_cheap(operation)
    }

    /// True if an operation costs so little that its body may be computed twice.
    fn is_cheap(&self, operation: &ArrayOperation) -> bool {
        let cost = Cost::of(self.program, operation).0.constant();
        cost.is_some_and(|cost| cost <= MOST_EXPENSIVE)
    }

    /// True if an operation is known to cost less than two parts.
    fn is_small(&self, operation: &ArrayOperation) -> bool {
        let product = operation
            .shape
            .iter()
            .try_fold(1i64, |n, extent| match extent {
                Atom::Constant(ScalarValue::I64(m)) => Some(n.saturating_mul(*m)),
                Atom::Constant(_) | Atom::Variable(_) => None,
            });
        match (product, Cost::of(self.program, operation).0.constant()) {
            (Some(n), Some(cost)) => n.saturating_mul(cost) < 2 * self.parallelism.grain,
            (Some(n), None) => n == 0,
            (None, _) => false,
        }
    }

    /// Writes an operation or a sort in parts.
    fn divide(&mut self, statement: Statement, out: &mut Vec<Statement>) {
        // So it is where that turns out below.
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
                    _ if !kernels => self.store_in_parts(pattern, operation, place, out),
                    true => self.divide_blocks(pattern, operation, place, out),
                    false => self.divide_scatter(pattern, operation, place, out),
                }
            }
            Expression::Operation(operation) => {
                self.divide_operation(pattern, operation, place, out);
            }
            Expression::Sort { count, compare } => {
                let effects = self.effects.of_body(&compare.body);
                let key = key_of_sort(&compare, effects, self.parallelism);
                let mut code = Code::new(self.program, place, self.parallelism);
                for order in pattern {
                    let sort = (count, &compare);
                    let how = (effects, key.as_ref());
                    let whole = code.divide_sort(order, sort, how, self.parallelism);
                    if let (Some(notes), Some(whole)) = (&mut self.notes, whole) {
                        notes.divide(order, Parallelised::sort(key.as_ref(), self.parallelism));
                        notes.copy(&[(whole, order)]);
                    }
                }
                let made = std::mem::take(&mut code.undivided);
                let body = Body {
                    statements: std::mem::take(&mut code.out),
                    results: Vec::new(),
                };
                out.append(&mut self.divide_made(body, &made).statements);
            }
            expression => out.push(Statement {
                pattern,
                expression,
                place,
            }),
        }
    }

    /// Writes an operation as a choice by its size: itself, or a grid of parts.
    fn divide_operation(
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
        let mut code = Code::new(self.program, place.clone(), parallelism);
        let condition = match code.is_worth(&operation, inside.is_some(), parallelism) {
            Err(false) => {
                code.push(pattern, Expression::Operation(operation));
                return out.append(&mut code.out);
            }
            known => known.unwrap_or(Atom::Constant(ScalarValue::Bool(true))),
        };
        let mut whole = code.fresh_whole(&operation);
        let most = code.most_of_small(&operation, parallelism);
        let kernels = parallelism.kernels;
        if let (Some(notes), Some(key)) = (&mut self.notes, pattern.first()) {
            let mut divided = code.divided(&operation, (inside.is_some(), twice), parallelism);
            divided.steps.extend(stencil.as_ref().map(Stencil::step));
            notes.divide(*key, divided);
            notes.copy(&pairs(&whole.body, &operation.body));
        }
        let way = Way {
            inside,
            twice,
            parallelism,
            stencil,
        };
        let then = code.branch(&pattern, |code, own| match kernels {
            true => code.kernel(operation, &own, way),
            false => code.grid(operation, &own, way),
        });
        let otherwise = code.branch(&pattern, |code, own| {
            if let Some(notes) = &mut self.notes {
                let both = own.iter().copied().zip(pattern.iter().copied());
                notes.copy(&both.collect::<Vec<_>>());
            }
            // There are no more, which tells how few they are.
            if let (Some(most), Some(n)) = (most, whole.shape.first_mut()) {
                *n = code.at_most(*n, most);
            }
            code.push(own, Expression::Operation(whole));
        });
        out.append(&mut code.out);
        let undivided = std::mem::take(&mut code.undivided);
        let choice = Expression::If {
            condition,
            then: self.divide_made(then, &undivided),
            otherwise,
        };
        out.push(Statement {
            pattern,
            expression: choice,
            place,
        });
    }

    /// Divides, of the statements that dividing an operation has written, those that give these.
    fn divide_made(&mut self, mut body: Body, made: &BTreeSet<Variable>) -> Body {
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
                        *branch = self.divide_made(std::mem::take(branch), made);
                    }
                }
                statements.push(statement);
            }
        }
        body.statements = statements;
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
            divisible = divisible || self.is_divisible(statement);
        });
        if !divisible {
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

    /// Records of the operations inside of one that they stay with its threads.
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
