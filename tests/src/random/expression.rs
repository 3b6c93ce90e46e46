//! Drawing of an expression of a type.

use super::Random;
use super::declared;
use super::parts::{Leaves, constructor};
use super::productions::{Production, productions};
use super::types::{self, Group, INT, Ty};
use super::values;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Number of nodes that a program should have before its result is drawn.
const ENOUGH_NODES: usize = 55;

/// The state of drawing one program.
pub struct Draw {
    pub random: Random,
    /// Variables in scope.
    pub scope: Vec<(String, Ty)>,
    /// Expressions drawn so far.
    pub nodes: usize,
    /// Second-order functions around the expression being drawn, and the most so far.
    pub nesting: usize,
    pub deepest: usize,
    /// The number of times that each production was drawn.
    pub used: BTreeMap<&'static str, usize>,
    /// The groups of sums that the program declares.
    pub groups: Vec<Rc<Group>>,
    /// True if no body of a `foreach` may use a link twice, since data may be long.
    pub linear: bool,
    names: usize,
}

impl Draw {
    /// Starts with the inputs in scope.
    pub fn new(random: Random, inputs: &[(String, Ty)]) -> Self {
        Draw {
            random,
            scope: inputs.to_vec(),
            nodes: 0,
            nesting: 0,
            deepest: 0,
            used: BTreeMap::new(),
            groups: Vec::new(),
            linear: true,
            names: 0,
        }
    }

    /// Returns a new name.
    pub fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    /// Draws the body of a program: bindings of random types until it is large enough, then the
    /// result.
    pub fn body(&mut self, result: &Ty) -> String {
        let mut bindings = String::new();
        while self.nodes < ENOUGH_NODES {
            let (name, ty, value) = self.binding(5);
            bindings.push_str(&format!("({name} {value})\n    "));
            self.scope.push((name, ty));
        }
        let last = self.expression(result, 5);
        if bindings.is_empty() {
            last
        } else {
            format!("(let {bindings}in {last})")
        }
    }

    /// Draws a binding's name, type and value: data, or a function.
    pub fn binding(&mut self, fuel: usize) -> (String, Ty, String) {
        let name = self.name();
        if self.random.chance(20) {
            let count = 1 + self.random.below(2);
            let parameters: Vec<Ty> = (0..count).map(|_| self.any(1)).collect();
            let result = self.any(1);
            let value = self.function(&parameters, &result, fuel.saturating_sub(1));
            return (name, Ty::Function(parameters, Box::new(result)), value);
        }
        let ty = self.any(2);
        let value = self.expression(&ty, fuel);
        (name, ty.clone(), format!("({value} : {ty})"))
    }

    /// Draws a type of data, nested at most `depth`, among them those that the program declares.
    pub fn any(&mut self, depth: usize) -> Ty {
        if self.groups.is_empty() || self.random.chance(60) {
            return types::any(&mut self.random, depth);
        }
        let ty = declared::instance(&mut self.random, &self.groups);
        match self.random.below(8) {
            0 => ty.vector(),
            1 => Ty::Tuple(vec![ty, INT]),
            _ => ty,
        }
    }

    /// Draws a recursive type.
    pub fn recursive(&mut self) -> Ty {
        match self.random.below(6) {
            0 => Ty::List(Box::new(types::scalar(&mut self.random))),
            1 => Ty::Tree(Box::new(types::scalar(&mut self.random))),
            _ if self.groups.is_empty() => Ty::List(Box::new(types::any(&mut self.random, 1))),
            _ => declared::instance(&mut self.random, &self.groups),
        }
    }

    /// Draws an expression of a type, at most about `fuel` deep.
    pub fn expression(&mut self, ty: &Ty, fuel: usize) -> String {
        self.nodes += 1;
        if fuel == 0 || self.nodes > 600 || self.random.chance(8) {
            return self.leaf(ty);
        }
        let candidates: Vec<&Production> = productions(!self.groups.is_empty())
            .filter(|p| (p.gives)(ty))
            .collect();
        let total: usize = candidates.iter().map(|p| p.weight).sum();
        let mut at = self.random.below(total);
        for production in candidates {
            if at < production.weight {
                *self.used.entry(production.name).or_default() += 1;
                return (production.draw)(self, ty, fuel - 1);
            }
            at -= production.weight;
        }
        self.leaf(ty)
    }

