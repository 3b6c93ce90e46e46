//! Figures from the times and values of processes, each with the bound that is wanted.

use super::Run;
use super::rows::{Quantity, Wanted};
use crate::bench::measure::Quartiles;

/// A figure of some data.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The name of the family.
    pub family: &'static str,
    /// The kind of data.
    pub kind: &'static str,
    /// The number of nodes or elements; of two sizes, both.
    pub size: String,
    /// Its name, with the fastest opponent if there are several.
    pub name: String,
    /// What was measured, and the bound of each, if there is one.
    pub values: Vec<(f64, Option<f64>)>,
    /// The quartiles over the rounds, if there are rounds.
    pub quartiles: Option<Quartiles>,
}

impl Figure {
    /// True if a value is known and above its bound.
    pub fn is_miss(&self) -> bool {
        let above = |(value, most): &(f64, Option<f64>)| most.is_some_and(|most| *value > most);
        self.is_known() && self.values.iter().any(above)
    }

    /// True if all values and their quartiles are numbers.
    pub fn is_known(&self) -> bool {
        let quartiles = self.quartiles.iter().flat_map(|q| [q.lower, q.upper]);
        let values = self.values.iter().map(|(value, _)| *value);
        values.chain(quartiles).all(|value| !value.is_nan())
    }
}

/// Returns the figures of the runs of one kind of data, and what they lack.
pub fn of(wanted: &[Wanted], runs: &[Run]) -> (Vec<Figure>, Vec<String>) {
    let (mut figures, mut failures) = (Vec::new(), Vec::new());
    let mut keep = |run: &Run, wanted: &Wanted, figure: Option<Figure>| match figure {
        Some(figure) => figures.push(figure),
        None => failures.push(format!("{}: {}: no such times", run.family, wanted.name)),
    };
    for run in runs {
        for wanted in wanted {
            if !matches!(wanted.quantity, Quantity::Growth(..)) {
                keep(run, wanted, of_run(wanted, run));
            }
        }
    }
    for wanted in wanted {
        if let (Quantity::Growth(side, last), [first, ..]) = (wanted.quantity, runs) {
            keep(first, wanted, growth(wanted, side, last, runs));
        }
    }
    (figures, failures)
}

/// Returns a figure of one process.
fn of_run(wanted: &Wanted, run: &Run) -> Option<Figure> {
    let of_rounds = |name: String, rounds: Vec<f64>| {
        let quartiles = Quartiles::of(rounds.into_iter());
        Figure {
            name,
            values: vec![(quartiles.median, wanted.most)],
            quartiles: Some(quartiles),
            ..empty(wanted, run)
        }
    };
    match wanted.quantity {
        Quantity::Ratio(side, others) => {
            let (name, ratios) = ratios(run, side, others)?;
            let shown = match others {
                [_] => wanted.name.to_string(),
                _ => format!("{} ({name})", wanted.name),
            };
            Some(of_rounds(shown, ratios))
        }
        Quantity::Scaling {
            side,
            one,
            peer,
            over,
        } => {
            let (_, own) = ratios(run, side, &[one])?;
            let (_, of_peer) = ratios(run, peer, over)?;
            let as_much = 1.1 * Quartiles::of(of_peer.into_iter()).median;
            let mut figure = of_rounds(wanted.name.to_string(), own);
            for (_, most) in &mut figure.values {
                *most = most.map(|most| most.max(as_much));
            }
            Some(figure)
        }
        Quantity::Time(side) => {
            let times = run.output.times(side)?;
            Some(of_rounds(wanted.name.to_string(), times.to_vec()))
        }
        Quantity::Rate(side) => {
            let rates = run.output.times(side)?.iter().map(|time| 1.0 / time);
            Some(of_rounds(wanted.name.to_string(), rates.collect()))
        }
        Quantity::Best(side, others) => {
            let ratio = least(run, &[side])? / least(run, others)?;
            Some(of_value(wanted, run, ratio))
        }
        Quantity::BestRate(sides) => Some(of_value(wanted, run, 1.0 / least(run, sides)?)),
        Quantity::Value(name) | Quantity::Bounded(name) => {
            let of_name = |(other, value, most): &(String, f64, Option<f64>)| {
                (other == name).then_some((*value, most.or(wanted.most)))
            };
            let values: Vec<_> = run.output.values.iter().filter_map(of_name).collect();
            let figure = Figure {
                values,
                ..empty(wanted, run)
            };
            (!figure.values.is_empty()).then_some(figure)
        }
        Quantity::Growth(..) => None,
    }
}

