//! Gathers that the iterations of a loop repeat.

use crate::limits::{NESTED_OPERATIONS, OPERATIONS_OF_AN_INDEX, STATEMENTS_WITH_A_TABLE};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::deep;
use nova_flat::ir::{Atom, Body, Expression, Level, Program, Statement, Variable};
use nova_flat::visit::{binders, each_statement, holds_strategies, size};
use std::collections::{BTreeMap, BTreeSet};

/// A gather that all iterations of a loop repeat, but for the row.
pub(super) struct Gather {
    /// The matrix.
    pub(super) matrix: Variable,
    /// The dimension of the matrix whose index is the same for all elements of an iteration.
    pub(super) dimension: usize,
    /// The index in the other dimension, and what it is computed from.
    pub(super) index: Variable,
    pub(super) selector: Derived,
    /// The reads of the matrix, by the variables that they bind.
    pub(super) reads: BTreeMap<Variable, Read>,
    /// The checks of elements of vectors.
    pub(super) checks: Vec<Checked>,
    /// The number of iterations, and the number of elements that each of them reads.
    pub(super) counts: [Atom; 2],
}

/// A read of the table.
pub(super) struct Read {
    /// The row.
    pub(super) row: Variable,
    /// The statements that compute the row, if that can be done before the elements.
    pub(super) of_row: Option<Derived>,
    /// The index in the row.
    pub(super) at: Atom,
}

/// A number that is computed from one element of a vector which a loop does not change.
pub(super) struct Derived {
    /// The vector.
    pub(super) vector: Variable,
    /// The element, and its index.
    pub(super) element: (Variable, Atom),
    /// The statements that compute the number from the element, in order.
    pub(super) chain: Vec<Statement>,
}

/// A check of an element, which each iteration makes anew.
pub(super) struct Checked {
    pub(super) condition: Variable,
    pub(super) of: Derived,
}

/// A loop as the search sees it.
struct Scope<'a> {
    program: &'a Program,
    /// The number of iterations, and the number of an iteration.
    iterations: (Atom, Variable),
    /// The variables that the loop binds.
    of_loop: BTreeSet<Variable>,
    /// The variables that the operation in the loop binds, and the statements that bind them.
    of_operation: BTreeMap<Variable, Option<&'a Statement>>,
}

/// Returns a gather that a loop repeats.
pub(super) fn gather(program: &Program, statement: &Statement) -> Option<Gather> {
    let Expression::Operation(operation) = &statement.expression else {
        return None;
    };
    let ([iterations], [iteration], false) = (
        &operation.shape[..],
        &operation.indices[..],
        operation.carries.is_empty(),
    ) else {
        return None;
    };
    let is_free = operation.level == Level::Sequential && operation.strategy.is_none();
    if !is_free
        || size(&operation.body) > STATEMENTS_WITH_A_TABLE
        || holds_strategies(&operation.body)
    {
        return None;
    }
    let mut of_loop = BTreeSet::new();
    binders(&statement.expression, &mut |v| {
        of_loop.insert(*v);
    });
    each_statement(&operation.body, &mut |inner| {
        of_loop.extend(inner.pattern.iter().copied());
        binders(&inner.expression, &mut |v| {
            of_loop.insert(*v);
        });
    });
    operation.body.statements.iter().find_map(|inner| {
        let Expression::Operation(elements) = &inner.expression else {
            return None;
        };
        let [count] = elements.shape[..] else {
            return None;
        };
        let mut of_operation = BTreeMap::new();
        binders(&inner.expression, &mut |v| {
            of_operation.insert(*v, None);
        });
        each_statement(&elements.body, &mut |inside| {
            of_operation.extend(inside.pattern.iter().map(|v| (*v, Some(inside))));
            binders(&inside.expression, &mut |v| {
                of_operation.insert(*v, None);
            });
        });
        let scope = Scope {
            program,
            iterations: (*iterations, *iteration),
            of_loop: of_loop.clone(),
            of_operation,
        };
        scope.gather(&elements.body, [*iterations, count])
    })
}

