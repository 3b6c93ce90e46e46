//! The placement of arrays that work-groups allocate (dpia.txt §6.4). An array that the program
//! wants in local memory becomes an array of the group. All other arrays lie in the memory of the
//! device: one array for all groups is allocated before the loop over groups, and every iteration
//! has a chunk of it (memory expansion). The sizes must not depend on the iteration. An array that
//! a loop makes anew while its earlier arrays are still used has several places, which are used by
//! turns ([`places`](super::places)).

use super::accesses::{Origins, Roots};
use super::places::{Site, pools};
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::{Place, deep};
use nova_loop::captures::captured;
use nova_loop::ir::{Command, Expression, Level, Program, Space, Type, Variable};
use nova_loop::print::print_expression;
use nova_loop::walk::{each_assigned, each_command};
use nova_loop_opt::parallel_regions::forget;
use std::collections::{BTreeMap, BTreeSet};

/// Places the arrays of a body. Adds to `before` the commands that must precede the loop over this
/// index, and returns those that must follow it. Returns `None` if an array cannot be placed.
pub(super) fn place(
    program: &mut Program,
    origins: &mut Origins,
    group: (Variable, &Expression),
    body: &mut Vec<Command>,
    before: &mut Vec<Command>,
) -> Option<Vec<Command>> {
    let taken: BTreeSet<Variable> = captured(group.0, body).into_iter().collect();
    let mut placing = Placing {
        once: defined_once(body),
        taken,
        assigned: assigned(body),
        program,
        origins,
        enclosing: vec![(group.0, group.1.clone())],
        before,
        after: Vec::new(),
        handles: BTreeSet::new(),
        spares: BTreeMap::new(),
        made: BTreeMap::new(),
        tops: vec![Vec::new()],
    };
    placing.choose(body);
    placing.list(body)?;
    body.splice(0..0, placing.tops.pop().into_iter().flatten());
    let (handles, after) = (placing.handles, placing.after);
    drop_handles(&handles, body);
    forget(&handles, body);
    Some(after)
}

/// Returns the variables that are declared with a value and never assigned, with that value.
fn defined_once(body: &[Command]) -> BTreeMap<Variable, Expression> {
    let mut found = BTreeMap::new();
    each_command(body, |command| {
        if let Command::Declare {
            variable,
            value: Some(value),
        } = command
        {
            found.insert(*variable, value.clone());
        }
    });
    for variable in assigned(body).into_keys() {
        found.remove(&variable);
    }
    found
}

/// Returns how often each variable is assigned, other than where it is declared.
fn assigned(body: &[Command]) -> BTreeMap<Variable, u32> {
    let mut found = BTreeMap::new();
    each_command(body, |command| {
        if !matches!(command, Command::Declare { .. }) {
            each_assigned(command, &mut |v| *found.entry(v).or_default() += 1);
        }
    });
    found
}

struct Placing<'a> {
    program: &'a mut Program,
    origins: &'a mut Origins,
    /// The variables that the body takes from outside it.
    taken: BTreeSet<Variable>,
    once: BTreeMap<Variable, Expression>,
    assigned: BTreeMap<Variable, u32>,
    /// The enclosing loops whose iterations run at the same time, with their counts.
    enclosing: Vec<(Variable, Expression)>,
    before: &'a mut Vec<Command>,
    after: Vec<Command>,
    /// Handles whose references are no longer counted.
    handles: BTreeSet<Variable>,
    /// By pointer, arrays that have one of several places.
    spares: BTreeMap<Variable, Spare>,
    /// The pointer to the first place of each pool.
    made: BTreeMap<usize, Variable>,
    /// Commands for the beginning of the body, and of each enclosing loop that threads share.
    tops: Vec<Vec<Command>>,
}

/// An array that has one of several places.
struct Spare {
    /// The number of the pool whose arrays share the places.
    pool: usize,
    /// The number of places.
    places: usize,
    /// The pointers that may lead to other places of the pool and are used later.
    apart: Vec<Variable>,
}

