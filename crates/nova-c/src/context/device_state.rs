//! The state while code of a device is emitted.

use crate::context::ordered::Ordered;
use nova_c_ast::ast::{Expression, Name};
use nova_loop::ir::Variable;
use nova_loop::neighbours::Addresses;
use std::collections::BTreeSet;

/// The state that only code of a device has: the address spaces of arrays, barriers and failures.
#[derive(Default)]
pub(crate) struct DeviceState {
    /// On a device, the pointers to arrays in private memory of the thread; `None` on the host.
    pub(crate) own: Option<BTreeSet<Variable>>,
    /// In a kernel, the facts that tell which elements are neighbours.
    pub(crate) addresses: Option<Addresses>,
    /// In a kernel, the pointers to arrays that the threads of a work-group share.
    pub(crate) of_group: BTreeSet<Variable>,
    /// In a loop that these threads share, the label after the loop, and whether a jump to it exists.
    pub(crate) after_threads: Option<(Name, bool)>,
    /// True if threads of a work-group synchronise in a kernel that may fail.
    pub(crate) waits: bool,
    /// In a kernel with an ordered region, the names that the region needs.
    pub(crate) ordered: Option<Ordered>,
    /// On a device, the value that the function returns after a failure.
    pub(crate) failed_value: Option<Expression>,
}
