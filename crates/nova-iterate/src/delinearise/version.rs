//! Copies the loops that contain maps with rows and columns, and writes the test that chooses a copy.

use super::code::{Code, gives, scalar_of};
use super::definitions::{Definitions, is_index};
use super::find::{self, Extents};
use super::state::{Found, Matrix, Nest};
use crate::limits::MOST_ELEMENTS;
use crate::limits::{EXTENTS_OF_A_VERSION, STATEMENTS_WITH_ROWS};
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::{Place, deep};
use nova_flat::ir::{Atom, Body, Expression, Program, Statement, Type, Variable};
use nova_flat::visit::{
    Substitution, binders, bodies_mut, each_variable, free_variables, fresh_copy, holds_strategies,
    size, substitute, type_variables,
};
use nova_plan::{Choice, Plan};
use std::collections::HashSet;

/// Gives rows and columns to the maps of a function.
pub(super) fn function(
    program: &mut Program,
    plan: &Plan,
    parameters: &[Variable],
    body: &mut Body,
    found: &mut Found,
) {
    let mut definitions = Definitions::default();
    definitions.note(body);
    let mut any = Vec::new();
    for statement in &body.statements {
        find::extents(
            program,
            statement,
            &definitions,
            &mut any,
            &mut HashSet::new(),
        );
    }
    if any.is_empty() {
        return;
    }
    let mut sizes = HashSet::new();
    for variable in &program.variables {
        type_variables(&variable.ty, None, &mut |extent| {
            sizes.insert(extent);
        });
    }
    let mut versions = Versions {
        program,
        plan,
        definitions,
        found,
        sizes,
        scope: parameters.iter().copied().collect(),
        copied: 0,
    };
    versions.body(body);
}

struct Versions<'a> {
    program: &'a mut Program,
    plan: &'a Plan,
    definitions: Definitions,
    found: &'a mut Found,
    /// The variables that are extents of arrays.
    sizes: HashSet<Variable>,
    /// The variables that have been bound so far.
    scope: HashSet<Variable>,
    /// The number of statements that have been copied.
    copied: usize,
}

