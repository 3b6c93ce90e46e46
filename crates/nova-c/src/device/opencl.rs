//! The items of an OpenCL program besides the host's functions: the text of the kernels, and the facts
//! about them that the runtime needs.

use crate::device::common::DeviceCode;
use crate::dialect::{DEVICE, Dialect};
use crate::syntax::{literal, null};
use nova_c_ast::ast::{Expression, Function, Item, Type};
use nova_c_ast::print;
use nova_runtime::OPENCL_PRELUDE;
use std::fmt::Write;

/// The approximate size of a string constant in bytes: compilers need not accept more than 4095.
const PIECE: usize = 3000;

/// Returns the items of a program's kernels: their text, their names, the device.
pub fn items(
    mut code: DeviceCode,
    functions: Vec<Function>,
    dialect: &Dialect,
    strict: bool,
) -> Vec<Item> {
    let text = kernels_text(&mut code, functions, dialect, strict);
    let pieces = pieces(&text);
    let count = |number: usize| literal(number);
    let DeviceCode { names, places, .. } = code;
    let mut items = vec![
        Item::Comment("The kernels, for the compiler of the device.".into()),
        Item::Text(format!(
            "static const char *const nova_kernel_sources[] = {{\n{}}};\n",
            literals(&pieces)
        )),
        Item::Blank,
        variable(
            "char",
            true,
            &format!("nova_kernel_names[{}]", names.len()),
            Some(Expression::Braces(
                names.iter().map(|name| Expression::text(&**name)).collect(),
            )),
        ),
        variable(
            "char",
            true,
            &format!("nova_kernel_places[{}]", places.len()),
            Some(Expression::Braces(
                places.iter().map(Expression::text).collect(),
            )),
        ),
        Item::Variable {
            prefix: vec!["static".into()],
            ty: Type::name("cl_kernel"),
            name: format!("nova_kernels[{}]", names.len()).into(),
            value: None,
        },
        Item::Blank,
    ];
    let options = match strict {
        true => "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt",
        false => "-cl-std=CL1.2",
    };
    let fields = vec![
        Expression::name("NOVA_EMPTY_POOL"),
        Expression::name("nova_kernel_sources"),
        count(pieces.len()),
        Expression::text(options),
        Expression::name("nova_kernel_names"),
        Expression::name("nova_kernel_places"),
        Expression::name("nova_kernels"),
        count(names.len()),
        Expression::name("false"),
        null(),
        null(),
        null(),
        null(),
    ];
    items.push(Item::Variable {
        prefix: vec!["static".into()],
        ty: Type::name("nova_device"),
        name: DEVICE.into(),
        value: Some(Expression::Braces(fields)),
    });
    items.push(Item::Blank);
    items
}

fn variable(ty: &str, pointers: bool, name: &str, value: Option<Expression>) -> Item {
    let ty = Type::name(ty).constant();
    Item::Variable {
        prefix: vec!["static".into()],
        ty: if pointers {
            ty.pointer().constant()
        } else {
            ty
        },
        name: name.into(),
        value,
    }
}

/// Returns the text of the kernels and of all code that they use.
fn kernels_text(
    code: &mut DeviceCode,
    functions: Vec<Function>,
    dialect: &Dialect,
    strict: bool,
) -> String {
    let (items, mentioned) = code.items(functions);
    let foreign = &code.foreign;
    // All kernels have a parameter of this type, but its name follows an address space.
    let names = mentioned.iter().map(|name| &**name).chain(["nova_failure"]);
    let runtime = nova_runtime::select(dialect.kernels, names);
    let mut text = String::new();
    if foreign.contains("double")
        || runtime.text.contains("double")
        || mentioned.iter().any(|name| name.contains("double"))
    {
        text.push_str("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n");
    }
    let contraction = if strict { "OFF" } else { "ON" };
    text.push_str(&format!("#pragma OPENCL FP_CONTRACT {contraction}\n\n"));
    text.push_str(prelude());
    text.push_str("\n\n");
    text.push_str(&runtime.text);
    text.push_str(foreign);
    text.push_str(&print::print(&items));
    text
}

/// Returns the prelude without its guard.
fn prelude() -> &'static str {
    let guard = "#define NOVA_OPENCL_KERNEL_H";
    let inside = OPENCL_PRELUDE
        .split_once(guard)
        .map_or("", |(_, rest)| rest);
    inside
        .trim()
        .strip_suffix("#endif")
        .unwrap_or(inside)
        .trim()
}

/// Splits the text into pieces of whole lines.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut start, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        if at + line.len() - start > PIECE && at > start {
            pieces.push(&text[start..at]);
            start = at;
        }
        at += line.len();
    }
    if at > start {
        pieces.push(&text[start..at]);
    }
    pieces
}

/// String constants, with one line of the text on each line.
fn literals(pieces: &[&str]) -> String {
    let mut out = String::new();
    for piece in pieces {
        let mut first = true;
        for line in piece.lines() {
            if !std::mem::take(&mut first) {
                out.push('\n');
            }
            let escaped = line.replace('\\', "\\\\").replace('"', "\\\"");
            // Two question marks could begin a trigraph.
            let escaped = match escaped.contains("??") {
                true => escaped.replace('?', "\\?"),
                false => escaped,
            };
            // Writing to a string cannot fail.
            let _ = write!(out, "    \"{escaped}\\n\"");
        }
        out.push_str(",\n");
    }
    out
}
