//! Loops with a meaning of their own, for which the runtime has a function. Passes write them as plain loops, so
//! that interpreters and the checker of races need to know nothing of them. The emitter of C writes a call.

use crate::ir::{Command, Expression, Program, Type, Variable};
use nova_core::{Scalar, ScalarOperation};

/// The meaning of a loop.
#[derive(Clone, Debug, PartialEq)]
pub enum Idiom {
    /// The elements of an array become their reciprocal square roots.
    ReciprocalRoots { array: Variable, element: Scalar },
    /// The elements from an address on whose flag is 1 are stored one after the other from another address on, which
    /// may be the same. Their number is added to `taken`. The passes that write such loops see to it that flags are 0
    /// or 1, and that nobody needs what is behind the stored elements: the loop may leave anything there, as many
    /// elements as it has iterations.
    Compaction {
        to: Expression,
        from: Expression,
        kept: Variable,
        taken: Variable,
        bits: u32,
    },
    /// The numbers of the iterations whose flag is 1 are stored one after the other from an address on, as
    /// [`Idiom::Compaction`] stores elements.
    Places {
        to: Expression,
        kept: Variable,
        taken: Variable,
    },
}

impl Idiom {
    /// Returns the meaning of a loop over an index, if it has one.
    pub fn of(program: &Program, index: Variable, body: &[Command]) -> Option<Idiom> {
        match body {
            [store] => Self::reciprocal_roots(index, store),
            [store, count] => Self::compaction(program, index, store, count),
            _others => None,
        }
    }

    /// True if the function gives the same bits as the loop.
    pub fn is_exact(&self) -> bool {
        !matches!(self, Idiom::ReciprocalRoots { .. })
    }

    /// Returns the function of the runtime, its arguments before the number of iterations, and the variable to which
    /// its result is added.
    pub fn call(&self) -> (&'static str, Vec<Expression>, Option<Variable>) {
        match self {
            Idiom::ReciprocalRoots { array, element } => {
                let roots = match element {
                    Scalar::F64 => "nova_reciprocal_roots_f64",
                    _floats => "nova_reciprocal_roots_f32",
                };
                (roots, vec![Expression::Variable(*array)], None)
            }
            Idiom::Compaction {
                to,
                from,
                kept,
                taken,
                bits,
            } => {
                let function = match bits {
                    64 => "nova_compact_64",
                    _narrow => "nova_compact_32",
                };
                let kept = Expression::Variable(*kept);
                (function, vec![to.clone(), from.clone(), kept], Some(*taken))
            }
            Idiom::Places { to, kept, taken } => {
                let arguments = vec![to.clone(), Expression::Variable(*kept)];
                ("nova_kept_places", arguments, Some(*taken))
            }
        }
    }

    fn reciprocal_roots(index: Variable, store: &Command) -> Option<Idiom> {
        let Command::Store {
            pointer,
            index: Expression::Variable(to),
            value:
                Expression::Scalar {
                    operation: ScalarOperation::ReciprocalSqrt,
                    operand,
                    arguments,
                },
        } = store
        else {
            return None;
        };
        let same = load_of(arguments.first()?) == Some((*pointer, index)) && *to == index;
        same.then_some(Idiom::ReciprocalRoots {
            array: *pointer,
            element: *operand,
        })
    }

    fn compaction(
        program: &Program,
        index: Variable,
        store: &Command,
        count: &Command,
    ) -> Option<Idiom> {
        let Command::Store {
            pointer,
            index: place,
            value,
        } = store
        else {
            return None;
        };
        let Command::Assign {
            variable: taken,
            value:
                Expression::Scalar {
                    operation: ScalarOperation::Add,
                    arguments,
                    ..
                },
        } = count
        else {
            return None;
        };
        let [
            Expression::Variable(before),
            Expression::Scalar {
                operation: ScalarOperation::Convert(Scalar::I64),
                operand: Scalar::U8,
                arguments: flags,
            },
        ] = &arguments[..]
        else {
            return None;
        };
        let (kept, at) = load_of(flags.first()?)?;
        let taken = *taken;
        let Type::Pointer(scalar) = program.variable(*pointer).ty else {
            return None;
        };
        let own = [index, taken];
        let start = beside(place, taken, own)?;
        if *before != taken || at != index || taken == index || kept == *pointer {
            return None;
        }
        let to = Expression::offset(*pointer, place.clone());
        let (array, first) = match value {
            Expression::Variable(variable) if *variable == index && scalar == Scalar::I64 => {
                return Some(Idiom::Places { to, kept, taken });
            }
            Expression::Load { pointer, index: at } => match &**pointer {
                Expression::Variable(array) => (*array, beside(at, index, own)?),
                _others => return None,
            },
            _others => return None,
        };
        // The first elements of an array become its kept ones.
        let (to, from) = match array == *pointer {
            true => (Expression::Variable(array), Expression::Variable(array)),
            false => (to, Expression::offset(array, first.clone())),
        };
        let starts = start.as_index() == Some(0) && first.as_index() == Some(0);
        let bits = scalar.bits();
        let is_wide = bits == 32 || bits == 64;
        (is_wide && kept != array && (starts || array != *pointer)).then_some(Idiom::Compaction {
            to,
            from,
            kept,
            taken,
            bits,
        })
    }
}

/// Returns the summand beside a variable, if an expression is such a sum and the summand is the same in all iterations
/// of a loop that assigns some variables.
fn beside(sum: &Expression, variable: Variable, assigned: [Variable; 2]) -> Option<Expression> {
    let is_it = |e: &Expression| *e == Expression::Variable(variable);
    if is_it(sum) {
        return Some(Expression::index(0));
    }
    let Expression::Scalar {
        operation: ScalarOperation::Add,
        operand: Scalar::I64,
        arguments,
    } = sum
    else {
        return None;
    };
    let other = match &arguments[..] {
        [one, other] if is_it(one) => other,
        [other, one] if is_it(one) => other,
        _others => return None,
    };
    let mut varies = other.reads_memory();
    other.each_variable(&mut |v| varies |= assigned.contains(&v));
    (!varies).then(|| other.clone())
}

/// Returns the array and the index of a load, if both are variables.
fn load_of(expression: &Expression) -> Option<(Variable, Variable)> {
    match expression {
        Expression::Load { pointer, index } => match (&**pointer, &**index) {
            (Expression::Variable(pointer), Expression::Variable(index)) => {
                Some((*pointer, *index))
            }
            _others => None,
        },
        _others => None,
    }
}
