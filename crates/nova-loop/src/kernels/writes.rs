//! The arrays from outside it that a kernel may write, by itself or through the functions that it
//! calls.

use crate::ir::{Command, Expression, FunctionId, Program, Type, Variable};
use crate::walk::each_command;
use nova_diag::deep;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the pointers from outside the body of a loop through which the body, or a function that
/// it calls, may write.
pub fn written(program: &Program, index: Variable, body: &[Command]) -> BTreeSet<Variable> {
    let outside = crate::captures::captured(index, body);
    let mut known = BTreeMap::new();
    written_through(program, &outside, body, &mut known)
}

/// Returns those of the given pointers that commands may write through. `known` are the functions
/// seen so far, with a flag for each parameter that says whether they write through it.
fn written_through(
    program: &Program,
    pointers: &[Variable],
    commands: &[Command],
    known: &mut BTreeMap<FunctionId, Vec<bool>>,
) -> BTreeSet<Variable> {
    let mut leads_to: BTreeMap<Variable, BTreeSet<Variable>> = pointers
        .iter()
        .map(|pointer| (*pointer, BTreeSet::from([*pointer])))
        .collect();
    let of = |address: &Expression, leads_to: &BTreeMap<_, BTreeSet<Variable>>| {
        let mut found = BTreeSet::new();
        address.each_variable(&mut |v| {
            found.extend(leads_to.get(&v).into_iter().flatten().copied());
        });
        found
    };
    // Until a fixed point is reached, since pointers may be assigned in loops.
    loop {
        let mut grown = false;
        each_command(commands, |command| {
            if let Command::Declare {
                variable,
                value: Some(value),
            }
            | Command::Assign { variable, value }
            | Command::Spare {
                pointer: variable,
                places: value,
                ..
            } = command
                && matches!(program.variable(*variable).ty, Type::Pointer(_))
            {
                let found = of(value, &leads_to);
                let own = leads_to.entry(*variable).or_default();
                let before = own.len();
                own.extend(found);
                grown |= own.len() > before;
            }
        });
        if !grown {
            break;
        }
    }
    let mut written = BTreeSet::new();
    each_command(commands, |command| match command {
        Command::Store { pointer, .. } | Command::Contend { pointer, .. } => {
            written.extend(leads_to.get(pointer).into_iter().flatten().copied());
        }
        Command::Copy { to, .. } => written.extend(of(to, &leads_to)),
        Command::Call {
            function,
            arguments,
            ..
        } => {
            let writes = deep(|| writes_parameters(program, *function, known));
            for (argument, _) in arguments.iter().zip(writes).filter(|(_, writes)| *writes) {
                written.extend(of(argument, &leads_to));
            }
        }
        _others => {}
    });
    written
}

/// Returns the functions that may write through a pointer that they are given.
pub fn writing_functions(program: &Program) -> BTreeSet<FunctionId> {
    let mut known = BTreeMap::new();
    let all = (0..program.functions.len()).map(|k| FunctionId(k as u32));
    all.filter(|id| writes_parameters(program, *id, &mut known).contains(&true))
        .collect()
}

/// Returns for each parameter of a function that kernels can call whether the function may write
/// through it.
fn writes_parameters(
    program: &Program,
    id: FunctionId,
    known: &mut BTreeMap<FunctionId, Vec<bool>>,
) -> Vec<bool> {
    if let Some(writes) = known.get(&id) {
        return writes.clone();
    }
    let Some(function) = program.functions.get(id.index()) else {
        return Vec::new();
    };
    // A function that calls itself is assumed to write through all its parameters.
    known.insert(id, vec![true; function.parameters.len()]);
    let written = written_through(program, &function.parameters, &function.body, known);
    let parameters = function.parameters.iter();
    let writes: Vec<bool> = parameters.map(|p| written.contains(p)).collect();
    known.insert(id, writes.clone());
    writes
}
