//! Translation of applications to Core. Built-ins get all their arguments, and lambdas where they
//! take functions. Expressions that must be evaluated earlier are bound by a `let`, in the order of
//! the source.

use super::Mono;
use super::commutes::as_lambda;
use super::known::{Callee, Item, Known, Operand, split_function, tuple_types};
use super::strategies::placed_function;
use super::writer::{Pending, Writer};
use crate::builtins::{Arity, Lowering};
use crate::resolve::Resolution;
use crate::signature::SignatureType;
use crate::source::spine;
use nova_core::Type;
use nova_core::ir::{self, ExpressionKind, Variable};
use nova_syntax::ast::{self, ExpressionKind as Syntax};

/// The role of an argument of a known function.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Value,
    /// A function of this many parameters.
    Function(usize),
    /// Extents or indices: a tuple that is split into its elements.
    Elements,
}

impl Mono<'_, '_> {
    /// Translates an application.
    pub fn translate_apply(
        &mut self,
        id: ast::ExpressionId,
        function: ast::ExpressionId,
        arguments: &[ast::ExpressionId],
    ) -> ir::ExpressionId {
        if self.source.resolved.known_head[id.0 as usize] {
            let (head, arguments) = spine(self.source.program, self.source.resolved, id);
            return self.known_value(id, head, &arguments);
        }
        if let [link] = arguments
            && let Some(value) = self.translate_link(id, function, *link)
        {
            return value;
        }
        let function = self.translate(function);
        if arguments.is_empty() {
            return function;
        }
        let arguments = self.translate_all(arguments);
        let ty = self.type_of(id);
        let kind = ExpressionKind::Apply {
            function,
            arguments,
        };
        self.writer.add(kind, ty, id)
    }

    /// Translates a built-in, constructor or foreign function applied to any number of arguments.
    pub fn known_value(
        &mut self,
        id: ast::ExpressionId,
        head: ast::ExpressionId,
        arguments: &[ast::ExpressionId],
    ) -> ir::ExpressionId {
        let Some(known) = self.known(head) else {
            return self.writer.add(ExpressionKind::Unit, Type::Unit, id);
        };
        let arity = known.parameters.len();
        if arguments.len() < arity {
            let (pending, parameters, body) = self.partial(&known, arguments, id);
            let lambda = self.writer.lambda(parameters, body, id);
            return self.writer.wrap(pending, lambda, id);
        }
        let (given, rest) = arguments.split_at(arity);
        let operands: Vec<Operand> = given.iter().map(|id| Operand::Source(*id)).collect();
        let (mut pending, items) = self.prepare(&known, &operands, false);
        let value = self.emit(&known, items, given, &mut pending, id);
        let value = self.writer.wrap(pending, value, id);
        if rest.is_empty() {
            return value;
        }
        let arguments = self.translate_all(rest);
        let ty = self.type_of(id);
        let kind = ExpressionKind::Apply {
            function: value,
            arguments,
        };
        self.writer.add(kind, ty, id)
    }

    /// Returns the known function that an expression names.
    pub fn known(&mut self, head: ast::ExpressionId) -> Option<Known> {
        let whole = self.type_of(head);
        let (callee, arity) = match self.source.resolved.names[head.0 as usize] {
            Resolution::Builtin(builtin) => {
                let arity = match builtin.arity() {
                    Arity::Map => {
                        let (parameters, _) = split_function(whole.clone(), 1);
                        1 + parameters.first().map_or(0, arrows)
                    }
                    Arity::Range => arrows(&whole),
                    Arity::Function => 1,
                    Arity::Fixed(count) => count,
                };
                (Callee::Builtin(builtin), arity)
            }
            Resolution::Constructor(_, constructor) => (Callee::Constructor(constructor), 1),
            Resolution::Foreign(foreign) => {
                let parameters = &self.writer.core.foreigns[foreign as usize].parameters;
                (Callee::Foreign(foreign), parameters.len())
            }
            Resolution::Unbound | Resolution::Binding(_) | Resolution::Definition(_) => {
                return None;
            }
        };
        let (parameters, result) = split_function(whole, arity);
        Some(Known {
            callee,
            head,
            parameters,
            result,
        })
    }

