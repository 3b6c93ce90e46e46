//! The sums that random programs declare: those of the prelude as groups, and random groups.

use super::Random;
use super::types::{self, Constructor, Declared, Group, Part, Sum, Ty};
use std::rc::Rc;

/// The names of type parameters.
const PARAMETERS: [&str; 2] = ["'a", "'b"];

/// The depth of sums in each other in which a value without links is looked for.
const DEEPEST_BASE: usize = 12;

/// The depth of sums in each other in which the shallowest value is looked for.
const DEEPEST_END: usize = 24;

impl Ty {
    /// Returns a sum with parameters as an instance of its group.
    pub fn declared(&self) -> Option<Declared> {
        let (group, argument) = match self {
            Ty::Declared(declared) => return Some(declared.clone()),
            Ty::Maybe(element) => (maybe(), element),
            Ty::List(element) => (list(), element),
            Ty::Tree(element) => (tree(), element),
            Ty::Scalar(_)
            | Ty::Unit
            | Ty::Tuple(_)
            | Ty::Vector(_)
            | Ty::Matrix(_)
            | Ty::Shape
            | Ty::Function(..) => return None,
        };
        Some(Declared {
            group,
            at: 0,
            arguments: vec![(**argument).clone()],
        })
    }

    /// Returns a recursive sum as an instance of its group.
    pub fn recursive(&self) -> Option<Declared> {
        self.declared().filter(|d| d.group.is_recursive())
    }
}

impl Declared {
    /// Returns the type of a sum of the group, with the same arguments.
    pub fn ty(&self, at: usize) -> Ty {
        let first = || Box::new(self.arguments[0].clone());
        match self.group.sums[at].name.as_str() {
            "Maybe" => Ty::Maybe(first()),
            "List" => Ty::List(first()),
            "Tree" => Ty::Tree(first()),
            _ => Ty::Declared(Declared { at, ..self.clone() }),
        }
    }

    /// Returns the constructors of a sum of the group, with payloads without parameters.
    pub fn constructors(&self, at: usize) -> Vec<Constructor> {
        let arguments: Vec<Part> = self.arguments.iter().cloned().map(Part::Data).collect();
        expanded(&self.group.sums[at], &arguments, &Part::Link)
    }

    /// Returns the constructors of a sum of the group that have a value without links.
    pub fn bases(&self, at: usize) -> Vec<Constructor> {
        let mut found = self.constructors(at);
        found.retain(|(_, payload)| is_base(payload));
        found
    }

    /// Returns the name of a node type of the group, with links of a type.
    pub fn node_type(&self, at: usize, link: &str) -> String {
        let mut text = format!("({}*", self.group.sums[at].name);
        for argument in &self.arguments {
            text += &format!(" {}", types::Atomic(argument));
        }
        text + &format!(" {link}").repeat(self.group.sums.len()) + ")"
    }

    /// Returns the numbers of the sums of the group in the order of a table: its own, then the
    /// others.
    pub fn order(&self) -> Vec<usize> {
        let others = (0..self.group.sums.len()).filter(|&k| k != self.at);
        std::iter::once(self.at).chain(others).collect()
    }
}

impl Group {
    /// True if its sums contain themselves.
    pub fn is_recursive(&self) -> bool {
        let payloads = self.sums.iter().flat_map(|sum| &sum.constructors);
        payloads
            .filter_map(|(_, payload)| payload.as_ref())
            .any(Part::has_link)
    }

    /// True if a parameter stands in no payload.
    fn has_phantom(&self) -> bool {
        (0..self.parameters).any(|k| {
            let payloads = self.sums.iter().flat_map(|sum| &sum.constructors);
            !payloads
                .filter_map(|(_, payload)| payload.as_ref())
                .any(|part| part.has_parameter(k))
        })
    }

    /// Writes the declarations of its sums.
    pub fn text(&self) -> String {
        let sums: Vec<String> = self
            .sums
            .iter()
            .map(|sum| {
                let constructors: Vec<String> = sum
                    .constructors
                    .iter()
                    .map(|(name, payload)| match payload {
                        None => format!("({name} : unit)"),
                        Some(part) => format!("({name} : {})", self.part(part)),
                    })
                    .collect();
                let parameters = &PARAMETERS[..self.parameters];
                let name = [&[sum.name.as_str()], parameters].concat().join(" ");
                format!("({name} : (+ {}))", constructors.join(" "))
            })
            .collect();
        sums.join("\n  ")
    }

