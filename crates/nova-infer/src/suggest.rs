//! Suggestions for names that are not bound: by the terms of other languages, and by edit distance.

use strsim::osa_distance;

/// Names of other languages, a line for each. Behind `=` stands the name that it has here, behind `:` a way to say
/// it.
const FOREIGN_NAMES: &str = include_str!("foreign_names.txt");

/// Returns what to write instead of a name, as a help text, where it is known: a name of another
/// language, or a misspelt one of these.
pub(crate) fn instead_of<'n>(
    name: &str,
    candidates: impl Iterator<Item = &'n str>,
) -> Option<String> {
    let ask = |name: &str| format!("did you mean `{name}`?");
    if let Some(parameter) = name.strip_prefix('\\').filter(|rest| is_name(rest)) {
        return Some(format!("`(lambda ({parameter}) e)` is a function"));
    }
    if let Some(negated) = name.strip_prefix('-').filter(|rest| is_name(rest)) {
        return Some(format!("`(neg {negated})` is the negative of `{negated}`"));
    }
    let mut foreign = FOREIGN_NAMES
        .lines()
        .filter_map(|line| line.split_once(' '));
    let found = foreign.find(|(other, _)| *other == name);
    let found = found.and_then(|(_, instead)| instead.split_once(' '));
    match found {
        Some(("=", ours)) => Some(ask(ours)),
        Some((_, help)) => Some(help.to_string()),
        None => did_you_mean(name, candidates).map(ask),
    }
}

/// Returns the candidate that `name` was probably meant to be, by its letters.
pub(crate) fn did_you_mean<'n>(
    name: &str,
    candidates: impl Iterator<Item = &'n str>,
) -> Option<&'n str> {
    let allowed = (name.chars().count() / 3).max(1);
    candidates
        .filter(|candidate| *candidate != name && candidate.len().abs_diff(name.len()) <= 4)
        // An operator is never a misspelt word.
        .filter(|candidate| is_word(candidate) && is_word(name))
        .map(|candidate| (osa_distance(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min()
        .map(|(_, candidate)| candidate)
}

/// True if a text begins as a name does.
fn is_name(text: &str) -> bool {
    text.chars().next().is_some_and(char::is_alphabetic)
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
        let suggest = |name: &str| instead_of(name, candidates.into_iter());
        let says = |name: &str, help: &str| {
            assert_eq!(suggest(name).as_deref(), Some(help));
        };
        says("lenght", "did you mean `length`?");
        says("redcue", "did you mean `reduce`?");
        says("==", "did you mean `=`?");
        says("lef", "did you mean `left`?");
        says("fst", "`p.0` is the first element of a pair");
        assert_eq!(suggest("quicksort"), None);
    }
}
