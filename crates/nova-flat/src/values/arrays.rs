//! Arrays as LMADs over shared elements, so that views move nothing.

use super::{Fault, internal};
use nova_core::{Elements, Scalar, ScalarValue, Type, Value};

/// A view of shared elements. Element (i0, i1, …) lies at `offset + Σ ik·stridek`.
#[derive(Clone, Debug)]
pub struct ArrayValue {
    elements: Elements,
    offset: isize,
    shape: Vec<usize>,
    strides: Vec<isize>,
}

/// Returns the number of elements of an array with these extents.
pub fn count(shape: &[usize]) -> Result<usize, Fault> {
    // An extent of 0 makes any other product 0.
    if shape.contains(&0) {
        return Ok(0);
    }
    let product = shape.iter().try_fold(1usize, |n, e| n.checked_mul(*e));
    product
        .filter(|n| isize::try_from(*n).is_ok())
        .ok_or(Fault::Memory)
}

/// Returns the strides of a row-major array.
fn row_major_strides(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![1; shape.len()];
    for k in (1..shape.len()).rev() {
        // Only the product of an empty array can overflow, and it has no element to address.
        strides[k - 1] = isize::wrapping_mul(strides[k], shape[k] as isize);
    }
    strides
}

impl ArrayValue {
    /// Returns a row-major array of all the elements.
    pub fn row_major(elements: Elements, shape: Vec<usize>) -> ArrayValue {
        let strides = row_major_strides(&shape);
        ArrayValue {
            elements,
            offset: 0,
            shape,
            strides,
        }
    }

    /// Returns its extents.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Returns the number of its elements.
    pub fn count(&self) -> usize {
        // Only the product of an empty array can overflow, and it is 0 in the end.
        self.shape.iter().copied().fold(1, usize::wrapping_mul)
    }

    /// Returns the type of its elements.
    pub fn scalar(&self) -> Option<Scalar> {
        element_type(&self.elements)
    }

    /// Returns the address of an element, or a fault if it is out of range.
    fn address(&self, indices: &[i64]) -> Result<isize, Fault> {
        if indices.len() > self.shape.len() {
            return internal("more indices than dimensions");
        }
        let mut address = self.offset;
        for ((index, extent), stride) in indices.iter().zip(&self.shape).zip(&self.strides) {
            match usize::try_from(*index) {
                Ok(index) if index < *extent => {
                    // The strides of an empty array may have overflowed.
                    let step = stride.wrapping_mul(index as isize);
                    address = address.wrapping_add(step);
                }
                Ok(_) | Err(_) => {
                    return internal(format!("index {index} is out of range for {extent}"));
                }
            }
        }
        Ok(address)
    }

    /// Returns an element.
    pub fn get(&self, indices: &[i64]) -> Result<ScalarValue, Fault> {
        if indices.len() != self.shape.len() {
            return internal("an index does not have an array's rank");
        }
        let address = self.address(indices)?;
        self.at(address as usize)
    }

    fn at(&self, address: usize) -> Result<ScalarValue, Fault> {
        match self.elements.get(address).and_then(|v| v.as_scalar()) {
            Some(value) => Ok(value),
            None => internal("an element outside of its array"),
        }
    }

    /// True if the elements are adjacent in row-major order.
    pub fn is_row_major(&self) -> bool {
        let mut expected = 1;
        for (extent, stride) in self.shape.iter().zip(&self.strides).rev() {
            if *extent == 0 {
                return true;
            }
            if *extent != 1 && *stride != expected {
                return false;
            }
            expected = expected.wrapping_mul(*extent as isize);
        }
        true
    }

    /// Returns the elements in row-major order, shared if they are stored so.
    pub fn packed(&self) -> Result<Elements, Fault> {
        let n = self.count();
        if n == 0 {
            return Ok(self.elements.slice(0..0)?);
        }
        if self.is_row_major() {
            let start = self.offset as usize;
            if start == 0 && self.elements.len() == n {
                return Ok(self.elements.clone());
            }
            return Ok(self.elements.slice(start..start + n)?);
        }
        Ok(self.elements.pick(Addresses::new(self, n))?)
    }

    /// Returns the same array as the only view of its elements, row-major.
    pub fn into_packed(self) -> Result<ArrayValue, Fault> {
        let whole = self.offset == 0 && self.elements.len() == self.count();
        if whole && self.is_row_major() {
            return Ok(self);
        }
        Ok(ArrayValue::row_major(self.packed()?, self.shape))
    }

    /// Returns element `k` in row-major order of a packed array.
    pub fn packed_at(&self, k: usize) -> Result<ScalarValue, Fault> {
        self.at(k)
    }

    /// Replaces an element, in place if nothing else holds the array. It must be packed
    /// ([`ArrayValue::into_packed`]).
    pub fn set(&mut self, indices: &[i64], value: ScalarValue) -> Result<(), Fault> {
        if indices.len() != self.shape.len() || self.scalar() != Some(value.scalar()) {
            return internal("an update that does not fit its array");
        }
        let address = self.address(indices)?;
        Ok(self.elements.set(address as usize, Value::Scalar(value))?)
    }

