//! The tables by which a link is represented as well.

use nova_core::{Scalar, ScalarValue, SumId};
use nova_flat::ir::{Atom, Program, Type, Variable};
use nova_flat::links::tables_type;
use nova_flat::representation::components;

/// A recursive sum and its node type.
pub(super) type Pair = (SumId, SumId);

/// A node of tables.
#[derive(Clone, Debug)]
pub(super) struct Form {
    /// The members of the tables.
    pub members: Vec<Pair>,
    /// The components of the tables.
    pub tables: Vec<Atom>,
    /// The member of the node.
    pub member: usize,
    /// Its number, an `i64`.
    pub number: Atom,
    /// True if the tables have exactly the nodes that node 0 of the first one reaches, in order.
    pub exact: bool,
}

impl Form {
    /// Returns a node of the first member.
    pub fn of_root(members: &[Pair], tables: &[Atom], number: Atom, exact: bool) -> Form {
        Form {
            members: members.to_vec(),
            tables: tables.to_vec(),
            member: 0,
            number,
            exact,
        }
    }

    /// Returns another node of the same tables.
    pub fn node(&self, member: usize, number: Atom) -> Form {
        Form {
            member,
            number,
            ..self.clone()
        }
    }

    /// True if it is node 0 of the first of tables with these members.
    pub fn is_root_of(&self, members: &[Pair]) -> bool {
        let zero = Atom::Constant(ScalarValue::I64(0));
        self.member == 0 && self.number == zero && self.members == members
    }

    /// Returns the index of the first component of the member's table.
    pub fn start(&self, program: &Program) -> usize {
        let before = &self.members[..self.member];
        before.iter().map(|pair| table_width(program, *pair)).sum()
    }
}

/// Returns the number of components of a table.
fn table_width(program: &Program, pair: Pair) -> usize {
    components(&tables_type(&[pair]), &program.sums).len()
}

/// Adds variables for the components of tables. Sizes are earlier ones among them.
pub(super) fn fresh_tables(program: &mut Program, members: &[Pair]) -> Vec<Variable> {
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
