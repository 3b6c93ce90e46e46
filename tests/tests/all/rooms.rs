//! The rooms of the crates: which modules of a crate import each other. Inside a crate and inside each of its
//! folders imports go in one direction, files do not depend on each other in large groups, and no crate, file or
//! function is large.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The most lines of the sources of a crate.
const MOST_LINES: usize = 15_000;

/// The most files of a crate that depend on each other in a circle.
const MOST_FILES: usize = 3;

/// The most lines of a file.
const MOST_LINES_OF_A_FILE: usize = 600;

/// The most lines of a function, with its head.
const MOST_LINES_OF_A_FUNCTION: usize = 80;

/// The path of a module, from the crate's root.
type Module = Vec<String>;

/// A graph: for each node the nodes that it imports, each with one of the paths that name it.
type Graph = BTreeMap<String, BTreeMap<String, String>>;

/// A crate's sources.
struct Crate {
    name: String,
    /// The file of each module, as a path from the crate's `src`.
    modules: BTreeMap<Module, String>,
    /// The tokens of each module's file.
    tokens: BTreeMap<Module, Vec<String>>,
    /// What the root exports from its modules, by name.
    exports: BTreeMap<String, Module>,
    lines: usize,
}

/// Removes comments and the texts of literals.
fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(length) = raw_text(rest) {
            length
        } else if first == '"' {
            quoted(rest, '"')
        } else if first == '\'' && is_character(rest) {
            quoted(rest, '\'')
        } else {
            // A word is taken as a whole, so that its end is not read as the beginning of a raw text.
            let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
            let taken = word.unwrap_or(rest.len()).max(first.len_utf8());
            out += &rest[..taken];
            rest = &rest[taken..];
            continue;
        };
        rest = &rest[skipped..];
        out.push(' ');
    }
    out
}

/// Returns the length of the raw text at the beginning, if there is one.
fn raw_text(text: &str) -> Option<usize> {
    let after = text.strip_prefix("br").or_else(|| text.strip_prefix('r'))?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    let inner = after[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let length = inner.find(&end).map_or(inner.len(), |at| at + end.len());
    Some(text.len() - inner.len() + length)
}

/// True if a quote begins a character, not a lifetime.
fn is_character(text: &str) -> bool {
    let mut characters = text.chars().skip(1);
    characters.next() == Some('\\') || characters.next() == Some('\'')
}

/// Returns the length of the literal at the beginning, which ends with the same quote.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if c == quote && !escaped {
            return at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    text.len()
}

/// Returns the tokens of a text: words, `::`, and other characters.
fn tokens_of(text: &str) -> Vec<String> {
    let text = without_comments(text);
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        let length = match word.unwrap_or(rest.len()) {
            0 if rest.starts_with("::") => 2,
            0 => first.len_utf8(),
            length => length,
        };
        tokens.push(rest[..length].to_string());
        rest = rest[length..].trim_start();
    }
    tokens
}

/// Reads a path with its groups, as in `a::{b, c::d as e}`, from the token at `at` on. Calls `visit` on each
/// path, with the name under which it is known. Returns the place after it.
fn path(
    tokens: &[String],
    at: usize,
    before: &[String],
    visit: &mut dyn FnMut(&[String], &str),
) -> usize {
    let token = |at: usize| tokens.get(at).map_or("", String::as_str);
    let mut path = before.to_vec();
    let mut at = at;
    while token(at).starts_with(|c: char| c.is_alphanumeric() || c == '_') {
        match token(at) {
            "super" => drop(path.pop()),
            name => path.push(name.to_string()),
        }
        at += 1;
        if token(at) != "::" {
            let alias = token(at) == "as";
            let known = if alias { token(at + 1) } else { token(at - 1) };
            visit(&path, known);
            return at + if alias { 2 } else { 0 };
        }
        at += 1;
    }
    if token(at) == "*" {
        visit(&path, "*");
        return at + 1;
    }
    if token(at) == "{" {
        at += 1;
        while at < tokens.len() && token(at) != "}" {
            let end = self::path(tokens, at, &path, visit);
            // What is no path, as in a macro, is passed over.
            at = if end == at { at + 1 } else { end };
            at += usize::from(token(at) == ",");
        }
        return at + 1;
    }
    at
}

