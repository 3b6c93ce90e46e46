//! NumPy's `.npz` archives for tuples, vectors of tuples and nested vectors: one array per
//! component.
//!
//! | part | array |
//! | --- | --- |
//! | element `k` of a tuple | `e0`, `e1`, …; inside another part joined with `_`: `e1_e0` |
//! | a vector of tuples | an array for each component of its elements, all of one shape |
//! | a nested vector | `offsets` (int64, one more than there are rows, from 0) and `data` |
//! | the whole value, when it is one array | `arr_0`, as `numpy.savez` calls it |

use crate::elements::{element, from_values};
use crate::nested::{flatten, unflatten};
use crate::npy::{self, Array};
use nova_core::{Elements, Scalar, Type, Value};
use nova_diag::deep;
use std::io::{Cursor, Read, Seek, Write};
use std::sync::Arc;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// Writes a value as an archive. The error says why its type has no archive.
pub fn write(writer: &mut dyn Write, ty: &Type, value: &Value) -> Result<(), String> {
    let mut parts = Vec::new();
    split(ty, value, "", &mut parts)?;
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .large_file(true);
    for part in &parts {
        archive
            .start_file(format!("{}.npy", part.name), options)
            .map_err(|e| e.to_string())?;
        npy::write(&mut archive, part.scalar, &part.array).map_err(|e| e.to_string())?;
    }
    let bytes = archive.finish().map_err(|e| e.to_string())?.into_inner();
    writer.write_all(&bytes).map_err(|e| e.to_string())
}

/// Checks that values of a type can be written as an archive. The error says why not.
pub fn check(ty: &Type) -> Result<(), String> {
    deep(|| match ty {
        Type::Scalar(_) | Type::Unit => Ok(()),
        Type::Tuple(elements) => elements.iter().try_for_each(check),
        Type::Vector(inner) | Type::Array(_, inner) => match &**inner {
            Type::Unit => Err("a vector of unit has no array".to_string()),
            Type::Array(..) => Err("a vector of vector#n has no arrays".to_string()),
            Type::Vector(_) if matches!(ty, Type::Array(..)) => {
                Err("a vector#n of vectors has no arrays".to_string())
            }
            Type::Tuple(elements) => elements
                .iter()
                .filter(|e| **e != Type::Unit)
                .try_for_each(|e| check(&Type::vector(e.clone()))),
            Type::Scalar(_) | Type::Vector(_) | Type::Sum(_) | Type::Function(..) => check(inner),
        },
        Type::Sum(_) => Err("a sum type has no array".to_string()),
        Type::Function(..) => Err("a function has no array".to_string()),
    })
}

/// An array of an archive.
struct Part {
    name: String,
    scalar: Scalar,
    array: Array,
}

fn join(prefix: &str, suffix: &str) -> String {
    match prefix {
        "" => suffix.to_string(),
        _ => format!("{prefix}_{suffix}"),
    }
}

fn array_name(name: &str) -> String {
    match name {
        "" => "arr_0".to_string(),
        _ => name.to_string(),
    }
}

/// Adds the arrays of a value.
fn split(ty: &Type, value: &Value, name: &str, parts: &mut Vec<Part>) -> Result<(), String> {
    deep(|| match (ty, value) {
        (Type::Scalar(scalar), Value::Scalar(_)) => {
            parts.push(Part {
                name: array_name(name),
                scalar: *scalar,
                array: Array {
                    shape: Vec::new(),
                    elements: from_values(Some(*scalar), vec![value.clone()]),
                },
            });
            Ok(())
        }
        (Type::Unit, _) => Ok(()),
        (Type::Tuple(types), Value::Tuple(values)) => types
            .iter()
            .zip(values.iter())
            .enumerate()
            .try_for_each(|(k, (t, v))| split(t, v, &join(name, &format!("e{k}")), parts)),
        (Type::Vector(inner), Value::Vector(elements)) => {
            split_lifted(inner, elements, &[elements.len()], name, parts)
        }
        (Type::Array(_, inner), Value::Array(shape, elements)) => {
            split_lifted(inner, elements, shape, name, parts)
        }
        (
            Type::Scalar(_)
            | Type::Tuple(_)
            | Type::Vector(_)
            | Type::Array(..)
            | Type::Function(..)
            | Type::Sum(_),
            _,
        ) => check(ty).and(Err("the value is not of its type".to_string())),
    })
}

/// Adds the arrays of the elements of a vector.
fn split_lifted(
    ty: &Type,
    elements: &Elements,
    shape: &[usize],
    name: &str,
    parts: &mut Vec<Part>,
) -> Result<(), String> {
    deep(|| match ty {
        Type::Scalar(scalar) => {
            parts.push(Part {
                name: array_name(name),
                scalar: *scalar,
                array: Array {
                    shape: shape.to_vec(),
                    elements: elements.clone(),
                },
            });
            Ok(())
        }
        Type::Tuple(types) => {
            for (k, t) in types.iter().enumerate().filter(|(_, t)| **t != Type::Unit) {
                let column = (0..elements.len()).map(|i| match element(elements, i) {
                    Value::Tuple(values) => values.get(k).cloned().unwrap_or(Value::Unit),
                    other => other,
                });
                let column = from_values(t.as_scalar(), column.collect());
                split_lifted(t, &column, shape, &join(name, &format!("e{k}")), parts)?;
            }
            Ok(())
        }
        Type::Vector(inner) if shape.len() == 1 => {
            let (offsets, data) = flatten(inner.as_scalar(), elements);
            let total = data.len();
            let offsets = Elements::I64(Arc::new(offsets));
            let shape = [offsets.len()];
            split_lifted(
                &Type::Scalar(Scalar::I64),
                &offsets,
                &shape,
                &join(name, "offsets"),
                parts,
            )?;
            split_lifted(inner, &data, &[total], &join(name, "data"), parts)
        }
        Type::Unit | Type::Vector(_) | Type::Array(..) | Type::Sum(_) | Type::Function(..) => {
            check(&Type::array(shape.len() as u32, ty.clone()))
        }
    })
}

