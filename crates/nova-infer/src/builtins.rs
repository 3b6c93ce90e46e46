//! The table of built-in functions of the language (language §5): name, type, and translation of an
//! application to Core.
//!
//! Types are written in a small language, see [`crate::signature`]. A built-in whose type depends
//! on more than its arguments' types names a *demand* after `where`. The demands are solved in
//! [`crate::obligations`].

use crate::signature::Signature;
use crate::types::Constraint;
use nova_core::builtin::{Class, ResultKind, SCALAR_OPERATIONS};
use nova_core::scalar::SCALARS;
use nova_core::strategy::{Level, Space};
use nova_core::{Builtin, Scalar, ScalarOperation};
use std::collections::HashMap;
use std::sync::LazyLock;

/// The number of arguments a built-in takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arity {
    /// As many as its signature has parameters.
    Fixed(usize),
    /// `map`: a function and one vector or more.
    Map,
    /// `range`: one to three.
    Range,
    /// `to_local`: a function, and then that function's arguments.
    Function,
}

/// The translation of an application to all arguments to Core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lowering {
    /// The built-in of Core with the same arguments.
    Plain(Builtin),
    /// `from_T`: to the result's type.
    ConvertToResult,
    /// A conditional.
    And,
    Or,
    /// `map` with its strategy, and with as many vectors as its function takes arguments.
    Map(Option<Level>),
    /// The function itself, with its result in a space.
    To(Space),
    /// The first argument is a literal that decides the type.
    AsVector,
    /// One to three arguments.
    Range,
    /// The function ignores the elements.
    Imap,
    /// The first argument is a tuple of extents, or one.
    Tabulate,
    Reshape,
    /// The nodes of recursive data.
    Table,
    /// Recursive data of nodes.
    Datum,
    /// The result is a tuple, or for a vector its length.
    Shape,
    /// The second argument may be a tuple.
    Index,
    /// Applies to a vector, or to an array with tuples as indices.
    Block(&'static Block),
}

/// A built-in on a part of a vector, or of a `vector#n` where its indices are tuples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// The arguments that are indices.
    pub indices: &'static [usize],
    /// The arguments that are vectors or arrays.
    pub arrays: &'static [usize],
    /// The built-in for vectors, and for the rows of arrays with one index.
    pub of_vectors: Builtin,
    /// The built-in for arrays.
    pub of_arrays: Builtin,
    /// Its type for vectors, for messages.
    pub shown: &'static str,
}

const SLICE: Block = Block {
    indices: &[0, 1, 2],
    arrays: &[3],
    of_vectors: Builtin::Slice,
    of_arrays: Builtin::ArraySlice,
    shown: "'i -> 'j -> 'k -> vector 'a -> vector 'a",
};

const UPDATE: Block = Block {
    indices: &[1],
    arrays: &[0],
    of_vectors: Builtin::Update,
    of_arrays: Builtin::ArrayUpdate,
    shown: "vector 'a -> 'i -> 'a -> vector 'a",
};

const UPDATE_SLICE: Block = Block {
    indices: &[1],
    arrays: &[0, 2],
    of_vectors: Builtin::UpdateSlice,
    of_arrays: Builtin::ArrayUpdateSlice,
    shown: "vector 'a -> 'i -> vector 'a -> vector 'a",
};

/// A built-in function.
pub(crate) struct SurfaceBuiltin {
    /// Its name in programs.
    pub name: String,
    /// Its type in the table.
    text: String,
    /// Its type.
    pub signature: Signature,
    /// Its translation to Core.
    pub lowering: Lowering,
}

nova_diag::ids! {
    /// Names a built-in function of the table.
    pub(crate) struct BuiltinId;
}