/// Calls `visit` on the absolute paths that a module's file names with `crate` and `super`.
fn paths(module: &[String], tokens: &[String], visit: &mut dyn FnMut(&[String])) {
    let token = |at: usize| tokens.get(at).map_or("", String::as_str);
    // The modules that the file has inside it, each with the depth of its braces.
    let mut inside: Vec<(String, usize)> = Vec::new();
    let mut depth = 0;
    for at in 0..tokens.len() {
        match token(at) {
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                inside.retain(|(_, opened)| *opened <= depth);
            }
            "mod" if token(at + 2) == "{" => inside.push((token(at + 1).to_string(), depth + 1)),
            "crate" | "super" if token(at + 1) == "::" => {
                if at > 0 && ["::", "$"].contains(&token(at - 1)) {
                    continue;
                }
                let names = inside.iter().map(|(name, _)| name.clone());
                let mut base: Module = module.iter().cloned().chain(names).collect();
                if token(at) == "crate" {
                    base.clear();
                } else {
                    base.pop();
                }
                path(tokens, at + 2, &base, &mut |path, _| visit(path));
            }
            _other => {}
        }
    }
}

/// Returns the files with sources below a folder.
pub fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

impl Crate {
    fn read(folder: &Path) -> Crate {
        let name = folder.file_name().unwrap_or_default();
        let mut read = Crate {
            name: name.to_string_lossy().into_owned(),
            modules: BTreeMap::new(),
            tokens: BTreeMap::new(),
            exports: BTreeMap::new(),
            lines: 0,
        };
        let src = folder.join("src");
        for path in sources(&src) {
            let text = std::fs::read_to_string(&path).expect("text");
            let file = path
                .strip_prefix(&src)
                .expect("a path below")
                .to_string_lossy();
            let mut module: Module = file
                .trim_end_matches(".rs")
                .split('/')
                .map(str::to_string)
                .collect();
            if module
                .last()
                .is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str()))
            {
                module.pop();
            }
            read.lines += text.lines().count();
            read.modules.insert(module.clone(), file.into_owned());
            read.tokens.insert(module, tokens_of(&text));
        }
        read.exports = read.exports();
        read
    }

    /// Returns what `use` in the root takes from the crate's modules.
    fn exports(&self) -> BTreeMap<String, Module> {
        let mut exports = BTreeMap::new();
        let root = self.tokens.get(&Module::new());
        let root = root.map_or(&[][..], Vec::as_slice);
        for at in 0..root.len() {
            if root[at] == "use" {
                path(root, at + 1, &[], &mut |path, known| {
                    if self.modules.contains_key(&path[..path.len().min(1)]) {
                        exports.insert(known.to_string(), path.to_vec());
                    }
                });
            }
        }
        exports
    }

    /// Returns the module that a path leads into, if it leads into one.
    fn module_of(&self, path: &[String]) -> Option<Module> {
        let lengths = (1..=path.len()).rev();
        let mut prefixes = lengths.map(|length| path[..length].to_vec());
        prefixes
            .find(|prefix| self.modules.contains_key(prefix))
            .or_else(|| self.module_of(self.exports.get(path.first()?)?))
    }

    /// Calls `visit` on each pair of a module and another one that it imports, with the path.
    fn each_arrow(&self, visit: &mut dyn FnMut(&Module, &Module, &str)) {
        for (module, tokens) in &self.tokens {
            paths(module, tokens, &mut |path| {
                if let Some(other) = self.module_of(path)
                    && other != *module
                {
                    visit(module, &other, &path.join("::"));
                }
            });
        }
    }

    /// Returns the graph of the files.
    fn files(&self) -> Graph {
        let mut graph = Graph::new();
        self.each_arrow(&mut |from, to, path| {
            let imports = graph.entry(self.modules[from].clone()).or_default();
            imports.insert(self.modules[to].clone(), path.to_string());
        });
        graph
    }

    /// Returns the graph of the modules in each folder, the root first.
    fn folders(&self) -> BTreeMap<String, Graph> {
        let mut folders: BTreeMap<String, Graph> = BTreeMap::new();
        self.each_arrow(&mut |from, to, path| {
            let shared = from.iter().zip(to).take_while(|(a, b)| a == b).count();
            // An arrow between a folder's own file and a file in it is none between its children.
            if let (Some(a), Some(b)) = (from.get(shared), to.get(shared)) {
                let graph = folders.entry(from[..shared].join("/")).or_default();
                let arrow = format!("{} names {path}", self.modules[from]);
                graph.entry(a.clone()).or_default().insert(b.clone(), arrow);
            }
        });
        folders
    }
}

