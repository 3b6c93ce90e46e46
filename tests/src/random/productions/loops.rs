//! Loops, and the functions of the prelude.

use super::kinds::{always, element, is_int, is_vector_of_floats, is_vector_of_numbers};
use super::{Production, row};
use crate::random::expression::Draw;
use crate::random::types::{self, BOOL, INT, Ty};

/// Loops, the functions of the prelude, `trace`.
pub const LOOPS: &[Production] = &[
    row("iterate", 2, always, |d, t, f| {
        let g = d.function(std::slice::from_ref(t), t, f.min(3));
        let z = d.expression(t, f);
        format!("(iterate {} {g} {z})", d.random.below(4))
    }),
    row("iterate with a counter", 2, always, |d, t, f| {
        let g = d.function(&[t.clone(), INT], t, f.min(3));
        let (z, start, step) = (
            d.expression(t, f),
            d.expression(&INT, 1),
            d.expression(&INT, 1),
        );
        let [s, i, by] = [(); 3].map(|()| d.name());
        let change = *d.random.pick(&["+", "-"]);
        format!(
            "(let ({by} {step}) in (iterate {} (lambda (({s}, {i})) (({g} {s} {i}), ({change} {i} {by}))) \
             ({z}, {start}))).0",
            d.random.below(4)
        )
    }),
    row("while", 2, always, |d, t, f| {
        let state = Ty::Tuple(vec![INT, t.clone()]);
        let name = d.name();
        let depth = d.scope.len();
        d.scope.push((name.clone(), state.clone()));
        let next = d.expression(t, f.min(3));
        d.scope.truncate(depth);
        let z = d.expression(t, f);
        let n = d.random.below(4);
        let condition = d
            .random
            .pick(&["(< s.0 {n})", "(> {n} s.0)", "(~= s.0 {n})"]);
        let condition = condition.replace("{n}", &n.to_string());
        format!(
            "(while (lambda (s : {state}) {condition}) \
             (lambda ({name} : {state}) ((+ 1 {name}.0), {next})) (0, {z})).1"
        )
    }),
    row("list_fold", 2, always, |d, t, f| {
        let from = types::any(&mut d.random, 1);
        let g = d.function(&[t.clone(), from.clone()], t, f.min(3));
        let z = d.expression(t, f);
        let l = d.expression(&Ty::List(Box::new(from)), f);
        format!("(list_fold {g} {z} {l})")
    }),
    row("tree_fold", 2, always, |d, t, f| {
        let from = types::any(&mut d.random, 1);
        let leaf = d.function(std::slice::from_ref(&from), t, f.min(3));
        let node = d.function(&[t.clone(), t.clone()], t, f.min(2));
        let tree = d.expression(&Ty::Tree(Box::new(from)), f);
        format!("(tree_fold {leaf} {node} {tree})")
    }),
    row("list_length", 1, is_int, |d, _, f| {
        let l = Ty::List(Box::new(types::any(&mut d.random, 1)));
        format!("(list_length {})", d.expression(&l, f))
    }),
    row("first", 1, always, |d, t, f| {
        let (z, v) = (d.leaf(t), d.expression(&t.clone().vector(), f));
        format!("(first {z} {v})")
    }),
    row("or_else", 1, always, |d, t, f| {
        let (z, m) = (d.leaf(t), d.expression(&Ty::Maybe(Box::new(t.clone())), f));
        format!("(or_else {z} {m})")
    }),
    row("trace", 1, always, |d, t, f| {
        let v = d.expression(t, f);
        format!("(trace \"seen\" {v})")
    }),
    row("reduce", 12, is_vector_of_floats, |d, t, f| {
        let rows = d.expression(&t.clone().vector(), f);
        let suffix = if element(t) == Ty::Scalar("double") {
            "L"
        } else {
            ""
        };
        let operator = d.random.pick(&["+", "*", "min", "max"]);
        let start = d.random.pick(&["0.0", "-0.0", "1.0"]);
        let name = d.name();
        let elements = match d.random.below(6) {
            0 => name.clone(),
            1 => format!("(map * {name} {name})"),
            2 => format!("(map abs {name})"),
            3 => format!("(map (lambda (x) (- x {start}{suffix})) {name})"),
            4 => format!("(imap (lambda (k) ({name} ! (& k 3))) {name})"),
            _ => format!("(map (lambda (k) ({name} ! (^ k 1))) (range (length {name})))"),
        };
        format!("(map (lambda ({name}) (reduce {operator} {start}{suffix} {elements})) {rows})")
    }),
    row("loops in a row", 3, always, loops_in_a_row),
    // A loop for each element, which each leaves at its own time: more elements than lanes of a small block.
    row("steps", 2, is_vector_of_numbers, |d, t, f| {
        let t = element(t);
        let state = Ty::Tuple(vec![INT, t.clone()]);
        let [name, x] = [(); 2].map(|()| d.name());
        let depth = d.scope.len();
        d.scope.push((x.clone(), INT));
        let z = d.expression(&t, f.min(2));
        d.scope.push((name.clone(), state.clone()));
        let next = d.expression(&t, f.min(3));
        d.scope.truncate(depth);
        let v = d.expression(&INT.vector(), f.min(2));
        // Nothing tells the number of steps before they are made.
        format!(
            "(map (lambda ({x} : int) (while (lambda (s : {state}) (> s.0 0)) \
             (lambda ({name} : {state}) ((>> {name}.0 1), {next})) ((& {x} 15), {z})).1) \
             (concat {v} [2 0 3 1 7 5 16]))"
        )
    }),
];

