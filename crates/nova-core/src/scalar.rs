//! Scalar types and values. One table describes the types, and every interpreter and every emitter
//! reads it. The semantics of operations on them is in [`crate::operations`].

use std::fmt;

/// A scalar type (language §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scalar {
    I8,
    I16,
    /// `int`.
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    /// `float`.
    F32,
    /// `double`.
    F64,
    Bool,
}

/// A row of the table of scalar types: their names and sizes.
pub struct ScalarInfo {
    /// The type.
    pub scalar: Scalar,
    /// Its name in NOVA (also in `to_T`).
    pub name: &'static str,
    /// Its name in the intermediate representations.
    pub short: &'static str,
    /// Its C type in arrays and structs (`bool` is `uint8_t` there).
    pub c_type: &'static str,
    /// Its size in bytes in memory.
    pub bytes: u8,
}

/// All scalar types in the order of [`Scalar`].
pub const SCALARS: [ScalarInfo; 11] = [
    ScalarInfo {
        scalar: Scalar::I8,
        name: "int8",
        short: "i8",
        c_type: "int8_t",
        bytes: 1,
    },
    ScalarInfo {
        scalar: Scalar::I16,
        name: "int16",
        short: "i16",
        c_type: "int16_t",
        bytes: 2,
    },
    ScalarInfo {
        scalar: Scalar::I32,
        name: "int",
        short: "i32",
        c_type: "int32_t",
        bytes: 4,
    },
    ScalarInfo {
        scalar: Scalar::I64,
        name: "int64",
        short: "i64",
        c_type: "int64_t",
        bytes: 8,
    },
    ScalarInfo {
        scalar: Scalar::U8,
        name: "uint8",
        short: "u8",
        c_type: "uint8_t",
        bytes: 1,
    },
    ScalarInfo {
        scalar: Scalar::U16,
        name: "uint16",
        short: "u16",
        c_type: "uint16_t",
        bytes: 2,
    },
    ScalarInfo {
        scalar: Scalar::U32,
        name: "uint32",
        short: "u32",
        c_type: "uint32_t",
        bytes: 4,
    },
    ScalarInfo {
        scalar: Scalar::U64,
        name: "uint64",
        short: "u64",
        c_type: "uint64_t",
        bytes: 8,
    },
    ScalarInfo {
        scalar: Scalar::F32,
        name: "float",
        short: "f32",
        c_type: "float",
        bytes: 4,
    },
    ScalarInfo {
        scalar: Scalar::F64,
        name: "double",
        short: "f64",
        c_type: "double",
        bytes: 8,
    },
    ScalarInfo {
        scalar: Scalar::Bool,
        name: "bool",
        short: "bool",
        c_type: "uint8_t",
        bytes: 1,
    },
];

impl Scalar {
    /// Returns its row of [`SCALARS`].
    pub fn info(self) -> &'static ScalarInfo {
        &SCALARS[self as usize]
    }

    /// Returns the type called `name` in NOVA. `int32` is `int`.
    pub fn by_name(name: &str) -> Option<Scalar> {
        if name == "int32" {
            return Some(Scalar::I32);
        }
        SCALARS.iter().find(|s| s.name == name).map(|s| s.scalar)
    }

    /// Returns the type called `short` in the intermediate representations.
    pub fn by_short(short: &str) -> Option<Scalar> {
        SCALARS.iter().find(|s| s.short == short).map(|s| s.scalar)
    }

    /// True if it is an integer type, signed or not.
    pub fn is_integer(self) -> bool {
        !matches!(self, Scalar::F32 | Scalar::F64 | Scalar::Bool)
    }

    /// True if it is a signed integer type.
    pub fn is_signed(self) -> bool {
        matches!(self, Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64)
    }

    /// True if it is `float` or `double`.
    pub fn is_float(self) -> bool {
        matches!(self, Scalar::F32 | Scalar::F64)
    }

    /// Returns its size in bits in memory.
    pub fn bits(self) -> u32 {
        u32::from(self.info().bytes) * 8
    }

    /// True if one is a float and the other the unsigned integer of its width.
    pub fn holds_bits_of(self, other: Scalar) -> bool {
        matches!(
            (self, other),
            (Scalar::F32, Scalar::U32)
                | (Scalar::F64, Scalar::U64)
                | (Scalar::U32, Scalar::F32)
                | (Scalar::U64, Scalar::F64)
        )
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.info().name)
    }
}

