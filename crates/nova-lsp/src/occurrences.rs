//! The occurrences of names in a program, and the parts of it in which local names are visible.

use nova_diag::{FileId, SourceMap, Span, deep};
use nova_infer::{Index, Referent};
use nova_syntax::ast::{
    ExpressionId, ExpressionKind, Name, Pattern, PatternKind, Program, TypeDefinitionKind, TypeKind,
};
use nova_syntax::token::{TokenKind, tokens};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

/// A place where a name stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// The name, without the star of a node's.
    pub span: Span,
    /// What it stands for.
    pub referent: Referent,
    /// True where the name is declared.
    pub is_declaration: bool,
}

/// A local name and where it may be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visible {
    /// The name.
    pub name: Arc<str>,
    /// Its binding.
    pub referent: Referent,
    /// The part of the program that sees it.
    pub scope: Span,
}

/// All occurrences and scopes of a program.
pub struct Occurrences {
    /// In the order of their places.
    all: Vec<Occurrence>,
    visible: Vec<Visible>,
}

impl Occurrences {
    /// Finds the occurrences and the scopes of a program.
    pub fn of(program: &Program, sources: &SourceMap, index: &Index) -> Occurrences {
        let types = (0..).zip(&program.types);
        let mut finder = Finder {
            program,
            sources,
            index,
            types: types.map(|(k, ty)| (&*ty.name.text, k)).collect(),
            found: Occurrences {
                all: Vec::new(),
                visible: Vec::new(),
            },
        };
        finder.declared();
        finder.types();
        for index in 0..program.arena.len() {
            finder.expression(ExpressionId(index as u32));
        }
        finder.inputs();
        let mut found = finder.found;
        found.all.sort_by_key(|o| (o.span, !o.is_declaration));
        found.all.dedup_by_key(|o| o.span);
        found
    }

    /// Returns all occurrences, in the order of their places.
    pub fn all(&self) -> &[Occurrence] {
        &self.all
    }

    /// Returns the occurrence at an offset. Between two names the one that begins there counts.
    pub fn at(&self, file: FileId, offset: u32) -> Option<&Occurrence> {
        let is_before = |o: &Occurrence| (o.span.file, o.span.start) <= (file, offset);
        let upto = self.all.partition_point(is_before);
        let last = self.all.get(upto.checked_sub(1)?)?;
        (last.span.file == file && offset <= last.span.end).then_some(last)
    }

    /// Returns the local names that are visible at an offset. Inner ones come before those that they hide.
    pub fn visible_at(&self, file: FileId, offset: u32) -> Vec<&Visible> {
        let inside =
            |v: &&Visible| v.scope.file == file && v.scope.start <= offset && offset <= v.scope.end;
        let mut found: Vec<&Visible> = self.visible.iter().filter(inside).collect();
        found.sort_by_key(|v| (Reverse(v.scope.start), v.scope.end));
        found
    }
}

struct Finder<'a> {
    program: &'a Program,
    sources: &'a SourceMap,
    index: &'a Index,
    /// The position of each declared type.
    types: HashMap<&'a str, u32>,
    found: Occurrences,
}

