//! Random programs for differential testing, drawn only from the description of the language.
//!
//! A seed is a program: an entry of a file, whose types and definitions all entries of the file
//! share. An entry is a long chain of `let`s that use each other, over inputs of any type. Now and
//! then some of its vectors have tens of thousands of elements. [`trial`] chooses the options with
//! which the programs of a file are compiled, and compares their results with the reference
//! interpreter.
//!
//! The tables of [`mod@forms`] have the forms of programs. `draw.rs` and `binding.rs` fill them.

mod binding;
mod draw;
mod forms;
mod literals;
mod scope;
pub mod seeded;
mod sums;
mod templates;
pub mod trial;
mod types;

use crate::random::Random;
use draw::Draw;
use forms::{DEFINITIONS, forms};
use literals::{Size, value};
use std::collections::BTreeMap;
use sums::Sums;
use templates::Form;
use types::Type;

/// Number of programs that share a file.
pub const SHARED: u64 = 8;

/// Number of elements of large inputs.
const MANY: usize = 30_000;

/// The declarations that the entries of a file share.
pub struct File {
    sums: Sums,
    /// The sections before the entries.
    pub head: String,
    /// The functions that were drawn, with their types.
    functions: Vec<(String, Type)>,
    /// True if floating types occur.
    pub floats: bool,
}

/// A program.
pub struct Program {
    /// The entry's name.
    pub name: String,
    /// The entry.
    pub text: String,
    /// The inputs of each run, as text.
    pub runs: Vec<Vec<String>>,
    /// The nodes drawn.
    pub nodes: usize,
    /// The number of times that each form was drawn.
    pub used: BTreeMap<String, usize>,
    /// True if it has large vectors.
    pub large: bool,
}

impl File {
    /// Draws the file of a number, whose programs have the seeds from `number * SHARED`.
    pub fn new(number: u64, floats: bool) -> File {
        let mut random = Random::new(number ^ 0x5EED_F11E);
        let sums = Sums::draw(&mut random, floats);
        let mut draw = Draw::new(random, &sums, floats);
        let mut functions = Vec::new();
        let mut definitions = String::new();
        for k in 0..1 + draw.random.below(3) {
            let count = 1 + draw.random.below(3);
            let types = &draw.types;
            let random = &mut draw.random;
            let arguments: Vec<Type> = (0..count).map(|_| types.any(random, 2)).collect();
            let result = types.any(random, 2);
            (draw.nesting, draw.limit) = (2, draw.nodes + 30);
            let lambda = draw.lambda(&arguments, &result, 4, false);
            definitions.push_str(&format!("(define (drawn{k} {lambda}))\n"));
            functions.push((
                format!("drawn{k}"),
                Type::Function(arguments, Box::new(result)),
            ));
        }
        let head = format!("{}{DEFINITIONS}{definitions}", sums.text());
        File {
            sums,
            head,
            functions,
            floats,
        }
    }

