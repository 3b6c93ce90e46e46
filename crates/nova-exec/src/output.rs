//! Results in files: `-o out.npy`, `-o out.npz`, and text or bytes under any other name.

use crate::atomic::write_file;
use crate::error::InputError;
use crate::npy::{self, Array};
use crate::npz;
use crate::unmarshal::Returned;
use nova_core::text::write_value;
use nova_core::{Elements, Scalar, SumType, Type, Value};
use std::io::{self, Write};
use std::path::Path;

/// Checks that a result of type `ty` can be written under the name `path`. It is called before a
/// run.
pub fn check_output(path: &Path, ty: &Type) -> Result<(), InputError> {
    let problem = match ending(path) {
        "npy" => match array_type(ty) {
            Some(_) => return Ok(()),
            None => "only a vector or vector#n of scalars can be written as .npy \
                     (tuples, vectors of tuples and nested vectors as .npz)"
                .to_string(),
        },
        "npz" => match npz::check(ty) {
            Ok(()) => return Ok(()),
            Err(why) => format!("the result cannot be written as .npz: {why}"),
        },
        _ => return Ok(()),
    };
    Err(InputError(format!("{}: {problem}", path.display())))
}

fn ending(path: &Path) -> &str {
    path.extension().and_then(|e| e.to_str()).unwrap_or("")
}

/// Returns the element type of a value that is one array.
fn array_type(ty: &Type) -> Option<Scalar> {
    match ty {
        Type::Vector(inner) | Type::Array(_, inner) => inner.as_scalar(),
        Type::Scalar(_) | Type::Unit | Type::Tuple(_) | Type::Sum(_) | Type::Function(..) => None,
    }
}

/// The value of an entry: that of the interpreter, or the result of a call in its memory.
#[derive(Debug)]
pub enum Outcome<'a> {
    /// A value.
    Value(Value),
    /// The memory that a call gave.
    Returned(Returned<'a>),
}

impl Outcome<'_> {
    /// Writes the text of the value, which is of type `ty`, and the end of the line.
    pub fn write(&self, out: &mut impl Write, ty: &Type, sums: &[SumType]) -> io::Result<()> {
        match self {
            Outcome::Value(value) => write_value(out, value, ty, sums)?,
            Outcome::Returned(returned) => returned.write(out, ty, sums)?,
        }
        out.write_all(b"\n")
    }
}

/// Writes a result, whole or not at all.
pub fn write_output(
    path: &Path,
    outcome: &Outcome<'_>,
    ty: &Type,
    sums: &[SumType],
) -> Result<(), InputError> {
    check_output(path, ty)?;
    let is_text = !matches!(ending(path), "npy" | "npz") && array_type(ty) != Some(Scalar::U8);
    if is_text {
        return write_file(path, |mut writer| outcome.write(&mut writer, ty, sums));
    }
    let converted;
    let value = match outcome {
        Outcome::Value(value) => value,
        Outcome::Returned(returned) => {
            converted = returned.value().map_err(InputError)?;
            &converted
        }
    };
    write_file(path, |mut writer| {
        match (ending(path), array_type(ty), value) {
            ("npy", Some(scalar), Value::Vector(elements)) => {
                let shape = vec![elements.len()];
                let elements = elements.clone();
                npy::write(writer, scalar, &Array { shape, elements })
            }
            ("npy", Some(scalar), Value::Array(shape, elements)) => {
                let shape = shape.to_vec();
                let elements = elements.clone();
                npy::write(writer, scalar, &Array { shape, elements })
            }
            ("npz", _, _) => npz::write(writer, ty, value).map_err(io::Error::other),
            (_, Some(Scalar::U8), Value::Vector(Elements::U8(bytes))) => writer.write_all(bytes),
            _ => {
                write_value(&mut writer, value, ty, sums)?;
                writeln!(writer)
            }
        }
    })
}
