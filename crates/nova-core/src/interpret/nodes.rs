//! Tables of nodes: `table`, which numbers the nodes of a datum, and `datum`, its inverse.
//!
//! [`Rewriter`] rewrites the payload of one node. It stops at each link, which `table` replaces by a
//! number and `datum` by a value. Shared data are rewritten once. No step recurses, so that data may be
//! as deep as memory allows.

use super::operands::{Result, as_integer, in_range, stop};
use crate::error::internal;
use crate::nodes::{Meeting, meet};
use crate::value::{Extents, Link, grow};
use crate::{Elements, ErrorKind, Member, ScalarValue, SumId, SumType, Type, Value};
use std::collections::HashMap;

/// The sums of a program, and the members of the tables.
#[derive(Clone, Copy)]
pub struct Group<'a> {
    pub sums: &'a [SumType],
    pub members: &'a [Member],
}

impl<'a> Group<'a> {
    /// Returns the payload of a constructor of a member, in the data and in the node.
    fn payload(&self, member: usize, tag: u32) -> Result<(&'a Type, &'a Type)> {
        let Member { data, node } = self.members[member];
        payload(self.sums, data, node, tag)
    }
}

fn payload(sums: &[SumType], data: SumId, node: SumId, tag: u32) -> Result<(&Type, &Type)> {
    let of = |sum: SumId| sums[sum.index()].constructors.get(tag as usize);
    match (of(data), of(node)) {
        (Some(data), Some(node)) => Ok((&data.payload, &node.payload)),
        (_, _) => Err(internal("a constructor that its sum does not have")),
    }
}

/// The sides between which a rewriter goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    ToNodes,
    ToData,
}

/// A node of a table: its member and its number.
type Node = (usize, usize);

/// A step of the rewriting. The steps that build take the results of earlier ones.
enum Task<'a> {
    /// Rewrites a value, whose types in the data and in the node are these.
    Rewrite(Value, &'a Type, &'a Type),
    Tuple(usize),
    /// A vector, or an array of these extents, with elements of a type.
    Elements(Option<Extents>, usize, &'a Type),
    /// A value of a sum that is no member, to be found again by its identity.
    Construct(u32, Option<Identity>),
    /// The end of a node with this constructor.
    Node(Node, u32),
}

/// A shared payload, and the sums between which it is rewritten.
type Identity = (*const Value, SumId, SumId);

/// The places at which a rewriter stops.
enum Stop {
    /// A link to this member: a value of the data, or a number. Its rewritten value is the next result.
    Link(usize, Value),
    /// The end of a node: its constructor and its payload.
    Node(Node, u32, Value),
}

/// The rewriting of payloads between data and nodes.
struct Rewriter<'a> {
    group: Group<'a>,
    direction: Direction,
    tasks: Vec<Task<'a>>,
    results: Vec<Value>,
    /// The rewritten values of recursive sums that are no members.
    shared: HashMap<Identity, Value>,
}

impl<'a> Rewriter<'a> {
    fn new(group: Group<'a>, direction: Direction) -> Self {
        Rewriter {
            group,
            direction,
            tasks: Vec::new(),
            results: Vec::new(),
            shared: HashMap::new(),
        }
    }

    /// Adds the rewriting of a node, a value of a member's sum or of its node type.
    fn add(&mut self, node: Node, value: &Value) -> Result<()> {
        let Value::Sum(tag, payload) = value else {
            return Err(internal("a node that is no value of a sum"));
        };
        let (data, inside) = self.group.payload(node.0, *tag)?;
        grow(&mut self.tasks, 2)?;
        self.tasks.push(Task::Node(node, *tag));
        let payload = payload.get().clone();
        self.tasks.push(Task::Rewrite(payload, data, inside));
        Ok(())
    }

