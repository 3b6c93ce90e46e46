//! Foreign functions that are code of the device: their declarations and sources before the kernels.
//! For each function that kernels call there is a wrapper, which assembles its arguments from
//! components and takes its result apart.

use crate::context::unit::Unit;
use crate::ffi::foreign;
use crate::scalar::variable_type;
use crate::syntax::{declaration, literal, parameter};
use nova_c_ast::ast::{Binary, Expression, Function, Item, Name, Parameter, Statement, Type};
use nova_c_ast::print;
use nova_core::{Scalar, Type as CoreType};
use nova_diag::deep;

/// Returns the device code that the program is linked with, after the declarations of its functions;
/// empty if it has none.
pub fn text(unit: &mut Unit) -> String {
    let program = unit.program;
    let all = 0..program.foreigns.len() as u32;
    let of_device: Vec<u32> = all.filter(|k| program.is_of_device(*k)).collect();
    if of_device.is_empty() {
        return String::new();
    }
    let dialect = unit.options.dialect;
    let mut declared = Vec::new();
    let mut types = Vec::new();
    for k in of_device {
        let Some(known) = program.foreigns.get(k as usize) else {
            continue;
        };
        let mut function = foreign::declaration(unit, known);
        function.prefix = vec![dialect.foreign_words.into()];
        function.prefix.retain(|word| !word.is_empty());
        declared.push(Item::Function(function));
        for ty in known.parameters.iter().chain([&known.result]) {
            each_tuple(ty, &mut |ty| {
                let name = unit.types.value(ty, &[]);
                types.extend(name.map(|name| print::type_text(&name)));
            });
        }
    }
    let mut items = Vec::new();
    // In CUDA the header defines them: kernels are C++ beside the code of the host.
    if !dialect.kernels_see_host() {
        let definitions = unit.types.definitions.iter();
        let needed = definitions.filter(|d| types.contains(&format!("nova_{}", d.name)));
        items.extend(needed.flat_map(|d| d.items.clone()));
    }
    items.extend(declared);
    format!("{}\n{}\n", print::print(&items), unit.options.device_source)
}

/// Visits the tuples inside a type of numbers.
fn each_tuple(ty: &CoreType, visit: &mut dyn FnMut(&CoreType)) {
    if let CoreType::Tuple(elements) = ty {
        visit(ty);
        elements.iter().for_each(|e| deep(|| each_tuple(e, visit)));
    }
}

impl Unit<'_> {
    /// Returns the wrapper by which kernels call a foreign function of the device.
    pub fn device_function(&mut self, number: u32) -> Name {
        if let Some(name) = self.kernels.foreigns.get(&number) {
            return name.clone();
        }
        let declared = &self.program.foreigns[number as usize];
        let hint = format!("call_{}_on_device", declared.name);
        let name = self.names.fresh(&hint, None);
        self.kernels.foreigns.insert(number, name.clone());
        let mut call = Call {
            unit: self,
            parameters: Vec::new(),
            body: Vec::new(),
            count: 0,
        };
        let mut arguments = Vec::new();
        for ty in &declared.parameters {
            arguments.extend(call.argument(ty));
        }
        let result = call.result(&declared.result);
        let mut all: Vec<Expression> = result.iter().map(|r| r.clone().address()).collect();
        all.extend(arguments);
        let symbol = crate::names::foreign(&declared.name);
        call.body.push(Statement::call(symbol, all));
        if let Some(result) = result {
            call.take_apart(&declared.result, result);
        }
        let (parameters, body) = (call.parameters, call.body);
        let function = Function {
            prefix: vec![self.options.dialect.function_words.into()],
            result: Type::name("void"),
            name: name.clone(),
            parameters,
            body: Some(body.into()),
        };
        self.kernels.functions.push(function);
        name
    }
}

/// A wrapper of a foreign function of the device, while it is emitted.
struct Call<'u, 'p> {
    unit: &'u mut Unit<'p>,
    parameters: Vec<Parameter>,
    body: Vec<Statement>,
    /// The number of names given so far.
    count: usize,
}

impl Call<'_, '_> {
    fn fresh(&mut self, hint: &str) -> Name {
        self.count += 1;
        format!("{hint}_{}", self.count).into()
    }

    fn parameter(&mut self, hint: &str, ty: Type) -> Expression {
        let name = self.fresh(hint);
        self.parameters.push(parameter(ty, name.clone()));
        Expression::Name(name)
    }

    /// Returns the value of an argument of the foreign function; `None` for a type that takes no
    /// memory.
    fn argument(&mut self, ty: &CoreType) -> Option<Expression> {
        if let CoreType::Scalar(scalar) = ty {
            return Some(self.parameter("value", variable_type(*scalar)));
        }
        let structure = self.declared(ty)?;
        self.put_together(ty, structure.clone());
        Some(structure)
    }

    /// Declares a variable of a type of the FFI boundary.
    fn declared(&mut self, ty: &CoreType) -> Option<Expression> {
        let c_type = self.unit.types.value(ty, &[])?;
        let name = self.fresh("tuple");
        self.body.push(declaration(c_type, name.clone()));
        Some(Expression::Name(name))
    }

    /// Assigns parameters to the fields of a structure.
    fn put_together(&mut self, ty: &CoreType, place: Expression) {
        match ty {
            CoreType::Tuple(elements) => {
                for (k, element) in elements.iter().enumerate() {
                    let field = place.clone().member(format!("e{k}"));
                    deep(|| self.put_together(element, field));
                }
            }
            CoreType::Scalar(scalar) => {
                let value = self.parameter("value", variable_type(*scalar));
                self.body.push(Statement::assign(place, value));
            }
            CoreType::Unit
            | CoreType::Vector(_)
            | CoreType::Array(..)
            | CoreType::Function(..)
            | CoreType::Sum(_) => {}
        }
    }

    /// Declares a variable for the result.
    fn result(&mut self, ty: &CoreType) -> Option<Expression> {
        let CoreType::Scalar(scalar) = ty else {
            return self.declared(ty);
        };
        let ty = match scalar {
            Scalar::Bool => Type::name("int"),
            numbers => variable_type(*numbers),
        };
        let name = self.fresh("result");
        self.body.push(declaration(ty, name.clone()));
        Some(Expression::Name(name))
    }

    /// Assigns the components of a result through pointer parameters.
    fn take_apart(&mut self, ty: &CoreType, value: Expression) {
        match ty {
            CoreType::Tuple(elements) => {
                for (k, element) in elements.iter().enumerate() {
                    let field = value.clone().member(format!("e{k}"));
                    deep(|| self.take_apart(element, field));
                }
            }
            CoreType::Scalar(scalar) => {
                let out = self.parameter("out", variable_type(*scalar).pointer());
                let value = match scalar {
                    Scalar::Bool => Expression::binary(Binary::NotEqual, value, literal(0)),
                    _number => value,
                };
                self.body.push(Statement::assign(out.dereference(), value));
            }
            CoreType::Unit
            | CoreType::Vector(_)
            | CoreType::Array(..)
            | CoreType::Function(..)
            | CoreType::Sum(_) => {}
        }
    }
}
