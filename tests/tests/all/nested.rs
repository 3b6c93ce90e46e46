//! Tests of the nested programs of `tests/nested` at every stage, on all targets and every level,
//! under `--fp strict`. The interpreters and the C agree on small inputs, all C on large ones
//! (except that for CUDA, which is emulated), to the last bit. Large inputs may end with another of
//! several errors. Each file is compiled in some of the ways.

use nova_tests::effort;
use nova_tests::nested::{SMALL, files, inputs, large_inputs, with_each_file};
use nova_tests::stages::{How, Loaded, Outcome, Passes, Stages, disagreement};

/// Passes, and the optimisation level of the C compiler. Optimisation takes twice the time, so it
/// is done once for each target of C.
type Way = (Passes, u8);

/// The first way of every file, with which the other ways are compared.
const FIRST: Way = (Passes::All, 1);

/// The other ways. Each file is compiled in one of these for each change, otherwise in three, which are not
/// those of the file before it.
const WAYS: [Way; 8] = [
    (Passes::Level(0), 0),
    (Passes::Threads(1), 0),
    (Passes::Kernels(0), 0),
    (Passes::Threads(2), 0),
    (Passes::Parallelised, 1),
    (Passes::Kernels(2), 0),
    (Passes::Threads(3), 0),
    (Passes::Cuda(2), 0),
];

/// Returns the ways of the file with this number.
fn ways_of(file: usize) -> impl Iterator<Item = Way> {
    let others = WAYS.into_iter().cycle().skip(3 * file % WAYS.len());
    let count = if effort::all() { 3 } else { 1 };
    let all = [FIRST].into_iter().chain(others.take(count));
    all.filter(|(passes, _)| passes.is_present())
}

/// A file of programs, compiled in one way.
struct Compiled {
    stages: Stages,
    loaded: Loaded,
    way: String,
}

impl Compiled {
    fn new(name: &str, text: &str, (passes, optimization): Way) -> Result<Self, String> {
        let how = How::strict(passes);
        let stages = Stages::compile(name, text, how)?;
        let loaded = Loaded::new(name, &stages, optimization)?;
        Ok(Compiled {
            stages,
            loaded,
            way: passes.name(),
        })
    }

    /// Adds the disagreements between the stages.
    fn check_small(&self, wrong: &mut Vec<String>) {
        let core = &self.stages.core;
        for (k, entry) in core.entries.iter().enumerate() {
            for (size, values) in inputs(core, entry, &SMALL) {
                let mut outcomes = self.stages.evaluate(k, &values);
                outcomes.push((self.loaded.stage(), self.loaded.call(k, &values)));
                if let Some(text) = disagreement(&outcomes) {
                    let (name, way) = (&entry.name, &self.way);
                    wrong.push(format!("{name} on {size:?}, {way}: {text}"));
                }
            }
        }
    }

    /// Returns the results of the C for each large input of each entry, with its name.
    fn large(&self) -> impl Iterator<Item = (String, Outcome)> {
        let core = &self.stages.core;
        core.entries.iter().enumerate().flat_map(move |(k, entry)| {
            let calls = large_inputs(core, entry).into_iter();
            calls.map(move |(size, values)| {
                let what = format!("{} on {size:?}", entry.name);
                (what, self.loaded.call(k, &values))
            })
        })
    }
}

#[test]
fn every_stage_target_and_level_agrees() {
    let files: Vec<String> = files()
        .expect("the programs")
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    let wrong = with_each_file(|name, text| {
        let number = files.iter().position(|file| file == name);
        let mut wrong = Vec::new();
        let mut expected: Vec<Outcome> = Vec::new();
        for way in ways_of(number.expect("a file")) {
            let compiled = Compiled::new(name, text, way)?;
            compiled.check_small(&mut wrong);
            if matches!(way.0, Passes::Cuda(_)) {
                // Emulated threads take too long for large inputs.
                continue;
            }
            let found: Vec<(String, Outcome)> = compiled.large().collect();
            for ((what, found), expected) in found.iter().zip(&expected) {
                let errors = matches!((found, expected), (Outcome::Error(_), Outcome::Error(_)));
                if !found.same(expected) && !errors {
                    let way = &compiled.way;
                    wrong.push(format!("{what}, {way}: {found} instead of {expected}"));
                }
            }
            if expected.is_empty() {
                expected = found.into_iter().map(|(_, outcome)| outcome).collect();
                let internal = expected.iter().find(|o| matches!(o, Outcome::Internal(_)));
                wrong.extend(internal.map(|outcome| outcome.to_string()));
            }
        }
        if wrong.is_empty() {
            Ok(())
        } else {
            Err(wrong.join("\n  "))
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
