//! The table of built-in functions (language §5).
//!
//! [`ScalarOperation`] are the operations on scalars, shared by every intermediate representation.
//! [`Builtin`] adds the vector functions of Core. Conveniences of the surface language are translated
//! before: `and`/`or` are conditionals, `range` has three arguments, `to_T`/`from_T` are conversions,
//! and functions given a `vector#n` get its `rows`.

use crate::Scalar;
use crate::strategy::{Level, Space, Strategy};

/// An operation on scalars. Operand and result types are those of its arguments unless stated
/// otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScalarOperation {
    Add,
    Subtract,
    Multiply,
    /// Integers truncate. By 0 it is an error in Core, and undefined from Flat on (checked before).
    Divide,
    /// As `Divide`, with the sign of the dividend.
    Remainder,
    /// For floats as C's fmin: a nan loses, and -0.0 is less than 0.0.
    Minimum,
    /// For floats as C's fmax: a nan loses, and 0.0 is more than -0.0.
    Maximum,
    Negate,
    Absolute,
    Sqrt,
    ReciprocalSqrt,
    Reciprocal,
    Exp,
    Exp2,
    Log,
    Log2,
    Log10,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Pow,
    Atan2,
    Floor,
    Ceil,
    /// Half away from zero.
    Round,
    Truncate,
    Erf,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Not,
    BitAnd,
    BitOr,
    BitXor,
    BitNot,
    /// The number of bits that are set in the two's complement of the argument's type.
    PopCount,
    /// Shifts by the second argument (of the same type). An amount outside 0..width-1 is an error in
    /// Core, and undefined from Flat on (checked before).
    ShiftLeft,
    /// Extends the sign of signed types.
    ShiftRight,
    /// Converts to the given type. A value that does not fit is an error in Core, and undefined from
    /// Flat on (checked by `Fits` before). Float to integer truncates, and double to float rounds. A
    /// bool becomes 0 or 1, and to bool is `≠ 0` (nan is true).
    Convert(Scalar),
    /// Converts to the given integer type, wrapping. A float becomes its value modulo 2^bits after
    /// truncation, or 0 for nan and infinities.
    Wrap(Scalar),
    /// Tests whether `Convert` to the given type is defined. Gives a bool.
    Fits(Scalar),
    /// The bits of a float, as the unsigned integer of its width. For a nan they are those of any nan.
    /// Programs cannot use it, only passes do.
    Bits(Scalar),
}

/// A row of the table of scalar operations.
pub struct ScalarOperationInfo {
    /// The operation.
    pub operation: ScalarOperation,
    /// Its name in programs.
    pub name: &'static str,
    /// Its name in the intermediate representations.
    pub short: &'static str,
    /// The number of its arguments.
    pub arity: usize,
    /// The types that it accepts.
    pub class: Class,
    /// The kind of its result.
    pub result: ResultKind,
    /// Its cost on a processor.
    pub cost: Cost,
    /// The arguments for which it is defined.
    pub domain: Domain,
}

/// The types an operation accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// Integers and floats.
    Number,
    /// Integers.
    Integer,
    /// `float` and `double`.
    Floating,
    /// Numbers and bool.
    Scalar,
    /// bool.
    Bool,
}

impl Class {
    /// True if `scalar` belongs to the class.
    pub fn contains(self, scalar: Scalar) -> bool {
        match self {
            Class::Number => scalar != Scalar::Bool,
            Class::Integer => scalar.is_integer(),
            Class::Floating => scalar.is_float(),
            Class::Scalar => true,
            Class::Bool => scalar == Scalar::Bool,
        }
    }
}

/// The result of a scalar operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultKind {
    /// The arguments' type.
    Same,
    /// A bool.
    Bool,
}

/// The cost of a scalar operation on a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// A few cycles at most, in vectors too.
    Low,
    /// More cycles, or a call.
    High,
}

/// The arguments for which a scalar operation is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// All of them.
    All,
    /// All floats, and some integers.
    Floats,
    /// Some of them.
    Some,
}

macro_rules! scalar_operations {
    ($($operation:ident $name:literal $short:literal $arity:literal $class:ident $result:ident
        $cost:ident $domain:ident;)*) => {
        /// Every scalar operation but the conversions.
        pub const SCALAR_OPERATIONS: &[ScalarOperationInfo] = &[$(ScalarOperationInfo {
            operation: ScalarOperation::$operation, name: $name, short: $short, arity: $arity,
            class: Class::$class, result: ResultKind::$result, cost: Cost::$cost,
            domain: Domain::$domain,
        }),*];
    };
}

