//! Operators that combine vectors element by element, as `(map +)` does, and tuples of scalars and such vectors.
//!
//! Such an operator is one operator of numbers for each vector, for all of its elements. So bins that hold vectors
//! are as many bins of numbers, and nothing has to be sorted or folded in order. This is the interchange of a
//! reduction with the map inside its operator. How an operator is written does not matter: it is lowered for two
//! values of any extents, and what it became is read.

use super::argument::Argument;
use super::operators::mark_connectives;
use crate::builder::Builder;
use crate::error::Result;
use crate::lowerer::Lowerer;
use crate::values::{Leaf, has_rows, leaves};
use nova_core::{ErrorKind, Scalar, ScalarOperation, ScalarValue, Type};
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Lambda, Level, Output, Statement, Type as FlatType,
    Variable,
};
use nova_flat::visit::{
    Substitution, bodies_mut, each_statement, free_variables, fresh_copy, substitute,
};
use std::collections::{BTreeSet, HashMap};

/// An operator on values whose parts do not depend on each other.
pub(super) struct Elementwise {
    /// The scalars of a value, together; then each of its arrays.
    pub parts: Vec<Part>,
    /// The checks of extents that the operator does, for the extents of its two values.
    pub checks: Body,
    /// The extents of both values, in the order of their arrays.
    pub extents: [Vec<Variable>; 2],
}

/// Scalars of a value, or one of its arrays.
pub(super) struct Part {
    /// Its places in a value.
    pub places: Places,
    /// The operator on two elements.
    pub lambda: Lambda,
}

/// The places of a part among the components of a value.
pub(super) struct Places {
    /// Its extents; none for scalars.
    pub extents: Vec<usize>,
    /// Its numbers, and their types.
    pub numbers: Vec<(usize, Scalar)>,
    /// The type of the elements of an array.
    pub element: Type,
}

impl Elementwise {
    /// Emits the checks of extents for two values.
    pub fn check(&self, b: &mut Builder, values: [&[Atom]; 2]) {
        for statement in std::mem::take(&mut self.checks_of(b, values).statements) {
            b.append(statement);
        }
    }

    /// Emits the comparisons of extents for two values. Returns whether they agree.
    pub fn fits(&self, b: &mut Builder, values: [&[Atom]; 2]) -> Atom {
        let mut fits = Atom::Constant(ScalarValue::Bool(true));
        for statement in std::mem::take(&mut self.checks_of(b, values).statements) {
            if let Expression::Check { condition, .. } = &statement.expression {
                let both = vec![fits, *condition];
                fits = b.scalar(ScalarOperation::BitAnd, Scalar::Bool, both);
            } else {
                b.append(statement);
            }
        }
        fits
    }

    /// Returns the checks of extents for two values.
    fn checks_of(&self, b: &mut Builder, values: [&[Atom]; 2]) -> Body {
        let mut extents = Substitution::default();
        for (variables, value) in self.extents.iter().zip(values) {
            let places = self.parts.iter().flat_map(|part| &part.places.extents);
            for (variable, place) in variables.iter().zip(places) {
                if let Some(extent) = value.get(*place) {
                    extents.insert(*variable, *extent);
                }
            }
        }
        fresh_copy(&mut b.output, &self.checks, &mut extents)
    }
}

/// Returns the parts of the values of a type; nothing if an array holds others.
fn places_of(b: &mut Builder, ty: &Type) -> Option<Vec<Places>> {
    let scalars = Places {
        extents: Vec::new(),
        numbers: Vec::new(),
        element: Type::Unit,
    };
    let mut parts = vec![scalars];
    let mut next = 0;
    for leaf in leaves(ty, &b.output.sums) {
        let (rank, element) = match leaf {
            Leaf::Scalar(scalar) => {
                parts[0].numbers.push((next, scalar));
                next += 1;
                continue;
            }
            Leaf::Vector(element) => (1, element),
            Leaf::Array(rank, element) => (rank, element),
        };
        if has_rows(&element, &b.output.sums) {
            return None;
        }
        let extents = (next..next + rank).collect();
        let components = b.components(&element);
        let scalars = components.iter().map(|component| component.scalar);
        let numbers = (next + rank..).zip(scalars).collect::<Vec<_>>();
        next += rank + numbers.len();
        parts.push(Places {
            extents,
            numbers,
            element: (*element).clone(),
        });
    }
    Some(parts)
}

