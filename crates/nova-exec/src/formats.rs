//! The formats of files that hold values, by the endings of their names.

use crate::error::InputError;
use crate::npy::{self, Array};
use crate::picture::{self, Picture, png, pnm};
use crate::{npz, table};
use nova_core::{Scalar, Type, Value};
use std::io::{self, BufRead, Seek, Write};
use std::path::Path;

/// A format of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// An array of NumPy.
    Npy,
    /// Several arrays of NumPy.
    Npz,
    /// A table, whose cells are separated by this character.
    Table(u8),
    /// A picture with 1 to 4 channels, compressed.
    Png,
    /// A picture of Netpbm with so many channels.
    Pnm(usize),
    /// The text of a value.
    Text,
    /// The bytes of a `vector uint8`.
    Bytes,
}

/// The formats by the endings of files, with what each holds.
pub const FORMATS: [(&str, Format, &str); 9] = [
    ("npy", Format::Npy, "an array of NumPy"),
    ("npz", Format::Npz, "several arrays of NumPy"),
    ("csv", Format::Table(b','), "a table"),
    ("tsv", Format::Table(b'\t'), "a table with tabs"),
    ("png", Format::Png, "a picture"),
    ("pgm", Format::Pnm(1), "a grey picture"),
    ("ppm", Format::Pnm(3), "a colour picture"),
    ("txt", Format::Text, "value text"),
    ("bin", Format::Bytes, "the bytes of a vector uint8"),
];

/// Returns the ending of a file's name, without its dot and in lower case.
fn ending(path: &Path) -> Option<String> {
    let ending = path.extension()?.to_str()?;
    Some(ending.to_ascii_lowercase())
}

/// Returns the format of an ending.
fn by_ending(ending: &str) -> Option<Format> {
    let found = FORMATS.iter().find(|(known, ..)| *known == ending);
    found.map(|(_, format, _)| *format)
}

/// Returns the format in which a value of type `ty` is written to a file of this name. Without an ending it is text,
/// or the bytes of a `vector uint8`.
///
/// # Errors
/// The ending is none of a format. The message lists the endings.
pub fn of_output(path: &Path, ty: &Type) -> Result<Format, InputError> {
    let Some(ending) = ending(path) else {
        return Ok(match is_bytes(ty) {
            true => Format::Bytes,
            false => Format::Text,
        });
    };
    by_ending(&ending).ok_or_else(|| {
        let known = FORMATS.map(|(ending, _, holds)| format!(".{ending} ({holds})"));
        InputError(format!(
            "{}: the ending .{ending} is not known\n  help: the endings are {}",
            path.display(),
            known.join(", ")
        ))
    })
}

/// Returns the format in which a file of this name is read. A file of any other name is text or bytes.
pub fn of_input(path: &Path) -> Format {
    let format = ending(path).and_then(|ending| by_ending(&ending));
    format.unwrap_or(Format::Text)
}

/// Splits `FILE.csv:COLUMNS` into the file and the columns. A file whose whole name this is has no columns.
pub fn split_columns(file: &str) -> (&str, Option<&str>) {
    if Path::new(file).exists() {
        return (file, None);
    }
    let ends = file.match_indices(':').map(|(at, _)| at);
    let split = ends.filter_map(|at| Some((file.get(..at)?, file.get(at + 1..)?)));
    let tables = split.filter(|(path, _)| matches!(of_input(Path::new(path)), Format::Table(_)));
    match tables.into_iter().next() {
        Some((path, columns)) => (path, Some(columns)),
        None => (file, None),
    }
}

/// True for `vector uint8`.
pub fn is_bytes(ty: &Type) -> bool {
    *ty == Type::vector(Type::Scalar(Scalar::U8))
}

impl Format {
    /// Checks that values of a type can be written in the format. The error says why not.
    pub fn check(self, ty: &Type) -> Result<(), String> {
        match self {
            Format::Npy => match npy::levels(ty) {
                Some(_) => Ok(()),
                None => Err(
                    "only a vector, a vector#n and a vector of vectors of scalars can be \
                             written as .npy (tuples and vectors of tuples as .npz)"
                        .to_string(),
                ),
            },
            Format::Npz => {
                npz::check(ty).map_err(|why| format!("the result cannot be written as .npz: {why}"))
            }
            Format::Table(_) => table::Form::of(ty).map(|_| ()),
            Format::Png => picture::rank_of(ty).map(|_| ()),
            Format::Pnm(channels) => match (picture::rank_of(ty)?.0, channels) {
                (2, 1) | (3, 3) => Ok(()),
                (_, 1) => Err(
                    "a .pgm picture is grey, a vector#2 or a vector of vectors; .ppm holds a vector#3 of three \
                               channels, .png any picture"
                        .to_string(),
                ),
                _ => Err(
                    "a .ppm picture is a vector#3 of three channels; .pgm holds a vector#2, .png \
                          any picture"
                        .to_string(),
                ),
            },
            Format::Text => Ok(()),
            Format::Bytes => match is_bytes(ty) {
                true => Ok(()),
                false => Err(
                    "only a vector uint8 can be written as .bin (others as .txt or .npy)"
                        .to_string(),
                ),
            },
        }
    }

    /// Reads a value of type `ty`. `columns` are those of a table. `None` is returned for text and bytes, which have
    /// readers of their own.
    ///
    /// # Errors
    /// A sentence without the file's name.
    pub fn read(
        self,
        mut reader: impl BufRead + Seek,
        columns: Option<&str>,
        ty: &Type,
    ) -> Result<Option<Value>, String> {
        let mut whole = |read: fn(&[u8]) -> Result<Picture, String>| {
            picture::rank_of(ty)?;
            let mut bytes = Vec::new();
            let read_all = reader.read_to_end(&mut bytes);
            read_all.map_err(|error| crate::error::describe(&error))?;
            read(&bytes)?.into_value(ty)
        };
        match self {
            Format::Npy => npy::read_value(&mut reader, ty).map(Some),
            Format::Npz => npz::read(reader, ty).map(Some),
            Format::Table(separator) => table::read(reader, separator, columns, ty).map(Some),
            Format::Png => whole(png::read).map(Some),
            Format::Pnm(_) => whole(pnm::read).map(Some),
            Format::Text | Format::Bytes => Ok(None),
        }
    }

    /// Writes a value of type `ty`, for which [`Format::check`] succeeds. Text is not written by this.
    ///
    /// # Errors
    /// The writer fails, or the format cannot hold the value.
    pub fn write(self, mut writer: &mut dyn Write, ty: &Type, value: &Value) -> io::Result<()> {
        match self {
            Format::Npy => {
                let (scalar, array) = Array::of(ty, value).map_err(io::Error::other)?;
                npy::write(writer, scalar, &array)
            }
            Format::Npz => npz::write(writer, ty, value).map_err(io::Error::other),
            Format::Table(separator) => table::write(writer, separator, ty, value),
            Format::Png => {
                let picture = Picture::of(ty, value).map_err(io::Error::other)?;
                png::write(writer, &picture).map_err(io::Error::other)
            }
            Format::Pnm(channels) => {
                let picture = Picture::of(ty, value).map_err(io::Error::other)?;
                pnm::write(&mut writer, &picture, channels)
            }
            Format::Bytes | Format::Text => match value {
                Value::Vector(nova_core::Elements::U8(bytes)) => writer.write_all(bytes),
                _ => Err(io::Error::other("the value is no vector uint8")),
            },
        }
    }
}
