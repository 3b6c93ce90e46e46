//! The types of applications: of functions, of built-ins with their variable arity, of
//! constructors.

use crate::builtins::{BuiltinId, Lowering};
use crate::inference::Inference;
use crate::messages::Because;
use crate::obligations::Demand;
use crate::resolve::{Resolution, Resolved};
use crate::show::Show;
use crate::signature::{DemandWord, SignatureType};
use crate::types::{Constraint, Shallow, Ty, TyNode};
use nova_core::Builtin;
use nova_core::builtin::Class;
use nova_diag::{Diagnostic, codes};
use nova_syntax::ast::{self, ExpressionId, ExpressionKind};

/// Head and arguments of an application; `((f a) b)` is `(f a b)` where `f` is a built-in,
/// constructor or foreign function.
pub(crate) fn spine(
    program: &ast::Program,
    resolved: &Resolved,
    id: ExpressionId,
) -> (ExpressionId, Vec<ExpressionId>) {
    let mut groups: Vec<&[ExpressionId]> = Vec::new();
    let mut head = id;
    while let ExpressionKind::Apply(function, arguments) = &program.expression(head).kind {
        groups.push(arguments);
        head = *function;
        if !resolved.known_head[head.0 as usize] {
            break;
        }
    }
    let arguments = groups.into_iter().rev().flatten().copied().collect();
    (head, arguments)
}

