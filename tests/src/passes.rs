//! The combinations of optional passes, levels and targets that programs are compiled with.

use crate::devices;
use crate::random::Random;
use nova_driver::options::ForStrategies;
use nova_driver::pipeline::optional_passes;
use nova_driver::plan::Plan;
use nova_driver::{Options, Proofs, Target};
use nova_schedule::Parallelism;
use std::collections::BTreeSet;
use std::fmt;

/// The optional passes that run.
#[derive(Clone, Copy, Debug)]
pub enum Passes {
    /// All of the default level.
    All,
    /// Those of a level of optimisation.
    Level(u8),
    /// All but this one.
    Without(&'static str),
    /// All, with operations parallelised in small chunks.
    Parallelised,
    /// As `Parallelised`, but no proof that a loop is free of races is accepted: lanes run in
    /// order.
    Unproved,
    /// Those of a level, for the target with threads.
    Threads(u8),
    /// Those of a level, for OpenCL, with operations in small chunks, so that short arrays reach
    /// kernels.
    Kernels(u8),
    /// As `Kernels`, for CUDA.
    Cuda(u8),
    /// Those of a level, for one of these two, with all steps that honour groups.
    Honoured(Target, u8),
    /// Those of a level without several of them, for a target and a size of chunks, all drawn by
    /// this number.
    Several(u64),
    /// A target, a level and a size of chunks that this number draws, by a plan that it draws, too.
    Planned(u64),
}

impl Passes {
    /// True if its device is available. Prints a note once where it is not.
    pub fn is_present(self) -> bool {
        match self {
            Passes::Kernels(_) => devices::has_opencl(),
            Passes::Cuda(_) => devices::has_cuda(),
            Passes::Several(_) | Passes::Planned(_) | Passes::Honoured(..) => {
                devices::has(self.options().target)
            }
            Passes::All
            | Passes::Unproved
            | Passes::Level(_)
            | Passes::Without(_)
            | Passes::Parallelised
            | Passes::Threads(_) => true,
        }
    }

    /// Returns all passes, with operations parallelised, those of each other level, and all but
    /// each in turn. As many again are without several passes, which a number draws.
    pub fn combinations(number: u64) -> Vec<Passes> {
        let optional = optional_passes().into_iter();
        let levels = [0, 1, 3].map(Passes::Level);
        let devices = [Passes::Kernels(2), Passes::Cuda(2)];
        let without = optional.map(|pass| Passes::Without(pass.name));
        let mut found: Vec<Passes> = [Passes::All, Passes::Parallelised, Passes::Unproved]
            .into_iter()
            .chain(devices)
            .chain(levels)
            .chain(without)
            .collect();
        found.extend((0..found.len() as u64).map(|k| Passes::Several(number.wrapping_add(k))));
        found.retain(|passes| passes.is_present());
        found
    }

    /// Returns its name for people: as on the command line, or `all` or `divided`.
    pub fn name(self) -> String {
        match self {
            Passes::All => "all".to_string(),
            Passes::Unproved => "unproved".to_string(),
            Passes::Parallelised => "divided".to_string(),
            Passes::Threads(level) => format!("pthreads -O{level}"),
            Passes::Kernels(level) => format!("opencl -O{level}"),
            Passes::Cuda(level) => format!("cuda -O{level}"),
            Passes::Honoured(target, level) => format!("{target} -O{level} honoured"),
            Passes::Level(level) => format!("-O{level}"),
            Passes::Without(pass) => format!("--no-{pass}"),
            Passes::Several(number) => format!("several {number}"),
            Passes::Planned(number) => format!("planned {number}"),
        }
    }

    /// Returns the combination with this name.
    pub fn by_name(name: &str) -> Option<Passes> {
        if let Some(number) = name.strip_prefix("several ") {
            return number.parse().ok().map(Passes::Several);
        }
        if let Some(number) = name.strip_prefix("planned ") {
            return number.parse().ok().map(Passes::Planned);
        }
        let mut combinations = Passes::combinations(0).into_iter();
        combinations.find(|passes| passes.name() == name)
    }

