//! Lowering from Core to Flat: closure conversion, data representation, normal form.
//!
//! [`lower`] runs in two steps. [`closures`] makes a program first-order: functions used as values
//! become data. Then every function is lowered separately. A Core value becomes the components that
//! [`nova_flat::representation`] lists for its type. An expression becomes a sequence of statements. A
//! built-in becomes its checks and, usually, one array operation. The `builder` writes statements, and
//! the `lowerer` knows the variables in scope. Each form is a function over what it needs of the two.
//!
//! Nested vectors move by their descriptors: gathering, reversing, filtering or sorting rows moves
//! starts and ends. Data are copied only if rows are new ([`build`]) or come from different vectors
//! ([`join`]). Such copies drop dead rows ([`dead_rows`]).
//!
//! Evaluation order is that of Core: strict, left to right, with every check a statement at its place
//! in the order.

mod build;
mod builder;
mod builtins;
mod closures;
mod dead_rows;
mod error;
mod expressions;
mod facts;
mod join;
mod limits;
mod lowerer;
mod names;
mod receive;
mod rows;
mod scalars;
mod sums;
mod tables;
mod values;

pub use error::LowerError;
pub use tables::expand as expand_tables;

use builder::{Builder, atoms};
use closures::{FirstOrder, Function};
use lowerer::Lowerer;
use names::Names;
use nova_core::ir::Program as CoreProgram;
use nova_flat::ir::{Entry, FunctionId, Program};
use std::sync::Arc;

/// Lowers a program of Core to Flat.
///
/// An error is a bug of the compiler: `program` violates the guarantees of the crate `nova-core`.
pub fn lower(program: &CoreProgram) -> Result<Program, LowerError> {
    let source = closures::convert(program)?;
    let Some(first) = source.functions.first() else {
        return Ok(Program {
            sums: source.program.sums,
            foreigns: source.program.foreigns,
            ..Program::default()
        });
    };
    let (sums, foreigns) = (&source.program.sums, &source.program.foreigns);
    let mut b = Builder::new(sums.clone(), foreigns.clone(), first.place.clone());
    let mut lowerer = Lowerer::new(&source);
    let mut names = Names::default();
    for function in &source.functions {
        let name = names.unique(&function.name);
        let lowered = lower_function(&mut b, &mut lowerer, name, function)?;
        b.output.functions.push(lowered);
    }
    b.output.entries = entries(&source);
    nova_flat::recursion::mark(&mut b.output);
    Ok(b.output)
}

fn entries(source: &FirstOrder) -> Vec<Entry> {
    let entries = source.program.entries.iter().enumerate();
    entries
        .map(|(k, entry)| Entry {
            name: entry.name.clone(),
            inputs: entry
                .inputs
                .iter()
                .map(|v| source.program.variable(*v))
                .map(|info| (info.name.clone(), info.ty.clone()))
                .collect(),
            result: source.program.expression(entry.body).ty.clone(),
            function: FunctionId(k as u32),
        })
        .collect()
}

fn lower_function(
    b: &mut Builder,
    lowerer: &mut Lowerer,
    name: Arc<str>,
    function: &Function,
) -> Result<nova_flat::ir::Function, LowerError> {
    b.place = function.place.clone();
    let mut parameters = Vec::new();
    for parameter in &function.parameters {
        let ty = lowerer.source.program.variable(*parameter).ty.clone();
        let components = b.fresh(&ty);
        lowerer.bind_core(b, *parameter, atoms(&components));
        parameters.extend(components);
    }
    let body = b.body(|b| lowerer.lower(b, function.body))?;
    let result = lowerer.type_of(function.body);
    Ok(nova_flat::ir::Function {
        name,
        parameters,
        results: b.fresh(&result),
        body,
        recursive: false,
        takes: false,
        place: function.place.clone(),
    })
}
