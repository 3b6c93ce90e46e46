//! The translation of `foreach`, `up`, `dn`, `table` and `datum` to Core
//! (docs/decisions/data-parallel-recursion.md).

use super::concrete::MonoType;
use super::{Mono, writer::Writer};
use crate::links::LinkFunction;
use crate::resolve::{BindingId, Resolution};
use crate::types::Side;
use crate::types::{Shallow, SumDeclarationId, Ty, TyNode};
use nova_core::ir::{self, Arm, ExpressionKind, Variable};
use nova_core::{Builtin, ScalarValue, SumId, Type};
use nova_syntax::ast::{self, NodeBody, Pattern};
use std::collections::HashMap;

/// The tables of the `foreach`es being translated: for each form the variable of each member.
pub(super) type FormTables = HashMap<u32, Vec<Variable>>;

/// The tables of the group of a recursive sum.
#[derive(Default)]
struct Group {
    /// The types of the tables, in the order of the declarations.
    tables: Vec<Type>,
    /// The position of the sum itself.
    own: usize,
}

impl Group {
    /// Returns the members in the order of a tuple of tables: the sum itself first.
    fn order(&self) -> Vec<usize> {
        let others = (0..self.tables.len()).filter(|member| *member != self.own);
        [self.own].into_iter().chain(others).collect()
    }

    /// Returns the type of the table, or of the tuple of tables.
    fn whole(&self) -> Type {
        let tables = self.order().into_iter();
        Type::tuple(tables.map(|member| self.tables[member].clone()).collect())
    }
}

impl Mono<'_, '_> {
    /// Returns the tables of a recursive type. Their node types name the sums.
    fn tables(&mut self, ty: &Type) -> Group {
        let declarations = self.source.declarations;
        let Type::Sum(sum) = *ty else {
            return Group::default();
        };
        let Some(declaration) = self.concrete.declaration(sum) else {
            return Group::default();
        };
        let members = declarations.group(declaration);
        let int = self.inference.solver.types.scalar(nova_core::Scalar::I32);
        let int = self.mono_type(int);
        let arguments: Vec<MonoType> = self.concrete.sum_arguments[sum.index()].clone();
        let mut group = Group::default();
        for (position, member) in members.iter().enumerate() {
            let sum = self.sum(*member, arguments.clone());
            let links = vec![int; members.len()];
            let node = declarations.node_type(*member).unwrap_or(*member);
            let node = self.sum(node, [&arguments[..], &links].concat());
            self.writer.core.sums[node.index()].node_of = Some(sum);
            group.tables.push(Type::vector(Type::Sum(node)));
            if *member == declaration {
                group.own = position;
            }
        }
        self.finish_sums();
        group
    }

    /// Translates `table` and `datum`. The node types in the tables name the sums of `datum`.
    pub(super) fn emit_recursive(
        &mut self,
        builtin: Builtin,
        datum: &Type,
        arguments: Vec<ir::ExpressionId>,
        result: Type,
        id: ast::ExpressionId,
    ) -> ir::ExpressionId {
        self.tables(datum);
        self.writer.builtin(builtin, arguments, result, id)
    }

    /// Translates a `foreach`.
    pub(super) fn translate_foreach(
        &mut self,
        id: ast::ExpressionId,
        datum: ast::ExpressionId,
        links: &[Pattern; 2],
        nodes: &[NodeBody],
    ) -> ir::ExpressionId {
        let value = self.translate(datum);
        let result = self.type_of(id);
        let first = self.source.resolved.first_binding[id.0 as usize];
        let Some((number, form)) = self.form_at(id) else {
            return self.writer.add(ExpressionKind::Unit, Type::Unit, id);
        };
        let Some(new) = form.new else {
            return self.writer.add(ExpressionKind::Unit, Type::Unit, id);
        };
        let datum = self.writer.core.expression(value).ty.clone();
        let (old, new_group) = (self.tables(&datum), self.tables(&result));
        let whole = old.whole();
        let table = self.writer.builtin(
            Builtin::Table { exact: false },
            vec![value],
            whole.clone(),
            id,
        );
        let (variables, mut bound) = bind_tables(&mut self.writer, &old, table, id);
        let outer = self.forms.insert(number, variables.clone());
        let mut next = first.0 + links.iter().map(crate::resolve::count_names).sum::<u32>();
        let mut made = vec![None; new_group.tables.len()];
        let group = self.source.declarations.group(new.sum);
        for ((node, member), made_by) in nodes.iter().zip(&form.members).zip(&form.made) {
            let Type::Vector(element) = old.tables[*member as usize].clone() else {
                continue;
            };
            let pattern = self.bind_pattern(&node.pattern, (*element).clone(), &mut next);
            let body = self.translate(node.body);
            let body = self.writer.wrap_pieces(&pattern.pieces, body, node.body);
            let lambda = self.writer.lambda(vec![pattern.variable], body, node.body);
            let old_nodes = self.writer.variable(variables[*member as usize], id);
            let position = group.iter().position(|sum| sum == made_by).unwrap_or(0);
            let map = Builtin::Map { strategy: None };
            let ty = new_group.tables[position].clone();
            let nodes = self
                .writer
                .builtin(map, vec![lambda, old_nodes], ty.clone(), id);
            let variable = self.writer.core.add_variable("nodes", ty);
            bound.push((variable, nodes));
            made[position] = Some(variable);
        }
        match outer {
            Some(outer) => self.forms.insert(number, outer),
            None => self.forms.remove(&number),
        };
        let made: Vec<Variable> = made.into_iter().flatten().collect();
        let tables = tuple_of(&mut self.writer, &new_group, &made, id);
        let root = ExpressionKind::Literal(ScalarValue::I32(0));
        let root = self.writer.add(root, Type::INT, id);
        let builtin = Builtin::Datum { checked: false };
        let datum = self.writer.builtin(builtin, vec![root, tables], result, id);
        self.writer.wrap(bound, datum, id)
    }