impl Versions<'_> {
    fn body(&mut self, body: &mut Body) {
        let mut rest = std::mem::take(&mut body.statements);
        let mut all: Vec<Vec<Extents>> = rest.iter().map(|s| self.outer_extents(s)).collect();
        rest.reverse();
        all.reverse();
        while let (Some(mut statement), Some(extents)) = (rest.pop(), all.pop()) {
            let mut known = extents;
            known.retain(|extents| self.is_known(extents));
            known.truncate(EXTENTS_OF_A_VERSION);
            if known.is_empty() || !self.is_worthwhile(&statement) {
                self.leave(&mut statement);
                body.statements.push(statement);
                continue;
            }
            let mut region = vec![statement];
            // The list is reversed: the first one found is the last statement that has such maps.
            let last = (all.iter()).position(|extents| extents.iter().any(|e| known.contains(e)));
            if let Some(last) = last {
                let more: usize = rest.iter().skip(last).map(length).sum();
                if self.copied + region.iter().map(length).sum::<usize>() + more
                    <= STATEMENTS_WITH_ROWS
                    && !rest.iter().skip(last).any(is_prescribed)
                {
                    region.extend(rest.drain(last..).rev());
                    all.truncate(last);
                }
            }
            let mut later = Body {
                statements: rest,
                results: body.results.clone(),
            };
            let live = self.live(&region, &later);
            rest = std::mem::take(&mut later.statements);
            self.scope.extend(&live);
            let mut written = self.version(region, live, &known);
            body.statements.append(&mut written);
        }
    }

    /// Looks for maps in the bodies of a statement that stays as it is.
    fn leave(&mut self, statement: &mut Statement) {
        binders(&statement.expression, &mut |variable| {
            self.scope.insert(*variable);
        });
        bodies_mut(&mut statement.expression, &mut |inner| {
            deep(|| self.body(inner));
        });
        self.scope.extend(&statement.pattern);
    }

    /// Returns the extents of the maps in a statement that its bodies do not compute.
    fn outer_extents(&self, statement: &Statement) -> Vec<Extents> {
        let (mut found, mut bound) = (Vec::new(), HashSet::new());
        find::extents(
            self.program,
            statement,
            &self.definitions,
            &mut found,
            &mut bound,
        );
        let is_outside = |atom: Atom| !atom.as_variable().is_some_and(|v| bound.contains(&v));
        found.retain(|e| {
            [e.count, e.width, e.inner.unwrap_or(e.width)]
                .into_iter()
                .all(is_outside)
        });
        found
    }

    /// True if both extents have been computed.
    fn is_known(&self, extents: &Extents) -> bool {
        let is_bound = |atom: Atom| atom.as_variable().is_none_or(|v| self.scope.contains(&v));
        let inner = extents.inner.unwrap_or(extents.width);
        is_bound(extents.count) && is_bound(extents.width) && is_bound(inner)
    }

    fn is_worthwhile(&self, statement: &Statement) -> bool {
        self.copied + length(statement) <= STATEMENTS_WITH_ROWS
            && !is_prescribed(statement)
            && self.plan.allows(&statement.place, Choice::Delinearise)
    }

    /// Returns the variables of statements that later ones use, and their extents, in order.
    fn live(&self, region: &[Statement], later: &Body) -> Vec<Variable> {
        let mut used = HashSet::new();
        each_variable(self.program, later, &mut |_| {}, &mut |variable| {
            used.insert(variable);
        });
        let bound = region.iter().flat_map(|s| &s.pattern).rev();
        let mut live = Vec::new();
        for variable in bound {
            if used.contains(variable) {
                live.push(*variable);
                type_variables(self.program.ty(*variable), None, &mut |extent| {
                    used.insert(extent);
                });
            }
        }
        live.reverse();
        live
    }

    /// Returns the test, and the conditional between both versions of statements.
    fn version(
        &mut self,
        region: Vec<Statement>,
        live: Vec<Variable>,
        known: &[Extents],
    ) -> Vec<Statement> {
        let Some(place) = region.first().map(|s| s.place.clone()) else {
            return Vec::new();
        };
        let whole = Body {
            statements: region,
            results: live.iter().map(|v| Atom::Variable(*v)).collect(),
        };
        self.copied += size(&whole);
        let mut then = fresh_copy(self.program, &whole, &mut Substitution::default());
        // The results are bound by the conditional, and have other names in its branches.
        let otherwise = fresh_copy(self.program, &whole, &mut Substitution::default());
        drop(whole);
        self.definitions.note(&then);
        let mut condition = Atom::Constant(ScalarValue::Bool(true));
        let mut matrices = Vec::new();
        let hints: Vec<Option<Atom>> = known.iter().map(|e| self.hint(e)).collect();
        let mut code = Code::new(self.program, &mut self.definitions, &place);
        for (extents, hint) in known.iter().zip(&hints) {
            let width = code.wide(extents.width);
            let holds = match extents.is_few() {
                true => is_at_most(&mut code, extents.count),
                false => divides(&mut code, extents, width, *hint),
            };
            condition = match condition {
                Atom::Constant(_) => holds,
                Atom::Variable(_) => code.both(condition, holds),
            };
            if !extents.is_few() {
                matrices.push((*extents, width, *hint));
            }
        }
        let mut written = std::mem::take(&mut code.out);
        let (mut prologue, matrices) = self.prologue(&mut then, &matrices, &place);
        for matrix in &matrices {
            let blocks = matrices.iter().filter(|m| {
                m.extents.inner == Some(matrix.extents.width) && m.count == matrix.rows
            });
            let blocks = blocks.map(|m| m.extents.width).collect();
            let mut nest = Nest::new(
                self.program,
                &mut self.definitions,
                self.found,
                *matrix,
                blocks,
            );
            nest.body(&mut then);
        }
        prologue.append(&mut then.statements);
        then.statements = prologue;
        written.push(Statement {
            pattern: live,
            expression: Expression::If {
                condition,
                then,
                otherwise,
            },
            place,
        });
        written
    }

    /// Returns a number that the program computes and that should be the number of rows.
    fn hint(&self, extents: &Extents) -> Option<Atom> {
        let is_usable = |atom: &Atom| match atom {
            Atom::Constant(_) => true,
            Atom::Variable(variable) => {
                self.scope.contains(variable)
                    && matches!(self.program.ty(*variable), Type::Scalar(s) if is_index(*s))
            }
        };
        let widths = |atom: Atom| match extents.inner {
            None => atom == extents.width,
            Some(inner) => find::factors(&self.definitions, atom).is_some_and(|factors| {
                factors == [inner, extents.width] || factors == [extents.width, inner]
            }),
        };
        let other_factor = |product: Atom| match find::factors(&self.definitions, product)? {
            [one, other] if widths(one) => Some(other),
            [one, other] if widths(other) => Some(one),
            _ => None,
        };
        let mut hint = other_factor(extents.count).filter(is_usable);
        let mut all: Vec<_> = self.definitions.all().collect();
        all.sort_by_key(|(variable, _)| **variable);
        for (variable, definition) in all {
            let [one, other] = definition.arguments[..] else {
                continue;
            };
            let found = match definition.operation {
                ScalarOperation::Divide
                    if widths(other) && self.definitions.source(one) == extents.count =>
                {
                    Some(Atom::Variable(*variable))
                }
                ScalarOperation::Equal if one == extents.count => other_factor(other),
                ScalarOperation::Equal if other == extents.count => other_factor(one),
                _ => None,
            };
            hint = hint.or(found.filter(is_usable));
        }
        hint
    }

    /// Returns the start of the version with rows: the numbers of rows, and copies of scalar operations before it, which
    /// it uses from then on. Inside of the conditional more is known of their operands.
    fn prologue(
        &mut self,
        then: &mut Body,
        sizes: &[(Extents, Atom, Option<Atom>)],
        place: &Place,
    ) -> (Vec<Statement>, Vec<Matrix>) {
        let extents = sizes.iter();
        let mut again = Again {
            kept: (extents
                .flat_map(|(e, width, _)| [e.count, e.width, *width, e.inner.unwrap_or(*width)]))
            .collect(),
            names: Substitution::default(),
            place: place.clone(),
            out: Vec::new(),
        };
        let hints = sizes.iter().filter_map(|(_, _, hint)| *hint);
        again.kept.extend(hints);
        for variable in free_variables(self.program, then) {
            again.compute(self, variable, 0);
        }
        substitute(self.program, then, &again.names);
        let mut code = Code::new(self.program, &mut self.definitions, place);
        code.out = again.out;
        let mut matrices: Vec<Matrix> = Vec::new();
        for (extents, width, hint) in sizes {
            let around = extents.inner.and_then(|inner| {
                (matrices.iter())
                    .find(|m| m.extents.width == inner && m.extents.count == extents.count)
            });
            let (count, inner) = match around {
                Some(around) => (around.rows, Some(around.width)),
                None if extents.inner.is_some() => continue,
                None => (extents.count, None),
            };
            let rows = match hint {
                Some(hint) => code.wide(*hint),
                None => code.scalar(ScalarOperation::Divide, [count, *width]),
            };
            matrices.push(Matrix {
                extents: *extents,
                count,
                width: *width,
                rows,
                inner,
            });
        }
        (code.out, matrices)
    }
}

