//! Reclaiming of nodes: those that a loop has made and no longer reaches.
//!
//! Limits are low, so that small programs reclaim nodes, too.

use super::machine::{Machine, Node};
use super::{Cell, Pointer, Step, wrong};
use crate::ir::{Expression, Variable};
use nova_core::{ScalarValue, SumId};
use nova_flat::representation::components;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The number of nodes that a loop makes before nodes are reclaimed for the first time.
const FIRST_LIMIT: i64 = 4;

/// A place that holds a link, or links.
enum Place {
    /// The cell of a payload.
    Cell(usize),
    /// The elements of an array.
    Elements(Pointer, i64),
}

/// The links to nodes that stay, by sum and old link.
type Moves = HashMap<(SumId, i64), i64>;

impl<'p> Machine<'p> {
    /// Notes the number of nodes before a loop.
    pub(super) fn mark_nodes(&mut self, sum: SumId, first: Variable, limit: Variable) -> Step<()> {
        let count = self.node_count(sum)?;
        self.set(first, number(count))?;
        self.set(limit, number(count + FIRST_LIMIT))
    }

    /// Reclaims nodes from `first` on of each sum, if one of their tables has reached its limit.
    pub(super) fn reclaim_nodes(
        &mut self,
        sums: &[SumId],
        first: &'p [Expression],
        limits: &[Variable],
        (links, targets): (&[Variable], &[SumId]),
    ) -> Step<()> {
        let mut young = BTreeMap::new();
        let mut is_due = false;
        for ((sum, first), limit) in sums.iter().zip(first).zip(limits) {
            let first = self.evaluate(first)?.index()?;
            is_due |= self.node_count(*sum)? >= self.get(*limit)?.index()?;
            young.insert(*sum, first);
        }
        if !is_due {
            return Ok(());
        }
        let mut left = Vec::new();
        for (link, target) in links.iter().zip(targets) {
            left.push((*target, self.get(*link)?.index()?));
        }
        let moves = self.moves(&young, left)?;
        self.move_nodes(&young, &moves)?;
        for (link, target) in links.iter().zip(targets) {
            let old = self.get(*link)?.index()?;
            self.set(*link, number(moved(&moves, *target, old)))?;
        }
        for (sum, limit) in sums.iter().zip(limits) {
            let first = young.get(sum).copied().unwrap_or(0);
            let live = self.node_count(*sum)? - first;
            self.set(*limit, number(first + 2 * live + FIRST_LIMIT))?;
        }
        Ok(())
    }

    fn node_count(&self, sum: SumId) -> Step<i64> {
        match self.tables.get(sum.index()) {
            Some(table) => Ok(table.len() as i64),
            None => wrong("there is no such sum"),
        }
    }

    /// Returns the new links of the nodes that links reach, among those from the first of each sum on.
    fn moves(&self, young: &BTreeMap<SumId, i64>, mut left: Vec<(SumId, i64)>) -> Step<Moves> {
        let mut live: HashSet<(SumId, i64)> = HashSet::new();
        while let Some((sum, link)) = left.pop() {
            let is_young = young.get(&sum).is_some_and(|first| link >= *first);
            if !is_young || link >= self.node_count(sum)? || !live.insert((sum, link)) {
                continue;
            }
            let node = self.node(sum, link)?;
            for (target, place) in self.links_of(sum, node)? {
                match place {
                    Place::Cell(cell) => left.push((target, payload_link(node, cell)?)),
                    Place::Elements(pointer, count) => {
                        for element in self.heap.read(pointer, count)? {
                            left.push((target, Cell::Scalar(element).index()?));
                        }
                    }
                }
            }
        }
        let mut moves = Moves::new();
        for (sum, first) in young {
            let mut next = *first;
            for link in *first..self.node_count(*sum)? {
                if live.contains(&(*sum, link)) {
                    moves.insert((*sum, link), next);
                    next += 1;
                }
            }
        }
        Ok(moves)
    }

    /// Moves the nodes that stay, changes the links in them, and drops the others.
    fn move_nodes(&mut self, young: &BTreeMap<SumId, i64>, moves: &Moves) -> Step<()> {
        let mut changed = HashSet::new();
        for (sum, first) in young {
            let Some(table) = self.tables.get_mut(sum.index()) else {
                return wrong("there is no such sum");
            };
            let nodes: Vec<Option<Node>> = table.drain(*first as usize..).collect();
            for (link, node) in (*first..).zip(nodes) {
                let Some(node) = node else {
                    return wrong("a place that is reserved is reclaimed");
                };
                if moves.contains_key(&(*sum, link)) {
                    let node = self.with_moved_links(*sum, node, moves, &mut changed)?;
                    self.add_node(*sum, node)?;
                    continue;
                }
                for cell in node.payload {
                    if let Cell::Block(Some(block)) = cell {
                        self.heap.release(block)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Changes the links of a node. Several nodes may hold one array: `changed` has the elements that are
    /// changed already.
    fn with_moved_links(
        &mut self,
        sum: SumId,
        mut node: Node,
        moves: &Moves,
        changed: &mut HashSet<(i64, i64)>,
    ) -> Step<Node> {
        for (target, place) in self.links_of(sum, &node)? {
            match place {
                Place::Cell(cell) => {
                    let link = moved(moves, target, payload_link(&node, cell)?);
                    if let Some(cell) = node.payload.get_mut(cell) {
                        *cell = number(link);
                    }
                }
                Place::Elements(pointer, count) => {
                    let block = pointer.block.map_or(-1, |block| block.code());
                    for (k, old) in (0..).zip(self.heap.read(pointer, count)?) {
                        let old = Cell::Scalar(old).index()?;
                        let new = moved(moves, target, old);
                        if changed.insert((block, pointer.index + k)) && new != old {
                            self.heap.store(pointer, k, ScalarValue::I64(new))?;
                        }
                    }
                }
            }
        }
        Ok(node)
    }

    /// Returns the places of links in a node, with the sums to which they lead.
    fn links_of(&self, sum: SumId, node: &Node) -> Step<Vec<(SumId, Place)>> {
        let ty = self.payload_type(sum, node.constructor)?;
        let (mut places, mut extents, mut cell) = (Vec::new(), Vec::new(), 0);
        for component in components(ty, &self.program.sums) {
            let is_array = !component.shape.is_empty();
            let Some(value) = node.payload.get(cell).copied() else {
                return wrong("a node with too few components");
            };
            if let Some(target) = component.link {
                let place = match is_array {
                    false => Place::Cell(cell),
                    true => {
                        let extents = component.shape.iter().map(|k| extents.get(*k));
                        let extents = extents.map(|n| n.copied().unwrap_or(0));
                        let count = extents.fold(1, i64::wrapping_mul);
                        Place::Elements(value.pointer()?, count)
                    }
                };
                places.push((target, place));
            }
            extents.push(match value {
                Cell::Scalar(ScalarValue::I64(number)) => number,
                _others => 0,
            });
            cell += if is_array { 2 } else { 1 };
        }
        Ok(places)
    }
}

fn number(value: i64) -> Cell {
    Cell::Scalar(ScalarValue::I64(value))
}

/// Returns the link in a cell of a payload.
fn payload_link(node: &Node, cell: usize) -> Step<i64> {
    match node.payload.get(cell) {
        Some(cell) => cell.index(),
        None => wrong("a node with too few components"),
    }
}

/// Returns where a link leads after the nodes have moved.
fn moved(moves: &Moves, target: SumId, link: i64) -> i64 {
    moves.get(&(target, link)).copied().unwrap_or(link)
}
