//! Results of calls. Arrays stay in the memory that the program allocated; each array of NumPy owns its own.

use crate::arguments::helper;
use crate::form::Form;
use crate::values;
use nova_core::{SumType, Type, Value};
use nova_exec::{Block, Part};
use numpy::npyffi::{self, NpyTypes, PY_ARRAY_API};
use numpy::{PyArray1, PyArrayDescr, PyArrayDescrMethods};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

/// Memory that a program allocated. It is freed with the last array that uses it.
#[pyclass(frozen)]
pub struct Memory {
    _block: Block,
}

/// Returns a result in Python's form.
pub fn to_python<'py>(
    py: Python<'py>,
    part: Part,
    form: &Form,
    ty: &Type,
    sums: &[SumType],
) -> PyResult<Bound<'py, PyAny>> {
    match (part, form, ty) {
        (Part::Tuple(parts), Form::Tuple(forms), Type::Tuple(types)) => {
            let parts = parts.into_iter().zip(forms).zip(types.iter());
            let parts = parts.map(|((part, form), ty)| to_python(py, part, form, ty, sums));
            let parts = parts.collect::<PyResult<Vec<_>>>()?;
            Ok(PyTuple::new(py, parts)?.into_any())
        }
        (
            Part::Vector {
                offsets,
                data,
                count,
                ..
            },
            Form::Vector { element, .. },
            _,
        ) => {
            let elements = array(py, element, &[count], data)?;
            if offsets.is_empty() {
                return Ok(elements);
            }
            let index = numpy::dtype::<i64>(py).unbind();
            let offsets = offsets.into_iter();
            let offsets = offsets.map(|(block, count)| array(py, &index, &[count], block));
            let offsets = offsets.collect::<PyResult<Vec<_>>>()?;
            helper(py, &NESTED, "returned")?.call1((elements, offsets))
        }
        (Part::Array { extents, data }, Form::Array { element, .. }, _) => {
            array(py, element, &extents, data)
        }
        (Part::Value(Value::Tuple(values)), Form::Tuple(_), Type::Tuple(_)) => {
            let parts = values.iter().cloned().map(Part::Value);
            to_python(py, Part::Tuple(parts.collect()), form, ty, sums)
        }
        (Part::Value(value), Form::Vector { levels, .. }, _)
            if *levels > 1
                && let Some((elements, offsets)) = values::nested(py, &value, *levels) =>
        {
            let offsets = offsets.into_iter();
            let offsets: Vec<_> = offsets.map(|own| PyArray1::from_vec(py, own)).collect();
            helper(py, &NESTED, "returned")?.call1((elements, offsets))
        }
        (Part::Value(value), form, ty) => {
            let made = values::to_python(py, &value, ty, sums)?;
            match form {
                Form::Unit | Form::Scalar(_) | Form::Tuple(_) | Form::Value => Ok(made),
                Form::Vector { levels, element } => {
                    helper(py, &VECTOR, "vector_of")?.call1((made, *levels, element))
                }
                Form::Array { element, .. } => {
                    helper(py, &CUBE, "array_of")?.call1((made, element))
                }
            }
        }
        (Part::Tuple(_) | Part::Vector { .. } | Part::Array { .. }, _, _) => Err(
            PyRuntimeError::new_err("a result of another form than its type"),
        ),
    }
}

static NESTED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static VECTOR: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static CUBE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Returns an array of NumPy over memory of a program, which it owns from now on.
fn array<'py>(
    py: Python<'py>,
    element: &Py<PyArrayDescr>,
    extents: &[usize],
    block: Block,
) -> PyResult<Bound<'py, PyAny>> {
    let mut extents: Vec<npyffi::npy_intp> =
        extents.iter().map(|n| *n as npyffi::npy_intp).collect();
    let data = block.pointer();
    let descriptor = element.bind(py).clone().into_dtype_ptr();
    // SAFETY: the memory has as many elements as the extents say. Where there are none it may be null;
    // NumPy then allocates. The reference to the descriptor is given away.
    let made = unsafe {
        let pointer = PY_ARRAY_API.PyArray_NewFromDescr(
            py,
            npyffi::get_type_object(py, NpyTypes::PyArray_Type),
            descriptor,
            extents.len() as i32,
            extents.as_mut_ptr(),
            std::ptr::null_mut(),
            data.cast(),
            npyffi::NPY_ARRAY_CARRAY,
            std::ptr::null_mut(),
        );
        Bound::from_owned_ptr_or_err(py, pointer)?
    };
    if !data.is_null() {
        let owner = Bound::new(py, Memory { _block: block })?;
        // SAFETY: the array was just made and has no base yet. The reference to the owner is given away.
        let code = unsafe {
            PY_ARRAY_API.PyArray_SetBaseObject(py, made.as_ptr().cast(), owner.into_ptr())
        };
        if code != 0 {
            return Err(PyErr::fetch(py));
        }
    }
    Ok(made)
}
