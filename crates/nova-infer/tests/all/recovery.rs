//! Programs with several errors. All independent errors are reported, in the order of their places,
//! whatever stage finds them. No message is about a consequence of another error.

use crate::common::{Outcome, check};
use nova_diag::{Code, FileId, Severity, codes};
use nova_syntax::datum::{Data, DatumId};
use nova_syntax::reader::read;
use std::collections::HashSet;
use std::path::Path;

/// Programs, and the codes of their errors in order.
const PROGRAMS: &[(&str, &[u16])] = &[
    // The reader, scopes, types, literals.
    ("((x : int)) (+ 1.2.3 (unknown x))", &[104, 201]),
    ("((x : int)) ((f \"\\z\") + (+ x true))", &[201, 105, 203]),
    (
        "((x : int8)) (+ (+ x 300) (+ (+ x 300u8) (if x 1)))",
        &[217, 104, 107],
    ),
    (
        "() [(to_int 3i9) nowhere (+ 1 true) (if 1)]",
        &[104, 201, 206, 107],
    ),
    ("() (let (a→b 1) in (+ a→b (g 1)))", &[106, 106, 201]),
    // Code that could not be read explains names that are not bound.
    (
        "((x : int)) (let (y x 1) in (+ y (unknown x)))",
        &[107, 201],
    ),
    ("((x : int)) (let (y x 1) in (+ (y 2) y.3))", &[107]),
    (
        "() (define (f 1 2) (g (f 1))) (+ (g 2) (f nowhere))",
        &[107, 201],
    ),
    (
        "((x : M)) (types (M (+ (A : int)))) (case x (A a a))",
        &[107],
    ),
    (
        "((x : int)) (types (M : (+ (A int) (B : int)))) (case (B x) (A a a) (B b (nowhere b)))",
        &[107, 201],
    ),
    ("((x : int) y) (+ x (y 1))", &[107]),
    ("() (import file) (f (g 1))", &[107]),
    ("((n : int)) (+ n true) (nowhere n)", &[203, 109, 201]),
    ("() (defun f (x) (+ x 1)) (f (nowhere 2))", &[109, 201]),
    ("() (+ (let (x)) (if (lambda x) 1))", &[107, 107, 107]),
    ("((x : int, float)) (+ x (nowhere 1))", &[107, 201]),
    // Patterns, parameters, arms.
    ("() ((lambda (1 x) (+ x true)) 2 3)", &[107, 206]),
    ("() ((lambda ((a b) x) (a (b x))) 2 3)", &[107]),
    (
        "((m : M)) (types (M : (+ (A : int) (B : int)))) (case m (A a a a a) (B b (nowhere b)))",
        &[107, 201],
    ),
    (
        "((m : M)) (types (M : (+ (A : int) (B : int)))) (case m (A a a) 7)",
        &[107],
    ),
    (
        "() ((mu (3 : int -> int) (lambda (n) (nowhere n))) 2)",
        &[106, 201],
    ),
    // Types.
    (
        "((x : flaot) (y : vector)) (+ (x 1) (nowhere y))",
        &[202, 107, 201],
    ),
    (
        "((x : (int,))) (types (A : B)) (+ x.0 (+ 1 true))",
        &[107, 202, 206],
    ),
    // A name bound twice.
    ("() ((lambda (a : int) (a : int) a) 1 2)", &[110]),
    ("() ((lambda (a (b, a)) a) 1 (2, 3))", &[110]),
    ("() (let ((a, a) (1, 2)) in a)", &[110]),
    (
        "((m : M)) (types (M : (+ (A : (int, int))))) (case m (A (a, a) a))",
        &[110],
    ),
    ("((a : int) (a : int)) (+ a true)", &[110, 203]),
    (
        "(types (M 'a 'a : (+ (A : 'a)))) (foreign (f : int -> int) (f : int -> int)) () (nowhere 1)",
        &[110, 110, 201],
    ),
    ("(entry e ((a : int) (a : int)) (+ a true))", &[110, 203]),
    // Parentheses: errors in the other forms are reported.
    (
        "(define (f (lambda (x) (+ x 1)))\n(define (g (lambda (x) (+ x true))))\n(entry e () (f (g nowhere)))",
        &[102, 206, 201],
    ),
    (
        "(define (f (lambda (x) (+ x 1)))))\n(define (g (lambda (x) (+ x true))))\n(entry e () (f (g nowhere)))",
        &[103, 206, 201],
    ),
    (
        "(define (g (+ 1 true)))\n(entry e () [f (g elsewhere))\n(entry h () (nowhere 1))",
        &[206, 103, 201],
    ),
    // An unclosed comment may hold anything.
    (
        "(define (g (+ 1 true)))\n(entry e () (f 1))\n#| the rest\n(define (f 1))",
        &[206, 102],
    ),
];

