//! The FFI boundary between C and the components of values (abi.md §2): the forms of the parameters and
//! results of entries and foreign functions, and the code that converts them.
//!
//! [`ctype`] gives every type its C structure. [`input`] (with [`lifted`] for arrays of structures)
//! turns C values into components, [`output`] turns components into C values; [`data`] does both for
//! recursive data. [`top`] spreads vectors over several parameters ([`nested`] for offsets).
//! [`structures`] reads and makes arrays of structures in place. [`release`] frees results. [`entry`],
//! [`callers`] (for arrays on a device) and [`foreign`] use all of these.

pub mod callers;
pub mod ctype;
pub mod data;
pub mod entry;
pub mod foreign;
pub mod input;
mod lifted;
mod nested;
pub mod output;
pub mod release;
pub mod structures;
pub mod symbols;
pub mod top;
mod walk;

use crate::ast::{Expression, Type};
use crate::function::FunctionEmitter;
use nova_core::{SumId, Type as CoreType};
use nova_diag::deep;
use nova_flat::representation::{Component, components};

/// One component of a value, as C expressions.
#[derive(Clone, Debug)]
pub enum Part {
    /// A scalar.
    Scalar(Expression),
    /// An array: pointer and block.
    Array {
        pointer: Expression,
        block: Expression,
    },
}

impl Part {
    /// Returns the expressions, in the order of the parameters of functions.
    pub fn expressions(self) -> Vec<Expression> {
        match self {
            Part::Scalar(value) => vec![value],
            Part::Array { pointer, block } => vec![pointer, block],
        }
    }
}

/// `int64_t`, the type of lengths in the runtime.
pub fn int64() -> Type {
    Type::name("int64_t")
}

/// `nova_block *`.
pub fn block_type() -> Type {
    Type::name("nova_block").pointer()
}

/// `NULL`.
pub fn null() -> Expression {
    Expression::name("NULL")
}

/// Returns the product of extents; 1 if there are none.
pub fn product(extents: impl IntoIterator<Item = Expression>) -> Expression {
    extents
        .into_iter()
        .reduce(|a, b| Expression::binary(crate::ast::Binary::Multiply, a, b))
        .unwrap_or_else(|| Expression::literal("1"))
}

impl FunctionEmitter<'_, '_> {
    /// Returns the components of a type. A link inside of nodes is one scalar, as outside.
    pub fn components(&self, ty: &CoreType) -> Vec<Component> {
        components(ty, &self.program().sums)
    }

    /// Returns a new variable with a value.
    pub fn variable(&mut self, ty: Type, name: &str, value: Expression) -> Expression {
        let name = self.fresh(name);
        let read = Expression::Name(name.clone());
        self.push(crate::ast::Statement::declare(ty, name, value));
        read
    }

    /// Returns a new variable without a value.
    pub fn unset(&mut self, ty: Type, name: &str) -> Expression {
        let name = self.fresh(name);
        self.push(crate::ast::Statement::Declare {
            ty,
            name: name.clone(),
            value: None,
        });
        Expression::Name(name)
    }
}

/// Collects the outermost recursive sums that a type of the FFI boundary contains.
pub fn recursive_sums(ty: &CoreType, sums: &[nova_core::SumType], into: &mut Vec<SumId>) {
    deep(|| match ty {
        CoreType::Scalar(_) | CoreType::Unit | CoreType::Function(..) => {}
        CoreType::Vector(element) | CoreType::Array(_, element) => {
            recursive_sums(element, sums, into)
        }
        CoreType::Tuple(elements) => elements.iter().for_each(|e| recursive_sums(e, sums, into)),
        CoreType::Sum(id) => {
            let sum = &sums[id.0 as usize];
            if !sum.is_recursive() {
                let payloads = sum.constructors.iter().map(|c| &c.payload);
                payloads.for_each(|p| recursive_sums(p, sums, into));
            } else if !into.contains(id) {
                into.push(*id);
            }
        }
    })
}
