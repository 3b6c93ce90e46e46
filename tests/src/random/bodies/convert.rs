//! The parts of a node of the result, from what a body holds.

use super::{Body, Form, INNER};
use crate::random::declared::{pattern, sum_constructors, sum_ends};
use crate::random::types::{BOOL, Constructor, Group, Part, Ty};
use std::rc::Rc;

/// The depth of sums in which vectors have elements.
const MOST_SUMS: usize = 4;

/// The depth of sums beyond which a value is given up. Some sums end only in each other.
const DEEPEST_SUM: usize = 16;

impl Body<'_> {
    /// Makes a part of the target, if the links that it needs are held.
    pub(super) fn make(&mut self, part: &Part) -> Option<String> {
        if let Some(ty) = part.plain() {
            return Some(self.data(&ty));
        }
        if let Some(text) = self.of_held(part) {
            return Some(text);
        }
        match part {
            Part::Data(_) | Part::Parameter(_) | Part::Link(_) => None,
            Part::Tuple(parts) => {
                let parts: Option<Vec<String>> = parts.iter().map(|part| self.make(part)).collect();
                Some(format!("({})", parts?.join(", ")))
            }
            // A value without links may be a vector of the same sum.
            Part::Vector(_) if self.sums > MOST_SUMS => Some("[]".into()),
            Part::Vector(element) => Some(self.make_vector(element)),
            Part::Matrix(element) => {
                let one = match self.sums <= MOST_SUMS && self.draw.random.chance(60) {
                    true => self.make(element),
                    false => None,
                };
                Some(match one {
                    Some(text) => format!("(reshape (1, 1) [{text}])"),
                    None => "(reshape (0, 2) [])".into(),
                })
            }
            Part::Sum(group, at, arguments) => self.make_sum(group, *at, arguments),
        }
    }

    /// Makes a part from a name that holds one with links at the same places. Links are always made
    /// so, others mostly.
    fn of_held(&mut self, part: &Part) -> Option<String> {
        let is_link = matches!(part, Part::Link(_));
        if !is_link && self.draw.random.chance(15) {
            return None;
        }
        let names: Vec<(String, Part)> = self
            .held
            .iter()
            .filter(|held| !held.spent && alike(&held.part, part))
            .map(|held| (held.name.clone(), held.part.clone()))
            .collect();
        if names.is_empty() {
            return None;
        }
        let (name, from) = self.draw.random.pick(&names).clone();
        self.spend(&name);
        let text = self.convert(&from, part, &name);
        match part {
            Part::Vector(_) => Some(self.rearranged(&from, part, &name, text)),
            _ => Some(text),
        }
    }

    /// Draws an operation on a vector of links, now and then.
    fn rearranged(&mut self, from: &Part, to: &Part, name: &str, text: String) -> String {
        let other = self.draw.name();
        match self.draw.random.below(24) {
            0 => format!("(reverse {text})"),
            1 => format!("(rotate 1 {text})"),
            2 => format!("(let ({other} {text}) in (slice 0 2 (length {other}) {other}))"),
            3 => format!(
                "(let ({other} {text}) in (permute (reverse (range (length {other}))) {other}))"
            ),
            4 if !self.draw.linear => {
                let again = self.convert(from, to, name);
                format!("(concat {text} {again})")
            }
            5..=8 => self.selected(from, to, name).unwrap_or(text),
            9..=13 => self.beyond(from, to, name).unwrap_or(text),
            _ => text,
        }
    }

    /// Draws the links of a vector whose nodes have a constructor, if they can be followed.
    fn selected(&mut self, from: &Part, to: &Part, name: &str) -> Option<String> {
        let (kind, constructors) = self.followed(from)?;
        let (constructor, payload) = self.draw.random.pick(&constructors).clone();
        let (link, filtered) = (self.draw.name(), self.draw.name());
        let node = self.follow(kind, &link);
        let arm = self.bound(&constructor, payload.as_ref(), |body| {
            body.draw.expression(&BOOL, 2)
        });
        let rest = if constructors.len() == 1 {
            ""
        } else {
            " (_ false)"
        };
        let text = self.convert(from, to, &filtered);
        Some(format!(
            "(let ({filtered} (filter (lambda ({link}) (case {node} {arm}{rest})) {name})) in {text})"
        ))
    }

    /// Draws the links of the nodes that a vector of links leads to.
    fn beyond(&mut self, from: &Part, to: &Part, name: &str) -> Option<String> {
        let (kind, constructors) = self.followed(from)?;
        let [link, further] = [(); 2].map(|()| self.draw.name());
        let found = constructors.iter().find_map(|(constructor, payload)| {
            let payload = payload.as_ref()?;
            let wanted = |part: &Part| alike(part, to);
            let pattern = pattern(payload, &further, &wanted)?;
            let parts = match payload {
                Part::Tuple(parts) => parts.as_slice(),
                part => std::slice::from_ref(part),
            };
            let part = parts.iter().find(|part| wanted(part))?.clone();
            Some((format!("{constructor}* {pattern}"), part))
        });
        let (pattern, part) = found?;
        let node = self.follow(kind, &link);
        let text = self.convert(&part, to, &further);
        let rest = if constructors.len() == 1 {
            ""
        } else {
            " (_ [])"
        };
        Some(format!(
            "(flatten (map (lambda ({link}) (case {node} ({pattern} {text}){rest})) {name}))"
        ))
    }

    /// Returns the kind of the links of a vector of links, and the constructors of their nodes, if
    /// they can be followed.
    fn followed(&self, from: &Part) -> Option<(usize, Vec<Constructor>)> {
        let Part::Vector(element) = from else {
            return None;
        };
        match (&**element, &self.types.form) {
            (Part::Link(kind), Form::Foreach { .. } | Form::Table(_)) if *kind < INNER => {
                Some((*kind, self.types.source.constructors(*kind)))
            }
            _ => None,
        }
    }

    /// Makes a short vector of the parts that can be made.
    fn make_vector(&mut self, element: &Part) -> String {
        let count = self.draw.random.below(if self.sums > 1 { 1 } else { 4 });
        let items: Vec<String> = (0..count)
            .filter_map(|_| self.make_whole(element))
            .collect();
        format!("[{}]", items.join(" "))
    }

    /// Makes a value of a sum between nodes.
    fn make_sum(&mut self, group: &Rc<Group>, at: usize, arguments: &[Part]) -> Option<String> {
        if self.sums > DEEPEST_SUM {
            return None;
        }
        let all = sum_constructors(group, at, arguments);
        let (name, payload) = self.draw.random.pick(&all).clone();
        let tried = match payload {
            _ if self.sums > 1 || self.draw.random.chance(30) => None,
            None => Some(name),
            Some(part) => {
                self.sums += 1;
                let made = self.make_whole(&part);
                self.sums -= 1;
                made.map(|text| format!("({name} {text})"))
            }
        };
        if tried.is_some() {
            return tried;
        }
        let mut ends = sum_ends(group, at, arguments);
        let first = self.draw.random.below(ends.len());
        ends.rotate_left(first);
        self.sums += 1;
        let made = ends.iter().find_map(|(name, payload)| match payload {
            None => Some(name.clone()),
            Some(part) => self.make_whole(part).map(|text| format!("({name} {text})")),
        });
        self.sums -= 1;
        made
    }

    /// Makes a part, or spends nothing.
    pub(super) fn make_whole(&mut self, part: &Part) -> Option<String> {
        let held = self.held.clone();
        let made = self.make(part);
        if made.is_none() {
            self.held = held;
        }
        made
    }

    /// Writes a part of the source as the part of the target with links at the same places.
    pub(super) fn convert(&mut self, from: &Part, to: &Part, text: &str) -> String {
        let renames = matches!(self.types.form, Form::Foreach { .. }) || !self.inner.is_empty();
        if !renames && from == to && self.draw.random.chance(70) {
            return text.to_string();
        }
        match (from, to) {
            (_, to) if !to.has_link() => {
                let ty = to.ty(&|_| Ty::Unit);
                let same = from.plain().is_some_and(|from| from == ty);
                match same && self.draw.random.chance(70) {
                    true => text.to_string(),
                    false => self.data(&ty),
                }
            }
            (Part::Link(kind), _) => self.rename(*kind, text),
            (Part::Tuple(from), Part::Tuple(to)) => {
                let names: Vec<String> = from.iter().map(|_| self.draw.name()).collect();
                let depth = self.draw.scope.len();
                self.scope_plain(&names, from);
                let parts = from.iter().zip(to).zip(&names);
                let parts: Vec<String> = parts
                    .map(|((from, to), name)| self.convert(from, to, name))
                    .collect();
                self.draw.scope.truncate(depth);
                format!(
                    "(let (({}) {text}) in ({}))",
                    names.join(", "),
                    parts.join(", ")
                )
            }
            (Part::Vector(from), Part::Vector(to)) => self.convert_vector(from, to, text),
            (Part::Matrix(from), Part::Matrix(to)) => {
                let [matrix, i, j] = [(); 3].map(|()| self.draw.name());
                let one = self.convert(from, to, &format!("({matrix} ! ({i}, {j}))"));
                format!(
                    "(let ({matrix} {text}) in (tabulate (shape {matrix}) (lambda (({i}, {j})) {one})))"
                )
            }
            (Part::Sum(group, at, from), Part::Sum(_, _, to)) => {
                self.convert_sum((group, *at), from, to, text)
            }
            (from, _) => {
                debug_assert!(false, "{from:?} is unlike {to:?}");
                text.to_string()
            }
        }
    }

    /// Brings those parts that hold no links into scope.
    fn scope_plain(&mut self, names: &[String], parts: &[Part]) {
        for (name, part) in names.iter().zip(parts) {
            if let Some(ty) = part.plain() {
                self.draw.scope.push((name.clone(), ty));
            }
        }
    }

    fn convert_vector(&mut self, from: &Part, to: &Part, text: &str) -> String {
        if let Part::Link(kind) = from {
            match self.renaming(*kind) {
                None => return text.to_string(),
                Some(rename) if self.draw.random.chance(70) => {
                    return format!("(map {rename} {text})");
                }
                Some(_) => {}
            }
        }
        let name = self.draw.name();
        let depth = self.draw.scope.len();
        self.scope_plain(std::slice::from_ref(&name), std::slice::from_ref(from));
        let one = self.convert(from, to, &name);
        self.draw.scope.truncate(depth);
        format!("(map (lambda ({name}) {one}) {text})")
    }

    /// Writes the conversion of a sum between nodes: a `case`, or a `foreach` if it is recursive.
    fn convert_sum(
        &mut self,
        (group, at): (&Rc<Group>, usize),
        from: &[Part],
        to: &[Part],
        text: &str,
    ) -> String {
        if !group.is_recursive() {
            let arms = self.convert_arms(group, at, (from, to), "", &|k| Part::Link(k));
            return format!("(case {text}{arms})");
        }
        let [rename, follow, node] = [(); 3].map(|()| self.draw.name());
        self.inner.push(rename.clone());
        let base = INNER * self.inner.len();
        let others = (0..group.sums.len()).filter(|&k| k != at);
        let order: Vec<usize> = std::iter::once(at).chain(others).collect();
        let bodies: Vec<String> = order
            .iter()
            .map(|&k| {
                let arms = self.convert_arms(group, k, (from, to), "*", &|k| Part::Link(base + k));
                format!("(case {node}{arms})")
            })
            .collect();
        self.inner.pop();
        let others: Vec<String> = order[1..]
            .iter()
            .map(|&k| format!(" ({node} {})", group.sums[k].name))
            .collect();
        let datum = format!("({node} {text})");
        let head = match others.is_empty() {
            true => datum,
            false => format!("({datum}{})", others.concat()),
        };
        format!("(foreach {head} ({rename} {follow}) {})", bodies.join(" "))
    }

    fn convert_arms(
        &mut self,
        group: &Rc<Group>,
        at: usize,
        (from, to): (&[Part], &[Part]),
        star: &str,
        link: &dyn Fn(usize) -> Part,
    ) -> String {
        let constructors = group.sums[at].constructors.iter();
        constructors
            .map(|(name, payload)| {
                let Some(part) = payload else {
                    return format!(" ({name}{star} {name}{star})");
                };
                let (from, to) = (part.expand(from, link), part.expand(to, link));
                let bound = self.draw.name();
                let depth = self.draw.scope.len();
                self.scope_plain(std::slice::from_ref(&bound), std::slice::from_ref(&from));
                let text = self.convert(&from, &to, &bound);
                self.draw.scope.truncate(depth);
                format!(" ({name}{star} {bound} ({name}{star} {text}))")
            })
            .collect()
    }
}

/// True if links stand at the same places of two parts.
fn alike(a: &Part, b: &Part) -> bool {
    match (a, b) {
        (a, b) if !b.has_link() => !a.has_link(),
        (Part::Link(a), Part::Link(b)) => a == b,
        (Part::Tuple(a), Part::Tuple(b)) => all_alike(a, b),
        (Part::Vector(a), Part::Vector(b)) | (Part::Matrix(a), Part::Matrix(b)) => alike(a, b),
        (Part::Sum(g, k, a), Part::Sum(h, l, b)) => g == h && k == l && all_alike(a, b),
        (
            Part::Data(_)
            | Part::Parameter(_)
            | Part::Link(_)
            | Part::Tuple(_)
            | Part::Vector(_)
            | Part::Matrix(_)
            | Part::Sum(..),
            _,
        ) => false,
    }
}

fn all_alike(a: &[Part], b: &[Part]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b))
}
