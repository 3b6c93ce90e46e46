//! Loops whose recurrences feed costly work, as random numbers that are made normal and added up (loop distribution
//! with scalar expansion and speculation). C compilers keep such a loop in order. It becomes several loops over
//! strips: the recurrences in order, then what depends on these and changes nothing, with vector instructions, and
//! then the rest in order.
//!
//! A branch of the rest may have costly work, too. Where other iterations have no effect, those of a strip that take
//! the branch are packed. Otherwise the work is computed for all of them, if enough take the branch. The module
//! [`super::parts`] finds what goes where.

use super::affine::Affine;
use super::parts::{Guard, Parts, declared, needs};
use super::{Strips, at_most};
use crate::masks::{MASK, number, on_masks, total_flag};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::Place;
use nova_loop::copies;
use nova_loop::ir::{Command, Expression, Level, Type, Variable};
use nova_loop::walk;
use nova_machine::{PROCESSOR, figures};
use nova_plan::Choice;
use std::collections::{BTreeMap, BTreeSet};

/// Iterations of a strip.
const STRIP: u32 = figures::STRIPS.decoupled;
/// The part of a strip's iterations that take a branch, as a divisor, from which on its work is computed for all.
/// A vector has so many doubles at least.
const TAKEN: i64 = figures::STRIPS.taken;

/// The task of a loop over a strip.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Computes the recurrences in order.
    Recurrences,
    /// Computes the recurrences from their values at the beginning of the strip.
    Ahead,
    /// Computes values that change nothing.
    Pure,
    /// Does the rest.
    Rest,
}

/// Arrays with the numbers of a recurrence after each number of iterations.
#[derive(Clone, Copy)]
struct Table {
    factors: Variable,
    summands: Option<Variable>,
}

impl Table {
    /// Returns the value of a recurrence after some iterations, at least one.
    fn after(&self, form: &Affine, iterations: &Expression) -> Expression {
        let entry = |array| Expression::load(array, iterations.clone());
        form.after(entry(self.factors), self.summands.map(entry))
    }
}

/// A strip of a loop, whose loops this module makes.
struct Strip<'a> {
    index: Variable,
    place: &'a Place,
    begin: Variable,
    length: Expression,
    parts: &'a Parts,
    /// The local arrays with an element for each iteration of the strip, by variable (scalar expansion).
    arrays: BTreeMap<Variable, Variable>,
    tables: Vec<Table>,
    /// The numbers of the iterations, if these are not neighbours.
    iterations: Option<Variable>,
}

