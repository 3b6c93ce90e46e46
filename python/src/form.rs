//! How values of each type look in Python.
//!
//! | NOVA | Python |
//! | --- | --- |
//! | numbers, `bool`, `unit` | `int`, `float`, `bool`, `None` |
//! | tuple | `tuple` |
//! | `vector T`, `vector#n T`, T of numbers | array of NumPy, of a structured type where T is a tuple |
//! | `vector (vector T)` and deeper | `novac.Nested`: elements and offsets |
//! | a sum | `novac.Variant` |
//! | a vector of anything else | `list` |

use nova_core::types_text::type_text;
use nova_core::{Scalar, SumType, Type};
use nova_exec::is_lendable;
use nova_exec::layout::{Items, Layout, LayoutKind, Passing};
use numpy::PyArrayDescr;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The form of the values of a type.
pub enum Form {
    Unit,
    Scalar(Scalar),
    Tuple(Vec<Form>),
    /// Arrays of one dimension; with more levels, elements and offsets.
    Vector {
        levels: usize,
        element: Py<PyArrayDescr>,
    },
    /// Arrays of this rank.
    Array {
        rank: usize,
        element: Py<PyArrayDescr>,
    },
    /// Python's own values.
    Value,
}

/// An input, or the result, of an entry.
pub struct Port {
    /// Its name in the program; that of a result is empty.
    pub name: String,
    pub ty: Type,
    /// The type as programs write it.
    pub text: String,
    pub passing: Passing,
    pub form: Form,
}

impl Port {
    /// Returns the port of a name and a type. The error says why such values cannot be passed.
    pub fn new(py: Python<'_>, name: &str, ty: &Type, sums: &[SumType]) -> PyResult<Port> {
        Ok(Port {
            name: name.to_string(),
            ty: ty.clone(),
            text: type_text(ty, sums),
            passing: Passing::of(ty, sums).map_err(PyValueError::new_err)?,
            form: Form::of(py, ty, sums)?,
        })
    }
}

impl Form {
    fn of(py: Python<'_>, ty: &Type, sums: &[SumType]) -> PyResult<Form> {
        Ok(match ty {
            Type::Unit => Form::Unit,
            Type::Scalar(scalar) => Form::Scalar(*scalar),
            Type::Tuple(types) => {
                let forms = types.iter().map(|ty| Form::of(py, ty, sums));
                Form::Tuple(forms.collect::<PyResult<_>>()?)
            }
            Type::Vector(element) => {
                let (mut levels, mut inner) = (1, &**element);
                while let Type::Vector(element) = inner {
                    (levels, inner) = (levels + 1, element);
                }
                match element_type(py, inner, sums)? {
                    Some(element) => Form::Vector { levels, element },
                    None => Form::Value,
                }
            }
            Type::Array(rank, element) => match element_type(py, element, sums)? {
                Some(element) => Form::Array {
                    rank: *rank as usize,
                    element,
                },
                None => Form::Value,
            },
            Type::Sum(_) | Type::Function(..) => Form::Value,
        })
    }
}

/// Returns NumPy's type of elements that are passed as they are in memory.
fn element_type(py: Python<'_>, ty: &Type, sums: &[SumType]) -> PyResult<Option<Py<PyArrayDescr>>> {
    let layout = Layout::of(ty, sums).map_err(PyValueError::new_err)?;
    let items = Items {
        scalar: ty.as_scalar(),
        layout,
    };
    if items.layout.size == 0 || !is_lendable(&items) {
        return Ok(None);
    }
    let description = description(py, &items.layout)?;
    Ok(Some(PyArrayDescr::new(py, description)?.unbind()))
}

/// Returns what `numpy.dtype` makes an element type of.
fn description<'py>(py: Python<'py>, layout: &Layout) -> PyResult<Bound<'py, PyAny>> {
    match &layout.kind {
        LayoutKind::Scalar(scalar) => Ok(dtype_name(*scalar).into_pyobject(py)?.into_any()),
        LayoutKind::Tuple(members) => {
            let (mut names, mut formats, mut offsets) = (Vec::new(), Vec::new(), Vec::new());
            for (k, (offset, member)) in members.iter().enumerate() {
                if member.size > 0 {
                    names.push(format!("e{k}"));
                    formats.push(PyArrayDescr::new(py, description(py, member)?)?);
                    offsets.push(*offset);
                }
            }
            let fields = PyDict::new(py);
            fields.set_item("names", names)?;
            fields.set_item("formats", formats)?;
            fields.set_item("offsets", offsets)?;
            fields.set_item("itemsize", layout.size)?;
            Ok(fields.into_any())
        }
        LayoutKind::Unit
        | LayoutKind::Sum(..)
        | LayoutKind::Vector(_)
        | LayoutKind::Array(..)
        | LayoutKind::Data(_)
        | LayoutKind::Link(_) => Err(PyValueError::new_err("no elements of an array")),
    }
}

/// Returns NumPy's name of a scalar type.
pub fn dtype_name(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::I8 => "int8",
        Scalar::I16 => "int16",
        Scalar::I32 => "int32",
        Scalar::I64 => "int64",
        Scalar::U8 => "uint8",
        Scalar::U16 => "uint16",
        Scalar::U32 => "uint32",
        Scalar::U64 => "uint64",
        Scalar::F32 => "float32",
        Scalar::F64 => "float64",
        Scalar::Bool => "bool",
    }
}
