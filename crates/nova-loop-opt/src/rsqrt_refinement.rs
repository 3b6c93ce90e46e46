//! A pass on Loop that gives reciprocal square roots a loop of their own. Processors have
//! an instruction that estimates many at once, which C compilers do not use by themselves. The module
//! [`quotients`] makes reciprocal square roots of quotients before.
//!
//! A loop over lanes (a constant number of iterations) whose body contains `rsqrt` becomes three
//! loops (loop distribution). The first one computes the argument, and stores it and the scalars
//! that are needed later in local arrays (scalar expansion). The second one computes the reciprocal
//! square roots in place. The third one contains the rest. The arrays are as long as the loop, so
//! that compilers keep them in vector registers. The emitter recognises the loop in the middle.
//!
//! This is done where no iteration depends on another one. The loop must only write local arrays
//! that nothing else points to, and the commands before the `rsqrt` must not read these arrays.

use nova_core::{Scalar, ScalarOperation};
use nova_diag::{Place, deep};
use nova_loop::copies;
use nova_loop::functions::each_function;
use nova_loop::ir::{Command, Expression, Function, Level, Program, Type, Variable};
use nova_loop::walk;
use nova_machine::{PROCESSOR, figures};
use std::collections::{BTreeMap, BTreeSet};

mod quotients;

/// The greatest number of vectors, which few registers hold.
const VECTORS: i64 = figures::STRIPS.refined_vectors;

/// Returns the number of lanes of a vector.
const fn vector(scalar: Scalar) -> i64 {
    match scalar {
        Scalar::F64 => PROCESSOR.lanes(8) as i64,
        _others => PROCESSOR.lanes(4) as i64,
    }
}

/// True if loops over so many lanes have whole vectors of these numbers, and few enough for registers.
fn has_vectors(lanes: i64, scalar: Scalar) -> bool {
    (vector(scalar)..=VECTORS * vector(scalar)).contains(&lanes)
}

/// Rewrites all functions of a program.
pub fn run(program: &mut Program) {
    each_function(program, |program, function| {
        let private = private_arrays(function);
        if !private.is_empty() {
            let mut pass = RsqrtRefinement { program, private };
            pass.list(&mut function.body);
        }
    });
}

/// Returns the local arrays of a function that are used through their own pointers only.
fn private_arrays(function: &Function) -> BTreeSet<Variable> {
    let mut arrays = BTreeSet::new();
    let mut shared = BTreeSet::new();
    walk::each_command(&function.body, |command| {
        walk::reads(command, &mut |e| pointers(e, &mut shared));
        match command {
            Command::Local { pointer, .. } => {
                arrays.insert(*pointer);
            }
            Command::Store { .. } | Command::Prefetch { .. } | Command::OnHost { .. } => {}
            other => walk::writes(other, &mut |v| {
                shared.insert(v);
            }),
        }
    });
    &arrays - &shared
}

/// Collects the variables of an expression that are used for more than reading an element through
/// them.
fn pointers(expression: &Expression, into: &mut BTreeSet<Variable>) {
    match expression {
        Expression::Load { pointer, index } if matches!(**pointer, Expression::Variable(_)) => {
            deep(|| pointers(index, into));
        }
        Expression::Variable(variable) => {
            into.insert(*variable);
        }
        other => other
            .children()
            .into_iter()
            .for_each(|child| deep(|| pointers(child, into))),
    }
}

/// The state of the walk over a function.
struct RsqrtRefinement<'a> {
    program: &'a mut Program,
    /// The local arrays that nothing else points to.
    private: BTreeSet<Variable>,
}

/// A loop over lanes.
struct Lanes {
    variable: Variable,
    count: u32,
    level: Level,
    body: Vec<Command>,
    place: Place,
}

impl Lanes {
    fn of(command: &Command) -> Option<Lanes> {
        let Command::For {
            variable,
            count,
            level,
            body,
            place,
        } = command
        else {
            return None;
        };
        let count = count.as_index().filter(|count| {
            let scalars = [Scalar::F32, Scalar::F64];
            scalars
                .into_iter()
                .any(|scalar| has_vectors(*count, scalar))
        })?;
        Some(Lanes {
            variable: *variable,
            count: u32::try_from(count).ok()?,
            level: *level,
            body: body.clone(),
            place: place.clone(),
        })
    }

