//! Tests of the count assertions of filters: no chunk of a filter writes more elements than were counted.

use crate::programs::read;
use crate::values::in_order;
use nova_core::{Elements, Value};
use nova_loop::interpret::GridOrder;
use nova_loop::ir::Program;
use nova_loop::print::print;
use nova_race::find;
use std::sync::Arc;

/// A filter of `x` in four chunks of `q` elements.
struct Filter {
    /// The condition of the elements of a chunk that are counted.
    counted: &'static str,
    /// The commands after the store of the start of a chunk.
    begins: &'static str,
    /// The commands for an element of a chunk.
    survivors: &'static str,
    /// The commands at the end of a chunk.
    end: &'static str,
}

const FILTER: Filter = Filter {
    counted: "(gt i64 (load x (add i64 (mul i64 p q) i)) 9)",
    begins: "",
    survivors: "(if (gt i64 (load x (add i64 (mul i64 g q) j)) 9)
             (do (store y (add i64 start kept) (load x (add i64 (mul i64 g q) j)))
                 (set kept (add i64 kept 1))))",
    end: "",
};

impl Filter {
    /// Returns the program before the pass and the one after it.
    fn both(&self) -> [Program; 2] {
        let Filter {
            counted,
            begins,
            survivors,
            end,
        } = self;
        let text = format!(
            "(program
              (function \"f\" [n:i64 x:(pointer i64) xb:block] [r:i64 t:(pointer i64) tb:block]
                (set r n)
                (declare y:(pointer i64))
                (declare yb:block)
                (allocate yb y i64 n)
                (for z n sequential (store y z 0))
                (declare q:i64 (div i64 n 4))
                (local counts:(pointer i64) 4)
                (for p 4 grid
                  (declare c:i64 0)
                  (for i q sequential (if {counted} (do (set c (add i64 c 1)))))
                  (store counts p c))
                (declare last:i64 0)
                (local starts:(pointer i64) 4)
                (for m 4 sequential
                  (declare v:i64 (load counts m))
                  (store starts m last)
                  (set last (add i64 last v))
                  {begins})
                (for g 4 grid
                  (declare start:i64 (load starts g))
                  (declare kept:i64 0)
                  (local own:(pointer i64) 64)
                  (for j q sequential {survivors})
                  {end})
                (set t y)
                (set tb yb))
              (entry \"f\" [(\"x\" (vector i64))] (vector i64) \"f\"))"
        );
        let before = read(&text);
        let mut after = before.clone();
        nova_loop_opt::filter_assertions::run(&mut after);
        [before, read(&print(&after))]
    }

    /// Returns the number of checks, whether all loops are accepted, and the result of the program.
    fn results(&self) -> (usize, bool, String) {
        let [before, after] = self.both();
        let x = Value::Vector(Elements::I64(Arc::new((0..16).rev().collect())));
        let inputs = [x];
        let [expected, found] =
            [&before, &after].map(|program| in_order(program, &inputs, GridOrder::Rising));
        if !found.starts_with("Err") {
            assert_eq!(found, expected, "{}", print(&after));
        }
        let checks = print(&after).matches("(check").count();
        (checks, find(&after).refusals.is_empty(), found)
    }
}

#[test]
fn chunks_of_a_filter_check_the_start_of_the_next_one() {
    let [before, _] = FILTER.both();
    assert!(!find(&before).refusals.is_empty());
    let (checks, accepted, value) = FILTER.results();
    assert!(
        checks == 1 && accepted && value.starts_with("Ok"),
        "{value}"
    );
}

#[test]
fn a_chunk_that_writes_more_than_was_counted_fails() {
    let filter = Filter {
        counted: "(gt i64 (load x (add i64 (mul i64 p q) i)) 12)",
        ..FILTER
    };
    let (checks, accepted, value) = filter.results();
    assert!(checks == 1 && accepted, "{value}");
    assert!(value.contains("lengths differ: 4 and 3"), "{value}");
}

#[test]
fn chunks_that_collect_first_check_before_they_copy() {
    let filter = Filter {
        survivors: "(if (gt i64 (load x (add i64 (mul i64 g q) j)) 9)
                 (do (store own kept (load x (add i64 (mul i64 g q) j)))
                     (set kept (add i64 kept 1))))",
        end: "(declare all:i64)
              (set all kept)
              (for w all sequential (store y (add i64 start w) (load own w)))",
        ..FILTER
    };
    let (checks, accepted, value) = filter.results();
    assert!(
        checks == 1 && accepted && value.starts_with("Ok"),
        "{value}"
    );
}

#[test]
fn stores_to_private_memory_are_not_checked() {
    let filter = Filter {
        survivors: "(if (gt i64 (load x j) 9)
                 (do (store own (add i64 start kept) 0) (set kept (add i64 kept 1))))",
        ..FILTER
    };
    assert_eq!(filter.results().0, 0);
}

#[test]
fn chunks_are_not_checked_if_the_table_is_written_again() {
    let in_scan = Filter {
        begins: "(store starts m 0)",
        ..FILTER
    };
    let in_chunks = Filter {
        end: "(store starts g kept)",
        ..FILTER
    };
    for filter in [in_scan, in_chunks] {
        let [before, after] = filter.both().map(|program| print(&program));
        assert_eq!(after, before);
    }
}

#[test]
fn an_index_that_is_no_sum_of_the_two_is_not_checked() {
    let filter = Filter {
        survivors: "(if (gt i64 (load x j) 9)
                 (do (store y (min i64 (mul i64 start kept) 0) 0) (set kept (add i64 kept 1))))",
        ..FILTER
    };
    assert_eq!(filter.results().0, 0);
}
