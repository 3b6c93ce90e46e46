//! The translation of Mem to Loop (dpia.txt §4): array operations become loops that write straight
//! into the memory that Mem has chosen for their results, and every reference to a block is counted.
//!
//! A scalar statement with one use becomes part of the expression that uses it ([`scalars`]); all
//! others become variables named as in the source. Bodies become command lists ([`statements`]);
//! each owns the blocks made in it and releases them after their last use ([`lifetimes`]).

mod address;
mod arrays;
mod calls;
mod control;
mod facts;
mod fixed_blocks;
mod gathers;
mod groups;
mod growing;
mod held;
mod joined;
mod lanes;
mod lifetimes;
mod nest;
mod operation;
mod ordered;
mod outputs;
mod padding;
pub(crate) mod prefetch;
mod reduction;
mod result_buffers;
mod rows;
mod scalars;
mod scan;
mod sort;
mod statements;
mod states;
mod stored;
mod strided;
mod taking;
mod tiles;
mod tree;

use crate::error::{InternalError, internal};
use crate::ir::{self, Command, Expression, Type, Variable};
use crate::structures::FirstFields;
use facts::Facts;
use growing::Growing;
use lifetimes::Lifetimes;
use nova_core::Scalar;
use nova_flat::ir as flat;
use nova_flat::visit::each_statement;
use scalars::Binding;
use states::State;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

pub use tiles::TileSizes;

type Result<T> = std::result::Result<T, InternalError>;

/// Translates a program of Mem; `strict` fixes the order of reductions and scans
/// (docs/order.md).
pub fn translate(mem: &flat::Program, strict: bool) -> Result<ir::Program> {
    translate_with(mem, strict, TileSizes::default(), Machine::Processor)
}

/// What runs the loops of a program: what makes them fast differs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Machine {
    /// Processors with vectors and caches.
    #[default]
    Processor,
    /// A device with many threads, each of which does an iteration of a loop at the level of a grid.
    Device,
}

/// Translates a program of Mem for a machine, with tiles of other sizes: small ones are reached by
/// small programs.
pub fn translate_with(
    mem: &flat::Program,
    strict: bool,
    tiles: TileSizes,
    machine: Machine,
) -> Result<ir::Program> {
    let mut translator = Translator::new(mem, strict, tiles);
    translator.machine = machine;
    for (index, function) in mem.functions.iter().enumerate() {
        translator.recursive = function.recursive;
        translator.frame = 0;
        let function = translator.function(flat::FunctionId(index as u32), function)?;
        translator.program.functions.push(function);
    }
    let entries = mem.entries.iter().map(|entry| ir::Entry {
        name: entry.name.clone(),
        inputs: entry.inputs.clone(),
        result: entry.result.clone(),
        function: ir::FunctionId(entry.function.0),
    });
    translator.program.entries = entries.collect();
    let mut program = translator.program;
    crate::work_groups::share_once(&mut program);
    crate::tidy::tidy(&mut program);
    Ok(program)
}

/// The first results of the operations that are taken in tiles.
pub fn tiled(mem: &flat::Program, strict: bool) -> BTreeSet<flat::Variable> {
    let mut translator = Translator::new(mem, strict, TileSizes::default());
    let mut found = BTreeSet::new();
    for function in &mem.functions {
        translator.recursive = function.recursive;
        translator.frame = 0;
        each_statement(&function.body, &mut |statement| {
            if let flat::Expression::Operation(operation) = &statement.expression
                && let Some(tiling) = translator.tiling(operation, &statement.pattern)
            {
                translator.frame += tiling.bytes;
                found.extend(statement.pattern.first());
            }
        });
    }
    found
}

/// The state of the translation.
struct Translator<'a> {
    /// What is translated.
    source: &'a flat::Program,
    facts: Facts,
    /// What has been translated.
    program: ir::Program,
    /// What stands for each scalar of the source.
    scalars: Vec<Option<Binding>>,
    /// What stands for each block of the source.
    blocks: Vec<Option<Block>>,
    /// The scalars not yet computed whose expressions read memory, oldest first.
    pending_loads: Vec<flat::Variable>,
    /// The command list being written.
    code: Vec<Command>,
    /// The command lists that are open around it, the outermost first.
    around: Vec<Vec<Command>>,
    /// How many operations and loops of the source are open around it.
    loops: u32,
    /// How many grids are open around it.
    grids: u32,
    lifetimes: Lifetimes<'a>,
    /// The blocks of rows that are made in place.
    growing: HashMap<flat::Variable, Growing>,
    /// The function being translated when it calls itself in tail position.
    tail: Option<Tail>,
    /// True if the function being translated may call itself, so that its frame is to be small.
    recursive: bool,
    tiles: TileSizes,
    machine: Machine,
    /// The fields of the structures that callers give to the functions translated so far.
    structures: FirstFields,
    /// The bytes that the local arrays of its tiles take so far.
    frame: u32,
}

/// A block of the source.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// Points to the element at address 0.
    pointer: Variable,
    /// Its handle.
    handle: Variable,
}

/// Where tail calls go.
struct Tail {
    function: flat::FunctionId,
    parameters: Vec<State>,
}

/// True if control reaches the end of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    Continues,
    Diverges,
}

impl<'a> Translator<'a> {
    /// A translation that has not begun.
    fn new(mem: &'a flat::Program, strict: bool, tiles: TileSizes) -> Self {
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
            around: Vec::new(),
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

    /// What is known of a variable of the source.
    fn info(&self, variable: flat::Variable) -> Result<&'a flat::VariableInfo> {
        let info = self.source.variables.get(variable.index());
        info.ok_or_else(|| internal("an unknown variable"))
    }

    /// The scalar type of an atom.
    fn scalar_type(&self, atom: flat::Atom) -> Result<Scalar> {
        let scalar = self.source.scalar_of(atom);
        scalar.ok_or_else(|| internal("an array where a scalar is expected"))
    }

    fn name(&self, variable: flat::Variable) -> Arc<str> {
        match self.source.variables.get(variable.index()) {
            // What memory adds is marked there.
            Some(info) => info.name.trim_start_matches(nova_mem::MARK).into(),
            None => Arc::from("x"),
        }
    }

    fn add_variable(&mut self, name: impl Into<Arc<str>>, ty: Type) -> Variable {
        self.program.add_variable(name, ty)
    }

    fn emit(&mut self, command: Command) {
        self.code.push(command);
    }

    /// Declares a variable with a value.
    fn declare(&mut self, name: impl Into<Arc<str>>, ty: Type, value: Expression) -> Variable {
        let variable = self.add_variable(name, ty);
        self.emit(Command::Declare {
            variable,
            value: Some(value),
        });
        variable
    }

    /// Declares a variable that is assigned later.
    fn declare_later(&mut self, variable: Variable) {
        self.emit(Command::Declare {
            variable,
            value: None,
        });
    }

    fn assign(&mut self, variable: Variable, value: Expression) {
        self.emit(Command::Assign { variable, value });
    }

    /// Writes commands into a list of their own.
    fn nested<R>(
        &mut self,
        write: impl FnOnce(&mut Self) -> Result<R>,
    ) -> Result<(Vec<Command>, R)> {
        self.around.push(std::mem::take(&mut self.code));
        let result = write(self);
        let outer = self.around.pop().unwrap_or_default();
        let code = std::mem::replace(&mut self.code, outer);
        Ok((code, result?))
    }

    /// Writes a conditional without `else`.
    fn when(
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
    fn choose(
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

const INDEX: Type = Type::Scalar(Scalar::I64);
