//! The rules for a parallel loop whose paths are known. For each pair of paths to one block they decide
//! whether a reason of the witness keeps iterations apart (funmem.txt eq. 4).

use crate::dimensions::Dimensions;
use crate::loop_nest::{Ordered, ParallelLoop, Path};
use crate::refusal::{Refusal, Rule};
use crate::symbolic::{Base, Bisection, Case, Fact, Polynomial, Prefix, Prover, Symbol, Value};
use crate::tables;
use crate::tables::Scan;
use crate::walk::Walk;
use nova_loop::ir::{Reason, Variable, Witness};
use nova_loop::print::print_variable;
use std::collections::{BTreeMap, BTreeSet};

/// A loop with more pairs of paths to one block is refused.
const MOST_PAIRS: usize = 20_000;

/// A parallel loop with its paths to blocks from outside it.
pub(crate) struct Judgement<'w, 'p> {
    pub(crate) walk: &'w Walk<'p>,
    pub(crate) parallel_loop: &'w ParallelLoop,
    /// Rules that are not applied.
    pub(crate) without: &'w BTreeSet<Rule>,
    paths: Vec<&'w Path>,
    pub(crate) refusals: Vec<Refusal>,
}

/// Two paths to one block: one of an iteration, and one of a later iteration.
type Pair<'w> = (&'w Path, &'w Path);

impl<'w, 'p> Judgement<'w, 'p> {
    pub(crate) fn new(
        walk: &'w Walk<'p>,
        parallel_loop: &'w ParallelLoop,
        without: &'w BTreeSet<Rule>,
    ) -> Self {
        let mut judgement = Judgement {
            walk,
            parallel_loop,
            without,
            paths: Vec::new(),
            refusals: Vec::new(),
        };
        let paths = walk
            .paths
            .get(parallel_loop.first_path..)
            .unwrap_or_default();
        judgement.paths = paths
            .iter()
            .filter(|path| !judgement.is_own(path))
            .collect();
        for (rule, message) in &parallel_loop.refused {
            judgement.refuse(*rule, message.clone());
        }
        judgement
    }

    pub(crate) fn refuse(&mut self, rule: Rule, message: String) {
        if !self.without.contains(&rule) {
            let index = self.parallel_loop.index;
            self.refusals.push(Refusal {
                index,
                rule,
                message,
            });
        }
    }

    /// Returns the pointers through which iterations write memory that is not their own.
    pub(crate) fn written(&self) -> BTreeSet<Variable> {
        let written = self.paths.iter().filter(|path| path.writes);
        written.map(|path| path.pointer).collect()
    }

    /// True if a path leads to memory that the iteration has made itself.
    fn is_own(&self, path: &Path) -> bool {
        let base = &self.walk.state.bases[path.base];
        path.base.index() >= self.parallel_loop.first_base
            && base
                .roots
                .iter()
                .all(|root| self.parallel_loop.sites.contains(root))
    }