impl Inference<'_> {
    /// The type of an application.
    pub fn infer_apply(
        &mut self,
        id: ExpressionId,
        function: ExpressionId,
        arguments: &[ExpressionId],
    ) -> Ty {
        if !self.resolved.known_head[id.0 as usize] {
            let ty = self.infer(function);
            return self.apply(id, function, ty, arguments, 0);
        }
        let (head, arguments) = spine(self.program, self.resolved, id);
        match self.resolved.names[head.0 as usize] {
            Resolution::Builtin(builtin) => self.apply_builtin(id, head, builtin, &arguments),
            Resolution::Constructor(sum, constructor)
                if self.is_constant(sum, constructor) && arguments.len() == 1 =>
            {
                // `(None nil)` is `None`.
                let (payload, whole) = self.instantiate_constructor(head, sum, constructor);
                let ty = self.types.function(payload, whole);
                self.expressions[head.0 as usize] = ty;
                self.apply(id, head, ty, &arguments, 0)
            }
            Resolution::Constructor(..)
            | Resolution::Foreign(_)
            | Resolution::Unbound
            | Resolution::Binding(_)
            | Resolution::Definition(_) => {
                let ty = self.infer(head);
                self.apply(id, head, ty, &arguments, 0)
            }
        }
    }

    /// An argument's type. The arguments of a partial application that is generalised are
    /// evaluated outside of it, unless they are values.
    fn infer_argument(&mut self, id: ExpressionId, argument: ExpressionId) -> Ty {
        if self.partial_value != Some(id) || self.is_duplicable(argument) {
            return self.infer(argument);
        }
        let saved = self.partial_value.take();
        // The bindings inside of the argument have levels of their own again.
        let level = self.types.level as usize;
        let mut pool = std::mem::take(&mut self.types.pools[level]);
        self.types.level -= 1;
        let inside = self.annotations.level;
        self.annotations.level = inside.min(self.types.level);
        let ty = self.infer(argument);
        for index in 0..self.annotations.variables.len() {
            let (_, variable, _) = self.annotations.variables[index];
            self.types.lower(variable, self.annotations.level, None);
        }
        self.annotations.level = inside;
        self.types.level += 1;
        pool.append(&mut self.types.pools[level]);
        self.types.pools[level] = pool;
        self.partial_value = saved;
        ty
    }

    /// Applies a function of type `ty` to arguments, `before` of which were already applied.
    fn apply(
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
            match self.types.shallow(ty) {
                Shallow::Node(TyNode::Function(parameter, result)) => {
                    let found = self.infer_argument(id, argument);
                    let because = Because::Argument {
                        function,
                        position: before + index + 1,
                    };
                    // What a wrong argument determined says nothing about the next.
                    if agree || self.types.is_ground(parameter) {
                        agree &= self.expect(parameter, found, argument, &because);
                    }
                    ty = result;
                }
                Shallow::Unbound(_, unbound) if !unbound.constraint.is_data() => {
                    let found = self.infer_argument(id, argument);
                    let result = self.types.open(self.span(id));
                    let wanted = self.types.function(found, result);
                    self.expect(ty, wanted, id, &Because::Form);
                    ty = result;
                }
                Shallow::Unbound(..) | Shallow::Node(_) => {
                    self.not_a_function(function, ty, &arguments[index..], before + index);
                    for &rest in &arguments[index..] {
                        self.infer_argument(id, rest);
                    }
                    return self.types.error();
                }
            }
        }
        ty
    }

    fn not_a_function(
        &mut self,
        function: ExpressionId,
        ty: Ty,
        rest: &[ExpressionId],
        taken: usize,
    ) {
        if self.types.is_error(ty) {
            return;
        }
        let shown = Show::new(&mut self.types, self.declarations).words(ty);
        let span = self.span(function);
        if taken == 0 {
            let all = rest.iter().map(|argument| self.span(*argument));
            let all = all.fold(span, |all, next| all.to(next));
            let message = format!("this is applied, but it is {shown} and no function");
            let mut diagnostic = Diagnostic::error(codes::NOT_A_FUNCTION, all, message)
                .label("an application")
                .also(span, format!("this is {shown}"));
            let vector = matches!(self.types.shallow(ty), Shallow::Node(TyNode::Vector(_)));
            if let (true, Some(text)) = (vector, self.source_text(function)) {
                diagnostic = diagnostic.help(format!("read an element with `({text} ! 0)`"));
            }
            self.diagnostics.push(diagnostic);
            return;
        }
        let name = match self.name_of(function) {
            Some(name) => format!("`{name}`"),
            None => "this function".to_string(),
        };
        let arguments = match taken {
            1 => "1 argument".to_string(),
            taken => format!("{taken} arguments"),
        };
        let given = taken + rest.len();
        let message = format!("{name} takes {arguments}, but {given} are given");
        let extra = rest.iter().map(|argument| self.span(*argument));
        let at = extra.reduce(|all, next| all.to(next)).unwrap_or(span);
        let diagnostic = Diagnostic::error(codes::TOO_MANY_ARGUMENTS, at, message)
            .label("too many")
            .also(span, format!("its result is {shown}"));
        self.diagnostics.push(diagnostic);
    }

    /// The type of a built-in that stands alone.
    pub fn infer_builtin_value(&mut self, id: ExpressionId, builtin: BuiltinId) -> Ty {
        self.apply_builtin(id, id, builtin, &[])
    }

    fn apply_builtin(
        &mut self,
        id: ExpressionId,
        head: ExpressionId,
        builtin: BuiltinId,
        arguments: &[ExpressionId],
    ) -> Ty {
        match builtin.get().lowering {
            Lowering::Map => return self.apply_map(id, head, arguments),
            Lowering::Range => return self.apply_range(id, head, arguments),
            Lowering::Plain(Builtin::Trace) if !self.check_trace(head, arguments) => {
                for &argument in arguments {
                    self.infer_argument(id, argument);
                }
                return self.types.error();
            }
            Lowering::Plain(_)
            | Lowering::ConvertToResult
            | Lowering::And
            | Lowering::Or
            | Lowering::Imap
            | Lowering::Tabulate
            | Lowering::Reshape
            | Lowering::Shape
            | Lowering::Index => {}
        }
        let signature = &builtin.get().signature;
        let origin = self.span(id);
        let variables = signature.fresh_variables(&mut self.types, origin);
        self.signature_demands(id, head, builtin, &variables, arguments);
        let mut parameters = Vec::new();
        let mut agree = true;
        for (index, parameter) in signature.parameters.iter().enumerate() {
            let argument = arguments.get(index).copied();
            let ty = match parameter {
                SignatureType::Rows(element) => {
                    let element = element.instantiate(&mut self.types, &variables);
                    self.rows_parameter(id, head, index + 1, element, argument, &mut agree)
                }
                _ => {
                    let ty = parameter.instantiate(&mut self.types, &variables);
                    let first = match index {
                        1 if signature.parameters[0] == *parameter => arguments.first().copied(),
                        _ => None,
                    };
                    let because = match first {
                        Some(first) if builtin.scalar_operation().is_some() => Because::Operand {
                            function: head,
                            first,
                        },
                        Some(_) | None => Because::Argument {
                            function: head,
                            position: index + 1,
                        },
                    };
                    self.plain_parameter(id, ty, argument, &because, &mut agree);
                    ty
                }
            };
            parameters.push(ty);
        }
        let result = signature.result.instantiate(&mut self.types, &variables);
        self.finish_builtin(id, head, parameters, result, arguments)
    }

    /// Composes the type of a built-in from its parameters, and applies what it gives to the
    /// arguments that are left.
    fn finish_builtin(
        &mut self,
        id: ExpressionId,
        head: ExpressionId,
        parameters: Vec<Ty>,
        result: Ty,
        arguments: &[ExpressionId],
    ) -> Ty {
        let whole = self.types.functions(&parameters, result);
        self.expressions[head.0 as usize] = whole;
        let given = arguments.len();
        if given <= parameters.len() {
            return self.types.functions(&parameters[given..], result);
        }
        let rest = &arguments[parameters.len()..];
        self.apply(id, head, result, rest, parameters.len())
    }

    /// Compares an argument with its parameter; `agree` tells whether those before it did.
    fn plain_parameter(
        &mut self,
        id: ExpressionId,
        ty: Ty,
        argument: Option<ExpressionId>,
        because: &Because,
        agree: &mut bool,
    ) {
        if let Some(argument) = argument {
            let found = self.infer_argument(id, argument);
            // What a wrong argument determined says nothing about the next.
            if *agree || self.types.is_ground(ty) {
                *agree &= self.expect(ty, found, argument, because);
            }
        }
    }

    /// A parameter that takes a vector, or a `vector#n` as its rows; its type.
    fn rows_parameter(
        &mut self,
        id: ExpressionId,
        head: ExpressionId,
        position: usize,
        element: Ty,
        argument: Option<ExpressionId>,
        agree: &mut bool,
    ) -> Ty {
        let collection = match argument {
            Some(argument) => self.infer_argument(id, argument),
            None => self.types.fresh(Constraint::DATA, self.span(head)),
        };
        if !*agree {
            return collection;
        }
        let because = Because::Argument {
            function: head,
            position,
        };
        let demand = Demand::Rows {
            collection,
            element,
        };
        let before = self.diagnostics.len();
        self.demand(demand, argument.unwrap_or(head), because);
        *agree = self.diagnostics.len() == before;
        collection
    }

    /// Makes the demands of a signature.
    fn signature_demands(
        &mut self,
        id: ExpressionId,
        head: ExpressionId,
        builtin: BuiltinId,
        variables: &[Ty],
        arguments: &[ExpressionId],
    ) {
        for (word, related) in &builtin.get().signature.demands {
            let related: Vec<Ty> = related.iter().map(|index| variables[*index]).collect();
            // Every demand is about one argument, the second only for `elements`.
            let position = usize::from(*word == DemandWord::Elements);
            let at = arguments.get(position).copied().unwrap_or(head);
            let because = Because::Argument {
                function: head,
                position: position + 1,
            };
            let (demand, because, at) = match (*word, related.as_slice()) {
                (DemandWord::Index, [collection, index, element]) => {
                    let demand = Demand::Index {
                        collection: *collection,
                        index: *index,
                        element: *element,
                    };
                    (demand, Because::Indexed, id)
                }
                (DemandWord::Extents, [extents, result, element]) => {
                    let demand = Demand::Extents {
                        extents: *extents,
                        result: *result,
                        element: *element,
                    };
                    (demand, because, at)
                }
                (DemandWord::Elements, [collection, element]) => {
                    let demand = Demand::Elements {
                        collection: *collection,
                        element: *element,
                    };
                    (demand, because, at)
                }
                (DemandWord::Shape, [collection, result]) => {
                    let demand = Demand::Shape {
                        collection: *collection,
                        result: *result,
                    };
                    (demand, because, at)
                }
                (DemandWord::Flatten, [collection, element]) => {
                    let demand = Demand::Flatten {
                        collection: *collection,
                        element: *element,
                    };
                    (demand, because, at)
                }
                (DemandWord::Rows, [collection, element]) => {
                    let demand = Demand::ArrayRows {
                        collection: *collection,
                        element: *element,
                    };
                    (demand, because, at)
                }
                (DemandWord::Unrows, [element, result]) => {
                    let demand = Demand::Unrows {
                        element: *element,
                        result: *result,
                    };
                    (demand, because, at)
                }
                (
                    DemandWord::Index
                    | DemandWord::Extents
                    | DemandWord::Elements
                    | DemandWord::Shape
                    | DemandWord::Flatten
                    | DemandWord::Rows
                    | DemandWord::Unrows,
                    _,
                ) => continue,
            };
            self.demand(demand, at, because);
        }
    }

    /// `map f X1 … Xn`: as many vectors as `f` takes arguments; while its type does not tell, as
    /// many as are given (language §3).
    fn apply_map(
        &mut self,
        id: ExpressionId,
        head: ExpressionId,
        arguments: &[ExpressionId],
    ) -> Ty {
        let Some((&function, vectors)) = arguments.split_first() else {
            let function = self.types.open(self.span(head));
            let result = self.types.open(self.span(head));
            let whole = self.types.function(function, result);
            self.expressions[head.0 as usize] = whole;
            self.demand(Demand::MapArity { function, result }, head, Because::Form);
            return whole;
        };
        let found = self.infer_argument(id, function);
        let (mut elements, mut value, known) = self.types.peel(found);
        if self.types.is_error(value) {
            for &vector in vectors {
                self.infer_argument(id, vector);
            }
            return self.types.error();
        }
        if elements.is_empty() && known {
            self.map_of_no_function(function, found);
            for &vector in vectors {
                self.infer_argument(id, vector);
            }
            return self.types.error();
        }
        if !known && vectors.is_empty() {
            let result = self.types.open(self.span(id));
            let whole = self.types.function(found, result);
            self.expressions[head.0 as usize] = whole;
            let demand = Demand::MapArity {
                function: found,
                result,
            };
            self.demand(demand, function, Because::Form);
            return result;
        }
        if !known {
            let more = vectors.len().saturating_sub(elements.len());
            let added: Vec<Ty> = (0..more)
                .map(|_| self.types.fresh(Constraint::DATA, self.span(id)))
                .collect();
            let last = self.types.fresh(Constraint::DATA, self.span(id));
            let wanted = self.types.functions(&added, last);
            self.expect(wanted, value, function, &Because::Form);
            elements.extend(added);
            value = last;
        }
        let result = self.types.vector(value);
        let mut parameters = vec![found];
        for (index, &element) in elements.iter().enumerate() {
            let argument = vectors.get(index).copied();
            let mut agree = true;
            let collection =
                self.rows_parameter(id, head, index + 2, element, argument, &mut agree);
            parameters.push(collection);
        }
        if vectors.len() > elements.len() {
            self.too_many_vectors(head, function, elements.len(), vectors);
            let given = &arguments[..elements.len() + 1];
            return self.finish_builtin(id, head, parameters, result, given);
        }
        self.finish_builtin(id, head, parameters, result, arguments)
    }

    fn too_many_vectors(
        &mut self,
        head: ExpressionId,
        function: ExpressionId,
        takes: usize,
        vectors: &[ExpressionId],
    ) {
        let count = vectors.len();
        let plural = if takes == 1 { "" } else { "s" };
        let message =
            format!("the function of this `map` takes {takes} argument{plural}, not {count}");
        let extra = vectors[takes..].iter().map(|vector| self.span(*vector));
        let at = extra
            .reduce(|all, next| all.to(next))
            .unwrap_or(self.span(head));
        let diagnostic = Diagnostic::error(codes::TOO_MANY_ARGUMENTS, at, message)
            .label("too many")
            .also(self.span(function), "the function")
            .help("`map` takes as many vectors as its function takes arguments");
        self.diagnostics.push(diagnostic);
    }

    /// `range` takes one to three arguments.
    fn apply_range(
        &mut self,
        id: ExpressionId,
        head: ExpressionId,
        arguments: &[ExpressionId],
    ) -> Ty {
        if arguments.is_empty() {
            let ty = self.types.open(self.span(head));
            self.demand(Demand::RangeArity { ty }, head, Because::Form);
            return ty;
        }
        if let Some(extra) = arguments.get(3) {
            let message = format!(
                "`range` takes one to three arguments, not {}",
                arguments.len()
            );
            let last = arguments.last().unwrap_or(extra);
            let at = self.span(*extra).to(self.span(*last));
            let diagnostic = Diagnostic::error(codes::BAD_ARGUMENT_COUNT, at, message)
                .label("too many")
                .help("`(range n)`, `(range begin end)` or `(range begin step end)`");
            self.diagnostics.push(diagnostic);
        }
        let constraint = Constraint::class(Class::Integer, true);
        let element = self.types.fresh(constraint, self.span(id));
        let mut agree = true;
        for (index, &argument) in arguments.iter().enumerate() {
            let given = (index < 3).then_some(argument);
            let because = Because::Argument {
                function: head,
                position: index + 1,
            };
            self.plain_parameter(id, element, given, &because, &mut agree);
        }
        let arguments = &arguments[..arguments.len().min(3)];
        let result = self.types.vector(element);
        self.finish_builtin(id, head, vec![element; arguments.len()], result, arguments)
    }

    /// Whether the text of `trace` is part of the program.
    fn check_trace(&mut self, head: ExpressionId, arguments: &[ExpressionId]) -> bool {
        let text = arguments.first();
        if let Some(&text) = text
            && matches!(self.program.expression(text).kind, ExpressionKind::Text(_))
        {
            return true;
        }
        let at = self.span(text.copied().unwrap_or(head));
        let message = "the first argument of `trace` must be a text in quotes";
        let diagnostic = Diagnostic::error(codes::BAD_ARGUMENT_COUNT, at, message)
            .help("write `(trace \"text\" x)`");
        self.diagnostics.push(diagnostic);
        false
    }
}
