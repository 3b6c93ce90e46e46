//! Operations with literals from the limits of their types on either side, and accumulations whose
//! results are compared with such literals.
//!
//! They stand before the expressions that are drawn freely, from random numbers of their own: one
//! type for each program, an input with numbers of that type, and two bindings.

use super::types::{FLOATS, INTEGERS, Ty};
use super::{Random, values};
use std::collections::BTreeMap;

/// The right operand of an operator.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Right {
    /// Any number.
    Any,
    /// A number that is not zero, as a rule.
    Divisor,
    /// A number of bits, as a rule less than the width of the type.
    Count,
}

/// An operator of two operands of a type.
struct Operator {
    name: &'static str,
    takes: fn(&Ty) -> bool,
    right: Right,
    /// True if it returns a truth value.
    compares: bool,
}

const fn operator(name: &'static str, takes: fn(&Ty) -> bool, right: Right) -> Operator {
    Operator {
        name,
        takes,
        right,
        compares: false,
    }
}

const fn comparison(name: &'static str, takes: fn(&Ty) -> bool) -> Operator {
    Operator {
        compares: true,
        ..operator(name, takes, Right::Any)
    }
}

const OPERATORS: &[Operator] = &[
    operator("+", Ty::is_number, Right::Any),
    operator("-", Ty::is_number, Right::Any),
    operator("*", Ty::is_number, Right::Any),
    operator("/", Ty::is_float, Right::Any),
    operator("/", Ty::is_integer, Right::Divisor),
    operator("%", Ty::is_integer, Right::Divisor),
    operator("min", Ty::is_number, Right::Any),
    operator("max", Ty::is_number, Right::Any),
    operator("&", Ty::is_integer, Right::Any),
    operator("|", Ty::is_integer, Right::Any),
    operator("^", Ty::is_integer, Right::Any),
    operator("<<", Ty::is_integer, Right::Count),
    operator(">>", Ty::is_integer, Right::Count),
    operator("<<", Ty::is_integer, Right::Count),
    operator(">>", Ty::is_integer, Right::Count),
    operator("and", is_truth, Right::Any),
    operator("or", is_truth, Right::Any),
    comparison("=", |_| true),
    comparison("~=", |_| true),
    comparison("<", Ty::is_number),
    comparison("<=", Ty::is_number),
    comparison(">", Ty::is_number),
    comparison(">=", Ty::is_number),
];

/// Types that are drawn more often: those wider than C's `int`, which give literals in operations
/// with them their type, and `int`.
const WIDE: &[&str] = &["int64", "int64", "int64", "uint64", "int", "uint32"];

fn is_truth(ty: &Ty) -> bool {
    !ty.is_number()
}

/// The literals of a program.
pub struct Literals {
    /// The input: its name and type.
    pub input: (String, Ty),
    /// Its values in each run.
    pub values: Vec<String>,
    /// The bindings.
    pub bindings: String,
    /// The names that they bind.
    pub names: [&'static str; 2],
    /// The operators that have a literal, by type and side.
    pub used: BTreeMap<&'static str, usize>,
}

/// Draws the literals of a seed.
pub fn literals(seed: u64, runs: usize) -> Literals {
    let mut random = Random::new(seed ^ 0x117E_7A15);
    let names = [&INTEGERS[..], &FLOATS, &["bool"], WIDE].concat();
    let name = *random.pick(&names);
    let mut draw = Draw {
        random,
        ty: Ty::Scalar(name),
        name,
        used: BTreeMap::new(),
    };
    let operations: Vec<String> = (0..8 + draw.random.below(8))
        .map(|_| draw.operation(2, true))
        .collect();
    let operations = operations.join(", ");
    let operations = match draw.random.chance(65) {
        true => format!(
            "(map (lambda ((x : {name}) (y : {name})) ({operations})) numbers (rotate 3 numbers))"
        ),
        false => format!("(let (x (numbers ! 1)) (y (numbers ! 0)) in ({operations}))"),
    };
    let accumulation = draw.accumulation();
    let values = (0..runs)
        .map(|_| {
            let count = 4 + draw.random.below(9);
            let numbers: Vec<String> = (0..count)
                .map(|_| values::edge_or_any(&mut draw.random, name))
                .collect();
            format!("[{}]", numbers.join(" "))
        })
        .collect();
    Literals {
        input: ("numbers".to_string(), draw.ty.clone().vector()),
        values,
        bindings: format!("(operations {operations})\n    (sums {accumulation})\n    "),
        names: ["operations", "sums"],
        used: draw.used,
    }
}

struct Draw {
    random: Random,
    ty: Ty,
    name: &'static str,
    used: BTreeMap<&'static str, usize>,
}

impl Draw {
    /// Draws a literal whose text determines its type.
    fn literal(&mut self) -> String {
        let name = self.name;
        match values::edge_or_any(&mut self.random, name).as_str() {
            text @ ("true" | "false") => text.to_string(),
            "nan" => format!("((/ 0.0 0.0) : {name})"),
            "inf" => format!("((/ 1.0 0.0) : {name})"),
            "-inf" => format!("((/ -1.0 0.0) : {name})"),
            text => format!("({text} : {name})"),
        }
    }

