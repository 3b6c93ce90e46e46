//! Tests that strategies are honoured, or refused with the reason, at every level of optimisation,
//! for random nests of maps with strategies, over rows and vectors. An accepted program has a loop
//! of the kernels for each map and gives the result of the interpreter.

use nova_driver::error::Failure;
use nova_driver::{Compiler, Options, Source, Target};
use nova_tests::random::Random;
use nova_tests::{devices, effort, inputs};

/// The forms of each kind of expression in a group: `v` a vector of ints, `r` rows of ints, `i` an
/// int. A letter in braces stands for an expression of that kind. A name stands for an enclosing
/// value.
const FORMS: &[(char, &str)] = &[
    ('v', "((SPACEmap_local STEPEND) {v})"),
    ('v', "(map_local (lambda (a) (reduce_seq + a {v})) {v})"),
    ('v', "(map_local (lambda (row) (reduce_seq + 0 row)) {r})"),
    ('v', "(map_seq STEP {v})"),
    ('v', "(map STEP {v})"),
    (
        'v',
        "(let (w {v}) ((SPACEmap_local (lambda (a) (+ a (w ! 0)))END) w))",
    ),
    ('v', "(join {r})"),
    (
        'v',
        "(flatten (map_local (lambda (row) (map_seq STEP row)) {r}))",
    ),
    ('r', "((SPACEmap_local (map_seq STEP)END) {r})"),
    ('r', "(map_local (lambda (row) (map STEP row)) {r})"),
    ('r', "(map_seq (lambda (row) (map_local STEP row)) {r})"),
    ('r', "(split 2 {v})"),
    (
        'r',
        "(map_local (lambda (row) (slice 0 1 (row ! 0) row)) {r})",
    ),
    ('i', "(reduce_seq + 0 {v})"),
    ('i', "(reduce_seq + 0 (map_seq STEP {v}))"),
];

struct Draw {
    random: Random,
}

impl Draw {
    /// Draws an expression of a kind over the group `g`, which is of the kind `around`.
    fn expression(&mut self, kind: char, around: char, depth: usize) -> String {
        if depth == 0 || self.random.chance(25) {
            match (kind, around) {
                (kind, around) if kind == around => return "g".into(),
                ('v', _) => return "(join g)".into(),
                ('r', _) => return "(split 2 g)".into(),
                (_, _) => {}
            }
        }
        let forms: Vec<&str> = FORMS.iter().filter(|f| f.0 == kind).map(|f| f.1).collect();
        let form = *self.random.pick(&forms);
        let mut out = String::new();
        let mut rest = form;
        while let Some((before, after)) = rest.split_once('{') {
            out.push_str(before);
            let (hole, after) = after.split_once('}').expect("the end of a hole");
            let kind = hole.chars().next().expect("a kind");
            out.push_str(&self.expression(kind, around, depth.saturating_sub(1)));
            rest = after;
        }
        out.push_str(rest);
        let space = *self.random.pick(&["", "to_local ", "to_global "]);
        let (open, end) = match space {
            "" => (String::new(), ""),
            space => (format!("{space}("), ")"),
        };
        let step = *self
            .random
            .pick(&["(+ 1)", "(* 3)", "(lambda (x) (- x 7))"]);
        out.replace("SPACE", &open)
            .replace("END", end)
            .replace("STEP", step)
    }

    fn program(&mut self) -> String {
        let (around, groups) = *self.random.pick(&[
            ('v', "(split 4 X)"),
            ('v', "(rows A)"),
            ('r', "(split 2 (rows A))"),
            ('r', "(split 2 (split 4 X))"),
        ]);
        let kind = *self.random.pick(&['v', 'r', 'i']);
        let body = self.expression(kind, around, 3);
        format!(
            "((X : vector int) (A : vector#2 int))\n(map_workgroup (lambda (g) {body}) {groups})"
        )
    }
}

fn options(target: Target, optimization: u8) -> Options {
    Options {
        target,
        optimization,
        verify: true,
        ..Options::default()
    }
}

/// Returns the C of a program, or the reason why it is refused.
fn compiled(text: &str, target: Target, level: u8) -> Result<String, String> {
    let compiler = Compiler::new(options(target, level));
    let mut checked = match compiler.check(Source::text("p.nova", text)) {
        Ok(checked) => checked,
        Err(Failure::Program(report)) => return Err(report.to_text()),
        Err(other) => panic!("{text}\n{other:?}"),
    };
    let files = compiler
        .compile(&mut checked)
        .unwrap_or_else(|e| panic!("{text}\n{e:?}"));
    Ok(files.files.source)
}

/// Counts the loops over groups, and over the items of one, in the kernels.
fn loops(source: &str) -> [usize; 2] {
    ["NOVA_GROUP_LOOP(", "NOVA_LOCAL_LOOP("].map(|text| {
        let uses = source.matches(text).count();
        uses - source.matches(&format!("define {text}")).count()
    })
}

