//! Arrays that are read where another one is made, each element when that of the other is written: by a map,
//! by the maps of the parts that a grid joins, and by those of the branches of a conditional.

use nova_flat::ir::{ArrayOperation, Atom, Body, Expression, Output, Program, Statement, Variable};
use nova_flat::positions::Sums;
use nova_flat::visit::{bodies, each_statement};
use std::collections::BTreeMap;

/// How often arrays are read where elements are written.
pub(super) type OwnReads = BTreeMap<Variable, usize>;

/// Looks for the reads of a statement that makes an array in a block.
pub(super) struct Own<'a> {
    pub program: &'a Program,
    pub sums: &'a Sums<'static>,
    pub block: Variable,
}

impl Own<'_> {
    /// The reads of a statement; none where elements of the block may be written twice, or by something else
    /// than maps.
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

    /// The reads of the only statement of a body that writes to the block.
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

    /// The arrays that a map reads at the address at which it writes.
    fn of_map(&self, operation: &ArrayOperation, pattern: &[Variable]) -> Option<OwnReads> {
        let mut inside = false;
        each_statement(&operation.body, &mut |statement| {
            inside |= statement.pattern.iter().any(|v| self.lies_there(*v));
        });
        let mut made = pattern.iter().filter(|v| self.lies_there(**v));
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

    /// Where an element lies in its block.
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

    fn lies_there(&self, variable: Variable) -> bool {
        let memory = &self.program.variable(variable).memory;
        memory
            .as_ref()
            .is_some_and(|memory| memory.block == self.block)
    }

    /// True if a statement, or one inside it, makes an array in the block.
    fn writes(&self, statement: &Statement) -> bool {
        let is_name = matches!(
            statement.expression,
            Expression::View { .. } | Expression::Atom(_)
        );
        let mut writes = !is_name && statement.pattern.iter().any(|v| self.lies_there(*v));
        bodies(&statement.expression, &mut |body| {
            each_statement(body, &mut |inner| {
                writes |= inner.pattern.iter().any(|v| self.lies_there(*v));
            });
        });
        writes
    }
}
