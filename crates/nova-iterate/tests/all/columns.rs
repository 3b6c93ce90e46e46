//! Reductions of columns, whose rows threads share.

use crate::repeated::after;
use nova_flat::ir::Program;
use nova_iterate::rfactor;
use nova_plan::Plan;
use nova_schedule::{Alone, Parallelism};

fn shared(program: &mut Program) {
    rfactor::run(
        program,
        Parallelism::SMALL,
        &Alone::default(),
        &Plan::default(),
    );
}

/// A matrix of n rows and 3 columns, a map over so many indices that reduces so many others by `read`, and a vector
/// of n of the results.
fn reduction(map: &str, reduced: &str, read: &str) -> String {
    format!(
        "(let [A:[n][3]i64] (operation [n 3] [a:i64 b:i64] [] (do
           (let [s:i64] (index x [a])) (let [t:i64] (mul i64 s b)) (in t)) (map)))
         (let [sums:[{map}]i64] (operation [{map}] [j:i64] [] (do
           (let [twice:i64] (mul i64 j 2))
           (let [sum:i64] (operation [{reduced}] [i:i64] [] (do
             {read} (let [w:i64] (add i64 v twice)) (in w))
             (reduce_comm [5] (lambda [p:i64 q:i64] (do (let [u:i64] (add i64 p q)) (in u))))))
           (let [made:i64] (add i64 sum j)) (in made)) (map)))
         (let [y:[n]i64] (operation [n] [k:i64] [] (do
           (let [c:i64] (rem i64 k {map})) (let [e:i64] (index sums [c])) (in e)) (map)))"
    )
}

#[test]
fn threads_share_rows() {
    let columns = reduction("3", "n", "(let [v:i64] (index A [i j]))");
    // A grid, a map and a reduction of parts, another map and reduction, and both as they were.
    assert_eq!(after(shared, &columns), (9, 1));
}

#[test]
fn rows_and_vectors_stay() {
    for read in [
        "(let [v:i64] (index A [j i]))",
        "(let [v:i64] (index x [j]))",
    ] {
        assert_eq!(after(shared, &reduction("n", "3", read)), (4, 0), "{read}");
    }
    let strided = "(let [d:i64] (rem i64 i 3)) (let [v:i64] (index A [i d]))";
    assert_eq!(after(shared, &reduction("3", "n", strided)), (4, 0));
}
