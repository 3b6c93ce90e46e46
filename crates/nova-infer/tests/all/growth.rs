//! Large programs. A phase that takes more than linear time or a bounded stack does not end on
//! them.

use crate::common::{check, core, fails};
use std::fmt::Write;

/// Returns a source written by a closure.
fn source(write: impl FnOnce(&mut String)) -> String {
    let mut text = String::new();
    write(&mut text);
    text
}

/// Returns `inner` with `depth` times `head`, `open` and `close` around it.
fn nested(head: &str, open: &str, inner: &str, close: &str, depth: usize) -> String {
    format!("{head}{}{inner}{}", open.repeat(depth), close.repeat(depth))
}

#[test]
fn one_function_of_20_000_dependent_lets() {
    let text = source(|text| {
        text.push_str("((x0 : int))\n(let\n");
        for k in 1..=20_000 {
            let _ = writeln!(text, "  (x{k} (+ x{} {}))", k - 1, k % 7);
        }
        text.push_str("in x20000)");
    });
    core(&text);
}

#[test]
fn lets_nested_10_000_deep_in_bodies() {
    let text = source(|text| {
        text.push_str("((x0 : int)) ");
        for k in 1..=10_000 {
            let _ = write!(text, "(let (x{k} (+ x{} 1)) in ", k - 1);
        }
        text.push_str("x10000");
        text.push_str(&")".repeat(10_000));
    });
    core(&text);
}

#[test]
fn lets_nested_10_000_deep_in_values() {
    let text = nested("((y : int)) ", "(let (x ", "y", ") in (+ x 1))", 10_000);
    core(&text);
}

#[test]
fn functions_nested_10_000_deep_in_values() {
    let text = nested(
        "((y : int)) (",
        "(let (f (lambda (v) (+ v y)))\n (g ",
        "(lambda (w) w)",
        ") in (lambda (x) (f (g x))))",
        2_000,
    ) + " 1)";
    core(&text);
}

#[test]
fn generalised_functions_that_use_each_other() {
    let text = source(|text| {
        text.push_str("((x : int) (z : float))\n(let (f0 (lambda (v) (+ v 1)))\n");
        for k in 1..=10_000 {
            let _ = writeln!(text, "  (f{k} (lambda (v) (f{} (+ v {}))))", k - 1, k % 5);
        }
        text.push_str("in ((f10000 x), (f10000 z)))");
    });
    let program = core(&text);
    assert!(program.arena.len() < 400_000);
}

#[test]
fn definitions_that_use_each_other() {
    let text = source(|text| {
        text.push_str("((x : int))\n(define (f0 (lambda (v) (+ v 1)))\n");
        for k in 1..=10_000 {
            let _ = writeln!(text, "  (f{k} (lambda (v) (f{} (f{} v))))", k - 1, k / 2);
        }
        text.push_str(") (f10000 x)");
    });
    core(&text);
}

#[test]
fn definitions_in_one_recursive_group() {
    let text = source(|text| {
        text.push_str("((x : int))\n(define\n");
        for k in 0..5_000 {
            let next = (k + 1) % 5_000;
            let _ = writeln!(
                text,
                "  (f{k} (lambda (v) (if (< v 0) v (f{next} (- v 1)))))"
            );
        }
        text.push_str(") (f0 x)");
    });
    core(&text);
}

#[test]
fn expressions_of_100_000_nodes_in_depth_and_breadth() {
    core(&nested("((x : float)) ", "(+ 1 ", "x", ")", 50_000));
    core(&nested(
        "((x : float)) ",
        "(if (< x 1) 2 ",
        "x",
        ")",
        25_000,
    ));
    core(&nested(
        "((x : int)) ",
        "((lambda (y) (+ y 1)) ",
        "x",
        ")",
        15_000,
    ));
    let elements = "(+ x 1) ".repeat(30_000);
    core(&format!("((x : int)) [{elements}]"));
}

#[test]
fn deep_types() {
    let ty = nested("", "vector (", "int", ")", 5_000);
    core(&format!("((x : {ty})) (let (f (lambda (y) y)) in (f x))"));
    let text = nested("((x : int)) ", "(x, ", "x", ")", 5_000);
    core(&text);
    let lambda = nested("((x : int)) (let (f ", "(lambda (y) ", "y", ")", 2_000) + ") in x)";
    core(&lambda);
}

