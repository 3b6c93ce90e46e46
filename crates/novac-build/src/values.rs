//! Values of NOVA in Rust: the types of arguments and results, and the expressions that convert them.

use crate::manifest::{Field, Manifest, Passed};
use nova_core::{Scalar, Type};

/// An argument of a function in Rust.
#[derive(Debug, Default)]
pub struct Argument {
    /// Its type in Rust. Empty for `unit`, which is no argument.
    pub ty: String,
    /// The condition under which it can be passed. Empty if there is none.
    pub check: String,
    /// The expressions of the C parameters.
    pub parameters: Vec<String>,
}

/// A result of a function in Rust.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Its type in Rust.
    pub ty: String,
    /// The expression of the value, of the variables that the C parameters point to.
    pub value: String,
}

/// Returns the C type of a parameter or a field as Rust has it, without the outer `pointed` of its pointers:
/// `const float *` is `*const f32`.
pub fn c_type(field: &Field, pointed: usize) -> String {
    let base = base_type(&field.base);
    match (field.pointers.saturating_sub(pointed), field.is_constant) {
        (0, _) => base,
        (pointers, true) => format!("{}*const {base}", "*mut ".repeat(pointers - 1)),
        (pointers, false) => "*mut ".repeat(pointers) + &base,
    }
}

/// Returns a C type that is no pointer as Rust has it.
fn base_type(ty: &str) -> String {
    match ty {
        "int" => "::std::ffi::c_int",
        "float" => "f32",
        "double" => "f64",
        "int8_t" => "i8",
        "int16_t" => "i16",
        "int32_t" => "i32",
        "int64_t" => "i64",
        "uint8_t" => "u8",
        "uint16_t" => "u16",
        "uint32_t" => "u32",
        "uint64_t" => "u64",
        structure => return format!("sys::{structure}"),
    }
    .to_string()
}

/// Returns a scalar type in Rust.
fn scalar(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::I8 => "i8",
        Scalar::I16 => "i16",
        Scalar::I32 => "i32",
        Scalar::I64 => "i64",
        Scalar::U8 => "u8",
        Scalar::U16 => "u16",
        Scalar::U32 => "u32",
        Scalar::U64 => "u64",
        Scalar::F32 => "f32",
        Scalar::F64 => "f64",
        Scalar::Bool => "bool",
    }
}

/// True for scalars, and for tuples of them that take place: elements that lie in memory as they are.
fn is_plain(ty: &Type) -> bool {
    match ty {
        Type::Scalar(_) => true,
        Type::Tuple(parts) => {
            let is_part = |part: &Type| *part == Type::Unit || is_plain(part);
            parts.iter().all(is_part) && parts.iter().any(|part| *part != Type::Unit)
        }
        Type::Unit | Type::Vector(_) | Type::Array(..) | Type::Sum(_) | Type::Function(..) => false,
    }
}

/// Returns the type in Rust of elements behind a pointer to this C type.
fn element(ty: &Type, base: &str) -> Option<String> {
    match ty {
        Type::Scalar(kind) => Some(scalar(*kind).to_string()),
        ty if is_plain(ty) => Some(base_type(base)),
        _ => None,
    }
}

/// Returns the number of levels of a nested vector, and its innermost elements.
fn levels(ty: &Type) -> (usize, &Type) {
    match ty {
        Type::Vector(inner) => {
            let (levels, element) = levels(inner);
            (levels + 1, element)
        }
        other => (0, other),
    }
}

