//! The manifest: the entries of a program and their types as JSON, for bindings to other languages
//! (docs/manifest.md).

use crate::context::ctype::Definition;
use crate::context::unit::Unit;
use crate::ffi::interface::EntryInterface;
use crate::ffi::json::Json;
use crate::ffi::{callers, release};
use nova_c_ast::ast::{Field, Function, Item, Parameter};
use nova_c_ast::print::type_text as c_type_text;
use nova_core::Type;
use nova_diag::deep;

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
            Json::object([
                ("name", Json::text(&*foreign.name)),
                ("kind", Json::text(foreign.kind.word().unwrap_or("plain"))),
                ("symbol", Json::text(&*function.name)),
                ("parameters", parameters(&function.parameters)),
            ])
        });
    let one_thread = unit.options.one_thread.iter().map(|(place, why)| {
        Json::object([
            ("place", Json::text(place.to_string())),
            ("reason", Json::text(&**why)),
        ])
    });
    let manifest = Json::object([
        ("program", Json::text(&**name)),
        ("prefix", Json::text(&*unit.options.prefix)),
        ("header", Json::text(format!("{name}.h"))),
        (
            "source",
            Json::text(format!("{name}.{}", unit.options.dialect.extension)),
        ),
        ("entries", Json::List(entries.collect())),
        ("types", Json::List(types.collect())),
        ("foreign", Json::List(foreigns.collect())),
        ("one_thread", Json::List(one_thread.collect())),
    ]);
    manifest.print()
}

fn entry(unit: &Unit, interface: &EntryInterface) -> Json {
    let inputs = interface.inputs.iter().map(|input| {
        Json::object([
            ("name", Json::text(&*input.name)),
            ("type", Json::text(type_text(unit, &input.ty))),
            ("parameters", parameters(&input.parameters)),
        ])
    });
    let result = Json::object([
        ("type", Json::text(type_text(unit, &interface.result))),
        ("parameters", parameters(&interface.results)),
    ]);
    Json::object([
        ("name", Json::text(&*interface.name)),
        ("symbol", Json::text(&*interface.symbol)),
        ("error", Json::text(&*interface.error)),
        (
            "free",
            optional(release::is_offered(unit, interface), &interface.free),
        ),
        (
            "device",
            optional(callers::is_offered(unit, interface), &interface.device),
        ),
        ("result", result),
        ("inputs", Json::List(inputs.collect())),
    ])
}

/// Returns the name of a function that only some entries have; `null` for the others.
fn optional(is_offered: bool, name: &str) -> Json {
    match is_offered {
        true => Json::text(name),
        false => Json::Null,
    }
}

fn parameters(list: &[Parameter]) -> Json {
    let items = list.iter().map(|parameter| {
        Json::object([
            ("name", Json::text(&*parameter.name)),
            ("type", Json::text(c_type_text(&parameter.ty))),
        ])
    });
    Json::List(items.collect())
}

fn definition(definition: &Definition) -> Json {
    let mut members = vec![("name", Json::text(format!("nova_{}", definition.name)))];
    let structure = definition.items.iter().find_map(|item| match item {
        Item::Struct { fields, .. } => Some(fields),
        Item::Comment(_)
        | Item::Directive(_)
        | Item::Blank
        | Item::Function(_)
        | Item::Variable { .. }
        | Item::Text(_) => None,
    });
    members.push(("fields", fields(structure.map_or(&[], Vec::as_slice))));
    if !definition.constructors.is_empty() {
        let constructors = definition.constructors.iter().map(|(name, field)| {
            let field = field
                .as_ref()
                .map_or(Json::Null, |field| Json::text(&**field));
            Json::object([("name", Json::text(&**name)), ("field", field)])
        });
        members.push(("constructors", Json::List(constructors.collect())));
    }
    Json::object(members)
}

fn fields(list: &[Field]) -> Json {
    let items = list.iter().map(|field| match field {
        Field::Plain(ty, name) => Json::object([
            ("name", Json::text(&**name)),
            ("type", Json::text(c_type_text(ty))),
        ]),
        Field::Union(members, name) => Json::object([
            ("name", Json::text(&**name)),
            ("union", deep(|| fields(members))),
        ]),
        Field::Struct(members, name) => Json::object([
            ("name", Json::text(&**name)),
            ("struct", deep(|| fields(members))),
        ]),
    });
    Json::List(items.collect())
}

/// Returns the text of a type in NOVA.
pub fn type_text(unit: &Unit, ty: &Type) -> String {
    deep(|| match ty {
        Type::Scalar(scalar) => scalar.info().name.to_string(),
        Type::Unit => "unit".into(),
        Type::Tuple(elements) => {
            let elements: Vec<String> = elements.iter().map(|e| type_text(unit, e)).collect();
            format!("({})", elements.join(", "))
        }
        Type::Vector(element) => format!("vector {}", argument_text(unit, element)),
        Type::Array(rank, element) => format!("vector#{rank} {}", argument_text(unit, element)),
        Type::Function(from, to) => {
            format!("{} -> {}", argument_text(unit, from), type_text(unit, to))
        }
        Type::Sum(id) => {
            let sum = unit.types.sum(*id);
            if sum.is_anonymous() {
                let constructors = sum.constructors.iter();
                let each = constructors
                    .map(|c| format!(" ({} : {})", c.name, type_text(unit, &c.payload)));
                return format!("(+{})", each.collect::<String>());
            }
            if sum.arguments.is_empty() {
                return sum.name.to_string();
            }
            let arguments = sum.arguments.iter().map(|a| argument_text(unit, a));
            let arguments: Vec<String> = arguments.collect();
            format!("({} {})", sum.name, arguments.join(" "))
        }
    })
}

fn argument_text(unit: &Unit, ty: &Type) -> String {
    let text = type_text(unit, ty);
    match ty {
        Type::Vector(_) | Type::Array(..) | Type::Function(..) => format!("({text})"),
        Type::Scalar(_) | Type::Unit | Type::Tuple(_) | Type::Sum(_) => text,
    }
}
