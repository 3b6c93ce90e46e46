//! The FFI boundary between C and the components of values (abi.md §2): the forms of the parameters and
//! results of entries and foreign functions, and the code that converts them.
//!
//! [`crate::context::ctype`] gives every type its C structure. [`input`] (with [`lifted`] for arrays of
//! structures, and with the checks of a [`source`]) turns C values into components, [`output`] turns
//! components into C values; [`data`] does both for recursive data. [`top`] spreads vectors over several parameters ([`nested`] for offsets).
//! [`structures`] reads and makes arrays of structures in place. [`release`] frees results. [`trace`]
//! writes values as text. [`entry`], [`callers`] (for arrays on a device) and [`foreign`] use all of
//! these; [`interface`] describes the C side of an entry.
//!
//! [`header`] and [`manifest`] tell hosts and bindings about the entries. [`exports`] lists the names
//! that a host sees, and finds clashes between them.

mod callers;
pub(crate) mod data;
pub(crate) mod entry;
pub mod exports;
pub(crate) mod foreign;
pub(crate) mod header;
mod input;
pub(crate) mod interface;
mod lifted;
pub(crate) mod manifest;
mod nested;
pub(crate) mod output;
pub(crate) mod parts;
mod release;
pub(crate) mod source;
mod structures;
pub(crate) mod symbols;
mod top;
pub(crate) mod trace;
mod walk;
