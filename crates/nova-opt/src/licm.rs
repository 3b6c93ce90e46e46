//! Loop-invariant code motion. Values that every iteration of a loop computes anew, and the same,
//! are computed once before the loop.
//!
//! The pass is one walk in order. The level of a variable is the number of bodies that enclose the
//! statement that binds it. A statement moves out of the enclosing loops as far as the variables
//! that it uses allow, straight to its place. It never leaves a branch of a conditional. [`run`]
//! moves statements that are defined everywhere and have no effect, whole operations included.
//! [`run_checks`] also moves checks, and statements that are defined only after them. The first
//! iteration of the loops must certainly reach such a statement, and nothing before it may have an
//! effect. Such code is guarded, so that it does nothing where a loop has no iterations. Checks
//! pass each other.

mod guard;

use crate::effects::{Effects, FunctionEffects};
use crate::total::is_total_expression;
use nova_core::{Scalar, ScalarOperation};
use nova_diag::deep;
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Output, Program, Statement, Type, Variable,
};
use nova_flat::visit::{
    binders, bodies, bodies_mut, each_statement, type_variables, used_variables,
};
use std::collections::{HashMap, HashSet};

/// Moves statements that are defined everywhere and have no effect out of the loops of every
/// function.
pub fn run(program: &mut Program) {
    hoist(program, false);
}

/// Does what [`run`] does, and also moves checks and statements that are defined only after them.
pub fn run_checks(program: &mut Program) {
    hoist(program, true);
}

fn hoist(program: &mut Program, checks: bool) {
    let effects = FunctionEffects::new(program);
    let mut walk = Hoist {
        levels: vec![None; program.variables.len()],
        program,
        effects: &effects,
        checks,
        extents: HashMap::new(),
        fitting: HashMap::new(),
        checked: HashMap::new(),
        elsewhere: HashSet::new(),
        regions: Vec::new(),
        opened: 0,
    };
    for k in 0..walk.program.functions.len() {
        let mut body = std::mem::take(&mut walk.program.functions[k].body);
        let parameters = walk.program.functions[k].parameters.clone();
        walk.bind(&parameters, 0);
        used_elsewhere(&body, &mut walk.elsewhere);
        walk.body(&mut body, Kind::Branch);
        walk.program.functions[k].body = body;
    }
}

/// Adds the variables that something else in a body uses than a concatenation.
fn used_elsewhere(body: &Body, found: &mut HashSet<Variable>) {
    for statement in &body.statements {
        if !matches!(statement.expression, Expression::Concat { .. }) {
            used_variables(&statement.expression, &mut |v| {
                found.insert(v);
            });
        }
        bodies(&statement.expression, &mut |inner| {
            deep(|| used_elsewhere(inner, found))
        });
    }
    found.extend(
        body.results
            .iter()
            .filter_map(|result| result.as_variable()),
    );
}

/// The deepest level of a body that code leaves. A set of levels is one word.
const DEEPEST: usize = 63;

/// A set of levels up to [`DEEPEST`].
#[derive(Clone, Copy, Default)]
struct Levels(u64);

impl Levels {
    fn one(level: usize) -> Levels {
        Levels(1 << level.min(DEEPEST))
    }

    fn or(self, other: Levels) -> Levels {
        Levels(self.0 | other.0)
    }

    /// Returns the levels up to `level`.
    fn up_to(self, level: usize) -> Levels {
        Levels(self.0 & (u64::MAX >> (DEEPEST - level.min(DEEPEST))))
    }

    /// Returns the deepest level.
    fn deepest(self) -> usize {
        DEEPEST.saturating_sub(self.0.leading_zeros() as usize)
    }
}

/// The role of a body in its statement.
#[derive(Clone)]
enum Kind {
    /// It may run once or never.
    Branch,
    /// It is run by a loop, perhaps never.
    Loop,
    /// It runs for every index of a space of these extents. The flag is true for an operation that
    /// carries a strategy: no operation leaves it.
    Operation(Vec<Atom>, bool),
}

/// A body that is being walked.
struct Region {
    kind: Kind,
    /// A number that no other body has.
    id: usize,
    /// Its statements so far, those moved here included.
    statements: Vec<Statement>,
    summary: Summary,
    /// Variables that are true if loops have no iterations, for code that moved to the
    /// enclosing body. The key is the innermost of the loops that the code left.
    guards: HashMap<usize, Variable>,
}

/// Facts about the statements of a body.
#[derive(Clone, Copy)]
struct Summary {
    /// The levels at which the variables that they use are bound.
    uses: Levels,
    effects: Effects,
    /// True if all of them are defined everywhere, have no effect, and need little memory.
    movable: bool,
}

