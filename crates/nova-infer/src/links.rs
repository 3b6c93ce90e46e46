//! The rigid types of links, and what is known of the forms that they belong to (dpr §4.1).
//!
//! A `foreach` makes two types for each type of its group: that of the links of the old nodes, and
//! that of the links of the new ones. An `up` makes the second. A rigid type equals itself only, and
//! may not get into the type of anything older than its form.

use crate::types::{LinkType, Side, SumDeclarationId, Ty, TyNode, Types, children};
use nova_syntax::ast::ExpressionId;

/// A function that a `foreach` binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkFunction {
    /// `f`: from an old link to the new one.
    Rename,
    /// `d`: from an old link to its node.
    Follow,
}

/// A recursive sum with its arguments.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    /// The declaration.
    pub sum: SumDeclarationId,
    /// Its arguments.
    pub arguments: Vec<Ty>,
}

/// A `foreach` or an `up`.
#[derive(Clone, Debug)]
pub(crate) struct LinkForm {
    /// The expression.
    pub at: ExpressionId,
    /// The data that a `foreach` reads, once it is known.
    pub old: Option<Instance>,
    /// The data that the form makes, once they are known.
    pub new: Option<Instance>,
    /// The type of the nodes for each body of a `foreach`. An `up` has none.
    pub nodes: Vec<Ty>,
    /// The member of the group for each body, once the group is known.
    pub members: Vec<u32>,
    /// The sum whose nodes each body makes, once it is known.
    pub made: Vec<SumDeclarationId>,
    /// The parts of the payloads of the nodes that the bodies give.
    pub places: Vec<Place>,
    /// The expressions that give the nodes of each body, with their types.
    pub given: Vec<(usize, ExpressionId, Ty)>,
}

/// A part of the payload of a node that a body gives, for messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The position of the body.
    pub body: usize,
    /// The expression.
    pub at: ExpressionId,
    /// Its type.
    pub ty: Ty,
    /// The node type of the constructor.
    pub node: SumDeclarationId,
    /// The type of the part as the node type declares it.
    pub declared: Ty,
}

impl LinkForm {
    /// True for `up`.
    pub fn is_up(&self) -> bool {
        self.nodes.is_empty()
    }
}

impl Types {
    /// Begins a form at the current level. Returns its number.
    pub fn begin_links(&mut self) -> u32 {
        self.link_levels.push(self.level);
        self.link_levels.len() as u32 - 1
    }

    /// Returns the type of a link.
    pub fn link(&mut self, form: u32, member: u32, side: Side) -> Ty {
        let level = self.link_levels.get(form as usize).copied().unwrap_or(1);
        let link = LinkType { form, member, side };
        self.push(TyNode::Link(link), level)
    }

    /// True if a type contains a link type.
    pub fn holds_link(&mut self, ty: Ty, link: LinkType) -> bool {
        self.begin_walk();
        let mut work = vec![ty];
        while let Some(ty) = work.pop() {
            let ty = self.resolve(ty);
            if !self.visit(ty) {
                continue;
            }
            match self.node(ty) {
                TyNode::Link(found) if *found == link => return true,
                node => work.extend(children(node)),
            }
        }
        false
    }

    /// Returns the types of the links of a form to each of `count` members.
    pub fn links(&mut self, form: u32, count: usize, side: Side) -> Vec<Ty> {
        (0..count as u32)
            .map(|member| self.link(form, member, side))
            .collect()
    }
}
