//! The measurements with threads, as JSON: all rounds of all sides.

use super::Found;
use super::curves::Curve;
use super::opponents::OPPONENTS;
use super::programs::Comparison;
use super::regions::Region;
use super::report::all_means;
use super::shapes::Shaped;
use crate::bench::build::{OPENMP, THRUST, nova_flags};
use crate::bench::measure::{Measurement, Round};
use crate::bench::memory::Pages;
use crate::bench::report::{machine, number, string};

/// Returns all measurements.
pub fn json(found: &Found) -> String {
    let means = Pages::ALL.map(|pages| {
        let of = |c: &&Comparison| c.measurement.pages == pages;
        let programs: Vec<Comparison> = found.programs.iter().filter(of).cloned().collect();
        let means = all_means(&programs).into_iter();
        let means = means.map(|(name, mean)| (name, number(mean.unwrap_or(f64::NAN))));
        (pages.name().to_string(), object(means))
    });
    let skipped = found.skipped.iter().map(|what| string(what));
    let text = object(
        [
            (
                "machine",
                string(&machine(&format!("{} threads", found.threads))),
            ),
            ("nova", string(&format!("gcc {}", nova_flags().join(" ")))),
            ("openmp", string(&format!("gcc {}", OPENMP.flags.join(" ")))),
            ("thrust", string(&format!("g++ {}", THRUST.flags.join(" ")))),
            ("threads", found.threads.to_string()),
            ("means", object(means)),
            ("programs", list(found.programs.iter().map(comparison))),
            ("curves", list(found.curves.iter().map(curve))),
            ("regions", list(found.regions.iter().map(region))),
            ("shapes", list(found.shapes.iter().map(shaped))),
            ("skipped", list(skipped)),
        ]
        .map(|(name, value)| (name.to_string(), value)),
    );
    text + "\n"
}

/// Returns an object of named values, one on each line.
fn object(members: impl IntoIterator<Item = (String, String)>) -> String {
    let member = |(name, value): (String, String)| format!("{}: {value}", string(&name));
    let members: Vec<String> = members.into_iter().map(member).collect();
    format!("{{{}}}", members.join(",\n"))
}

fn list(values: impl IntoIterator<Item = String>) -> String {
    let values: Vec<String> = values.into_iter().collect();
    format!("[{}]", values.join(", "))
}

fn named<const N: usize>(members: [(&str, String); N]) -> String {
    object(members.map(|(name, value)| (name.to_string(), value)))
}

/// Returns a number of every round.
fn rounds(measurement: &Measurement, of: impl Fn(&Round) -> f64) -> String {
    list(measurement.rounds.iter().map(|round| number(of(round))))
}

/// Returns the times of every side, with these names.
fn seconds(measurement: &Measurement, sides: impl IntoIterator<Item = String>) -> String {
    let times = |(side, name): (usize, String)| (name, rounds(measurement, |r| r.seconds[side]));
    object(sides.into_iter().enumerate().map(times))
}

fn comparison(comparison: &Comparison) -> String {
    let measurement = &comparison.measurement;
    let threads = comparison.counts.iter().map(|n| format!("nova {n}"));
    let opponents = comparison.opponents.iter().map(|o| o.name().to_string());
    let sides = std::iter::once("sequential".to_string())
        .chain(threads)
        .chain(opponents);
    let peak = |k: usize| rounds(measurement, |r| r.peaks.get(k).copied().unwrap_or(f64::NAN));
    let peaks = comparison.counts.iter().enumerate();
    named([
        ("name", string(&measurement.name)),
        ("data", string(&measurement.size)),
        ("pages", string(measurement.pages.name())),
        ("bytes_read", measurement.work.read.to_string()),
        ("bytes_written", measurement.work.written.to_string()),
        ("vector_operations", measurement.work.operations.to_string()),
        ("copies", measurement.copies.to_string()),
        ("seconds", seconds(measurement, sides)),
        ("read_bandwidth", rounds(measurement, |r| r.rates.read)),
        ("copy_bandwidth", rounds(measurement, |r| r.rates.copy)),
        (
            "operation_rate",
            object(peaks.map(|(k, n)| (n.to_string(), peak(k)))),
        ),
    ])
}

fn curve(curve: &Curve) -> String {
    let point = |(size, measurement): &(usize, Measurement)| {
        let sides = ["sequential", "threads", "OpenMP"].map(str::to_string);
        let sides = sides.into_iter().take(if curve.openmp { 3 } else { 2 });
        let times = seconds(measurement, sides);
        named([("elements", size.to_string()), ("seconds", times)])
    };
    let points = list(curve.points.iter().map(point));
    named([("name", string(&curve.name)), ("points", points)])
}

fn region(region: &Region) -> String {
    let numbers = region.numbers.iter();
    let numbers = numbers.map(|(name, value)| (name.clone(), number(*value)));
    named([
        ("what", string(&region.what)),
        ("busy", region.busy.to_string()),
        ("pause_microseconds", number(region.pause)),
        ("numbers", object(numbers)),
    ])
}

fn shaped(shaped: &Shaped) -> String {
    let opponents = OPPONENTS
        .iter()
        .filter(|other| shaped.opponents.contains(other));
    let sides = std::iter::once("nova").chain(opponents.map(|other| other.name()));
    named([
        ("program", string(&shaped.program)),
        ("shape", string(&shaped.shape)),
        ("rows", shaped.rows.to_string()),
        ("elements", shaped.elements.to_string()),
        (
            "seconds",
            seconds(&shaped.measurement, sides.map(str::to_string)),
        ),
    ])
}
