//! The translation of Mem to Loop (dpia.txt §4). Array operations become loops that write directly into
//! the memory that Mem has chosen for their results, and references to blocks are counted.
//!
//! A scalar statement with one use becomes part of the expression that uses it ([`scalars`]); all
//! others become variables named as in the source. Bodies become command lists ([`statements`]). Each
//! body owns the blocks that are made in it, and releases them after their last use ([`lifetimes`]).
//!
//! Three contexts contain each other, and a function takes the smallest one that it needs. A [`writer`]
//! appends commands, an [`mod@env`] binds the scalars and blocks of the source, and a [`translator`] translates
//! bodies. Each stands for the one inside it. Questions about the program take only the program
//! ([`source`]). The data are [`facts`] about the source, [`terms`], [`places`] and [`references`].
//!
//! An array operation is one loop nest ([`operation`]) over a [`space`]. Its [`output`]s are written by
//! [`outputs`], [`reduction`], [`scan`] and others. Operations that gain from it become [`contractions`], [`tiles`],
//! [`lanes`], [`groups`] of rows or strips of rows ([`row_strips`]), or are taken in [`lockstep`].

mod accumulators;
mod address;
mod allocation;
mod arrays;
mod calls;
mod compaction;
mod contractions;
mod control;
mod early_exit;
mod env;
mod facts;
mod few_rows;
mod fixed_blocks;
mod gathers;
mod grouping;
mod groups;
mod growing;
mod lanes;
mod lifetimes;
mod limits;
mod lockstep;
mod lockstep_loops;
mod loops;
mod nest;
mod operation;
mod operators;
mod ordered;
mod output;
mod outputs;
mod padding;
mod places;
mod prefetch;
mod radix_sort;
mod reduction;
mod references;
mod result_buffers;
mod row_loops;
mod row_strips;
mod rows;
mod scalars;
mod scan;
mod sort;
mod source;
mod space;
mod statements;
mod states;
mod stored;
mod strided;
mod taking;
mod terms;
mod tile_sizes;
mod tiles;
mod translator;
mod tree;
mod writer;

use calls::translate_function;
use contractions::selection::contraction_of;
use nova_flat::ir as flat;
use nova_flat::visit::each_statement;
use nova_loop::ir;
use nova_machine::Machine;
use nova_plan::{Choice, Plan};
use std::collections::BTreeSet;
pub use tile_sizes::TileSizes;
use tiles::tiling::tiling_of;
use translator::Translator;
use writer::Result;

/// Translates a program of Mem. `strict` fixes the order of reductions and scans (docs/order.md).
pub fn translate(mem: &flat::Program, strict: bool) -> Result<ir::Program> {
    translate_with(mem, strict, TileSizes::default(), Machine::Processor)
}

/// Translates a program of Mem for a machine, with the given sizes of tiles. Small sizes let small programs
/// have tiles.
pub fn translate_with(
    mem: &flat::Program,
    strict: bool,
    tiles: TileSizes,
    machine: Machine,
) -> Result<ir::Program> {
    translate_by_plan(mem, strict, tiles, machine, &Plan::default())
}

/// Translates a program of Mem for a machine, with the given sizes of tiles, by a plan. The plan goes on to the
/// passes on Loop.
pub fn translate_by_plan(
    mem: &flat::Program,
    strict: bool,
    tiles: TileSizes,
    machine: Machine,
    plan: &Plan,
) -> Result<ir::Program> {
    let mut translator = Translator::new(mem, strict, tiles, machine);
    translator.program.plan = plan.clone();
    for (index, function) in mem.functions.iter().enumerate() {
        translator.begin_function(function.recursive);
        let function =
            translate_function(&mut translator, flat::FunctionId(index as u32), function)?;
        translator.program.functions.push(function);
    }
    let entries = mem.entries.iter().map(|entry| ir::Entry {
        name: entry.name.clone(),
        inputs: entry.inputs.clone(),
        result: entry.result.clone(),
        function: ir::FunctionId(entry.function.0),
    });
    translator.program.entries = entries.collect();
    Ok(translator.env.writer.program)
}

/// Returns the first results of the operations that are tiled.
pub fn tiled(mem: &flat::Program, strict: bool, plan: &Plan) -> BTreeSet<flat::Variable> {
    let mut translator = Translator::new(mem, strict, TileSizes::default(), Machine::Processor);
    translator.program.plan = plan.clone();
    let mut found = BTreeSet::new();
    for function in &mem.functions {
        translator.begin_function(function.recursive);
        each_statement(&function.body, &mut |statement| {
            let flat::Expression::Operation(operation) = &statement.expression else {
                return;
            };
            let place = &statement.place;
            if contraction_of(&translator, operation, &statement.pattern).is_some()
                && plan.allows(place, Choice::Panels)
            {
                found.extend(statement.pattern.first());
            } else if let Some(tiling) = tiling_of(&translator, operation, &statement.pattern)
                && plan.allows(place, Choice::Tiles)
            {
                translator.frame += tiling.bytes;
                found.extend(statement.pattern.first());
            }
        });
    }
    found
}
