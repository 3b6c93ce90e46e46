//! Mem back to Flat: drops what belongs to memory.

use crate::MARK;
use nova_diag::deep;
use nova_flat::ir::{Atom, Body, Expression, Program, Statement};
use nova_flat::print::print;
use nova_flat::visit::{Substitution, bodies_mut, substitute};

/// The program of Flat that a program of Mem says where to hold (funmem.txt fig. 9).
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

/// Takes the mark of what belongs to memory from the names of a program of Flat.
pub(crate) fn unmark(program: &mut Program) {
    for variable in &mut program.variables {
        if variable.name.starts_with(MARK) {
            variable.name = variable.name.trim_start_matches(MARK).into();
        }
    }
}

/// The text of what a program of Mem must erase to when it was made from this program of Flat.
pub fn erased_text(flat: &Program) -> String {
    if !flat.variables.iter().any(|v| v.name.starts_with(MARK)) {
        return print(flat);
    }
    let mut flat = flat.clone();
    unmark(&mut flat);
    print(&flat)
}

/// Fails where a program of Mem does not erase to this text (architecture, invariant 8).
///
/// # Errors
/// A sentence that says so.
pub fn keeps_meaning(program: &Program, erased: &str) -> Result<(), String> {
    match print(&erase(program)) == erased {
        true => Ok(()),
        false => Err("its result does not erase to the program without memory".to_string()),
    }
}

/// Removes what belongs to memory from a body; `copies` learns what inserted copies stand for.
fn strip(body: &mut Body, program: &Program, copies: &mut Substitution) {
    let statements = std::mem::take(&mut body.statements);
    for mut statement in statements {
        if belongs_to_memory(&statement, program) {
            if let (Expression::Copy(source) | Expression::Unique(source), [copy]) =
                (&statement.expression, statement.pattern.as_slice())
            {
                // A copy of a copy stands for what the first one does.
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

/// True if a statement is an allocation, the size of one, or an inserted copy or sole holder.
fn belongs_to_memory(statement: &Statement, program: &Program) -> bool {
    let marked = |v: &nova_flat::ir::Variable| program.variable(*v).name.starts_with(MARK);
    statement.expression.is_allocation()
        || (!statement.pattern.is_empty() && statement.pattern.iter().all(marked))
}
