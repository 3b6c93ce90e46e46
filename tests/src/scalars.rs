//! Programs of every operation on scalars with numbers near the limits of their types: as literals
//! on the left, on the right and on both sides, and as variables.
//!
//! A [`Table`] is one program for one type. Its cases are the branches of a map, chosen by a
//! number, so that one loop, or one kernel, holds all of them. The results of the interpreter for
//! each case and each number are compared with those of C.

use crate::inputs;
use crate::stages::{How, Loaded, Outcome, Passes, SMALL_TILES, Stages, check};
use nova_core::Value;
use nova_core::interpret::Options as Evaluation;

/// A program with the cases of one type.
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its source: one entry.
    text: String,
    /// The type of the numbers, and of the results.
    ty: &'static str,
    result: String,
    /// The expression of each case.
    cases: Vec<String>,
    /// The values of `x` and `y`, one after the other, as inputs.
    numbers: Vec<String>,
}

/// The options of a table, and the interval of the failing cases that are tried.
#[derive(Clone, Copy)]
pub struct Way {
    pub passes: Passes,
    /// The optimisation level of the C compiler.
    pub optimization: u8,
    pub every: usize,
}

/// A type, and its limits as literals and as inputs.
struct Edges {
    ty: &'static str,
    literals: Vec<String>,
    /// Some of the literals, for operations that take three of them.
    few: Vec<String>,
    inputs: Vec<String>,
}

const INTEGERS: [(&str, &str, u32, bool); 8] = [
    ("int8", "i8", 8, true),
    ("int16", "i16", 16, true),
    ("int", "i32", 32, true),
    ("int64", "i64", 64, true),
    ("uint8", "u8", 8, false),
    ("uint16", "u16", 16, false),
    ("uint32", "u32", 32, false),
    ("uint64", "u64", 64, false),
];

/// The types that numbers are converted to.
const TARGETS: [&str; 10] = [
    "int8", "int16", "int", "int64", "uint8", "uint16", "uint32", "uint64", "float", "double",
];

fn integers((ty, suffix, bits, signed): (&'static str, &str, u32, bool)) -> Edges {
    let (low, high) = match signed {
        true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        false => (0, (1i128 << bits) - 1),
    };
    let width = i128::from(bits);
    let mut all = vec![0, 1, -1, 2, -7, width - 1, width, 1 << (bits / 2)];
    all.extend([low, low + 1, high, high - 1, (high >> 1) + 1]);
    all.retain(|v| (low..=high).contains(v));
    all.sort_unstable();
    all.dedup();
    let few = [low, if signed { 0 } else { 1 }, high];
    Edges {
        ty,
        few: few.iter().map(|v| format!("{v}{suffix}")).collect(),
        literals: all.iter().map(|v| format!("{v}{suffix}")).collect(),
        inputs: all.iter().map(|v| v.to_string()).collect(),
    }
}

/// Returns numbers near the limits of integer types, in a floating type.
fn floats(ty: &'static str) -> Edges {
    let numbers = [
        "0.0",
        "-0.0",
        "1.0",
        "-1.0",
        "1.5",
        "-128.9",
        "255.5",
        "65536.0",
        "2147483648.0",
        "-2147483648.0",
        "9223372036854775808.0",
        "18446744073709551616.0",
        "1e-45",
        "3e38",
    ];
    let special = [("(/ 0.0 0.0)", "nan"), ("(/ -1.0 0.0)", "-inf")];
    let texts = numbers.iter().map(|text| (*text, *text)).chain(special);
    let (literals, inputs): (Vec<String>, Vec<String>) = texts
        .map(|(literal, input)| (format!("({literal} : {ty})"), input.to_string()))
        .unzip();
    Edges {
        ty,
        few: literals[..3].to_vec(),
        literals,
        inputs,
    }
}

fn edges() -> Vec<Edges> {
    let truths = ["false", "true"].map(String::from).to_vec();
    let bools = Edges {
        ty: "bool",
        few: truths.clone(),
        literals: truths.clone(),
        inputs: truths,
    };
    let floating = ["float", "double"].map(floats);
    let numbers = INTEGERS.into_iter().map(integers).chain(floating);
    numbers.chain([bools]).collect()
}

/// Returns the operations on two numbers that give one of their type, and those that give a truth
/// value.
fn binary(ty: &str) -> (&'static [&'static str], &'static [&'static str]) {
    const COMPARISONS: &[&str] = &["=", "~=", "<", "<=", ">", ">="];
    match ty {
        "bool" => (&["and", "or"], &["=", "~="]),
        "float" | "double" => (
            &["+", "-", "*", "/", "min", "max", "pow", "atan2"],
            COMPARISONS,
        ),
        _integer => (
            &[
                "+", "-", "*", "/", "%", "min", "max", "&", "|", "^", "<<", ">>",
            ],
            COMPARISONS,
        ),
    }
}

