//! Arguments from the parts of a value, as the reader of texts finds them. Nodes go straight into their
//! tables and elements into their vectors, so that an argument takes the memory of its C form.

use crate::buffer::Buffer;
use crate::elements::raw_bits;
use crate::layout::{BOOL, Items, Layout, LayoutKind, Passing, Tables, WORD};
use crate::marshal::Argument;
use nova_core::text::{Build, Stack, ValueError, read_into};
use nova_core::{OutOfMemory, ScalarValue, SumType, Type};

/// A place of a value: in one of the regions.
#[derive(Clone, Copy)]
struct Place {
    region: usize,
    offset: usize,
}

impl Place {
    fn plus(self, bytes: usize) -> Place {
        Place {
            offset: self.offset + bytes,
            ..self
        }
    }
}

/// A value that is being written, with the parts that are still to come.
enum Open<'a> {
    /// The whole value: a vector or an array that is passed as several parameters.
    Whole,
    /// A value in a place.
    One(&'a Layout, Place),
    /// Components of a tuple at this place.
    Components(&'a [(usize, Layout)], Place),
    /// Elements that a struct at this place points to.
    Elements(&'a Items, Vector),
    /// The elements of the whole value, a vector, at this level.
    Rows(usize),
    /// The end of a recursive value.
    Data(&'a Tables, Place),
}

/// A vector or an array that is being written.
#[derive(Clone, Copy)]
struct Vector {
    /// The struct that points to its elements, if it is not the whole value.
    place: Option<Place>,
    /// The region of its elements.
    region: usize,
    /// The number of its elements so far.
    count: usize,
}

/// Reads the text of a value of type `ty`, which is passed in this form.
pub fn read_argument(
    text: &str,
    ty: &Type,
    passing: &Passing,
    sums: &[SumType],
) -> Result<Argument, ValueError> {
    let mut builder = Builder::new(passing).map_err(|OutOfMemory| ValueError {
        offset: 0,
        message: "out of memory".to_string(),
    })?;
    read_into(text, ty, sums, &mut builder)?;
    Ok(builder.finish())
}

/// Builds one argument.
struct Builder<'a> {
    passing: &'a Passing,
    open: Stack<Open<'a>>,
    /// The memory that still grows. The first region is that of the whole value.
    regions: Vec<Buffer>,
    /// The recursive values that are being written, the innermost last: their tables, and the regions
    /// of these from the first on.
    groups: Vec<(&'a Tables, usize)>,
    /// For each level of the whole value, a vector: the number of elements so far, and the offsets.
    levels: Vec<(usize, Vec<i64>)>,
    /// The extents of the whole value, an array.
    extents: Vec<usize>,
    kept: Kept,
}

impl<'a> Builder<'a> {
    /// Creates a builder of an argument that is passed in this form.
    fn new(passing: &'a Passing) -> Result<Builder<'a>, OutOfMemory> {
        let mut whole = Buffer::default();
        let place = Place {
            region: 0,
            offset: 0,
        };
        let mut levels = Vec::new();
        let open = match passing {
            Passing::Nothing(layout) | Passing::Value(layout) => {
                whole.extend(layout.size)?;
                Open::One(layout, place)
            }
            Passing::Bool => {
                whole.extend(BOOL.size)?;
                Open::One(&BOOL, place)
            }
            Passing::Vector { levels: count, .. } => {
                levels.resize(*count, (0, vec![0]));
                Open::Whole
            }
            Passing::Array { .. } => Open::Whole,
        };
        let mut all = Stack::default();
        all.push(open)?;
        Ok(Builder {
            passing,
            open: all,
            regions: vec![whole],
            groups: Vec::new(),
            levels,
            extents: Vec::new(),
            kept: Kept::default(),
        })
    }

    /// Returns the memory of the complete argument.
    fn finish(mut self) -> Argument {
        let mut cells: Vec<Vec<u64>> = Vec::new();
        let whole = std::mem::take(&mut self.regions).into_iter().next();
        let whole = whole.unwrap_or_default();
        match self.passing {
            Passing::Nothing(_) => {}
            Passing::Bool => cells.push(vec![whole.words().first().copied().unwrap_or(0)]),
            Passing::Value(_) => cells.push(whole.into_words()),
            Passing::Vector { items, .. } => {
                cells.push(vec![self.levels.first().map_or(0, |level| level.0 as u64)]);
                for (_, offsets) in self.levels.into_iter().skip(1) {
                    let offsets = offsets.into_iter().map(|offset| offset as u64);
                    cells.push(vec![self.kept.keep_words(offsets.collect())]);
                }
                if items.layout.size > 0 {
                    cells.push(vec![self.kept.keep_words(whole.into_words())]);
                }
            }
            Passing::Array { items, .. } => {
                cells.extend(self.extents.iter().map(|extent| vec![*extent as u64]));
                if items.layout.size > 0 {
                    cells.push(vec![self.kept.keep_words(whole.into_words())]);
                }
            }
        }
        let mut buffers = self.kept.buffers;
        buffers.push(self.kept.chunk);
        Argument::new(self.passing.clone(), buffers, cells)
    }

    /// Returns the place of the next value. A node gets its place in a table.
    fn next(&mut self) -> Result<(&'a Layout, Place), OutOfMemory> {
        let (layout, place) = match self.open.pop() {
            Some(Open::One(layout, place)) => (layout, place),
            Some(Open::Components([(offset, layout), rest @ ..], place)) => {
                if !rest.is_empty() {
                    self.open.push(Open::Components(rest, place))?;
                }
                (layout, place.plus(*offset))
            }
            Some(Open::Elements(items, mut vector)) => {
                vector.count += 1;
                self.open.push(Open::Elements(items, vector))?;
                (&items.layout, self.add(vector.region, items.layout.size)?)
            }
            Some(Open::Rows(level)) => {
                self.open.push(Open::Rows(level))?;
                let Passing::Vector { items, .. } = self.passing else {
                    return Err(OutOfMemory);
                };
                if let Some((count, _)) = self.levels.get_mut(level) {
                    *count += 1;
                }
                (&items.layout, self.add(0, items.layout.size)?)
            }
            // The reader and the layout follow the same type.
            Some(Open::Whole | Open::Data(..) | Open::Components([], _)) | None => {
                return Err(OutOfMemory);
            }
        };
        match &layout.kind {
            LayoutKind::Data(tables) => {
                let first = self.regions.len();
                self.regions
                    .resize_with(first + tables.nodes.len(), Buffer::default);
                self.groups.push((tables, first));
                self.open.push(Open::Data(tables, place))?;
                self.node(tables.own, place)
            }
            LayoutKind::Link(member) => self.node(*member, place),
            LayoutKind::Unit | LayoutKind::Scalar(_) | LayoutKind::Tuple(_) => Ok((layout, place)),
            LayoutKind::Sum(..) | LayoutKind::Vector(_) | LayoutKind::Array(..) => {
                Ok((layout, place))
            }
        }
    }

    /// Adds a node of a member of the innermost group, and writes its index to a place.
    fn node(&mut self, member: usize, place: Place) -> Result<(&'a Layout, Place), OutOfMemory> {
        let (tables, first) = *self.groups.last().ok_or(OutOfMemory)?;
        let layout = tables.nodes.get(member).ok_or(OutOfMemory)?;
        let node = self.add(first + member, layout.size)?;
        let index = node.offset / layout.size.max(1);
        self.put(place, &index.to_ne_bytes());
        Ok((layout, node))
    }

    /// Adds zeros to a region.
    fn add(&mut self, region: usize, size: usize) -> Result<Place, OutOfMemory> {
        let buffer = self.regions.get_mut(region).ok_or(OutOfMemory)?;
        let offset = buffer.extend(size)?;
        Ok(Place { region, offset })
    }

    fn put(&mut self, place: Place, bytes: &[u8]) {
        if let Some(region) = self.regions.get_mut(place.region) {
            region.put(place.offset, bytes);
        }
    }

    /// Ends the recursive values that are complete.
    fn settle(&mut self) {
        while let Some(Open::Data(tables, place)) = self.open.last() {
            let (tables, place) = (*tables, *place);
            self.open.pop();
            self.groups.pop();
            let first = self.regions.len().saturating_sub(tables.nodes.len());
            let filled = self.regions.split_off(first).into_iter();
            for (member, (nodes, layout)) in filled.zip(&tables.nodes).enumerate() {
                let count = nodes.len() / layout.size.max(1);
                let at = place.plus((1 + 2 * member) * WORD);
                self.put(at, &count.to_ne_bytes());
                let address = self.kept.keep(nodes);
                self.put(at.plus(WORD), &address.to_ne_bytes());
            }
        }
    }

    /// Starts the elements of a vector or an array in its place.
    fn elements(&mut self) -> Result<(), OutOfMemory> {
        let whole = matches!(self.open.last(), Some(Open::Whole));
        let (items, place) = if whole {
            self.open.pop();
            match self.passing {
                Passing::Array { items, .. } => (items, None),
                _ => return Err(OutOfMemory),
            }
        } else {
            let (layout, place) = self.next()?;
            match &layout.kind {
                LayoutKind::Vector(items) | LayoutKind::Array(_, items) => (&**items, Some(place)),
                _ => return Err(OutOfMemory),
            }
        };
        let mut region = 0;
        if place.is_some() {
            region = self.regions.len();
            self.regions.push(self.kept.spare.pop().unwrap_or_default());
        }
        let count = 0;
        let vector = Vector {
            place,
            region,
            count,
        };
        self.open.push(Open::Elements(items, vector))?;
        Ok(())
    }

    /// Ends a vector or an array that a struct points to: its lengths, then the pointer.
    fn end_elements(&mut self, items: &Items, vector: Vector, lengths: &[usize]) {
        let Some(place) = vector.place else {
            self.extents = lengths.to_vec();
            return;
        };
        let elements = self.regions.pop().unwrap_or_default();
        for (k, length) in lengths.iter().enumerate() {
            self.put(place.plus(k * WORD), &length.to_ne_bytes());
        }
        if items.layout.size > 0 {
            let address = self.kept.keep(elements);
            self.put(place.plus(lengths.len() * WORD), &address.to_ne_bytes());
        }
    }
}

impl Build for Builder<'_> {
    fn scalar(&mut self, value: ScalarValue) -> Result<(), OutOfMemory> {
        let (layout, place) = self.next()?;
        let bytes = raw_bits(value).to_le_bytes();
        self.put(place, bytes.get(..layout.size).unwrap_or(&bytes));
        self.settle();
        Ok(())
    }

    fn unit(&mut self) -> Result<(), OutOfMemory> {
        self.next()?;
        self.settle();
        Ok(())
    }

    fn bytes(&mut self, bytes: Vec<u8>) -> Result<(), OutOfMemory> {
        self.vector(&Type::Scalar(nova_core::Scalar::U8))?;
        let place = match self.open.last_mut() {
            Some(Open::Elements(_, vector)) => {
                vector.count = bytes.len();
                let region = vector.region;
                self.add(region, bytes.len())?
            }
            Some(Open::Rows(level)) => {
                if let Some((count, _)) = self.levels.get_mut(*level) {
                    *count += bytes.len();
                }
                self.add(0, bytes.len())?
            }
            _ => return Err(OutOfMemory),
        };
        self.put(place, &bytes);
        self.end_vector()
    }

    fn tuple(&mut self, _: usize) -> Result<(), OutOfMemory> {
        let (layout, place) = self.next()?;
        match &layout.kind {
            LayoutKind::Tuple(members) => self.open.push(Open::Components(members, place))?,
            _ => return Err(OutOfMemory),
        }
        Ok(())
    }

    fn sum(&mut self, tag: u32) -> Result<(), OutOfMemory> {
        let (layout, place) = self.next()?;
        let LayoutKind::Sum(union, payloads) = &layout.kind else {
            return Err(OutOfMemory);
        };
        self.put(place, &tag.to_ne_bytes());
        let payload = payloads.get(tag as usize).ok_or(OutOfMemory)?;
        self.open.push(Open::One(payload, place.plus(*union)))?;
        Ok(())
    }

    fn vector(&mut self, _: &Type) -> Result<(), OutOfMemory> {
        match (self.open.last(), self.passing) {
            (Some(Open::Whole), Passing::Vector { .. }) => {
                self.open.pop();
                self.open.push(Open::Rows(0))?;
                Ok(())
            }
            (Some(Open::Rows(level)), _) if level + 1 < self.levels.len() => {
                let level = *level;
                if let Some((count, _)) = self.levels.get_mut(level) {
                    *count += 1;
                }
                self.open.push(Open::Rows(level + 1))?;
                Ok(())
            }
            (_, _) => self.elements(),
        }
    }

    fn end_vector(&mut self) -> Result<(), OutOfMemory> {
        match self.open.pop() {
            Some(Open::Elements(items, vector)) => {
                self.end_elements(items, vector, &[vector.count]);
            }
            Some(Open::Rows(level)) => {
                if let Some((count, offsets)) = self.levels.get_mut(level) {
                    offsets.try_reserve(1).map_err(|_| OutOfMemory)?;
                    offsets.push(i64::try_from(*count).map_err(|_| OutOfMemory)?);
                }
            }
            _ => return Err(OutOfMemory),
        }
        self.settle();
        Ok(())
    }

    fn array(&mut self, _: &Type) -> Result<(), OutOfMemory> {
        self.elements()
    }

    fn end_array(&mut self, extents: &[usize]) -> Result<(), OutOfMemory> {
        let Some(Open::Elements(items, vector)) = self.open.pop() else {
            return Err(OutOfMemory);
        };
        self.end_elements(items, vector, extents);
        self.settle();
        Ok(())
    }
}

/// Complete memory, which does not move.
#[derive(Default)]
struct Kept {
    buffers: Vec<Vec<u64>>,
    /// Memory for small vectors, whose capacity stays.
    chunk: Vec<u64>,
    /// Memory of small vectors for the next ones that are built.
    spare: Vec<Buffer>,
}

/// The number of words of a chunk, and the most that are put into one.
const CHUNK: usize = 1 << 13;
const SMALL: usize = 1 << 7;

impl Kept {
    /// Keeps memory. Returns its address.
    fn keep(&mut self, mut buffer: Buffer) -> u64 {
        let words = buffer.words();
        if words.len() > SMALL {
            return self.keep_words(buffer.into_words());
        }
        if self.chunk.capacity() - self.chunk.len() < words.len().max(1) {
            let chunk = std::mem::replace(&mut self.chunk, Vec::with_capacity(CHUNK));
            self.buffers.push(chunk);
        }
        let start = self.chunk.len();
        self.chunk.extend_from_slice(words);
        if words.is_empty() {
            self.chunk.push(0);
        }
        let address = self.chunk.as_ptr().wrapping_add(start);
        buffer.clear();
        self.spare.push(buffer);
        address.expose_provenance() as u64
    }

    fn keep_words(&mut self, words: Vec<u64>) -> u64 {
        let address = words.as_ptr().expose_provenance();
        self.buffers.push(words);
        address as u64
    }
}
