//! Checks of the nesting of strategies (language §7; dpia.txt §9 leaves it to the programmer).
//! Work-items do not start work-groups, and the work-items of a group need a group.
//!
//! The check walks the program as it was lowered, before any optimisation, from its entries and
//! through its calls. At that stage every function is known, including those passed to others, and
//! the code around a map does not depend on options. Functions that are values are numbers there,
//! and a `Switch` chooses between them. A call that passes one as a constant is followed with this
//! constant, so that a higher-order function is judged by the functions that it gets.

use crate::limits::VISITS_OF_A_FUNCTION;
use crate::options::Target;
use crate::pipeline::Trace;
use nova_core::ir::{ExpressionKind as CoreKind, Program as Core};
use nova_core::strategy::{Level, Space, Strategy};
use nova_core::{Builtin, Scalar, ScalarOperation, ir};
use nova_diag::{Diagnostic, Place, SourceMap, Span, codes, deep};
use nova_flat::ir::{Atom, Body, Expression, FunctionId, Program, Statement, Variable};
use nova_flat::visit::bodies;
use nova_syntax::ast::{self, ExpressionKind};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the errors of a program's strategies on a target: those of every target, and those of
/// this one.
pub fn check(
    tree: &ast::Program,
    core: &Core,
    sources: &SourceMap,
    target: Target,
) -> Vec<Diagnostic> {
    if !has_any(core) {
        return Vec::new();
    }
    // A program that cannot be lowered is a mistake of the compiler, which the pipeline reports.
    let Ok(program) = nova_lower::lower(core) else {
        return Vec::new();
    };
    let mut walk = Walk {
        program: &program,
        target,
        visited: BTreeSet::new(),
        times: BTreeMap::new(),
        found: Vec::new(),
    };
    for entry in &program.entries {
        walk.function(entry.function, &[], &Around::nothing());
    }
    let source = Source { tree, sources };
    let found = walk.found.iter();
    found.filter_map(|error| source.diagnostic(error)).collect()
}

/// True if a program has any strategy.
pub fn has_any(core: &Core) -> bool {
    core.arena.iter().any(is_marked)
}

/// True if a program declares functions that are code of the device.
pub fn calls_the_device(core: &Core) -> bool {
    core.foreigns.iter().any(|foreign| match foreign.kind {
        ir::ForeignKind::Device => true,
        ir::ForeignKind::Plain | ir::ForeignKind::Effect => false,
    })
}

/// Returns the errors of strategies that a target cannot honour although they are nested correctly.
/// Also returns errors for calls of device functions on a target that has only the host.
pub fn not_honoured(
    tree: &ast::Program,
    sources: &SourceMap,
    target: Target,
    trace: &Trace,
) -> Vec<Diagnostic> {
    let source = Source { tree, sources };
    let stranded = trace.stranded.iter().filter_map(|stranded| {
        let span = source.span(&stranded.place)?;
        let name = &stranded.name;
        let message = format!("`{name}` is code of the device, and the host would have to call it");
        let help = "what is around the call does what only the host can";
        Some(Diagnostic::error(codes::TARGET_CANNOT, span, message).help(help))
    });
    let found = trace.dropped.iter().filter_map(|dropped| {
        let span = source.span(&dropped.place)?;
        let name = map_name(dropped.level);
        let message = format!("`{name}` cannot be honoured for the target {target}");
        Some(Diagnostic::error(codes::BAD_NESTING, span, message).label(dropped.why))
    });
    found.chain(stranded).collect()
}

fn is_marked(expression: &ir::Expression) -> bool {
    match &expression.kind {
        CoreKind::Builtin { builtin, .. } => matches!(
            builtin,
            Builtin::Map { strategy: Some(_) } | Builtin::ReduceSeq { .. }
        ),
        _no_builtin => false,
    }
}

/// The context of some code: nothing in parallel, or the innermost of the maps around it that
/// distribute their indices.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Around {
    level: Option<Level>,
    /// The place of that map.
    place: Option<Place>,
}

impl Around {
    fn nothing() -> Around {
        Around {
            level: None,
            place: None,
        }
    }
}

