//! Tests of programs and their trees, as text.

use super::*;
use crate::ast::{
    Expression, ExpressionId, ExpressionKind, ForeignKind, Pattern, PatternKind,
    TypeDefinitionKind, TypeId, TypeKind, TypeNode,
};

fn parsed(text: &str) -> (Program, Vec<Diagnostic>) {
    let mut sources = SourceMap::new();
    let file = sources.add("t.nova", text);
    parse(text, file, &mut sources, "t")
}

fn list<T>(word: &str, items: &[T], write: impl Fn(&T) -> String) -> String {
    let items: Vec<String> = items.iter().map(write).collect();
    format!("({word} {})", items.join(" "))
}

fn show_type(program: &Program, id: TypeId) -> String {
    let TypeNode { kind, .. } = program.ty(id);
    match kind {
        TypeKind::Name(name) => name.to_string(),
        TypeKind::Variable(name) => format!("'{name}"),
        TypeKind::Tuple(parts) => list("tuple", parts, |&p| show_type(program, p)),
        TypeKind::Vector(rank, ty) => format!("(vector#{rank} {})", show_type(program, *ty)),
        TypeKind::Lanes(n, ty) => format!("(vec#{n} {})", show_type(program, *ty)),
        TypeKind::Function(argument, result) => {
            let (argument, result) = (show_type(program, *argument), show_type(program, *result));
            format!("(-> {argument} {result})")
        }
        TypeKind::Apply(name, arguments) => list(&name.text, arguments, |&p| show_type(program, p)),
        TypeKind::Sum(constructors) => list("+", constructors, |(name, payload)| {
            format!("{}:{}", name.text, show_type(program, *payload))
        }),
        TypeKind::Wrong => "wrong".into(),
    }
}

fn show_pattern(program: &Program, pattern: &Pattern) -> String {
    let text = match &pattern.kind {
        PatternKind::Name(name) => name.to_string(),
        PatternKind::Wildcard => "_".into(),
        PatternKind::Tuple(parts) => list("tuple", parts, |p| show_pattern(program, p)),
    };
    match pattern.annotation {
        Some(ty) => format!("{text}:{}", show_type(program, ty)),
        None => text,
    }
}

fn show(program: &Program, id: ExpressionId) -> String {
    let write = |id: &ExpressionId| show(program, *id);
    let pattern = |p: &Pattern| show_pattern(program, p);
    let Expression { kind, .. } = program.expression(id);
    match kind {
        ExpressionKind::Name(name) => name.to_string(),
        ExpressionKind::Number(number) => crate::datum::write_number(number),
        ExpressionKind::Bool(value) => value.to_string(),
        ExpressionKind::Nil => "nil".into(),
        ExpressionKind::Text(bytes) => crate::datum::write_text(bytes),
        ExpressionKind::Vector(items) => list("vector", items, write),
        ExpressionKind::Wrong(parts) => list("wrong", parts, write),
        ExpressionKind::Apply(f, arguments) => list(&write(f), arguments, write),
        ExpressionKind::Lambda {
            parameters,
            result,
            body,
        } => {
            let result = result.map_or(String::new(), |ty| show_type(program, ty) + " ");
            let parameters = list("", parameters, pattern).replacen("( ", "(", 1);
            format!("(lambda {parameters} {result}{})", write(body))
        }
        ExpressionKind::Let { bindings, body } => {
            let bindings = list("let", bindings, |(p, e)| {
                format!("[{} {}]", pattern(p), write(e))
            });
            format!("({} {})", bindings.trim_matches(['(', ')']), write(body))
                .replacen("let", "let", 1)
        }
        ExpressionKind::Mu { name, ty, value } => {
            let ty = ty.map_or(String::new(), |ty| format!(":{}", show_type(program, ty)));
            format!("(mu {}{ty} {})", name.text, write(value))
        }
        ExpressionKind::If {
            condition,
            then,
            otherwise,
        } => format!(
            "(if {} {} {})",
            write(condition),
            write(then),
            write(otherwise)
        ),
        ExpressionKind::Case { scrutinee, arms } => {
            let arms = arms.iter().map(|arm| {
                let name = arm.constructor.as_ref().map_or("_", |name| &name.text);
                let payload = arm
                    .payload
                    .as_ref()
                    .map_or(String::new(), |p| pattern(p) + " ");
                format!(" [{name} {payload}{}]", write(&arm.body))
            });
            format!("(case {}{})", write(scrutinee), arms.collect::<String>())
        }
        ExpressionKind::Tuple(parts) => list("tuple", parts, write),
        ExpressionKind::Project(of, index, _) => format!("{}.{index}", write(of)),
        ExpressionKind::Index(of, index) => format!("(! {} {})", write(of), write(index)),
        ExpressionKind::Foreach { .. } | ExpressionKind::Up { .. } | ExpressionKind::Down(_) => {
            recursion::show_form(program, kind)
        }
        ExpressionKind::Annotate(of, ty) => {
            format!("(: {} {})", write(of), show_type(program, *ty))
        }
    }
}

