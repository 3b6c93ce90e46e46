//! Maps whose elements are computed from the results of one reduction. The statements before and after the
//! reduction can be separated from it, and run for several elements at a time.

use crate::accumulators::zero;
use crate::limits::STATEMENTS_OF_A_NEST;
use crate::output::Output;
use crate::outputs::consume_all;
use crate::space::{Rows, Space};
use crate::translator::Translator;
use crate::writer::Result;
use nova_diag::Place;
use nova_flat::ir as flat;

/// The body of such a map.
pub(crate) struct Nest<'a> {
    /// The statements before the reduction.
    pub(crate) before: &'a [flat::Statement],
    pub(crate) reduction: &'a flat::ArrayOperation,
    /// The results of the reduction.
    pub(crate) results: &'a [flat::Variable],
    /// The statements after the reduction.
    pub(crate) after: &'a [flat::Statement],
}

impl<'a> Nest<'a> {
    /// Returns the body of a map, if it has this form.
    pub(crate) fn of(map: &'a flat::ArrayOperation) -> Option<Self> {
        let is_map = |o: &flat::Output| matches!(o, flat::Output::Map);
        if !map.carries.is_empty() || !map.outputs.iter().all(is_map) {
            return None;
        }
        let statements = &map.body.statements;
        let is_operation =
            |s: &flat::Statement| matches!(s.expression, flat::Expression::Operation(_));
        let at = statements.iter().position(is_operation)?;
        let (before, rest) = statements.split_at_checked(at)?;
        let (statement, after) = rest.split_first()?;
        let flat::Expression::Operation(reduction) = &statement.expression else {
            return None;
        };
        (is_plain(before) && is_plain(after)).then_some(Nest {
            before,
            reduction,
            results: &statement.pattern,
            after,
        })
    }
}

/// True if statements are few and only compute scalars, without checks.
pub(crate) fn is_plain(statements: &[flat::Statement]) -> bool {
    let is_scalar = |statement: &flat::Statement| {
        matches!(
            statement.expression,
            flat::Expression::Atom(_)
                | flat::Expression::Scalar { .. }
                | flat::Expression::Index { .. }
                | flat::Expression::View { .. }
        )
    };
    statements.len() <= STATEMENTS_OF_A_NEST && statements.iter().all(is_scalar)
}

/// True if statements are few and only compute scalars, perhaps with checks.
pub(crate) fn is_plain_or_checked(statements: &[flat::Statement]) -> bool {
    let fits = |s: &flat::Statement| {
        matches!(s.expression, flat::Expression::Check { .. }) || is_plain(std::slice::from_ref(s))
    };
    statements.len() <= STATEMENTS_OF_A_NEST && statements.iter().all(fits)
}

/// Passes the results of a map's body to its outputs, where the body runs for any element at any time. The
/// indices of the element are bound.
pub(crate) fn consume_result<'a>(
    cx: &mut Translator<'a>,
    map: &'a flat::ArrayOperation,
    outputs: &[Output<'a>],
    place: &Place,
) -> Result<()> {
    let mut indices = Vec::with_capacity(map.indices.len());
    for index in &map.indices {
        indices.push(cx.simple(flat::Atom::Variable(*index))?);
    }
    let space = Space {
        parallel: false,
        indices,
        count: zero(),
        number: zero(),
        rows: Rows::None,
        place: place.clone(),
    };
    consume_all(cx, map, outputs, &map.body.results, &space)
}
