//! Arrays of structures that callers pass: the parameters of an entry that point to fields of the same
//! array of structures, and so to the same cache lines.

use crate::ir::Variable;
use nova_core::{SumType, Type};
use nova_flat::representation::{components, input_fields};
use std::collections::BTreeMap;
use std::sync::Arc;

/// For each parameter of an entry that points to a field of the caller's structures, the parameter that
/// points to their first field.
pub type FirstFields = BTreeMap<Variable, Variable>;

/// Adds the parameters of an entry with these inputs, whose function has these parameters.
pub fn add_first_fields(
    inputs: &[(Arc<str>, Type)],
    sums: &[SumType],
    parameters: &[Variable],
    found: &mut FirstFields,
) {
    let mut parameters = parameters.iter();
    for (_, ty) in inputs {
        let mut first = None;
        let fields = input_fields(ty, sums);
        for (component, field) in components(ty, sums).iter().zip(fields) {
            let parameter = parameters.next();
            if !component.shape.is_empty() {
                parameters.next();
            }
            if let (Some(_), Some(parameter)) = (field, parameter) {
                found.insert(*parameter, *first.get_or_insert(*parameter));
            }
        }
    }
}
