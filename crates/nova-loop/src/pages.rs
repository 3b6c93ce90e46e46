//! Loops over memory that take several pages at once. Processors look ahead in the pages that a loop
//! reads, but not from one page into the next; so a loop that reads one page after the other waits at
//! the beginning of each, and never has as many lines under way as memory could give. Where the
//! order of iterations does not matter, they are taken in groups of four pages, one of each in turn:
//!
//! ```text
//! 0 1 2 3 4 5 6 7 8 9 10 11  ⇒  0 3 6 9 1 4 7 10 2 5 8 11
//! ```

use crate::ir::{Command, Expression, Level, Program, Type, Variable};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::Place;

/// Bytes that go between memory and caches together.
pub(crate) const LINE: i64 = 64;
/// Bytes of a page: that of most processors, and what they look ahead in where theirs are larger.
pub(crate) const PAGE: i64 = 4096;
/// How many pages are read at once.
pub(crate) const AT_ONCE: i64 = 4;
/// Loops that read more arrays than this have as many pages under way as processors follow.
pub(crate) const MOST_ARRAYS: usize = 2;

/// How many iterations that each read so many bytes are in one page: a power of two.
pub(crate) fn in_one(bytes: i64) -> i64 {
    let fit = (PAGE / bytes.max(1)).max(1);
    1 << fit.ilog2()
}

/// The loop with this body over `variable` from 0 to `count` - 1, in groups of four times so many
/// iterations, which is a power of two: first those that are the first of each quarter of a group,
/// then those that are the second, and so on. What four do not divide comes last.
pub(crate) fn interleaved(
    program: &mut Program,
    variable: Variable,
    count: Expression,
    quarter: i64,
    body: Vec<Command>,
    place: &Place,
) -> Command {
    use ScalarOperation as O;
    let size = AT_ONCE * quarter;
    let mut add = |name: &str| program.add_variable(name, Type::Scalar(Scalar::I64));
    let [group, first, length, each, step] =
        ["group", "first", "length", "each", "step"].map(&mut add);
    let read = Expression::Variable;
    let number = Expression::index;
    let groups = count.clone().plus(number(size - 1));
    let groups = groups.compare(O::ShiftRight, number(i64::from(size.ilog2())));
    let left = count.minus(read(first));
    let shift = number(i64::from(AT_ONCE.ilog2()));
    let page = read(step).compare(O::BitAnd, number(AT_ONCE - 1));
    let inside = read(step).compare(O::ShiftRight, shift.clone());
    let turned = page.times(read(each)).plus(inside.clone());
    let is_whole = inside.compare(O::Less, read(each));
    let chosen = Expression::Select {
        condition: Box::new(is_whole),
        then: Box::new(turned),
        otherwise: Box::new(read(step)),
    };
    let mut steps = vec![Command::declare(variable, read(first).plus(chosen))];
    steps.extend(body);
    let counted = |variable, count, body| Command::For {
        variable,
        count,
        level: Level::Sequential,
        body,
        place: place.clone(),
    };
    let in_group = vec![
        Command::declare(first, read(group).times(number(size))),
        Command::declare(length, left.compare(O::Minimum, number(size))),
        Command::declare(each, read(length).compare(O::ShiftRight, shift)),
        counted(step, read(length), steps),
    ];
    counted(group, groups, in_group)
}
