//! The interference checker proves that no iteration of a parallel loop writes what another one reads
//! or writes (funmem.txt equation 4, dpia.txt §3; architecture, invariant 10).
//!
//! **Property.** The checker looks at each loop whose iterations may run in parallel (every level but
//! `sequential` and `unrolled`). It compares each path on which an iteration writes elements of a
//! block with each path to the same block. It proves that two different iterations do not use one
//! element, or that one of them has done so before the other one may. [`walk`] collects the paths:
//! loads, stores, and the reads and writes of commands on many elements, at any depth. It also collects
//! the facts that hold on each path.
//!
//! **Trust.** [`find`](mod@find) proposes a [`Witness`], which is not trusted. [`check`] takes
//! only the program and the witness, follows no hints from earlier passes, and refuses what
//! it cannot prove. It relies on what the verifier checks (scopes, types, references), and assumes:
//! 1. Arithmetic on `i64` does not wrap where addresses and counts are computed, nor in sums that give
//!    the starts of chunks (scans of offsets, propagated prefixes), since what they count fits in memory.
//! 2. Every access lies in the block that its pointer leads to, or in the part of one, and reads
//!    what was written.
//! 3. Commands do what `ir` says. `Allocate` and `StoreBuffer` take no negative number of elements.
//!    `PlanNonTemporal` gives a number from -1 to one less than its width. `Unique` copies only blocks
//!    that have other holders.
//! 4. The lengths of a caller's arrays are not negative, as the FFI boundary checks.
//! 5. Where `nodes_by_threads` is set, threads that append nodes to one table get different ones.
//!    An iteration knows only its own nodes and those from outside the loop: links reach it
//!    only by memory and variables, whose paths are checked.
//! 6. The place of `Spare` is none of those into which the pointers that it names lead.
//! 7. Where `Contend` lets any value stay, the values are equal or the element is not read
//!    (`Positions::Unordered` of Flat promises that).
//! 8. For [`Reason::Checked`], a `Check` ends the program: iterations may meet before it fails.
//!
//! **Method.** [`values`] expresses scalars as sums of products of symbols, and pointers as an index
//! from a base. [`prover`] shows that a sum is never negative. For iterations p < q, the later one's
//! symbols are renamed and its index is p + 1 + d. The two indices must then differ in the same
//! direction for all p and d, by the facts of either iteration. Two bases are taken for one block
//! unless the program shows that they are not ([`blocks`]). They are two blocks if different commands
//! allocated them, or if one block was allocated after the other pointer was made. They are also two if no
//! node held the one yet when the pointer to the other was read from a node. All arrays that a function
//! was given may be one block, which is not written.
//!
//! | rule | a loop is refused where |
//! | --- | --- |
//! | [`Rule::Scalars`] | an iteration assigns a variable from outside the loop |
//! | [`Rule::Handles`] | it counts references of a block from outside the loop, or passes such a handle on |
//! | [`Rule::WholeCall`] | it returns, traces, calls foreign functions with side effects, allocates a result, or appends nodes that threads may not append |
//! | [`Rule::Inputs`] | it calls a function that writes what it was given |
//! | [`Rule::Blocks`] | it writes through one pointer a block to which another one may lead |
//! | [`Rule::Fields`] | it leaves its field of the structures of a result |
//! | [`Rule::Elements`] | no reason of the witness keeps two paths to one block apart |
//! | [`Rule::Contended`] | several iterations write one element, not all of them by `Contend`, or not all so that the same value stays |
//! | [`Rule::Ordered`] | an ordered region is to order two paths, but the earlier iteration's is after its region, or the later one's is before |
//! | [`Rule::Propagated`] | a propagated prefix is a sum of addends that may be negative |
//! | [`Rule::Addends`] | a scan of offsets adds numbers that may be negative |
//! | [`Rule::Limits`] | chunks end where a bisection finds a limit that may be greater than the next chunk's |
//! | [`Rule::Checks`] | a chunk compares itself with the start of the next one, but not wherever there is a next one |
//! | [`Rule::Divisions`] | a quotient and a remainder are not of the same division |
//! | [`Rule::Quotients`] | a quotient of another number than the iteration's may fall |
//! | [`Rule::Sizes`] | rows have a length whose sign only the size of an array tells |
//! | [`Rule::Chosen`] | a pointer leads where one branch has left it, and not the other |
//! | [`Rule::Carried`] | a pointer leads where a sequential loop has left it |
//! | [`Rule::Barriers`] | a barrier stands where not all iterations reach it together |
//! | [`Rule::Waits`] | threads of a work-group use an array that another one writes, with no barrier between ([`waits`]) |
//! | [`Rule::Places`] | an array of a group is made again over one that is still used, or threads together write an array that each has for itself |
//!
//! Private memory needs no reason. A block that an iteration allocates is its own, since pointers are
//! not stored in memory, and no variable from outside the loop is assigned. A part of an array is
//! private, too, once it is proved that other iterations use none of its elements. For that proof the
//! checker treats the declaration of the part as a write to all of it.

