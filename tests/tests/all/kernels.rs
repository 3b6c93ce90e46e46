//! Tests of programs for devices whose loops run as kernels: the operations of hosts, and failures.
//! Each test runs on every available device, OpenCL's and, emulated or not, CUDA's.

use nova_core::Value;
use nova_core::text::read_value;
use nova_driver::{Checked, Compiler, Failure, Options, Source, Target};
use nova_exec::CallError;
use nova_exec::library::Library;
use nova_schedule::Parallelism;

/// Compiles a program for each device, with operations in so small chunks that short arrays reach
/// kernels. Prints a note about each device that is not available.
fn compile(text: &str) -> Vec<(Checked, Library)> {
    compile_with(text, "")
}

/// Does the work of [`compile`]. The kernels, and no other code, contain this word.
pub fn compile_with(text: &str, word: &str) -> Vec<(Checked, Library)> {
    let devices = [
        (
            Target::OpenCl,
            "__kernel",
            nova_tests::devices::has_opencl(),
        ),
        (Target::Cuda, "__global__", nova_tests::devices::has_cuda()),
    ];
    let present = devices.into_iter().filter(|(_, _, present)| *present);
    present
        .map(|(target, kernel, _)| {
            let options = Options {
                target,
                parallelism: Some(Parallelism::SMALL),
                verify: true,
                ..Options::default()
            };
            let source = Source::text("kernels.nova", text);
            let (checked, library, code) = nova_tests::programs::load(options, source);
            assert!(code.contains(kernel), "{text}");
            assert!(code.contains(word), "{word}: {text}");
            (checked, library)
        })
        .collect()
}

fn call(program: &(Checked, Library), inputs: &[&str]) -> Result<Value, CallError> {
    let (checked, library) = program;
    let values = nova_tests::inputs::read(&checked.program, 0, inputs);
    library.call(0, &values)
}

