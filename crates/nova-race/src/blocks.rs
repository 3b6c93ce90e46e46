//! The origins of the blocks that pointers lead to, whatever the order of commands: an allocation in the
//! function, the function's arguments, or nodes. Results of calls have the origins that callers see.

use nova_core::SumId;
use nova_loop::ir::{
    Command, Expression, Function, FunctionId, Level, Program, TableCommand, Type, Variable,
    errors, jumps, memory_commands, remarks, structures, variable_commands,
};
use nova_loop::uses::made;
use nova_loop::walk::each_command;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The origin of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Root {
    /// The command that makes this pointer allocated it; for a call, the pointer is its first result.
    Site(Variable),
    /// It is one of the per-iteration result buffers of the table with this handle.
    Table(Variable),
    /// It was there before the function was called.
    Outside,
    /// A node holds it.
    Nodes,
}

/// The origins of blocks.
pub(crate) type RootSet = BTreeSet<Root>;

/// Facts about the pointers of a program and about its functions.
#[derive(Debug)]
pub(crate) struct Blocks {
    roots: BTreeMap<Variable, RootSet>,
    /// For arrays that are parts of other arrays, the origins of these.
    wholes: BTreeMap<Root, RootSet>,
    /// The functions that use resources of the whole call.
    uses_call: BTreeSet<FunctionId>,
    /// The same, if appending nodes does not count where threads may do it.
    uses_call_on_grid: BTreeSet<FunctionId>,
    /// The origins of the blocks that nodes may hold.
    held: RootSet,
}

impl Blocks {
    /// Computes the least sets of a program that are closed under its assignments and calls.
    pub(crate) fn of(program: &Program) -> Blocks {
        let mut blocks = Blocks {
            roots: BTreeMap::new(),
            wholes: BTreeMap::new(),
            uses_call: BTreeSet::new(),
            uses_call_on_grid: BTreeSet::new(),
            held: RootSet::new(),
        };
        loop {
            let mut changed = false;
            for (k, function) in program.functions.iter().enumerate() {
                changed |= blocks.see_function(program, FunctionId(k as u32), function);
            }
            if !changed {
                return blocks;
            }
        }
    }

    /// Returns the origins of the blocks that a pointer may lead to.
    pub(crate) fn of_variable(&self, pointer: Variable) -> RootSet {
        self.roots.get(&pointer).cloned().unwrap_or_default()
    }

    /// True if a command in an iteration of a loop of this level uses a resource of the whole call.
    /// Resources are memory of the result, standard error, foreign functions with side effects, node
    /// tables that grow, and commands on whole tables. Threads that share a loop at the level of a grid may
    /// append nodes, and reclaim those that they have appended, where the program says so. They may not if
    /// nodes hold arrays: such a node has a reference of its block, which several threads would count.
    pub(crate) fn uses_call(&self, program: &Program, command: &Command, level: Level) -> bool {
        match level {
            Level::Grid => uses_call(program, command, &self.uses_call_on_grid, &|sum| {
                program.nodes_by_threads && !program.nodes_hold_arrays(sum)
            }),
            Level::Sequential
            | Level::Block
            | Level::Thread
            | Level::Vector
            | Level::Independent
            | Level::Unrolled
            | Level::Rank => uses_call(program, command, &self.uses_call, &|_| false),
        }
    }

    /// True if a function may append nodes.
    pub(crate) fn appends(&self, function: FunctionId) -> bool {
        self.uses_call.contains(&function)
    }

    /// Returns the origins of the blocks that a command gives to nodes, if it appends some.
    pub(crate) fn given_to_nodes(&self, command: &Command) -> RootSet {
        let given = match command {
            Command::NodeNew { payload, .. }
            | Command::Table(TableCommand::Store { payload, .. }) => payload,
            Command::Call {
                function,
                arguments,
                ..
            } if self.appends(*function) => arguments,
            _others => return RootSet::new(),
        };
        given
            .iter()
            .flat_map(|place| self.of_place(place))
            .collect()
    }

