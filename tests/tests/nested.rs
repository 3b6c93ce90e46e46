//! The nested programs of `tests/nested` at every stage, on every target and level, and with pools
//! of many threads: all must agree, to the last bit under `--fp strict`, and always to the last bit
//! among numbers of threads.

use nova_core::Value;
use nova_exec::cache::Cache;
use nova_tests::nested::{LARGE, SMALL, Size, files, inputs};
use nova_tests::stages::{How, Loaded, Outcome, Passes, SMALL_TILES, Stages, disagreement};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// What is compiled of each file: passes, and how far the C compiler optimises.
const WAYS: &[(Passes, u8)] = &[
    (Passes::Level(0), 0),
    (Passes::All, 1),
    (Passes::Threads(1), 1),
    (Passes::Threads(2), 2),
    (Passes::Threads(3), 1),
    (Passes::Divided, 1),
];

/// The numbers of threads that are compared.
const THREADS: [u32; 5] = [1, 2, 3, 8, 64];

fn how(strict: bool, passes: Passes) -> How<'static> {
    How {
        strict,
        passes,
        verify: true,
        defect: None,
        tiles: SMALL_TILES,
    }
}

/// Does something with each file of programs, on all processors, and fails with what it complains of.
fn with_each_file(check: impl Fn(&str, &str) -> Result<(), String> + Sync) {
    let work = Mutex::new(files().expect("the programs").into_iter());
    let wrong = Mutex::new(Vec::new());
    let next = || work.lock().expect("no panic").next();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |n| n.get()) {
            scope.spawn(|| {
                while let Some((name, text)) = next() {
                    if let Err(why) = check(&name, &text) {
                        wrong.lock().expect("no panic").push(format!("{name}: {why}"));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("no panic");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Calls every entry on inputs of some sizes.
fn each_call(
    stages: &Stages,
    sizes: &[Size],
    mut call: impl FnMut(&str, usize, Size, &[Value]) -> Result<(), String>,
) -> Result<(), String> {
    let mut wrong = Vec::new();
    for (entry, info) in stages.core.entries.iter().enumerate() {
        for (size, values) in inputs(&stages.core, entry, sizes) {
            if let Err(why) = call(&info.name, entry, size, &values) {
                wrong.push(format!("{} on {size:?}: {why}", info.name));
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n  ")) }
}

#[test]
fn every_stage_agrees_on_small_inputs() {
    with_each_file(|name, text| {
        for (passes, optimization) in WAYS {
            let stages = Stages::compile(name, text, how(true, *passes))?;
            let loaded = Loaded::new(name, &stages, *optimization)?;
            each_call(&stages, &SMALL, |_, entry, _, values| {
                let mut outcomes = stages.evaluate(entry, values);
                outcomes.push(("c", loaded.call(entry, values)));
                match disagreement(&outcomes) {
                    Some(text) => Err(format!("{}: {text}", passes.name())),
                    None => Ok(()),
                }
            })?;
        }
        Ok(())
    });
}
