//! The table of built-in functions (language §5).
//!
//! [`ScalarOperation`] are the operations on scalars, shared by every intermediate representation.
//! [`Builtin`] adds the vector functions of Core. Conveniences of the surface language are translated
//! before: `and`/`or` are conditionals, `range` has three arguments, `to_T`/`from_T` are conversions,
//! and functions given a `vector#n` get its `rows`.

mod scalar;

pub use scalar::{
    BOUND_OF_ANGLES, Class, Cost, Domain, ResultKind, SCALAR_OPERATIONS, ScalarOperation,
    ScalarOperationInfo,
};

use crate::strategy::{Level, Space, Strategy};

/// A built-in function of Core, always applied to all its arguments, in this order.
///
/// `F(a, b → c)` marks an argument that is a lambda with these parameters, and `i` an argument of any
/// integer type.
///
/// Arguments are evaluated from left to right, and lambdas are called after all of them. Each variant
/// lists the [`crate::ErrorKind`]s that it reports itself, with their arguments, in the order of the
/// checks. That order is the same in every representation. Lambdas are called in the order of the
/// elements after those checks, unless stated otherwise. A result that does not fit memory is `Memory`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Builtin {
    /// An operation on scalars.
    Scalar(ScalarOperation),
    /// `map F(a1, …, an → b) X1 … Xn → vector b`. Length(first length, length) for the first vector,
    /// from left to right, whose length differs from that of the first. A strategy is that of `map_seq`
    /// … and changes no result.
    Map { strategy: Option<Strategy> },
    /// `imap F(int, a → b) X`. LengthOverflow(length) for more than 2^31 - 1 elements.
    Imap,
    /// `reduce F(a, a → a) z X → a`. If `commutes`, elements may be reordered. The lambda is called in
    /// the order of [`crate::order`].
    Reduce { commutes: bool },
    /// `scan F(a, a → a) z X`, inclusive or exclusive. The lambda is called in the order of
    /// [`crate::order`].
    Scan { exclusive: bool },
    /// `foldl F(b, a → b) z X → b`.
    Foldl,
    /// `scanl F(b, a → b) z X → vector b`: the states of `foldl` after each element.
    Scanl,
    /// `reduce_seq F(b, a → b) z X → b`, a `foldl` with a strategy: sequential, with the memory space
    /// of its result.
    ReduceSeq { space: Option<Space> },
    /// `permute I X`. Length(of I, of X). Then, for k in order, Permutation(`I[k]`) if it is out of
    /// range or a duplicate.
    Permute,
    /// `gather I X`. Index(`I[k]`, of X) for the first k that is out of range.
    Gather,
    /// `slice b s e X`, with each of type `i`. Step. Then Index(index, of X) for the first index used,
    /// in order, that is out of range. No error if nothing is selected.
    Slice,
    /// `array_slice b… s… e… M`: n of each, then an array of rank n. For each dimension in order: Step.
    /// Then Index(index, extent) for the first index used, in order, that is out of range. No error if
    /// none is used.
    ArraySlice,
    /// `range b s e → vector i`, of the type of the arguments. Step.
    Range,
    /// `trace text x → x`. The text is the first argument, a constant `vector uint8`.
    Trace,
    /// `length X → int`, of the type of the expression. LengthOverflow(length). For a `vector#n` it is
    /// the first extent.
    Length,
    /// `filter F(a → bool) X`.
    Filter,
    /// `(v ! i)`. Index(i, of v).
    Index,
    /// `(m ! (i, j, …))`: the array, then one index per dimension. Index(index, extent) for the first
    /// dimension in which it is out of range.
    ArrayIndex,
    /// `scatter D I X`. Length(of I, of X).
    Scatter,
    /// `histogram F(a, a → a) z n I X`. Negative(n). Length(of I, of X).
    Histogram,
    /// `count n I → vector i`: the number of occurrences of each of 0…n-1 in I, as integers of the
    /// expression's type. Negative(n). Then LengthOverflow(length of I) if the length does not fit that
    /// type.
    Count,
    /// `sort F(a, a → bool) X`.
    Sort,
    /// `zip X Y`. Length(of X, of Y).
    Zip,
    /// `unzip Z → (X, Y)`.
    Unzip,
    /// `concat X Y`.
    Concat,
    /// `reverse X`.
    Reverse,
    /// `replicate n v`. Negative(n).
    Replicate,
    /// `rotate k X`. An empty vector stays empty.
    Rotate,
    /// `update X i v`. Index(i, of X).
    Update,
    /// `array_update M i… v`: the array, then one index per dimension. Index(index, extent) for the
    /// first dimension in which it is out of range.
    ArrayUpdate,
    /// `update_slice X b V`. Index(index, of X) for the first of the indices b, b + 1, … of the
    /// elements of V that is out of range.
    UpdateSlice,
    /// `array_update_slice M b… B`: arrays of one rank, and one index per dimension. The errors of each
    /// dimension in order are those of `update_slice`.
    ArrayUpdateSlice,
    /// `tabulate n F(int → a) → vector a`. The lambda's parameter has n's type. Negative(n).
    Tabulate,
    /// `tabulate (n, m, …) F((i, j, …) → a) → vector#k a`: k extents, then the lambda with k
    /// parameters, one for each index (each of its extent's type), called in row-major order.
    /// Negative(extent) for the first negative one.
    TabulateArray,
    /// `partition F(a → bool) X → (vector a, vector a)`.
    Partition,
    /// `shape M → (int, …)`, with the element types of the expression's type. LengthOverflow(extent)
    /// for the first that does not fit.
    Shape,
    /// `reshape (n, m, …) X → vector#k a`: k extents, then a vector or array. For k = 1 it gives a
    /// vector. Negative(extent) for the first negative one. Then Shape(product, elements of X), where a
    /// product beyond 64 bits is shown as the largest 64-bit number.
    Reshape,
    /// `transpose M → vector#2 a`.
    Transpose,
    /// `flatten X`: a `vector (vector a)` or a `vector#n a` to `vector a`.
    Flatten,
    /// `rows M`: a `vector#n a` as `vector (vector#(n-1) a)`.
    Rows,
    /// `unrows X`: the inverse. Without rows all extents are 0. Length(first row's, row's) for the
    /// first row whose length differs from that of the first. For rows of higher rank, it is for the
    /// first extent that differs.
    Unrows,
    /// `segments X → vector int`: the inner lengths of a nested vector. LengthOverflow(length) for the
    /// first that does not fit the result's element type.
    Segments,
    /// `unflatten L X → vector (vector a)`. Negative(length) for the first negative one. Then
    /// Length(sum, of X).
    Unflatten,
    /// `iterate n F(a → a) x → a`. The type a may be a function type, and n ≤ 0 means no iteration.
    Iterate,
    /// `while F(a → bool) F(a → a) x → a`. The type a may be a function type.
    While,
    /// `split n X → vector#2 a`, rows of n elements. Split(n, of X) unless n is positive and divides
    /// the length.
    Split,
    /// `as_vector X → vector (vec#lanes a)`. Split(lanes, of X) unless `lanes`, one of
    /// [`crate::strategy::LANES`], divides the length.
    AsVector { lanes: u32 },
    /// `as_scalar X → vector a`: the elements of a vector of `vec#n a` in order.
    AsScalar,
    /// `table M → vector N`, of the type of the expression: the nodes that M reaches, as values of its
    /// node type. For a group it is a tuple of such vectors, of which the first is that of M's type.
    /// Node 0 of the first is the root. The others follow breadth first: the nodes that a node links to
    /// follow in the order in which they stand in it. Each node has one number, and so has each
    /// constructor without payload. LengthOverflow(number of nodes) for more than 2^31 - 1 in a table.
    /// Nothing depends on the order of the nodes of a table that is not `exact`, nor on further nodes with
    /// links to nodes of the table. Later stages may add such nodes.
    Table { exact: bool },
    /// `datum r V → T`: the inverse of `table`, for a vector of nodes or a tuple of such vectors, with
    /// root r of the first. Every node is one value, however often it is linked to. If `checked`:
    /// Link(link, number of nodes) for the first link that is out of range, in the order of the tables,
    /// of their nodes and of the links in them, then for the root. Then Cycle if a node contains itself.
    /// Without the check there must be no such error.
    Datum { checked: bool },
    /// `node_at V i`: element i of a vector, which has one.
    NodeAt,
}

