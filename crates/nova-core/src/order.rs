//! The order and bracketing of reductions, scans, histograms and sorts under strict floating point
//! (`docs/order.md`). Without it, reductions that commute keep this order, so that sums of any length
//! are accurate. Interpreters fold the others from left to right.
//!
//! The functions are generic over elements and operators, so that the interpreters of all
//! representations call them. Elements are requested in ascending order, each once. An error of an
//! element or of the operator stops the computation.

/// The number of elements of a block. Blocks lie at multiples of it.
pub const BLOCK: usize = 1024;
/// The number of lanes in a block of a commuting reduction, and of elements in a piece of the others.
pub const LANES: usize = 32;

/// The properties that determine the order of a reduction or scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// True if elements may be reordered. It is false in scans.
    pub commutes: bool,
    /// True if floating point is strict.
    pub strict: bool,
    /// True if the values hold no vectors ([`crate::Type::holds_vectors`]). Values that do are folded
    /// from left to right.
    pub scalars_only: bool,
}

impl Order {
    fn is_blocked(self) -> bool {
        self.scalars_only && (self.strict || self.commutes)
    }
}

/// Returns `start ⊕ x0 ⊕ x1 ⊕ …` in the order given by `order`, or `start` for no elements.
pub fn reduce<T, E>(
    n: usize,
    order: Order,
    start: T,
    mut element: impl FnMut(usize) -> Result<T, E>,
    mut combine: impl FnMut(T, T) -> Result<T, E>,
) -> Result<T, E> {
    if !order.is_blocked() {
        return (0..n).try_fold(start, |sum, k| combine(sum, element(k)?));
    }
    match reduce_blocks(n, order, element, &mut combine)? {
        Some(sum) => combine(start, sum),
        None => Ok(start),
    }
}

/// As [`reduce`], but without the start: the first step of a reduction in chunks. Returns `start` for
/// no elements.
pub fn reduce_chunk<T, E>(
    n: usize,
    order: Order,
    start: T,
    element: impl FnMut(usize) -> Result<T, E>,
    mut combine: impl FnMut(T, T) -> Result<T, E>,
) -> Result<T, E> {
    if !order.is_blocked() {
        return reduce_left(n, start, element, combine);
    }
    Ok(reduce_blocks(n, order, element, &mut combine)?.unwrap_or(start))
}

/// Reduces the elements from left to right, without the start. Returns `start` for no elements.
pub fn reduce_left<T, E>(
    n: usize,
    start: T,
    mut element: impl FnMut(usize) -> Result<T, E>,
    mut combine: impl FnMut(T, T) -> Result<T, E>,
) -> Result<T, E> {
    match n {
        0 => Ok(start),
        _ => (1..n).try_fold(element(0)?, |sum, k| combine(sum, element(k)?)),
    }
}

/// Returns `start ⊕ r`, where `r` combines the elements by the tree of adjacent pairs: the last step of
/// a reduction in chunks. Returns `start` for no elements.
pub fn reduce_pairs<T, E>(
    n: usize,
    start: T,
    mut element: impl FnMut(usize) -> Result<T, E>,
    mut combine: impl FnMut(T, T) -> Result<T, E>,
) -> Result<T, E> {
    let mut pairs = Tree::default();
    for k in 0..n {
        pairs.push(element(k)?, &mut combine)?;
    }
    match pairs.finish(&mut combine)? {
        Some(sum) => combine(start, sum),
        None => Ok(start),
    }
}

/// Reduces the elements in blocks, and these by the tree of adjacent pairs. Returns `None` for no
/// elements.
fn reduce_blocks<T, E>(
    n: usize,
    order: Order,
    mut element: impl FnMut(usize) -> Result<T, E>,
    combine: &mut impl FnMut(T, T) -> Result<T, E>,
) -> Result<Option<T>, E> {
    let mut blocks = Tree::default();
    for first in (0..n).step_by(BLOCK) {
        let range = first..n.min(first + BLOCK);
        let block = if order.commutes {
            reduce_lanes(range, &mut element, combine)?
        } else {
            reduce_pieces(range, &mut element, combine)?
        };
        if let Some(block) = block {
            blocks.push(block, combine)?;
        }
    }
    blocks.finish(combine)
}

