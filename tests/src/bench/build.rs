//! Both sides of a benchmark as functions with the same interface: NOVA's C and the C written by
//! hand. Each is compiled with its own flags and linked with the same few lines of C.

use nova_core::SumType;
use nova_driver::{Compiler, Options, Source};
use nova_exec::compiler::{NARROW_MOVES, loses_constants};
use nova_exec::prototype::{parameter_types, target};
use std::ffi::{c_int, c_void};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};

/// The flags of generated C, without those that [`nova_flags`] adds.
const NOVA_FLAGS: &[&str] = &["-std=c11", "-O3", "-march=native"];
/// The flags of C written by hand.
pub const PEER_FLAGS: &[&str] = &["-std=gnu11", "-Ofast", "-march=native", "-Wno-psabi"];

/// Returns the flags of generated C for the gcc of this machine.
pub fn nova_flags() -> &'static [&'static str] {
    static FLAGS: OnceLock<Vec<&str>> = OnceLock::new();
    FLAGS.get_or_init(|| {
        let version = Command::new("gcc").arg("--version").output();
        let version = version.map_or(Vec::new(), |output| output.stdout);
        let narrow: &[&str] = match loses_constants(&String::from_utf8_lossy(&version)) {
            true => &NARROW_MOVES,
            false => &[],
        };
        [NOVA_FLAGS, narrow].concat()
    })
}

/// The compiler and the flags of an opponent of NOVA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Toolchain {
    /// The compiler.
    pub compiler: &'static str,
    /// Its files' extension.
    pub extension: &'static str,
    /// Its flags.
    pub flags: &'static [&'static str],
    /// The flags of the linked libraries.
    pub link: &'static [&'static str],
}

/// C written by hand.
pub const C: Toolchain = Toolchain {
    compiler: "gcc",
    extension: "c",
    flags: PEER_FLAGS,
    link: &[],
};
/// C written by hand with OpenMP.
pub const OPENMP: Toolchain = Toolchain {
    compiler: "gcc",
    extension: "c",
    flags: &[
        "-std=gnu11",
        "-Ofast",
        "-march=native",
        "-fopenmp",
        "-Wno-psabi",
    ],
    link: &["-fopenmp"],
};
/// C++ with Thrust and its OpenMP back end.
pub const THRUST: Toolchain = Toolchain {
    compiler: "g++",
    extension: "cpp",
    flags: &[
        "-std=c++17",
        "-Ofast",
        "-march=native",
        "-fopenmp",
        "-DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_OMP",
    ],
    link: &["-fopenmp", "-lstdc++"],
};
/// The orders in which programs written by hand can read memory, with the suffix of their names and
/// with the macro for the order. One reads one line after the other with prefetch, one without, and
/// one reads page-interleaved streams.
pub const ORDERS: [(&str, &[&str]); 3] = [
    ("", &[]),
    (" without prefetch", NO_PREFETCH),
    (" with interleaved pages", PAGE_INTERLEAVED),
];
/// The macro that leaves out prefetch.
pub const NO_PREFETCH: &[&str] = &["-DNO_PREFETCH"];
/// The macro for page-interleaved streams.
pub const PAGE_INTERLEAVED: &[&str] = &["-DPAGES_IN_TURN"];

/// The flags with which a program in C gets memory that is filled, so that it can't depend on what it did not write.
pub const FILLED_MEMORY: [&str; 2] = [
    "-include",
    concat!(env!("CARGO_MANIFEST_DIR"), "/src/bench/filled_memory.h"),
];
/// The flags of every file of a library.
const LIBRARY_FLAGS: &[&str] = &["-fPIC", "-w"];

/// Returns the folder of a benchmark program.
pub fn folder_of(name: &str) -> PathBuf {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../nova-examples");
    let folders = [
        "benchmarks",
        "loops",
        "matrices",
        "nested",
        "curves",
        "applications",
    ];
    let folders = folders.map(|folder| examples.join(folder));
    let holds = |folder: &&PathBuf| folder.join(format!("{name}.nova")).exists();
    let [benchmarks, ..] = &folders;
    folders.iter().find(holds).unwrap_or(benchmarks).clone()
}

