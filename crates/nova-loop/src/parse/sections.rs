//! The parser of the sections of a program: sums, foreign functions, entries, functions, witnesses.

use super::Parser;
use crate::ir::{Entry, Function, FunctionId, Reason, Variable, Witness};
use nova_syntax::DatumId;

/// Reads one section.
type Section = for<'a> fn(&mut Parser<'a>, DatumId, &'a [DatumId]) -> Option<()>;

/// Every section except sums and foreign functions, by its keyword.
const SECTIONS: [(&str, Section); 4] = [
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
    ("thread_instance", |p, at, items| {
        let [original, instance] = p.text.exactly(at, items)?;
        let pair = (p.function_id(original)?, p.function_id(instance)?);
        p.program.thread_instances.extend([pair]);
        Some(())
    }),
    ("witness", |p, at, items| p.witness(at, items)),
];

impl<'a> Parser<'a> {
    /// `(program SECTION …)`, optionally with `strict` and `nodes_by_threads` before the sections.
    pub(super) fn program(&mut self, root: DatumId) {
        let mut sections = self.text.sections(root).unwrap_or_default();
        self.program.strict = self.text.take_word(&mut sections, "strict");
        self.program.nodes_by_threads = self.text.take_word(&mut sections, "nodes_by_threads");
        self.text.number_functions(sections);
        for section in sections {
            let tables = (&mut self.program.sums, &mut self.program.foreigns);
            if let Some((rule, items)) = self.text.section(*section, &SECTIONS, tables) {
                rule(self, *section, items);
            }
        }
    }

    /// Returns the function of this name.
    pub(super) fn function_id(&mut self, id: DatumId) -> Option<FunctionId> {
        self.text.function_number(id).map(FunctionId)
    }

    /// `(function "dot" recursive takes "place" [parameters] [results] COMMAND …)`.
    fn function(&mut self, at: DatumId, items: &'a [DatumId]) -> Option<()> {
        let Some((name, mut rest)) = items.split_first() else {
            return self
                .text
                .error(at, "a function has a name, parameters and results");
        };
        let recursive = self.text.take_word(&mut rest, "recursive");
        let takes = self.text.take_word(&mut rest, "takes");
        let mut place = None;
        if let [text, others @ ..] = rest
            && self.text.data.as_text(*text).is_some()
        {
            place = Some(*text);
            rest = others;
        }
        let [parameters, results, body @ ..] = rest else {
            return self
                .text
                .error(at, "a function has a name, parameters and results");
        };
        let function = Function {
            name: self.text.string(*name)?,
            parameters: self.bindings(*parameters)?,
            results: self.bindings(*results)?,
            body: self.commands(body)?,
            recursive,
            takes,
            place: self.text.place(place)?,
        };
        self.program.functions.push(function);
        Some(())
    }

    /// `(witness i_3 (t_9 apart (scan i_2)) …)`.
    fn witness(&mut self, at: DatumId, items: &'a [DatumId]) -> Option<()> {
        let Some((index, blocks)) = items.split_first() else {
            return self
                .text
                .error(at, "a witness is for a loop, named by its index");
        };
        let index = self.variable(*index)?;
        let mut witness = Witness::default();
        for block in blocks {
            let list = self.text.data.as_list(*block).and_then(<[_]>::split_first);
            let Some((pointer, reasons)) = list else {
                return self
                    .text
                    .error(*block, "a pointer and reasons are expected here");
            };
            let reasons: Option<Vec<Reason>> =
                reasons.iter().map(|reason| self.reason(*reason)).collect();
            witness.blocks.insert(self.variable(*pointer)?, reasons?);
        }
        self.program.witnesses.insert(index, witness);
        Some(())
    }

    /// `apart`, `(scan i_2)`, …
    fn reason(&mut self, id: DatumId) -> Option<Reason> {
        if let Some(("scan", [index])) = self.text.data.form(id) {
            return self.variable(*index).map(Reason::Scan);
        }
        if let Some(("segment", [low, length])) = self.text.data.form(id) {
            return Some(Reason::Segment(
                self.variable(*low)?,
                self.variable(*length)?,
            ));
        }
        let word = self.text.data.as_symbol(id);
        match Reason::PLAIN
            .iter()
            .find(|reason| Some(reason.word()) == word)
        {
            Some(reason) => Some(*reason),
            None => self
                .text
                .error(id, "a reason is expected here: `apart`, `(scan i_2)`, …"),
        }
    }

    /// `[x:f32 y:block]`.
    fn bindings(&mut self, id: DatumId) -> Option<Vec<Variable>> {
        let mut items = self.text.items(id)?;
        let mut list = Vec::new();
        while !items.is_empty() {
            list.push(self.binding(id, &mut items)?);
        }
        Some(list)
    }
}
