//! Tests of parallel regions: the loops at the level of a grid that threads may share, and the variables that
//! such a loop captures.

use crate::programs::parsed;
use nova_loop::ir::{Command, Expression, Level, Program};
use nova_loop::walk::each_command;
use nova_loop_opt::parallel_regions;

/// A function whose only loop runs `body` for `i` below `n` at the level of a grid.
fn program(body: &str) -> Program {
    let text = format!(
        "(program
          (sum \"List\" [] [0] (\"Nil\" unit) (\"Cons\" (tuple i32 (sum 0))))
          (foreign \"c_function\" [f32] f32)
          (foreign effect \"c_effect\" [f32] f32)
          (foreign \"c_length\" [(sum 0)] i32)
          (function \"f\" [n:i64 x:(pointer f32) xb:block y:(pointer f32) a:f32] [r:f32 rb:block]
            (declare outside:i64 0)
            (for i n grid {body})
            (set r a) (set rb xb) (retain rb))
          (sum \"Rows\" [] [1] (\"End\" unit) (\"Row\" (tuple (vector i32) (sum 1))))
          (function \"pure\" [v:f32] [w:f32] (set w (mul f32 v v)))
          (function \"append\" [v:i32] [l:i64] (new 0 1 [v 0] l))
          (function \"appends\" [v:i32] [l:i64] (declare k:i64) (call \"append\" [v] [k]) (set l k))
          (function \"keeps\" [p:(pointer f32) pb:block] [s:f32] (set s (load p 0))))"
    );
    parsed(&text)
}

/// Returns the level of the loop after the pass, and its body.
fn after(body: &str) -> (Level, Vec<Command>) {
    let mut program = program(body);
    parallel_regions::run(&mut program);
    let mut found = None;
    each_command(&program.functions[0].body, |command| {
        if let Command::For { level, body, .. } = command
            && found.is_none()
        {
            found = Some((*level, body.clone()));
        }
    });
    found.unwrap()
}

#[track_caller]
fn is_shared(body: &str, expected: bool) {
    let level = match expected {
        true => Level::Grid,
        false => Level::Sequential,
    };
    assert_eq!(after(body).0, level, "{body}");
}

#[test]
fn threads_share_loops_that_store_their_own_elements() {
    is_shared("(store y i (mul f32 a (load x i)))", true);
    is_shared("(declare v:f32 a) (set v (load x i)) (store y i v)", true);
    is_shared(
        "(declare v:f32) (call \"pure\" [a] [v]) (store y i v)",
        true,
    );
    is_shared(
        "(declare p:(pointer f32)) (declare h:block) (allocate h p f32 n) (store p 0 a)
         (store y i (load p 0)) (release h)",
        true,
    );
}

#[test]
fn one_thread_runs_loops_that_assign_outer_variables() {
    is_shared("(set outside i)", false);
}

#[test]
fn a_shared_loop_only_borrows_outer_blocks() {
    let null = |expression: &Expression| matches!(expression, Expression::NullBlock);
    let (level, body) = after("(retain xb) (release xb)");
    assert_eq!(level, Level::Grid);
    assert!(body.is_empty(), "{body:?}");
    let (level, body) = after("(declare s:f32) (call \"keeps\" [x xb] [s]) (store y i s)");
    assert_eq!(level, Level::Grid);
    let calls = |c: &Command| matches!(c, Command::Call { arguments, .. } if null(&arguments[1]));
    assert!(body.iter().any(calls), "{body:?}");
    let (level, body) = after("(declare h:block) (set h xb) (retain h) (release h)");
    assert_eq!(level, Level::Grid);
    let sets = |c: &Command| matches!(c, Command::Assign { value, .. } if null(value));
    assert!(body.iter().any(sets), "{body:?}");
}

#[test]
fn one_thread_runs_loops_that_use_resources_of_the_whole_call() {
    is_shared("(trace \"a\" f32 [a])", false);
    is_shared("(declare v:f32) (foreign 1 [a] [v])", false);
}

#[test]
fn threads_append_nodes_without_arrays() {
    let append = "(declare l:i64) (new 0 1 [1 0] l)";
    is_shared(append, true);
    is_shared("(declare l:i64) (call \"appends\" [1] [l])", true);
    is_shared(
        "(declare p:(pointer i32)) (declare h:block) (allocate h p i32 n) (declare l:i64)
         (new 1 1 [n p h 0] l) (release h)",
        false,
    );
    // The program says that threads do so.
    let shared = |body: &str| {
        let mut program = program(body);
        parallel_regions::run(&mut program);
        program.nodes_by_threads
    };
    assert!(shared(append));
    assert!(shared("(declare l:i64) (new 0 0 [] l)"));
    assert!(!shared("(store y i a)"));
}

#[test]
fn threads_pass_no_recursive_data_to_foreign_functions() {
    is_shared("(declare k:i32) (foreign 2 [0] [k])", false);
}

#[test]
fn functions_without_side_effects_are_called_by_several_threads() {
    is_shared("(declare v:f32) (foreign 0 [a] [v]) (store y i v)", true);
}

#[test]
fn a_thread_fences_its_own_non_temporal_stores() {
    let (level, body) =
        after("(local p:(pointer f32) 16) (non_temporal_store_lines [y] (mul i64 i 16) p 16)");
    assert_eq!(level, Level::Grid);
    assert!(matches!(body.last(), Some(Command::StoreFence)));
    let (_, body) = after("(store y i a)");
    assert!(!matches!(body.last(), Some(Command::StoreFence)));
}

#[test]
fn a_region_captures_variables_that_it_does_not_declare() {
    let program =
        program("(declare v:f32 (load x i)) (for k 4 sequential (store y k (mul f32 v a)))");
    let mut names = Vec::new();
    each_command(&program.functions[0].body, |command| {
        if let Command::For {
            variable,
            body,
            level: Level::Grid,
            ..
        } = command
        {
            let captured = nova_loop::captures::captured(*variable, body);
            names = captured
                .iter()
                .map(|v| program.variable(*v).name.to_string())
                .collect();
        }
    });
    assert_eq!(names, ["x", "y", "a"]);
}
