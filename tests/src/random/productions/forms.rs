//! The forms of the language.

use super::kinds::always;
use super::{Production, row};
use crate::random::expression::Draw;
use crate::random::types::{self, BOOL, INT, Ty};

/// Conditionals, bindings, calls, matches, projections.
pub const FORMS: &[Production] = &[
    row("if", 3, always, |d, t, f| {
        let c = d.expression(&BOOL, f);
        let (a, b) = (d.expression(t, f), d.expression(t, f));
        format!("(if {c} then {a} else {b})")
    }),
    row("let", 3, always, |d, t, f| {
        let (name, ty, value) = d.binding(f);
        d.scope.push((name.clone(), ty));
        let body = d.expression(t, f);
        d.scope.pop();
        format!("(let ({name} {value}) in {body})")
    }),
    row("call", 6, always, call),
    row("closure", 1, always, closure),
    row("mu", 1, always, recursion),
    row("tail recursion", 2, always, tail_recursion),
    row("case", 2, always, case),
    row("project", 2, always, |d, t, f| {
        let other = types::any(&mut d.random, 1);
        let pair = Ty::Tuple(vec![t.clone(), other]);
        let value = d.expression(&pair, f);
        format!("({value} : {pair}).0")
    }),
];

/// Draws a call of a function in scope that returns the type, if there is one.
fn call(d: &mut Draw, t: &Ty, f: usize) -> String {
    let functions: Vec<(String, Vec<Ty>)> = d
        .scope
        .iter()
        .filter_map(|(n, ty)| match ty {
            Ty::Function(parameters, result) if **result == *t => {
                Some((n.clone(), parameters.clone()))
            }
            _ => None,
        })
        .collect();
    if functions.is_empty() {
        return d.leaf(t);
    }
    let (name, parameters) = functions[d.random.below(functions.len())].clone();
    let arguments: Vec<String> = parameters.iter().map(|p| d.expression(p, f)).collect();
    format!("({name} {})", arguments.join(" "))
}

/// Draws a function value chosen at run time, composed or partially applied, then applied.
fn closure(d: &mut Draw, t: &Ty, f: usize) -> String {
    let from = types::any(&mut d.random, 1);
    let parameters = std::slice::from_ref(&from);
    let (g, h) = (d.function(parameters, t, f), d.function(parameters, t, f));
    let argument = d.expression(&from, f);
    match d.random.below(3) {
        0 => format!(
            "((if {} then {g} else {h}) {argument})",
            d.expression(&BOOL, f)
        ),
        1 => {
            let inner = d.function(parameters, &from, f.min(2));
            format!("((compose {g} {inner}) {argument})")
        }
        _ => {
            let p = d.name();
            format!("(((lambda ({p} : {from}) {g}) {argument}) {argument})")
        }
    }
}

/// Draws recursion by `mu` with a counter, in tail position or not.
fn recursion(d: &mut Draw, t: &Ty, f: usize) -> String {
    let (function, state) = (d.name(), d.name());
    let depth = d.scope.len();
    d.scope.push((state.clone(), t.clone()));
    let step = d.expression(t, f.min(3));
    d.scope.truncate(depth);
    let start = d.expression(t, f);
    let n = d.random.below(4);
    let lambda = |body: &str| {
        format!("(lambda (n : int) ({state} : {t}) : {t} (if (<= n 0) {state} {body}))")
    };
    let back = format!("({function} (- n 1) {state})");
    let body = if d.random.chance(50) {
        format!("({function} (- n 1) {step})")
    } else {
        format!("(let ({state} {back}) in {step})")
    };
    // The function may be the value of another expression.
    let value = match d.random.below(6) {
        0 => format!("(let (k {}) in {})", d.leaf(&INT), lambda(&body)),
        1 => format!(
            "(if {} then {} else {})",
            d.expression(&BOOL, 1),
            lambda(&body),
            lambda(&back)
        ),
        _ => lambda(&body),
    };
    let result = paren(t);
    format!("((mu ({function} : int -> {result} -> {result}) {value}) {n} {start})")
}

