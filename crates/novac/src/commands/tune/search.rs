//! The moves of a search for plans: which choices are tried, in which order, and how two times are compared.

use nova_diag::Place;
use nova_driver::plan::{CHOICES, Choice, Choices};
use std::time::Duration;

/// A step from one plan to another: a value of a choice for some operations.
pub type Move = Choices;

/// Returns the moves from a plan. Those for all operations that have a choice come first, since they gain most
/// for their time; then come those for one operation each. `asked` is what may be chosen, with the values
/// without a plan.
pub fn moves(asked: &Choices, current: &Choices) -> Vec<Move> {
    let now = |key: &(Place, Choice)| current.get(key).or_else(|| asked.get(key)).copied();
    let of = |choice: Choice| asked.keys().filter(move |(_, other)| *other == choice);
    let (mut all, mut single) = (Vec::new(), Vec::new());
    for row in CHOICES {
        for value in row.values {
            let changes = |key: &&(Place, Choice)| now(key) != Some(*value);
            let changed: Vec<_> = of(row.choice).filter(changes).cloned().collect();
            if changed.len() > 1 {
                all.push(changed.iter().cloned().map(|key| (key, *value)).collect());
            }
            single.extend(changed.into_iter().map(|key| Move::from([(key, *value)])));
        }
    }
    all.extend(single);
    all
}

/// Returns a plan after a move. What it then says as the passes would without it is left out.
pub fn after(asked: &Choices, current: &Choices, change: &Move) -> Choices {
    let mut next = current.clone();
    next.extend(change.iter().map(|(key, value)| (key.clone(), *value)));
    next.retain(|key, value| asked.get(key) != Some(value));
    next
}

/// Returns the median ratio of times that were taken in turn.
pub fn median_ratio(pairs: &[(Duration, Duration)]) -> f64 {
    let ratio = |(a, b): &(Duration, Duration)| a.as_secs_f64() / b.as_secs_f64().max(1e-9);
    let mut ratios: Vec<f64> = pairs.iter().map(ratio).collect();
    ratios.sort_by(f64::total_cmp);
    let middle = ratios.len() / 2;
    match (ratios.get(middle), ratios.len() % 2) {
        (Some(upper), 0) => (upper + ratios.get(middle - 1).unwrap_or(upper)) / 2.0,
        (Some(median), _) => *median,
        (None, _) => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(line: u32, choice: Choice) -> (Place, Choice) {
        (Place::new("p.nova", line, 1), choice)
    }

    #[test]
    fn moves_for_all_operations_come_first_and_change_something() {
        let asked = Choices::from([
            (key(1, Choice::Tiles), 1),
            (key(2, Choice::Tiles), 1),
            (key(3, Choice::Fission), 1),
        ]);
        let moves = moves(&asked, &Choices::new());
        let sizes: Vec<usize> = moves.iter().map(Move::len).collect();
        assert_eq!(sizes, [2, 1, 1, 1]);
        assert!(moves.iter().flat_map(Move::values).all(|value| *value == 0));
        let current = Choices::from([(key(3, Choice::Fission), 0)]);
        let back = super::moves(&asked, &current).pop().unwrap();
        assert_eq!(back, Move::from([(key(3, Choice::Fission), 1)]));
        assert_eq!(after(&asked, &current, &back), Choices::new());
    }

    #[test]
    fn ratios_are_those_of_pairs() {
        let pair = |a, b| (Duration::from_secs(a), Duration::from_secs(b));
        assert_eq!(median_ratio(&[pair(2, 1), pair(9, 3), pair(1, 1)]), 2.0);
        assert_eq!(median_ratio(&[pair(2, 1), pair(4, 1)]), 3.0);
        assert_eq!(median_ratio(&[]), 1.0);
    }
}
