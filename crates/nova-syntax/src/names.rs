//! Names that a program may declare only once: in a file, and in a file with all its imports.
//!
//! Types have names of their own, and so have entries, which no expression can mention.
//! Constructors, foreign functions and definitions share theirs, since expressions use all three
//! alike; a binding inside an expression may hide any of them. Definitions of the standard library share names
//! among themselves only, since each of a program's own names hides one of them.

use crate::ast::{Entry, Name, Program, TypeDefinitionKind, TypeKind};
use nova_diag::{Diagnostic, FileId, Span, codes};
use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;

/// A kind of declaration.
struct Kind {
    /// Its name in messages.
    noun: &'static str,
    /// The names that a program declares in this way.
    names: for<'a> fn(&'a Program) -> Vec<&'a Name>,
}

/// The kinds of declaration. Those of one row share their names.
const SPACES: [&[Kind]; 4] = [
    &[Kind {
        noun: "type",
        names: |program| program.types.iter().map(|d| &d.name).collect(),
    }],
    &[
        Kind {
            noun: "constructor",
            names: constructors,
        },
        Kind {
            noun: "foreign function",
            names: |program| program.foreigns.iter().map(|f| &f.name).collect(),
        },
        Kind {
            noun: "definition",
            names: |program| definitions(program, false),
        },
    ],
    &[Kind {
        noun: "definition of the library",
        names: |program| definitions(program, true),
    }],
    &[Kind {
        noun: "entry",
        names: |program| program.entries.iter().map(|e| &e.name).collect(),
    }],
];

fn definitions(program: &Program, library: bool) -> Vec<&Name> {
    let definitions = program.definitions.iter();
    let chosen = definitions.filter(|definition| definition.library == library);
    chosen.map(|definition| &definition.name).collect()
}

/// A name with the kind of its declaration.
#[derive(Clone, Copy)]
struct Declared<'a> {
    name: &'a Name,
    noun: &'static str,
}

/// Returns an error for every declaration whose name an earlier one has.
///
/// Files are ordered as in `files`, and declarations within a file by their places.
pub fn check_names(program: &Program, files: &[FileId]) -> Vec<Diagnostic> {
    let ranks: HashMap<FileId, usize> = files.iter().copied().zip(0..).collect();
    let place = |span: Span| (ranks.get(&span.file).copied(), span.file, span.start);
    let mut diagnostics = Vec::new();
    for kinds in SPACES {
        let mut declared: Vec<Declared<'_>> = Vec::new();
        for Kind { noun, names } in kinds {
            let names = names(program).into_iter();
            declared.extend(names.map(|name| Declared { name, noun }));
        }
        declared.sort_by_key(|declared| place(declared.name.span));
        diagnostics.extend(clashes(declared));
    }
    for Entry { inputs, .. } in &program.entries {
        diagnostics.extend(repeated(inputs.iter().map(|(name, _)| name), "input"));
    }
    diagnostics
}

/// Returns an error for all but the first of equal names. `noun` is the kind of thing they name.
pub(crate) fn repeated<'a>(
    names: impl IntoIterator<Item = &'a Name>,
    noun: &'static str,
) -> Vec<Diagnostic> {
    let names = names.into_iter();
    clashes(names.map(|name| Declared { name, noun }))
}

fn clashes<'a>(declared: impl IntoIterator<Item = Declared<'a>>) -> Vec<Diagnostic> {
    let mut known: HashMap<&str, Declared<'_>> = HashMap::new();
    let mut diagnostics = Vec::new();
    for again in declared {
        match known.entry(&again.name.text) {
            Slot::Vacant(slot) => {
                slot.insert(again);
            }
            Slot::Occupied(first) => diagnostics.push(clash(*first.get(), again)),
        }
    }
    diagnostics
}

/// Returns the error about two declarations of one name.
fn clash(first: Declared<'_>, again: Declared<'_>) -> Diagnostic {
    let name = &again.name.text;
    let (message, labels) = if first.noun == again.noun {
        let message = format!("the {} `{name}` is given twice", again.noun);
        (message, ["first here", "here again"].map(String::from))
    } else {
        let (one, other) = (first.noun, again.noun);
        let message = format!("`{name}` names both a {one} and a {other}");
        (message, [one, other].map(|noun| format!("the {noun}")))
    };
    let [at_first, at_again] = labels;
    Diagnostic::error(codes::DUPLICATE_NAME, again.name.span, message)
        .label(at_again)
        .also(first.name.span, at_first)
}

/// Returns an error for every type and constructor that is declared with the name of a node type or
/// a node constructor.
pub fn check_node_names(program: &Program) -> Vec<Diagnostic> {
    let types = program.types.iter().map(|declared| &declared.name);
    let written = program.type_arena.iter().filter_map(|ty| match &ty.kind {
        TypeKind::Sum(constructors) => Some(constructors),
        _others => None,
    });
    let written = written.flatten().map(|(name, _)| name);
    let constructors = constructors(program).into_iter().chain(written);
    let types = types.filter_map(|name| node_name(name, "a node type"));
    let constructors = constructors.filter_map(|name| node_name(name, "a node constructor"));
    types.chain(constructors).collect()
}

/// Returns the error for a declared name that ends in `*`, as the names of node types and node
/// constructors do. `what` is the kind of thing they name.
pub(crate) fn node_name(name: &Name, what: &str) -> Option<Diagnostic> {
    let plain = name.text.strip_suffix('*')?;
    if plain.is_empty() {
        return None;
    }
    let message = format!("`{}` is the name of {what}", name.text);
    let help = format!(
        "a name that ends in `*` belongs to the nodes of a recursive type, which need no \
         declaration; choose another name, such as `{}_1`",
        plain.trim_end_matches('*')
    );
    Some(Diagnostic::error(codes::RESERVED_WORD, name.span, message).help(help))
}

fn constructors(program: &Program) -> Vec<&Name> {
    let sums = program.types.iter().filter_map(|d| match &d.kind {
        TypeDefinitionKind::Sum(constructors) => Some(constructors),
        TypeDefinitionKind::Synonym(_) => None,
    });
    sums.flatten().map(|(name, _)| name).collect()
}
