//! Arguments of calls. Arrays of the right type and order are passed where they are; `novac._arrays` makes
//! arrays of everything else, or says what is wrong with it.

use crate::form::{Form, Port};
use crate::values;
use nova_core::{Scalar, ScalarValue, SumType, Value};
use nova_exec::Lent;
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyFloat, PyTuple};

/// What a value is given for, in messages.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// The entry.
    pub entry: &'a str,
    pub port: &'a Port,
}

impl Place<'_> {
    /// Returns the beginning of a message.
    pub fn subject(&self) -> String {
        let Place { entry, port } = self;
        format!("argument `{}` of `{entry}` is {}", port.name, port.text)
    }
}

/// The arguments of a call on their way.
pub struct Arguments<'py> {
    pub py: Python<'py>,
    /// True if arrays are converted.
    pub cast: bool,
    pub sums: &'py [SumType],
    /// Arrays that were made for this call.
    pub kept: Vec<Bound<'py, PyAny>>,
}

impl<'py> Arguments<'py> {
    /// Returns a value as a call takes it.
    pub fn lend(&mut self, place: Place<'_>, object: &Bound<'py, PyAny>) -> PyResult<Lent> {
        self.lend_in(place, &place.port.form, object)
    }

    fn lend_in(
        &mut self,
        place: Place<'_>,
        form: &Form,
        object: &Bound<'py, PyAny>,
    ) -> PyResult<Lent> {
        match form {
            Form::Unit if object.is_none() => Ok(Lent::Value(Value::Unit)),
            Form::Unit => Err(PyTypeError::new_err(format!(
                "{}: pass None, not {}",
                place.subject(),
                kind_of(object)
            ))),
            Form::Scalar(scalar) => Ok(Lent::Value(Value::Scalar(scalar_of(
                place, *scalar, object,
            )?))),
            Form::Tuple(forms) => {
                let parts = components(place, object, forms.len())?;
                let pairs = forms.iter().zip(&parts);
                let lent = pairs.map(|(form, part)| self.lend_in(place, form, part));
                Ok(Lent::Tuple(lent.collect::<PyResult<_>>()?))
            }
            Form::Vector { levels: 1, element } => {
                let array = self.array(place, object, element.bind(self.py), 1)?;
                Ok(Lent::Vector {
                    length: array.len(),
                    offsets: Vec::new(),
                    data: data(&array),
                })
            }
            Form::Vector { levels, element } => self.nested(place, object, *levels, element),
            Form::Array { rank, element } => {
                let array = self.array(place, object, element.bind(self.py), *rank)?;
                Ok(Lent::Array {
                    extents: array.shape().to_vec(),
                    data: data(&array),
                })
            }
            Form::Value => {
                let value = values::from_python(self, place, object)?;
                Ok(Lent::Value(value))
            }
        }
    }

    /// Returns an array of an element type and a number of dimensions, in the order of C.
    pub fn array(
        &mut self,
        place: Place<'_>,
        object: &Bound<'py, PyAny>,
        element: &Bound<'py, PyArrayDescr>,
        rank: usize,
    ) -> PyResult<Bound<'py, PyUntypedArray>> {
        if let Ok(array) = object.cast::<PyUntypedArray>()
            && is_as_needed(array, element, rank)
        {
            return Ok(array.clone());
        }
        let made = helper(self.py, &ARRAY, "array")?.call1((
            object,
            element,
            rank,
            self.cast,
            place.subject(),
        ))?;
        let array = made.cast_into::<PyUntypedArray>()?;
        self.kept.push(array.as_any().clone());
        Ok(array)
    }

    /// Returns a nested vector: the elements, and the offsets of each level but the first.
    fn nested(
        &mut self,
        place: Place<'_>,
        object: &Bound<'py, PyAny>,
        levels: usize,
        element: &Py<PyArrayDescr>,
    ) -> PyResult<Lent> {
        let made = helper(self.py, &NESTED, "nested")?.call1((
            object,
            element,
            levels,
            self.cast,
            place.subject(),
        ))?;
        let (elements, offsets): (Bound<'py, PyUntypedArray>, Vec<Bound<'py, PyUntypedArray>>) =
            made.extract()?;
        let first = offsets.first().map_or(0, |offsets| offsets.len());
        let lent = Lent::Vector {
            length: first.saturating_sub(1),
            offsets: offsets
                .iter()
                .map(|array| data(array).cast_const().cast())
                .collect(),
            data: data(&elements),
        };
        self.kept.push(made);
        Ok(lent)
    }
}

/// True if an array can be passed where it is.
pub fn is_as_needed(
    array: &Bound<'_, PyUntypedArray>,
    element: &Bound<'_, PyArrayDescr>,
    rank: usize,
) -> bool {
    array.ndim() == rank
        && array.is_c_contiguous()
        && array.is_aligned()
        && array.dtype().is_equiv_to(element)
}

