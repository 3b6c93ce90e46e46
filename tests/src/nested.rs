//! The programs of `tests/nested` and inputs for them: nests of every shape, over vectors with rows
//! of very different lengths.
//!
//! Inputs are drawn by their types alone, so a new program only has to be written into one of the
//! files. Integers in vectors lie between -20 and 80, those that are inputs themselves between 0
//! and 9; bytes are letters and blanks.

pub mod host;

use crate::random::Random;
use nova_core::ir::{Entry, Program};
use nova_core::{Elements, Scalar, ScalarValue, Type, Value};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Returns the folder of the programs.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("nested")
}

/// Returns the name and the text of each file of programs, by name.
pub fn files() -> std::io::Result<Vec<(String, String)>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder())? {
        paths.push(entry?.path());
    }
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "nova"));
    paths.sort();
    let read = |path: &PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        Ok((name.into_owned(), std::fs::read_to_string(path)?))
    };
    paths.iter().map(read).collect()
}

/// Runs a check on each file of programs, on all processors. Returns the complaints.
pub fn with_each_file(check: impl Fn(&str, &str) -> Result<(), String> + Sync) -> Vec<String> {
    let files = match files() {
        Ok(files) => files,
        Err(error) => return vec![error.to_string()],
    };
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |n| n.get()) {
            scope.spawn(|| {
                while let Some((name, text)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let (Err(why), Ok(mut wrong)) = (check(name, text), wrong.lock()) {
                        wrong.push(format!("{name}: {why}"));
                    }
                }
            });
        }
    });
    wrong.into_inner().unwrap_or_default()
}

/// The form of the vectors of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// No elements.
    Empty,
    /// One row of one element.
    One,
    /// Rows, but without elements.
    EmptyRows,
    /// A few rows, some of them empty.
    Small,
    /// Many elements, in rows of which most are short and a few are long.
    Irregular,
    /// Many elements, nearly all in one row.
    OneHuge,
    /// Many rows, of which few have an element.
    ManyEmpty,
    /// A million rows without elements.
    MillionEmpty,
}

/// The sizes for every stage, including the interpreters.
pub const SMALL: [Size; 6] = [
    Size::Empty,
    Size::One,
    Size::EmptyRows,
    Size::Small,
    Size::Small,
    Size::Small,
];

/// The sizes for all compiled programs.
const LARGE: [Size; 3] = [Size::Irregular, Size::OneHuge, Size::ManyEmpty];

/// The entries that also run on a million empty rows.
const WITH_A_MILLION: [&str; 4] = ["add_to_each", "row_sums", "kept", "sorted_rows"];

/// Number of elements of large inputs.
const MANY: usize = 20_000;

/// Draws the inputs of an entry, for each of some sizes.
pub fn inputs(core: &Program, entry: &Entry, sizes: &[Size]) -> Vec<(Size, Vec<Value>)> {
    let mut random = Random::new(entry.name.len() as u64);
    let draw = |&size: &Size| {
        let types = entry.inputs.iter().map(|input| &core.variable(*input).ty);
        (
            size,
            types.map(|ty| input_of(&mut random, ty, size)).collect(),
        )
    };
    sizes.iter().map(draw).collect()
}

/// Draws the inputs of an entry for compiled programs, in addition to the small ones.
pub fn large_inputs(core: &Program, entry: &Entry) -> Vec<(Size, Vec<Value>)> {
    let million = WITH_A_MILLION.contains(&&*entry.name);
    let last = million.then_some(Size::MillionEmpty);
    let sizes: Vec<Size> = LARGE.into_iter().chain(last).collect();
    inputs(core, entry, &sizes)
}

fn input_of(random: &mut Random, ty: &Type, size: Size) -> Value {
    match (ty, size) {
        (Type::Vector(element), _) => rows(random, element, size),
        (Type::Array(..), _) => matrix(random, ty, size),
        (_, Size::Empty | Size::EmptyRows) => number(ty, 0),
        (_, Size::One) => number(ty, 1),
        (_, Size::Small) => number(ty, random.below(5) as i64),
        (_, Size::Irregular | Size::OneHuge | Size::ManyEmpty | Size::MillionEmpty) => {
            number(ty, 9)
        }
    }
}

