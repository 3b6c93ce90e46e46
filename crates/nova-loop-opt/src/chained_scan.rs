//! A pass on Loop that makes a single-pass chained scan of the three loops of a scan in chunks
//! (docs/decisions/chained-scans.md). The first loop reduces each chunk. The second computes the
//! prefix with which each chunk begins, and the third its results. Afterwards a chunk finds its
//! elements in the cache when it reads them for the second time, and memory is read once. In
//! between, each chunk has an ordered region that propagates a prefix: the chunk adds its reduction
//! to that of the chunks before it.
//!
//! ```text
//! for p in grid { A; sums[p] = s }          for p in grid {
//! for p { begins[p] = last;                     A; begin ordered p;
//!         last = last + sums[p] }       ⇒       b = last[0]; last[0] = b + s;
//! for p in grid { b = begins[p]; B }            end ordered p; B }
//! ```
//!
//! The chunks of B then run before later chunks of A. This has no visible effect, because B writes
//! only memory to which no pointer leads that A reads.

mod body;

use crate::strip_mining::memory::Memory;
use body::{Middle, Second};
use nova_diag::{Place, deep};
use nova_loop::functions::each_function;
use nova_loop::ir::{Command, Expression, Function, Level, Program, Type, Variable};
use nova_loop::walk;
use nova_plan::Choice;
use std::collections::{BTreeMap, BTreeSet};

/// Rewrites all functions of a program.
pub fn run(program: &mut Program) {
    each_function(program, |program, function| {
        let memory = Memory::of(program, function);
        let mentions = Mentions::of(function);
        let mut scan = ChainedScan {
            program,
            memory,
            mentions,
        };
        scan.list(&mut function.body);
    });
}

/// The number of times that each variable is named in a function.
struct Mentions(BTreeMap<Variable, usize>);

impl Mentions {
    fn of(function: &Function) -> Mentions {
        let mut mentions = Mentions::in_commands(&function.body);
        for variable in function.parameters.iter().chain(&function.results) {
            *mentions.0.entry(*variable).or_default() += 1;
        }
        mentions
    }

    fn in_commands(commands: &[Command]) -> Mentions {
        let mut found: BTreeMap<Variable, usize> = BTreeMap::new();
        walk::each_command(commands, |command| {
            walk::each_mentioned(command, &mut |v| *found.entry(v).or_default() += 1);
        });
        Mentions(found)
    }

    fn count(&self, variable: Variable) -> usize {
        self.0.get(&variable).copied().unwrap_or(0)
    }
}

struct ChainedScan<'a> {
    program: &'a mut Program,
    memory: Memory,
    mentions: Mentions,
}

/// A counted loop.
struct Counted<'c> {
    index: Variable,
    count: &'c Expression,
    body: &'c [Command],
    place: &'c Place,
}

impl<'c> Counted<'c> {
    fn of(command: &'c Command, wanted: Level) -> Option<Counted<'c>> {
        match command {
            Command::For {
                variable,
                count,
                level,
                body,
                place,
            } if *level == wanted => Some(Counted {
                index: *variable,
                count,
                body,
                place,
            }),
            _ => None,
        }
    }
}

/// The positions of the three loops in a list.
struct Found {
    first: usize,
    middle: usize,
    second: usize,
}

impl ChainedScan<'_> {
    fn list(&mut self, commands: &mut Vec<Command>) {
        for command in commands.iter_mut() {
            for list in command.lists_mut() {
                deep(|| self.list(list));
            }
        }
        let mut from = 0;
        while let Some(found) = find(commands, from) {
            from = found.first + 1;
            if let Some(chained) = self.chained(commands, &found)
                && self.is_wanted(commands.get(found.first))
            {
                *commands = chained;
            }
        }
    }

    /// True if the plan wants one loop in the place of this one and two others.
    fn is_wanted(&self, first: Option<&Command>) -> bool {
        match first {
            Some(Command::For { place, .. }) => {
                self.program.plan.allows(place, Choice::ChainedScan)
            }
            Some(_) | None => false,
        }
    }

    /// Returns the list with one loop in the place of three, where that means the same.
    fn chained(&mut self, commands: &[Command], found: &Found) -> Option<Vec<Command>> {
        let first = Counted::of(commands.get(found.first)?, Level::Grid)?;
        let middle = Counted::of(commands.get(found.middle)?, Level::Sequential)?;
        let second = Counted::of(commands.get(found.second)?, Level::Grid)?;
        let between = commands.get(found.first + 1..found.second)?;
        let (sums, opening) = self.reduced(commands, &first, &middle)?;
        let middle = self.middle(commands, &first, &middle, &second, &sums)?;
        self.are_apart((&first, &sums), (&second, &middle.begins), between)?;
        let second = Second {
            index: second.index,
            body: second.body,
        };
        let mut body = opening;
        body.push(Command::BeginOrdered(first.index));
        body.extend(middle.body);
        body.push(Command::EndOrdered(first.index));
        body.extend(second.renamed(first.index, &middle.begins));
        let dropped: BTreeSet<Variable> =
            sums.keys().chain(middle.begins.keys()).copied().collect();
        let stays = |command: &Command| !matches!(command, Command::Local { pointer, .. } if dropped.contains(pointer));
        let mut made = Vec::new();
        for (k, command) in commands.iter().enumerate() {
            if k == found.second {
                made.extend(middle.states.iter().cloned());
                made.push(Command::For {
                    variable: first.index,
                    count: first.count.clone(),
                    level: Level::Grid,
                    body: std::mem::take(&mut body),
                    place: first.place.clone(),
                });
            } else if k != found.first && k != found.middle && stays(command) {
                made.push(command.clone());
            }
        }
        Some(made)
    }

