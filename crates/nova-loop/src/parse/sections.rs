//! The sections of a program: sums, foreigns, entries, functions.

use super::Parser;
use crate::ir::{Entry, Function, FunctionId, Variable};
use nova_core::ir::Foreign;
use nova_core::{Constructor, SumId, SumType, Type as CoreType};
use nova_diag::deep;
use nova_syntax::DatumId;
use std::sync::Arc;

/// Reads one section.
type Section = for<'a> fn(&mut Parser<'a>, DatumId, &'a [DatumId]) -> Option<()>;

/// Every section by its word.
const SECTIONS: [(&str, Section); 4] = [
    ("sum", |p, at, items| p.sum(at, items)),
    ("foreign", |p, at, items| p.foreign(at, items)),
    ("entry", |p, at, items| p.entry(at, items)),
    ("function", |p, at, items| p.function(at, items)),
];

impl<'a> Parser<'a> {
    /// `(program SECTION …)`, perhaps with `strict` before the sections.
    pub(super) fn program(&mut self, root: DatumId) {
        let Some(("program", mut sections)) = self.data.form(root) else {
            self.error::<()>(root, "`(program …)` is expected here");
            return;
        };
        if let [first, rest @ ..] = sections
            && self.data.is_symbol(*first, "strict")
        {
            self.program.strict = true;
            sections = rest;
        }
        self.number_functions(sections);
        for section in sections {
            let form = self.data.form(*section);
            let rule = form.and_then(|(word, _)| SECTIONS.iter().find(|s| s.0 == word));
            if let (Some((_, items)), Some((_, rule))) = (form, rule) {
                rule(self, *section, items);
            } else {
                let words = SECTIONS.map(|s| s.0).join(", ");
                self.error::<()>(*section, format!("a section is one of: {words}"));
            }
        }
    }

    /// Calls may stand before the functions they name.
    fn number_functions(&mut self, sections: &[DatumId]) {
        let functions = sections.iter().filter_map(|s| match self.data.form(*s) {
            Some(("function", items)) => Some(items),
            Some(_) | None => None,
        });
        for (number, items) in functions.enumerate() {
            if let Some(name) = items.first().and_then(|n| self.data.as_string(*n)) {
                let id = FunctionId(number as u32);
                self.functions.entry(name.to_string()).or_insert(id);
            }
        }
    }

    /// The function of this name.
    pub(super) fn function_id(&mut self, id: DatumId) -> Option<FunctionId> {
        let name = self.data.as_string(id);
        match name.and_then(|name| self.functions.get(name)) {
            Some(function) => Some(*function),
            None => self.error(id, "there is no function of this name"),
        }
    }

    /// `(sum "List" [arguments] [group] ("Nil" unit) …)`.
    fn sum(&mut self, at: DatumId, items: &'a [DatumId]) -> Option<()> {
        let [name, arguments, group, constructors @ ..] = items else {
            return self.error(
                at,
                "a sum is `(sum \"Name\" [types] [group] (\"C\" type) …)`",
            );
        };
        let mut sum = SumType {
            name: self.string(*name)?,
            arguments: self.core_types(*arguments)?,
            constructors: Vec::new(),
            group: Vec::new(),
        };
        for id in self.items(*group)? {
            sum.group.push(SumId(self.index(*id)?));
        }
        for constructor in constructors {
            let parts = self.data.as_list(*constructor).unwrap_or_default();
            let [name, payload] = self.exactly(*constructor, parts)?;
            sum.constructors.push(Constructor {
                name: self.string(name)?,
                payload: self.core_type(payload)?,
            });
        }
        self.program.sums.push(sum);
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
        let mut entry = Entry {
            name: self.string(name)?,
            inputs: Vec::new(),
            result: self.core_type(result)?,
            function: self.function_id(function)?,
        };
        for input in self.items(inputs)? {
            let parts = self.data.as_list(*input).unwrap_or_default();
            let [name, ty] = self.exactly(*input, parts)?;
            entry.inputs.push((self.string(name)?, self.core_type(ty)?));
        }
        self.program.entries.push(entry);
        Some(())
    }

    /// `(function "dot" recursive "place" [parameters] [results] COMMAND …)`.
    fn function(&mut self, at: DatumId, items: &'a [DatumId]) -> Option<()> {
        let Some((name, mut rest)) = items.split_first() else {
            return self.error(at, "a function has a name, parameters and results");
        };
        let mut recursive = false;
        if let [word, others @ ..] = rest
            && self.data.is_symbol(*word, "recursive")
        {
            recursive = true;
            rest = others;
        }
        let mut place = None;
        if let [text, others @ ..] = rest
            && self.data.as_text(*text).is_some()
        {
            place = Some(*text);
            rest = others;
        }
        let [parameters, results, body @ ..] = rest else {
            return self.error(at, "a function has a name, parameters and results");
        };
        let function = Function {
            name: self.string(*name)?,
            parameters: self.bindings(*parameters)?,
            results: self.bindings(*results)?,
            body: self.commands(body)?,
            recursive,
            place: self.place(place)?,
        };
        self.program.functions.push(function);
        Some(())
    }

    /// `[x:f32 y:block]`.
    fn bindings(&mut self, id: DatumId) -> Option<Vec<Variable>> {
        let mut items = self.items(id)?;
        let mut list = Vec::new();
        while !items.is_empty() {
            list.push(self.binding(id, &mut items)?);
        }
        Some(list)
    }

    fn core_types(&mut self, id: DatumId) -> Option<Vec<CoreType>> {
        let items = self.items(id)?;
        items.iter().map(|item| self.core_type(*item)).collect()
    }

    /// A type of Core.
    pub(super) fn core_type(&mut self, id: DatumId) -> Option<CoreType> {
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
            Some(("sum", [sum])) => self.index(*sum).map(|sum| CoreType::Sum(SumId(sum))),
            Some(_) => self.error(id, "a type is expected here"),
            None if self.data.is_symbol(id, "unit") => Some(CoreType::Unit),
            None => self.scalar(id).map(CoreType::Scalar),
        })
    }
}
