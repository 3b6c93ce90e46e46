//! Temporal blocking: a loop takes several steps of an array in one pass over it, in place.
//!
//! A step computes each element from its own old value, and from slices of the old array: a row and a column of a
//! matrix, or single elements. Slices have fewer dimensions than the array. So they are copied first, and the array
//! is changed in place. The slices of a later step are known before the array is changed: the earlier steps of the
//! block are taken for their elements alone. Then one pass over the array takes all steps of the block for each
//! element. The values and their order stay the same, to the bit.
//!
//! [`find`] recognises such loops, [`emit`] writes them. [`trailing`] does both for steps that change a part of the
//! array only, and begin further on in each step.

mod emit;
mod find;
mod trailing;

use find::Naturals;
use nova_diag::deep;
use nova_flat::ir::{Body, Program};
use nova_flat::visit::{bodies_mut, each_function};
use nova_plan::{Choice, Plan};
use nova_schedule::Parallelism;
use nova_schedule::Writer;

/// Takes several steps at once in all loops that permit it.
pub fn run(program: &mut Program, plan: &Plan) {
    each_function(program, |program, body| {
        let natural = find::naturals(body);
        rewrite(program, (plan, &natural), body);
    });
}

fn rewrite(program: &mut Program, (plan, natural): (&Plan, &Naturals), body: &mut Body) {
    let mut made = Vec::with_capacity(body.statements.len());
    for mut statement in std::mem::take(&mut body.statements) {
        match find::steps(program, natural, &statement) {
            Some(steps) if plan.allows(&statement.place, Choice::Blocking) => {
                let place = statement.place.clone();
                let mut code = Writer::new(program, place, Parallelism::DEFAULT);
                emit::blocked(&mut code, &statement, &steps);
                made.append(&mut code.out);
            }
            None if let Some(steps) = trailing::steps(program, &statement)
                && plan.allows(&statement.place, Choice::Blocking) =>
            {
                let place = statement.place.clone();
                let mut code = Writer::new(program, place, Parallelism::DEFAULT);
                trailing::emit::blocked(&mut code, &statement, &steps);
                made.append(&mut code.out);
            }
            Some(_) | None => {
                bodies_mut(&mut statement.expression, &mut |inner| {
                    deep(|| rewrite(program, (plan, natural), inner));
                });
                made.push(statement);
            }
        }
    }
    body.statements = made;
}
