//! The conversion of values between data and nodes, part by part as the types of both meet.

use crate::build::build;
use crate::builder::Builder;
use crate::error::{LowerError, Result};
use crate::scalars::index_from;
use crate::sums;
use crate::values::{self, Array, has_rows, next, take};
use nova_core::nodes::{Meeting, meet};
use nova_core::{Member, Scalar, SumId, Type};
use nova_diag::deep;
use nova_flat::ir::Atom;

/// A conversion, with the renumbering of links.
pub(super) struct Conversion<'a> {
    pub members: &'a [Member],
    pub direction: Direction,
    /// The renumbering of links to each member.
    pub links: Vec<Renumbering>,
    /// The sums between the nodes that are recursive on both sides, and the renumbering of links to them.
    pub between: Vec<(Member, Renumbering)>,
}

/// The sides between which values are converted.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Direction {
    ToNodes,
    ToData,
    /// From nodes to nodes of the same types.
    WithinNodes,
}

/// The change of a link.
#[derive(Clone, Copy)]
pub(super) enum Renumbering {
    /// An `i64` becomes an `int`, its number.
    Number(Numbers),
    /// An `int` becomes an `i64`, counted from this one.
    After(Atom),
    /// An `i64` becomes another one, its number counted from the atom.
    Moved(Numbers, Atom),
    /// An `int` becomes the element with this index of an array of `int`.
    Element(Atom),
}

/// The numbers of links.
#[derive(Clone, Copy)]
pub(super) struct Numbers {
    /// The link of the first element.
    pub lowest: Atom,
    /// An array of `int`.
    pub number: Atom,
}

impl Renumbering {
    fn apply(self, b: &mut Builder, link: Atom) -> Result<Atom> {
        match self {
            Renumbering::Number(numbers) => numbers.of(b, link),
            Renumbering::After(first) => {
                let number = index_from(b, link, Scalar::I32);
                Ok(b.add(first, number))
            }
            Renumbering::Moved(numbers, first) => {
                let number = numbers.of(b, link)?;
                let number = index_from(b, number, Scalar::I32);
                Ok(b.add(first, number))
            }
            Renumbering::Element(numbers) => {
                let index = index_from(b, link, Scalar::I32);
                b.index(numbers, &[index])
            }
        }
    }
}

impl Numbers {
    fn of(self, b: &mut Builder, link: Atom) -> Result<Atom> {
        let index = b.subtract(link, self.lowest);
        b.index(self.number, &[index])
    }
}

impl Conversion<'_> {
    /// Returns the components of a value on the other side. `data` and `node` are its types.
    pub fn convert(
        &self,
        b: &mut Builder,
        data: &Type,
        node: &Type,
        value: Vec<Atom>,
    ) -> Result<Vec<Atom>> {
        deep(|| match meet(&b.output.sums, self.members, data, node) {
            Some(Meeting::Same) => Ok(value),
            Some(Meeting::Link(member)) => {
                let link = next(&mut value.iter())?;
                Ok(vec![self.links[member].apply(b, link)?])
            }
            Some(Meeting::Tuples(data, node)) => {
                let mut value = value.iter();
                let mut converted = Vec::new();
                for (data, node) in data.iter().zip(node) {
                    let width = b.components(self.sides(data, node).0).len();
                    let part = take(&mut value, width)?;
                    converted.extend(self.convert(b, data, node, part)?);
                }
                Ok(converted)
            }
            Some(Meeting::Elements(inner, inner_node)) => {
                let from = Array::new(self.sides(data, node).0, value)?;
                let to = self.sides(inner, inner_node).1;
                map_elements(b, from, to, |b, value| {
                    self.convert(b, inner, inner_node, value)
                })
            }
            Some(Meeting::Sums(data, node)) => self.sum(b, Member { data, node }, value),
            None => Err(LowerError::new("a node that does not correspond")),
        })
    }

    /// Converts a value of a sum that is no member.
    fn sum(&self, b: &mut Builder, pair: Member, value: Vec<Atom>) -> Result<Vec<Atom>> {
        if let Some((_, renumbering)) = self.between.iter().find(|(p, _)| *p == pair) {
            let link = next(&mut value.iter())?;
            return Ok(vec![renumbering.apply(b, link)?]);
        }
        let (from, to) = self.ends(pair);
        sums::cases(b, from, &value, &Type::Sum(to), |b, k, payload| {
            let payload = self.payload(b, pair, k, payload)?;
            sums::construct(b, to, k as u32, payload)
        })
    }

    /// Converts the payload of constructor `k` of a pair of sums.
    pub fn payload(
        &self,
        b: &mut Builder,
        pair: Member,
        k: usize,
        payload: Vec<Atom>,
    ) -> Result<Vec<Atom>> {
        let (data, node) = payload_types(b, pair, k)?;
        self.convert(b, &data, &node, payload)
    }

    /// Returns the sum that is converted, and that which it becomes.
    pub fn ends(&self, pair: Member) -> (SumId, SumId) {
        match self.direction {
            Direction::ToNodes => (pair.data, pair.node),
            Direction::ToData => (pair.node, pair.data),
            Direction::WithinNodes => (pair.node, pair.node),
        }
    }

    /// Returns the type that is converted, and that which it becomes.
    fn sides<'t>(&self, data: &'t Type, node: &'t Type) -> (&'t Type, &'t Type) {
        match self.direction {
            Direction::ToNodes => (data, node),
            Direction::ToData => (node, data),
            Direction::WithinNodes => (node, node),
        }
    }
}

/// Returns the payloads of constructor `k` of a pair of sums.
pub(super) fn payload_types(b: &Builder, pair: Member, k: usize) -> Result<(Type, Type)> {
    let of = |sum: SumId| {
        let constructor = b.output.sums[sum.index()].constructors.get(k);
        let payload = constructor.map(|c| c.payload.clone());
        payload.ok_or_else(|| LowerError::new("a node with other constructors than its sum"))
    };
    Ok((of(pair.data)?, of(pair.node)?))
}

/// Returns the components of an array of the values that `convert` gives for each element.
fn map_elements(
    b: &mut Builder,
    from: Array,
    to: &Type,
    convert: impl FnOnce(&mut Builder, Vec<Atom>) -> Result<Vec<Atom>>,
) -> Result<Vec<Atom>> {
    let extents = from.extents;
    let flat = extents.len() > 1 && has_rows(to, &b.output.sums);
    let (shape, lifted) = match flat {
        true => {
            let count = b.product(&extents);
            let lifted = values::reshape(b, &from.element, &from.lifted, &[count])?;
            (vec![count], lifted)
        }
        false => (extents.clone(), from.lifted),
    };
    let mut converted = build(b, &shape, to, |b, index| {
        let value = values::element(b, &from.element, &lifted, index)?;
        convert(b, value)
    })?;
    if flat {
        converted = values::reshape(b, to, &converted, &extents)?;
    }
    Ok(values::with_extents(extents, converted))
}
