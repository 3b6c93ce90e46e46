//! Nodes that are read from the arrays of their table.

use super::Tables;
use super::forms::Form;
use crate::writer::Writer;
use nova_core::nodes::{Meeting, Member, meet, payloads};
use nova_core::{Scalar, ScalarOperation, SumId, Type};
use nova_flat::ir::{Atom, Expression, Statement, Variable};
use nova_flat::representation::components;

/// A component of a payload.
enum Part {
    /// A scalar that is the same in both.
    Same,
    /// A link to a member.
    Link(usize),
}

impl Tables<'_> {
    /// Reads the constructor or the payload of a node from the arrays of its table, if that is known.
    pub(super) fn read(&mut self, statement: Statement, out: &mut Vec<Statement>) {
        match &statement.expression {
            Expression::NodeTag {
                link: Atom::Variable(link),
                ..
            } => {
                if let (Some(form), [tag]) = (self.forms.get(link), &statement.pattern[..])
                    && let Some(index) = element(form, form.start(self.program) + 1)
                {
                    out.push(Statement::binding(*tag, index, statement.place));
                    return;
                }
                out.push(statement);
            }
            Expression::NodePayload {
                sum,
                constructor,
                link: Atom::Variable(link),
            } => {
                if let Some(form) = self.forms.get(link).cloned() {
                    self.payload(&form, (*sum, *constructor), &statement, out);
                }
                // Parts that are not read from the arrays still come from the node.
                out.push(statement);
            }
            _other => out.push(statement),
        }
    }

    /// Reads what it can of a payload. The links in it become nodes of the same tables.
    fn payload(
        &mut self,
        form: &Form,
        (sum, constructor): (SumId, u32),
        statement: &Statement,
        out: &mut Vec<Statement>,
    ) {
        let Some((start, parts)) = self.parts(form, sum, constructor) else {
            return;
        };
        let start = form.start(self.program) + start;
        for ((k, part), variable) in parts.into_iter().enumerate().zip(&statement.pattern) {
            let Some(value) = self.element(form, start + k, statement, out) else {
                continue;
            };
            match part {
                Part::Same => self.known.insert(*variable, value),
                Part::Link(member) => {
                    let mut write = Writer {
                        program: self.program,
                        place: &statement.place,
                        statements: out,
                    };
                    let number = write.bound("number", Scalar::I64, widened(value));
                    self.forms.insert(*variable, form.node(member, number));
                }
            }
        }
    }

    /// Reads a component of a node.
    fn element(
        &mut self,
        form: &Form,
        position: usize,
        statement: &Statement,
        out: &mut Vec<Statement>,
    ) -> Option<Atom> {
        let index = element(form, position)?;
        let Expression::Index { array, .. } = &index else {
            return None;
        };
        let scalar = match self.program.ty(*array) {
            nova_flat::ir::Type::Array(scalar, _) => *scalar,
            nova_flat::ir::Type::Scalar(_) | nova_flat::ir::Type::Block(_) => return None,
        };
        let mut write = Writer {
            program: self.program,
            place: &statement.place,
            statements: out,
        };
        Some(write.bound("part", scalar, index))
    }

    /// Returns the position of a payload among the components of its table, and its parts.
    fn parts(&self, form: &Form, sum: SumId, constructor: u32) -> Option<(usize, Vec<Part>)> {
        let sums = &self.program.sums;
        let members: Vec<Member> = form
            .members
            .iter()
            .map(|(data, node)| Member {
                data: *data,
                node: *node,
            })
            .collect();
        let own = members.get(form.member).filter(|own| own.data == sum)?;
        // The length and the tags come first, then the payloads of the constructors before this one.
        let mut start = 2;
        for (k, (data, node)) in payloads(sums, own.data, own.node).enumerate() {
            if k == constructor as usize {
                let mut parts = Vec::new();
                // Behind an array the components of both no longer correspond.
                let _ = self.add_parts(&members, data, node, &mut parts);
                return Some((start, parts));
            }
            let lifted = Type::vector(node.clone());
            start += components(&lifted, sums).len() - 1;
        }
        None
    }

    /// Adds the parts of a payload up to the first that is neither a scalar nor a link. Returns `None`
    /// at such a part.
    fn add_parts(
        &self,
        members: &[Member],
        data: &Type,
        node: &Type,
        parts: &mut Vec<Part>,
    ) -> Option<()> {
        let sums = &self.program.sums;
        match meet(sums, members, data, node)? {
            Meeting::Same => {
                let list = components(data, sums);
                let scalars = list.iter().all(|component| component.shape.is_empty());
                parts.extend(list.iter().filter(|_| scalars).map(|_| Part::Same));
                scalars.then_some(())
            }
            Meeting::Link(member) => {
                parts.push(Part::Link(member));
                Some(())
            }
            Meeting::Tuples(data, node) => {
                let mut both = data.iter().zip(node);
                both.try_for_each(|(data, node)| {
                    nova_diag::deep(|| self.add_parts(members, data, node, parts))
                })
            }
            Meeting::Elements(..) | Meeting::Sums(..) => None,
        }
    }
}

/// Returns the expression that reads a component of a node.
fn element(form: &Form, position: usize) -> Option<Expression> {
    let array: Variable = match form.tables.get(position)? {
        Atom::Variable(array) => *array,
        Atom::Constant(_) => return None,
    };
    Some(Expression::Index {
        array,
        indices: vec![form.number],
    })
}

/// Returns an `int` as an `i64`.
fn widened(link: Atom) -> Expression {
    Expression::Scalar {
        operation: ScalarOperation::Convert(Scalar::I64),
        operand: Scalar::I32,
        arguments: vec![link],
    }
}
