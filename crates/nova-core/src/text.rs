//! Values as text (language §9): the reader in `read`, which calls a builder, and the printer in `print`,
//! which looks at a view. Each representation of values has a builder and a view.
//!
//! Both keep a list of pending work, so that nesting costs no stack.

mod build;
mod cursor;
mod print;
mod read;
mod scalar;
mod stack;

pub use build::{Build, Values};
pub use cursor::ValueError;
pub use print::{Shape, Style, View, print_scalar, print_value, write_value, write_view};
pub use read::{read_into, read_value, read_value_prefix, read_values};
pub use stack::Stack;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Constructor, Scalar, SumId};
    use crate::{Elements, ScalarValue, SumType, Type, Value};
    use std::sync::Arc;

    fn sums() -> Vec<SumType> {
        let constructor = |name: &str, payload| Constructor {
            name: name.into(),
            payload,
        };
        let list = Type::Sum(SumId(0));
        vec![SumType {
            name: "List".into(),
            arguments: vec![Type::INT],
            constructors: vec![
                constructor("Nil", Type::Unit),
                constructor("Cons", Type::tuple(vec![Type::INT, list])),
            ],
            group: vec![SumId(0)],
            node_of: None,
        }]
    }

    const F64: Type = Type::Scalar(Scalar::F64);
    const F32: Type = Type::Scalar(Scalar::F32);
    const U8: Type = Type::Scalar(Scalar::U8);

    /// Parses `text`, prints it, and parses that again.
    fn check(text: &str, ty: &Type, expected: &str) {
        let value = read_value(text, ty, &sums()).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert!(value.conforms(ty, &sums()), "{text}");
        let printed = print_value(&value, ty, &sums());
        assert_eq!(printed, expected, "{text}");
        let again = read_value(&printed, ty, &sums()).unwrap_or_else(|e| panic!("{printed}: {e}"));
        assert!(again.same(&value), "{text}");
    }

    fn refuse(text: &str, ty: &Type, offset: usize, message: &str) {
        match read_value(text, ty, &sums()) {
            Ok(value) => panic!("{text} was read as {value:?}"),
            Err(error) => assert_eq!((error.offset, &*error.message), (offset, message), "{text}"),
        }
    }

    #[test]
    fn scalars() {
        check("42", &Type::INT, "42");
        check(" -0x10 ; comment\n", &Type::INT, "-16");
        check("7u8", &U8, "7");
        check("2.50", &F32, "2.5");
        check("3", &F64, "3.0");
        check("1e300L", &F64, "1e300");
        check("-0.0", &F64, "-0.0");
        check(
            "[nan inf -inf 1e-7 0.1f]",
            &Type::vector(F32),
            "[nan inf -inf 1e-7 0.1]",
        );
        check("[true false]", &Type::vector(Type::BOOL), "[true false]");
        check("nil", &Type::Unit, "nil");
        check("()", &Type::Unit, "nil");
    }

    #[test]
    fn structures() {
        let pair = Type::tuple(vec![Type::INT, F32]);
        check("(1,2.5)", &pair, "(1, 2.5)");
        check(
            "[(1, 2) (3, 4)]",
            &Type::vector(pair),
            "[(1, 2.0) (3, 4.0)]",
        );
        let nested = Type::vector(Type::vector(Type::INT));
        check("[[1 2] []]", &nested, "[[1 2] []]");
        check("[]", &nested, "[]");
        check(
            "\"a\\n\\x41\\\"\u{e9}\"",
            &Type::vector(U8),
            "[97 10 65 34 195 169]",
        );
        let list = Type::Sum(SumId(0));
        check(
            "(Cons (1, (Cons (2, Nil))))",
            &list,
            "(Cons (1, (Cons (2, Nil))))",
        );
        check(
            "[Nil (Nil) (Nil nil)]",
            &Type::vector(list),
            "[Nil Nil Nil]",
        );
    }

    #[test]
    fn arrays() {
        let matrix = Type::array(2, Type::INT);
        check("[[1 2 3] [4 5 6]]", &matrix, "[[1 2 3] [4 5 6]]");
        check("[[] []]", &matrix, "[[] []]");
        check("[]", &matrix, "[]");
        let cube = Type::array(3, Type::vector(U8));
        check(
            "[[[\"a\" []] [[] \"bc\"]]]",
            &cube,
            "[[[[97] []] [[] [98 99]]]]",
        );
        refuse("[[1 2] [3]]", &matrix, 10, "rows of different lengths");
    }

    #[test]
    fn errors() {
        refuse(
            "",
            &Type::INT,
            0,
            "expected a value of type int, found the end",
        );
        refuse("300", &U8, 0, "300 does not fit uint8");
        refuse("1.5", &Type::INT, 0, "1.5 is no value of type int");
        refuse("1e999", &F64, 0, "1e999 does not fit double");
        refuse(
            "[1 2",
            &Type::vector(Type::INT),
            4,
            "the vector is not closed",
        );
        refuse(
            "[1,2]",
            &Type::vector(Type::INT),
            2,
            "elements are separated by spaces",
        );
        refuse("1 2", &Type::INT, 2, "something follows the value");
        refuse(
            "(1)",
            &Type::tuple(vec![Type::INT, F32]),
            2,
            "expected a tuple of 2 elements",
        );
        refuse(
            "(Snoc 1)",
            &Type::Sum(SumId(0)),
            1,
            "Snoc is no constructor of List",
        );
        refuse("7i8", &Type::INT, 0, "7i8 is no value of type int");
        refuse("\"a", &Type::vector(U8), 0, "the text is not closed");
        refuse("\"\\q\"", &Type::vector(U8), 1, "a bad escape");
        refuse(
            "[(Cons (1, Nil)",
            &Type::vector(Type::Sum(SumId(0))),
            15,
            "expected )",
        );
    }

    #[test]
    fn long_lists() {
        let n = 1_000_000;
        let mut text = "(Cons (7, ".repeat(n);
        text.push_str("Nil");
        text.push_str(&"))".repeat(n));
        let list = Type::Sum(SumId(0));
        let value = read_value(&text, &list, &sums()).unwrap();
        assert!(value.conforms(&list, &sums()));
        assert!(value.same(&read_value(&text, &list, &sums()).unwrap()));
        assert_eq!(print_value(&value, &list, &sums()), text);
    }

    #[test]
    fn texts_read_back() {
        let texts = Type::vector(Type::vector(U8));
        let written = |value: &Value, ty: &Type| {
            let mut out = Vec::new();
            write_value(&mut out, value, ty, &[], Style::Texts).expect("memory takes all");
            String::from_utf8(out).expect("text")
        };
        let text = "[\"a\\n\\t\\\"\\\\\" \"\" \"\u{e9}\\x00\\xff\\xc2\\x85\"]";
        let value = read_value(text, &texts, &[]).expect("texts");
        assert_eq!(written(&value, &texts), text);
        for byte in 0..=255u8 {
            let bytes = Elements::U8(Arc::new(vec![byte, b'0', byte]));
            let value = Value::Vector(bytes);
            let text = written(&value, &Type::vector(U8));
            let again = read_value(&text, &Type::vector(U8), &[]);
            assert!(again.is_ok_and(|again| again.same(&value)), "{text}");
        }
        let picture = read_value("[[1 2]]", &Type::array(2, U8), &[]).expect("an array");
        assert_eq!(written(&picture, &Type::array(2, U8)), "[[1 2]]");
        let floats = read_value("[1]", &Type::vector(F32), &[]).expect("a vector");
        assert_eq!(written(&floats, &Type::vector(F32)), "[1.0]");
    }

    /// Any text is a value or an error, whatever the type.
    #[test]
    fn damaged_texts() {
        let list = Type::Sum(SumId(0));
        let types = [
            Type::INT,
            F32,
            Type::vector(U8),
            Type::array(2, F64),
            Type::array(3, Type::vector(Type::BOOL)),
            list.clone(),
            Type::tuple(vec![Type::vector(list), Type::Unit, U8]),
        ];
        let tokens =
            "( ) [ ] , ; \" \\x4 \n 1 -0x 1e999 nan -inf nil Nil Cons true 7u8 \u{e9} 0.5f : .";
        let tokens: Vec<&str> = tokens.split(' ').collect();
        let mut seed = 1u64;
        let mut pick = |n: usize| {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (seed >> 33) as usize % n
        };
        for _ in 0..50_000 {
            let text: Vec<&str> = (0..pick(12)).map(|_| tokens[pick(tokens.len())]).collect();
            let text = text.join(["", " "][pick(2)]);
            for ty in &types {
                match read_value(&text, ty, &sums()) {
                    Ok(value) => assert!(value.conforms(ty, &sums()), "{text}"),
                    Err(error) => assert!(error.offset <= text.len(), "{text}"),
                }
            }
        }
    }

    #[test]
    fn elements_are_shared_until_changed() {
        let Value::Vector(mut a) = read_value("[1 2 3]", &Type::vector(Type::INT), &[]).unwrap()
        else {
            panic!("no vector");
        };
        let b = a.clone();
        a.set(1, Value::Scalar(ScalarValue::I32(9))).unwrap();
        a.append(&b).unwrap();
        assert!(matches!(&a, Elements::I32(v) if ***v == vec![1, 9, 3, 1, 2, 3]));
        assert!(matches!(&b, Elements::I32(v) if **v == Arc::new(vec![1, 2, 3])[..]));
        let huge = Elements::with_capacity(&Type::INT, usize::MAX / 2);
        assert!(huge.is_err());
    }

    /// Returns an array of `int` with these extents whose elements are numbered.
    fn array(extents: &[usize]) -> (Value, Type) {
        let ty = Type::array(extents.len() as u32, Type::INT);
        let count = if extents.contains(&0) {
            0
        } else {
            extents.iter().product()
        };
        let mut elements = Elements::new(&Type::INT);
        for k in 0..count {
            let element = Value::Scalar(ScalarValue::I32(k as i32));
            assert!(elements.push(element).is_ok());
        }
        (Value::Array(extents.to_vec().into(), elements), ty)
    }

    /// Returns the text of a value with its extents, as users may write it.
    fn with_extents(extents: &[usize], value: &Value) -> String {
        let Value::Array(_, elements) = value else {
            return String::new();
        };
        let flat = Value::Vector(elements.clone());
        let elements = print_value(&flat, &Type::vector(Type::INT), &[]);
        let extents: Vec<String> = extents.iter().map(usize::to_string).collect();
        format!("(reshape ({}) {elements})", extents.join(", "))
    }

    #[test]
    fn arrays_of_all_extents_can_be_given() {
        for rank in 2..=4 {
            for code in 0..4usize.pow(rank) {
                let extents: Vec<usize> = (0..rank).map(|k| code / 4usize.pow(k) % 4).collect();
                let (value, ty) = array(&extents);
                let text = with_extents(&extents, &value);
                let again = read_value(&text, &ty, &[]);
                assert!(again.is_ok_and(|again| again.same(&value)), "{text}");
                // This holds inside of other values, too.
                let pair = Type::tuple(vec![ty.clone(), Type::vector(ty.clone())]);
                let mut rows = Elements::new(&ty);
                assert!(rows.push(value.clone()).is_ok() && rows.push(value.clone()).is_ok());
                let both = Value::tuple(vec![value, Value::Vector(rows)]);
                let text = format!("({text}, [{text} {text}])");
                let again = read_value(&text, &pair, &[]);
                assert!(again.is_ok_and(|again| again.same(&both)), "{text}");
            }
        }
    }

    #[test]
    fn arrays_are_written_as_their_rows() {
        let shown = |extents: &[usize]| {
            let (value, ty) = array(extents);
            print_value(&value, &ty, &[])
        };
        assert_eq!(shown(&[2, 2]), "[[0 1] [2 3]]");
        assert_eq!(shown(&[0, 3]), "[]");
        assert_eq!(shown(&[3, 0]), "[[] [] []]");
        assert_eq!(shown(&[2, 0, 5]), "[[] []]");
    }

    #[test]
    fn extents_that_do_not_agree_are_refused() {
        let ty = Type::array(2, Type::INT);
        for text in [
            "(reshape (2, 2) [1 2 3])",
            "(reshape (0, 2) [1])",
            "(reshape (2) [1 2])",
            "(reshape (1, 1, 1) [1])",
            "(reshape (-1, 2) [])",
            "(reshape (4294967296, 4294967296) [])",
            "(reshape (99999999999999999999, 0) [])",
            "(reshap (1, 1) [1])",
            "(reshape (1, 1) [1]",
            "(reshape (1, 1) 1)",
        ] {
            assert!(read_value(text, &ty, &[]).is_err(), "{text}");
        }
        let read = read_value(" ( reshape ( 1 , 2 ) [ 5 6 ] ) ", &ty, &[]);
        let shown = read.map(|value| print_value(&value, &ty, &[]));
        assert_eq!(shown, Ok("[[5 6]]".to_string()));
    }
}
