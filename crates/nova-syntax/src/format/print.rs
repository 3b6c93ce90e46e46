//! Writes a tree of tokens with line breaks.

use super::COLUMNS;
use super::layout::{Place, keeps_blank_lines, with_places};
use super::tree::{Item, ItemKind, Tree};
use crate::datum::Shape;
use nova_diag::deep;

/// The deepest indentation. Deeper nesting is written without further indentation, which keeps the
/// output linear in the input.
pub(super) const DEEPEST: usize = 60;

/// Returns a tree as text in canonical layout.
pub(super) fn print(tree: &Tree<'_>) -> String {
    let mut printer = Printer {
        tree,
        out: String::new(),
        column: 0,
        must_break: false,
    };
    for (index, &root) in tree.roots.iter().enumerate() {
        let item = *tree.get(root);
        let next = tree.roots.get(index + 1).map(|&next| tree.get(next));
        if index > 0 {
            printer.between_roots(&item);
        }
        printer.item(&item, next.map_or(0, tail_of));
    }
    if !printer.out.is_empty() {
        printer.out.push('\n');
    }
    printer.out
}

/// Returns the number of characters of `next` that must be on the line of the previous item.
fn tail_of(next: &Item) -> usize {
    match next.needs_space() {
        true => 0,
        false => next.width,
    }
}

struct Printer<'a> {
    tree: &'a Tree<'a>,
    out: String,
    /// Characters on the current line.
    column: usize,
    /// True if a line comment ends the current line.
    must_break: bool,
}

impl Printer<'_> {
    fn write(&mut self, text: &str) {
        self.out.push_str(text);
        self.column += text.chars().count();
    }

    /// Begins a line.
    fn line(&mut self, indent: usize) {
        let indent = indent.min(DEEPEST);
        self.out.truncate(self.out.trim_end_matches(' ').len());
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(' ', indent));
        self.column = indent;
        self.must_break = false;
    }

    fn between_roots(&mut self, item: &Item) {
        if item.is_comment() && !item.first_on_line {
            self.write(" ");
        } else if item.needs_space() || self.must_break {
            if item.blank_before {
                self.line(0);
            }
            self.line(0);
        }
    }

    /// Writes an item. `tail` characters follow it on its line.
    fn item(&mut self, item: &Item, tail: usize) {
        match item.kind {
            ItemKind::Sequence { shape, .. } => {
                if item.breaks || self.column + item.width + tail > COLUMNS {
                    deep(|| self.broken(item, shape, tail));
                } else {
                    self.flat(item);
                }
            }
            ItemKind::Atom | ItemKind::Colon | ItemKind::Comma => self.write(self.tree.text(item)),
            ItemKind::LineComment => {
                self.write(self.tree.text(item).trim_end());
                self.must_break = true;
            }
            ItemKind::BlockComment => self.block_comment(item),
        }
    }

    fn block_comment(&mut self, item: &Item) {
        let text = self.tree.text(item).replace("\r\n", "\n");
        match text.rsplit_once('\n') {
            None => self.write(&text),
            Some((_, last)) => {
                self.out.push_str(&text);
                self.column = last.chars().count();
            }
        }
    }

    /// Writes an item on one line.
    fn flat(&mut self, item: &Item) {
        let start = self.column;
        let mut work = vec![Flat::Item(*item)];
        while let Some(step) = work.pop() {
            let item = match step {
                Flat::Text(text) => {
                    self.out.push_str(text);
                    continue;
                }
                Flat::Item(item) => item,
            };
            let ItemKind::Sequence { shape, .. } = item.kind else {
                self.out.push_str(self.tree.text(&item));
                continue;
            };
            let (open, close) = brackets(shape);
            self.out.push_str(open);
            work.push(Flat::Text(close));
            for (index, &child) in self.tree.children(&item).iter().enumerate().rev() {
                let child = *self.tree.get(child);
                work.push(Flat::Item(child));
                if index > 0 && child.needs_space() {
                    work.push(Flat::Text(" "));
                }
            }
        }
        self.column = start + item.width;
    }

    /// Writes a sequence over several lines.
    fn broken(&mut self, sequence: &Item, shape: Shape, tail: usize) {
        let base = self.column;
        let (open, close) = brackets(shape);
        let keeps_blank_lines = keeps_blank_lines(self.tree, sequence);
        self.write(open);
        let children = with_places(self.tree, sequence);
        for (index, &(child, place)) in children.iter().enumerate() {
            let item = *self.tree.get(child);
            let tail = match children.get(index + 1) {
                None => tail + close.len(),
                Some(&(next, _)) => tail_of(self.tree.get(next)),
            };
            let blank = keeps_blank_lines && index > 0 && item.blank_before;
            if self.breaks_before(&item, index, place, tail) {
                if blank {
                    self.line(0);
                }
                self.line(base + place.indent());
            } else if index > 0 && item.needs_space() {
                self.write(" ");
            }
            self.item(&item, tail);
        }
        if self.must_break {
            self.line(base);
        }
        self.write(close);
    }

    /// True if an item begins a line.
    fn breaks_before(&self, item: &Item, index: usize, place: Place, tail: usize) -> bool {
        let space = usize::from(index > 0 && item.needs_space());
        let same_line = match place {
            Place::Same => true,
            Place::Line(_) => false,
            Place::Hug(_) => self.column <= DEEPEST || item.width <= 1,
            Place::Fill(_) => {
                index == 0 || (!item.breaks && self.column + space + item.width + tail <= COLUMNS)
            }
        };
        self.must_break || !same_line
    }
}

/// A step of writing on one line.
enum Flat {
    Text(&'static str),
    Item(Item),
}

fn brackets(shape: Shape) -> (&'static str, &'static str) {
    match shape {
        Shape::Round => ("(", ")"),
        Shape::Square => ("[", "]"),
    }
}
