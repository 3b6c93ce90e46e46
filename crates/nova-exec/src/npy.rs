//! NumPy's `.npy` files: little-endian, C order, types exact.
//!
//! The header is read and written by `npyz`; the data is moved in bulk.

use crate::elements;
use crate::error::describe;
use crate::nested::{flatten, unflatten};
use nova_core::{Elements, Scalar, Type, Value};
use npyz::{DType, NpyHeader, Order, WriterBuilder};
use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// An array in a file.
#[derive(Clone, Debug)]
pub struct Array {
    /// Its extents. There are none for a single number.
    pub shape: Vec<usize>,
    /// Its elements, row-major, never [`Elements::Values`].
    pub elements: Elements,
}

/// Returns the dimensions and the element type of a value that is one array: a number, a vector, a vector of vectors
/// of equal lengths, a `vector#n`.
pub fn levels(ty: &Type) -> Option<(usize, Scalar)> {
    match ty {
        Type::Vector(inner) => match &**inner {
            Type::Vector(inner) => Some((2, inner.as_scalar()?)),
            inner => Some((1, inner.as_scalar()?)),
        },
        Type::Array(rank, inner) => Some((*rank as usize, inner.as_scalar()?)),
        Type::Scalar(_) | Type::Unit | Type::Tuple(_) | Type::Sum(_) | Type::Function(..) => None,
    }
}

impl Array {
    /// Returns a value of type `ty` as one array, with its element type.
    ///
    /// # Errors
    /// The value is no array, or a vector of vectors of different lengths.
    pub fn of(ty: &Type, value: &Value) -> Result<(Scalar, Array), String> {
        let (rank, scalar) = levels(ty).ok_or("the value is no array")?;
        let (shape, elements) = match value {
            Value::Array(shape, elements) => (shape.to_vec(), elements.clone()),
            Value::Vector(rows) if rank == 2 => {
                let (offsets, elements) = flatten(Some(scalar), rows);
                let lengths = offsets.windows(2).map(|pair| pair[1] - pair[0]);
                let first = lengths.clone().next().unwrap_or(0);
                if let Some((row, length)) = lengths.enumerate().find(|(_, n)| *n != first) {
                    return Err(format!(
                        "row {row} has {length} elements and row 0 has {first}; an array has equal rows: \
                         write .npz, which holds offsets, or make the rows equal"
                    ));
                }
                (vec![rows.len(), first as usize], elements)
            }
            Value::Vector(elements) => (vec![elements.len()], elements.clone()),
            _ => return Err("the value is no array".to_string()),
        };
        Ok((scalar, Array { shape, elements }))
    }

    /// Returns the array as a value of type `ty`, which has as many dimensions.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn into_value(self, ty: &Type) -> Result<Value, String> {
        match (ty, self.shape.as_slice()) {
            (Type::Vector(_), [rows, width]) => {
                let offsets = (0..=*rows).map(|row| (row * width) as i64);
                let offsets: Vec<i64> = offsets.collect();
                unflatten(&offsets, &self.elements).map(Value::Vector)
            }
            (Type::Vector(_), _) => Ok(Value::Vector(self.elements)),
            (Type::Array(..), _) => Ok(Value::Array(self.shape.into(), self.elements)),
            _ => Ok(elements::element(&self.elements, 0)),
        }
    }
}

/// Reads an array as a value: a number, a vector, a vector of vectors of equal lengths or a `vector#n` of scalars.
///
/// The error is a sentence without the file's name.
pub fn read_value(reader: &mut dyn Read, ty: &Type) -> Result<Value, String> {
    let array = match (ty, levels(ty)) {
        (Type::Scalar(scalar), _) => (0, *scalar),
        (_, Some(array)) => array,
        (Type::Vector(inner), None) if matches!(**inner, Type::Vector(_)) => {
            return Err(NESTED.to_string());
        }
        (_, None) => {
            return Err(
                "an .npy array holds numbers only; give tuples and vectors of tuples as .npz, \
                        everything else as text"
                    .to_string(),
            );
        }
    };
    let (rank, scalar) = array;
    let array = read(reader, scalar)?;
    if array.shape.len() != rank {
        let nested = match ty {
            Type::Vector(_) if rank == 2 => format!("; {NESTED}"),
            _ => String::new(),
        };
        return Err(format!(
            "the array has {} dimension{}, {rank} {} needed{nested}",
            array.shape.len(),
            if array.shape.len() == 1 { "" } else { "s" },
            if rank == 1 { "is" } else { "are" },
        ));
    }
    array.into_value(ty)
}

