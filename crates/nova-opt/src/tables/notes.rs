//! Notes on operations on all nodes of recursive data: the source of their nodes.

use nova_diag::Place;

/// A note on a `foreach` or `table`: the source of its nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Its place in the source.
    pub place: Place,
    /// The source of its nodes.
    pub reading: Reading,
}

/// The source of the nodes of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// The tables that another one has made.
    Tables,
    /// Nodes that were not made as tables.
    Nodes,
    /// Nodes of tables that were made with another root.
    Part,
    /// Nodes of which the program sees how many there are.
    Exact,
    /// Nodes that are reached. An error may occur in them, and not in others.
    MayFail,
}

impl Reading {
    /// Returns the sentence of a report about it.
    pub fn text(self) -> &'static str {
        match self {
            Reading::Tables => "reads the tables that were made of the same data before",
            Reading::Nodes => "numbers the nodes, which were not made as tables",
            Reading::Part => "numbers the nodes, since their root is another node of its tables",
            Reading::Exact => "numbers the nodes, since the program sees how many are reached",
            Reading::MayFail => {
                "numbers the nodes, since its body may fail, and nodes that are not reached must not"
            }
        }
    }
}
