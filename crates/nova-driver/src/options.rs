//! The options of a compilation: targets, stages, and flags.

use nova_c::dialect::{Compiler, Dialect, Parallel};
/// Returns the reason why a text cannot be [`Options::prefix`], if it cannot.
pub use nova_c::names::wrong_prefix;
use nova_exec::device_compiler::DeviceCompiler;
use nova_machine::Machine;
use nova_plan::Plan;
use nova_schedule::{Alone, Parallelism};
use std::collections::BTreeSet;
use std::fmt;

/// The machine and language of the generated code (abi §1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// Sequential C.
    Sequential,
    /// C with a pool of threads.
    Pthreads,
    /// CUDA C.
    Cuda,
    /// HIP C++.
    Hip,
    /// C that builds OpenCL kernels.
    OpenCl,
    /// C for the ranks of a communicator.
    Mpi,
}

/// All targets with the name of each on the command line.
pub const TARGETS: [(Target, &str); 6] = [
    (Target::Sequential, "seq"),
    (Target::Pthreads, "pthreads"),
    (Target::Cuda, "cuda"),
    (Target::Hip, "hip"),
    (Target::OpenCl, "opencl"),
    (Target::Mpi, "mpi"),
];

impl Target {
    /// Returns its name on the command line.
    pub fn name(self) -> &'static str {
        let row = TARGETS.iter().find(|(target, _)| *target == self);
        row.map_or("", |(_, name)| name)
    }

    /// Returns the target with this name.
    pub fn by_name(name: &str) -> Option<Target> {
        let row = TARGETS.iter().find(|(_, n)| *n == name);
        row.map(|(target, _)| *target)
    }

    /// Returns the machine that runs the parallel loops.
    pub fn machine(self) -> Machine {
        match self.has_device() {
            true => Machine::Device,
            false => Machine::Processor,
        }
    }

    /// True if a device runs the parallel loops.
    pub fn has_device(self) -> bool {
        self.dialect().is_some_and(Dialect::has_device)
    }

    /// Returns the C dialect of the target, or `None` if this version has none.
    pub fn dialect(self) -> Option<&'static Dialect> {
        match self {
            Target::Sequential => Some(Dialect::SEQUENTIAL),
            Target::Pthreads => Some(Dialect::PTHREADS),
            Target::Cuda => Some(Dialect::CUDA),
            Target::Hip => Some(Dialect::HIP),
            Target::OpenCl => Some(Dialect::OPENCL),
            Target::Mpi => None,
        }
    }

    /// Returns the flags of the libraries that its programs are linked with in addition to the C
    /// library.
    pub fn libraries(self) -> &'static [&'static str] {
        self.dialect().map_or(&[], |dialect| dialect.libraries)
    }

    /// Returns the compiler of its programs, if it is not the C compiler.
    pub fn device_compiler(self) -> Option<&'static DeviceCompiler> {
        match self.dialect()?.compiler {
            Compiler::C => None,
            Compiler::Device { name, .. } => DeviceCompiler::by_name(name),
        }
    }

    /// True if loops of its programs run in parallel.
    pub fn is_parallel(self) -> bool {
        self != Target::Sequential
    }

    /// True if this version of the compiler generates code for it.
    pub fn is_supported(self) -> bool {
        self.dialect().is_some()
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The representations that `--emit` shows (architecture §1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// The typed lambda calculus.
    Core,
    /// First-order arrays.
    Flat,
    /// Arrays with their memory.
    Mem,
    /// Commands.
    Loop,
    /// The generated source.
    C,
}

/// Steps beyond the level of optimisation that let devices run a program as its strategies demand.
/// Each includes those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ForStrategies {
    /// No step.
    #[default]
    Nothing,
    /// The passes that make sizes known run at every level.
    Passes,
    /// The arrays that groups replace in loops get a second place, where only a reference count
    /// could show that they may be overwritten.
    Places,
}

/// All the steps, the cheapest first.
pub const FOR_STRATEGIES: [ForStrategies; 3] = [
    ForStrategies::Nothing,
    ForStrategies::Passes,
    ForStrategies::Places,
];

/// All stages with the name of each on the command line, in order.
pub const STAGES: [(Stage, &str); 5] = [
    (Stage::Core, "core"),
    (Stage::Flat, "flat"),
    (Stage::Mem, "mem"),
    (Stage::Loop, "loop"),
    (Stage::C, "c"),
];