/// A rule of nesting: a map of this level must not stand inside one of another level, or of none,
/// for this reason.
type Rule = (Level, Option<Level>, &'static str);

/// All other combinations are allowed.
const NESTING: &[Rule] = &[
    (
        Level::Workgroup,
        Some(Level::Workgroup),
        "a work-group cannot start others",
    ),
    (
        Level::Workgroup,
        Some(Level::Global),
        "a work-item cannot start work-groups",
    ),
    (
        Level::Workgroup,
        Some(Level::Local),
        "a work-item cannot start work-groups",
    ),
    (
        Level::Global,
        Some(Level::Workgroup),
        "a work-group has only its own work-items, for `map_local`",
    ),
    (
        Level::Global,
        Some(Level::Global),
        "a work-item cannot start others",
    ),
    (
        Level::Global,
        Some(Level::Local),
        "a work-item cannot start others",
    ),
    (
        Level::Local,
        None,
        "it is shared by the work-items of a group, and there is no `map_workgroup` around it",
    ),
    (
        Level::Local,
        Some(Level::Global),
        "it is shared by the work-items of a group, and the map around it has none",
    ),
    (
        Level::Local,
        Some(Level::Local),
        "the work-items of the group each run an iteration of the enclosing map already",
    ),
];

/// An error, by the places that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Misplaced {
    strategy: Strategy,
    place: Place,
    around: Around,
    /// The space that is not available, if the error is about one.
    space: Option<Space>,
    why: &'static str,
}

/// The variables of a function that are constants.
type Constants = BTreeMap<Variable, i32>;

struct Walk<'a> {
    program: &'a Program,
    target: Target,
    /// The functions that were visited, with their context and the constants they got.
    visited: BTreeSet<(FunctionId, Option<Level>, Vec<Option<i32>>)>,
    /// The number of visits of each.
    times: BTreeMap<FunctionId, usize>,
    found: Vec<Misplaced>,
}

impl<'a> Walk<'a> {
    fn function(&mut self, id: FunctionId, given: &[Option<i32>], around: &Around) {
        let times = self.times.entry(id).or_default();
        let given = match *times < VISITS_OF_A_FUNCTION {
            true => given,
            false => &[],
        };
        let key = (id, around.level, given.to_vec());
        if !self.visited.insert(key) {
            return;
        }
        *times += 1;
        let function = self.program.function(id);
        let pairs = function.parameters.iter().zip(given);
        let mut constants: Constants = pairs.filter_map(|(p, c)| Some((*p, (*c)?))).collect();
        deep(|| self.body(&function.body, around, &mut constants));
    }

    fn body(&mut self, body: &'a Body, around: &Around, constants: &mut Constants) {
        for statement in &body.statements {
            let own = self.statement(statement, around);
            let around = own.as_ref().unwrap_or(around);
            match &statement.expression {
                Expression::Atom(atom) => {
                    note(&statement.pattern, *atom, constants);
                }
                // Numbers of functions are bytes, which a `Switch` gets as an `i32`.
                Expression::Scalar {
                    operation: ScalarOperation::Convert(Scalar::I32),
                    arguments,
                    ..
                } => {
                    if let [atom] = arguments[..] {
                        note(&statement.pattern, atom, constants);
                    }
                }
                Expression::Call {
                    function,
                    arguments,
                    ..
                } => {
                    let given = arguments.iter().map(|a| constant(*a, constants));
                    let given: Vec<Option<i32>> = given.collect();
                    self.function(*function, &given, around);
                }
                Expression::Switch { scrutinee, cases } => {
                    let known = constant(*scrutinee, constants);
                    let last = cases.len().saturating_sub(1);
                    let chosen = known.map(|k| usize::try_from(k).map_or(last, |k| k.min(last)));
                    for (k, case) in cases.iter().enumerate() {
                        if chosen.is_none_or(|chosen| chosen == k) {
                            deep(|| self.body(case, around, constants));
                        }
                    }
                }
                with_bodies => bodies(with_bodies, &mut |inner| {
                    deep(|| self.body(inner, around, constants));
                }),
            }
        }
    }

