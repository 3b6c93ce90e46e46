//! The memory that the parameters of a call point at, and the conversion of values to it.

use crate::elements::raw_bits;
use crate::layout::{Items, Layout, LayoutKind, Passing, Tables, WORD};
use crate::nested::flatten;
use nova_core::{Elements, Value};
use nova_diag::deep;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// The memory of the parameters of one argument of a call.
#[derive(Debug)]
pub struct Argument {
    passing: Passing,
    /// The memory that the parameters point at. It does not move.
    buffers: Vec<Vec<u64>>,
    /// Vectors of scalars that are passed without conversion.
    vectors: Vec<Elements>,
    /// The value of each C parameter, aligned.
    cells: Vec<Vec<u64>>,
}

/// The value did not have the declared type.
#[derive(Debug)]
pub struct Mismatch;

impl Argument {
    /// Creates an argument from its memory.
    pub(crate) fn new(passing: Passing, buffers: Vec<Vec<u64>>, cells: Vec<Vec<u64>>) -> Argument {
        Argument {
            passing,
            buffers,
            vectors: Vec::new(),
            cells,
        }
    }

    /// Converts a value of the type that is passed in this form.
    pub(crate) fn of_value(passing: &Passing, value: &Value) -> Result<Argument, Mismatch> {
        let mut argument = Argument::new(passing.clone(), Vec::new(), Vec::new());
        argument.add(passing, value)?;
        Ok(argument)
    }

    /// Returns the form in which it is passed.
    pub(crate) fn passing(&self) -> &Passing {
        &self.passing
    }

    /// Returns a pointer to the value of each C parameter, in order.
    pub(crate) fn pointers(&self) -> impl Iterator<Item = *const u64> {
        self.cells.iter().map(|cell| cell.as_ptr())
    }

    /// Adds the C parameters.
    fn add(&mut self, passing: &Passing, value: &Value) -> Result<(), Mismatch> {
        match (passing, value) {
            (Passing::Nothing(_), _) => Ok(()),
            (Passing::Bool, Value::Scalar(scalar)) => {
                self.cell_of(&(raw_bits(*scalar) as i32).to_ne_bytes());
                Ok(())
            }
            (Passing::Value(layout), value) => {
                let mut bytes = vec![0; layout.size];
                self.write(layout, value, &mut bytes, &mut Nodes::default())?;
                self.cell_of(&bytes);
                Ok(())
            }
            (Passing::Vector { levels, items }, Value::Vector(elements)) => {
                self.cell_of(&elements.len().to_ne_bytes());
                let mut data = elements.clone();
                for level in (1..*levels).rev() {
                    let inner = items.scalar.filter(|_| level == 1);
                    let (offsets, inner) = flatten(inner, &data);
                    let offsets = Elements::I64(Arc::new(offsets));
                    let pointer = self.keep_vector(offsets);
                    self.cell_of(&pointer);
                    data = inner;
                }
                self.add_data(items, &data)
            }
            (Passing::Array { rank, items }, Value::Array(extents, elements)) => {
                if extents.len() != *rank {
                    return Err(Mismatch);
                }
                for extent in extents.iter() {
                    self.cell_of(&extent.to_ne_bytes());
                }
                self.add_data(items, elements)
            }
            (Passing::Bool | Passing::Vector { .. } | Passing::Array { .. }, _) => Err(Mismatch),
        }
    }

    fn add_data(&mut self, items: &Items, elements: &Elements) -> Result<(), Mismatch> {
        if items.layout.size > 0 {
            let pointer = self.data(items, elements, &mut Nodes::default())?;
            self.cell_of(&pointer);
        }
        Ok(())
    }

    /// Stores the value of a C parameter.
    pub(crate) fn cell_of(&mut self, bytes: &[u8]) {
        let cell = words(bytes);
        self.cells.push(cell);
    }

    /// Stores the elements of a vector. Returns the bytes of the pointer to them.
    fn data(
        &mut self,
        items: &Items,
        elements: &Elements,
        nodes: &mut Nodes,
    ) -> Result<[u8; WORD], Mismatch> {
        if items.scalar.is_some() {
            return match elements {
                Elements::Values(_) => Err(Mismatch),
                packed => Ok(self.keep_vector(packed.clone())),
            };
        }
        let Elements::Values(values) = elements else {
            return Err(Mismatch);
        };
        let stride = items.layout.size;
        let mut bytes = vec![0; values.len() * stride];
        for (value, out) in values.iter().zip(bytes.chunks_mut(stride)) {
            self.write(&items.layout, value, out, nodes)?;
        }
        Ok(self.keep_bytes(&bytes))
    }

    fn keep_bytes(&mut self, bytes: &[u8]) -> [u8; WORD] {
        let buffer = words(bytes);
        let pointer = address(buffer.as_ptr());
        self.buffers.push(buffer);
        pointer
    }

    /// Stores packed elements. Returns the bytes of the pointer to them.
    fn keep_vector(&mut self, elements: Elements) -> [u8; WORD] {
        let pointer = match &elements {
            Elements::I8(v) => address(v.as_ptr()),
            Elements::I16(v) => address(v.as_ptr()),
            Elements::I32(v) => address(v.as_ptr()),
            Elements::I64(v) => address(v.as_ptr()),
            Elements::U8(v) => address(v.as_ptr()),
            Elements::U16(v) => address(v.as_ptr()),
            Elements::U32(v) => address(v.as_ptr()),
            Elements::U64(v) => address(v.as_ptr()),
            Elements::F32(v) => address(v.as_ptr()),
            Elements::F64(v) => address(v.as_ptr()),
            Elements::Bool(v) => address(v.as_ptr()),
            Elements::Values(_) => [0; WORD],
        };
        self.vectors.push(elements);
        pointer
    }

