//! The table of passes. To add one, add a row to [`PASSES`].

use super::{On, Pass, Step, counting};
use crate::options::Options;
use nova_machine::Machine;
use nova_opt::fuse::{Rules, Workers};

/// The name of the pass after which strategies are no longer only those of the program.
pub(super) const HONOUR: &str = "strategies";

/// The name of the pass that parallelises the operations without a strategy.
pub(super) const PARALLELISE: &str = "parallelise";

/// The names of the passes that decide which loops run in parallel, on a processor and on a device.
pub(super) const PARALLEL_REGIONS: &str = "parallel-regions";
pub(super) const KERNELS: &str = "kernels";

/// Runs after every pass that leaves code to tidy.
const SIMPLIFY: Pass = Pass {
    name: "simplify",
    description: "propagates copies and constants, and removes what nobody uses",
    level: 1,
    step: Step::Flat(On::Any, nova_opt::simplify::run),
};

/// Runs before fusion, which handles operations only, and again after branches share their common
/// code, such as the same step in both.
const INDUCTION: Pass = Pass {
    name: "induction",
    description: "computes from the number of an iteration what every iteration adds the same to",
    level: 2,
    step: Step::Flat(On::Any, nova_opt::induction::run),
};

/// Runs before fusion, so that operations that leave a loop are fused, and again after it.
const LICM: Pass = Pass {
    name: "licm",
    description: "computes before a loop what every iteration would compute anew",
    level: 2,
    step: Step::Flat(On::Any, nova_opt::licm::run),
};

/// Runs before fusion, so that the elements of a block are computed where it is stored. Runs again
/// after it, where positions computed by other operations are known.
const BLOCKS: Pass = Pass {
    name: "blocks",
    description: "stores what is scattered to neighbours as blocks",
    level: 2,
    step: Step::Flat(On::Any, nova_opt::blocks::run),
};

/// Runs before fusion, which handles states that only add. Runs again after it, where fusion has
/// made conditionals of filters.
const ADDENDS: Pass = Pass {
    name: "addends",
    description: "makes sums of states that conditionals add to, or keep as they are",
    level: 2,
    step: Step::Flat(On::Any, nova_opt::addends::run),
};

/// Runs before arrays are written over others, and again where that has left copies.
const SHORT_CIRCUIT: Pass = Pass {
    name: "short-circuit",
    description: "builds arrays where they would be copied to",
    level: 2,
    step: Step::Mem(nova_mem::short_circuit::run),
};

