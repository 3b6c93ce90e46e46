//! Every scalar operation, on every pair of interesting numbers, against the table of meanings.

use crate::support::*;
use nova_core::{Scalar, ScalarOperation as O, ScalarValue};
use nova_loop::ir::{Program, Variable};

#[test]
fn operations_by_two_compilers() {
    use Scalar::*;
    exact(&[I8, U16, I32, U64, F32, Bool], true);
}

#[test]
fn operations_by_two_others() {
    use Scalar::*;
    exact(&[U8, I16, U32, I64, F64], false);
}

/// Tests every operation on every pair of interesting numbers against the table of meanings. The
/// program is strict, since otherwise either zero may be the minimum of both.
fn exact(scalars: &[Scalar], first_two: bool) {
    let mut program = Program {
        strict: true,
        ..Program::default()
    };
    let mut host = String::from(
        "#include \"operations.h\"\n#include <math.h>\n#include <stdio.h>\n\
         #define NEVER_INLINED __attribute__((noinline))\n",
    );
    let (mut checks, mut calls) = (String::new(), String::new());
    let mut what = Vec::new();
    let mut expected = String::new();
    for &operand in scalars {
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
            // There is a function for each operation: compilers take ten times as long for a single
            // one.
            checks += &format!("NEVER_INLINED static void check_{name}(void)\n{{\n");
            calls += &format!("    check_{name}();\n");
            let count = columns[0].len();
            let mut list = String::new();
            for (k, column) in columns.iter().enumerate() {
                let values = column.join(", ");
                checks += &format!(
                    "    static const {} x{k}[] = {{{values}}};\n",
                    c_type(operand)
                );
                list += &format!(", x{k}[i]");
            }
            let result = c_type(op.result(operand));
            checks += &format!(
                "    for (int i = 0; i < {count}; i++) {{\n        {result} r;\n        \
                 {name}(&r{list});\n        show((double)r);\n    }}\n}}\n"
            );
        }
    }
    host += "static void show(double r)\n{\n    if (r != r)\n        printf(\"nan\\n\");\n    else\n        \
             printf(\"%.9g%s\\n\", r, r == 0 && signbit(r) ? \" -\" : \"\");\n}\n";
    host += &checks;
    host += "int main(void)\n{\n";
    host += &calls;
    host += "    return 0;\n}\n";
    let files = emit(&program, "operations");
    let text = output_of_two(&[("operations", &files)], &host, first_two);
    compare_numbers(&text, &expected, &what);
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

/// A value as a double, as text for comparisons.
fn shown(value: ScalarValue) -> String {
    let v = match value {
        ScalarValue::F32(v) => f64::from(v),
        ScalarValue::F64(v) => v,
        ScalarValue::Bool(v) => f64::from(u8::from(v)),
        other => other.as_integer().unwrap_or(0) as f64,
    };
    format!("{v:?}\n")
}

/// Compares numbers that were printed with nine digits and the sign of zeros.
fn compare_numbers(text: &str, expected: &str, what: &[String]) {
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

/// Tests the mathematical functions, which are not exact, on some numbers.
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
    // Where the order is free, compilers may have another exponential, right to one unit in the last place.
    let digits = if strict { 17 } else { 14 };
    let host = format!(
        "#include \"{name}.h\"\n#include <math.h>\n#include <stdio.h>\n\
         static void show(double r)\n{{\n    printf(\"%.{digits}g\\n\", r);\n}}\nint main(void)\n{{\n{calls}    return 0;\n}}\n"
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
