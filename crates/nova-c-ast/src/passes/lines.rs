//! Lines of the source for debuggers and profilers: `#line` before each loop with the place that it
//! comes from, and after it with the place around it. What stands outside of functions with places is
//! on lines of the C file itself. These are known once it is printed ([`print()`]).

use crate::ast::{Block, Functions, Item, Statement, nested_statements};
use crate::print::{print_within, without_trigraphs};
use nova_diag::{Place, deep};

/// The directive for lines of the C file itself, whose number is not yet known.
const OWN: &str = "#line own";

/// Columns of lines so long that each statement has one. A directive inside of a statement would stand
/// among the arguments of a macro.
const ONE_LINE: usize = 1 << 20;

/// Replaces the places in functions by directives.
pub fn run(functions: &mut Functions) {
    for function in &mut functions.list {
        if let Some(body) = &mut function.body {
            let mut lines = Lines { current: None };
            lines.block(body);
            lines.go_on_at(&None, &mut body.0);
        }
    }
}

/// Returns the text of a directive.
pub(crate) fn directive(place: Option<&Place>) -> String {
    match place {
        None => OWN.into(),
        Some(place) => named(place.line, &place.file),
    }
}

fn named(line: u32, file: &str) -> String {
    let file = file.replace('\\', "\\\\").replace('"', "\\\"");
    without_trigraphs(&format!("#line {line} \"{file}\""))
}

/// Prints the items of a file. Each line of a loop has the directive with its place: compilers count on
/// from a directive, but all of a loop comes from one line.
pub fn print(items: &[Item], file: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut place: Option<String> = None;
    // True if the last line was one of the source.
    let mut is_elsewhere = false;
    for line in print_within(ONE_LINE, items).lines() {
        let start = line.trim_start();
        if start.starts_with("#line ") {
            place = (start != OWN).then(|| start.to_owned());
            continue;
        }
        if let Some(directive) = &place {
            lines.push(directive.clone());
            is_elsewhere = true;
        } else if is_elsewhere {
            // The directive's own number is one more than that of the lines so far.
            lines.push(named(lines.len() as u32 + 2, file));
            is_elsewhere = false;
        }
        lines.push(line.to_owned());
    }
    lines.join("\n") + "\n"
}

/// The walk over the statements of a function, in the order of the text.
struct Lines {
    /// The place of the text so far.
    current: Option<Place>,
}

impl Lines {
    fn block(&mut self, block: &mut Block) {
        let mut out = Vec::with_capacity(block.0.len());
        // The place around a loop whose own place has been met.
        let mut around = None;
        for mut statement in std::mem::take(&mut block.0) {
            if let Statement::Place(place) = statement {
                around.get_or_insert_with(|| self.current.clone());
                self.go_on_at(&Some(place), &mut out);
                continue;
            }
            let is_first_part = matches!(statement, Statement::Declare { .. });
            self.inside(&mut statement);
            out.push(statement);
            if !is_first_part && let Some(place) = around.take() {
                self.go_on_at(&place, &mut out);
            }
        }
        if let Some(place) = around {
            self.go_on_at(&place, &mut out);
        }
        block.0 = out;
    }

    /// Handles the blocks of a statement. All begin and end at its own place.
    fn inside(&mut self, statement: &mut Statement) {
        if !matches!(statement, nested_statements!()) {
            return;
        }
        let own = self.current.clone();
        for block in statement.blocks_mut() {
            deep(|| self.block(block));
            self.go_on_at(&own, &mut block.0);
        }
    }

    /// Adds a directive, unless the text is at this line already.
    fn go_on_at(&mut self, place: &Option<Place>, out: &mut Vec<Statement>) {
        let line = |place: &Option<Place>| place.as_ref().map(|p| (p.file.clone(), p.line));
        let differs = line(place) != line(&self.current);
        self.current.clone_from(place);
        if differs {
            out.push(Statement::Line(place.clone()));
        }
    }
}
