//! The flow of functions: a flow variable on each arrow of each type, unified.
//!
//! Types are monomorphic and data hold no functions. So a variable or expression of function type has
//! one [`Arrow`], with those of its parameter and result below it. Where a value flows, the arrows of
//! source and target are unified. A use of a variable known to be a lambda creates no closure unless it
//! is used as a value or given too few arguments. Lambdas that nothing uses are never visited.

use ena::unify::{InPlaceUnificationTable, NoError, UnifyKey, UnifyValue};
use nova_core::ir::{Arm, ExpressionId, ExpressionKind, Program, Variable};
use nova_core::{Builtin, Type};
use nova_core::{core_bindings, core_constants, core_data};
use nova_diag::deep;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The flow variable of an arrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Arrow(u32);

/// The two sides of an arrow: Core types, and arrows if they are functions.
#[derive(Clone, Debug)]
pub(super) struct Sides {
    pub parameter: (Type, Option<Arrow>),
    pub result: (Type, Option<Arrow>),
}

impl UnifyKey for Arrow {
    type Value = Sides;

    fn index(&self) -> u32 {
        self.0
    }

    fn from_index(index: u32) -> Self {
        Arrow(index)
    }

    fn tag() -> &'static str {
        "Arrow"
    }
}

impl UnifyValue for Sides {
    type Error = NoError;

    fn unify_values(left: &Self, _right: &Self) -> Result<Self, NoError> {
        Ok(left.clone())
    }
}

nova_diag::ids! {
    /// Names a lambda that is no argument of a built-in.
    pub(super) struct LambdaId;
}

/// A lambda that is no argument of a built-in.
#[derive(Clone, Debug)]
pub(super) struct LambdaInfo {
    pub name: Arc<str>,
    pub expression: ExpressionId,
    /// True if it is bound by a `let` and known by that name.
    pub bound_by_let: bool,
    pub parameters: Vec<Variable>,
    pub body: ExpressionId,
    /// The arrow of the lambda after 0, 1, … arguments.
    pub arrows: Vec<Arrow>,
    /// Type and arrow of its result.
    pub result: (Type, Option<Arrow>),
    /// The variables that occur in its own code (not in that of other lambdas).
    pub variables: Vec<Variable>,
    /// The lambdas that occur in its own code.
    pub lambdas: Vec<LambdaId>,
}

/// The result of the analysis.
pub(super) struct Flow {
    pub table: InPlaceUnificationTable<Arrow>,
    /// The arrow of each variable of function type that is not `known`.
    pub variables: Vec<Option<Arrow>>,
    /// The arrow of each expression of function type.
    pub expressions: Vec<Option<Arrow>>,
    pub lambdas: Vec<LambdaInfo>,
    /// The lambda that an expression is.
    pub lambda_at: Vec<Option<LambdaId>>,
    /// The lambda that a variable names.
    pub known: Vec<Option<LambdaId>>,
    /// The lambda in whose own code a variable is bound, or `None` in an entry's.
    pub owner: Vec<Option<LambdaId>>,
    /// The closures that are created: a lambda and the number of arguments it already has.
    pub closures: Vec<(LambdaId, usize)>,
    /// Applications of values: their arrow and the number of arguments.
    pub demands: Vec<(Arrow, usize)>,
}

/// Analyses the code that entries can reach. The lambdas in `values` are values even if a `let` binds
/// them.
pub(super) fn analyse(program: &Program, values: &BTreeSet<ExpressionId>) -> Flow {
    let mut analysis = Analysis {
        program,
        values,
        flow: Flow {
            table: InPlaceUnificationTable::new(),
            variables: vec![None; program.variables.len()],
            expressions: vec![None; program.arena.len()],
            lambdas: Vec::new(),
            lambda_at: vec![None; program.arena.len()],
            known: vec![None; program.variables.len()],
            owner: vec![None; program.variables.len()],
            closures: Vec::new(),
            demands: Vec::new(),
        },
        queued: Vec::new(),
        queue: Vec::new(),
        current: None,
    };
    for entry in &program.entries {
        analysis.current = None;
        analysis.visit(entry.body);
        analysis.drain();
    }
    analysis.flow
}

struct Analysis<'a> {
    program: &'a Program,
    values: &'a BTreeSet<ExpressionId>,
    flow: Flow,
    /// By lambda, true if it has been put into the queue.
    queued: Vec<bool>,
    queue: Vec<LambdaId>,
    /// The lambda whose own code is being visited.
    current: Option<LambdaId>,
}

