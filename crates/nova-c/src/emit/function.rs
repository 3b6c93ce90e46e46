//! Emits functions of Loop as static C functions: their parameters, results and names.
//!
//! A function whose only result is a scalar returns it. Other functions have a pointer for each result
//! after their parameters, and write the results when they end. The context is the first parameter of
//! functions that may fail, allocate or read node tables.

use crate::context::calls::FunctionInfo;
use crate::context::expressions::{offset, type_of};
use crate::context::fields::Fields;
use crate::context::function::{FunctionEmitter, returned};
use crate::context::making::{field_offsets, making};
use crate::context::tracing::Tracing;
use crate::context::unit::Unit;
use nova_c_ast::ast::{Block, Expression, Function, Name, Parameter, Statement, Type};
use nova_core::ErrorKind;
use nova_diag::Place;
use nova_loop::ir::{self, FunctionId, Variable};
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
pub fn emit_device_function(unit: &mut Unit, id: FunctionId) -> Function {
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
    let mut emitter = FunctionEmitter::new(unit);
    emitter.own = own;
    emitter.counts = counts;
    emitter.function = info.name.clone();
    if emitter.unit.traces() {
        emitter.tracing = Tracing::new(function);
    }
    let mut parameters = emitter.inputs(function, info.context);
    if !on_device {
        emitter.making = making(emitter.unit, id);
    }
    let returned = returned(program, function);
    emitter.failed_value = returned.map(|_| Expression::literal("0"));
    emitter.returned = returned.map(|(variable, _)| variable);
    parameters.extend(emitter.outputs(function));
    if function.recursive {
        emitter.check_stack(&function.place);
    }
    emitter.note_fields(id, function);
    emitter.commands(&function.body);
    let ends = matches!(
        function.body.last(),
        Some(ir::Command::Return | ir::Command::Fail { .. })
    );
    if !ends {
        emitter.leave(true);
    }
    let body = emitter.take();
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

impl FunctionEmitter<'_, '_> {
    /// Returns the parameters for the inputs of a function.
    fn inputs(&mut self, function: &ir::Function, context: bool) -> Vec<Parameter> {
        let mut parameters = Vec::new();
        if context {
            parameters.push(Parameter {
                ty: Type::name("nova_context").pointer(),
                name: "context".into(),
            });
        }
        for variable in &function.parameters {
            let is_handle = self.program().variable(*variable).ty == ir::Type::Block;
            if is_handle && !self.counts {
                continue;
            }
            parameters.push(Parameter {
                ty: self.type_of_variable(*variable),
                name: self.declare(*variable),
            });
            self.trace_variable(*variable);
        }
        parameters
    }

    /// Declares the results of a function. Returns parameters for the results that it does not return.
    fn outputs(&mut self, function: &ir::Function) -> Vec<Parameter> {
        let mut parameters = Vec::new();
        for variable in &function.results {
            let name = self.declare(*variable);
            if self.returned.is_none() {
                let out = self.fresh(&format!("{name}_out"));
                parameters.push(Parameter {
                    ty: self.type_of_variable(*variable).pointer(),
                    name: out.clone(),
                });
                self.results.push((*variable, out));
            }
            self.declare_unset(*variable);
        }
        parameters
    }

    /// Notes the pointers into structures, so that C compilers know their distances.
    fn note_fields(&mut self, id: FunctionId, function: &ir::Function) {
        self.fields = Fields::new(&function.body);
        for (field, other, distance) in field_offsets(self.program(), id) {
            self.fields.note(field, other, distance);
            let other = Expression::Name(self.name(other));
            self.assign(field, offset(other, distance));
        }
    }
}

impl FunctionEmitter<'_, '_> {
    fn check_stack(&mut self, place: &Place) {
        let fail = self.failure(ErrorKind::Recursion, Vec::new(), place);
        let left = Expression::pure("NOVA_STACK_LEFT", vec![Expression::name("context")]);
        self.push(Statement::when(nova_c_ast::ast::not(left), vec![fail]));
    }
}
