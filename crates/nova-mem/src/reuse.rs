//! Reuse in place (lambda-dp.txt §3.2): an array that replaces another one, which nothing uses again,
//! is written over it.
//!
//! This applies to updates, to scatters, and to maps that read an array only at the index that they
//! write (criteria R.1 and R.2). If only this function can hold the block, the new array is put there.
//! If others may hold it (states of loops, results of conditionals and calls), `Unique` reads the
//! reference count at run time, and copies only if the block is shared. An array that gives the starts
//! of joined chunks is never overwritten ([`chunk_starts`]).

mod own;

use crate::MARK;
use crate::alias::{Rebasing, is_inside};
use crate::mistakes::{Mistake, Mistakes};
pub use crate::uses::Event;
use crate::uses::{Kind, Span, Uses};
use nova_core::strategy;
use nova_diag::deep;
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Function, Output, Positions, Program, Statement, Type,
    Variable,
};
use nova_flat::memory::{Lmad, Memory};
use nova_flat::positions::{Block, Sums};
use nova_flat::visit;
use own::Own;
use std::collections::{BTreeMap, BTreeSet};

/// The code in which a reference count may be read at run time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counting {
    /// Everywhere.
    #[default]
    Everywhere,
    /// Everywhere but in maps over work-groups. Groups of a device have no memory for the copy that
    /// `Unique` makes of a shared array.
    OutsideGroups,
}

/// The reason why an array was not written over the one it replaces.
#[derive(Clone, Debug)]
pub enum Obstacle {
    /// The old one is used afterwards.
    UsedLater(Event),
    /// The old array is read by the same statement, at other elements than those written.
    ReadMeanwhile,
    /// The memory of the old array is not owned by the function: a parameter, a constant, part of a
    /// node.
    Borrowed,
    /// The elements of the old array are not adjacent in order.
    NotInOrder,
    /// The new array is built in memory chosen for a later use.
    PlacedElsewhere,
    /// Only a reference count tells whether the old array is shared, and it cannot be read here.
    Uncounted,
}

/// An array that was not overwritten, and the reason.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The array that another one replaces.
    pub array: Variable,
    /// The reason.
    pub obstacle: Obstacle,
}

/// Writes arrays over those they replace. Returns the arrays that were not overwritten, by the array
/// that is made elsewhere.
pub fn run(program: &mut Program, counting: Counting) -> BTreeMap<Variable, Kept> {
    run_with(program, counting, Mistakes::default())
}

/// As [`run`], with a mistake if a test asks for one.
#[doc(hidden)]
pub fn run_with(
    program: &mut Program,
    counting: Counting,
    mistakes: Mistakes,
) -> BTreeMap<Variable, Kept> {
    crate::takes::mark(program);
    let uses = Uses::of(program);
    let sums = Sums::of_program(program);
    let mut functions = std::mem::take(&mut program.functions);
    let mut pass = Reuse {
        extents: crate::alias::extents(program),
        sums,
        holding: vec![Holding::Counted; program.variables.len()],
        program,
        uses,
        handed_out: BTreeSet::new(),
        taken: BTreeMap::new(),
        unneeded: BTreeSet::new(),
        obstacles: BTreeMap::new(),
        counting,
        in_group: false,
        mistakes,
    };
    for (index, function) in functions.iter().enumerate() {
        pass.holdings(index, function);
    }
    for function in &mut functions {
        pass.body(&mut function.body);
        let unneeded = &pass.unneeded;
        visit::each_body_mut(&mut function.body, &mut |body| {
            let is_needed = |s: &Statement| !s.pattern.iter().any(|v| unneeded.contains(v));
            body.statements.retain(is_needed);
        });
    }
    let obstacles = pass.obstacles;
    program.functions = functions;
    obstacles
}

/// True for an operation that the program assigns to work-groups.
fn is_of_groups(expression: &Expression) -> bool {
    let Expression::Operation(operation) = expression else {
        return false;
    };
    let strategy = operation.strategy.as_ref();
    strategy.is_some_and(|strategy| strategy.level == strategy::Level::Workgroup)
}

