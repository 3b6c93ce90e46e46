//! The measurements of a collection as Markdown tables and as JSON.

use super::figures::Figure;
use super::rows::Collection;
use super::{Found, Run};
use crate::bench::build::{PEER_FLAGS, nova_flags};
use crate::bench::measure::Quartiles;
use crate::bench::report::{machine, number, string};
use std::fmt::Write as _;

/// The columns of the table of figures.
const FIGURES: [&str; 7] = [
    "program",
    "data",
    "nodes",
    "figure",
    "measured",
    "quartiles",
    "at most",
];
/// The columns of the table of times.
const TIMES: [&str; 6] = [
    "program",
    "data",
    "nodes",
    "side",
    "ns per node",
    "quartiles",
];

/// Returns the tables, with the machine of the measurements.
pub fn markdown(collection: &Collection, found: &Found) -> String {
    let mut text = format!("{}\n\n", machine("one thread unless said"));
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "Load of the machine over a minute: {} before, {} after.\n\n## Figures\n",
        found.load[0], found.load[1]
    );
    let [unit, units] = collection.units;
    let of_unit = |column: &'static str| {
        let column = column.replace("nodes", units);
        column.replace("node", unit)
    };
    let figures = found.figures.iter().map(figure_cells);
    table(&mut text, &FIGURES.map(of_unit), figures);
    let bounded = |figure: &&Figure| figure.values.iter().any(|(_, most)| most.is_some());
    let bounded: Vec<&Figure> = found.figures.iter().filter(bounded).collect();
    let misses = bounded.iter().filter(|figure| figure.is_miss()).count();
    let unknown = bounded.iter().filter(|figure| !figure.is_known()).count();
    let _ = writeln!(
        text,
        "\n{} of {} figures are as wanted, {misses} are misses, {unknown} are not known.\n\n## Times\n",
        bounded.len() - misses - unknown,
        bounded.len()
    );
    let times = found.runs.iter().flat_map(|run| {
        let cells = |(side, times): &(String, Vec<f64>)| time_cells(run, side, times);
        run.output.times.iter().map(cells)
    });
    table(&mut text, &TIMES.map(of_unit), times);
    let _ = writeln!(text, "\nThe programs:\n");
    let ran = |name: &str| found.runs.iter().any(|run| run.family == name);
    for family in collection.families.iter().filter(|family| ran(family.name)) {
        let _ = writeln!(text, "- `{}`: {}", family.name, family.what);
    }
    text
}

