//! The language server, asked by a scripted client.

mod actions;
mod client;
mod completion;
mod diagnostics;
mod hover;
mod places;
mod random;
mod rename;
mod session;
mod transcript;