    /// Draws a variable or a constant of a type.
    pub fn leaf(&mut self, ty: &Ty) -> String {
        if let Some(name) = self.variable(ty)
            && self.random.chance(75)
        {
            return name;
        }
        self.constant(ty)
    }

    /// Draws a variable of a type, if there is one, a recent one more often.
    pub fn variable(&mut self, ty: &Ty) -> Option<String> {
        let of_type: Vec<&String> = self
            .scope
            .iter()
            .filter(|(_, t)| t == ty)
            .map(|(n, _)| n)
            .collect();
        if of_type.is_empty() {
            return None;
        }
        let recent = of_type.len().min(3);
        let at = if self.random.chance(60) {
            of_type.len() - 1 - self.random.below(recent)
        } else {
            self.random.below(of_type.len())
        };
        Some(of_type[at].clone())
    }

    /// Draws a constant expression of a type.
    fn constant(&mut self, ty: &Ty) -> String {
        match ty {
            Ty::Scalar(name) => self.scalar(name),
            Ty::Unit | Ty::Function(..) => "nil".into(),
            Ty::Tuple(elements) => {
                let items: Vec<String> = elements.iter().map(|e| self.leaf(e)).collect();
                format!("({})", items.join(", "))
            }
            Ty::Vector(element) => {
                let count = self.random.below(4);
                let items: Vec<String> = (0..count).map(|_| self.leaf(element)).collect();
                format!("([{}] : {ty})", items.join(" "))
            }
            Ty::Matrix(element) => {
                let count = self.random.below(3);
                let item = self.leaf(element);
                format!("(tabulate ({count}, 2) (lambda (i) ({item} : {element})))")
            }
            Ty::Maybe(element) if self.random.chance(60) => {
                format!("(Some {})", self.leaf(element))
            }
            Ty::Maybe(_) => format!("(None : {ty})"),
            Ty::Shape => match self.random.below(4) {
                0 => format!("(Circle {})", self.scalar("float")),
                1 => format!("(Square ({}, {}))", self.scalar("int"), self.scalar("int")),
                2 => "(Text \"ab\")".into(),
                _ => "Empty".into(),
            },
            Ty::List(element) if self.random.chance(50) => {
                let head = self.leaf(element);
                format!("(Cons ({head}, (Nil : {ty})))")
            }
            Ty::List(_) => format!("(Nil : {ty})"),
            Ty::Tree(element) => format!("(Leaf {})", self.leaf(element)),
            Ty::Declared(declared) => {
                let text = constructor(self, &declared.bases(declared.at), "", 0);
                format!("({text} : {ty})")
            }
        }
    }

    /// Draws a scalar constant that is a literal of the language with its type fixed.
    fn scalar(&mut self, name: &'static str) -> String {
        let text = values::scalar(&mut self.random, name);
        match text.as_str() {
            "true" | "false" => text,
            "nan" => format!("((/ 0.0 0.0) : {name})"),
            "inf" => format!("((/ 1.0 0.0) : {name})"),
            "-inf" => format!("((/ -1.0 0.0) : {name})"),
            _ => format!("({text} : {name})"),
        }
    }

    /// Draws a lambda with these parameters, annotated or not.
    pub fn function(&mut self, parameters: &[Ty], result: &Ty, fuel: usize) -> String {
        let names: Vec<String> = parameters.iter().map(|_| self.name()).collect();
        self.nesting += 1;
        self.deepest = self.deepest.max(self.nesting);
        let depth = self.scope.len();
        self.scope
            .extend(names.iter().cloned().zip(parameters.iter().cloned()));
        let body = self.expression(result, fuel);
        self.scope.truncate(depth);
        self.nesting -= 1;
        let annotated: Vec<String> = names
            .iter()
            .zip(parameters)
            .map(|(n, t)| format!("({n} : {t})"))
            .collect();
        if self.random.chance(25) {
            format!("(lambda ({}) : {result} {body})", annotated.join(" "))
        } else {
            format!("(lambda ({}) {body})", annotated.join(" "))
        }
    }
}

/// Constants without links.
impl Leaves for Draw {
    fn random(&mut self) -> &mut Random {
        &mut self.random
    }
    fn data(&mut self, ty: &Ty) -> String {
        self.leaf(ty)
    }
    fn link(&mut self, _: usize) -> String {
        "nil".into()
    }
    fn matrix(&mut self, rows: String) -> String {
        format!("(unrows {rows})")
    }
}
