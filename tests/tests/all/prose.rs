//! The words and sentences of the project. Terms of its own that have a name in the field are not to
//! come back (docs/glossary.md), and the pages under docs are plain: short sentences, short paragraphs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The longest sentence of a page, in words.
const LONGEST_SENTENCE: usize = 40;

/// The longest paragraph of a decision, in words.
const LONGEST_PARAGRAPH: usize = 150;

/// The most words of the map of the compiler.
const LONGEST_MAP: usize = 2500;

/// Words and phrases that have another name in the field, with that name. They are looked for in every
/// case, as whole words; `_` and `-` do not end a word, so that identifiers have rows of their own.
const WORDS: &[(&str, &[&str])] = &[
    (
        "parallelise",
        &[
            "no-divide",
            "opt::divide",
            "divided among threads",
            "divider",
            "undivided loop",
            "divided operation",
            "divided operations",
            "divided loop",
            "divided loops",
            "divided map",
            "divided maps",
        ],
    ),
    (
        "chunk",
        &[
            "each part reduces",
            "each part keeps",
            "parts of a grid",
            "part of a grid",
            "parts of the grid",
            "even parts",
            "the parts give",
            "small parts",
            "even part",
        ],
    ),
    ("unroll-and-jam", &["no-jam", "jam::", "jammed"]),
    ("strip-mining", &["no-strips", "loop::strips"]),
    (
        "non-temporal store",
        &[
            "planstream",
            "plan_stream",
            "stream_lines",
            "stream_end",
            "streamend",
            "nova_stream",
            "streamed",
            "nova_stream_line",
            "streaming stores",
        ],
    ),
    (
        "fixed-size block, padded copy",
        &[
            "copyfew",
            "copy_few",
            "few elements are",
            "few_commands",
            "nova_few",
        ],
    ),
    ("tree reduction", &["combinefew", "combine_few"]),
    ("partial reduction in lanes", &["combinerow", "combine_row"]),
    (
        "prefix scan in registers",
        &["runfew", "run_few", "nova_run", "run in registers"],
    ),
    (
        "gather with bounds precheck",
        &["outside_few", "gather_few", "stride_few"],
    ),
    (
        "iteration",
        &[
            "each round of the loop",
            "round of the loop",
            "rounds of the loop",
            "rounds of a loop",
            "round of a loop",
            "every round of",
            "loop rounds",
        ],
    ),
    (
        "result buffers",
        &[
            "droppieces",
            "drop_pieces",
            "pieces of iterations",
            "nova_pieces",
            "nova_piece",
        ],
    ),
    (
        "explicit call stack",
        &["frames of kernels", "no-frames", "in_frames"],
    ),
    (
        "ordered region",
        &[
            "awaitturn",
            "await_turn",
            "endturn",
            "end_turn",
            "nova_turn",
            "take_turn",
            "take_turns",
        ],
    ),
    (
        "propagate a prefix",
        &[
            "hand on",
            "hands on",
            "handed on",
            "handing on",
            "hand numbers on",
            "handed_on",
            "handedon",
        ],
    ),
    (
        "single-pass chained scan",
        &["no-chain", "loop::chain", "scans in parts", "scan in parts"],
    ),
    (
        "filter survivors, compaction",
        &[
            "elements that are kept",
            "what is kept",
            "what a filter keeps",
        ],
    ),
    ("expensive", &["dear", "dearest", "dearer"]),
    ("FFI boundary", &["border", "borders"]),
    ("narrow accumulators", &["no-counts", "loop::counts"]),
    (
        "reciprocal square root refinement",
        &["no-roots", "loop::roots"],
    ),
    ("index-set splitting", &["no-indices", "loop::indices"]),
    (
        "flattening of regular nests",
        &["no-regular", "opt::regular"],
    ),
    (
        "common-subexpression elimination",
        &["no-share", "opt::share"],
    ),
    (
        "loop-invariant code motion",
        &["no-hoist", "no-hoist-checks", "opt::hoist"],
    ),
    ("parallel regions", &["no-regions", "loop::regions"]),
    ("work-group lowering", &["loop::levels"]),
    ("host-device coherence", &["residency"]),
    (
        "host and device buffers",
        &["mirror", "mirrors", "nova_mirror"],
    ),
    ("count assertion of a filter", &["no-fills", "loop::fills"]),
    ("segmented reduction", &["divide/segments", "segments.rs"]),
    ("stencil tiles with halo", &["stretch", "stretches"]),
    ("privatised histogram", &["local_bins"]),
    ("radix-sort pass", &["digits.rs", "divide/digits"]),
    (
        "side effects",
        &["effects that others see", "effects that can be seen"],
    ),
    ("unrolled", &["written out", "writtenout", "written_out"]),
];

/// The folders and files whose words are looked at.
const WRITTEN: [&str; 5] = ["crates", "runtime-c", "docs", "tests", "README.md"];

