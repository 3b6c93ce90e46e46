//! A group of functions that call each other as one function without recursion: a loop around a
//! switch over their basic blocks, and arrays with a frame for each call that waits for another
//! one.

use super::basic_blocks::{BasicBlock, BasicBlockBuilder, RETURN};
use super::copy::{self, Renamed};
use super::group::{Group, Member};
use super::live::{Set, needed};
use super::pointers::{self};
use super::write::Writer;
use crate::limits::SPLIT_ATTEMPTS;
use nova_core::Scalar;
use nova_loop::ir::{Command, Expression, Function, FunctionId, Program, Type, Variable};
use nova_loop::walk::{each_assigned, each_command};
use nova_loop_opt::parallel_regions::forget;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Returns a function that does what `entry` does, without recursion, or `None` if that is not
/// possible.
pub(super) fn build(
    program: &mut Program,
    group: &BTreeSet<FunctionId>,
    entry: FunctionId,
    name: Arc<str>,
) -> Option<Function> {
    let mut members = BTreeMap::new();
    for id in group {
        members.insert(*id, member(program, *id)?);
    }
    let fixed = share_arrays(program, &mut members, entry)?;
    let state = program.add_variable("next", Type::Scalar(Scalar::I32));
    let mut stacked = Set::new();
    for _ in 0..SPLIT_ATTEMPTS {
        let found = split(program, &mut members, state, &stacked);
        let (basic_blocks, owners) = found;
        let mut crossing = crossing(program, &basic_blocks, &members);
        // The loop around all basic blocks declares it.
        crossing.remove(&state);
        let pointers = pointers::find(program, &basic_blocks, &crossing, &fixed)?;
        if !pointers.made.is_subset(&stacked) {
            stacked.extend(&pointers.made);
            continue;
        }
        let needed = needed(&basic_blocks, state);
        let is_lost = |v: &Variable| pointers.roots.contains_key(v);
        let begins = members.values().map(|member| member.first);
        if begins
            .into_iter()
            .any(|first| needed[first].iter().any(is_lost))
        {
            return None;
        }
        let mut shared = crossing;
        shared.retain(|v| !fixed.contains(v) && !pointers.handles.contains(v));
        let group = Group {
            members,
            basic_blocks,
            owners,
            state,
            needed,
            shared,
            pointers,
        };
        return Writer::write(program, group, entry, name);
    }
    None
}

/// Copies a function. References of parameters and of arrays of nodes are not counted in the copy.
/// Returns `None` if its results are not numbers.
fn member(program: &mut Program, id: FunctionId) -> Option<Member> {
    let mut function = copy::copy(program, id)?;
    let is_number = |v: &Variable| matches!(program.variable(*v).ty, Type::Scalar(_));
    if !function.results.iter().all(is_number) {
        return None;
    }
    let is_block = |v: &&Variable| program.variable(**v).ty == Type::Block;
    let mut borrowed: Set = function
        .parameters
        .iter()
        .filter(is_block)
        .copied()
        .collect();
    each_command(&function.body, |command| {
        if let Command::NodePayload { results, .. } = command {
            borrowed.extend(results.iter().filter(is_block));
        }
    });
    forget(&borrowed, &mut function.body);
    let results = function.results.clone();
    let returned = results.iter().map(|v| {
        let info = program.variable(*v).clone();
        program.add_variable(info.name, info.ty)
    });
    let returned = returned.collect();
    Some(Member {
        function,
        returned,
        first: RETURN,
        split_loops: Vec::new(),
    })
}