    /// Draws an operator that takes the type. A comparison is drawn only if `compares` is true.
    fn operator(&mut self, compares: bool) -> &'static Operator {
        loop {
            let operator = self.random.pick(OPERATORS);
            let gives = compares || !operator.compares || is_truth(&self.ty);
            if (operator.takes)(&self.ty) && gives {
                return operator;
            }
        }
    }

    /// Draws an operation with a literal on the left, on the right, or on both sides.
    fn operation(&mut self, depth: usize, compares: bool) -> String {
        let operator = self.operator(compares);
        let (left, right) = match self.random.below(10) {
            0..4 => (true, false),
            4..8 => (false, true),
            _ => (true, true),
        };
        *self.used.entry(operator.name).or_default() += 1;
        let a = match left {
            true => self.literal(),
            false => self.operand(depth),
        };
        let b = self.right(operator.right, right, depth);
        format!("({} {a} {b})", operator.name)
    }

    /// Draws a variable, or another operation.
    fn operand(&mut self, depth: usize) -> String {
        match self.random.below(10) {
            0..3 if depth > 0 => self.operation(depth - 1, false),
            0..7 => "x".to_string(),
            _ => "y".to_string(),
        }
    }

    fn right(&mut self, right: Right, is_literal: bool, depth: usize) -> String {
        let name = self.name;
        // It may fail now and then.
        let any = right == Right::Any || self.random.chance(2);
        match (any, right, is_literal) {
            (true, _, true) => self.literal(),
            (true, _, false) => self.operand(depth),
            (false, Right::Count, true) => {
                let bits = values::bits(name) as usize;
                let count = match self.random.below(4) {
                    0 => bits - 1,
                    1 => bits / 2 - self.random.below(2),
                    _ => self.random.below(bits),
                };
                format!("({count} : {name})")
            }
            (false, Right::Count, false) => {
                let mask = values::bits(name) - 1;
                format!("(& {} {mask})", self.operand(depth))
            }
            (false, _, true) => {
                let literal = self.literal();
                match literal.starts_with("(0 ") {
                    true => format!("(-1 : {name})").replace("-1 : u", "7 : u"),
                    false => literal,
                }
            }
            (false, _, false) => format!("(| {} 1)", self.operand(depth)),
        }
    }

    /// Draws a fold over a vector of constant length, compared with literals.
    fn accumulation(&mut self) -> String {
        if is_truth(&self.ty) {
            (self.ty, self.name) = (Ty::Scalar("int"), "int");
            let text = self.sum("(map (lambda (t) (if t -7 2147483647)) numbers)");
            (self.ty, self.name) = (Ty::Scalar("bool"), "bool");
            return text;
        }
        let name = self.name;
        let length = *self.random.pick(&[8, 16, 64, 100, 256]);
        let to = if self.ty.is_float() { "to" } else { "wrap" };
        let element = match self.random.below(3) {
            0 => format!("(+ (numbers ! 0) (* 77 ({to}_{name} k)))"),
            1 => "(numbers ! (% k (length numbers)))".to_string(),
            _ => format!("({to}_{name} (+ (wrap_int (numbers ! 1)) (* k 7919)))"),
        };
        self.sum(&format!("(map (lambda (k) {element}) (range {length}))"))
    }

    fn sum(&mut self, vector: &str) -> String {
        let (low, high) = values::bounds(self.name);
        // C must not conclude from the start that the sum stays on one side of zero.
        let (start, opposite) = match self.random.below(4) {
            _ if self.ty.is_float() => (self.literal(), None),
            0 => (format!("({} : {})", low + 3, self.name), Some("(<= sum 4)")),
            1 => (format!("({} : {})", high - 2, self.name), Some("(> sum 4)")),
            _ => (self.literal(), None),
        };
        let operator = *self.random.pick(&["+", "+", "-", "*"]);
        let sum = match self.random.below(6) {
            0 if operator != "-" => format!("(reduce {operator} {start} {vector})"),
            1 if operator != "-" => {
                format!("(let (v (scan {operator} {start} {vector})) in (v ! (- (length v) 1)))")
            }
            2 => format!("(foldl (lambda (a e) ({operator} e a)) {start} {vector})"),
            _ => format!("(foldl (lambda (a e) ({operator} a e)) {start} {vector})"),
        };
        let comparisons: Vec<String> = (0..3)
            .map(|_| {
                let comparison = *self.random.pick(&["<", "<=", ">", ">=", "="]);
                let literal = match self.random.chance(40) {
                    true => start.clone(),
                    false => self.literal(),
                };
                match self.random.chance(50) {
                    true => format!("({comparison} sum {literal})"),
                    false => format!("({comparison} {literal} sum)"),
                }
            })
            .chain(opposite.map(str::to_string))
            .collect();
        format!("(let (sum {sum}) in (sum, {}))", comparisons.join(", "))
    }
}
