//! What the tests share: Loop programs written in Rust, and C hosts compiled with every compiler
//! that is there.

#![allow(dead_code)]

use nova_c::{Files, Options, Target};
use nova_core::{ErrorKind, Scalar, ScalarOperation, ScalarValue, Type as CoreType};
use nova_diag::Place;
use nova_loop::ir::{
    Command, Entry, Expression, Function, FunctionId, Level, Program, Type, Variable,
};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};

pub const I64: Type = Type::Scalar(Scalar::I64);
pub const I32: Type = Type::Scalar(Scalar::I32);
pub const F32: Type = Type::Scalar(Scalar::F32);
pub const F64: Type = Type::Scalar(Scalar::F64);
pub const BOOL: Type = Type::Scalar(Scalar::Bool);
pub const BLOCK: Type = Type::Block;

pub fn pointer(scalar: Scalar) -> Type {
    Type::Pointer(scalar)
}

pub fn scalar(scalar: Scalar) -> CoreType {
    CoreType::Scalar(scalar)
}

pub fn place(line: u32, column: u32) -> Place {
    Place::new("test.nova", line, column)
}

pub fn var(variable: Variable) -> Expression {
    Expression::Variable(variable)
}

pub fn int(value: i64) -> Expression {
    Expression::Constant(ScalarValue::I64(value))
}

pub fn constant(value: ScalarValue) -> Expression {
    Expression::Constant(value)
}

pub fn operation(
    operation: ScalarOperation,
    operand: Scalar,
    arguments: Vec<Expression>,
) -> Expression {
    Expression::Scalar {
        operation,
        operand,
        arguments,
    }
}

pub fn binary(op: ScalarOperation, operand: Scalar, a: Expression, b: Expression) -> Expression {
    operation(op, operand, vec![a, b])
}

/// `a + b` on `i64`.
pub fn plus(a: Expression, b: Expression) -> Expression {
    binary(ScalarOperation::Add, Scalar::I64, a, b)
}

pub fn minus(a: Expression, b: Expression) -> Expression {
    binary(ScalarOperation::Subtract, Scalar::I64, a, b)
}

pub fn times(a: Expression, b: Expression) -> Expression {
    binary(ScalarOperation::Multiply, Scalar::I64, a, b)
}

pub fn less(a: Expression, b: Expression) -> Expression {
    binary(ScalarOperation::Less, Scalar::I64, a, b)
}

pub fn equal(a: Expression, b: Expression) -> Expression {
    binary(ScalarOperation::Equal, Scalar::I64, a, b)
}

pub fn select(condition: Expression, then: Expression, otherwise: Expression) -> Expression {
    Expression::Select {
        condition: Box::new(condition),
        then: Box::new(then),
        otherwise: Box::new(otherwise),
    }
}

pub fn truth(value: bool) -> Expression {
    Expression::Constant(ScalarValue::Bool(value))
}

pub fn load(pointer: Variable, index: Expression) -> Expression {
    Expression::Load {
        pointer: Box::new(var(pointer)),
        index: Box::new(index),
    }
}

pub fn declare(variable: Variable, value: Expression) -> Command {
    Command::Declare {
        variable,
        value: Some(value),
    }
}

pub fn unset(variable: Variable) -> Command {
    Command::Declare {
        variable,
        value: None,
    }
}

pub fn assign(variable: Variable, value: Expression) -> Command {
    Command::Assign { variable, value }
}

pub fn store(pointer: Variable, index: Expression, value: Expression) -> Command {
    Command::Store {
        pointer,
        index,
        value,
    }
}

pub fn each(variable: Variable, count: Expression, body: Vec<Command>) -> Command {
    Command::For {
        variable,
        count,
        level: Level::Sequential,
        body,
        place: place(2, 1),
    }
}

pub fn when(condition: Expression, then: Vec<Command>, otherwise: Vec<Command>) -> Command {
    Command::If {
        condition,
        then,
        otherwise,
    }
}

pub fn repeat(body: Vec<Command>) -> Command {
    Command::Loop {
        body,
        place: place(3, 1),
    }
}

