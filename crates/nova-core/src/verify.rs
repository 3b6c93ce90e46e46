//! The verifier of Core. It checks the typing rules of [`crate::typing`] and every guarantee on the
//! page of the crate. A failure is an error of the compiler, not of the user.

use crate::forms::write::print_type;
use crate::ir::{Entry, ExpressionId, ExpressionKind, Program, Variable};
use crate::print::print_variable;
use crate::{SumId, SumType, Type, typing};
use crate::{core_bindings, core_branches, core_constants, core_data};
use nova_diag::deep;
use std::collections::HashSet;
use std::fmt;

/// A violation of a rule by a program, which is an internal error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError {
    /// The message.
    pub message: String,
    /// The part of the program.
    pub at: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.message)
    }
}

impl std::error::Error for VerifyError {}

/// Checks a program.
pub fn verify(program: &Program) -> Result<(), VerifyError> {
    let mut verifier = Verifier {
        program,
        scope: vec![Scope::Unbound; program.variables.len()],
        seen: vec![false; program.arena.len()],
        entry: String::new(),
    };
    verifier.tables()?;
    for entry in &program.entries {
        verifier.entry(entry)?;
    }
    Ok(())
}

/// The progress of a walk over the sums.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    New,
    Open,
    Done,
}

/// The state of a variable's scope.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Unbound,
    Open,
    Closed,
}

type Checked = Result<(), VerifyError>;

struct Verifier<'a> {
    program: &'a Program,
    scope: Vec<Scope>,
    /// The expressions met so far. None has two parents.
    seen: Vec<bool>,
    entry: String,
}

