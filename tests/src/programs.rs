//! Programs that are compiled and called on devices and, for comparison, in sequential C, and
//! inputs for them, written as text.

use crate::{devices, inputs};
use nova_c::names::LOADED_PREFIX;
use nova_core::Value;
use nova_driver::{Checked, Compiler, Options, Source, Stage, Target, foreign_symbols, interfaces};
use nova_exec::error::CallError;
use nova_exec::library::{self, Library};
use nova_exec::toolchain::CompilerOptions;
use nova_schedule::Parallelism;

/// The name of a program, in places of errors.
const NAME: &str = "program.nova";

/// The options of a program for one target.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// True if operations on floats keep their order.
    pub strict: bool,
    /// The parallelisation of operations, if it is not the default of the target.
    pub parallelism: Option<Parallelism>,
}

impl How {
    /// Returns options with the default parallelisation.
    pub fn usual(strict: bool) -> How {
        How {
            strict,
            parallelism: None,
        }
    }

    fn options(self, target: Target) -> Options {
        Options {
            target,
            strict: self.strict,
            parallelism: self.parallelism,
            verify: true,
            ..Options::default()
        }
    }

    fn compiler(self, target: Target) -> Compiler {
        Compiler::new(self.options(target))
    }
}

/// Compiles a program with all passes and loads it. Returns its C, too. The compiler of C does not
/// optimise, since that takes longer than the rest of such tests. Other tests optimise the C of
/// examples, benchmarks and random programs.
///
/// # Panics
/// If it can't be compiled, here or by the compiler of C.
pub fn load(options: Options, source: Source) -> (Checked, Library, String) {
    let c_options = CompilerOptions {
        optimization: 0,
        strict: options.strict,
        libraries: options.libraries(),
        device: options.device_compiler(),
    };
    let compiler = Compiler::new(options);
    let mut checked = compiler.check(source).expect("a program");
    let generated = compiler
        .for_loading()
        .compile(&mut checked)
        .expect("its code");
    let interface = library::Generated {
        name: &checked.name,
        header: &generated.files.header,
        source: &generated.files.source,
        entries: interfaces(&generated.program, LOADED_PREFIX),
        foreigns: foreign_symbols(&generated.program, compiler.options().target),
        sums: &generated.program.sums,
    };
    let library = Library::load(&interface, c_options, &[]).expect("its library");
    (checked, library, generated.files.source)
}

/// A compiled program for one target.
pub struct Compiled {
    /// Its target.
    pub target: Target,
    /// Its types and entries.
    pub checked: Checked,
    library: Library,
    /// The text of its C, with that of its kernels.
    pub source: String,
}

impl Compiled {
    /// Compiles a program.
    ///
    /// # Panics
    /// If it can't be compiled, here or by the compiler of C.
    pub fn new(text: &str, target: Target, how: How) -> Compiled {
        let (checked, library, source) = load(how.options(target), Source::text(NAME, text));
        Compiled {
            target,
            checked,
            library,
            source,
        }
    }

    /// Compiles a program for one thread without a pass.
    ///
    /// # Panics
    /// If it can't be compiled, here or by the compiler of C.
    pub fn without(pass: &str, text: &str, how: How) -> Compiled {
        let target = Target::Sequential;
        let options = Options {
            disabled: [pass.to_string()].into(),
            ..how.options(target)
        };
        let (checked, library, source) = load(options, Source::text(NAME, text));
        Compiled {
            target,
            checked,
            library,
            source,
        }
    }

    /// Returns the result of an entry for inputs that are written as text.
    pub fn call(&self, entry: usize, inputs: &[impl AsRef<str>]) -> Result<Value, CallError> {
        let values = inputs::read(&self.checked.program, entry, inputs);
        self.library.call(entry, &values)
    }

    /// Returns the error in a program with which an entry ends.
    ///
    /// # Panics
    /// If it returns a value, or fails for a reason that is not in the program.
    pub fn failure(&self, entry: usize, inputs: &[impl AsRef<str>]) -> String {
        match self.call(entry, inputs) {
            Err(CallError::Failed { code: 1, message }) => message,
            other => panic!("{:?}: {other:?}", self.target),
        }
    }

    /// Counts the occurrences of a text in the C and the kernels.
    pub fn count(&self, text: &str) -> usize {
        self.source.matches(text).count()
    }

    /// Returns the number of kernels.
    pub fn kernels(&self) -> usize {
        match self.target {
            Target::OpenCl => self.count("__kernel "),
            Target::Cuda | Target::Hip => self.count("__global__ "),
            Target::Sequential | Target::Pthreads | Target::Mpi => 0,
        }
    }
}

/// Compiles a program for each available device, or emulation of one.
pub fn on_devices(text: &str, how: How) -> Vec<Compiled> {
    let opencl = devices::has_opencl().then_some(Target::OpenCl);
    let cuda = devices::has_cuda().then_some(Target::Cuda);
    let compile = |target| Compiled::new(text, target, how);
    opencl.into_iter().chain(cuda).map(compile).collect()
}

/// Compares the results of each entry of a program on devices with those in sequential C. An entry
/// gets each input as the value of all its inputs.
///
/// # Panics
/// Where they differ.
#[track_caller]
pub fn compare(text: &str, how: How, inputs: &[String]) {
    let sequential = Compiled::new(text, Target::Sequential, How::usual(how.strict));
    for device in on_devices(text, how) {
        for (k, entry) in sequential.checked.program.entries.iter().enumerate() {
            for input in inputs {
                let all = vec![input; entry.inputs.len()];
                let expected = sequential.call(k, &all).expect("a value in order");
                let value = device.call(k, &all).expect("a value of the device");
                let length = input.split_whitespace().count();
                assert!(
                    value.same(&expected),
                    "{:?}, entry {k}, {length} elements: {value:?}, not {expected:?}",
                    device.target
                );
            }
        }
    }
}

/// Returns the program at a stage, as text.
///
/// # Panics
/// If it can't be compiled.
pub fn emit(text: &str, target: Target, how: How, stage: Stage) -> String {
    let compiler = how.compiler(target);
    let mut checked = compiler.check(Source::text(NAME, text)).expect("a program");
    compiler.emit(&mut checked, stage).expect("the stage")
}

/// Returns the report of the compiler on a program.
///
/// # Panics
/// If it can't be compiled.
pub fn report(text: &str, target: Target, how: How) -> String {
    let compiler = how.compiler(target);
    let mut checked = compiler.check(Source::text(NAME, text)).expect("a program");
    compiler.explain(&mut checked).expect("a report")
}

/// Returns an array as text.
pub fn list(elements: impl Iterator<Item = String>) -> String {
    format!("[{}]", elements.collect::<Vec<_>>().join(" "))
}

/// Returns integers of either sign, as far from each other as possible.
pub fn integers(length: usize) -> String {
    let number = |k: usize| ((k as u32).wrapping_mul(2_654_435_761) as i32).to_string();
    list((0..length).map(number))
}

/// Returns ones, and one other number.
pub fn ones_but(length: usize, at: usize, other: i64) -> String {
    let number = |k: usize| if k == at { other } else { 1 }.to_string();
    list((0..length).map(number))
}
