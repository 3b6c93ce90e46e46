//! Arrays that operations write over.
//!
//! A scatter changes its destination in place where nothing else needs it. Code that reads other
//! elements of the destination than the one that is stored must not run in the same loop. Otherwise
//! the whole destination would be copied, only to save an array of the size of the stored elements.

use nova_diag::deep;
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Output, Positions, Program, Statement, Variable,
};
use nova_flat::positions::{Block, Sums};
use nova_flat::visit::{bodies, each_body_mut, each_statement, used_variables};
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

/// The arrays that an operation writes over.
#[derive(Clone, Default)]
pub(super) struct Writes {
    /// Its destinations with their root arrays and the positions of the stored elements.
    places: Vec<Place>,
    indices: Vec<Variable>,
    shape: Vec<Atom>,
}

#[derive(Clone)]
struct Place {
    destination: Variable,
    root: Variable,
    positions: Positions,
}

/// Code that moves into an operation.
pub(super) struct Moved<'a> {
    pub body: &'a Body,
    /// The indices of the operation that it comes from.
    pub from: &'a [Variable],
    /// The indices for which it runs there.
    pub at: &'a [Atom],
}

/// Code that may move after changes of the arrays that it reads.
#[derive(Clone, Copy)]
pub(super) enum Reader<'a> {
    Statement(&'a Statement),
    Body(&'a Body),
}

impl<'a> Reader<'a> {
    /// Calls `visit` for each variable that the code reads, as [`each_read`] does.
    fn each_read(self, visit: &mut dyn FnMut(Option<&Expression>, Variable)) {
        match self {
            Reader::Statement(statement) => each_read(&statement.expression, visit),
            Reader::Body(body) => each_read_of(body, visit),
        }
    }

    /// Returns the sums that the code computes, together with those of the program.
    fn sums<'s>(self, program: &'s Sums<'static>) -> Sums<'s> {
        match self {
            Reader::Statement(statement) => program.inside_of(&statement.expression),
            Reader::Body(body) => program.within(body),
        }
    }
}

/// Relations between arrays: those that are views of the same data or result from a change in
/// place, and those that belong to callers.
pub(crate) struct Replaced {
    roots: HashMap<Variable, Variable>,
    /// The arrays from which others result by a change of some elements.
    before: HashMap<Variable, Variable>,
    borrowed: HashSet<Variable>,
    sums: Sums<'static>,
}

impl Replaced {
    /// Collects the facts from all functions.
    pub(crate) fn of(program: &Program) -> Replaced {
        let mut replaced = Replaced {
            roots: HashMap::new(),
            before: HashMap::new(),
            borrowed: HashSet::new(),
            sums: Sums::of_program(program),
        };
        for id in program.entry_functions() {
            let parameters = &program.function(id).parameters;
            replaced.borrowed.extend(parameters);
        }
        for function in &program.functions {
            each_statement(&function.body, &mut |statement| replaced.see(statement));
        }
        replaced
    }

    fn see(&mut self, statement: &Statement) {
        match (&statement.expression, &statement.pattern[..]) {
            (Expression::View { array, .. } | Expression::Atom(Atom::Variable(array)), [other]) => {
                let root = self.root(*array);
                self.roots.insert(*other, root);
            }
            (_, _) => each_change(statement, &mut |array, other| {
                let root = self.root(array);
                self.roots.insert(other, root);
                self.before.insert(other, array);
            }),
        }
    }

    /// True if code reads elements that a statement between its place and its new place writes
    /// over.
    pub(super) fn is_passed(&self, reader: Reader<'_>, between: &Statement) -> bool {
        match &between.expression {
            Expression::Update { array, indices, .. } => {
                let one = vec![Atom::index(1); indices.len()];
                self.reads_block(reader, *array, indices, &one)
            }
            Expression::Operation(operation) => {
                let reads = |array: &Variable, starts: &[Atom]| {
                    self.reads_block(reader, *array, starts, &operation.shape)
                };
                operation.outputs.iter().any(|output| match output {
                    Output::Scatter {
                        destinations,
                        positions,
                    } => destinations.iter().any(|array| match positions {
                        Positions::Block(starts) => reads(array, starts),
                        Positions::Given | Positions::Unordered | Positions::Greatest => {
                            reads(array, &[])
                        }
                    }),
                    _makes_anew => false,
                })
            }
            _others => false,
        }
    }

    /// True if code reads elements of a block of an array, or any elements if there are no starts.
    fn reads_block(
        &self,
        reader: Reader<'_>,
        array: Variable,
        starts: &[Atom],
        extents: &[Atom],
    ) -> bool {
        let root = self.root(array);
        if self.borrowed.contains(&root) {
            return false;
        }
        let block = Block {
            starts,
            indices: &[],
            extents,
        };
        let sums = OnceCell::new();
        let mut reads = false;
        reader.each_read(&mut |expression, variable| {
            if self.root(variable) == root && !reads {
                let apart = match expression {
                    Some(Expression::Index {
                        array: read,
                        indices,
                    }) if *read == array => {
                        let sums = sums.get_or_init(|| reader.sums(&self.sums));
                        sums.is_apart(indices, &block)
                    }
                    _others => false,
                };
                reads = !apart;
            }
        });
        reads
    }

    /// Redirects reads in code that moves after a change of arrays to the resulting arrays. The
    /// code reads none of the changed elements ([`Replaced::is_passed`]). Returns true if it reads
    /// another array now.
    pub(super) fn follow(&self, reader: &mut Body, between: &Statement) -> bool {
        let mut changed: Vec<(Variable, Variable)> = Vec::new();
        each_change(between, &mut |array, result| {
            if !self.borrowed.contains(&self.root(array)) {
                changed.push((array, result));
            }
        });
        let mut follows = false;
        if changed.is_empty() {
            return follows;
        }
        each_body_mut(reader, &mut |inner| {
            for statement in &mut inner.statements {
                if let Expression::Index { array, .. } = &mut statement.expression
                    && let Some((_, after)) = changed.iter().find(|(old, _)| old == array)
                {
                    *array = *after;
                    follows = true;
                }
            }
        });
        follows
    }

    /// True if one array results from the other by changes of some elements.
    fn comes_of(&self, mut array: Variable, other: Variable) -> bool {
        while array != other {
            match self.before.get(&array) {
                Some(before) => array = *before,
                None => return false,
            }
        }
        true
    }

    /// Returns the summands that are added to an index to give a number ([`Sums::added_to`]).
    pub(super) fn added_to(&self, index: Variable, number: Atom) -> Option<Vec<Variable>> {
        self.sums.added_to(index, number)
    }

    /// True if an array is no view of another, and no caller's.
    pub(crate) fn is_own(&self, array: Variable) -> bool {
        self.root(array) == array && !self.borrowed.contains(&array)
    }

    /// True if an operation reads nothing that it writes over but the element that it stores in the
    /// same iteration. The operation and the code before it need not belong to the program.
    pub(crate) fn is_in_place(&self, expression: &Expression, before: &Body) -> bool {
        let Expression::Operation(operation) = expression else {
            return false;
        };
        let known = self.sums.within(before);
        let sums = known.inside_of(expression);
        !self.changes_what_is_read(&sums, &operation.body, &self.writes(operation))
    }

    fn root(&self, array: Variable) -> Variable {
        self.roots.get(&array).copied().unwrap_or(array)
    }

    /// Returns the arrays that an operation writes over. The arrays of callers are copied in any
    /// case, so they are not included.
    pub(super) fn writes(&self, operation: &ArrayOperation) -> Writes {
        let mut places = Vec::new();
        for output in &operation.outputs {
            if let Output::Scatter {
                destinations,
                positions,
            } = output
            {
                let own = destinations.iter().map(|destination| Place {
                    destination: *destination,
                    root: self.root(*destination),
                    positions: positions.clone(),
                });
                places.extend(own.filter(|place| !self.borrowed.contains(&place.root)));
            }
        }
        Writes {
            places,
            indices: operation.indices.clone(),
            shape: operation.shape.clone(),
        }
    }

    /// True if code reads arrays that an operation writes over. Elements that are stored in the
    /// same iteration, or never, do not count.
    pub(super) fn reads_what_changes(&self, code: &Moved<'_>, writes: &Writes) -> bool {
        if writes.places.is_empty() {
            return false;
        }
        let sums = self.sums.within_at(code.body, code.from, code.at);
        self.changes_what_is_read(&sums, code.body, writes)
    }

    fn changes_what_is_read(&self, sums: &Sums, body: &Body, writes: &Writes) -> bool {
        let stays = |expression: &Expression, place: &Place| {
            let (Expression::Index { array, indices }, Positions::Block(starts)) =
                (expression, &place.positions)
            else {
                return false;
            };
            let block = Block {
                starts,
                indices: &writes.indices,
                extents: &writes.shape,
            };
            let stays = sums.is_at(indices, &block) || sums.is_apart(indices, &block);
            self.comes_of(place.destination, *array) && stays
        };
        let mut changes = false;
        each_read_of(body, &mut |expression, variable| {
            let own = self.root(variable);
            let mut written = writes.places.iter().filter(|place| place.root == own);
            changes |= written.any(|place| !expression.is_some_and(|e| stays(e, place)));
        });
        changes
    }
}

/// Calls `visit` for each array that a statement changes, with the resulting array.
fn each_change(statement: &Statement, visit: &mut dyn FnMut(Variable, Variable)) {
    match (&statement.expression, &statement.pattern[..]) {
        (Expression::Update { array, .. }, [result]) => visit(*array, *result),
        (Expression::Operation(operation), pattern) => {
            let mut made = pattern.iter().skip(operation.carries.len());
            for output in &operation.outputs {
                let own = made.by_ref().take(output.gives());
                match output {
                    Output::Scatter { destinations, .. } => {
                        own.zip(destinations)
                            .for_each(|(other, array)| visit(*array, *other));
                    }
                    _makes_anew => own.for_each(drop),
                }
            }
        }
        _others => {}
    }
}

/// Calls `visit` for each variable that an expression reads, at any depth, with the expression that
/// reads it. For results of bodies there is no such expression.
fn each_read(expression: &Expression, visit: &mut dyn FnMut(Option<&Expression>, Variable)) {
    used_variables(expression, &mut |variable| {
        visit(Some(expression), variable)
    });
    bodies(expression, &mut |body| deep(|| each_read_of(body, visit)));
}

/// Does what [`each_read`] does, for a body.
fn each_read_of(body: &Body, visit: &mut dyn FnMut(Option<&Expression>, Variable)) {
    for statement in &body.statements {
        each_read(&statement.expression, visit);
    }
    for result in &body.results {
        if let Atom::Variable(variable) = result {
            visit(None, *variable);
        }
    }
}
