//! The translation of Mem to Loop (dpia.txt §4). Array operations become loops that write directly into
//! the memory that Mem has chosen for their results, and references to blocks are counted.
//!
//! A scalar statement with one use becomes part of the expression that uses it ([`scalars`]); all
//! others become variables named as in the source. Bodies become command lists ([`statements`]). Each
//! body owns the blocks that are made in it, and releases them after their last use ([`lifetimes`]).

mod address;
mod arrays;
mod calls;
mod compaction;
mod control;
mod facts;
mod fixed_blocks;
mod gathers;
mod groups;
mod growing;
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
mod row_strips;
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

/// Translates a program of Mem. `strict` fixes the order of reductions and scans (docs/order.md).
pub fn translate(mem: &flat::Program, strict: bool) -> Result<ir::Program> {
    translate_with(mem, strict, TileSizes::default(), Machine::Processor)
}

/// The kind of machine that runs the loops of a program. Different loops are fast on each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Machine {
    /// Processors with vectors and caches.
    #[default]
    Processor,
    /// A device with many threads, each of which runs one iteration of a loop at the level of a grid.
    Device,
}

/// Translates a program of Mem for a machine, with the given sizes of tiles. Small sizes let small programs
/// have tiles.
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

/// Returns the first results of the operations that are tiled.
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
    /// The program that is translated.
    source: &'a flat::Program,
    facts: Facts,
    /// The translated program so far.
    program: ir::Program,
    /// The translation of each scalar of the source.
    scalars: Vec<Option<Binding>>,
    /// The translation of each block of the source.
    blocks: Vec<Option<Block>>,
    /// The scalars not yet computed whose expressions read memory, oldest first.
    pending_loads: Vec<flat::Variable>,
    /// The command list being written.
    code: Vec<Command>,
    /// The enclosing command lists that are open, the outermost first.
    enclosing: Vec<Vec<Command>>,
    /// The number of enclosing operations and loops of the source.
    loops: u32,
    /// The number of enclosing grids.
    grids: u32,
    lifetimes: Lifetimes<'a>,
    /// The blocks of rows that are made in place, in the array of all rows.
    growing: HashMap<flat::Variable, Growing>,
    /// The function being translated when it calls itself in tail position.
    tail: Option<Tail>,
    /// True if the function being translated may call itself. Its stack frame must be small.
    recursive: bool,
    tiles: TileSizes,
    machine: Machine,
    /// The fields of the structures that callers pass to the functions translated so far.
    structures: FirstFields,
    /// The bytes that the local arrays of the current function's tiles take so far.
    frame: u32,
}

/// A block of the source.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// The pointer to the element at address 0.
    pointer: Variable,
    /// Its handle.
    handle: Variable,
}

/// The target of tail calls.
struct Tail {
    function: flat::FunctionId,
    parameters: Vec<State>,
}

/// The control flow at the end of a statement or body: whether the end is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    Continues,
    Diverges,
}

impl<'a> Translator<'a> {
    /// Returns a translation that has not begun.
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
    fn info(&self, variable: flat::Variable) -> Result<&'a flat::VariableInfo> {
        let info = self.source.variables.get(variable.index());
        info.ok_or_else(|| internal("an unknown variable"))
    }

    /// Returns the scalar type of an atom.
    fn scalar_type(&self, atom: flat::Atom) -> Result<Scalar> {
        let scalar = self.source.scalar_of(atom);
        scalar.ok_or_else(|| internal("an array where a scalar is expected"))
    }

    fn name(&self, variable: flat::Variable) -> Arc<str> {
        match self.source.variables.get(variable.index()) {
            // Names that nova-mem adds are marked.
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
        self.enclosing.push(std::mem::take(&mut self.code));
        let result = write(self);
        let outer = self.enclosing.pop().unwrap_or_default();
        let code = std::mem::replace(&mut self.code, outer);
        Ok((code, result?))
    }

    /// Writes a conditional without an `else` branch.
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
