//! Scopes: finds the referent of every name of a program in one walk, before types are inferred.
//!
//! Patterns bind in the order they are written. The bindings of one expression (a lambda's
//! parameters, all bindings of a let, all arms of a case) are numbered without gaps. So later walks
//! find them by counting from the expression's first.

use crate::builtins::{BuiltinId, builtin_names};
use crate::declarations::Declarations;
use crate::suggest::instead_of;
use crate::types::SumDeclarationId;
use nova_diag::{Diagnostic, Span, codes, deep};
use nova_syntax::ast::{self, ExpressionId, ExpressionKind, Pattern, PatternKind};
use std::collections::HashMap;
use std::sync::Arc;

nova_diag::ids! {
    /// Names a variable bound by a pattern, a mu or an entry's inputs.
    pub(crate) struct BindingId;
}

/// The referent of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resolution {
    Unbound,
    Binding(BindingId),
    Definition(u32),
    Builtin(BuiltinId),
    /// Sum and constructor.
    Constructor(u32, u32),
    Foreign(u32),
}

/// A bound name.
#[derive(Clone, Debug)]
pub(crate) struct BindingInfo {
    pub name: Arc<str>,
    pub span: Span,
}

/// The scopes of a program.
pub(crate) struct Resolved {
    /// The referent of each expression that is a name.
    pub names: Vec<Resolution>,
    /// For each use of another name of a built-in, the binding or definition of that name.
    pub aliases: HashMap<ExpressionId, Resolution>,
    /// The first binding of each expression that binds.
    pub first_binding: Vec<BindingId>,
    /// All bindings.
    pub bindings: Vec<BindingInfo>,
    /// For each expression, true if it is a built-in, constructor or foreign function, perhaps
    /// applied to some arguments.
    pub known_head: Vec<bool>,
    /// The definitions that each definition mentions, in order.
    pub dependencies: Vec<Vec<u32>>,
    /// The binding of the first input of each entry.
    pub inputs: Vec<BindingId>,
    /// Names of constructors of the nodes of sums without nodes, with their places.
    pub no_constructors: Vec<(Span, Arc<str>, SumDeclarationId)>,
}

/// Number of unbound names that get a suggestion. The search for one takes time.
const SUGGESTIONS: usize = 100;

/// The meaning of a name in a scope.
#[derive(Clone, Copy)]
struct Meaning {
    referent: Resolution,
    /// The binding or definition of a name that is another one of a built-in.
    alias: Option<Resolution>,
}

struct Resolver<'a> {
    program: &'a ast::Program,
    declarations: &'a Declarations,
    /// The meanings of each name here, innermost last.
    scope: HashMap<Arc<str>, Vec<Meaning>>,
    resolved: Resolved,
    /// The definition being walked.
    current: Option<u32>,
    /// The names of a `let` whose values are being walked.
    being_bound: Vec<Arc<str>>,
    suggestions: usize,
    diagnostics: &'a mut Vec<Diagnostic>,
}

/// Finds the referent of every name of `program`.
pub(crate) fn resolve(
    program: &ast::Program,
    declarations: &Declarations,
    diagnostics: &mut Vec<Diagnostic>,
) -> Resolved {
    let expressions = program.arena.len();
    let mut resolver = Resolver {
        program,
        declarations,
        scope: HashMap::new(),
        resolved: Resolved {
            names: vec![Resolution::Unbound; expressions],
            aliases: HashMap::new(),
            first_binding: vec![BindingId(0); expressions],
            bindings: Vec::new(),
            known_head: vec![false; expressions],
            dependencies: vec![Vec::new(); program.definitions.len()],
            inputs: Vec::new(),
            no_constructors: Vec::new(),
        },
        current: None,
        being_bound: Vec::new(),
        suggestions: 0,
        diagnostics,
    };
    resolver.program();
    resolver.resolved
}

