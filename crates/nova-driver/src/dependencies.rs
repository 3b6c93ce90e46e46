//! The files that outputs depend on, as rules of Make: what `cc -MMD -MP` writes.

use nova_exec::InputError;
use std::path::{Path, PathBuf};

/// Returns rules by which the outputs are made anew when an input changes. Each input but the first also has a rule
/// without commands, so that nothing is missed where an import has gone.
///
/// # Errors
/// A name has a line end, which no rule can hold.
pub fn rules(outputs: &[PathBuf], inputs: &[PathBuf]) -> Result<String, InputError> {
    let names = |paths: &[PathBuf]| -> Result<Vec<String>, InputError> {
        paths.iter().map(|path| escaped(path)).collect()
    };
    let inputs = names(inputs)?;
    let mut text = format!("{}:", names(outputs)?.join(" "));
    for input in &inputs {
        text += " \\\n  ";
        text += input;
    }
    text.push('\n');
    for input in inputs.iter().skip(1) {
        text += &format!("\n{input}:\n");
    }
    Ok(text)
}

/// Returns a name as a rule has it. Backslashes before a blank are doubled.
fn escaped(path: &Path) -> Result<String, InputError> {
    let name = path.to_string_lossy();
    let mut text = String::new();
    let mut backslashes = 0;
    for c in name.chars() {
        match c {
            '\n' | '\r' => {
                return Err(InputError(format!(
                    "{name:?}: rules of Make have no names with line ends"
                )));
            }
            ' ' | '\t' => {
                text.extend(std::iter::repeat_n('\\', backslashes + 1));
                text.push(c);
            }
            '#' => text += "\\#",
            '$' => text += "$$",
            _ => text.push(c),
        }
        backslashes = if c == '\\' { backslashes + 1 } else { 0 };
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(names: &[&str]) -> Vec<PathBuf> {
        names.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn rules_of_outputs_and_inputs() {
        let text = rules(
            &paths(&["out/a.h", "out/a.c"]),
            &paths(&["a.nova", "lib/b.nova"]),
        );
        let expected = "out/a.h out/a.c: \\\n  a.nova \\\n  lib/b.nova\n\nlib/b.nova:\n";
        assert_eq!(text.as_deref(), Ok(expected));
    }

    #[test]
    fn names_are_escaped() {
        let name = |name: &str| escaped(Path::new(name)).expect("a name without line ends");
        assert_eq!(name("a b.nova"), "a\\ b.nova");
        assert_eq!(name("a\\ b"), "a\\\\\\ b");
        assert_eq!(name("a\\b"), "a\\b");
        assert_eq!(name("#1$x.nova"), "\\#1$$x.nova");
        assert!(escaped(Path::new("a\nb")).is_err());
    }
}
