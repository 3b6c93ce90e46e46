//! Maps whose elements are computed by loops: the choice to take several elements in lockstep, with the loops
//! around their lanes (outer-loop vectorisation).
//!
//! C compilers make vectors of innermost loops. Where such a loop only repeats a step, or is a reduction that
//! they cannot vectorise, the elements of the map are the lanes instead. The map's innermost loop is then marked
//! as independent, and the pass `lockstep` of nova-loop-opt rewrites it. Reductions inside are left folds, each
//! lane its own.
//!
//! Arrays that an element makes for itself, as the states of a recurrence, are private to its lane: the pass
//! allocates them once for all lanes, with the lanes of an element side by side. Elements may be rows then.
//!
//! Reductions that have lanes of their own ([`crate::lanes`]) keep them if they are long. Short ones gain from
//! lockstep if neighbours of the map read neighbours in memory, or the same elements. Such a map has a second
//! version for long reductions.
//!
//! Rows of the elements' own that a reduction inside a loop reads again and again may lie apart. The pass packs
//! them before the loop, so that their lanes lie side by side.
//!
//! Reductions of any length inside a loop gain if they call functions and read the same elements for all
//! neighbours: each step reads an element once for all lanes, and nothing is combined at the end of each
//! reduction. Their map has a second version for the elements that do not fill the lanes
//! ([`crate::lockstep_loops`]).

use crate::lanes::lane_schedule;
use crate::limits::{ELEMENTS_OF_A_FOLD, ELEMENTS_OF_A_PRIVATE_ARRAY, STATEMENTS_OF_LANES};
use crate::nest::is_plain;
use crate::translator::Translator;
use nova_core::{Scalar, ScalarOperation};
use nova_diag::deep;
use nova_flat::ir as flat;
use nova_flat::ir::Bracketing;
use nova_flat::memory::{Polynomial, polynomial_of};
use nova_flat::operators::by_component;
use nova_flat::visit::{each_statement, used_variables};
use nova_machine::cost::is_simple;
use nova_machine::{Machine, PROCESSOR};
use std::collections::{BTreeMap, BTreeSet};

/// The conditions under which a map is taken in lockstep.
pub(crate) struct Lockstep {
    /// Upper bounds of extents inside the map.
    pub(crate) limits: Vec<(flat::Atom, i64)>,
    /// True if reductions that have lanes of their own keep them where the map does not fill its lanes.
    pub(crate) fills_lanes: bool,
}

/// Returns the conditions under which an operation is taken in lockstep, if it may gain from that.
pub(crate) fn lockstep_of(
    cx: &Translator<'_>,
    operation: &flat::ArrayOperation,
) -> Option<Lockstep> {
    let makes_rows = |o: &flat::Output| is_map(o) || matches!(o, flat::Output::Join { .. });
    let plain = operation.carries.is_empty() && operation.outputs.iter().all(makes_rows);
    if cx.machine != Machine::Processor || cx.recursive || cx.lockstep || !plain {
        return None;
    }
    let index = operation.indices.last()?;
    let mut statements = 0;
    each_statement(&operation.body, &mut |_| statements += 1);
    if statements > STATEMENTS_OF_LANES {
        return None;
    }
    let mut search = Search {
        cx,
        index: *index,
        around: operation.indices.iter().copied().collect(),
        varying: BTreeMap::from([(*index, Some(Polynomial::variable(*index)))]),
        bound: operation.indices.iter().copied().collect(),
        private: BTreeSet::new(),
        written: BTreeSet::new(),
        limits: Vec::new(),
        fills_lanes: false,
        loops: 0,
        has_recurrence: false,
        costly: 0,
        scattered: 0,
        apart: 0,
        repeats: false,
        is_masked: false,
        row: None,
        packed: None,
    };
    search.body(&operation.body, false)?;
    if search.fills_lanes && !search.limits.is_empty() {
        return None;
    }
    search.gains().then_some(Lockstep {
        limits: search.limits,
        fills_lanes: search.fills_lanes,
    })
}

fn is_map(output: &flat::Output) -> bool {
    matches!(output, flat::Output::Map)
}

