//! Compaction of dead rows: data of a nested vector that no row refers to.
//!
//! A slice or a filter of nested vectors keeps the data of all rows and refers to fewer of them. Where
//! data are copied, as in a concatenation, the dead rows would be copied too, again and again. A loop
//! that appends rows and then takes the last hundred would take time that grows exponentially. So at
//! most half of the data that go into a concatenation are dead.

use crate::build::build;
use crate::builder::{Builder, atoms};
use crate::error::Result;
use crate::facts::Fact;
use crate::rows;
use crate::values::{self, Below, next, take};

use nova_core::{Scalar, ScalarOperation, Type};
use nova_flat::ir::{Atom, Expression, Variable};

/// Returns the same rows with no more dead data than live data. If there may be more, a comparison
/// at run time decides whether the live rows are copied. `tops` are the extents of `extents`
/// dimensions and starts for rows that are arrays, or starts and ends for vectors.
pub(crate) fn compact_dead_rows(
    b: &mut Builder,
    inner: &Type,
    extents: usize,
    length: Atom,
    tops: &mut [Atom],
    below: &mut Below,
) -> Result<()> {
    let starts = tops[extents];
    match b.fact(starts) {
        Some(Fact::Dense | Fact::Rows(_) | Fact::Constant(_)) => return Ok(()),
        Some(Fact::Uniform(_)) | None => {}
    }
    let live = live(b, extents, length, tops)?;
    let twice = b.add(live, live);
    let mostly_dead = b.compare(ScalarOperation::Greater, below.length, twice);
    let row = match extents {
        0 => Type::Vector(inner.clone().into()),
        rank => Type::Array(rank as u32, inner.clone().into()),
    };
    let mut lifted = tops.to_vec();
    lifted.push(below.length);
    lifted.extend(&below.lifted);
    let then = b.body(|b| {
        build(b, &[length], &row, |b, i| {
            values::element(b, &row, &lifted, i)
        })
    })?;
    let otherwise = b.body(|_| Ok(lifted.clone()))?;
    let mut pattern: Vec<Variable> = Vec::with_capacity(lifted.len());
    for _ in tops.iter() {
        pattern.push(b.array_variable("rows", Scalar::I64, vec![length]));
    }
    pattern.extend(b.fresh(&Type::Vector(inner.clone().into())));
    let atoms = atoms(&pattern);
    b.emit(
        pattern,
        Expression::If {
            condition: mostly_dead,
            then,
            otherwise,
        },
    );
    let mut atoms = atoms.iter();
    tops.copy_from_slice(&take(&mut atoms, tops.len())?);
    below.length = next(&mut atoms)?;
    below.lifted = atoms.copied().collect();
    Ok(())
}

/// Returns the total number of elements of rows.
fn live(b: &mut Builder, extents: usize, length: Atom, tops: &[Atom]) -> Result<Atom> {
    rows::add_up(b, "shown", length, |b, index| {
        let at = |b: &mut Builder, array: &Atom| b.index(*array, &[index]);
        match extents {
            0 => {
                let (start, end) = (at(b, &tops[0])?, at(b, &tops[1])?);
                Ok(b.subtract(end, start))
            }
            rank => {
                let sizes: Result<Vec<Atom>> = tops[..rank].iter().map(|e| at(b, e)).collect();
                Ok(b.product(&sizes?))
            }
        }
    })
}