/// Returns the error of a call.
#[track_caller]
pub fn failure(program: &(Checked, Library), inputs: &[&str]) -> (i32, String) {
    match call(program, inputs) {
        Err(CallError::Failed { code, message }) => (code, message),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
pub fn gives(program: &(Checked, Library), inputs: &[&str], expected: &str) {
    let value = call(program, inputs).unwrap_or_else(|e| panic!("{e}"));
    let (_, library) = program;
    let result = &library.entries().next().unwrap().result;
    let expected = read_value(expected, result, library.sums()).unwrap();
    assert!(value.same(&expected), "{value:?}, not {expected:?}");
}

#[test]
fn a_division_by_zero_in_a_kernel_is_reported_and_the_next_call_works() {
    let text = "((X : vector int) (Y : vector int))\n(map (lambda (x y) (/ x y)) X Y)";
    for program in &compile(text) {
        let zero = failure(program, &["[1 2 3 4]", "[1 2 0 4]"]);
        assert_eq!(zero, (1, "kernels.nova:2:20: division by zero".to_string()));
        gives(program, &["[8 6 4 2]", "[1 2 2 -1]"], "[8 3 2 -2]");
        gives(program, &["[]", "[]"], "[]");
    }
}

#[test]
fn later_kernels_do_nothing_after_a_failure() {
    // The second map would read far out of range if its indices had not been checked.
    let text = "((I : vector int) (X : vector int))
        (let (J (map (lambda (i) (X ! i)) I))
             (K (sort <= J))
         in (map (lambda (j) (X ! (/ 100 j))) K))";
    for program in &compile(text) {
        let (code, message) = failure(program, &["[0 99999999 1 2]", "[1 2 3 4]"]);
        assert_eq!(code, 1);
        assert!(
            message.contains("index 99999999 is out of range for length 4"),
            "{message}"
        );
        gives(program, &["[0 1 2 1]", "[100 50 100 7]"], "[100 100 50 50]");
    }
}

#[test]
fn closures_are_chosen_inside_of_kernels() {
    let text = "((X : vector int))
        (map (lambda (x) ((if (> x 2) (+ 10) (* x)) x)) X)";
    for program in &compile(text) {
        gives(program, &["[1 2 3 4]"], "[1 4 13 14]");
    }
}

#[test]
fn reciprocal_roots_are_the_devices_own() {
    let text = "((X : vector float)) (map rsqrt X)";
    for program in &compile_with(text, " = rsqrtf(") {
        gives(program, &["[4.0 0.25 1.0 0.0]"], "[0.5 2.0 1.0 inf]");
    }
}

#[test]
fn one_array_may_be_several_arguments() {
    let text = "((X : vector float) (Y : vector float)) (reduce + 0 (map * X Y))";
    for (checked, library) in &compile(text) {
        let core = &checked.program;
        let ty = &core.variable(core.entries[0].inputs[0]).ty;
        let value = read_value("[1 2 3 4 5]", ty, &core.sums).unwrap();
        let both = [value.clone(), value];
        let result = library.call(0, &both).unwrap();
        assert!(
            result.same(&Value::Scalar(nova_core::ScalarValue::F32(55.0))),
            "{result:?}"
        );
    }
}

#[test]
fn states_of_loops_stay_right_between_kernels_and_the_host() {
    // A kernel and one element on the host alternate.
    let text = "((X : vector int) (n : int))
        (iterate n (lambda (Y) (update (map (+ 1) Y) 0 (length Y))) X)";
    for program in &compile(text) {
        gives(program, &["[1 2 3 4 5]", "3"], "[5 5 6 7 8]");
        gives(program, &["[1 2 3 4 5]", "0"], "[1 2 3 4 5]");
    }
}

/// A function that makes arrays, one after the other. Its argument is their number.
const MULTIPLES: &str = "(define
  (multiples (lambda (k) : vector int
    ((while (lambda (i, _) (< i k))
       (lambda (i, found) ((+ i 1), (concat found [(* i k)])))
       (0, [])) . 1))))";

/// Returns the multiples of a number below its square.
fn multiples(k: i64) -> Vec<i64> {
    (0..k).map(|i| i * k).collect()
}

pub fn text_of(numbers: &[i64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
    format!("[{}]", numbers.join(" "))
}

/// Number of iterations that makes them threads of one kernel with different needs of memory, most
/// of them more than a thread has first.
const MANY: i64 = 2100;

#[test]
fn iterations_make_arrays() {
    let body = "(map (lambda (k) (let (m (multiples (% k 300))) in (+ (length m) (reduce + 0 m)))) (range n))";
    for program in &compile(&format!("((n : int))\n{MULTIPLES}\n{body}")) {
        let value = |k: i64| {
            let all = multiples(k % 300);
            all.len() as i64 + all.iter().sum::<i64>()
        };
        for n in [0, 5, MANY] {
            let expected: Vec<i64> = (0..n).map(value).collect();
            gives(program, &[&n.to_string()], &text_of(&expected));
        }
    }
}

#[test]
fn iterations_keep_arrays() {
    // More than the table can hold at first.
    let body = "(map (lambda (k) (multiples (% k 97))) (range n))";
    for program in &compile(&format!("((n : int))\n{MULTIPLES}\n{body}")) {
        for n in [0, 3, MANY] {
            let rows: Vec<String> = (0..n).map(|k| text_of(&multiples(k % 97))).collect();
            gives(program, &[&n.to_string()], &format!("[{}]", rows.join(" ")));
        }
    }
}

#[test]
fn states_of_loops_are_right_when_kernels_run_again() {
    let body = "(iterate 3 (lambda (Y) (map (lambda (k) (% (reduce + k (multiples (& k 255))) 1000)) (update Y 0 1))) X)";
    for program in &compile(&format!("((X : vector int))\n{MULTIPLES}\n{body}")) {
        let mut values: Vec<i64> = (0..MANY).map(|k| k * 37 % 1009).collect();
        let input = text_of(&values);
        for _ in 0..3 {
            values[0] = 1;
            for value in &mut values {
                *value = (*value + multiples(*value & 255).iter().sum::<i64>()) % 1000;
            }
        }
        gives(program, &[&input], &text_of(&values));
    }
}

#[test]
fn an_iteration_that_needs_more_memory_than_there_is_is_an_error() {
    let text = "((n : int64) (X : vector int64))
        (map (lambda (x) (reduce + 0 (sort <= (map (lambda (i) (% (+ i x) 7)) (range n))))) X)";
    for program in &compile(text) {
        let many = vec!["1"; MANY as usize].join(" ");
        let (code, message) = failure(program, &["70000000000000", &format!("[{many}]")]);
        assert_eq!(code, 2, "{message}");
        gives(program, &["10", "[1 2]"], "[27 30]");
    }
}

/// Types of recursive data, with and without arrays in their nodes.
pub const TREES: &str = "(types
    (Tree 'a : (+ (Leaf : unit) (Node : ('a, (Tree 'a), (Tree 'a)))))
    (Rose 'a : (+ (Rose : ('a, vector (Rose 'a), vector 'a)))))";