fn number(ty: &Type, value: i64) -> Value {
    match ty.as_scalar() {
        Some(Scalar::I32) => Value::Scalar(ScalarValue::I32(value as i32)),
        _ => Value::Unit,
    }
}

/// Draws a vector of a size, as nested as its type.
fn rows(random: &mut Random, element: &Type, size: Size) -> Value {
    let nested = matches!(element, Type::Vector(_));
    let counts: Vec<usize> = match size {
        Size::Empty => Vec::new(),
        Size::One => vec![1],
        Size::EmptyRows if nested => vec![0; 3],
        Size::EmptyRows => vec![0],
        Size::Small => (0..1 + random.below(7)).map(|_| random.below(7)).collect(),
        Size::Irregular => split(random, MANY),
        Size::OneHuge => [3, 0, MANY, 1, 0, 2].into(),
        Size::ManyEmpty => (0..MANY).map(|k| usize::from(k % 100 == 7)).collect(),
        Size::MillionEmpty => vec![0; 1_000_000],
    };
    if !nested {
        let count = if size == Size::Small {
            counts.len()
        } else {
            counts.iter().sum()
        };
        return flat(random, element, count);
    }
    let row = |&count: &usize| filled(random, element, count);
    Value::Vector(Elements::Values(Arc::new(counts.iter().map(row).collect())))
}

/// Draws a vector of vectors, or of elements, with `count` elements at the bottom.
fn filled(random: &mut Random, ty: &Type, count: usize) -> Value {
    let Type::Vector(element) = ty else {
        return scalar(random, ty);
    };
    if !matches!(**element, Type::Vector(_)) {
        return flat(random, element, count);
    }
    let counts = split(random, count);
    let row = |&count: &usize| filled(random, element, count);
    Value::Vector(Elements::Values(Arc::new(counts.iter().map(row).collect())))
}

/// Draws lengths of rows with this sum: many short ones, few long ones.
fn split(random: &mut Random, mut left: usize) -> Vec<usize> {
    let mut counts = Vec::new();
    while left > 0 {
        let bound = match random.below(20) {
            0..8 => 3,
            8..16 => 20,
            16..19 => left / 50 + 1,
            _ => left / 4 + 1,
        };
        let count = random.below(bound).min(left);
        left -= count;
        counts.push(count);
    }
    counts
}

/// Draws a vector of scalars or tuples.
fn flat(random: &mut Random, element: &Type, count: usize) -> Value {
    let elements = (0..count).map(|_| scalar(random, element)).collect();
    Value::from_elements(element, elements)
}

fn matrix(random: &mut Random, ty: &Type, size: Size) -> Value {
    let (rows, columns) = match size {
        Size::Empty => (0, 0),
        Size::One => (1, 1),
        Size::EmptyRows => (3, 0),
        Size::Small => (1 + random.below(4), random.below(5)),
        Size::Irregular => (150, 130),
        Size::OneHuge => (2, MANY / 2),
        Size::ManyEmpty => (MANY / 2, 2),
        Size::MillionEmpty => (1_000_000, 0),
    };
    let Type::Array(_, element) = ty else {
        return Value::Unit;
    };
    match flat(random, element, rows * columns) {
        Value::Vector(elements) => Value::Array(vec![rows, columns].into(), elements),
        other => other,
    }
}

fn scalar(random: &mut Random, ty: &Type) -> Value {
    if let Type::Tuple(elements) = ty {
        return Value::Tuple(elements.iter().map(|ty| scalar(random, ty)).collect());
    }
    Value::Scalar(match ty.as_scalar() {
        Some(Scalar::F32) => ScalarValue::F32((random.below(2001) as f32 - 1000.0) / 250.0),
        Some(Scalar::U8) => ScalarValue::U8(*random.pick(b"aaabbbcccddeeeff   \n")),
        _ => ScalarValue::I32(random.below(101) as i32 - 20),
    })
}