/// Scalar operations that are computed again.
struct Again {
    /// The extents, which keep their names.
    kept: Vec<Atom>,
    names: Substitution,
    place: Place,
    out: Vec<Statement>,
}

impl Again {
    /// Computes a variable again, after what it is computed from, if that leads to an extent. Returns true if so, or
    /// if it is an extent.
    fn compute(&mut self, versions: &mut Versions<'_>, variable: Variable, depth: usize) -> bool {
        let atom = Atom::Variable(variable);
        if self.kept.contains(&atom) || self.names.get(variable).is_some() {
            return true;
        }
        let is_integer = matches!(versions.program.ty(variable), Type::Scalar(s) if is_index(*s));
        let Some(definition) = versions.definitions.of(atom).cloned() else {
            return false;
        };
        if !is_integer || depth > crate::limits::NESTED_OPERATIONS {
            return false;
        }
        let mut leads = false;
        for argument in definition.arguments.iter().filter_map(|a| a.as_variable()) {
            leads |= self.compute(versions, argument, depth + 1);
        }
        if leads && !versions.sizes.contains(&variable) {
            let arguments = definition.arguments.iter();
            let arguments: Vec<Atom> = arguments.map(|a| self.names.atom(*a)).collect();
            let expression = scalar_of(definition.operation, definition.operand, &arguments);
            let mut code = Code::new(versions.program, &mut versions.definitions, &self.place);
            let Type::Scalar(scalar) = *code.program.ty(variable) else {
                return false;
            };
            let copy = code.bind("row", scalar, expression);
            self.out.append(&mut code.out);
            self.names.insert(variable, Atom::Variable(copy));
        }
        leads
    }
}