    /// Translates a known function applied to too few arguments. Returns the values evaluated now,
    /// the parameters still to come, and the application.
    fn partial(
        &mut self,
        known: &Known,
        arguments: &[ast::ExpressionId],
        id: ast::ExpressionId,
    ) -> (Pending, Vec<Variable>, ir::ExpressionId) {
        let given: Vec<Operand> = arguments.iter().map(|id| Operand::Source(*id)).collect();
        let (pending, mut items) = self.prepare(known, &given, true);
        let parameters: Vec<Variable> = known.parameters[given.len()..]
            .iter()
            .map(|ty| self.writer.core.add_variable("x", ty.clone()))
            .collect();
        for (offset, &parameter) in parameters.iter().enumerate() {
            let role = role(known, given.len() + offset);
            let (_, item) = self.item(role, Operand::Variable(parameter), known.head);
            items.push(item);
        }
        let mut inside = Pending::new();
        let body = self.emit(known, items, arguments, &mut inside, id);
        let body = self.writer.wrap(inside, body, id);
        (pending, parameters, body)
    }

    /// Translates arguments in order. With `bind_all`, only constants, variables and lambdas are
    /// left unbound.
    fn prepare(
        &mut self,
        known: &Known,
        operands: &[Operand],
        bind_all: bool,
    ) -> (Pending, Vec<Item>) {
        let mut pending = Pending::new();
        let mut items = Vec::new();
        for (index, operand) in operands.iter().enumerate() {
            let role = role(known, index);
            let (more, item) = self.item(role, *operand, known.head);
            if !more.is_empty() {
                // Earlier arguments are evaluated earlier.
                bind_items(&mut self.writer, &mut items, &mut pending, known.head);
                pending.extend(more);
            }
            items.push(item);
        }
        if bind_all {
            bind_items(&mut self.writer, &mut items, &mut pending, known.head);
        }
        (pending, items)
    }

    fn item(&mut self, role: Role, operand: Operand, at: ast::ExpressionId) -> (Pending, Item) {
        match (role, operand) {
            (Role::Value, Operand::Source(id)) => (Pending::new(), Item::Value(self.translate(id))),
            (Role::Value, Operand::Variable(variable)) => (
                Pending::new(),
                Item::Value(self.writer.variable(variable, at)),
            ),
            (Role::Elements, Operand::Source(id)) => self.elements(id),
            (Role::Elements, Operand::Variable(variable)) => {
                (Pending::new(), elements_of(&mut self.writer, variable, at))
            }
            (Role::Function(count), Operand::Source(id)) => {
                let (pending, parameters, body) = self.function_argument(id, count);
                (pending, Item::Function { parameters, body })
            }
            (Role::Function(count), Operand::Variable(variable)) => {
                let (parameters, body) = eta(&mut self.writer, variable, count, at);
                (Pending::new(), Item::Function { parameters, body })
            }
        }
    }

    /// Returns the elements of a tuple.
    pub fn elements(&mut self, id: ast::ExpressionId) -> (Pending, Item) {
        let mut inner = id;
        while let Syntax::Annotate(next, _) = &self.source.program.expression(inner).kind {
            inner = *next;
        }
        if let Syntax::Tuple(elements) = &self.source.program.expression(inner).kind
            && !self.hoisted.contains_key(&inner)
            && !self.hoisted.contains_key(&id)
        {
            return (Pending::new(), Item::Elements(self.translate_all(elements)));
        }
        let value = self.translate(id);
        let ty = self.writer.core.expression(value).ty.clone();
        let variable = self.writer.core.add_variable("t", ty);
        (
            vec![(variable, value)],
            elements_of(&mut self.writer, variable, id),
        )
    }

    /// Translates a function argument to a lambda of `count` parameters. The values that it
    /// evaluates now come first.
    fn function_argument(
        &mut self,
        id: ast::ExpressionId,
        count: usize,
    ) -> (Pending, Vec<Variable>, ir::ExpressionId) {
        let program = self.source.program;
        if let Some(lambda) = as_lambda(self.source, id)
            && !self.hoisted.contains_key(&id)
            && let Syntax::Lambda {
                parameters, body, ..
            } = &program.expression(lambda).kind
        {
            let (parameters, body) = self.translate_lambda_parts(lambda, parameters, *body);
            let (parameters, body) = fit(&mut self.writer, parameters, body, count, lambda);
            return (Pending::new(), parameters, body);
        }
        if self.source.resolved.known_head[id.0 as usize] && !self.hoisted.contains_key(&id) {
            let (head, arguments) = spine(program, self.source.resolved, id);
            if let Some((space, function)) = placed_function(self.source, head, &arguments) {
                let (pending, parameters, body) = self.function_argument(function, count);
                self.place_result(body, space, id);
                return (pending, parameters, body);
            }
            if let Some(known) = self.known(head)
                && known.parameters.len() == arguments.len() + count
            {
                return self.partial(&known, &arguments, id);
            }
        }
        if count == 1
            && let Some((parameters, body)) = self.link_lambda(id)
        {
            return (Pending::new(), parameters, body);
        }
        let function = self.translate(id);
        let mut pending = Pending::new();
        let expression = self.writer.core.expression(function);
        let variable = if let ExpressionKind::Variable(variable) = expression.kind {
            variable
        } else {
            let ty = expression.ty.clone();
            let variable = self.writer.core.add_variable("f", ty);
            pending.push((variable, function));
            variable
        };
        let (parameters, body) = eta(&mut self.writer, variable, count, id);
        (pending, parameters, body)
    }
}

