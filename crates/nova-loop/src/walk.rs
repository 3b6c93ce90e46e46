//! Reads and writes of single commands, without those of the lists inside them.

use crate::ir::{Command, Expression, Gather, HostAccess, Level, Variable, errors, jumps};
use crate::ordered_commands;
use nova_diag::deep;
use std::collections::BTreeSet;

/// Calls `see` for every command of a list, at any nesting depth.
pub fn each_command<'p>(commands: &'p [Command], mut see: impl FnMut(&'p Command)) {
    let mut left: Vec<&'p [Command]> = vec![commands];
    while let Some(commands) = left.pop() {
        for command in commands {
            see(command);
            left.extend(command.lists().into_iter().map(Vec::as_slice));
        }
    }
}

/// Sets the levels of all loops in a list of commands, outer loops first. `decide` receives its own result
/// for the enclosing loop (`enclosing` where there is none), and the index, level and body of a loop. It
/// returns the new level of the loop and the knowledge for the loops inside it.
pub fn set_levels<Known: Copy>(
    commands: &mut [Command],
    enclosing: Known,
    decide: &impl Fn(Known, Variable, Level, &[Command]) -> (Level, Known),
) {
    for command in commands {
        let mut within = enclosing;
        if let Command::For {
            variable,
            level,
            body,
            ..
        } = command
        {
            let decided;
            (decided, within) = decide(enclosing, *variable, *level, body);
            set_level(level, decided, body);
        }
        for list in command.lists_mut() {
            deep(|| set_levels(list, within, decide));
        }
    }
}

/// Sets the level of the loop with this body. The iterations of a loop of one thread run in order anyway,
/// so the bounds of its ordered region are removed.
pub fn set_level(level: &mut Level, decided: Level, body: &mut Vec<Command>) {
    *level = decided;
    if !decided.starts_kernel() {
        body.retain(|command| !matches!(command, ordered_commands!()));
    }
}

/// True if a loop with this body has an ordered region.
pub fn has_ordered_region(body: &[Command]) -> bool {
    body.iter()
        .any(|command| matches!(command, ordered_commands!()))
}

/// Defines the walk over expressions twice, for shared and for exclusive references.
macro_rules! walks {
    ($reads:ident $(, $mutable:tt)?) => {
        /// Calls `visit` on every expression that a command evaluates.
        pub fn $reads<'a>(
            command: &'a $($mutable)? Command,
            visit: &mut dyn FnMut(&'a $($mutable)? Expression),
        ) {
            match command {
                Command::Declare { value, .. } => value.into_iter().for_each(visit),
                Command::Assign { value, .. } => visit(value),
                Command::Store { index, value, .. } | Command::Contend { index, value, .. } => {
                    visit(index);
                    visit(value);
                }
                Command::Allocate { count, .. } | Command::Unique { count, .. } => visit(count),
                Command::Reserve { used, count, .. } => {
                    visit(used);
                    visit(count);
                }
                Command::Spare {
                    places,
                    count,
                    apart,
                    ..
                } => {
                    visit(places);
                    visit(count);
                    apart.into_iter().for_each(visit);
                }
                Command::Shared { count, .. }
                | Command::ResultBuffers { count, .. }
                | Command::DropBuffers { count, .. } => visit(count),
                Command::StoreBuffer {
                    index,
                    block,
                    pointer,
                    count,
                    ..
                } => {
                    visit(index);
                    visit(block);
                    visit(pointer);
                    visit(count);
                }
                Command::Buffer { index, .. } => visit(index),
                Command::Copy {
                    to, from, count, ..
                } => {
                    visit(to);
                    visit(from);
                    visit(count);
                }
                Command::PlanNonTemporal {
                    start,
                    count,
                    total,
                    ..
                } => {
                    visit(start);
                    visit(count);
                    visit(total);
                }
                Command::NonTemporalStore {
                    start, from, count, ..
                } => {
                    visit(start);
                    visit(from);
                    visit(count);
                }
                Command::PaddedCopy {
                    to,
                    from,
                    count,
                    pad,
                    ..
                } => {
                    visit(to);
                    visit(from);
                    visit(count);
                    visit(pad);
                }
                Command::LaneReduce {
                    to, from, count, ..
                } => {
                    visit(to);
                    visit(from);
                    visit(count);
                }
                Command::PrefixScan { to, from, .. } => {
                    visit(to);
                    visit(from);
                }
                Command::Gather(gather) => match gather {
                    Gather::Strided { to, from, .. } => {
                        visit(to);
                        visit(from);
                    }
                    Gather::Precheck { indices, limit, .. } => {
                        visit(indices);
                        visit(limit);
                    }
                    Gather::Indexed {
                        to, from, indices, ..
                    } => {
                        visit(to);
                        visit(from);
                        visit(indices);
                    }
                },
                Command::If { condition, .. } => visit(condition),
                Command::Switch { scrutinee, .. } => visit(scrutinee),
                Command::For { count, .. } => visit(count),
                Command::Call { arguments, .. }
                | Command::Foreign { arguments, .. }
                | Command::Fail { arguments, .. } => arguments.into_iter().for_each(visit),
                Command::Check {
                    condition,
                    arguments,
                    ..
                } => {
                    visit(condition);
                    arguments.into_iter().for_each(visit);
                }
                Command::NodeNew { payload, .. } => payload.into_iter().for_each(visit),
                Command::NodePayload { link, .. } => visit(link),
                Command::Trace { components, .. } => components.into_iter().for_each(visit),
                Command::Local { .. }
                | Command::TreeReduce { .. }
                | Command::PlanRows { .. }
                | Command::MaySplit { .. }
                | Command::Retain(_)
                | Command::Release(_)
                | Command::Loop { .. } => {}
                Command::Prefetch { index, .. } => visit(index),
                Command::OnHost { access, .. } => match access {
                    HostAccess::Reads | HostAccess::Writes => {}
                    HostAccess::ReadsElement(index) | HostAccess::WroteElement(index) => {
                        visit(index);
                    }
                },
                Command::Barrier(_)
                | ordered_commands!()
                | Command::StoreFence
                | Command::Comment(_)
                | jumps!() => {}
            }
        }
    };
}

