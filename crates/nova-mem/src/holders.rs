//! The rules of `Unique`, which the verifier checks in a walk of their own.
//!
//! `Unique` makes its result the only holder of a block, which may then be overwritten. So the block of
//! its operand must satisfy three rules:
//! - It is reference-counted, not borrowed. Blocks of parameters, of the payloads of nodes and of
//!   constants are borrowed. A function that calls itself in tail position, or that takes references,
//!   holds the blocks of its parameters itself.
//! - It is bound in the same iteration of the innermost enclosing loop, since each iteration needs
//!   another block.
//! - No array that lies in it is used afterwards.

use nova_core::error::InternalError;
use nova_diag::deep;
use nova_flat::ir::{Atom, Body, Expression, Function, Program, Statement, Type, Variable};
use nova_flat::print::print_variable;
use nova_flat::visit;

type Result = std::result::Result<(), InternalError>;

/// Checks all functions.
pub fn verify(program: &Program) -> Result {
    let mut uses_it = false;
    for function in &program.functions {
        visit::each_statement(&function.body, &mut |s| {
            uses_it |= matches!(s.expression, Expression::Unique(_));
        });
    }
    if !uses_it {
        return Ok(());
    }
    let mut holders = Holders {
        program,
        blocks: vec![None; program.variables.len()],
        taken: vec![false; program.variables.len()],
        log: Vec::new(),
        iteration: 0,
        iterations: 0,
        function: None,
    };
    program
        .functions
        .iter()
        .enumerate()
        .try_for_each(|(index, function)| holders.function(index, function))
}

/// Facts about a block.
#[derive(Clone, Copy)]
struct Block {
    /// The loop in whose iterations it is bound.
    iteration: u32,
    counted: bool,
}

struct Holders<'a> {
    program: &'a Program,
    blocks: Vec<Option<Block>>,
    /// By block, true if a `Unique` has taken it.
    taken: Vec<bool>,
    /// The blocks taken, in order.
    log: Vec<Variable>,
    /// The innermost loop, and the number of loops seen so far.
    iteration: u32,
    iterations: u32,
    function: Option<&'a Function>,
}

impl<'a> Holders<'a> {
    fn fail(&self, variable: Variable, what: &str, statement: &Statement) -> Result {
        Err(InternalError {
            message: format!("{} {what}", print_variable(self.program, variable)),
            function: self.function.map(|f| f.name.clone()),
            place: Some(statement.place.clone()),
        })
    }

    fn function(&mut self, index: usize, function: &'a Function) -> Result {
        let mut calls_itself = false;
        visit::each_statement(&function.body, &mut |statement| {
            calls_itself |= matches!(statement.expression,
                Expression::Call { function, tail: true, .. } if function.index() == index);
        });
        self.function = Some(function);
        function
            .parameters
            .iter()
            .for_each(|p| self.bind(*p, calls_itself || function.takes));
        let end = Statement {
            pattern: Vec::new(),
            expression: Expression::Atom(Atom::index(0)),
            place: function.place.clone(),
        };
        self.body(&function.body, &end)
    }

    fn bind(&mut self, variable: Variable, counted: bool) {
        let info = self.program.variable(variable);
        let block = match (&info.ty, &info.memory) {
            (Type::Block(_), _) => variable,
            (Type::Array(..), Some(memory)) => memory.block,
            (Type::Array(..), None) | (Type::Scalar(_), _) => return,
        };
        if let Some(known @ None) = self.blocks.get_mut(block.index()) {
            *known = Some(Block {
                iteration: self.iteration,
                counted,
            });
        }
    }

    /// Checks that an array that is used still has its memory.
    fn use_array(&self, array: Variable, statement: &Statement) -> Result {
        let memory = &self.program.variable(array).memory;
        match memory {
            Some(memory) if self.taken[memory.block.index()] => {
                self.fail(array, "is used though its memory was taken", statement)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Checks a body. `owner` is the statement that it belongs to.
    fn body(&mut self, body: &'a Body, owner: &Statement) -> Result {
        for statement in &body.statements {
            deep(|| self.statement(statement))?;
        }
        body.results.iter().try_for_each(|result| match result {
            Atom::Variable(variable) => self.use_array(*variable, owner),
            Atom::Constant(_) => Ok(()),
        })
    }

    fn statement(&mut self, statement: &'a Statement) -> Result {
        let expression = &statement.expression;
        let mut used = Vec::new();
        visit::used_variables(expression, &mut |v| used.push(v));
        for variable in used {
            self.use_array(variable, statement)?;
        }
        if let Expression::Unique(array) = expression {
            self.take(*array, statement)?;
        }
        match expression {
            Expression::If { .. } | Expression::Switch { .. } => self.cases(statement)?,
            _loop_or_none => self.iterations(statement)?,
        }
        let borrowed = matches!(
            expression,
            Expression::NodePayload { .. } | Expression::Bytes(_) | Expression::Fail { .. }
        );
        for variable in &statement.pattern {
            self.bind(*variable, !borrowed);
            self.use_array(*variable, statement)?;
        }
        Ok(())
    }

    fn take(&mut self, array: Variable, statement: &Statement) -> Result {
        let Some(memory) = &self.program.variable(array).memory else {
            return Ok(());
        };
        match self.blocks[memory.block.index()] {
            Some(block) if !block.counted => {
                return self.fail(array, "lies in a block that is borrowed", statement);
            }
            Some(block) if block.iteration == self.iteration => {}
            Some(_) | None => {
                return self.fail(array, "would be taken in every iteration", statement);
            }
        }
        self.taken[memory.block.index()] = true;
        self.log.push(memory.block);
        Ok(())
    }

    /// Checks the bodies of a conditional. Only one of them runs, so a block that one takes remains in
    /// the others.
    fn cases(&mut self, statement: &'a Statement) -> Result {
        let mut result = Ok(());
        let mut taken = Vec::new();
        visit::bodies(&statement.expression, &mut |body| {
            if result.is_ok() {
                let before = self.log.len();
                result = self.body(body, statement);
                for block in self.log.drain(before..) {
                    self.taken[block.index()] = false;
                    taken.push(block);
                }
            }
        });
        for block in &taken {
            self.taken[block.index()] = true;
        }
        self.log.extend(taken);
        result
    }

    /// Checks the bodies of a loop. What it binds is bound in the iterations of its main body, and before
    /// the condition, which may view states but not take them: the body needs them.
    fn iterations(&mut self, statement: &'a Statement) -> Result {
        let mut result = Ok(());
        let outside = self.iteration;
        self.iterations += 1;
        let own = self.iterations;
        self.iteration = own;
        visit::binders(&statement.expression, &mut |v| self.bind(*v, true));
        let mut main = match &statement.expression {
            Expression::While { body, .. } => Some(body),
            Expression::Operation(operation) => Some(&operation.body),
            _lambda_or_none => None,
        };
        visit::bodies(&statement.expression, &mut |body| {
            self.iteration = match main {
                Some(main) if !std::ptr::eq(body, main) => {
                    self.iterations += 1;
                    self.iterations
                }
                Some(_) | None => own,
            };
            main.get_or_insert(body);
            if result.is_ok() {
                result = self.body(body, statement);
            }
        });
        self.iteration = outside;
        result
    }
}
