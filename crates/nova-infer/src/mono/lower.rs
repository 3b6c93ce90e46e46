//! The translation of each application of a known function to Core.

use super::Mono;
use super::commutes::commutes;
use super::known::{Callee, Item, Known, arguments};
use super::strategies::{emit_as_vector, emit_by_element};
use super::writer::{Pending, Writer};
use crate::builtins::{Arity, Block, BuiltinId, Lowering};
use crate::signature::SignatureType;
use nova_core::ir::{self, ExpressionKind, Variable};
use nova_core::{Builtin, ScalarOperation, ScalarValue, Strategy, Type};
use nova_syntax::ast;

impl Mono<'_, '_> {
    /// Translates a known function applied to all its arguments. `source` are the arguments in the
    /// source.
    pub(super) fn emit(
        &mut self,
        known: &Known,
        items: Vec<Item>,
        source: &[ast::ExpressionId],
        pending: &mut Pending,
        id: ast::ExpressionId,
    ) -> ir::ExpressionId {
        match known.callee {
            Callee::Builtin(builtin) => self.emit_builtin(known, builtin, items, source, id),
            Callee::Constructor(constructor) => {
                let arguments = arguments(&mut self.writer, items, id);
                let Some(&payload) = arguments.first() else {
                    return self.writer.add(ExpressionKind::Unit, Type::Unit, id);
                };
                let kind = ExpressionKind::Construct {
                    constructor,
                    payload,
                };
                self.writer.add(kind, known.result.clone(), id)
            }
            Callee::Foreign(foreign) => {
                let arguments = arguments(&mut self.writer, items, id);
                let _ = pending;
                let kind = ExpressionKind::Foreign { foreign, arguments };
                self.writer.add(kind, known.result.clone(), id)
            }
        }
    }

    fn emit_builtin(
        &mut self,
        known: &Known,
        builtin: BuiltinId,
        items: Vec<Item>,
        source: &[ast::ExpressionId],
        id: ast::ExpressionId,
    ) -> ir::ExpressionId {
        let parameters = &known.parameters;
        let core = match builtin.get().lowering {
            Lowering::Plain(Builtin::Reduce { commutes: said }) => {
                let commutes = said || source.first().is_some_and(|f| commutes(self.source, *f));
                Builtin::Reduce { commutes }
            }
            Lowering::Plain(Builtin::Scalar(operation)) if known.result.as_lanes().is_some() => {
                return emit_by_element(&mut self.writer, known, operation, items, id);
            }
            Lowering::Plain(plain) => plain,
            Lowering::Map(level) => Builtin::Map {
                strategy: level.map(Strategy::of),
            },
            Lowering::To(space) => return self.emit_placed(items, space, id),
            Lowering::AsVector => return emit_as_vector(&mut self.writer, known, items, id),
            Lowering::ConvertToResult => match known.result.as_scalar() {
                Some(scalar) => Builtin::Scalar(ScalarOperation::Convert(scalar)),
                None => return self.writer.add(ExpressionKind::Unit, Type::Unit, id),
            },
            Lowering::And => return emit_conditional(&mut self.writer, items, false, id),
            Lowering::Or => return emit_conditional(&mut self.writer, items, true, id),
            Lowering::Range => return emit_range(&mut self.writer, known, items, id),
            Lowering::Imap => return emit_imap(&mut self.writer, known, items, id),
            Lowering::Tabulate => return emit_tabulate(&mut self.writer, known, items, id),
            Lowering::Reshape => Builtin::Reshape,
            Lowering::Table | Lowering::Datum => {
                return self.emit_on_recursive(known, builtin, items, id);
            }
            Lowering::Shape => match parameters.first() {
                Some(Type::Array(..)) => Builtin::Shape,
                Some(_) | None => Builtin::Length,
            },
            Lowering::Block(block) => match is_of_arrays(block, known) {
                true => block.of_arrays,
                false => block.of_vectors,
            },
            Lowering::Index => match parameters.first() {
                Some(Type::Array(..)) => Builtin::ArrayIndex,
                Some(_) | None => Builtin::Index,
            },
        };
        let items = view_rows(&mut self.writer, known, builtin, items, id);
        let arguments = arguments(&mut self.writer, items, id);
        self.writer
            .builtin(core, arguments, known.result.clone(), id)
    }