/// Returns the expression of a program without errors.
fn expression(text: &str) -> String {
    let (program, diagnostics) = parsed(text);
    assert!(diagnostics.is_empty(), "{text}: {diagnostics:?}");
    assert_eq!(program.entries.len(), 1, "{text}");
    show(&program, program.entries[0].body)
}

/// Returns the type after `(X : …)`.
fn input_type(text: &str) -> String {
    let text = format!("((X : {text})) X");
    let (program, diagnostics) = parsed(&text);
    assert!(diagnostics.is_empty(), "{text}: {diagnostics:?}");
    show_type(&program, program.entries[0].inputs[0].1)
}

/// Returns the codes of the diagnostics, in order.
fn codes_of(text: &str) -> String {
    let (_, diagnostics) = parsed(text);
    let codes: Vec<String> = diagnostics.iter().map(|d| d.code.0.to_string()).collect();
    codes.join(" ")
}

#[test]
fn expressions() {
    for (text, expected) in [
        ("x", "x"),
        ("((x))", "x"),
        ("(f a b)", "(f a b)"),
        ("((f a) b)", "((f a) b)"),
        ("(+ 1)", "(+ 1)"),
        ("-7", "-7"),
        ("1.0L", "1.0L"),
        ("(-n 1)", "(-n 1)"),
        ("nil", "nil"),
        ("(f ())", "(f nil)"),
        ("true", "true"),
        ("\"a\\x41\\n\"", "\"aA\\n\""),
        ("[1 [2] x.0]", "(vector 1 (vector 2) x.0)"),
        ("(a,b)", "(tuple a b)"),
        ("((f a), b , c)", "(tuple (f a) b c)"),
        ("x.0.1", "x.0.1"),
        ("(f x).1", "(f x).1"),
        ("((f x) . 1)", "(f x).1"),
        ("(a, b).0", "(tuple a b).0"),
        ("(v ! i)", "(! v i)"),
        ("(m ! (i, j))", "(! m (tuple i j))"),
        ("(v!i w)", "(v!i w)"),
        ("(e : int)", "(: e int)"),
        ("((f x):vector int)", "(: (f x) (vector#1 int))"),
        ("(a : int, b)", "(tuple (: a int) b)"),
        ("(if c then a else b)", "(if c a b)"),
        ("(if c a b)", "(if c a b)"),
        ("(if c a else b)", "(if c a b)"),
        (
            "(mu (f : int -> int) (lambda (n) n))",
            "(mu f:(-> int int) (lambda (n) n))",
        ),
        ("(mu f (lambda (n) (f n)))", "(mu f (lambda (n) (f n)))"),
        (
            "(case e (Some x x) (None 0))",
            "(case e [Some x x] [None 0])",
        ),
        (
            "(case (f e) (Cons (a, b) a) (_ 0))",
            "(case (f e) [Cons (tuple a b) a] [_ 0])",
        ),
        ("(map Some X)", "(map Some X)"),
    ] {
        assert_eq!(expression(&format!("() {text}")), expected, "{text}");
        assert_eq!(expression(text), expected, "{text}");
    }
}

#[test]
fn functions_and_bindings() {
    for (text, expected) in [
        (
            "(lambda (x : int) (y : int) : int (+ x y))",
            "(lambda (x:int y:int) int (+ x y))",
        ),
        ("(lambda (x y) x)", "(lambda (x y) x)"),
        ("(lambda (x) (y) x)", "(lambda (x y) x)"),
        ("(lambda x x)", "(lambda (x) x)"),
        ("(lambda _ 1)", "(lambda (_) 1)"),
        ("(lambda (a, b) a)", "(lambda ((tuple a b)) a)"),
        ("(lambda ((a, b)) a)", "(lambda ((tuple a b)) a)"),
        ("(lambda ((a, b) c) a)", "(lambda ((tuple a b) c) a)"),
        (
            "(lambda ((a, (b, _)) : (int, (int, int))) (c : int) a)",
            "(lambda ((tuple a (tuple b _)):(tuple int (tuple int int)) c:int) a)",
        ),
        ("(lambda (a : int, b) a)", "(lambda ((tuple a:int b)) a)"),
        (
            "(lambda ((x : int) (y : int)) x)",
            "(lambda (x:int y:int) x)",
        ),
        (
            "(lambda (x : int) : vector int (f x))",
            "(lambda (x:int) (vector#1 int) (f x))",
        ),
        (
            "(lambda (x : int) : int -> int (f x))",
            "(lambda (x:int) (-> int int) (f x))",
        ),
        ("(let (x 1) (y x) in (+ x y))", "(let [x 1] [y x] (+ x y))"),
        ("(let (x e) body)", "(let [x e] body)"),
        ("(let ((a, b) e) in a)", "(let [(tuple a b) e] a)"),
        (
            "(let (x : vector int e) in x)",
            "(let [x:(vector#1 int) e] x)",
        ),
        ("(let ((x : int) e) in x)", "(let [x:int e] x)"),
        ("(let (_ e) in x)", "(let [_ e] x)"),
    ] {
        assert_eq!(expression(text), expected, "{text}");
    }
}

