//! Tests of `novac` that is killed at random moments. Its files are intact, and a later run removes
//! the rest.
//!
//! `NOVA_KILLS` sets the number of kills (30). The whole process group is killed at once, including
//! the compiler of C.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = "((n : int)) (map (lambda (i) (* i i)) (range n))";
const OTHER: &str = "((n : int)) (map (lambda (i) (* 3 i)) (range n))";

/// The folders of a command, which hold all the files that it may leave.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().expect("a folder"));
        for folder in ["cache", "temporary", "out"] {
            fs::create_dir(place.at(folder)).expect("made");
        }
        let own = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        fs::set_permissions(place.at("cache"), own).expect("own");
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_novac"));
        command
            .args(arguments)
            .current_dir(self.0.path())
            .env("NOVA_CACHE", self.at("cache"))
            .env("TMPDIR", self.at("temporary"))
            .env_remove("CC")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        command
    }

    fn run(&self, arguments: &[&str]) -> (String, Duration) {
        let start = Instant::now();
        let output = self.command(arguments).output().expect("it runs");
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{messages}");
        assert_eq!(messages, "", "no messages");
        let value = String::from_utf8_lossy(&output.stdout).into_owned();
        (value, start.elapsed())
    }

    fn names(&self, folder: &str) -> Vec<String> {
        let listing = fs::read_dir(self.at(folder)).expect("a folder").flatten();
        let names = listing.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }
}

/// Kills a command and the processes that it started, after a time.
fn kill_after(mut command: Command, time: Duration) {
    let mut child = command.spawn().expect("it runs");
    std::thread::sleep(time);
    let group = rustix::process::Pid::from_child(&child);
    // It may have ended.
    let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    child.wait().expect("ended");
}

/// Random numbers that are the same in each run of the test.
struct Random(u64);

impl Random {
    /// Returns a random part of a time.
    fn part(&mut self, whole: Duration) -> Duration {
        self.0 = self
            .0
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        whole.mul_f64((self.0 >> 11) as f64 / (1u64 << 53) as f64)
    }
}

fn kills() -> u32 {
    let asked = std::env::var("NOVA_KILLS").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(30)
}

#[test]
fn killed_runs_leave_nothing_wrong() {
    let place = Place::new();
    let mut random = Random(1);
    fs::write(place.at("a.nova"), PROGRAM).expect("written");
    let arguments = ["run", "-O0", "a.nova", "n=4"];
    let (_, whole) = place.run(&arguments);
    for _ in 0..kills() {
        // Compiled anew each time.
        for name in place
            .names("cache")
            .iter()
            .filter(|name| name.ends_with(".so"))
        {
            fs::remove_file(place.at("cache").join(name)).expect("removed");
        }
        kill_after(place.command(&arguments), random.part(whole));
        let (value, _) = place.run(&arguments);
        assert_eq!(value, "[0 1 4 9]\n");
    }
    let entries = place.names("cache");
    assert!(
        entries.iter().all(|name| name.ends_with(".so")),
        "{entries:?}"
    );
    // A folder without its lock, of a process killed in its first moment, stays for an hour.
    for name in place.names("temporary") {
        let folder = place.at("temporary").join(&name);
        assert_eq!(
            fs::read_dir(&folder).expect("a folder").count(),
            0,
            "{name}"
        );
    }
}

/// Returns the files of a program in a folder.
fn files(folder: &Path) -> Vec<Option<String>> {
    let read = |ending: &str| fs::read_to_string(folder.join(format!("a.{ending}"))).ok();
    ["h", "c", "json"].map(read).into()
}

#[test]
fn killed_compilations_leave_all_files_or_none() {
    let place = Place::new();
    let mut random = Random(2);
    let arguments = ["-o", "out", "--manifest", "a.nova"];
    let mut versions = vec![files(&place.at("out"))];
    let mut whole = Duration::ZERO;
    for text in [PROGRAM, OTHER] {
        fs::write(place.at("a.nova"), text).expect("written");
        whole = place.run(&arguments).1;
        versions.push(files(&place.at("out")));
    }
    assert!(versions[1] != versions[2] && versions[2].iter().all(Option::is_some));
    for k in 0..kills() {
        let text = if k % 2 == 0 { PROGRAM } else { OTHER };
        fs::write(place.at("a.nova"), text).expect("written");
        kill_after(place.command(&arguments), random.part(whole));
        let left = files(&place.at("out"));
        assert!(versions.contains(&left), "files of two versions: {left:?}");
    }
    place.run(&arguments);
    assert_eq!(place.names("out"), ["a.c", "a.h", "a.json"]);
}
