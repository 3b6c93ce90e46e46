//! The times at which arrays are made and used. A pass needs them before it gives the memory of one
//! array to another. One walk over a function numbers its statements in the order in which they run,
//! and collects for every block the events at its arrays.

use nova_diag::{Place, deep};
use nova_flat::ir::{Atom, Body, Expression, Function, Program, Statement, Type, Variable, View};
use nova_flat::visit;
use nova_flat::{array_expressions, call_expressions, node_expressions, pure_expressions};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// The kinds of events at an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Its elements are written.
    Made,
    /// It is read, or viewed.
    Read,
    /// It is read, and must be row-major.
    ReadInOrder,
    /// It is passed on to a place where another variable has it too: a call, a node, a loop, the
    /// results of a body.
    Handed,
}

/// An event at an array.
#[derive(Clone, Debug)]
pub struct Event {
    /// The array.
    pub array: Variable,
    /// The kind of event.
    pub kind: Kind,
    /// The place in the source.
    pub place: Place,
}

/// The time of a statement in the order in which statements run.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// The body it belongs to.
    pub scope: usize,
    /// The time at which it begins, when it has read its operands.
    pub enter: u32,
    /// The time at which it ends. Its nested bodies run in between.
    pub exit: u32,
}

/// The number of times that a body runs in each run of the enclosing body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Runs {
    AtMostOnce,
    Often,
}

struct Scope {
    /// The enclosing body, and the time at which the statement in between ends.
    parent: Option<(usize, u32)>,
    runs: Runs,
    /// The time at which its results are given.
    end: u32,
    /// The times at which its statements begin.
    starts: Vec<u32>,
}

/// The uses of a block.
#[derive(Default)]
pub struct BlockUses {
    /// The body that binds it.
    scope: usize,
    /// All events, by time.
    events: BTreeMap<(u32, u32), Event>,
    /// The arrays that lie in it.
    pub arrays: Vec<Variable>,
}

/// The times at which the arrays of a function are made and used.
pub struct Uses {
    scopes: Vec<Scope>,
    /// By variable, the statement that binds it. If no statement does, both times are that of the
    /// binding.
    spans: Vec<Option<Span>>,
    blocks: Vec<BlockUses>,
    /// By variable, the time at which the first array was bound that has it as an extent.
    extents: Vec<u32>,
    clock: u32,
    /// Distinguishes events at the same time.
    count: u32,
}

impl Uses {
    /// Collects the uses in all functions of a program.
    pub fn of(program: &Program) -> Self {
        let mut blocks = Vec::new();
        blocks.resize_with(program.variables.len(), BlockUses::default);
        let mut uses = Uses {
            scopes: Vec::new(),
            spans: vec![None; program.variables.len()],
            blocks,
            extents: vec![u32::MAX; program.variables.len()],
            clock: 0,
            count: 0,
        };
        for function in &program.functions {
            uses.function(program, function);
        }
        uses
    }

    /// Walks a function. The results are added to those of other functions.
    fn function(&mut self, program: &Program, function: &Function) {
        let scope = self.open(None, Runs::AtMostOnce);
        let mut walk = Walk {
            program,
            uses: self,
        };
        for parameter in &function.parameters {
            walk.bind(*parameter, scope);
        }
        walk.body(&function.body, scope, usize::MAX, &function.place);
    }

    fn open(&mut self, parent: Option<(usize, u32)>, runs: Runs) -> usize {
        self.scopes.push(Scope {
            parent,
            runs,
            end: 0,
            starts: Vec::new(),
        });
        self.scopes.len() - 1
    }

    /// Returns the statement that binds a variable.
    pub fn span(&self, variable: Variable) -> Option<Span> {
        self.spans.get(variable.index()).copied().flatten()
    }

    /// Records that a variable is bound by a statement at this time.
    pub fn set_span(&mut self, variable: Variable, span: Span) {
        let index = variable.index();
        if self.spans.len() <= index {
            self.spans.resize(index + 1, None);
            self.blocks.resize_with(index + 1, BlockUses::default);
        }
        self.spans[index] = Some(span);
    }

    /// Returns the time from which on there has been an array that has this variable as an extent, or a
    /// statement that makes one. From then on it is not negative.
    pub fn extent_since(&self, variable: Variable) -> u32 {
        let since = self.extents.get(variable.index());
        since.copied().unwrap_or(u32::MAX)
    }