/// The search through the body of a map.
struct Search<'s, 'a> {
    cx: &'s Translator<'a>,
    index: flat::Variable,
    /// The indices of the map.
    around: BTreeSet<flat::Variable>,
    /// The variables that may differ between elements, with their values where these are sums of products.
    varying: BTreeMap<flat::Variable, Option<Polynomial>>,
    /// The variables that are bound inside the map.
    bound: BTreeSet<flat::Variable>,
    /// The arrays that an element makes for itself, and those that it makes in its part of the result.
    private: BTreeSet<flat::Variable>,
    written: BTreeSet<flat::Variable>,
    limits: Vec<(flat::Atom, i64)>,
    fills_lanes: bool,
    /// The number of loops that are no vectors by themselves.
    loops: u32,
    /// True if one of them makes a private array.
    has_recurrence: bool,
    /// The number of operations in loops that take many cycles.
    costly: u32,
    /// The number of reads of elements that do not lie side by side.
    scattered: u32,
    /// The number of reads of other elements than the neighbours'.
    apart: u32,
    /// True in the body of a loop.
    repeats: bool,
    /// True where only some lanes run what a loop repeats.
    is_masked: bool,
    /// The index of the reduction that the search looks at, if its rows may be packed.
    row: Option<flat::Variable>,
    /// The maximum number of elements of a row of this reduction that is packed, if it has such rows.
    packed: Option<i64>,
}

impl Search<'_, '_> {
    /// Looks at a body. `in_lanes` states that it is a vector already, so that its reads must be of neighbours.
    /// Returns none if it holds something that is not taken in lockstep.
    fn body(&mut self, body: &flat::Body, in_lanes: bool) -> Option<()> {
        for statement in &body.statements {
            self.bound.extend(&statement.pattern);
            deep(|| self.statement(statement, in_lanes))?;
        }
        Some(())
    }

    fn statement(&mut self, statement: &flat::Statement, in_lanes: bool) -> Option<()> {
        use flat::Expression as E;
        let mut reads_result = false;
        used_variables(&statement.expression, &mut |v| {
            reads_result |= self.written.contains(&v);
        });
        if reads_result {
            return None;
        }
        match &statement.expression {
            E::Atom(_) => self.bind(statement),
            E::Scalar {
                operation,
                operand,
                arguments,
            } => {
                let differs = self.reads_varying(&statement.expression);
                if differs && !self.has_vectors(*operation, *operand, arguments) {
                    return None;
                }
                self.costly += u32::from(self.repeats && !is_simple(*operation, *operand));
                self.bind(statement)
            }
            E::If {
                condition,
                then,
                otherwise,
            } => self.cases(*condition, &[then, otherwise], statement, in_lanes),
            E::Switch { scrutinee, cases } if cases.len() == 2 => {
                let cases: Vec<&flat::Body> = cases.iter().collect();
                self.cases(*scrutinee, &cases, statement, in_lanes)
            }
            E::While {
                parameters,
                condition,
                body,
            } => {
                self.loops += 1;
                let states: Vec<flat::Variable> = parameters.iter().map(|p| p.0).collect();
                self.scalars(&states)?;
                self.bound.extend(&states);
                self.varies(&states);
                self.varies(&statement.pattern);
                self.repeated(true, |search| {
                    search.body(condition, in_lanes)?;
                    search.body(body, in_lanes)
                })
            }
            E::Operation(operation) => {
                self.operation(operation, in_lanes)?;
                let (arrays, scalars): (Vec<_>, Vec<_>) = statement
                    .pattern
                    .iter()
                    .partition(|v| self.cx.source.variable(**v).ty.is_array());
                self.make(&arrays);
                self.varies(&scalars);
                Some(())
            }
            _others => self.access(statement, in_lanes),
        }
    }