#[test]
fn errors_of_all_stages_are_reported_together() {
    let mut failures = String::new();
    for (program, codes) in PROGRAMS {
        let outcome = check(program);
        if outcome.errors() != *codes {
            let found = outcome.errors();
            failures += &format!(
                "{program}\n{found:?}, not {codes:?}\n{}\n",
                outcome.messages()
            );
        }
        let places: Vec<_> = errors(&outcome).map(|d| d.primary.span).collect();
        assert!(places.is_sorted(), "{program}\n{}", outcome.messages());
    }
    assert!(failures.is_empty(), "\n{failures}");
}

/// Types that cannot be read, and one that is not known.
const LOST_TYPES: &[&str] = &[
    "((lam+ a b))(int, int)",
    "((lam+ a b))",
    "vector",
    "(int,)",
    "(vector#2)",
    "(+ (A int))",
    "(Flaot int)",
    "vec#3 int",
];

/// Programs in which `p` gets its type from a type expression. `T` is the type, `B` a use of `p`.
const PLACES_OF_TYPES: &[&str] = &[
    "((p : T)) B",
    "((q : vector T)) (map (lambda (p) B) q)",
    "((q : (int, T))) (let (p q.1) in B)",
    "((x : int)) ((lambda (p : T) B) nil)",
    "((x : int)) (let (p (: nil T)) in B)",
    "(types (S : T)) ((p : S)) B",
    "(types (S : (+ (C : T)))) ((s : S)) (case s (C p B))",
    "(types (S 'a : (+ (C : ('a, T))))) ((s : (S int))) (case s (C (y, p) B))",
    "(foreign (f : int -> T)) ((x : int)) (let (p (f x)) in B)",
    "(define (f (lambda (p : T) B))) ((x : int)) (f nil)",
    "(entry one ((p : T)) B) (entry two ((x : int)) (+ x 1))",
    "((x : int)) ((mu (g : T -> int) (lambda (p) B)) nil)",
];

/// Uses of `p` for which its type must be known.
const USES: &[&str] = &[
    "(let ((a, b, c) p) in (+ a b))",
    "(let ((a, (b, c)) p) in c)",
    "p",
    "p.1",
    "(p 1)",
    "(p ! 1)",
    "(+ p p)",
    "(case p (D d d) (E 1))",
    "(map (lambda ((a, b)) a) p)",
    "(reduce + 0 p)",
    "(if p 1 2)",
    "(zip p p)",
    "(let (h (lambda (x) (p, x))) in ((h 1), (h true)))",
    "(foldl (lambda ((a, b) c) (b, a)) p [1 2])",
];

#[test]
fn what_has_a_lost_type_is_not_translated() {
    for place in PLACES_OF_TYPES {
        for (ty, usage) in LOST_TYPES
            .iter()
            .flat_map(|ty| USES.iter().map(move |usage| (ty, usage)))
        {
            let program = place.replace('T', ty).replace('B', usage);
            // There is a message and no panic.
            assert!(!check(&program).errors().is_empty(), "{program}");
        }
    }
}

fn errors(outcome: &Outcome) -> impl Iterator<Item = &nova_diag::Diagnostic> {
    let all = outcome.diagnostics.iter();
    all.filter(|diagnostic| diagnostic.severity == Severity::Error)
}

