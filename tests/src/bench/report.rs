//! What was measured, as a Markdown table and as JSON.

use super::build::{NOVA_FLAGS, PEER_FLAGS};
use super::measure::{Measurement, Quartiles, Round};
use std::fmt::Write as _;
use std::process::Command;

/// The machine and the compiler in a line, with how many threads there are.
pub fn machine(threads: &str) -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text
        .lines()
        .find_map(|line| line.strip_prefix("model name"));
    let model = model.map_or("unknown processor", |m| {
        m.trim_start_matches([' ', '\t', ':'])
    });
    let gcc = Command::new("gcc").arg("-dumpfullversion").output();
    let gcc = gcc.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_string());
    let gcc = gcc.unwrap_or_default();
    format!("{model}, gcc {gcc}, {threads}")
}

/// The columns of the table.
const COLUMNS: [&str; 8] = [
    "program",
    "data",
    "NOVA ms",
    "C ms",
    "C/NOVA",
    "quartiles",
    "NOVA of limit",
    "C of limit",
];

/// The table, with what it was measured on.
pub fn markdown(measurements: &[Measurement]) -> String {
    let mut text = format!("{}\n\n", machine("one thread"));
    let rule = COLUMNS.map(|_| "---").join(" | ");
    // Writing to a String cannot fail.
    let _ = writeln!(text, "| {} |\n| {rule} |", COLUMNS.join(" | "));
    for measurement in measurements {
        let _ = writeln!(text, "| {} |", cells(measurement).join(" | "));
    }
    let rounds = || measurements.iter().flat_map(|m| &m.rounds);
    let median = |of: fn(&Round) -> f64| Quartiles::of(rounds().map(of)).median / 1e9;
    let _ = writeln!(
        text,
        "\nMedians of the limits: reading {:.1} GB/s, copying {:.1} GB/s, {:.2}·10⁹ vector \
         operations/s.",
        median(|round| round.rates.read),
        median(|round| round.rates.copy),
        median(|round| round.rates.operations),
    );
    text
}

fn cells(measurement: &Measurement) -> [String; COLUMNS.len()] {
    let milliseconds = |side| format!("{:.3}", measurement.seconds(side).median * 1e3);
    let percent = |side| format!("{:.0} %", measurement.part_of_limit(side).median * 100.0);
    let ratio = measurement.ratio(1, 0);
    [
        measurement.name.clone(),
        measurement.size.clone(),
        milliseconds(0),
        milliseconds(1),
        format!("{:.2}", ratio.median),
        format!("{:.2}–{:.2}", ratio.lower, ratio.upper),
        percent(0),
        percent(1),
    ]
}

/// Everything that was measured, round by round.
pub fn json(measurements: &[Measurement]) -> String {
    let programs: Vec<String> = measurements.iter().map(program).collect();
    format!(
        "{{\n  \"machine\": {},\n  \"nova\": {},\n  \"c\": {},\n  \"programs\": [\n{}\n  ]\n}}\n",
        string(&machine("one thread")),
        string(&format!("gcc {}", NOVA_FLAGS.join(" "))),
        string(&format!("gcc {}", PEER_FLAGS.join(" "))),
        programs.join(",\n")
    )
}

fn program(measurement: &Measurement) -> String {
    let rounds = |of: &dyn Fn(&Round) -> f64| {
        let values: Vec<String> = measurement.rounds.iter().map(|r| number(of(r))).collect();
        format!("[{}]", values.join(", "))
    };
    let members = [
        ("name", string(&measurement.name)),
        ("data", string(&measurement.size)),
        ("bytes_read", measurement.work.read.to_string()),
        ("bytes_written", measurement.work.written.to_string()),
        ("vector_operations", measurement.work.operations.to_string()),
        ("copies", measurement.copies.to_string()),
        ("ratio", number(measurement.ratio(1, 0).median)),
        ("nova_of_limit", number(measurement.part_of_limit(0).median)),
        ("c_of_limit", number(measurement.part_of_limit(1).median)),
        ("nova_seconds", rounds(&|round| round.seconds[0])),
        ("c_seconds", rounds(&|round| round.seconds[1])),
        ("read_bandwidth", rounds(&|round| round.rates.read)),
        ("copy_bandwidth", rounds(&|round| round.rates.copy)),
        ("operation_rate", rounds(&|round| round.rates.operations)),
    ];
    let members = members.map(|(name, value)| format!("      \"{name}\": {value}"));
    format!("    {{\n{}\n    }}", members.join(",\n"))
}

/// A number as JSON writes it; what is none there is null.
pub(super) fn number(value: f64) -> String {
    match value.is_finite() {
        true => format!("{value:e}"),
        false => "null".to_string(),
    }
}

pub(super) fn string(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", c as u32);
            }
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::super::limits::Rates;
    use super::super::workload::Work;
    use super::*;

    /// Three rounds: NOVA takes 2, 4 and 4 seconds, the other side 2 each; a limit of 1 second.
    fn example() -> Measurement {
        let rates = Rates {
            read: 8.0,
            copy: 4.0,
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
            "4000.000",
            "2000.000",
            "0.50",
            "0.50–0.75",
            "25 %",
            "50 %",
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
