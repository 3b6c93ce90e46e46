//! The search for witnesses. Nothing here is trusted: a witness proposes only reasons that the rules
//! accept.

use crate::loop_nest::{Ordered, ParallelLoop};
use crate::rules::Judgement;
use crate::walk::Walk;
use nova_loop::ir::{Reason, Witness};

/// The number of variables that an iteration declares that are tried as starts and lengths of segments.
const MOST_NUMBERS: usize = 4;

/// Returns the lists of reasons that may hold for a loop, the simplest first.
fn candidates(walk: &Walk, parallel_loop: &ParallelLoop) -> Vec<Vec<Reason>> {
    let mut found = vec![vec![Reason::Apart], vec![Reason::Contended]];
    if parallel_loop.ordered != Ordered::Before {
        found.insert(0, vec![Reason::Ordered]);
        found.push(vec![Reason::Apart, Reason::Ordered]);
        if !parallel_loop.prefixes.is_empty() {
            found.push(vec![Reason::Apart, Reason::Propagated]);
        }
    }
    if parallel_loop.phase > 0 {
        found.insert(0, vec![Reason::Phases]);
        found.push(vec![Reason::Apart, Reason::Phases]);
    }
    let is_read = |base| walk.state.loads.keys().any(|(other, _)| *other == base);
    for scan in walk.tables.scans().iter().rev() {
        if is_read(scan.begins) {
            found.push(vec![Reason::Apart, Reason::Scan(scan.index)]);
            if !parallel_loop.late.is_empty() || !parallel_loop.late_where.is_empty() {
                found.push(vec![
                    Reason::Apart,
                    Reason::Scan(scan.index),
                    Reason::Checked,
                ]);
            }
        }
    }
    if !walk.bisections.is_empty() {
        found.push(vec![Reason::Apart, Reason::Bisected]);
    }
    let numbers = &parallel_loop.numbers[..parallel_loop.numbers.len().min(MOST_NUMBERS)];
    for low in numbers {
        for length in numbers.iter().filter(|length| *length > low) {
            let segment = Reason::Segment(*low, *length);
            found.push(match parallel_loop.ordered {
                Ordered::Before => vec![segment],
                Ordered::In | Ordered::After => vec![segment, Reason::Ordered],
            });
        }
    }
    if !parallel_loop.late.is_empty() {
        found.push(vec![Reason::Apart, Reason::Checked]);
    }
    found
}

/// Returns the witness of a loop, and refuses the blocks for which no list of reasons suffices.
pub(crate) fn witness(judgement: &mut Judgement) -> Witness {
    let mut witness = Witness::default();
    let mut refused = Vec::new();
    let candidates = candidates(judgement.walk, judgement.parallel_loop);
    for pairs in judgement.pairs().into_values() {
        let Some((first, _)) = pairs.first() else {
            continue;
        };
        let fits = |reasons: &&Vec<Reason>| judgement.are_apart(&pairs, reasons).is_ok();
        match candidates.iter().find(fits) {
            Some(reasons) => {
                witness.blocks.insert(first.pointer, reasons.clone());
            }
            None => refused.push(first.pointer),
        }
    }
    for pointer in refused {
        judgement.refuse_elements(pointer);
    }
    witness
}
