//! The layout of a sequence that does not fit on one line: the items that begin a line.

use super::COLUMNS;
use super::tree::{Item, ItemId, ItemKind, Tree};
use crate::datum::Shape;

/// The place of an item. The number is the indentation from the opening parenthesis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// After the previous item.
    Same,
    /// On a line of its own.
    Line(usize),
    /// After the previous item if it fits there as a whole, else on a new line.
    Fill(usize),
    /// After the previous item, unless the line is deeply indented already. It is then on a new
    /// line.
    Hug(usize),
}

impl Place {
    /// Returns the indentation if the item begins a line.
    pub fn indent(self) -> usize {
        match self {
            Place::Same => 2,
            Place::Line(indent) | Place::Fill(indent) | Place::Hug(indent) => indent,
        }
    }
}

/// The layout of the forms that begin with a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Let,
    /// All items but the last are on the first line.
    Body,
    /// The first two items are on the first line.
    Foreach,
    If,
    /// The first item is on the first line.
    First,
    /// Every item is on a line of its own.
    Section,
    Plain,
}

/// The styles, by the words that sequences begin with.
const STYLES: [(&str, Style); 12] = [
    ("let", Style::Let),
    ("lambda", Style::Body),
    ("entry", Style::Body),
    ("mu", Style::First),
    ("if", Style::If),
    ("case", Style::First),
    ("foreach", Style::Foreach),
    ("up", Style::First),
    ("types", Style::Section),
    ("foreign", Style::Section),
    ("define", Style::Section),
    ("import", Style::Plain),
];

/// Columns up to which forms of several parts are on one line.
const FORM_COLUMNS: usize = 72;
/// Columns of a name after which its only argument begins on the same line.
const SHORT_NAME: usize = 12;
/// Columns of an operator under whose first argument the others are aligned.
const OPERATOR: usize = 2;

fn style(tree: &Tree<'_>, sequence: &Item) -> Style {
    let head = tree.children(sequence).first().map(|&head| tree.get(head));
    let (Some(head), true) = (head, is_round(sequence)) else {
        return Style::Plain;
    };
    let found = STYLES.iter().find(|(word, _)| *word == tree.text(head));
    found.map_or(Style::Plain, |(_, style)| *style)
}

fn is_round(sequence: &Item) -> bool {
    matches!(
        sequence.kind,
        ItemKind::Sequence {
            shape: Shape::Round,
            ..
        }
    )
}

/// Returns the width up to which a sequence is on one line.
pub(super) fn flat_width_limit(tree: &Tree<'_>, sequence: &Item) -> usize {
    let count = tree.children(sequence).len();
    match style(tree, sequence) {
        Style::Plain => COLUMNS,
        Style::Section if count > 2 => 0,
        Style::Section | Style::Let | Style::Body | Style::Foreach | Style::If | Style::First => {
            FORM_COLUMNS
        }
    }
}

/// True if empty lines between the items are kept.
pub(super) fn keeps_blank_lines(tree: &Tree<'_>, sequence: &Item) -> bool {
    style(tree, sequence) == Style::Section
}

/// Returns the place of each item of a sequence that is not on one line.
pub(super) fn places(tree: &Tree<'_>, sequence: &Item) -> Vec<Place> {
    let children = tree.children(sequence);
    let items: Vec<&Item> = children.iter().map(|&child| tree.get(child)).collect();
    let real: Vec<usize> = (0..items.len())
        .filter(|&i| !items[i].is_comment())
        .collect();
    let parts: Vec<&Item> = real.iter().map(|&index| items[index]).collect();
    let mut of_parts = match style(tree, sequence) {
        Style::Let => let_places(tree, &parts),
        Style::Body => {
            let mut places = vec![Place::Fill(4); parts.len()];
            set_last(&mut places, Place::Line(2));
            places
        }
        Style::Foreach => {
            let mut places = vec![Place::Line(2); parts.len()];
            set(&mut places, 1, Place::Same);
            set(&mut places, 2, Place::Fill(4));
            places
        }
        Style::If => if_places(tree, &parts),
        Style::First => {
            let mut places = vec![Place::Line(2); parts.len()];
            set(&mut places, 1, Place::Same);
            places
        }
        Style::Section => vec![Place::Line(2); parts.len()],
        Style::Plain => plain_places(&parts, sequence),
    };
    set(&mut of_parts, 0, Place::Same);
    for (index, part) in parts.iter().enumerate() {
        if !part.needs_space() || (part.kind == ItemKind::Colon && index < 2) {
            set(&mut of_parts, index, Place::Same);
        }
    }
    with_comments(&items, &real, &of_parts)
}