    /// Returns in each dimension `count` elements from `start` by `step`.
    pub fn slice(mut self, dimensions: &[(i64, i64, i64)]) -> Result<ArrayValue, Fault> {
        if dimensions.len() != self.shape.len() {
            return internal("a slice does not have an array's rank");
        }
        for (k, (start, step, count)) in dimensions.iter().enumerate() {
            let (start, step) = (i128::from(*start), i128::from(*step));
            let last = start + step * (i128::from(*count) - 1);
            let range = 0..self.shape[k] as i128;
            if *count < 0 || (*count > 0 && !(range.contains(&start) && range.contains(&last))) {
                return internal("a slice out of range");
            }
            if *count > 0 {
                let first = self.strides[k].wrapping_mul(start as isize);
                self.offset = self.offset.wrapping_add(first);
                self.strides[k] = self.strides[k].wrapping_mul(step as isize);
            }
            self.shape[k] = *count as usize;
        }
        Ok(self)
    }

    /// Returns the transposed array, whose dimension k is dimension `permutation[k]` of this one.
    pub fn transpose(mut self, permutation: &[u32]) -> Result<ArrayValue, Fault> {
        let mut seen = vec![false; self.shape.len()];
        let fits = |p: &u32| {
            seen.get_mut(*p as usize)
                .is_some_and(|s| !std::mem::replace(s, true))
        };
        if permutation.len() != self.shape.len() || !permutation.iter().all(fits) {
            return internal("a transpose that is no permutation");
        }
        let pick = |p: &u32| (self.shape[*p as usize], self.strides[*p as usize]);
        (self.shape, self.strides) = permutation.iter().map(pick).unzip();
        Ok(self)
    }

    /// Returns the array with other extents of the same product.
    pub fn reshape(self, shape: Vec<usize>) -> Result<ArrayValue, Fault> {
        if count(&shape)? != self.count() {
            return internal("a reshape to another number of elements");
        }
        if self.is_row_major() {
            let strides = row_major_strides(&shape);
            return Ok(ArrayValue {
                shape,
                strides,
                ..self
            });
        }
        Ok(ArrayValue::row_major(self.packed()?, shape))
    }

    /// Returns the sub-array at leading indices.
    pub fn row(mut self, indices: &[i64]) -> Result<ArrayValue, Fault> {
        if indices.len() >= self.shape.len() {
            return internal("a row at as many indices as dimensions");
        }
        self.offset = self.address(indices)?;
        self.shape.drain(..indices.len());
        self.strides.drain(..indices.len());
        Ok(self)
    }
}

/// Returns the scalar type of elements, or `None` if they are no scalars.
pub fn element_type(elements: &Elements) -> Option<Scalar> {
    match elements {
        Elements::I8(_) => Some(Scalar::I8),
        Elements::I16(_) => Some(Scalar::I16),
        Elements::I32(_) => Some(Scalar::I32),
        Elements::I64(_) => Some(Scalar::I64),
        Elements::U8(_) => Some(Scalar::U8),
        Elements::U16(_) => Some(Scalar::U16),
        Elements::U32(_) => Some(Scalar::U32),
        Elements::U64(_) => Some(Scalar::U64),
        Elements::F32(_) => Some(Scalar::F32),
        Elements::F64(_) => Some(Scalar::F64),
        Elements::Bool(_) => Some(Scalar::Bool),
        Elements::Values(_) => None,
    }
}

/// Returns `n` copies of a value.
pub fn filled(value: ScalarValue, n: usize) -> Result<Elements, Fault> {
    let mut elements = Elements::with_capacity(&Type::Scalar(value.scalar()), n)?;
    for _ in 0..n {
        elements.push(Value::Scalar(value))?;
    }
    Ok(elements)
}

/// The addresses of an array's elements in row-major order.
struct Addresses<'a> {
    array: &'a ArrayValue,
    index: Vec<usize>,
    address: isize,
    left: usize,
}

impl<'a> Addresses<'a> {
    fn new(array: &'a ArrayValue, left: usize) -> Self {
        let index = vec![0; array.shape.len()];
        Addresses {
            array,
            index,
            address: array.offset,
            left,
        }
    }
}

impl Iterator for Addresses<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        let address = self.address;
        for k in (0..self.index.len()).rev() {
            self.index[k] += 1;
            self.address += self.array.strides[k];
            if self.index[k] < self.array.shape[k] {
                break;
            }
            self.address -= self.array.strides[k] * self.index[k] as isize;
            self.index[k] = 0;
        }
        Some(address as usize)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Addresses<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_empty_arrays_have_addresses_that_may_overflow() {
        let huge = 1 << 40;
        let empty = Elements::I32(Vec::new().into());
        let array = ArrayValue::row_major(empty, vec![huge, huge, huge, 0]);
        assert_eq!(array.count(), 0);
        let last = huge as i64 - 1;
        let row = array.clone().row(&[last, last]);
        assert!(row.is_ok_and(|row| row.shape() == [huge, 0]));
        let every_third = (last, -3, 4);
        let slice = array.slice(&[every_third, every_third, every_third, (0, 1, 0)]);
        assert!(slice.is_ok_and(|slice| slice.shape() == [4, 4, 4, 0]));
    }
}
