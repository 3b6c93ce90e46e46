//! The alias analysis that passes and emitters share. [`PointsTo`] says which arrays a pointer may lead to.
//! [`Holders`] says which variables hold one array in a whole function, and who else may know it.
//!
//! An array has the name of a pointer: of the pointer to which a command of the analysed code gives it,
//! or of the pointer that comes from outside of this code. The checker of races does not use this module.

use crate::ir::{Command, Destination, Expression, Function, TableCommand, Use, Variable};
use crate::uses::uses;
use crate::walk::{each_assigned, each_command, names};
use std::collections::{BTreeMap, BTreeSet};

/// The command that gives an array to a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// `Allocate`; of an array that goes to the caller, with its destination.
    Allocated(Option<Destination>),
    /// `Local`: memory of the thread.
    Local,
    /// `Shared`: memory of the work-group.
    Shared,
}

/// Returns what gives a new array to a pointer, if the command does.
fn made(command: &Command) -> Option<(Variable, Made)> {
    match command {
        Command::Allocate {
            pointer,
            destination,
            ..
        } => Some((*pointer, Made::Allocated(*destination))),
        Command::Local { pointer, .. } => Some((*pointer, Made::Local)),
        Command::Shared { pointer, .. } => Some((*pointer, Made::Shared)),
        _others => None,
    }
}

/// The arrays that each pointer of some commands may lead to.
#[derive(Clone, Debug, Default)]
pub struct PointsTo {
    /// By pointer that the commands declare or assign. All other pointers lead to the array of their name.
    arrays: BTreeMap<Variable, BTreeSet<Variable>>,
    /// The arrays that the commands make, with all ways in which they make them.
    made: BTreeMap<Variable, Vec<Made>>,
    /// Pointers that may lead to memory that is no array here: constants, arrays of nodes, results of
    /// foreign functions, buffers, and null.
    elsewhere: BTreeSet<Variable>,
}

impl PointsTo {
    /// Analyses commands, with the lists inside them. `is_pointer` tells which variables are pointers.
    pub fn of(is_pointer: &dyn Fn(Variable) -> bool, commands: &[Command]) -> PointsTo {
        let mut found = PointsTo::default();
        let mut assignments = Vec::new();
        each_command(commands, |command| {
            found.begin(command, is_pointer);
            match command {
                Command::Declare {
                    variable,
                    value: Some(value),
                }
                | Command::Assign { variable, value }
                | Command::Spare {
                    pointer: variable,
                    places: value,
                    ..
                } if is_pointer(*variable) => assignments.push((*variable, value)),
                // A function may return a pointer that it was given.
                Command::Call {
                    arguments, results, ..
                } => {
                    for result in results.iter().filter(|result| is_pointer(**result)) {
                        assignments.extend(arguments.iter().map(|given| (*result, given)));
                    }
                }
                _others => {}
            }
        });
        found.outside(commands, is_pointer);
        // Until a fixed point is reached, since pointers may be assigned in loops.
        while found.grow(&assignments) {}
        found
    }

    /// Notes the pointers that a command declares, and the array that it makes.
    fn begin(&mut self, command: &Command, is_pointer: &dyn Fn(Variable) -> bool) {
        names(command, &mut |variable, role| {
            if role.is_none() && is_pointer(variable) {
                self.arrays.entry(variable).or_default();
            }
        });
        if let Some((pointer, made)) = made(command) {
            self.arrays.entry(pointer).or_default().insert(pointer);
            self.made.entry(pointer).or_default().push(made);
        }
        match command {
            // The pointer leads to the array that it had, or to a new one.
            Command::Reserve { pointer, .. } | Command::Unique { pointer, .. } => {
                self.arrays.entry(*pointer).or_default().insert(*pointer);
            }
            Command::Buffer { pointer, .. } => {
                self.elsewhere.insert(*pointer);
            }
            Command::NodePayload { results, .. }
            | Command::Foreign { results, .. }
            | Command::Table(TableCommand::Reached { results, .. }) => {
                self.elsewhere
                    .extend(results.iter().copied().filter(|v| is_pointer(*v)));
            }
            _others => {}
        }
    }

    /// Adds the arrays of pointers that the commands assign and do not declare: they may keep the
    /// arrays that they have.
    fn outside(&mut self, commands: &[Command], is_pointer: &dyn Fn(Variable) -> bool) {
        let declared: BTreeSet<Variable> = self.arrays.keys().copied().collect();
        each_command(commands, |command| {
            each_assigned(command, &mut |variable| {
                if is_pointer(variable) && !declared.contains(&variable) {
                    self.arrays.insert(variable, BTreeSet::from([variable]));
                }
            });
        });
    }

    /// Adds what the assigned values lead to. Returns false if nothing was new.
    fn grow(&mut self, assignments: &[(Variable, &Expression)]) -> bool {
        let mut grown = false;
        for (variable, value) in assignments {
            let found = self.bases(value);
            let known = self.arrays.entry(*variable).or_default();
            let before = known.len();
            known.extend(found);
            grown |= known.len() > before;
            if self.leads_elsewhere(value) {
                grown |= self.elsewhere.insert(*variable);
            }
        }
        grown
    }

    /// Returns the arrays that an address may lie in.
    pub fn bases(&self, address: &Expression) -> BTreeSet<Variable> {
        let mut found = BTreeSet::new();
        for pointer in address.pointers() {
            match self.arrays.get(&pointer) {
                Some(arrays) => found.extend(arrays),
                None => {
                    found.insert(pointer);
                }
            }
        }
        found
    }

