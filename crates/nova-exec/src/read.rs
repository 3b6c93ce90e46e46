//! Values from the memory of results. Node tables become values, every node once, without recursion over
//! their depth.

use crate::bytes::{Broken, count, part, pointer_at, tag_of, word_at};
use crate::check::product;
use crate::elements::{from_bytes, scalar_at};
use crate::layout::{Items, Layout, LayoutKind, Tables, WORD};
use crate::nodes::{Link, Nodes, State, collect};
use nova_core::{Elements, Scalar, Value};
use nova_diag::deep;
use std::ptr::with_exposed_provenance_mut;
use std::sync::Arc;

/// Returns the elements at a pointer.
///
/// # Safety
///
/// As [`crate::unmarshal::Returned`].
pub unsafe fn read_data(
    items: &Items,
    count: usize,
    address: u64,
    nodes: &Nodes,
) -> Result<Elements, Broken> {
    if let Some(scalar) = items.scalar {
        return unsafe { read_packed(scalar, count, address) };
    }
    if items.layout.size == 0 {
        // There is no memory, but the elements may be tuples of `nil`.
        let value = unsafe { read(&items.layout, &[], nodes) }?;
        return Ok(Elements::Values(Arc::new(vec![value; count])));
    }
    let stride = items.layout.size;
    let read_all = |bytes: &[u8]| {
        let elements = bytes.chunks(stride);
        elements
            .map(|element| unsafe { read(&items.layout, element, nodes) })
            .collect()
    };
    let values: Result<Vec<Value>, Broken> =
        unsafe { with_bytes(count, stride, address, read_all) }?;
    Ok(Elements::Values(Arc::new(values?)))
}

/// Returns packed scalars.
///
/// # Safety
///
/// As [`crate::unmarshal::Returned`].
pub unsafe fn read_packed(scalar: Scalar, count: usize, address: u64) -> Result<Elements, Broken> {
    let size = usize::from(scalar.info().bytes);
    unsafe { with_bytes(count, size, address, |bytes| from_bytes(scalar, bytes)) }
}

/// Passes the bytes of `count` elements of `size` bytes to `body`.
///
/// # Safety
///
/// As [`crate::unmarshal::Returned`].
unsafe fn with_bytes<R>(
    count: usize,
    size: usize,
    address: u64,
    body: impl FnOnce(&[u8]) -> R,
) -> Result<R, Broken> {
    let pointer: *mut u8 = with_exposed_provenance_mut(address as usize);
    let bytes = count.checked_mul(size).ok_or("too long a vector")?;
    if pointer.is_null() {
        return match bytes {
            0 => Ok(body(&[])),
            _ => Err(format!("a null pointer with length {count}")),
        };
    }
    // SAFETY: the function wrote this many elements there.
    Ok(body(unsafe { std::slice::from_raw_parts(pointer, bytes) }))
}

/// Reads a value from its place. Links are to `nodes`.
///
/// # Safety
///
/// As [`crate::unmarshal::Returned`].
pub unsafe fn read(layout: &Layout, bytes: &[u8], nodes: &Nodes) -> Result<Value, Broken> {
    let part = |at: usize, size: usize| part(bytes, at, size);
    deep(|| match &layout.kind {
        LayoutKind::Unit => Ok(Value::Unit),
        LayoutKind::Scalar(scalar) => {
            let scalar = scalar_at(*scalar, part(0, layout.size)?);
            scalar
                .map(Value::Scalar)
                .ok_or_else(|| "too short a value".to_string())
        }
        LayoutKind::Tuple(members) => {
            let values: Result<Vec<Value>, Broken> = members
                .iter()
                .map(|(offset, member)| unsafe { read(member, part(*offset, member.size)?, nodes) })
                .collect();
            Ok(Value::Tuple(values?.into()))
        }
        LayoutKind::Sum(union, payloads) => {
            let tag = tag_of(bytes)?;
            let member = payloads.get(tag as usize);
            let member = member.ok_or_else(|| format!("a constructor numbered {tag}"))?;
            let payload = unsafe { read(member, part(*union, member.size)?, nodes) }?;
            Ok(Value::Sum(tag, nova_core::Link::new(payload)))
        }
        LayoutKind::Vector(items) => {
            let (count, address) = (count(word_at(bytes, 0))?, word_at(bytes, WORD));
            let elements = unsafe { read_data(items, count, address, nodes) }?;
            Ok(Value::Vector(elements))
        }
        LayoutKind::Array(rank, items) => {
            let rank = *rank as usize;
            let extents: Result<Vec<usize>, Broken> =
                (0..rank).map(|k| count(word_at(bytes, k * WORD))).collect();
            let extents = extents?;
            let address = word_at(bytes, rank * WORD);
            let elements = unsafe { read_data(items, product(&extents)?, address, nodes) }?;
            Ok(Value::Array(extents.into(), elements))
        }
        LayoutKind::Link(member) => nodes.get((*member, count(word_at(bytes, 0))?)),
        LayoutKind::Data(tables) => unsafe { read_tables(tables, bytes) },
    })
}