/// The way to give a vector of vectors of different lengths.
const NESTED: &str =
    "rows of different lengths are given as data and offsets: @data.npy:@offsets.npy";

/// Returns NumPy's name of a scalar type, without the byte order.
fn type_name(scalar: Scalar) -> String {
    let letter = match scalar {
        Scalar::Bool => 'b',
        Scalar::F32 | Scalar::F64 => 'f',
        Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => 'u',
        Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => 'i',
    };
    format!("{letter}{}", scalar.info().bytes)
}

/// Returns NumPy's description of a scalar type: `<f4`, `|u1`.
fn descriptor(scalar: Scalar) -> String {
    let order = if scalar.info().bytes == 1 { '|' } else { '<' };
    format!("{order}{}", type_name(scalar))
}

/// Reads an array whose elements must be of type `scalar`.
///
/// The error is a sentence without the file's name.
pub fn read(reader: &mut dyn Read, scalar: Scalar) -> Result<Array, String> {
    let header = read_header(reader)?;
    check_type(&header.dtype(), scalar)?;
    if header.order() == Order::Fortran && header.shape().iter().filter(|n| **n > 1).count() > 1 {
        return Err("the array is in Fortran order, C order is needed \
                    (np.ascontiguousarray makes it so)"
            .to_string());
    }
    let shape: Option<Vec<usize>> = header
        .shape()
        .iter()
        .map(|n| (*n).try_into().ok())
        .collect();
    let size = usize::from(scalar.info().bytes);
    let bytes = shape.as_ref().and_then(|s| byte_count(s, size));
    let (Some(shape), Some(bytes)) = (shape, bytes) else {
        return Err("the array is too large".to_string());
    };
    let mut data = Vec::new();
    let read = reader.take(bytes as u64).read_to_end(&mut data);
    read.map_err(|e| describe(&e))?;
    if data.len() < bytes {
        return Err(format!(
            "the file is truncated: {bytes} bytes of data are announced, {} are there",
            data.len()
        ));
    }
    Ok(Array {
        shape,
        elements: elements::from_bytes(scalar, &data),
    })
}

/// Returns the size of an array in bytes, if it does not overflow. Extents of 0 do not hide others
/// that overflow.
fn byte_count(shape: &[usize], size: usize) -> Option<usize> {
    let product = shape.iter().try_fold(size, |n, extent| {
        n.checked_mul((*extent).max(1))
            .filter(|n| *n <= isize::MAX as usize)
    })?;
    Some(if shape.contains(&0) { 0 } else { product })
}

/// Reads the header. Bytes that are no header give a message, never a panic.
fn read_header(reader: &mut dyn Read) -> Result<NpyHeader, String> {
    let start = start_of(reader).map_err(|error| describe(&error))?;
    if depth_of(&start) > DEEPEST_HEADER {
        return Err("this is no .npy file: its header is damaged".to_string());
    }
    match quietly(|| NpyHeader::from_reader(&mut start.chain(&mut *reader))) {
        Some(Ok(header)) => Ok(header),
        Some(Err(error)) if error.kind() == io::ErrorKind::UnexpectedEof => {
            Err("the file is truncated".to_string())
        }
        Some(Err(error)) => Err(format!("this is no .npy file: {}", describe(&error))),
        None => Err("this is no .npy file: its header is damaged".to_string()),
    }
}

/// The deepest nesting of brackets in a header. The parser of `npyz` takes exponential time in it, and headers of
/// arrays of numbers have two levels.
const DEEPEST_HEADER: usize = 8;

/// Returns the bytes of the header, from the beginning of the file, as far as they are there.
fn start_of(reader: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    reader.take(8).read_to_end(&mut start)?;
    // The version decides on the size of the length.
    let size = match start.get(6) {
        Some(1) => 2,
        Some(_) => 4,
        None => return Ok(start),
    };
    reader.take(size).read_to_end(&mut start)?;
    let digits = start.iter().skip(8).rev();
    let length = digits.fold(0u64, |length, byte| length << 8 | u64::from(*byte));
    reader.take(length).read_to_end(&mut start)?;
    Ok(start)
}

/// Returns how deep brackets nest in a text.
fn depth_of(text: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0usize, 0);
    for byte in text {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// Runs `body`. Returns `None` when it panics. (The header reader of `npyz` multiplies extents
/// unchecked.)
fn quietly<R>(body: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(body)).ok()
}

