//! Nodes that the branches of a conditional choose: their numbers, or at least their constructors, are
//! results too.

use super::Tables;
use super::forms::Form;
use super::reads::element;
use super::states::Change;
use crate::writer::Writer;
use nova_core::Scalar;
use nova_flat::ir::{Atom, Body, Statement, Type, Variable};
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
            // What all branches know is older than the conditional.
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
        let same = |form: &Form| form.pair.0 == first.pair.0 && element(form, form.tags).is_some();
        if !forms.iter().all(same) {
            return;
        }
        let ty = Type::Scalar(Scalar::I32);
        let tag = self.program.add_variable("tag", ty);
        let place = statement.place.clone();
        let program = &mut *self.program;
        add_result(statement, tag, forms, |body, form| {
            let mut write = Writer {
                program: &mut *program,
                place: &place,
                statements: &mut body.statements,
            };
            match element(form, form.tags) {
                Some(index) => write.bound("tag", Scalar::I32, index),
                None => form.number,
            }
        });
        self.tags.insert(link, Atom::Variable(tag));
    }
}

/// Adds a result to each branch.
fn add_result(
    statement: &mut Statement,
    variable: Variable,
    forms: &[Form],
    mut result: impl FnMut(&mut Body, &Form) -> Atom,
) {
    let mut forms = forms.iter();
    bodies_mut(&mut statement.expression, &mut |body| {
        if let Some(form) = forms.next() {
            let atom = result(body, form);
            body.results.push(atom);
        }
    });
    statement.pattern.push(variable);
}
