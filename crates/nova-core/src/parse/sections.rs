//! The sections of a program: sums, foreign functions, entries.

use super::Parser;
use crate::ir::{Entry, Foreign};
use crate::{Constructor, SumId, SumType};
use nova_syntax::DatumId;

/// Reads one section.
type Section = for<'a> fn(&mut Parser<'a>, DatumId, &'a [DatumId]) -> Option<()>;

/// Every section by its word.
const SECTIONS: [(&str, Section); 3] = [
    ("sum", |parser, at, items| parser.sum(at, items)),
    ("foreign", |parser, at, items| parser.foreign(at, items)),
    ("entry", |parser, at, items| parser.entry(at, items)),
];

impl<'a> Parser<'a> {
    /// `(program SECTION …)`.
    pub fn program(&mut self, root: DatumId) {
        let Some(("program", sections)) = self.data.form(root) else {
            self.error::<()>(root, "`(program …)` is expected here");
            return;
        };
        for section in sections {
            let form = self.data.form(*section);
            let rule = form.and_then(|(word, _)| SECTIONS.iter().find(|s| s.0 == word));
            match (form, rule) {
                (Some((_, items)), Some((_, rule))) => {
                    rule(self, *section, items);
                }
                _ => {
                    let words = SECTIONS.map(|s| s.0).join(", ");
                    self.error::<()>(*section, format!("a section is one of: {words}"));
                }
            }
        }
    }

    /// `(sum "List" [arguments] [group] ("Nil" unit) …)`.
    fn sum(&mut self, at: DatumId, items: &'a [DatumId]) -> Option<()> {
        let [name, arguments, group, constructors @ ..] = items else {
            let form = "`(sum \"Name\" [types] [group] constructors…)` is expected";
            return self.error(at, form);
        };
        let name = self.string(*name)?;
        let arguments = self.types(*arguments)?;
        let group = self.items(*group)?;
        let group = group
            .iter()
            .map(|id| self.index(*id).map(SumId))
            .collect::<Option<_>>()?;
        let mut list = Vec::new();
        for constructor in constructors {
            let items = self.data.as_list(*constructor).unwrap_or_default();
            let [name, payload] = self.exactly(*constructor, items)?;
            let name = self.string(name)?;
            let payload = self.ty(payload)?;
            list.push(Constructor { name, payload });
        }
        self.program.sums.push(SumType {
            name,
            arguments,
            constructors: list,
            group,
        });
        Some(())
    }

    /// `(foreign "f" [types] type)`.
    fn foreign(&mut self, at: DatumId, items: &'a [DatumId]) -> Option<()> {
        let [name, parameters, result] = self.exactly(at, items)?;
        let foreign = Foreign {
            name: self.string(name)?,
            parameters: self.types(parameters)?,
            result: self.ty(result)?,
        };
        self.program.foreigns.push(foreign);
        Some(())
    }

    /// `(entry "dot" [X_1:(vector f32)] BODY)`.
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
