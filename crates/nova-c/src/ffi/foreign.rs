//! Wrappers of foreign functions. Each function that is called has a static wrapper, which turns
//! components into its arguments, calls it, and takes over what it allocated (nova.txt §6.1, abi.md
//! §2).

use crate::context::unit::Unit;
use crate::context::writer::Writer;
use crate::ffi::input::read_value;
use crate::ffi::lifted::read_lifted;
use crate::ffi::output::{free_elements, free_value};
use crate::ffi::parts::Part;
use crate::ffi::source::{Source, check_data, checked_count};
use crate::ffi::top::{Form, lend_top, offset_parts};
use crate::scalar::{memory_type, variable_type};
use crate::syntax::{
    block_type, context, context_parameter, int64, literal, null, parameter, procedure,
};
use nova_c_ast::ast::{Expression, Function, Name, Parameter, Statement, Type};
use nova_core::Type as CoreType;
use nova_core::ir::Foreign;
use nova_flat::representation::{Component, components};

impl Unit<'_> {
    /// Returns the static wrapper of a foreign function.
    pub fn foreign_name(&mut self, foreign: u32) -> Name {
        if let Some(name) = self.foreigns.get(&foreign) {
            return name.clone();
        }
        let declaration = &self.program.foreigns[foreign as usize];
        let name = self
            .names
            .fresh(&format!("call_{}", declaration.name), None);
        self.foreigns.insert(foreign, name.clone());
        let function = define(self, declaration, name.clone());
        self.helpers.push(function);
        name
    }
}

/// Returns the function that frees the memory inside an array of values of a type.
fn discard_function(unit: &mut Unit, ty: &CoreType) -> Name {
    let c_type = unit.types.value(ty, &[]).unwrap_or_else(int64);
    let text = nova_c_ast::print::type_text(&c_type);
    let name = format!("discard_{}", text.trim_start_matches("nova_"));
    unit.helper(format!("discard {text}"), &name, |unit, name| {
        let code = &mut Writer::new(unit);
        let [data, count] = ["data", "count"].map(|name| code.fresh(name));
        let parameters = [(Type::name("void").pointer(), &data), (int64(), &count)];
        let parameters = parameters.map(|(ty, name)| parameter(ty, name.clone()));
        let pointer = c_type.pointer();
        let values = Expression::Name(data).cast(pointer.clone());
        let values = code.variable(pointer, "values", values);
        free_elements(code, ty, values, Expression::Name(count), &[]);
        let body = code.take();
        procedure(name, parameters.into(), body)
    })
}

/// Returns the C declaration of a foreign function.
pub fn declaration(unit: &mut Unit, foreign: &Foreign) -> Function {
    let mut parameters = Form::of(&mut unit.types, &foreign.result).results("result");
    for (k, ty) in foreign.parameters.iter().enumerate() {
        let name = argument_name(k);
        parameters.extend(Form::of(&mut unit.types, ty).parameters(&name));
    }
    Function {
        prefix: Vec::new(),
        result: Type::name("void"),
        name: crate::names::foreign(&foreign.name).into(),
        parameters,
        body: None,
    }
}

fn argument_name(k: usize) -> String {
    match u8::try_from(k) {
        Ok(k) if k < 26 => char::from(b'a' + k).to_string(),
        _ => format!("a{k}"),
    }
}

/// Returns the parameters for the components of a type (pointers to them for results), and their names.
pub fn component_parameters(
    code: &mut Writer,
    list: &[Component],
    hint: &str,
    results: bool,
) -> (Vec<Parameter>, Vec<Part>) {
    let mut parameters = Vec::new();
    let mut parts = Vec::new();
    for component in list {
        let name = match component.name.is_empty() {
            true => hint.to_string(),
            false => format!("{hint}_{}", component.name),
        };
        let mut add = |ty: Type, name: &str| {
            let name = code.fresh(name);
            let ty = if results { ty.pointer() } else { ty };
            parameters.push(parameter(ty, name.clone()));
            Expression::Name(name)
        };
        if component.shape.is_empty() {
            parts.push(Part::Scalar(add(variable_type(component.scalar), &name)));
        } else {
            let pointer = add(memory_type(component.scalar).pointer(), &name);
            let block = add(block_type(), &format!("{name}_block"));
            parts.push(Part::Array { pointer, block });
        }
    }
    (parameters, parts)
}