/// Returns the address of the elements.
pub fn data(array: &Bound<'_, PyUntypedArray>) -> *mut u8 {
    // SAFETY: the pointer is to an array of NumPy.
    unsafe { (*array.as_array_ptr()).fields.data.cast() }
}

/// Returns the components of a tuple.
pub fn components<'py>(
    place: Place<'_>,
    object: &Bound<'py, PyAny>,
    count: usize,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let found: Option<Vec<Bound<'py, PyAny>>> = match object.cast::<PyTuple>() {
        Ok(tuple) => Some(tuple.iter().collect()),
        Err(_) => match object.cast::<pyo3::types::PyList>() {
            Ok(list) => Some(list.iter().collect()),
            Err(_) => None,
        },
    };
    match found {
        Some(parts) if parts.len() == count => Ok(parts),
        Some(parts) => Err(PyTypeError::new_err(format!(
            "{}: a tuple of {count} is needed, this one has {}",
            place.subject(),
            parts.len()
        ))),
        None => Err(PyTypeError::new_err(format!(
            "{}: a tuple of {count} is needed, not {}",
            place.subject(),
            kind_of(object)
        ))),
    }
}

/// Converts a number or a truth value.
pub fn scalar_of(
    place: Place<'_>,
    scalar: Scalar,
    object: &Bound<'_, PyAny>,
) -> PyResult<ScalarValue> {
    /// Extracts an integer.
    macro_rules! integer {
        ($variant:ident $number:ty) => {{
            if object.is_instance_of::<PyBool>() || object.is_instance_of::<PyFloat>() {
                return Err(not_a_scalar(place, scalar, object));
            }
            let number = object.extract::<$number>();
            ScalarValue::$variant(number.map_err(|error| {
                match error.is_instance_of::<PyOverflowError>(object.py()) {
                    true => PyValueError::new_err(format!(
                        "{}: {scalar} holds integers from {} to {}, and this one is {object}",
                        place.subject(),
                        <$number>::MIN,
                        <$number>::MAX
                    )),
                    false => not_a_scalar(place, scalar, object),
                }
            })?)
        }};
    }
    let number = || match object.is_instance_of::<PyBool>() {
        true => Err(not_a_scalar(place, scalar, object)),
        false => {
            let number = object.extract::<f64>();
            number.map_err(|_| not_a_scalar(place, scalar, object))
        }
    };
    Ok(match scalar {
        Scalar::I8 => integer!(I8 i8),
        Scalar::I16 => integer!(I16 i16),
        Scalar::I32 => integer!(I32 i32),
        Scalar::I64 => integer!(I64 i64),
        Scalar::U8 => integer!(U8 u8),
        Scalar::U16 => integer!(U16 u16),
        Scalar::U32 => integer!(U32 u32),
        Scalar::U64 => integer!(U64 u64),
        Scalar::F32 => ScalarValue::F32(number()? as f32),
        Scalar::F64 => ScalarValue::F64(number()?),
        Scalar::Bool => {
            let truth = object.extract::<bool>();
            ScalarValue::Bool(truth.map_err(|_| not_a_scalar(place, scalar, object))?)
        }
    })
}

fn not_a_scalar(place: Place<'_>, scalar: Scalar, object: &Bound<'_, PyAny>) -> PyErr {
    let needed = match scalar {
        Scalar::Bool => "True or False",
        Scalar::F32 | Scalar::F64 => "a number",
        Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => "an integer",
        Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => "an integer",
    };
    let help = match (scalar, object.is_instance_of::<PyFloat>()) {
        (Scalar::Bool | Scalar::F32 | Scalar::F64, _) | (_, false) => "",
        (_, true) => "; int(…) drops the fraction, round(…) rounds",
    };
    PyTypeError::new_err(format!(
        "{}: {needed} is needed, not {}{help}",
        place.subject(),
        kind_of(object)
    ))
}

/// Returns what an object is, for messages.
pub fn kind_of(object: &Bound<'_, PyAny>) -> String {
    if object.is_none() {
        return "None".to_string();
    }
    let name = object.get_type().qualname();
    let name = name.map_or_else(|_| "another value".to_string(), |name| name.to_string());
    match name.starts_with(['a', 'e', 'i', 'o', 'u']) {
        true => format!("an {name}"),
        false => format!("a {name}"),
    }
}

static ARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static NESTED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Returns a function of `novac._arrays`.
pub fn helper<'py>(
    py: Python<'py>,
    cell: &'static PyOnceLock<Py<PyAny>>,
    name: &str,
) -> PyResult<&'py Bound<'py, PyAny>> {
    let function = cell.get_or_try_init(py, || {
        let module = py.import("novac._arrays")?;
        module.getattr(name).map(Bound::unbind)
    })?;
    Ok(function.bind(py))
}
