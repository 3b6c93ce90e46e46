//! Emits scalar operations as C expressions without undefined behaviour.
//!
//! Sums, differences and products of 32- and 64-bit signed integers are computed in the unsigned type
//! of the same width. Such a [`Value`] is *raw*: a conversion to the type of the value gives the value.
//! C converts where the value is assigned; where the type of the expression matters, it is cast first.
//!
//! Constants of 64 bits that fit into C's `int` are written without a suffix where C converts them.
//! They are written with their type where the type of the result depends on it, as for shifts.

mod arithmetic;
mod compare;
mod convert;

use crate::syntax::{block_type, literal};
use arithmetic::{arithmetic, divide, exact_binary, unsigned};
use compare::comparison;
use convert::{convert, fits};
use nova_c_ast::ast::{Binary, Expression, Type, Unary, not};
use nova_core::{Scalar, ScalarOperation, ScalarValue};

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A scalar.
    Scalar,
    /// A pointer to elements.
    Pointer,
    /// A handle of a block.
    Block,
}

/// The relation between the C type of an expression and the type of its scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Raw {
    /// It is the scalar's type.
    Own,
    /// It is the unsigned type of the same width.
    Unsigned,
    /// It is `int`, with the same value: constants of 64 bits, and operations on such constants alone.
    Small,
    /// It is another type; a conversion to the scalar's type gives the value.
    Other,
}

/// A C expression for a scalar, a pointer or a handle.
#[derive(Clone, Debug)]
pub struct Value {
    /// The expression.
    pub expression: Expression,
    /// Its kind.
    pub shape: Shape,
    /// The type of the value, or of the elements it points to.
    pub scalar: Scalar,
    /// The C type of the expression.
    pub raw: Raw,
    /// Its depth.
    pub depth: u32,
    /// True if it is an index of a loop or a counter. Its value plus or minus one stays in the range of
    /// its type.
    pub index: bool,
}

/// Returns the zero of a scalar.
pub fn zero(scalar: Scalar) -> Expression {
    match scalar {
        Scalar::Bool => Expression::name("false"),
        Scalar::F32 => Expression::literal("0.0f"),
        Scalar::F64 => Expression::literal("0.0"),
        _integer => literal(0),
    }
}

/// Returns the C type of a scalar in memory.
pub fn memory_type(scalar: Scalar) -> Type {
    Type::name(scalar.info().c_type)
}

/// Returns the C type of a scalar in a variable.
pub fn variable_type(scalar: Scalar) -> Type {
    match scalar {
        Scalar::Bool => Type::name("bool"),
        _number => memory_type(scalar),
    }
}

impl Value {
    /// Returns a value whose C type is its own.
    pub fn exact(expression: Expression, scalar: Scalar, depth: u32) -> Value {
        Value {
            expression,
            shape: Shape::Scalar,
            scalar,
            raw: Raw::Own,
            depth,
            index: false,
        }
    }

    /// Returns a pointer to elements.
    pub fn pointer(expression: Expression, element: Scalar, depth: u32) -> Value {
        Value {
            shape: Shape::Pointer,
            ..Value::exact(expression, element, depth)
        }
    }

    /// Returns a handle.
    pub fn block(expression: Expression, depth: u32) -> Value {
        Value {
            shape: Shape::Block,
            ..Value::exact(expression, Scalar::U8, depth)
        }
    }

    /// Returns the C type of a variable for the value.
    pub fn ty(&self) -> Type {
        match self.shape {
            Shape::Scalar => variable_type(self.scalar),
            Shape::Pointer => memory_type(self.scalar).pointer(),
            Shape::Block => block_type(),
        }
    }

    /// Returns an expression of the type in which C computes: the unsigned type for 32 and 64 bits,
    /// `int` for fewer bits.
    fn raw(expression: Expression, scalar: Scalar, depth: u32) -> Value {
        let raw = match scalar {
            Scalar::I32 | Scalar::I64 => Raw::Unsigned,
            Scalar::I8
            | Scalar::I16
            | Scalar::U8
            | Scalar::U16
            | Scalar::U32
            | Scalar::U64
            | Scalar::F32
            | Scalar::F64
            | Scalar::Bool => Raw::Other,
        };
        Value {
            raw,
            ..Value::exact(expression, scalar, depth)
        }
    }