    /// Writes a part of a payload as a type.
    fn part(&self, part: &Part) -> String {
        match part {
            Part::Data(ty) => types::Atomic(ty).to_string(),
            Part::Parameter(k) => PARAMETERS[*k].to_string(),
            Part::Link(k) => self.own(*k),
            Part::Tuple(parts) => {
                let parts: Vec<String> = parts.iter().map(|p| self.part(p)).collect();
                format!("({})", parts.join(", "))
            }
            Part::Vector(element) => format!("(vector {})", self.part(element)),
            Part::Matrix(element) => format!("(vector#2 {})", self.part(element)),
            Part::Sum(group, at, arguments) => {
                let arguments: Vec<String> = arguments.iter().map(|p| self.part(p)).collect();
                format!("({} {})", group.sums[*at].name, arguments.join(" "))
            }
        }
    }

    fn own(&self, at: usize) -> String {
        let name = &self.sums[at].name;
        match self.parameters {
            0 => name.clone(),
            count => format!("({name} {})", PARAMETERS[..count].join(" ")),
        }
    }
}

impl Part {
    /// True if a link of the group stands in it.
    pub fn has_link(&self) -> bool {
        match self {
            Part::Data(_) | Part::Parameter(_) => false,
            Part::Link(_) => true,
            Part::Tuple(parts) | Part::Sum(_, _, parts) => parts.iter().any(Part::has_link),
            Part::Vector(element) | Part::Matrix(element) => element.has_link(),
        }
    }

    /// True if a parameter stands in it.
    fn has_parameter(&self, number: usize) -> bool {
        match self {
            Part::Data(_) | Part::Link(_) => false,
            Part::Parameter(k) => *k == number,
            Part::Tuple(parts) | Part::Sum(_, _, parts) => {
                parts.iter().any(|part| part.has_parameter(number))
            }
            Part::Vector(element) | Part::Matrix(element) => element.has_parameter(number),
        }
    }

    /// True if it has a value without links. Every sum has one without its own links.
    pub fn is_base(&self) -> bool {
        self.is_base_within(DEEPEST_BASE)
    }

    /// True if it has a value without links in which sums stand in so many others at most.
    fn is_base_within(&self, depth: usize) -> bool {
        match self {
            Part::Data(_) | Part::Parameter(_) | Part::Vector(_) | Part::Matrix(_) => true,
            Part::Link(_) => false,
            Part::Tuple(parts) => parts.iter().all(|part| part.is_base_within(depth)),
            Part::Sum(group, at, arguments) => {
                let is_base =
                    |own: &Option<Part>| own.as_ref().is_none_or(|p| p.is_base_within(depth - 1));
                let own = || expanded(&group.sums[*at], arguments, &Part::Link);
                depth > 0 && own().iter().any(|(_, payload)| is_base(payload))
            }
        }
    }

    /// True if it has a value in which sums stand in so many others at most.
    fn ends_within(&self, depth: usize) -> bool {
        match self {
            Part::Data(_)
            | Part::Parameter(_)
            | Part::Link(_)
            | Part::Vector(_)
            | Part::Matrix(_) => true,
            Part::Tuple(parts) => parts.iter().all(|part| part.ends_within(depth)),
            Part::Sum(group, at, arguments) => {
                let ends =
                    |own: &Option<Part>| own.as_ref().is_none_or(|p| p.ends_within(depth - 1));
                let all = || sum_constructors(group, *at, arguments);
                depth > 0 && all().iter().any(|(_, payload)| ends(payload))
            }
        }
    }

