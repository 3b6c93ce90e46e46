//! Questions about data: where they are, what is among them, and what they are called in messages.

use super::is_reserved;
use crate::datum::{Data, DatumId, Kind};
use nova_diag::Span;

/// Returns the span from the first to the last of some data, or `otherwise` when there are
/// none.
pub(super) fn span_of(data: &Data, items: &[DatumId], otherwise: Span) -> Span {
    match items {
        [] => otherwise,
        [first, .., last] => data.span(*first).to(data.span(*last)),
        [only] => data.span(*only),
    }
}

/// Returns the position of a datum of this kind among `items`.
pub(super) fn position(data: &Data, items: &[DatumId], kind: Kind<'_>) -> Option<usize> {
    items.iter().position(|&item| data.kind(item) == kind)
}

/// Returns the position of a symbol among `items`.
pub(super) fn position_of(data: &Data, items: &[DatumId], symbol: &str) -> Option<usize> {
    let found = |&item: &DatumId| data.is_symbol(item, symbol);
    items.iter().position(found)
}

/// Returns the items between the commas.
pub(super) fn split_at_commas<'a>(
    data: &'a Data,
    items: &'a [DatumId],
) -> impl Iterator<Item = &'a [DatumId]> + use<'a> {
    items.split(move |&item| data.kind(item) == Kind::Comma)
}

/// Describes a datum in a few words, for "found …".
pub(super) fn describe(data: &Data, id: DatumId) -> String {
    match data.kind(id) {
        Kind::Symbol(name) if is_reserved(name) => format!("the reserved word `{name}`"),
        Kind::Symbol(name) => format!("`{name}`"),
        Kind::TypeVariable(name) => format!("the type variable `'{name}`"),
        Kind::Number(number) => {
            format!("the number `{}`", crate::datum::write_number(number))
        }
        Kind::Text(_) => "a text".into(),
        Kind::Colon => "`:`".into(),
        Kind::Comma => "`,`".into(),
        Kind::List([]) => "`()`".into(),
        Kind::List(_) => "a form in parentheses".into(),
        Kind::Vector(_) => "a vector".into(),
        Kind::Project(_, index, _) => format!("an element `.{index}`"),
    }
}