impl Placing<'_> {
    /// Finds the arrays that need several places.
    fn choose(&mut self, body: &[Command]) {
        let mut sites = Vec::new();
        let mut loops = 0;
        self.sites(body, 0, &mut loops, &mut sites);
        let roots = Roots::of(self.program, body);
        for (pool, (places, arrays)) in pools(&sites, &roots, body).into_iter().enumerate() {
            for (pointer, apart) in arrays {
                let spare = Spare {
                    pool,
                    places,
                    apart,
                };
                self.spares.insert(pointer, spare);
            }
        }
    }

    /// Collects the allocations of commands; `top` is the number of the enclosing loop that threads
    /// share.
    fn sites(&self, commands: &[Command], top: usize, loops: &mut usize, found: &mut Vec<Site>) {
        for command in commands {
            let mut inner = top;
            if let Command::For {
                level: Level::Thread,
                ..
            } = command
            {
                *loops += 1;
                inner = *loops;
            }
            if let Command::Allocate {
                pointer,
                element,
                count,
                ..
            } = command
                && let Some(count) = self.invariant(count)
            {
                let is_local = self.program.variable(*pointer).space == Some(Space::Local);
                found.push(Site {
                    pointer: *pointer,
                    element: *element,
                    count: print_expression(self.program, &count),
                    is_local: is_local && top == 0,
                    top,
                });
            }
            for list in command.lists() {
                deep(|| self.sites(list, inner, loops, found));
            }
        }
    }

    fn list(&mut self, commands: &mut Vec<Command>) -> Option<()> {
        let mut out = Vec::with_capacity(commands.len());
        for mut command in std::mem::take(commands) {
            if let Command::Allocate {
                block,
                pointer,
                destination,
                ..
            } = &command
            {
                let once = |v: &Variable| self.assigned.get(v) == Some(&1);
                let declared = out.iter().position(|c| is_declaration(c, *pointer));
                if destination.is_some() || !once(block) || !once(pointer) {
                    return None;
                }
                out.remove(declared?);
                self.handles.insert(*block);
                let made = match self.spares.remove(pointer) {
                    Some(spare) => self.spare(&command, spare)?,
                    None => self.allocation(&command)?,
                };
                out.push(made);
                continue;
            }
            let inner = match &command {
                Command::For {
                    variable,
                    count,
                    level: Level::Thread,
                    ..
                } => Some((*variable, self.invariant(count))),
                _others => None,
            };
            if let Some((index, count)) = inner {
                // If the length of a loop varies, nothing inside it can be allocated before it.
                let count = count.unwrap_or(Expression::NullBlock);
                self.enclosing.push((index, count));
                self.tops.push(Vec::new());
            }
            for list in command.lists_mut() {
                deep(|| self.list(list))?;
            }
            if let Command::For {
                level: Level::Thread,
                body,
                ..
            } = &mut command
            {
                self.enclosing.pop();
                body.splice(0..0, self.tops.pop().into_iter().flatten());
            }
            out.push(command);
        }
        *commands = out;
        Some(())
    }

    /// Returns the declaration that replaces the allocation of an array.
    fn allocation(&mut self, command: &Command) -> Option<Command> {
        let Command::Allocate {
            pointer,
            element,
            count,
            place,
            ..
        } = command
        else {
            return None;
        };
        let count = self.invariant(count)?;
        self.array(*pointer, *element, count, place)
    }

    /// Returns the command that chooses the place of an array that has several places, instead of
    /// its allocation. The places are declared at the beginning of the body, or of the enclosing
    /// loop that threads share.
    fn spare(&mut self, command: &Command, spare: Spare) -> Option<Command> {
        let Command::Allocate {
            pointer,
            element,
            count,
            place,
            ..
        } = command
        else {
            return None;
        };
        let info = self.program.variable(*pointer).clone();
        let count = self.invariant(count)?;
        let count = self.computed_before(count, &info.name);
        let places = match self.made.get(&spare.pool) {
            Some(places) => *places,
            None => {
                let name = format!("{}_places", info.name);
                let places = self.program.add_variable(name, info.ty);
                if let Some(known) = self.program.variables.get_mut(places.index()) {
                    known.space = info.space;
                }
                let all = product(count.clone(), Expression::index(spare.places as i64));
                let declared = self.array(places, *element, all, place)?;
                self.tops.last_mut()?.push(declared);
                self.made.insert(spare.pool, places);
                places
            }
        };
        Some(Command::Spare {
            pointer: *pointer,
            places: Expression::Variable(places),
            count,
            apart: spare.apart.into_iter().map(Expression::Variable).collect(),
        })
    }

    /// Returns the declaration of an array of so many elements; the number must not depend on the
    /// iteration.
    fn array(
        &mut self,
        pointer: Variable,
        element: Scalar,
        count: Expression,
        place: &Place,
    ) -> Option<Command> {
        let info = self.program.variable(pointer).clone();
        if info.space == Some(Space::Local) && self.enclosing.len() == 1 {
            self.origins.add(pointer);
            return Some(Command::Shared { pointer, count });
        }
        let count = self.computed_before(count, &info.name);
        let (mut total, mut chunk) = (count.clone(), Expression::index(0));
        for (index, iterations) in &self.enclosing {
            if matches!(iterations, Expression::NullBlock) {
                return None;
            }
            total = product(total, iterations.clone());
            chunk = chunk
                .times(iterations.clone())
                .plus(Expression::Variable(*index));
        }
        let all = self.program.add_variable(info.name.clone(), info.ty);
        let handle = self
            .program
            .add_variable(format!("{}_block", info.name), Type::Block);
        self.origins.add(all);
        let declare = |variable| Command::Declare {
            variable,
            value: None,
        };
        self.before.extend([
            declare(all),
            declare(handle),
            Command::Allocate {
                block: handle,
                pointer: all,
                element,
                count: total,
                destination: None,
                place: place.clone(),
            },
        ]);
        self.after.push(Command::Release(handle));
        let chunk = Expression::part(all, chunk.times(count.clone()), count);
        Some(Command::declare(pointer, chunk))
    }

    /// Returns a number of elements. It is computed before the loop over groups if it is not
    /// simple.
    fn computed_before(&mut self, count: Expression, name: &str) -> Expression {
        if count.is_simple() {
            return count;
        }
        let ty = Type::Scalar(Scalar::I64);
        let size = self.program.add_variable(format!("{name}_size"), ty);
        self.before.push(Command::declare(size, count));
        Expression::Variable(size)
    }

    /// Returns a number as it is before the loop over groups, if it does not depend on the
    /// iteration.
    fn invariant(&self, number: &Expression) -> Option<Expression> {
        match number {
            Expression::Constant(_) => Some(number.clone()),
            Expression::Variable(v) if self.taken.contains(v) => Some(number.clone()),
            Expression::Variable(v) => deep(|| self.invariant(self.once.get(v)?)),
            // Only operations that are always defined, since checks stay where they are.
            Expression::Scalar {
                operation,
                operand,
                arguments,
            } if operation.is_total(*operand) => {
                let arguments = arguments.iter().map(|a| deep(|| self.invariant(a)));
                Some(Expression::Scalar {
                    operation: *operation,
                    operand: *operand,
                    arguments: arguments.collect::<Option<_>>()?,
                })
            }
            // If the divisor is 0, a check stops the iteration before the size is used.
            Expression::Scalar {
                operation: operation @ (ScalarOperation::Divide | ScalarOperation::Remainder),
                operand: operand @ Scalar::I64,
                arguments,
            } => {
                let all = arguments.iter().map(|a| deep(|| self.invariant(a)));
                let all: Vec<Expression> = all.collect::<Option<_>>()?;
                let by = all.get(1)?.clone();
                let quotient = Expression::Scalar {
                    operation: *operation,
                    operand: *operand,
                    arguments: all,
                };
                if by.as_index().is_some_and(|by| by > 0) {
                    return Some(quotient);
                }
                Some(Expression::Select {
                    condition: Box::new(by.compare(ScalarOperation::Equal, Expression::index(0))),
                    then: Box::new(Expression::index(0)),
                    otherwise: Box::new(quotient),
                })
            }
            _others => None,
        }
    }
}