fn unary(ty: &str) -> &'static [&'static str] {
    match ty {
        "bool" => &["not"],
        "float" | "double" => &[
            "neg", "abs", "recip", "sqrt", "rsqrt", "floor", "ceil", "round", "trunc", "exp",
            "exp2", "log", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
            "cosh", "tanh", "erf",
        ],
        _integer => &["neg", "abs", "~", "popcount"],
    }
}

impl Edges {
    /// Returns a truth value as a number of the type.
    fn truth(&self, condition: String) -> String {
        match self.ty {
            "bool" => condition,
            _ => format!("(if {condition} {} {})", self.literals[1], self.literals[0]),
        }
    }

    /// Returns both orders of a literal and a variable, and literals on both sides.
    fn sides(&self) -> Vec<(String, String)> {
        let x = || "x".to_string();
        let mut sides = vec![("y".to_string(), x())];
        for (k, literal) in self.literals.iter().enumerate() {
            sides.push((literal.clone(), x()));
            sides.push((x(), literal.clone()));
            let other = |by: usize| self.literals[(k * 3 + by) % self.literals.len()].clone();
            sides.push((literal.clone(), other(1)));
            sides.push((literal.clone(), other(5)));
        }
        // Operands that C computes from constants alone.
        let [first, .., last] = &self.literals[..] else {
            return sides;
        };
        sides.push((format!("(if (= y x) {first} {last})"), x()));
        for operation in unary(self.ty) {
            sides.push((format!("({operation} {last})"), x()));
        }
        for operation in binary(self.ty).0.iter().filter(|o| !o.contains(['<', '>'])) {
            sides.push((format!("({operation} {first} {last})"), x()));
        }
        sides.extend(self.conditionals());
        sides
    }

    /// Returns operations on a literal and a conditional of two literals, which compilers of C fold
    /// before they know the condition.
    fn conditionals(&self) -> Vec<(String, String)> {
        let mut sides = Vec::new();
        for (k, first) in self.few.iter().enumerate() {
            for second in &self.few[k + 1..] {
                let either = format!("(if (= y x) {first} {second})");
                for literal in &self.few {
                    sides.push((literal.clone(), either.clone()));
                    sides.push((either.clone(), literal.clone()));
                }
            }
        }
        sides
    }

    /// Returns the table of every operation that gives a number of the type.
    fn operations(&self) -> Table {
        let (numbers, comparisons) = binary(self.ty);
        let mut cases = Vec::new();
        for (a, b) in self.sides() {
            cases.extend(numbers.iter().map(|op| format!("({op} {a} {b})")));
            let truths = comparisons.iter();
            cases.extend(truths.map(|op| self.truth(format!("({op} {a} {b})"))));
        }
        for a in ["x".to_string()].iter().chain(&self.literals) {
            cases.extend(unary(self.ty).iter().map(|op| format!("({op} {a})")));
        }
        self.table("operations", cases, self.ty)
    }

    /// Returns the table of every conversion. Each result is an integer or a float, and 0.
    fn conversions(&self) -> Table {
        let mut cases = Vec::new();
        for to in TARGETS {
            for a in ["x".to_string()].iter().chain(&self.literals) {
                cases.push(shown(&format!("(to_{to} {a})"), to));
                cases.push(shown(&format!("((from_{} {a}) : {to})", self.ty), to));
                if !to.contains(['f', 'd']) {
                    cases.push(shown(&format!("(wrap_{to} {a})"), to));
                }
            }
        }
        self.table("conversions", cases, "(int64, double)")
    }

