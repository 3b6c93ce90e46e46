//! Shapes of code that compilers have limits for, or that C and Loop say differently.

use crate::support::*;
use nova_core::{ErrorKind, Scalar, ScalarOperation as O, ScalarValue};
use nova_loop::ir::{Command, Expression, Program, Variable};

/// A function of one `i64` with its result.
struct Simple {
    program: Program,
    n: Variable,
    r: Variable,
}

fn simple() -> Simple {
    let mut program = Program::default();
    let n = program.add_variable("n", I64);
    let r = program.add_variable("r", I64);
    Simple { program, n, r }
}

impl Simple {
    fn fresh(&mut self, name: &str) -> Variable {
        self.program.add_variable(name, I64)
    }

    /// Compiles with all compilers and checks values of the function.
    fn check(self, name: &str, body: Vec<Command>, values: &[(i64, i64)]) {
        let (files, host, expected) = self.host(name, body, values);
        compiles(&files, name);
        prints(&[(name, &files)], &host, &expected);
    }

    /// As `check`, for what takes compilers long: without optimisation.
    fn check_plainly(self, name: &str, body: Vec<Command>, values: &[(i64, i64)]) {
        let (files, host, expected) = self.host(name, body, values);
        assert_eq!(output_plainly(&[(name, &files)], &host), expected);
    }

    /// The files, a host that calls them, and what it is to print.
    fn host(
        mut self,
        name: &str,
        body: Vec<Command>,
        values: &[(i64, i64)],
    ) -> (nova_c::Files, String, String) {
        let f = function(&mut self.program, name, vec![self.n], vec![self.r], body);
        let int64 = scalar(Scalar::I64);
        entry(
            &mut self.program,
            name,
            vec![("n", int64.clone())],
            int64,
            f,
        );
        let files = emit(&self.program, name);
        let mut host = format!(
            "#include \"{name}.h\"\n#include <stdio.h>\nint main(void)\n{{\n    int64_t r = 0;\n"
        );
        let mut expected = String::new();
        for (n, r) in values {
            host += &format!("    {name}(&r, {n});\n    printf(\"%lld\\n\", (long long)r);\n");
            expected += &format!("{r}\n");
        }
        host += "    return 0;\n}\n";
        (files, host, expected)
    }
}

#[test]
fn many_statements() {
    let mut s = simple();
    let mut body = vec![assign(s.r, int(0))];
    let mut r = 0i64;
    for k in 0..20_000 {
        let x = s.fresh("x");
        body.push(declare(x, plus(var(s.r), int(k))));
        body.push(assign(
            s.r,
            binary(O::BitXor, Scalar::I64, var(x), var(s.n)),
        ));
        r = (r + k) ^ 5;
    }
    s.check_plainly("many", body, &[(5, r)]);
}

/// A conditional in a conditional …, each with a variable, an `else` and a loop now and then.
fn nest(s: &mut Simple, depth: i64) -> Vec<Command> {
    let mut body = vec![assign(s.r, int(depth))];
    for k in (0..depth).rev() {
        let x = s.fresh("x");
        let inside = match k % 8 {
            0 => {
                let i = s.fresh("i");
                let c = equal(var(i), int(1));
                vec![each(i, plus(var(s.n), int(2)), vec![when(c, body, vec![])])]
            }
            4 => {
                body.push(Command::Break);
                vec![repeat(body)]
            }
            _ => body,
        };
        body = vec![
            declare(x, plus(var(s.n), int(0))),
            when(less(int(k), var(x)), inside, vec![assign(s.r, int(k))]),
        ];
    }
    body
}

#[test]
fn deep_conditionals() {
    let mut s = simple();
    let mut body = vec![assign(s.r, int(0))];
    body.extend(nest(&mut s, 150));
    let values = [
        (0, 0),
        (1, 1),
        (7, 7),
        (100, 100),
        (149, 149),
        (150, 150),
        (999, 150),
    ];
    s.check("nested", body, &values);
}

#[test]
fn very_deep_conditionals() {
    let s = simple();
    let mut body = vec![assign(s.r, int(10_000))];
    for k in (0..10_000).rev() {
        body = vec![when(
            less(int(k), var(s.n)),
            body,
            vec![assign(s.r, int(k))],
        )];
    }
    s.check_plainly("very", body, &[(0, 0), (5000, 5000), (20000, 10000)]);
}