    /// Returns its flags on the command line, without the size of chunks.
    fn flags(self) -> String {
        let options = self.options();
        let without = options.disabled.iter();
        let without: Vec<String> = without.map(|pass| format!(" --no-{pass}")).collect();
        let (target, level) = (options.target, options.optimization);
        format!("--target {target} -O{level}{}", without.concat())
    }

    pub(crate) fn options(self) -> Options {
        // Loops stay as the passes make them, so that a wrong one is found.
        let all = Options {
            proofs: Proofs::Ignored,
            ..Options::default()
        };
        match self {
            Passes::All => all,
            Passes::Unproved => Options {
                proofs: Proofs::Refused,
                target: Target::Pthreads,
                parallelism: Some(Parallelism::SMALL),
                ..all
            },
            Passes::Parallelised => Options {
                target: Target::Pthreads,
                parallelism: Some(Parallelism::SMALL),
                ..all
            },
            Passes::Level(optimization) => Options {
                optimization,
                ..all
            },
            Passes::Threads(optimization) => Options {
                target: Target::Pthreads,
                optimization,
                ..all
            },
            Passes::Kernels(optimization) => Options {
                target: Target::OpenCl,
                parallelism: Some(Parallelism::SMALL),
                optimization,
                ..all
            },
            Passes::Cuda(optimization) => Options {
                target: Target::Cuda,
                parallelism: Some(Parallelism::SMALL),
                optimization,
                ..all
            },
            Passes::Honoured(target, optimization) => Options {
                target,
                parallelism: Some(Parallelism::SMALL),
                optimization,
                for_strategies: ForStrategies::Places,
                ..all
            },
            Passes::Without(name) => Options {
                disabled: [name.to_string()].into(),
                ..all
            },
            Passes::Several(number) => several(number, all),
            Passes::Planned(number) => planned(number, all),
        }
    }
}

impl fmt::Display for Passes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Passes::Several(_) | Passes::Planned(_) => {
                write!(f, "{}: {}", self.name(), self.flags())
            }
            Passes::All
            | Passes::Unproved
            | Passes::Level(_)
            | Passes::Without(_)
            | Passes::Parallelised
            | Passes::Threads(_)
            | Passes::Kernels(_)
            | Passes::Cuda(_)
            | Passes::Honoured(..) => f.write_str(&self.name()),
        }
    }
}

/// The targets that are drawn.
const TARGETS: [Target; 8] = [
    Target::Sequential,
    Target::Sequential,
    Target::Sequential,
    Target::Pthreads,
    Target::Pthreads,
    Target::Pthreads,
    Target::OpenCl,
    Target::Cuda,
];

/// Draws a target, a level, a size of chunks and a plan.
fn planned(number: u64, all: Options) -> Options {
    let mut random = Random::new(number ^ 0x91a4_5eed);
    let target = *random.pick(&TARGETS);
    let optimization = *random.pick(&[1, 2, 2, 2, 3]);
    let parallelism = random.chance(70).then_some(Parallelism::SMALL);
    Options {
        target,
        optimization,
        parallelism,
        plan: Plan::drawn(number),
        ..all
    }
}

/// Draws a target, a level, and passes to leave out: few, or about half of them.
fn several(number: u64, all: Options) -> Options {
    let mut random = Random::new(number ^ 0x5e7e_4a15);
    let target = *random.pick(&TARGETS);
    let optimization = *random.pick(&[1, 2, 2, 3]);
    let parallelism = random.chance(70).then_some(Parallelism::SMALL);
    let percent = *random.pick(&[10, 20, 50]);
    let optional = optional_passes();
    let mut disabled: BTreeSet<String> = optional
        .iter()
        .filter(|_| random.chance(percent))
        .map(|pass| pass.name.to_string())
        .collect();
    while disabled.len() < 2 {
        disabled.insert(random.pick(&optional).name.to_string());
    }
    Options {
        target,
        optimization,
        parallelism,
        disabled,
        ..all
    }
}
