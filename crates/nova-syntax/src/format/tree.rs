//! A text as a tree of tokens, comments included.

use crate::datum::Shape;

nova_diag::ids! {
    /// Names an item of a [`Tree`].
    pub(super) struct ItemId;
}

/// The kind of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemKind {
    /// A name, number or text.
    Atom,
    Colon,
    Comma,
    /// Parentheses or brackets; the items are `children[first..first + count]`.
    Sequence {
        shape: Shape,
        first: u32,
        count: u32,
    },
    LineComment,
    BlockComment,
}

/// An item with the data for its layout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub kind: ItemKind,
    pub start: usize,
    pub end: usize,
    /// True if it is the first on its line.
    pub first_on_line: bool,
    /// True if an empty line is before it.
    pub blank_before: bool,
    /// True if it is a projection `.k` of the previous sequence.
    pub glued: bool,
    /// Its width in characters on one line.
    pub width: usize,
    /// True if it cannot be on one line.
    pub breaks: bool,
}

/// The items of a text.
pub(super) struct Tree<'a> {
    pub(super) text: &'a str,
    pub(super) items: Vec<Item>,
    pub(super) children: Vec<ItemId>,
    /// The items outside any parentheses.
    pub roots: Vec<ItemId>,
}

impl<'a> Tree<'a> {
    pub fn get(&self, id: ItemId) -> &Item {
        &self.items[id.index()]
    }

    /// Returns the items of a sequence. Other items have none.
    pub fn children(&self, item: &Item) -> &[ItemId] {
        match item.kind {
            ItemKind::Sequence { first, count, .. } => {
                &self.children[first as usize..(first + count) as usize]
            }
            ItemKind::Atom
            | ItemKind::Colon
            | ItemKind::Comma
            | ItemKind::LineComment
            | ItemKind::BlockComment => &[],
        }
    }

    /// Returns the text of an item as written.
    pub fn text(&self, item: &Item) -> &'a str {
        &self.text[item.start..item.end]
    }
}

impl Item {
    pub fn is_comment(&self) -> bool {
        matches!(self.kind, ItemKind::LineComment | ItemKind::BlockComment)
    }

    pub fn is_sequence(&self) -> bool {
        matches!(self.kind, ItemKind::Sequence { .. })
    }

    /// True if a space is between the previous item and this one.
    pub fn needs_space(&self) -> bool {
        !self.glued && self.kind != ItemKind::Comma
    }
}
