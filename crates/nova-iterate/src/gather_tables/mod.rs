//! Gather tables: gathers that the iterations of a loop repeat are made once, before the loop.
//!
//! Alignments of sequences read a matrix of scores at `(a ! i, b ! j)`, for all `j` in each iteration `i`. What
//! `b ! j` selects is the same in all iterations. So a table gets a row for each value that `a ! i` may have, and the
//! rows are read from front to back (a query profile). Checks that ask the same of one vector in each iteration are
//! made for the whole vector. The loop is copied: one version has the table and no such checks. The other one is left
//! for matrices with more rows than the loop has iterations, for tables that are too large, and for failing checks.
//!
//! [`find`] recognises such loops, [`emit`] writes them.

mod emit;
mod find;

use nova_diag::deep;
use nova_flat::ir::{Body, Program};
use nova_flat::visit::{bodies_mut, each_function};
use nova_plan::{Choice, Plan};
use nova_schedule::Parallelism;
use nova_schedule::Writer;

/// Makes tables of the gathers that loops repeat.
pub fn run(program: &mut Program, plan: &Plan) {
    each_function(program, |program, body| rewrite(program, plan, body));
}

fn rewrite(program: &mut Program, plan: &Plan, body: &mut Body) {
    let mut made = Vec::with_capacity(body.statements.len());
    for mut statement in std::mem::take(&mut body.statements) {
        match find::gather(program, &statement) {
            Some(gather) if plan.allows(&statement.place, Choice::GatherTable) => {
                let place = statement.place.clone();
                let mut code = Writer::new(program, place, Parallelism::DEFAULT);
                emit::version(&mut code, statement, &gather);
                made.append(&mut code.out);
            }
            Some(_) | None => {
                bodies_mut(&mut statement.expression, &mut |inner| {
                    deep(|| rewrite(program, plan, inner));
                });
                made.push(statement);
            }
        }
    }
    body.statements = made;
}
