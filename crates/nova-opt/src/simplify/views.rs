//! Elements of views. An element of a slice, row, transpose or flat reshape of an array is read
//! from the array itself, so that the view need not exist.

use super::state::{Definition, Forward};
use crate::limits::VIEWS_OF_A_READ;
use nova_core::ScalarOperation;
use nova_diag::Place;
use nova_flat::ir::{Atom, SliceDimension, Statement, Type, Variable, View};

impl Forward<'_> {
    /// Replaces a read of a view by a read of the array that the elements come from. It does so
    /// where the indices into that array are as simple to compute.
    pub(super) fn through_views(
        &mut self,
        array: &mut Variable,
        indices: &mut Vec<Atom>,
        place: &Place,
        out: &mut Vec<Statement>,
    ) {
        for _ in 0..VIEWS_OF_A_READ {
            let Some(Definition::View(source, view)) = self.definitions.get(array) else {
                return;
            };
            let (source, view) = (*source, view.clone());
            let Some(inner) = self.source_indices(source, *array, &view, indices, place, out)
            else {
                return;
            };
            *array = source;
            *indices = inner;
        }
    }

    /// Returns the indices in its source of an element of a view.
    fn source_indices(
        &mut self,
        source: Variable,
        array: Variable,
        view: &View,
        indices: &[Atom],
        place: &Place,
        out: &mut Vec<Statement>,
    ) -> Option<Vec<Atom>> {
        match view {
            View::Slice(dimensions) => {
                let pairs = dimensions.iter().zip(indices);
                let inner = pairs.map(|(SliceDimension { start, step, .. }, index)| {
                    let distance =
                        self.arithmetic(ScalarOperation::Multiply, *index, *step, place, out);
                    self.arithmetic(ScalarOperation::Add, *start, distance, place, out)
                });
                Some(inner.collect())
            }
            View::Transpose(order) => {
                let mut inner = indices.to_vec();
                for (dimension, index) in order.iter().zip(indices) {
                    *inner.get_mut(*dimension as usize)? = *index;
                }
                Some(inner)
            }
            View::Row(leading) => Some(leading.iter().chain(indices).copied().collect()),
            View::Reshape(_) => self.reshaped_indices(source, array, indices, place, out),
        }
    }

    /// Returns the indices in its source of an element of a reshape. It handles reshapes that keep
    /// all extents except for the name of the first, ignoring dimensions of one element. It also
    /// handles reshapes of arrays of one dimension. Others would cost a division per element.
    fn reshaped_indices(
        &mut self,
        source: Variable,
        array: Variable,
        indices: &[Atom],
        place: &Place,
        out: &mut Vec<Statement>,
    ) -> Option<Vec<Atom>> {
        let (Type::Array(_, from), Type::Array(_, to)) = (
            self.program.ty(source).clone(),
            self.program.ty(array).clone(),
        ) else {
            return None;
        };
        if let Some(kept) = kept_indices(&from, &to, indices) {
            return Some(kept);
        }
        if from.len() != 1 {
            return None;
        }
        let mut number = Atom::index(0);
        for (extent, index) in to.iter().zip(indices) {
            number = self.arithmetic(ScalarOperation::Multiply, number, *extent, place, out);
            number = self.arithmetic(ScalarOperation::Add, number, *index, place, out);
        }
        Some(vec![number])
    }
}

/// Returns the indices of an element before a reshape. The reshape must keep all dimensions of more
/// than one element except for the name of the first.
fn kept_indices(from: &[Atom], to: &[Atom], indices: &[Atom]) -> Option<Vec<Atom>> {
    let is_long = |extent: &Atom| *extent != Atom::index(1);
    let before: Vec<&Atom> = from.iter().filter(|extent| is_long(extent)).collect();
    let after = to.iter().zip(indices).filter(|(extent, _)| is_long(extent));
    let (after, mut kept): (Vec<&Atom>, Vec<Atom>) = after.unzip();
    if before.len() != after.len() || before.get(1..) != after.get(1..) {
        return None;
    }
    kept.reverse();
    let index = |extent: &Atom| match is_long(extent) {
        true => kept.pop(),
        false => Some(Atom::index(0)),
    };
    from.iter().map(index).collect()
}