    /// Rewrites to the next link or end of a node. It is `None` when nothing is left.
    fn next(&mut self) -> Result<Option<Stop>> {
        while let Some(task) = self.tasks.pop() {
            let value = match task {
                Task::Rewrite(value, data, node) => {
                    if let Some(link) = self.rewrite(value, data, node)? {
                        return Ok(Some(link));
                    }
                    continue;
                }
                Task::Tuple(count) => Value::Tuple(self.take(count).into()),
                Task::Elements(extents, count, element) => {
                    let mut elements = Elements::with_capacity(element, count)?;
                    for value in self.take(count) {
                        elements.push(value)?;
                    }
                    match extents {
                        Some(extents) => Value::Array(extents, elements),
                        None => Value::Vector(elements),
                    }
                }
                Task::Construct(tag, identity) => {
                    let value = Value::Sum(tag, Link::new(self.result()?));
                    if let Some(identity) = identity {
                        self.shared.insert(identity, value.clone());
                    }
                    value
                }
                Task::Node(node, tag) => {
                    let payload = self.result()?;
                    return Ok(Some(Stop::Node(node, tag, payload)));
                }
            };
            self.give(value)?;
        }
        Ok(None)
    }

    /// Takes the last `count` results.
    fn take(&mut self, count: usize) -> Vec<Value> {
        let start = self.results.len().saturating_sub(count);
        self.results.split_off(start)
    }

    fn result(&mut self) -> Result<Value> {
        let last = self.results.pop();
        last.ok_or_else(|| internal("a part of a node without a value"))
    }

    /// Adds a result.
    fn give(&mut self, value: Value) -> Result<()> {
        if self.results.len() == self.results.capacity() {
            grow(&mut self.results, 1)?;
        }
        self.results.push(value);
        Ok(())
    }

    /// Rewrites a value, or adds the tasks that do. Returns the link that it may be.
    fn rewrite(&mut self, value: Value, data: &'a Type, node: &'a Type) -> Result<Option<Stop>> {
        let Group { sums, members } = self.group;
        let met = meet(sums, members, data, node);
        match (met, value) {
            (Some(Meeting::Same), value) => self.give(value)?,
            (Some(Meeting::Link(member)), value) => return Ok(Some(Stop::Link(member, value))),
            (Some(Meeting::Tuples(data, node)), Value::Tuple(values)) => {
                grow(&mut self.tasks, values.len() + 1)?;
                self.tasks.push(Task::Tuple(values.len()));
                let parts = values.iter().zip(data.iter().zip(node)).rev();
                let parts = parts.map(|(v, (data, node))| Task::Rewrite(v.clone(), data, node));
                self.tasks.extend(parts);
            }
            (Some(Meeting::Elements(data, node)), Value::Vector(elements)) => {
                self.elements(None, &elements, data, node)?;
            }
            (Some(Meeting::Elements(data, node)), Value::Array(extents, elements)) => {
                self.elements(Some(extents), &elements, data, node)?;
            }
            (Some(Meeting::Sums(data, node)), Value::Sum(tag, link)) => {
                self.sum(tag, &link, data, node)?;
            }
            (_, _) => return Err(internal("a value that does not fit its node type")),
        }
        Ok(None)
    }

    fn elements(
        &mut self,
        extents: Option<Extents>,
        elements: &Elements,
        data: &'a Type,
        node: &'a Type,
    ) -> Result<()> {
        let count = elements.len();
        let result = match self.direction {
            Direction::ToNodes => node,
            Direction::ToData => data,
        };
        grow(&mut self.tasks, count + 1)?;
        self.tasks.push(Task::Elements(extents, count, result));
        let values = (0..count).rev().filter_map(|k| elements.get(k));
        self.tasks
            .extend(values.map(|value| Task::Rewrite(value, data, node)));
        Ok(())
    }

