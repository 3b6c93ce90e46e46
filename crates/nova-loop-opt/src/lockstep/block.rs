//! A block of iterations in lockstep: the commands of a loop's body, each for all lanes before the next one.

use super::scalars::settle;
use super::varying::{INDEX, differs, ending, has_checks, may_part, reads};
use crate::limits::BYTES_OF_LANES;
use crate::masks::{MASK, flag, number, on_masks};
use crate::strip_mining::non_temporal::when;
use nova_core::{Scalar, ScalarOperation};
use nova_diag::{Place, deep};
use nova_loop::ir::{Command, Expression, Level, Program, Type, Variable};
use nova_loop::walk;
use nova_plan::Choice;
use std::collections::{BTreeMap, BTreeSet};

/// A block under construction.
pub(super) struct Block<'p> {
    pub(super) program: &'p mut Program,
    /// The number of lanes.
    pub(super) width: i64,
    /// The variables that may differ between lanes.
    pub(super) varying: BTreeSet<Variable>,
    /// The pointers to arrays that are private to a lane.
    pub(super) private: BTreeSet<Variable>,
    /// The index of the loop, and the index of the first lane.
    index: Variable,
    pub(super) base: Variable,
    pub(super) place: &'p Place,
    /// Sums and products of the index and of what never changes, which each loop over lanes computes anew, so
    /// that addresses are plain.
    pub(super) computed: BTreeMap<Variable, Expression>,
    /// The variables that are assigned after their declaration.
    pub(super) assigned: BTreeSet<Variable>,
    /// The local array of each variable that differs between lanes, and those of the masks.
    pub(super) arrays: BTreeMap<Variable, Variable>,
    pub(super) locals: Vec<Variable>,
    /// The number of masks at the declaration of each array that stands for a variable.
    pub(super) depths: BTreeMap<Variable, usize>,
    /// The masks of the commands that are written, the outermost first. The first one is that of the lanes
    /// in which no check has failed, if one may.
    pub(super) masks: Vec<Variable>,
    /// True if at least one lane runs the next command.
    pub(super) occupied: bool,
    /// True if some check may fail in some lanes and not in others.
    guards: bool,
    /// True if such a check may have failed already.
    checked: bool,
    /// The variables of the body that are the same in all lanes.
    pub(super) same: BTreeSet<Variable>,
    /// The commands of the loop over lanes that is not yet written, and its index.
    group: Vec<Command>,
    pub(super) lane: Variable,
    /// The indices of the loops over lanes.
    pub(super) lanes: BTreeSet<Variable>,
    /// The commands of the current list.
    pub(super) made: Vec<Command>,
}

impl<'p> Block<'p> {
    /// Returns the commands of a block of the loop with this `index`, whose first lane has index `base`. Where
    /// a check fails in one of the lanes, `first` becomes at most `base`. Returns none if the body has commands
    /// that cannot be taken in lockstep.
    pub(super) fn of(
        program: &'p mut Program,
        width: i64,
        [index, base, first]: [Variable; 3],
        (varying, private): (BTreeSet<Variable>, BTreeSet<Variable>),
        body: &[Command],
        place: &'p Place,
    ) -> Option<Vec<Command>> {
        let lane = program.add_variable("lane", INDEX);
        let mut block = Block {
            program,
            width,
            varying,
            private,
            index,
            base,
            place,
            computed: BTreeMap::new(),
            assigned: assigned(body),
            arrays: BTreeMap::new(),
            locals: Vec::new(),
            depths: BTreeMap::new(),
            masks: Vec::new(),
            guards: false,
            occupied: false,
            checked: false,
            same: BTreeSet::new(),
            group: Vec::new(),
            lane,
            lanes: BTreeSet::new(),
            made: Vec::new(),
        };
        block.guards = block.may_part(body);
        if block.guards {
            let passed = block.array("passed", MASK);
            block.set(passed, number(1));
            block.masks.push(passed);
        }
        block.list(body)?;
        block.end(first);
        let mut commands = std::mem::take(&mut block.made);
        let count = u32::try_from(width).ok()?;
        let left = settle(block.program, &mut commands, &block.lanes, block.locals);
        let bytes = |array: &Variable| match block.program.variable(*array).ty {
            Type::Pointer(scalar) => i64::from(scalar.bits() / 8) * width,
            Type::Scalar(_) | Type::Block => 0,
        };
        if left.iter().map(bytes).sum::<i64>() > BYTES_OF_LANES {
            return None;
        }
        let locals = left.into_iter();
        let mut made: Vec<Command> = locals
            .map(|pointer| Command::Local { pointer, count })
            .collect();
        made.extend(commands);
        Some(made)
    }

