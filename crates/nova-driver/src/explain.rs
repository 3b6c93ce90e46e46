//! A report on the compilation of a program, in words: the passes that ran and, for every function, how
//! loops run and where arrays live. It is read from the program with memory, where one operation is one
//! loop. What `parallelise` wrote for one operation is reported as that operation.

mod beside;
mod fusion;
mod parallelism;
mod reuse;

use crate::code::Code;
use crate::compiler::{Checked, Compiler};
use crate::error::Failure;
use crate::options::{Options, Stage};
use crate::pipeline::{self, PASSES, Trace, is_enabled, optional_passes};
pub use beside::{Schedule, side_by_side};
use nova_core::Strategy;
use nova_core::strategy::Level as By;
use nova_diag::deep;
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Function, Level, Output, Program, Statement, Variable,
};
use nova_flat::print::print_atom;
use nova_flat::visit::bodies;
use nova_plan::{Choices, lines};
use nova_schedule::Notes;
use parallelism::whole;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;

/// The pass that parallelises operations.
const PARALLELISE: &str = "parallelise";

/// The description of a statement: what it is, how it runs or where it lies if targets may differ in
/// that, and the text after these.
struct Described {
    what: String,
    how: Option<String>,
    made: String,
}

impl Described {
    fn plain(what: String) -> Described {
        Described {
            what,
            how: None,
            made: String::new(),
        }
    }

    fn with(what: String, how: &str) -> Described {
        Described {
            how: Some(how.to_string()),
            ..Described::plain(what)
        }
    }

    /// Returns all of it in one line.
    fn text(&self) -> String {
        let how = self.how.as_ref().map(|how| format!(", {how}"));
        format!("{}{}{}", self.what, how.unwrap_or_default(), self.made)
    }
}

/// The report under construction.
struct Report<'a> {
    program: &'a Program,
    /// The first array that lies in each block.
    tenants: HashMap<Variable, Variable>,
    /// The first results of the operations that run in tiles.
    tiled: BTreeSet<Variable>,
    /// The outcome of each operation, if threads share operations.
    notes: Option<Notes>,
    /// True if these are threads of a device.
    device: bool,
    /// True if floats keep their order.
    strict: bool,
    out: String,
    /// The part of the report in which targets may differ.
    schedule: Schedule,
}

