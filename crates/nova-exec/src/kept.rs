//! Records of programs that were loaded before. A record says which code of the cache a program has, and
//! what its entries are. So the program is loaded again without any work of the compiler.
//!
//! A record is a text in the forms of the intermediate representations. Its key must decide the whole
//! program and how it is compiled. It need not decide the lines of its source ([`crate::places`]).

use crate::cache::{Cache, Key};
use crate::library::{EntryInterface, Library};
use nova_core::forms::read::{FormReader, read_one};
use nova_core::forms::write::Lines;
use nova_core::{SumType, Type};
use nova_diag::SourceMap;
use std::sync::Arc;

/// A record of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The key of its code.
    code: Key,
    /// True if the compiler had warnings about it.
    pub has_warnings: bool,
    entries: Vec<EntryInterface>,
    sums: Vec<SumType>,
}

/// The words that say whether a program has warnings.
const WARNINGS: [(bool, &str); 2] = [(false, "silent"), (true, "warned")];

impl Record {
    /// Returns the record of a key.
    pub fn find(key: &Key, cache: &Cache, warnings: &mut Vec<String>) -> Option<Record> {
        let content = cache.get(key, warnings)?;
        Record::parse(&String::from_utf8(content).ok()?)
    }

    /// Keeps the record of a library. A library whose code is not in the cache has none.
    pub fn keep(library: &Library, has_warnings: bool, key: &Key, cache: &Cache) {
        let Some(code) = library.code_key() else {
            return;
        };
        let record = Record {
            code: code.clone(),
            has_warnings,
            entries: library.entries().cloned().collect(),
            sums: library.sums().to_vec(),
        };
        // A problem with the cache was reported when the code was stored.
        cache.put(key, record.print().as_bytes(), &mut Vec::new());
    }

    /// Loads the program, if its code is still in the cache.
    pub fn load(self, cache: &Cache, warnings: Vec<String>) -> Option<Library> {
        Library::of_code(&self.code, self.entries, self.sums, cache, warnings)
    }

    fn print(&self) -> String {
        let mut lines = Lines::new("(program", 1);
        self.sums.iter().for_each(|sum| lines.sum(sum));
        for entry in &self.entries {
            let code = format!("{} {}", entry.symbol, entry.error);
            lines.entry(&entry.name, &entry.inputs, &entry.result, &code);
        }
        let word = WARNINGS.iter().find(|(has, _)| *has == self.has_warnings);
        let word = word.map_or("", |(_, word)| word);
        lines.line();
        lines.text(&format!("(code \"{}\" \"{word}\"))\n", self.code.text()));
        lines.finish()
    }

    fn parse(text: &str) -> Option<Record> {
        let file = SourceMap::new().add("record", "");
        let (data, root) = read_one(text, file).ok()?;
        let mut reader = FormReader::<()>::new(&data);
        let (mut sums, mut foreigns) = (Vec::new(), Vec::new());
        let (mut entries, mut code) = (Vec::new(), None);
        for section in reader.sections(root)? {
            let rules = [("entry", Section::Entry), ("code", Section::Code)];
            let found = reader.section(*section, &rules, (&mut sums, &mut foreigns));
            match found {
                Some((Section::Entry, items)) => {
                    let [name, inputs, result, code] = reader.exactly(*section, items)?;
                    let (name, inputs) = (reader.string(name)?, reader.inputs(inputs)?);
                    let (result, code) = (reader.core_type(result)?, reader.string(code)?);
                    entries.push(entry(name, inputs, result, &code)?);
                }
                Some((Section::Code, items)) => {
                    let [key, word] = reader.exactly(*section, items)?;
                    let word = reader.string(word)?;
                    let (has_warnings, _) = WARNINGS.iter().find(|(_, w)| *w == &*word)?;
                    code = Some((Key::from_text(&reader.string(key)?)?, *has_warnings));
                }
                None => {}
            }
        }
        let (code, has_warnings) = reader.finish(code).ok()??;
        Some(Record {
            code,
            has_warnings,
            entries,
            sums,
        })
    }
}

/// The sections of a record beside the sum types.
#[derive(Clone, Copy)]
enum Section {
    Entry,
    Code,
}

fn entry(
    name: Arc<str>,
    inputs: Vec<(Arc<str>, Type)>,
    result: Type,
    code: &str,
) -> Option<EntryInterface> {
    let (symbol, error) = code.split_once(' ')?;
    Some(EntryInterface {
        name,
        symbol: symbol.to_string(),
        error: error.to_string(),
        inputs,
        result,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use nova_core::{Constructor, SumId};

    fn record(has_warnings: bool) -> Record {
        let list = SumType {
            name: "List \"a\"".into(),
            arguments: vec![Type::INT],
            constructors: vec![Constructor {
                name: "Nil".into(),
                payload: Type::Unit,
            }],
            group: vec![SumId(0)],
            node_of: None,
        };
        let one = EntryInterface {
            name: "söme entry".into(),
            symbol: "nova_some".to_string(),
            error: "nova_some_error".to_string(),
            inputs: vec![
                ("x?".into(), Type::array(2, Type::BOOL)),
                ("l".into(), Type::Sum(SumId(0))),
            ],
            result: Type::tuple(vec![Type::INT, Type::vector(Type::Unit)]),
        };
        let none = EntryInterface {
            inputs: Vec::new(),
            ..one.clone()
        };
        Record {
            code: Key::of(&["code"]),
            has_warnings,
            entries: vec![one, none],
            sums: vec![list],
        }
    }

    #[test]
    fn records_read_back() {
        for has_warnings in [false, true] {
            let record = record(has_warnings);
            assert_eq!(Record::parse(&record.print()), Some(record));
        }
    }

    #[test]
    fn no_part_of_a_record_is_one() {
        let text = record(true).print();
        for end in (0..text.trim_end().len()).filter(|end| text.is_char_boundary(*end)) {
            assert_eq!(Record::parse(&text[..end]), None, "{}", &text[..end]);
        }
        for (part, other) in [
            ("code", "cede"),
            ("warned", "heard"),
            ("i32", "i33"),
            ("nova_some ", "x"),
        ] {
            assert_eq!(Record::parse(&text.replace(part, other)), None, "{part}");
        }
    }
}