/// The functions on vectors and all others that are no scalar operations. `i j k` are integer
/// types, `*a` is `vector a`, or a `vector#n` whose rows are `a`.
const FUNCTIONS: &[(&str, &str, Lowering)] = &[
    ("and", "bool -> bool -> bool", Lowering::And),
    ("or", "bool -> bool -> bool", Lowering::Or),
    ("map", "a -> r", Lowering::Map(None)),
    ("map_seq", "a -> r", Lowering::Map(Some(Level::Sequential))),
    ("map_global", "a -> r", Lowering::Map(Some(Level::Global))),
    (
        "map_workgroup",
        "a -> r",
        Lowering::Map(Some(Level::Workgroup)),
    ),
    ("map_local", "a -> r", Lowering::Map(Some(Level::Local))),
    (
        "to_global",
        "(a -> b) -> a -> b",
        Lowering::To(Space::Global),
    ),
    ("to_local", "(a -> b) -> a -> b", Lowering::To(Space::Local)),
    (
        "to_private",
        "(a -> b) -> a -> b",
        Lowering::To(Space::Private),
    ),
    ("range", "i -> vector i", Lowering::Range),
    ("imap", "(int -> b) -> *a -> vector b", Lowering::Imap),
    (
        "reduce",
        "(a -> a -> a) -> a -> *a -> a",
        plain(Builtin::Reduce { commutes: false }),
    ),
    (
        "reduce_comm",
        "(a -> a -> a) -> a -> *a -> a",
        plain(Builtin::Reduce { commutes: true }),
    ),
    (
        "scan",
        "(a -> a -> a) -> a -> *a -> vector a",
        plain(Builtin::Scan { exclusive: false }),
    ),
    (
        "exscan",
        "(a -> a -> a) -> a -> *a -> vector a",
        plain(Builtin::Scan { exclusive: true }),
    ),
    (
        "foldl",
        "(b -> a -> b) -> b -> *a -> b",
        plain(Builtin::Foldl),
    ),
    (
        "scanl",
        "(b -> a -> b) -> b -> *a -> vector b",
        plain(Builtin::Scanl),
    ),
    (
        "reduce_seq",
        "(b -> a -> b) -> b -> *a -> b",
        plain(Builtin::ReduceSeq { space: None }),
    ),
    (
        "permute",
        "vector i -> *a -> vector a",
        plain(Builtin::Permute),
    ),
    (
        "gather",
        "vector i -> *a -> vector a",
        plain(Builtin::Gather),
    ),
    (
        "slice",
        "x -> y -> z -> c -> r where block r d",
        Lowering::Block(&SLICE),
    ),
    ("trace", "vector uint8 -> d -> d", plain(Builtin::Trace)),
    ("length", "*a -> i", plain(Builtin::Length)),
    (
        "filter",
        "(a -> bool) -> *a -> vector a",
        plain(Builtin::Filter),
    ),
    ("!", "x -> y -> d where index x y d", Lowering::Index),
    (
        "scatter",
        "*a -> vector i -> *a -> vector a",
        plain(Builtin::Scatter),
    ),
    (
        "histogram",
        "(a -> a -> a) -> a -> i -> vector j -> *a -> vector a",
        plain(Builtin::Histogram),
    ),
    ("count", "i -> vector j -> vector k", plain(Builtin::Count)),
    (
        "sort",
        "(a -> a -> bool) -> *a -> vector a",
        plain(Builtin::Sort),
    ),
    ("table", "d -> v where table d v", Lowering::Table),
    ("datum", "i -> v -> d where table d v", Lowering::Datum),
    ("zip", "*a -> *b -> vector (a, b)", plain(Builtin::Zip)),
    (
        "unzip",
        "vector (a, b) -> (vector a, vector b)",
        plain(Builtin::Unzip),
    ),
    ("concat", "*a -> *a -> vector a", plain(Builtin::Concat)),
    ("reverse", "*a -> vector a", plain(Builtin::Reverse)),
    ("replicate", "i -> a -> vector a", plain(Builtin::Replicate)),
    ("rotate", "i -> *a -> vector a", plain(Builtin::Rotate)),
    (
        "update",
        "c -> x -> d -> r where block r d",
        Lowering::Block(&UPDATE),
    ),
    (
        "update_slice",
        "c -> x -> v -> r where block r d",
        Lowering::Block(&UPDATE_SLICE),
    ),
    (
        "tabulate",
        "e -> (e -> d) -> r where extents e r d",
        Lowering::Tabulate,
    ),
    (
        "partition",
        "(a -> bool) -> *a -> (vector a, vector a)",
        plain(Builtin::Partition),
    ),
    ("shape", "x -> r where shape x r", Lowering::Shape),
    (
        "reshape",
        "e -> x -> r where extents e r d, elements x d",
        Lowering::Reshape,
    ),
    (
        "transpose",
        "vector#2 a -> vector#2 a",
        plain(Builtin::Transpose),
    ),
    (
        "flatten",
        "x -> vector a where flatten x a",
        plain(Builtin::Flatten),
    ),
    ("rows", "x -> vector a where rows x a", plain(Builtin::Rows)),
    (
        "unrows",
        "vector a -> r where unrows a r",
        plain(Builtin::Unrows),
    ),
    ("split", "i -> *a -> vector#2 a", plain(Builtin::Split)),
    (
        "join",
        "x -> vector a where flatten x a",
        plain(Builtin::Flatten),
    ),
    (
        "as_vector",
        "int -> vector n -> vector v",
        Lowering::AsVector,
    ),
    (
        "as_scalar",
        "vector v -> vector n where lanes v n",
        plain(Builtin::AsScalar),
    ),
    (
        "segments",
        "vector (vector a) -> vector int",
        plain(Builtin::Segments),
    ),
    (
        "unflatten",
        "vector i -> *a -> vector (vector a)",
        plain(Builtin::Unflatten),
    ),
    (
        "iterate",
        "i -> (a -> a) -> a -> a",
        plain(Builtin::Iterate),
    ),
    (
        "while",
        "(a -> bool) -> (a -> a) -> a -> a",
        plain(Builtin::While),
    ),
];

