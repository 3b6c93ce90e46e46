//! Attempts to meet the demands of obligations: at once, when a type becomes known, and by force.

use crate::obligations::{Demand, Obligation, Outcome};
use crate::reasons::Because;
use crate::solver::Solver;
use crate::types::Shallow;
use nova_diag::deep;
use nova_syntax::ast::ExpressionId;

impl Solver<'_> {
    /// Adds a demand. It waits when it cannot be decided yet.
    pub fn demand(&mut self, demand: Demand, at: ExpressionId, because: Because) {
        let id = self.obligations.len() as u32;
        self.obligations.push(Obligation {
            demand,
            at,
            because,
            solved: false,
        });
        self.attempt(id, false);
        self.run_ready();
    }

    /// Tries the demands that have become decidable.
    pub fn run_ready(&mut self) {
        while let Some(id) = self.types.ready.pop() {
            self.attempt(id, false);
        }
    }

    /// Decides an obligation with the known facts. Returns true if it was open.
    pub fn force(&mut self, id: u32) -> bool {
        if self.obligations[id as usize].solved {
            return false;
        }
        self.attempt(id, true);
        self.obligations[id as usize].solved = true;
        self.run_ready();
        true
    }

    /// Lowers the levels of all types of an obligation that is still open.
    pub fn lower_obligation(&mut self, id: u32, level: u32) {
        let obligation = &self.obligations[id as usize];
        if obligation.solved {
            return;
        }
        for ty in obligation.demand.types() {
            // A link that escapes is reported when the obligation is solved.
            let _ = self.types.lower(ty, level, None);
        }
    }

    fn attempt(&mut self, id: u32, force: bool) {
        let obligation = self.obligations[id as usize].clone();
        if obligation.solved {
            return;
        }
        // Set first: solving can wake obligations that share its types.
        self.obligations[id as usize].solved = true;
        if let Outcome::Wait(types) = deep(|| self.solve(&obligation, force)) {
            self.obligations[id as usize].solved = false;
            for ty in types {
                if let Shallow::Unbound(variable, unbound) = self.types.shallow(ty) {
                    self.types.wait(variable, unbound, id);
                }
            }
        }
    }

    fn solve(&mut self, obligation: &Obligation, force: bool) -> Outcome {
        match obligation.demand.clone() {
            Demand::Rows {
                collection,
                element,
            } => self.solve_rows(obligation, collection, element, false, force),
            Demand::ArrayRows {
                collection,
                element,
            } => self.solve_rows(obligation, collection, element, true, force),
            Demand::Unrows { element, result } => {
                self.solve_unrows(obligation, element, result, force)
            }
            Demand::Elements {
                collection,
                element,
            } => self.solve_elements(obligation, (collection, false), element, force),
            Demand::Flatten {
                collection,
                element,
            } => self.solve_elements(obligation, (collection, true), element, force),
            Demand::Lanes { lanes, element } => self.solve_lanes(obligation, lanes, element, force),
            Demand::Shape { collection, result } => {
                self.solve_shape(obligation, collection, result, force)
            }
            Demand::Extents {
                extents,
                result,
                element,
            } => self.solve_extents(obligation, extents, result, element, force),
            Demand::Index {
                collection,
                index,
                element,
            } => self.solve_index(obligation, collection, index, element, force),
            Demand::Block { .. } => self.solve_block(obligation, force),
            Demand::Project {
                tuple,
                index,
                element,
            } => self.solve_project(obligation, tuple, index, element, force),
            Demand::MapArity { function, result } => {
                self.solve_map(obligation, function, result, force)
            }
            Demand::RangeArity { ty } => self.solve_range(obligation, ty, force),
            Demand::Nodes { form, datum } => {
                self.recursive().solve_nodes(obligation, form, datum, force)
            }
            Demand::Made {
                form,
                bodies,
                links,
                result,
            } => self
                .recursive()
                .solve_made(obligation, form, (&bodies, &links), result, force),
            Demand::LinkFunction {
                form,
                function,
                argument,
                result,
            } => self.recursive().solve_link_function(
                obligation,
                (form, function),
                argument,
                result,
                force,
            ),
            Demand::Down { datum, node } => {
                self.recursive().solve_down(obligation, datum, node, force)
            }
            Demand::Table { datum, tables } => self
                .recursive()
                .solve_table(obligation, datum, tables, force),
        }
    }
}