impl Analysis<'_> {
    /// Visits the bodies of the lambdas used so far.
    fn drain(&mut self) {
        while let Some(id) = self.queue.pop() {
            self.current = Some(id);
            let info = &self.flow.lambdas[id.index()];
            let (body, result) = (info.body, info.result.1);
            let found = self.visit(body);
            self.unify_optional(result, found);
        }
    }

    fn visit(&mut self, id: ExpressionId) -> Option<Arrow> {
        deep(|| self.visit_spine(id))
    }

    /// Visits an expression. A loop follows the bodies of its `let`s.
    fn visit_spine(&mut self, id: ExpressionId) -> Option<Arrow> {
        let program = self.program;
        let mut spine = vec![id];
        let mut current = id;
        let arrow = loop {
            match &program.expression(current).kind {
                ExpressionKind::Let {
                    variable,
                    value,
                    body,
                } => {
                    self.visit_let(*variable, *value);
                    current = *body;
                }
                ExpressionKind::Letrec { bindings, body } => {
                    for (variable, value) in bindings {
                        self.visit_known(*variable, *value, false);
                    }
                    current = *body;
                }
                other => break self.visit_kind(current, other),
            }
            spine.push(current);
        };
        if arrow.is_some() {
            for id in spine {
                self.flow.expressions[id.index()] = arrow;
            }
        }
        arrow
    }

    fn visit_let(&mut self, variable: Variable, value: ExpressionId) {
        let v = variable.index();
        self.flow.owner[v] = self.current;
        match &self.program.expression(value).kind {
            ExpressionKind::Lambda { .. } if !self.values.contains(&value) => {
                self.visit_known(variable, value, true);
            }
            ExpressionKind::Variable(other) if self.flow.known[other.index()].is_some() => {
                self.flow.known[v] = self.flow.known[other.index()];
            }
            _ => self.flow.variables[v] = self.visit(value),
        }
    }

    fn visit_known(&mut self, variable: Variable, value: ExpressionId, bound_by_let: bool) {
        let name = self.program.variable(variable).name.clone();
        let lambda = self.lambda(value, name);
        if let Some(LambdaId(k)) = lambda {
            self.flow.lambdas[k as usize].bound_by_let = bound_by_let;
        }
        self.flow.known[variable.index()] = lambda;
        self.flow.owner[variable.index()] = self.current;
    }

    fn visit_kind(&mut self, id: ExpressionId, kind: &ExpressionKind) -> Option<Arrow> {
        match kind {
            ExpressionKind::Variable(variable) => match self.flow.known[variable.index()] {
                Some(lambda) => self.escape(lambda),
                None => {
                    self.refer_to(*variable);
                    self.flow.variables[variable.index()]
                }
            },
            ExpressionKind::Lambda { .. } => {
                let lambda = self.lambda(id, Arc::from("lambda"))?;
                self.escape(lambda)
            }
            ExpressionKind::Apply {
                function,
                arguments,
            } => self.visit_apply(*function, arguments),
            ExpressionKind::If {
                condition,
                then,
                otherwise,
            } => {
                self.visit(*condition);
                let left = self.visit(*then);
                let right = self.visit(*otherwise);
                self.unify_optional(left, right);
                left
            }
            ExpressionKind::Case {
                scrutinee,
                arms,
                default,
            } => {
                self.visit(*scrutinee);
                self.visit_arms(arms, *default)
            }
            ExpressionKind::Builtin { builtin, arguments } => {
                self.visit_builtin(*builtin, arguments)
            }
            ExpressionKind::Foreign { .. }
            | core_constants!()
            | core_bindings!()
            | core_data!() => {
                kind.for_each_child(|child| {
                    self.visit(child);
                });
                None
            }
        }
    }

    fn visit_arms(&mut self, arms: &[Option<Arm>], default: Option<ExpressionId>) -> Option<Arrow> {
        let mut first = None;
        for arm in arms.iter().flatten() {
            if let Some(variable) = arm.variable {
                self.flow.owner[variable.index()] = self.current;
            }
            let arrow = self.visit(arm.body);
            self.unify_optional(first, arrow);
            first = first.or(arrow);
        }
        if let Some(default) = default {
            let arrow = self.visit(default);
            self.unify_optional(first, arrow);
            first = first.or(arrow);
        }
        first
    }

    /// Visits an application. Arguments are unified with parameters. Too few arguments to a known
    /// lambda create a closure, too many apply its result.
    fn visit_apply(&mut self, function: ExpressionId, arguments: &[ExpressionId]) -> Option<Arrow> {
        let known = match &self.program.expression(function).kind {
            ExpressionKind::Variable(variable) => self.flow.known[variable.index()],
            ExpressionKind::Lambda { .. } => self.lambda(function, Arc::from("lambda")),
            _ => None,
        };
        let mut arrow = match known {
            Some(lambda) => {
                self.use_lambda(lambda);
                let info = &self.flow.lambdas[lambda.index()];
                let arity = info.arrows.len();
                let (first, result) = (info.arrows.first().copied(), info.result.1);
                if arguments.len() < arity {
                    self.flow.closures.push((lambda, arguments.len()));
                } else if let Some(result) = result.filter(|_| arguments.len() > arity) {
                    self.flow.demands.push((result, arguments.len() - arity));
                }
                first
            }
            None => {
                let arrow = self.visit(function);
                self.flow
                    .demands
                    .extend(arrow.map(|a| (a, arguments.len())));
                arrow
            }
        };
        for argument in arguments {
            let given = self.visit(*argument);
            let sides = arrow.map(|a| self.flow.table.probe_value(a));
            let (parameter, result) = match sides {
                Some(sides) => (sides.parameter.1, sides.result.1),
                None => (None, None),
            };
            self.unify_optional(parameter, given);
            arrow = result;
        }
        arrow
    }

    /// Visits a built-in. Its lambdas belong to the enclosing code. States may be functions.
    fn visit_builtin(&mut self, builtin: Builtin, arguments: &[ExpressionId]) -> Option<Arrow> {
        // The arrows of the arguments. For a lambda, those of its first parameter and its result.
        let functions = builtin.functions(arguments.len());
        let mut values = Vec::with_capacity(arguments.len());
        for (k, argument) in arguments.iter().enumerate() {
            let lambda = self.program.expression(*argument).kind.as_lambda();
            match lambda.filter(|_| functions.contains(&k)) {
                Some((parameters, body)) => {
                    for parameter in parameters {
                        self.bind_parameter(*parameter);
                    }
                    let first = parameters.first();
                    let first = first.and_then(|p| self.flow.variables[p.index()]);
                    let result = self.visit(body);
                    values.push((first, result));
                }
                None => {
                    let arrow = self.visit(*argument);
                    values.push((arrow, arrow));
                }
            }
        }
        let state = states(builtin)?;
        let mut common = None;
        for (k, gives_state) in state {
            let (parameter, result) = values.get(k).copied().unwrap_or_default();
            self.unify_optional(common, parameter);
            common = common.or(parameter);
            if gives_state {
                self.unify_optional(common, result);
            }
        }
        common
    }

    fn bind_parameter(&mut self, parameter: Variable) {
        let ty = self.program.variable(parameter).ty.clone();
        self.flow.owner[parameter.index()] = self.current;
        self.flow.variables[parameter.index()] = self.fresh(&ty);
    }

    fn refer_to(&mut self, variable: Variable) {
        if let Some(current) = self.current {
            let info = &mut self.flow.lambdas[current.index()];
            info.variables.push(variable);
        }
    }

    /// Records a lambda used in the current code.
    fn use_lambda(&mut self, lambda: LambdaId) {
        if let Some(current) = self.current {
            let info = &mut self.flow.lambdas[current.index()];
            info.lambdas.push(lambda);
        }
        if !std::mem::replace(&mut self.queued[lambda.index()], true) {
            self.queue.push(lambda);
        }
    }

    /// Records a lambda used as a value.
    fn escape(&mut self, lambda: LambdaId) -> Option<Arrow> {
        self.use_lambda(lambda);
        self.flow.closures.push((lambda, 0));
        let info = &self.flow.lambdas[lambda.index()];
        info.arrows.first().copied()
    }

    /// Returns the lambda that the expression is. It is added to the table at its first occurrence.
    fn lambda(&mut self, expression: ExpressionId, name: Arc<str>) -> Option<LambdaId> {
        if let Some(id) = self.flow.lambda_at[expression.index()] {
            return Some(id);
        }
        let ExpressionKind::Lambda { parameters, body } = &self.program.expression(expression).kind
        else {
            return None;
        };
        let id = LambdaId(self.flow.lambdas.len() as u32);
        let result_type = self.program.expression(*body).ty.clone();
        let result = (result_type.clone(), self.fresh(&result_type));
        let mut after = result.clone();
        let mut arrows = Vec::with_capacity(parameters.len());
        for parameter in parameters.iter().rev() {
            let ty = self.program.variable(*parameter).ty.clone();
            let own = self.fresh(&ty);
            self.flow.variables[parameter.index()] = own;
            self.flow.owner[parameter.index()] = Some(id);
            let whole = Type::Function(Arc::new(ty.clone()), Arc::new(after.0.clone()));
            let arrow = self.flow.table.new_key(Sides {
                parameter: (ty, own),
                result: after,
            });
            arrows.push(arrow);
            after = (whole, Some(arrow));
        }
        arrows.reverse();
        self.flow.lambdas.push(LambdaInfo {
            name,
            expression,
            bound_by_let: false,
            parameters: parameters.clone(),
            body: *body,
            arrows,
            result,
            variables: Vec::new(),
            lambdas: Vec::new(),
        });
        self.queued.push(false);
        self.flow.lambda_at[expression.index()] = Some(id);
        Some(id)
    }

    /// Returns new arrows for a type, or `None` if it is no function type.
    fn fresh(&mut self, ty: &Type) -> Option<Arrow> {
        let Type::Function(parameter, result) = ty else {
            return None;
        };
        deep(|| {
            let sides = Sides {
                parameter: ((**parameter).clone(), self.fresh(parameter)),
                result: ((**result).clone(), self.fresh(result)),
            };
            Some(self.flow.table.new_key(sides))
        })
    }

    fn unify_optional(&mut self, left: Option<Arrow>, right: Option<Arrow>) {
        let mut work: Vec<(Arrow, Arrow)> = left.zip(right).into_iter().collect();
        while let Some((left, right)) = work.pop() {
            let table = &mut self.flow.table;
            if table.unioned(left, right) {
                continue;
            }
            let (a, b) = (table.probe_value(left), table.probe_value(right));
            table.union(left, right);
            work.extend(a.parameter.1.zip(b.parameter.1));
            work.extend(a.result.1.zip(b.result.1));
        }
    }
}