#[test]
fn deep_expressions() {
    let s = simple();
    let (mut left, mut right, mut and, mut chosen) = (int(0), int(0), truth(true), int(0));
    for k in 0..3_000 {
        left = plus(left, var(s.n));
        right = minus(var(s.n), right);
        let c = less(var(s.n), int(10_000 - k));
        and = if k % 2 == 0 {
            select(c.clone(), and, truth(false))
        } else {
            select(
                binary(O::Less, Scalar::I64, int(k + 5000), var(s.n)),
                truth(true),
                and,
            )
        };
        chosen = select(equal(var(s.n), int(k)), int(k), chosen);
    }
    let all = plus(plus(left, right), chosen);
    let body = vec![
        assign(s.r, all),
        when(and, vec![], vec![assign(s.r, int(-1))]),
    ];
    s.check_plainly("deepest", body, &[(1, 3001), (2, 6002), (7_500, -1)]);
}

#[test]
fn loops_and_switches() {
    let mut s = simple();
    let (i, tag) = (s.fresh("i"), s.program.add_variable("tag", I32));
    let three = binary(O::Remainder, Scalar::I64, var(i), int(3));
    let body = vec![
        assign(s.r, int(0)),
        declare(i, int(0)),
        repeat(vec![
            when(equal(var(i), int(50)), vec![Command::Break], vec![]),
            assign(i, plus(var(i), int(1))),
            declare(
                tag,
                operation(O::Convert(Scalar::I32), Scalar::I64, vec![three]),
            ),
            Command::Switch {
                scrutinee: var(tag),
                cases: vec![
                    vec![Command::Continue],
                    vec![assign(s.r, plus(var(s.r), var(i)))],
                    vec![
                        when(less(var(s.n), var(i)), vec![Command::Break], vec![]),
                        assign(s.r, plus(var(s.r), int(1000))),
                    ],
                ],
            },
        ]),
    ];
    let value = |n: i64| {
        let (mut r, mut i) = (0, 0);
        while i != 50 {
            i += 1;
            match i % 3 {
                0 => continue,
                1 => r += i,
                _ if n < i => break,
                _ => r += 1000,
            }
        }
        r
    };
    let values = [0, 5, 100].map(|n| (n, value(n)));
    s.check("loops", body, &values);
}

#[test]
fn laziness() {
    // Not chosen, not computed: a division, behind deep expressions too.
    let s = simple();
    let quotient = binary(O::Divide, Scalar::I64, int(100), var(s.n));
    let mut deep = quotient.clone();
    for _ in 0..60 {
        deep = plus(deep, int(1));
    }
    let zero = equal(var(s.n), int(0));
    let body = vec![assign(
        s.r,
        select(
            zero.clone(),
            int(-5),
            select(less(int(50), deep.clone()), deep, quotient),
        ),
    )];
    s.check("lazy", body, &[(0, -5), (4, 85), (-100, 59), (-2, -50)]);
}

#[test]
fn integer_operations() {
    // Every operation on every pair of interesting numbers, against the table of meanings; strict,
    // since otherwise either zero may be the minimum of both.
    let mut program = Program {
        strict: true,
        ..Program::default()
    };
    let scalars = [
        Scalar::I8,
        Scalar::I16,
        Scalar::I32,
        Scalar::I64,
        Scalar::U8,
        Scalar::U16,
        Scalar::U32,
        Scalar::U64,
        Scalar::F32,
        Scalar::F64,
        Scalar::Bool,
    ];
    let mut host =
        String::from("#include \"operations.h\"\n#include <math.h>\n#include <stdio.h>\n");
    let mut calls = String::new();
    let mut what = Vec::new();
    let mut expected = String::new();
    for operand in scalars {
        for (name, op) in operations(operand) {
            add_operation(&mut program, operand, &name, op);
            let mut columns = vec![Vec::new(); op.arity()];
            for arguments in arguments(operand, op) {
                let Ok(value) = nova_core::operations::evaluate(op, &arguments, true) else {
                    continue;
                };
                for (column, argument) in columns.iter_mut().zip(&arguments) {
                    column.push(c_text(*argument));
                }
                what.push(format!("{name} {arguments:?}"));
                expected += &shown(value);
            }
            let c_type = |scalar: Scalar| match scalar {
                Scalar::Bool => "int",
                other => other.info().c_type,
            };
            calls += "    {\n";
            let count = columns[0].len();
            let mut list = String::new();
            for (k, column) in columns.iter().enumerate() {
                let values = column.join(", ");
                calls += &format!(
                    "        static const {} x{k}[] = {{{values}}};\n",
                    c_type(operand)
                );
                list += &format!(", x{k}[i]");
            }
            let result = c_type(op.result(operand));
            calls += &format!(
                "        for (int i = 0; i < {count}; i++) {{\n            {result} r;\n            \
                 {name}(&r{list});\n            show((double)r);\n        }}\n    }}\n"
            );
        }
    }
    host += "static void show(double r)\n{\n    if (r != r)\n        printf(\"nan\\n\");\n    else\n        \
             printf(\"%.9g%s\\n\", r, r == 0 && signbit(r) ? \" -\" : \"\");\n}\nint main(void)\n{\n";
    host += &calls;
    host += "    return 0;\n}\n";
    let files = emit(&program, "operations");
    prints_numbers(&files, "operations", &host, &expected, &what);
}