/// Returns an operator on values of a type as one that is elementwise, if it is.
pub(super) fn elementwise(
    b: &mut Builder,
    lowerer: &mut Lowerer,
    function: &Argument,
    ty: &Type,
) -> Result<Option<Elementwise>> {
    // An operator that combines vectors by another operator is not elementwise, and need not be read to the end: each
    // operator is lowered once more to be read, so that a nest of them would be lowered so often as 2 to its depth.
    if lowerer.reads_operator {
        return Ok(None);
    }
    let Some(parts) = places_of(b, ty) else {
        return Ok(None);
    };
    let sides = [b.fresh(ty), b.fresh(ty)];
    let arguments = sides.each_ref().map(|side| crate::builder::atoms(side));
    lowerer.reads_operator = true;
    let body = b.body(|b| lowerer.inline(b, function.id, arguments.to_vec()));
    lowerer.reads_operator = false;
    let body = body?;
    Ok(Reading::new(b, &sides, &parts).read(b, body, parts))
}

/// The state of reading what an operator became.
struct Reading {
    sides: [Vec<Variable>; 2],
    /// The part of each extent, and its dimension.
    extents: HashMap<Variable, (usize, usize)>,
    /// The part of each array that has been met, and its element for the operator of numbers.
    elements: HashMap<Variable, (usize, Atom)>,
    /// The parameters of each part's operator.
    parameters: Vec<Vec<Variable>>,
    /// The code of each part's operator.
    code: Vec<Vec<Statement>>,
    checks: Vec<Statement>,
    /// The pairs of extents that are checked.
    checked: BTreeSet<(usize, usize)>,
    replaced: Substitution,
    /// The variables that the operator of a part may use only where its own code binds them.
    elsewhere: BTreeSet<Variable>,
}

/// True if no code of a body can fail or has effects. The order in which elements are combined decides which error is
/// the first one, and vectors are combined one after the other.
fn is_total(body: &Body) -> bool {
    let mut total = true;
    each_statement(body, &mut |statement| {
        total &= !matches!(
            statement.expression,
            Expression::Check { .. }
                | Expression::Fail { .. }
                | Expression::Call { .. }
                | Expression::Foreign { .. }
                | Expression::Trace { .. }
                | Expression::While { .. }
        );
    });
    total
}

impl Reading {
    fn new(b: &mut Builder, sides: &[Vec<Variable>; 2], parts: &[Places]) -> Reading {
        let mut reading = Reading {
            sides: sides.clone(),
            extents: HashMap::new(),
            elements: HashMap::new(),
            parameters: vec![Vec::new(); parts.len()],
            code: vec![Vec::new(); parts.len()],
            checks: Vec::new(),
            checked: BTreeSet::new(),
            replaced: Substitution::default(),
            elsewhere: sides.iter().flatten().copied().collect(),
        };
        for side in sides {
            for (number, part) in parts.iter().enumerate() {
                for (dimension, place) in part.extents.iter().enumerate() {
                    reading.extents.insert(side[*place], (number, dimension));
                }
                for (place, scalar) in &part.numbers {
                    let parameter = b.output.add_variable("t", FlatType::Scalar(*scalar));
                    reading.parameters[number].push(parameter);
                    let element = Atom::Variable(parameter);
                    match part.extents.is_empty() {
                        true => reading.replaced.insert(side[*place], element),
                        false => {
                            reading.elements.insert(side[*place], (number, element));
                        }
                    }
                }
            }
        }
        reading
    }

    /// Reads the code of an operator. Returns nothing where it is not elementwise.
    fn read(mut self, b: &mut Builder, mut body: Body, parts: Vec<Places>) -> Option<Elementwise> {
        for statement in std::mem::take(&mut body.statements) {
            self.statement(statement)?;
        }
        let mut read = Vec::with_capacity(parts.len());
        for (number, part) in parts.into_iter().enumerate() {
            let result = |place: &usize| body.results.get(*place).copied();
            for (dimension, place) in part.extents.iter().enumerate() {
                let kept = result(place)?.as_variable()?;
                let same = self.extents.get(&kept) == Some(&(number, dimension));
                if !same || !self.checked.contains(&(number, dimension)) {
                    return None;
                }
            }
            let mut results = Vec::with_capacity(part.numbers.len());
            for (place, _) in &part.numbers {
                let result = result(place)?;
                results.push(match part.extents.is_empty() {
                    true => self.replaced.atom(result),
                    false => self.element_of(number, result.as_variable()?)?,
                });
            }
            let lambda = self.lambda_of(b, number, results)?;
            read.push(Part {
                places: part,
                lambda,
            });
        }
        let extents = self.sides.each_ref().map(|side| {
            let places = read.iter().flat_map(|part: &Part| &part.places.extents);
            places.map(|place| side[*place]).collect()
        });
        let checks = Body {
            statements: self.checks,
            results: Vec::new(),
        };
        Some(Elementwise {
            parts: read,
            checks,
            extents,
        })
    }

