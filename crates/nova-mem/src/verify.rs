//! The rules of Mem (funmem.txt fig. 8), beyond those of Flat ([`nova_flat::verify::verify_types`]).
//!
//! - **Annotations.** Every array has a memory, nothing else has one. Its block has its element type.
//!   Its LMAD has as many dimensions as the array and the same extents. It names only `i64` variables
//!   that are in scope where the array is bound, or bound earlier in its pattern.
//! - **Blocks.** A block is used only in the scope of its `Allocate`. A block that no `Allocate` binds
//!   is used only in the scope of the array that it is bound together with. Such an array is a
//!   parameter, a result binder, a state of a loop or its final value. Or it is in the pattern of a
//!   conditional, call, node's payload, foreign call, constant bytes, failure, `Unique`, or collect
//!   (its rows). It is row-major from the start of the block. The parameters and results of entries
//!   that are fields of structures are as far apart as those ([`crate::ffi`]).
//! - **Destinations.** The rules of memory for results are in `verify/destinations.rs`.
//! - **Views.** Another name lies where its source does, a view at the LMAD that
//!   [`crate::views::view_lmad`] derives.
//! - **Copies.** The rules of copies within a block are in `verify/copies.rs`.
//! - **Elements.** A statement that writes elements writes to a block in scope.
//! - **Passing on.** The rules of arrays that flow elsewhere are in `verify/passing.rs`.
//! - **Sole holders.** The rules of `Unique` are in `holders.rs`.
//! - **Range.** Elements are written inside of the block, which is checked if its size and the
//!   addresses are constants. (Views are not checked: after a check that fails they may lie anywhere.)

mod addresses;
mod copies;
mod destinations;
mod passing;

use crate::alias::extents;
use crate::ffi;
use crate::views::view_lmad;
use nova_core::error::InternalError;
use nova_diag::{Place, deep};
use nova_flat::ir::{
    Atom, Body, Destination, Expression, Function, FunctionId, Output, Program, Statement, Type,
    Variable, View,
};
use nova_flat::memory::{Lmad, Memory, Polynomial, polynomial_of};
use nova_flat::print::print_variable;
use nova_flat::visit::Substitution;
use std::collections::BTreeMap;
use std::sync::Arc;

type Result<T> = std::result::Result<T, InternalError>;

/// Checks a program of Mem. The error names the first rule found broken.
pub fn verify(program: &Program) -> Result<()> {
    nova_flat::verify::verify_types(program)?;
    let count = program.variables.len();
    let mut verifier = Verifier {
        program,
        in_scope: vec![false; count],
        allocated: vec![false; count],
        sole: vec![false; count],
        owned: vec![false; count],
        sizes: vec![None; count],
        renames: Substitution::default(),
        strides: ffi::strides(program),
        expected: ffi::destinations(program),
        extents: extents(program),
        destinations: BTreeMap::new(),
        scope: Vec::new(),
        exceeded: Vec::new(),
        function: None,
        place: None,
    };
    for function in &program.functions {
        nova_flat::visit::each_statement(&function.body, &mut |statement| {
            if let Expression::Allocate {
                count, destination, ..
            } = &statement.expression
            {
                let stride = destination.map_or(1, |d| i64::from(d.stride));
                let count = polynomial_of(*count);
                for block in &statement.pattern {
                    verifier.allocated[block.index()] = true;
                    verifier.sizes[block.index()] = count
                        .as_ref()
                        .map(|count| count.times(&Polynomial::constant(stride)));
                }
            }
            if let Expression::Unique(_) = &statement.expression {
                for array in &statement.pattern {
                    if let Some(memory) = &program.variable(*array).memory {
                        verifier.sole[memory.block.index()] = true;
                    }
                }
            }
        });
    }
    let functions = program.functions.iter().enumerate();
    let mut functions = functions.map(|(k, function)| (FunctionId(k as u32), function));
    functions.try_for_each(|(id, function)| verifier.function(id, function))?;
    crate::holders::verify(program)
}

/// The ways in which the arrays of a pattern get their memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Binding {
    /// They are passed on from elsewhere. Their block may be bound with them.
    Handed,
    /// Their elements are written to a block in scope.
    Written,
    /// They are views of others.
    Derived,
}

