//! The names that C code mentions. They decide which sections of the runtime a file contains, and which
//! declarations must stand before a function.

use crate::ast::{Block, Expression, Field, Function, Item, Name, Statement, Type};
use nova_diag::deep;
use std::collections::BTreeSet;

/// The names of the functions that a function calls, in order.
pub fn called(function: &Function, into: &mut Vec<Name>) {
    let mut see = |expression: &Expression| {
        if let Expression::Call(name, _) | Expression::Pure(name, _) = expression {
            into.push(name.clone());
        }
    };
    if let Some(body) = &function.body {
        in_block(body, &mut see, &mut |_| {});
    }
}

/// Every name of functions, variables and types in an item.
pub fn mentioned(item: &Item, into: &mut BTreeSet<Name>) {
    match item {
        Item::Comment(_) | Item::Directive(_) | Item::Blank | Item::Text(_) => {}
        Item::Struct { fields, .. } => fields.iter().for_each(|f| in_field(f, into)),
        Item::Variable {
            prefix,
            ty,
            name,
            value,
        } => {
            into.extend(prefix.iter().cloned());
            in_type(ty, into);
            into.extend(name.split(['[', ']']).map(Name::from));
            if let Some(value) = value {
                let (mut names, mut types) = (BTreeSet::new(), BTreeSet::new());
                in_expression(value, &mut |e| see(e, &mut names), &mut |t| {
                    in_type(t, &mut types)
                });
                into.extend(names);
                into.extend(types);
            }
        }
        Item::Function(function) => {
            let words = function.prefix.iter().flat_map(|p| p.split(' '));
            into.extend(words.map(Name::from));
            in_type(&function.result, into);
            function
                .parameters
                .iter()
                .for_each(|p| in_type(&p.ty, into));
            let mut types = BTreeSet::new();
            if let Some(body) = &function.body {
                in_block(body, &mut |e| see(e, into), &mut |t| in_type(t, &mut types));
                hints(body, into);
            }
            into.extend(types);
        }
    }
}

/// Collects the macros before loops.
fn hints(block: &Block, into: &mut BTreeSet<Name>) {
    for statement in &block.0 {
        if let Statement::Lanes { hint, .. } = statement {
            into.insert(hint.text().into());
        }
        for inner in statement.blocks() {
            deep(|| hints(inner, into));
        }
    }
}

fn see(expression: &Expression, into: &mut BTreeSet<Name>) {
    match expression {
        Expression::Name(name) | Expression::Call(name, _) | Expression::Pure(name, _) => {
            add(name, into);
        }
        Expression::SizeOf(_) => {
            into.insert("size_t".into());
        }
        Expression::Literal(_)
        | Expression::Text(_)
        | Expression::Unary(..)
        | Expression::Binary(..)
        | Expression::Conditional(_)
        | Expression::Index(..)
        | Expression::Member(..)
        | Expression::Arrow(..)
        | Expression::Cast(..)
        | Expression::Braces(_) => {}
    }
}

/// Adds a name; of a template the name without arguments.
fn add(name: &Name, into: &mut BTreeSet<Name>) {
    match name.split_once('<') {
        Some((template, _)) => {
            into.insert(template.into());
        }
        None if into.contains(name) => {}
        None => {
            into.insert(name.clone());
        }
    }
}

fn in_type(ty: &Type, into: &mut BTreeSet<Name>) {
    match ty {
        Type::Name(name) | Type::Struct(name) => add(name, into),
        Type::Pointer(ty) | Type::Const(ty) | Type::Array(ty, _) => in_type(ty, into),
    }
}

fn in_field(field: &Field, into: &mut BTreeSet<Name>) {
    match field {
        Field::Plain(ty, _) => in_type(ty, into),
        Field::Union(fields, _) | Field::Struct(fields, _) => {
            fields.iter().for_each(|f| in_field(f, into));
        }
    }
}

fn in_block(block: &Block, see: &mut dyn FnMut(&Expression), see_type: &mut dyn FnMut(&Type)) {
    for statement in &block.0 {
        if let Statement::Declare { ty, .. } = statement {
            see_type(ty);
        }
        for expression in statement.expressions() {
            in_expression(expression, see, see_type);
        }
        for inner in statement.blocks() {
            deep(|| in_block(inner, see, see_type));
        }
    }
}

fn in_expression(
    expression: &Expression,
    see: &mut dyn FnMut(&Expression),
    see_type: &mut dyn FnMut(&Type),
) {
    see(expression);
    if let Expression::Cast(ty, _) | Expression::SizeOf(ty) = expression {
        see_type(ty);
    }
    for operand in expression.operands() {
        deep(|| in_expression(operand, see, see_type));
    }
}
