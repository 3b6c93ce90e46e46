//! Nested operations that are parallelised. Rows are chunked by their elements, rows of varying
//! length are collected, and inner operations are parallelised where there are few indices.

use crate::parallelise::parallelised;

const INTEGERS: (&str, &str) = ("(vector i64)", "m:i64 r:[m]i64");

/// Returns the starts `st` and ends `en` of `n` rows, which lie one after the other. Row `i` has
/// `2i + 1` elements. `at` gives the rows another order.
fn rows(at: &str) -> String {
    format!(
        "(let [st:[n]i64 en:[n]i64] (operation [n] [i:i64] [] (do
           {at} (let [b0:i64] (mul i64 i0 i0)) (let [i1:i64] (add i64 i0 1))
           (let [b1:i64] (mul i64 i1 i1)) (in b0 b1)) (map) (map)))"
    )
}

const IN_ORDER: &str = "(let [i0:i64] (add i64 i 0))";
const REVERSED: &str = "(let [last:i64] (sub i64 n 1)) (let [i0:i64] (sub i64 last i))";

/// The sum of the numbers of each row's elements.
const SUMS: &str = "(let [y:[n]i64] (operation [n] [k1:i64] [] (do
    (let [s:i64] (index st [k1])) (let [e:i64] (index en [k1])) (let [length:i64] (sub i64 e s))
    (let [t:i64] (operation [length] [j:i64] [] (do (let [v:i64] (add i64 s j)) (in v))
      (reduce_comm [0] (lambda [p:i64 q:i64] (do (let [u:i64] (add i64 p q)) (in u))))))
    (in t)) (map)))
  (in n y)";

#[test]
fn rows_are_chunked_by_elements_whatever_their_order() {
    for at in [IN_ORDER, REVERSED] {
        // The rows, their sums, and the elements of a long one.
        let (grids, _) = parallelised(INTEGERS, &format!("{} {SUMS}", rows(at)));
        assert_eq!(grids, 3, "{at}");
    }
}

#[test]
fn rows_that_are_not_there_are_not_measured_before_they_are_checked() {
    // There are five rows, and the sixth index stops the program.
    let rows = "(let [st:[5]i64] (iota 5 0 3)) (let [en:[5]i64] (iota 5 3 3))";
    let check = "(let [ok:bool] (lt i64 k1 5)) (let [] (check ok index [k1 5]))";
    let sums = SUMS.replacen("(let [s:i64]", &format!("{check} (let [s:i64]"), 1);
    parallelised(INTEGERS, &format!("{rows} {sums}"));
}

#[test]
fn rows_of_varying_length_are_collected() {
    let body = "(let [st:[n]i64 en:[n]i64 total:i64 y:[total]i64] (operation [n] [i:i64] [] (do
          (let [length:i64] (rem i64 i 4)) (let [row:[length]i64] (iota length i 3))
          (in length row)) (collect 1)))
        (let [z:i64] (add i64 n total))
        (let [w:[z]i64] (operation [z] [j:i64] [] (do
          (let [left:bool] (lt i64 j n))
          (let [v:i64] (if left
            (do (let [a:i64] (index st [j])) (let [b:i64] (index en [j])) (let [c:i64] (mul i64 a b)) (in c))
            (do (let [d:i64] (sub i64 j n)) (let [e:i64] (index y [d])) (in e))))
          (in v)) (map)))
        (in z w)";
    // The grids are the chunks of rows, the starts of these, and the last map.
    assert_eq!(parallelised(INTEGERS, body).0, 3);
}

#[test]
fn survivors_of_expensive_filters_are_collected() {
    let body = "(let [kept:i64 y:[kept]i64] (operation [n] [i:i64] [] (do
          (let [t:i64] (operation [i] [j:i64] [] (do (let [k2:i64] (mul i64 j j))
            (let [v:i64] (rem i64 k2 7)) (in v))
            (reduce_comm [0] (lambda [p:i64 q:i64] (do (let [u:i64] (add i64 p q)) (in u))))))
          (let [h:i64] (rem i64 t 3)) (let [c:bool] (eq i64 h 0)) (in c t)) (filter 1)))
        (in kept y)";
    assert_eq!(parallelised(INTEGERS, body).0, 2);
}

#[test]
fn three_levels_of_nests_are_parallelised() {
    // A cube of sums. Each level is parallelised where the enclosing one has few indices.
    let mut inner = "(let [v:i64] (add i64 i3 i4))".to_string();
    let mut value = "v".to_string();
    for level in (0..5).rev() {
        let sum = format!(
            "(reduce_comm [0] (lambda [p{level}:i64 q{level}:i64] (do
               (let [u{level}:i64] (add i64 p{level} q{level})) (in u{level}))))"
        );
        inner = format!(
            "(let [t{level}:i64] (operation [m0] [i{level}:i64] [] (do {inner} (in {value})) {sum}))"
        );
        value = format!("t{level}");
    }
    let body = format!("(let [m0:i64] (min i64 n 6)) {inner} (in t0)");
    let (grids, others) = parallelised(("i64", "r:i64"), &body);
    assert_eq!(grids, 4);
    assert!(others < 60, "{others}");
}