fn set(places: &mut [Place], index: usize, place: Place) {
    if let Some(slot) = places.get_mut(index) {
        *slot = place;
    }
}

fn set_last(places: &mut [Place], place: Place) {
    if let [_, .., last] = places {
        *last = place;
    }
}

/// Returns the places of a let:
///
/// ```text
/// (let (x e)
///      (y e)
///   in body)
/// ```
fn let_places(tree: &Tree<'_>, parts: &[&Item]) -> Vec<Place> {
    let mut places = vec![Place::Line("(let ".len()); parts.len()];
    set(&mut places, 1, Place::Same);
    let word = parts.iter().position(|part| tree.text(part) == "in");
    match word {
        Some(at) => {
            places[at] = Place::Line(2);
            set(&mut places, at + 1, Place::Same);
        }
        None if parts.len() > 2 => set_last(&mut places, Place::Line(2)),
        None => {}
    }
    places
}

/// Returns the places of a conditional:
///
/// ```text
/// (if c
///   then a
///   else b)
/// ```
fn if_places(tree: &Tree<'_>, parts: &[&Item]) -> Vec<Place> {
    let mut places = vec![Place::Line(2); parts.len()];
    set(&mut places, 1, Place::Same);
    for (index, part) in parts.iter().enumerate() {
        if matches!(tree.text(part), "then" | "else") {
            set(&mut places, index + 1, Place::Same);
        }
    }
    places
}

/// Returns the places of applications, tuples, declarations and vectors.
fn plain_places(parts: &[&Item], sequence: &Item) -> Vec<Place> {
    let only_atoms = !parts.iter().any(|part| part.is_sequence());
    let Some(head) = parts.first() else {
        return Vec::new();
    };
    let is_kind = |index: usize, kind: ItemKind| parts.get(index).is_some_and(|p| p.kind == kind);
    if parts.iter().any(|part| part.kind == ItemKind::Comma) {
        let after_comma = |index: usize| index > 0 && is_kind(index - 1, ItemKind::Comma);
        let place = |index: usize| match (after_comma(index), only_atoms) {
            (true, false) => Place::Line(1),
            (true, true) => Place::Fill(1),
            (false, _) => Place::Fill(2),
        };
        return (0..parts.len()).map(place).collect();
    }
    if !is_round(sequence) || head.is_sequence() {
        let place = match only_atoms {
            true => Place::Fill(1),
            false => Place::Line(1),
        };
        return vec![place; parts.len()];
    }
    if only_atoms || parts.iter().any(|part| part.kind == ItemKind::Colon) {
        return vec![Place::Fill(2); parts.len()];
    }
    if parts.len() == 2 && head.width <= SHORT_NAME {
        return vec![Place::Hug(2); 2];
    }
    if head.width <= OPERATOR {
        let indent = head.width + 2;
        let mut places = vec![Place::Line(indent); parts.len()];
        set(&mut places, 1, Place::Hug(indent));
        return places;
    }
    application_places(parts)
}

/// Returns the places of an application. Atoms and the first other argument stay with the function
/// while they fit. Each further argument is on its own line.
fn application_places(parts: &[&Item]) -> Vec<Place> {
    let first_sequence = parts.iter().position(|part| part.is_sequence());
    let fills = first_sequence.map_or(parts.len(), |first| first + 1);
    let place = |index: usize| match index < fills {
        true => Place::Fill(2),
        false => Place::Line(2),
    };
    (0..parts.len()).map(place).collect()
}

/// Puts the comments back between the parts. One that began a line begins one again, with the
/// indentation of the item after it.
fn with_comments(items: &[&Item], real: &[usize], of_parts: &[Place]) -> Vec<Place> {
    let mut places = vec![Place::Line(2); items.len()];
    for (&index, &place) in real.iter().zip(of_parts) {
        places[index] = place;
    }
    let mut following = Place::Line(2);
    for (index, item) in items.iter().enumerate().rev() {
        if !item.is_comment() {
            following = places[index];
            continue;
        }
        places[index] = match item.first_on_line {
            false => Place::Same,
            true => Place::Line(following.indent()),
        };
    }
    places
}

/// Returns the children's ids with their places, for the printer.
pub(super) fn with_places(tree: &Tree<'_>, sequence: &Item) -> Vec<(ItemId, Place)> {
    let places = places(tree, sequence);
    let children = tree.children(sequence).iter().copied();
    children.zip(places).collect()
}