    /// Translates `table` and `datum`.
    fn emit_on_recursive(
        &mut self,
        known: &Known,
        builtin: BuiltinId,
        items: Vec<Item>,
        id: ast::ExpressionId,
    ) -> ir::ExpressionId {
        let arguments = arguments(&mut self.writer, items, id);
        let (core, datum) = match builtin.get().lowering {
            Lowering::Table => (
                Builtin::Table { exact: true },
                known.parameters.first().cloned(),
            ),
            _ => (Builtin::Datum { checked: true }, Some(known.result.clone())),
        };
        let datum = datum.unwrap_or(Type::Unit);
        self.emit_recursive(core, &datum, arguments, known.result.clone(), id)
    }

    /// Translates `(v ! i)` and `(m ! (i, j))`.
    pub(super) fn translate_index(
        &mut self,
        id: ast::ExpressionId,
        collection: ast::ExpressionId,
        index: ast::ExpressionId,
    ) -> ir::ExpressionId {
        let mut value = self.translate(collection);
        let ty = self.type_of(id);
        if !matches!(self.writer.core.expression(value).ty, Type::Array(..)) {
            let index = self.translate(index);
            return self
                .writer
                .builtin(Builtin::Index, vec![value, index], ty, id);
        }
        let (more, item) = self.elements(index);
        let mut pending = Pending::new();
        if !more.is_empty() {
            value = self.writer.bind_value(value, &mut pending, collection);
            pending.extend(more);
        }
        let arguments = arguments(&mut self.writer, vec![Item::Value(value), item], id);
        let read = self.writer.builtin(Builtin::ArrayIndex, arguments, ty, id);
        self.writer.wrap(pending, read, id)
    }
}

/// Views a `vector#n` as its rows where a vector is expected.
fn view_rows(
    w: &mut Writer,
    known: &Known,
    builtin: BuiltinId,
    items: Vec<Item>,
    id: ast::ExpressionId,
) -> Vec<Item> {
    let signature = &builtin.get().signature;
    let lowering = builtin.get().lowering;
    let map = builtin.arity() == Arity::Map;
    items
        .into_iter()
        .enumerate()
        .map(|(index, item)| {
            let takes_rows = match (signature.parameters.get(index), lowering) {
                (Some(SignatureType::Rows(_)), _) => true,
                (_, Lowering::Block(block)) => {
                    block.arrays.contains(&index) && !is_of_arrays(block, known)
                }
                (Some(_) | None, _) => map && index > 0,
            };
            match (item, known.parameters.get(index)) {
                (Item::Value(value), Some(Type::Array(rank, element))) if takes_rows => {
                    let row = Type::array(rank - 1, (**element).clone());
                    let rows = Type::vector(row);
                    Item::Value(w.builtin(Builtin::Rows, vec![value], rows, id))
                }
                (item, _) => item,
            }
        })
        .collect()
}

/// Translates `and` to `(if a b false)`, and `or` to `(if a true b)`.
fn emit_conditional(
    w: &mut Writer,
    items: Vec<Item>,
    decided: bool,
    id: ast::ExpressionId,
) -> ir::ExpressionId {
    let constant = ExpressionKind::Literal(ScalarValue::Bool(decided));
    let constant = w.add(constant, Type::BOOL, id);
    let arguments = arguments(w, items, id);
    let (Some(&condition), Some(&second)) = (arguments.first(), arguments.get(1)) else {
        return constant;
    };
    let (then, otherwise) = match decided {
        true => (constant, second),
        false => (second, constant),
    };
    let kind = ExpressionKind::If {
        condition,
        then,
        otherwise,
    };
    w.add(kind, Type::BOOL, id)
}

