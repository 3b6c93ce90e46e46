//! Quotients by square roots become products with reciprocal square roots. `m / (d * sqrt d)` is
//! `m * r * r * r`, where `r` is the reciprocal root of `d`. An estimate with its correction takes less
//! time than the root and the division.
//!
//! The factors of a divisor must be square roots of one number, or that number itself. Each product has
//! one more factor `r`, from left to right, so that no product is out of range unless the result is.

use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::deep;
use nova_loop::ir::{Command, Expression, Program, Type, Variable};
use nova_loop::walk;
use nova_machine::figures;
use std::collections::{BTreeMap, BTreeSet};

/// The most factors of a product that replaces a quotient. A division costs as much as these.
const MOST_FACTORS: usize = figures::STRIPS.quotient_factors;

/// The number whose square roots divide.
#[derive(Clone, PartialEq)]
enum Root {
    /// The variable has the square root.
    Named(Variable),
    /// The root of this number is part of the divisor.
    Direct(Expression),
}

/// A quotient that becomes a product.
struct Quotient {
    root: Root,
    operand: Scalar,
    /// The factors `r` of the product.
    factors: usize,
    /// True if one factor is without its sign, which `d * sqrt d` has not where `d` is -0.0.
    is_absolute: bool,
}

/// The square roots that variables of a body have, with their types.
type Roots = BTreeMap<Variable, Expression>;

/// Returns a body in which quotients by square roots are products, if it has any. The body declares and
/// stores only.
pub(super) fn with_products(program: &mut Program, body: &[Command]) -> Option<Vec<Command>> {
    let mut roots = Roots::new();
    for command in body {
        if let Command::Declare {
            variable,
            value: Some(value),
        } = command
            && let Some((_, argument)) = square_root(value)
        {
            roots.insert(*variable, argument.clone());
        }
    }
    // A root that is also used elsewhere would be computed besides its reciprocal.
    let mut uses: BTreeMap<Variable, i64> = BTreeMap::new();
    for command in body {
        walk::reads(command, &mut |e| {
            e.each_variable(&mut |v| *uses.entry(v).or_default() += 1);
            deep(|| count_divisors(e, &roots, &mut uses));
        });
    }
    roots.retain(|root, argument| {
        uses.get(root) == Some(&0) && matches!(argument, Expression::Variable(_))
    });
    let mut made = Vec::with_capacity(body.len() + 1);
    let (mut found, mut reciprocals) = (false, BTreeSet::new());
    for command in body {
        let mut command = command.clone();
        let mut declared = Vec::new();
        walk::reads_mut(&mut command, &mut |e| {
            found |= deep(|| rewrite(program, e, &roots, &mut declared, &mut reciprocals));
        });
        made.append(&mut declared);
        made.push(command);
    }
    for command in &mut made {
        if let Command::Declare {
            variable,
            value: Some(Expression::Scalar { operation, .. }),
        } = command
            && reciprocals.contains(variable)
        {
            *operation = ScalarOperation::ReciprocalSqrt;
        }
    }
    found.then_some(made)
}

/// Returns the type and the argument of a square root.
fn square_root(expression: &Expression) -> Option<(Scalar, &Expression)> {
    match expression {
        Expression::Scalar {
            operation: ScalarOperation::Sqrt,
            operand,
            arguments,
        } => Some((*operand, arguments.first()?)),
        _others => None,
    }
}

/// Subtracts the uses of roots in divisors that become products.
fn count_divisors(expression: &Expression, roots: &Roots, uses: &mut BTreeMap<Variable, i64>) {
    if let Some(quotient) = quotient(expression, roots)
        && let Root::Named(root) = &quotient.root
        && let Some((_, divisor)) = parts(expression)
    {
        divisor.each_variable(&mut |v| {
            if v == *root {
                *uses.entry(v).or_default() -= 1;
            }
        });
    }
    for child in super::always(expression) {
        deep(|| count_divisors(child, roots, uses));
    }
}

