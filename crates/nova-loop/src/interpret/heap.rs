//! The heap: blocks of memory with their reference counts.

use super::grids::{Access, Iterations, Touch};
use super::{Pointer, Step, wrong};
use crate::ir::{Combined, FIXED_BLOCK, PANEL_ROWS, PARTIAL_LANES, Stays, panel_lanes};
use nova_core::value::LARGEST_VECTOR;
use nova_core::{Scalar, ScalarOperation, ScalarValue, operations};
use std::cell::{Cell, RefCell};
use std::ops::Range;

/// The identity of a block. The slot of a freed block is reused; the generation distinguishes the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockId {
    slot: u32,
    generation: u32,
}

impl BlockId {
    /// Returns the identity as a number.
    pub(super) fn code(self) -> i64 {
        (u64::from(self.generation) << 32 | u64::from(self.slot)) as i64
    }

    /// Returns the block that a number stands for.
    pub(super) fn of_code(code: i64) -> BlockId {
        BlockId {
            slot: code as u32,
            generation: (code as u64 >> 32) as u32,
        }
    }
}

/// A block.
struct Block {
    generation: u32,
    /// The number of references; 0 in a free slot.
    references: u64,
    owner: Owner,
    element: Scalar,
    elements: Vec<Option<ScalarValue>>,
    touches: Touches,
}

/// The iterations of parallel loops that have used a block.
#[derive(Default)]
struct Touches {
    /// The iterations for each element; empty until the first access that is noted.
    elements: RefCell<Vec<Touch>>,
    /// The iterations that have used its reference count.
    references: Cell<Touch>,
}

/// The owner of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// The program, which counts its references.
    Program,
    /// The caller, or the program's constants: not counted, never freed, never written.
    Outside,
    /// A result, in memory of the caller: not counted.
    Result,
    /// The activation of a function, by its depth in the stack of calls: not counted.
    Activation(usize),
}

/// All blocks of a run.
#[derive(Default)]
pub(super) struct Heap {
    blocks: Vec<Block>,
    free: Vec<u32>,
    pub(super) iterations: Iterations,
}

/// The error that memory is exhausted.
pub(super) struct Exhausted;

impl Heap {
    /// Makes a block of `count` elements without values, with one reference.
    pub(super) fn allocate(&mut self, element: Scalar, count: i64) -> Result<BlockId, Exhausted> {
        let elements = unset(count)?;
        Ok(self.add(Block {
            generation: 0,
            references: 1,
            owner: Owner::Program,
            element,
            elements,
            touches: Touches::default(),
        }))
    }

    /// Makes a block that the caller owns.
    pub(super) fn external(&mut self, element: Scalar, values: Vec<ScalarValue>) -> BlockId {
        self.add(Block {
            generation: 0,
            references: 1,
            owner: Owner::Outside,
            element,
            elements: values.into_iter().map(Some).collect(),
            touches: Touches::default(),
        })
    }

    /// Makes memory for elements of a result, without values.
    pub(super) fn result(&mut self, element: Scalar, count: i64) -> Result<BlockId, Exhausted> {
        let elements = unset(count)?;
        Ok(self.add(Block {
            generation: 0,
            references: 1,
            owner: Owner::Result,
            element,
            elements,
            touches: Touches::default(),
        }))
    }

    /// Moves the elements of a block apart, with unset elements between them.
    pub(super) fn spread(&mut self, id: BlockId, stride: usize) -> Step<()> {
        let block = self.block_mut(id)?;
        let gap = std::iter::repeat_n(None, stride.saturating_sub(1));
        let elements = std::mem::take(&mut block.elements).into_iter();
        block.elements = elements
            .flat_map(|element| std::iter::once(element).chain(gap.clone()))
            .collect();
        Ok(())
    }

    /// Makes a block with values and one reference.
    pub(super) fn filled(&mut self, element: Scalar, values: Vec<ScalarValue>) -> BlockId {
        let id = self.external(element, values);
        self.blocks[id.slot as usize].owner = Owner::Program;
        id
    }

