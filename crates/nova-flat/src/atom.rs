//! Operands: variables and constants.

use nova_core::ScalarValue;

nova_diag::ids! {
    /// Names a variable of a program, bound once in it.
    pub struct Variable;
}

/// An operand.
#[derive(Clone, Copy, Debug)]
pub enum Atom {
    /// A variable in scope.
    Variable(Variable),
    /// A scalar constant.
    Constant(ScalarValue),
}

impl Atom {
    /// Returns an `i64` constant.
    pub fn index(value: i64) -> Atom {
        Atom::Constant(ScalarValue::I64(value))
    }

    /// Returns the variable that it is, if it is one.
    pub fn as_variable(self) -> Option<Variable> {
        match self {
            Atom::Variable(variable) => Some(variable),
            Atom::Constant(_) => None,
        }
    }

    /// Returns the constant that it is, if it is one.
    pub fn as_constant(self) -> Option<ScalarValue> {
        match self {
            Atom::Constant(value) => Some(value),
            Atom::Variable(_) => None,
        }
    }

    /// Returns the value of an `i64` constant.
    pub fn as_i64(self) -> Option<i64> {
        match self {
            Atom::Constant(ScalarValue::I64(value)) => Some(value),
            Atom::Constant(_) | Atom::Variable(_) => None,
        }
    }
}

/// Atoms are equal if they are the same variable or the same constant to the bit.
impl PartialEq for Atom {
    fn eq(&self, other: &Atom) -> bool {
        match (self, other) {
            (Atom::Variable(a), Atom::Variable(b)) => a == b,
            (Atom::Constant(a), Atom::Constant(b)) => a.same(*b),
            (Atom::Variable(_), Atom::Constant(_)) | (Atom::Constant(_), Atom::Variable(_)) => {
                false
            }
        }
    }
}

impl Eq for Atom {}
