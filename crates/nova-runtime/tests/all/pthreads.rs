//! The pool of threads and its regions: with futexes and without, with the compiler's atomic operations
//! and with those of the standard, under each sanitizer.

use crate::compile::{self, Variant, WATCHED};
use std::path::Path;
use std::process::Command;

const WATCHED_THREADS: &[&str] = &["-fsanitize=thread"];
const PORTABLE: &[&str] = &[
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "-DNOVA_PORTABLE",
];
const PORTABLE_THREADS: &[&str] = &["-fsanitize=thread", "-DNOVA_PORTABLE", "-DNOVA_STDATOMIC"];
const PLAIN: &[&str] = &["-O2"];
const STANDARD: &[&str] = &["-O2", "-DNOVA_STDATOMIC"];

/// Returns the ways in which a test is compiled. For each change, a way is tried in one of both languages.
fn variants() -> Vec<Variant<'static>> {
    let [c_watched, cpp_watched] = compile::both_languages(["c_watched", "c++_watched"], WATCHED);
    let [c_threads, cpp_threads] =
        compile::both_languages(["c_threads", "c++_threads"], WATCHED_THREADS);
    let [c_portable, _] = compile::both_languages(["c_portable", ""], PORTABLE);
    let [_, cpp_portable] = compile::both_languages(["", "c++_portable"], PORTABLE_THREADS);
    let [c_plain, _] = compile::both_languages(["c_plain", ""], PLAIN);
    let [_, cpp_standard] = compile::both_languages(["", "c++_standard"], STANDARD);
    let for_each_change = [c_watched, cpp_threads, c_portable, cpp_standard];
    let others = [cpp_watched, c_threads, cpp_portable, c_plain];
    match compile::tries_all() {
        true => [for_each_change, others].concat(),
        false => for_each_change.into(),
    }
}

fn check(name: &str, arguments: &[&str]) {
    for variant in variants() {
        compile::check(name, variant, arguments);
    }
}

/// Runs a test with a number of rounds: as many where rounds are fast, fewer where a sanitizer checks each step.
/// For each change it is a quarter of both.
fn check_rounds(name: &str, fast: u32, watched: u32) {
    for variant in variants() {
        let is_watched = variant.flags.iter().any(|flag| flag.starts_with("-fsan"));
        let count = if is_watched { watched } else { fast };
        let count = if compile::tries_all() {
            count
        } else {
            count / 4
        };
        compile::check(name, variant, &[&count.to_string()]);
    }
}

#[test]
fn regions() {
    check_rounds("pool", 100_000, 20_000);
}

#[test]
fn shared_nodes() {
    check_rounds("shared_nodes", 60, 8);
}

#[test]
fn shared_word_sorts() {
    check("shared_word_sorts", &[]);
}

#[test]
fn errors_and_memory() {
    check("pool_errors", &[]);
}

#[test]
fn life() {
    check("pool_life", &[]);
}

#[test]
fn processors() {
    check("processors", &[]);
}

/// ThreadSanitizer has threads of its own, which this test would count.
#[test]
fn libraries_are_unloaded() {
    let folder = compile::folder();
    let uncounted = |variant: &Variant| !variant.flags.contains(&"-fsanitize=thread");
    for variant in variants().into_iter().filter(uncounted) {
        let build = |source: &str, name: &str, flags: &[&str]| {
            compile::compile(&folder.join(source), name, variant, flags)
        };
        let library = ["-fPIC", "-shared"];
        let first = build("pool_library.c", "library_1", &library);
        let second = build("pool_library.c", "library_2", &library);
        let loader = build("pool_loader.c", "pool_loader", &[]);
        compile::succeed(Command::new(loader).args([first, second]), "pool_loader");
    }
}

/// The benchmark is for reading; this test only compiles it.
#[test]
fn benchmark() {
    let source = compile::folder().join("pool_benchmark.c");
    for variant in compile::both_languages(["c", "c++"], &["-O2", "-fopenmp"]) {
        compile::compile(&source, "pool_benchmark", variant, &[]);
    }
}

/// The sections that a generated program would contain, alone in a file.
#[test]
fn embedded() {
    let program = "
static void chunk(nova_context *context, int64_t chunk, void *environment)
{
    (void)context;
    ((int64_t *)environment)[chunk] = chunk;
}

static void body(nova_context *context, void *call)
{
    nova_parallel(context, 1000, chunk, call);
}

int main(void)
{
    static int64_t numbers[1000];
    static char message[NOVA_MESSAGE_SIZE];
    int failed = nova_call(body, numbers, message);
    return failed != 0 || numbers[999] != 999;
}
";
    let used = ["nova_parallel", "nova_call", "NOVA_MESSAGE_SIZE", "int64_t"];
    let selection = nova_runtime::select(nova_runtime::Platform::Processor, used);
    let mut text = String::new();
    for feature in &selection.features {
        text.push_str(&format!("#ifndef {feature}\n#define {feature}\n#endif\n"));
    }
    for header in &selection.headers {
        text.push_str(&format!("#include <{header}>\n"));
    }
    text.push_str(&selection.text);
    text.push_str(program);
    let source = Path::new(env!("CARGO_TARGET_TMPDIR")).join("embedded.c");
    std::fs::write(&source, text).unwrap_or_else(|error| panic!("{source:?}: {error}"));
    for variant in variants() {
        let program = compile::compile(&source, "embedded", variant, &[]);
        compile::succeed(&mut Command::new(program), "embedded");
    }
}
