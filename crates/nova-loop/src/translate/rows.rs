//! The lanes of a reduction that are filled row by row ([`super::lanes`] has the loops): what they
//! start as, how an element goes to its lane, and how lanes are combined.

use super::reduction::{Kind, Reduction, at, firsts, variables_as_terms, zero};
use super::scalars::Term;
use super::tree::Tree;
use super::{Result, Translator};
use crate::error::internal;
use crate::ir::{Command, Expression, Level, Type, Variable};
use nova_core::ScalarValue;
use nova_diag::Place;
use nova_flat::operators::{Bound, Operator};

/// Loops over at least so many lanes are for vector instructions.
const FEWEST_VECTOR: i64 = 8;

/// Lanes that are filled row by row.
pub(super) struct RowLanes {
    /// For each component its lanes.
    pub(super) lanes: Vec<Variable>,
    /// The number of lanes each has.
    pub(super) width: u32,
    /// For each component the array of few elements, where they are reduced in vectors.
    pub(super) few: Vec<Variable>,
    /// What each lane starts as.
    pub(super) identities: Vec<ScalarValue>,
    /// Where the operators are minima and maxima and no lane is ever nan.
    pub(super) bounds: Option<Vec<Bound>>,
    /// The results of blocks; where the order is free there is one block, which goes to the start
    /// values at the end.
    pub(super) blocks: Blocks,
}

/// Where the results of blocks go.
pub(super) enum Blocks {
    /// To the tree of adjacent pairs.
    Tree(Tree),
    /// There is one block, which goes to these variables.
    Whole(Vec<Variable>),
}

impl<'a> Translator<'a> {
    /// Sets the lanes of a reduction that fills them row by row to the identities.
    pub(super) fn start_rows(&mut self, reduction: &Reduction<'a>, place: &Place) -> Result<()> {
        let Kind::Rows(rows) = &reduction.kind else {
            return Ok(());
        };
        let count = Expression::index(i64::from(rows.width));
        self.each_index(&[count], place, |this, indices| {
            this.start_lane(reduction, indices.first().unwrap_or(&zero()));
            Ok(())
        })
    }

    /// Sets one lane to the identities.
    pub(super) fn start_lane(&mut self, reduction: &Reduction<'a>, lane: &Expression) {
        if let Kind::Rows(rows) = &reduction.kind {
            for (pointer, identity) in rows.lanes.iter().zip(&rows.identities) {
                self.set_element(*pointer, lane.clone(), Expression::Constant(*identity));
            }
        }
    }

    /// `lane[index] := lane[index] ⊕ right`.
    pub(super) fn combine_lane(
        &mut self,
        reduction: &Reduction<'a>,
        index: &Expression,
        right: Vec<Expression>,
    ) -> Result<()> {
        match &reduction.kind {
            Kind::Rows(rows) => self.combine_rows(reduction, rows, index, right),
            Kind::Fold(_)
            | Kind::Lanes { .. }
            | Kind::Pieces { .. }
            | Kind::Pairs(_)
            | Kind::Left(_) => Err(internal("lanes that are not filled row by row")),
        }
    }

    /// Combines the lanes of a reduction that fills them row by row, and keeps the result as that
    /// of block number `block`.
    pub(super) fn end_rows(
        &mut self,
        reduction: &Reduction<'a>,
        block: Expression,
        place: &Place,
    ) -> Result<()> {
        let Kind::Rows(rows) = &reduction.kind else {
            return Ok(());
        };
        let join = |this: &mut Self, lane: Expression, half: i64| {
            let other = lane.clone().plus(Expression::index(half));
            let right = rows.lanes.iter().map(|p| at(*p, other.clone())).collect();
            this.combine_rows(reduction, rows, &lane, right)
        };
        let mut half = i64::from(rows.width) / 2;
        while half > 1 {
            let pairs = Expression::index(half);
            self.each_index(&[pairs], place, |this, indices| {
                join(this, indices.first().cloned().unwrap_or(zero()), half)
            })?;
            if half >= FEWEST_VECTOR
                && let Some(Command::For { level, .. }) = self.code.last_mut()
            {
                *level = Level::Vector;
            }
            half /= 2;
        }
        join(self, zero(), half)?;
        match &rows.blocks {
            Blocks::Tree(tree) => {
                self.push_part(reduction, tree, firsts(&rows.lanes), block, place)
            }
            Blocks::Whole(_) => self.combine_alone(reduction, rows, firsts(&rows.lanes)),
        }
    }

    /// Combines the only value of all lanes and blocks, or one after the other, with the result.
    pub(super) fn combine_alone(
        &mut self,
        reduction: &Reduction<'a>,
        rows: &RowLanes,
        values: Vec<Expression>,
    ) -> Result<()> {
        match &rows.blocks {
            // The start value lies below all subtrees.
            Blocks::Tree(tree) => self.combine(reduction, tree.results(), &zero(), values),
            Blocks::Whole(accumulators) => {
                let mut arguments = variables_as_terms(accumulators);
                arguments.extend(values.into_iter().map(Term::new));
                self.apply_to(reduction.lambda, arguments, accumulators)
            }
        }
    }

    /// `lane[index] := lane[index] ⊕ right` of lanes that are filled row by row.
    pub(super) fn combine_rows(
        &mut self,
        reduction: &Reduction<'a>,
        rows: &RowLanes,
        index: &Expression,
        right: Vec<Expression>,
    ) -> Result<()> {
        let Some(bounds) = &rows.bounds else {
            return self.combine(reduction, &rows.lanes, index, right);
        };
        let components = rows.lanes.iter().zip(&reduction.scalars);
        for ((lane, scalar), (bound, right)) in components.zip(bounds.iter().zip(right)) {
            let new = self.simplify(right, "x", Type::Scalar(*scalar));
            let old = at(*lane, index.clone());
            let value = Expression::Select {
                condition: Box::new(Expression::Scalar {
                    operation: bound.replaces,
                    operand: *scalar,
                    arguments: vec![new.clone(), old.clone()],
                }),
                then: Box::new(new),
                otherwise: Box::new(old),
            };
            self.set_element(*lane, index.clone(), value);
        }
        Ok(())
    }
}

/// The comparisons of operators that are all minima and maxima of floats, with start values that
/// are numbers: then nothing but numbers is kept.
pub(super) fn bounds_of(operators: &[Operator], numbers: &[bool]) -> Option<Vec<Bound>> {
    let numbers = numbers.iter().all(|number| *number);
    numbers.then(|| operators.iter().map(|o| o.bound).collect())?
}

/// True if an expression is a constant other than nan.
pub(super) fn is_number(expression: &Expression) -> bool {
    match expression {
        Expression::Constant(ScalarValue::F32(x)) => !x.is_nan(),
        Expression::Constant(ScalarValue::F64(x)) => !x.is_nan(),
        Expression::Constant(_)
        | Expression::Bytes(_)
        | Expression::Data(..)
        | Expression::Variable(_)
        | Expression::Scalar { .. }
        | Expression::Select { .. }
        | Expression::Load { .. }
        | Expression::Offset { .. }
        | Expression::NullPointer(_)
        | Expression::NullBlock
        | Expression::NodeTag { .. } => false,
    }
}
