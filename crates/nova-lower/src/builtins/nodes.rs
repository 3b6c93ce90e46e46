//! `table` and `datum`: the conversions between data and tables of their nodes.

use super::argument::Argument;
use crate::builder::Builder;
use crate::error::{LowerError, Result};
use crate::scalars::bound_from;
use nova_core::nodes::members;
use nova_core::{Member, Scalar, Type};
use nova_flat::ir::{Atom, Expression};

/// Returns the members of tables.
fn group(b: &Builder, tables: &Type) -> Result<Vec<Member>> {
    let members = members(&b.output.sums, tables);
    members.ok_or_else(|| LowerError::new("a table of what are no nodes"))
}

pub(super) fn table(
    b: &mut Builder,
    [root]: &[Argument; 1],
    exact: bool,
    ty: &Type,
) -> Result<Vec<Atom>> {
    let members = group(b, ty)?;
    let [link] = *root.atoms else {
        return Err(LowerError::new("a table of what is no link"));
    };
    Ok(b.bind_value(
        ty,
        Expression::TableOpen {
            exact,
            members,
            link,
        },
    ))
}

pub(super) fn datum(
    b: &mut Builder,
    [root, tables]: &[Argument; 2],
    checked: bool,
) -> Result<Vec<Atom>> {
    let members = group(b, &tables.ty)?;
    let (root, scalar) = root.scalar()?;
    let root = bound_from(b, root, scalar);
    let close = Expression::TableClose {
        checked,
        members,
        root,
        tables: tables.atoms.clone(),
    };
    Ok(vec![b.bind_scalar("link", Scalar::I64, close)])
}
