//! The command `fuzz-seeds FOLDER`, which writes the start of the fuzzers of `tests/fuzz`. `seeds`
//! has every program of the examples and the tests and a hundred random ones. `words` has the
//! language's words as a dictionary of libFuzzer. `files` has small files of each format of values, each after
//! each byte that chooses how it is read.

use nova_core::{Elements, Scalar, Type, Value};
use nova_exec::formats::FORMATS;
use nova_tests::random::{self, PRELUDE};
use nova_tests::sources;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Number of random programs.
const RANDOM: u64 = 100;

/// Punctuation, and parts of numbers and types.
const PIECES: &[&str] = &[
    "(", ")", "[", "]", ",", ":", ";", "\"", "#|", "|#", ".0", "'a", "->", "!", "_", "\\x",
    "vector", "vector#2", "unit", "nil", "at", "0x", "0b", "1e", "u8", "u64", "\u{feff}", "\r\n",
    "*", "Nil*", "Cons*", "List*",
];

/// Tables and pictures in digits.
const TEXTS: &[&str] = &[
    "a,b\n\"x, \"\"y\"\"\",-1\nz,2\n",
    "1\t2.5e3\r\nnan\ttrue\r\n",
    "P2\n# grey\n2 2\n15\n1 2\n3 15\n",
    "P3 1 1 65535 1 2 65535",
];

fn main() -> io::Result<()> {
    let Some(folder) = std::env::args().nth(1).map(PathBuf::from) else {
        eprintln!("usage: fuzz-seeds FOLDER");
        std::process::exit(2);
    };
    let seeds = folder.join("seeds");
    fs::create_dir_all(&seeds)?;
    let programs = sources::programs(&["nova-examples", "tests", "crates"]);
    for (k, path) in programs.iter().enumerate() {
        fs::copy(path, seeds.join(format!("program{k}.nova")))?;
    }
    for seed in 0..RANDOM {
        let program = random::program(seed);
        let path = seeds.join(format!("{}.nova", program.name));
        fs::write(path, format!("{PRELUDE}{}", program.entry))?;
    }
    write_files(&folder.join("files"))?;
    fs::write(folder.join("words"), dictionary())
}

/// Writes files of values. The first byte of each chooses format and type.
fn write_files(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let numbers = Type::array(2, Type::Scalar(Scalar::U8));
    let value = Value::Array(
        vec![2, 3].into(),
        Elements::U8(vec![1, 2, 3, 4, 5, 255].into()),
    );
    let mut files: Vec<Vec<u8>> = TEXTS.iter().map(|text| text.as_bytes().to_vec()).collect();
    for (_, format, _) in FORMATS {
        let mut file = Vec::new();
        if format.check(&numbers).is_ok() && format.write(&mut file, &numbers, &value).is_ok() {
            files.push(file);
        }
    }
    for (k, file) in files.iter().enumerate() {
        for choice in 0..90u8 {
            let mut seed = vec![choice];
            seed.extend_from_slice(file);
            fs::write(folder.join(format!("{k}-{choice}")), seed)?;
        }
    }
    Ok(())
}

/// Returns a line for each word: reserved words, types, built-in functions.
fn dictionary() -> String {
    let mut words: Vec<&str> = PIECES.to_vec();
    words.extend(nova_syntax::parse::RESERVED);
    words.extend(nova_core::scalar::SCALARS.iter().map(|s| s.name));
    words.extend(nova_infer::builtin_names());
    let mut lines = String::new();
    for word in words {
        let bytes: String = word.bytes().fold(String::new(), |mut text, b| {
            let _ = write!(text, "\\x{b:02x}");
            text
        });
        let _ = writeln!(lines, "\"{bytes}\"");
    }
    lines
}
