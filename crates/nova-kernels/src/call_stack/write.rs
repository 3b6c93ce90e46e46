//! Writes a group of functions, split into basic blocks, as one function.

use super::basic_blocks::{BasicBlock, End, RETURN, Site};
use super::group::{Group, goes_to};
use super::live::Set;
use nova_core::{ErrorKind, Scalar, ScalarOperation};
use nova_diag::{Place, deep};
use nova_flat::values::zero;
use nova_loop::ir::{Command, Expression, Function, FunctionId, Program, Type, Variable};
use nova_loop_opt::parallel_regions::forget;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The greatest depth of calls: what the language promises for processors, rounded up to a power of
/// two.
const CALL_DEPTH: i64 = 1 << 17;

/// The number of frames for which there is room at first.
const FIRST_FRAMES: i64 = 16;

/// An array that grows: either an array of frames, each of which has a fixed number of elements in
/// it, or a stack of arrays with a number of used elements.
pub(super) struct Growing {
    pub(super) block: Variable,
    pub(super) data: Variable,
}

/// Writes one function, whose variables are those of the functions of the group and its own.
pub(super) struct Writer<'p> {
    pub(super) program: &'p mut Program,
    pub(super) group: Group,
    /// The variables that hold the distances of pointers from the start of their memory.
    pub(super) distances: BTreeMap<Variable, Variable>,
    /// For each array of a node, the command that assigns it to a pointer, and the variable with
    /// the node's link.
    pub(super) nodes: BTreeMap<Variable, (Command, Variable)>,
    /// The stacks of arrays, each with the number of elements used.
    pub(super) stacks: BTreeMap<Scalar, (Growing, Variable)>,
    /// For each loop of a function, the variables with the numbers of elements used on the stacks
    /// before the loop.
    pub(super) marks: BTreeMap<(FunctionId, usize), Vec<(Scalar, Variable)>>,
    /// The arrays of frames, by the type of their elements.
    pub(super) frames: BTreeMap<Scalar, Growing>,
    /// The number of elements of a frame in each of these arrays.
    pub(super) widths: BTreeMap<Scalar, i64>,
    pub(super) depth: Variable,
    pub(super) room: Variable,
}

pub(super) fn set(variable: Variable, value: Expression) -> Command {
    Command::Assign { variable, value }
}

pub(super) fn var(variable: Variable) -> Expression {
    Expression::Variable(variable)
}

impl<'p> Writer<'p> {
    /// Writes the function.
    pub(super) fn write(
        program: &'p mut Program,
        group: Group,
        entry: FunctionId,
        name: Arc<str>,
    ) -> Option<Function> {
        let index = Type::Scalar(Scalar::I64);
        let depth = program.add_variable("depth", index);
        let room = program.add_variable("room", index);
        let mut writer = Writer {
            program,
            group,
            distances: BTreeMap::new(),
            nodes: BTreeMap::new(),
            stacks: BTreeMap::new(),
            marks: BTreeMap::new(),
            frames: BTreeMap::new(),
            widths: BTreeMap::new(),
            depth,
            room,
        };
        writer.name_pointers();
        writer.name_marks();
        writer.name_frames();
        writer.function(entry, name)
    }

    fn function(mut self, entry: FunctionId, name: Arc<str>) -> Option<Function> {
        let mut cases = vec![self.leave()?];
        let mut basic_blocks = std::mem::take(&mut self.group.basic_blocks);
        for (k, basic_block) in basic_blocks.iter_mut().enumerate().skip(RETURN + 1) {
            cases.push(self.basic_block(k, basic_block)?);
        }
        let member = self.group.members.get(&entry)?;
        let (parameters, results) = (member.function.parameters.clone(), member.returned.clone());
        let (place, first) = (member.function.place.clone(), member.first);
        let given: Set = parameters.iter().chain(&results).copied().collect();
        let mut body = self.declarations(&given);
        for result in &results {
            body.push(set(*result, self.nothing(*result)));
        }
        body.push(Command::declare(
            self.group.state,
            super::basic_blocks::label(first),
        ));
        let switch = Command::Switch {
            scrutinee: var(self.group.state),
            cases,
        };
        body.push(Command::Loop {
            body: vec![switch],
            place: place.clone(),
        });
        let frames = self.frames.values();
        let all = frames.chain(self.stacks.values().map(|(stack, _)| stack));
        body.extend(all.map(|growing| Command::Release(growing.block)));
        Some(Function {
            name,
            parameters,
            results,
            body,
            recursive: false,
            takes: false,
            place,
        })
    }