    /// True if a block with one of the left origins may be a block with one of the right ones.
    pub(crate) fn meet(&self, left: &RootSet, right: &RootSet) -> bool {
        let (left, right) = (&self.with_wholes(left), &self.with_wholes(right));
        let outer =
            |roots: &RootSet| roots.contains(&Root::Outside) || roots.contains(&Root::Nodes);
        let nodes = |one: &RootSet, other: &RootSet| {
            one.contains(&Root::Nodes) && !self.held.is_disjoint(other)
        };
        !left.is_disjoint(right)
            || (outer(left) && outer(right))
            || nodes(left, right)
            || nodes(right, left)
    }

    /// Returns these origins, and for parts of arrays also those of the arrays.
    fn with_wholes<'r>(&self, roots: &'r RootSet) -> Cow<'r, RootSet> {
        let mut left: Vec<Root> = roots.iter().copied().collect();
        left.retain(|root| self.wholes.contains_key(root));
        if left.is_empty() {
            return Cow::Borrowed(roots);
        }
        let mut found = roots.clone();
        while let Some(part) = left.pop() {
            for root in self.wholes.get(&part).into_iter().flatten() {
                if found.insert(*root) {
                    left.push(*root);
                }
            }
        }
        Cow::Owned(found)
    }

    /// Goes through a function once; returns true if anything became known.
    fn see_function(&mut self, program: &Program, id: FunctionId, function: &Function) -> bool {
        let mut changed = false;
        for parameter in &function.parameters {
            if matches!(program.variable(*parameter).ty, Type::Pointer(_)) {
                changed |= self.add(*parameter, [Root::Outside].into());
            }
        }
        each_command(&function.body, |command| {
            changed |= self.see(program, command);
            if self.uses_call(program, command, Level::Sequential) {
                changed |= self.uses_call.insert(id);
            }
            if self.uses_call(program, command, Level::Grid) {
                changed |= self.uses_call_on_grid.insert(id);
            }
        });
        changed
    }

    fn add(&mut self, variable: Variable, roots: RootSet) -> bool {
        let known = self.roots.entry(variable).or_default();
        let before = known.len();
        known.extend(roots);
        known.len() > before
    }

    /// Returns the origins of the blocks that an expression leads to.
    pub(crate) fn of_place(&self, place: &Expression) -> RootSet {
        let pointers = place.pointers().into_iter();
        pointers.flat_map(|v| self.of_variable(v)).collect()
    }

    fn see(&mut self, program: &Program, command: &Command) -> bool {
        match command {
            Command::Declare {
                variable,
                value: Some(value),
            }
            | Command::Spare {
                pointer: variable,
                places: value,
                ..
            } if value.is_part() || matches!(command, Command::Spare { .. }) => {
                let whole = self.of_place(value);
                let root = Root::Site(*variable);
                let known = self.wholes.entry(root).or_default();
                let before = known.len();
                known.extend(whole);
                let grows = known.len() > before;
                self.add(*variable, [root].into()) || grows
            }
            Command::Declare {
                variable,
                value: Some(value),
            }
            | Command::Assign { variable, value } => {
                let roots = self.of_place(value);
                !roots.is_empty() && self.add(*variable, roots)
            }
            Command::Buffer {
                pointer, pieces, ..
            } => self.add(*pointer, [Root::Table(*pieces)].into()),
            Command::NodePayload { results, .. } => {
                let mut changed = false;
                for result in results {
                    changed |= self.add(*result, [Root::Nodes].into());
                }
                changed
            }
            Command::NodeNew { payload, .. }
            | Command::Table(TableCommand::Store { payload, .. }) => self.hold(payload),
            Command::Table(TableCommand::Reached { results, .. }) => {
                let mut changed = false;
                for result in results {
                    changed |= self.add(*result, [Root::Site(*result)].into());
                }
                changed
            }
            Command::Foreign { results, .. } => {
                let mut changed = false;
                for result in results {
                    // The foreign function has allocated them.
                    changed |= self.add(*result, [Root::Site(results[0])].into());
                }
                changed
            }
            Command::Call {
                function,
                arguments,
                results,
            } => self.call(program, *function, arguments, results),
            // All others that assign a pointer assign its handle, too.
            others => {
                let mut changed = false;
                made(others, &mut |pointer| {
                    changed |= self.add(pointer, [Root::Site(pointer)].into());
                });
                changed
            }
        }
    }

    /// Records that nodes hold these arrays from now on; returns true if anything became known.
    fn hold(&mut self, places: &[Expression]) -> bool {
        let before = self.held.len();
        for place in places {
            self.held.extend(self.of_place(place));
        }
        self.held.len() > before
    }

    fn call(
        &mut self,
        program: &Program,
        id: FunctionId,
        arguments: &[Expression],
        results: &[Variable],
    ) -> bool {
        let Some(function) = program.functions.get(id.index()) else {
            return false;
        };
        let mut given = RootSet::new();
        for argument in arguments {
            given.extend(self.of_place(argument));
        }
        let mut changed = false;
        if self.appends(id) {
            changed |= self.hold(arguments);
            // It may have given its results to nodes, too.
            changed |= results
                .first()
                .is_some_and(|r| self.held.insert(Root::Site(*r)));
        }
        for (result, inner) in results.iter().zip(&function.results) {
            let mut roots = RootSet::new();
            for root in self.of_variable(*inner) {
                match root {
                    Root::Site(_) | Root::Table(_) => {
                        roots.insert(Root::Site(results[0]));
                    }
                    Root::Outside => roots.extend(&given),
                    Root::Nodes => {
                        roots.insert(Root::Nodes);
                    }
                }
            }
            changed |= !roots.is_empty() && self.add(*result, roots);
        }
        changed
    }
}

