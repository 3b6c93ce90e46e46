//! Tests of the benchmark command that measures compilation, on a few programs: everything is compiled, and
//! run on the device where there is one. Times are not looked at.

use nova_tests::bench::compile::{Plan, built_novac, programs, report};

fn plan(names: &[&str]) -> Plan {
    Plan {
        names: names.iter().map(|name| name.to_string()).collect(),
        shrink: 64,
        rounds: 1,
        novac: built_novac(),
    }
}

#[test]
fn programs_are_compiled_and_run() {
    let names = ["applications/histogram", "matmul", "tutorial/lists"];
    let found = plan(&names).run().expect("the plan is right");
    assert!(found.failures.is_empty(), "{:#?}", found.failures);
    eprintln!("skipped: {:?}", found.skipped);
    let measured: Vec<&str> = found.rows.iter().map(|row| row.name.as_str()).collect();
    assert!(measured.contains(&"applications/histogram"), "{measured:?}");
    assert!(measured.contains(&"matrices/matmul"), "{measured:?}");
    for row in &found.rows {
        assert!(row.lines.iter().all(|lines| *lines > 0), "{row:?}");
        assert!(row.novac.iter().all(|times| times.len() == 1), "{row:?}");
        assert!(row.cc.iter().all(|times| times.len() == 1), "{row:?}");
    }
    let text = report::markdown(&found);
    assert!(text.contains("| matrices/matmul |"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&report::json(&found)).expect("JSON");
    let rows = json["programs"].as_array().map(Vec::len);
    assert_eq!(rows, Some(found.rows.len()));
}

#[test]
fn all_examples_are_listed() {
    let names = programs().expect("the folder can be read");
    assert!(names.iter().any(|name| name == "applications/srad"));
    assert!(names.iter().any(|name| name == "tutorial/lists"));
}

#[test]
fn an_unknown_example_is_refused() {
    let error = plan(&["matmull"])
        .run()
        .expect_err("there is no such program");
    assert!(error.contains("no example matmull; there are "), "{error}");
}