/// The holders of a block, as far as a function knows them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holding {
    /// This function alone, as long as the arrays are not passed on.
    Alone,
    /// The reference count tells.
    Counted,
    /// It has other holders.
    Borrowed,
}

struct Reuse<'a> {
    program: &'a mut Program,
    uses: Uses,
    extents: Vec<bool>,
    sums: Sums<'static>,
    /// By block, its holders.
    holding: Vec<Holding>,
    /// The blocks in which results are handed to the caller.
    handed_out: BTreeSet<Variable>,
    /// By block, the time at which the last statement that needed a `Unique` of it begins.
    taken: BTreeMap<Variable, u32>,
    /// The blocks in which nothing lies any more.
    unneeded: BTreeSet<Variable>,
    obstacles: BTreeMap<Variable, Kept>,
    counting: Counting,
    /// True inside of an operation that work-groups run.
    in_group: bool,
    mistakes: Mistakes,
}

impl Reuse<'_> {
    /// Determines the holders of the blocks of a function.
    fn holdings(&mut self, index: usize, function: &Function) {
        let mut calls_itself = false;
        visit::each_statement(&function.body, &mut |statement| {
            let expression = &statement.expression;
            calls_itself |= matches!(expression,
                Expression::Call { function, tail: true, .. } if function.index() == index);
            let holding = match expression {
                Expression::NodePayload { .. } | Expression::Bytes(_) | Expression::Fail { .. } => {
                    Holding::Borrowed
                }
                Expression::Unique(_) => Holding::Alone,
                allocation if allocation.is_allocation() => {
                    for block in &statement.pattern {
                        self.holding[block.index()] = Holding::Alone;
                        if allocation.is_destination() {
                            self.handed_out.insert(*block);
                        }
                    }
                    return;
                }
                _other => return,
            };
            let memories = statement.pattern.iter().map(|v| self.memory(*v));
            for memory in memories.collect::<Vec<_>>().into_iter().flatten() {
                let block = memory.block.index();
                if self.holding[block] == Holding::Counted {
                    self.holding[block] = holding;
                }
            }
        });
        if !calls_itself && !function.takes {
            for parameter in &function.parameters {
                if let Some(memory) = self.memory(*parameter) {
                    self.holding[memory.block.index()] = Holding::Borrowed;
                }
            }
        }
    }

    fn body(&mut self, body: &mut Body) {
        let statements = std::mem::take(&mut body.statements);
        for mut statement in statements {
            self.statement(&mut statement, &mut body.statements);
            let outside = self.in_group;
            self.in_group |= is_of_groups(&statement.expression);
            visit::bodies_mut(&mut statement.expression, &mut |inner| {
                deep(|| self.body(inner));
            });
            self.in_group = outside;
            body.statements.push(statement);
        }
    }

    /// Places the arrays that a statement makes. Statements that must precede it go to `before`.
    fn statement(&mut self, statement: &mut Statement, before: &mut Vec<Statement>) {
        let place = statement.place.clone();
        match &mut statement.expression {
            Expression::Update { array, .. } => {
                if let [made] = statement.pattern.as_slice()
                    && let Some(instead) = self.replace(*made, *array, 1, &place, before)
                {
                    *array = instead;
                    if self.mistakes.make(Mistake::UpdateDropped) {
                        statement.expression = Expression::Copy(instead);
                    }
                }
            }
            Expression::Operation(operation) => {
                let made = statement.pattern.get(operation.carries.len()..);
                self.operation(operation, made.unwrap_or_default(), &place, before);
                self.chunks_or_cases(statement, before);
            }
            Expression::If { .. } => self.chunks_or_cases(statement, before),
            _makes_anew => {}
        }
    }

    /// Writes the array that a grid joins, or that a conditional makes, over one that is read at the
    /// addresses that are written.
    fn chunks_or_cases(&mut self, statement: &mut Statement, before: &mut Vec<Statement>) {
        let joins = match &statement.expression {
            Expression::Operation(operation) => {
                matches!(operation.outputs[..], [Output::Join { .. }])
            }
            _conditional => true,
        };
        let ([made], true) = (&statement.pattern[..], joins) else {
            return;
        };
        let Some(memory) = self.memory(*made) else {
            return;
        };
        let (block, own) = (self.uses.span(memory.block), self.uses.span(*made));
        let is_allocated = block.zip(own).is_some_and(|(b, own)| b.exit < own.enter);
        if !is_allocated {
            return;
        }
        let own = Own {
            program: self.program,
            sums: &self.sums,
            block: memory.block,
        };
        let Some(reads) = own.of_statement(statement) else {
            return;
        };
        let place = statement.place.clone();
        // Equal addresses are equal elements only if both arrays have the same LMAD.
        let mut read = Reads {
            at_index: reads.into_iter().collect(),
        };
        read.at_index
            .retain(|(array, _)| self.memory(*array).is_some_and(|m| m.lmad == memory.lmad));
        if let Some((old, new)) = self.map(*made, &read, &place, before) {
            let mut instead = visit::Substitution::default();
            instead.insert(old, Atom::Variable(new));
            visit::bodies_mut(&mut statement.expression, &mut |body| {
                visit::substitute(self.program, body, &instead);
            });
        }
    }

    fn operation(
        &mut self,
        operation: &mut ArrayOperation,
        mut made: &[Variable],
        place: &nova_diag::Place,
        before: &mut Vec<Statement>,
    ) {
        let mut read = None;
        let mut instead = visit::Substitution::default();
        let ArrayOperation {
            outputs,
            body,
            indices,
            shape,
            ..
        } = operation;
        let joins = outputs.iter().any(|o| matches!(o, Output::Join { .. }));
        let chunk_starts = match joins {
            true => chunk_starts(body),
            false => BTreeSet::new(),
        };
        for output in outputs {
            let (own, rest) = made.split_at(output.gives().min(made.len()));
            made = rest;
            match output {
                Output::Scatter {
                    destinations,
                    positions,
                } => {
                    let anywhere = self.mistakes.make(Mistake::ReuseReadElsewhere);
                    let read = match positions {
                        Positions::Block(starts) => {
                            let block = Block {
                                starts,
                                indices,
                                extents: shape,
                            };
                            Reads::beside(body, &self.sums, &block, anywhere)
                        }
                        Positions::Given | Positions::Unordered | Positions::Greatest => {
                            Reads::default()
                        }
                    };
                    for (array, made) in destinations.iter_mut().zip(own) {
                        let reads = 1 + read.count(*array);
                        let new = self.replace(*made, *array, reads, place, before);
                        if let Some(new) = new.filter(|new| new != array) {
                            instead.insert(*array, Atom::Variable(new));
                            *array = new;
                        }
                    }
                }
                Output::Map => {
                    let anywhere = self.mistakes.make(Mistake::ReuseReadElsewhere);
                    let read = read.get_or_insert_with(|| {
                        let mut read = Reads::of(body, indices, anywhere);
                        read.at_index
                            .retain(|(array, _)| !chunk_starts.contains(array));
                        read
                    });
                    let [made] = own else { continue };
                    if let Some((old, new)) = self.map(*made, read, place, before) {
                        instead.insert(old, Atom::Variable(new));
                    }
                }
                _ => {}
            }
        }
        visit::substitute(self.program, body, &instead);
    }

    /// Writes the result of a map over an array that it reads. Returns that array, and the array to
    /// read instead.
    fn map(
        &mut self,
        made: Variable,
        read: &Reads,
        place: &nova_diag::Place,
        before: &mut Vec<Statement>,
    ) -> Option<(Variable, Variable)> {
        let candidates = read.at_index.iter();
        let like = |array: &&(Variable, usize)| {
            let (new, old) = (self.program.ty(made), self.program.ty(array.0));
            new == old
                && self.memory(array.0).map(|m| m.block) != self.memory(made).map(|m| m.block)
        };
        let candidates: Vec<_> = candidates.filter(like).copied().collect();
        for (array, count) in candidates {
            if let Some(instead) = self.replace(made, array, count, place, before) {
                self.obstacles.remove(&made);
                return Some((array, instead));
            }
        }
        None
    }

    /// Writes `made` over `array`, which the statement reads `reads` times, each time before the
    /// element is overwritten. Returns the array to read instead: the same or its `Unique`.
    fn replace(
        &mut self,
        made: Variable,
        array: Variable,
        reads: usize,
        place: &nova_diag::Place,
        before: &mut Vec<Statement>,
    ) -> Option<Variable> {
        match self.try_replace(made, array, reads, place, before) {
            Ok(instead) => instead,
            Err(obstacle) => {
                self.obstacles
                    .entry(made)
                    .or_insert(Kept { array, obstacle });
                None
            }
        }
    }

    fn try_replace(
        &mut self,
        made: Variable,
        array: Variable,
        reads: usize,
        place: &nova_diag::Place,
        before: &mut Vec<Statement>,
    ) -> Result<Option<Variable>, Obstacle> {
        let (Some(new), Some(old)) = (self.memory(made), self.memory(array)) else {
            return Ok(None);
        };
        let Some(span) = self.uses.span(made) else {
            return Ok(None);
        };
        // An array that a case or an iteration makes is not there yet where the statement begins.
        let is_inside = self
            .uses
            .span(array)
            .is_some_and(|array| array.enter >= span.enter);
        if new == old || is_inside {
            return Ok(None);
        }
        if !old.lmad.is_row_major() {
            return Err(Obstacle::NotInOrder);
        }
        let wrong = self.mistakes;
        let mut holding = self.holding(old.block);
        if wrong.make(Mistake::UniqueDropped) {
            holding = Holding::Alone;
        }
        if holding == Holding::Borrowed && !wrong.make(Mistake::ReuseBorrowed) {
            return Err(Obstacle::Borrowed);
        }
        if let Some(later) = self.uses.later(old.block, span)
            && !wrong.make(Mistake::ReuseUsedLater)
        {
            return Err(Obstacle::UsedLater(later.clone()));
        }
        let taken = self.taken.get(&old.block) == Some(&span.enter);
        if taken || self.uses.events(old.block, span.enter..=span.exit).count() != reads {
            return Err(Obstacle::ReadMeanwhile);
        }
        let handed = |event: &Event| event.kind == Kind::Handed;
        let mut earlier = self.uses.events(old.block, 0..=span.enter - 1);
        let shared = earlier.any(handed) && !wrong.make(Mistake::ReuseHandedOn);
        drop(earlier);
        if holding == Holding::Alone && !shared {
            let moved = Rebasing::between(&new.lmad, &old.lmad);
            let moved = moved.filter(|_| self.is_made_for(&new, span));
            self.move_block(
                new.block,
                old.block,
                &moved.ok_or(Obstacle::PlacedElsewhere)?,
            );
            return Ok(Some(array));
        }
        if self.in_group && self.counting == Counting::OutsideGroups {
            return Err(Obstacle::Uncounted);
        }
        let lmad = Lmad::of_shape(self.program.ty(array).shape());
        let lmad = lmad.ok_or(Obstacle::NotInOrder)?;
        let moved = Rebasing::between(&new.lmad, &lmad);
        let moved = moved.filter(|_| self.is_made_for(&new, span));
        let moved = moved.ok_or(Obstacle::PlacedElsewhere)?;
        let (sole, block) = self.sole_holder(array, lmad, span);
        before.push(Statement {
            pattern: vec![sole],
            expression: Expression::Unique(array),
            place: place.clone(),
        });
        self.taken.insert(old.block, span.enter);
        self.move_block(new.block, block, &moved);
        Ok(Some(sole))
    }

    /// Adds a variable that is an array in a block of its own. Returns it and the block.
    fn sole_holder(&mut self, array: Variable, lmad: Lmad, span: Span) -> (Variable, Variable) {
        let info = self.program.variable(array).clone();
        let name = info.name.trim_start_matches(MARK);
        let block = Type::Block(info.ty.element());
        let block = self.program.add_variable(format!("{name}_block"), block);
        let sole = self.program.add_variable(format!("{MARK}{name}"), info.ty);
        self.program.variables[sole.index()].memory = Some(Memory { block, lmad });
        let now = Span {
            exit: span.enter,
            ..span
        };
        self.uses.set_span(block, now);
        self.uses.set_span(sole, now);
        self.uses.set_scope(block, span.scope);
        self.holding
            .resize(self.program.variables.len(), Holding::Counted);
        self.holding[block.index()] = Holding::Alone;
        (sole, block)
    }

    /// True if a block holds nothing beyond the array `made`, which a statement makes and which is
    /// first to be written there. The block must be allocated in the body of the statement, and must
    /// not be one for the caller. (An array that several cases of a conditional make lies in a block
    /// from outside.)
    fn is_made_for(&self, made: &Memory, span: Span) -> bool {
        let here = self.uses.span(made.block);
        if here.is_none_or(|block| block.scope != span.scope) {
            return false;
        }
        let more = |event: &Event| {
            event.kind == Kind::Made
                && self.memory(event.array).is_none_or(|memory| {
                    !is_inside(&memory.lmad, &made.lmad, &|v| {
                        self.extents.get(v.index()) == Some(&true)
                    })
                })
        };
        self.mistakes.make(Mistake::BlockTooSmall)
            || self.holding(made.block) == Holding::Alone
                && !self.handed_out.contains(&made.block)
                && self
                    .uses
                    .events(made.block, 0..=span.enter - 1)
                    .next()
                    .is_none()
                && !self.uses.events(made.block, span.exit..=u32::MAX).any(more)
    }

    fn move_block(&mut self, from: Variable, into: Variable, rebasing: &Rebasing) {
        let arrays = self.uses.block(from).map(|b| b.arrays.clone());
        for array in arrays.unwrap_or_default() {
            let info = &mut self.program.variables[array.index()];
            info.memory = info.memory.as_ref().map(|m| rebasing.memory(m, into));
        }
        self.uses.merge(from, into);
        self.unneeded.insert(from);
    }

    fn holding(&self, block: Variable) -> Holding {
        let holding = self.holding.get(block.index());
        holding.copied().unwrap_or(Holding::Borrowed)
    }

    fn memory(&self, array: Variable) -> Option<Memory> {
        self.program.variables.get(array.index())?.memory.clone()
    }
}