    /// Adds commands.
    pub(super) fn list(&mut self, commands: &[Command]) -> Option<()> {
        (0..commands.len()).try_for_each(|at| deep(|| self.command_at(commands, at)))
    }

    /// Adds the command at a position of a list.
    pub(super) fn command_at(&mut self, commands: &[Command], at: usize) -> Option<()> {
        match &commands[at] {
            Command::Loop { body, place } => {
                let ending = ending(commands, at);
                let before = commands.get(..at).unwrap_or_default();
                let lanes = |b: &mut Self, before: &[Command]| {
                    b.occupied(body, |b| b.endless(before, body, place, &ending))
                };
                let agreement = self.agreement(before, body);
                let plan = &self.program.plan;
                let agreement = agreement.filter(|_| plan.allows(place, Choice::Agreement));
                let Some(agreement) = agreement else {
                    return lanes(self, before);
                };
                let parted = self.while_lanes_agree(agreement, body, place)?;
                // The states have changed since the commands before the loop.
                let then = self.inner(|block| lanes(block, &[]))?;
                self.made.push(when(parted, then));
                Some(())
            }
            command => self.command(command),
        }
    }

    /// Adds commands that only the lanes of a mask run.
    pub(super) fn masked(&mut self, commands: &[Command], mask: Variable) -> Option<()> {
        let occupied = std::mem::replace(&mut self.occupied, false);
        self.masks.push(mask);
        let done = self.list(commands);
        self.masks.pop();
        self.occupied = occupied;
        done
    }

    /// Adds a loop with this body, which is left out if no lane runs it.
    fn occupied(
        &mut self,
        body: &[Command],
        write: impl FnOnce(&mut Self) -> Option<()>,
    ) -> Option<()> {
        self.checked |= self.may_part(body);
        let none = match self.mask() {
            Some(mask) if !self.occupied => self.end_group_with_any(mask),
            _ => return write(self),
        };
        self.occupied = !has_checks(body);
        let then = self.inner(write);
        self.occupied = false;
        self.made.push(when(none.negated(), then?));
        Some(())
    }

    /// Returns the mask of the next command, or none if all lanes run it.
    pub(super) fn mask(&self) -> Option<Variable> {
        match self.masks[..] {
            [passed] if self.guards => self.checked.then_some(passed),
            _ => self.masks.last().copied(),
        }
    }

