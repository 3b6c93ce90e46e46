//! The names that a generated unit shows to its host, and those among them that would mean two
//! things: functions of entries, foreign functions, types with what frees them, and macros.

use crate::ast::Item;
use crate::border::callers::device_symbol;
use crate::border::ctype::{CTypes, Definition};
use crate::border::{entry, top::Form};
use crate::header::header_guard;
use crate::names;
use nova_core::ir::Program;
use nova_core::{SumId, Type};
use std::collections::btree_map::Entry as Slot;
use std::collections::{BTreeMap, BTreeSet};

/// What of a program a C name comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An entry, by its position in the program.
    Entry(usize),
    /// A foreign function, by its position in the program.
    Foreign(usize),
    /// A sum type.
    Sum(SumId),
    /// A structure of tuples or vectors, or the runtime; nobody declares it.
    Generated,
}

/// A name of the generated C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The name.
    pub name: String,
    /// Where it comes from.
    pub origin: Origin,
    /// What it is called for, in words.
    pub purpose: String,
    /// What a macro stands for; macros that stand for the same may be defined twice.
    value: Option<String>,
}

/// Two things that would have one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clash {
    /// The one that has the name.
    pub first: Export,
    /// The one that cannot have it.
    pub second: Export,
}

/// The clashes between the external names of a program's C: of each name those with its first use.
/// `name` is that of the generated files.
pub fn clashes(program: &Program, name: &str) -> Vec<Clash> {
    let mut seen: BTreeMap<String, Export> = BTreeMap::new();
    let mut clashes = Vec::new();
    for export in exports(program, name) {
        match seen.entry(export.name.clone()) {
            Slot::Vacant(slot) => {
                slot.insert(export);
            }
            Slot::Occupied(slot) => {
                let first = slot.get();
                if first.value.is_none() || first.value != export.value {
                    clashes.push(Clash {
                        first: first.clone(),
                        second: export,
                    });
                }
            }
        }
    }
    clashes
}

/// The external names of a program's C. Those that the user chooses freely come last, so that it is
/// them who clash.
fn exports(program: &Program, name: &str) -> Vec<Export> {
    let mut types = CTypes::new(&program.sums);
    for ty in border_types(program) {
        Form::of(&mut types, ty);
    }
    let runtime: BTreeSet<&str> = nova_runtime::names().collect();
    let mut list: Vec<Export> = runtime
        .into_iter()
        .map(|name| generated(name.to_string(), "a part of the runtime or the C library"))
        .collect();
    list.push(generated(header_guard(name), "the guard of the header"));
    list.extend(types.definitions.iter().flat_map(of_definition));
    for (k, foreign) in program.foreigns.iter().enumerate() {
        list.push(Export {
            name: names::foreign(&foreign.name),
            origin: Origin::Foreign(k),
            purpose: format!("the foreign function `{}`", foreign.name),
            value: None,
        });
    }
    let symbols = program.entries.iter().map(|e| entry::symbols(&e.name));
    let of_entries = program.entries.iter().zip(symbols).enumerate();
    let (functions, others): (Vec<Export>, Vec<[Export; 2]>) = of_entries
        .map(|(k, (entry, (symbol, error)))| {
            let export = |name: String, purpose: String| Export {
                name,
                origin: Origin::Entry(k),
                purpose,
                value: None,
            };
            (
                export(symbol.clone(), format!("the entry `{}`", entry.name)),
                [
                    export(error, format!("the message of the entry `{}`", entry.name)),
                    export(
                        device_symbol(&symbol),
                        format!("the entry `{}` for arrays on a device", entry.name),
                    ),
                ],
            )
        })
        .unzip();
    list.extend(others.into_iter().flatten());
    list.extend(functions);
    list
}

/// The types that pass the border.
fn border_types(program: &Program) -> Vec<&Type> {
    let mut types = Vec::new();
    for entry in &program.entries {
        types.extend(entry.inputs.iter().map(|v| &program.variable(*v).ty));
        types.push(&program.expression(entry.body).ty);
    }
    for foreign in &program.foreigns {
        types.extend(&foreign.parameters);
        types.push(&foreign.result);
    }
    types
}

fn generated(name: String, purpose: &str) -> Export {
    Export {
        name,
        origin: Origin::Generated,
        purpose: purpose.to_string(),
        value: None,
    }
}

/// The names that a definition of the header gives, its guard among them.
fn of_definition(definition: &Definition) -> Vec<Export> {
    let (origin, whose) = match &definition.sum {
        Some((id, name)) => (Origin::Sum(*id), format!("the type `{name}`")),
        None => (
            Origin::Generated,
            format!("the structure nova_{}", definition.name),
        ),
    };
    let export = |name: String, purpose: String, value: Option<String>| Export {
        name,
        origin,
        purpose,
        value,
    };
    let guard = definition.guard();
    let mut list = vec![export(guard, format!("the guard of {whose}"), None)];
    for item in &definition.items {
        match item {
            Item::Struct { name, .. } => list.push(export(name.to_string(), whose.clone(), None)),
            Item::Function(function) => list.push(export(
                function.name.to_string(),
                format!("what frees {whose}"),
                None,
            )),
            Item::Directive(line) => {
                if let Some(("define", definition)) = line.split_once(' ') {
                    let (name, value) = definition.split_once(' ').unwrap_or((definition, ""));
                    let purpose = format!("a constructor of {whose}");
                    list.push(export(name.to_string(), purpose, Some(value.to_string())));
                }
            }
            Item::Variable { .. } | Item::Text(_) | Item::Comment(_) | Item::Blank => {}
        }
    }
    list
}
