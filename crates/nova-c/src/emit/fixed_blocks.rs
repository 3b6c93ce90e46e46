//! Emits commands of Loop on fixed-size blocks of elements, as calls of the runtime: padded copies,
//! tree reductions, prefix scans and gathers, and sorts of words.

use crate::context::function::Emitter;
use crate::dialect::Parallel;
use crate::emit::expression::expression;
use crate::emit::runtime_calls::runtime_call;
use crate::emit::variables::assign;
use crate::syntax::{context, literal};
use nova_c_ast::ast::Expression;
use nova_core::{Scalar, ScalarOperation};
use nova_loop::ir::{
    Command, Gather, block_commands, calls, errors, jumps, remarks, structures, variable_commands,
};

/// Emits a command on a fixed-size block.
pub(crate) fn fixed_block(code: &mut Emitter, command: &Command) {
    let (function, constants) = match command {
        Command::PaddedCopy { element, .. } => of_words("padded", "copy", element),
        Command::PlanRows { .. } => ("joins_rows".into(), vec![]),
        Command::LaneReduce {
            element, operation, ..
        } => of_words(&operation.short(), "lanes", element),
        Command::MultiplyPanels { element, .. } => of_words("multiply", "panels", element),
        Command::SortWords { element, .. } => {
            let shares = code.unit.options.dialect.parallel == Parallel::Regions;
            let verb = ["sort", "share_sort"][usize::from(shares)];
            (
                of_words(verb, "words", element).0,
                vec![context(); shares.into()],
            )
        }
        Command::TreeReduce {
            element,
            operation,
            into,
            ..
        } => of_words(&operation.short(), into.name(), element),
        Command::PrefixScan { .. } => return prefix_scan(code, command),
        Command::Gather(form) => gather(form),
        Command::Copy { .. }
        | Command::PlanNonTemporal { .. }
        | Command::NonTemporalStore { .. }
        | block_commands!()
        | variable_commands!()
        | structures!()
        | jumps!()
        | errors!()
        | calls!()
        | remarks!() => return,
    };
    runtime_call(code, &format!("nova_{function}"), constants, command);
}

/// Returns the function with two words and a type in its name, and no constants.
fn of_words(first: &str, second: &str, element: &Scalar) -> (String, Vec<Expression>) {
    (format!("{first}_{second}_{}", short(element)), vec![])
}

fn short(element: &Scalar) -> &'static str {
    element.info().short
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
        code.named(*last),
        Expression::literal(if *exclusive { "true" } else { "false" }),
    ];
    assign(code, *last, Expression::call(name, arguments));
}

/// Returns the function for a gather or its bounds precheck, and the distance of the elements that it
/// reads.
fn gather(gather: &Gather) -> (String, Vec<Expression>) {
    let (function, stride) = match gather {
        Gather::Rows { element, .. } => {
            return (format!("gather_rows_{}", element.bits() / 8), vec![]);
        }
        Gather::Strided {
            element, stride, ..
        } => (format!("strided_{}", element.bits() / 8), stride),
        Gather::Precheck { index, stride, .. } => (format!("precheck_{}", short(index)), stride),
        Gather::Indexed {
            element,
            index,
            stride,
            ..
        } => (
            format!("indexed_{}_{}", short(element), short(index)),
            stride,
        ),
    };
    (format!("gather_{function}"), vec![literal(stride)])
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
