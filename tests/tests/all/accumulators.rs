//! Tests that sums that wrap have unsigned variables, in all generated C. gcc adds signed
//! accumulators in lanes of vectors and then concludes that nothing wraps
//! (`nova-c-ast/src/passes/accumulators.rs`). Values show that only in large functions, so the tests inspect
//! the text. It must have no variable of a signed type, declared before a loop, that the loop
//! assigns and adds in unsigned arithmetic, and no local array whose elements a loop treats so.

use nova_driver::{Compiler, Options, Source, Target};
use nova_tests::conformance::File;
use nova_tests::{effort, random, sources};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A line, with the lines that continue its arithmetic.
struct Line {
    /// Its indentation.
    depth: usize,
    text: String,
    /// The number of its first line.
    number: usize,
}

fn lines(text: &str) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let text = line.trim();
        let begins = ["+ ", "- ", "* "].iter().any(|sign| text.starts_with(sign));
        match lines.last_mut() {
            Some(last) if begins || last.text.ends_with(['+', '-', '*', '=', '(', ',']) => {
                last.text += " ";
                last.text += text;
            }
            _ if text.is_empty() => {}
            _ => lines.push(Line {
                depth: line.len() - line.trim_start().len(),
                text: text.to_string(),
                number,
            }),
        }
    }
    lines
}

/// The loops around a line: the indentation of their heads, and their lines.
type Loops = Vec<(usize, usize)>;

/// A signed variable: the loops in which it is declared, and those in which it is assigned and
/// added.
#[derive(Default)]
struct Signed {
    declared: Loops,
    assigned: Vec<Loops>,
    added: Vec<Loops>,
}

/// Returns the variables of a text that break the rule, each with the number of a line where it is
/// added.
fn signed_accumulators(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut loops = Loops::new();
    let mut known: BTreeMap<String, Signed> = BTreeMap::new();
    for line in lines(text) {
        if line.depth == 0 && line.text != "{" {
            close(&mut known, &mut found);
        }
        loops.retain(|(depth, _)| *depth < line.depth);
        for (bits, at) in of_types(&line.text) {
            let name = word(&line.text[at..]);
            // The rest is a cast, a type in a list, or a variable.
            if !name.is_empty() {
                let declared = loops.clone();
                let entry = known.entry(format!("{bits} {name}")).or_default();
                *entry = Signed {
                    declared,
                    ..Signed::default()
                };
            }
        }
        if is_head(&line.text) {
            loops.push((line.depth, line.number));
        }
        note(&line.text, &loops, &mut known);
    }
    close(&mut known, &mut found);
    found
}

/// Reports the uses that a function makes of its variables, and forgets these.
fn close(known: &mut BTreeMap<String, Signed>, found: &mut Vec<String>) {
    for (name, signed) in std::mem::take(known) {
        let is_inside = |loops: &&Loops| loops.len() > signed.declared.len();
        if signed.assigned.iter().any(|l| is_inside(&l)) {
            let added = signed.added.iter().find(is_inside);
            found.extend(added.map(|l| format!("{name}, loop of line {}", l[l.len() - 1].1 + 1)));
        }
    }
}

/// Notes the signed variables that a line assigns and adds.
fn note(line: &str, loops: &Loops, known: &mut BTreeMap<String, Signed>) {
    for (name, signed) in known {
        let Some((bits, name)) = name.split_once(' ') else {
            continue;
        };
        if line
            .strip_prefix(name)
            .is_some_and(|rest| after_index(rest).starts_with(" = "))
        {
            signed.assigned.push(loops.clone());
        }
        let cast = format!("(uint{bits}_t){name}");
        for (at, _) in line.match_indices(&cast) {
            let before = line[..at].trim_end_matches('(');
            let after = after_index(&line[at + cast.len()..]);
            let is_word = after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
            let signs = ["+", "-", "*"];
            let is_added = signs.iter().any(|sign| {
                after.starts_with(&format!(" {sign} ")) || before.ends_with(&format!(" {sign} "))
            });
            if is_added && !is_word {
                signed.added.push(loops.clone());
            }
        }
    }
}

/// Returns the text after the index in brackets with which it begins, if it begins with one.
fn after_index(text: &str) -> &str {
    let mut open = 0;
    for (at, c) in text.char_indices() {
        match c {
            '[' => open += 1,
            ']' => open -= 1,
            _other if open == 0 => return &text[at..],
            _inside => {}
        }
    }
    text
}

/// Returns the positions of the names after `int32_t ` and `int64_t `, with the bits.
fn of_types(line: &str) -> Vec<(u32, usize)> {
    let mut found = Vec::new();
    for bits in [32, 64] {
        let ty = format!("int{bits}_t ");
        for (at, _) in line.match_indices(&ty) {
            let is_word = line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            if !is_word {
                found.push((bits, at + ty.len()));
            }
        }
    }
    found
}

