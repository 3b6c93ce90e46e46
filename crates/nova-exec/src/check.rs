//! The check of a call's results before anything is made of them: lengths, pointers, constructors, links.
//! It collects the memory that the caller has to release.

use crate::bytes::{Broken, count, part, pointer_at, tag_of, word_at};
use crate::layout::{Items, Layout, LayoutKind, Tables, WORD};
use crate::nodes::{Link, collect};
use nova_diag::deep;

/// Checks results. It holds the pointers that were found.
#[derive(Default)]
pub struct Check {
    /// The memory to release.
    pub pointers: Vec<*mut u8>,
}

impl Check {
    /// Checks the elements at a pointer.
    ///
    /// # Safety
    ///
    /// The pointer and the number are those that an entry with such a result wrote.
    pub unsafe fn elements(
        &mut self,
        items: &Items,
        total: usize,
        pointer: *mut u8,
        counts: &[usize],
    ) -> Result<(), Broken> {
        let stride = items.layout.size;
        let bytes = unsafe { self.bytes(total, stride, pointer, "length") }?;
        if stride == 0 || is_plain(&items.layout) {
            return Ok(());
        }
        let mut elements = bytes.chunks(stride);
        elements.try_for_each(|element| unsafe { self.value(&items.layout, element, counts) })
    }

    /// Returns the memory at a pointer.
    ///
    /// # Safety
    ///
    /// As [`Check::elements`].
    pub unsafe fn bytes<'a>(
        &mut self,
        total: usize,
        size: usize,
        pointer: *mut u8,
        what: &str,
    ) -> Result<&'a [u8], Broken> {
        if size == 0 {
            return Ok(&[]);
        }
        let bytes = total.checked_mul(size).ok_or("too long a vector")?;
        if pointer.is_null() {
            return match (bytes, what) {
                (0, _) => Ok(&[]),
                (_, "nodes") => Err(format!("a null pointer with {total} nodes")),
                (_, _) => Err(format!("a null pointer with length {total}")),
            };
        }
        self.pointers.push(pointer);
        // SAFETY: the function wrote this many elements there.
        Ok(unsafe { std::slice::from_raw_parts(pointer, bytes) })
    }

    /// Checks a value in its place. Links are to tables with these numbers of nodes.
    ///
    /// # Safety
    ///
    /// As [`Check::elements`].
    pub unsafe fn value(
        &mut self,
        layout: &Layout,
        bytes: &[u8],
        counts: &[usize],
    ) -> Result<(), Broken> {
        deep(|| match &layout.kind {
            LayoutKind::Unit | LayoutKind::Scalar(_) => Ok(()),
            LayoutKind::Tuple(members) => members.iter().try_for_each(|(offset, member)| unsafe {
                self.value(member, part(bytes, *offset, member.size)?, counts)
            }),
            LayoutKind::Sum(union, payloads) => {
                let tag = tag_of(bytes)?;
                let member = payloads.get(tag as usize);
                let member = member.ok_or_else(|| format!("a constructor numbered {tag}"))?;
                unsafe { self.value(member, part(bytes, *union, member.size)?, counts) }
            }
            LayoutKind::Vector(items) => {
                let total = count(word_at(bytes, 0))?;
                unsafe { self.elements(items, total, pointer_at(bytes, WORD), counts) }
            }
            LayoutKind::Array(rank, items) => {
                let rank = *rank as usize;
                let extents: Result<Vec<usize>, Broken> =
                    (0..rank).map(|k| count(word_at(bytes, k * WORD))).collect();
                let total = product(&extents?)?;
                unsafe { self.elements(items, total, pointer_at(bytes, rank * WORD), counts) }
            }
            LayoutKind::Link(member) => {
                let index = count(word_at(bytes, 0))?;
                match counts.get(*member).is_some_and(|count| index < *count) {
                    true => Ok(()),
                    false => Err(format!("a link to node {index} that is not there")),
                }
            }
            LayoutKind::Data(tables) => unsafe { self.data(tables, bytes) },
        })
    }

    /// Checks a recursive value.
    ///
    /// # Safety
    ///
    /// As [`Check::elements`].
    unsafe fn data(&mut self, tables: &Tables, bytes: &[u8]) -> Result<(), Broken> {
        let members = 0..tables.nodes.len();
        let counts: Result<Vec<usize>, Broken> = members
            .map(|member| count(word_at(bytes, (1 + 2 * member) * WORD)))
            .collect();
        let counts = counts?;
        let mut memory = Vec::new();
        for (member, (layout, total)) in tables.nodes.iter().zip(&counts).enumerate() {
            let pointer = pointer_at(bytes, (2 + 2 * member) * WORD);
            memory.push(unsafe { self.bytes(*total, layout.size, pointer, "nodes") }?);
        }
        for (layout, nodes) in tables.nodes.iter().zip(&memory) {
            for node in nodes.chunks(layout.size.max(1)) {
                unsafe { self.value(layout, node, &counts) }?;
            }
        }
        let root = count(word_at(bytes, 0))?;
        if counts.get(tables.own).is_none_or(|count| root >= *count) {
            return Err(format!("a link to node {root}"));
        }
        unsafe { without_cycles(tables, &memory) }
    }
}