    /// Draws the program of a seed.
    pub fn program(&self, seed: u64) -> Program {
        let mut draw = Draw::new(Random::new(seed), &self.sums, self.floats);
        draw.risky = draw.random.chance(15);
        for (name, ty) in &self.functions {
            draw.scope.bind(name, ty.clone());
        }
        let large = draw.random.chance(20);
        let mut inputs: Vec<(String, Type)> = Vec::new();
        // A number, or a value of any type.
        for k in 0..2 + draw.random.below(4) {
            let depth = if k % 2 == 0 { 0 } else { 3 };
            let ty = draw.types.any(&mut draw.random, depth);
            draw.scope.bind(&format!("in{k}"), ty.clone());
            inputs.push((format!("in{k}"), ty));
        }
        let small = inputs.len();
        let mut bindings = Vec::new();
        if large {
            if draw.random.chance(50) {
                let element = draw.types.flat(&mut draw.random);
                draw.large.push(("many".to_string(), element.clone()));
                inputs.push(("many".to_string(), Type::Vector(Box::new(element))));
            }
            bindings.extend(large_chain(&mut draw));
        }
        draw.limit = draw.nodes + 60 + draw.random.below(240);
        for _ in 0..1 + draw.random.below(2) {
            bindings.push(draw.operations());
        }
        bindings.extend(draw.accumulation());
        for _ in 0..3 + draw.random.below(18) {
            let depth = 2 + draw.random.below(3);
            bindings.push(draw.binding(depth));
        }
        let result = result(&mut draw);
        let sizes = [
            Size::Few,
            [Size::Empty, Size::One][draw.random.below(2)],
            Size::Few,
        ];
        let runs = sizes.iter().map(|size| {
            let values = inputs.iter().enumerate().map(|(k, (_, ty))| {
                let size = match (k >= small, size) {
                    (true, Size::Few) => Size::Many(MANY - draw.random.below(3)),
                    (_, size) => *size,
                };
                value(&mut draw.random, &self.sums, ty, size, 0)
            });
            values.collect()
        });
        let runs = runs.collect();
        let parameters: Vec<String> = inputs
            .iter()
            .map(|(name, ty)| format!("({name} : {ty})"))
            .collect();
        let name = format!("p{seed}");
        let text = format!(
            "(entry {name} ({})\n (let {}\n  in {result}))\n",
            parameters.join(" "),
            bindings.join("\n  ")
        );
        Program {
            name,
            text,
            runs,
            nodes: draw.nodes,
            used: draw.used,
            large,
        }
    }
}

/// Draws large vectors, each from others, and a summary of each.
fn large_chain(draw: &mut Draw<'_>) -> Vec<String> {
    let mut bindings = Vec::new();
    for k in 0..2 + draw.random.below(4) {
        let from_others = !draw.large.is_empty() && draw.random.chance(75);
        let table = match from_others {
            true => &forms().large_steps,
            false => &forms().large_sources,
        };
        let Some((text, ty)) = large_form(draw, table) else {
            continue;
        };
        let Type::Vector(element) = ty else {
            continue;
        };
        bindings.push(format!("(big{k} {text})"));
        draw.large.push((format!("big{k}"), *element));
        for _ in 0..1 + draw.random.below(2) {
            if let Some((text, ty)) = large_form(draw, &forms().summaries) {
                let name = draw.scope.fresh();
                bindings.push(format!("({name} {text})"));
                draw.scope.bind(&name, ty);
            }
        }
    }
    bindings
}

/// Draws a form over large vectors whose functions use only small scalars. Returns its type, too.
fn large_form(draw: &mut Draw<'_>, table: &'static [Form]) -> Option<(String, Type)> {
    let visible = draw.scope.visible();
    let scalars = visible.iter().filter(|(_, ty)| ty.as_scalar().is_some());
    let scalars: Vec<(String, Type)> = scalars
        .map(|(n, t)| (n.to_string(), (*t).clone()))
        .collect();
    let all = draw.scope.replace(scalars);
    let before = (draw.nesting, draw.limit);
    draw.limit = draw.nodes + 25;
    let mut found = None;
    for _ in 0..20 {
        let form = draw.random.pick(table);
        if draw.random.below(8) >= form.weight || !draw.may_use(form) {
            continue;
        }
        // Forms on rows get one more level.
        draw.nesting = 2 - usize::from(form.holes().any(is_row));
        if let Some(drawn) = draw.fill_any(form, 3) {
            found = Some(drawn);
            break;
        }
    }
    draw.scope.replace(all);
    (draw.nesting, draw.limit) = before;
    found
}

fn is_row(ty: &Type) -> bool {
    matches!(ty, Type::Vector(_))
}

/// Returns the tuple of most bound names.
fn result(draw: &mut Draw<'_>) -> String {
    let visible: Vec<String> = draw
        .scope
        .visible()
        .into_iter()
        .filter(|(_, ty)| !matches!(ty, Type::Function(..)))
        .map(|(name, _)| name.to_string())
        .collect();
    let mut parts: Vec<String> = visible
        .into_iter()
        .filter(|_| draw.random.chance(75))
        .take(12)
        .collect();
    let ty = draw.any_type(2);
    parts.push(draw.expression(&ty, 4, false));
    match parts.len() {
        1 => parts.concat(),
        _ => format!("({})", parts.join(", ")),
    }
}
