//! Arrays of a work-group that need several places. Such an array is made again in the next
//! iteration of a loop, while pointers to earlier ones are still used (buffers that change roles).
//! Each time, the array gets the first place into which none of these pointers leads. So one place
//! more than there can be such pointers is enough, however the pointers are passed on, swapped or
//! retained. Arrays of one size that flow into the same pointers share their places where that
//! needs fewer places: a state and its initial array have two.

use super::accesses::Roots;
use super::live;
use nova_core::Scalar;
use nova_loop::ir::{Command, Variable};
use std::collections::{BTreeMap, BTreeSet};

/// An allocation.
pub(super) struct Site {
    pub(super) pointer: Variable,
    pub(super) element: Scalar,
    /// The number of elements, as known before the loop over groups, as text.
    pub(super) count: String,
    /// True if it lies in the memory of the group.
    pub(super) is_local: bool,
    /// The number of the enclosing loop that threads share; 0 for none.
    pub(super) top: usize,
}

/// The number of places of a pool, and its arrays. Each array is given with the pointers whose
/// places it must not get.
pub(super) type Pool = (usize, Vec<(Variable, Vec<Variable>)>);

/// Returns the allocations that have several places.
pub(super) fn pools(sites: &[Site], roots: &Roots, body: &[Command]) -> Vec<Pool> {
    let live = live::after_allocations(body);
    let mut found: Vec<(Vec<&Site>, Pool)> = sites
        .iter()
        .map(|site| (vec![site], pool(&[site], &live, roots)))
        .collect();
    let mut at = 0;
    while at < found.len() {
        let better = (0..found.len())
            .filter(|other| *other != at)
            .find_map(|other| {
                let together = [found[at].0.clone(), found[other].0.clone()].concat();
                let (first, rest) = together.split_first()?;
                let alike = rest.iter().all(|site| are_alike(first, site));
                let several = found[at].1.0.max(found[other].1.0) > 1;
                let apart = found[at].1.0 + found[other].1.0;
                let pool = (alike && several).then(|| pool(&together, &live, roots))?;
                (pool.0 < apart).then_some((other, together, pool))
            });
        match better {
            Some((other, together, pool)) => {
                found[at] = (together, pool);
                found.remove(other);
                at = 0;
            }
            None => at += 1,
        }
    }
    let pools = found.into_iter().map(|(_, pool)| pool);
    pools.filter(|(places, _)| *places > 1).collect()
}

fn are_alike(one: &Site, other: &Site) -> bool {
    one.element == other.element
        && one.is_local == other.is_local
        && one.top == other.top
        && one.count == other.count
}

fn pool(sites: &[&Site], live: &BTreeMap<Variable, BTreeSet<Variable>>, roots: &Roots) -> Pool {
    let arrays: BTreeSet<Variable> = sites.iter().map(|site| site.pointer).collect();
    let apart = |site: &&Site| {
        let used = live.get(&site.pointer).into_iter().flatten().copied();
        let others = used.filter(|v| *v != site.pointer && roots.lead_to(*v, &arrays));
        (site.pointer, others.collect())
    };
    let all: Vec<(Variable, Vec<Variable>)> = sites.iter().map(apart).collect();
    let most = all.iter().map(|(_, apart)| apart.len()).max();
    (1 + most.unwrap_or_default(), all)
}
