//! Nodes that the branches of a conditional choose: their numbers, or at least their constructors, are
//! results too.

use super::Tables;
use super::forms::Form;
use super::reads::element;
use super::states::Change;
use crate::writer::Writer;
use nova_core::Scalar;
use nova_flat::ir::{Atom, Body, Expression, Statement, Type, Variable};
use nova_flat::representation::tag_scalar;
use nova_flat::visit::{bodies, bodies_mut};

impl Tables<'_> {
    /// Adds a result to a conditional for each link whose node is known in all branches. `changes` are
    /// the results that become tables.
    pub(super) fn merge_nodes(&mut self, statement: &mut Statement, changes: &[Change]) {
        for (position, link) in statement.pattern.clone().into_iter().enumerate() {
            if changes.iter().any(|change| change.position == position) {
                continue;
            }
            let mut forms: Vec<Option<Form>> = Vec::new();
            bodies(&statement.expression, &mut |body| {
                forms.push(self.form_of(body.results.get(position)));
            });
            let Some(forms) = forms.into_iter().collect::<Option<Vec<Form>>>() else {
                continue;
            };
            // Tables that all branches know are older than the conditional.
            if let [first, others @ ..] = &forms[..]
                && !others.is_empty()
            {
                match others.iter().all(|other| other.is_beside(first)) {
                    true => self.merge_numbers(statement, link, &forms),
                    false => self.merge_tags(statement, link, &forms),
                }
            }
        }
    }

    fn form_of(&self, link: Option<&Atom>) -> Option<Form> {
        match link {
            Some(Atom::Variable(variable)) => self.forms.get(variable).cloned(),
            Some(Atom::Constant(_)) | None => None,
        }
    }

    /// Gives the number of a node of the same tables.
    fn merge_numbers(&mut self, statement: &mut Statement, link: Variable, forms: &[Form]) {
        let number = self
            .program
            .add_variable("number", Type::Scalar(Scalar::I64));
        add_result(statement, number, forms, |_, form| form.number);
        if let Some(first) = forms.first() {
            let form = Form {
                number: Atom::Variable(number),
                exact: false,
                ..first.clone()
            };
            self.forms.insert(link, form);
        }
    }

    /// Gives the constructor of a node that may be in several tables.
    fn merge_tags(&mut self, statement: &mut Statement, link: Variable, forms: &[Form]) {
        let Some(first) = forms.first() else { return };
        let same = forms.iter().all(|form| form.pair.data == first.pair.data);
        let tags: Option<Vec<Expression>> = forms.iter().map(|f| element(f, f.tags())).collect();
        let Some(tags) = tags.filter(|_| same) else {
            return;
        };
        let tag = self.program.add_variable("tag", Type::Scalar(Scalar::I32));
        let place = statement.place.clone();
        let scalar = tag_scalar(first.pair.node, &self.program.sums);
        let program = &mut *self.program;
        add_result(statement, tag, &tags, |body, index| {
            let mut write = Writer {
                program: &mut *program,
                place: &place,
                statements: &mut body.statements,
            };
            let tag = write.tag(index.clone(), scalar);
            write.bound("tag", Scalar::I32, tag)
        });
        self.tags.insert(link, Atom::Variable(tag));
    }
}

/// Adds a result to each branch, made of what is known of the branch.
fn add_result<T>(
    statement: &mut Statement,
    variable: Variable,
    known: &[T],
    mut result: impl FnMut(&mut Body, &T) -> Atom,
) {
    let mut known = known.iter();
    bodies_mut(&mut statement.expression, &mut |body| {
        if let Some(known) = known.next() {
            let atom = result(body, known);
            body.results.push(atom);
        }
    });
    statement.pattern.push(variable);
}