#[test]
fn kernels_read_nodes() {
    let body = "(define (leftmost (lambda (t best)
          (case t (Leaf best) (Node (x, l, r) (leftmost l x))))))
        (map (lambda (t) (leftmost t 0)) Ts)";
    let text = format!("((Ts : vector (Tree int)))\n{TREES}\n{body}");
    for program in &compile_with(&text, "struct nova_device_tables") {
        let trees = "[Leaf (Node (1, Leaf, Leaf)) (Node (1, (Node (2, Leaf, Leaf)), Leaf))]";
        gives(program, &[trees], "[0 1 2]");
        gives(program, &["[]"], "[]");
        gives(program, &["[Leaf Leaf]"], "[0 0]");
    }
}

#[test]
fn kernels_read_arrays_of_nodes() {
    let body = "(map (lambda (t) (case t (Rose (x, ts, xs)
          (+ x (+ (reduce + 0 xs) (reduce + 0 (map (lambda (t)
            (case t (Rose (y, _, ys) (* y (+ 1 (length ys))))))
            ts))))))) Ts)";
    let text = format!("((Ts : vector (Rose int)))\n{TREES}\n{body}");
    for program in &compile_with(&text, "Rose_int_node_on_device") {
        let roses =
            "[(Rose (1, [(Rose (2, [], [5])) (Rose (3, [], []))], [7 8])) (Rose (4, [], []))]";
        gives(program, &[roses], "[23 4]");
        gives(program, &["[]"], "[]");
    }
}

#[test]
fn kernels_see_the_nodes_that_the_host_has_added() {
    // In each iteration a kernel reads the table, and the host adds nodes to it, some with arrays
    // that a kernel has made.
    let body = "(define
          (value (lambda (t) (case t (Rose (x, ts, xs) (+ x (reduce + (length ts) xs))))))
          (next (lambda (ts) (let (X (map value ts)) (last (ts ! (- (length ts) 1)))
            in (concat ts [(Rose ((value last), [last last last], X))])))))
        (map (lambda (t) (case t (Rose (x, _, xs) (+ x (reduce + 0 xs))))) (iterate n next Ts))";
    let text = format!("((Ts : vector (Rose int)) (n : int))\n{TREES}\n{body}");
    for program in &compile_with(&text, "Rose_int_node_on_device") {
        let input = "[(Rose (1, [], [2])) (Rose (3, [], [])) (Rose (5, [], [6 7]))]";
        let mut values = vec![(1i64, 0i64, vec![2i64]), (3, 0, vec![]), (5, 0, vec![6, 7])];
        for rounds in 0..12 {
            let sums: Vec<i64> = values
                .iter()
                .map(|(x, _, xs)| x + xs.iter().sum::<i64>())
                .collect();
            gives(program, &[input, &rounds.to_string()], &text_of(&sums));
            let value = |(x, links, xs): &(i64, i64, Vec<i64>)| {
                (x + links + xs.iter().sum::<i64>()) as i32 as i64
            };
            let all: Vec<i64> = values.iter().map(value).collect();
            let last = *all.last().unwrap();
            values.push((last, 3, all));
        }
    }
}

/// Compiles programs whose kernels append nodes.
fn compile_growing(text: &str) -> Vec<(Checked, Library)> {
    compile_with(text, "nova_new_node_on_device(context")
}

/// Lists and trees of nodes without arrays, with functions that build and read them.
const LISTS: &str = "(types
    (List 'a : (+ (Nil : unit) (Cons : ('a, (List 'a)))))
    (Tree 'a : (+ (Leaf : unit) (Node : ('a, (Tree 'a), (Tree 'a))))))
  (define
    (below (lambda (n) ((while (lambda (i, _) (< i n))
       (lambda (i, l) ((+ i 1), (Cons (i, l)))) (0, Nil)) . 1)))
    (total (lambda (l) ((while (lambda (_, _, go) go)
       (lambda (sum, l, _) (case l (Nil (sum, l, false)) (Cons (x, more) ((+ sum x), more, true))))
       (0, l, true)) . 0)))
    (tree (lambda (n) (if (< n 1) then Leaf else (Node (n, (tree (- n 1)), (tree (- n 2)))))))
    (sum (lambda (t) (case t (Leaf 0) (Node (x, l, r) (+ x (+ (sum l) (sum r))))))))";

/// Returns the value of `(below n)`, as text.
fn list(n: i64) -> String {
    (0..n).fold("Nil".to_string(), |list, k| format!("(Cons ({k}, {list}))"))
}

