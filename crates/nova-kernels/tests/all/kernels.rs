//! Tests of kernels: the loops that become kernels, the arrays that these read and write, and the marks of
//! host-device coherence.

use crate::programs::parsed;
use crate::translated::levels;
use nova_kernels::coherence;
use nova_loop::ir::{Command, HostAccess, Level, Program};
use nova_loop::walk::each_command;

/// A program with a function with this body, in which `n` is a number, `x` and `y` are arrays, and `xb` is
/// the handle of `x`.
fn program(body: &str) -> Program {
    let text = format!(
        "(program
          (sum \"List\" [] [0] (\"Nil\" unit) (\"Cons\" (tuple i32 (sum 0))))
          (sum \"Rose\" [] [1] (\"Bare\" i32) (\"Rose\" (tuple (vector i32) (sum 1))))
          (foreign \"c_function\" [f32] f32)
          (function \"f\" [n:i64 x:(pointer f32) xb:block y:(pointer f32) a:f32] [r:f32]
            (declare outside:i64 0) {body}
            (set r a))
          (function \"pure\" [v1:f32] [w1:f32] (set w1 (mul f32 v1 v1)))
          (function \"reads\" [p2:(pointer f32) pb2:block] [s2:f32] (set s2 (load p2 0)))
          (function \"writes\" [p3:(pointer f32) pb3:block] [s3:f32] (store p3 0 1.0f) (set s3 1.0f))
          (function \"launches\" [p4:(pointer f32) pb4:block] [s4:f32]
            (for m4 4 grid (store p4 m4 2.0f)) (set s4 0.0f))
          (function \"again\" recursive [p6:(pointer f32) m6:i64] [s6:f32]
            (set s6 0.0f)
            (if (gt i64 m6 0) (do (call \"again\" [p6 (sub i64 m6 1)] [s6]))))
          (function \"builds\" recursive [m9:i64] [s9:i64]
            (new 0 0 [] s9)
            (if (gt i64 m9 0)
              (do (call \"builds\" [(sub i64 m9 1)] [s9]) (new 0 1 [1i32 s9] s9))))
          (function \"moves\" recursive [p7:(pointer f32) m7:i64] [s7:f32]
            (set s7 0.0f)
            (if (gt i64 m7 0) (do (call \"moves\" [(offset p7 1) (sub i64 m7 1)] [s7]))))
          (function \"gives\" recursive [p8:(pointer f32) m8:i64] [s8:(pointer f32) sb8:block]
            (if (gt i64 m8 0) (do (call \"gives\" [p8 (sub i64 m8 1)] [s8 sb8]))
              (do (set s8 p8) (set sb8 null))))
          (function \"makes\" [m5:i64] [s5:f32]
            (declare q5:(pointer f32)) (declare qb5:block) (allocate qb5 q5 f32 m5)
            (store q5 0 1.0f) (set s5 (load q5 0)) (release qb5)))"
    );
    parsed(&text)
}

/// Returns the program after the choice of kernels and, if `marks`, with the marks for the host.
fn after(body: &str, marks: bool) -> Program {
    let mut program = program(body);
    crate::make_kernels(&mut program);
    if marks {
        coherence::run(&mut program);
    }
    if let Err(errors) = nova_loop::verify(&program) {
        panic!("{errors:?}\n{body}");
    }
    program
}

/// True if a loop with this body becomes a kernel.
fn is_kernel(body: &str) -> bool {
    let program = after(&format!("(for i n grid {body})"), false);
    let mut found = None;
    each_command(&program.functions[0].body, |command| {
        if let Command::For { level, .. } = command
            && found.is_none()
        {
            found = Some(*level == Level::Grid);
        }
    });
    found.unwrap()
}

#[test]
fn kernels_compute_read_and_write_arrays() {
    for body in [
        "(store y i (mul f32 a (load x i)))",
        "(local p:(pointer f32) 4) (for k 4 sequential (store p k a)) (store y i (load p 3))",
        "(check (lt i64 i 3) index [i n] \"a:1:1\") (store y i a)",
        "(declare v:f32) (call \"pure\" [a] [v]) (store y i v)",
        "(declare v:f32) (call \"reads\" [x xb] [v]) (store y i v)",
        "(copy (offset y (mul i64 i 4)) (offset x (mul i64 i 4)) f32 4)",
        "(retain xb) (release xb)",
        "(declare t:i32 (tag 0 i))",
        "(declare v:f32) (call \"again\" [x i] [v]) (store y i v)",
        "(declare l:i64) (new 0 1 [1i32 0] l)",
        "(declare l:i64) (call \"builds\" [i] [l])",
    ] {
        assert!(is_kernel(body), "{body}");
    }
}

#[test]
fn work_groups_append_no_nodes() {
    for command in [
        "(declare l:i64) (new 0 0 [] l)",
        "(declare l:i64) (call \"builds\" [2] [l])",
    ] {
        let body = format!("(for g n block {command} (for k 4 thread (store y k a)))");
        let mut levels = Vec::new();
        each_command(&after(&body, false).functions[0].body, |command| {
            if let Command::For { level, .. } = command {
                levels.push(*level);
            }
        });
        assert_eq!(levels, [Level::Sequential, Level::Sequential], "{command}");
    }
}

#[test]
fn the_host_runs_loops_that_a_device_cannot_run() {
    for body in [
        "(set outside i)",
        // A node of a sum whose nodes may hold arrays.
        "(declare l:i64) (new 1 0 [1i32] l)",
        "(trace \"a\" f32 [a])",
        "(declare v:f32) (foreign 0 [a] [v])",
        "(declare v:f32) (call \"launches\" [x xb] [v]) (set outside i)",
        // A recursive function that passes on another array, and one whose result is an array.
        "(declare v:f32) (call \"moves\" [x i] [v]) (store y i v)",
        "(declare q:(pointer f32)) (declare h:block) (call \"gives\" [x i] [q h]) (release h)",
        // One pointer to an array of this thread, and then to a block in memory of all threads.
        "(local p:(pointer f32) 4) (declare h:block) (allocate h p f32 4) (release h)",
        // One pointer to either kind of memory, and an array of this thread that is passed to a function.
        "(local p:(pointer f32) 4) (declare q:(pointer f32) (select (lt i64 i 2) p x))
         (store q 0 a)",
        "(local p:(pointer f32) 4) (store p 0 a) (declare v:f32) (call \"reads\" [p null] [v])",
    ] {
        assert!(!is_kernel(body), "{body}");
    }
}

#[test]
fn kernels_make_arrays() {
    for body in [
        "(declare v:f32) (call \"makes\" [3] [v]) (store y i v)",
        "(declare p:(pointer f32)) (declare h:block) (allocate h p f32 4) (release h)",
    ] {
        assert!(is_kernel(body), "{body}");
    }
}

#[test]
fn work_groups_stand_beside_recursive_functions() {
    let body = "(for g n block (for k 4 thread (store y (add i64 (mul i64 g 4) k) a)))";
    let mut levels = Vec::new();
    each_command(&after(body, false).functions[0].body, |command| {
        if let Command::For { level, .. } = command {
            levels.push(*level);
        }
    });
    assert_eq!(levels, [Level::Block, Level::Thread]);
}

#[test]
fn kernels_do_not_read_result_buffers_of_the_host() {
    // The first loop stores arrays in result buffers, the second one reads them.
    let text = |reason: &str| {
        format!(
            "(declare t:block) (result_buffers t n \"a:1:1\")
             (for i n grid {reason}
               (declare p:(pointer f32)) (declare h:block) (allocate h p f32 4)
               (store_buffer t i h p f32 4 \"a:1:1\") (release h))
             (for j n grid (declare q:(pointer f32)) (buffer q t f32 j) (store y j (load q 0)))
             (drop_buffers t n)"
        )
    };
    for (reason, expected) in [("", 2), ("(trace \"a\" f32 [a])", 0)] {
        let mut grids = 0;
        each_command(&after(&text(reason), false).functions[0].body, |command| {
            let is_grid = matches!(command, Command::For { level, .. } if *level == Level::Grid);
            grids += usize::from(is_grid);
        });
        assert_eq!(grids, expected, "{reason}");
    }
}

#[test]
fn loops_inside_of_kernels_are_sequential() {
    let program = after("(for i n grid (for k 4 grid (store y k a)))", false);
    let levels = levels(&program.functions[0].body);
    assert_eq!(levels, [Level::Grid, Level::Sequential]);
}

#[test]
fn a_loop_of_the_host_leaves_kernels_inside() {
    let body = "(for i n grid (trace \"a\" f32 [a]) (for k 4 grid (store y k a)))";
    let program = after(body, false);
    let levels = levels(&program.functions[0].body);
    assert_eq!(levels, [Level::Sequential, Level::Grid]);
}

/// Returns the names of the arrays that the kernel of a body writes.
fn written(body: &str) -> Vec<String> {
    let program = program(&format!("(for i n grid {body})"));
    let mut names = Vec::new();
    each_command(&program.functions[0].body, |command| {
        if let Command::For {
            variable,
            level: Level::Grid,
            body,
            ..
        } = command
        {
            let found = nova_loop::kernels::written(&program, *variable, body);
            names = found
                .iter()
                .map(|v| program.variable(*v).name.to_string())
                .collect();
        }
    });
    names
}

#[test]
fn writes_of_kernels_are_found_through_pointers_and_calls() {
    assert_eq!(written("(store y i (load x i))"), ["y"]);
    assert_eq!(
        written("(declare p:(pointer f32) (offset x i)) (store p 0 a)"),
        ["x"]
    );
    assert_eq!(
        written("(declare p:(pointer f32) x) (for k 2 sequential (store p 0 a) (set p y))"),
        ["x", "y"]
    );
    assert_eq!(written("(copy y x f32 4)"), ["y"]);
    let call = |name: &str| format!("(declare v:f32) (call \"{name}\" [x xb] [v])");
    assert_eq!(written(&call("writes")), ["x"]);
    assert!(written(&call("reads")).is_empty());
}

/// Returns the function's marks for the host, and its kernels and loops, in order.
fn marks(body: &str) -> Vec<String> {
    let program = after(body, true);
    let mut out = Vec::new();
    list(&program, &program.functions[0].body, &mut out);
    out
}

fn list(program: &Program, commands: &[Command], out: &mut Vec<String>) {
    for command in commands {
        match command {
            Command::OnHost { pointer, access } => {
                let name = &program.variable(*pointer).name;
                let what = match access {
                    HostAccess::Reads => "read",
                    HostAccess::Writes => "write",
                    HostAccess::ReadsElement(_) => "element of",
                    HostAccess::WroteElement(_) => "wrote of",
                };
                out.push(format!("{what} {name}"));
            }
            Command::For {
                level: Level::Grid, ..
            } => out.push("kernel".to_string()),
            Command::For { body, .. } | Command::Loop { body, .. } => {
                out.push("loop".to_string());
                list(program, body, out);
                out.push("end".to_string());
            }
            others => {
                for inner in others.lists() {
                    list(program, inner, out);
                }
            }
        }
    }
}

const KERNEL: &str = "(for i n grid (store y i (load x i)))";

#[test]
fn the_host_synchronises_once_and_again_after_a_kernel() {
    let read = |k: &str| format!("(for {k} n sequential (set a (load y {k})))");
    let reads = ["read y", "loop", "end"];
    let twice = [read("j"), read("k")].concat();
    assert_eq!(marks(&twice), [&reads[..], &["loop", "end"]].concat());
    let body = [&read("j"), KERNEL, &read("k")].concat();
    assert_eq!(marks(&body), [&reads[..], &["kernel"], &reads].concat());
    let written = [
        &read("j"),
        "(for k n sequential (store y k a)) (store y 1 a)",
    ]
    .concat();
    let writes = ["write y", "loop", "end"];
    assert_eq!(marks(&written), [&reads[..], &writes].concat());
}

#[test]
fn the_host_synchronises_few_elements_one_by_one() {
    assert_eq!(
        marks("(declare v:f32 (add f32 (load y 0) (load y n))) (declare w:f32 (load y 1))"),
        ["element of y", "element of y", "element of y"]
    );
    assert_eq!(
        marks("(declare v:f32 (load y 0)) (store y 0 v) (declare w:f32 (load y 1))"),
        ["element of y", "wrote of y", "element of y"]
    );
    // Many elements are written, or an element at an index that is not known after the store.
    let many: String = (0..5).map(|k| format!("(store y {k} a)")).collect();
    assert_eq!(marks(&many), ["write y"]);
    assert_eq!(
        marks("(store y (convert.i64 f32 (load y 0)) a)"),
        ["write y"]
    );
    // A condition that guards the load also guards the mark before the command.
    let program = after(
        "(declare v:f32 (select (lt i64 n 9) (load y n) 0.0f))",
        true,
    );
    let text = nova_loop::print::print(&program);
    let guarded = "(select (lt i64 n_0 9) n_0 -9223372036854775808))";
    assert!(text.contains(guarded), "{text}");
    // The index is not known before the command, or there are many elements.
    assert_eq!(
        marks("(declare v:f32 (load y (convert.i64 f32 (load x n))))"),
        ["element of x", "read y"]
    );
    let many = (0..5).map(|k| format!("(load y {k})"));
    let sum = many.reduce(|a, b| format!("(add f32 {a} {b})")).unwrap();
    assert_eq!(marks(&format!("(declare v:f32 {sum})")), ["read y"]);
}

#[test]
fn a_loop_without_kernels_synchronises_before() {
    let body = "(for k n sequential (declare p:(pointer f32) (offset x k)) (store y k (load p 0)))";
    assert_eq!(marks(body), ["read x", "write y", "loop", "end"]);
    // The array of a pointer that the loop assigns is synchronised inside.
    let body = "(declare p:(pointer f32) x)
        (for k n sequential (store p 0 a) (set p y))";
    assert_eq!(marks(body), ["loop", "write p", "end"]);
}

#[test]
fn a_loop_with_kernels_synchronises_inside() {
    let body = format!("(store y 0 a) (loop (store y 1 a) {KERNEL} (break))");
    assert_eq!(
        marks(&body),
        ["wrote of y", "loop", "wrote of y", "kernel", "end"]
    );
}

#[test]
fn calls_that_run_kernels_count_as_such() {
    let call = |name: &str| {
        format!("(store y 0 a) (declare v:f32) (call \"{name}\" [x xb] [v]) (store y 1 v)")
    };
    assert_eq!(marks(&call("reads")), ["wrote of y", "wrote of y"]);
    assert_eq!(marks(&call("launches")), ["wrote of y", "wrote of y"]);
}

#[test]
fn arrays_on_the_stack_are_never_synchronised() {
    let body = "(local p:(pointer f32) 4) (store p 0 a) (declare q:(pointer f32) (offset p 1))
        (store q 0 a)";
    assert!(marks(body).is_empty());
}

#[test]
fn facts_of_all_branches_hold_after_them() {
    let both = format!("(store y 0 a) (if (lt i64 n 3) (do {KERNEL}) (do)) (store y 1 a)");
    assert_eq!(marks(&both), ["wrote of y", "kernel", "wrote of y"]);
    let write = |k| format!("(for {k} n sequential (store y {k} a))");
    let [i, j, k] = ["i", "j", "k"].map(write);
    let written = format!("(if (lt i64 n 3) (do {i}) (do {j})) {k}");
    let writes = ["write y", "loop", "end"];
    let all = [&writes[..], &writes, &["loop", "end"]].concat();
    assert_eq!(marks(&written), all);
}
