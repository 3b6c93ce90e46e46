//! The sections of a program: sums, foreigns, entries, functions.

use super::Parser;
use crate::ir::{Entry, Function, FunctionId};
use nova_core::forms::read::{FormReader, ProgramReader};
use nova_syntax::DatumId;

/// The rule that parses a section.
type Section = for<'a> fn(&mut Parser<'a>, DatumId, &'a [DatumId]) -> Option<()>;

/// The words of all sections but those of sums and foreign functions.
const SECTIONS: [(&str, Section); 2] = [
    ("entry", |p, at, items| {
        let (name, inputs, result, function) = p.entry_items(at, items)?;
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
        let sections = self.sections(root).unwrap_or_default();
        self.names.number_functions(self.data, sections);
        for section in sections {
            if let Some((rule, items)) = self.section(*section, &SECTIONS) {
                rule(self, *section, items);
            }
        }
    }

    /// Returns the function of this name.
    pub fn function_id(&mut self, id: DatumId) -> Option<FunctionId> {
        self.function_number(id).map(FunctionId)
    }

    /// Parses `(function "dot" recursive takes "place" [parameters] [results] BODY)`.
    fn function(&mut self, at: DatumId, items: &'a [DatumId]) -> Option<()> {
        let Some((name, [attributes @ .., parameters, results, body])) = items.split_first() else {
            return self.error(
                at,
                "`(function \"name\" [x:f32 …] [y:f32 …] BODY)` is expected",
            );
        };
        let mut attributes = attributes;
        let recursive = self.take_word(&mut attributes, "recursive");
        let takes = self.take_word(&mut attributes, "takes");
        let place = attributes;
        if place.len() > 1 {
            return self.error(place[0], "a function has no such attribute");
        }
        let function = Function {
            name: self.string(*name)?,
            parameters: self.parameters(*parameters)?,
            results: self.parameters(*results)?,
            body: self.body(*body)?,
            recursive,
            takes,
            place: self.place(place.first().copied())?,
        };
        self.program.functions.push(function);
        Some(())
    }
}
