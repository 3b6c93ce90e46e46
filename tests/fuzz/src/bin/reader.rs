//! Reader, parser and formatter under libFuzzer.

#![no_main]

nova_fuzz::target!(nova_fuzz::read);
