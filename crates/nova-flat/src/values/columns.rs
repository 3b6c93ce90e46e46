//! Conversion from vectors to arrays: each element is added to a column for each of its components.

use super::layouts::SumLayout;
use super::{Fault, FlatValue, Layouts, ToLink, constructor_of, internal, zero};
use crate::representation::tag_scalar;
use nova_core::{Elements, Scalar, ScalarValue, SumId, Type, Value};
use nova_diag::deep;
use std::rc::Rc;
use std::sync::Arc;

/// The elements of a vector so far, lifted (the second table of [`crate::representation`]).
enum Column {
    Unit,
    Scalar(Scalar, Elements),
    Tuple(Vec<Column>),
    Vector {
        starts: Vec<i64>,
        ends: Vec<i64>,
        total: i64,
        inner: Box<Column>,
    },
    Array {
        extents: Vec<Vec<i64>>,
        starts: Vec<i64>,
        total: i64,
        inner: Box<Column>,
    },
    Link(SumId, Vec<i64>),
    Sum {
        tags: Vec<i32>,
        payloads: Vec<Column>,
        tag: Scalar,
        layout: Rc<SumLayout>,
    },
}

/// Adds the components of `elements`, values of type `ty`, lifted over `shape`.
pub fn lift<'v>(
    elements: &'v Elements,
    ty: &Type,
    layouts: &Layouts,
    shape: &[usize],
    link: ToLink<'v, '_>,
    out: &mut Vec<FlatValue>,
) -> Result<(), Fault> {
    let mut column = Column::new(ty, layouts)?;
    column.extend(elements, link)?;
    column.finish(shape, out)
}

impl Column {
    fn new(ty: &Type, layouts: &Layouts) -> Result<Column, Fault> {
        deep(|| match ty {
            Type::Unit => Ok(Column::Unit),
            Type::Scalar(scalar) => Ok(Column::Scalar(*scalar, Elements::new(ty))),
            Type::Tuple(types) => {
                let columns: Result<_, _> = types.iter().map(|t| Column::new(t, layouts)).collect();
                Ok(Column::Tuple(columns?))
            }
            Type::Vector(element) => Ok(Column::Vector {
                starts: Vec::new(),
                ends: Vec::new(),
                total: 0,
                inner: Box::new(Column::new(element, layouts)?),
            }),
            Type::Array(rank, element) => Ok(Column::Array {
                extents: vec![Vec::new(); *rank as usize],
                starts: Vec::new(),
                total: 0,
                inner: Box::new(Column::new(element, layouts)?),
            }),
            Type::Sum(id) => match layouts.sums.get(id.index()) {
                Some(sum) if sum.is_recursive() => Ok(Column::Link(*id, Vec::new())),
                Some(sum) => {
                    let payloads = sum
                        .constructors
                        .iter()
                        .map(|c| Column::new(&c.payload, layouts));
                    let payloads: Result<_, _> = payloads.collect();
                    Ok(Column::Sum {
                        tags: Vec::new(),
                        payloads: payloads?,
                        tag: tag_scalar(*id, layouts.sums),
                        layout: layouts.of(*id, true),
                    })
                }
                None => internal("there is no such sum"),
            },
            Type::Function(..) => internal("a function held in a vector"),
        })
    }

