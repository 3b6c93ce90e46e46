//! Divides operations among threads: an operation over `n` indices becomes a grid of parts, each of
//! which runs the same body over the indices of its own, as `join (map_global (map_seq f) (split m
//! x))` of dpia.txt §3. Arrays are joined of the parts; what the parts reduce to is reduced once
//! more.
//!
//! How large a part is depends on the number of indices and on what the body costs, never on the
//! number of threads, so that results do not either. Divided are outermost operations whose outputs
//! are maps, and reductions in which the order makes no difference or need not be strict.

mod cost;

use crate::effects::FunctionEffects;
use cost::Cost;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::{Place, deep};
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, FunctionId, Level, Output, Program, Statement, Type,
    Variable,
};
use nova_flat::operators::by_component;
use nova_flat::visit::{Substitution, bodies_mut, each_statement, fresh_lambda};
use std::collections::BTreeSet;

/// How operations are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// Whether reductions keep the order of docs/order.md.
    pub strict: bool,
    /// The least that a part should cost, in scalar operations.
    pub grain: i64,
    /// How many parts there are at most.
    pub parts: i64,
}

impl Division {
    /// Parts that are worth the time of handing them out, and enough of them for many threads.
    pub const DEFAULT: Division = Division {
        strict: false,
        grain: 1 << 15,
        parts: 256,
    };
    /// So small parts that short arrays are divided too, for tests.
    pub const SMALL: Division = Division {
        strict: true,
        grain: 2,
        parts: 4,
    };
}

/// Sizes of larger parts are multiples of this, so that vectors and tiles fit in.
const ROUND: i64 = 64;

/// Divides the operations of a program that are worth it.
pub fn run(program: &mut Program, division: Division) {
    let mut divider = Divider {
        effects: FunctionEffects::new(program),
        building: builders(program),
        division,
        program,
    };
    for k in 0..divider.program.functions.len() {
        let mut body = std::mem::take(&mut divider.program.functions[k].body);
        divider.body(&mut body);
        divider.program.functions[k].body = body;
    }
}