    /// Returns the operator of a part, if it uses nothing of the others.
    fn lambda_of(&mut self, b: &mut Builder, part: usize, results: Vec<Atom>) -> Option<Lambda> {
        let mut body = Body {
            statements: std::mem::take(&mut self.code[part]),
            results,
        };
        substitute(&mut b.output, &mut body, &self.replaced);
        let free = free_variables(&b.output, &body);
        let parameters = std::mem::take(&mut self.parameters[part]);
        let of_others = self.parameters.iter().flatten();
        let mut of_others = of_others.chain(&self.elsewhere);
        let is_apart = !of_others.any(|variable| free.contains(variable)) && is_total(&body);
        self.elsewhere.extend(&parameters);
        let mut lambda = Lambda { parameters, body };
        mark_connectives(&mut lambda);
        is_apart.then_some(lambda)
    }

    /// Returns the element of an array of a part.
    fn element_of(&self, part: usize, array: Variable) -> Option<Atom> {
        let (of, element) = self.elements.get(&array)?;
        (*of == part).then_some(*element)
    }

    fn statement(&mut self, statement: Statement) -> Option<()> {
        self.elsewhere.extend(&statement.pattern);
        match statement.expression {
            Expression::Operation(operation) => self.operation(operation, &statement.pattern),
            Expression::Check {
                error: ErrorKind::Length,
                ref arguments,
                ..
            } => {
                self.check(arguments)?;
                self.checks.push(statement);
                Some(())
            }
            Expression::Scalar { ref arguments, .. } => {
                let is_extent = |atom: &Atom| match atom.as_variable() {
                    Some(variable) => self.extents.contains_key(&variable),
                    None => false,
                };
                match arguments.iter().any(is_extent) {
                    true => self.checks.push(statement),
                    false => self.code[0].push(statement),
                }
                Some(())
            }
            Expression::Atom(_) | Expression::If { .. } => {
                self.code[0].push(statement);
                Some(())
            }
            _others => None,
        }
    }

    /// Notes that the operator has checked that two extents are equal, those of its two values.
    fn check(&mut self, extents: &[Atom]) -> Option<()> {
        let [left, right] = extents else { return None };
        let of = |atom: &Atom| self.extents.get(&atom.as_variable()?).copied();
        let (left, right) = (of(left)?, of(right)?);
        (left == right).then(|| {
            self.checked.insert(left);
        })
    }

    /// Reads a map over all elements of a part.
    fn operation(&mut self, operation: ArrayOperation, made: &[Variable]) -> Option<()> {
        let ArrayOperation {
            shape,
            indices,
            level: Level::Sequential,
            strategy: None,
            carries,
            body,
            outputs,
        } = operation
        else {
            return None;
        };
        let mut part = None;
        for (dimension, extent) in shape.iter().enumerate() {
            let (of, place) = *self.extents.get(&extent.as_variable()?)?;
            if place != dimension || part.is_some_and(|part| part != of) {
                return None;
            }
            part = Some(of);
        }
        let part = part?;
        let is_map = |output: &Output| matches!(output, Output::Map);
        if !carries.is_empty() || !outputs.iter().all(is_map) {
            return None;
        }
        let mut body = body;
        self.elsewhere.extend(&indices);
        self.read_elements(part, &indices, &mut body)?;
        for (array, result) in made.iter().zip(&body.results) {
            let element = self.replaced.atom(*result);
            self.elements.insert(*array, (part, element));
        }
        self.code[part].append(&mut body.statements);
        Some(())
    }

    /// Takes the reads of elements at the index of a map out of its code.
    fn read_elements(&mut self, part: usize, indices: &[Variable], body: &mut Body) -> Option<()> {
        let mut kept = Vec::with_capacity(body.statements.len());
        for mut statement in std::mem::take(&mut body.statements) {
            if let (Expression::Index { array, indices: at }, [read]) =
                (&statement.expression, &statement.pattern[..])
                && self.elements.contains_key(array)
            {
                let own = indices.iter().map(|index| Atom::Variable(*index));
                if !own.eq(at.iter().copied()) {
                    return None;
                }
                let element = self.element_of(part, *array)?;
                self.replaced.insert(*read, element);
                continue;
            }
            let mut all_read = Some(());
            bodies_mut(&mut statement.expression, &mut |inner| {
                all_read = all_read.and_then(|()| self.read_elements(part, indices, inner));
            });
            all_read?;
            kept.push(statement);
        }
        body.statements = kept;
        Some(())
    }
}