/// Gives each array that all calls of the group pass on unchanged one name. Returns these names,
/// which are parameters of the entry's function, or `None` if other arrays are passed.
fn share_arrays(
    program: &Program,
    members: &mut BTreeMap<FunctionId, Member>,
    entry: FunctionId,
) -> Option<Set> {
    let is_pointer = |v: &Variable| matches!(program.variable(*v).ty, Type::Pointer(_));
    let own = members.get(&entry)?.function.parameters.iter();
    let own: Set = own.copied().filter(is_pointer).collect();
    let mut names: Renamed = own.iter().map(|v| (*v, *v)).collect();
    loop {
        let before = names.len();
        for member in members.values() {
            for (callee, arguments) in calls(&member.function.body, members) {
                let parameters = &members.get(&callee)?.function.parameters;
                for (parameter, argument) in parameters.iter().zip(arguments) {
                    if !is_pointer(parameter) {
                        continue;
                    }
                    let Expression::Variable(array) = argument else {
                        return None;
                    };
                    if let Some(array) = names.get(array).copied()
                        && *names.entry(*parameter).or_insert(array) != array
                    {
                        return None;
                    }
                }
            }
        }
        if names.len() == before {
            break;
        }
    }
    for member in members.values_mut() {
        let all = member.function.parameters.iter();
        let known = all.filter(|v| is_pointer(v)).all(|v| names.contains_key(v));
        if !known || !assigns_none(&member.function.body, &names) {
            return None;
        }
        copy::rename(&mut member.function.body, &names);
    }
    // Now each call must pass these arrays on under the same name.
    for member in members.values() {
        for (callee, arguments) in calls(&member.function.body, members) {
            let parameters = &members.get(&callee)?.function.parameters;
            for (parameter, argument) in parameters.iter().zip(arguments) {
                let same = |v: &Variable| names.get(parameter) == Some(v);
                if is_pointer(parameter) && !matches!(argument, Expression::Variable(v) if same(v))
                {
                    return None;
                }
            }
        }
    }
    Some(own)
}

/// True if commands assign none of these pointers.
fn assigns_none(commands: &[Command], pointers: &Renamed) -> bool {
    let mut fits = true;
    each_command(commands, |command| {
        each_assigned(command, &mut |v| fits &= !pointers.contains_key(&v));
    });
    fits
}

/// Returns the calls of functions of the group in commands.
fn calls<'c>(
    commands: &'c [Command],
    members: &BTreeMap<FunctionId, Member>,
) -> Vec<(FunctionId, &'c [Expression])> {
    let mut found = Vec::new();
    each_command(commands, |command| {
        if let Command::Call {
            function,
            arguments,
            ..
        } = command
            && members.contains_key(function)
        {
            found.push((*function, arguments.as_slice()));
        }
    });
    found
}

/// Splits all functions of the group. Returns the basic blocks with their owners.
fn split(
    program: &mut Program,
    members: &mut BTreeMap<FunctionId, Member>,
    state: Variable,
    stacked: &Set,
) -> (Vec<BasicBlock>, Vec<Option<FunctionId>>) {
    let group: BTreeSet<FunctionId> = members.keys().copied().collect();
    let mut basic_blocks = vec![BasicBlock {
        results: None,
        commands: Vec::new(),
        end: super::basic_blocks::End::Return,
    }];
    let mut owners = vec![None];
    for (id, member) in members {
        let results = member.returned.iter().zip(&member.function.results);
        let leave: Vec<Command> = results
            .map(|(to, from)| Command::Assign {
                variable: *to,
                value: Expression::Variable(*from),
            })
            .collect();
        let mut builder = BasicBlockBuilder {
            program,
            group: &group,
            state,
            leave: leave.clone(),
            stacked,
            split_loops: Vec::new(),
            basic_blocks,
            enclosing: Vec::new(),
        };
        member.first = builder.function(member.function.body.clone());
        member.split_loops = builder.split_loops;
        basic_blocks = builder.basic_blocks;
        for basic_block in &mut basic_blocks[owners.len()..] {
            if matches!(basic_block.end, super::basic_blocks::End::Return) {
                basic_block.commands.extend(leave.iter().cloned());
            }
        }
        owners.resize(basic_blocks.len(), Some(*id));
    }
    (basic_blocks, owners)
}

/// Returns the variables that several basic blocks use, and the parameters, results and returned
/// values of the functions that are numbers.
fn crossing(
    program: &Program,
    basic_blocks: &[BasicBlock],
    members: &BTreeMap<FunctionId, Member>,
) -> Set {
    let mut first: BTreeMap<Variable, usize> = BTreeMap::new();
    let mut found = Set::new();
    for (k, basic_block) in basic_blocks.iter().enumerate() {
        basic_block.mentions(&mut |v| {
            if *first.entry(v).or_insert(k) != k {
                found.insert(v);
            }
        });
    }
    for member in members.values() {
        let function = &member.function;
        let numbers = function.parameters.iter().chain(&function.results);
        found.extend(numbers.filter(|v| matches!(program.variable(**v).ty, Type::Scalar(_))));
        found.extend(&member.returned);
    }
    found
}
