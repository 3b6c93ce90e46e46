//! Lets a program with marks of a profile call the functions of the runtime that take times: those that
//! open a row for each call of an entry, and those that note the threads of a parallel region.

use crate::ast::{Block, Expression, Name, Program};
use nova_diag::deep;

/// The function of the runtime whose first argument is the number of a row.
const BEGIN: &str = "nova_begin_loop";

/// Functions of the runtime, with those that take times besides.
const REGIONS: [(&str, &str); 2] = [
    ("nova_parallel", "nova_profiled_parallel"),
    ("nova_parallel_ordered", "nova_profiled_parallel_ordered"),
];
const CALLS: [(&str, &str); 2] = [
    ("nova_call", "nova_profiled_call"),
    ("nova_call_deep", "nova_profiled_call_deep"),
];

/// Changes the calls of all functions of the host. The rows of entries follow those of marks. `name` is the
/// name of the program. The names of entries are shown without `prefix`, if they have it.
pub fn run(program: &mut Program, name: &str, prefix: &str) {
    let mut rows = 0;
    let functions = &mut program.host.list;
    for body in functions.iter_mut().filter_map(|f| f.body.as_mut()) {
        each_call(body, &mut |called, arguments| {
            if **called == *BEGIN
                && let Some(Expression::Literal(row)) = arguments.first()
            {
                rows = row.parse().map_or(rows, |row: u32| rows.max(row + 1));
            }
        });
    }
    for function in functions {
        let Some(body) = &mut function.body else {
            continue;
        };
        each_call(body, &mut |called, arguments| {
            let region = REGIONS.iter().find(|(plain, _)| **plain == **called);
            let call = CALLS.iter().find(|(plain, _)| **plain == **called);
            if let Some((_, profiled)) = region {
                *called = (*profiled).into();
            } else if let Some((_, profiled)) = call {
                *called = (*profiled).into();
                arguments.push(Expression::literal(rows.to_string()));
                let entry = &*function.name;
                arguments.push(Expression::text(
                    entry.strip_prefix(prefix).unwrap_or(entry),
                ));
                arguments.push(Expression::text(name));
                rows += 1;
            }
        });
    }
}

/// Calls `visit` on the name and the arguments of each call in a block.
fn each_call(block: &mut Block, visit: &mut dyn FnMut(&mut Name, &mut Vec<Expression>)) {
    for statement in &mut block.0 {
        for expression in statement.expressions_mut() {
            in_expression(expression, visit);
        }
        for inner in statement.blocks_mut() {
            deep(|| each_call(inner, visit));
        }
    }
}

fn in_expression(
    expression: &mut Expression,
    visit: &mut dyn FnMut(&mut Name, &mut Vec<Expression>),
) {
    if let Expression::Call(name, arguments) = expression {
        visit(name, arguments);
    }
    for operand in expression.operands_mut() {
        deep(|| in_expression(operand, visit));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ast::{Function, Item, Statement, Type};

    fn function(name: &str, body: Vec<Statement>) -> Function {
        Function {
            prefix: Vec::new(),
            result: Type::name("void"),
            name: name.into(),
            parameters: Vec::new(),
            body: Some(body.into()),
        }
    }

    #[test]
    fn entries_get_the_rows_after_those_of_marks() {
        let begin = Statement::call(BEGIN, vec![Expression::literal("4")]);
        let inside = Statement::when(Expression::name("c"), vec![begin]);
        let region = Statement::call("nova_parallel", vec![Expression::name("context")]);
        let call = |callee: &str| {
            let value = Expression::call(callee, vec![Expression::name("body")]);
            Statement::Return(Some(value))
        };
        let mut program = Program::default();
        program.host.list = vec![
            function("a_value", vec![inside, region]),
            function("a", vec![call("nova_call")]),
            function("own_b", vec![call("nova_call_deep")]),
        ];
        run(&mut program, "p", "own_");
        let items: Vec<Item> = program.host.list.into_iter().map(Item::Function).collect();
        let text = crate::print::print(&items);
        for line in [
            "nova_begin_loop(4);",
            "nova_profiled_parallel(context);",
            "return nova_profiled_call(body, 5, \"a\", \"p\");",
            "return nova_profiled_call_deep(body, 6, \"b\", \"p\");",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }
}
