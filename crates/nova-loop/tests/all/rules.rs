//! Tests of the verifier: every rule refuses a program that breaks it.

use nova_diag::SourceMap;
use nova_loop::ir::{Program, Variable};
use nova_loop::parse::parse;
use nova_loop::verify;

fn read(text: &str) -> Program {
    let mut sources = SourceMap::new();
    let file = sources.add("rules", text);
    parse(text, file).unwrap_or_else(|errors| panic!("{text}: {errors:#?}"))
}

/// Returns the first error of a program, `fine` for none.
fn first_error(program: &Program) -> String {
    match verify(program) {
        Ok(()) => "fine".to_string(),
        Err(errors) => errors[0].message.clone(),
    }
}

/// A program with a function that has these results and this body, and with functions, a sum type and a
/// foreign function for it to use.
fn function(results: &str, body: &str) -> String {
    format!(
        "(program
          (sum \"List\" [] [0] (\"Nil\" unit) (\"Cons\" (tuple (vector i32) (sum 0))))
          (sum \"Node\" [] [] (\"Nil\" unit) (\"Cons\" (tuple (vector i32) i32)))
          (foreign \"f\" [(vector f32)] f32)
          (function \"f\" [n:i64 x:(pointer f32) b:block c:bool] [{results}] {body})
          (function \"make\" [m:i64] [y:(pointer f32) h:block]
            (allocate h y f32 m)))"
    )
}

#[track_caller]
fn check(results: &str, body: &str, expected: &str) {
    let found = first_error(&read(&function(results, body)));
    assert!(
        found.contains(expected),
        "{body}: {found}, not {expected:?}"
    );
}

/// A thread that waits for its group in a function would wait for threads that do not call that function.
#[test]
fn kernels_call_no_functions_with_groups() {
    let groups = [
        "(for g 4 block (barrier thread))",
        "(for g 4 block (shared p:(pointer f32) 8))",
        "(call \"inner\" [] [])",
    ];
    for level in ["grid", "block", "sequential"] {
        for group in groups {
            let text = format!(
                "(program
                  (function \"inner\" [] [] (for k 4 block (barrier thread)))
                  (function \"middle\" [] [] {group})
                  (function \"f\" [n:i64] [] (for i n {level} (call \"middle\" [] []))))"
            );
            let expected = match level {
                "sequential" => "fine",
                _kernels => "a kernel calls a function with loops over groups",
            };
            assert_eq!(first_error(&read(&text)), expected, "{text}");
        }
    }
}

#[test]
fn correct_programs() {
    check("", "", "fine");
    check(
        "r:f32",
        "(if c (do (set r 1.0f)) (do (set r (load x 0))))",
        "fine",
    );
    check(
        "r:f32",
        "(if c (do (set r 1.0f)) (do (fail division [])))",
        "fine",
    );
    check(
        "r:(pointer f32) s:block",
        "(retain b) (set r (offset x 1)) (set s b)",
        "fine",
    );
    check(
        "",
        "(declare p:(pointer f32)) (declare q:block) (call \"make\" [n] [p q])
         (for i n sequential (store p i (load x i))) (release q)",
        "fine",
    );
    check(
        "",
        "(declare q:block) (declare p:(pointer f32)) (allocate q p f32 n)
         (loop
           (declare s:block) (declare r:(pointer f32)) (allocate s r f32 n)
           (if c (do (release s) (break)))
           (release q) (set q s) (set p r))
         (release q)",
        "fine",
    );
    check(
        "",
        "(declare v:i64) (loop (if c (do (set v 1) (break)) (do (if c (do (set v 2) (break))))))
         (check (eq i64 v 1) division [])",
        "fine",
    );
    check(
        "",
        "(declare l:i64) (declare k:i64) (declare d:(pointer i32)) (declare e:block)
         (declare t:i64) (new 0 0 [] l) (payload 0 1 l [k d e t]) (new 0 1 [k d e t] l)",
        "fine",
    );
    check("", "(for i n grid (barrier grid))", "fine");
    check(
        "",
        "(declare l:i64) (declare s:i64) (declare a:bool) (declare k:i64) (declare o:(pointer i64))
         (declare p:block) (declare w:i64) (declare e:i64) (declare u:(pointer i32)) (declare v:block)
         (reserve_nodes 0 n l) (for i n sequential (store_node 0 0 (add i64 l i) []))
         (seal_nodes 0 l s) (acyclic [[0 1]] [l] [n] a)
         (reached [[0 1]] s [k o p w e u v]) (release p) (release v)",
        "fine",
    );
    check(
        "",
        "(declare l:i64) (new 0 0 [] l) (declare g:i64) (declare q:i64) (mark_nodes 0 g q)
         (for i n sequential (reclaim_nodes [0] [g] [q] [l] [0]))",
        "fine",
    );
}

#[test]
fn names() {
    check("", "(declare n:i64 1)", "declared twice");
    check(
        "",
        "(if c (do (declare v:i64 1))) (for i v sequential)",
        "outside its scope",
    );
    check(
        "",
        "(if c (do (declare v:i64 1))) (set v 2)",
        "outside its scope",
    );
    check(
        "",
        "(for i n sequential) (for i n sequential)",
        "declared twice",
    );
    let mut program = read(&function("", "(declare v:i64 1)"));
    program.functions[1].name = program.functions[0].name.clone();
    assert!(first_error(&program).contains("two functions"));
    let mut program = read(&function("", ""));
    program.functions[0].results.push(Variable(1000));
    assert!(first_error(&program).contains("no variable"));
}

#[test]
fn local_arrays() {
    check(
        "",
        "(local p:(pointer f64) 3) (store p 2 1.0L) (declare v:f64 (load p 2))",
        "fine",
    );
    check("", "(local p:(pointer f64) 0)", "without elements");
    check("", "(local p:f64 3)", "without a pointer");
    check("", "(local p:block 3)", "without a pointer");
    check("", "(local x:(pointer f64) 3)", "declared twice");
    check(
        "",
        "(local p:(pointer i32) 3) (store p 0 1.0f)",
        "not Scalar(I32)",
    );
    check(
        "",
        "(if c (do (local p:(pointer f32) 3))) (store p 0 1.0f)",
        "outside its scope",
    );
}

#[test]
fn non_temporal_stores() {
    let places = "(local p:(pointer f32) 4) (local q:(pointer f32) 4) (local d:(pointer f64) 4)
        (declare s:i64) ";
    let says = |command: &str, message: &str| check("", &format!("{places}{command}"), message);
    says(
        "(plan_non_temporal s [p q] 0 2 4 16) (non_temporal_store [p q] (add i64 s 1) q 2) (store_fence)",
        "leaves out fields",
    );
    says(
        "(non_temporal_store [] 0 p 2)",
        "a non-temporal store to nowhere",
    );
    says(
        "(non_temporal_store [p d] 0 q 2)",
        "fields of several types",
    );
    says("(non_temporal_store [p] 0 d 2)", "not Pointer(F32)");
    says("(non_temporal_store [p] 0 1.0f 2)", "not Pointer(F32)");
    says("(non_temporal_store [p] 0 q 2.0f)", "not Scalar(I64)");
    says(
        "(non_temporal_store [n] 0 q 2)",
        "where a pointer is expected",
    );
    says(
        "(plan_non_temporal s [p] 0 2 4 0)",
        "strips without elements",
    );
    says("(plan_non_temporal s [p] 0.0f 2 4 16)", "not Scalar(I64)");
    says("(plan_non_temporal p [q] 0 2 4 16)", "not Scalar(I64)");
    says("(declare t:i64 s)", "may not be assigned");
}

#[test]
fn types() {
    check("r:f32", "(set r 1)", "is assigned a");
    check("r:f32", "(set r (add f32 1.0f 2))", "not Scalar(F32)");
    check("r:bool", "(set r (add bool c c))", "add of bool");
    check("r:f32", "(set r (neg f32 1.0f 2.0f))", "2 operands");
    check("", "(for i 1i32 sequential)", "not Scalar(I64)");
    check("", "(for i n sequential (store x i 1))", "not Scalar(F32)");
    check("", "(store n 0 1)", "where a pointer is expected");
    check("r:f32", "(set r (load n 0))", "where a pointer is expected");
    check("r:f32", "(set r (load x 0i32))", "not Scalar(I64)");
    check("", "(if n (do))", "not Scalar(Bool)");
    check("", "(switch n (do))", "not Scalar(I32)");
    check("", "(switch 0i32)", "without cases");
    check("", "(check c index [1])", "arguments");
    check("", "(check c negative [1.0f])", "no integer");
    check("", "(copy x x f64 n)", "not Pointer(F64)");
    check("", "(call \"make\" [] [])", "0 components, not 1");
    check(
        "",
        "(declare v:i64) (call \"make\" [n] [v])",
        "1 results, not 2",
    );
    check("r:f32", "(foreign 0 [n x] [r])", "2 components, not 3");
    check("r:f32", "(foreign 1 [n x b] [r])", "no foreign function");
    check("", "(new 0 2 [] n)", "table or constructor");
    check("", "(reserve_nodes 1 n n)", "table or constructor");
    check("", "(reserve_nodes 0 c n)", "not Scalar(I64)");
    check("", "(store_node 0 2 n [])", "table or constructor");
    check("", "(store_node 0 1 n [1])", "1 components, not 4");
    check("", "(seal_nodes 0 c n)", "not Scalar(I64)");
    check("", "(acyclic [[0 1]] [n] [] c)", "0 components, not 1");
    check("", "(acyclic [[0 0] [0 1]] [n n] [n n] c)", "member twice");
    check("", "(reached [[0 1]] n [n])", "1 results, not 7");
    check("", "(reached [[1 0]] n [])", "no nodes");
    check("", "(mark_nodes 1 n n)", "table or constructor");
    check(
        "",
        "(declare q:i64 n) (reclaim_nodes [0] [] [q] [] [])",
        "0 components, not 1",
    );
    check(
        "",
        "(declare q:i64 n) (reclaim_nodes [0] [n] [q] [q] [1])",
        "not reclaimed",
    );
    check(
        "",
        "(declare q:i64) (reclaim_nodes [0] [n] [q] [] [])",
        "may not be assigned",
    );
    check(
        "",
        "(trace \"x\" (vector f32) [n x])",
        "2 components, not 3",
    );
    check(
        "",
        "(declare q:block (select c null null)) (release q)",
        "handle is chosen",
    );
}

#[test]
fn fixed_blocks() {
    check("", "(padded_copy x x f64 n 0.0L)", "not Pointer(F64)");
    check("", "(padded_copy x x f32 c 0.0f)", "not Scalar(I64)");
    check("", "(padded_copy x x f32 n 0.0L)", "not Scalar(F32)");
    check("", "(tree_reduce x f64 add tree)", "not Pointer(F64)");
    check("", "(tree_reduce x f32 min tree_rows)", "no sum or product");
    check("", "(lane_reduce x x f32 min 3)", "no sum or product");
    check("", "(multiply_panels x x x f32 n)", "not Pointer(F64)");
    check("", "(sort_words x x x f32 3 0)", "no words");
    check("", "(sort_words x x x u64 3 0)", "not Pointer(U64)");
    let run = |rest: &str| format!("(declare l:f32 1.0f) (prefix_scan_{rest})");
    check("", &run("inclusive x x f32 add l"), "fine");
    check("", &run("inclusive x x f32 sub l"), "the order counts");
    check("", &run("exclusive x n f32 add l"), "not Pointer(F32)");
    check("", &run("exclusive x x f32 add n"), "not Scalar(F32)");
    check(
        "",
        "(declare l:f32) (prefix_scan_exclusive x x f32 add l)",
        "may not be assigned",
    );
}

#[test]
fn gathers() {
    let stride = |rest: &str| format!("(local i:(pointer i32) 16) (gather_strided {rest})");
    check("", &stride("x x f32 2"), "fine");
    check("", &stride("x i f32 2"), "not Pointer(F32)");
    check("", &stride("i i i32 0"), "in one place");
    check(
        "",
        "(local a:(pointer i8) 16) (gather_strided a a i8 2)",
        "a type that",
    );
    let outside = |rest: &str| {
        format!("(local i:(pointer i32) 16) (declare o:bool) (gather_precheck {rest})")
    };
    check("", &outside("o (wrap.u64 i64 n) i i32 1"), "fine");
    check("", &outside("o n i i32 1"), "not Scalar(U64)");
    check(
        "",
        &outside("o (wrap.u64 i64 n) i i64 1"),
        "not Pointer(I64)",
    );
    check("", &outside("o (wrap.u64 i64 n) x f32 1"), "a type that");
    check(
        "",
        &outside("n (wrap.u64 i64 n) i i32 1"),
        "not Scalar(Bool)",
    );
    check("", &outside("o (wrap.u64 i64 n) i i32 0"), "in one place");
    let gather = |rest: &str| format!("(local i:(pointer i32) 16) (gather_indexed {rest})");
    check("", &gather("x x f32 i i32 3"), "fine");
    check("", &gather("x i f32 i i32 3"), "not Pointer(F32)");
    check("", &gather("x x f32 n i32 3"), "not Pointer(I32)");
    check("", &gather("x x f32 x f32 1"), "a type that");
    check("", &gather("x x f32 i i32 0"), "in one place");
    check(
        "",
        "(local a:(pointer u16) 16) (local i:(pointer i32) 16) (gather_indexed a a u16 i i32 1)",
        "a type that",
    );
}

#[test]
fn values() {
    check("r:f32", "(declare v:f32) (set r v)", "may not be assigned");
    check("r:f32", "", "is not assigned where the function ends");
    check(
        "r:f32",
        "(if c (do (set r 1.0f)))",
        "is not assigned where the function ends",
    );
    check(
        "r:f32",
        "(for i n sequential (set r 1.0f))",
        "is not assigned",
    );
    check(
        "r:f32",
        "(if c (do (return))) (set r 1.0f)",
        "is not assigned",
    );
    check(
        "r:f32",
        "(loop (if c (do (break))) (set r 1.0f))",
        "is not assigned",
    );
    check("", "(for i n sequential (set i 3))", "index of a loop");
}

#[test]
fn jumps() {
    check("", "(break)", "outside a loop");
    check("", "(for i n sequential (break))", "outside a loop");
    check(
        "",
        "(loop (for i n sequential (continue)))",
        "outside a loop",
    );
    check("", "(barrier block)", "outside a loop of its level");
    check(
        "",
        "(for i n grid (barrier block))",
        "outside a loop of its level",
    );
}

#[test]
fn references() {
    const NEW: &str = "(declare q:block) (declare p:(pointer f32)) (allocate q p f32 n)";
    let with = |rest: &str| format!("{NEW} {rest}");
    check("", NEW, "where its scope ends");
    check("", &with("(release q) (release q)"), "has no reference");
    check("", "(release b)", "has no reference");
    check("", "(retain b)", "keeps a reference");
    check(
        "",
        &with("(allocate q p f32 n) (release q)"),
        "while it has a reference",
    );
    check("", &with("(if c (do (release q)))"), "in one case only");
    check(
        "",
        &with("(for i n sequential (release q))"),
        "other references in each iteration",
    );
    check(
        "",
        &with("(loop (retain q) (if c (do (release q) (break))))"),
        "in each iteration",
    );
    check(
        "",
        &with("(if c (do (return))) (release q)"),
        "where the function ends",
    );
    check(
        "r:(pointer f32) s:block",
        "(set r x) (set s b)",
        "moved and has no reference",
    );
    check(
        "",
        "(loop (declare q:block) (declare p:(pointer f32)) (allocate q p f32 n)
           (if c (do (break))) (release q))",
        "where its loop is left",
    );
    check(
        "",
        "(loop (declare q:block) (declare p:(pointer f32)) (allocate q p f32 n)
           (if c (do (continue))) (release q) (break))",
        "in each iteration",
    );
    check("", "(reserve b x f32 0 n)", "reserved and has no reference");
    check(
        "",
        "(declare l:i64) (declare k:i64) (declare d:(pointer i32)) (declare e:block)
         (declare t:i64) (new 0 0 [] l) (payload 0 1 l [k d e t]) (release e)",
        "has no reference",
    );
    check(
        "",
        "(declare k:i64) (declare o:(pointer i64)) (declare p:block) (declare w:i64) (declare e:i64)
         (declare u:(pointer i32)) (declare v:block) (reached [[0 1]] n [k o p w e u v]) (release p)",
        "has a reference where its scope ends",
    );
}

#[test]
fn entries_and_recursion() {
    let program = "(program
        (entry \"f\" [(\"x\" (vector f32))] f32 \"f\")
        (function \"f\" [n:i64 x:(pointer f32)] [r:f32] (set r 1.0f)))";
    assert!(first_error(&read(program)).contains("parameters of entry"));
    let program = "(program
        (entry \"f\" [(\"x\" f32)] f64 \"f\")
        (function \"f\" [x:f32] [r:f32] (set r x)))";
    assert!(first_error(&read(program)).contains("results of entry"));
    let calls = |recursive: &str| {
        format!(
            "(program
              (function \"f\" {recursive} [] [] (call \"g\" [] []))
              (function \"g\" {recursive} [] [] (call \"f\" [] []) (call \"h\" [] []))
              (function \"h\" [] []))"
        )
    };
    assert!(first_error(&read(&calls(""))).contains("not marked recursive"));
    assert_eq!(first_error(&read(&calls("recursive"))), "fine");
}

#[test]
fn ordered_regions() {
    check(
        "",
        "(for i n grid (begin_ordered i) (end_ordered i))",
        "fine",
    );
    let wrong = "do not begin and end once";
    check("", "(for i n grid (begin_ordered i))", wrong);
    check(
        "",
        "(for i n grid (end_ordered i) (begin_ordered i))",
        wrong,
    );
    check(
        "",
        "(for i n grid (begin_ordered i) (end_ordered i) (begin_ordered i) (end_ordered i))",
        wrong,
    );
    check(
        "",
        "(for i n grid (begin_ordered i) (end_ordered n))",
        wrong,
    );
    let outside = "outside of a loop that threads share";
    check(
        "",
        "(for i n sequential (begin_ordered i) (end_ordered i))",
        outside,
    );
    check(
        "",
        "(for i n grid (if c (do (begin_ordered i) (end_ordered i))))",
        outside,
    );
    check(
        "",
        "(for i n grid (for j n sequential (begin_ordered i) (end_ordered i)))",
        outside,
    );
    let waits = "may wait or not end";
    let after = |rest: &str| format!("(for i n grid (begin_ordered i) (end_ordered i) {rest})");
    check("", &after("(for j n grid)"), waits);
    check("", &after("(check c index [n n])"), waits);
    check("", &after("(loop (break))"), waits);
    check(
        "",
        &after("(declare w:(pointer f32)) (declare k:block) (call \"make\" [n] [w k]) (release k)"),
        waits,
    );
}

#[test]
fn ordered_regions_of_groups() {
    let group = |region: &str, rest: &str| {
        format!("(for i n block (begin_ordered i) {region} (end_ordered i) {rest})")
    };
    let next = |value: &str| format!("(declare a:f32 (load x 0)) (store x 0 {value})");
    let propagates = next("(max f32 a 2.0f)");
    check("", &group(&propagates, ""), "fine");
    let more = "more than propagate prefixes";
    // An operation that depends on the order, a value that does not use the prefix, and other commands.
    check("", &group(&next("(add f32 a 2.0f)"), ""), more);
    check("", &group(&next("(max f32 2.0f 3.0f)"), ""), more);
    check("", &group("(store x 0 1.0f)", ""), more);
    check("", &group("", ""), more);
    check("", &group(&format!("{propagates} (store x 1 a)"), ""), more);
    // The same number twice.
    let again = "(declare more:f32 (load x 0)) (store x 0 (max f32 more 3.0f))";
    check("", &group(&format!("{propagates} {again}"), ""), more);
    let waits = "may wait or not end";
    check("", &group(&propagates, "(check c index [n n])"), waits);
    check("", &group(&propagates, "(loop (break))"), waits);
}

#[test]
fn work_groups() {
    // The interference checker requires the barriers, not the verifier.
    check("", "(for g n block (shared p:(pointer f32) n))", "fine");
    check(
        "",
        "(for g n block (shared p:(pointer f32) n) (spare q:(pointer f32) p 4 [p]))",
        "fine",
    );
    check(
        "",
        "(for g n block (shared p:(pointer f32) n) (spare q:(pointer f64) p 4 [p]))",
        "not Pointer(F64)",
    );
    check(
        "",
        "(spare q:(pointer f32) x 4 [])",
        "outside of the loop over groups",
    );
    check(
        "",
        "(shared p:(pointer f32) n)",
        "outside of the loop over groups",
    );
    check(
        "",
        "(for g n block (for i n thread (shared p:(pointer f32) n)))",
        "outside of the loop over groups",
    );
    check("", "(for g n block (shared p:f32 n))", "without a pointer");
    check(
        "",
        "(for g n block (shared p:(pointer f32) c))",
        "not Scalar(I64)",
    );
    check(
        "",
        "(for g n block (for i n thread (for j n thread)))",
        "begins a loop",
    );
    check(
        "",
        "(for g n block (for i n thread (for j n grid)))",
        "begins a loop",
    );
    check("", "(for g n block (barrier thread))", "fine");
    check("", "(barrier thread)", "outside a loop of its level");
    check("", "(declare p:(pointer f32 local) x)", "fine");
}
