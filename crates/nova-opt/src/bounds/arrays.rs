//! Facts about the arrays of a function.

use crate::fuse::Replaced;
use crate::last_uses::LastUses;
use nova_flat::ir::Function;
use std::rc::Rc;

/// Facts about the arrays of a function.
pub(super) struct Arrays {
    pub(super) last_uses: LastUses,
    pub(super) replaced: Rc<Replaced>,
}

impl Arrays {
    /// Collects the facts for a function of a program that has these arrays.
    pub(super) fn of(function: &Function, replaced: &Rc<Replaced>) -> Arrays {
        Arrays {
            last_uses: LastUses::of(&function.parameters, &function.body),
            replaced: Rc::clone(replaced),
        }
    }
}
