//! Statements that number, reserve, store and seal nodes.

use super::convert::{Conversion, Numbers};
use crate::builder::Builder;
use crate::error::Result;
use crate::sums;
use nova_core::{ErrorKind, Member, Scalar, ScalarOperation, SumId, Type};
use nova_flat::ir::{Atom, Expression, Type as FlatType, Variable};

/// The nodes of one sum that a link reaches.
#[derive(Clone, Copy)]
pub(super) struct Reached {
    pub count: Atom,
    /// The link of each number.
    pub order: Atom,
    pub numbers: Numbers,
}

/// Numbers the nodes that a link to a node of the first sum reaches. Fails if a number is no `int`.
pub(super) fn nodes_reached(b: &mut Builder, members: Vec<Member>, link: Atom) -> Vec<Reached> {
    let mut pattern: Vec<Variable> = Vec::new();
    let mut reached = Vec::new();
    let index = FlatType::Scalar(Scalar::I64);
    for _ in &members {
        let count = b.output.add_variable("count", index.clone());
        let order = b.array_variable("order", Scalar::I64, vec![Atom::Variable(count)]);
        let lowest = b.output.add_variable("lowest", index.clone());
        let span = b.output.add_variable("span", index.clone());
        let number = b.array_variable("number", Scalar::I32, vec![Atom::Variable(span)]);
        pattern.extend([count, order, lowest, span, number]);
        reached.push(Reached {
            count: Atom::Variable(count),
            order: Atom::Variable(order),
            numbers: Numbers {
                lowest: Atom::Variable(lowest),
                number: Atom::Variable(number),
            },
        });
    }
    b.emit(pattern, Expression::NodesReached { members, link });
    let longest = Atom::index(i64::from(i32::MAX));
    for Reached { count, .. } in &reached {
        let fits = b.compare(ScalarOperation::LessEqual, *count, longest);
        b.check(fits, ErrorKind::LengthOverflow, vec![*count]);
    }
    reached
}

/// Reserves places for nodes. Returns the first.
pub(super) fn reserve(b: &mut Builder, sum: SumId, count: Atom) -> Atom {
    let expression = Expression::NodesReserve { sum, count };
    b.bind_scalar("first", Scalar::I64, expression)
}

/// Returns a link through which the nodes stored before may be read.
pub(super) fn seal(b: &mut Builder, sum: SumId, link: Atom) -> Atom {
    let expression = Expression::NodesSeal { sum, link };
    b.bind_scalar("link", Scalar::I64, expression)
}

/// Stores the nodes that a conversion makes of the values of a pair of sums, in `count` places from
/// `first` on.
pub(super) fn fill(
    b: &mut Builder,
    conversion: &Conversion,
    pair: Member,
    (first, count): (Atom, Atom),
    value: impl FnOnce(&mut Builder, Atom) -> Result<Vec<Atom>>,
) -> Result<()> {
    let (from, to) = conversion.ends(pair);
    b.for_each(count, |b, i| {
        let value = value(b, i)?;
        let link = b.add(first, i);
        sums::cases(b, from, &value, &Type::Unit, |b, k, payload| {
            let payload = conversion.payload(b, pair, k, payload)?;
            let expression = Expression::NodeStore {
                sum: to,
                constructor: k as u32,
                link,
                payload,
            };
            b.emit(Vec::new(), expression);
            Ok(Vec::new())
        })?;
        Ok(())
    })
}
