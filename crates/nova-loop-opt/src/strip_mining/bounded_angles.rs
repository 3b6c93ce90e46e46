//! Loops with sines and cosines of floats. The runtime has versions for arguments of a bounded magnitude, which C
//! compilers make vector instructions of. The loop is taken in strips. A loop over the strip computes the arguments
//! and the greatest of their magnitudes, and two versions of the body follow, of which one runs.
//!
//! Nothing changes its order but the reads of the arguments, which no iteration of the strip may change.

use super::{Strips, at_most};
use crate::strip_mining::memory::reads_through_variables;
use nova_core::builtin::BOUND_OF_ANGLES;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::{Place, deep};
use nova_loop::copies;
use nova_loop::ir::{Command, Expression, Level, Type, Variable};
use nova_loop::walk;
use nova_machine::figures;
use nova_plan::Choice;
use std::collections::{BTreeMap, BTreeSet};

/// Iterations of a strip.
const STRIP: u32 = figures::STRIPS.angled;
/// The greatest number of different arguments of a body.
const ANGLES: usize = figures::STRIPS.angles;

/// The arguments of the sines and cosines of a body.
struct Angles {
    /// The commands that compute them, by position.
    before: BTreeSet<usize>,
    arguments: Vec<Expression>,
}

/// A loop that is taken in strips.
struct Stripped<'a> {
    index: Variable,
    level: Level,
    body: &'a [Command],
    place: &'a Place,
    /// The first iteration of the strip, and how many there are.
    begin: Expression,
    length: Expression,
}

