//! Tests of the arrays that are written over those they replace, and of those that are not.

use crate::passes::{check_pass, function};
use nova_flat::ir::Program;
use nova_mem::reuse::{self, Counting};

/// A vector that only this function holds.
const OWN: &str = "(let [mb:(block f32)] (allocate f32 n))
    (let [m:[n]f32 @ mb] (copy x))
    (let [tb:(block f32)] (allocate f32 n))";

/// Runs the pass over a body that starts with [`OWN`]. Returns the numbers of remaining allocations and
/// of sole holders.
fn left(body: &str, result: &str) -> (usize, usize) {
    left_counting(Counting::Everywhere, body, result)
}

/// As [`left`], with the code in which counts may be read.
fn left_counting(counting: Counting, body: &str, result: &str) -> (usize, usize) {
    let pass = |program: &mut Program| {
        reuse::run(program, counting);
    };
    let text = check_pass(&function(&format!("{OWN} {body}"), result), pass);
    (
        text.matches("(allocate ").count(),
        text.matches("(unique ").count(),
    )
}

#[test]
fn updates_of_dead_arrays() {
    let first = "(let [t:[n]f32 @ tb] (update m [0] 5.0f))";
    assert_eq!(left(first, "t"), (1, 0));
    let second =
        "(let [ub:(block f32)] (allocate f32 n)) (let [u:[n]f32 @ ub] (update t [1] 6.0f))";
    assert_eq!(left(&format!("{first} {second}"), "u"), (1, 0));
    // The old array is read afterwards, or a part of it by another name.
    let read = "(let [g:f32] (index m [0])) (let [u:[n]f32 @ tb] (update t [1] g))";
    assert_eq!(left(&format!("{first} {read}"), "u"), (2, 0));
    let read = format!(
        "(let [w:[2]f32 @ mb (lmad 1 [2 1])] (slice m [1 1 2])) {first} (let [g:f32] (index w [0]))
         (let [u:[n]f32 @ tb] (update t [1] g))"
    );
    assert_eq!(left(&read, "u"), (2, 0));
    // An array that the caller owns is not changed.
    assert_eq!(
        left("(let [t:[n]f32 @ tb] (update x [0] 5.0f))", "t"),
        (2, 0)
    );
}

#[test]
fn maps_that_read_where_they_write() {
    let map = |index: &str| {
        format!(
            "(let [t:[n]f32 @ tb] (operation [n] [i:i64] []
               (do (let [z:i64] (sub i64 i i)) (let [j:i64] (sub i64 2 i)) (let [e:f32] (index m [{index}]))
                   (let [d:f32] (add f32 e 1.0f)) (in d)) (map)))"
        )
    };
    assert_eq!(left(&map("i"), "t"), (1, 0));
    assert_eq!(left(&map("j"), "t"), (2, 0));
    assert_eq!(left(&map("z"), "t"), (2, 0));
}

#[test]
fn scatters_unless_they_read_the_destination() {
    let scatter = |array: &str| {
        format!(
            "(let [t:[n]f32 @ tb] (operation [n] [i:i64] []
               (do (let [j:i64] (sub i64 2 i)) (let [e:f32] (index {array} [i])) (in j e))
               (scatter [m])))"
        )
    };
    assert_eq!(left(&scatter("x"), "t"), (1, 0));
    assert_eq!(left(&scatter("m"), "t"), (2, 0));
}

#[test]
fn states_of_loops_are_counted() {
    let body = "(let [s:[n]f32 @ sb] (operation [3] [i:i64] [v:[n]f32 @ vb = m]
        (do (let [ub:(block f32)] (allocate f32 n)) (let [u:[n]f32 @ ub] (update v [i] 5.0f)) (in u))))";
    assert_eq!(left(body, "s"), (2, 1));
    // This does not apply if it is read again in the same iteration.
    let read = body.replace(
        "(in u)",
        "(let [g:f32] (index v [i])) (let [w:f32] (index u [i])) (in u)",
    );
    assert_eq!(left(&read, "s"), (3, 0));
}

#[test]
fn a_condition_keeps_the_state_that_its_loop_reads() {
    // The condition views the state in a loop of its own, and maps the view.
    let condition = "(let [s:f32] (operation [1] [i:i64] [c:f32 = 0.0f]
        (do (let [w:[2]f32 @ vb (lmad i [2 1])] (slice v [i 1 2]))
            (let [tb2:(block f32)] (allocate f32 2))
            (let [t:[2]f32 @ tb2] (operation [2] [j:i64] []
              (do (let [e:f32] (index w [j])) (let [d:f32] (add f32 e 1.0f)) (in d)) (map)))
            (let [g:f32] (index t [0])) (in g))))
        (let [more:bool] (lt f32 s 5.5f)) (in more)";
    let body = format!(
        "(let [y:[n]f32 @ yb] (while [v:[n]f32 @ vb = m] (do {condition})
           (do (let [ub:(block f32)] (allocate f32 n)) (let [u:[n]f32 @ ub] (update v [0] 5.0f)) (in u))))"
    );
    // The update is made in place, the map is not.
    assert_eq!(left(&body, "y"), (3, 1));
}

#[test]
fn an_array_from_outside_of_a_loop_is_not_taken() {
    let body = "(let [s:f32] (operation [3] [i:i64] [v:f32 = 0.0f]
        (do (let [ub:(block f32)] (allocate f32 n)) (let [u:[n]f32 @ ub] (update m [i] v))
            (let [g:f32] (index u [0])) (in g))))
      (let [z:[n]f32 @ tb] (replicate [n] s))";
    assert_eq!(left(body, "z"), (3, 0));
}