    /// Looks at a statement that reads an array, makes room for one, or checks.
    fn access(&mut self, statement: &flat::Statement, in_lanes: bool) -> Option<()> {
        use flat::Expression as E;
        match &statement.expression {
            E::Index { array, indices } if self.private.contains(array) => {
                self.varies(&statement.pattern);
                let differs = indices.iter().any(|index| self.is_varying(*index));
                (!differs).then_some(())
            }
            E::View { array, .. } if self.private.contains(array) => {
                self.private.extend(&statement.pattern);
                (!self.reads_varying(&statement.expression)).then_some(())
            }
            E::Index { array, indices } => {
                let along = self.stride(*array, indices);
                if !matches!(along, Some(0 | 1))
                    && let Some(most) = self.packed_row(*array, indices)
                {
                    self.packed = Some(self.packed.map_or(most, |other| other.min(most)));
                    self.varies(&statement.pattern);
                    return Some(());
                }
                if in_lanes && !matches!(along, Some(0 | 1)) {
                    return None;
                }
                self.scattered += u32::from(!matches!(along, Some(0 | 1)));
                if along != Some(0) {
                    self.apart += 1;
                    self.varies(&statement.pattern);
                }
                Some(())
            }
            E::View { .. } | E::Check { .. } | E::Fail { .. } => Some(()),
            E::Allocate {
                count,
                destination: None,
                ..
            } => (!self.is_masked && !self.is_varying(*count)).then_some(()),
            E::Copy(array) if self.private.contains(array) => {
                self.make(&statement.pattern);
                Some(())
            }
            _others => None,
        }
    }

    /// Notes arrays that an element makes.
    fn make(&mut self, arrays: &[flat::Variable]) {
        for array in arrays {
            let memory = self.cx.source.variable(*array).memory.as_ref();
            let is_own = memory.is_some_and(|memory| self.bound.contains(&memory.block));
            match is_own {
                true => self.private.insert(*array),
                false => self.written.insert(*array),
            };
        }
    }

    /// True if lockstep gains. Elements of rows lie apart in memory, which costs more than a recurrence of few
    /// cycles.
    fn gains(&self) -> bool {
        self.loops > 0 && !(self.has_recurrence && self.scattered > 0 && self.costly == 0)
    }

    /// Looks at the cases of a conditional.
    fn cases(
        &mut self,
        condition: flat::Atom,
        cases: &[&flat::Body],
        statement: &flat::Statement,
        in_lanes: bool,
    ) -> Option<()> {
        self.scalars(&statement.pattern)?;
        let mut differs = self.is_varying(condition);
        let is_masked = self.is_masked;
        for case in cases {
            self.is_masked |= differs && self.repeats;
            self.body(case, in_lanes)?;
            self.is_masked = is_masked;
            differs |= case.results.iter().any(|result| self.is_varying(*result));
        }
        if differs {
            self.varies(&statement.pattern);
        }
        Some(())
    }

    /// Looks at an operation inside the map: a counted loop, or a reduction that each element folds from left
    /// to right.
    fn operation(&mut self, operation: &flat::ArrayOperation, in_lanes: bool) -> Option<()> {
        let plain = operation.level == flat::Level::Sequential && !operation.is_marked();
        let states: Vec<flat::Variable> = operation.carries.iter().map(|c| c.0).collect();
        if !plain || self.scalars(&states).is_none() {
            return None;
        }
        self.bound.extend(&states);
        self.varies(&states);
        if operation
            .shape
            .iter()
            .any(|extent| self.is_varying(*extent))
        {
            return None;
        }
        self.bound.extend(&operation.indices);
        let schedule = lane_schedule(self.cx, operation);
        for output in &operation.outputs {
            match output {
                flat::Output::Map => self.private_array(operation)?,
                flat::Output::Reduce {
                    lambda,
                    start,
                    bracketing: Bracketing::Whole,
                    ..
                } => self.fold(operation, lambda, start, in_lanes)?,
                _others => return None,
            }
        }
        let makes_array = operation.outputs.iter().any(is_map);
        let is_plain_map = states.is_empty() && operation.outputs.iter().all(is_map);
        let is_vector = schedule.is_some() || is_plain_map;
        let is_long = schedule.is_some() && self.repeats && self.is_bound(&operation.shape);
        let outside = (self.row, self.packed);
        (self.row, self.packed) = (self.row_index(operation), None);
        let (costly, apart) = (self.costly, self.apart);
        self.has_recurrence |= makes_array && !is_vector;
        self.loops += u32::from(!is_vector);
        let loops = self.loops;
        self.repeated(false, |search| {
            search.body(&operation.body, in_lanes || is_vector)
        })?;
        if let Some(most) = self.packed {
            self.limit(&operation.shape, most)?;
        } else if schedule.is_some() && !is_long {
            self.limit(&operation.shape, PROCESSOR.lockstep_lanes - 1)?;
        }
        (self.row, self.packed) = outside;
        if is_long && (self.costly == costly || self.apart > apart) {
            return None;
        }
        self.fills_lanes |= is_long;
        // Loops in a map inside belong to its own elements.
        (!is_plain_map || self.loops == loops).then_some(())
    }