impl Resolver<'_> {
    fn program(&mut self) {
        let program = self.program;
        // What the library means by a name does not depend on the program.
        self.definitions(true);
        self.hide_library();
        for entry in &program.entries {
            let first = self.allocate(entry.inputs.iter().map(|(name, _)| name.clone()));
            self.resolved.inputs.push(first);
            if !entry.explicit {
                self.push_inputs(entry, first);
            }
        }
        self.definitions(false);
        for (index, entry) in program.entries.iter().enumerate() {
            let first = self.resolved.inputs[index];
            if entry.explicit {
                self.push_inputs(entry, first);
            }
            self.visit(entry.body);
            if entry.explicit {
                entry
                    .inputs
                    .iter()
                    .for_each(|(name, _)| self.pop(&name.text));
            }
        }
    }

    /// Visits the definitions of the standard library, or those of the program.
    fn definitions(&mut self, library: bool) {
        let program = self.program;
        let definitions = program.definitions.iter().enumerate();
        let chosen: Vec<_> = definitions
            .filter(|(_, definition)| definition.library == library)
            .collect();
        for (index, definition) in &chosen {
            let meaning = Resolution::Definition(*index as u32);
            self.push(&definition.name.text, meaning);
        }
        for (index, definition) in &chosen {
            // An alias of a built-in is the built-in with its overloading.
            if let Some(builtin) = self.names_builtin(definition.value) {
                let alias = Resolution::Definition(*index as u32);
                self.push_alias(&definition.name.text, builtin, alias);
            }
        }
        for (index, definition) in chosen {
            self.current = Some(index as u32);
            self.visit(definition.value);
        }
        self.current = None;
    }

    /// Lets foreign functions and constructors hide definitions of the library.
    fn hide_library(&mut self) {
        let declarations = self.declarations;
        for (name, foreign) in &declarations.foreigns {
            if self.scope.contains_key(name) {
                self.push(name, Resolution::Foreign(*foreign));
            }
        }
        let names: Vec<Arc<str>> = self.scope.keys().cloned().collect();
        for name in names {
            if let Some((sum, constructor)) = declarations.constructor(&name) {
                self.push(&name, Resolution::Constructor(sum, constructor));
            }
        }
    }

    fn push_inputs(&mut self, entry: &ast::Entry, first: BindingId) {
        for (offset, (name, _)) in entry.inputs.iter().enumerate() {
            let binding = BindingId(first.0 + offset as u32);
            self.push(&name.text, Resolution::Binding(binding));
        }
    }

    fn allocate(&mut self, names: impl Iterator<Item = ast::Name>) -> BindingId {
        let first = BindingId(self.resolved.bindings.len() as u32);
        self.resolved.bindings.extend(names.map(|name| BindingInfo {
            name: name.text,
            span: name.span,
        }));
        first
    }

    fn allocate_patterns<'p>(
        &mut self,
        id: ExpressionId,
        patterns: impl Iterator<Item = &'p Pattern>,
    ) -> BindingId {
        let mut names = Vec::new();
        patterns.for_each(|pattern| pattern_names(pattern, &mut names));
        let first = self.allocate(names.into_iter());
        self.resolved.first_binding[id.0 as usize] = first;
        first
    }

    fn push(&mut self, name: &Arc<str>, referent: Resolution) {
        let alias = None;
        let meanings = self.scope.entry(name.clone()).or_default();
        meanings.push(Meaning { referent, alias });
    }

    /// Brings another name of a built-in into scope.
    fn push_alias(&mut self, name: &Arc<str>, builtin: BuiltinId, alias: Resolution) {
        let (referent, alias) = (Resolution::Builtin(builtin), Some(alias));
        let meanings = self.scope.entry(name.clone()).or_default();
        meanings.push(Meaning { referent, alias });
    }

    fn pop(&mut self, name: &Arc<str>) {
        if let Some(meanings) = self.scope.get_mut(name) {
            meanings.pop();
        }
    }

    /// Brings the bindings `from..to` into scope.
    fn enter(&mut self, from: u32, to: u32) {
        for binding in from..to {
            let name = self.resolved.bindings[binding as usize].name.clone();
            self.push(&name, Resolution::Binding(BindingId(binding)));
        }
    }

    fn leave(&mut self, from: u32, to: u32) {
        for binding in from..to {
            let name = self.resolved.bindings[binding as usize].name.clone();
            self.pop(&name);
        }
    }

    fn meaning(&self, name: &str) -> Option<Resolution> {
        if let Some(meaning) = self.scope.get(name).and_then(|meanings| meanings.last()) {
            return Some(meaning.referent);
        }
        if let Some((sum, constructor)) = self.declarations.constructor(name) {
            return Some(Resolution::Constructor(sum, constructor));
        }
        if let Some(foreign) = self.declarations.foreigns.get(name) {
            return Some(Resolution::Foreign(*foreign));
        }
        BuiltinId::by_name(name).map(Resolution::Builtin)
    }

    /// Returns the built-in that an expression names.
    fn names_builtin(&self, id: ExpressionId) -> Option<BuiltinId> {
        if let ExpressionKind::Name(name) = &self.program.expression(id).kind
            && let Some(Resolution::Builtin(builtin)) = self.meaning(name)
        {
            return Some(builtin);
        }
        None
    }

    fn visit_all(&mut self, ids: &[ExpressionId]) {
        ids.iter().for_each(|id| self.visit(*id));
    }

    fn visit(&mut self, id: ExpressionId) {
        deep(|| self.visit_kind(id));
    }

    fn visit_kind(&mut self, id: ExpressionId) {
        let program = self.program;
        match &program.expression(id).kind {
            ExpressionKind::Name(name) => self.name(id, name),
            ExpressionKind::Number(_)
            | ExpressionKind::Bool(_)
            | ExpressionKind::Nil
            | ExpressionKind::Text(_) => {}
            ExpressionKind::Vector(elements)
            | ExpressionKind::Tuple(elements)
            | ExpressionKind::Wrong(elements) => self.visit_all(elements),
            ExpressionKind::Apply(function, arguments) => {
                self.visit(*function);
                self.resolved.known_head[id.0 as usize] =
                    self.resolved.known_head[function.0 as usize];
                self.visit_all(arguments);
            }
            ExpressionKind::Lambda {
                parameters, body, ..
            } => {
                let first = self.allocate_patterns(id, parameters.iter()).0;
                let end = self.resolved.bindings.len() as u32;
                self.enter(first, end);
                self.visit(*body);
                self.leave(first, end);
            }
            ExpressionKind::Let { bindings, body } => self.visit_let(id, bindings, *body),
            ExpressionKind::Mu { name, value, .. } => {
                let first = self.allocate(std::iter::once(name.clone()));
                self.resolved.first_binding[id.0 as usize] = first;
                self.enter(first.0, first.0 + 1);
                self.visit(*value);
                self.leave(first.0, first.0 + 1);
            }
            ExpressionKind::If {
                condition,
                then,
                otherwise,
            } => self.visit_all(&[*condition, *then, *otherwise]),
            ExpressionKind::Case { scrutinee, arms } => self.visit_case(id, *scrutinee, arms),
            ExpressionKind::Project(tuple, _, _) => self.visit(*tuple),
            ExpressionKind::Index(vector, index) => self.visit_all(&[*vector, *index]),
            ExpressionKind::Annotate(inner, _) => self.visit(*inner),
            ExpressionKind::Foreach {
                datum,
                links,
                nodes,
            } => self.visit_foreach(id, *datum, links, nodes),
            ExpressionKind::Up { body, links } => self.visit_up(id, *body, links),
            ExpressionKind::Down(datum) => self.visit(*datum),
        }
    }

    /// Visits a `foreach`. Its bindings are the functions on links, then what each body binds.
    fn visit_foreach(
        &mut self,
        id: ExpressionId,
        datum: ExpressionId,
        links: &[Pattern; 2],
        nodes: &[ast::NodeBody],
    ) {
        self.visit(datum);
        let patterns = nodes.iter().map(|node| &node.pattern);
        let first = self.allocate_patterns(id, links.iter().chain(patterns)).0;
        let functions = first + links.iter().map(count_names).sum::<u32>();
        self.enter(first, functions);
        let mut next = functions;
        for node in nodes {
            let end = next + count_names(&node.pattern);
            self.enter(next, end);
            self.visit(node.body);
            self.leave(next, end);
            next = end;
        }
        self.leave(first, functions);
    }

    /// Visits an `up`. Its links are known in its body only.
    fn visit_up(
        &mut self,
        id: ExpressionId,
        body: ExpressionId,
        links: &[(Pattern, ExpressionId)],
    ) {
        links.iter().for_each(|(_, datum)| self.visit(*datum));
        let first = self
            .allocate_patterns(id, links.iter().map(|(link, _)| link))
            .0;
        let end = first + links.iter().map(|(link, _)| count_names(link)).sum::<u32>();
        self.enter(first, end);
        self.visit(body);
        self.leave(first, end);
    }

    fn visit_let(
        &mut self,
        id: ExpressionId,
        bindings: &[(Pattern, ExpressionId)],
        body: ExpressionId,
    ) {
        let first = self
            .allocate_patterns(id, bindings.iter().map(|(pattern, _)| pattern))
            .0;
        let end = self.resolved.bindings.len() as u32;
        let mut next = first;
        for (pattern, value) in bindings {
            let before = self.being_bound.len();
            let mut own = Vec::new();
            pattern_names(pattern, &mut own);
            self.being_bound
                .extend(own.into_iter().map(|name| name.text));
            self.visit(*value);
            self.being_bound.truncate(before);
            let names = count_names(pattern);
            let alias = self.names_builtin(*value);
            if let (PatternKind::Name(name), None, Some(builtin)) =
                (&pattern.kind, &pattern.annotation, alias)
            {
                self.push_alias(name, builtin, Resolution::Binding(BindingId(next)));
            } else {
                self.enter(next, next + names);
            }
            next += names;
        }
        self.visit(body);
        self.leave(first, end);
    }

    fn visit_case(&mut self, id: ExpressionId, scrutinee: ExpressionId, arms: &[ast::Arm]) {
        self.visit(scrutinee);
        let payloads = arms.iter().filter_map(|arm| arm.payload.as_ref());
        let mut next = self.allocate_patterns(id, payloads).0;
        for arm in arms {
            let end = next + arm.payload.as_ref().map_or(0, count_names);
            self.enter(next, end);
            self.visit(arm.body);
            self.leave(next, end);
            next = end;
        }
    }

    fn name(&mut self, id: ExpressionId, name: &Arc<str>) {
        let Some(meaning) = self.meaning(name) else {
            self.unbound(self.program.expression(id).span, name);
            return;
        };
        self.resolved.names[id.0 as usize] = meaning;
        if let Resolution::Builtin(_) = meaning
            && let Some(Some(alias)) = self
                .scope
                .get(name)
                .and_then(|all| all.last())
                .map(|m| m.alias)
        {
            self.resolved.aliases.insert(id, alias);
        }
        match meaning {
            Resolution::Definition(definition) => {
                if let Some(current) = self.current {
                    self.resolved.dependencies[current as usize].push(definition);
                }
            }
            Resolution::Builtin(_) | Resolution::Constructor(..) | Resolution::Foreign(_) => {
                self.resolved.known_head[id.0 as usize] = true;
            }
            Resolution::Unbound | Resolution::Binding(_) => {}
        }
    }

    fn unbound(&mut self, span: Span, name: &str) {
        if self.program.lost.may_hold(name) {
            return;
        }
        if let Some(sum) = self.declarations.sum_of_nodes_named(name) {
            let place = (span, Arc::from(name), sum);
            self.resolved.no_constructors.push(place);
            return;
        }
        let message = format!("`{name}` is not bound here");
        let mut diagnostic =
            Diagnostic::error(codes::UNBOUND_NAME, span, message).label("not in scope");
        self.suggestions += 1;
        if self.suggestions <= SUGGESTIONS {
            let in_scope = self
                .scope
                .iter()
                .filter(|(_, meanings)| !meanings.is_empty())
                .map(|(name, _)| &**name);
            let candidates = in_scope
                .chain(self.declarations.constructor_names())
                .chain(self.declarations.foreigns.keys().map(|name| &**name))
                .chain(builtin_names().map(|name| name as &str));
            let is_own = self.being_bound.iter().any(|bound| **bound == *name);
            let own = is_own.then(|| {
                format!(
                    "the value of a `let` does not see its own name: write `({name} (mu ({name} : T) (lambda …)))`, \
                     or use `define`"
                )
            });
            if let Some(help) = own
                .or_else(|| self.instead_of_path(name))
                .or_else(|| instead_of(name, candidates))
            {
                diagnostic = diagnostic.help(help);
            }
        }
        self.diagnostics.push(diagnostic);
    }

    /// Returns what to write instead of a name such as `X.i`, where `X` is bound.
    fn instead_of_path(&self, name: &str) -> Option<String> {
        let (owner, element) = name.split_once('.')?;
        self.meaning(owner)?;
        Some(format!(
            "`({owner} ! {element})` is an element of a vector, `{owner}.0` one of a tuple"
        ))
    }
}

/// Adds the names that a pattern binds, in order.
fn pattern_names(pattern: &Pattern, names: &mut Vec<ast::Name>) {
    match &pattern.kind {
        PatternKind::Name(text) => names.push(ast::Name {
            text: text.clone(),
            span: pattern.span,
        }),
        PatternKind::Wildcard => {}
        PatternKind::Tuple(elements) => {
            deep(|| elements.iter().for_each(|p| pattern_names(p, names)));
        }
    }
}

/// Returns the number of names a pattern binds.
pub(crate) fn count_names(pattern: &Pattern) -> u32 {
    match &pattern.kind {
        PatternKind::Name(_) => 1,
        PatternKind::Wildcard => 0,
        PatternKind::Tuple(elements) => deep(|| elements.iter().map(count_names).sum()),
    }
}