    /// Makes a local array of the activation at this depth of calls.
    pub(super) fn local(&mut self, element: Scalar, count: u32, calls: usize) -> BlockId {
        self.add(Block {
            generation: 0,
            references: 1,
            owner: Owner::Activation(calls),
            element,
            elements: vec![None; count as usize],
            touches: Touches::default(),
        })
    }

    /// Frees the local array that a pointer points to, if the activation at this depth owns it.
    pub(super) fn free_local(&mut self, pointer: Pointer, calls: usize) {
        if let Some(id) = pointer.block
            && let Ok(block) = self.block_mut(id)
            && block.owner == Owner::Activation(calls)
        {
            block.references = 0;
            block.elements = Vec::new();
            self.free.push(id.slot);
        }
    }

    fn add(&mut self, mut block: Block) -> BlockId {
        let slot = match self.free.pop() {
            Some(slot) => {
                let old = &mut self.blocks[slot as usize];
                block.generation = old.generation.wrapping_add(1);
                *old = block;
                slot
            }
            None => {
                self.blocks.push(block);
                self.blocks.len() as u32 - 1
            }
        };
        BlockId {
            slot,
            generation: self.blocks[slot as usize].generation,
        }
    }

    fn block(&self, id: BlockId) -> Step<&Block> {
        match self.blocks.get(id.slot as usize) {
            Some(block) if block.generation == id.generation && block.references > 0 => Ok(block),
            Some(_) | None => wrong("memory is used after it was freed"),
        }
    }

    fn block_mut(&mut self, id: BlockId) -> Step<&mut Block> {
        match self.blocks.get_mut(id.slot as usize) {
            Some(block) if block.generation == id.generation && block.references > 0 => Ok(block),
            Some(_) | None => wrong("memory is used after it was freed"),
        }
    }

    /// Starts to note the iterations that use each element.
    pub(super) fn watch_accesses(&mut self) {
        self.iterations.watch();
    }

    /// Notes that the current iteration uses elements of a block.
    fn touch(&self, block: &Block, range: Range<usize>, access: Access) -> Step<()> {
        if !self.iterations.must_note() {
            return Ok(());
        }
        let mut touches = block.touches.elements.borrow_mut();
        touches.resize(block.elements.len(), Touch::default());
        let Some(used) = touches.get_mut(range) else {
            return wrong("a use of elements beyond the end of a block");
        };
        let mut used = used.iter_mut();
        used.try_for_each(|touch| self.iterations.note(touch, access))
    }

    /// Notes that the current iteration uses the reference count of a block.
    fn touch_references(&self, block: &Block, access: Access) -> Step<()> {
        if !self.iterations.must_note() {
            return Ok(());
        }
        let mut touch = block.touches.references.get();
        let noted = self.iterations.note(&mut touch, access);
        block.touches.references.set(touch);
        noted
    }

    /// Adds a reference.
    pub(super) fn retain(&mut self, id: BlockId) -> Step<()> {
        self.touch_references(self.block(id)?, Access::Write)?;
        self.block_mut(id)?.references += 1;
        Ok(())
    }

    /// True if the program holds a block with a single reference.
    pub(super) fn is_held_once(&self, id: BlockId) -> Step<bool> {
        let block = self.block(id)?;
        self.touch_references(block, Access::Read)?;
        Ok(block.owner == Owner::Program && block.references == 1)
    }

    /// Removes a reference. Frees the block if it was the last one.
    pub(super) fn release(&mut self, id: BlockId) -> Step<()> {
        self.touch_references(self.block(id)?, Access::Write)?;
        let block = self.block_mut(id)?;
        if block.owner != Owner::Program {
            return wrong("memory that is not counted is released");
        }
        block.references -= 1;
        if block.references == 0 {
            block.elements = Vec::new();
            self.free.push(id.slot);
        }
        Ok(())
    }

