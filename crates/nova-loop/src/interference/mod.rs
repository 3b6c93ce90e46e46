//! draft

mod blocks;
mod branches;
mod commands;
mod find;
mod invariants;
mod polynomial;
mod prover;
mod rising;
mod rules;
mod tables;
mod values;
mod walk;
mod witness;

use crate::ir::{FunctionId, Program, Variable};
use blocks::Blocks;
use rules::Judgement;
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
    /// What is done in turn is ordered.
    Turns,
    /// The addends of a scan of offsets are not negative.
    Addends,
    /// All iterations reach a barrier together.
    Barriers,
}

/// All rules.
pub const RULES: [Rule; 10] = [
    Rule::Scalars,
    Rule::Handles,
    Rule::WholeCall,
    Rule::Inputs,
    Rule::Blocks,
    Rule::Fields,
    Rule::Elements,
    Rule::Turns,
    Rule::Addends,
    Rule::Barriers,
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

/// Finds witnesses for the parallel loops of a program, and says which loops have none.
pub fn find(program: &Program) -> Findings {
    let none = BTreeSet::new();
    let mut findings = Findings::default();
    let refusals = each_loop(program, &none, &mut |judgement| {
        let witness = find::witness(judgement);
        judgement.refusals.clear();
        *judgement = Judgement::new(judgement.walk, judgement.frame, judgement.without);
        judgement.check(&witness);
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

fn each_loop(
    program: &Program,
    without: &BTreeSet<Rule>,
    see: &mut dyn FnMut(&mut Judgement),
) -> Vec<Refusal> {
    let blocks = Blocks::of(program);
    let mut refusals = Vec::new();
    let mut writers = BTreeSet::new();
    let mut calls: Vec<(Variable, BTreeSet<FunctionId>)> = Vec::new();
    for (k, function) in program.functions.iter().enumerate() {
        let writes = walk::walk(program, &blocks, function, &mut |walk, frame| {
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