/// Returns an argument, or `None` where its type has no form in Rust.
pub fn argument(manifest: &Manifest, name: &str, ty: &Type, passed: &Passed) -> Option<Argument> {
    let last = passed.base();
    match ty {
        Type::Unit => Some(Argument::default()),
        Type::Scalar(Scalar::Bool) => Some(Argument {
            ty: "bool".to_string(),
            parameters: vec![format!("{name}.into()")],
            ..Argument::default()
        }),
        Type::Scalar(kind) => Some(Argument {
            ty: scalar(*kind).to_string(),
            parameters: vec![name.to_string()],
            ..Argument::default()
        }),
        Type::Vector(_) => nested_argument(name, ty, last),
        Type::Array(rank, inner) => {
            let extents = (0..*rank).map(|k| format!("{name}.0[{k}] as i64"));
            let data = format!("{name}.1.as_ptr().cast()");
            Some(Argument {
                ty: format!("([usize; {rank}], &[{}])", element(inner, last)?),
                check: format!("is_array(&{name}.0, {name}.1.len())"),
                parameters: extents.chain([data]).collect(),
            })
        }
        Type::Tuple(_) if is_plain(ty) => Some(Argument {
            ty: value_type(ty)?,
            parameters: vec![structure(manifest, ty, last, name)?],
            ..Argument::default()
        }),
        Type::Tuple(_) | Type::Sum(_) | Type::Function(..) => None,
    }
}

/// Returns an argument that is a vector, nested or not: offsets for each further level, and the elements.
fn nested_argument(name: &str, ty: &Type, base: &str) -> Option<Argument> {
    let (levels, inner) = levels(ty);
    let element = element(inner, base)?;
    if levels == 1 {
        return Some(Argument {
            ty: format!("&[{element}]"),
            parameters: vec![
                format!("{name}.len() as i64"),
                format!("{name}.as_ptr().cast()"),
            ],
            ..Argument::default()
        });
    }
    let data = levels - 1;
    let offsets: Vec<String> = (0..data).map(|k| format!("{name}.{k}")).collect();
    let pointers = offsets.iter().map(|offsets| format!("{offsets}.as_ptr()"));
    let length = format!("{name}.0.len() as i64 - 1");
    let elements = format!("{name}.{data}.as_ptr().cast()");
    Some(Argument {
        ty: format!("({}&[{element}])", "&[i64], ".repeat(data)),
        check: format!(
            "are_offsets(&[{}], {name}.{data}.len())",
            offsets.join(", ")
        ),
        parameters: [length]
            .into_iter()
            .chain(pointers)
            .chain([elements])
            .collect(),
    })
}

/// Returns the type in Rust of a plain value.
fn value_type(ty: &Type) -> Option<String> {
    match ty {
        Type::Unit => Some("()".to_string()),
        Type::Scalar(kind) => Some(scalar(*kind).to_string()),
        Type::Tuple(parts) => {
            let parts: Option<Vec<String>> = parts.iter().map(value_type).collect();
            Some(format!("({})", parts?.join(", ")))
        }
        Type::Vector(_) | Type::Array(..) | Type::Sum(_) | Type::Function(..) => None,
    }
}

/// Returns the expression of a plain value inside of a structure.
fn structure(manifest: &Manifest, ty: &Type, c: &str, value: &str) -> Option<String> {
    match ty {
        Type::Scalar(Scalar::Bool) => Some(format!("{value}.into()")),
        Type::Scalar(_) => Some(value.to_string()),
        Type::Tuple(parts) => {
            let numbered = parts.iter().enumerate().filter(|(_, p)| **p != Type::Unit);
            let fields = numbered.map(|(k, part)| {
                let field = format!("e{k}");
                let inner = &manifest.field(c, &field)?.base;
                let value = structure(manifest, part, inner, &format!("{value}.{k}"))?;
                Some(format!("{field}: {value}"))
            });
            let fields: Option<Vec<String>> = fields.collect();
            Some(format!("sys::{c} {{ {} }}", fields?.join(", ")))
        }
        Type::Unit | Type::Vector(_) | Type::Array(..) | Type::Sum(_) | Type::Function(..) => None,
    }
}