/// The functions that append to a node table, by themselves or by those that they call.
fn builders(program: &Program) -> BTreeSet<FunctionId> {
    let mut found = BTreeSet::new();
    loop {
        let before = found.len();
        for (k, function) in program.functions.iter().enumerate() {
            if builds(&function.body, &found) {
                found.insert(FunctionId(k as u32));
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// Whether code appends to a node table, if these functions do.
fn builds(body: &Body, building: &BTreeSet<FunctionId>) -> bool {
    let mut found = false;
    each_statement(body, &mut |statement| {
        found |= match &statement.expression {
            Expression::NodeNew { .. } => true,
            Expression::Call { function, .. } => building.contains(function),
            _ => false,
        };
    });
    found
}

struct Divider<'a> {
    program: &'a mut Program,
    effects: FunctionEffects,
    /// The functions that append to node tables, which threads cannot do at once.
    building: BTreeSet<FunctionId>,
    division: Division,
}

impl Divider<'_> {
    fn body(&mut self, body: &mut Body) {
        let mut statements = Vec::with_capacity(body.statements.len());
        for mut statement in std::mem::take(&mut body.statements) {
            if self.is_divisible(&statement) {
                self.divide(statement, &mut statements);
                continue;
            }
            bodies_mut(&mut statement.expression, &mut |inner| {
                deep(|| self.body(inner));
            });
            statements.push(statement);
        }
        body.statements = statements;
    }

    /// Whether the indices of an operation may be divided among threads.
    fn is_divisible(&self, statement: &Statement) -> bool {
        let Expression::Operation(operation) = &statement.expression else {
            return false;
        };
        let combines = |output: &Output| match output {
            Output::Map => true,
            Output::Reduce { lambda, .. } => by_component(lambda)
                .is_some_and(|all| all.iter().all(|o| o.exact || !self.division.strict)),
            Output::Scan { .. }
            | Output::Filter { .. }
            | Output::Scatter { .. }
            | Output::Histogram { .. }
            | Output::Collect { .. }
            | Output::Join { .. } => false,
        };
        operation.level == Level::Sequential
            && operation.carries.is_empty()
            && !operation.outputs.is_empty()
            && operation.outputs.iter().all(combines)
            && !self.effects.of_body(&operation.body).observable
            && !builds(&operation.body, &self.building)
            && !self.is_small(operation)
    }

    /// Whether an operation is known to cost less than two parts.
    fn is_small(&self, operation: &ArrayOperation) -> bool {
        let extents = operation.shape.iter().map(|extent| match extent {
            Atom::Constant(ScalarValue::I64(n)) => Some(*n),
            Atom::Constant(_) | Atom::Variable(_) => None,
        });
        let count: Option<i64> = extents
            .reduce(|a, b| Some(a?.saturating_mul(b?)))
            .unwrap_or_default();
        let cost = Cost::of(&operation.body).constant();
        match (count, cost) {
            (Some(count), Some(cost)) => count.saturating_mul(cost) < 2 * self.division.grain,
            _ => false,
        }
    }

    /// Writes an operation as a grid of parts, and a reduction of what these reduce to.
    fn divide(&mut self, statement: Statement, out: &mut Vec<Statement>) {
        let Statement {
            pattern,
            expression: Expression::Operation(operation),
            place,
        } = statement
        else {
            return;
        };
        let mut code = Code {
            program: self.program,
            place,
            out: Vec::new(),
        };
        let n = operation.shape.first().copied().unwrap_or(Atom::index(0));
        let size = code.part_size(n, &operation, self.division);
        let count = code.quotient_up(n, size);
        let part = code.fresh("part", Type::Scalar(Scalar::I64));
        let mut grid = Grid {
            outputs: Vec::new(),
            pattern: Vec::new(),
            partial: Vec::new(),
            reductions: Vec::new(),
            reduced: Vec::new(),
        };
        let before = std::mem::take(&mut code.out);
        let results = code.part(operation, &pattern, part, size, count, &mut grid);
        let body = Body {
            statements: std::mem::replace(&mut code.out, before),
            results,
        };
        let outputs = std::mem::take(&mut grid.outputs);
        let made = std::mem::take(&mut grid.pattern);
        code.operation(made, count, part, Level::Grid, body, outputs);
        code.reduce_partial(grid, count);
        out.append(&mut code.out);
    }
}

/// What the grid gives.
struct Grid {
    outputs: Vec<Output>,
    pattern: Vec<Variable>,
    /// The arrays of what each part reduces to.
    partial: Vec<Variable>,
    /// The reductions of these, and what they give.
    reductions: Vec<Output>,
    reduced: Vec<Variable>,
}

/// Writes statements.
struct Code<'a> {
    program: &'a mut Program,
    place: Place,
    out: Vec<Statement>,
}

impl Code<'_> {
    fn fresh(&mut self, name: &str, ty: Type) -> Variable {
        self.program.add_variable(name, ty)
    }

    fn push(&mut self, pattern: Vec<Variable>, expression: Expression) {
        self.out.push(Statement {
            pattern,
            expression,
            place: self.place.clone(),
        });
    }

    /// A scalar operation on integers that cannot fail where it stands.
    fn scalar(&mut self, operation: ScalarOperation, left: Atom, right: Atom) -> Atom {
        let values = [left, right].map(|atom| match atom {
            Atom::Constant(value) => Some(value),
            Atom::Variable(_) => None,
        });
        if let [Some(left), Some(right)] = values
            && let Ok(value) = nova_core::operations::evaluate(operation, &[left, right], true)
        {
            return Atom::Constant(value);
        }
        let result = self.fresh("t", Type::Scalar(Scalar::I64));
        let arguments = vec![left, right];
        let operand = Scalar::I64;
        self.push(
            vec![result],
            Expression::Scalar {
                operation,
                operand,
                arguments,
            },
        );
        Atom::Variable(result)
    }

    /// `⌈a / b⌉` for `a` from 0 on and `b` from 1 on.
    fn quotient_up(&mut self, a: Atom, b: Atom) -> Atom {
        let less = self.scalar(ScalarOperation::Subtract, b, Atom::index(1));
        let sum = self.scalar(ScalarOperation::Add, a, less);
        self.scalar(ScalarOperation::Divide, sum, b)
    }

    /// How many of `n` indices a part has: as many as cost the grain, and so many that there are not
    /// too many parts.
    fn part_size(&mut self, n: Atom, operation: &ArrayOperation, division: Division) -> Atom {
        let cost = self.cost(operation);
        let least = self.quotient_up(Atom::index(division.grain), cost);
        let even = self.quotient_up(n, Atom::index(division.parts));
        let size = self.scalar(ScalarOperation::Maximum, least, even);
        let size = self.scalar(ScalarOperation::Maximum, size, Atom::index(1));
        // Up to ROUND as it is, then in multiples: `(size + r) & ~r` with r = ROUND - 1 if larger.
        let above = self.scalar(ScalarOperation::ShiftRight, size, Atom::index(6));
        let some = self.scalar(ScalarOperation::Minimum, above, Atom::index(1));
        let rest = self.scalar(ScalarOperation::Multiply, some, Atom::index(ROUND - 1));
        let sum = self.scalar(ScalarOperation::Add, size, rest);
        let flipped = self.scalar(ScalarOperation::BitXor, rest, Atom::index(-1));
        self.scalar(ScalarOperation::BitAnd, sum, flipped)
    }

    /// What an index of the first dimension costs.
    fn cost(&mut self, operation: &ArrayOperation) -> Atom {
        let cost = Cost::of(&operation.body);
        let mut sum = Atom::index(cost.fixed);
        for (extents, each) in &cost.loops {
            let product = self.extent_product(extents);
            let all = self.scalar(ScalarOperation::Multiply, product, Atom::index(*each));
            sum = self.scalar(ScalarOperation::Add, sum, all);
        }
        let inner: Vec<Atom> = operation.shape.iter().skip(1).copied().collect();
        let rounds = self.extent_product(&inner);
        let all = self.scalar(ScalarOperation::Multiply, sum, rounds);
        self.scalar(ScalarOperation::Maximum, all, Atom::index(1))
    }

    /// The product of extents, each cut off where it is large enough for any purpose.
    fn extent_product(&mut self, extents: &[Atom]) -> Atom {
        let mut product = Atom::index(1);
        for extent in extents {
            let most = Atom::index(1 << 16);
            let cut = self.scalar(ScalarOperation::Minimum, *extent, most);
            product = self.scalar(ScalarOperation::Multiply, product, cut);
            product = self.scalar(ScalarOperation::Minimum, product, most);
        }
        product
    }

    /// The operation of one part; gives the results of the grid's body.
    fn part(
        &mut self,
        mut operation: ArrayOperation,
        pattern: &[Variable],
        part: Variable,
        size: Atom,
        count: Atom,
        grid: &mut Grid,
    ) -> Vec<Atom> {
        let n = operation.shape.first().copied().unwrap_or(Atom::index(0));
        let shape = operation.shape.clone();
        let first = self.scalar(ScalarOperation::Multiply, Atom::Variable(part), size);
        let left = self.scalar(ScalarOperation::Subtract, n, first);
        let length = self.scalar(ScalarOperation::Minimum, left, size);
        operation.shape[0] = length;
        let own = self.fresh("i", Type::Scalar(Scalar::I64));
        let index = std::mem::replace(&mut operation.indices[0], own);
        let global = Statement {
            pattern: vec![index],
            expression: Expression::Scalar {
                operation: ScalarOperation::Add,
                operand: Scalar::I64,
                arguments: vec![first, Atom::Variable(own)],
            },
            place: self.place.clone(),
        };
        operation.body.statements.insert(0, global);
        let mut made = Vec::new();
        let mut results = Vec::new();
        let mut given = pattern.iter().copied();
        for output in &mut operation.outputs {
            let own: Vec<Variable> = given.by_ref().take(output.gives()).collect();
            match output {
                Output::Reduce {
                    lambda,
                    start,
                    commutes,
                } => {
                    let operators = by_component(lambda).unwrap_or_default();
                    let last = fresh_lambda(self.program, lambda, &mut Substitution::default());
                    for (variable, operator) in own.iter().zip(&operators) {
                        let scalar = operator.identity.scalar();
                        let value = self.fresh("value", Type::Scalar(scalar));
                        let name = self.program.variable(*variable).name.clone();
                        let ty = Type::Array(scalar, vec![count]);
                        let partial = self.program.add_variable(name, ty);
                        grid.outputs.push(Output::Map);
                        grid.pattern.push(partial);
                        grid.partial.push(partial);
                        made.push(value);
                        results.push(Atom::Variable(value));
                    }
                    let identities = operators.iter().map(|o| Atom::Constant(o.identity));
                    let first = std::mem::replace(start, identities.collect());
                    grid.reductions.push(Output::Reduce {
                        lambda: last,
                        start: first,
                        commutes: *commutes,
                    });
                    grid.reduced.extend(own);
                }
                // All others are maps.
                _ => {
                    for array in own {
                        let ty = self.program.ty(array).element();
                        let mut extents = shape.clone();
                        extents[0] = length;
                        let name = self.program.variable(array).name.clone();
                        let values = self.program.add_variable(name, Type::Array(ty, extents));
                        grid.outputs.push(Output::Join {
                            shape: shape.clone(),
                        });
                        grid.pattern.push(array);
                        made.push(values);
                        results.extend([first, Atom::Variable(values)]);
                    }
                }
            }
        }
        self.push(made, Expression::Operation(operation));
        results
    }

    /// Reduces what the parts have given.
    fn reduce_partial(&mut self, grid: Grid, count: Atom) {
        if grid.reductions.is_empty() {
            return;
        }
        let index = self.fresh("part", Type::Scalar(Scalar::I64));
        let before = std::mem::take(&mut self.out);
        let mut results = Vec::new();
        for array in grid.partial {
            let scalar = self.program.ty(array).element();
            let value = self.fresh("value", Type::Scalar(scalar));
            let indices = vec![Atom::Variable(index)];
            self.push(vec![value], Expression::Index { array, indices });
            results.push(Atom::Variable(value));
        }
        let body = Body {
            statements: std::mem::replace(&mut self.out, before),
            results,
        };
        let (pattern, outputs) = (grid.reduced, grid.reductions);
        self.operation(pattern, count, index, Level::Sequential, body, outputs);
    }

    /// An operation over a space of one dimension.
    fn operation(
        &mut self,
        pattern: Vec<Variable>,
        count: Atom,
        index: Variable,
        level: Level,
        body: Body,
        outputs: Vec<Output>,
    ) {
        self.push(
            pattern,
            Expression::Operation(ArrayOperation {
                shape: vec![count],
                indices: vec![index],
                level,
                carries: Vec::new(),
                body,
                outputs,
            }),
        );
    }
}
