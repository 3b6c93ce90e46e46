//! What a session knows: sections of a program, and values that were computed once. It writes the programs that
//! are checked and run.

use crate::command::SECTIONS;
use crate::forms::{parts, words};
use nova_core::Type;
use nova_core::types_text::type_text;
use nova_driver::{Checked, Compiler, Failure, Options, Source};
use std::collections::BTreeMap;

/// The name of programs of a session, as messages show it.
const PROGRAM: &str = "standard input";

/// A value that an expression gave. It is kept as text, as the types of another program are other types.
#[derive(Clone, Debug)]
pub struct Held {
    pub ty: String,
    pub text: String,
}

/// The sections and values of a session.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// The parts of each section, by its kind, in their order.
    sections: BTreeMap<&'static str, Vec<String>>,
    values: BTreeMap<String, Held>,
    options: Options,
}

/// A program that holds an expression.
pub struct Program {
    pub text: String,
    pub checked: Checked,
    /// The names of the values that are its inputs.
    pub inputs: Vec<String>,
    /// The type of its value.
    pub result: Type,
}

impl Program {
    /// Returns the type of its value as text.
    pub fn ty(&self) -> String {
        type_text(&self.result, self.checked.sums())
    }
}

impl Session {
    /// Creates an empty session of a compiler's options.
    pub fn new(options: Options) -> Session {
        Session {
            options,
            ..Session::default()
        }
    }

    /// Returns the compiler's options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Adds the parts of sections, in place of those that define the same names. If the program that results has
    /// errors, nothing is changed.
    pub fn add(
        &mut self,
        sections: &[(&'static str, Vec<&str>)],
    ) -> Result<Option<String>, Failure> {
        let mut new = self.clone();
        for (kind, items) in sections {
            for item in items {
                new.forget(kind, name_of(kind, item));
                new.values.remove(name_of(kind, item));
                let list = new.sections.entry(kind).or_default();
                list.push((*item).to_string());
            }
        }
        let compiler = Compiler::new(Options {
            library: true,
            ..self.options.clone()
        });
        let text = new.definitions();
        let checked = match text.is_empty() {
            true => None,
            false => Some(compiler.check(Source::text(PROGRAM, text))?),
        };
        *self = new;
        Ok(checked.and_then(|checked| warnings(&checked)))
    }

    /// Names a value.
    pub fn hold(&mut self, name: &str, held: Held) {
        self.forget("define", name);
        self.values.insert(name.to_string(), held);
    }

    /// Removes what a kind of section defines by a name. Returns true if there was something.
    fn forget(&mut self, kind: &str, name: &str) -> bool {
        let Some(list) = self.sections.get_mut(kind) else {
            return false;
        };
        let before = list.len();
        list.retain(|item| name_of(kind, item) != name);
        list.len() < before
    }

    /// Removes whatever has a name. Returns false if nothing has it. Definitions that use it remain, and are
    /// reported when the next program is checked.
    pub fn forget_name(&mut self, name: &str) -> bool {
        let mut found = self.values.remove(name).is_some();
        for kind in SECTIONS {
            found |= self.forget(kind, name);
        }
        found
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        self.sections.clear();
        self.values.clear();
    }

    /// Returns the text of all sections.
    pub fn definitions(&self) -> String {
        let mut text = String::new();
        for kind in SECTIONS {
            for item in self.sections.get(kind).into_iter().flatten() {
                text += &format!("({kind} {item})\n");
            }
        }
        text
    }

    /// Returns the names of the values, each with what is held.
    pub fn values(&self) -> &BTreeMap<String, Held> {
        &self.values
    }

    /// Returns the names that expressions can use, but for the language's own and those of libraries.
    pub fn names(&self) -> Vec<String> {
        let defined = self.sections.iter().filter(|(kind, _)| **kind != "import");
        let defined = defined.flat_map(|(kind, list)| list.iter().map(|item| name_of(kind, item)));
        let held = self.values.keys().map(String::as_str);
        held.chain(defined).map(str::to_string).collect()
    }

    /// Writes and checks the program of an expression.
    pub fn program(&self, expression: &str) -> Result<Program, Failure> {
        let used = words(expression);
        let held = self
            .values
            .iter()
            .filter(|(name, _)| used.contains(&name.as_str()));
        let (inputs, typed): (Vec<String>, Vec<String>) = held
            .map(|(name, held)| (name.clone(), format!("({name} : {})", held.ty)))
            .unzip();
        let inputs_text = typed.join(" ");
        // The expression comes first, so that its lines are those of messages.
        let text = format!("{expression}\n({inputs_text})\n{}", self.definitions());
        let compiler = Compiler::new(self.options.clone());
        let checked = compiler.check(Source::text(PROGRAM, &text))?;
        let signature = checked.signatures().into_iter().next();
        let result = signature.map_or(Type::Unit, |signature| signature.result);
        Ok(Program {
            text,
            checked,
            inputs,
            result,
        })
    }
}

/// Returns the name that a part of a section defines, or the path that an import names.
fn name_of<'t>(kind: &str, item: &'t str) -> &'t str {
    if kind == "import" {
        return item;
    }
    let inner = parts(item);
    match inner.as_slice() {
        // `(effect name : T)` and `(device name : T)`.
        ["effect" | "device", name, ..] if kind == "foreign" => name,
        [name, ..] => name,
        [] => item,
    }
}

/// Returns the warnings about a program as text.
pub fn warnings(checked: &Checked) -> Option<String> {
    let report = &checked.report;
    (!report.diagnostics.is_empty()).then(|| report.to_text().trim_end().to_string())
}
