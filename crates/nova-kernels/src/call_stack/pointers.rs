//! Pointers and handles that several basic blocks use. A frame holds numbers only, so such a
//! pointer must lead to memory that can be found after a call. There are three kinds: an array that
//! all calls of the group share, an array of a node, or an array that the function itself makes,
//! which then lies on a stack of arrays. The distance of the pointer from the start of that memory
//! is a number.

use super::basic_blocks::BasicBlock;
use super::live::Set;
use crate::addresses::root;
use nova_core::Scalar;
use nova_diag::deep;
use nova_loop::ir::{Command, Expression, Program, Type, Variable};
use nova_loop::walk::{each_command, writes};
use std::collections::{BTreeMap, BTreeSet};

/// The memory that a pointer leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Root {
    /// An array that all calls of the group share.
    Fixed(Variable),
    /// The stack of arrays of this element.
    Stack(Scalar),
    /// The array of a node that this pointer has been assigned.
    Node(Variable),
}

/// A definition of a variable.
enum Definition<'p> {
    Value(&'p Expression),
    Made { element: Scalar, pointer: Variable },
    Node,
    Other,
}

/// The pointers that several basic blocks use.
#[derive(Default)]
pub(super) struct Pointers {
    /// The memory that they lead to, and that of the pointers that they are computed from.
    pub(super) roots: BTreeMap<Variable, Root>,
    /// The pointers to which an allocation is assigned.
    pub(super) made: Set,
    /// The handles whose references are not counted.
    pub(super) handles: Set,
}

/// Analyses those of the `crossing` variables that are pointers or handles. Returns `None` if one
/// of them cannot be recomputed. `fixed` are the pointers that all calls share.
pub(super) fn find(
    program: &Program,
    basic_blocks: &[BasicBlock],
    crossing: &Set,
    fixed: &Set,
) -> Option<Pointers> {
    let mut definitions: BTreeMap<Variable, Vec<Definition>> = BTreeMap::new();
    for basic_block in basic_blocks {
        each_command(&basic_block.commands, |command| {
            define(command, &mut definitions)
        });
        for result in basic_block.results.iter().flat_map(|(_, results)| results) {
            let known = definitions.entry(*result).or_default();
            known.push(Definition::Other);
        }
    }
    let mut search = Search {
        definitions: &definitions,
        fixed,
        found: Pointers::default(),
    };
    let is = |v: &Variable, wanted: fn(Type) -> bool| wanted(program.variable(*v).ty);
    for pointer in crossing {
        if is(pointer, |ty| matches!(ty, Type::Pointer(_))) {
            search.root(*pointer, &mut Set::new())??;
        }
    }
    let mut found = search.found;
    let blocks = crossing.iter().copied();
    let mut handles: Set = blocks.filter(|v| is(v, |ty| ty == Type::Block)).collect();
    handles.extend(blocks_of(basic_blocks, &found.made));
    let uncounted = |v: &Variable| {
        let known = definitions.get(v);
        known.is_none_or(|all| all.iter().all(|d| is_uncounted(d, &handles, &found.made)))
    };
    if !handles.iter().all(uncounted) {
        return None;
    }
    found.handles = handles;
    Some(found)
}

/// Returns the handles of arrays that are made for these pointers.
fn blocks_of(basic_blocks: &[BasicBlock], made: &Set) -> Set {
    let mut found = Set::new();
    for basic_block in basic_blocks {
        each_command(&basic_block.commands, |command| {
            if let Command::Allocate { block, pointer, .. } = command
                && made.contains(pointer)
            {
                found.insert(*block);
            }
        });
    }
    found
}

/// True if a handle with this definition needs no count: its array lies on a stack, or is borrowed.
fn is_uncounted(definition: &Definition, handles: &Set, made: &Set) -> bool {
    match definition {
        Definition::Value(Expression::NullBlock) | Definition::Node => true,
        Definition::Value(Expression::Variable(other)) => handles.contains(other),
        Definition::Made { pointer, .. } => made.contains(pointer),
        Definition::Value(_) | Definition::Other => false,
    }
}

fn define<'p>(command: &'p Command, into: &mut BTreeMap<Variable, Vec<Definition<'p>>>) {
    let mut add = |v: Variable, definition| into.entry(v).or_default().push(definition);
    match command {
        Command::Declare { value: None, .. }
        | Command::Store { .. }
        | Command::Retain(_)
        | Command::Release(_)
        | Command::Prefetch { .. }
        | Command::OnHost { .. }
        | Command::StoreBuffer { .. } => {}
        Command::Declare {
            variable,
            value: Some(value),
        }
        | Command::Assign { variable, value } => add(*variable, Definition::Value(value)),
        Command::Allocate {
            block,
            pointer,
            element,
            ..
        } => {
            for variable in [*block, *pointer] {
                let (element, pointer) = (*element, *pointer);
                add(variable, Definition::Made { element, pointer });
            }
        }
        Command::NodePayload { results, .. } => {
            for result in results {
                add(*result, Definition::Node);
            }
        }
        others => writes(others, &mut |v| add(v, Definition::Other)),
    }
}

struct Search<'a> {
    definitions: &'a BTreeMap<Variable, Vec<Definition<'a>>>,
    fixed: &'a BTreeSet<Variable>,
    found: Pointers,
}

impl Search<'_> {
    /// Returns the memory that a pointer leads to: `Some(None)` if it is not yet known on a cycle,
    /// and `None` if it cannot be known.
    fn root(&mut self, pointer: Variable, on_way: &mut Set) -> Option<Option<Root>> {
        if self.fixed.contains(&pointer) {
            return Some(Some(Root::Fixed(pointer)));
        }
        if let Some(root) = self.found.roots.get(&pointer) {
            return Some(Some(*root));
        }
        if !on_way.insert(pointer) {
            return Some(None);
        }
        let definitions = self.definitions;
        let all = definitions.get(&pointer)?;
        let mut root = None;
        for definition in all {
            let own = match definition {
                Definition::Value(value) => deep(|| self.root_of(value, on_way))?,
                Definition::Made { element, .. } => {
                    self.found.made.insert(pointer);
                    Some(Root::Stack(*element))
                }
                Definition::Node if all.len() == 1 => Some(Root::Node(pointer)),
                Definition::Node | Definition::Other => return None,
            };
            if let Some(own) = own {
                if root.is_some_and(|root| root != own) {
                    return None;
                }
                root = Some(own);
            }
        }
        if let Some(root) = root {
            self.found.roots.insert(pointer, root);
        }
        Some(root)
    }

    fn root_of(&mut self, address: &Expression, on_way: &mut Set) -> Option<Option<Root>> {
        self.root(root(address)?, on_way)
    }
}
