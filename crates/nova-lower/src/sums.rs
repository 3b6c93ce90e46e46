//! Values of sums by their components: construction, and the choice by constructor.

use crate::builder::Builder;
use crate::error::{LowerError, Result};
use crate::values::{self, next};
use nova_core::{ErrorKind, Scalar, ScalarOperation, ScalarValue, SumId, Type};
use nova_flat::ir::{Atom, Body, Expression};
use nova_flat::representation::{payload_places, tag_scalar};

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
    let scalar = tag_scalar(id, &b.output.sums);
    let tag = ScalarValue::from_integer_wrapping(scalar, i128::from(constructor));
    let mut atoms = values::zero(b, &Type::Sum(id));
    let places = payload_places(id, constructor as usize, &b.output.sums, false);
    let tag = (0, Atom::Constant(tag));
    for (place, atom) in std::iter::once(tag).chain(places.into_iter().zip(payload)) {
        match atoms.get_mut(place) {
            Some(component) => *component = atom,
            None => return Err(LowerError::new("a payload with too many components")),
        }
    }
    Ok(atoms)
}

/// Returns the constructor of a value of a sum, an `i32`.
pub(crate) fn tag(b: &mut Builder, id: SumId, value: &[Atom]) -> Result<Atom> {
    let first = next(&mut value.iter())?;
    if !b.output.sums[id.index()].is_recursive() {
        let scalar = tag_scalar(id, &b.output.sums);
        return Ok(int_of_tag(b, first, scalar));
    }
    let expression = Expression::NodeTag {
        sum: id,
        link: first,
    };
    Ok(b.bind_scalar("tag", Scalar::I32, expression))
}

/// Returns a tag as an `i32`.
fn int_of_tag(b: &mut Builder, tag: Atom, scalar: Scalar) -> Atom {
    match (tag, scalar) {
        (_, Scalar::I32) => tag,
        (Atom::Constant(value), _) => {
            let number = value.as_integer().unwrap_or(0);
            Atom::Constant(ScalarValue::from_integer_wrapping(Scalar::I32, number))
        }
        (Atom::Variable(_), _) => {
            b.scalar(ScalarOperation::Convert(Scalar::I32), scalar, vec![tag])
        }
    }
}

/// Returns the payload of constructor `k`, which is the active one.
pub(crate) fn payload(b: &mut Builder, id: SumId, value: &[Atom], k: usize) -> Result<Vec<Atom>> {
    let sum = b.output.sums[id.index()].clone();
    let constructor = sum.constructors.get(k);
    let payload = constructor.map(|c| c.payload.clone());
    let payload = payload.ok_or_else(|| LowerError::new("a case has too many arms"))?;
    if sum.is_recursive() {
        if b.components(&payload).is_empty() {
            return Ok(Vec::new());
        }
        let expression = Expression::NodePayload {
            sum: id,
            constructor: k as u32,
            link: next(&mut value.iter())?,
        };
        return Ok(b.bind_value(&payload, expression));
    }
    let places = payload_places(id, k, &b.output.sums, false).into_iter();
    let atoms: Option<Vec<Atom>> = places.map(|place| value.get(place).copied()).collect();
    atoms.ok_or_else(|| LowerError::new("a value has too few components"))
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