const fn plain(builtin: Builtin) -> Lowering {
    Lowering::Plain(builtin)
}

/// Returns the type of a scalar operation: `n -> n -> n`.
fn scalar_signature(class: Class, arity: usize, result: ResultKind) -> String {
    let operand = match class {
        Class::Number => "n",
        Class::Integer => "i",
        Class::Floating => "f",
        Class::Scalar => "s",
        Class::Bool => "bool",
    };
    let result = match result {
        ResultKind::Same => operand,
        ResultKind::Bool => "bool",
    };
    format!("{}{result}", format!("{operand} -> ").repeat(arity))
}

/// Returns the type of a built-in. Operations whose result has the type of their arguments work on
/// `vec#n` by element.
fn signature(text: &str, lowering: Lowering) -> Signature {
    let mut signature = Signature::parse(text);
    if let Lowering::Plain(Builtin::Scalar(operation)) = lowering
        && let Some(info) = operation.info()
        && info.result == ResultKind::Same
    {
        signature.variables = vec![Constraint::by_element(info.class)];
    }
    signature
}

fn all() -> Vec<SurfaceBuiltin> {
    let mut rows: Vec<(String, String, Lowering)> = Vec::new();
    for info in SCALAR_OPERATIONS {
        rows.push((
            info.name.to_string(),
            scalar_signature(info.class, info.arity, info.result),
            plain(Builtin::Scalar(info.operation)),
        ));
    }
    let named = SCALARS.iter().map(|info| (info.name, info.scalar));
    for (name, scalar) in named.chain([("int32", Scalar::I32)]) {
        let to = plain(Builtin::Scalar(ScalarOperation::Convert(scalar)));
        rows.push((format!("to_{name}"), format!("t -> {name}"), to));
        let from = Lowering::ConvertToResult;
        rows.push((format!("from_{name}"), format!("{name} -> t"), from));
        if scalar.is_integer() {
            let wrap = plain(Builtin::Scalar(ScalarOperation::Wrap(scalar)));
            rows.push((format!("wrap_{name}"), format!("t -> {name}"), wrap));
        }
    }
    let functions = FUNCTIONS
        .iter()
        .map(|(name, text, lowering)| (name.to_string(), text.to_string(), *lowering));
    rows.into_iter()
        .chain(functions)
        .map(|(name, text, lowering)| SurfaceBuiltin {
            name,
            signature: signature(&text, lowering),
            text,
            lowering,
        })
        .collect()
}

static TABLE: LazyLock<Vec<SurfaceBuiltin>> = LazyLock::new(all);

