//! Conversion of recursive results: node tables become values, every node once, without recursion
//! over their depth.

use crate::layout::{Items, Layout, LayoutKind, Tables, WORD};
use crate::unmarshal::{Broken, count, free_memory, part, pointer_at, read, word_at};
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
enum State {
    /// Not visited.
    New,
    /// Waiting for the nodes it links to.
    Open,
    /// Its value.
    Done(Value),
}

impl Nodes {
    /// Returns the value of a node that was built before.
    pub fn get(&self, (member, index): Link) -> Result<Value, Broken> {
        match self.state((member, index)) {
            Some(State::Done(value)) => Ok(value.clone()),
            Some(State::New | State::Open) | None => Err(format!("a link to node {index}")),
        }
    }

    fn state(&self, (member, index): Link) -> Option<&State> {
        self.values.get(member)?.get(index)
    }

    fn set(&mut self, (member, index): Link, state: State) {
        if let Some(slot) = self.values.get_mut(member).and_then(|v| v.get_mut(index)) {
            *slot = state;
        }
    }
}

/// Takes a recursive value and frees its tables.
///
/// # Safety
///
/// `bytes` hold a result of this layout that an entry wrote.
pub unsafe fn take(tables: &Tables, bytes: &[u8]) -> Result<Value, Broken> {
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
        nodes.values.push(vec![State::New; length]);
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
        for index in 0..nodes.values[member].len() {
            unsafe { table.build((member, index), &mut nodes) }?;
        }
    }
    let root = nodes.get((tables.own, count(word_at(bytes, 0))?));
    for member in 0..memory.len() {
        // SAFETY: the tables are not read after this.
        unsafe { free_memory(pointer_at(bytes, (2 + 2 * member) * WORD)) };
    }
    root
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
    /// As [`take`].
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

/// Collects the links in a node.
///
/// # Safety
///
/// As [`take`].
unsafe fn collect(layout: &Layout, bytes: &[u8], links: &mut Vec<Link>) -> Result<(), Broken> {
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
            let tag = crate::unmarshal::tag_of(bytes)?;
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
/// As [`take`].
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
