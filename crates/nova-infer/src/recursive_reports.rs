//! Messages about `foreach`, `up`, `dn`, `table` and `datum`: types without node types, groups,
//! bodies that give no node, links that stand or go where they cannot.

use crate::declarations::{Declarations, TypeMeaning};
use crate::links::{Instance, LinkType, Side};
use crate::node_types::starred;
use crate::show::Show;
use crate::solver::Solver;
use crate::suggest::did_you_mean;
use crate::types::{Shallow, SumDeclarationId, Ty, TyNode};
use nova_diag::{Code, Diagnostic, Span, codes};
use nova_syntax::ast::{ExpressionId, ExpressionKind, Name, NodeBody, PatternKind};

impl Declarations {
    /// Returns the declared sum of a name.
    pub fn sum_named(&self, name: &str) -> Option<SumDeclarationId> {
        match self.names.get(name) {
            Some(TypeMeaning::Sum(sum)) => Some(*sum),
            Some(TypeMeaning::Synonym(_)) | None => None,
        }
    }
}

impl Solver<'_> {
    /// Returns the member of the group of a datum for each body of a `foreach`. Reports names that
    /// are no members, and members without a body.
    pub(crate) fn members_of(
        &mut self,
        at: ExpressionId,
        instance: &Instance,
        bodies: &[NodeBody],
    ) -> Option<Vec<u32>> {
        let declarations = self.source.declarations;
        let group = declarations.group(instance.sum);
        let position = |sum| group.iter().position(|member| *member == sum);
        let mut members = vec![position(instance.sum)? as u32];
        let mut whole = true;
        for name in bodies.iter().filter_map(|body| body.ty.as_ref()) {
            let member = declarations.sum_named(&name.text).and_then(position);
            match member.map(|member| member as u32) {
                Some(member) if !members.contains(&member) => members.push(member),
                Some(member) => {
                    self.second_body(name, group[member as usize] == instance.sum);
                    whole = false;
                }
                None => {
                    self.no_member(name, instance.sum, &group);
                    whole = false;
                }
            }
        }
        if whole && members.len() < group.len() {
            self.missing_bodies(at, instance.sum, &group, &members);
            whole = false;
        }
        whole.then_some(members)
    }

    fn second_body(&mut self, name: &Name, is_datum: bool) {
        let message = match is_datum {
            true => format!(
                "`{}` is the type of the datum, which has the first body",
                name.text
            ),
            false => format!("`{}` has a body already", name.text),
        };
        self.diagnostics
            .push(Diagnostic::error(codes::BAD_GROUP, name.span, message));
    }

    fn no_member(&mut self, name: &Name, sum: SumDeclarationId, group: &[SumDeclarationId]) {
        let declarations = self.source.declarations;
        if self.source.program.lost.may_hold(&name.text) {
            return;
        }
        let datum = declarations.sum(sum);
        let message = format!(
            "`{}` has no nodes in this `foreach`: it and `{}` do not contain each other",
            name.text, datum.name.text
        );
        let others = group.iter().filter(|member| **member != sum);
        let others: Vec<&str> = others
            .map(|member| &*declarations.sum(*member).name.text)
            .collect();
        let mut diagnostic = Diagnostic::error(codes::BAD_GROUP, name.span, message)
            .also(datum.name.span, "the type of the datum");
        diagnostic = match (
            others.as_slice(),
            did_you_mean(&name.text, others.iter().copied()),
        ) {
            ([], _) => diagnostic.help(format!(
                "`{}` has no other types in its group: write `(foreach (x …) (f d) …)`",
                datum.name.text
            )),
            (_, Some(other)) => diagnostic.help(format!("did you mean `{other}`?")),
            (_, None) => diagnostic.help(format!("the other types are `{}`", others.join("`, `"))),
        };
        self.diagnostics.push(diagnostic);
    }

    fn missing_bodies(
        &mut self,
        at: ExpressionId,
        sum: SumDeclarationId,
        group: &[SumDeclarationId],
        members: &[u32],
    ) {
        let declarations = self.source.declarations;
        let missing = (0..group.len() as u32).filter(|member| !members.contains(member));
        let missing: Vec<String> = missing
            .map(|member| format!("`{}`", declarations.sum(group[member as usize]).name.text))
            .collect();
        let missing = missing.join(", ");
        let name = &declarations.sum(sum).name;
        let message = format!("this `foreach` has no body for the nodes of {missing}");
        let others: Vec<String> = group
            .iter()
            .filter(|member| **member != sum)
            .enumerate()
            .map(|(k, member)| format!(" (y{} {})", k + 1, declarations.sum(*member).name.text))
            .collect();
        let bodies = " …".repeat(group.len());
        let diagnostic = Diagnostic::error(codes::BAD_GROUP, self.source.span(at), message)
            .label(format!("goes over `{}`", name.text))
            .also(name.span, "this type and the others contain each other")
            .help(format!(
                "give each type a body: `(foreach ((x …){}) (f d){bodies})`",
                others.concat()
            ));
        self.diagnostics.push(diagnostic);
    }

    /// Reports a type without node type where a form takes recursive data.
    pub(crate) fn no_node_type(&mut self, at: ExpressionId, ty: Ty, form: &str) {
        let shown = Show::new(&mut self.types, self.source.declarations).words(ty);
        let span = self.source.span(at);
        let declarations = self.source.declarations;
        let sum = match self.types.shallow(ty) {
            Shallow::Node(TyNode::Sum(sum, _)) => Some(sum),
            Shallow::Node(_) | Shallow::Unbound(..) => None,
        };
        let irregular = sum.and_then(|sum| declarations.irregular(sum));
        let diagnostic = match (irregular, sum.and_then(|sum| declarations.sum(sum).node_of)) {
            (Some(place), _) => {
                let message = format!("{shown} has no node type, so `{form}` cannot take it");
                Diagnostic::error(codes::NO_NODE_TYPE, span, message)
                    .also(
                        place,
                        "contains itself with other arguments, or in a sum without a name",
                    )
                    .help(
                        "let the type contain itself with its own parameters only, in their order",
                    )
            }
            (None, Some(of)) => {
                let name = &declarations.sum(of).name.text;
                let message = format!("`{form}` takes recursive data, but this is a node, {shown}");
                Diagnostic::error(codes::NO_NODE_TYPE, span, message).help(format!(
                    "`(up … )` makes a `{name}` of a node; `(datum 0 V)` makes one of a table"
                ))
            }
            (None, None) => {
                let message = format!("`{form}` takes recursive data, but this is {shown}");
                Diagnostic::error(codes::NO_NODE_TYPE, span, message)
                    .label("not a sum that contains itself")
            }
        };
        self.diagnostics.push(diagnostic);
    }

    /// Reports a body of a `foreach` or `up` that gives no node.
    pub(crate) fn no_node(&mut self, at: ExpressionId, ty: Ty) {
        let shown = Show::new(&mut self.types, self.source.declarations).words(ty);
        let at = crate::messages::innermost(self.source, at);
        let message = format!("the body must give a node, but this is {shown}");
        let mut diagnostic = Diagnostic::error(codes::NOT_A_NODE, self.source.span(at), message)
            .label(format!("this is {shown}"));
        diagnostic = match self.types.shallow(ty) {
            Shallow::Node(TyNode::Sum(sum, _)) if self.has_nodes(sum) => {
                let declaration = self.source.declarations.sum(sum);
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
        self.diagnostics.push(diagnostic);
    }

    fn has_nodes(&self, sum: SumDeclarationId) -> bool {
        self.source.declarations.node_type(sum).is_some()
    }

    /// Reports a datum whose type nothing tells.
    pub(crate) fn unknown_datum(&mut self, at: ExpressionId, form: &str) {
        let text = self
            .source
            .source_text(at)
            .unwrap_or_else(|| "M".to_string());
        let message = format!("could not determine the recursive type that `{form}` takes");
        let diagnostic = Diagnostic::error(codes::AMBIGUOUS_TYPE, self.source.span(at), message)
            .label("nothing here says what this is")
            .help(format!("annotate it, as in `({text} : (List int))`"));
        self.diagnostics.push(diagnostic);
    }

    /// Reports a value that is no table where `datum` takes one.
    pub(crate) fn no_table(&mut self, at: ExpressionId, ty: Ty) {
        let shown = Show::new(&mut self.types, self.source.declarations).words(ty);
        let message = format!("`datum` takes a table of nodes, but this is {shown}");
        let diagnostic = Diagnostic::error(codes::TYPE_MISMATCH, self.source.span(at), message)
            .label(format!("this is {shown}"))
            .help("a table is a vector of nodes with `int` links, such as a `vector (List* int int)`; a group has a tuple of tables");
        self.diagnostics.push(diagnostic);
    }

    /// Reports bodies whose node type nothing tells.
    pub(crate) fn unknown_result(&mut self, bodies: &[ExpressionId]) {
        let Some(at) = bodies.first() else { return };
        let message = "could not determine the node type that this gives";
        let diagnostic = Diagnostic::error(codes::AMBIGUOUS_TYPE, self.source.span(*at), message)
            .label("nothing here says which nodes these are");
        self.diagnostics.push(diagnostic);
    }

    /// Reports a use of `f` or `d` in a group whose link is not known.
    pub(crate) fn unknown_link(&mut self, at: ExpressionId) {
        let message = "could not determine which links of the group this takes";
        let diagnostic = Diagnostic::error(codes::AMBIGUOUS_TYPE, self.source.span(at), message)
            .help("apply it to a link, or to links, of a node");
        self.diagnostics.push(diagnostic);
    }

    /// Reports bodies that do not make the nodes of one group.
    pub(crate) fn other_group(
        &mut self,
        at: ExpressionId,
        sums: &[SumDeclarationId],
        missing: SumDeclarationId,
    ) {
        let declarations = self.source.declarations;
        let name = |sum: &SumDeclarationId| format!("`{}`", declarations.sum(*sum).name.text);
        let made: Vec<String> = sums.iter().map(name).collect();
        let message = match sums {
            [one] => format!(
                "the body makes nodes of {}, which link to nodes of {} too",
                name(one),
                name(&missing)
            ),
            _ => format!(
                "the bodies make nodes of {}, not of one group of types",
                made.join(", ")
            ),
        };
        let declared = &declarations.sum(missing).name;
        let diagnostic = Diagnostic::error(codes::BAD_GROUP, self.source.span(at), message)
            .also(declared.span, "the types of this group contain each other")
            .help("each body makes the nodes of another type of one group, and the group has no more types");
        self.diagnostics.push(diagnostic);
    }

    /// Returns code, statement and remedy where a link is one of two types that differ.
    pub(crate) fn link_mismatch(
        &mut self,
        wanted: Ty,
        given: Ty,
    ) -> Option<(Code, String, String)> {
        let (wanted, given) = (self.types.shallow(wanted), self.types.shallow(given));
        let (Shallow::Node(wanted), Shallow::Node(given)) = (wanted, given) else {
            return None;
        };
        match (wanted, given) {
            (TyNode::Link(wanted), TyNode::Link(given)) => Some(self.two_links(wanted, given)),
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
                let declaration = self.source.declarations.sum(sum);
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
            (TyNode::Link(_), _) | (_, TyNode::Link(_)) => Some((
                codes::WRONG_LINK,
                "a link and something else stand where one type must be".to_string(),
                "links can only be held in nodes, renamed and followed".to_string(),
            )),
            _ => None,
        }
    }

    fn two_links(&self, wanted: LinkType, given: LinkType) -> (Code, String, String) {
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
                format!("rename the link with `({} …)`", self.rename_name(given)),
            ),
            (Side::Old, Side::New) => (
                codes::WRONG_LINK,
                "this links to a new node, where a link to an old node must be".to_string(),
                "new nodes can neither be renamed nor followed, since they do not exist yet"
                    .to_string(),
            ),
            (Side::Old, Side::Old) | (Side::New, Side::New) => (
                codes::WRONG_LINK,
                "this links to nodes of another type of the group".to_string(),
                "each type of the group has links of its own".to_string(),
            ),
        }
    }

    fn node_or_datum(
        &self,
        wanted: SumDeclarationId,
        given: SumDeclarationId,
    ) -> Option<(Code, String, String)> {
        let declarations = self.source.declarations;
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
        match self.forms.get(link.form as usize) {
            Some(form) if form.is_up() => "up",
            Some(_) | None => "foreach",
        }
    }

    /// Returns the name that the renaming function of a link's form has.
    fn rename_name(&self, link: LinkType) -> String {
        let at = self.forms.get(link.form as usize).map(|form| form.at);
        let kind = at.map(|at| &self.source.program.expression(at).kind);
        if let Some(ExpressionKind::Foreach { links, .. }) = kind
            && let Some(first) = links.first()
            && let PatternKind::Name(name) = &first.kind
        {
            return name.to_string();
        }
        "f".to_string()
    }

    /// Reports a link that would get into the type of something older than its form.
    pub(crate) fn escape(&mut self, link: LinkType, span: Span) {
        let word = self.form_word(link);
        let message = format!("a link of this `{word}` would leave it");
        let help = match link.side {
            Side::Old => format!(
                "links of old nodes exist inside of the `{word}` only: rename them with `({} …)`, or read the node that they lead to",
                self.rename_name(link)
            ),
            Side::New => {
                format!("links of new nodes can only stand in the nodes that the `{word}` gives")
            }
        };
        let mut diagnostic = Diagnostic::error(codes::LINK_ESCAPES, span, message)
            .label("the link is in the type of something older")
            .help(help);
        if let Some(form) = self.forms.get(link.form as usize) {
            let whole = self.source.span(form.at);
            if whole != span {
                diagnostic = diagnostic.also(whole, "the form of the link");
            }
        }
        self.diagnostics.push(diagnostic);
    }
}
