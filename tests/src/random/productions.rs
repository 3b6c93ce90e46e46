//! The productions of random expressions. They have a table for each part of the language, with a
//! row for each built-in and form.

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
mod recursion;
mod scalars;
mod strategies;
mod vectors;

use super::Random;
use super::expression::Draw;
use super::types::Ty;

/// A way to make an expression.
pub struct Production {
    /// The built-in or form it draws, by which coverage is counted.
    pub name: &'static str,
    /// Its weight among the productions that apply.
    pub weight: usize,
    /// True if it can give this type.
    pub gives: fn(&Ty) -> bool,
    /// A function that draws an expression of that type. The fuel is that of its parts.
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

/// Returns all productions, those of recursive data only for programs that declare it. The meaning of
/// a seed depends on their order.
pub fn productions(recursive: bool) -> impl Iterator<Item = &'static Production> {
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
    let recursion: &[Production] = if recursive { recursion::RECURSION } else { &[] };
    TABLES.into_iter().flatten().chain(recursion)
}

/// Draws a production of recursive data that gives a type.
pub fn of_recursive_data(random: &mut Random, ty: &Ty) -> &'static Production {
    let rows: Vec<&Production> = recursion::RECURSION
        .iter()
        .filter(|row| (row.gives)(ty))
        .collect();
    let total: usize = rows.iter().map(|row| row.weight).sum();
    let mut at = random.below(total);
    for row in &rows {
        if at < row.weight {
            return row;
        }
        at -= row.weight;
    }
    rows[0]
}
