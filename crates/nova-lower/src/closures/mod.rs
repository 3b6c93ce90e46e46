//! Closure conversion: from higher-order Core to first-order Core.
//!
//! Functions that are only called become functions with their free variables as extra parameters
//! (lambda lifting). Functions that are used as values become data. Each class of functions that flow
//! together becomes a sum of closures, and applying such a value is a `case` over it. A class with one
//! member needs no tag and its calls are direct.
//!
//! [`flow`] finds by unification which functions flow together. [`classes`] closes the classes under
//! partial application. [`free`] finds free variables, [`types`] gives the types of closures, and
//! [`mod@convert`] rewrites the program.

mod apply;
mod classes;
mod convert;
mod flow;
mod free;
mod inline;
mod types;

use nova_core::ir::{ExpressionId, Program, Variable};
use nova_diag::Place;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::error::Result;

/// First-order Core: functions over the tables of a [`Program`].
///
/// Its expressions are those of Core with two restrictions. A `Lambda` is only an argument of a
/// built-in, and the function of an `Apply` is a variable of `function_of` with all its arguments. A
/// `case` without arms stands where no function can ever flow. Variables are unique within each
/// function. A captured variable is a parameter under its own name.
pub(crate) struct FirstOrder {
    /// Types, variables, expressions.
    pub program: Program,
    /// The functions. Those of the entries come first, in their order.
    pub functions: Vec<Function>,
    /// The function that a variable in the function position of an `Apply` names.
    pub function_of: BTreeMap<Variable, usize>,
}

/// A closed function.
pub(crate) struct Function {
    /// A name for people.
    pub name: Arc<str>,
    /// Captured variables, then its own parameters.
    pub parameters: Vec<Variable>,
    /// Its code.
    pub body: ExpressionId,
    /// The place of its definition.
    pub place: Place,
}

/// Converts a program.
pub(crate) fn convert(program: &Program) -> Result<FirstOrder> {
    let mut program = program.clone();
    inline::run(&mut program);
    let (mut flow, free) = analyse(&program);
    let classes = classes::close(&mut flow);
    let types = types::closure_types(&mut program, &mut flow, &classes, &free);
    convert::run(program, flow, classes, free, types)
}

/// Returns the flow of functions and the free variables of each. Functions bound by a `let` that would
/// get very many parameters remain values, which capture each other instead of all their variables.
fn analyse(program: &Program) -> (flow::Flow, Vec<Vec<Variable>>) {
    let mut values = BTreeSet::new();
    loop {
        let flow = flow::analyse(program, &values);
        let free = free::variables(&flow);
        let before = values.len();
        values.extend(free.too_many);
        if values.len() == before {
            return (flow, free.variables);
        }
    }
}
