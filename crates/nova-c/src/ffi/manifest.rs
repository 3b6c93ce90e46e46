//! The manifest: the entries of a program and their types as JSON, for bindings to other languages
//! (docs/manifest.md). Types of NOVA and of C stand there twice, as text and as data.

use crate::context::ctype::Definition;
use crate::context::unit::Unit;
use crate::dialect::Compiler;
use crate::ffi::interface::EntryInterface;
use crate::ffi::{callers, release};
use nova_c_ast::ast::{Field, Function, Item, Parameter, Type as CType};
use nova_c_ast::print::type_text as c_type_text;
use nova_core::Type;
use nova_core::types_text::type_text;
use nova_diag::{deep, json::print};
use serde_json::{Value, json};

/// The version of the interface of generated C (docs/versions.md). It grows when a binding that was written for the
/// version before no longer works.
const INTERFACE: u32 = 1;

/// Returns the text of the manifest.
pub fn manifest(unit: &Unit, interfaces: &[EntryInterface], foreigns: &[Function]) -> String {
    let name = &unit.options.name;
    let entries = interfaces.iter().map(|interface| entry(unit, interface));
    let types = unit.types.definitions.iter().map(definition);
    let foreigns = unit
        .program
        .foreigns
        .iter()
        .zip(foreigns)
        .map(|(foreign, function)| {
            json!({
                "name": &*foreign.name,
                "kind": foreign.kind.word().unwrap_or("plain"),
                "symbol": &*function.name,
                "parameters": parameters(&function.parameters),
            })
        });
    let one_thread = unit.options.one_thread.iter();
    let one_thread =
        one_thread.map(|(place, why)| json!({ "place": place.to_string(), "reason": &**why }));
    print(&json!({
        "abi": INTERFACE,
        "generator": format!("novac {}", env!("CARGO_PKG_VERSION")),
        "target": unit.options.dialect.name,
        "program": &**name,
        "prefix": &*unit.options.prefix,
        "header": format!("{name}.h"),
        "source": format!("{name}.{}", unit.options.dialect.extension),
        "build": build(unit),
        "entries": entries.collect::<Value>(),
        "types": types.collect::<Value>(),
        "foreign": foreigns.collect::<Value>(),
        "one_thread": one_thread.collect::<Value>(),
    }))
}

/// Returns how the source is compiled and linked.
fn build(unit: &Unit) -> Value {
    let strict = |flag| unit.program.strict.then_some(flag);
    match unit.options.dialect.compiler {
        Compiler::C => json!({
            "compiler": "cc",
            "standards": ["c11", "c++17"],
            "compile": ["-pthread"],
            "link": libraries(unit),
        }),
        Compiler::Device { name, strict: flag } => json!({
            "compiler": name,
            "standards": ["c++17"],
            "compile": strict(flag).map_or(Vec::new(), |flag| flag.split(' ').collect()),
            "link": Value::Array(Vec::new()),
        }),
    }
}

/// Returns the flags of the libraries that a program is linked with.
pub fn libraries(unit: &Unit) -> Vec<&'static str> {
    let of_devices = match unit.has_kernels {
        true => unit.options.dialect.libraries,
        false => &[],
    };
    [of_devices, &["-lm", "-pthread"]].concat()
}

fn entry(unit: &Unit, interface: &EntryInterface) -> Value {
    let inputs = interface.inputs.iter().map(|input| {
        json!({
            "name": &*input.name,
            "type": type_text(&input.ty, &unit.program.sums),
            "form": form(unit, &input.ty),
            "parameters": parameters(&input.parameters),
        })
    });
    // A function that only some entries have; `null` for the others.
    let free = release::is_offered(unit, interface).then_some(&*interface.free);
    let device = callers::is_offered(unit, interface).then_some(&*interface.device);
    json!({
        "name": &*interface.name,
        "symbol": &*interface.symbol,
        "error": &*interface.error,
        "free": free,
        "device": device,
        "result": {
            "type": type_text(&interface.result, &unit.program.sums),
            "form": form(unit, &interface.result),
            "parameters": parameters(&interface.results),
        },
        "inputs": inputs.collect::<Value>(),
    })
}

fn parameters(list: &[Parameter]) -> Value {
    let items = list.iter();
    items.map(|p| variable(&p.name, &p.ty)).collect()
}

/// Returns a parameter or a field: its name, its type in C as text, and as data: the type behind all
/// pointers, how many these are, and whether it is constant.
fn variable(name: &str, ty: &CType) -> Value {
    let (mut base, mut pointers, mut is_constant) = (ty, 0, false);
    let base = loop {
        match base {
            CType::Pointer(to) => (base, pointers) = (&**to, pointers + 1),
            CType::Const(of) => (base, is_constant) = (&**of, true),
            CType::Array(of, _) => base = &**of,
            CType::Name(_) | CType::Struct(_) => break c_type_text(base),
        }
    };
    json!({
        "name": name,
        "type": c_type_text(ty),
        "base": base,
        "pointers": pointers,
        "const": is_constant,
    })
}

fn definition(definition: &Definition) -> Value {
    let structure = definition.items.iter().find_map(|item| match item {
        Item::Struct { fields, .. } => Some(fields),
        Item::Comment(_)
        | Item::Directive(_)
        | Item::Blank
        | Item::Function(_)
        | Item::Variable { .. }
        | Item::Text(_) => None,
    });
    let mut members = json!({
        "name": format!("nova_{}", definition.name),
        "fields": fields(structure.map_or(&[], Vec::as_slice)),
    });
    if !definition.constructors.is_empty() {
        let constructors = definition.constructors.iter();
        let constructors =
            constructors.map(|(name, field)| json!({ "name": &**name, "field": field.as_deref() }));
        members["constructors"] = constructors.collect();
    }
    members
}

fn fields(list: &[Field]) -> Value {
    let items = list.iter().map(|field| match field {
        Field::Plain(ty, name) => variable(name, ty),
        Field::Union(members, name) => {
            json!({ "name": &**name, "union": deep(|| fields(members)) })
        }
        Field::Struct(members, name) => {
            json!({ "name": &**name, "struct": deep(|| fields(members)) })
        }
    });
    items.collect()
}

/// Returns a type of NOVA as data. A sum and recursive data name their structure in the header.
fn form(unit: &Unit, ty: &Type) -> Value {
    deep(|| match ty {
        Type::Unit | Type::Function(..) => json!({ "kind": "unit" }),
        Type::Scalar(scalar) => json!({ "kind": "scalar", "scalar": scalar.info().name }),
        Type::Tuple(elements) => {
            let elements = elements.iter().map(|element| form(unit, element));
            json!({ "kind": "tuple", "elements": elements.collect::<Value>() })
        }
        Type::Vector(element) => json!({ "kind": "vector", "element": form(unit, element) }),
        Type::Array(rank, element) => {
            json!({ "kind": "array", "rank": rank, "element": form(unit, element) })
        }
        Type::Sum(id) => {
            let kind = match unit.types.sum(*id).is_recursive() {
                true => "data",
                false => "sum",
            };
            // Recursive data have a structure of their nodes, too.
            let is_it = |d: &&Definition| {
                d.name.starts_with(kind) && matches!(d.sum, Some((sum, _)) if sum == *id)
            };
            let structure = unit.types.definitions.iter().find(is_it);
            let structure = structure.map(|definition| format!("nova_{}", definition.name));
            json!({ "kind": kind, "structure": structure })
        }
    })
}