/// All passes, in the order in which they run; a pass may run several times.
pub const PASSES: &[Pass] = &[
    Pass {
        name: "lower",
        description: "makes it first-order: closures, tuples and sums become components of arrays",
        level: 0,
        step: Step::CoreToFlat(|program| nova_lower::lower(program).map_err(|e| e.to_string())),
    },
    SIMPLIFY,
    Pass {
        name: "tail-loops",
        description: "makes loops of functions that call themselves last",
        level: 2,
        step: Step::Flat(On::Any, nova_opt::tail_loops::run),
    },
    Pass {
        name: "inline",
        description: "puts short functions, and those called once, where they are called",
        level: 2,
        step: Step::Flat(On::Any, nova_opt::inline::run),
    },
    Pass {
        name: "inline",
        description: "puts longer functions where they are called",
        level: 3,
        step: Step::Flat(On::Any, nova_opt::inline::run_longer),
    },
    SIMPLIFY,
    INDUCTION,
    SIMPLIFY,
    Pass {
        name: "bounds",
        description: "decides comparisons that always come out the same, and so drops checks",
        level: 1,
        step: Step::Flat(On::Any, nova_opt::bounds::run_early),
    },
    SIMPLIFY,
    LICM,
    BLOCKS,
    ADDENDS,
    Pass {
        name: "shapes",
        description: "keeps the shape of nested vectors whose elements are mapped",
        level: 2,
        step: Step::Flat(On::Any, nova_opt::shapes::run),
    },
    SIMPLIFY,
    Pass {
        name: "fuse",
        description: "makes one operation of several, and drops the arrays between them",
        level: 2,
        step: Step::FlatFor(|program, options| {
            nova_opt::fuse::run_by(program, fusion_rules(options));
        }),
    },
    SIMPLIFY,
    Pass {
        name: "cse",
        description: "computes once what is computed several times",
        level: 1,
        step: Step::Flat(On::Any, nova_opt::cse::run),
    },
    SIMPLIFY,
    INDUCTION,
    SIMPLIFY,
    Pass {
        name: "bounds",
        description: "decides comparisons that always come out the same, and so drops checks",
        level: 1,
        step: Step::Flat(On::Any, nova_opt::bounds::run),
    },
    SIMPLIFY,
    BLOCKS,
    ADDENDS,
    Pass {
        name: "narrow",
        description: "computes those elements of an array that a map changes, in place, and no others",
        level: 2,
        step: Step::Flat(On::Any, nova_opt::bounds::run_narrow),
    },
    SIMPLIFY,
    Pass {
        name: "speculate",
        description: "reads before a condition what is in range whether it holds or not",
        level: 2,
        step: Step::Flat(On::Processor, nova_opt::bounds::run_speculate),
    },
    LICM,
    Pass {
        name: "licm-checks",
        description: "checks before a loop what every iteration would check anew",
        level: 2,
        step: Step::Flat(On::Any, nova_opt::licm::run_checks),
    },
    SIMPLIFY,
    Pass {
        name: "flatten-regular",
        description: "makes one matrix of rows that all have one length",
        level: 2,
        step: Step::Flat(On::Any, nova_opt::flatten_regular::run),
    },
    SIMPLIFY,
    Pass {
        name: "interleave",
        description: "writes vectors of n numbers where their numbers are to lie",
        level: 2,
        step: Step::Flat(On::Any, nova_opt::interleave::run),
    },
    Pass {
        name: "zeros",
        description: "adds nothing to a sum where a condition chose to add zero",
        level: 2,
        step: Step::Flat(On::Any, nova_opt::zeros::run),
    },
    Pass {
        name: "tail-calls",
        description: "makes functions that call each other last run in constant space",
        level: 0,
        step: Step::Flat(On::Any, nova_opt::tail_calls::run),
    },
    Pass {
        name: "outline",
        description: "splits functions that are too long for C compilers",
        level: 1,
        step: Step::Flat(On::Any, nova_opt::outline::run),
    },
    Pass {
        name: HONOUR,
        description: "gives to threads the maps that the program gives to them",
        level: 0,
        step: Step::FlatFor(|program, options| {
            if let Some(parallelism) = options.parallelism() {
                nova_schedule::honour(program, parallelism.kernels, &options.alone);
            }
        }),
    },
    Pass {
        name: PARALLELISE,
        description: "parallelises operations, where the target has threads",
        level: 1,
        step: Step::FlatFor(|program, options| {
            if let Some(parallelism) = options.parallelism() {
                nova_schedule::run_but(program, parallelism, &options.alone);
            }
        }),
    },
    Pass {
        name: "together",
        description: "reduces four rows at a time that read something in common",
        level: 2,
        step: Step::Flat(On::Processor, nova_opt::together::run),
    },
    Pass {
        name: "measure",
        description: "adds up the lengths of rows before these are made, where both costs little",
        level: 2,
        step: Step::Flat(On::Processor, nova_opt::measure::run),
    },
    Pass {
        name: "memory",
        description: "gives every array its block of memory and its place there",
        level: 0,
        step: Step::FlatToMem(|program, options| match options.target.machine() {
            Machine::Processor => nova_mem::introduce(program),
            Machine::Device => nova_mem::introduce_for_device(program),
        }),
    },
    SHORT_CIRCUIT,
    Pass {
        name: "reuse",
        description: "writes arrays over those that they replace, where nobody needs these any more",
        level: 2,
        step: Step::MemFor(|program, options| {
            nova_mem::reuse::run(program, counting(options));
        }),
    },
    Pass {
        name: "settle",
        description: "keeps the states of loops in one place each, where nobody else holds them",
        level: 2,
        step: Step::Mem(nova_mem::settle::run),
    },
    SHORT_CIRCUIT,
    Pass {
        name: "loops",
        description: "turns array operations into loops over memory",
        level: 0,
        step: Step::MemToLoop(|program, options| {
            let machine = options.target.machine();
            nova_expand::translate_with(program, options.strict, options.tiles, machine)
                .map_err(|e| e.to_string())
        }),
    },
    Pass {
        name: "tidy",
        description: "removes variables of loops that nobody reads, and what is left empty",
        level: 0,
        step: Step::Loop(On::Any, nova_loop_opt::tidy::run),
    },
    Pass {
        name: "locals",
        description: "keeps small temporary arrays on the stack",
        level: 1,
        step: Step::Loop(On::Processor, nova_loop_opt::locals::run),
    },
    Pass {
        name: "locals",
        description: "keeps small temporary arrays on the stack of the host or of a thread",
        level: 1,
        step: Step::Loop(On::Device, nova_loop_opt::locals::run_for_device),
    },
    Pass {
        name: "index-set-splitting",
        description: "splits loops at their ends and makes indices plain, for vector instructions",
        level: 2,
        step: Step::Loop(On::Processor, nova_loop_opt::index_set_splitting::run),
    },
    Pass {
        name: "index-set-splitting",
        description: "splits loops of one thread at their ends and makes indices plain",
        level: 2,
        step: Step::Loop(
            On::Device,
            nova_loop_opt::index_set_splitting::run_for_device,
        ),
    },
    Pass {
        name: "narrow-accumulators",
        description: "adds small integers in narrow lanes, of which a vector holds more",
        level: 2,
        step: Step::Loop(On::Processor, nova_loop_opt::narrow_accumulators::run),
    },
    Pass {
        name: "rsqrt-refinement",
        description: "gives reciprocal square roots in loops over lanes a loop of their own",
        level: 2,
        step: Step::Loop(On::Processor, nova_loop_opt::rsqrt_refinement::run),
    },
    Pass {
        name: "chained-scan",
        description: "makes one loop of the three of a chunked scan, with an ordered region",
        level: 2,
        step: Step::Loop(On::Processor, nova_loop_opt::chained_scan::run),
    },
    Pass {
        name: "empties",
        description: "leaves out nests of loops whose inner loops have no iterations",
        level: 0,
        step: Step::Loop(On::Any, nova_loop_opt::empties::run),
    },
    Pass {
        name: "unroll-and-jam",
        description: "takes four rows at a time where neighbours read the same memory",
        level: 2,
        step: Step::Loop(On::Processor, nova_loop_opt::unroll_and_jam::run),
    },
    Pass {
        name: "strip-mining",
        description: "works in strips: large results past the caches, long chains in two halves, scans in vectors",
        level: 2,
        step: Step::Loop(On::Processor, nova_loop_opt::strip_mining::run),
    },
    Pass {
        name: PARALLEL_REGIONS,
        description: "gives to one thread the loops that threads cannot share",
        level: 0,
        step: Step::Loop(On::Processor, nova_loop_opt::parallel_regions::run),
    },
    Pass {
        name: "thread-instances",
        description: "makes functions of one thread of those whose loops work-groups run",
        level: 0,
        step: Step::Loop(On::Device, nova_loop_opt::kernels::instances::run),
    },
    Pass {
        name: "work-groups",
        description: "places the arrays of work-groups, and puts barriers between their uses",
        level: 0,
        step: Step::Loop(On::Device, nova_loop_opt::work_groups::run),
    },
    Pass {
        name: KERNELS,
        description: "gives to the host the loops that a device cannot run",
        level: 0,
        step: Step::Loop(On::Device, nova_loop_opt::kernels::run),
    },
    Pass {
        name: "call-stack",
        description: "gives recursive functions of kernels a stack of their own",
        level: 0,
        step: Step::Loop(On::Device, nova_loop_opt::call_stack::run),
    },
    Pass {
        name: "thread-coarsening",
        description: "gives several elements to each thread of a short kernel, for loads in flight",
        level: 2,
        step: Step::Loop(On::Device, nova_loop_opt::thread_coarsening::run),
    },
    Pass {
        name: "filter-assertions",
        description: "checks that no chunk of a filter writes more than was counted for it",
        level: 0,
        step: Step::Loop(On::Any, nova_loop_opt::filter_assertions::run),
    },
    Pass {
        name: "vectors",
        description: "puts loads and stores of neighbours together, for vectors of a device",
        level: 2,
        step: Step::Loop(On::Device, nova_loop_opt::vectors::run),
    },
    Pass {
        name: "coherence",
        description: "says where the host needs arrays that may be on the device",
        level: 0,
        step: Step::Loop(On::Device, nova_loop_opt::coherence::run),
    },
    Pass {
        name: "witness",
        description: "proves that the iterations of parallel loops do not meet",
        level: 0,
        step: Step::Settle,
    },
    Pass {
        name: "emit",
        description: "writes C",
        level: 0,
        step: Step::LoopToC(|program, name, options| {
            // Targets without C are refused earlier.
            let dialect = options.dialect().unwrap_or(nova_c::Dialect::SEQUENTIAL);
            let name = name.to_string();
            let alone = options.alone.each();
            let one_thread = alone.map(|(place, why)| (place.clone(), why.to_string()));
            let options = nova_c::Options {
                name,
                dialect,
                prefix: options.prefix.clone(),
                device_source: options.device_source.clone(),
                one_thread: one_thread.collect(),
            };
            nova_c::emit(program, &options)
        }),
    },
];

/// Returns the rules of fusion for a target.
fn fusion_rules(options: &Options) -> Rules {
    let workers = match (options.parallelism(), options.target.machine()) {
        (None, _) => Workers::One,
        (Some(_), Machine::Processor) => Workers::Threads,
        (Some(_), Machine::Device) => Workers::Device,
    };
    Rules {
        strict: options.strict,
        workers,
    }
}
