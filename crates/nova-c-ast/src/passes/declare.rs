//! Moves declarations to the first use of their variables. A variable is declared with its value where
//! that is possible, as a person would write it.

use crate::ast::{
    Block, Expression, Function, Name, Program, Statement, Type, jump_statements, mark_statements,
    nested_statements, value_statements,
};
use nova_diag::deep;
use std::collections::HashMap;

/// Moves the declarations of all functions.
pub fn run(program: &mut Program) {
    program.functions_mut().for_each(sink);
}

/// Moves the declarations of a function.
fn sink(function: &mut Function) {
    let Some(body) = &mut function.body else {
        return;
    };
    let mut search = Search::default();
    search.block(body);
    place(body, &search.found);
}

/// Facts about a variable that is declared without a value.
struct Found {
    /// The depth of the block that declares it.
    depth: usize,
    /// The index of the statement of that block that first mentions it.
    first: Option<usize>,
    /// True if that statement only assigns it.
    assigns: bool,
}

#[derive(Default)]
struct Search {
    /// The index of the current statement at each depth.
    path: Vec<usize>,
    found: HashMap<Name, Found>,
}

impl Search {
    fn block(&mut self, block: &Block) {
        let depth = self.path.len();
        self.path.push(0);
        for (index, statement) in block.0.iter().enumerate() {
            self.path[depth] = index;
            self.statement(statement, depth);
            for inner in statement.blocks() {
                deep(|| self.block(inner));
            }
        }
        self.path.pop();
    }

    fn statement(&mut self, statement: &Statement, depth: usize) {
        match statement {
            Statement::Declare {
                name, value: None, ..
            } => {
                let found = Found {
                    depth,
                    first: None,
                    assigns: false,
                };
                self.found.insert(name.clone(), found);
            }
            Statement::Assign {
                target: Expression::Name(name),
                value,
            } => {
                self.expression(value);
                self.mention(name, true);
            }
            other @ (value_statements!()
            | nested_statements!()
            | jump_statements!()
            | mark_statements!()) => {
                for expression in other.expressions() {
                    self.expression(expression);
                }
            }
        }
    }

    fn expression(&mut self, expression: &Expression) {
        if let Expression::Name(name) = expression {
            self.mention(name, false);
        }
        for operand in expression.operands() {
            deep(|| self.expression(operand));
        }
    }

    fn mention(&mut self, name: &Name, assigned: bool) {
        let here = self.path.len() - 1;
        if let Some(found) = self.found.get_mut(name)
            && found.first.is_none()
        {
            found.first = self.path.get(found.depth).copied();
            found.assigns = assigned && here == found.depth;
        }
    }
}

/// Rebuilds a block with each declaration before its first use.
fn place(block: &mut Block, found: &HashMap<Name, Found>) {
    let mut waiting: HashMap<usize, Vec<(Type, Name)>> = HashMap::new();
    for (index, mut statement) in block.take().into_iter().enumerate() {
        for inner in statement.blocks_mut() {
            deep(|| place(inner, found));
        }
        if let Statement::Declare {
            ty,
            name,
            value: None,
        } = statement
        {
            if let Some(first) = found.get(&name).and_then(|f| f.first) {
                waiting.entry(first).or_default().push((ty, name));
            }
            continue;
        }
        let mut assigned = None;
        for (ty, name) in waiting.remove(&index).unwrap_or_default() {
            if found.get(&name).is_some_and(|f| f.assigns) {
                assigned = Some((ty, name));
            } else {
                let value = None;
                block.0.push(Statement::Declare { ty, name, value });
            }
        }
        block.0.push(match (statement, assigned) {
            (Statement::Assign { value, .. }, Some((ty, name))) => {
                Statement::declare(ty, name, value)
            }
            (statement, _) => statement,
        });
        return_at_once(block);
    }
}

/// Replaces `T x = v; return x;` by `return v;`.
fn return_at_once(block: &mut Block) {
    let same = match &*block.0 {
        [
            ..,
            Statement::Declare {
                name,
                value: Some(_),
                ..
            },
            Statement::Return(Some(Expression::Name(returned))),
        ] => name == returned,
        _ => false,
    };
    if same {
        block.0.pop();
        if let Some(Statement::Declare { value, .. }) = block.0.pop() {
            block.0.push(Statement::Return(value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ast::Item;

    #[test]
    fn declarations_meet_their_values() {
        let int = || Type::name("int64_t");
        let name = |n: &str| Expression::name(n);
        let unset = |n: &str| Statement::Declare {
            ty: int(),
            name: n.into(),
            value: None,
        };
        let mut function = Function {
            prefix: Vec::new(),
            result: int(),
            name: "f".into(),
            parameters: Vec::new(),
            body: Some(Block(vec![
                unset("a"),
                unset("b"),
                unset("c"),
                unset("never"),
                Statement::call("g", vec![]),
                Statement::assign(name("b"), Expression::literal("1")),
                Statement::when(name("b"), vec![Statement::assign(name("c"), name("b"))]),
                Statement::assign(name("a"), name("c")),
                Statement::Return(Some(name("a"))),
            ])),
        };
        sink(&mut function);
        assert_eq!(
            crate::print::print(&[Item::Function(function)]),
            "int64_t f(void)\n{\n    g();\n    int64_t b = 1;\n    int64_t c;\n    if (b)\n        c = b;\n    return c;\n}\n"
        );
    }
}
