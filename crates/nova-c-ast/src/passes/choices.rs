//! Marks states of loops that are chosen among constants, so that gcc computes them in order.
//!
//! `s = a == b ? s : (a < b ? -1 : 1)` keeps the last choice. gcc (seen with 12.2) may compute such a state in
//! lanes of vectors and then take the largest of the lanes. It looks at one of the constants only, and takes the
//! others for the state from before the loop. With `NOVA_IN_ORDER(s)` in the loop it finds no vectors for it.

use crate::ast::{Block, Expression, Function, Name, Program, Statement};
use nova_diag::deep;
use std::collections::{HashMap, HashSet};

/// The macro of the runtime.
const CHOSEN: &str = "NOVA_IN_ORDER";

/// Marks the states of all loops of the host.
pub fn run(program: &mut Program) {
    for Function { body, .. } in &mut program.host.list {
        if let Some(body) = body {
            mark(body);
        }
    }
}

/// Marks the states of the loops of a block.
fn mark(block: &mut Block) {
    for statement in &mut block.0 {
        for inner in statement.blocks_mut() {
            deep(|| mark(inner));
        }
        if let Some(body) = loop_body(statement) {
            let marks = Choices::of(body).chosen();
            let marks = marks
                .into_iter()
                .map(|name| Statement::call(CHOSEN, vec![Expression::Name(name)]));
            body.0.splice(0..0, marks.collect::<Vec<_>>());
        }
    }
}

/// Returns the body of a loop that may end after a known number of iterations. gcc makes vectors of no other.
fn loop_body(statement: &mut Statement) -> Option<&mut Block> {
    match statement {
        Statement::For { body, .. }
        | Statement::Lanes { body, .. }
        | Statement::While {
            condition: Some(_),
            body,
        } => Some(body),
        _others => None,
    }
}

/// The values that an iteration assigns to variables, without the loops in it.
#[derive(Default)]
struct Choices {
    /// For each variable the values that it may get, conditionals taken apart.
    values: HashMap<Name, Vec<Expression>>,
    /// The variables that some iteration may leave as they are.
    kept: HashSet<Name>,
    /// The variables that the body declares.
    declared: HashSet<Name>,
    /// The assigned variables in order.
    order: Vec<Name>,
}

impl Choices {
    fn of(body: &Block) -> Choices {
        let mut choices = Choices::default();
        choices.block(body, false);
        choices
    }

    fn block(&mut self, block: &Block, conditional: bool) {
        for statement in &block.0 {
            match statement {
                Statement::Declare { name, value, .. } => {
                    self.declared.insert(name.clone());
                    if let Some(value) = value {
                        self.assign(name, value);
                    }
                }
                Statement::Assign {
                    target: Expression::Name(name),
                    value,
                } => {
                    self.assign(name, value);
                    if conditional {
                        self.kept.insert(name.clone());
                    }
                }
                Statement::If {
                    then, otherwise, ..
                } => {
                    deep(|| self.block(then, true));
                    deep(|| self.block(otherwise, true));
                }
                Statement::Switch { cases, .. } => {
                    cases
                        .iter()
                        .for_each(|case| deep(|| self.block(case, true)));
                }
                Statement::Block(inner) => deep(|| self.block(inner, conditional)),
                _others => {}
            }
        }
    }

    fn assign(&mut self, name: &Name, value: &Expression) {
        if !self.values.contains_key(name) {
            self.order.push(name.clone());
        }
        let values = self.values.entry(name.clone()).or_default();
        take_apart(value, values);
    }

    /// Returns the states from before the loop that are kept or get one of several values, a constant among
    /// them.
    fn chosen(&self) -> Vec<Name> {
        let states = self
            .order
            .iter()
            .filter(|name| !self.declared.contains(*name));
        let chosen = states.filter(|name| self.is_chosen(name));
        chosen.cloned().collect()
    }

