//! Facts about a function to which code that traces races is added.

use crate::context::assignments::for_each_assignment;
use nova_diag::{Place, deep};
use nova_loop::ir::{self, Command, Level, Variable};
use std::collections::{BTreeMap, BTreeSet};

/// Facts about a function to which code that traces is added.
#[derive(Default)]
pub struct Tracing {
    /// The variables that are assigned in a parallel loop that does not declare them.
    pub(crate) shared: BTreeSet<Variable>,
    /// The place of the innermost loop that has one.
    pub place: Option<Place>,
    /// The number of enclosing parallel loops within the function.
    pub(crate) parallel: usize,
}

impl Tracing {
    /// Collects the variables that the parallel loops of a function assign.
    pub fn new(function: &ir::Function) -> Tracing {
        let mut shared = BTreeSet::new();
        let own = function.parameters.iter().chain(&function.results);
        let mut depths = own.map(|v| (*v, 0)).collect();
        find_shared(&function.body, 0, &mut depths, &mut shared);
        Tracing {
            shared,
            place: known(&function.place),
            parallel: 0,
        }
    }

    /// Enters a loop. Returns the place of the enclosing loop.
    pub fn at(&mut self, place: &Place) -> Option<Place> {
        let enclosing = self.place.clone();
        self.place = known(place).or_else(|| enclosing.clone());
        enclosing
    }
}

/// Returns a place, unless it has no source file.
fn known(place: &Place) -> Option<Place> {
    (!place.file.is_empty()).then(|| place.clone())
}

/// Finds the variables that commands assign inside of more parallel loops than enclose their
/// declarations.
fn find_shared(
    commands: &[Command],
    depth: usize,
    depths: &mut BTreeMap<Variable, usize>,
    shared: &mut BTreeSet<Variable>,
) {
    for command in commands {
        if let Command::Declare { variable, .. } = command {
            depths.insert(*variable, depth);
        }
        for_each_assignment(command, &mut |variable, _| {
            if depths.get(&variable).is_some_and(|known| *known < depth) {
                shared.insert(variable);
            }
        });
        let inside = match command {
            Command::For { level, .. } if kind(*level).is_some() => depth + 1,
            _others => depth,
        };
        for list in command.lists() {
            deep(|| find_shared(list, inside, depths, shared));
        }
    }
}

/// Returns the runtime's name for parallel loops of a level; `None` if the level is not parallel.
pub(crate) fn kind(level: Level) -> Option<&'static str> {
    match level {
        Level::Grid | Level::Vector | Level::Independent | Level::Rank => Some("NOVA_RACE_LOOP"),
        Level::Block => Some("NOVA_RACE_GROUPS"),
        Level::Thread => Some("NOVA_RACE_THREADS"),
        Level::Sequential | Level::Unrolled => None,
    }
}
