//! The arrays that the statements of a body make whole, each element on its own. Such arrays can be
//! built anywhere. A conditional makes an array if all of its cases make it and its size is known
//! before.

use super::refusals::Refusals;
use nova_diag::deep;
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, FunctionId, Output, Program, Statement, Variable, View,
};
use nova_flat::visit::bodies;
use nova_flat::{call_expressions, node_expressions, pure_expressions};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The arrays that the statements of a program make.
pub(super) struct Made {
    /// By function, the arrays that the statements of its body make, outside of nested bodies.
    functions: Vec<BTreeSet<Variable>>,
    /// The results of conditionals that all cases make.
    placed: HashSet<Variable>,
    /// The results of filters outside of all loops, for which there is room for all elements.
    survivors: HashSet<Variable>,
    /// Maps a reshaped array to the array that has the same elements in the same order.
    reshaped: HashMap<Variable, Variable>,
}

impl Made {
    /// Collects the arrays of a program.
    pub(super) fn of(program: &Program) -> Made {
        let mut placed = HashSet::new();
        let functions = program.functions.iter();
        let functions = functions
            .map(|function| {
                let refusals = Refusals::of(program, function);
                in_body((program, &refusals), &function.body, &mut placed)
            })
            .collect();
        let (mut survivors, mut reshaped) = (HashSet::new(), HashMap::new());
        let statements = program.functions.iter().flat_map(|f| &f.body.statements);
        for Statement {
            pattern,
            expression,
            ..
        } in statements
        {
            match expression {
                Expression::View {
                    array,
                    view: View::Reshape(_),
                } => {
                    let source = reshaped.get(array).copied().unwrap_or(*array);
                    reshaped.extend(pattern.iter().map(|v| (*v, source)));
                }
                Expression::Operation(operation) => {
                    if let ([Output::Filter { .. }], []) =
                        (&operation.outputs[..], &operation.carries[..])
                    {
                        survivors.extend(pattern.iter().skip(1));
                    }
                }
                _others => {}
            }
        }
        Made {
            functions,
            placed,
            survivors,
            reshaped,
        }
    }

    /// True if an array is the result of a filter outside of all loops.
    pub(super) fn is_filter_result(&self, array: Variable) -> bool {
        self.survivors.contains(&array)
    }

    /// Returns the array of which `array`, outside of all loops, is a reshape.
    pub(super) fn source(&self, array: Variable) -> Variable {
        self.reshaped.get(&array).copied().unwrap_or(array)
    }

    /// Returns the arrays that the statements of a function's body make.
    pub(super) fn in_function(&self, function: FunctionId) -> Option<&BTreeSet<Variable>> {
        self.functions.get(function.index())
    }

    /// True if a result of a conditional is made by all of its cases.
    pub(super) fn is_placed(&self, result: Variable) -> bool {
        self.placed.contains(&result)
    }
}

/// Returns the arrays that the statements of a body make, outside of nested bodies.
fn in_body(
    (program, refusals): (&Program, &Refusals<'_>),
    body: &Body,
    placed: &mut HashSet<Variable>,
) -> BTreeSet<Variable> {
    let mut made = BTreeSet::new();
    for statement in &body.statements {
        let mut inner = Vec::new();
        bodies(&statement.expression, &mut |body| {
            let made = deep(|| in_body((program, refusals), body, placed));
            inner.push((body, made));
        });
        match &statement.expression {
            Expression::Literal { .. }
            | Expression::Iota { .. }
            | Expression::Replicate { .. }
            | Expression::Copy(_)
            | Expression::Concat { .. }
            | Expression::Update { .. }
            | Expression::Sort { .. }
            | Expression::SortKeys { .. } => made.extend(&statement.pattern),
            Expression::Operation(operation) => {
                made.extend(by_operation(operation, &statement.pattern));
            }
            Expression::If { .. } | Expression::Switch { .. } => {
                let all = by_all_cases((program, refusals), statement, &inner);
                placed.extend(&all);
                made.extend(all);
            }
            pure_expressions!()
            | call_expressions!()
            | node_expressions!()
            | Expression::While { .. }
            | Expression::Bytes(_)
            | Expression::View { .. }
            | Expression::Check { .. }
            | Expression::Fail { .. }
            | Expression::Allocate { .. }
            | Expression::Unique(_) => {}
        }
    }
    made
}

/// True if an array that a statement of a body makes may be built elsewhere. The statement must not
/// change a few elements of another array, since that is better done in place. No check before the
/// statement may refuse the size of the array.
fn is_movable(body: &Body, array: Variable, refusals: &Refusals<'_>) -> bool {
    for statement in &body.statements {
        if statement.pattern.contains(&array) {
            return match &statement.expression {
                Expression::Update { .. } => false,
                Expression::Operation(operation) => {
                    let mut outputs = operation.outputs.iter();
                    !outputs.any(|output| matches!(output, Output::Scatter { .. }))
                }
                _elements_are_new => true,
            };
        }
        if refusals.refuses(statement, array) {
            return false;
        }
    }
    false
}

/// Returns the array of which `array` is a reshape at the end of a body, or `array` itself.
fn reshaped_from(body: &Body, array: Variable) -> Variable {
    let mut source = array;
    for statement in body.statements.iter().rev() {
        if let Expression::View {
            array: from,
            view: View::Reshape(_),
        } = &statement.expression
            && statement.pattern == [source]
        {
            source = *from;
        }
    }
    source
}

fn by_operation(operation: &ArrayOperation, pattern: &[Variable]) -> Vec<Variable> {
    let mut made = Vec::new();
    let mut given = pattern.iter().skip(operation.carries.len());
    for output in &operation.outputs {
        let own = given.by_ref().take(output.gives());
        match output {
            Output::Map
            | Output::Scan { .. }
            | Output::Scatter { .. }
            | Output::Histogram { .. }
            | Output::Join { .. } => made.extend(own),
            // Scalars, and arrays whose size is known only afterwards.
            Output::Reduce { .. } | Output::Filter { .. } | Output::Collect { .. } => {
                own.for_each(drop)
            }
        }
    }
    made
}

/// Returns the results of a conditional that each case makes for no other purpose, and whose extents
/// are known before it.
fn by_all_cases(
    (program, refusals): (&Program, &Refusals<'_>),
    statement: &Statement,
    cases: &[(&Body, BTreeSet<Variable>)],
) -> Vec<Variable> {
    let pattern = &statement.pattern;
    let is_known = |extent: &Atom| match extent {
        Atom::Variable(v) => !pattern.contains(v),
        Atom::Constant(_) => true,
    };
    let is_made = |k: usize| {
        cases.iter().all(|(body, made)| {
            let source = |atom: &Atom| atom.as_variable().map(|v| reshaped_from(body, v));
            let result = body.results.get(k).and_then(source);
            let times = (body.results.iter().filter_map(source)).filter(|r| Some(*r) == result);
            let is_new = |v| made.contains(&v) && is_movable(body, v, refusals);
            result.is_some_and(is_new) && times.count() == 1
        })
    };
    let results = pattern.iter().enumerate();
    let results = results.filter(|(k, variable)| {
        let ty = program.ty(**variable);
        ty.is_array() && ty.shape().iter().all(is_known) && is_made(*k)
    });
    results.map(|(_, variable)| *variable).collect()
}
