//! Nests whose threads read the same data: for each index of a map a reduction runs over an extent that
//! all indices have in common, and reads what others read, too. Examples are forces of all bodies on
//! each body, or products of the rows of one matrix and the columns of another.
//!
//! The dependences on the indices decide which values the threads of a group may bring to local memory
//! together ([`crate::blocks`]).

use nova_flat::freedom::{Freedom, freedom};
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Bracketing, Expression, Lambda, Level, Output, Program, Statement,
    Variable,
};
use nova_flat::kinds::is_every_expression;
use nova_flat::kinds::is_map;
use nova_flat::visit::{free_variables, used_variables};
use std::collections::{BTreeMap, BTreeSet};

/// The indices on which something depends: a bit for each outer index, in order, and one for the inner
/// index.
pub(crate) type Depends = u8;

/// The bit of the index of the reduction.
pub(crate) const INNER: Depends = 1 << 7;

/// An operation whose body contains a reduction over an extent of its own.
pub(crate) struct Nest<'a> {
    /// The position of the reduction among the statements of the body.
    pub(crate) position: usize,
    pub(crate) inner: &'a ArrayOperation,
    /// True if values are combined in the order of docs/order.md.
    pub(crate) strict: bool,
    /// The operators and start values of the reductions, in order.
    pub(crate) reductions: Vec<(&'a Lambda, &'a [Atom])>,
    /// The statements before the reduction that it needs, then its own statements, each with its
    /// dependences.
    pub(crate) statements: Vec<(&'a Statement, Depends)>,
    /// The bits of all indices.
    pub(crate) all: Depends,
    depends: BTreeMap<Variable, Depends>,
}

/// Tests whether a statement that only computes numbers reads an array. Returns `None` for other
/// statements.
fn computes(statement: &Statement) -> Option<bool> {
    match &statement.expression {
        Expression::Index { .. } => Some(true),
        Expression::Atom(_) | Expression::Scalar { .. } => Some(false),
        Expression::If {
            then, otherwise, ..
        } => (only_computes(then) && only_computes(otherwise)).then_some(false),
        _other_statements => None,
    }
}

/// True if a body only computes numbers from numbers.
fn only_computes(body: &Body) -> bool {
    is_every_expression(body, |expression| {
        use Expression as E;
        matches!(expression, E::Atom(_) | E::Scalar { .. } | E::If { .. })
    })
}

/// Returns the variables bound outside of a statement that it uses.
fn used_in(program: &Program, statement: &Statement) -> BTreeSet<Variable> {
    let mut used = BTreeSet::new();
    used_variables(&statement.expression, &mut |v| {
        used.insert(v);
    });
    nova_flat::visit::bodies(&statement.expression, &mut |body| {
        used.extend(free_variables(program, body));
    });
    used
}

/// Returns the first operation among the statements of a body, with its position.
pub(crate) fn first_loop(body: &Body) -> Option<(usize, &ArrayOperation)> {
    let mut statements = body.statements.iter().enumerate();
    statements.find_map(|(position, statement)| match &statement.expression {
        Expression::Operation(operation) => Some((position, operation)),
        _no_operation => None,
    })
}

