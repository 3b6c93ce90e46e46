//! Expressions of a type: variables, literals, forms of the tables, and forms with rules of their
//! own.
//!
//! The generator knows at each place whether the context determines the type of the expression
//! there (`pinned`). If it does not, the expression determines it: by a suffix, by a part of its
//! own, or by an annotation. So no type stays open, and most annotations are left out.

use super::forms::forms;
use super::literals;
use super::scope::Scope;
use super::sums::{Constructor, Sums};
use super::templates::{Form, Part, Special};
use super::types::{BOOL, Bindings, Class, INT, Scalar, Type, Types};
use crate::random::Random;
use std::collections::BTreeMap;

/// The deepest nest of functions that are called many times.
const NESTING: usize = 3;

/// The state of drawing one entry.
pub struct Draw<'a> {
    pub random: Random,
    pub types: Types<'a>,
    pub scope: Scope,
    /// Names of large vectors, with the types of their elements.
    pub large: Vec<(String, Type)>,
    /// The number of functions around that are called many times.
    pub nesting: usize,
    /// The number of nodes drawn, and its limit.
    pub nodes: usize,
    pub limit: usize,
    /// True if forms that may fail are drawn.
    pub risky: bool,
    /// The number of times that each form was drawn.
    pub used: BTreeMap<String, usize>,
}

impl<'a> Draw<'a> {
    /// Starts with nothing bound.
    pub fn new(random: Random, sums: &'a Sums, floats: bool) -> Self {
        Draw {
            random,
            types: Types { sums, floats },
            scope: Scope::default(),
            large: Vec::new(),
            nesting: 0,
            nodes: 0,
            limit: 300,
            risky: false,
            used: BTreeMap::new(),
        }
    }

    /// Draws any type of values, often that of a bound name.
    pub fn any_type(&mut self, depth: usize) -> Type {
        let function = |ty: &Type| matches!(ty, Type::Function(..));
        if self.random.chance(45)
            && let Some((_, ty)) = self.scope.pick(&mut self.random, |ty| !function(ty))
        {
            return ty;
        }
        self.types.any(&mut self.random, depth)
    }

    /// Draws an expression.
    pub fn expression(&mut self, ty: &Type, depth: usize, pinned: bool) -> String {
        self.nodes += 1;
        if let Type::Function(arguments, result) = ty {
            return self.function(arguments, result, depth, pinned);
        }
        if depth == 0 || self.nodes > self.limit {
            return self.leaf(ty, pinned);
        }
        for _ in 0..5 {
            let drawn = match self.random.below(100) {
                0..16 => self.variable(ty),
                16..20 => Some(self.construct(ty, depth, pinned)),
                20..72 => self.form(ty, depth, pinned),
                72..78 => Some(self.let_in(ty, depth, pinned)),
                78..82 => Some(self.conditional(ty, depth, pinned)),
                82..87 => self.case(ty, depth, pinned),
                87..92 => self.projection(ty),
                92..95 => self.call(ty, depth),
                95..97 => Some(self.applied_lambda(ty, depth, pinned)),
                _ => Some(format!("({} : {ty})", self.expression(ty, depth - 1, true))),
            };
            if let Some(text) = drawn {
                return text;
            }
        }
        self.leaf(ty, pinned)
    }

    fn variable(&mut self, ty: &Type) -> Option<String> {
        let found = self.scope.pick(&mut self.random, |other| other == ty);
        found.map(|(name, _)| name)
    }

    /// Draws a variable or a literal.
    fn leaf(&mut self, ty: &Type, pinned: bool) -> String {
        if self.random.chance(75)
            && let Some(text) = self.variable(ty).or_else(|| self.projection(ty))
        {
            return text;
        }
        self.construct(ty, 0, pinned)
    }