fn check_type(found: &DType, scalar: Scalar) -> Result<(), String> {
    let found = match found {
        DType::Plain(plain) => plain.to_string(),
        DType::Array(..) | DType::Record(_) => {
            return Err(format!(
                "the array's elements are records, {} is needed; \
                 for vectors of tuples use an .npz file with one array per component",
                descriptor(scalar)
            ));
        }
    };
    let wanted = descriptor(scalar);
    if found == wanted || (scalar.info().bytes == 1 && found[1..] == wanted[1..]) {
        return Ok(());
    }
    if found.strip_prefix('>') == Some(&type_name(scalar)) {
        return Err(format!(
            "the array is big-endian ({found}), little-endian ({wanted}) is needed \
             (astype('{wanted}') makes it so)"
        ));
    }
    Err(format!(
        "the array's type is {}, {} is needed for {scalar} (astype('{wanted}') converts)",
        name_of(&found),
        name_of(&wanted),
    ))
}

/// Returns `<f8` with its name for people: `float64 (<f8)`.
fn name_of(descriptor: &str) -> String {
    let bits = descriptor
        .get(2..)
        .and_then(|size| size.parse::<u32>().ok());
    let word = match descriptor.get(1..2) {
        Some("f") => "float",
        Some("i") => "int",
        Some("u") => "uint",
        Some("b") => return format!("bool ({descriptor})"),
        Some(_) | None => return descriptor.to_string(),
    };
    match bits {
        Some(bytes) => format!("{word}{} ({descriptor})", bytes.saturating_mul(8)),
        None => descriptor.to_string(),
    }
}

/// Writes an array of `scalar` elements.
pub fn write(writer: &mut dyn Write, scalar: Scalar, array: &Array) -> io::Result<()> {
    let shape: Vec<u64> = array.shape.iter().map(|n| *n as u64).collect();
    let plain = descriptor(scalar).parse().map_err(io::Error::other)?;
    npyz::WriteOptions::new_header_only()
        .dtype(DType::new_scalar(plain))
        .shape(&shape)
        .writer(&mut *writer)
        .write_header_only()?;
    let mut bytes = Vec::new();
    elements::write_bytes(&array.elements, &mut bytes);
    writer.write_all(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn file(shape: &[usize], values: &[f32]) -> Vec<u8> {
        let mut out = Vec::new();
        let array = Array {
            shape: shape.to_vec(),
            elements: Elements::F32(Arc::new(values.to_vec())),
        };
        write(&mut out, Scalar::F32, &array).expect("memory takes all");
        out
    }

    fn header(text: &str) -> Vec<u8> {
        let mut out = b"\x93NUMPY\x01\x00".to_vec();
        out.extend_from_slice(&(text.len() as u16).to_le_bytes());
        out.extend_from_slice(text.as_bytes());
        out
    }

    fn error(bytes: &[u8], scalar: Scalar) -> String {
        read(&mut &*bytes, scalar).err().unwrap_or_default()
    }

    #[test]
    fn written_reads_back() {
        let bytes = file(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.5]);
        let array = read(&mut &*bytes, Scalar::F32).expect("a good file");
        assert_eq!(array.shape, [2, 3]);
        let Elements::F32(values) = array.elements else {
            panic!("other type");
        };
        assert_eq!(*values, [1.0, 2.0, 3.0, 4.0, 5.0, 6.5]);
    }

    #[test]
    fn wrong_files_say_why() {
        let good = file(&[2], &[1.0, 2.0]);
        assert!(error(&good, Scalar::F64).contains("float32 (<f4), float64 (<f8) is needed"));
        assert!(error(&good[..good.len() - 1], Scalar::F32).contains("truncated: 8 bytes"));
        assert!(error(&good[..40], Scalar::F32).contains("truncated"));
        assert!(error(b"hello", Scalar::F32).contains("no .npy file"));
        let big = header("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }");
        assert!(error(&big, Scalar::F32).contains("big-endian"));
        let fortran = header("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }");
        assert!(error(&fortran, Scalar::F32).contains("Fortran"));
    }

    #[test]
    fn absurd_headers_do_not_hurt() {
        let huge = "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 9), }";
        assert_ne!(error(&header(huge), Scalar::F32), "");
        let long = "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,), }";
        assert!(error(&header(long), Scalar::F32).contains("truncated"));
        let deep = format!("{{'descr': '<f4', 'shape': {}", "{".repeat(60));
        assert!(error(&header(&deep), Scalar::F32).contains("damaged"));
        let mut large = header("{}");
        large[6] = 2;
        assert_ne!(error(&large, Scalar::F32), "");
        assert_ne!(error(&header("{}"), Scalar::F32), "");
        assert_ne!(error(&header(""), Scalar::F32), "");
    }
}