#[test]
fn curried_applications_nested_deep() {
    let types = "int -> ".repeat(3_000);
    let text = nested(
        &format!("((x : int)) (define (g (mu (f : {types} int) (lambda (a) (f a))))) "),
        "(",
        "g",
        " x)",
        3_000,
    );
    let outcome = check(&text);
    assert_eq!(outcome.errors(), [0u16; 0], "{}", outcome.messages());
}

#[test]
fn many_waiting_projections() {
    let text = source(|text| {
        text.push_str("((X : vector (int, int))) (map (lambda (p) (let\n");
        for k in 0..10_000 {
            let _ = writeln!(text, "  (x{k} (+ p.0 p.1))");
        }
        text.push_str("in x9999)) X)");
    });
    core(&text);
    // The parameter of an outer function is read in many inner functions.
    let text = source(|text| {
        text.push_str("((X : vector (int, int))) (map (lambda (p) (let\n");
        for k in 0..3_000 {
            let _ = writeln!(text, "  (f{k} (lambda (y) (+ y p.{})))", k % 2);
        }
        text.push_str("in (f2999 1))) X)");
    });
    core(&text);
}

#[test]
fn many_errors() {
    let text = source(|text| {
        text.push_str("((x : int)) [");
        for k in 0..5_000 {
            let _ = writeln!(text, "(+ x (unknown{k} true))");
        }
        text.push(']');
    });
    assert_eq!(check(&text).errors().len(), 5_000);
}

#[test]
fn types_that_double_are_shared_or_refused() {
    // Every binding's type is twice the size of the one before.
    let text = source(|text| {
        text.push_str("((x0 : int)) (let\n");
        for k in 1..=12 {
            let _ = writeln!(text, "  (x{k} (x{0}, x{0}))", k - 1);
        }
        text.push_str("in (length [x12]))");
    });
    core(&text);
    let text = source(|text| {
        text.push_str("() (let (f0 (lambda (x) (x, x)))\n");
        for k in 1..=6 {
            let _ = writeln!(text, "  (f{k} (lambda (x) (f{0} (f{0} x))))", k - 1);
        }
        text.push_str("in (length [(f6 1)]))");
    });
    fails(&text, &[302]);
}