impl Verifier<'_> {
    fn fail<T>(&self, at: impl Into<String>, message: impl Into<String>) -> Result<T, VerifyError> {
        Err(VerifyError {
            message: message.into(),
            at: at.into(),
        })
    }

    fn tables(&mut self) -> Checked {
        let program = self.program;
        for (k, sum) in program.sums.iter().enumerate() {
            let at = format!("sum {k}, {}", sum.name);
            let sorted = sum.group.windows(2).all(|pair| pair[0] < pair[1]);
            let whole = sum.group.is_empty() || sum.group.contains(&SumId(k as u32));
            if !sorted || !whole {
                return self.fail(at, "the group is not ascending or lacks the sum itself");
            }
            if let Some(data) = sum.node_of {
                self.node_type(&at, sum, data)?;
            }
            if sum.group.iter().any(|id| id.index() >= program.sums.len()) {
                return self.fail(at, "the group names an unknown sum");
            }
            let mut names = HashSet::new();
            for constructor in &sum.constructors {
                if !names.insert(&constructor.name) {
                    return self.fail(at, format!("two constructors {}", constructor.name));
                }
                self.first_order(&at, &constructor.payload)?;
            }
        }
        self.groups()?;
        for foreign in &program.foreigns {
            let at = format!("foreign {}", foreign.name);
            if foreign.parameters.is_empty() {
                return self.fail(at, "no parameters");
            }
            for ty in foreign.parameters.iter().chain([&foreign.result]) {
                self.first_order(&at, ty)?;
            }
        }
        for k in 0..program.variables.len() {
            let variable = Variable(k as u32);
            let at = format!("variable {}", print_variable(program, variable));
            self.well_formed(&at, &program.variable(variable).ty)?;
        }
        Ok(())
    }

    /// Checks that a node type is that of a recursive sum, and not recursive itself.
    fn node_type(&self, at: &str, sum: &SumType, data: SumId) -> Checked {
        let Some(data) = self.program.sums.get(data.index()) else {
            return self.fail(at, "a node type of an unknown sum");
        };
        if sum.is_recursive() || !data.is_recursive() {
            return self.fail(at, "a node type is not recursive, and its sum is");
        }
        match sum.constructors.len() == data.constructors.len() {
            true => Ok(()),
            false => self.fail(at, "a node type with other constructors than its sum"),
        }
    }

    /// Checks that the sums of a group have the same group, and that no other sums contain themselves.
    fn groups(&self) -> Checked {
        let sums = &self.program.sums;
        let group = |k: usize| sums[k].group.first().map_or(k, |id| id.index());
        for (k, sum) in sums.iter().enumerate() {
            let same = |id: &SumId| sums[id.index()].group == sum.group;
            if !sum.group.iter().all(same) {
                return self.fail(format!("sum {k}, {}", sum.name), "members of other groups");
            }
        }
        // The walk is depth-first over the sums that values hold. Those of a group count as one.
        let mut state = vec![Visit::New; sums.len()];
        for start in 0..sums.len() {
            let mut work = vec![(start, false)];
            while let Some((k, done)) = work.pop() {
                let number = group(k);
                if done {
                    state[number] = Visit::Done;
                    continue;
                }
                match state[number] {
                    Visit::Done => continue,
                    Visit::Open => {
                        let at = format!("sum {k}, {}", sums[k].name);
                        return self.fail(at, "a recursive sum outside of its group");
                    }
                    Visit::New => state[number] = Visit::Open,
                }
                work.push((k, true));
                let members = match sums[k].group.is_empty() {
                    true => vec![k],
                    false => sums[k].group.iter().map(|id| id.index()).collect(),
                };
                let mut inner = Vec::new();
                for member in members {
                    for constructor in &sums[member].constructors {
                        sums_within(&constructor.payload, &mut inner);
                    }
                }
                let recursive = |id: &SumId| sums[k].group.contains(id);
                inner.retain(|id| !recursive(id));
                work.extend(inner.into_iter().map(|id| (id.index(), false)));
            }
        }
        Ok(())
    }

    fn entry(&mut self, entry: &Entry) -> Checked {
        self.entry = entry.name.to_string();
        let at = format!("entry {}", entry.name);
        let entries = self.program.entries.iter();
        if entries.filter(|e| e.name == entry.name).count() > 1 {
            return self.fail(at, "another entry has this name");
        }
        self.open(&entry.inputs)?;
        for input in &entry.inputs {
            self.first_order(&at, &self.program.variable(*input).ty)?;
        }
        if entry.body.index() >= self.program.arena.len() {
            return self.fail(at, "the body is not in the arena");
        }
        self.first_order(&at, &self.program.expression(entry.body).ty)?;
        self.expression(entry.body)?;
        self.close(&entry.inputs);
        Ok(())
    }

    /// Checks that a type holds no function anywhere.
    fn first_order(&self, at: &str, ty: &Type) -> Checked {
        deep(|| match ty {
            Type::Function(..) => self.fail(at, format!("a function in {}", print_type(ty))),
            Type::Scalar(_) | Type::Unit => Ok(()),
            Type::Tuple(types) if types.len() < 2 => self.fail(at, "a tuple of fewer than two"),
            Type::Tuple(types) => types.iter().try_for_each(|t| self.first_order(at, t)),
            Type::Vector(element) => self.first_order(at, element),
            Type::Array(rank, _) if *rank < 2 => self.fail(at, "an array of a rank below 2"),
            Type::Array(_, element) => self.first_order(at, element),
            Type::Sum(id) if id.index() >= self.program.sums.len() => {
                self.fail(at, "an unknown sum")
            }
            Type::Sum(_) => Ok(()),
        })
    }

    /// Checks that a type holds functions only where it may.
    fn well_formed(&self, at: &str, ty: &Type) -> Checked {
        let mut ty = ty;
        while let Type::Function(parameter, result) = ty {
            deep(|| self.well_formed(at, parameter))?;
            ty = result;
        }
        self.first_order(at, ty)
    }

    fn open(&mut self, variables: &[Variable]) -> Checked {
        for variable in variables {
            match self.scope.get_mut(variable.index()) {
                Some(scope @ Scope::Unbound) => *scope = Scope::Open,
                Some(Scope::Open | Scope::Closed) => {
                    let name = print_variable(self.program, *variable);
                    return self.fail(self.entry.clone(), format!("{name} is bound twice"));
                }
                None => {
                    let number = variable.0;
                    return self.fail(self.entry.clone(), format!("no variable {number}"));
                }
            }
        }
        Ok(())
    }

    fn close(&mut self, variables: &[Variable]) {
        for variable in variables {
            self.scope[variable.index()] = Scope::Closed;
        }
    }

    fn expression(&mut self, id: ExpressionId) -> Checked {
        deep(|| self.kind(id))
    }

    fn all(&mut self, ids: &[ExpressionId]) -> Checked {
        ids.iter().try_for_each(|id| self.expression(*id))
    }

    /// Returns the position of an expression, for messages.
    fn at(&self, id: ExpressionId) -> String {
        let place = &self.program.expression(id).place;
        format!("{}, expression {} ({place})", self.entry, id.0)
    }

    fn kind(&mut self, id: ExpressionId) -> Checked {
        let program = self.program;
        let expression = program.expression(id);
        if std::mem::replace(&mut self.seen[id.index()], true) {
            return self.fail(self.at(id), "an expression that is part of two");
        }
        if expression.kind.children().iter().any(|child| *child >= id) {
            return self.fail(self.at(id), "a part that does not come before the whole");
        }
        match &expression.kind {
            ExpressionKind::Variable(variable) => {
                if self.scope.get(variable.index()) != Some(&Scope::Open) {
                    let message = format!("variable {} is not in scope", variable.0);
                    return self.fail(self.at(id), message);
                }
            }
            ExpressionKind::Lambda { parameters, body } => {
                self.open(parameters)?;
                self.expression(*body)?;
                self.close(parameters);
            }
            ExpressionKind::Let {
                variable,
                value,
                body,
            } => {
                self.expression(*value)?;
                self.open(&[*variable])?;
                self.expression(*body)?;
                self.close(&[*variable]);
            }
            ExpressionKind::Letrec { bindings, body } => {
                let variables: Vec<Variable> = bindings.iter().map(|b| b.0).collect();
                self.open(&variables)?;
                for (_, value) in bindings {
                    if !self.is_lambda(*value) {
                        return self.fail(self.at(id), "a letrec of what is no lambda");
                    }
                    self.expression(*value)?;
                }
                self.expression(*body)?;
                self.close(&variables);
            }
            ExpressionKind::Case {
                scrutinee,
                arms,
                default,
            } => {
                self.expression(*scrutinee)?;
                for arm in arms.iter().flatten() {
                    let variable: Vec<Variable> = arm.variable.into_iter().collect();
                    self.open(&variable)?;
                    self.expression(arm.body)?;
                    self.close(&variable);
                }
                default.iter().try_for_each(|body| self.expression(*body))?;
            }
            ExpressionKind::Builtin { arguments, .. } => self.all(arguments)?,
            kind @ (ExpressionKind::Apply { .. }
            | ExpressionKind::Foreign { .. }
            | ExpressionKind::If { .. }
            | core_constants!()
            | core_data!()) => self.all(&kind.children())?,
        }
        self.rules(id)
    }

    /// Checks the rules about one expression whose children are verified.
    fn rules(&self, id: ExpressionId) -> Checked {
        let expression = self.program.expression(id);
        match typing::type_of(self.program, &expression.kind, Some(&expression.ty)) {
            Err(message) => return self.fail(self.at(id), message),
            Ok(ty) if ty != expression.ty => {
                let (found, said) = (print_type(&ty), print_type(&expression.ty));
                return self.fail(self.at(id), format!("has type {found}, not {said}"));
            }
            Ok(_) => {}
        }
        match &expression.kind {
            ExpressionKind::Tuple(_) | ExpressionKind::Vector(_) => {
                self.first_order(&self.at(id), &expression.ty)
            }
            ExpressionKind::Apply { arguments, .. } if arguments.is_empty() => {
                self.fail(self.at(id), "an application to nothing")
            }
            ExpressionKind::Letrec { bindings, .. } if bindings.is_empty() => {
                self.fail(self.at(id), "a letrec of nothing")
            }
            ExpressionKind::Builtin { builtin, arguments } => {
                for k in builtin.functions(arguments.len()) {
                    if self.parameters(arguments[k]) != Some(expected(*builtin, arguments.len())) {
                        let message = "a function that is no lambda of the right parameters";
                        return self.fail(self.at(id), message);
                    }
                }
                self.rank_one(id, *builtin, arguments)
            }
            ExpressionKind::Variable(_)
            | ExpressionKind::Lambda { .. }
            | ExpressionKind::Apply { .. }
            | ExpressionKind::Foreign { .. }
            | ExpressionKind::Project(..)
            | ExpressionKind::Construct { .. }
            | core_constants!()
            | core_bindings!()
            | core_branches!() => Ok(()),
        }
    }

    /// Checks that vectors made by built-ins hold no functions, and that a trace has a constant text.
    fn rank_one(
        &self,
        id: ExpressionId,
        builtin: crate::Builtin,
        arguments: &[ExpressionId],
    ) -> Checked {
        let ty = &self.program.expression(id).ty;
        if let Type::Vector(_) | Type::Array(..) = ty {
            self.first_order(&self.at(id), ty)?;
        }
        let constant = |id: &ExpressionId| {
            matches!(self.program.expression(*id).kind, ExpressionKind::Text(_))
        };
        match (builtin, arguments.first()) {
            (crate::Builtin::Trace, Some(text)) if !constant(text) => {
                self.fail(self.at(id), "a trace without a constant text")
            }
            (_, _) => Ok(()),
        }
    }

    fn is_lambda(&self, id: ExpressionId) -> bool {
        self.parameters(id).is_some()
    }

    fn parameters(&self, id: ExpressionId) -> Option<usize> {
        let lambda = self.program.arena.get(id.index())?.kind.as_lambda();
        lambda.map(|(parameters, _)| parameters.len())
    }
}

/// Collects the sums in a type.
fn sums_within(ty: &Type, found: &mut Vec<SumId>) {
    deep(|| match ty {
        Type::Scalar(_) | Type::Unit => {}
        Type::Tuple(types) => types.iter().for_each(|t| sums_within(t, found)),
        Type::Vector(element) | Type::Array(_, element) => sums_within(element, found),
        Type::Function(parameter, result) => {
            sums_within(parameter, found);
            sums_within(result, found);
        }
        Type::Sum(id) => found.push(*id),
    });
}

/// Returns the number of parameters of the functions given to a built-in.
fn expected(builtin: crate::Builtin, arguments: usize) -> usize {
    use crate::Builtin;
    match builtin {
        Builtin::Map { .. } | Builtin::TabulateArray => arguments - 1,
        Builtin::Imap | Builtin::Reduce { .. } | Builtin::Scan { .. } | Builtin::Foldl => 2,
        Builtin::Scanl => 2,
        Builtin::Histogram | Builtin::Sort | Builtin::ReduceSeq { .. } => 2,
        _ => 1,
    }
}

#[cfg(test)]
pub(crate) mod tests;
