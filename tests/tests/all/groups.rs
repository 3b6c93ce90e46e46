//! Tests of strategies in the text of kernels (dpia.txt §6): the loops and the arrays of the
//! strategy and no others, barriers where threads use data that others write, and failures.

use nova_core::Value;
use nova_driver::{Checked, Compiler, Options, Source, Stage, Target};
use nova_exec::CallError;
use nova_exec::library::Library;
use nova_tests::programs::{How, emit};
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

/// The words of a language of kernels.
struct Words {
    target: Target,
    /// The text before each kernel, and after the last one.
    kernel: &'static str,
    end: &'static str,
    /// The beginning of loops of work-groups.
    group: &'static str,
    /// The texts that are counted in the kernel of a strategy: loops over all work-items, over
    /// work-groups, over the work-items of a group, and those of one work-item; barriers; arrays of
    /// a group.
    parts: [&'static str; 6],
    /// Vectors loaded from `xs` and `ys`, stored, and loaded at all.
    vectors: [&'static str; 4],
}

const WORDS: [Words; 2] = [
    Words {
        target: Target::OpenCl,
        kernel: "__kernel",
        end: "nova_kernel_names",
        group: "get_group_id(0)",
        parts: [
            "NOVA_SHARED_LOOP(",
            "NOVA_GROUP_LOOP(",
            "NOVA_LOCAL_LOOP(",
            "for (",
            "barrier(CLK_LOCAL_MEM_FENCE",
            "__local float *",
        ],
        vectors: ["vload4(0, xs", "vload4(0, ys", "vstore4((float4)(", "vload"],
    },
    Words {
        target: Target::Cuda,
        kernel: "__global__",
        end: "} /* nova_kernels */",
        group: "blockIdx.x",
        parts: [
            "NOVA_SHARED_LOOP(",
            "NOVA_GROUP_LOOP(",
            "NOVA_LOCAL_LOOP(",
            "for (",
            "__syncthreads()",
            "= (float *)(shared",
        ],
        vectors: [
            "nova_load_vector<4>(xs",
            "nova_load_vector<4>(ys",
            "nova_store_vector(",
            "nova_load_vector<",
        ],
    },
];

/// Returns the text of the kernels of a program, and that of its host.
fn emitted(words: &Words, source: Source) -> (String, String) {
    let compiler = Compiler::new(options(words.target));
    let mut checked = compiler.check(source).unwrap();
    let text = compiler.compile(&mut checked).unwrap().files.source;
    let (before, rest) = text.split_once(words.kernel).expect("a kernel");
    let (kernels, host) = rest.split_once(words.end).expect("its name");
    let has_groups = kernels.contains("NOVA_GROUP_LOOP(");
    let says = before.contains(words.group);
    assert!(says || !has_groups, "what the loops stand for");
    let kernels: String = kernels.lines().flat_map(|l| [l.trim(), "\n"]).collect();
    (format!("{}{kernels}", words.kernel), host.to_string())
}

/// Counts the occurrences of each part in a text.
fn counts<const N: usize>(text: &str, parts: [&str; N]) -> [usize; N] {
    parts.map(|part| text.matches(part).count())
}

#[test]
fn the_text_of_each_example_has_the_loops_and_arrays_of_its_strategy() {
    // The last two numbers count arrays in global memory that the kernel writes, and arrays that
    // the host allocates before it. The results of `gemv` and `scal` are written to the caller's
    // memory.
    let rows: &[(&str, [usize; 6], [usize; 2])] = &[
        // dpia.txt (1): a parallel map to a temporary, which the host reduces in order.
        ("dot_global", [1, 0, 0, 0, 0, 0], [1, 1]),
        // dpia.txt (2): groups, their items, and a loop that accumulates in a scalar.
        ("dot_groups", [0, 1, 1, 1, 0, 0], [1, 1]),
        // §6.3.
        ("dot_vectors", [0, 1, 1, 1, 0, 0], [1, 1]),
        // The items' sums are in local memory, and the group adds them. One item writes the result.
        // The next iteration of the group uses the local memory again.
        ("asum", [0, 1, 2, 2, 2, 1], [1, 1]),
        ("gemv", [0, 1, 2, 2, 2, 1], [1, 0]),
        ("scal", [0, 1, 1, 0, 0, 0], [1, 0]),
    ];
    let all = WORDS
        .iter()
        .flat_map(|w| rows.iter().map(move |row| (w, row)));
    for (words, (name, loops, [written, allocated])) in all {
        let (kernels, host) = emitted(words, Source::File(example(name)));
        let first = kernels.split(words.kernel).nth(1).unwrap();
        let found = counts(first, words.parts);
        assert_eq!(found, *loops, "{name}: {:?}\n{first}", words.parts);
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
    for words in &WORDS {
        let (kernels, _) = emitted(words, Source::File(example("scal")));
        let found = counts(&kernels, words.vectors);
        assert_eq!(found, [1, 0, 1, 1], "{kernels}");
        // `as_scalar` needs no kernel of its own.
        assert_eq!(kernels.matches(words.kernel).count(), 1, "{kernels}");
        let (kernels, _) = emitted(words, Source::File(example("dot_vectors")));
        let found = counts(&kernels, words.vectors);
        assert_eq!(found, [1, 1, 1, 2], "{kernels}");
    }
}

/// Returns the available devices, and prints a note about each other one.
fn devices() -> Vec<Target> {
    let all = [
        (Target::OpenCl, nova_tests::devices::has_opencl()),
        (Target::Cuda, nova_tests::devices::has_cuda()),
    ];
    let present = all.into_iter().filter(|(_, present)| *present);
    present.map(|(target, _)| target).collect()
}

/// Compiles a program with several entries.
fn compile(text: &str, target: Target) -> (Checked, Library) {
    let source = Source::text("groups.nova", text);
    let (checked, library, _) = nova_tests::programs::load(options(target), source);
    (checked, library)
}

fn call(program: &(Checked, Library), entry: usize, inputs: &[&str]) -> Result<Value, CallError> {
    let (checked, library) = program;
    let values = nova_tests::inputs::read(&checked.program, entry, inputs);
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
; Groups that wait in each iteration of a loop of their own.
(entry rounds ((X : vector int) (k : int))
  (map_workgroup (lambda (row)
    (reduce_seq + 0 (iterate k (lambda (r) ((to_local (map_local (lambda (x) (+ x (r ! 0))))) r))
      ((to_local (map_local (lambda (x) x))) row))))
   (split 4 X)))
";

#[test]
fn groups_give_what_one_thread_gives() {
    let host = compile(PROGRAM, Target::Sequential);
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
    for device in devices() {
        let device = compile(PROGRAM, device);
        for (entry, inputs) in calls {
            let expected = call(&host, *entry, inputs).unwrap();
            let found = call(&device, *entry, inputs).unwrap();
            assert!(
                found.same(&expected),
                "{entry}: {found:?}, not {expected:?}"
            );
        }
        one_item_fails(&device, &ones);
        let expected = call(&host, 0, &[&many]).unwrap();
        assert!(call(&device, 0, &[&many]).unwrap().same(&expected));
    }
}

/// Tests that the other items end as well when one item of one group fails.
fn one_item_fails(device: &(Checked, Library), ones: &[String]) {
    for zero in [0, 17, 399] {
        let mut bad = ones.to_vec();
        bad[zero] = "0".to_string();
        match call(device, 0, &[&format!("[{}]", bad.join(" "))]) {
            Err(CallError::Failed { code, message }) => {
                assert_eq!(code, 1);
                assert_eq!(message, "groups.nova:2:27: division by zero");
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Local arrays of more than 48 KB, which must be requested from CUDA.
const LARGE: &str = "
(entry reversed ((X : vector double) (n : int))
  (map_workgroup (lambda (row)
    (let (copy ((to_local (map_local (* 2))) row))
     in (map_local (lambda (i) (copy ! (- (- n 1) i))) (range n))))
   (split n X)))
";

/// PoCL 3.1 runs a loop of threads wrongly that is between the last barrier of a block and its end,
/// if a group may also end early there (`nova-c/src/device/work_groups.rs`).
#[test]
fn groups_that_may_end_early_meet_at_the_end_of_a_block() {
    let group = |body: &str| {
        format!(
            "((xs : vector int))
             (join (map_workgroup (lambda (row)
                 (map_local (reduce_seq + 0) (split 4 (to_local (map_local {body}) row))))
                 (split 64 xs)))"
        )
    };
    let emitted = |body: &str, target| emit(&group(body), target, How::usual(true), Stage::C);
    let barrier = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\\n\"\n    \"";
    let at_end = format!("{barrier}    }}\\n\"\n    \"}}");
    let failing = emitted("(lambda (x) (/ 1000 x))", Target::OpenCl);
    assert_eq!(failing.matches(&at_end).count(), 1, "{failing}");
    let sure = emitted("(lambda (x) (* x x))", Target::OpenCl);
    assert!(sure.contains(barrier) && !sure.contains(&at_end), "{sure}");
    let cuda = emitted("(lambda (x) (/ 1000 x))", Target::Cuda);
    assert!(cuda.contains("        __syncthreads();\n"), "{cuda}");
    assert!(!cuda.contains("__syncthreads();\n    }\n}"), "{cuda}");
}

#[test]
fn local_arrays_are_as_large_as_the_device_allows() {
    let host = compile(LARGE, Target::Sequential);
    for target in devices() {
        let device = compile(LARGE, target);
        // Where half a megabyte is too much, the call reports it.
        for n in [4, 8000, 70000] {
            let numbers: Vec<String> = (0..2 * n).map(|k| k.to_string()).collect();
            let inputs = [format!("[{}]", numbers.join(" ")), n.to_string()];
            let inputs = [inputs[0].as_str(), inputs[1].as_str()];
            match call(&device, 0, &inputs) {
                Ok(found) => assert!(found.same(&call(&host, 0, &inputs).unwrap())),
                Err(CallError::Failed { code, message }) => {
                    assert_eq!(code, 2, "{message}");
                    assert!(
                        message.contains("the arrays of a work-group have"),
                        "{message}"
                    );
                    let too_small = n == 8000 && target == Target::OpenCl;
                    assert!(n == 70000 || too_small, "{message}");
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

/// Vectors of elements of every size, which begin at any offset.
const VECTORS: &str = "
(entry bytes ((X : vector int8) (from : int))
  (let (two ((as_vector 16 (replicate 16 2i8)) ! 0))
   in (as_scalar (map_global (* two) (as_vector 16 (slice from 1 (length X) X))))))
(entry shorts ((X : vector int16) (from : int))
  (let (two ((as_vector 2 (replicate 2 2i16)) ! 0))
   in (as_scalar (map_global (* two) (as_vector 2 (slice from 1 (length X) X))))))
(entry floats ((X : vector float) (from : int))
  (let (two ((as_vector 4 (replicate 4 2.0)) ! 0))
   in (as_scalar (map_global (* two) (as_vector 4 (slice from 1 (length X) X))))))
(entry doubles ((X : vector double) (from : int))
  (let (two ((as_vector 8 (replicate 8 2.0)) ! 0))
   in (as_scalar (map_global (* two) (as_vector 8 (slice from 1 (length X) X))))))
";

#[test]
fn vectors_need_not_lie_at_multiples_of_their_size() {
    let host = compile(VECTORS, Target::Sequential);
    for target in devices() {
        let device = compile(VECTORS, target);
        for entry in 0..4 {
            for from in [0usize, 1, 3, 4, 8] {
                let numbers: Vec<String> = (0..64 + from).map(|k| (k % 60).to_string()).collect();
                let numbers = format!("[{}]", numbers.join(" "));
                let inputs = [numbers.as_str(), &from.to_string()];
                let expected = call(&host, entry, &inputs).unwrap();
                let found = call(&device, entry, &inputs).unwrap();
                assert!(found.same(&expected), "{entry}, {from}: {found:?}");
            }
        }
    }
}
