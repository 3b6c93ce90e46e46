//! The rules of Flat, which hold after lowering and after every pass (funmem.txt fig. 3).
//!
//! - **Binding.** A variable is bound once in the program. It is used only after its binding, in the
//!   same body or inside it. Lambdas of outputs do not see the indices and carries of their operation.
//!   Functions see nothing from outside.
//! - **Types.** Every extent in a type is an `i64`: a constant that is not negative, or a variable in
//!   scope where the array is bound, perhaps bound earlier in the same pattern.
//! - **Expressions** have operands of the types that [`crate::ir`] states, and patterns of exactly the
//!   types of their results. Extents are equal if they are the same atom, after variables that only
//!   rename others are replaced.
//! - **Existential sizes.** Values meet binders in three cases: arguments and parameters, results of
//!   bodies and patterns, states of loops. Then the types of the values are those of the binders, with
//!   each binder replaced by its value.
//! - **Calls.** A tail call is the last statement of its function, perhaps inside conditionals that
//!   are, and its results are those of the function. A function on a cycle of calls other than tail
//!   calls to itself is marked recursive.
//! - **Entries** have parameters and results as [`crate::representation`] lists them. If the caller
//!   holds some of them as fields of structures, nothing else calls the function.
//! - No memory: neither annotations nor `Allocate` and `Unique`. ([`verify_types`] leaves this rule
//!   out, for Mem.)

pub mod calls;
mod expressions;
mod operation;

use crate::ir::{Atom, Body, Expression, Function, Program, Statement, Type, Variable};
use crate::print::{print_atom, print_type, print_variable};
use crate::representation::{Component, components, input_fields, result_fields};
use crate::visit::Substitution;
use nova_core::error::InternalError;
use nova_core::{Scalar, ScalarValue, Type as CoreType};
use nova_diag::{Place, deep};
use std::sync::Arc;

/// Checks a program of Flat. The error names the first rule found broken.
pub fn verify(program: &Program) -> Result<()> {
    Verifier::new(program, false).program()
}

/// Checks all rules but that about memory, for a program of Mem.
pub fn verify_types(program: &Program) -> Result<()> {
    Verifier::new(program, true).program()
}

/// The result of a check, or the first rule found broken.
pub type Result<T> = std::result::Result<T, InternalError>;

struct Verifier<'a> {
    program: &'a Program,
    /// True if memory may occur.
    memory: bool,
    /// By variable, true if it was bound before.
    bound: Vec<bool>,
    /// By variable, true if it may be used here.
    in_scope: Vec<bool>,
    /// The variables in scope, in order of binding.
    scope: Vec<Variable>,
    /// By variable, the atom that it only renames.
    renames: Vec<Option<Atom>>,
    function: Option<Arc<str>>,
    place: Option<Place>,
}

/// The position of a body.
#[derive(Clone, Copy)]
struct Position {
    /// True if its results are those of the function.
    tail: bool,
}

const INSIDE: Position = Position { tail: false };

impl<'a> Verifier<'a> {
    fn new(program: &'a Program, memory: bool) -> Self {
        let count = program.variables.len();
        Verifier {
            program,
            memory,
            bound: vec![false; count],
            in_scope: vec![false; count],
            scope: Vec::new(),
            renames: vec![None; count],
            function: None,
            place: None,
        }
    }

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

    fn program(&mut self) -> Result<()> {
        let mut names = std::collections::HashSet::new();
        for function in &self.program.functions {
            let name = &function.name;
            self.require(names.insert(name), || {
                format!("two functions called {name}")
            })?;
        }
        for function in &self.program.functions {
            self.function = Some(function.name.clone());
            self.place = Some(function.place.clone());
            self.function(function)?;
        }
        (self.function, self.place) = (None, None);
        self.entries()?;
        self.check_recursion()
    }

