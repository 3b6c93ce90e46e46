//! Programs that call the foreign functions of `tests/foreign/functions.c`. The module has these
//! functions for the interpreter, and random programs of calls with side effects, which must be
//! made in the order of the program, each once.

use crate::random::Random;
use nova_core::ir::{Foreign, Program};
use nova_core::{ErrorKind, Scalar, ScalarValue, Type, Value};
use std::cell::RefCell;

/// The declarations of the functions in C.
pub const DECLARATIONS: &str = include_str!("../foreign/functions.nova");

/// Further definitions of random programs.
const DEFINITIONS: &str = "(types (Maybe 'a : (+ (None : unit) (Some : 'a))))
(define
  (down (lambda (n f) (if (> n 0) (+ (f n) (down (- n 1) f)) 0)))
  (loop (lambda (n a f) (if (> n 0) (loop (- n 1) (f a) f) a)))
  (twice (lambda (f x) (f (f x)))))
";

fn int(value: i32) -> Value {
    Value::Scalar(ScalarValue::I32(value))
}

fn number(value: Option<&Value>) -> i32 {
    match value {
        Some(Value::Scalar(ScalarValue::I32(value))) => *value,
        _other => 0,
    }
}

fn vector(values: impl IntoIterator<Item = i32>) -> Value {
    let element = Type::Scalar(Scalar::I32);
    Value::from_elements(&element, values.into_iter().map(int).collect())
}

fn numbers(value: Option<&Value>) -> Vec<i32> {
    match value {
        Some(Value::Vector(elements)) => elements.iter().map(|e| number(Some(&e))).collect(),
        _other => Vec::new(),
    }
}

/// Does the work of a function in C.
fn call(log: &RefCell<Vec<i32>>, name: &str, argument: Option<&Value>) -> Value {
    let a = number(argument);
    match name {
        "note" => {
            log.borrow_mut().push(a);
            int(a.wrapping_mul(2).wrapping_add(1))
        }
        "asks" => {
            log.borrow_mut().push(a);
            Value::Scalar(ScalarValue::Bool(a & 1 == 1))
        }
        "notes" => {
            let all = numbers(argument);
            log.borrow_mut().extend(&all);
            vector(all)
        }
        "taken" => vector(log.take()),
        "thrice" => int(a.wrapping_mul(3).wrapping_sub(1)),
        "is_even" => Value::Scalar(ScalarValue::Bool(a & 1 == 0)),
        "some" => vector((0..(a as u32 % 10) as i32).map(|i| a.wrapping_add(i))),
        "total" => int(numbers(argument).into_iter().fold(7, i32::wrapping_add)),
        "doubled" => vector(numbers(argument).into_iter().map(|x| x.wrapping_mul(2))),
        "swap" => match argument {
            Some(Value::Tuple(pair)) => Value::tuple(pair.iter().rev().cloned().collect()),
            _other => Value::Unit,
        },
        "square" => int(a.wrapping_mul(a)),
        "positive" => Value::Scalar(ScalarValue::Bool(a > 0)),
        "turn" => turned(argument),
        _unknown => Value::Unit,
    }
}

/// Returns the result of `turn` of `tests/foreign/device.cl`.
fn turned(argument: Option<&Value>) -> Value {
    let Some(Value::Tuple(pair)) = argument else {
        return Value::Unit;
    };
    let Some(Value::Tuple(inner)) = pair.get(1) else {
        return Value::Unit;
    };
    match (inner.first(), inner.get(1)) {
        (Some(Value::Scalar(ScalarValue::F32(x))), Some(Value::Scalar(ScalarValue::Bool(b)))) => {
            let whole = if *b { number(pair.first()) } else { -1 };
            Value::tuple(vec![Value::Scalar(ScalarValue::F32(x * 2.0)), int(whole)])
        }
        _other => Value::Unit,
    }
}

/// Returns the value of an entry, computed by the reference interpreter.
///
/// # Panics
/// If the program fails.
pub fn reference(program: &Program, entry: usize, inputs: &[Value], strict: bool) -> Value {
    let log = RefCell::new(Vec::new());
    let foreign = |foreign: &Foreign, arguments: &[Value]| -> Result<Value, ErrorKind> {
        Ok(call(&log, &foreign.name, arguments.first()))
    };
    let options = nova_core::interpret::Options {
        strict,
        trace: &|_| {},
        foreign: Some(&foreign),
        ..nova_core::interpret::Options::default()
    };
    let value = nova_core::interpret::evaluate(program, entry, inputs, &options);
    value.unwrap_or_else(|error| panic!("entry {entry}: {error:?}"))
}