fn operations(operand: Scalar) -> Vec<(String, O)> {
    let table = nova_core::builtin::SCALAR_OPERATIONS;
    let exact = |op: O| {
        !matches!(
            op,
            O::Exp
                | O::Exp2
                | O::Log
                | O::Log2
                | O::Log10
                | O::Sin
                | O::Cos
                | O::Tan
                | O::Asin
                | O::Acos
                | O::Atan
                | O::Sinh
                | O::Cosh
                | O::Tanh
                | O::Pow
                | O::Atan2
                | O::Erf
        )
    };
    let mut list: Vec<O> = table
        .iter()
        .filter(|info| info.class.contains(operand) && exact(info.operation))
        .map(|info| info.operation)
        .collect();
    for to in nova_core::scalar::SCALARS {
        list.push(O::Convert(to.scalar));
        list.push(O::Fits(to.scalar));
        if to.scalar.is_integer() && operand != Scalar::Bool {
            list.push(O::Wrap(to.scalar));
        }
    }
    let name = |op: O| format!("{}_{}", operand.info().short, op.short().replace('.', "_"));
    list.into_iter().map(|op| (name(op), op)).collect()
}

fn add_operation(program: &mut Program, operand: Scalar, name: &str, op: O) {
    let parameters: Vec<Variable> = (0..op.arity())
        .map(|_| program.add_variable("x", nova_loop::ir::Type::Scalar(operand)))
        .collect();
    let result = op.result(operand);
    let r = program.add_variable("r", nova_loop::ir::Type::Scalar(result));
    let arguments = parameters.iter().map(|p| var(*p)).collect();
    let body = vec![assign(r, operation(op, operand, arguments))];
    let inputs = ["a", "b"].into_iter().take(op.arity());
    let inputs = inputs.map(|n| (n, scalar(operand))).collect();
    let f = function(program, name, parameters, vec![r], body);
    entry(program, name, inputs, scalar(result), f);
}

fn samples(operand: Scalar) -> Vec<ScalarValue> {
    let wrap = |v: i128| ScalarValue::from_integer_wrapping(operand, v);
    match operand {
        Scalar::Bool => vec![ScalarValue::Bool(false), ScalarValue::Bool(true)],
        Scalar::F32 => [
            0.0,
            -0.0,
            1.5,
            -2.5,
            f32::NAN,
            f32::INFINITY,
            3e9,
            -1e20,
            127.9,
            255.5,
        ]
        .map(ScalarValue::F32)
        .to_vec(),
        Scalar::F64 => [
            0.0,
            -0.0,
            1.5,
            -2.5,
            f64::NAN,
            f64::INFINITY,
            3e9,
            -1e20,
            2147483647.5,
            -128.5,
        ]
        .map(ScalarValue::F64)
        .to_vec(),
        integer => {
            let bits = integer.bits();
            let mut all = vec![
                0,
                1,
                7,
                -1,
                100,
                (1 << (bits - 1)) - 1,
                1 << (bits - 1),
                i128::from(bits) - 1,
            ];
            all.sort();
            all.into_iter().map(wrap).collect()
        }
    }
}

fn arguments(operand: Scalar, op: O) -> Vec<Vec<ScalarValue>> {
    let samples = samples(operand);
    if op.arity() == 1 {
        return samples.into_iter().map(|a| vec![a]).collect();
    }
    let pairs = samples
        .iter()
        .flat_map(|a| samples.iter().map(|b| vec![*a, *b]));
    pairs.collect()
}

fn c_text(value: ScalarValue) -> String {
    match value {
        ScalarValue::I64(i64::MIN) => "INT64_MIN".into(),
        ScalarValue::I64(v) => format!("INT64_C({v})"),
        ScalarValue::U64(v) => format!("UINT64_C({v})"),
        ScalarValue::I32(i32::MIN) => "INT32_MIN".into(),
        ScalarValue::F32(v) => float_text(f64::from(v)),
        ScalarValue::F64(v) => float_text(v),
        ScalarValue::Bool(v) => i32::from(v).to_string(),
        other => other.as_integer().unwrap_or(0).to_string(),
    }
}

fn float_text(v: f64) -> String {
    if v.is_nan() {
        "NAN".into()
    } else if v.is_infinite() {
        "INFINITY".into()
    } else {
        format!("{v:?}")
    }
}