/// Writes the test whether a matrix has this number of columns, and of rows if there is a hint.
fn divides(code: &mut Code<'_>, extents: &Extents, width: Atom, hint: Option<Atom>) -> Atom {
    let positive = code.test(ScalarOperation::LessEqual, [Atom::index(1), width]);
    let few = is_at_most(code, width);
    let mut condition = code.both(Atom::Variable(positive), few);
    let around = extents.inner.map(|inner| code.wide(inner));
    if let Some(around) = around {
        let positive = code.test(ScalarOperation::LessEqual, [Atom::index(1), around]);
        condition = code.both(condition, Atom::Variable(positive));
    }
    let hint = hint.map(|hint| code.wide(hint));
    if let Some(hint) = hint {
        let counts = code.test(ScalarOperation::LessEqual, [Atom::index(0), hint]);
        condition = code.both(condition, Atom::Variable(counts));
        let few = is_at_most(code, hint);
        condition = code.both(condition, few);
    }
    let place = code.place.clone();
    let mut inner = Code::new(code.program, code.definitions, &place);
    let count = match around {
        Some(around) => inner.scalar(ScalarOperation::Divide, [extents.count, around]),
        None => extents.count,
    };
    let rows = inner.scalar(ScalarOperation::Divide, [count, width]);
    let product = inner.scalar(ScalarOperation::Multiply, [rows, width]);
    let mut all = Atom::Variable(inner.test(ScalarOperation::Equal, [product, count]));
    let few = is_at_most(&mut inner, count);
    all = inner.both(all, few);
    if let Some(hint) = hint {
        let same = inner.test(ScalarOperation::Equal, [hint, rows]);
        all = inner.both(all, Atom::Variable(same));
    }
    let then = Body {
        statements: std::mem::take(&mut inner.out),
        results: vec![all],
    };
    let otherwise = gives(Atom::Constant(ScalarValue::Bool(false)));
    let fits = Atom::Variable(code.choice(condition, Scalar::Bool, [then, otherwise]));
    // Later passes learn from a conjunction what its sides say, but not from a conditional with code.
    code.both(condition, fits)
}

/// Writes the test whether a number is small enough for positions in the rows around.
fn is_at_most(code: &mut Code<'_>, number: Atom) -> Atom {
    let most = Atom::index(MOST_ELEMENTS);
    Atom::Variable(code.test(ScalarOperation::LessEqual, [number, most]))
}

/// Returns the number of statements in a statement.
fn length(statement: &Statement) -> usize {
    let mut length = 1;
    nova_flat::visit::bodies(&statement.expression, &mut |body| length += size(body));
    length
}

/// True if a statement holds an operation that must stay as it is.
fn is_prescribed(statement: &Statement) -> bool {
    let mut prescribed = nova_flat::visit::strategy_of(&statement.expression).is_some();
    nova_flat::visit::bodies(&statement.expression, &mut |body| {
        prescribed |= holds_strategies(body);
    });
    prescribed
}
