//! Substitutions, and copies of code with new names.

use super::{binders, binders_mut, bodies_mut, operands_mut};
use crate::ir::{Atom, Body, Expression, Lambda, Program, Statement, Type, Variable};
use crate::memory::{Lmad, Memory, Polynomial, polynomial_of};
use nova_diag::{Place, deep};
use std::collections::HashMap;

/// A map from variables to atoms. It is not applied to its own atoms: `x → y, y → 1` turns `x` into
/// `y`.
#[derive(Clone, Debug, Default)]
pub struct Substitution {
    map: HashMap<Variable, Atom>,
}

impl Substitution {
    /// Maps `variable` to `atom`.
    pub fn insert(&mut self, variable: Variable, atom: Atom) {
        self.map.insert(variable, atom);
    }

    /// True if it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// Returns the atom that replaces a variable, if there is one.
    pub fn get(&self, variable: Variable) -> Option<Atom> {
        self.map.get(&variable).copied()
    }

    /// Returns an atom after the substitution.
    pub fn atom(&self, atom: Atom) -> Atom {
        match atom {
            Atom::Variable(variable) => self.get(variable).unwrap_or(atom),
            Atom::Constant(_) => atom,
        }
    }

    /// Returns a variable after the substitution. It is for arrays and blocks, which are never
    /// constants.
    pub fn variable(&self, variable: Variable) -> Variable {
        match self.get(variable) {
            Some(Atom::Variable(other)) => other,
            Some(Atom::Constant(_)) | None => variable,
        }
    }

    /// Returns a type after the substitution.
    pub fn ty(&self, ty: &Type) -> Type {
        match ty {
            Type::Scalar(_) | Type::Block(_) => ty.clone(),
            Type::Array(scalar, shape) => {
                Type::Array(*scalar, shape.iter().map(|a| self.atom(*a)).collect())
            }
        }
    }

    /// Returns a polynomial after the substitution.
    pub fn polynomial(&self, polynomial: &Polynomial) -> Polynomial {
        polynomial.substitute(|variable| {
            polynomial_of(self.atom(Atom::Variable(*variable))).unwrap_or_default()
        })
    }

    /// Returns an LMAD after the substitution.
    pub fn lmad(&self, lmad: &Lmad) -> Lmad {
        let dimension =
            |d: &(Polynomial, Polynomial)| (self.polynomial(&d.0), self.polynomial(&d.1));
        Lmad {
            offset: self.polynomial(&lmad.offset),
            dimensions: lmad.dimensions.iter().map(dimension).collect(),
        }
    }

    /// Returns a memory after the substitution.
    pub fn memory(&self, memory: &Memory) -> Memory {
        Memory {
            block: self.variable(memory.block),
            lmad: self.lmad(&memory.lmad),
        }
    }

    /// Rewrites the operands of an expression, not its bodies.
    pub fn operands(&self, expression: &mut Expression) {
        operands_mut(
            expression,
            &mut |atom| *atom = self.atom(*atom),
            &mut |array| *array = self.variable(*array),
        );
    }

    /// Rewrites type and memory of a variable.
    pub fn info(&self, program: &mut Program, variable: Variable) {
        let info = &mut program.variables[variable.index()];
        info.ty = self.ty(&info.ty);
        info.memory = info.memory.as_ref().map(|m| self.memory(m));
    }
}

/// Applies a substitution to all uses in a body, including the types and memory of its binders.
pub fn substitute(program: &mut Program, body: &mut Body, substitution: &Substitution) {
    if substitution.is_empty() {
        return;
    }
    for statement in &mut body.statements {
        for variable in &statement.pattern {
            substitution.info(program, *variable);
        }
        binders(&statement.expression, &mut |v| {
            substitution.info(program, *v)
        });
        substitution.operands(&mut statement.expression);
        bodies_mut(&mut statement.expression, &mut |inner| {
            deep(|| substitute(program, inner, substitution));
        });
    }
    for result in &mut body.results {
        *result = substitution.atom(*result);
    }
}

/// Adds a copy of `variable`, with its type and memory after `substitution`. From then on
/// `substitution` maps the old variable to the new one.
pub fn fresh_variable(
    program: &mut Program,
    variable: Variable,
    substitution: &mut Substitution,
) -> Variable {
    let mut info = program.variable(variable).clone();
    info.ty = substitution.ty(&info.ty);
    info.memory = info.memory.as_ref().map(|m| substitution.memory(m));
    program.variables.push(info);
    let fresh = Variable(program.variables.len() as u32 - 1);
    substitution.insert(variable, Atom::Variable(fresh));
    fresh
}

/// Adds copies of `variables`, whose types name each other as those of `variables` do. From then on
/// `substitution` maps the old variables to the new ones.
pub fn fresh_variables(
    program: &mut Program,
    variables: &[Variable],
    substitution: &mut Substitution,
) -> Vec<Variable> {
    let each = variables.iter();
    each.map(|v| fresh_variable(program, *v, substitution))
        .collect()
}

/// Returns a copy of a body after `substitution`, with new variables for all that it binds.
/// `substitution` grows by these.
pub fn fresh_copy(program: &mut Program, body: &Body, substitution: &mut Substitution) -> Body {
    let mut copy = body.clone();
    freshen(program, &mut copy, substitution);
    copy
}

/// Returns the conditional between a version of a statement and the statement itself, which stands alone in `otherwise`
/// and binds `pattern`. The conditional binds that instead.
pub fn choice_of_versions(
    program: &mut Program,
    condition: Atom,
    then: Body,
    mut otherwise: Body,
    (pattern, place): (Vec<Variable>, Place),
) -> Statement {
    // The results have other names in the branches.
    let fresh = fresh_variables(program, &pattern, &mut Substitution::default());
    otherwise.results = fresh.iter().map(|v| Atom::Variable(*v)).collect();
    if let Some(last) = otherwise.statements.last_mut() {
        last.pattern = fresh;
    }
    Statement {
        pattern,
        expression: Expression::If {
            condition,
            then,
            otherwise,
        },
        place,
    }
}

/// As [`fresh_copy`], with new parameters too.
pub fn fresh_lambda(
    program: &mut Program,
    lambda: &Lambda,
    substitution: &mut Substitution,
) -> Lambda {
    let mut copy = lambda.clone();
    for parameter in &mut copy.parameters {
        *parameter = fresh_variable(program, *parameter, substitution);
    }
    freshen(program, &mut copy.body, substitution);
    copy
}

/// Renames every variable that the body binds, in place.
fn freshen(program: &mut Program, body: &mut Body, substitution: &mut Substitution) {
    for statement in &mut body.statements {
        substitution.operands(&mut statement.expression);
        binders_mut(&mut statement.expression, &mut |v| {
            *v = fresh_variable(program, *v, substitution);
        });
        bodies_mut(&mut statement.expression, &mut |inner| {
            deep(|| freshen(program, inner, substitution));
        });
        // In Mem, the block of an array precedes it in the same pattern.
        for variable in &mut statement.pattern {
            *variable = fresh_variable(program, *variable, substitution);
        }
    }
    for result in &mut body.results {
        *result = substitution.atom(*result);
    }
}
