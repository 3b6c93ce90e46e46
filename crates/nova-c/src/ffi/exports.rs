//! The names that a generated unit exports to its host: functions of entries, foreign functions, types
//! with the functions that free them, and macros. Finds names that would have two meanings.

use crate::context::ctype::{CTypes, Definition};
use crate::ffi::header::header_guard;
use crate::ffi::symbols::symbols;
use crate::ffi::top::Form;
use crate::names;
use nova_c_ast::ast::Item;
use nova_core::ir::Program;
use nova_core::{SumId, Type};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry as Slot;

/// The part of a program that a C name comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An entry, by its position in the program.
    Entry(usize),
    /// A foreign function, by its position in the program.
    Foreign(usize),
    /// A sum type.
    Sum(SumId),
    /// A structure of tuples or vectors, or the runtime; it is declared nowhere in the program.
    Generated,
}

/// A name of the generated C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The name.
    pub name: String,
    /// The part of the program that it comes from.
    pub origin: Origin,
    /// A description of the thing that has the name.
    pub purpose: String,
    /// The definition of a macro; macros with the same definition may be defined twice.
    value: Option<String>,
}

/// Two exports with the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clash {
    /// The export that has the name.
    pub first: Export,
    /// The export that cannot have it.
    pub second: Export,
}

/// Returns the clashes between the external names of a program's C: each repeated name with its first
/// use. `name` is the name of the generated files, `prefix` the prefix of the names of entries.
pub fn clashes(program: &Program, prefix: &str, name: &str) -> Vec<Clash> {
    let mut seen: BTreeMap<String, Export> = BTreeMap::new();
    let mut clashes = Vec::new();
    for export in exports(program, prefix, name) {
        if nova_runtime::is_defined(&export.name) {
            let of_the_runtime = "a part of the runtime or the C library";
            clashes.push(Clash {
                first: generated(export.name.clone(), of_the_runtime),
                second: export,
            });
            continue;
        }
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

/// Returns the external names of a program's C. Names that the user chooses freely come last, so that
/// clashes are reported for them.
fn exports(program: &Program, prefix: &str, name: &str) -> Vec<Export> {
    let mut types = CTypes::new(&program.sums);
    for ty in boundary_types(program) {
        Form::of(&mut types, ty);
    }
    let mut list = vec![generated(
        header_guard(prefix, name),
        "the guard of the header",
    )];
    list.extend(types.definitions.iter().flat_map(of_definition));
    for (k, foreign) in program.foreigns.iter().enumerate() {
        list.push(Export {
            name: names::foreign(&foreign.name),
            origin: Origin::Foreign(k),
            purpose: format!("the foreign function `{}`", foreign.name),
            value: None,
        });
    }
    let (functions, others): (Vec<_>, Vec<_>) = entry_names(program, prefix)
        .into_iter()
        .partition(|(is_function, _)| *is_function);
    list.extend(
        others
            .into_iter()
            .chain(functions)
            .map(|(_, export)| export),
    );
    list
}

/// Returns the external names of the entries; `true` for the function of the entry itself.
fn entry_names(program: &Program, prefix: &str) -> Vec<(bool, Export)> {
    let mut list = Vec::new();
    for (k, entry) in program.entries.iter().enumerate() {
        let symbols = symbols(prefix, &entry.name);
        let name = &entry.name;
        for (is_function, symbol, purpose) in [
            (true, symbols.function, format!("the entry `{name}`")),
            (
                false,
                symbols.error,
                format!("the message of the entry `{name}`"),
            ),
            (
                false,
                symbols.device,
                format!("the entry `{name}` for arrays on a device"),
            ),
            (
                false,
                symbols.free,
                format!("what frees results of the entry `{name}`"),
            ),
        ] {
            let export = Export {
                name: symbol,
                origin: Origin::Entry(k),
                purpose,
                value: None,
            };
            list.push((is_function, export));
        }
    }
    list
}

/// Returns the external names of the entries that libraries of common hosts define as well.
pub fn taken_by_libraries(program: &Program, prefix: &str) -> Vec<Export> {
    let names = entry_names(program, prefix).into_iter();
    let exports = names.map(|(_, export)| export);
    exports
        .filter(|export| names::is_of_a_library(&export.name))
        .collect()
}

/// Returns the types that cross the FFI boundary.
fn boundary_types(program: &Program) -> Vec<&Type> {
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

/// Returns the names that a definition of the header introduces, including its guard.
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
