//! Bodies of `foreach`, `up` and maps over tables: nodes made from nodes.
//!
//! A [`Body`] opens nodes by `case`, follows links, and makes a node of the result. What it finds
//! on the way is data, which expressions may use, or holds links, which parts of the result need.

mod convert;
mod data;

use super::declared::pattern;
use super::expression::Draw;
use super::types::{self, BOOL, Declared, Part};

/// How the links of a form are written.
#[derive(Clone)]
pub enum Form {
    /// `foreach`, with the names of its functions.
    Foreach { rename: String, follow: String },
    /// A map over a table with this name. Links are `int`.
    Table(String),
    /// `up`: links are names, and cannot be followed.
    Up,
}

/// The types of a form.
pub struct Types {
    pub form: Form,
    /// The type of the data whose nodes are read.
    pub source: Declared,
    /// The type of the result, of a group with as many sums.
    pub target: Declared,
}

/// A name that holds links.
#[derive(Clone)]
struct Held {
    name: String,
    part: Part,
    /// True if its links are used and may not be used again.
    spent: bool,
}

/// The state of drawing one body.
pub struct Body<'a> {
    pub draw: &'a mut Draw,
    types: &'a Types,
    /// The sum of the target that the body makes.
    at: usize,
    held: Vec<Held>,
    /// The functions by which nested forms rename the links of sums between nodes.
    inner: Vec<String>,
    /// Sums between nodes around the part that is made.
    sums: usize,
    /// True if operations on data of nodes shall often fail.
    pub fails: bool,
    fuel: usize,
}

/// The first number of links to sums between nodes. Those of each nested form have a hundred.
const INNER: usize = 100;

impl<'a> Body<'a> {
    /// Starts a body that makes a node of this sum of the target's group.
    pub fn new(draw: &'a mut Draw, types: &'a Types, at: usize, fuel: usize) -> Self {
        Body {
            draw,
            types,
            at,
            held: Vec::new(),
            inner: Vec::new(),
            sums: 0,
            fails: false,
            fuel,
        }
    }

    /// Holds a link of a kind.
    pub fn hold_link(&mut self, name: &str, kind: usize) {
        self.hold(name.to_string(), Part::Link(kind));
    }

    /// Draws a body for the node with this name.
    pub fn of_node(&mut self, node: &str) -> String {
        if self.draw.random.chance(4) {
            return self.node();
        }
        self.open(node, self.at, 2)
    }

    /// Draws a body from the links that it was given.
    pub fn of_links(&mut self) -> String {
        self.kept(|body| body.arm(0))
    }

    /// Draws a `case` on a node of a kind of the source, whose arms are bodies.
    fn open(&mut self, node: &str, kind: usize, depth: usize) -> String {
        let mut constructors = self.types.source.constructors(kind);
        let mut rest = String::new();
        let few = if depth < 2 { 70 } else { 10 };
        if constructors.len() > 1 && self.draw.random.chance(few) {
            // With an arm for the others.
            let keep = 1 + self.draw.random.below(constructors.len() - 1);
            let first = self.draw.random.below(constructors.len());
            constructors.rotate_left(first);
            constructors.truncate(keep);
            let body = self.kept(|body| body.arm(depth));
            rest = format!(" (_ {body})");
        }
        let arms: String = constructors
            .iter()
            .map(|(name, payload)| {
                let arm = self.bound(name, payload.as_ref(), |body| body.arm(depth));
                format!(" {arm}")
            })
            .collect();
        format!("(case {node}{arms}{rest})")
    }

    /// Draws an arm for a constructor of a node, with its payload in scope.
    fn bound(
        &mut self,
        constructor: &str,
        payload: Option<&Part>,
        arm: impl FnOnce(&mut Self) -> String,
    ) -> String {
        self.kept(|body| {
            let pattern = match payload {
                None => String::new(),
                Some(part) => format!("{} ", body.pattern(part)),
            };
            let text = arm(body);
            format!("({constructor}* {pattern}{text})")
        })
    }

    /// Runs a function, and forgets what it holds and uses.
    fn kept<R>(&mut self, run: impl FnOnce(&mut Self) -> R) -> R {
        let (held, depth) = (self.held.clone(), self.draw.scope.len());
        let result = run(self);
        self.held = held;
        self.draw.scope.truncate(depth);
        result
    }

    /// Binds a part to names, in a pattern.
    fn pattern(&mut self, part: &Part) -> String {
        match part {
            Part::Tuple(parts) if self.draw.random.chance(80) => {
                let names: Vec<String> = parts.iter().map(|part| self.pattern(part)).collect();
                format!("({})", names.join(", "))
            }
            part => {
                let name = self.draw.name();
                self.hold(name.clone(), part.clone());
                name
            }
        }
    }

    fn hold(&mut self, name: String, part: Part) {
        match part.plain() {
            Some(ty) => self.draw.scope.push((name, ty)),
            None => self.held.push(Held {
                name,
                part,
                spent: false,
            }),
        }
    }

