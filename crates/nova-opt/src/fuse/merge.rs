//! Merging of operations over the same space into one.
//!
//! A body's statements are taken in order. An operation looks back, over a bounded distance, for
//! another of the same extents that it can be merged with. The two meet at the place of the later
//! one. Statements between them that need results of the earlier one move after both. That is
//! possible where the later one needs none of their results, and they have no effects. Where the
//! earlier one can fail, statements that may be defined only because it did not fail move after it
//! too.

use super::equal::Equal;
use super::filters::{self, Survivors, can_run_there, filter_of};
use super::flattened;
use super::join::join;
use super::nested;
use super::operators::{is_sequential, wants_lanes};
use super::reads::{arrays_read_here, each_nested, is_read_only_here, map_results, rows_read_here};
use super::replaced::{Moved, Reader, Replaced};
use super::rules::Rules;
use super::running::{as_carries, exact_scans};
use crate::effects::{Effects, FunctionEffects};
use crate::limits::{STATEMENTS_LOOKED_BACK, STATEMENTS_OF_A_MERGED_OPERATION};
use crate::total::is_total;
use nova_core::{Scalar, ScalarOperation};
use nova_diag::deep;
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Level, Output, Program, Statement, Variable,
};
use nova_flat::visit::{
    binders, bodies_mut, count_uses, free_variables, holds_strategies, size, strategy_of,
    type_variables, used_variables,
};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Merges operations in the body of a function. Adds the number of uses of each variable in the
/// function to `uses`, which is one table for all functions.
pub(super) fn run(program: &mut Program, known: Known<'_>, uses: &mut Vec<u32>, body: &mut Body) {
    count_uses(program, body, uses);
    let mut merger = Merger {
        program,
        known,
        uses,
        equal: Equal::default(),
    };
    merger.body(body);
}

/// Facts about a program, and the rules that merging follows.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub effects: &'a FunctionEffects,
    pub replaced: &'a Replaced,
    /// Numbers that are not negative.
    pub lengths: &'a HashSet<Variable>,
    pub rules: Rules,
}

struct Merger<'a> {
    program: &'a mut Program,
    known: Known<'a>,
    /// The number of uses of each variable.
    uses: &'a mut [u32],
    /// Extents that are known to be equal.
    equal: Equal,
}

/// A statement, and the facts about it once they have been requested.
struct Item {
    statement: Statement,
    facts: OnceCell<Facts>,
}

/// Facts about a statement, inner bodies included.
struct Facts {
    /// The variables it uses, those in the types of what it binds included.
    uses: BTreeSet<Variable>,
    effects: Effects,
    /// True if it is defined without any check before it.
    total: bool,
    /// The arrays that an operation reads at its own index.
    reads: BTreeSet<Variable>,
    /// The arrays of which it reads a row, with the start of the row.
    rows: BTreeSet<(Variable, Variable)>,
    /// The number of statements in it.
    size: usize,
    /// True if it is or holds an operation that carries a strategy. Such operations keep their
    /// order.
    marked: bool,
}

/// The way in which two operations become one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// They have the same space.
    Space,
    /// They have the same space, and the later one reads running results of the earlier one.
    Running,
    /// The space of the later one is the survivors of the filter of the earlier one.
    Survivors,
    /// The space of the later one is the elements of the rows that the earlier one makes.
    Rows,
    /// They have the same space, and the later one reads its row of those that the earlier one makes.
    Nested,
}

/// An operation with which another can be merged.
struct Partner {
    way: Way,
    /// The position of the earlier one.
    place: usize,
    /// The positions of the statements that have to move after both, rising.
    moved: Vec<usize>,
}

