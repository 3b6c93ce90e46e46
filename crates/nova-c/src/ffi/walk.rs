//! Loops over the values inside of C values: the elements of arrays, and of arrays inside of these.

use crate::context::writer::Writer;
use crate::syntax::{int64, literal, product};
use nova_c_ast::ast::{Binary, Expression, Name, Statement};

/// A step from a C value to values inside it.
#[derive(Clone)]
pub enum Step {
    /// To all elements of an array.
    Array { data: Expression, count: Expression },
    /// To all elements of a vector of this rank; the rank of a `vector` is 1.
    Elements(u32),
    /// To a field.
    Field(Name),
    /// To the payload, of values with this tag; the field is `None` if the payload takes no memory.
    Payload(usize, Option<Name>),
}

/// Emits loops over the values of a walk. `body` gets each value and its number.
pub(crate) fn each_value(
    code: &mut Writer,
    walk: &[Step],
    body: &mut dyn FnMut(&mut Writer, Expression, &Expression),
) {
    let single = match walk {
        [Step::Array { .. }, rest @ ..] => rest.iter().all(|step| matches!(step, Step::Field(_))),
        _ => false,
    };
    let nothing = literal(0);
    if single {
        steps(code, walk, nothing, None, body);
    } else {
        let k = code.variable(int64(), "k", nothing.clone());
        steps(code, walk, nothing, Some(&k), body);
    }
}

/// Counts the values in `k` if it is given; otherwise the index of the only loop is the number.
fn steps(
    code: &mut Writer,
    walk: &[Step],
    value: Expression,
    k: Option<&Expression>,
    body: &mut dyn FnMut(&mut Writer, Expression, &Expression),
) {
    let Some((step, rest)) = walk.split_first() else {
        if let Some(k) = k {
            body(code, value, k);
            let one = literal(1);
            let next = Expression::binary(Binary::Add, k.clone(), one);
            code.push(Statement::assign(k.clone(), next));
        }
        return;
    };
    match step {
        Step::Field(field) => steps(code, rest, value.member(field.clone()), k, body),
        Step::Payload(tag, field) => {
            let tag = literal(tag);
            let has = Expression::binary(Binary::Equal, value.clone().member("tag"), tag);
            let payload = match field {
                Some(field) => value.member("u").member(field.clone()),
                None => value,
            };
            let (inside, ()) = code.apart(|code| steps(code, rest, payload, k, body));
            code.push(Statement::when(has, inside));
        }
        Step::Array { data, count } => {
            each(code, data.clone(), count.clone(), rest, k, body);
        }
        Step::Elements(rank) => {
            let count = product(extents_of(&value, *rank));
            each(code, value.member("data"), count, rest, k, body);
        }
    }
}

fn each(
    code: &mut Writer,
    data: Expression,
    count: Expression,
    rest: &[Step],
    k: Option<&Expression>,
    body: &mut dyn FnMut(&mut Writer, Expression, &Expression),
) {
    code.each_index(count, |code, i| {
        let element = data.index(i.clone());
        if k.is_none() && rest.iter().all(|step| matches!(step, Step::Field(_))) {
            let fields = rest.iter().fold(element, |value, step| match step {
                Step::Field(field) => value.member(field.clone()),
                Step::Array { .. } | Step::Elements(_) | Step::Payload(..) => value,
            });
            body(code, fields, &i);
        } else {
            steps(code, rest, element, k, body);
        }
    });
}

/// Returns the extents of a vector of this rank, as fields of a value.
pub fn extents_of(value: &Expression, rank: u32) -> Vec<Expression> {
    if rank == 1 {
        return vec![value.clone().member("len")];
    }
    (0..rank)
        .map(|k| value.clone().member(format!("dim{k}")))
        .collect()
}