    /// Draws an expression that is written like a value of its type.
    fn construct(&mut self, ty: &Type, depth: usize, pinned: bool) -> String {
        let depth = depth.saturating_sub(1);
        match ty {
            Type::Scalar(scalar) => literals::literal(&mut self.random, *scalar, pinned),
            Type::Unit => self.random.pick(&["nil", "()"]).to_string(),
            Type::Tuple(parts) => {
                let parts = parts
                    .iter()
                    .map(|part| self.expression(part, depth, pinned));
                let parts: Vec<String> = parts.collect();
                format!("({})", parts.join(", "))
            }
            Type::Vector(element) => self.list(element, depth, pinned),
            Type::Array(rank, element) => {
                let mut extents: Vec<usize> = (0..*rank).map(|_| self.random.below(4)).collect();
                if self.nodes > self.limit {
                    extents.fill(1);
                }
                let count = extents.iter().product();
                let elements: Vec<String> = (0..count)
                    .map(|_| self.construct(element, 0, true))
                    .collect();
                let extents: Vec<String> = extents.iter().map(usize::to_string).collect();
                let (extents, elements) = (extents.join(", "), elements.join(" "));
                format!("((reshape ({extents}) [{elements}]) : {ty})")
            }
            Type::Sum(name, arguments) => {
                let constructors = self.types.sums.constructors(name, arguments);
                let deep = depth > 0 && self.nodes < self.limit && self.random.chance(80);
                let choice = if deep {
                    self.random.below(constructors.len())
                } else {
                    0
                };
                let Constructor {
                    name: constructor,
                    payload,
                    is_plain,
                } = &constructors[choice];
                let text = match *is_plain && self.random.chance(90) {
                    true => constructor.clone(),
                    false => format!("({constructor} {})", self.expression(payload, depth, true)),
                };
                match pinned || arguments.is_empty() {
                    true => text,
                    false => format!("({text} : {ty})"),
                }
            }
            Type::Function(..) | Type::Variable(_) => String::new(),
        }
    }

    fn list(&mut self, element: &Type, depth: usize, pinned: bool) -> String {
        let is_text = element.as_scalar().is_some_and(|s| s.suffix == "u8");
        if is_text && self.random.chance(25) {
            return self
                .random
                .pick(&["\"\"", "\"nova\"", "\"a\\x00\\\"b\\n\""])
                .to_string();
        }
        let crowded = self.nodes > self.limit;
        let count = if crowded { 0 } else { self.random.below(5) };
        let mut elements = Vec::new();
        for k in 0..count {
            let text = match self.random.chance(60) {
                true => self.construct(element, depth, pinned || k > 0),
                false => self.expression(element, depth, pinned || k > 0),
            };
            elements.push(text);
        }
        match elements.is_empty() && !pinned {
            true => format!("([] : (vector {element}))"),
            false => format!("[{}]", elements.join(" ")),
        }
    }

    /// Draws a form of the tables.
    fn form(&mut self, ty: &Type, depth: usize, pinned: bool) -> Option<String> {
        let table = match self.risky && self.random.chance(20) {
            true => &forms().failing,
            false => &forms().expressions,
        };
        self.form_of(table, ty, depth, pinned)
    }

    /// Draws a form of a table that gives a type.
    pub fn form_of(
        &mut self,
        table: &'static [Form],
        ty: &Type,
        depth: usize,
        pinned: bool,
    ) -> Option<String> {
        let (form, bindings) = self.choose(table, ty)?;
        self.fill(form, bindings, depth, pinned)
    }

    /// Chooses a form of a table, by weight, that may be used here.
    fn choose(&mut self, table: &'static [Form], ty: &Type) -> Option<(&'static Form, Bindings)> {
        let usable: Vec<(&Form, Bindings)> = table
            .iter()
            .filter(|form| self.may_use(form))
            .filter_map(|form| Some((form, form.gives(ty)?)))
            .collect();
        let mut left = self
            .random
            .below(usable.iter().map(|(form, _)| form.weight).sum());
        usable.into_iter().find(|(form, _)| {
            let here = left < form.weight;
            left = left.saturating_sub(form.weight);
            here
        })
    }

    /// True if a form may be used here: nothing hides its names, and it is not too deep.
    pub fn may_use(&self, form: &Form) -> bool {
        (self.types.floats || !form.needs_floats())
            && (self.nesting < NESTING || !form.second_order)
            && !form.names.iter().any(|name| self.scope.binds(name))
    }

    /// Returns the text of a form with its holes filled.
    fn fill(
        &mut self,
        form: &Form,
        mut bindings: Bindings,
        depth: usize,
        pinned: bool,
    ) -> Option<String> {
        self.bind_open(form, &mut bindings)?;
        self.fill_bound(form, &bindings, depth, pinned)
    }

