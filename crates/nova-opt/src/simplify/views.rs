//! Elements of views: an element of a slice, row, transpose or flat reshape of an array is read
//! from the array itself, so that nothing but the array has to be there.

use super::definitions::Definition;
use super::forward::Forward;
use nova_core::ScalarOperation;
use nova_diag::Place;
use nova_flat::ir::{Atom, SliceDimension, Statement, Type, Variable, View};

/// Through how many views a read goes at a time: the work stays in proportion to the program where
/// views are views of views of views.
const MOST: usize = 16;

impl Forward<'_> {
    /// Makes `array[indices]` name the array that the elements come from, where the indices into
    /// it are as simple to compute.
    pub(super) fn through_views(
        &mut self,
        array: &mut Variable,
        indices: &mut Vec<Atom>,
        place: &Place,
        out: &mut Vec<Statement>,
    ) {
        for _ in 0..MOST {
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

    /// Where the element of a view stands in its source.
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

    /// A reshape that keeps all dimensions but the first one's name, dimensions of one element aside, or
    /// whose source has one dimension; others would cost a division an element.
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

/// The indices of an element before a reshape, where it keeps all dimensions of more than one element but
/// the first one's name.
fn kept_indices(from: &[Atom], to: &[Atom], indices: &[Atom]) -> Option<Vec<Atom>> {
    let is_long = |extent: &Atom| *extent != Atom::index(1);
    let before: Vec<&Atom> = from.iter().filter(|extent| is_long(extent)).collect();
    let behind = to.iter().zip(indices).filter(|(extent, _)| is_long(extent));
    let (behind, mut kept): (Vec<&Atom>, Vec<Atom>) = behind.unzip();
    if before.len() != behind.len() || before.get(1..) != behind.get(1..) {
        return None;
    }
    kept.reverse();
    let index = |extent: &Atom| match is_long(extent) {
        true => kept.pop(),
        false => Some(Atom::index(0)),
    };
    from.iter().map(index).collect()
}