/// Draws entries whose calls have side effects, by these seeds, each of a vector of numbers. The
/// value of each is that of an expression, and the log of its calls.
pub fn effects(seeds: std::ops::Range<u64>) -> String {
    let entry = |seed: u64| {
        let mut draw = Draw {
            random: Random::new(seed),
            names: vec![
                ("seed".to_string(), Kind::Int),
                ("xs".to_string(), Kind::Vector),
            ],
            count: 0,
        };
        let value = draw.expression(Kind::Int, 5);
        format!(
            "(entry effects{seed} ((seed : int) (xs : vector int))\n  \
             (let (value {value})\n       (log (taken 0))\n    in (value, log)))\n"
        )
    };
    let entries: String = seeds.map(entry).collect();
    format!("{DECLARATIONS}{DEFINITIONS}{entries}")
}

/// The types of drawn expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Int,
    Bool,
    Vector,
}

/// The forms of each type. A letter stands for an expression of a type (`i`, `b`, `v`). `x`, `y`,
/// `w` between `$` and the next blank stand for the names that the form binds, with their type.
const FORMS: &[(Kind, &str)] = &[
    (Kind::Int, "(+ {i} {i})"),
    (Kind::Int, "(- {i} {i})"),
    (Kind::Int, "(max {i} {i})"),
    (Kind::Int, "(note {i})"),
    (Kind::Int, "(note {i})"),
    (Kind::Int, "(note {i})"),
    (Kind::Int, "(thrice {i})"),
    (Kind::Int, "(total {v})"),
    (Kind::Int, "(if {b} {i} {i})"),
    (Kind::Int, "(let ($i0 {i}) {i:0})"),
    (Kind::Int, "(let ($v0 {v}) {i:0})"),
    (Kind::Int, "(let ($i0 {i}) ($i1 {i:0}) {i:01})"),
    (Kind::Int, "((lambda ($i0) {i:0}) {i})"),
    (
        Kind::Int,
        "(let (f0 (lambda ($i0) {i:0})) (+ (f0 {i}) (f0 {i})))",
    ),
    (Kind::Int, "(twice (lambda ($i0) {i:0}) {i})"),
    (Kind::Int, "(down 3 (lambda ($i0) {i:0}))"),
    (Kind::Int, "(loop 3 {i} (lambda ($i0) {i:0}))"),
    (Kind::Int, "(iterate 2 (lambda ($i0) {i:0}) {i})"),
    (
        Kind::Int,
        "((while (lambda (s) (< s.0 2)) (lambda (s) (let ($i0 s.1) ((+ s.0 1), {i:0}))) (0, {i})) . 1)",
    ),
    (Kind::Int, "(reduce + {i} {v})"),
    (Kind::Int, "(reduce max {i} (map (lambda ($i0) {i:0}) {v}))"),
    (Kind::Int, "(foldl (lambda ($i0 $i1) {i:01}) {i} {v})"),
    (Kind::Int, "(length {v})"),
    (
        Kind::Int,
        "(let ($v0 {v}) (if (> (length $0) 0) (+ ($0 ! 0) {i:0}) {i}))",
    ),
    (Kind::Int, "(({i}, {i}) . 0)"),
    (Kind::Int, "(({i}, {i}) . 1)"),
    (Kind::Int, "((swap ({i}, {i})) . 0)"),
    (
        Kind::Int,
        "(case (if {b} (Some {i}) None) (Some $i0 {i:0}) (None {i}))",
    ),
    (Kind::Bool, "(> {i} {i})"),
    (Kind::Bool, "(= {i} 1)"),
    (Kind::Bool, "(asks {i})"),
    (Kind::Bool, "(asks {i})"),
    (Kind::Bool, "(is_even {i})"),
    (Kind::Bool, "(and {b} {b})"),
    (Kind::Bool, "(or {b} {b})"),
    (Kind::Bool, "(not {b})"),
    (Kind::Bool, "(if {b} {b} {b})"),
    (Kind::Vector, "[{i} {i}]"),
    (Kind::Vector, "(map (lambda ($i0) {i:0}) {v})"),
    (Kind::Vector, "(map (lambda ($i0) {i:0}) {v})"),
    (Kind::Vector, "(map thrice (map note {v}))"),
    (Kind::Vector, "(map note (map thrice {v}))"),
    (
        Kind::Vector,
        "(let ($v0 {v}) (map (lambda ($i1 $i2) {i:012}) $0 (map thrice $0)))",
    ),
    (
        Kind::Vector,
        "(let ($v0 {v}) (map (lambda (p) (- p.0 p.1)) (zip $0 (map thrice $0))))",
    ),
    (
        Kind::Vector,
        "((unzip (map (lambda ($i0) ({i:0}, {i:0})) {v})) . 1)",
    ),
    (Kind::Vector, "(imap (lambda ($i0) {i:0}) [1 2])"),
    (Kind::Vector, "(tabulate 3 (lambda ($i0) {i:0}))"),
    (Kind::Vector, "(filter (lambda ($i0) {b:0}) {v})"),
    (Kind::Vector, "(scan + {i} (map (lambda ($i0) {i:0}) {v}))"),
    (Kind::Vector, "(notes {v})"),
    (Kind::Vector, "(doubled {v})"),
    (Kind::Vector, "(concat {v} {v})"),
    (Kind::Vector, "(reverse {v})"),
    (Kind::Vector, "(if {b} {v} {v})"),
    (Kind::Vector, "(let ($v0 {v}) {v:0})"),
    (Kind::Vector, "(let ($i0 {i}) {v:0})"),
    (
        Kind::Vector,
        "(map (lambda (r) (reduce + {i} r)) [{v} {v}])",
    ),
    (
        Kind::Vector,
        "(flatten (map (lambda ($i0) (map (lambda ($i1) {i:01}) [1 $0])) {v}))",
    ),
    (
        Kind::Vector,
        "(flatten (map (lambda ($i0) (some {i:0})) [1 2]))",
    ),
    (Kind::Vector, "(sort <= {v})"),
    (Kind::Vector, "(replicate 2 {i})"),
    (Kind::Vector, "(scatter {v} [0 1] [{i} {i}])"),
    (Kind::Vector, "(histogram + {i} 3 [0 2 0] [{i} {i} {i}])"),
];

