//! The measurements as a Markdown table and as JSON.

use super::build::{PEER_FLAGS, nova_flags};
use super::limits::ORDERS;
use super::measure::{Measurement, Quartiles, Round};
use super::memory::Pages;
use std::fmt::Write as _;
use std::process::Command;

/// Returns the machine and the compiler in a line, with the number of threads.
pub fn machine(threads: &str) -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text
        .lines()
        .find_map(|line| line.strip_prefix("model name"));
    let number = |key: &str| {
        let line = text.lines().find(|line| line.starts_with(key));
        line.and_then(|line| line.split(':').nth(1))
            .map_or("?", str::trim)
    };
    let (family, number) = (number("cpu family"), number("model\t"));
    let model = model.map_or("unknown processor", |m| {
        m.trim_start_matches([' ', '\t', ':'])
    });
    let gcc = Command::new("gcc").arg("-dumpfullversion").output();
    let gcc = gcc.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_string());
    let gcc = gcc.unwrap_or_default();
    format!("{model} (family {family}, model {number}), gcc {gcc}, {threads}")
}

/// The columns of the table.
const COLUMNS: [&str; 10] = [
    "program",
    "data",
    "pages",
    "NOVA ms",
    "C ms",
    "C/NOVA",
    "quartiles",
    "NOVA of limit",
    "C of limit",
    "C's order",
];

/// Returns the table, with the machine of the measurements.
pub fn markdown(measurements: &[Measurement]) -> String {
    let mut text = format!("{}\n\n", machine("one thread"));
    let rule = COLUMNS.map(|_| "---").join(" | ");
    // Writing to a String cannot fail.
    let _ = writeln!(text, "| {} |\n| {rule} |", COLUMNS.join(" | "));
    for measurement in measurements {
        let _ = writeln!(text, "| {} |", cells(measurement).join(" | "));
    }
    for pages in Pages::ALL {
        let of = |m: &&Measurement| m.pages == pages;
        let measurements: Vec<&Measurement> = measurements.iter().filter(of).collect();
        if !measurements.is_empty() {
            summary(&mut text, pages, &measurements);
        }
    }
    text
}

/// Writes the geometric mean and the limits on pages of a kind.
fn summary(text: &mut String, pages: Pages, measurements: &[&Measurement]) {
    let rounds = || measurements.iter().flat_map(|m| &m.rounds);
    let median = |of: fn(&Round) -> f64| Quartiles::of(rounds().map(of)).median / 1e9;
    let sum: f64 = measurements
        .iter()
        .map(|m| m.ratio(0, m.opponent()).median.ln())
        .sum();
    let _ = writeln!(
        text,
        "\nOn {} pages: geometric mean of NOVA/C {:.2}; medians of the limits: reading {:.1} GB/s \
         ({}), copying {:.1} GB/s ({}), {:.2}·10⁹ vector operations/s.",
        pages.name(),
        (sum / measurements.len() as f64).exp(),
        median(|round| round.rates.read),
        order(rounds(), 0),
        median(|round| round.rates.copy),
        order(rounds(), 1),
        median(|round| round.rates.operations),
    );
}

/// Returns the order of access that was the fastest most often, of reading or of copying.
fn order<'a>(rounds: impl Iterator<Item = &'a Round>, which: usize) -> &'static str {
    let mut times = [0; ORDERS.len()];
    rounds.for_each(|round| times[round.rates.orders[which]] += 1);
    let most = (0..ORDERS.len()).max_by_key(|order| times[*order]);
    ORDERS[most.unwrap_or(0)]
}

fn cells(measurement: &Measurement) -> [String; COLUMNS.len()] {
    let opponent = measurement.opponent();
    let milliseconds = |side| format!("{:.3}", measurement.seconds(side).median * 1e3);
    let percent = |side| format!("{:.0} %", measurement.part_of_limit(side).median * 100.0);
    let ratio = measurement.ratio(opponent, 0);
    [
        measurement.name.clone(),
        measurement.size.clone(),
        measurement.pages.name().to_string(),
        milliseconds(0),
        milliseconds(opponent),
        format!("{:.2}", ratio.median),
        format!("{:.2}–{:.2}", ratio.lower, ratio.upper),
        percent(0),
        percent(opponent),
        measurement.sides[opponent].clone(),
    ]
}

