//! Finds maps that compute a row and a column from their index.

use super::definitions::{Definitions, is_index as is_index_type};
use crate::limits::MOST_ADDED;
use crate::limits::SHORTEST_ROW;
use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir::{
    ArrayOperation, Atom, Expression, Level, Output, Program, Statement, Variable,
};
use nova_flat::visit::{binders, bodies, each_statement};
use std::collections::{HashMap, HashSet};

/// The extents of a matrix that a program keeps in a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extents {
    /// The number of elements.
    pub(super) count: Atom,
    /// The number of columns, for the rows of a matrix of so many. `width` is then the number of rows in each block of
    /// three dimensions.
    pub(super) inner: Option<Atom>,
    /// The number of columns, of type `scalar`.
    pub(super) width: Atom,
    pub(super) scalar: Scalar,
}

/// True if an operation clamps or compares a number that it computes, or adds to it first.
fn is_clamped(operation: &ArrayOperation, pattern: &[Variable]) -> bool {
    use ScalarOperation::{
        Add, Greater, GreaterEqual, Less, LessEqual, Maximum, Minimum, Subtract,
    };
    let mut numbers: HashSet<Variable> = pattern.iter().copied().collect();
    let mut clamped = false;
    each_statement(&operation.body, &mut |statement| {
        if let Expression::Scalar {
            operation,
            operand: Scalar::I32,
            arguments,
        } = &statement.expression
            && arguments
                .iter()
                .any(|a| a.as_variable().is_some_and(|v| numbers.contains(&v)))
        {
            match operation {
                Add | Subtract => numbers.extend(&statement.pattern),
                Minimum | Maximum | Less | LessEqual | Greater | GreaterEqual => clamped = true,
                _ => {}
            }
        }
    });
    clamped
}

impl Extents {
    /// Returns the extents of a vector whose positions are only known to be few.
    fn few(count: Atom) -> Extents {
        Extents {
            count,
            inner: None,
            width: Atom::index(1),
            scalar: Scalar::I32,
        }
    }

    /// True if the version with these extents only knows that there are few elements.
    pub(super) fn is_few(&self) -> bool {
        self.width == Atom::index(1)
    }
}

/// True if an operation is a map of one dimension that may get two.
pub(super) fn is_map(operation: &ArrayOperation) -> bool {
    operation.shape.len() == 1
        && operation.indices.len() == 1
        && operation.carries.is_empty()
        && !operation.is_marked()
        && operation.level == Level::Sequential
        && !operation.outputs.is_empty()
        && (operation.outputs.iter()).all(|output| matches!(output, Output::Map))
}

/// Adds the extents of the maps in a statement. `bound` gets the variables that the statement binds for its bodies,
/// and those that are bound there.
pub(super) fn extents(
    program: &Program,
    statement: &Statement,
    definitions: &Definitions,
    found: &mut Vec<Extents>,
    bound: &mut HashSet<Variable>,
) {
    let mut all = vec![statement];
    bodies(&statement.expression, &mut |body| {
        each_statement(body, &mut |inner| {
            bound.extend(&inner.pattern);
            all.push(inner);
        });
    });
    for statement in all {
        binders(&statement.expression, &mut |variable| {
            bound.insert(*variable);
        });
        if let Expression::Operation(operation) = &statement.expression {
            if is_map(operation) {
                of_map(operation, definitions, found);
            }
            further(operation, definitions, found);
            strided(operation, program, definitions, found);
        }
    }
    // The version with rows knows that there are few.
    let counts: Vec<Atom> = (found.iter())
        .filter(|e| !e.is_few())
        .map(|e| e.count)
        .collect();
    found.retain(|extents| !extents.is_few() || !counts.contains(&extents.count));
}

