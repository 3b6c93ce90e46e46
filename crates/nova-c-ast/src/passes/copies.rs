//! Copy propagation: replaces variables that only hold the value of another variable, or a truth value.
//! Loop needs such variables; C does not.

use crate::ast::{
    Block, Expression, Function, Name, Program, Statement, Type, Unary, jump_statements,
    mark_statements,
};
use nova_diag::deep;
use std::collections::HashMap;

/// Replaces the copies whose declarations stand with their values.
pub fn run(program: &mut Program) {
    program.functions_mut().for_each(propagate);
}

/// Replaces the copies in a function.
fn propagate(function: &mut Function) {
    let Some(body) = &mut function.body else {
        return;
    };
    let mut facts = Facts::default();
    for parameter in &function.parameters {
        facts.written(&parameter.name);
        facts
            .types
            .insert(parameter.name.clone(), parameter.ty.clone());
    }
    facts.block(body);
    let mut copies = Copies {
        facts,
        values: HashMap::new(),
    };
    copies.block(body);
}

/// The number of writes of each variable, and the types of variables.
#[derive(Default)]
struct Facts {
    writes: HashMap<Name, usize>,
    types: HashMap<Name, Type>,
}

impl Facts {
    fn written(&mut self, name: &Name) {
        *self.writes.entry(name.clone()).or_default() += 1;
    }

    fn block(&mut self, block: &Block) {
        for statement in &block.0 {
            match statement {
                Statement::Declare { ty, name, value } => {
                    self.types.insert(name.clone(), ty.clone());
                    if value.is_some() {
                        self.written(name);
                    }
                }
                Statement::Assign {
                    target: Expression::Name(name),
                    ..
                } => self.written(name),
                Statement::Lanes { variable, .. } => {
                    let ty = Type::name("int64_t");
                    self.types.insert(variable.clone(), ty);
                    self.written(variable);
                }
                Statement::For { ty, variable, .. } => {
                    self.types.insert(variable.clone(), ty.clone());
                    self.written(variable);
                }
                Statement::Assign { .. }
                | Statement::Expression(_)
                | Statement::If { .. }
                | Statement::While { .. }
                | Statement::Switch { .. }
                | Statement::Block(_)
                | jump_statements!()
                | mark_statements!() => {}
            }
            for expression in statement.expressions() {
                self.addresses(expression);
            }
            for inner in statement.blocks() {
                deep(|| self.block(inner));
            }
        }
    }

    /// Counts each use of a variable's address as a write: the call that gets it may write the
    /// variable.
    fn addresses(&mut self, expression: &Expression) {
        if let Expression::Unary(Unary::AddressOf, inner) = expression
            && let Expression::Name(name) = &**inner
        {
            self.written(name);
        }
        for operand in expression.operands() {
            deep(|| self.addresses(operand));
        }
    }

    fn is_constant(&self, name: &Name) -> bool {
        self.writes.get(name).is_none_or(|count| *count <= 1)
    }
}

struct Copies {
    facts: Facts,
    /// The values of removed variables.
    values: HashMap<Name, Expression>,
}

impl Copies {
    fn block(&mut self, block: &mut Block) {
        for mut statement in block.take() {
            for expression in statement.expressions_mut() {
                self.replace(expression);
            }
            if let Statement::Declare {
                ty,
                name,
                value: Some(value),
            } = &statement
                && self.facts.is_constant(name)
                && self.is_copy(ty, value)
            {
                self.values.insert(name.clone(), value.clone());
                continue;
            }
            for inner in statement.blocks_mut() {
                deep(|| self.block(inner));
            }
            block.0.push(statement);
        }
    }

    /// True if a value never changes, and is a single name.
    fn is_copy(&self, ty: &Type, value: &Expression) -> bool {
        let Expression::Name(name) = value else {
            return false;
        };
        // Names of the runtime are not variables.
        match self.facts.types.get(name) {
            Some(of_name) => of_name == ty && self.facts.is_constant(name),
            None => matches!(&**name, "true" | "false"),
        }
    }

    fn replace(&self, expression: &mut Expression) {
        if let Expression::Name(name) = expression {
            if let Some(value) = self.values.get(name) {
                *expression = value.clone();
            }
            return;
        }
        for operand in expression.operands_mut() {
            deep(|| self.replace(operand));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ast::Item;
    use crate::ast::Parameter;

    #[test]
    fn copies_of_constants_go() {
        let int = || Type::name("int64_t");
        let name = |n: &str| Expression::name(n);
        let mut function = Function {
            prefix: Vec::new(),
            result: int(),
            name: "f".into(),
            parameters: vec![Parameter {
                ty: int(),
                name: "n".into(),
            }],
            body: Some(Block(vec![
                Statement::declare(int(), "a", name("n")),
                Statement::declare(int(), "b", name("a")),
                Statement::declare(int(), "c", Expression::literal("0")),
                Statement::declare(int(), "d", name("c")),
                Statement::assign(name("c"), name("b")),
                Statement::call("g", vec![name("d")]),
                Statement::Return(Some(name("c"))),
            ])),
        };
        propagate(&mut function);
        assert_eq!(
            crate::print::print(&[Item::Function(function)]),
            "int64_t f(int64_t n)\n{\n    int64_t c = 0;\n    int64_t d = c;\n    c = n;\n    g(d);\n    return c;\n}\n"
        );
    }
}