/// Records of measurements stay as they were written; this file has the words themselves.
const EXCEPT: [&str; 3] = [
    "docs/benchmarks/",
    "tests/tests/all/prose.rs",
    "tests/fuzz/target/",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Adds the files with one of these endings below a path, by their names from the root.
/// Links lead to files that are read at their own places.
fn add_files(path: &Path, endings: &[&str], files: &mut Vec<(String, String)>) {
    if path.is_symlink() {
        return;
    }
    if path.is_dir() {
        let entries = std::fs::read_dir(path).expect("a folder").flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        for inner in paths {
            let name = inner.file_name().unwrap_or_default().to_string_lossy();
            if !name.starts_with('.') && name != "target" {
                add_files(&inner, endings, files);
            }
        }
        return;
    }
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    if !endings.contains(&ending.as_ref()) {
        return;
    }
    let name = path
        .strip_prefix(root())
        .unwrap_or(path)
        .to_string_lossy()
        .into_owned();
    if !EXCEPT.iter().any(|except| name.starts_with(except)) {
        files.push((name, std::fs::read_to_string(path).expect("text")));
    }
}

fn files(endings: &[&str]) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for written in WRITTEN {
        add_files(&root().join(written), endings, &mut files);
    }
    files
}

/// True if a character belongs to a word.
fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

/// The lines of a text in which a phrase stands as whole words.
fn lines_with(text: &str, phrase: &str) -> Vec<usize> {
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let mut rest = 0;
        while let Some(found) = line.get(rest..).and_then(|tail| tail.find(phrase)) {
            let begin = rest + found;
            let end = begin + phrase.len();
            let before = line[..begin].chars().next_back();
            let after = line[end..].chars().next();
            if !before.is_some_and(is_of_word) && !after.is_some_and(is_of_word) {
                lines.push(number + 1);
                break;
            }
            rest = end;
        }
    }
    lines
}

