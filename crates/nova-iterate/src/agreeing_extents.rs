//! Versions of loops for extents that agree: two arrays of equal extents, or arrays whose last extent is a constant.
//!
//! A stencil that reads a second array where a condition holds checks each of its indices, since nothing says that
//! both arrays have equal extents, and no check before the loop may stop the program. A picture whose pixels are
//! read as `I ! (i, j, 0)`, `I ! (i, j, 1)` and `I ! (i, j, 2)` has an unknown number of planes, so that C compilers
//! find no vectors. Such a loop becomes two, and a comparison before them chooses. In the one for equal extents the
//! array is viewed with the other extents. [`nova_opt::bounds`] then proves what was checked.
//!
//! Only outermost loops have versions, as long as the copies of a function are short.

use crate::limits::{LAST_EXTENTS, STATEMENTS_OF_AGREEING_EXTENTS, VERSIONED_EXTENTS};
use nova_core::{ErrorKind, ScalarOperation, ScalarValue};
use nova_diag::{Place, deep};
use nova_flat::ir::{Atom, Body, Expression, Program, Statement, Variable, View};
use nova_flat::visit::{
    Substitution, binders, bodies, bodies_mut, choice_of_versions, each_statement, fresh_copy,
    holds_strategies, size, strategy_of, used_variables,
};
use nova_schedule::{Parallelism, Writer};
use std::collections::{BTreeMap, BTreeSet};

/// Versions the loops of every function.
pub fn run(program: &mut Program) {
    for k in 0..program.functions.len() {
        let mut body = std::mem::take(&mut program.functions[k].body);
        let mut copied = 0;
        in_body(program, &mut body, &mut copied);
        program.functions[k].body = body;
    }
}

fn in_body(program: &mut Program, body: &mut Body, copied: &mut usize) {
    for mut statement in std::mem::take(&mut body.statements) {
        match &mut statement.expression {
            Expression::Operation(_) | Expression::While { .. } => {
                match agreements(program, &statement, *copied) {
                    Some(extents) => {
                        *copied += size_of(&statement);
                        version(program, statement, &extents, body);
                    }
                    None => body.statements.push(statement),
                }
            }
            Expression::If { .. } => {
                bodies_mut(&mut statement.expression, &mut |inner| {
                    deep(|| in_body(program, inner, copied));
                });
                body.statements.push(statement);
            }
            _no_loop => body.statements.push(statement),
        }
    }
}

/// Returns the number of statements of a loop.
fn size_of(statement: &Statement) -> usize {
    let mut all = 0;
    bodies(&statement.expression, &mut |body| all += size(body));
    all
}

/// The facts about a loop that tell extents of arrays that are made before it.
#[derive(Default)]
struct Facts {
    /// The variables that the loop binds.
    inside: BTreeSet<Variable>,
    /// The extents of its indices.
    extents: BTreeMap<Variable, Atom>,
    /// The indices that others are computed from, by conversions and sums with constants.
    bases: BTreeMap<Variable, Variable>,
    /// The last indices at which arrays are read, if these are constants.
    last: BTreeMap<Variable, Option<BTreeSet<i128>>>,
    /// The indices and extents of its checks.
    checks: Vec<(Variable, Variable)>,
}

/// Returns the extents that a version of a loop assumes to be others, if it is worth a copy.
fn agreements(
    program: &Program,
    statement: &Statement,
    copied: usize,
) -> Option<BTreeMap<Variable, Atom>> {
    let mut is_prescribed = strategy_of(&statement.expression).is_some();
    bodies(&statement.expression, &mut |body| {
        is_prescribed |= holds_strategies(body);
    });
    if is_prescribed || copied + size_of(statement) > STATEMENTS_OF_AGREEING_EXTENTS {
        return None;
    }
    let mut facts = Facts::default();
    facts.add_loop(&statement.expression);
    bodies(&statement.expression, &mut |body| {
        each_statement(body, &mut |inner| facts.add(inner));
    });
    let mut found = facts.checked();
    for (array, last) in &facts.last {
        let planes = last.as_ref().map_or(0, BTreeSet::len);
        if let Some(Atom::Variable(extent)) = program.ty(*array).shape().last()
            && LAST_EXTENTS.contains(&planes)
            && !facts.inside.contains(array)
            && !facts.inside.contains(extent)
            && last
                .as_ref()
                .is_some_and(|last| last.iter().copied().eq(0..planes as i128))
        {
            found.insert(*extent, Atom::index(planes as i64));
        }
    }
    // An extent that others become stays what it is, and so do those of the results.
    let mut kept: Vec<Atom> = found.values().copied().collect();
    for result in &statement.pattern {
        kept.extend(program.ty(*result).shape());
    }
    found.retain(|extent, _| !kept.contains(&Atom::Variable(*extent)));
    (1..=VERSIONED_EXTENTS)
        .contains(&found.len())
        .then_some(found)
}

