//! The rules of commands.

use super::{BOOL, Enclosing, INDEX, Verifier};
use crate::ir::{
    Command, Expression, Level, Type, Variable, calls, errors, jumps, memory_commands, remarks,
    structures, variable_commands,
};
use crate::ordered_commands;
use nova_core::{ErrorKind, Scalar};
use nova_diag::deep;

impl<'p> Verifier<'p> {
    /// Checks a command list, which has a scope of its own.
    pub(super) fn list(&mut self, commands: &'p [Command]) {
        self.flow.enter_scope();
        for command in commands {
            deep(|| self.command(command));
        }
        for handle in self.flow.leave_scope() {
            let name = self.name(handle);
            self.error(format!("{name} has a reference where its scope ends"));
        }
    }

    fn command(&mut self, command: &'p Command) {
        match command {
            variable_commands!() => self.variables(command),
            memory_commands!() | Command::Prefetch { .. } | Command::OnHost { .. } => {
                self.memory(command);
            }
            structures!() | jumps!() => self.control(command),
            calls!() => self.call(command),
            Command::Check {
                condition,
                error,
                arguments,
                ..
            } => {
                self.expect(condition, BOOL);
                self.error_arguments(*error, arguments);
            }
            Command::Fail {
                error, arguments, ..
            } => {
                self.error_arguments(*error, arguments);
                self.flow.die();
            }
            Command::Barrier(level) => {
                // Barriers of a group's threads may also stand between the loops of these.
                let inside = self.levels.contains(level)
                    || *level == Level::Thread && self.levels.contains(&Level::Block);
                if !inside {
                    self.error("a barrier outside a loop of its level");
                }
            }
            // The module `ordered` checks these.
            ordered_commands!() | Command::StoreFence | Command::Comment(_) => {}
        }
    }

    /// Checks commands that declare and assign variables.
    fn variables(&mut self, command: &'p Command) {
        match command {
            Command::Declare { variable, value } => self.declaration(*variable, value),
            Command::Local { pointer, count } => {
                match self.declare(*pointer) {
                    Some(Type::Pointer(_)) | None => self.flow.assign(*pointer),
                    Some(_) => self.error("a local array without a pointer to it"),
                }
                if *count == 0 {
                    self.error("a local array without elements");
                }
            }
            Command::Shared { pointer, count } => {
                self.expect(count, INDEX);
                match self.declare(*pointer) {
                    Some(Type::Pointer(_)) | None => self.flow.assign(*pointer),
                    Some(_) => self.error("an array of a group without a pointer to it"),
                }
                let of_group = self.levels.contains(&Level::Block);
                if !of_group || self.levels.contains(&Level::Thread) {
                    self.error("an array of a group outside of the loop over groups");
                }
            }
            Command::Spare {
                pointer,
                places,
                count,
                apart,
            } => {
                self.expect(count, INDEX);
                let ty = self.declare(*pointer);
                for place in apart.iter().chain([places]) {
                    match ty {
                        Some(ty @ Type::Pointer(_)) => self.expect(place, ty),
                        Some(_) => self.error("a spare place without a pointer to it"),
                        None => {}
                    }
                }
                self.flow.assign(*pointer);
                if !self.levels.contains(&Level::Block) {
                    self.error("a spare place outside of the loop over groups");
                }
            }
            Command::Assign { variable, value } => {
                let found = self.type_of(value);
                if let Some(ty) = self.target(*variable) {
                    self.put(*variable, ty, value, found);
                }
            }
            memory_commands!() | structures!() | jumps!() | errors!() | calls!() | remarks!() => {}
        }
    }

    fn declaration(&mut self, variable: Variable, value: &'p Option<Expression>) {
        // The value is computed before the variable is declared.
        let found = value.as_ref().map(|v| (v, self.type_of(v)));
        let Some(ty) = self.declare(variable) else {
            return;
        };
        if let Some((value, found)) = found {
            self.put(variable, ty, value, found);
        }
    }

    /// Checks a variable that is assigned: it is in scope and is no index. Returns its type.
    pub(super) fn target(&mut self, variable: Variable) -> Option<Type> {
        let ty = self.variable_type(variable)?;
        let name = self.name(variable);
        if !self.flow.in_scope(variable) {
            self.error(format!("{name} is assigned outside its scope"));
            return None;
        }
        if self.indices[variable.index()] {
            self.error(format!("{name} is the index of a loop and assigned"));
        }
        Some(ty)
    }

    /// Checks an assignment of a value; the reference of a handle moves.
    fn put(&mut self, variable: Variable, ty: Type, value: &Expression, found: Option<Type>) {
        if found.is_some_and(|found| found != ty) {
            let name = self.name(variable);
            self.error(format!("{name} is {ty:?} and is assigned a {found:?}"));
        }
        if ty != Type::Block {
            self.flow.assign(variable);
            return;
        }
        match value {
            Expression::NullBlock => {}
            Expression::Variable(source) => self.take_reference(*source, "moved"),
            Expression::Constant(_)
            | Expression::Bytes(_)
            | Expression::Data(..)
            | Expression::Scalar { .. }
            | Expression::Select { .. }
            | Expression::Load { .. }
            | Expression::Offset { .. }
            | Expression::NullPointer(_)
            | Expression::NodeTag { .. } => {
                self.error("a handle is assigned something else than a handle");
            }
        }
        self.give_reference(variable);
    }