    /// *Blocks.* If an iteration writes through one of two pointers, they lead to different blocks, or
    /// are the same pointer from outside the loop. *Fields.* Elements interleaved with those of other
    /// arrays are accessed at their own stride. Returns the pairs of paths that are left, by base.
    pub(crate) fn pairs(&mut self) -> BTreeMap<Base, Vec<Pair<'w>>> {
        if self.is_alone() {
            return BTreeMap::new();
        }
        let mut by_base: BTreeMap<Base, Vec<&'w Path>> = BTreeMap::new();
        for path in &self.paths {
            let known = by_base.entry(path.base).or_default();
            let is_same = |other: &&&Path| {
                other.index == path.index
                    && other.writes == path.writes
                    && other.contends == path.contends
                    && other.context == path.context
                    && other.ordered == path.ordered
                    && other.phases == path.phases
            };
            if !known.iter().any(|other| is_same(&other)) {
                known.push(path);
            }
        }
        self.blocks(&by_base);
        self.fields(&by_base);
        let mut found = BTreeMap::new();
        for (base, paths) in by_base {
            let writes = paths.iter().filter(|path| path.writes).count();
            if writes == 0 || base.index() >= self.parallel_loop.first_base {
                continue;
            }
            if writes * paths.len() > MOST_PAIRS {
                let name = self.name(paths[0].pointer);
                self.refuse(Rule::Elements, format!("{name} is used on too many paths"));
                continue;
            }
            let mut pairs = Vec::new();
            for (k, left) in paths.iter().enumerate() {
                for right in &paths[k..] {
                    if left.writes || right.writes {
                        pairs.push((*left, *right));
                        if !std::ptr::eq(*left, *right) {
                            pairs.push((*right, *left));
                        }
                    }
                }
            }
            found.insert(base, pairs);
        }
        found
    }

    /// True if there is at most one iteration, so that no two may meet.
    fn is_alone(&self) -> bool {
        let missing = Polynomial::constant(1).minus(&self.parallel_loop.count);
        self.walk.state.facts.is_never_negative(&missing)
    }

    fn blocks(&mut self, by_base: &BTreeMap<Base, Vec<&'w Path>>) {
        let mut messages = BTreeSet::new();
        let written = by_base
            .iter()
            .filter(|(_, paths)| paths.iter().any(|p| p.writes));
        for (left, paths) in written {
            for (right, others) in by_base {
                let is_known = left == right && left.index() < self.parallel_loop.first_base;
                let stride = |base: &Base| self.walk.state.bases[*base].stride;
                let are_fields = left != right && stride(left) > 1 && stride(right) > 1;
                if !is_known && !are_fields && self.may_meet(*left, *right) {
                    let (left, right) = (self.name(paths[0].pointer), self.name(others[0].pointer));
                    messages.insert(format!("{left} and {right} may lead to one block"));
                }
            }
        }
        for message in messages {
            self.refuse(Rule::Blocks, message);
        }
    }

    /// True if two bases may be of one block that the iteration has not made itself.
    fn may_meet(&self, left: Base, right: Base) -> bool {
        let bases = &self.walk.state.bases;
        let others = |base: Base| {
            let mut roots = bases[base].roots.clone();
            if base.index() >= self.parallel_loop.first_base {
                roots.retain(|root| !self.parallel_loop.sites.contains(root));
            }
            roots
        };
        bases.meet(left, right) && bases.blocks.meet(&others(left), &others(right))
    }

    fn fields(&mut self, by_base: &BTreeMap<Base, Vec<&'w Path>>) {
        for (base, paths) in by_base {
            let stride = self.walk.state.bases[*base].stride;
            if let Some(path) = paths.iter().find(|path| !path.index.is_multiple(stride)) {
                let name = self.name(path.pointer);
                self.refuse(Rule::Fields, format!("{name} leaves its field"));
            }
        }
    }

    pub(crate) fn name(&self, variable: Variable) -> String {
        print_variable(self.walk.state.program, variable)
    }

    /// Tests whether reasons keep all pairs of paths apart; the error is the pointer of a pair that they do
    /// not.
    pub(crate) fn are_apart(&self, pairs: &[Pair], reasons: &[Reason]) -> Result<(), Variable> {
        for pair in pairs {
            if !reasons
                .iter()
                .any(|reason| self.suffices(*pair, *reason, reasons))
            {
                return Err(pair.0.pointer);
            }
        }
        Ok(())
    }

    fn suffices(&self, pair: Pair, reason: Reason, all: &[Reason]) -> bool {
        match reason {
            Reason::Ordered => self.are_ordered(pair),
            Reason::Phases => self.in_phases(pair),
            Reason::Contended => self.are_contended(pair),
            Reason::Apart => self.elements_differ(pair, all),
            Reason::Segment(low, length) => self.in_segments(pair, low, length, all),
            // These only add facts about indices.
            Reason::Propagated | Reason::Scan(_) | Reason::Bisected | Reason::Checked => false,
        }
    }

    /// *Contended.* Both write, each in one step, with the same rule for the value that stays.
    fn are_contended(&self, (first, second): Pair) -> bool {
        match self.without.contains(&Rule::Contended) {
            true => first.contends.is_some() || second.contends.is_some(),
            false => first.contends.is_some() && first.contends == second.contends,
        }
    }

    /// *Turns.* An iteration has done all before and in its ordered region when the ordered region of a later
    /// one begins. Ordered regions of other loops order nothing.
    fn are_ordered(&self, (first, second): Pair) -> bool {
        let at = self.walk.nest.len();
        match (first.ordered.get(at), second.ordered.get(at)) {
            _ if self.without.contains(&Rule::Ordered) => true,
            (Some(first), Some(second)) => *first <= Ordered::In && *second >= Ordered::In,
            (_, _) => false,
        }
    }

    /// *Barriers.* All that iterations do before a barrier that all of them reach has been done after it.
    fn in_phases(&self, (first, second): Pair) -> bool {
        let at = self.walk.nest.len();
        first.phases.get(at) != second.phases.get(at)
    }

    /// *Elements.* For iterations p < q, the indices differ by at least one, in the same direction for all;
    /// the facts of both prove it. Where iterations divide their numbers into a quotient and a remainder,
    /// those with the same quotient may differ in the other direction.
    fn elements_differ(&self, (first, second): Pair, reasons: &[Reason]) -> bool {
        let prover = self.known_of_both((first, second), reasons);
        let Some(there) = second.index.substitute(&|symbol| self.later(*symbol)) else {
            return false;
        };
        let after = first.index.gap_to(&there);
        let before = there.gap_to(&first.index);
        let inner = self.parallel_loop.symbol;
        let differ = |prover: &Prover| {
            Dimensions { prover, inner }.differ(&first.index, &there)
                || prover.holds(&after)
                || prover.holds(&before)
        };
        let rises = self.rising_quotients();
        let split = |rise: &Rise, prover: &Prover| {
            differ(&with(prover, rise.larger())) && differ(&with(prover, rise.same(&rises)))
        };
        let again = rises.iter().rev().flat_map(|rise| {
            let of_rise = |other: &&Rise| other.of == Some(rise.quotient);
            rises
                .iter()
                .rev()
                .filter(of_rise)
                .map(move |other| (rise, other))
        });
        let mut again = again.map(|(rise, other)| {
            differ(&with(&prover, rise.same(&rises))) && split(other, &with(&prover, rise.larger()))
        });
        // A proof that exists is found soon; a search in vain takes long. Numbers that are divided twice need
        // both quotients. The quotients that were found last hold in most contexts, so they come first.
        again.any(|differs| differs)
            || differ(&prover)
            || rises.iter().any(|rise| split(rise, &prover))
    }

    /// *Segments.* Both paths stay in the segments of their iterations, and the segment of an iteration ends
    /// before that of a later one begins.
    fn in_segments(
        &self,
        (first, second): Pair,
        low: Variable,
        length: Variable,
        reasons: &[Reason],
    ) -> bool {
        let number = |variable| match self.walk.state.values.get(&variable) {
            Some(Value::Number(value)) if self.parallel_loop.numbers.contains(&variable) => {
                Some(value)
            }
            Some(Value::Number(_) | Value::Spots(_)) | None => None,
        };
        let (Some(low), Some(length)) = (number(low), number(length)) else {
            return false;
        };
        let stride = self.walk.state.bases[first.base].stride;
        let Some(end) = low.plus(length) else {
            return false;
        };
        let (Some(from), Some(to)) = (low.scaled(stride), end.scaled(stride)) else {
            return false;
        };
        let facts = &self.walk.state.facts;
        let stays = |path: &Path| {
            let (above, below) = (path.index.minus(&from), to.minus(&path.index));
            let (Some(above), Some(below)) = (above, below) else {
                return false;
            };
            let prover = facts.prover(path.context, &[&above, &below]);
            prover.holds(&above) && prover.is_positive(&below)
        };
        let prover = self.known_of_both((first, second), reasons);
        let later = low.substitute(&|symbol| self.later(*symbol));
        later.is_some_and(|later| prover.is_at_least(&later, &end))
            && stays(first)
            && (std::ptr::eq(first, second) || stays(second))
    }

    /// Returns the facts that hold where an iteration is on one path and a later one on the other.
    fn known_of_both(&self, (first, second): Pair, reasons: &[Reason]) -> Prover {
        let late: &[Fact] = match reasons.contains(&Reason::Checked) {
            true => &self.parallel_loop.late,
            false => &[],
        };
        let limits = match reasons.contains(&Reason::Bisected) {
            true => self.bisections(),
            false => Vec::new(),
        };
        let index = Polynomial::variable(self.parallel_loop.symbol);
        let later = |symbol: Symbol| self.later(symbol);
        let facts = |path: &Path| {
            let mut sums = vec![&path.index, &index];
            sums.extend(limits.iter().map(|bisection| &bisection.limit));
            self.walk.state.facts.known(path.context, &sums, late)
        };
        let mut of_both = vec![Fact::AtLeastZero(Polynomial::variable(self.distance()))];
        let of_second = facts(second);
        of_both.extend(of_second.iter().filter_map(|fact| renamed(fact, &later)));
        for scan in reasons.iter().flat_map(|reason| self.scans(*reason)) {
            of_both.extend(tables::facts(scan, &self.walk.state.loads, &index, &later));
        }
        let mut known = facts(first);
        known.extend(&of_both);
        let mut prover = Prover::clone(&self.walk.state.facts.provers.that_knows(&known));
        self.bisected(&limits, &mut prover);
        self.divided(&mut prover);
        if reasons.contains(&Reason::Propagated) {
            self.propagated(&mut prover);
        }
        if reasons.contains(&Reason::Checked) {
            self.checked(&mut prover);
        }
        prover
    }

    /// *Propagated.* A later iteration receives at least the prefix of an earlier one plus its own addend.
    fn propagated(&self, prover: &mut Prover) {
        for Prefix { given, own } in &self.parallel_loop.prefixes {
            if let Some(later) = given.substitute(&|symbol| self.later(*symbol)) {
                let rise = later.minus(given).and_then(|rise| rise.minus(own));
                rise.map(Fact::AtLeastZero)
                    .iter()
                    .for_each(|fact| prover.learn(fact));
            }
        }
    }

    /// *Checks.* Learns what the earlier iteration has checked at its end, if the check's condition holds.
    fn checked(&self, prover: &mut Prover) {
        for (conditions, sums) in &self.parallel_loop.late_where {
            let is_disabled = self.without.contains(&Rule::Checks);
            if is_disabled || conditions.iter().all(|sum| prover.holds(sum)) {
                let facts = sums.iter().cloned().map(Fact::AtLeastZero);
                facts.for_each(|fact| prover.learn(&fact));
            }
        }
    }

    /// Returns the bisections that an iteration does.
    fn bisections(&self) -> Vec<&Bisection> {
        let depth = self.walk.nest.len() + 1;
        let bisections = self.walk.bisections.iter();
        let is_here = |b: &&Bisection| b.depth == depth && b.found > self.parallel_loop.symbol;
        bisections.filter(is_here).collect()
    }

    /// *Limits.* The same bisection with a limit that is not smaller finds no smaller index.
    fn bisected(&self, here: &[&Bisection], prover: &mut Prover) {
        let is_outer = |sum: &Polynomial| {
            sum.variables()
                .copied()
                .all(|s| s < self.parallel_loop.symbol)
        };
        for first in here {
            for second in here.iter().filter(|second| second.key == first.key) {
                let (_, _, low, high) = &first.key;
                let Some(limit) = second.limit.substitute(&|s| self.later(*s)) else {
                    continue;
                };
                let rises = self.without.contains(&Rule::Limits)
                    || prover.is_at_least(&limit, &first.limit);
                if is_outer(low) && is_outer(high) && rises {
                    let found = self.later(second.found);
                    let found = found.minus(&Polynomial::variable(first.found));
                    found
                        .map(Fact::AtLeastZero)
                        .iter()
                        .for_each(|fact| prover.learn(fact));
                }
            }
        }
    }

    /// *Quotients.* The number of an iteration, divided by a number that is the same for all, is in a later
    /// iteration as large or larger. So is such a quotient that is divided again.
    fn divided(&self, prover: &mut Prover) {
        for Rise { by, .. } in self.rising_quotients() {
            prover.learn(&Fact::AtLeastZero(by));
        }
    }

    /// Returns these quotients, with the differences between a later iteration and an earlier one.
    fn rising_quotients(&self) -> Vec<Rise> {
        let mut rises: Vec<Rise> = Vec::new();
        for (quotient, [number, by]) in &self.walk.state.operations.divided {
            let of = number.as_variable();
            let rises_too = rises.iter().any(|rise| of == Some(rise.quotient));
            let is_outer = by
                .variables()
                .copied()
                .all(|symbol| symbol < self.parallel_loop.symbol);
            let is_own = (of == Some(self.parallel_loop.symbol) || rises_too) && is_outer;
            let is_inside = *quotient > self.parallel_loop.symbol;
            if is_inside && (is_own || self.without.contains(&Rule::Quotients)) {
                let by = self
                    .later(*quotient)
                    .minus(&Polynomial::variable(*quotient));
                let quotient = *quotient;
                rises.extend(by.map(|by| Rise { quotient, of, by }));
            }
        }
        rises
    }

    /// The symbol for the number of iterations between the two.
    fn distance(&self) -> Symbol {
        Symbol(self.walk.state.facts.definitions.len() as u32)
    }

    /// Returns the value of a symbol in the later one of two iterations.
    fn later(&self, symbol: Symbol) -> Polynomial {
        let distance = self.distance();
        match symbol.cmp(&self.parallel_loop.symbol) {
            std::cmp::Ordering::Less => Polynomial::variable(symbol),
            std::cmp::Ordering::Equal => Polynomial::pair(symbol, distance, 1),
            std::cmp::Ordering::Greater => Polynomial::variable(Symbol(symbol.0 + distance.0 + 1)),
        }
    }

    /// *Scans.* Returns the scans of the loop that a reason names, if their tables are unchanged since and
    /// have an element for each iteration. *Addends.* None of their addends may be negative.
    fn scans(&self, reason: Reason) -> impl Iterator<Item = &Scan> {
        let scans = self.walk.tables.scans().iter();
        scans.filter(move |scan| {
            let missing = scan.count.minus(&self.parallel_loop.count);
            let rises = scan.rises || self.without.contains(&Rule::Addends);
            reason == Reason::Scan(scan.index)
                && rises
                && self.walk.state.facts.is_never_negative(&missing)
        })
    }

    /// Checks that the reasons of a witness hold for the loop.
    pub(crate) fn check(&mut self, witness: &Witness) {
        let pairs = self.pairs();
        let of: BTreeMap<Base, &Vec<Reason>> = self
            .paths
            .iter()
            .filter_map(|path| Some((path.base, witness.blocks.get(&path.pointer)?)))
            .collect();
        for (base, pairs) in pairs {
            let reasons = of.get(&base).map_or(&[][..], |reasons| reasons.as_slice());
            if let Err(pointer) = self.are_apart(&pairs, reasons) {
                self.refuse_elements(pointer);
            }
        }
    }

    /// Refuses the loop because no reason keeps iterations apart in a block.
    pub(crate) fn refuse_elements(&mut self, pointer: Variable) {
        let name = self.name(pointer);
        self.refuse(Rule::Elements, format!("iterations may meet in {name}"));
    }
}

