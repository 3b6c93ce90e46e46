//! Inlining of functions that are called once.
//!
//! `(f a)` with `f` bound by a `let`, used only here and given all its arguments, becomes `(let (x a)
//! in body)`. The same holds for a lambda that is applied directly. If the argument is a function, the
//! parameter is then bound to a known function, and its applications are direct calls. So a
//! second-order function used once leaves no closure.

use nova_core::ir::{ExpressionId, ExpressionKind, Program, Variable};

/// Rewrites the program in place.
pub(super) fn run(program: &mut Program) {
    let uses = count_uses(program);
    let count = program.variables.len();
    let mut inliner = Inliner {
        program,
        uses,
        bound: vec![None; count],
        recursive: vec![false; count],
        alias: vec![None; count],
        visited: vec![false; count],
        stack: Vec::new(),
    };
    inliner.run();
}

/// Counts the occurrences of each variable in code that can run.
fn count_uses(program: &Program) -> Vec<u32> {
    let mut uses = vec![0u32; program.variables.len()];
    let mut bound: Vec<Option<ExpressionId>> = vec![None; program.variables.len()];
    let mut stack: Vec<ExpressionId> = program.entries.iter().map(|e| e.body).collect();
    while let Some(id) = stack.pop() {
        let kind = &program.expression(id).kind;
        match kind {
            ExpressionKind::Variable(variable) => {
                let v = variable.index();
                uses[v] += 1;
                if uses[v] == 1 {
                    stack.extend(bound[v]);
                }
            }
            ExpressionKind::Let {
                variable,
                value,
                body,
            } if is_lambda(program, *value) => {
                bound[variable.index()] = Some(*value);
                stack.push(*body);
            }
            ExpressionKind::Letrec { bindings, body } => {
                for (variable, value) in bindings {
                    bound[variable.index()] = Some(*value);
                }
                stack.push(*body);
            }
            other => other.for_each_child(|child| stack.push(child)),
        }
    }
    uses
}

fn is_lambda(program: &Program, id: ExpressionId) -> bool {
    matches!(program.expression(id).kind, ExpressionKind::Lambda { .. })
}

struct Inliner<'a> {
    program: &'a mut Program,
    uses: Vec<u32>,
    /// The lambda that each variable is bound to.
    bound: Vec<Option<ExpressionId>>,
    /// True if a `letrec` binds it.
    recursive: Vec<bool>,
    /// The function that each variable is another name of, and whether every name in between is used
    /// once.
    alias: Vec<Option<(Variable, bool)>>,
    /// True if the lambda has been put on the stack.
    visited: Vec<bool>,
    stack: Vec<ExpressionId>,
}

impl Inliner<'_> {
    fn run(&mut self) {
        self.stack = self.program.entries.iter().map(|e| e.body).collect();
        while let Some(id) = self.stack.pop() {
            self.visit(id);
        }
    }

    fn visit(&mut self, id: ExpressionId) {
        match &self.program.expression(id).kind {
            ExpressionKind::Variable(variable) => {
                let (root, _) = self.resolve(*variable);
                if let Some(lambda) = self.bound[root.index()]
                    && !std::mem::replace(&mut self.visited[root.index()], true)
                {
                    self.stack.push(lambda);
                }
            }
            ExpressionKind::Let {
                variable,
                value,
                body,
            } => {
                let (variable, value, body) = (*variable, *value, *body);
                self.bind(variable, value);
                self.stack.push(body);
            }
            ExpressionKind::Letrec { bindings, body } => {
                for (variable, value) in bindings {
                    self.bound[variable.index()] = Some(*value);
                    self.recursive[variable.index()] = true;
                }
                self.stack.push(*body);
            }
            ExpressionKind::Apply {
                function,
                arguments,
            } => match self.lambda_to_inline(*function, arguments.len()) {
                Some(lambda) => {
                    let arguments = arguments.clone();
                    self.replace_by_body(id, lambda, &arguments);
                    self.stack.push(id);
                }
                None => self.push_children(id),
            },
            _ => self.push_children(id),
        }
    }

    fn push_children(&mut self, id: ExpressionId) {
        let kind = &self.program.expression(id).kind;
        kind.for_each_child(|child| self.stack.push(child));
    }

    fn bind(&mut self, variable: Variable, value: ExpressionId) {
        match &self.program.expression(value).kind {
            ExpressionKind::Lambda { .. } => self.bound[variable.index()] = Some(value),
            ExpressionKind::Variable(other) => {
                let (root, once) = self.resolve(*other);
                if self.bound[root.index()].is_some() {
                    self.alias[variable.index()] = Some((root, once));
                } else {
                    self.stack.push(value);
                }
            }
            _ => self.stack.push(value),
        }
    }

    /// Resolves aliases to a variable. Also tells whether each name on the way is used once.
    fn resolve(&self, variable: Variable) -> (Variable, bool) {
        let once = self.uses[variable.index()] == 1;
        match self.alias[variable.index()] {
            Some((root, all)) => (root, once && all),
            None => (variable, once),
        }
    }

    /// Returns the lambda that `function` is, if its application to `count` arguments may become its
    /// body.
    fn lambda_to_inline(&self, function: ExpressionId, count: usize) -> Option<ExpressionId> {
        let lambda = match &self.program.expression(function).kind {
            ExpressionKind::Variable(variable) => {
                let (root, once) = self.resolve(*variable);
                let root = root.index();
                if !once || self.recursive[root] {
                    return None;
                }
                self.bound[root]?
            }
            ExpressionKind::Lambda { .. } => function,
            _ => return None,
        };
        let (parameters, _) = self.program.expression(lambda).kind.as_lambda()?;
        (parameters.len() == count).then_some(lambda)
    }

    /// Turns the application `id` into nested `let`s with the lambda's body innermost.
    fn replace_by_body(
        &mut self,
        id: ExpressionId,
        lambda: ExpressionId,
        arguments: &[ExpressionId],
    ) {
        let ExpressionKind::Lambda { parameters, body } =
            self.program.expression(lambda).kind.clone()
        else {
            return;
        };
        let (ty, place) = {
            let apply = self.program.expression(id);
            (apply.ty.clone(), apply.place.clone())
        };
        let mut inner = body;
        for k in (1..parameters.len()).rev() {
            let binding = ExpressionKind::Let {
                variable: parameters[k],
                value: arguments[k],
                body: inner,
            };
            inner = self.program.add(binding, ty.clone(), place.clone());
        }
        self.program.arena[id.index()].kind = ExpressionKind::Let {
            variable: parameters[0],
            value: arguments[0],
            body: inner,
        };
    }
}