    /// Returns the index of a reduction whose rows may be packed: a loop around repeats it for all lanes, and its
    /// length is known before the map begins.
    fn row_index(&self, operation: &flat::ArrayOperation) -> Option<flat::Variable> {
        let is_repeated = self.repeats && !self.is_masked && !self.is_bound(&operation.shape);
        match &operation.indices[..] {
            [index] if is_repeated && is_plain(&operation.body.statements) => Some(*index),
            _others => None,
        }
    }

    /// Returns the maximum number of elements of a row that is packed, if an element belongs to one: its place
    /// depends on the elements of the map and of the row alone.
    fn packed_row(&self, array: flat::Variable, indices: &[flat::Atom]) -> Option<i64> {
        let row = self.row?;
        let address = self.address(array, indices)?;
        let is_known =
            |v: &flat::Variable| *v == row || self.around.contains(v) || !self.bound.contains(v);
        let info = self.cx.source.variable(array);
        let is_outside = !self.bound.contains(&info.memory.as_ref()?.block);
        let most = PROCESSOR.packed_row_bytes / i64::from(info.ty.element().bits().max(8) / 8);
        (is_outside && address.variables().all(is_known)).then_some(most)
    }

    /// Looks at an array that an operation inside the map makes.
    fn private_array(&mut self, operation: &flat::ArrayOperation) -> Option<()> {
        if self.is_masked {
            return None;
        }
        self.limit(&operation.shape, ELEMENTS_OF_A_PRIVATE_ARRAY)
    }

    /// Looks at a reduction inside the map, which each element folds.
    fn fold(
        &mut self,
        operation: &flat::ArrayOperation,
        lambda: &flat::Lambda,
        start: &[flat::Atom],
        in_lanes: bool,
    ) -> Option<()> {
        let operators = by_component(lambda);
        let exact = operators
            .as_ref()
            .is_some_and(|all| all.iter().all(|o| o.exact));
        if self.cx.program.strict && !exact {
            return None;
        }
        let scalars = start.iter().filter_map(|s| self.cx.source.scalar_of(*s));
        // Other operators are folded in order, too.
        if !exact && operators.is_some() && scalars.into_iter().any(|scalar| scalar == Scalar::F32)
        {
            self.limit(&operation.shape, ELEMENTS_OF_A_FOLD)?;
        }
        self.bound.extend(&lambda.parameters);
        self.varies(&lambda.parameters);
        self.body(&lambda.body, in_lanes)
    }

    /// Looks at what a loop repeats. `parts` states that elements leave the loop at different times.
    fn repeated(&mut self, parts: bool, look: impl FnOnce(&mut Self) -> Option<()>) -> Option<()> {
        let outside = (self.repeats, self.is_masked);
        (self.repeats, self.is_masked) = (true, self.is_masked || parts);
        look(self)?;
        (self.repeats, self.is_masked) = outside;
        Some(())
    }

    /// True if an extent is known only inside the map.
    fn is_bound(&self, shape: &[flat::Atom]) -> bool {
        let is_bound = |extent: &flat::Atom| matches!(extent, flat::Atom::Variable(v) if self.bound.contains(v));
        shape.iter().any(is_bound)
    }

    /// Limits extents, which must be known before the map begins.
    fn limit(&mut self, shape: &[flat::Atom], most: i64) -> Option<()> {
        if self.is_bound(shape) {
            return None;
        }
        for extent in shape {
            match self.limits.iter_mut().find(|limit| limit.0 == *extent) {
                Some(limit) => limit.1 = limit.1.min(most),
                None => self.limits.push((*extent, most)),
            }
        }
        Some(())
    }

