//! The rules of destinations. Memory of a result is allocated in the body of the entry, once for each
//! component. An array in it becomes that component. Results that are fields of structures lie in such
//! memory.

use super::{Result, Verifier};
use nova_flat::ir::{Atom, Destination, Expression, Function, FunctionId, Statement};

impl<'a> Verifier<'a> {
    /// Checks the memory for results that a function allocates.
    pub(super) fn destinations(&mut self, id: FunctionId, function: &'a Function) -> Result<()> {
        let expected = self.expected.get(&id).cloned().unwrap_or_default();
        self.destinations.clear();
        let mut outside = 0usize;
        for statement in &function.body.statements {
            if let (Some(destination), [block]) = (destination_of(statement), &*statement.pattern) {
                outside += 1;
                let component = destination.component as usize;
                let known = expected.get(component).copied().flatten();
                self.require(known == Some(destination), || {
                    format!("{} is no memory of a result", self.show(*block))
                })?;
                let mut others = self.destinations.values();
                let twice = others.any(|other| other.component == destination.component);
                self.require(!twice, || format!("result {component} is allocated twice"))?;
                self.destinations.insert(*block, destination);
            }
        }
        let mut all = 0usize;
        nova_flat::visit::each_statement(&function.body, &mut |statement| {
            all += usize::from(destination_of(statement).is_some());
        });
        self.require(all == outside, || {
            "memory of a result is allocated inside of a statement".to_string()
        })?;
        for (k, result) in function.body.results.iter().enumerate() {
            let Atom::Variable(array) = result else {
                continue;
            };
            let memory = self.program.variable(*array).memory.as_ref();
            let lies = memory.and_then(|m| self.destinations.get(&m.block));
            let must = expected.get(k).copied().flatten();
            let must = must.filter(|destination| destination.stride > 1);
            let right = must.is_none_or(|must| lies == Some(&must))
                && lies.is_none_or(|lies| lies.component as usize == k);
            self.require(right, || {
                format!("result {k} does not lie in its memory for the caller")
            })?;
        }
        Ok(())
    }
}

/// Returns the destination that a statement allocates, if any.
fn destination_of(statement: &Statement) -> Option<Destination> {
    match &statement.expression {
        Expression::Allocate { destination, .. } => *destination,
        _ => None,
    }
}
