//! The types of built-ins and of their applications: the parameters a signature has, the vectors
//! that may be a `vector#n`, and the functions that take a variable number of arguments.

use crate::builtins::{BuiltinId, Lowering};
use crate::calls::too_few;
use crate::inference::Inference;
use crate::obligations::Demand;
use crate::reasons::Because;
use crate::signature::{DemandWord, SignatureType};
use crate::solver::Solver;
use crate::types::{Constraint, Shallow, Ty, TyNode};
use nova_core::builtin::Class;
use nova_core::strategy::LANES;
use nova_core::{Builtin, Scalar};
use nova_diag::{Diagnostic, codes};
use nova_syntax::ast::{ExpressionId, ExpressionKind, NumberValue};

impl Inference<'_> {
    /// Infers the type of a built-in that stands alone.
    pub fn infer_builtin_value(&mut self, id: ExpressionId, builtin: BuiltinId) -> Ty {
        self.apply_builtin(id, id, builtin, &[])
    }

    /// Infers the type of an application of a built-in.
    pub fn apply_builtin(
        &mut self,
        id: ExpressionId,
        head: ExpressionId,
        builtin: BuiltinId,
        arguments: &[ExpressionId],
    ) -> Ty {
        match builtin.get().lowering {
            Lowering::Map(_) => return self.apply_map(id, head, arguments),
            Lowering::AsVector => return self.apply_as_vector(id, head, arguments),
            Lowering::Range => return self.apply_range(id, head, arguments),
            Lowering::Plain(Builtin::Trace) if !self.solver.check_trace(head, arguments) => {
                for &argument in arguments {
                    self.infer_argument(id, argument);
                }
                return self.solver.types.error();
            }
            _ => {}
        }
        let signature = &builtin.get().signature;
        let origin = self.source.span(id);
        let variables = signature.fresh_variables(&mut self.solver.types, origin);
        self.signature_demands(id, head, builtin, &variables, arguments);
        let mut parameters = vec![self.solver.types.error(); signature.parameters.len()];
        let mut agree = true;
        for index in self.lambdas_last(signature.parameters.len(), arguments) {
            let parameter = &signature.parameters[index];
            let argument = arguments.get(index).copied();
            let agreed = agree;
            // The root of `datum` determines nothing of its tables.
            agree |= builtin.get().lowering == Lowering::Datum;
            let ty = if let SignatureType::Rows(element) = parameter {
                let element = element.instantiate(&mut self.solver.types, &variables);
                let collection = argument.map(|argument| self.infer_argument(id, argument));
                let rows = (argument, collection);
                self.rows_parameter(head, index + 1, element, rows, &mut agree)
            } else {
                let ty = parameter.instantiate(&mut self.solver.types, &variables);
                let is_whole = signature.parameters.len() <= arguments.len();
                self.know_parameters(argument, ty, agree && is_whole);
                let because = operand_reason(builtin, head, index, arguments);
                self.plain_parameter(id, ty, argument, &because, &mut agree);
                ty
            };
            parameters[index] = ty;
            let missing = signature.parameters.len().saturating_sub(arguments.len());
            if agreed && !agree && missing > 0 && arguments.len() == index + 1 {
                let last = signature.parameters.last();
                let last = last.map(|p| p.instantiate(&mut self.solver.types, &variables));
                if self.is_too_few(id, (arguments[index], missing), last) {
                    return self.solver.types.error();
                }
            }
        }
        let result = signature
            .result
            .instantiate(&mut self.solver.types, &variables);
        self.finish_builtin(id, head, parameters, result, arguments)
    }

    /// Returns the positions of parameters, those of lambdas last: the other arguments say what they take.
    /// The arguments of a call that lacks some may stand in wrong positions, and say nothing.
    fn lambdas_last(&self, count: usize, arguments: &[ExpressionId]) -> Vec<usize> {
        let is_lambda = |index: &usize| {
            let argument = arguments.get(*index);
            count <= arguments.len() && argument.is_some_and(|argument| self.is_lambda(*argument))
        };
        let (lambdas, others): (Vec<usize>, Vec<usize>) = (0..count).partition(is_lambda);
        others.into_iter().chain(lambdas).collect()
    }

    fn is_lambda(&self, id: ExpressionId) -> bool {
        let kind = &self.source.program.expression(id).kind;
        matches!(kind, ExpressionKind::Lambda { .. })
    }

    /// Keeps what is known of the parameters of a lambda until it is inferred.
    fn know_parameters(&mut self, argument: Option<ExpressionId>, function: Ty, known: bool) {
        if let Some(lambda) = argument.filter(|argument| known && self.is_lambda(*argument)) {
            let (parameters, _, _) = self.solver.types.peel(function);
            let parameters = parameters.into_iter().map(Some).collect();
            self.known_parameters = Some((lambda, parameters));
        }
    }

    /// Returns the type of the elements of a vector, where that is known.
    fn element_of(&mut self, collection: Ty) -> Option<Ty> {
        match self.solver.types.shallow(collection) {
            Shallow::Node(TyNode::Vector(element)) => Some(element),
            Shallow::Node(_) | Shallow::Unbound(..) => None,
        }
    }

    /// Reports that a call has too few arguments where its last one would fit the last parameter.
    fn is_too_few(
        &mut self,
        call: ExpressionId,
        (argument, missing): (ExpressionId, usize),
        last: Option<Ty>,
    ) -> bool {
        let found = self.expressions[argument.0 as usize];
        let mut is_vector = |ty: Ty| {
            matches!(
                self.solver.types.shallow(ty),
                Shallow::Node(TyNode::Vector(_))
            )
        };
        if !last.is_some_and(&mut is_vector) || !is_vector(found) {
            return false;
        }
        let Some(too_few) = too_few(self.source, call, missing) else {
            return false;
        };
        let diagnostic = Diagnostic::error(
            codes::BAD_ARGUMENT_COUNT,
            self.source.span(call),
            too_few.message,
        );
        self.solver.diagnostics.push(diagnostic.help(too_few.help));
        self.solver.misplace(&too_few.arguments);
        true
    }

    /// Composes the type of a built-in from its parameters, and applies its result to the remaining
    /// arguments.
    fn finish_builtin(
        &mut self,
        id: ExpressionId,
        head: ExpressionId,
        parameters: Vec<Ty>,
        result: Ty,
        arguments: &[ExpressionId],
    ) -> Ty {
        let whole = self.solver.types.functions(&parameters, result);
        self.expressions[head.0 as usize] = whole;
        let given = arguments.len();
        if given <= parameters.len() {
            return self.solver.types.functions(&parameters[given..], result);
        }
        let rest = &arguments[parameters.len()..];
        self.apply(id, head, result, rest, parameters.len())
    }

    /// Compares an argument with its parameter. `agree` is true if the previous arguments did
    /// agree.
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
            // A type that a wrong argument determined gives no information about the next argument.
            if *agree || self.solver.types.is_ground(ty) {
                *agree &= self.solver.expect(ty, found, argument, because);
            }
        }
    }

    /// Adds the demand of a parameter that takes a vector, or a `vector#n` as its rows. Returns its
    /// type.
    fn rows_parameter(
        &mut self,
        head: ExpressionId,
        position: usize,
        element: Ty,
        (argument, collection): (Option<ExpressionId>, Option<Ty>),
        agree: &mut bool,
    ) -> Ty {
        let collection = collection.unwrap_or_else(|| {
            let origin = self.source.span(head);
            self.solver.types.fresh(Constraint::DATA, origin)
        });
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
        let before = self.solver.diagnostics.len();
        self.solver
            .demand(demand, argument.unwrap_or(head), because);
        *agree = self.solver.diagnostics.len() == before;
        collection
    }

    /// Adds the demands of a signature.
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
            let demand = match builtin.get().lowering {
                Lowering::Block(block) => Demand::of_block(block, head, variables, &related),
                _ => Demand::from_word(*word, &related),
            };
            let Some(demand) = demand else {
                continue;
            };
            // Every demand is about one argument: the second of `elements` and `datum`.
            let second = *word == DemandWord::Elements || builtin.get().lowering == Lowering::Datum;
            let position = usize::from(second);
            let (at, because) = match word {
                DemandWord::Index => (id, Because::Indexed),
                DemandWord::Block => (id, Because::Form),
                _ => {
                    let because = Because::Argument {
                        function: head,
                        position: position + 1,
                    };
                    (arguments.get(position).copied().unwrap_or(head), because)
                }
            };
            self.solver.demand(demand, at, because);
        }
    }

    /// Infers `map f X1 … Xn`, with as many vectors as `f` takes arguments. While its type is
    /// unknown, these are as many as are given (language §3).
    fn apply_map(
        &mut self,
        id: ExpressionId,
        head: ExpressionId,
        arguments: &[ExpressionId],
    ) -> Ty {
        let Some((&function, vectors)) = arguments.split_first() else {
            let function = self.solver.types.open(self.source.span(head));
            return self.map_of_unknown_arity(head, head, function).0;
        };
        // The vectors say what a lambda takes.
        let collections: Vec<Ty> = vectors
            .iter()
            .map(|vector| self.infer_argument(id, *vector))
            .collect();
        if self.is_lambda(function) {
            let elements = collections.iter().map(|ty| self.element_of(*ty)).collect();
            self.known_parameters = Some((function, elements));
        }
        let found = self.infer_argument(id, function);
        let (elements, value, known) = self.solver.types.peel(found);
        let error = self.solver.types.is_error(value);
        if error || (elements.is_empty() && known) {
            if !error {
                self.solver.map_of_no_function(Some(head), function, found);
            }
            return self.solver.types.error();
        }
        if !known && vectors.is_empty() {
            return self.map_of_unknown_arity(head, function, found).1;
        }
        let (elements, value) = match known {
            true => (elements, value),
            false => self.extend_function(id, function, elements, value, vectors.len()),
        };
        let result = self.solver.types.vector(value);
        let mut parameters = vec![found];
        for (index, &element) in elements.iter().enumerate() {
            let rows = (vectors.get(index).copied(), collections.get(index).copied());
            let mut agree = true;
            let collection = self.rows_parameter(head, index + 2, element, rows, &mut agree);
            parameters.push(collection);
        }
        let mut given = arguments;
        if vectors.len() > elements.len() {
            self.solver
                .too_many_vectors(head, function, elements.len(), vectors);
            given = &arguments[..elements.len() + 1];
        }
        self.finish_builtin(id, head, parameters, result, given)
    }

    /// Infers the type of `map` for a function whose arity is not known yet, and of its
    /// application.
    fn map_of_unknown_arity(
        &mut self,
        head: ExpressionId,
        at: ExpressionId,
        function: Ty,
    ) -> (Ty, Ty) {
        let result = self.solver.types.open(self.source.span(at));
        let whole = self.solver.types.function(function, result);
        self.expressions[head.0 as usize] = whole;
        self.solver
            .demand(Demand::MapArity { function, result }, at, Because::Form);
        (whole, result)
    }

    /// Makes a function whose result is open take at least `count` arguments and return data.
    fn extend_function(
        &mut self,
        id: ExpressionId,
        function: ExpressionId,
        mut elements: Vec<Ty>,
        value: Ty,
        count: usize,
    ) -> (Vec<Ty>, Ty) {
        let origin = self.source.span(id);
        let more = count.saturating_sub(elements.len());
        let added: Vec<Ty> = (0..more)
            .map(|_| self.solver.types.fresh(Constraint::DATA, origin))
            .collect();
        let last = self.solver.types.fresh(Constraint::DATA, origin);
        let wanted = self.solver.types.functions(&added, last);
        self.solver.expect(wanted, value, function, &Because::Form);
        elements.extend(added);
        (elements, last)
    }

    /// Infers `range`, which takes one to three arguments.
    fn apply_range(
        &mut self,
        id: ExpressionId,
        head: ExpressionId,
        arguments: &[ExpressionId],
    ) -> Ty {
        if arguments.is_empty() {
            let ty = self.solver.types.open(self.source.span(head));
            self.solver
                .demand(Demand::RangeArity { ty }, head, Because::Form);
            return ty;
        }
        if let Some(extra) = arguments.get(3) {
            let message = format!(
                "`range` takes one to three arguments, not {}",
                arguments.len()
            );
            let last = arguments.last().unwrap_or(extra);
            let at = self.source.span(*extra).to(self.source.span(*last));
            let diagnostic = Diagnostic::error(codes::BAD_ARGUMENT_COUNT, at, message)
                .label("too many")
                .help("`(range n)`, `(range begin end)` or `(range begin step end)`");
            self.solver.diagnostics.push(diagnostic);
        }
        let constraint = Constraint::class(Class::Integer, true);
        let element = self.solver.types.fresh(constraint, self.source.span(id));
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
        let result = self.solver.types.vector(element);
        self.finish_builtin(id, head, vec![element; arguments.len()], result, arguments)
    }

    /// Infers `as_vector n X`, whose literal n decides the type.
    fn apply_as_vector(
        &mut self,
        id: ExpressionId,
        head: ExpressionId,
        arguments: &[ExpressionId],
    ) -> Ty {
        let Some(lanes) = self.solver.literal_lanes(head, arguments) else {
            for &argument in arguments {
                self.infer_argument(id, argument);
            }
            return self.solver.types.error();
        };
        let constraint = Constraint::class(Class::Number, true);
        let element = self.solver.types.fresh(constraint, self.source.span(id));
        let int = self.solver.types.scalar(Scalar::I32);
        let parameters = vec![int, self.solver.types.vector(element)];
        let mut agree = true;
        for (index, &ty) in parameters.iter().enumerate() {
            let because = Because::Argument {
                function: head,
                position: index + 1,
            };
            let argument = arguments.get(index).copied();
            self.plain_parameter(id, ty, argument, &because, &mut agree);
        }
        let lanes = self.solver.types.lanes(lanes, element);
        let result = self.solver.types.vector(lanes);
        self.finish_builtin(id, head, parameters, result, arguments)
    }
}

