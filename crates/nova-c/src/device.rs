//! Code that the files for all devices share: the finished functions of their kernels, and the name of
//! the structure for the device.

use crate::ast::{Function, Item, Name};
use crate::file::finish;
use crate::kernel::device_names;
use crate::unit::{Unit, function_items};
use crate::{signature, uses};
use std::collections::{BTreeSet, HashSet};

/// The name of the variable that represents the device in a program.
pub const DEVICE: &str = "nova_program_device";

/// Returns the kernels and the functions that they call, callees first, and all names that they
/// mention.
pub fn functions(unit: &mut Unit) -> (Vec<Item>, BTreeSet<Name>) {
    let mut functions: Vec<Function> = std::mem::take(&mut unit.kernels.functions);
    functions.append(&mut unit.kernels.kernels);
    let free: HashSet<Name> = device_names(unit).into_iter().collect();
    signature::prune_all(&mut functions, &free);
    functions.iter_mut().for_each(finish);
    let mut items = unit.device_table_items();
    items.extend(function_items(functions));
    let mut mentioned: BTreeSet<Name> = BTreeSet::new();
    for item in &items {
        uses::mentioned(item, &mut mentioned);
    }
    (items, mentioned)
}
