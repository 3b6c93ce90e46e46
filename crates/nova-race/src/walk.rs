//! The walk over a function, which finds the memory accesses of the iterations of its parallel loops. It
//! visits each command once, in order, and expresses the values of variables in symbols. A variable that a
//! loop or a branch assigns is a new symbol after it.

use crate::blocks::{Blocks, Root, pointers};
use crate::invariants::Invariants;
use crate::loop_nest::{Effect, Ordered, ParallelLoop, Path, Rising, each_site, numbers};
use crate::provers::Provers;
use crate::refusal::Rule;
use crate::steps::{Access, Step};
use crate::symbolic::{
    Base, BaseInfo, Bisection, Context, Fact, Operation, Polynomial, Prover, Sizes, Spot, Symbol,
    Truth, Value,
};
use crate::tables::Tables;
use nova_core::Scalar;
use nova_loop::ir::{Command, Expression, Function, Level, Program, Type, Variable};
use nova_loop::uses::written;
use nova_loop::walk::{each_assigned, each_command, reads};
use nova_symbolic::Sum;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The number of facts of a context that are considered, the nearest ones.
const MOST_FACTS: usize = 300;

/// Facts about a program that are known before the walk over a function.
#[derive(Clone, Copy)]
pub(crate) struct Known<'p> {
    pub(crate) program: &'p Program,
    pub(crate) blocks: &'p Blocks,
    pub(crate) extents: &'p BTreeSet<Variable>,
    /// Rules that are not applied.
    pub(crate) without: &'p BTreeSet<Rule>,
}

/// The walk over one function.
pub(crate) struct Walk<'p> {
    pub(crate) program: &'p Program,
    pub(crate) blocks: &'p Blocks,
    pub(crate) without: &'p BTreeSet<Rule>,
    pub(crate) invariants: Invariants,
    /// The facts that always hold for each symbol.
    pub(crate) definitions: Vec<Vec<Fact>>,
    pub(crate) operations: BTreeMap<Operation, Symbol>,
    /// The quotients by positive numbers, each with its dividend and divisor.
    pub(crate) divided: Vec<(Symbol, [Polynomial; 2])>,
    /// The symbol for the quotient of each dividend and divisor of which nothing else is known.
    pub(crate) quotients: BTreeMap<(Polynomial, Polynomial), Symbol>,
    /// The signed numbers of which unsigned symbols are the conversions.
    pub(crate) wrapped: BTreeMap<Symbol, Polynomial>,
    pub(crate) loads: BTreeMap<(Base, Polynomial), Symbol>,
    pub(crate) values: BTreeMap<Variable, Value>,
    pub(crate) truths: BTreeMap<Variable, Truth>,
    pub(crate) rising: BTreeMap<Variable, Rising>,
    pub(crate) bases: Vec<BaseInfo>,
    /// The number of elements of an array of a group, or of a part of an array.
    pub(crate) room: BTreeMap<Variable, Polynomial>,
    /// The number of parallel loops around the declaration of each variable.
    pub(crate) declared: BTreeMap<Variable, usize>,
    /// Facts, each with its parent in the tree.
    pub(crate) facts: Vec<(Fact, Context)>,
    pub(crate) context: Context,
    pub(crate) paths: Vec<Path>,
    pub(crate) nest: Vec<ParallelLoop>,
    /// True if a fact about the current operation holds in this context only.
    pub(crate) is_local: bool,
    /// Products that are not negative since they are the sizes of allocations.
    pub(crate) sizes: Sizes,
    /// The number of loops of any kind around the command.
    pub(crate) depth: usize,
    /// The number of branches around the command.
    pub(crate) branches: usize,
    pub(crate) tables: Tables,
    /// The bisections in the current nest of parallel loops.
    pub(crate) bisections: Vec<Bisection>,
    /// The symbols for `low` and `high` in which the keys of all bisections are expressed.
    pub(crate) template: Option<(Symbol, Symbol)>,
    /// True if the function writes memory that it was given.
    pub(crate) writes_outside: bool,
    /// The steps of the threads of the enclosing work-group, in order: a stack of nested lists.
    pub(crate) waits: Option<Vec<Vec<Step>>>,
    /// The bases that a loop has written so far, while it is followed since it may be a scan.
    pub(crate) scanned: Option<BTreeSet<Base>>,
    pub(crate) provers: Provers,
    judge: Option<Judge<'p>>,
}

