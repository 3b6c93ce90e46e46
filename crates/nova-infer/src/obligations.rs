//! Demands that must wait until a type is known: reading from a value that may be a vector, a
//! `vector#n` or a tuple, and the arity of variadic built-ins.
//!
//! An obligation waits on a type variable and is tried again when that becomes known. At the end of
//! the enclosing generalising binding it is forced: collections become vectors, `map` takes one
//! vector, and a projection asks for an annotation (language §3).

use crate::builtins::Block;
use crate::links::LinkFunction;
use crate::reasons::Because;
use crate::signature::DemandWord;
use crate::types::Ty;
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
    /// The datum of a `foreach`, and the nodes that its bodies take.
    Nodes { form: u32, datum: Ty },
    /// The nodes that the bodies of a `foreach` or `up` give, the data of an `up` with the links to
    /// them, and the result.
    Made {
        form: u32,
        bodies: Vec<Ty>,
        links: Vec<(Ty, Ty)>,
        result: Ty,
    },
    /// An old link of a group, and the new link or the node.
    LinkFunction {
        form: u32,
        function: LinkFunction,
        argument: Ty,
        result: Ty,
    },
    /// A datum, and its root as a node of data.
    Down { datum: Ty, node: Ty },
    /// A datum and its table, or the tuple of the tables of its group.
    Table { datum: Ty, tables: Ty },
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
            DemandWord::Table => Demand::Table {
                datum: first,
                tables: second,
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
    pub fn types(&self) -> Vec<Ty> {
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
            // The nodes are younger than the datum, and hold links.
            Demand::Nodes { datum, .. } => vec![datum],
            Demand::Made { result, .. } => vec![result],
            Demand::LinkFunction {
                argument, result, ..
            } => vec![argument, result],
            Demand::Down { datum, node } => vec![datum, node],
            Demand::Table { datum, tables } => vec![datum, tables],
        }
    }
}
