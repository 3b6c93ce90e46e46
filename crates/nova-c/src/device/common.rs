//! The finished functions of kernels, which the files for all devices contain.

use crate::context::unit::Unit;
use crate::device::kernels::device_names;
use crate::device::nodes::device_table_items;
use nova_c_ast::ast::{Function, Item, Name};
use nova_c_ast::passes::forward::function_items;
use nova_c_ast::passes::{finish, signature};
use nova_c_ast::uses;
use std::collections::{BTreeSet, HashSet};

/// Returns the kernels and the functions that they call, callees first, and all names that they
/// mention.
pub fn functions(unit: &mut Unit) -> (Vec<Item>, BTreeSet<Name>) {
    let mut functions: Vec<Function> = std::mem::take(&mut unit.kernels.functions);
    functions.append(&mut unit.kernels.kernels);
    let free: HashSet<Name> = device_names(unit).into_iter().collect();
    signature::prune_all(&mut functions, &free);
    functions.iter_mut().for_each(finish);
    let mut items = device_table_items(unit);
    items.extend(function_items(functions));
    let mut mentioned: BTreeSet<Name> = BTreeSet::new();
    for item in &items {
        uses::mentioned(item, &mut mentioned);
    }
    (items, mentioned)
}
