//! The items of a CUDA program for the device: the kernels and all that they use. They stand in a
//! namespace, since the file contains functions of the runtime twice, for the host and for the device.

use crate::device::common::DeviceCode;
use crate::dialect::{DEVICE, Dialect, NAMESPACE};
use crate::syntax::{literal, null};
use nova_c_ast::ast::{Expression, Function, Item, Type};
use nova_c_ast::print;

/// Returns the items of a program's kernels, and the standard headers that they need.
pub fn items(
    mut code: DeviceCode,
    functions: Vec<Function>,
    dialect: &Dialect,
) -> (Vec<Item>, Vec<&'static str>) {
    let (items, mentioned) = code.items(functions);
    let names = mentioned.iter().map(|name| &**name);
    let runtime = nova_runtime::select(dialect.kernels, names);
    let text = format!(
        "namespace {NAMESPACE}\n{{\n\n{}{}}} /* {NAMESPACE} */\n",
        on_device(&runtime.text),
        print::print(&items)
    );
    let items = vec![
        Item::Text(code.foreign),
        Item::Comment("The kernels and what they use.".into()),
        Item::Directive("define NOVA_ON_DEVICE".into()),
        Item::Text(text),
        Item::Directive("undef NOVA_ON_DEVICE".into()),
        Item::Blank,
        Item::Variable {
            prefix: vec!["static".into()],
            ty: Type::name("nova_device"),
            name: DEVICE.into(),
            value: Some(Expression::Braces(vec![
                Expression::name("NOVA_EMPTY_POOL"),
                Expression::name("false"),
                literal(0),
                literal(0),
                literal(0),
                null(),
            ])),
        },
        Item::Blank,
    ];
    (items, runtime.headers)
}

/// Turns static definitions of the runtime into definitions for the device.
fn on_device(text: &str) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        match line.strip_prefix("static ") {
            Some(rest) => {
                out.push_str("static __device__ ");
                out.push_str(rest);
            }
            None => out.push_str(line),
        }
    }
    out
}