    /// Returns the part with arguments for the parameters and other parts for the links.
    pub fn expand(&self, arguments: &[Part], link: &dyn Fn(usize) -> Part) -> Part {
        let all = |parts: &[Part]| parts.iter().map(|p| p.expand(arguments, link)).collect();
        match self {
            Part::Data(ty) => Part::Data(ty.clone()),
            Part::Parameter(k) => arguments[*k].clone(),
            Part::Link(k) => link(*k),
            Part::Tuple(parts) => Part::Tuple(all(parts)),
            Part::Vector(element) => Part::Vector(Box::new(element.expand(arguments, link))),
            Part::Matrix(element) => Part::Matrix(Box::new(element.expand(arguments, link))),
            Part::Sum(group, at, parts) => Part::Sum(group.clone(), *at, all(parts)),
        }
    }

    /// Returns its type, given those of the links.
    pub fn ty(&self, link: &dyn Fn(usize) -> Ty) -> Ty {
        let all = |parts: &[Part]| parts.iter().map(|p| p.ty(link)).collect();
        match self {
            Part::Data(ty) => ty.clone(),
            Part::Parameter(_) => Ty::Unit,
            Part::Link(k) => link(*k),
            Part::Tuple(parts) => Ty::Tuple(all(parts)),
            Part::Vector(element) => element.ty(link).vector(),
            Part::Matrix(element) => Ty::Matrix(Box::new(element.ty(link))),
            Part::Sum(group, at, parts) => {
                let group = group.clone();
                let (at, arguments) = (*at, all(parts));
                Declared {
                    group,
                    at,
                    arguments,
                }
                .ty(at)
            }
        }
    }

    /// Returns its type, if no link stands in it.
    pub fn plain(&self) -> Option<Ty> {
        (!self.has_link()).then(|| self.ty(&|_| Ty::Unit))
    }
}

/// Returns a pattern for a payload that binds this name to a part that is `wanted`, if there is one
/// in the payload itself.
pub fn pattern(payload: &Part, name: &str, wanted: &dyn Fn(&Part) -> bool) -> Option<String> {
    match payload {
        part if wanted(part) => Some(name.to_string()),
        Part::Tuple(parts) => {
            let at = parts.iter().position(wanted)?;
            let names = (0..parts.len()).map(|k| if k == at { name } else { "_" });
            Some(format!("({})", names.collect::<Vec<&str>>().join(", ")))
        }
        Part::Data(_)
        | Part::Parameter(_)
        | Part::Link(_)
        | Part::Vector(_)
        | Part::Matrix(_)
        | Part::Sum(..) => None,
    }
}

/// Returns the constructors of a sum, with arguments for the parameters in their payloads.
fn expanded(sum: &Sum, arguments: &[Part], link: &dyn Fn(usize) -> Part) -> Vec<Constructor> {
    sum.constructors
        .iter()
        .map(|(name, payload)| {
            let payload = payload.as_ref().map(|part| part.expand(arguments, link));
            (name.clone(), payload)
        })
        .collect()
}

/// Returns the constructors of a sum of another group in a part.
pub fn sum_constructors(group: &Rc<Group>, at: usize, arguments: &[Part]) -> Vec<Constructor> {
    expanded(&group.sums[at], arguments, &|k| {
        Part::Sum(group.clone(), k, arguments.to_vec())
    })
}

/// Returns those constructors of a sum in a part that have a value without links.
pub fn sum_bases(group: &Rc<Group>, at: usize, arguments: &[Part]) -> Vec<Constructor> {
    let all = sum_constructors(group, at, arguments);
    let own = expanded(&group.sums[at], arguments, &Part::Link);
    own.into_iter()
        .zip(all)
        .filter(|((_, own), _)| is_base(own))
        .map(|(_, constructor)| constructor)
        .collect()
}

/// Returns those constructors of a sum in a part that do not need a value of the same group. There
/// is always one.
pub fn sum_ends(group: &Rc<Group>, at: usize, arguments: &[Part]) -> Vec<Constructor> {
    let all = sum_constructors(group, at, arguments);
    let own = group.sums[at].constructors.iter();
    own.zip(all)
        .filter(|((_, own), _)| is_base(own))
        .map(|(_, constructor)| constructor)
        .collect()
}

