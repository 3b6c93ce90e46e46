//! Recursive values that are functions by more than their form: `(mu (f : T) (let (k 3) in (lambda
//! …)))` (nova.txt §3.1.3). They become recursive lambdas before types are inferred.
//!
//! The forms around the lambda that do not mention the name are evaluated once, outside: `mu` moves
//! into the bodies of `let`, into branches and arms. Local functions that mention the name move
//! into the lambda. All other values are unfolded where the name is used, by the meaning of `mu`:
//! `(mu (f : T) e)` is `e` in which `f` is `(mu (f : T) e)` again.

use nova_diag::{Span, deep};
use nova_syntax::ast::{
    Expression, ExpressionId, ExpressionKind, Name, Pattern, PatternKind, Program, TypeId, TypeKind,
};
use std::collections::HashSet;
use std::sync::Arc;

/// Returns the program with every `mu` over a lambda, where that is possible. Returns `None` if it
/// has that form already.
pub(crate) fn over_lambdas(program: &Program) -> Option<Program> {
    let is_other = |expression: &&Expression| {
        matches!(&expression.kind, ExpressionKind::Mu { value, .. }
            if !is_lambda(program, *value))
    };
    program.arena.iter().find(is_other)?;
    let mut rewriter = Rewriter {
        names: names_of(program),
        program: program.clone(),
    };
    for index in 0..program.arena.len() {
        if let ExpressionKind::Mu { name, ty, value } = program.arena[index].kind.clone() {
            let mu = Mu {
                name,
                ty,
                span: program.arena[index].span,
            };
            rewriter.program.arena[index].kind = rewriter.mu(&mu, value);
        }
    }
    Some(rewriter.program)
}

fn is_lambda(program: &Program, id: ExpressionId) -> bool {
    match &program.expression(id).kind {
        ExpressionKind::Annotate(inner, _) => deep(|| is_lambda(program, *inner)),
        kind => matches!(kind, ExpressionKind::Lambda { .. }),
    }
}

/// Returns all names that expressions mention or bind.
fn names_of(program: &Program) -> HashSet<Arc<str>> {
    let mut names = HashSet::new();
    for expression in &program.arena {
        if let ExpressionKind::Name(name) = &expression.kind {
            names.insert(name.clone());
        }
    }
    names
}

/// A recursive binding without its value.
struct Mu {
    name: Name,
    ty: Option<TypeId>,
    span: Span,
}

struct Rewriter {
    /// The names that the program mentions.
    names: HashSet<Arc<str>>,
    program: Program,
}

impl Rewriter {
    fn kind(&self, id: ExpressionId) -> ExpressionKind {
        self.program.expression(id).kind.clone()
    }

    fn add_mu(&mut self, mu: &Mu, value: ExpressionId) -> ExpressionId {
        let kind = deep(|| self.mu(mu, value));
        self.program.add(kind, mu.span)
    }

    fn plain(mu: &Mu, value: ExpressionId) -> ExpressionKind {
        ExpressionKind::Mu {
            name: mu.name.clone(),
            ty: mu.ty,
            value,
        }
    }

    /// Returns the form of `(mu (name : ty) value)`.
    fn mu(&mut self, mu: &Mu, value: ExpressionId) -> ExpressionKind {
        if is_lambda(&self.program, value) {
            return Self::plain(mu, value);
        }
        match self.kind(value) {
            ExpressionKind::Annotate(inner, ty) => {
                ExpressionKind::Annotate(self.add_mu(mu, inner), ty)
            }
            ExpressionKind::Let { bindings, body } => self.over_let(mu, value, bindings, body),
            ExpressionKind::If {
                condition,
                then,
                otherwise,
            } if !self.mentions(condition, &mu.name.text) => ExpressionKind::If {
                condition,
                then: self.add_mu(mu, then),
                otherwise: self.add_mu(mu, otherwise),
            },
            ExpressionKind::Case {
                scrutinee,
                mut arms,
            } if !self.mentions(scrutinee, &mu.name.text) => {
                for arm in &mut arms {
                    let hides = arm
                        .payload
                        .as_ref()
                        .is_some_and(|p| binds(p, &mu.name.text));
                    if !hides {
                        arm.body = self.add_mu(mu, arm.body);
                    }
                }
                ExpressionKind::Case { scrutinee, arms }
            }
            ExpressionKind::If { .. }
            | ExpressionKind::Case { .. }
            | ExpressionKind::Mu { .. }
            | ExpressionKind::Name(_)
            | ExpressionKind::Apply(..)
            | ExpressionKind::Project(..)
            | ExpressionKind::Index(..) => self.unfolded(mu, value),
            _ => Self::plain(mu, value),
        }
    }

