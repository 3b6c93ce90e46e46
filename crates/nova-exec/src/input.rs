//! The VALUE of `X=VALUE` on a command line (abi §1): text, or `@` and files.

use crate::building::read_argument;
use crate::error::{InputError, describe};
use crate::formats::{is_bytes, of_input, split_columns};
use crate::layout::Passing;
use crate::marshal::Argument;
use crate::nested;
use nova_core::text::{ValueError, read_value};
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
        match self.given(text, ty, sums)? {
            Given::Value(value) => Ok(value),
            Given::Text(text) => text.parse(|text| read_value(text, ty, sums)),
        }
    }

    /// Reads one VALUE of type `ty` as an argument of a call. Text does not become a value in between.
    pub fn read_argument(
        &mut self,
        text: &str,
        ty: &Type,
        sums: &[SumType],
    ) -> Result<Argument, InputError> {
        let Ok(passing) = Passing::of(ty, sums) else {
            self.read(text, ty, sums)?;
            return Err(InputError("a value that cannot be passed".to_string()));
        };
        match self.given(text, ty, sums)? {
            Given::Text(text) => text.parse(|text| read_argument(text, ty, &passing, sums)),
            Given::Value(value) => Argument::of_value(&passing, &value)
                .map_err(|_| InputError("a value of another type".to_string())),
        }
    }

    fn given<'t>(
        &mut self,
        text: &'t str,
        ty: &Type,
        sums: &[SumType],
    ) -> Result<Given<'t>, InputError> {
        let Some(files) = text.strip_prefix('@') else {
            return Ok(Given::Text(Text::Argument(text)));
        };
        if let Some((data, offsets)) = files.split_once(":@")
            && let Type::Vector(row) = ty
            && matches!(**row, Type::Vector(_))
        {
            let offsets: Vec<&str> = offsets.split(":@").collect();
            return self.read_nested(data, &offsets, ty, sums).map(Given::Value);
        }
        if files == "-" {
            let bytes = self.read_stdin()?;
            return Ok(from_bytes("standard input".to_string(), bytes, ty));
        }
        read_file(files, ty)
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

/// The meaning of a VALUE of the command line.
enum Given<'t> {
    Value(Value),
    Text(Text<'t>),
}

/// The text of a value.
enum Text<'t> {
    /// A part of the command line.
    Argument(&'t str),
    /// The content of a file or of standard input, with its name.
    Content(String, Vec<u8>),
}

impl Text<'_> {
    fn parse<T>(&self, parse: impl FnOnce(&str) -> Result<T, ValueError>) -> Result<T, InputError> {
        let (name, bytes) = match self {
            Text::Argument(text) => {
                return parse(text).map_err(|error| InputError(error.to_string()));
            }
            Text::Content(name, bytes) => (name, bytes),
        };
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let at = error.valid_up_to();
            InputError(format!("{name}: no value text: byte {at} is not UTF-8"))
        })?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        parse(text).map_err(|error| InputError(format!("{name}: {error}")))
    }
}

/// Returns what the raw bytes of a file or of standard input are: the elements of a `vector uint8`, else
/// value text.
fn from_bytes(name: String, bytes: Vec<u8>, ty: &Type) -> Given<'static> {
    match is_bytes(ty) {
        true => Given::Value(Value::Vector(Elements::U8(Arc::new(bytes)))),
        false => Given::Text(Text::Content(name, bytes)),
    }
}

fn read_file(name: &str, ty: &Type) -> Result<Given<'static>, InputError> {
    let (name, columns) = split_columns(name);
    let path = Path::new(name);
    let mut file = File::open(path).map_err(|e| InputError::file(path, &e))?;
    let in_file = |message: String| InputError(format!("{name}: {message}"));
    let read = of_input(path).read(BufReader::new(&mut file), columns, ty);
    if let Some(value) = read.map_err(in_file)? {
        return Ok(Given::Value(value));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)
        .map_err(|e| InputError::file(path, &e))?;
    Ok(from_bytes(name.to_string(), bytes, ty))
}
