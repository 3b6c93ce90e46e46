//! Fission: a loop with a long chain of dependent operations becomes two loops over strips of its
//! iterations, with what the second half needs of the first in local arrays. Iterations of a whole
//! chain are so long that a processor sees little of the next one before it must wait; of half a
//! chain it has several to work on.
//!
//! The cut is where the longer half is shortest, values kept in local arrays counting too; elements
//! and what costs next to nothing are read and computed again.

use super::cost::{latency, work_of};
use super::{Map, Strips, at_most};
use crate::copies;
use crate::ir::{Command, Expression, Type, Variable};
use crate::walk;
use nova_core::ScalarOperation;
use std::collections::BTreeMap;

/// Iterations of a strip.
const STRIP: u32 = 128;
/// Loops with less work than this, or shorter chains in cycles, do not wait.
const LEAST_WORK: u32 = 60;
const LEAST_LATENCY: u32 = 100;
/// The longer half of the chain is at most this part of the whole one.
const MOST_PERCENT: u32 = 75;
/// What is kept between the halves: at most so many values, each as bad as so many cycles.
const MOST_KEPT: usize = 6;
const KEPT_COST: u32 = 4;

/// How a body is cut.
struct Cut {
    /// How many commands the first half has.
    first: usize,
    /// The values that are kept.
    kept: Vec<Variable>,
    /// Which commands of the first half are done again.
    again: Vec<usize>,
}

impl Strips<'_> {
    /// The commands that do what a loop does, in two loops over each strip.
    pub(super) fn fission(&mut self, map: &Map) -> Option<Vec<Command>> {
        if work_of(map) < LEAST_WORK {
            return None;
        }
        let cut = self.cut(map)?;
        let mut made = Vec::new();
        let count = self.simple("count", map.count.clone(), &mut made);
        let width = Expression::index(i64::from(STRIP));
        let strips = count.clone().plus(Expression::index(i64::from(STRIP) - 1));
        let strips = strips.compare(ScalarOperation::Divide, width.clone());
        let (strip, begin) = (self.add_index("strip"), self.add_index("begin"));
        let first = Expression::Variable(strip).times(width.clone());
        let mut body = vec![Command::declare(begin, first)];
        let left = count.minus(Expression::Variable(begin));
        let length = self.simple("length", at_most(left, width), &mut body);
        let halves = self.halves(map, &cut, begin, length, &mut body);
        body.extend(halves);
        made.push(map.counted(strip, strips, body));
        Some(made)
    }

    /// The two loops over a strip; declares what is kept between them.
    fn halves(
        &mut self,
        map: &Map,
        cut: &Cut,
        begin: Variable,
        length: Expression,
        made: &mut Vec<Command>,
    ) -> [Command; 2] {
        let (at_first, at_second) = (self.add_index("k"), self.add_index("k"));
        let mut first = map.body[..cut.first].to_vec();
        let mut second = Vec::new();
        let index = copies::copy_of(self.program, map.index);
        let mut renamed = BTreeMap::from([(map.index, index)]);
        for variable in &cut.kept {
            let Type::Scalar(element) = self.program.variable(*variable).ty else {
                continue;
            };
            let name = self.program.variable(*variable).name.clone();
            let pointer = self.program.add_variable(name, Type::Pointer(element));
            made.push(Command::Local {
                pointer,
                count: STRIP,
            });
            first.push(Command::Store {
                pointer,
                index: Expression::Variable(at_first),
                value: Expression::Variable(*variable),
            });
            let again = copies::copy_of(self.program, *variable);
            renamed.insert(*variable, again);
            let value = Expression::load(pointer, Expression::Variable(at_second));
            second.push(Command::declare(again, value));
        }
        for at in &cut.again {
            if let Command::Declare { variable, value } = &map.body[*at] {
                let again = copies::copy_of(self.program, *variable);
                renamed.insert(*variable, again);
                second.push(Command::Declare {
                    variable: again,
                    value: value.clone(),
                });
            }
        }
        second.extend_from_slice(&map.body[cut.first..]);
        for command in &mut second {
            walk::reads_mut(command, &mut |e| e.rename(&renamed));
        }
        [
            map.over_strip((map.index, begin), at_first, length.clone(), first),
            map.over_strip((index, begin), at_second, length, second),
        ]
    }

    /// The best cut, if the chain is long and one makes it much shorter.
    fn cut(&self, map: &Map) -> Option<Cut> {
        let whole = latency(map.body);
        if whole < LEAST_LATENCY {
            return None;
        }
        let mut best: Option<(u32, Cut)> = None;
        for first in 1..map.body.len() {
            let Some(cut) = self.cut_at(map, first) else {
                continue;
            };
            let longer = latency(&map.body[..first]).max(latency(&map.body[first..]));
            let price = longer + KEPT_COST * cut.kept.len() as u32;
            let good = price * 100 <= whole * MOST_PERCENT;
            if good && best.as_ref().is_none_or(|(least, _)| price < *least) {
                best = Some((price, cut));
            }
        }
        best.map(|(_, cut)| cut)
    }

    /// What a cut behind so many commands keeps.
    fn cut_at(&self, map: &Map, first: usize) -> Option<Cut> {
        let mut needed = walk::read_variables(&map.body[first..]);
        let (mut kept, mut again) = (Vec::new(), Vec::new());
        for (at, command) in map.body[..first].iter().enumerate().rev() {
            let Command::Declare {
                variable,
                value: Some(value),
            } = command
            else {
                continue;
            };
            if !needed.contains(variable) {
                continue;
            }
            if self.is_cheap(map, value) {
                again.push(at);
                value.each_variable(&mut |v| {
                    needed.insert(v);
                });
            } else {
                kept.push(*variable);
            }
        }
        again.reverse();
        kept.reverse();
        (kept.len() <= MOST_KEPT).then_some(Cut { first, kept, again })
    }
}