/// Reduces a block of a commuting reduction: strided lanes, combined by halving.
fn reduce_lanes<T, E>(
    range: std::ops::Range<usize>,
    element: &mut impl FnMut(usize) -> Result<T, E>,
    combine: &mut impl FnMut(T, T) -> Result<T, E>,
) -> Result<Option<T>, E> {
    let mut lanes: [Option<T>; LANES] = [const { None }; LANES];
    for (k, index) in range.enumerate() {
        let x = element(index)?;
        let lane = &mut lanes[k % LANES];
        *lane = Some(match lane.take() {
            Some(sum) => combine(sum, x)?,
            None => x,
        });
    }
    let mut half = LANES / 2;
    while half > 0 {
        for l in 0..half {
            if let Some(right) = lanes[l + half].take() {
                lanes[l] = Some(match lanes[l].take() {
                    Some(left) => combine(left, right)?,
                    None => right,
                });
            }
        }
        half /= 2;
    }
    Ok(lanes[0].take())
}

/// Reduces a block of another reduction: contiguous pieces, combined by the tree of adjacent pairs.
fn reduce_pieces<T, E>(
    range: std::ops::Range<usize>,
    element: &mut impl FnMut(usize) -> Result<T, E>,
    combine: &mut impl FnMut(T, T) -> Result<T, E>,
) -> Result<Option<T>, E> {
    let mut pieces = Tree::default();
    let mut piece = None;
    for (k, index) in range.enumerate() {
        let x = element(index)?;
        piece = Some(match piece.take() {
            Some(sum) if k % LANES != 0 => combine(sum, x)?,
            Some(whole) => {
                pieces.push(whole, combine)?;
                x
            }
            None => x,
        });
    }
    if let Some(last) = piece {
        pieces.push(last, combine)?;
    }
    pieces.finish(combine)
}

/// Combines values, given one after another, by the tree of adjacent pairs. For s = 1, 2, 4, … this is
/// `p[i] := p[i] ⊕ p[i+s]` at every multiple i of 2s with `i + s` in range.
///
/// It holds the complete subtrees so far, like the digits of a binary counter. The subtrees that are
/// left at the end are combined from the right, which gives that same tree.
pub struct Tree<T> {
    /// Complete subtrees with their heights, which decrease.
    subtrees: Vec<(u32, T)>,
}

impl<T> Default for Tree<T> {
    fn default() -> Self {
        Tree {
            subtrees: Vec::new(),
        }
    }
}

impl<T> Tree<T> {
    /// Adds the next value.
    pub fn push<E>(
        &mut self,
        value: T,
        combine: &mut impl FnMut(T, T) -> Result<T, E>,
    ) -> Result<(), E> {
        let mut subtree = (0, value);
        while let Some((height, left)) = self.subtrees.pop_if(|top| top.0 == subtree.0) {
            subtree = (height + 1, combine(left, subtree.1)?);
        }
        self.subtrees.push(subtree);
        Ok(())
    }

    /// Returns the combination of the values, or `None` if there are none.
    pub fn finish<E>(
        mut self,
        combine: &mut impl FnMut(T, T) -> Result<T, E>,
    ) -> Result<Option<T>, E> {
        let Some((_, mut sum)) = self.subtrees.pop() else {
            return Ok(None);
        };
        while let Some((_, left)) = self.subtrees.pop() {
            sum = combine(left, sum)?;
        }
        Ok(Some(sum))
    }
}