/// Reads a value of a type from an archive. The error is a sentence without the file's name.
pub fn read<R: Read + Seek>(reader: R, ty: &Type) -> Result<Value, String> {
    check(ty)?;
    let mut archive =
        ZipArchive::new(reader).map_err(|e| format!("this is no .npz archive: {e}"))?;
    join_value(&mut archive, ty, "")
}

/// Reads the array called `name`.
fn read_array<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    scalar: Scalar,
    name: &str,
) -> Result<Array, String> {
    let mut names = Vec::new();
    for found in archive.file_names() {
        names.push(found.map_err(|e| e.to_string())?.into_owned());
    }
    let file_name = match names.as_slice() {
        [only] if name.is_empty() => only.clone(),
        _ => format!("{}.npy", array_name(name)),
    };
    if !names.contains(&file_name) {
        let mut found: Vec<&str> = names.iter().map(|n| n.trim_end_matches(".npy")).collect();
        found.sort_unstable();
        return Err(format!(
            "there is no array {} in it (it holds: {})",
            array_name(name),
            found.join(", ")
        ));
    }
    let mut file = archive.by_name(&file_name).map_err(|e| e.to_string())?;
    npy::read(&mut file, scalar).map_err(|e| format!("array {}: {e}", array_name(name)))
}

/// Reads a value from its arrays.
fn join_value<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    ty: &Type,
    name: &str,
) -> Result<Value, String> {
    deep(|| match ty {
        Type::Unit => Ok(Value::Unit),
        Type::Scalar(scalar) => {
            let array = read_array(archive, *scalar, name)?;
            expect_rank(&array.shape, 0, name)?;
            Ok(element(&array.elements, 0))
        }
        Type::Tuple(types) => {
            let values = types.iter().enumerate();
            let values: Result<Vec<Value>, String> = values
                .map(|(k, t)| join_value(archive, t, &join(name, &format!("e{k}"))))
                .collect();
            Ok(Value::Tuple(values?.into()))
        }
        Type::Vector(inner) => {
            let (shape, elements) = join_lifted(archive, inner, name)?;
            expect_rank(&shape, 1, name)?;
            Ok(Value::Vector(elements))
        }
        Type::Array(rank, inner) => {
            let (shape, elements) = join_lifted(archive, inner, name)?;
            expect_rank(&shape, *rank as usize, name)?;
            Ok(Value::Array(shape.into(), elements))
        }
        Type::Sum(_) | Type::Function(..) => check(ty).map(|()| Value::Unit),
    })
}

fn expect_rank(shape: &[usize], rank: usize, name: &str) -> Result<(), String> {
    if shape.len() == rank {
        return Ok(());
    }
    Err(format!(
        "array {} has {} dimensions, {rank} are needed",
        array_name(name),
        shape.len()
    ))
}

/// Reads the elements of a vector, with their extents.
fn join_lifted<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    ty: &Type,
    name: &str,
) -> Result<(Vec<usize>, Elements), String> {
    deep(|| match ty {
        Type::Scalar(scalar) => {
            let array = read_array(archive, *scalar, name)?;
            Ok((array.shape, array.elements))
        }
        Type::Tuple(types) => join_tuples(archive, types, name),
        Type::Vector(inner) => {
            let offsets_name = join(name, "offsets");
            let offsets = read_array(archive, Scalar::I64, &offsets_name)?;
            expect_rank(&offsets.shape, 1, &offsets_name)?;
            let data_name = join(name, "data");
            let (shape, data) = join_lifted(archive, inner, &data_name)?;
            expect_rank(&shape, 1, &data_name)?;
            let Elements::I64(offsets) = offsets.elements else {
                return Err("the offsets are no int64".to_string());
            };
            let rows =
                unflatten(&offsets, &data).map_err(|e| format!("array {offsets_name}: {e}"))?;
            Ok((vec![rows.len()], rows))
        }
        Type::Unit | Type::Array(..) | Type::Sum(_) | Type::Function(..) => {
            check(&Type::vector(ty.clone())).map(|()| (Vec::new(), Elements::I64(Arc::default())))
        }
    })
}

/// Reads a vector of tuples from the arrays of its components.
fn join_tuples<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    types: &[Type],
    name: &str,
) -> Result<(Vec<usize>, Elements), String> {
    let mut shape: Option<Vec<usize>> = None;
    let mut columns = Vec::new();
    for (k, t) in types.iter().enumerate() {
        if *t == Type::Unit {
            columns.push(None);
            continue;
        }
        let (found, column) = join_lifted(archive, t, &join(name, &format!("e{k}")))?;
        if shape.as_ref().is_some_and(|shape| *shape != found) {
            return Err("the arrays of its components differ in shape".to_string());
        }
        shape = Some(found);
        columns.push(Some(column));
    }
    let Some(shape) = shape else {
        return Err("a vector of unit has no array".to_string());
    };
    let count = shape.iter().product();
    let tuples = (0..count).map(|i| {
        let parts = columns.iter().map(|column| match column {
            Some(column) => element(column, i),
            None => Value::Unit,
        });
        Value::Tuple(parts.collect())
    });
    Ok((shape, Elements::Values(Arc::new(tuples.collect()))))
}
