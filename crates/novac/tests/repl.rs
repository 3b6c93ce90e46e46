//! Sessions of `novac repl`: lines on its standard input, and what it answers.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// What a session printed on both streams, and its exit status.
struct Answers {
    printed: String,
    messages: String,
    status: Option<i32>,
}

fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_novac"));
    command
        .arg("repl")
        .current_dir(folder)
        .env("NOVA_CACHE", folder.join("cache"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn session_in(folder: &Path, arguments: &[&str], lines: &str) -> Answers {
    let mut child = command(folder).args(arguments).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let lines = lines.to_string();
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    Answers {
        printed: String::from_utf8(output.stdout).unwrap(),
        messages: String::from_utf8(output.stderr).unwrap(),
        status: output.status.code(),
    }
}

fn session(lines: &str) -> Answers {
    let folder = tempfile::tempdir().unwrap();
    session_in(folder.path(), &[], lines)
}

/// Compares what a session without errors prints.
fn answers(lines: &str, expected: &str) {
    let found = session(lines);
    assert_eq!(found.messages, "", "{lines}");
    assert_eq!(found.printed.trim_end(), expected, "{lines}");
    assert_eq!(found.status, Some(0), "{lines}");
}

#[test]
fn values_and_types() {
    answers("", "");
    answers("; nothing\n\n", "");
    answers("(+ 1 2)\n", "3 : int");
    answers("(+ 1 2)", "3 : int");
    answers(":type (map (+ 1.5) [1.0])\n", "vector float");
    answers("7\n(* it 6)\n(+ it 0)\n", "7 : int\n42 : int\n42 : int");
    answers("(+\n  1 ; one\n\n  2)\n3\n", "3 : int\n3 : int");
    answers(":quit\n(+ 1 2)\n", "");
}

#[test]
fn definitions() {
    let lines = "(define (two 2)\n  (twice (lambda (x) (* x two))))\n(twice 4)\n\
                 (define (two 3))\n(twice 4)\n:list\n:forget twice\n:list\n:forget\n:list\n";
    answers(
        lines,
        "8 : int\n12 : int\n\
         (define (twice (lambda (x) (* x two))))\n(define (two 3))\nit : int\n\
         (define (two 3))\nit : int",
    );
}

#[test]
fn libraries_and_files() {
    let folder = tempfile::tempdir().unwrap();
    let text = "; two definitions\n(import \"std/vectors\")\n((n : int)) n\n(define (five 5))";
    std::fs::write(folder.path().join("own.nova"), text).unwrap();
    let lines = "five\n(sum [1 2 3])\n:save saved.nova\n:load own.nova\n";
    let found = session_in(folder.path(), &["own.nova"], lines);
    assert_eq!(found.messages, "");
    let loaded = "2 definitions of own.nova\n";
    assert_eq!(found.printed, format!("{loaded}5 : int\n6 : int\n{loaded}"));
    let saved = std::fs::read_to_string(folder.path().join("saved.nova")).unwrap();
    assert_eq!(saved, "(import \"std/vectors\")\n(define (five 5))\n");
}

#[test]
fn values_of_every_kind_are_held() {
    let lines = "(types (List : (+ (End : unit) (Item : (int, List)))) (Colour : (+ (Red : unit) (Grey : double))))
a = (1, [[1.5] []], true)
b = (Item (1, (Item (2, (End ())))))
c = [(Red ()) (Grey 0.1)]
d = (tabulate (2, 2) (lambda ((i, j)) (/ 1.0L (to_double (+ (+ i j) 1)))))
e = \"text\"
a
b
c
d
(length e)
";
    let found = session(lines);
    if !found.messages.is_empty() {
        panic!("{}", found.messages);
    }
    for line in [
        "(1, [[1.5] []], true) : (int, vector (vector float), bool)",
        "4 : int",
    ] {
        assert!(found.printed.contains(line), "{line} in {}", found.printed);
    }
    assert!(
        found.printed.contains("(Item (1, (Item (2, "),
        "{}",
        found.printed
    );
}

#[test]
fn errors_lose_nothing() {
    let lines = "x = 5\n(define (f (lambda (y) (+ y 1))))\n(define (f (lambda (y) (+ y true))))\n\
                 x = (+ 1 true)\n(f x)\n([1 2] ! 9)\nunknown\n:nothing\n:load absent.nova\n:type\n(f x)\n(open";
    let found = session(lines);
    assert_eq!(found.printed, "x : int\n6 : int\n6 : int\n");
    assert_eq!(found.status, Some(1));
    for part in [
        "N0206",
        "index 9 is out of range",
        "1 | ([1 2] ! 9)",
        "`unknown` is not bound",
        "`:nothing` is no command",
        "absent.nova",
        "is missing",
    ] {
        assert!(
            found.messages.contains(part),
            "{part} in {}",
            found.messages
        );
    }
}

#[test]
fn what_takes_long_is_compiled() {
    // The interpreter takes seconds for this.
    let sum = "(reduce + 0 (map (lambda (k) (& k 1)) (tabulate 40000000 (lambda (i) i))))";
    answers(&format!("{sum}\n"), "20000000 : int");
    let found = session(&format!(":time {sum}\n"));
    assert!(
        found.printed.contains("(median of 7 runs; "),
        "{}{}",
        found.printed,
        found.messages
    );
}

#[test]
fn traces_come_once() {
    let found = session("(trace \"x\" (+ 1 2))\n");
    assert_eq!(found.messages.matches('x').count(), 1, "{}", found.messages);
    assert_eq!(found.printed, "3 : int\n");
}

#[test]
fn pictures() {
    let folder = tempfile::tempdir().unwrap();
    let matrix = "(tabulate (4, 6) (lambda ((i, j)) (* i j)))";
    let lines = format!(
        ":plot {matrix}\n:plot {matrix} -> image.png\n:plot [1 5 2] -> line.png\n\
         :plot [(0.0, 1.0) (0.5, -1.0)]\n:plot []\n:plot [[1] [1 2]]\n:plot (1, 2)\n:plot \"\" -> /absent/x.png\n"
    );
    let found = session_in(folder.path(), &[], &lines);
    for name in ["image.png", "line.png"] {
        let bytes = std::fs::read(folder.path().join(name)).unwrap();
        assert!(bytes.starts_with(b"\x89PNG\r\n"), "{name}");
    }
    // Two rows of the matrix are one line of characters, dark where they are 0.
    let drawn: Vec<&str> = found.printed.lines().take(2).collect();
    assert!(
        drawn.iter().all(|line| line.chars().count() == 6),
        "{drawn:?}"
    );
    assert_eq!(drawn[0].chars().next(), Some(' '));
    assert!(found.printed.contains("-1.0"), "{}", found.printed);
    for part in ["rows of one length", "is drawn as a line", "/absent/x.png"] {
        assert!(
            found.messages.contains(part),
            "{part} in {}",
            found.messages
        );
    }
}

#[test]
fn an_interrupt_ends_the_program_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = command(folder.path()).process_group(0).spawn().unwrap();
    let group = -i32::try_from(child.id()).unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // This line is answered when the session is ready for interrupts.
    writeln!(input, "1").unwrap();
    assert_eq!(lines.next().unwrap().unwrap(), "1 : int");
    writeln!(
        input,
        "(while (lambda (x) (>= x 0)) (lambda (x) (& (+ x 1) 7)) 0)\n2"
    )
    .unwrap();
    let answer = std::thread::spawn(move || lines.next());
    while !answer.is_finished() {
        std::thread::sleep(Duration::from_millis(100));
        // SAFETY: The group is that of the child, which has not been waited for.
        unsafe { libc::kill(group, libc::SIGINT) };
        // The second expression may have been interrupted as well.
        let _ = writeln!(input, "2");
    }
    let answer = answer.join().unwrap();
    assert!(matches!(answer, Some(Ok(line)) if line == "2 : int"));
    drop(input);
    let _ = child.kill();
    child.wait().unwrap();
}
