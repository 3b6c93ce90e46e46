//! The productions of random expressions: a table for each part of the language, a row for each
//! built-in and form.

macro_rules! prefix {
    ($op:literal, $arity:literal) => {
        |d, t, f| {
            let arguments: Vec<String> = (0..$arity).map(|_| d.expression(t, f)).collect();
            format!("({} {})", $op, arguments.join(" "))
        }
    };
}

mod arrays;
mod data;
mod forms;
mod kinds;
mod loops;
mod nests;
mod scalars;
mod strategies;
mod vectors;

use super::expression::Draw;
use super::types::Ty;

/// A way to make an expression.
pub struct Production {
    /// The built-in or form it draws; what coverage is counted by.
    pub name: &'static str,
    /// How often it is drawn among those that apply.
    pub weight: usize,
    /// True if it can give this type.
    pub gives: fn(&Ty) -> bool,
    /// Draws an expression of that type; the fuel is what its parts may use.
    pub draw: fn(&mut Draw, &Ty, usize) -> String,
}

const fn row(
    name: &'static str,
    weight: usize,
    gives: fn(&Ty) -> bool,
    draw: fn(&mut Draw, &Ty, usize) -> String,
) -> Production {
    Production {
        name,
        weight,
        gives,
        draw,
    }
}

/// All productions. What a seed means depends on their order.
pub fn productions() -> impl Iterator<Item = &'static Production> {
    const TABLES: [&[Production]; 8] = [
        scalars::SCALARS,
        forms::FORMS,
        data::DATA,
        vectors::VECTORS,
        arrays::ARRAYS,
        loops::LOOPS,
        nests::NESTS,
        strategies::STRATEGIES,
    ];
    TABLES.into_iter().flatten()
}
