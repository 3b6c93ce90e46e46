//! Tests of loops whose recurrences feed costly work: they give what they gave before, for every length, and fail
//! where they failed.

use crate::programs::{after, read};
use crate::values::in_order;
use nova_core::{ScalarValue, Value};
use nova_loop::interpret::GridOrder;
use nova_loop::ir::Program;

/// A function of the number of iterations and a limit. The body of the loop passes on `r`, and may add to `s` and to
/// eight bins of `t`.
fn function(body: &str) -> String {
    format!(
        "(program (entry \"f\" [(\"n\" i64) (\"a\" f64)] (tuple f64 u64 (vector i64)) \"f\")
          (function \"f\" [n:i64 a:f64] [e0:f64 e1:u64 m:i64 p:(pointer i64) pb:block]
            (declare t:(pointer i64)) (declare tb:block) (allocate tb t i64 8 \"f.nova:1:1\")
            (for j 8 sequential (store t j 0))
            (declare r:u64 12345u64) (declare s:f64 0.0L)
            (for i n sequential {body})
            (set e0 s) (set e1 r) (set m 8) (set p t) (set pb tb)))"
    )
}

/// The next number of the generator, a number below 1 and a costly one.
const DRAW: &str = "(declare q:u64 (and u64 (mul u64 1220703125u64 r) 70368744177663u64))
    (declare x:f64 (mul f64 (convert.f64 u64 q) 1.4210854715202004e-14L))
    (declare y:f64 (log f64 (add f64 (exp f64 x) x)))";

fn value(program: &Program, length: i64, limit: f64) -> String {
    let inputs = [ScalarValue::I64(length), ScalarValue::F64(limit)].map(Value::Scalar);
    in_order(program, &inputs, GridOrder::Rising)
}

/// Returns the text after the pass, which must read back and give the same values or errors.
fn rewritten(body: &str) -> String {
    let before = read(&function(body));
    let (after, printed) = after(&before, nova_loop_opt::strip_mining::run);
    for length in [-1, 0, 1, 31, 32, 127, 128, 129, 255, 256, 257, 700] {
        for limit in [0.0, 0.01, 0.3, 0.9, 1.0] {
            let (a, b) = (value(&before, length, limit), value(&after, length, limit));
            assert_eq!(a, b, "{length} iterations, limit {limit}\n{printed}");
        }
    }
    printed
}

#[test]
fn values_that_recurrences_feed_are_computed_in_a_loop_of_their_own() {
    for rest in [
        "(set s (add f64 s y)) (set r q)",
        // Bins.
        "(declare k:i64 (convert.i64 u64 (and u64 q 7u64)))
         (store t k (add i64 (load t k) (convert.i64 bool (lt f64 y a)))) (set r q)",
        // The state from before the iteration.
        "(set s (add f64 s (mul f64 y (convert.f64 u64 r)))) (set r q)",
        // A check that fails on the way.
        "(declare k:i64 (convert.i64 u64 (shr u64 q 40u64)))
         (check (lt i64 k 60) index [k 60] \"f.nova:2:2\") (set s (add f64 s y)) (set r q)",
    ] {
        let text = rewritten(&format!("{DRAW} {rest}"));
        assert!(text.contains("(for strip"), "{text}");
        assert!(!text.contains("(declare taken"), "{text}");
        assert_eq!(text.matches("(log f64").count(), 2, "{text}");
    }
}

#[test]
fn iterations_that_take_a_costly_branch_are_packed_where_others_have_no_effect() {
    let costly =
        "(declare z:f64 (div f64 (sqrt f64 (log f64 (add f64 (exp f64 x) x))) (add f64 x 1.0L)))";
    let draw = DRAW
        .rsplit_once("(declare y")
        .map_or(DRAW, |(draw, _)| draw);
    for rest in [
        format!("(if (lt f64 x a) (do {costly} (set s (add f64 s z)))) (set r q)"),
        format!(
            "(declare v:f64) (if (ge f64 x a) (do (set v -0.0L)) (do {costly} (set v z)))
             (set s (add f64 s v)) (set r q)"
        ),
        // The number of the iteration, and bins.
        format!(
            "(if (lt f64 x a) (do {costly} (declare k:i64 (convert.i64 u64 (and u64 q 7u64)))
               (store t k (add i64 (load t k) i))
               (set s (add f64 s z)))) (set r q)"
        ),
        // A check, and the state from before the iteration.
        format!(
            "(if (lt f64 x a) (do {costly} (check (lt f64 z 0.9L) conversion [] \"f.nova:2:2\")
               (set s (add f64 (convert.f64 u64 r) z)))) (set r q)"
        ),
    ] {
        let text = rewritten(&format!("{draw} {rest}"));
        assert!(text.contains("(declare taken"), "{text}");
        assert!(text.contains("(load kept"), "{text}");
        assert_eq!(text.matches("(log f64").count(), 2, "{text}");
    }
    // Other iterations have an effect, or places depend on the number of the iteration.
    for rest in [
        format!(
            "(if (lt f64 x a) (do {costly} (store t (and i64 i 7) i) (set s (add f64 s z)))) (set r q)"
        ),
        format!(
            "(if (lt f64 x a) (do {costly} (set s (add f64 s z))) (do (set s (mul f64 s 0.5L)))) (set r q)"
        ),
        format!(
            "(declare v:f64) (if (ge f64 x a) (do (set v 0.0L)) (do {costly} (set v z)))
             (set s (add f64 s v)) (set r q)"
        ),
        format!("(if (lt f64 x a) (do {costly} (set s (add f64 s z)))) (store t 1 i) (set r q)"),
    ] {
        let text = rewritten(&format!("{draw} {rest}"));
        assert!(text.contains("(declare taken"), "{text}");
        assert_eq!(text.matches("(log f64").count(), 3, "{text}");
    }
}

