//! The data of a node of the result: expressions that may read the nodes that links lead to.

use super::{Body, Form, INNER};
use crate::random::types::{Part, Ty};

impl Body<'_> {
    /// Draws data of a type.
    pub(super) fn data(&mut self, ty: &Ty) -> String {
        let follows = !matches!(self.types.form, Form::Up) && self.inner.is_empty();
        match self.draw.random.below(20) {
            0..=3 if follows => self.of_neighbour(ty),
            4..=5 if follows && ty.is_integer() => self.of_neighbours(ty),
            6..=7 if follows && ty.is_integer() => self.of_chain(ty),
            8..=15 if self.fails && ty.is_integer() => {
                let items = [(); 4].map(|()| self.draw.leaf(ty)).join(" ");
                let index = self.draw.leaf(ty);
                format!("([{items}] ! (& {index} 7))")
            }
            8..=11 if ty.is_number() => {
                let operator = *self.draw.random.pick(&["+", "-", "*", "min", "max"]);
                let (a, b) = (self.draw.leaf(ty), self.draw.leaf(ty));
                format!("({operator} {a} {b})")
            }
            _ => self.draw.expression(ty, self.fuel.min(2)),
        }
    }

    /// Draws data with those of the node that a link leads to.
    fn of_neighbour(&mut self, ty: &Ty) -> String {
        let Some((name, kind)) = self.any_link() else {
            return self.draw.expression(ty, self.fuel.min(2));
        };
        let node = self.follow(kind, &name);
        let constructors = self.types.source.constructors(kind);
        let (constructor, payload) = self.draw.random.pick(&constructors).clone();
        let fuel = self.fuel.min(2);
        let arm = self.bound(&constructor, payload.as_ref(), |body| {
            if body.draw.random.chance(30) {
                return body.data(ty);
            }
            body.draw.expression(ty, fuel)
        });
        if constructors.len() == 1 {
            return format!("(case {node} {arm})");
        }
        let rest = self.draw.leaf(ty);
        format!("(case {node} {arm} (_ {rest}))")
    }

    /// Draws the sum of numbers of the nodes that a vector of links leads to.
    fn of_neighbours(&mut self, ty: &Ty) -> String {
        let vectors: Vec<(String, usize)> = self
            .held
            .iter()
            .filter_map(|held| match &held.part {
                Part::Vector(element) => match **element {
                    Part::Link(kind) if kind < INNER => Some((held.name.clone(), kind)),
                    _ => None,
                },
                _ => None,
            })
            .collect();
        if vectors.is_empty() {
            return self.of_neighbour(ty);
        }
        let (name, kind) = self.draw.random.pick(&vectors).clone();
        let link = self.draw.name();
        let node = self.follow(kind, &link);
        let arms = self.counted(kind, ty);
        let operator = *self.draw.random.pick(&["+", "max", "^"]);
        let start = self.draw.leaf(ty);
        format!("(reduce {operator} {start} (map (lambda ({link}) (case {node}{arms})) {name}))")
    }

    /// Draws arms that give a number for each node of a kind.
    fn counted(&mut self, kind: usize, ty: &Ty) -> String {
        let constructors = self.types.source.constructors(kind);
        constructors
            .iter()
            .map(|(name, payload)| {
                let arm = self.bound(name, payload.as_ref(), |body| {
                    body.draw.variable(ty).unwrap_or_else(|| body.draw.leaf(ty))
                });
                format!(" {arm}")
            })
            .collect()
    }

    /// Draws a number that a loop along links finds.
    fn of_chain(&mut self, ty: &Ty) -> String {
        let found = self.any_link().and_then(|(name, kind)| {
            let (pattern, next) = self.step(kind)?;
            Some((name, kind, pattern, next))
        });
        let Some((name, kind, pattern, next)) = found else {
            return self.of_neighbour(ty);
        };
        let [sum, link] = [(); 2].map(|()| self.draw.name());
        let node = self.follow(kind, &link);
        let start = self.draw.leaf(ty);
        let step = format!(
            "(lambda (({sum}, {link})) (case {node} ({pattern} ((+ (* 3 {sum}) 1), {next})) \
             (_ ({sum}, {link}))))"
        );
        match self.draw.random.chance(60) {
            true => {
                let steps = self.draw.random.below(5);
                format!("(iterate {steps} {step} (({start} : {ty}), {name})).0")
            }
            false => {
                let constructor = pattern.split(' ').next().unwrap_or("_");
                let goes_on = format!(
                    "(lambda (({sum}, {link})) (case {node} ({constructor} true) (_ false)))"
                );
                format!("(while {goes_on} {step} (({start} : {ty}), {name})).0")
            }
        }
    }

    /// Picks a link, used or not.
    fn any_link(&mut self) -> Option<(String, usize)> {
        let links: Vec<(String, usize)> = self
            .held
            .iter()
            .filter_map(|held| match held.part {
                Part::Link(kind) if kind < INNER => Some((held.name.clone(), kind)),
                _ => None,
            })
            .collect();
        (!links.is_empty()).then(|| self.draw.random.pick(&links).clone())
    }
}
