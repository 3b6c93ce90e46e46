//! The common part of the texts of all intermediate representations: variables as `name_7`, constants,
//! types of Core, and the sections of a program. Parsers use [`read`], printers use [`mod@write`].

pub mod read;
pub mod write;
