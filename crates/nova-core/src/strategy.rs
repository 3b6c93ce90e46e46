//! Parallelism strategies: what a program says about who runs the indices of a map or a reduction,
//! and in which memory its result lies (language §7, dpia.txt §6.2). They do not change what a
//! program means; from Core to the generated code they bind the compiler.

pub use nova_syntax::ast::LANES;

/// Who runs the indices (dpia.txt §6.2, "Parallelism Hierarchy").
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
    /// Seen by all work-items.
    Global,
    /// Shared by the work-items of one group.
    Local,
    /// Of one work-item.
    Private,
}

/// What an operation was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Strategy {
    /// Who runs its indices.
    pub level: Level,
    /// Where its result lies; `None` leaves that to the compiler.
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
    /// Its word in [`LEVELS`].
    pub fn word(self) -> &'static str {
        let row = LEVELS.iter().find(|(level, _)| *level == self);
        row.map_or("", |(_, word)| word)
    }

    /// The level with this word.
    pub fn by_word(word: &str) -> Option<Level> {
        let row = LEVELS.iter().find(|(_, known)| *known == word);
        row.map(|(level, _)| *level)
    }
}

impl Space {
    /// Its word in [`SPACES`].
    pub fn word(self) -> &'static str {
        let row = SPACES.iter().find(|(space, _)| *space == self);
        row.map_or("", |(_, word)| word)
    }

    /// The space with this word.
    pub fn by_word(word: &str) -> Option<Space> {
        let row = SPACES.iter().find(|(_, known)| *known == word);
        row.map(|(space, _)| *space)
    }
}

impl Strategy {
    /// A strategy without a space.
    pub const fn of(level: Level) -> Strategy {
        Strategy { level, space: None }
    }
}
