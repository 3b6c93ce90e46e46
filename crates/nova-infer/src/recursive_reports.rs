//! Messages about `foreach`, `up`, `dn`, `table` and `datum`: types without node types, groups,
//! bodies that give no node, links that stand or go where they cannot.

use crate::declarations::NoNodes;
use crate::node_types::starred;
use crate::recursive_demands::Found;
use crate::show::Show;
use crate::solver::Recursive;
use crate::types::{LinkType, Side};
use crate::types::{Shallow, SumDeclarationId, Ty, TyNode, TypeVariable};
use nova_diag::{Code, Diagnostic, Span, codes};
use nova_syntax::ast::{ExpressionId, ExpressionKind, PatternKind};
use std::collections::HashSet;

impl Recursive<'_, '_> {
    /// Reports a type without node type where a form takes recursive data.
    pub(crate) fn no_node_type(&mut self, at: ExpressionId, ty: Ty, form: &str) {
        if let Shallow::Node(TyNode::Sum(sum, _)) = self.solver.types.shallow(ty)
            && self.solver.source.declarations.own_nodes.contains_key(&sum)
        {
            // Its declaration has been reported.
            self.solver.nodeless.insert(sum);
            return;
        }
        let shown = Show::new(&mut self.solver.types, self.solver.source.declarations).words(ty);
        let span = self.solver.source.span(at);
        let declarations = self.solver.source.declarations;
        let sum = match self.solver.types.shallow(ty) {
            Shallow::Node(TyNode::Sum(sum, _)) => Some(sum),
            Shallow::Node(_) | Shallow::Unbound(..) => None,
        };
        self.solver.nodeless.extend(sum);
        let without = sum.map(|sum| (sum, declarations.no_nodes(sum)));
        let diagnostic = match (without, sum.and_then(|sum| declarations.sum(sum).node_of)) {
            (Some((sum, obstacle)), None) if obstacle != NoNodes::NotRecursive => {
                let message = format!("{shown} has no node type, so `{form}` cannot take it");
                let declared = declarations.sum(sum).name.span;
                obstacle.explain(
                    declared,
                    Diagnostic::error(codes::NO_NODE_TYPE, span, message),
                )
            }
            (_, Some(of)) => {
                let name = &declarations.sum(of).name.text;
                let message = format!("`{form}` takes recursive data, but this is a node, {shown}");
                Diagnostic::error(codes::NO_NODE_TYPE, span, message).help(format!(
                    "`(up … )` makes a `{name}` of a node; `(datum 0 V)` makes one of a table"
                ))
            }
            (_, None) if form == "datum" => {
                let message = format!("`datum` gives recursive data, but {shown} must stand here");
                Diagnostic::error(codes::NO_NODE_TYPE, span, message)
                    .label("its datum would not be a sum that contains itself")
            }
            (_, None) => {
                let message = format!("`{form}` takes recursive data, but this is {shown}");
                let diagnostic = Diagnostic::error(codes::NO_NODE_TYPE, span, message)
                    .label("not a sum that contains itself");
                let is_table = match self.solver.types.shallow(ty) {
                    Shallow::Node(TyNode::Vector(element)) => {
                        matches!(self.sum_of_nodes(element), Found::Sum(_))
                    }
                    Shallow::Node(_) | Shallow::Unbound(..) => false,
                };
                match is_table {
                    true => diagnostic.help("this is a table: `(datum 0 V)` makes its datum"),
                    false => diagnostic,
                }
            }
        };
        self.solver.diagnostics.push(diagnostic);
    }