/// Returns the ratios of the times of a side to those of the fastest of others, and its name.
fn ratios<'a>(run: &'a Run, side: &str, others: &[&'a str]) -> Option<(&'a str, Vec<f64>)> {
    let times = run.output.times(side)?;
    let (name, other) = fastest(run, others)?;
    // A time that is the difference of two calls may come out below zero.
    let ratio = |(a, b): (&f64, &f64)| match *a > 0.0 && *b > 0.0 {
        true => a / b,
        false => f64::NAN,
    };
    Some((name, times.iter().zip(other).map(ratio).collect()))
}

/// Returns the least time of some sides.
fn least(run: &Run, sides: &[&str]) -> Option<f64> {
    let times: Vec<&[f64]> = sides
        .iter()
        .map(|side| run.output.times(side))
        .collect::<Option<_>>()?;
    let times = times.into_iter().flatten().copied();
    times.min_by(f64::total_cmp)
}

/// Returns a figure of a run with one value.
fn of_value(wanted: &Wanted, run: &Run, value: f64) -> Figure {
    Figure {
        values: vec![(value, wanted.most)],
        ..empty(wanted, run)
    }
}

/// Returns a figure of a run without values.
fn empty(wanted: &Wanted, run: &Run) -> Figure {
    Figure {
        family: run.family,
        kind: run.kind,
        size: run.size.to_string(),
        name: wanted.name.to_string(),
        values: Vec::new(),
        quartiles: None,
    }
}

/// Returns the side whose median is the least.
fn fastest<'a>(run: &'a Run, sides: &[&'a str]) -> Option<(&'a str, &'a [f64])> {
    let times = |side: &&'a str| Some((*side, run.output.times(side)?));
    let times: Vec<(&str, &[f64])> = sides.iter().map(times).collect::<Option<_>>()?;
    let median = |times: &[f64]| Quartiles::of(times.iter().copied()).median;
    times
        .into_iter()
        .min_by(|(_, a), (_, b)| median(a).total_cmp(&median(b)))
}

/// Returns the exponent e of the growth of a whole time as size^e, from the first run to the last
/// one that has at most so many nodes, or to the last one where data are smaller.
fn growth(wanted: &Wanted, side: &str, last: usize, runs: &[Run]) -> Option<Figure> {
    let first = runs.first()?;
    // Shapes have some nodes more than they were asked for.
    let last = runs.iter().rfind(|run| run.size <= last + last / 8)?;
    let median = |run: &Run| Some(Quartiles::of(run.output.times(side)?.iter().copied()).median);
    let per_node = median(last)? / median(first)?;
    let sizes = last.size as f64 / first.size as f64;
    let exponent = if sizes > 1.0 {
        1.0 + per_node.ln() / sizes.ln()
    } else {
        1.0
    };
    Some(Figure {
        size: format!("{} to {}", first.size, last.size),
        values: vec![(exponent, wanted.most)],
        ..empty(wanted, first)
    })
}

#[cfg(test)]
mod tests {
    use super::super::lines::read;
    use super::*;

    fn run(size: usize, text: &str) -> Run {
        Run {
            family: "maps",
            kind: "list",
            size,
            output: read(text).expect("lines"),
        }
    }

