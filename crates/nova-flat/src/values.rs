//! The values on which the interpreters of Flat, Mem and Loop compute, and the conversion from and to
//! values of Core types. The conversion follows [`crate::representation`], with recursive data in node
//! tables.

mod arrays;
mod columns;
mod layouts;
pub mod reached;
mod rows;

pub use arrays::{ArrayValue, count, element_type, filled};
pub use layouts::Layouts;

use crate::representation::{components, tag_scalar};
use nova_core::error::RuntimeError;
use nova_core::value::OutOfMemory;
use nova_core::{Elements, Scalar, ScalarValue, SumId, SumType, Type, Value};
use nova_diag::deep;
use std::collections::{HashMap, HashSet};

/// A value of Flat. Clones are cheap: elements are shared.
#[derive(Clone, Debug)]
pub enum FlatValue {
    /// A scalar.
    Scalar(ScalarValue),
    /// An array.
    Array(Box<ArrayValue>),
}

/// The reason why a step of an interpreter has no value. The interpreter adds the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Something is larger than memory.
    Memory,
    /// The program stops with this error. Its place is still to be added.
    Error(RuntimeError),
    /// The program breaks the guarantees of the verifier or of its checks, which is a bug of the
    /// compiler.
    Internal(String),
}

impl From<OutOfMemory> for Fault {
    fn from(_: OutOfMemory) -> Fault {
        Fault::Memory
    }
}

/// Returns an internal fault with a message.
pub fn internal<T>(message: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Internal(message.into()))
}

/// The node tables of a run, one for each recursive sum (data-parallel-recursion.txt §2).
#[derive(Clone, Debug, Default)]
pub struct Tables {
    /// `None` is a place that is reserved.
    tables: Vec<Vec<Option<Node>>>,
}

/// A node: its constructor and the components of the payload.
#[derive(Clone, Debug)]
pub struct Node {
    /// Index of the constructor.
    pub constructor: u32,
    /// Components of its payload.
    pub payload: Vec<FlatValue>,
}

impl Tables {
    /// Appends a node and returns its link.
    pub fn add(&mut self, sum: SumId, node: Node) -> i64 {
        let table = self.table(sum);
        table.push(Some(node));
        table.len() as i64 - 1
    }

    fn table(&mut self, sum: SumId) -> &mut Vec<Option<Node>> {
        let index = sum.index();
        if self.tables.len() <= index {
            self.tables.resize_with(index + 1, Vec::new);
        }
        &mut self.tables[index]
    }

    /// Reserves places for `count` nodes, and returns the first link.
    pub fn reserve(&mut self, sum: SumId, count: i64) -> Result<i64, Fault> {
        let table = self.table(sum);
        let count = usize::try_from(count).map_err(|_| Fault::Memory)?;
        table.try_reserve(count).map_err(|_| Fault::Memory)?;
        let first = table.len();
        table.resize_with(first + count, || None);
        Ok(first as i64)
    }

    /// Stores a node in a reserved place.
    pub fn store(&mut self, sum: SumId, link: i64, node: Node) -> Result<(), Fault> {
        let index = usize::try_from(link).ok();
        match index.and_then(|index| self.table(sum).get_mut(index)) {
            Some(place @ None) => {
                *place = Some(node);
                Ok(())
            }
            Some(Some(_)) | None => internal(format!("{link} is no reserved place")),
        }
    }

    /// Returns a copy of the node of a link, which shares its elements, or a fault if there is none.
    pub fn read(&self, sum: SumId, link: i64) -> Result<Node, Fault> {
        self.node(sum, link).cloned()
    }

    /// Returns the node of a link, or a fault if there is none.
    pub fn node(&self, sum: SumId, link: i64) -> Result<&Node, Fault> {
        let table = self.tables.get(sum.index());
        let index = usize::try_from(link).ok();
        match index.and_then(|index| table?.get(index)) {
            Some(Some(node)) => Ok(node),
            Some(None) | None => internal(format!("sum {} has no node {link}", sum.0)),
        }
    }
}

impl FlatValue {
    /// Returns an `i64`.
    pub fn index(value: usize) -> FlatValue {
        FlatValue::Scalar(ScalarValue::I64(value as i64))
    }

    /// Returns a row-major array.
    pub fn array(elements: Elements, shape: Vec<usize>) -> FlatValue {
        FlatValue::Array(Box::new(ArrayValue::row_major(elements, shape)))
    }

    /// Returns the value as a scalar.
    pub fn scalar(&self) -> Result<ScalarValue, Fault> {
        match self {
            FlatValue::Scalar(value) => Ok(*value),
            FlatValue::Array(_) => internal("an array where a scalar is meant"),
        }
    }

    /// Returns the value as an array.
    pub fn as_array(&self) -> Result<&ArrayValue, Fault> {
        match self {
            FlatValue::Array(array) => Ok(array),
            FlatValue::Scalar(_) => internal("a scalar where an array is meant"),
        }
    }

