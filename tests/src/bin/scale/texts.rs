//! Texts of programs that grow with a number.

use std::fmt::Write as _;

/// Returns n lets, each the body of the one before.
pub fn nested_lets(n: usize) -> String {
    let mut text = String::from("((x : int))\n");
    for k in 0..n {
        let before = if k == 0 {
            "x".into()
        } else {
            format!("a{}", k - 1)
        };
        let _ = write!(text, "(let (a{k} (+ {before} 1)) in ");
    }
    let _ = write!(text, "a{}{}", n - 1, ")".repeat(n));
    text
}

/// Returns one let of n bindings, each using the two before: about four nodes each.
pub fn statements(n: usize) -> String {
    let mut text = String::from("((x : int) (y : int))\n(let\n");
    for k in 0..n {
        let (a, b) = (name(k, 1), name(k, 2));
        let operation = ["+", "-", "*", "min"][k % 4];
        let _ = writeln!(text, "  (a{k} ({operation} {a} {b}))");
    }
    let _ = writeln!(text, "in a{})", n - 1);
    text
}

/// Returns one let of n bindings, each a conditional on the one before.
pub fn conditionals(n: usize) -> String {
    let mut text = String::from("((x : int) (y : int))\n(let\n");
    for k in 0..n {
        let (a, b) = (name(k, 1), name(k, 2));
        let _ = writeln!(text, "  (a{k} (if (< {a} {b}) (+ {a} {k}) (- {b} {a})))");
    }
    let _ = writeln!(text, "in a{})", n - 1);
    text
}

/// Returns one let of n array operations. Each but the first depends on the two before it, through
/// a sum that keeps them apart.
pub fn operations(n: usize) -> String {
    let mut text = String::from("((x : vector int) (y : vector int))\n(let\n");
    for k in 0..n {
        let _ = match k % 4 {
            0 => writeln!(text, "  (s{k} (reduce + {k} {}))", vector(k, 1)),
            1 => writeln!(
                text,
                "  (a{k} (map (lambda (v w) (+ (* v s{}) w)) {} {}))",
                k - 1,
                vector(k, 2),
                vector(k, 3)
            ),
            2 => writeln!(text, "  (a{k} (scan + {k} {}))", vector(k, 1)),
            _ => writeln!(
                text,
                "  (a{k} (map (lambda (r) (reduce + r {})) {}))",
                vector(k, 1),
                vector(k, 2)
            ),
        };
    }
    let _ = writeln!(text, "in {})", vector(n, 1));
    text
}

/// Returns the vector of [`operations`] that is `back` vectors before the k-th statement, if there
/// are so many.
fn vector(k: usize, back: usize) -> String {
    let before = (0..k).rev().filter(|k| k % 4 != 0).nth(back - 1);
    match before {
        Some(k) => format!("a{k}"),
        None => ["x", "y"][back % 2].to_string(),
    }
}

/// Returns n functions, each calling the one before.
pub fn functions(n: usize) -> String {
    let mut text =
        String::from("((x : int) (y : int))\n(define\n  (f0 (lambda (a : int) (+ a y)))\n");
    for k in 1..n {
        let _ = writeln!(
            text,
            "  (f{k} (lambda (a : int) (if (< a {k}) (f{} (+ a {k})) a)))",
            k - 1
        );
    }
    let _ = writeln!(text, ")\n(f{} x)", n - 1);
    text
}

fn name(k: usize, back: usize) -> String {
    match k.checked_sub(back) {
        Some(k) => format!("a{k}"),
        None => if back == 1 { "x" } else { "y" }.into(),
    }
}