/// A program compiled to C, with the data needed to call it.
pub struct Program {
    /// Its name.
    pub name: String,
    /// The generated header.
    pub header: String,
    /// The generated source.
    pub source: String,
    /// The entry, with its inputs and result.
    pub entry: nova_loop::ir::Entry,
    /// The sum types it names.
    pub sums: Vec<SumType>,
}

/// Compiles a benchmark program to C.
pub fn compile(name: &str, options: Options) -> Result<Program, String> {
    let compiler = Compiler::new(options);
    let path = folder_of(name).join(format!("{name}.nova"));
    let mut checked = compiler
        .check(Source::File(path))
        .map_err(|failure| failure.to_string())?;
    let generated = compiler
        .compile(&mut checked)
        .map_err(|failure| failure.to_string())?;
    let entry = generated.program.entries.first();
    Ok(Program {
        name: name.to_string(),
        header: generated.files.header,
        source: generated.files.source,
        entry: entry.ok_or("the program has no entry")?.clone(),
        sums: generated.program.sums,
    })
}

/// Runs gcc in a folder.
pub fn gcc(folder: &Path, flags: &[&[&str]], files: &[&Path], output: &str) -> Result<(), String> {
    let libraries: &[&str] = &["-lm", "-pthread", "-ldl"];
    run("gcc", folder, flags, files, &[libraries], output)
}

/// Runs a compiler in a folder.
pub fn run(
    compiler: &str,
    folder: &Path,
    flags: &[&[&str]],
    files: &[&Path],
    libraries: &[&[&str]],
    output: &str,
) -> Result<(), String> {
    let mut command = Command::new(compiler);
    command.current_dir(folder).args(flags.concat());
    command.arg("-o").arg(output).args(files);
    let result = command
        .args(libraries.concat())
        .output()
        .map_err(|error| format!("{compiler} does not start: {error}"))?;
    match result.status.success() {
        true => Ok(()),
        false => Err(format!(
            "{command:?}\n{}",
            String::from_utf8_lossy(&result.stderr)
        )),
    }
}

/// An opponent of a program: `peers/NAME` in its folder, with a function `peer_NAME`.
#[derive(Clone, Debug)]
pub struct Peer<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its toolchain.
    pub toolchain: Toolchain,
    /// Definitions of macros.
    pub define: &'a [&'a str],
}

