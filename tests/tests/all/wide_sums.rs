//! Sums of as many constructors as a byte can tell apart, and of more: vectors of them on every target.

use nova_core::{Elements, Value};
use nova_driver::Target;
use nova_tests::effort;
use nova_tests::programs::{self, Compiled, How};

/// Returns a program with a sum of `count` constructors. The entry gives the last two of them for numbers,
/// and tells them apart again.
fn program(count: usize) -> String {
    let payload = |k: usize| ["int", "unit", "float"][k % 3];
    let constructors = (0..count).map(|k| format!("(C{k} : {})", payload(k)));
    let arms = (0..count).map(|k| match payload(k) {
        "int" => format!("(C{k} x (+ {k} x))"),
        "unit" => format!("(C{k} {k})"),
        _float => format!("(C{k} x {k})"),
    });
    let value = |k: usize| match payload(k) {
        "int" => format!("(C{k} x)"),
        "unit" => format!("C{k}"),
        _float => format!("(C{k} 0.5)"),
    };
    format!(
        "(types (Wide : (+ {})))
        (define
          (made (lambda (x : int) : Wide (if (< (& x 1) 1) then {} else {})))
          (kind (lambda (w : Wide) : int (case w {}))))
        (entry values ((V : vector int)) (map made V))
        (entry kinds ((V : vector int)) (map kind (reverse (map made V))))",
        constructors.collect::<Vec<_>>().join(" "),
        value(count - 1),
        value(count - 2),
        arms.collect::<Vec<_>>().join(" "),
    )
}

#[test]
fn sums_may_have_any_number_of_constructors() {
    for &count in effort::first(&[256, 257, 255, 300], 2) {
        let text = program(count);
        let how = How::usual(true);
        let sequential = Compiled::new(&text, Target::Sequential, how);
        let kinds = sequential.call(1, &["[1 2]".to_string()]).expect("numbers");
        let expected = |k: usize, x: usize| (if k.is_multiple_of(3) { k + x } else { k }) as i32;
        let expected = vec![expected(count - 1, 2), expected(count - 2, 1)];
        assert!(kinds.same(&Value::Vector(Elements::I32(expected.into()))));
        programs::compare(&text, how, &[programs::integers(1000)]);
    }
}
