//! Strategies in the text of kernels (dpia.txt §6): the loops that the strategy says, the arrays that it
//! says and no others, barriers where threads use what others write, and what happens when one fails.

use nova_core::Value;
use nova_core::text::read_value;
use nova_driver::{Checked, Compiler, Options, Source, Target};
use nova_exec::CallError;
use nova_exec::library::Library;
use std::path::{Path, PathBuf};

fn options(target: Target) -> Options {
    Options {
        target,
        verify: true,
        ..Options::default()
    }
}

fn example(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    root.join(format!("nova-examples/strategies/{name}.nova"))
}

/// The text of the kernels of a program, and that of its host.
fn emitted(source: Source) -> (String, String) {
    let compiler = Compiler::new(options(Target::OpenCl));
    let mut checked = compiler.check(source).unwrap();
    let text = compiler.compile(&mut checked).unwrap().files.source;
    let (before, rest) = text.split_once("__kernel").expect("a kernel");
    let (kernels, host) = rest.split_once("nova_kernel_names").expect("its name");
    assert!(
        before.contains("get_group_id(0)"),
        "what the loops stand for"
    );
    let kernels: String = kernels.lines().flat_map(|l| [l.trim(), "\n"]).collect();
    (format!("__kernel{kernels}"), host.to_string())
}

/// How often each part stands in a text.
fn counts<const N: usize>(text: &str, parts: [&str; N]) -> [usize; N] {
    parts.map(|part| text.matches(part).count())
}

/// What is counted in the text of the kernel that a strategy describes: loops over all work-items, over
/// work-groups, over the work-items of a group, and those of one; barriers; arrays of a group.
const PARTS: [&str; 6] = [
    "NOVA_SHARED_LOOP(",
    "NOVA_GROUP_LOOP(",
    "NOVA_LOCAL_LOOP(",
    "for (",
    "barrier(CLK_LOCAL_MEM_FENCE",
    "__local float *",
];

#[test]
fn the_text_of_each_example_has_the_loops_and_arrays_of_its_strategy() {
    // The last two numbers: arrays in global memory that the kernel writes, and arrays that the host
    // allocates before it; the result of `gemv` lies where the caller gets it.
    let rows: &[(&str, [usize; 6], [usize; 2])] = &[
        // dpia.txt (1): a parallel map to a temporary; the host reduces it in order.
        ("dot_global", [1, 0, 0, 0, 0, 0], [1, 1]),
        // dpia.txt (2): groups, their items, and a loop that accumulates in a scalar.
        ("dot_groups", [0, 1, 1, 1, 0, 0], [1, 1]),
        // §6.3.
        ("dot_vectors", [0, 1, 1, 1, 0, 0], [1, 1]),
        // The items' sums in local memory, added by the group; one item writes what that gives. Local
        // memory is used again by the next group's round.
        ("asum", [0, 1, 2, 2, 2, 1], [1, 1]),
        ("gemv", [0, 1, 2, 2, 2, 1], [1, 0]),
        ("scal", [0, 1, 1, 0, 0, 0], [1, 1]),
    ];
    for (name, loops, [written, allocated]) in rows {
        let (kernels, host) = emitted(Source::File(example(name)));
        let first = kernels.split("__kernel").nth(1).unwrap();
        assert_eq!(counts(first, PARTS), *loops, "{name}: {PARTS:?}\n{first}");
        let launch = host.split("nova_launch").next().unwrap();
        let found = counts(launch, ["true)", "nova_allocate("]);
        assert_eq!(
            found,
            [*written, *allocated],
            "{name}: written, new\n{launch}"
        );
    }
}

#[test]
fn vectors_are_loaded_and_stored_whole() {
    let parts = ["vload4(0, xs", "vload4(0, ys", "vstore4((float4)(", "vload"];
    let (kernels, _) = emitted(Source::File(example("scal")));
    assert_eq!(counts(&kernels, parts), [1, 0, 1, 1], "{kernels}");
    // Nothing is left to do for `as_scalar`.
    assert_eq!(kernels.matches("__kernel").count(), 1, "{kernels}");
    let (kernels, _) = emitted(Source::File(example("dot_vectors")));
    assert_eq!(counts(&kernels, parts), [1, 1, 1, 2], "{kernels}");
}