    fn is_chosen(&self, state: &Name) -> bool {
        let mut is_kept = self.kept.contains(state);
        let mut seen: HashSet<&Name> = HashSet::new();
        let mut found: Vec<&Expression> = Vec::new();
        let mut waiting = vec![state];
        while let Some(name) = waiting.pop() {
            for value in self.values.get(name).into_iter().flatten() {
                match value {
                    Expression::Name(other) if other == state => is_kept = true,
                    Expression::Name(other) if self.declared.contains(other) => {
                        waiting.extend(seen.insert(other).then_some(other));
                    }
                    value if !found.contains(&value) => found.push(value),
                    _known => {}
                }
            }
        }
        is_kept && found.len() > 1 && found.iter().any(|value| is_constant(value))
    }
}

/// Adds the values of the branches of a conditional.
fn take_apart(value: &Expression, values: &mut Vec<Expression>) {
    match value {
        Expression::Conditional(parts) => {
            for branch in &parts[1..] {
                deep(|| take_apart(branch, values));
            }
        }
        Expression::Cast(_, of) => deep(|| take_apart(of, values)),
        other => values.push(other.clone()),
    }
}

fn is_constant(value: &Expression) -> bool {
    match value {
        Expression::Literal(_) => true,
        Expression::Name(name) => matches!(&**name, "true" | "false"),
        _others => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ast::{Binary, Functions, Type};

    /// Returns the marks of a loop.
    fn marks(body: Vec<Statement>) -> Vec<String> {
        let function = Function {
            prefix: Vec::new(),
            result: Type::name("void"),
            name: "f".into(),
            parameters: Vec::new(),
            body: Some(
                vec![Statement::For {
                    ty: Type::name("int64_t"),
                    variable: "i".into(),
                    count: Expression::literal("8"),
                    body: body.into(),
                }]
                .into(),
            ),
        };
        let mut program = Program {
            host: Functions {
                list: vec![function],
                ..Functions::default()
            },
            ..Program::default()
        };
        run(&mut program);
        let printed =
            crate::print::print(&[crate::ast::Item::Function(program.host.list[0].clone())]);
        let lines = printed.lines().filter(|line| line.contains(CHOSEN));
        lines.map(|line| line.trim().to_string()).collect()
    }

    fn name(text: &str) -> Expression {
        Expression::name(text)
    }

    fn choice(then: Expression, otherwise: Expression) -> Expression {
        Expression::conditional(name("c"), then, otherwise)
    }

    #[test]
    fn states_among_constants_are_marked() {
        let signs = || choice(Expression::literal("-1"), Expression::literal("1"));
        let state = || name("s");
        assert_eq!(
            marks(vec![Statement::assign(state(), choice(state(), signs()))]),
            ["NOVA_IN_ORDER(s);"]
        );
        // The same by way of a variable of the iteration, and by statements.
        let by_variable = vec![
            Statement::declare(Type::name("int32_t"), "t", signs()),
            Statement::assign(state(), choice(state(), name("t"))),
        ];
        assert_eq!(marks(by_variable), ["NOVA_IN_ORDER(s);"]);
        let set = |value: &str| vec![Statement::assign(state(), Expression::literal(value))];
        let by_statements = vec![
            Statement::when(name("a"), set("1")),
            Statement::when(name("b"), set("2")),
        ];
        assert_eq!(marks(by_statements), ["NOVA_IN_ORDER(s);"]);
    }

    #[test]
    fn other_states_are_not() {
        let state = || name("s");
        let one = || Expression::literal("1");
        let sum = Expression::binary(Binary::Add, state(), name("x"));
        for value in [
            sum.clone(),
            choice(state(), one()),
            choice(name("x"), state()),
            choice(one(), Expression::literal("2")),
        ] {
            assert_eq!(marks(vec![Statement::assign(state(), value)]), [""; 0]);
        }
        let own = vec![
            Statement::declare(Type::name("int32_t"), "s", one()),
            Statement::assign(state(), choice(state(), choice(one(), name("x")))),
        ];
        assert_eq!(marks(own), [""; 0]);
    }
}
