//! Operations on scalars, with literals on either side, accumulations, and conversions, none of which
//! can fail.

use crate::conformance::literals::bounds;
use crate::conformance::templates::{Form, Row};
use crate::conformance::types::{Kind, SCALARS, Scalar};

/// Operations on numbers and truth values.
pub const FORMS: &[Row] = &[
    (12, "n", "(+ {n} {n})"),
    (10, "n", "(- {n} {n})"),
    (10, "n", "(* {n} {n})"),
    (4, "n", "(neg {n})"),
    (4, "n", "(abs {n})"),
    (5, "n", "(min {n} {n})"),
    (5, "n", "(max {n} {n})"),
    (6, "i", "(/ {i} (| {i} 1))"),
    (6, "i", "(% {i} (| {i} 1))"),
    (4, "i", "(& {i} {i})"),
    (4, "i", "(| {i} {i})"),
    (4, "i", "(^ {i} {i})"),
    (4, "i", "(~ {i})"),
    (6, "i", "(<< {i} {@shift i})"),
    (6, "i", "(>> {i} {@shift i})"),
    (3, "bool", "(= {n} {n})"),
    (3, "bool", "(~= {n} {n})"),
    (3, "bool", "(< {n} {n})"),
    (3, "bool", "(<= {n} {n})"),
    (3, "bool", "(> {n} {n})"),
    (3, "bool", "(>= {n} {n})"),
    (2, "bool", "(= {bool} {bool})"),
    (2, "bool", "(~= {bool} {bool})"),
    (4, "bool", "(and {bool} {bool})"),
    (4, "bool", "(or {bool} {bool})"),
    (4, "bool", "(not {bool})"),
    (6, "x", "(/ {x} {x})"),
    (2, "x", "(sqrt {x})"),
    (1, "x", "(rsqrt {x})"),
    (1, "x", "(recip {x})"),
    (1, "x", "(exp {x})"),
    (1, "x", "(exp2 {x})"),
    (1, "x", "(log {x})"),
    (1, "x", "(log2 {x})"),
    (1, "x", "(log10 {x})"),
    (1, "x", "(sin {x})"),
    (1, "x", "(cos {x})"),
    (1, "x", "(tan {x})"),
    (1, "x", "(asin {x})"),
    (1, "x", "(acos {x})"),
    (1, "x", "(atan {x})"),
    (1, "x", "(sinh {x})"),
    (1, "x", "(cosh {x})"),
    (1, "x", "(tanh {x})"),
    (1, "x", "(erf {x})"),
    (1, "x", "(pow {x} {x})"),
    (1, "x", "(atan2 {x} {x})"),
    (2, "x", "(floor {x})"),
    (2, "x", "(ceil {x})"),
    (2, "x", "(round {x})"),
    (2, "x", "(trunc {x})"),
    (2, "int", "(to_int (max -1000.0 (min 1000.0 {float})))"),
    (2, "int64", "(to_int64 (max -1e9L (min 1e9L {double})))"),
    (2, "uint8", "(to_uint8 (max 0.0 (min 255.0 {double})))"),
    (2, "x", "(from_int {int})"),
    (2, "x", "(from_bool {bool})"),
    (1, "x", "(from_uint64 {uint64})"),
    (1, "x", "(from_double {double})"),
    (1, "int64", "((from_int16 {int16}) : int64)"),
    (1, "uint16", "((from_uint8 {uint8}) : uint16)"),
];

/// The right operand of an operator: a variable and a literal, as texts for a class.
struct Right {
    variable: &'static str,
    literal: &'static str,
}

const ANY: Right = Right {
    variable: "{c}",
    literal: "{@lit c}",
};
const DIVISOR: Right = Right {
    variable: "(| {c} 1)",
    literal: "(let ($1 {@lit c}) in (if (= $1 0) 3 $1))",
};
const COUNT: Right = Right {
    variable: "{@shift c}",
    literal: "{@shift c}",
};

/// Operators, the class of their operands, and their results. An empty text is the class itself.
const OPERATORS: &[(&str, &str, &str, Right)] = &[
    ("+", "n", "", ANY),
    ("-", "n", "", ANY),
    ("*", "n", "", ANY),
    ("min", "n", "", ANY),
    ("max", "n", "", ANY),
    ("/", "x", "", ANY),
    ("/", "i", "", DIVISOR),
    ("%", "i", "", DIVISOR),
    ("&", "i", "", ANY),
    ("|", "i", "", ANY),
    ("^", "i", "", ANY),
    ("<<", "i", "", COUNT),
    (">>", "i", "", COUNT),
    ("=", "n", "bool", ANY),
    ("~=", "n", "bool", ANY),
    ("<", "n", "bool", ANY),
    ("<=", "n", "bool", ANY),
    (">", "n", "bool", ANY),
    (">=", "n", "bool", ANY),
    ("=", "bool", "bool", ANY),
    ("~=", "bool", "bool", ANY),
    ("and", "bool", "bool", ANY),
    ("or", "bool", "bool", ANY),
];

