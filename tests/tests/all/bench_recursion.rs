//! Tests of the benchmark command on recursive data, on little of it: everything runs, is correct,
//! and is reported, and the numbers of rounds have their bounds.

use nova_tests::bench::hosted::{Plan, report};
use nova_tests::bench::recursion::{FAMILIES, RECURSION};
use nova_tests::effort;

#[test]
fn everything_is_measured() {
    let numbered = FAMILIES.iter().enumerate();
    let families = numbered.filter(|(number, _)| effort::tries(*number, 4));
    let families: Vec<_> = families.map(|(_, family)| family).collect();
    let plan = Plan {
        collection: &RECURSION,
        names: families.iter().map(|family| family.name.into()).collect(),
        shrink: 1 << 14,
        rounds: 1,
    };
    let found = plan.run().expect("the plan is right");
    assert!(found.failures.is_empty(), "{:#?}", found.failures);
    let runs: usize = families.iter().map(|family| family.runs()).sum();
    assert_eq!(found.runs.len(), runs);
    for figure in &found.figures {
        // Moves and squarings have a bound of their own, which does not depend on times.
        if ["squaring", "pebbles"].contains(&figure.family) && figure.quartiles.is_none() {
            assert!(!figure.is_miss(), "{figure:?}");
        }
    }
    let text = report::markdown(&RECURSION, &found);
    for family in families {
        assert!(text.contains(&format!("| {} |", family.name)), "{text}");
    }
    let json: serde_json::Value = serde_json::from_str(&report::json(&found)).expect("JSON");
    assert_eq!(json["runs"].as_array().map(Vec::len), Some(runs));
}

#[test]
fn an_unknown_program_is_refused() {
    let plan = Plan {
        collection: &RECURSION,
        names: vec!["dot".into()],
        shrink: 1,
        rounds: 1,
    };
    let error = plan.run().expect_err("there is no such program");
    assert!(
        error.contains("no benchmark dot of recursive data; there are squaring, maps, "),
        "{error}"
    );
}