/// A value as a double, printed so that it can be compared.
fn shown(value: ScalarValue) -> String {
    let v = match value {
        ScalarValue::F32(v) => f64::from(v),
        ScalarValue::F64(v) => v,
        ScalarValue::Bool(v) => f64::from(u8::from(v)),
        other => other.as_integer().unwrap_or(0) as f64,
    };
    format!("{v:?}\n")
}

/// As `prints`, comparing numbers to nine digits and the sign of zeros.
fn prints_numbers(files: &nova_c::Files, name: &str, host: &str, expected: &str, what: &[String]) {
    let text = output(&[(name, files)], host);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), expected.lines().count());
    for (k, (line, wanted)) in lines.iter().zip(expected.lines()).enumerate() {
        let wanted: f64 = wanted.parse().expect("a number");
        let negative_zero = line.ends_with(" -");
        let value: f64 = line.trim_end_matches(" -").parse().expect("a number");
        let same = value == wanted
            || (value.is_nan() && wanted.is_nan())
            || (value - wanted).abs() <= wanted.abs() * 1e-8;
        let zero = wanted == 0.0 && wanted.is_sign_negative();
        assert!(
            same && (value != 0.0 || negative_zero == zero),
            "{line} for {wanted}: {}",
            what[k]
        );
    }
}

/// The mathematical functions, which are not exact, on some numbers.
fn inexact(strict: bool) {
    let mut program = Program {
        strict,
        ..Program::default()
    };
    let samples: [f64; 8] = [0.0, -0.5, 0.75, 1.0, 2.5, -30.0, 1e10, f64::INFINITY];
    let name = if strict { "strict" } else { "loose" };
    let mut calls = String::new();
    let mut expected = Vec::new();
    for operand in [Scalar::F32, Scalar::F64] {
        for info in nova_core::builtin::SCALAR_OPERATIONS {
            let op = info.operation;
            if info.class != nova_core::builtin::Class::Floating {
                continue;
            }
            let function = format!("{}_{}", operand.info().short, info.short);
            add_operation(&mut program, operand, &function, op);
            for a in samples {
                let make = |v: f64| match operand {
                    Scalar::F32 => ScalarValue::F32(v as f32),
                    _ => ScalarValue::F64(v),
                };
                let arguments: Vec<ScalarValue> =
                    [a, 1.5].into_iter().take(info.arity).map(make).collect();
                let value = nova_core::operations::evaluate_unchecked(op, &arguments, strict);
                let list: Vec<String> = arguments.iter().map(|v| c_text(*v)).collect();
                let c_type = operand.info().c_type;
                let list = list.join(", ");
                calls +=
                    &format!("    {{ {c_type} r; {function}(&r, {list}); show((double)r); }}\n");
                expected.push((value, format!("{function} {arguments:?}")));
            }
        }
    }
    let host = format!(
        "#include \"{name}.h\"\n#include <math.h>\n#include <stdio.h>\n\
         static void show(double r)\n{{\n    printf(\"%.17g\\n\", r);\n}}\nint main(void)\n{{\n{calls}    return 0;\n}}\n"
    );
    let files = emit(&program, name);
    let text = output_plainly(&[(name, &files)], &host);
    assert_eq!(text.lines().count(), expected.len());
    for (line, (value, what)) in text.lines().zip(expected) {
        let found: f64 = line.parse().expect("a number");
        let wanted = match value {
            ScalarValue::F32(v) => f64::from(v),
            ScalarValue::F64(v) => v,
            _ => continue,
        };
        let exact = found == wanted || (found.is_nan() && wanted.is_nan());
        let close = (found - wanted).abs() <= wanted.abs() * 1e-5 + 1e-9;
        assert!(exact || (!strict && close), "{what}: {found} for {wanted}");
    }
}

#[test]
fn strict_functions() {
    inexact(true);
}

#[test]
fn functions_of_the_library() {
    inexact(false);
}

#[test]
fn lengths_differ_in_all_integer_types() {
    // Arguments of errors are numbers of any type.
    let mut s = simple();
    let byte = s
        .program
        .add_variable("byte", nova_loop::ir::Type::Scalar(Scalar::U8));
    let body = vec![
        declare(
            byte,
            operation(O::Wrap(Scalar::U8), Scalar::I64, vec![var(s.n)]),
        ),
        check(
            Expression::Scalar {
                operation: O::GreaterEqual,
                operand: Scalar::U8,
                arguments: vec![var(byte), constant(ScalarValue::U8(0))],
            },
            ErrorKind::Negative,
            vec![operation(
                O::Multiply,
                Scalar::U8,
                vec![var(byte), var(byte)],
            )],
        ),
        assign(
            s.r,
            operation(O::Convert(Scalar::I64), Scalar::U8, vec![var(byte)]),
        ),
    ];
    s.check("bytes", body, &[(3, 3), (257, 1)]);
}
