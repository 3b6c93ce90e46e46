//! Erasure from Mem to Flat: drops everything that belongs to memory.

use crate::MARK;
use nova_diag::deep;
use nova_flat::ir::{Atom, Body, Expression, Program, Statement};
use nova_flat::print::print;
use nova_flat::visit::{Substitution, bodies_mut, substitute};

/// Returns the Flat program that remains when the memory of a Mem program is dropped (funmem.txt fig.
/// 9).
pub fn erase(program: &Program) -> Program {
    let mut erased = program.clone();
    for variable in &mut erased.variables {
        variable.memory = None;
    }
    let mut functions = std::mem::take(&mut erased.functions);
    for function in &mut functions {
        function.takes = false;
        let mut copies = Substitution::default();
        strip(&mut function.body, &erased, &mut copies);
        substitute(&mut erased, &mut function.body, &copies);
    }
    erased.functions = functions;
    erased
}

/// Removes [`MARK`] from the names of a program of Flat, since the mark is reserved for memory.
pub(crate) fn unmark(program: &mut Program) {
    for variable in &mut program.variables {
        if variable.name.starts_with(MARK) {
            variable.name = variable.name.trim_start_matches(MARK).into();
        }
    }
}

/// Returns the text that a program of Mem made from `flat` must erase to.
pub fn erased_text(flat: &Program) -> String {
    if !flat.variables.iter().any(|v| v.name.starts_with(MARK)) {
        return print(flat);
    }
    let mut flat = flat.clone();
    unmark(&mut flat);
    print(&flat)
}

/// Tests whether a program of Mem erases to this text (architecture, invariant 8).
///
/// # Errors A message, if it does not.
pub fn keeps_meaning(program: &Program, erased: &str) -> Result<(), String> {
    match print(&erase(program)) == erased {
        true => Ok(()),
        false => Err("its result does not erase to the program without memory".to_string()),
    }
}

/// Removes the statements that belong to memory from a body. `copies` maps each inserted copy to its
/// source.
fn strip(body: &mut Body, program: &Program, copies: &mut Substitution) {
    let statements = std::mem::take(&mut body.statements);
    for mut statement in statements {
        if belongs_to_memory(&statement, program) {
            if let (Expression::Copy(source) | Expression::Unique(source), [copy]) =
                (&statement.expression, statement.pattern.as_slice())
            {
                // A copy of a copy stands for the same array as the first copy.
                let source = copies.variable(*source);
                copies.insert(*copy, Atom::Variable(source));
            }
            continue;
        }
        bodies_mut(&mut statement.expression, &mut |inner| {
            deep(|| strip(inner, program, copies));
        });
        body.statements.push(statement);
    }
}

/// True if a statement is an allocation, computes the size of one, or is an inserted copy or an
/// inserted `Unique`.
fn belongs_to_memory(statement: &Statement, program: &Program) -> bool {
    let marked = |v: &nova_flat::ir::Variable| program.variable(*v).name.starts_with(MARK);
    statement.expression.is_allocation()
        || (!statement.pattern.is_empty() && statement.pattern.iter().all(marked))
}
