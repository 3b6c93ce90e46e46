//! The types of applications.

use crate::calls::too_many;
use crate::inference::Inference;
use crate::reasons::Because;
use crate::resolve::Resolution;
use crate::show::Show;
use crate::solver::Solver;
use crate::source::spine;
use crate::types::{Shallow, Ty, TyNode};
use nova_diag::{Diagnostic, codes};
use nova_syntax::ast::ExpressionId;

impl Inference<'_> {
    /// Infers the type of an application.
    pub fn infer_apply(
        &mut self,
        id: ExpressionId,
        function: ExpressionId,
        arguments: &[ExpressionId],
    ) -> Ty {
        if !self.source.resolved.known_head[id.0 as usize] {
            let ty = self.infer(function);
            return self.apply(id, function, ty, arguments, 0);
        }
        let (head, arguments) = spine(self.source.program, self.source.resolved, id);
        match self.source.resolved.names[head.0 as usize] {
            Resolution::Builtin(builtin) => self.apply_builtin(id, head, builtin, &arguments),
            Resolution::Constructor(sum, constructor)
                if self.source.is_constant(sum, constructor) && arguments.len() == 1 =>
            {
                // `(None nil)` is `None`.
                let (payload, whole) = self.instantiate_constructor(head, sum, constructor);
                let ty = self.solver.types.function(payload, whole);
                self.expressions[head.0 as usize] = ty;
                self.apply(id, head, ty, &arguments, 0)
            }
            _ => {
                let ty = self.infer(head);
                self.apply(id, head, ty, &arguments, 0)
            }
        }
    }

    /// Infers the type of an argument. The arguments of a partial application that is generalised
    /// are evaluated outside of it, unless they are values.
    pub fn infer_argument(&mut self, id: ExpressionId, argument: ExpressionId) -> Ty {
        if self.partial_value != Some(id) || self.is_duplicable(argument) {
            return self.infer(argument);
        }
        let saved = self.partial_value.take();
        // The bindings inside of the argument have levels of their own again.
        let level = self.solver.types.level as usize;
        let mut pool = std::mem::take(&mut self.solver.types.pools[level]);
        self.solver.types.level -= 1;
        let inside = self.annotations.level;
        self.annotations.level = inside.min(self.solver.types.level);
        let ty = self.infer(argument);
        for index in 0..self.annotations.variables.len() {
            let (_, variable, _) = self.annotations.variables[index];
            let level = self.annotations.level;
            // A variable that stands for a link is reported where that escapes.
            let _ = self.solver.types.lower(variable, level, None);
        }
        self.annotations.level = inside;
        self.solver.types.level += 1;
        pool.append(&mut self.solver.types.pools[level]);
        self.solver.types.pools[level] = pool;
        self.partial_value = saved;
        ty
    }

    /// Applies a function of type `ty` to arguments, of which `before` were already applied.
    pub fn apply(
        &mut self,
        id: ExpressionId,
        function: ExpressionId,
        ty: Ty,
        arguments: &[ExpressionId],
        before: usize,
    ) -> Ty {
        let mut ty = ty;
        let mut agree = true;
        for (index, &argument) in arguments.iter().enumerate() {
            match self.solver.types.shallow(ty) {
                Shallow::Node(TyNode::Function(parameter, result)) => {
                    let found = self.infer_argument(id, argument);
                    let because = Because::Argument {
                        function,
                        position: before + index + 1,
                    };
                    // A type that a wrong argument determined gives no information about the next
                    // argument.
                    if agree || self.solver.types.is_ground(parameter) {
                        agree &= self.solver.expect(parameter, found, argument, &because);
                    }
                    ty = result;
                }
                Shallow::Unbound(_, unbound) if !unbound.constraint.is_data() => {
                    let found = self.infer_argument(id, argument);
                    let result = self.solver.types.open(self.source.span(id));
                    let wanted = self.solver.types.function(found, result);
                    self.solver.expect(ty, wanted, id, &Because::Form);
                    ty = result;
                }
                Shallow::Unbound(..) | Shallow::Node(_) => {
                    self.solver.not_a_function(
                        id,
                        function,
                        ty,
                        &arguments[index..],
                        before + index,
                    );
                    for &rest in &arguments[index..] {
                        self.infer_argument(id, rest);
                    }
                    return self.solver.types.error();
                }
            }
        }
        ty
    }
}

impl Solver<'_> {
    fn not_a_function(
        &mut self,
        call: ExpressionId,
        function: ExpressionId,
        ty: Ty,
        rest: &[ExpressionId],
        taken: usize,
    ) {
        if self.types.is_error(ty) {
            return;
        }
        let shown = Show::new(&mut self.types, self.source.declarations).words(ty);
        let span = self.source.span(function);
        if taken == 0 {
            let all = rest.iter().map(|argument| self.source.span(*argument));
            let all = all.fold(span, |all, next| all.to(next));
            let message = format!("this is applied, but it is {shown} and no function");
            let mut diagnostic = Diagnostic::error(codes::NOT_A_FUNCTION, all, message)
                .label("an application")
                .also(span, format!("this is {shown}"));
            let vector = matches!(self.types.shallow(ty), Shallow::Node(TyNode::Vector(_)));
            let text = |id| self.source.source_text(id);
            let operator = rest.first().filter(|first| {
                let builtin = self.source.builtin_named(**first);
                builtin.is_some_and(|builtin| builtin.scalar_operation().is_some())
            });
            match (operator, rest, text(function)) {
                (Some(operator), [_, second], Some(first)) => {
                    if let (Some(operator), Some(second)) = (text(*operator), text(*second)) {
                        let call = format!("({operator} {first} {second})");
                        diagnostic =
                            diagnostic.help(format!("the operator stands first: `{call}`"));
                    }
                }
                (None, [index], Some(of)) if vector => {
                    let index = text(*index).unwrap_or_else(|| "0".to_string());
                    diagnostic =
                        diagnostic.help(format!("read an element with `({of} ! {index})`"));
                }
                (None, [second], Some(first)) => {
                    if let Some(second) = text(*second) {
                        let tuple = format!("({first}, {second})");
                        diagnostic = diagnostic.help(format!("a tuple has a comma: `{tuple}`"));
                    }
                }
                _others => {}
            }
            self.diagnostics.push(diagnostic);
            return;
        }
        let name = match self.source.name_of(function) {
            Some(name) => format!("`{name}`"),
            None => "this function".to_string(),
        };
        let arguments = match taken {
            1 => "1 argument".to_string(),
            taken => format!("{taken} arguments"),
        };
        let given = taken + rest.len();
        let message = format!("{name} takes {arguments}, but {given} are given");
        let extra = rest.iter().map(|argument| self.source.span(*argument));
        let at = extra.reduce(|all, next| all.to(next)).unwrap_or(span);
        let mut diagnostic = Diagnostic::error(codes::TOO_MANY_ARGUMENTS, at, message)
            .label("too many")
            .also(span, format!("its result is {shown}"));
        if let Some(help) = too_many(self.source, call) {
            diagnostic = diagnostic.help(help);
        }
        self.diagnostics.push(diagnostic);
    }
}
