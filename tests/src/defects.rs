//! Seeded compiler bugs. Each rewrites a program at one stage as a wrong pass would. The random
//! programs must find every one (a test that finds none proves nothing).

mod nodes;
mod text;

use nova_core::{ErrorKind, ScalarOperation};
use nova_flat::ir::{self as flat, Expression, Output, View};
use nova_flat::visit;
use nova_loop::ir as imperative;

/// A seeded bug.
pub struct Defect {
    /// The mistake.
    pub name: &'static str,
    /// The stage, and the rewriting.
    pub seed: Seed,
}

/// The stage a bug is seeded at.
#[derive(Clone, Copy)]
pub enum Seed {
    /// After lowering: a rewriting of each statement.
    Flat(fn(&mut flat::Statement)),
    /// After the optimiser: a rewriting of the program, which has operations on nodes there.
    Nodes(fn(&mut flat::Program)),
    /// After memory was introduced: a rewriting of the place of each array.
    Mem(fn(&mut nova_flat::memory::Memory)),
    /// After translation: a rewriting of each command.
    Loop(fn(&mut imperative::Command)),
    /// In the C that is compiled: a rewriting of its text.
    Text(fn(&str) -> String),
}

impl Defect {
    /// Returns the rewriting of C, if it is one of C.
    pub fn of_text(&self) -> Option<fn(&str) -> String> {
        match self.seed {
            Seed::Text(rewrite) => Some(rewrite),
            Seed::Flat(_) | Seed::Nodes(_) | Seed::Mem(_) | Seed::Loop(_) => None,
        }
    }
}

macro_rules! on_expression {
    ($($pattern:pat => $action:expr),* $(,)?) => {
        Seed::Flat(|statement| match &mut statement.expression { $($pattern => $action,)* _ => {} })
    };
}
macro_rules! on_operation {
    ($from:ident => $to:ident) => {
        Seed::Flat(|statement| {
            if let Expression::Scalar { operation, .. } = &mut statement.expression
                && *operation == ScalarOperation::$from
            {
                *operation = ScalarOperation::$to;
            }
        })
    };
}
macro_rules! on_output {
    ($pattern:pat => $action:expr) => {
        on_expression!(Expression::Operation(operation) => for output in &mut operation.outputs {
            if let $pattern = output { $action }
        })
    };
}
macro_rules! on_command {
    ($pattern:pat => $action:expr) => {
        Seed::Loop(|command| {
            if let $pattern = command {
                $action
            }
        })
    };
}

