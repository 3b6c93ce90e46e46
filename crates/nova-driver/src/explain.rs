//! What the compiler did with a program, in words: the passes that ran, and for every function what
//! runs in a loop and where arrays live.

use crate::code::Code;
use crate::compiler::{Checked, Compiler};
use crate::error::Failure;
use crate::options::Stage;
use crate::pipeline::{PASSES, is_enabled, optional_passes};
use nova_core::Scalar;
use nova_diag::deep;
use nova_loop::ir::{Command, Expression, Function, Level, Program};
use nova_loop::print::print_expression;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Lines of the report, each with how deep it is indented.
struct Report<'a> {
    program: &'a Program,
    out: String,
}

impl Compiler {
    /// The report.
    pub fn explain(&self, checked: &mut Checked) -> Result<String, Failure> {
        let code = self.run_passes(checked, Stage::Loop)?;
        let Code::Loop(program) = &code else {
            return Err(Failure::Unsupported("no pass leads to loops".to_string()));
        };
        let mut report = Report {
            program,
            out: String::new(),
        };
        report.passes(self);
        for function in &program.functions {
            report.function(function);
        }
        Ok(report.out)
    }
}

impl Report<'_> {
    /// Adds a line; writing to a String cannot fail.
    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.out, "{:1$}{text}", "", depth * 2);
    }

    fn passes(&mut self, compiler: &Compiler) {
        let options = compiler.options();
        let target = options.target;
        self.line(0, &format!("target {target}, -O{}", options.optimization));
        self.line(0, "passes:");
        for pass in PASSES.iter().filter(|pass| is_enabled(pass, options)) {
            self.line(1, &format!("{} {}", pass.name, pass.description));
        }
        let optional = optional_passes().into_iter();
        for pass in optional.filter(|pass| !is_enabled(pass, options)) {
            self.line(1, &format!("{} is switched off", pass.name));
        }
    }

    fn function(&mut self, function: &Function) {
        let entry = self.program.entries.iter().any(|entry| {
            let code = self.program.functions.get(entry.function.0 as usize);
            code.is_some_and(|code| code.name == function.name)
        });
        let kind = if entry { "entry" } else { "function" };
        self.line(0, "");
        self.line(0, &format!("{kind} {} ({})", function.name, function.place));
        if function.recursive {
            self.line(1, "calls itself: its depth is checked at every call");
        }
        let before = self.out.len();
        let mut checks = BTreeMap::new();
        self.commands(&function.body, 1, &mut checks);
        for ((place, word), count) in checks {
            let times = if count > 1 {
                format!(" ({count} times)")
            } else {
                String::new()
            };
            self.line(1, &format!("{place}: may stop with error {word}{times}"));
        }
        if self.out.len() == before {
            self.line(1, "no loops, no arrays of its own");
        }
    }

    fn commands(
        &mut self,
        commands: &[Command],
        depth: usize,
        checks: &mut BTreeMap<(String, &'static str), usize>,
    ) {
        for command in commands {
            deep(|| self.command(command, depth, checks));
        }
    }

    fn command(
        &mut self,
        command: &Command,
        depth: usize,
        checks: &mut BTreeMap<(String, &'static str), usize>,
    ) {
        if let Command::Check { error, place, .. } | Command::Fail { error, place, .. } = command {
            let key = (place.to_string(), error.info().word);
            *checks.entry(key).or_default() += 1;
        }
        let text = self.describe(command);
        if let Some(text) = &text {
            self.line(depth, text);
        }
        for body in bodies(command) {
            self.commands(body, depth + usize::from(text.is_some()), checks);
        }
    }

    /// What a command is worth saying.
    fn describe(&self, command: &Command) -> Option<String> {
        match command {
            Command::For {
                count,
                level,
                place,
                ..
            } => {
                let (count, how) = (self.expression(count), level_text(*level));
                Some(format!("{place}: a loop of {count} rounds, {how}"))
            }
            Command::Loop { place, .. } => Some(format!(
                "{place}: a loop until its condition fails, in order"
            )),
            Command::Allocate {
                pointer,
                element,
                count,
                place,
                ..
            } => {
                let text = self.array(&self.name(*pointer), *element, count);
                Some(format!(
                    "{place}: {text}, in a block of its own on the heap"
                ))
            }
            Command::Reserve {
                pointer,
                element,
                count,
                place,
                ..
            } => {
                let text = self.array(&self.name(*pointer), *element, count);
                Some(format!("{place}: {text} at least, in a block that grows"))
            }
            Command::Copy { element, count, .. } => Some(format!(
                "copies {} elements of {element}",
                self.expression(count)
            )),
            Command::Foreign { foreign, place, .. } => {
                let called = self.program.foreigns.get(*foreign as usize);
                let name = called.map_or("?", |foreign| &foreign.name);
                Some(format!("{place}: calls the foreign function {name}"))
            }
            Command::NodeNew { place, .. } => {
                Some(format!("{place}: appends a node to the table of its type"))
            }
            Command::Declare { .. }
            | Command::Local { .. }
            | Command::Assign { .. }
            | Command::Store { .. }
            | Command::Retain(_)
            | Command::Release(_)
            | Command::If { .. }
            | Command::Switch { .. }
            | Command::Break
            | Command::Continue
            | Command::Return
            | Command::Call { .. }
            | Command::Check { .. }
            | Command::Fail { .. }
            | Command::NodePayload { .. }
            | Command::Trace { .. }
            | Command::Barrier(_)
            | Command::Comment(_) => None,
        }
    }

    fn name(&self, variable: nova_loop::ir::Variable) -> String {
        self.program.variable(variable).name.to_string()
    }

    fn expression(&self, expression: &Expression) -> String {
        if let Expression::Variable(variable) = expression {
            return self.name(*variable);
        }
        print_expression(self.program, expression)
    }

    fn array(&self, name: &str, element: Scalar, count: &Expression) -> String {
        format!("array {name} of {} {element}", self.expression(count))
    }
}

fn level_text(level: Level) -> &'static str {
    match level {
        Level::Sequential => "in order",
        Level::Grid => "in parallel on the grid",
        Level::Block => "in parallel by thread blocks",
        Level::Thread => "in parallel by the threads of a block",
        Level::Vector => "by vector lanes",
        Level::Rank => "by ranks",
    }
}

/// The command lists inside a command.
fn bodies(command: &Command) -> Vec<&[Command]> {
    match command {
        Command::For { body, .. } | Command::Loop { body, .. } => vec![body],
        Command::If {
            then, otherwise, ..
        } => vec![then, otherwise],
        Command::Switch { cases, .. } => cases.iter().map(Vec::as_slice).collect(),
        Command::Declare { .. }
        | Command::Local { .. }
        | Command::Assign { .. }
        | Command::Store { .. }
        | Command::Allocate { .. }
        | Command::Reserve { .. }
        | Command::Copy { .. }
        | Command::Retain(_)
        | Command::Release(_)
        | Command::Break
        | Command::Continue
        | Command::Return
        | Command::Call { .. }
        | Command::Foreign { .. }
        | Command::Check { .. }
        | Command::Fail { .. }
        | Command::NodeNew { .. }
        | Command::NodePayload { .. }
        | Command::Trace { .. }
        | Command::Barrier(_)
        | Command::Comment(_) => Vec::new(),
    }
}