    /// Returns a value for a variable that has none yet.
    fn nothing(&self, variable: Variable) -> Expression {
        match self.program.variable(variable).ty {
            Type::Scalar(scalar) => Expression::Constant(zero(scalar)),
            Type::Pointer(element) => Expression::NullPointer(element),
            Type::Block => Expression::NullBlock,
        }
    }

    /// Returns the declarations that all basic blocks share.
    fn declarations(&self, given: &Set) -> Vec<Command> {
        let mut all: Vec<Variable> = self.group.shared.difference(given).copied().collect();
        let frames = self.frames.values();
        let growing = frames.chain(self.stacks.values().map(|(stack, _)| stack));
        all.extend(growing.flat_map(|g| [g.block, g.data]));
        all.extend(self.stacks.values().map(|(_, used)| *used));
        all.extend(self.distances.values());
        all.extend(self.nodes.values().map(|(_, link)| *link));
        all.extend(self.marks.values().flatten().map(|(_, mark)| *mark));
        all.extend([self.depth, self.room]);
        let declare = |v: Variable| Command::declare(v, self.nothing(v));
        all.into_iter().map(declare).collect()
    }

    /// Returns the basic block that a function ends with.
    fn leave(&self) -> Option<Vec<Command>> {
        let (labels, index) = self.element(Scalar::I32, 0)?;
        let outermost = var(self.depth).compare(ScalarOperation::Equal, Expression::index(0));
        Some(vec![
            Command::If {
                condition: outermost,
                then: vec![Command::Break],
                otherwise: Vec::new(),
            },
            set(self.depth, var(self.depth).minus(Expression::index(1))),
            set(self.group.state, Expression::load(labels, index)),
        ])
    }

    fn basic_block(&mut self, k: usize, basic_block: &mut BasicBlock) -> Option<Vec<Command>> {
        let owner = self.group.owners[k]?;
        let mut out = Vec::new();
        let member = self.group.members.get(&owner)?;
        if member.first == k {
            let place = member.function.place.clone();
            out.push(self.make_room(&place));
        }
        if basic_block.results.is_some() {
            let saved = self.saved(owner, k);
            for (variable, (scalar, at)) in saved.iter().zip(self.slots(&saved)) {
                let (data, index) = self.element(scalar, at)?;
                out.push(set(*variable, Expression::load(data, index)));
            }
        }
        self.find_again(k, &mut out);
        if let Some((callee, results)) = &basic_block.results {
            let returned = &self.group.members.get(callee)?.returned;
            let pairs = results.iter().zip(returned);
            out.extend(pairs.map(|(to, from)| set(*to, var(*from))));
        }
        out.extend(self.marks_at(
            owner,
            |(_, head, _)| *head == k,
            |used, mark| set(used, var(mark)),
        ));
        let mut commands = std::mem::take(&mut basic_block.commands);
        forget(&self.group.pointers.handles, &mut commands);
        self.list(k, commands, &mut out);
        out.extend(self.marks_at(
            owner,
            |(at, _, _)| *at == k,
            |used, mark| set(mark, var(used)),
        ));
        self.end(owner, &mut basic_block.end, &mut out)?;
        Some(out)
    }

    /// Returns the commands for the stacks of arrays where loops of a function begin.
    fn marks_at(
        &self,
        owner: FunctionId,
        is_there: impl Fn(&(usize, usize, Set)) -> bool,
        done: impl Fn(Variable, Variable) -> Command,
    ) -> Vec<Command> {
        let mut out = Vec::new();
        let split_loops = self
            .group
            .members
            .get(&owner)
            .map(|member| &member.split_loops);
        for (k, split_loop) in split_loops.into_iter().flatten().enumerate() {
            if !is_there(split_loop) {
                continue;
            }
            for (element, mark) in self.marks.get(&(owner, k)).into_iter().flatten() {
                if let Some((_, used)) = self.stacks.get(element) {
                    out.push(done(*used, *mark));
                }
            }
        }
        out
    }

    /// Returns the commands that ensure that there is room for the frame of a call.
    fn make_room(&self, place: &Place) -> Command {
        let (depth, room) = (var(self.depth), var(self.room));
        let check = Command::Check {
            condition: room
                .clone()
                .compare(ScalarOperation::Less, Expression::index(CALL_DEPTH)),
            error: ErrorKind::Recursion,
            arguments: Vec::new(),
            place: place.clone(),
        };
        let is_first = room
            .clone()
            .compare(ScalarOperation::Equal, Expression::index(0));
        let more = Expression::Select {
            condition: Box::new(is_first),
            then: Box::new(Expression::index(FIRST_FRAMES)),
            otherwise: Box::new(room.clone().times(Expression::index(2))),
        };
        let mut then = vec![check, set(self.room, more)];
        for (scalar, frames) in &self.frames {
            let width = Expression::index(self.widths.get(scalar).copied().unwrap_or(1));
            then.push(Command::Reserve {
                block: frames.block,
                pointer: frames.data,
                element: *scalar,
                used: depth.clone().times(width.clone()),
                count: room.clone().times(width),
                place: place.clone(),
            });
        }
        Command::If {
            condition: depth.compare(ScalarOperation::GreaterEqual, room),
            then,
            otherwise: Vec::new(),
        }
    }