    fn wanted(quantity: Quantity, most: Option<f64>) -> Wanted {
        Wanted {
            name: "figure",
            quantity,
            most,
        }
    }

    #[test]
    fn a_ratio_is_over_the_fastest_side_of_the_same_round() {
        let run = run(8, "time\tNOVA\t4 6 8\ntime\tA\t9 9 9\ntime\tB\t2 2 4\n");
        let ratio = wanted(Quantity::Ratio("NOVA", &["A", "B"]), Some(1.9));
        let (figures, failures) = of(&[ratio], &[run]);
        assert!(failures.is_empty());
        assert_eq!(figures[0].values, [(2.0, Some(1.9))]);
        assert_eq!(figures[0].name, "figure (B)");
        assert!(figures[0].is_miss());
    }

    #[test]
    fn a_time_below_zero_gives_no_ratio() {
        let run = run(8, "time\tNOVA\t-4 -6 8\ntime\tA\t9 9 9\n");
        let ratio = wanted(Quantity::Ratio("NOVA", &["A"]), Some(1.9));
        let (figures, _) = of(&[ratio], &[run]);
        assert!(!figures[0].is_known() && !figures[0].is_miss());
    }

    #[test]
    fn values_have_bounds_of_their_own() {
        let run = run(8, "value\tmoves\t3\t3\nvalue\tmoves\t5\t4\n");
        let moves = wanted(Quantity::Bounded("moves"), None);
        let (figures, _) = of(&[moves], &[run]);
        assert_eq!(figures[0].values, [(3.0, Some(3.0)), (5.0, Some(4.0))]);
        assert!(figures[0].is_miss());
    }

    #[test]
    fn threads_may_scale_as_those_in_c() {
        let scaling = Quantity::Scaling {
            side: "A2",
            one: "A",
            peer: "C2",
            over: &["C"],
        };
        let wanted = [wanted(scaling, Some(0.65))];
        let text = "time\tA\t10 10 10\ntime\tA2\t9 8 9\ntime\tC\t4 4 4\n";
        for (times, most) in [("2 2 2", 0.65), ("4 4 4", 1.1), ("0 -1 0", 0.65)] {
            let run = run(8, &format!("{text}time\tC2\t{times}\n"));
            let (figures, _) = of(&wanted, &[run]);
            assert_eq!(figures[0].values, [(0.9, Some(most))], "{times}");
        }
    }

    #[test]
    fn constant_time_per_node_is_linear_growth() {
        let runs = [10, 1000, 4000].map(|size| run(size, "time\tNOVA\t7 7 7\n"));
        let growth = wanted(Quantity::Growth("NOVA", 1000), Some(1.1));
        let (figures, _) = of(&[growth], &runs);
        assert_eq!(figures[0].values, [(1.0, Some(1.1))]);
        assert_eq!(figures[0].size, "10 to 1000");
        assert!(!figures[0].is_miss());
    }

    #[test]
    fn best_times_may_be_of_different_rounds() {
        let run = run(8, "time\tNOVA\t4 2 8\ntime\tA\t9 9 4\ntime\tB\t5 8 9\n");
        let best = wanted(Quantity::Best("NOVA", &["A", "B"]), Some(0.4));
        let rate = wanted(Quantity::BestRate(&["NOVA"]), None);
        let median = wanted(Quantity::Rate("NOVA"), None);
        let (figures, _) = of(&[best, rate, median], &[run]);
        let values = figures.iter().map(|figure| figure.values[0].0);
        assert_eq!(values.collect::<Vec<f64>>(), [0.5, 0.5, 0.25]);
        assert!(figures[0].is_miss());
    }

    #[test]
    fn a_side_that_did_not_run_is_reported() {
        let (figures, failures) = of(
            &[wanted(Quantity::Time("NOVA"), None)],
            &[run(8, "time\tC\t1\n")],
        );
        assert!(figures.is_empty());
        assert_eq!(failures, ["maps: figure: no such times"]);
    }
}
