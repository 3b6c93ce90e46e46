//! Scalars: the choice between a variable and an expression that is computed where it is used.
//!
//! A scalar with one use, in the loop where it is defined, stays pending as a [`Term`] until its use. A
//! pending term that reads memory becomes a variable if a command is about to change this memory
//! ([`Env::flush_conflicts`]), or if commands of another list may change it. The variable is declared
//! in the command list where the term is pending, before the command that holds the other list.

use crate::env::Env;
use crate::limits::{NODES_OF_A_TERM, PENDING_LOADS};
use crate::source::{name_of, scalar_type};
use crate::terms::{Binding, Term};
use crate::writer::{INDEX, Result};
use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir as flat;
use nova_loop::error::{InternalError, internal};
use nova_loop::ir::{Expression, Type, Variable};

impl Env<'_> {
    /// Returns an operand. A pending term is consumed by this, its only use.
    pub(crate) fn term(&mut self, atom: flat::Atom) -> Result<Term> {
        let variable = match atom {
            flat::Atom::Constant(value) => return Ok(Term::new(Expression::Constant(value))),
            flat::Atom::Variable(variable) => variable,
        };
        let slot = self.scalars.get_mut(variable.index());
        match slot {
            Some(Some(Binding::Simple(expression))) => Ok(Term::new(expression.clone())),
            Some(slot @ Some(_)) => match slot.take() {
                Some(Binding::Pending { term, .. }) => {
                    self.pending_loads.retain(|v| *v != variable);
                    Ok(term)
                }
                Some(Binding::Simple(_)) | None => Err(self.unbound(variable)),
            },
            Some(None) | None => Err(self.unbound(variable)),
        }
    }

    /// Returns the expression of an operand if it is pending, and leaves it pending.
    pub(crate) fn pending(&self, atom: flat::Atom) -> Option<&Expression> {
        let flat::Atom::Variable(variable) = atom else {
            return None;
        };
        match self.scalars.get(variable.index())? {
            Some(Binding::Pending { term, .. }) => Some(&term.expression),
            Some(Binding::Simple(_)) | None => None,
        }
    }

    fn unbound(&self, variable: flat::Variable) -> InternalError {
        let name = name_of(self.source, variable);
        internal(format!(
            "{name}_{} is used where it has no value",
            variable.0
        ))
    }

    /// Returns the expression of an operand.
    pub(crate) fn scalar(&mut self, atom: flat::Atom) -> Result<Expression> {
        Ok(self.term(atom)?.expression)
    }

    /// Returns the expressions of operands.
    pub(crate) fn scalars(&mut self, atoms: &[flat::Atom]) -> Result<Vec<Expression>> {
        atoms.iter().map(|atom| self.scalar(*atom)).collect()
    }

    /// Returns an operand as a variable or constant, which may be used several times.
    pub(crate) fn simple(&mut self, atom: flat::Atom) -> Result<Expression> {
        let term = self.term(atom)?;
        let name = match atom {
            flat::Atom::Variable(variable) => name_of(self.source, variable),
            flat::Atom::Constant(_) => "x".into(),
        };
        let scalar = scalar_type(self.source, atom)?;
        Ok(self.simplify(term.expression, &name, Type::Scalar(scalar)))
    }

    /// Binds the scalar that a statement without side effects computes.
    pub(crate) fn bind_term(&mut self, variable: flat::Variable, term: Term) -> Result<()> {
        if term.expression.is_simple() {
            return self.bind_simple(variable, term.expression);
        }
        if !self.facts.is_substitutable(variable) || term.size > NODES_OF_A_TERM {
            return self.bind_declared(variable, term);
        }
        if !term.loads.is_empty() {
            if self.pending_loads.len() >= PENDING_LOADS
                && let Some(oldest) = self.pending_loads.first().copied()
            {
                self.flush(oldest)?;
            }
            self.pending_loads.push(variable);
        }
        let binding = Binding::Pending {
            term,
            list: self.enclosing.len(),
            scope: self.lifetimes.scope(),
        };
        self.set(variable, binding)
    }

    /// Binds a scalar to a variable or constant.
    pub(crate) fn bind_simple(
        &mut self,
        variable: flat::Variable,
        expression: Expression,
    ) -> Result<()> {
        self.set(variable, Binding::Simple(expression))
    }

    /// Binds indices to new variables.
    pub(crate) fn bind_indices(&mut self, indices: &[flat::Variable]) -> Result<Vec<Variable>> {
        let mut variables = Vec::with_capacity(indices.len());
        for index in indices {
            let name = name_of(self.source, *index);
            let variable = self.add_variable(name, INDEX);
            self.bind_simple(*index, Expression::Variable(variable))?;
            variables.push(variable);
        }
        Ok(variables)
    }

    fn bind_declared(&mut self, variable: flat::Variable, term: Term) -> Result<()> {
        let scalar = scalar_type(self.source, flat::Atom::Variable(variable))?;
        let name = name_of(self.source, variable);
        let declared = self.declare(name, Type::Scalar(scalar), term.expression);
        self.bind_simple(variable, Expression::Variable(declared))
    }

    fn set(&mut self, variable: flat::Variable, binding: Binding) -> Result<()> {
        let slot = self.scalars.get_mut(variable.index());
        *slot.ok_or_else(|| internal("an unknown variable"))? = Some(binding);
        Ok(())
    }

    /// Makes a variable of a pending term, in the command list where it became pending. No command that has
    /// been written there since changes the memory that it reads.
    fn flush(&mut self, variable: flat::Variable) -> Result<()> {
        let here = self.enclosing.len();
        let list = match self.scalars.get(variable.index()) {
            Some(Some(Binding::Pending { list, .. })) => *list,
            Some(_) | None => here,
        };
        let term = self.term(flat::Atom::Variable(variable))?;
        if list == here {
            return self.bind_declared(variable, term);
        }
        let Some(outer) = self.writer.enclosing.get_mut(list) else {
            let name = name_of(self.source, variable);
            return Err(internal(format!(
                "{name} waits in a list of commands that has ended"
            )));
        };
        let inner = std::mem::replace(&mut self.writer.commands, std::mem::take(outer));
        let bound = self.bind_declared(variable, term);
        let outer = std::mem::replace(&mut self.commands, inner);
        self.enclosing[list] = outer;
        bound
    }

    /// Makes variables of all pending terms that read memory.
    pub(crate) fn flush_loads(&mut self) -> Result<()> {
        for variable in self.pending_loads.clone() {
            self.flush(variable)?;
        }
        Ok(())
    }

    /// Makes variables of the pending terms whose value a write to `block` may change.
    pub(crate) fn flush_conflicts(&mut self, block: flat::Variable) -> Result<()> {
        self.flush_where(|env, read| env.facts.may_alias(read, block))
    }

    /// Makes variables of the pending terms that read `block`, which is about to be released.
    pub(crate) fn flush_reads(&mut self, block: flat::Variable) -> Result<()> {
        self.flush_where(|_, read| read == block)
    }

    fn flush_where(&mut self, hit: impl Fn(&Self, flat::Variable) -> bool) -> Result<()> {
        if self.pending_loads.is_empty() {
            return Ok(());
        }
        for variable in self.pending_loads.clone() {
            if let Some(Some(Binding::Pending { term, .. })) = self.scalars.get(variable.index())
                && term.loads.iter().any(|read| hit(self, *read))
            {
                self.flush(variable)?;
            }
        }
        Ok(())
    }

    /// Forgets the pending terms of scopes inside `scope`, which nothing uses.
    pub(crate) fn forget_terms_inside(&mut self, scope: u32) {
        let scalars = &self.scalars;
        self.pending_loads.retain(|variable| {
            !matches!(
                scalars.get(variable.index()),
                Some(Some(Binding::Pending { scope: s, .. })) if *s > scope
            )
        });
    }

    /// Returns a scalar operation on operands.
    pub(crate) fn operation_term(
        &mut self,
        operation: ScalarOperation,
        operand: Scalar,
        arguments: &[flat::Atom],
    ) -> Result<Term> {
        let operands = arguments
            .iter()
            .map(|a| self.term(*a))
            .collect::<Result<_>>()?;
        Ok(Term::over(operands, |arguments| Expression::Scalar {
            operation,
            operand,
            arguments,
        }))
    }

    /// Returns values as variables or constants.
    pub(crate) fn simple_values(&mut self, values: &[flat::Atom]) -> Result<Vec<Expression>> {
        values.iter().map(|v| self.simple(*v)).collect()
    }
}
