//! A body whose allocations are hoisted or removed.

use crate::MARK;
use crate::mistakes::{Mistake, Mistakes};
use crate::uses::{Span, Uses};
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_flat::ir::{Atom, Expression, Program, Statement, Type, Variable};
use nova_flat::visit;
use std::collections::HashMap;

/// The largest depth of a size computation that is repeated.
const DEEPEST_SIZE: u32 = 8;

/// The statements of a body under change. Indices refer to the unchanged body.
pub struct Body {
    statements: Vec<Option<Statement>>,
    /// By index of a statement, the statements that were moved in front of it.
    moved: HashMap<usize, Vec<Statement>>,
    /// The position of the binder of each variable of the body.
    homes: HashMap<Variable, Home>,
}

#[derive(Clone, Copy)]
enum Home {
    Statement(usize),
    Before(usize),
}

impl Body {
    /// Creates an unchanged body.
    pub fn new(statements: Vec<Statement>) -> Self {
        let mut homes = HashMap::new();
        for (index, statement) in statements.iter().enumerate() {
            for variable in &statement.pattern {
                homes.insert(*variable, Home::Statement(index));
            }
        }
        Body {
            statements: statements.into_iter().map(Some).collect(),
            moved: HashMap::new(),
            homes,
        }
    }

    /// Returns the number of statements of the unchanged body.
    pub fn len(&self) -> usize {
        self.statements.len()
    }

    /// Returns the statement at an index, unless it was moved.
    pub fn statement(&self, index: usize) -> Option<&Statement> {
        self.statements.get(index)?.as_ref()
    }

    /// True if the body allocates a block that is not meant for the caller.
    pub fn owns(&self, block: Variable) -> bool {
        let definition = self.definition(block).map(|s| &s.expression);
        definition.is_some_and(|e| e.is_allocation() && !e.is_destination())
    }

    /// True if the body allocates a block for the caller.
    pub fn hands_out(&self, block: Variable) -> bool {
        self.definition(block)
            .is_some_and(|s| s.expression.is_destination())
    }

    /// Returns the statement that binds a variable.
    pub fn definition(&self, variable: Variable) -> Option<&Statement> {
        match *self.homes.get(&variable)? {
            Home::Statement(index) => self.statements.get(index)?.as_ref(),
            Home::Before(index) => {
                let mut moved = self.moved.get(&index)?.iter();
                moved.find(|s| s.pattern.contains(&variable))
            }
        }
    }

    /// Removes the statement that binds a variable.
    pub fn remove(&mut self, variable: Variable) -> Option<Statement> {
        match self.homes.remove(&variable)? {
            Home::Statement(index) => self.statements.get_mut(index)?.take(),
            Home::Before(index) => {
                let moved = self.moved.get_mut(&index)?;
                let position = moved.iter().position(|s| s.pattern.contains(&variable))?;
                Some(moved.remove(position))
            }
        }
    }

    /// Returns the changed statements.
    pub fn finish(mut self) -> Vec<Statement> {
        let mut statements = Vec::with_capacity(self.statements.len());
        for (index, statement) in self.statements.into_iter().enumerate() {
            statements.extend(self.moved.remove(&index).unwrap_or_default());
            statements.extend(statement);
        }
        statements
    }

    /// Moves the allocation of a block in front of the statement of this body that runs at `time`,
    /// together with the computation of its size. Returns `None` and changes nothing if the size is not
    /// known there. The same holds if the size may be negative there, since a check in between may
    /// refuse it.
    pub fn hoist(
        &mut self,
        block: Variable,
        time: u32,
        scope: usize,
        program: &mut Program,
        uses: &mut Uses,
        mistakes: Mistakes,
    ) -> Option<()> {
        let (index, start) = uses.statement_at(scope, time)?;
        let mut plan = Plan {
            body: self,
            program,
            uses,
            start,
            moving: Vec::new(),
            repeated: Vec::new(),
        };
        plan.statement(block, 0)?;
        let Plan {
            mut moving,
            mut repeated,
            ..
        } = plan;
        if mistakes.make(Mistake::SizeLeftBehind) {
            moving = vec![block];
            repeated.clear();
        }
        let now = Span {
            scope,
            enter: start - 1,
            exit: start - 1,
        };
        let mut group = Vec::new();
        let mut copies = visit::Substitution::default();
        for (variable, of) in repeated {
            let mut statement = self.definition(of)?.clone();
            copies.operands(&mut statement.expression);
            copies.insert(of, Atom::Variable(variable));
            statement.pattern = vec![variable];
            group.push(statement);
        }
        for variable in moving {
            let mut statement = self.remove(variable)?;
            copies.operands(&mut statement.expression);
            group.push(statement);
        }
        for statement in &group {
            for variable in &statement.pattern {
                uses.set_span(*variable, now);
                self.homes.insert(*variable, Home::Before(index));
            }
        }
        self.moved.entry(index).or_default().extend(group);
        Some(())
    }
}

