//! Nodes that are read from the arrays of their table.

use super::Tables;
use super::forms::Form;
use crate::writer::Writer;
use nova_core::nodes::{Meeting, meet, payloads};
use nova_core::{Member, Scalar, ScalarOperation, SumId, SumType, Type};
use nova_flat::ir::{Atom, Expression, Statement, Variable};
use nova_flat::representation::{components, payload_places, tag_scalar, width};

/// A part of a payload that is read from the arrays.
enum Part {
    /// A scalar that is the same in both.
    Same,
    /// A link to a member.
    Link(usize),
    /// A recursive sum that is no member. In the node it is an ordinary sum.
    Inner(Member),
}

/// A part of a payload, its position among the components of the data, and the positions of its components
/// among those of the table.
type Found = (Part, usize, Vec<usize>);

/// The parts of a payload, with their positions among the components of the data and of the table.
struct Parts<'a> {
    sums: &'a [SumType],
    members: &'a [Member],
    found: Vec<Found>,
    in_data: usize,
    /// The positions of the components that are still to come.
    in_table: std::vec::IntoIter<usize>,
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
                    && let Some(index) = element(form, form.tags())
                {
                    let scalar = tag_scalar(form.pair.node, &self.program.sums);
                    let mut write = Writer::new(self.program, &statement.place, out);
                    let expression = write.tag(index, scalar);
                    write.push(vec![*tag], expression);
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
            let Some(position) = in_table.first() else {
                continue;
            };
            let Some(value) = self.element(form, *position, statement, out) else {
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
    fn parts(&self, form: &Form, constructor: u32) -> Vec<Found> {
        let sums = &self.program.sums;
        let k = constructor as usize;
        let places = payload_places(form.pair.node, k, sums, true).into_iter();
        let in_table = places.filter_map(|place| form.places.get(place).copied());
        let in_table: Vec<usize> = in_table.collect();
        let mut parts = Parts {
            sums,
            members: &form.members,
            found: Vec::new(),
            in_data: 0,
            in_table: in_table.into_iter(),
        };
        if let Some((data, node)) = payloads(sums, form.pair.data, form.pair.node).nth(k) {
            parts.add(data, node);
        }
        parts.found
    }
}

impl Parts<'_> {
    fn add(&mut self, data: &Type, node: &Type) {
        let list = components(data, self.sums);
        let count = width(node, self.sums, true);
        // A vector of `unit` is its length in the data, and a start and an end in the table.
        let are_scalars =
            count == list.len() && list.iter().all(|component| component.shape.is_empty());
        match meet(self.sums, self.members, data, node) {
            Some(Meeting::Same) if are_scalars => {
                for k in 0..list.len() {
                    let position = self.in_table.next().into_iter().collect();
                    self.found.push((Part::Same, self.in_data + k, position));
                }
            }
            Some(Meeting::Tuples(data, node)) => {
                for (data, node) in data.iter().zip(node) {
                    nova_diag::deep(|| self.add(data, node));
                }
                return;
            }
            other => {
                let part = match other {
                    Some(Meeting::Link(member)) => Some(Part::Link(member)),
                    Some(Meeting::Sums(data, node)) if self.is_inner(data, node) => {
                        Some(Part::Inner(Member { data, node }))
                    }
                    Some(
                        Meeting::Same
                        | Meeting::Tuples(..)
                        | Meeting::Elements(..)
                        | Meeting::Sums(..),
                    )
                    | None => None,
                };
                let positions = self.in_table.by_ref().take(count).collect();
                if let Some(part) = part {
                    self.found.push((part, self.in_data, positions));
                }
            }
        }
        self.in_data += list.len();
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

impl Writer<'_> {
    /// Returns the expression of a tag, an `i32`, that `index` reads from an array of tags.
    pub(super) fn tag(&mut self, index: Expression, scalar: Scalar) -> Expression {
        if scalar == Scalar::I32 {
            return index;
        }
        let tag = self.bound("tag", scalar, index);
        Expression::Scalar {
            operation: ScalarOperation::Convert(Scalar::I32),
            operand: scalar,
            arguments: vec![tag],
        }
    }
}

/// Returns an `int` as an `i64`.
fn widened(link: Atom) -> Expression {
    Expression::Scalar {
        operation: ScalarOperation::Convert(Scalar::I64),
        operand: Scalar::I32,
        arguments: vec![link],
    }
}
