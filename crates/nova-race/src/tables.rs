//! Tables of offsets that sequential loops have written ([`crate::scans`]), and the numbers that were stored
//! in new blocks.

use crate::bases::Bases;
use crate::blocks::RootSet;
use crate::loop_nest::ParallelLoop;
use crate::symbolic::{Base, Context, Fact, Polynomial, Spot, Symbol};
use nova_loop::ir::{Command, Variable};
use nova_loop::uses::written;
use nova_loop::walk::each_command;
use std::collections::BTreeMap;

/// The largest number of blocks whose stored numbers are recorded.
const MOST_BLOCKS: usize = 16_384;

/// A scan by a loop that wrote the starts of chunks.
#[derive(Clone, Debug)]
pub(crate) struct Scan {
    pub(crate) id: usize,
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
pub(crate) struct Stored {
    pub(crate) value: Polynomial,
    pub(crate) context: Context,
    /// The facts that hold once the iteration that stored it has ended.
    pub(crate) late: Vec<Fact>,
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
    /// Records a scan, which is known from here on.
    pub(crate) fn learn(&mut self, mut scan: Scan) {
        scan.id = self.next;
        self.next += 1;
        self.scans.push(scan);
    }

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
    pub(crate) fn enter_loop(&mut self, bases: &Bases, body: &[Command]) {
        if self.scans.is_empty() {
            return;
        }
        let mut roots = RootSet::new();
        each_command(body, |command| {
            for place in written(command) {
                roots.extend(bases.blocks.of_place(&place));
            }
        });
        self.overwrite(bases, &roots, None);
    }

    fn overwrite(&mut self, bases: &Bases, roots: &RootSet, at: Option<Base>) {
        self.scans.retain(|scan| {
            let tables = [Some(scan.begins), scan.counts, scan.ends];
            !tables
                .into_iter()
                .flatten()
                .any(|table| at == Some(table) || bases.blocks.meet(&bases[table].roots, roots))
        });
    }

    /// Records that elements have been written: one with this value, or elements with unknown values.
    pub(crate) fn written(
        &mut self,
        bases: &Bases,
        spots: &[Spot],
        value: Option<(Polynomial, Context)>,
    ) {
        for spot in spots {
            let info = &bases[spot.base];
            self.overwrite(bases, &info.roots, Some(spot.base));
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
    pub(crate) fn stores(&self, bases: &Bases, base: Base) -> Option<&[Stored]> {
        if bases.blocks.meet(&bases[base].roots, &self.elsewhere) {
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
    let first = |symbol: Symbol| Polynomial::variable(symbol);
    let mut learn = |sum: Option<Polynomial>| found.extend(sum.map(Fact::AtLeastZero));
    for own in [&first as &dyn Fn(Symbol) -> Polynomial, second] {
        if let Some(counts) = counts {
            learn(Some(own(counts)));
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
            let rise = second(begins).minus(&first(begins));
            learn(rise.and_then(|rise| rise.minus(&first(counts))));
        }
        // Chunk j begins where chunk i + 1 does, or after it.
        let next = index.plus_number(1).map(|next| (scan.begins, next));
        if let Some(next) = next.and_then(|next| loads.get(&next)) {
            learn(second(begins).minus(&first(*next)));
        }
    }
    found
}
