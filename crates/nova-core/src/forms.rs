//! What the texts of all intermediate representations share: variables as `name_7`, constants,
//! types of Core, and the sections of a program. [`read`] is for their parsers, [`write`] for
//! their printers.

pub mod read;
pub mod write;
