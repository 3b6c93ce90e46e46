//! The solution of each demand: the known facts about its types, the conclusions, and the decision
//! when no more facts will come (`force`).

use crate::obligations::{Demand, Obligation, Outcome};
use crate::reasons::Because;
use crate::solver::Solver;
use crate::types::{Constraint, Shallow, Ty, TyNode};
use nova_core::builtin::Class;
use nova_diag::{Diagnostic, codes};

impl Solver<'_> {
    /// Unifies for an obligation.
    fn agree(&mut self, obligation: &Obligation, expected: Ty, found: Ty) -> Outcome {
        if let Err(conflict) = self.types.unify(expected, found) {
            self.mismatch(
                expected,
                found,
                obligation.at,
                &obligation.because,
                conflict,
            );
        }
        Outcome::Done
    }

    fn fresh_data(&mut self, obligation: &Obligation) -> Ty {
        let span = self.source.span(obligation.at);
        self.types.fresh(Constraint::DATA, span)
    }

    /// Solves the demand of rows: a vector or `vector#n`, and the type of the argument of a
    /// function of its elements.
    pub fn solve_rows(
        &mut self,
        obligation: &Obligation,
        collection: Ty,
        element: Ty,
        only_array: bool,
        force: bool,
    ) -> Outcome {
        let _ = self.types.require(element, Constraint::DATA);
        let wanted = match self.types.shallow(collection) {
            Shallow::Node(TyNode::Error) => return self.agree(obligation, collection, element),
            Shallow::Node(TyNode::Array(rank, inner)) => {
                let row = self.types.array(rank - 1, inner);
                return self.agree_in(obligation, collection, element, row);
            }
            Shallow::Node(TyNode::Vector(inner)) if !only_array => {
                return self.agree_in(obligation, collection, element, inner);
            }
            Shallow::Unbound(_, unbound) if unbound.constraint.scalars.is_none() && !force => {
                return Outcome::Wait(vec![collection]);
            }
            Shallow::Unbound(..) | Shallow::Node(_) if only_array => {
                let inner = self.fresh_data(obligation);
                let row = self.types.vector(inner);
                self.agree(obligation, element, row);
                self.types.array(2, inner)
            }
            Shallow::Unbound(..) | Shallow::Node(_) => self.types.vector(element),
        };
        self.agree(obligation, wanted, collection)
    }

    /// Unifies the element that a collection must have with the one it has. A message shows both
    /// collections.
    fn agree_in(
        &mut self,
        obligation: &Obligation,
        collection: Ty,
        expected: Ty,
        found: Ty,
    ) -> Outcome {
        if let Err(conflict) = self.types.unify(expected, found) {
            let expected = self.types.vector(expected);
            let Obligation { at, because, .. } = obligation;
            self.mismatch(expected, collection, *at, because, conflict);
        }
        Outcome::Done
    }

    /// Solves the demand between rows and the `vector#n` they form.
    pub fn solve_unrows(
        &mut self,
        obligation: &Obligation,
        element: Ty,
        result: Ty,
        force: bool,
    ) -> Outcome {
        let wanted = match self.types.shallow(element) {
            Shallow::Node(TyNode::Error) => return self.agree(obligation, result, element),
            Shallow::Node(TyNode::Array(rank, inner)) => self.types.array(rank + 1, inner),
            Shallow::Node(TyNode::Vector(inner)) => self.types.array(2, inner),
            Shallow::Unbound(_, unbound) if unbound.constraint.scalars.is_none() && !force => {
                return Outcome::Wait(vec![element]);
            }
            Shallow::Unbound(..) | Shallow::Node(_) => {
                let inner = self.fresh_data(obligation);
                let row = self.types.vector(inner);
                self.agree(obligation, row, element);
                self.types.array(2, inner)
            }
        };
        self.agree(obligation, wanted, result)
    }

    /// Solves the demand between a vector or `vector#n` and its innermost elements, or between a
    /// nested vector or `vector#n` and the elements of the flat one.
    pub fn solve_elements(
        &mut self,
        obligation: &Obligation,
        (collection, nested): (Ty, bool),
        element: Ty,
        force: bool,
    ) -> Outcome {
        match self.types.shallow(collection) {
            Shallow::Node(TyNode::Error) => self.agree(obligation, collection, element),
            Shallow::Node(TyNode::Array(_, inner)) => {
                self.agree_in(obligation, collection, element, inner)
            }
            Shallow::Node(TyNode::Vector(inner)) if !nested => {
                self.agree_in(obligation, collection, element, inner)
            }
            Shallow::Unbound(_, unbound) if unbound.constraint.scalars.is_none() && !force => {
                Outcome::Wait(vec![collection])
            }
            Shallow::Unbound(..) | Shallow::Node(_) => {
                let mut vector = self.types.vector(element);
                if nested {
                    vector = self.types.vector(vector);
                }
                self.agree(obligation, vector, collection)
            }
        }
    }

    /// Solves the demand between a `vec#n` and its elements.
    pub fn solve_lanes(
        &mut self,
        obligation: &Obligation,
        lanes: Ty,
        element: Ty,
        force: bool,
    ) -> Outcome {
        let found = match self.types.shallow(lanes) {
            Shallow::Node(TyNode::Error) => self.types.error(),
            Shallow::Node(TyNode::Lanes(_, found)) => found,
            Shallow::Unbound(_, unbound) if unbound.constraint.may_be_read() && !force => {
                return Outcome::Wait(vec![lanes]);
            }
            Shallow::Unbound(..) | Shallow::Node(_) => {
                self.no_lanes(obligation.at, lanes);
                // One report for each value.
                let error = self.types.error();
                self.agree(obligation, error, lanes);
                error
            }
        };
        self.agree(obligation, found, element)
    }

    /// Solves the demand between a `vector#n` and its extents.
    pub fn solve_shape(
        &mut self,
        obligation: &Obligation,
        collection: Ty,
        result: Ty,
        force: bool,
    ) -> Outcome {
        let int = self.types.scalar(nova_core::Scalar::I32);
        let extents = match self.types.shallow(collection) {
            Shallow::Node(TyNode::Error) => self.types.error(),
            Shallow::Node(TyNode::Array(rank, _)) => self.types.tuple(vec![int; rank as usize]),
            Shallow::Unbound(_, unbound) if unbound.constraint.scalars.is_none() && !force => {
                return Outcome::Wait(vec![collection]);
            }
            Shallow::Unbound(..) | Shallow::Node(_) => {
                let element = self.fresh_data(obligation);
                let vector = self.types.vector(element);
                self.agree(obligation, vector, collection);
                int
            }
        };
        self.agree(obligation, extents, result)
    }

    /// Solves the demand between extents and the `vector#n` that has them.
    pub fn solve_extents(
        &mut self,
        obligation: &Obligation,
        extents: Ty,
        result: Ty,
        element: Ty,
        force: bool,
    ) -> Outcome {
        let rank = match self.types.shallow(extents) {
            Shallow::Node(TyNode::Tuple(elements)) => {
                self.integers(obligation, &elements);
                elements.len() as u32
            }
            Shallow::Node(TyNode::Error) => {
                return self.agree(obligation, extents, result);
            }
            Shallow::Unbound(_, unbound) if unbound.constraint.scalars.is_none() && !force => {
                return Outcome::Wait(vec![extents]);
            }
            Shallow::Unbound(..) | Shallow::Node(_) => {
                self.integers(obligation, &[extents]);
                1
            }
        };
        let array = self.types.array(rank, element);
        self.agree(obligation, array, result)
    }

    /// Demands integers of any type.
    fn integers(&mut self, obligation: &Obligation, types: &[Ty]) {
        for ty in types {
            let constraint = Constraint::class(Class::Integer, true);
            let expected = self
                .types
                .fresh(constraint, self.source.span(obligation.at));
            self.agree(obligation, expected, *ty);
        }
    }

    /// Solves the demand of an index: the collection, the index, and the element.
    pub fn solve_index(
        &mut self,
        obligation: &Obligation,
        collection: Ty,
        index: Ty,
        element: Ty,
        force: bool,
    ) -> Outcome {
        let rank = match (self.types.shallow(collection), self.types.shallow(index)) {
            (Shallow::Node(TyNode::Error), _) | (_, Shallow::Node(TyNode::Error)) => {
                let error = self.types.error();
                return self.agree(obligation, error, element);
            }
            (Shallow::Node(TyNode::Array(rank, _)), _) => rank,
            (Shallow::Unbound(..), Shallow::Node(TyNode::Tuple(indices))) => indices.len() as u32,
            (Shallow::Unbound(_, of_collection), Shallow::Unbound(_, of_index))
                if of_collection.constraint.scalars.is_none()
                    && of_index.constraint.scalars.is_none()
                    && !force =>
            {
                return Outcome::Wait(vec![collection, index]);
            }
            (Shallow::Unbound(..) | Shallow::Node(_), _) => 1,
        };
        let wanted = self.types.array(rank, element);
        self.agree(obligation, wanted, collection);
        let span = self.source.span(obligation.at);
        let constraint = Constraint::class(Class::Integer, true);
        let indices: Vec<Ty> = (0..rank)
            .map(|_| self.types.fresh(constraint, span))
            .collect();
        let expected = self.types.tuple(indices);
        let at = self.source.index_operand(obligation.at);
        let because = Because::Index { rank };
        if let Err(conflict) = self.types.unify(expected, index) {
            self.mismatch(expected, index, at, &because, conflict);
        }
        Outcome::Done
    }

    /// Solves the demand between a tuple and one of its elements.
    pub fn solve_project(
        &mut self,
        obligation: &Obligation,
        tuple: Ty,
        index: u32,
        element: Ty,
        force: bool,
    ) -> Outcome {
        let found = match self.types.shallow(tuple) {
            Shallow::Node(TyNode::Error) => self.types.error(),
            Shallow::Node(TyNode::Tuple(elements)) => match elements.get(index as usize) {
                Some(found) => *found,
                None => {
                    self.no_such_element(obligation.at, tuple, index, elements.len());
                    self.types.error()
                }
            },
            Shallow::Node(TyNode::Lanes(lanes, found)) => match index < lanes {
                true => found,
                false => {
                    self.no_such_element(obligation.at, tuple, index, lanes as usize);
                    self.types.error()
                }
            },
            Shallow::Unbound(_, unbound) if unbound.constraint.may_be_read() && !force => {
                return Outcome::Wait(vec![tuple]);
            }
            Shallow::Unbound(_, unbound) if unbound.constraint.scalars.is_none() => {
                self.unknown_tuple(obligation.at, index);
                // One report for each value.
                let error = self.types.error();
                self.agree(obligation, error, tuple);
                error
            }
            Shallow::Unbound(..) | Shallow::Node(_) => {
                self.no_tuple(obligation.at, tuple, index);
                self.types.error()
            }
        };
        self.agree(obligation, found, element)
    }

    /// Solves the demand for the vectors that `map` takes for a function.
    pub fn solve_map(
        &mut self,
        obligation: &Obligation,
        function: Ty,
        result: Ty,
        force: bool,
    ) -> Outcome {
        let (mut parameters, value, known) = self.types.peel(function);
        let (vectors, of_result, result_known) = self.types.peel(result);
        let told_by_result = result_known && !vectors.is_empty();
        if !known && !told_by_result && !force {
            return Outcome::Wait(vec![value, of_result]);
        }
        let at = obligation.at;
        let span = self.source.span(at);
        let mut value = value;
        if !known {
            let more = vectors.len().max(1).saturating_sub(parameters.len());
            let added: Vec<Ty> = (0..more)
                .map(|_| self.types.fresh(Constraint::DATA, span))
                .collect();
            let last = self.types.fresh(Constraint::DATA, span);
            let rest = self.types.functions(&added, last);
            self.agree(obligation, rest, value);
            parameters.extend(added);
            value = last;
        }
        if parameters.is_empty() {
            self.map_of_no_function(None, at, function);
            return Outcome::Done;
        }
        let vector = self.types.vector(value);
        let collections: Vec<Ty> = parameters
            .iter()
            .map(|_| self.types.fresh(Constraint::DATA, span))
            .collect();
        let whole = self.types.functions(&collections, vector);
        self.agree(obligation, whole, result);
        for (collection, element) in collections.into_iter().zip(parameters) {
            let because = obligation.because.clone();
            self.demand(
                Demand::Rows {
                    collection,
                    element,
                },
                at,
                because,
            );
        }
        Outcome::Done
    }

    /// Solves the demand for the arguments of `range`.
    pub fn solve_range(&mut self, obligation: &Obligation, ty: Ty, force: bool) -> Outcome {
        let (parameters, rest, known) = self.types.peel(ty);
        if self.types.is_error(ty) {
            return Outcome::Done;
        }
        if !known && !force {
            return Outcome::Wait(vec![rest]);
        }
        let span = self.source.span(obligation.at);
        if parameters.len() > 3 {
            let message = "`range` takes one to three arguments";
            let diagnostic = Diagnostic::error(codes::BAD_ARGUMENT_COUNT, span, message);
            self.diagnostics.push(diagnostic);
            return Outcome::Done;
        }
        let constraint = Constraint::class(Class::Integer, true);
        let element = self.types.fresh(constraint, span);
        let vector = self.types.vector(element);
        let whole = self
            .types
            .functions(&vec![element; parameters.len().max(1)], vector);
        self.agree(obligation, whole, ty)
    }
}
