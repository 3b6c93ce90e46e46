//! Tables of nodes with `int` links: literals, inputs, and folds.

use super::Random;
use super::expression::Draw;
use super::parts::{Leaves, constructor};
use super::types::{Constructor, Declared, Part, Ty};
use super::values;

/// Which links the nodes of a table have.
trait Links {
    /// Draws a link of a kind.
    fn link(&self, random: &mut Random, kind: usize) -> String;
}

/// The places of links in a table: from the next node on, before the number of nodes. One in
/// some hundreds leads elsewhere.
#[derive(Clone, Copy)]
struct Places {
    next: usize,
    count: usize,
}

/// Links to the first node of each kind. Those of one kind may be written as this text.
struct First<'a> {
    kind: usize,
    own: &'a str,
}

impl Links for First<'_> {
    fn link(&self, random: &mut Random, kind: usize) -> String {
        match kind == self.kind && random.chance(20) {
            true => self.own.to_string(),
            false => "0".into(),
        }
    }
}

impl Links for Places {
    fn link(&self, random: &mut Random, _: usize) -> String {
        let inside = self.next < self.count;
        match random.below(400) {
            0 => (random.below(self.count + 3) as i64 - 1).to_string(),
            1..240 if inside => self.next.to_string(),
            _ if inside => (self.next + random.below(self.count - self.next)).to_string(),
            _ => self.count.saturating_sub(1).to_string(),
        }
    }
}

impl Places {
    /// Returns the constructors that a node may have: the last one must not need a link.
    fn constructors(self, random: &mut Random, of: &Declared, at: usize) -> Vec<Constructor> {
        match self.next < self.count && random.chance(85) {
            true => of.constructors(at),
            false => of.bases(at),
        }
    }

    /// Returns 0 for a last node, so that its vectors have no links.
    fn fuel(self) -> usize {
        usize::from(self.next < self.count)
    }
}

/// Nodes as expressions.
struct Literals<'a> {
    draw: &'a mut Draw,
    links: &'a dyn Links,
    fuel: usize,
}

impl Leaves for Literals<'_> {
    fn random(&mut self) -> &mut Random {
        &mut self.draw.random
    }
    fn data(&mut self, ty: &Ty) -> String {
        self.draw.expression(ty, self.fuel)
    }
    fn link(&mut self, kind: usize) -> String {
        self.links.link(&mut self.draw.random, kind)
    }
    fn matrix(&mut self, rows: String) -> String {
        format!("(unrows {rows})")
    }
}

/// Nodes as values.
struct Values<'a> {
    random: &'a mut Random,
    places: Places,
    run: usize,
}

impl Leaves for Values<'_> {
    fn random(&mut self) -> &mut Random {
        self.random
    }
    fn data(&mut self, ty: &Ty) -> String {
        values::small(self.random, ty, self.run)
    }
    fn link(&mut self, kind: usize) -> String {
        self.places.link(self.random, kind)
    }
    fn matrix(&mut self, rows: String) -> String {
        rows
    }
}

/// Draws nodes that no node of a table links to, for the end of the vector of a kind. They link to
/// the first nodes, or the first of them to itself, which is an error.
pub fn unreached(d: &mut Draw, of: &Declared, at: usize, vector: &str) -> String {
    let own = format!("(length {vector})");
    let links = First {
        kind: at,
        own: &own,
    };
    let count = 1 + d.random.below(2);
    let items: Vec<String> = (0..count)
        .map(|_| {
            let constructors = of.constructors(at);
            let mut leaves = Literals {
                draw: d,
                links: &links,
                fuel: 1,
            };
            constructor(&mut leaves, &constructors, "*", 1)
        })
        .collect();
    format!("[{}]", items.join(" "))
}

