//! The types of the generator, their text, and patterns of them: types with variables, as written
//! in the tables of forms.

use super::sums::Sums;
use crate::random::Random;
use std::fmt;

/// A type of a number, or `bool`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// Its name in programs.
    pub name: &'static str,
    /// The suffix of its literals. It is empty for `bool`.
    pub suffix: &'static str,
    /// The kind of its values.
    pub kind: Kind,
    /// Its width in bits.
    pub bits: u32,
}

/// The kind of the values of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Integers of either sign.
    Signed,
    /// Integers without a sign.
    Unsigned,
    /// Floating numbers.
    Float,
    /// Truth values.
    Bool,
}

const fn scalar(name: &'static str, suffix: &'static str, kind: Kind, bits: u32) -> Scalar {
    Scalar {
        name,
        suffix,
        kind,
        bits,
    }
}

/// `int`, the type of literals without a type.
pub const INT: Scalar = scalar("int", "i32", Kind::Signed, 32);
/// `bool`.
pub const BOOL: Scalar = scalar("bool", "", Kind::Bool, 8);
/// All scalars.
pub const SCALARS: [Scalar; 11] = [
    scalar("int8", "i8", Kind::Signed, 8),
    scalar("int16", "i16", Kind::Signed, 16),
    INT,
    scalar("int64", "i64", Kind::Signed, 64),
    scalar("uint8", "u8", Kind::Unsigned, 8),
    scalar("uint16", "u16", Kind::Unsigned, 16),
    scalar("uint32", "u32", Kind::Unsigned, 32),
    scalar("uint64", "u64", Kind::Unsigned, 64),
    scalar("float", "f", Kind::Float, 32),
    scalar("double", "L", Kind::Float, 64),
    BOOL,
];

impl Scalar {
    /// True if it holds integers.
    pub fn is_integer(self) -> bool {
        matches!(self.kind, Kind::Signed | Kind::Unsigned)
    }
}

/// A type, or a pattern of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// A scalar.
    Scalar(Scalar),
    /// `unit`.
    Unit,
    /// A tuple.
    Tuple(Vec<Type>),
    /// `vector T`.
    Vector(Box<Type>),
    /// `vector#n T`.
    Array(usize, Box<Type>),
    /// A sum of the file, with the types it is applied to.
    Sum(String, Vec<Type>),
    /// A function of one or more arguments.
    Function(Vec<Type>, Box<Type>),
    /// In patterns and declarations: any type of the letter's class.
    Variable(char),
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Scalar(scalar) => f.write_str(scalar.name),
            Type::Unit => f.write_str("unit"),
            Type::Tuple(parts) => write!(f, "({})", join(parts, ", ")),
            Type::Vector(element) => write!(f, "(vector {element})"),
            Type::Array(rank, element) => write!(f, "(vector#{rank} {element})"),
            Type::Sum(name, arguments) if arguments.is_empty() => f.write_str(name),
            Type::Sum(name, arguments) => write!(f, "({name} {})", join(arguments, " ")),
            Type::Function(arguments, result) => {
                write!(f, "({} -> {result})", join(arguments, " -> "))
            }
            Type::Variable(letter) => write!(f, "'{letter}"),
        }
    }
}

/// Joins the texts of types with a separator.
fn join(types: &[Type], between: &str) -> String {
    let texts: Vec<String> = types.iter().map(Type::to_string).collect();
    texts.join(between)
}

/// The types of the variables of a pattern.
#[derive(Clone, Debug, Default)]
pub struct Bindings([Option<Type>; 26]);

impl Bindings {
    /// Returns the type of a variable.
    pub fn get(&self, letter: char) -> Option<&Type> {
        self.0.get(index(letter)).and_then(Option::as_ref)
    }

    /// Sets the type of a variable.
    pub fn set(&mut self, letter: char, ty: Type) {
        if let Some(place) = self.0.get_mut(index(letter)) {
            *place = Some(ty);
        }
    }
}

fn index(letter: char) -> usize {
    (letter as usize).saturating_sub('a' as usize)
}

impl Type {
    /// Parses a pattern: NOVA's types, with single letters as variables.
    pub fn parse(text: &str) -> Type {
        let spaced = text
            .replace('(', " ( ")
            .replace(')', " ) ")
            .replace(',', " , ");
        let tokens: Vec<&str> = spaced.split_whitespace().collect();
        function(&tokens, &mut 0)
    }

    /// Returns the scalar that this is.
    pub fn as_scalar(&self) -> Option<Scalar> {
        match self {
            Type::Scalar(scalar) => Some(*scalar),
            Type::Unit
            | Type::Tuple(_)
            | Type::Vector(_)
            | Type::Array(..)
            | Type::Sum(..)
            | Type::Function(..)
            | Type::Variable(_) => None,
        }
    }