    fn sum(&mut self, tag: u32, link: &Link, data: SumId, node: SumId) -> Result<()> {
        let sums = self.group.sums;
        let identity: Identity = (link.get(), data, node);
        if let Some(value) = self.shared.get(&identity) {
            let value = value.clone();
            return self.give(value);
        }
        let recursive = sums[data.index()].is_recursive() || sums[node.index()].is_recursive();
        let (data, node) = payload(sums, data, node, tag)?;
        grow(&mut self.tasks, 2)?;
        let identity = recursive.then_some(identity);
        self.tasks.push(Task::Construct(tag, identity));
        let inner = link.get().clone();
        self.tasks.push(Task::Rewrite(inner, data, node));
        Ok(())
    }
}

/// The numbers of the nodes met so far.
struct Numbers<'a> {
    group: Group<'a>,
    /// The number of each node. A constructor without payload has one for each member.
    of: HashMap<(usize, u32, *const Value), usize>,
    counts: Vec<usize>,
    /// All nodes in the order in which they were met.
    order: Vec<(Node, Value)>,
}

impl Numbers<'_> {
    fn number(&mut self, member: usize, value: Value) -> Result<usize> {
        let Value::Sum(tag, payload) = &value else {
            return Err(internal("a node that is no value of a sum"));
        };
        let address: *const Value = match self.group.payload(member, *tag)?.0 {
            Type::Unit => std::ptr::null(),
            Type::Scalar(_) | Type::Tuple(_) | Type::Vector(_) => payload.get(),
            Type::Array(..) | Type::Function(..) | Type::Sum(_) => payload.get(),
        };
        let next = self.counts[member];
        let number = *self.of.entry((member, *tag, address)).or_insert(next);
        if number == next {
            self.counts[member] += 1;
            if self.order.len() == self.order.capacity() {
                grow(&mut self.order, 1)?;
            }
            self.order.push(((member, number), value));
        }
        Ok(number)
    }
}

/// Returns the tables of the nodes that `root`, a value of the first member, reaches.
pub fn table(root: Value, group: Group) -> Result<Value> {
    let members = group.members.len();
    let mut numbers = Numbers {
        group,
        of: HashMap::new(),
        counts: vec![0; members],
        order: Vec::new(),
    };
    let mut rewriter = Rewriter::new(group, Direction::ToNodes);
    let of = |m: &Member| Elements::new(&Type::Sum(m.node));
    let mut tables: Vec<Elements> = group.members.iter().map(of).collect();
    numbers.number(0, root)?;
    let mut next = 0;
    while let Some((node, value)) = numbers.order.get(next).cloned() {
        next += 1;
        rewriter.add(node, &value)?;
        while let Some(stopped) = rewriter.next()? {
            match stopped {
                Stop::Link(member, value) => {
                    let number = numbers.number(member, value)?;
                    let link = ScalarValue::I32(i32::try_from(number).unwrap_or(i32::MAX));
                    rewriter.give(Value::Scalar(link))?;
                }
                Stop::Node((member, _), tag, payload) => {
                    tables[member].push(Value::Sum(tag, Link::new(payload)))?;
                }
            }
        }
    }
    for count in numbers.counts {
        if i32::try_from(count).is_err() {
            return Err(stop(ErrorKind::LengthOverflow, &[count as i128]));
        }
    }
    Ok(Value::tuple(
        tables.into_iter().map(Value::Vector).collect(),
    ))
}

/// Returns the datum of these tables, with node `root` of the first. Checks the links, then the root, then
/// that no node contains itself.
pub fn datum(root: i128, tables: Value, group: Group) -> Result<Value> {
    let tables = elements_of(tables, group.members.len())?;
    check_links(&tables, group)?;
    let root = link(root, tables[0].len())?;
    let mut made = Made::new(&tables)?;
    let mut rewriter = Rewriter::new(group, Direction::ToData);
    for (member, table) in tables.iter().enumerate() {
        for (number, node) in table.iter().enumerate() {
            if made.begin((member, number))?.is_none() {
                rewriter.add((member, number), &node)?;
                make(&mut rewriter, &mut made, &tables)?;
            }
        }
    }
    made.begin((0, root))?
        .ok_or_else(|| internal("a root that was not made"))
}