    /// Takes a reference from a handle, which must have one.
    pub(super) fn take_reference(&mut self, variable: Variable, how: &str) {
        match self.flow.references(variable) {
            Some(0) => {
                let name = self.name(variable);
                self.error(format!("{name} is {how} and has no reference"));
            }
            Some(references) => self.flow.set_references(variable, references - 1),
            None => {}
        }
    }

    /// Assigns a handle that gets a reference, and must have none.
    pub(super) fn give_reference(&mut self, variable: Variable) {
        if self.flow.references(variable).is_some_and(|n| n > 0) {
            let name = self.name(variable);
            self.error(format!("{name} is assigned while it has a reference"));
        }
        self.flow.assign(variable);
        self.flow.set_references(variable, 1);
    }

    fn error_arguments(&mut self, error: ErrorKind, arguments: &'p [Expression]) {
        let info = error.info();
        if arguments.len() != info.arguments {
            let count = arguments.len();
            self.error(format!("error {} with {count} arguments", info.word));
        }
        for argument in arguments {
            match self.type_of(argument) {
                Some(Type::Scalar(scalar)) if scalar.is_integer() => {}
                Some(_) => self.error(format!("an argument of error {} is no integer", info.word)),
                None => {}
            }
        }
    }

    fn control(&mut self, command: &'p Command) {
        match command {
            Command::If {
                condition,
                then,
                otherwise,
            } => {
                self.expect(condition, BOOL);
                self.cases([then, otherwise].into_iter());
            }
            Command::Switch { scrutinee, cases } => {
                self.expect(scrutinee, Type::Scalar(Scalar::I32));
                if cases.is_empty() {
                    self.error("a switch without cases");
                }
                self.cases(cases.iter());
            }
            Command::For {
                variable,
                count,
                level,
                body,
                ..
            } => {
                self.expect(count, INDEX);
                if level.starts_kernel() && self.levels.contains(&Level::Thread)
                    || *level == Level::Thread && self.levels.contains(&Level::Thread)
                {
                    self.error("a thread of a group begins a loop that others share");
                }
                self.counted(*variable, *level, body);
            }
            Command::Loop { body, .. } => self.endless(body),
            Command::Break | Command::Continue => {
                self.jump(matches!(command, Command::Break));
                self.flow.die();
            }
            Command::Return => {
                if let Some(function) = self.function {
                    self.check_end(function);
                }
                self.flow.die();
            }
            variable_commands!() | memory_commands!() | errors!() | calls!() | remarks!() => {}
        }
    }

    /// Checks a counted loop. Its body may never run, so nothing that it assigns counts as assigned after it.
    fn counted(&mut self, variable: Variable, level: Level, body: &'p [Command]) {
        let dead = self.flow.is_dead();
        self.flow.enter_scope();
        match self.declare(variable) {
            Some(INDEX) => {
                self.indices[variable.index()] = true;
                self.flow.assign(variable);
            }
            Some(_) => self.error("the index of a loop is no `i64`"),
            None => {}
        }
        let of = self.flow.start_loop();
        let mark = self.flow.mark();
        self.enclosing.push(Enclosing::For);
        self.levels.push(level);
        self.list(body);
        self.levels.pop();
        self.enclosing.pop();
        self.check_iteration(&of);
        self.flow.take_changes(mark);
        if dead {
            self.flow.die();
        }
        self.flow.leave_scope();
    }

    /// Checks a loop without count. The facts after it are those at its `Break`s.
    fn endless(&mut self, body: &'p [Command]) {
        let dead = self.flow.is_dead();
        let of = self.flow.start_loop();
        self.enclosing.push(Enclosing::Loop(of));
        self.list(body);
        if let Some(Enclosing::Loop(of)) = self.enclosing.pop() {
            self.check_iteration(&of);
            self.flow.end_loop(of);
        }
        if dead {
            self.flow.die();
        }
    }

    /// Checks lists of which one is executed.
    fn cases(&mut self, lists: impl Iterator<Item = &'p Vec<Command>>) {
        let dead = self.flow.is_dead();
        let mark = self.flow.mark();
        let mut joined = None;
        for list in lists {
            self.list(list);
            let changes = self.flow.take_changes(mark);
            joined = Some(match joined {
                None => changes,
                Some(before) => match self.flow.join(before, changes) {
                    Ok(joined) => joined,
                    Err(differs) => {
                        let name = self.name(differs.0);
                        self.error(format!("{name} has references in one case only"));
                        return;
                    }
                },
            });
            if dead {
                self.flow.die();
            }
        }
        if let Some(joined) = joined {
            self.flow.apply(joined);
        }
    }

    /// Checks, at the end of an iteration, that handles have as many references as at its start.
    fn check_iteration(&mut self, of: &super::flow::LoopFlow) {
        if let Some(variable) = self.flow.unbalanced(of) {
            let name = self.name(variable);
            self.error(format!("{name} has other references in each iteration"));
        }
    }

    fn jump(&mut self, leaves: bool) {
        let mut of = match self.enclosing.pop() {
            Some(Enclosing::Loop(of)) => of,
            other => {
                self.enclosing.extend(other);
                return self.error("a jump outside a loop");
            }
        };
        if leaves {
            if let Err(differs) = self.flow.leave_loop(&mut of) {
                let name = self.name(differs.0);
                self.error(format!("{name} has references where its loop is left"));
            }
        } else {
            self.check_iteration(&of);
        }
        self.enclosing.push(Enclosing::Loop(of));
    }
}
