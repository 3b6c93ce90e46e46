//! Emits `trace`: a value as text (language.md §9), from its components. Recursive data is written with
//! a list of pending links, so that its depth needs no stack.

use crate::context::function::Emitter;
use crate::context::unit::Unit;
use crate::context::writer::Writer;
use crate::emit::expression::assigned;
use crate::emit::nodes::{node_of, table};
use crate::ffi::entry::bring_to_host;
use crate::ffi::output::{Parts, component, sum_parts, vector_parts};
use crate::ffi::parts::parts_of;
use crate::ffi::source::push_switch;
use crate::syntax::{context, context_parameter, int64, literal, null, parameter, procedure};
use nova_c_ast::ast::{Binary, Expression, Function, Name, Statement, Type};
use nova_core::{Constructor, Scalar, SumId, Type as CoreType};
use nova_diag::deep;
use nova_flat::marks::Mark;
use nova_loop::ir;

/// The destination of text.
struct Sink {
    /// A pointer to the text.
    text: Expression,
    /// The sums of a group, inside of its nodes; their links are written later.
    group: Vec<SumId>,
}

fn text_pointer() -> Type {
    Type::name("nova_text").pointer()
}

/// Defines `static void show_3(context, text, components…)`, which writes a value of a type.
fn show_function(unit: &mut Unit, ty: &CoreType) -> Name {
    let mut key = String::from("show ");
    unit.types.describe(ty, &[], &mut key);
    unit.helper(key, "show_value", |unit, name| {
        let code = &mut Writer::new(unit);
        let text: Expression = Expression::Name(code.fresh("text"));
        let mut parameters = vec![context_parameter(), parameter(text_pointer(), "text")];
        let components = code.unit.components(ty);
        let (own, parts) = crate::ffi::foreign::component_parameters(code, &components, "x", false);
        parameters.extend(own);
        let sink = Sink {
            text,
            group: Vec::new(),
        };
        show(code, ty, None, &mut parts.iter(), &sink);
        procedure(name, parameters, code.take())
    })
}

/// Defines `static void show_List(context, text, table, link)`, which writes recursive data of a
/// group.
fn show_data_function(unit: &mut Unit, id: SumId) -> Name {
    let group = unit.types.sum(id).group.clone();
    let first = group.first().copied().unwrap_or(id);
    let name = format!("show_{}", unit.types.instance(first));
    unit.helper(format!("show data {}", first.0), &name, |unit, name| {
        show_data(unit, &group, name)
    })
}

fn show_data(unit: &mut Unit, group: &[SumId], name: Name) -> Function {
    let code = &mut Writer::new(unit);
    for reserved in ["text", "table", "link", "tokens"] {
        code.fresh(reserved);
    }
    let tokens = Expression::name("tokens");
    let none = || null();
    let zero = || literal(0);
    let empty = vec![none(), zero(), zero(), zero()];
    let text = Expression::Braces(vec![none(), zero(), zero()]);
    let empty = [empty, vec![text, zero()]].concat();
    code.push(Statement::declare(
        Type::name("nova_tokens"),
        "tokens",
        Expression::Braces(empty),
    ));
    let (table, link) = (Expression::name("table"), Expression::name("link"));
    let start = vec![tokens.clone().address(), table.clone(), link.clone()];
    code.push(Statement::call("nova_token_link", start));
    let next = Expression::call(
        "nova_next_link",
        vec![
            tokens.clone().address(),
            Expression::name("text"),
            table.clone().address(),
            link.clone().address(),
        ],
    );
    let sink = Sink {
        text: tokens.clone().member("pieces").address(),
        group: group.to_vec(),
    };
    let (body, ()) = code.apart(|code| {
        let mut cases = Vec::new();
        for member in group {
            cases.push(code.nested(|code| show_node(code, *member, &link, &sink)));
        }
        match cases.len() {
            1 => cases
                .remove(0)
                .take()
                .into_iter()
                .for_each(|s| code.push(s)),
            _ => push_switch(code, table, cases),
        }
    });
    code.push(Statement::While {
        condition: Some(next),
        body: body.into(),
    });
    let free = vec![tokens.address()];
    code.push(Statement::call("nova_free_tokens", free));
    let parameters = vec![
        context_parameter(),
        parameter(text_pointer(), "text"),
        parameter(Type::name("int32_t"), "table"),
        parameter(int64(), "link"),
    ];
    procedure(name, parameters, code.take())
}

/// Emits the output of text and a value to standard error.
pub(crate) fn trace(code: &mut Emitter, text: &[u8], ty: &CoreType, components: &[ir::Expression]) {
    if let Some(mark) = Mark::read(text, ty) {
        let mut all = vec![literal(mark.row)];
        all.extend(mark.texts.iter().map(Expression::text));
        all.extend(components.iter().map(|c| assigned(code, c)));
        return code.push(Statement::call(mark.function(), all));
    }
    let show = show_function(code.unit, ty);
    let empty = vec![null(), literal(0), literal(0)];
    let line = code.variable(Type::name("nova_text"), "line", Expression::Braces(empty));
    let sink = Sink {
        text: line.address(),
        group: Vec::new(),
    };
    show_bytes(code, &[text, b" "].concat(), &sink);
    let mut arguments = vec![context(), sink.text.clone()];
    arguments.extend(components.iter().map(|c| assigned(code, c)));
    code.push(Statement::call(show, arguments));
    code.push(Statement::call("nova_text_show", vec![sink.text]));
}

fn show_bytes(code: &mut Writer, bytes: &[u8], sink: &Sink) {
    let length = literal(bytes.len());
    let arguments = vec![sink.text.clone(), Expression::text(bytes), length];
    code.push(Statement::call("nova_text_bytes", arguments));
}