fn bind_items(w: &mut Writer, items: &mut [Item], pending: &mut Pending, at: ast::ExpressionId) {
    for item in items {
        match item {
            Item::Value(value) => *value = w.bind_value(*value, pending, at),
            Item::Elements(elements) => {
                for value in elements {
                    *value = w.bind_value(*value, pending, at);
                }
            }
            Item::Function { .. } => {}
        }
    }
}

fn role(known: &Known, index: usize) -> Role {
    let Callee::Builtin(builtin) = known.callee else {
        return Role::Value;
    };
    let builtin = builtin.get();
    let tuple = match (builtin.lowering, index) {
        (Lowering::Map(_), 0) => return Role::Function(known.parameters.len() - 1),
        (Lowering::To(_), 0) => {
            return Role::Function(known.parameters.first().map_or(0, arrows));
        }
        (Lowering::Block(block), _) => {
            let tuple = matches!(known.parameters.get(index), Some(Type::Tuple(_)));
            block.indices.contains(&index) && tuple
        }
        (Lowering::Tabulate | Lowering::Reshape, 0) | (Lowering::Index, 1) => {
            matches!(known.parameters.get(index), Some(Type::Tuple(_)))
        }
        (_, _) => false,
    };
    if tuple {
        return Role::Elements;
    }
    match builtin.signature.parameters.get(index) {
        Some(parameter @ SignatureType::Function(..)) => Role::Function(parameter.arity()),
        Some(_) | None => Role::Value,
    }
}

fn elements_of(w: &mut Writer, variable: Variable, at: ast::ExpressionId) -> Item {
    let types = tuple_types(&w.core.variable(variable).ty);
    let elements = types
        .into_iter()
        .enumerate()
        .map(|(index, ty)| {
            let tuple = w.variable(variable, at);
            w.add(ExpressionKind::Project(tuple, index as u32), ty, at)
        })
        .collect();
    Item::Elements(elements)
}

/// Makes `(lambda (x …) (f x …))`.
fn eta(
    w: &mut Writer,
    function: Variable,
    count: usize,
    at: ast::ExpressionId,
) -> (Vec<Variable>, ir::ExpressionId) {
    let ty = w.core.variable(function).ty.clone();
    let (types, result) = split_function(ty, count);
    let (parameters, arguments) = fresh(w, types, at);
    let function = w.variable(function, at);
    let kind = ExpressionKind::Apply {
        function,
        arguments,
    };
    let body = w.add(kind, result, at);
    (parameters, body)
}

/// Returns new variables of these types, and uses of them.
fn fresh(
    w: &mut Writer,
    types: Vec<Type>,
    at: ast::ExpressionId,
) -> (Vec<Variable>, Vec<ir::ExpressionId>) {
    let new = types.into_iter().map(|ty| w.core.add_variable("x", ty));
    let variables: Vec<Variable> = new.collect();
    let uses = variables.iter().map(|v| w.variable(*v, at)).collect();
    (variables, uses)
}

/// Converts a lambda to one of `count` parameters.
fn fit(
    w: &mut Writer,
    mut parameters: Vec<Variable>,
    body: ir::ExpressionId,
    count: usize,
    at: ast::ExpressionId,
) -> (Vec<Variable>, ir::ExpressionId) {
    if parameters.len() > count {
        let rest = parameters.split_off(count);
        let body = w.lambda(rest, body, at);
        return (parameters, body);
    }
    if parameters.len() == count {
        return (parameters, body);
    }
    let ty = w.core.expression(body).ty.clone();
    let (types, result) = split_function(ty, count - parameters.len());
    let (more, arguments) = fresh(w, types, at);
    let kind = ExpressionKind::Apply {
        function: body,
        arguments,
    };
    let body = w.add(kind, result, at);
    parameters.extend(more);
    (parameters, body)
}

/// Returns the number of arrows on the right spine of a type.
fn arrows(ty: &Type) -> usize {
    let mut count = 0;
    let mut ty = ty;
    while let Type::Function(_, result) = ty {
        count += 1;
        ty = result;
    }
    count
}
