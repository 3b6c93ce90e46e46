//! Scatters that are stored by threads of a device.
//!
//! Of several values for one element the last wins, wherever its thread is. So threads first claim
//! elements. Next to the destination there is a number for each of its elements, which becomes the
//! greatest index whose value goes there. Then the thread of that index stores its value, and no other
//! thread does.
//!
//! That takes three kernels, each over the values, and none over the destination. The first one sets
//! the numbers of all elements that will be claimed, so the cost of a few values does not depend on the
//! number of elements. Values that are the same for all indices need no claims. As for blocks
//! ([`crate::stored`]), the size of the array decides, not that of what is stored.
//!
//! Anything but reads of elements and a few operations is computed before, into arrays.

use crate::limits::STATEMENTS_COMPUTED_AGAIN;
use crate::paralleliser::Paralleliser;
use crate::stored::store_or_leave;
use crate::stores::{Contended, contended, has_operations, is_given, is_same, leave_order};
use crate::writer::{Writer, fresh_operation};
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::Place;
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Level, Output, Positions, Statement, Type, Variable,
};
use nova_opt::cheap::is_cheap;

/// The number of an element that no index has claimed.
const NOBODY: ScalarValue = ScalarValue::I32(-1);

/// True if a body may be computed again in each of several kernels.
fn is_light(body: &Body) -> bool {
    let statements = &body.statements;
    statements.len() <= STATEMENTS_COMPUTED_AGAIN
        && statements.iter().all(|s| is_cheap(&s.expression))
}

impl Paralleliser<'_> {
    /// Writes an operation that scatters as a choice by the size of the arrays: the operation itself,
    /// or threads for its indices.
    pub(crate) fn parallelise_scatter(
        &mut self,
        pattern: Vec<Variable>,
        operation: ArrayOperation,
        place: Place,
        out: &mut Vec<Statement>,
    ) {
        let contended = contended(&operation);
        let is_ready = match contended.is_empty() {
            true => !has_operations(&operation.body),
            false => is_light(&operation.body),
        };
        if is_ready {
            return self.parallelise_ready_scatter(pattern, operation, place, out);
        }
        let (computes, pattern, stores) = self.computed_before(pattern, operation, &place);
        let mut body = Body {
            statements: vec![computes],
            results: Vec::new(),
        };
        self.body(&mut body);
        out.append(&mut body.statements);
        self.parallelise_ready_scatter(pattern, stores, place, out);
    }

    /// Does the same for an operation whose body each kernel may compute.
    fn parallelise_ready_scatter(
        &mut self,
        pattern: Vec<Variable>,
        operation: ArrayOperation,
        place: Place,
        out: &mut Vec<Statement>,
    ) {
        let contended = contended(&operation);
        self.note_stores(&pattern, !contended.is_empty());
        let mut code = Writer::new(self.program, place, self.parallelism);
        let least = 2 * self.parallelism.grain;
        let condition = is_worth_scattering(&mut code, &operation, !contended.is_empty(), least);
        let whole = code.fresh_whole(&operation);
        let notes = &mut self.notes;
        store_or_leave(&mut code, &pattern, condition, whole, notes, |code| {
            let mut parallelised = operation;
            leave_order(&mut parallelised);
            for scatter in contended {
                claim(code, &mut parallelised, &scatter);
            }
            parallelised
        });
        out.append(&mut code.out);
    }

    /// Splits an operation that scatters in two: one that computes positions and values into arrays,
    /// and one that scatters these.
    fn computed_before(
        &mut self,
        pattern: Vec<Variable>,
        mut operation: ArrayOperation,
        place: &Place,
    ) -> (Statement, Vec<Variable>, ArrayOperation) {
        let mut code = Writer::new(self.program, place.clone(), self.parallelism);
        let index = code.fresh("i", Scalar::I64);
        let outputs = std::mem::take(&mut operation.outputs);
        let results = std::mem::take(&mut operation.body.results);
        let mut given = pattern.into_iter();
        let mut consumed = results.into_iter();
        let (mut first, mut second): (Vec<Variable>, Vec<Variable>) = Default::default();
        let mut scatters = Vec::new();
        let inner = operation.clone();
        let (statements, stored) = code.apart(|code| {
            let mut stored = Vec::new();
            for output in outputs {
                let own = given.by_ref().take(output.gives());
                let values = consumed.by_ref().take(output.consumes());
                if !is_given(&output) {
                    first.extend(own);
                    operation.body.results.extend(values);
                    operation.outputs.push(output);
                    continue;
                }
                second.extend(own);
                for value in values {
                    if is_same(&inner, value) {
                        stored.push(value);
                        continue;
                    }
                    let scalar = code.program.scalar_of(value).unwrap_or(Scalar::I64);
                    let ty = Type::Array(scalar, operation.shape.clone());
                    let array = code.program.add_variable("stored", ty);
                    first.push(array);
                    operation.body.results.push(value);
                    operation.outputs.push(Output::Map);
                    stored.push(code.element(array, Atom::Variable(index)));
                }
                scatters.push(output);
            }
            stored
        });
        let stores = ArrayOperation {
            shape: operation.shape.clone(),
            indices: vec![index],
            level: Level::Sequential,
            strategy: None,
            carries: Vec::new(),
            body: Body {
                statements,
                results: stored,
            },
            outputs: scatters,
        };
        let computes = Statement {
            pattern: first,
            expression: Expression::Operation(operation),
            place: place.clone(),
        };
        (computes, second, stores)
    }
}

