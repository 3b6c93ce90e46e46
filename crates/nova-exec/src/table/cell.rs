//! Numbers in the cells of tables. An integer must be in its type, also where that is a floating one: nothing is
//! rounded but decimals.

use nova_core::{Scalar, ScalarValue};

/// The most characters of a cell that a message shows.
const SHOWN: usize = 40;

/// True if a cell may be a name of a column: it does not begin as a number does, and is none.
pub fn is_name(cell: &[u8]) -> bool {
    let cell = cell.trim_ascii();
    let begins = cell
        .first()
        .is_some_and(|byte| !byte.is_ascii_digit() && !b"+-.".contains(byte));
    let word = std::str::from_utf8(cell).map(str::to_ascii_lowercase);
    begins && !word.is_ok_and(|word| NUMBERS.contains(&word.as_str()))
}

/// The words that are numbers or truth values, in lower case.
const NUMBERS: [&str; 5] = ["nan", "inf", "infinity", "true", "false"];

/// Reads the number in a cell. Blanks around it do not count.
///
/// # Errors
/// A sentence about the cell, without its place.
pub fn number(cell: &[u8], scalar: Scalar) -> Result<ScalarValue, String> {
    let trimmed = cell.trim_ascii();
    let text = match std::str::from_utf8(trimmed) {
        Ok(text) => text,
        Err(_) => return Err(format!("{} is not UTF-8", shown(trimmed))),
    };
    let no_number = || Err(format!("{} is no {scalar}", shown(trimmed)));
    if text.is_empty() {
        let help = match scalar.is_float() {
            true => " (nan stands for a number that is missing)",
            false => "",
        };
        return Err(format!("an empty cell is no {scalar}{help}"));
    }
    let value = match scalar {
        Scalar::Bool => truth(text).map(ScalarValue::Bool),
        Scalar::F32 => text.parse().ok().map(ScalarValue::F32),
        Scalar::F64 => text.parse().ok().map(ScalarValue::F64),
        Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => whole(text, scalar)?,
        Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => whole(text, scalar)?,
    };
    match value {
        Some(value) => floating(text, value, scalar).map(|()| value),
        None if scalar.is_float() || text.parse::<f64>().is_err() => no_number(),
        None => Err(format!(
            "{} is no {scalar}; read the column as double",
            shown(trimmed)
        )),
    }
}

/// Reads a truth value: a word in any case, or 0 or 1.
fn truth(text: &str) -> Option<bool> {
    match text {
        "1" => Some(true),
        "0" => Some(false),
        word if word.eq_ignore_ascii_case("true") => Some(true),
        word if word.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

/// Reads an integer. Returns `None` where the text is none.
fn whole(text: &str, scalar: Scalar) -> Result<Option<ScalarValue>, String> {
    if !is_whole(text) {
        return Ok(None);
    }
    // Numbers of few digits need no wide arithmetic.
    let value = match text.len() <= 18 {
        true => text.parse::<i64>().ok().map(i128::from),
        false => text.parse::<i128>().ok(),
    };
    let value = value.and_then(|value| {
        let wrapped = ScalarValue::from_integer_wrapping(scalar, value);
        (wrapped.as_integer() == Some(value)).then_some(wrapped)
    });
    match value {
        Some(value) => Ok(Some(value)),
        None => Err(format!("{} does not fit {scalar}", shown(text.as_bytes()))),
    }
}

/// True if a text is an integer in decimal digits.
fn is_whole(text: &str) -> bool {
    let digits = digits(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns a text without its sign.
fn digits(text: &str) -> &str {
    text.strip_prefix(['+', '-']).unwrap_or(text)
}

/// Checks that a floating number is what its text says: no overflow, and integers are exact.
fn floating(text: &str, value: ScalarValue, scalar: Scalar) -> Result<(), String> {
    // All integers of so many digits are in the type.
    let (wide, exact_digits) = match value {
        ScalarValue::F32(value) => (f64::from(value), 7),
        ScalarValue::F64(value) => (value, 15),
        _ => return Ok(()),
    };
    let digits = digits(text);
    if wide.is_infinite() && digits.bytes().any(|byte| byte.is_ascii_digit()) {
        return Err(format!("{} does not fit {scalar}", shown(text.as_bytes())));
    }
    if digits.len() <= exact_digits || !is_whole(text) {
        return Ok(());
    }
    // Without a fraction all digits of a float are written.
    let significant = digits.trim_start_matches('0');
    if significant.is_empty() || format!("{:.0}", wide.abs()) == significant {
        return Ok(());
    }
    let wider = match scalar {
        Scalar::F32 => "read the column as double, or",
        _ => "read the column as an integer type, or",
    };
    Err(format!(
        "no {scalar} is exactly {}; {wider} write .0 after it so that it is rounded",
        shown(text.as_bytes())
    ))
}

/// Returns a cell as a message shows it.
pub fn shown(cell: &[u8]) -> String {
    let text = String::from_utf8_lossy(cell);
    let start: String = text
        .chars()
        .take(SHOWN)
        .flat_map(char::escape_debug)
        .collect();
    match text.chars().nth(SHOWN) {
        Some(_) => format!("`{start}…`"),
        None => format!("`{start}`"),
    }
}
