//! The last uses of arrays, to find the operation that is the last to need an array.
//!
//! Statements have numbers in the order of the text. A use inside a loop of a variable that was
//! bound before it lasts until the loop ends, since the next iteration needs the variable again.

use nova_diag::deep;
use nova_flat::ir::{Atom, Body, Statement, Variable};
use nova_flat::visit::{binders, bodies, used_variables};
use std::collections::HashMap;

/// The last uses of the variables of a function.
#[derive(Default)]
pub(crate) struct LastUses {
    /// The numbers at which the last uses end.
    last: HashMap<Variable, usize>,
    /// The numbers at which statements end, by the first variable that they bind.
    ends: HashMap<Variable, usize>,
}

impl LastUses {
    /// Finds the last uses of a function with these parameters and this body.
    pub(crate) fn of(parameters: &[Variable], body: &Body) -> LastUses {
        let mut walk = Walk::default();
        parameters.iter().for_each(|v| walk.bind(*v));
        walk.body(body);
        let mut last = HashMap::new();
        for (variable, used) in walk.used {
            let number = match used {
                Used::At(number) => number,
                Used::Throughout(first) => walk.loops.get(&first).copied().unwrap_or(usize::MAX),
            };
            last.insert(variable, number);
        }
        LastUses {
            last,
            ends: walk.ends,
        }
    }

    /// True if nothing after a statement, and no later iteration of an enclosing loop, uses a
    /// variable.
    pub(crate) fn end_with(&self, variable: Variable, statement: &Statement) -> bool {
        let end = statement.pattern.first().and_then(|v| self.ends.get(v));
        match (self.last.get(&variable), end) {
            (Some(last), Some(end)) => last <= end,
            (None, _) | (_, None) => false,
        }
    }
}

/// The last use of a variable, as far as the walk has come.
#[derive(Clone, Copy)]
enum Used {
    At(usize),
    /// A use in the loop with this number, which has not ended where this is noted.
    Throughout(usize),
}

#[derive(Default)]
struct Walk {
    number: usize,
    /// The numbers of the enclosing loops.
    enclosing: Vec<usize>,
    /// The number of enclosing loops where a variable was bound.
    depths: HashMap<Variable, usize>,
    used: HashMap<Variable, Used>,
    ends: HashMap<Variable, usize>,
    /// The numbers at which loops end.
    loops: HashMap<usize, usize>,
}

impl Walk {
    fn bind(&mut self, variable: Variable) {
        self.depths.insert(variable, self.enclosing.len());
    }

    fn note(&mut self, variable: Variable) {
        let depth = self.depths.get(&variable).copied().unwrap_or(0);
        let used = match self.enclosing.get(depth) {
            Some(first) => Used::Throughout(*first),
            None => Used::At(self.number),
        };
        self.used.insert(variable, used);
    }

    fn body(&mut self, body: &Body) {
        for statement in &body.statements {
            self.statement(statement);
        }
        self.number += 1;
        for result in &body.results {
            if let Atom::Variable(variable) = result {
                self.note(*variable);
            }
        }
    }

    fn statement(&mut self, statement: &Statement) {
        self.number += 1;
        let first = self.number;
        let expression = &statement.expression;
        used_variables(expression, &mut |variable| self.note(variable));
        let is_loop = expression.repeats();
        if is_loop {
            self.enclosing.push(first);
        }
        binders(expression, &mut |variable| self.bind(*variable));
        bodies(expression, &mut |body| deep(|| self.body(body)));
        if is_loop {
            self.enclosing.pop();
            self.loops.insert(first, self.number);
        }
        if let Some(variable) = statement.pattern.first() {
            self.ends.insert(*variable, self.number);
        }
        statement.pattern.iter().for_each(|v| self.bind(*v));
    }
}
