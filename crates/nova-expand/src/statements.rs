//! Translation of statements: the dispatch on the expressions of Mem.

use crate::address::element_term;
use crate::allocation::allocate_here;
use crate::arrays::array_statement;
use crate::calls::{call_statement, node_statement};
use crate::control::control_statement;
use crate::env::Env;
use crate::growing::allocate_row;
use crate::lifetimes::unique;
use crate::operation::array_operation;
use crate::radix_sort::sort_keys;
use crate::sort::sort_array;
use crate::source::info_of;
use crate::space::single;
use crate::terms::Term;
use crate::translator::{Flow, Translator};
use crate::writer::Result;
use nova_core::Scalar;
use nova_flat::ir as flat;
use nova_flat::{
    array_expressions, call_expressions, control_expressions, node_expressions, other_expressions,
    pure_expressions,
};
use nova_loop::error::internal;
use nova_loop::ir::{Command, Expression, Type};

impl<'a> Translator<'a> {
    /// Translates statements in order, up to one whose end is never reached.
    pub(crate) fn statements(&mut self, statements: &'a [flat::Statement]) -> Result<Flow> {
        for (index, statement) in statements.iter().enumerate() {
            self.lifetimes.begin_statement(index as u32);
            if translate_statement(self, statement)? == Flow::Diverges {
                return Ok(Flow::Diverges);
            }
            self.release_ending(index as u32)?;
        }
        Ok(Flow::Continues)
    }
}

fn translate_statement<'a>(
    cx: &mut Translator<'a>,
    statement: &'a flat::Statement,
) -> Result<Flow> {
    let (pattern, place) = (&statement.pattern, &statement.place);
    use flat::Expression as E;
    match &statement.expression {
        pure_expressions!() => {
            pure_statement(cx, &statement.expression, single(pattern)?)?;
        }
        E::View { .. } => {}
        E::Check {
            condition,
            error,
            arguments,
        } => {
            let condition = cx.scalar(*condition)?;
            let arguments = cx.scalars(arguments)?;
            cx.emit(Command::Check {
                condition,
                error: *error,
                arguments,
                place: place.clone(),
            });
        }
        E::Fail { error, arguments } => {
            let arguments = cx.scalars(arguments)?;
            cx.emit(Command::Fail {
                error: *error,
                arguments,
                place: place.clone(),
            });
            return Ok(Flow::Diverges);
        }
        E::Allocate {
            element,
            count,
            destination,
        } => {
            let block = single(pattern)?;
            allocate(cx, block, *element, *count, *destination, place)?;
        }
        E::Unique(array) => unique(cx, single(pattern)?, *array, place)?,
        array_expressions!() => array_statement(cx, statement, single(pattern)?)?,
        E::Sort { count, compare } => sort_array(cx, single(pattern)?, *count, compare, place)?,
        E::SortKeys {
            count,
            first,
            keys,
            low,
            gives,
        } => sort_keys(cx, statement, [*count, *first], (*keys, *low), gives)?,
        E::Operation(operation) => array_operation(cx, operation, pattern, place)?,
        control_expressions!() => return control_statement(cx, statement),
        call_expressions!() => return call_statement(cx, statement),
        node_expressions!() => node_statement(cx, statement)?,
    }
    Ok(Flow::Continues)
}

/// Translates a scalar that is computed without side effects.
fn pure_statement(
    env: &mut Env<'_>,
    expression: &flat::Expression,
    variable: flat::Variable,
) -> Result<()> {
    if matches!(info_of(env.source, variable)?.ty, flat::Type::Array(..)) {
        // The statement is another name of an array.
        return Ok(());
    }
    if env.facts.is_unused(variable) {
        return Ok(());
    }
    let term = match expression {
        flat::Expression::Scalar {
            operation,
            operand,
            arguments,
        } => env.operation_term(*operation, *operand, arguments)?,
        flat::Expression::Index { array, indices } => element_term(env, *array, indices)?,
        flat::Expression::MaySplit => {
            let splits = env.add_variable("splits", Type::Scalar(Scalar::Bool));
            env.declare_later(splits);
            env.emit(Command::MaySplit { splits });
            return env.bind_simple(variable, Expression::Variable(splits));
        }
        flat::Expression::NodeTag { sum, link } => {
            let sum = *sum;
            let link = env.term(*link)?;
            Term::over(vec![link], |mut operands| Expression::NodeTag {
                sum,
                link: Box::new(operands.pop().unwrap_or(Expression::index(0))),
            })
        }
        flat::Expression::Atom(atom) => env.term(*atom)?,
        array_expressions!()
        | control_expressions!()
        | call_expressions!()
        | node_expressions!()
        | other_expressions!() => {
            return Err(internal("an expression with effects"));
        }
    };
    env.bind_term(variable, term)
}

fn allocate(
    env: &mut Env<'_>,
    block: flat::Variable,
    element: nova_core::Scalar,
    count: flat::Atom,
    destination: Option<flat::Destination>,
    place: &nova_diag::Place,
) -> Result<()> {
    let count = env.scalar(count)?;
    if allocate_row(env, block, &count, place)? {
        return Ok(());
    }
    let (pointer, handle) = env.block_variables(block, element);
    allocate_here(env, pointer, handle, count, destination, place)?;
    env.bind_block(block, pointer, handle)?;
    env.own(block)
}