    /// Moves the first `used` elements to a block of at least `count` elements; the others have no value.
    pub(super) fn grow(
        &mut self,
        id: BlockId,
        used: i64,
        count: i64,
    ) -> Step<Result<BlockId, Exhausted>> {
        let block = self.block(id)?;
        if block.references != 1 {
            return wrong("a block that others hold is reserved");
        }
        let Some(kept) = usize::try_from(used)
            .ok()
            .and_then(|n| block.elements.get(..n))
        else {
            return wrong("more elements are used than a block has");
        };
        let length = block.elements.len() as i64;
        if count <= length {
            return Ok(Ok(id));
        }
        // It grows by at least half, so that many small steps copy little.
        let capacity = length.saturating_add(length / 2).max(count);
        let element = block.element;
        let kept = kept.to_vec();
        let mut elements = match unset(capacity) {
            Ok(elements) => elements,
            Err(exhausted) => return Ok(Err(exhausted)),
        };
        elements[..kept.len()].copy_from_slice(&kept);
        self.release(id)?;
        Ok(Ok(self.add(Block {
            generation: 0,
            references: 1,
            owner: Owner::Program,
            element,
            elements,
            touches: Touches::default(),
        })))
    }

    fn position(&self, pointer: Pointer, index: i64) -> Step<(BlockId, usize)> {
        let Some(id) = pointer.block else {
            return wrong("the null pointer is used");
        };
        let length = self.block(id)?.elements.len();
        let address = pointer.index.checked_add(index);
        if let (Some(address), Some((begin, end))) = (address, pointer.bounds)
            && !(begin..end).contains(&address)
        {
            return wrong(format!(
                "element {address} of an array from {begin} to {end}"
            ));
        }
        match address.and_then(|a| usize::try_from(a).ok()) {
            Some(address) if address < length => Ok((id, address)),
            Some(_) | None => wrong(format!(
                "element {} of a block of {length}",
                i128::from(pointer.index) + i128::from(index)
            )),
        }
    }

    /// Returns the position of an element that is written.
    fn written(&self, pointer: Pointer, index: i64) -> Step<(BlockId, usize)> {
        match pointer.read_only {
            true => wrong("an element is written by a command that only reads it"),
            false => self.position(pointer, index),
        }
    }

    /// Reads an element.
    pub(super) fn load(&self, pointer: Pointer, index: i64) -> Step<ScalarValue> {
        let (id, address) = self.position(pointer, index)?;
        let block = self.block(id)?;
        self.touch(block, address..address + 1, Access::Read)?;
        match block.elements.get(address) {
            Some(Some(value)) => Ok(*value),
            Some(None) | None => wrong(format!("element {address} is read before it is written")),
        }
    }

    /// Writes an element.
    pub(super) fn store(&mut self, pointer: Pointer, index: i64, value: ScalarValue) -> Step<()> {
        let (id, address) = self.written(pointer, index)?;
        self.put((id, address), value, Access::Write)
    }

    /// Writes an element atomically, as other iterations may do at the same time.
    pub(super) fn contend(
        &mut self,
        pointer: Pointer,
        index: i64,
        value: ScalarValue,
        stays: Stays,
    ) -> Step<()> {
        let (id, address) = self.written(pointer, index)?;
        let value = match (stays, self.block(id)?.elements.get(address)) {
            (Stays::Any, _) => value,
            (Stays::Greatest, Some(Some(before))) => {
                operations::evaluate_unchecked(ScalarOperation::Maximum, &[*before, value], true)
            }
            (Stays::Greatest, _) => {
                return wrong(format!("element {address} is raised before it is written"));
            }
        };
        self.put((id, address), value, Access::Contend(stays))
    }

    fn put(
        &mut self,
        (id, address): (BlockId, usize),
        value: ScalarValue,
        access: Access,
    ) -> Step<()> {
        self.touch(self.block(id)?, address..address + 1, access)?;
        let block = self.block_mut(id)?;
        if block.owner == Owner::Outside {
            return wrong("memory of the caller is written");
        }
        if block.element != value.scalar() {
            return wrong("an element of another type is written");
        }
        block.elements[address] = Some(value);
        Ok(())
    }