    /// Writes a value into its place. `nodes` are the nodes of the recursive value that contains
    /// it.
    pub(crate) fn write(
        &mut self,
        layout: &Layout,
        value: &Value,
        out: &mut [u8],
        nodes: &mut Nodes,
    ) -> Result<(), Mismatch> {
        deep(|| match (&layout.kind, value) {
            (LayoutKind::Unit, _) => Ok(()),
            (LayoutKind::Scalar(_), Value::Scalar(scalar)) => {
                put(out, 0, &raw_bits(*scalar).to_le_bytes()[..layout.size])
            }
            (LayoutKind::Tuple(members), Value::Tuple(values)) => {
                for ((offset, member), value) in members.iter().zip(values.iter()) {
                    let place = out.get_mut(*offset..offset + member.size).ok_or(Mismatch)?;
                    self.write(member, value, place, nodes)?;
                }
                Ok(())
            }
            (LayoutKind::Sum(union, payloads), Value::Sum(tag, payload)) => {
                put(out, 0, &(*tag as i32).to_ne_bytes())?;
                let member = payloads.get(*tag as usize).ok_or(Mismatch)?;
                let place = out.get_mut(*union..union + member.size).ok_or(Mismatch)?;
                self.write(member, payload.get(), place, nodes)
            }
            (LayoutKind::Vector(items), Value::Vector(elements)) => {
                put(out, 0, &elements.len().to_ne_bytes())?;
                if items.layout.size > 0 {
                    put(out, WORD, &self.data(items, elements, nodes)?)?;
                }
                Ok(())
            }
            (LayoutKind::Array(rank, items), Value::Array(extents, elements)) => {
                for (k, extent) in extents.iter().enumerate() {
                    put(out, k * WORD, &extent.to_ne_bytes())?;
                }
                if items.layout.size > 0 {
                    put(
                        out,
                        *rank as usize * WORD,
                        &self.data(items, elements, nodes)?,
                    )?;
                }
                Ok(())
            }
            (LayoutKind::Link(member), value) => {
                put(out, 0, &nodes.number(*member, value).to_ne_bytes())
            }
            (LayoutKind::Data(tables), value) => self.write_data(tables, value, out),
            (
                LayoutKind::Scalar(_)
                | LayoutKind::Tuple(_)
                | LayoutKind::Sum(..)
                | LayoutKind::Vector(_)
                | LayoutKind::Array(..),
                _,
            ) => Err(Mismatch),
        })
    }

    /// Writes a recursive value. Shared nodes are written once, and the depth is not bounded by the
    /// stack.
    fn write_data(
        &mut self,
        tables: &Tables,
        value: &Value,
        out: &mut [u8],
    ) -> Result<(), Mismatch> {
        let mut nodes = Nodes::default();
        let mut bytes: Vec<Vec<u8>> = vec![Vec::new(); tables.nodes.len()];
        put(out, 0, &nodes.number(tables.own, value).to_ne_bytes())?;
        while let Some((member, value)) = nodes.waiting.pop_front() {
            let layout = tables.nodes.get(member).ok_or(Mismatch)?;
            let start = bytes[member].len();
            bytes[member].resize(start + layout.size, 0);
            self.write(layout, &value, &mut bytes[member][start..], &mut nodes)?;
        }
        for (member, (bytes, layout)) in bytes.iter().zip(&tables.nodes).enumerate() {
            let place = (1 + 2 * member) * WORD;
            put(out, place, &(bytes.len() / layout.size).to_ne_bytes())?;
            let pointer = self.keep_bytes(bytes);
            put(out, place + WORD, &pointer)?;
        }
        Ok(())
    }
}

/// The nodes of a recursive value, numbered for each type of its group in the order of the
/// traversal.
#[derive(Default)]
pub(crate) struct Nodes {
    /// The nodes that are numbered and not yet written, in order.
    waiting: VecDeque<(usize, Value)>,
    /// The number of numbered nodes of each type.
    counts: Vec<usize>,
    /// The numbers of the visited nodes, by type, constructor and the address of their payload.
    numbers: HashMap<(usize, u32, usize), usize>,
}

impl Nodes {
    fn number(&mut self, member: usize, value: &Value) -> usize {
        if self.counts.len() <= member {
            self.counts.resize(member + 1, 0);
        }
        let next = self.counts[member];
        if let Value::Sum(tag, payload) = value {
            let key = (member, *tag, std::ptr::from_ref(payload.get()).addr());
            if let Some(number) = self.numbers.get(&key) {
                return *number;
            }
            self.numbers.insert(key, next);
        }
        self.counts[member] += 1;
        self.waiting.push_back((member, value.clone()));
        next
    }
}

pub(crate) fn put(out: &mut [u8], at: usize, bytes: &[u8]) -> Result<(), Mismatch> {
    out.get_mut(at..at + bytes.len())
        .ok_or(Mismatch)?
        .copy_from_slice(bytes);
    Ok(())
}

pub(crate) fn address<T>(pointer: *const T) -> [u8; WORD] {
    pointer.expose_provenance().to_ne_bytes()
}

/// Copies bytes to memory that is aligned for every type. It has at least one word, so that the
/// address is real.
fn words(bytes: &[u8]) -> Vec<u64> {
    let (whole, rest) = bytes.as_chunks::<WORD>();
    let mut last = [0; WORD];
    last[..rest.len()].copy_from_slice(rest);
    let whole = whole.iter().chain([&last]);
    whole.map(|word| u64::from_ne_bytes(*word)).collect()
}