    fn table(&self, what: &str, cases: Vec<String>, result: &str) -> Table {
        let ty = self.ty;
        let numbered: Vec<(usize, &String)> = cases.iter().enumerate().collect();
        let text = format!(
            "(entry {what} ((cases : vector int) (ys : vector {ty}) (xs : vector {ty}))\n\
             (map (lambda (case_of y x) : {result}\n{}) cases ys xs))\n",
            choice(&numbered)
        );
        Table {
            name: format!("{ty}_{what}"),
            text,
            ty,
            result: result.to_string(),
            cases,
            numbers: self.inputs.clone(),
        }
    }
}

/// Returns a converted number as a pair of both kinds of numbers, exactly.
fn shown(value: &str, ty: &str) -> String {
    match ty {
        "float" | "double" => format!("(0i64, (to_double {value}))"),
        _integer => format!("((wrap_int64 {value}), 0.0L)"),
    }
}

/// Returns the choice among numbered expressions by bisection, so that it is never deep.
fn choice(cases: &[(usize, &String)]) -> String {
    match cases {
        [] => String::new(),
        [(_, only)] => (*only).clone(),
        several => {
            let (low, high) = several.split_at(several.len() / 2);
            let (first, _) = high[0];
            format!(
                "(if (< case_of {first})\n{}\n{})",
                choice(low),
                choice(high)
            )
        }
    }
}

/// Returns the programs of all types.
pub fn tables() -> Vec<Table> {
    let of_type = |edges: &Edges| match edges.ty {
        "bool" => vec![edges.operations()],
        _number => vec![edges.operations(), edges.conversions()],
    };
    edges().iter().flat_map(of_type).collect()
}

/// A case with its numbers.
struct Call {
    case: usize,
    y: usize,
    x: usize,
}

impl Table {
    /// Returns each case with each number, and those of two variables with each pair.
    fn calls(&self) -> Vec<Call> {
        let mut calls = Vec::new();
        for (case, text) in self.cases.iter().enumerate() {
            let holds = |name: &str| text.split(['(', ')', ' ']).any(|word| word == name);
            let count = |name| if holds(name) { self.numbers.len() } else { 1 };
            for y in 0..count("y") {
                calls.extend((0..count("x")).map(|x| Call { case, y, x }));
            }
        }
        calls
    }

    fn inputs(&self, stages: &Stages, calls: &[&Call]) -> Vec<Value> {
        let list = |of: &dyn Fn(&Call) -> String| {
            let items: Vec<String> = calls.iter().map(|call| of(call)).collect();
            format!("[{}]", items.join(" "))
        };
        let texts = [
            list(&|call| call.case.to_string()),
            list(&|call| self.numbers[call.y].clone()),
            list(&|call| self.numbers[call.x].clone()),
        ];
        inputs::read(&stages.core, 0, &texts)
    }

    fn describe(&self, call: &Call) -> String {
        let (y, x) = (&self.numbers[call.y], &self.numbers[call.x]);
        format!("{} with y = {y}, x = {x}", self.cases[call.case])
    }

    /// Returns a program with an entry for each case alone, which is quick to interpret.
    fn alone(&self) -> Result<nova_core::ir::Program, String> {
        let inputs = format!("((y : {0}) (x : {0}))", self.ty);
        let numbered = self.cases.iter().enumerate();
        let entries = numbered
            .map(|(k, case)| format!("(entry case_{k} {inputs} ({case} : {}))\n", self.result));
        check(&self.name, &entries.collect::<String>())
    }

