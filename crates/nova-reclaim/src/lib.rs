//! Passes from Loop to Loop on memory that a call frees before its end. [`nodes`] lets loops reclaim the nodes of
//! recursive data that they have made and no longer need.

pub mod nodes;