impl Strips<'_> {
    /// Returns the commands that replace a loop whose recurrences feed costly work.
    pub(super) fn decouple(&mut self, command: &Command) -> Option<Vec<Command>> {
        let Command::For {
            variable: index,
            count,
            level: Level::Sequential,
            body,
            place,
        } = command
        else {
            return None;
        };
        let width = i64::from(STRIP);
        if count.as_index().is_some_and(|count| count <= width) {
            return None;
        }
        let parts = Parts::of(self, *index, body)?;
        if !self.program.plan.allows(place, Choice::Decoupling) {
            return None;
        }
        let (mut all, mut made) = (Vec::new(), Vec::new());
        let count = self.simple("count", count.clone(), &mut all);
        let tables = self.tables(&parts, &count, place, &mut made);
        let (strip, begin) = (self.add_index("strip"), self.add_index("begin"));
        let first = Expression::Variable(strip).times(Expression::index(width));
        let mut inside = vec![Command::declare(begin, first)];
        let left = count.clone().minus(Expression::Variable(begin));
        let length = at_most(left, Expression::index(width));
        let length = self.simple("length", length, &mut inside);
        let mut arrays = BTreeMap::new();
        for variable in &parts.expanded {
            if let Type::Scalar(element) = self.program.variable(*variable).ty {
                let name = self.program.variable(*variable).name.clone();
                let pointer = self.program.add_variable(name, Type::Pointer(element));
                inside.push(Command::Local {
                    pointer,
                    count: STRIP,
                });
                arrays.insert(*variable, pointer);
            }
        }
        let over = Strip {
            index: *index,
            place,
            begin,
            length,
            parts: &parts,
            arrays,
            tables,
            iterations: None,
        };
        self.loops(&over, &mut inside);
        let strips = count.clone().plus(Expression::index(width - 1));
        let strips = strips.compare(ScalarOperation::Divide, Expression::index(width));
        made.push(Command::sequential(strip, strips, inside, place));
        if count.as_index().is_some() {
            all.append(&mut made);
            return Some(all);
        }
        let least = Expression::index(PROCESSOR.decoupled_iterations);
        all.push(Command::If {
            condition: count.compare(ScalarOperation::GreaterEqual, least),
            then: made,
            otherwise: vec![command.clone()],
        });
        Some(all)
    }

    /// Adds the loops over a strip.
    fn loops(&mut self, strip: &Strip, made: &mut Vec<Command>) {
        let parts = strip.parts;
        match &parts.affine {
            Some(forms) if !forms.is_empty() => self.ahead(strip, made),
            _others if parts.recurrences.is_empty() => {}
            _others => made.push(self.over(strip, Part::Recurrences, &parts.recurrences)),
        }
        let Some(guard) = &parts.guard else {
            made.push(self.over(strip, Part::Pure, &parts.pure));
            made.push(self.over(strip, Part::Rest, &parts.rest));
            return;
        };
        let mut pure = parts.pure.clone();
        if let Some(rest) = &guard.taken {
            made.push(self.over(strip, Part::Pure, &pure));
            let packed = self.pack(strip, guard, rest, made);
            made.push(self.over(&packed, Part::Pure, &guard.pure));
            made.push(self.over(&packed, Part::Rest, rest));
            return;
        }
        let taken = self.add_index("taken");
        made.push(Command::declare(taken, Expression::index(0)));
        let flag = convert(MASK, Scalar::I64, guard.flag());
        pure.push(Command::Assign {
            variable: taken,
            value: Expression::Variable(taken).plus(flag),
        });
        made.push(self.over(strip, Part::Pure, &pure));
        let enough = Expression::Variable(taken).times(Expression::index(TAKEN));
        let then = vec![
            self.over(strip, Part::Pure, &guard.pure),
            self.over(strip, Part::Rest, &guard.rest),
        ];
        let otherwise = vec![self.over(strip, Part::Rest, &parts.rest)];
        made.push(Command::If {
            condition: enough.compare(ScalarOperation::GreaterEqual, strip.length.clone()),
            then,
            otherwise,
        });
    }

    /// Adds the loops that compute the tables of recurrences, for so many iterations.
    fn tables(
        &mut self,
        parts: &Parts,
        count: &Expression,
        place: &Place,
        made: &mut Vec<Command>,
    ) -> Vec<Table> {
        let mut tables = Vec::new();
        for form in parts.affine.iter().flatten() {
            let mut table = |name: &str| {
                let element = Type::Pointer(form.scalar);
                let array = self.program.add_variable(name, element);
                made.push(Command::Local {
                    pointer: array,
                    count: STRIP + 1,
                });
                let last = self.program.add_variable("last", Type::Scalar(form.scalar));
                (array, last)
            };
            let (factors, factor) = table("factors");
            let summands = form.summand.as_ref().map(|_| table("summands"));
            let k = self.add_index("k");
            let mut body = vec![store(factors, k, factor)];
            made.push(Command::declare(factor, form.number(1)));
            let mut next = vec![Command::Assign {
                variable: factor,
                value: form.next_factor(Expression::Variable(factor)),
            }];
            if let Some((array, summand)) = summands {
                made.push(Command::declare(summand, form.number(0)));
                body.push(store(array, k, summand));
                next.push(Command::Assign {
                    variable: summand,
                    value: form.next_summand(Expression::Variable(summand)),
                });
            }
            body.extend(next);
            let most = at_most(count.clone(), Expression::index(i64::from(STRIP)));
            let entries = most.plus(Expression::index(1));
            made.push(Command::sequential(k, entries, body, place));
            let summands = summands.map(|(array, _)| array);
            tables.push(Table { factors, summands });
        }
        tables
    }

    /// Adds the loop of recurrences whose values are computed from those at the beginning of the strip, and their
    /// values at its end.
    fn ahead(&mut self, strip: &Strip, made: &mut Vec<Command>) {
        let mut commands = strip.parts.recurrences.clone();
        commands.retain(|command| !matches!(command, Command::Assign { .. }));
        made.push(self.over(strip, Part::Ahead, &commands));
        for (form, table) in strip.parts.affine.iter().flatten().zip(&strip.tables) {
            made.push(Command::Assign {
                variable: form.carried,
                value: table.after(form, &strip.length),
            });
        }
    }

    /// Adds the loops that move what the iterations of a strip need which take the branch to the front of the local
    /// arrays: one for the flags of all iterations, and one for each array. Returns the strip of these iterations.
    fn pack<'a>(
        &mut self,
        strip: &Strip<'a>,
        guard: &Guard,
        rest: &[Command],
        made: &mut Vec<Command>,
    ) -> Strip<'a> {
        let pure = &guard.pure;
        let mut read = &needs(pure) | &(&needs(rest) - &declared(pure));
        again(&strip.parts.again, &mut read, &mut BTreeSet::new());
        let mut packed: Vec<Variable> = strip
            .arrays
            .iter()
            .filter(|(variable, _)| read.contains(variable))
            .map(|(_, array)| *array)
            .collect();
        let mut flagged = Strip {
            length: strip.length.clone(),
            arrays: strip.arrays.clone(),
            tables: Vec::new(),
            ..*strip
        };
        let flag = convert(MASK, Scalar::U8, guard.flag());
        let mut commands = Vec::new();
        let kept = self.expanded("kept", Scalar::U8, flag, &mut flagged, &mut commands, made);
        let mut iterations = None;
        if read.contains(&strip.index) {
            let number = Expression::Variable(strip.index);
            let name = "iterations";
            let array = self.expanded(name, Scalar::I64, number, &mut flagged, &mut commands, made);
            packed.push(array);
            iterations = Some(array);
        }
        made.push(self.over(&flagged, Part::Pure, &commands));
        let mut packed: Vec<Option<Variable>> = packed.into_iter().map(Some).collect();
        if packed.is_empty() {
            packed.push(None);
        }
        let mut taken = strip.index;
        for array in packed {
            taken = self.add_index("taken");
            made.push(Command::declare(taken, Expression::index(0)));
            made.push(self.compaction(strip, array, kept, taken));
        }
        Strip {
            length: Expression::Variable(taken),
            arrays: strip.arrays.clone(),
            tables: Vec::new(),
            iterations,
            ..*strip
        }
    }

    /// Adds a local array with an element for each iteration of a strip, and the command that computes one.
    fn expanded(
        &mut self,
        name: &str,
        element: Scalar,
        value: Expression,
        strip: &mut Strip,
        commands: &mut Vec<Command>,
        made: &mut Vec<Command>,
    ) -> Variable {
        let variable = self.program.add_variable(name, Type::Scalar(element));
        let pointer = self.program.add_variable(name, Type::Pointer(element));
        made.push(Command::Local {
            pointer,
            count: STRIP,
        });
        strip.arrays.insert(variable, pointer);
        commands.push(Command::declare(variable, value));
        pointer
    }

    /// Returns the loop that moves the elements whose flag is 1 to the front of an array, and counts them. The
    /// emitter of C writes it as a call ([`nova_loop::idioms`]).
    fn compaction(
        &mut self,
        strip: &Strip,
        array: Option<Variable>,
        kept: Variable,
        taken: Variable,
    ) -> Command {
        let k = self.add_index("k");
        let at = |array| Expression::load(array, Expression::Variable(k));
        let mut body = Vec::new();
        if let Some(array) = array {
            body.push(Command::Store {
                pointer: array,
                index: Expression::Variable(taken),
                value: at(array),
            });
        }
        body.push(Command::Assign {
            variable: taken,
            value: Expression::Variable(taken).plus(convert(Scalar::U8, Scalar::I64, at(kept))),
        });
        Command::sequential(k, strip.length.clone(), body, strip.place)
    }

    /// Returns a loop over the strip with a copy of these commands. It reads what earlier loops computed from local
    /// arrays, and stores there what later ones need.
    fn over(&mut self, strip: &Strip, part: Part, commands: &[Command]) -> Command {
        let k = self.add_index("k");
        let mut declared = BTreeSet::new();
        let mut read = BTreeSet::new();
        walk::each_command(commands, |command| {
            if let Command::Declare { variable, .. } = command {
                declared.insert(*variable);
            }
            read.append(&mut walk::read_variables(std::slice::from_ref(command)));
        });
        let again = again(&strip.parts.again, &mut read, &mut declared);
        let index = copies::copy_of(self.program, strip.index);
        let mut names = BTreeMap::from([(strip.index, index)]);
        let number = match strip.iterations {
            Some(array) => Expression::load(array, Expression::Variable(k)),
            None => Expression::Variable(strip.begin).plus(Expression::Variable(k)),
        };
        let mut body = vec![Command::declare(index, number)];
        let mut stores = Vec::new();
        if part == Part::Ahead {
            for (form, table) in strip.parts.affine.iter().flatten().zip(&strip.tables) {
                let now = copies::copy_of(self.program, form.carried);
                let at = Expression::Variable(k);
                let value = Expression::Select {
                    condition: Box::new(
                        at.clone()
                            .compare(ScalarOperation::Equal, Expression::index(0)),
                    ),
                    then: Box::new(Expression::Variable(form.carried)),
                    otherwise: Box::new(table.after(form, &at)),
                };
                body.push(Command::declare(now, value));
                names.insert(form.carried, now);
            }
        }
        for (variable, array) in &strip.arrays {
            let carried = strip.parts.carried.contains(variable);
            match part {
                // The values from before the iteration.
                Part::Recurrences | Part::Ahead if carried => {
                    let now = names.get(variable).copied().unwrap_or(*variable);
                    body.push(store(*array, k, now));
                }
                Part::Recurrences | Part::Ahead | Part::Pure if declared.contains(variable) => {
                    stores.push((*variable, *array));
                }
                _reads if read.contains(variable) && !declared.contains(variable) => {
                    let loaded = copies::copy_of(self.program, *variable);
                    let value = Expression::load(*array, Expression::Variable(k));
                    body.push(Command::declare(loaded, value));
                    names.insert(*variable, loaded);
                }
                _others => {}
            }
        }
        let all = [&again, commands].concat();
        body.extend(copies::copy(self.program, &all, &mut names));
        for (variable, array) in stores {
            let value = names.get(&variable).copied().unwrap_or(variable);
            body.push(store(array, k, value));
        }
        Command::sequential(k, strip.length.clone(), body, strip.place)
    }
}

impl Guard {
    /// Returns 1 where the branch is taken, and 0 elsewhere.
    fn flag(&self) -> Expression {
        let holds = total_flag(self.condition.clone());
        match self.is_then {
            true => holds,
            false => on_masks(ScalarOperation::Subtract, number(1), holds),
        }
    }
}

fn convert(from: Scalar, to: Scalar, value: Expression) -> Expression {
    Expression::Scalar {
        operation: ScalarOperation::Convert(to),
        operand: from,
        arguments: vec![value],
    }
}

/// Returns the commands that cost next to nothing and compute what is read.
fn again(
    cheap: &[Command],
    read: &mut BTreeSet<Variable>,
    declared: &mut BTreeSet<Variable>,
) -> Vec<Command> {
    let mut again = Vec::new();
    for command in cheap.iter().rev() {
        if let Command::Declare { variable, .. } = command
            && read.contains(variable)
            && declared.insert(*variable)
        {
            read.append(&mut walk::read_variables(std::slice::from_ref(command)));
            again.push(command.clone());
        }
    }
    again.reverse();
    again
}

fn store(array: Variable, k: Variable, value: Variable) -> Command {
    Command::Store {
        pointer: array,
        index: Expression::Variable(k),
        value: Expression::Variable(value),
    }
}
