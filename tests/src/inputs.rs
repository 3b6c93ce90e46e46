//! Inputs of programs, as people write them.

use nova_core::Value;
use nova_core::ir::Program;
use nova_core::text::read_value;

/// Parses the inputs of an entry, each written as text, in their order.
///
/// # Panics
/// If a text is no value of its input's type.
pub fn read(core: &Program, entry: usize, texts: &[impl AsRef<str>]) -> Vec<Value> {
    let inputs = core.entries[entry].inputs.iter().zip(texts);
    let values = inputs.map(|(input, text)| {
        let (text, ty) = (text.as_ref(), &core.variable(*input).ty);
        read_value(text, ty, &core.sums).unwrap_or_else(|e| panic!("{text} as {ty:?}: {e:?}"))
    });
    values.collect()
}