scalar_operations! {
    Add "+" "add" 2 Number Same Low All;
    Subtract "-" "sub" 2 Number Same Low All;
    Multiply "*" "mul" 2 Number Same Low All;
    Divide "/" "div" 2 Number Same High Floats;
    Remainder "%" "rem" 2 Integer Same High Some;
    Minimum "min" "min" 2 Number Same Low All;
    Maximum "max" "max" 2 Number Same Low All;
    Negate "neg" "neg" 1 Number Same Low All;
    Absolute "abs" "abs" 1 Number Same Low All;
    Sqrt "sqrt" "sqrt" 1 Floating Same High All;
    ReciprocalSqrt "rsqrt" "rsqrt" 1 Floating Same High All;
    Reciprocal "recip" "recip" 1 Floating Same High All;
    Exp "exp" "exp" 1 Floating Same High All;
    Exp2 "exp2" "exp2" 1 Floating Same High All;
    Log "log" "log" 1 Floating Same High All;
    Log2 "log2" "log2" 1 Floating Same High All;
    Log10 "log10" "log10" 1 Floating Same High All;
    Sin "sin" "sin" 1 Floating Same High All;
    Cos "cos" "cos" 1 Floating Same High All;
    Tan "tan" "tan" 1 Floating Same High All;
    Asin "asin" "asin" 1 Floating Same High All;
    Acos "acos" "acos" 1 Floating Same High All;
    Atan "atan" "atan" 1 Floating Same High All;
    Sinh "sinh" "sinh" 1 Floating Same High All;
    Cosh "cosh" "cosh" 1 Floating Same High All;
    Tanh "tanh" "tanh" 1 Floating Same High All;
    Pow "pow" "pow" 2 Floating Same High All;
    Atan2 "atan2" "atan2" 2 Floating Same High All;
    Floor "floor" "floor" 1 Floating Same High All;
    Ceil "ceil" "ceil" 1 Floating Same High All;
    Round "round" "round" 1 Floating Same High All;
    Truncate "trunc" "trunc" 1 Floating Same High All;
    Erf "erf" "erf" 1 Floating Same High All;
    Equal "=" "eq" 2 Scalar Bool Low All;
    NotEqual "~=" "ne" 2 Scalar Bool Low All;
    Less "<" "lt" 2 Number Bool Low All;
    LessEqual "<=" "le" 2 Number Bool Low All;
    Greater ">" "gt" 2 Number Bool Low All;
    GreaterEqual ">=" "ge" 2 Number Bool Low All;
    Not "not" "not" 1 Bool Bool Low All;
    BitAnd "&" "and" 2 Integer Same Low All;
    BitOr "|" "or" 2 Integer Same Low All;
    BitXor "^" "xor" 2 Integer Same Low All;
    BitNot "~" "compl" 1 Integer Same Low All;
    PopCount "popcount" "popcount" 1 Integer Same Low All;
    ShiftLeft "<<" "shl" 2 Integer Same Low Some;
    ShiftRight ">>" "shr" 2 Integer Same Low Some;
}

impl ScalarOperation {
    /// Returns its row of [`SCALAR_OPERATIONS`], or `None` for the conversions.
    pub fn info(self) -> Option<&'static ScalarOperationInfo> {
        SCALAR_OPERATIONS.iter().find(|i| i.operation == self)
    }

    /// Returns the number of its arguments.
    pub fn arity(self) -> usize {
        self.info().map_or(1, |i| i.arity)
    }

    /// Returns its result type for arguments of type `operand`.
    pub fn result(self, operand: Scalar) -> Scalar {
        match self {
            ScalarOperation::Convert(to)
            | ScalarOperation::Wrap(to)
            | ScalarOperation::Bits(to) => to,
            ScalarOperation::Fits(_) => Scalar::Bool,
            other => match other.info().map(|i| i.result) {
                Some(ResultKind::Bool) => Scalar::Bool,
                Some(ResultKind::Same) | None => operand,
            },
        }
    }

    /// Returns the comparison that holds exactly if this one does not. For floats only equality has
    /// one.
    pub fn opposite(self, operand: Scalar) -> Option<ScalarOperation> {
        use ScalarOperation as O;
        match self {
            O::Equal => Some(O::NotEqual),
            O::NotEqual => Some(O::Equal),
            _ if operand.is_float() => None,
            O::Less => Some(O::GreaterEqual),
            O::GreaterEqual => Some(O::Less),
            O::Greater => Some(O::LessEqual),
            O::LessEqual => Some(O::Greater),
            _ => None,
        }
    }

    /// True if it is defined for all arguments of type `operand`, so that none is an error.
    pub fn is_total(self, operand: Scalar) -> bool {
        match self {
            ScalarOperation::Convert(to) => {
                let widens = operand.is_signed() == to.is_signed() && operand.bits() <= to.bits();
                to.is_float() || (operand.is_integer() && to.is_integer() && widens)
            }
            ScalarOperation::Wrap(_) | ScalarOperation::Fits(_) | ScalarOperation::Bits(_) => true,
            other => match other.info().map(|i| i.domain) {
                Some(Domain::All) => true,
                Some(Domain::Floats) => operand.is_float(),
                Some(Domain::Some) | None => false,
            },
        }
    }

    /// Returns its name in the intermediate representations: `add`, `convert.i64`, `fits.u8`.
    pub fn short(self) -> String {
        match self {
            ScalarOperation::Convert(to) => format!("convert.{}", to.info().short),
            ScalarOperation::Wrap(to) => format!("wrap.{}", to.info().short),
            ScalarOperation::Fits(to) => format!("fits.{}", to.info().short),
            ScalarOperation::Bits(to) => format!("bits.{}", to.info().short),
            other => other.info().map_or("", |i| i.short).to_string(),
        }
    }

    /// Parses the names that [`ScalarOperation::short`] returns.
    pub fn by_short(short: &str) -> Option<ScalarOperation> {
        if let Some((name, to)) = short.split_once('.') {
            let to = Scalar::by_short(to)?;
            return match name {
                "convert" => Some(ScalarOperation::Convert(to)),
                "wrap" => Some(ScalarOperation::Wrap(to)),
                "fits" => Some(ScalarOperation::Fits(to)),
                "bits" => Some(ScalarOperation::Bits(to)),
                _ => None,
            };
        }
        SCALAR_OPERATIONS
            .iter()
            .find(|i| i.short == short)
            .map(|i| i.operation)
    }

    /// True if the operator is known to commute, so that elements of a reduction may be reordered
    /// (language §5, `reduce`).
    pub fn commutes(self) -> bool {
        matches!(
            self,
            ScalarOperation::Add
                | ScalarOperation::Multiply
                | ScalarOperation::Minimum
                | ScalarOperation::Maximum
                | ScalarOperation::BitAnd
                | ScalarOperation::BitOr
                | ScalarOperation::BitXor
        )
    }
}

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
];
