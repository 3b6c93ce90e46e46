//! The built-in functions, a file for each family.
//!
//! Arguments are lowered first, left to right. Then follow the checks of the built-in, in the order of
//! the reference interpreter, then usually one array operation.

mod argument;
mod blocks;
mod by_elements;
mod elementwise;
mod histogram;
mod loops;
mod maps;
mod moves;
mod nodes;
mod operators;
mod permute;
mod progressions;
mod reductions;
mod selection;
mod shapes;
mod splits;

use crate::builder::Builder;
use crate::error::{LowerError, Result};
use crate::lowerer::Lowerer;
use crate::scalars::checked_scalar;
use argument::{Argument, exactly};
use nova_core::ir::{ExpressionId, ExpressionKind};
use nova_core::strategy::Level;
use nova_core::{Builtin, Scalar, Strategy, Type};
use nova_flat::ir::{Atom, Expression};

/// Lowers a built-in applied to arguments, with a value of type `ty`.
pub(crate) fn lower(
    b: &mut Builder,
    lowerer: &mut Lowerer,
    builtin: Builtin,
    ids: &[ExpressionId],
    ty: &Type,
) -> Result<Vec<Atom>> {
    if builtin == Builtin::Trace {
        return lower_trace(b, lowerer, ids);
    }
    let functions = builtin.functions(ids.len());
    let mut arguments = Vec::with_capacity(ids.len());
    for (k, id) in ids.iter().enumerate() {
        let expression = lowerer.source.program.expression(*id);
        let inlined = functions.contains(&k) && expression.kind.as_lambda().is_some();
        let atoms = match inlined {
            true => Vec::new(),
            false => lowerer.lower(b, *id)?,
        };
        arguments.push(Argument {
            id: *id,
            ty: expression.ty.clone(),
            atoms,
        });
    }
    dispatch(b, lowerer, builtin, &arguments, ty)
}

fn dispatch(
    b: &mut Builder,
    lowerer: &mut Lowerer,
    builtin: Builtin,
    args: &[Argument],
    ty: &Type,
) -> Result<Vec<Atom>> {
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
            Ok(vec![checked_scalar(b, operation, operand, atoms)])
        }
        Builtin::Map { strategy } => maps::map(b, lowerer, args, strategy),
        Builtin::Imap => maps::imap(b, lowerer, exactly(args)?),
        Builtin::Tabulate => maps::tabulate(b, lowerer, exactly(args)?),
        Builtin::TabulateArray => maps::tabulate_array(b, lowerer, args),
        Builtin::Filter => selection::filter(b, lowerer, exactly(args)?),
        Builtin::Partition => selection::partition(b, lowerer, exactly(args)?),
        Builtin::Sort => selection::sort(b, lowerer, exactly(args)?),
        Builtin::Reduce { commutes } => reductions::reduce(b, lowerer, exactly(args)?, commutes),
        Builtin::Scan { exclusive } => reductions::scan(b, lowerer, exactly(args)?, exclusive),
        Builtin::Foldl => reductions::foldl(b, lowerer, exactly(args)?, None),
        Builtin::Scanl => reductions::scanl(b, lowerer, exactly(args)?),
        Builtin::ReduceSeq { space } => {
            let level = Level::Sequential;
            reductions::foldl(b, lowerer, exactly(args)?, Some(Strategy { level, space }))
        }
        Builtin::Split => splits::split(b, exactly(args)?),
        Builtin::AsVector { lanes } => splits::as_vector(b, exactly(args)?, lanes),
        Builtin::AsScalar => splits::as_scalar(b, exactly(args)?),
        Builtin::Histogram => histogram::histogram(b, lowerer, exactly(args)?),
        Builtin::Count => histogram::count_indices(b, exactly(args)?, ty),
        Builtin::Iterate => loops::iterate(b, lowerer, exactly(args)?),
        Builtin::While => loops::while_loop(b, lowerer, exactly(args)?),
        Builtin::Range => progressions::range(b, exactly(args)?),
        Builtin::Slice => progressions::slice(b, exactly(args)?),
        Builtin::Permute => permute::permute(b, exactly(args)?),
        Builtin::Gather => permute::gather(b, exactly(args)?),
        Builtin::Scatter => permute::scatter(b, exactly(args)?),
        Builtin::Zip => maps::zip(b, exactly(args)?),
        Builtin::Unzip => moves::unzip(b, exactly(args)?),
        Builtin::Concat => moves::concat(b, exactly(args)?),
        Builtin::Reverse => moves::reverse(b, exactly(args)?),
        Builtin::Replicate => moves::replicate(b, exactly(args)?),
        Builtin::Rotate => moves::rotate(b, exactly(args)?),
        Builtin::Update => blocks::update(b, args),
        Builtin::ArrayUpdate => blocks::update(b, args),
        Builtin::UpdateSlice | Builtin::ArrayUpdateSlice => blocks::update_slice(b, args),
        Builtin::ArraySlice => blocks::array_slice(b, args),
        Builtin::Index => moves::index(b, exactly(args)?),
        Builtin::ArrayIndex => moves::array_index(b, args),
        Builtin::Length => shapes::length(b, exactly(args)?, ty),
        Builtin::Shape => shapes::shape(b, exactly(args)?, ty),
        Builtin::Reshape => shapes::reshape(b, args, ty),
        Builtin::Transpose => shapes::transpose(b, exactly(args)?),
        Builtin::Flatten => shapes::flatten(b, exactly(args)?),
        Builtin::Rows => shapes::rows(b, exactly(args)?),
        Builtin::Unrows => shapes::unrows(b, exactly(args)?),
        Builtin::Segments => shapes::segments(b, exactly(args)?, ty),
        Builtin::Unflatten => shapes::unflatten(b, exactly(args)?),
        Builtin::NodeAt => moves::node_at(b, exactly(args)?),
        Builtin::Table { exact } => nodes::table(b, exactly(args)?, exact, ty),
        Builtin::Datum { checked } => nodes::datum(b, exactly(args)?, checked),
        Builtin::Trace => Err(LowerError::new("a trace out of place")),
    }
}

fn lower_trace(b: &mut Builder, lowerer: &mut Lowerer, ids: &[ExpressionId]) -> Result<Vec<Atom>> {
    let [text, value] = ids else {
        return Err(LowerError::new("a trace with a wrong number of arguments"));
    };
    let ExpressionKind::Text(text) = &lowerer.source.program.expression(*text).kind else {
        return Err(LowerError::new("a trace without a constant text"));
    };
    let components = lowerer.lower(b, *value)?;
    let expression = Expression::Trace {
        text: text.clone(),
        ty: lowerer.type_of(*value),
        components: components.clone(),
    };
    b.emit(Vec::new(), expression);
    Ok(components)
}
