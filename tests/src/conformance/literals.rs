//! Literals of every scalar in every notation, and values of inputs as text.

use super::sums::{Constructor, Sums};
use super::types::{Kind, Scalar, Type};
use crate::random::Random;

/// Returns the least and the greatest integer of a type.
pub fn bounds(scalar: Scalar) -> (i128, i128) {
    match scalar.kind {
        Kind::Signed => (-(1 << (scalar.bits - 1)), (1 << (scalar.bits - 1)) - 1),
        Kind::Unsigned | Kind::Float | Kind::Bool => (0, (1 << scalar.bits) - 1),
    }
}

/// Draws an integer of a type: small, near a limit, or any.
pub fn integer(random: &mut Random, scalar: Scalar) -> i128 {
    let (least, most) = bounds(scalar);
    let near = random.below(4) as i128;
    let number = match random.below(15) {
        0..5 => near * 2 - 1 + random.below(8) as i128,
        5 => -1 - near,
        6 => least + near,
        7 => most - near,
        8 => (1 << random.below(scalar.bits as usize)) - (near & 1),
        9 => most / 2 + near,
        // Near the limits of C's `int`, and as wide.
        10 => *random.pick(&[i128::from(i32::MAX), i128::from(i32::MIN)]) + near - 1,
        11 => (1 << 32) - 1 + near,
        12 => i128::from(random.bits() as i32),
        _ => i128::from(random.bits() as i64) >> random.below(60),
    };
    match (least..=most).contains(&number) {
        true => number,
        false => number.rem_euclid(most + 1),
    }
}

/// Floating literals. Each is read alike as `float` and as `double`, rounded.
const FLOATS: &[&str] = &[
    "0.0",
    "-0.0",
    "1.0",
    "-1.0",
    "0.5",
    "2.5",
    "-7.25",
    "1e-3",
    "3.0e2",
    "-1e10",
    "0.1",
    "1e-30",
    "123456.789",
    "1.17549435e-38",
    "3.4028234e38",
    "1e-45",
];

/// Draws a literal of a scalar. Where its type is not pinned, the literal determines it.
pub fn literal(random: &mut Random, scalar: Scalar, pinned: bool) -> String {
    match scalar.kind {
        Kind::Bool => random.pick(&["true", "false"]).to_string(),
        Kind::Float => {
            let text = match random.chance(20) {
                true => format!("{}", random.below(9)),
                false => random.pick(FLOATS).to_string(),
            };
            let plain = pinned && (text.contains('.') || text.contains('e') || random.chance(50));
            match plain && random.chance(50) {
                true => text,
                false => format!("{text}{}", scalar.suffix),
            }
        }
        Kind::Signed | Kind::Unsigned => {
            let number = integer(random, scalar);
            written(random, scalar, number, pinned)
        }
    }
}

/// Draws a notation of an integer as a literal: decimal or hexadecimal, with its type or without.
pub fn written(random: &mut Random, scalar: Scalar, number: i128, pinned: bool) -> String {
    let text = match (random.chance(25), number < 0) {
        (true, true) => format!("-0x{:x}", -number),
        (true, false) => format!("0x{number:x}"),
        (false, _) => number.to_string(),
    };
    let is_int = scalar.name == "int";
    if (pinned || is_int) && random.chance(60) {
        return text;
    }
    match random.below(4) {
        0 if !is_int => format!("({text} : {})", scalar.name),
        _ => format!("{text}{}", scalar.suffix),
    }
}

/// The size of the vectors of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// No elements.
    Empty,
    /// One element.
    One,
    /// A few.
    Few,
    /// This many scalars.
    Many(usize),
}

/// Draws the value of an input, as text.
pub fn value(random: &mut Random, sums: &Sums, ty: &Type, size: Size, depth: usize) -> String {
    let inner = |random: &mut Random, ty: &Type| {
        let size = match size {
            Size::Many(_) => Size::Few,
            Size::Empty if random.chance(50) => Size::Few,
            Size::Empty | Size::One | Size::Few => size,
        };
        value(random, sums, ty, size, depth + 1)
    };
    match ty {
        Type::Scalar(scalar) => scalar_value(random, *scalar),
        Type::Unit => "nil".to_string(),
        Type::Tuple(parts) => {
            let parts: Vec<String> = parts.iter().map(|part| inner(random, part)).collect();
            format!("({})", parts.join(", "))
        }
        Type::Vector(element) => {
            let count = count(random, size, depth);
            listed((0..count).map(|_| inner(random, element)))
        }
        Type::Array(rank, element) => {
            // An array without rows has no columns, as values in files are written.
            let extents: Vec<usize> = (0..*rank).map(|_| count(random, size, 2)).collect();
            array(&extents, &mut || inner(random, element))
        }
        Type::Sum(name, arguments) => {
            let constructors = sums.constructors(name, arguments);
            // This ends a chain of constructors sooner or later.
            let few = depth > 4 || random.chance(25);
            let choice = if few {
                0
            } else {
                random.below(constructors.len())
            };
            let Constructor {
                name,
                payload,
                is_plain,
            } = &constructors[choice];
            match is_plain {
                true => name.clone(),
                false => format!("({name} {})", inner(random, payload)),
            }
        }
        Type::Function(..) | Type::Variable(_) => String::new(),
    }
}

fn count(random: &mut Random, size: Size, depth: usize) -> usize {
    match size {
        Size::Empty => 0,
        Size::One => 1,
        Size::Few if depth > 2 => random.below(3),
        Size::Few => 1 + random.below(9),
        Size::Many(count) => count,
    }
}

fn listed(elements: impl Iterator<Item = String>) -> String {
    format!("[{}]", elements.collect::<Vec<_>>().join(" "))
}

fn array(extents: &[usize], element: &mut dyn FnMut() -> String) -> String {
    match extents.split_first() {
        Some((count, rest)) => {
            let rows: Vec<String> = (0..*count).map(|_| array(rest, element)).collect();
            listed(rows.into_iter())
        }
        None => element(),
    }
}

fn scalar_value(random: &mut Random, scalar: Scalar) -> String {
    match scalar.kind {
        Kind::Bool => random.pick(&["true", "false"]).to_string(),
        Kind::Float => match random.below(6) {
            0 => random.pick(&["nan", "inf", "-inf"]).to_string(),
            1..4 => random.pick(FLOATS).to_string(),
            _ => format!("{}.{}", random.below(200) as i64 - 100, random.below(1000)),
        },
        Kind::Signed | Kind::Unsigned => integer(random, scalar).to_string(),
    }
}