    /// Returns an expression of type `int` if the scalar is narrow, of its own type otherwise.
    fn promoted(expression: Expression, scalar: Scalar, depth: u32) -> Value {
        let raw = if is_narrow(scalar) {
            Raw::Other
        } else {
            Raw::Own
        };
        Value {
            raw,
            ..Value::exact(expression, scalar, depth)
        }
    }

    /// Returns a constant.
    pub fn constant(value: ScalarValue) -> Value {
        let expression = constant(value);
        let raw = match (value.scalar(), &expression) {
            (Scalar::I64, Expression::Literal(_)) => Raw::Small,
            _ => Raw::Own,
        };
        Value {
            raw,
            ..Value::exact(expression, value.scalar(), 1)
        }
    }

    /// Returns the expression, converted to the value's own type.
    pub fn own(self) -> Expression {
        match (self.raw, self.expression) {
            (Raw::Own, expression) => expression,
            (Raw::Small, literal @ Expression::Literal(_)) => {
                Expression::pure("INT64_C", vec![literal])
            }
            (Raw::Small | Raw::Unsigned | Raw::Other, expression) => {
                expression.cast(variable_type(self.scalar))
            }
        }
    }

    /// Returns the expression with the right value, where C converts it to the type that is needed.
    pub fn plain(self) -> Expression {
        match self.raw {
            Raw::Small => self.expression,
            Raw::Own | Raw::Unsigned | Raw::Other => self.own(),
        }
    }

    /// Returns the relation for an expression whose type C derives from these two values alone.
    pub fn joint(a: &Value, b: &Value) -> Raw {
        match (a.raw, b.raw) {
            (Raw::Small, Raw::Small) => Raw::Small,
            _ => Raw::Own,
        }
    }
}

/// Returns a constant in C. A constant of 64 bits may be an `int`.
pub fn constant(value: ScalarValue) -> Expression {
    let text = match value {
        ScalarValue::I8(v) => v.to_string(),
        ScalarValue::I16(v) => v.to_string(),
        ScalarValue::I32(i32::MIN) => "INT32_MIN".into(),
        ScalarValue::I32(v) => v.to_string(),
        ScalarValue::I64(i64::MIN) => "INT64_MIN".into(),
        ScalarValue::I64(v) if i32::try_from(v).is_ok() && v != i64::from(i32::MIN) => {
            v.to_string()
        }
        ScalarValue::I64(v) => format!("INT64_C({v})"),
        ScalarValue::U8(v) => v.to_string(),
        ScalarValue::U16(v) => v.to_string(),
        ScalarValue::U32(v) => format!("{v}u"),
        ScalarValue::U64(v) => format!("UINT64_C({v})"),
        ScalarValue::F32(v) => return float(f64::from(v), format!("{v:?}f"), Scalar::F32),
        ScalarValue::F64(v) => return float(v, format!("{v:?}"), Scalar::F64),
        ScalarValue::Bool(v) => v.to_string(),
    };
    match text.find('(') {
        Some(open) => Expression::pure(
            &text[..open],
            vec![Expression::literal(text[open + 1..].trim_end_matches(')'))],
        ),
        None if text.starts_with(|c: char| c.is_ascii_alphabetic()) => Expression::name(text),
        None => Expression::literal(text),
    }
}

fn float(value: f64, text: String, scalar: Scalar) -> Expression {
    let special = if value.is_nan() {
        Expression::name("NAN")
    } else if value == f64::INFINITY {
        Expression::name("INFINITY")
    } else if value == f64::NEG_INFINITY {
        Expression::unary(Unary::Minus, Expression::name("INFINITY"))
    } else {
        return Expression::literal(text);
    };
    if scalar == Scalar::F64 {
        return special.cast(memory_type(Scalar::F64));
    }
    special
}