/// Passes `y[k] = start ⊕ x0 ⊕ … ⊕ xk` to `emit` in order, or without `xk` if exclusive.
///
/// In blocks of [`BLOCK`] and pieces of [`LANES`] it is `y[k] = carry ⊕ (before ⊕ running)`. Here
/// `running` folds the elements of k's piece up to k, and `before` folds the earlier pieces of the
/// block (it is missing in the first piece). `carry` is the `y` before the block, and `start` at first.
/// The exclusive `y[k]` is the inclusive `y[k-1]`.
pub fn scan<T: Clone, E>(
    n: usize,
    exclusive: bool,
    order: Order,
    start: T,
    mut element: impl FnMut(usize) -> Result<T, E>,
    mut combine: impl FnMut(T, T) -> Result<T, E>,
    mut emit: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let mut last = start.clone();
    let mut carry = start;
    let mut before: Option<T> = None;
    let mut running: Option<T> = None;
    for k in 0..n {
        if exclusive {
            emit(last.clone())?;
        }
        let x = element(k)?;
        if !order.is_blocked() {
            last = combine(last, x)?;
        } else {
            if k % BLOCK == 0 {
                (carry, before, running) = (last, None, None);
            } else if k % LANES == 0
                && let Some(piece) = running.take()
            {
                before = Some(match before {
                    Some(sum) => combine(sum, piece)?,
                    None => piece,
                });
            }
            let sum = match running {
                Some(sum) => combine(sum, x)?,
                None => x,
            };
            running = Some(sum.clone());
            let within = match &before {
                Some(pieces) => combine(pieces.clone(), sum)?,
                None => sum,
            };
            last = combine(carry.clone(), within)?;
        }
        if !exclusive {
            emit(last.clone())?;
        }
    }
    Ok(())
}

