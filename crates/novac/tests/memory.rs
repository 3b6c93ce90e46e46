//! Tests of the memory that `run` and `eval` take for large values, which they read and print as text.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const PROGRAM: &str = "(types (List 'a : (+ (Nil : unit) (Cons : ('a, (List 'a))))))
    (entry same ((l : (List int))) l)
    (entry rows ((v : vector (vector int))) v)
    (entry pairs ((v : vector (int, float))) v)
    (entry bytes ((v : vector (vector uint8))) v)";

/// The most memory in bytes that a process may take.
const LIMIT: i64 = 200_000_000;

/// Runs an entry of the program. Returns the peak memory of the process and those that it started.
fn peak(folder: &Path, arguments: &[&str]) -> i64 {
    let out = fs::File::create(folder.join("out.txt")).expect("a file");
    let mut child = Command::new(env!("CARGO_BIN_EXE_novac"))
        .current_dir(folder)
        .env("NOVA_CACHE", folder.join("cache"))
        .args(arguments)
        .stdout(Stdio::from(out))
        .spawn()
        .expect("novac runs");
    let (mut status, mut usage) = (0, std::mem::MaybeUninit::<libc::rusage>::zeroed());
    // SAFETY: the process is a child that nothing else waits for, and both places are there.
    let usage = unsafe {
        assert!(libc::wait4(child.id() as i32, &mut status, 0, usage.as_mut_ptr()) > 0);
        usage.assume_init()
    };
    // It has ended, and there is nothing to be found.
    let _ = child.wait();
    assert_eq!(status, 0, "{arguments:?}");
    usage.ru_maxrss * 1024
}

#[test]
fn large_values_take_a_bounded_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    fs::write(folder.join("large.nova"), PROGRAM).expect("a file");
    let n = 1_000_000;
    let numbers = |form: &dyn Fn(usize) -> String| (0..n).map(form).collect::<Vec<_>>();
    let list = numbers(&|k| format!("(Cons ({k}, ")).concat() + "Nil" + &"))".repeat(n);
    let rows = format!("[{}]", numbers(&|k| format!("[{k}]")).join(" "));
    let pairs = format!("[{}]", numbers(&|k| format!("({k}, 0.5)")).join(" "));
    let bytes = format!("[{}]", numbers(&|_| "[104 105]".to_string()).join(" "));
    for (entry, name, text) in [
        ("same", "l", list),
        ("rows", "v", rows),
        ("pairs", "v", pairs),
        ("bytes", "v", bytes),
    ] {
        let text = text + "\n";
        fs::write(folder.join("in.txt"), &text).expect("a file");
        let input = format!("{name}=@in.txt");
        for command in [&["run", "--target", "seq"][..], &["eval"]] {
            let arguments = [command, &["large.nova", "--entry", entry, &input]].concat();
            let bytes = peak(folder, &arguments);
            let printed = fs::read_to_string(folder.join("out.txt")).expect("a file");
            assert!(printed == text, "{arguments:?}");
            assert!(bytes < LIMIT, "{arguments:?}: {bytes} bytes");
        }
    }
}