    fn function(&mut self, function: &'a Function) -> Result<()> {
        let outside = self.scope.len();
        for parameter in &function.parameters {
            self.bind(*parameter)?;
        }
        let inside = self.scope.len();
        for result in &function.results {
            self.bind(*result)?;
        }
        self.leave(inside);
        self.body(&function.body, &function.results, Position { tail: true })?;
        self.leave(outside);
        Ok(())
    }

    fn entries(&mut self) -> Result<()> {
        let mut names = std::collections::HashSet::new();
        for entry in &self.program.entries {
            let name = &entry.name;
            self.require(names.insert(name), || format!("two entries called {name}"))?;
            let Some(function) = self.program.functions.get(entry.function.index()) else {
                return self.fail(format!("entry {name} has no function"));
            };
            let mut rest = function.parameters.as_slice();
            for (_, ty) in &entry.inputs {
                let list = self.components(ty)?;
                let Some((own, others)) = rest.split_at_checked(list.len()) else {
                    return self.fail(format!("entry {name} has more inputs than parameters"));
                };
                self.are_components(&variables(own), &list)?;
                rest = others;
            }
            self.require(rest.is_empty(), || format!("entry {name} has fewer inputs"))?;
            let list = self.components(&entry.result)?;
            self.are_components(&variables(&function.results), &list)?;
        }
        self.entries_are_apart()
    }

    /// Checks that entries with structures have functions that nothing calls.
    fn entries_are_apart(&self) -> Result<()> {
        let apart = self.program.entry_functions();
        let sums = &self.program.sums;
        for entry in &self.program.entries {
            let inputs = entry.inputs.iter();
            let mut fields = inputs.flat_map(|(_, ty)| input_fields(ty, sums));
            let structures = fields.any(|f| f.is_some())
                || result_fields(&entry.result, sums)
                    .iter()
                    .any(Option::is_some);
            self.require(!structures || apart.contains(&entry.function), || {
                format!("the function of entry {} is called elsewhere", entry.name)
            })?;
        }
        Ok(())
    }

    /// Returns the components of a type of Core.
    fn components(&self, ty: &CoreType) -> Result<Vec<Component>> {
        self.require(self.is_data(ty), || "a type that no data has".to_string())?;
        Ok(components(ty, &self.program.sums))
    }

    /// True if a type of Core holds no functions and only sums of the program.
    fn is_data(&self, ty: &CoreType) -> bool {
        deep(|| match ty {
            CoreType::Scalar(_) | CoreType::Unit => true,
            CoreType::Tuple(types) => types.iter().all(|ty| self.is_data(ty)),
            CoreType::Vector(element) | CoreType::Array(_, element) => self.is_data(element),
            CoreType::Sum(id) => id.index() < self.program.sums.len(),
            CoreType::Function(..) => false,
        })
    }

    /// Checks the types of atoms that represent one value.
    fn are_components(&self, atoms: &[Atom], list: &[Component]) -> Result<()> {
        self.require(atoms.len() == list.len(), || {
            format!(
                "{} components where a value has {}",
                atoms.len(),
                list.len()
            )
        })?;
        for (atom, component) in atoms.iter().zip(list) {
            let extents = component
                .shape
                .iter()
                .filter_map(|k| atoms.get(*k).copied());
            let expected = array_type(component.scalar, extents.collect());
            let ty = self.type_of(*atom)?;
            self.same_type(&ty, &expected, || {
                format!("component {} ({})", self.show(*atom), component.name)
            })?;
        }
        Ok(())
    }

    /// Binds a variable. It must be new, and its type well-formed here.
    fn bind(&mut self, variable: Variable) -> Result<()> {
        let Some(info) = self.program.variables.get(variable.index()) else {
            return self.fail(format!("variable {} is not in the table", variable.0));
        };
        let name = || print_variable(self.program, variable);
        self.require(!self.bound[variable.index()], || {
            format!("{} is bound twice", name())
        })?;
        match &info.ty {
            Type::Scalar(_) => {}
            Type::Array(_, shape) => {
                self.require(!shape.is_empty(), || format!("{} has no extents", name()))?;
                for extent in shape {
                    self.extent(*extent)?;
                }
            }
            Type::Block(_) => {
                self.require(self.memory, || format!("{} is a block", name()))?;
            }
        }
        self.require(self.memory || info.memory.is_none(), || {
            format!("{} has memory", name())
        })?;
        self.bound[variable.index()] = true;
        self.in_scope[variable.index()] = true;
        self.scope.push(variable);
        Ok(())
    }

