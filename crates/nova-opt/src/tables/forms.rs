//! The tables by which a link is represented as well.

use nova_core::{Member, Scalar, ScalarValue};
use nova_flat::ir::{Atom, Program, Type, Variable};
use nova_flat::links::tables_type;
use nova_flat::representation::components;

/// A node of tables, or a value of a sum that stands in a node.
#[derive(Clone, Debug)]
pub(super) struct Form {
    /// The members of the tables.
    pub members: Vec<Member>,
    /// The components of the tables.
    pub tables: Vec<Atom>,
    /// Its sum in the data and in the node.
    pub pair: Member,
    /// The indices of the components of the sum in the node among those of the tables, the tags first.
    pub places: Vec<usize>,
    /// The number of the node, an `i64`.
    pub number: Atom,
    /// True if the tables have exactly the nodes that node 0 of the first one reaches, in order.
    pub exact: bool,
}

impl Form {
    /// Returns a node of the first member. There are members.
    pub fn of_root(
        program: &Program,
        members: &[Member],
        tables: &[Atom],
        number: Atom,
        exact: bool,
    ) -> Form {
        Form {
            members: members.to_vec(),
            tables: tables.to_vec(),
            pair: members[0],
            places: node_places(program, members, 0),
            number,
            exact,
        }
    }

    /// Returns the index of its tags among the components of the tables.
    pub fn tags(&self) -> usize {
        self.places.first().copied().unwrap_or(1)
    }

    /// Returns another node of the same tables.
    pub fn node(&self, program: &Program, member: usize, number: Atom) -> Form {
        Form {
            pair: self.members[member],
            places: node_places(program, &self.members, member),
            number,
            ..self.clone()
        }
    }

    /// Returns a sum in the payload of the same node, with its components at these indices.
    pub fn inner(&self, pair: Member, places: Vec<usize>) -> Form {
        Form {
            pair,
            places,
            ..self.clone()
        }
    }

    /// True if it is a value of the same sum at the same position in nodes of the same tables.
    pub fn is_beside(&self, other: &Form) -> bool {
        self.tables == other.tables && self.places == other.places && self.members == other.members
    }

    /// True if it is node 0 of the first of tables with these members.
    pub fn is_root_of(&self, members: &[Member]) -> bool {
        let zero = Atom::Constant(ScalarValue::I64(0));
        self.tags() == 1 && self.number == zero && self.members == members
    }
}

/// Returns the indices of the components of a member's nodes among those of the tables.
fn node_places(program: &Program, members: &[Member], member: usize) -> Vec<usize> {
    let table_width = |pair: &Member| components(&tables_type(&[*pair]), &program.sums).len();
    let before: usize = members.iter().take(member).map(table_width).sum();
    let own = members.get(member).map_or(0, table_width);
    // The length comes first.
    (before + 1..before + own).collect()
}

/// Adds variables for the components of tables. Sizes are earlier ones among them.
pub(super) fn fresh_tables(program: &mut Program, members: &[Member]) -> Vec<Variable> {
    let list = components(&tables_type(members), &program.sums);
    let mut variables: Vec<Variable> = Vec::with_capacity(list.len());
    for component in list {
        let ty = match component.shape.as_slice() {
            [] => Type::Scalar(component.scalar),
            shape => {
                let extents = shape.iter().map(|k| Atom::Variable(variables[*k]));
                Type::Array(component.scalar, extents.collect())
            }
        };
        variables.push(program.add_variable(component.name.as_str(), ty));
    }
    variables
}

/// The type of a link.
pub(super) const LINK: Type = Type::Scalar(Scalar::I64);
