//! The interpreter of Flat: the value semantics of funmem.txt fig. 4.
//!
//! Preparation gives each variable a slot and marks last uses. So arrays that nothing else holds are
//! changed in place. Calls and conditionals take no stack of the host. Loops and the bodies of array
//! operations do, through [`nova_diag::deep`]. An error that the checks in a program should have
//! prevented (an index out of range, a read of a variable without value) is a [`Failure::Internal`].
//!
//! The interpreter of Mem is this one with another implementation of [`Arrays`].

mod arrays;
mod expressions;
mod operation;
mod prepare;
mod tables;

pub use arrays::{Arrays, Held, SlotInfo, Slots, Values, ViewValue, slot};

use crate::ir::{Atom, Body, Expression, Program, Statement, Variable};
use crate::values::{Fault, FlatValue, Layouts, Tables, from_components, internal, to_components};
use nova_core::error::{Failure, InternalError};
use nova_core::interpret::Options;
use nova_core::{ErrorKind, RuntimeError, ScalarValue, Value};
use nova_diag::Place;
use prepare::{Code, Codes, LAST};

/// Returns the value of an entry for inputs of its types.
///
/// The program must be one that [`crate::verify`] accepts, and the inputs must conform to their types.
/// A violation that is detected is an internal failure.
pub fn evaluate(
    program: &Program,
    entry: usize,
    inputs: &[Value],
    options: &Options,
) -> Result<Value, Failure> {
    evaluate_with::<Values>(program, entry, inputs, options)
}

/// As [`evaluate`], with arrays represented as `A` defines.
pub fn evaluate_with<A: Arrays>(
    program: &Program,
    entry: usize,
    inputs: &[Value],
    options: &Options,
) -> Result<Value, Failure> {
    let wrong = |message: &str| {
        Failure::Internal(InternalError {
            message: message.to_string(),
            function: None,
            place: None,
        })
    };
    let Some(entry) = program.entries.get(entry) else {
        return Err(wrong("there is no such entry"));
    };
    if inputs.len() != entry.inputs.len() {
        return Err(wrong("an entry has another number of inputs"));
    }
    let codes = Codes::new(program);
    let mut machine = Machine::<A> {
        program,
        layouts: Layouts::new(&program.sums),
        codes: &codes,
        options,
        tables: Tables::default(),
        depth: 0,
        splits: false,
        arrays: std::marker::PhantomData,
    };
    let result = machine.entry(entry, inputs);
    result.map_err(|stop| match stop {
        Stop::Fault(Fault::Memory) => Failure::Runtime(RuntimeError {
            kind: ErrorKind::Memory,
            arguments: Vec::new(),
            place: None,
        }),
        Stop::Fault(Fault::Error(error)) => Failure::Runtime(error),
        Stop::Fault(Fault::Internal(message)) => wrong(&message),
        Stop::Failure(failure) => *failure,
    })
}

/// The reason why execution stops.
enum Stop {
    /// A fault whose place is not known yet.
    Fault(Fault),
    /// A failure with all its details.
    Failure(Box<Failure>),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Stop {
        Stop::Fault(fault)
    }
}

impl From<nova_core::value::OutOfMemory> for Stop {
    fn from(_: nova_core::value::OutOfMemory) -> Stop {
        Stop::Fault(Fault::Memory)
    }
}

/// An activation of a function.
struct Activation<'a, A: Arrays> {
    code: &'a Code,
    slots: Slots<A>,
    /// The bodies being executed, innermost last, and the index of the current statement of each.
    bodies: Vec<(&'a Body, usize)>,
}

struct Machine<'a, A: Arrays> {
    program: &'a Program,
    layouts: Layouts<'a>,
    codes: &'a Codes<'a>,
    options: &'a Options<'a>,
    tables: Tables,
    /// The number of activations at the moment, in all nested runs.
    depth: usize,
    /// The last answer to [`Expression::MaySplit`].
    splits: bool,
    arrays: std::marker::PhantomData<A>,
}

