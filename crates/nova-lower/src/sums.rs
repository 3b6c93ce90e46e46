//! Values of sums by their components: construction, and the choice by constructor.

use crate::builder::Builder;
use crate::error::{LowerError, Result};
use crate::values::{self, next, take};
use nova_core::{ErrorKind, Scalar, ScalarValue, SumId, Type};
use nova_flat::ir::{Atom, Body, Expression};

/// Returns a value of a sum from the payload of one of its constructors.
pub(crate) fn construct(
    b: &mut Builder,
    id: SumId,
    constructor: u32,
    payload: Vec<Atom>,
) -> Result<Vec<Atom>> {
    let sum = b.output.sums[id.index()].clone();
    if sum.is_recursive() {
        return Ok(b.bind_value(
            &Type::Sum(id),
            Expression::NodeNew {
                sum: id,
                constructor,
                payload,
            },
        ));
    }
    let tag = ScalarValue::I32(constructor as i32);
    let mut atoms = vec![Atom::Constant(tag)];
    for (k, other) in sum.constructors.iter().enumerate() {
        if k == constructor as usize {
            atoms.extend(&payload);
        } else {
            atoms.extend(values::zero(b, &other.payload));
        }
    }
    Ok(atoms)
}

/// Returns the constructor of a value of a sum, an `i32`.
pub(crate) fn tag(b: &mut Builder, id: SumId, value: &[Atom]) -> Result<Atom> {
    let first = next(&mut value.iter())?;
    if !b.output.sums[id.index()].is_recursive() {
        return Ok(first);
    }
    let expression = Expression::NodeTag {
        sum: id,
        link: first,
    };
    Ok(b.bind_scalar("tag", Scalar::I32, expression))
}

/// Returns the payload of constructor `k`, which is the active one.
pub(crate) fn payload(b: &mut Builder, id: SumId, value: &[Atom], k: usize) -> Result<Vec<Atom>> {
    let sum = b.output.sums[id.index()].clone();
    let constructor = sum.constructors.get(k);
    let payload = constructor.map(|c| c.payload.clone());
    let payload = payload.ok_or_else(|| LowerError::new("a case has too many arms"))?;
    let mut value = value.iter();
    let first = next(&mut value)?;
    if sum.is_recursive() {
        if b.components(&payload).is_empty() {
            return Ok(Vec::new());
        }
        let expression = Expression::NodePayload {
            sum: id,
            constructor: k as u32,
            link: first,
        };
        return Ok(b.bind_value(&payload, expression));
    }
    for other in sum.constructors.iter().take(k) {
        let width = b.components(&other.payload).len();
        take(&mut value, width)?;
    }
    let width = b.components(&payload).len();
    take(&mut value, width)
}

/// Returns the value, of type `result`, that `arm` gives for the active constructor of a value of a sum
/// and its payload.
pub(crate) fn cases(
    b: &mut Builder,
    id: SumId,
    value: &[Atom],
    result: &Type,
    mut arm: impl FnMut(&mut Builder, usize, Vec<Atom>) -> Result<Vec<Atom>>,
) -> Result<Vec<Atom>> {
    let count = b.output.sums[id.index()].constructors.len();
    let mut one = |b: &mut Builder, k| {
        let payload = payload(b, id, value, k)?;
        arm(b, k, payload)
    };
    let expression = match count {
        // There are no values of such a sum.
        0 => Expression::Fail {
            error: ErrorKind::Recursion,
            arguments: Vec::new(),
        },
        1 => return one(b, 0),
        _ => {
            let scrutinee = tag(b, id, value)?;
            let mut cases: Vec<Body> = Vec::with_capacity(count);
            for k in 0..count {
                cases.push(b.body(|b| one(b, k))?);
            }
            Expression::Switch { scrutinee, cases }
        }
    };
    Ok(b.bind_value(result, expression))
}
