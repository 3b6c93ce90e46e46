//! The interference checker: no iteration of a parallel loop writes what another one reads or writes
//! (funmem.txt equation 4, dpia.txt §3; architecture, invariant 10).
//!
//! **What is proved.** Of each loop whose iterations several may run (every level but `sequential` and
//! `written_out`): for each path on which an iteration writes elements of a block, against each path
//! to the same block, that two different iterations do not use one element, or that one of them has
//! done so before the other one may. Paths are what [`walk`] collects: loads, stores, and what
//! commands on many elements read and write, at any depth, with all that is known where they stand.
//!
//! **Who is trusted.** [`find`](mod@find) proposes a [`Witness`]; nobody trusts it. [`check`] takes
//! nothing but the program and the witness, follows no hints from earlier passes, and refuses what
//! it cannot prove. It believes what the verifier checks (scopes, types, references), and
//! 1. that arithmetic on `i64` does not wrap where addresses and counts are computed, and in sums that
//!    say where parts begin (scans of offsets, what turns hand on), since what they count fits in memory;
//! 2. that every access lies in the block that its pointer leads to, or in the part of one, and reads
//!    what was written;
//! 3. what `ir` says of commands: `Allocate` and `Keep` take no negative number of elements, `PlanNonTemporal` gives
//!    -1 or less than its width, the copies of `Unique` are of blocks that others hold too;
//! 4. that lengths of a caller's arrays are not negative, as the border checks;
//! 5. where `nodes_by_threads` is set, that threads which append nodes to one table get different ones;
//!    an iteration knows no others than its own and those from around the loop, since links reach it
//!    only by memory and variables, whose paths are checked;
//! 6. that the place of `Spare` is none of those into which the pointers that it names lead;
//! 7. that where `Contend` lets any value stay, the values are equal or nobody looks at the element
//!    (`Positions::Unordered` of Flat promises that);
//! 8. for [`Reason::Checked`], that a `Check` ends the program: iterations may meet before it fails.
//!
//! **How.** [`values`] tells scalars as sums of products of symbols, and pointers as an index behind a
//! base; [`prover`] shows that a sum is never negative. For iterations p < q, the later one's symbols
//! are renamed and its index is p + 1 + d; the two places must then differ the same way round for
//! all p and d, by what either iteration knows. Bases are of one block unless the program shows that
//! they are not ([`blocks`]): other allocations, a block that was allocated after the other
//! pointer was made, or one that no node held yet when the other was read from a node. What a function
//! was given may all be one block, which nobody writes.
//!
//! | rule | a loop is refused where |
//! | --- | --- |
//! | [`Rule::Scalars`] | an iteration assigns a variable from around the loop |
//! | [`Rule::Handles`] | it counts references of a block from around the loop, or hands such a handle on |
//! | [`Rule::WholeCall`] | it returns, traces, calls foreign functions with effects, allocates a result, or appends nodes that threads may not append |
//! | [`Rule::Inputs`] | it calls a function that writes what it was given |
//! | [`Rule::Blocks`] | it writes through one pointer what another one may lead to |
//! | [`Rule::Fields`] | it leaves its field of the structures of a result |
//! | [`Rule::Elements`] | no reason of the witness keeps two paths to one block apart |
//! | [`Rule::Contended`] | several write one element, not all of them by `Contend`, or not all so that the same value stays |
//! | [`Rule::Turns`] | they are ordered by turns, but not both before or in, and in or behind, a turn |
//! | [`Rule::HandedOn`] | it hands on from turn to turn a sum of what may be negative |
//! | [`Rule::Addends`] | a scan of offsets adds what may be negative |
//! | [`Rule::Limits`] | parts end where a bisection finds a limit that may be greater than the next part's |
//! | [`Rule::Checks`] | a part looks at where the next one begins, but not wherever there is one |
//! | [`Rule::Divisions`] | a quotient and a remainder are not of the same division |
//! | [`Rule::Quotients`] | a quotient of another number than the iteration's may fall |
//! | [`Rule::Sizes`] | rows have a length of which only the size of an array tells the sign |
//! | [`Rule::Chosen`] | a pointer leads where one branch has left it, and not the other |
//! | [`Rule::Carried`] | a pointer leads where a loop of one thread has left it |
//! | [`Rule::Barriers`] | a barrier stands where not all iterations reach it together |
//! | [`Rule::Waits`] | threads of a work-group use an array that another one writes, with no barrier between ([`waits`]) |
//! | [`Rule::Places`] | an array of a group is made again over one that is still used, or threads write together what each has for itself |
//!
//! Private memory needs no reason: a block that an iteration allocates is its own, since pointers are
//! not stored in memory, and no variable from around the loop is assigned. A part of an array is too,
//! once it is proved that other iterations use none of its elements, as if it were written where it is
//! declared.

