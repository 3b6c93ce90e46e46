//! The functions that may call themselves: Tarjan's algorithm on the call graph, without recursion.

use super::{Result, Verifier};
use crate::ir::{Expression, Program};
use crate::visit::each_statement;

/// Returns the functions that may call themselves, directly or indirectly, other than by tail calls to
/// themselves.
pub fn recursive_functions(program: &Program) -> Vec<bool> {
    let count = program.functions.len();
    let mut callees: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut recursive = vec![false; count];
    for (caller, function) in program.functions.iter().enumerate() {
        each_statement(&function.body, &mut |statement| {
            if let Expression::Call { function, tail, .. } = &statement.expression {
                let callee = function.index();
                match callee == caller {
                    true => recursive[caller] |= !tail,
                    false if callee < count => callees[caller].push(callee),
                    false => {}
                }
            }
        });
    }
    let mut search = Search {
        callees: &callees,
        number: vec![None; count],
        lowest: vec![0; count],
        waiting: Vec::new(),
        waits: vec![false; count],
        recursive,
        found: 0,
    };
    for function in 0..count {
        if search.number[function].is_none() {
            search.from(function);
        }
    }
    search.recursive
}

struct Search<'a> {
    callees: &'a [Vec<usize>],
    number: Vec<Option<usize>>,
    lowest: Vec<usize>,
    /// The functions whose component is not complete.
    waiting: Vec<usize>,
    waits: Vec<bool>,
    recursive: Vec<bool>,
    found: usize,
}

impl Search<'_> {
    fn enter(&mut self, function: usize) {
        self.number[function] = Some(self.found);
        self.lowest[function] = self.found;
        self.found += 1;
        self.waiting.push(function);
        self.waits[function] = true;
    }

    fn from(&mut self, root: usize) {
        self.enter(root);
        // The path of functions being searched, each with the number of its callees that are done.
        let mut path = vec![(root, 0)];
        while let Some((function, next)) = path.last_mut() {
            let function = *function;
            if let Some(&callee) = self.callees[function].get(*next) {
                *next += 1;
                match self.number[callee] {
                    None => {
                        self.enter(callee);
                        path.push((callee, 0));
                    }
                    Some(number) if self.waits[callee] => {
                        self.lowest[function] = self.lowest[function].min(number);
                    }
                    Some(_) => {}
                }
                continue;
            }
            path.pop();
            if let Some((caller, _)) = path.last() {
                self.lowest[*caller] = self.lowest[*caller].min(self.lowest[function]);
            }
            if self.number[function] == Some(self.lowest[function]) {
                self.complete(function);
            }
        }
    }

    /// Removes the component that ends with `first` from the waiting functions.
    fn complete(&mut self, first: usize) {
        let start = self.waiting.iter().rposition(|f| *f == first).unwrap_or(0);
        let component = self.waiting.split_off(start);
        for function in &component {
            self.waits[*function] = false;
            self.recursive[*function] |= component.len() > 1;
        }
    }
}

impl Verifier<'_> {
    /// Checks that functions that may call themselves are marked.
    pub(super) fn check_recursion(&self) -> Result<()> {
        let recursive = recursive_functions(self.program);
        for (function, recursive) in self.program.functions.iter().zip(recursive) {
            self.require(function.recursive || !recursive, || {
                format!(
                    "function {} calls itself and is not marked recursive",
                    function.name
                )
            })?;
        }
        Ok(())
    }
}
