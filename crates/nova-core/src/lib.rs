//! Core: the typed lambda calculus to which every program is translated (nova.txt §4.1).
//!
//! **Programs.** A Core program is a list of entries, each a closed function of its inputs, over one
//! arena of expressions. Every expression and every variable carries its [`Type`]. Types are concrete
//! (monomorphic): there are no type variables, and every instance of a polymorphic function is a
//! function of its own. Every binding has its own [`ir::Variable`], unique in the program. User types
//! are entries of [`ir::Program::sums`], one per instance (`List int`, `List float`). Type synonyms are
//! expanded. This program, as text, is a dot product:
//!
//! ```text
//! (program
//!   (entry "dot" [X_0:(vector f32) Y_1:(vector f32)]
//!     (reduce_comm
//!       (lambda [a_2:f32 b_3:f32] (add a_2 b_3))
//!       0.0f
//!       (map (lambda [x_4:f32 y_5:f32] (mul x_4 y_5)) X_0 Y_1 "dot.nova:1:21"))))
//! ```
//!
//! **Guarantees.**
//! - A built-in is always applied to all its arguments ([`ir::ExpressionKind::Builtin`]). An argument
//!   that is a function is a [`ir::ExpressionKind::Lambda`] with exactly as many parameters as the
//!   built-in passes. So `(map g X)` has become `(map (lambda (x) (g x)) X)`. If `g` was not a
//!   variable, a `let` before it binds `g`, so that it is evaluated once and in the right order.
//! - Vectors, tuples and sums hold no functions.
//! - A `letrec` binds lambdas only. A `case` has an arm or the default for each constructor.
//! - Children have smaller ids than their parents, and an expression is a child of at most one other:
//!   expressions are trees.
//! - Every place in the source that a run-time error can name is on its expression.
//!
//! **Semantics.** Evaluation is strict and left to right, call by value (nova.txt fig. 5).
//! [`interpret`] implements this semantics, and is the reference for every later stage. [`operations`]
//! defines the scalar operations, [`order`] the order of reductions under strict floating point, and
//! [`math`] the mathematical functions. The interpreters of all representations share them.
//!
//! **Strategies.** A program may prescribe the threads that run a map or reduction, and the memory of
//! its result ([`strategy`]). A strategy is a mark on the built-in and does not change its value. A
//! `vec#n` is a tuple of n equal scalars. Only `as_vector` and `as_scalar` show that it was one.
//!
//! **Text and checks.** [`mod@print`] and [`parse`] define the text, and [`forms`] its common part with
//! the later representations. [`typing`] has the typing rules. [`verify`] checks these and all
//! guarantees above. [`text`] reads and writes values.
//!
//! **Removed from the surface language:** annotations, overloading, variadic built-ins and patterns;
//! `and`/`or`, which are conditionals; definitions and imports, which are `let` and `letrec` within
//! each entry that uses them.
//!
//! **Where to start reading.** [`ir`] defines the data types, [`builtin`] the table of built-ins,
//! [`types`] and [`value`] the types and values.

pub mod builtin;
pub mod error;
pub mod forms;
mod groups;
pub mod interpret;
pub mod ir;
pub mod math;
pub mod nodes;
pub mod operations;
pub mod order;
pub mod parse;
pub mod print;
pub mod scalar;
pub mod strategy;
pub mod text;
pub mod types;
pub mod types_text;
pub mod typing;
pub mod value;
pub mod verify;

pub use builtin::{Builtin, ScalarOperation};
pub use error::{ErrorKind, RuntimeError};
pub use scalar::{Scalar, ScalarValue};
pub use strategy::Strategy;
pub use types::{Constructor, Member, SumId, SumType, Type};
/// The largest length of a vector and extent of an array. No memory holds more, and sums, multiples and
/// sizes in bytes of such lengths stay within 64 bits. A longer one is [`ErrorKind::Memory`], even if
/// it has no elements.
pub const LONGEST: i64 = 1 << 48;

pub use value::{Elements, Extents, Link, OutOfMemory, Value};
