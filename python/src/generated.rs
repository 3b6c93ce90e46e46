//! What a package without the compiler is made of: the C of a program, and the forms of its values.

use crate::errors::exception;
use crate::form::dtype_name;
use crate::program::{Settings, warnings};
use nova_core::error::ERROR_KINDS;
use nova_core::types_text::type_text;
use nova_core::{SumType, Type};
use nova_driver::{Failure, Signature};
use pyo3::prelude::*;

/// An input or a result: its name, its type as programs write it, its form as JSON.
type Port = (String, String, String);

/// The C of a program, and what calls it needs.
#[pyclass(frozen, get_all)]
pub struct Generated {
    header: String,
    source: String,
    manifest: String,
    /// Each entry: its comment, its inputs, its result.
    entries: Vec<(String, Vec<Port>, Port)>,
    /// The files of the program, with their texts.
    sources: Vec<(String, String)>,
    /// The words of run-time errors, with their messages.
    kinds: Vec<(String, String)>,
    /// The warnings, each with its text and a line of JSON.
    warnings: Vec<(String, String)>,
}

/// Generates the C of a program. Its types must have a form in a package.
#[pyfunction]
pub fn generate(py: Python<'_>, settings: Settings) -> PyResult<Generated> {
    let compiler = settings.compiler()?;
    let source = settings.source();
    let outcome = py.detach(|| -> Result<Generated, Failure> {
        let mut checked = compiler.check(source)?;
        let sums = checked.sums();
        let signatures = checked.signatures();
        let entries = signatures.iter().map(|signature| entry(signature, sums));
        let entries = entries.collect::<Result<_, Failure>>()?;
        let found = &checked.report;
        let sources = found.sources.ids().map(|id| found.sources.source(id));
        let sources = sources.map(|source| (source.name.to_string(), source.text.to_string()));
        let (sources, warnings) = (sources.collect(), warnings(found));
        let files = compiler.compile(&mut checked)?.files;
        let kinds = ERROR_KINDS.iter();
        Ok(Generated {
            header: files.header,
            source: files.source,
            manifest: files.manifest,
            entries,
            sources,
            kinds: kinds
                .map(|kind| (kind.word.to_string(), kind.message.to_string()))
                .collect(),
            warnings,
        })
    });
    outcome.map_err(|failure| exception(py, &failure, None))
}

/// Describes an entry. The error says which of its values has no form.
fn entry(signature: &Signature, sums: &[SumType]) -> Result<(String, Vec<Port>, Port), Failure> {
    let port = |name: &str, what: &str, ty: &Type| -> Result<Port, Failure> {
        let text = type_text(ty, sums);
        match form(ty) {
            Some(form) => Ok((name.to_string(), text, form)),
            None => Err(Failure::Unsupported(format!(
                "{what} of `{}` is {text}, and a package passes numbers, tuples, vectors, nested vectors and \
                 arrays, but no sums, recursive data, or vectors of anything else: use novac.compile for this \
                 program",
                signature.name
            ))),
        }
    };
    let inputs = signature.inputs.iter();
    let inputs = inputs.map(|(name, ty)| port(name, &format!("argument `{name}`"), ty));
    let inputs = inputs.collect::<Result<_, Failure>>()?;
    let result = port("", "the result", &signature.result)?;
    Ok((signature.documentation.clone(), inputs, result))
}

/// Returns the form of the values of a type as JSON, if they have one.
fn form(ty: &Type) -> Option<String> {
    match ty {
        Type::Unit => Some(r#"["unit"]"#.to_string()),
        Type::Scalar(_) => element(ty),
        Type::Tuple(types) => {
            let holds_something = types.iter().any(|ty| *ty != Type::Unit);
            tuple(types.iter().map(form)).filter(|_| holds_something)
        }
        Type::Vector(inner) => {
            let (mut levels, mut inner) = (1, &**inner);
            while let Type::Vector(next) = inner {
                (levels, inner) = (levels + 1, next);
            }
            let element = element(inner)?;
            Some(format!(r#"["vector", {levels}, {element}]"#))
        }
        Type::Array(rank, inner) => {
            let element = element(inner)?;
            Some(format!(r#"["array", {rank}, {element}]"#))
        }
        Type::Sum(_) | Type::Function(..) => None,
    }
}

/// Returns the form of the elements of an array: numbers, and tuples of them.
fn element(ty: &Type) -> Option<String> {
    match ty {
        Type::Scalar(scalar) => Some(format!(r#"["scalar", "{}"]"#, dtype_name(*scalar))),
        Type::Tuple(types) => {
            let holds_something = types.iter().any(|ty| *ty != Type::Unit);
            let part = |ty: &Type| match ty {
                Type::Unit => form(ty),
                other => element(other),
            };
            tuple(types.iter().map(part)).filter(|_| holds_something)
        }
        Type::Unit | Type::Vector(_) | Type::Array(..) | Type::Sum(_) | Type::Function(..) => None,
    }
}

fn tuple(parts: impl Iterator<Item = Option<String>>) -> Option<String> {
    let parts: Vec<String> = parts.collect::<Option<_>>()?;
    Some(format!(r#"["tuple", [{}]]"#, parts.join(", ")))
}
