//! Conversion from arrays to vectors: a tree of the components of a type, from which any row can be
//! read.

use super::layouts::{Layouts, SumLayout};
use super::{Fault, FlatValue, FromLink, internal};
use nova_core::value::Link;
use nova_core::{Elements, SumId, Type, Value};
use nova_diag::deep;
use std::sync::Arc;

/// The components of a lifted type.
enum Rows {
    Unit,
    Scalar(Elements),
    Tuple(Vec<Rows>),
    Vector {
        starts: Arc<Vec<i64>>,
        ends: Arc<Vec<i64>>,
        element: Type,
        inner: Box<Rows>,
    },
    Array {
        extents: Vec<Arc<Vec<i64>>>,
        starts: Arc<Vec<i64>>,
        element: Type,
        inner: Box<Rows>,
    },
    Link(SumId, Arc<Vec<i64>>),
    Sum {
        tags: Elements,
        payloads: Vec<Rows>,
    },
}

/// A list from which components are taken.
struct Source<'a> {
    components: std::slice::Iter<'a, FlatValue>,
    layouts: &'a Layouts<'a>,
}

/// Returns the value of type `ty` that exactly these components represent.
pub fn plain(
    components: &[FlatValue],
    ty: &Type,
    layouts: &Layouts,
    link: FromLink<'_>,
) -> Result<Value, Fault> {
    let mut source = Source {
        components: components.iter(),
        layouts,
    };
    let value = source.plain(ty, link)?;
    match source.components.next() {
        None => Ok(value),
        Some(_) => internal("more components than the type has"),
    }
}

impl Source<'_> {
    fn next(&mut self) -> Result<&FlatValue, Fault> {
        match self.components.next() {
            Some(value) => Ok(value),
            None => internal("fewer components than the type has"),
        }
    }

    fn take(&mut self, count: usize) -> Result<Vec<FlatValue>, Fault> {
        (0..count).map(|_| self.next().cloned()).collect()
    }

    fn length(&mut self) -> Result<usize, Fault> {
        match usize::try_from(self.next()?.as_i64()?) {
            Ok(length) => Ok(length),
            Err(_) => internal("a negative length"),
        }
    }

    fn elements(&mut self) -> Result<Elements, Fault> {
        self.next()?.as_array()?.packed()
    }

    fn integers(&mut self) -> Result<Arc<Vec<i64>>, Fault> {
        match self.elements()? {
            Elements::I64(list) => Ok(list),
            _ => internal("an array that should hold `i64`"),
        }
    }

    fn plain(&mut self, ty: &Type, link: FromLink<'_>) -> Result<Value, Fault> {
        deep(|| match ty {
            Type::Unit => Ok(Value::Unit),
            Type::Scalar(_) => Ok(Value::Scalar(self.next()?.scalar()?)),
            Type::Tuple(types) => {
                let values: Result<Vec<_>, _> = types.iter().map(|t| self.plain(t, link)).collect();
                Ok(Value::Tuple(values?.into()))
            }
            Type::Vector(element) => {
                let length = self.length()?;
                let rows = self.rows(element)?;
                Ok(Value::Vector(rows.range(0, length, element, link)?))
            }
            Type::Array(rank, element) => {
                let extents: Result<Vec<_>, _> = (0..*rank).map(|_| self.length()).collect();
                let extents = extents?;
                let rows = self.rows(element)?;
                let count = super::arrays::count(&extents)?;
                Ok(Value::Array(
                    extents.into(),
                    rows.range(0, count, element, link)?,
                ))
            }
            Type::Sum(id) => {
                let Some(sum) = self.layouts.sums.get(id.index()) else {
                    return internal("there is no such sum");
                };
                if sum.is_recursive() {
                    return Ok(link(*id, self.next()?.as_i64()?));
                }
                let layout = self.layouts.of(*id, false);
                let slots = self.take(layout.width)?;
                let tag = match slots.first().map(FlatValue::scalar) {
                    Some(tag) => tag?,
                    None => return internal("a sum without a tag"),
                };
                let constructors = sum.constructors.iter().enumerate();
                let mut active = constructors.filter(|(k, _)| tag.as_integer() == Some(*k as i128));
                match active.next() {
                    Some((k, constructor)) => {
                        let parts = payload_of(&slots, &layout, k)?;
                        let payload = plain(&parts, &constructor.payload, self.layouts, link)?;
                        Ok(Value::Sum(k as u32, Link::new(payload)))
                    }
                    None => internal(format!("{tag:?} is no tag of {}", sum.name)),
                }
            }
            Type::Function(..) => internal("a function in Flat"),
        })
    }

    fn rows(&mut self, ty: &Type) -> Result<Rows, Fault> {
        deep(|| match ty {
            Type::Unit => Ok(Rows::Unit),
            Type::Scalar(_) => Ok(Rows::Scalar(self.elements()?)),
            Type::Tuple(types) => {
                let rows: Result<_, _> = types.iter().map(|t| self.rows(t)).collect();
                Ok(Rows::Tuple(rows?))
            }
            Type::Vector(element) => {
                let (starts, ends) = (self.integers()?, self.integers()?);
                self.length()?;
                let inner = Box::new(self.rows(element)?);
                Ok(Rows::Vector {
                    starts,
                    ends,
                    element: (**element).clone(),
                    inner,
                })
            }
            Type::Array(rank, element) => {
                let extents: Result<_, _> = (0..*rank).map(|_| self.integers()).collect();
                let starts = self.integers()?;
                self.length()?;
                let inner = Box::new(self.rows(element)?);
                let element = (**element).clone();
                Ok(Rows::Array {
                    extents: extents?,
                    starts,
                    element,
                    inner,
                })
            }
            Type::Sum(id) => match self.layouts.sums.get(id.index()) {
                Some(sum) if sum.is_recursive() => Ok(Rows::Link(*id, self.integers()?)),
                Some(sum) => {
                    let layout = self.layouts.of(*id, true);
                    let slots = self.take(layout.width)?;
                    let tags = match slots.first().map(FlatValue::as_array) {
                        Some(tags) => tags?.packed()?,
                        None => return internal("a sum without tags"),
                    };
                    let mut payloads = Vec::with_capacity(sum.constructors.len());
                    for (k, constructor) in sum.constructors.iter().enumerate() {
                        let parts = payload_of(&slots, &layout, k)?;
                        let mut source = Source {
                            components: parts.iter(),
                            layouts: self.layouts,
                        };
                        payloads.push(source.rows(&constructor.payload)?);
                    }
                    Ok(Rows::Sum { tags, payloads })
                }
                None => internal("there is no such sum"),
            },
            Type::Function(..) => internal("a function in Flat"),
        })
    }
}

