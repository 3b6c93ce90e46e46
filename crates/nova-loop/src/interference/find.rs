//! Finds witnesses. Nothing here is trusted: what is proposed is what the rules accept.

use super::frames::{Frame, Turn};
use super::rules::Judgement;
use super::walk::Walk;
use super::witness::{Reason, Witness};

/// How many of the numbers that an iteration declares are tried as beginnings and lengths.
const MOST_NUMBERS: usize = 4;

/// The lists of reasons that may hold for a loop, the simplest first.
fn candidates(walk: &Walk, frame: &Frame) -> Vec<Vec<Reason>> {
    let mut found = vec![vec![Reason::Apart], vec![Reason::Contended]];
    if frame.turn != Turn::Before {
        found.insert(0, vec![Reason::Turns]);
        found.push(vec![Reason::Apart, Reason::Turns]);
        if !frame.handed.is_empty() {
            found.push(vec![Reason::Apart, Reason::HandedOn]);
        }
    }
    if frame.phase > 0 {
        found.insert(0, vec![Reason::Phases]);
        found.push(vec![Reason::Apart, Reason::Phases]);
    }
    let is_read = |base| walk.loads.keys().any(|(other, _)| *other == base);
    for scan in walk.tables.scans().iter().rev() {
        if is_read(scan.begins) {
            found.push(vec![Reason::Apart, Reason::Scan(scan.index)]);
            if !frame.late.is_empty() || !frame.late_where.is_empty() {
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
    let numbers = &frame.numbers[..frame.numbers.len().min(MOST_NUMBERS)];
    for low in numbers {
        for length in numbers.iter().filter(|length| *length > low) {
            let segment = Reason::Segment(*low, *length);
            found.push(match frame.turn {
                Turn::Before => vec![segment],
                Turn::In | Turn::After => vec![segment, Reason::Turns],
            });
        }
    }
    if !frame.late.is_empty() {
        found.push(vec![Reason::Apart, Reason::Checked]);
    }
    found
}

/// The witness of a loop, as far as there is one.
pub(super) fn witness(judgement: &mut Judgement) -> Witness {
    let mut witness = Witness::default();
    let mut refused = Vec::new();
    let candidates = candidates(judgement.walk, judgement.frame);
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
