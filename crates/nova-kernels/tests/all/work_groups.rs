//! Tests of the levels of loops that the strategies of Flat's operations ask for.

use crate::translated::{self, for_device};
use nova_core::Scalar;
use nova_loop::ir::{Command, Expression, Level, Program, Type};

/// Returns the levels of the loops of Loop for three nested maps with these strategies, outermost first.
fn levels(strategies: [&str; 3]) -> Vec<Level> {
    levels_in(&translated(strategies))
}

fn levels_in(program: &Program) -> Vec<Level> {
    let functions = program.functions.iter();
    functions
        .flat_map(|function| translated::levels(&function.body))
        .collect()
}

/// Returns the translation of three nested maps with these strategies.
fn translated(strategies: [&str; 3]) -> Program {
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
    for_device(&flat)
}

#[test]
fn loops_have_the_levels_of_their_strategies() {
    let found = levels(["(strategy workgroup)", "(strategy local)", "(strategy seq)"]);
    assert_eq!(found, [Level::Block, Level::Thread, Level::Sequential]);
}

/// The driver refuses such programs with the place; another front end that makes Flat need not.
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

/// Threads of a grid cannot begin groups, so the host runs a loop around groups.
#[test]
fn threads_of_a_grid_begin_no_groups() {
    let mut program = translated(["(strategy workgroup)", "(strategy local)", "(strategy seq)"]);
    let index = program.add_variable("i", Type::Scalar(Scalar::I64));
    let commands = program.functions.iter_mut().flat_map(|f| &mut f.body);
    for command in commands {
        if let Command::For { place, .. } = command {
            let place = place.clone();
            *command = Command::For {
                variable: index,
                count: Expression::index(1),
                level: Level::Grid,
                body: vec![command.clone()],
                place,
            };
        }
    }
    assert_eq!(levels_in(&program)[..2], [Level::Grid, Level::Block]);
    crate::make_kernels(&mut program);
    nova_loop::verify(&program).unwrap();
    let found = levels_in(&program);
    assert_eq!(found[..2], [Level::Sequential, Level::Block], "{found:?}");
}
