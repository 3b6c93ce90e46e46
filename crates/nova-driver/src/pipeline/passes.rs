//! The table of passes: a row is a line. To add a pass, add a row to [`PASSES`].

use super::On::{Any, Device, Processor};
use super::Step::{
    C, CNamed, CToFiles, CoreToFlat, Flat, FlatFor, FlatNoted, FlatToFlat, FlatToMem, Loop, LoopToC, Mem, MemFor, MemToLoop, Settle,
};
use super::{On, Pass, Step, steps};

/// The name of the pass after which strategies are no longer only those of the program.
pub(super) const HONOUR: &str = "strategies";

/// The name of the pass that parallelises the operations without a strategy.
pub(super) const PARALLELISE: &str = "parallelise";

/// The names of the passes that decide which loops run in parallel, on a processor and on a device.
pub(super) const PARALLEL_REGIONS: &str = "parallel-regions";
pub(super) const KERNELS: &str = "kernels";

/// The name of the passes that take times, which run where a profile is asked for.
pub(super) const PROFILE: &str = "profile";

/// The level of passes that always run: without them a program is wrong, or compilers refuse its C.
const NEEDED: Option<u8> = None;

/// The levels of passes that may be left out. Those of the first run at every level.
const O0: Option<u8> = Some(0);
const O1: Option<u8> = Some(1);
const O2: Option<u8> = Some(2);
const O3: Option<u8> = Some(3);

/// Returns a row of the table.
const fn row(level: Option<u8>, on: On, name: &'static str, step: Step, description: &'static str) -> Pass {
    Pass { name, description, level, on, step }
}

/// Runs after every pass that leaves code to tidy.
const SIMPLIFY: Pass = row(O1, Any, "simplify", Flat(nova_opt::simplify::run), "propagates copies and constants, and removes what nobody uses");

/// Runs before fusion, which handles operations only, and again after branches share their common
/// code, such as the same step in both.
const INDUCTION: Pass = row(O2, Any, "induction", Flat(nova_opt::induction::run), "computes from the number of an iteration what every iteration adds the same to");

/// Runs before fusion, so that operations that leave a loop are fused, and again after it.
const LICM: Pass = row(O2, Any, "licm", Flat(nova_opt::licm::run), "computes before a loop what every iteration would compute anew");

/// Runs after fusion, and again after checks have moved before loops.
const BOUNDS: Pass = row(O1, Any, "bounds", Flat(nova_opt::bounds::run), "decides comparisons that always come out the same, and so drops checks");

/// Runs before fusion and after it.
const CSE: Pass = row(O1, Any, "cse", Flat(nova_opt::cse::run), "computes once what is computed several times");

/// Runs after fusion, and again after [`BOUNDS`] has moved checks out of inner operations.
const LICM_CHECKS: Pass = row(O2, Any, "licm-checks", Flat(nova_opt::licm::run_checks), "checks before a loop what every iteration would check anew");

/// Runs before fusion, so that the elements of a block are computed where it is stored. Runs again
/// after it, where positions computed by other operations are known.
const BLOCKS: Pass = row(O2, Any, "blocks", Flat(nova_opt::blocks::run), "stores what is scattered to neighbours as blocks");

/// Runs before fusion, which handles states that only add. Runs again after it, where fusion has
/// made conditionals of filters.
const ADDENDS: Pass = row(O2, Any, "addends", Flat(nova_iterate::addends::run), "makes sums of states that conditionals add to, or keep as they are");

/// Runs before fusion, and again when rows have become matrices.
const LOOP_VERSIONING: Pass = row(O2, Any, "loop-versioning", Flat(nova_opt::loop_versioning::run), "copies loops for states that have the extents before that they get in the first iteration");

/// Runs before arrays are written over others, and again where that has left copies.
const SHORT_CIRCUIT: Pass = row(O2, Any, "short-circuit", Mem(nova_mem::short_circuit::run), "builds arrays where they would be copied to");