impl<'a, A: Arrays> Machine<'a, A> {
    fn entry(&mut self, entry: &crate::ir::Entry, inputs: &[Value]) -> Result<Value, Stop> {
        let mut arguments = Vec::new();
        for (value, (_, ty)) in inputs.iter().zip(&entry.inputs) {
            arguments.extend(to_components(value, ty, &self.layouts, &mut self.tables)?);
        }
        let mut activation = self.enter(entry.function.index())?;
        activation.receive(&activation.code.parameters, arguments)?;
        let results = self.run(&mut activation)?;
        Ok(from_components(
            &pack_all(&results)?,
            &entry.result,
            &self.layouts,
            &|sum, link| self.tables.read(sum, link),
        )?)
    }

    /// Creates an activation of a function. Its parameters have no values yet.
    fn enter(&mut self, function: usize) -> Result<Activation<'a, A>, Stop> {
        let Some(code) = self.codes.get(function) else {
            return Err(Fault::Internal("there is no such function".to_string()).into());
        };
        if self.depth >= self.options.depth_limit {
            return Err(Stop::Failure(Box::new(Failure::Runtime(RuntimeError {
                kind: ErrorKind::Recursion,
                arguments: Vec::new(),
                place: Some(code.place.clone()),
            }))));
        }
        self.depth += 1;
        let mut slots = Vec::new();
        slots.resize_with(code.infos.len(), || None);
        Ok(Activation {
            code,
            slots,
            bodies: vec![(&code.body, 0)],
        })
    }

    /// Executes a body inside an activation, and returns its results.
    fn body(
        &mut self,
        activation: &mut Activation<'a, A>,
        body: &'a Body,
    ) -> Result<Vec<Held<A>>, Stop> {
        let outside = std::mem::replace(&mut activation.bodies, vec![(body, 0)]);
        let results = nova_diag::deep(|| self.run(activation))?;
        activation.bodies = outside;
        Ok(results)
    }

    /// Executes an activation until its outermost body ends, and returns the results of that body.
    fn run(&mut self, activation: &mut Activation<'a, A>) -> Result<Vec<Held<A>>, Stop> {
        let mut callers: Vec<Activation<'a, A>> = Vec::new();
        loop {
            let Some((body, next)) = activation.bodies.last().copied() else {
                return Err(Fault::Internal("no body to execute".to_string()).into());
            };
            if let Some(statement) = body.statements.get(next) {
                let step = self.step(activation, statement);
                match step.map_err(|stop| locate(stop, activation.code, &statement.place))? {
                    Step::Next => activation.advance(),
                    Step::Inside(body) => activation.bodies.push((body, 0)),
                    Step::Call(callee) => callers.push(std::mem::replace(activation, callee)),
                    Step::Tail(callee) => *activation = callee,
                }
                continue;
            }
            let mut results = Vec::with_capacity(body.results.len());
            for result in &body.results {
                results.push(read(&mut activation.slots, *result)?);
            }
            activation.bodies.pop();
            if activation.bodies.is_empty() {
                let Some(caller) = callers.pop() else {
                    return Ok(results);
                };
                self.depth -= 1;
                *activation = caller;
            }
            activation.resume(results)?;
        }
    }

    /// Begins a statement.
    fn step(
        &mut self,
        activation: &mut Activation<'a, A>,
        statement: &'a Statement,
    ) -> Result<Step<'a, A>, Stop> {
        match &statement.expression {
            Expression::If {
                condition,
                then,
                otherwise,
            } => match scalar(&activation.slots, *condition)? {
                ScalarValue::Bool(true) => Ok(Step::Inside(then)),
                ScalarValue::Bool(false) => Ok(Step::Inside(otherwise)),
                _ => Ok(internal("a condition that is no bool")?),
            },
            Expression::Switch { scrutinee, cases } => {
                let ScalarValue::I32(tag) = scalar(&activation.slots, *scrutinee)? else {
                    return Ok(internal("a scrutinee that is no `i32`")?);
                };
                let case = usize::try_from(tag).ok().and_then(|tag| cases.get(tag));
                match case.or(cases.last()) {
                    Some(body) => Ok(Step::Inside(body)),
                    None => Ok(internal("a switch without cases")?),
                }
            }
            Expression::Call {
                function,
                arguments,
                tail,
            } => {
                let arguments = read_all(&mut activation.slots, arguments)?;
                if *tail {
                    self.depth -= 1;
                }
                let mut callee = self.enter(function.index())?;
                callee.bind(&callee.code.parameters, arguments)?;
                Ok(if *tail {
                    Step::Tail(callee)
                } else {
                    Step::Call(callee)
                })
            }
            _at_once => {
                self.execute(activation, statement)?;
                Ok(Step::Next)
            }
        }
    }
}