impl Solver<'_> {
    fn too_many_vectors(
        &mut self,
        head: ExpressionId,
        function: ExpressionId,
        takes: usize,
        vectors: &[ExpressionId],
    ) {
        let count = vectors.len();
        let plural = if takes == 1 { "" } else { "s" };
        let name = self.source.name_of(head);
        let name = name.as_deref().unwrap_or("map");
        let message =
            format!("the function of this `{name}` takes {takes} argument{plural}, not {count}");
        let extra = vectors[takes..]
            .iter()
            .map(|vector| self.source.span(*vector));
        let at = extra
            .reduce(|all, next| all.to(next))
            .unwrap_or(self.source.span(head));
        let diagnostic = Diagnostic::error(codes::TOO_MANY_ARGUMENTS, at, message)
            .label("too many")
            .also(self.source.span(function), "the function")
            .help(format!(
                "`{name}` takes as many vectors as its function takes arguments"
            ));
        self.diagnostics.push(diagnostic);
    }

    /// Returns the n of `as_vector n X`, where it is a literal that `vec#n` allows.
    fn literal_lanes(&mut self, head: ExpressionId, arguments: &[ExpressionId]) -> Option<u32> {
        let first = arguments.first().copied();
        if let Some(first) = first
            && let ExpressionKind::Number(number) = &self.source.program.expression(first).kind
            && let (NumberValue::Integer(Some(n)), None) = (&number.value, number.suffix)
            && let Some(lanes) = LANES.iter().find(|lanes| i128::from(**lanes) == *n)
        {
            return Some(*lanes);
        }
        let at = self.source.span(first.unwrap_or(head));
        let message = "the first argument of `as_vector` must be the literal 2, 4, 8 or 16";
        let diagnostic = Diagnostic::error(codes::BAD_ARGUMENT_COUNT, at, message)
            .help("write `(as_vector 4 X)`");
        self.diagnostics.push(diagnostic);
        None
    }

    /// True if the text of `trace` is a literal of the program.
    fn check_trace(&mut self, head: ExpressionId, arguments: &[ExpressionId]) -> bool {
        let text = arguments.first();
        if let Some(&text) = text
            && matches!(
                self.source.program.expression(text).kind,
                ExpressionKind::Text(_)
            )
        {
            return true;
        }
        let at = self.source.span(text.copied().unwrap_or(head));
        let message = "the first argument of `trace` must be a text in quotes";
        let diagnostic = Diagnostic::error(codes::BAD_ARGUMENT_COUNT, at, message)
            .help("write `(trace \"text\" x)`");
        self.diagnostics.push(diagnostic);
        false
    }
}

/// Returns the reason for the type of an argument of a built-in. Operands of arithmetic must agree
/// with each other.
fn operand_reason(
    builtin: BuiltinId,
    head: ExpressionId,
    index: usize,
    arguments: &[ExpressionId],
) -> Because {
    let parameters = &builtin.get().signature.parameters;
    let alike = index == 1 && parameters.first() == parameters.get(1);
    match arguments.first() {
        Some(&first) if alike && builtin.scalar_operation().is_some() => Because::Operand {
            function: head,
            first,
        },
        Some(_) | None => Because::Argument {
            function: head,
            position: index + 1,
        },
    }
}