#[test]
fn loops_that_gain_nothing_or_must_stay_in_order_stay() {
    for body in [
        // The costly value feeds the recurrence.
        "(declare x:f64 (log f64 (convert.f64 u64 r))) (set s (add f64 s x))
         (set r (add u64 r (wrap.u64 f64 x)))"
            .to_string(),
        // Little work.
        "(declare q:u64 (add u64 (mul u64 r 5u64) 3u64)) (set s (add f64 s (convert.f64 u64 q))) (set r q)"
            .to_string(),
        // A state that only some iterations change.
        format!("{DRAW} (set s (add f64 s y)) (if (lt f64 s a) (do (set r q)))"),
        // A state that is read after it has changed.
        format!("{DRAW} (set r q) (set s (add f64 s (mul f64 y (convert.f64 u64 r))))"),
        // Elements that the loop writes.
        "(declare q:u64 (add u64 r (convert.u64 i64 (load t (and i64 i 7))))) (store t 3 i)
         (set s (add f64 s (log f64 (exp f64 (convert.f64 u64 q))))) (set r q)"
            .to_string(),
    ] {
        let text = rewritten(&body);
        assert!(!text.contains("(for strip"), "{text}");
    }
}

#[test]
fn linear_generators_are_computed_from_the_beginning_of_a_strip() {
    let costly = |of: &str| {
        format!(
            "(declare x:f64 (convert.f64 u64 (and u64 {of} 1023u64)))
             (set s (add f64 (mul f64 s 0.5L) (log f64 (add f64 (exp f64 (mul f64 x 0.001L)) x)))) (set r q)"
        )
    };
    for (next, of, arrays) in [
        ("(mul u64 r 6364136223846793005u64)", "q", 1),
        (
            "(add u64 (mul u64 r 6364136223846793005u64) 1442695040888963407u64)",
            "q",
            2,
        ),
        // The first number is not masked.
        ("(and u64 (add u64 (mul u64 5u64 r) 3u64) 1023u64)", "r", 2),
        (
            "(and u64 (add u64 r (mul u64 r r0)) 65535u64)",
            "(add u64 q r)",
            1,
        ),
        (
            "(and u64 1023u64 (mul u64 (and u64 (add u64 r 7u64) 4095u64) 5u64))",
            "r",
            2,
        ),
    ] {
        let text =
            rewritten(&format!("(declare q:u64 {next}) {}", costly(of)).replace("r0", "12345u64"));
        assert_eq!(text.matches("(local factors").count(), 1, "{text}");
        assert_eq!(
            text.matches("(local summands").count(),
            arrays - 1,
            "{text}"
        );
    }
    for next in [
        "(xor u64 r (shl u64 r 13u64))",
        "(mul u64 r r)",
        "(rem u64 (mul u64 r 16807u64) 2147483647u64)",
        "(add u64 r (wrap.u64 i64 i))",
        // A mask inside drops bits that the result has.
        "(mul u64 (and u64 (add u64 r 7u64) 4095u64) 5u64)",
        "(and u64 4095u64 (mul u64 (and u64 (add u64 r 7u64) 1023u64) 5u64))",
    ] {
        let text = rewritten(&format!("(declare q:u64 {next}) {}", costly("q")));
        assert!(
            text.contains("(for strip") && !text.contains("(local factors"),
            "{text}"
        );
    }
}
