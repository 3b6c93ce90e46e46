//! Files of values under libFuzzer: the first byte of an input chooses format and type, the rest is the file.

use nova_core::{Scalar, Type};
use nova_exec::formats::{FORMATS, Format};
use std::io::Cursor;

/// Returns the types that files are read as.
fn types() -> Vec<Type> {
    let scalar = Type::Scalar;
    let text = Type::vector(scalar(Scalar::U8));
    vec![
        Type::array(2, scalar(Scalar::U8)),
        Type::array(3, scalar(Scalar::U8)),
        Type::array(3, scalar(Scalar::U16)),
        Type::array(2, scalar(Scalar::U16)),
        Type::vector(scalar(Scalar::F32)),
        Type::vector(Type::vector(scalar(Scalar::I64))),
        Type::array(2, scalar(Scalar::F64)),
        Type::vector(text.clone()),
        Type::vector(Type::tuple(vec![text.clone(), scalar(Scalar::I32)])),
        Type::tuple(vec![Type::vector(scalar(Scalar::Bool)), Type::vector(text)]),
    ]
}

/// Reads a file. A value must be of its type, and if its format holds it, it is written and read as the same.
pub fn check(input: &[u8]) {
    let Some((choice, file)) = input.split_first() else {
        return;
    };
    let choice = usize::from(*choice);
    let types = types();
    let ty = &types[choice % types.len()];
    let (_, format, _) = FORMATS[choice / types.len() % FORMATS.len()];
    let Ok(Some(value)) = format.read(Cursor::new(file), None, ty) else {
        return;
    };
    assert!(value.conforms(ty, &[]), "a value of another type");
    let mut written = Vec::new();
    let is_written = format.check(ty).is_ok() && format.write(&mut written, ty, &value).is_ok();
    // A table without rows does not say how many columns it has.
    let is_lost = matches!(format, Format::Table(_)) && written.is_empty();
    if is_written && !is_lost {
        let again = format.read(Cursor::new(&written), None, ty);
        let again = again.expect("what was written is a good file");
        let is_same = again.is_some_and(|again| again.same(&value));
        assert!(is_same, "another value is read back");
    }
}
