//! Core: the typed lambda calculus every program becomes (nova.txt §4.1).
//!
//! **What a Core program is.** A list of entries, each a closed function of its inputs, over one
//! arena of expressions. Every expression and every variable carries its [`Type`]; types are
//! concrete (monomorphic): no type variable is left, every instance of a polymorphic function
//! stands on its own. Every binding has a [`ir::Variable`] of its own, unique in the program. User
//! types are entries of [`ir::Program::sums`], one per instance (`List int`, `List float`),
//! synonyms are expanded.
//!
//! **What it guarantees.**
//! - A built-in stands only applied to all its arguments ([`ir::ExpressionKind::Builtin`]), and an
//!   argument that is a function is a [`ir::ExpressionKind::Lambda`] with exactly as many
//!   parameters as the built-in passes. `(map g X)` has become `(map (lambda (x) (g x)) X)`, with
//!   `g` bound by a `let` before it when it was not a variable, so that it is evaluated once and in
//!   its place.
//! - Vectors, tuples and sums hold no functions.
//! - A `letrec` binds lambdas only. A `case` has an arm or the default for each constructor.
//! - Children have smaller ids than their parents, and an expression is part of at most one other:
//!   expressions are trees.
//! - Every place in the source that a run-time error can name is on its expression.
//!
//! **What it means.** Evaluation is strict and left to right, call by value (nova.txt fig. 5);
//! [`interpret`] is that semantics, and the reference for every later stage. [`operations`] says
//! what the scalar operations mean, [`order`] the order of reductions under strict floating point,
//! [`math`] its functions; the interpreters of all representations share them.
//!
//! **Strategies.** What a program says about who runs a map or reduction and where its result lies
//! ([`strategy`]) is a mark on the built-in and changes nothing of what it means. A `vec#n` is a tuple
//! of n equal scalars; that it was one is known from `as_vector` and `as_scalar`.
//!
//! **How it is written.** [`mod@print`] and [`parse`] are its text, [`forms`] what that shares with
//! the later representations, [`typing`] its rules, [`verify`] checks those and all of the above;
//! [`text`] reads and writes values.
//!
//! **What it no longer contains.** Type inference's freedom: annotations, overloading, variadic
//! built-ins, patterns, `and`/`or` (they are conditionals), definitions and imports (they are
//! `let` and `letrec` within each entry that uses them).

pub mod builtin;
pub mod error;
pub mod forms;
mod groups;
pub mod interpret;
pub mod ir;
pub mod math;
pub mod operations;
pub mod order;
pub mod parse;
pub mod print;
pub mod scalar;
pub mod strategy;
pub mod text;
pub mod types;
pub mod typing;
pub mod value;
pub mod verify;

pub use builtin::{Builtin, ScalarOperation};
pub use error::{ErrorKind, RuntimeError};
pub use scalar::{Scalar, ScalarValue};
pub use strategy::Strategy;
pub use types::{Constructor, SumId, SumType, Type};
/// The most elements of a vector, and the largest extent of an array. No memory holds more, and what is
/// computed from lengths, sums, multiples and sizes in bytes, stays within 64 bits. What would be longer
/// is [`ErrorKind::Memory`], also where it would be empty.
pub const LONGEST: i64 = 1 << 48;

pub use value::{Elements, Link, OutOfMemory, Value};