fn renamed(fact: &Fact, of: &dyn Fn(Symbol) -> Polynomial) -> Option<Fact> {
    match fact {
        Fact::AtLeastZero(sum) => sum.substitute(&|symbol| of(*symbol)).map(Fact::AtLeastZero),
        Fact::OneOf(symbol, values) => {
            let symbol = of(*symbol).as_variable()?;
            let case = |case: &Case| {
                let conditions = case
                    .conditions
                    .iter()
                    .map(|sum| sum.substitute(&|symbol| of(*symbol)));
                Some(Case {
                    conditions: conditions.collect::<Option<_>>()?,
                    value: case.value.substitute(&|symbol| of(*symbol))?,
                })
            };
            let cases: Option<Vec<Case>> = values.iter().map(case).collect();
            Some(Fact::OneOf(symbol, cases?))
        }
    }
}

/// A quotient that is as large or larger in a later iteration.
struct Rise {
    quotient: Symbol,
    /// The dividend, if it is a symbol.
    of: Option<Symbol>,
    /// The difference between the quotient of the later iteration and that of the earlier one.
    by: Polynomial,
}

impl Rise {
    /// Returns sums that are not negative where the quotient is larger in the later iteration.
    fn larger(&self) -> Vec<Polynomial> {
        self.by.plus_number(-1).into_iter().collect()
    }

    /// Returns sums that are not negative where the quotient is the same in both iterations, and so are the
    /// quotients of it.
    fn same(&self, rises: &[Rise]) -> Vec<Polynomial> {
        let of_same = rises.iter().filter(|other| other.of == Some(self.quotient));
        let same = std::iter::once(self).chain(of_same);
        same.map(|rise| rise.by.negated()).collect()
    }
}

/// Returns a copy of a prover that has also learned that these sums are not negative.
fn with(prover: &Prover, sums: Vec<Polynomial>) -> Prover {
    let mut prover = Prover::clone(prover);
    for sum in sums {
        prover.learn(&Fact::AtLeastZero(sum));
    }
    prover
}