/// Draws a function of a counter and a state that calls itself last, while a condition on the
/// counter holds. It does so on several paths, and has several ways out.
fn tail_recursion(d: &mut Draw, t: &Ty, f: usize) -> String {
    let [function, i, s, x] = [(); 4].map(|()| d.name());
    let start = d.expression(t, f);
    let (from, iterations) = (d.random.below(9) as i64 - 4, d.random.below(4) as i64);
    let (step, end) = match d.random.below(4) {
        0 => (format!("(+ {i} 1)"), from + iterations),
        1 => (format!("(+ 1 {i})"), from + iterations),
        2 => (format!("(- {i} 1)"), from - iterations),
        _ => (format!("(+ -1 {i})"), from - iterations),
    };
    let (goes_on, ends) = match (d.random.below(3), end >= from) {
        (0, _) => (format!("(~= {i} {end})"), format!("(= {end} {i})")),
        (1, true) => (format!("(< {i} {end})"), format!("(>= {i} {end})")),
        (1, false) => (format!("(> {i} {end})"), format!("(<= {i} {end})")),
        (_, true) => (format!("(> {end} {i})"), format!("(not (< {i} {end}))")),
        (_, false) => (format!("(< {end} {i})"), format!("(>= {end} {i})")),
    };
    // With no iterations and a step down, a condition by order would never end the recursion.
    let (goes_on, ends) = if iterations == 0 {
        (format!("(~= {i} {end})"), format!("(= {i} {end})"))
    } else {
        (goes_on, ends)
    };
    let depth = d.scope.len();
    d.scope.push((i.clone(), INT));
    d.scope.push((s.clone(), t.clone()));
    let named = d.expression(&INT, 1);
    let condition = d.expression(&BOOL, 1);
    d.scope.push((x.clone(), INT));
    let call = |d: &mut Draw| {
        let next = d.expression(t, f.min(3));
        format!("({function} {step} {next})")
    };
    let again = match d.random.below(5) {
        0 => format!("(if {condition} {} {})", call(d), call(d)),
        1 => format!("(if {condition} {} {})", d.expression(t, f.min(2)), call(d)),
        2 => format!("(if {condition} {} {s})", call(d)),
        _ => call(d),
    };
    let out = d.expression(t, f.min(2));
    d.scope.truncate(depth);
    let choice = if d.random.chance(50) {
        format!("(if {goes_on} {again} {out})")
    } else {
        format!("(if {ends} {out} {again})")
    };
    let result = paren(t);
    format!(
        "((mu ({function} : int -> {result} -> {result}) (lambda ({i} : int) ({s} : {t}) : {t} \
         (let ({x} {named}) in {choice}))) {from} {start})"
    )
}

fn paren(t: &Ty) -> String {
    if matches!(t, Ty::Vector(_) | Ty::Matrix(_)) {
        format!("({t})")
    } else {
        t.to_string()
    }
}

/// Draws a match on a sum of any kind.
fn case(d: &mut Draw, t: &Ty, f: usize) -> String {
    let inner = types::any(&mut d.random, 1);
    let (a, b) = (d.name(), d.name());
    let arm = |d: &mut Draw, bound: &[(String, Ty)]| {
        let depth = d.scope.len();
        d.scope.extend(bound.iter().cloned());
        let body = d.expression(t, f);
        d.scope.truncate(depth);
        body
    };
    match d.random.below(4) {
        0 => {
            let m = Ty::Maybe(Box::new(inner.clone()));
            let s = d.expression(&m, f);
            let (none, some) = (arm(d, &[]), arm(d, &[(a.clone(), inner)]));
            format!("(case ({s} : {m}) (None {none}) (Some {a} {some}))")
        }
        1 => {
            let s = d.expression(&Ty::Shape, f);
            let circle = arm(d, &[(a.clone(), Ty::Scalar("float"))]);
            let square = arm(d, &[(a.clone(), INT), (b.clone(), INT)]);
            let rest = arm(d, &[]);
            format!("(case {s} (Circle {a} {circle}) (Square ({a}, {b}) {square}) (_ {rest}))")
        }
        2 => {
            let l = Ty::List(Box::new(inner.clone()));
            let s = d.expression(&l, f);
            let nil = arm(d, &[]);
            let cons = arm(d, &[(a.clone(), inner), (b.clone(), l.clone())]);
            format!("(case ({s} : {l}) (Nil {nil}) (Cons ({a}, {b}) {cons}))")
        }
        _ => {
            let tr = Ty::Tree(Box::new(inner.clone()));
            let s = d.expression(&tr, f);
            let leaf = arm(d, &[(a.clone(), inner)]);
            let node = arm(d, &[(a.clone(), tr.clone()), (b.clone(), tr.clone())]);
            format!("(case ({s} : {tr}) (Leaf {a} {leaf}) (Node ({a}, {b}) {node}))")
        }
    }
}