/// True if threads should store what an operation scatters: one of its arrays is large, and indices
/// fit into the numbers of claims.
fn is_worth_scattering(
    code: &mut Writer,
    operation: &ArrayOperation,
    claims: bool,
    least: i64,
) -> Atom {
    let count = operation.shape.first().copied().unwrap_or(Atom::index(0));
    let mut largest = count;
    for output in &operation.outputs {
        if let Output::Scatter { destinations, .. } = output
            && let Some(array) = destinations.first()
            && let Some(extent) = code.program.ty(*array).shape().first().copied()
        {
            largest = code.scalar(ScalarOperation::Maximum, largest, extent);
        }
    }
    let is_large = code.compare(ScalarOperation::GreaterEqual, largest, Atom::index(least));
    if !claims {
        return is_large;
    }
    let most = Atom::index(i64::from(i32::MAX));
    let fits = code.compare(ScalarOperation::LessEqual, count, most);
    code.both(is_large, fits)
}

/// Writes kernels in which indices claim the elements of their values. Makes an operation store the
/// values of the greatest index only.
fn claim(code: &mut Writer, operation: &mut ArrayOperation, scatter: &Contended) {
    let extents = code.program.ty(scatter.destination).shape().to_vec();
    let (Some(position), Some(extent)) = (
        operation.body.results.get(scatter.position).copied(),
        extents.first().copied(),
    ) else {
        return;
    };
    let mut claims = room(code, "claims", Scalar::I32, extent);
    for positions in [Positions::Unordered, Positions::Greatest] {
        let mut kernel = positions_of(code, operation, position);
        let (mut statements, value) = code.apart(|code| match positions == Positions::Greatest {
            true => claimant(code, &kernel),
            false => Atom::Constant(NOBODY),
        });
        kernel.body.statements.append(&mut statements);
        kernel.body.results.push(value);
        kernel.outputs = vec![Output::Scatter {
            destinations: vec![claims],
            positions,
        }];
        claims = code.like(claims, vec![extent]);
        code.push(vec![claims], Expression::Operation(kernel));
    }
    let (mut statements, own) = code.apart(|code| {
        let claimant = claimant(code, operation);
        position_of_winner(code, (position, extent), claims, claimant)
    });
    operation.body.statements.append(&mut statements);
    if let Some(result) = operation.body.results.get_mut(scatter.position) {
        *result = own;
    }
}

/// Returns the number with which an operation's index claims elements.
fn claimant(code: &mut Writer, operation: &ArrayOperation) -> Atom {
    let index = operation.indices.first().copied();
    let index = index.map_or(Atom::index(0), Atom::Variable);
    let wrap = ScalarOperation::Wrap(Scalar::I32);
    code.compute(wrap, Scalar::I64, &[index], Scalar::I32)
}

/// Returns the position of a value if it has won the element there, else one that is outside.
fn position_of_winner(
    code: &mut Writer,
    (position, extent): (Atom, Atom),
    claims: Variable,
    claimant: Atom,
) -> Atom {
    let from = code.compare(ScalarOperation::GreaterEqual, position, Atom::index(0));
    let to = code.compare(ScalarOperation::Less, position, extent);
    let is_inside = code.both(from, to);
    let wins = code.choose_one(
        is_inside,
        Scalar::Bool,
        |code| {
            let both = [code.element(claims, position), claimant];
            code.compute(ScalarOperation::Equal, Scalar::I32, &both, Scalar::Bool)
        },
        |_| Atom::Constant(ScalarValue::Bool(false)),
    );
    code.choose_one(wins, Scalar::I64, |_| position, |_| Atom::index(-1))
}

/// Returns a grid over the indices of an operation that computes its positions, without outputs.
fn positions_of(code: &mut Writer, operation: &ArrayOperation, position: Atom) -> ArrayOperation {
    let mut alone = ArrayOperation {
        outputs: Vec::new(),
        ..operation.clone()
    };
    alone.body.results = vec![position];
    let mut copy = fresh_operation(code.program, &alone);
    copy.level = Level::Grid;
    copy
}

/// Creates an array whose elements may not be read before they are stored.
fn room(code: &mut Writer, name: &str, scalar: Scalar, extent: Atom) -> Variable {
    let room = code
        .program
        .add_variable(name, Type::Array(scalar, vec![extent]));
    let value = Atom::Constant(ScalarValue::from_integer_wrapping(scalar, 0));
    if extent == Atom::index(0) {
        let shape = vec![extent];
        code.push(vec![room], Expression::Replicate { shape, value });
        return room;
    }
    let index = code.fresh("none", Scalar::I64);
    let chunk = Type::Array(scalar, vec![Atom::index(1)]);
    let chunk = code.program.add_variable("chunk", chunk);
    let body = code.body(|code| {
        let replicate = Expression::Replicate {
            shape: vec![Atom::index(1)],
            value,
        };
        code.push(vec![chunk], replicate);
        vec![Atom::index(0), Atom::Variable(chunk)]
    });
    let output = Output::Join {
        shape: vec![extent],
    };
    let none = Atom::index(0);
    code.operation(vec![room], none, index, Level::Grid, body, vec![output]);
    room
}