impl Strips<'_> {
    /// Returns the commands that replace a loop with sines or cosines of floats.
    pub(super) fn bounded_angles(&mut self, command: &Command) -> Option<Vec<Command>> {
        let Command::For {
            variable,
            count,
            level: level @ (Level::Sequential | Level::Independent | Level::Vector),
            body,
            place,
        } = command
        else {
            return None;
        };
        if self.program.strict || body.len() > crate::limits::COMMANDS_OF_A_BODY {
            return None;
        }
        let angles = self.angles(*variable, body)?;
        if !self.program.plan.allows(place, Choice::BoundedAngles) {
            return None;
        }
        let mut stripped = Stripped {
            index: *variable,
            level: *level,
            body,
            place,
            begin: Expression::index(0),
            length: count.clone(),
        };
        let width = i64::from(STRIP);
        if let Some(few) = count.as_index().filter(|count| *count <= width) {
            return self.versions(&stripped, &angles, u32::try_from(few).ok()?);
        }
        let mut made = Vec::new();
        let count = self.simple("count", count.clone(), &mut made);
        let (strip, begin) = (self.add_index("strip"), self.add_index("begin"));
        let first = Expression::Variable(strip).times(Expression::index(width));
        let mut inside = vec![Command::declare(begin, first)];
        let left = count.clone().minus(Expression::Variable(begin));
        let length = at_most(left, Expression::index(width));
        stripped.length = self.simple("length", length, &mut inside);
        stripped.begin = Expression::Variable(begin);
        inside.extend(self.versions(&stripped, &angles, STRIP)?);
        let strips = count.plus(Expression::index(width - 1));
        let strips = strips.compare(ScalarOperation::Divide, Expression::index(width));
        made.push(Command::sequential(strip, strips, inside, place));
        Some(made)
    }

    /// Returns the arguments of the sines and cosines of a straight body, if they may be computed for some
    /// iterations before these begin.
    fn angles(&self, index: Variable, body: &[Command]) -> Option<Angles> {
        let mut arguments = Vec::new();
        for command in body {
            match command {
                Command::Declare { value: Some(_), .. } | Command::Assign { .. } => {}
                Command::Store { .. } | Command::Prefetch { .. } | Command::Comment(_) => {}
                _others => return None,
            }
            walk::reads(command, &mut |e| collect(e, &mut arguments));
        }
        if arguments.is_empty() || arguments.len() > ANGLES {
            return None;
        }
        let assigned = walk::assigned(body);
        let mut needed = BTreeSet::new();
        let note = |e: &Expression, needed: &mut BTreeSet<Variable>| {
            e.each_variable(&mut |v| {
                needed.insert(v);
            });
        };
        arguments.iter().for_each(|e| note(e, &mut needed));
        let mut before = BTreeSet::new();
        for (at, command) in body.iter().enumerate().rev() {
            if let Command::Declare {
                variable,
                value: Some(value),
            } = command
                && needed.contains(variable)
            {
                before.insert(at);
                note(value, &mut needed);
            }
        }
        let declared = |v: &Variable| {
            let declares =
                |c: &Command| matches!(c, Command::Declare { variable, .. } if variable == v);
            body.iter().any(declares)
        };
        let changes = |v: &Variable| assigned.contains(v) && !declared(v);
        let angles = Angles { before, arguments };
        let free = !needed.iter().any(changes) && self.are_free(index, body, &angles);
        free.then_some(angles)
    }

    /// True if no iteration writes an element that the arguments of other iterations read.
    fn are_free(&self, index: Variable, body: &[Command], angles: &Angles) -> bool {
        let mut written = BTreeMap::new();
        for command in body {
            if let Command::Store {
                pointer, index: at, ..
            } = command
            {
                let own = *at == Expression::Variable(index);
                let same = written.entry(*pointer).or_insert(own);
                *same &= own;
            }
        }
        let apart = |v: &Variable| self.memory.is_own(*v) || self.memory.is_local(*v);
        let private = written.keys().all(apart);
        let mut stored = BTreeSet::new();
        let mut free = true;
        for (at, command) in body.iter().enumerate() {
            let mut see = |e: &Expression| {
                free &= reads_through_variables(e) && (private || !e.reads_memory());
                each_load(e, &mut |pointer, at| {
                    if let Some(own) = written.get(&pointer) {
                        let own = *own && *at == Expression::Variable(index);
                        free &= own && !stored.contains(&pointer);
                    }
                });
            };
            if angles.before.contains(&at) {
                walk::reads(command, &mut see);
            }
            walk::reads(command, &mut |e| each_argument(e, &mut see));
            if let Command::Store { pointer, .. } = command {
                stored.insert(*pointer);
            }
        }
        free
    }

    /// Returns the loop that looks at the arguments of a strip of at most `most` iterations, and both versions of
    /// the body.
    fn versions(&mut self, strip: &Stripped, angles: &Angles, most: u32) -> Option<Vec<Command>> {
        let mut made = Vec::new();
        let largest = self
            .program
            .add_variable("largest", Type::Scalar(Scalar::U32));
        let zero = Expression::Constant(ScalarValue::U32(0));
        made.push(Command::declare(largest, zero));
        let arrays: Vec<Variable> = angles
            .arguments
            .iter()
            .map(|_| {
                self.program
                    .add_variable("angles", Type::Pointer(Scalar::F32))
            })
            .collect();
        made.extend(arrays.iter().map(|array| Command::Local {
            pointer: *array,
            count: most,
        }));
        let k = self.add_index("k");
        let mut look: Vec<Command> = Vec::new();
        for (at, command) in strip.body.iter().enumerate() {
            if angles.before.contains(&at) {
                look.push(command.clone());
            }
        }
        let mut found = Expression::Variable(largest);
        for (argument, array) in angles.arguments.iter().zip(&arrays) {
            let angle = self
                .program
                .add_variable("angle", Type::Scalar(Scalar::F32));
            look.push(Command::declare(angle, argument.clone()));
            let value = Expression::Variable(angle);
            found = on_bits(ScalarOperation::Maximum, found, magnitude(value.clone()));
            look.push(Command::Store {
                pointer: *array,
                index: Expression::Variable(k),
                value,
            });
        }
        look.push(Command::Assign {
            variable: largest,
            value: found,
        });
        made.push(self.version(strip, k, look, Level::Sequential));
        let k = self.add_index("k");
        let mut bounded = strip.body.to_vec();
        for command in &mut bounded {
            walk::reads_mut(command, &mut |e| bound(e, angles, &arrays, k));
        }
        let then = vec![self.version(strip, k, bounded, strip.level)];
        let k = self.add_index("k");
        let otherwise = vec![self.version(strip, k, strip.body.to_vec(), strip.level)];
        let limit = Expression::Constant(ScalarValue::U32(BOUND_OF_ANGLES.to_bits()));
        made.push(Command::If {
            condition: on_bits(
                ScalarOperation::LessEqual,
                Expression::Variable(largest),
                limit,
            ),
            then,
            otherwise,
        });
        Some(made)
    }

    /// Returns a loop over a strip with a copy of these commands.
    fn version(
        &mut self,
        strip: &Stripped,
        k: Variable,
        commands: Vec<Command>,
        level: Level,
    ) -> Command {
        let index = copies::copy_of(self.program, strip.index);
        let mut names = BTreeMap::from([(strip.index, index)]);
        let at = strip.begin.clone().plus(Expression::Variable(k));
        let mut body = vec![Command::declare(index, at)];
        body.extend(copies::copy(self.program, &commands, &mut names));
        let mut made = Command::sequential(k, strip.length.clone(), body, strip.place);
        if let Command::For { level: own, .. } = &mut made {
            *own = level;
        }
        made
    }
}

