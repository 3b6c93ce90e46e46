//! Operations on scalars, shared by every intermediate representation: a row for each in
//! [`SCALAR_OPERATIONS`] has its names, types and laws.

use crate::Scalar;

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
    /// Or the float that has the bits of an unsigned integer.
    /// Programs cannot use it, only passes do.
    Bits(Scalar),
    /// `Sin` of a float of at most [`BOUND_OF_ANGLES`] in magnitude. Other arguments give any number.
    /// Programs cannot use it, only passes do.
    SinBounded,
    /// `Cos`, in the same way.
    CosBounded,
}

/// The greatest magnitude of the arguments of `SinBounded` and `CosBounded`. That many quarter turns times
/// pi/2 are exact in few operations.
pub const BOUND_OF_ANGLES: f32 = 65_536.0;

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
            ScalarOperation::SinBounded | ScalarOperation::CosBounded => true,
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
            ScalarOperation::SinBounded => "sin_bounded".into(),
            ScalarOperation::CosBounded => "cos_bounded".into(),
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
        match short {
            "sin_bounded" => Some(ScalarOperation::SinBounded),
            "cos_bounded" => Some(ScalarOperation::CosBounded),
            other => SCALAR_OPERATIONS
                .iter()
                .find(|i| i.short == other)
                .map(|i| i.operation),
        }
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
