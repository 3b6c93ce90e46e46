//! The pass that replaces the conversions between data and tables by operations on nodes.

use super::convert::Direction;
use super::group::Group;
use super::operations::{close, open};
use super::shrink::shrink;
use crate::builder::Builder;
use crate::error::{LowerError, Result};
use nova_core::Member;
use nova_diag::deep;
use nova_flat::ir::{Body, Expression, Program, Statement};
use nova_flat::visit::{Substitution, binders, bodies_mut, each_statement};
use std::collections::HashMap;
use std::rc::Rc;

/// The members of a group, and the direction in which their tables are converted.
type Key = (Vec<Member>, Direction);

/// The groups of a program, each made once.
#[derive(Default)]
struct Groups {
    made: HashMap<Key, Rc<Group>>,
}

impl Groups {
    fn get(
        &mut self,
        b: &mut Builder,
        members: &[Member],
        direction: Direction,
    ) -> Result<Rc<Group>> {
        let key = (members.to_vec(), direction);
        if let Some(group) = self.made.get(&key) {
            return Ok(group.clone());
        }
        let group = Rc::new(Group::new(b, members, direction)?);
        self.made.insert(key, group.clone());
        Ok(group)
    }
}

/// Replaces the conversions of a program.
///
/// An error is a bug of the compiler: the program violates the guarantees of Flat.
pub fn expand(program: &mut Program) -> std::result::Result<(), LowerError> {
    let Some(first) = program.functions.first() else {
        return Ok(());
    };
    let place = first.place.clone();
    let mut b = Builder::of(std::mem::take(program), place);
    let mut groups = Groups::default();
    let mut result = Ok(());
    for k in 0..b.output.functions.len() {
        if !converts(&b.output.functions[k].body) {
            continue;
        }
        let body = std::mem::take(&mut b.output.functions[k].body);
        match expand_body(&mut b, &mut groups, body, &mut Substitution::default()) {
            Ok(body) => b.output.functions[k].body = body,
            Err(error) => result = result.and(Err(error)),
        }
    }
    *program = b.output;
    result
}

/// True if a body converts data, at any depth.
fn converts(body: &Body) -> bool {
    let mut found = false;
    each_statement(body, &mut |statement| {
        found |= matches!(
            statement.expression,
            Expression::TableOpen { .. }
                | Expression::TableClose { .. }
                | Expression::TableShrink { .. }
        );
    });
    found
}

fn expand_body(
    b: &mut Builder,
    groups: &mut Groups,
    mut body: Body,
    known: &mut Substitution,
) -> Result<Body> {
    b.body(|b| {
        for statement in std::mem::take(&mut body.statements) {
            expand_statement(b, groups, statement, known)?;
        }
        Ok(body.results.iter().map(|atom| known.atom(*atom)).collect())
    })
}

fn expand_statement(
    b: &mut Builder,
    groups: &mut Groups,
    mut statement: Statement,
    known: &mut Substitution,
) -> Result<()> {
    known.operands(&mut statement.expression);
    b.place = statement.place.clone();
    let made = match &statement.expression {
        Expression::TableOpen { members, link, .. } => {
            let group = groups.get(b, members, Direction::ToNodes)?;
            open(b, &group, *link)?
        }
        Expression::TableClose {
            checked,
            members,
            root,
            tables,
        } => {
            let group = groups.get(b, members, Direction::ToData)?;
            vec![close(b, &group, *root, tables.clone(), *checked)?]
        }
        Expression::TableShrink { members, tables } => {
            let group = groups.get(b, members, Direction::WithinNodes)?;
            shrink(b, &group, tables.clone())?
        }
        _other => return keep(b, groups, statement, known),
    };
    for (variable, atom) in statement.pattern.iter().zip(made) {
        known.insert(*variable, atom);
    }
    Ok(())
}

/// Emits a statement that is no conversion, with those in its bodies replaced.
fn keep(
    b: &mut Builder,
    groups: &mut Groups,
    mut statement: Statement,
    known: &mut Substitution,
) -> Result<()> {
    for variable in &statement.pattern {
        known.info(&mut b.output, *variable);
    }
    binders(&statement.expression, &mut |variable| {
        known.info(&mut b.output, *variable);
    });
    let mut result = Ok(());
    bodies_mut(&mut statement.expression, &mut |inner| {
        let body = std::mem::take(inner);
        match deep(|| expand_body(b, groups, body, known)) {
            Ok(body) => *inner = body,
            Err(error) => result = Err(error),
        }
    });
    b.place = statement.place.clone();
    b.emit(statement.pattern, statement.expression);
    result
}