    /// Reports the constructors of nodes that do not exist: once for each sum, and not where
    /// another message says that it has no nodes.
    pub fn report_no_constructors(&mut self) {
        let mut places = std::mem::take(&mut self.solver.no_constructors);
        places.sort_unstable_by_key(|(span, ..)| *span);
        let named = self.solver.source.program.type_arena.iter();
        let named: HashSet<&str> = named.filter_map(|ty| Some(&**ty.kind.name()?)).collect();
        for (span, name, sum) in places {
            // Where the node type is named, that is reported.
            let node = starred(&self.solver.source.declarations.sum(sum).name).text;
            if !named.contains(&*node) && self.solver.nodeless.insert(sum) {
                let diagnostic = self
                    .solver
                    .source
                    .declarations
                    .no_nodes_error(sum, &name, span);
                self.solver.diagnostics.push(diagnostic);
            }
        }
    }

    /// Reports a body of a `foreach` or `up` that gives no node.
    pub(crate) fn no_node(&mut self, at: ExpressionId, ty: Ty) {
        let shown = Show::new(&mut self.solver.types, self.solver.source.declarations).words(ty);
        let at = crate::source::innermost(self.solver.source, at);
        self.follows_from_argument(at, codes::NOT_A_NODE);
        let message = format!("the body must give a node, but this is {shown}");
        let mut diagnostic =
            Diagnostic::error(codes::NOT_A_NODE, self.solver.source.span(at), message)
                .label(format!("this is {shown}"));
        diagnostic = match self.solver.types.shallow(ty) {
            Shallow::Node(TyNode::Sum(sum, _)) if self.has_nodes(sum) => {
                let declaration = self.solver.source.declarations.sum(sum);
                let constructor = declaration.constructors.last();
                let name = constructor.map_or(&declaration.name, |c| &c.name);
                let node = starred(name).text;
                diagnostic.help(format!(
                    "`{node}` makes a node, and `{}` makes data",
                    name.text
                ))
            }
            Shallow::Node(_) | Shallow::Unbound(..) => diagnostic.help(
                "a node is made with a constructor of a node type, such as `Cons*` for a `List`",
            ),
        };
        self.solver.diagnostics.push(diagnostic);
    }

    fn has_nodes(&self, sum: SumDeclarationId) -> bool {
        self.solver.source.declarations.node_type(sum).is_some()
    }

    /// Reports a datum whose type nothing tells.
    pub(crate) fn unknown_datum(&mut self, at: ExpressionId, form: &str) {
        let text = self
            .solver
            .source
            .source_text(at)
            .unwrap_or_else(|| "M".to_string());
        let message = format!("could not determine the recursive type that `{form}` takes");
        let diagnostic =
            Diagnostic::error(codes::AMBIGUOUS_TYPE, self.solver.source.span(at), message)
                .label("nothing here says what this is")
                .help(format!("annotate it, as in `({text} : (List int))`"));
        self.solver.diagnostics.push(diagnostic);
    }

    /// Reports a table whose nodes nothing tells.
    pub(crate) fn unknown_table(&mut self, at: ExpressionId) {
        let text = self.solver.source.source_text(at);
        let text = text.unwrap_or_else(|| "V".to_string());
        let message = "could not determine whose nodes `datum` takes";
        let diagnostic =
            Diagnostic::error(codes::AMBIGUOUS_TYPE, self.solver.source.span(at), message)
                .label("nothing here says what the nodes of this table are")
                .help(format!(
                    "annotate it, as in `({text} : vector (List* int int))`"
                ));
        self.solver.diagnostics.push(diagnostic);
    }

    /// Reports a value that is no table where `datum` takes one.
    pub(crate) fn no_table(&mut self, at: ExpressionId, ty: Ty) {
        let shown = Show::new(&mut self.solver.types, self.solver.source.declarations).words(ty);
        let message = format!("`datum` takes a table of nodes, but this is {shown}");
        let diagnostic = Diagnostic::error(codes::TYPE_MISMATCH, self.solver.source.span(at), message)
            .label(format!("this is {shown}"))
            .help("a table is a vector of nodes with `int` links, such as a `vector (List* int int)`; a group has a tuple of tables");
        self.solver.diagnostics.push(diagnostic);
    }

