//! Conditions: inequalities between integers, and what joins them.

use super::affine::Affine;
use crate::limits::INEQUALITIES_OF_A_CONDITION;
use nova_flat::ir::Variable;

/// An inequality between integers of one type.
#[derive(Clone)]
pub(super) enum Condition {
    /// The sum is not negative; if not, it is at most -1.
    NotNegative(Affine),
    /// The sum is 0.
    Zero(Affine),
    /// The contrary of a condition.
    Not(Box<Condition>),
    /// Both hold.
    Both(Box<[Condition; 2]>),
    /// An unknown condition.
    Unknown,
}

impl Condition {
    pub(super) fn contrary(self) -> Condition {
        match self {
            Condition::Not(condition) => *condition,
            condition => Condition::Not(Box::new(condition)),
        }
    }

    /// Returns the conjunction of both, unless nothing is known of either. Where it would be too
    /// long, the longer one becomes unknown.
    pub(super) fn and(mut self, mut other: Condition) -> Condition {
        let lengths = [&self, &other].map(Condition::inequalities);
        if lengths.iter().sum::<usize>() > INEQUALITIES_OF_A_CONDITION {
            let longer = match lengths[0] < lengths[1] {
                true => &mut other,
                false => &mut self,
            };
            *longer = Condition::Unknown;
        }
        match (self, other) {
            (Condition::Unknown, Condition::Unknown) => Condition::Unknown,
            (one, other) => Condition::Both(Box::new([one, other])),
        }
    }

    /// Returns the number of inequalities in the condition.
    fn inequalities(&self) -> usize {
        match self {
            Condition::NotNegative(_) | Condition::Zero(_) | Condition::Unknown => 1,
            Condition::Not(inner) => inner.inequalities(),
            Condition::Both(both) => both.iter().map(Condition::inequalities).sum(),
        }
    }

    /// True if it only joins inequalities of sums that satisfy `is`.
    pub(super) fn tests(&self, is: &dyn Fn(&Affine) -> bool) -> bool {
        match self {
            Condition::NotNegative(sum) | Condition::Zero(sum) => is(sum),
            Condition::Not(inner) => inner.tests(is),
            Condition::Both(both) => both.iter().all(|one| one.tests(is)),
            Condition::Unknown => false,
        }
    }

    /// True if all its symbols satisfy `is`.
    pub(super) fn is_about(&self, is: &dyn Fn(Variable) -> bool) -> bool {
        match self {
            Condition::NotNegative(sum) | Condition::Zero(sum) => {
                sum.variables().all(|symbol| is(*symbol))
            }
            Condition::Not(inner) => inner.is_about(is),
            Condition::Both(both) => both.iter().all(|one| one.is_about(is)),
            Condition::Unknown => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chains and trees of conditions stay short, whatever their length in the program.
    #[test]
    fn long_conditions_are_known_in_part() {
        let one = |k| Condition::Zero(Affine::variable(Variable(k)));
        let chain = (1..10_000).fold(one(0), |all, k| all.and(one(k)));
        assert!(chain.inequalities() <= INEQUALITIES_OF_A_CONDITION);
        let back = (1..10_000).fold(one(0), |all, k| one(k).and(all).contrary());
        assert!(back.inequalities() <= INEQUALITIES_OF_A_CONDITION);
        let tree = (0..20).fold(one(0), |all, _| all.clone().and(all));
        assert!(tree.inequalities() <= 2 * INEQUALITIES_OF_A_CONDITION);
        let short = (1..INEQUALITIES_OF_A_CONDITION as u32).fold(one(0), |all, k| all.and(one(k)));
        assert_eq!(short.inequalities(), INEQUALITIES_OF_A_CONDITION);
        assert!(short.is_about(&|symbol| symbol.0 < INEQUALITIES_OF_A_CONDITION as u32));
    }
}
