//! Common-subexpression elimination: a value that has been computed before is not computed again.
//!
//! The pass is one walk in order. A scalar or element that an earlier statement has computed, in
//! the same body or an enclosing one, becomes a copy of it. A check of a condition that has been
//! checked is dropped. Maps of an operation that store the same value become one array (the paper's
//! `(map f X X Z)`, nova.txt §5). What every branch of a conditional computes is computed before it
//! ([`branches`]).

mod branches;

use nova_core::{Scalar, ScalarOperation, SumId};
use nova_diag::deep;
use nova_flat::ir::{ArrayOperation, Atom, Body, Expression, Output, Program, Statement, Variable};
use nova_flat::visit::{Substitution, binders, bodies_mut, each_function};
use std::collections::{HashMap, HashSet};

/// Eliminates common subexpressions in every function.
pub fn run(program: &mut Program) {
    each_function(program, |program, body| {
        let mut elimination = Elimination {
            program,
            substitution: Substitution::default(),
            known: HashMap::new(),
            checked: HashSet::new(),
            log: Vec::new(),
        };
        elimination.body(body);
    });
}

/// An operand in a key. Two are equal where the atoms are the same to the bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Operand {
    Variable(Variable),
    Constant(Scalar, u64),
}

/// The value that a statement computes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Scalar(ScalarOperation, Scalar, Vec<Operand>),
    Element(Variable, Vec<Operand>),
    Tag(SumId, Operand),
}

/// A fact learnt in a body. It is forgotten after the body.
enum Learnt {
    Known(Key),
    Checked(Operand),
}

struct Elimination<'a> {
    program: &'a mut Program,
    substitution: Substitution,
    /// The variables that hold computed values.
    known: HashMap<Key, Variable>,
    /// The conditions that hold.
    checked: HashSet<Operand>,
    log: Vec<Learnt>,
}

impl Elimination<'_> {
    fn body(&mut self, body: &mut Body) {
        let start = self.log.len();
        for mut statement in std::mem::take(&mut body.statements) {
            self.rename(&mut statement);
            bodies_mut(&mut statement.expression, &mut |inner| {
                deep(|| self.body(inner));
            });
            if let Expression::Operation(operation) = &mut statement.expression {
                self.merge_maps(operation, &mut statement.pattern);
            }
            for hoisted in branches::hoist(self.program, &mut statement.expression) {
                self.learn(&hoisted);
                body.statements.push(hoisted);
            }
            if !self.is_done(&statement) {
                body.statements.push(statement);
            }
        }
        for result in &mut body.results {
            *result = self.substitution.atom(*result);
        }
        for learnt in self.log.drain(start..) {
            match learnt {
                Learnt::Known(key) => {
                    self.known.remove(&key);
                }
                Learnt::Checked(condition) => {
                    self.checked.remove(&condition);
                }
            }
        }
    }

    fn rename(&mut self, statement: &mut Statement) {
        self.substitution.operands(&mut statement.expression);
        for variable in &statement.pattern {
            self.substitution.info(self.program, *variable);
        }
        let (substitution, program) = (&self.substitution, &mut *self.program);
        binders(&statement.expression, &mut |v| {
            substitution.info(program, *v)
        });
    }

    /// True if an earlier statement has the same result. If not, the statement is noted.
    fn is_done(&mut self, statement: &Statement) -> bool {
        if let Expression::Check { condition, .. } = &statement.expression {
            let condition = operand(*condition);
            let first = self.checked.insert(condition);
            if first {
                self.log.push(Learnt::Checked(condition));
            }
            return !first;
        }
        let ([variable], Some(key)) = (&statement.pattern[..], key(&statement.expression)) else {
            return false;
        };
        match self.known.get(&key) {
            Some(before) => {
                self.substitution.insert(*variable, Atom::Variable(*before));
                true
            }
            None => {
                self.learn(statement);
                false
            }
        }
    }

    /// Notes the value of a statement, which no earlier one has.
    fn learn(&mut self, statement: &Statement) {
        if let ([variable], Some(key)) = (&statement.pattern[..], key(&statement.expression)) {
            self.known.insert(key.clone(), *variable);
            self.log.push(Learnt::Known(key));
        }
    }

    /// Merges maps that store the same value.
    fn merge_maps(&mut self, operation: &mut ArrayOperation, pattern: &mut Vec<Variable>) {
        let carries = operation.carries.len();
        let mut first: HashMap<Operand, Variable> = HashMap::new();
        let mut results = operation.body.results.clone().into_iter();
        let mut given = std::mem::take(pattern).into_iter();
        let mut remaining: Vec<Atom> = results.by_ref().take(carries).collect();
        pattern.extend(given.by_ref().take(carries));
        operation.outputs.retain(|output| {
            let values: Vec<Atom> = results.by_ref().take(output.consumes()).collect();
            let arrays: Vec<Variable> = given.by_ref().take(output.gives()).collect();
            if let (Output::Map, [value], [array]) = (output, &values[..], &arrays[..]) {
                match first.get(&operand(*value)) {
                    Some(before) => {
                        self.substitution.insert(*array, Atom::Variable(*before));
                        return false;
                    }
                    None => {
                        first.insert(operand(*value), *array);
                    }
                }
            }
            remaining.extend(values);
            pattern.extend(arrays);
            true
        });
        operation.body.results = remaining;
    }
}

fn operand(atom: Atom) -> Operand {
    match atom {
        Atom::Variable(variable) => Operand::Variable(variable),
        Atom::Constant(value) => Operand::Constant(value.scalar(), value.canonical_bits()),
    }
}

/// Returns the key of an expression whose value is the same whenever it is computed.
fn key(expression: &Expression) -> Option<Key> {
    let operands = |atoms: &[Atom]| -> Vec<Operand> { atoms.iter().map(|a| operand(*a)).collect() };
    match expression {
        Expression::Scalar {
            operation,
            operand,
            arguments,
        } => {
            let mut arguments = operands(arguments);
            if commutes(*operation) {
                arguments.sort();
            }
            Some(Key::Scalar(*operation, *operand, arguments))
        }
        Expression::Index { array, indices } => Some(Key::Element(*array, operands(indices))),
        Expression::NodeTag { sum, link } => Some(Key::Tag(*sum, operand(*link))),
        Expression::Atom(_) | Expression::MaySplit => None,
        _ => None,
    }
}

/// True if the order of two operands makes no difference.
fn commutes(operation: ScalarOperation) -> bool {
    matches!(
        operation,
        ScalarOperation::Add
            | ScalarOperation::Multiply
            | ScalarOperation::Minimum
            | ScalarOperation::Maximum
            | ScalarOperation::Equal
            | ScalarOperation::NotEqual
            | ScalarOperation::BitAnd
            | ScalarOperation::BitOr
            | ScalarOperation::BitXor
    )
}
