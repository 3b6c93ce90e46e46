//! States of loops and results of conditionals that become tables.

use super::forms::{Form, LINK, fresh_tables};
use super::wanted::{flows_of, reached};
use super::{Reading, Tables, variables};
use nova_core::Member;
use nova_diag::Place;
use nova_flat::ir::{Atom, Body, Expression, Output, Statement, Variable, VariableInfo};
use nova_flat::visit::{
    Substitution, binders, bodies, bodies_mut, each_statement, each_variable, substitute,
};
use std::collections::HashSet;

/// A link that becomes tables.
pub(super) struct Change {
    /// Its position among the results or states.
    pub position: usize,
    /// The members of the tables.
    pub members: Vec<Member>,
}

/// A state of a loop that becomes tables.
pub(super) struct State {
    pub change: Change,
    /// The state.
    link: Variable,
    /// The variables of the tables in its place.
    pub tables: Vec<Variable>,
}

impl Tables<'_> {
    /// Changes a conditional. A result of which a branch makes tables becomes tables, if somebody opens
    /// them.
    pub(super) fn conditional(&mut self, mut statement: Statement, out: &mut Vec<Statement>) {
        bodies_mut(&mut statement.expression, &mut |inner| self.body(inner));
        let changes = self.results_of_branches(&statement);
        self.merge_nodes(&mut statement, &changes);
        let mut after = Vec::new();
        // From the last one on, so that positions stay.
        for change in changes.into_iter().rev() {
            let place = statement.place.clone();
            bodies_mut(&mut statement.expression, &mut |inner| {
                let link = inner.results[change.position];
                let mut more = Vec::new();
                let tables = self.opened(link, &change.members, &place, &mut more);
                inner.statements.append(&mut more);
                inner.results.remove(change.position);
                inner.results.extend(tables);
            });
            let link = statement.pattern.remove(change.position);
            let tables = fresh_tables(self.program, &change.members);
            after.push(self.closed(link, &change.members, &tables, &place));
            statement.pattern.extend(tables);
        }
        out.push(statement);
        out.append(&mut after);
    }

    /// Returns the results of a conditional that become tables.
    fn results_of_branches(&self, statement: &Statement) -> Vec<Change> {
        let mut changes = Vec::new();
        for (position, variable) in statement.pattern.iter().enumerate() {
            if !self.wanted.contains(variable) {
                continue;
            }
            let mut members = None;
            bodies(&statement.expression, &mut |inner| {
                let form = self.root_form(inner.results.get(position));
                members = members.take().or(form);
            });
            if let Some(members) = members {
                changes.push(Change { position, members });
            }
        }
        changes
    }

    /// Returns the members of the tables whose root a link is, if they were made by a conversion.
    fn root_form(&self, link: Option<&Atom>) -> Option<Vec<Member>> {
        let Some(Atom::Variable(variable)) = link else {
            return None;
        };
        let form: &Form = self.forms.get(variable)?;
        let members = &form.members;
        (form.is_root_of(members) && !form.exact).then(|| members.clone())
    }

    /// Changes a loop or another operation with states. States become tables, as long as that cancels
    /// conversions.
    pub(super) fn state(&mut self, mut statement: Statement, out: &mut Vec<Statement>) {
        let links = self.wanted_states(&statement.expression);
        let changes = self.changes(&statement, &links);
        if !changes.is_empty() {
            return self.change_states(statement, changes, out);
        }
        bodies_mut(&mut statement.expression, &mut |inner| self.body(inner));
        out.push(statement);
    }

    /// Returns the positions of the states that are links from which tables are opened.
    fn wanted_states(&self, expression: &Expression) -> Vec<usize> {
        let states = states_of(expression);
        let wanted = |(_, (state, _)): &(usize, &(Variable, Atom))| {
            *self.program.ty(*state) == LINK && self.wanted.contains(state)
        };
        let found = states.iter().enumerate().filter(wanted);
        found.map(|(position, _)| position).collect()
    }

    /// Finds out which states get tables from each iteration, and whether tables instead of links
    /// cancel a conversion.
    fn changes(&mut self, statement: &Statement, links: &[usize]) -> Vec<Change> {
        let states = states_of(&statement.expression);
        let mut changes: Vec<Change> = Vec::new();
        for position in links {
            let (state, _) = states[*position];
            if let Some(members) = opened_members(&statement.expression, state) {
                changes.push(Change {
                    position: *position,
                    members,
                });
            }
        }
        while !changes.is_empty() {
            let (made, useful) = self.trial(statement, &changes);
            let count = changes.len();
            let mut made = made.into_iter();
            changes.retain(|_| made.next().unwrap_or(false));
            if changes.len() == count {
                if !useful {
                    changes.clear();
                }
                break;
            }
        }
        changes
    }

    /// Changes a copy of a loop with tables as states. Returns, for each, true if each iteration gives
    /// tables; and true if that cancels a conversion.
    fn trial(&mut self, statement: &Statement, changes: &[Change]) -> (Vec<bool>, bool) {
        let forms = self.forms.clone();
        let tags = self.tags.clone();
        let known = self.known.clone();
        let before = self.bound_in(statement);
        let count = self.program.variables.len();
        let cancelled = self.cancelled;
        let notes = self.notes.len();
        let mut copy = statement.clone();
        for change in changes {
            let tables = fresh_tables(self.program, &change.members);
            let state = states_of(&copy.expression)[change.position].0;
            let form = Form::of_root(
                self.program,
                &change.members,
                &variables(&tables),
                Atom::index(0),
                false,
            );
            self.forms.insert(state, form);
        }
        let mut made = Vec::new();
        if let Some(body) = body_of(&mut copy.expression) {
            self.body(body);
            for change in changes {
                let next = body.results.get(change.position);
                let members = self.root_form(next);
                made.push(members.as_ref() == Some(&change.members));
            }
        }
        // Tables that are opened anyway in each iteration would never get smaller.
        let opened = self.notes[notes..].iter().any(|note| match note.reading {
            Reading::Exact | Reading::MayFail => true,
            Reading::Tables | Reading::Nodes | Reading::Part => false,
        });
        let useful = self.cancelled > cancelled && !opened;
        // Nothing that names a variable of the copy may be left.
        self.forms = forms;
        self.tags = tags;
        self.known = known;
        self.program.variables.truncate(count);
        for (variable, info) in before {
            self.program.variables[variable.index()] = info;
        }
        self.cancelled = cancelled;
        self.notes.truncate(notes);
        (made, useful)
    }

    /// Returns the facts about the variables that a loop binds inside.
    fn bound_in(&self, statement: &Statement) -> Vec<(Variable, VariableInfo)> {
        let mut bound = Vec::new();
        let info = |variable: Variable| (variable, self.program.variable(variable).clone());
        binders(&statement.expression, &mut |variable| {
            bound.push(info(*variable));
        });
        bodies(&statement.expression, &mut |body| {
            let binder = &mut |variable| bound.push(info(variable));
            each_variable(self.program, body, binder, &mut |_| {});
        });
        bound
    }

    /// Makes tables of these states. Those of the last state come first, behind the other states.
    fn change_states(
        &mut self,
        mut statement: Statement,
        changes: Vec<Change>,
        out: &mut Vec<Statement>,
    ) {
        let place = statement.place.clone();
        let count = states_of(&statement.expression).len();
        let mut states = Vec::new();
        for change in changes.into_iter().rev() {
            let Some(all) = states_mut(&mut statement.expression) else {
                continue;
            };
            let (link, start) = all.remove(change.position);
            let tables = fresh_tables(self.program, &change.members);
            let starts = self.opened(start, &change.members, &place, out);
            if let Some(all) = states_mut(&mut statement.expression) {
                all.extend(tables.iter().copied().zip(starts));
            }
            states.push(State {
                change,
                link,
                tables,
            });
        }
        self.condition(&mut statement.expression, &states, &place);
        if let Some(body) = body_of(&mut statement.expression) {
            self.changed_body(body, &states, count, &place);
        }
        if let Expression::Operation(operation) = &mut statement.expression {
            let lambdas = operation.outputs.iter_mut().filter_map(Output::lambda_mut);
            lambdas.for_each(|lambda| self.body(&mut lambda.body));
        }
        let outputs = statement
            .pattern
            .split_off(count.min(statement.pattern.len()));
        let mut after = Vec::new();
        for state in &states {
            let link = statement.pattern.remove(state.change.position);
            let tables = fresh_tables(self.program, &state.change.members);
            after.push(self.closed(link, &state.change.members, &tables, &place));
            statement.pattern.extend(tables);
        }
        statement.pattern.extend(outputs);
        self.shrinking(statement, &states, out);
        out.append(&mut after);
    }

    /// Gives the condition of a loop links of its own, made of the tables.
    fn condition(&mut self, expression: &mut Expression, states: &[State], place: &Place) {
        let Expression::While { condition, .. } = expression else {
            return;
        };
        let mut links = Substitution::default();
        let mut first = Vec::new();
        for state in states {
            let link = self.program.add_variable("link", LINK);
            first.push(self.closed(link, &state.change.members, &state.tables, place));
            links.insert(state.link, Atom::Variable(link));
        }
        substitute(self.program, condition, &links);
        self.body(condition);
        condition.statements.splice(0..0, first);
    }

    /// Changes the body of a loop, whose states are tables now. There were `count` states.
    fn changed_body(&mut self, body: &mut Body, states: &[State], count: usize, place: &Place) {
        let mut first = Vec::new();
        for state in states {
            first.push(self.closed(state.link, &state.change.members, &state.tables, place));
        }
        self.body(body);
        body.statements.splice(0..0, first);
        let outputs = body.results.split_off(count.min(body.results.len()));
        for state in states {
            let next = body.results.remove(state.change.position);
            let mut more = Vec::new();
            let tables = self.opened(next, &state.change.members, place, &mut more);
            body.statements.append(&mut more);
            body.results.extend(tables);
        }
        body.results.extend(outputs);
    }
}