    /// Returns a loop over the same lanes.
    fn with_body(&self, variable: Variable, body: Vec<Command>) -> Command {
        Command::For {
            variable,
            count: Expression::index(i64::from(self.count)),
            level: self.level,
            body,
            place: self.place.clone(),
        }
    }
}

impl RsqrtRefinement<'_> {
    fn list(&mut self, commands: &mut Vec<Command>) {
        let mut made = Vec::with_capacity(commands.len());
        for mut command in std::mem::take(commands) {
            for list in command.lists_mut() {
                deep(|| self.list(list));
            }
            self.command(command, &mut made);
        }
        *commands = made;
    }

    /// Adds a command. A loop over lanes becomes three loops for each `rsqrt` in it.
    fn command(&mut self, mut command: Command, made: &mut Vec<Command>) {
        if !self.program.strict
            && let Some(mut lanes) = Lanes::of(&command)
            && only_values(&lanes.body)
            && let Some(body) = quotients::with_products(self.program, &lanes.body)
        {
            lanes.body = body;
            if self.first_rsqrt(&lanes).is_some() {
                command = lanes.with_body(lanes.variable, lanes.body.clone());
            }
        }
        while let Some(lanes) = Lanes::of(&command)
            && let Some(at) = self.first_rsqrt(&lanes)
        {
            command = self.distribute(lanes, at, made);
        }
        made.push(command);
    }

    /// Returns the position of the first command with an `rsqrt`, if the loop may be distributed
    /// there.
    fn first_rsqrt(&self, lanes: &Lanes) -> Option<usize> {
        let mut stored = BTreeSet::new();
        for command in &lanes.body {
            match command {
                // Copies of a handle would own one reference twice.
                Command::Declare {
                    variable,
                    value: Some(_),
                } if self.program.variable(*variable).ty != Type::Block => {}
                Command::Store { pointer, index, .. } if self.private.contains(pointer) => {
                    matches!(index, Expression::Variable(v) if *v == lanes.variable)
                        .then_some(())?;
                    stored.insert(*pointer);
                }
                _ => return None,
            }
        }
        let at = lanes.body.iter().position(has_rsqrt)?;
        let scalar = rsqrt_type(lanes.body.get(at)?)?;
        has_vectors(i64::from(lanes.count), scalar).then_some(())?;
        let (before, from) = lanes.body.split_at(at);
        let declared = before
            .iter()
            .all(|command| matches!(command, Command::Declare { .. }));
        let mut reads = false;
        for command in before.iter().chain(from.first()) {
            let root = std::ptr::eq(command, &lanes.body[at]);
            walk::reads(command, &mut |e| match root {
                true => reads |= argument(e).is_some_and(|a| loads_from(a, &stored)),
                false => reads |= loads_from(e, &stored),
            });
        }
        (declared && !reads).then_some(at)
    }

    /// Adds the loops for the commands before the first `rsqrt` and for the `rsqrt` itself. Returns
    /// the loop with the rest.
    fn distribute(&mut self, mut lanes: Lanes, at: usize, made: &mut Vec<Command>) -> Command {
        let mut after = lanes.body.split_off(at);
        let lane = Expression::Variable(lanes.variable);
        let scalar = after.first().and_then(rsqrt_type).unwrap_or(Scalar::F32);
        let root = self.local("root", scalar, &lanes, made);
        let rest = self.index("lane");
        // The result takes the place of the argument.
        let mut value = None;
        if let Some(first) = after.first_mut() {
            walk::reads_mut(first, &mut |e| {
                if value.is_none() {
                    value = take_rsqrt(e, Expression::load(root, lane.clone()));
                }
            });
        }
        let mut needed = walk::read_variables(&after);
        let mut renamed = BTreeMap::from([(lanes.variable, rest)]);
        let mut start = Vec::new();
        let mut expanded = Vec::new();
        // From the last command to the first, so that values that are computed again find the
        // variables that they need.
        for command in lanes.body.iter().rev() {
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
            let info = self.program.variable(*variable).clone();
            let new = copies::copy_of(self.program, *variable);
            renamed.insert(*variable, new);
            let value = match info.ty {
                Type::Scalar(scalar) if scalar.is_float() || value.reads_memory() => {
                    let array = self.local(&info.name, scalar, &lanes, made);
                    expanded.push(store(array, &lane, Expression::Variable(*variable)));
                    Expression::load(array, lane.clone())
                }
                _ => {
                    value.each_variable(&mut |v| {
                        needed.insert(v);
                    });
                    value.clone()
                }
            };
            start.push(Command::Declare {
                variable: new,
                value: Some(value),
            });
        }
        start.reverse();
        start.append(&mut after);
        for command in &mut start {
            walk::reads_mut(command, &mut |e| e.rename(&renamed));
        }
        let mut before = std::mem::take(&mut lanes.body);
        before.extend(value.map(|value| store(root, &lane, value)));
        before.extend(expanded);
        made.push(lanes.with_body(lanes.variable, before));
        let index = self.index("lane");
        let lane = Expression::Variable(index);
        let in_place = rsqrt(scalar, Expression::load(root, lane.clone()));
        made.push(lanes.with_body(index, vec![store(root, &lane, in_place)]));
        lanes.with_body(rest, start)
    }

    /// Adds a local array with an element for each lane.
    fn local(
        &mut self,
        name: &str,
        scalar: Scalar,
        lanes: &Lanes,
        made: &mut Vec<Command>,
    ) -> Variable {
        let pointer = self.program.add_variable(name, Type::Pointer(scalar));
        self.private.insert(pointer);
        made.push(Command::Local {
            pointer,
            count: lanes.count,
        });
        pointer
    }

    fn index(&mut self, name: &str) -> Variable {
        self.program.add_variable(name, Type::Scalar(Scalar::I64))
    }
}