/// Draws loops over one vector, or over what others of them kept or made of it. Each may begin with
/// the results of those before it, or use them in its body.
fn loops_in_a_row(d: &mut Draw, t: &Ty, fuel: usize) -> String {
    let from = types::any(&mut d.random, 1);
    let vector = from.clone().vector();
    let depth = d.scope.len();
    let mut sources = vec![d.name()];
    let mut bindings = vec![format!("({} {})", sources[0], d.expression(&vector, fuel))];
    d.scope.push((sources[0].clone(), vector.clone()));
    let mut results: Vec<String> = Vec::new();
    for _ in 0..2 + d.random.below(3) {
        let (name, source) = (d.name(), d.random.pick(&sources).clone());
        let (ty, text) = match d.random.below(5) {
            0..=1 => {
                let keeps = d.function(std::slice::from_ref(&from), &BOOL, fuel.min(3));
                sources.push(name.clone());
                (vector.clone(), format!("(filter {keeps} {source})"))
            }
            2 => {
                let of = d.function(std::slice::from_ref(&from), &from, fuel.min(3));
                sources.push(name.clone());
                (vector.clone(), format!("(map {of} {source})"))
            }
            _ => {
                let text = fold_after(d, (t, &from), &results, &source, fuel);
                results.push(name.clone());
                (t.clone(), text)
            }
        };
        d.scope.push((name.clone(), ty));
        bindings.push(format!("({name} {text})"));
    }
    let source = d.random.pick(&sources).clone();
    let last = fold_after(d, (t, &from), &results, &source, fuel);
    d.scope.truncate(depth);
    format!("(let {} in {last})", bindings.join(" "))
}

/// Draws a fold of a vector that begins with a result of an earlier one, most often.
fn fold_after(
    d: &mut Draw,
    (t, from): (&Ty, &Ty),
    results: &[String],
    source: &str,
    fuel: usize,
) -> String {
    let g = d.function(&[t.clone(), from.clone()], t, fuel.min(3));
    let start = match results.is_empty() {
        false if d.random.chance(70) => d.random.pick(results).clone(),
        _ => d.expression(t, fuel.min(2)),
    };
    format!("(foldl {g} {start} {source})")
}
