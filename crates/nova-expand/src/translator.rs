//! The state of the translation, and the commands that it writes.

use crate::facts::Facts;
use crate::machine::{Machine, TileSizes};
use crate::places::{Block, Growing, State};
use crate::references::Lifetimes;
use crate::terms::Binding;
use nova_core::Scalar;
use nova_flat::ir as flat;
use nova_loop::error::{InternalError, internal};
use nova_loop::first_fields::FirstFields;
use nova_loop::ir;
use nova_loop::ir::{Command, Expression, Type, Variable};
use std::collections::HashMap;
use std::sync::Arc;

pub(crate) type Result<T> = std::result::Result<T, InternalError>;

/// The state of the translation.
pub(crate) struct Translator<'a> {
    /// The program that is translated.
    pub(crate) source: &'a flat::Program,
    pub(crate) facts: Facts,
    /// The translated program so far.
    pub(crate) program: ir::Program,
    /// The translation of each scalar of the source.
    pub(crate) scalars: Vec<Option<Binding>>,
    /// The translation of each block of the source.
    pub(crate) blocks: Vec<Option<Block>>,
    /// The scalars not yet computed whose expressions read memory, oldest first.
    pub(crate) pending_loads: Vec<flat::Variable>,
    /// The command list being written.
    pub(crate) code: Vec<Command>,
    /// The enclosing command lists that are open, the outermost first.
    pub(crate) enclosing: Vec<Vec<Command>>,
    /// The number of enclosing operations and loops of the source.
    pub(crate) loops: u32,
    /// The number of enclosing grids.
    pub(crate) grids: u32,
    pub(crate) lifetimes: Lifetimes<'a>,
    /// The blocks of rows that are made in place, in the array of all rows.
    pub(crate) growing: HashMap<flat::Variable, Growing>,
    /// The function being translated when it calls itself in tail position.
    pub(crate) tail: Option<Tail>,
    /// True if the function being translated may call itself. Its stack frame must be small.
    pub(crate) recursive: bool,
    pub(crate) tiles: TileSizes,
    pub(crate) machine: Machine,
    /// The fields of the structures that callers pass to the functions translated so far.
    pub(crate) structures: FirstFields,
    /// The bytes that the local arrays of the current function's tiles take so far.
    pub(crate) frame: u32,
}

/// The target of tail calls.
pub(crate) struct Tail {
    pub(crate) function: flat::FunctionId,
    pub(crate) parameters: Vec<State>,
}

/// The control flow at the end of a statement or body: whether the end is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    Continues,
    Diverges,
}

impl<'a> Translator<'a> {
    /// Returns a translation that has not begun.
    pub(crate) fn new(mem: &'a flat::Program, strict: bool, tiles: TileSizes) -> Self {
        Translator {
            source: mem,
            facts: Facts::new(mem),
            program: ir::Program {
                sums: mem.sums.clone(),
                foreigns: mem.foreigns.clone(),
                strict,
                ..ir::Program::default()
            },
            scalars: vec![None; mem.variables.len()],
            blocks: vec![None; mem.variables.len()],
            pending_loads: Vec::new(),
            code: Vec::new(),
            enclosing: Vec::new(),
            loops: 0,
            grids: 0,
            lifetimes: Lifetimes::default(),
            growing: HashMap::new(),
            tail: None,
            recursive: false,
            tiles,
            machine: Machine::Processor,
            structures: FirstFields::new(),
            frame: 0,
        }
    }

    /// Returns the facts about a variable of the source.
    pub(crate) fn info(&self, variable: flat::Variable) -> Result<&'a flat::VariableInfo> {
        let info = self.source.variables.get(variable.index());
        info.ok_or_else(|| internal("an unknown variable"))
    }

    /// Returns the scalar type of an atom.
    pub(crate) fn scalar_type(&self, atom: flat::Atom) -> Result<Scalar> {
        let scalar = self.source.scalar_of(atom);
        scalar.ok_or_else(|| internal("an array where a scalar is expected"))
    }

    pub(crate) fn name(&self, variable: flat::Variable) -> Arc<str> {
        match self.source.variables.get(variable.index()) {
            // Names that nova-mem adds are marked.
            Some(info) => info.name.trim_start_matches(nova_mem::MARK).into(),
            None => Arc::from("x"),
        }
    }

    pub(crate) fn add_variable(&mut self, name: impl Into<Arc<str>>, ty: Type) -> Variable {
        self.program.add_variable(name, ty)
    }

    pub(crate) fn emit(&mut self, command: Command) {
        self.code.push(command);
    }

    /// Declares a variable with a value.
    pub(crate) fn declare(
        &mut self,
        name: impl Into<Arc<str>>,
        ty: Type,
        value: Expression,
    ) -> Variable {
        let variable = self.add_variable(name, ty);
        self.emit(Command::Declare {
            variable,
            value: Some(value),
        });
        variable
    }

    /// Declares a variable that is assigned later.
    pub(crate) fn declare_later(&mut self, variable: Variable) {
        self.emit(Command::Declare {
            variable,
            value: None,
        });
    }

    pub(crate) fn assign(&mut self, variable: Variable, value: Expression) {
        self.emit(Command::Assign { variable, value });
    }

    /// Writes commands into a list of their own.
    pub(crate) fn nested<R>(
        &mut self,
        write: impl FnOnce(&mut Self) -> Result<R>,
    ) -> Result<(Vec<Command>, R)> {
        self.enclosing.push(std::mem::take(&mut self.code));
        let result = write(self);
        let Some(outer) = self.enclosing.pop() else {
            return Err(internal("a list of commands that was not begun"));
        };
        let code = std::mem::replace(&mut self.code, outer);
        Ok((code, result?))
    }

    /// Writes a conditional without an `else` branch.
    pub(crate) fn when(
        &mut self,
        condition: Expression,
        write: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let (then, ()) = self.nested(write)?;
        self.emit(Command::If {
            condition,
            then,
            otherwise: Vec::new(),
        });
        Ok(())
    }

    /// Writes a conditional.
    pub(crate) fn choose(
        &mut self,
        condition: Expression,
        then: impl FnOnce(&mut Self) -> Result<()>,
        otherwise: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let (then, ()) = self.nested(then)?;
        let (otherwise, ()) = self.nested(otherwise)?;
        self.emit(Command::If {
            condition,
            then,
            otherwise,
        });
        Ok(())
    }
}

/// The type of indices and counts.
pub(crate) const INDEX: Type = Type::Scalar(Scalar::I64);
