//! The check of the parallel loops of a program, and the search for their witnesses.

use crate::blocks::{self, Blocks};
use crate::refusal::{Refusal, Rule};
use crate::rules::Judgement;
use crate::{extents, walk};
use nova_loop::error::InternalError;
use nova_loop::ir::{Command, FunctionId, Level, Program, Variable, Witness};
use nova_loop::walk::each_command;
use std::collections::{BTreeMap, BTreeSet};

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
        let witness = crate::find::witness(judgement);
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
