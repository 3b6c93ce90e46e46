//! The sections of a program: sums, foreign functions, entries.

use super::Parser;
use crate::forms::read::FormReader;
use crate::ir::Entry;
use nova_syntax::DatumId;

/// The rule that parses a section.
type Section = for<'a> fn(&mut Parser<'a>, DatumId, &'a [DatumId]) -> Option<()>;

/// The words of all sections but those of sums and foreign functions.
const SECTIONS: [(&str, Section); 1] = [("entry", |p, at, items| p.entry(at, items))];

impl<'a> Parser<'a> {
    /// Parses `(program SECTION …)`.
    pub fn program(&mut self, root: DatumId) {
        for section in self.sections(root).unwrap_or_default() {
            if let Some((rule, items)) = self.section(*section, &SECTIONS) {
                rule(self, *section, items);
            }
        }
    }

    /// Parses `(entry "dot" [X_1:(vector f32)] BODY)`.
    fn entry(&mut self, at: DatumId, items: &'a [DatumId]) -> Option<()> {
        let [name, inputs, body] = self.exactly(at, items)?;
        let entry = Entry {
            name: self.string(name)?,
            inputs: self.parameters(inputs)?,
            body: self.expression(body)?,
        };
        self.program.entries.push(entry);
        Some(())
    }
}