    /// Returns the number of a form, and what is known of it.
    fn form_at(&self, id: ast::ExpressionId) -> Option<(u32, crate::links::LinkForm)> {
        let forms = &self.inference.solver.forms;
        let number = *self.inference.solver.form_of.get(&id)?;
        Some((number, forms.get(number as usize)?.clone()))
    }

    /// Returns what a use of `f` or `d` does: the table of `d`, and the type of the result.
    fn link_function(&mut self, id: ast::ExpressionId) -> Option<(LinkFunction, Option<Variable>)> {
        let Resolution::Binding(binding) = self.source.resolved.names[id.0 as usize] else {
            return None;
        };
        let (form, function) = self.function_of(binding)?;
        let ty = self.inference.expressions[id.0 as usize];
        let (parameters, _, _) = self.inference.solver.types.peel(ty);
        let member = match self.inference.solver.types.shallow(*parameters.first()?) {
            Shallow::Node(TyNode::Link(link)) => link.member,
            Shallow::Node(_) | Shallow::Unbound(..) => return None,
        };
        let table = match function {
            LinkFunction::Rename => None,
            LinkFunction::Follow => Some(*self.forms.get(&form)?.get(member as usize)?),
        };
        Some((function, table))
    }

    fn function_of(&self, binding: BindingId) -> Option<(u32, LinkFunction)> {
        self.inference.link_functions.get(&binding).copied()
    }

    /// Translates `(f l)` and `(d l)`, if `function` is one of these.
    pub(super) fn translate_link(
        &mut self,
        id: ast::ExpressionId,
        function: ast::ExpressionId,
        link: ast::ExpressionId,
    ) -> Option<ir::ExpressionId> {
        let (_, table) = self.link_function(function)?;
        let link = self.translate(link);
        Some(match table {
            None => link,
            Some(table) => node_at(&mut self.writer, table, link, id),
        })
    }

    /// Translates `f` or `d` as a value to parameters and a body, if a name is one of these.
    pub(super) fn link_lambda(
        &mut self,
        id: ast::ExpressionId,
    ) -> Option<(Vec<Variable>, ir::ExpressionId)> {
        let (_, table) = self.link_function(id)?;
        let parameter = self.writer.core.add_variable("link", Type::INT);
        let link = self.writer.variable(parameter, id);
        let body = match table {
            None => link,
            Some(table) => node_at(&mut self.writer, table, link, id),
        };
        Some((vec![parameter], body))
    }

    /// Translates an `up`: its links are the data.
    pub(super) fn translate_up(
        &mut self,
        id: ast::ExpressionId,
        body: ast::ExpressionId,
        links: &[(Pattern, ast::ExpressionId)],
    ) -> ir::ExpressionId {
        let mut next = self.source.resolved.first_binding[id.0 as usize].0;
        let mut values = Vec::new();
        let mut pieces = Vec::new();
        let data: Vec<_> = links
            .iter()
            .map(|(_, datum)| self.translate(*datum))
            .collect();
        for ((pattern, _), value) in links.iter().zip(data) {
            let ty = self.writer.core.expression(value).ty.clone();
            let bound = self.bind_pattern(pattern, ty, &mut next);
            values.push((bound.variable, value));
            pieces.extend(bound.pieces);
        }
        let node = self.translate(body);
        let ty = self.type_of(id);
        let datum = retag(&mut self.writer, node, ty, id);
        let datum = self.writer.wrap_pieces(&pieces, datum, id);
        self.writer.wrap(values, datum, id)
    }

