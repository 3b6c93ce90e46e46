//! The part of the report on reuse in place. It tells which arrays are written over those that they
//! replace, and which are so only if nobody else holds these when the program runs. It also tells which
//! arrays are copied, with the obstacle.

use super::Report;
use super::parallelism::each_unparallelised;
use crate::code::Code;
use crate::compiler::{Checked, Compiler};
use crate::error::Failure;
use crate::pipeline::{self, PASSES, is_enabled};
use nova_diag::Place;
use nova_flat::ir::{ArrayOperation, Expression, Function, Output, Program, Statement, Variable};
use nova_flat::memory::Memory;
use nova_flat::visit::each_statement;
use nova_mem::MARK;
use nova_mem::reuse::{Kept, Obstacle};
use std::collections::{BTreeMap, HashSet};

/// The pass that the lines describe.
const REUSE: &str = "reuse";

/// The arrays that the pass did not reuse, by the array that is made; `None` if the pass is switched
/// off.
pub(super) type Obstacles = Option<BTreeMap<Variable, Kept>>;

impl Compiler {
    /// Returns the obstacles that the pass found, from a run of the passes before it and of itself.
    pub(super) fn obstacles(&self, checked: &Checked) -> Result<Obstacles, Failure> {
        let options = self.options();
        let runs = |pass: &&pipeline::Pass| pass.name == REUSE && is_enabled(pass, options);
        if !PASSES.iter().any(|pass| runs(&pass)) {
            return Ok(None);
        }
        let code = Code::Core(checked.program.clone());
        match pipeline::run_before(REUSE, code, &checked.name, options)? {
            Code::Mem(mut program) => Ok(Some(nova_mem::reuse::run(
                &mut program,
                pipeline::counting(options),
            ))),
            Code::Core(_) | Code::Flat(_) | Code::Loop(_) | Code::C(_) | Code::Files(_) => Ok(None),
        }
    }
}

/// An array that a statement makes of another one.
struct Change {
    /// The kind of the statement.
    word: &'static str,
    made: Variable,
    /// The array that it replaces.
    old: Variable,
}

impl Report<'_> {
    /// Adds the lines of a function.
    pub(super) fn reuse(&mut self, function: &Function, obstacles: &Obstacles) {
        let mut lines = Vec::new();
        let mut counted = HashSet::new();
        each_unparallelised(self.notes.as_ref(), &function.body, &mut |statement| {
            if let Expression::Unique(_) = &statement.expression {
                counted.extend(statement.pattern.iter().copied());
            }
            for change in self.changes(statement, obstacles) {
                lines.push(self.change(&statement.place, &change, &counted, obstacles));
            }
        });
        for line in lines {
            self.line(1, &line);
        }
    }

    /// Returns the arrays that a statement makes of others: those of updates and scatters, and maps
    /// that read what they could be written over.
    fn changes(&self, statement: &Statement, obstacles: &Obstacles) -> Vec<Change> {
        match &statement.expression {
            Expression::Update { array, .. } => {
                let made = statement.pattern.iter();
                let change = |made: &Variable| Change {
                    word: "update",
                    made: *made,
                    old: *array,
                };
                made.map(change).collect()
            }
            Expression::Operation(operation) => {
                self.operation_changes(operation, &statement.pattern, obstacles)
            }
            _ => Vec::new(),
        }
    }

    fn operation_changes(
        &self,
        operation: &ArrayOperation,
        pattern: &[Variable],
        obstacles: &Obstacles,
    ) -> Vec<Change> {
        let mut changes = Vec::new();
        let mut given = pattern.iter().skip(operation.carries.len()).copied();
        for output in &operation.outputs {
            let own = given.by_ref().take(output.gives());
            match output {
                Output::Scatter { destinations, .. } => {
                    changes.extend(own.zip(destinations).map(|(made, old)| Change {
                        word: "scatter",
                        made,
                        old: *old,
                    }));
                }
                Output::Map => changes.extend(own.filter_map(|made| {
                    let kept = obstacles.as_ref().and_then(|kept| kept.get(&made));
                    let old = match kept {
                        Some(kept) => Some(kept.array),
                        None => self.read_in_place(operation, made),
                    };
                    let word = "map";
                    old.map(|old| Change { word, made, old })
                })),
                _ => own.for_each(drop),
            }
        }
        changes
    }

    /// Returns the array that the body of a map reads and that lies where its result does.
    fn read_in_place(&self, operation: &ArrayOperation, made: Variable) -> Option<Variable> {
        let memory = self.memory(made)?;
        let mut found = None;
        each_statement(&operation.body, &mut |statement| {
            if let Expression::Index { array, .. } = &statement.expression
                && self.memory(*array) == Some(memory)
            {
                found = found.or(Some(*array));
            }
        });
        found
    }

    /// Describes the outcome of a change.
    fn change(
        &self,
        place: &Place,
        change: &Change,
        counted: &HashSet<Variable>,
        obstacles: &Obstacles,
    ) -> String {
        let Change { word, made, old } = change;
        let name = plain_name(self.program, *old);
        let what = format!("{place}: {word} of {name}");
        if self.memory(*made) == self.memory(*old) {
            return match counted.contains(old) {
                true => format!(
                    "{what} in place if nobody else holds it at that time, in a copy otherwise"
                ),
                false => format!("{what} in place"),
            };
        }
        let why = match obstacles {
            None => format!("{REUSE} is switched off"),
            Some(kept) => match kept.get(made) {
                Some(kept) => reason(self.program, kept),
                None => "nothing is known of its uses".to_string(),
            },
        };
        format!("{what} not in place, because {why}")
    }

    /// Describes a copy: its source, and the reason why it is a copy. Returns `None` if both are in the
    /// same place.
    pub(super) fn copied(&self, source: Variable, made: &[Variable]) -> Option<String> {
        if made.iter().all(|v| self.memory(*v) == self.memory(source)) {
            return None;
        }
        let name = plain_name(self.program, source);
        let in_order = self.memory(source).is_none_or(|m| m.lmad.is_row_major());
        let why = match in_order {
            true => "is also needed in another place",
            false => "has elements that do not follow each other in order",
        };
        Some(format!("copies {name}, which {why}"))
    }

    fn memory(&self, array: Variable) -> Option<&Memory> {
        self.program.variable(array).memory.as_ref()
    }
}

/// Describes the obstacle, as the end of a sentence.
fn reason(program: &Program, kept: &Kept) -> String {
    let name = plain_name(program, kept.array);
    match &kept.obstacle {
        Obstacle::UsedLater(event) if event.array == kept.array => {
            format!("{name} is used again at {}", event.place)
        }
        Obstacle::UsedLater(event) => {
            let other = plain_name(program, event.array);
            format!("{name} is used again at {}, as {other}", event.place)
        }
        Obstacle::ReadMeanwhile => {
            format!("{name} is also read elsewhere than where it is written")
        }
        Obstacle::Borrowed => format!(
            "the memory of {name} is not the function's own: an input, a constant, or part of a node"
        ),
        Obstacle::NotInOrder => format!("the elements of {name} do not follow each other in order"),
        Obstacle::PlacedElsewhere => "the new array is built where it is needed later".to_string(),
        Obstacle::Uncounted => {
            format!("others may hold {name}, and a work-group has no memory for a copy")
        }
    }
}

/// Returns the name of an array, without the mark that a pass on memory adds.
fn plain_name(program: &Program, array: Variable) -> &str {
    program.variable(array).name.trim_start_matches(MARK)
}