/// Adds the extents of the vectors that an operation, or one inside of it, reads by columns: its index, times a number
/// that it does not compute, is a part of the position.
fn strided(
    operation: &ArrayOperation,
    program: &Program,
    definitions: &Definitions,
    found: &mut Vec<Extents>,
) {
    let mut statements = Vec::new();
    each_statement(&operation.body, &mut |statement| statements.push(statement));
    // Without a check all is proved already, and the first column alone needs no proof of a column.
    let checks = |s: &&Statement| matches!(s.expression, Expression::Check { .. });
    if !statements.iter().any(checks) {
        return;
    }
    let mut inside: HashSet<Variable> = operation.indices.iter().copied().collect();
    for statement in &statements {
        inside.extend(&statement.pattern);
        binders(&statement.expression, &mut |v| {
            inside.insert(*v);
        });
    }
    // The multiple of the number of columns that each number contains.
    let mut widths: HashMap<Variable, (Atom, Scalar)> = HashMap::new();
    for statement in statements {
        let width = multiple(statement, operation, definitions, &widths);
        let width = width.filter(|(width, _)| is_outside(*width, &inside));
        widths.extend(statement.pattern.first().copied().zip(width));
        let Expression::Index { array, indices } = &statement.expression else {
            continue;
        };
        if let ([Atom::Variable(position)], [count]) = (&indices[..], program.ty(*array).shape())
            && let Some((width @ Atom::Variable(_), scalar)) = widths.get(position)
        {
            let one = Extents {
                count: *count,
                inner: None,
                width: *width,
                scalar: *scalar,
            };
            if !found.contains(&one) {
                found.push(one);
            }
        }
    }
}

/// Returns the number that an index of an operation is multiplied by in the number that a statement computes, and its
/// type. `widths` has those of earlier numbers.
fn multiple(
    statement: &Statement,
    operation: &ArrayOperation,
    definitions: &Definitions,
    widths: &HashMap<Variable, (Atom, Scalar)>,
) -> Option<(Atom, Scalar)> {
    use ScalarOperation::{Add, Convert, Multiply, Subtract, Wrap};
    let Expression::Scalar {
        operation: computed,
        operand,
        arguments,
    } = &statement.expression
    else {
        return None;
    };
    let is_index = |atom: Atom| {
        let source = definitions.source(atom);
        let mut indices = operation.indices.iter();
        indices.any(|index| Atom::Variable(*index) == source)
    };
    match (computed, &arguments[..]) {
        (Multiply, [index, width] | [width, index])
            if is_index(*index) && is_index_type(*operand) =>
        {
            Some((*width, *operand))
        }
        (Add | Subtract | Convert(_) | Wrap(_), arguments) => {
            (arguments.iter()).find_map(|a| widths.get(&a.as_variable()?).copied())
        }
        _ => None,
    }
}

/// Adds the extents of an operation to whose index an `int` of at least 2 is added. That may wrap where there are so many
/// elements that no version with few of them knows it.
fn further(operation: &ArrayOperation, definitions: &Definitions, found: &mut Vec<Extents>) {
    for statement in &operation.body.statements {
        let Expression::Scalar {
            operation: ScalarOperation::Add,
            operand: Scalar::I32,
            arguments,
        } = &statement.expression
        else {
            continue;
        };
        let (Some(number), Some(index)) = (
            arguments.iter().find_map(|a| a.as_constant()?.as_integer()),
            arguments.iter().find(|a| a.as_variable().is_some()),
        ) else {
            continue;
        };
        let pairs = operation.indices.iter().zip(&operation.shape);
        for (at, count) in pairs {
            let few = Extents::few(*count);
            if (2..=MOST_ADDED).contains(&number)
                && definitions.source(*index) == Atom::Variable(*at)
                && count.as_variable().is_some()
                && !found.contains(&few)
                && is_clamped(operation, &statement.pattern)
            {
                found.push(few);
            }
        }
    }
}