/// Translates `range` with its three arguments.
fn emit_range(
    w: &mut Writer,
    known: &Known,
    items: Vec<Item>,
    id: ast::ExpressionId,
) -> ir::ExpressionId {
    let element = known.parameters.first().cloned().unwrap_or(Type::INT);
    let scalar = element.as_scalar().unwrap_or(nova_core::Scalar::I32);
    let given = arguments(w, items, id);
    let mut constant = |value| {
        let literal = ScalarValue::from_integer_wrapping(scalar, value);
        w.add(ExpressionKind::Literal(literal), element.clone(), id)
    };
    let arguments = match given.as_slice() {
        [end] => vec![constant(0), constant(1), *end],
        [begin, end] => vec![*begin, constant(1), *end],
        _ => given,
    };
    w.builtin(Builtin::Range, arguments, known.result.clone(), id)
}

/// Translates `imap`. In Core it also passes the element, which the function ignores.
fn emit_imap(
    w: &mut Writer,
    known: &Known,
    items: Vec<Item>,
    id: ast::ExpressionId,
) -> ir::ExpressionId {
    let element = match known.parameters.get(1) {
        Some(Type::Vector(element)) => (**element).clone(),
        Some(Type::Array(rank, element)) => Type::array(rank - 1, (**element).clone()),
        Some(_) | None => Type::Unit,
    };
    let unused = w.core.add_variable("_", element);
    let builtin = match known.callee {
        Callee::Builtin(builtin) => builtin,
        Callee::Constructor(_) | Callee::Foreign(_) => {
            return w.add(ExpressionKind::Unit, Type::Unit, id);
        }
    };
    let mut items = view_rows(w, known, builtin, items, id);
    if let Some(Item::Function { parameters, .. }) = items.first_mut() {
        parameters.push(unused);
    }
    let arguments = arguments(w, items, id);
    w.builtin(Builtin::Imap, arguments, known.result.clone(), id)
}

/// Translates `tabulate` over one extent or several.
fn emit_tabulate(
    w: &mut Writer,
    known: &Known,
    items: Vec<Item>,
    id: ast::ExpressionId,
) -> ir::ExpressionId {
    let Some(Type::Tuple(extents)) = known.parameters.first() else {
        let arguments = arguments(w, items, id);
        return w.builtin(Builtin::Tabulate, arguments, known.result.clone(), id);
    };
    let mut rewritten = Vec::new();
    for item in items {
        rewritten.push(match item {
            Item::Function { parameters, body } => {
                let (parameters, body) = spread(w, &parameters, extents, body, id);
                Item::Function { parameters, body }
            }
            Item::Value(_) | Item::Elements(_) => item,
        });
    }
    let arguments = arguments(w, rewritten, id);
    w.builtin(Builtin::TabulateArray, arguments, known.result.clone(), id)
}

/// Converts a function of a tuple to one of its elements.
fn spread(
    w: &mut Writer,
    parameters: &[Variable],
    elements: &[Type],
    body: ir::ExpressionId,
    id: ast::ExpressionId,
) -> (Vec<Variable>, ir::ExpressionId) {
    let indices: Vec<Variable> = elements
        .iter()
        .map(|ty| w.core.add_variable("i", ty.clone()))
        .collect();
    let Some(&whole) = parameters.first() else {
        return (indices, body);
    };
    let parts = indices.iter().map(|index| w.variable(*index, id)).collect();
    let ty = w.core.variable(whole).ty.clone();
    let tuple = w.add(ExpressionKind::Tuple(parts), ty, id);
    let body = w.bind(whole, tuple, body, id);
    (indices, body)
}

/// True if a built-in on blocks has tuples as indices.
fn is_of_arrays(block: &Block, known: &Known) -> bool {
    let mut indices = block.indices.iter();
    indices.any(|k| matches!(known.parameters.get(*k), Some(Type::Tuple(_))))
}
