//! The FFI boundary: the memory layout that the caller of an entry chooses. The elements of an array
//! that is a field of structures lie as far apart as the structures do (abi.md §2).

use nova_flat::ir::{Destination, FunctionId, Program, Variable};
use nova_flat::memory::{Lmad, Polynomial};
use nova_flat::representation::{self, Field, input_fields, result_fields};
use std::collections::BTreeMap;

/// Returns the distance, in elements, of the parameters and results of entries that are fields of
/// structures. All others are dense.
pub fn strides(program: &Program) -> BTreeMap<Variable, i64> {
    let mut strides = BTreeMap::new();
    let mut add = |variables: &[Variable], fields: Vec<Option<Field>>| {
        for (variable, field) in variables.iter().zip(fields) {
            if let Some(field) = field {
                strides.insert(*variable, field.stride as i64);
            }
        }
    };
    for entry in &program.entries {
        let Some(function) = program.functions.get(entry.function.index()) else {
            continue;
        };
        let mut parameters = function.parameters.as_slice();
        for (_, ty) in &entry.inputs {
            let fields = input_fields(ty, &program.sums);
            let (own, rest) = parameters.split_at(fields.len().min(parameters.len()));
            add(own, fields);
            parameters = rest;
        }
        add(
            &function.results,
            result_fields(&entry.result, &program.sums),
        );
    }
    strides
}

/// Returns, for the functions of entries that nothing else calls, the memory in which each result can
/// be built for the caller.
pub fn destinations(program: &Program) -> BTreeMap<FunctionId, Vec<Option<Destination>>> {
    let apart = program.entry_functions();
    let entries = program.entries.iter();
    let apart = entries.filter(|entry| apart.contains(&entry.function));
    apart
        .map(|entry| {
            let destinations = representation::destinations(&entry.result, &program.sums);
            (entry.function, destinations)
        })
        .collect()
}

/// Multiplies the distance between the elements of an array by `stride`.
pub fn spread(lmad: Lmad, stride: i64) -> Lmad {
    let stride = Polynomial::constant(stride);
    let dimensions = lmad.dimensions.into_iter();
    Lmad {
        offset: lmad.offset,
        dimensions: dimensions.map(|(n, s)| (n, s.times(&stride))).collect(),
    }
}
