//! What built-in functions do, in a sentence each, for editors. The reference is docs/language.md.

use crate::builtins::BuiltinId;

/// Rows of built-ins: their names, their arguments as a call writes them, and their meaning.
const PAGES: &[(&str, &str, &str)] = &[
    ("+", "x y", "The sum. Integers wrap."),
    ("-", "x y", "The difference. Integers wrap."),
    ("*", "x y", "The product. Integers wrap."),
    ("neg", "x", "The negative of a number. Integers wrap."),
    ("abs", "x", "The absolute value. Integers wrap."),
    (
        "min",
        "x y",
        "The smaller of two numbers. A nan is ignored.",
    ),
    ("max", "x y", "The larger of two numbers. A nan is ignored."),
    (
        "/",
        "x y",
        "The quotient. Integers truncate toward zero; a division by 0 is an error.",
    ),
    (
        "%",
        "x y",
        "The remainder of integers, with the sign of the dividend. A division by 0 is an error.",
    ),
    ("sqrt", "x", "The square root."),
    (
        "rsqrt",
        "x",
        "The reciprocal of the square root, within 2 ulp.",
    ),
    ("recip", "x", "The reciprocal, within 2 ulp."),
    ("exp", "x", "The exponential function."),
    ("exp2", "x", "2 to the power of `x`."),
    ("log", "x", "The natural logarithm."),
    ("log2", "x", "The logarithm to the base 2."),
    ("log10", "x", "The logarithm to the base 10."),
    ("sin", "x", "The sine of an angle in radians."),
    ("cos", "x", "The cosine of an angle in radians."),
    ("tan", "x", "The tangent of an angle in radians."),
    ("asin", "x", "The arc sine, in radians."),
    ("acos", "x", "The arc cosine, in radians."),
    ("atan", "x", "The arc tangent, in radians."),
    ("sinh", "x", "The hyperbolic sine."),
    ("cosh", "x", "The hyperbolic cosine."),
    ("tanh", "x", "The hyperbolic tangent."),
    ("pow", "x y", "`x` to the power of `y`."),
    (
        "atan2",
        "y x",
        "The angle of the point `(x, y)`, in radians.",
    ),
    ("erf", "x", "The error function."),
    (
        "floor",
        "x",
        "The largest whole number that is not above `x`.",
    ),
    (
        "ceil",
        "x",
        "The smallest whole number that is not below `x`.",
    ),
    (
        "round",
        "x",
        "The nearest whole number; halves go away from zero.",
    ),
    ("trunc", "x", "The whole number next to `x` toward zero."),
    ("=", "x y", "True if both are equal."),
    ("~=", "x y", "True if both differ."),
    ("<", "x y", "True if `x` is less than `y`."),
    ("<=", "x y", "True if `x` is at most `y`."),
    (">", "x y", "True if `x` is greater than `y`."),
    (">=", "x y", "True if `x` is at least `y`."),
    (
        "and",
        "p q",
        "True if both hold. `q` is evaluated only if `p` holds.",
    ),
    (
        "or",
        "p q",
        "True if one holds. `q` is evaluated only if `p` does not hold.",
    ),
    ("not", "p", "True if `p` does not hold."),
    ("&", "x y", "The bits that are set in both integers."),
    ("|", "x y", "The bits that are set in one of two integers."),
    (
        "^",
        "x y",
        "The bits that are set in exactly one of two integers.",
    ),
    ("~", "x", "The bits that are not set in an integer."),
    (
        "<<",
        "x n",
        "The integer shifted to the left by `n` bits. A shift outside of its width is an error.",
    ),
    (
        ">>",
        "x n",
        "The integer shifted to the right by `n` bits; the sign stays. A shift outside of its width is an error.",
    ),
    (
        "popcount",
        "x",
        "The number of bits of an integer that are set, in its type.",
    ),
    (
        "map",
        "f X …",
        "`f` of the elements at each index. The lengths must agree.",
    ),
    ("imap", "f X", "`f` of every index of `X`."),
    (
        "reduce",
        "f z X",
        "`z ⊕ x0 ⊕ x1 …`, in this order, in any bracketing. `f` must be associative.",
    ),
    (
        "reduce_comm",
        "f z X",
        "`z ⊕ x0 ⊕ x1 …`, in any order and bracketing. `f` must be associative and commutative.",
    ),
    (
        "scan",
        "f z X",
        "The running results of a `reduce`, each with the element itself.",
    ),
    (
        "exscan",
        "f z X",
        "The running results of a `reduce`, each without the element itself.",
    ),
    (
        "foldl",
        "f z X",
        "The last state of a fold from the left, in order.",
    ),
    (
        "scanl",
        "f z X",
        "The states of a fold from the left, after each element.",
    ),
    (
        "filter",
        "p X",
        "The elements for which `p` holds, in order.",
    ),
    (
        "partition",
        "p X",
        "The elements for which `p` holds, and the others, both in order.",
    ),
    (
        "permute",
        "I X",
        "`y[I[k]] = x[k]`. `I` must be a permutation.",
    ),
    ("gather", "I X", "`y[k] = x[I[k]]`."),
    (
        "scatter",
        "D I X",
        "`D` with `d[I[k]] := x[k]`. The last one wins; an index outside is skipped.",
    ),
    (
        "histogram",
        "f z n I X",
        "`n` bins. Bin b is `z ⊕` every `x[k]` with `I[k] = b`; an index outside is skipped.",
    ),
    (
        "count",
        "n I",
        "`n` bins: how often each index occurs in `I`. An index outside is skipped.",
    ),
    (
        "sort",
        "le X",
        "The elements in the order of `le`, stable. `le` says whether one may stand before another.",
    ),
    (
        "slice",
        "b s e X",
        "`x[b], x[b+s], …` before `e`. A step of 0 is an error. For an array each is a tuple.",
    ),
    (
        "range",
        "b s e",
        "The numbers from `b` before `e`, by `s`. `(range n)` is 0 to n-1, `(range b e)` has the step 1.",
    ),
    ("length", "X", "The number of elements."),
    ("shape", "M", "The extents of an array, as a tuple."),
    (
        "zip",
        "X Y",
        "The pairs of the elements at each index. The lengths must agree.",
    ),
    (
        "unzip",
        "Z",
        "The vectors of the first and of the second elements of pairs.",
    ),
    ("concat", "X Y", "The elements of `X`, then those of `Y`."),
    ("reverse", "X", "The elements in the opposite order."),
    ("rotate", "k X", "`y[i] = x[(i+k) mod n]`."),
    ("replicate", "n v", "A vector of `n` times `v`."),
    (
        "update",
        "X i v",
        "`X` with the element at `i` replaced by `v`. For an array `i` is a tuple.",
    ),
    (
        "update_slice",
        "X b V",
        "`X` with the elements from `b` on replaced by those of `V`, which must fit.",
    ),
    (
        "tabulate",
        "n f",
        "`f` of every index below `n`; for a tuple of extents, of every tuple of indices.",
    ),
    (
        "reshape",
        "(n, m) X",
        "The elements of a vector or an array, as an array of these extents.",
    ),
    (
        "transpose",
        "M",
        "The array with rows and columns exchanged.",
    ),
    (
        "flatten",
        "X",
        "The elements of a nested vector or an array, as one vector.",
    ),
    ("rows", "M", "The rows of an array, as a vector."),
    (
        "unrows",
        "X",
        "The array of these rows, which must have one length.",
    ),
    (
        "segments",
        "X",
        "The lengths of the inner vectors of a nested vector.",
    ),
    (
        "unflatten",
        "L X",
        "The nested vector whose inner vectors have the lengths `L` and the elements of `X`.",
    ),
    ("iterate", "n f x", "`f` applied `n` times, to `x` first."),
    (
        "while",
        "p f x",
        "`f` applied as long as `p` holds, to `x` first.",
    ),
    (
        "trace",
        "\"text\" x",
        "`x`, after writing the text and the value to standard error.",
    ),
    (
        "table",
        "M",
        "The nodes that a datum reaches, as a vector in which links are indices.",
    ),
    (
        "datum",
        "r V",
        "The datum whose root is the node `r` of a table `V`.",
    ),
    ("map_seq", "f X …", "As `map`; one element after the other."),
    (
        "map_global",
        "f X …",
        "As `map`; a work-item for each index.",
    ),
    (
        "map_workgroup",
        "f X …",
        "As `map`; a work-group for each index.",
    ),
    (
        "map_local",
        "f X …",
        "As `map`; the work-items of one group share the indices.",
    ),
    (
        "reduce_seq",
        "f z X",
        "As `foldl`; one element after the other.",
    ),
    (
        "to_global",
        "f",
        "The function `f`, whose result lies in memory of all work-items.",
    ),
    (
        "to_local",
        "f",
        "The function `f`, whose result lies in memory of the work-group.",
    ),
    (
        "to_private",
        "f",
        "The function `f`, whose result lies in memory of one work-item.",
    ),
    (
        "split",
        "n X",
        "A vector as an array with rows of `n` elements. `n` must divide the length.",
    ),
    (
        "join",
        "X",
        "The elements of a nested vector or an array, as one vector.",
    ),
    (
        "as_vector",
        "n X",
        "A vector of numbers as a vector of `vec#n`. `n` is the literal 2, 4, 8 or 16.",
    ),
    (
        "as_scalar",
        "X",
        "The elements of a vector of `vec#n`, as one vector.",
    ),
];

