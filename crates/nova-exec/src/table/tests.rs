//! Tests of tables: what is read, what is refused and where, and values that are written and read back.

use super::*;
use nova_core::text::{print_value, read_value};
use nova_core::{Elements, ScalarValue, Value};
use std::sync::Arc;

const INT: Type = Type::INT;
const FLOAT: Type = Type::Scalar(Scalar::F32);
const DOUBLE: Type = Type::Scalar(Scalar::F64);
const U8: Type = Type::Scalar(Scalar::U8);

fn text() -> Type {
    Type::vector(U8)
}

/// Returns the text of the value that a file is.
fn load(file: &[u8], columns: Option<&str>, ty: &Type) -> Result<String, String> {
    let value = read(file, b',', columns, ty)?;
    assert!(value.conforms(ty, &[]), "{value:?}");
    Ok(print_value(&value, ty, &[]))
}

fn good(file: &str, ty: &Type) -> String {
    load(file.as_bytes(), None, ty).unwrap_or_else(|error| panic!("{file:?}: {error}"))
}

fn refused(file: &[u8], ty: &Type) -> String {
    match load(file, None, ty) {
        Ok(value) => panic!("{:?} was read as {value}", String::from_utf8_lossy(file)),
        Err(error) => error,
    }
}

#[test]
fn numbers_of_one_type() {
    let rows = Type::vector(Type::vector(INT));
    let matrix = Type::array(2, INT);
    for ty in [&rows, &matrix] {
        for file in [
            "1,2\n3,4\n",
            "1,2\n3,4",
            "1,2\r\n3,4\r\n",
            "\u{feff}1,2\n3,4\n",
            " 1 , 2\n3,\t4\n",
            "\n1,2\n\n\n3,4\n\n",
            "\"1\",\"2\"\n3,+4\n",
            "x,y\n1,2\n3,4\n",
            ",y\n1,2\n3,4\n",
            "\"x\",\"the, y\"\n1,2\n3,4\n",
        ] {
            assert_eq!(good(file, ty), "[[1 2] [3 4]]", "{file:?}");
        }
        assert_eq!(good("", ty), "[]");
        assert_eq!(good("x,y\n", ty), "[]");
    }
    assert_eq!(good("1\n2\n", &Type::vector(INT)), "[1 2]");
    assert_eq!(good("price\n1\n2", &Type::vector(INT)), "[1 2]");
    assert_eq!(good("", &Type::vector(INT)), "[]");
    let Ok(Value::Array(extents, _)) = read(&b"x,y\n"[..], b',', None, &matrix) else {
        panic!("no array");
    };
    assert_eq!(*extents, [0, 2]);
}

#[test]
fn numbers_of_all_types() {
    let floats = good("1\n-.5\n1e3\nNaN\n-inf\n5.\n", &Type::vector(FLOAT));
    assert_eq!(floats, "[1.0 -0.5 1000.0 nan -inf 5.0]");
    assert_eq!(good("nan\n1\n", &Type::vector(DOUBLE)), "[nan 1.0]");
    let truths = good("true\nFalse\n1\n0\nTRUE\n", &Type::vector(Type::BOOL));
    assert_eq!(truths, "[true false true false true]");
    let wide = Type::vector(Type::Scalar(Scalar::U64));
    assert_eq!(
        good("18446744073709551615\n", &wide),
        "[18446744073709551615]"
    );
    let wide = Type::vector(Type::Scalar(Scalar::I64));
    assert_eq!(
        good("-9223372036854775808\n", &wide),
        "[-9223372036854775808]"
    );
    // What a decimal fraction says is rounded, an integer is exact.
    assert_eq!(
        good("0.1\n16777217.0\n", &Type::vector(FLOAT)),
        "[0.1 16777216.0]"
    );
    assert_eq!(
        good("16777216\n0033554432\n", &Type::vector(FLOAT)),
        "[16777216.0 33554432.0]"
    );
}