    /// Returns the value as an `i64`.
    pub fn as_i64(&self) -> Result<i64, Fault> {
        match self.scalar()? {
            ScalarValue::I64(value) => Ok(value),
            other => internal(format!("a {} where an `i64` is meant", other.scalar())),
        }
    }
}

/// Returns the zero of a scalar type.
pub fn zero(scalar: Scalar) -> ScalarValue {
    ScalarValue::from_integer_wrapping(scalar, 0)
}

/// Returns the components of a payload that is not active: zeros and empty arrays.
pub fn empty_components(ty: &Type, sums: &[SumType]) -> Vec<FlatValue> {
    let component = |c: crate::representation::Component| {
        if c.shape.is_empty() {
            return FlatValue::Scalar(zero(c.scalar));
        }
        let elements = Elements::new(&Type::Scalar(c.scalar));
        FlatValue::array(elements, vec![0; c.shape.len()])
    };
    components(ty, sums).into_iter().map(component).collect()
}

/// A function that returns the link of a value of a recursive sum.
type ToLink<'v, 'f> = &'f mut dyn FnMut(SumId, &'v Value) -> i64;

/// A value of a recursive sum that is to become a node.
struct Pending<'v> {
    sum: SumId,
    value: &'v Value,
    /// The recursive values in its payload, in the order of the traversal, by their index in the list.
    children: Vec<usize>,
}

/// All values of recursive sums in a value, each once.
#[derive(Default)]
struct PendingList<'v> {
    list: Vec<Pending<'v>>,
    /// The indices by address of the payload, so that shared values stay shared.
    known: HashMap<(SumId, *const Value), usize>,
}

impl<'v> PendingList<'v> {
    fn place(&mut self, sum: SumId, value: &'v Value) -> usize {
        let address: *const Value = match value {
            Value::Sum(_, payload) => payload.get(),
            other => other,
        };
        *self.known.entry((sum, address)).or_insert_with(|| {
            self.list.push(Pending {
                sum,
                value,
                children: Vec::new(),
            });
            self.list.len() - 1
        })
    }

    /// Returns the indices of all values, those in a payload before the value itself.
    fn children_first(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.list.len());
        let mut begun = vec![false; self.list.len()];
        for start in 0..self.list.len() {
            // A value, and the number of its children that are done.
            let mut path = vec![(start, 0)];
            if std::mem::replace(&mut begun[start], true) {
                continue;
            }
            while let Some((k, done)) = path.last_mut() {
                match self.list[*k].children.get(*done) {
                    Some(child) => {
                        *done += 1;
                        if !std::mem::replace(&mut begun[*child], true) {
                            path.push((*child, 0));
                        }
                    }
                    None => {
                        order.push(*k);
                        path.pop();
                    }
                }
            }
        }
        order
    }
}

/// Returns the components of a value of type `ty`. Values of recursive sums become nodes of `tables`.
///
/// Long lists and deep trees take no stack: nodes are found first, and made in an order in which the
/// children of each come before it.
pub fn to_components(
    value: &Value,
    ty: &Type,
    layouts: &Layouts,
    tables: &mut Tables,
) -> Result<Vec<FlatValue>, Fault> {
    let mut pending = PendingList::default();
    let mut roots = Vec::new();
    let converted = plain(value, ty, layouts, &mut |sum, value| {
        roots.push(pending.place(sum, value));
        0
    })?;
    if roots.is_empty() {
        return Ok(converted);
    }
    let mut next = 0;
    while let Some(node) = pending.list.get(next) {
        let (sum, value) = (node.sum, node.value);
        let mut children = Vec::new();
        payload(value, sum, layouts, &mut |sum, value| {
            children.push(pending.place(sum, value));
            0
        })?;
        pending.list[next].children = children;
        next += 1;
    }
    let mut links = vec![0; pending.list.len()];
    for k in pending.children_first() {
        let node = &pending.list[k];
        let mut children = node.children.iter();
        let mut link = |_: SumId, _: &Value| children.next().map_or(-1, |c| links[*c]);
        let node_value = payload(node.value, node.sum, layouts, &mut link)?;
        links[k] = tables.add(node.sum, node_value);
    }
    let mut roots = roots.iter();
    plain(value, ty, layouts, &mut |_, _| {
        roots.next().map_or(-1, |r| links[*r])
    })
}

/// Returns the node of a value of a recursive sum.
fn payload<'v>(
    value: &'v Value,
    sum: SumId,
    layouts: &Layouts,
    link: ToLink<'v, '_>,
) -> Result<Node, Fault> {
    let (constructor, payload) = constructor_of(value)?;
    let ty = payload_type(layouts.sums, sum, constructor)?;
    let payload = plain(payload, ty, layouts, link)?;
    Ok(Node {
        constructor,
        payload,
    })
}

fn constructor_of(value: &Value) -> Result<(u32, &Value), Fault> {
    match value {
        Value::Sum(constructor, payload) => Ok((*constructor, payload.get())),
        _ => internal("a value that is no sum where its type is one"),
    }
}

