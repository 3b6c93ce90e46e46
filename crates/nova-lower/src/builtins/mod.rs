//! The built-in functions, a file for each family.
//!
//! Arguments are lowered first, left to right. Then follow the checks of the built-in, in the order of
//! the reference interpreter, then usually one array operation.

mod blocks;
mod histogram;
mod loops;
mod maps;
mod moves;
mod permute;
mod progressions;
mod reductions;
mod selection;
mod shapes;
mod splits;

use crate::builder::Lowerer;
use crate::error::{LowerError, Result};
use crate::values::{Array, Vector};
use nova_core::ir::{ExpressionId, ExpressionKind};
use nova_core::strategy::Level;
use nova_core::{Builtin, Scalar, Strategy, Type};
use nova_flat::ir::{Atom, Expression};

/// A lowered argument.
pub(crate) struct Argument {
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
pub(crate) fn exactly<const N: usize>(arguments: &[Argument]) -> Result<&[Argument; N]> {
    arguments
        .try_into()
        .map_err(|_| LowerError::new("a built-in with a wrong number of arguments"))
}

/// Returns the scalar type that a type is.
pub(crate) fn scalar_type(ty: &Type) -> Result<Scalar> {
    ty.as_scalar()
        .ok_or_else(|| LowerError::new("a scalar type was expected"))
}

impl Lowerer<'_> {
    /// Lowers a built-in applied to arguments, with a value of type `ty`.
    pub fn lower_builtin(
        &mut self,
        builtin: Builtin,
        ids: &[ExpressionId],
        ty: &Type,
    ) -> Result<Vec<Atom>> {
        if builtin == Builtin::Trace {
            return self.lower_trace(ids);
        }
        let functions = builtin.functions(ids.len());
        let mut arguments = Vec::with_capacity(ids.len());
        for (k, id) in ids.iter().enumerate() {
            let expression = self.source.program.expression(*id);
            let inlined = functions.contains(&k) && expression.kind.as_lambda().is_some();
            let atoms = match inlined {
                true => Vec::new(),
                false => self.lower(*id)?,
            };
            arguments.push(Argument {
                id: *id,
                ty: expression.ty.clone(),
                atoms,
            });
        }
        self.dispatch(builtin, &arguments, ty)
    }

    fn dispatch(&mut self, builtin: Builtin, args: &[Argument], ty: &Type) -> Result<Vec<Atom>> {
        match builtin {
            Builtin::Scalar(operation) => {
                let mut atoms = Vec::with_capacity(args.len());
                let mut operand = Scalar::I32;
                for argument in args.iter().rev() {
                    let (atom, scalar) = argument.scalar()?;
                    atoms.push(atom);
                    operand = scalar;
                }
                atoms.reverse();
                Ok(vec![self.checked_scalar(operation, operand, atoms)])
            }
            Builtin::Map { strategy } => self.map(args, strategy),
            Builtin::Imap => self.imap(exactly(args)?),
            Builtin::Tabulate => self.tabulate(exactly(args)?),
            Builtin::TabulateArray => self.tabulate_array(args),
            Builtin::Filter => self.filter(exactly(args)?),
            Builtin::Partition => self.partition(exactly(args)?),
            Builtin::Sort => self.sort(exactly(args)?),
            Builtin::Reduce { commutes } => self.reduce(exactly(args)?, commutes),
            Builtin::Scan { exclusive } => self.scan(exactly(args)?, exclusive),
            Builtin::Foldl => self.foldl(exactly(args)?, None),
            Builtin::Scanl => self.scanl(exactly(args)?),
            Builtin::ReduceSeq { space } => {
                let level = Level::Sequential;
                self.foldl(exactly(args)?, Some(Strategy { level, space }))
            }
            Builtin::Split => self.split(exactly(args)?),
            Builtin::AsVector { lanes } => self.as_vector(exactly(args)?, lanes),
            Builtin::AsScalar => self.as_scalar(exactly(args)?),
            Builtin::Histogram => self.histogram(exactly(args)?),
            Builtin::Count => self.count_indices(exactly(args)?, ty),
            Builtin::Iterate => self.iterate(exactly(args)?),
            Builtin::While => self.while_loop(exactly(args)?),
            Builtin::Range => self.range(exactly(args)?),
            Builtin::Slice => self.slice_builtin(exactly(args)?),
            Builtin::Permute => self.permute(exactly(args)?),
            Builtin::Gather => self.gather(exactly(args)?),
            Builtin::Scatter => self.scatter(exactly(args)?),
            Builtin::Zip => self.zip(exactly(args)?),
            Builtin::Unzip => self.unzip(exactly(args)?),
            Builtin::Concat => self.concat_builtin(exactly(args)?),
            Builtin::Reverse => self.reverse(exactly(args)?),
            Builtin::Replicate => self.replicate_builtin(exactly(args)?),
            Builtin::Rotate => self.rotate(exactly(args)?),
            Builtin::Update => self.update(args),
            Builtin::ArrayUpdate => self.update(args),
            Builtin::UpdateSlice | Builtin::ArrayUpdateSlice => self.update_slice(args),
            Builtin::ArraySlice => self.array_slice(args),
            Builtin::Index => self.index_builtin(exactly(args)?),
            Builtin::ArrayIndex => self.array_index(args),
            Builtin::Length => self.length(exactly(args)?, ty),
            Builtin::Shape => self.shape(exactly(args)?, ty),
            Builtin::Reshape => self.reshape_builtin(args, ty),
            Builtin::Transpose => self.transpose(exactly(args)?),
            Builtin::Flatten => self.flatten(exactly(args)?),
            Builtin::Rows => self.rows(exactly(args)?),
            Builtin::Unrows => self.unrows(exactly(args)?),
            Builtin::Segments => self.segments(exactly(args)?, ty),
            Builtin::Unflatten => self.unflatten(exactly(args)?),
            Builtin::Trace => Err(LowerError::new("a trace out of place")),
        }
    }

    fn lower_trace(&mut self, ids: &[ExpressionId]) -> Result<Vec<Atom>> {
        let [text, value] = ids else {
            return Err(LowerError::new("a trace with a wrong number of arguments"));
        };
        let ExpressionKind::Text(text) = &self.source.program.expression(*text).kind else {
            return Err(LowerError::new("a trace without a constant text"));
        };
        let components = self.lower(*value)?;
        let expression = Expression::Trace {
            text: text.clone(),
            ty: self.type_of(*value),
            components: components.clone(),
        };
        self.emit(Vec::new(), expression);
        Ok(components)
    }
}