impl Facts {
    fn add(&mut self, statement: &Statement) {
        self.inside.extend(&statement.pattern);
        self.add_loop(&statement.expression);
        match &statement.expression {
            Expression::Scalar {
                operation:
                    ScalarOperation::Convert(_) | ScalarOperation::Add | ScalarOperation::Subtract,
                arguments,
                ..
            } => {
                if let (
                    [variable],
                    [Atom::Variable(base)] | [Atom::Variable(base), Atom::Constant(_)],
                ) = (&statement.pattern[..], &arguments[..])
                {
                    self.bases.insert(*variable, *base);
                }
            }
            Expression::Index { array, indices } => {
                let read = self.last.entry(*array).or_insert(Some(BTreeSet::new()));
                let constant = match indices.last() {
                    Some(Atom::Constant(value)) if indices.len() > 1 => value.as_integer(),
                    _ => None,
                };
                match (constant, &mut *read) {
                    (Some(constant), Some(constants)) => {
                        constants.insert(constant);
                    }
                    _ => *read = None,
                }
            }
            Expression::Check {
                error: ErrorKind::Index,
                arguments,
                ..
            } => {
                if let [Atom::Variable(index), Atom::Variable(extent)] = arguments[..] {
                    self.checks.push((index, extent));
                }
            }
            _others => {}
        }
    }

    /// Adds what a loop binds for its body.
    fn add_loop(&mut self, expression: &Expression) {
        binders(expression, &mut |variable| {
            self.inside.insert(*variable);
        });
        if let Expression::Operation(operation) = expression {
            let indices = operation.indices.iter().copied();
            self.extents
                .extend(indices.zip(operation.shape.iter().copied()));
        }
    }

    /// Returns the extents of arrays whose checks are all of indices that count to one other extent, with this one.
    fn checked(&self) -> BTreeMap<Variable, Atom> {
        let mut found: BTreeMap<Variable, Option<Atom>> = BTreeMap::new();
        for (index, extent) in &self.checks {
            let other = self
                .extent_of(*index)
                .filter(|o| *o != Atom::Variable(*extent));
            let known = found.entry(*extent).or_insert(other);
            *known = known.filter(|known| Some(*known) == other);
        }
        found.retain(|extent, _| !self.inside.contains(extent));
        let known = found.into_iter();
        known
            .filter_map(|(extent, other)| Some((extent, other?)))
            .collect()
    }

    /// Returns the extent of the loop that an index counts, if it is a variable that is bound before.
    fn extent_of(&self, index: Variable) -> Option<Atom> {
        let mut base = index;
        while let Some(next) = self.bases.get(&base) {
            base = *next;
        }
        let extent = self.extents.get(&base)?;
        (!self.inside.contains(&extent.as_variable()?)).then_some(*extent)
    }
}

/// Adds a conditional between two versions of a loop.
fn version(
    program: &mut Program,
    statement: Statement,
    extents: &BTreeMap<Variable, Atom>,
    body: &mut Body,
) {
    let (place, pattern) = (statement.place.clone(), statement.pattern.clone());
    let mut used = BTreeSet::new();
    used_variables(&statement.expression, &mut |variable| {
        used.insert(variable);
    });
    bodies(&statement.expression, &mut |inner| {
        each_statement(inner, &mut |s| {
            used_variables(&s.expression, &mut |variable| {
                used.insert(variable);
            });
        });
    });
    let whole = Body {
        results: pattern.iter().map(|v| Atom::Variable(*v)).collect(),
        statements: vec![statement],
    };
    let condition = all_agree(program, extents, &place, body);
    let mut substitution = Substitution::default();
    for (extent, other) in extents {
        substitution.insert(*extent, *other);
    }
    let mut views = Vec::new();
    for array in used {
        let ty = program.ty(array).clone();
        let other = substitution.ty(&ty);
        if ty != other && !pattern.contains(&array) && is_free(&whole, array) {
            let name = program.variable(array).name.clone();
            let shape = other.shape().to_vec();
            let viewed = program.add_variable(name, other);
            let view = View::Reshape(shape);
            let expression = Expression::View { array, view };
            views.push(Statement::binding(viewed, expression, place.clone()));
            substitution.insert(array, Atom::Variable(viewed));
        }
    }
    let mut then = fresh_copy(program, &whole, &mut substitution);
    views.append(&mut then.statements);
    then.statements = views;
    body.statements.push(choice_of_versions(
        program,
        condition,
        then,
        whole,
        (pattern, place),
    ));
}

/// True if a variable is bound outside of a body.
fn is_free(body: &Body, variable: Variable) -> bool {
    let mut free = true;
    each_statement(body, &mut |statement| {
        free &= !statement.pattern.contains(&variable);
        binders(&statement.expression, &mut |v| free &= *v != variable);
    });
    free
}

/// Adds code that tests whether extents are the others. Returns the result.
fn all_agree(
    program: &mut Program,
    extents: &BTreeMap<Variable, Atom>,
    place: &Place,
    body: &mut Body,
) -> Atom {
    let mut code = Writer::new(program, place.clone(), Parallelism::DEFAULT);
    let mut all = Atom::Constant(ScalarValue::Bool(true));
    for (extent, other) in extents {
        let same = code.compare(ScalarOperation::Equal, Atom::Variable(*extent), *other);
        all = code.both(all, same);
    }
    body.statements.append(&mut code.out);
    all
}
