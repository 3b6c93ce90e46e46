//! Tables of offsets: a sequential loop writes the start of each chunk, from which follows that chunks
//! do not meet (the scan offsets of architecture, invariant 9).
//!
//! ```text
//! for i in n { begins[i] = total; total = total + counts[i]; ends[i] = total }
//! ```
//!
//! If no addend is negative, `begins[i] + counts[i] ≤ begins[j]` for all i < j.

use crate::blocks::{Blocks, RootSet};
use crate::loop_nest::ParallelLoop;
use crate::polynomial::{Polynomial, Symbol};
use crate::prover::Fact;
use crate::values::{Base, BaseInfo, Spot, Value};
use crate::walk::{Context, Walk};
use nova_core::Scalar;
use nova_diag::deep;
use nova_loop::ir::{Command, Expression, Level, Type, Variable};
use nova_loop::uses::written;
use nova_loop::walk::each_assigned;
use nova_loop::walk::each_command;
use std::collections::{BTreeMap, BTreeSet};

/// Loops with more commands than this are no scans of offsets.
const MOST_COMMANDS: usize = 24;

/// The largest number of blocks whose stored numbers are recorded.
const MOST_BLOCKS: usize = 16_384;

/// A scan by a loop that wrote the starts of chunks.
#[derive(Clone, Debug)]
pub(crate) struct Scan {
    id: usize,
    /// The index of the loop, which identifies it.
    pub(crate) index: Variable,
    /// The number of chunks.
    pub(crate) count: Polynomial,
    /// The table of the starts of the chunks.
    pub(crate) begins: Base,
    /// The table of the addends, if the loop read them from one and has not written it.
    pub(crate) counts: Option<Base>,
    /// The table of the ends of the chunks.
    pub(crate) ends: Option<Base>,
    /// True if the addends are known not to be negative.
    pub(crate) rises: bool,
}

/// A number that was stored.
#[derive(Clone, Debug)]
struct Stored {
    value: Polynomial,
    context: Context,
    /// The facts that hold once the iteration that stored it has ended.
    late: Vec<Fact>,
    /// True if that iteration has not ended.
    is_open: bool,
}

/// Facts about tables at the current place.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    scans: Vec<Scan>,
    next: usize,
    /// The numbers that have been stored in new blocks; `None` where they are not known.
    stores: BTreeMap<Base, Option<Vec<Stored>>>,
    /// The origins of blocks that were written through pointers other than their own.
    elsewhere: RootSet,
    /// The last block of those whose stored numbers have been forgotten.
    forgotten: Option<Base>,
}

impl Tables {
    /// Returns a mark for [`Tables::forget`].
    pub(crate) fn mark(&self) -> usize {
        self.next
    }

    /// Forgets the scans that were learned since `mark`.
    pub(crate) fn forget(&mut self, mark: usize) {
        self.scans.retain(|scan| scan.id < mark);
    }

    /// The scans whose tables have not been written since.
    pub(crate) fn scans(&self) -> &[Scan] {
        &self.scans
    }

    /// Forgets the scans whose tables a loop may write: in a later iteration that comes before its commands.
    pub(crate) fn enter_loop(&mut self, blocks: &Blocks, bases: &[BaseInfo], body: &[Command]) {
        if self.scans.is_empty() {
            return;
        }
        let mut roots = RootSet::new();
        each_command(body, |command| {
            for place in written(command) {
                roots.extend(blocks.of_place(&place));
            }
        });
        self.overwrite(blocks, bases, &roots, None);
    }

    fn overwrite(
        &mut self,
        blocks: &Blocks,
        bases: &[BaseInfo],
        roots: &RootSet,
        at: Option<Base>,
    ) {
        self.scans.retain(|scan| {
            let tables = [Some(scan.begins), scan.counts, scan.ends];
            !tables
                .into_iter()
                .flatten()
                .any(|table| at == Some(table) || blocks.meet(&bases[table.index()].roots, roots))
        });
    }

    /// Records that elements have been written: one with this value, or elements with unknown values.
    pub(crate) fn written(
        &mut self,
        blocks: &Blocks,
        bases: &[BaseInfo],
        spots: &[Spot],
        value: Option<(Polynomial, Context)>,
    ) {
        for spot in spots {
            let info = &bases[spot.base.index()];
            self.overwrite(blocks, bases, &info.roots, Some(spot.base));
            if !info.is_new {
                self.elsewhere.extend(&info.roots);
                continue;
            }
            if self.forgotten.is_some_and(|last| spot.base <= last) {
                continue;
            }
            if self.stores.len() >= MOST_BLOCKS
                && !self.stores.contains_key(&spot.base)
                && let Some((oldest, _)) = self.stores.pop_first()
            {
                self.forgotten = self.forgotten.max(Some(oldest));
            }
            let known = self
                .stores
                .entry(spot.base)
                .or_insert_with(|| Some(Vec::new()));
            match (known, &value) {
                (Some(stored), Some((value, context))) => stored.push(Stored {
                    value: value.clone(),
                    context: *context,
                    late: Vec::new(),
                    is_open: true,
                }),
                (known, _) => *known = None,
            }
        }
    }

