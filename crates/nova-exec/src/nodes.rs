//! The nodes of a recursive result, and the links between them.

use crate::bytes::{Broken, count, part, pointer_at, tag_of, word_at};
use crate::layout::{Items, Layout, LayoutKind, WORD};
use nova_core::Value;
use nova_diag::deep;

/// A node: the position of its type in the group, and its index.
pub type Link = (usize, usize);

/// The nodes of a recursive result, and their values so far.
#[derive(Default)]
pub struct Nodes {
    /// For each type of the group the value of each node.
    values: Vec<Vec<State>>,
}

/// The state of a node.
#[derive(Clone)]
pub enum State {
    /// Not visited.
    New,
    /// Waiting for the nodes it links to.
    Open,
    /// Its value.
    Done(Value),
}

impl Nodes {
    /// Adds the nodes of the next type of the group.
    pub fn add_type(&mut self, count: usize) {
        self.values.push(vec![State::New; count]);
    }

    /// Returns the number of nodes of a type.
    pub fn count(&self, member: usize) -> usize {
        self.values.get(member).map_or(0, Vec::len)
    }

    /// Returns the value of a node that was built before.
    pub fn get(&self, (member, index): Link) -> Result<Value, Broken> {
        match self.state((member, index)) {
            Some(State::Done(value)) => Ok(value.clone()),
            Some(State::New | State::Open) | None => Err(format!("a link to node {index}")),
        }
    }

    /// Returns the state of a node, if it is there.
    pub fn state(&self, (member, index): Link) -> Option<&State> {
        self.values.get(member)?.get(index)
    }

    /// Sets the state of a node.
    pub fn set(&mut self, (member, index): Link, state: State) {
        if let Some(slot) = self.values.get_mut(member).and_then(|v| v.get_mut(index)) {
            *slot = state;
        }
    }
}

/// Collects the links in a node.
///
/// # Safety
///
/// As [`crate::unmarshal::Returned`].
pub unsafe fn collect(layout: &Layout, bytes: &[u8], links: &mut Vec<Link>) -> Result<(), Broken> {
    deep(|| match &layout.kind {
        LayoutKind::Unit | LayoutKind::Scalar(_) | LayoutKind::Data(_) => Ok(()),
        LayoutKind::Link(member) => {
            links.push((*member, count(word_at(bytes, 0))?));
            Ok(())
        }
        LayoutKind::Tuple(members) => members.iter().try_for_each(|(offset, member)| unsafe {
            collect(member, part(bytes, *offset, member.size)?, links)
        }),
        LayoutKind::Sum(union, payloads) => {
            let tag = tag_of(bytes)?;
            let member = payloads
                .get(tag as usize)
                .ok_or("a constructor that is not there")?;
            unsafe { collect(member, part(bytes, *union, member.size)?, links) }
        }
        LayoutKind::Vector(items) => {
            let total = count(word_at(bytes, 0))?;
            unsafe { collect_items(items, total, pointer_at(bytes, WORD), links) }
        }
        LayoutKind::Array(rank, items) => {
            let rank = *rank as usize;
            let mut total = 1usize;
            for k in 0..rank {
                let extent = count(word_at(bytes, k * WORD))?;
                total = total.checked_mul(extent).ok_or("too large an extent")?;
            }
            unsafe { collect_items(items, total, pointer_at(bytes, rank * WORD), links) }
        }
    })
}

/// Collects the links in the elements of a vector.
///
/// # Safety
///
/// As [`crate::unmarshal::Returned`].
unsafe fn collect_items(
    items: &Items,
    total: usize,
    pointer: *mut u8,
    links: &mut Vec<Link>,
) -> Result<(), Broken> {
    let stride = items.layout.size;
    if items.scalar.is_some() || stride == 0 || total == 0 {
        return Ok(());
    }
    if pointer.is_null() {
        return Err(format!("a null pointer with length {total}"));
    }
    let size = total.checked_mul(stride).ok_or("too long a vector")?;
    // SAFETY: the function wrote that many elements there.
    let bytes = unsafe { std::slice::from_raw_parts(pointer, size) };
    let mut elements = bytes.chunks(stride);
    elements.try_for_each(|element| unsafe { collect(&items.layout, element, links) })
}
