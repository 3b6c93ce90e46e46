//! Clashes between the names of a program and of its imports, reported at both places.

use nova_diag::{Diagnostic, FileId, Span, codes};
use nova_syntax::ast::{Definition, Entry, Name, Program};
use nova_syntax::names::check_names;
use std::collections::{HashMap, HashSet};

/// Returns the errors about names that several files declare. `files` are those of the program,
/// each import before the files that import it. `reported` has the errors about each file alone.
pub fn clashes(program: &Program, files: &[FileId], reported: &[Diagnostic]) -> Vec<Diagnostic> {
    let duplicates = reported.iter().filter(|d| d.code == codes::DUPLICATE_NAME);
    let known: HashSet<Span> = duplicates.map(|d| d.primary.span).collect();
    let clashes = check_names(program, files).into_iter();
    let clashes = clashes.filter(|clash| !known.contains(&clash.primary.span));
    let help = "a file and its imports share their names: rename one of the two";
    clashes.map(|clash| clash.help(help)).collect()
}

/// Returns warnings about entries and inputs that are named like an imported definition. The name
/// then refers to the definition.
///
/// Inputs in an `(entry …)` hide definitions, as bindings do, which is no surprise.
pub fn hidden<'d>(
    entries: &[Entry],
    imported: impl Iterator<Item = &'d Definition>,
) -> Vec<Diagnostic> {
    let imported = imported.map(|definition| &definition.name);
    let imported: HashMap<&str, Span> = imported.map(|name| (&*name.text, name.span)).collect();
    let warning = |name: &Name, noun: &str| {
        let definition = *imported.get(&*name.text)?;
        let text = &name.text;
        let message = format!("the {noun} `{text}` is named like an imported definition");
        let diagnostic = Diagnostic::warning(codes::DUPLICATE_NAME, name.span, message)
            .label(format!("`{text}` does not mean this {noun}"))
            .also(definition, "but this definition");
        Some(diagnostic.help("choose another name"))
    };
    let mut warnings = Vec::new();
    for entry in entries {
        if entry.explicit {
            warnings.extend(warning(&entry.name, "entry"));
        } else {
            let inputs = entry.inputs.iter();
            warnings.extend(inputs.filter_map(|(name, _)| warning(name, "input")));
        }
    }
    warnings
}
