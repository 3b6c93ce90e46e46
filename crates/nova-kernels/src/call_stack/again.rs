//! Recomputation of pointers that are needed after a call. Frames do not hold pointers. Each
//! assignment of a pointer notes its distance from the start of its memory, and the pointer is
//! recomputed where a basic block begins.

use super::pointers::Root;
use super::write::{Writer, set, var};
use nova_core::LONGEST;
use nova_core::{Scalar, ScalarOperation};
use nova_diag::{Place, deep};
use nova_loop::ir::{Command, Expression, Type, Variable};
use std::collections::BTreeSet;

impl Writer<'_> {
    /// Recomputes the pointers that a basic block needs.
    pub(super) fn find_again(&mut self, k: usize, out: &mut Vec<Command>) {
        let needed: Vec<Variable> = self.group.needed[k].iter().copied().collect();
        let mut found = BTreeSet::new();
        for pointer in &needed {
            if let Some(Root::Node(node)) = self.group.root(*pointer)
                && found.insert(node)
                && let Some((command, link)) = self.nodes.get(&node).cloned()
            {
                self.read_node(node, command, link, out);
            }
        }
        for pointer in needed {
            out.extend(self.found_again(pointer));
        }
    }

    /// Returns the command that recomputes a pointer.
    pub(super) fn found_again(&self, pointer: Variable) -> Option<Command> {
        let distance = var(*self.distances.get(&pointer)?);
        let base = match self.group.root(pointer)? {
            Root::Fixed(array) | Root::Node(array) => array,
            Root::Stack(element) => self.stacks.get(&element)?.0.data,
        };
        Some(set(pointer, Expression::offset(base, distance)))
    }

    /// Reads a node again for one of its arrays.
    pub(super) fn read_node(
        &mut self,
        node: Variable,
        command: Command,
        of: Variable,
        out: &mut Vec<Command>,
    ) {
        let Command::NodePayload {
            sum,
            constructor,
            results,
            ..
        } = command
        else {
            return;
        };
        let mut again = Vec::new();
        for result in results {
            if result == node {
                again.push(node);
                continue;
            }
            let info = self.program.variable(result).clone();
            let other = self.program.add_variable(info.name, info.ty);
            out.push(Command::Declare {
                variable: other,
                value: None,
            });
            again.push(other);
        }
        out.push(Command::NodePayload {
            sum,
            constructor,
            link: var(of),
            results: again,
        });
    }

    /// Returns the distance of an address from the start of its memory.
    pub(super) fn distance(&self, address: &Expression) -> Expression {
        match address {
            Expression::Variable(v) => match self.distances.get(v) {
                Some(distance) => var(*distance),
                None => Expression::index(0),
            },
            Expression::Offset { pointer, index, .. } => {
                deep(|| self.distance(pointer)).plus((**index).clone())
            }
            _others_lead_to_no_known_memory => Expression::index(0),
        }
    }

    pub(super) fn note_distance(
        &self,
        pointer: Variable,
        value: &Expression,
        out: &mut Vec<Command>,
    ) {
        if let Some(distance) = self.distances.get(&pointer) {
            out.push(set(*distance, self.distance(value)));
        }
    }

    /// Reads a node. Its link is saved if its arrays are needed later. The references of these
    /// arrays are not counted.
    pub(super) fn payload(
        &mut self,
        (sum, constructor): (nova_core::SumId, u32),
        mut link: Expression,
        mut results: Vec<Variable>,
        out: &mut Vec<Command>,
    ) {
        let links: Vec<Variable> = results
            .iter()
            .filter_map(|result| self.nodes.get(result).map(|(_, link)| *link))
            .collect();
        for saved in links {
            out.push(set(saved, link));
            link = var(saved);
        }
        for result in &mut results {
            if self.group.pointers.handles.contains(result) {
                *result = self.program.add_variable("block", Type::Block);
                let variable = *result;
                out.push(Command::Declare {
                    variable,
                    value: None,
                });
            }
        }
        out.push(Command::NodePayload {
            sum,
            constructor,
            link,
            results,
        });
    }

    /// Makes an array on the stack of its element type. Other arrays of this stack may have moved
    /// afterwards.
    pub(super) fn make_array(
        &mut self,
        k: usize,
        (pointer, element): (Variable, Scalar),
        count: Expression,
        place: Place,
        out: &mut Vec<Command>,
    ) {
        let length = self.number("length");
        let (Some((stack, used)), Some(distance)) =
            (self.stacks.get(&element), self.distances.get(&pointer))
        else {
            return;
        };
        let long = Expression::index(LONGEST);
        let fits = Expression::index(0)
            .compare(ScalarOperation::LessEqual, var(length))
            .and(var(length).compare(ScalarOperation::LessEqual, long));
        let all = Expression::Select {
            condition: Box::new(fits),
            then: Box::new(var(*used).plus(var(length))),
            otherwise: Box::new(Expression::index(i64::MAX)),
        };
        out.extend([
            Command::declare(length, count),
            Command::Reserve {
                block: stack.block,
                pointer: stack.data,
                element,
                used: var(*used),
                count: all,
                place,
            },
            set(*distance, var(*used)),
            set(*used, var(*used).plus(var(length))),
        ]);
        for other in &self.group.needed[k] {
            if self.group.root(*other) == Some(Root::Stack(element)) {
                out.extend(self.found_again(*other));
            }
        }
        out.extend(self.found_again(pointer));
    }
}
