//! The names that a kernel with an ordered region needs.

use crate::syntax::int64;
use nova_c_ast::ast::{Binary, Expression, Name, Statement};

/// The names that a kernel uses for its ordered region.
#[derive(Clone)]
pub struct Ordered {
    /// The array of the region's state.
    pub(crate) words: Name,
    /// The index of the iteration.
    pub(crate) index: Name,
    /// The number of iterations.
    pub(crate) count: Name,
}

impl Ordered {
    /// Returns the loop over iterations that groups take by tickets.
    pub fn loop_of_tickets(self, body: Vec<Statement>) -> Statement {
        let ticket = Expression::call("nova_take_ticket", vec![Expression::Name(self.words)]);
        let declared = Statement::declare(int64(), self.index.clone(), ticket);
        let [index, count] = [self.index, self.count].map(Expression::Name);
        let is_past = Expression::binary(Binary::GreaterEqual, index, count);
        let mut all = vec![declared, Statement::when(is_past, vec![Statement::Break])];
        all.extend(body);
        Statement::While {
            condition: None,
            body: all.into(),
        }
    }
}