    /// Returns the text of a form that determines its own type, and the type.
    pub fn fill_any(&mut self, form: &Form, depth: usize) -> Option<(String, Type)> {
        let mut bindings = Bindings::default();
        self.bind_open(form, &mut bindings)?;
        let text = self.fill_bound(form, &bindings, depth, false)?;
        Some((text, form.result.with(&bindings)))
    }

    fn fill_bound(
        &mut self,
        form: &Form,
        bindings: &Bindings,
        depth: usize,
        pinned: bool,
    ) -> Option<String> {
        let mut known = if pinned {
            form.result.variables()
        } else {
            Vec::new()
        };
        let mut names: BTreeMap<usize, String> = BTreeMap::new();
        let mut text = String::new();
        let depth = depth.saturating_sub(1);
        for part in &form.parts {
            let drawn = match part {
                Part::Text(text) => text.clone(),
                Part::Fresh(number) => self.fresh_for(&mut names, *number),
                Part::TypeOf(ty) => {
                    known.extend(ty.variables());
                    ty.with(bindings).to_string()
                }
                Part::Hole(ty, given) => {
                    let mark = self.scope.mark();
                    for (number, ty) in given {
                        let name = self.fresh_for(&mut names, *number);
                        self.scope.bind(&name, ty.with(bindings));
                    }
                    let within = usize::from(!given.is_empty());
                    self.nesting += within;
                    // The operand of a conversion may have any type.
                    let converts = form.word.starts_with("to_") || form.word.starts_with("wrap_");
                    let is_default = |s| s == INT || s == BOOL;
                    let converted = ty.as_scalar().is_some_and(|s| converts || !is_default(s));
                    let settled = ty.variables().iter().all(|v| known.contains(v));
                    let settled = settled && !converted;
                    let drawn = self.expression(&ty.with(bindings), depth, settled);
                    self.nesting -= within;
                    self.scope.leave(mark);
                    // The names in scope there do not determine their types.
                    if given.is_empty() {
                        known.extend(ty.variables());
                    }
                    drawn
                }
                Part::Special(special, ty) => {
                    let settled = ty.variables().iter().all(|v| known.contains(v));
                    let drawn = self.special(*special, &ty.with(bindings), depth, settled)?;
                    known.extend(ty.variables());
                    drawn
                }
            };
            text.push_str(&drawn);
        }
        *self.used.entry(form.word.clone()).or_default() += 1;
        let open = form.result.variables().iter().any(|v| !known.contains(v));
        Some(match open {
            true => format!("({text} : {})", form.result.with(bindings)),
            false => text,
        })
    }

    fn fresh_for(&mut self, names: &mut BTreeMap<usize, String>, number: usize) -> String {
        let scope = &mut self.scope;
        names.entry(number).or_insert_with(|| scope.fresh()).clone()
    }

    /// Chooses types for the variables of a form that its result leaves open, often types of bound
    /// names.
    fn bind_open(&mut self, form: &Form, bindings: &mut Bindings) -> Option<()> {
        for part in &form.parts {
            let (Part::Hole(hole, _) | Part::Special(_, hole)) = part else {
                continue;
            };
            if matches!(part, Part::Special(Special::Large, _)) {
                let fits = |ty: &Type| hole.matches(ty, &mut bindings.clone());
                let mut large = self.large.clone();
                large.retain(|(_, ty)| fits(ty));
                let bound = large.len().checked_sub(1)?;
                hole.matches(&large[self.random.below(bound + 1)].1, bindings);
            }
            let pattern = hole.with(bindings);
            if pattern.variables().is_empty() {
                continue;
            }
            let likeness = |ty: &Type| pattern.matches(ty, &mut Bindings::default());
            if self.random.chance(70)
                && let Some((_, ty)) = self.scope.pick(&mut self.random, likeness)
            {
                hole.matches(&ty, bindings);
            }
            for letter in hole.variables() {
                if bindings.get(letter).is_none() {
                    let class = Class::of(letter);
                    let depth = 2usize.saturating_sub(self.nesting);
                    let ty = self.types.of_class(&mut self.random, class, depth)?;
                    bindings.set(letter, ty);
                }
            }
        }
        Some(())
    }

