//! The sections of a program: sums, foreigns, entries, functions.

use super::Parser;
use crate::ir::{Entry, Function, FunctionId};
use nova_core::ir::Foreign;
use nova_core::{Constructor, SumId, SumType, Type as CoreType};
use nova_diag::deep;
use nova_syntax::DatumId;
use std::sync::Arc;

/// Reads one section.
type Section = for<'a> fn(&mut Parser<'a>, DatumId, &'a [DatumId]) -> Option<()>;

/// Every section by its word.
const SECTIONS: [(&str, Section); 4] = [
    ("sum", |parser, at, items| parser.sum(at, items)),
    ("foreign", |parser, at, items| parser.foreign(at, items)),
    ("entry", |parser, at, items| parser.entry(at, items)),
    ("function", |parser, at, items| parser.function(at, items)),
];

impl<'a> Parser<'a> {
    /// `(program SECTION …)`.
    pub fn program(&mut self, root: DatumId) {
        let Some(("program", sections)) = self.data.form(root) else {
            self.error::<()>(root, "`(program …)` is expected here");
            return;
        };
        self.number_functions(sections);
        for section in sections {
            let form = self.data.form(*section);
            let rule = form.and_then(|(word, _)| SECTIONS.iter().find(|s| s.0 == word));
            match (form, rule) {
                (Some((_, items)), Some((_, rule))) => {
                    rule(self, *section, items);
                }
                _ => {
                    let words: Vec<&str> = SECTIONS.iter().map(|s| s.0).collect();
                    let words = words.join(", ");
                    self.error::<()>(*section, format!("a section is one of: {words}"));
                }
            }
        }
    }

    /// Functions are named before they stand.
    fn number_functions(&mut self, sections: &[DatumId]) {
        let mut count = 0;
        for section in sections {
            if let Some(("function", items)) = self.data.form(*section) {
                if let Some(name) = items.first().and_then(|n| self.data.as_string(*n)) {
                    self.functions
                        .entry(name.to_string())
                        .or_insert(FunctionId(count));
                }
                count += 1;
            }
        }
    }

    /// The function of this name.
    pub fn function_id(&mut self, id: DatumId) -> Option<FunctionId> {
        let known = self
            .data
            .as_string(id)
            .and_then(|name| self.functions.get(name));
        match known {
            Some(function) => Some(*function),
            None => self.error(id, "there is no function of this name"),
        }
    }

    /// `(sum "List" [arguments] [group] ("Nil" unit) …)`.
    fn sum(&mut self, at: DatumId, items: &'a [DatumId]) -> Option<()> {
        let [name, arguments, group, constructors @ ..] = items else {
            return self.error(
                at,
                "`(sum \"Name\" [types] [group] constructors…)` is expected",
            );
        };
        let name = self.string(*name)?;
        let arguments = self.core_types(*arguments)?;
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
            let payload = self.core_type(payload)?;
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
            parameters: self.core_types(parameters)?,
            result: self.core_type(result)?,
        };
        self.program.foreigns.push(foreign);
        Some(())
    }

    /// `(entry "dot" [("X" (vector f32)) …] f32 "dot")`.
    fn entry(&mut self, at: DatumId, items: &'a [DatumId]) -> Option<()> {
        let [name, inputs, result, function] = self.exactly(at, items)?;
        let mut list = Vec::new();
        for input in self.items(inputs)? {
            let items = self.data.as_list(*input).unwrap_or_default();
            let [name, ty] = self.exactly(*input, items)?;
            list.push((self.string(name)?, self.core_type(ty)?));
        }
        let entry = Entry {
            name: self.string(name)?,
            inputs: list,
            result: self.core_type(result)?,
            function: self.function_id(function)?,
        };
        self.program.entries.push(entry);
        Some(())
    }

    /// `(function "dot" recursive "place" [parameters] [results] BODY)`.
    fn function(&mut self, at: DatumId, items: &'a [DatumId]) -> Option<()> {
        let Some((name, [attributes @ .., parameters, results, body])) = items.split_first() else {
            return self.error(
                at,
                "`(function \"name\" [x:f32 …] [y:f32 …] BODY)` is expected",
            );
        };
        let (recursive, place) = match attributes {
            [word, rest @ ..] if self.data.is_symbol(*word, "recursive") => (true, rest),
            rest => (false, rest),
        };
        if place.len() > 1 {
            return self.error(place[0], "a function has no such attribute");
        }
        let function = Function {
            name: self.string(*name)?,
            parameters: self.parameters(*parameters)?,
            results: self.parameters(*results)?,
            body: self.body(*body)?,
            recursive,
            place: self.place(place.first().copied())?,
        };
        self.program.functions.push(function);
        Some(())
    }

    fn core_types(&mut self, id: DatumId) -> Option<Vec<CoreType>> {
        let items = self.items(id)?;
        items.iter().map(|item| self.core_type(*item)).collect()
    }

    /// A type of Core as [`crate::print::print_core_type`] writes it.
    pub fn core_type(&mut self, id: DatumId) -> Option<CoreType> {
        deep(|| match self.data.form(id) {
            Some(("tuple", items)) if items.len() >= 2 => {
                let types: Option<Vec<_>> = items.iter().map(|i| self.core_type(*i)).collect();
                Some(CoreType::Tuple(types?.into()))
            }
            Some(("vector", [element])) => Some(CoreType::vector(self.core_type(*element)?)),
            Some(("array", [rank, element])) => {
                let rank = self.index(*rank)?;
                Some(CoreType::Array(rank, Arc::new(self.core_type(*element)?)))
            }
            Some(("->", [parameter, result])) => {
                let parameter = self.core_type(*parameter)?;
                Some(CoreType::function(&[parameter], self.core_type(*result)?))
            }
            Some(("sum", [id])) => self.index(*id).map(|id| CoreType::Sum(SumId(id))),
            Some(_) => self.error(id, "a type is expected here"),
            None if self.data.is_symbol(id, "unit") => Some(CoreType::Unit),
            None => self.scalar(id).map(CoreType::Scalar),
        })
    }
}