/// Returns the arrays that give the starts of the chunks that an operation joins: those whose elements
/// are results of its body. They are not overwritten, since each chunk is checked against the start of
/// the next one.
fn chunk_starts(body: &Body) -> BTreeSet<Variable> {
    let is_result = |variable: &Variable| body.results.contains(&Atom::Variable(*variable));
    let found = body.statements.iter().filter_map(|statement| {
        let Expression::Index { array, .. } = &statement.expression else {
            return None;
        };
        statement.pattern.iter().any(is_result).then_some(*array)
    });
    found.collect()
}

/// The arrays that the body of an operation reads at the elements that it writes, and the number of
/// those reads.
#[derive(Default)]
struct Reads {
    at_index: Vec<(Variable, usize)>,
}

impl Reads {
    /// Counts the reads at the element that a scatter stores in the same iteration, and the reads
    /// outside of the block that it stores.
    fn beside(body: &Body, sums: &Sums, block: &Block, anywhere: bool) -> Self {
        let mut counts: BTreeMap<Variable, usize> = BTreeMap::new();
        visit::each_statement(body, &mut |statement| {
            if let Expression::Index { array, indices } = &statement.expression
                && (anywhere || sums.is_at(indices, block) || sums.is_apart(indices, block))
            {
                *counts.entry(*array).or_default() += 1;
            }
        });
        Reads {
            at_index: counts.into_iter().collect(),
        }
    }

    /// Returns the number of reads of an array.
    fn count(&self, array: Variable) -> usize {
        let found = self.at_index.iter().find(|(read, _)| *read == array);
        found.map_or(0, |(_, count)| *count)
    }

    /// Counts the reads at the indices of the operation itself.
    fn of(body: &Body, indices: &[Variable], anywhere: bool) -> Self {
        let mut counts: BTreeMap<Variable, usize> = BTreeMap::new();
        let own: Vec<Atom> = indices.iter().map(|i| Atom::Variable(*i)).collect();
        visit::each_statement(body, &mut |statement| {
            if let Expression::Index { array, indices } = &statement.expression
                && (anywhere || *indices == own)
            {
                *counts.entry(*array).or_default() += 1;
            }
        });
        Reads {
            at_index: counts.into_iter().collect(),
        }
    }
}