#[test]
fn an_array_that_one_branch_takes_remains_in_the_other() {
    let body = "(let [c:bool] (lt i64 n 2))
      (let [y:[n]f32 @ yb] (if c
        (do (let [ub:(block f32)] (allocate f32 n)) (let [u:[n]f32 @ ub] (update m [0] 5.0f)) (in u))
        (do (in m))))";
    assert_eq!(left(body, "y"), (2, 0));
    // After the conditional its result may hold either array.
    let after = format!("{body} (let [w:[n]f32 @ tb] (update y [1] 7.0f))");
    assert_eq!(left(&after, "w"), (1, 1));
}

#[test]
fn an_array_that_several_cases_make_in_one_block_stays_there() {
    // The map of one case could be written over the array it reads, but the other case has no such
    // array.
    let body = "(let [c:bool] (gt i64 n 2))
        (let [t:[n]f32 @ tb] (if c
          (do (let [lb:(block f32)] (allocate f32 n)) (let [l:[n]f32 @ lb] (copy x))
              (let [a:[n]f32 @ tb] (operation [n] [i:i64] []
                (do (let [e:f32] (index l [i])) (let [d:f32] (add f32 e 1.0f)) (in d)) (map)))
              (in a))
          (do (let [z:[n]f32 @ tb] (replicate [n] 2.0f)) (in z))))
        (let [g:f32] (index m [0]))
        (let [ub:(block f32)] (allocate f32 n)) (let [u:[n]f32 @ ub] (update t [0] g))";
    assert_eq!(left(body, "u"), (3, 0));
}

#[test]
fn work_groups_read_no_reference_counts() {
    let body = |strategy: &str| {
        format!(
            "(let [t:[n]f32 @ tb] (operation {strategy} [n] [k:i64] []
               (do (let [sb:(block f32)] (allocate f32 n)) (let [s:[n]f32 @ sb] (copy x))
                   (let [y:[n]f32 @ yb] (operation [3] [i:i64] [v:[n]f32 @ vb = s]
                     (do (let [ub:(block f32)] (allocate f32 n))
                         (let [u:[n]f32 @ ub] (update v [i] 5.0f)) (in u))))
                   (let [g:f32] (index y [0])) (in g)) (map)))"
        )
    };
    let groups = body("(strategy workgroup)");
    assert_eq!(left_counting(Counting::Everywhere, &groups, "t").1, 1);
    assert_eq!(left_counting(Counting::OutsideGroups, &groups, "t").1, 0);
    assert_eq!(left_counting(Counting::OutsideGroups, &body(""), "t").1, 1);
}

#[test]
fn blocks_that_are_read_where_they_are_stored_or_not_at_all() {
    let block = |start: i64, read: &str| {
        format!(
            "(let [t:[n]f32 @ tb] (operation [2] [i:i64] []
               (do (let [own:i64] (add i64 i {start})) (let [j:i64] (sub i64 1 i))
                   (let [e:f32] (index m [{read}])) (let [d:f32] (add f32 e 1.0f)) (in d))
               (scatter_block [{start}] [m])))"
        )
    };
    for (start, read) in [(0, "own"), (1, "own"), (1, "0"), (0, "2")] {
        assert_eq!(left(&block(start, read), "t"), (1, 0), "{start} {read}");
    }
    for (start, read) in [(0, "j"), (1, "i"), (1, "1"), (0, "0")] {
        assert_eq!(left(&block(start, read), "t"), (2, 0), "{start} {read}");
    }
}

#[test]
fn maps_in_chunks_and_branches_that_read_where_they_write() {
    let map = |name: &str, index: &str| {
        format!(
            "(let [{name}:[n]f32 @ tb] (operation [n] [i{name}:i64] []
               (do (let [own{name}:i64] (add i64 i{name} 0)) (let [j{name}:i64] (sub i64 2 i{name}))
                   (let [e{name}:f32] (index m [{index}{name}])) (in e{name})) (map)))"
        )
    };
    let branches = |one: &str, other: &str| {
        let (one, other) = (map("a", one), map("b", other));
        format!(
            "(let [c:bool] (lt i64 n 5))
             (let [t:[n]f32 @ tb] (if c (do {one} (in a)) (do {other} (in b))))"
        )
    };
    assert_eq!(left(&branches("i", "own"), "t"), (1, 0));
    assert_eq!(left(&branches("i", "j"), "t"), (2, 0));
    assert_eq!(left(&branches("j", "i"), "t"), (2, 0));
    let chunks = |index: &str| {
        format!(
            "(let [t:[n]f32 @ tb] (grid [n] [p:i64] []
               (do (let [q:[1]f32 @ tb (lmad p [1 1])] (operation [1] [i:i64] []
                     (do (let [own:i64] (add i64 p i)) (let [next:i64] (sub i64 2 p))
                         (let [e:f32] (index m [{index}])) (in e)) (map)))
                   (in p q)) (join [n])))"
        )
    };
    assert_eq!(left(&chunks("own"), "t"), (1, 0));
    assert_eq!(left(&chunks("next"), "t"), (2, 0));
    assert_eq!(left(&chunks("i"), "t"), (2, 0));
}
