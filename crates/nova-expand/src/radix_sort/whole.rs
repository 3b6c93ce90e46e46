//! Sorts of all keys, by [`Command::SortWords`].

use super::words::key_type;
use crate::address::pointer_to;
use crate::allocation::allocate_here;
use crate::loops::each;
use crate::sort::KeySort;
use crate::source::info_of;
use crate::translator::Translator;
use crate::writer::Result;
use nova_flat::ir::Sorted;
use nova_loop::ir::{Command, Expression, Type};

/// True if all keys are wanted, and nothing else.
pub(super) fn is_whole(sort: &KeySort) -> bool {
    sort.low > 0 || (sort.first == sort.count && !sort.gives(Sorted::Positions))
}

/// Sorts keys to where the result goes.
pub(super) fn sort_whole(cx: &mut Translator<'_>, sort: &KeySort) -> Result<()> {
    let Some((_, to)) = sort.results.first().cloned() else {
        return Ok(());
    };
    let key = key_type(cx, sort)?;
    let beside = cx.add_variable("beside", Type::Pointer(key));
    let block = cx.add_variable("beside_block", Type::Block);
    allocate_here(cx, beside, block, sort.count.clone(), None, &sort.place)?;
    let is_dense = info_of(cx.source, sort.keys)?
        .memory
        .as_ref()
        .is_some_and(|memory| memory.lmad.is_row_major());
    let from = match is_dense {
        true => pointer_to(cx, sort.keys)?,
        false => {
            each(cx, "i", sort.count.clone(), &sort.place, |cx, index| {
                let array = cx.place(sort.keys)?;
                let key = cx.load(array, vec![index.clone()])?;
                cx.set_element(beside, index, key);
                Ok(())
            })?;
            Expression::Variable(beside)
        }
    };
    cx.emit(Command::SortWords {
        to,
        beside: Expression::Variable(beside),
        from,
        element: key,
        count: sort.count.clone(),
        low: Expression::index(sort.low.into()),
    });
    cx.emit(Command::Release(block));
    Ok(())
}
