//! Programs whose places are numbers: those of the expressions of the syntax tree. What the compiler makes
//! of such a program does not depend on the lines of its source.

use nova_diag::{Place, Position, SourceMap, Span};
use nova_exec::places::{FILE, Places};
use nova_syntax::ast::Program;
use std::sync::Arc;

/// Returns a program in which the place of each expression is its number, with the sources in which these
/// are places.
pub fn numbered(tree: &Program, sources: &SourceMap) -> (Program, SourceMap) {
    let (mut tree, mut sources) = (tree.clone(), sources.clone());
    let file = sources.add_positions(FILE, "");
    for (number, expression) in (1..).zip(&mut tree.arena) {
        expression.span = sources.position(file, Position::start(number, 1));
    }
    (tree, sources)
}

/// Returns what the numbers of a program stand for.
pub fn places(tree: &Program, sources: &Arc<SourceMap>) -> Places {
    let spans: Vec<Span> = tree
        .arena
        .iter()
        .map(|expression| expression.span)
        .collect();
    let sources = sources.clone();
    let place = move |number: usize| -> Option<Place> { Some(sources.place(*spans.get(number)?)) };
    Places::new(place)
}