#[test]
fn words_are_the_fields() {
    let mut wrong = Vec::new();
    for (name, text) in files(&["rs", "md", "h", "c", "pml", "loop"]) {
        let text = text.to_lowercase();
        for (term, phrases) in WORDS {
            for phrase in *phrases {
                for line in lines_with(&text, &phrase.to_lowercase()) {
                    wrong.push(format!("{name}:{line}: `{phrase}`; the field says {term}"));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} places:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// A page without its code: each fence is the end of a paragraph.
fn without_code(text: &str) -> String {
    text.split("```")
        .step_by(2)
        .collect::<Vec<_>>()
        .join("\n\n")
}

/// A text in which what stands in backquotes is one word, and links are their words.
fn plain(text: &str) -> String {
    let quoted = text.split('`').enumerate();
    let text: String = quoted
        .map(|(k, part)| if k % 2 == 0 { part } else { "C" })
        .collect();
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some(begin) = rest.find("](") {
        out += &rest[..begin];
        rest = rest[begin..]
            .find(')')
            .map_or("", |end| &rest[begin + end + 1..]);
    }
    out + rest
}

/// The blocks of a page: paragraphs, items of lists, cells of tables, headings.
fn blocks(text: &str) -> Vec<String> {
    let mut blocks = vec![String::new()];
    for line in text.lines() {
        let start = line.trim_start();
        let is_item = start.starts_with("- ")
            || start.starts_with("* ")
            || start
                .split_once(". ")
                .is_some_and(|(n, _)| n.parse::<u32>().is_ok());
        if start.starts_with('|') {
            blocks.extend(start.split('|').map(str::to_string));
            blocks.push(String::new());
        } else if start.is_empty() || is_item || start.starts_with('#') {
            blocks.push(start.to_string());
        } else if let Some(last) = blocks.last_mut() {
            *last += " ";
            *last += start;
        }
    }
    blocks
}

/// The sentences of a block. A stop ends a sentence where a capital, a number of code or the end follows.
fn sentences(block: &str) -> Vec<String> {
    let mut sentences = vec![String::new()];
    let words: Vec<&str> = block.split_whitespace().collect();
    for (k, word) in words.iter().enumerate() {
        if let Some(last) = sentences.last_mut() {
            *last += word;
            *last += " ";
        }
        let bare = word.trim_end_matches(['"', '\'', ')', '*']);
        let ends = bare.ends_with(['.', '?', '!']);
        let next = words
            .get(k + 1)
            .and_then(|next| next.trim_start_matches(['*', '(', '[', '"']).chars().next());
        if ends && next.is_none_or(char::is_uppercase) {
            sentences.push(String::new());
        }
    }
    sentences
}

#[test]
fn sentences_of_pages_are_short() {
    let mut wrong = Vec::new();
    for (name, text) in files(&["md"]) {
        for block in blocks(&plain(&without_code(&text))) {
            for sentence in sentences(&block) {
                let words = sentence.split_whitespace().count();
                if words > LONGEST_SENTENCE {
                    wrong.push(format!("{name}: {words} words: {sentence}"));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} sentences:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn decisions_have_short_paragraphs_and_are_listed() {
    let folder = root().join("docs/decisions");
    let index = std::fs::read_to_string(folder.join("README.md")).expect("the index");
    let mut pages = Vec::new();
    add_files(&folder, &["md"], &mut pages);
    assert!(pages.len() > 50, "{} pages", pages.len());
    for (name, text) in pages {
        let file = name.rsplit('/').next().unwrap_or_default();
        if file != "README.md" {
            let title = text
                .lines()
                .next()
                .unwrap_or_default()
                .trim_start_matches("# ");
            let entry = format!("- [{title}]({file})");
            assert!(index.contains(&entry), "{entry} is missing in the index");
        }
        for block in blocks(&without_code(&text)) {
            let words = block.split_whitespace().count();
            assert!(words <= LONGEST_PARAGRAPH, "{name}: {words} words: {block}");
        }
    }
}

#[test]
fn the_map_is_short() {
    let map = std::fs::read_to_string(root().join("docs/architecture.md")).expect("the map");
    let words = map.split_whitespace().count();
    assert!(words <= LONGEST_MAP, "{words} words");
}

#[test]
fn links_between_pages_lead_somewhere() {
    for (name, text) in files(&["md"]) {
        let folder = root().join(&name).parent().expect("a folder").to_path_buf();
        for link in without_code(&text).split("](").skip(1) {
            let target = link.split([')', '#']).next().unwrap_or_default();
            if !target.is_empty() && !target.contains("://") {
                assert!(folder.join(target).exists(), "{name}: {target}");
            }
        }
    }
}

#[test]
fn crates_import_only_those_above_them_in_the_map() {
    let map = std::fs::read_to_string(root().join("docs/architecture.md")).expect("the map");
    let rows = map.lines().filter_map(|line| line.strip_prefix("| nova"));
    let names = rows.filter_map(|row| row.split(" |").next());
    let order: Vec<String> = names.map(|name| format!("nova{name}")).collect();
    let folders = std::fs::read_dir(root().join("crates")).expect("the crates");
    assert_eq!(order.len(), folders.count(), "{order:?}");
    for (at, name) in order.iter().enumerate() {
        let file = root().join(format!("crates/{name}/Cargo.toml"));
        let manifest = std::fs::read_to_string(file).expect("a manifest");
        let own = manifest.split("[dependencies]").nth(1).unwrap_or_default();
        let own = own.split("\n[").next().unwrap_or_default();
        for line in own.lines().filter(|line| line.starts_with("nova-")) {
            let imported = line.split(['.', ' ']).next().unwrap_or_default();
            let above = order.iter().take(at).any(|other| other == imported);
            assert!(above, "{name} imports {imported}");
        }
    }
}

#[test]
fn the_phases_of_the_map_are_the_passes() {
    let map = std::fs::read_to_string(root().join("docs/architecture.md")).expect("the map");
    let phases = map.split("## Phases").nth(1).unwrap_or_default();
    let phases = phases.split("\n## ").next().unwrap_or_default();
    let named: Vec<&str> = phases.split('`').skip(1).step_by(2).collect();
    for pass in nova_driver::pipeline::PASSES {
        assert!(named.contains(&pass.name), "{} is missing", pass.name);
    }
    for name in named {
        let mut passes = nova_driver::pipeline::PASSES.iter();
        assert!(passes.any(|pass| pass.name == name), "no pass `{name}`");
    }
}

#[test]
fn the_page_of_the_command_lists_the_passes_of_each_level() {
    let page = std::fs::read_to_string(root().join("docs/command.md")).expect("the page");
    let quoted = |start: &str| -> BTreeSet<String> {
        let rows = page.lines().filter(|line| line.starts_with(start));
        let words = rows.flat_map(|row| row.split('`').skip(1).step_by(2));
        words.map(String::from).collect()
    };
    let options = quoted("| `--no-");
    let mut wanted = BTreeSet::new();
    for level in 0..=3 {
        let listed = quoted(&format!("| `-O{level}` |"));
        let passes = nova_driver::pipeline::PASSES.iter();
        for pass in passes.filter(|pass| pass.level == Some(level)) {
            assert!(listed.contains(pass.name), "-O{level} lacks {}", pass.name);
            wanted.insert(format!("--no-{}", pass.name));
        }
    }
    assert_eq!(options, wanted);
}

#[test]
fn paths_on_the_map_and_in_decisions_exist() {
    let mut pages = Vec::new();
    add_files(&root().join("docs/architecture.md"), &["md"], &mut pages);
    add_files(&root().join("docs/decisions"), &["md"], &mut pages);
    let mut missing = Vec::new();
    for (name, text) in pages {
        for quoted in without_code(&text).split('`').skip(1).step_by(2) {
            let is_path = quoted.contains("/src/") || quoted.starts_with("runtime-c/");
            let plain = |c: char| c.is_alphanumeric() || "/._-".contains(c);
            if is_path && quoted.chars().all(plain) {
                let found = ["", "crates"].map(|folder| root().join(folder).join(quoted).exists());
                if !found.contains(&true) {
                    missing.push(format!("{name}: {quoted}"));
                }
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}