    /// Returns the statement of a body that runs at a time: its index there, and the time at which it
    /// begins.
    pub fn statement_at(&self, scope: usize, time: u32) -> Option<(usize, u32)> {
        let starts = &self.scopes.get(scope)?.starts;
        let index = starts
            .partition_point(|start| *start <= time)
            .checked_sub(1)?;
        Some((index, *starts.get(index)?))
    }

    /// Returns the end of a body, at which it gives its results.
    pub fn end_of(&self, scope: usize) -> Option<Span> {
        let end = self.scopes.get(scope)?.end;
        Some(Span {
            scope,
            enter: end,
            exit: end,
        })
    }

    /// Returns the uses of a block.
    pub fn block(&self, block: Variable) -> Option<&BlockUses> {
        self.blocks.get(block.index())
    }

    /// Records the body that binds a block.
    pub fn set_scope(&mut self, block: Variable, scope: usize) {
        if let Some(uses) = self.blocks.get_mut(block.index()) {
            uses.scope = scope;
        }
    }

    /// Returns the events at arrays in a block at these times, in order.
    pub fn events(
        &self,
        block: Variable,
        times: RangeInclusive<u32>,
    ) -> impl Iterator<Item = &Event> {
        let known = self.blocks.get(block.index());
        let range = (*times.start(), 0)..=(*times.end(), u32::MAX);
        let events = known.into_iter().filter(move |_| !times.is_empty());
        events.flat_map(move |b| b.events.range(range.clone()).map(|(_, event)| event))
    }

    /// Returns the arrays in a block that are passed on, with the times, in order.
    pub fn handed(&self, block: Variable) -> impl Iterator<Item = (u32, Variable)> {
        let events = self.blocks.get(block.index()).into_iter();
        let events = events.flat_map(|known| &known.events);
        let handed = events.filter(|(_, event)| event.kind == Kind::Handed);
        handed.map(|((time, _), event)| (*time, event.array))
    }

    /// True if a body is another one or nested in it.
    pub fn is_within(&self, mut scope: usize, outer: usize) -> bool {
        while scope != outer {
            match self.scopes.get(scope).and_then(|s| s.parent) {
                Some((parent, _)) => scope = parent,
                None => return false,
            }
        }
        true
    }

    /// Returns a use of an array in the block after a statement. It may run in a later iteration of a
    /// loop that encloses the statement.
    pub fn later(&self, block: Variable, statement: Span) -> Option<&Event> {
        let binder = self.blocks.get(block.index())?.scope;
        let is_use = |event: &&Event| event.kind != Kind::Made;
        let (mut scope, mut after) = (statement.scope, statement.exit + 1);
        loop {
            let enclosing = self.scopes.get(scope)?;
            if let Some(found) = self.events(block, after..=enclosing.end).find(is_use) {
                return Some(found);
            }
            if scope == binder {
                return None;
            }
            match (enclosing.runs, enclosing.parent) {
                (Runs::Often, _) => return self.events(block, 0..=u32::MAX).find(is_use),
                (Runs::AtMostOnce, Some((parent, exit))) => {
                    (scope, after) = (parent, exit + 1);
                }
                (Runs::AtMostOnce, None) => return None,
            }
        }
    }

    /// Moves all arrays of a block into another block.
    pub fn merge(&mut self, from: Variable, into: Variable) {
        let mut small = std::mem::take(&mut self.blocks[from.index()]);
        let large = &mut self.blocks[into.index()];
        if small.events.len() > large.events.len() {
            std::mem::swap(&mut small.events, &mut large.events);
        }
        if small.arrays.len() > large.arrays.len() {
            std::mem::swap(&mut small.arrays, &mut large.arrays);
        }
        large.events.append(&mut small.events);
        large.arrays.append(&mut small.arrays);
    }
}

struct Walk<'a> {
    program: &'a Program,
    uses: &'a mut Uses,
}

