//! Tests of lockstep: a function computes the same after it, for fewer elements than lanes and for several blocks,
//! and its loops have the forms that C compilers make vectors of.

use crate::programs::{after, read};
use crate::values::value;

/// A function from bytes to a number, which has an array `y` that the loop over `i` writes and the result sums up.
fn function(elements: &str, body: &str) -> String {
    format!(
        "(program (entry \"f\" [(\"x\" (vector u8))] i32 \"f\")
          (function \"f\" [n:i64 x:(pointer u8) xb:block] [r:i32]
            (declare y:(pointer i32))
            (declare yb:block)
            (allocate yb y i32 {elements})
            (for i n independent {body})
            (declare s:i32 0i32)
            (for k {elements} sequential (set s (add i32 (mul i32 s 31i32) (load y k))))
            (release yb)
            (set r s)))"
    )
}

/// A function from bytes to a number, which writes three rows at the end of an array `y` that grows, and sums up
/// all of them.
fn rows(body: &str) -> String {
    format!(
        "(program (entry \"f\" [(\"x\" (vector u8))] i32 \"f\")
          (function \"f\" [n:i64 x:(pointer u8) xb:block] [r:i32]
            (declare y:(pointer i32) (null i32))
            (declare yb:block null)
            (declare total:i64 0)
            (for k 3 sequential
              (reserve yb y i32 total (add i64 total n))
              (declare row:(pointer i32) (offset y total))
              (for i n independent {body})
              (set total (add i64 total n)))
            (declare s:i32 0i32)
            (for m total sequential (set s (add i32 (mul i32 s 31i32) (load y m))))
            (release yb)
            (set r s)))"
    )
}

/// Returns the text of a function after the pass, which must give the same values.
fn rewritten(elements: &str, body: &str) -> String {
    rewritten_program(&function(elements, body))
}

fn rewritten_program(text: &str) -> String {
    let before = read(text);
    let (after, printed) = after(&before, nova_loop_opt::lockstep::run);
    let same = |k: u8| k / 90;
    let other = |k: u8| k.wrapping_mul(37) % 13;
    for length in [9, 31, 32, 33, 70, 100] {
        for byte in [same, other] {
            let bytes: Vec<u8> = (0..length).map(byte).collect();
            let values = [&before, &after].map(|program| value(program, bytes.clone()));
            assert_eq!(values[0], values[1], "length {length}\n{printed}");
        }
    }
    printed
}

/// The loop of a binary search for `c` among the first elements of `x`.
const SEARCH: &str = "
    (loop
      (if (ge i32 low high) (do (break)))
      (declare mid:i32 (div i32 (add i32 low high) 2i32))
      (declare e0:i32)
      (declare e1:i32)
      (if (ge i32 (convert.i32 u8 (load x (convert.i64 i32 mid))) c)
        (do (set e0 low) (set e1 mid))
        (do (set e0 (add i32 mid 1i32)) (set e1 high)))
      (set low e0)
      (set high e1))
    (store y i low)";

#[test]
fn a_search_is_computed_once_until_lanes_part() {
    let text = rewritten(
        "n",
        &format!(
            "(declare c:i32 (convert.i32 u8 (load x i)))
             (declare low:i32 0i32)
             (declare high:i32 9i32)
             {SEARCH}"
        ),
    );
    assert!(text.contains("(if parted_"), "{text}");
    assert!(text.contains("(declare spare_"), "{text}");
}

#[test]
fn lanes_that_begin_apart_only_read_apart() {
    let text = rewritten(
        "n",
        &format!(
            "(declare c:i32 (convert.i32 u8 (load x i)))
             (declare low:i32 (and i32 c 3i32))
             (declare high:i32 9i32)
             {SEARCH}"
        ),
    );
    assert!(!text.contains("parted"), "{text}");
    assert!(text.contains("(declare spare_"), "{text}");
}

#[test]
fn rows_are_written_in_tiles() {
    let text = rewritten(
        "(mul i64 n 19)",
        "(declare a:(pointer i32))
         (declare ab:block)
         (allocate ab a i32 19)
         (declare z:i32 (convert.i32 u8 (load x i)))
         (for j 19 sequential
           (set z (add i32 (mul i32 z 3i32) (convert.i32 i64 j)))
           (store a j z))
         (for l 19 sequential
           (store y (add i64 (mul i64 i 19) l) (load a (sub i64 18 l))))
         (release ab)",
    );
    assert!(text.contains("(for tile_"), "{text}");
}

/// The steps of an element of a row, from the number `z` on.
const STEPS: &str = "
    (for j 5 sequential
      (set z (add i32 (mul i32 z 3i32) (convert.i32 i64 (add i64 j k)))))";

#[test]
fn rows_of_an_array_that_grows_are_written_in_lanes() {
    let text = rewritten_program(&rows(&format!(
        "(declare z:i32 (convert.i32 u8 (load x i))) {STEPS} (store row i z)"
    )));
    assert!(text.contains("(for block_"), "{text}");
}

