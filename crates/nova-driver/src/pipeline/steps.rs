//! The passes that depend on options, and those from one stage to another, as functions of one form.

use crate::options::{ForStrategies, Options};
use nova_core::ir as core;
use nova_flat::ir as flat;
use nova_loop::ir as commands;
use nova_machine::Machine;
use nova_mem::reuse::Counting;
use nova_opt::fuse::{Rules, Workers};

pub(super) fn lower(program: &core::Program) -> Result<flat::Program, String> {
    nova_lower::lower(program).map_err(|e| e.to_string())
}

pub(super) fn expand_tables(program: &mut flat::Program) -> Result<(), String> {
    nova_lower::expand_tables(program).map_err(|error| error.to_string())
}

pub(super) fn fuse(program: &mut flat::Program, options: &Options) {
    let workers = match (options.parallelism(), options.target.machine()) {
        (None, _) => Workers::One,
        (Some(_), Machine::Processor) => Workers::Threads,
        (Some(_), Machine::Device) => Workers::Device,
    };
    let rules = Rules {
        strict: options.strict,
        workers,
    };
    nova_opt::fuse::run_by(program, rules);
}

pub(super) fn honour(program: &mut flat::Program, options: &Options) {
    if let Some(parallelism) = options.parallelism() {
        nova_schedule::honour(program, parallelism.kernels, &options.alone);
    }
}

pub(super) fn sort_keys(program: &mut flat::Program, options: &Options) {
    nova_schedule::sort_keys::run(program, options.tiles.radix_keys, options.target.machine());
}

pub(super) fn together(program: &mut flat::Program, options: &Options) {
    nova_schedule::together::run(program, options.strict);
}

pub(super) fn unroll(program: &mut flat::Program, options: &Options) {
    nova_iterate::unroll::run(program, options.strict);
}

pub(super) fn delinearise(program: &mut flat::Program, options: &Options) {
    nova_iterate::delinearise::run(program, &options.plan);
}

pub(super) fn gather_tables(program: &mut flat::Program, options: &Options) {
    nova_iterate::gather_tables::run(program, &options.plan);
}

pub(super) fn temporal_blocking(program: &mut flat::Program, options: &Options) {
    nova_iterate::temporal_blocking::run(program, &options.plan);
}

pub(super) fn rfactor(program: &mut flat::Program, options: &Options) {
    if let Some(parallelism) = options.parallelism() {
        nova_iterate::rfactor::run(program, parallelism, &options.alone, &options.plan);
    }
}

pub(super) fn parallelise(program: &mut flat::Program, options: &Options) {
    if let Some(parallelism) = options.parallelism() {
        nova_schedule::run_by_plan(program, parallelism, &options.alone, &options.plan);
    }
}

pub(super) fn introduce(program: &flat::Program, options: &Options) -> flat::Program {
    match options.target.machine() {
        Machine::Processor => nova_mem::introduce(program),
        Machine::Device => nova_mem::introduce_for_device(program),
    }
}

pub(super) fn reuse(program: &mut flat::Program, options: &Options) {
    nova_mem::reuse::run(program, counting(options));
}

/// Returns the code in which the pass `reuse` may test reference counts.
pub(crate) fn counting(options: &Options) -> Counting {
    match options.for_strategies {
        ForStrategies::Nothing | ForStrategies::Passes => Counting::Everywhere,
        ForStrategies::Places => Counting::OutsideGroups,
    }
}

pub(super) fn translate(
    program: &flat::Program,
    options: &Options,
) -> Result<commands::Program, String> {
    let machine = options.target.machine();
    let (strict, tiles) = (options.strict, options.tiles);
    nova_expand::translate_by_plan(program, strict, tiles, machine, &options.plan)
        .map_err(|e| e.to_string())
}

pub(super) fn emit(program: &commands::Program, name: &str, options: &Options) -> nova_c::Emission {
    let alone = options.alone.each();
    let one_thread = alone.map(|(place, why)| (place.clone(), why.to_string()));
    let options = nova_c::Options {
        name: name.to_string(),
        // Targets without C are refused earlier.
        dialect: options.dialect().unwrap_or(nova_c::Dialect::SEQUENTIAL),
        prefix: options.prefix.clone(),
        device_source: options.device_source.clone(),
        one_thread: one_thread.collect(),
        lines: options.line_directives,
    };
    nova_c::emit(program, &options)
}

pub(super) fn take_times(program: &mut nova_c_ast::ast::Program, name: &str) {
    nova_c_ast::passes::profile::run(program, name, nova_c::names::LOADED_PREFIX);
}
