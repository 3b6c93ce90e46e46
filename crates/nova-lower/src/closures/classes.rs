//! Classes of functions that flow together, closed under partial application.
//!
//! A member of a class is a lambda with some of its arguments. A class may be applied to n arguments. A
//! member that needs more becomes a member of the class of its arrow n further on. For a member that
//! needs fewer, the class of its result is applied to the rest.

use super::flow::{Arrow, Flow, LambdaId};
use std::collections::{BTreeMap, BTreeSet};

nova_diag::ids! {
    /// Names a class.
    pub(super) struct ClassId;
}

/// A lambda that has `given` of its arguments, fewer than all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Member {
    pub lambda: LambdaId,
    pub given: usize,
}

/// The classes of a program.
#[derive(Default)]
pub(super) struct Classes {
    /// The classes, by their representative arrow.
    of: BTreeMap<Arrow, ClassId>,
    /// The members of each class, in order.
    pub members: Vec<Vec<Member>>,
    /// The representative arrow of each class.
    pub arrows: Vec<Arrow>,
}

impl Classes {
    /// Returns the class of an arrow, or `None` if no function can flow there.
    pub fn of(&self, flow: &mut Flow, arrow: Arrow) -> Option<ClassId> {
        self.of.get(&flow.table.find(arrow)).copied()
    }

    /// Returns the members of a class.
    pub fn members(&self, class: ClassId) -> &[Member] {
        &self.members[class.index()]
    }
}

/// Computes the members of every class.
pub(super) fn close(flow: &mut Flow) -> Classes {
    let mut closing = Closing {
        members: BTreeMap::new(),
        demands: BTreeMap::new(),
        work: Vec::new(),
    };
    for (lambda, given) in std::mem::take(&mut flow.closures) {
        closing.work.push(Work::Member(Member { lambda, given }));
    }
    for (arrow, count) in std::mem::take(&mut flow.demands) {
        closing.work.push(Work::Demand(arrow, count));
    }
    while let Some(work) = closing.work.pop() {
        closing.step(flow, work);
    }
    let mut classes = Classes::default();
    for (arrow, members) in closing.members {
        let id = ClassId(classes.members.len() as u32);
        classes.of.insert(arrow, id);
        classes.members.push(members.into_iter().collect());
        classes.arrows.push(arrow);
    }
    classes
}

enum Work {
    Member(Member),
    Demand(Arrow, usize),
}

struct Closing {
    members: BTreeMap<Arrow, BTreeSet<Member>>,
    demands: BTreeMap<Arrow, BTreeSet<usize>>,
    work: Vec<Work>,
}

impl Closing {
    fn step(&mut self, flow: &mut Flow, work: Work) {
        match work {
            Work::Member(member) => {
                let arrow = flow.lambdas[member.lambda.index()].arrows[member.given];
                let root = flow.table.find(arrow);
                if self.members.entry(root).or_default().insert(member) {
                    for count in self.demands.get(&root).cloned().unwrap_or_default() {
                        self.apply(flow, member, count);
                    }
                }
            }
            Work::Demand(arrow, count) => {
                let root = flow.table.find(arrow);
                if self.demands.entry(root).or_default().insert(count) {
                    for member in self.members.get(&root).cloned().unwrap_or_default() {
                        self.apply(flow, member, count);
                    }
                }
            }
        }
    }

    fn apply(&mut self, flow: &Flow, member: Member, count: usize) {
        let info = &flow.lambdas[member.lambda.index()];
        let (arity, given) = (info.arrows.len(), member.given + count);
        if given < arity {
            let lambda = member.lambda;
            self.work.push(Work::Member(Member { lambda, given }));
        } else if let Some(result) = info.result.1.filter(|_| given > arity) {
            self.work.push(Work::Demand(result, given - arity));
        }
    }
}