/// The values of the nodes, as far as they are made.
struct Made {
    nodes: Vec<Vec<Progress>>,
}

#[derive(Clone)]
enum Progress {
    New,
    Begun,
    Done(Value),
}

impl Made {
    fn new(tables: &[Elements]) -> Result<Self> {
        let mut nodes = Vec::new();
        for table in tables {
            let mut progress = Vec::new();
            grow(&mut progress, table.len())?;
            progress.resize(table.len(), Progress::New);
            nodes.push(progress);
        }
        Ok(Made { nodes })
    }

    /// Returns the value of a node. If it has none yet, the node begins. One that has begun contains
    /// itself.
    fn begin(&mut self, (member, number): Node) -> Result<Option<Value>> {
        let progress = &mut self.nodes[member][number];
        match progress {
            Progress::Done(value) => Ok(Some(value.clone())),
            Progress::Begun => Err(stop(ErrorKind::Cycle, &[])),
            Progress::New => {
                *progress = Progress::Begun;
                Ok(None)
            }
        }
    }
}

/// Makes the node that the rewriter has, and all that it reaches.
fn make(rewriter: &mut Rewriter, made: &mut Made, tables: &[Elements]) -> Result<()> {
    while let Some(stopped) = rewriter.next()? {
        match stopped {
            Stop::Link(member, number) => {
                let number = link(as_integer(&number)?, tables[member].len())?;
                match (made.begin((member, number))?, tables[member].get(number)) {
                    (Some(value), _) => rewriter.give(value)?,
                    (None, Some(node)) => rewriter.add((member, number), &node)?,
                    (None, None) => return Err(internal("a link to no node")),
                }
            }
            Stop::Node((member, number), tag, payload) => {
                let value = Value::Sum(tag, Link::new(payload));
                made.nodes[member][number] = Progress::Done(value.clone());
                // The outermost node has no use for its value as a result.
                if !rewriter.tasks.is_empty() {
                    rewriter.give(value)?;
                }
            }
        }
    }
    Ok(())
}

/// Checks that all links of the tables are in range.
fn check_links(tables: &[Elements], group: Group) -> Result<()> {
    let mut rewriter = Rewriter::new(group, Direction::ToData);
    for (member, table) in tables.iter().enumerate() {
        for (number, node) in table.iter().enumerate() {
            rewriter.add((member, number), &node)?;
            while let Some(stopped) = rewriter.next()? {
                if let Stop::Link(member, number) = stopped {
                    link(as_integer(&number)?, tables[member].len())?;
                    rewriter.give(Value::Unit)?;
                }
            }
        }
    }
    Ok(())
}

/// Returns a link that is in range of `count` nodes.
fn link(number: i128, count: usize) -> Result<usize> {
    let found = in_range(number, count);
    found.ok_or_else(|| stop(ErrorKind::Link, &[number, count as i128]))
}

/// Returns the elements of each table: those of a vector, or of the vectors of a tuple.
fn elements_of(tables: Value, count: usize) -> Result<Vec<Elements>> {
    let vectors = match tables {
        Value::Tuple(vectors) if count > 1 => vectors.to_vec(),
        table => vec![table],
    };
    let elements = vectors.into_iter().map(|vector| match vector {
        Value::Vector(elements) => Ok(elements),
        Value::Scalar(_) | Value::Unit | Value::Tuple(_) | Value::Array(..) => {
            Err(internal("a table that is no vector"))
        }
        Value::Sum(..) | Value::Function(_) => Err(internal("a table that is no vector")),
    });
    let elements = elements.collect::<Result<Vec<Elements>>>()?;
    match elements.len() == count {
        true => Ok(elements),
        false => Err(internal("another number of tables")),
    }
}
