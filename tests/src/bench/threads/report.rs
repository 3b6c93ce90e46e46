//! The measurements with threads, as Markdown.

use super::curves::{self, Curve};
use super::opponents::{OF_PROGRAMS, Opponent};
use super::programs::{Comparison, SEQUENTIAL};
use super::regions::Region;
use super::shapes::Shaped;
use super::{Found, programs};
use crate::bench::measure::{Quartiles, Round};
use crate::bench::memory::Pages;
use crate::bench::report::machine;
use std::fmt::Write as _;

/// Programs limited by arithmetic, whose speed-up is compared with that of peak arithmetic.
const ARITHMETIC: [&str; 2] = ["blackscholes", "nbody"];

/// Returns all results, part by part.
pub fn markdown(found: &Found) -> String {
    let mut text = format!("{}\n", machine(&format!("{} threads", found.threads)));
    if !found.programs.is_empty() {
        against_opponents(&mut text, found);
        scaling(&mut text, &found.programs);
    }
    for curve in &found.curves {
        of_every_size(&mut text, curve);
    }
    if !found.regions.is_empty() {
        regions(&mut text, &found.regions);
    }
    if !found.shapes.is_empty() {
        shapes(&mut text, &found.shapes);
    }
    for skipped in &found.skipped {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "\nSkipped: {skipped}.");
    }
    text
}

/// Writes the head of a table.
fn head(text: &mut String, columns: &[String]) {
    let rule = columns.iter().map(|_| " --- |").collect::<String>();
    let _ = writeln!(text, "\n| {} |\n|{rule}", columns.join(" | "));
}

fn row(text: &mut String, cells: &[String]) {
    let _ = writeln!(text, "| {} |", cells.join(" | "));
}

/// Returns a ratio, or a dash where there is none.
fn ratio(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_string(), |value| format!("{value:.2}"))
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| word.to_string()).collect()
}

fn against_opponents(text: &mut String, found: &Found) {
    let threads = found.threads;
    let _ = writeln!(
        text,
        "\n## Against opponents\n\n{threads} threads each; the time of NOVA over that of the \
         opponent, below 1 NOVA is faster."
    );
    let mut columns = words(&["program", "data", "pages", "NOVA ms"]);
    columns.extend(OF_PROGRAMS.map(|other| format!("NOVA/{}", other.name())));
    columns.extend(words(&[
        "NOVA/best",
        "NOVA of limit",
        "best opponent of limit",
    ]));
    head(text, &columns);
    for comparison in &found.programs {
        row(text, &comparison_cells(comparison));
    }
    for pages in Pages::ALL {
        let of = |c: &&Comparison| c.measurement.pages == pages;
        let programs: Vec<Comparison> = found.programs.iter().filter(of).cloned().collect();
        if !programs.is_empty() {
            means(text, pages, &programs);
            limits(text, threads, &programs);
        }
    }
}

/// Writes the limits next to the programs.
fn limits(text: &mut String, threads: usize, programs: &[Comparison]) {
    let rounds = || programs.iter().flat_map(|c| &c.measurement.rounds);
    let median = |of: fn(&Round) -> f64| Quartiles::of(rounds().map(of)).median / 1e9;
    let _ = writeln!(
        text,
        "\nMedians of the limits of {threads} threads: reading {:.1} GB/s, copying {:.1} GB/s, \
         {:.2}·10⁹ vector operations/s.",
        median(|round| round.rates.read),
        median(|round| round.rates.copy),
        median(|round| round.rates.operations),
    );
}

fn comparison_cells(comparison: &Comparison) -> Vec<String> {
    let measurement = &comparison.measurement;
    let percent = |side| format!("{:.0} %", measurement.part_of_limit(side).median * 100.0);
    let nova = comparison.nova();
    let mut cells = vec![
        measurement.name.clone(),
        measurement.size.clone(),
        measurement.pages.name().to_string(),
        format!("{:.3}", measurement.seconds(nova).median * 1e3),
    ];
    for opponent in OF_PROGRAMS {
        let quartiles = comparison.ratio(opponent);
        cells.push(quartiles.map_or_else(
            || "–".to_string(),
            |q| format!("{:.2} ({:.2}–{:.2})", q.median, q.lower, q.upper),
        ));
    }
    let best = comparison.opponents.iter().filter_map(|&other| {
        let side = comparison.side(other)?;
        Some((comparison.ratio(other)?.median, side))
    });
    let best = best.max_by(|a, b| f64::total_cmp(&a.0, &b.0));
    cells.push(ratio(best.map(|(ratio, _)| ratio)));
    cells.push(percent(nova));
    cells.push(best.map_or_else(|| "–".to_string(), |(_, side)| percent(side)));
    cells
}

