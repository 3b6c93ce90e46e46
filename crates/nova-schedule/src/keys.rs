//! Keys of sorts: a comparison that computes the same of both elements and compares the results has the
//! order of a key. Keys are mapped to unsigned numbers whose order is that of the comparison, so that
//! they can be sorted digit by digit ([`crate::radix`]).

use crate::limits::OPERATIONS_OF_A_COMPARISON;
use crate::writer::Writer;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_flat::ir::{Atom, Body, Expression, Lambda, Statement, Variable};
use std::collections::HashMap;

/// The key of a sort.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    /// The function from an index to the key.
    pub(crate) lambda: Lambda,
    pub(crate) scalar: Scalar,
    /// True if larger keys come first.
    pub(crate) descends: bool,
    /// True if of equal keys the later one comes first. Comparisons that do not hold of equal keys ask
    /// for that: the merge then takes the right one.
    pub(crate) reverses: bool,
}

/// Returns the unsigned type of a key's bits.
pub(crate) fn word_of(scalar: Scalar) -> Scalar {
    match scalar {
        Scalar::I64 | Scalar::U64 | Scalar::F64 => Scalar::U64,
        Scalar::I8
        | Scalar::I16
        | Scalar::I32
        | Scalar::U8
        | Scalar::U16
        | Scalar::U32
        | Scalar::F32
        | Scalar::Bool => Scalar::U32,
    }
}

/// Returns a number of an unsigned type of keys.
pub(crate) fn word(scalar: Scalar, bits: u64) -> Atom {
    Atom::Constant(match scalar {
        Scalar::U64 => ScalarValue::U64(bits),
        _narrow => ScalarValue::U32(bits as u32),
    })
}

/// The two sides of a comparison.
struct Sides<'a> {
    parameters: [Variable; 2],
    made: HashMap<Variable, &'a Statement>,
    /// The number of steps that are left.
    left: usize,
}

impl<'a> Sides<'a> {
    fn made(&self, atom: Atom) -> Option<&'a Expression> {
        match atom {
            Atom::Variable(variable) => self.made.get(&variable).map(|s| &s.expression),
            Atom::Constant(_) => None,
        }
    }

    /// True if one atom is the same function of the first parameter as the other one is of the second.
    fn mirrored(&mut self, one: Atom, other: Atom) -> bool {
        let Some(left) = self.left.checked_sub(1) else {
            return false;
        };
        self.left = left;
        match (one, other) {
            (Atom::Constant(a), Atom::Constant(b)) => a.same(b),
            (Atom::Variable(a), Atom::Variable(b)) if [a, b] == self.parameters => true,
            (Atom::Variable(a), Atom::Variable(b)) => match (self.made(one), self.made(other)) {
                (Some(one), Some(other)) => self.mirrored_steps(one, other),
                (None, None) => a == b && !self.parameters.contains(&a),
                (Some(_), None) | (None, Some(_)) => false,
            },
            (Atom::Constant(_), Atom::Variable(_)) | (Atom::Variable(_), Atom::Constant(_)) => {
                false
            }
        }
    }

    fn mirrored_steps(&mut self, one: &Expression, other: &Expression) -> bool {
        match (one, other) {
            (Expression::Atom(a), Expression::Atom(b)) => self.mirrored(*a, *b),
            (
                Expression::Scalar {
                    operation,
                    operand,
                    arguments,
                },
                Expression::Scalar {
                    operation: second,
                    operand: of,
                    arguments: others,
                },
            ) => operation == second && operand == of && self.all_mirrored(arguments, others),
            (
                Expression::Index { array, indices },
                Expression::Index {
                    array: second,
                    indices: others,
                },
            ) => {
                array == second
                    && !self.made.contains_key(array)
                    && self.all_mirrored(indices, others)
            }
            _others => false,
        }
    }

    fn all_mirrored(&mut self, some: &[Atom], others: &[Atom]) -> bool {
        let both = some.iter().zip(others);
        some.len() == others.len() && both.into_iter().all(|(a, b)| self.mirrored(*a, *b))
    }

    /// Returns the comparison that gives the result, and whether the result is its negation.
    fn comparison(&self, result: Atom) -> Option<(ScalarOperation, Scalar, [Atom; 2], bool)> {
        let (mut at, mut contrary) = (result, false);
        loop {
            match self.made(at)? {
                Expression::Atom(atom) => at = *atom,
                Expression::Scalar {
                    operation,
                    operand,
                    arguments,
                } => match (operation, arguments.as_slice()) {
                    (ScalarOperation::Not, [of]) => (at, contrary) = (*of, !contrary),
                    (compare, [a, b]) => return Some((*compare, *operand, [*a, *b], contrary)),
                    _others => return None,
                },
                _others => return None,
            }
        }
    }
}