/// Returns the unsigned type in which a signed one is computed; `None` where nothing can overflow in C.
fn unsigned_of(scalar: Scalar) -> Option<Type> {
    match scalar {
        Scalar::I32 => Some(Type::name("uint32_t")),
        Scalar::I64 => Some(Type::name("uint64_t")),
        // It would be promoted to `int`, in which products of unsigned 16-bit numbers overflow.
        Scalar::U16 => Some(Type::name("uint32_t")),
        Scalar::I8 | Scalar::I16 | Scalar::U8 | Scalar::U32 | Scalar::U64 => None,
        Scalar::F32 | Scalar::F64 | Scalar::Bool => None,
    }
}

/// True if C computes on the type in `int`, so that results must be truncated.
fn is_narrow(scalar: Scalar) -> bool {
    matches!(scalar, Scalar::I8 | Scalar::I16 | Scalar::U8 | Scalar::U16)
}

/// The source of mathematical functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Functions {
    /// The runtime's own functions, for strict floating point.
    Strict,
    /// The library of the target language.
    Library,
    /// The library of kernels, which has a reciprocal square root.
    Kernels,
    /// C's library under names of the runtime, which have vector versions where the library has.
    Vector,
}

/// Applies an operation. `functions` is the source of mathematical functions.
pub fn apply(operation: ScalarOperation, mut arguments: Vec<Value>, functions: Functions) -> Value {
    let second = (arguments.len() > 1).then(|| arguments.remove(1));
    // The verifier of Loop has checked the number of arguments.
    let first = arguments
        .pop()
        .unwrap_or_else(|| Value::exact(literal(0), Scalar::I32, 1));
    match second {
        Some(second) => binary(operation, first, second, functions),
        None => unary(operation, first, functions),
    }
}

fn binary(operation: ScalarOperation, a: Value, b: Value, functions: Functions) -> Value {
    use ScalarOperation as O;
    let scalar = a.scalar;
    let depth = a.depth.max(b.depth) + 1;
    match operation {
        O::Add => arithmetic(Binary::Add, a, b),
        O::Subtract if is_float_zero(&a) => {
            let negated = Expression::unary(Unary::Minus, b.own());
            let sum = Expression::binary(Binary::Add, negated, a.own());
            Value::exact(sum, scalar, depth + 1)
        }
        O::Subtract => arithmetic(Binary::Subtract, a, b),
        O::Multiply => arithmetic(Binary::Multiply, a, b),
        O::Divide => divide(Binary::Divide, "nova_divide", a, b),
        O::Remainder => divide(Binary::Remainder, "nova_remainder", a, b),
        O::Minimum => extremum("minimum", a, b, functions),
        O::Maximum => extremum("maximum", a, b, functions),
        O::Equal => comparison(Binary::Equal, a, b),
        O::NotEqual => comparison(Binary::NotEqual, a, b),
        O::Less => comparison(Binary::Less, a, b),
        O::LessEqual => comparison(Binary::LessEqual, a, b),
        O::Greater => comparison(Binary::Greater, a, b),
        O::GreaterEqual => comparison(Binary::GreaterEqual, a, b),
        O::BitAnd => exact_binary(Binary::BitAnd, a, b),
        O::BitOr => exact_binary(Binary::BitOr, a, b),
        O::BitXor => exact_binary(Binary::BitXor, a, b),
        O::ShiftLeft => {
            let left = match scalar {
                Scalar::U32 | Scalar::U64 => a.own(),
                Scalar::I64 => unsigned(a, Type::name("uint64_t")),
                Scalar::I8
                | Scalar::I16
                | Scalar::I32
                | Scalar::U8
                | Scalar::U16
                | Scalar::F32
                | Scalar::F64
                | Scalar::Bool => unsigned(a, Type::name("uint32_t")),
            };
            let shifted = Expression::binary(Binary::ShiftLeft, left, b.plain());
            match matches!(scalar, Scalar::U32 | Scalar::U64) {
                true => Value::exact(shifted, scalar, depth),
                false => Value::raw(shifted, scalar, depth),
            }
        }
        O::ShiftRight => {
            let shifted = Expression::binary(Binary::ShiftRight, a.own(), b.plain());
            Value::exact(shifted, scalar, depth)
        }
        O::Pow | O::Atan2 => function(operation, vec![a, b], functions),
        // These operations have one argument.
        O::Negate | O::Absolute | O::Sqrt | O::ReciprocalSqrt | O::Reciprocal | O::Exp => a,
        O::Exp2 | O::Log | O::Log2 | O::Log10 | O::Sin | O::Cos | O::Tan | O::Asin | O::Acos => a,
        O::Atan | O::Sinh | O::Cosh | O::Tanh | O::Floor | O::Ceil | O::Round | O::Truncate => a,
        O::Erf | O::Not | O::BitNot | O::PopCount | O::Convert(_) | O::Wrap(_) | O::Fits(_) => a,
        O::Bits(_) | O::SinBounded | O::CosBounded => a,
    }
}