    /// Returns the numbers that have been stored in a new block, if all are known.
    fn stores(&self, blocks: &Blocks, bases: &[BaseInfo], base: Base) -> Option<&[Stored]> {
        if blocks.meet(&bases[base.index()].roots, &self.elsewhere) {
            return None;
        }
        match self.stores.get(&base) {
            Some(stored) => stored.as_deref(),
            None if self.forgotten.is_some_and(|last| base <= last) => None,
            None => Some(&[]),
        }
    }

    /// Records that the iterations of a loop have ended.
    pub(crate) fn leave(&mut self, parallel_loop: &ParallelLoop) {
        for stored in self.stores.values_mut().flatten().flatten() {
            if std::mem::take(&mut stored.is_open) {
                stored.late.clone_from(&parallel_loop.late);
            }
        }
    }
}

impl<'p> Walk<'p> {
    /// Returns the scans of offsets that a loop does.
    pub(crate) fn scan(
        &mut self,
        index: Variable,
        count: &Expression,
        body: &'p [Command],
    ) -> Vec<Scan> {
        if body.len() > MOST_COMMANDS || !is_simple(body) {
            return Vec::new();
        }
        let count = self.number(count);
        let assigned = self.assigned(body);
        let mut first = BTreeMap::new();
        let before: Vec<_> = assigned
            .iter()
            .map(|v| self.values.get(v).cloned())
            .collect();
        for variable in assigned.iter().copied() {
            self.forget(variable);
            if self.program.variable(variable).ty == Type::Scalar(Scalar::I64) {
                first.insert(variable, self.number_of(variable));
            }
        }
        let symbol = self.fresh(Scalar::I64);
        let at = Polynomial::symbol(symbol);
        self.values.insert(index, Value::Number(at.clone()));
        let loads = std::mem::take(&mut self.loads);
        self.scanned = Some(BTreeSet::new());
        let stores = self.follow(body);
        self.scanned = None;
        let loads = std::mem::replace(&mut self.loads, loads);
        let mut found = Vec::new();
        for (total, before) in &first {
            let after = self.number_of(*total);
            let addend = after.minus(before);
            let of = |value: &Polynomial| {
                let mut own = stores.iter().filter(|s| s.index == at && s.value == *value);
                own.next().map(|store| store.base)
            };
            let Some(begins) = of(before) else { continue };
            let ends = of(&after).filter(|ends| *ends != begins);
            let from = loads
                .iter()
                .find(|(_, loaded)| addend.as_symbol() == Some(**loaded));
            let counts = from.map(|((base, place), _)| (*base, place == &at));
            let rises = self.rises(&addend, counts);
            let written = |base: Base| {
                let other = |store: &&Element| store.base != base;
                let is_met = stores.iter().filter(other).any(|s| self.meet(s.base, base));
                let own = stores.iter().filter(|store| store.base == base).count();
                if is_met { usize::MAX } else { own }
            };
            let counts = counts
                .filter(|(_, here)| *here)
                .map(|(base, _)| base)
                .filter(|base| written(*base) == 0);
            let once = |base: Base| written(base) == 1;
            if self.bases[begins.index()].is_new && once(begins) && ends.is_none_or(once) {
                found.push(Scan {
                    id: 0,
                    index,
                    count: count.clone(),
                    begins,
                    counts,
                    ends,
                    rises,
                });
            }
        }
        // The walk has yet to go through the loop itself.
        for (variable, value) in assigned.into_iter().zip(before) {
            match value {
                Some(value) => self.values.insert(variable, value),
                None => self.values.remove(&variable),
            };
        }
        found
    }

    /// Follows the commands of one iteration of a loop; returns the elements that they store.
    fn follow(&mut self, body: &'p [Command]) -> Vec<Element> {
        let mut stores = Vec::new();
        for command in body {
            match command {
                Command::Declare {
                    variable,
                    value: Some(value),
                }
                | Command::Assign { variable, value } => self.assign(*variable, value),
                Command::Store {
                    pointer,
                    index,
                    value,
                } => {
                    let (index, mut value) = (self.number(index), self.number(value));
                    let spots = self.spots(&Expression::Variable(*pointer));
                    if spots.len() > 1 {
                        // The value is in one of these places; the others have what was there before.
                        value = Polynomial::symbol(self.fresh(Scalar::I64));
                    }
                    for spot in spots {
                        let index = spot.index.plus(&index);
                        let (base, value) = (spot.base, value.clone());
                        stores.push(Element { base, index, value });
                        if let Some(stored) = &mut self.scanned {
                            stored.insert(base);
                        }
                    }
                }
                other => self.follow_any(other, &mut stores),
            }
        }
        stores
    }