/// Returns the code and the message of every error of a program.
fn said(text: &str) -> Vec<(u16, String)> {
    let outcome = check(text);
    let each = errors(&outcome).map(|d| (d.code.0, d.message.clone()));
    let mut said: Vec<_> = each.collect();
    said.sort();
    said
}

/// A wrong program as sections and one entry.
struct Wrong {
    name: String,
    sections: String,
    inputs: String,
    expression: String,
    /// The names that its sections declare, and all those that it mentions.
    declared: HashSet<String>,
    mentioned: HashSet<String>,
    /// True if its sections alone have errors.
    in_sections: bool,
    /// True if translation finds its errors, which needs sections without errors.
    in_translation: bool,
}

/// The codes of the errors that translation finds.
const OF_TRANSLATION: [Code; 2] = [codes::BAD_ADDRESS_SPACE, codes::ENDLESS_INSTANTIATION];

impl Wrong {
    /// Returns its text with the entry called `name`.
    fn text(&self, name: &str) -> String {
        let Wrong {
            sections,
            inputs,
            expression,
            ..
        } = self;
        format!("{sections}(entry {name} {inputs} {expression})\n")
    }

    /// True where it can stand with another in one file without a change of meaning.
    fn is_apart_from(&self, other: &Wrong) -> bool {
        let hides = |one: &Wrong, two: &Wrong| one.in_sections && two.in_translation;
        !hides(self, other)
            && !hides(other, self)
            && self.declared.is_disjoint(&other.mentioned)
            && other.declared.is_disjoint(&self.mentioned)
    }
}

/// Returns the programs of `tests/check` that mean the same with an explicit entry.
fn wrong_programs() -> Vec<Wrong> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/check");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder of programs")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.to_string_lossy().ends_with(".wrong.nova"))
        .collect();
    files.sort();
    let wrong = files.iter().filter_map(|path| {
        let text = std::fs::read_to_string(path).ok()?;
        let wrong = split(&path.file_name()?.to_string_lossy(), &text)?;
        (said(&wrong.text("e")) == said(&text)).then_some(wrong)
    });
    wrong.collect()
}

fn split(name: &str, text: &str) -> Option<Wrong> {
    let (data, diagnostics) = read(text, FileId(0));
    if !diagnostics.is_empty() {
        return None;
    }
    let of = |id: &DatumId| &text[data.span(*id).start as usize..data.span(*id).end as usize];
    let is_section = |id: &DatumId| matches!(data.head(*id), Some("types" | "foreign" | "define"));
    let (sections, plain): (Vec<DatumId>, Vec<DatumId>) =
        data.roots().iter().partition(|id| is_section(id));
    let [inputs, expression] = plain[..] else {
        return None;
    };
    if data.roots().iter().any(|id| of(id).contains("\n(")) {
        return None;
    }
    let names = |ids: &[DatumId]| -> HashSet<String> {
        data.names_in(ids)
            .iter()
            .map(|name| name.to_string())
            .collect()
    };
    let text_of_sections: Vec<String> = sections
        .iter()
        .map(|id| of(id).to_string() + "\n")
        .collect();
    let text_of_sections = text_of_sections.concat();
    let late = |(code, _): &(u16, String)| OF_TRANSLATION.contains(&Code(*code));
    Some(Wrong {
        name: name.to_string(),
        in_sections: !said(&format!("{text_of_sections}(entry e () 1)")).is_empty(),
        in_translation: said(text).iter().any(late),
        sections: text_of_sections,
        inputs: of(&inputs).to_string(),
        expression: of(&expression).to_string(),
        declared: declared(&data, &sections),
        mentioned: names(data.roots()),
    })
}