    fn over_let(
        &mut self,
        mu: &Mu,
        whole: ExpressionId,
        mut bindings: Vec<(Pattern, ExpressionId)>,
        body: ExpressionId,
    ) -> ExpressionKind {
        let name = &mu.name.text;
        let stops = |(pattern, value): &(Pattern, ExpressionId)| {
            self.mentions(*value, name) || binds(pattern, name)
        };
        let Some(first) = bindings.iter().position(stops) else {
            let body = self.add_mu(mu, body);
            return ExpressionKind::Let { bindings, body };
        };
        if first == 0 {
            return self.around_local_functions(mu, whole, bindings, body);
        }
        let rest = bindings.split_off(first);
        let span = self.program.expression(whole).span;
        let inner = ExpressionKind::Let {
            bindings: rest,
            body,
        };
        let inner = self.program.add(inner, span);
        let body = self.add_mu(mu, inner);
        ExpressionKind::Let { bindings, body }
    }

    /// Moves the local functions before the lambda of a recursive function into the lambda.
    fn around_local_functions(
        &mut self,
        mu: &Mu,
        whole: ExpressionId,
        bindings: Vec<(Pattern, ExpressionId)>,
        body: ExpressionId,
    ) -> ExpressionKind {
        let count = self.lambda_arity(body);
        let local = bindings
            .iter()
            .all(|(_, value)| is_lambda(&self.program, *value));
        if count == 0 || !local {
            return self.unfolded(mu, whole);
        }
        let (parameters, arguments) = self.parameters(count, mu.span);
        let body = ExpressionKind::Apply(body, arguments);
        let body = self.program.add(body, mu.span);
        let body = self
            .program
            .add(ExpressionKind::Let { bindings, body }, mu.span);
        let lambda = ExpressionKind::Lambda {
            parameters,
            result: None,
            body,
        };
        let lambda = self.program.add(lambda, mu.span);
        Self::plain(mu, lambda)
    }

    /// Returns the number of parameters of the lambda that an expression is, also after local
    /// functions. Returns 0 if it is none.
    fn lambda_arity(&self, id: ExpressionId) -> usize {
        match &self.program.expression(id).kind {
            ExpressionKind::Lambda { parameters, .. } => parameters.len(),
            ExpressionKind::Annotate(inner, _) => deep(|| self.lambda_arity(*inner)),
            ExpressionKind::Let { bindings, body } => {
                let mut values = bindings.iter().map(|(_, value)| *value);
                match values.all(|value| is_lambda(&self.program, value)) {
                    true => deep(|| self.lambda_arity(*body)),
                    false => 0,
                }
            }
            _ => 0,
        }
    }

    /// Returns a function that evaluates the value anew wherever its name is used: `((mu (f : unit
    /// -> T) (lambda (_ : unit) (let (f (lambda (x) ((f nil) x))) in e))) nil)`.
    fn unfolded(&mut self, mu: &Mu, value: ExpressionId) -> ExpressionKind {
        let Some((ty, count)) = mu.ty.map(|ty| (ty, self.function_arity(ty))) else {
            return Self::plain(mu, value);
        };
        if count == 0 {
            return Self::plain(mu, value);
        }
        let span = mu.span;
        if !self.mentions(value, &mu.name.text) {
            return ExpressionKind::Annotate(value, ty);
        }
        let unit = self.program.add_type(TypeKind::Name("unit".into()), span);
        let delayed = self.program.add_type(TypeKind::Function(unit, ty), span);
        let this = ExpressionKind::Name(mu.name.text.clone());
        let this = self.program.add(this, span);
        let nil = self.program.add(ExpressionKind::Nil, span);
        let again = self
            .program
            .add(ExpressionKind::Apply(this, vec![nil]), span);
        let (parameters, arguments) = self.parameters(count, span);
        let body = self
            .program
            .add(ExpressionKind::Apply(again, arguments), span);
        let function = ExpressionKind::Lambda {
            parameters,
            result: None,
            body,
        };
        let function = self.program.add(function, span);
        let named = pattern(PatternKind::Name(mu.name.text.clone()), None, mu.name.span);
        let bindings = vec![(named, function)];
        let body = ExpressionKind::Let {
            bindings,
            body: value,
        };
        let body = self.program.add(body, span);
        let lambda = ExpressionKind::Lambda {
            parameters: vec![pattern(PatternKind::Wildcard, Some(unit), span)],
            result: None,
            body,
        };
        let lambda = self.program.add(lambda, span);
        let recursive = ExpressionKind::Mu {
            name: mu.name.clone(),
            ty: Some(delayed),
            value: lambda,
        };
        let recursive = self.program.add(recursive, span);
        let nil = self.program.add(ExpressionKind::Nil, span);
        ExpressionKind::Apply(recursive, vec![nil])
    }

