//! Compiled programs and calls of their entries.

use crate::arguments::{Arguments, Place, data, is_as_needed, kind_of};
use crate::errors::exception;
use crate::form::{Form, Port};
use crate::results;
use nova_core::{SumType, Value};
use nova_driver::{
    Checked, Compiler, Failure, Library, Loaded, Options, Report, Signature, Source, SourceMap,
    Target,
};
use nova_exec::{Argument, CallError, Lent, Part};
use numpy::{PyUntypedArray, PyUntypedArrayMethods, npyffi};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PySlice, PyTuple};
use std::path::PathBuf;

/// A program that is ready to be called.
#[pyclass(frozen)]
pub struct Program {
    /// What runs it: compiled code, or the interpreter.
    runner: Runner,
    entries: Vec<Entry>,
}

enum Runner {
    Compiled(Box<Loaded>),
    Interpreted(Box<(Compiler, Checked)>),
}

impl Runner {
    fn signatures(&self) -> Vec<Signature> {
        match self {
            Runner::Compiled(loaded) => loaded.signatures(),
            Runner::Interpreted(of) => of.1.signatures(),
        }
    }

    /// Returns the sum types that the types of the entries name.
    fn sums(&self) -> &[SumType] {
        match self {
            Runner::Compiled(loaded) => loaded.sums(),
            Runner::Interpreted(of) => of.1.sums(),
        }
    }

    /// Returns the warnings, and the sources.
    fn report(&self) -> &Report {
        match self {
            Runner::Compiled(loaded) => &loaded.report,
            Runner::Interpreted(of) => &of.1.report,
        }
    }
}

/// An entry of a program.
struct Entry {
    name: String,
    inputs: Vec<Port>,
    result: Port,
    documentation: String,
}

/// The options of a compilation, as the package gives them.
#[derive(FromPyObject)]
pub struct Settings {
    /// The name of the program.
    name: String,
    /// Its text, or else the file that it is in.
    text: Option<String>,
    path: Option<PathBuf>,
    /// The folder of imports of a text.
    folder: PathBuf,
    /// The name of a target, or `eval` for the interpreter.
    target: String,
    optimization: u8,
    strict: bool,
    /// Passes that do not run.
    disabled: Vec<String>,
}

/// The name of the target that is the interpreter.
const INTERPRETER: &str = "eval";

impl Settings {
    pub fn source(&self) -> Source {
        match (&self.text, &self.path) {
            (Some(text), _) => Source::Text {
                name: format!("{}.nova", self.name),
                text: text.clone(),
                folder: self.folder.clone(),
            },
            (None, Some(path)) => Source::File(path.clone()),
            (None, None) => Source::text("program.nova", ""),
        }
    }

    /// Returns the compiler.
    pub fn compiler(&self) -> PyResult<Compiler> {
        let target = match self.target.as_str() {
            INTERPRETER => Some(Target::Sequential),
            name => Target::by_name(name),
        };
        let target = target
            .filter(|target| target.is_supported())
            .ok_or_else(|| {
                let known = nova_driver::options::TARGETS.iter();
                let known = known.filter(|(target, _)| target.is_supported());
                let known: Vec<&str> = known.map(|(_, name)| *name).collect();
                PyValueError::new_err(format!(
                    "there is no target \"{}\"; the targets are {}, {INTERPRETER}",
                    self.target,
                    known.join(", ")
                ))
            })?;
        if self.optimization > 3 {
            return Err(PyValueError::new_err("optimization is 0, 1, 2 or 3"));
        }
        Ok(Compiler::new(Options {
            target,
            optimization: self.optimization,
            strict: self.strict,
            disabled: self.disabled.iter().cloned().collect(),
            verify: false,
            // No name of an entry can clash with one of C.
            prefix: "python_".to_string(),
            ..Options::default()
        }))
    }
}