    fn command(&mut self, command: &Command) -> Option<()> {
        match command {
            Command::Comment(_) | Command::Prefetch { .. } => Some(()),
            Command::Allocate { .. } | Command::Local { .. } | Command::Release(_) => {
                self.room(command)
            }
            Command::Declare { variable, value } => self.declare(*variable, value.as_ref()),
            Command::Assign { variable, value } => {
                let Some(array) = self.arrays.get(variable).copied() else {
                    // Commands before it read the old value. A state of the whole loop is not taken in lockstep.
                    self.end_group();
                    self.made.push(command.clone());
                    return self.same.contains(variable).then_some(());
                };
                let scalar = self.scalar(*variable)?;
                let value = self.gathered(value)?;
                let value = self.own(&value);
                self.assign(array, value, scalar);
                Some(())
            }
            Command::Store {
                pointer,
                index,
                value,
            } => {
                let (index, value) = (self.gathered(index)?, self.gathered(value)?);
                self.store(*pointer, &index, &value);
                Some(())
            }
            Command::Check { .. } | Command::Fail { .. }
                if self.mask().is_none() && !self.differs(command) =>
            {
                self.made.push(command.clone());
                Some(())
            }
            Command::Check { condition, .. } => self.check(condition),
            Command::Fail { .. } => self.check(&Expression::bool(false)),
            Command::If {
                condition,
                then,
                otherwise,
            } => match reads(&self.varying, condition) {
                true => self.parted(condition, then, otherwise),
                false => self.conditional(condition, then, otherwise),
            },
            Command::For {
                variable,
                count,
                level: level @ (Level::Sequential | Level::Unrolled),
                body,
                place,
            } => {
                if reads(&self.varying, count) {
                    return None;
                }
                self.is_safe(count)?;
                self.occupied(body, |block| {
                    let body = block.inner(|block| block.list(body))?;
                    if let Some(rows) = block.gathered_rows(*variable, count, &body) {
                        block.made.push(rows);
                        return Some(());
                    }
                    if let Some(tiles) = block.tiled(*variable, count, &body, place) {
                        block.made.extend(tiles);
                        return Some(());
                    }
                    block.made.push(Command::For {
                        variable: *variable,
                        count: count.clone(),
                        level: *level,
                        body,
                        place: place.clone(),
                    });
                    Some(())
                })
            }
            _others => None,
        }
    }

    /// Adds a store of each lane.
    fn store(&mut self, pointer: Variable, index: &Expression, value: &Expression) {
        let store = Command::Store {
            pointer,
            index: self.place_of(pointer, self.own(index)),
            value: self.own(value),
        };
        let guarded = match self.mask() {
            None => store,
            Some(mask) => when(self.is_in(mask), vec![store]),
        };
        self.group.push(guarded);
    }

    /// Adds a check that may fail in some lanes. These do nothing more.
    fn check(&mut self, condition: &Expression) -> Option<()> {
        if !self.guards {
            return None;
        }
        let condition = self.gathered(condition)?;
        let holds = flag(self.own(&condition));
        let holds = self.under_mask(holds, number(1), MASK);
        let array = self.array("holds", MASK);
        self.set(array, holds);
        for mask in self.masks.clone() {
            let both = on_masks(ScalarOperation::BitAnd, self.at(mask), self.at(array));
            self.set(mask, both);
        }
        self.checked = true;
        Some(())
    }

    /// Writes the loop over lanes that was collected. Returns the condition that a mask has no lanes after it.
    pub(super) fn end_group_with_any(&mut self, mask: Variable) -> Expression {
        let any = self.program.add_variable("any", Type::Scalar(MASK));
        self.made.push(Command::declare(any, number(0)));
        let value = on_masks(
            ScalarOperation::BitOr,
            Expression::Variable(any),
            self.at(mask),
        );
        self.group.push(Command::Assign {
            variable: any,
            value,
        });
        self.end_group();
        on_masks(ScalarOperation::Equal, Expression::Variable(any), number(0))
    }

    /// Ends the block. If a check has failed, `first` becomes at most the index of the first lane.
    fn end(&mut self, first: Variable) {
        let Some(passed) = self.masks.first().copied().filter(|_| self.checked) else {
            return self.end_group();
        };
        let failed = self.array("failed", MASK);
        self.set(failed, flag(self.is_in(passed).negated()));
        let none = self.end_group_with_any(failed);
        let base = Expression::Variable(self.base);
        let least = Expression::Variable(first).compare(ScalarOperation::Minimum, base);
        let lower = Command::Assign {
            variable: first,
            value: least,
        };
        self.made.push(when(none.negated(), vec![lower]));
    }

    /// True if commands have checks that may fail in some lanes and not in others.
    fn may_part(&self, commands: &[Command]) -> bool {
        may_part(&self.varying, commands, false)
    }

    fn differs(&self, command: &Command) -> bool {
        differs(&self.varying, command)
    }