impl Finder<'_> {
    /// Adds an occurrence of a name in a place that may hold more than the name, as the pattern `(x : int)`
    /// does. Code that a front end placed in files of its own has no occurrences.
    fn add(&mut self, name: &str, place: Span, referent: Referent, is_declaration: bool) {
        let Some(mut span) = name_in(self.sources, name, place) else {
            return;
        };
        let is_shared = matches!(referent, Referent::Constructor(..) | Referent::Type(_));
        if is_shared && name.len() > 1 && name.ends_with('*') {
            span.end -= 1;
        }
        self.found.all.push(Occurrence {
            span,
            referent,
            is_declaration,
        });
    }

    /// Adds the names that are declared, without types and inputs.
    fn declared(&mut self) {
        for (number, definition) in (0..).zip(&self.program.definitions) {
            let name = &definition.name;
            self.add(&name.text, name.span, Referent::Definition(number), true);
        }
        let index = self.index;
        for (name, referent) in index.foreigns() {
            self.add(&name.text, name.span, referent, true);
        }
        for (number, (name, place)) in (0..).zip(index.bindings()) {
            self.add(name, place, Referent::Local(number), true);
        }
    }

    /// Adds the names of types and constructors, where types are written.
    fn types(&mut self) {
        let program = self.program;
        for definition in &program.types {
            self.type_name(&definition.name.text, definition.name.span, true);
            if let TypeDefinitionKind::Sum(constructors) = &definition.kind {
                let names = constructors.iter();
                names.for_each(|(name, _)| self.constructor(name, true));
            }
        }
        for node in &program.type_arena {
            match &node.kind {
                TypeKind::Name(name) => self.type_name(name, node.span, false),
                TypeKind::Apply(name, _) => self.type_name(&name.text, name.span, false),
                TypeKind::Sum(constructors) => {
                    let names = constructors.iter();
                    names.for_each(|(name, _)| self.constructor(name, true));
                }
                TypeKind::Variable(_)
                | TypeKind::Tuple(_)
                | TypeKind::Vector(..)
                | TypeKind::Lanes(..)
                | TypeKind::Function(..)
                | TypeKind::Wrong => {}
            }
        }
    }

    fn type_name(&mut self, name: &str, span: Span, is_declaration: bool) {
        let plain = name.strip_suffix('*').unwrap_or(name);
        if let Some(number) = self.types.get(plain) {
            self.add(name, span, Referent::Type(*number), is_declaration);
        }
    }

    fn constructor(&mut self, name: &Name, is_declaration: bool) {
        if let Some(referent) = self.index.constructor(&name.text) {
            self.add(&name.text, name.span, referent, is_declaration);
        }
    }

    fn expression(&mut self, id: ExpressionId) {
        let program = self.program;
        let expression = program.expression(id);
        let (span, first) = (expression.span, self.index.first_binding(id));
        let upto_end = |from: u32| Span::new(span.file, from.min(span.end), span.end);
        let end_of = |id: ExpressionId| program.expression(id).span.end;
        match &expression.kind {
            ExpressionKind::Name(name) => {
                if let Some(found) = self.index.referent(id) {
                    self.add(name, span, found, false);
                }
            }
            ExpressionKind::Lambda { parameters, .. } => {
                let end = parameters.iter().map(|p| p.span.end).max();
                let scope = upto_end(end.unwrap_or(span.start));
                let scopes = parameters.iter().map(|p| (p, scope));
                self.scopes(first, scopes);
            }
            ExpressionKind::Let { bindings, .. } => {
                let each = bindings.iter();
                let scopes = each.map(|(pattern, value)| (pattern, upto_end(end_of(*value))));
                self.scopes(first, scopes);
            }
            ExpressionKind::Mu { name, .. } => {
                self.scope(first, &name.text, upto_end(name.span.end));
            }
            ExpressionKind::Case { arms, .. } => {
                for arm in arms {
                    if let Some(name) = &arm.constructor {
                        self.constructor(name, false);
                    }
                }
                let payloads = arms
                    .iter()
                    .filter_map(|arm| Some((arm.payload.as_ref()?, arm)));
                let scopes = payloads.map(|(pattern, arm)| {
                    let from = pattern.span.end.min(arm.span.end);
                    (pattern, Span::new(span.file, from, arm.span.end))
                });
                self.scopes(first, scopes);
            }
            ExpressionKind::Foreach { links, nodes, .. } => {
                for name in nodes.iter().filter_map(|node| node.ty.as_ref()) {
                    self.type_name(&name.text, name.span, false);
                }
                let functions = links.iter().map(|p| (p, upto_end(links[1].span.end)));
                let nodes = nodes.iter();
                let nodes = nodes.map(|n| (&n.pattern, program.expression(n.body).span));
                self.scopes(first, functions.chain(nodes));
            }
            ExpressionKind::Up { body, links } => {
                let scope = program.expression(*body).span;
                let scopes = links.iter().map(|(pattern, _)| (pattern, scope));
                self.scopes(first, scopes);
            }
            _others => {}
        }
    }

    /// Adds the scopes of the names of patterns, whose bindings are numbered from `first` on.
    fn scopes<'p>(&mut self, first: u32, each: impl Iterator<Item = (&'p Pattern, Span)>) {
        let mut next = first;
        for (pattern, scope) in each {
            let mut names = Vec::new();
            names_of(pattern, &mut names);
            let end = next + names.len() as u32;
            for (binding, name) in (next..).zip(names) {
                self.scope(binding, name, scope);
            }
            next = end;
        }
    }

    fn scope(&mut self, binding: u32, name: &Arc<str>, scope: Span) {
        self.found.visible.push(Visible {
            name: name.clone(),
            referent: Referent::Local(binding),
            scope,
        });
    }

    /// Adds the scopes of inputs. Those of an entry belong to it, others to the whole file.
    fn inputs(&mut self) {
        for (number, entry) in self.program.entries.iter().enumerate() {
            let first = self.index.first_input(number);
            let scope = match entry.explicit {
                true => entry.span,
                false => Span::new(entry.span.file, 0, u32::MAX),
            };
            for (binding, (name, _)) in (first..).zip(&entry.inputs) {
                self.scope(binding, &name.text, scope);
            }
        }
    }
}

/// Returns the place of a name in a place that holds it.
fn name_in(sources: &SourceMap, name: &str, place: Span) -> Option<Span> {
    let written = sources.written(place)?;
    if written == name {
        return Some(place);
    }
    let mut tokens = tokens(written).filter(|token| token.kind == TokenKind::Atom);
    let token = tokens.find(|token| &written[token.start..token.end] == name)?;
    let (start, end) = (token.start as u32, token.end as u32);
    Some(Span::new(
        place.file,
        place.start + start,
        place.start + end,
    ))
}

/// Adds the names that a pattern binds, in order.
fn names_of<'p>(pattern: &'p Pattern, names: &mut Vec<&'p Arc<str>>) {
    match &pattern.kind {
        PatternKind::Name(name) => names.push(name),
        PatternKind::Wildcard => {}
        PatternKind::Tuple(elements) => {
            deep(|| elements.iter().for_each(|element| names_of(element, names)));
        }
    }
}