/// Adds the extents of a map, one for each divisor of its index.
pub(super) fn of_map(
    operation: &ArrayOperation,
    definitions: &Definitions,
    found: &mut Vec<Extents>,
) {
    let ([index], [count]) = (&operation.indices[..], &operation.shape[..]) else {
        return;
    };
    let mut inside = HashSet::new();
    let mut divisions = Vec::new();
    each_statement(&operation.body, &mut |statement| {
        inside.extend(&statement.pattern);
        binders(&statement.expression, &mut |v| {
            inside.insert(*v);
        });
        let division = division(&statement.expression);
        divisions.extend(division.filter(|(_, width, _)| is_outside(*width, &inside)));
    });
    let mut add = |inner: Option<Atom>, width: Atom, scalar: Scalar| {
        let one = Extents {
            count: *count,
            inner,
            width,
            scalar,
        };
        if !found.contains(&one) {
            found.push(one);
        }
    };
    let kinds: Vec<Kind> = (divisions.iter())
        .map(|(number, ..)| kind(definitions, *number, *index))
        .collect();
    let is_divisor = |atom: Atom| divisions.iter().any(|(_, width, _)| *width == atom);
    for ((_, width, scalar), kind) in divisions.iter().zip(&kinds) {
        match kind {
            Kind::Position => {
                let factors = factors(definitions, *width).filter(|factors| {
                    factors.iter().all(|f| is_outside(*f, &inside))
                        && factors.iter().any(|f| is_divisor(*f))
                });
                match factors {
                    Some([one, other]) => {
                        let (inner, outer) = match is_divisor(other) {
                            true => (other, one),
                            false => (one, other),
                        };
                        add(None, inner, *scalar);
                        add(Some(inner), outer, *scalar);
                    }
                    None => add(None, *width, *scalar),
                }
            }
            Kind::Row(inner) if is_outside(*inner, &inside) => {
                add(None, *inner, *scalar);
                add(Some(*inner), *width, *scalar);
            }
            Kind::Row(_) | Kind::Other => {}
        }
    }
}

fn is_outside(atom: Atom, inside: &HashSet<Variable>) -> bool {
    !atom.as_variable().is_some_and(|v| inside.contains(&v))
}

/// Returns the factors of a product that is computed.
pub(super) fn factors(definitions: &Definitions, product: Atom) -> Option<[Atom; 2]> {
    let definition = definitions.of(definitions.source(product))?;
    match (definition.operation, &definition.arguments[..]) {
        (ScalarOperation::Multiply, [one, other]) => Some([*one, *other]),
        _ => None,
    }
}

/// A dividend.
enum Kind {
    /// The index of a map, or a position beside it.
    Position,
    /// The row of the index, in a matrix of so many columns.
    Row(Atom),
    Other,
}

fn kind(definitions: &Definitions, number: Atom, index: Variable) -> Kind {
    if is_shifted(definitions, number, index) {
        return Kind::Position;
    }
    let Some(definition) = definitions.of(definitions.source(number)) else {
        return Kind::Other;
    };
    match (definition.operation, &definition.arguments[..]) {
        (ScalarOperation::Divide, [position, width])
            if definitions.source(*position) == Atom::Variable(index) =>
        {
            Kind::Row(*width)
        }
        _ => Kind::Other,
    }
}

/// Returns number, divisor and type of a division or remainder that may tell a row or a column.
pub(super) fn division(expression: &Expression) -> Option<(Atom, Atom, Scalar)> {
    let Expression::Scalar {
        operation: ScalarOperation::Divide | ScalarOperation::Remainder,
        operand,
        arguments,
    } = expression
    else {
        return None;
    };
    let ([number, width], true) = (&arguments[..], is_index_type(*operand)) else {
        return None;
    };
    let is_long = match width {
        Atom::Variable(_) => true,
        Atom::Constant(value) => value.as_integer().is_some_and(|m| m >= SHORTEST_ROW),
    };
    is_long.then_some((*number, *width, *operand))
}

/// True if a number is the index, or that plus numbers that do not depend on an index.
fn is_shifted(definitions: &Definitions, number: Atom, index: Variable) -> bool {
    let mut number = definitions.source(number);
    // Programs add at most a few numbers, as in `(k + m - 1) % m`.
    for _ in 0..4 {
        if number == Atom::Variable(index) {
            return true;
        }
        let Some(definition) = definitions.of(number) else {
            return false;
        };
        number = match (definition.operation, &definition.arguments[..]) {
            (ScalarOperation::Add | ScalarOperation::Subtract, [one, Atom::Constant(_)]) => *one,
            (ScalarOperation::Add, [Atom::Constant(_), other]) => *other,
            (ScalarOperation::Add | ScalarOperation::Subtract, [one, _]) => *one,
            _ => return false,
        };
        number = definitions.source(number);
    }
    false
}