    /// Adds many values.
    fn extend<'v>(&mut self, elements: &'v Elements, link: ToLink<'v, '_>) -> Result<(), Fault> {
        match (self, elements) {
            (Column::Unit, Elements::Values(_)) => Ok(()),
            (Column::Scalar(scalar, column), elements)
                if super::arrays::element_type(elements) == Some(*scalar) =>
            {
                if column.is_empty() {
                    *column = elements.clone();
                } else {
                    column.append(elements)?;
                }
                Ok(())
            }
            (column, Elements::Values(values)) => {
                values.iter().try_for_each(|value| column.push(value, link))
            }
            (_, elements) if elements.is_empty() => Ok(()),
            _ => internal("elements that are not of their type"),
        }
    }

    /// Adds a value.
    fn push<'v>(&mut self, value: &'v Value, link: ToLink<'v, '_>) -> Result<(), Fault> {
        deep(|| match (self, value) {
            (Column::Unit, Value::Unit) => Ok(()),
            (Column::Scalar(scalar, column), Value::Scalar(value)) if value.scalar() == *scalar => {
                Ok(column.push(Value::Scalar(*value))?)
            }
            (Column::Tuple(columns), Value::Tuple(values)) if columns.len() == values.len() => {
                let mut pairs = columns.iter_mut().zip(values.iter());
                pairs.try_for_each(|(column, value)| column.push(value, link))
            }
            (
                Column::Vector {
                    starts,
                    ends,
                    total,
                    inner,
                },
                Value::Vector(elements),
            ) => {
                starts.push(*total);
                *total += elements.len() as i64;
                ends.push(*total);
                inner.extend(elements, link)
            }
            (
                Column::Array {
                    extents,
                    starts,
                    total,
                    inner,
                },
                Value::Array(shape, elements),
            ) if extents.len() == shape.len() => {
                for (column, extent) in extents.iter_mut().zip(shape.iter()) {
                    column.push(*extent as i64);
                }
                starts.push(*total);
                *total += elements.len() as i64;
                inner.extend(elements, link)
            }
            (Column::Link(sum, links), value) => {
                links.push(link(*sum, value));
                Ok(())
            }
            (Column::Sum { tags, payloads, .. }, value) => {
                let (active, payload) = constructor_of(value)?;
                tags.push(active as i32);
                for (k, column) in payloads.iter_mut().enumerate() {
                    if k == active as usize {
                        column.push(payload, link)?;
                    } else {
                        column.push_empty()?;
                    }
                }
                Ok(())
            }
            _ => internal("an element that is not of its type"),
        })
    }

    /// Adds zeros and empty rows: a payload that is not active.
    fn push_empty(&mut self) -> Result<(), Fault> {
        deep(|| match self {
            Column::Unit => Ok(()),
            Column::Scalar(scalar, column) => Ok(column.push(Value::Scalar(zero(*scalar)))?),
            Column::Tuple(columns) => columns.iter_mut().try_for_each(Column::push_empty),
            Column::Vector { starts, ends, .. } => {
                starts.push(0);
                ends.push(0);
                Ok(())
            }
            Column::Array {
                extents, starts, ..
            } => {
                extents.iter_mut().for_each(|column| column.push(0));
                starts.push(0);
                Ok(())
            }
            Column::Link(_, links) => {
                links.push(0);
                Ok(())
            }
            Column::Sum { tags, payloads, .. } => {
                tags.push(0);
                payloads.iter_mut().try_for_each(Column::push_empty)
            }
        })
    }

    /// Adds the arrays to the components.
    fn finish(self, shape: &[usize], out: &mut Vec<FlatValue>) -> Result<(), Fault> {
        let array = |elements: Elements| FlatValue::array(elements, shape.to_vec());
        let integers = |list: Vec<i64>| array(Elements::I64(Arc::new(list)));
        deep(|| match self {
            Column::Unit => Ok(()),
            Column::Scalar(_, elements) => {
                out.push(array(elements));
                Ok(())
            }
            Column::Tuple(columns) => {
                let mut columns = columns.into_iter();
                columns.try_for_each(|column| column.finish(shape, out))
            }
            Column::Vector {
                starts,
                ends,
                total,
                inner,
            } => {
                out.extend([starts, ends].map(integers));
                out.push(FlatValue::Scalar(ScalarValue::I64(total)));
                inner.finish(&[total as usize], out)
            }
            Column::Array {
                extents,
                starts,
                total,
                inner,
            } => {
                out.extend(extents.into_iter().map(integers));
                out.push(integers(starts));
                out.push(FlatValue::Scalar(ScalarValue::I64(total)));
                inner.finish(&[total as usize], out)
            }
            Column::Link(_, links) => {
                out.push(integers(links));
                Ok(())
            }
            Column::Sum {
                tags,
                payloads,
                tag,
                layout,
            } => {
                let mut slots: Vec<Option<FlatValue>> = vec![None; layout.width];
                for (k, (column, places)) in payloads.into_iter().zip(&layout.places).enumerate() {
                    let mut parts = Vec::new();
                    column.finish(shape, &mut parts)?;
                    for (place, part) in places.iter().zip(parts) {
                        let Some(slot) = slots.get_mut(*place) else {
                            return internal("a payload with too many components");
                        };
                        *slot = Some(match slot.take() {
                            Some(other) => chosen(&tags, k as i32, part, other)?,
                            None => part,
                        });
                    }
                }
                let mut numbers = Elements::with_capacity(&Type::Scalar(tag), tags.len())?;
                for number in tags {
                    let number = ScalarValue::from_integer_wrapping(tag, i128::from(number));
                    numbers.push(Value::Scalar(number))?;
                }
                out.push(array(numbers));
                out.extend(slots.into_iter().flatten());
                Ok(())
            }
        })
    }
}

/// Returns the elements of `own` where the tag is `k`, and those of `other` elsewhere.
fn chosen(tags: &[i32], k: i32, own: FlatValue, other: FlatValue) -> Result<FlatValue, Fault> {
    let own = own.as_array()?.packed()?;
    let other = other.as_array()?;
    let shape = other.shape().to_vec();
    let mut all = other.packed()?;
    for (at, tag) in tags.iter().enumerate() {
        if *tag == k {
            match own.get(at) {
                Some(value) => all.set(at, value)?,
                None => return internal("payloads of other lengths"),
            }
        }
    }
    Ok(FlatValue::array(all, shape))
}