impl Builtin {
    /// Returns the range of the arguments, of `count` ones, that are lambdas.
    pub fn functions(self, count: usize) -> std::ops::Range<usize> {
        match self {
            Builtin::Map { .. } | Builtin::Imap | Builtin::Reduce { .. } => 0..1,
            Builtin::Scan { .. } | Builtin::ReduceSeq { .. } => 0..1,
            Builtin::Foldl | Builtin::Filter | Builtin::Sort | Builtin::Partition => 0..1,
            Builtin::Histogram | Builtin::Scanl => 0..1,
            Builtin::Tabulate | Builtin::Iterate => 1..2,
            Builtin::TabulateArray => count.saturating_sub(1)..count,
            Builtin::While => 0..2,
            Builtin::Scalar(_) | Builtin::Permute | Builtin::Gather | Builtin::Slice => 0..0,
            Builtin::Range | Builtin::Trace | Builtin::Length | Builtin::Index => 0..0,
            Builtin::ArrayIndex | Builtin::Scatter | Builtin::Zip | Builtin::Unzip => 0..0,
            Builtin::Concat | Builtin::Reverse | Builtin::Replicate | Builtin::Rotate => 0..0,
            Builtin::ArraySlice | Builtin::ArrayUpdate | Builtin::UpdateSlice => 0..0,
            Builtin::ArrayUpdateSlice | Builtin::Count => 0..0,
            Builtin::Update | Builtin::Shape | Builtin::Reshape | Builtin::Transpose => 0..0,
            Builtin::Flatten | Builtin::Rows | Builtin::Unrows | Builtin::Segments => 0..0,
            Builtin::Unflatten | Builtin::Split => 0..0,
            Builtin::AsVector { .. } | Builtin::AsScalar => 0..0,
            Builtin::Table { .. } | Builtin::Datum { .. } | Builtin::NodeAt => 0..0,
        }
    }

