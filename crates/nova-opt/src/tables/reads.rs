//! Nodes that are read from the arrays of their table.

use super::Tables;
use super::forms::Form;
use crate::writer::Writer;
use nova_core::nodes::{Meeting, meet, payloads};
use nova_core::{Member, Scalar, ScalarOperation, SumId, SumType, Type};
use nova_flat::ir::{Atom, Expression, Statement, Variable};
use nova_flat::representation::components;

/// A part of a payload that is read from the arrays.
enum Part {
    /// A scalar that is the same in both.
    Same,
    /// A link to a member.
    Link(usize),
    /// A recursive sum that is no member. In the node it is an ordinary sum.
    Inner(Member),
}

/// The parts of a payload, with their positions among the components of the data and of the table.
struct Parts<'a> {
    sums: &'a [SumType],
    members: &'a [Member],
    found: Vec<(Part, usize, usize)>,
    in_data: usize,
    in_table: usize,
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
                    && let Some(index) = element(form, form.tags)
                {
                    out.push(Statement::binding(*tag, index, statement.place));
                    return;
                }
                if let (Some(known), [tag]) = (self.tags.get(link), &statement.pattern[..]) {
                    self.known.insert(*tag, *known);
                    return;
                }
                out.push(statement);
            }
            Expression::NodePayload {
                sum,
                constructor,
                link: Atom::Variable(link),
            } => {
                if let Some(form) = self.forms.get(link).cloned()
                    && form.pair.data == *sum
                {
                    self.payload(&form, *constructor, &statement, out);
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
        constructor: u32,
        statement: &Statement,
        out: &mut Vec<Statement>,
    ) {
        for (part, in_data, in_table) in self.parts(form, constructor) {
            let Some(variable) = statement.pattern.get(in_data).copied() else {
                return;
            };
            if let Part::Inner(pair) = part {
                self.forms.insert(variable, form.inner(pair, in_table));
                continue;
            }
            let Some(value) = self.element(form, in_table, statement, out) else {
                continue;
            };
            match part {
                Part::Same => self.known.insert(variable, value),
                Part::Link(member) => {
                    let mut write = Writer {
                        program: self.program,
                        place: &statement.place,
                        statements: out,
                    };
                    let number = write.bound("number", Scalar::I64, widened(value));
                    let node = form.node(self.program, member, number);
                    self.forms.insert(variable, node);
                }
                Part::Inner(_) => {}
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

    /// Returns the parts of the payload of a constructor.
    fn parts(&self, form: &Form, constructor: u32) -> Vec<(Part, usize, usize)> {
        let sums = &self.program.sums;
        let mut parts = Parts {
            sums,
            members: &form.members,
            found: Vec::new(),
            in_data: 0,
            in_table: form.tags + 1,
        };
        for (k, (data, node)) in payloads(sums, form.pair.data, form.pair.node).enumerate() {
            if k == constructor as usize {
                parts.add(data, node);
                break;
            }
            parts.in_table += lifted_width(node, sums);
        }
        parts.found
    }
}

impl Parts<'_> {
    fn add(&mut self, data: &Type, node: &Type) {
        let list = components(data, self.sums);
        match meet(self.sums, self.members, data, node) {
            Some(Meeting::Same) if list.iter().all(|component| component.shape.is_empty()) => {
                for k in 0..list.len() {
                    let places = (self.in_data + k, self.in_table + k);
                    self.found.push((Part::Same, places.0, places.1));
                }
            }
            Some(Meeting::Link(member)) => {
                let part = Part::Link(member);
                self.found.push((part, self.in_data, self.in_table));
            }
            Some(Meeting::Tuples(data, node)) => {
                for (data, node) in data.iter().zip(node) {
                    nova_diag::deep(|| self.add(data, node));
                }
                return;
            }
            Some(Meeting::Sums(data, node)) if self.is_inner(data, node) => {
                let part = Part::Inner(Member { data, node });
                self.found.push((part, self.in_data, self.in_table));
            }
            Some(Meeting::Same | Meeting::Elements(..) | Meeting::Sums(..)) | None => {}
        }
        self.in_data += list.len();
        self.in_table += lifted_width(node, self.sums);
    }

    /// True if a sum is a link in the data and an ordinary sum in the node.
    fn is_inner(&self, data: SumId, node: SumId) -> bool {
        let is_recursive = |id: SumId| {
            let sum = self.sums.get(id.index());
            sum.is_some_and(SumType::is_recursive)
        };
        is_recursive(data) && !is_recursive(node)
    }
}

/// Returns the number of components of a type in a vector of it, without the length.
fn lifted_width(ty: &Type, sums: &[SumType]) -> usize {
    components(&Type::vector(ty.clone()), sums).len() - 1
}

/// Returns the expression that reads a component of a node.
pub(super) fn element(form: &Form, position: usize) -> Option<Expression> {
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