    /// Translates a `dn`.
    pub(super) fn translate_down(
        &mut self,
        id: ast::ExpressionId,
        datum: ast::ExpressionId,
    ) -> ir::ExpressionId {
        let datum = self.translate(datum);
        let ty = self.type_of(id);
        self.finish_sums();
        retag(&mut self.writer, datum, ty, id)
    }

    /// Returns the concrete type of a link: `int`, or for an `up` the data themselves.
    pub(super) fn link_type(&mut self, link: crate::types::LinkType) -> (MonoType, bool) {
        let form = &self.inference.solver.forms[link.form as usize];
        if form.is_up()
            && link.side == Side::New
            && let Some(new) = form.new.clone()
        {
            let group = self.source.declarations.group(new.sum);
            if let Some(sum) = group.get(link.member as usize) {
                return self.data_type(*sum, &new.arguments);
            }
        }
        let int = self.inference.solver.types.scalar(nova_core::Scalar::I32);
        (self.mono_type(int), false)
    }

    fn data_type(&mut self, sum: SumDeclarationId, arguments: &[Ty]) -> (MonoType, bool) {
        let ty = self.inference.solver.types.sum(sum, arguments.to_vec());
        // The arguments may be variables of the instance being translated.
        (self.mono_type(ty), true)
    }
}

/// Binds the tables of a group, in the order of the declarations. Returns their variables.
fn bind_tables(
    w: &mut Writer,
    group: &Group,
    table: ir::ExpressionId,
    id: ast::ExpressionId,
) -> (Vec<Variable>, Vec<(Variable, ir::ExpressionId)>) {
    let whole = w.core.add_variable("table", group.whole());
    if group.tables.len() == 1 {
        return (vec![whole], vec![(whole, table)]);
    }
    let mut bound = vec![(whole, table)];
    let mut variables = vec![whole; group.tables.len()];
    for (place, member) in group.order().into_iter().enumerate() {
        let ty = group.tables[member].clone();
        let tuple = w.variable(whole, id);
        let part = w.add(ExpressionKind::Project(tuple, place as u32), ty.clone(), id);
        variables[member] = w.core.add_variable("table", ty);
        bound.push((variables[member], part));
    }
    (variables, bound)
}

/// Returns the table that variables hold, or the tuple of tables. The variables are in the order of
/// the declarations.
fn tuple_of(
    w: &mut Writer,
    group: &Group,
    variables: &[Variable],
    id: ast::ExpressionId,
) -> ir::ExpressionId {
    let order = group.order();
    let parts: Vec<ir::ExpressionId> = order
        .into_iter()
        .filter_map(|member| variables.get(member).copied())
        .map(|variable| w.variable(variable, id))
        .collect();
    match parts.as_slice() {
        [one] => *one,
        _ => w.add(ExpressionKind::Tuple(parts), group.whole(), id),
    }
}

fn node_at(
    w: &mut Writer,
    table: Variable,
    link: ir::ExpressionId,
    id: ast::ExpressionId,
) -> ir::ExpressionId {
    let ty = match &w.core.variable(table).ty {
        Type::Vector(element) => (**element).clone(),
        _ => Type::Unit,
    };
    let table = w.variable(table, id);
    w.builtin(Builtin::NodeAt, vec![table, link], ty, id)
}

/// Returns the value of another sum with the same constructors and payloads.
fn retag(
    w: &mut Writer,
    value: ir::ExpressionId,
    ty: Type,
    id: ast::ExpressionId,
) -> ir::ExpressionId {
    let Type::Sum(from) = w.core.expression(value).ty else {
        return value;
    };
    let payloads = payloads(w, from);
    let mut arms = Vec::new();
    for (constructor, payload) in payloads.into_iter().enumerate() {
        let (variable, payload) = match payload {
            Type::Unit => (None, w.add(ExpressionKind::Unit, Type::Unit, id)),
            payload => {
                let variable = w.core.add_variable("payload", payload);
                (Some(variable), w.variable(variable, id))
            }
        };
        let kind = ExpressionKind::Construct {
            constructor: constructor as u32,
            payload,
        };
        let body = w.add(kind, ty.clone(), id);
        arms.push(Some(Arm { variable, body }));
    }
    let kind = ExpressionKind::Case {
        scrutinee: value,
        arms,
        default: None,
    };
    w.add(kind, ty, id)
}

fn payloads(w: &Writer, sum: SumId) -> Vec<Type> {
    let constructors = w.core.sums[sum.index()].constructors.iter();
    constructors.map(|c| c.payload.clone()).collect()
}
