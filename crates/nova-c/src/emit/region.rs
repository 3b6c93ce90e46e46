//! Emits parallel regions. A loop that threads share becomes a function that runs one iteration, a
//! structure of all variables that it takes from outside, and a call of the runtime.

use crate::context::expressions::{offset, type_of};
use crate::context::function::FunctionEmitter;
use nova_c_ast::ast::{Expression, Field, Function, Item, Name, Parameter, Statement, Type};
use nova_loop::captures::captured;
use nova_loop::ir::{Command, Variable};
use std::collections::BTreeSet;

impl FunctionEmitter<'_, '_> {
    /// Emits a loop whose iterations threads share.
    pub fn region(&mut self, index: Variable, count: Expression, body: &[Command]) {
        let function = self.function.clone();
        let name = self.unit.names.fresh(&format!("{function}_chunk"), None);
        let structure = self.unit.names.fresh(&format!("{name}_data"), None);
        let mut fields = Vec::new();
        let mut values = Vec::new();
        let mut statements = Vec::new();
        let mut taken: BTreeSet<Variable> = captured(index, body).into_iter().collect();
        let offset_fields: Vec<_> = taken
            .iter()
            .filter_map(|v| self.fields.base_of(*v).map(|(other, by)| (*v, other, by)))
            .collect();
        for (field, other, _) in &offset_fields {
            taken.remove(field);
            taken.insert(*other);
        }
        for variable in taken {
            let own = self.name(variable);
            let ty = type_of(self.program().variable(variable).ty);
            let value = Expression::name("data").arrow(own.clone());
            statements.push(Statement::declare(ty.clone(), own.clone(), value));
            fields.push(Field::Plain(ty, own.clone()));
            values.push(Expression::Name(own));
        }
        for (field, other, distance) in offset_fields {
            let ty = type_of(self.program().variable(field).ty);
            let value = offset(Expression::Name(self.name(other)), distance);
            statements.push(Statement::declare(ty, self.name(field), value));
        }
        let pointer = Type::Struct(structure.clone()).constant().pointer();
        let argument = Expression::name("argument").cast(pointer.clone());
        if !fields.is_empty() {
            statements.insert(0, Statement::declare(pointer, "data", argument));
        }
        let number = self.declare(index);
        self.add_index(index);
        self.remarked = None;
        statements.extend(self.block(body));
        self.unit.helpers.push(Function {
            prefix: vec!["static".into()],
            result: Type::name("void"),
            name: name.clone(),
            parameters: vec![
                Parameter {
                    ty: Type::name("nova_context").pointer(),
                    name: "context".into(),
                },
                Parameter {
                    ty: Type::name("int64_t"),
                    name: number,
                },
                Parameter {
                    ty: Type::name("void").pointer(),
                    name: "argument".into(),
                },
            ],
            body: Some(statements.into()),
        });
        let data = self.region_data(structure, fields, values);
        let arguments = vec![
            Expression::name("context"),
            count,
            Expression::Name(name),
            data,
        ];
        self.push(Statement::call("nova_parallel", arguments));
    }

    /// Emits the beginning or the end of the ordered region of an iteration.
    pub fn ordered_call(&mut self, function: &str, index: Variable) {
        let arguments = vec![
            Expression::name("context"),
            Expression::Name(self.name(index)),
        ];
        self.push(Statement::call(function, arguments));
    }

    /// Declares the variables that the chunks of a region need, in a new structure. Returns the address
    /// of the structure.
    fn region_data(
        &mut self,
        structure: Name,
        fields: Vec<Field>,
        values: Vec<Expression>,
    ) -> Expression {
        if fields.is_empty() {
            return Expression::name("NULL");
        }
        let data = self.fresh("data");
        let ty = Type::Struct(structure.clone());
        let value = Expression::Braces(values);
        self.push(Statement::declare(ty, data.clone(), value));
        let function = &self.function;
        let remark = format!("What the chunks of a parallel loop in {function} need.");
        self.unit.structures.push(Item::Comment(remark));
        self.unit.structures.push(Item::Struct {
            name: structure,
            fields,
            typedef: false,
        });
        self.unit.structures.push(Item::Blank);
        Expression::Name(data).address()
    }
}
