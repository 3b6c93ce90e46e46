//! Levels of loops, as the strategies of Flat's operations ask for them.

use crate::support::read;
use nova_loop::ir::{Command, Level};
use nova_loop::walk::each_command;
use nova_loop::{Machine, TileSizes, translate_with};

/// The levels of the loops of Loop for three nested maps with these strategies, outermost first.
fn levels(strategies: [&str; 3]) -> Vec<Level> {
    let [outer, middle, inner] = strategies;
    let flat = format!(
        "(program
          (function \"f\" [n:i64] [r:[n]i64]
            (do
              (let [made:[n]i64] (grid {outer} [n] [i:i64] []
                (do
                  (let [row:[3]i64] (operation {middle} [3] [j:i64] []
                    (do
                      (let [element:[5]i64] (operation {inner} [5] [k:i64] []
                        (do
                          (let [sum:i64] (add i64 i j))
                          (let [all:i64] (add i64 sum k))
                          (in all))
                        (map)))
                      (let [fifth:i64] (index element [4]))
                      (in fifth))
                    (map)))
                  (let [third:i64] (index row [2]))
                  (in third))
                (map)))
              (in made))))"
    );
    let program = read("levels", &flat);
    nova_flat::verify::verify(&program).unwrap();
    let mem = nova_mem::introduce(&program);
    let translated = translate_with(&mem, false, TileSizes::default(), Machine::Device).unwrap();
    nova_loop::verify(&translated).unwrap();
    let mut found = Vec::new();
    for function in &translated.functions {
        each_command(&function.body, |command| {
            if let Command::For { level, .. } = command {
                found.push(*level);
            }
        });
    }
    found
}

#[test]
fn loops_have_the_levels_of_their_strategies() {
    let found = levels(["(strategy workgroup)", "(strategy local)", "(strategy seq)"]);
    assert_eq!(found, [Level::Block, Level::Thread, Level::Sequential]);
}

/// The driver refuses such programs with the place; a front end that makes Flat need not.
#[test]
fn threads_that_share_a_loop_share_none_inside_of_it() {
    for inner in ["local", "global", "workgroup"] {
        let inner = format!("(strategy {inner})");
        let found = levels(["(strategy workgroup)", "(strategy local)", &inner]);
        assert_eq!(
            found,
            [Level::Block, Level::Thread, Level::Sequential],
            "{inner}"
        );
    }
}
