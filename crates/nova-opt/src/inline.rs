//! Inlining: calls of short functions, and of functions called once, are replaced by the bodies.
//!
//! Callees come before callers, so that a callee has its final length when it is judged. The size
//! of every function then stays in proportion to the calls it holds. A budget for the whole program
//! keeps it in proportion to its original size. Functions on a cycle of calls stay, tail calls
//! included.

use crate::limits::{STATEMENTS_OF_A_FUNCTION, STATEMENTS_OF_A_TINY_FUNCTION};
use crate::reachable::drop_unreachable;
use nova_diag::deep;
use nova_flat::ir::{
    Atom, Body, Expression, Function, FunctionId, Program, Statement, Type, Variable, View,
};
use nova_flat::recursion::CallOrder;
use nova_flat::visit::{Substitution, bodies_mut, each_body_mut, each_statement, fresh_copy, size};

/// The limits on the growth of a program by inlining.
#[derive(Clone, Copy)]
struct Limits {
    /// The longest function that is inlined wherever it is called, while the budget lasts.
    short: usize,
    /// The same where array operations and loops call the function, once for each element or
    /// iteration. Code that is the same for all of them can then move out, and the rest can run in
    /// lanes.
    repeated: usize,
    /// The number of statements that copies may add. It is this many, or `growth` times the
    /// program's original number of statements if that is more.
    budget: usize,
    growth: usize,
}

const USUAL: Limits = Limits {
    short: 64,
    repeated: 256,
    budget: 20_000,
    growth: 2,
};

const LONGER: Limits = Limits {
    short: 256,
    repeated: 512,
    budget: 60_000,
    growth: 4,
};

/// Inlines in every function, and drops the functions that are no longer called.
pub fn run(program: &mut Program) {
    inline(program, USUAL);
}

/// Does what [`run`] does, with longer functions and a larger budget.
pub fn run_longer(program: &mut Program) {
    inline(program, LONGER);
}

fn inline(program: &mut Program, limits: Limits) {
    let calls = Calls::new(program);
    let before: usize = program.functions.iter().map(|f| size(&f.body)).sum();
    let mut inliner = Inliner {
        sizes: vec![0; program.functions.len()],
        calls,
        program,
        size: 0,
        limits,
        repeats: false,
        budget: limits.budget.max(limits.growth * before),
    };
    for k in inliner.calls.graph.order.clone() {
        inliner.function(k);
    }
    drop_unreachable(program);
}

/// The graph of calls.
struct Calls {
    graph: CallOrder,
    /// The number of calls of each function.
    counts: Vec<usize>,
}

impl Calls {
    fn new(program: &Program) -> Calls {
        let mut callees = vec![Vec::new(); program.functions.len()];
        let mut counts = vec![0; program.functions.len()];
        for (k, function) in program.functions.iter().enumerate() {
            each_statement(&function.body, &mut |statement| {
                if let Expression::Call { function, .. } = &statement.expression {
                    callees[k].push(function.index());
                    counts[function.index()] += 1;
                }
            });
        }
        // An entry may be called from outside too.
        for entry in &program.entries {
            counts[entry.function.index()] += 1;
        }
        let graph = CallOrder::new(&callees);
        Calls { graph, counts }
    }
}

struct Inliner<'a> {
    program: &'a mut Program,
    calls: Calls,
    /// The sizes of the functions that have been processed.
    sizes: Vec<usize>,
    /// The size of the function that is being processed.
    size: usize,
    limits: Limits,
    /// True if an operation or a loop encloses the statement.
    repeats: bool,
    /// The number of statements that copies may still add.
    budget: usize,
}

impl Inliner<'_> {
    fn function(&mut self, k: usize) {
        let mut body = std::mem::take(&mut self.program.functions[k].body);
        self.size = size(&body);
        self.body(&mut body);
        self.sizes[k] = self.size;
        self.program.functions[k].body = body;
    }

    fn body(&mut self, body: &mut Body) {
        for mut statement in std::mem::take(&mut body.statements) {
            let outside = self.repeats;
            self.repeats |= statement.expression.repeats();
            bodies_mut(&mut statement.expression, &mut |inner| {
                deep(|| self.body(inner));
            });
            self.repeats = outside;
            match self.callee(&statement) {
                Some(callee) => self.inline(callee, statement, &mut body.statements),
                None => body.statements.push(statement),
            }
        }
    }

    /// Returns the function that a statement calls, if its body should replace the call.
    fn callee(&self, statement: &Statement) -> Option<FunctionId> {
        let Expression::Call { function, .. } = &statement.expression else {
            return None;
        };
        let k = function.index();
        if self.calls.graph.cyclic[k] {
            return None;
        }
        let length = self.sizes[k];
        let once = self.calls.counts[k] == 1 && self.size + length <= STATEMENTS_OF_A_FUNCTION;
        let most = match self.repeats {
            true => self.limits.repeated,
            false => self.limits.short,
        };
        let short = length <= most && length <= self.budget;
        (once || short || length <= STATEMENTS_OF_A_TINY_FUNCTION).then_some(*function)
    }

    fn inline(&mut self, callee: FunctionId, statement: Statement, out: &mut Vec<Statement>) {
        let Expression::Call { arguments, .. } = statement.expression else {
            return;
        };
        let Function {
            parameters, body, ..
        } = self.program.function(callee);
        let (parameters, body) = (parameters.clone(), body.clone());
        let mut substitution = Substitution::default();
        for (parameter, argument) in parameters.iter().zip(arguments) {
            substitution.insert(*parameter, argument);
        }
        let mut copy = fresh_copy(self.program, &body, &mut substitution);
        // A tail call of the callee is none of the caller.
        each_body_mut(&mut copy, &mut |inner| {
            for statement in &mut inner.statements {
                if let Expression::Call { tail, .. } = &mut statement.expression {
                    *tail = false;
                }
            }
        });
        let length = self.sizes[callee.index()];
        self.size += length;
        if self.calls.counts[callee.index()] > 1 {
            self.budget = self.budget.saturating_sub(length);
        }
        out.append(&mut copy.statements);
        for (variable, result) in statement.pattern.iter().zip(&copy.results) {
            out.push(Statement {
                pattern: vec![*variable],
                expression: self.renamed(*variable, *result),
                place: statement.place.clone(),
            });
        }
    }

    /// Returns an expression that gives a result the type of the pattern of the call. Its extents
    /// may be written differently.
    fn renamed(&self, variable: Variable, result: Atom) -> Expression {
        match (self.program.ty(variable), result) {
            (Type::Array(_, shape), Atom::Variable(array)) => Expression::View {
                array,
                view: View::Reshape(shape.clone()),
            },
            (Type::Array(..) | Type::Scalar(_) | Type::Block(_), _) => Expression::Atom(result),
        }
    }
}
