//! The types of built-ins on blocks. An integer as index makes them built-ins of vectors, or of the
//! rows of a `vector#n`. A tuple of integers makes them built-ins of a `vector#n`.

use crate::obligations::{Demand, Obligation, Outcome};
use crate::reasons::Because;
use crate::solver::Solver;
use crate::source::{Source, spine};
use crate::types::{Constraint, Shallow, Ty, TyNode};
use nova_core::builtin::Class;
use nova_syntax::ast::ExpressionId;

/// The rank that an index implies.
enum Rank {
    Unknown,
    /// One integer.
    Single,
    /// A tuple of this many integers.
    Tuple(u32),
}

impl Solver<'_> {
    /// Solves the demand of a block: its indices, arrays, their elements and the result.
    pub fn solve_block(&mut self, obligation: &Obligation, force: bool) -> Outcome {
        let Demand::Block {
            of,
            head,
            indices,
            arrays,
            element,
            result,
        } = &obligation.demand
        else {
            return Outcome::Done;
        };
        let mut rank = Rank::Unknown;
        for index in indices {
            if let Rank::Unknown = rank {
                rank = self.rank_of_index(*index);
            }
        }
        let vectors = arrays.iter().any(|array| {
            let known = self.types.shallow(*array);
            matches!(known, Shallow::Node(TyNode::Vector(_)))
        });
        if let Rank::Unknown = rank
            && !vectors
            && !force
        {
            return Outcome::Wait([&indices[..], arrays].concat());
        }
        let span = self.source.span(obligation.at);
        let integer = Constraint::class(Class::Integer, true);
        for (index, k) in indices.iter().zip(of.indices) {
            let expected = match rank {
                Rank::Tuple(count) => {
                    let all = (0..count).map(|_| self.types.fresh(integer, span));
                    let all = all.collect();
                    self.types.tuple(all)
                }
                Rank::Single | Rank::Unknown => self.types.fresh(integer, span),
            };
            if !self.agree_argument(obligation.at, *head, *k, expected, *index) {
                return self.give_up(*result);
            }
        }
        let wanted = match rank {
            Rank::Tuple(count) => self.types.array(count, *element),
            Rank::Single | Rank::Unknown => self.types.vector(*element),
        };
        for (array, k) in arrays.iter().zip(of.arrays) {
            let agrees = match rank {
                Rank::Tuple(_) => self.agree_argument(obligation.at, *head, *k, wanted, *array),
                Rank::Single | Rank::Unknown => {
                    self.agree_rows(obligation.at, *head, *k, *element, *array)
                }
            };
            if !agrees {
                return self.give_up(*result);
            }
        }
        let _ = self.types.unify(wanted, *result);
        Outcome::Done
    }

    fn rank_of_index(&mut self, index: Ty) -> Rank {
        match self.types.shallow(index) {
            Shallow::Node(TyNode::Tuple(elements)) => Rank::Tuple(elements.len() as u32),
            Shallow::Node(_) => Rank::Single,
            Shallow::Unbound(_, unbound) if unbound.constraint.scalars.is_some() => Rank::Single,
            Shallow::Unbound(..) => Rank::Unknown,
        }
    }

    /// Unifies the type that argument `k` must have with the type it has. Returns true if they
    /// agree.
    fn agree_argument(
        &mut self,
        id: ExpressionId,
        head: ExpressionId,
        k: usize,
        expected: Ty,
        found: Ty,
    ) -> bool {
        let Err(conflict) = self.types.unify(expected, found) else {
            return true;
        };
        let (at, because) = argument_of(self.source, id, head, k);
        self.mismatch(expected, found, at, &because, conflict);
        false
    }

    /// Demands that argument `k` is a vector of these elements, or a `vector#n` whose rows they
    /// are. Returns true if it is.
    fn agree_rows(
        &mut self,
        id: ExpressionId,
        head: ExpressionId,
        k: usize,
        element: Ty,
        collection: Ty,
    ) -> bool {
        let (at, because) = argument_of(self.source, id, head, k);
        let before = self.diagnostics.len();
        let demand = Demand::Rows {
            collection,
            element,
        };
        self.demand(demand, at, because);
        self.diagnostics.len() == before
    }

    /// Gives the result the error type, which causes no further messages.
    fn give_up(&mut self, result: Ty) -> Outcome {
        let error = self.types.error();
        let _ = self.types.unify(error, result);
        Outcome::Done
    }
}

/// Returns the expression that is argument `k` of an application, and the reason for its type.
/// The function stands for a missing argument.
fn argument_of(
    source: Source,
    id: ExpressionId,
    head: ExpressionId,
    k: usize,
) -> (ExpressionId, Because) {
    let (_, arguments) = spine(source.program, source.resolved, id);
    let because = Because::Argument {
        function: head,
        position: k + 1,
    };
    (arguments.get(k).copied().unwrap_or(head), because)
}
