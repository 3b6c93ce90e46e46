//! Results in files: `-o out.npy`, `-o out.png` and the other [`crate::formats`].

use crate::atomic::write_file;
use crate::error::InputError;
use crate::formats::{Format, is_bytes, of_output};
use crate::unmarshal::Returned;
use nova_core::text::{Style, write_value};
use nova_core::{SumType, Type, Value};
use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

/// Checks that a result of type `ty` can be written under the name `path`. It is called before a
/// run.
///
/// # Errors
/// The ending of the name is not known, or the format does not hold values of this type.
pub fn check_output(path: &Path, ty: &Type) -> Result<(), InputError> {
    let format = of_output(path, ty)?;
    let checked = format.check(ty);
    checked.map_err(|problem| InputError(format!("{}: {problem}", path.display())))
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
    /// Writes the text of the value, which is of type `ty`, and the end of the line. In the style of texts a value
    /// that is one text is written as its bytes.
    pub fn write(
        &self,
        out: &mut impl Write,
        ty: &Type,
        sums: &[SumType],
        style: Style,
    ) -> io::Result<()> {
        match self {
            _ if style == Style::Texts && is_bytes(ty) => {
                let value = self.value().map_err(io::Error::other)?;
                Format::Bytes.write(out, ty, &value)?;
            }
            Outcome::Value(value) => write_value(out, value, ty, sums, style)?,
            Outcome::Returned(returned) => returned.write(out, ty, sums, style)?,
        }
        out.write_all(b"\n")
    }

    fn value(&self) -> Result<Cow<'_, Value>, String> {
        match self {
            Outcome::Value(value) => Ok(Cow::Borrowed(value)),
            Outcome::Returned(returned) => returned.value().map(Cow::Owned),
        }
    }
}

/// Writes a result, whole or not at all. `style` is for text alone.
///
/// # Errors
/// The errors are those of [`check_output`]. Or the file cannot be written. Or its format does not hold the value:
/// rows of different lengths, a picture without pixels.
pub fn write_output(
    path: &Path,
    outcome: &Outcome<'_>,
    ty: &Type,
    sums: &[SumType],
    style: Style,
) -> Result<(), InputError> {
    check_output(path, ty)?;
    let format = of_output(path, ty)?;
    if format == Format::Text && !is_bytes(ty) {
        return write_file(path, |mut writer| {
            outcome.write(&mut writer, ty, sums, style)
        });
    }
    let value = outcome.value().map_err(InputError)?;
    write_file(path, |writer| format.write(writer, ty, &value))
}