/// The number of times that each error may stop a function at each place.
type Checks = BTreeMap<(String, &'static str), usize>;

impl Compiler {
    /// Returns the report.
    pub fn explain(&self, checked: &mut Checked) -> Result<String, Failure> {
        self.explained(checked).map(|(report, _)| report)
    }

    /// Returns how operations run and where arrays live, to be compared with other targets.
    pub fn schedule(&self, checked: &mut Checked) -> Result<Schedule, Failure> {
        self.explained(checked).map(|(_, schedule)| schedule)
    }

    fn explained(&self, checked: &mut Checked) -> Result<(String, Schedule), Failure> {
        let code = self.run_passes(checked, Stage::Mem)?;
        // The queries below must know what one thread runs.
        let settled = Compiler::new(Options {
            alone: checked.trace.alone.clone(),
            one_thread: checked.trace.one_thread,
            for_strategies: self.for_strategies(checked),
            ..self.options().clone()
        });
        let options = settled.options();
        let flat = Code::Core(checked.program.clone());
        let mut flat = pipeline::run_before(PARALLELISE, flat, &checked.name, options)?;
        let unparallelised = flat.clone();
        let Code::Mem(program) = &code else {
            return Err(Failure::Unsupported("no pass leads to memory".to_string()));
        };
        let obstacles = settled.obstacles(checked)?;
        let mut tenants = HashMap::new();
        for (index, info) in program.variables.iter().enumerate() {
            if let Some(memory) = &info.memory {
                let array = Variable(index as u32);
                tenants.entry(memory.block).or_insert(array);
            }
        }
        let mut report = Report {
            program,
            tenants,
            tiled: nova_expand::tiled(program, options.strict, &options.plan),
            notes: settled.notes(&mut flat),
            device: options.target.machine() == nova_machine::Machine::Device,
            strict: options.strict,
            out: String::new(),
            schedule: Schedule::new(options.target),
        };
        report.passes(self);
        report.left(&checked.trace);
        report.tables(&checked.trace);
        for function in &program.functions {
            report.function(function);
            report.reuse(function, &obstacles);
            if let Code::Flat(flat) = &unparallelised
                && let Some(before) = flat.functions.iter().find(|f| f.name == function.name)
            {
                report.fusion(flat, before);
            }
        }
        report.choices(&settled.choices(checked)?);
        Ok((report.out, report.schedule))
    }

    /// Returns the choices that passes make for the operations of a program.
    fn choices(&self, checked: &Checked) -> Result<Choices, Failure> {
        let options = self.options();
        let core = Code::Core(checked.program.clone());
        pipeline::run(
            core,
            &checked.name,
            Stage::Loop,
            options,
            &mut Trace::default(),
        )?;
        let mut choices = options.plan.asked();
        let planned = options.plan.chosen().iter();
        for (key, value) in planned {
            if let Some(usual) = choices.get_mut(key) {
                *usual = *value;
            }
        }
        Ok(choices)
    }
}

impl Report<'_> {
    /// Adds a line; writing to a String cannot fail.
    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.out, "{:1$}{text}", "", depth * 2);
    }

    /// Reports the choices for each operation, in the words of plans.
    fn choices(&mut self, choices: &Choices) {
        if choices.is_empty() {
            return;
        }
        self.line(0, "choices, as --plan takes them:");
        for line in lines(choices) {
            self.line(1, &line);
        }
    }

    fn passes(&mut self, compiler: &Compiler) {
        let options = compiler.options();
        let target = options.target;
        self.line(0, &format!("target {target}, -O{}", options.optimization));
        self.line(0, "passes:");
        for pass in PASSES.iter().filter(|pass| is_enabled(pass, options)) {
            self.line(1, &format!("{} {}", pass.name, pass.description));
        }
        let is_on = |name: &str| {
            let mut passes = PASSES.iter().filter(|pass| pass.name == name);
            passes.any(|pass| is_enabled(pass, options))
        };
        let optional = optional_passes().into_iter();
        for pass in optional.filter(|pass| !is_on(pass.name)) {
            self.line(1, &format!("{} is switched off", pass.name));
        }
    }

    /// Reports how operations on all nodes of recursive data get these.
    fn tables(&mut self, trace: &Trace) {
        for note in &trace.tables {
            self.line(1, &format!("{}: {}", note.place, note.reading.text()));
        }
    }

    /// Reports the loops that one thread runs for want of a proof.
    fn left(&mut self, trace: &Trace) {
        for unproved in &trace.unproved {
            let what = match trace.one_thread {
                true => "one thread runs the whole program",
                false => "one thread runs it",
            };
            let (place, why) = (&unproved.place, &unproved.message);
            let text = format!(
                "{place}: {what}, since it could not be proved that the iterations of a loop do not meet: \
                 {why}"
            );
            self.line(1, &text);
        }
    }

    fn function(&mut self, function: &Function) {
        let entry = self
            .program
            .entries
            .iter()
            .any(|entry| self.program.function(entry.function).name == function.name);
        let kind = if entry { "entry" } else { "function" };
        self.line(0, "");
        let title = format!("{kind} {} ({})", function.name, function.place);
        self.line(0, &title);
        self.schedule.function(title);
        if function.recursive {
            self.line(1, "calls itself: its depth is checked at every call");
        }
        let before = self.out.len();
        let mut checks = Checks::new();
        self.body(&function.body, 1, &mut checks);
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

    fn body(&mut self, body: &Body, depth: usize, checks: &mut Checks) {
        for statement in &body.statements {
            deep(|| self.statement(statement, depth, checks));
        }
    }

    fn statement(&mut self, statement: &Statement, depth: usize, checks: &mut Checks) {
        if let Expression::Check { error, .. } | Expression::Fail { error, .. } =
            &statement.expression
        {
            let key = (statement.place.to_string(), error.info().word);
            *checks.entry(key).or_default() += 1;
        }
        if let Some(whole) = whole(self.notes.as_ref(), statement) {
            return self.body(whole, depth, checks);
        }
        let described = self.describe(statement);
        let parallelism = self.parallelism(statement);
        if let Some(described) = &described {
            let place = &statement.place;
            self.line(depth, &format!("{place}: {}", described.text()));
            if let Some(how) = &described.how {
                let what = format!("{place}: {}{}", described.what, described.made);
                let how = std::iter::once(how).chain(&parallelism).cloned().collect();
                self.schedule.row(depth, what, how);
            }
        }
        for line in parallelism {
            self.line(depth + 1, &line);
        }
        let inside = depth + usize::from(described.is_some());
        bodies(&statement.expression, &mut |body| {
            self.body(body, inside, checks);
        });
    }

    /// Describes a statement, if it is worth reporting.
    fn describe(&self, statement: &Statement) -> Option<Described> {
        match &statement.expression {
            Expression::Operation(operation) => {
                let order = self.order(statement, operation);
                Some(self.operation(operation, &order))
            }
            Expression::Sort { count, .. } | Expression::SortKeys { count, .. } => {
                let order = match self.is_parallelised(statement) {
                    true => "parallelised",
                    false => "in order",
                };
                let count = self.atom(*count);
                let by = match &statement.expression {
                    Expression::SortKeys { .. } => " by their keys",
                    _by_comparisons => "",
                };
                let what = format!("a sort of {count} elements{by}");
                Some(Described::with(what, order))
            }
            Expression::While { .. } => {
                let what = "a loop until its condition fails".to_string();
                Some(Described::with(what, "in order"))
            }
            Expression::Allocate {
                element,
                count,
                destination,
            } => {
                let block = statement.pattern.first()?;
                let name = match self.tenants.get(block) {
                    Some(array) => self.name(*array),
                    None => self.name(*block),
                };
                let count = self.atom(*count);
                let place = match destination {
                    None => "in a block of its own on the heap",
                    Some(_) => "made where the caller gets it",
                };
                let what = format!("array {name} of {count} {element}");
                Some(Described::with(what, place))
            }
            Expression::Copy(source) => {
                let text = self.copied(*source, &statement.pattern);
                text.map(Described::plain)
            }
            Expression::Unique(array) => Some(Described::plain(format!(
                "copies {} if somebody else holds it at that time",
                self.name(*array)
            ))),
            Expression::Foreign { foreign, .. } => {
                let called = self.program.foreigns.get(*foreign as usize);
                let name = called.map_or("?", |foreign| &foreign.name);
                let text = format!("calls the foreign function {name}");
                Some(Described::plain(text))
            }
            Expression::NodeNew { .. } => {
                let text = "appends a node to the table of its type";
                Some(Described::plain(text.to_string()))
            }
            Expression::NodesReached { .. } => {
                let text = "numbers the nodes that a datum reaches";
                Some(Described::plain(text.to_string()))
            }
            Expression::NodesReserve { count, .. } => {
                let text = format!("reserves places for {} nodes", self.atom(*count));
                Some(Described::plain(text))
            }
            _ => None,
        }
    }

    /// Describes the order of the iterations of an operation.
    fn order(&self, statement: &Statement, operation: &ArrayOperation) -> String {
        if let Some(strategy) = operation.strategy {
            return strategy_text(operation, strategy, self.device);
        }
        let first = statement.pattern.first();
        let tiled = first.is_some_and(|first| self.tiled.contains(first));
        let parallelised = self.is_parallelised(statement);
        let order = match (parallelised, tiled) {
            (true, true) => "parallelised, in tiles",
            (true, false) => "parallelised",
            (false, true) => "in tiles",
            (false, false) => "in order",
        };
        let word = match self.device {
            true => chosen(operation, parallelised),
            false => None,
        };
        match word {
            Some(word) => format!("{order} ({word})"),
            None => order.to_string(),
        }
    }

    /// Describes an operation: how often its body runs, and what becomes of the values.
    fn operation(&self, operation: &ArrayOperation, order: &str) -> Described {
        let extents: Vec<String> = operation.shape.iter().map(|e| self.atom(*e)).collect();
        let mut words: Vec<(&str, usize)> = Vec::new();
        for output in &operation.outputs {
            let word = output.word();
            match words.iter_mut().find(|(known, _)| *known == word) {
                Some((_, count)) => *count += 1,
                None => words.push((word, 1)),
            }
        }
        let outputs: Vec<String> = words
            .iter()
            .map(|(word, count)| match count {
                1 => word.to_string(),
                _ => format!("{count} times {word}"),
            })
            .collect();
        let made = match outputs.is_empty() {
            true => String::new(),
            false => format!(": {}", outputs.join(", ")),
        };
        Described {
            what: format!("a loop of {} iterations", extents.join(" x ")),
            how: Some(order.to_string()),
            made,
        }
    }

    fn name(&self, variable: Variable) -> String {
        self.program.variable(variable).name.to_string()
    }

    fn atom(&self, atom: Atom) -> String {
        match atom {
            Atom::Variable(variable) => self.name(variable),
            Atom::Constant(_) => print_atom(self.program, atom),
        }
    }
}

