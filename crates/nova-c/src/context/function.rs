//! The state while the body of a function of Loop is emitted: its writer, and the names of its variables.

use crate::context::device_state::DeviceState;
use crate::context::expressions::type_of;
use crate::context::fields::Fields;
use crate::context::making::Making;
use crate::context::tracing::Tracing;
use crate::context::unit::Unit;
use crate::context::writer::Writer;
use crate::scalar::{Functions, memory_type};
use nova_c_ast::ast::{Expression, Name, Statement, Type};
use nova_core::Scalar;
use nova_diag::Place;
use nova_loop::ir::{self, Program, Variable};
use std::collections::{HashMap, HashSet};
use std::ops::{Deref, DerefMut};

/// Emits the body of a function of Loop with its writer.
pub(crate) struct Emitter<'u, 'p> {
    writer: Writer<'u, 'p>,
    /// The name of the function.
    pub(crate) function: Name,
    variables: HashMap<Variable, Name>,
    /// The indices of the enclosing loops.
    indices: HashSet<Variable>,
    /// The loops that `break` may leave, innermost last.
    pub(crate) loops: Vec<LoopState>,
    /// The place in the last comment.
    pub(crate) remarked: Option<Place>,
    /// The results, with the pointers through which they are written at the end.
    pub(crate) results: Vec<(Variable, Name)>,
    pub(crate) returned: Option<Variable>,
    /// For the function of an entry that makes its result in place, the way in which it does.
    pub(crate) making: Option<Making>,
    /// The pointers to fields of structures.
    pub(crate) fields: Fields,
    /// True if references of blocks are counted: always on the host, and on a device where the code
    /// allocates arrays.
    pub(crate) counts: bool,
    pub(crate) device: DeviceState,
    /// Facts for tracing races.
    pub(crate) tracing: Tracing,
}

/// The largest local array that is accessed by its name. Larger ones are read through a pointer:
/// compilers that turn indices into addresses forget otherwise that nothing else lies there, and keep
/// no sums in registers beside it.
pub const LARGEST_PLAIN: u32 = 1024;

/// Facts about a loop that encloses the current command.
#[derive(Default)]
pub struct LoopState {
    /// The number of `switch` statements between the loop and the current command.
    pub(crate) switches: usize,
    /// The label after the loop, once a jump to it exists.
    pub(crate) label: Option<Name>,
}

/// Returns the result that a function returns by value: its only result, if that is a scalar.
pub fn returned(program: &Program, function: &ir::Function) -> Option<(Variable, Scalar)> {
    match &*function.results {
        [result] => match program.variable(*result).ty {
            ir::Type::Scalar(scalar) => Some((*result, scalar)),
            ir::Type::Pointer(_) | ir::Type::Block => None,
        },
        _ => None,
    }
}

impl<'u, 'p> Emitter<'u, 'p> {
    /// Returns an emitter without statements.
    pub(crate) fn new(unit: &'u mut Unit<'p>) -> Self {
        Emitter {
            writer: Writer::new(unit),
            function: "nova".into(),
            variables: HashMap::new(),
            indices: HashSet::new(),
            loops: Vec::new(),
            remarked: None,
            results: Vec::new(),
            returned: None,
            making: None,
            fields: Fields::default(),
            counts: true,
            device: DeviceState::default(),
            tracing: Tracing::default(),
        }
    }

    /// True if the code is for a device.
    pub(crate) fn is_on_device(&self) -> bool {
        self.device.own.is_some()
    }

    /// Returns the source of mathematical functions.
    pub(crate) fn functions(&self) -> Functions {
        match (self.unit.program.strict, self.is_on_device()) {
            (true, _) => Functions::Strict,
            (false, true) => Functions::Kernels,
            (false, false) => self.unit.options.dialect.functions,
        }
    }

    /// Returns the C type of a variable.
    pub(crate) fn type_of_variable(&self, variable: Variable) -> Type {
        let ty = self.unit.program.variable(variable).ty;
        match (&self.device.own, ty) {
            (Some(_), ir::Type::Pointer(element)) if self.device.of_group.contains(&variable) => {
                self.unit
                    .options
                    .dialect
                    .group_type(memory_type(element))
                    .pointer()
            }
            (Some(own), ir::Type::Pointer(element)) if !own.contains(&variable) => self
                .unit
                .options
                .dialect
                .shared_type(memory_type(element))
                .pointer(),
            (Some(_), ir::Type::Block) => {
                let block = Type::name("nova_device_block");
                self.unit.options.dialect.shared_type(block).pointer()
            }
            _ => type_of(ty),
        }
    }

    /// Gives a variable a name.
    pub(crate) fn declare(&mut self, variable: Variable) -> Name {
        let info = self.unit.program.variable(variable);
        let name = self.fresh(&info.name);
        self.variables.insert(variable, name.clone());
        name
    }

    /// Returns the name of a variable. Gives it one if it has none yet.
    pub(crate) fn name(&mut self, variable: Variable) -> Name {
        match self.variables.get(&variable) {
            Some(name) => name.clone(),
            None => self.declare(variable),
        }
    }

    /// Returns a variable as an expression.
    pub(crate) fn named(&mut self, variable: Variable) -> Expression {
        Expression::Name(self.name(variable))
    }

    /// Notes that a variable is the index of a loop.
    pub(crate) fn add_index(&mut self, variable: Variable) {
        self.indices.insert(variable);
    }

    /// True if a variable is the index of a loop.
    pub(crate) fn is_index(&self, variable: Variable) -> bool {
        self.indices.contains(&variable)
    }

    /// Runs `body` with a new block. Returns the statements of that block, and the result of `body`.
    pub(crate) fn apart<R>(&mut self, body: impl FnOnce(&mut Self) -> R) -> (Vec<Statement>, R) {
        let outer = self.take();
        let result = body(self);
        (std::mem::replace(&mut self.statements, outer), result)
    }

    /// Returns the type of the elements that a pointer points to.
    pub fn element_of(&self, pointer: Variable) -> Scalar {
        match self.program().variable(pointer).ty {
            ir::Type::Pointer(element) => element,
            // The verifier refuses arrays without pointers.
            ir::Type::Scalar(scalar) => scalar,
            ir::Type::Block => Scalar::U8,
        }
    }
}

impl<'u, 'p> Deref for Emitter<'u, 'p> {
    type Target = Writer<'u, 'p>;

    fn deref(&self) -> &Self::Target {
        &self.writer
    }
}

impl DerefMut for Emitter<'_, '_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.writer
    }
}
