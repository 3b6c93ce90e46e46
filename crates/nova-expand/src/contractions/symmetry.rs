//! Symmetric contractions: products of a matrix with its own transpose, such as covariances. Their factors are the
//! same function of the row and of the column, so the element at (i, j) is that at (j, i), to the bit.

use crate::limits::STATEMENTS_OF_A_COMPARISON;
use crate::nest::Nest;
use nova_flat::ir as flat;
use nova_flat::ir::{Atom, Expression, Variable};
use nova_flat::visit::used_variables;
use std::collections::{BTreeMap, BTreeSet};

/// True if the results of a contraction of two dimensions are a symmetric matrix. `statements` compute the factors.
pub(super) fn is_symmetric(
    map: &flat::ArrayOperation,
    nest: &Nest<'_>,
    statements: &[&flat::Statement],
    [left, right]: [Atom; 2],
) -> bool {
    let ([row, column], [rows, columns]) = (&map.indices[..], &map.shape[..]) else {
        return false;
    };
    let mut exchange = Exchange {
        made: BTreeMap::new(),
        indices: [*row, *column],
    };
    for statement in statements {
        if let [variable] = statement.pattern[..] {
            exchange.made.insert(variable, &statement.expression);
        }
    }
    rows == columns
        && is_plain_after(map, nest)
        && exchange.agree(left, right, STATEMENTS_OF_A_COMPARISON)
}

/// True if what is computed from the sum does not depend on the row or the column otherwise.
fn is_plain_after(map: &flat::ArrayOperation, nest: &Nest<'_>) -> bool {
    let mut varying: BTreeSet<Variable> = map.indices.iter().copied().collect();
    let mut suits = true;
    for (statements, may_vary) in [(nest.before, true), (nest.after, false)] {
        for statement in statements {
            let mut varies = false;
            used_variables(&statement.expression, &mut |v| {
                varies |= varying.contains(&v)
            });
            suits &= may_vary || !varies;
            if varies {
                varying.extend(&statement.pattern);
            }
        }
    }
    let results = map
        .body
        .results
        .iter()
        .filter_map(|atom| atom.as_variable());
    suits && results.into_iter().all(|v| !varying.contains(&v))
}

/// Compares values where the row and the column change places.
struct Exchange<'a> {
    made: BTreeMap<Variable, &'a Expression>,
    indices: [Variable; 2],
}

impl Exchange<'_> {
    fn agree(&self, left: Atom, right: Atom, most: usize) -> bool {
        let (Atom::Variable(one), Atom::Variable(other)) = (left, right) else {
            return left == right;
        };
        let [row, column] = self.indices;
        if [row, column].contains(&one) || [row, column].contains(&other) {
            return (one, other) == (row, column) || (one, other) == (column, row);
        }
        match (self.made.get(&one), self.made.get(&other)) {
            (Some(one), Some(other)) => most > 0 && self.same(one, other, most - 1),
            (None, None) => one == other,
            _ => false,
        }
    }

    fn same(&self, one: &Expression, other: &Expression, most: usize) -> bool {
        let all = |ones: &[Atom], others: &[Atom]| {
            let mut pairs = ones.iter().zip(others);
            ones.len() == others.len() && pairs.all(|(a, b)| self.agree(*a, *b, most))
        };
        match (one, other) {
            (Expression::Atom(a), Expression::Atom(b)) => self.agree(*a, *b, most),
            (
                Expression::Scalar {
                    operation: first,
                    operand: of_first,
                    arguments: ones,
                },
                Expression::Scalar {
                    operation: second,
                    operand: of_second,
                    arguments: others,
                },
            ) => first == second && of_first == of_second && all(ones, others),
            (
                Expression::Index {
                    array: first,
                    indices: ones,
                },
                Expression::Index {
                    array: second,
                    indices: others,
                },
            ) => first == second && all(ones, others),
            _ => false,
        }
    }
}
