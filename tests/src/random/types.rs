//! The types of random programs.

use super::Random;
use std::fmt;
use std::rc::Rc;

/// A type of the generator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ty {
    /// A scalar, by its name in NOVA.
    Scalar(&'static str),
    Unit,
    Tuple(Vec<Ty>),
    Vector(Box<Ty>),
    /// `vector#2`.
    Matrix(Box<Ty>),
    Maybe(Box<Ty>),
    Shape,
    List(Box<Ty>),
    Tree(Box<Ty>),
    /// A sum that the program declares.
    Declared(Declared),
    /// A function. Only variables have this type, never data.
    Function(Vec<Ty>, Box<Ty>),
}

/// A sum of a group, with the arguments for the parameters of the group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    pub group: Rc<Group>,
    /// The number of the sum in its group.
    pub at: usize,
    pub arguments: Vec<Ty>,
}

/// Sums that are declared together and contain each other, or one that contains itself or not.
#[derive(Debug, PartialEq, Eq)]
pub struct Group {
    /// The number of type parameters, which all sums of the group have.
    pub parameters: usize,
    pub sums: Vec<Sum>,
}

/// A declared sum.
#[derive(Debug, PartialEq, Eq)]
pub struct Sum {
    pub name: String,
    pub constructors: Vec<Constructor>,
}

/// A constructor: its name and its payload. A payload of `None` is `unit`.
pub type Constructor = (String, Option<Part>);

/// The type of a payload or of a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// A type without parameters and links.
    Data(Ty),
    /// A parameter of the group.
    Parameter(usize),
    /// A sum of the same group, with the same parameters.
    Link(usize),
    Tuple(Vec<Part>),
    Vector(Box<Part>),
    /// `vector#2`.
    Matrix(Box<Part>),
    /// A sum of another group.
    Sum(Rc<Group>, usize, Vec<Part>),
}

pub const INT: Ty = Ty::Scalar("int");
pub const INT64: Ty = Ty::Scalar("int64");
pub const BOOL: Ty = Ty::Scalar("bool");
pub const BYTE: Ty = Ty::Scalar("uint8");

/// The integer types.
pub const INTEGERS: [&str; 8] = [
    "int8", "int16", "int", "int64", "uint8", "uint16", "uint32", "uint64",
];
/// The floating types.
pub const FLOATS: [&str; 2] = ["float", "double"];

impl Ty {
    /// Returns `vector self`.
    pub fn vector(self) -> Ty {
        Ty::Vector(Box::new(self))
    }

    /// True if it is an integer type.
    pub fn is_integer(&self) -> bool {
        matches!(self, Ty::Scalar(name) if INTEGERS.contains(name))
    }

    /// True if it is a floating type.
    pub fn is_float(&self) -> bool {
        matches!(self, Ty::Scalar(name) if FLOATS.contains(name))
    }

    /// True if it is a number type.
    pub fn is_number(&self) -> bool {
        self.is_integer() || self.is_float()
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ty::Scalar(name) => f.write_str(name),
            Ty::Unit => f.write_str("unit"),
            Ty::Tuple(elements) => {
                f.write_str("(")?;
                for (k, element) in elements.iter().enumerate() {
                    if k > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{element}")?;
                }
                f.write_str(")")
            }
            Ty::Vector(element) => write!(f, "vector {}", Atomic(element)),
            Ty::Matrix(element) => write!(f, "vector#2 {}", Atomic(element)),
            Ty::Maybe(element) => write!(f, "(Maybe {})", Atomic(element)),
            Ty::Shape => f.write_str("Shape"),
            Ty::List(element) => write!(f, "(List {})", Atomic(element)),
            Ty::Tree(element) => write!(f, "(Tree {})", Atomic(element)),
            Ty::Declared(declared) => {
                let name = &declared.group.sums[declared.at].name;
                if declared.arguments.is_empty() {
                    return f.write_str(name);
                }
                write!(f, "({name}")?;
                for argument in &declared.arguments {
                    write!(f, " {}", Atomic(argument))?;
                }
                f.write_str(")")
            }
            Ty::Function(parameters, result) => {
                for parameter in parameters {
                    write!(f, "{} -> ", Atomic(parameter))?;
                }
                write!(f, "{}", Atomic(result))
            }
        }
    }
}

/// A type in parentheses unless it is one word or has them already.
pub struct Atomic<'a>(pub &'a Ty);

impl fmt::Display for Atomic<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Ty::Vector(_) | Ty::Matrix(_) | Ty::Function(..) => write!(f, "({})", self.0),
            _ => write!(f, "{}", self.0),
        }
    }
}

/// Draws a scalar type, the common ones more often.
pub fn scalar(random: &mut Random) -> Ty {
    match random.below(10) {
        0..=3 => INT,
        4 => Ty::Scalar("float"),
        5 => Ty::Scalar("double"),
        6 => BOOL,
        _ => Ty::Scalar(random.pick::<&str>(&INTEGERS)),
    }
}

/// Draws a number type.
pub fn number(random: &mut Random) -> Ty {
    loop {
        let ty = scalar(random);
        if ty.is_number() {
            return ty;
        }
    }
}

/// Draws a type of data, nested at most `depth`.
pub fn any(random: &mut Random, depth: usize) -> Ty {
    if depth == 0 {
        return scalar(random);
    }
    match random.below(20) {
        0..=5 => scalar(random),
        6..=11 => any(random, depth - 1).vector(),
        12..=13 => tuple(random, depth - 1),
        14 => Ty::Maybe(Box::new(any(random, depth - 1))),
        15 => Ty::Shape,
        16 => Ty::List(Box::new(any(random, depth - 1))),
        17 => Ty::Tree(Box::new(any(random, depth - 1))),
        18 => Ty::Matrix(Box::new(any(random, depth - 1))),
        _ => Ty::Unit,
    }
}

/// Draws a tuple type.
pub fn tuple(random: &mut Random, depth: usize) -> Ty {
    Ty::Tuple(
        (0..2 + random.below(2))
            .map(|_| any(random, depth))
            .collect(),
    )
}

/// Draws a type for an input, vectors more often.
pub fn input(random: &mut Random) -> Ty {
    if random.chance(50) {
        any(random, 1).vector()
    } else {
        any(random, 3)
    }
}
