//! The parameters of the function that is being called.

use crate::analysis::Analysis;
use crate::builtins::builtin_page;
use crate::completion::readable;
use crate::hover::markdown;
use crate::tokens::Context;
use crate::world::{Refusal, World};
use lsp_types::{
    Documentation, ParameterInformation, ParameterLabel, SignatureHelp, SignatureHelpParams,
    SignatureInformation,
};
use nova_infer::Referent;

/// Answers with the innermost call around a position.
pub fn signature(
    world: &mut World,
    params: SignatureHelpParams,
) -> Result<Option<SignatureHelp>, Refusal> {
    let place = params.text_document_position_params;
    let uri = place.text_document.uri;
    let document = world.document(&uri)?;
    let offset = document.text.offset(place.position, world.encoding);
    let context = Context::at(&document.text.text, offset);
    readable(world, &uri, offset, |_, analysis| {
        // From the inside to the outside: a tuple is no call, and neither is a form.
        let calls = context.enclosing.iter().rev();
        let mut calls = calls.filter(|call| !call.has_marks && !call.items.is_empty());
        let found = calls.find_map(|call| {
            let head = call.items[0].start;
            // The name that is written at the offset is the head of no call yet.
            let given = call.items.len().checked_sub(1)?;
            Some((call_at(analysis, head)?, given))
        });
        Ok(found.map(|(call, given)| call.help(given)))
    })
}

/// A function that is called.
struct Call {
    label: String,
    /// The bytes of its parameters in the label.
    parameters: Vec<(usize, usize)>,
    documentation: String,
}

impl Call {
    fn new(head: &str, arguments: &[&str], ty: &str, documentation: String) -> Call {
        let mut label = format!("({head}");
        let mut parameters = Vec::new();
        for argument in arguments {
            label.push(' ');
            parameters.push((label.len(), label.len() + argument.len()));
            label += argument;
        }
        label += &format!(") : {ty}");
        Call {
            label,
            parameters,
            documentation,
        }
    }

    fn help(self, given: usize) -> SignatureHelp {
        let units = |bytes: usize| self.label[..bytes].encode_utf16().count() as u32;
        let last = self.parameters.len().checked_sub(1);
        // `…` in `f X …` stands for any number of arguments.
        let is_open = self
            .parameters
            .last()
            .is_some_and(|(a, b)| &self.label[*a..*b] == "…");
        let active = match last {
            Some(last) if is_open => Some(given.min(last)),
            _others => Some(given),
        };
        let parameters = self
            .parameters
            .iter()
            .map(|(start, end)| ParameterInformation {
                label: ParameterLabel::LabelOffsets([units(*start), units(*end)]),
                documentation: None,
            });
        let signature = SignatureInformation {
            parameters: Some(parameters.collect()),
            documentation: (!self.documentation.is_empty())
                .then(|| Documentation::MarkupContent(markdown(self.documentation.clone()))),
            active_parameter: active.map(|active| active as u32),
            label: self.label,
        };
        SignatureHelp {
            signatures: vec![signature],
            active_signature: Some(0),
            active_parameter: active.map(|active| active as u32),
        }
    }
}

/// Returns the function whose name begins at an offset.
fn call_at(analysis: &Analysis, head: usize) -> Option<Call> {
    let occurrence = analysis.occurrence_at(head)?;
    if occurrence.span.start as usize != head {
        return None;
    }
    let referent = occurrence.referent;
    let name = analysis.written(occurrence.span);
    if let Referent::Builtin(builtin) = referent {
        let page = builtin_page(builtin)?;
        let arguments = items(page.arguments);
        return Some(Call::new(
            name,
            &arguments,
            &page.ty,
            page.meaning.to_string(),
        ));
    }
    let index = analysis.index()?;
    let ty = index
        .type_of(referent)
        .or_else(|| index.type_at(occurrence.span))?;
    let parameters = parameters_in(&ty.text);
    let named = analysis.parameters_of(referent);
    let arguments = match named.is_empty() {
        true => parameters.clone(),
        false => named,
    };
    if arguments.is_empty() {
        return None;
    }
    let documentation = analysis.documentation(referent);
    Some(Call::new(name, &arguments, &ty.to_string(), documentation))
}

/// Splits the arguments of a built-in's call. A tuple is one.
fn items(arguments: &str) -> Vec<&str> {
    split(arguments, " ")
}

/// Returns the parameters of a function's type.
fn parameters_in(ty: &str) -> Vec<&str> {
    let mut parts = split(ty, " -> ");
    parts.pop();
    parts
}

/// Splits a text at a separator outside of parentheses.
fn split<'t>(text: &'t str, separator: &str) -> Vec<&'t str> {
    let (mut parts, mut depth, mut from) = (Vec::new(), 0usize, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 && at >= from && text[at..].starts_with(separator) => {
                parts.push(&text[from..at]);
                from = at + separator.len();
            }
            _others => {}
        }
    }
    parts.push(&text[from..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_split_into_parameters() {
        let ty = "('a -> bool) -> vector 'a -> (int, 'a) -> int";
        assert_eq!(
            parameters_in(ty),
            ["('a -> bool)", "vector 'a", "(int, 'a)"]
        );
        assert!(parameters_in("int").is_empty());
        assert_eq!(items("(n, m) X"), ["(n, m)", "X"]);
    }
}
