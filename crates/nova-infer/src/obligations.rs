//! What cannot be decided where it is met, because a type is not known yet: reading from a value
//! that may be a vector, a `vector#n` or a tuple, and the arity of variadic built-ins.
//!
//! An obligation waits on a type variable and is tried again when that becomes known. At the end of
//! the enclosing generalising binding it is forced: collections become vectors, `map` takes one
//! vector, and a projection asks for an annotation (language §3).

use crate::inference::Inference;
use crate::messages::Because;
use crate::types::{Constraint, Shallow, Ty, TyNode};
use nova_core::builtin::Class;
use nova_diag::{Diagnostic, codes, deep};
use nova_syntax::ast::ExpressionId;

/// What must hold between types.
#[derive(Clone, Debug)]
pub(crate) enum Demand {
    /// A vector of elements, or a `vector#n` whose rows they are.
    Rows { collection: Ty, element: Ty },
    /// A `vector#n` whose rows are the elements.
    ArrayRows { collection: Ty, element: Ty },
    /// Elements that are rows, and the `vector#n` of them.
    Unrows { element: Ty, result: Ty },
    /// A vector or `vector#n` of elements.
    Elements { collection: Ty, element: Ty },
    /// A vector of vectors of elements, or a `vector#n` of them.
    Flatten { collection: Ty, element: Ty },
    /// A `vector#n` and the tuple of its n extents; a vector and its length.
    Shape { collection: Ty, result: Ty },
    /// An integer and a vector, or a tuple of n integers and a `vector#n`, of elements.
    Extents {
        extents: Ty,
        result: Ty,
        element: Ty,
    },
    /// A vector and an integer, or a `vector#n` and a tuple of n integers, and an element.
    Index {
        collection: Ty,
        index: Ty,
        element: Ty,
    },
    /// A tuple and one of its elements.
    Project { tuple: Ty, index: u32, element: Ty },
    /// A function and the function from vectors of its arguments to a vector of its results.
    MapArity { function: Ty, result: Ty },
    /// A function of one to three integers.
    RangeArity { ty: Ty },
}

/// A demand with the expression that makes it.
#[derive(Clone, Debug)]
pub(crate) struct Obligation {
    pub demand: Demand,
    /// What messages point at.
    pub at: ExpressionId,
    /// What the demand is for.
    pub because: Because,
    pub solved: bool,
}

/// What a try came to.
enum Outcome {
    Done,
    /// More must be known of one of these types.
    Wait(Vec<Ty>),
}

