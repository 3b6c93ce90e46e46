//! Facts about a Mem program that the translation needs beforehand: the number of uses of a scalar, the
//! loop where it is used, and the last use of a block. One walk over the program collects them.

use nova_diag::deep;
use nova_flat::greatest::Greatest;
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Function, FunctionId, Lambda, Level, Output, Program,
    Statement, Type, Variable,
};
use nova_flat::visit;
use nova_flat::{array_expressions, node_expressions, pure_expressions};
use std::sync::Arc;

/// The index that stands for the results of a body.
pub(crate) const END: u32 = u32::MAX;

/// Facts about all variables of a program, indexed by variable.
pub(crate) struct Facts {
    scalars: Vec<ScalarFacts>,
    /// The greatest values of scalars.
    pub(crate) greatest: Greatest,
    blocks: Vec<BlockFacts>,
    /// For each function, true if it calls itself in tail position.
    pub(crate) tail_calls: Vec<bool>,
    /// True if threads run some operation of the program in parallel.
    pub(crate) grids: bool,
    /// For each loop, in the order of the walk, the one around it. The first is that of no loop.
    around: Vec<u32>,
}

#[derive(Clone, Copy, Default)]
struct ScalarFacts {
    uses: u32,
    bound_in: u32,
    used_in: u32,
}

/// The origin of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Origin {
    /// Nothing binds it.
    #[default]
    Unknown,
    /// An `Allocate`: no other block shares memory with it.
    Allocated,
    /// A `Unique`: the block of its operand, held alone when it is bound.
    Sole,
    /// A parameter of a function.
    Parameter,
    /// A construct that passes on an array made elsewhere. It may be another block of the function.
    Shared,
}

/// Facts about a block.
#[derive(Clone, Default)]
pub(crate) struct BlockFacts {
    /// Its origin.
    pub(crate) origin: Origin,
    /// The number of elements that it has room for, if an `Allocate` binds it.
    pub(crate) room: Option<Atom>,
    /// The last statement that mentions it, in the body that binds it; [`END`] for its results.
    pub(crate) last_use: u32,
    /// The number of times that this statement mentions it, including its bodies.
    pub(crate) last_mentions: u32,
    /// The name of the first array in it.
    pub(crate) name: Option<Arc<str>>,
    /// The number of bodies that enclose the one that binds it.
    depth: usize,
}

impl Facts {
    /// Collects the facts.
    pub(crate) fn new(program: &Program) -> Facts {
        let count = program.variables.len();
        let mut walk = Walk {
            program,
            facts: Facts {
                scalars: vec![ScalarFacts::default(); count],
                greatest: Greatest::default(),
                blocks: vec![BlockFacts::default(); count],
                tail_calls: vec![false; program.functions.len()],
                grids: false,
                around: vec![0],
            },
            indices: Vec::new(),
            function: FunctionId(0),
        };
        walk.sizes();
        for (index, function) in program.functions.iter().enumerate() {
            walk.function = FunctionId(index as u32);
            walk.function(function);
        }
        walk.facts
    }

    /// True if the definition of a scalar may replace its only use, since both run equally often.
    pub(crate) fn is_substitutable(&self, variable: Variable) -> bool {
        self.scalars
            .get(variable.index())
            .is_some_and(|s| s.uses == 1 && s.bound_in == s.used_in)
    }

    /// True if the extents of an operation are the same in all iterations of the loop around it.
    pub(crate) fn has_steady_extents(&self, operation: &ArrayOperation) -> bool {
        let bound_in = |variable: &Variable| {
            let facts = self.scalars.get(variable.index());
            facts.map_or(0, |facts| facts.bound_in)
        };
        let within = operation.indices.first().map_or(0, bound_in);
        let around = self.around.get(within as usize);
        operation.shape.iter().all(|extent| match extent {
            Atom::Constant(_) => true,
            Atom::Variable(variable) => around.is_some_and(|a| *a != bound_in(variable)),
        })
    }

    /// True if nothing uses a scalar.
    pub(crate) fn is_unused(&self, variable: Variable) -> bool {
        self.scalars
            .get(variable.index())
            .is_some_and(|s| s.uses == 0)
    }

    /// Returns the facts about a block of the program.
    pub(crate) fn block(&self, block: Variable) -> BlockFacts {
        self.blocks.get(block.index()).cloned().unwrap_or_default()
    }

    /// True if a write to block `written` may change elements that are read from block `read`.
    pub(crate) fn may_alias(&self, read: Variable, written: Variable) -> bool {
        read == written
            || match self.blocks.get(read.index()).map(|b| b.origin) {
                Some(Origin::Allocated | Origin::Parameter) => false,
                Some(Origin::Sole | Origin::Shared | Origin::Unknown) | None => true,
            }
    }
}

/// The walk.
struct Walk<'a> {
    program: &'a Program,
    facts: Facts,
    /// The current statement of each enclosing body.
    indices: Vec<u32>,
    function: FunctionId,
}

impl<'a> Walk<'a> {
    /// Counts two uses of each size in types and addresses, so that it becomes a variable.
    fn sizes(&mut self) {
        for info in &self.program.variables {
            visit::type_variables(&info.ty, info.memory.as_ref(), &mut |variable| {
                if let Some(facts) = self.facts.scalars.get_mut(variable.index()) {
                    facts.uses += 2;
                }
            });
        }
    }

    fn function(&mut self, function: &'a Function) {
        let inside = self.enter(0);
        for parameter in &function.parameters {
            self.bind(*parameter, inside, self.indices.len(), Origin::Parameter);
        }
        self.body(&function.body, inside);
    }

