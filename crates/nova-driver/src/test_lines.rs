//! The `;; test` lines of a source (language §10).
//!
//! ```text
//! ;; test X=[1 2 3] Y=[4 5 6] => 32
//! ;; test X=[1] Y=[1 2] => error length
//! ;; test norm: X=[3.0 4.0] => 5.0
//! ```
//!
//! The third form is for a file of several entries. A VALUE is text, or `@FILE` in the folder of
//! the source.

use crate::{Checked, Signature};
use nova_core::text::{read_value, read_value_prefix};
use nova_core::{ErrorKind, Value};
use nova_exec::input::Inputs;
use std::path::Path;

/// A test line.
#[derive(Debug)]
pub struct TestLine<'a> {
    /// Its line, from 1.
    pub number: usize,
    /// The text after `test`.
    text: &'a str,
}

/// A test with parsed values.
#[derive(Debug)]
pub struct Test {
    /// Its line, from 1.
    pub line: usize,
    /// The entry to run, by its position.
    pub entry: usize,
    /// The inputs, in order.
    pub inputs: Vec<Value>,
    /// The expected outcome.
    pub expected: Expected,
}

/// An expected outcome.
#[derive(Debug)]
pub enum Expected {
    /// A value.
    Value(Value),
    /// An error at run time.
    Error(ErrorKind),
}

/// Returns the test lines of a text.
pub fn test_lines(text: &str) -> Vec<TestLine<'_>> {
    let lines = text.lines().enumerate();
    let tests = lines.filter_map(|(k, line)| {
        let comment = line.trim().strip_prefix(";;")?.trim_start();
        let text = comment.strip_prefix("test")?;
        text.starts_with([' ', '\t']).then_some(TestLine {
            number: k + 1,
            text: text.trim(),
        })
    });
    tests.collect()
}

impl TestLine<'_> {
    /// Reads the values of a test of a program. `folder` holds its files.
    pub fn read(&self, checked: &Checked, folder: &Path) -> Result<Test, String> {
        let signatures = checked.signatures();
        let (entry, mut rest) = self.entry(&signatures)?;
        let signature = signatures.get(entry).ok_or("the program has no entry")?;
        let mut values: Vec<Option<Value>> = vec![None; signature.inputs.len()];
        let mut files = Inputs::new();
        let expected = loop {
            rest = rest.trim_start();
            if let Some(expected) = rest.strip_prefix("=>") {
                break expected.trim();
            }
            let (k, text) = find_input(signature, rest)?;
            let (name, ty) = &signature.inputs[k];
            let (value, length) = match text.strip_prefix('@') {
                Some(file) => {
                    let length = file.find(char::is_whitespace).unwrap_or(file.len());
                    let path = folder.join(&file[..length]);
                    let value = files.read(&format!("@{}", path.display()), ty, checked.sums());
                    (value.map_err(|e| e.to_string()), length + 1)
                }
                None => match read_value_prefix(text, ty, checked.sums()) {
                    Ok((value, length)) => (Ok(value), length),
                    Err(error) => (Err(error.to_string()), 0),
                },
            };
            let value = value.map_err(|error| format!("input {name}: {error}"))?;
            if values[k].replace(value).is_some() {
                return Err(format!("input {name} is given twice"));
            }
            rest = &text[length..];
        };
        let missing = signature
            .inputs
            .iter()
            .zip(&values)
            .find(|(_, v)| v.is_none());
        if let Some(((name, _), _)) = missing {
            return Err(format!("input {name} is not given"));
        }
        Ok(Test {
            line: self.number,
            entry,
            inputs: values.into_iter().flatten().collect(),
            expected: expectation(expected, signature, checked)?,
        })
    }

    /// Returns the entry of the test, and the rest of the line.
    fn entry(&self, signatures: &[Signature]) -> Result<(usize, &str), String> {
        let word = self.text.split_whitespace().next().unwrap_or("");
        if let Some(name) = word.strip_suffix(':')
            && !word.contains('=')
        {
            let position = signatures.iter().position(|s| &*s.name == name);
            let position = position.ok_or_else(|| format!("there is no entry {name}"))?;
            return Ok((position, &self.text[word.len()..]));
        }
        match signatures.len() {
            1 => Ok((0, self.text)),
            _ => Err("the file has several entries; write `;; test NAME: …`".to_string()),
        }
    }
}

/// Returns the input whose value is at the start of `rest`, and the rest from that value on.
fn find_input<'a>(signature: &Signature, rest: &'a str) -> Result<(usize, &'a str), String> {
    let inputs = signature.inputs.iter().enumerate();
    let found = inputs
        .filter_map(|(k, (name, _))| Some((name.len(), k, rest.strip_prefix(&**name)?)))
        .filter_map(|(length, k, text)| Some((length, k, text.strip_prefix('=')?)))
        .max_by_key(|(length, ..)| *length);
    match found {
        Some((_, k, text)) => Ok((k, text)),
        None if rest.is_empty() => Err("`=>` and the value expected are missing".to_string()),
        None => Err(format!("an input or `=>` is expected at `{rest}`")),
    }
}

fn expectation(text: &str, signature: &Signature, checked: &Checked) -> Result<Expected, String> {
    if let Some(word) = text.strip_prefix("error ") {
        let kind = ErrorKind::by_word(word.trim());
        return kind
            .map(Expected::Error)
            .ok_or_else(|| format!("there is no error `{}`", word.trim()));
    }
    let value = read_value(text, &signature.result, checked.sums());
    value
        .map(Expected::Value)
        .map_err(|error| format!("the value expected: {error}"))
}
