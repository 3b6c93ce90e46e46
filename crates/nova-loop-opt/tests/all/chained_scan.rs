//! Tests of the single-pass chained scan: the three loops of a scan become one where that means the same, and
//! stay as they were elsewhere.

use crate::programs::read;
use crate::values::in_order;
use nova_core::{Elements, Value};
use nova_loop::interpret::GridOrder;
use nova_loop::print::print;
use std::sync::Arc;

/// The three loops of a scan of `x` in four chunks; the size of `x` is a multiple of four.
struct Loops {
    first: &'static str,
    between: &'static str,
    middle: &'static str,
    second: &'static str,
    after: &'static str,
}

const SCAN: Loops = Loops {
    first: "(declare s:i64 0) (for i q sequential (set s (add i64 s (load x (add i64 (mul i64 p q) i)))))
            (store sums p s)",
    between: "(declare last:i64 100)",
    middle: "(declare v:i64 (load sums m)) (store begins m last) (set last (add i64 last v))",
    second: "(declare a:i64 (load begins g))
             (for j q sequential
                (set a (add i64 a (load x (add i64 (mul i64 g q) j))))
                (store y (add i64 (mul i64 g q) j) a))",
    after: "",
};

impl Loops {
    fn text(&self) -> String {
        let Loops {
            first,
            between,
            middle,
            second,
            after,
        } = self;
        format!(
            "(program
              (function \"f\" [n:i64 x:(pointer i64) xb:block]
                [r:i64 t:(pointer i64) tb:block]
                (set r n)
                (declare y:(pointer i64))
                (declare yb:block)
                (allocate yb y i64 n)
                (declare q:i64 (div i64 n 4))
                (declare parts:i64 4)
                (local sums:(pointer i64) 4)
                (for p parts grid {first})
                {between}
                (local begins:(pointer i64) 4)
                (for m parts sequential {middle})
                (for g parts grid {second})
                {after}
                (set t y)
                (set tb yb))
              (entry \"f\" [(\"x\" (vector i64))] (vector i64) \"f\"))"
        )
    }

    /// Returns the text after the pass, which must give the same values in whichever order chunks run.
    fn chained(&self) -> String {
        let before = read(&self.text());
        let mut after = before.clone();
        nova_loop_opt::chained_scan::run(&mut after);
        let text = print(&after);
        let after = read(&text);
        for length in [4, 40] {
            let x = Value::Vector(Elements::I64(Arc::new((0..length).collect())));
            let inputs = [x];
            let [expected, rising, falling] = [
                (&before, GridOrder::Rising),
                (&after, GridOrder::Rising),
                (&after, GridOrder::Falling),
            ]
            .map(|(program, order)| in_order(program, &inputs, order));
            assert!(expected.starts_with("Ok"), "{expected}");
            assert_eq!(rising, expected, "{text}");
            assert_eq!(falling, expected, "{text}");
        }
        text
    }

    #[track_caller]
    fn become_one(&self) {
        let text = self.chained();
        assert_eq!(text.matches(" grid").count(), 1, "{text}");
        assert!(
            text.contains("begin_ordered") && text.contains("end_ordered"),
            "{text}"
        );
        assert!(
            !text.contains("(local sums") && !text.contains("(local begins"),
            "{text}"
        );
    }

    #[track_caller]
    fn stay(&self) {
        let text = self.chained();
        assert_eq!(text.matches(" grid").count(), 2, "{text}");
        assert!(!text.contains("ordered"), "{text}");
    }
}

#[test]
fn the_chunks_of_a_scan_have_ordered_regions() {
    SCAN.become_one();
    // Several commands may stand between the loops, if they read nothing that the loops change.
    let between = "(declare other:i64 (mul i64 n 2)) (declare last:i64 other)";
    Loops { between, ..SCAN }.become_one();
}

#[test]
fn the_first_loop_must_not_access_what_the_second_one_writes() {
    let first = "(declare s:i64 0) (store y (mul i64 p q) 1) (store sums p s)";
    let between = "(declare last:i64 0)";
    Loops {
        first,
        between,
        ..SCAN
    }
    .stay();
    // Later chunks read an element that an earlier one has written.
    let first = "(declare s:i64 (load y 0)) (store sums p s)";
    let text = Loops { first, ..SCAN }.text();
    let text = text.replace(
        "(declare q:i64",
        "(for z n sequential (store y z 5)) (declare q:i64",
    );
    let mut program = read(&text);
    nova_loop_opt::chained_scan::run(&mut program);
    assert!(!print(&program).contains("ordered"));
}

#[test]
fn intermediate_results_must_not_be_read_elsewhere() {
    // The total.
    Loops {
        after: "(set r (select (lt i64 last 0) n n))",
        ..SCAN
    }
    .stay();
    // All sums.
    let second = "(declare a:i64 (load begins g)) (declare b:i64 (load sums 3))
                  (for j q sequential (store y (add i64 (mul i64 g q) j) (add i64 a b)))";
    Loops { second, ..SCAN }.stay();
    // The prefix of another chunk.
    let second = "(declare a:i64 (load begins (sub i64 3 g)))
                  (for j q sequential (store y (add i64 (mul i64 g q) j) a))";
    Loops { second, ..SCAN }.stay();
}

#[test]
fn chunks_that_may_fail_have_no_ordered_regions() {
    let second = "(check (ge i64 n 0) index [0 0]) (declare a:i64 (load begins g))
                  (for j q sequential (store y (add i64 (mul i64 g q) j) a))";
    Loops { second, ..SCAN }.stay();
    let second = "(declare a:i64 (load begins g)) (declare b:block) (declare w:(pointer i64))
                  (allocate b w i64 n) (release b)
                  (for j q sequential (store y (add i64 (mul i64 g q) j) a))";
    Loops { second, ..SCAN }.stay();
}

#[test]
fn a_loop_in_between_that_reads_other_memory_stays() {
    let middle = "(declare v:i64 (load sums (sub i64 3 m))) (store begins m last)
                  (set last (add i64 last v))";
    Loops { middle, ..SCAN }.stay();
    let middle = "(declare v:i64 (select (lt i64 n 4) 0 (load x m))) (store begins m last)
                  (set last (add i64 last v))";
    let mut program = read(&Loops { middle, ..SCAN }.text());
    nova_loop_opt::chained_scan::run(&mut program);
    assert!(!print(&program).contains("ordered"));
}