impl Scope<'_> {
    /// Returns the first gather of a body, with all reads of the same kind, and the checks of vectors.
    fn gather(&self, body: &Body, counts: [Atom; 2]) -> Option<Gather> {
        let is_outside = |atom: Atom| {
            atom.as_variable()
                .is_none_or(|v| !self.of_loop.contains(&v))
        };
        let mut found: Option<Gather> = None;
        let mut checks = Vec::new();
        each_statement(body, &mut |statement| {
            if let Expression::Check {
                condition: Atom::Variable(condition),
                ..
            } = statement.expression
                && let Some(of) = self.derived(condition)
            {
                checks.push(Checked { condition, of });
            }
            let Some(gather) = self.read(statement, counts) else {
                return;
            };
            match &mut found {
                None => found = Some(gather),
                Some(first) => {
                    let is_same = first.matrix == gather.matrix
                        && first.dimension == gather.dimension
                        && same_numbers(&first.selector, &gather.selector);
                    if is_same {
                        first.reads.extend(gather.reads);
                    }
                }
            }
        });
        if let Some(gather) = &mut found {
            gather.checks = checks;
        }
        found.filter(|_| counts.iter().all(|count| is_outside(*count)))
    }

    /// Returns the gather that a statement is.
    fn read(&self, statement: &Statement, counts: [Atom; 2]) -> Option<Gather> {
        let (Expression::Index { array, indices }, [result]) =
            (&statement.expression, &statement.pattern[..])
        else {
            return None;
        };
        let [first, second] = indices[..] else {
            return None;
        };
        let (dimension, row, selected) = match (self.is_of_row(first), self.is_of_row(second)) {
            (true, false) => (0, first, second),
            (false, true) => (1, second, first),
            _ => return None,
        };
        let index = selected.as_variable()?;
        let selector = self.derived(index)?;
        let is_moving = self.differs(selector.element.1, NESTED_OPERATIONS);
        if self.of_loop.contains(array) || !is_moving {
            return None;
        }
        let (row, at) = (row.as_variable()?, selector.element.1);
        let of_row = self.derived(row).filter(|row| self.is_of_iteration(row));
        let read = Read { row, of_row, at };
        Some(Gather {
            matrix: *array,
            dimension,
            index,
            selector,
            reads: BTreeMap::from([(*result, read)]),
            checks: Vec::new(),
            counts,
        })
    }

    /// True if a number is computed from the element of a vector which has the number of the iteration, and every
    /// iteration has one.
    fn is_of_iteration(&self, number: &Derived) -> bool {
        let (count, iteration) = self.iterations;
        let length = self.program.ty(number.vector).shape().first();
        number.element.1 == Atom::Variable(iteration) && length == Some(&count)
    }

    /// True if a number is the same for all elements of an iteration, but not known before the loop.
    fn is_of_row(&self, atom: Atom) -> bool {
        let is_of_loop = atom
            .as_variable()
            .is_some_and(|v| self.of_loop.contains(&v));
        is_of_loop && !self.differs(atom, NESTED_OPERATIONS)
    }

    /// True if a number may differ between the elements of an iteration.
    fn differs(&self, atom: Atom, depth: usize) -> bool {
        let Some(binding) = atom.as_variable().and_then(|v| self.of_operation.get(&v)) else {
            return false;
        };
        match (
            binding.map(|statement| &statement.expression),
            depth.checked_sub(1),
        ) {
            (Some(Expression::Atom(other)), Some(depth)) => self.differs(*other, depth),
            (Some(Expression::Scalar { arguments, .. }), Some(depth)) => {
                arguments.iter().any(|a| self.differs(*a, depth))
            }
            (Some(Expression::Index { array, indices }), Some(depth)) => {
                self.of_operation.contains_key(array)
                    || indices.iter().any(|a| self.differs(*a, depth))
            }
            _others => true,
        }
    }

    /// Returns what a number is computed from, if that is one element of a vector which the loop does not change.
    fn derived(&self, variable: Variable) -> Option<Derived> {
        let mut chain = Vec::new();
        let mut leaf = None;
        self.follow(variable, &mut chain, &mut leaf)?;
        let (element, vector, at) = leaf?;
        Some(Derived {
            vector,
            element: (element, at),
            chain,
        })
    }

    /// Adds the statements that compute a variable from an element of a vector, which is the leaf.
    fn follow(
        &self,
        variable: Variable,
        chain: &mut Vec<Statement>,
        leaf: &mut Option<(Variable, Variable, Atom)>,
    ) -> Option<()> {
        let Some(binding) = self.of_operation.get(&variable) else {
            // The same for all iterations, or not known before the loop.
            return (!self.of_loop.contains(&variable)).then_some(());
        };
        let statement = (*binding)?;
        if chain.iter().any(|s| s.pattern.contains(&variable)) {
            return Some(());
        }
        match &statement.expression {
            Expression::Index { array, indices } => {
                let ([at], false) = (&indices[..], self.of_loop.contains(array)) else {
                    return None;
                };
                let is_first = leaf.is_none_or(|(known, ..)| known == variable);
                *leaf = Some((variable, *array, *at));
                is_first.then_some(())
            }
            Expression::Scalar {
                operation,
                operand,
                arguments,
            } if is_defined(*operation, *operand) && chain.len() < OPERATIONS_OF_AN_INDEX => {
                for argument in arguments.iter().filter_map(|a| a.as_variable()) {
                    deep(|| self.follow(argument, chain, leaf))?;
                }
                chain.push(statement.clone());
                Some(())
            }
            _others => None,
        }
    }
}

/// True if an operation has a value for all arguments. Conversions of integers wrap.
fn is_defined(operation: ScalarOperation, operand: Scalar) -> bool {
    match operation {
        ScalarOperation::Convert(to) => operand.is_integer() && to.is_integer(),
        other => other.is_total(operand),
    }
}

/// True if two numbers are computed in the same way from elements of the same vector.
fn same_numbers(first: &Derived, second: &Derived) -> bool {
    let mut names = BTreeMap::from([(second.element.0, first.element.0)]);
    let is_same = |(a, b): (&Statement, &Statement)| {
        let (
            Expression::Scalar {
                operation,
                operand,
                arguments,
            },
            Expression::Scalar {
                operation: other,
                operand: of,
                arguments: others,
            },
        ) = (&a.expression, &b.expression)
        else {
            return false;
        };
        let renamed = others.iter().map(|atom| match atom {
            Atom::Variable(v) => Atom::Variable(names.get(v).copied().unwrap_or(*v)),
            Atom::Constant(_) => *atom,
        });
        let is_same = operation == other && operand == of && renamed.eq(arguments.iter().copied());
        names.extend(b.pattern.iter().copied().zip(a.pattern.iter().copied()));
        is_same
    };
    first.vector == second.vector
        && first.chain.len() == second.chain.len()
        && first.chain.iter().zip(&second.chain).all(is_same)
}