/// Draws a vector of nodes of a sum, with that many places.
fn nodes(d: &mut Draw, of: &Declared, at: usize, count: usize, fuel: usize) -> String {
    let items: Vec<String> = (0..count)
        .map(|place| {
            let places = Places {
                next: place + 1,
                count,
            };
            let constructors = places.constructors(&mut d.random, of, at);
            let mut leaves = Literals {
                draw: d,
                links: &places,
                fuel,
            };
            constructor(&mut leaves, &constructors, "*", places.fuel())
        })
        .collect();
    format!("[{}]", items.join(" "))
}

/// Draws the table of a datum with that many nodes of each sum, as an expression.
pub fn literal(d: &mut Draw, of: &Declared, count: usize, fuel: usize) -> String {
    let vectors: Vec<String> = of
        .order()
        .iter()
        .map(|&at| {
            let nodes = nodes(d, of, at, count, fuel);
            format!("({nodes} : vector {})", of.node_type(at, "int"))
        })
        .collect();
    tuple(&vectors)
}

/// Draws a table as the text of a value.
pub fn value(random: &mut Random, of: &Declared, count: usize, run: usize) -> String {
    let vectors: Vec<String> = of
        .order()
        .iter()
        .map(|&at| {
            let items: Vec<String> = (0..count)
                .map(|place| {
                    let places = Places {
                        next: place + 1,
                        count,
                    };
                    let constructors = places.constructors(random, of, at);
                    let mut leaves = Values {
                        random,
                        places,
                        run,
                    };
                    constructor(&mut leaves, &constructors, "*", places.fuel())
                })
                .collect();
            format!("[{}]", items.join(" "))
        })
        .collect();
    tuple(&vectors)
}

/// Returns the type of a table.
pub fn type_of(of: &Declared) -> String {
    let vectors: Vec<String> = of
        .order()
        .iter()
        .map(|&at| format!("vector {}", of.node_type(at, "int")))
        .collect();
    tuple(&vectors)
}

fn tuple(parts: &[String]) -> String {
    match parts {
        [only] => only.clone(),
        several => format!("({})", several.join(", ")),
    }
}

/// Draws a number that a table has in whatever order its nodes stand, and however often equal ones.
pub fn fold(d: &mut Draw, of: &Declared, datum: &str) -> String {
    let table = d.name();
    let folds: Vec<String> = of
        .order()
        .iter()
        .enumerate()
        .map(|(place, &at)| {
            let vector = match of.group.sums.len() {
                1 => table.clone(),
                _ => format!("{table}.{place}"),
            };
            let arms: String = of
                .constructors(at)
                .iter()
                .enumerate()
                .map(|(k, (name, payload))| arm(d, k, name, payload.as_ref()))
                .collect();
            let operator = *d.random.pick(&["max", "min", "|", "&"]);
            let node = d.name();
            format!("(reduce {operator} {at} (map (lambda ({node}) (case {node}{arms})) {vector}))")
        })
        .collect();
    let sum = folds
        .into_iter()
        .reduce(|a, b| format!("(+ (* 5 {a}) {b})"))
        .unwrap_or_else(|| "0".into());
    format!("(let ({table} (table {datum})) in {sum})")
}

/// Draws an arm of a node that gives a number of its data.
fn arm(d: &mut Draw, number: usize, name: &str, payload: Option<&Part>) -> String {
    let Some(payload) = payload else {
        return format!(" ({name}* {number})");
    };
    let bound = d.name();
    let depth = d.scope.len();
    let pattern = match payload {
        Part::Tuple(parts) => {
            let names: Vec<String> = parts
                .iter()
                .enumerate()
                .map(|(k, part)| match part.plain() {
                    None => "_".to_string(),
                    Some(ty) => {
                        let name = format!("{bound}_{k}");
                        d.scope.push((name.clone(), ty));
                        name
                    }
                })
                .collect();
            format!("({})", names.join(", "))
        }
        part => match part.plain() {
            None => "_".to_string(),
            Some(ty) => {
                d.scope.push((bound.clone(), ty));
                bound
            }
        },
    };
    let body = d.expression(&super::types::INT, 2);
    d.scope.truncate(depth);
    format!(" ({name}* {pattern} {body})")
}
