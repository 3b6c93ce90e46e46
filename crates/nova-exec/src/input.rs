//! The VALUE of `X=VALUE` on a command line (abi §1): text, or `@` and files.

use crate::error::{InputError, describe};
use crate::{nested, npy, npz};
use nova_core::{Elements, Scalar, SumType, Type, Value};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

/// The inputs of one run. Standard input can stand for only one of them.
#[derive(Debug, Default)]
pub struct Inputs {
    stdin_used: bool,
}

impl Inputs {
    /// Creates a reader that has read nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads one VALUE of type `ty`.
    pub fn read(&mut self, text: &str, ty: &Type, sums: &[SumType]) -> Result<Value, InputError> {
        let Some(files) = text.strip_prefix('@') else {
            return read_text(text, ty, sums);
        };
        if let Some((data, offsets)) = files.split_once(":@")
            && let Type::Vector(row) = ty
            && matches!(**row, Type::Vector(_))
        {
            return self.read_nested(data, &offsets.split(":@").collect::<Vec<_>>(), ty, sums);
        }
        if files == "-" {
            let bytes = self.read_stdin()?;
            return from_bytes("standard input", bytes, ty, sums);
        }
        read_file(Path::new(files), ty, sums)
    }

    fn read_stdin(&mut self) -> Result<Vec<u8>, InputError> {
        if std::mem::replace(&mut self.stdin_used, true) {
            return Err(InputError(
                "standard input is used for another input already".into(),
            ));
        }
        let mut bytes = Vec::new();
        io::stdin()
            .lock()
            .read_to_end(&mut bytes)
            .map_err(|e| InputError(format!("standard input: {}", describe(&e))))?;
        Ok(bytes)
    }

    /// Reads a nested vector from its data and the offsets of each level, outermost first.
    fn read_nested(
        &mut self,
        data: &str,
        offsets: &[&str],
        ty: &Type,
        sums: &[SumType],
    ) -> Result<Value, InputError> {
        let mut inner = ty;
        for _ in 0..=offsets.len() {
            let Type::Vector(element) = inner else {
                return Err(InputError(
                    "more arrays of offsets are given than the vector has levels".to_string(),
                ));
            };
            inner = element;
        }
        if matches!(inner, Type::Vector(_)) {
            return Err(InputError(
                "a nested vector needs an array of offsets for each level: \
                 @data.npy:@offsets.npy"
                    .to_string(),
            ));
        }
        let flat = Type::vector(inner.clone());
        let Value::Vector(mut elements) = self.read(&format!("@{data}"), &flat, sums)? else {
            return Err(InputError(format!("{data}: no vector")));
        };
        let offsets_type = Type::vector(Type::Scalar(Scalar::I64));
        for name in offsets.iter().rev() {
            let value = self.read(&format!("@{name}"), &offsets_type, sums)?;
            let Value::Vector(Elements::I64(offsets)) = value else {
                return Err(InputError(format!("{name}: no vector of int64")));
            };
            elements = nested::unflatten(&offsets, &elements)
                .map_err(|e| InputError(format!("{name}: {e}")))?;
        }
        Ok(Value::Vector(elements))
    }
}

fn read_text(text: &str, ty: &Type, sums: &[SumType]) -> Result<Value, InputError> {
    nova_core::text::read_value(text, ty, sums).map_err(|error| InputError(error.to_string()))
}

/// Reads raw bytes of a file or of standard input: the elements of a `vector uint8`, else value
/// text.
fn from_bytes(
    name: &str,
    bytes: Vec<u8>,
    ty: &Type,
    sums: &[SumType],
) -> Result<Value, InputError> {
    if *ty == Type::vector(Type::Scalar(Scalar::U8)) {
        return Ok(Value::Vector(Elements::U8(Arc::new(bytes))));
    }
    let text = match std::str::from_utf8(&bytes) {
        Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text),
        Err(error) => {
            return Err(InputError(format!(
                "{name}: no value text: byte {} is not UTF-8",
                error.valid_up_to()
            )));
        }
    };
    read_text(text, ty, sums).map_err(|error| InputError(format!("{name}: {error}")))
}

fn read_file(path: &Path, ty: &Type, sums: &[SumType]) -> Result<Value, InputError> {
    let file = File::open(path).map_err(|e| InputError::file(path, &e))?;
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    let in_file = |message: String| InputError(format!("{}: {message}", path.display()));
    match ending {
        "npy" => read_npy(BufReader::new(file), ty).map_err(in_file),
        "npz" => npz::read(BufReader::new(file), ty).map_err(in_file),
        _ => {
            let mut bytes = Vec::new();
            BufReader::new(file)
                .read_to_end(&mut bytes)
                .map_err(|e| InputError::file(path, &e))?;
            from_bytes(&path.display().to_string(), bytes, ty, sums)
        }
    }
}

/// Reads an array: a number, a vector or a `vector#n` of scalars.
fn read_npy(mut reader: impl Read, ty: &Type) -> Result<Value, String> {
    let (rank, inner) = match ty {
        Type::Scalar(_) => (0, ty),
        Type::Vector(inner) => (1, &**inner),
        Type::Array(rank, inner) => (*rank as usize, &**inner),
        Type::Unit | Type::Tuple(_) | Type::Sum(_) | Type::Function(..) => (0, ty),
    };
    let Type::Scalar(scalar) = inner else {
        return Err(match inner {
            Type::Vector(_) if rank == 1 => "an .npy array is no nested vector; give data and \
                                             offsets: @data.npy:@offsets.npy"
                .to_string(),
            _ => "an .npy array holds numbers only; give tuples and vectors of tuples as .npz, \
                  everything else as text"
                .to_string(),
        });
    };
    let array = npy::read(&mut reader, *scalar)?;
    if array.shape.len() != rank {
        return Err(format!(
            "the array has {} dimension{}, {rank} {} needed",
            array.shape.len(),
            if array.shape.len() == 1 { "" } else { "s" },
            if rank == 1 { "is" } else { "are" },
        ));
    }
    Ok(match rank {
        0 => crate::elements::element(&array.elements, 0),
        1 => Value::Vector(array.elements),
        _ => Value::Array(array.shape.into(), array.elements),
    })
}
