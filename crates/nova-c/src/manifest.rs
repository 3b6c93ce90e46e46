//! The manifest: the entries of a program and their types as JSON (docs/manifest.md).

use crate::border::entry::EntryInterface;
use crate::unit::Unit;

/// The text of the manifest.
pub fn manifest(_unit: &mut Unit, _interfaces: &[EntryInterface]) -> String {
    String::from("{}\n")
}

/// A type as NOVA writes it.
pub fn type_text(unit: &Unit, ty: &nova_core::Type) -> String {
    use nova_core::Type;
    nova_diag::deep(|| match ty {
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
            if sum.arguments.is_empty() {
                return sum.name.to_string();
            }
            let arguments = sum.arguments.iter().map(|a| argument_text(unit, a));
            let arguments: Vec<String> = arguments.collect();
            format!("({} {})", sum.name, arguments.join(" "))
        }
    })
}

fn argument_text(unit: &Unit, ty: &nova_core::Type) -> String {
    let text = type_text(unit, ty);
    match ty {
        nova_core::Type::Vector(_) | nova_core::Type::Array(..) | nova_core::Type::Function(..) => {
            format!("({text})")
        }
        _ => text,
    }
}