/// Returns the geometric mean over programs of the values of a function. Several sizes of a program
/// count by their geometric mean.
pub fn mean(comparisons: &[Comparison], of: impl Fn(&Comparison) -> Option<f64>) -> Option<f64> {
    let mut all: Vec<(&str, f64)> = Vec::new();
    for comparison in comparisons {
        let name = comparison.measurement.name.as_str();
        all.extend(of(comparison).map(|ratio| (name, ratio.ln())));
    }
    let mut names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    names.dedup();
    let of_name = |name: &&str| {
        let sizes = || all.iter().filter(|(other, _)| other == name);
        sizes().map(|(_, log)| log).sum::<f64>() / sizes().count() as f64
    };
    let sum: f64 = names.iter().map(of_name).sum();
    (!names.is_empty()).then(|| (sum / names.len() as f64).exp())
}

/// Returns the requested means, with their names.
pub fn all_means(comparisons: &[Comparison]) -> Vec<(String, Option<f64>)> {
    let mut means: Vec<(String, Option<f64>)> = OF_PROGRAMS
        .iter()
        .map(|&other| {
            let of = |c: &Comparison| c.ratio(other).map(|ratio| ratio.median);
            (format!("NOVA/{}", other.name()), mean(comparisons, of))
        })
        .collect();
    let without = |c: &Comparison| {
        let ratio = c.ratio(Opponent::Thrust).map(|ratio| ratio.median);
        ratio.filter(|_| c.measurement.name != "sumstats")
    };
    let name = "NOVA/Thrust without sumstats".to_string();
    means.push((name, mean(comparisons, without)));
    means.push((
        "NOVA/best".to_string(),
        mean(comparisons, Comparison::to_best),
    ));
    means
}

fn means(text: &mut String, pages: Pages, comparisons: &[Comparison]) {
    let means = all_means(comparisons).into_iter();
    let means: Vec<String> = means
        .map(|(name, mean)| format!("{name} {}", ratio(mean)))
        .collect();
    let means = means.join(", ");
    let _ = writeln!(
        text,
        "\nGeometric means on {} pages: {means}.",
        pages.name()
    );
}

fn scaling(text: &mut String, comparisons: &[Comparison]) {
    let counts = comparisons.first().map_or(&[][..], |c| &c.counts);
    let _ = writeln!(
        text,
        "\n## Scaling\n\nHow many times as fast as sequential NOVA; in brackets, where arithmetic \
         limits, the speed-up over one thread over that of peak arithmetic in the same round."
    );
    let mut columns = words(&["program", "data", "pages", "sequential ms"]);
    let threads = |count: &usize| match count {
        1 => "1 thread".to_string(),
        count => format!("{count} threads"),
    };
    columns.extend(counts.iter().map(threads));
    head(text, &columns);
    for comparison in comparisons {
        let measurement = &comparison.measurement;
        let sequential = measurement.seconds(programs::SEQUENTIAL).median * 1e3;
        let mut cells = vec![
            measurement.name.clone(),
            measurement.size.clone(),
            measurement.pages.name().to_string(),
            format!("{sequential:.3}"),
        ];
        for k in 0..counts.len() {
            let speed_up = comparison.speed_up(k).median;
            cells.push(
                match ARITHMETIC.contains(&measurement.name.as_str()) && k > 0 {
                    true => format!("{speed_up:.2} ({:.2})", comparison.of_peak_speed_up(k)),
                    false => format!("{speed_up:.2}"),
                },
            );
        }
        row(text, &cells);
    }
    let peak = |k: usize| format!("{} {:.2}", threads(&counts[k]), median_peak(comparisons, k));
    let peaks: Vec<String> = (1..counts.len()).map(peak).collect();
    if !peaks.is_empty() {
        let _ = writeln!(text, "\nSpeed-up of peak arithmetic: {}.", peaks.join(", "));
    }
}

fn median_peak(comparisons: &[Comparison], k: usize) -> f64 {
    Quartiles::of(comparisons.iter().map(|c| c.peak_speed_up(k))).median
}

