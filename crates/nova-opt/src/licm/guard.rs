//! Code that the first iteration of its loops certainly reaches. It moves before the loops, guarded
//! by a test whether they have iterations.

use super::{DEEPEST, Hoist, Kind, Levels, Summary};
use crate::effects::Effects;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::Place;
use nova_flat::ir::{Atom, Body, Expression, Statement, Type, Variable};

impl Hoist<'_> {
    /// Moves a check, or a scalar that is defined only after one, out of the loops that certainly
    /// reach it. Returns the statement where it cannot move.
    pub(super) fn guarded(&mut self, statement: Statement, summary: Summary) -> Option<Statement> {
        let depth = self.depth();
        let level = self.certain_in(&statement.expression, summary.uses);
        if level == depth {
            return Some(statement);
        }
        let scalar = match &statement.expression {
            Expression::Check { .. } => None,
            Expression::Scalar { .. } | Expression::Index { .. } => {
                let [variable] = statement.pattern[..] else {
                    return Some(statement);
                };
                Some((variable, self.program.ty(variable).element()))
            }
            _ => return Some(statement),
        };
        let moved = match (self.guard(level, &statement.place), scalar) {
            (None, _) => statement,
            (Some(guard), None) => self.guarded_check(statement, guard, level),
            (Some(guard), Some((variable, scalar))) => {
                self.guarded_scalar(statement, variable, scalar, guard)
            }
        };
        self.place(moved, level, summary);
        None
    }

    /// Returns the level to which code can move that uses these levels and may be defined only
    /// where it stands. It moves while nothing before it in its loops has an effect. A check passes
    /// others: another of several errors may then be reported.
    fn certain_in(&self, expression: &Expression, uses: Levels) -> usize {
        let check = matches!(expression, Expression::Check { .. });
        let mut level = self.depth();
        let mut innermost = uses.deepest();
        while level > innermost && level < DEEPEST {
            let Some(region) = self.regions.get(level) else {
                break;
            };
            let Kind::Operation(shape, _) = &region.kind else {
                break;
            };
            let effects = region.summary.effects;
            if effects.observable || effects.endless || (effects.fails && !check) {
                break;
            }
            for extent in shape {
                if let Atom::Constant(value) = extent
                    && value.as_integer().is_none_or(|v| v <= 0)
                {
                    return level;
                }
                innermost = innermost.max(self.atom_level(*extent).deepest());
            }
            level -= 1;
        }
        level
    }

    fn atom_level(&self, atom: Atom) -> Levels {
        match atom {
            Atom::Variable(variable) => self.level(variable),
            Atom::Constant(_) => Levels::default(),
        }
    }

    /// Returns a variable that is true if the loops from the body at `level` to the innermost one
    /// have no iterations. Returns nothing where they certainly have some.
    fn guard(&mut self, level: usize, place: &Place) -> Option<Variable> {
        let innermost = self.regions.last()?.id;
        let known = self.regions.get(level + 1)?.guards.get(&innermost);
        if let Some(known) = known {
            return Some(*known);
        }
        let mut extents: Vec<Variable> = Vec::new();
        for region in self.regions.iter().skip(level + 1) {
            let Kind::Operation(shape, _) = &region.kind else {
                continue;
            };
            extents.extend(shape.iter().filter_map(|extent| extent.as_variable()));
        }
        extents.sort();
        extents.dedup();
        let mut guard = None;
        for extent in extents {
            let empty = self.add(
                "empty",
                Expression::Scalar {
                    operation: ScalarOperation::Equal,
                    operand: Scalar::I64,
                    arguments: vec![Atom::Variable(extent), Atom::index(0)],
                },
                self.level(extent),
                level,
                place,
            );
            guard = Some(match guard {
                None => empty,
                Some(guard) => self.either(guard, Atom::Variable(empty), level, place),
            });
        }
        if let (Some(guard), Some(region)) = (guard, self.regions.get_mut(level + 1)) {
            region.guards.insert(innermost, guard);
        }
        guard
    }

    /// Adds a statement to the body at `level` that tests whether one condition or the other holds.
    fn either(&mut self, one: Variable, other: Atom, level: usize, place: &Place) -> Variable {
        let gives = |result| Body {
            statements: Vec::new(),
            results: vec![result],
        };
        let uses = self.level(one).or(self.atom_level(other));
        let either = Expression::If {
            condition: Atom::Variable(one),
            then: gives(Atom::Constant(ScalarValue::Bool(true))),
            otherwise: gives(other),
        };
        self.add("either", either, uses, level, place)
    }

    /// Adds a statement that gives a bool to the body at `level`.
    fn add(
        &mut self,
        name: &str,
        expression: Expression,
        uses: Levels,
        level: usize,
        place: &Place,
    ) -> Variable {
        let variable = self.program.add_variable(name, Type::Scalar(Scalar::Bool));
        let statement = Statement::binding(variable, expression, place.clone());
        let summary = Summary {
            uses,
            effects: Effects::default(),
            movable: true,
        };
        self.place(statement, level, summary);
        variable
    }

    /// Returns a check that also holds where its loops have no iterations.
    fn guarded_check(
        &mut self,
        mut statement: Statement,
        guard: Variable,
        level: usize,
    ) -> Statement {
        if let Expression::Check { condition, .. } = &mut statement.expression {
            let place = statement.place.clone();
            *condition = Atom::Variable(self.either(guard, *condition, level, &place));
        }
        statement
    }

    /// Returns a scalar that is computed only where its loops have iterations, and is 0 elsewhere.
    fn guarded_scalar(
        &mut self,
        statement: Statement,
        variable: Variable,
        scalar: Scalar,
        guard: Variable,
    ) -> Statement {
        let name = self.program.variable(variable).name.clone();
        let inner = self.program.add_variable(name, Type::Scalar(scalar));
        let place = statement.place.clone();
        let computed = Statement {
            pattern: vec![inner],
            ..statement
        };
        let expression = Expression::If {
            condition: Atom::Variable(guard),
            then: Body {
                statements: Vec::new(),
                results: vec![Atom::Constant(ScalarValue::from_integer_wrapping(
                    scalar, 0,
                ))],
            },
            otherwise: Body {
                statements: vec![computed],
                results: vec![Atom::Variable(inner)],
            },
        };
        Statement::binding(variable, expression, place)
    }
}
