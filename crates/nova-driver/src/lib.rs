//! The compiler as a library: it turns programs into files or callable functions.
//!
//! A program is a [`Source`]: a file, text, S-expressions as `lexpr::Value`, or what a
//! [`ProgramBuilder`] built. A [`Compiler`] checks it ([`Checked`]), and then evaluates it, prints
//! it at a stage, compiles it to files, or loads it:
//!
//! ```
//! use nova_driver::{Compiler, Options, Source, Typed};
//!
//! let text = "((X : vector float) (Y : vector float)) (reduce + 0 (map * X Y))";
//! let compiler = Compiler::new(Options::default());
//! let mut dot = compiler.check(Source::text("dot.nova", text))?;
//! let inputs = [vec![1.0f32, 2.0].into_value(), vec![3.0f32, 4.0].into_value()];
//! let value = compiler.eval(&dot, 0, &inputs)?;
//! assert_eq!(f32::from_value(&value), Some(11.0));
//! let files = compiler.compile(&mut dot)?.files;
//! assert!(files.header.contains("int dot("));
//! # Ok::<(), nova_driver::Failure>(())
//! ```
//!
//! The whole pipeline is one list of passes, [`pipeline::PASSES`]. Mistakes in a program are
//! diagnostics of a [`Report`]; mistakes of the compiler are an [`InternalError`], never a panic.

mod builder;
mod c_names;
pub mod code;
mod compiler;
pub mod dependencies;
pub mod documentation;
pub mod error;
mod explain;
mod fingerprint;
mod honoured;
pub mod library;
mod limits;
pub mod linked;
mod loading;
mod merge;
mod names;
mod numbers;
pub mod options;
pub mod parsed;
pub mod pipeline;
mod plans;
pub mod runtime_error;
pub mod source;
mod strategies;
pub mod test_lines;
mod trace;
mod typed;

pub use builder::{At, ProgramBuilder};
pub use compiler::{Analysed, Checked, Compiler, Signature, foreign_symbols, interfaces};
pub use error::{Failure, InternalError, Report};
pub use explain::{Schedule, side_by_side};
pub use loading::Loaded;
pub use nova_core::error::{ErrorKind, RuntimeError};
/// Values and types, as calls take and return them, and their texts.
pub use nova_core::{Elements, ScalarValue, SumType, Type, Value, text, types_text};
/// Sources, places and messages.
pub use nova_diag::{
    Code, Diagnostic, FileId, Label, Place, Position, Severity, SourceMap, Span, deep, render_json,
    render_text,
};
pub use nova_exec::library::{EntryInterface, Library, PreparedCall};
pub use nova_exec::{CallError, CompileError, InputError};
/// Plans and the table of choices.
pub use nova_plan as plan;
pub use nova_race::Unproved;
/// The syntax tree that [`ProgramBuilder`] builds.
pub use nova_syntax::ast as syntax;
pub use nova_syntax::ast::{ExpressionId, ForeignKind, Pattern, Suffix, TypeId};
pub use options::{Options, Proofs, Stage, Target};
pub use plans::PlanText;
pub use source::{Source, Texts};
pub use typed::{Typed, construct};
