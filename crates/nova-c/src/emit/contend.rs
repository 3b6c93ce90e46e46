//! Emits stores of elements that several iterations of a parallel loop write. Where threads share the
//! loop, each store is atomic.

use crate::context::function::Emitter;
use crate::dialect::Parallel;
use crate::emit::accesses::{read_variable, traced_contention};
use crate::emit::expression::{assigned, plain};
use crate::scalar::memory_type;
use nova_c_ast::ast::{Binary, Expression, Statement};
use nova_c_ast::print::type_text;
use nova_core::Scalar;
use nova_loop::ir::{self, Stays, Variable};

/// Emits a store to an element that other iterations may write.
pub(crate) fn contend(
    code: &mut Emitter,
    pointer: Variable,
    index: &ir::Expression,
    value: &ir::Expression,
    stays: Stays,
) {
    let array = read_variable(code, pointer);
    let index = plain(code, index);
    let value = assigned(code, value);
    let target = array.index(index);
    let element = code.element_of(pointer);
    if is_shared(code) {
        code.push(in_one_step(target, value, element, stays));
        return;
    }
    let target = traced_contention(code, pointer, target, stays);
    match stays {
        Stays::Any => code.push(Statement::assign(target, value)),
        Stays::Greatest => {
            // Iterations run in order.
            let ty = memory_type(element);
            let [place, raised] = ["element", "raised"].map(|name| code.fresh(name));
            code.push(Statement::declare(
                ty.clone().pointer(),
                place.clone(),
                target.address(),
            ));
            code.push(Statement::declare(ty, raised.clone(), value));
            let place = Expression::Name(place).dereference();
            let raised = Expression::Name(raised);
            let condition = Expression::binary(Binary::Less, place.clone(), raised.clone());
            code.push(Statement::when(
                condition,
                vec![Statement::assign(place, raised)],
            ));
        }
    }
}

/// True if several threads run the emitted code.
fn is_shared(code: &Emitter) -> bool {
    code.is_on_device() || code.unit.options.dialect.parallel == Parallel::Regions
}

/// Returns an atomic store, as a macro of the runtime.
fn in_one_step(target: Expression, value: Expression, element: Scalar, stays: Stays) -> Statement {
    let at = target.address();
    match stays {
        Stays::Any => {
            let ty = Expression::name(type_text(&memory_type(element)));
            Statement::call("NOVA_PUT", vec![ty, at, value])
        }
        Stays::Greatest => Statement::call("NOVA_RAISE", vec![at, value]),
    }
}