impl Walk<'_> {
    fn tick(&mut self) -> u32 {
        self.uses.clock += 1;
        self.uses.clock
    }

    fn event(&mut self, array: Variable, kind: Kind, place: &Place) {
        let Some(memory) = &self.program.variable(array).memory else {
            return;
        };
        self.uses.count += 1;
        let key = (self.uses.clock, self.uses.count);
        let place = place.clone();
        if let Some(block) = self.uses.blocks.get_mut(memory.block.index()) {
            block.events.insert(key, Event { array, kind, place });
        }
    }

    fn use_atom(&mut self, atom: Atom, kind: Kind, place: &Place) {
        if let Atom::Variable(variable) = atom {
            self.event(variable, kind, place);
        }
    }

    /// Binds a variable now, in a scope, and its block if nothing has bound that.
    fn bind(&mut self, variable: Variable, scope: usize) {
        let now = self.uses.clock;
        self.bind_by(
            variable,
            Span {
                scope,
                enter: now,
                exit: now,
            },
        );
    }

    /// Binds a variable by a statement.
    fn bind_by(&mut self, variable: Variable, span: Span) {
        let (scope, enter) = (span.scope, span.enter);
        let span = Some(span);
        self.uses.spans[variable.index()] = span;
        let Some(memory) = &self.program.variable(variable).memory else {
            return;
        };
        for extent in self.program.ty(variable).shape() {
            if let Atom::Variable(extent) = extent {
                let since = &mut self.uses.extents[extent.index()];
                *since = enter.min(*since);
            }
        }
        let block = memory.block;
        if self.uses.spans[block.index()].is_none() {
            self.uses.spans[block.index()] = span;
            self.uses.set_scope(block, scope);
        }
        self.uses.blocks[block.index()].arrays.push(variable);
    }

    /// Walks a body whose first `handed` results are passed on. Arrays among the others are read.
    fn body(&mut self, body: &Body, scope: usize, handed: usize, place: &Place) {
        self.statements(body, scope);
        for (k, result) in body.results.iter().enumerate() {
            let kind = if k < handed { Kind::Handed } else { Kind::Read };
            self.use_atom(*result, kind, place);
        }
    }

    /// Walks the body of a loop, whose first results are the next states. Arrays among the others are
    /// read.
    fn iteration<'s>(
        &mut self,
        body: &Body,
        scope: usize,
        states: impl Iterator<Item = &'s (Variable, Atom)>,
        place: &Place,
    ) {
        self.statements(body, scope);
        let mut results = body.results.iter();
        for ((state, _), next) in states.zip(results.by_ref()) {
            self.flow(*next, *state, place);
        }
        for read in results {
            self.use_atom(*read, Kind::Read, place);
        }
    }

    /// Records the flow of an array to another one. It is only a read if both have the same block.
    fn flow(&mut self, from: Atom, to: Variable, place: &Place) {
        let same = self.block_of(from) == self.block_of(Atom::Variable(to));
        let kind = if same { Kind::Read } else { Kind::Handed };
        self.use_atom(from, kind, place);
    }

    /// Walks the statements of a body.
    fn statements(&mut self, body: &Body, scope: usize) {
        for statement in &body.statements {
            deep(|| self.statement(statement, scope));
        }
        let end = self.tick();
        self.uses.scopes[scope].end = end;
    }

    /// Returns the block of an array.
    fn block_of(&self, atom: Atom) -> Option<Variable> {
        atom.as_variable()
            .and_then(|v| self.program.variable(v).memory.as_ref().map(|m| m.block))
    }

    fn statement(&mut self, statement: &Statement, scope: usize) {
        let enter = self.tick();
        self.uses.scopes[scope].starts.push(enter);
        let (expression, place) = (&statement.expression, &statement.place);
        let kind = operand_kind(expression);
        if let Expression::While { parameters, .. } = expression {
            for (parameter, start) in parameters {
                self.flow(*start, *parameter, place);
            }
        } else {
            visit::used_variables(expression, &mut |variable| {
                self.event(variable, kind, place)
            });
        }
        if let Expression::Operation(operation) = expression {
            for (carry, start) in &operation.carries {
                self.flow(*start, *carry, place);
            }
        }
        let first = self.uses.scopes.len();
        self.inside(statement, scope);
        let exit = match self.uses.scopes.len() > first {
            true => self.tick(),
            false => enter,
        };
        for inner in &mut self.uses.scopes[first..] {
            // More deeply nested bodies have their own.
            if let Some((parent, after)) = &mut inner.parent
                && *parent == scope
            {
                *after = exit;
            }
        }
        let handed = handed_results(expression);
        for (k, variable) in statement.pattern.iter().enumerate() {
            self.bind_by(*variable, Span { scope, enter, exit });
            match self.program.ty(*variable) {
                Type::Block(_) => self.uses.set_scope(*variable, scope),
                Type::Array(..) if k >= handed => {
                    self.event(*variable, Kind::Made, place);
                    if let Expression::Sort { .. }
                    | Expression::SortKeys { .. }
                    | Expression::Bytes(_) = expression
                    {
                        self.event(*variable, Kind::ReadInOrder, place);
                    }
                }
                Type::Array(..) | Type::Scalar(_) => {}
            }
        }
    }

    /// Walks the bodies of a statement.
    fn inside(&mut self, statement: &Statement, scope: usize) {
        let place = &statement.place;
        match &statement.expression {
            Expression::If { .. } | Expression::Switch { .. } => {
                visit::bodies(&statement.expression, &mut |body| {
                    let inner = self.uses.open(Some((scope, 0)), Runs::AtMostOnce);
                    self.statements(body, inner);
                    for (result, variable) in body.results.iter().zip(&statement.pattern) {
                        self.flow(*result, *variable, place);
                    }
                });
            }
            Expression::While {
                parameters,
                condition,
                body,
            } => {
                // The states are bound in the body, which reads them after the condition. What the
                // condition does not bind itself is therefore used later. They are bound first, since
                // the condition may view them.
                let inner = self.uses.open(Some((scope, 0)), Runs::Often);
                for (parameter, _) in parameters {
                    self.bind(*parameter, inner);
                }
                let tested = self.uses.open(Some((scope, 0)), Runs::Often);
                self.body(condition, tested, 0, place);
                self.iteration(body, inner, parameters.iter(), place);
            }
            Expression::Operation(operation) => {
                let inner = self.uses.open(Some((scope, 0)), Runs::Often);
                for index in &operation.indices {
                    self.bind(*index, inner);
                }
                for (carry, _) in &operation.carries {
                    self.bind(*carry, inner);
                }
                self.iteration(&operation.body, inner, operation.carries.iter(), place);
                for output in &operation.outputs {
                    if let Some(lambda) = output.lambda() {
                        self.lambda(&lambda.parameters, &lambda.body, scope, place);
                    }
                }
            }
            Expression::Sort { compare, .. } => {
                self.lambda(&compare.parameters, &compare.body, scope, place);
            }
            _without_bodies => {}
        }
    }

    fn lambda(&mut self, parameters: &[Variable], body: &Body, scope: usize, place: &Place) {
        let inner = self.uses.open(Some((scope, 0)), Runs::Often);
        for parameter in parameters {
            self.bind(*parameter, inner);
        }
        self.body(body, inner, 0, place);
    }
}

