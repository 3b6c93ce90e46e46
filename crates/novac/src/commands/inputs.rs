//! The inputs of a run: `X=VALUE` for every input of an entry.

use crate::terminal::End;
use nova_core::types_text::type_text;
use nova_core::{SumType, Type};
use nova_driver::{Checked, Signature};
use nova_exec::InputError;
use nova_exec::input::Inputs;

/// Returns the entry to run: the named one, or the only one.
pub fn choose_entry(checked: &Checked, name: Option<&str>) -> Result<(usize, Signature), End> {
    let mut signatures = checked.signatures();
    let known = || {
        let names = signatures.iter().map(|s| s.name.to_string());
        names.collect::<Vec<_>>().join(", ")
    };
    let position = match name {
        Some(name) => match signatures.iter().position(|s| &*s.name == name) {
            Some(position) => position,
            None => {
                return Err(End::usage(format!(
                    "error: there is no entry {name}; the entries are {}",
                    known()
                )));
            }
        },
        None if signatures.len() == 1 => 0,
        None => {
            return Err(End::usage(format!(
                "error: the program has several entries; choose one with --entry: {}",
                known()
            )));
        }
    };
    Ok((position, signatures.swap_remove(position)))
}

/// Reads the inputs of an entry from the arguments of a command line, each by `read`.
pub fn read_inputs<T>(
    checked: &Checked,
    signature: &Signature,
    arguments: &[String],
    read: fn(&mut Inputs, &str, &Type, &[SumType]) -> Result<T, InputError>,
) -> Result<Vec<T>, End> {
    let mut values: Vec<Option<T>> = signature.inputs.iter().map(|_| None).collect();
    let mut inputs = Inputs::new();
    for argument in arguments {
        let (position, text) = find_input(signature, argument)?;
        let (name, ty) = &signature.inputs[position];
        if values[position].is_some() {
            return Err(End::usage(format!("error: input {name} is given twice")));
        }
        let value = read(&mut inputs, text, ty, checked.sums()).map_err(|error| {
            let ty = with_article(&type_text(ty, checked.sums()));
            End::usage(format!("error: input {name}, {ty}: {error}"))
        })?;
        values[position] = Some(value);
    }
    let missing: Vec<String> = signature
        .inputs
        .iter()
        .zip(&values)
        .filter(|(_, value)| value.is_none())
        .map(|((name, ty), _)| format!("{name}, {}", with_article(&type_text(ty, checked.sums()))))
        .collect();
    match missing.is_empty() {
        true => Ok(values.into_iter().flatten().collect()),
        false => Err(End::usage(format!(
            "error: {} not given: {}\n  help: write NAME=VALUE after the program",
            match missing.len() {
                1 => "an input is",
                _ => "some inputs are",
            },
            missing.join("; ")
        ))),
    }
}

/// Returns the name with its article: `an int`, `a vector int`.
fn with_article(ty: &str) -> String {
    match ty.starts_with(['a', 'e', 'i', 'o', 'A', 'E', 'I', 'O']) {
        true => format!("an {ty}"),
        false => format!("a {ty}"),
    }
}

/// Returns the input that an argument is for, and its VALUE. Names may hold `=`, so the longest
/// match counts.
fn find_input<'a>(signature: &Signature, argument: &'a str) -> Result<(usize, &'a str), End> {
    let fits = |name: &str| argument.strip_prefix(name)?.strip_prefix('=');
    let inputs = signature.inputs.iter().enumerate();
    let found = inputs
        .filter_map(|(k, (name, _))| Some((name.len(), k, fits(name)?)))
        .max_by_key(|(length, ..)| *length);
    if let Some((_, position, text)) = found {
        return Ok((position, text));
    }
    let names: Vec<&str> = signature.inputs.iter().map(|(name, _)| &**name).collect();
    let takes = match names.is_empty() {
        true => format!("{} takes no inputs", signature.name),
        false => format!("the inputs of {} are {}", signature.name, names.join(", ")),
    };
    Err(End::usage(match argument.split_once('=') {
        Some((name, _)) => format!("error: there is no input {name}; {takes}"),
        None => format!("error: `{argument}` is not of the form NAME=VALUE; {takes}"),
    }))
}