/// The function that is called at the end of a parallel loop.
pub(crate) type Judge<'p> = &'p mut dyn FnMut(&mut Walk, &ParallelLoop);

/// Walks over a function; `judge` is called at the end of every parallel loop. Returns true if the
/// function writes memory that it was given.
pub(crate) fn walk(known: Known, function: &Function, judge: Judge) -> bool {
    let Known {
        program,
        blocks,
        extents,
        without,
    } = known;
    let mut walk = Walk {
        program,
        blocks,
        without,
        invariants: Invariants::of(program, function),
        definitions: Vec::new(),
        operations: BTreeMap::new(),
        divided: Vec::new(),
        quotients: BTreeMap::new(),
        wrapped: BTreeMap::new(),
        loads: BTreeMap::new(),
        values: BTreeMap::new(),
        truths: BTreeMap::new(),
        rising: BTreeMap::new(),
        bases: Vec::new(),
        room: BTreeMap::new(),
        declared: BTreeMap::new(),
        facts: Vec::new(),
        context: Context(0),
        paths: Vec::new(),
        nest: Vec::new(),
        is_local: false,
        sizes: Sizes::new(),
        depth: 0,
        branches: 0,
        tables: Tables::default(),
        bisections: Vec::new(),
        template: None,
        writes_outside: false,
        waits: None,
        scanned: None,
        provers: Provers::default(),
        judge: Some(judge),
    };
    // The root of the tree of facts says nothing.
    let nothing = Fact::AtLeastZero(Polynomial::default());
    walk.facts.push((nothing, Context(0)));
    let variables = function.parameters.iter().chain(&function.results);
    for variable in variables {
        walk.declared.insert(*variable, 0);
        walk.forget(*variable);
        if extents.contains(variable) {
            let symbol = walk.fresh(Scalar::I64);
            let value = Polynomial::variable(symbol);
            walk.define(symbol, value.clone());
            walk.values.insert(*variable, Value::Number(value));
        }
    }
    walk.list(&function.body);
    walk.writes_outside
}

impl<'p> Walk<'p> {
    /// Walks over a list of commands; the facts learned in it are forgotten at its end.
    pub(crate) fn list(&mut self, commands: &'p [Command]) {
        let context = self.context;
        let (tables, sizes) = (self.tables.mark(), self.sizes.len());
        self.steps(commands);
        for command in commands {
            self.command(command);
        }
        self.tables.forget(tables);
        self.sizes.truncate(sizes);
        self.context = context;
    }

    /// Learns a fact for the rest of the list.
    pub(crate) fn learn(&mut self, sum: impl Into<Option<Polynomial>>) {
        let Some(sum) = sum.into() else { return };
        if sum.as_constant().is_some() {
            return;
        }
        self.facts.push((Fact::AtLeastZero(sum), self.context));
        self.context = Context(self.facts.len() as u32 - 1);
    }

    /// Returns a prover with the facts of a context and of the symbols of these sums.
    pub(crate) fn prover(&self, context: Context, sums: &[&Polynomial]) -> Rc<Prover> {
        self.provers.that_knows(&self.known(context, sums, &[]))
    }