/// Returns the strategy that the compiler has chosen for an operation without one on a device, as a
/// program would state it. Returns `None` if there is no such word.
fn chosen(operation: &ArrayOperation, parallelised: bool) -> Option<&'static str> {
    let apart = |output: &Output| matches!(output, Output::Map | Output::Join { .. });
    let is_map = operation.carries.is_empty() && operation.outputs.iter().all(apart);
    let is_fold = !operation.carries.is_empty() && operation.outputs.is_empty();
    match (is_map, is_fold, parallelised) {
        (true, _, true) => Some("map_global"),
        (true, _, false) => Some("map_seq"),
        (false, true, false) => Some("reduce_seq"),
        (false, _, _) => None,
    }
}

/// Describes how an operation with a strategy runs, with the words of the program.
fn strategy_text(operation: &ArrayOperation, strategy: Strategy, device: bool) -> String {
    let order = match (operation.level, strategy.level, device) {
        (Level::Grid, By::Workgroup, true) => "shared among work-groups",
        (Level::Grid, _, true) => "shared among all work-items",
        (Level::Grid, _, false) => "shared among threads",
        (Level::Sequential, By::Local, true) => "shared among the work-items of a group",
        (Level::Sequential, _, _) => "in order",
    };
    let what = match operation.carries.is_empty() {
        true => "map",
        false => "reduce",
    };
    let level = strategy.level.word();
    let space = strategy.space.map(|space| format!(" to_{}", space.word()));
    format!("{order} ({what}_{level}{})", space.unwrap_or_default())
}