/// Returns the first word of a text.
fn word(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_'));
    &text[..end.unwrap_or(text.len())]
}

fn is_head(line: &str) -> bool {
    let loops = [
        "for (",
        "while (",
        "NOVA_LOCAL_LOOP(",
        "NOVA_SHARED_LOOP(",
        "NOVA_GROUP_LOOP(",
    ];
    loops.iter().any(|head| line.starts_with(head))
}

/// Returns the C of a program. Programs for one target alone may have none.
fn emit(name: &str, text: &str, target: Target, level: u8) -> Option<String> {
    let compiler = Compiler::new(Options {
        target,
        optimization: level,
        ..Options::default()
    });
    let source = Source::Text {
        name: name.to_string(),
        text: text.to_string(),
        folder: Path::new(name).parent()?.into(),
    };
    let mut checked = compiler.check(source).ok()?;
    let generated = compiler.compile(&mut checked).ok()?;
    Some(generated.files.source)
}

#[test]
fn sums_that_wrap_are_unsigned() {
    let mut texts: Vec<(String, String)> = sources::programs(&["nova-examples", "tests/classes"])
        .iter()
        .map(|path| {
            let text = std::fs::read_to_string(path).expect("a program");
            (path.to_string_lossy().into_owned(), text)
        })
        .collect();
    for seed in 0..24 {
        let text = format!("{}{}", random::PRELUDE, random::program(seed).entry);
        texts.push((format!("random {seed}"), text));
    }
    for number in 0..12 {
        let file = File::new(number, false);
        let entries: Vec<String> = (0..4).map(|k| file.program(8 * number + k).text).collect();
        texts.push((
            format!("drawn {number}"),
            format!("{}{}", file.head, entries.concat()),
        ));
    }
    let settings = [
        (Target::Sequential, 0),
        (Target::Sequential, 2),
        (Target::Sequential, 3),
        (Target::Pthreads, 2),
        (Target::Cuda, 2),
    ];
    let mut emitted = 0;
    let mut wrong = BTreeSet::new();
    let numbered = texts.iter().enumerate();
    for (k, (name, text)) in numbered.filter(|(k, _)| effort::tries(*k, 2)) {
        // Each program is compiled in one of the ways.
        let (target, level) = settings[k % 5];
        let Some(code) = emit(name, text, target, level) else {
            continue;
        };
        emitted += 1;
        let found = signed_accumulators(&code).into_iter();
        wrong.extend(found.map(|at| format!("{name}, {target} -O{level}: {at}")));
    }
    let part = if effort::all() { 1 } else { 2 };
    assert!(
        4 * part * emitted > 3 * texts.len(),
        "{emitted} of {}",
        texts.len()
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Tests that the search finds such variables.
#[test]
fn signed_sums_are_found() {
    let function = |body: &str| format!("static int f(int64_t n)\n{{\n{body}\n}}\n");
    let wrong = [
        "    int32_t v = 3;\n    for (int64_t i = 0; i < n; i++)\n        v = (uint32_t)v + x[i];",
        "    int64_t v = 3;\n    for (int64_t i = 0; i < n; i++) {\n        v = y[i] - ((uint64_t)v * x[i]);\n    }",
        "    int32_t v;\n    while (n > 4)\n        for (int64_t i = 0; i < n; i++) {\n            t = 5 +\n                (uint32_t)v;\n            v = t;\n        }",
        "    while (n < 5) {\n        int32_t t = (uint32_t)n;\n        n = (uint64_t)n + 1;\n    }",
        "    int32_t a[4];\n    for (int64_t i = 0; i < n; i++)\n        a[b[i]] = (uint32_t)a[b[i]] * x[i];",
    ];
    for body in wrong {
        let found = signed_accumulators(&function(body));
        assert_eq!(found.len(), 1, "{body}: {found:?}");
    }
    let right = [
        "    uint32_t v = 3;\n    for (int64_t i = 0; i < n; i++)\n        v = v + x[i];",
        "    for (int64_t i = 0; i < n; i++) {\n        int32_t v = 3;\n        v = (uint32_t)v + x[i];\n    }",
        "    int32_t v = 3;\n    v = (uint32_t)v + x[0];\n    for (int64_t i = 0; i < n; i++)\n        y[i] = v;",
        "    int32_t v = 3;\n    for (int64_t i = 0; i < n; i++)\n        y[i] = (uint32_t)v + i;",
        "    uint32_t a[4];\n    for (int64_t i = 0; i < n; i++)\n        a[i] = a[i] * x[i];",
    ];
    for body in right {
        let found = signed_accumulators(&function(body));
        assert!(found.is_empty(), "{body}: {found:?}");
    }
}
