//! Tables that stay tables: a `foreach` over the result of another one reads its tables, and no nodes
//! are made in between (docs/decisions/data-parallel-recursion.md).
//!
//! The pass walks each function forward. It knows for links by which tables, and by which number in
//! them, they are represented as well ([`forms`]). With that it cancels conversions, and reads roots and
//! what they link to from the arrays ([`reads`]), also those that a condition chooses ([`merge`]). States
//! of loops and results of conditionals become tables where that cancels a conversion ([`states`]).
//! [`wanted`] finds the links that may do so. Components that an operation does not change are shared
//! ([`unchanged`]). [`notes`] says of each operation what it reads.
//! Loops whose states are tables drop nodes that no node links to ([`shrink`]).
//! Conversions that nobody needs any more are left to `simplify`.
//!
//! A table that was not just opened may have nodes that its root does not reach. Errors in these are
//! none. So a conversion stays if what reads its nodes may fail, or must see exactly these nodes.

mod forms;
mod merge;
mod notes;
mod reads;
mod shrink;
mod states;
mod unchanged;
mod wanted;

pub use notes::{Note, Reading};

use crate::effects::FunctionEffects;
use forms::{Form, fresh_tables};
use nova_core::Member;
use nova_diag::{Place, deep};
use nova_flat::ir::{Atom, Body, Expression, Program, Statement, Variable};
use nova_flat::visit::{
    Substitution, binders, bodies, bodies_mut, each_function, each_statement, each_variable,
    used_variables,
};
use std::collections::{HashMap, HashSet};

/// Changes every function. Returns how each operation on all nodes gets them.
pub fn run(program: &mut Program) -> Vec<Note> {
    change(program, false)
}

/// As [`run`], with loops that leave nodes out of their tables ([`shrink`]).
pub fn run_with_smaller_tables(program: &mut Program) -> Vec<Note> {
    change(program, true)
}

fn change(program: &mut Program, shrinks: bool) -> Vec<Note> {
    let mut notes = Vec::new();
    if !opens_tables(program) {
        return notes;
    }
    let effects = FunctionEffects::new(program);
    each_function(program, |program, body| {
        let wanted = wanted::wanted(body);
        let mut tables = Tables {
            program,
            effects: &effects,
            shrinks,
            wanted,
            forms: HashMap::new(),
            tags: HashMap::new(),
            opened: Vec::new(),
            known: Substitution::default(),
            cancelled: 0,
            notes: Vec::new(),
        };
        tables.body(body);
        notes.append(&mut tables.notes);
    });
    notes
}

/// True if a program has recursive data that it reads as tables.
fn opens_tables(program: &Program) -> bool {
    let mut found = false;
    for function in &program.functions {
        each_statement(&function.body, &mut |statement| {
            found |= matches!(statement.expression, Expression::TableOpen { .. });
        });
    }
    found
}

/// The walk over a function.
struct Tables<'a> {
    program: &'a mut Program,
    effects: &'a FunctionEffects,
    /// True if loops leave nodes out of their tables.
    shrinks: bool,
    /// The links from which tables are opened, directly or after they were passed on.
    wanted: HashSet<Variable>,
    /// The tables of links.
    forms: HashMap<Variable, Form>,
    /// The constructors of links that are known without their node.
    tags: HashMap<Variable, Atom>,
    /// The links whose tables were opened in the current body, with what was known of them before.
    opened: Vec<(Variable, Option<Form>)>,
    /// The atoms that replace the results of statements that are gone.
    known: Substitution,
    /// The number of conversions cancelled so far.
    cancelled: usize,
    /// The notes on the openings so far.
    notes: Vec<Note>,
}

