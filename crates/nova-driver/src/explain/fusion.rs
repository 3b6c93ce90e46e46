//! The part of the report on what fusion and the proofs of bounds left: pairs of operations of which
//! one reads what the other makes, and checks of indices in loops, each with the reason.

use super::Report;
use nova_core::{ErrorKind, ScalarOperation};
use nova_diag::deep;
use nova_flat::ir::{Atom, Body, Expression, Function, Program, Statement, Variable};
use nova_flat::visit::{binders, bodies, each_statement};
use std::collections::HashMap;

impl Report<'_> {
    /// Adds the lines of a function, in its form before it had memory.
    pub(super) fn fusion(&mut self, program: &Program, function: &Function) {
        for pair in nova_opt::fuse::apart(program, &function.body, self.strict) {
            let array = &program.variable(pair.array).name;
            let (first, second) = (&pair.producer, &pair.consumer);
            let text = format!(
                "{second}: not fused with {first}, which makes {array}, because {}",
                pair.reason
            );
            self.line(1, &text);
        }
        let mut checks = Checks {
            program,
            sources: sources(&function.body),
            lines: Vec::new(),
        };
        checks.body(&function.body, Enclosing::default());
        for line in checks.lines {
            self.line(1, &line);
        }
    }
}

/// The source of a variable.
enum Source<'a> {
    Statement(&'a Statement),
    /// An index, a carry or a parameter of a statement that runs a body.
    Binder,
}

/// Returns the sources of all variables of a function except its parameters.
fn sources(body: &Body) -> HashMap<Variable, Source<'_>> {
    let mut sources = HashMap::new();
    each_statement(body, &mut |statement| {
        for variable in &statement.pattern {
            sources.insert(*variable, Source::Statement(statement));
        }
        binders(&statement.expression, &mut |variable| {
            sources.insert(*variable, Source::Binder);
        });
    });
    sources
}

/// Returns the variable that an expression converts to another type of scalar.
fn converted(expression: &Expression) -> Option<Variable> {
    if let Expression::Scalar {
        operation: ScalarOperation::Convert(_) | ScalarOperation::Wrap(_),
        arguments,
        ..
    } = expression
        && let [Atom::Variable(source)] = arguments[..]
    {
        Some(source)
    } else {
        None
    }
}

/// The context that encloses a statement.
#[derive(Clone, Copy, Default)]
struct Enclosing {
    in_loop: bool,
    /// True if there is a conditional between the statement and the innermost loop.
    in_branch: bool,
}

struct Checks<'a> {
    program: &'a Program,
    sources: HashMap<Variable, Source<'a>>,
    lines: Vec<String>,
}

impl Checks<'_> {
    fn body(&mut self, body: &Body, enclosing: Enclosing) {
        for statement in &body.statements {
            if let Expression::Check {
                error: ErrorKind::Index,
                arguments,
                ..
            } = &statement.expression
                && enclosing.in_loop
            {
                let why = self.why(arguments.first().copied(), enclosing);
                let line = format!(
                    "{}: index checked in each iteration: not proved because {why}",
                    statement.place
                );
                if !self.lines.contains(&line) {
                    self.lines.push(line);
                }
            }
            let inside = match &statement.expression {
                Expression::If { .. } | Expression::Switch { .. } => Enclosing {
                    in_branch: true,
                    ..enclosing
                },
                Expression::Operation(_) | Expression::While { .. } | Expression::Sort { .. } => {
                    Enclosing {
                        in_loop: true,
                        in_branch: false,
                    }
                }
                _ => enclosing,
            };
            bodies(&statement.expression, &mut |inner| {
                deep(|| self.body(inner, inside));
            });
        }
    }

    /// Explains why nothing is known of an index.
    fn why(&self, index: Option<Atom>, enclosing: Enclosing) -> String {
        let Some(Atom::Variable(mut variable)) = index else {
            return "it is a number, and the length is not known".into();
        };
        // Conversions are followed to their source.
        while let Some(Source::Statement(statement)) = self.sources.get(&variable)
            && let Some(source) = converted(&statement.expression)
        {
            variable = source;
        }
        let name = &self.program.variable(variable).name;
        match self.sources.get(&variable) {
            None => format!("{name} comes from outside"),
            Some(Source::Binder) if enclosing.in_branch => {
                "only some iterations reach it, with any index of the loop".into()
            }
            Some(Source::Binder) => format!("{name} is passed from iteration to iteration"),
            Some(Source::Statement(statement)) => match &statement.expression {
                Expression::Index { array, .. } => {
                    let array = &self.program.variable(*array).name;
                    format!("the index is an element of {array}")
                }
                Expression::Scalar { .. } if enclosing.in_branch => {
                    format!("only some iterations reach it, and {name} is known too little")
                }
                Expression::Scalar { .. } => {
                    format!("{name} is no sum of known numbers, or may wrap")
                }
                Expression::If { .. } | Expression::Switch { .. } => {
                    format!("{name} depends on a condition")
                }
                Expression::Operation(_) | Expression::While { .. } => {
                    format!("{name} is what a loop gives")
                }
                Expression::Call { .. } | Expression::Foreign { .. } => {
                    format!("{name} is what a call gives")
                }
                _ => format!("nothing is known of {name}"),
            },
        }
    }
}