    /// Returns the result of the interpreter for each call.
    fn expected(&self, calls: &[Call]) -> Result<Vec<Outcome>, String> {
        let core = self.alone()?;
        let options = Evaluation {
            strict: true,
            ..Evaluation::default()
        };
        let numbers: Vec<Vec<Value>> = self
            .numbers
            .iter()
            .map(|number| inputs::read(&core, 0, &[number]))
            .collect();
        let outcome = |call: &Call| {
            let inputs = [call.y, call.x].map(|k| numbers[k][0].clone());
            nova_core::interpret::evaluate(&core, call.case, &inputs, &options).into()
        };
        Ok(calls.iter().map(outcome).collect())
    }

    /// Compares C in each of these ways with the interpreter on all cases. Returns the number of
    /// comparisons, or the first differences.
    pub fn check(&self, ways: &[Way]) -> Result<usize, String> {
        let calls = self.calls();
        let expected = self.expected(&calls)?;
        let pairs = calls.iter().zip(&expected);
        let (good, bad): (Vec<_>, Vec<_>) =
            pairs.partition(|(_, outcome)| matches!(outcome, Outcome::Value(_)));
        let mut compared = 0;
        for way in ways.iter().filter(|way| way.passes.is_present()) {
            let bad: Vec<_> = bad.iter().copied().step_by(way.every).collect();
            let mut differences = self.differences(way, &good, &bad)?;
            if !differences.is_empty() {
                let count = differences.len();
                differences.truncate(8);
                let (name, passes) = (&self.name, way.passes.name());
                let all = differences.join("\n  ");
                return Err(format!("{name}, {passes}, {count} differences: {all}"));
            }
            compared += good.len() + bad.len();
        }
        Ok(compared)
    }

    /// Returns the differences between C and the expected results. Calls that succeed run together,
    /// those that fail one by one.
    fn differences(
        &self,
        way: &Way,
        good: &[(&Call, &Outcome)],
        bad: &[(&Call, &Outcome)],
    ) -> Result<Vec<String>, String> {
        let how = How {
            strict: true,
            passes: way.passes,
            verify: false,
            defect: None,
            tiles: SMALL_TILES,
        };
        let stages = Stages::compile(&self.name, &self.text, how)?;
        let loaded = Loaded::new(&self.name, &stages, way.optimization)?;
        let mut differences = Vec::new();
        let together: Vec<&Call> = good.iter().map(|(call, _)| *call).collect();
        match loaded.call(0, &self.inputs(&stages, &together)) {
            Outcome::Value(Value::Vector(given)) if given.len() == good.len() => {
                for (k, (call, expected)) in good.iter().enumerate() {
                    let given = given.get(k).map(Outcome::Value);
                    if !given.as_ref().is_some_and(|given| given.same(expected)) {
                        let given = given.map_or(String::new(), |given| given.to_string());
                        let call = self.describe(call);
                        let is_of_opencl = matches!(way.passes, Passes::Kernels(_));
                        if is_of_opencl && is_of_pocl(&call) {
                            continue;
                        }
                        differences.push(format!("{call}: {given}, not {expected}"));
                    }
                }
            }
            other => differences.push(format!("all together: {other}")),
        }
        for (call, expected) in bad {
            let given = loaded.call(0, &self.inputs(&stages, &[*call]));
            if !same_error(&given, expected) {
                let call = self.describe(call);
                differences.push(format!("{call}: {given}, not {expected}"));
            }
        }
        Ok(differences)
    }
}

/// True if PoCL 3.1 returns an arbitrary value for a call. Its roundings convert to `int` first,
/// which is undefined for a nan, so that those of a constant nan are folded to inf or 0.
fn is_of_pocl(call: &str) -> bool {
    const ROUNDINGS: [&str; 4] = ["floor", "ceil", "round", "trunc"];
    let rounds = |name: &str| call.starts_with(&format!("({name} ((/ 0.0 0.0)"));
    ROUNDINGS.iter().any(|name| rounds(name))
}

/// True if both are errors of one kind with the same numbers. The places are in two different
/// texts.
fn same_error(a: &Outcome, b: &Outcome) -> bool {
    match (a, b) {
        (Outcome::Error(a), Outcome::Error(b)) => (a.kind, &a.arguments) == (b.kind, &b.arguments),
        (Outcome::Value(_) | Outcome::Error(_) | Outcome::Internal(_), _) => false,
    }
}