#[test]
fn types() {
    for (text, expected) in [
        ("int", "int"),
        ("vector float", "(vector#1 float)"),
        ("vector vector#2 float", "(vector#1 (vector#2 float))"),
        ("vector#1 int", "(vector#1 int)"),
        ("int -> vector int", "(-> int (vector#1 int))"),
        ("'a -> 'a -> 'b", "(-> 'a (-> 'a 'b))"),
        ("('a -> 'a) -> 'b", "(-> (-> 'a 'a) 'b)"),
        ("(int, vector int)", "(tuple int (vector#1 int))"),
        ("(List 'a)", "(List 'a)"),
        ("List 'a", "(List 'a)"),
        ("vector List int", "(vector#1 (List int))"),
        ("(Pair vector int float)", "(Pair (vector#1 int) float)"),
        ("((int))", "int"),
        ("(vector (vector int))", "(vector#1 (vector#1 int))"),
    ] {
        assert_eq!(input_type(text), expected, "{text}");
    }
}

#[test]
fn kinds_of_foreign_functions() {
    let (program, diagnostics) = parsed(
        "(foreign (f : int -> int) (effect g : int -> unit) (device h : float -> float)
                  (effect : int -> int) (device device : int -> int) (effect effect : int -> int))
         (f 1)",
    );
    assert!(
        !diagnostics.is_empty(),
        "two functions are called `device` or `effect`"
    );
    let (program_once, diagnostics) = parsed(
        "(foreign (f : int -> int) (effect g : int -> unit) (device h : float -> float)
                  (effect : int -> int) (device device : int -> int))
         (f 1)",
    );
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let kinds = |program: &Program| -> Vec<(String, ForeignKind)> {
        let all = program.foreigns.iter();
        all.map(|f| (f.name.text.to_string(), f.kind)).collect()
    };
    let expected = [
        ("f", ForeignKind::Plain),
        ("g", ForeignKind::Effect),
        ("h", ForeignKind::Device),
        ("effect", ForeignKind::Plain),
        ("device", ForeignKind::Device),
    ];
    let expected = expected.map(|(name, kind)| (name.to_string(), kind));
    assert_eq!(kinds(&program_once), expected);
    assert_eq!(kinds(&program)[..5], expected);
    for wrong in [
        "(foreign (effects g : int -> int)) 1",
        "(foreign (effect g int)) 1",
        "(foreign (effect 3 : int -> int)) 1",
        "(foreign (effect device g : int -> int)) 1",
        "(foreign (effect)) 1",
    ] {
        let (_, diagnostics) = parsed(wrong);
        assert_eq!(diagnostics.len(), 1, "{wrong}: {diagnostics:?}");
    }
}