    /// True if a list declares a local array that these two loops use, and nothing else does.
    fn is_local(&self, commands: &[Command], pointer: Variable, loops: [&[Command]; 2]) -> bool {
        let here = |c: &Command| matches!(c, Command::Local { pointer: p, .. } if *p == pointer);
        let inside: usize = loops
            .iter()
            .map(|body| Mentions::in_commands(body).count(pointer))
            .sum();
        commands.iter().any(here) && self.mentions.count(pointer) == inside + 1
    }

    /// Returns the arrays that the first loop writes, with the variables that hold the elements in
    /// the new loop. Also returns the body of the first loop with these variables.
    fn reduced(
        &mut self,
        commands: &[Command],
        first: &Counted,
        middle: &Counted,
    ) -> Option<(BTreeMap<Variable, Variable>, Vec<Command>)> {
        let mut sums = BTreeMap::new();
        let mut opening = Vec::with_capacity(first.body.len());
        for command in first.body {
            match command {
                Command::Store {
                    pointer,
                    index: Expression::Variable(index),
                    value,
                } if *index == first.index
                    && self.is_local(commands, *pointer, [first.body, middle.body]) =>
                {
                    let sum = self.element("sum", *pointer)?;
                    if sums.insert(*pointer, sum).is_some() {
                        return None;
                    }
                    opening.push(Command::declare(sum, value.clone()));
                }
                other => opening.push(other.clone()),
            }
        }
        let reads_back = Mentions::in_commands(&opening);
        let is_gone = |pointer: &Variable| reads_back.count(*pointer) == 0;
        (!sums.is_empty() && sums.keys().all(is_gone)).then_some((sums, opening))
    }

    /// Returns the loop in between as the ordered region of the new loop.
    fn middle(
        &mut self,
        commands: &[Command],
        first: &Counted,
        middle: &Counted,
        second: &Counted,
        sums: &BTreeMap<Variable, Variable>,
    ) -> Option<body::OrderedRegion> {
        let mut ordered = Middle {
            index: middle.index,
            renamed: first.index,
            sums,
            states: BTreeMap::new(),
        };
        for command in middle.body {
            if let Command::Assign { variable, .. } = command {
                // It is declared before the loop, and its value is not used after the loop.
                let declared = |c: &Command| matches!(c, Command::Declare { variable: v, .. } if v == variable);
                let inside = Mentions::in_commands(middle.body).count(*variable);
                if !commands.iter().any(declared) || self.mentions.count(*variable) != inside + 1 {
                    return None;
                }
                let state = match self.program.variable(*variable).ty {
                    Type::Scalar(scalar) => {
                        self.program.add_variable("running", Type::Pointer(scalar))
                    }
                    Type::Pointer(_) | Type::Block => return None,
                };
                ordered.states.insert(*variable, state);
            }
        }
        let mut begins = BTreeMap::new();
        let mut body = Vec::new();
        for command in middle.body {
            body.push(match command {
                Command::Store {
                    pointer,
                    index: Expression::Variable(index),
                    value,
                } if *index == middle.index
                    && self.is_local(commands, *pointer, [middle.body, second.body]) =>
                {
                    let begin = self.element("begin", *pointer)?;
                    if begins.insert(*pointer, begin).is_some() {
                        return None;
                    }
                    Command::declare(begin, ordered.expression(value)?)
                }
                other => ordered.command(other)?,
            });
        }
        Some(body::OrderedRegion {
            body,
            begins,
            states: ordered.declarations(),
        })
    }

    /// Tests whether the chunks of the second loop may run before later chunks of the first one.
    /// All that the second loop writes must be memory that only it writes, and nothing between the
    /// loops may depend on what they do.
    fn are_apart(
        &self,
        (first, sums): (&Counted, &BTreeMap<Variable, Variable>),
        (second, begins): (&Counted, &BTreeMap<Variable, Variable>),
        between: &[Command],
    ) -> Option<()> {
        let same = match (first.count, second.count) {
            (Expression::Variable(a), Expression::Variable(b)) => a == b,
            (a, b) => a.as_index().is_some() && a.as_index() == b.as_index(),
        };
        let read = Mentions::in_commands(first.body);
        let free = |pointer: Variable| self.memory.is_own(pointer) && read.count(pointer) == 0;
        let is_fine = same
            && body::writes_only(first.body, |pointer| sums.contains_key(&pointer))
            && body::writes_only(second.body, free)
            && body::reads_at(second.body, begins, second.index)
            && between.iter().all(|command| match command {
                Command::Declare { value, .. } => {
                    value.as_ref().is_none_or(|value| !value.reads_memory())
                }
                Command::For { .. } | Command::Local { .. } | Command::StoreFence => true,
                Command::Comment(_) => true,
                _ => false,
            });
        is_fine.then_some(())
    }

    /// Adds a variable for an element of an array.
    fn element(&mut self, name: &str, pointer: Variable) -> Option<Variable> {
        match self.program.variable(pointer).ty {
            Type::Pointer(scalar) => Some(self.program.add_variable(name, Type::Scalar(scalar))),
            Type::Scalar(_) | Type::Block => None,
        }
    }
}

/// Returns the next two parallel loops with one sequential loop between them.
fn find(commands: &[Command], from: usize) -> Option<Found> {
    let mut loops: Vec<(usize, Level)> = Vec::new();
    for (k, command) in commands.iter().enumerate().skip(from) {
        let Command::For { level, .. } = command else {
            continue;
        };
        loops.push((k, *level));
        if let [
            ..,
            (first, Level::Grid),
            (middle, Level::Sequential),
            (second, Level::Grid),
        ] = loops[..]
        {
            return Some(Found {
                first,
                middle,
                second,
            });
        }
    }
    None
}