impl Merger<'_> {
    fn body(&mut self, body: &mut Body) {
        let outside = self.equal.count();
        let mut items: Vec<Item> = Vec::with_capacity(body.statements.len());
        for statement in std::mem::take(&mut body.statements) {
            self.equal.learn(&statement);
            items.push(Item::new(statement));
            let mut last = items.len() - 1;
            while let Some(partner) = self.partner(&items, last) {
                last = self.join(&mut items, partner, last);
            }
        }
        // The facts of inner bodies are checked before these bodies.
        self.equal.forget(outside);
        for item in items {
            let mut statement = item.statement;
            self.equal.learn(&statement);
            bodies_mut(&mut statement.expression, &mut |inner| {
                deep(|| self.body(inner));
            });
            body.statements.push(statement);
        }
        self.equal.forget(outside);
    }

    fn facts<'i>(&self, item: &'i Item) -> &'i Facts {
        item.facts.get_or_init(|| self.find_facts(&item.statement))
    }

    fn find_facts(&self, statement: &Statement) -> Facts {
        let mut uses = BTreeSet::new();
        used_variables(&statement.expression, &mut |v| {
            uses.insert(v);
        });
        let mut count = 1;
        let mut marked = strategy_of(&statement.expression).is_some();
        nova_flat::visit::bodies(&statement.expression, &mut |body| {
            uses.extend(free_variables(self.program, body));
            count += size(body);
            marked = marked || holds_strategies(body);
        });
        let mut bound = statement.pattern.clone();
        binders(&statement.expression, &mut |v| bound.push(*v));
        for variable in &bound {
            let info = self.program.variable(*variable);
            type_variables(&info.ty, info.memory.as_ref(), &mut |v| {
                uses.insert(v);
            });
        }
        for variable in &bound {
            uses.remove(variable);
        }
        Facts {
            uses,
            effects: self.known.effects.of(&statement.expression),
            total: is_total(statement) || self.converts_length(statement),
            reads: match &statement.expression {
                Expression::Operation(operation) => arrays_read_here(operation),
                _ => BTreeSet::new(),
            },
            rows: match &statement.expression {
                Expression::Operation(operation) => rows_read_here(operation),
                _ => BTreeSet::new(),
            },
            size: count,
            marked,
        }
    }

    /// True if a statement converts a number that is not negative to a type that represents all
    /// such numbers.
    fn converts_length(&self, statement: &Statement) -> bool {
        match &statement.expression {
            Expression::Scalar {
                operation: ScalarOperation::Convert(Scalar::U64),
                operand: Scalar::I64,
                arguments,
            } => arguments.iter().all(|atom| match atom {
                Atom::Variable(variable) => self.known.lengths.contains(variable),
                Atom::Constant(_) => false,
            }),
            _others => false,
        }
    }

    /// Returns an earlier operation that the one at `last` can be merged with.
    fn partner(&self, items: &[Item], last: usize) -> Option<Partner> {
        operation(&items[last])?;
        let candidates = (last.saturating_sub(STATEMENTS_LOOKED_BACK)..last).rev();
        candidates
            .filter_map(|place| Some((place, self.way(&items[place], &items[last])?)))
            .filter(|(place, _)| !self.passes_a_change(items, *place, last))
            .find_map(|(place, way)| self.between(items, place, last, way))
    }

    /// True if the operation at a position reads an array that a statement between there and `last`
    /// changes in place. The array could not be changed in place if the operation moved after the
    /// change.
    fn passes_a_change(&self, items: &[Item], place: usize, last: usize) -> bool {
        let reader = Reader::Statement(&items[place].statement);
        let mut between = items[place + 1..last].iter();
        between.any(|item| self.known.replaced.is_passed(reader, &item.statement))
    }

    /// Returns the way in which two operations should become one, if they should.
    fn way(&self, first: &Item, second: &Item) -> Option<Way> {
        let (producer, consumer) = (operation(first)?, operation(second)?);
        let way = match self.equal.same_space(producer, consumer) {
            true if self.reads_own_row(first, second) => Way::Nested,
            true => Way::Space,
            false => {
                let [extent] = consumer.shape[..] else {
                    return None;
                };
                match filter_of(&first.statement, extent) {
                    Some(survivors) => self.way_of_survivors(&survivors, first, second)?,
                    None => self.way_of_rows(extent, first, second)?,
                }
            }
        };
        if !self.is_worthwhile(first, second) {
            return None;
        }
        let reads = &self.facts(second).reads;
        if way == Way::Space && !exact_scans(&first.statement).is_disjoint(reads) {
            return (!wants_lanes(producer) && !wants_lanes(consumer)).then_some(Way::Running);
        }
        Some(way)
    }

    /// Returns the way in which an operation over the survivors of a filter runs in the filter's
    /// loop, if it can.
    fn way_of_survivors(&self, survivors: &Survivors, first: &Item, second: &Item) -> Option<Way> {
        let both = (&first.statement, &second.statement);
        let uses = &self.facts(second).uses;
        let strict = self.known.rules.strict;
        let fits = can_run_there(self.program, survivors, uses, both, strict);
        // Beside a filter that stays, values would be computed one at a time.
        let lanes = !wants_lanes(operation(second)?) || self.is_only_for(first, second);
        (fits && lanes).then_some(Way::Survivors)
    }

    /// Returns the way in which an operation over the elements of rows runs in the loop over the
    /// rows, if it can.
    fn way_of_rows(&self, total: Atom, first: &Item, second: &Item) -> Option<Way> {
        let rows = flattened::rows_of(&first.statement, total)?;
        let both = (&first.statement, &second.statement);
        let uses = &self.facts(second).uses;
        let fits = flattened::can_run_there(self.program, &rows, uses, both, self.known.rules);
        let given = rows.given(&first.statement).iter().copied();
        let stored: Vec<Variable> = given.filter(|v| Atom::Variable(*v) != total).collect();
        (fits && self.are_only_for(&stored, second)).then_some(Way::Rows)
    }

    /// True if two operations should be one.
    fn is_worthwhile(&self, first: &Item, second: &Item) -> bool {
        let (Some(producer), Some(consumer)) = (operation(first), operation(second)) else {
            return false;
        };
        let (first_facts, second_facts) = (self.facts(first), self.facts(second));
        if !producer.carries.is_empty()
            || first_facts.size + second_facts.size > STATEMENTS_OF_A_MERGED_OPERATION
        {
            return false;
        }
        if producer.level != Level::Sequential || consumer.level != Level::Sequential {
            return false;
        }
        if producer.is_marked() || consumer.is_marked() {
            return false;
        }
        let (one, other) = (first_facts.effects, second_facts.effects);
        if one.observable || other.observable || !one.may_pass(other) {
            return false;
        }
        let own = consumer.indices.iter().map(|i| Atom::Variable(*i));
        let own: Vec<Atom> = own.collect();
        let code = Moved {
            body: &producer.body,
            from: &producer.indices,
            at: &own,
        };
        let writes = self.known.replaced.writes(consumer);
        if self.known.replaced.reads_what_changes(&code, &writes) {
            return false;
        }
        let reads = &second_facts.reads;
        let feeds = first.statement.pattern.iter().any(|v| reads.contains(v));
        if feeds {
            // The order is fixed only where nothing is left that could have run in any order.
            return consumer.carries.is_empty() || self.is_only_for(first, second);
        }
        // Values that are computed one at a time would keep the others from being computed many at
        // a time.
        let apart = |a, b| is_sequential(a) && wants_lanes(b);
        let simple = |operation: &ArrayOperation| {
            operation.carries.is_empty()
                && operation.outputs.iter().all(|output| match output {
                    Output::Map | Output::Reduce { .. } | Output::Scan { .. } => true,
                    Output::Filter { .. } | Output::Histogram { .. } => true,
                    Output::Scatter { .. } | Output::Collect { .. } | Output::Join { .. } => false,
                })
        };
        simple(producer)
            && simple(consumer)
            && !(first_facts.reads.is_disjoint(reads)
                && first_facts.rows.is_disjoint(&second_facts.rows))
            && !apart(producer, consumer)
            && !apart(consumer, producer)
    }

    /// Changes the number of uses of the variables that a statement has as operands, at any depth.
    fn count(&mut self, statement: &Statement, change: impl Fn(u32) -> u32) {
        let uses = &mut *self.uses;
        let mut visit = |variable: Variable| {
            if let Some(count) = uses.get_mut(variable.index()) {
                *count = change(*count);
            }
        };
        used_variables(&statement.expression, &mut visit);
        each_nested(&statement.expression, &mut |inner| {
            used_variables(&inner.expression, &mut visit);
        });
    }

    /// True if the second reads only its own row of those that the first makes for nothing else.
    fn reads_own_row(&self, first: &Item, second: &Item) -> bool {
        nested::reads_own_row(&first.statement, &second.statement)
            && self.is_only_for(first, second)
    }

    /// True if nothing but the second needs the results of the first.
    fn is_only_for(&self, first: &Item, second: &Item) -> bool {
        self.are_only_for(&first.statement.pattern, second)
    }

    /// True if nothing but an operation needs these results of another.
    fn are_only_for(&self, pattern: &[Variable], second: &Item) -> bool {
        let mut in_types = BTreeMap::new();
        for variable in pattern {
            let info = self.program.variable(*variable);
            type_variables(&info.ty, info.memory.as_ref(), &mut |v| {
                *in_types.entry(v).or_insert(0) += 1;
            });
        }
        pattern.iter().all(|variable| {
            let own = in_types.get(variable).copied().unwrap_or(0);
            self.uses_outside(*variable, second) <= own
        })
    }

    /// Returns the number of uses of a variable in statements other than this one.
    fn uses_outside(&self, variable: Variable, item: &Item) -> u32 {
        let mut count = 0;
        used_variables(&item.statement.expression, &mut |v| {
            count += u32::from(v == variable);
        });
        each_nested(&item.statement.expression, &mut |statement| {
            used_variables(&statement.expression, &mut |v| {
                count += u32::from(v == variable);
            });
        });
        let all = self.uses.get(variable.index()).copied().unwrap_or(0);
        all.saturating_sub(count)
    }

    /// Returns the statements that have to move so that the operations at `first` and `last` can
    /// meet, or `None` where they cannot.
    fn between(&self, items: &[Item], first: usize, last: usize, way: Way) -> Option<Partner> {
        let given = &items[first].statement.pattern;
        let effects = self.facts(&items[first]).effects;
        let mut tainted: BTreeSet<Variable> = given.iter().copied().collect();
        let mut moved = Vec::new();
        for (place, item) in items.iter().enumerate().take(last).skip(first + 1) {
            let facts = self.facts(item);
            if facts.marked {
                return None;
            }
            if (!effects.is_pure() && facts.effects.observable) || !effects.may_pass(facts.effects)
            {
                return None;
            }
            let relies = effects.fails && !facts.total;
            if !relies && facts.uses.is_disjoint(&tainted) {
                continue;
            }
            if !facts.effects.is_pure() {
                return None;
            }
            tainted.extend(&item.statement.pattern);
            moved.push(place);
        }
        for variable in given {
            tainted.remove(variable);
        }
        let consumer = &items[last];
        let uses = &self.facts(consumer).uses;
        if !uses.is_disjoint(&tainted) {
            return None;
        }
        let used: Vec<Variable> = given.iter().copied().filter(|v| uses.contains(v)).collect();
        // Survivors of filters, and rows, have been examined.
        if !used.is_empty() && (way == Way::Space || way == Way::Running) {
            let maps = map_results(&items[first].statement, operation(&items[first])?);
            let scans = exact_scans(&items[first].statement);
            let passes = |v: &Variable| {
                (maps.contains_key(v) || scans.contains(v))
                    && is_read_only_here(*v, &consumer.statement)
            };
            if !used.iter().all(passes) {
                return None;
            }
        }
        Some(Partner {
            way,
            place: first,
            moved,
        })
    }

    /// Merges two operations. Returns the position of the result.
    fn join(&mut self, items: &mut Vec<Item>, partner: Partner, last: usize) -> usize {
        // Statements that an earlier merge has moved after the operation at `last` stay after it.
        let rest = items.split_off(last + 1);
        let tail = items.split_off(partner.place);
        let mut between = Vec::new();
        let mut after = Vec::new();
        let mut ends = Vec::new();
        let count = tail.len();
        for (k, item) in tail.into_iter().enumerate() {
            if k == 0 || k + 1 == count {
                ends.push(item);
            } else if partner.moved.contains(&(partner.place + k)) {
                after.push(item);
            } else {
                between.push(item);
            }
        }
        items.extend(between);
        let place = items.len();
        let mut ends = ends.into_iter();
        if let (Some(mut first), Some(second)) = (ends.next(), ends.next()) {
            first = self.moved_after(first, &items[partner.place..]);
            let facts = self.joined_facts(&first, &second);
            if partner.way == Way::Running {
                as_carries(self.program, &mut first.statement);
            }
            let (first, second) = (first.statement, second.statement);
            self.count(&first, |uses| uses.saturating_sub(1));
            self.count(&second, |uses| uses.saturating_sub(1));
            let merged = match partner.way {
                Way::Survivors => {
                    filters::join(self.program, (first, second), self.known.rules.strict)
                        .into_iter()
                        .collect()
                }
                Way::Rows => self.join_rows(first, second).unwrap_or_default(),
                Way::Nested => vec![nested::join(self.program, first, second)],
                Way::Space | Way::Running => join(self.program, first, second),
            };
            merged
                .iter()
                .for_each(|statement| self.count(statement, |uses| uses + 1));
            let mut merged = merged.into_iter();
            items.extend(
                merged
                    .next()
                    .map(|statement| self.without_unused_maps(statement))
                    .map(|statement| Item {
                        statement,
                        facts: OnceCell::from(facts),
                    }),
            );
            items.extend(merged.map(Item::new));
        }
        items.extend(after);
        items.extend(rest);
        place
    }

    /// Returns an operation without the arrays that only code inside of it has read.
    fn without_unused_maps(&self, mut statement: Statement) -> Statement {
        let Expression::Operation(operation) = &mut statement.expression else {
            return statement;
        };
        let (mut consumed, mut given) = (operation.carries.len(), operation.carries.len());
        let (results, pattern) = (&mut operation.body.results, &mut statement.pattern);
        operation.outputs.retain(|output| {
            let is_used = |v: &Variable| self.uses.get(v.index()).is_none_or(|count| *count > 0);
            let stays = !matches!(output, Output::Map) || pattern.get(given).is_none_or(is_used);
            if stays {
                consumed += output.consumes();
                given += output.gives();
            } else {
                results.remove(consumed);
                pattern.remove(given);
            }
            stays
        });
        statement
    }

    /// Joins an operation that makes rows and one over their elements.
    fn join_rows(&mut self, first: Statement, second: Statement) -> Option<Vec<Statement>> {
        let total = *operation_of(&second)?.shape.first()?;
        let rows = flattened::rows_of(&first, total)?;
        // The rows are no results any more, and no types name the total.
        for row in rows.rows.values() {
            if let Some(count) = self.uses.get_mut(row.index()) {
                *count = count.saturating_sub(1);
            }
        }
        let used = total
            .as_variable()
            .and_then(|total| self.uses.get(total.index()).copied());
        let keeps_total = used.unwrap_or_default() as usize > rows.rows.len();
        flattened::join(
            self.program,
            (first, second),
            keeps_total,
            self.known.rules.strict,
        )
    }

    /// Updates an operation that moves after others. It reads the arrays that result from those
    /// that it read.
    fn moved_after(&mut self, item: Item, others: &[Item]) -> Item {
        self.count(&item.statement, |uses| uses.saturating_sub(1));
        let Item {
            mut statement,
            mut facts,
        } = item;
        bodies_mut(&mut statement.expression, &mut |body| {
            for other in others {
                if self.known.replaced.follow(body, &other.statement) {
                    facts = OnceCell::new();
                }
            }
        });
        self.count(&statement, |uses| uses + 1);
        Item { statement, facts }
    }

    /// Returns the facts of one operation made of two.
    fn joined_facts(&self, first: &Item, second: &Item) -> Facts {
        let (one, other) = (self.facts(first), self.facts(second));
        let given = &first.statement.pattern;
        let without = |left: &BTreeSet<Variable>, right: &BTreeSet<Variable>| {
            let mut union: BTreeSet<Variable> = left.union(right).copied().collect();
            for variable in given {
                union.remove(variable);
            }
            union
        };
        Facts {
            uses: without(&one.uses, &other.uses),
            effects: one.effects.or(other.effects),
            total: one.total && other.total,
            reads: without(&one.reads, &other.reads),
            rows: one.rows.union(&other.rows).copied().collect(),
            size: one.size + other.size,
            marked: one.marked || other.marked,
        }
    }
}

impl Item {
    fn new(statement: Statement) -> Item {
        Item {
            statement,
            facts: OnceCell::new(),
        }
    }
}

/// Returns the array operation of an item, if it is one.
fn operation(item: &Item) -> Option<&ArrayOperation> {
    operation_of(&item.statement)
}

fn operation_of(statement: &Statement) -> Option<&ArrayOperation> {
    match &statement.expression {
        Expression::Operation(operation) => Some(operation),
        _ => None,
    }
}