    /// Ends the scope of all variables but the first `count`.
    fn leave(&mut self, count: usize) {
        for variable in self.scope.drain(count..) {
            self.in_scope[variable.index()] = false;
        }
    }

    /// Checks a body whose results go to `binders`.
    fn body(&mut self, body: &'a Body, binders: &[Variable], position: Position) -> Result<()> {
        let outside = self.scope.len();
        self.statements(body, position)?;
        self.meet(binders, &body.results)?;
        self.leave(outside);
        Ok(())
    }

    fn statements(&mut self, body: &'a Body, position: Position) -> Result<()> {
        let count = body.statements.len();
        for (k, statement) in body.statements.iter().enumerate() {
            self.place = Some(statement.place.clone());
            let last =
                position.tail && k + 1 == count && variables(&statement.pattern) == body.results;
            deep(|| self.statement(statement, Position { tail: last }))?;
            self.place = Some(statement.place.clone());
        }
        Ok(())
    }

    fn statement(&mut self, statement: &'a Statement, position: Position) -> Result<()> {
        // The types of the pattern may name variables that it binds, so it comes into scope first. It
        // leaves the scope for the expression.
        let outside = self.scope.len();
        for variable in &statement.pattern {
            self.bind(*variable)?;
        }
        let pattern = self.scope.split_off(outside);
        pattern
            .iter()
            .for_each(|v| self.in_scope[v.index()] = false);
        self.expression(&statement.expression, &statement.pattern, position)?;
        pattern.iter().for_each(|v| self.in_scope[v.index()] = true);
        self.scope.extend(pattern);
        if let (Expression::Atom(atom), [variable]) =
            (&statement.expression, &statement.pattern[..])
        {
            self.renames[variable.index()] = Some(self.resolve(*atom));
        }
        Ok(())
    }

    /// Checks values that go to binders. The types must agree once each binder is replaced by its
    /// value.
    fn meet(&self, binders: &[Variable], values: &[Atom]) -> Result<()> {
        self.require(binders.len() == values.len(), || {
            format!("{} values for {} variables", values.len(), binders.len())
        })?;
        let mut substitution = Substitution::default();
        for (binder, value) in binders.iter().zip(values) {
            let ty = self.type_of(*value)?;
            let expected = substitution.ty(self.program.ty(*binder));
            self.same_type(&ty, &expected, || {
                format!(
                    "{} given to {}",
                    self.show(*value),
                    self.show(Atom::Variable(*binder))
                )
            })?;
            substitution.insert(*binder, *value);
        }
        Ok(())
    }

    /// As [`Verifier::meet`] for values that are bound now: the pattern of a call or a loop.
    fn meet_pattern(
        &self,
        binders: &[Variable],
        pattern: &[Variable],
        known: Substitution,
    ) -> Result<()> {
        self.require(binders.len() == pattern.len(), || {
            format!("{} variables for {} results", pattern.len(), binders.len())
        })?;
        let mut substitution = known;
        for (binder, variable) in binders.iter().zip(pattern) {
            let expected = substitution.ty(self.program.ty(*binder));
            self.gives(*variable, &expected)?;
            substitution.insert(*binder, Atom::Variable(*variable));
        }
        Ok(())
    }

    /// Checks that a variable of a pattern has the type of its value.
    fn gives(&self, variable: Variable, expected: &Type) -> Result<()> {
        self.same_type(self.program.ty(variable), expected, || {
            format!("{} in a pattern", self.show(Atom::Variable(variable)))
        })
    }

