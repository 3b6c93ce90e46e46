//! Arguments whose arrays stay in the memory of the host: only their addresses are passed.

use crate::check::product;
use crate::layout::{Items, Layout, LayoutKind, Passing, WORD};
use crate::marshal::{self, Argument, Mismatch, address, put};
use crate::nested::unflatten;
use crate::nodes::Nodes;
use crate::read::read_data;
use nova_core::Value;

/// A value whose arrays are in the memory of the host, in the form of C (abi §2).
#[derive(Debug)]
pub enum Lent {
    /// A value, which is converted.
    Value(Value),
    /// The components of a tuple.
    Tuple(Vec<Lent>),
    /// A vector.
    Vector {
        /// Its length.
        length: usize,
        /// For each further level of vectors its offsets, outermost first.
        offsets: Vec<*const i64>,
        /// The innermost elements.
        data: *const u8,
    },
    /// An array.
    Array {
        /// Its extents.
        extents: Vec<usize>,
        /// Its elements, row-major.
        data: *const u8,
    },
}

impl Lent {
    /// Returns the value, which is passed in this form, as a copy. The error says that it has
    /// another form, or which offsets are wrong.
    ///
    /// # Safety
    ///
    /// As [`Argument::lent`].
    pub unsafe fn to_value(&self, passing: &Passing) -> Result<Value, String> {
        let other = || "a value of another form".to_string();
        match (passing, self) {
            (_, Lent::Value(value)) => Ok(value.clone()),
            (Passing::Nothing(layout) | Passing::Value(layout), Lent::Tuple(_)) => unsafe {
                self.component(layout)
            },
            (
                Passing::Vector { items, .. },
                Lent::Vector {
                    length,
                    offsets,
                    data,
                },
            ) => {
                let mut count = *length;
                let mut levels: Vec<&[i64]> = Vec::new();
                for level in offsets {
                    // SAFETY: as above.
                    let level = unsafe { std::slice::from_raw_parts(*level, count + 1) };
                    count = level
                        .last()
                        .and_then(|end| usize::try_from(*end).ok())
                        .ok_or_else(other)?;
                    levels.push(level);
                }
                let address = data.expose_provenance() as u64;
                let mut elements = unsafe { read_data(items, count, address, &Nodes::default()) }?;
                for level in levels.iter().rev() {
                    elements = unflatten(level, &elements)?;
                }
                Ok(Value::Vector(elements))
            }
            (Passing::Array { items, .. }, Lent::Array { extents, data }) => unsafe {
                array(items, extents, *data)
            },
            (_, Lent::Tuple(_) | Lent::Vector { .. } | Lent::Array { .. }) => Err(other()),
        }
    }

    /// Returns the value of a component of a struct.
    ///
    /// # Safety
    ///
    /// As [`Argument::lent`].
    unsafe fn component(&self, layout: &Layout) -> Result<Value, String> {
        match (&layout.kind, self) {
            (_, Lent::Value(value)) => Ok(value.clone()),
            (LayoutKind::Tuple(members), Lent::Tuple(components)) => {
                let pairs = members.iter().zip(components);
                let values = pairs.map(|((_, member), lent)| unsafe { lent.component(member) });
                Ok(Value::tuple(values.collect::<Result<_, String>>()?))
            }
            (LayoutKind::Vector(items), Lent::Vector { length, data, .. }) => {
                let address = data.expose_provenance() as u64;
                let nodes = Nodes::default();
                Ok(Value::Vector(unsafe {
                    read_data(items, *length, address, &nodes)
                }?))
            }
            (LayoutKind::Array(_, items), Lent::Array { extents, data }) => unsafe {
                array(items, extents, *data)
            },
            (_, Lent::Tuple(_) | Lent::Vector { .. } | Lent::Array { .. }) => {
                Err("a value of another form".to_string())
            }
        }
    }
}

/// Returns the value of an array.
///
/// # Safety
///
/// As [`Argument::lent`].
unsafe fn array(items: &Items, extents: &[usize], data: *const u8) -> Result<Value, String> {
    let address = data.expose_provenance() as u64;
    let nodes = Nodes::default();
    let elements = unsafe { read_data(items, product(extents)?, address, &nodes) }?;
    Ok(Value::Array(extents.to_vec().into(), elements))
}

impl Argument {
    /// Creates an argument that is passed in this form. The error says that it has another form.
    ///
    /// # Safety
    ///
    /// Each pointer is to as many elements as the lengths say, of the types of the parameter. They stay
    /// there, unchanged, as long as the argument is used.
    pub unsafe fn lent(passing: &Passing, lent: &Lent) -> Result<Argument, Mismatch> {
        let mut argument = Argument::new(passing.clone(), Vec::new(), Vec::new());
        match (passing, lent) {
            (_, Lent::Value(value)) => return Argument::of_value(passing, value),
            (Passing::Nothing(_), Lent::Tuple(_)) => {}
            (Passing::Value(layout), Lent::Tuple(_)) => {
                let mut bytes = vec![0; layout.size];
                argument.write_lent(layout, lent, &mut bytes)?;
                argument.cell_of(&bytes);
            }
            (
                Passing::Vector { levels, items },
                Lent::Vector {
                    length,
                    offsets,
                    data,
                },
            ) => {
                if offsets.len() + 1 != *levels {
                    return Err(Mismatch);
                }
                argument.cell_of(&length.to_ne_bytes());
                for level in offsets {
                    argument.cell_of(&address(*level));
                }
                if items.layout.size > 0 {
                    argument.cell_of(&address(*data));
                }
            }
            (Passing::Array { rank, items }, Lent::Array { extents, data }) => {
                if extents.len() != *rank {
                    return Err(Mismatch);
                }
                for extent in extents {
                    argument.cell_of(&extent.to_ne_bytes());
                }
                if items.layout.size > 0 {
                    argument.cell_of(&address(*data));
                }
            }
            (_, Lent::Tuple(_) | Lent::Vector { .. } | Lent::Array { .. }) => return Err(Mismatch),
        }
        Ok(argument)
    }

    /// Writes a value into its place in a struct.
    fn write_lent(&mut self, layout: &Layout, lent: &Lent, out: &mut [u8]) -> Result<(), Mismatch> {
        match (&layout.kind, lent) {
            (_, Lent::Value(value)) => {
                self.write(layout, value, out, &mut marshal::Nodes::default())
            }
            (LayoutKind::Tuple(members), Lent::Tuple(components)) => {
                if members.len() != components.len() {
                    return Err(Mismatch);
                }
                for ((offset, member), component) in members.iter().zip(components) {
                    let place = out.get_mut(*offset..offset + member.size);
                    self.write_lent(member, component, place.ok_or(Mismatch)?)?;
                }
                Ok(())
            }
            (
                LayoutKind::Vector(items),
                Lent::Vector {
                    length,
                    offsets,
                    data,
                },
            ) if offsets.is_empty() => {
                put(out, 0, &length.to_ne_bytes())?;
                match items.layout.size {
                    0 => Ok(()),
                    _ => put(out, WORD, &address(*data)),
                }
            }
            (LayoutKind::Array(rank, items), Lent::Array { extents, data })
                if extents.len() == *rank as usize =>
            {
                for (k, extent) in extents.iter().enumerate() {
                    put(out, k * WORD, &extent.to_ne_bytes())?;
                }
                match items.layout.size {
                    0 => Ok(()),
                    _ => put(out, extents.len() * WORD, &address(*data)),
                }
            }
            (_, Lent::Tuple(_) | Lent::Vector { .. } | Lent::Array { .. }) => Err(Mismatch),
        }
    }
}
