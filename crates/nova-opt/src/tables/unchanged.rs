//! Components of tables that an operation on all nodes leaves as they are. They are the arrays of the
//! tables before, so that no iteration of a loop copies them.
//!
//! A component of a body's node is unchanged if every path gives the value of the old node. Where the
//! constructor is known, its number is the old tag, and components without a part of its payload hold zeros
//! (`nova_flat::representation`).

use super::Tables;
use super::forms::Form;
use nova_core::nodes::payloads;
use nova_core::{Member, ScalarOperation, ScalarValue, Type};
use nova_diag::deep;
use nova_flat::ir::{ArrayOperation, Atom, Body, Expression, Output, Statement, Variable};
use nova_flat::representation::{components, payload_places};
use std::collections::HashMap;

/// The place of an array among the components of tables.
struct Place {
    /// The array of the tags of its table.
    tags: Variable,
    /// The number of the constructors of its table.
    count: usize,
    /// The constructors whose payloads have a part in it; `None` for the tags.
    constructors: Option<Vec<i64>>,
    /// True if it surely holds zeros where another constructor is active. The rows of vectors begin and end
    /// at any index there, as long as they are empty.
    has_zeros: bool,
}

/// The knowledge of a path about the constructor of the old node.
#[derive(Clone, Default)]
struct Case {
    is: Option<i64>,
    is_not: Vec<i64>,
}

/// The search in the body of an operation.
struct Search<'a> {
    operation: &'a ArrayOperation,
    /// The statements that bind the variables of the body, also of those inside it.
    bound: HashMap<Variable, (&'a Statement, usize)>,
    place: Place,
    /// The component before.
    array: Variable,
}

impl Tables<'_> {
    /// Replaces the tables of a conversion by those of which they are copies.
    pub(super) fn share_unchanged(&mut self, statement: &mut Statement, out: &[Statement]) {
        let Expression::TableClose {
            members, tables, ..
        } = &statement.expression
        else {
            return;
        };
        let mut replaced = Vec::new();
        let mut sources: Option<Vec<Atom>> = None;
        for (position, table) in tables.iter().enumerate() {
            let Atom::Variable(table) = table else {
                continue;
            };
            let Some((operation, result)) = made_by(out, *table) else {
                continue;
            };
            let source = match &sources {
                Some(source) => source.clone(),
                None => match self.source(members, operation) {
                    Some(source) => sources.insert(source).clone(),
                    None => continue,
                },
            };
            if let Some(old) = self.unchanged(members, &source, position, operation, result) {
                replaced.push((*table, old));
            }
        }
        for (table, old) in replaced {
            self.known.insert(table, Atom::Variable(old));
        }
        self.rename(statement);
    }

    /// Returns the known tables with these members that an operation reads at its index.
    fn source(&self, members: &[Member], operation: &ArrayOperation) -> Option<Vec<Atom>> {
        let read = operation.body.statements.iter().filter_map(|statement| {
            let Expression::Index { array, indices } = &statement.expression else {
                return None;
            };
            is_own(operation, indices).then_some(*array)
        });
        let read: Vec<Variable> = read.collect();
        let has_tags = |form: &&Form| {
            let tags = form.tables.get(1);
            form.members == members
                && tags.is_some_and(|tags| matches!(tags, Atom::Variable(v) if read.contains(v)))
        };
        let form = self.forms.values().find(has_tags)?;
        Some(form.tables.clone())
    }

    /// Returns the array of the tables before of which the result of an operation is a copy.
    fn unchanged(
        &self,
        members: &[Member],
        source: &[Atom],
        position: usize,
        operation: &ArrayOperation,
        result: usize,
    ) -> Option<Variable> {
        let Some(Atom::Variable(array)) = source.get(position) else {
            return None;
        };
        if self.program.ty(*array).shape() != &operation.shape[..] {
            return None;
        }
        let mut bound = HashMap::new();
        bind(&operation.body, &mut bound);
        let search = Search {
            operation,
            bound,
            place: self.place(members, source, position)?,
            array: *array,
        };
        let value = operation.body.results.get(result)?;
        search.is_old(*value, &Case::default()).then_some(*array)
    }

    /// Returns the place of a component.
    fn place(&self, members: &[Member], source: &[Atom], position: usize) -> Option<Place> {
        let sums = &self.program.sums;
        // The length of each table comes first, then its tags.
        let mut next = 0;
        for member in members {
            let tags = next + 1;
            let count = payloads(sums, member.data, member.node).count();
            let own = |constructors, has_zeros| match source.get(tags) {
                Some(Atom::Variable(tags)) => Some(Place {
                    tags: *tags,
                    count,
                    constructors,
                    has_zeros,
                }),
                Some(Atom::Constant(_)) | None => None,
            };
            let lifted = components(&Type::vector(Type::Sum(member.node)), sums);
            if position == tags {
                return own(None, false);
            }
            let place = position.checked_sub(tags)?;
            // The length comes before.
            if let Some(component) = lifted.get(place + 1) {
                let name = component.name.rsplit('_').next().unwrap_or_default();
                let is_row = matches!(name, "starts" | "ends") || name.starts_with("dim");
                let has_part = |k: &usize| {
                    let places = payload_places(member.node, *k, sums, true);
                    places.contains(&place)
                };
                let constructors = (0..count).filter(has_part).map(|k| k as i64);
                return own(Some(constructors.collect()), !is_row);
            }
            next += lifted.len();
        }
        None
    }
}

