//! Mistakes of the C emitter, as rewritings of the text that is compiled.

/// Writes constants of 64 bits that fit into C's `int` as such: `INT64_C(7)` as `7`.
pub fn small_constants(source: &str) -> String {
    const WRITTEN: &str = "INT64_C(";
    let mut text = String::new();
    let mut rest = source;
    while let Some(at) = rest.find(WRITTEN) {
        let (before, from) = rest.split_at(at);
        let inside = &from[WRITTEN.len()..];
        let digits = inside.split(')').next().unwrap_or("");
        text.push_str(before);
        rest = match digits.parse::<i32>() {
            Ok(_) if !before.ends_with(is_of_name) => {
                text.push_str(digits);
                &inside[digits.len() + 1..]
            }
            Ok(_) | Err(_) => {
                text.push_str(WRITTEN);
                inside
            }
        };
    }
    text + rest
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_constants_that_fit_are_small() {
        let text = "INT64_C(7) >> k; INT64_C(-2147483649) + UINT64_C(7)";
        let seeded = "7 >> k; INT64_C(-2147483649) + UINT64_C(7)";
        assert_eq!(small_constants(text), seeded);
    }
}
