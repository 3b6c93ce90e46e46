//! Loop: imperative commands, the translation from Mem, verifier and interpreter.