/// The statements that must be moved with an allocation.
struct Plan<'a> {
    body: &'a Body,
    program: &'a mut Program,
    uses: &'a Uses,
    /// The time at which the target statement begins.
    start: u32,
    /// Statements that belong to memory, in order.
    moving: Vec<Variable>,
    /// New variables, and the variables of the program whose computation they repeat, in order.
    repeated: Vec<(Variable, Variable)>,
}

impl Plan<'_> {
    /// Plans to move the statement that binds a variable of memory.
    fn statement(&mut self, variable: Variable, depth: u32) -> Option<()> {
        if depth > DEEPEST_SIZE {
            return None;
        }
        let body = self.body;
        let statement = body.definition(variable)?;
        let mut bound = Vec::new();
        let mut operands = Vec::new();
        visit::used_variables(&statement.expression, &mut |v| operands.push(v));
        visit::bodies(&statement.expression, &mut |inner| {
            operands.extend(visit::free_variables(self.program, inner));
        });
        for operand in operands {
            if !bound.contains(&operand) {
                self.operand(operand, depth + 1)?;
                bound.push(operand);
            }
        }
        self.moving.push(variable);
        Some(())
    }

    fn operand(&mut self, variable: Variable, depth: u32) -> Option<()> {
        let known = self.moving.contains(&variable)
            || self.repeated.iter().any(|(_, of)| *of == variable)
            || self.is_available(variable) && self.is_size(variable);
        if known {
            return Some(());
        }
        let definition = self.body.definition(variable)?;
        if self.program.variable(variable).name.starts_with(MARK) {
            return match self.is_available(variable) {
                true => Some(()),
                false => self.statement(variable, depth),
            };
        }
        // A sum or product of sizes is computed again.
        let Expression::Scalar {
            operation: ScalarOperation::Add | ScalarOperation::Multiply,
            operand: Scalar::I64,
            arguments,
        } = &definition.expression
        else {
            return None;
        };
        for argument in arguments.clone() {
            match argument {
                Atom::Constant(ScalarValue::I64(0..)) => {}
                Atom::Constant(_) => return None,
                Atom::Variable(argument) if depth < DEEPEST_SIZE => {
                    self.operand(argument, depth + 1)?;
                }
                Atom::Variable(_) => return None,
            }
        }
        let fresh = self
            .program
            .add_variable(format!("{MARK}size"), Type::Scalar(Scalar::I64));
        self.repeated.push((fresh, variable));
        Some(())
    }

    fn is_available(&self, variable: Variable) -> bool {
        let span = self.uses.span(variable);
        span.is_some_and(|span| span.exit < self.start)
    }

    /// True if a variable is surely not negative. It is a maximum, or the extent of an array that
    /// exists or is about to be made.
    fn is_size(&self, variable: Variable) -> bool {
        self.uses.extent_since(variable) <= self.start || self.is_maximum(variable)
    }

    fn is_maximum(&self, variable: Variable) -> bool {
        let definition = self.body.definition(variable).map(|s| &s.expression);
        match definition {
            Some(Expression::Scalar {
                operation: ScalarOperation::Maximum,
                arguments,
                ..
            }) => arguments
                .iter()
                .any(|a| matches!(a, Atom::Constant(ScalarValue::I64(0..)))),
            Some(_) | None => false,
        }
    }
}