const X: &str = "[1 2 3 4 5 6 7 8 1 0 2 1 9 8 7 6]";
const A: &str = "[[1 2 3 4] [2 0 1 5] [3 1 1 1] [0 7 7 2]]";

#[test]
fn strategies_are_honoured_or_refused_with_the_reason() {
    let count: u64 =
        std::env::var("STRATEGY_PROGRAMS").map_or(60, |n| n.parse().expect("a number"));
    let targets = [
        devices::has_opencl().then_some(Target::OpenCl),
        devices::has_cuda().then_some(Target::Cuda),
    ];
    let mut honoured = Vec::new();
    let mut refused = 0;
    for seed in 0..count {
        let mut draw = Draw {
            random: Random::new(seed),
        };
        let text = draw.program();
        let asked = ["(map_workgroup ", "map_local "].map(|word| text.matches(word).count());
        let mut before = None;
        for target in targets.into_iter().flatten() {
            for level in [0, 2] {
                let found = compiled(&text, target, level);
                match &found {
                    Ok(source) => {
                        let made = loops(source);
                        let enough = made.iter().zip(asked).all(|(made, asked)| *made >= asked);
                        assert!(
                            enough,
                            "{target:?} -O{level}: {made:?} of {asked:?}\n{text}"
                        );
                    }
                    Err(message) => {
                        let known = message.contains("N0402");
                        assert!(known, "{text}\n{message}");
                    }
                }
                let same = *before.get_or_insert(found.is_ok()) == found.is_ok();
                assert!(same, "{target:?} -O{level}: otherwise elsewhere\n{text}");
            }
        }
        match before {
            Some(true) => honoured.push(text),
            Some(false) => refused += 1,
            None => {}
        }
    }
    assert!(
        honoured.len() > 10 && refused > 0,
        "{} honoured, {refused} refused",
        honoured.len()
    );
    // The emulation of CUDA takes long to compile.
    let shares = if effort::all() { [4, 8] } else { [16, 24] };
    for (target, every) in targets.into_iter().flatten().zip(shares) {
        for text in honoured.iter().step_by(every) {
            values_agree(text, target);
        }
    }
}

/// Compares the value, or the error, of a program on a target with the interpreter's.
fn values_agree(text: &str, target: Target) {
    let compiler = Compiler::new(options(target, 2));
    let mut checked = compiler
        .check(Source::text("p.nova", text))
        .expect("a program");
    let values = inputs::read(&checked.program, 0, &[X, A]);
    let expected = compiler.eval(&checked, 0, &values);
    let library = compiler
        .load(&mut checked, &[])
        .unwrap_or_else(|e| panic!("{text}\n{e:?}"));
    match (expected, library.call(0, &values)) {
        (Ok(expected), Ok(found)) => {
            assert!(
                found.same(&expected),
                "{target:?}: {found:?}, not {expected:?}\n{text}"
            );
        }
        (Err(_), Err(_)) => {}
        (expected, found) => panic!("{target:?}: {found:?}, not {expected:?}\n{text}"),
    }
}

/// Tests programs that no device runs as they demand, and parts of the messages.
#[test]
fn what_is_refused_says_why() {
    let refused = [
        (
            "((X : vector vector int)) (map_workgroup (lambda (r) (map_local (+ 1) r)) X)",
            "lengths are known only inside",
        ),
        (
            "((X : vector int)) (map_workgroup (lambda (r)
               (reduce_seq + 0 ((to_local (map_local (+ 1))) (slice 0 1 (r ! 0) r)))) (split 4 X))",
            "the size of a vector",
        ),
        (
            "((X : vector int)) (map_global (lambda (x) (trace \"x\" x)) X)",
            "writes traces",
        ),
    ];
    for (text, part) in refused {
        for level in [0, 2] {
            let found = compiled(text, Target::OpenCl, level).expect_err(text);
            assert!(
                found.contains("N0402") && found.contains(part),
                "-O{level} {text}\n{found}"
            );
        }
        let found = compiled(text, Target::Sequential, 2);
        assert!(found.is_ok(), "{found:?}");
    }
    let traced = refused[2].0;
    let found = compiled(traced, Target::Pthreads, 2).expect_err(traced);
    assert!(found.contains("which only one thread does"), "{found}");
    let nodes = "((X : vector int))
        (types (List : (+ (Nil : unit) (Cons : (int, List)))))
        (map_global (lambda (x) (case (Cons (x, Nil)) (Nil 0) (Cons (y, _) y))) X)";
    for level in [0, 2] {
        let found = compiled(nodes, Target::Pthreads, level);
        assert!(found.is_ok(), "-O{level} {found:?}");
    }
}
