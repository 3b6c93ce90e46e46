//! Demands that must wait until a type is known: reading from a value that may be a vector, a
//! `vector#n` or a tuple, and the arity of variadic built-ins.
//!
//! An obligation waits on a type variable and is tried again when that becomes known. At the end of
//! the enclosing generalising binding it is forced: collections become vectors, `map` takes one
//! vector, and a projection asks for an annotation (language §3).

use crate::builtins::Block;
use crate::inference::Inference;
use crate::messages::Because;
use crate::signature::DemandWord;
use crate::types::{Shallow, Ty};
use nova_diag::deep;
use nova_syntax::ast::ExpressionId;

/// A relation between types.
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
    /// A `vec#n` of elements.
    Lanes { lanes: Ty, element: Ty },
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
    /// Integers and vectors, or tuples of n integers and `vector#n`s, of elements; the result has
    /// the same type as the vectors. Where these are rows of a `vector#n`, it has that type.
    Block {
        of: &'static Block,
        head: ExpressionId,
        indices: Vec<Ty>,
        arrays: Vec<Ty>,
        element: Ty,
        result: Ty,
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
    /// The expression that messages point at.
    pub at: ExpressionId,
    /// The reason for the demand.
    pub because: Because,
    pub solved: bool,
}

/// The outcome of an attempt.
pub(crate) enum Outcome {
    Done,
    /// More facts about one of these types are needed.
    Wait(Vec<Ty>),
}

impl Inference<'_> {
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
        }
    }
}

impl Demand {
    /// Returns the demand of a word of a signature on its variables.
    pub fn from_word(word: DemandWord, variables: &[Ty]) -> Option<Demand> {
        let at = |index: usize| variables.get(index).copied();
        let (first, second) = (at(0)?, at(1)?);
        Some(match word {
            DemandWord::Block => return None,
            DemandWord::Index => Demand::Index {
                collection: first,
                index: second,
                element: at(2)?,
            },
            DemandWord::Extents => Demand::Extents {
                extents: first,
                result: second,
                element: at(2)?,
            },
            DemandWord::Elements => Demand::Elements {
                collection: first,
                element: second,
            },
            DemandWord::Shape => Demand::Shape {
                collection: first,
                result: second,
            },
            DemandWord::Flatten => Demand::Flatten {
                collection: first,
                element: second,
            },
            DemandWord::Rows => Demand::ArrayRows {
                collection: first,
                element: second,
            },
            DemandWord::Unrows => Demand::Unrows {
                element: first,
                result: second,
            },
            DemandWord::Lanes => Demand::Lanes {
                lanes: first,
                element: second,
            },
        })
    }

    /// Returns the demand of a built-in on blocks. Its parameters are the first variables, and the
    /// others are its result and the elements.
    pub fn of_block(
        block: &'static Block,
        head: ExpressionId,
        variables: &[Ty],
        related: &[Ty],
    ) -> Option<Demand> {
        let [result, element] = *related else {
            return None;
        };
        let parameters = |which: &[usize]| -> Option<Vec<Ty>> {
            which.iter().map(|k| variables.get(*k).copied()).collect()
        };
        Some(Demand::Block {
            of: block,
            head,
            indices: parameters(block.indices)?,
            arrays: parameters(block.arrays)?,
            element,
            result,
        })
    }

    /// Returns the types it relates.
    fn types(&self) -> Vec<Ty> {
        match *self {
            Demand::Block {
                ref indices,
                ref arrays,
                element,
                result,
                ..
            } => [indices, arrays, &[element, result][..]].concat(),
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
            Demand::Lanes { lanes, element } => vec![lanes, element],
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
