//! Tests of the benchmark command with threads, on little data: everything runs, is correct, and is
//! reported. It is one test in a process of its own, since it sets the number of threads in the
//! environment.

use nova_tests::bench::memory::Pages;
use nova_tests::bench::threads::regions::Region;
use nova_tests::bench::threads::{PARTS, Plan, json, report};

const MATRIX: &str = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n1 1\n2 1\n3 2\n";

#[test]
fn everything_is_measured() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("path.mtx"), MATRIX).expect("it can be written");
    let plan = Plan {
        names: vec!["dot".into(), "sumrows".into()],
        parts: PARTS.map(|(part, _)| part).into(),
        shrink: 1 << 10,
        rounds: 1,
        threads: 2,
        matrices: Some(folder.path().to_path_buf()),
        pages: vec![Pages::Small],
    };
    let found = plan.run().expect("the plan is right");
    assert!(found.failures.is_empty(), "{:#?}", found.failures);
    eprintln!("skipped: {:?}", found.skipped);
    // Two sizes of dot, one of sumrows.
    assert_eq!(found.programs.len(), 3);
    for comparison in &found.programs {
        let sides = 1 + comparison.counts.len() + comparison.opponents.len();
        assert_eq!(comparison.counts, [1, 2]);
        for round in &comparison.measurement.rounds {
            assert_eq!((round.seconds.len(), round.peaks.len()), (sides, 2));
        }
    }
    assert_eq!(found.curves.len(), 3);
    assert!(found.curves.iter().all(|curve| curve.points.len() == 18));
    for busy in [false, true] {
        for what in ["pool", "OpenMP", "work"] {
            let same = |region: &Region| region.what == what && region.busy == busy;
            assert!(found.regions.iter().any(same), "{what}");
        }
    }
    // Five shapes for each program, and the matrix.
    assert_eq!(found.shapes.len(), 11);
    let text = report::markdown(&found);
    for part in [
        "Against opponents",
        "Scaling",
        "map of every size",
        "Empty regions",
        "Shapes",
    ] {
        assert!(text.contains(&format!("## {part}")), "{part}:\n{text}");
    }
    assert!(json::json(&found).contains("\"shape\": \"path\""));
}

#[test]
fn a_program_that_is_none_of_the_sixteen_is_refused() {
    let plan = Plan {
        names: vec!["matmul".into()],
        parts: vec![],
        shrink: 1,
        rounds: 1,
        threads: 1,
        matrices: None,
        pages: Pages::ALL.to_vec(),
    };
    let error = plan.run().expect_err("there is no such program");
    assert!(
        error.contains("no benchmark matmul with threads"),
        "{error}"
    );
}