impl Stage {
    /// Returns its name on the command line.
    pub fn name(self) -> &'static str {
        let row = STAGES.iter().find(|(stage, _)| *stage == self);
        row.map_or("", |(_, name)| name)
    }

    /// Returns the stage with this name.
    pub fn by_name(name: &str) -> Option<Stage> {
        let row = STAGES.iter().find(|(_, n)| *n == name);
        row.map(|(stage, _)| *stage)
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The options of a compilation. [`Options::default`] are those of the command without flags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The target of the code.
    pub target: Target,
    /// The level of optimisation, 0 to 3. Optional passes run from the level in their row on. The C
    /// compiler gets it too.
    pub optimization: u8,
    /// `--fp strict` (language §8).
    pub strict: bool,
    /// Names of optional passes not to run.
    pub disabled: BTreeSet<String>,
    /// True if a file without an expression or entry, which others import, may be checked alone.
    pub library: bool,
    /// True to verify the program after every pass.
    pub verify: bool,
    /// True if the passes run although the cache has a program. Its code may still be found there.
    pub passes_run: bool,
    /// The name of a pass after which the program is kept as text.
    pub dump_after: Option<String>,
    /// The sizes of tiles. Tests use others than the default.
    pub tiles: nova_expand::TileSizes,
    /// The parallelisation of operations, for tests. Otherwise the target decides.
    pub parallelism: Option<Parallelism>,
    /// Choices for operations. The passes decide where it says nothing.
    pub plan: Plan,
    /// True if the generated code is C for one thread that traces the accesses of parallel loops,
    /// and fails where two of their iterations race. Otherwise it is the target's.
    pub check_races: bool,
    /// True if a program for processors takes the times of its loops when it is run with `NOVA_PROFILE`.
    pub profile: bool,
    /// True if `#line` in the generated code names the lines of the source, for debuggers and profilers.
    pub line_directives: bool,
    /// The policy for parallel loops without a proof.
    pub proofs: Proofs,
    /// Operations that one thread runs, since there is no proof that iterations of their loops do
    /// not meet.
    pub alone: Alone,
    /// True if one thread runs the program, whatever its target. No operation is then parallelised,
    /// and strategies are loops in order.
    pub one_thread: bool,
    /// The step that honours strategies.
    pub for_strategies: ForStrategies,
    /// Foreign functions in the language of the device, which come before the kernels.
    pub device_source: String,
    /// The prefix of the names of the C functions: empty, or an identifier of C ([`wrong_prefix`]).
    /// Loaded programs have a prefix of their own.
    pub prefix: String,
}

/// The policy for proofs that iterations of parallel loops do not meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Proofs {
    /// One thread runs the operation that a loop without a proof comes from, with a warning.
    #[default]
    Needed,
    /// No proofs are looked for. Loops stay as the passes have made them, for tests of the checker.
    Ignored,
    /// No proof is accepted, for tests of such programs.
    Refused,
    /// No proof of loops that come from this line is accepted.
    RefusedIn(u32),
}

impl Options {
    /// Returns the C dialect of the output, or `None` if this version has none.
    pub fn dialect(&self) -> Option<&'static Dialect> {
        let dialect = self.target.dialect()?;
        Some(match self.check_races {
            true => Dialect::TRACED,
            false => dialect,
        })
    }

    /// Returns the flags of the libraries that the C is linked with in addition to the C library.
    pub fn libraries(&self) -> &'static [&'static str] {
        match self.check_races {
            true => &[],
            false => self.target.libraries(),
        }
    }

    /// Returns the compiler of the generated code, if it is not the C compiler.
    pub fn device_compiler(&self) -> Option<&'static DeviceCompiler> {
        match self.check_races {
            true => None,
            false => self.target.device_compiler(),
        }
    }

    /// Returns the parallelisation of operations, if they are parallelised.
    pub fn parallelism(&self) -> Option<Parallelism> {
        let dialect = self.target.dialect()?;
        let usual = match dialect.parallel {
            Parallel::Regions => Some(Parallelism::DEFAULT),
            Parallel::OpenClKernels | Parallel::CudaKernels => Some(Parallelism::KERNELS),
            Parallel::InOrder | Parallel::Traced => None,
        };
        if self.one_thread {
            return None;
        }
        let strict = self.strict;
        let parallelism = self.parallelism.or(usual)?;
        let kernels = dialect.has_device();
        // OpenCL does not guarantee that a work-group makes progress while others wait for it.
        let ordered = dialect.groups_progress;
        Some(Parallelism {
            strict,
            kernels,
            ordered,
            ..parallelism
        })
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            target: Target::Sequential,
            optimization: 2,
            strict: false,
            disabled: BTreeSet::new(),
            library: false,
            verify: cfg!(debug_assertions),
            passes_run: false,
            dump_after: None,
            tiles: nova_expand::TileSizes::default(),
            parallelism: None,
            plan: Plan::default(),
            check_races: false,
            profile: false,
            line_directives: false,
            proofs: Proofs::default(),
            alone: Alone::default(),
            one_thread: false,
            for_strategies: ForStrategies::default(),
            device_source: String::new(),
            prefix: String::new(),
        }
    }
}