/// The beginnings of the names of conversions, with their meaning. The rest of a name is a scalar type.
const CONVERSIONS: &[(&str, &str)] = &[
    (
        "to_",
        "The number in another scalar type. What does not fit is an error; floats truncate to integers.",
    ),
    (
        "from_",
        "The number in the scalar type that is demanded here. What does not fit is an error.",
    ),
    ("wrap_", "The number in an integer type, wrapping."),
];

/// A built-in function for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltinPage {
    /// Its name.
    pub name: &'static str,
    /// The arguments of a call, as the reference names them: `f z X`.
    pub arguments: &'static str,
    /// Its type.
    pub ty: String,
    /// Its meaning.
    pub meaning: &'static str,
}

/// Returns the page of a built-in function.
pub fn builtin_page(name: &str) -> Option<BuiltinPage> {
    let builtin = BuiltinId::by_name(name)?.get();
    let row = PAGES.iter().find(|(known, _, _)| *known == name);
    let (arguments, meaning) = match row {
        Some((_, arguments, meaning)) => (*arguments, *meaning),
        None => {
            let conversion = CONVERSIONS
                .iter()
                .find(|(start, _)| name.starts_with(start));
            ("x", conversion?.1)
        }
    };
    Some(BuiltinPage {
        name: &builtin.name,
        arguments,
        ty: builtin.shown_type(),
        meaning,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtins::builtin_names;
    use crate::calls::call_of;

    #[test]
    fn every_builtin_has_a_page_that_agrees_with_the_messages() {
        for name in builtin_names() {
            let page = builtin_page(name).unwrap_or_else(|| panic!("no page of {name}"));
            if let Some(call) = call_of(name) {
                assert_eq!(format!("({name} {})", page.arguments), call);
            }
        }
        for (name, _, _) in PAGES {
            assert!(BuiltinId::by_name(name).is_some(), "{name}");
        }
    }
}
