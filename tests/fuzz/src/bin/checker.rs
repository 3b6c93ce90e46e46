//! The whole front end under libFuzzer.

#![no_main]

nova_fuzz::target!(nova_fuzz::check);
