//! Loops whose states are tables, with tables that get smaller.
//!
//! An iteration may leave nodes behind that no node links to any more, as a contraction of trees does.
//! Later iterations would work on them as well. So such a loop runs in parts: an inner loop of some
//! iterations, in which the tables keep their lengths, and then [`Expression::TableShrink`]. The parts
//! get four times as long, and start again with one iteration where nodes were left out. A loop
//! that keeps all nodes looks at their links O(log k) times in k iterations. Where an array of links stays the same, its links
//! name the same nodes, and the tables keep their lengths. Devices do without: finding the nodes that
//! stay goes over the links in order, which costs a device more than work on all nodes does.

use super::Tables;
use super::forms::fresh_tables;
use super::states::State;
use crate::writer::Writer;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::Place;
use nova_flat::ir::{Atom, Body, Expression, Statement, Type, Variable};
use nova_flat::links::link_components;
use nova_flat::visit::{Substitution, fresh_copy, fresh_variable, fresh_variables};
use nova_machine::figures;

/// The iterations of the first part.
const FIRST_PART: i64 = figures::ESTIMATES.first_part;

/// The factor by which parts get longer.
const GROWTH: i64 = figures::ESTIMATES.growth;

impl Tables<'_> {
    /// Emits a loop whose states include tables, in parts where its tables may get smaller.
    pub(super) fn shrinking(
        &mut self,
        statement: Statement,
        states: &[State],
        out: &mut Vec<Statement>,
    ) {
        if !self.may_shrink(&statement, states) {
            return out.push(statement);
        }
        let Statement {
            mut pattern,
            expression:
                Expression::While {
                    parameters,
                    condition,
                    body,
                },
            place,
        } = statement
        else {
            return;
        };
        let (inner, starts): (Vec<Variable>, Vec<Atom>) = parameters.into_iter().unzip();
        let mut renamed = Substitution::default();
        let outer = fresh_variables(self.program, &inner, &mut renamed);
        let outer_condition = fresh_copy(self.program, &condition, &mut renamed);
        let part = self.index("part");
        let part_loop = Inner {
            states: inner,
            condition,
            body,
            place: place.clone(),
        };
        let outer_body = self.part(part_loop, &outer, part, states);
        let mut parameters: Vec<(Variable, Atom)> = outer.into_iter().zip(starts).collect();
        parameters.push((part, Atom::index(FIRST_PART)));
        pattern.push(self.index("part"));
        out.push(Statement {
            pattern,
            expression: Expression::While {
                parameters,
                condition: outer_condition,
                body: outer_body,
            },
            place,
        });
    }

    /// True for a loop that ends by a condition without effects, and of which some tables may lose nodes.
    fn may_shrink(&self, statement: &Statement, states: &[State]) -> bool {
        let Expression::While {
            parameters,
            condition,
            body,
        } = &statement.expression
        else {
            return false;
        };
        let changes = |table: &Variable| {
            let state = parameters.iter().position(|(state, _)| state == table);
            let next = state.and_then(|k| body.results.get(k));
            next != Some(&Atom::Variable(*table))
        };
        let loses_nodes = |state: &State| {
            let links = link_components(&state.change.members, &self.program.sums);
            let links = links.unwrap_or_default();
            let mut links = links
                .iter()
                .zip(&state.tables)
                .filter(|(to, _)| to.is_some());
            links.all(|(_, table)| changes(table))
        };
        self.shrinks && states.iter().any(loses_nodes) && self.effects.of_body(condition).is_pure()
    }

    fn index(&mut self, name: &str) -> Variable {
        self.program.add_variable(name, Type::Scalar(Scalar::I64))
    }

    /// Returns the body of the outer loop: a part of the iterations, and then smaller tables.
    fn part(&mut self, inner: Inner, outer: &[Variable], part: Variable, states: &[State]) -> Body {
        let place = inner.place.clone();
        let names = inner.states.clone();
        let mut results = Substitution::default();
        let last: Vec<Variable> = names
            .iter()
            .map(|state| fresh_variable(self.program, *state, &mut results))
            .collect();
        let mut statements = vec![self.inner(inner, outer, &last, part)];
        let mut next: Vec<Atom> = last.iter().copied().map(Atom::Variable).collect();
        let mut lengths = Vec::new();
        for state in states {
            let members = &state.change.members;
            let tables: Vec<Atom> = state
                .tables
                .iter()
                .map(|table| results.atom(Atom::Variable(*table)))
                .collect();
            let shrunk = fresh_tables(self.program, members);
            for (table, new) in state.tables.iter().zip(&shrunk) {
                if let Some(k) = names.iter().position(|name| name == table) {
                    if matches!(self.program.ty(*new), Type::Scalar(_)) {
                        lengths.push((Atom::Variable(*new), next[k]));
                    }
                    next[k] = Atom::Variable(*new);
                }
            }
            statements.push(Statement {
                pattern: shrunk,
                expression: Expression::TableShrink {
                    members: members.clone(),
                    tables,
                },
                place: place.clone(),
            });
        }
        let length = self.next_part(part, &lengths, &mut statements, &place);
        next.push(length);
        Body {
            statements,
            results: next,
        }
    }

    /// Returns the loop over the iterations of one part.
    fn inner(
        &mut self,
        inner: Inner,
        outer: &[Variable],
        last: &[Variable],
        part: Variable,
    ) -> Statement {
        let Inner {
            states,
            condition,
            mut body,
            place,
        } = inner;
        let count = self.index("k");
        let mut statements = Vec::new();
        let go_on = Writer::new(self.program, &place, &mut statements).scalar(
            "is_in_part",
            ScalarOperation::Less,
            [Atom::Variable(count), Atom::Variable(part)],
        );
        let holds = self
            .program
            .add_variable("holds", Type::Scalar(Scalar::Bool));
        statements.push(Statement::binding(
            holds,
            Expression::If {
                condition: go_on,
                then: condition,
                otherwise: Body {
                    statements: Vec::new(),
                    results: vec![Atom::Constant(ScalarValue::Bool(false))],
                },
            },
            place.clone(),
        ));
        let condition = Body {
            statements,
            results: vec![Atom::Variable(holds)],
        };
        let next = Writer::new(self.program, &place, &mut body.statements).scalar(
            "k",
            ScalarOperation::Add,
            [Atom::Variable(count), Atom::index(1)],
        );
        body.results.push(next);
        let starts = outer.iter().copied().map(Atom::Variable);
        let mut parameters: Vec<(Variable, Atom)> = states.into_iter().zip(starts).collect();
        parameters.push((count, Atom::index(0)));
        let mut pattern = last.to_vec();
        pattern.push(self.index("k"));
        Statement {
            pattern,
            expression: Expression::While {
                parameters,
                condition,
                body,
            },
            place,
        }
    }

    /// Emits the number of iterations of the next part. `lengths` are those of the tables, after and before.
    fn next_part(
        &mut self,
        part: Variable,
        lengths: &[(Atom, Atom)],
        statements: &mut Vec<Statement>,
        place: &Place,
    ) -> Atom {
        let mut writer = Writer::new(self.program, place, statements);
        let [mut after, mut before] = [Atom::index(0); 2];
        for (new, old) in lengths {
            after = writer.scalar("after", ScalarOperation::Add, [after, *new]);
            before = writer.scalar("before", ScalarOperation::Add, [before, *old]);
        }
        let same = writer.scalar("same", ScalarOperation::Equal, [after, before]);
        let longer = writer.scalar(
            "longer",
            ScalarOperation::Multiply,
            [Atom::Variable(part), Atom::index(GROWTH)],
        );
        let length = self.index("part");
        let atom = |atom: Atom| Body {
            statements: Vec::new(),
            results: vec![atom],
        };
        statements.push(Statement::binding(
            length,
            Expression::If {
                condition: same,
                then: atom(longer),
                otherwise: atom(Atom::index(1)),
            },
            place.clone(),
        ));
        Atom::Variable(length)
    }
}

/// The loop over the iterations of a part.
struct Inner {
    states: Vec<Variable>,
    condition: Body,
    body: Body,
    place: Place,
}
