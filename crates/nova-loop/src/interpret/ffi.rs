//! The FFI boundary: conversion of values of Core types to variables of Loop and back, at entries, foreign
//! functions and traces.

use super::machine::{Machine, Node};
use super::{Cell, Pointer, Step, runtime, wrong};
use crate::error::{Failure, internal};
use crate::ir::Entry;
use nova_core::{Elements, ErrorKind, Scalar, ScalarValue, SumId, Type, Value};
use nova_flat::representation::{components, input_fields, result_fields};
use nova_flat::values::{self, Fault, FlatValue, Tables};

impl Machine<'_> {
    /// Runs an entry.
    pub(super) fn entry(&mut self, entry: &Entry, inputs: &[Value]) -> Step<Value> {
        let arguments = self.cells_of(inputs, entry.inputs.iter().map(|i| &i.1), true)?;
        self.spread_fields(entry, &arguments)?;
        let results = self.run(entry.function, arguments)?;
        let dense = self.gather_fields(entry, &results)?;
        let value = self.value(&dense, &entry.result)?;
        for cell in &results {
            if let Cell::Block(Some(block)) = cell {
                self.heap.release(*block)?;
            }
        }
        self.end_tables()?;
        match self.heap.live() {
            0 => Ok(value),
            left => wrong(format!("{left} blocks are left at the end")),
        }
    }

    /// Moves the elements of inputs that are fields of structures apart, to the stride that the caller's
    /// arrays have.
    fn spread_fields(&mut self, entry: &Entry, arguments: &[Cell]) -> Step<()> {
        let sums = &self.program.sums;
        let mut cells = arguments.iter();
        for (_, ty) in &entry.inputs {
            for (component, field) in components(ty, sums).iter().zip(input_fields(ty, sums)) {
                let cell = cells.next();
                if component.shape.is_empty() {
                    continue;
                }
                cells.next();
                if let (Some(Cell::Pointer(pointer)), Some(field)) = (cell, field)
                    && let Some(block) = pointer.block
                {
                    self.heap.spread(block, field.stride)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the components of a result, with the elements of fields of structures made contiguous.
    fn gather_fields(&mut self, entry: &Entry, results: &[Cell]) -> Step<Vec<Cell>> {
        let (ty, sums) = (&entry.result, &self.program.sums);
        let mut dense = results.to_vec();
        let mut positions = Vec::new();
        let mut position = 0;
        for (component, field) in components(ty, sums).iter().zip(result_fields(ty, sums)) {
            positions.push(position);
            let extents = component.shape.iter().filter_map(|k| positions.get(*k));
            let cells = extents.filter_map(|k: &usize| results.get(*k));
            let extents = cells.map(|cell| cell.index()).collect::<Step<Vec<i64>>>()?;
            if let (Some(field), Some(Cell::Pointer(pointer))) = (field, results.get(position)) {
                let count = extents.into_iter().fold(1, i64::wrapping_mul);
                let stride = field.stride as i64;
                let block = self
                    .heap
                    .gather(component.scalar, *pointer, count, stride)?;
                dense[position] = Cell::Pointer(Pointer::start(block));
            }
            position += 1 + usize::from(!component.shape.is_empty());
        }
        Ok(dense)
    }

    /// Releases the references that node tables hold.
    fn end_tables(&mut self) -> Step<()> {
        for table in std::mem::take(&mut self.tables) {
            for cell in table.iter().flatten().flat_map(|node| &node.payload) {
                if let Cell::Block(Some(block)) = cell {
                    self.heap.release(*block)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the components of values. The caller owns the arrays if `external`; otherwise each has one
    /// reference.
    fn cells_of<'t>(
        &mut self,
        values: &[Value],
        types: impl Iterator<Item = &'t Type>,
        external: bool,
    ) -> Step<Vec<Cell>> {
        let sums = &self.program.sums;
        let stop = |fault| stop_of(fault, None);
        // New nodes come after the existing ones, which are not read here.
        let mut tables = Tables::default();
        let mut next: Vec<i64> = Vec::with_capacity(self.tables.len());
        for (sum, table) in self.tables.iter().enumerate() {
            let count = table.len() as i64;
            tables.reserve(SumId(sum as u32), count).map_err(stop)?;
            next.push(count);
        }
        let mut cells = Vec::new();
        for (value, ty) in values.iter().zip(types) {
            let flat =
                values::to_components(value, ty, &self.layouts, &mut tables).map_err(stop)?;
            cells.extend(self.cells(&flat, &components(ty, sums), external)?);
        }
        for (sum, first) in next.into_iter().enumerate() {
            let id = SumId(sum as u32);
            let mut link = first;
            while let Ok(node) = tables.node(id, link) {
                let (constructor, payload) = (node.constructor, node.payload.clone());
                let shapes = components(self.payload_type(id, constructor)?, sums);
                let payload = self.cells(&payload, &shapes, external)?;
                self.add_node(
                    id,
                    Node {
                        constructor,
                        payload,
                        maker: self.heap.iterations.current(),
                    },
                )?;
                link += 1;
            }
        }
        Ok(cells)
    }

    /// Returns components as cells. The caller owns the arrays if `external`; otherwise each has one
    /// reference.
    pub(super) fn cells(
        &mut self,
        values: &[FlatValue],
        shapes: &[nova_flat::representation::Component],
        external: bool,
    ) -> Step<Vec<Cell>> {
        let mut cells = Vec::with_capacity(values.len());
        for (value, component) in values.iter().zip(shapes) {
            match value {
                FlatValue::Scalar(value) => cells.push(Cell::Scalar(*value)),
                FlatValue::Array(array) => {
                    let elements = array.packed().map_err(|f| stop_of(f, None))?;
                    let scalars: Option<Vec<ScalarValue>> =
                        elements.iter().map(|v| v.as_scalar()).collect();
                    let Some(scalars) = scalars else {
                        return wrong("an array of no scalars");
                    };
                    let block = match external {
                        true => self.heap.external(component.scalar, scalars),
                        false => self.heap.filled(component.scalar, scalars),
                    };
                    cells.push(Cell::Pointer(Pointer::start(block)));
                    cells.push(Cell::Block((!external).then_some(block)));
                }
            }
        }
        Ok(cells)
    }

    pub(super) fn payload_type(&self, sum: SumId, constructor: u32) -> Step<&Type> {
        let sum = self.program.sums.get(sum.index());
        match sum.and_then(|s| s.constructors.get(constructor as usize)) {
            Some(constructor) => Ok(&constructor.payload),
            None => wrong("there is no such constructor"),
        }
    }

    /// Returns the value of type `ty` that cells hold.
    pub(super) fn value(&self, cells: &[Cell], ty: &Type) -> Step<Value> {
        let flat = self.flat_values(cells, ty)?;
        let read = |sum, link| self.flat_node(sum, link);
        values::from_components(&flat, ty, &self.layouts, &read).map_err(|f| stop_of(f, None))
    }

    /// Returns the components of a type that cells hold.
    pub(super) fn flat_values(&self, cells: &[Cell], ty: &Type) -> Step<Vec<FlatValue>> {
        let mut list: Vec<FlatValue> = Vec::new();
        let mut cells = cells.iter();
        for component in components(ty, &self.program.sums) {
            let Some(cell) = cells.next() else {
                return wrong("a value with too few components");
            };
            if component.shape.is_empty() {
                list.push(FlatValue::Scalar(cell.scalar()?));
                continue;
            }
            cells.next();
            let mut shape = Vec::with_capacity(component.shape.len());
            for extent in &component.shape {
                let extent = list.get(*extent).map(FlatValue::as_i64);
                match extent.and_then(Result::ok).map(usize::try_from) {
                    Some(Ok(extent)) => shape.push(extent),
                    Some(Err(_)) | None => return wrong("a negative extent"),
                }
            }
            let count = shape.iter().copied().fold(1, usize::wrapping_mul) as i64;
            let values = self.heap.read(cell.pointer()?, count)?;
            list.push(FlatValue::array(elements(component.scalar, values)?, shape));
        }
        match cells.next() {
            None => Ok(list),
            Some(_) => wrong("a value with too many components"),
        }
    }

    /// Calls a foreign function.
    pub(super) fn foreign(
        &mut self,
        foreign: u32,
        arguments: Vec<Cell>,
        place: &nova_diag::Place,
    ) -> Step<Vec<Cell>> {
        let Some(foreign) = self.program.foreigns.get(foreign as usize) else {
            return wrong("there is no such foreign function");
        };
        let failed = |kind| runtime(kind, Vec::new(), Some(place));
        let Some(handler) = self.options.foreign else {
            return Err(failed(ErrorKind::Memory));
        };
        let mut values = Vec::with_capacity(foreign.parameters.len());
        let mut rest = arguments.as_slice();
        for ty in &foreign.parameters {
            let shapes = components(ty, &self.program.sums);
            let count = shapes
                .iter()
                .map(|c| 1 + usize::from(!c.shape.is_empty()))
                .sum();
            let Some((cells, others)) = rest.split_at_checked(count) else {
                return wrong("a foreign call with too few arguments");
            };
            rest = others;
            values.push(self.value(cells, ty)?);
        }
        let result = handler(foreign, &values).map_err(failed)?;
        self.cells_of(&[result], std::iter::once(&foreign.result), false)
    }
}

/// Returns scalars of one type as the elements of a value.
fn elements(scalar: Scalar, values: Vec<ScalarValue>) -> Step<Elements> {
    let memory = |_| stop_of(Fault::Memory, None);
    let ty = Type::Scalar(scalar);
    let mut elements = Elements::with_capacity(&ty, values.len()).map_err(memory)?;
    for value in values {
        let memory = |_| stop_of(Fault::Memory, None);
        elements.push(Value::Scalar(value)).map_err(memory)?;
    }
    Ok(elements)
}

pub(super) fn stop_of(fault: Fault, place: Option<&nova_diag::Place>) -> super::Stop {
    match fault {
        Fault::Memory => runtime(ErrorKind::Memory, Vec::new(), place),
        Fault::Error(error) => runtime(error.kind, error.arguments, place),
        Fault::Internal(message) => super::Stop(Box::new(Failure::Internal(internal(message)))),
    }
}
