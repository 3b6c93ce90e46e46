//! Tests of the command as users run it: the cases of `tests/cli/*.txt`, and one case with the
//! blocks of the book's page `docs/command.md`. Each runs in a folder of its own.
//!
//! A case looks like this:
//!
//! ```text
//! # a title
//! file dot.nova
//!     ((X : vector float)) (reduce + 0 X)
//! npy x.npy <f4 (3) 1 2 3
//! $ novac run dot.nova X=@x.npy
//! 6.0
//! $ novac run dot.nova
//! ! X, a vector float
//! = 2
//! ```
//!
//! `file` and the indented lines after it write a file, `npy` an array (type, shape, elements). `$`
//! runs a line in the shell. The lines after it are its standard output. A line `! text` must occur
//! in standard error (in this order), and `= N` is the exit status (0 unless given). A line `...`
//! stands for any lines of output. On a page, a block ```` ```lisp NAME ```` writes a file, and a
//! block ```` ```console ```` shows the screen of a terminal, with both outputs interleaved.

use libtest_mimic::{Arguments, Failed, Trial};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A case of a file.
#[derive(Clone, Default)]
struct Case {
    title: String,
    steps: Vec<Step>,
}

#[derive(Clone)]
enum Step {
    File { name: String, text: String },
    Npy(String),
    Run(Run),
}

/// A command and its expectations.
#[derive(Clone, Default)]
struct Run {
    command: String,
    stdout: Vec<String>,
    stderr: Vec<String>,
    status: i32,
}

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cli");
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|e| e == "txt"))
        .collect();
    files.sort();
    let mut trials = Vec::new();
    for file in files {
        let stem = file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let text = fs::read_to_string(&file).expect("a readable file");
        for case in parse(&text) {
            let name = format!("{stem}: {}", case.title);
            trials.push(Trial::test(name, move || run(&case)));
        }
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/command.md");
    let text = fs::read_to_string(&page).expect("a readable page");
    trials.push(Trial::test("docs/command.md", move || {
        run(&parse_page(&text))
    }));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn parse(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("# ") {
            cases.push(Case {
                title: title.to_string(),
                steps: Vec::new(),
            });
            continue;
        }
        let Some(case) = cases.last_mut() else {
            continue;
        };
        if let Some(name) = line.strip_prefix("file ") {
            case.steps.push(Step::File {
                name: name.to_string(),
                text: String::new(),
            });
        } else if let Some(array) = line.strip_prefix("npy ") {
            case.steps.push(Step::Npy(array.to_string()));
        } else if let Some(command) = line.strip_prefix("$ ") {
            case.steps.push(Step::Run(Run {
                command: command.to_string(),
                ..Run::default()
            }));
        } else {
            expectation(case, line);
        }
    }
    cases
}

/// Parses the blocks of a page that write files or run commands.
fn parse_page(page: &str) -> Case {
    let mut case = Case::default();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(block) = line.strip_prefix("```") else {
            continue;
        };
        let content = lines.by_ref().take_while(|line| *line != "```");
        if let Some(name) = block.strip_prefix("lisp ") {
            case.steps.push(Step::File {
                name: name.to_string(),
                text: content.map(|line| format!("{line}\n")).collect(),
            });
            continue;
        }
        for line in content.filter(|_| block == "console") {
            match (line.strip_prefix("$ "), case.steps.last_mut()) {
                (Some(command), _) => case.steps.push(Step::Run(Run {
                    command: format!("{{ {command}; }} 2>&1 || true"),
                    ..Run::default()
                })),
                (None, Some(Step::Run(run))) if !line.is_empty() => {
                    run.stdout.push(line.to_string());
                }
                (None, _others) => {}
            }
        }
    }
    case
}

/// Parses a line that belongs to the last step.
fn expectation(case: &mut Case, line: &str) {
    match case.steps.last_mut() {
        Some(Step::File { text, .. }) => {
            if let Some(content) = line.strip_prefix("    ") {
                *text += content;
                *text += "\n";
            }
        }
        Some(Step::Run(run)) => {
            if let Some(text) = line.strip_prefix("! ") {
                run.stderr.push(text.to_string());
            } else if let Some(status) = line.strip_prefix("= ") {
                run.status = status.parse().expect("an exit status");
            } else if !line.is_empty() {
                run.stdout.push(line.to_string());
            }
        }
        Some(Step::Npy(_)) | None => {}
    }
}