    /// True if an operation has instructions or functions for vectors. Integers have none for divisions, but C
    /// compilers turn divisions by a constant into products and shifts.
    fn has_vectors(
        &self,
        operation: ScalarOperation,
        operand: Scalar,
        arguments: &[flat::Atom],
    ) -> bool {
        use ScalarOperation as O;
        match operation {
            O::Divide | O::Remainder => {
                operand.is_float() || matches!(arguments, [_, flat::Atom::Constant(_)])
            }
            O::Wrap(_) => !operand.is_float(),
            O::Sqrt | O::Reciprocal | O::ReciprocalSqrt => true,
            other => is_simple(other, operand) || !self.cx.program.strict,
        }
    }

    fn scalars(&self, variables: &[flat::Variable]) -> Option<()> {
        let is_scalar =
            |v: &flat::Variable| matches!(self.cx.source.variable(*v).ty, flat::Type::Scalar(_));
        variables.iter().all(is_scalar).then_some(())
    }

    fn varies(&mut self, variables: &[flat::Variable]) {
        for variable in variables {
            self.varying.insert(*variable, None);
        }
    }

    fn is_varying(&self, atom: flat::Atom) -> bool {
        matches!(atom, flat::Atom::Variable(variable) if self.varying.contains_key(&variable))
    }

    fn reads_varying(&self, expression: &flat::Expression) -> bool {
        let mut found = false;
        used_variables(expression, &mut |v| found |= self.varying.contains_key(&v));
        found
    }

    /// Binds the result of a scalar statement.
    fn bind(&mut self, statement: &flat::Statement) -> Option<()> {
        if self.reads_varying(&statement.expression) {
            let value = self.value(&statement.expression);
            for variable in &statement.pattern {
                self.varying.insert(*variable, value.clone());
            }
        }
        Some(())
    }

    /// Returns the value of an expression that is a sum or product of known ones.
    fn value(&self, expression: &flat::Expression) -> Option<Polynomial> {
        match expression {
            flat::Expression::Atom(atom) => self.polynomial(*atom),
            flat::Expression::Scalar {
                operation,
                arguments,
                ..
            } => match (operation, &arguments[..]) {
                (ScalarOperation::Convert(to), [only]) if to.is_integer() => self.polynomial(*only),
                (ScalarOperation::Add, [a, b]) => {
                    Some(self.polynomial(*a)?.plus(&self.polynomial(*b)?))
                }
                (ScalarOperation::Subtract, [a, b]) => {
                    Some(self.polynomial(*a)?.minus(&self.polynomial(*b)?))
                }
                (ScalarOperation::Multiply, [a, b]) => {
                    Some(self.polynomial(*a)?.times(&self.polynomial(*b)?))
                }
                _others => None,
            },
            _others => None,
        }
    }

    fn polynomial(&self, atom: flat::Atom) -> Option<Polynomial> {
        match atom {
            flat::Atom::Constant(value) => Some(Polynomial::constant(
                i64::try_from(value.as_integer()?).ok()?,
            )),
            flat::Atom::Variable(variable) => match self.varying.get(&variable) {
                Some(value) => value.clone(),
                None => polynomial_of(atom),
            },
        }
    }

    /// Returns the distance in memory of what neighbours of the map read, if it is a known number.
    fn stride(&self, array: flat::Variable, indices: &[flat::Atom]) -> Option<i64> {
        let (factor, _) = self.address(array, indices)?.split(&self.index)?;
        factor.as_constant()
    }

    /// Returns the place of an element in memory, if it is a sum of products of indices.
    fn address(&self, array: flat::Variable, indices: &[flat::Atom]) -> Option<Polynomial> {
        let memory = self.cx.source.variable(array).memory.as_ref()?;
        let values: Option<Vec<Polynomial>> = indices
            .iter()
            .map(|index| self.polynomial(*index))
            .collect();
        let address = memory.lmad.address(&values?);
        // The place of a row may itself depend on the element.
        let mut known = true;
        let address = address.substitute(|variable| match self.varying.get(variable) {
            Some(Some(value)) => value.clone(),
            Some(None) => {
                known = false;
                Polynomial::constant(0)
            }
            None => Polynomial::variable(*variable),
        });
        known.then_some(address)
    }
}
