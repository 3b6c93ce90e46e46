//! Takes out of a function what its result does not need: local variables that are never read, and
//! says of parameters that are not read that this is meant, so that compilers have nothing to warn
//! of.

use crate::ast::{Block, Expression, Function, Name, Statement, Type};
use nova_diag::deep;
use std::collections::{HashMap, HashSet};

/// Prunes a function.
pub fn prune(function: &mut Function) {
    let Some(body) = &mut function.body else {
        return;
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
    let unread = function.parameters.iter().filter(|p| dead(&p.name));
    let remarks = unread.map(|p| {
        let name = Expression::Name(p.name.clone());
        Statement::Expression(name.cast(Type::name("void")))
    });
    let mut statements: Vec<Statement> = remarks.collect();
    statements.append(&mut body.0);
    body.0 = statements;
}

/// Which names are read for an effect, and which for the value of a local variable.
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
            for inner in blocks(statement) {
                deep(|| self.find_locals(inner));
            }
        }
    }

    fn block(&mut self, block: &Block) {
        for statement in &block.0 {
            self.statement(statement);
            for inner in blocks(statement) {
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
            Statement::Assign { target, value } => {
                names(target, &mut self.roots);
                names(value, &mut self.roots);
            }
            Statement::Expression(value)
            | Statement::If {
                condition: value, ..
            }
            | Statement::Switch { value, .. }
            | Statement::For { count: value, .. }
            | Statement::While {
                condition: Some(value),
                ..
            }
            | Statement::Return(Some(value)) => names(value, &mut self.roots),
            Statement::While {
                condition: None, ..
            }
            | Statement::Break
            | Statement::Continue
            | Statement::Return(None)
            | Statement::Goto(_)
            | Statement::Label(_)
            | Statement::Block(_)
            | Statement::Comment(_)
            | Statement::Directive(_) => {}
        }
    }

    fn assigned(&mut self, name: &Name, value: &Expression) {
        if is_pure(value) {
            names(value, self.reads.entry(name.clone()).or_default());
        } else {
            names(value, &mut self.roots);
        }
    }

    /// Every name that an effect needs.
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

/// The blocks directly inside.
pub fn blocks(statement: &Statement) -> Vec<&Block> {
    match statement {
        Statement::If {
            then, otherwise, ..
        } => vec![then, otherwise],
        Statement::For { body, .. } | Statement::While { body, .. } | Statement::Block(body) => {
            vec![body]
        }
        Statement::Switch { cases, .. } => cases.iter().collect(),
        Statement::Declare { .. }
        | Statement::Assign { .. }
        | Statement::Expression(_)
        | Statement::Break
        | Statement::Continue
        | Statement::Return(_)
        | Statement::Goto(_)
        | Statement::Label(_)
        | Statement::Comment(_)
        | Statement::Directive(_) => Vec::new(),
    }
}

/// The expressions directly inside.
pub fn operands(expression: &Expression) -> Vec<&Expression> {
    match expression {
        Expression::Name(_)
        | Expression::Literal(_)
        | Expression::Text(_)
        | Expression::SizeOf(_) => Vec::new(),
        Expression::Unary(_, a)
        | Expression::Member(a, _)
        | Expression::Arrow(a, _)
        | Expression::Cast(_, a) => vec![a],
        Expression::Binary(_, a, b) | Expression::Index(a, b) => vec![a, b],
        Expression::Conditional(parts) => parts.iter().collect(),
        Expression::Pure(_, list) | Expression::Call(_, list) | Expression::Braces(list) => {
            list.iter().collect()
        }
    }
}

fn names(expression: &Expression, into: &mut Vec<Name>) {
    if let Expression::Name(name) = expression {
        into.push(name.clone());
    }
    for operand in operands(expression) {
        deep(|| names(operand, into));
    }
}

fn is_pure(expression: &Expression) -> bool {
    !matches!(expression, Expression::Call(..))
        && operands(expression)
            .into_iter()
            .all(|o| deep(|| is_pure(o)))
}

/// Removes the declarations and assignments of dead variables; calls stay.
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
            other => {
                block.0.push(other);
                continue;
            }
        };
        if let Some(value) = value.filter(|v| !is_pure(v)) {
            block.0.push(Statement::Expression(without_cast(value)));
        }
    }
}

fn without_cast(value: Expression) -> Expression {
    match value {
        Expression::Cast(_, inner) => *inner,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ast::{Binary, Item, Parameter};

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
        prune(&mut function);
        assert_eq!(
            crate::print::print(&[Item::Function(function)]),
            "static int64_t f(int64_t a, int64_t b)\n{\n    (void)b;\n    g();\n    return a + 1;\n}\n"
        );
    }
}
