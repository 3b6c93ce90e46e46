//! The names of the tables that hold recursive data.

use nova_c_ast::ast::Name;

/// The names of a recursive sum's table.
#[derive(Clone, Debug)]
pub struct NodeTable {
    /// The field of `struct nova_tables`.
    pub field: Name,
    /// The type of its nodes.
    pub node: Name,
    /// The type of the table.
    pub table: Name,
    /// The function that appends a node.
    pub add: Name,
}
