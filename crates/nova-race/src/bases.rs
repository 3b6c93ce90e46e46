//! The bases of the pointers of a function, and the blocks to which they belong.

use crate::blocks::{Blocks, Root, RootSet};
use crate::symbolic::{Base, BaseInfo, Polynomial, Spot};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::{Index, IndexMut};

/// The largest number of blocks for which it is recorded that a pointer leads to one of them.
const MOST_BASES: usize = 16;

/// The largest number of places for which it is recorded that a pointer leads to one of them.
const MOST_SPOTS: usize = 4;

/// Makes bases, and answers which of them may be of one block.
pub(crate) struct Bases<'p> {
    pub(crate) blocks: &'p Blocks,
    pub(crate) infos: Vec<BaseInfo>,
    /// The number of loops of any kind around the command.
    pub(crate) depth: usize,
}

impl Index<Base> for Bases<'_> {
    type Output = BaseInfo;

    fn index(&self, base: Base) -> &BaseInfo {
        &self.infos[base.index()]
    }
}

impl IndexMut<Base> for Bases<'_> {
    fn index_mut(&mut self, base: Base) -> &mut BaseInfo {
        &mut self.infos[base.index()]
    }
}

impl Bases<'_> {
    /// Makes a new base; returns its start.
    pub(crate) fn base(&mut self, roots: RootSet, is_new: bool, stride: i64) -> Spot {
        let base = Base(self.infos.len() as u32);
        self.infos.push(BaseInfo {
            roots,
            is_new,
            held: None,
            depth: self.depth,
            one_of: Vec::new(),
            apart: Vec::new(),
            stride,
        });
        let index = Polynomial::default();
        Spot { base, index }
    }

    /// Returns the bases of one block each to which these bases may be equal.
    pub(crate) fn blocks_of(&self, bases: &[Base]) -> BTreeSet<Base> {
        let mut found = BTreeSet::new();
        for base in bases {
            match &self[*base].one_of[..] {
                [] => {
                    found.insert(*base);
                }
                others => found.extend(others),
            }
        }
        found
    }

    /// Returns these places if they are exact and tell more than their blocks; else a place somewhere in one
    /// of the blocks.
    pub(crate) fn one_spot_of(&mut self, spots: Vec<Spot>, exact: bool) -> Vec<Spot> {
        let begins = |spot: &Spot| spot.index == Polynomial::default();
        match exact && spots.len() <= MOST_SPOTS && !spots.iter().all(begins) {
            true => spots,
            false => vec![self.one_base_of(spots.iter().map(|spot| spot.base).collect())],
        }
    }

    /// Makes a place somewhere in one of these blocks.
    pub(crate) fn one_base_of(&mut self, bases: Vec<Base>) -> Spot {
        let found = self.blocks_of(&bases);
        let mut roots = RootSet::new();
        for base in &found {
            roots.extend(&self[*base].roots);
        }
        let spot = self.base(roots, false, 1);
        if found.len() <= MOST_BASES {
            self[spot.base].one_of = found.into_iter().collect();
        }
        spot
    }

    /// True if two bases may be of one block.
    pub(crate) fn meet(&self, left: Base, right: Base) -> bool {
        let either = |base: Base| &self[base].one_of;
        if left == right {
            return true;
        }
        let is_apart = |one: Base, other: Base| self[one].apart.contains(&other);
        if is_apart(left, right) || is_apart(right, left) {
            return false;
        }
        if !either(right).is_empty() {
            return either(right).iter().any(|base| self.meet(left, *base));
        }
        if !either(left).is_empty() {
            return either(left).iter().any(|base| self.meet(*base, right));
        }
        let (early, late) = (left.min(right), left.max(right));
        let info = |base: Base| &self[base];
        let mut roots = Cow::Borrowed(&info(late).roots);
        if info(early).is_new && info(early).held.is_none_or(|held| held > late.index()) {
            roots.to_mut().remove(&Root::Nodes);
        }
        !info(late).is_new && self.blocks.meet(&info(early).roots, &roots)
    }
}
