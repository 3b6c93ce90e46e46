//! Tables of the nodes of recursive data: their conversion from and to the data.
//!
//! [`operations`] has both conversions. [`convert`] converts the payload of a node, [`check`] checks the
//! links, and [`nodes`] numbers, reserves and stores nodes. [`mod@shrink`] leaves out nodes to which no node
//! links. [`between`] treats recursive sums that stand
//! between the nodes, and [`numbering`] has the types by which their nodes are numbered. [`mod@expand`]
//! replaces the conversions of a program by these.

mod between;
mod check;
mod convert;
mod expand;
mod group;
mod nodes;
mod numbering;
mod operations;
mod shrink;

pub use expand::expand;