#[test]
fn columns_of_their_own_types() {
    let tuples = Type::vector(Type::tuple(vec![text(), INT, FLOAT]));
    let columns = Type::tuple(vec![
        Type::vector(text()),
        Type::vector(INT),
        Type::vector(FLOAT),
    ]);
    let file = "name,count,price\n\"a \"\"b\"\"\",2,0.5\n c,3,1\n";
    let a = "[97 32 34 98 34]";
    assert_eq!(
        good(file, &tuples),
        format!("[({a}, 2, 0.5) ([32 99], 3, 1.0)]")
    );
    assert_eq!(
        good(file, &columns),
        format!("([{a} [32 99]], [2 3], [0.5 1.0])")
    );
    assert_eq!(good("", &tuples), "[]");
    assert_eq!(good("", &columns), "([], [], [])");
    // A line with a number in it is no line of names.
    assert_eq!(good("a,2,3\n", &tuples), "[([97], 2, 3.0)]");
    let texts = Type::vector(Type::tuple(vec![text(), text()]));
    assert_eq!(
        good("a,b\n\"\",\"c\nd\"\n", &texts),
        "[([97], [98]) ([], [99 10 100])]"
    );
}

#[test]
fn columns_by_name_and_number() {
    let file = "year,2019,a b,a b\n7,1,2,3\n8,4,5,6\n".as_bytes();
    let one = |columns: &str| load(file, Some(columns), &Type::vector(INT));
    assert_eq!(one("year"), Ok("[7 8]".to_string()));
    assert_eq!(one(" year "), Ok("[7 8]".to_string()));
    // A number alone does not make the first line one of names.
    assert_eq!(one("2"), Ok("[2019 1 4]".to_string()));
    let rows = |columns: &str| load(file, Some(columns), &Type::array(2, INT));
    assert_eq!(rows("2019,year"), Ok("[[1 7] [4 8]]".to_string()));
    assert_eq!(rows("year,4"), Ok("[[7 3] [8 6]]".to_string()));
    assert!(
        rows("year,a b")
            .unwrap_err()
            .contains("two columns are called a b")
    );
    let absent = rows("year,price").unwrap_err();
    assert_eq!(
        absent,
        "there is no column price; the table has 4 columns: year, 2019, a b, a b"
    );
    assert!(rows("year,5").unwrap_err().contains("no column 5"));
    assert!(rows("year,0").unwrap_err().contains("no column 0"));
    assert!(rows("").unwrap_err().contains("names no columns"));
    let plain = b"1,2,3\n4,5,6\n";
    assert_eq!(
        load(plain, Some("3,1"), &Type::array(2, INT)),
        Ok("[[3 1] [6 4]]".into())
    );
    let quoted = b"\"a,b\",c\n1,2\n";
    assert_eq!(
        load(quoted, Some("\"a,b\""), &Type::vector(INT)),
        Ok("[1]".into())
    );
    // The other columns may hold anything.
    let mixed = b"name,n\nx,1\ny,2\n";
    assert_eq!(
        load(mixed, Some("n"), &Type::vector(INT)),
        Ok("[1 2]".into())
    );
    assert_eq!(
        load(mixed, Some("2"), &Type::vector(INT)),
        Ok("[1 2]".into())
    );
}

