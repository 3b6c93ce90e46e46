//! Dead-code elimination within a function: removes local variables that are never read. Unread
//! parameters are marked as intentional, so that compilers do not warn.

use crate::ast::{
    Block, Expression, Function, Name, Statement, Type, jump_statements, mark_statements,
    nested_statements, value_statements,
};
use nova_diag::deep;
use std::collections::{HashMap, HashSet};

/// Prunes a function. Returns for each parameter whether it is never read. The function marks such
/// parameters as intentional, unless they are `dropped` by the caller.
pub(super) fn prune(function: &mut Function, dropped: bool) -> Vec<bool> {
    let Some(body) = &mut function.body else {
        return vec![false; function.parameters.len()];
    };
    let mut uses = Uses::default();
    for parameter in &function.parameters {
        uses.locals.insert(parameter.name.clone());
    }
    uses.find_locals(body);
    uses.block(body);
    let live = uses.close();
    let dead = |name: &Name| uses.locals.contains(name) && !live.contains(name);
    remove(body, &dead);
    let unread: Vec<bool> = function.parameters.iter().map(|p| dead(&p.name)).collect();
    if !dropped {
        let remarks = function.parameters.iter().zip(&unread).filter(|(_, u)| **u);
        let mut statements: Vec<Statement> = remarks
            .map(|(p, _)| {
                let name = Expression::Name(p.name.clone());
                Statement::Expression(name.cast(Type::name("void")))
            })
            .collect();
        statements.append(&mut body.0);
        body.0 = statements;
    }
    unread
}

/// The names that are read for a side effect, and those that are read for the value of a local
/// variable.
#[derive(Default)]
struct Uses {
    locals: HashSet<Name>,
    roots: Vec<Name>,
    reads: HashMap<Name, Vec<Name>>,
}

impl Uses {
    fn find_locals(&mut self, block: &Block) {
        for statement in &block.0 {
            if let Statement::Declare { name, .. } = statement {
                self.locals.insert(name.clone());
            }
            for inner in statement.blocks() {
                deep(|| self.find_locals(inner));
            }
        }
    }

    fn block(&mut self, block: &Block) {
        for statement in &block.0 {
            self.statement(statement);
            for inner in statement.blocks() {
                deep(|| self.block(inner));
            }
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Declare { name, value, .. } => {
                if let Some(value) = value {
                    self.assigned(name, value);
                }
            }
            Statement::Assign {
                target: Expression::Name(name),
                value,
            } if self.locals.contains(name) => self.assigned(name, value),
            other @ (Statement::Assign { .. }
            | Statement::Expression(_)
            | nested_statements!()
            | jump_statements!()
            | mark_statements!()) => {
                for expression in other.expressions() {
                    names(expression, &mut self.roots);
                }
            }
        }
    }

    fn assigned(&mut self, name: &Name, value: &Expression) {
        if is_pure(value) {
            names(value, self.reads.entry(name.clone()).or_default());
        } else {
            names(value, &mut self.roots);
        }
    }

    /// Returns every name that a side effect needs.
    fn close(&self) -> HashSet<Name> {
        let mut live: HashSet<Name> = HashSet::new();
        let mut left = self.roots.clone();
        while let Some(name) = left.pop() {
            if !live.contains(&name) {
                left.extend(self.reads.get(&name).into_iter().flatten().cloned());
                live.insert(name);
            }
        }
        live
    }
}

fn names(expression: &Expression, into: &mut Vec<Name>) {
    if let Expression::Name(name) = expression {
        into.push(name.clone());
    }
    for operand in expression.operands() {
        deep(|| names(operand, into));
    }
}

fn is_pure(expression: &Expression) -> bool {
    !matches!(expression, Expression::Call(..))
        && expression
            .operands()
            .into_iter()
            .all(|o| deep(|| is_pure(o)))
}

/// Removes the declarations and assignments of dead variables. Calls stay.
fn remove(block: &mut Block, dead: &dyn Fn(&Name) -> bool) {
    for mut statement in block.take() {
        for inner in statement.blocks_mut() {
            deep(|| remove(inner, dead));
        }
        let value = match statement {
            Statement::Declare {
                ref name,
                ref mut value,
                ..
            } if dead(name) => value.take(),
            Statement::Assign {
                target: Expression::Name(ref name),
                ref mut value,
            } if dead(name) => Some(std::mem::replace(value, Expression::literal("0"))),
            other @ (value_statements!()
            | nested_statements!()
            | jump_statements!()
            | mark_statements!()) => {
                block.0.push(other);
                continue;
            }
        };
        if let Some(value) = value.filter(|v| !is_pure(v)) {
            block.0.push(Statement::Expression(for_effect(value)));
        }
    }
}

/// Returns a value that is evaluated only for its side effects: the call, or a cast to `void`.
fn for_effect(value: Expression) -> Expression {
    let inner = match value {
        Expression::Cast(_, inner) => *inner,
        other => other,
    };
    match inner {
        Expression::Call(..) => inner,
        other => other.cast(Type::name("void")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ast::Binary;
    use crate::ast::Item;
    use crate::ast::Parameter;

    #[test]
    fn what_is_not_read_goes() {
        let int = || Type::name("int64_t");
        let name = |n: &str| Expression::name(n);
        let one = || Expression::literal("1");
        let plus = |a| Expression::binary(Binary::Add, a, one());
        let mut function = Function {
            prefix: vec!["static".into()],
            result: int(),
            name: "f".into(),
            parameters: ["a", "b"]
                .map(|n| Parameter {
                    ty: int(),
                    name: n.into(),
                })
                .into(),
            body: Some(Block(vec![
                Statement::declare(int(), "x", plus(name("b"))),
                Statement::assign(name("x"), plus(name("x"))),
                Statement::declare(int(), "y", Expression::call("g", vec![])),
                Statement::Return(Some(plus(name("a")))),
            ])),
        };
        assert_eq!(prune(&mut function, false), [false, true]);
        assert_eq!(
            crate::print::print(&[Item::Function(function)]),
            "static int64_t f(int64_t a, int64_t b)\n{\n    (void)b;\n    g();\n    return a + 1;\n}\n"
        );
    }
}