    /// Writes commands of a basic block.
    fn list(&mut self, k: usize, commands: Vec<Command>, out: &mut Vec<Command>) {
        for mut command in commands {
            for list in command.lists_mut() {
                let inside = std::mem::take(list);
                deep(|| self.list(k, inside, list));
            }
            match command {
                Command::Declare { variable, .. } | Command::Assign { variable, .. }
                    if self.group.pointers.handles.contains(&variable) => {}
                Command::Declare {
                    variable,
                    value: None,
                } if self.group.shared.contains(&variable) => {}
                Command::Declare {
                    variable,
                    value: Some(value),
                } => {
                    self.note_distance(variable, &value, out);
                    out.push(match self.group.shared.contains(&variable) {
                        true => set(variable, value),
                        false => Command::declare(variable, value),
                    });
                }
                Command::Assign { variable, value } => {
                    self.note_distance(variable, &value, out);
                    out.push(set(variable, value));
                }
                Command::NodePayload {
                    sum,
                    constructor,
                    link,
                    results,
                } => self.payload((sum, constructor), link, results, out),
                Command::Allocate {
                    pointer,
                    element,
                    count,
                    place,
                    ..
                } if self.group.pointers.made.contains(&pointer) => {
                    self.make_array(k, (pointer, element), count, place, out);
                }
                other => out.push(other),
            }
        }
    }

    fn end(&mut self, owner: FunctionId, end: &mut End, out: &mut Vec<Command>) -> Option<()> {
        let state = self.group.state;
        let go = |basic_block| vec![goes_to(state, basic_block)];
        match std::mem::replace(end, End::Return) {
            End::Jump(next) => out.extend(go(next)),
            End::Branch {
                condition,
                then,
                otherwise,
            } => out.push(Command::If {
                condition,
                then: go(then),
                otherwise: go(otherwise),
            }),
            End::Switch { scrutinee, cases } => out.push(Command::Switch {
                scrutinee,
                cases: cases.into_iter().map(go).collect(),
            }),
            End::Return => out.extend(go(RETURN)),
            End::Call(site) => self.call(owner, site, out)?,
        }
        Some(())
    }

    /// Writes a call: the frame, the parameters, and the jump to the callee's first basic block.
    fn call(&mut self, owner: FunctionId, site: Site, out: &mut Vec<Command>) -> Option<()> {
        let saved = self.saved(owner, site.next);
        let mut save = |scalar, at, value| {
            let (pointer, index) = self.element(scalar, at)?;
            out.push(Command::Store {
                pointer,
                index,
                value,
            });
            Some(())
        };
        save(Scalar::I32, 0, super::basic_blocks::label(site.next))?;
        for (variable, (scalar, at)) in saved.iter().zip(self.slots(&saved)) {
            save(scalar, at, var(*variable))?;
        }
        let callee = self.group.members.get(&site.callee)?;
        let parameters = callee.function.parameters.iter();
        let numbers = parameters
            .zip(site.arguments)
            .filter(|(p, _)| matches!(self.program.variable(**p).ty, Type::Scalar(_)));
        let first = callee.first;
        let (parameters, arguments): (Vec<Variable>, Vec<Expression>) =
            numbers.map(|(p, a)| (*p, a)).unzip();
        self.assign_together(&parameters, arguments, out);
        out.push(set(self.depth, var(self.depth).plus(Expression::index(1))));
        out.push(goes_to(self.group.state, first));
        Some(())
    }

    /// Assigns parameters that the arguments may mention.
    fn assign_together(
        &mut self,
        parameters: &[Variable],
        arguments: Vec<Expression>,
        out: &mut Vec<Command>,
    ) {
        let mut assignments = Vec::new();
        for (parameter, argument) in parameters.iter().zip(arguments) {
            if argument.is_simple() && parameters.len() == 1 {
                assignments.push(set(*parameter, argument));
                continue;
            }
            let info = self.program.variable(*parameter).clone();
            let value = self.program.add_variable(info.name, info.ty);
            out.push(Command::declare(value, argument));
            assignments.push(set(*parameter, var(value)));
        }
        out.extend(assignments);
    }
}
