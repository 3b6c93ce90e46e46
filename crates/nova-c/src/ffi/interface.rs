//! The C side of an entry: its names, its parameters, and the call of the function that runs.

use crate::context::calls::reachable_from;
use crate::context::unit::Unit;
use crate::ffi::symbols::symbols;
use crate::ffi::top::{Form, read};
use crate::names::identifier;
use crate::syntax::{null, truth};
use nova_c_ast::ast::{Expression, Function, Name, Parameter, Statement, Type};
use nova_core::Type as CoreType;
use nova_loop::ir;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The C side of an entry.
#[derive(Clone, Debug)]
pub struct EntryInterface {
    /// Its name in NOVA.
    pub name: Arc<str>,
    /// The C function.
    pub symbol: Name,
    /// The function that returns the message of the last failure.
    pub error: Name,
    /// The function for arrays on a device, if there is one.
    pub device: Name,
    /// The function that frees a result, if there is one.
    pub free: Name,
    /// Name, type, form and C parameters of each input.
    pub inputs: Vec<InputInterface>,
    /// The form of the result.
    pub result_form: Form,
    /// The type of the result.
    pub result: CoreType,
    /// The C parameters of the result.
    pub results: Vec<Parameter>,
}

/// The C side of an input.
#[derive(Clone, Debug)]
pub struct InputInterface {
    /// Its name in NOVA.
    pub name: Arc<str>,
    /// Its name in C.
    pub c_name: String,
    /// Its type.
    pub ty: CoreType,
    /// Its form.
    pub form: Form,
    /// Its C parameters.
    pub parameters: Vec<Parameter>,
}

/// Returns the C side of an entry.
pub fn interface(unit: &mut Unit, entry: &ir::Entry) -> EntryInterface {
    let symbols = symbols(&unit.options.prefix, &entry.name);
    let result_form = Form::of(&mut unit.types, &entry.result);
    let results = result_form.results("result");
    let mut taken: BTreeSet<Name> = results.iter().map(|p| p.name.clone()).collect();
    taken.insert("result".into());
    let forms: Vec<Form> = entry
        .inputs
        .iter()
        .map(|(_, ty)| Form::of(&mut unit.types, ty))
        .collect();
    // A name that equals the name of another input's size gets a suffix.
    let derived: BTreeSet<Name> = entry
        .inputs
        .iter()
        .zip(&forms)
        .flat_map(|((name, _), form)| {
            let own = identifier(name);
            let parameters = form.parameters(&own);
            parameters
                .into_iter()
                .map(|p| p.name)
                .filter(move |n| **n != *own)
        })
        .collect();
    let mut inputs = Vec::new();
    for ((name, ty), form) in entry.inputs.iter().zip(forms) {
        let mut c_name = identifier(name);
        let blocked = |c_name: &str, taken: &BTreeSet<Name>| {
            derived.contains(c_name)
                || form
                    .parameters(c_name)
                    .iter()
                    .any(|p| taken.contains(&p.name))
        };
        while blocked(&c_name, &taken) {
            c_name.push('_');
        }
        let parameters = form.parameters(&c_name);
        taken.extend(parameters.iter().map(|p| p.name.clone()));
        inputs.push(InputInterface {
            name: name.clone(),
            c_name,
            ty: ty.clone(),
            form,
            parameters,
        });
    }
    EntryInterface {
        name: entry.name.clone(),
        symbol: symbols.function.into(),
        error: symbols.error.into(),
        device: symbols.device.into(),
        free: symbols.free.into(),
        inputs,
        result_form,
        result: entry.result.clone(),
        results,
    }
}

impl EntryInterface {
    /// Returns all parameters of the C function.
    pub fn parameters(&self) -> Vec<Parameter> {
        let inputs = self.inputs.iter().flat_map(|i| &i.parameters);
        self.results.iter().chain(inputs).cloned().collect()
    }

    /// `int prog(…)`, without a body.
    pub fn function(&self) -> Function {
        Function {
            prefix: Vec::new(),
            result: Type::name("int"),
            name: self.symbol.clone(),
            parameters: self.parameters(),
            body: None,
        }
    }

    /// `const char *prog_error(void)`, without a body.
    pub fn error_function(&self) -> Function {
        Function {
            prefix: Vec::new(),
            result: Type::name("char").constant().pointer(),
            name: self.error.clone(),
            parameters: Vec::new(),
            body: None,
        }
    }
}

/// The names of an entry's items in the file.
pub struct EntryNames {
    /// The structure of the parameters of a call.
    pub call: Name,
    /// The message of the last failure.
    pub message: Name,
    /// The function that runs in a context.
    pub run: Name,
}

impl EntryNames {
    pub(crate) fn new(unit: &mut Unit, interface: &EntryInterface) -> EntryNames {
        let symbol = &interface.symbol;
        let mut fresh = |what: &str| unit.names.fresh(&format!("{symbol}_{what}"), None);
        EntryNames {
            call: fresh("call"),
            message: fresh("message"),
            run: fresh("run"),
        }
    }
}

/// Returns the body of a function that hosts call. It runs another function in a context and, where
/// there are kernels, on a device, in the stream of the caller if there is one.
pub fn call_body(
    unit: &Unit,
    entry: &ir::Entry,
    parameters: &[Parameter],
    names: &EntryNames,
    stream: Option<Name>,
) -> Vec<Statement> {
    let mut body = Vec::new();
    let mut structure = |name: &str, ty: Type, values: Vec<Expression>| {
        let mut name = String::from(name);
        let is_taken = |name: &str| {
            parameters.iter().any(|p| *p.name == *name) || stream.as_deref() == Some(name)
        };
        while is_taken(&name) {
            name.push('_');
        }
        let value = Expression::Braces(values);
        body.push(Statement::declare(ty, &*name, value));
        Expression::name(name).address()
    };
    let mut function = Expression::Name(names.run.clone());
    let mut argument = match parameters.is_empty() {
        true => null(),
        false => {
            let values = parameters.iter().map(read).collect();
            structure("call", Type::Struct(names.call.clone()), values)
        }
    };
    if unit.has_kernels {
        let device = Expression::name(crate::dialect::DEVICE).address();
        let lent = truth(stream.is_some());
        let stream = stream.clone().map_or(null(), Expression::Name);
        let may_fail = unit.kernels.may_fail;
        let may_fail = truth(may_fail);
        let values = vec![device, function, argument, may_fail, lent, stream];
        argument = structure("device_call", Type::name("nova_device_call"), values);
        function = Expression::name("nova_with_device");
    }
    let deep = reachable_from(unit.program, entry.function)
        .iter()
        .any(|id| unit.program.functions[id.0 as usize].recursive);
    let call_function = if deep { "nova_call_deep" } else { "nova_call" };
    let arguments = vec![function, argument, Expression::Name(names.message.clone())];
    let value = Expression::call(call_function, arguments);
    body.push(Statement::Return(Some(value)));
    body
}