fn define(unit: &mut Unit, foreign: &Foreign, name: Name) -> Function {
    let sums = &unit.program.sums;
    let result_form = Form::of(&mut unit.types, &foreign.result);
    let code = &mut Writer::new(unit);
    let mut parameters = vec![context_parameter()];
    let mut arguments = Vec::new();
    for (k, ty) in foreign.parameters.iter().enumerate() {
        let hint = argument_name(k);
        let (own, parts) = component_parameters(code, &components(ty, sums), &hint, false);
        parameters.extend(own);
        let form = Form::of(&mut code.unit.types, ty);
        arguments.extend(lend_top(code, ty, &form, &mut parts.iter(), &hint));
    }
    let list = components(&foreign.result, sums);
    let (own, targets) = component_parameters(code, &list, "out", true);
    parameters.extend(own);
    let mut call = Vec::new();
    let mut results = Vec::new();
    for parameter in result_form.results("result") {
        let Type::Pointer(ty) = parameter.ty else {
            continue;
        };
        let zero = match &*ty {
            Type::Pointer(_) => Some(null()),
            Type::Name(name) if name.starts_with("nova_") => None,
            Type::Name(_) | Type::Struct(_) | Type::Const(_) | Type::Array(..) => Some(literal(0)),
        };
        let result = match zero {
            Some(zero) => code.variable((*ty).clone(), &parameter.name, zero),
            None => code.unset((*ty).clone(), &parameter.name),
        };
        call.push(result.clone().address());
        results.push(result);
    }
    call.extend(arguments);
    let symbol = crate::names::foreign(&foreign.name);
    code.push(Statement::call(symbol, call));
    code.push(Statement::call("nova_free_temporaries", vec![context()]));
    let parts = adopt(code, &foreign.result, &result_form, results);
    let targets = targets.into_iter().flat_map(Part::expressions);
    let values = parts.into_iter().flat_map(Part::expressions);
    for (target, value) in targets.zip(values) {
        code.push(Statement::assign(target.dereference(), value));
    }
    let body = code.take();
    procedure(name, parameters, body)
}

/// Returns the components of a foreign function's result, whose memory now belongs to the call.
fn adopt(code: &mut Writer, ty: &CoreType, form: &Form, results: Vec<Expression>) -> Vec<Part> {
    let mut source = Source::argument("result");
    let mut parts = Vec::new();
    if let (
        Form::Nested {
            levels, element, ..
        },
        [length, rest @ ..],
    ) = (form, &*results)
    {
        parts.push(Part::Scalar(length.clone()));
        let (offsets, data) = rest.split_at(levels - 1);
        let blocks: Vec<Expression> = offsets.iter().map(|o| adopted(code, o)).collect();
        let data = adopted_data(code, data.first());
        let mut count = length.clone();
        for (level, (offsets, block)) in offsets.iter().zip(blocks).enumerate() {
            count = adopt_offsets(code, level + 1, offsets, block, count, &mut parts);
        }
        adopt_data(code, element, data, count, &source, &mut parts);
        return parts;
    }
    if let Form::Array { rank, element, .. } = form {
        let (extents, data) = results.split_at((*rank as usize).min(results.len()));
        let data = adopted_data(code, data.first());
        let count = checked_count(code, extents, &source);
        parts.extend(extents.iter().cloned().map(Part::Scalar));
        adopt_data(code, element, data, count, &source, &mut parts);
        return parts;
    }
    let Some(value) = results.first() else {
        return parts;
    };
    source.copy = true;
    let one = literal(1);
    discard_on_error(code, ty, value.clone().address(), one);
    read_value(code, ty, value.clone(), &source, &mut parts);
    let parts = saved(code, parts);
    keep_on_error(code, ty);
    free_value(code, ty, value.clone(), &[]);
    parts
}

