//! A test whether the programs find mistakes that are seeded in the compiler (`defects.rs`).
//!
//! A mistake is seeded at a stage of the compiler, and the interpreters of the stages after it run
//! the program. C is compiled only for mistakes of the C emitter. Programs with large vectors are
//! left out, since these interpreters are slow.

use super::trial::file_of;
use super::{File, Program};
use crate::defects::{Defect, named};
use crate::stages::{How, Loaded, Passes, SMALL_TILES, Stages, disagreement};
use nova_core::Value;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The optimisation level of the C compiler.
const LEVEL_OF_C: u8 = 3;

/// Seeds each mistake in turn, on all processors, and prints the program that finds it first.
/// Returns true if `count` programs find all. If there are words, only the mistakes whose names
/// contain them are seeded.
pub fn find(count: u64, words: &str) -> bool {
    let defects = named(words);
    let (next, found) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((number, defect)) = {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    defects.get(number).map(|defect| (number, *defect))
                } {
                    let seed = (0..count).find(|seed| finds(*seed, defect));
                    if let Ok(mut found) = found.lock() {
                        found.insert(number, seed);
                    }
                }
            });
        }
    });
    let found = found.into_inner().unwrap_or_default();
    let mut missed = 0;
    for (number, defect) in defects.iter().enumerate() {
        match found.get(&number).copied().flatten() {
            Some(seed) => println!("found    {:55} by program {seed}", defect.name),
            None => {
                missed += 1;
                println!("MISSED   {:55} by {count} programs", defect.name);
            }
        }
    }
    println!(
        "seeded bugs: {} found, {missed} missed",
        defects.len() - missed
    );
    missed == 0
}

/// True if a program fails with a mistake, and does not fail without it.
fn finds(seed: u64, defect: &Defect) -> bool {
    let file = File::new(file_of(seed), true);
    let program = file.program(seed);
    let text = format!("{}{}", file.head, program.text);
    let with_c = defect.of_text().is_some();
    !program.large
        && fails(&text, &program, Some(defect), with_c)
        && !fails(&text, &program, None, with_c)
}

fn fails(text: &str, program: &Program, defect: Option<&Defect>, with_c: bool) -> bool {
    let how = How {
        strict: true,
        passes: Passes::All,
        verify: false,
        defect,
        tiles: SMALL_TILES,
    };
    let Ok(stages) = Stages::compile("conformance", text, how) else {
        return true;
    };
    if !with_c {
        return disagrees(&stages, program, None);
    }
    if defect.is_some() && !stages.is_seeded() {
        return false;
    }
    // A mistake that the C compiler refuses is not found by a program.
    Loaded::new("conformance", &stages, LEVEL_OF_C)
        .is_ok_and(|loaded| disagrees(&stages, program, Some(&loaded)))
}

fn disagrees(stages: &Stages, program: &Program, loaded: Option<&Loaded>) -> bool {
    program.runs.iter().any(|texts| {
        let Some(inputs) = values(stages, texts) else {
            return false;
        };
        let mut outcomes = stages.evaluate(0, &inputs);
        outcomes.extend(loaded.map(|loaded| (loaded.stage(), loaded.call(0, &inputs))));
        disagreement(&outcomes).is_some()
    })
}

fn values(stages: &Stages, texts: &[String]) -> Option<Vec<Value>> {
    let core = &stages.core;
    let inputs = core.entries.first()?.inputs.iter().zip(texts);
    let read = |(input, text): (&nova_core::ir::Variable, &String)| {
        nova_core::text::read_value(text, &core.variable(*input).ty, &core.sums).ok()
    };
    inputs.map(read).collect()
}
