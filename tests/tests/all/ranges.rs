//! Tests of indices from a `range`. An index is an `int64` for the compiler, also where a program
//! takes it from a `range` of `int`, whose elements are narrower. Its reads must be like those with
//! the index of a `tabulate`, since passes that inspect indices, such as that for tiles of
//! products, would not recognise them otherwise.

use nova_driver::{Stage, Target};
use nova_tests::programs::{How, emit};

/// Values of an index, with EACH where a map over a range or a `tabulate` may stand.
const FORMS: [&str; 7] = [
    "(EACH (lambda (i) (X ! i)))",
    "(EACH (lambda (i) (X ! (- n (+ i 1)))))",
    "(EACH (lambda (i) (X ! (max 0 (- i 1)))))",
    "(reduce + 0.0 (EACH (lambda (i) (* (X ! i) (Y ! i)))))",
    "(scan + 0.0 (EACH (lambda (i) (X ! i))))",
    "(filter (> 0.5) (EACH (lambda (i) (X ! i))))",
    "(EACH (lambda (i) (reduce + 0.0 (EACH (lambda (j) (* (X ! i) (Y ! j)))))))",
];

/// Counts the conversions of integers in a program.
fn conversions(text: &str) -> usize {
    let flat = emit(text, Target::Sequential, How::usual(true), Stage::Flat);
    flat.matches("(wrap.").count() + flat.matches("(convert.").count()
}

#[test]
fn elements_of_ranges_are_indices() {
    for form in FORMS {
        for ty in ["int", "int64"] {
            let both = ["(map WHAT (range n))", "(tabulate n WHAT)"].map(|each| {
                let value = substituted(form, each);
                conversions(&format!(
                    "((X : vector float) (Y : vector float))
                     (let (n ((length X) : {ty})) in
                       (if (= (length X) (length Y)) then {value} else {value}))"
                ))
            });
            assert_eq!(both[0], both[1], "{form} with {ty}");
        }
    }
}

/// Returns a form with each `(EACH F)` written as `each` with F for WHAT, inner ones first.
fn substituted(form: &str, each: &str) -> String {
    let mut text = form.to_string();
    while let Some(start) = text.rfind("(EACH ") {
        let mut depth = 0;
        let length = text[start..].find(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth == 0
        });
        let end = start + length.expect("a closed form");
        let operator = text[start + "(EACH ".len()..end].to_string();
        text.replace_range(start..=end, &each.replace("WHAT", &operator));
    }
    text
}

/// Tests that all notations of a product of matrices have the same loops.
#[test]
fn products_have_the_same_loops() {
    let terms = "(lambda (l) (* (A ! (i, l)) (B ! (l, j))))";
    let forms = [
        format!("(reduce + 0.0 (tabulate k {terms}))"),
        format!("(reduce + 0.0 (map {terms} (range k)))"),
        format!("(let (term {terms}) in (reduce + 0.0 (map (lambda (l) (term l)) (range k))))"),
        format!("(reduce + 0.0 (map {terms} (range (length (map (lambda (l) l) (range k))))))"),
    ];
    let loops = |inner: &str| {
        let text = format!(
            "((A : vector#2 float) (B : vector#2 float))
             (let ((n, k) (shape A)) ((_, m) (shape B)) in
               (tabulate (n, m) (lambda (i, j) {inner})))"
        );
        let code = emit(&text, Target::Sequential, How::usual(false), Stage::Loop);
        let heads = code.lines().filter(|line| line.contains("(for "));
        heads.count()
    };
    let all = forms.each_ref().map(|form| loops(form));
    assert!(all[0] > 3 && all.iter().all(|n| *n == all[0]), "{all:?}");
}