#[test]
fn wrong_tables_say_where() {
    let ints = Type::array(2, INT);
    let line = |file: &str| refused(file.as_bytes(), &ints);
    assert_eq!(line("1,2\n3,x\n"), "line 2, column 2: `x` is no int");
    assert_eq!(
        line("a,b\n1,2\n\n3,x\n"),
        "line 4, column 2 (b): `x` is no int"
    );
    assert_eq!(
        line("a,b\r\n1,2\r\n3,x\r\n"),
        "line 3, column 2 (b): `x` is no int"
    );
    let after = |start: &str| line(&format!("{start}9,x\n9,9"));
    assert!(after("\u{feff}1,2\n").starts_with("line 2,"));
    assert!(after("\u{feff}").starts_with("line 1,"));
    assert!(after("\r\n\r\n1,2\r\n\r\n").starts_with("line 5,"));
    assert!(after("\"a\nb\",\"c\r\n\r\nd\"\n1,2\n\n\n").starts_with("line 8,"));
    assert!(line("1,2\n\n9,x").starts_with("line 3,"));
    assert!(after(&"1,2\n\n".repeat(10_000)).starts_with("line 20001,"));
    assert_eq!(
        line("1,2\n3,4,5\n"),
        "line 2 has 3 cells, 2 are needed as in the first line (it begins with `3`)"
    );
    assert!(line("1,2\n3\n").starts_with("line 2 has 1 cell,"));
    assert_eq!(line("1,\n"), "line 1, column 2: an empty cell is no int");
    assert_eq!(
        line("1,2.5\n"),
        "line 1, column 2: `2.5` is no int; read the column as double"
    );
    assert_eq!(
        line("1,2147483648\n"),
        "line 1, column 2: `2147483648` does not fit int"
    );
    assert!(line("1,99999999999999999999999999999999999999999999\n").contains("does not fit int"));
    assert!(line("1;2\n").contains("separated by commas, not semicolons"));
    assert!(line("1\t2\n").contains(".tsv"));
    assert!(line("a,2019\n1,2\n").contains("choose some by name"));
    assert!(line("1,-\n").contains("`-` is no int"));
    assert!(line("1,0x10\n").contains("`0x10` is no int"));
    assert!(refused(b"1,2\n3,4\0\n", &ints).contains("`4\\0` is no int; text has no byte 0"));
    assert!(refused(b"1,\xff\n", &ints).contains("is not UTF-8"));
    assert!(refused(b"\xff\xfe1\0\n\0", &ints).contains("UTF-16"));
    let open = "a quotation mark is not closed, perhaps that of line";
    assert_eq!(line("1,\"2\n3,4\n"), format!("{open} 1"));
    assert_eq!(line("1,2\n\n1,2\n3,\"4\n5,6"), format!("{open} 4"));
    let long = format!("1,{}\n", "x".repeat(100));
    assert!(line(&long).len() < 180, "{}", line(&long));
    let bytes = Type::vector(U8);
    assert_eq!(
        refused(b"256\n", &bytes),
        "line 1, column 1: `256` does not fit uint8"
    );
    assert_eq!(
        refused(b"-1\n", &bytes),
        "line 1, column 1: `-1` does not fit uint8"
    );
    let floats = Type::vector(FLOAT);
    assert!(refused(b"16777217\n", &floats).contains("no float is exactly `16777217`"));
    assert!(refused(b"1e39\n", &floats).contains("does not fit float"));
    assert!(refused(b"1\n\"\"\n", &floats).contains("nan stands for a number that is missing"));
    assert!(refused(b"1.5f\n", &floats).contains("is no float"));
    assert!(refused(b"9007199254740993\n", &Type::vector(DOUBLE)).contains("as an integer type"));
    assert!(refused(b"1,2\n", &floats).contains("the table has 2 columns; 1 is needed"));
    assert!(refused(b"a,b\n1,2\n", &floats).contains("2 columns: a, b; 1 is needed"));
    let pairs = Type::vector(Type::tuple(vec![text(), INT]));
    assert_eq!(refused(b"a,1\n\"b,2\nc,3\n", &pairs), format!("{open} 2"));
    let texts = Type::vector(Type::tuple(vec![text(), text()]));
    assert_eq!(refused(b"a,b\nc,\"d\ne,f\n", &texts), format!("{open} 2"));
}

#[test]
fn other_types_are_no_tables() {
    for ty in [
        INT,
        Type::Unit,
        Type::array(3, INT),
        Type::vector(Type::vector(Type::vector(INT))),
        Type::tuple(vec![INT, Type::vector(INT)]),
        Type::vector(Type::tuple(vec![INT, Type::vector(INT)])),
    ] {
        assert!(refused(b"1\n", &ty).starts_with("a table is"), "{ty:?}");
    }
}