    /// Returns the facts that hold in a context. First come the definitions of the symbols in `sums`, in
    /// `more` and in the facts of the context. Then come the facts of the context, those that hold longest
    /// first, and at last `more`.
    pub(crate) fn known<'f>(
        &'f self,
        context: Context,
        sums: &[&Polynomial],
        more: &'f [Fact],
    ) -> Vec<&'f Fact> {
        let mut chain: Vec<&Fact> = more.iter().collect();
        let mut at = context;
        while at.0 != 0 && chain.len() < MOST_FACTS {
            let (fact, before) = &self.facts[at.0 as usize];
            chain.push(fact);
            at = *before;
        }
        let mut left: Vec<Symbol> = sums
            .iter()
            .flat_map(|sum| sum.variables().copied())
            .collect();
        chain.iter().for_each(|fact| symbols_of(fact, &mut left));
        let mut seen = BTreeSet::new();
        while let Some(symbol) = left.pop() {
            if seen.insert(symbol)
                && let Some(facts) = self.definitions.get(symbol.index())
            {
                facts.iter().for_each(|fact| symbols_of(fact, &mut left));
            }
        }
        let definitions = seen.iter().filter_map(|s| self.definitions.get(s.index()));
        let mut found: Vec<&Fact> = definitions.flatten().collect();
        found.extend(chain.into_iter().rev());
        found
    }

    /// True if a number is known never to be negative here.
    pub(crate) fn is_never_negative(&self, value: &impl Sum<Symbol>) -> bool {
        let Some(value) = value.known() else {
            return false;
        };
        value.as_constant().is_some_and(|number| number >= 0)
            || self.prover(self.context, &[value]).holds(value)
    }

    /// Does the same as [`Walk::is_never_negative`], and notes in `is_local` whether the proof needs facts of
    /// this context.
    pub(crate) fn is_never_negative_here(&mut self, value: &impl Sum<Symbol>) -> bool {
        let Some(value) = value.known() else {
            return false;
        };
        if value.as_constant().is_some_and(|number| number >= 0)
            || self.prover(Context(0), &[value]).holds(value)
        {
            return true;
        }
        let is = self.is_never_negative(value);
        self.is_local |= is;
        is
    }

    /// True if the innermost parallel loop does not write a block.
    pub(crate) fn is_stable(&self, base: Base) -> bool {
        let roots = &self.bases[base.index()].roots;
        if let Some(stored) = &self.scanned {
            let meets = |other: &Base| {
                *other == base || self.blocks.meet(roots, &self.bases[other.index()].roots)
            };
            return !stored.iter().any(meets);
        }
        let parallel_loop = self.nest.last();
        parallel_loop.is_some_and(|parallel_loop| {
            base.index() < parallel_loop.first_base
                && !self.blocks.meet(roots, &parallel_loop.written_somewhere)
                && !parallel_loop
                    .written_there
                    .iter()
                    .any(|b| self.meet(base, *b))
        })
    }

    /// True if two bases may be of one block.
    pub(crate) fn meet(&self, left: Base, right: Base) -> bool {
        let either = |base: Base| &self.bases[base.index()].one_of;
        if left == right {
            return true;
        }
        let is_apart = |one: Base, other: Base| self.bases[one.index()].apart.contains(&other);
        if is_apart(left, right) || is_apart(right, left) {
            return false;
        }
        if !either(right).is_empty() {
            return either(right).iter().any(|base| self.meet(left, *base));
        }
        if !either(left).is_empty() {
            return either(left).iter().any(|base| self.meet(*base, right));
        }
        let (early, late) = (left.min(right), left.max(right));
        let info = |base: Base| &self.bases[base.index()];
        let mut roots = Cow::Borrowed(&info(late).roots);
        if info(early).is_new && info(early).held.is_none_or(|held| held > late.index()) {
            roots.to_mut().remove(&Root::Nodes);
        }
        !info(late).is_new && self.blocks.meet(&info(early).roots, &roots)
    }

    /// Notes the blocks that a command in the body of a parallel loop writes.
    fn note_written(
        &self,
        parallel_loop: &mut ParallelLoop,
        assigned: &[Variable],
        command: &Command,
    ) {
        for place in written(command) {
            let roots = self.blocks.of_place(&place);
            parallel_loop.written.extend(&roots);
            let mut through = Vec::new();
            pointers(&place, &mut through);
            // A variable that is declared inside has no value yet.
            let is_from_outside =
                |v: &Variable| self.declared.contains_key(v) && !assigned.contains(v);
            let bases: Option<Vec<Base>> = through
                .iter()
                .map(
                    |v| match self.values.get(v).filter(|_| is_from_outside(v)) {
                        Some(Value::Spots(spots)) => Some(spots.iter().map(|spot| spot.base)),
                        Some(Value::Number(_)) | None => None,
                    },
                )
                .collect::<Option<Vec<_>>>()
                .map(|all| all.into_iter().flatten().collect());
            match bases {
                Some(bases) => parallel_loop.written_there.extend(bases),
                None => parallel_loop.written_somewhere.extend(roots),
            }
        }
        if let Command::StoreBuffer { pieces, .. } = command {
            parallel_loop.written.insert(Root::Table(*pieces));
            parallel_loop.written_somewhere.insert(Root::Table(*pieces));
        }
    }

    /// Forgets the value of a variable, which has a new, unknown one from now on.
    pub(crate) fn forget(&mut self, variable: Variable) {
        self.values.remove(&variable);
        self.truths.remove(&variable);
        if let Type::Pointer(_) = self.program.variable(variable).ty {
            let roots = self.blocks.of_variable(variable);
            if !roots.is_empty() {
                let spot = self.base(roots, false, 1);
                self.values.insert(variable, Value::Spots(vec![spot]));
            }
        }
    }

    /// Returns the variables that commands assign and do not declare.
    pub(crate) fn assigned(&self, commands: &[Command]) -> Vec<Variable> {
        let mut found = BTreeSet::new();
        each_command(commands, |command| {
            each_assigned(command, &mut |v| {
                if self.declared.contains_key(&v) {
                    found.insert(v);
                }
            })
        });
        found.into_iter().collect()
    }

    /// Walks over a sequential loop.
    pub(crate) fn sequential(
        &mut self,
        index: Option<(Variable, &Expression)>,
        body: &'p [Command],
    ) {
        let count = index.map(|(_, count)| self.number(count));
        let first_base = self.bases.len();
        self.hold_all(body);
        let assigned = self.assigned(body);
        let carried = self.carried(&assigned, body);
        assigned.iter().for_each(|v| self.forget(*v));
        self.carry(&carried);
        self.tables.enter_loop(self.blocks, &self.bases, body);
        let (context, sizes) = (self.context, self.sizes.clone());
        let may_skip = index.is_some();
        self.depth += 1;
        if let (Some((index, written)), Some(count)) = (index, count) {
            self.begin_index(index, &count);
            self.learn_written_product(written);
        }
        self.open();
        self.list(body);
        let steps = self.close();
        self.step(Step::Iterations {
            steps,
            may_skip,
            first_base,
        });
        self.depth -= 1;
        (self.context, self.sizes) = (context, sizes);
        assigned.iter().for_each(|v| self.forget(*v));
        self.carry(&carried);
    }

    /// Defines the symbol of the index of a loop with this number of iterations.
    fn begin_index(&mut self, index: Variable, count: &Polynomial) -> Symbol {
        let symbol = self.fresh(Scalar::I64);
        let value = Polynomial::variable(symbol);
        self.define(symbol, value.clone());
        let below = value.gap_to(count);
        self.define(symbol, below);
        // The body runs, so the loop has an iteration.
        self.learn(count.plus_number(-1));
        self.learn_factors(count);
        self.learn_product(count);
        self.declared.insert(index, self.nest.len());
        self.values.insert(index, Value::Number(value));
        symbol
    }

    /// Walks over a loop whose iterations may run in parallel.
    pub(crate) fn parallel(
        &mut self,
        index: Variable,
        count: &Expression,
        level: Level,
        body: &'p [Command],
    ) {
        let written = count;
        let count = self.number(count);
        self.hold_all(body);
        let assigned = self.assigned(body);
        self.take(body);
        let mut parallel_loop = ParallelLoop {
            index,
            level,
            count: count.clone(),
            symbol: Symbol(0),
            first_base: self.bases.len(),
            first_path: self.paths.len(),
            sites: BTreeSet::new(),
            written: BTreeSet::new(),
            written_there: BTreeSet::new(),
            written_somewhere: BTreeSet::new(),
            late: Vec::new(),
            late_where: Vec::new(),
            refused: Vec::new(),
            ordered: Ordered::Before,
            prefixes: Vec::new(),
            phase: 0,
            depth: self.depth + 1,
            branches: self.branches,
            numbers: numbers(self.program, body),
            calls: BTreeSet::new(),
            outer_loads: std::mem::take(&mut self.loads),
        };
        each_command(body, |command| {
            each_site(command, &mut |root| {
                parallel_loop.sites.insert(root);
            });
            self.note_written(&mut parallel_loop, &assigned, command);
        });
        for variable in assigned {
            let name = nova_loop::print::print_variable(self.program, variable);
            let message = format!("{name} is assigned, which is declared around the loop");
            parallel_loop.refused.push((Rule::Scalars, message));
        }
        self.tables.enter_loop(self.blocks, &self.bases, body);
        let (context, rising) = (self.context, self.rising.clone());
        let sizes = self.sizes.clone();
        self.depth += 1;
        self.nest.push(parallel_loop);
        let symbol = self.begin_index(index, &count);
        self.learn_written_product(written);
        if let Some(parallel_loop) = self.nest.last_mut() {
            parallel_loop.symbol = symbol;
        }
        let outer = self.enter_threads(level);
        self.iteration(body);
        self.leave_threads(level, body, outer);
        self.depth -= 1;
        self.rising = rising;
        if let Some(mut parallel_loop) = self.nest.pop() {
            let loads = std::mem::take(&mut parallel_loop.outer_loads);
            if let Some(judge) = self.judge.take() {
                judge(self, &parallel_loop);
                self.judge = Some(judge);
            }
            self.tables.leave(&parallel_loop);
            self.loads = loads;
        }
        if self.nest.is_empty() {
            self.paths.clear();
            self.bisections.clear();
        }
        (self.context, self.sizes) = (context, sizes);
    }

    /// Gives symbols, outside a loop, to the values of variables from outside that its body reads.
    fn take(&mut self, body: &[Command]) {
        let mut read = BTreeSet::new();
        each_command(body, |command| {
            reads(command, &mut |expression| {
                expression.each_variable(&mut |v| {
                    read.insert(v);
                });
            });
        });
        for variable in read {
            let is_integer = match self.program.variable(variable).ty {
                Type::Scalar(scalar) => scalar.is_integer(),
                Type::Pointer(_) | Type::Block => false,
            };
            if is_integer && self.declared.contains_key(&variable) {
                self.number_of(variable);
            }
        }
    }

    /// Records that elements are read, or written with a value that may be known: `count` consecutive
    /// ones, or any number.
    pub(crate) fn touch(
        &mut self,
        spots: Vec<Spot>,
        count: Option<&Polynomial>,
        effect: Effect,
        pointer: Variable,
    ) {
        let (is_write, value, contends) = match effect {
            Effect::Reads => (false, None, None),
            Effect::Writes => (true, None, None),
            Effect::Stores(value) => (true, Some(value), None),
            Effect::Contends(stays) => (true, None, Some(stays)),
        };
        if is_write {
            let roots = spots
                .iter()
                .map(|spot| &self.bases[spot.base.index()].roots);
            self.writes_outside |= roots
                .flatten()
                .any(|root| matches!(root, Root::Outside | Root::Nodes));
            let value = value.map(|value| (value, self.context));
            self.tables.written(self.blocks, &self.bases, &spots, value);
        }
        if self.nest.is_empty() {
            return;
        }
        for spot in spots {
            let roots = &self.bases[spot.base.index()].roots;
            let left_alone = |f: &ParallelLoop| !self.blocks.meet(roots, &f.written);
            if !is_write && self.nest.iter().all(left_alone) {
                continue;
            }
            self.step(Step::Access(Access {
                base: spot.base,
                writes: is_write,
                pointer,
            }));
            let index = self.within(&spot, count);
            self.paths.push(Path {
                base: spot.base,
                index,
                writes: is_write,
                contends,
                context: self.context,
                ordered: self.nest.iter().map(|f| f.ordered).collect(),
                phases: self.nest.iter().map(|f| f.phase).collect(),
                pointer,
            });
        }
    }

    /// Returns the index of one of `count` elements from a place on, or of any element from there if no
    /// count is given.
    pub(crate) fn within(&mut self, spot: &Spot, count: Option<&Polynomial>) -> Polynomial {
        if count.and_then(Polynomial::as_constant) == Some(1) {
            return spot.index.clone();
        }
        let symbol = self.fresh(Scalar::I64);
        let offset = Polynomial::variable(symbol);
        if let Some(count) = count {
            self.define(symbol, offset.clone());
            self.define(symbol, offset.gap_to(count));
        }
        self.sum(&spot.index, &offset)
    }

    /// Records that iterations of the innermost parallel loop break a rule.
    pub(crate) fn refuse(&mut self, rule: Rule, message: impl Into<String>) {
        if let Some(parallel_loop) = self.nest.last_mut() {
            parallel_loop.refused.push((rule, message.into()));
        }
    }
}

fn symbols_of(fact: &Fact, found: &mut Vec<Symbol>) {
    match fact {
        Fact::AtLeastZero(sum) => found.extend(sum.variables().copied()),
        Fact::OneOf(symbol, values) => {
            found.push(*symbol);
            for case in values {
                found.extend(case.value.variables().copied());
                found.extend(case.conditions.iter().flat_map(Polynomial::variables));
            }
        }
    }
}