/// Returns the arguments of a built-in that share the type of its state, if it has one: the number of each, and
/// whether it gives the state.
fn states(builtin: Builtin) -> Option<Vec<(usize, bool)>> {
    Some(match builtin {
        Builtin::Foldl | Builtin::ReduceSeq { .. } => vec![(0, true), (1, false)],
        Builtin::Iterate => vec![(1, true), (2, false)],
        Builtin::While => vec![(0, false), (1, true), (2, false)],
        Builtin::Trace => vec![(1, false)],
        Builtin::Scalar(_)
        | Builtin::Map { .. }
        | Builtin::Imap
        | Builtin::Reduce { .. }
        | Builtin::Scan { .. }
        | Builtin::Scanl
        | Builtin::Permute
        | Builtin::Gather
        | Builtin::Slice
        | Builtin::ArraySlice
        | Builtin::Range
        | Builtin::Length
        | Builtin::Filter
        | Builtin::Index
        | Builtin::ArrayIndex
        | Builtin::Scatter
        | Builtin::Histogram
        | Builtin::Sort
        | Builtin::Zip
        | Builtin::Unzip
        | Builtin::Concat
        | Builtin::Reverse
        | Builtin::Replicate
        | Builtin::Rotate
        | Builtin::Update
        | Builtin::ArrayUpdate
        | Builtin::UpdateSlice
        | Builtin::ArrayUpdateSlice
        | Builtin::Count
        | Builtin::Tabulate
        | Builtin::TabulateArray
        | Builtin::Partition
        | Builtin::Shape
        | Builtin::Reshape
        | Builtin::Transpose
        | Builtin::Flatten
        | Builtin::Rows
        | Builtin::Unrows
        | Builtin::Segments
        | Builtin::Unflatten
        | Builtin::Split
        | Builtin::AsVector { .. }
        | Builtin::AsScalar
        | Builtin::Table { .. }
        | Builtin::Datum { .. }
        | Builtin::NodeAt => return None,
    })
}