    /// Returns the same built-in with its result in a space, if it carries a strategy.
    pub fn placed(self, space: Space) -> Option<Builtin> {
        let space = Some(space);
        match self {
            Builtin::Map {
                strategy: Some(Strategy { level, .. }),
            } => {
                let strategy = Some(Strategy { level, space });
                Some(Builtin::Map { strategy })
            }
            Builtin::ReduceSeq { .. } => Some(Builtin::ReduceSeq { space }),
            _without_strategy => None,
        }
    }
}

/// Returns a map with a strategy.
const fn map(level: Level, space: Option<Space>) -> Builtin {
    let strategy = Some(Strategy { level, space });
    Builtin::Map { strategy }
}

const GLOBAL: Option<Space> = Some(Space::Global);
const LOCAL: Option<Space> = Some(Space::Local);
const PRIVATE: Option<Space> = Some(Space::Private);

/// Names of the vector built-ins in the intermediate representations, and in NOVA if it has one of that
/// name. The word after the dot is the space of the result.
pub const VECTOR_BUILTINS: &[(Builtin, &str)] = &[
    (Builtin::Map { strategy: None }, "map"),
    (Builtin::Imap, "imap"),
    (Builtin::Reduce { commutes: false }, "reduce"),
    (Builtin::Reduce { commutes: true }, "reduce_comm"),
    (Builtin::Scan { exclusive: false }, "scan"),
    (Builtin::Scan { exclusive: true }, "exscan"),
    (Builtin::Foldl, "foldl"),
    (Builtin::Scanl, "scanl"),
    (Builtin::Permute, "permute"),
    (Builtin::Gather, "gather"),
    (Builtin::Slice, "slice"),
    (Builtin::ArraySlice, "array_slice"),
    (Builtin::Range, "range"),
    (Builtin::Trace, "trace"),
    (Builtin::Length, "length"),
    (Builtin::Filter, "filter"),
    (Builtin::Index, "index"),
    (Builtin::ArrayIndex, "array_index"),
    (Builtin::Scatter, "scatter"),
    (Builtin::Histogram, "histogram"),
    (Builtin::Count, "count"),
    (Builtin::Sort, "sort"),
    (Builtin::Zip, "zip"),
    (Builtin::Unzip, "unzip"),
    (Builtin::Concat, "concat"),
    (Builtin::Reverse, "reverse"),
    (Builtin::Replicate, "replicate"),
    (Builtin::Rotate, "rotate"),
    (Builtin::Update, "update"),
    (Builtin::ArrayUpdate, "array_update"),
    (Builtin::UpdateSlice, "update_slice"),
    (Builtin::ArrayUpdateSlice, "array_update_slice"),
    (Builtin::Tabulate, "tabulate"),
    (Builtin::TabulateArray, "tabulate_array"),
    (Builtin::Partition, "partition"),
    (Builtin::Shape, "shape"),
    (Builtin::Reshape, "reshape"),
    (Builtin::Transpose, "transpose"),
    (Builtin::Flatten, "flatten"),
    (Builtin::Rows, "rows"),
    (Builtin::Unrows, "unrows"),
    (Builtin::Segments, "segments"),
    (Builtin::Unflatten, "unflatten"),
    (Builtin::Iterate, "iterate"),
    (Builtin::While, "while"),
    (map(Level::Sequential, None), "map_seq"),
    (map(Level::Sequential, GLOBAL), "map_seq.to_global"),
    (map(Level::Sequential, LOCAL), "map_seq.to_local"),
    (map(Level::Sequential, PRIVATE), "map_seq.to_private"),
    (map(Level::Global, None), "map_global"),
    (map(Level::Global, GLOBAL), "map_global.to_global"),
    (map(Level::Global, LOCAL), "map_global.to_local"),
    (map(Level::Global, PRIVATE), "map_global.to_private"),
    (map(Level::Workgroup, None), "map_workgroup"),
    (map(Level::Workgroup, GLOBAL), "map_workgroup.to_global"),
    (map(Level::Workgroup, LOCAL), "map_workgroup.to_local"),
    (map(Level::Workgroup, PRIVATE), "map_workgroup.to_private"),
    (map(Level::Local, None), "map_local"),
    (map(Level::Local, GLOBAL), "map_local.to_global"),
    (map(Level::Local, LOCAL), "map_local.to_local"),
    (map(Level::Local, PRIVATE), "map_local.to_private"),
    (Builtin::ReduceSeq { space: None }, "reduce_seq"),
    (Builtin::ReduceSeq { space: GLOBAL }, "reduce_seq.to_global"),
    (Builtin::ReduceSeq { space: LOCAL }, "reduce_seq.to_local"),
    (
        Builtin::ReduceSeq { space: PRIVATE },
        "reduce_seq.to_private",
    ),
    (Builtin::Split, "split"),
    (Builtin::AsVector { lanes: 2 }, "as_vector2"),
    (Builtin::AsVector { lanes: 4 }, "as_vector4"),
    (Builtin::AsVector { lanes: 8 }, "as_vector8"),
    (Builtin::AsVector { lanes: 16 }, "as_vector16"),
    (Builtin::AsScalar, "as_scalar"),
    (Builtin::Table { exact: true }, "table"),
    (Builtin::Table { exact: false }, "loose_table"),
    (Builtin::Datum { checked: true }, "datum"),
    (Builtin::Datum { checked: false }, "unchecked_datum"),
    (Builtin::NodeAt, "node_at"),
];
