//! The text of payloads of declared sums: values and expressions.

use super::Random;
use super::declared::{sum_bases, sum_constructors, sum_shallowest};
use super::types::{Constructor, Part, Ty};

/// What draws the data and the links of a payload.
pub trait Leaves {
    fn random(&mut self) -> &mut Random;
    /// Draws data of a type.
    fn data(&mut self, ty: &Ty) -> String;
    /// Draws a link of a kind.
    fn link(&mut self, kind: usize) -> String;
    /// Writes the rows of a `vector#2`.
    fn matrix(&mut self, rows: String) -> String;
}

/// Draws a part of a payload, with short vectors. Without fuel it has no link that it does not
/// need.
pub fn part(leaves: &mut dyn Leaves, of: &Part, fuel: usize) -> String {
    match of {
        Part::Data(ty) => leaves.data(ty),
        Part::Parameter(_) => "nil".into(),
        Part::Link(kind) => leaves.link(*kind),
        Part::Tuple(parts) => {
            let parts: Vec<String> = parts.iter().map(|of| part(leaves, of, fuel)).collect();
            format!("({})", parts.join(", "))
        }
        Part::Vector(element) => {
            let count = leaves.random().below(if fuel == 0 { 1 } else { 4 });
            elements(leaves, element, count, fuel)
        }
        Part::Matrix(element) => {
            let most = if fuel == 0 { 1 } else { 3 };
            let (rows, columns) = (leaves.random().below(most), leaves.random().below(most));
            let rows: Vec<String> = (0..rows)
                .map(|_| elements(leaves, element, columns, fuel))
                .collect();
            leaves.matrix(format!("[{}]", rows.join(" ")))
        }
        Part::Sum(group, at, arguments) => {
            let mut constructors = match fuel > 0 {
                true if leaves.random().chance(60) => sum_constructors(group, *at, arguments),
                true => sum_bases(group, *at, arguments),
                false => Vec::new(),
            };
            if constructors.is_empty() {
                constructors = sum_shallowest(group, *at, arguments);
            }
            constructor(leaves, &constructors, "", fuel.saturating_sub(1))
        }
    }
}

fn elements(leaves: &mut dyn Leaves, element: &Part, count: usize, fuel: usize) -> String {
    let items: Vec<String> = (0..count).map(|_| part(leaves, element, fuel)).collect();
    format!("[{}]", items.join(" "))
}

/// Draws a value of one of these constructors, whose names end in a star or not.
pub fn constructor(leaves: &mut dyn Leaves, of: &[Constructor], star: &str, fuel: usize) -> String {
    let at = leaves.random().below(of.len());
    match of.get(at) {
        None => "nil".into(),
        Some((name, None)) => format!("{name}{star}"),
        Some((name, Some(payload))) => {
            let payload = part(leaves, payload, fuel);
            format!("({name}{star} {payload})")
        }
    }
}
