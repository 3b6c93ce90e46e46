//! Parallelism strategies. A program can prescribe the threads that run the indices of a map or a
//! reduction, and the memory in which its result lies (language §7, dpia.txt §6.2). Strategies do not
//! change the values of a program. They bind the compiler from Core to the generated code.

pub use nova_syntax::ast::LANES;

/// The threads that run the indices (dpia.txt §6.2, "Parallelism Hierarchy").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// One work-item, in order.
    Sequential,
    /// All work-items, whatever their group.
    Global,
    /// Work-groups, one for each index.
    Workgroup,
    /// The work-items of one work-group.
    Local,
}

/// The memory in which a result lies (dpia.txt §6.2, "Address Spaces").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// Visible to all work-items.
    Global,
    /// Shared by the work-items of one group.
    Local,
    /// Private to one work-item.
    Private,
}

/// The strategy of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Strategy {
    /// The threads that run its indices.
    pub level: Level,
    /// The memory of its result, or `None` to let the compiler choose.
    pub space: Option<Space>,
}

/// Every level with its word in names: `map_WORD`.
pub const LEVELS: [(Level, &str); 4] = [
    (Level::Sequential, "seq"),
    (Level::Global, "global"),
    (Level::Workgroup, "workgroup"),
    (Level::Local, "local"),
];

/// Every space with its word in names: `to_WORD`.
pub const SPACES: [(Space, &str); 3] = [
    (Space::Global, "global"),
    (Space::Local, "local"),
    (Space::Private, "private"),
];

impl Level {
    /// Returns its word in [`LEVELS`].
    pub fn word(self) -> &'static str {
        let row = LEVELS.iter().find(|(level, _)| *level == self);
        row.map_or("", |(_, word)| word)
    }

    /// Returns the level with this word.
    pub fn by_word(word: &str) -> Option<Level> {
        let row = LEVELS.iter().find(|(_, known)| *known == word);
        row.map(|(level, _)| *level)
    }
}

impl Space {
    /// Returns its word in [`SPACES`].
    pub fn word(self) -> &'static str {
        let row = SPACES.iter().find(|(space, _)| *space == self);
        row.map_or("", |(_, word)| word)
    }

    /// Returns the space with this word.
    pub fn by_word(word: &str) -> Option<Space> {
        let row = SPACES.iter().find(|(_, known)| *known == word);
        row.map(|(space, _)| *space)
    }
}

impl Strategy {
    /// Returns a strategy without a space.
    pub const fn of(level: Level) -> Strategy {
        Strategy { level, space: None }
    }
}