    /// Reports bodies whose node type nothing tells.
    pub(crate) fn unknown_result(&mut self, bodies: &[ExpressionId]) {
        let Some(at) = bodies.first() else { return };
        let message = "could not determine the node type that this gives";
        let diagnostic =
            Diagnostic::error(codes::AMBIGUOUS_TYPE, self.solver.source.span(*at), message)
                .label("nothing here says which nodes these are");
        self.solver.diagnostics.push(diagnostic);
    }

    /// Reports a use of `f` or `d` in a group whose link is not known.
    pub(crate) fn unknown_link(&mut self, at: ExpressionId) {
        let message = "could not determine which links of the group this takes";
        let diagnostic =
            Diagnostic::error(codes::AMBIGUOUS_TYPE, self.solver.source.span(at), message)
                .help("apply it to a link, or to links, of a node");
        self.solver.diagnostics.push(diagnostic);
    }

    /// Returns code, statement and remedy where a link is one of two types that differ. They are
    /// parts of two types, of which `found` is the second.
    pub(crate) fn link_mismatch(
        &mut self,
        wanted: Ty,
        given: Ty,
        found: Ty,
    ) -> Option<(Code, String, String)> {
        let is_whole = match self.solver.types.shallow(found) {
            Shallow::Node(TyNode::Link(_)) => true,
            Shallow::Node(TyNode::Sum(sum, _)) => {
                self.solver.source.declarations.sum(sum).node_of.is_some()
            }
            Shallow::Node(_) | Shallow::Unbound(..) => false,
        };
        let (wanted, given) = match (
            self.solver.types.shallow(wanted),
            self.solver.types.shallow(given),
        ) {
            (Shallow::Node(wanted), Shallow::Node(given)) => (wanted, given),
            (Shallow::Node(TyNode::Link(link)), Shallow::Unbound(..)) => {
                return Some(self.no_link(link, "a number"));
            }
            _ => return None,
        };
        match (wanted, given) {
            (TyNode::Link(wanted), TyNode::Link(given)) => {
                Some(self.two_links(wanted, given, is_whole))
            }
            (TyNode::Link(link), TyNode::Sum(sum, _)) if self.has_nodes(sum) => Some((
                codes::WRONG_LINK,
                "a node holds links to nodes of its own form, but this is a datum".to_string(),
                match (link.side, self.form_word(link)) {
                    (Side::New, "up") => {
                        "bind the datum to a link in the `up`: `(up … (x M))`".to_string()
                    }
                    _ => {
                        "a `foreach` cannot link to other data; use one of the links of the old node"
                            .to_string()
                    }
                },
            )),
            (TyNode::Sum(sum, _), TyNode::Link(_)) if self.has_nodes(sum) => {
                let declaration = self.solver.source.declarations.sum(sum);
                let constructor = declaration.constructors.last();
                let name = constructor.map_or(&declaration.name, |c| &c.name);
                Some((
                    codes::WRONG_LINK,
                    format!("a `{}` must stand here, but this is a link", declaration.name.text),
                    format!(
                        "`{}` makes a node of links, and `{}` makes data of data",
                        starred(name).text,
                        name.text
                    ),
                ))
            }
            (TyNode::Sum(a, _), TyNode::Sum(b, _)) => self.node_or_datum(a, b),
            (TyNode::Link(link), TyNode::Sum(sum, _))
                if self.solver.source.declarations.sum(sum).node_of.is_some() =>
            {
                Some(self.no_link(link, "a node"))
            }
            (TyNode::Link(link), TyNode::Scalar(_)) => Some(self.no_link(link, "a number")),
            (TyNode::Link(_), _) | (_, TyNode::Link(_)) => Some((
                codes::WRONG_LINK,
                "a link and something else stand where one type must be".to_string(),
                "links can only be held in nodes, renamed and followed".to_string(),
            )),
            _ => None,
        }
    }

