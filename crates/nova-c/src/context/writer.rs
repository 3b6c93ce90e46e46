//! The writer of statements of C.

use crate::context::unit::Unit;
use crate::dialect::Parallel;
use crate::names::Names;
use crate::syntax::declaration;
use crate::syntax::int64;
use nova_c_ast::ast::{Block, Expression, Name, Statement, Type};
use nova_loop::ir::Program;

/// Appends statements to the block that is open, and makes names that are fresh within a function.
pub(crate) struct Writer<'u, 'p> {
    /// The state that the functions of a file share.
    pub(crate) unit: &'u mut Unit<'p>,
    names: Names,
    /// The statements of the current block.
    pub(crate) statements: Vec<Statement>,
}

impl<'u, 'p> Writer<'u, 'p> {
    /// Returns a writer without statements.
    pub(crate) fn new(unit: &'u mut Unit<'p>) -> Self {
        let mut names = Names::default();
        names.take("context");
        for name in unit.options.dialect.reserved() {
            names.take(name);
        }
        if unit.options.dialect.parallel == Parallel::Regions {
            // Names in the functions of parallel loops.
            names.take("argument");
            names.take("data");
        }
        Writer {
            unit,
            names,
            statements: Vec::new(),
        }
    }

    /// Returns the program.
    pub(crate) fn program(&self) -> &'p Program {
        self.unit.program
    }

    /// Returns a fresh name within the function.
    pub(crate) fn fresh(&mut self, name: &str) -> Name {
        self.names.fresh(name, Some(&self.unit.names))
    }

    /// Adds a statement to the current block.
    pub(crate) fn push(&mut self, statement: Statement) {
        self.statements.push(statement);
    }

    /// Runs `body` with a new block. Returns the statements of that block, and the result of `body`.
    pub(crate) fn apart<R>(&mut self, body: impl FnOnce(&mut Self) -> R) -> (Vec<Statement>, R) {
        let outer = self.take();
        let result = body(self);
        (std::mem::replace(&mut self.statements, outer), result)
    }

    /// Emits statements as a block of their own.
    pub(crate) fn nested(&mut self, body: impl FnOnce(&mut Self)) -> Block {
        Block(self.apart(body).0)
    }

    /// Emits a loop over the indices below a count. `body` emits what runs for each index.
    pub(crate) fn each_index(
        &mut self,
        count: Expression,
        body: impl FnOnce(&mut Self, Expression),
    ) {
        let index = self.fresh("i");
        let read = Expression::Name(index.clone());
        let (body, ()) = self.apart(|code| body(code, read));
        self.push(Statement::For {
            ty: int64(),
            variable: index,
            count,
            body: body.into(),
        });
    }

    /// Takes the statements emitted so far.
    pub(crate) fn take(&mut self) -> Vec<Statement> {
        std::mem::take(&mut self.statements)
    }

    /// Returns a new variable with a value.
    pub(crate) fn variable(&mut self, ty: Type, name: &str, value: Expression) -> Expression {
        let name = self.fresh(name);
        self.push(Statement::declare(ty, name.clone(), value));
        Expression::Name(name)
    }

    /// Returns a new variable without a value.
    pub(crate) fn unset(&mut self, ty: Type, name: &str) -> Expression {
        let name = self.fresh(name);
        self.push(declaration(ty, name.clone()));
        Expression::Name(name)
    }
}
