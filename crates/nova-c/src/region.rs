//! Parallel regions: a loop that threads share becomes a function of its own, which does one
//! iteration, a structure with all that it takes from around it, and a call of the runtime.

use crate::ast::{Expression, Field, Function, Item, Parameter, Statement, Type};
use crate::expression::type_of;
use crate::function::FunctionEmitter;
use nova_loop::ir::{Command, Variable};
use nova_loop::regions::captured;

impl FunctionEmitter<'_, '_> {
    /// Emits a loop over an index whose iterations threads share.
    pub fn region(&mut self, index: Variable, count: Expression, body: &[Command]) {
        let function = self.function.clone();
        let name = self.unit.names.fresh(&format!("{function}_part"), None);
        let structure = self.unit.names.fresh(&format!("{name}_data"), None);
        let mut fields = Vec::new();
        let mut values = Vec::new();
        let mut statements = Vec::new();
        for variable in captured(index, body) {
            let own = self.name(variable);
            let ty = type_of(self.program().variable(variable).ty);
            let value = Expression::name("data").arrow(own.clone());
            statements.push(Statement::declare(ty.clone(), own.clone(), value));
            fields.push(Field::Plain(ty, own.clone()));
            values.push(Expression::Name(own));
        }
        let pointer = Type::Struct(structure.clone()).constant().pointer();
        let argument = Expression::name("argument").cast(pointer.clone());
        if !fields.is_empty() {
            statements.insert(0, Statement::declare(pointer, "data", argument));
        }
        let number = self.declare(index);
        self.add_index(index);
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
        let data = match fields.is_empty() {
            true => Expression::name("NULL"),
            false => {
                let data = self.fresh("data");
                let ty = Type::Struct(structure.clone());
                let value = Expression::Braces(values);
                self.push(Statement::declare(ty, data.clone(), value));
                self.unit.structures.push(Item::Comment(format!(
                    "What the parts of a parallel loop in {function} need."
                )));
                self.unit.structures.push(Item::Struct {
                    name: structure,
                    fields,
                    typedef: false,
                });
                self.unit.structures.push(Item::Blank);
                Expression::Name(data).address()
            }
        };
        let arguments = vec![
            Expression::name("context"),
            count,
            Expression::Name(name),
            data,
        ];
        self.push(Statement::call("nova_parallel", arguments));
    }
}