fn show_scalar(code: &mut Writer, scalar: Scalar, value: Expression, sink: &Sink) {
    let mut arguments = vec![sink.text.clone(), value];
    let function = match scalar {
        Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => "nova_text_signed",
        Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => "nova_text_unsigned",
        Scalar::Bool => "nova_text_bool",
        Scalar::F32 | Scalar::F64 => {
            let single = if scalar == Scalar::F32 {
                "true"
            } else {
                "false"
            };
            arguments.push(Expression::name(single));
            "nova_text_float"
        }
    };
    code.push(Statement::call(function, arguments));
}

/// Emits the output of a value; at an index where it is lifted.
fn show(
    code: &mut Writer,
    ty: &CoreType,
    index: Option<&Expression>,
    parts: &mut Parts,
    sink: &Sink,
) {
    deep(|| match ty {
        CoreType::Unit | CoreType::Function(..) => show_bytes(code, b"nil", sink),
        CoreType::Scalar(scalar) => {
            let value = component(parts, index);
            show_scalar(code, *scalar, value, sink);
        }
        CoreType::Tuple(elements) => {
            for (k, element) in elements.iter().enumerate() {
                show_bytes(code, if k == 0 { b"(" } else { b", " }, sink);
                show(code, element, index, parts, sink);
            }
            show_bytes(code, b")", sink);
        }
        CoreType::Vector(element) => show_vector(code, 1, element, index, parts, sink),
        CoreType::Array(rank, element) => show_vector(code, *rank, element, index, parts, sink),
        CoreType::Sum(id) => match sink.group.iter().position(|member| member == id) {
            Some(member) => {
                let link = component(parts, index);
                let tokens = Expression::name("tokens").address();
                let table = literal(member);
                code.push(Statement::call(
                    "nova_token_link",
                    vec![tokens, table, link],
                ));
            }
            None if code.unit.types.sum(*id).is_recursive() => {
                let link = component(parts, index);
                let show = show_data_function(code.unit, *id);
                let group = &code.unit.types.sum(*id).group;
                let table = group.iter().position(|member| member == id).unwrap_or(0);
                let table = literal(table);
                let arguments = vec![context(), sink.text.clone(), table, link];
                code.push(Statement::call(show, arguments));
            }
            None => {
                let (tag, payloads) = sum_parts(code, *id, index, parts);
                let mut cases = Vec::new();
                let constructors = &code.unit.types.sum(*id).constructors;
                for (constructor, payload) in constructors.iter().zip(payloads) {
                    cases.push(code.nested(|code| {
                        show_constructor(code, constructor, index, &mut payload.iter(), sink)
                    }));
                }
                push_switch(code, tag, cases);
            }
        },
    })
}

fn show_constructor(
    code: &mut Writer,
    constructor: &Constructor,
    index: Option<&Expression>,
    parts: &mut Parts,
    sink: &Sink,
) {
    if constructor.payload == CoreType::Unit {
        show_bytes(code, constructor.name.as_bytes(), sink);
        return;
    }
    show_bytes(code, format!("({} ", constructor.name).as_bytes(), sink);
    show(code, &constructor.payload, index, parts, sink);
    show_bytes(code, b")", sink);
}

/// Emits the output of a node. Its links are left for later.
fn show_node(code: &mut Writer, id: SumId, link: &Expression, sink: &Sink) {
    let ty = Type::Name(table(code.unit, id).node);
    let node = node_of(code.unit, id, link.clone()).address();
    let node = code.variable(ty.constant().pointer(), "node", node);
    let sum = code.unit.types.sum(id);
    let mut cases = Vec::new();
    for (k, constructor) in sum.constructors.iter().enumerate() {
        let parts = parts_of(code, id, k as u32, &constructor.payload, &node);
        cases.push(code.nested(|code| {
            bring_to_host(code, &parts);
            show_constructor(code, constructor, None, &mut parts.iter(), sink)
        }));
    }
    push_switch(code, node.arrow("tag"), cases);
    let tokens = Expression::name("tokens").address();
    code.push(Statement::call("nova_finish_tokens", vec![tokens]));
}

fn show_vector(
    code: &mut Writer,
    rank: u32,
    element: &CoreType,
    index: Option<&Expression>,
    parts: &mut Parts,
    sink: &Sink,
) {
    let (begin, extents) = vector_parts(rank, index, parts);
    let begin = begin.unwrap_or_else(|| literal(0));
    let at = code.variable(int64(), "at", begin);
    show_rows(code, &extents, element, &at, parts, sink);
}

/// Emits the output of nested rows. Counts the elements in `at`.
fn show_rows(
    code: &mut Writer,
    extents: &[Expression],
    element: &CoreType,
    at: &Expression,
    parts: &mut Parts,
    sink: &Sink,
) {
    show_bytes(code, b"[", sink);
    let Some((count, inner)) = extents.split_first() else {
        return;
    };
    code.each_index(count.clone(), |code, i| {
        let zero = literal(0);
        let later = Expression::binary(Binary::Greater, i.clone(), zero);
        let (space, ()) = code.apart(|code| show_bytes(code, b" ", sink));
        code.push(Statement::when(later, space));
        if inner.is_empty() {
            show(code, element, Some(at), parts, sink);
            let one = literal(1);
            let next = Expression::binary(Binary::Add, at.clone(), one);
            code.push(Statement::assign(at.clone(), next));
        } else {
            show_rows(code, inner, element, at, parts, sink);
        }
    });
    show_bytes(code, b"]", sink);
}
