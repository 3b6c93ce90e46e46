//! Emits parallel regions. A loop that threads share becomes a function that runs one iteration, a
//! structure of all variables that it takes from outside, and a call of the runtime.

use crate::context::expressions::type_of;
use crate::context::function::Emitter;
use crate::syntax::{context, context_parameter, int64, null, offset, parameter, procedure};
use nova_c_ast::ast::{Expression, Field, Item, Name, Statement, Type};
use nova_loop::captures::captured;
use nova_loop::ir::{Command, Variable};
use std::collections::BTreeSet;

/// Emits a loop whose iterations threads share.
pub(crate) fn region(code: &mut Emitter, index: Variable, count: Expression, body: &[Command]) {
    let function = code.function.clone();
    let name = code.unit.names.fresh(&format!("{function}_chunk"), None);
    let structure = code.unit.names.fresh(&format!("{name}_data"), None);
    let (mut fields, mut values) = (Vec::new(), Vec::new());
    let mut statements = Vec::new();
    let mut taken: BTreeSet<Variable> = captured(index, body).into_iter().collect();
    let offset_fields: Vec<_> = taken
        .iter()
        .filter_map(|v| code.fields.base_of(*v).map(|(other, by)| (*v, other, by)))
        .collect();
    taken.retain(|v| offset_fields.iter().all(|(field, ..)| field != v));
    taken.extend(offset_fields.iter().map(|(_, other, _)| *other));
    for variable in taken {
        let own = code.name(variable);
        let ty = type_of(code.program().variable(variable).ty);
        let value = Expression::name("data").arrow(own.clone());
        statements.push(Statement::declare(ty.clone(), own.clone(), value));
        fields.push(Field::Plain(ty, own.clone()));
        values.push(Expression::Name(own));
    }
    for (field, other, distance) in offset_fields {
        let ty = type_of(code.program().variable(field).ty);
        let value = offset(code.named(other), distance);
        statements.push(Statement::declare(ty, code.name(field), value));
    }
    let pointer = Type::Struct(structure.clone()).constant().pointer();
    let argument = Expression::name("argument").cast(pointer.clone());
    if !fields.is_empty() {
        statements.insert(0, Statement::declare(pointer, "data", argument));
    }
    let number = code.declare(index);
    code.add_index(index);
    let place = code.remarked.take().filter(|_| code.unit.options.lines);
    statements.extend(place.map(Statement::Place));
    statements.extend(code.block(body));
    code.unit.helpers.push(procedure(
        name.clone(),
        vec![
            context_parameter(),
            parameter(int64(), number),
            parameter(Type::name("void").pointer(), "argument"),
        ],
        statements,
    ));
    let data = region_data(code, structure, fields, values);
    let arguments = vec![context(), count, Expression::Name(name), data];
    let is_ordered = body.iter().any(|c| matches!(c, Command::BeginOrdered(_)));
    let callee = ["nova_parallel", "nova_parallel_ordered"][usize::from(is_ordered)];
    code.push(Statement::call(callee, arguments));
}

/// Declares the variables that the chunks of a region need, in a new structure. Returns the address
/// of the structure.
fn region_data(
    code: &mut Emitter,
    structure: Name,
    fields: Vec<Field>,
    values: Vec<Expression>,
) -> Expression {
    if fields.is_empty() {
        return null();
    }
    let data = code.fresh("data");
    let ty = Type::Struct(structure.clone());
    let value = Expression::Braces(values);
    code.push(Statement::declare(ty, data.clone(), value));
    let function = &code.function;
    let remark = format!("What the chunks of a parallel loop in {function} need.");
    code.unit.structures.push(Item::Comment(remark));
    code.unit.structures.push(Item::Struct {
        name: structure,
        fields,
        typedef: false,
    });
    code.unit.structures.push(Item::Blank);
    Expression::Name(data).address()
}