/// Compiles a program and loads it. `link` are C sources and libraries with its foreign functions.
///
/// The second result are its warnings, each with its text and a line of JSON.
#[pyfunction]
pub fn compile(
    py: Python<'_>,
    settings: Settings,
    link: Vec<PathBuf>,
) -> PyResult<(Program, Vec<(String, String)>)> {
    let compiler = settings.compiler()?;
    let source = settings.source();
    let is_interpreted = settings.target == INTERPRETER;
    let outcome = py.detach(|| -> Result<Runner, Failure> {
        if is_interpreted {
            let checked = compiler.check(source)?;
            return Ok(Runner::Interpreted(Box::new((compiler, checked))));
        }
        Ok(Runner::Compiled(Box::new(compiler.open(source, &link)?)))
    });
    let runner = outcome.map_err(|failure| exception(py, &failure, None))?;
    let sums = runner.sums();
    let mut entries = Vec::new();
    for signature in runner.signatures() {
        let ports = signature.inputs.iter();
        let ports = ports.map(|(name, ty)| Port::new(py, name, ty, sums));
        entries.push(Entry {
            name: signature.name.to_string(),
            inputs: ports.collect::<PyResult<_>>()?,
            result: Port::new(py, "", &signature.result, sums)?,
            documentation: signature.documentation,
        });
    }
    let warnings = warnings(runner.report());
    Ok((Program { runner, entries }, warnings))
}

/// Returns the warnings of a report, each with its text and a line of JSON.
pub fn warnings(found: &Report) -> Vec<(String, String)> {
    let each = found.diagnostics.iter().map(|diagnostic| {
        let report = Report {
            sources: found.sources.clone(),
            diagnostics: vec![diagnostic.clone()],
        };
        (report.to_text().trim_end().to_string(), report.to_json())
    });
    each.collect()
}

#[pymethods]
impl Program {
    /// Returns each entry: its name, its inputs with their types, the type of its result, its comment.
    #[allow(clippy::type_complexity)]
    fn entries(&self) -> Vec<(String, Vec<(String, String)>, String, String)> {
        let ports = |entry: &Entry| {
            let ports = entry.inputs.iter();
            ports
                .map(|port| (port.name.clone(), port.text.clone()))
                .collect()
        };
        let each = self.entries.iter();
        each.map(|entry| {
            let (name, result) = (entry.name.clone(), entry.result.text.clone());
            (name, ports(entry), result, entry.documentation.clone())
        })
        .collect()
    }

    /// Calls an entry by its position. `out` is an array for the result, or None.
    fn call<'py>(
        &self,
        py: Python<'py>,
        position: usize,
        arguments: &Bound<'py, PyTuple>,
        out: &Bound<'py, PyAny>,
        cast: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let entry = self.entries.get(position);
        let entry = entry.ok_or_else(|| PyValueError::new_err("there is no such entry"))?;
        if arguments.len() != entry.inputs.len() {
            return Err(PyTypeError::new_err(format!(
                "`{}` takes {} arguments, {} are given",
                entry.name,
                entry.inputs.len(),
                arguments.len()
            )));
        }
        let mut lending = Arguments {
            py,
            cast,
            sums: self.runner.sums(),
            kept: Vec::new(),
        };
        let mut lent = Vec::with_capacity(entry.inputs.len());
        for (port, object) in entry.inputs.iter().zip(arguments.iter_borrowed()) {
            let place = Place {
                entry: &entry.name,
                port,
            };
            lent.push(lending.lend(place, &object)?);
        }
        let destination = match out.is_none() {
            true => None,
            false => Some(Destination::of(entry, out)?),
        };
        match &self.runner {
            Runner::Compiled(loaded) => {
                self.run(py, &loaded.library, position, &lent, destination.as_ref())
            }
            Runner::Interpreted(of) => {
                if destination.is_some() {
                    return Err(PyTypeError::new_err("the interpreter has no `out`"));
                }
                self.interpret(py, (&of.0, &of.1), position, &lent)
            }
        }
    }
}

/// An array that a result is written to.
struct Destination<'py> {
    array: Bound<'py, PyUntypedArray>,
}

