//! The occurrences of names in a program, and the parts of it in which local names are visible.

use crate::declarations::Declarations;
use crate::resolve::{BindingId, Resolution, Resolved, count_names};
use nova_diag::{SourceMap, Span};
use nova_syntax::ast::{
    ExpressionId, ExpressionKind, Name, Pattern, Program, TypeDefinitionKind, TypeKind,
};
use nova_syntax::token::{TokenKind, tokens};
use std::collections::HashMap;
use std::sync::Arc;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Referent {
    /// A binding inside an expression, or an input.
    Local(u32),
    /// A definition of the program, by its position.
    Definition(u32),
    /// A foreign function.
    Foreign(u32),
    /// A sum and its constructor. The constructor of its nodes is the same.
    Constructor(u32, u32),
    /// A declared type, by its position in the program. Its node type is the same.
    Type(u32),
    /// A built-in function.
    Builtin(&'static str),
}

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
pub(crate) struct Table {
    /// In the order of their places.
    pub occurrences: Vec<Occurrence>,
    pub visible: Vec<Visible>,
}

/// Finds the occurrences and the scopes of a program.
pub(crate) fn table(
    program: &Program,
    sources: &SourceMap,
    declarations: &Declarations,
    resolved: &Resolved,
) -> Table {
    let types = (0..).zip(&program.types);
    let mut finder = Finder {
        program,
        sources,
        declarations,
        resolved,
        types: types.map(|(k, ty)| (&*ty.name.text, k)).collect(),
        table: Table {
            occurrences: Vec::new(),
            visible: Vec::new(),
        },
    };
    finder.declared();
    finder.types();
    for index in 0..program.arena.len() {
        finder.expression(ExpressionId(index as u32));
    }
    finder.inputs();
    let mut table = finder.table;
    table
        .occurrences
        .sort_by_key(|o| (o.span, !o.is_declaration));
    table.occurrences.dedup_by_key(|o| o.span);
    table
}

/// Returns what a resolved name stands for.
pub(crate) fn referent(resolution: Resolution) -> Option<Referent> {
    match resolution {
        Resolution::Unbound => None,
        Resolution::Binding(binding) => Some(Referent::Local(binding.0)),
        Resolution::Definition(definition) => Some(Referent::Definition(definition)),
        Resolution::Builtin(builtin) => Some(Referent::Builtin(&builtin.get().name)),
        Resolution::Constructor(sum, constructor) => Some(Referent::Constructor(sum, constructor)),
        Resolution::Foreign(foreign) => Some(Referent::Foreign(foreign)),
    }
}

struct Finder<'a> {
    program: &'a Program,
    sources: &'a SourceMap,
    declarations: &'a Declarations,
    resolved: &'a Resolved,
    /// The position of each declared type.
    types: HashMap<&'a str, u32>,
    table: Table,
}

impl Finder<'_> {
    /// Adds an occurrence of a name in a place that may hold more than the name, as the pattern `(x : int)`
    /// does. Code that a front end placed in files of its own has no occurrences.
    fn add(&mut self, name: &str, place: Span, referent: Referent, is_declaration: bool) {
        let Some(mut span) = name_in(self.sources, name, place) else {
            return;
        };
        let mut referent = referent;
        if let Referent::Constructor(sum, constructor) = referent
            && let Some(of) = self.declarations.sums[sum as usize].node_of
        {
            referent = Referent::Constructor(of.0, constructor);
        }
        let is_shared = matches!(referent, Referent::Constructor(..) | Referent::Type(_));
        if is_shared && name.len() > 1 && name.ends_with('*') {
            span.end -= 1;
        }
        self.table.occurrences.push(Occurrence {
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
        for (number, foreign) in (0..).zip(&self.declarations.foreign_types) {
            let name = &foreign.name;
            self.add(&name.text, name.span, Referent::Foreign(number), true);
        }
        for (number, binding) in (0..).zip(&self.resolved.bindings) {
            self.add(&binding.name, binding.span, Referent::Local(number), true);
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
        if let Some((sum, constructor)) = self.declarations.constructor(&name.text) {
            let referent = Referent::Constructor(sum, constructor);
            self.add(&name.text, name.span, referent, is_declaration);
        }
    }

    fn expression(&mut self, id: ExpressionId) {
        let program = self.program;
        let expression = program.expression(id);
        let (span, first) = (expression.span, self.resolved.first_binding[id.index()]);
        let upto_end = |from: u32| Span::new(span.file, from.min(span.end), span.end);
        let end_of = |id: ExpressionId| program.expression(id).span.end;
        match &expression.kind {
            ExpressionKind::Name(name) => {
                let alias = self.resolved.aliases.get(&id).copied();
                let found = referent(alias.unwrap_or(self.resolved.names[id.index()]));
                if let Some(found) = found {
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
    fn scopes<'p>(&mut self, first: BindingId, each: impl Iterator<Item = (&'p Pattern, Span)>) {
        let mut next = first.0;
        for (pattern, scope) in each {
            let end = next + count_names(pattern);
            for binding in next..end {
                if let Some(info) = self.resolved.bindings.get(binding as usize) {
                    self.scope(BindingId(binding), &info.name, scope);
                }
            }
            next = end;
        }
    }

    fn scope(&mut self, binding: BindingId, name: &Arc<str>, scope: Span) {
        self.table.visible.push(Visible {
            name: name.clone(),
            referent: Referent::Local(binding.0),
            scope,
        });
    }

    /// Adds the scopes of inputs. Those of an entry belong to it, others to the whole file.
    fn inputs(&mut self) {
        for (entry, first) in self.program.entries.iter().zip(&self.resolved.inputs) {
            let scope = match entry.explicit {
                true => entry.span,
                false => Span::new(entry.span.file, 0, u32::MAX),
            };
            for (binding, (name, _)) in (first.0..).zip(&entry.inputs) {
                self.scope(BindingId(binding), &name.text, scope);
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