fn written(value: &Value, ty: &Type) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    write(&mut out, b',', ty, value).map_err(|error| error.to_string())?;
    Ok(out)
}

#[test]
fn what_no_table_holds_is_refused() {
    let error = |value: &str, ty: &Type| {
        let value = read_value(value, ty, &[]).expect("a value");
        written(&value, ty).expect_err("no table")
    };
    let rows = Type::vector(Type::vector(INT));
    assert!(error("[[1 2] [3]]", &rows).contains("row 2 has 1 elements and row 1 has 2"));
    assert!(error("[[] []]", &rows).contains("rows without cells"));
    assert!(error("(reshape (2, 0) [])", &Type::array(2, INT)).contains("rows without cells"));
    let columns = Type::tuple(vec![Type::vector(INT), Type::vector(INT)]);
    assert!(error("([1 2], [3])", &columns).contains("differ in length: 2 and 1"));
}

#[test]
fn tables_are_plain() {
    let ty = Type::vector(Type::tuple(vec![text(), FLOAT]));
    let value = read_value("[(\"a, b\", 1) (\"\", nan)]", &ty, &[]).expect("a value");
    let file = written(&value, &ty).expect("a table");
    assert_eq!(String::from_utf8_lossy(&file), "\"a, b\",1.0\n\"\",nan\n");
    let ty = Type::array(2, Type::BOOL);
    let value = read_value("[[true false]]", &ty, &[]).expect("a value");
    assert_eq!(written(&value, &ty).as_deref(), Ok(&b"true,false\n"[..]));
    let empty = Value::Array(vec![0, 3].into(), Elements::new(&Type::BOOL));
    assert_eq!(written(&empty, &ty).as_deref(), Ok(&b""[..]));
}

/// A generator of numbers.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005);
        self.0 = self.0.wrapping_add(1442695040888963407);
        (self.0 >> 32) ^ (self.0 << 32)
    }

    fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 16) % n
    }

    fn scalar(&mut self, scalar: Scalar) -> ScalarValue {
        // Small numbers, the ends of the type, and any bits.
        let bits = match self.below(3) {
            0 => self.below(4) as i128 - 2,
            1 => (1i128 << self.below(65)) - i128::from(self.below(2)),
            _ => i128::from(self.next()),
        };
        match scalar {
            Scalar::F32 => ScalarValue::F32(f32::from_bits(self.next() as u32)),
            Scalar::F64 => ScalarValue::F64(f64::from_bits(self.next())),
            Scalar::Bool => ScalarValue::Bool(bits & 1 == 1),
            _ => ScalarValue::from_integer_wrapping(scalar, bits),
        }
    }

    fn text(&mut self) -> Value {
        let pieces = [
            "a", ",", "\"", "\n", "\r", "\r\n", " ", "\0", "\u{feff}", "7", "é", "\t", "",
        ];
        let mut bytes = Vec::new();
        for _ in 0..self.below(4) {
            bytes.extend(pieces[self.below(pieces.len() as u64) as usize].bytes());
        }
        if self.below(8) == 0 {
            bytes.push(self.next() as u8);
        }
        Value::Vector(Elements::U8(Arc::new(bytes)))
    }

    fn vector(&mut self, cell: Cell, n: usize) -> Value {
        let element = match cell {
            Cell::Number(scalar) => Type::Scalar(scalar),
            Cell::Text => text(),
        };
        let mut elements = Elements::new(&element);
        for _ in 0..n {
            let value = match cell {
                Cell::Number(scalar) => Value::Scalar(self.scalar(scalar)),
                Cell::Text => self.text(),
            };
            elements.push(value).expect("memory");
        }
        Value::Vector(elements)
    }
}

/// Returns the type of a column of cells.
fn type_of(cell: Cell) -> Type {
    match cell {
        Cell::Number(scalar) => Type::Scalar(scalar),
        Cell::Text => text(),
    }
}

