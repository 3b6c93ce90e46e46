//! Nodes that are read from the arrays of their table.

use super::Tables;
use super::forms::Form;
use crate::writer::Writer;
use nova_core::nodes::{Meeting, Member, meet, payloads};
use nova_core::{Scalar, ScalarOperation, SumId, Type};
use nova_flat::ir::{Atom, Expression, Statement, Variable};
use nova_flat::representation::components;

/// A scalar part of a payload, or a link in it.
enum Part {
    /// A component that is the same in both.
    Same,
    /// A link to a member.
    Link(usize),
    /// Components that are not read from the arrays.
    Other(usize),
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
        let mut position = form.start(self.program) + start;
        let mut pattern = statement.pattern.iter();
        for part in parts {
            match part {
                Part::Other(skipped) => {
                    // The number of components differs between both, so nothing behind is known.
                    let _ = skipped;
                    return;
                }
                Part::Same => {
                    let Some(variable) = pattern.next() else {
                        return;
                    };
                    if let Some(value) = self.element(form, position, statement, out) {
                        self.known.insert(*variable, value);
                    }
                }
                Part::Link(member) => {
                    let Some(variable) = pattern.next() else {
                        return;
                    };
                    if let Some(link) = self.element(form, position, statement, out) {
                        let mut write = Writer {
                            program: self.program,
                            place: &statement.place,
                            statements: out,
                        };
                        let number = write.bound("number", Scalar::I64, widened(link));
                        self.forms.insert(*variable, form.node(member, number));
                    }
                }
            }
            position += 1;
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
                self.add_parts(&members, data, node, &mut parts);
                return Some((start, parts));
            }
            let lifted = Type::vector(node.clone());
            start += components(&lifted, sums).len() - 1;
        }
        None
    }

    fn add_parts(&self, members: &[Member], data: &Type, node: &Type, parts: &mut Vec<Part>) {
        let sums = &self.program.sums;
        match meet(sums, members, data, node) {
            Some(Meeting::Same) => {
                let list = components(data, sums);
                if list.iter().any(|component| !component.shape.is_empty()) {
                    parts.push(Part::Other(list.len()));
                } else {
                    parts.extend(list.iter().map(|_| Part::Same));
                }
            }
            Some(Meeting::Link(member)) => parts.push(Part::Link(member)),
            Some(Meeting::Tuples(data, node)) => {
                for (data, node) in data.iter().zip(node) {
                    nova_diag::deep(|| self.add_parts(members, data, node, parts));
                }
            }
            Some(Meeting::Elements(..) | Meeting::Sums(..)) | None => {
                parts.push(Part::Other(components(data, sums).len()));
            }
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