/// A program of a family at a number of levels, and true if it is refused for its size at 25.
type Family = (&'static str, bool, fn(usize) -> String);

/// Returns `first`, then one line for each level.
fn levels(first: &str, count: usize, line: impl Fn(usize) -> String) -> String {
    (1..=count).fold(first.to_string(), |text, k| text + &line(k))
}

/// Programs in which something doubles with every line.
const FAMILIES: &[Family] = &[
    ("tuples", true, |n| {
        let lets = levels("", n, |k| format!("(x{k} (x{0}, x{0}))\n", k - 1));
        format!("((x0 : int)) (let {lets} in 1)")
    }),
    ("tuples of nothing", true, |n| {
        let lets = levels("(x0 nil)", n, |k| format!("(x{k} (x{0}, x{0}))\n", k - 1));
        format!("() (let {lets} in x{n})")
    }),
    ("vectors of tuples", true, |n| {
        let lets = levels("", n, |k| format!("(x{k} (zip x{0} x{0}))\n", k - 1));
        format!("((x0 : vector int)) (let {lets} in (length x{n}))")
    }),
    ("sums with arguments", true, |n| {
        let lets = levels("", n, |k| format!("(x{k} (Two (x{0}, x{0})))\n", k - 1));
        format!("(types (S 'a : (+ (One : 'a) (Two : ('a, 'a))))) ((x0 : int)) (let {lets} in 1)")
    }),
    ("synonyms", true, |n| {
        let types = levels("(A0 : int)", n, |k| {
            format!("(A{k} : (A{0}, A{0}))\n", k - 1)
        });
        format!("(types {types}) ((a : int)) (foreign (g : A{n} -> int)) a")
    }),
    ("synonyms with parameters", true, |n| {
        let types = levels("(A0 'a : ('a, 'a))", n, |k| {
            format!("(A{k} 'a : (A{0} (A{0} 'a)))\n", k - 1)
        });
        format!("(types {types}) ((a : int)) (let (f (lambda (x : (A{n} int)) x)) in a)")
    }),
    ("sums of sums", true, |n| {
        let types = levels("(A0 : (+ (C0 : int)))", n, |k| {
            format!("(A{k} : (+ (C{k} : (A{0}, A{0}))))\n", k - 1)
        });
        format!("(types {types}) ((a : A{n})) 1")
    }),
    ("instances of sums", true, |n| {
        let types = levels("(A0 'a 'b : (+ (C0 : 'a)))", n, |k| {
            let (left, right) = ("('a, 'b) 'b", "'a ('b, 'a)");
            format!(
                "(A{k} 'a 'b : (+ (C{k} : ((A{0} {left}), (A{0} {right})))))\n",
                k - 1
            )
        });
        format!("(types {types}) ((a : (A{n} int float))) 1")
    }),
    ("links of recursive sums", false, |n| {
        let types = levels("", n, |k| {
            let next = k % n;
            format!(
                "(A{0} : (+ (N{0} : unit) (C{0} : (A{next}, A{next}))))\n",
                k - 1
            )
        });
        format!("(types {types}) ((a : A0)) 1")
    }),
    ("lambdas of tuples", true, |n| {
        let lets = levels("(f0 (lambda (x) 1))", n, |k| {
            format!("(f{k} (lambda (x) (f{} (x, x))))\n", k - 1)
        });
        format!("((a : int)) (let {lets} in (f{n} a))")
    }),
    ("generalised functions applied twice", true, |n| {
        let lets = levels("(f0 (lambda (x) (x, x)))", n, |k| {
            format!("(f{k} (lambda (x) (f{0} (f{0} x))))\n", k - 1)
        });
        format!("((a : int)) (let {lets} in ((lambda (y) 1) (f{n} a)))")
    }),
    ("instances of functions", true, |n| {
        let lets = levels("(f0 (lambda (x) x))", n, |k| {
            format!(
                "(f{k} (lambda (x) (let (u (f{0} (x, 1))) (v (f{0} (1, x))) in x)))\n",
                k - 1
            )
        });
        format!("((a : int)) (let {lets} in (f{n} a))")
    }),
    ("calls", false, |n| {
        let lets = levels("(f0 (lambda (x) (+ x 1)))", n, |k| {
            format!("(f{k} (lambda (x) (+ (f{0} x) (f{0} (* x 2)))))\n", k - 1)
        });
        format!("((a : int)) (let {lets} in (f{n} a))")
    }),
];

#[test]
fn what_doubles_with_every_line_is_shared_or_refused() {
    for (name, refused, program) in FAMILIES {
        for count in [25, 60] {
            let start = std::time::Instant::now();
            let outcome = check(&program(count));
            let expected: &[u16] = if *refused { &[302] } else { &[] };
            assert_eq!(outcome.errors(), expected, "{name}\n{}", outcome.messages());
            // The limit is far above the usual time. A program that doubles 25 times takes minutes.
            let seconds = start.elapsed().as_secs_f64();
            assert!(
                seconds < 20.0,
                "{name} at {count} levels takes {seconds:.1} s"
            );
            assert!(outcome.messages().len() < 10_000, "{name}");
        }
        // Small programs are accepted.
        assert_eq!(check(&program(3)).errors(), [0u16; 0], "{name}");
    }
}

#[test]
fn wrong_programs_in_which_types_double_are_refused_at_once() {
    // Each family again, with an error at its end that shows the largest type.
    let families: [fn(usize) -> String; 4] = [
        |n| {
            let lets = levels("(x0 (lambda (y z) (z y y)))", n, |k| {
                format!("(x{k} (lambda (y) (x{0} (x{0} y))))\n", k - 1)
            });
            format!("((a : int)) (let {lets} in (x{n} (lambda (z) z) (lambda (z w) 1)))")
        },
        |n| {
            let lets = levels("", n, |k| format!("(x{k} (x{0}, x{0}))\n", k - 1));
            format!("((x0 : int)) (let {lets} in (+ 1 x{n}))")
        },
        |n| {
            let lets = levels("(f0 (lambda (x) x))", n, |k| {
                format!("(f{k} (lambda (x) (f{} (x, x))))\n", k - 1)
            });
            format!("((a : int)) (let {lets} in (+ 1 (f{n} a)))")
        },
        |n| {
            let lets = levels("(x0 [1])", n, |k| format!("(x{k} [(x{0}, x{0})])\n", k - 1));
            format!("() (let {lets} in (if x{n} then 1 else 2))")
        },
    ];
    for program in families {
        for count in [25, 60] {
            let start = std::time::Instant::now();
            let outcome = check(&program(count));
            assert_eq!(outcome.errors().len(), 1, "{}", outcome.messages());
            assert!(outcome.messages().len() < 10_000);
            assert!(start.elapsed().as_secs_f64() < 20.0);
        }
    }
}
