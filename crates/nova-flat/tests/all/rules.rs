//! Tests of the verifier: programs that it accepts, and one seeded mistake for each rule.

use nova_diag::SourceMap;
use nova_flat::ir::Program;
use nova_flat::parse::parse;
use nova_flat::verify::verify;

fn read(name: &str, text: &str) -> Program {
    let mut sources = SourceMap::new();
    let file = sources.add(name, text);
    parse(text, file).unwrap_or_else(|errors| panic!("{name}: {errors:#?}\n{text}"))
}

#[test]
fn the_programs_are_accepted() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs");
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let program = read(&name, &std::fs::read_to_string(&path).unwrap());
        if let Err(error) = verify(&program) {
            panic!("{name}: {error}");
        }
    }
}

/// The code that encloses the statements of a case.
const FRAME: &str = "(program
  (sum \"List\" [] [0] (\"Nil\" unit) (\"Cons\" (tuple i32 (vector f32) (sum 0))))
  (sum \"Plain\" [] [] (\"One\" i32))
  (sum \"Node\" [] [] (\"Nil\" unit) (\"Cons\" (tuple i32 (vector f32) i32)))
  (sum \"Wrong\" [] [] (\"Nil\" unit) (\"Cons\" (tuple i32 (vector i32) i32)))
  (foreign \"c_function\" [i32 (vector f32)] f32)
  (entry \"main\" [(\"n\" i64) (\"X\" (vector f32)) (\"c\" bool)] f32 \"main\")
  (function \"main\" [k:i64 n:i64 x:[n]f32 c:bool] [r:f32] (do BODY (in 1.0f)))
  (function \"other\" [m:i64 y:[m]f32] [s:i64 z:[s]f32] (do (in m y)))
  FUNCTION)";

fn check(body: &str, function: &str) -> Result<(), String> {
    let text = FRAME.replace("BODY", body).replace("FUNCTION", function);
    verify(&read("case", &text)).map_err(|error| error.to_string())
}

/// Statements that break a rule, and a part of the message.
const MISTAKES: &[(&str, &str)] = &[
    // Binding and scope.
    (
        "(let [a:i64] (atom 1)) (let [a:i64] (atom 2))",
        "bound twice",
    ),
    (
        "(let [a:i64] (add i64 b b)) (let [b:i64] (atom 2))",
        "not in scope",
    ),
    ("(let [a:i64] (atom a))", "not in scope"),
    (
        "(let [] (if c (do (let [a:i64] (atom 1)) (in)) (do (in)))) (let [b:i64] (atom a))",
        "not in scope",
    ),
    ("(let [a:i64] (atom m))", "not in scope"),
    ("(let [a:i64] (atom r))", "not in scope"),
    (
        "(let [a:[b]f32] (iota b 0.0f 1.0f)) (let [b:i64] (atom 2))",
        "not in scope",
    ),
    (
        "(let [a:i64] (atom 1)) (let [q:[n]f32] (operation [n] [i:i64] [] (do (let [e:i64] (atom i)) (in 1.0f)) (map))) (let [f:i64] (atom i))",
        "not in scope",
    ),
    // Types of bindings.
    (
        "(let [e:f32] (atom 1.0f)) (let [a:[e]f32] (copy x))",
        "not i64",
    ),
    ("(let [a:[-1]f32] (copy x))", "negative"),
    ("(let [a:(block f32)] (allocate f32 n))", "is a block"),
    ("(let [a:[n]f32 @ q] (copy x))", "has memory"),
    // Single expressions.
    ("(let [a:f32] (atom 1))", "has type f32, not i64"),
    (
        "(let [a:f32 b:f32] (atom 1.0f))",
        "2 variables for 1 results",
    ),
    ("(let [a:i64] (add i64 k 1i32))", "is of type i32, not i64"),
    ("(let [a:i64] (add i64 k))", "add with 1 arguments"),
    ("(let [a:bool] (add bool c c))", "add on bool"),
    ("(let [a:f32] (rem f32 1.0f 1.0f))", "rem on f32"),
    ("(let [a:i64] (lt i64 k n))", "has type i64, not bool"),
    ("(let [a:f32] (wrap.f32 i64 k))", "wrap.f32 on i64"),
    ("(let [a:u32] (bits.u32 i64 k))", "bits.u32 on i64"),
    ("(let [a:u64] (bits.u64 f32 1.0f))", "bits.u64 on f32"),
    ("(let [a:u64] (bits.u32 f32 1.0f))", "has type u64, not u32"),
    (
        "(let [] (check c index [k]))",
        "error index with 1 arguments",
    ),
    ("(let [] (check k division []))", "not bool"),
    ("(let [] (check c negative [1.0f]))", "is no integer"),
    (
        "(let [a:i64] (check c division []))",
        "1 variables for 0 results",
    ),
    (
        "(let [a:f32] (index x [k k]))",
        "another number of dimensions",
    ),
    ("(let [a:f32] (index k [k]))", "is no array"),
    ("(let [a:f32] (index x [1i32]))", "not i64"),
    (
        "(let [a:[n]f32] (slice x [0 1 k]))",
        "has type [n_1]f32, not [k_0]f32",
    ),
    (
        "(let [a:[k]f32] (slice x [0 1 k] [0 1 k]))",
        "another number of dimensions",
    ),
    ("(let [a:[n]f32] (transpose x [1]))", "no permutation"),
    (
        "(let [a:[n]f32] (row x [0]))",
        "as many indices as dimensions",
    ),
    ("(let [a:[2]f32] (literal f32 [1.0f 1]))", "not f32"),
    ("(let [a:[3]f32] (literal f32 [1.0f]))", "not [1]f32"),
    ("(let [a:[3]u8] (bytes \"ab\"))", "not [2]u8"),
    ("(let [a:[n]bool] (iota n true false))", "range of bools"),
    (
        "(let [a:[n]f32] (replicate [n n] 1.0f))",
        "not [n_1][n_1]f32",
    ),
    ("(let [a:[k]f32] (copy x))", "not [n_1]f32"),
    ("(let [a:[k]f32] (concat k []))", "concatenation of nothing"),
    (
        "(let [i:[n]i64] (iota n 0 1)) (let [a:[k]f32] (concat k [x i]))",
        "vectors of one type",
    ),
    ("(let [a:[n]f32] (update x [0] 1))", "not f32"),
    (
        "(let [a:[n]i64] (sort n (lambda [i:i64] (do (in true)))))",
        "1 parameters, not 2",
    ),
    (
        "(let [a:[n]i64] (sort n (lambda [i:i64 j:i64] (do (in i)))))",
        "not bool",
    ),
    // Control.
    ("(let [a:i64] (if k (do (in 1)) (do (in 2))))", "not bool"),
    (
        "(let [a:i64] (if c (do (in 1)) (do (in 2.0f))))",
        "2.0f given to a",
    ),
    (
        "(let [a:i64] (if c (do (in 1)) (do (in))))",
        "0 values for 1 variables",
    ),
    (
        "(let [a:i64 b:[a]f32] (if c (do (in k x)) (do (in n x))))",
        "not [k_0]f32",
    ),
    ("(let [a:i64] (switch k (do (in 1))))", "not i32"),
    ("(let [a:i64] (switch 1i32))", "without cases"),
    (
        "(let [a:i64] (while [b:i64 = 0] (do (in 1)) (do (in b))))",
        "not bool",
    ),
    (
        "(let [a:i64] (while [b:i64 = 0] (do (in c)) (do (in b b))))",
        "2 values for 1 variables",
    ),
    (
        "(let [a:i64] (while [b:i64 = 0 d:i64 = b] (do (in c)) (do (in b d))))",
        "not in scope",
    ),
    (
        "(let [a:i64 e:[a]f32] (while [b:i64 = k d:[b]f32 = x] (do (in c)) (do (in b d))))",
        "not [k_0]f32",
    ),
    // Calls and data.
    (
        "(let [a:i64 b:[a]f32] (call \"other\" [k x]))",
        "not [k_0]f32",
    ),
    (
        "(let [a:i64 b:[n]f32] (call \"other\" [n x]))",
        "in a pattern",
    ),
    (
        "(let [a:i64] (call \"other\" [n x]))",
        "1 variables for 2 results",
    ),
    (
        "(let [a:i64 b:[a]f32] (tail \"other\" [n x]))",
        "tail call that is none",
    ),
    ("(let [a:f32] (foreign 0 [1i32 n]))", "too few arguments"),
    ("(let [a:f32] (foreign 0 [1i32 k x]))", "(data)"),
    ("(let [a:f32] (foreign 7 []))", "no foreign function 7"),
    ("(let [a:i64] (new 1 0 [1i32]))", "has no nodes"),
    ("(let [a:i64] (new 0 2 []))", "no constructor 2"),
    (
        "(let [a:i64] (new 0 1 [1i32 n x 0 0]))",
        "5 components where a value has 4",
    ),
    (
        "(let [a:i32 b:i64 d:[n]f32 e:i64] (payload 0 1 k))",
        "in a pattern",
    ),
    ("(let [a:i64] (tag 0 k))", "has type i64, not i32"),
    ("(let [a:i64] (reached [[0 2]] k))", "1 variables for 5"),
    (
        "(let [a:i64 b:[a]i64 d:i64 e:i64 g:[a]i32] (reached [[0 2]] k))",
        "in a pattern",
    ),
    (
        "(let [a:i64 b:[a]i64 d:i64 e:i64 g:[e]i32] (reached [[0 3]] k))",
        "do not correspond",
    ),
    (
        "(let [a:i64 b:[a]i64 d:i64 e:i64 g:[e]i32] (reached [[0 1]] k))",
        "numbers of constructors",
    ),
    ("(let [] (reached [] k))", "a group without members"),
    ("(let [a:i64] (reserve 1 k))", "has no nodes"),
    ("(let [a:i64] (reserve 0 c))", "is of type bool, not i64"),
    ("(let [] (store 0 1 k [1i32 n x]))", "3 components"),
    ("(let [a:i64] (store 0 0 k []))", "1 variables for 0"),
    ("(let [a:i64] (seal 1 k))", "has no nodes"),
    ("(let [a:bool] (acyclic [[0 2]] [k] []))", "ranges"),
    ("(let [] (trace \"x\" (vector f32) [k x]))", "(data)"),
    (
        "(let [] (trace \"x\" (-> i32 i32) []))",
        "a type that no data has",
    ),
    // Array operations.
    (
        "(let [a:[n]f32] (operation [] [] [] (do (in 1.0f)) (map)))",
        "without extents",
    ),
    (
        "(let [a:[n]f32] (operation [n] [i:i64 j:i64] [] (do (in 1.0f)) (map)))",
        "2 indices for 1 extents",
    ),
    (
        "(let [a:[n]f32] (operation [n] [i:i32] [] (do (in 1.0f)) (map)))",
        "not i64",
    ),
    (
        "(let [a:[k]f32] (operation [n] [i:i64] [] (do (in 1.0f)) (map)))",
        "not [n_1]f32",
    ),
    (
        "(let [a:[n]f32] (operation [n] [i:i64] [] (do (in 1.0f 2.0f)) (map)))",
        "too many results",
    ),
    (
        "(let [a:[n]f32] (operation [n] [i:i64] [] (do (in x)) (map)))",
        "is no scalar",
    ),
    (
        "(let [a:[n]f32] (operation [n] [i:i64] [b:f32 = 0.0f] (do (in 1.0f)) (map)))",
        "for 1 results of outputs",
    ),
    (
        "(let [a:f32] (operation [n] [i:i64] [b:f32 = 0.0f] (do (in 1))))",
        "1 given to b",
    ),
    (
        "(let [a:f32] (operation [n] [i:i64] [] (do (in 1.0f)) (reduce [0.0f] (lambda [p:f32] (do (in p))))))",
        "1 parameters, not 2",
    ),
    (
        "(let [a:f32] (operation [n] [i:i64] [] (do (in 1.0f)) (reduce [0] (lambda [p:f32 q:f32] (do (in p))))))",
        "not f32",
    ),
    (
        "(let [a:f32] (operation [n] [i:i64] [] (do (in 1.0f)) (reduce [0.0f] (lambda [p:f32 q:f32] (do (in i))))))",
        "not in scope",
    ),
    (
        "(let [a:[n]f32] (operation [n k] [i:i64 j:i64] [] (do (in 1.0f)) (scan [0.0f] (lambda [p:f32 q:f32] (do (in p))))))",
        "space of rank 1",
    ),
    (
        "(let [a:i64 b:[n]f32] (operation [n] [i:i64] [] (do (in c 1.0f)) (filter 1)))",
        "in a pattern",
    ),
    (
        "(let [a:i64 b:[a]f32] (operation [n] [i:i64] [] (do (in i 1.0f)) (filter 1)))",
        "not bool",
    ),
    (
        "(let [b:[n]f32] (operation [n] [i:i64] [] (do (in i 1)) (scatter [x])))",
        "another type or shape",
    ),
    (
        "(let [b:[n]f32] (operation [n k] [i:i64 j:i64] [] (do (in i 1.0f)) (scatter [x])))",
        "space of rank 1",
    ),
    (
        "(let [b:[n]f32] (grid [n] [i:i64] [] (do (in i 1.0f)) (scatter [x])))",
        "outputs in order",
    ),
    (
        "(let [b:[n]f32] (operation [n] [i:i64] [] (do (in 1.0f)) (scatter_unordered [x])))",
        "too few results",
    ),
    (
        "(let [b:[n]f32] (operation [n k] [i:i64 j:i64] [] (do (in i 1.0f)) (scatter_unordered [x])))",
        "space of rank 1",
    ),
    (
        "(let [b:[n]f32] (operation [n] [i:i64] [] (do (in i 1.0f)) (scatter_greatest [x])))",
        "no integer",
    ),
    (
        "(let [b:[n]f32] (operation [n k] [i:i64 j:i64] [] (do (in 1.0f)) (scatter_block [0 0] [x])))",
        "another type or shape",
    ),
    (
        "(let [b:[n]f32] (operation [n] [i:i64] [] (do (in 1.0f)) (scatter_block [0 0] [x])))",
        "another number of starts",
    ),
    (
        "(let [b:[n]f32] (operation [n] [i:i64] [] (do (in 1.0f)) (scatter_block [0.5f] [x])))",
        "not i64",
    ),
    (
        "(let [b:[n]f32] (operation [n] [i:i64] [] (do (in i 1.0f)) (scatter_block [0] [x])))",
        "too many results",
    ),
    (
        "(let [b:[n]i64] (operation [n] [i:i64] [] (do (in i 1)) (histogram k [0] (lambda [p:i64 q:i64] (do (in p))))))",
        "not [k_0]i64",
    ),
    (
        "(let [b:[k]i64] (operation [n] [i:i64] [] (do (in i i 1)) (histogram_where k [0] (lambda [p:i64 q:i64] (do (in p))))))",
        "not bool",
    ),
    (
        "(let [b:[k]i64] (operation [n] [i:i64] [] (do (in i 1)) (histogram_where k [0] (lambda [p:i64 q:i64] (do (in p))))))",
        "too few results",
    ),
    (
        "(let [a:[n]i64 b:[n]i64 d:i64 e:[d]f32] (operation [n] [i:i64] [] (do (in k x)) (collect 1)))",
        "row of another length",
    ),
    (
        "(let [a:[n]f32] (operation [n] [i:i64] [] (do (in i k)) (join [n])))",
        "is no array",
    ),
    (
        "(let [a:[n][k]f32] (operation [n] [i:i64] [] (do (in i x)) (join [n k])))",
        "a chunk of another shape",
    ),
    (
        "(let [a:i64] (grid [n] [i:i64] [c:i64 = 0] (do (in c))))",
        "a grid with carries, or outputs in order",
    ),
    (
        "(let [a:f32] (grid [n] [i:i64] [] (do (let [e:f32] (index x [i])) (in e))
          (reduce_comm [0.0f] (lambda [p:f32 q:f32] (do (let [s:f32] (add f32 p q)) (in s))))))",
        "a grid with carries, or outputs in order",
    ),
    (
        "(let [a:[n]f32] (grid (strategy local) [n] [i:i64] [] (do
          (let [e:f32] (index x [i])) (in e)) (map)))",
        "a grid of what its strategy gives to one thread",
    ),
];

#[test]
fn the_frame_is_accepted() {
    check("", "").unwrap();
}

#[test]
fn mistakes_are_found() {
    for (body, message) in MISTAKES {
        match check(body, "") {
            Ok(()) => panic!("accepted: {body}"),
            Err(error) => assert!(error.contains(message), "{body}\n{error}"),
        }
    }
}

#[test]
fn mistakes_of_functions_are_found() {
    for (function, message) in [
        (
            "(function \"main\" [] [] (do (in)))",
            "two functions called main",
        ),
        (
            "(function \"f\" [v:[w]f32 w:i64] [] (do (in)))",
            "not in scope",
        ),
        (
            "(function \"f\" [] [v:i64] (do (in)))",
            "0 values for 1 variables",
        ),
        ("(function \"f\" [] [v:f32] (do (in 1)))", "1 given to v"),
        (
            "(function \"f\" [w:i64] [v:[w]f32 u:[h]f32 h:i64] (do (in)))",
            "not in scope",
        ),
        (
            "(function \"f\" [] [] (do (let [] (call \"f\" [])) (in)))",
            "not marked recursive",
        ),
        (
            "(function \"f\" [] [] (do (let [] (tail \"g\" [])) (in)))
             (function \"g\" [] [] (do (let [] (tail \"f\" [])) (in)))",
            "not marked recursive",
        ),
        ("(entry \"e\" [] i64 \"other\")", "fewer inputs"),
        (
            "(entry \"e\" [(\"a\" (vector f32)) (\"b\" i64)] (vector f32) \"other\")",
            "more inputs",
        ),
        (
            "(entry \"e\" [(\"a\" (vector i32))] (vector f32) \"other\")",
            "(data)",
        ),
        (
            "(entry \"e\" [(\"a\" (vector f32))] i64 \"other\")",
            "2 components",
        ),
        (
            "(entry \"main\" [(\"a\" (vector f32))] (vector f32) \"other\")",
            "two entries",
        ),
    ] {
        match check("", function) {
            Ok(()) => panic!("accepted: {function}"),
            Err(error) => assert!(error.contains(message), "{function}\n{error}"),
        }
    }
}

#[test]
fn unusual_valid_programs_are_accepted() {
    for body in [
        // An extent that is another name of the expected one.
        "(let [a:i64] (atom n)) (let [b:[a]f32] (copy x))",
        // After a failure anything may be bound.
        "(let [a:i64 b:[a]f32] (if c (do (in n x)) (do (let [d:i64 e:[d]f32] (fail division [])) (in d e))))",
        "(let [a:i64 b:[a]f32] (while [d:i64 = n e:[d]f32 = x] (do (in c)) (do (let [l:[1]f32] (literal f32 [1.0f])) (in 1 l))))",
    ] {
        check(body, "").unwrap();
    }
    check(
        "",
        "(function \"f\" [] [] (do (let [] (tail \"f\" [])) (in)))",
    )
    .unwrap();
}

#[test]
fn large_programs_take_linear_time() {
    let mut body = String::new();
    for k in 0..20_000 {
        body.push_str(&format!(
            "(let [a{k}:i64 b{k}:[a{k}]f32] (if c (do (in n x)) (do (in n x)))) "
        ));
    }
    check(&body, "").unwrap();
}