    /// Visits a statement. Returns the context of its bodies where the statement changes it.
    fn statement(&mut self, statement: &Statement, around: &Around) -> Option<Around> {
        let strategy = nova_flat::visit::strategy_of(&statement.expression)?;
        let place = &statement.place;
        let mut report = |space, why| {
            let error = Misplaced {
                strategy,
                place: place.clone(),
                around: around.clone(),
                space,
                why,
            };
            if !self.found.contains(&error) {
                self.found.push(error);
            }
        };
        let broken = NESTING
            .iter()
            .find(|(level, outer, _)| *level == strategy.level && *outer == around.level);
        if let Some((.., why)) = broken {
            report(None, why);
        } else if let Some(why) = refused_space(strategy, around.level, self.target) {
            report(strategy.space, why);
        }
        match strategy.level {
            Level::Sequential => None,
            Level::Global | Level::Workgroup | Level::Local => Some(Around {
                level: Some(strategy.level),
                place: Some(place.clone()),
            }),
        }
    }
}

/// Notes the value of an atom, if it is known, for the variable that gets it.
fn note(pattern: &[Variable], atom: Atom, constants: &mut Constants) {
    if let (Some(value), [name]) = (constant(atom, constants), pattern) {
        constants.insert(*name, value);
    }
}

/// Returns the value of an atom, if it is known.
fn constant(atom: Atom, constants: &Constants) -> Option<i32> {
    match atom {
        Atom::Constant(value) => i32::try_from(value.as_integer()?).ok(),
        Atom::Variable(variable) => constants.get(&variable).copied(),
    }
}

/// Returns the reason why a result cannot lie in its space, if it cannot.
fn refused_space(
    strategy: Strategy,
    around: Option<Level>,
    target: Target,
) -> Option<&'static str> {
    let one_item = match strategy.level {
        Level::Sequential => true,
        Level::Global | Level::Workgroup | Level::Local => false,
    };
    let (in_group, in_item) = match around {
        None => (false, false),
        Some(Level::Workgroup) => (true, false),
        Some(Level::Local) => (true, true),
        Some(Level::Global | Level::Sequential) => (false, true),
    };
    let device = target.has_device();
    match strategy.space {
        None | Some(Space::Global) => None,
        Some(Space::Local) => (!in_group).then_some(
            "local memory is that of a work-group, and there is no `map_workgroup` around it",
        ),
        Some(Space::Private) if !one_item => {
            Some("private memory is that of one work-item, and several make this result")
        }
        Some(Space::Private) => (device && !in_item)
            .then_some("private memory is that of a work-item, and none runs this on the target"),
    }
}

/// The source, for messages.
struct Source<'a> {
    tree: &'a ast::Program,
    sources: &'a SourceMap,
}

impl Source<'_> {
    fn diagnostic(&self, error: &Misplaced) -> Option<Diagnostic> {
        let name = map_name(error.strategy.level);
        let span = self.span(&error.place)?;
        let outer = error.around.place.as_ref();
        let outer = outer.and_then(|place| self.span(place));
        let around = error.around.level.map(map_name);
        let message = match (&around, error.space) {
            (Some(around), None) => format!("`{name}` cannot stand inside `{around}`"),
            (None, None) => format!("`{name}` cannot stand here"),
            (_, Some(space)) => {
                format!("this result cannot lie in {} memory", space.word())
            }
        };
        let diagnostic = Diagnostic::error(codes::BAD_NESTING, span, message).label(error.why);
        Some(match (outer, around) {
            (Some(outer), Some(around)) => diagnostic.also(outer, format!("this `{around}`")),
            (_, _) => diagnostic,
        })
    }

    /// Returns the span of the name that stands first in the form at a place. In `((to_local
    /// (map_seq f)) X)` that is the name of the map.
    fn span(&self, place: &Place) -> Option<Span> {
        let expressions = self.tree.arena.iter();
        let at = expressions.filter(|e| self.sources.place(e.span) == *place);
        let mut found = at.min_by_key(|e| e.span.end)?;
        loop {
            match &found.kind {
                ExpressionKind::Apply(function, arguments) => {
                    let head = self.tree.expression(*function);
                    found = match (arguments.first(), &head.kind) {
                        (Some(first), ExpressionKind::Name(name)) if is_space(name) => {
                            self.tree.expression(*first)
                        }
                        (_, _) => head,
                    };
                }
                ExpressionKind::Annotate(inner, _) => found = self.tree.expression(*inner),
                _other => return Some(found.span),
            }
        }
    }
}

fn is_space(name: &str) -> bool {
    let word = name.strip_prefix("to_");
    word.is_some_and(|word| Space::by_word(word).is_some())
}

/// Returns the name of a map of this level in programs.
fn map_name(level: Level) -> String {
    format!("map_{}", level.word())
}