mod bisections;
mod blocks;
mod branches;
mod bulk;
mod carried;
mod commands;
mod extents;
mod find;
mod frames;
mod handed;
mod holding;
mod invariants;
mod iteration;
mod operations;
mod polynomial;
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

/// What the checker asks of a parallel loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// An iteration assigns no variable from around the loop.
    Scalars,
    /// An iteration counts no references of what is from around the loop.
    Handles,
    /// An iteration uses nothing that belongs to the whole call, and does not leave the function.
    WholeCall,
    /// Functions that iterations call write nothing that they were given.
    Inputs,
    /// Pointers lead to different blocks, or are the same.
    Blocks,
    /// Elements that lie between those of other arrays are reached at their stride.
    Fields,
    /// Places in one block differ.
    Elements,
    /// What several write in one step they all write so, and the same of their values stays.
    Contended,
    /// What is done in turn is ordered.
    Turns,
    /// The addends of what is handed on in turns are not negative.
    HandedOn,
    /// The addends of a scan of offsets are not negative.
    Addends,
    /// The limits of bisections rise with the iterations.
    Limits,
    /// Iterations check against the next one wherever there is one.
    Checks,
    /// Quotients and remainders are those of the same numbers.
    Divisions,
    /// The quotients that rise with the iterations are those of their own numbers.
    Quotients,
    /// Factors of a size are not negative where the others are positive.
    Sizes,
    /// Behind branches, pointers lead where any of them has left them.
    Chosen,
    /// Pointers lead where the rounds of a loop have left them.
    Carried,
    /// All iterations reach a barrier together.
    Barriers,
    /// Threads of a group wait between what they do to one array.
    Waits,
    /// An array of a group has one place, whenever it is made, and an array on the stack is the thread's.
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
    Rule::Turns,
    Rule::HandedOn,
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

/// Why a parallel loop is not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The index of the loop, which names it.
    pub index: Variable,
    /// The rule that it breaks.
    pub rule: Rule,
    /// How, for people.
    pub message: String,
}

/// What was found out about the parallel loops of a program.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// The loops, with the witnesses that were found.
    pub witnesses: BTreeMap<Variable, Witness>,
    /// What is wrong.
    pub refusals: Vec<Refusal>,
}

/// Checks the loops of a program that have a witness.
///
/// # Errors
/// What is wrong with them.
pub fn verify(program: &Program) -> Result<(), Vec<InternalError>> {
    if program.witnesses.is_empty() {
        return Ok(());
    }
    let refusals = check(program, &program.witnesses, &BTreeSet::new());
    let told = refusals
        .iter()
        .filter(|r| program.witnesses.contains_key(&r.index));
    let errors: Vec<InternalError> = told
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

/// Finds witnesses for the parallel loops of a program, and says which loops have none.
pub fn find(program: &Program) -> Findings {
    let none = BTreeSet::new();
    let mut findings = Findings::default();
    let refusals = each_loop(program, &none, &mut |judgement| {
        let witness = find::witness(judgement);
        findings.witnesses.insert(judgement.frame.index, witness);
    });
    findings.refusals = refusals;
    findings
}

/// Checks the parallel loops of a program by their witnesses; `without` are rules that are not asked
/// for, to test the others.
pub fn check(
    program: &Program,
    witnesses: &BTreeMap<Variable, Witness>,
    without: &BTreeSet<Rule>,
) -> Vec<Refusal> {
    let nothing = Witness::default();
    each_loop(program, without, &mut |judgement| {
        let witness = witnesses.get(&judgement.frame.index);
        judgement.check(witness.unwrap_or(&nothing));
    })
}

/// The pointers from around each parallel loop that its iterations write through.
pub fn writes(program: &Program) -> BTreeMap<Variable, BTreeSet<Variable>> {
    let none = BTreeSet::new();
    let mut found = BTreeMap::new();
    each_loop(program, &none, &mut |judgement| {
        found.insert(judgement.frame.index, judgement.written());
    });
    found
}

/// True if commands have a loop whose iterations several may run.
fn is_parallel(commands: &[Command]) -> bool {
    let mut found = false;
    each_command(commands, |command| {
        found |= match command {
            Command::For { level, .. } => !matches!(level, Level::Sequential | Level::WrittenOut),
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
        let writes = walk::walk(known, function, &mut |walk, frame| {
            let mut judgement = Judgement::new(walk, frame, without);
            see(&mut judgement);
            refusals.append(&mut judgement.refusals);
            calls.push((frame.index, frame.calls.clone()));
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