fn of_every_size(text: &mut String, curve: &Curve) {
    let name = &curve.name;
    let _ = writeln!(
        text,
        "\n## {name} of every size\n\nMicroseconds for a call, and how many times as fast as \
         sequential NOVA."
    );
    let mut columns = words(&["elements", "sequential µs", "threads µs", "threads"]);
    if curve.openmp {
        columns.extend(words(&["OpenMP µs", "OpenMP"]));
    }
    head(text, &columns);
    for (size, measurement) in &curve.points {
        let micro = |side| format!("{:.2}", measurement.seconds(side).median * 1e6);
        let faster = |side| format!("{:.2}", measurement.ratio(curves::SEQUENTIAL, side).median);
        let mut cells = vec![
            size.to_string(),
            micro(curves::SEQUENTIAL),
            micro(curves::THREADS),
            faster(curves::THREADS),
        ];
        if curve.openmp {
            cells.extend([micro(curves::OPENMP), faster(curves::OPENMP)]);
        }
        row(text, &cells);
    }
    let from = |side| match curve.wins_from(side) {
        Some(size) => format!("from {size} elements on"),
        None => "nowhere".to_string(),
    };
    let _ = write!(
        text,
        "\nThreads win over sequential NOVA {}",
        from(curves::THREADS)
    );
    let _ = match curve.openmp {
        true => writeln!(text, ", OpenMP by hand {}.", from(curves::OPENMP)),
        false => writeln!(text, "."),
    };
}

fn regions(text: &mut String, regions: &[Region]) {
    let _ = writeln!(
        text,
        "\n## Empty regions\n\nMicroseconds for an empty region: each of many in a row, and one by \
         one after pauses."
    );
    let columns = [
        "pool",
        "machine",
        "pause µs",
        "in a row",
        "median",
        "mean",
        "99 %",
        "largest",
    ];
    head(text, &words(&columns));
    let machine = |region: &Region| match region.busy {
        true => "a processor busy".to_string(),
        false => "idle".to_string(),
    };
    for region in regions.iter().filter(|region| region.what != "work") {
        let number = |name| ratio(region.number(name).map(|nanoseconds| nanoseconds / 1e3));
        let mut cells = vec![
            region.what.clone(),
            machine(region),
            format!("{:.0}", region.pause),
        ];
        cells.extend(["each", "median", "mean", "99%", "max"].map(number));
        row(text, &cells);
    }
    let _ = writeln!(
        text,
        "\nTwo halves of some work after pauses: how many times as fast as one after the other."
    );
    head(
        text,
        &words(&["work µs", "machine", "pause µs", "pool", "OpenMP"]),
    );
    for region in regions.iter().filter(|region| region.what == "work") {
        row(
            text,
            &[
                ratio(region.number("alone").map(|nanoseconds| nanoseconds / 1e3)),
                machine(region),
                format!("{:.0}", region.pause),
                ratio(region.number("pool")),
                ratio(region.number("OpenMP")),
            ],
        );
    }
}

fn shapes(text: &mut String, shapes: &[Shaped]) {
    let _ = writeln!(
        text,
        "\n## Shapes of rows\n\nNanoseconds for an element, with what its rows cost; over the best \
         of the program's shapes; the time of NOVA over that of OpenMP by hand, which shares rows \
         by elements, and of OpenMP that hands out rows dynamically."
    );
    let columns = [
        "program",
        "rows",
        "number",
        "elements",
        "NOVA ns",
        "of the best",
        "NOVA/OpenMP",
        "NOVA/dynamic",
    ];
    head(text, &words(&columns));
    for shaped in shapes {
        row(
            text,
            &[
                shaped.program.clone(),
                shaped.shape.clone(),
                shaped.rows.to_string(),
                shaped.elements.to_string(),
                format!("{:.3}", shaped.per_element(SEQUENTIAL) * 1e9),
                ratio(over_best(shaped, shapes)),
                ratio(shaped.ratio(Opponent::OpenMp)),
                ratio(shaped.ratio(Opponent::Dynamic)),
            ],
        );
    }
}

/// Returns the time of an element over that of the program's best shape.
pub fn over_best(shaped: &Shaped, shapes: &[Shaped]) -> Option<f64> {
    let same = |other: &&Shaped| other.compared && other.program == shaped.program;
    let times = shapes.iter().filter(same).map(|other| other.per_element(0));
    let best = times.min_by(f64::total_cmp)?;
    shaped.compared.then(|| shaped.per_element(0) / best)
}