    /// Returns the direct parts of this type.
    pub fn parts(&self) -> Vec<&Type> {
        match self {
            Type::Scalar(_) | Type::Unit | Type::Variable(_) => Vec::new(),
            Type::Tuple(parts) | Type::Sum(_, parts) => parts.iter().collect(),
            Type::Vector(element) | Type::Array(_, element) => vec![element],
            Type::Function(arguments, result) => arguments.iter().chain([&**result]).collect(),
        }
    }

    /// Returns the type with each of its parts replaced.
    fn map(&self, each: &mut impl FnMut(&Type) -> Type) -> Type {
        match self {
            Type::Scalar(_) | Type::Unit | Type::Variable(_) => self.clone(),
            Type::Tuple(parts) => Type::Tuple(parts.iter().map(each).collect()),
            Type::Sum(name, parts) => Type::Sum(name.clone(), parts.iter().map(each).collect()),
            Type::Vector(element) => Type::Vector(Box::new(each(element))),
            Type::Array(rank, element) => Type::Array(*rank, Box::new(each(element))),
            Type::Function(arguments, result) => Type::Function(
                arguments.iter().map(&mut *each).collect(),
                Box::new(each(result)),
            ),
        }
    }

    /// Returns the type with its variables replaced by their types.
    pub fn with(&self, bindings: &Bindings) -> Type {
        match self {
            Type::Variable(letter) => bindings.get(*letter).unwrap_or(self).clone(),
            _ => self.map(&mut |part| part.with(bindings)),
        }
    }

    /// Returns the variables, each once, in order.
    pub fn variables(&self) -> Vec<char> {
        let mut found = Vec::new();
        self.add_variables(&mut found);
        found
    }

    fn add_variables(&self, found: &mut Vec<char>) {
        match self {
            Type::Variable(letter) if !found.contains(letter) => found.push(*letter),
            _ => self
                .parts()
                .iter()
                .for_each(|part| part.add_variables(found)),
        }
    }

    /// True if a condition holds for this or a part of it.
    pub fn any(&self, holds: &impl Fn(&Type) -> bool) -> bool {
        holds(self) || self.parts().iter().any(|part| part.any(holds))
    }

    /// True if a type is an instance of this pattern. Binds its variables.
    pub fn matches(&self, ty: &Type, bindings: &mut Bindings) -> bool {
        match (self, ty) {
            (Type::Variable(letter), _) => match bindings.get(*letter) {
                Some(bound) => bound == ty,
                None => {
                    let fits = Class::of(*letter).holds(ty);
                    bindings.set(*letter, ty.clone());
                    fits
                }
            },
            (Type::Array(n, _), Type::Array(m, _)) if n != m => false,
            (Type::Sum(a, _), Type::Sum(b, _)) if a != b => false,
            (Type::Scalar(_) | Type::Unit, _) => self == ty,
            (Type::Tuple(_), Type::Tuple(_))
            | (Type::Vector(_), Type::Vector(_))
            | (Type::Array(..), Type::Array(..))
            | (Type::Sum(..), Type::Sum(..))
            | (Type::Function(..), Type::Function(..)) => {
                let (mine, other) = (self.parts(), ty.parts());
                let mut pairs = mine.iter().zip(&other);
                mine.len() == other.len() && pairs.all(|(a, b)| a.matches(b, bindings))
            }
            _ => false,
        }
    }
}

/// Parses `T -> … -> T`.
fn function(tokens: &[&str], at: &mut usize) -> Type {
    let mut types = vec![prefixed(tokens, at)];
    while tokens.get(*at) == Some(&"->") {
        *at += 1;
        types.push(prefixed(tokens, at));
    }
    match types.pop() {
        Some(result) if !types.is_empty() => Type::Function(types, Box::new(result)),
        Some(only) => only,
        None => Type::Unit,
    }
}

/// Parses a type that needs no parentheses.
fn prefixed(tokens: &[&str], at: &mut usize) -> Type {
    let token = tokens.get(*at).copied().unwrap_or("unit");
    *at += 1;
    if token == "(" {
        let inside = parenthesised(tokens, at);
        *at += 1;
        return inside;
    }
    if token == "vector" {
        return Type::Vector(Box::new(prefixed(tokens, at)));
    }
    if let Some(rank) = token.strip_prefix("vector#") {
        let rank = rank.parse().unwrap_or(2);
        return Type::Array(rank, Box::new(prefixed(tokens, at)));
    }
    let bare = token.strip_prefix('\'').unwrap_or(token);
    match (bare.chars().next(), bare.len()) {
        (Some(letter), 1) if letter.is_ascii_lowercase() => Type::Variable(letter),
        _ if bare == "unit" => Type::Unit,
        _ => match SCALARS.iter().find(|scalar| scalar.name == bare) {
            Some(scalar) => Type::Scalar(*scalar),
            None => Type::Sum(bare.to_string(), Vec::new()),
        },
    }
}