impl<'a> Nest<'a> {
    /// Returns the nest of an operation whose threads read the same data. With one index, the reads of
    /// the reduction depend on the index of the reduction only. With two indices, each read depends on
    /// at most one of these, and some read depends on each.
    pub(crate) fn of(
        program: &Program,
        operation: &'a ArrayOperation,
        strict: bool,
    ) -> Option<Nest<'a>> {
        let rank = operation.shape.len();
        if !is_map(operation) || operation.is_marked() || !(1..=2).contains(&rank) {
            return None;
        }
        let statements = &operation.body.statements;
        let (position, inner) = first_loop(&operation.body)?;
        let mut nest = Nest {
            position,
            inner,
            strict: inner.outputs.iter().any(|output| is_strict(output, strict)),
            reductions: reductions(inner, strict)?,
            statements: Vec::new(),
            all: INNER,
            depends: BTreeMap::new(),
        };
        for (bit, index) in operation.indices.iter().enumerate() {
            nest.depends.insert(*index, 1 << bit);
            nest.all |= 1 << bit;
        }
        let before = statements.get(..position)?;
        nest.add(program, before)?;
        if nest.of_atom(*inner.shape.first()?) != 0 {
            return None;
        }
        nest.depends.insert(*inner.indices.first()?, INNER);
        nest.add(program, &inner.body.statements)?;
        nest.drop_unneeded(program);
        nest.shares(rank).then_some(nest)
    }

    /// Adds statements. Returns `None` if one of them does more than compute numbers.
    fn add(&mut self, program: &Program, statements: &'a [Statement]) -> Option<()> {
        for statement in statements {
            computes(statement)?;
            let used = used_in(program, statement);
            let depends = used.iter().fold(0, |all, v| all | self.of_variable(*v));
            for bound in &statement.pattern {
                self.depends.insert(*bound, depends);
            }
            self.statements.push((statement, depends));
        }
        Some(())
    }

    /// Removes the statements that the reduction does not need.
    fn drop_unneeded(&mut self, program: &Program) {
        let starts = self.reductions.iter().flat_map(|(_, start)| start.iter());
        let results = self.inner.body.results.iter().chain(starts);
        let values: Vec<Variable> = results.filter_map(variable_of).collect();
        let needed = self.needed_for(program, &values);
        let is_needed = |statement: &Statement| needed.iter().any(|s| std::ptr::eq(*s, statement));
        self.statements
            .retain(|(statement, _)| is_needed(statement));
    }

    /// True if the threads read the same elements, and no element that only one of them needs.
    fn shares(&self, rank: usize) -> bool {
        let reads: BTreeSet<Depends> = self
            .statements
            .iter()
            .filter(|(statement, _)| computes(statement) == Some(true))
            .map(|(_, depends)| *depends)
            .filter(|depends| depends & INNER != 0)
            .collect();
        let outer = self.all & !INNER;
        // A value that depends on all outer indices would be computed in the reduction, not before it.
        let pairs = |(_, depends): &(&Statement, Depends)| rank > 1 && *depends == outer;
        let own_start = self.reductions.iter().flat_map(|(_, start)| start.iter());
        let is_common = |atom: &Atom| rank == 1 || self.of_atom(*atom) == 0;
        // With two indices a thread would have the lanes of several reductions.
        let too_many = self.strict && rank > 1;
        if too_many || reads.contains(&self.all) {
            return false;
        }
        !self.statements.iter().any(pairs)
            && own_start.into_iter().all(is_common)
            && match rank {
                1 => reads.contains(&INNER),
                _ => (0..rank).all(|side| reads.contains(&(INNER | 1 << side))),
            }
    }

    /// Returns the indices on which a variable depends.
    fn of_variable(&self, variable: Variable) -> Depends {
        self.depends.get(&variable).copied().unwrap_or_default()
    }

    fn of_atom(&self, atom: Atom) -> Depends {
        match atom {
            Atom::Variable(variable) => self.of_variable(variable),
            Atom::Constant(_) => 0,
        }
    }

    /// Returns the values that depend on exactly these indices, and that are combined or used by what
    /// depends on all indices.
    pub(crate) fn given(&self, program: &Program, depends: Depends) -> Vec<Variable> {
        let mut used = BTreeSet::new();
        for statement in self.exactly(self.all) {
            used.extend(used_in(program, statement));
        }
        used.extend(self.inner.body.results.iter().filter_map(variable_of));
        let bound = self
            .exactly(depends)
            .flat_map(|s| s.pattern.iter().copied());
        bound.filter(|v| used.contains(v)).collect()
    }

    /// Iterates over the statements that depend on exactly these indices.
    pub(crate) fn exactly(&self, depends: Depends) -> impl Iterator<Item = &'a Statement> {
        let own = self.statements.iter();
        own.filter(move |(_, d)| *d == depends).map(|(s, _)| *s)
    }

    /// Returns the statements that compute some values, in order.
    pub(crate) fn needed_for(&self, program: &Program, values: &[Variable]) -> Vec<&'a Statement> {
        let mut needed: BTreeSet<Variable> = values.iter().copied().collect();
        let mut kept = Vec::new();
        for (statement, _) in self.statements.iter().rev() {
            if statement.pattern.iter().any(|v| needed.contains(v)) {
                needed.extend(used_in(program, statement));
                kept.push(*statement);
            }
        }
        kept.reverse();
        kept
    }
}

fn variable_of(atom: &Atom) -> Option<Variable> {
    match atom {
        Atom::Variable(variable) => Some(*variable),
        Atom::Constant(_) => None,
    }
}

/// True if a reduction keeps the order of docs/order.md.
pub(crate) fn is_strict(output: &Output, strict: bool) -> bool {
    match output {
        Output::Reduce { lambda, .. } => match freedom(lambda, strict) {
            Freedom::Strict { .. } => true,
            Freedom::Neutral | Freedom::Any => false,
        },
        Output::Map
        | Output::Scan { .. }
        | Output::Filter { .. }
        | Output::Scatter { .. }
        | Output::Histogram { .. }
        | Output::Collect { .. }
        | Output::Join { .. } => false,
    }
}

/// Returns the reductions of an operation over one dimension that does nothing else, if the identity of
/// each operator is known.
pub(crate) fn reductions(inner: &ArrayOperation, strict: bool) -> Option<Vec<(&Lambda, &[Atom])>> {
    let plain = inner.level == Level::Sequential && !inner.is_marked();
    if !plain || inner.shape.len() != 1 || !inner.carries.is_empty() || inner.outputs.is_empty() {
        return None;
    }
    let reduction = |output| match output {
        &Output::Reduce {
            ref lambda,
            ref start,
            bracketing: Bracketing::Whole,
            ..
        } => match freedom(lambda, strict) {
            Freedom::Neutral | Freedom::Strict { neutral: true } => {
                Some((lambda, start.as_slice()))
            }
            Freedom::Any | Freedom::Strict { neutral: false } => None,
        },
        _others => None,
    };
    inner.outputs.iter().map(reduction).collect()
}
