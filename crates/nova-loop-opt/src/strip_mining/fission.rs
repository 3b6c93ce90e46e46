//! Fission: a loop with a long chain of dependent operations becomes two loops over strips of its
//! iterations. What the second half needs of the first is stored in local arrays (scalar
//! expansion). Iterations of a whole chain are so long that a processor sees little of the next one
//! before it must wait. Of half a chain it has several iterations to work on.
//!
//! The loop is split where the longer half is shortest, where values in local arrays count too.
//! Elements, and what costs next to nothing, are read and computed again.

use super::{Map, Strips, at_most};
use nova_core::{Scalar, ScalarOperation};
use nova_loop::copies;
use nova_loop::cost::latency;
use nova_loop::ir::{Command, Expression, Level, Type, Variable};
use nova_loop::walk;
use nova_machine::{PROCESSOR, figures};
use nova_plan::Choice;
use std::collections::BTreeMap;

/// Iterations of a strip.
const STRIP: u32 = figures::STRIPS.split;
/// The greatest cost of a split, as a percentage of the longest chain of the whole loop.
const WORTH_PERCENT: u32 = figures::STRIPS.worth_percent;
/// The greatest number of values that are stored between the halves.
const EXPANDED_VALUES: usize = figures::STRIPS.expanded_values;

/// A place where a body is split.
pub(super) struct Split {
    /// The number of commands in the first half.
    first: usize,
    /// The values that are stored in local arrays.
    pub(super) expanded: Vec<Variable>,
    /// The commands of the first half that the second half repeats, by position.
    pub(super) again: Vec<usize>,
}

impl Strips<'_> {
    /// Returns the commands that replace a loop: two loops over each strip.
    pub(super) fn fission(&mut self, map: &Map) -> Option<Vec<Command>> {
        if map.work() < PROCESSOR.overlapped_work {
            return None;
        }
        let split = self.split(map)?;
        let is_wanted = self.program.plan.allows(map.place, Choice::Fission);
        is_wanted.then(|| self.in_strips(map, &split, Level::Sequential, None))
    }

    /// Returns the commands that replace a loop by two loops over each strip, of which the first one has this
    /// level. The second one runs its last iteration alone in strips where all `flags` are 0, if there are some.
    pub(super) fn in_strips(
        &mut self,
        map: &Map,
        split: &Split,
        level: Level,
        flags: Option<&[Variable]>,
    ) -> Vec<Command> {
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
        let (halves, arrays) = self.halves(map, split, begin, length, &mut body);
        let [mut first, mut second] = halves;
        if let Command::For { level: first, .. } = &mut first {
            *first = level;
        }
        body.push(first);
        let array_of = |flag: &Variable| {
            let is_index =
                |array: &&Variable| self.program.variable(**array).ty == Type::Pointer(Scalar::I64);
            arrays.get(flag).filter(is_index).copied()
        };
        let arrays: Option<Vec<_>> = flags.and_then(|flags| flags.iter().map(array_of).collect());
        if let Some(arrays) = arrays {
            self.skip(map, &arrays, &mut second, &mut body);
        }
        body.push(second);
        made.push(map.counted(strip, strips, body));
        made
    }

    /// Lets a loop over a strip run its last iteration alone where all elements of some arrays are 0.
    fn skip(
        &mut self,
        map: &Map,
        arrays: &[Variable],
        command: &mut Command,
        made: &mut Vec<Command>,
    ) {
        let Command::For {
            variable,
            count,
            body,
            ..
        } = command
        else {
            return;
        };
        let [has_some, position, skipped] = ["any", "k", "first"].map(|name| self.add_index(name));
        let [any, k, first] = [has_some, position, skipped].map(Expression::Variable);
        made.push(Command::declare(has_some, Expression::index(0)));
        let found = arrays.iter().fold(any.clone(), |found, array| {
            let flag = Expression::load(*array, k.clone());
            found.compare(ScalarOperation::BitOr, flag)
        });
        let look = vec![Command::Assign {
            variable: has_some,
            value: found,
        }];
        made.push(map.counted(position, count.clone(), look));
        let none = any.compare(ScalarOperation::Equal, Expression::index(0));
        let last = count.clone().minus(Expression::index(1));
        made.push(Command::declare(
            skipped,
            Expression::Select {
                condition: Box::new(none),
                then: Box::new(last),
                otherwise: Box::new(Expression::index(0)),
            },
        ));
        let own = self.add_index("k");
        let at = first.clone().plus(Expression::Variable(own));
        body.insert(0, Command::declare(*variable, at));
        *variable = own;
        *count = count.clone().minus(first);
    }

    /// Returns the two loops over a strip, and the local arrays of the variables between them, which it declares.
    fn halves(
        &mut self,
        map: &Map,
        split: &Split,
        begin: Variable,
        length: Expression,
        made: &mut Vec<Command>,
    ) -> ([Command; 2], BTreeMap<Variable, Variable>) {
        let (at_first, at_second) = (self.add_index("k"), self.add_index("k"));
        let mut first = map.body[..split.first].to_vec();
        let mut second = Vec::new();
        let index = copies::copy_of(self.program, map.index);
        let mut renamed = BTreeMap::from([(map.index, index)]);
        let mut arrays = BTreeMap::new();
        for variable in &split.expanded {
            let Type::Scalar(element) = self.program.variable(*variable).ty else {
                continue;
            };
            let name = self.program.variable(*variable).name.clone();
            let pointer = self.program.add_variable(name, Type::Pointer(element));
            arrays.insert(*variable, pointer);
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
        for at in &split.again {
            if let Command::Declare { variable, value } = &map.body[*at] {
                let again = copies::copy_of(self.program, *variable);
                renamed.insert(*variable, again);
                second.push(Command::Declare {
                    variable: again,
                    value: value.clone(),
                });
            }
        }
        second.extend_from_slice(&map.body[split.first..]);
        for command in &mut second {
            walk::reads_mut(command, &mut |e| e.rename(&renamed));
        }
        let first = map.over_strip((map.index, begin), at_first, length.clone(), first);
        let second = map.over_strip((index, begin), at_second, length, second);
        ([first, second], arrays)
    }

    /// Returns the best split, if the chain is long and the split makes it much shorter.
    fn split(&self, map: &Map) -> Option<Split> {
        let whole = latency(map.body);
        if whole < PROCESSOR.hidden_latency {
            return None;
        }
        let mut best: Option<(u32, Split)> = None;
        for first in 1..map.body.len() {
            let Some(split) = self.split_at(map, first) else {
                continue;
            };
            let longer = latency(&map.body[..first]).max(latency(&map.body[first..]));
            let price = longer + PROCESSOR.store_and_load * split.expanded.len() as u32;
            let good = price * 100 <= whole * WORTH_PERCENT;
            if good && best.as_ref().is_none_or(|(least, _)| price < *least) {
                best = Some((price, split));
            }
        }
        best.map(|(_, split)| split)
    }

    /// Returns the split after so many commands, if few enough values must be stored.
    pub(super) fn split_at(&self, map: &Map, first: usize) -> Option<Split> {
        let mut needed = walk::read_variables(&map.body[first..]);
        let (mut expanded, mut again) = (Vec::new(), Vec::new());
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
                expanded.push(*variable);
            }
        }
        again.reverse();
        expanded.reverse();
        (expanded.len() <= EXPANDED_VALUES).then_some(Split {
            first,
            expanded,
            again,
        })
    }
}
