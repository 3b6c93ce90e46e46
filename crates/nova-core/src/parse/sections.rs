//! The sections of a program: sums, foreign functions, entries.

use super::Parser;
use crate::ir::Entry;
use nova_syntax::DatumId;

/// The rule that parses a section.
type Section = for<'a> fn(&mut Parser<'a>, DatumId, &'a [DatumId]) -> Option<()>;

/// The words of all sections but those of sums and foreign functions.
const SECTIONS: [(&str, Section); 1] = [("entry", |p, at, items| p.entry(at, items))];

impl<'a> Parser<'a> {
    /// Parses `(program SECTION …)`.
    pub fn program(&mut self, root: DatumId) {
        for section in self.text.sections(root).unwrap_or_default() {
            let tables = (&mut self.program.sums, &mut self.program.foreigns);
            if let Some((rule, items)) = self.text.section(*section, &SECTIONS, tables) {
                rule(self, *section, items);
            }
        }
    }

    /// Parses `(entry "dot" [X_1:(vector f32)] BODY)`.
    fn entry(&mut self, at: DatumId, items: &'a [DatumId]) -> Option<()> {
        let [name, inputs, body] = self.text.exactly(at, items)?;
        let entry = Entry {
            name: self.text.string(name)?,
            inputs: self.parameters(inputs)?,
            body: self.expression(body)?,
        };
        self.program.entries.push(entry);
        Some(())
    }
}
