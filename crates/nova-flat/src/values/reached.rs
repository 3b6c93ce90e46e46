//! The nodes that a link reaches, and whether nodes contain themselves, as `NodesReached` and
//! `NodesAcyclic` give them.

use super::{Fault, FlatValue, Layouts, Node, internal, payload_type, rows};
use crate::links::{Links, Part};
use crate::representation::Component;
use nova_core::{Elements, Scalar, ScalarValue, SumId, Value};
use nova_diag::deep;
use std::collections::HashMap;
use std::sync::Arc;

/// The nodes of one member that a link reaches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// The link of each number.
    pub order: Vec<i64>,
    /// The lowest link that has a number.
    pub lowest: i64,
    /// The number of each link from `lowest` on. It is −1 for nodes that are not reached.
    pub number: Vec<i32>,
}

/// Returns the components of the results of `NodesReached` for one member.
pub fn reached_components() -> [Component; 5] {
    let component = |name: &str, scalar, shape| Component {
        name: name.to_string(),
        scalar,
        shape,
        link: None,
    };
    [
        component("count", Scalar::I64, Vec::new()),
        component("order", Scalar::I64, vec![0]),
        component("lowest", Scalar::I64, Vec::new()),
        component("span", Scalar::I64, Vec::new()),
        component("number", Scalar::I32, vec![3]),
    ]
}

/// Returns these components of the nodes of a member.
pub fn components_of(reached: Reached) -> [FlatValue; 5] {
    let (count, span) = (reached.order.len(), reached.number.len());
    [
        FlatValue::index(count),
        FlatValue::array(Elements::I64(Arc::new(reached.order)), vec![count]),
        FlatValue::Scalar(ScalarValue::I64(reached.lowest)),
        FlatValue::index(span),
        FlatValue::array(Elements::I32(Arc::new(reached.number)), vec![span]),
    ]
}

/// A function that returns the node of a link.
pub type Read<'f> = &'f dyn Fn(SumId, i64) -> Result<Node, Fault>;

/// A link to a node of a pair of [`Links`].
type Target = (usize, i64);

/// Returns the nodes of each member that a link to a node of the first member reaches.
pub fn reached(
    links: &Links,
    layouts: &Layouts,
    read: Read<'_>,
    root: i64,
) -> Result<Vec<Reached>, Fault> {
    let mut numbers: HashMap<Target, usize> = HashMap::new();
    let mut constants: HashMap<(usize, u32), usize> = HashMap::new();
    let mut orders = vec![Vec::new(); links.members];
    let mut queue = std::collections::VecDeque::new();
    let mut stack: Vec<Target> = vec![(0, root)];
    loop {
        while let Some(target) = stack.pop() {
            if numbers.contains_key(&target) {
                continue;
            }
            let (pair, link) = target;
            let Some(order) = orders.get_mut(pair) else {
                numbers.insert(target, 0);
                stack.extend(links_of(links, layouts, read, target)?.into_iter().rev());
                continue;
            };
            let next = order.len();
            let number = match constant(links, layouts, read, target)? {
                Some(constructor) => *constants.entry((pair, constructor)).or_insert(next),
                None => next,
            };
            if number == next {
                order.push(link);
                queue.push_back(target);
            }
            numbers.insert(target, number);
        }
        match queue.pop_front() {
            Some(target) => {
                stack.extend(links_of(links, layouts, read, target)?.into_iter().rev());
            }
            None => break,
        }
    }
    orders
        .into_iter()
        .enumerate()
        .map(|(pair, order)| numbered(pair, order, &numbers))
        .collect()
}

/// Returns the numbers of one member.
fn numbered(
    pair: usize,
    order: Vec<i64>,
    numbers: &HashMap<Target, usize>,
) -> Result<Reached, Fault> {
    let own = numbers.iter().filter(|((of, _), _)| *of == pair);
    let all: Vec<(i64, usize)> = own.map(|((_, link), number)| (*link, *number)).collect();
    let lowest = all.iter().map(|(link, _)| *link).min().unwrap_or(0);
    let end = all.iter().map(|(link, _)| *link + 1).max().unwrap_or(0);
    let span = usize::try_from(end - lowest).map_err(|_| Fault::Memory)?;
    let mut number = Vec::new();
    number.try_reserve_exact(span).map_err(|_| Fault::Memory)?;
    number.resize(span, -1);
    for (link, value) in all {
        if let Some(place) = number.get_mut((link - lowest) as usize) {
            *place = value as i32;
        }
    }
    Ok(Reached {
        order,
        lowest,
        number,
    })
}

