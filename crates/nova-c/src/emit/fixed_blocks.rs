//! Emits commands of Loop on fixed-size blocks of elements, as calls of the runtime: padded copies,
//! tree reductions, prefix scans and gathers.

use crate::context::function::Emitter;
use crate::emit::expression::{assigned, expression};
use crate::emit::variables::assign;
use crate::syntax::literal;
use nova_c_ast::ast::{Expression, Statement};
use nova_core::{Scalar, ScalarOperation};
use nova_loop::ir::{
    Command, Gather, block_commands, calls, errors, jumps, remarks, structures, variable_commands,
};

/// Emits a command on a fixed-size block.
pub(crate) fn fixed_block(code: &mut Emitter, command: &Command) {
    match command {
        Command::PaddedCopy {
            to,
            from,
            element,
            count,
            pad,
        } => {
            let arguments = vec![
                expression(code, to),
                expression(code, from),
                assigned(code, count),
                assigned(code, pad),
            ];
            let name = format!("nova_padded_copy_{}", element.info().short);
            code.push(Statement::call(name, arguments));
        }
        Command::PlanRows { joins } => {
            assign(
                code,
                *joins,
                Expression::call("nova_joins_rows", Vec::new()),
            );
        }
        Command::LaneReduce {
            to,
            from,
            element,
            operation,
            count,
        } => {
            let arguments = vec![
                expression(code, to),
                expression(code, from),
                assigned(code, count),
            ];
            let name = format!("nova_{}_lanes_{}", operation.short(), element.info().short);
            code.push(Statement::call(name, arguments));
        }
        Command::TreeReduce {
            pointer,
            element,
            operation,
            into,
        } => {
            let array = Expression::Name(code.name(*pointer));
            let name = format!(
                "nova_{}_{}_{}",
                operation.short(),
                into.name(),
                element.info().short
            );
            code.push(Statement::call(name, vec![array]));
        }
        Command::PrefixScan { .. } => prefix_scan(code, command),
        Command::Gather(form) => gather(code, form),
        Command::Copy { .. }
        | Command::PlanNonTemporal { .. }
        | Command::NonTemporalStore { .. }
        | block_commands!()
        | variable_commands!()
        | structures!()
        | jumps!()
        | errors!()
        | calls!()
        | remarks!() => {}
    }
}

/// Emits a prefix scan of a fixed number of elements.
fn prefix_scan(code: &mut Emitter, command: &Command) {
    let Command::PrefixScan {
        to,
        from,
        element,
        operation,
        exclusive,
        last,
    } = command
    else {
        return;
    };
    let name = format!(
        "nova_{}_prefix_{}",
        operation.short(),
        running(*operation, *element)
    );
    let arguments = vec![
        expression(code, to),
        expression(code, from),
        Expression::Name(code.name(*last)),
        Expression::literal(if *exclusive { "true" } else { "false" }),
    ];
    assign(code, *last, Expression::call(name, arguments));
}

/// Emits a gather, or its bounds precheck.
fn gather(code: &mut Emitter, gather: &Gather) {
    match gather {
        Gather::Strided {
            to,
            from,
            element,
            stride,
        } => {
            let arguments = vec![
                expression(code, to),
                expression(code, from),
                literal(stride),
            ];
            let name = format!("nova_gather_strided_{}", element.bits() / 8);
            code.push(Statement::call(name, arguments));
        }
        Gather::Precheck {
            outside,
            indices,
            index,
            stride,
            limit,
        } => {
            let arguments = vec![
                expression(code, indices),
                literal(stride),
                assigned(code, limit),
            ];
            let name = format!("nova_gather_precheck_{}", index.info().short);
            assign(code, *outside, Expression::call(name, arguments));
        }
        Gather::Indexed {
            to,
            from,
            element,
            indices,
            index,
            stride,
        } => {
            let arguments = vec![
                expression(code, to),
                expression(code, from),
                expression(code, indices),
                literal(stride),
            ];
            let (element, index) = (element.info().short, index.info().short);
            let name = format!("nova_gather_indexed_{element}_{index}");
            code.push(Statement::call(name, arguments));
        }
    }
}

/// Returns the type in the name of a prefix scan of the runtime. Signs matter only where numbers are
/// compared.
fn running(operation: ScalarOperation, element: Scalar) -> String {
    match operation {
        ScalarOperation::Minimum | ScalarOperation::Maximum => element.info().short.to_string(),
        _same_bits if element.is_float() => element.info().short.to_string(),
        _same_bits => format!("u{}", element.bits().max(8)),
    }
}
