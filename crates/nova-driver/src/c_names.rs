//! Clashes between the C names of a program, reported at the places in the program that choose
//! them.

use nova_c::ffi::exports::{Clash, Origin, clashes, taken_by_libraries};
use nova_core::ir::Program;
use nova_diag::{Diagnostic, Span, codes};
use nova_syntax::ast;

/// Returns a diagnostic for every clash between the external names of the program's C. `name` is
/// the name of the generated files, `prefix` the prefix of the names of entries.
pub fn check(tree: &ast::Program, program: &Program, prefix: &str, name: &str) -> Vec<Diagnostic> {
    let clashes = clashes(program, prefix, name);
    let diagnostics = clashes.iter();
    diagnostics
        .filter_map(|clash| diagnostic(tree, program, clash))
        .collect()
}

/// Returns a warning for every entry with an external name that the C library, POSIX or a
/// compiler's runtime defines as well. A program linked with this C may call the one where the
/// other is meant.
pub fn taken(tree: &ast::Program, program: &Program, prefix: &str) -> Vec<Diagnostic> {
    let taken = taken_by_libraries(program, prefix);
    let warning = |export: &nova_c::ffi::exports::Export| {
        let place = declared(tree, program, export.origin)?;
        let message = format!(
            "the C name `{}`, {}, is also one of the C library, POSIX or a compiler's runtime: one of \
             the two may be called where the other is meant",
            export.name, export.purpose
        );
        let help =
            "put a prefix before all external names, as in `--prefix my_`, or choose another name";
        Some(Diagnostic::warning(codes::BAD_ENTRY_NAME, place, message).help(help))
    };
    taken.iter().filter_map(warning).collect()
}

/// Returns the diagnostic of a clash, at the later of the two declarations where the program can
/// change that one.
fn diagnostic(tree: &ast::Program, program: &Program, clash: &Clash) -> Option<Diagnostic> {
    let Clash { first, second } = clash;
    let spans = [second, first].map(|export| declared(tree, program, export.origin));
    let (place, other) = match spans {
        [Some(second), first] => (second, first),
        [None, first] => (first?, None),
    };
    let message = format!(
        "the C name `{}` would stand for two things: {} and {}",
        second.name, first.purpose, second.purpose
    );
    let diagnostic = Diagnostic::error(codes::BAD_ENTRY_NAME, place, message);
    let diagnostic = match other {
        Some(other) if other != place => diagnostic
            .label("this name")
            .also(other, "clashes with this one"),
        Some(_) | None => diagnostic,
    };
    Some(diagnostic.help(match is_file_name(tree, second.origin) {
        true => "choose another name for the file: it names the function",
        false => "choose another name",
    }))
}

/// True if a C name comes from an entry that is named after its file.
fn is_file_name(tree: &ast::Program, origin: Origin) -> bool {
    match origin {
        Origin::Entry(_) => tree.entries.iter().any(|entry| !entry.explicit),
        Origin::Foreign(_) | Origin::Sum(_) | Origin::Generated => false,
    }
}

/// Returns the place where the program declares the origin of a C name.
fn declared(tree: &ast::Program, program: &Program, origin: Origin) -> Option<Span> {
    let span = |name: &ast::Name| name.span;
    match origin {
        Origin::Entry(k) => {
            let name = &program.entries.get(k)?.name;
            let mut names = tree.entries.iter().map(|entry| &entry.name);
            names.find(|n| n.text == *name).map(span)
        }
        Origin::Foreign(k) => {
            let name = &program.foreigns.get(k)?.name;
            let mut names = tree.foreigns.iter().map(|foreign| &foreign.name);
            names.find(|n| n.text == *name).map(span)
        }
        Origin::Sum(id) => {
            let name = &program.sums.get(id.0 as usize)?.name;
            let mut names = tree.types.iter().map(|definition| &definition.name);
            names.find(|n| n.text == *name).map(span)
        }
        Origin::Generated => None,
    }
}
