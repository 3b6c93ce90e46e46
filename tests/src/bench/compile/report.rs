//! The measurements of compilation as Markdown tables and as JSON. What is above its bound comes last.

use super::{Found, HOSTS, Row, TARGETS};
use crate::bench::measure::Quartiles;
use crate::bench::report::{machine, number, string};
use std::fmt::Write as _;

/// The bounds in seconds: of the compiler, of the C compiler, and of a first run on the device.
const MOST: [f64; 3] = [0.3, 3.0, 5.0];

/// A time of a program, with its bound.
struct Time {
    name: String,
    seconds: f64,
    most: f64,
}

/// Returns the times of a program, in the order of the columns. Those of runs that were not made are nan.
fn times(row: &Row) -> Vec<Time> {
    let [novac, cc, cold] = MOST;
    let median = |times: &[f64]| Quartiles::of(times.iter().copied()).median;
    let time = |name: String, times: &[f64], most| Time {
        name,
        seconds: median(times),
        most,
    };
    let mut all = Vec::new();
    for ((_, target), times) in TARGETS.iter().zip(&row.novac) {
        all.push(time(format!("novac {target}"), times, novac));
    }
    for ((_, target), times) in TARGETS.iter().zip(&row.cc) {
        all.push(time(format!("cc {target}"), times, cc));
    }
    all.push(time("opencl cold".to_string(), &row.cold, cold));
    all
}

/// Writes seconds, or a dash for those that are not known.
fn shown(seconds: f64) -> String {
    match seconds.is_nan() {
        true => "–".to_string(),
        false => format!("{seconds:.3}"),
    }
}

/// Writes a row of a table.
fn row(text: &mut String, cells: &[String]) {
    // Writing to a String cannot fail.
    let _ = writeln!(text, "| {} |", cells.join(" | "));
}

/// Writes the head of a table.
fn head(text: &mut String, cells: &[String]) {
    row(text, cells);
    row(text, &vec!["---".to_string(); cells.len()]);
}

/// Returns the tables: all programs, and then the misses.
pub fn markdown(found: &Found) -> String {
    let mut text = format!("{}\n\n", machine("cc -O2, seconds"));
    let _ = writeln!(
        text,
        "Load of the machine over a minute: {} before, {} after.\n",
        found.load[0], found.load[1]
    );
    let lines = TARGETS.map(|(_, target)| format!("lines {target}"));
    let names = times(&Row::default()).into_iter().map(|time| time.name);
    let program = ["program".to_string()];
    let columns: Vec<String> = program.into_iter().chain(lines).chain(names).collect();
    head(&mut text, &columns);
    for program in &found.rows {
        let mut cells = vec![program.name.clone()];
        cells.extend(program.lines.map(|lines| lines.to_string()));
        cells.extend(times(program).iter().map(|time| shown(time.seconds)));
        row(&mut text, &cells);
    }
    write_total(&mut text, found);
    write_misses(&mut text, found);
    text
}

/// Writes the sums of all columns.
fn write_total(text: &mut String, found: &Found) {
    let mut cells = vec![format!("all {}", found.rows.len())];
    for k in 0..TARGETS.len() {
        let lines: usize = found.rows.iter().map(|row| row.lines[k]).sum();
        cells.push(lines.to_string());
    }
    for k in 0..TARGETS.len() + HOSTS + 1 {
        let seconds = found.rows.iter().map(|row| times(row)[k].seconds);
        let known: f64 = seconds.filter(|seconds| !seconds.is_nan()).sum();
        cells.push(format!("{known:.1}"));
    }
    row(text, &cells);
}

/// Writes what is above its bound, the farthest first, and how much there is.
fn write_misses(text: &mut String, found: &Found) {
    let of_row = |row: &Row| {
        let name = row.name.clone();
        times(row).into_iter().map(move |time| (name.clone(), time))
    };
    let all = found.rows.iter().flat_map(of_row);
    let known: Vec<(String, Time)> = all.filter(|(_, time)| !time.seconds.is_nan()).collect();
    let over = |time: &Time| time.seconds / time.most;
    let mut misses: Vec<_> = known.iter().filter(|(_, time)| over(time) > 1.0).collect();
    misses.sort_by(|(_, a), (_, b)| over(b).total_cmp(&over(a)));
    let _ = writeln!(
        text,
        "\n{} of {} times are as wanted, {} are misses.",
        known.len() - misses.len(),
        known.len(),
        misses.len()
    );
    if misses.is_empty() {
        return;
    }
    text.push('\n');
    head(
        text,
        &["program", "miss", "seconds", "at most"].map(str::to_string),
    );
    for (name, time) in misses {
        let cells = [
            name.clone(),
            time.name.clone(),
            shown(time.seconds),
            time.most.to_string(),
        ];
        row(text, &cells);
    }
}

/// Returns all measurements, round by round.
pub fn json(found: &Found) -> String {
    let list = |values: Vec<String>| format!("[{}]", values.join(", "));
    let seconds = |times: &[f64]| list(times.iter().map(|time| number(*time)).collect());
    let of_targets = |times: &[Vec<f64>]| list(times.iter().map(|times| seconds(times)).collect());
    let row = |row: &Row| {
        let lines = row.lines.map(|lines| lines.to_string());
        format!(
            "    {{\"name\": {}, \"lines\": {}, \"novac\": {}, \"cc\": {}, \"opencl_cold\": {}}}",
            string(&row.name),
            list(lines.into()),
            of_targets(&row.novac),
            of_targets(&row.cc),
            seconds(&row.cold)
        )
    };
    let rows: Vec<String> = found.rows.iter().map(row).collect();
    let targets = TARGETS.map(|(_, target)| string(target));
    let load = found.load.each_ref().map(|load| string(load));
    format!(
        "{{\n  \"machine\": {},\n  \"targets\": {},\n  \"load\": {},\n  \"programs\": [\n{}\n  ]\n}}\n",
        string(&machine("cc -O2")),
        list(targets.into()),
        list(load.into()),
        rows.join(",\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misses_come_last() {
        let slow = Row {
            name: "paper/slow".to_string(),
            lines: [10, 20, 30],
            novac: [vec![0.1], vec![0.4, 0.6, 0.2], vec![0.1]],
            cc: [vec![1.0], vec![9.0]],
            cold: Vec::new(),
        };
        let found = Found {
            rows: vec![slow],
            ..Found::default()
        };
        let text = markdown(&found);
        let row = "| paper/slow | 10 | 20 | 30 | 0.100 | 0.400 | 0.100 | 1.000 | 9.000 | – |";
        assert!(text.contains(row), "{text}");
        assert!(
            text.contains("3 of 5 times are as wanted, 2 are misses."),
            "{text}"
        );
        let misses = "| paper/slow | cc pthreads | 9.000 | 3 |\n| paper/slow | novac pthreads | 0.400 | 0.3 |\n";
        assert!(text.ends_with(misses), "{text}");
        let value: serde_json::Value = serde_json::from_str(&json(&found)).expect("JSON");
        assert_eq!(value["programs"][0]["novac"][1][2], 0.2);
    }
}
