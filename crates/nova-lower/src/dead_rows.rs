//! Compaction of dead rows: data of a nested vector that no row refers to.
//!
//! A slice or a filter of nested vectors keeps the data of all rows and refers to fewer of them. Where
//! data are copied, as in a concatenation, the dead rows would be copied too, again and again. A loop
//! that appends rows and then takes the last hundred would take time that grows exponentially. So at
//! most half of the data that go into a concatenation are dead.

use crate::builder::Lowerer;
use crate::error::Result;
use crate::facts::Fact;
use crate::join::Below;
use crate::values::{next, take};
use nova_core::{Scalar, ScalarOperation, Type};
use nova_flat::ir::{
    ArrayOperation, Atom, Bracketing, Expression, Level, Output, Type as FlatType, Variable,
};

impl Lowerer<'_> {
    /// Returns the same rows with no more dead data than live data. If there may be more, a comparison
    /// at run time decides whether the live rows are copied. `tops` are the extents of `extents`
    /// dimensions and starts for rows that are arrays, or starts and ends for vectors.
    pub(crate) fn compact_dead_rows(
        &mut self,
        inner: &Type,
        extents: usize,
        length: Atom,
        tops: &mut [Atom],
        below: &mut Below,
    ) -> Result<()> {
        let starts = tops[extents];
        match self.fact(starts) {
            Some(Fact::Dense | Fact::Rows(_) | Fact::Constant(_)) => return Ok(()),
            None => {}
        }
        let live = self.live(extents, length, tops)?;
        let twice = self.add(live, live);
        let mostly_dead = self.compare(ScalarOperation::Greater, below.length, twice);
        let row = match extents {
            0 => Type::Vector(inner.clone().into()),
            rank => Type::Array(rank as u32, inner.clone().into()),
        };
        let mut lifted = tops.to_vec();
        lifted.push(below.length);
        lifted.extend(&below.lifted);
        let then = self.body(|b| b.build(&[length], &row, |b, i| b.element(&row, &lifted, i)))?;
        let otherwise = self.body(|_| Ok(lifted.clone()))?;
        let mut pattern: Vec<Variable> = Vec::with_capacity(lifted.len());
        for _ in tops.iter() {
            let ty = FlatType::Array(Scalar::I64, vec![length]);
            pattern.push(self.output.add_variable("rows", ty));
        }
        pattern.extend(self.fresh(&Type::Vector(inner.clone().into())));
        let atoms = Self::atoms(&pattern);
        self.emit(
            pattern,
            Expression::If {
                condition: mostly_dead,
                then,
                otherwise,
            },
        );
        let mut atoms = atoms.iter();
        tops.copy_from_slice(&take(&mut atoms, tops.len())?);
        below.length = next(&mut atoms)?;
        below.lifted = atoms.copied().collect();
        Ok(())
    }

    /// Returns the total number of elements of rows.
    fn live(&mut self, extents: usize, length: Atom, tops: &[Atom]) -> Result<Atom> {
        self.add_up("shown", length, |b, index| {
            let at = |b: &mut Self, array: &Atom| b.index(*array, &[index]);
            match extents {
                0 => {
                    let (start, end) = (at(b, &tops[0])?, at(b, &tops[1])?);
                    Ok(b.subtract(end, start))
                }
                rank => {
                    let sizes: Result<Vec<Atom>> = tops[..rank].iter().map(|e| at(b, e)).collect();
                    Ok(b.product(&sizes?))
                }
            }
        })
    }

    /// Returns the sum of an `i64` for each index.
    pub(crate) fn add_up(
        &mut self,
        name: &str,
        length: Atom,
        build: impl FnOnce(&mut Self, Atom) -> Result<Atom>,
    ) -> Result<Atom> {
        let index = self.index_variable(0);
        let body = self.body(|b| Ok(vec![build(b, Atom::Variable(index))?]))?;
        let adding = self.lambda(&[Scalar::I64, Scalar::I64], |b, p| {
            Ok(vec![b.add(p[0], p[1])])
        })?;
        let sum = self
            .output
            .add_variable(name, FlatType::Scalar(Scalar::I64));
        let operation = ArrayOperation {
            shape: vec![length],
            indices: vec![index],
            level: Level::Sequential,
            strategy: None,
            carries: Vec::new(),
            body,
            outputs: vec![Output::Reduce {
                lambda: adding,
                start: vec![Atom::index(0)],
                commutes: true,
                bracketing: Bracketing::Whole,
            }],
        };
        self.emit(vec![sum], Expression::Operation(operation));
        Ok(Atom::Variable(sum))
    }
}
