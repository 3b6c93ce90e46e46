//! Functions as the items of a file: those that are called before their definitions are declared.

use crate::ast::{Function, Item, Name};
use std::collections::{BTreeMap, BTreeSet};

/// Functions as items, each with a blank line after it. Functions that are called before their
/// definitions are declared first.
pub fn function_items(functions: Vec<Function>) -> Vec<Item> {
    let all: BTreeMap<Name, Function> = functions
        .iter()
        .map(|f| (f.name.clone(), f.declaration()))
        .collect();
    let mut known: BTreeSet<Name> = BTreeSet::new();
    let mut items = Vec::new();
    for function in functions {
        known.insert(function.name.clone());
        let mut called = Vec::new();
        crate::uses::called(&function, &mut called);
        let mut declared = false;
        for name in called {
            if let Some(declaration) = all.get(&name)
                && known.insert(name)
            {
                items.push(Item::Function(declaration.clone()));
                declared = true;
            }
        }
        if declared {
            items.push(Item::Blank);
        }
        items.push(Item::Function(function));
        items.push(Item::Blank);
    }
    items
}