/// True for the constant 0.0. `0.0 - x` is written `-x + 0.0`, which is the same number for each `x`.
/// GCC 12 folds a difference of 0.0 and a conditional of constants to the negated conditional, and so
/// gives -0.0 for 0.0.
fn is_float_zero(value: &Value) -> bool {
    let text = value.expression.as_literal();
    value.scalar.is_float() && text.is_some_and(|text| matches!(&**text, "0.0" | "0.0f"))
}

fn extremum(name: &str, a: Value, b: Value, functions: Functions) -> Value {
    let (scalar, depth) = (a.scalar, a.depth.max(b.depth) + 1);
    let width = match scalar {
        Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::U8 | Scalar::U16 | Scalar::Bool => "i32",
        Scalar::I64 => "i64",
        Scalar::U32 => "u32",
        Scalar::U64 => "u64",
        Scalar::F32 => "f32",
        Scalar::F64 => "f64",
    };
    let order = if functions == Functions::Strict && scalar.is_float() {
        "strict_"
    } else {
        ""
    };
    let name = format!("nova_{order}{name}_{width}");
    let call = Expression::pure(name, vec![a.plain(), b.plain()]);
    Value::exact(call, scalar, depth)
}

fn unary(operation: ScalarOperation, a: Value, functions: Functions) -> Value {
    use ScalarOperation as O;
    let (scalar, depth) = (a.scalar, a.depth + 1);
    match operation {
        O::Negate => match unsigned_of(scalar) {
            Some(ty) if scalar != Scalar::U16 => {
                let operand = unsigned(a, ty);
                Value::raw(Expression::unary(Unary::Minus, operand), scalar, depth)
            }
            Some(_) | None => {
                let negated = Expression::unary(Unary::Minus, a.own());
                Value::promoted(negated, scalar, depth)
            }
        },
        O::Absolute => absolute(a),
        O::Not => Value::exact(not(a.own()), Scalar::Bool, depth),
        O::BitNot => {
            let small = a.raw == Raw::Small;
            let complement = Expression::unary(Unary::Complement, a.plain());
            let value = Value::promoted(complement, scalar, depth);
            match small {
                true => Value {
                    raw: Raw::Small,
                    ..value
                },
                false => value,
            }
        }
        O::PopCount => pop_count(a),
        O::Wrap(to) if scalar.is_float() => {
            let wrapped = Expression::pure("nova_wrap", vec![a.own()]);
            Value::exact(wrapped.cast(variable_type(to)), to, depth + 1)
        }
        O::Convert(to) | O::Wrap(to) => convert(a, to),
        O::Fits(to) => fits(a, to),
        O::Bits(to) => {
            let name = match to {
                Scalar::U64 => "nova_bits",
                Scalar::F64 => "nova_from_bits",
                Scalar::F32 => "nova_from_bits_f32",
                _narrow => "nova_bits_f32",
            };
            Value::exact(Expression::pure(name, vec![a.own()]), to, depth)
        }
        O::Reciprocal => Value::exact(
            Expression::binary(Binary::Divide, one(scalar), a.own()),
            scalar,
            depth,
        ),
        O::ReciprocalSqrt if functions == Functions::Kernels => {
            function(operation, vec![a], functions)
        }
        O::ReciprocalSqrt => {
            let root = function(O::Sqrt, vec![a], functions).expression;
            let quotient = Expression::binary(Binary::Divide, one(scalar), root);
            Value::exact(quotient, scalar, depth + 1)
        }
        O::Sqrt | O::Exp | O::Exp2 | O::Log | O::Log2 | O::Log10 | O::Sin | O::Cos | O::Tan => {
            function(operation, vec![a], functions)
        }
        O::Asin | O::Acos | O::Atan | O::Sinh | O::Cosh | O::Tanh | O::Floor | O::Ceil => {
            function(operation, vec![a], functions)
        }
        O::Round | O::Truncate | O::Erf | O::SinBounded | O::CosBounded => {
            function(operation, vec![a], functions)
        }
        // These operations have two arguments.
        O::Add | O::Subtract | O::Multiply | O::Divide | O::Remainder | O::Minimum => a,
        O::Maximum | O::Pow | O::Atan2 | O::Equal | O::NotEqual | O::Less | O::LessEqual => a,
        O::Greater | O::GreaterEqual | O::BitAnd | O::BitOr | O::BitXor => a,
        O::ShiftLeft | O::ShiftRight => a,
    }
}

