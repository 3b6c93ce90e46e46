//! Tests of the benchmark command on kernels that libraries have, on little data: everything runs, all
//! sides give the same, and everything is reported. Times are not looked at.

use nova_tests::bench::hosted::{Plan, report};
use nova_tests::bench::kernels::{FAMILIES, KERNELS};

/// Measures a kernel once.
fn measure(name: &str, shrink: usize) {
    let plan = Plan {
        collection: &KERNELS,
        names: vec![name.into()],
        shrink,
        rounds: 1,
    };
    let found = plan.run().expect("the plan is right");
    assert!(found.failures.is_empty(), "{:#?}", found.failures);
    eprintln!("skipped: {:?}", found.skipped);
    let family = FAMILIES.iter().find(|family| family.name == name);
    let family = family.expect("the kernel is in the table");
    assert_eq!(found.runs.len() + found.skipped.len(), family.runs());
    let wanted: usize = family
        .groups
        .iter()
        .map(|group| group.kinds.len() * group.sizes.len() * group.wanted.len())
        .sum();
    if found.skipped.is_empty() {
        assert_eq!(found.figures.len(), wanted);
        let text = report::markdown(&KERNELS, &found);
        assert!(text.contains(&format!("| {name} |")), "{text}");
    }
}

#[test]
fn sorts_agree() {
    // So many elements that the radix sorts write past the caches.
    measure("sort", 100);
}

#[test]
fn products_agree() {
    measure("gemm", 16);
}

#[test]
fn streams_agree() {
    measure("stream", 1 << 14);
}