    fn same_type(&self, ty: &Type, expected: &Type, what: impl FnOnce() -> String) -> Result<()> {
        let same = match (ty, expected) {
            (Type::Array(a, left), Type::Array(b, right)) => {
                let mut extents = left.iter().zip(right);
                a == b && left.len() == right.len() && extents.all(|(l, r)| self.same(*l, *r))
            }
            (ty, expected) => ty == expected,
        };
        self.require(same, || {
            let (ty, expected) = (
                print_type(self.program, ty),
                print_type(self.program, expected),
            );
            format!("{} has type {ty}, not {expected}", what())
        })
    }

    /// True if two extents are the same.
    fn same(&self, left: Atom, right: Atom) -> bool {
        left == right || self.resolve(left) == self.resolve(right)
    }

    fn resolve(&self, atom: Atom) -> Atom {
        match atom {
            Atom::Constant(_) => atom,
            Atom::Variable(v) => self
                .renames
                .get(v.index())
                .copied()
                .flatten()
                .unwrap_or(atom),
        }
    }

    fn show(&self, atom: Atom) -> String {
        print_atom(self.program, atom)
    }

    /// Returns the type of an operand, which must be in scope.
    fn type_of(&self, atom: Atom) -> Result<Type> {
        match atom {
            Atom::Constant(value) => Ok(Type::Scalar(value.scalar())),
            Atom::Variable(variable) => Ok(self.variable(variable)?.clone()),
        }
    }

    fn variable(&self, variable: Variable) -> Result<&'a Type> {
        match self.program.variables.get(variable.index()) {
            // The rules of entries refer to functions from outside.
            Some(info) if self.in_scope[variable.index()] || self.function.is_none() => {
                Ok(&info.ty)
            }
            Some(_) => self.fail(format!(
                "{} is not in scope",
                self.show(Atom::Variable(variable))
            )),
            None => self.fail(format!("variable {} is not in the table", variable.0)),
        }
    }

    /// Returns the scalar type of an operand.
    fn scalar(&self, atom: Atom) -> Result<Scalar> {
        match self.type_of(atom)? {
            Type::Scalar(scalar) => Ok(scalar),
            Type::Array(..) | Type::Block(_) => {
                self.fail(format!("{} is no scalar", self.show(atom)))
            }
        }
    }

    fn is(&self, atom: Atom, expected: Scalar) -> Result<()> {
        let scalar = self.scalar(atom)?;
        self.require(scalar == expected, || {
            let (is, not) = (scalar.info().short, expected.info().short);
            format!("{} is of type {is}, not {not}", self.show(atom))
        })
    }

    fn are(&self, atoms: &[Atom], expected: Scalar) -> Result<()> {
        atoms.iter().try_for_each(|atom| self.is(*atom, expected))
    }

    /// Checks an extent or a count.
    fn extent(&self, atom: Atom) -> Result<()> {
        self.is(atom, Scalar::I64)?;
        let negative = matches!(atom, Atom::Constant(ScalarValue::I64(value)) if value < 0);
        self.require(!negative, || {
            format!("the extent {} is negative", self.show(atom))
        })
    }

    /// Returns element type and extents of an array in scope.
    fn array(&self, variable: Variable) -> Result<(Scalar, &'a [Atom])> {
        match self.variable(variable)? {
            Type::Array(scalar, shape) => Ok((*scalar, shape)),
            Type::Scalar(_) | Type::Block(_) => self.fail(format!(
                "{} is no array",
                self.show(Atom::Variable(variable))
            )),
        }
    }
}

/// Returns the variables as operands.
fn variables(list: &[Variable]) -> Vec<Atom> {
    list.iter().map(|v| Atom::Variable(*v)).collect()
}

/// Returns an array type, or a scalar type if there are no extents.
fn array_type(scalar: Scalar, shape: Vec<Atom>) -> Type {
    if shape.is_empty() {
        Type::Scalar(scalar)
    } else {
        Type::Array(scalar, shape)
    }
}