/// Makes later errors free the values of a foreign function's result: they do not belong to the
/// call until they have been read.
fn discard_on_error(code: &mut Writer, ty: &CoreType, values: Expression, count: Expression) {
    if !code.unit.types.allocates(ty) {
        return;
    }
    let discard = discard_function(code.unit, ty);
    for (field, value) in [
        ("discarded", values),
        ("discarded_count", count),
        ("discard", Expression::Name(discard)),
    ] {
        code.push(Statement::assign(context().arrow(field), value));
    }
}

/// Ends what [`discard_on_error`] began.
fn keep_on_error(code: &mut Writer, ty: &CoreType) {
    if code.unit.types.allocates(ty) {
        code.push(Statement::assign(context().arrow("discard"), null()));
    }
}

/// Takes over the block of an array that a foreign function allocated.
fn adopted(code: &mut Writer, data: &Expression) -> Expression {
    let adopt = Expression::call("nova_adopt_array", vec![context(), data.clone()]);
    code.variable(block_type(), "result_block", adopt)
}

/// Returns the data of a result and its block; `None` if its elements take no memory.
fn adopted_data(code: &mut Writer, data: Option<&Expression>) -> Option<(Expression, Expression)> {
    data.map(|data| (data.clone(), adopted(code, data)))
}

/// Puts components into variables, so that the value that they come from can be freed.
fn saved(code: &mut Writer, parts: Vec<Part>) -> Vec<Part> {
    let save = |code: &mut Writer, part: Part| match part {
        Part::Scalar(value) => {
            // The value of a link is a call of the function that imports it.
            let ty = if matches!(value, Expression::Call(..)) {
                Some(int64())
            } else {
                None
            };
            match ty {
                Some(ty) => Part::Scalar(code.variable(ty, "link", value)),
                None => Part::Scalar(value),
            }
        }
        array @ Part::Array { .. } => array,
    };
    parts.into_iter().map(|part| save(code, part)).collect()
}

/// Takes over offsets that a foreign function allocated. They have two references, for starts and
/// for ends.
fn adopt_offsets(
    code: &mut Writer,
    level: usize,
    offsets: &Expression,
    block: Expression,
    count: Expression,
    parts: &mut Vec<Part>,
) -> Expression {
    let name = format!("result_seg{level}");
    let arguments = vec![context(), Expression::text(&name), count, offsets.clone()];
    let total = Expression::call("nova_check_segments", arguments);
    let total = code.variable(int64(), &format!("{name}_total"), total);
    code.push(Statement::call("nova_retain", vec![block.clone()]));
    let starts = format!("{name}_starts");
    offset_parts(code, &starts, offsets, block, &total, parts);
    total
}

/// Takes over the data of a vector that a foreign function allocated.
fn adopt_data(
    code: &mut Writer,
    element: &CoreType,
    adopted: Option<(Expression, Expression)>,
    count: Expression,
    source: &Source,
    parts: &mut Vec<Part>,
) {
    let (data, block) = adopted.unwrap_or_else(|| (null(), null()));
    check_data(code, element, &data, &count, source);
    if let Some(scalar) = element.as_scalar() {
        let elements = Expression::pure("nova_elements", vec![data]);
        let pointer = elements.cast(memory_type(scalar).pointer());
        parts.push(Part::Array { pointer, block });
        return;
    }
    let mut source = source.clone();
    source.copy = true;
    let walk = [crate::ffi::walk::Step::Array {
        data: data.clone(),
        count: count.clone(),
    }];
    discard_on_error(code, element, data.clone(), count.clone());
    read_lifted(code, element, &walk, count.clone(), &source, parts);
    keep_on_error(code, element);
    if !code.unit.types.is_nothing(element) {
        free_elements(code, element, data, count, &[]);
        code.push(Statement::call("nova_release", vec![context(), block]));
    }
}