walks!(reads);
walks!(reads_mut, mut);

/// Calls `visit` on every variable that a command names outside its expressions: a variable that it
/// assigns, stores through, prefetches, copies to the host, retains or releases.
pub fn writes(command: &Command, visit: &mut dyn FnMut(Variable)) {
    match command {
        Command::Declare { variable, .. } | Command::Assign { variable, .. } => visit(*variable),
        Command::Local { pointer, .. }
        | Command::Shared { pointer, .. }
        | Command::Spare { pointer, .. }
        | Command::Store { pointer, .. }
        | Command::Contend { pointer, .. }
        | Command::TreeReduce { pointer, .. }
        | Command::Prefetch { pointer, .. }
        | Command::OnHost { pointer, .. } => visit(*pointer),
        Command::Allocate { block, pointer, .. }
        | Command::Reserve { block, pointer, .. }
        | Command::Unique { block, pointer, .. } => {
            visit(*block);
            visit(*pointer);
        }
        Command::ResultBuffers { pieces, .. }
        | Command::StoreBuffer { pieces, .. }
        | Command::DropBuffers { pieces, .. } => visit(*pieces),
        Command::Buffer {
            pointer, pieces, ..
        } => {
            visit(*pointer);
            visit(*pieces);
        }
        Command::PlanRows { joins } => visit(*joins),
        Command::Gather(Gather::Precheck { outside, .. }) => visit(*outside),
        Command::PrefixScan { last, .. } => visit(*last),
        Command::MaySplit { splits } => visit(*splits),
        Command::PlanNonTemporal { shift, fields, .. } => {
            visit(*shift);
            fields.iter().copied().for_each(visit);
        }
        Command::NonTemporalStore { fields, .. } => fields.iter().copied().for_each(visit),
        Command::Retain(variable) | Command::Release(variable) => visit(*variable),
        Command::For { variable, .. } => visit(*variable),
        Command::Call { results, .. }
        | Command::Foreign { results, .. }
        | Command::NodePayload { results, .. } => results.iter().copied().for_each(visit),
        Command::NodeNew { link, .. } => visit(*link),
        Command::Copy { .. }
        | Command::PaddedCopy { .. }
        | Command::LaneReduce { .. }
        | Command::Gather(Gather::Strided { .. } | Gather::Indexed { .. })
        | Command::If { .. }
        | Command::Switch { .. }
        | Command::Loop { .. }
        | Command::Trace { .. } => {}
        Command::BeginOrdered(index) | Command::EndOrdered(index) => visit(*index),
        Command::Barrier(_) | Command::StoreFence | Command::Comment(_) | jumps!() | errors!() => {}
    }
}

