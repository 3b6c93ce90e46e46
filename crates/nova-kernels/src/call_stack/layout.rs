//! The variables of a function without recursion: those of its frames, and those by which pointers
//! are recomputed. Also the slot of each number in a frame.

use super::basic_blocks::End;
use super::pointers::Root;
use super::write::{Growing, Writer, var};
use nova_core::Scalar;
use nova_loop::ir::{Command, Expression, FunctionId, Type, Variable};
use nova_loop::walk::each_command;
use std::collections::{BTreeMap, BTreeSet};

impl Writer<'_> {
    pub(super) fn number(&mut self, name: &str) -> Variable {
        self.program.add_variable(name, Type::Scalar(Scalar::I64))
    }

    pub(super) fn growing(&mut self, name: &str, element: Scalar) -> Growing {
        Growing {
            block: self
                .program
                .add_variable(format!("{name}_block"), Type::Block),
            data: self.program.add_variable(name, Type::Pointer(element)),
        }
    }

    /// Adds the variables by which pointers are recomputed.
    pub(super) fn name_pointers(&mut self) {
        for (pointer, root) in self.group.pointers.roots.clone() {
            let name = self.program.variable(pointer).name.to_string();
            match root {
                Root::Node(node) if node == pointer => continue,
                Root::Fixed(_) | Root::Node(_) => {}
                Root::Stack(element) => {
                    if !self.stacks.contains_key(&element) {
                        let stack = self.growing("arrays", element);
                        let used = self.number("used");
                        self.stacks.insert(element, (stack, used));
                    }
                }
            }
            let distance = self.number(&format!("{name}_at"));
            self.distances.insert(pointer, distance);
        }
        let mut found = Vec::new();
        for basic_block in &self.group.basic_blocks {
            each_command(&basic_block.commands, |command| {
                if let Command::NodePayload { results, .. } = command {
                    for result in results {
                        if self.group.root(*result) == Some(Root::Node(*result)) {
                            found.push((*result, command.clone()));
                        }
                    }
                }
            });
        }
        for (pointer, command) in found {
            let link = self.number("link");
            self.nodes.insert(pointer, (command, link));
        }
    }

    /// Adds variables for the heights of the stacks of arrays before loops.
    pub(super) fn name_marks(&mut self) {
        let elements: Vec<Scalar> = self.stacks.keys().copied().collect();
        let mut loops = Vec::new();
        for (id, member) in &self.group.members {
            for (k, (_, _, inside)) in member.split_loops.iter().enumerate() {
                if self.group.ends_with_iterations(*id, inside) {
                    loops.push((*id, k));
                }
            }
        }
        for split_loop in loops {
            let marks = elements.iter().map(|e| (*e, self.number("used_before")));
            let marks = marks.collect();
            self.marks.insert(split_loop, marks);
        }
    }

    /// Adds the arrays for frames, and finds the widths of frames.
    pub(super) fn name_frames(&mut self) {
        self.widths.insert(Scalar::I32, 1);
        for (k, basic_block) in self.group.basic_blocks.iter().enumerate() {
            if let (End::Call(site), Some(owner)) = (&basic_block.end, self.group.owners[k]) {
                for (scalar, at) in self.slots(&self.saved(owner, site.next)) {
                    let width = self.widths.get(&scalar).copied().unwrap_or(0);
                    self.widths.insert(scalar, width.max(at + 1));
                }
            }
        }
        let scalars: Vec<Scalar> = self.widths.keys().copied().collect();
        for scalar in scalars {
            let frames = self.growing("frames", scalar);
            self.frames.insert(scalar, frames);
        }
    }

    /// Returns the numbers that a frame holds during a call, for the basic block `next` after it.
    pub(super) fn saved(&self, owner: FunctionId, next: usize) -> Vec<Variable> {
        let mut found = BTreeSet::new();
        for variable in &self.group.needed[next] {
            match self.group.root(*variable) {
                Some(root) => {
                    found.extend(self.distances.get(variable));
                    if let Root::Node(node) = root {
                        found.extend(self.nodes.get(&node).map(|(_, link)| *link));
                    }
                }
                None if self.group.shared.contains(variable) => {
                    found.insert(*variable);
                }
                None => {}
            }
        }
        found.extend(self.stacks.values().map(|(_, used)| *used));
        for ((of, _), marks) in &self.marks {
            if *of == owner {
                found.extend(marks.iter().map(|(_, mark)| *mark));
            }
        }
        found.into_iter().collect()
    }

    /// Returns the slots of these variables in a frame. The first `i32` is the basic block to
    /// continue with.
    pub(super) fn slots(&self, saved: &[Variable]) -> Vec<(Scalar, i64)> {
        let mut used = BTreeMap::from([(Scalar::I32, 1)]);
        let mut slots = Vec::new();
        for variable in saved {
            if let Type::Scalar(scalar) = self.program.variable(*variable).ty {
                let at = used.entry(scalar).or_insert(0);
                slots.push((scalar, *at));
                *at += 1;
            }
        }
        slots
    }

    /// Returns the array and the index of an element of the current frame.
    pub(super) fn element(&self, scalar: Scalar, at: i64) -> Option<(Variable, Expression)> {
        let width = Expression::index(*self.widths.get(&scalar)?);
        let index = var(self.depth).times(width).plus(Expression::index(at));
        Some((self.frames.get(&scalar)?.data, index))
    }
}
