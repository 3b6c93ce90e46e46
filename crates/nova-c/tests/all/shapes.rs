//! Shapes of code that compilers have limits for, or that C and Loop express differently.

use crate::support::*;
use nova_core::{ErrorKind, Scalar, ScalarOperation as O, ScalarValue};
use nova_loop::ir::{Command, Expression, Program, Variable};

/// A function with one `i64` and an `i64` result.
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

    /// As `check`, but without optimisation: for code that takes compilers long.
    fn check_plainly(self, name: &str, body: Vec<Command>, values: &[(i64, i64)]) {
        let (files, host, expected) = self.host(name, body, values);
        assert_eq!(output_plainly(&[(name, &files)], &host), expected);
    }

    /// The files, a host that calls them, and its expected output.
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

/// Nested conditionals, each with a variable and an `else`, some inside of a loop.
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
    // A division that is not chosen is not computed, even after deep expressions.
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
