//! The tables of forms, from which expressions, functions and operators are made, one row each.
//!
//! A row has its weight, the type of its value, and its text (`templates.rs` describes its
//! notation). The forms of the tables cannot fail, except those of [`failing`].

mod data;
mod failing;
mod functions;
mod large;
mod numbers;
mod vectors;

use super::templates::Form;
use std::sync::OnceLock;

pub use functions::DEFINITIONS;

/// All forms.
#[derive(Debug)]
pub struct Forms {
    /// Expressions.
    pub expressions: Vec<Form>,
    /// Operations on scalars with a literal on one side.
    pub with_literals: Vec<Form>,
    /// Folds over vectors of constant length, compared with literals.
    pub accumulations: Vec<Form>,
    /// Expressions that may fail.
    pub failing: Vec<Form>,
    /// Functions, in addition to lambdas.
    pub functions: Vec<Form>,
    /// Associative functions of two, by the type of one.
    pub associative: Vec<Form>,
    /// Those that commute.
    pub commutative: Vec<Form>,
    /// Total preorders, by the type of the compared values.
    pub orders: Vec<Form>,
    /// Large vectors, from nothing.
    pub large_sources: Vec<Form>,
    /// Large vectors, from others.
    pub large_steps: Vec<Form>,
    /// Small values that depend on all of a large vector.
    pub summaries: Vec<Form>,
}

/// Returns all forms. They are parsed once.
pub fn forms() -> &'static Forms {
    static FORMS: OnceLock<Forms> = OnceLock::new();
    FORMS.get_or_init(|| {
        let tables = [numbers::FORMS, vectors::FORMS, vectors::ARRAYS, data::FORMS];
        let mut expressions: Vec<Form> = tables.iter().flat_map(|rows| Form::all(rows)).collect();
        expressions.extend(numbers::conversions());
        expressions.extend(numbers::with_literals());
        let mut failing = Form::all(failing::FORMS);
        failing.extend(failing::conversions());
        let mut associative = Form::all(functions::COMMUTATIVE);
        associative.extend(Form::all(functions::ASSOCIATIVE));
        Forms {
            expressions,
            with_literals: numbers::with_literals(),
            accumulations: numbers::accumulations(),
            failing,
            functions: Form::all(functions::FUNCTIONS),
            associative,
            commutative: Form::all(functions::COMMUTATIVE),
            orders: Form::all(functions::ORDERS),
            large_sources: Form::all(large::SOURCES),
            large_steps: Form::all(large::STEPS),
            summaries: Form::all(large::SUMMARIES),
        }
    })
}