/// Returns what is divided, unless it is 1, and the divisor.
fn parts(expression: &Expression) -> Option<(Option<&Expression>, &Expression)> {
    let Expression::Scalar {
        operation,
        operand: Scalar::F32 | Scalar::F64,
        arguments,
    } = expression
    else {
        return None;
    };
    let is_one = |e: &Expression| match e {
        Expression::Constant(ScalarValue::F32(one)) => *one == 1.0,
        Expression::Constant(ScalarValue::F64(one)) => *one == 1.0,
        _others => false,
    };
    match (operation, &arguments[..]) {
        (ScalarOperation::Divide, [one, divisor]) if is_one(one) => Some((None, divisor)),
        (ScalarOperation::Divide, [divided, divisor]) => Some((Some(divided), divisor)),
        (ScalarOperation::Reciprocal, [divisor]) => Some((None, divisor)),
        _others => None,
    }
}

/// Returns the product that a quotient becomes.
fn quotient(expression: &Expression, roots: &Roots) -> Option<Quotient> {
    let (_, divisor) = parts(expression)?;
    let Expression::Scalar { operand, .. } = expression else {
        return None;
    };
    let mut factors = Vec::new();
    deep(|| add_factors(divisor, *operand, &mut factors));
    let root_of = |factor: &Expression| match factor {
        Expression::Variable(v) if roots.contains_key(v) => Some(Root::Named(*v)),
        other => square_root(other).map(|(_, argument)| Root::Direct(argument.clone())),
    };
    let root = factors.iter().find_map(|factor| root_of(factor))?;
    let argument = match &root {
        Root::Named(v) => roots.get(v)?,
        Root::Direct(argument) => argument,
    };
    let (mut count, mut whole) = (0, 0);
    for factor in &factors {
        match root_of(factor) {
            Some(other) if other == root => count += 1,
            None if *factor == argument => {
                count += 2;
                whole += 1;
            }
            _others => return None,
        }
    }
    (count <= MOST_FACTORS).then_some(Quotient {
        root: root.clone(),
        operand: *operand,
        factors: count,
        is_absolute: whole % 2 == 1,
    })
}

/// Adds the factors of a product.
fn add_factors<'e>(product: &'e Expression, of: Scalar, factors: &mut Vec<&'e Expression>) {
    match product {
        Expression::Scalar {
            operation: ScalarOperation::Multiply,
            operand,
            arguments,
        } if *operand == of => arguments
            .iter()
            .for_each(|factor| deep(|| add_factors(factor, of, factors))),
        factor => factors.push(factor),
    }
}

/// Replaces the quotients that an expression always computes. Adds declarations of the reciprocal roots
/// that have no variable. Returns whether there are any.
fn rewrite(
    program: &mut Program,
    expression: &mut Expression,
    roots: &Roots,
    declared: &mut Vec<Command>,
    reciprocals: &mut BTreeSet<Variable>,
) -> bool {
    let inside = match &mut *expression {
        Expression::Select { condition, .. } => vec![&mut **condition],
        other => other.children_mut(),
    };
    let mut found = false;
    for child in inside {
        found |= deep(|| rewrite(program, child, roots, declared, reciprocals));
    }
    let Some(quotient) = quotient(expression, roots) else {
        return found;
    };
    let Quotient {
        operand, factors, ..
    } = quotient;
    let of = |operation, arguments| Expression::Scalar {
        operation,
        operand,
        arguments,
    };
    let reciprocal = match quotient.root {
        Root::Named(root) => {
            reciprocals.insert(root);
            root
        }
        Root::Direct(argument) => {
            let root = program.add_variable("inverse", Type::Scalar(operand));
            let value = of(ScalarOperation::ReciprocalSqrt, vec![argument]);
            declared.push(Command::declare(root, value));
            root
        }
    };
    let reciprocal = Expression::Variable(reciprocal);
    let divided = parts(expression).and_then(|(divided, _)| divided.cloned());
    let mut product = divided;
    for factor in 0..factors {
        let next = match quotient.is_absolute && factor + 1 == factors {
            true => of(ScalarOperation::Absolute, vec![reciprocal.clone()]),
            false => reciprocal.clone(),
        };
        product = Some(match product {
            Some(product) => of(ScalarOperation::Multiply, vec![product, next]),
            None => next,
        });
    }
    if let Some(product) = product {
        *expression = product;
    }
    true
}
