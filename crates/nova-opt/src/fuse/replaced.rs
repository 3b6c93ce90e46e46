//! Arrays that operations write over.
//!
//! A scatter changes its destination in place where nothing else needs it. What reads other elements of
//! the destination than the one that is stored must not run in the same loop: then the whole destination
//! would be copied for the sake of an array of the size of what is stored.

use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Output, Positions, Program, Statement, Variable,
};
use nova_flat::positions::{Block, Sums};
use nova_flat::visit::{each_statement, used_variables};
use std::collections::{BTreeSet, HashMap, HashSet};

/// What an operation writes over.
#[derive(Clone, Default)]
pub(super) struct Writes {
    /// Its destinations, what these lie in, and where it stores in them.
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
    /// The indices for which it is run there.
    pub at: &'a [Atom],
}

/// Which arrays are views of the same data, or come of them by a change in place, and which belong to
/// callers.
pub(super) struct Replaced {
    roots: HashMap<Variable, Variable>,
    borrowed: HashSet<Variable>,
    sums: Sums<'static>,
}

impl Replaced {
    /// Looks at all functions.
    pub fn of(program: &Program) -> Replaced {
        let mut replaced = Replaced {
            roots: HashMap::new(),
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
            (
                Expression::View { array, .. }
                | Expression::Update { array, .. }
                | Expression::Atom(Atom::Variable(array)),
                [other],
            ) => {
                let root = self.root(*array);
                self.roots.insert(*other, root);
            }
            (Expression::Operation(operation), pattern) => {
                let mut made = pattern.iter().skip(operation.carries.len());
                for output in &operation.outputs {
                    let own = made.by_ref().take(output.gives());
                    if let Output::Scatter { destinations, .. } = output {
                        for (other, array) in own.zip(destinations) {
                            let root = self.root(*array);
                            self.roots.insert(*other, root);
                        }
                    } else {
                        own.for_each(drop);
                    }
                }
            }
            _others => {}
        }
    }

    /// Whether an operation reads what a statement between it and where it would move writes over.
    pub fn is_passed(&self, reads: &BTreeSet<Variable>, between: &Statement) -> bool {
        let is_read = |array: &Variable| {
            let root = self.root(*array);
            !self.borrowed.contains(&root) && reads.iter().any(|read| self.root(*read) == root)
        };
        match &between.expression {
            Expression::Update { array, .. } => is_read(array),
            Expression::Operation(operation) => {
                operation.outputs.iter().any(|output| match output {
                    Output::Scatter { destinations, .. } => destinations.iter().any(is_read),
                    _makes_anew => false,
                })
            }
            _others => false,
        }
    }

    fn root(&self, array: Variable) -> Variable {
        self.roots.get(&array).copied().unwrap_or(array)
    }

    /// What an operation writes over. The arrays of callers are copied in any case.
    pub fn writes(&self, operation: &ArrayOperation) -> Writes {
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

    /// Whether code reads what an operation writes over: other elements than those that are stored in the
    /// same round, or never.
    pub fn reads_what_changes(&self, code: &Moved<'_>, writes: &Writes) -> bool {
        if writes.places.is_empty() {
            return false;
        }
        let own = writes.indices.iter().map(|index| Atom::Variable(*index));
        let same_round = code.at.iter().copied().eq(own);
        let sums = self.sums.within(code.body);
        let stays = |expression: &Expression, place: &Place| {
            let (Expression::Index { array, indices }, Positions::Block(starts)) =
                (expression, &place.positions)
            else {
                return false;
            };
            let block = Block {
                starts,
                indices: code.from,
                extents: &writes.shape,
            };
            let at = same_round && sums.is_at(indices, &block);
            *array == place.destination && (at || sums.is_apart(indices, &block))
        };
        let mut changes = false;
        each_statement(code.body, &mut |statement| {
            used_variables(&statement.expression, &mut |variable| {
                let own = self.root(variable);
                let mut written = writes.places.iter().filter(|place| place.root == own);
                changes |= written.any(|place| !stays(&statement.expression, place));
            });
        });
        changes
    }
}