    /// Copies elements, whether they have values or not.
    pub(super) fn copy(&mut self, to: Pointer, from: Pointer, count: i64) -> Step<()> {
        if count <= 0 {
            return Ok(());
        }
        let (to_id, to_first) = self.written(to, 0)?;
        let (from_id, from_first) = self.position(from, 0)?;
        self.position(to, count - 1)?;
        self.position(from, count - 1)?;
        let count = count as usize;
        let apart = to_first.abs_diff(from_first) >= count;
        if to_id == from_id && !apart {
            return wrong("elements are copied onto themselves");
        }
        let source = self.block(from_id)?;
        let (from_range, to_range) = (from_first..from_first + count, to_first..to_first + count);
        self.touch(source, from_range.clone(), Access::Read)?;
        self.touch(self.block(to_id)?, to_range.clone(), Access::Write)?;
        let elements = source.elements[from_range].to_vec();
        let from_element = source.element;
        let block = self.block_mut(to_id)?;
        if block.owner == Owner::Outside || block.element != from_element {
            return wrong("elements are copied to where they cannot be");
        }
        block.elements[to_range].copy_from_slice(&elements);
        Ok(())
    }

    /// Copies up to [`FIXED_BLOCK`] elements and writes `pad` after them.
    pub(super) fn padded_copy(
        &mut self,
        to: Pointer,
        from: Pointer,
        count: i64,
        pad: ScalarValue,
    ) -> Step<()> {
        if !(0..=i64::from(FIXED_BLOCK)).contains(&count) {
            return wrong(format!("{count} elements are copied as few"));
        }
        self.copy(to, from, count)?;
        (count..i64::from(FIXED_BLOCK)).try_for_each(|k| self.store(to, k, pad))
    }

    /// Tree reduction of [`FIXED_BLOCK`] elements.
    pub(super) fn tree_reduce(
        &mut self,
        pointer: Pointer,
        operation: ScalarOperation,
        into: Combined,
        strict: bool,
    ) -> Step<()> {
        let (all, lanes) = (i64::from(FIXED_BLOCK), i64::from(PARTIAL_LANES));
        match into {
            Combined::One => self.halve(pointer, (0, all), 1, operation, strict),
            Combined::Lanes => self.halve(pointer, (0, all), lanes, operation, strict),
            Combined::Rows => (0..lanes).try_for_each(|k| {
                self.halve(pointer, (k * lanes, lanes), 1, operation, strict)?;
                let value = self.load(pointer, k * lanes)?;
                self.store(pointer, k, value)
            }),
        }
    }

    /// Partial reduction of `count` elements in [`PARTIAL_LANES`] lanes.
    pub(super) fn lane_reduce(
        &mut self,
        (to, from): (Pointer, Pointer),
        count: i64,
        element: Scalar,
        operation: ScalarOperation,
        strict: bool,
    ) -> Step<()> {
        let width = PARTIAL_LANES as usize;
        let mut lanes = vec![None; 2 * width];
        for k in 0..count {
            let value = self.load(from, k)?;
            let lane = &mut lanes[k as usize % (2 * width)];
            *lane = Some(match *lane {
                Some(old) => operations::evaluate_unchecked(operation, &[old, value], strict),
                None => value,
            });
        }
        let identity = match operation {
            ScalarOperation::Multiply => 1.0,
            _ => -0.0,
        };
        let identity = match element {
            Scalar::F32 => ScalarValue::F32(identity as f32),
            _ => ScalarValue::F64(identity),
        };
        let (low, high) = lanes.split_at(width);
        for (k, both) in low.iter().zip(high).enumerate() {
            let both = [both.0.unwrap_or(identity), both.1.unwrap_or(identity)];
            let value = operations::evaluate_unchecked(operation, &both, strict);
            self.store(to, k as i64, value)?;
        }
        Ok(())
    }