struct Hoist<'a> {
    program: &'a mut Program,
    effects: &'a FunctionEffects,
    /// True if checks move too.
    checks: bool,
    /// The level at which each variable is bound, by variable.
    levels: Vec<Option<usize>>,
    /// The extents of the indices of operations.
    extents: HashMap<Variable, Atom>,
    /// The tests whether an integer lies in the range of a type, by the variable of the result.
    fitting: HashMap<Variable, (Variable, Scalar)>,
    /// The integers that have been checked to lie in the range of a type, with the level of the check.
    checked: HashMap<(Variable, Scalar), usize>,
    /// The variables that something else uses than a concatenation.
    elsewhere: HashSet<Variable>,
    /// The bodies being walked, outermost first. The index of a body is the level of the variables
    /// that it binds.
    regions: Vec<Region>,
    /// The number of bodies met so far.
    opened: usize,
}

impl Hoist<'_> {
    fn bind(&mut self, variables: &[Variable], level: usize) {
        for variable in variables {
            if self.levels.len() <= variable.index() {
                self.levels.resize(variable.index() + 1, None);
            }
            self.levels[variable.index()] = Some(level);
        }
    }

    fn level(&self, variable: Variable) -> Levels {
        match self.levels.get(variable.index()) {
            Some(Some(level)) => Levels::one(*level),
            // Bound by the statement itself.
            Some(None) | None => Levels::default(),
        }
    }

    /// Returns the level of the innermost body.
    fn depth(&self) -> usize {
        self.regions.len().saturating_sub(1)
    }

    fn body(&mut self, body: &mut Body, kind: Kind) -> Summary {
        self.regions.push(Region {
            kind,
            id: self.opened,
            statements: Vec::with_capacity(body.statements.len()),
            summary: Summary {
                uses: Levels::default(),
                effects: Effects::default(),
                movable: true,
            },
            guards: HashMap::new(),
        });
        self.opened += 1;
        for statement in std::mem::take(&mut body.statements) {
            self.statement(statement);
        }
        let mut uses = Levels::default();
        for result in &body.results {
            if let Atom::Variable(variable) = result {
                uses = uses.or(self.level(*variable));
            }
        }
        let depth = self.depth();
        self.checked.retain(|_, level| *level < depth);
        match self.regions.pop() {
            Some(region) => {
                body.statements = region.statements;
                let uses = uses.or(region.summary.uses);
                Summary {
                    uses,
                    ..region.summary
                }
            }
            None => Summary {
                uses,
                effects: Effects::default(),
                movable: false,
            },
        }
    }

    fn statement(&mut self, mut statement: Statement) {
        let depth = self.depth();
        let mut bound = Vec::new();
        binders(&statement.expression, &mut |v| bound.push(*v));
        self.bind(&bound, depth + 1);
        let inside = self.inside(&mut statement.expression);
        let summary = Summary {
            uses: (inside.uses.or(self.uses(&statement, &bound)))
                .or(self.checked_at(&statement).unwrap_or_default())
                .up_to(depth),
            effects: inside.effects.or(self.effects.own(&statement.expression)),
            movable: inside.movable && self.is_movable(&statement),
        };
        let target = match summary.movable {
            true => self.invariant_in(&statement.expression, summary.uses),
            false => depth,
        };
        if !self.checks || target < depth {
            return self.place(statement, target, summary);
        }
        if let Some(statement) = self.guarded(statement, summary) {
            self.place(statement, depth, summary);
        }
    }

    /// Adds a statement to the body at a level.
    fn place(&mut self, statement: Statement, level: usize, summary: Summary) {
        self.bind(&statement.pattern, level);
        self.learn(&statement, level);
        if let Some(region) = self.regions.get_mut(level) {
            region.summary.uses = region.summary.uses.or(summary.uses);
            region.summary.effects = region.summary.effects.or(summary.effects);
            region.summary.movable &= summary.movable;
            region.statements.push(statement);
        }
    }

    /// Notes the fact that a check at a level establishes.
    fn learn(&mut self, statement: &Statement, level: usize) {
        match (&statement.expression, &statement.pattern[..]) {
            (
                Expression::Scalar {
                    operation: ScalarOperation::Fits(to),
                    arguments,
                    ..
                },
                [answer],
            ) => {
                if let [Atom::Variable(number)] = arguments[..] {
                    self.fitting.insert(*answer, (number, *to));
                }
            }
            (
                Expression::Check {
                    condition: Atom::Variable(condition),
                    ..
                },
                _,
            ) => {
                if let Some(fits) = self.fitting.get(condition) {
                    self.checked.entry(*fits).or_insert(level);
                }
            }
            _others => {}
        }
    }

    /// Returns the level of the check that makes a conversion defined, if there is one before it.
    fn checked_at(&self, statement: &Statement) -> Option<Levels> {
        let Expression::Scalar {
            operation: ScalarOperation::Convert(to),
            arguments,
            ..
        } = &statement.expression
        else {
            return None;
        };
        let [Atom::Variable(number)] = arguments[..] else {
            return None;
        };
        let level = self.checked.get(&(number, *to))?;
        Some(Levels::one(*level))
    }

    /// Returns the levels at which the variables that a statement itself uses are bound.
    fn uses(&self, statement: &Statement, bound: &[Variable]) -> Levels {
        let mut uses = Levels::default();
        let mut add = |variable| uses = uses.or(self.level(variable));
        used_variables(&statement.expression, &mut add);
        for variable in statement.pattern.iter().chain(bound) {
            let info = self.program.variable(*variable);
            type_variables(&info.ty, info.memory.as_ref(), &mut add);
        }
        uses
    }

    /// Walks the bodies of an expression.
    fn inside(&mut self, expression: &mut Expression) -> Summary {
        let mut summary = Summary {
            uses: Levels::default(),
            effects: Effects::default(),
            movable: true,
        };
        let mut kinds = kinds(expression).into_iter();
        if let Expression::Operation(operation) = &*expression {
            let extents = operation.indices.iter().zip(&operation.shape);
            self.extents.extend(extents.map(|(i, e)| (*i, *e)));
        }
        bodies_mut(expression, &mut |body| {
            let kind = kinds.next().unwrap_or(Kind::Loop);
            let inner = deep(|| self.body(body, kind));
            summary.uses = summary.uses.or(inner.uses);
            summary.effects = summary.effects.or(inner.effects);
            summary.movable &= inner.movable;
        });
        summary
    }

    /// True if a statement, apart from its bodies, is defined everywhere, has no effect, and needs
    /// no more memory and time than the arrays that it reads.
    fn is_movable(&self, statement: &Statement) -> bool {
        match &statement.expression {
            Expression::Atom(_) | Expression::If { .. } | Expression::Switch { .. } => {
                self.gives_scalars(statement)
            }
            Expression::Scalar { .. } => {
                is_total_expression(&statement.expression) || self.checked_at(statement).is_some()
            }
            Expression::Index { array, indices } => self.is_in_range(*array, indices),
            Expression::Operation(operation) => !operation.is_marked() && self.is_small(operation),
            Expression::Concat { .. } => true,
            // A state that begins with a literal changes it in place in each iteration.
            Expression::Literal { .. } => statement
                .pattern
                .iter()
                .all(|v| !self.elsewhere.contains(v)),
            _ => false,
        }
    }

    fn gives_scalars(&self, statement: &Statement) -> bool {
        let mut types = statement.pattern.iter().map(|v| self.program.ty(*v));
        types.all(|ty| matches!(ty, Type::Scalar(_)))
    }

    /// True if indices are in range because they are indices of spaces with the array's extents.
    fn is_in_range(&self, array: Variable, indices: &[Atom]) -> bool {
        let shape = self.program.ty(array).shape();
        shape.len() == indices.len()
            && indices
                .iter()
                .zip(shape)
                .all(|(index, extent)| match index {
                    Atom::Variable(index) => self.extents.get(index) == Some(extent),
                    Atom::Constant(_) => false,
                })
    }

    /// True if an operation has no more iterations than an array that it reads has elements, and
    /// gives no larger arrays. It then costs little even where it would not have run.
    fn is_small(&self, operation: &ArrayOperation) -> bool {
        let bounded = operation.outputs.iter().all(|output| {
            matches!(
                output,
                Output::Map | Output::Reduce { .. } | Output::Scan { .. } | Output::Filter { .. }
            )
        });
        let indices = &operation.indices;
        bounded
            && operation
                .body
                .statements
                .iter()
                .any(|s| match &s.expression {
                    Expression::Index { indices: at, .. } => {
                        indices.iter().all(|i| at.contains(&Atom::Variable(*i)))
                    }
                    _ => false,
                })
    }

    /// Returns the level to which a statement can move that is defined everywhere. Whole operations
    /// leave only operations, because other loops more often have no iterations.
    fn invariant_in(&self, expression: &Expression, uses: Levels) -> usize {
        let whole = matches!(expression, Expression::Operation(_));
        let mut holds = None;
        let mut loops = || *holds.get_or_insert_with(|| holds_operations(expression));
        let mut level = self.depth();
        while level > uses.deepest() && level < DEEPEST {
            match self.regions.get(level).map(|r| &r.kind) {
                Some(Kind::Operation(_, marked)) if !*marked || !loops() => {}
                Some(Kind::Loop) if !whole => {}
                Some(Kind::Branch | Kind::Loop | Kind::Operation(..)) | None => break,
            }
            level -= 1;
        }
        level
    }
}

/// True if an expression is or holds an array operation.
fn holds_operations(expression: &Expression) -> bool {
    let mut found = matches!(expression, Expression::Operation(_));
    nova_flat::visit::bodies(expression, &mut |body| {
        each_statement(body, &mut |statement| {
            found |= matches!(statement.expression, Expression::Operation(_));
        });
    });
    found
}

/// Returns the roles of the bodies of an expression, in order.
fn kinds(expression: &Expression) -> Vec<Kind> {
    match expression {
        // The bodies after the first are lambdas.
        Expression::Operation(operation) => {
            vec![Kind::Operation(
                operation.shape.clone(),
                operation.is_marked(),
            )]
        }
        Expression::If { .. } => vec![Kind::Branch, Kind::Branch],
        Expression::Switch { cases, .. } => vec![Kind::Branch; cases.len()],
        Expression::While { .. } | Expression::Sort { .. } => Vec::new(),
        _ => Vec::new(),
    }
}
