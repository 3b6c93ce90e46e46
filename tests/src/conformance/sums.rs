//! The sums of a file: some that all files have, and some that are drawn.

use super::types::{Bindings, Type, Types};
use crate::random::Random;

/// A sum.
#[derive(Clone, Debug)]
pub struct Sum {
    /// Its name.
    pub name: String,
    /// The number of variables it has: `'a`, `'b`.
    pub parameters: usize,
    /// Its constructors with their payloads. The first holds no value of the sum itself.
    pub constructors: Vec<(String, Type)>,
}

/// A constructor of a sum that is applied to types.
#[derive(Clone, Debug)]
pub struct Constructor {
    /// Its name.
    pub name: String,
    /// Its payload.
    pub payload: Type,
    /// True if it is declared with a payload `unit`, so that it is a value by itself.
    pub is_plain: bool,
}

/// All sums of a file.
#[derive(Clone, Debug)]
pub struct Sums(pub Vec<Sum>);

/// A sum of a table: name, number of variables, constructors with payloads.
type Row = (&'static str, usize, &'static [(&'static str, &'static str)]);

/// The sums that forms of the tables mention.
const COMMON: &[Row] = &[
    ("Opt", 1, &[("Nope", "unit"), ("Just", "a")]),
    (
        "Which",
        2,
        &[("This", "a"), ("That", "b"), ("Both", "(a, b)")],
    ),
    ("Seq", 1, &[("End", "unit"), ("Link", "(a, (Seq a))")]),
    (
        "Bin",
        1,
        &[("Tip", "unit"), ("Fork", "((Bin a), a, (Bin a))")],
    ),
];

/// Further sums that a file may have, by groups that belong together.
const OCCASIONAL: &[&[Row]] = &[
    &[("Rose", 1, &[("Bud", "a"), ("Bush", "(a, vector (Rose a))")])],
    &[
        ("Even", 0, &[("Zero", "unit"), ("Even1", "(int16, Odd)")]),
        ("Odd", 0, &[("None1", "uint8"), ("Odd1", "(int64, Even)")]),
    ],
    &[(
        "Term",
        0,
        &[
            ("Lit", "int64"),
            ("Neg", "Term"),
            ("Add", "(Term, Term)"),
            ("Table", "(vector int, Term)"),
        ],
    )],
    &[(
        "Alist",
        2,
        &[("Stop", "unit"), ("Entry", "((a, b), (Alist a b))")],
    )],
];

impl Sums {
    /// Draws the sums of a file.
    pub fn draw(random: &mut Random, floats: bool) -> Sums {
        let mut sums = Sums(COMMON.iter().map(of_row).collect());
        for group in OCCASIONAL {
            if random.chance(30) {
                sums.0.extend(group.iter().map(of_row));
            }
        }
        for number in 0..1 + random.below(3) {
            let drawn = sums.draw_one(random, number, floats);
            sums.0.push(drawn);
        }
        sums
    }

    /// Draws a sum of two to five constructors, whose payloads may be of earlier sums.
    fn draw_one(&self, random: &mut Random, number: usize, floats: bool) -> Sum {
        let types = Types { sums: self, floats };
        let parameters = random.below(3).saturating_sub(1);
        let mut constructors = Vec::new();
        for k in 0..2 + random.below(4) {
            let payload = match random.below(10) {
                0..2 => Type::Unit,
                2..4 if parameters > 0 => Type::parse("(vector a, a)"),
                _ => types.any(random, 3),
            };
            constructors.push((format!("C{number}_{k}"), payload));
        }
        Sum {
            name: format!("Kind{number}"),
            parameters,
            constructors,
        }
    }

    /// Returns the sum of a name.
    pub fn get(&self, name: &str) -> Option<&Sum> {
        self.0.iter().find(|sum| sum.name == name)
    }

    /// Returns the constructors of a sum with their payloads for the types it is applied to.
    pub fn constructors(&self, name: &str, arguments: &[Type]) -> Vec<Constructor> {
        let mut bindings = Bindings::default();
        for (letter, argument) in ('a'..).zip(arguments) {
            bindings.set(letter, argument.clone());
        }
        let Some(sum) = self.get(name) else {
            return Vec::new();
        };
        let applied = |(name, ty): &(String, Type)| Constructor {
            name: name.clone(),
            payload: ty.with(&bindings),
            is_plain: *ty == Type::Unit,
        };
        sum.constructors.iter().map(applied).collect()
    }

    /// Returns the section that declares them.
    pub fn text(&self) -> String {
        let sums = self.0.iter().map(|sum| {
            let variables: Vec<String> = ('a'..)
                .take(sum.parameters)
                .map(|letter| format!(" '{letter}"))
                .collect();
            let constructors: Vec<String> = sum
                .constructors
                .iter()
                .map(|(name, payload)| format!("({name} : {payload})"))
                .collect();
            let (name, all) = (&sum.name, constructors.join(" "));
            format!("  ({name}{} : (+ {all}))\n", variables.concat())
        });
        format!("(types\n{})\n", sums.collect::<String>())
    }
}

fn of_row(row: &(&str, usize, &[(&str, &str)])) -> Sum {
    let (name, parameters, constructors) = row;
    let constructors = constructors.iter();
    Sum {
        name: name.to_string(),
        parameters: *parameters,
        constructors: constructors
            .map(|(name, payload)| (name.to_string(), Type::parse(payload)))
            .collect(),
    }
}