    /// True if an address may lie in memory that is no array of the program.
    fn leads_elsewhere(&self, address: &Expression) -> bool {
        let mut found = false;
        address.each_base(&mut |base| {
            found |= match base {
                Expression::Variable(pointer) => self.elsewhere.contains(pointer),
                _others => true,
            };
        });
        found
    }

    /// True if a pointer may lead to memory that is no array here: a constant, nodes, the result of a foreign
    /// function, a buffer, or null.
    pub fn may_be_elsewhere(&self, pointer: Variable) -> bool {
        self.elsewhere.contains(&pointer)
    }

    /// True if the commands may make an array in this way.
    pub fn may_be(&self, made: Made, array: Variable) -> bool {
        let ways = self.made.get(&array);
        ways.is_some_and(|ways| ways.contains(&made))
    }

    /// True if the commands make an array in this way only.
    fn is(&self, made: Made, array: Variable) -> bool {
        let ways = self.made.get(&array);
        ways.is_some_and(|ways| ways.iter().all(|way| *way == made))
    }

    /// Returns the pointers of these commands that lead to arrays made in this way. Returns `None` if one
    /// of them may lead to other memory too, or if such an address is given to a function.
    pub fn only_to(&self, wanted: Made, commands: &[Command]) -> Option<BTreeSet<Variable>> {
        let is_wanted = |array: &Variable| self.may_be(wanted, *array);
        let is_nothing_else = |array: &Variable| self.is(wanted, *array);
        let mut found = BTreeSet::new();
        for (pointer, arrays) in &self.arrays {
            if arrays.iter().any(is_wanted) {
                if !arrays.iter().all(is_nothing_else) || self.elsewhere.contains(pointer) {
                    return None;
                }
                found.insert(*pointer);
            }
        }
        let mut passed = false;
        each_command(commands, |command| {
            if let Command::Call { arguments, .. } = command {
                let mut addresses = arguments.iter();
                passed |= addresses.any(|address| self.bases(address).iter().any(is_wanted));
            }
        });
        (!passed).then_some(found)
    }
}

/// The assignments of a function to its variables, and the uses of its pointers and handles.
#[derive(Clone, Debug, Default)]
pub struct Holders {
    /// The number of values that each variable gets, parameters apart.
    assigned: BTreeMap<Variable, u32>,
    /// The pointers and handles to which commands give new arrays.
    made: BTreeMap<Variable, Made>,
    /// Variables whose value is used for more than reading and writing elements, releasing them, or
    /// being a result.
    taken: BTreeSet<Variable>,
    /// Variables that are assigned to results. The caller looks at these when the function has ended.
    returned: BTreeSet<Variable>,
    /// Pointers through which elements are read.
    read: BTreeSet<Variable>,
}

impl Holders {
    /// Analyses a function.
    pub fn of(function: &Function) -> Holders {
        let mut holders = Holders::default();
        each_command(&function.body, |command| {
            holders.gets(command);
            match command {
                Command::Assign {
                    variable,
                    value: Expression::Variable(value),
                } if function.results.contains(variable) => {
                    holders.returned.insert(*value);
                }
                Command::Retain(block) => {
                    holders.taken.insert(*block);
                }
                others => uses(others, &mut |variable, used| match used {
                    Use::Written => {}
                    Use::Read => {
                        holders.read.insert(variable);
                    }
                    Use::Value => {
                        holders.taken.insert(variable);
                    }
                }),
            }
        });
        holders
    }

    /// Counts the values that a command gives to variables.
    fn gets(&mut self, command: &Command) {
        if let Command::Declare { value: None, .. } = command {
            return;
        }
        each_assigned(command, &mut |variable| {
            *self.assigned.entry(variable).or_default() += 1;
        });
        if let Some((pointer, made)) = made(command) {
            self.made.insert(pointer, made);
        }
        if let Command::Allocate {
            block, destination, ..
        } = command
        {
            self.made.insert(*block, Made::Allocated(*destination));
        }
    }

    /// Returns how often a variable gets a value, apart from what a parameter has at the beginning.
    pub fn times_assigned(&self, variable: Variable) -> u32 {
        self.assigned.get(&variable).copied().unwrap_or(0)
    }

    /// Returns how a pointer or handle gets its array, if a single command gives it a value.
    pub fn made_once(&self, variable: Variable) -> Option<Made> {
        let made = self.made.get(&variable).copied();
        made.filter(|_| self.times_assigned(variable) == 1)
    }

    /// Returns the pointers and handles that get an array from a single command, and no other value.
    pub fn all_made_once(&self) -> impl Iterator<Item = Variable> + '_ {
        let all = self.made.keys().copied();
        all.filter(|variable| self.times_assigned(*variable) == 1)
    }

    /// True if the value of a variable is used for more than accesses and results.
    pub fn is_taken(&self, variable: Variable) -> bool {
        self.taken.contains(&variable)
    }

    /// True if a variable is assigned to a result.
    pub fn is_returned(&self, variable: Variable) -> bool {
        self.returned.contains(&variable)
    }

    /// True if elements are read through a pointer.
    pub fn is_read(&self, pointer: Variable) -> bool {
        self.read.contains(&pointer)
    }
}