impl<'py> Destination<'py> {
    /// Returns the destination for the result of an entry. The error says what is wrong with it.
    fn of(entry: &Entry, out: &Bound<'py, PyAny>) -> PyResult<Destination<'py>> {
        let (rank, element) = match &entry.result.form {
            Form::Vector { levels: 1, element } => (1, element),
            Form::Array { rank, element } => (*rank, element),
            Form::Unit | Form::Scalar(_) | Form::Tuple(_) | Form::Vector { .. } | Form::Value => {
                return Err(PyTypeError::new_err(format!(
                    "`{}` returns {}, and `out` takes one vector or array of numbers",
                    entry.name, entry.result.text
                )));
            }
        };
        let py = out.py();
        let element = element.bind(py);
        let needed = || {
            format!(
                "`out` of `{}` must be a writable array of {rank} dimensions of {element} in the order \
                 of C",
                entry.name
            )
        };
        let array = out.cast::<PyUntypedArray>();
        let array = array
            .map_err(|_| PyTypeError::new_err(format!("{}, not {}", needed(), kind_of(out))))?;
        // SAFETY: the pointer is to an array of NumPy.
        let flags = unsafe { (*array.as_array_ptr()).fields.flags };
        let is_writable = flags & npyffi::NPY_ARRAY_WRITEABLE != 0;
        if !is_writable || !is_as_needed(array, element, rank) {
            return Err(PyTypeError::new_err(format!(
                "{}; this one is of {} dimensions of {}{}",
                needed(),
                array.ndim(),
                array.dtype(),
                if is_writable { "" } else { ", not writable" }
            )));
        }
        Ok(Destination {
            array: array.clone(),
        })
    }

    /// Returns the part of the array that a result with these extents has filled.
    fn filled(&self, py: Python<'py>, extents: &[usize]) -> PyResult<Bound<'py, PyAny>> {
        let array = self.array.as_any();
        if self.array.shape() == extents {
            return Ok(array.clone());
        }
        let count: usize = extents.iter().product();
        let flat = array.call_method1("reshape", (-1,))?;
        let part = flat.get_item(PySlice::new(py, 0, count as isize, 1))?;
        part.call_method1("reshape", (extents.to_vec(),))
    }
}

impl Program {
    fn sources(&self) -> &SourceMap {
        &self.runner.report().sources
    }

    /// Calls compiled code, while other threads of Python run.
    fn run<'py>(
        &self,
        py: Python<'py>,
        library: &Library,
        position: usize,
        lent: &[Lent],
        destination: Option<&Destination<'py>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let entry = &self.entries[position];
        let pairs = entry.inputs.iter().zip(lent);
        // SAFETY: the arrays are kept by the caller of this function. A thread that changes them
        // meanwhile has a race as with any other library.
        let arguments = pairs.map(|(port, lent)| unsafe { Argument::lent(&port.passing, lent) });
        let arguments: Result<Vec<Argument>, _> = arguments.collect();
        let arguments = arguments.map_err(|_| {
            PyTypeError::new_err(format!(
                "an argument of `{}` is of another type",
                entry.name
            ))
        })?;
        let failed = |error: CallError| exception(py, &Failure::Call(error), Some(self.sources()));
        let prepared = library
            .prepare_arguments(position, arguments)
            .map_err(failed)?;
        match destination {
            None => {
                let part = py.detach(|| -> Result<Part, CallError> {
                    let (returned, _) = prepared.run()?;
                    returned.into_parts().map_err(CallError::Contract)
                });
                let (part, result) = (part.map_err(failed)?, &entry.result);
                results::to_python(py, part, &result.form, &result.ty, self.runner.sums())
            }
            Some(destination) => {
                let extents = destination.array.shape().to_vec();
                let address = data(&destination.array).expose_provenance();
                let filled = py.detach(|| {
                    let data = std::ptr::with_exposed_provenance_mut(address);
                    // SAFETY: the array has these extents and the element type of the result.
                    unsafe { prepared.run_into(&extents, data) }
                });
                destination.filled(py, &filled.map_err(failed)?)
            }
        }
    }

    /// Evaluates an entry by the interpreter.
    fn interpret<'py>(
        &self,
        py: Python<'py>,
        (compiler, checked): (&Compiler, &Checked),
        position: usize,
        lent: &[Lent],
    ) -> PyResult<Bound<'py, PyAny>> {
        let entry = &self.entries[position];
        let pairs = entry.inputs.iter().zip(lent);
        // SAFETY: the arrays are kept by the caller of this function.
        let inputs = pairs.map(|(port, lent)| unsafe { lent.to_value(&port.passing) });
        let inputs: Result<Vec<Value>, String> = inputs.collect();
        let inputs = inputs.map_err(PyValueError::new_err)?;
        let outcome = py.detach(|| compiler.eval(checked, position, &inputs));
        let value = outcome.map_err(|failure| exception(py, &failure, Some(self.sources())))?;
        let result = &entry.result;
        let part = Part::Value(value);
        results::to_python(py, part, &result.form, &result.ty, self.runner.sums())
    }
}