/// Writes a table.
fn table<const N: usize>(
    text: &mut String,
    columns: &[String; N],
    rows: impl Iterator<Item = [String; N]>,
) {
    let rule = ["---"; N].join(" | ");
    // Writing to a String cannot fail.
    let _ = writeln!(text, "| {} |\n| {rule} |", columns.join(" | "));
    for row in rows {
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
}

/// Returns a number with three significant digits, and all digits of whole ones.
fn short(value: f64) -> String {
    match value {
        _ if value.is_nan() => "not known".to_string(),
        _ if value.fract() == 0.0 && value.abs() < 1e9 => format!("{value}"),
        _ if value.abs() >= 100.0 => format!("{value:.0}"),
        _ if value.abs() >= 10.0 => format!("{value:.1}"),
        _ if value.abs() >= 0.1 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// Returns the quartiles around a median.
fn around(quartiles: Option<Quartiles>) -> String {
    quartiles.map_or(String::new(), |q| {
        format!("{}–{}", short(q.lower), short(q.upper))
    })
}

fn figure_cells(figure: &Figure) -> [String; FIGURES.len()] {
    let measured = figure.values.iter().map(|(value, most)| match most {
        // Enough digits to see on which side of its bound a value lies.
        Some(most) if value != most && (value - most).abs() < 0.01 * most => format!("{value:.4}"),
        _ => short(*value),
    });
    let measured: Vec<String> = measured.collect();
    let most = figure.values.iter().filter_map(|(_, most)| most.map(short));
    let most = most.collect::<Vec<String>>().join(" ");
    [
        figure.family.to_string(),
        figure.kind.to_string(),
        figure.size.clone(),
        figure.name.clone(),
        measured.join(" "),
        around(figure.quartiles),
        match (figure.is_miss(), figure.is_known()) {
            (true, _) => format!("{most} **miss**"),
            (false, false) if !most.is_empty() => format!("{most} not known"),
            (false, _) => most,
        },
    ]
}

fn time_cells(run: &Run, side: &str, times: &[f64]) -> [String; TIMES.len()] {
    let quartiles = Quartiles::of(times.iter().copied());
    [
        run.family.to_string(),
        run.kind.to_string(),
        run.size.to_string(),
        side.to_string(),
        short(quartiles.median),
        around(Some(quartiles)),
    ]
}

/// Returns all measurements, round by round.
pub fn json(found: &Found) -> String {
    let runs: Vec<String> = found.runs.iter().map(run_json).collect();
    let figures: Vec<String> = found.figures.iter().map(figure_json).collect();
    let load = found.load.each_ref().map(|load| string(load));
    format!(
        "{{\n  \"machine\": {},\n  \"nova\": {},\n  \"c\": {},\n  \"load\": [{}],\n  \
         \"figures\": [\n{}\n  ],\n  \"runs\": [\n{}\n  ]\n}}\n",
        string(&machine("one thread unless said")),
        string(&format!("gcc {}", nova_flags().join(" "))),
        string(&format!("gcc {}", PEER_FLAGS.join(" "))),
        load.join(", "),
        figures.join(",\n"),
        runs.join(",\n")
    )
}

/// Returns an object of some members, on one line.
fn object<const N: usize>(members: [(&str, String); N]) -> String {
    let members = members.map(|(name, value)| format!("\"{name}\": {value}"));
    format!("{{{}}}", members.join(", "))
}

fn list(values: impl Iterator<Item = String>) -> String {
    format!("[{}]", values.collect::<Vec<String>>().join(", "))
}

fn optional(value: Option<f64>) -> String {
    number(value.unwrap_or(f64::NAN))
}

fn figure_json(figure: &Figure) -> String {
    let values = figure.values.iter();
    let text = object([
        ("name", string(figure.family)),
        ("data", string(figure.kind)),
        ("nodes", string(&figure.size)),
        ("figure", string(&figure.name)),
        ("measured", list(values.clone().map(|(x, _)| number(*x)))),
        ("at_most", list(values.map(|(_, most)| optional(*most)))),
        ("miss", figure.is_miss().to_string()),
    ]);
    format!("    {text}")
}

fn run_json(run: &Run) -> String {
    let times = run.output.times.iter().map(|(side, times)| {
        object([
            ("side", string(side)),
            ("ns_per_node", list(times.iter().map(|time| number(*time)))),
        ])
    });
    let values = run.output.values.iter().map(|(name, value, most)| {
        object([
            ("name", string(name)),
            ("value", number(*value)),
            ("at_most", optional(*most)),
        ])
    });
    let text = object([
        ("name", string(run.family)),
        ("data", string(run.kind)),
        ("nodes", run.size.to_string()),
        ("times", list(times)),
        ("values", list(values)),
    ]);
    format!("    {text}")
}

#[cfg(test)]
mod tests {
    use super::super::lines::read;
    use super::super::rows::{Quantity, Wanted};
    use super::super::{figures, lines};
    use super::*;

    const COLLECTION: Collection = Collection {
        name: "recursion",
        folder: "recursion",
        what: "of recursive data",
        units: ["element", "elements"],
        least_size: 1,
        families: &[],
    };

    /// Returns one run of which NOVA takes twice the time of C.
    fn example() -> Found {
        let output: lines::Output =
            read("time\tNOVA\t2 4\ntime\tC\t1 2\nvalue\tpeak in MB\t30\n").expect("lines");
        let run = Run {
            family: "maps",
            kind: "list",
            size: 8,
            output,
        };
        let wanted = [Wanted {
            name: "over C",
            quantity: Quantity::Ratio("NOVA", &["C"]),
            most: Some(1.1),
        }];
        let (figures, _) = figures::of(&wanted, std::slice::from_ref(&run));
        Found {
            runs: vec![run],
            figures,
            ..Found::default()
        }
    }

    #[test]
    fn misses_are_marked() {
        let text = markdown(&COLLECTION, &example());
        let row = "| maps | list | 8 | over C | 2 | 2–2 | 1.10 **miss** |";
        assert!(text.contains(row), "{text}");
        assert!(text.contains("0 of 1 figures are as wanted"), "{text}");
        assert!(text.contains("| side | ns per element |"), "{text}");
        assert!(text.contains("| maps | list | 8 | C | 1.50 |"), "{text}");
    }

    #[test]
    fn json_is_read_again() {
        let value: serde_json::Value = serde_json::from_str(&json(&example())).expect("JSON");
        assert_eq!(value["figures"][0]["miss"], true);
        assert_eq!(value["runs"][0]["times"][0]["ns_per_node"][1], 4.0);
    }
}