/// Returns the order in which a stable merge sort puts elements 0 … n−1. It works bottom up, with
/// widths 1, 2, 4, …. The left element goes first if `less_equal(left, right)`. If `less_equal` is no
/// total preorder, this order defines `sort`.
pub fn sort<E>(
    n: usize,
    mut less_equal: impl FnMut(usize, usize) -> Result<bool, E>,
) -> Result<Vec<usize>, E> {
    let mut from: Vec<usize> = (0..n).collect();
    let mut into: Vec<usize> = Vec::with_capacity(n);
    let mut width = 1;
    while width < n {
        into.clear();
        for pair in from.chunks(2 * width) {
            let (mut left, mut right) = pair.split_at(width.min(pair.len()));
            while let ([l, left_rest @ ..], [r, right_rest @ ..]) = (left, right) {
                if less_equal(*l, *r)? {
                    into.push(*l);
                    left = left_rest;
                } else {
                    into.push(*r);
                    right = right_rest;
                }
            }
            into.extend_from_slice(left);
            into.extend_from_slice(right);
        }
        std::mem::swap(&mut from, &mut into);
        width *= 2;
    }
    Ok(from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    const COMMUTES: Order = Order {
        commutes: true,
        strict: true,
        scalars_only: true,
    };
    const ORDERED: Order = Order {
        commutes: false,
        ..COMMUTES
    };

    /// Returns the bracketing as text, in which each element is its number.
    fn bracketing(n: usize, order: Order) -> String {
        let element = |k: usize| Ok::<_, Infallible>(k.to_string());
        let combine = |a: String, b: String| Ok(format!("({a} {b})"));
        reduce(n, order, "z".to_string(), element, combine).unwrap_or_else(|e| match e {})
    }

    /// The tree of `docs/order.md`, with all results of blocks and pieces in a table.
    fn adjacent_pairs(mut values: Vec<String>) -> Option<String> {
        let mut s = 1;
        while s < values.len() {
            for i in (0..values.len()).step_by(2 * s) {
                if i + s < values.len() {
                    values[i] = format!("({} {})", values[i], values[i + s]);
                }
            }
            s *= 2;
        }
        values.into_iter().next()
    }

    fn fold(range: impl Iterator<Item = usize>) -> Option<String> {
        range
            .map(|k| k.to_string())
            .reduce(|a, b| format!("({a} {b})"))
    }

    fn pieces(range: std::ops::Range<usize>) -> Option<String> {
        let starts = range.clone().step_by(LANES);
        adjacent_pairs(
            starts
                .filter_map(|s| fold(s..range.end.min(s + LANES)))
                .collect(),
        )
    }

    fn lanes(range: std::ops::Range<usize>) -> Option<String> {
        let mut lanes: Vec<Option<String>> = (0..LANES)
            .map(|l| fold(range.clone().skip(l).step_by(LANES)))
            .collect();
        for h in [16, 8, 4, 2, 1] {
            for l in 0..h {
                if let (Some(a), Some(b)) = (&lanes[l], &lanes[l + h]) {
                    lanes[l] = Some(format!("({a} {b})"));
                }
            }
        }
        lanes.swap_remove(0)
    }

    #[test]
    fn reductions_follow_the_order_of_the_docs() {
        for n in [
            0, 1, 2, 3, 5, 31, 32, 33, 63, 64, 65, 1000, 1024, 1025, 3000, 5121,
        ] {
            for order in [COMMUTES, ORDERED] {
                let block = if order.commutes { lanes } else { pieces };
                let blocks = (0..n).step_by(BLOCK);
                let blocks = blocks.filter_map(|s| block(s..n.min(s + BLOCK))).collect();
                let expected = match adjacent_pairs(blocks) {
                    Some(sum) => format!("(z {sum})"),
                    None => "z".to_string(),
                };
                assert_eq!(bracketing(n, order), expected, "{n} {order:?}");
            }
        }
        let plain = |order| Order {
            strict: false,
            ..order
        };
        assert_eq!(bracketing(3, plain(ORDERED)), "(((z 0) 1) 2)");
        assert_eq!(
            bracketing(3000, plain(COMMUTES)),
            bracketing(3000, COMMUTES)
        );
    }

    #[test]
    fn chunks_of_blocks_are_subtrees() {
        for n in [1, 1023, 1024, 1025, 2048, 5000, 9217] {
            for (order, size) in [(COMMUTES, 1024), (ORDERED, 2048), (COMMUTES, 4096)] {
                let element = |k: usize| Ok::<_, Infallible>(k.to_string());
                let combine = |a: String, b: String| Ok(format!("({a} {b})"));
                let chunk = |p: usize| {
                    let length = (n - p * size).min(size);
                    let element = |k| element(p * size + k);
                    reduce_chunk(length, order, String::new(), element, combine)
                };
                let whole = reduce_pairs(n.div_ceil(size), "z".to_string(), chunk, combine);
                assert_eq!(whole, Ok(bracketing(n, order)), "{n} {size} {order:?}");
            }
        }
    }

    fn scanned(n: usize, exclusive: bool, order: Order) -> Vec<String> {
        let mut out = Vec::new();
        let element = |k: usize| Ok::<_, Infallible>(k.to_string());
        let combine = |a: String, b: String| Ok(format!("({a} {b})"));
        let emit = |y| {
            out.push(y);
            Ok(())
        };
        scan(n, exclusive, order, "z".into(), element, combine, emit)
            .unwrap_or_else(|e| match e {});
        out
    }

    #[test]
    fn scans_follow_the_order_of_the_docs() {
        let inclusive = scanned(2100, false, ORDERED);
        let mut carry = "z".to_string();
        for (k, y) in inclusive.iter().enumerate() {
            let block = k - k % BLOCK;
            if k == block && k > 0 {
                carry = inclusive[k - 1].clone();
            }
            let piece = k - k % LANES;
            let running = fold(piece..k + 1).unwrap_or_default();
            let before = (block..piece)
                .step_by(LANES)
                .filter_map(|p| fold(p..p + LANES))
                .reduce(|a, b| format!("({a} {b})"));
            let expected = match before {
                Some(before) => format!("({carry} ({before} {running}))"),
                None => format!("({carry} {running})"),
            };
            assert_eq!(y, &expected);
        }
        let exclusive = scanned(2100, true, ORDERED);
        assert_eq!(exclusive[0], "z");
        assert_eq!(exclusive[1..], inclusive[..2099]);
    }

    #[test]
    fn sort_is_stable_and_total() {
        let keys: Vec<u32> = (0..1000u32)
            .map(|k| k.wrapping_mul(2654435761) >> 25)
            .collect();
        let sorted = sort(1000, |a, b| Ok::<_, Infallible>(keys[a] <= keys[b]));
        let mut expected: Vec<usize> = (0..1000).collect();
        expected.sort_by_key(|k| keys[*k]);
        assert_eq!(sorted, Ok(expected));
        assert_eq!(
            sort(3, |_, _| Ok::<_, Infallible>(false)),
            Ok(vec![2, 1, 0])
        );
    }

    #[test]
    fn errors_stop() {
        let result = reduce(
            5000,
            COMMUTES,
            0,
            Ok,
            |a, b| if b == 7 { Err(b) } else { Ok(a) },
        );
        assert_eq!(result, Err(7));
        assert_eq!(sort(2, |_, _| Err(3)), Err(3));
    }
}
