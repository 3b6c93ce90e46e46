//! Reads a text as a tree.

use super::COLUMNS;
use super::layout::flat_width_limit;
use super::tree::{Item, ItemId, ItemKind, Tree};
use crate::datum::Shape;
use crate::token::{Lexer, Token, TokenKind};

impl<'a> Tree<'a> {
    /// Reads a text whose parentheses match.
    pub fn new(text: &'a str) -> Self {
        let mut tree = Tree {
            text,
            items: Vec::new(),
            children: Vec::new(),
            roots: Vec::new(),
        };
        // The opening token of each open sequence, and the start of its items in `pending`.
        let mut open: Vec<(Item, usize)> = Vec::new();
        let mut pending: Vec<ItemId> = Vec::new();
        let mut last_end = 0;
        let mut last_closed = false;
        for token in Lexer::new(text) {
            let mut item = tree.item(token, last_end);
            item.glued = last_closed && last_end == token.start && item.glued;
            last_end = token.end;
            last_closed = matches!(token.kind, TokenKind::Close(_));
            match token.kind {
                TokenKind::Open(_) => open.push((item, pending.len())),
                TokenKind::Close(shape) => {
                    let Some((opening, from)) = open.pop() else {
                        continue;
                    };
                    let inner = pending.split_off(from);
                    let sequence = tree.sequence(opening, shape, inner, token.end);
                    pending.push(tree.push(sequence));
                }
                TokenKind::Colon
                | TokenKind::Comma
                | TokenKind::Text { .. }
                | TokenKind::Atom
                | TokenKind::LineComment
                | TokenKind::BlockComment { .. } => pending.push(tree.push(item)),
            }
        }
        tree.roots = pending;
        tree
    }

    fn push(&mut self, item: Item) -> ItemId {
        self.items.push(item);
        ItemId(self.items.len() as u32 - 1)
    }

    /// Returns an item of one token. For an opening parenthesis all but its kind is correct.
    fn item(&self, token: Token, last_end: usize) -> Item {
        let between = &self.text[last_end..token.start];
        let lines = between.bytes().filter(|&b| b == b'\n').count();
        let text = &self.text[token.start..token.end];
        let kind = match token.kind {
            TokenKind::Colon => ItemKind::Colon,
            TokenKind::Comma => ItemKind::Comma,
            TokenKind::LineComment => ItemKind::LineComment,
            TokenKind::BlockComment { .. } => ItemKind::BlockComment,
            TokenKind::Open(_) | TokenKind::Close(_) | TokenKind::Text { .. } | TokenKind::Atom => {
                ItemKind::Atom
            }
        };
        let first_on_line = lines > 0 || last_end == 0;
        let breaks = match kind {
            ItemKind::LineComment => true,
            ItemKind::BlockComment => first_on_line || text.contains('\n'),
            ItemKind::Atom | ItemKind::Colon | ItemKind::Comma | ItemKind::Sequence { .. } => false,
        };
        Item {
            kind,
            start: token.start,
            end: token.end,
            first_on_line,
            blank_before: lines > 1,
            glued: text.starts_with('.') && text.len() > 1,
            width: text.chars().count(),
            breaks,
        }
    }

    fn sequence(&mut self, opening: Item, shape: Shape, children: Vec<ItemId>, end: usize) -> Item {
        let mut width = 2;
        let mut breaks = false;
        for (index, &child) in children.iter().enumerate() {
            let child = self.get(child);
            width += child.width + usize::from(index > 0 && child.needs_space());
            breaks |= child.breaks;
        }
        let kind = ItemKind::Sequence {
            shape,
            first: self.children.len() as u32,
            count: children.len() as u32,
        };
        self.children.extend(children);
        let mut item = Item {
            kind,
            end,
            width,
            breaks,
            glued: false,
            ..opening
        };
        item.breaks |= width > flat_width_limit(self, &item).min(COLUMNS);
        item
    }
}
