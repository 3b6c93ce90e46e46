//! The last uses of variables. There an evaluation may move a value out of its variable instead of
//! sharing it, so that `update` and `scatter` find it unshared and work in place.
//!
//! One walk runs against the order of evaluation. A use is the last if the walk has met no other use
//! before, and if it is in the same function or loop body as the binding (a body may run many times).
//! Each component of a tuple has last uses of its own.
//!
//! The alternatives of a conditional start from the same uses. The largest is walked last, and its uses
//! remain marked, so that the walk takes n log n steps for any nesting.

use crate::core_constants;
use crate::ir::{ExpressionId, ExpressionKind, Program, Variable};
use nova_diag::deep;
use std::collections::HashSet;

/// Returns, for each expression that is a variable or the projection of one, whether it is the last
/// use.
pub fn last_uses(program: &Program, body: ExpressionId, inputs: &[Variable]) -> Vec<bool> {
    let mut walk = Walk {
        program,
        last: vec![false; program.arena.len()],
        visited: vec![false; program.arena.len()],
        used: vec![false; program.variables.len()],
        fields: HashSet::new(),
        field_uses: vec![0; program.variables.len()],
        region: vec![0; program.variables.len()],
        current: 0,
        regions: 0,
        trail: Vec::new(),
        sizes: sizes(program),
    };
    walk.bind(inputs);
    walk.expression(body);
    walk.last
}

/// Returns the number of expressions in each expression.
fn sizes(program: &Program) -> Vec<u32> {
    let mut sizes: Vec<u32> = Vec::with_capacity(program.arena.len());
    for expression in &program.arena {
        let inner = expression.kind.children().into_iter();
        let size = inner.fold(1u32, |sum, child| {
            sum.saturating_add(sizes.get(child.index()).copied().unwrap_or(0))
        });
        sizes.push(size);
    }
    sizes
}

/// A use of a variable, or of a component of it.
type Use = (Variable, Option<u32>);

struct Walk<'a> {
    program: &'a Program,
    last: Vec<bool>,
    visited: Vec<bool>,
    /// The variables used as a whole later in the evaluation.
    used: Vec<bool>,
    /// The components used later, and the number of those of each variable.
    fields: HashSet<(Variable, u32)>,
    field_uses: Vec<u32>,
    /// The function or loop body that binds each variable.
    region: Vec<u32>,
    current: u32,
    regions: u32,
    /// The uses met, so that they can be undone.
    trail: Vec<Use>,
    sizes: Vec<u32>,
}

impl Walk<'_> {
    fn bind(&mut self, variables: &[Variable]) {
        for variable in variables {
            self.region[variable.index()] = self.current;
        }
    }

    fn expression(&mut self, id: ExpressionId) {
        deep(|| self.kind(id));
    }

    fn kind(&mut self, id: ExpressionId) {
        let program = self.program;
        match &program.expression(id).kind {
            ExpressionKind::Variable(variable) => self.used(id, *variable, None),
            ExpressionKind::Project(tuple, k) => {
                if let ExpressionKind::Variable(variable) = program.expression(*tuple).kind {
                    self.used(id, variable, Some(*k));
                } else {
                    self.expression(*tuple);
                }
            }
            ExpressionKind::Lambda { parameters, body } => {
                let outside = self.current;
                self.regions += 1;
                self.current = self.regions;
                self.bind(parameters);
                self.expression(*body);
                self.current = outside;
            }
            ExpressionKind::Let {
                variable,
                value,
                body,
            } => {
                self.bind(&[*variable]);
                self.expression(*body);
                self.expression(*value);
            }
            ExpressionKind::Letrec { bindings, body } => {
                for (variable, _) in bindings {
                    self.bind(&[*variable]);
                }
                self.expression(*body);
                for (_, value) in bindings.iter().rev() {
                    self.expression(*value);
                }
            }
            ExpressionKind::If {
                condition,
                then,
                otherwise,
            } => {
                self.alternatives(vec![*then, *otherwise]);
                self.expression(*condition);
            }
            ExpressionKind::Case {
                scrutinee,
                arms,
                default,
            } => {
                let variables = arms.iter().flatten().filter_map(|arm| arm.variable);
                self.bind(&variables.collect::<Vec<_>>());
                let bodies = arms.iter().flatten().map(|arm| arm.body);
                self.alternatives(bodies.chain(*default).collect());
                self.expression(*scrutinee);
            }
            ExpressionKind::Builtin { arguments, .. } => {
                // The functions run after all other arguments have been evaluated.
                let is_lambda = |id: &&ExpressionId| {
                    matches!(program.expression(**id).kind, ExpressionKind::Lambda { .. })
                };
                let (functions, others): (Vec<&ExpressionId>, Vec<&ExpressionId>) =
                    arguments.iter().partition(is_lambda);
                for argument in functions.into_iter().rev().chain(others.into_iter().rev()) {
                    self.expression(*argument);
                }
            }
            kind @ (ExpressionKind::Apply { .. }
            | ExpressionKind::Foreign { .. }
            | ExpressionKind::Tuple(_)
            | ExpressionKind::Construct { .. }
            | ExpressionKind::Vector(_)
            | core_constants!()) => {
                for child in kind.children().into_iter().rev() {
                    self.expression(child);
                }
            }
        }
    }

    fn used(&mut self, id: ExpressionId, variable: Variable, field: Option<u32>) {
        let v = variable.index();
        let later = self.used[v]
            || match field {
                Some(k) => self.fields.contains(&(variable, k)),
                None => self.field_uses[v] > 0,
            };
        let first_visit = !std::mem::replace(&mut self.visited[id.index()], true);
        let last = !later && self.region[v] == self.current;
        self.last[id.index()] = last && (first_visit || self.last[id.index()]);
        self.mark((variable, field));
    }

    /// Records a use that is not known yet.
    fn mark(&mut self, (variable, field): Use) {
        let v = variable.index();
        let new = match field {
            Some(k) => self.fields.insert((variable, k)),
            None => !std::mem::replace(&mut self.used[v], true),
        };
        if new {
            self.field_uses[v] += u32::from(field.is_some());
            self.trail.push((variable, field));
        }
    }

    /// Walks bodies of which one is evaluated.
    fn alternatives(&mut self, mut bodies: Vec<ExpressionId>) {
        bodies.sort_by_key(|body| self.sizes[body.index()]);
        let largest = bodies.pop();
        let mut uses = Vec::new();
        for body in bodies {
            let start = self.trail.len();
            self.expression(body);
            for (variable, field) in self.trail.drain(start..) {
                let v = variable.index();
                match field {
                    Some(k) => {
                        self.fields.remove(&(variable, k));
                        self.field_uses[v] -= 1;
                    }
                    None => self.used[v] = false,
                }
                uses.push((variable, field));
            }
        }
        if let Some(body) = largest {
            self.expression(body);
        }
        for used in uses {
            self.mark(used);
        }
    }
}
