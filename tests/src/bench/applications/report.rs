//! The measurements of the applications as a Markdown table, as JSON and as a picture.

use super::run::{Found, Measured};
use crate::bench::build::{PEER_FLAGS, nova_flags};
use crate::bench::measure::Quartiles;
use crate::bench::report::{machine, number, string};
use std::fmt::Write as _;

/// Returns the table, with the machine of the measurements.
pub fn markdown(found: &Found) -> String {
    let mut text = format!("{}\n\n", machine(&words(found)));
    let c = if found.threads.is_some() {
        "OpenMP"
    } else {
        "C"
    };
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "| program | data | NOVA ms | {c} ms | NOVA/{c} | quartiles |\n| --- | --- | --- | --- | --- | --- |"
    );
    for one in &found.measured {
        let median = |times: &[f64]| short(Quartiles::of(times.iter().copied()).median);
        let ratio = one.ratio();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {:.2} | {:.2}–{:.2} |",
            one.name,
            one.size,
            median(&one.nova),
            median(&one.c),
            ratio.median,
            ratio.lower,
            ratio.upper
        );
    }
    let each = by_name(&found.measured);
    let _ = writeln!(
        text,
        "\nGeometric mean of NOVA/{c} over {} programs, of which two sizes count as one: {:.2}. {} of them are at \
         most 1.10, {} above 1.5, {} below 1.",
        each.len(),
        mean(each.iter().copied()),
        each.iter().filter(|ratio| **ratio <= 1.1).count(),
        each.iter().filter(|ratio| **ratio > 1.5).count(),
        each.iter().filter(|ratio| **ratio < 1.0).count(),
    );
    text
}

fn words(found: &Found) -> String {
    match found.threads {
        Some(threads) => format!("{threads} threads"),
        None => "one thread".to_string(),
    }
}

/// Returns the ratio of each program, the geometric mean of its sizes.
fn by_name(measured: &[Measured]) -> Vec<f64> {
    let groups = measured.chunk_by(|a, b| a.name == b.name);
    groups
        .map(|sizes| mean(sizes.iter().map(|one| one.ratio().median)))
        .collect()
}

/// Returns the geometric mean.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let logarithms: Vec<f64> = values.map(f64::ln).collect();
    (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp()
}

/// Returns a time with three significant digits.
fn short(value: f64) -> String {
    match value {
        _ if value >= 100.0 => format!("{value:.0}"),
        _ if value >= 10.0 => format!("{value:.1}"),
        _ if value >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// Returns all measurements, round by round.
pub fn json(found: &Found) -> String {
    let times = |times: &[f64]| {
        let times: Vec<String> = times.iter().map(|time| number(*time)).collect();
        format!("[{}]", times.join(", "))
    };
    let one = |one: &Measured| {
        format!(
            "    {{\"name\": {}, \"data\": {}, \"nova_ms\": {}, \"c_ms\": {}}}",
            string(one.name),
            string(&one.size),
            times(&one.nova),
            times(&one.c)
        )
    };
    let measured: Vec<String> = found.measured.iter().map(one).collect();
    format!(
        "{{\n  \"machine\": {},\n  \"nova\": {},\n  \"c\": {},\n  \"measurements\": [\n{}\n  ]\n}}\n",
        string(&machine(&words(found))),
        string(&format!("gcc {}", nova_flags().join(" "))),
        string(&format!("gcc {}", PEER_FLAGS.join(" "))),
        measured.join(",\n")
    )
}

/// Pixels of a program, of the names at the left, of a factor of two, above the first and below the last program.
const ROW: usize = 22;
const LEFT: usize = 300;
const OCTAVE: f64 = 60.0;
const TOP: usize = 40;
const BOTTOM: usize = 30;
/// The factors that have a line.
const LINES: [f64; 8] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0];

/// Returns a picture of the ratios as SVG: bars from 1, to the left where NOVA is faster.
pub fn svg(found: &Found) -> String {
    let x = |ratio: f64| LEFT as f64 + (ratio.clamp(0.25, 32.0).log2() + 2.0) * OCTAVE;
    let (width, bottom) = (x(32.0) + 60.0, TOP + ROW * found.measured.len());
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"20\">time of NOVA over that of C by hand, {}</text>\n",
        bottom + BOTTOM,
        words(found)
    );
    for line in LINES {
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "<line x1=\"{0}\" y1=\"{TOP}\" x2=\"{0}\" y2=\"{bottom}\" stroke=\"#cbd5e0\"/>\
             <text x=\"{0}\" y=\"{1}\" text-anchor=\"middle\">{line}</text>",
            x(line),
            bottom + 18
        );
    }
    for (k, one) in found.measured.iter().enumerate() {
        let (y, ratio) = (TOP + ROW * k, one.ratio().median);
        let (from, to) = (x(ratio.min(1.0)), x(ratio.max(1.0)));
        let colour = if ratio <= 1.1 { "#2b6cb0" } else { "#c05621" };
        let _ = writeln!(
            text,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}, {}</text>\
             <rect x=\"{from:.1}\" y=\"{}\" width=\"{:.1}\" height=\"14\" fill=\"{colour}\"/>\
             <text x=\"{:.1}\" y=\"{}\">{ratio:.2}</text>",
            LEFT - 8,
            y + 15,
            one.name,
            one.size.replace('&', "&amp;").replace('<', "&lt;"),
            y + 4,
            (to - from).max(1.0),
            to + 4.0,
            y + 15
        );
    }
    text + "</svg>\n"
}