#[test]
fn rows_that_read_their_array_stay_in_order() {
    let own = "(store row i 1i32) (declare z:i32 (load row i))";
    let earlier = "(store row i 1i32) (declare z:i32 (load y 0))";
    for first in [own, earlier] {
        let text = rewritten_program(&rows(&format!("{first} {STEPS} (store row i z)")));
        assert!(!text.contains("(for block_"), "{text}");
    }
}

#[test]
fn cheap_steps_run_in_batches_with_scalar_counters() {
    for (start, condition) in [
        ("0i32", "(select (lt i32 c 21i32) (lt i32 v 200i32) false)"),
        ("0i32", "(select (lt i32 v 200i32) (lt i32 c 21i32) false)"),
        ("0i32", "(lt i32 v 200i32)"),
        ("30i32", "(select (lt i32 c 21i32) (lt i32 v 200i32) false)"),
    ] {
        let text = rewritten(
            "n",
            &format!(
                "(declare v:i32 (convert.i32 u8 (load x i)))
                 (declare c:i32 {start})
                 (loop
                   (if (not bool {condition}) (do (break)))
                   (set v (add i32 (mul i32 v 2i32) 1i32))
                   (set c (add i32 c 1i32)))
                 (store y i (add i32 c (mul i32 v 3i32)))"
            ),
        );
        assert!(text.contains("(declare steps_"), "{text}");
        let is_scalar = text.contains("(if (not bool (select (lt i64 done_")
            && text.matches("(lt i32 c_").count() >= 2;
        assert_eq!(is_scalar, condition.contains("21i32"), "{text}");
    }
}

#[test]
fn counters_that_begin_apart_are_no_scalars() {
    let text = rewritten(
        "n",
        "(declare v:i32 (convert.i32 u8 (load x i)))
         (declare c:i32 (and i32 v 7i32))
         (loop
           (if (not bool (select (lt i32 c 21i32) (lt i32 v 200i32) false)) (do (break)))
           (set v (add i32 (mul i32 v 2i32) 1i32))
           (set c (add i32 c 1i32)))
         (store y i (add i32 c v))",
    );
    assert!(text.contains("(declare steps_"), "{text}");
    assert!(text.contains("(store c_"), "{text}");
}

/// The number of the row of `y` that is the nearest to the bytes from `place` on, among as many rows as there are
/// iterations.
fn nearest(place: &str) -> String {
    format!(
        "(declare least:i32 2147483647i32)
         (declare at:i32 -1i32)
         (for j (and i64 n 7) sequential
           (declare sum:i32 0i32)
           (for l 5 sequential
             (declare d:i32 (sub i32 (convert.i32 u8 (load x {place})) (convert.i32 i64 (mul i64 j l))))
             (set sum (add i32 sum (mul i32 d d))))
           (declare e0:i32)
           (declare e1:i32)
           (if (lt i32 sum least)
             (do (set e0 sum) (set e1 (convert.i32 i64 j)))
             (do (set e0 least) (set e1 at)))
           (set least e0)
           (set at e1))
         (store y i (add i32 (mul i32 at 1000i32) least))"
    )
}

#[test]
fn rows_that_lanes_read_apart_are_packed() {
    let rows = |place: &str, count: &str| {
        let text = function("n", &nearest(place));
        // Elements that the loop leaves out are read in the end.
        let filled = "(for z n sequential (store y z 0i32))";
        rewritten_program(&text.replace("(for i n", &format!("{filled} (for i {count}")))
    };
    // Rows that overlap, which end with the array. Bytes are copied one by one.
    let overlap = rows("(add i64 (mul i64 i 2) l)", "(div i64 (sub i64 n 3) 2)");
    assert!(!overlap.contains("gather_rows"), "{overlap}");
    assert_eq!(overlap.matches("packed").count(), 3, "{overlap}");
    // Places that are no product of the index: rows are copied element by element.
    let wrapped = rows("(add i64 (rem i64 (mul i64 i 7) 4) l)", "n");
    assert!(!wrapped.contains("gather_rows"), "{wrapped}");
    assert!(wrapped.contains("packed"), "{wrapped}");
    // Neighbours, and places that depend on the outer loop, stay.
    let turned = rows("(and i64 (add i64 (mul i64 i 3) (mul i64 j l)) 7)", "n");
    assert!(!turned.contains("packed_"), "{turned}");
    let neighbours = rows("(add i64 i l)", "(sub i64 n 4)");
    assert!(!neighbours.contains("packed_"), "{neighbours}");
}

#[test]
fn rows_of_many_elements_stay_in_order() {
    let body = "(declare sum:i32 0i32)
         (for j 2 sequential
           (for l (add i64 n 100) sequential
             (set sum (add i32 sum (convert.i32 u8 (load x (mul i64 i (and i64 l 1))))))))
         (store y i sum)";
    let text = rewritten("n", body);
    assert!(text.contains("(le i64 (add i64 n"), "{text}");
}
