//! Parallelism strategies. Only the command checks whether a target can honour their nesting. Their
//! meaning is the same everywhere.

use super::kinds::{always, element, is_matrix, is_nested, is_vector, is_vector_of_numbers};
use super::{Production, row};
use crate::random::expression::Draw;
use crate::random::types::{self, INT};

/// Maps and reductions with a strategy, and productions of rows and lanes.
pub const STRATEGIES: &[Production] = &[
    row("map_seq …", 4, is_vector, |d, t, f| {
        let from = types::any(&mut d.random, 1);
        let g = d.function(std::slice::from_ref(&from), &element(t), f);
        let v = d.expression(&from.vector(), f);
        let map = level(d);
        match d.random.chance(30) {
            true => format!("(({} ({map} {g})) {v})", space(d)),
            false => format!("({map} {g} {v})"),
        }
    }),
    row("reduce_seq", 2, always, |d, t, f| {
        let from = types::any(&mut d.random, 1);
        let g = d.function(&[t.clone(), from.clone()], t, f);
        let (z, v) = (d.expression(t, f), d.expression(&from.vector(), f));
        match d.random.chance(30) {
            true => format!("({} (reduce_seq {g} {z}) {v})", space(d)),
            false => format!("(reduce_seq {g} {z} {v})"),
        }
    }),
    row("split", 3, is_matrix, |d, t, f| {
        let (n, m) = (1 + d.random.below(3), d.random.below(3));
        if d.random.chance(15) {
            return format!("(split {m} {})", d.expression(&element(t).vector(), f));
        }
        let g = d.function(&[INT], &element(t), f);
        format!("(split {n} (tabulate {} {g}))", n * m)
    }),
    row("map_workgroup", 3, is_nested, |d, t, f| {
        let to = element(&element(t));
        let (n, m) = (1 + d.random.below(3), d.random.below(4));
        let g = d.function(&[INT], &to, f);
        let name = d.name();
        format!(
            "(map_workgroup (lambda ({name}) (map_local {g} {name})) (split {n} (range {})))",
            n * m
        )
    }),
    row("join", 2, is_vector, |d, t, f| {
        format!("(join {})", d.expression(&t.clone().vector(), f))
    }),
    row("as_vector", 4, is_vector_of_numbers, |d, t, f| {
        let v = d.expression(t, f);
        let (name, lanes, map) = (d.name(), d.name(), level(d));
        let work = *d.random.pick(&["+", "-", "*", "min", "max"]);
        if d.random.chance(10) {
            return format!("(as_scalar (as_vector 2 {v}))");
        }
        format!(
            "(let ({name} {v}) in (as_scalar ({map} (lambda ({lanes}) ({work} {lanes} ({work} \
             {lanes} 2))) (as_vector 2 (concat {name} {name})))))"
        )
    }),
];

fn level(d: &mut Draw) -> &'static str {
    const MAPS: &[&str] = &["map_seq", "map_global", "map_workgroup", "map_local"];
    d.random.pick::<&str>(MAPS)
}

fn space(d: &mut Draw) -> &'static str {
    const SPACES: &[&str] = &["to_global", "to_local", "to_private"];
    d.random.pick::<&str>(SPACES)
}