/// Collects the arguments of the sines and cosines of floats that an expression always computes.
fn collect(expression: &Expression, into: &mut Vec<Expression>) {
    each_argument(expression, &mut |argument| {
        if !into.contains(argument) {
            into.push(argument.clone());
        }
    });
}

/// Calls `see` for the argument of each such sine and cosine that contains no other one.
fn each_argument(expression: &Expression, see: &mut dyn FnMut(&Expression)) {
    if let Some(argument) = argument(expression) {
        return see(argument);
    }
    let always = match expression {
        Expression::Select { condition, .. } => vec![&**condition],
        other => other.children(),
    };
    for child in always {
        deep(|| each_argument(child, see));
    }
}

/// Returns the argument of a sine or a cosine of a float.
fn argument(expression: &Expression) -> Option<&Expression> {
    match expression {
        Expression::Scalar {
            operation: ScalarOperation::Sin | ScalarOperation::Cos,
            operand: Scalar::F32,
            arguments,
        } => arguments.first(),
        _others => None,
    }
}

/// Replaces the sines and cosines of an expression by those of bounded angles, which are read from arrays.
fn bound(expression: &mut Expression, angles: &Angles, arrays: &[Variable], k: Variable) {
    if let Expression::Scalar {
        operation: operation @ (ScalarOperation::Sin | ScalarOperation::Cos),
        operand: Scalar::F32,
        arguments,
    } = expression
    {
        let mut known = angles.arguments.iter().zip(arrays);
        if let Some((_, array)) = known.find(|(known, _)| arguments.first() == Some(known)) {
            *arguments = vec![Expression::load(*array, Expression::Variable(k))];
            *operation = match operation {
                ScalarOperation::Sin => ScalarOperation::SinBounded,
                _ => ScalarOperation::CosBounded,
            };
            return;
        }
    }
    for child in expression.children_mut() {
        deep(|| bound(child, angles, arrays, k));
    }
}

/// Calls `see` for the pointer and the index of each load.
fn each_load(expression: &Expression, see: &mut dyn FnMut(Variable, &Expression)) {
    if let Expression::Load { pointer, index } = expression
        && let Expression::Variable(pointer) = **pointer
    {
        see(pointer, index);
    }
    for child in expression.children() {
        deep(|| each_load(child, see));
    }
}

/// Returns the bits of a float without its sign. They are ordered as magnitudes are, and a nan is above all.
fn magnitude(value: Expression) -> Expression {
    let bits = Expression::Scalar {
        operation: ScalarOperation::Bits(Scalar::U32),
        operand: Scalar::F32,
        arguments: vec![value],
    };
    let mask = Expression::Constant(ScalarValue::U32(0x7fff_ffff));
    on_bits(ScalarOperation::BitAnd, bits, mask)
}

fn on_bits(operation: ScalarOperation, left: Expression, right: Expression) -> Expression {
    Expression::Scalar {
        operation,
        operand: Scalar::U32,
        arguments: vec![left, right],
    }
}