/// Returns the statements of a body that a value needs.
fn needed(body: &Body, value: Atom) -> Vec<Statement> {
    let mut wanted = Vec::from([value]);
    let mut found = Vec::new();
    for statement in body.statements.iter().rev() {
        let gives = statement
            .pattern
            .iter()
            .any(|v| wanted.contains(&Atom::Variable(*v)));
        if !gives {
            continue;
        }
        match &statement.expression {
            Expression::Atom(atom) => wanted.push(*atom),
            Expression::Scalar { arguments, .. } => wanted.extend(arguments),
            Expression::Index { indices, .. } => wanted.extend(indices),
            _others => {}
        }
        found.push(statement.clone());
    }
    found.reverse();
    found
}

/// Returns the key of a comparison of two indices, if the comparison has the order of a key. The
/// computation of the key must not fail.
pub(crate) fn key_of(compare: &Lambda) -> Option<Key> {
    let (&[left, right], &[result]) = (&compare.parameters[..], &compare.body.results[..]) else {
        return None;
    };
    let mut made = HashMap::new();
    for statement in &compare.body.statements {
        for variable in &statement.pattern {
            made.insert(*variable, statement);
        }
    }
    let mut sides = Sides {
        parameters: [left, right],
        made,
        left: OPERATIONS_OF_A_COMPARISON,
    };
    let (operation, scalar, [a, b], contrary) = sides.comparison(result)?;
    let (descends, holds_of_equals) = match operation {
        ScalarOperation::LessEqual => (false, true),
        ScalarOperation::Less => (false, false),
        ScalarOperation::GreaterEqual => (true, true),
        ScalarOperation::Greater => (true, false),
        _no_order => return None,
    };
    let (value, swapped) = if sides.mirrored(a, b) {
        (a, false)
    } else if sides.mirrored(b, a) {
        (b, true)
    } else {
        return None;
    };
    let lambda = Lambda {
        parameters: vec![left],
        body: Body {
            statements: needed(&compare.body, value),
            results: vec![value],
        },
    };
    Some(Key {
        lambda,
        scalar,
        descends: descends ^ swapped ^ contrary,
        reverses: holds_of_equals == contrary,
    })
}

/// Computes the bits of a key, in the order of the comparison. The bits of nan are above or below
/// all others.
pub(crate) fn key_bits(code: &mut Writer, value: Atom, key: &Key) -> Atom {
    let scalar = key.scalar;
    let ty = word_of(scalar);
    let sign = word(ty, 1 << (ty.bits() - 1));
    let bits = match scalar {
        Scalar::U32 | Scalar::U64 => value,
        Scalar::U8 | Scalar::U16 => code.compute(ScalarOperation::Wrap(ty), scalar, &[value], ty),
        Scalar::Bool => code.compute(ScalarOperation::Convert(ty), scalar, &[value], ty),
        Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => {
            let bits = code.compute(ScalarOperation::Wrap(ty), scalar, &[value], ty);
            code.compute(ScalarOperation::BitXor, ty, &[bits, sign], ty)
        }
        Scalar::F32 | Scalar::F64 => float_bits(code, value, scalar, sign),
    };
    match key.descends {
        true => code.compute(ScalarOperation::BitNot, ty, &[bits], ty),
        false => bits,
    }
}

/// Computes the bits of a float in the order of numbers, in which 0.0 and -0.0 are equal. All bits
/// of negative numbers are inverted, and the sign bit of others.
fn float_bits(code: &mut Writer, value: Atom, scalar: Scalar, sign: Atom) -> Atom {
    use ScalarOperation as O;
    let ty = word_of(scalar);
    let bits = code.compute(O::Bits(ty), scalar, &[value], ty);
    let is_negative_zero = code.compute(O::Equal, ty, &[bits, sign], Scalar::Bool);
    let bits = code.choose_one(is_negative_zero, ty, |_| word(ty, 0), |_| bits);
    let last = word(ty, u64::from(ty.bits()) - 1);
    let negative = code.compute(O::ShiftRight, ty, &[bits, last], ty);
    let all = code.compute(O::Subtract, ty, &[word(ty, 0), negative], ty);
    let turned = code.compute(O::BitOr, ty, &[all, sign], ty);
    code.compute(O::BitXor, ty, &[bits, turned], ty)
}

/// Computes 1 if a key is nan, else 0.
pub(crate) fn is_nan(code: &mut Writer, value: Atom, scalar: Scalar) -> Atom {
    let differs = code.compute(
        ScalarOperation::NotEqual,
        scalar,
        &[value, value],
        Scalar::Bool,
    );
    let ty = Scalar::U32;
    code.compute(ScalarOperation::Convert(ty), Scalar::Bool, &[differs], ty)
}