/// Returns a number of elements times a number of chunks. If the product is too large, it is -1,
/// which is out of memory.
fn product(count: Expression, chunks: Expression) -> Expression {
    if let (Some(_), Some(_)) | (_, Some(1)) | (Some(1), _) = (count.as_index(), chunks.as_index())
    {
        return count.times(chunks);
    }
    let scalar = |operation, arguments| Expression::Scalar {
        operation,
        operand: Scalar::I64,
        arguments,
    };
    let least_one = scalar(
        ScalarOperation::Maximum,
        vec![chunks.clone(), Expression::index(1)],
    );
    let most = Expression::Constant(ScalarValue::I64(i64::MAX));
    let limit = scalar(ScalarOperation::Divide, vec![most, least_one]);
    Expression::Select {
        condition: Box::new(limit.compare(ScalarOperation::Less, count.clone())),
        then: Box::new(Expression::index(-1)),
        otherwise: Box::new(count.times(chunks)),
    }
}

/// True if a command declares a variable without a value.
fn is_declaration(command: &Command, of: Variable) -> bool {
    matches!(command, Command::Declare { variable, value: None } if *variable == of)
}

/// Removes the declarations of handles.
fn drop_handles(handles: &BTreeSet<Variable>, commands: &mut Vec<Command>) {
    commands.retain(|command| match command {
        Command::Declare { variable, .. } => !handles.contains(variable),
        _others => true,
    });
    for command in commands {
        for list in command.lists_mut() {
            deep(|| drop_handles(handles, list));
        }
    }
}
