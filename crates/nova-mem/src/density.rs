//! The choice of inputs that are copied to dense arrays although they could be read where they lie.
//!
//! The candidates are fields of structures that are read repeatedly, as the bodies of an all-pairs
//! computation are. Their copies are dense, which C compilers vectorise best. What is read once is not
//! worth a copy. Threads of a device read fields where they lie. The fields of a structure share cache
//! lines, and a copy would be a loop on the host. A work-group copies the elements that it reads
//! repeatedly into its own memory.
//!
//! The comparison of a sort reads repeatedly. In a branch it is mostly what is left where a sort by keys is not
//! possible, and the copy would be made in all branches. So there it counts as one read.
//!
//! A read inside of loops touches another element in each iteration if its index depends on all of
//! these loops. The walk keeps for each scalar the set of enclosing loops that it depends on.

use nova_diag::deep;
use nova_flat::ir::{Atom, Body, Expression, Function, Statement, Variable};
use nova_flat::visit::{binders, bodies, operands, view_operands};
use nova_flat::{
    array_expressions, call_expressions, control_expressions, node_expressions, pure_expressions,
};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the parameters among `fields` of which a function should have dense copies. These are the
/// fields that are passed on and, on a processor, those that are read repeatedly.
pub fn copied_apart(
    function: &Function,
    fields: impl Iterator<Item = Variable>,
    on_device: bool,
) -> BTreeSet<Variable> {
    let mut walk = Walk {
        on_device,
        arrays: fields.map(|field| (field, (field, Loops::NONE))).collect(),
        scalars: BTreeMap::new(),
        enclosing: Loops::NONE,
        depth: 0,
        is_chosen: false,
        repeated: BTreeSet::new(),
    };
    if !walk.arrays.is_empty() {
        // Results are copied to their destination in any case.
        walk.statements(&function.body);
    }
    walk.repeated
}

/// A set of loops by their depth. Loops deeper than it can hold are never in it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Loops(u64);

impl Loops {
    const NONE: Loops = Loops(0);

    fn with(self, other: Loops) -> Loops {
        Loops(self.0 | other.0)
    }

    fn of_depth(depth: u32) -> Loops {
        Loops(1u64.checked_shl(depth).unwrap_or(0))
    }
}

struct Walk {
    /// For the fields, their views and their other names: the field, and the loops that the view
    /// depends on.
    arrays: BTreeMap<Variable, (Variable, Loops)>,
    /// The loops that scalars depend on. A scalar bound outside of all loops depends on none.
    scalars: BTreeMap<Variable, Loops>,
    /// The enclosing loops.
    enclosing: Loops,
    depth: u32,
    /// True in a branch.
    is_chosen: bool,
    on_device: bool,
    repeated: BTreeSet<Variable>,
}

impl Walk {
    fn loops_of(&self, atom: Atom) -> Loops {
        atom.as_variable()
            .and_then(|variable| self.scalars.get(&variable).copied())
            .unwrap_or(Loops::NONE)
    }

    /// Records a read of elements of an array, at indices that depend on `indices`.
    fn read(&mut self, array: Variable, indices: Loops) {
        if let Some((field, view)) = self.arrays.get(&array).copied()
            && view.with(indices) != self.enclosing
            && !self.on_device
        {
            self.repeated.insert(field);
        }
    }

    /// Records that a value is passed on, which needs a dense array.
    fn hand(&mut self, atom: Atom) {
        if let Atom::Variable(variable) = atom
            && let Some((field, _)) = self.arrays.get(&variable)
        {
            self.repeated.insert(*field);
        }
    }

    fn statements(&mut self, body: &Body) {
        for statement in &body.statements {
            deep(|| self.statement(statement));
        }
    }

    fn statement(&mut self, statement: &Statement) {
        let expression = &statement.expression;
        let mut loops = self.enclosing;
        match expression {
            Expression::Index { array, indices } => {
                let indices = self.all(indices);
                self.read(*array, indices);
            }
            Expression::Scalar { arguments, .. } => loops = self.all(arguments),
            Expression::Atom(atom) => {
                loops = self.all(&[*atom]);
                if let Atom::Variable(source) = atom {
                    self.view(statement, *source, Loops::NONE);
                }
            }
            Expression::View { array, view } => {
                let mut operands = Vec::new();
                view_operands(view, &mut |atom| operands.push(*atom));
                self.view(statement, *array, self.all(&operands));
            }
            array_expressions!() | Expression::Operation(_) | Expression::SortKeys { .. } => {
                let mut whole = Vec::new();
                operands(expression, &mut |_| {}, &mut |array| whole.push(*array));
                whole.into_iter().for_each(|a| self.read(a, Loops::NONE));
                self.carried(expression);
            }
            control_expressions!()
            | call_expressions!()
            | node_expressions!()
            | Expression::NodeTag { .. }
            | Expression::MaySplit
            | Expression::Check { .. }
            | Expression::Fail { .. }
            | Expression::Sort { .. }
            | Expression::Allocate { .. }
            | Expression::Unique(_) => self.carried(expression),
        }
        self.bodies(expression);
        for variable in &statement.pattern {
            self.scalars.insert(*variable, loops);
        }
    }

    /// Records the operands that are passed on: arguments, and the start values of loops.
    fn carried(&mut self, expression: &Expression) {
        let mut atoms = Vec::new();
        operands(expression, &mut |atom| atoms.push(*atom), &mut |_| {});
        atoms.into_iter().for_each(|atom| self.hand(atom));
    }

    /// Records a view, or another name, of an array.
    fn view(&mut self, statement: &Statement, source: Variable, operands: Loops) {
        if let (Some((field, own)), [view]) = (self.arrays.get(&source), &*statement.pattern) {
            let known = (*field, own.with(operands));
            self.arrays.insert(*view, known);
        }
    }

    /// Walks the bodies of an expression, inside the loops that it stands for.
    fn bodies(&mut self, expression: &Expression) {
        let outside = (self.enclosing, self.depth, self.is_chosen);
        match expression {
            Expression::Operation(operation) => {
                for index in &operation.indices {
                    self.enter(Loops::of_depth(self.depth));
                    self.scalars.insert(*index, Loops::of_depth(self.depth - 1));
                }
            }
            Expression::While { .. } => self.enter(Loops::of_depth(self.depth)),
            // A sort compares every element several times.
            Expression::Sort { compare, .. } => {
                let outside = compare.parameters.iter().map(|p| (*p, self.enclosing));
                self.scalars.extend(outside);
                if !self.is_chosen {
                    self.enter(Loops(u64::MAX));
                }
            }
            Expression::If { .. } | Expression::Switch { .. } => self.is_chosen = true,
            pure_expressions!()
            | array_expressions!()
            | call_expressions!()
            | node_expressions!()
            | Expression::SortKeys { .. }
            | Expression::View { .. }
            | Expression::Check { .. }
            | Expression::Fail { .. }
            | Expression::Allocate { .. }
            | Expression::Unique(_) => {}
        }
        binders(expression, &mut |binder| {
            self.scalars.entry(*binder).or_insert(self.enclosing);
        });
        bodies(expression, &mut |body| {
            self.statements(body);
            body.results.iter().for_each(|result| self.hand(*result));
        });
        (self.enclosing, self.depth, self.is_chosen) = outside;
    }

    fn enter(&mut self, level: Loops) {
        self.enclosing = self.enclosing.with(level);
        self.depth += 1;
    }

    fn all(&self, atoms: &[Atom]) -> Loops {
        let loops = atoms.iter().map(|atom| self.loops_of(*atom));
        loops.fold(Loops::NONE, Loops::with)
    }
}