fn store(pointer: Variable, index: &Expression, value: Expression) -> Command {
    Command::Store {
        pointer,
        index: index.clone(),
        value,
    }
}

fn rsqrt(operand: Scalar, argument: Expression) -> Expression {
    Expression::Scalar {
        operation: ScalarOperation::ReciprocalSqrt,
        operand,
        arguments: vec![argument],
    }
}

/// True if commands declare variables and store elements only.
fn only_values(commands: &[Command]) -> bool {
    commands.iter().all(|command| {
        matches!(
            command,
            Command::Declare { value: Some(_), .. } | Command::Store { .. }
        )
    })
}

/// True if a command always computes an `rsqrt`.
fn has_rsqrt(command: &Command) -> bool {
    rsqrt_type(command).is_some()
}

/// Returns the type of the first `rsqrt` that a command always computes.
fn rsqrt_type(command: &Command) -> Option<Scalar> {
    let mut found = None;
    walk::reads(command, &mut |e| {
        found = found.or_else(|| first(e).map(|(scalar, _)| scalar));
    });
    found
}

/// Returns the argument of the first `rsqrt` that an expression always computes. It contains no
/// other `rsqrt`.
fn argument(expression: &Expression) -> Option<&Expression> {
    first(expression).map(|(_, argument)| argument)
}

/// Returns the type and the argument of that `rsqrt`.
fn first(expression: &Expression) -> Option<(Scalar, &Expression)> {
    let inside = always(expression)
        .into_iter()
        .find_map(|child| deep(|| first(child)));
    inside.or(match expression {
        Expression::Scalar {
            operation: ScalarOperation::ReciprocalSqrt,
            operand,
            arguments,
        } => Some((*operand, arguments.first()?)),
        _ => None,
    })
}

/// Returns the expressions directly inside that are always evaluated.
fn always(expression: &Expression) -> Vec<&Expression> {
    match expression {
        Expression::Select { condition, .. } => vec![condition],
        other => other.children(),
    }
}

/// Replaces that `rsqrt` by another expression, and returns its argument.
fn take_rsqrt(expression: &mut Expression, by: Expression) -> Option<Expression> {
    let taken = argument(expression)?.clone();
    fn replace(expression: &mut Expression, by: Expression) {
        let inside = match &mut *expression {
            Expression::Select { condition, .. } => vec![&mut **condition],
            other => other.children_mut(),
        };
        for child in inside {
            if argument(child).is_some() {
                return deep(|| replace(child, by));
            }
        }
        *expression = by;
    }
    replace(expression, by);
    Some(taken)
}

/// True if an expression mentions one of the arrays.
fn loads_from(expression: &Expression, arrays: &BTreeSet<Variable>) -> bool {
    let mut found = false;
    expression.each_variable(&mut |v| found |= arrays.contains(&v));
    found
}
