//! A pass on Loop, for devices: loads and stores of n neighbours, as vectors of n numbers ask for them
//! (`as_vector` of dpia.txt §6.2), are put behind each other, where a target finds them and loads or
//! stores whole vectors.
//!
//! Where n commands in a row assign n variables or store n elements that lie behind each other, and read
//! elements that do so too, what they read is read first, then the values are computed, then stored.

use crate::ir::{Command, Expression, Program, Type, Variable};
use crate::levels::Origins;
use crate::walk::{each_command, reads, reads_mut, writes};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::deep;
use std::collections::{BTreeMap, BTreeSet};

/// How many numbers vectors have, the longest first.
pub const WIDTHS: [usize; 4] = [16, 8, 4, 2];

/// Rewrites the kernels of a program.
pub fn run(program: &mut Program) {
    let mut functions = std::mem::take(&mut program.functions);
    for function in &mut functions {
        let mut vectors = Vectors {
            origins: Origins::of(function),
            addresses: Addresses::of(&function.body),
            program,
        };
        vectors.outside(&mut function.body);
    }
    program.functions = functions;
}

/// Indices as sums, by what they are computed from.
pub struct Addresses {
    /// What variables are declared as that are never assigned.
    once: BTreeMap<Variable, Expression>,
}

/// Products of a number and a part that is no sum, and a constant.
#[derive(Debug, Default, PartialEq)]
struct Sum {
    parts: BTreeMap<String, i64>,
    constant: i64,
}

impl Addresses {
    /// Those of commands.
    pub fn of(commands: &[Command]) -> Addresses {
        let mut once = BTreeMap::new();
        let mut assigned = BTreeSet::new();
        each_command(commands, |command| match command {
            Command::Declare {
                variable,
                value: Some(value),
            } => {
                once.insert(*variable, value.clone());
            }
            Command::Declare { value: None, .. } => {}
            others => writes(others, &mut |v| {
                assigned.insert(v);
            }),
        });
        once.retain(|v, value| !assigned.contains(v) && !value.reads_memory());
        Addresses { once }
    }

    /// How much further one index is than another, if that is a constant.
    pub fn distance(&self, from: &Expression, to: &Expression) -> Option<i64> {
        let (mut a, mut b) = (Sum::default(), Sum::default());
        self.add(&mut a, from, 1);
        self.add(&mut b, to, 1);
        a.parts.retain(|_, times| *times != 0);
        b.parts.retain(|_, times| *times != 0);
        (a.parts == b.parts).then(|| b.constant.wrapping_sub(a.constant))
    }

    fn add(&self, sum: &mut Sum, index: &Expression, times: i64) {
        if let Some(number) = index.as_index() {
            sum.constant = sum.constant.wrapping_add(number.wrapping_mul(times));
            return;
        }
        if let Expression::Variable(variable) = index
            && let Some(value) = self.once.get(variable)
        {
            return deep(|| self.add(sum, value, times));
        }
        if let Expression::Scalar {
            operation,
            operand: Scalar::I64,
            arguments,
        } = index
            && let [a, b] = &arguments[..]
        {
            match (operation, a.as_index(), b.as_index()) {
                (ScalarOperation::Add, _, _) => {
                    deep(|| self.add(sum, a, times));
                    return deep(|| self.add(sum, b, times));
                }
                (ScalarOperation::Subtract, _, _) => {
                    deep(|| self.add(sum, a, times));
                    return deep(|| self.add(sum, b, times.wrapping_neg()));
                }
                (ScalarOperation::Multiply, Some(number), _) => {
                    return deep(|| self.add(sum, b, times.wrapping_mul(number)));
                }
                (ScalarOperation::Multiply, _, Some(number)) => {
                    return deep(|| self.add(sum, a, times.wrapping_mul(number)));
                }
                (_, _, _) => {}
            }
        }
        let part = sum.parts.entry(format!("{index:?}")).or_default();
        *part = part.wrapping_add(times);
    }
}

struct Vectors<'a> {
    program: &'a mut Program,
    origins: Origins,
    addresses: Addresses,
}