/// Returns a result, or `None` where its type has no form in Rust. The variables `__r0`, `__r1`, … hold what the C
/// parameters point to.
pub fn outcome(manifest: &Manifest, ty: &Type, passed: &Passed) -> Option<Outcome> {
    let pointee = passed.base();
    match ty {
        Type::Vector(_) => nested_outcome(ty, pointee),
        Type::Array(rank, inner) => {
            let extents: Vec<String> = (0..*rank).map(|k| format!("__r{k} as usize")).collect();
            let count: Vec<String> = (0..*rank).map(|k| format!("__r{k}")).collect();
            let elements = format!(
                "Buffer::new(__r{rank}.cast(), count(&[{}]))",
                count.join(", ")
            );
            Some(Outcome {
                ty: format!("([usize; {rank}], Buffer<{}>)", element(inner, pointee)?),
                value: format!("([{}], {elements})", extents.join(", ")),
            })
        }
        Type::Unit | Type::Scalar(_) | Type::Tuple(_) => inside(manifest, ty, pointee, "__r0"),
        Type::Sum(_) | Type::Function(..) => None,
    }
}

/// Returns a result that is a vector, nested or not.
fn nested_outcome(ty: &Type, base: &str) -> Option<Outcome> {
    let (levels, inner) = levels(ty);
    let element = element(inner, base)?;
    if levels == 1 {
        return Some(Outcome {
            ty: format!("Buffer<{element}>"),
            value: "Buffer::new(__r1.cast(), __r0)".to_string(),
        });
    }
    let mut value = String::from("{ ");
    let mut count = "__r0".to_string();
    for level in 1..levels {
        value += &format!("let o{level} = Buffer::new(__r{level}, {count} + 1); ");
        count = format!("o{level}[o{level}.len() - 1]");
    }
    value += &format!("let data = Buffer::new(__r{levels}.cast(), {count}); (");
    (1..levels).for_each(|level| value += &format!("o{level}, "));
    value += "data) }";
    let ty = format!("({}Buffer<{element}>)", "Buffer<i64>, ".repeat(levels - 1));
    Some(Outcome { ty, value })
}

/// Returns a value in a place of this C type, a structure's field or the whole result.
fn inside(manifest: &Manifest, ty: &Type, c: &str, place: &str) -> Option<Outcome> {
    let outcome = |ty: String, value: String| Some(Outcome { ty, value });
    match ty {
        Type::Unit => outcome("()".to_string(), "()".to_string()),
        Type::Scalar(Scalar::Bool) => outcome("bool".to_string(), format!("{place} != 0")),
        Type::Scalar(kind) => outcome(scalar(*kind).to_string(), place.to_string()),
        Type::Vector(inner) => {
            let base = &manifest.field(c, "data")?.base;
            outcome(
                format!("Buffer<{}>", element(inner, base)?),
                format!("Buffer::new({place}.data.cast(), {place}.len)"),
            )
        }
        Type::Array(rank, inner) => {
            let base = &manifest.field(c, "data")?.base;
            let dims: Vec<String> = (0..*rank).map(|k| format!("{place}.dim{k}")).collect();
            let extents: Vec<String> = dims.iter().map(|d| format!("{d} as usize")).collect();
            let elements = format!(
                "Buffer::new({place}.data.cast(), count(&[{}]))",
                dims.join(", ")
            );
            outcome(
                format!("([usize; {rank}], Buffer<{}>)", element(inner, base)?),
                format!("([{}], {elements})", extents.join(", ")),
            )
        }
        Type::Tuple(parts) => {
            let (mut types, mut values) = (Vec::new(), Vec::new());
            for (k, part) in parts.iter().enumerate() {
                let field = format!("e{k}");
                let inner = match part {
                    Type::Unit => "",
                    _ => &manifest.field(c, &field)?.base,
                };
                let part = inside(manifest, part, inner, &format!("{place}.{field}"))?;
                types.push(part.ty);
                values.push(part.value);
            }
            outcome(
                format!("({})", types.join(", ")),
                format!("({})", values.join(", ")),
            )
        }
        Type::Sum(_) | Type::Function(..) => None,
    }
}