    /// Draws what an arm does before it makes a node.
    fn arm(&mut self, depth: usize) -> String {
        let follows = !matches!(self.types.form, Form::Up);
        match self.draw.random.below(20) {
            0..=8 if follows && depth > 0 => {
                if let Some((name, kind)) = self.link() {
                    self.spend(&name);
                    let node = self.follow(kind, &name);
                    return self.open(&node, kind, depth - 1);
                }
                self.node()
            }
            9..=10 if follows && depth > 0 => self.further(depth),
            11 => {
                let condition = self.draw.expression(&BOOL, 1);
                let then = self.kept(Body::node);
                let otherwise = self.kept(Body::node);
                format!("(if {condition} {then} {otherwise})")
            }
            12 => {
                let ty = types::any(&mut self.draw.random, 1);
                let value = self.data(&ty);
                let name = self.draw.name();
                self.draw.scope.push((name.clone(), ty.clone()));
                let node = self.node();
                format!("(let ({name} ({value} : {ty})) in {node})")
            }
            _ => self.node(),
        }
    }

    /// Draws an arm in which a link stands for one that some steps lead to.
    fn further(&mut self, depth: usize) -> String {
        let Some((name, kind)) = self.link() else {
            return self.node();
        };
        let [state, last] = [(); 2].map(|()| self.draw.name());
        let Some((pattern, next)) = self.step(kind) else {
            return self.node();
        };
        self.spend(&name);
        let node = self.follow(kind, &state);
        let steps = self.draw.random.below(4);
        self.hold(last.clone(), Part::Link(kind));
        let body = self.arm(depth - 1);
        format!(
            "(let ({last} (iterate {steps} (lambda ({state}) (case {node} \
             ({pattern} {next}) (_ {state}))) {name})) in {body})"
        )
    }

    /// Returns a pattern for a node with a link to one of its kind, and the name of this link, if
    /// there is such a constructor, which is not the only one.
    fn step(&mut self, kind: usize) -> Option<(String, String)> {
        let constructors = self.types.source.constructors(kind);
        if constructors.len() < 2 {
            return None;
        }
        let next = self.draw.name();
        let own = Part::Link(kind);
        constructors.iter().find_map(|(name, payload)| {
            let pattern = pattern(payload.as_ref()?, &next, &|part| *part == own)?;
            Some((format!("{name}* {pattern}"), next.clone()))
        })
    }

    /// Draws a node of the target.
    pub fn node(&mut self) -> String {
        let constructors = self.types.target.constructors(self.at);
        for _ in 0..4 {
            let (name, payload) = self.draw.random.pick(&constructors).clone();
            let linked = payload.as_ref().is_some_and(Part::has_link);
            if !linked && self.draw.random.chance(60) {
                continue;
            }
            if let Some(node) = self.construct(&name, payload.as_ref()) {
                return node;
            }
        }
        let bases = self.types.target.bases(self.at);
        let (name, payload) = self.draw.random.pick(&bases).clone();
        self.construct(&name, payload.as_ref())
            .unwrap_or_else(|| "nil".into())
    }

    /// Writes a node, if its payload can be made.
    fn construct(&mut self, name: &str, payload: Option<&Part>) -> Option<String> {
        let Some(part) = payload else {
            return Some(format!("{name}*"));
        };
        let made = self.make_whole(part)?;
        Some(format!("({name}* {made})"))
    }

    /// Picks a name of a link that may be used.
    fn link(&mut self) -> Option<(String, usize)> {
        let links: Vec<(String, usize)> = self
            .held
            .iter()
            .filter(|held| !held.spent)
            .filter_map(|held| match held.part {
                Part::Link(kind) => Some((held.name.clone(), kind)),
                _ => None,
            })
            .collect();
        (!links.is_empty()).then(|| self.draw.random.pick(&links).clone())
    }

    /// Says that the links of a name are used.
    fn spend(&mut self, name: &str) {
        let linear = self.draw.linear;
        for held in self.held.iter_mut().filter(|held| held.name == name) {
            held.spent = linear;
        }
    }

    /// Writes the node that a link leads to.
    fn follow(&self, kind: usize, link: &str) -> String {
        match &self.types.form {
            Form::Foreach { follow, .. } => format!("({follow} {link})"),
            Form::Table(table) => format!("({} ! {link})", self.types.table(table, kind)),
            Form::Up => link.to_string(),
        }
    }

    /// Writes the link of the result for a link.
    fn rename(&mut self, kind: usize, link: &str) -> String {
        if let Some(level) = (kind / INNER).checked_sub(1) {
            return format!("({} {link})", self.inner[level]);
        }
        match &self.types.form {
            Form::Foreach { rename, .. } => {
                let single = self.types.source.group.sums.len() == 1;
                match self.draw.random.below(20) {
                    0 if single => format!("((compose {rename} (lambda (z) z)) {link})"),
                    1 if single => {
                        let condition = self.draw.expression(&BOOL, 1);
                        format!("((if {condition} then {rename} else {rename}) {link})")
                    }
                    2 => format!("((lambda (z) ({rename} z)) {link})"),
                    _ => format!("({rename} {link})"),
                }
            }
            Form::Table(_) | Form::Up => link.to_string(),
        }
    }

    /// Returns a function that renames links of a kind, if links change.
    fn renaming(&self, kind: usize) -> Option<String> {
        if let Some(level) = (kind / INNER).checked_sub(1) {
            return Some(self.inner[level].clone());
        }
        match &self.types.form {
            Form::Foreach { rename, .. } => Some(rename.clone()),
            Form::Table(_) | Form::Up => None,
        }
    }
}

impl Types {
    /// Writes the vector of a table in which the nodes of a kind stand.
    pub fn table(&self, name: &str, kind: usize) -> String {
        let order = self.source.order();
        match order.iter().position(|&k| k == kind) {
            Some(place) if order.len() > 1 => format!("{name}.{place}"),
            _ => name.to_string(),
        }
    }
}