/// Returns those constructors of a sum in a part whose values end soonest: with the fewest sums in
/// each other. They have a value without links if any constructor has.
pub fn sum_shallowest(group: &Rc<Group>, at: usize, arguments: &[Part]) -> Vec<Constructor> {
    let all = sum_constructors(group, at, arguments);
    let own = expanded(&group.sums[at], arguments, &Part::Link);
    let within = |depth: usize| {
        let is_base = |own: &Option<Part>| own.as_ref().is_none_or(|p| p.is_base_within(depth));
        chosen(&all, own.iter().map(|(_, own)| is_base(own)))
    };
    let ends = |depth: usize| {
        let ends = |part: &Option<Part>| part.as_ref().is_none_or(|p| p.ends_within(depth));
        chosen(&all, all.iter().map(|(_, part)| ends(part)))
    };
    let mut found = (0..DEEPEST_BASE)
        .map(within)
        .chain((0..DEEPEST_END).map(ends));
    let found = found.find(|chosen| !chosen.is_empty());
    found.unwrap_or(all.clone())
}

/// Returns those constructors that are marked.
fn chosen(all: &[Constructor], marks: impl Iterator<Item = bool>) -> Vec<Constructor> {
    let marked = all.iter().zip(marks).filter(|(_, mark)| *mark);
    marked.map(|(constructor, _)| constructor.clone()).collect()
}

/// True if a payload has a value without links.
pub fn is_base(payload: &Option<Part>) -> bool {
    payload.as_ref().is_none_or(Part::is_base)
}

fn sum(name: &str, constructors: &[(&str, Option<Part>)]) -> Sum {
    let constructors = constructors.iter();
    Sum {
        name: name.to_string(),
        constructors: constructors
            .map(|(name, payload)| (name.to_string(), payload.clone()))
            .collect(),
    }
}

fn prelude(parameters: usize, sum: Sum) -> Rc<Group> {
    Rc::new(Group {
        parameters,
        sums: vec![sum],
    })
}

/// Returns `Maybe` of the prelude.
pub fn maybe() -> Rc<Group> {
    let some = Some(Part::Parameter(0));
    prelude(1, sum("Maybe", &[("None", None), ("Some", some)]))
}

/// Returns `Either` of the prelude.
fn either() -> Rc<Group> {
    let [left, right] = [0, 1].map(|k| Some(Part::Parameter(k)));
    prelude(2, sum("Either", &[("Left", left), ("Right", right)]))
}

/// Returns `List` of the prelude.
pub fn list() -> Rc<Group> {
    let cons = Some(Part::Tuple(vec![Part::Parameter(0), Part::Link(0)]));
    prelude(1, sum("List", &[("Nil", None), ("Cons", cons)]))
}

/// Returns `Tree` of the prelude.
pub fn tree() -> Rc<Group> {
    let node = Some(Part::Tuple(vec![Part::Link(0), Part::Link(0)]));
    let leaf = Some(Part::Parameter(0));
    prelude(1, sum("Tree", &[("Leaf", leaf), ("Node", node)]))
}

/// Draws groups of recursive sums, each with a name that begins with this one. Later ones may
/// contain earlier ones.
pub fn groups(random: &mut Random, name: &str) -> Vec<Rc<Group>> {
    let count = 1 + random.below(3);
    let mut found: Vec<Rc<Group>> = Vec::new();
    for number in 0..count {
        let size = [1, 1, 1, 2, 2, 3][random.below(6)];
        let parameters = [0, 1, 1, 2][random.below(4)];
        let mut drawing = Drawing {
            random,
            earlier: &found,
            size,
            parameters,
        };
        let sums = (0..size).map(|at| {
            let letter = ["a", "b", "c"][at];
            drawing.sum(&format!("{name}{number}{letter}"), at)
        });
        let sums = sums.collect();
        found.push(Rc::new(Group { parameters, sums }));
    }
    found
}

/// The state of drawing one group.
struct Drawing<'a> {
    random: &'a mut Random,
    earlier: &'a [Rc<Group>],
    size: usize,
    parameters: usize,
}

