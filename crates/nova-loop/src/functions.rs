//! Walks over the functions of a program.

use crate::ir::{Function, Program};

/// Calls `rewrite` for each function, with the program without its functions.
pub fn each_function(program: &mut Program, mut rewrite: impl FnMut(&mut Program, &mut Function)) {
    let mut functions = std::mem::take(&mut program.functions);
    for function in &mut functions {
        rewrite(program, function);
    }
    program.functions = functions;
}
