//! The arguments of built-ins.

use crate::error::{LowerError, Result};
use crate::values::{Array, Vector};
use nova_core::ir::ExpressionId;
use nova_core::{Scalar, Type};
use nova_flat::ir::Atom;

/// A lowered argument.
pub(super) struct Argument {
    /// The expression.
    pub id: ExpressionId,
    /// Its type.
    pub ty: Type,
    /// Its components. A lambda has none.
    pub atoms: Vec<Atom>,
}

impl Argument {
    /// Returns the argument as a vector.
    pub fn vector(&self) -> Result<Vector> {
        Vector::new(&self.ty, self.atoms.clone())
    }

    /// Returns the argument as an array. A vector has rank 1.
    pub fn array(&self) -> Result<Array> {
        Array::new(&self.ty, self.atoms.clone())
    }

    /// Returns the argument as a scalar, and its type.
    pub fn scalar(&self) -> Result<(Atom, Scalar)> {
        match (self.ty.as_scalar(), self.atoms.as_slice()) {
            (Some(scalar), [atom]) => Ok((*atom, scalar)),
            _ => Err(LowerError::new("a scalar was expected")),
        }
    }
}

/// Returns the arguments as an array of a known size.
pub(super) fn exactly<const N: usize>(arguments: &[Argument]) -> Result<&[Argument; N]> {
    arguments
        .try_into()
        .map_err(|_| LowerError::new("a built-in with a wrong number of arguments"))
}

/// Returns the scalar type that a type is.
pub(super) fn scalar_type(ty: &Type) -> Result<Scalar> {
    ty.as_scalar()
        .ok_or_else(|| LowerError::new("a scalar type was expected"))
}