impl Drawing<'_> {
    /// Draws a sum: a constructor that needs no link, one with a link to the next sum of the group,
    /// and others.
    fn sum(&mut self, name: &str, at: usize) -> Sum {
        let mut payloads = vec![self.base()];
        let next = Part::Link((at + 1) % self.size);
        payloads.push(Some(self.around(next)));
        for _ in 0..self.random.below(3) {
            let payload = match self.random.below(5) {
                0 => self.base(),
                _ => Some(self.payload()),
            };
            payloads.push(payload);
        }
        let first = self.random.below(payloads.len());
        payloads.rotate_left(first);
        let constructors = payloads.into_iter().enumerate();
        Sum {
            name: format!("T{name}"),
            constructors: constructors
                .map(|(k, payload)| (format!("C{name}{k}"), payload))
                .collect(),
        }
    }

    fn base(&mut self) -> Option<Part> {
        match self.random.below(5) {
            0..=2 => None,
            3 => Some(self.data()),
            _ => {
                let links = Part::Link(self.random.below(self.size));
                let (data, links) = (self.data(), Part::Vector(Box::new(links)));
                Some(Part::Tuple(vec![data, links]))
            }
        }
    }

    fn payload(&mut self) -> Part {
        match 1 + self.random.below(4) {
            1 => self.part(2),
            count => Part::Tuple((0..count).map(|_| self.part(2)).collect()),
        }
    }

    /// Draws a payload in which a part stands.
    fn around(&mut self, part: Part) -> Part {
        let part = match self.random.below(8) {
            0 => Part::Vector(Box::new(part)),
            1 => Part::Sum(maybe(), 0, vec![part]),
            _ => part,
        };
        let mut parts = vec![part];
        for _ in 0..self.random.below(4) {
            let at = self.random.below(parts.len() + 1);
            let other = self.part(2);
            parts.insert(at, other);
        }
        match parts.len() {
            1 => parts.remove(0),
            _ => Part::Tuple(parts),
        }
    }

    /// Draws data: a parameter, or a type.
    fn data(&mut self) -> Part {
        if self.parameters > 0 && self.random.chance(60) {
            return Part::Parameter(self.random.below(self.parameters));
        }
        Part::Data(match self.random.below(12) {
            0 if !self.earlier.is_empty() => instance(self.random, self.earlier),
            0..=1 => Ty::List(Box::new(types::scalar(self.random))),
            2 => Ty::Tree(Box::new(types::scalar(self.random))),
            3..=4 => types::any(self.random, 1),
            _ => types::scalar(self.random),
        })
    }

    /// Draws a part, nested at most `depth`.
    fn part(&mut self, depth: usize) -> Part {
        let below = depth.saturating_sub(1);
        match self.random.below(40) {
            0..=14 => self.data(),
            _ if depth == 0 => Part::Link(self.random.below(self.size)),
            15..=18 => Part::Vector(Box::new(self.part(below))),
            19..=20 => Part::Sum(maybe(), 0, vec![self.part(below)]),
            21 => Part::Sum(either(), 0, vec![self.part(below), self.part(below)]),
            22 => Part::Sum(list(), 0, vec![self.part(below)]),
            23 => Part::Matrix(Box::new(self.part(0))),
            24..=25 => Part::Tuple(vec![self.part(below), self.part(below)]),
            26 => self.between(below),
            _ => Part::Link(self.random.below(self.size)),
        }
    }

    /// Draws an earlier group of sums with parts as arguments.
    fn between(&mut self, depth: usize) -> Part {
        let with = |group: &&Rc<Group>| group.parameters > 0 && !group.has_phantom();
        let groups: Vec<Rc<Group>> = self.earlier.iter().filter(with).cloned().collect();
        if groups.is_empty() {
            return Part::Sum(tree(), 0, vec![self.part(depth)]);
        }
        let group = self.random.pick(&groups).clone();
        let arguments = (0..group.parameters).map(|_| self.part(depth)).collect();
        let at = self.random.below(group.sums.len());
        Part::Sum(group, at, arguments)
    }
}

/// Draws an instance of a sum of one of these groups.
pub fn instance(random: &mut Random, groups: &[Rc<Group>]) -> Ty {
    let group = random.pick(groups).clone();
    let arguments = (0..group.parameters)
        .map(|_| match random.below(8) {
            0 => Ty::List(Box::new(types::scalar(random))),
            1 => types::any(random, 1),
            _ => types::scalar(random),
        })
        .collect();
    let at = random.below(group.sums.len());
    Ty::Declared(Declared {
        group,
        at,
        arguments,
    })
}