/// Returns the constructor of a node without payload.
fn constant(
    links: &Links,
    layouts: &Layouts,
    read: Read<'_>,
    (pair, link): Target,
) -> Result<Option<u32>, Fault> {
    let sum = sum_of(links, pair)?;
    let node = read(sum, link)?;
    let payload = payload_type(layouts.sums, sum, node.constructor)?;
    Ok((*payload == nova_core::Type::Unit).then_some(node.constructor))
}

fn sum_of(links: &Links, pair: usize) -> Result<SumId, Fault> {
    match links.pairs.get(pair) {
        Some(pair) => Ok(pair.sum),
        None => internal("there is no such pair of sums"),
    }
}

/// Returns the links in the payload of a node, in order.
fn links_of(
    links: &Links,
    layouts: &Layouts,
    read: Read<'_>,
    (pair, link): Target,
) -> Result<Vec<Target>, Fault> {
    let sum = sum_of(links, pair)?;
    let node = read(sum, link)?;
    let ty = payload_type(layouts.sums, sum, node.constructor)?;
    let parts = links.pairs.get(pair).map(|pair| &pair.constructors);
    let part = match parts.and_then(|parts| parts.get(node.constructor as usize)) {
        Some(Part::Data) => return Ok(Vec::new()),
        Some(part) => part,
        None => return internal("a node without constructor"),
    };
    let value = rows::plain(&node.payload, ty, layouts, &mut |_, link| {
        Value::Scalar(ScalarValue::I64(link))
    })?;
    let mut found = Vec::new();
    in_part(&value, part, &mut found)?;
    Ok(found)
}

/// Adds the links in a part of a payload, whose links are their numbers.
fn in_part(value: &Value, part: &Part, found: &mut Vec<Target>) -> Result<(), Fault> {
    deep(|| match (part, value) {
        (Part::Data, _) => Ok(()),
        (Part::Link(pair), Value::Scalar(ScalarValue::I64(link))) => {
            found.push((*pair, *link));
            Ok(())
        }
        (Part::Tuple(parts), Value::Tuple(values)) => {
            let mut both = parts.iter().zip(values.iter());
            both.try_for_each(|(part, value)| in_part(value, part, found))
        }
        (Part::Elements(part), Value::Vector(elements) | Value::Array(_, elements)) => elements
            .iter()
            .try_for_each(|value| in_part(&value, part, found)),
        (Part::Sum(parts), Value::Sum(constructor, payload)) => {
            match parts.get(*constructor as usize) {
                Some(part) => in_part(payload.get(), part, found),
                None => internal("a sum without constructor"),
            }
        }
        _ => internal("a payload that is not of its type"),
    })
}

/// True if no node of the ranges contains itself. There is a range for each member: the link of the first
/// node, and the number of nodes. Nodes of other sums between them are part of what a node contains.
pub fn acyclic(
    links: &Links,
    layouts: &Layouts,
    read: Read<'_>,
    ranges: &[(i64, i64)],
) -> Result<bool, Fault> {
    let in_range = |(pair, link): Target| match ranges.get(pair) {
        Some((first, count)) => link >= *first && link - first < *count,
        // Other pairs are no members.
        None => pair >= links.members,
    };
    let mut found: HashMap<Target, usize> = HashMap::new();
    let mut list = Vec::new();
    for (pair, (first, count)) in ranges.iter().enumerate() {
        for k in 0..*count {
            found.insert((pair, first + k), list.len());
            list.push((pair, first + k));
        }
    }
    let mut children = Vec::new();
    let mut parents = vec![0usize; list.len()];
    while let Some(node) = list.get(children.len()) {
        let mut own = Vec::new();
        for target in links_of(links, layouts, read, *node)? {
            if !in_range(target) {
                continue;
            }
            let number = *found.entry(target).or_insert_with(|| {
                list.push(target);
                parents.push(0);
                list.len() - 1
            });
            parents[number] += 1;
            own.push(number);
        }
        children.push(own);
    }
    let mut ready: Vec<usize> = (0..list.len()).filter(|k| parents[*k] == 0).collect();
    let mut removed = 0;
    while let Some(node) = ready.pop() {
        removed += 1;
        for child in &children[node] {
            parents[*child] -= 1;
            if parents[*child] == 0 {
                ready.push(*child);
            }
        }
    }
    Ok(removed == list.len())
}