fn one(scalar: Scalar) -> Expression {
    Expression::literal(if scalar == Scalar::F32 { "1.0f" } else { "1.0" })
}

fn absolute(a: Value) -> Value {
    let (scalar, depth) = (a.scalar, a.depth + 1);
    let name = match scalar {
        Scalar::I8 | Scalar::I16 | Scalar::I32 => "nova_absolute_i32",
        Scalar::I64 => "nova_absolute_i64",
        Scalar::F32 => "fabsf",
        Scalar::F64 => "fabs",
        Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 | Scalar::Bool => return a,
    };
    Value::promoted(Expression::pure(name, vec![a.plain()]), scalar, depth)
}

/// Returns the number of set bits. Those of narrow types are counted as unsigned numbers.
fn pop_count(a: Value) -> Value {
    let (scalar, depth) = (a.scalar, a.depth + 1);
    let (name, argument) = match scalar {
        Scalar::I8 => ("u32", a.plain().cast(Type::name("uint8_t"))),
        Scalar::I16 => ("u32", a.plain().cast(Type::name("uint16_t"))),
        Scalar::I64 | Scalar::U64 => ("u64", a.own()),
        Scalar::I32 | Scalar::U8 | Scalar::U16 | Scalar::U32 => ("u32", a.own()),
        Scalar::F32 | Scalar::F64 | Scalar::Bool => return a,
    };
    let call = Expression::pure(format!("nova_popcount_{name}"), vec![argument]);
    Value::exact(call.cast(variable_type(scalar)), scalar, depth)
}

/// Returns a function of the C library or of the runtime: a strict one, or one with vector versions.
fn function(operation: ScalarOperation, arguments: Vec<Value>, functions: Functions) -> Value {
    use ScalarOperation as O;
    let scalar = arguments.first().map_or(Scalar::F64, |a| a.scalar);
    let depth = arguments.iter().map(|a| a.depth).max().unwrap_or(0) + 1;
    let values = arguments.into_iter().map(Value::own).collect();
    let short = operation.short();
    let exact = matches!(
        operation,
        O::Sqrt | O::Floor | O::Ceil | O::Round | O::Truncate
    );
    if functions == Functions::Strict && !exact {
        let call = Expression::pure(format!("nova_{short}"), values);
        let expression = if scalar == Scalar::F32 {
            call.cast(memory_type(Scalar::F32))
        } else {
            call
        };
        return Value::exact(expression, scalar, depth + 1);
    }
    let name = match (operation, scalar) {
        (O::Exp | O::Log | O::SinBounded | O::CosBounded, Scalar::F32) => {
            format!("nova_{short}_f32")
        }
        (_, Scalar::F32) if functions == Functions::Vector && !exact => format!("nova_{short}_f32"),
        (_, _double) if functions == Functions::Vector && !exact => format!("nova_{short}_f64"),
        (_, Scalar::F32) => format!("{short}f"),
        _ => short,
    };
    Value::exact(Expression::pure(name, values), scalar, depth)
}
