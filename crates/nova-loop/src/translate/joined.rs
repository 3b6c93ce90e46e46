//! Maps whose elements are reductions over rows that follow each other in memory, with checks: the
//! elements of a strip of rows are computed together, whatever the rows' ends, into local arrays,
//! and the rows are reduced from there. Elements are taken in rounds, of which all checks come
//! first, without a branch for each. If one fails, and where rows do not follow each other or are
//! long, the rows of the strip are taken one after the other, which finds the first error.

use super::groups::Grouping;
use super::nest::Nest;
use super::operation::{Rows, Space};
use super::outputs::Output;
use super::reduction::zero;
use super::tiles::groups_of;
use super::{INDEX, Result, Translator};
use crate::ir::{Command, Expression, FIXED_BLOCK, GATHER_WIDTH, PARTIAL_LANES, Type, Variable};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::Place;
use nova_flat::ir as flat;
use nova_flat::visit::used_variables;
use std::collections::BTreeSet;

/// The number of rows a strip has, a multiple of [`PARTIAL_LANES`]: reduced that far behind, elements have left
/// the processor's queue of stores.
const ROWS: u32 = 32;
/// More elements than this do not go to local arrays.
const MOST: u32 = 2048;
/// Reductions of more components than this have no local arrays.
const MOST_COMPONENTS: usize = 4;
pub(super) const BOOL: Type = Type::Scalar(Scalar::Bool);

/// What is known of reductions over rows that may follow each other.
pub(super) struct Joined<'a> {
    /// The index of a row's first element, to which the index of the reduction is added.
    from: flat::Variable,
    /// What the conditions of the checks are computed by.
    pub(super) needed: Vec<&'a flat::Statement>,
    /// The conditions.
    pub(super) conditions: Vec<flat::Atom>,
}

/// A full strip whose rows follow each other.
pub(super) struct Strip<'s, 'a> {
    pub(super) grouping: &'s Grouping<'a>,
    pub(super) joined: &'s Joined<'a>,
    /// Its first row.
    begin: &'s Expression,
    /// The index of its first element, and how many it has.
    origin: Expression,
    total: Expression,
    /// For each component of each reduction its elements.
    pub(super) buffers: Vec<Vec<Variable>>,
    /// True if a check fails.
    pub(super) fails: Variable,
    pub(super) place: &'s Place,
}

