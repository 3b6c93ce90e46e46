//! The meanings of built-in functions, in a sentence each. The reference is docs/language.md.

use nova_infer::builtin_type;

/// A line for each built-in: a call without its parentheses, and the meaning. In `to_T` and the like, T is any scalar
/// type.
const PAGES: &str = include_str!("builtins.txt");

/// A built-in function for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltinPage {
    /// The arguments of a call, as the reference names them: `f z X`.
    pub arguments: &'static str,
    /// Its type.
    pub ty: String,
    /// Its meaning.
    pub meaning: &'static str,
}

/// Returns the lines of the table: names, arguments, meanings.
fn rows() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    PAGES.lines().filter_map(|line| {
        let (call, meaning) = line.split_once(" | ")?;
        let (name, arguments) = call.split_once(' ')?;
        Some((name, arguments, meaning))
    })
}

/// True if a row is about a name.
fn is_about(row: &str, name: &str) -> bool {
    let conversion = row.strip_suffix('T').filter(|start| start.ends_with('_'));
    row == name || conversion.is_some_and(|start| name.starts_with(start))
}

/// Returns the page of a built-in function.
pub fn builtin_page(name: &str) -> Option<BuiltinPage> {
    let ty = builtin_type(name)?;
    let (_, arguments, meaning) = rows().find(|(row, _, _)| is_about(row, name))?;
    Some(BuiltinPage {
        arguments,
        ty,
        meaning,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use nova_infer::{builtin_call, builtin_names};

    #[test]
    fn every_builtin_has_a_page_that_agrees_with_the_messages() {
        for name in builtin_names() {
            let page = builtin_page(name).unwrap_or_else(|| panic!("no page of {name}"));
            if let Some(call) = builtin_call(name) {
                assert_eq!(format!("({name} {})", page.arguments), call);
            }
        }
        for (row, _, _) in rows() {
            let mut names = builtin_names();
            assert!(names.any(|name| is_about(row, name)), "{row}");
        }
    }
}