    /// Describes something that stands where a link must be.
    fn no_link(&self, link: LinkType, given: &str) -> (Code, String, String) {
        let help = match (link.side, self.form_word(link)) {
            (Side::Old, _) => {
                "the links of old nodes are those in the nodes that the bodies take".to_string()
            }
            (Side::New, "up") => "an `up` binds data to links: `(up … (l M))`".to_string(),
            (Side::New, _) => {
                let name = self.rename_name(link);
                format!("`({name} l)` gives the link to the new node for a link `l` of an old one")
            }
        };
        let message = format!("a link must stand here, but this is {given}");
        (codes::WRONG_LINK, message, help)
    }

    /// True for a link to a new node and one to an old node of one form.
    pub(crate) fn is_renamed(&mut self, new: Ty, old: Ty) -> bool {
        match (
            self.solver.types.shallow(new),
            self.solver.types.shallow(old),
        ) {
            (Shallow::Node(TyNode::Link(new)), Shallow::Node(TyNode::Link(old))) => {
                new.form == old.form && (new.side, old.side) == (Side::New, Side::Old)
            }
            _ => false,
        }
    }

    fn two_links(
        &self,
        wanted: LinkType,
        given: LinkType,
        is_whole: bool,
    ) -> (Code, String, String) {
        if wanted.form != given.form {
            let word = self.form_word(given);
            return (
                codes::WRONG_LINK,
                format!("this is a link of another `{word}`"),
                "the links of a form are used in it only; read what they lead to outside of the inner form".to_string(),
            );
        }
        match (wanted.side, given.side) {
            (Side::New, Side::Old) => (
                codes::WRONG_LINK,
                "this links to an old node, where a link to a new node must be".to_string(),
                match is_whole {
                    true => format!("rename the link with `({} …)`", self.rename_name(given)),
                    false => format!(
                        "rename each link in it with `({} …)`, by `map` or a `foreach`",
                        self.rename_name(given)
                    ),
                },
            ),
            (Side::Old, Side::New) => (
                codes::WRONG_LINK,
                "this links to a new node, where a link to an old node must be".to_string(),
                "new nodes can neither be renamed nor followed, since they do not exist yet"
                    .to_string(),
            ),
            (Side::Old, Side::Old) | (Side::New, Side::New) => {
                let message = match (self.name_of_target(wanted), self.name_of_target(given)) {
                    (Some(wanted), Some(given)) => {
                        format!("this links to a `{given}`, where a link to a `{wanted}` must be")
                    }
                    _ => "this links to nodes of another type of the group".to_string(),
                };
                let help = "each type of the group has links of its own".to_string();
                (codes::WRONG_LINK, message, help)
            }
        }
    }

    /// Returns the name of the type that a link leads to, once it is known.
    fn name_of_target(&self, link: LinkType) -> Option<&str> {
        let form = self.solver.forms.get(link.form as usize)?;
        let known = form.old.as_ref().or(form.new.as_ref())?;
        let group = self.solver.source.declarations.group(known.sum);
        let sum = group.get(link.member as usize)?;
        Some(&self.solver.source.declarations.sum(*sum).name.text)
    }

    fn node_or_datum(
        &self,
        wanted: SumDeclarationId,
        given: SumDeclarationId,
    ) -> Option<(Code, String, String)> {
        let declarations = self.solver.source.declarations;
        let (node, sum) = match (
            declarations.sum(wanted).node_of,
            declarations.sum(given).node_of,
        ) {
            (Some(of), _) if of == given => (wanted, given),
            (_, Some(of)) if of == wanted => (given, wanted),
            _ => return None,
        };
        let (node, sum) = (declarations.sum(node), declarations.sum(sum));
        let constructor = sum.constructors.last().map_or(&sum.name, |c| &c.name);
        let message = match declarations.sum(wanted).node_of {
            Some(_) => format!(
                "a node must stand here, `{}`, but this is a datum, `{}`",
                node.name.text, sum.name.text
            ),
            None => format!(
                "a datum must stand here, `{}`, but this is a node, `{}`",
                sum.name.text, node.name.text
            ),
        };
        let help = format!(
            "`{}` makes a node, and `{}` makes data; `dn` and `up` lead from one to the other",
            starred(constructor).text,
            constructor.text
        );
        Some((codes::NOT_A_NODE, message, help))
    }