/// Returns the kind of event at the array operands of an expression. Start values of carries are handed
/// on besides.
fn operand_kind(expression: &Expression) -> Kind {
    match expression {
        call_expressions!() | Expression::NodeNew { .. } | Expression::NodeStore { .. } => {
            Kind::Handed
        }
        Expression::View {
            view: View::Reshape(_),
            ..
        }
        | Expression::Trace { .. }
        | Expression::Unique(_) => Kind::ReadInOrder,
        pure_expressions!()
        | array_expressions!()
        | Expression::View { .. }
        | Expression::Check { .. }
        | Expression::Fail { .. }
        | Expression::Allocate { .. }
        | Expression::Sort { .. }
        | Expression::SortKeys { .. }
        | Expression::Operation(_)
        | Expression::If { .. }
        | Expression::Switch { .. }
        | Expression::While { .. }
        | Expression::NodePayload { .. }
        | Expression::NodesReached { .. }
        | Expression::TableOpen { .. }
        | Expression::TableClose { .. }
        | Expression::TableShrink { .. }
        | Expression::NodesReserve { .. }
        | Expression::NodesSeal { .. }
        | Expression::NodesAcyclic { .. } => Kind::Read,
    }
}

/// Returns the number of leading results of an expression that are not arrays whose elements it writes.
fn handed_results(expression: &Expression) -> usize {
    match expression {
        Expression::Operation(operation) => operation.carries.len(),
        array_expressions!() | Expression::Sort { .. } | Expression::SortKeys { .. } => 0,
        pure_expressions!()
        | call_expressions!()
        | Expression::View { .. }
        | Expression::Check { .. }
        | Expression::Fail { .. }
        | Expression::Allocate { .. }
        | Expression::Unique(_)
        | Expression::If { .. }
        | Expression::Switch { .. }
        | Expression::While { .. }
        | node_expressions!() => usize::MAX,
    }
}