    fn special(
        &mut self,
        special: Special,
        ty: &Type,
        depth: usize,
        pinned: bool,
    ) -> Option<String> {
        let scalar = ty.as_scalar().unwrap_or(INT);
        match special {
            Special::Associative => self.operator(&forms().associative, ty, depth, pinned),
            Special::Commutative => self.operator(&forms().commutative, ty, depth, pinned),
            Special::Order => {
                let bool = Type::Scalar(BOOL);
                let order = self.form_of(&forms().orders, ty, depth, true)?;
                Some(match pinned {
                    true => order,
                    false => format!("({order} : ({ty} -> {ty} -> {bool}))"),
                })
            }
            Special::Literal => Some(literals::literal(&mut self.random, scalar, pinned)),
            Special::Shift => Some(self.masked(scalar, i128::from(scalar.bits) - 1, depth, pinned)),
            Special::Size if *ty != Type::Unit => Some(self.masked(scalar, 7, depth, pinned)),
            Special::Size => {
                let drawn = self.types.of_class(&mut self.random, Class::Integer, 0)?;
                let scalar = drawn.as_scalar().unwrap_or(INT);
                Some(self.masked(scalar, 7, depth, false))
            }
            Special::Natural => Some(self.masked(INT, 7, depth, false)),
            Special::Extent => Some(self.masked(INT, 3, depth, false)),
            Special::Large => {
                let mut large = self.large.clone();
                large.retain(|(_, held)| held == ty);
                Some(large.get(self.random.below(large.len()))?.0.clone())
            }
        }
    }

    /// Draws an operator of a table. A function is called very often there.
    fn operator(
        &mut self,
        table: &'static [Form],
        ty: &Type,
        depth: usize,
        pinned: bool,
    ) -> Option<String> {
        let drawn = self.form_of(table, ty, depth, true)?;
        Some(match pinned {
            true => drawn,
            false => format!("({drawn} : ({ty} -> {ty} -> {ty}))"),
        })
    }

    /// Draws a number from 0 to a mask: a literal or any number's bits.
    fn masked(&mut self, scalar: Scalar, mask: i128, depth: usize, pinned: bool) -> String {
        if self.scope.binds("&") || self.random.chance(30) {
            let number = self.random.below(mask as usize + 1) as i128;
            return literals::written(&mut self.random, scalar, number, pinned);
        }
        let ty = Type::Scalar(scalar);
        let number = self.expression(&ty, depth.min(1), pinned);
        let mask = literals::written(&mut self.random, scalar, mask, true);
        match self.random.chance(80) {
            true => format!("(& {number} {mask})"),
            // With the mask first, the number determines the type.
            false if pinned => format!("(& {mask} {number})"),
            false => format!("((& {mask} {number}) : {ty})"),
        }
    }

    /// Draws a part of a bound tuple.
    fn projection(&mut self, ty: &Type) -> Option<String> {
        let has = |other: &Type| matches!(other, Type::Tuple(parts) if parts.contains(ty));
        let (name, found) = self.scope.pick(&mut self.random, has)?;
        let parts = found.parts();
        let start = self.random.below(parts.len());
        let mut places = (0..parts.len()).map(|k| (start + k) % parts.len());
        let place = places.find(|k| parts[*k] == ty)?;
        // `-.2` looks like a number without its first digit.
        let is_sign = ["-", "+"].contains(&name.as_str());
        Some(match !is_sign && self.random.chance(80) {
            true => format!("{name}.{place}"),
            false => format!("({name} . {place})"),
        })
    }

    /// Draws a call of a bound function.
    fn call(&mut self, ty: &Type, depth: usize) -> Option<String> {
        let gives = |other: &Type| matches!(other, Type::Function(_, result) if **result == *ty);
        if self.nesting >= NESTING {
            return None;
        }
        let (name, found) = self.scope.pick(&mut self.random, gives)?;
        let Type::Function(arguments, _) = found else {
            return None;
        };
        let arguments: Vec<String> = arguments
            .iter()
            .map(|ty| self.expression(ty, depth - 1, true))
            .collect();
        Some(format!("({name} {})", arguments.join(" ")))
    }
}