/// Returns the number of elements of an array.
pub fn product(extents: &[usize]) -> Result<usize, Broken> {
    let product = extents.iter().try_fold(1usize, |n, e| n.checked_mul(*e));
    product.ok_or_else(|| format!("extents {extents:?}"))
}

/// True if all bytes are a value of this layout.
pub fn is_plain(layout: &Layout) -> bool {
    deep(|| match &layout.kind {
        LayoutKind::Unit | LayoutKind::Scalar(_) => true,
        LayoutKind::Tuple(members) => members.iter().all(|(_, member)| is_plain(member)),
        LayoutKind::Sum(..) | LayoutKind::Vector(_) | LayoutKind::Array(..) => false,
        LayoutKind::Data(_) | LayoutKind::Link(_) => false,
    })
}

/// The state of a node in the search for cycles.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    /// Waiting for the nodes it links to.
    Open,
    Done,
}

/// Checks that no node contains itself. The links were checked.
///
/// # Safety
///
/// As [`Check::elements`].
unsafe fn without_cycles(tables: &Tables, memory: &[&[u8]]) -> Result<(), Broken> {
    let counts = tables.nodes.iter().zip(memory);
    let mut states: Vec<Vec<State>> = counts
        .map(|(layout, nodes)| vec![State::New; nodes.len() / layout.size.max(1)])
        .collect();
    let mut work: Vec<Link> = Vec::new();
    let mut links: Vec<Link> = Vec::new();
    for member in 0..memory.len() {
        for index in 0..states.get(member).map_or(0, Vec::len) {
            work.push((member, index));
            while let Some((member, index)) = work.pop() {
                let (Some(layout), Some(nodes)) = (tables.nodes.get(member), memory.get(member))
                else {
                    continue;
                };
                let Some(state) = states.get_mut(member).and_then(|s| s.get_mut(index)) else {
                    continue;
                };
                match *state {
                    State::Done => continue,
                    State::Open => {
                        *state = State::Done;
                        continue;
                    }
                    State::New => *state = State::Open,
                }
                let node = part(nodes, index * layout.size, layout.size)?;
                unsafe { collect(layout, node, &mut links) }?;
                if links.is_empty() {
                    *state = State::Done;
                    continue;
                }
                work.push((member, index));
                for (member, index) in links.drain(..) {
                    match states.get(member).and_then(|s| s.get(index)) {
                        Some(State::Open) => return Err("a node that contains itself".into()),
                        Some(State::New) => work.push((member, index)),
                        Some(State::Done) | None => {}
                    }
                }
            }
        }
    }
    Ok(())
}
