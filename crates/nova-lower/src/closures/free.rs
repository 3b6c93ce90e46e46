//! Free variables of lambdas, those of the lambdas they use included.
//!
//! A variable bound elsewhere is free in a lambda when its own code names it, or when it is free in
//! a lambda that its own code uses; known functions are no variables. Each (lambda, variable) pair
//! is propagated once to each user of the lambda.

use super::flow::{Flow, LambdaId};
use nova_core::ir::Variable;
use std::collections::HashSet;

/// For each lambda its free variables, in ascending order.
pub(super) fn variables(flow: &Flow) -> Vec<Vec<Variable>> {
    let mut users: Vec<Vec<LambdaId>> = vec![Vec::new(); flow.lambdas.len()];
    let mut seen: HashSet<(LambdaId, Variable)> = HashSet::new();
    let mut work: Vec<(LambdaId, Variable)> = Vec::new();
    for (k, info) in flow.lambdas.iter().enumerate() {
        let lambda = LambdaId(k as u32);
        let mut used = info.lambdas.clone();
        used.sort();
        used.dedup();
        for other in used {
            users[other.0 as usize].push(lambda);
        }
        for variable in &info.variables {
            if is_free(flow, lambda, *variable) && seen.insert((lambda, *variable)) {
                work.push((lambda, *variable));
            }
        }
    }
    let mut free: Vec<Vec<Variable>> = vec![Vec::new(); flow.lambdas.len()];
    while let Some((lambda, variable)) = work.pop() {
        free[lambda.0 as usize].push(variable);
        for user in &users[lambda.0 as usize] {
            if is_free(flow, *user, variable) && seen.insert((*user, variable)) {
                work.push((*user, variable));
            }
        }
    }
    for variables in &mut free {
        variables.sort();
    }
    free
}

fn is_free(flow: &Flow, lambda: LambdaId, variable: Variable) -> bool {
    flow.owner[variable.0 as usize] != Some(lambda)
}