impl Tables<'_> {
    /// Changes a body.
    fn body(&mut self, body: &mut Body) {
        let outside = self.opened.len();
        let statements = std::mem::take(&mut body.statements);
        let mut rest = std::collections::VecDeque::from(statements);
        let mut out = Vec::with_capacity(rest.len());
        while let Some(mut statement) = rest.pop_front() {
            self.rename(&mut statement);
            let after = After {
                statements: rest.make_contiguous(),
                results: &body.results,
            };
            deep(|| self.statement(statement, &after, &mut out));
        }
        for result in &mut body.results {
            *result = self.known.atom(*result);
        }
        body.statements = out;
        // A link may be older than the body, in which its tables are known only.
        for (link, before) in self.opened.drain(outside..).rev() {
            match before {
                Some(form) => self.forms.insert(link, form),
                None => self.forms.remove(&link),
            };
        }
    }

    /// Replaces operands and types of a statement, not of its bodies.
    fn rename(&mut self, statement: &mut Statement) {
        self.known.operands(&mut statement.expression);
        let known = &self.known;
        for variable in &statement.pattern {
            known.info(self.program, *variable);
        }
        binders(&statement.expression, &mut |variable| {
            known.info(self.program, *variable);
        });
    }

    fn statement(&mut self, mut statement: Statement, after: &After, out: &mut Vec<Statement>) {
        match &statement.expression {
            Expression::Atom(Atom::Variable(source)) => {
                if let (Some(form), [variable]) =
                    (self.forms.get(source).cloned(), &statement.pattern[..])
                {
                    self.forms.insert(*variable, form);
                }
                out.push(statement);
            }
            Expression::TableClose { .. } => self.close(statement, out),
            Expression::TableOpen { .. } => self.open(statement, after, out),
            Expression::NodeTag { .. } | Expression::NodePayload { .. } => {
                self.read(statement, out);
            }
            Expression::If { .. } | Expression::Switch { .. } => {
                self.conditional(statement, out);
            }
            Expression::While { .. } | Expression::Operation(_) => self.state(statement, out),
            _other => {
                bodies_mut(&mut statement.expression, &mut |inner| self.body(inner));
                out.push(statement);
            }
        }
    }

    /// Notes the tables of the link that a conversion makes.
    fn close(&mut self, mut statement: Statement, out: &mut Vec<Statement>) {
        self.share_unchanged(&mut statement, out);
        if let (
            Expression::TableClose {
                members,
                root,
                tables,
                ..
            },
            [link],
        ) = (&statement.expression, &statement.pattern[..])
        {
            let form = Form::of_root(self.program, members, tables, *root, false);
            self.forms.insert(*link, form);
        }
        out.push(statement);
    }

    /// Cancels the opening of tables that are known, if it may. Otherwise the tables are known from
    /// then on.
    fn open(&mut self, mut statement: Statement, after: &After, out: &mut Vec<Statement>) {
        let Expression::TableOpen {
            exact,
            members,
            link: Atom::Variable(link),
        } = &mut statement.expression
        else {
            return out.push(statement);
        };
        let reading = match self.forms.get(link) {
            None => Reading::Nodes,
            Some(form) if !form.is_root_of(members) => Reading::Part,
            Some(form) if form.exact => Reading::Tables,
            Some(_) if *exact => Reading::Exact,
            Some(_) if !self.may_have_more_nodes(&statement.pattern, after) => Reading::MayFail,
            Some(_) => Reading::Tables,
        };
        self.notes.push(Note {
            place: statement.place.clone(),
            reading,
        });
        if let (Reading::Tables, Some(form)) = (reading, self.forms.get(link)) {
            for (variable, atom) in statement.pattern.iter().zip(&form.tables) {
                self.known.insert(*variable, *atom);
            }
            self.cancelled += 1;
            return;
        }
        // Later openings of the link may need exactly its nodes.
        *exact = true;
        let tables: Vec<Atom> = variables(&statement.pattern);
        let form = Form::of_root(self.program, members, &tables, Atom::index(0), true);
        let before = self.forms.insert(*link, form);
        self.opened.push((*link, before));
        out.push(statement);
    }

    /// True if nothing that reads the tables of this pattern can fail, or be seen from outside.
    fn may_have_more_nodes(&self, pattern: &[Variable], after: &After) -> bool {
        let own: HashSet<Variable> = pattern.iter().copied().collect();
        let is_own = |atom: &Atom| matches!(atom, Atom::Variable(v) if own.contains(v));
        if after.results.iter().any(is_own) {
            return false;
        }
        after.statements.iter().all(|statement| {
            !mentions(self.program, statement, &own)
                || self.effects.of(&statement.expression).is_pure()
        })
    }

    /// Emits a statement that opens the tables of a link, unless they are known. Returns them.
    fn opened(
        &mut self,
        link: Atom,
        members: &[Member],
        place: &Place,
        out: &mut Vec<Statement>,
    ) -> Vec<Atom> {
        if let Atom::Variable(variable) = link
            && let Some(form) = self.forms.get(&variable)
            && form.is_root_of(members)
        {
            return form.tables.clone();
        }
        let pattern = fresh_tables(self.program, members);
        let tables = variables(&pattern);
        out.push(Statement {
            pattern,
            expression: Expression::TableOpen {
                exact: false,
                members: members.to_vec(),
                link,
            },
            place: place.clone(),
        });
        tables
    }

    /// Emits a statement that makes the link of tables, of which node 0 of the first is the root.
    fn closed(
        &mut self,
        link: Variable,
        members: &[Member],
        tables: &[Variable],
        place: &Place,
    ) -> Statement {
        let tables = variables(tables);
        let form = Form::of_root(self.program, members, &tables, Atom::index(0), false);
        self.forms.insert(link, form);
        Statement {
            pattern: vec![link],
            expression: Expression::TableClose {
                checked: false,
                members: members.to_vec(),
                root: Atom::index(0),
                tables,
            },
            place: place.clone(),
        }
    }
}

/// The rest of a body behind a statement.
struct After<'a> {
    statements: &'a [Statement],
    results: &'a [Atom],
}

/// Returns variables as atoms.
fn variables(list: &[Variable]) -> Vec<Atom> {
    list.iter().copied().map(Atom::Variable).collect()
}

/// True if a statement or its bodies use one of these variables.
fn mentions(program: &Program, statement: &Statement, own: &HashSet<Variable>) -> bool {
    let mut found = false;
    used_variables(&statement.expression, &mut |v| found |= own.contains(&v));
    bodies(&statement.expression, &mut |body| {
        each_variable(program, body, &mut |_| {}, &mut |v| {
            found |= own.contains(&v)
        });
    });
    found
}