pub fn allocate(block: Variable, pointer: Variable, element: Scalar, count: Expression) -> Command {
    Command::Allocate {
        block,
        pointer,
        element,
        count,
        place: place(4, 2),
    }
}

pub fn check(condition: Expression, error: ErrorKind, arguments: Vec<Expression>) -> Command {
    Command::Check {
        condition,
        error,
        arguments,
        place: place(1, 7),
    }
}

pub fn call(function: FunctionId, arguments: Vec<Expression>, results: Vec<Variable>) -> Command {
    Command::Call {
        function,
        arguments,
        results,
    }
}

/// Adds a function.
pub fn function(
    program: &mut Program,
    name: &str,
    parameters: Vec<Variable>,
    results: Vec<Variable>,
    body: Vec<Command>,
) -> FunctionId {
    program.functions.push(Function {
        name: name.into(),
        parameters,
        results,
        body,
        recursive: false,
        place: place(1, 1),
    });
    FunctionId(program.functions.len() as u32 - 1)
}

/// Offers a function.
pub fn entry(
    program: &mut Program,
    name: &str,
    inputs: Vec<(&str, CoreType)>,
    result: CoreType,
    function: FunctionId,
) {
    program.entries.push(Entry {
        name: name.into(),
        inputs: inputs.into_iter().map(|(n, t)| (n.into(), t)).collect(),
        result,
        function,
    });
}

/// An entry that gives its only input back: its function retains and returns the components.
pub fn identity(program: &mut Program, name: &str, ty: CoreType) {
    let mut parameters = Vec::new();
    let mut results = Vec::new();
    let mut body = Vec::new();
    let components = nova_flat::representation::components(&ty, &program.sums);
    for component in components {
        let mut pass = |suffix: &str, ty: Type, retain: bool| {
            let parameter = program.add_variable(format!("{}{suffix}", component.name), ty);
            let result = program.add_variable(format!("out_{}{suffix}", component.name), ty);
            parameters.push(parameter);
            results.push(result);
            if retain {
                body.push(Command::Retain(parameter));
            }
            body.push(assign(result, var(parameter)));
        };
        if component.shape.is_empty() {
            pass("", Type::Scalar(component.scalar), false);
        } else {
            pass("", Type::Pointer(component.scalar), false);
            pass("_block", Type::Block, true);
        }
    }
    let id = function(program, name, parameters, results, body);
    entry(program, name, vec![("x", ty.clone())], ty, id);
}

pub fn emit(program: &Program, name: &str) -> Files {
    let options = Options {
        name: name.into(),
        target: Target::Seq,
    };
    nova_c::emit(program, &options)
}