/// Returns the type of a constructor's payload.
fn payload_type(sums: &[SumType], sum: SumId, constructor: u32) -> Result<&Type, Fault> {
    let sum = sums.get(sum.index());
    match sum.and_then(|s| s.constructors.get(constructor as usize)) {
        Some(constructor) => Ok(&constructor.payload),
        None => internal(format!("there is no constructor {constructor}")),
    }
}

/// Returns the components of a value that is not lifted.
fn plain<'v>(
    value: &'v Value,
    ty: &Type,
    layouts: &Layouts,
    link: ToLink<'v, '_>,
) -> Result<Vec<FlatValue>, Fault> {
    let mut out = Vec::new();
    add_plain(value, ty, layouts, link, &mut out)?;
    Ok(out)
}

fn add_plain<'v>(
    value: &'v Value,
    ty: &Type,
    layouts: &Layouts,
    link: ToLink<'v, '_>,
    out: &mut Vec<FlatValue>,
) -> Result<(), Fault> {
    deep(|| match (ty, value) {
        (Type::Unit, Value::Unit) => Ok(()),
        (Type::Scalar(scalar), Value::Scalar(value)) if value.scalar() == *scalar => {
            out.push(FlatValue::Scalar(*value));
            Ok(())
        }
        (Type::Tuple(types), Value::Tuple(values)) if types.len() == values.len() => {
            let mut pairs = types.iter().zip(values.iter());
            pairs.try_for_each(|(ty, value)| add_plain(value, ty, layouts, link, out))
        }
        (Type::Vector(element), Value::Vector(elements)) => {
            out.push(FlatValue::index(elements.len()));
            columns::lift(elements, element, layouts, &[elements.len()], link, out)
        }
        (Type::Array(rank, element), Value::Array(extents, elements))
            if extents.len() == *rank as usize =>
        {
            out.extend(extents.iter().map(|e| FlatValue::index(*e)));
            columns::lift(elements, element, layouts, extents, link, out)
        }
        (Type::Sum(id), value) => match layouts.sums.get(id.index()) {
            Some(sum) if sum.is_recursive() => {
                out.push(FlatValue::Scalar(ScalarValue::I64(link(*id, value))));
                Ok(())
            }
            Some(_) => {
                let (active, payload) = constructor_of(value)?;
                let payload_type = payload_type(layouts.sums, *id, active)?;
                let layout = layouts.of(*id, false);
                let mut slots = layout.empty.clone();
                let mut parts = Vec::new();
                add_plain(payload, payload_type, layouts, link, &mut parts)?;
                let tag = tag_scalar(*id, layouts.sums);
                let tag = ScalarValue::from_integer_wrapping(tag, i128::from(active));
                let tag = FlatValue::Scalar(tag);
                let places = layout.places.get(active as usize).into_iter().flatten();
                let parts = places.copied().zip(parts);
                for (place, part) in std::iter::once((0, tag)).chain(parts) {
                    slots[place] = part;
                }
                out.extend(slots);
                Ok(())
            }
            None => internal("there is no such sum"),
        },
        _ => internal("a value that is not of its type"),
    })
}

/// A function that returns the value of a link.
type FromLink<'f> = &'f mut dyn FnMut(SumId, i64) -> Value;

/// Returns the value of type `ty` that the components represent. `node` returns the node of a link: it is
/// asked for those that the value reaches, and for no others. Nodes that are shared are shared in the
/// value.
pub fn from_components(
    components: &[FlatValue],
    ty: &Type,
    layouts: &Layouts,
    node: reached::Read,
) -> Result<Value, Fault> {
    let mut made: HashMap<(SumId, i64), Value> = HashMap::new();
    let mut work: Vec<(SumId, i64)> = Vec::new();
    let value = rows::plain(components, ty, layouts, &mut |sum, link| {
        work.push((sum, link));
        Value::Unit
    })?;
    if work.is_empty() {
        return Ok(value);
    }
    // Nodes whose links have been added to the work.
    let mut opened: HashSet<(SumId, i64)> = HashSet::new();
    while let Some(&(sum, link)) = work.last() {
        if made.contains_key(&(sum, link)) {
            work.pop();
            continue;
        }
        let is_first = opened.insert((sum, link));
        let node = node(sum, link)?;
        let ty = payload_type(layouts.sums, sum, node.constructor)?;
        let before = work.len();
        let payload = rows::plain(&node.payload, ty, layouts, &mut |sum, link| {
            made.get(&(sum, link)).cloned().unwrap_or_else(|| {
                work.push((sum, link));
                Value::Unit
            })
        })?;
        if work.len() == before {
            let payload = nova_core::value::Link::new(payload);
            made.insert((sum, link), Value::Sum(node.constructor, payload));
            work.pop();
        } else if !is_first {
            return internal("nodes that are linked in a circle");
        }
    }
    let mut missing = false;
    let value = rows::plain(components, ty, layouts, &mut |sum, link| {
        let node = made.get(&(sum, link)).cloned();
        missing |= node.is_none();
        node.unwrap_or(Value::Unit)
    })?;
    match missing {
        true => internal("a node that no link leads to"),
        false => Ok(value),
    }
}
