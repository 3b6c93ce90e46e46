//! The code for the device, which the files for all devices contain.

use crate::context::unit::Unit;
use crate::device::functions;
use crate::device::nodes::device_table_items;
use nova_c_ast::ast::{Function, Functions, Item, Name};
use nova_c_ast::forward::function_items;
use nova_c_ast::uses;
use std::collections::BTreeSet;

/// The code for the device besides its functions.
#[derive(Clone, Debug)]
pub struct DeviceCode {
    /// The foreign functions in the language of the device.
    pub foreign: String,
    /// The node tables.
    tables: Vec<Item>,
    /// The names of the kernels; the host launches them by number.
    pub names: Vec<Name>,
    /// The places of their loops in the program; empty where they are not known.
    pub places: Vec<String>,
}

/// Takes the code for the device and its functions, callees first.
pub fn take(unit: &mut Unit) -> (DeviceCode, Functions) {
    let foreign = functions::text(unit);
    let mut list = std::mem::take(&mut unit.kernels.functions);
    list.append(&mut unit.kernels.kernels);
    let called = unit.kernels.infos.values().map(|info| info.name.clone());
    let own = called.chain(unit.kernels.foreigns.values().cloned());
    let functions = Functions {
        list,
        own: own.collect(),
    };
    let code = DeviceCode {
        foreign,
        tables: device_table_items(unit),
        names: std::mem::take(&mut unit.kernels.names),
        places: std::mem::take(&mut unit.kernels.places),
    };
    (code, functions)
}

impl DeviceCode {
    /// Returns the node tables and these functions, and all names that they mention.
    pub fn items(&mut self, functions: Vec<Function>) -> (Vec<Item>, BTreeSet<Name>) {
        let mut items = std::mem::take(&mut self.tables);
        items.extend(function_items(functions));
        let mut mentioned: BTreeSet<Name> = BTreeSet::new();
        for item in &items {
            uses::mentioned(item, &mut mentioned);
        }
        (items, mentioned)
    }
}
