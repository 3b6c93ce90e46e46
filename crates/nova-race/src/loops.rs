//! Loops: what holds in an iteration, and what their iterations leave behind.

use crate::blocks::Root;
use crate::loop_nest::{Ordered, ParallelLoop, each_site, numbers};
use crate::refusal::Rule;
use crate::state::Written;
use crate::steps::Step;
use crate::symbolic::{Polynomial, Symbol, Value};
use crate::walk::Walk;
use crate::{carried, holding, iteration, sizes, waits};
use nova_core::Scalar;
use nova_loop::ir::{Command, Expression, Level, Type, Variable};
use nova_loop::uses::written;
use nova_loop::walk::{each_command, reads};
use std::collections::BTreeSet;

/// Walks over a sequential loop.
pub(crate) fn sequential<'p>(
    walk: &mut Walk<'p>,
    index: Option<(Variable, &Expression)>,
    body: &'p [Command],
) {
    let count = index.map(|(_, count)| walk.state.number(count));
    let first_base = walk.state.bases.infos.len();
    holding::hold_all(&mut walk.state.bases, body);
    let assigned = walk.assigned(body);
    let carried = carried::carried(&walk.state, &assigned, body);
    assigned.iter().for_each(|v| walk.state.forget(*v));
    carried::carry(&mut walk.state, &carried);
    walk.tables.enter_loop(&walk.state.bases, body);
    let (context, sizes) = (walk.state.facts.context, walk.state.facts.sizes.clone());
    let may_skip = index.is_some();
    walk.state.bases.depth += 1;
    if let (Some((index, written)), Some(count)) = (index, count) {
        begin_index(walk, index, &count);
        sizes::learn_written_product(&mut walk.state, written);
    }
    walk.waits.open();
    walk.list(body);
    let steps = walk.waits.close();
    walk.waits.step(Step::Iterations {
        steps,
        may_skip,
        first_base,
    });
    walk.state.bases.depth -= 1;
    (walk.state.facts.context, walk.state.facts.sizes) = (context, sizes);
    assigned.iter().for_each(|v| walk.state.forget(*v));
    carried::carry(&mut walk.state, &carried);
}

/// Walks over a loop whose iterations may run in parallel.
pub(crate) fn parallel<'p>(
    walk: &mut Walk<'p>,
    index: Variable,
    count: &Expression,
    level: Level,
    body: &'p [Command],
) {
    let written = count;
    let count = walk.state.number(count);
    holding::hold_all(&mut walk.state.bases, body);
    let assigned = walk.assigned(body);
    take(walk, body);
    let mut parallel_loop = ParallelLoop {
        index,
        level,
        count: count.clone(),
        symbol: Symbol(0),
        first_base: walk.state.bases.infos.len(),
        first_path: walk.paths.len(),
        sites: BTreeSet::new(),
        written: BTreeSet::new(),
        late: Vec::new(),
        late_where: Vec::new(),
        refused: Vec::new(),
        ordered: Ordered::Before,
        prefixes: Vec::new(),
        phase: 0,
        depth: walk.state.bases.depth + 1,
        branches: walk.branches,
        numbers: numbers(walk.state.program, body),
        calls: BTreeSet::new(),
    };
    let outer_loads = std::mem::take(&mut walk.state.loads);
    let inside = note_blocks(walk, &mut parallel_loop, &assigned, body);
    for variable in assigned {
        let name = nova_loop::print::print_variable(walk.state.program, variable);
        let message = format!("{name} is assigned, which is declared around the loop");
        parallel_loop.refused.push((Rule::Scalars, message));
    }
    walk.tables.enter_loop(&walk.state.bases, body);
    let (context, rising) = (walk.state.facts.context, walk.state.rising.clone());
    let sizes = walk.state.facts.sizes.clone();
    walk.state.bases.depth += 1;
    walk.nest.push(parallel_loop);
    walk.state.loops.push(inside);
    let symbol = begin_index(walk, index, &count);
    sizes::learn_written_product(&mut walk.state, written);
    if let Some(parallel_loop) = walk.nest.last_mut() {
        parallel_loop.symbol = symbol;
    }
    let outer = waits::enter_threads(walk, level);
    iteration::iteration(walk, body);
    waits::leave_threads(walk, level, body, outer);
    walk.state.bases.depth -= 1;
    walk.state.rising = rising;
    walk.state.loops.pop();
    if let Some(parallel_loop) = walk.nest.pop() {
        walk.judge(&parallel_loop);
        walk.tables.leave(&parallel_loop);
    }
    walk.state.loads = outer_loads;
    if walk.nest.is_empty() {
        walk.paths.clear();
        walk.bisections.clear();
    }
    (walk.state.facts.context, walk.state.facts.sizes) = (context, sizes);
}

/// Defines the symbol of the index of a loop with this number of iterations.
fn begin_index(walk: &mut Walk, index: Variable, count: &Polynomial) -> Symbol {
    let symbol = walk.state.facts.fresh(Scalar::I64);
    let value = Polynomial::variable(symbol);
    walk.state.facts.define(symbol, value.clone());
    let below = value.gap_to(count);
    walk.state.facts.define(symbol, below);
    // The body runs, so the loop has an iteration.
    walk.state.facts.learn(count.plus_number(-1));
    sizes::learn_factors(&mut walk.state, count);
    sizes::learn_product(&mut walk.state.facts, count);
    walk.declared.insert(index, walk.nest.len());
    walk.state.values.insert(index, Value::Number(value));
    symbol
}

/// Notes the blocks that the body of a parallel loop makes and writes; returns those that are written
/// through pointers from outside.
fn note_blocks(
    walk: &Walk,
    parallel_loop: &mut ParallelLoop,
    assigned: &[Variable],
    body: &[Command],
) -> Written {
    let mut inside = Written {
        first_base: parallel_loop.first_base,
        ..Written::default()
    };
    // A variable that is declared inside has no value yet.
    let is_from_outside = |v: &Variable| walk.declared.contains_key(v) && !assigned.contains(v);
    each_command(body, |command| {
        each_site(command, &mut |root| {
            parallel_loop.sites.insert(root);
        });
        for place in written(command) {
            let roots = walk.state.bases.blocks.of_place(&place);
            parallel_loop.written.extend(&roots);
            let through = place.pointers();
            let bases_of = |v: &Variable| match walk.state.values.get(v) {
                Some(Value::Spots(spots)) if is_from_outside(v) => {
                    Some(spots.iter().map(|spot| spot.base))
                }
                Some(Value::Spots(_) | Value::Number(_)) | None => None,
            };
            match through.iter().map(bases_of).collect::<Option<Vec<_>>>() {
                Some(bases) => inside.there.extend(bases.into_iter().flatten()),
                None => inside.somewhere.extend(roots),
            }
        }
        if let Command::StoreBuffer { pieces, .. } = command {
            parallel_loop.written.insert(Root::Table(*pieces));
            inside.somewhere.insert(Root::Table(*pieces));
        }
    });
    inside
}

/// Gives symbols, outside a loop, to the values of variables from outside that its body reads.
fn take(walk: &mut Walk, body: &[Command]) {
    let mut read = BTreeSet::new();
    each_command(body, |command| {
        reads(command, &mut |expression| {
            expression.each_variable(&mut |v| {
                read.insert(v);
            });
        });
    });
    for variable in read {
        let is_integer = match walk.state.program.variable(variable).ty {
            Type::Scalar(scalar) => scalar.is_integer(),
            Type::Pointer(_) | Type::Block => false,
        };
        if is_integer && walk.declared.contains_key(&variable) {
            walk.state.number_of(variable);
        }
    }
}