fn run(case: &Case) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    for step in &case.steps {
        match step {
            Step::File { name, text } => {
                let path = folder.path().join(name);
                fs::create_dir_all(path.parent().unwrap_or(&path))?;
                fs::write(path, text)?;
            }
            Step::Npy(array) => write_npy(folder.path(), array)?,
            Step::Run(run) => run_command(folder.path(), run)?,
        }
    }
    Ok(())
}

/// Writes `NAME TYPE (SHAPE) ELEMENT …`.
fn write_npy(folder: &Path, array: &str) -> Result<(), Failed> {
    let words: Vec<&str> = array.split_whitespace().collect();
    let [name, kind, shape, elements @ ..] = words.as_slice() else {
        return Err("npy NAME TYPE (SHAPE) ELEMENT …".into());
    };
    let (kind, fortran) = match kind.strip_suffix("-fortran") {
        Some(kind) => (kind, "True"),
        None => (*kind, "False"),
    };
    let shape = shape.replace(")", ",)").replace("(,)", "()");
    let header = format!("{{'descr': '{kind}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    for element in elements {
        let integer = || element.parse::<i64>().map_err(|e| e.to_string());
        let float = || element.parse::<f64>().map_err(|e| e.to_string());
        match kind {
            "<f4" => bytes.extend((float()? as f32).to_le_bytes()),
            ">f4" => bytes.extend((float()? as f32).to_be_bytes()),
            "<f8" => bytes.extend(float()?.to_le_bytes()),
            "<i4" => bytes.extend((integer()? as i32).to_le_bytes()),
            "<i8" => bytes.extend(integer()?.to_le_bytes()),
            "|u1" | "|b1" => bytes.push(integer()? as u8),
            other => return Err(format!("no elements of type {other}").into()),
        }
    }
    Ok(fs::write(folder.join(name), bytes)?)
}

fn run_command(folder: &Path, run: &Run) -> Result<(), Failed> {
    let novac = Path::new(env!("CARGO_BIN_EXE_novac"));
    let emulated = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cuda/emulated-nvcc");
    let commands = novac.parent().unwrap_or(novac);
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("/bin/sh")
        .args(["-c", &run.command])
        .current_dir(folder)
        .env("PATH", format!("{}:{path}", commands.display()))
        .env("NOVAC", novac)
        .envs(["NOVA_NVCC", "NOVA_HIPCC"].map(|name| (name, &emulated)))
        .env(
            "NOVA_CACHE",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("nova-cache"),
        )
        .env_remove("CC")
        .env_remove("NOVA_PROFILE")
        .stdin(Stdio::null())
        .output()?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let found = format!(
        "$ {}\nstatus {:?}\n--- standard output\n{stdout}--- standard error\n{stderr}",
        run.command,
        output.status.code()
    );
    if output.status.code() != Some(run.status) {
        return Err(format!("status {} expected\n{found}", run.status).into());
    }
    let lines: Vec<&str> = stdout.lines().filter(|line| !line.is_empty()).collect();
    let expected: Vec<&str> = run.stdout.iter().map(String::as_str).collect();
    if !matches(&lines, &expected) {
        return Err(format!("other output expected:\n{}\n{found}", expected.join("\n")).into());
    }
    let mut rest = &*stderr;
    for text in &run.stderr {
        match rest.find(text.as_str()) {
            Some(at) => rest = &rest[at + text.len()..],
            None => return Err(format!("`{text}` is missing\n{found}").into()),
        }
    }
    if run.status == 0 && run.stderr.is_empty() && !stderr.is_empty() {
        return Err(format!("no messages expected\n{found}").into());
    }
    Ok(())
}

/// True if lines are those expected, where `...` stands for any number of them.
fn matches(lines: &[&str], expected: &[&str]) -> bool {
    match (lines, expected) {
        ([], []) => true,
        (_, ["...", rest @ ..]) => (0..=lines.len()).any(|k| matches(&lines[k..], rest)),
        ([line, lines @ ..], [text, rest @ ..]) => line == text && matches(lines, rest),
        ([], _) | (_, []) => false,
    }
}