impl<'a> Peer<'a> {
    /// Creates an opponent in C written by hand, with these macros.
    pub fn c(name: &'a str, define: &'a [&'a str]) -> Peer<'a> {
        Peer {
            name,
            toolchain: C,
            define,
        }
    }

    /// Returns the path of its source.
    pub fn source(&self, program: &str) -> PathBuf {
        let file = format!("peers/{}.{}", self.name, self.toolchain.extension);
        folder_of(program).join(file)
    }

    /// Compiles it to an object in the folder.
    pub fn compile(&self, program: &str, folder: &Path) -> Result<PathBuf, String> {
        let source = self.source(program);
        let source = std::fs::canonicalize(&source)
            .map_err(|error| format!("{}: {error}", source.display()))?;
        let flags = [self.toolchain.flags, LIBRARY_FLAGS, self.define, &["-c"]];
        let compiler = self.toolchain.compiler;
        run(compiler, folder, &flags, &[&source], &[], "peer.o")?;
        Ok(folder.join("peer.o"))
    }
}

/// A function of two arrays of pointers: to the value of each parameter, to the place of each
/// result.
type Call = unsafe extern "C" fn(*const *const c_void, *const *mut c_void) -> c_int;

/// One side of a benchmark, loaded.
pub struct Side {
    call: Call,
    // Keeps the code loaded.
    _library: Arc<libloading::Library>,
}

impl Side {
    /// Calls the function.
    ///
    /// # Safety
    ///
    /// The pointers must be those of arguments and of an output of the function's types.
    pub unsafe fn call(&self, arguments: &[*const c_void], results: &[*mut c_void]) -> c_int {
        // SAFETY: as the caller promises.
        unsafe { (self.call)(arguments.as_ptr(), results.as_ptr()) }
    }
}

/// Loads a library and looks up one of its functions.
///
/// # Safety
///
/// The function must have the type `T`.
pub unsafe fn load<T: Copy>(
    path: &Path,
    name: &str,
) -> Result<(T, Arc<libloading::Library>), String> {
    // SAFETY: the libraries built here run no code when they are loaded.
    let library = unsafe { libloading::Library::new(path) }.map_err(|error| error.to_string())?;
    // SAFETY: as the caller promises.
    let symbol = unsafe { library.get::<T>(name.as_bytes()) }.map(|symbol| *symbol);
    let symbol = symbol.map_err(|error| error.to_string())?;
    Ok((symbol, Arc::new(library)))
}

impl Side {
    /// Builds and loads NOVA's side in a folder of its own. `results` is the number of result
    /// parameters.
    pub fn nova(program: &Program, results: usize, folder: &Path) -> Result<Side, String> {
        Side::build_nova(program, results, folder)?;
        Side::load(&folder.join("side.so"))
    }

    /// Builds NOVA's side, `side.so` in the folder.
    pub fn build_nova(program: &Program, results: usize, folder: &Path) -> Result<(), String> {
        let source = format!("{}.c", program.name);
        write(folder, &source, &program.source)?;
        write(folder, &format!("{}.h", program.name), &program.header)?;
        let flags = [nova_flags(), LIBRARY_FLAGS, &["-c"]];
        gcc(folder, &flags, &[&folder.join(source)], "side.o")?;
        Side::link(program, &program.name, "side.o", &[], results, folder)
    }

    /// Builds and loads the side written by hand in a folder of its own.
    pub fn peer(
        program: &Program,
        peer: &Peer<'_>,
        results: usize,
        folder: &Path,
    ) -> Result<Side, String> {
        write(folder, &format!("{}.h", program.name), &program.header)?;
        peer.compile(&program.name, folder)?;
        let entry = format!("peer_{}", peer.name);
        let link = peer.toolchain.link;
        Side::link(program, &entry, "peer.o", link, results, folder)?;
        Side::load(&folder.join("side.so"))
    }

    /// Links an object with the bridge to its entry.
    fn link(
        program: &Program,
        entry: &str,
        object: &str,
        libraries: &[&str],
        results: usize,
        folder: &Path,
    ) -> Result<(), String> {
        write(folder, "bridge.c", &bridge(program, results)?)?;
        let define = format!("-DENTRY={entry}");
        let flags = [&["-std=c11", "-O2", &define, "-shared"], LIBRARY_FLAGS];
        // Linked without -Ofast, with which the whole process would flush denormals to zero.
        let files = [Path::new("bridge.c"), Path::new(object)];
        let libraries = [libraries, &["-lm", "-pthread", "-ldl"]];
        run("gcc", folder, &flags, &files, &libraries, "side.so")
    }

    /// Loads a side that was built.
    pub fn load(path: &Path) -> Result<Side, String> {
        // SAFETY: the bridge declares it with this type.
        let (call, library) = unsafe { load(path, "benchmark_call")? };
        Ok(Side {
            call,
            _library: library,
        })
    }
}

fn write(folder: &Path, file: &str, text: &str) -> Result<(), String> {
    std::fs::write(folder.join(file), text).map_err(|error| format!("{file}: {error}"))
}

/// Returns the C that calls a function of the entry's type. Its name is the macro `ENTRY`.
fn bridge(program: &Program, results: usize) -> Result<String, String> {
    let name = &program.name;
    let types = parameter_types(&program.header, name)
        .filter(|types| types.len() >= results)
        .ok_or_else(|| format!("the header does not declare {name}"))?;
    let value = |(k, ty): (usize, &String)| match k < results {
        true => format!("({ty})results[{k}]"),
        false => format!("*({} *)arguments[{}]", ty, k - results),
    };
    let values: Vec<String> = types.iter().enumerate().map(value).collect();
    let mut text = format!("#include \"{name}.h\"\n");
    // Writing to a String cannot fail.
    let _ = writeln!(text, "int ENTRY({});", types.join(", "));
    for ty in types.iter().take(results).filter_map(|ty| target(ty)) {
        let _ = writeln!(
            text,
            "_Static_assert(sizeof({ty}) > 0, \"a complete type\");"
        );
    }
    let _ = writeln!(
        text,
        "int benchmark_call(void *const *arguments, void *const *results)\n{{\n    return \
         ENTRY({});\n}}",
        values.join(", ")
    );
    Ok(text)
}
