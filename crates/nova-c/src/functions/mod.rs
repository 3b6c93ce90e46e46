//! Emits functions of Loop as static C functions: their parameters, results and names.
//!
//! A function whose only result is a scalar returns it. Other functions have a pointer for each result
//! after their parameters, and write the results when they end. The context is the first parameter of
//! functions that may fail, allocate or read node tables.

mod command;
mod control;
mod region;

use crate::context::calls::FunctionInfo;
use crate::context::expressions::type_of;
use crate::context::fields::Fields;
use crate::context::function::{Emitter, returned};
use crate::context::making::{field_offsets, making};
use crate::context::tracing::Tracing;
use crate::context::unit::Unit;
use crate::context::writer::Writer;
use crate::emit::accesses::trace_variable;
use crate::emit::exits::{failure, leave};
use crate::emit::variables::{assign, declare_unset};
use crate::syntax::{context, context_parameter, literal, offset, parameter};
use nova_c_ast::ast::{Block, Expression, Function, Name, Parameter, Statement, Type};
use nova_core::ErrorKind;
use nova_diag::Place;
use nova_loop::call_graph::called;
use nova_loop::ir::{self, Command, FunctionId, Variable};
use nova_loop::kernels::own_pointers;
use std::collections::BTreeSet;

/// The number of commands that makes a function large. C compilers must skip passes whose time grows
/// faster than the size of such functions.
const LARGE: usize = 100;

/// Emits a function of the host.
pub fn emit_function(unit: &mut Unit, id: FunctionId) -> Function {
    let info = unit.functions[id.0 as usize].clone();
    emit(unit, id, info, None)
}

/// Emits a function that kernels call.
fn emit_device_function(unit: &mut Unit, id: FunctionId) -> Function {
    let function = &unit.program.functions[id.0 as usize];
    let own = own_pointers(&unit.program.clone_types(), &function.body).unwrap_or_default();
    let info = unit.kernels.infos[&id].clone();
    emit(unit, id, info, Some(own))
}

fn emit(
    unit: &mut Unit,
    id: FunctionId,
    info: FunctionInfo,
    own: Option<BTreeSet<Variable>>,
) -> Function {
    let program = unit.program;
    let function = &program.functions[id.0 as usize];
    let on_device = own.is_some();
    let counts = !on_device || unit.kernels.memory_users.contains(&id);
    let code = &mut Emitter::new(unit);
    code.device.own = own;
    code.counts = counts;
    code.function = info.name.clone();
    if code.unit.traces() {
        code.tracing = Tracing::new(function);
    }
    let mut parameters = inputs(code, function, info.context);
    if !on_device {
        code.making = making(code.unit, id);
    }
    let returned = returned(program, function);
    code.device.failed_value = returned.map(|_| literal(0));
    code.returned = returned.map(|(variable, _)| variable);
    parameters.extend(outputs(code, function));
    if function.recursive {
        check_stack(code, &function.place);
    }
    note_fields(code, id, function);
    if code.unit.options.lines && !function.place.file.is_empty() {
        code.push(Statement::Place(function.place.clone()));
    }
    code.commands(&function.body);
    let ends = matches!(
        function.body.last(),
        Some(ir::Command::Return | ir::Command::Fail { .. })
    );
    if !ends {
        leave(code, true);
    }
    let body = code.take();
    let mut prefix: Vec<Name> = match on_device {
        true => vec![unit.options.dialect.function_words.into()],
        false => vec!["static".into()],
    };
    if function.body.len() > LARGE && !on_device {
        prefix.insert(0, "NOVA_LARGE".into());
    }
    Function {
        prefix,
        result: returned.map_or(Type::name("void"), |(_, scalar)| {
            type_of(ir::Type::Scalar(scalar))
        }),
        name: info.name,
        parameters,
        body: Some(Block(body)),
    }
}

/// Returns the parameters for the inputs of a function.
fn inputs(code: &mut Emitter, function: &ir::Function, context: bool) -> Vec<Parameter> {
    let mut parameters = Vec::new();
    if context {
        parameters.push(context_parameter());
    }
    for variable in &function.parameters {
        let is_handle = code.program().variable(*variable).ty == ir::Type::Block;
        if is_handle && !code.counts {
            continue;
        }
        parameters.push(parameter(
            code.type_of_variable(*variable),
            code.declare(*variable),
        ));
        trace_variable(code, *variable);
    }
    parameters
}

/// Declares the results of a function. Returns parameters for the results that it does not return.
fn outputs(code: &mut Emitter, function: &ir::Function) -> Vec<Parameter> {
    let mut parameters = Vec::new();
    for variable in &function.results {
        let name = code.declare(*variable);
        if code.returned.is_none() {
            let out = code.fresh(&format!("{name}_out"));
            parameters.push(parameter(
                code.type_of_variable(*variable).pointer(),
                out.clone(),
            ));
            code.results.push((*variable, out));
        }
        declare_unset(code, *variable);
    }
    parameters
}

/// Notes the pointers into structures, so that C compilers know their distances.
fn note_fields(code: &mut Emitter, id: FunctionId, function: &ir::Function) {
    code.fields = Fields::new(&function.body);
    for (field, other, distance) in field_offsets(code.program(), id) {
        code.fields.note(field, other, distance);
        let other = code.named(other);
        assign(code, field, offset(other, distance));
    }
}

fn check_stack(code: &mut Writer, place: &Place) {
    let fail = failure(code, ErrorKind::Recursion, Vec::new(), place);
    let left = Expression::pure("NOVA_STACK_LEFT", vec![context()]);
    code.push(Statement::when(nova_c_ast::ast::not(left), vec![fail]));
}

impl Unit<'_> {
    /// Emits the functions that a kernel calls, unless they have been emitted.
    pub(crate) fn need_on_device(&mut self, body: &[Command]) {
        for id in called(self.program, body) {
            if self.kernels.infos.contains_key(&id) {
                continue;
            }
            let host = &self.functions[id.index()];
            let info = FunctionInfo {
                name: format!("{}_on_device", host.name).into(),
                context: host.context,
            };
            self.kernels.infos.insert(id, info);
            let function = emit_device_function(self, id);
            self.kernels.functions.push(function);
        }
    }
}