/// Returns the operation of which an array is a map, and the number of its result in the body.
fn made_by(out: &[Statement], array: Variable) -> Option<(&ArrayOperation, usize)> {
    let makes = |statement: &&Statement| statement.pattern.contains(&array);
    let statement = out.iter().rev().find(makes)?;
    let Expression::Operation(operation) = &statement.expression else {
        return None;
    };
    let (mut given, mut consumed) = (operation.carries.len(), operation.carries.len());
    for output in &operation.outputs {
        if statement.pattern.get(given) == Some(&array) {
            return matches!(output, Output::Map).then_some((operation, consumed));
        }
        given += output.gives();
        consumed += output.consumes();
    }
    None
}

/// True if these are the indices of an operation.
fn is_own(operation: &ArrayOperation, indices: &[Atom]) -> bool {
    let own = operation.indices.iter().map(|index| Atom::Variable(*index));
    own.eq(indices.iter().copied())
}

/// Notes the statements that bind variables, in a body and in those of its conditionals.
fn bind<'a>(body: &'a Body, bound: &mut HashMap<Variable, (&'a Statement, usize)>) {
    for statement in &body.statements {
        for (k, variable) in statement.pattern.iter().enumerate() {
            bound.insert(*variable, (statement, k));
        }
        match &statement.expression {
            Expression::If {
                then, otherwise, ..
            } => {
                deep(|| bind(then, bound));
                deep(|| bind(otherwise, bound));
            }
            Expression::Switch { cases, .. } => {
                cases.iter().for_each(|case| deep(|| bind(case, bound)));
            }
            _others => {}
        }
    }
}

impl Search<'_> {
    /// True if an atom is the value of the component in the old node, in this case.
    fn is_old(&self, atom: Atom, case: &Case) -> bool {
        let variable = match atom {
            Atom::Variable(variable) => variable,
            Atom::Constant(value) => return self.is_constant(value, case),
        };
        let Some((statement, position)) = self.bound.get(&variable) else {
            return false;
        };
        let result = |body: &Body, case: &Case| match body.results.get(*position) {
            Some(result) => deep(|| self.is_old(*result, case)),
            None => false,
        };
        match &statement.expression {
            Expression::Atom(atom) => deep(|| self.is_old(*atom, case)),
            Expression::Index { array, indices } => {
                *array == self.array && is_own(self.operation, indices)
            }
            Expression::If {
                condition,
                then,
                otherwise,
            } => {
                let known = self.compared(*condition);
                let with = |holds: bool| match known {
                    Some(constructor) => case.with(constructor, holds),
                    None => case.clone(),
                };
                result(then, &with(true)) && result(otherwise, &with(false))
            }
            Expression::Switch { scrutinee, cases } => {
                let is_tag = self.is_tag(*scrutinee);
                cases.iter().enumerate().all(|(k, body)| match is_tag {
                    true => result(body, &case.of_switch(k, cases.len(), self.place.count)),
                    false => result(body, case),
                })
            }
            _others => false,
        }
    }

    /// True if a constant is the value of the component in an old node of this case.
    fn is_constant(&self, value: ScalarValue, case: &Case) -> bool {
        match &self.place.constructors {
            None => {
                let own = value.as_integer();
                case.is.is_some_and(|is| own == Some(i128::from(is)))
            }
            Some(constructors) => {
                let is_other = case.is.is_some_and(|is| !constructors.contains(&is))
                    || constructors.iter().all(|own| case.is_not.contains(own));
                self.place.has_zeros && is_other && value.canonical_bits() == 0
            }
        }
    }

    /// True if an atom is the tag of the old node.
    fn is_tag(&self, atom: Atom) -> bool {
        let Atom::Variable(variable) = atom else {
            return false;
        };
        match self
            .bound
            .get(&variable)
            .map(|(statement, _)| &statement.expression)
        {
            Some(Expression::Index { array, indices }) => {
                *array == self.place.tags && is_own(self.operation, indices)
            }
            Some(Expression::Atom(atom)) => deep(|| self.is_tag(*atom)),
            Some(Expression::Scalar {
                operation: ScalarOperation::Convert(_),
                arguments,
                ..
            }) => arguments.iter().all(|atom| deep(|| self.is_tag(*atom))),
            Some(_) | None => false,
        }
    }

    /// Returns the constructor with which a condition compares the tag of the old node.
    fn compared(&self, condition: Atom) -> Option<i64> {
        let Atom::Variable(variable) = condition else {
            return None;
        };
        let (statement, _) = self.bound.get(&variable)?;
        let Expression::Scalar {
            operation: ScalarOperation::Equal,
            arguments,
            ..
        } = &statement.expression
        else {
            return None;
        };
        match arguments[..] {
            [tag, Atom::Constant(value)] | [Atom::Constant(value), tag] if self.is_tag(tag) => {
                value
                    .as_integer()
                    .and_then(|value| i64::try_from(value).ok())
            }
            [..] => None,
        }
    }
}

impl Case {
    /// Returns the case in which the node also has this constructor, or has it not.
    fn with(&self, constructor: i64, holds: bool) -> Case {
        let mut case = self.clone();
        match holds {
            true => case.is = Some(constructor),
            false => case.is_not.push(constructor),
        }
        case
    }

    /// Returns the case of one of the bodies of a match on the tag. The last body is also that of all
    /// constructors behind it.
    fn of_switch(&self, body: usize, bodies: usize, constructors: usize) -> Case {
        if body + 1 == bodies && bodies < constructors {
            let before = 0..body as i64;
            return before.fold(self.clone(), |case, other| case.with(other, false));
        }
        self.with(body as i64, true)
    }
}