mod bisections;
mod blocks;
mod branches;
mod bulk;
mod carried;
mod commands;
mod extents;
mod find;
mod holding;
mod invariants;
mod iteration;
mod loop_nest;
mod operations;
mod polynomial;
mod prefixes;
mod prover;
mod provers;
mod ranges;
mod rising;
mod rules;
mod settle;
mod sizes;
mod stale;
mod tables;
mod truths;
mod values;
mod waits;
mod walk;
mod witness;

use crate::error::InternalError;
use crate::ir::{Command, FunctionId, Level, Program, Variable};
use crate::walk::each_command;
use blocks::Blocks;
pub(crate) use blocks::written;
pub(crate) use rising::growing;
use rules::Judgement;
pub use settle::{Unproved, settle};
use std::collections::{BTreeMap, BTreeSet};
pub use witness::{Reason, Witness};

/// A requirement of the checker on a parallel loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// An iteration assigns no variable from outside the loop.
    Scalars,
    /// An iteration counts no references of blocks from outside the loop.
    Handles,
    /// An iteration uses no resource of the whole call, and does not leave the function.
    WholeCall,
    /// Functions that iterations call do not write their arguments' arrays.
    Inputs,
    /// Pointers lead to different blocks, or are the same.
    Blocks,
    /// Elements interleaved with those of other arrays are accessed at their stride.
    Fields,
    /// The elements that two iterations use in one block differ.
    Elements,
    /// All writes to an element that several iterations write are by `Contend` with the same rule.
    Contended,
    /// Paths that ordered regions are to order are ordered by them.
    Ordered,
    /// The addends of propagated prefixes are not negative.
    Propagated,
    /// The addends of a scan of offsets are not negative.
    Addends,
    /// The limits of bisections rise with the iterations.
    Limits,
    /// An iteration checks itself against the next one wherever there is one.
    Checks,
    /// Quotients and remainders are of the same numbers.
    Divisions,
    /// The quotients that rise with the iterations are quotients of the iterations' own numbers.
    Quotients,
    /// Factors of a size are not negative where the others are positive.
    Sizes,
    /// After branches, pointers lead where any of them has left them.
    Chosen,
    /// Pointers lead where the iterations of a sequential loop have left them.
    Carried,
    /// All iterations reach a barrier together.
    Barriers,
    /// A barrier separates conflicting accesses of the threads of a group to one array.
    Waits,
    /// Each array of a group has one place in memory, and an array on the stack belongs to its thread.
    Places,
}

/// All rules.
pub const RULES: [Rule; 21] = [
    Rule::Scalars,
    Rule::Handles,
    Rule::WholeCall,
    Rule::Inputs,
    Rule::Blocks,
    Rule::Fields,
    Rule::Elements,
    Rule::Contended,
    Rule::Ordered,
    Rule::Propagated,
    Rule::Addends,
    Rule::Limits,
    Rule::Checks,
    Rule::Divisions,
    Rule::Quotients,
    Rule::Sizes,
    Rule::Chosen,
    Rule::Carried,
    Rule::Barriers,
    Rule::Waits,
    Rule::Places,
];

/// The reason that a parallel loop is not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The index of the loop, which identifies it.
    pub index: Variable,
    /// The rule that it breaks.
    pub rule: Rule,
    /// An explanation for the user.
    pub message: String,
}