/// Returns the heads of the items of sections, and of sums in them.
fn declared(data: &Data, sections: &[DatumId]) -> HashSet<String> {
    let mut declared = HashSet::new();
    let mut work = sections.to_vec();
    while let Some(id) = work.pop() {
        let Some((_, items)) = data.form(id) else {
            continue;
        };
        for item in items {
            declared.extend(data.head(*item).map(str::to_string));
            let sums = data.as_list(*item).unwrap_or_default().iter();
            work.extend(sums.filter(|part| data.head(**part) == Some("+")));
        }
    }
    declared
}

#[test]
fn the_errors_of_two_programs_are_reported_in_one_file() {
    let programs = wrong_programs();
    assert!(programs.len() > 40, "{}", programs.len());
    let mut tried = 0;
    for (k, first) in programs.iter().enumerate() {
        for step in [1, 7, 18, 31, 47] {
            let second = &programs[(k + step) % programs.len()];
            if !first.is_apart_from(second) {
                continue;
            }
            let text = first.text("one") + &second.text("two");
            let mut expected = said(&first.text("one"));
            expected.extend(said(&second.text("two")));
            expected.sort();
            let (one, two) = (&first.name, &second.name);
            assert_eq!(said(&text), expected, "{one} and {two}\n{text}");
            tried += 1;
        }
    }
    assert!(tried > 100, "{tried}");
}

#[test]
fn what_cannot_be_read_hides_no_other_error() {
    let broken = [
        ("(entry zz_form () (if zz_q))\n", 107),
        ("(entry zz_number () (+ 1 1.2.3))\n", 104),
        ("(entry zz_text () \"\\q\")\n", 105),
        ("(define (zz_open (+ 1 2))\n", 102),
        ("(define (zz_closed (+ 1 2))))\n", 103),
        ("(types (zz_type (+ (zz_A : int))))\n", 107),
    ];
    for program in wrong_programs() {
        for (text, code) in broken {
            let whole = text.to_string() + &program.text("e");
            let mut found = said(&whole);
            let own = found.iter().position(|(found, _)| *found == code);
            let own = own.unwrap_or_else(|| panic!("{whole}"));
            found.remove(own);
            assert_eq!(found, said(&program.text("e")), "{}\n{whole}", program.name);
        }
    }
}

/// Returns all programs of the examples and documents.
fn examples() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../nova-examples");
    let folders = [
        "paper",
        "tutorial",
        "nested",
        "strategies",
        "matrices",
        "recursive",
    ];
    let files = folders.iter().flat_map(|folder| {
        let entries = std::fs::read_dir(root.join(folder)).expect("the examples");
        entries.filter_map(|entry| Some(entry.ok()?.path()))
    });
    let mut files: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|e| e == "nova"))
        .collect();
    files.sort();
    let text = |path: &std::path::PathBuf| std::fs::read_to_string(path).expect("an example");
    files.iter().map(text).collect()
}

#[test]
fn broken_programs_are_reported_and_nothing_fails() {
    const INSERTED: [&str; 8] = ["(", ")", "[", ",", ":", "\"", " 1.2.3 ", " in "];
    let mut state = 1u64;
    let mut random = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below.max(1)
    };
    for text in examples() {
        for _ in 0..60 {
            let mut broken = text.clone();
            for _ in 0..1 + random(3) {
                let starts: Vec<usize> = broken.char_indices().map(|(at, _)| at).collect();
                let at = starts[random(starts.len())];
                match random(3) {
                    0 => broken.insert_str(at, INSERTED[random(INSERTED.len())]),
                    1 => {
                        broken.remove(at);
                    }
                    _ => {
                        let end = (at + 1 + random(20)).min(broken.len());
                        if broken.is_char_boundary(end) {
                            broken.replace_range(at..end, "");
                        }
                    }
                }
            }
            let outcome = check(&broken);
            let wrong = !outcome.errors().is_empty();
            // A program without errors has a program of Core.
            match (wrong, &outcome.checked.program) {
                (true, _) => {}
                (false, None) => panic!("nothing is said about\n{broken}"),
                (false, Some(program)) => {
                    nova_core::verify::verify(program).unwrap_or_else(|e| panic!("{broken}\n{e}"));
                }
            }
        }
    }
}
