//! Which inputs are copied apart although they could be read where they lie: fields of structures
//! that are read again and again, as the bodies of an all-pairs computation are. Their copies are
//! dense, which C compilers vectorise best; what is read once is not worth a copy. Threads of a device
//! read fields where they lie: the fields of a structure share lines of memory, a copy would be a loop
//! of the host, and what a work-group reads again it brings to its own memory.
//!
//! A read inside of loops touches another element in each iteration if its index depends on all of
//! them. The walk keeps for each scalar the loops around that it depends on.

use nova_diag::deep;
use nova_flat::ir::{Atom, Body, Expression, Function, Statement, Variable};
use nova_flat::visit::{binders, bodies, operands, view_operands};
use nova_flat::{
    array_expressions, call_expressions, control_expressions, node_expressions, pure_expressions,
};
use std::collections::{BTreeMap, BTreeSet};

/// The parameters among `fields` of which a function should rather have dense copies: those that are
/// handed on and, on a processor, those that are read again.
pub fn copied_apart(
    function: &Function,
    fields: impl Iterator<Item = Variable>,
    on_device: bool,
) -> BTreeSet<Variable> {
    let mut walk = Walk {
        on_device,
        arrays: fields.map(|field| (field, (field, Loops::NONE))).collect(),
        scalars: BTreeMap::new(),
        around: Loops::NONE,
        depth: 0,
        again: BTreeSet::new(),
    };
    if !walk.arrays.is_empty() {
        // Results are copied to where they are handed out in any case.
        walk.statements(&function.body);
    }
    walk.again
}

/// A set of loops by their depth; those deeper than it can hold are never in it.
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
    /// The fields, their views and other names: the field, and the loops that the view depends on.
    arrays: BTreeMap<Variable, (Variable, Loops)>,
    /// The loops that scalars depend on; outside of all loops nothing depends on any.
    scalars: BTreeMap<Variable, Loops>,
    /// The loops around.
    around: Loops,
    depth: u32,
    on_device: bool,
    again: BTreeSet<Variable>,
}

impl Walk {
    fn loops_of(&self, atom: Atom) -> Loops {
        match atom {
            Atom::Variable(variable) => self.scalars.get(&variable).copied(),
            Atom::Constant(_) => None,
        }
        .unwrap_or(Loops::NONE)
    }

    /// Elements of an array are read, at indices that depend on these loops.
    fn read(&mut self, array: Variable, indices: Loops) {
        if let Some((field, view)) = self.arrays.get(&array).copied()
            && view.with(indices) != self.around
            && !self.on_device
        {
            self.again.insert(field);
        }
    }

    /// What is handed on must be dense.
    fn hand(&mut self, atom: Atom) {
        if let Atom::Variable(variable) = atom
            && let Some((field, _)) = self.arrays.get(&variable)
        {
            self.again.insert(*field);
        }
    }

    fn statements(&mut self, body: &Body) {
        for statement in &body.statements {
            deep(|| self.statement(statement));
        }
    }

    fn statement(&mut self, statement: &Statement) {
        let expression = &statement.expression;
        let mut loops = self.around;
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
            array_expressions!() | Expression::Operation(_) => {
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

    /// Operands that are handed on: arguments, and what loops start with.
    fn carried(&mut self, expression: &Expression) {
        let mut atoms = Vec::new();
        operands(expression, &mut |atom| atoms.push(*atom), &mut |_| {});
        atoms.into_iter().for_each(|atom| self.hand(atom));
    }

    /// A view, or another name, of an array.
    fn view(&mut self, statement: &Statement, source: Variable, operands: Loops) {
        if let (Some((field, own)), [view]) = (self.arrays.get(&source), &*statement.pattern) {
            let known = (*field, own.with(operands));
            self.arrays.insert(*view, known);
        }
    }

    /// The bodies of an expression, with the loops that they are.
    fn bodies(&mut self, expression: &Expression) {
        let outside = (self.around, self.depth);
        match expression {
            Expression::Operation(operation) => {
                for index in &operation.indices {
                    self.enter(Loops::of_depth(self.depth));
                    self.scalars.insert(*index, Loops::of_depth(self.depth - 1));
                }
            }
            Expression::While { .. } => self.enter(Loops::of_depth(self.depth)),
            // Every element is compared several times.
            Expression::Sort { compare, .. } => {
                let outside = compare.parameters.iter().map(|p| (*p, self.around));
                self.scalars.extend(outside);
                self.enter(Loops(u64::MAX));
            }
            pure_expressions!()
            | array_expressions!()
            | call_expressions!()
            | node_expressions!()
            | Expression::If { .. }
            | Expression::Switch { .. }
            | Expression::View { .. }
            | Expression::Check { .. }
            | Expression::Fail { .. }
            | Expression::Allocate { .. }
            | Expression::Unique(_) => {}
        }
        binders(expression, &mut |binder| {
            self.scalars.entry(*binder).or_insert(self.around);
        });
        bodies(expression, &mut |body| {
            self.statements(body);
            body.results.iter().for_each(|result| self.hand(*result));
        });
        (self.around, self.depth) = outside;
    }

    fn enter(&mut self, level: Loops) {
        self.around = self.around.with(level);
        self.depth += 1;
    }

    fn all(&self, atoms: &[Atom]) -> Loops {
        let loops = atoms.iter().map(|atom| self.loops_of(*atom));
        loops.fold(Loops::NONE, Loops::with)
    }
}