/// Returns the nodes that a node reaches.
fn reached(graph: &Graph, from: &str) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let mut left = vec![from.to_string()];
    while let Some(node) = left.pop() {
        for next in graph.get(&node).into_iter().flat_map(BTreeMap::keys) {
            if seen.insert(next.clone()) {
                left.push(next.clone());
            }
        }
    }
    seen
}

/// Returns the groups of nodes that reach each other, the largest first.
fn circles(graph: &Graph) -> Vec<BTreeSet<String>> {
    let reach: BTreeMap<&String, _> = graph
        .keys()
        .map(|node| (node, reached(graph, node)))
        .collect();
    let mut found: BTreeSet<BTreeSet<String>> = BTreeSet::new();
    for (node, reached) in &reach {
        let back = |other: &&String| reach.get(other).is_some_and(|r| r.contains(*node));
        if reached.contains(*node) {
            found.insert(reached.iter().filter(back).cloned().collect());
        }
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
    found
}

/// Returns the arrows of a circle that go back in a walk over it: without them there is no circle.
fn back(graph: &Graph, circle: &BTreeSet<String>) -> Vec<String> {
    fn walk(
        (graph, circle): (&Graph, &BTreeSet<String>),
        node: &str,
        open: &mut Vec<String>,
        done: &mut BTreeSet<String>,
        found: &mut Vec<String>,
    ) {
        open.push(node.to_string());
        for (next, path) in graph.get(node).into_iter().flatten() {
            if open.contains(next) {
                found.push(format!("    {node} -> {next}: {path}"));
            } else if circle.contains(next) && !done.contains(next) {
                walk((graph, circle), next, open, done, found);
            }
        }
        open.pop();
        done.insert(node.to_string());
    }
    let mut found = Vec::new();
    if let Some(first) = circle.first() {
        walk(
            (graph, circle),
            first,
            &mut Vec::new(),
            &mut BTreeSet::new(),
            &mut found,
        );
    }
    found
}

/// Returns a description of circles, with the arrows that go back.
fn describe(place: &str, graph: &Graph, circles: &[BTreeSet<String>]) -> String {
    let mut text = String::new();
    for circle in circles {
        let names: Vec<&str> = circle.iter().map(String::as_str).collect();
        text += &format!(
            "\n{place}: a circle of {}: {}\n",
            names.len(),
            names.join(", ")
        );
        text += &back(graph, circle).join("\n");
    }
    text
}

fn crates() -> Vec<Crate> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let entries = std::fs::read_dir(folder).expect("the crates").flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    folders.sort();
    folders.iter().map(|folder| Crate::read(folder)).collect()
}

