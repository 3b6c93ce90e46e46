//! Recursive data at the FFI boundary. The nodes of an argument are checked and appended to the tables.
//! Of a result, the nodes that its root reaches are copied out, the root first.

mod export;
mod import;

use crate::context::unit::Unit;
use crate::context::writer::Writer;
use crate::ffi::output::Purpose;
use crate::syntax::{context_parameter, int64, parameter};
use nova_c_ast::ast::{Binary, Expression, Function, Name, Type};
use nova_core::{SumId, Type as CoreType};

/// One table of recursive data in C.
struct Member {
    id: SumId,
    /// The number of its nodes, and the pointer to them.
    len: Expression,
    nodes: Expression,
}

fn text_type() -> Type {
    Type::name("char").constant().pointer()
}

fn plus(a: Expression, b: Expression) -> Expression {
    Expression::binary(Binary::Add, a, b)
}

impl Unit<'_> {
    /// Returns the function that appends recursive data of a caller to the tables and returns the link
    /// of its root.
    pub fn import_function(&mut self, id: SumId) -> Name {
        let name = format!("import_{}", self.types.instance(id));
        self.helper(format!("import {}", id.0), &name, |unit, name| {
            import::import(unit, id, name)
        })
    }

    /// Returns the function that copies recursive data out of the tables.
    pub fn export_function(&mut self, id: SumId, purpose: Purpose) -> Name {
        let (kind, purpose) = match purpose {
            Purpose::Give | Purpose::Copy => ("export", Purpose::Copy),
            Purpose::Lend => ("lend", Purpose::Lend),
        };
        let name = format!("{kind}_{}", self.types.instance(id));
        self.helper(format!("{kind} {}", id.0), &name, |unit, name| {
            export::export(unit, id, name, purpose)
        })
    }
}

/// Returns the C type of recursive data.
pub(crate) fn data_type(unit: &mut Unit, id: SumId) -> Type {
    let ty = unit.types.value(&CoreType::Sum(id), &[]);
    ty.unwrap_or_else(int64)
}

/// Returns the public functions that free recursive data.
pub(crate) fn free_functions(unit: &mut Unit) -> Vec<Function> {
    let data = unit.types.data.clone();
    data.into_iter().map(|id| export::free(unit, id)).collect()
}

fn members(code: &mut Writer, id: SumId, data: &Expression) -> Vec<Member> {
    let fields = code.unit.types.node_fields(id);
    fields
        .into_iter()
        .map(|(id, len, nodes)| {
            let pointer = *data == Expression::name("data");
            let (len, nodes) = match pointer {
                true => (data.clone().arrow(len), data.clone().arrow(nodes)),
                false => (data.clone().member(len), data.clone().member(nodes)),
            };
            Member { id, len, nodes }
        })
        .collect()
}
