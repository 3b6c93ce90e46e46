//! Arrays that are read at the addresses at which another array is written, each element before it is
//! written. The reads are found in a map, in the maps of the chunks that a grid joins, and in those of
//! the branches of a conditional.

use nova_flat::ir::{ArrayOperation, Atom, Body, Expression, Output, Program, Statement, Variable};
use nova_flat::positions::Sums;
use nova_flat::visit::{bodies, each_statement};
use std::collections::BTreeMap;

/// By array, the number of reads at the addresses that are written.
pub(super) type OwnReads = BTreeMap<Variable, usize>;

/// Searches the reads of a statement that makes an array in a block.
pub(super) struct Own<'a> {
    pub program: &'a Program,
    pub sums: &'a Sums<'static>,
    pub block: Variable,
}

impl Own<'_> {
    /// Returns the reads of a statement. Returns `None` if elements of the block may be written twice,
    /// or by statements other than maps.
    pub fn of_statement(&self, statement: &Statement) -> Option<OwnReads> {
        match &statement.expression {
            Expression::Operation(operation) => {
                let outputs = &operation.outputs[..];
                match outputs {
                    _ if !operation.carries.is_empty() => None,
                    [Output::Join { .. }] => self.of_body(&operation.body),
                    _ if outputs.iter().all(|o| matches!(o, Output::Map)) => {
                        self.of_map(operation, &statement.pattern)
                    }
                    _others => None,
                }
            }
            Expression::If {
                then, otherwise, ..
            } => {
                let mut reads = self.of_body(then)?;
                for (array, count) in self.of_body(otherwise)? {
                    *reads.entry(array).or_default() += count;
                }
                Some(reads)
            }
            Expression::Copy(array) => {
                let made = statement.pattern.first()?;
                let same =
                    self.program.variable(*array).memory == self.program.variable(*made).memory;
                same.then(OwnReads::new)
            }
            _others => None,
        }
    }

    /// Returns the reads of the only statement of a body that writes to the block.
    fn of_body(&self, body: &Body) -> Option<OwnReads> {
        let mut found = None;
        for statement in &body.statements {
            if !self.writes(statement) {
                continue;
            }
            let reads = self.of_statement(statement)?;
            let moves_nothing = matches!(statement.expression, Expression::Copy(_));
            if !moves_nothing && found.replace(reads).is_some() {
                return None;
            }
        }
        Some(found.unwrap_or_default())
    }

    /// Returns the arrays that a map reads at the address at which it writes.
    fn of_map(&self, operation: &ArrayOperation, pattern: &[Variable]) -> Option<OwnReads> {
        let mut inside = false;
        each_statement(&operation.body, &mut |statement| {
            inside |= statement.pattern.iter().any(|v| self.is_in_block(*v));
        });
        let mut made = pattern.iter().filter(|v| self.is_in_block(**v));
        let (Some(made), None, false) = (made.next(), made.next(), inside) else {
            return None;
        };
        let own: Vec<Atom> = operation
            .indices
            .iter()
            .map(|i| Atom::Variable(*i))
            .collect();
        let sums = self.sums.within(&operation.body);
        let written = self.address(&sums, *made, &own)?;
        let mut reads = OwnReads::new();
        each_statement(&operation.body, &mut |statement| {
            if let Expression::Index { array, indices } = &statement.expression
                && self.address(&sums, *array, indices).as_ref() == Some(&written)
            {
                *reads.entry(*array).or_default() += 1;
            }
        });
        Some(reads)
    }

    /// Returns the address of an element in its block.
    fn address(
        &self,
        sums: &Sums<'_>,
        array: Variable,
        indices: &[Atom],
    ) -> Option<nova_flat::memory::Polynomial> {
        let memory = self.program.variable(array).memory.as_ref()?;
        let indices: Option<Vec<_>> = indices.iter().map(|index| sums.value(*index)).collect();
        Some(memory.lmad.address(&indices?))
    }

    fn is_in_block(&self, variable: Variable) -> bool {
        let memory = &self.program.variable(variable).memory;
        memory
            .as_ref()
            .is_some_and(|memory| memory.block == self.block)
    }

    /// True if a statement, or one nested in it, makes an array in the block.
    fn writes(&self, statement: &Statement) -> bool {
        let is_name = matches!(
            statement.expression,
            Expression::View { .. } | Expression::Atom(_)
        );
        let mut writes = !is_name && statement.pattern.iter().any(|v| self.is_in_block(*v));
        bodies(&statement.expression, &mut |body| {
            each_statement(body, &mut |inner| {
                writes |= inner.pattern.iter().any(|v| self.is_in_block(*v));
            });
        });
        writes
    }
}