/// A scalar value.
///
/// `PartialEq` compares as the program would (`nan` differs from itself). [`ScalarValue::same`]
/// compares for tests (every nan equals every nan, `0.0` differs from `-0.0`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScalarValue {
    I8(i8),
    I16(i16),
    I32(i32),
    I64(i64),
    U8(u8),
    U16(u16),
    U32(u32),
    U64(u64),
    F32(f32),
    F64(f64),
    Bool(bool),
}

impl ScalarValue {
    /// Returns its type.
    pub fn scalar(self) -> Scalar {
        match self {
            ScalarValue::I8(_) => Scalar::I8,
            ScalarValue::I16(_) => Scalar::I16,
            ScalarValue::I32(_) => Scalar::I32,
            ScalarValue::I64(_) => Scalar::I64,
            ScalarValue::U8(_) => Scalar::U8,
            ScalarValue::U16(_) => Scalar::U16,
            ScalarValue::U32(_) => Scalar::U32,
            ScalarValue::U64(_) => Scalar::U64,
            ScalarValue::F32(_) => Scalar::F32,
            ScalarValue::F64(_) => Scalar::F64,
            ScalarValue::Bool(_) => Scalar::Bool,
        }
    }

    /// Returns its bits, zero-extended. Every nan gives the same bits.
    pub fn canonical_bits(self) -> u64 {
        match self {
            ScalarValue::I8(v) => v as u8 as u64,
            ScalarValue::I16(v) => v as u16 as u64,
            ScalarValue::I32(v) => v as u32 as u64,
            ScalarValue::I64(v) => v as u64,
            ScalarValue::U8(v) => v as u64,
            ScalarValue::U16(v) => v as u64,
            ScalarValue::U32(v) => v as u64,
            ScalarValue::U64(v) => v,
            ScalarValue::F32(v) => if v.is_nan() { f32::NAN } else { v }.to_bits() as u64,
            ScalarValue::F64(v) => if v.is_nan() { f64::NAN } else { v }.to_bits(),
            ScalarValue::Bool(v) => v as u64,
        }
    }

    /// True if both have the same type and bits, where all nans are one value.
    pub fn same(self, other: ScalarValue) -> bool {
        self.scalar() == other.scalar() && self.canonical_bits() == other.canonical_bits()
    }

    /// Returns the exact value of an integer type, or `None` for floats and bool.
    pub fn as_integer(self) -> Option<i128> {
        match self {
            ScalarValue::I8(v) => Some(v as i128),
            ScalarValue::I16(v) => Some(v as i128),
            ScalarValue::I32(v) => Some(v as i128),
            ScalarValue::I64(v) => Some(v as i128),
            ScalarValue::U8(v) => Some(v as i128),
            ScalarValue::U16(v) => Some(v as i128),
            ScalarValue::U32(v) => Some(v as i128),
            ScalarValue::U64(v) => Some(v as i128),
            ScalarValue::F32(_) | ScalarValue::F64(_) | ScalarValue::Bool(_) => None,
        }
    }

    /// Returns the value of an integer type with the low bits of `v` (wraps). A bool tells whether `v`
    /// is not 0, and a float is the nearest.
    pub fn from_integer_wrapping(scalar: Scalar, v: i128) -> ScalarValue {
        match scalar {
            Scalar::I8 => ScalarValue::I8(v as i8),
            Scalar::I16 => ScalarValue::I16(v as i16),
            Scalar::I32 => ScalarValue::I32(v as i32),
            Scalar::I64 => ScalarValue::I64(v as i64),
            Scalar::U8 => ScalarValue::U8(v as u8),
            Scalar::U16 => ScalarValue::U16(v as u16),
            Scalar::U32 => ScalarValue::U32(v as u32),
            Scalar::U64 => ScalarValue::U64(v as u64),
            Scalar::F32 => ScalarValue::F32(v as f32),
            Scalar::F64 => ScalarValue::F64(v as f64),
            Scalar::Bool => ScalarValue::Bool(v != 0),
        }
    }
}
