//! The scope of lowering: which components each variable of Core has.

use crate::builder::Builder;
use crate::closures::FirstOrder;
use crate::error::{LowerError, Result};
use nova_core::Type;
use nova_core::ir::{ExpressionId, Variable};
use nova_flat::ir::Atom;
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

/// Lowers expressions of a program. It knows the components of the Core variables in scope.
pub(crate) struct Lowerer<'a> {
    /// The program being lowered.
    pub source: &'a FirstOrder,
    /// The components of each Core variable in scope.
    environment: Vec<Option<Rc<[Atom]>>>,
    /// Variables of Flat that have a name from the source.
    named: HashSet<nova_flat::ir::Variable>,
    /// True while an operator is lowered to be read only.
    pub reads_operator: bool,
}

impl<'a> Lowerer<'a> {
    /// Creates a lowerer of a program, with no variable in scope.
    pub fn new(source: &'a FirstOrder) -> Self {
        Lowerer {
            source,
            environment: vec![None; source.program.variables.len()],
            named: HashSet::new(),
            reads_operator: false,
        }
    }

    /// Returns the components of a Core variable in scope.
    pub fn look_up(&self, variable: Variable) -> Result<Rc<[Atom]>> {
        let found = self.environment.get(variable.index());
        found.cloned().flatten().ok_or_else(|| {
            let name = self.source.program.variables.get(variable.index());
            let name = name.map_or("?", |v| &v.name);
            LowerError::new(format!("the variable {name} is not in scope"))
        })
    }

    /// Binds a Core variable. Atoms that have no name from the source yet take this one.
    pub fn bind_core(&mut self, b: &mut Builder, variable: Variable, atoms: Vec<Atom>) {
        let info = self.source.program.variable(variable);
        let list = b.components(&info.ty);
        for (component, atom) in list.iter().zip(&atoms) {
            if let Atom::Variable(flat) = atom
                && self.named.insert(*flat)
            {
                b.output.variables[flat.index()].name = match component.name.as_str() {
                    "" => info.name.clone(),
                    suffix => Arc::from(format!("{}_{suffix}", info.name)),
                };
            }
        }
        self.environment[variable.index()] = Some(atoms.into());
    }

    /// Returns the parameters and the body of a lambda.
    pub fn lambda_parts(&self, lambda: ExpressionId) -> Result<(Vec<Variable>, ExpressionId)> {
        let parts = self.source.program.expression(lambda).kind.as_lambda();
        let (parameters, body) =
            parts.ok_or_else(|| LowerError::new("a built-in was not given a lambda"))?;
        Ok((parameters.to_vec(), body))
    }

    /// Returns the result type of a lambda.
    pub fn lambda_result(&self, lambda: ExpressionId) -> Result<Type> {
        let (_, body) = self.lambda_parts(lambda)?;
        Ok(self.type_of(body))
    }

    /// Returns the type of an expression.
    pub fn type_of(&self, id: ExpressionId) -> Type {
        self.source.program.expression(id).ty.clone()
    }
}
