//! Whether the programs find mistakes of the compiler that are seeded on purpose (`defects.rs`).
//!
//! A mistake is seeded at a stage of the compiler, and the interpreters of the stages after it are
//! asked; no C is compiled. Programs with large vectors are left out, since these interpreters are
//! slow.

use super::trial::file_of;
use super::{File, Program};
use crate::defects::{DEFECTS, Defect};
use crate::stages::{How, Passes, SMALL_TILES, Stages, disagreement};
use nova_core::Value;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Seeds each mistake in turn, on all processors, and says which program finds it first; whether all
/// are found by so many programs.
pub fn find(count: u64) -> bool {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((number, defect)) = {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    DEFECTS.get(number).map(|defect| (number, defect))
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
    for (number, defect) in DEFECTS.iter().enumerate() {
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
        DEFECTS.len() - missed
    );
    missed == 0
}

/// Whether a program fails with a mistake, and does not without.
fn finds(seed: u64, defect: &Defect) -> bool {
    let file = File::new(file_of(seed), true);
    let program = file.program(seed);
    let text = format!("{}{}", file.head, program.text);
    !program.large && fails(&text, &program, Some(defect)) && !fails(&text, &program, None)
}

fn fails(text: &str, program: &Program, defect: Option<&Defect>) -> bool {
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
    program.runs.iter().any(|texts| {
        let inputs = values(&stages, texts);
        let outcomes = inputs.map(|inputs| stages.evaluate(0, &inputs));
        outcomes.is_some_and(|outcomes| disagreement(&outcomes).is_some())
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