static BY_NAME: LazyLock<HashMap<&'static str, BuiltinId>> = LazyLock::new(|| {
    TABLE
        .iter()
        .enumerate()
        .map(|(index, builtin)| (builtin.name.as_str(), BuiltinId(index as u32)))
        .collect()
});

impl BuiltinId {
    /// Returns its row of the table.
    pub fn get(self) -> &'static SurfaceBuiltin {
        &TABLE[self.0 as usize]
    }

    /// Returns the built-in called `name`.
    pub fn by_name(name: &str) -> Option<BuiltinId> {
        BY_NAME.get(name).copied()
    }

    /// Returns the number of arguments it takes.
    pub fn arity(self) -> Arity {
        match self.get().lowering {
            Lowering::Map(_) => Arity::Map,
            Lowering::To(_) => Arity::Function,
            Lowering::Range => Arity::Range,
            _ => Arity::Fixed(self.get().signature.parameters.len()),
        }
    }

    /// Returns the scalar operation it is, if it is one.
    pub fn scalar_operation(self) -> Option<ScalarOperation> {
        if let Lowering::Plain(Builtin::Scalar(operation)) = self.get().lowering {
            return Some(operation);
        }
        None
    }
}

impl SurfaceBuiltin {
    /// Returns its type as source, for messages.
    pub fn shown_type(&self) -> String {
        match self.lowering {
            Lowering::Map(_) => {
                return "('a -> … -> 'b) -> vector 'a -> … -> vector 'b".to_string();
            }
            Lowering::Block(block) => return block.shown.to_string(),
            Lowering::AsVector => return "n -> vector 'a -> vector (vec#n 'a)".to_string(),
            Lowering::Plain(Builtin::AsScalar) => {
                return "vector (vec#n 'a) -> vector 'a".to_string();
            }
            _ => {}
        }
        let (text, _) = self.text.split_once(" where ").unwrap_or((&self.text, ""));
        let mut shown = String::new();
        let mut rest = text;
        while let Some(character) = rest.chars().next() {
            let word = rest.find(|c: char| !c.is_alphanumeric() && c != '#');
            let (token, after) = match word {
                Some(0) => rest.split_at(character.len_utf8()),
                Some(end) => rest.split_at(end),
                None => (rest, ""),
            };
            match token {
                "*" => shown.push_str("vector "),
                // One letter is a variable.
                letter if letter.len() == 1 && character.is_alphabetic() => {
                    shown.push('\'');
                    shown.push_str(letter);
                }
                other => shown.push_str(other),
            }
            rest = after;
        }
        shown
    }
}

/// Returns the names of all built-in functions, in the order of the table.
pub fn builtin_names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|builtin| builtin.name.as_str())
}

/// Returns the type of a built-in function as source.
pub fn builtin_type(name: &str) -> Option<String> {
    BuiltinId::by_name(name).map(|builtin| builtin.get().shown_type())
}

#[cfg(test)]
mod tests {
    use super::*;
    use nova_core::builtin::VECTOR_BUILTINS;

    #[test]
    fn every_function_of_core_has_a_surface_name() {
        let internal = [
            "index",
            "array_index",
            "tabulate_array",
            "array_slice",
            "array_update",
            "array_update_slice",
            "unchecked_datum",
            "loose_table",
            "node_at",
        ];
        for (_, name) in VECTOR_BUILTINS {
            // After a dot comes a space, which is a function of its own. `as_vector4` is `as_vector
            // 4`.
            let (name, space) = name.split_once('.').unwrap_or((name, "to_global"));
            let name = match name.starts_with("as_vector") {
                true => "as_vector",
                false => name,
            };
            let known = BuiltinId::by_name(name).is_some();
            assert_eq!(known, !internal.contains(&name), "{name}");
            assert!(BuiltinId::by_name(space).is_some(), "{space}");
        }
    }

    #[test]
    fn types_are_shown_as_source() {
        let shown = |name| BuiltinId::by_name(name).map(|builtin| builtin.get().shown_type());
        let reduce = "('a -> 'a -> 'a) -> 'a -> vector 'a -> 'a";
        assert_eq!(shown("reduce").as_deref(), Some(reduce));
        assert_eq!(shown("to_int8").as_deref(), Some("'t -> int8"));
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = builtin_names().collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
