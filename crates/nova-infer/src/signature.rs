//! The small language in which the types of built-ins are written.
//!
//! An example is `(a -> b) -> *a -> vector b`. Single letters are variables. `n` stands for number
//! types, `i j k` for integer types, `f` for floating ones. `s` stands for numbers and bool with a
//! default, `t` for scalars without one, `d` for anything but functions. `*a` is a vector of `a`,
//! or a `vector#n` whose rows are `a`. Demands come after `where`: a word and the variables it
//! relates.

use crate::types::{Constraint, Ty, Types};
use nova_core::Scalar;
use nova_core::builtin::Class;
use nova_diag::Span;

/// The type of a built-in.
#[derive(Debug)]
pub(crate) struct Signature {
    /// The constraint of each variable.
    pub variables: Vec<Constraint>,
    /// Its parameters.
    pub parameters: Vec<SignatureType>,
    /// Its result.
    pub result: SignatureType,
    /// The other relations between variables.
    pub demands: Vec<(DemandWord, Vec<usize>)>,
}

/// A type in a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SignatureType {
    Variable(usize),
    Scalar(Scalar),
    Vector(Box<SignatureType>),
    Array(u32, Box<SignatureType>),
    Tuple(Vec<SignatureType>),
    Function(Box<SignatureType>, Box<SignatureType>),
    /// `*a`; only as a parameter.
    Rows(Box<SignatureType>),
}

/// The words of demands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DemandWord {
    Index,
    Extents,
    Elements,
    Shape,
    Flatten,
    Rows,
    Unrows,
    Lanes,
    Block,
    Table,
}

const DEMAND_WORDS: &[(&str, DemandWord)] = &[
    ("index", DemandWord::Index),
    ("extents", DemandWord::Extents),
    ("elements", DemandWord::Elements),
    ("shape", DemandWord::Shape),
    ("flatten", DemandWord::Flatten),
    ("rows", DemandWord::Rows),
    ("unrows", DemandWord::Unrows),
    ("lanes", DemandWord::Lanes),
    ("block", DemandWord::Block),
    ("table", DemandWord::Table),
];

impl SignatureType {
    /// Returns the number of arguments that a function of this type takes, as far as it is written.
    pub fn arity(&self) -> usize {
        match self {
            SignatureType::Function(_, result) => 1 + result.arity(),
            _ => 0,
        }
    }

    /// Returns the type with variables replaced.
    pub fn instantiate(&self, types: &mut Types, variables: &[Ty]) -> Ty {
        match self {
            SignatureType::Variable(index) => variables[*index],
            SignatureType::Scalar(scalar) => types.scalar(*scalar),
            SignatureType::Vector(element) | SignatureType::Rows(element) => {
                let element = element.instantiate(types, variables);
                types.vector(element)
            }
            SignatureType::Array(rank, element) => {
                let element = element.instantiate(types, variables);
                types.array(*rank, element)
            }
            SignatureType::Tuple(elements) => {
                let elements = elements
                    .iter()
                    .map(|element| element.instantiate(types, variables))
                    .collect();
                types.tuple(elements)
            }
            SignatureType::Function(parameter, result) => {
                let parameter = parameter.instantiate(types, variables);
                let result = result.instantiate(types, variables);
                types.function(parameter, result)
            }
        }
    }
}

impl Signature {
    /// Reads a signature of the table.
    pub fn parse(text: &str) -> Signature {
        let (ty, demands) = text.split_once(" where ").unwrap_or((text, ""));
        let mut parser = Parser {
            tokens: tokens(ty),
            next: 0,
            names: Vec::new(),
            variables: Vec::new(),
        };
        let mut result = parser.ty();
        let mut parameters = Vec::new();
        while let SignatureType::Function(parameter, rest) = result {
            parameters.push(*parameter);
            result = *rest;
        }
        let demands = demands
            .split(", ")
            .filter(|demand| !demand.is_empty())
            .filter_map(|demand| {
                let mut words = demand.split(' ');
                let word = words.next()?;
                let (_, word) = DEMAND_WORDS.iter().find(|(name, _)| *name == word)?;
                let variables = words.map(|name| parser.variable(name)).collect();
                Some((*word, variables))
            })
            .collect();
        Signature {
            variables: parser.variables,
            parameters,
            result,
            demands,
        }
    }