impl Inference<'_> {
    /// Makes a demand, and lets it wait when it cannot be decided yet.
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

    /// Tries what became decidable.
    pub fn run_ready(&mut self) {
        while let Some(id) = self.types.ready.pop() {
            self.attempt(id, false);
        }
    }

    /// Decides an obligation with what is known; whether it was open.
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
            self.types.lower(ty, level, None);
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
            } => self.solve_elements(obligation, collection, element, force),
            Demand::Flatten {
                collection,
                element,
            } => self.solve_flatten(obligation, collection, element, force),
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
            Demand::Project {
                tuple,
                index,
                element,
            } => self.solve_project(obligation, tuple, index, element, force),
            Demand::MapArity { function, result } => {
                self.solve_map(obligation, function, result, force)
            }
            Demand::RangeArity { ty } => self.solve_range(obligation, ty, force),
        }
    }

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

    fn solve_rows(
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
                let inner = self.types.fresh(Constraint::DATA, self.span(obligation.at));
                let row = self.types.vector(inner);
                self.agree(obligation, element, row);
                self.types.array(2, inner)
            }
            Shallow::Unbound(..) | Shallow::Node(_) => self.types.vector(element),
        };
        self.agree(obligation, wanted, collection)
    }

    /// Unifies the element a collection must have with the one it has; a message shows both
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

    fn solve_unrows(
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
                let inner = self.types.fresh(Constraint::DATA, self.span(obligation.at));
                let row = self.types.vector(inner);
                self.agree(obligation, row, element);
                self.types.array(2, inner)
            }
        };
        self.agree(obligation, wanted, result)
    }

    fn solve_elements(
        &mut self,
        obligation: &Obligation,
        collection: Ty,
        element: Ty,
        force: bool,
    ) -> Outcome {
        match self.types.shallow(collection) {
            Shallow::Node(TyNode::Error) => self.agree(obligation, collection, element),
            Shallow::Node(TyNode::Array(_, inner) | TyNode::Vector(inner)) => {
                self.agree_in(obligation, collection, element, inner)
            }
            Shallow::Unbound(_, unbound) if unbound.constraint.scalars.is_none() && !force => {
                Outcome::Wait(vec![collection])
            }
            Shallow::Unbound(..) | Shallow::Node(_) => {
                let vector = self.types.vector(element);
                self.agree(obligation, vector, collection)
            }
        }
    }

    fn solve_flatten(
        &mut self,
        obligation: &Obligation,
        collection: Ty,
        element: Ty,
        force: bool,
    ) -> Outcome {
        match self.types.shallow(collection) {
            Shallow::Node(TyNode::Error) => self.agree(obligation, collection, element),
            Shallow::Node(TyNode::Array(_, inner)) => {
                self.agree_in(obligation, collection, element, inner)
            }
            Shallow::Unbound(_, unbound) if unbound.constraint.scalars.is_none() && !force => {
                Outcome::Wait(vec![collection])
            }
            Shallow::Unbound(..) | Shallow::Node(_) => {
                let row = self.types.vector(element);
                let rows = self.types.vector(row);
                self.agree(obligation, rows, collection)
            }
        }
    }

    fn solve_shape(
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
                let element = self.types.fresh(Constraint::DATA, self.span(obligation.at));
                let vector = self.types.vector(element);
                self.agree(obligation, vector, collection);
                int
            }
        };
        self.agree(obligation, extents, result)
    }

    fn solve_extents(
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
            let expected = self.types.fresh(constraint, self.span(obligation.at));
            self.agree(obligation, expected, *ty);
        }
    }

    fn solve_index(
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
        let span = self.span(obligation.at);
        let constraint = Constraint::class(Class::Integer, true);
        let indices: Vec<Ty> = (0..rank)
            .map(|_| self.types.fresh(constraint, span))
            .collect();
        let expected = self.types.tuple(indices);
        let at = self.index_operand(obligation.at);
        let because = Because::Index { rank };
        if let Err(conflict) = self.types.unify(expected, index) {
            self.mismatch(expected, index, at, &because, conflict);
        }
        Outcome::Done
    }

    fn solve_project(
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
            Shallow::Unbound(_, unbound) if unbound.constraint.scalars.is_none() && !force => {
                return Outcome::Wait(vec![tuple]);
            }
            Shallow::Unbound(_, unbound) if unbound.constraint.scalars.is_none() => {
                self.unknown_tuple(obligation.at, index);
                // Once for each value.
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

    fn solve_map(
        &mut self,
        obligation: &Obligation,
        function: Ty,
        result: Ty,
        force: bool,
    ) -> Outcome {
        let (mut parameters, value, known) = self.types.peel(function);
        let (vectors, of_result, result_known) = self.types.peel(result);
        if !known && !(result_known && !vectors.is_empty()) && !force {
            return Outcome::Wait(vec![value, of_result]);
        }
        let at = obligation.at;
        let span = self.span(at);
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
            self.map_of_no_function(at, function);
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

    fn solve_range(&mut self, obligation: &Obligation, ty: Ty, force: bool) -> Outcome {
        let (parameters, rest, known) = self.types.peel(ty);
        if self.types.is_error(ty) {
            return Outcome::Done;
        }
        if !known && !force {
            return Outcome::Wait(vec![rest]);
        }
        let span = self.span(obligation.at);
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

impl Demand {
    /// The types it relates.
    fn types(&self) -> Vec<Ty> {
        match *self {
            Demand::Rows {
                collection,
                element,
            }
            | Demand::ArrayRows {
                collection,
                element,
            }
            | Demand::Elements {
                collection,
                element,
            }
            | Demand::Flatten {
                collection,
                element,
            } => vec![collection, element],
            Demand::Unrows { element, result } => vec![element, result],
            Demand::Shape { collection, result } => vec![collection, result],
            Demand::Extents {
                extents,
                result,
                element,
            } => vec![extents, result, element],
            Demand::Index {
                collection,
                index,
                element,
            } => vec![collection, index, element],
            Demand::Project { tuple, element, .. } => vec![tuple, element],
            Demand::MapArity { function, result } => vec![function, result],
            Demand::RangeArity { ty } => vec![ty],
        }
    }
}
