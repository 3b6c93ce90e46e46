//! Which functions can reach themselves: the strongly connected components of the calls (Tarjan's
//! algorithm, with a stack of its own).

use crate::error::InternalError;
use crate::ir::{Command, Program};

/// Reports functions that can reach themselves and are not marked so.
pub(super) fn check(program: &Program, errors: &mut Vec<InternalError>) {
    let callees: Vec<Vec<usize>> = program
        .functions
        .iter()
        .map(|f| callees(&f.body, program.functions.len()))
        .collect();
    let cyclic = cyclic(&callees);
    for (function, cyclic) in program.functions.iter().zip(cyclic) {
        if cyclic && !function.recursive {
            errors.push(InternalError {
                message: "the function calls itself and is not marked recursive".to_string(),
                function: Some(function.name.clone()),
                place: Some(function.place.clone()),
            });
        }
    }
}

/// The functions that commands call, each once.
fn callees(body: &[Command], count: usize) -> Vec<usize> {
    let mut found = Vec::new();
    let mut left: Vec<&[Command]> = vec![body];
    while let Some(commands) = left.pop() {
        for command in commands {
            if let Command::Call { function, .. } = command {
                found.push(function.0 as usize);
            }
            left.extend(command.lists().into_iter().map(Vec::as_slice));
        }
    }
    found.retain(|f| *f < count);
    found.sort();
    found.dedup();
    found
}

/// For each node of a graph, whether it lies on a cycle.
fn cyclic(edges: &[Vec<usize>]) -> Vec<bool> {
    const NEW: usize = usize::MAX;
    let mut numbers = vec![NEW; edges.len()];
    let mut lowest = vec![0; edges.len()];
    let mut on_stack = vec![false; edges.len()];
    let mut cyclic = vec![false; edges.len()];
    let mut stack = Vec::new();
    let mut next = 0;
    for root in 0..edges.len() {
        if numbers[root] != NEW {
            continue;
        }
        let mut path = vec![(root, 0)];
        while let Some((node, edge)) = path.last_mut() {
            let node = *node;
            if *edge == 0 {
                numbers[node] = next;
                lowest[node] = next;
                next += 1;
                stack.push(node);
                on_stack[node] = true;
            }
            if let Some(to) = edges[node].get(*edge).copied() {
                *edge += 1;
                if to == node {
                    cyclic[node] = true;
                } else if numbers[to] == NEW {
                    path.push((to, 0));
                } else if on_stack[to] {
                    lowest[node] = lowest[node].min(numbers[to]);
                }
                continue;
            }
            path.pop();
            if let Some((parent, _)) = path.last() {
                lowest[*parent] = lowest[*parent].min(lowest[node]);
            }
            if lowest[node] == numbers[node] {
                let first = stack.iter().rposition(|n| *n == node).unwrap_or(0);
                let group = stack.split_off(first);
                for member in &group {
                    on_stack[*member] = false;
                    cyclic[*member] |= group.len() > 1;
                }
            }
        }
    }
    cyclic
}
