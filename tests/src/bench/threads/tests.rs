//! Tests of the numbers computed from times: ratios, means, and the sizes where threads win.

use super::curves::{Curve, THREADS};
use super::opponents::Opponent;
use super::programs::Comparison;
use super::report::{all_means, mean, over_best};
use super::shapes::Shaped;
use crate::bench::limits::Rates;
use crate::bench::measure::{Measurement, Round};
use crate::bench::memory::Pages;
use crate::bench::workload::Work;

/// Returns a measurement of one round in which the sides took these times.
fn measurement(name: &str, seconds: &[f64]) -> Measurement {
    let rates = Rates {
        read: 1.0,
        copy: 1.0,
        orders: [0, 0],
        operations: 1.0,
    };
    Measurement {
        name: name.into(),
        size: "some".into(),
        sides: Vec::new(),
        pages: Pages::Small,
        work: Work::default(),
        copies: 1,
        rounds: vec![Round {
            seconds: seconds.to_vec(),
            rates,
            peaks: vec![10.0, 16.0],
        }],
    }
}

/// Returns a comparison in which sequential NOVA takes 8 seconds, one thread 9, two threads 6. The
/// opponents' times follow.
fn comparison(name: &str, opponents: &[(Opponent, f64)]) -> Comparison {
    let times = opponents.iter().map(|(_, seconds)| *seconds);
    let seconds: Vec<f64> = [8.0, 9.0, 6.0].into_iter().chain(times).collect();
    Comparison {
        counts: vec![1, 2],
        opponents: opponents.iter().map(|(opponent, _)| *opponent).collect(),
        measurement: measurement(name, &seconds),
    }
}

#[test]
fn the_best_opponent_is_the_fastest() {
    let found = comparison("dot", &[(Opponent::OpenMp, 4.0), (Opponent::Thrust, 12.0)]);
    let median = |opponent| found.ratio(opponent).map(|ratio| ratio.median);
    assert_eq!(median(Opponent::OpenMp), Some(1.5));
    assert_eq!(median(Opponent::Thrust), Some(0.5));
    assert_eq!(median(Opponent::OpenBlas), None);
    assert_eq!(found.to_best(), Some(1.5));
}

#[test]
fn speed_ups_are_of_rounds() {
    let found = comparison("nbody", &[]);
    assert_eq!(found.speed_up(1).median, 8.0 / 6.0);
    assert_eq!(found.peak_speed_up(1), 1.6);
    assert!((found.of_peak_speed_up(1) - 1.5 / 1.6).abs() < 1e-12);
    assert_eq!(found.to_best(), None);
}

#[test]
fn sizes_of_a_program_count_once() {
    let thrust = |name, seconds| comparison(name, &[(Opponent::Thrust, seconds)]);
    // Ratios of 4 and 1, whose mean is 2, and of 8.
    let found = [
        thrust("dot", 1.5),
        thrust("dot", 6.0),
        thrust("sumstats", 0.75),
    ];
    let ratio = |c: &Comparison| c.ratio(Opponent::Thrust).map(|ratio| ratio.median);
    let all = mean(&found, ratio).expect("a mean");
    assert!((all - 4.0).abs() < 1e-12, "{all}");
    assert_eq!(mean(&[], ratio), None);
    let means = all_means(&found);
    let without = means
        .iter()
        .find(|(name, _)| name.contains("without sumstats"));
    let without = without.and_then(|(_, mean)| *mean).expect("a mean");
    assert!((without - 2.0).abs() < 1e-12, "{without}");
}

#[test]
fn threads_win_where_they_win_on_all_larger_sizes() {
    let curve = |threads: [f64; 4]| Curve {
        name: "map".into(),
        openmp: false,
        points: [1, 2, 4, 8]
            .into_iter()
            .zip(threads.map(|seconds| measurement("map", &[2.0, seconds])))
            .collect(),
    };
    assert_eq!(curve([1.0, 3.0, 1.0, 1.0]).wins_from(THREADS), Some(4));
    assert_eq!(curve([1.0, 1.0, 1.0, 3.0]).wins_from(THREADS), None);
}

#[test]
fn only_shapes_are_compared_with_each_other() {
    let shaped = |program: &str, compared, seconds| Shaped {
        program: program.into(),
        shape: "some".into(),
        compared,
        elements: 10,
        rows: 1,
        opponents: vec![Opponent::OpenMp],
        measurement: measurement(program, &[seconds, 4.0]),
    };
    let all = [
        shaped("sumrows", true, 3.0),
        shaped("sumrows", true, 2.0),
        shaped("sumrows", false, 1.0),
        shaped("spmv_csr", true, 1.0),
    ];
    let over: Vec<Option<f64>> = all.iter().map(|one| over_best(one, &all)).collect();
    let near = |found: Option<f64>, expected: f64| {
        found.is_some_and(|found| (found - expected).abs() < 1e-12)
    };
    assert!(
        near(over[0], 1.5) && near(over[1], 1.0) && near(over[3], 1.0),
        "{over:?}"
    );
    assert_eq!(over[2], None);
    assert_eq!(all[0].ratio(Opponent::OpenMp), Some(0.75));
    assert_eq!(all[0].ratio(Opponent::Dynamic), None);
}
