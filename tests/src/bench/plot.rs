//! The measurements as a picture: for each program, how near both sides come to the machine's
//! limit.

use super::measure::Measurement;
use std::fmt::Write as _;

/// Pixels for a program, for the names at the left, for the whole limit, for the ratios at the
/// right.
const ROW: usize = 34;
const LEFT: usize = 250;
const SCALE: usize = 460;
const RIGHT: usize = 110;
/// Above the first program and below the last.
const TOP: usize = 56;
const BOTTOM: usize = 34;
/// The sides' colours.
const COLOURS: [&str; 2] = ["#2b6cb0", "#a0aec0"];
/// Bars for data that stay in a cache are longer than the limit. They end here.
const LARGEST: f64 = 1.2;

/// Returns the picture as SVG.
pub fn svg(measurements: &[Measurement]) -> String {
    let bottom = TOP + ROW * measurements.len();
    let (width, height) = (LEFT + SCALE * 6 / 5 + RIGHT, bottom + BOTTOM);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" \
         fill=\"white\"/>\n"
    );
    for percent in [0, 25, 50, 75, 100] {
        let x = LEFT + SCALE * percent / 100;
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "<line x1=\"{x}\" y1=\"{TOP}\" x2=\"{x}\" y2=\"{bottom}\" stroke=\"#cbd5e0\"/>"
        );
        label(&mut text, x, bottom + 18, "middle", &format!("{percent} %"));
    }
    label(
        &mut text,
        LEFT,
        18,
        "start",
        "part of the machine's limit, one thread",
    );
    for (k, (name, colour)) in ["NOVA", "C"].iter().zip(COLOURS).enumerate() {
        let x = LEFT + 90 * k;
        let _ = writeln!(
            text,
            "<rect x=\"{x}\" y=\"30\" width=\"12\" height=\"12\" fill=\"{colour}\"/>"
        );
        label(&mut text, x + 18, 41, "start", name);
    }
    let ratios = LEFT + SCALE * 6 / 5 + 10;
    label(&mut text, ratios, 41, "start", "C/NOVA");
    for (k, measurement) in measurements.iter().enumerate() {
        row(&mut text, TOP + ROW * k, measurement);
    }
    text + "</svg>\n"
}

fn row(text: &mut String, y: usize, measurement: &Measurement) {
    label(text, LEFT - 8, y + 15, "end", &measurement.name);
    let _ = writeln!(
        text,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" font-size=\"9\" fill=\"#718096\">{}</text>",
        LEFT - 8,
        y + 27,
        escape(&format!(
            "{}, {} pages",
            measurement.size,
            measurement.pages.name()
        ))
    );
    let opponent = measurement.opponent();
    for (k, (side, colour)) in [0, opponent].into_iter().zip(COLOURS).enumerate() {
        let part = measurement.part_of_limit(side).median.clamp(0.0, LARGEST);
        let _ = writeln!(
            text,
            "<rect x=\"{LEFT}\" y=\"{}\" width=\"{:.1}\" height=\"12\" fill=\"{colour}\"/>",
            y + 4 + 13 * k,
            part * SCALE as f64
        );
    }
    let ratio = format!("{:.2}", measurement.ratio(opponent, 0).median);
    label(text, LEFT + SCALE * 6 / 5 + 10, y + 21, "start", &ratio);
}

fn label(text: &mut String, x: usize, y: usize, anchor: &str, words: &str) {
    let words = escape(words);
    let _ = writeln!(
        text,
        "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{words}</text>"
    );
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
