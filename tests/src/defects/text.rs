//! Mistakes of the part that writes C, as rewritings of the text that is compiled.

/// Constants of 64 bits as C's `int`, where they fit into one: `INT64_C(7)` as `7`.
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

/// Variables of an unsigned type that are read as signed ones, declared signed: each is read in the
/// unsigned type instead, so that C still computes the same.
pub fn signed_accumulators(source: &str) -> String {
    // A function ends with the only brace at the start of a line that nothing follows.
    const END: &str = "\n}\n";
    let functions = source.split_inclusive(END);
    functions.map(signed_in_function).collect()
}

fn signed_in_function(function: &str) -> String {
    let mut text = function.to_string();
    for line in function.lines() {
        for bits in ["8", "16", "32", "64"] {
            let declared = line.trim_start().strip_prefix(&format!("uint{bits}_t "));
            let name = declared.and_then(|rest| rest.split_once(" = "));
            if let Some((name, _)) = name
                && name.chars().all(is_of_name)
                && function.contains(&format!("(int{bits}_t){name}"))
            {
                text = signed(&text, bits, name);
            }
        }
    }
    text
}

/// Declares one variable signed.
fn signed(function: &str, bits: &str, name: &str) -> String {
    const COMPOUND: [&str; 3] = ["+", "-", "*"];
    let (declared, read) = (format!("uint{bits}_t "), format!("(int{bits}_t)"));
    let wide = format!("((uint{bits}_t){name})");
    let mut text = String::new();
    let mut rest = function;
    while let Some((before, behind)) = split_at_name(rest, name) {
        text.push_str(before);
        rest = behind;
        let compound = COMPOUND
            .iter()
            .find_map(|sign| Some((sign, behind.strip_prefix(&format!(" {sign}= "))?)));
        if let Some(kept) = text.strip_suffix(&declared) {
            text = format!("{kept}int{bits}_t {name}");
        } else if let Some((sign, operand)) = compound {
            let (operand, behind) = operand.split_once(';').unwrap_or((operand, ""));
            // The operand may hold the name, too.
            let operand = read_wide(operand, &read, &wide, name);
            text.push_str(&format!("{name} = {wide} {sign} ({operand});"));
            rest = behind;
        } else if behind.starts_with(" = ") || text.ends_with(&read) {
            text.push_str(name);
        } else {
            text.push_str(&wide);
        }
    }
    text + rest
}

/// An expression with a name read in the unsigned type.
fn read_wide(expression: &str, read: &str, wide: &str, name: &str) -> String {
    let mut text = String::new();
    let mut rest = expression;
    while let Some((before, behind)) = split_at_name(rest, name) {
        text.push_str(before);
        let kept = text.ends_with(read);
        text.push_str(if kept { name } else { wide });
        rest = behind;
    }
    text + rest
}

/// What stands before a name, and behind it.
fn split_at_name<'a>(text: &'a str, name: &str) -> Option<(&'a str, &'a str)> {
    let mut from = 0;
    while let Some(at) = text[from..].find(name) {
        let (before, behind) = (&text[..from + at], &text[from + at + name.len()..]);
        if !before.ends_with(is_of_name) && !behind.starts_with(is_of_name) {
            return Some((before, behind));
        }
        from += at + name.len();
    }
    None
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

    #[test]
    fn accumulators_are_declared_signed_and_read_unsigned() {
        let text = "{\n    uint32_t sum = INT32_MIN;\n    for (;;)\n        sum += t + sum;\n    \
                    last = (int32_t)sum;\n    sum = t;\n    return sum + last;\n}\n";
        let seeded = "{\n    int32_t sum = INT32_MIN;\n    for (;;)\n        \
                      sum = ((uint32_t)sum) + (t + ((uint32_t)sum));\n    last = (int32_t)sum;\n    \
                      sum = t;\n    return ((uint32_t)sum) + last;\n}\n";
        assert_eq!(signed_accumulators(text), seeded);
    }
}
