//! Random values as text (language §9).

use super::parts::{Leaves, constructor};
use super::types::Declared;
use super::{Random, Ty};

/// Draws a value of a type. In run 2 of a program, vectors of scalars at the top may be longer than
/// the blocks of the strict order. In run 1 vectors are often empty.
pub fn value(random: &mut Random, ty: &Ty, run: usize) -> String {
    if let (Ty::Vector(element), 2) = (ty, run)
        && matches!(**element, Ty::Scalar(_))
        && random.chance(30)
    {
        let count = *random.pick(&[33, 64, 700, 1024, 1025, 2100, 5000]);
        return list(random, element, count, run);
    }
    draw(random, ty, run, 4)
}

/// Draws a small value of a type.
pub fn small(random: &mut Random, ty: &Ty, run: usize) -> String {
    draw(random, ty, run, 2)
}

fn list(random: &mut Random, element: &Ty, count: usize, run: usize) -> String {
    let items: Vec<String> = (0..count).map(|_| draw(random, element, run, 3)).collect();
    format!("[{}]", items.join(" "))
}

fn draw(random: &mut Random, ty: &Ty, run: usize, fuel: usize) -> String {
    match ty {
        Ty::Scalar(name) => scalar(random, name),
        Ty::Unit | Ty::Function(..) => "nil".into(),
        Ty::Tuple(elements) => {
            let items: Vec<String> = elements
                .iter()
                .map(|e| draw(random, e, run, fuel))
                .collect();
            format!("({})", items.join(", "))
        }
        Ty::Vector(element) => {
            let count = if run == 1 && random.chance(60) {
                0
            } else {
                random.below(6)
            };
            list(random, element, count, run)
        }
        Ty::Matrix(element) => {
            let (rows, columns) = (random.below(4), random.below(4));
            let rows: Vec<String> = (0..rows)
                .map(|_| list(random, element, columns, run))
                .collect();
            format!("[{}]", rows.join(" "))
        }
        Ty::Maybe(element) if random.chance(60) => {
            format!("(Some {})", draw(random, element, run, fuel))
        }
        Ty::Maybe(_) => "None".into(),
        Ty::Shape => match random.below(4) {
            0 => format!("(Circle {})", scalar(random, "float")),
            1 => format!(
                "(Square ({}, {}))",
                scalar(random, "int"),
                scalar(random, "int")
            ),
            2 => format!("(Text {})", list(random, &Ty::Scalar("uint8"), 3, run)),
            _ => "Empty".into(),
        },
        Ty::List(element) if fuel > 0 && random.chance(70) => {
            let head = draw(random, element, run, fuel - 1);
            format!("(Cons ({head}, {}))", draw(random, ty, run, fuel - 1))
        }
        Ty::List(_) => "Nil".into(),
        Ty::Tree(_) if fuel > 0 && random.chance(50) => {
            let left = draw(random, ty, run, fuel - 1);
            format!("(Node ({left}, {}))", draw(random, ty, run, fuel - 1))
        }
        Ty::Tree(element) => format!("(Leaf {})", draw(random, element, run, 1)),
        Ty::Declared(declared) => sum(random, declared, declared.at, (run, fuel)),
    }
}

/// The parts of values of a declared sum, at most about `fuel` nodes deep.
struct Nodes<'a> {
    random: &'a mut Random,
    declared: &'a Declared,
    run: usize,
    fuel: usize,
}

impl Leaves for Nodes<'_> {
    fn random(&mut self) -> &mut Random {
        self.random
    }
    fn data(&mut self, ty: &Ty) -> String {
        draw(self.random, ty, self.run, self.fuel.min(2))
    }
    fn link(&mut self, kind: usize) -> String {
        let fuel = self.fuel.saturating_sub(1);
        nova_diag::deep(|| sum(self.random, self.declared, kind, (self.run, fuel)))
    }
    fn matrix(&mut self, rows: String) -> String {
        rows
    }
}

/// Draws a value of a sum of a group.
fn sum(random: &mut Random, declared: &Declared, at: usize, (run, fuel): (usize, usize)) -> String {
    let constructors = match fuel > 0 && random.chance(85) {
        true => declared.constructors(at),
        false => declared.bases(at),
    };
    let mut nodes = Nodes {
        random,
        declared,
        run,
        fuel,
    };
    constructor(&mut nodes, &constructors, "", fuel)
}

/// Returns the number of bits an integer type has.
pub fn bits(name: &str) -> u32 {
    let digits = name.trim_start_matches(|c: char| c.is_alphabetic());
    digits.parse().unwrap_or(32)
}

/// Returns the least and the greatest number of an integer type.
pub fn bounds(name: &str) -> (i128, i128) {
    let bits = bits(name);
    match name.starts_with('u') {
        true => (0, (1i128 << bits) - 1),
        false => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
    }
}

/// Returns numbers near the limits of integer types, as far as they fit the type.
fn edges(name: &str) -> Vec<i128> {
    let bits = bits(name);
    let (low, high) = bounds(name);
    let mut all: Vec<i128> = vec![0, 1, -1, 2, 3, 7, -7, i128::from(bits) - 1];
    for end in [low, high, 1 << (bits / 2), 1 << 31, 1 << 32, -(1 << 31)] {
        all.extend([end - 1, end, end + 1]);
    }
    // As many bits as C's `int`, or one less.
    all.extend([1 << 30, -(1 << 30), 0x7654_3210, -0x7654_3210]);
    all.retain(|v| (low..=high).contains(v));
    all
}

/// Floating numbers that are read alike in both types.
const FLOATING: &[&str] = &[
    "0.0",
    "-0.0",
    "1.0",
    "-1.0",
    "0.5",
    "-128.9",
    "2147483648.0",
    "4294967296.0",
    "1e-40",
    "3e38",
    "nan",
    "inf",
    "-inf",
];

/// Draws a scalar: one of the limits of its type, or any one.
pub fn edge_or_any(random: &mut Random, name: &str) -> String {
    match name {
        "bool" => scalar(random, name),
        "float" | "double" if random.chance(60) => (*random.pick(FLOATING)).to_string(),
        "float" | "double" => scalar(random, name),
        _integer if random.chance(60) => random.pick(&edges(name)).to_string(),
        _integer => {
            // A random number of digits.
            let number = random.bits() >> random.below(64);
            let shift = 64 - bits(name);
            match name.starts_with('u') {
                true => (number << shift >> shift).to_string(),
                false => ((number << shift) as i64 >> shift).to_string(),
            }
        }
    }
}

/// Draws a scalar: small numbers mostly, sometimes the limits.
pub fn scalar(random: &mut Random, name: &str) -> String {
    if name == "bool" {
        return if random.chance(50) { "true" } else { "false" }.into();
    }
    let edge = random.chance(8);
    if name == "float" || name == "double" {
        if edge {
            return (*random.pick(&["nan", "inf", "-inf", "-0.0", "1e-40", "3e38", "1e-310"]))
                .replace("1e-310", if name == "double" { "1e-310" } else { "1e-45" });
        }
        let v = random.below(2001) as f64 / 100.0 - 10.0;
        return format!("{v:?}");
    }
    let bits = bits(name);
    if name.starts_with('u') {
        let max = if bits == 64 {
            u64::MAX
        } else {
            (1u64 << bits) - 1
        };
        return if edge {
            max.to_string()
        } else {
            random.below(12).to_string()
        };
    }
    let max = i64::MAX >> (64 - bits);
    if edge {
        return (*random.pick(&[max, -max - 1, max - 1])).to_string();
    }
    (random.below(24) as i64 - 8).to_string()
}
