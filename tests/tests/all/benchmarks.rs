//! Tests of the sixteen array benchmarks, a product of matrices and the nested examples against
//! independent references, on random and adversarial input. They run in the reference interpreter,
//! as sequential C, and as C with threads.

use nova_tests::bench::build::folder_of;
use nova_tests::random::Random;
use nova_tests::reference::{BENCHMARKS, LONG_MATMUL, MATMUL, NESTS, Summation, compare};
use nova_tests::stages::{How, Loaded, Outcome, Passes, Stages};

#[test]
fn every_benchmark_agrees_with_its_reference() {
    let how = |passes| How {
        strict: false,
        passes,
        verify: true,
        defect: None,
        tiles: Default::default(),
    };
    let mut wrong = Vec::new();
    for benchmark in BENCHMARKS
        .iter()
        .chain([&MATMUL, &LONG_MATMUL])
        .chain(&NESTS)
    {
        let path = folder_of(benchmark.name).join(format!("{}.nova", benchmark.name));
        let text = std::fs::read_to_string(&path).expect("the benchmark's source");
        let ways = [(Passes::All, 2), (Passes::Parallelised, 1)];
        let [(stages, loaded), (_, parallel)] = ways.map(|(passes, optimization)| {
            let stages = Stages::compile(benchmark.name, &text, how(passes)).expect("it compiles");
            let loaded =
                Loaded::new(benchmark.name, &stages, optimization).expect("its C compiles");
            (stages, loaded)
        });
        for case in (benchmark.cases)(&mut Random::new(7)) {
            let core = stages.reference(0, &case.inputs);
            for (stage, outcome) in [
                ("eval", core),
                ("seq", loaded.call(0, &case.inputs)),
                ("pthreads", parallel.call(0, &case.inputs)),
            ] {
                let verdict = match &outcome {
                    Outcome::Value(value) => compare(value, &case.expected, Summation::Tree),
                    other => Err(other.to_string()),
                };
                if let Err(difference) = verdict {
                    wrong.push(format!(
                        "{} {} on {}: {difference}",
                        benchmark.name, case.what, stage
                    ));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
