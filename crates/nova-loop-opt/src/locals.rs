//! A pass on Loop that allocates small arrays on the stack. A block becomes a local array if it is known
//! never to have more than a few hundred elements, and if no reference to it leaves the function. A local
//! array costs nothing, and its allocation cannot fail. A function that makes no other block after its
//! result may write the result directly into the caller's memory.

use crate::limits::{
    BYTES_OF_A_TEMPORARY, BYTES_OF_TEMPORARIES, ELEMENTS_OF_A_TEMPORARY, NESTED_DEFINITIONS,
};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::deep;
use nova_loop::aliases::Holders;
use nova_loop::captures::captured;
use nova_loop::ir::{Command, Expression, Function, Program, Variable};
use nova_loop::walk;
use std::collections::{BTreeMap, BTreeSet};

/// Rewrites all functions of a program that do not recurse. A recursive function may have many frames.
pub fn run(program: &mut Program) {
    rewrite_all(program, &|_| BTreeSet::new());
}

/// Rewrites functions as [`run`] does, except for arrays that loops at the level of a grid or a block
/// capture: the threads of a device do not see the host's stack.
pub fn run_for_device(program: &mut Program) {
    rewrite_all(program, &|function| {
        let mut escaping = BTreeSet::new();
        walk::each_command(&function.body, |command| {
            if let Command::For {
                variable,
                level,
                body,
                ..
            } = command
                && level.starts_kernel()
            {
                escaping.extend(captured(*variable, body));
            }
        });
        escaping
    });
}

/// Rewrites functions, except for the arrays of the pointers that `excluded` returns.
fn rewrite_all(program: &mut Program, excluded: &dyn Fn(&Function) -> BTreeSet<Variable>) {
    for function in program.functions.iter_mut().filter(|f| !f.recursive) {
        let mut chosen = choose(function);
        let excluded = excluded(function);
        chosen.retain(|_, array| !excluded.contains(&array.pointer));
        if !chosen.is_empty() {
            rewrite(&mut function.body, &chosen);
        }
    }
}

/// An array that is moved to the stack.
struct Chosen {
    pointer: Variable,
    count: u32,
}

/// The uses of a function's variables.
struct Uses<'p> {
    holders: Holders,
    /// The values of the variables that are declared with one.
    values: BTreeMap<Variable, &'p Expression>,
    /// The parameters and results.
    known: BTreeSet<Variable>,
}

impl<'p> Uses<'p> {
    fn of(function: &'p Function) -> Self {
        let mut values = BTreeMap::new();
        walk::each_command(&function.body, |command| {
            if let Command::Declare {
                variable,
                value: Some(value),
            } = command
            {
                values.insert(*variable, value);
            }
        });
        let known = function.parameters.iter().chain(&function.results);
        Uses {
            holders: Holders::of(function),
            values,
            known: known.copied().collect(),
        }
    }

    /// True if the variable only ever refers to one block, and all uses of it name the variable.
    fn is_own(&self, variable: Variable) -> bool {
        self.holders.made_once(variable).is_some()
            && !self.holders.is_taken(variable)
            && !self.holders.is_returned(variable)
            && !self.known.contains(&variable)
    }

    /// Returns the least and the greatest possible value of an `i64`.
    fn range(&self, expression: &Expression, depth: u32) -> (i64, i64) {
        let unknown = (i64::MIN, i64::MAX);
        let Some(depth) = depth.checked_sub(1) else {
            return unknown;
        };
        if let Some(number) = expression.as_index() {
            return (number, number);
        }
        match expression {
            Expression::Variable(variable) if self.holders.times_assigned(*variable) == 1 => {
                let value = self.values.get(variable);
                value.map_or(unknown, |value| self.range(value, depth))
            }
            Expression::Scalar {
                operation: operation @ (ScalarOperation::Minimum | ScalarOperation::Maximum),
                operand: Scalar::I64,
                arguments,
            } => match &arguments[..] {
                [a, b] => {
                    let (a, b) = (self.range(a, depth), self.range(b, depth));
                    match operation {
                        ScalarOperation::Minimum => (a.0.min(b.0), a.1.min(b.1)),
                        _ => (a.0.max(b.0), a.1.max(b.1)),
                    }
                }
                _ => unknown,
            },
            _ => unknown,
        }
    }
}

/// Returns the arrays of a function that are moved to the stack, by handle.
fn choose(function: &Function) -> BTreeMap<Variable, Chosen> {
    let uses = Uses::of(function);
    let mut chosen = BTreeMap::new();
    let mut left = BYTES_OF_TEMPORARIES;
    let mut lists = vec![&function.body];
    while let Some(list) = lists.pop() {
        let declared = declared_here(list);
        for command in list {
            lists.extend(command.lists());
            let Command::Allocate {
                block,
                pointer,
                element,
                count,
                destination: None,
                ..
            } = command
            else {
                continue;
            };
            let is_here = declared.contains(block) && declared.contains(pointer);
            let (least, most) = uses.range(count, NESTED_DEFINITIONS);
            let bytes = i64::from(element.info().bytes).saturating_mul(most);
            let fits = least >= 0
                && most <= ELEMENTS_OF_A_TEMPORARY
                && bytes <= BYTES_OF_A_TEMPORARY.min(left);
            if is_here && fits && uses.is_own(*block) && uses.is_own(*pointer) {
                left -= bytes;
                let count = u32::try_from(most.max(1)).unwrap_or(1);
                let pointer = *pointer;
                chosen.insert(*block, Chosen { pointer, count });
            }
        }
    }
    chosen
}

/// Returns the variables that a list declares without a value.
fn declared_here(list: &[Command]) -> BTreeSet<Variable> {
    let declared = list.iter().filter_map(|command| match command {
        Command::Declare {
            variable,
            value: None,
        } => Some(*variable),
        _ => None,
    });
    declared.collect()
}

fn rewrite(list: &mut Vec<Command>, chosen: &BTreeMap<Variable, Chosen>) {
    let pointers: BTreeSet<Variable> = chosen.values().map(|c| c.pointer).collect();
    rewrite_list(list, chosen, &pointers);
}

fn rewrite_list(
    list: &mut Vec<Command>,
    chosen: &BTreeMap<Variable, Chosen>,
    pointers: &BTreeSet<Variable>,
) {
    list.retain(|command| match command {
        Command::Declare { variable, .. } => {
            !chosen.contains_key(variable) && !pointers.contains(variable)
        }
        Command::Release(handle) => !chosen.contains_key(handle),
        _ => true,
    });
    for command in list {
        if let Command::Allocate { block, .. } = command
            && let Some(Chosen { pointer, count }) = chosen.get(block)
        {
            let (pointer, count) = (*pointer, *count);
            *command = Command::Local { pointer, count };
        }
        for inner in command.lists_mut() {
            deep(|| rewrite_list(inner, chosen, pointers));
        }
    }
}
