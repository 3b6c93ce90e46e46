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

    /// A reshape that keeps all dimensions but the first one's name, or whose source has one
    /// dimension; others would cost a division an element.
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
        if from.len() == to.len() && from.get(1..) == to.get(1..) {
            return Some(indices.to_vec());
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
