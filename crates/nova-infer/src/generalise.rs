//! Generalisation by levels, and the defaults of variables that stay open.

use crate::solver::Solver;
use crate::types::{Ty, TypeVariable, Unbound, VariableValue};
use std::sync::Arc;

impl Solver<'_> {
    /// Ends the binding begun by [`enter`](crate::types::Types::enter). Settles the obligations that
    /// wait for its variables, and quantifies those that only it can determine.
    pub fn generalise(&mut self, roots: &[Ty]) -> Arc<[TypeVariable]> {
        let level = self.types.level;
        self.settle(level);
        let quantified: Arc<[TypeVariable]> = self
            .types
            .unbound_in(roots)
            .into_iter()
            .filter(|(_, unbound)| unbound.level >= level)
            .map(|(variable, _)| variable)
            .collect();
        for &variable in quantified.iter() {
            self.types.quantify(variable);
        }
        self.close_pool(level);
        self.types.level -= 1;
        quantified
    }

    /// Gives the variables of a level that nothing can determine any more their defaults, and moves
    /// the variables of outer bindings to their pool.
    fn close_pool(&mut self, level: u32) {
        let pool = std::mem::take(&mut self.types.pools[level as usize]);
        for variable in pool {
            let VariableValue::Unbound(unbound) = self.types.table.probe_value(variable) else {
                continue;
            };
            let root = self.types.table.find(variable);
            if self.types.is_generic(root) {
                continue;
            }
            let outer = unbound.level.min(level - 1);
            if unbound.level >= level && !self.take_default(root, unbound) {
                let lowered = VariableValue::Unbound(Unbound {
                    level: outer,
                    waiting: None,
                    ..unbound
                });
                self.types.table.union_value(root, lowered);
                self.types.pools[outer as usize].push(root);
            } else if unbound.level < level {
                self.types.pools[outer as usize].push(root);
            }
        }
    }

    fn take_default(&mut self, variable: TypeVariable, unbound: Unbound) -> bool {
        let Some(default) = unbound.constraint.default_scalar() else {
            return false;
        };
        let ty = self.types.scalar(default);
        self.types
            .table
            .union_value(variable, VariableValue::Bound(ty));
        true
    }

    /// Settles every obligation that waits for a variable of `level`.
    fn settle(&mut self, level: u32) {
        loop {
            self.lower_waiting(level);
            let mut forced = false;
            let mut next = 0;
            while let Some(&variable) = self.types.pools[level as usize].get(next) {
                next += 1;
                if let VariableValue::Unbound(unbound) = self.types.table.probe_value(variable)
                    && unbound.level >= level
                {
                    for obligation in self.types.waiting(unbound) {
                        forced |= self.force(obligation);
                    }
                }
            }
            if !forced {
                return;
            }
        }
    }

    /// Lowers the types that an obligation determines to the level of the variables that it waits
    /// for.
    fn lower_waiting(&mut self, level: u32) {
        loop {
            let before = self.types.lowered;
            let mut next = 0;
            while let Some(&variable) = self.types.pools[level as usize].get(next) {
                next += 1;
                if let VariableValue::Unbound(unbound) = self.types.table.probe_value(variable)
                    && unbound.level < level
                {
                    for obligation in self.types.waiting(unbound) {
                        self.lower_obligation(obligation, unbound.level);
                    }
                }
            }
            if self.types.lowered == before {
                return;
            }
        }
    }

    /// Ends an inference. Settles and defaults everything that is left.
    pub fn finish_level(&mut self) {
        let level = self.types.level;
        self.settle(level);
        let pool = std::mem::take(&mut self.types.pools[level as usize]);
        for variable in pool {
            let VariableValue::Unbound(unbound) = self.types.table.probe_value(variable) else {
                continue;
            };
            let root = self.types.table.find(variable);
            if !self.types.is_generic(root) && !self.take_default(root, unbound) {
                self.undetermined.push(root);
            }
        }
    }
}