/// Returns all measurements, round by round.
pub fn json(measurements: &[Measurement]) -> String {
    let programs: Vec<String> = measurements.iter().map(program).collect();
    format!(
        "{{\n  \"machine\": {},\n  \"nova\": {},\n  \"c\": {},\n  \"programs\": [\n{}\n  ]\n}}\n",
        string(&machine("one thread")),
        string(&format!("gcc {}", nova_flags().join(" "))),
        string(&format!("gcc {}", PEER_FLAGS.join(" "))),
        programs.join(",\n")
    )
}

fn program(measurement: &Measurement) -> String {
    let rounds = |of: &dyn Fn(&Round) -> f64| {
        let values: Vec<String> = measurement.rounds.iter().map(|r| number(of(r))).collect();
        format!("[{}]", values.join(", "))
    };
    let opponent = measurement.opponent();
    let of_limit = |side| number(measurement.part_of_limit(side).median);
    let members = [
        ("name", string(&measurement.name)),
        ("data", string(&measurement.size)),
        ("bytes_read", measurement.work.read.to_string()),
        ("bytes_written", measurement.work.written.to_string()),
        ("vector_operations", measurement.work.operations.to_string()),
        ("copies", measurement.copies.to_string()),
        ("pages", string(measurement.pages.name())),
        ("ratio", number(measurement.ratio(opponent, 0).median)),
        ("nova_of_limit", of_limit(0)),
        ("c_of_limit", of_limit(opponent)),
        ("c_order", string(&measurement.sides[opponent])),
        ("nova_seconds", rounds(&|round| round.seconds[0])),
        ("c_seconds", rounds(&|round| round.seconds[opponent])),
        ("read_bandwidth", rounds(&|round| round.rates.read)),
        ("copy_bandwidth", rounds(&|round| round.rates.copy)),
        ("operation_rate", rounds(&|round| round.rates.operations)),
    ];
    let members = members.map(|(name, value)| format!("      \"{name}\": {value}"));
    format!("    {{\n{}\n    }}", members.join(",\n"))
}

/// Returns a number as JSON writes it. A value that JSON has no number for is null.
pub(super) fn number(value: f64) -> String {
    match value.is_finite() {
        true => format!("{value:e}"),
        false => "null".to_string(),
    }
}

/// Returns a text as JSON writes it.
pub(super) fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::super::limits::Rates;
    use super::super::workload::Work;
    use super::*;

    /// Returns three rounds: NOVA takes 2, 4 and 4 seconds, the other side 2 each; the limit is 1
    /// second.
    fn example() -> Measurement {
        let rates = Rates {
            read: 8.0,
            copy: 4.0,
            orders: [0, 1],
            operations: 1e9,
        };
        let round = |nova| Round {
            seconds: vec![nova, 2.0],
            rates,
            peaks: vec![],
        };
        Measurement {
            name: "dot".into(),
            size: "8 \"bytes\"".into(),
            sides: vec!["NOVA".into(), "C".into()],
            pages: Pages::Huge,
            work: Work {
                read: 8,
                ..Work::default()
            },
            copies: 1,
            rounds: [2.0, 4.0, 4.0].map(round).into(),
        }
    }

    #[test]
    fn a_row_has_medians() {
        let expected = [
            "dot",
            "8 \"bytes\"",
            "huge",
            "4000.000",
            "2000.000",
            "0.50",
            "0.50–0.75",
            "25 %",
            "50 %",
            "C",
        ];
        assert_eq!(cells(&example()), expected);
    }

    #[test]
    fn json_has_every_round_and_quotes_its_texts() {
        let text = json(&[example()]);
        assert!(text.contains("\"nova_seconds\": [2e0, 4e0, 4e0]"), "{text}");
        assert!(text.contains(r#""data": "8 \"bytes\"""#), "{text}");
    }

    #[test]
    fn what_is_written_costs_copying() {
        let work = Work {
            read: 12,
            written: 4,
            operations: 0,
        };
        // 8 bytes read at 8 a second, 4 copied: 8 at 4 a second.
        assert_eq!(example().rounds[0].rates.least_seconds(&work), 3.0);
    }
}