/// Adds place and function to a fault.
fn locate(stop: Stop, code: &Code, place: &Place) -> Stop {
    let failure = match stop {
        Stop::Failure(failure) => return Stop::Failure(failure),
        Stop::Fault(Fault::Memory) => Failure::Runtime(RuntimeError {
            kind: ErrorKind::Memory,
            arguments: Vec::new(),
            place: Some(place.clone()),
        }),
        Stop::Fault(Fault::Error(error)) => Failure::Runtime(RuntimeError {
            place: Some(place.clone()),
            ..error
        }),
        Stop::Fault(Fault::Internal(message)) => Failure::Internal(InternalError {
            message,
            function: Some(code.name.clone()),
            place: Some(place.clone()),
        }),
    };
    Stop::Failure(Box::new(failure))
}

/// The next step after the beginning of a statement.
enum Step<'a, A: Arrays> {
    /// The statement is done.
    Next,
    /// The value of the statement is that of a body.
    Inside(&'a Body),
    /// The value of the statement is that of a call.
    Call(Activation<'a, A>),
    /// The value of the activation is that of another activation.
    Tail(Activation<'a, A>),
}

impl<A: Arrays> Activation<'_, A> {
    fn advance(&mut self) {
        if let Some((_, next)) = self.bodies.last_mut() {
            *next += 1;
        }
    }

    /// Binds the results that the current statement was waiting for.
    fn resume(&mut self, results: Vec<Held<A>>) -> Result<(), Stop> {
        if let Some((body, at)) = self.bodies.last()
            && let Some(statement) = body.statements.get(*at)
        {
            let bound = self.bind(&statement.pattern, results);
            bound.map_err(|fault| locate(fault.into(), self.code, &statement.place))?;
        }
        self.advance();
        Ok(())
    }

    /// Returns the facts about a variable.
    fn info(&self, variable: Variable) -> Result<&SlotInfo, Fault> {
        match self.code.infos.get(slot(variable)) {
            Some(info) => Ok(info),
            None => internal("a variable without slot"),
        }
    }

    /// Gives a variable its value without conversion.
    fn set(&mut self, variable: Variable, value: Held<A>) -> Result<(), Fault> {
        match self.slots.get_mut(slot(variable)) {
            Some(place) => {
                *place = Some(value);
                Ok(())
            }
            None => internal("a variable without slot"),
        }
    }

    /// Gives the parameters of an entry the components of its inputs.
    fn receive(&mut self, parameters: &[Variable], values: Vec<FlatValue>) -> Result<(), Fault> {
        if parameters.len() != values.len() {
            return internal("an entry with another number of components");
        }
        for (variable, value) in parameters.iter().zip(values) {
            let value = match value {
                FlatValue::Scalar(value) => Held::Scalar(value),
                FlatValue::Array(array) => {
                    let Some(info) = self.code.infos.get(slot(*variable)) else {
                        return internal("a variable without slot");
                    };
                    Held::Array(A::receive(&mut self.slots, info, *array)?)
                }
            };
            self.set(*variable, value)?;
        }
        Ok(())
    }

    /// Gives variables values that were made elsewhere.
    fn bind(&mut self, pattern: &[Variable], values: Vec<Held<A>>) -> Result<(), Fault> {
        if pattern.len() != values.len() {
            return internal("a pattern with another number of values");
        }
        for (variable, value) in pattern.iter().zip(values) {
            let value = match value {
                Held::Array(array) => match self.code.infos.get(slot(*variable)) {
                    Some(info) => Held::Array(A::hand(&mut self.slots, info, array)?),
                    None => return internal("a variable without slot"),
                },
                Held::Scalar(_) | Held::Block(_) => value,
            };
            self.set(*variable, value)?;
        }
        Ok(())
    }
}

/// Returns an `i64` value.
fn index_value<A: Arrays>(value: usize) -> Held<A> {
    Held::Scalar(ScalarValue::I64(value as i64))
}

/// Converts components from outside, with arrays of their own.
fn adopt_all<A: Arrays>(components: Vec<FlatValue>) -> Result<Vec<Held<A>>, Fault> {
    let adopt = |value| match value {
        FlatValue::Scalar(value) => Ok(Held::Scalar(value)),
        FlatValue::Array(array) => Ok(Held::Array(A::adopt(*array)?)),
    };
    components.into_iter().map(adopt).collect()
}

/// Converts values to components for outside.
fn pack_all<A: Arrays>(values: &[Held<A>]) -> Result<Vec<FlatValue>, Fault> {
    let pack = |value: &Held<A>| match value {
        Held::Scalar(value) => Ok(FlatValue::Scalar(*value)),
        Held::Array(array) => Ok(FlatValue::Array(Box::new(A::packed(array)?))),
        Held::Block(_) => internal("a block among values"),
    };
    values.iter().map(pack).collect()
}

/// Returns the value of a variable, taken out of its slot at its last use.
fn read_variable<A: Arrays>(slots: &mut Slots<A>, variable: Variable) -> Result<Held<A>, Fault> {
    let place = slots.get_mut(slot(variable));
    let value = match place {
        Some(place) if variable.0 & LAST != 0 => place.take(),
        Some(place) => place.clone(),
        None => None,
    };
    value.ok_or_else(|| Fault::Internal("a variable without value".to_string()))
}

fn read<A: Arrays>(slots: &mut Slots<A>, atom: Atom) -> Result<Held<A>, Fault> {
    match atom {
        Atom::Constant(value) => Ok(Held::Scalar(value)),
        Atom::Variable(variable) => read_variable(slots, variable),
    }
}

fn read_all<A: Arrays>(slots: &mut Slots<A>, atoms: &[Atom]) -> Result<Vec<Held<A>>, Fault> {
    atoms.iter().map(|atom| read(slots, *atom)).collect()
}

/// Returns the array of a variable.
fn array<A: Arrays>(slots: &mut Slots<A>, variable: Variable) -> Result<A::Array, Fault> {
    match read_variable(slots, variable)? {
        Held::Array(array) => Ok(array),
        Held::Scalar(_) | Held::Block(_) => internal("a scalar where an array is meant"),
    }
}

/// Returns a scalar operand.
fn scalar<A: Arrays>(slots: &Slots<A>, atom: Atom) -> Result<ScalarValue, Fault> {
    match atom {
        Atom::Constant(value) => Ok(value),
        Atom::Variable(variable) => match slots.get(slot(variable)) {
            Some(Some(value)) => value.scalar(),
            Some(None) | None => internal("a variable without value"),
        },
    }
}

impl<A: Arrays> Held<A> {
    /// Returns the value as a scalar.
    fn scalar(&self) -> Result<ScalarValue, Fault> {
        match self {
            Held::Scalar(value) => Ok(*value),
            Held::Array(_) | Held::Block(_) => internal("an array where a scalar is meant"),
        }
    }

    /// Returns the value as an `i64`.
    fn integer(&self) -> Result<i64, Fault> {
        match self.scalar()? {
            ScalarValue::I64(value) => Ok(value),
            _ => internal("an operand that should be an `i64`"),
        }
    }
}

/// Returns an `i64` operand.
fn integer<A: Arrays>(slots: &Slots<A>, atom: Atom) -> Result<i64, Fault> {
    Held::<A>::Scalar(scalar(slots, atom)?).integer()
}

fn integers<A: Arrays>(slots: &Slots<A>, atoms: &[Atom]) -> Result<Vec<i64>, Fault> {
    atoms.iter().map(|atom| integer(slots, *atom)).collect()
}

/// Returns an extent or a count.
fn extent<A: Arrays>(slots: &Slots<A>, atom: Atom) -> Result<usize, Fault> {
    match usize::try_from(integer(slots, atom)?) {
        Ok(extent) => Ok(extent),
        Err(_) => internal("a negative extent"),
    }
}

fn extents<A: Arrays>(slots: &Slots<A>, atoms: &[Atom]) -> Result<Vec<usize>, Fault> {
    atoms.iter().map(|atom| extent(slots, *atom)).collect()
}