/// Runs after the translation to loops, and after passes that leave variables without a reader.
const TIDY: Pass = row(NEEDED, Any, "tidy", Loop(nova_loop_opt::tidy::run), "removes variables of loops that nobody reads, and what is left empty");

/// Runs before copies are propagated, so that these stand with their values. Runs again after it,
/// where other statements have become the first to mention a variable.
const DECLARATIONS: Pass = row(O0, Any, "declarations", C(nova_c_ast::passes::declare::run), "declares variables where they get their first value");

/// All passes, in the order in which they run; a pass may run several times.
pub const PASSES: &[Pass] = &[
    row(NEEDED, Any, "lower", CoreToFlat(steps::lower), "makes it first-order: closures, tuples and sums become components of arrays"),
    SIMPLIFY,
    row(O2, Any, "tail-loops", Flat(nova_opt::tail_loops::run), "makes loops of functions that call themselves last"),
    row(O2, Any, "inline", Flat(nova_opt::inline::run), "puts short functions, and those called once, where they are called"),
    row(O3, Any, "inline", Flat(nova_opt::inline::run_longer), "puts longer functions where they are called"),
    SIMPLIFY,
    row(O2, Processor, "tables", FlatNoted(nova_opt::tables::run_with_smaller_tables), "keeps recursive data as tables of nodes between operations on all nodes, and makes these smaller in loops"),
    row(O2, Device, "tables", FlatNoted(nova_opt::tables::run), "keeps recursive data as tables of nodes between operations on all nodes"),
    SIMPLIFY,
    row(NEEDED, Any, "expand-tables", FlatToFlat(steps::expand_tables), "converts data to tables of nodes and back with operations on nodes"),
    INDUCTION,
    SIMPLIFY,
    row(O1, Any, "bounds", Flat(nova_opt::bounds::run_early), "decides comparisons that always come out the same, and so drops checks"),
    SIMPLIFY,
    LICM,
    LOOP_VERSIONING,
    SIMPLIFY,
    BLOCKS,
    ADDENDS,
    row(O2, Any, "shapes", Flat(nova_opt::shapes::run), "keeps the shape of nested vectors whose elements are mapped"),
    SIMPLIFY,
    row(O2, Any, "neutral-starts", Flat(nova_opt::neutral_starts::run), "begins minima and maxima of arrays with the neutral element in place of the first element"),
    row(O2, Any, "prefixes", Flat(nova_iterate::prefixes::run), "makes only those elements at the start of an array that are used"),
    row(O1, Any, "sort-keys", FlatFor(steps::sort_keys), "sorts by unsigned keys where a comparison has the order of numbers"),
    SIMPLIFY,
    // Before fusion too, so that equal extents have one name.
    CSE,
    SIMPLIFY,
    row(O2, Any, "fuse", FlatFor(steps::fuse), "makes one operation of several, and drops the arrays between them"),
    SIMPLIFY,
    row(O2, Any, "unroll", FlatFor(steps::unroll), "makes straight-line code of loops of a few iterations inside of others"),
    SIMPLIFY,
    CSE,
    SIMPLIFY,
    row(O2, Any, "delinearise", FlatFor(steps::delinearise), "gives rows and columns to maps that compute them from their index"),
    SIMPLIFY,
    INDUCTION,
    SIMPLIFY,
    BOUNDS,
    SIMPLIFY,
    BLOCKS,
    ADDENDS,
    row(O2, Any, "narrow", Flat(nova_opt::bounds::run_narrow), "computes those elements of an array that a map changes, in place, and no others"),
    SIMPLIFY,
    row(O2, Processor, "speculate", Flat(nova_opt::bounds::run_speculate), "reads before a condition what is in range whether it holds or not"),
    LICM,
    LICM_CHECKS,
    SIMPLIFY,
    // Once more, since checks that stand before a loop by now tell what is in range inside of it.
    BOUNDS,
    SIMPLIFY,
    row(O2, Any, "flatten-regular", Flat(nova_opt::flatten_regular::run), "makes one matrix of rows that all have one length"),
    SIMPLIFY,
    row(O2, Any, "padding", Flat(nova_iterate::padding::run), "reads a vector itself where its padded copy would be read"),
    // Once more, since rows that all have one length need no checks of each.
    BOUNDS,
    LICM_CHECKS,
    SIMPLIFY,
    // Once more, since the state of a loop may be such rows.
    LOOP_VERSIONING,
    row(O2, Processor, "agreeing-extents", Flat(nova_iterate::agreeing_extents::run), "copies loops for arrays of equal extents, and for extents that are constants"),
    SIMPLIFY,
    BOUNDS,
    LICM_CHECKS,
    SIMPLIFY,
    row(O2, Any, "interleave", Flat(nova_opt::interleave::run), "writes vectors of n numbers where their numbers are to lie"),
    row(O2, Any, "zeros", Flat(nova_opt::zeros::run), "adds nothing to a sum where a condition chose to add zero"),
    row(O2, Processor, "gather-tables", FlatFor(steps::gather_tables), "gathers once before a loop what every iteration would gather anew"),
    row(O2, Processor, "temporal-blocking", FlatFor(steps::temporal_blocking), "takes several steps of a loop over an array in one pass over it, in place"),
    SIMPLIFY,
    row(NEEDED, Processor, PROFILE, Flat(nova_opt::profile::run), "marks the operations and loops whose time a profile takes"),
    row(NEEDED, Any, "tail-calls", Flat(nova_opt::tail_calls::run), "makes functions that call each other last run in constant space"),
    row(O1, Any, "outline", Flat(nova_opt::outline::run), "splits functions that are too long for C compilers"),
    row(NEEDED, Any, HONOUR, FlatFor(steps::honour), "gives to threads the maps that the program gives to them"),
    row(O2, Processor, "rfactor", FlatFor(steps::rfactor), "lets threads share the rows where columns are reduced"),
    row(O1, Any, PARALLELISE, FlatFor(steps::parallelise), "parallelises operations, where the target has threads"),
    row(O2, Processor, "together", FlatFor(steps::together), "reduces four rows at a time that read something in common"),
    row(O2, Processor, "measure", Flat(nova_opt::measure::run), "adds up the lengths of rows before these are made, where both costs little"),
    row(NEEDED, Any, "memory", FlatToMem(steps::introduce), "gives every array its block of memory and its place there"),
    SHORT_CIRCUIT,
    row(O2, Any, "reuse", MemFor(steps::reuse), "writes arrays over those that they replace, where nobody needs these any more"),
    row(O2, Any, "settle", Mem(nova_mem::settle::run), "keeps the states of loops in one place each, where nobody else holds them"),
    SHORT_CIRCUIT,
    row(NEEDED, Any, "loops", MemToLoop(steps::translate), "turns array operations into loops over memory"),
    TIDY,
    row(O1, Processor, "locals", Loop(nova_loop_opt::locals::run), "keeps small temporary arrays on the stack"),
    row(O1, Device, "locals", Loop(nova_loop_opt::locals::run_for_device), "keeps small temporary arrays on the stack of the host or of a thread"),
    row(O2, Processor, "invariant-checks", Loop(nova_loop_opt::invariant_checks::run), "makes checks before a loop that are the same in each iteration"),
    row(O2, Processor, "loop-unswitching", Loop(nova_loop_opt::loop_unswitching::run), "decides before a loop a condition that is the same in all iterations"),
    row(O2, Processor, "index-set-splitting", Loop(nova_loop_opt::index_set_splitting::run), "splits loops at their ends and makes indices plain, for vector instructions"),
    row(O2, Device, "index-set-splitting", Loop(nova_loop_opt::index_set_splitting::run_for_device), "splits loops of one thread at their ends and makes indices plain"),
    TIDY,
    row(O2, Processor, "narrow-accumulators", Loop(nova_loop_opt::narrow_accumulators::run), "adds small integers in narrow lanes, of which a vector holds more"),
    TIDY,
    row(O2, Processor, "lockstep", Loop(nova_loop_opt::lockstep::run), "takes iterations that contain loops some at a time, in lanes"),
    TIDY,
    row(O2, Processor, "rsqrt-refinement", Loop(nova_loop_opt::rsqrt_refinement::run), "gives reciprocal square roots in loops over lanes a loop of their own"),
    row(O2, Processor, "chained-scan", Loop(nova_loop_opt::chained_scan::run), "makes one loop of the three of a chunked scan, with an ordered region"),
    row(NEEDED, Any, "empties", Loop(nova_loop_opt::empties::run), "leaves out nests of loops whose inner loops have no iterations"),
    row(O2, Processor, "unroll-and-jam", Loop(nova_loop_opt::unroll_and_jam::run), "takes four rows at a time where neighbours read the same memory"),
    row(O2, Processor, "strip-mining", Loop(nova_loop_opt::strip_mining::run), "works in strips: large results past the caches, long chains in two halves, scans in vectors"),
    row(NEEDED, Processor, PARALLEL_REGIONS, Loop(nova_loop_opt::parallel_regions::run), "gives to one thread the loops that threads cannot share"),
    row(NEEDED, Device, "thread-instances", Loop(nova_kernels::kernels::instances::run), "makes functions of one thread of those whose loops work-groups run"),
    row(NEEDED, Device, "work-groups", Loop(nova_kernels::work_groups::run), "places the arrays of work-groups, and puts barriers between their uses"),
    row(NEEDED, Device, KERNELS, Loop(nova_kernels::kernels::run), "gives to the host the loops that a device cannot run"),
    row(NEEDED, Device, "call-stack", Loop(nova_kernels::call_stack::run), "gives recursive functions of kernels a stack of their own"),
    row(O2, Device, "thread-coarsening", Loop(nova_kernels::thread_coarsening::run), "gives several elements to each thread of a short kernel, for loads in flight"),
    row(NEEDED, Any, "filter-assertions", Loop(nova_loop_opt::filter_assertions::run), "checks that no chunk of a filter writes more than was counted for it"),
    row(O2, Device, "vectors", Loop(nova_kernels::vectors::run), "puts loads and stores of neighbours together, for vectors of a device"),
    row(NEEDED, Device, "coherence", Loop(nova_kernels::coherence::run), "says where the host needs arrays that may be on the device"),
    row(O1, Processor, "reclaim", Loop(nova_reclaim::nodes::run), "reclaims nodes of recursive data that a loop has made and no longer needs"),
    row(O1, Device, "reclaim", Loop(nova_reclaim::nodes::run_for_device), "reclaims nodes of recursive data that a loop of the host has made and no longer needs"),
    row(NEEDED, Any, "witness", Settle, "proves that the iterations of parallel loops do not meet"),
    row(NEEDED, Any, "emit", LoopToC(steps::emit), "makes C of commands"),
    row(NEEDED, Any, "dead-variables", C(nova_c_ast::passes::signature::run), "removes variables and parameters that nobody reads: compilers warn of them"),
    DECLARATIONS,
    row(O0, Any, "copies", C(nova_c_ast::passes::copies::run), "replaces variables that only hold the value of another one"),
    DECLARATIONS,
    row(NEEDED, Any, "nesting", C(nova_c_ast::passes::nesting::run), "keeps the nesting of statements within what C compilers accept"),
    row(NEEDED, Any, "unsigned-accumulators", C(nova_c_ast::passes::accumulators::run), "gives accumulators that wrap unsigned types: gcc adds some lanes of signed ones wrongly"),
    row(NEEDED, Any, "chosen-states", C(nova_c_ast::passes::choices::run), "marks states that are chosen among constants: gcc computes some of them in vectors wrongly"),
    row(NEEDED, Processor, PROFILE, CNamed(steps::take_times), "takes the times of calls and of parallel regions"),
    row(NEEDED, Any, "print", CToFiles(nova_c::files), "writes the files, with the parts of the runtime that they use"),
];