    /// Enters a loop, that is, a body that may run several times. Returns its number.
    fn enter(&mut self, around: u32) -> u32 {
        self.facts.around.push(around);
        self.facts.around.len() as u32 - 1
    }

    fn body(&mut self, body: &'a Body, inside: u32) {
        self.indices.push(0);
        for (index, statement) in body.statements.iter().enumerate() {
            if let Some(last) = self.indices.last_mut() {
                *last = index as u32;
            }
            self.statement(statement, inside);
        }
        if let Some(last) = self.indices.last_mut() {
            *last = END;
        }
        for result in &body.results {
            if let Atom::Variable(variable) = result {
                self.use_variable(*variable, inside);
            }
        }
        self.indices.pop();
    }

    fn statement(&mut self, statement: &'a Statement, inside: u32) {
        let expression = &statement.expression;
        visit::used_variables(expression, &mut |v| self.use_variable(v, inside));
        match expression {
            Expression::If { .. } | Expression::Switch { .. } => {
                visit::bodies(expression, &mut |b| deep(|| self.body(b, inside)));
            }
            Expression::Operation(operation) => {
                self.facts.grids |= operation.level == Level::Grid;
                let within = self.enter(inside);
                for index in &operation.indices {
                    self.bind_inside(*index, within);
                }
                for (carry, _) in &operation.carries {
                    self.bind_inside(*carry, within);
                }
                deep(|| self.body(&operation.body, within));
                operation
                    .outputs
                    .iter()
                    .for_each(|o| self.output(o, inside));
            }
            Expression::Sort { compare, .. } => self.lambda(compare, inside),
            Expression::While {
                parameters,
                condition,
                body,
            } => {
                let within = self.enter(inside);
                for (parameter, _) in parameters {
                    self.bind_inside(*parameter, within);
                }
                deep(|| self.body(condition, within));
                let within = self.enter(inside);
                deep(|| self.body(body, within));
            }
            Expression::Call { function, tail, .. } => {
                let calls_itself = *tail && *function == self.function;
                self.facts.tail_calls[self.function.index()] |= calls_itself;
            }
            pure_expressions!()
            | array_expressions!()
            | node_expressions!()
            | Expression::SortKeys { .. }
            | Expression::View { .. }
            | Expression::Check { .. }
            | Expression::Fail { .. }
            | Expression::Allocate { .. }
            | Expression::Unique(_)
            | Expression::Foreign { .. } => {}
        }
        let origin = match expression {
            Expression::Unique(_) => Origin::Sole,
            allocation if allocation.is_allocation() => Origin::Allocated,
            _other => Origin::Shared,
        };
        self.facts.greatest.note(statement);
        for variable in &statement.pattern {
            self.bind(*variable, inside, self.indices.len() - 1, origin);
            if let Expression::Allocate { count, .. } = expression
                && let Some(facts) = self.facts.blocks.get_mut(variable.index())
            {
                facts.room = Some(*count);
            }
        }
    }

    fn output(&mut self, output: &'a Output, inside: u32) {
        match output {
            Output::Reduce { lambda, .. }
            | Output::Scan { lambda, .. }
            | Output::Histogram { lambda, .. } => self.lambda(lambda, inside),
            Output::Map
            | Output::Filter { .. }
            | Output::Scatter { .. }
            | Output::Collect { .. }
            | Output::Join { .. } => {}
        }
    }

    fn lambda(&mut self, lambda: &'a Lambda, inside: u32) {
        let within = self.enter(inside);
        for parameter in &lambda.parameters {
            self.bind_inside(*parameter, within);
        }
        deep(|| self.body(&lambda.body, within));
    }

    /// Binds a variable of the body that is entered next.
    fn bind_inside(&mut self, variable: Variable, inside: u32) {
        self.bind(variable, inside, self.indices.len(), Origin::Shared);
    }

    fn bind(&mut self, variable: Variable, inside: u32, depth: usize, origin: Origin) {
        if let Some(facts) = self.facts.scalars.get_mut(variable.index()) {
            facts.bound_in = inside;
        }
        let info = self.program.variable(variable);
        let block = match (&info.ty, &info.memory) {
            (Type::Block(_), _) => variable,
            (Type::Array(..), Some(memory)) => memory.block,
            (Type::Array(..), None) | (Type::Scalar(_), _) => return,
        };
        let last_use = self.indices.get(depth).copied().unwrap_or(0);
        let Some(facts) = self.facts.blocks.get_mut(block.index()) else {
            return;
        };
        if facts.origin == Origin::Unknown {
            facts.origin = origin;
            facts.depth = depth;
            facts.last_use = last_use;
        }
        if facts.name.is_none() && matches!(info.ty, Type::Array(..)) {
            facts.name = Some(info.name.trim_start_matches(nova_mem::MARK).into());
        }
        self.touch(block);
    }

    fn use_variable(&mut self, variable: Variable, inside: u32) {
        if let Some(facts) = self.facts.scalars.get_mut(variable.index()) {
            facts.uses += 1;
            facts.used_in = inside;
        }
        if let Some(memory) = &self.program.variable(variable).memory {
            self.touch(memory.block);
        }
    }

    fn touch(&mut self, block: Variable) {
        if let Some(facts) = self.facts.blocks.get_mut(block.index())
            && let Some(index) = self.indices.get(facts.depth)
        {
            if std::mem::replace(&mut facts.last_use, *index) != *index {
                facts.last_mentions = 0;
            }
            facts.last_mentions += 1;
        }
    }
}
