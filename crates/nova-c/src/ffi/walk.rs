//! Loops over the values inside of C values: the elements of arrays, and of arrays inside of these.

use crate::context::expressions::{int64, product};
use crate::context::function::FunctionEmitter;
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

impl FunctionEmitter<'_, '_> {
    /// Emits loops over the values of a walk. `body` gets each value and its number.
    pub fn walk(
        &mut self,
        walk: &[Step],
        body: &mut dyn FnMut(&mut Self, Expression, &Expression),
    ) {
        let single = match walk {
            [Step::Array { .. }, rest @ ..] => {
                rest.iter().all(|step| matches!(step, Step::Field(_)))
            }
            _ => false,
        };
        let nothing = Expression::literal("0");
        if single {
            self.steps(walk, nothing, None, body);
        } else {
            let k = self.variable(int64(), "k", nothing.clone());
            self.steps(walk, nothing, Some(&k), body);
        }
    }

    /// Counts the values in `k` if it is given; otherwise the index of the only loop is the number.
    fn steps(
        &mut self,
        walk: &[Step],
        value: Expression,
        k: Option<&Expression>,
        body: &mut dyn FnMut(&mut Self, Expression, &Expression),
    ) {
        let Some((step, rest)) = walk.split_first() else {
            if let Some(k) = k {
                body(self, value, k);
                let one = Expression::literal("1");
                let next = Expression::binary(Binary::Add, k.clone(), one);
                self.push(Statement::assign(k.clone(), next));
            }
            return;
        };
        match step {
            Step::Field(field) => self.steps(rest, value.member(field.clone()), k, body),
            Step::Payload(tag, field) => {
                let tag = Expression::literal(tag.to_string());
                let has = Expression::binary(Binary::Equal, value.clone().member("tag"), tag);
                let payload = match field {
                    Some(field) => value.member("u").member(field.clone()),
                    None => value,
                };
                let (inside, ()) = self.apart(|emitter| emitter.steps(rest, payload, k, body));
                self.push(Statement::when(has, inside));
            }
            Step::Array { data, count } => {
                self.each(data.clone(), count.clone(), rest, k, body);
            }
            Step::Elements(rank) => {
                let count = product(extents_of(&value, *rank));
                self.each(value.member("data"), count, rest, k, body);
            }
        }
    }

    fn each(
        &mut self,
        data: Expression,
        count: Expression,
        rest: &[Step],
        k: Option<&Expression>,
        body: &mut dyn FnMut(&mut Self, Expression, &Expression),
    ) {
        let index = self.fresh("i");
        let i = Expression::Name(index.clone());
        let element = data.index(i.clone());
        let (inside, ()) = self.apart(|emitter| {
            if k.is_none() && rest.iter().all(|step| matches!(step, Step::Field(_))) {
                let fields = rest.iter().fold(element, |value, step| match step {
                    Step::Field(field) => value.member(field.clone()),
                    Step::Array { .. } | Step::Elements(_) | Step::Payload(..) => value,
                });
                body(emitter, fields, &i);
            } else {
                emitter.steps(rest, element, k, body);
            }
        });
        self.push(Statement::For {
            ty: int64(),
            variable: index,
            count,
            body: inside.into(),
        });
    }
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