/// The seeded bugs.
pub const DEFECTS: &[Defect] = &[
    Defect {
        name: "subtraction with its operands swapped",
        seed: on_expression!(
        Expression::Scalar { operation: ScalarOperation::Subtract, arguments, .. } => arguments.reverse()),
    },
    Defect {
        name: "< compiled as <=",
        seed: on_operation!(Less => LessEqual),
    },
    Defect {
        name: "min compiled as max",
        seed: on_operation!(Minimum => Maximum),
    },
    Defect {
        name: "remainder compiled as quotient",
        seed: on_operation!(Remainder => Divide),
    },
    Defect {
        name: ">> compiled as <<",
        seed: on_operation!(ShiftRight => ShiftLeft),
    },
    Defect {
        name: "the check of an index dropped",
        seed: drop_check(ErrorKind::Index),
    },
    Defect {
        name: "the check of a divisor dropped",
        seed: drop_check(ErrorKind::Division),
    },
    Defect {
        name: "the check of lengths dropped",
        seed: drop_check(ErrorKind::Length),
    },
    Defect {
        name: "the check of a conversion dropped",
        seed: drop_check(ErrorKind::Conversion),
    },
    Defect {
        name: "branches of a conditional swapped",
        seed: on_expression!(
        Expression::If { then, otherwise, .. } => std::mem::swap(then, otherwise)),
    },
    Defect {
        name: "cases of a match rotated",
        seed: on_expression!(
        Expression::Switch { cases, .. } => cases.rotate_left(1)),
    },
    Defect {
        name: "operands of a reduction's operator swapped",
        seed: on_output!(
        Output::Reduce { lambda, .. } => swap_operands(lambda)),
    },
    Defect {
        name: "inclusive and exclusive scans exchanged",
        seed: on_output!(
        Output::Scan { exclusive, .. } => *exclusive = !*exclusive),
    },
    Defect {
        name: "operands of a scan's operator swapped",
        seed: on_output!(
        Output::Scan { lambda, .. } => swap_operands(lambda)),
    },
    Defect {
        name: "operands of a histogram's operator swapped",
        seed: on_output!(
        Output::Histogram { lambda, .. } => swap_operands(lambda)),
    },
    Defect {
        name: "lanes of a reduction that does not commute",
        seed: on_output!(
        Output::Reduce { commutes, .. } => *commutes = !*commutes),
    },
    Defect {
        name: "a slice that starts at 0",
        seed: on_expression!(
        Expression::View { view: View::Slice(dimensions), .. } => for d in dimensions.iter_mut() {
            d.start = flat::Atom::index(0);
        }),
    },
    Defect {
        name: "an update forgotten",
        seed: Seed::Flat(|statement| {
            if let Expression::Update { array, .. } = &statement.expression {
                statement.expression = Expression::Copy(*array);
            }
        }),
    },
    Defect {
        name: "a concatenation in the wrong order",
        seed: on_expression!(
        Expression::Concat { arrays, .. } => arrays.reverse()),
    },
    Defect {
        name: "a sort that is not stable",
        seed: on_expression!(
        Expression::Sort { compare, .. } => compare.parameters.reverse()),
    },
    Defect {
        name: "a loop that never runs",
        seed: on_expression!(
        Expression::While { condition, .. } => for result in &mut condition.results {
            *result = flat::Atom::Constant(nova_core::ScalarValue::Bool(false));
        }),
    },
    Defect {
        name: "a node with the wrong constructor",
        seed: Seed::Flat(|statement| {
            if let Expression::NodeNew {
                constructor,
                payload,
                ..
            } = &mut statement.expression
                && payload.is_empty()
            {
                *constructor += 1;
            }
        }),
    },
    Defect {
        name: "a table whose further nodes are taken not to matter",
        seed: on_expression!(
        Expression::TableOpen { exact, .. } => *exact = false),
    },
    Defect {
        name: "a link numbered as the node that has it",
        seed: Seed::Nodes(nodes::number_by_node),
    },
    Defect {
        name: "links of new nodes without the first place",
        seed: Seed::Nodes(nodes::forget_first),
    },
    Defect {
        name: "a place for one node of a table",
        seed: Seed::Nodes(nodes::reserve_one),
    },
    Defect {
        name: "a node stored with the wrong constructor",
        seed: Seed::Nodes(nodes::change_constructor),
    },
    Defect {
        name: "the check of a link dropped",
        seed: Seed::Nodes(nodes::drop_link_checks),
    },
    Defect {
        name: "an error reported at another place",
        seed: Seed::Flat(|statement| {
            if matches!(statement.expression, Expression::Check { .. }) {
                statement.place.column += 1;
            }
        }),
    },
    Defect {
        name: "an array placed at the wrong offset",
        seed: Seed::Mem(|memory| {
            memory.lmad.offset = memory
                .lmad
                .offset
                .plus(&nova_flat::memory::Polynomial::constant(1));
        }),
    },
    Defect {
        name: "a stride forgotten",
        seed: Seed::Mem(|memory| {
            for (_, stride) in &mut memory.lmad.dimensions {
                *stride = nova_flat::memory::Polynomial::constant(1);
            }
        }),
    },
    Defect {
        name: "a reference not counted",
        seed: on_command!(
        command @ imperative::Command::Retain(_) => *command = imperative::Command::Comment("lost".into())),
    },
    Defect {
        name: "a block never released",
        seed: on_command!(
        command @ imperative::Command::Release(_) => *command = imperative::Command::Comment("lost".into())),
    },
    Defect {
        name: "a growing block that loses its elements",
        seed: on_command!(
        imperative::Command::Reserve { used, .. } => {
            *used = imperative::Expression::Constant(nova_core::ScalarValue::I64(0));
        }),
    },
    Defect {
        name: "a store to the first element only",
        seed: on_command!(
        imperative::Command::Store { index, .. } => {
            *index = imperative::Expression::Constant(nova_core::ScalarValue::I64(0));
        }),
    },
    Defect {
        name: "a loop that starts with an empty round",
        seed: on_command!(
        imperative::Command::For { body, .. } => body.clear()),
    },
    Defect {
        name: "a loop that must run in order given to threads",
        seed: on_command!(
        imperative::Command::For { level, .. } => *level = imperative::Level::Grid),
    },
    Defect {
        name: "nodes reclaimed that a loop still reaches",
        seed: on_command!(
        imperative::Command::Table(imperative::TableCommand::Reclaim { links, targets, .. }) => {
            links.pop();
            targets.pop();
        }),
    },
    Defect {
        name: "nodes from before a loop reclaimed in it",
        seed: on_command!(
        imperative::Command::Table(imperative::TableCommand::Reclaim { first, .. }) => {
            first.fill(imperative::Expression::index(0));
        }),
    },
    Defect {
        name: "lanes that have left a loop go on computing",
        seed: on_command!(
        imperative::Command::Store { value, .. } => {
            if let imperative::Expression::Select { condition, then, otherwise } = value
                && matches!(**otherwise, imperative::Expression::Load { .. })
                && is_mask(condition)
            {
                *value = std::mem::replace(then, imperative::Expression::NullBlock);
            }
        }),
    },
    Defect {
        name: "constants of 64 bits printed as int",
        seed: Seed::Text(text::small_constants),
    },
];