#[test]
fn tables_read_back() {
    let mut random = Random(7);
    for round in 0..2000 {
        let rows = random.below(5) as usize;
        let width = 2 + random.below(3) as usize;
        let cells: Vec<Cell> = (0..width)
            .map(|_| match random.below(14) as usize {
                k @ 0..11 => Cell::Number(nova_core::scalar::SCALARS[k].scalar),
                _ => Cell::Text,
            })
            .collect();
        let columns: Vec<Value> = cells.iter().map(|c| random.vector(*c, rows)).collect();
        let types: Vec<Type> = cells.iter().map(|c| type_of(*c)).collect();
        let column_types = types.iter().cloned().map(Type::vector);
        let as_columns = (
            Type::tuple(column_types.collect()),
            Value::tuple(columns.clone()),
        );
        let tuples = (0..rows).map(|row| {
            let cells = columns.iter().map(|column| match column {
                Value::Vector(elements) => elements.get(row).unwrap_or(Value::Unit),
                other => other.clone(),
            });
            Value::tuple(cells.collect())
        });
        let tuples = Value::Vector(Elements::Values(Arc::new(tuples.collect())));
        let as_tuples = (Type::vector(Type::tuple(types)), tuples);
        for (ty, value) in [as_columns, as_tuples] {
            for separator in [b',', b'\t'] {
                let mut file = Vec::new();
                write(&mut file, separator, &ty, &value).expect("a table");
                let again = read(&*file, separator, None, &ty);
                let again = again.unwrap_or_else(|error| panic!("round {round}: {error}"));
                assert!(again.same(&value), "round {round}: {value:?}\n{again:?}");
            }
        }
    }
}

/// Any bytes are a table or an error, and what was read is written and read as the same.
#[test]
fn damaged_tables() {
    let mut random = Random(3);
    let pieces: [&[u8]; 14] = [
        b"1", b"-2.5", b",", b",", b"\n", b"\r\n", b"\"", b"a", b"nan", b"\0", b"\xff", b" ",
        b"1e99", b"true",
    ];
    let types = [
        Type::vector(INT),
        Type::array(2, FLOAT),
        Type::vector(Type::vector(U8)),
        Type::vector(Type::tuple(vec![text(), DOUBLE])),
        Type::tuple(vec![Type::vector(Type::BOOL), Type::vector(text())]),
    ];
    let mut read_well = 0;
    for _ in 0..20_000 {
        let count = random.below(12);
        let file: Vec<&[u8]> = (0..count)
            .map(|_| pieces[random.below(pieces.len() as u64) as usize])
            .collect();
        let file = file.concat();
        for ty in &types {
            let Ok(value) = read(&*file, b',', None, ty) else {
                continue;
            };
            assert!(value.conforms(ty, &[]), "{file:?}");
            if let Ok(written) = written(&value, ty)
                && !written.is_empty()
            {
                let again = read(&*written, b',', None, ty).expect("a table");
                assert!(again.same(&value), "{file:?}");
                read_well += 1;
            }
        }
    }
    assert!(read_well > 1000, "{read_well}");
}

#[test]
fn many_rows_take_linear_time() {
    let mut file = Vec::new();
    for k in 0..300_000 {
        file.extend_from_slice(format!("{k},{}.5\n", k % 10).as_bytes());
    }
    let value = read(&*file, b',', None, &Type::array(2, DOUBLE)).expect("a table");
    let Value::Array(extents, Elements::F64(cells)) = &value else {
        panic!("another value");
    };
    assert_eq!(**extents, [300_000, 2]);
    assert_eq!(cells[2 * 299_999..], [299_999.0, 9.5]);
    let rows = read(&*file, b',', None, &Type::vector(Type::vector(DOUBLE))).expect("rows");
    assert_eq!(
        written(&rows, &Type::vector(Type::vector(DOUBLE))).map(|f| f.len()),
        written(&value, &Type::array(2, DOUBLE)).map(|f| f.len())
    );
}
