//! Lines of the source for debuggers and profilers: `#line` before each loop with the place that it
//! comes from, and after it with the place around it. What stands outside of functions with places is
//! on lines of the C file itself, which are known once it is printed
//! ([`print_with_lines`](crate::print::print_with_lines)).

use crate::ast::{Block, Functions, Statement, nested_statements};
use nova_diag::{Place, deep};

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
