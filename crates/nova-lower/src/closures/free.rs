//! Free variables of lambdas, including those of the lambdas that they use.
//!
//! A variable bound elsewhere is free in a lambda if its own code names it, or if it is free in a
//! lambda that its own code uses. Known functions are no variables. Each (lambda, variable) pair is
//! propagated once to each user of the lambda.

use super::flow::{Flow, LambdaId};
use nova_core::ir::{ExpressionId, Variable};
use std::collections::HashSet;

/// The largest number of free variables that become parameters of a function.
const MOST: usize = 100;

/// The free variables of the lambdas of a program.
pub(super) struct Free {
    /// The free variables of each lambda, in ascending order.
    pub variables: Vec<Vec<Variable>>,
    /// The lambdas bound by a `let` that have too many. The lists of these and of their users are not
    /// complete.
    pub too_many: Vec<ExpressionId>,
}

/// Returns the free variables of each lambda.
pub(super) fn variables(flow: &Flow) -> Free {
    let mut users: Vec<Vec<LambdaId>> = vec![Vec::new(); flow.lambdas.len()];
    let mut seen: HashSet<(LambdaId, Variable)> = HashSet::new();
    let mut work: Vec<(LambdaId, Variable)> = Vec::new();
    for (k, info) in flow.lambdas.iter().enumerate() {
        let lambda = LambdaId(k as u32);
        let mut used = info.lambdas.clone();
        used.sort();
        used.dedup();
        for other in used {
            users[other.index()].push(lambda);
        }
        for variable in &info.variables {
            if is_free(flow, lambda, *variable) && seen.insert((lambda, *variable)) {
                work.push((lambda, *variable));
            }
        }
    }
    let mut free: Vec<Vec<Variable>> = vec![Vec::new(); flow.lambdas.len()];
    while let Some((lambda, variable)) = work.pop() {
        let own = &mut free[lambda.index()];
        own.push(variable);
        if own.len() > MOST && flow.lambdas[lambda.index()].bound_by_let {
            continue;
        }
        for user in &users[lambda.index()] {
            if is_free(flow, *user, variable) && seen.insert((*user, variable)) {
                work.push((*user, variable));
            }
        }
    }
    let mut too_many = Vec::new();
    for (variables, info) in free.iter_mut().zip(&flow.lambdas) {
        variables.sort();
        if variables.len() > MOST && info.bound_by_let {
            too_many.push(info.expression);
        }
    }
    Free {
        variables: free,
        too_many,
    }
}

fn is_free(flow: &Flow, lambda: LambdaId, variable: Variable) -> bool {
    flow.owner[variable.index()] != Some(lambda)
}