    /// Adds elements with unknown indices and values for the stores of a command that may run often.
    fn follow_any(&mut self, command: &'p Command, stores: &mut Vec<Element>) {
        each_command(std::slice::from_ref(command), |command| {
            each_assigned(command, &mut |variable| self.forget(variable));
            for place in written(command) {
                for spot in self.spots(&place) {
                    let unknown = Polynomial::symbol(self.fresh(Scalar::I64));
                    let (base, value) = (spot.base, unknown.clone());
                    stores.push(Element {
                        base,
                        index: unknown,
                        value,
                    });
                    if let Some(stored) = &mut self.scanned {
                        stored.insert(base);
                    }
                }
            }
        });
    }

    /// True if an addend is never negative: by itself, or since nothing negative was stored in the block from
    /// which it is read.
    fn rises(&self, addend: &Polynomial, from: Option<(Base, bool)>) -> bool {
        if self.is_never_negative(addend) {
            return true;
        }
        let Some((base, _)) = from else { return false };
        let info = &self.bases[base.index()];
        let Some(stores) = self.tables.stores(self.blocks, &self.bases, base) else {
            return false;
        };
        info.is_new
            && info.depth == self.depth
            && stores.iter().all(|stored| {
                let facts = self.known(stored.context, &[&stored.value], &stored.late);
                self.provers.that_knows(&facts).holds(&stored.value)
            })
    }

    /// Records a scan, which is known from here on.
    pub(crate) fn learn_scan(&mut self, mut scan: Scan) {
        scan.id = self.tables.next;
        self.tables.next += 1;
        self.tables.scans.push(scan);
    }
}

/// An element that is stored.
struct Element {
    base: Base,
    index: Polynomial,
    value: Polynomial,
}

/// True if each command of the body of a loop runs once in an iteration and does not leave it.
fn is_simple(body: &[Command]) -> bool {
    body.iter().all(|command| match command {
        Command::Declare { value: Some(_), .. }
        | Command::Assign { .. }
        | Command::Store { .. }
        | Command::Comment(_)
        | Command::Prefetch { .. }
        | Command::OnHost { .. } => true,
        Command::If { .. } => stays(std::slice::from_ref(command), false),
        Command::Loop { body, .. } => stays(body, true),
        Command::For {
            level: Level::Sequential | Level::Unrolled,
            body,
            ..
        } => stays(body, true),
        _others => false,
    })
}

/// True if commands only compute and store, and leave only loops inside of them.
fn stays(commands: &[Command], in_loop: bool) -> bool {
    commands.iter().all(|command| match command {
        Command::Declare { .. }
        | Command::Assign { .. }
        | Command::Store { .. }
        | Command::Local { .. }
        | Command::Check { .. }
        | Command::Comment(_)
        | Command::Prefetch { .. }
        | Command::OnHost { .. } => true,
        Command::Break | Command::Continue => in_loop,
        Command::If {
            then, otherwise, ..
        } => deep(|| stays(then, in_loop) && stays(otherwise, in_loop)),
        Command::Loop { body, .. } => deep(|| stays(body, true)),
        Command::For {
            level: Level::Sequential | Level::Unrolled,
            body,
            ..
        } => deep(|| stays(body, true)),
        _others => false,
    })
}

/// Returns the facts that follow from a scan for iterations i < j of a loop over its chunks. They are about
/// the symbols that i has loaded from the tables, and those of j, which `second` gives.
pub(crate) fn facts(
    scan: &Scan,
    loads: &BTreeMap<(Base, Polynomial), Symbol>,
    index: &Polynomial,
    second: &dyn Fn(Symbol) -> Polynomial,
) -> Vec<Fact> {
    let load = |base: Option<Base>| {
        let key = (base?, index.clone());
        loads.get(&key).copied()
    };
    let (begins, counts) = (load(Some(scan.begins)), load(scan.counts));
    let ends = load(scan.ends);
    let mut found = Vec::new();
    let first = |symbol: Symbol| Polynomial::symbol(symbol);
    let mut learn = |sum: Polynomial| found.push(Fact::AtLeastZero(sum));
    for own in [&first as &dyn Fn(Symbol) -> Polynomial, second] {
        if let Some(counts) = counts {
            learn(own(counts));
        }
        if let (Some(begins), Some(ends)) = (begins, ends) {
            learn(own(ends).minus(&own(begins)));
        }
    }
    if let Some(begins) = begins {
        learn(second(begins).minus(&first(begins)));
        if let Some(ends) = ends {
            learn(second(begins).minus(&first(ends)));
        }
        if let Some(counts) = counts {
            learn(second(begins).minus(&first(begins)).minus(&first(counts)));
        }
        // Chunk j begins where chunk i + 1 does, or after it.
        let next = (scan.begins, index.plus_number(1));
        if let Some(next) = loads.get(&next) {
            learn(second(begins).minus(&first(*next)));
        }
    }
    found
}
