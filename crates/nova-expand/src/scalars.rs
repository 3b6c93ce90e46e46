//! Scalars: the choice between a variable and an expression that is computed where it is used.
//!
//! A scalar with one use, in the loop where it is defined, stays pending as a [`Term`] until its use. A
//! pending term that reads memory becomes a variable if a command is about to change this memory
//! ([`Translator::flush_conflicts`]), or if commands of another list may change it. The variable is declared
//! in the command list where the term is pending, before the command that holds the other list.

use crate::terms::{Binding, Term};
use crate::translator::{Result, Translator};
use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir as flat;
use nova_loop::error::{InternalError, internal};
use nova_loop::ir::{Expression, Type, Variable};
use std::collections::BTreeMap;

/// The maximum size of a pending term. Larger expressions become variables.
const LARGEST_TERM: u32 = 20;
/// The maximum number of pending terms that read memory. Further ones make the oldest a variable.
const MOST_PENDING_LOADS: usize = 16;

impl Translator<'_> {
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
        let name = self.name(variable);
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
            flat::Atom::Variable(variable) => self.name(variable),
            flat::Atom::Constant(_) => "x".into(),
        };
        let scalar = self.scalar_type(atom)?;
        Ok(self.simplify(term.expression, &name, Type::Scalar(scalar)))
    }

    /// Returns the expression itself if it is simple, otherwise a new variable with its value.
    pub(crate) fn simplify(&mut self, expression: Expression, name: &str, ty: Type) -> Expression {
        if expression.is_simple() {
            return expression;
        }
        Expression::Variable(self.declare(name, ty, expression))
    }

    /// Binds the scalar that a statement without side effects computes.
    pub(crate) fn bind_term(&mut self, variable: flat::Variable, term: Term) -> Result<()> {
        if term.expression.is_simple() {
            return self.bind_simple(variable, term.expression);
        }
        if !self.facts.is_substitutable(variable) || term.size > LARGEST_TERM {
            return self.bind_declared(variable, term);
        }
        if !term.loads.is_empty() {
            if self.pending_loads.len() >= MOST_PENDING_LOADS
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

    fn bind_declared(&mut self, variable: flat::Variable, term: Term) -> Result<()> {
        let scalar = self.scalar_type(flat::Atom::Variable(variable))?;
        let name = self.name(variable);
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
        let Some(outer) = self.enclosing.get_mut(list) else {
            let name = self.name(variable);
            return Err(internal(format!(
                "{name} waits in a list of commands that has ended"
            )));
        };
        let inner = std::mem::replace(&mut self.code, std::mem::take(outer));
        let bound = self.bind_declared(variable, term);
        let outer = std::mem::replace(&mut self.code, inner);
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
        self.flush_where(|this, read| this.facts.may_alias(read, block))
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

    /// Assigns all variables in parallel: no expression sees a new value.
    ///
    /// A variable is assigned when no remaining assignment reads it. A copy of one of its variables breaks
    /// a cycle.
    pub(crate) fn assign_together(&mut self, assignments: Vec<(Variable, Expression)>) {
        let mut left: BTreeMap<usize, (Variable, Expression)> = assignments
            .into_iter()
            .filter(|(v, e)| !matches!(e, Expression::Variable(w) if w == v))
            .enumerate()
            .collect();
        let targets: BTreeMap<Variable, usize> = left.iter().map(|(k, (v, _))| (*v, *k)).collect();
        // For each assignment, the others whose targets it reads, and the number of readers of its own.
        let mut reads: Vec<Vec<usize>> = vec![Vec::new(); left.len()];
        let mut readers = vec![0usize; left.len()];
        for (k, (_, expression)) in &left {
            expression.each_variable(&mut |v| {
                if let Some(target) = targets.get(&v)
                    && target != k
                    && !reads[*k].contains(target)
                {
                    reads[*k].push(*target);
                    readers[*target] += 1;
                }
            });
        }
        let mut ready: Vec<usize> = (0..readers.len())
            .rev()
            .filter(|k| readers[*k] == 0)
            .collect();
        while let Some((&first, _)) = left.first_key_value() {
            let next = ready.pop().unwrap_or_else(|| {
                self.open_cycle(first, &mut left);
                first
            });
            let Some((variable, value)) = left.remove(&next) else {
                continue;
            };
            self.assign(variable, value);
            for target in std::mem::take(&mut reads[next]) {
                readers[target] = readers[target].saturating_sub(1);
                if readers[target] == 0 && left.contains_key(&target) {
                    ready.push(target);
                }
            }
        }
    }

    /// Copies the target of assignment `first`; the other assignments read the copy.
    fn open_cycle(&mut self, first: usize, left: &mut BTreeMap<usize, (Variable, Expression)>) {
        let Some(variable) = left.get(&first).map(|(v, _)| *v) else {
            return;
        };
        let info = self.program.variable(variable).clone();
        let copy = self.declare(
            format!("old_{}", info.name),
            info.ty,
            Expression::Variable(variable),
        );
        for (k, (_, expression)) in left.iter_mut() {
            if *k != first {
                expression.rename(&BTreeMap::from([(variable, copy)]));
            }
        }
    }
}