struct Draw {
    random: Random,
    /// The names in scope, with their types.
    names: Vec<(String, Kind)>,
    /// The number of names that were bound.
    count: usize,
}

impl Draw {
    fn expression(&mut self, kind: Kind, depth: usize) -> String {
        if depth == 0 || self.random.chance(10) {
            return self.leaf(kind);
        }
        let forms: Vec<&str> = FORMS.iter().filter(|f| f.0 == kind).map(|f| f.1).collect();
        let form = *self.random.pick(&forms);
        self.fill(form, depth - 1)
    }

    fn leaf(&mut self, kind: Kind) -> String {
        let known: Vec<String> = self
            .names
            .iter()
            .filter(|n| n.1 == kind)
            .map(|n| n.0.clone())
            .collect();
        match kind {
            Kind::Int | Kind::Vector if !known.is_empty() && self.random.chance(75) => {
                self.random.pick(&known).clone()
            }
            Kind::Int => format!("{}", self.random.below(12)),
            Kind::Bool => format!("(asks {})", self.leaf(Kind::Int)),
            Kind::Vector => "[3 1 2]".to_string(),
        }
    }

    /// Writes a form with names for its bindings, and expressions for its holes.
    fn fill(&mut self, form: &str, depth: usize) -> String {
        let first = self.count;
        self.count += 3;
        let name = |digit: char| format!("n{}", first + digit.to_digit(10).unwrap_or(0) as usize);
        let mut out = String::new();
        let mut bound: Vec<(char, Kind)> = Vec::new();
        let mut rest = form.chars().peekable();
        while let Some(c) = rest.next() {
            match c {
                '$' => match rest.next() {
                    Some(kind @ ('i' | 'v')) => {
                        let digit = rest.next().unwrap_or('0');
                        bound.push((digit, kind_of(kind)));
                        out.push_str(&name(digit));
                    }
                    digit => out.push_str(&name(digit.unwrap_or('0'))),
                },
                '{' => {
                    let hole: String = rest.by_ref().take_while(|c| *c != '}').collect();
                    let kind = kind_of(hole.chars().next().unwrap_or('i'));
                    let known = self.names.len();
                    for digit in hole.chars().skip(2) {
                        let of = bound.iter().find(|(d, _)| *d == digit);
                        self.names.extend(of.map(|(d, kind)| (name(*d), *kind)));
                    }
                    out.push_str(&self.expression(kind, depth));
                    self.names.truncate(known);
                }
                c => out.push(c),
            }
        }
        out
    }
}

fn kind_of(letter: char) -> Kind {
    match letter {
        'b' => Kind::Bool,
        'v' => Kind::Vector,
        _int => Kind::Int,
    }
}
