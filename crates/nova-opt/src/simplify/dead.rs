//! The walk from the end. It removes statements that have no effect and no user.

use super::forward::retain;
use crate::effects::FunctionEffects;
use nova_diag::deep;
use nova_flat::ir::{ArrayOperation, Atom, Body, Expression, Output, Program, Statement, Variable};
use nova_flat::visit::{
    binders, bodies, bodies_mut, each_function, type_variables, used_variables,
};
use std::collections::HashSet;

/// Removes dead code from every function.
pub(super) fn run(program: &mut Program) {
    let effects = FunctionEffects::new(program);
    each_function(program, |program, body| {
        let mut pure = HashSet::new();
        find_pure(body, &effects, &mut pure);
        let mut dead = Dead {
            program,
            effects: &effects,
            pure,
            used: HashSet::new(),
        };
        dead.body(body);
    });
}

/// Collects the statements that have no effects, inner bodies included, by their first variable.
/// Returns true if the whole body has none.
fn find_pure(body: &Body, effects: &FunctionEffects, pure: &mut HashSet<Variable>) -> bool {
    let mut all = true;
    for statement in &body.statements {
        let mut own = effects.own(&statement.expression).is_pure();
        bodies(&statement.expression, &mut |inner| {
            own &= deep(|| find_pure(inner, effects, pure));
        });
        if own {
            pure.extend(statement.pattern.first());
        }
        all &= own;
    }
    all
}

struct Dead<'a> {
    program: &'a Program,
    effects: &'a FunctionEffects,
    pure: HashSet<Variable>,
    used: HashSet<Variable>,
}

impl Dead<'_> {
    /// Removes dead statements from a body whose results are all needed.
    fn body(&mut self, body: &mut Body) {
        for result in &body.results {
            self.mark(*result);
        }
        let mut kept = Vec::with_capacity(body.statements.len());
        while let Some(mut statement) = body.statements.pop() {
            if self.statement(&mut statement) {
                kept.push(statement);
            }
        }
        kept.reverse();
        body.statements = kept;
    }

    fn mark(&mut self, atom: Atom) {
        if let Atom::Variable(variable) = atom {
            self.used.insert(variable);
        }
    }

    /// Processes a statement after all statements that follow it. Returns true if it stays.
    fn statement(&mut self, statement: &mut Statement) -> bool {
        if !self.is_live(statement) {
            return false;
        }
        // Sizes stand before the arrays that have them.
        for variable in statement.pattern.iter().rev() {
            if self.used.contains(variable) {
                self.mark_sizes(*variable);
            }
        }
        self.drop_results(statement);
        let mut nonempty = false;
        let mut any = false;
        bodies_mut(&mut statement.expression, &mut |inner| {
            deep(|| self.body(inner));
            nonempty |= !inner.statements.is_empty();
            any = true;
        });
        if any && !nonempty && statement.pattern.is_empty() && !is_loop(&statement.expression) {
            return false;
        }
        for variable in &statement.pattern {
            self.mark_sizes(*variable);
        }
        let mut found = Vec::new();
        binders(&statement.expression, &mut |v| found.push(*v));
        for variable in found {
            self.mark_sizes(variable);
        }
        let used = &mut self.used;
        used_variables(&statement.expression, &mut |v| {
            used.insert(v);
        });
        true
    }

    fn is_live(&self, statement: &Statement) -> bool {
        match statement.pattern.as_slice() {
            [] => true,
            [first, ..] => {
                !self.pure.contains(first)
                    || statement.pattern.iter().any(|v| self.used.contains(v))
            }
        }
    }

    fn mark_sizes(&mut self, variable: Variable) {
        let info = self.program.variable(variable);
        let used = &mut self.used;
        type_variables(&info.ty, info.memory.as_ref(), &mut |v| {
            used.insert(v);
        });
    }

    /// Drops results that nothing uses.
    fn drop_results(&mut self, statement: &mut Statement) {
        let keep: Vec<bool> = statement
            .pattern
            .iter()
            .map(|v| self.used.contains(v))
            .collect();
        if keep.iter().all(|k| *k) {
            return;
        }
        match &mut statement.expression {
            Expression::If {
                then, otherwise, ..
            } => {
                retain(&mut then.results, &keep);
                retain(&mut otherwise.results, &keep);
            }
            Expression::Switch { cases, .. } => {
                for case in cases {
                    retain(&mut case.results, &keep);
                }
            }
            Expression::Operation(operation) => {
                return self.drop_outputs(operation, &mut statement.pattern, &keep);
            }
            _ => return,
        }
        retain(&mut statement.pattern, &keep);
    }

    /// Drops outputs, or single results of them, that nothing uses.
    fn drop_outputs(
        &self,
        operation: &mut ArrayOperation,
        pattern: &mut Vec<Variable>,
        keep: &[bool],
    ) {
        let carries = operation.carries.len();
        let mut results = vec![true; carries];
        let mut variables = vec![true; carries];
        let mut rest = keep.iter().skip(carries);
        operation.outputs.retain_mut(|output| {
            let wanted: Vec<bool> = rest.by_ref().take(output.gives()).copied().collect();
            self.drop_output(output, &wanted, &mut results, &mut variables)
        });
        retain(&mut operation.body.results, &results);
        retain(pattern, &variables);
    }

    /// Drops the unused results of an output. Appends to `results` and `variables` the flags of
    /// those results of the body and of the operation that stay. Returns true if the output stays.
    fn drop_output(
        &self,
        output: &mut Output,
        wanted: &[bool],
        results: &mut Vec<bool>,
        variables: &mut Vec<bool>,
    ) -> bool {
        let needed = wanted.contains(&true) || !self.is_pure(output);
        if !needed {
            results.extend(vec![false; output.consumes()]);
            variables.extend(vec![false; output.gives()]);
            return false;
        }
        // The number of consumed values, and of given variables, before those that can be dropped
        // one by one.
        let (consumed, given) = match output {
            Output::Filter { .. } => (1, 1),
            Output::Collect { .. } => (1, 3),
            Output::Scatter { positions, .. } => (usize::from(positions.are_given()), 0),
            Output::Map | Output::Reduce { .. } | Output::Join { .. } => {
                (output.consumes(), output.gives())
            }
            Output::Scan { .. } | Output::Histogram { .. } => (output.consumes(), output.gives()),
        };
        let parts = &wanted[given.min(wanted.len())..];
        results.extend(vec![true; consumed]);
        results.extend(parts);
        variables.extend(vec![true; given]);
        variables.extend(parts);
        let count = parts.iter().filter(|p| **p).count();
        match output {
            Output::Filter { values } | Output::Collect { values } => *values = count,
            Output::Scatter { destinations, .. } => retain(destinations, parts),
            Output::Map
            | Output::Reduce { .. }
            | Output::Scan { .. }
            | Output::Histogram { .. }
            | Output::Join { .. } => {}
        }
        true
    }

    fn is_pure(&self, output: &Output) -> bool {
        let lambda = output.lambda();
        lambda.is_none_or(|lambda| self.effects.of_body(&lambda.body).is_pure())
    }
}

/// True if a construct without statements in its bodies still does something: it may not end.
fn is_loop(expression: &Expression) -> bool {
    matches!(expression, Expression::While { .. })
}