impl<'a> Translator<'a> {
    /// What is known of such a nest: its elements depend on the row and on the number in the row
    /// only by the sum of that and what the row begins with, and the conditions of its checks may be
    /// computed before any check.
    pub(super) fn joined(
        &self,
        map: &'a flat::ArrayOperation,
        nest: &Nest<'a>,
        inner: flat::Variable,
    ) -> Option<Joined<'a>> {
        let statements = &nest.reduction.body.statements;
        let from = only_sums(statements, inner)?;
        let before = nest.before.iter().flat_map(|s| &s.pattern);
        let inside: BTreeSet<_> = before.chain(&map.indices).copied().collect();
        let mut apart = inside.contains(&from);
        for statement in statements {
            let is_sum = statement_uses(statement, inner);
            used_variables(&statement.expression, &mut |v| {
                apart &= !inside.contains(&v) || (is_sum && v == from);
            });
            // What the body computes itself may be used, but is no array of its own.
            apart &= !matches!(statement.expression, flat::Expression::View { .. });
        }
        for result in &nest.reduction.body.results {
            apart &=
                !matches!(result, flat::Atom::Variable(v) if inside.contains(v) || *v == inner);
        }
        let components: usize = nest.reduction.outputs.iter().map(flat::Output::gives).sum();
        if !apart || self.program.strict || components > MOST_COMPONENTS {
            return None;
        }
        let conditions = conditions(statements)?;
        let needed = needed_for(statements, &conditions)?;
        Some(Joined {
            from,
            needed,
            conditions,
        })
    }

    /// Translates such a nest in strips.
    pub(super) fn operation_in_strips(
        &mut self,
        grouping: &Grouping<'a>,
        joined: &Joined<'a>,
        pattern: &'a [flat::Variable],
        place: &Place,
    ) -> Result<()> {
        let map = grouping.map;
        let extents = self.simple_values(&map.shape)?;
        let extent = extents.first().cloned().unwrap_or(zero());
        let space = Space::unordered(&extents, Rows::None, place);
        let outputs = self.start_outputs(map, pattern, &space)?;
        self.flush_loads()?;
        self.loops += 1;
        let joins = self.add_variable("joins", BOOL);
        self.declare_later(joins);
        self.emit(Command::PlanRows { joins });
        let rows = Expression::index(i64::from(ROWS));
        let count = groups_of(extent.clone(), i64::from(ROWS));
        self.each("strip", count, place, |this, number| {
            let begin = this.declare("begin", INDEX, number.times(rows.clone()));
            let begin = Expression::Variable(begin);
            let done = this.declare("done", BOOL, Expression::bool(false));
            let end = begin.clone().plus(rows.clone());
            let is_full = end.compare(ScalarOperation::LessEqual, extent.clone());
            this.when(Expression::Variable(joins).and(is_full), |this| {
                this.full_strip(grouping, joined, &outputs, (&begin, done), place)
            })?;
            let left = extent.clone().minus(begin.clone());
            let count = left.compare(ScalarOperation::Minimum, rows);
            this.when(Expression::Variable(done).negated(), |this| {
                this.rows_alone(grouping, &outputs, (&begin, count), place)
            })
        })?;
        self.loops -= 1;
        Ok(())
    }

    /// A strip with as many rows as can be: taken together if these follow each other.
    fn full_strip(
        &mut self,
        grouping: &Grouping<'a>,
        joined: &Joined<'a>,
        outputs: &[Output<'a>],
        (begin, done): (&Expression, Variable),
        place: &Place,
    ) -> Result<()> {
        let origin = self.declare("origin", INDEX, zero());
        self.in_row(grouping, begin, zero(), place, |this| {
            let from = this.scalar(flat::Atom::Variable(joined.from))?;
            this.assign(origin, from);
            Ok(())
        })?;
        let gaps = self.declare("gaps", INDEX, zero());
        let others = i64::from(ROWS) - 1;
        self.each("k", Expression::index(others), place, |this, k| {
            let end = this.end_of_row(grouping, joined, begin, k.clone(), place)?;
            let next = k.plus(Expression::index(1));
            this.in_row(grouping, begin, next, place, |this| {
                let from = this.scalar(flat::Atom::Variable(joined.from))?;
                let gap = from.compare(ScalarOperation::BitXor, end);
                let gap = Expression::Variable(gaps).compare(ScalarOperation::BitOr, gap);
                this.assign(gaps, gap);
                Ok(())
            })
        })?;
        let end = self.end_of_row(grouping, joined, begin, Expression::index(others), place)?;
        let total = end.minus(Expression::Variable(origin));
        let total = Expression::Variable(self.declare("total", INDEX, total));
        let most = Expression::index(i64::from(MOST));
        let fits = total.clone().compare(ScalarOperation::LessEqual, most);
        let follow = Expression::Variable(gaps).compare(ScalarOperation::Equal, zero());
        self.when(follow.and(fits), |this| {
            let strip = Strip {
                grouping,
                joined,
                begin,
                origin: Expression::Variable(origin),
                total,
                buffers: this.component_buffers("elements", grouping, MOST)?,
                fails: this.declare("failed", BOOL, Expression::bool(false)),
                place,
            };
            this.elements_of_strip(&strip)?;
            this.when(Expression::Variable(strip.fails).negated(), |this| {
                this.rows_of_strip(&strip, outputs)?;
                this.assign(done, Expression::bool(true));
                Ok(())
            })
        })
    }

    /// The index behind the last element of a row.
    fn end_of_row(
        &mut self,
        grouping: &Grouping<'a>,
        joined: &Joined<'a>,
        begin: &Expression,
        k: Expression,
        place: &Place,
    ) -> Result<Expression> {
        self.in_row(grouping, begin, k, place, |this| {
            let from = this.scalar(flat::Atom::Variable(joined.from))?;
            let end = from.plus(this.scalar(grouping.length)?);
            Ok(this.simplify(end, "end", INDEX))
        })
    }

    /// Computes the elements of a strip, in rounds and what is left after them.
    fn elements_of_strip(&mut self, strip: &Strip<'_, 'a>) -> Result<()> {
        self.bind_simple(strip.joined.from, strip.origin.clone())?;
        let round = || Expression::index(i64::from(GATHER_WIDTH));
        let shift = Expression::index(i64::from(GATHER_WIDTH.trailing_zeros()));
        let rounds = strip.total.clone();
        let rounds = rounds.compare(ScalarOperation::ShiftRight, shift);
        let rounds = self.simplify(rounds, "rounds", INDEX);
        let number = self.declare("round", INDEX, zero());
        let now = || Expression::Variable(number);
        let (body, ()) = self.nested(|this| {
            let end = now().compare(ScalarOperation::GreaterEqual, rounds.clone());
            this.when(end, |this| {
                this.emit(Command::Break);
                Ok(())
            })?;
            let first = this.declare("first", INDEX, now().times(round()));
            this.full_round(strip, &Expression::Variable(first), |this| {
                this.emit(Command::Break);
            })?;
            this.assign(number, now().plus(Expression::index(1)));
            Ok(())
        })?;
        self.emit(Command::Loop {
            body,
            place: strip.place.clone(),
        });
        let first = self.simplify(rounds.times(round()), "first", INDEX);
        let rest = strip.total.clone().minus(first.clone());
        self.last_round(strip, &first, rest)
    }

    /// Reduces the rows of a strip and computes what follows.
    fn rows_of_strip(&mut self, strip: &Strip<'_, 'a>, outputs: &[Output<'a>]) -> Result<()> {
        let groups = Expression::index(i64::from(ROWS / PARTIAL_LANES));
        self.each("group", groups, strip.place, |this, group| {
            let first = group.times(Expression::index(i64::from(PARTIAL_LANES)));
            let first = strip.begin.clone().plus(first);
            let first = Expression::Variable(this.declare("top", INDEX, first));
            let parts = this.parts_of_joined(strip, &first)?;
            this.results_of_rows(strip.grouping, &parts, outputs, &first, strip.place)
        })
    }

    /// The rows from `first` on, reduced from what their strip has computed.
    fn parts_of_joined(
        &mut self,
        strip: &Strip<'_, 'a>,
        first: &Expression,
    ) -> Result<Vec<Vec<Variable>>> {
        let grouping = strip.grouping;
        let parts = self.component_buffers("parts", grouping, FIXED_BLOCK)?;
        let size = Expression::index(i64::from(PARTIAL_LANES));
        self.each("k", size.clone(), strip.place, |this, k| {
            let to = k.clone().times(size);
            this.in_row(grouping, first, k, strip.place, |this| {
                let from = this.scalar(flat::Atom::Variable(strip.joined.from))?;
                let from = from.minus(strip.origin.clone());
                let from = this.simplify(from, "from", INDEX);
                let count = this.simple(grouping.length)?;
                for (buffer, part) in strip.buffers.iter().flatten().zip(parts.iter().flatten()) {
                    this.lane_reduce(grouping, (*part, &to), (*buffer, &from), &count);
                }
                Ok(())
            })
        })?;
        self.combine_group(grouping, &parts);
        Ok(parts)
    }

    fn lane_reduce(
        &mut self,
        grouping: &Grouping<'a>,
        (part, to): (Variable, &Expression),
        (buffer, from): (Variable, &Expression),
        count: &Expression,
    ) {
        if let Type::Pointer(element) = self.program.variable(part).ty {
            self.emit(Command::LaneReduce {
                to: Expression::offset(part, to.clone()),
                from: Expression::offset(buffer, from.clone()),
                element,
                operation: grouping.operation,
                count: count.clone(),
            });
        }
    }

    /// Runs `write` after what a row's body computes before its reductions.
    fn in_row<R>(
        &mut self,
        grouping: &Grouping<'a>,
        first: &Expression,
        k: Expression,
        place: &Place,
        write: impl FnOnce(&mut Self) -> Result<R>,
    ) -> Result<R> {
        self.bind_group_row(grouping, first, k, place)?;
        self.scope(|this| {
            this.statements(grouping.nest.before)?;
            write(this)
        })
    }
}

/// What is added to a variable, if statements use it in no other way, and always the same.
fn only_sums(statements: &[flat::Statement], variable: flat::Variable) -> Option<flat::Variable> {
    let mut found = None;
    for statement in statements.iter().filter(|s| statement_uses(s, variable)) {
        let flat::Expression::Scalar {
            operation: ScalarOperation::Add,
            operand: Scalar::I64,
            arguments,
        } = &statement.expression
        else {
            return None;
        };
        let other = match arguments[..] {
            [flat::Atom::Variable(a), flat::Atom::Variable(b)] if a == variable => b,
            [flat::Atom::Variable(a), flat::Atom::Variable(b)] if b == variable => a,
            _ => return None,
        };
        if other == variable || found.is_some_and(|found| found != other) {
            return None;
        }
        found = Some(other);
    }
    found
}

fn statement_uses(statement: &flat::Statement, variable: flat::Variable) -> bool {
    let mut uses = false;
    used_variables(&statement.expression, &mut |v| uses |= v == variable);
    uses
}

/// The conditions of all checks of a body that does nothing else but compute scalars.
fn conditions(statements: &[flat::Statement]) -> Option<Vec<flat::Atom>> {
    let mut conditions = Vec::new();
    for statement in statements {
        match &statement.expression {
            flat::Expression::Check { condition, .. } => conditions.push(*condition),
            flat::Expression::Atom(_)
            | flat::Expression::Scalar { .. }
            | flat::Expression::Index { .. } => {}
            _ => return None,
        }
    }
    Some(conditions)
}

/// The statements that conditions are computed by, if none among them is one that a check may guard.
fn needed_for<'a>(
    statements: &'a [flat::Statement],
    conditions: &[flat::Atom],
) -> Option<Vec<&'a flat::Statement>> {
    let is_check = |s: &flat::Statement| matches!(s.expression, flat::Expression::Check { .. });
    let first_check = statements.iter().position(is_check)?;
    let mut chosen = BTreeSet::new();
    let mut left: Vec<flat::Variable> = Vec::new();
    for condition in conditions {
        if let flat::Atom::Variable(variable) = condition {
            left.push(*variable);
        }
    }
    while let Some(variable) = left.pop() {
        let defines = |s: &flat::Statement| s.pattern.contains(&variable);
        let Some(at) = statements.iter().position(defines) else {
            continue;
        };
        let statement = statements.get(at)?;
        if at > first_check && !is_total(&statement.expression) {
            return None;
        }
        if chosen.insert(at) {
            used_variables(&statement.expression, &mut |v| left.push(v));
        }
    }
    let chosen = chosen.into_iter();
    Some(chosen.filter_map(|at| statements.get(at)).collect())
}

/// True if an expression has a value for all operands.
fn is_total(expression: &flat::Expression) -> bool {
    use ScalarOperation as O;
    match expression {
        flat::Expression::Atom(_) => true,
        flat::Expression::Scalar {
            operation, operand, ..
        } => match operation {
            O::Add | O::Subtract | O::Multiply | O::Minimum | O::Maximum => true,
            O::Equal | O::NotEqual | O::Less | O::LessEqual | O::Greater => true,
            O::GreaterEqual | O::Not | O::BitAnd | O::BitOr | O::BitXor | O::BitNot => true,
            O::Convert(_) | O::Wrap(_) => !operand.is_float(),
            _ => false,
        },
        _ => false,
    }
}