    /// Adds the products of two panels, of so many steps, to totals.
    pub(super) fn multiply_panels(
        &mut self,
        [totals, left, right]: [Pointer; 3],
        element: Scalar,
        steps: i64,
    ) -> Step<()> {
        let (rows, lanes) = (i64::from(PANEL_ROWS), i64::from(panel_lanes(element)));
        let combine = |operation, a, b| operations::evaluate_unchecked(operation, &[a, b], false);
        for r in 0..rows {
            for l in 0..lanes {
                let mut sum = match element {
                    Scalar::F32 => ScalarValue::F32(-0.0),
                    _ => ScalarValue::F64(-0.0),
                };
                for s in 0..steps {
                    let factors = (
                        self.load(left, rows * s + r)?,
                        self.load(right, lanes * s + l)?,
                    );
                    let product = combine(ScalarOperation::Multiply, factors.0, factors.1);
                    sum = combine(ScalarOperation::Add, sum, product);
                }
                let wide = match sum {
                    ScalarValue::F32(value) => ScalarValue::F64(f64::from(value)),
                    other => other,
                };
                let at = lanes * r + l;
                let total = combine(ScalarOperation::Add, self.load(totals, at)?, wide);
                self.store(totals, at, total)?;
            }
        }
        Ok(())
    }

    /// Sorts `count` words stably by their bits from `low` on. The words beside become copies of the sorted ones.
    pub(super) fn sort_words(
        &mut self,
        [to, beside, from]: [Pointer; 3],
        count: i64,
        low: i64,
    ) -> Step<()> {
        let mut words = Vec::new();
        for k in 0..count {
            words.push(self.load(from, k)?);
        }
        words.sort_by_key(|word| match *word {
            ScalarValue::U32(word) => u64::from(word) >> low,
            ScalarValue::U64(word) => word >> low,
            _others => 0,
        });
        for (k, word) in (0..count).zip(words) {
            self.store(beside, k, word)?;
            self.store(to, k, word)?;
        }
        Ok(())
    }

    /// Combines the `count` elements from `first` on by halves, until `left` are left.
    fn halve(
        &mut self,
        pointer: Pointer,
        (first, count): (i64, i64),
        left: i64,
        operation: ScalarOperation,
        strict: bool,
    ) -> Step<()> {
        let mut half = count / 2;
        while half >= left {
            for k in first..first + half {
                let both = [self.load(pointer, k)?, self.load(pointer, k + half)?];
                let value = operations::evaluate_unchecked(operation, &both, strict);
                self.store(pointer, k, value)?;
            }
            half /= 2;
        }
        Ok(())
    }

    /// Returns the values of `count` elements.
    pub(super) fn read(&self, pointer: Pointer, count: i64) -> Step<Vec<ScalarValue>> {
        (0..count).map(|k| self.load(pointer, k)).collect()
    }

    /// Makes a block of the caller with the values of `count` elements that lie `stride` apart.
    pub(super) fn gather(
        &mut self,
        element: Scalar,
        pointer: Pointer,
        count: i64,
        stride: i64,
    ) -> Step<BlockId> {
        let values = (0..count).map(|k| self.load(pointer, k * stride));
        let values = values.collect::<Step<Vec<ScalarValue>>>()?;
        Ok(self.external(element, values))
    }

    /// Returns the number of blocks that the program still holds.
    pub(super) fn live(&self) -> usize {
        let held = |b: &&Block| b.owner == Owner::Program && b.references > 0;
        self.blocks.iter().filter(held).count()
    }
}

/// Returns `count` elements without values.
fn unset(count: i64) -> Result<Vec<Option<ScalarValue>>, Exhausted> {
    let count = usize::try_from(count).map_err(|_| Exhausted)?;
    let bytes = count.checked_mul(size_of::<Option<ScalarValue>>());
    if bytes.is_none_or(|b| b > LARGEST_VECTOR) {
        return Err(Exhausted);
    }
    let mut elements = Vec::new();
    elements.try_reserve_exact(count).map_err(|_| Exhausted)?;
    elements.resize(count, None);
    Ok(elements)
}