    /// Creates a fresh variable for each of its variables.
    pub fn fresh_variables(&self, types: &mut Types, origin: Span) -> Vec<Ty> {
        self.variables
            .iter()
            .map(|constraint| types.fresh(*constraint, origin))
            .collect()
    }
}

fn tokens(text: &str) -> Vec<String> {
    let spaced = text
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace(',', " , ")
        .replace('*', " * ");
    spaced.split_whitespace().map(str::to_string).collect()
}

struct Parser {
    tokens: Vec<String>,
    next: usize,
    names: Vec<String>,
    variables: Vec<Constraint>,
}

impl Parser {
    fn take(&mut self) -> String {
        self.next += 1;
        self.tokens.get(self.next - 1).cloned().unwrap_or_default()
    }

    fn accept(&mut self, token: &str) -> bool {
        let found = self.tokens.get(self.next).is_some_and(|next| next == token);
        self.next += usize::from(found);
        found
    }

    fn ty(&mut self) -> SignatureType {
        let parameter = self.simple();
        if self.accept("->") {
            let result = self.ty();
            return SignatureType::Function(Box::new(parameter), Box::new(result));
        }
        parameter
    }

    fn simple(&mut self) -> SignatureType {
        let token = self.take();
        match token.as_str() {
            "(" => {
                let mut elements = vec![self.ty()];
                while self.accept(",") {
                    elements.push(self.ty());
                }
                self.accept(")");
                match elements.len() {
                    1 => elements.remove(0),
                    _ => {
                        elements.iter().for_each(|element| self.hold(element));
                        SignatureType::Tuple(elements)
                    }
                }
            }
            "*" => SignatureType::Rows(Box::new(self.element())),
            "vector" => SignatureType::Vector(Box::new(self.element())),
            "vector#2" => SignatureType::Array(2, Box::new(self.element())),
            name => match Scalar::by_name(name) {
                Some(scalar) => SignatureType::Scalar(scalar),
                None => SignatureType::Variable(self.variable(name)),
            },
        }
    }

    /// Reads an element of a vector, which is data.
    fn element(&mut self) -> SignatureType {
        let element = self.simple();
        self.hold(&element);
        element
    }

    fn hold(&mut self, element: &SignatureType) {
        if let SignatureType::Variable(index) = element {
            self.variables[*index].data = true;
        }
    }

    fn variable(&mut self, name: &str) -> usize {
        if let Some(index) = self.names.iter().position(|known| known == name) {
            return index;
        }
        self.names.push(name.to_string());
        self.variables.push(match name {
            "n" => Constraint::class(Class::Number, true),
            "i" | "j" | "k" => Constraint::class(Class::Integer, true),
            "f" => Constraint::class(Class::Floating, true),
            "s" => Constraint::class(Class::Scalar, true),
            "t" => Constraint::class(Class::Scalar, false),
            "d" => Constraint::DATA,
            _ => Constraint::default(),
        });
        self.names.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_knows_its_parameters_and_what_data_hold() {
        let signature = Signature::parse("(a -> b) -> *a -> vector b");
        assert_eq!(signature.parameters.len(), 2);
        assert_eq!(signature.parameters[0].arity(), 1);
        assert!(signature.variables.iter().all(|variable| variable.data));
        let signature = Signature::parse("i -> (a -> a) -> a -> a");
        assert!(!signature.variables[1].data);
    }

    #[test]
    fn demands_relate_variables() {
        let signature = Signature::parse("e -> x -> r where extents e r d, elements x d");
        assert_eq!(
            signature.demands,
            [
                (DemandWord::Extents, vec![0, 2, 3]),
                (DemandWord::Elements, vec![1, 3])
            ]
        );
    }
}
