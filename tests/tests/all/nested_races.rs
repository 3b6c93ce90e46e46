//! Tests of the C of all nested programs, parallelised in small chunks, under ThreadSanitizer. It
//! is called from one thread and then from four at once, with a pool of eight.

use nova_driver::{Compiler, Options, Source, Target};
use nova_schedule::Parallelism;
use nova_tests::nested::host::Host;
use nova_tests::nested::{SMALL, files, inputs, with_each_file};
use std::path::Path;
use std::process::Command;

/// Writes the C of a file of programs, and its calls into the host.
fn write(name: &str, text: &str, folder: &Path, host: &mut Host) {
    let options = Options {
        target: Target::Pthreads,
        parallelism: Some(Parallelism::SMALL),
        ..Options::default()
    };
    let compiler = Compiler::new(options);
    let source = Source::text(format!("{name}.nova"), text);
    let mut checked = compiler.check(source).expect("no errors");
    let generated = compiler.compile(&mut checked).expect("it compiles");
    let files = generated.files;
    host.include(name);
    let core = nova_tests::stages::check(name, text).expect("no errors");
    for entry in &core.entries {
        for (_, values) in inputs(&core, entry, &SMALL) {
            let types = entry.inputs.iter().map(|input| &core.variable(*input).ty);
            let inputs: Vec<_> = types.zip(values).collect();
            let symbol = nova_c::entry_symbols("", &entry.name).function;
            let added = host.call(&files.header, &symbol, &inputs);
            added.unwrap_or_else(|why| panic!("{symbol}: {why}"));
        }
    }
    for (ending, text) in [("h", &files.header), ("c", &files.source)] {
        std::fs::write(folder.join(format!("{name}.{ending}")), text).expect("written");
    }
}

fn gcc(folder: &Path, arguments: &[&str]) -> Result<(), String> {
    let mut gcc = Command::new("gcc");
    gcc.current_dir(folder)
        .args("-std=c11 -O1 -g1 -w -pthread -I. -fsanitize=thread".split(' '))
        .args(arguments);
    let output = gcc.output().expect("gcc runs");
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

#[test]
fn nested_programs_have_no_races() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut host = Host::default();
    let mut objects = vec!["host.c".to_string()];
    for (name, text) in files().expect("the programs") {
        write(&name, &text, folder.path(), &mut host);
        objects.push(format!("{name}.o"));
    }
    let wrong = with_each_file(|name, _| gcc(folder.path(), &["-c", &format!("{name}.c")]));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    std::fs::write(folder.path().join("host.c"), host.text()).expect("written");
    objects.extend(["-o", "host", "-lm"].map(str::to_string));
    let arguments: Vec<&str> = objects.iter().map(String::as_str).collect();
    gcc(folder.path(), &arguments).expect("the host compiles");
    let output = Command::new(folder.path().join("host"))
        .env("NOVA_NUM_THREADS", "8")
        .output()
        .expect("the host runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{}\n{text}{errors:.4000}",
        output.status
    );
    assert_eq!(text, "", "errors other than the program's");
}
