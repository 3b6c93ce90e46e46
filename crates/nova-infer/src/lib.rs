//! Translation of the syntax tree to Core: scopes, type inference, monomorphisation (nova.txt §3.3,
//! §4.1).
//!
//! The modules run in this order. `recursion` moves every `mu` over a lambda. `declarations` reads
//! the types, including those in `written`. `resolve` finds the referent of every name. `inference`
//! and its neighbouring modules infer the types: Hindley–Milner on levels, number classes as
//! constraints of variables, obligations for demands that must wait. Each form of expression gives
//! its equations and demands to the `solver`, which reports those without a solution. `mono` copies
//! every generalised binding for each of its types and writes Core. Parts of the syntax tree that could
//! not be read have an unknown type, and cause no messages. `clean` finds the entries that can be
//! translated nevertheless.

mod application;
mod argument_hints;
mod attempts;
mod bindings;
mod blocks;
mod builtin_application;
mod builtins;
mod calls;
mod cases;
mod clean;
mod compare;
mod convert;
mod declarations;
mod declare;
mod definitions;
mod demands;
mod endless;
mod expressions;
mod generalise;
mod group_reports;
mod hints;
mod index;
mod inference;
mod links;
mod lints;
mod literals;
mod messages;
mod mono;
mod name_graph;
mod node_places;
mod node_types;
mod obligations;
mod reasons;
mod recursion;
mod recursive_demands;
mod recursive_forms;
mod recursive_reports;
mod reports;
mod resolve;
mod scheme;
mod show;
mod signature;
mod solver;
mod source;
mod suggest;
mod table_demands;
mod types;
mod unify;
mod values;
mod written;

use nova_core::ir;
use nova_diag::{Diagnostic, SourceMap, codes};
use nova_syntax::ast;
use std::sync::Arc;

pub use builtins::{builtin_names, builtin_type};
pub use calls::call_of as builtin_call;
pub use index::{Index, Referent, TypeText};

/// The result of inference for a program.
pub struct Checked {
    /// The program in Core; `None` when there are errors.
    pub program: Option<ir::Program>,
    /// Errors and warnings, in the order of their places.
    pub diagnostics: Vec<Diagnostic>,
    /// The type of each entry.
    pub types: Vec<EntryType>,
}

/// The type of an entry as users read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryType {
    /// The entry's name.
    pub name: Arc<str>,
    /// Its inputs and result: `vector float -> vector float -> float`.
    pub text: String,
}

/// Infers the types of a program and translates it to Core. All independent errors are reported.
pub fn infer(program: &ast::Program, sources: &SourceMap) -> Checked {
    run(program, sources, false).0
}

/// Does the work of [`infer`], and returns the index of the program for editors as well. It has what could be
/// found out about a program with errors, too.
pub fn infer_with_index(program: &ast::Program, sources: &SourceMap) -> (Checked, Option<Index>) {
    run(program, sources, true)
}

fn run(written: &ast::Program, sources: &SourceMap, indexed: bool) -> (Checked, Option<Index>) {
    let rewritten = recursion::over_lambdas(written);
    let program = rewritten.as_ref().unwrap_or(written);
    let mut types = types::Types::new();
    let mut diagnostics = Vec::new();
    let declarations = declarations::Declarations::new(program, &mut types, &mut diagnostics);
    let resolved = resolve::resolve(program, &declarations, &mut diagnostics);
    let source = source::Source {
        program,
        sources,
        declarations: &declarations,
        resolved: &resolved,
    };
    let mut inference = inference::Inference::new(source, types, diagnostics);
    inference.entries();
    inference.check_literals();
    inference.solver.recursive().report_no_constructors();
    inference.solver.open_types();
    inference.concrete_annotations();
    let types = inference.entry_types();
    let core = mono::monomorphise(&mut inference);
    let is_whole = program.is_whole();
    let core = core.filter(|_| is_whole && !inference.solver.has_errors());
    if !inference.solver.has_errors() {
        let warnings = lints::warnings(source);
        inference.solver.diagnostics.extend(warnings);
    }
    let diagnostics = messages_of(&mut inference.solver);
    let inferred = indexed.then(|| index::Inferred::of(inference));
    let index = inferred.map(|inferred| {
        // The names are those of the program as it is written.
        let resolved = match &rewritten {
            Some(_) => resolve::resolve(written, &declarations, &mut Vec::new()),
            None => resolved,
        };
        index::Index::new(written, declarations, resolved, inferred)
    });
    let checked = Checked {
        program: core,
        diagnostics,
        types,
    };
    (checked, index)
}

/// Takes the messages of a solver, in the order of their places.
fn messages_of(solver: &mut solver::Solver<'_>) -> Vec<Diagnostic> {
    let misplaced = std::mem::take(&mut solver.misplaced);
    let mut diagnostics = std::mem::take(&mut solver.diagnostics);
    diagnostics.retain(|diagnostic| {
        let is_type = [codes::TYPE_MISMATCH, codes::WRONG_CLASS].contains(&diagnostic.code);
        !(is_type && misplaced.contains(&diagnostic.primary.span))
    });
    diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span);
    // A type that several parts of the program use causes one message.
    diagnostics.dedup_by(|a, b| a.primary.span == b.primary.span && a.message == b.message);
    diagnostics
}