/// A program with several entries; `None`, and a word about it, where there is no OpenCL.
fn compile(text: &str, target: Target) -> Option<(Checked, Library)> {
    if target == Target::OpenCl && !nova_exec::devices::has_opencl() {
        eprintln!("skipped: opencl (no OpenCL on this machine)");
        return None;
    }
    let compiler = Compiler::new(options(target));
    let mut checked = compiler.check(Source::text("groups.nova", text)).unwrap();
    let library = compiler.load(&mut checked, &[]).unwrap();
    Some((checked, library))
}

fn call(program: &(Checked, Library), entry: usize, inputs: &[&str]) -> Result<Value, CallError> {
    let (checked, library) = program;
    let core = &checked.program;
    let values = core.entries[entry].inputs.iter().zip(inputs);
    let values: Vec<Value> = values
        .map(|(input, text)| read_value(text, &core.variable(*input).ty, &core.sums).unwrap())
        .collect();
    library.call(entry, &values)
}

const PROGRAM: &str = "
(define (item (lambda (x) (/ 100 x))))
; Items that may fail before all wait for what they have written.
(entry fails ((X : vector int))
  (map_workgroup (lambda (row)
    (let (sums ((to_local (map_local item)) row))
         (more ((to_local (map_local (lambda (x) (+ x (reduce_seq + 0 sums))))) row))
     in (reduce_seq + 0 more)))
   (split 40 X)))
; A temporary in global memory: a part for each group.
(entry expanded ((X : vector int) (n : int))
  (map_workgroup (lambda (row)
    (let (squares ((to_global (map_local (lambda (x) (* x x)))) row))
     in (map_local (lambda (x) (+ x (squares ! 0))) squares)))
   (split n X)))
; One of private memory, whose length is known only when the program runs: a part for each item.
(entry private ((X : vector int) (n : int))
  (map_workgroup (lambda (row)
    (map_local (lambda (x)
      (reduce_seq + 0 ((to_private (map_seq (+ x))) row))) row))
   (split n X)))
; Groups that wait in each round of a loop of their own.
(entry rounds ((X : vector int) (k : int))
  (map_workgroup (lambda (row)
    (reduce_seq + 0 (iterate k (lambda (r) ((to_local (map_local (lambda (x) (+ x (r ! 0))))) r)) row)))
   (split 4 X)))
";

#[test]
fn groups_give_what_one_thread_gives() {
    let Some(device) = compile(PROGRAM, Target::OpenCl) else {
        return;
    };
    let host = compile(PROGRAM, Target::Sequential).expect("a program");
    let ones: Vec<String> = (0..400).map(|k| (k % 7 + 1).to_string()).collect();
    let many = format!("[{}]", ones.join(" "));
    let calls: &[(usize, &[&str])] = &[
        (0, &[&many]),
        (0, &["[]"]),
        (1, &["[1 2 3 4 5 6]", "3"]),
        (1, &[&many, "100"]),
        (2, &["[1 2 3 4 5 6]", "2"]),
        (2, &[&many, "50"]),
        (3, &["[1 2 3 4 5 6 7 8]", "5"]),
        (3, &["[1 2 3 4]", "0"]),
    ];
    for (entry, inputs) in calls {
        let expected = call(&host, *entry, inputs).unwrap();
        let found = call(&device, *entry, inputs).unwrap();
        assert!(
            found.same(&expected),
            "{entry}: {found:?}, not {expected:?}"
        );
    }
    // One item of one group fails, and the call after it is right again.
    for zero in [0, 17, 399] {
        let mut bad = ones.clone();
        bad[zero] = "0".to_string();
        let failed = call(&device, 0, &[&format!("[{}]", bad.join(" "))]);
        match failed {
            Err(CallError::Failed { code, message }) => {
                assert_eq!(code, 1);
                assert_eq!(message, "groups.nova:2:27: division by zero");
            }
            other => panic!("{other:?}"),
        }
    }
    let expected = call(&host, 0, &[&many]).unwrap();
    assert!(call(&device, 0, &[&many]).unwrap().same(&expected));
}