/// Reads a recursive value.
///
/// # Safety
///
/// `bytes` hold a result of this layout that an entry wrote.
unsafe fn read_tables(tables: &Tables, bytes: &[u8]) -> Result<Value, Broken> {
    let mut memory = Vec::new();
    let mut nodes = Nodes::default();
    for (member, layout) in tables.nodes.iter().enumerate() {
        let at = (1 + 2 * member) * WORD;
        let length = count(word_at(bytes, at))?;
        let pointer = pointer_at(bytes, at + WORD);
        let size = length.checked_mul(layout.size).ok_or("too many nodes")?;
        if pointer.is_null() && size > 0 {
            return Err(format!("a null pointer with {length} nodes"));
        }
        nodes.add_type(length);
        // SAFETY: the function wrote that many nodes there.
        memory.push(match size {
            0 => &[],
            _ => unsafe { std::slice::from_raw_parts(pointer, size) },
        });
    }
    let table = Table {
        layouts: &tables.nodes,
        memory: &memory,
    };
    for member in 0..memory.len() {
        for index in 0..nodes.count(member) {
            unsafe { table.build((member, index), &mut nodes) }?;
        }
    }
    nodes.get((tables.own, count(word_at(bytes, 0))?))
}

/// The tables of a value in memory.
struct Table<'a> {
    layouts: &'a [Layout],
    memory: &'a [&'a [u8]],
}

impl Table<'_> {
    fn bytes(&self, (member, index): Link) -> Result<(&Layout, &[u8]), Broken> {
        let layout = self.layouts.get(member).ok_or("a link of no type")?;
        let from = index.checked_mul(layout.size).ok_or("too large a link")?;
        Ok((layout, part(self.memory[member], from, layout.size)?))
    }

    /// Builds the value of a node, after those that it needs.
    ///
    /// # Safety
    ///
    /// As [`read_tables`].
    unsafe fn build(&self, node: Link, nodes: &mut Nodes) -> Result<(), Broken> {
        let mut work = vec![node];
        while let Some(&node) = work.last() {
            match nodes.state(node) {
                None => return Err(format!("a link to node {} that is not there", node.1)),
                Some(State::Done(_)) => {
                    work.pop();
                    continue;
                }
                Some(State::Open) => {
                    let (layout, bytes) = self.bytes(node)?;
                    let value = unsafe { read(layout, bytes, nodes) }?;
                    nodes.set(node, State::Done(value));
                    work.pop();
                }
                Some(State::New) => {
                    nodes.set(node, State::Open);
                    let (layout, bytes) = self.bytes(node)?;
                    let mut links = Vec::new();
                    unsafe { collect(layout, bytes, &mut links) }?;
                    for link in links {
                        match nodes.state(link) {
                            Some(State::Open) => return Err("a node that contains itself".into()),
                            Some(State::New | State::Done(_)) | None => work.push(link),
                        }
                    }
                }
            }
        }
        Ok(())
    }
}
