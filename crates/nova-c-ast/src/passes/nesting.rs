//! Bounds the nesting of statements, because compilers do (clang: 256 brackets). Statements nested
//! deeper than a limit are written with `goto`, after the declarations of all their variables.

use crate::ast::{
    Block, Expression, Function, Name, Program, Statement, Type, mark_statements, not,
};
use nova_diag::deep;
use std::collections::HashSet;

/// The largest number of statements that enclose another statement.
const LIMIT: usize = 60;

/// Bounds the nesting of all functions.
pub fn run(program: &mut Program) {
    program.functions_mut().for_each(bound);
}

/// Bounds the nesting of a function.
fn bound(function: &mut Function) {
    if let Some(body) = &mut function.body {
        let mut labels = 0;
        bound_block(body, 0, &mut labels);
    }
}

fn bound_block(block: &mut Block, depth: usize, labels: &mut usize) {
    if depth < LIMIT {
        for inner in block.0.iter_mut().flat_map(|s| s.blocks_mut()) {
            bound_block(inner, depth + 1, labels);
        }
    } else if block.0.iter_mut().any(|s| !s.blocks_mut().is_empty()) {
        let mut flat = Flat {
            labels,
            variables: Vec::new(),
            statements: Vec::new(),
            loops: Vec::new(),
        };
        flat.block(block.take());
        let Flat {
            mut variables,
            statements,
            ..
        } = flat;
        variables.extend(without_unused_labels(statements));
        block.0 = variables;
    }
}

struct Flat<'a> {
    labels: &'a mut usize,
    variables: Vec<Statement>,
    statements: Vec<Statement>,
    /// The labels at the start and the end of the enclosing loops, within the flat part.
    loops: Vec<(Name, Name)>,
}

impl Flat<'_> {
    fn label(&mut self, name: &str) -> Name {
        *self.labels += 1;
        // No variable has a name with two underscores in it.
        format!("{name}__{}", self.labels).into()
    }

    fn push(&mut self, statement: Statement) {
        self.statements.push(statement);
    }

    fn jump_unless(&mut self, condition: Expression, label: &Name) {
        self.push(Statement::when(
            not(condition),
            vec![Statement::Goto(label.clone())],
        ));
    }

    fn block(&mut self, statements: Vec<Statement>) {
        for statement in statements {
            deep(|| self.statement(statement));
        }
    }

    fn variable(&mut self, ty: Type, name: Name) {
        let ty = match ty {
            Type::Const(inner) => (*inner).clone(),
            other @ (Type::Name(_) | Type::Struct(_) | Type::Pointer(_) | Type::Array(..)) => other,
        };
        if let Type::Array(..) = ty {
            return self.variables.push(Statement::Declare {
                ty,
                name,
                value: None,
            });
        }
        let zero = match &ty {
            Type::Pointer(_) => Expression::name("NULL"),
            Type::Name(name) if &**name == "bool" => Expression::name("false"),
            Type::Name(_) | Type::Struct(_) | Type::Const(_) | Type::Array(..) => {
                Expression::literal("0")
            }
        };
        self.variables.push(Statement::declare(ty, name, zero));
    }

    fn statement(&mut self, statement: Statement) {
        match statement {
            Statement::Declare { ty, name, value } => {
                self.variable(ty, name.clone());
                if let Some(value) = value {
                    self.push(Statement::assign(Expression::Name(name), value));
                }
            }
            Statement::If {
                condition,
                mut then,
                mut otherwise,
            } => self.conditional(condition, then.take(), otherwise.take()),
            Statement::For {
                ty,
                variable,
                count,
                mut body,
            } => self.counted_loop(ty, variable, count, body.take()),
            Statement::Lanes {
                hint: _,
                variable,
                count,
                mut body,
            } => self.counted_loop(Type::name("int64_t"), variable, count, body.take()),
            Statement::While {
                condition,
                mut body,
            } => {
                let (start, end) = (self.label("start"), self.label("end"));
                self.push(Statement::Label(start.clone()));
                if let Some(condition) = condition {
                    self.jump_unless(condition, &end);
                }
                self.loops.push((start.clone(), end.clone()));
                self.block(body.take());
                self.loops.pop();
                self.push(Statement::Goto(start));
                self.push(Statement::Label(end));
            }
            Statement::Switch { value, cases } => self.switch(value, cases),
            Statement::Block(mut block) => self.block(block.take()),
            Statement::Break => {
                let target = self
                    .loops
                    .last()
                    .map(|(_, end)| Statement::Goto(end.clone()));
                self.push(target.unwrap_or(Statement::Break));
            }
            Statement::Continue => {
                let target = self.loops.last().map(|(s, _)| Statement::Goto(s.clone()));
                self.push(target.unwrap_or(Statement::Continue));
            }
            Statement::Assign { .. }
            | Statement::Expression(_)
            | Statement::Return(_)
            | Statement::Goto(_)
            | mark_statements!() => self.push(statement),
        }
    }

    fn conditional(
        &mut self,
        condition: Expression,
        then: Vec<Statement>,
        otherwise: Vec<Statement>,
    ) {
        let (other, end) = (self.label("otherwise"), self.label("end"));
        self.jump_unless(condition, &other);
        self.block(then);
        if !otherwise.is_empty() {
            self.push(Statement::Goto(end.clone()));
        }
        self.push(Statement::Label(other));
        self.block(otherwise);
        self.push(Statement::Label(end));
    }

    fn counted_loop(&mut self, ty: Type, variable: Name, count: Expression, body: Vec<Statement>) {
        let (start, end) = (self.label("start"), self.label("end"));
        let index = Expression::Name(variable.clone());
        self.variable(ty, variable);
        self.push(Statement::assign(index.clone(), Expression::literal("0")));
        self.push(Statement::Label(start.clone()));
        let less = crate::ast::Binary::Less;
        self.jump_unless(Expression::binary(less, index.clone(), count), &end);
        self.block(body);
        let next = Expression::binary(
            crate::ast::Binary::Add,
            index.clone(),
            Expression::literal("1"),
        );
        self.push(Statement::assign(index, next));
        self.push(Statement::Goto(start));
        self.push(Statement::Label(end));
    }

    fn switch(&mut self, value: Expression, cases: Vec<Block>) {
        let end = self.label("end");
        let labels: Vec<Name> = cases.iter().map(|_| self.label("case")).collect();
        let jump = |label: &Name| Block(vec![Statement::Goto(label.clone())]);
        self.push(Statement::Switch {
            value,
            cases: labels.iter().map(jump).collect(),
        });
        for (mut case, label) in cases.into_iter().zip(labels) {
            self.push(Statement::Label(label));
            self.block(case.take());
            self.push(Statement::Goto(end.clone()));
        }
        self.push(Statement::Label(end));
    }
}

/// Removes unused labels, about which compilers warn.
fn without_unused_labels(mut statements: Vec<Statement>) -> Vec<Statement> {
    let mut used: HashSet<Name> = HashSet::new();
    for statement in &mut statements {
        if let Statement::Goto(label) = statement {
            used.insert(label.clone());
        }
        for inner in statement.blocks_mut().iter().flat_map(|b| &b.0) {
            if let Statement::Goto(label) = inner {
                used.insert(label.clone());
            }
        }
    }
    // Labels of the emitter are always used.
    statements.retain(|statement| {
        let Statement::Label(label) = statement else {
            return true;
        };
        !label.contains("__") || used.contains(label)
    });
    statements
}