#[test]
fn sections_in_any_order() {
    let (program, diagnostics) = parsed(
        "(define (f (lambda (x) x)) (n : int 3))
         (+ a n)
         (types (List 'a : (+ (Nil : unit) (Cons : ('a, (List 'a))))) (Point : (float, float)))
         ((a : int) (b : vector int))
         (import \"x.nova\" \"y.nova\")
         (foreign (g : int -> int))
         (define (m 4))",
    );
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    assert_eq!(program.entries.len(), 1);
    let entry = &program.entries[0];
    assert_eq!((&*entry.name.text, entry.explicit), ("t", false));
    assert_eq!(entry.inputs.len(), 2);
    assert_eq!(show(&program, entry.body), "(+ a n)");
    let names: Vec<&str> = program.definitions.iter().map(|d| &*d.name.text).collect();
    assert_eq!(names, ["f", "n", "m"]);
    assert_eq!(show(&program, program.definitions[1].value), "(: 3 int)");
    let paths: Vec<&str> = program.imports.iter().map(|i| &*i.path).collect();
    assert_eq!(paths, ["x.nova", "y.nova"]);
    assert_eq!(show_type(&program, program.foreigns[0].ty), "(-> int int)");
    let TypeDefinitionKind::Sum(constructors) = &program.types[0].kind else {
        panic!("a sum is expected");
    };
    assert_eq!(&*program.types[0].parameters[0].text, "a");
    assert_eq!(&*constructors[1].0.text, "Cons");
    assert_eq!(
        show_type(&program, constructors[1].1),
        "(tuple 'a (List 'a))"
    );
    assert!(matches!(
        program.types[1].kind,
        TypeDefinitionKind::Synonym(_)
    ));
}

#[test]
fn entries_and_files_without_value() {
    let (program, diagnostics) = parsed("(entry f () 1) (entry g ((x : int)) x)");
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let names: Vec<&str> = program.entries.iter().map(|e| &*e.name.text).collect();
    assert_eq!(names, ["f", "g"]);
    assert!(program.entries.iter().all(|e| e.explicit));
    let (program, diagnostics) = parsed("(define (x 1))");
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    assert!(missing_expression(&program, Span::new(FileId(0), 0, 0)).is_some());
    assert_eq!(codes_of(""), "");
    assert_eq!(codes_of("; nothing"), "");
    assert_eq!(codes_of("()"), "109");
    assert_eq!(codes_of("((x : int))"), "109");
    assert_eq!(codes_of("() ()"), "");
}

#[test]
fn all_errors_come_out() {
    for (text, expected) in [
        ("(+ 1 2) (+ 3 4)", "109"),
        ("(let (in 1) in 2)", "108"),
        ("() (let (if 1) in (lambda (let) let))", "108 108 106"),
        ("((x : int) (x : int)) x", "110"),
        ("() (lambda ((a, a)) a)", "110"),
        ("(define (f 1) (f 2)) ()", "110 109"),
        ("(types (T : (+ (A : unit) (A : int)))) 1", "110"),
        (
            "() (f (if a) (case x) (let) (mu f) (lambda x))",
            "107 107 107 107 107",
        ),
        ("() (f 300u8 \"\\q\" (a, , b) ,", "102 104 105"),
        (
            "() (f (v ! i j) [1, 2] (a b, c) (x y : int))",
            "107 106 107 107",
        ),
        ("((x : vector)) (+ x 'a)", "107 106"),
        ("((x int)) x", "107"),
        ("(x : int) (y : int) (+ x y)", "107"),
        ("(entry f () 1) 2", "109"),
        ("(type (T : int)) 1", "109"),
        ("(f x)) (g y)", "103"),
        ("(f [1 2)) (g 300u8)", "103 104"),
        ("(f (define (x 1)))", "107"),
        ("(lambda (x:int->int) x)", "107"),
    ] {
        assert_eq!(codes_of(text), expected, "{text}");
    }
}

#[test]
fn deep_and_long_programs() {
    let depth = 100_000;
    for (open, close) in [
        ("(", ")"),
        ("(+ 1 ", ")"),
        ("(let (x ", ") in x)"),
        ("(let (x 1) in ", ")"),
        ("(lambda (x) ", ")"),
        ("[", "]"),
        ("(1, ", ")"),
        ("((", ").0)"),
        ("(1 : (", "))"),
        ("(case x (A ", "))"),
    ] {
        let inner = if open.starts_with("(1 :") { "int" } else { "1" };
        let text = format!("{}{inner}{}", open.repeat(depth), close.repeat(depth));
        let (program, diagnostics) = parsed(&text);
        let ok = diagnostics.is_empty() || open.starts_with("(1 :");
        assert!(ok, "{open}: {:?}", diagnostics.first());
        assert_eq!(program.entries.len(), 1);
    }
    for (open, close) in [
        ("(case x (A b c ", "))"),
        ("(case x (3 ", "))"),
        ("(let (x f ", ") in 1)"),
    ] {
        let text = format!("{}y{}", open.repeat(depth), close.repeat(depth));
        assert!(has_errors(&parsed(&text).1), "{open}");
    }
    let types = format!(
        "((x : {}int{})) x",
        "(int, (".repeat(depth),
        "))".repeat(depth)
    );
    assert!(parsed(&types).1.is_empty());
    let patterns = format!("(lambda {}a{} 1)", "(_, ".repeat(depth), ")".repeat(depth));
    assert_eq!(codes_of(&patterns), "112");
}

mod recursion;
