//! What a compilation is asked to do.

/// Why a text cannot be [`Options::prefix`], if it cannot.
pub use nova_c::names::wrong_prefix;
use nova_loop::Machine;
use nova_opt::parallelise::{Alone, Parallelism};
use std::collections::BTreeSet;
use std::fmt;

/// What the generated code runs on (abi §1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// Sequential C.
    Sequential,
    /// C with a pool of threads.
    Pthreads,
    /// CUDA C.
    Cuda,
    /// C that builds OpenCL kernels.
    OpenCl,
    /// C for the ranks of a communicator.
    Mpi,
}

/// All targets with the name of each on the command line.
pub const TARGETS: [(Target, &str); 5] = [
    (Target::Sequential, "seq"),
    (Target::Pthreads, "pthreads"),
    (Target::Cuda, "cuda"),
    (Target::OpenCl, "opencl"),
    (Target::Mpi, "mpi"),
];

impl Target {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        let row = TARGETS.iter().find(|(target, _)| *target == self);
        row.map_or("", |(_, name)| name)
    }

    /// The target with this name.
    pub fn by_name(name: &str) -> Option<Target> {
        let row = TARGETS.iter().find(|(_, n)| *n == name);
        row.map(|(target, _)| *target)
    }

    /// What runs the loops that are shared.
    pub fn machine(self) -> Machine {
        match self {
            Target::Sequential | Target::Pthreads | Target::Mpi => Machine::Processor,
            Target::Cuda | Target::OpenCl => Machine::Device,
        }
    }

    /// The C that is written for it; `None` if there is none in this version.
    pub fn dialect(self) -> Option<nova_c::Target> {
        match self {
            Target::Sequential => Some(nova_c::Target::Seq),
            Target::Pthreads => Some(nova_c::Target::Pthreads),
            Target::Cuda => Some(nova_c::Target::Cuda),
            Target::OpenCl => Some(nova_c::Target::OpenCl),
            Target::Mpi => None,
        }
    }

    /// What its programs are linked with beside the C library: flags.
    pub fn libraries(self) -> &'static [&'static str] {
        match self {
            Target::OpenCl => &["-lOpenCL"],
            Target::Sequential | Target::Pthreads | Target::Cuda | Target::Mpi => &[],
        }
    }

    /// True if loops of its programs run in parallel.
    pub fn is_parallel(self) -> bool {
        match self {
            Target::Sequential => false,
            Target::Pthreads | Target::Cuda | Target::OpenCl | Target::Mpi => true,
        }
    }

    /// True if this version of the compiler makes code for it.
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

/// Steps beyond the level of optimisation that let devices run a program as its
/// strategies say; each does what those before it do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ForStrategies {
    /// Nothing.
    #[default]
    Nothing,
    /// The passes by which sizes become known run at every level.
    Passes,
    /// What groups replace in loops is written to a second place, where else only a reference count would
    /// tell that it may be written over.
    Places,
}

/// All the steps, from the one that costs least.
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
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        let row = STAGES.iter().find(|(stage, _)| *stage == self);
        row.map_or("", |(_, name)| name)
    }

    /// The stage with this name.
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

/// The options of a compilation; [`Options::default`] is what the command does without flags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// What the code is for.
    pub target: Target,
    /// 0 to 3: optional passes run from the level in their row on; also given to the C compiler.
    pub optimization: u8,
    /// `--fp strict` (language §8).
    pub strict: bool,
    /// Names of optional passes not to run.
    pub disabled: BTreeSet<String>,
    /// Verify after every pass.
    pub verify: bool,
    /// The name of a pass after which the program is kept as text.
    pub dump_after: Option<String>,
    /// How large tiles are; others than the usual are for tests.
    pub tiles: nova_loop::TileSizes,
    /// How operations are divided among threads, for tests; otherwise the target decides.
    pub parallelism: Option<Parallelism>,
    /// True if the code, otherwise the target's, is C for one thread that traces the accesses of
    /// parallel loops, and fails where two of their iterations race.
    pub check_races: bool,
    /// True if parallel loops need a proof.
    pub proofs: Proofs,
    /// Operations that one thread runs, since nothing shows that iterations of their loops do not meet.
    pub alone: Alone,
    /// True if one thread runs the program, whatever its target: nothing is divided, and strategies
    /// are loops in order.
    pub one_thread: bool,
    /// The step that is taken so that strategies are honoured.
    pub for_strategies: ForStrategies,
    /// Foreign functions in the language of the device, which stand before the kernels.
    pub device_source: String,
    /// What stands before the names of the C functions; empty, or an identifier of C
    /// ([`wrong_prefix`]). What is loaded has a prefix of its own.
    pub prefix: String,
}

/// What is done about proofs that iterations of parallel loops do not meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Proofs {
    /// One thread runs the operation that a loop without one comes from, with a warning.
    #[default]
    Needed,
    /// Nobody looks for any: loops are as the passes have made them, for tests of the checker.
    Ignored,
    /// None is believed, for tests of what becomes of such programs.
    Refused,
    /// None is believed of loops that come from this line.
    RefusedIn(u32),
}

impl Options {
    /// The C that is written; `None` if there is none in this version.
    pub fn dialect(&self) -> Option<nova_c::Target> {
        let dialect = self.target.dialect()?;
        Some(match self.check_races {
            true => nova_c::Target::Traced,
            false => dialect,
        })
    }

    /// What the C is linked with beside the C library: flags.
    pub fn libraries(&self) -> &'static [&'static str] {
        match self.check_races {
            true => &[],
            false => self.target.libraries(),
        }
    }

    /// How operations are divided among threads, if they are.
    pub fn parallelism(&self) -> Option<Parallelism> {
        let usual = match self.target {
            Target::Pthreads => Some(Parallelism::DEFAULT),
            Target::Cuda | Target::OpenCl => Some(Parallelism::KERNELS),
            Target::Sequential | Target::Mpi => None,
        };
        if self.one_thread {
            return None;
        }
        let strict = self.strict;
        let parallelism = self.parallelism.or(usual)?;
        let kernels = self.target.machine() == Machine::Device;
        // Of OpenCL nobody says that a work-group goes on while others wait for it.
        let turns = self.target == Target::Cuda;
        Some(Parallelism {
            strict,
            kernels,
            turns,
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
            verify: cfg!(debug_assertions),
            dump_after: None,
            tiles: nova_loop::TileSizes::default(),
            parallelism: None,
            check_races: false,
            proofs: Proofs::default(),
            alone: Alone::default(),
            one_thread: false,
            for_strategies: ForStrategies::default(),
            device_source: String::new(),
            prefix: String::new(),
        }
    }
}