/// The results for the parallel loops of a program.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// The witnesses that were found, by the indices of the loops.
    pub witnesses: BTreeMap<Variable, Witness>,
    /// The rules that loops break.
    pub refusals: Vec<Refusal>,
}

/// Checks the loops of a program that have a witness.
///
/// # Errors
/// Returns one error for each rule that such a loop breaks.
pub fn verify(program: &Program) -> Result<(), Vec<InternalError>> {
    if program.witnesses.is_empty() {
        return Ok(());
    }
    let refusals = check(program, &program.witnesses, &BTreeSet::new());
    let of_witnesses = refusals
        .iter()
        .filter(|r| program.witnesses.contains_key(&r.index));
    let errors: Vec<InternalError> = of_witnesses
        .map(|refusal| InternalError {
            message: format!("{:?}: {}", refusal.rule, refusal.message),
            function: None,
            place: None,
        })
        .collect();
    match errors.is_empty() {
        true => Ok(()),
        false => Err(errors),
    }
}

/// Finds witnesses for the parallel loops of a program, and reports the loops that have none.
pub fn find(program: &Program) -> Findings {
    let none = BTreeSet::new();
    let mut findings = Findings::default();
    let refusals = each_loop(program, &none, &mut |judgement| {
        let witness = find::witness(judgement);
        findings
            .witnesses
            .insert(judgement.parallel_loop.index, witness);
    });
    findings.refusals = refusals;
    findings
}

/// Checks the parallel loops of a program by their witnesses. The rules in `without` are not applied,
/// which tests use to show that each rule is needed.
pub fn check(
    program: &Program,
    witnesses: &BTreeMap<Variable, Witness>,
    without: &BTreeSet<Rule>,
) -> Vec<Refusal> {
    let nothing = Witness::default();
    each_loop(program, without, &mut |judgement| {
        let witness = witnesses.get(&judgement.parallel_loop.index);
        judgement.check(witness.unwrap_or(&nothing));
    })
}

/// Returns for each parallel loop the pointers from outside through which its iterations write.
pub fn writes(program: &Program) -> BTreeMap<Variable, BTreeSet<Variable>> {
    let none = BTreeSet::new();
    let mut found = BTreeMap::new();
    each_loop(program, &none, &mut |judgement| {
        found.insert(judgement.parallel_loop.index, judgement.written());
    });
    found
}

/// True if commands contain a loop whose iterations may run in parallel.
fn is_parallel(commands: &[Command]) -> bool {
    let mut found = false;
    each_command(commands, |command| {
        found |= match command {
            Command::For { level, .. } => !matches!(level, Level::Sequential | Level::Unrolled),
            _others => false,
        };
    });
    found
}

fn each_loop(
    program: &Program,
    without: &BTreeSet<Rule>,
    see: &mut dyn FnMut(&mut Judgement),
) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let mut writers = BTreeSet::new();
    let mut calls: Vec<(Variable, BTreeSet<FunctionId>)> = Vec::new();
    if !program.functions.iter().any(|f| is_parallel(&f.body)) {
        return refusals;
    }
    let blocks = Blocks::of(program);
    let extents = extents::extents(program);
    let known = walk::Known {
        program,
        blocks: &blocks,
        extents: &extents,
        without,
    };
    for (k, function) in program.functions.iter().enumerate() {
        let writes = walk::walk(known, function, &mut |walk, parallel_loop| {
            let mut judgement = Judgement::new(walk, parallel_loop, without);
            see(&mut judgement);
            refusals.append(&mut judgement.refusals);
            calls.push((parallel_loop.index, parallel_loop.calls.clone()));
        });
        if writes {
            writers.insert(FunctionId(k as u32));
        }
    }
    let writers = blocks::with_callers(program, writers);
    for (index, called) in calls {
        if !called.is_disjoint(&writers) && !without.contains(&Rule::Inputs) {
            refusals.push(Refusal {
                index,
                rule: Rule::Inputs,
                message: "a function is called that writes what it is given".to_string(),
            });
        }
    }
    refusals
}