    /// Returns the number of arguments that a type takes as far as its text shows.
    fn function_arity(&self, ty: TypeId) -> usize {
        match &self.program.ty(ty).kind {
            TypeKind::Function(_, result) => 1 + deep(|| self.function_arity(*result)),
            _ => 0,
        }
    }

    /// Makes parameters with names that the program does not mention, and their uses.
    fn parameters(&mut self, count: usize, span: Span) -> (Vec<Pattern>, Vec<ExpressionId>) {
        let mut parameters = Vec::new();
        let mut arguments = Vec::new();
        let mut number = 0;
        while parameters.len() < count {
            number += 1;
            let name: Arc<str> = format!("x{number}").into();
            if self.names.contains(&name) {
                continue;
            }
            parameters.push(pattern(PatternKind::Name(name.clone()), None, span));
            arguments.push(self.program.add(ExpressionKind::Name(name), span));
        }
        (parameters, arguments)
    }

    /// True where an expression mentions a name that is bound around it.
    fn mentions(&self, id: ExpressionId, name: &str) -> bool {
        deep(|| match &self.program.expression(id).kind {
            ExpressionKind::Name(found) => **found == *name,
            ExpressionKind::Number(_)
            | ExpressionKind::Bool(_)
            | ExpressionKind::Nil
            | ExpressionKind::Text(_) => false,
            ExpressionKind::Vector(parts)
            | ExpressionKind::Tuple(parts)
            | ExpressionKind::Wrong(parts) => parts.iter().any(|p| self.mentions(*p, name)),
            ExpressionKind::Apply(function, arguments) => {
                self.mentions(*function, name) || arguments.iter().any(|a| self.mentions(*a, name))
            }
            ExpressionKind::Lambda {
                parameters, body, ..
            } => !parameters.iter().any(|p| binds(p, name)) && self.mentions(*body, name),
            ExpressionKind::Let { bindings, body } => {
                for (pattern, value) in bindings {
                    if self.mentions(*value, name) {
                        return true;
                    }
                    if binds(pattern, name) {
                        return false;
                    }
                }
                self.mentions(*body, name)
            }
            ExpressionKind::Mu {
                name: own, value, ..
            } => *own.text != *name && self.mentions(*value, name),
            ExpressionKind::If {
                condition,
                then,
                otherwise,
            } => [condition, then, otherwise]
                .iter()
                .any(|part| self.mentions(**part, name)),
            ExpressionKind::Case { scrutinee, arms } => {
                self.mentions(*scrutinee, name)
                    || arms.iter().any(|arm| {
                        let hides = arm.payload.as_ref().is_some_and(|p| binds(p, name));
                        !hides && self.mentions(arm.body, name)
                    })
            }
            ExpressionKind::Index(of, index) => {
                self.mentions(*of, name) || self.mentions(*index, name)
            }
            ExpressionKind::Project(of, _, _)
            | ExpressionKind::Annotate(of, _)
            | ExpressionKind::Down(of) => self.mentions(*of, name),
            ExpressionKind::Foreach {
                datum,
                links,
                nodes,
            } => {
                let hides = links.iter().any(|link| binds(link, name));
                self.mentions(*datum, name)
                    || nodes.iter().any(|node| {
                        let hides = hides || binds(&node.pattern, name);
                        !hides && self.mentions(node.body, name)
                    })
            }
            ExpressionKind::Up { body, links } => {
                let hides = links.iter().any(|(link, _)| binds(link, name));
                links.iter().any(|(_, datum)| self.mentions(*datum, name))
                    || (!hides && self.mentions(*body, name))
            }
        })
    }
}

fn pattern(kind: PatternKind, annotation: Option<TypeId>, span: Span) -> Pattern {
    Pattern {
        kind,
        annotation,
        span,
    }
}

/// True for a pattern that binds a name.
fn binds(pattern: &Pattern, name: &str) -> bool {
    match &pattern.kind {
        PatternKind::Name(own) => **own == *name,
        PatternKind::Wildcard => false,
        PatternKind::Tuple(parts) => deep(|| parts.iter().any(|part| binds(part, name))),
    }
}
