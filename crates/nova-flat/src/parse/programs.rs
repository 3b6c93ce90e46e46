//! The sections of a program: sums, foreigns, entries, functions.

use super::Parser;
use crate::ir::{Entry, Function, FunctionId};
use nova_syntax::DatumId;

/// The rule that parses a section.
type Section = for<'a> fn(&mut Parser<'a>, DatumId, &'a [DatumId]) -> Option<()>;

/// The words of all sections but those of sums and foreign functions.
const SECTIONS: [(&str, Section); 2] = [
    ("entry", |p, at, items| {
        let (name, inputs, result, function) = p.text.entry_items(at, items)?;
        p.program.entries.push(Entry {
            name,
            inputs,
            result,
            function: FunctionId(function),
        });
        Some(())
    }),
    ("function", |p, at, items| p.function(at, items)),
];

impl<'a> Parser<'a> {
    /// Parses `(program SECTION …)`.
    pub fn program(&mut self, root: DatumId) {
        let sections = self.text.sections(root).unwrap_or_default();
        self.text.number_functions(sections);
        for section in sections {
            let tables = (&mut self.program.sums, &mut self.program.foreigns);
            if let Some((rule, items)) = self.text.section(*section, &SECTIONS, tables) {
                rule(self, *section, items);
            }
        }
    }

    /// Returns the function of this name.
    pub fn function_id(&mut self, id: DatumId) -> Option<FunctionId> {
        self.text.function_number(id).map(FunctionId)
    }

    /// Parses `(function "dot" recursive takes "place" [parameters] [results] BODY)`.
    fn function(&mut self, at: DatumId, items: &'a [DatumId]) -> Option<()> {
        let Some((name, [attributes @ .., parameters, results, body])) = items.split_first() else {
            return self.text.error(
                at,
                "`(function \"name\" [x:f32 …] [y:f32 …] BODY)` is expected",
            );
        };
        let mut attributes = attributes;
        let recursive = self.text.take_word(&mut attributes, "recursive");
        let takes = self.text.take_word(&mut attributes, "takes");
        let place = attributes;
        if place.len() > 1 {
            return self
                .text
                .error(place[0], "a function has no such attribute");
        }
        let function = Function {
            name: self.text.string(*name)?,
            parameters: self.parameters(*parameters)?,
            results: self.parameters(*results)?,
            body: self.body(*body)?,
            recursive,
            takes,
            place: self.text.place(place.first().copied())?,
        };
        self.program.functions.push(function);
        Some(())
    }
}