/// Returns the seeded bugs whose names contain some words, or all without words.
pub fn named(words: &str) -> Vec<&'static Defect> {
    let holds = |defect: &&Defect| defect.name.contains(words);
    DEFECTS.iter().filter(holds).collect()
}

/// Takes the left operand for the right one.
fn swap_operands(lambda: &mut flat::Lambda) {
    let half = lambda.parameters.len() / 2;
    lambda.parameters.rotate_left(half);
}

const fn drop_check(kind: ErrorKind) -> Seed {
    match kind {
        ErrorKind::Index => Seed::Flat(|s| drop_if(s, ErrorKind::Index)),
        ErrorKind::Division => Seed::Flat(|s| drop_if(s, ErrorKind::Division)),
        ErrorKind::Length => Seed::Flat(|s| drop_if(s, ErrorKind::Length)),
        _ => Seed::Flat(|s| drop_if(s, ErrorKind::Conversion)),
    }
}

fn drop_if(statement: &mut flat::Statement, kind: ErrorKind) {
    if let Expression::Check {
        condition, error, ..
    } = &mut statement.expression
        && *error == kind
    {
        *condition = flat::Atom::Constant(nova_core::ScalarValue::Bool(true));
    }
}

/// Seeds a bug into a Flat program, if it is one of Flat. Returns true if that changes the program.
pub fn seed_flat(program: &mut flat::Program, defect: &Defect) -> bool {
    let Seed::Flat(rewrite) = defect.seed else {
        return false;
    };
    changes(program, |program| {
        for function in &mut program.functions {
            visit::each_body_mut(&mut function.body, &mut |body| {
                body.statements.iter_mut().for_each(rewrite);
            });
        }
    })
}

/// Seeds a bug into an optimised program, if it is one of that stage. Returns true if that changes the
/// program.
pub fn seed_nodes(program: &mut flat::Program, defect: &Defect) -> bool {
    let Seed::Nodes(rewrite) = defect.seed else {
        return false;
    };
    changes(program, rewrite)
}

/// Seeds a bug into a Mem program, if it is one of Mem. Returns true if that changes the program.
pub fn seed_mem(program: &mut flat::Program, defect: &Defect) -> bool {
    let Seed::Mem(rewrite) = defect.seed else {
        return false;
    };
    changes(program, |program| {
        program
            .variables
            .iter_mut()
            .filter_map(|v| v.memory.as_mut())
            .for_each(rewrite);
    })
}

/// Seeds a bug into a Loop program, if it is one of Loop. Returns true if that changes the program.
pub fn seed_loop(program: &mut imperative::Program, defect: &Defect) -> bool {
    let Seed::Loop(rewrite) = defect.seed else {
        return false;
    };
    changes(program, |program| {
        for function in &mut program.functions {
            each_command(&mut function.body, rewrite);
        }
    })
}

/// True if a rewriting changes anything.
fn changes<P: std::fmt::Debug>(program: &mut P, rewrite: impl FnOnce(&mut P)) -> bool {
    let before = format!("{program:?}");
    rewrite(program);
    before != format!("{program:?}")
}

fn each_command(commands: &mut [imperative::Command], rewrite: fn(&mut imperative::Command)) {
    use imperative::Command;
    for command in commands {
        match command {
            Command::If {
                then, otherwise, ..
            } => {
                nova_diag::deep(|| each_command(then, rewrite));
                nova_diag::deep(|| each_command(otherwise, rewrite));
            }
            Command::Switch { cases, .. } => {
                cases
                    .iter_mut()
                    .for_each(|c| nova_diag::deep(|| each_command(c, rewrite)));
            }
            Command::For { body, .. } | Command::Loop { body, .. } => {
                nova_diag::deep(|| each_command(body, rewrite));
            }
            _ => {}
        }
        rewrite(command);
    }
}

/// True for the condition that a lane takes part, by a mask.
fn is_mask(condition: &imperative::Expression) -> bool {
    let imperative::Expression::Scalar {
        operation: ScalarOperation::NotEqual,
        operand: nova_core::Scalar::I32,
        arguments,
    } = condition
    else {
        return false;
    };
    matches!(arguments[..], [imperative::Expression::Load { .. }, _])
}
