//! Tests of the builder: whatever a text can say, a front end can build, and the two are one program.

use nova_driver::{
    At, Compiler, Failure, ForeignKind, Options, Place, ProgramBuilder, Source, Stage, Suffix,
    Target,
};

fn compiler() -> Compiler {
    Compiler::new(Options {
        verify: true,
        target: Target::Pthreads,
        ..Options::default()
    })
}

/// Returns a program in Core without its places.
fn core(source: Source) -> String {
    let mut checked = compiler()
        .check(source)
        .unwrap_or_else(|failure| panic!("{failure}"));
    let text = compiler()
        .emit(&mut checked, Stage::Core)
        .expect("its text");
    let parts = text.split('"');
    let parts = parts.map(|part| match Place::parse(part) {
        Some(_) => "",
        None => part,
    });
    parts.collect::<Vec<_>>().join("\"")
}

/// Returns what a function builds at one place.
fn built(build: impl FnOnce(At<'_>)) -> Source {
    let builder = ProgramBuilder::new("p");
    let file = builder.source("p.calc", "");
    build(builder.at(file, 1, 1));
    Source::Built(Box::new(builder))
}

/// Compares a program that is built with its text.
fn same(text: &str, build: impl FnOnce(At<'_>)) {
    assert_eq!(
        core(built(build)),
        core(Source::text("p.nova", text)),
        "{text}"
    );
}

#[test]
fn literals() {
    same(
        "() (1, 300u64, -7i8, 1.5, 2.0L, 0.5f, true, nil, \"a\\n\", [1 2])",
        |at| {
            let numbers = [
                at.integer(1),
                at.integer_of(300, Suffix::Unsigned(64)),
                at.integer_of(-7, Suffix::Signed(8)),
                at.decimal(1.5),
                at.double(2.0),
                at.float(0.5),
            ];
            let others = [
                at.bool(true),
                at.nil(),
                at.bytes(b"a\n"),
                at.vector(&[at.integer(1), at.integer(2)]),
            ];
            at.value(at.tuple(&[&numbers[..], &others[..]].concat()));
        },
    );
    same("() 18446744073709551615u64", |at| {
        at.value(at.integer_of(u64::MAX, Suffix::Unsigned(64)));
    });
}

/// One expression whose inputs the definitions may use, and several entries.
#[test]
fn entries() {
    same("((x : int)) (define (y (+ x 1))) (* y x)", |at| {
        let x = at.input("x", at.named_type("int"));
        at.define("y", at.call("+", &[x, at.integer(1)]));
        at.value(at.call("*", &[at.name("y"), x]));
    });
    same("(entry a ((x : int)) x) (entry b () 1)", |at| {
        at.entry("a", at.input("x", at.named_type("int")));
        at.entry("b", at.integer(1));
    });
}

#[test]
fn functions_and_patterns() {
    let text = "((p : (int, (int, int))))
        (let ((a, ((b : int), _)) p) (f (lambda (x : int) (y) : int (+ x y))) in
          ((mu (g : int -> int) (lambda (n) (if (< n 1) then 0 else (g (- n 1))))) (f a b)))";
    same(text, |at| {
        let int = || at.named_type("int");
        let pair = at.tuple_type(&[int(), int()]);
        let p = at.input("p", at.tuple_type(&[int(), pair]));
        let b = at.typed_pattern(at.parameter("b"), int());
        let inner = at.tuple_pattern(vec![b, at.wildcard()]);
        let pattern = at.tuple_pattern(vec![at.parameter("a"), inner]);
        let parameters = vec![at.typed_parameter("x", int()), at.parameter("y")];
        let sum = at.call("+", &[at.name("x"), at.name("y")]);
        let f = at.typed_lambda(parameters, int(), sum);
        let (n, zero) = (at.name("n"), at.integer(0));
        let again = at.call("g", &[at.call("-", &[n, at.integer(1)])]);
        let step = at.conditional(at.call("<", &[n, at.integer(1)]), zero, again);
        let function = at.lambda(vec![at.parameter("n")], step);
        let g = at.recursive("g", Some(at.function_type(int(), int())), function);
        let called = at.apply(g, &[at.call("f", &[at.name("a"), at.name("b")])]);
        at.value(at.bind(vec![(pattern, p), (at.parameter("f"), f)], called));
    });
}

#[test]
fn types() {
    let text = "(types (Pair 'a : ('a, 'a)) (Maybe 'a : (+ (None : unit) (Some : 'a))))
        (entry a ((m : (Maybe int)) (s : (+ (A : int) (B : float))) (v : vec#4 float) (q : vector#2 (Pair bool)))
          ((case m (Some x x) (_ 0)), (case s (A x x) (B 2)), (q ! (0, 1)).0, v, (nil : unit)))";
    same(text, |at| {
        let named = |name: &str| at.named_type(name);
        let a = || at.type_variable("a");
        at.synonym("Pair", &["a"], at.tuple_type(&[a(), a()]));
        at.sum("Maybe", &["a"], &[("None", named("unit")), ("Some", a())]);
        let m = at.input("m", at.applied_type("Maybe", &[named("int")]));
        let s = at.input(
            "s",
            at.sum_type(&[("A", named("int")), ("B", named("float"))]),
        );
        let v = at.input("v", at.lanes_type(4, named("float")));
        let q = at.input(
            "q",
            at.array_type(2, at.applied_type("Pair", &[named("bool")])),
        );
        let arm = |name, body| at.arm(Some(name), Some(at.parameter("x")), body);
        let first = at.case(
            m,
            vec![arm("Some", at.name("x")), at.arm(None, None, at.integer(0))],
        );
        let arms = vec![
            arm("A", at.name("x")),
            at.arm(Some("B"), None, at.integer(2)),
        ];
        let second = at.case(s, arms);
        let place = at.tuple(&[at.integer(0), at.integer(1)]);
        let third = at.project(at.index(q, place), 0);
        let unit = at.annotate(at.nil(), named("unit"));
        at.entry("a", at.tuple(&[first, second, third, v, unit]));
    });
}

#[test]
fn recursive_data() {
    let text = "(types (L : (+ (Nil : unit) (Cons : (int, L)))))
        ((l : L)) (let (m (foreach (x l) (f d) (case x (Nil* Nil*) (Cons* (v, n) (Cons* ((+ v 1), (f n))))))) in
          (case (dn (up (Cons* (1, r)) (r m))) (Nil* 0) (Cons* (v, _) v)))";
    same(text, |at| {
        let int = at.named_type("int");
        let tail = at.tuple_type(&[int, at.named_type("L")]);
        at.sum("L", &[], &[("Nil", at.named_type("unit")), ("Cons", tail)]);
        let l = at.input("l", at.named_type("L"));
        let pair = || at.tuple_pattern(vec![at.parameter("v"), at.parameter("n")]);
        let next = at.call("f", &[at.name("n")]);
        let more = at.call("+", &[at.name("v"), at.integer(1)]);
        let cons = at.call("Cons*", &[at.tuple(&[more, next])]);
        let arms = vec![
            at.arm(Some("Nil*"), None, at.name("Nil*")),
            at.arm(Some("Cons*"), Some(pair()), cons),
        ];
        let node = at.node(at.parameter("x"), None, at.case(at.name("x"), arms));
        let links = [at.parameter("f"), at.parameter("d")];
        let m = at.foreach(l, links, vec![node]);
        let root = at.call("Cons*", &[at.tuple(&[at.integer(1), at.name("r")])]);
        let up = at.up(vec![(at.parameter("r"), at.name("m"))], root);
        let value = at.tuple_pattern(vec![at.parameter("v"), at.wildcard()]);
        let arms = vec![
            at.arm(Some("Nil*"), None, at.integer(0)),
            at.arm(Some("Cons*"), Some(value), at.name("v")),
        ];
        at.value(at.bind(vec![(at.parameter("m"), m)], at.case(at.down(up), arms)));
    });
}

#[test]
fn foreign_functions_and_strategies() {
    let text = "(foreign (f : int -> int) (effect g : int -> int) (device h : int -> int))
        ((X : vector int)) (map_global (lambda (x) (+ (f x) 1)) (map_seq (+ 2) X))";
    same(text, |at| {
        let function = || at.function_type(at.named_type("int"), at.named_type("int"));
        at.foreign(ForeignKind::Plain, "f", function());
        at.foreign(ForeignKind::Effect, "g", function());
        at.foreign(ForeignKind::Device, "h", function());
        let x = at.input("X", at.vector_type(at.named_type("int")));
        let more = at.call("+", &[at.call("f", &[at.name("x")]), at.integer(1)]);
        let outer = at.lambda(vec![at.parameter("x")], more);
        let inner = at.call("map_seq", &[at.call("+", &[at.integer(2)]), x]);
        at.value(at.call("map_global", &[outer, inner]));
    });
}

#[test]
fn imports() {
    let text = "(import \"std/vectors\") ((X : vector int)) (sum X)";
    same(text, |at| {
        at.import("std/vectors");
        let x = at.input("X", at.vector_type(at.named_type("int")));
        at.value(at.call("sum", &[x]));
    });
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.nova"), "(define (one 1))").expect("a file");
    let of_folder = |path: &str| {
        let builder = ProgramBuilder::new("p");
        builder.imports_from(folder.path());
        let file = builder.source("p.calc", "use a\none\n");
        builder.at(file, 1, 5).import(path);
        let at = builder.at(file, 2, 1);
        at.value(at.name("one"));
        Source::Built(Box::new(builder))
    };
    assert!(core(of_folder("a.nova")).contains("(entry \"p\""));
    let Err(Failure::Program(report)) = compiler().check(of_folder("b.nova")) else {
        panic!("it is accepted");
    };
    let text = report.to_text();
    assert!(
        text.contains("cannot import \"b.nova\"") && text.contains("p.calc:1:5"),
        "{text}"
    );
}

/// Names are declared once, in a program and its imports.
#[test]
fn clashes_with_imports() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.nova"), "(define (one 1))").expect("a file");
    let builder = ProgramBuilder::new("p");
    builder.imports_from(folder.path());
    let file = builder.source("p.calc", "use a\none = 2\n");
    builder.at(file, 1, 5).import("a.nova");
    let at = builder.at(file, 2, 1);
    at.define("one", at.integer(2));
    at.value(at.name("one"));
    let Err(Failure::Program(report)) = compiler().check(Source::Built(Box::new(builder))) else {
        panic!("it is accepted");
    };
    let text = report.to_text();
    assert!(
        text.contains("p.calc:2:1") && text.contains("a.nova:1:10"),
        "{text}"
    );
}