#[test]
fn modules_import_in_one_direction() {
    let mut wrong = String::new();
    for read in crates() {
        for (folder, graph) in read.folders() {
            let place = format!("{}/src/{folder}", read.name);
            wrong += &describe(&place, &graph, &circles(&graph));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn files_do_not_depend_on_each_other_in_large_groups() {
    let mut wrong = String::new();
    for read in crates() {
        let graph = read.files();
        let mut found = circles(&graph);
        found.retain(|circle| circle.len() > MOST_FILES);
        wrong += &describe(&format!("files of {}", read.name), &graph, &found);
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_crate_carries_the_licences() {
    for read in crates() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../crates")
            .join(&read.name);
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            assert!(
                folder.join(licence).is_file(),
                "{} lacks {licence}",
                read.name
            );
        }
    }
}

/// The crates of passes. Their public functions that rewrite a program are passes.
const CRATES_OF_PASSES: [&str; 8] = [
    "nova-opt",
    "nova-schedule",
    "nova-iterate",
    "nova-mem",
    "nova-loop-opt",
    "nova-reclaim",
    "nova-kernels",
    "nova-c-ast",
];

/// Passes with other parameters, for tests, for `explain` and for the pass of another machine.
const VARIANTS: [&str; 7] = [
    "nova_opt::fuse::run",
    "nova_schedule::run",
    "nova_schedule::notes",
    "nova_mem::reuse::run_with",
    "nova_mem::settle::run_with",
    "nova_mem::short_circuit::run_with",
    "nova_loop_opt::parallel_regions::restrict",
];

/// Returns the number of times that a text of tokens stands in others.
fn count(tokens: &[String], text: &str) -> usize {
    let wanted = tokens_of(text);
    tokens
        .windows(wanted.len())
        .filter(|w| **w == wanted)
        .count()
}

impl Crate {
    /// Returns the module and the name of each public function that takes a program to rewrite.
    fn passes(&self) -> Vec<(&Module, &str)> {
        let head = tokens_of("(program: &mut Program");
        let mut found = Vec::new();
        for (module, tokens) in &self.tokens {
            for at in tokens.windows(head.len() + 3) {
                if at[..2] == ["pub", "fn"] && at[3..] == head {
                    found.push((module, at[2].as_str()));
                }
            }
        }
        found
    }
}

#[test]
fn every_pass_is_one_row_and_runs_from_there_only() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/nova-driver/src/pipeline");
    let files = ["passes.rs", "steps.rs"].map(|file| folder.join(file));
    let texts = files.map(|file| std::fs::read_to_string(file).expect("the table"));
    let table = tokens_of(&texts.concat());
    let mut all = crates();
    all.retain(|read| CRATES_OF_PASSES.contains(&read.name.as_str()));
    for read in &all {
        for (module, name) in read.passes() {
            let mut inside: Module = module.clone();
            inside.push(name.to_string());
            let exported = read.exports.get(name) == Some(&inside);
            let root = read.name.replace('-', "_");
            let path = match exported {
                true => format!("{root}::{name}"),
                false => format!("{root}::{}", inside.join("::")),
            };
            if VARIANTS.contains(&path.as_str()) {
                continue;
            }
            assert_eq!(count(&table, &path), 1, "the rows of {path}");
            let call = inside[inside.len().saturating_sub(2)..].join("::") + "(";
            for (other, tokens) in &read.tokens {
                let calls = count(tokens, &call);
                assert!(calls == 0, "{} calls {path}", other.join("::"));
            }
        }
    }
}

#[test]
fn crates_are_small() {
    for read in crates() {
        assert!(
            read.lines <= MOST_LINES,
            "{} has {} lines",
            read.name,
            read.lines
        );
    }
}

/// Returns the lines of each function of a text, by its name. A function ends with the first line that is its
/// closing brace, as far to the right as its head begins. Functions whose name a macro gives are left out.
fn functions(text: &str) -> Vec<(&str, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let head = line.trim_start();
        let mut words = head.split([' ', '(', '<']);
        let is_before = |word: &&str| {
            [
                "pub", "const", "async", "unsafe", "extern", "crate)", "super)", "\"C\"",
            ]
            .contains(word)
        };
        if words.by_ref().find(|word| !is_before(word)) != Some("fn") {
            continue;
        }
        let end = line[..line.len() - head.len()].to_string() + "}";
        let after = lines[at..].iter().position(|line| *line == end);
        let is_short = head.ends_with(['}', ';']);
        let name = words.next().filter(|name| !name.starts_with('$'));
        if let (Some(name), Some(after), false) = (name, after, is_short) {
            found.push((name, after + 1));
        }
    }
    found
}

#[test]
fn files_and_functions_are_small() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut large = Vec::new();
    for path in ["crates", "tests"]
        .iter()
        .flat_map(|folder| sources(&root.join(folder)))
    {
        let text = std::fs::read_to_string(&path).expect("text");
        let file = path.strip_prefix(&root).expect("a path below").display();
        let lines = text.lines().count();
        if lines > MOST_LINES_OF_A_FILE {
            large.push(format!("{file} has {lines} lines"));
        }
        for (name, lines) in functions(&text) {
            if lines > MOST_LINES_OF_A_FUNCTION {
                large.push(format!("{file}: {name} has {lines} lines"));
            }
        }
    }
    assert!(large.is_empty(), "{large:#?}");
}

#[test]
fn functions_are_found() {
    let text = "impl A {\n    pub(crate) unsafe fn f<T>() {\n        loop {\n        }\n    }\n}\nfn g() {}\n\
                fn h(\n) {\n}\ntrait B {\n    fn i();\n}\n";
    assert_eq!(functions(text), [("f", 4), ("h", 3)]);
}

#[test]
fn imports_are_read() {
    let text = r##"
        //! [`crate::no`]
        use crate::{a::{b, c as d}, e}; // crate::no
        pub(super) const TEXT: &str = "crate::no \" crate::no"; /* crate::no */
        fn f<'l>(x: &'l str) -> crate::g::Result { super::h::i('"', '\'', r#"super::no"#, $crate::no) }
        mod inner { use super::super::j; use super::k::*; }
        use super::l;
    "##;
    let module = ["m".to_string(), "n".to_string()];
    let mut found = Vec::new();
    paths(&module, &tokens_of(text), &mut |path| {
        found.push(path.join("::"))
    });
    let expected = "a::b a::c e g::Result m::h::i m::j m::n::k m::l";
    assert_eq!(found.join(" "), expected);
}