/// Calls `visit` on every variable that a command names outside its expressions, to change it.
pub fn names_mut(command: &mut Command, visit: &mut dyn FnMut(&mut Variable)) {
    match command {
        Command::Declare { variable, .. } | Command::Assign { variable, .. } => visit(variable),
        Command::Local { pointer, .. }
        | Command::Shared { pointer, .. }
        | Command::Spare { pointer, .. }
        | Command::Store { pointer, .. }
        | Command::Contend { pointer, .. }
        | Command::TreeReduce { pointer, .. }
        | Command::Prefetch { pointer, .. }
        | Command::OnHost { pointer, .. } => visit(pointer),
        Command::Allocate { block, pointer, .. }
        | Command::Reserve { block, pointer, .. }
        | Command::Unique { block, pointer, .. } => {
            visit(block);
            visit(pointer);
        }
        Command::ResultBuffers { pieces, .. }
        | Command::StoreBuffer { pieces, .. }
        | Command::DropBuffers { pieces, .. } => visit(pieces),
        Command::Buffer {
            pointer, pieces, ..
        } => {
            visit(pointer);
            visit(pieces);
        }
        Command::PlanRows { joins } => visit(joins),
        Command::Gather(Gather::Precheck { outside, .. }) => visit(outside),
        Command::PrefixScan { last, .. } => visit(last),
        Command::MaySplit { splits } => visit(splits),
        Command::PlanNonTemporal { shift, fields, .. } => {
            visit(shift);
            fields.iter_mut().for_each(visit);
        }
        Command::NonTemporalStore { fields, .. } => fields.iter_mut().for_each(visit),
        Command::Retain(variable) | Command::Release(variable) => visit(variable),
        Command::For { variable, .. } => visit(variable),
        Command::Call { results, .. }
        | Command::Foreign { results, .. }
        | Command::NodePayload { results, .. } => results.iter_mut().for_each(visit),
        Command::NodeNew { link, .. } => visit(link),
        Command::BeginOrdered(index) | Command::EndOrdered(index) => visit(index),
        Command::Copy { .. }
        | Command::PaddedCopy { .. }
        | Command::LaneReduce { .. }
        | Command::Gather(Gather::Strided { .. } | Gather::Indexed { .. })
        | Command::If { .. }
        | Command::Switch { .. }
        | Command::Loop { .. }
        | Command::Trace { .. }
        | Command::Barrier(_)
        | Command::StoreFence
        | Command::Comment(_)
        | jumps!()
        | errors!() => {}
    }
}

/// Returns the variables that the expressions of commands read, without those of inner lists.
pub fn read_variables(commands: &[Command]) -> BTreeSet<Variable> {
    let mut found = BTreeSet::new();
    for command in commands {
        reads(command, &mut |expression| {
            expression.each_variable(&mut |variable| {
                found.insert(variable);
            });
        });
    }
    found
}

/// Calls `visit` on the variables to which a command gives another value.
pub fn each_assigned(command: &Command, visit: &mut dyn FnMut(Variable)) {
    match command {
        Command::Store { .. }
        | Command::Contend { .. }
        | Command::NonTemporalStore { .. }
        | Command::TreeReduce { .. }
        | Command::Prefetch { .. }
        | Command::OnHost { .. }
        | Command::StoreBuffer { .. }
        | Command::Retain(_)
        | Command::Release(_)
        | Command::BeginOrdered(_)
        | Command::EndOrdered(_)
        | Command::DropBuffers { .. } => {}
        Command::PlanNonTemporal { shift, .. } => visit(*shift),
        Command::Buffer { pointer, .. } => visit(*pointer),
        other => writes(other, visit),
    }
}