/// Parses the text between parentheses: a tuple, a sum with its arguments, or a type.
fn parenthesised(tokens: &[&str], at: &mut usize) -> Type {
    let mut types = vec![function(tokens, at)];
    let is_tuple = tokens.get(*at) == Some(&",");
    while tokens.get(*at).is_some_and(|token| *token != ")") {
        if is_tuple {
            *at += 1;
        }
        types.push(prefixed(tokens, at));
    }
    match (types.remove(0), is_tuple) {
        (first, true) => Type::Tuple([vec![first], types].concat()),
        (Type::Sum(name, _), false) => Type::Sum(name, types),
        (only, false) => only,
    }
}

/// The class of a variable of a pattern, by its letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// `a` to `h`: all types of elements of vectors.
    Any,
    /// `i` to `l`: integers.
    Integer,
    /// `m` to `p`: numbers.
    Number,
    /// `s` to `v`: scalars.
    Scalar,
    /// `x` to `z`: floating numbers.
    Float,
}

impl Class {
    /// Returns the class of a letter.
    pub fn of(letter: char) -> Class {
        match letter {
            'i'..='l' => Class::Integer,
            'm'..='p' => Class::Number,
            's'..='v' => Class::Scalar,
            'x'..='z' => Class::Float,
            _ => Class::Any,
        }
    }

    /// True if a type is of the class.
    pub fn holds(self, ty: &Type) -> bool {
        let scalar = ty.as_scalar();
        match self {
            Class::Any => !matches!(ty, Type::Function(..)),
            Class::Integer => scalar.is_some_and(Scalar::is_integer),
            Class::Number => scalar.is_some_and(|s| s.kind != Kind::Bool),
            Class::Scalar => scalar.is_some(),
            Class::Float => scalar.is_some_and(|s| s.kind == Kind::Float),
        }
    }
}

/// A generator of types.
#[derive(Clone, Debug)]
pub struct Types<'a> {
    /// The sums of the file.
    pub sums: &'a Sums,
    /// True if there are floating types.
    pub floats: bool,
}

impl Types<'_> {
    /// Draws a scalar of a class.
    fn scalar(&self, random: &mut Random, class: Class) -> Type {
        loop {
            // `int` is more frequent, since lengths and indices are of that type.
            let drawn = match random.chance(25) {
                true => INT,
                false => *random.pick(&SCALARS),
            };
            let ty = Type::Scalar(drawn);
            let fits = class.holds(&ty) && (self.floats || drawn.kind != Kind::Float);
            if fits {
                return ty;
            }
        }
    }

    /// Draws a type of a class. [`Class::Float`] has none without floating types.
    pub fn of_class(&self, random: &mut Random, class: Class, depth: usize) -> Option<Type> {
        match class {
            Class::Any => Some(self.any(random, depth)),
            Class::Float if !self.floats => None,
            Class::Float | Class::Integer | Class::Number | Class::Scalar => {
                Some(self.scalar(random, class))
            }
        }
    }

    /// Draws any type of values, of at most this depth.
    pub fn any(&self, random: &mut Random, depth: usize) -> Type {
        let inner = |random: &mut Random| self.any(random, depth.saturating_sub(1));
        if depth == 0 {
            return self.scalar(random, Class::Scalar);
        }
        match random.below(20) {
            0..8 => self.scalar(random, Class::Scalar),
            8 => Type::Unit,
            9..12 => Type::Tuple((0..2 + random.below(2)).map(|_| inner(random)).collect()),
            12..17 => Type::Vector(Box::new(inner(random))),
            17 => {
                let rank = 2 + usize::from(random.chance(25));
                Type::Array(rank, Box::new(self.flat(random)))
            }
            _ => {
                let sum = random.pick(&self.sums.0);
                let arguments = (0..sum.parameters).map(|_| inner(random)).collect();
                Type::Sum(sum.name.clone(), arguments)
            }
        }
    }

    /// Draws a scalar, or a tuple of such.
    pub fn flat(&self, random: &mut Random) -> Type {
        let one = |random: &mut Random| self.scalar(random, Class::Scalar);
        match random.chance(20) {
            true => Type::Tuple(vec![one(random), one(random)]),
            false => one(random),
        }
    }
}