struct Verifier<'a> {
    program: &'a Program,
    in_scope: Vec<bool>,
    /// By variable, true if an `Allocate` binds it.
    allocated: Vec<bool>,
    /// By variable, true if it is the block of the result of a `Unique`.
    sole: Vec<bool>,
    /// By variable, true if it is a block that some array has bound.
    owned: Vec<bool>,
    /// By block, the number of its elements, if an `Allocate` gives it.
    sizes: Vec<Option<Polynomial>>,
    /// Scalars that are only other names of atoms.
    renames: Substitution,
    /// The strides of parameters and results that are fields of structures.
    strides: BTreeMap<Variable, i64>,
    /// The memory in which functions of entries can make their results.
    expected: BTreeMap<FunctionId, Vec<Option<Destination>>>,
    /// By variable, true if it is an extent of some array.
    extents: Vec<bool>,
    /// By block, the component of the result whose memory it is.
    destinations: BTreeMap<Variable, Destination>,
    scope: Vec<Variable>,
    /// The blocks of the views in scope that lie outside of them, with the number of variables in scope before
    /// the view.
    exceeded: Vec<(usize, Variable)>,
    function: Option<Arc<str>>,
    place: Option<Place>,
}

impl<'a> Verifier<'a> {
    fn fail<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(InternalError {
            message: message.into(),
            function: self.function.clone(),
            place: self.place.clone(),
        })
    }

    fn require(&self, holds: bool, message: impl FnOnce() -> String) -> Result<()> {
        if holds { Ok(()) } else { self.fail(message()) }
    }

    fn show(&self, variable: Variable) -> String {
        print_variable(self.program, variable)
    }

    fn function(&mut self, id: FunctionId, function: &'a Function) -> Result<()> {
        self.function = Some(function.name.clone());
        self.place = Some(function.place.clone());
        self.destinations(id, function)?;
        self.bind_all(&function.parameters, Binding::Handed)?;
        let inside = self.scope.len();
        self.bind_all(&function.results, Binding::Handed)?;
        self.leave(inside);
        self.body(&function.body, &function.results)?;
        self.leave(0);
        Ok(())
    }

    fn leave(&mut self, count: usize) {
        self.exceeded.retain(|(before, _)| *before < count);
        for variable in self.scope.drain(count..) {
            self.in_scope[variable.index()] = false;
        }
    }

    fn enter(&mut self, variable: Variable) {
        self.in_scope[variable.index()] = true;
        self.scope.push(variable);
    }

    /// Checks a body whose results go to `binders`.
    fn body(&mut self, body: &'a Body, binders: &[Variable]) -> Result<()> {
        let outside = self.scope.len();
        for statement in &body.statements {
            self.place = Some(statement.place.clone());
            deep(|| self.statement(statement))?;
        }
        self.hand_all(&body.results, binders)?;
        self.leave(outside);
        Ok(())
    }

    fn bind_all(&mut self, variables: &[Variable], binding: Binding) -> Result<()> {
        variables
            .iter()
            .try_for_each(|variable| self.bind(*variable, binding))
    }

    /// Binds a variable, and checks its memory.
    fn bind(&mut self, variable: Variable, binding: Binding) -> Result<()> {
        let info = self.program.variable(variable);
        match (&info.ty, &info.memory) {
            (Type::Array(..), Some(memory)) => self.bind_array(variable, memory, binding)?,
            (Type::Array(..), None) => {
                return self.fail(format!("{} has no memory", self.show(variable)));
            }
            (Type::Scalar(_) | Type::Block(_), None) => {}
            (Type::Scalar(_) | Type::Block(_), Some(_)) => {
                return self.fail(format!(
                    "{} is no array and has memory",
                    self.show(variable)
                ));
            }
        }
        self.enter(variable);
        Ok(())
    }

    fn bind_array(&mut self, variable: Variable, memory: &Memory, binding: Binding) -> Result<()> {
        let ty = self.program.ty(variable);
        let block = memory.block;
        let known = self
            .program
            .variables
            .get(block.index())
            .map(|info| &info.ty);
        self.require(known == Some(&Type::Block(ty.element())), || {
            format!("{} lies in no block for its elements", self.show(variable))
        })?;
        match (binding, self.is_target(block)) {
            (Binding::Handed, false) => self.own_block(variable, memory)?,
            (Binding::Handed | Binding::Written | Binding::Derived, _) => {
                self.require(self.in_scope[block.index()], || {
                    format!("the block of {} is not in scope", self.show(variable))
                })?;
            }
        }
        self.check_lmad(variable, memory)?;
        match binding {
            Binding::Written => self.check_range(variable, memory),
            Binding::Handed => Ok(()),
            Binding::Derived => {
                if self.exceeds(memory) {
                    self.exceeded.push((self.scope.len(), block));
                }
                Ok(())
            }
        }
    }

    /// True if arrays that are passed on may lie in a block bound before. It is one that is allocated,
    /// or that an enclosing `Unique` has bound.
    fn is_target(&self, block: Variable) -> bool {
        let index = block.index();
        self.allocated[index] || (self.sole[index] && self.in_scope[index])
    }

    /// Binds a block together with an array.
    fn own_block(&mut self, variable: Variable, memory: &Memory) -> Result<()> {
        let owned = std::mem::replace(&mut self.owned[memory.block.index()], true);
        self.require(!owned, || {
            format!("the block of {} is bound twice", self.show(variable))
        })?;
        let stride = self.strides.get(&variable).copied().unwrap_or(1);
        let dense = Lmad::of_shape(self.program.ty(variable).shape());
        let expected = dense.map(|lmad| ffi::spread(lmad, stride));
        let from_start = expected.is_some_and(|l| self.same_lmad(&l, &memory.lmad));
        self.require(from_start, || {
            format!(
                "{} is not row-major from the start of its own block",
                self.show(variable)
            )
        })?;
        self.enter(memory.block);
        Ok(())
    }

    fn same(&self, left: &Polynomial, right: &Polynomial) -> bool {
        left == right || self.renames.polynomial(left) == self.renames.polynomial(right)
    }

    fn same_lmad(&self, left: &Lmad, right: &Lmad) -> bool {
        left == right || self.renames.lmad(left) == self.renames.lmad(right)
    }

    fn memory(&self, variable: Variable) -> Result<&'a Memory> {
        match &self.program.variable(variable).memory {
            Some(memory) => Ok(memory),
            None => self.fail(format!("{} has no memory", self.show(variable))),
        }
    }

    fn statement(&mut self, statement: &'a Statement) -> Result<()> {
        let pattern = &statement.pattern;
        match &statement.expression {
            Expression::Atom(Atom::Variable(source)) => {
                let array = self.program.ty(*source).is_array();
                match (pattern.as_slice(), array) {
                    ([variable], true) => self.derived(*variable, *source, None),
                    ([variable], false) => {
                        let value = self.renames.atom(Atom::Variable(*source));
                        self.renames.insert(*variable, value);
                        self.bind(*variable, Binding::Written)
                    }
                    (_, _) => self.fail("a name for several values"),
                }
            }
            Expression::Atom(atom @ Atom::Constant(_)) => {
                pattern.iter().for_each(|v| self.renames.insert(*v, *atom));
                self.bind_all(pattern, Binding::Written)
            }
            Expression::View { array, view } => match pattern.as_slice() {
                [variable] => self.derived(*variable, *array, Some(view)),
                _ => self.fail("a view for several variables"),
            },
            Expression::Literal { .. }
            | Expression::Iota { .. }
            | Expression::Replicate { .. }
            | Expression::Copy(_)
            | Expression::Concat { .. }
            | Expression::Update { .. }
            | Expression::Scalar { .. }
            | Expression::Check { .. }
            | Expression::Index { .. }
            | Expression::NodeTag { .. }
            | Expression::NodesReserve { .. }
            | Expression::NodesSeal { .. }
            | Expression::NodesAcyclic { .. }
            | Expression::MaySplit
            | Expression::Allocate { .. } => {
                self.copies(statement)?;
                self.bind_all(pattern, Binding::Written)
            }
            Expression::Unique(array) => {
                self.row_major(Atom::Variable(*array))?;
                self.bind_all(pattern, Binding::Handed)
            }
            Expression::Bytes(_)
            | Expression::Fail { .. }
            | Expression::NodePayload { .. }
            | Expression::NodesReached { .. }
            | Expression::TableOpen { .. }
            | Expression::TableClose { .. }
            | Expression::TableShrink { .. } => self.bind_all(pattern, Binding::Handed),
            Expression::Call { arguments, .. }
            | Expression::Foreign { arguments, .. }
            | Expression::NodeNew {
                payload: arguments, ..
            }
            | Expression::NodeStore {
                payload: arguments, ..
            }
            | Expression::Trace {
                components: arguments,
                ..
            } => {
                self.row_major_all(arguments)?;
                self.bind_all(pattern, Binding::Handed)
            }
            Expression::SortKeys { .. } => self.bind_all(pattern, Binding::Written),
            Expression::Sort { .. }
            | Expression::Operation(_)
            | Expression::If { .. }
            | Expression::Switch { .. }
            | Expression::While { .. } => self.with_bodies(statement),
        }
    }

    /// Checks another name of an array, or a view.
    fn derived(&mut self, variable: Variable, source: Variable, view: Option<&View>) -> Result<()> {
        let source = self.memory(source)?;
        let memory = self.memory(variable)?;
        let expected = match view {
            None => Some(source.lmad.clone()),
            Some(view) => view_lmad(&source.lmad, view)
                .or_else(|| view_lmad(&self.renames.lmad(&source.lmad), view)),
        };
        let Some(expected) = expected else {
            return self.fail(format!("no LMAD gives the view {}", self.show(variable)));
        };
        let same = memory.block == source.block && self.same_lmad(&memory.lmad, &expected);
        self.require(same, || {
            format!("{} does not lie where its source says", self.show(variable))
        })?;
        self.bind(variable, Binding::Derived)
    }

    fn with_bodies(&mut self, statement: &'a Statement) -> Result<()> {
        let pattern = &statement.pattern;
        match &statement.expression {
            Expression::If {
                then, otherwise, ..
            } => {
                self.body(then, pattern)?;
                self.body(otherwise, pattern)?;
                self.bind_all(pattern, Binding::Handed)
            }
            Expression::Switch { cases, .. } => {
                cases.iter().try_for_each(|case| self.body(case, pattern))?;
                self.bind_all(pattern, Binding::Handed)
            }
            Expression::While {
                parameters,
                condition,
                body,
            } => {
                let outside = self.scope.len();
                let names = self.states(parameters)?;
                self.body(condition, &[])?;
                self.body(body, &names)?;
                self.leave(outside);
                self.bind_all(pattern, Binding::Handed)
            }
            Expression::Sort { compare, .. } => {
                self.lambda(compare)?;
                self.bind_all(pattern, Binding::Written)
            }
            Expression::Operation(operation) => {
                self.copies(statement)?;
                self.operation(operation, pattern)
            }
            _ => self.fail("a statement without bodies"),
        }
    }

    /// Binds the states of a loop.
    fn states(&mut self, parameters: &[(Variable, Atom)]) -> Result<Vec<Variable>> {
        let (names, starts): (Vec<Variable>, Vec<Atom>) = parameters.iter().copied().unzip();
        self.bind_all(&names, Binding::Handed)?;
        self.hand_all(&starts, &names)?;
        Ok(names)
    }

    fn lambda(&mut self, lambda: &'a nova_flat::ir::Lambda) -> Result<()> {
        let outside = self.scope.len();
        self.bind_all(&lambda.parameters, Binding::Written)?;
        self.body(&lambda.body, &[])?;
        self.leave(outside);
        Ok(())
    }

    fn operation(
        &mut self,
        operation: &'a nova_flat::ir::ArrayOperation,
        pattern: &[Variable],
    ) -> Result<()> {
        let outside = self.scope.len();
        self.bind_all(&operation.indices, Binding::Written)?;
        let names = self.states(&operation.carries)?;
        self.body(&operation.body, &names)?;
        self.leave(outside);
        for output in &operation.outputs {
            if let Some(lambda) = output.lambda() {
                self.lambda(lambda)?;
            }
        }
        let (carried, mut given) = pattern.split_at(names.len());
        self.bind_all(carried, Binding::Handed)?;
        for output in &operation.outputs {
            let (own, rest) = given.split_at(output.gives());
            given = rest;
            let written = match output {
                Output::Collect { .. } => 3,
                Output::Map
                | Output::Reduce { .. }
                | Output::Scan { .. }
                | Output::Filter { .. }
                | Output::Scatter { .. }
                | Output::Histogram { .. }
                | Output::Join { .. } => own.len(),
            };
            let (written, rows) = own.split_at(written);
            self.bind_all(written, Binding::Written)?;
            self.bind_all(rows, Binding::Handed)?;
        }
        Ok(())
    }
}