/// Returns the members of the first tables that are opened from a state, or from what it is passed on
/// to.
fn opened_members(expression: &Expression, state: Variable) -> Option<Vec<Member>> {
    let mut flows = Vec::new();
    bodies(expression, &mut |body| {
        each_statement(body, &mut |statement| flows_of(statement, &mut flows));
    });
    let reached = reached(HashSet::from([state]), &flows);
    let mut found = None;
    bodies(expression, &mut |body| {
        each_statement(body, &mut |statement| {
            if let Expression::TableOpen {
                members,
                link: Atom::Variable(link),
                ..
            } = &statement.expression
                && reached.contains(link)
                && found.is_none()
            {
                found = Some(members.clone());
            }
        });
    });
    found
}

/// Returns the states of a loop with their starts.
fn states_of(expression: &Expression) -> &[(Variable, Atom)] {
    match expression {
        Expression::While { parameters, .. } => parameters,
        Expression::Operation(operation) => &operation.carries,
        _other => &[],
    }
}

fn states_mut(expression: &mut Expression) -> Option<&mut Vec<(Variable, Atom)>> {
    match expression {
        Expression::While { parameters, .. } => Some(parameters),
        Expression::Operation(operation) => Some(&mut operation.carries),
        _other => None,
    }
}

/// Returns the body that gives the next states of a loop.
fn body_of(expression: &mut Expression) -> Option<&mut Body> {
    match expression {
        Expression::While { body, .. } => Some(body),
        Expression::Operation(operation) => Some(&mut operation.body),
        _other => None,
    }
}
