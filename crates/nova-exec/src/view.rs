//! The memory of a call's results as a value that the printer looks at.
//!
//! A view is made only of memory that `check` has found good.

use crate::elements::scalar_at;
use crate::layout::{Items, Layout, LayoutKind, Tables, WORD};
use nova_core::text::{Shape, View};
use std::ptr::with_exposed_provenance;

/// The recursive value that contains a node: its tables, and the struct that points to them.
#[derive(Clone, Copy)]
pub struct Group<'a> {
    tables: &'a Tables,
    data: *const u8,
}

/// A vector that is the whole result: offsets for each level but the first, then elements.
pub struct Rows<'a> {
    pub offsets: Vec<&'a [i64]>,
    pub items: &'a Items,
    pub data: *const u8,
}

/// An array that is the whole result.
pub struct Array<'a> {
    pub extents: nova_core::Extents,
    pub items: &'a Items,
    pub data: *const u8,
}

/// A value in the memory of a result.
#[derive(Clone, Copy)]
pub enum MemoryView<'a> {
    /// A value of a layout. It is no link and no recursive value, but the node meant.
    Place(&'a Layout, *const u8, Option<Group<'a>>),
    /// Elements of the vector at a level: the first, and the end.
    Rows(&'a Rows<'a>, usize, usize, usize),
    Array(&'a Array<'a>),
    Bool(bool),
}

impl<'a> MemoryView<'a> {
    /// Returns the view of a value.
    ///
    /// # Safety
    ///
    /// The pointer is to a value of this layout, in memory that was checked and lives as long as the
    /// view.
    pub unsafe fn at(layout: &'a Layout, pointer: *const u8, group: Option<Group<'a>>) -> Self {
        let (member, index, group) = match (&layout.kind, group) {
            (LayoutKind::Link(member), Some(group)) => {
                (*member, unsafe { word(pointer, 0) }, group)
            }
            (LayoutKind::Data(tables), _) => {
                let data = pointer;
                (
                    tables.own,
                    unsafe { word(pointer, 0) },
                    Group { tables, data },
                )
            }
            (_, group) => return MemoryView::Place(layout, pointer, group),
        };
        let nodes = unsafe { pointer_at(group.data, (2 + 2 * member) * WORD) };
        match group.tables.nodes.get(member) {
            Some(node) => {
                let pointer = nodes.wrapping_add(index as usize * node.size);
                MemoryView::Place(node, pointer, Some(group))
            }
            None => MemoryView::Bool(false),
        }
    }
}

impl View for MemoryView<'_> {
    fn shape(self) -> Shape {
        let (layout, pointer) = match self {
            MemoryView::Place(layout, pointer, _) => (layout, pointer),
            MemoryView::Rows(_, _, from, to) => return Shape::Vector(to - from),
            MemoryView::Array(array) => return Shape::Array(array.extents.clone()),
            MemoryView::Bool(truth) => {
                return Shape::Scalar(nova_core::ScalarValue::Bool(truth));
            }
        };
        // SAFETY: the memory was checked.
        unsafe {
            match &layout.kind {
                LayoutKind::Unit => Shape::Unit,
                LayoutKind::Scalar(scalar) => {
                    let bytes = std::slice::from_raw_parts(pointer, layout.size);
                    scalar_at(*scalar, bytes).map_or(Shape::Unit, Shape::Scalar)
                }
                LayoutKind::Tuple(members) => Shape::Tuple(members.len()),
                LayoutKind::Sum(..) => Shape::Sum(tag(pointer)),
                LayoutKind::Vector(_) => Shape::Vector(word(pointer, 0) as usize),
                LayoutKind::Array(rank, _) => {
                    let extents = (0..*rank as usize).map(|k| word(pointer, k * WORD) as usize);
                    Shape::Array(extents.collect::<Vec<_>>().into())
                }
                // `MemoryView::at` has followed these.
                LayoutKind::Link(_) | LayoutKind::Data(_) => Shape::Unit,
            }
        }
    }

    fn part(self, k: usize) -> Self {
        // SAFETY: the memory was checked, and the printer asks for parts that are there.
        unsafe {
            match self {
                MemoryView::Place(layout, pointer, group) => match &layout.kind {
                    LayoutKind::Tuple(members) => match members.get(k) {
                        Some((offset, member)) => Self::at(member, pointer.add(*offset), group),
                        None => self,
                    },
                    LayoutKind::Sum(union, payloads) => match payloads.get(tag(pointer) as usize) {
                        Some(payload) => Self::at(payload, pointer.add(*union), group),
                        None => self,
                    },
                    LayoutKind::Vector(items) => {
                        let data =
                            pointer_at(pointer, if items.layout.size > 0 { WORD } else { 0 });
                        Self::at(&items.layout, element(data, k, items), group)
                    }
                    LayoutKind::Array(rank, items) => {
                        let data = match items.layout.size {
                            0 => pointer,
                            _ => pointer_at(pointer, *rank as usize * WORD),
                        };
                        Self::at(&items.layout, element(data, k, items), group)
                    }
                    LayoutKind::Unit | LayoutKind::Scalar(_) => self,
                    LayoutKind::Link(_) | LayoutKind::Data(_) => self,
                },
                MemoryView::Rows(rows, level, from, _) => match rows.offsets.get(level) {
                    Some(offsets) => {
                        let offset = |k: usize| offsets.get(k).map_or(0, |n| *n as usize);
                        let (from, to) = (offset(from + k), offset(from + k + 1));
                        MemoryView::Rows(rows, level + 1, from, to)
                    }
                    None => {
                        let items = rows.items;
                        Self::at(&items.layout, element(rows.data, from + k, items), None)
                    }
                },
                MemoryView::Array(array) => {
                    let place = element(array.data, k, array.items);
                    Self::at(&array.items.layout, place, None)
                }
                MemoryView::Bool(_) => self,
            }
        }
    }
}

fn element(data: *const u8, k: usize, items: &Items) -> *const u8 {
    data.wrapping_add(k * items.layout.size)
}

/// Reads a word.
unsafe fn word(pointer: *const u8, at: usize) -> u64 {
    unsafe { pointer.add(at).cast::<u64>().read_unaligned() }
}

/// Reads a pointer.
unsafe fn pointer_at(pointer: *const u8, at: usize) -> *const u8 {
    with_exposed_provenance(unsafe { word(pointer, at) } as usize)
}

/// Reads the constructor of a sum.
unsafe fn tag(pointer: *const u8) -> u32 {
    unsafe { pointer.cast::<u32>().read_unaligned() }
}
