//! The LMADs of views: index transformations of LMADs (funmem.txt §3.1, eqs. 2 and 3).

use nova_flat::ir::{Atom, View};
use nova_flat::memory::{Lmad, Polynomial, polynomial_of};

/// Returns the LMAD of a view of an array with LMAD `source`. Returns `None` for a reshape of an array
/// that is not row-major, and for views that do not fit their source.
pub fn view_lmad(source: &Lmad, view: &View) -> Option<Lmad> {
    let mut offset = source.offset.clone();
    let dimensions = match view {
        View::Slice(slices) => {
            if slices.len() != source.dimensions.len() {
                return None;
            }
            let mut dimensions = Vec::new();
            for (slice, (_, stride)) in slices.iter().zip(&source.dimensions) {
                offset = offset.plus(&polynomial_of(slice.start)?.times(stride));
                let stride = polynomial_of(slice.step)?.times(stride);
                dimensions.push((polynomial_of(slice.count)?, stride));
            }
            dimensions
        }
        View::Transpose(permutation) => {
            let dimension = |k: &u32| source.dimensions.get(*k as usize).cloned();
            permutation.iter().map(dimension).collect::<Option<_>>()?
        }
        View::Reshape(shape) => {
            if !source.is_row_major() {
                return None;
            }
            return Some(Lmad::row_major(offset, &extents(shape)?));
        }
        View::Row(indices) => {
            let (leading, rest) = source.dimensions.split_at_checked(indices.len())?;
            for (index, (_, stride)) in indices.iter().zip(leading) {
                offset = offset.plus(&polynomial_of(*index)?.times(stride));
            }
            rest.to_vec()
        }
    };
    Some(Lmad { offset, dimensions })
}

fn extents(shape: &[Atom]) -> Option<Vec<Polynomial>> {
    shape.iter().map(|atom| polynomial_of(*atom)).collect()
}