/// A folder of its own for a test.
pub fn folder(name: &str) -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let folder = root.join(format!("{name}_{}_{number}", process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

pub fn has(compiler: &str) -> bool {
    let version = process::Command::new(compiler).arg("--version").output();
    version.is_ok_and(|output| output.status.success())
}

/// Compilers with the flags that choose the language.
fn compilers() -> Vec<Vec<&'static str>> {
    let all = [
        ["gcc", "-x", "c", "-std=c11"],
        ["g++", "-x", "c++", "-std=c++17"],
        ["clang", "-x", "c", "-std=c11"],
        ["clang++", "-x", "c++", "-std=c++17"],
    ];
    let present = all.into_iter().filter(|c| has(c[0]));
    present.map(|c| c.to_vec()).collect()
}

fn run(folder: &Path, command: &[&str]) -> Result<String, String> {
    let output = process::Command::new(command[0])
        .args(&command[1..])
        .current_dir(folder)
        .env("ASAN_OPTIONS", "detect_leaks=1")
        .output()
        .map_err(|e| format!("{command:?}: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    // Leaving a stack of a gigabyte by an error, of which the sanitizer warns.
    let errors = match errors.split_once("WARNING: ASan is ignoring requested") {
        Some((before, after)) => {
            let before = before.rsplit_once('\n').map_or("", |(lines, _)| lines);
            let after = after.splitn(4, '\n').nth(3).unwrap_or_default();
            format!("{before}{after}")
        }
        None => errors.into_owned(),
    };
    if output.status.success() {
        Ok(text + &errors)
    } else {
        Err(format!(
            "{}: {}\n{text}{errors}",
            command.join(" "),
            output.status
        ))
    }
}

pub fn write(folder: &Path, files: &Files, name: &str) {
    for (ending, text) in [
        ("h", &files.header),
        ("c", &files.source),
        ("json", &files.manifest),
    ] {
        std::fs::write(folder.join(format!("{name}.{ending}")), text).expect("a file");
    }
}

/// Compiles without warnings with every compiler.
pub fn compiles(files: &Files, name: &str) {
    let folder = folder(name);
    write(&folder, files, name);
    let source = format!("{name}.c");
    for compiler in compilers() {
        for level in if compiler[0] == "gcc" {
            &["-O0", "-O2"][..]
        } else {
            &["-O2"]
        } {
            let flags = [
                "-Wall",
                "-Wextra",
                "-Wpedantic",
                "-Werror",
                "-pthread",
                "-c",
            ];
            let mut command = compiler.clone();
            command.extend(flags);
            command.extend([*level, source.as_str(), "-o", "test.o"]);
            run(&folder, &command).unwrap_or_else(|e| panic!("{e}\n{}", files.source));
        }
    }
    let _ = std::fs::remove_dir_all(folder);
}

const SANITIZED: &[&str] = &[
    "-O1",
    "-g",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
];

/// What a host prints, compiled with each compiler, some under the address and undefined behaviour
/// sanitizers and some at -O2: always the same.
pub fn output(files: &[(&str, &Files)], host: &str) -> String {
    output_with(files, host, |compiler| match compiler {
        "gcc" | "clang++" => SANITIZED,
        _ => &["-O2"],
    })
}

/// What a host prints, compiled without optimisation.
pub fn output_plainly(files: &[(&str, &Files)], host: &str) -> String {
    output_with(files, host, |_| &["-O0"])
}

fn output_with(
    files: &[(&str, &Files)],
    host: &str,
    flags: impl Fn(&str) -> &'static [&'static str],
) -> String {
    let folder = folder(files[0].0);
    for (name, files) in files {
        write(&folder, files, name);
    }
    std::fs::write(folder.join("host.c"), host).expect("a file");
    let mut sources: Vec<String> = files.iter().map(|(name, _)| format!("{name}.c")).collect();
    sources.push("host.c".into());
    let mut printed: Option<String> = None;
    for compiler in compilers() {
        let mut command = compiler.clone();
        command.extend(["-Wall", "-Wextra", "-Werror", "-pthread"]);
        command.extend(flags(compiler[0]));
        command.extend(sources.iter().map(String::as_str));
        command.extend(["-x", "none", "-lm", "-o", "host"]);
        run(&folder, &command).unwrap_or_else(|e| panic!("{e}"));
        let text = run(&folder, &["./host"]).unwrap_or_else(|e| panic!("{command:?}: {e}"));
        let first = printed.get_or_insert_with(|| text.clone());
        assert_eq!(text, *first, "{command:?}");
    }
    let _ = std::fs::remove_dir_all(folder);
    printed.unwrap_or_default()
}

/// Compares what a host prints.
pub fn prints(files: &[(&str, &Files)], host: &str, expected: &str) {
    assert_eq!(output(files, host), expected);
}

/// The symbols that a program offers the linker, in order.
pub fn global_symbols(files: &Files, name: &str) -> Vec<String> {
    let folder = folder(name);
    write(&folder, files, name);
    let source = format!("{name}.c");
    let compile = [
        "gcc",
        "-O0",
        "-c",
        "-pthread",
        source.as_str(),
        "-o",
        "test.o",
    ];
    run(&folder, &compile).unwrap_or_else(|e| panic!("{e}"));
    let list = [
        "nm",
        "--defined-only",
        "--extern-only",
        "--format=posix",
        "test.o",
    ];
    let text = run(&folder, &list).unwrap_or_else(|e| panic!("{e}"));
    let _ = std::fs::remove_dir_all(folder);
    let names = text.lines().filter_map(|line| line.split(' ').next());
    names.map(String::from).collect()
}