impl Vectors<'_> {
    /// Code of the host.
    fn outside(&mut self, commands: &mut [Command]) {
        for command in commands {
            match command {
                Command::For { level, body, .. } if level.starts_kernel() => self.list(body),
                others => {
                    for list in others.lists_mut() {
                        deep(|| self.outside(list));
                    }
                }
            }
        }
    }

    fn list(&mut self, commands: &mut Vec<Command>) {
        for command in commands.iter_mut() {
            for list in command.lists_mut() {
                deep(|| self.list(list));
            }
        }
        let mut left = &commands[..];
        let mut out = Vec::with_capacity(commands.len());
        while let Some(first) = left.first() {
            let found = WIDTHS.iter().find_map(|width| {
                let run = left.get(..*width)?;
                Some((*width, self.rewrite(run)?))
            });
            let width = match found {
                Some((width, made)) => {
                    out.extend(made);
                    width
                }
                None => {
                    out.push(first.clone());
                    1
                }
            };
            left = left.get(width..).unwrap_or_default();
        }
        *commands = out;
    }

    /// Commands in a row that do the same for neighbours, with their loads and stores put together.
    fn rewrite(&mut self, run: &[Command]) -> Option<Vec<Command>> {
        let stores = self.are_stores(run)?;
        let loads: Vec<Vec<(Variable, Expression)>> = run.iter().map(loads_of).collect();
        let first = loads.first()?;
        if loads.iter().any(|others| others.len() != first.len()) {
            return None;
        }
        if let Some(target) = stores {
            let apart = |(pointer, index): &(Variable, Expression), own: &Expression| {
                !self.origins.may_meet(*pointer, target)
                    || *pointer == target && self.addresses.distance(own, index) == Some(0)
            };
            for (command, loads) in run.iter().zip(&loads) {
                let own = index_of(command)?;
                if !loads.iter().all(|load| apart(load, own)) {
                    return None;
                }
            }
        }
        let mut out = Vec::new();
        let mut made = run.to_vec();
        let mut packed = false;
        for at in (0..first.len()).rev() {
            let neighbours = loads.iter().enumerate().all(|(k, loads)| {
                let ((p, from), (q, to)) = (&first[at], &loads[at]);
                p == q && self.addresses.distance(from, to) == Some(k as i64)
            });
            if !neighbours {
                continue;
            }
            packed = true;
            let element = self.program.variable(first[at].0).ty;
            let Type::Pointer(element) = element else {
                return None;
            };
            let mut declared = Vec::with_capacity(run.len());
            for (command, loads) in made.iter_mut().zip(&loads) {
                let lane = self.program.add_variable("lane", Type::Scalar(element));
                let (pointer, index) = loads[at].clone();
                declared.push(Command::declare(lane, Expression::load(pointer, index)));
                replace_load(command, at, lane);
            }
            out.splice(0..0, declared);
        }
        if let Some(target) = stores {
            let Type::Pointer(element) = self.program.variable(target).ty else {
                return None;
            };
            for command in &mut made {
                if let Command::Store { value, .. } = command
                    && !value.is_simple()
                {
                    let part = self.program.add_variable("part", Type::Scalar(element));
                    let value = std::mem::replace(value, Expression::Variable(part));
                    out.push(Command::declare(part, value));
                }
            }
        }
        out.extend(made);
        (packed || stores.is_some()).then_some(out)
    }

    /// Whether commands store neighbours, behind which pointer (`Some(None)`: they assign variables, none
    /// of which the others read).
    #[allow(clippy::option_option)]
    fn are_stores(&self, run: &[Command]) -> Option<Option<Variable>> {
        let first = run.first()?;
        match first {
            Command::Store { pointer, .. } => {
                let from = index_of(first)?;
                for (k, command) in run.iter().enumerate() {
                    let Command::Store {
                        pointer: other,
                        index,
                        ..
                    } = command
                    else {
                        return None;
                    };
                    let follows = self.addresses.distance(from, index) == Some(k as i64);
                    if other != pointer || !follows {
                        return None;
                    }
                }
                Some(Some(*pointer))
            }
            Command::Assign { .. } => {
                let mut assigned = BTreeSet::new();
                for command in run {
                    let Command::Assign { variable, .. } = command else {
                        return None;
                    };
                    assigned.insert(*variable);
                }
                let mut alone = assigned.len() == run.len();
                for command in run {
                    for (_, index) in loads_of(command) {
                        index.each_variable(&mut |v| alone &= !assigned.contains(&v));
                    }
                }
                alone.then_some(None)
            }
            _others => None,
        }
    }
}

fn index_of(command: &Command) -> Option<&Expression> {
    match command {
        Command::Store { index, .. } => Some(index),
        _others => None,
    }
}

/// The loads that a command always makes, through variables, and that have no others in them.
fn loads_of(command: &Command) -> Vec<(Variable, Expression)> {
    let mut found = Vec::new();
    reads(command, &mut |e| collect(e, &mut found));
    found
}

fn collect(expression: &Expression, into: &mut Vec<(Variable, Expression)>) {
    match expression {
        Expression::Load { pointer, index } => match &**pointer {
            Expression::Variable(pointer) if !index.reads_memory() => {
                into.push((*pointer, (**index).clone()));
            }
            // Such a command is left as it is: no load has this index.
            _others => into.push((Variable(u32::MAX), Expression::NullBlock)),
        },
        Expression::Select { .. } => {
            if expression.reads_memory() {
                into.push((Variable(u32::MAX), Expression::NullBlock));
            }
        }
        others => {
            for child in others.children() {
                deep(|| collect(child, into));
            }
        }
    }
}

/// Puts a variable in the place of a load of a command, counted as [`loads_of`] does.
fn replace_load(command: &mut Command, at: usize, lane: Variable) {
    let mut left = Some(at);
    reads_mut(command, &mut |e| replace(e, &mut left, lane));
}

fn replace(expression: &mut Expression, left: &mut Option<usize>, lane: Variable) {
    match expression {
        Expression::Load { .. } => match left {
            Some(0) => {
                *expression = Expression::Variable(lane);
                *left = None;
            }
            Some(others) => *others -= 1,
            None => {}
        },
        Expression::Select { .. } => {
            if expression.reads_memory()
                && let Some(others) = left
            {
                *others = others.saturating_sub(1);
            }
        }
        others => {
            for child in others.children_mut() {
                deep(|| replace(child, left, lane));
            }
        }
    }
}