/// Returns the value of `(tree n)`, as text, and its sum.
fn tree(n: i64) -> (String, i64) {
    if n < 1 {
        return ("Leaf".to_string(), 0);
    }
    let ((left, a), (right, b)) = (tree(n - 1), tree(n - 2));
    (format!("(Node ({n}, {left}, {right}))"), n + a + b)
}

#[test]
fn iterations_build_lists() {
    let text = format!("((X : vector int))\n{LISTS}\n(map below X)");
    for program in &compile_growing(&text) {
        let lists = [3, 0, 1, 40].map(list).join(" ");
        gives(program, &["[3 0 1 40]"], &format!("[{lists}]"));
        gives(program, &["[]"], "[]");
        gives(program, &["[0 0 0]"], "[Nil Nil Nil]");
    }
}

#[test]
fn recursive_functions_in_kernels_build_trees() {
    let text = format!("((X : vector int))\n{LISTS}\n(map tree X)");
    for program in &compile_growing(&text) {
        let trees = [1, 4, 0, 7].map(|n| tree(n).0).join(" ");
        gives(program, &["[1 4 0 7]"], &format!("[{trees}]"));
        gives(program, &["[]"], "[]");
    }
}

#[test]
fn what_a_kernel_builds_is_read_there_by_the_next_one_and_by_the_host() {
    // The filter needs both kernels. The host adds a list to those of the kernel, and a kernel adds
    // lists after that.
    let body =
        "(let (Ls (map below X)) (sums (map total Ls)) (own (map (lambda (x) (total (below x))) X))
             (one (Cons (1000, (Ls ! 0))))
             (Ms (map (lambda (l) (Cons (7, l))) (concat Ls [one])))
         in (sums, own, (map total Ms), (total one), Ms))";
    let text = format!("((X : vector int))\n{LISTS}\n{body}");
    for program in &compile_growing(&text) {
        let ones = [4, 0, 9].map(list);
        let sevens = ones.clone().map(|l| format!("(Cons (7, {l}))")).join(" ");
        let last = format!("(Cons (7, (Cons (1000, {}))))", ones[0]);
        let expected = format!("([6 0 36], [6 0 36], [13 7 43 1013], 1006, [{sevens} {last}])");
        gives(program, &["[4 0 9]"], &expected);
    }
}

#[test]
fn tables_grow_until_a_kernel_has_room_for_its_nodes() {
    // Far more nodes than iterations. Lists from outside the kernel do not change, and states of
    // loops are restored when a kernel runs again.
    let body = "(iterate 3 (lambda (Y) (map (lambda (k)
           (% (+ k (+ (total (below (& k 1023))) (total more))) 1000)) (update Y 0 1))) X)";
    let text = format!("((X : vector int) (more : List int))\n{LISTS}\n{body}");
    for program in &compile_growing(&text) {
        let mut values: Vec<i64> = (0..MANY).map(|k| k * 37 % 1009).collect();
        let input = text_of(&values);
        for _ in 0..3 {
            values[0] = 1;
            for value in &mut values {
                let below = *value & 1023;
                *value = (*value + below * (below - 1) / 2 + 3) % 1000;
            }
        }
        gives(program, &[&input, &list(3)], &text_of(&values));
    }
}

#[test]
fn kernels_that_lack_memory_and_nodes_run_again_for_both() {
    let body = "(map (lambda (k) (let (m (multiples (% k 300))) (l (below (% k 200)))
         in (+ (reduce + 0 m) (total l)))) (range n))";
    let lists = LISTS.replacen("(define", "", 1);
    let (types, functions) = lists.split_once("(below").unwrap();
    let multiples_and = MULTIPLES.strip_suffix(')').unwrap();
    let text = format!("((n : int))\n{types}\n{multiples_and}\n(below{functions}\n{body}");
    for program in &compile_growing(&text) {
        let value = |k: i64| {
            let below = k % 200;
            multiples(k % 300).iter().sum::<i64>() + below * (below - 1) / 2
        };
        for n in [3, MANY] {
            let expected: Vec<i64> = (0..n).map(value).collect();
            gives(program, &[&n.to_string()], &text_of(&expected));
        }
    }
}

#[test]
fn sums_of_trees_that_recursion_builds_and_walks_through_in_one_kernel() {
    let text = format!("((X : vector int))\n{LISTS}\n(map (lambda (x) (sum (tree x))) X)");
    for program in &compile_growing(&text) {
        let expected: Vec<i64> = (0..14).map(|n| tree(n).1).collect();
        let input: Vec<i64> = (0..14).collect();
        gives(program, &[&text_of(&input)], &text_of(&expected));
    }
}