    /// Returns the commands that `write` adds, as a list of their own.
    pub(super) fn inner(
        &mut self,
        write: impl FnOnce(&mut Self) -> Option<()>,
    ) -> Option<Vec<Command>> {
        self.end_group();
        let outer = std::mem::take(&mut self.made);
        write(self)?;
        self.end_group();
        Some(std::mem::replace(&mut self.made, outer))
    }

    /// Writes the loop over lanes that was collected.
    pub(super) fn end_group(&mut self) {
        if self.group.is_empty() {
            return;
        }
        let mut body = std::mem::take(&mut self.group);
        let mut reads_index = false;
        walk::each_command(&body, |command| {
            walk::reads(command, &mut |e| {
                e.each_variable(&mut |v| reads_index |= v == self.index);
            });
        });
        if reads_index {
            let info = self.program.variable(self.index).clone();
            let index = self.program.add_variable(info.name, info.ty);
            let own = Expression::Variable(self.base).plus(Expression::Variable(self.lane));
            rename(&mut body, &BTreeMap::from([(self.index, index)]));
            body.insert(0, Command::declare(index, own));
        }
        let count = Expression::index(self.width);
        // A loop that finds out whether any lane is left has a state.
        let has_state = body.iter().any(|c| matches!(c, Command::Assign { .. }));
        self.made.push(Command::For {
            variable: self.lane,
            count,
            level: if has_state {
                Level::Sequential
            } else {
                Level::Vector
            },
            body,
            place: self.place.clone(),
        });
        self.lanes.insert(self.lane);
        self.lane = self.program.add_variable("lane", INDEX);
    }

    pub(super) fn array(&mut self, name: &str, scalar: Scalar) -> Variable {
        let pointer = self.program.add_variable(name, Type::Pointer(scalar));
        self.locals.push(pointer);
        pointer
    }

    /// Adds a command to the loop over lanes.
    pub(super) fn push(&mut self, command: Command) {
        self.group.push(command);
    }

    pub(super) fn set(&mut self, array: Variable, value: Expression) {
        self.group.push(Command::Store {
            pointer: array,
            index: Expression::Variable(self.lane),
            value,
        });
    }

    /// True if a value is an `i64` that is computed from the index and from what never changes by sums and
    /// products.
    pub(super) fn is_plain(&self, variable: Variable, value: &Expression) -> bool {
        let is_index = self.program.variable(variable).ty == INDEX;
        is_index && !self.assigned.contains(&variable) && self.is_plain_sum(value)
    }

    pub(super) fn is_plain_sum(&self, value: &Expression) -> bool {
        match value {
            Expression::Constant(_) => true,
            Expression::Variable(variable) => {
                let is_known = !self.varying.contains(variable)
                    || *variable == self.index
                    || self.computed.contains_key(variable);
                is_known && !self.assigned.contains(variable)
            }
            Expression::Scalar {
                operation:
                    ScalarOperation::Add | ScalarOperation::Subtract | ScalarOperation::Multiply,
                operand: Scalar::I64,
                arguments,
            } => arguments.iter().all(|e| deep(|| self.is_plain_sum(e))),
            _others => false,
        }
    }

    pub(super) fn scalar(&self, variable: Variable) -> Option<Scalar> {
        match self.program.variable(variable).ty {
            Type::Scalar(scalar) => Some(scalar),
            Type::Pointer(_) | Type::Block => None,
        }
    }
}

/// Returns the variables that are assigned after their declaration.
pub(super) fn assigned(body: &[Command]) -> BTreeSet<Variable> {
    let mut assigned = BTreeSet::new();
    walk::each_command(body, |command| {
        if let Command::Assign { variable, .. } = command {
            assigned.insert(*variable);
        }
    });
    assigned
}

/// Replaces the variables of commands.
fn rename(commands: &mut [Command], variables: &BTreeMap<Variable, Variable>) {
    for command in commands {
        walk::reads_mut(command, &mut |e| e.rename(variables));
        for list in command.lists_mut() {
            rename(list, variables);
        }
    }
}

pub(super) fn break_if(condition: Expression) -> Command {
    when(condition, vec![Command::Break])
}
