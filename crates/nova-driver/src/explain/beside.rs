//! The schedules of one program on several targets as a table: a row for each loop, sort and array, a
//! column for each target. Targets whose passes make different loops have rows of their own.

use crate::options::Target;
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// The schedule of a program on a target: the way each operation runs and the home of each array, by
/// function.
#[derive(Clone, Debug)]
pub struct Schedule {
    target: Target,
    functions: Vec<Function>,
}

#[derive(Clone, Debug)]
struct Function {
    title: String,
    rows: Vec<Row>,
}

/// A loop, a sort or an array.
#[derive(Clone, Debug)]
struct Row {
    what: What,
    /// The way it runs or the place where it lies, with the reason, line by line.
    how: Vec<String>,
}

/// The subject of a row, and the number of others in which it stands.
type What = (usize, String);

impl Schedule {
    pub(super) fn new(target: Target) -> Schedule {
        Schedule {
            target,
            functions: Vec::new(),
        }
    }

    /// Begins a function.
    pub(super) fn function(&mut self, title: String) {
        let rows = Vec::new();
        self.functions.push(Function { title, rows });
    }

    /// Adds a row to the last function.
    pub(super) fn row(&mut self, depth: usize, what: String, how: Vec<String>) {
        if let Some(function) = self.functions.last_mut() {
            let what = (depth.saturating_sub(1), what);
            function.rows.push(Row { what, how });
        }
    }

    fn rows(&self, title: &str) -> &[Row] {
        let own = self.functions.iter().find(|f| f.title == title);
        own.map_or(&[], |function| &function.rows)
    }
}

/// The widths of the first column, and of each of the others.
const WIDTHS: (usize, usize) = (44, 36);

/// The text for a target that has no such row.
const NOTHING: &str = "-";

/// Returns the table, whose columns are the targets in the order given.
pub fn side_by_side(schedules: &[Schedule]) -> String {
    let mut titles: Vec<&str> = Vec::new();
    for function in schedules.iter().flat_map(|schedule| &schedule.functions) {
        if !titles.contains(&function.title.as_str()) {
            titles.push(&function.title);
        }
    }
    let targets: Vec<Vec<String>> = schedules
        .iter()
        .map(|schedule| vec![schedule.target.to_string()])
        .collect();
    let mut out = String::new();
    add_row(&mut out, 0, "target", &targets);
    for title in titles {
        out.push('\n');
        out.push_str(title);
        out.push('\n');
        let columns: Vec<&[Row]> = schedules.iter().map(|s| s.rows(title)).collect();
        let rows = aligned(&columns);
        if rows.is_empty() {
            out.push_str("  no loops, no arrays of its own\n");
        }
        for ((depth, what), cells) in rows {
            let nothing = || vec![NOTHING.to_string()];
            let cells: Vec<Vec<String>> = cells
                .into_iter()
                .map(|cell| cell.map_or_else(nothing, |row| row.how.clone()))
                .collect();
            add_row(&mut out, depth + 1, &what, &cells);
        }
    }
    out
}

/// Aligns the rows of several targets in one order, each with the row of every target.
fn aligned<'a>(columns: &[&'a [Row]]) -> Vec<(What, Vec<Option<&'a Row>>)> {
    let mut merged: Vec<(What, Vec<Option<&Row>>)> = Vec::new();
    for (column, rows) in columns.iter().enumerate() {
        let known: Vec<&What> = merged.iter().map(|(what, _)| what).collect();
        let own: Vec<&What> = rows.iter().map(|row| &row.what).collect();
        let steps = capture_diff_slices(Algorithm::Myers, &known, &own);
        let mut next = Vec::with_capacity(merged.len() + rows.len());
        for step in steps {
            let (old, new) = (step.old_range(), step.new_range());
            let kept = merged.get(old).unwrap_or_default().iter().cloned();
            let added = rows.get(new).unwrap_or_default().iter().map(Some);
            match step {
                DiffOp::Equal { .. } => {
                    next.extend(kept.zip(added).map(|((what, mut cells), row)| {
                        cells.push(row);
                        (what, cells)
                    }))
                }
                DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => {
                    next.extend(kept.map(|(what, mut cells)| {
                        cells.push(None);
                        (what, cells)
                    }));
                    next.extend(added.flatten().map(|row| {
                        let mut cells = vec![None; column];
                        cells.push(Some(row));
                        (row.what.clone(), cells)
                    }));
                }
            }
        }
        merged = next;
    }
    merged
}

/// Adds a row of the table: text in the first column, lines in each of the others.
fn add_row(out: &mut String, depth: usize, what: &str, cells: &[Vec<String>]) {
    let (first, others) = WIDTHS;
    let indent = " ".repeat(depth.min(8) * 2);
    let options = textwrap::Options::new(first)
        .initial_indent(&indent)
        .subsequent_indent(&indent);
    let mut columns = vec![(first, textwrap::wrap(what, options))];
    for cell in cells {
        let options = || textwrap::Options::new(others).subsequent_indent("  ");
        let lines = cell.iter().flat_map(|line| textwrap::wrap(line, options()));
        columns.push((others, lines.collect()));
    }
    let height = columns.iter().map(|(_, lines)| lines.len()).max();
    for k in 0..height.unwrap_or_default() {
        let mut line = String::new();
        for (width, lines) in &columns {
            let text = lines.get(k).map_or("", |text| text);
            line.push_str(&format!("{text:width$}  "));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(target: Target, rows: &[(&str, &str)]) -> Schedule {
        let mut schedule = Schedule::new(target);
        schedule.function("entry f".to_string());
        for (what, how) in rows {
            schedule.row(1, (*what).to_string(), vec![(*how).to_string()]);
        }
        schedule
    }

    /// Returns the table with one space between words.
    fn words(schedules: &[Schedule]) -> Vec<String> {
        let table = side_by_side(schedules);
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        table.lines().map(words).collect()
    }

    #[test]
    fn what_a_target_does_not_have_is_a_dash() {
        let first = schedule(Target::Sequential, &[("map", "a"), ("sort", "b")]);
        let second = schedule(Target::Cuda, &[("map", "c"), ("scan", "d"), ("sort", "e")]);
        let third = schedule(Target::OpenCl, &[("scan", "f"), ("last", "g")]);
        let expected = [
            "target seq cuda opencl",
            "",
            "entry f",
            "map a c -",
            "scan - d f",
            "sort b e -",
            "last - - g",
        ];
        assert_eq!(words(&[first, second, third]), expected);
    }

    #[test]
    fn functions_of_any_target_are_listed_once() {
        let first = schedule(Target::Sequential, &[]);
        let mut second = schedule(Target::Cuda, &[]);
        second.function("function g".to_string());
        second.row(1, "map".to_string(), vec!["in order".to_string()]);
        let expected = [
            "target seq cuda",
            "",
            "entry f",
            "no loops, no arrays of its own",
            "",
            "function g",
            "map - in order",
        ];
        assert_eq!(words(&[first, second]), expected);
    }

    #[test]
    fn long_texts_are_broken_within_their_columns() {
        let long =
            "from 21846 iterations on, into even chunks of 10944 or more; an iteration counts as 3";
        let table = side_by_side(&[schedule(Target::Sequential, &[("map", long)])]);
        let (first, others) = WIDTHS;
        assert!(
            table.lines().all(|line| line.len() <= first + others + 2),
            "{table}"
        );
        let rows: Vec<&str> = table.lines().skip(3).collect();
        assert!(rows.len() > 2, "{table}");
        assert!(
            rows.iter()
                .skip(1)
                .all(|row| row.starts_with(&" ".repeat(first))),
            "{table}"
        );
    }
}