/// Returns the components of the payload of constructor `k` among those of a sum.
fn payload_of(slots: &[FlatValue], layout: &SumLayout, k: usize) -> Result<Vec<FlatValue>, Fault> {
    let places = layout.places.get(k).into_iter().flatten();
    let parts: Option<Vec<FlatValue>> = places.map(|place| slots.get(*place).cloned()).collect();
    parts.map_or_else(|| internal("a sum with too few components"), Ok)
}

/// Returns entry `k` of a list.
fn entry(list: &[i64], k: usize) -> Result<i64, Fault> {
    match list.get(k) {
        Some(value) => Ok(*value),
        None => internal("a row outside of its array"),
    }
}

impl Rows {
    /// Returns rows `start..end` as elements of type `ty`.
    fn range(
        &self,
        start: usize,
        end: usize,
        ty: &Type,
        link: FromLink<'_>,
    ) -> Result<Elements, Fault> {
        if let Rows::Scalar(elements) = self {
            if start > end || end > elements.len() {
                return internal("rows outside of their array");
            }
            if start == 0 && end == elements.len() {
                return Ok(elements.clone());
            }
            return Ok(elements.slice(start..end)?);
        }
        let mut list = Elements::with_capacity(ty, end.saturating_sub(start))?;
        for k in start..end {
            list.push(self.row(k, link)?)?;
        }
        Ok(list)
    }

    /// As [`Rows::range`], after a check of the bounds.
    fn checked_range(
        &self,
        start: i64,
        end: i64,
        ty: &Type,
        link: FromLink<'_>,
    ) -> Result<Elements, Fault> {
        match (usize::try_from(start), usize::try_from(end)) {
            (Ok(start), Ok(end)) if start <= end => self.range(start, end, ty, link),
            _ => internal(format!("rows from {start} to {end}")),
        }
    }

    /// Returns row `k`.
    fn row(&self, k: usize, link: FromLink<'_>) -> Result<Value, Fault> {
        deep(|| match self {
            Rows::Unit => Ok(Value::Unit),
            Rows::Scalar(elements) => match elements.get(k) {
                Some(value) => Ok(value),
                None => internal("a row outside of its array"),
            },
            Rows::Tuple(rows) => {
                let values: Result<Vec<_>, _> = rows.iter().map(|r| r.row(k, link)).collect();
                Ok(Value::Tuple(values?.into()))
            }
            Rows::Vector {
                starts,
                ends,
                element,
                inner,
            } => {
                let (start, end) = (entry(starts, k)?, entry(ends, k)?);
                Ok(Value::Vector(
                    inner.checked_range(start, end, element, link)?,
                ))
            }
            Rows::Array {
                extents,
                starts,
                element,
                inner,
            } => {
                let mut shape = Vec::new();
                for extent in extents {
                    match usize::try_from(entry(extent, k)?) {
                        Ok(extent) => shape.push(extent),
                        Err(_) => return internal("a negative extent"),
                    }
                }
                let start = entry(starts, k)?;
                let end = start.saturating_add_unsigned(super::arrays::count(&shape)? as u64);
                Ok(Value::Array(
                    shape.into(),
                    inner.checked_range(start, end, element, link)?,
                ))
            }
            Rows::Link(sum, links) => Ok(link(*sum, entry(links, k)?)),
            Rows::Sum { tags, payloads } => {
                let tag = tags.get(k).and_then(|tag| tag.as_scalar()?.as_integer());
                let tag = tag.and_then(|tag| u32::try_from(tag).ok());
                match tag.and_then(|tag| Some((tag, payloads.get(tag as usize)?))) {
                    Some((tag, rows)) => Ok(Value::Sum(tag, Link::new(rows.row(k, link)?))),
                    None => internal("a row outside of its array, or with a wrong tag"),
                }
            }
        })
    }
}