    /// Returns the word of the form of a link.
    fn form_word(&self, link: LinkType) -> &'static str {
        match self.solver.forms.get(link.form as usize) {
            Some(form) if form.is_up() => "up",
            Some(_) | None => "foreach",
        }
    }

    /// Returns the name that the renaming function of a link's form has.
    fn rename_name(&self, link: LinkType) -> String {
        let at = self
            .solver
            .forms
            .get(link.form as usize)
            .map(|form| form.at);
        let kind = at.map(|at| &self.solver.source.program.expression(at).kind);
        if let Some(ExpressionKind::Foreach { links, .. }) = kind
            && let Some(first) = links.first()
            && let PatternKind::Name(name) = &first.kind
        {
            return name.to_string();
        }
        "f".to_string()
    }

    /// Reports a link that would get into the type of something older than its form, which the
    /// variable `holder` stands for.
    pub(crate) fn escape(&mut self, link: LinkType, span: Span, holder: Option<TypeVariable>) {
        let word = self.form_word(link);
        let message = format!("a link of this `{word}` would leave it");
        let whole = self.solver.forms.get(link.form as usize);
        let whole = whole.map(|form| self.solver.source.span(form.at));
        let holder = holder.and_then(|holder| {
            let root = self.solver.types.table.find(holder);
            self.solver.types.origin(root)
        });
        let written = holder.and_then(|holder| self.solver.source.sources.written(holder));
        let is_annotation = written.is_some_and(|text| text.starts_with('\''));
        let older = holder.filter(|holder| {
            let inside = whole.is_some_and(|whole| crate::clean::contains(whole, *holder));
            *holder != span && (is_annotation || !inside)
        });
        let help = match link.side {
            _ if is_annotation => "a type variable of an annotation stands for one type in the whole definition: leave the annotation out".to_string(),
            Side::Old => format!(
                "links of old nodes exist inside of the `{word}` only: rename them with `({} …)`, or read the node that they lead to",
                self.rename_name(link)
            ),
            Side::New => {
                format!("links of new nodes can only stand in the nodes that the `{word}` gives")
            }
        };
        let label = match older {
            Some(_) => "the link would get into an older type here",
            None => "the link is in the type of something older",
        };
        let mut diagnostic = Diagnostic::error(codes::LINK_ESCAPES, span, message)
            .label(label)
            .help(help);
        if let Some(older) = older {
            diagnostic = diagnostic.also(older, "this is older than the form");
        }
        if let Some(whole) = whole
            && whole != span
        {
            diagnostic = diagnostic.also(whole, "the form of the link");
        }
        self.solver.diagnostics.push(diagnostic);
    }

    /// Records a mistake about a link, node or datum at an expression. Returns true if it follows
    /// from one at an argument of it. A datum where a node must be explains the link in it, whose
    /// message is taken back.
    pub(crate) fn follows_from_argument(&mut self, at: ExpressionId, code: Code) -> bool {
        let arguments: &[ExpressionId] = match &self.solver.source.program.expression(at).kind {
            ExpressionKind::Apply(_, arguments) => arguments,
            _ => &[],
        };
        let wrong = |argument: &&ExpressionId| self.solver.link_mistakes.contains(argument);
        let argument = arguments.iter().find(wrong);
        let span = argument.map(|argument| self.solver.source.span(*argument));
        self.solver.link_mistakes.insert(at);
        let Some(span) = span else {
            return false;
        };
        if code != codes::NOT_A_NODE {
            return true;
        }
        let stays = |d: &Diagnostic| d.code != codes::WRONG_LINK || d.primary.span != span;
        self.solver.diagnostics.retain(stays);
        false
    }
}