#[test]
fn an_error_after_new_nodes_is_reported_and_the_next_call_works() {
    let body = "(map (lambda (x) (let (l (below 1500)) in (case l (Nil l)
           (Cons (y, more) (Cons ((/ 12 x), more)))))) X)";
    let text = format!("((X : vector int))\n{LISTS}\n{body}");
    for program in &compile_growing(&text) {
        let (code, message) = failure(program, &["[1 0 3]"]);
        assert_eq!(code, 1, "{message}");
        assert!(message.ends_with("division by zero"), "{message}");
        let lists = [6, 3].map(|y| format!("(Cons ({y}, {}))", list(1499)));
        gives(program, &["[2 4]"], &format!("[{}]", lists.join(" ")));
    }
}

#[test]
fn kernels_in_iterations_add_to_the_nodes_of_earlier_iterations() {
    let body =
        "(iterate n (lambda (Ls) (map (lambda (l) (Cons ((+ 1 (total l)), l))) Ls)) (map below X))";
    let text = format!("((X : vector int) (n : int))\n{LISTS}\n{body}");
    for program in &compile_growing(&text) {
        let rounds = |x: i64, n: i64| {
            let mut all = (list(x), x * (x - 1) / 2);
            for _ in 0..n {
                all = (format!("(Cons ({}, {}))", all.1 + 1, all.0), 2 * all.1 + 1);
            }
            all.0
        };
        for n in [0, 1, 12] {
            let expected = [2, 0, 5].map(|x| rounds(x, n)).join(" ");
            gives(
                program,
                &["[2 0 5]", &n.to_string()],
                &format!("[{expected}]"),
            );
        }
    }
}

#[test]
fn nodes_with_arrays_are_built_by_the_host() {
    let body = "(define (rose (lambda (x) (Rose (x, [], [x (* x 2)])))))
        (let (Rs (map rose X)) in
          (map (lambda (t) (case t (Rose (x, _, xs) (+ x (reduce + 0 xs))))) Rs))";
    let text = format!("((X : vector int))\n{TREES}\n{body}");
    for program in &compile(&text) {
        gives(program, &["[1 2 3]"], "[4 8 12]");
    }
}

/// Traces go to the standard error of the process, so the test runs itself in another one.
#[test]
fn traces_show_the_arrays_of_nodes_that_kernels_have_written() {
    const INSIDE: &str = "NOVA_TEST_TRACES";
    let name = "kernels::traces_show_the_arrays_of_nodes_that_kernels_have_written";
    if std::env::var_os(INSIDE).is_none() {
        let mut test = std::process::Command::new(std::env::current_exe().unwrap());
        test.args([name, "--exact", "--nocapture"]).env(INSIDE, "1");
        let output = test.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        let devices = usize::from(nova_tests::devices::has_opencl())
            + usize::from(nova_tests::devices::has_cuda());
        let found = errors.matches("(Rose (7, [], [2 4 6]))").count();
        assert_eq!(found, devices, "{errors}");
        return;
    }
    let body = "(let (Y (map (lambda (x) (* x 2)) X)) in
        (case (trace \"seen\" (Rose (7, [], Y))) (Rose (x, _, _) x)))";
    let text = format!("((X : vector int))\n{TREES}\n{body}");
    for program in &compile(&text) {
        gives(program, &["[1 2 3]"], "7");
    }
}

#[test]
fn several_threads_call_at_once() {
    let text = "((X : vector int)) (scan + 0 (filter (lambda (x) (> x 2)) X))";
    for program in &compile(text) {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        gives(program, &["[5 1 4 2 3 9]"], "[5 9 12 21]");
                    }
                });
            }
        });
    }
}

#[test]
fn more_memory_than_there_is_is_an_error() {
    let text = "((n : int64)) (reduce + 0 (map (lambda (i) (* i i)) (sort <= (map (lambda (i) (% i 7)) (range n)))))";
    for program in &compile(text) {
        let (code, message) = failure(program, &["70000000000000"]);
        assert_eq!(code, 2, "{message}");
        gives(program, &["10"], "96");
    }
}

#[test]
fn a_target_that_is_not_there_is_refused() {
    let compiler = Compiler::new(Options {
        target: Target::Mpi,
        ..Options::default()
    });
    let refused = compiler.check(Source::text("kernels.nova", "((X : vector int)) X"));
    assert!(
        matches!(refused, Err(Failure::Program(_))),
        "{:?}",
        refused.err()
    );
}
