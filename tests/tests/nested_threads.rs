//! Tests of the nested programs of `tests/nested` with pools of 1 to 64 threads, as compiled by
//! default and parallelised in small chunks under `--fp strict`. The results are the same to the
//! last bit, errors with their place.
//!
//! This test is alone in its program, since it sets the environment.

use nova_exec::cache::Cache;
use nova_tests::effort;
use nova_tests::nested::{SMALL, inputs, large_inputs, with_each_file};
use nova_tests::stages::{How, Loaded, Outcome, Passes, SMALL_TILES, Stages};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// The numbers of threads. The others are compared with the first.
const THREADS: [u32; 5] = [1, 2, 3, 8, 64];

/// True if programs of a file that are compiled in one of the ways run with that number of threads.
/// `way` and `threads` are indices. The first number always runs, the others each with half of the
/// programs, or for each change with a quarter.
fn is_tried(file: usize, way: usize, threads: usize) -> bool {
    let share = if effort::all() { 2 } else { 4 };
    threads == 0 || (file + 2 * way + threads).is_multiple_of(share)
}

/// The ways: passes, a flag for strict order, and the optimisation level of the C compiler, which
/// takes twice the time.
const WAYS: &[(Passes, bool, u8)] = &[
    (Passes::Threads(2), false, 1),
    (Passes::Parallelised, true, 0),
];

/// The results of an entry, with the names of its inputs.
type Calls = Vec<(String, Outcome)>;

fn call_all(stages: &Stages, loaded: &Loaded) -> Calls {
    let core = &stages.core;
    let mut calls = Vec::new();
    for (k, entry) in core.entries.iter().enumerate() {
        let small = inputs(core, entry, &SMALL).into_iter();
        for (size, values) in small.chain(large_inputs(core, entry)) {
            let what = format!("{} on {size:?}", entry.name);
            calls.push((what, loaded.call(k, &values)));
        }
    }
    calls
}

#[test]
fn every_number_of_threads_gives_the_same() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let cache = Cache::in_folder(folder.path());
    let compiled: Mutex<BTreeMap<String, Vec<Stages>>> = Mutex::default();
    let wrong = with_each_file(|name, text| {
        for &(passes, strict, _) in WAYS {
            let how = How {
                strict,
                passes,
                verify: false,
                defect: None,
                tiles: SMALL_TILES,
            };
            let stages = Stages::compile(name, text, how)?;
            let mut compiled = compiled.lock().expect("no panic");
            compiled.entry(name.to_string()).or_default().push(stages);
        }
        Ok(())
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let compiled = compiled.into_inner().expect("no panic");
    let expected: Mutex<BTreeMap<String, Vec<Calls>>> = Mutex::default();
    for (place, threads) in THREADS.into_iter().enumerate() {
        // SAFETY: no other thread runs except the one that waits for this test.
        unsafe { std::env::set_var("NOVA_NUM_THREADS", threads.to_string()) };
        let wrong = with_each_file(|name, _| {
            let file = compiled.range(..name.to_string()).count();
            let mut found = Vec::new();
            for (way, stages) in compiled[name].iter().enumerate() {
                if !is_tried(file, way, place) {
                    continue;
                }
                // A library that is loaded anew makes a new pool.
                let (.., optimization) = WAYS[way];
                let loaded = Loaded::new_in(name, stages, optimization, Some(&cache))?;
                found.push((way, call_all(stages, &loaded)));
            }
            let mut expected = expected.lock().expect("no panic");
            let Some(expected) = expected.get(name) else {
                expected.insert(
                    name.to_string(),
                    found.into_iter().map(|(_, calls)| calls).collect(),
                );
                return Ok(());
            };
            let pairs = found
                .iter()
                .flat_map(|(way, calls)| calls.iter().zip(&expected[*way]));
            let differ =
                |((what, found), (_, expected)): (&(String, Outcome), &(String, Outcome))| {
                    (!found.same(expected))
                        .then(|| format!("{what}: {found} instead of {expected}"))
                };
            let differences: Vec<String> = pairs.filter_map(differ).collect();
            if differences.is_empty() {
                Ok(())
            } else {
                Err(differences.join("\n  "))
            }
        });
        assert!(wrong.is_empty(), "{threads} threads: {}", wrong.join("\n"));
    }
}