/// True if a command uses a resource of the whole call. `users` are the functions that do, and `may_append`
/// tells whether threads may append to the table of a sum type.
fn uses_call(
    program: &Program,
    command: &Command,
    users: &BTreeSet<FunctionId>,
    may_append: &dyn Fn(SumId) -> bool,
) -> bool {
    match command {
        Command::NodeNew { sum, .. } | Command::Table(TableCommand::Mark { sum, .. }) => {
            !may_append(*sum)
        }
        // A thread reclaims only nodes that it has appended itself.
        Command::Table(TableCommand::Reclaim { sums, .. }) => {
            !sums.iter().all(|sum| may_append(*sum))
        }
        Command::Trace { .. } | Command::Table(_) => true,
        Command::Foreign { foreign, .. } => program.is_ordered(*foreign),
        Command::Allocate {
            destination: Some(_),
            ..
        } => true,
        Command::Call { function, .. } => users.contains(function),
        Command::NodePayload { .. }
        | memory_commands!()
        | variable_commands!()
        | structures!()
        | jumps!()
        | errors!()
        | remarks!() => false,
    }
}

/// Returns these functions and those that call them, directly or not.
pub(crate) fn with_callers(
    program: &Program,
    functions: BTreeSet<FunctionId>,
) -> BTreeSet<FunctionId> {
    let mut callers = vec![Vec::new(); program.functions.len()];
    for (k, function) in program.functions.iter().enumerate() {
        each_command(&function.body, |command| {
            if let Command::Call { function, .. } = command
                && let Some(callers) = callers.get_mut(function.index())
            {
                callers.push(FunctionId(k as u32));
            }
        });
    }
    let mut left: Vec<FunctionId> = functions.into_iter().collect();
    let mut found = BTreeSet::new();
    while let Some(function) = left.pop() {
        if found.insert(function)
            && let Some(callers) = callers.get_mut(function.index())
        {
            left.append(callers);
        }
    }
    found
}