/// Returns every operator with a literal on the left, on the right, and on both sides.
pub fn with_literals() -> Vec<Form> {
    let mut forms = Vec::new();
    for (operator, class, result, right) in OPERATORS {
        // C determines the type of a shift from its left side alone.
        let often = if operator.len() == 2 && *class == "i" {
            8
        } else {
            3
        };
        let sides = [
            (often, "{@lit c}", right.variable),
            (often, "{c}", right.literal),
            (1, "{@lit c}", right.literal),
        ];
        for (weight, a, b) in sides {
            let text = format!("({operator} {a} {b})")
                .replace("{c}", &format!("{{{class}}}"))
                .replace(" c}", &format!(" {class}}}"));
            let result = if result.is_empty() { class } else { result };
            forms.push(Form::of(weight, result, &text));
        }
    }
    forms
}

/// Returns folds over vectors of constant length, each with comparisons of its value. A literal
/// starts each. There is one for each type of numbers, source of elements, fold and length.
pub fn accumulations() -> Vec<Form> {
    const FOLDS: &[&str] = &[
        "(foldl (lambda ($2 $3) (+ $2 $3)) START ELEMENTS)",
        "(foldl (lambda ($2 $3) (- $2 $3)) START ELEMENTS)",
        "(foldl (lambda ($2 $3) (* $2 $3)) START ELEMENTS)",
        "(foldl (lambda ($2 $3) (+ (* $3 $3) $2)) START ELEMENTS)",
        "(foldl - START ELEMENTS)",
        "(reduce + START ELEMENTS)",
        "(reduce * START ELEMENTS)",
        "((scan + START ELEMENTS) ! (- LENGTH 1))",
    ];
    let mut forms = Vec::new();
    for scalar in SCALARS.iter().filter(|scalar| scalar.kind != Kind::Bool) {
        let name = scalar.name;
        let to = if scalar.is_integer() { "wrap" } else { "to" };
        let elements = [
            format!("(map (lambda ($4) ({to}_{name} (+ {{int}} (* $4 7919)))) (range LENGTH))"),
            format!("(map (lambda ($4) (+ {{{name}}} ({to}_{name} $4))) (range LENGTH))"),
            format!("(replicate LENGTH {{{name}}})"),
        ];
        for (fold, elements) in FOLDS
            .iter()
            .flat_map(|f| elements.iter().map(move |e| (f, e)))
        {
            for (length, start) in ["16", "64", "256"].iter().flat_map(|l| starts(scalar, l)) {
                let text = fold
                    .replace("ELEMENTS", elements)
                    .replace("LENGTH", length)
                    .replace("START", &format!("({start} : <{name}>)"));
                let compared = format!("(<= $1 4), (> {{@lit {name}}} $1)");
                let text = format!("(let ($1 {text}) in ($1, {compared}))");
                forms.push(Form::of(1, &format!("({name}, bool, bool)"), &text));
            }
        }
    }
    forms
}

/// Returns the starts of folds over this many elements: any literal, and literals near the limits,
/// from which C must not conclude that the result stays on one side of zero.
fn starts<'a>(scalar: &Scalar, length: &'a str) -> Vec<(&'a str, String)> {
    let mut starts = vec![format!("{{@lit {}}}", scalar.name)];
    if scalar.is_integer() {
        let (least, most) = bounds(*scalar);
        starts.extend([(least + 3).to_string(), (most - 2).to_string()]);
    }
    starts.into_iter().map(|start| (length, start)).collect()
}

/// Returns conversions of all types: those that wrap, those of `bool`, those to floating and wider
/// types.
pub fn conversions() -> Vec<Form> {
    let mut forms = Vec::new();
    let mut add = |weight, result: &str, text: String| {
        forms.push(Form::of(weight, result, &text));
    };
    for to in SCALARS.iter().filter(|to| to.kind != Kind::Bool) {
        let name = to.name;
        add(1, name, format!("(to_{name} {{bool}})"));
        match to.kind {
            Kind::Float => add(2, name, format!("(to_{name} {{n}})")),
            Kind::Signed | Kind::Unsigned | Kind::Bool => {
                add(4, name, format!("(wrap_{name} {{i}})"));
            }
        }
        for from in &SCALARS {
            let wider = from.is_integer() && to.is_integer() && from.bits < to.bits;
            if wider && (from.kind == Kind::Unsigned || to.kind == Kind::Signed) {
                add(1, name, format!("(to_{name} {{{}}})", from.name));
            }
        }
    }
    forms
}
