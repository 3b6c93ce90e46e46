//! The arrays from outside it that a kernel may write, by itself or through the functions that it
//! calls.

use crate::aliases::PointsTo;
use crate::captures::captured;
use crate::ir::{Command, FunctionId, Program, Variable};
use crate::uses::written as written_by;
use crate::walk::each_command;
use nova_diag::deep;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the pointers from outside the body of a loop through which the body, or a function that
/// it calls, may write.
pub fn written(program: &Program, index: Variable, body: &[Command]) -> BTreeSet<Variable> {
    let mut written = written_arrays(program, body, &mut BTreeMap::new());
    let outside: BTreeSet<Variable> = captured(index, body).into_iter().collect();
    written.retain(|pointer| outside.contains(pointer));
    written
}

/// Returns the arrays that commands may write. `known` are the functions seen so far, with a flag for each
/// parameter that says whether they write through it.
fn written_arrays(
    program: &Program,
    commands: &[Command],
    known: &mut BTreeMap<FunctionId, Vec<bool>>,
) -> BTreeSet<Variable> {
    let points_to = PointsTo::of(&|v| program.is_pointer(v), commands);
    let mut found = BTreeSet::new();
    each_command(commands, |command| {
        for address in written_by(command) {
            found.extend(points_to.bases(&address));
        }
        if let Command::Call {
            function,
            arguments,
            ..
        } = command
        {
            let writes = deep(|| writes_parameters(program, *function, known));
            for (argument, _) in arguments.iter().zip(writes).filter(|(_, writes)| *writes) {
                found.extend(points_to.bases(argument));
            }
        }
    });
    found
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
    let written = written_arrays(program, &function.body, known);
    let parameters = function.parameters.iter();
    let writes: Vec<bool> = parameters.map(|p| written.contains(p)).collect();
    known.insert(id, writes.clone());
    writes
}
