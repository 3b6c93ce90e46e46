//! Suggestions for names that are not bound: by the terms of other languages, and by edit distance.

use strsim::osa_distance;

/// The replacement of a name of other languages.
enum Instead {
    /// A name, with the same arguments.
    Name(&'static str),
    /// An expression, or a way to say it.
    Form(&'static str),
}

use Instead::{Form, Name};

/// Names of other languages, and what stands for them.
const FOREIGN_NAMES: &[(&str, Instead)] = &[
    ("==", Name("=")),
    ("===", Name("=")),
    ("eq", Name("=")),
    ("!=", Name("~=")),
    ("/=", Name("~=")),
    ("<>", Name("~=")),
    ("&&", Name("and")),
    ("||", Name("or")),
    ("mod", Name("%")),
    ("rem", Name("%")),
    ("div", Name("/")),
    ("//", Form("`/` divides; a comment begins with `;`")),
    ("negate", Name("neg")),
    ("xor", Name("^")),
    ("size", Name("length")),
    ("len", Name("length")),
    ("fold", Name("foldl")),
    ("iota", Name("range")),
    ("arange", Name("range")),
    ("append", Name("concat")),
    ("++", Name("concat")),
    ("zipWith", Name("map")),
    ("map2", Name("map")),
    ("mapi", Name("imap")),
    ("power", Name("pow")),
    ("**", Name("pow")),
    ("ln", Name("log")),
    ("int", Name("to_int")),
    ("float", Name("to_float")),
    ("double", Name("to_double")),
    ("True", Name("true")),
    ("TRUE", Name("true")),
    ("#t", Name("true")),
    ("False", Name("false")),
    ("FALSE", Name("false")),
    ("#f", Name("false")),
    ("bincount", Name("count")),
    ("popcnt", Name("popcount")),
    ("sum", Form("`(reduce + 0 X)` adds the elements of X")),
    (
        "product",
        Form("`(reduce * 1 X)` multiplies the elements of X"),
    ),
    (
        "prod",
        Form("`(reduce * 1 X)` multiplies the elements of X"),
    ),
    ("cumsum", Form("`(scan + 0 X)` gives the running sums of X")),
    (
        "prefix_sum",
        Form("`(scan + 0 X)` gives the running sums of X"),
    ),
    ("scanl1", Form("`(scan + 0 X)` gives the running sums of X")),
    (
        "mean",
        Form("`(/ (reduce + 0.0 X) (to_float (length X)))` is the mean of X"),
    ),
    (
        "maximum",
        Form("`(reduce max (X ! 0) X)` is the largest element of X"),
    ),
    (
        "minimum",
        Form("`(reduce min (X ! 0) X)` is the smallest element of X"),
    ),
    (
        "any",
        Form("`(reduce or false (map p X))` says whether p holds for any element"),
    ),
    (
        "all",
        Form("`(reduce and true (map p X))` says whether p holds for all elements"),
    ),
    (
        "dot",
        Form("`(reduce + 0.0 (map * X Y))` is the dot product of X and Y"),
    ),
    (
        "foldr",
        Form("`(foldl (lambda (s x) …) z (reverse X))` folds from the right"),
    ),
    ("foldl1", Form("`(foldl f z X)` takes a first state")),
    ("head", Form("`(X ! 0)` is the first element of X")),
    (
        "first",
        Form("`(X ! 0)` is the first element of X; `p.0` is that of a pair"),
    ),
    ("fst", Form("`p.0` is the first element of a pair")),
    ("snd", Form("`p.1` is the second element of a pair")),
    (
        "last",
        Form("`(X ! (- (length X) 1))` is the last element of X"),
    ),
    ("nth", Form("`(X ! i)` is element i of X")),
    ("get", Form("`(X ! i)` is element i of X")),
    (
        "tail",
        Form("`(slice 1 1 (length X) X)` leaves the first element out"),
    ),
    (
        "rest",
        Form("`(slice 1 1 (length X) X)` leaves the first element out"),
    ),
    (
        "init",
        Form("`(slice 0 1 (- (length X) 1) X)` leaves the last element out"),
    ),
    (
        "take",
        Form("`(slice 0 1 n X)` takes the first n elements of X"),
    ),
    (
        "drop",
        Form("`(slice n 1 (length X) X)` leaves the first n elements out"),
    ),
    ("repeat", Form("`(replicate n x)` is x, n times")),
    ("zeros", Form("`(replicate n 0.0)` is a vector of zeros")),
    ("ones", Form("`(replicate n 1.0)` is a vector of ones")),
    (
        "enumerate",
        Form("`(zip (range (length X)) X)` pairs elements with their indices"),
    ),
    ("null?", Form("`(= (length X) 0)` says whether X is empty")),
    ("empty", Form("`(= (length X) 0)` says whether X is empty")),
    (
        "print",
        Form("`(trace \"text\" x)` writes x to standard error, and is x"),
    ),
    (
        "println",
        Form("`(trace \"text\" x)` writes x to standard error, and is x"),
    ),
    (
        "printf",
        Form("`(trace \"text\" x)` writes x to standard error, and is x"),
    ),
    (
        "display",
        Form("`(trace \"text\" x)` writes x to standard error, and is x"),
    ),
    (
        "show",
        Form("`(trace \"text\" x)` writes x to standard error, and is x"),
    ),
    (
        "for",
        Form("`(map f X)` applies f to each element; `(iterate n f x)` repeats a step"),
    ),
    (
        "loop",
        Form("`(iterate n f x)` repeats a step n times, `(while p f x)` as long as p holds"),
    ),
    (
        "do",
        Form("`(iterate n f x)` repeats a step; bindings in order are a `let`"),
    ),
    (
        "begin",
        Form("nothing has an effect that must come first: leave the other expressions out"),
    ),
    (
        "progn",
        Form("nothing has an effect that must come first: leave the other expressions out"),
    ),
    (
        "return",
        Form("the last expression is the value: leave `return` out"),
    ),
    (
        "set!",
        Form("nothing is assigned: bind the new value with `let`, or pass it to `iterate`"),
    ),
    (
        "setq",
        Form("nothing is assigned: bind the new value with `let`, or pass it to `iterate`"),
    ),
    (
        ":=",
        Form("nothing is assigned: bind the new value with `let`, or pass it to `iterate`"),
    ),
    (
        "let*",
        Form("`(let (x e) (y f) in g)`: each binding sees those before it"),
    ),
    (
        "letrec",
        Form("`(mu (f : T) (lambda (x) …))` is a function that calls itself"),
    ),
    (
        "cond",
        Form("`(if c a (if d b e))` decides between several"),
    ),
    ("when", Form("`(if c a b)`: a conditional has two branches")),
    (
        "unless",
        Form("`(if c b a)`: a conditional has two branches"),
    ),
    (
        "switch",
        Form("`(case e (Name x a) (_ b))` takes a sum apart; `if` compares numbers"),
    ),
    (
        "match",
        Form("`(case e (Name x a) (_ b))` takes a sum apart"),
    ),
    ("fn", Form("`(lambda (x) e)` is a function")),
    ("fun", Form("`(lambda (x) e)` is a function")),
    ("\\", Form("`(lambda (x) e)` is a function")),
    (
        "defun",
        Form("`(define (f (lambda (x) e)))` before the program defines a function"),
    ),
    (
        "def",
        Form("`(define (f (lambda (x) e)))` before the program defines a function"),
    ),
    ("list", Form("`[a b c]` is a vector")),
    ("vec", Form("`[a b c]` is a vector")),
    ("cons", Form("`(concat [x] X)` puts x before X")),
    ("push", Form("`(concat X [x])` puts x behind X")),
    (
        "elem",
        Form("`(reduce or false (map (= x) X))` says whether x is in X"),
    ),
    (
        "contains",
        Form("`(reduce or false (map (= x) X))` says whether x is in X"),
    ),
    (
        "argmax",
        Form("`reduce` pairs of element and index: `(zip X (range (length X)))`"),
    ),
    (
        "argmin",
        Form("`reduce` pairs of element and index: `(zip X (range (length X)))`"),
    ),
    (
        "group_by",
        Form("`sort` by the key, or `histogram` by a number"),
    ),
    (
        "where",
        Form("`(map (lambda (c x y) (if c x y)) C X Y)` chooses by element"),
    ),
    ("dtype", Form("a type is annotated: `(e : vector float)`")),
    ("string", Form("a text in quotes is a `vector uint8`")),
    (
        "concatMap",
        Form("`(flatten (map f X))` puts the results one after the other"),
    ),
    (
        "flatMap",
        Form("`(flatten (map f X))` puts the results one after the other"),
    ),
    ("inc", Form("`(+ x 1)`")),
    ("dec", Form("`(- x 1)`")),
    (
        "compose",
        Form("`(lambda (x) (f (g x)))` applies g and then f"),
    ),
    ("id", Form("`(lambda (x) x)` returns its argument")),
    (
        "pi",
        Form("write `3.14159265358979` with the suffix of its type, or `(acos -1.0)`"),
    ),
];

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
    let foreign = FOREIGN_NAMES.iter().find(|(other, _)| *other == name);
    match foreign {
        Some((_, Form(help))) => Some((*help).to_string()),
        Some((_, Name(ours))) => Some(ask(ours)),
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
