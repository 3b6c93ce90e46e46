//! Suggestions for misspelt names: by edit distance, and by the terms of other languages.

use strsim::osa_distance;

/// Words of other languages, and their names in NOVA.
const FOREIGN_WORDS: &[(&str, &str)] = &[
    ("==", "="),
    ("!=", "~="),
    ("/=", "~="),
    ("<>", "~="),
    ("&&", "and"),
    ("||", "or"),
    ("mod", "%"),
    ("rem", "%"),
    ("size", "length"),
    ("len", "length"),
    ("fold", "foldl"),
    ("foldr", "foldl"),
    ("iota", "range"),
    ("append", "concat"),
    ("++", "concat"),
    ("zipWith", "map"),
    ("map2", "map"),
    ("power", "pow"),
    ("**", "pow"),
    ("ln", "log"),
    ("int", "to_int"),
    ("float", "to_float"),
    ("double", "to_double"),
];

/// Returns the candidate that `name` was probably meant to be.
pub(crate) fn did_you_mean<'n>(
    name: &str,
    candidates: impl Iterator<Item = &'n str>,
) -> Option<String> {
    let allowed = (name.chars().count() / 3).max(1);
    let nearest = candidates
        .filter(|candidate| *candidate != name && candidate.len().abs_diff(name.len()) <= 4)
        // An operator is never a misspelt word.
        .filter(|candidate| is_word(candidate) && is_word(name))
        .map(|candidate| (osa_distance(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min();
    match nearest {
        Some((_, candidate)) => Some(candidate.to_string()),
        None => foreign_word(name).map(str::to_string),
    }
}

/// Returns the NOVA name of the concept that other languages call `name`.
pub(crate) fn foreign_word(name: &str) -> Option<&'static str> {
    FOREIGN_WORDS
        .iter()
        .find(|(other, _)| *other == name)
        .map(|(_, ours)| *ours)
}

fn is_word(name: &str) -> bool {
    name.chars().next().is_some_and(char::is_alphabetic) && name.chars().count() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_and_foreign_words_are_suggested() {
        let candidates = ["length", "reduce", "left"];
        let suggest = |name| did_you_mean(name, candidates.into_iter());
        assert_eq!(suggest("lenght").as_deref(), Some("length"));
        assert_eq!(suggest("redcue").as_deref(), Some("reduce"));
        assert_eq!(suggest("==").as_deref(), Some("="));
        assert_eq!(suggest("quicksort"), None);
    }
}
