//! Foreign functions that are code of the device: their callers run there, whatever they cost, since
//! the host has no such function. A map that calls one is a grid. For another operation without state,
//! a grid computes the results of the body, and the operation reads these. A call that remains, in a
//! sequential loop or in none, is a grid of one index.

use crate::shared::{NodeMakers, may_share, writes_apart};
use nova_core::ir::ForeignKind;
use nova_diag::{Place, deep};
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Level, Output, Program, Statement, Type, Variable,
};
use nova_flat::visit::bodies_mut;
use nova_opt::effects::FunctionEffects;
use std::collections::BTreeMap;

/// True if a program has functions of the device.
pub(crate) fn has_any(program: &Program) -> bool {
    program.foreigns.iter().any(|foreign| match foreign.kind {
        ForeignKind::Device => true,
        ForeignKind::Plain | ForeignKind::Effect => false,
    })
}

/// Gives all calls of functions of the device to threads of the device.
pub(crate) fn place(program: &mut Program, effects: &FunctionEffects, makers: &NodeMakers) {
    if !has_any(program) {
        return;
    }
    for k in 0..program.functions.len() {
        let mut body = std::mem::take(&mut program.functions[k].body);
        let mut placing = Placing {
            program: &mut *program,
            effects,
            makers,
        };
        placing.body(&mut body);
        program.functions[k].body = body;
    }
}

struct Placing<'a> {
    program: &'a mut Program,
    effects: &'a FunctionEffects,
    makers: &'a NodeMakers,
}

impl Placing<'_> {
    fn body(&mut self, body: &mut Body) {
        let mut statements = Vec::with_capacity(body.statements.len());
        for statement in std::mem::take(&mut body.statements) {
            self.statement(statement, &mut statements);
        }
        body.statements = statements;
    }

    fn statement(&mut self, mut statement: Statement, out: &mut Vec<Statement>) {
        let Statement {
            pattern,
            expression,
            place,
        } = &mut statement;
        match expression {
            Expression::Operation(operation) if operation.level == Level::Grid => {}
            Expression::Operation(operation) if self.can_be_given(operation) => {
                if operation.outputs.iter().all(writes_apart) {
                    operation.level = Level::Grid;
                } else if let Some(first) = self.split(operation, place) {
                    out.push(first);
                }
            }
            Expression::Foreign { .. } if self.effects.own(expression).device => {
                let call = std::mem::replace(expression, Expression::Atom(Atom::index(0)));
                let pattern = std::mem::take(pattern);
                return self.one(call, pattern, place, out);
            }
            _ => {}
        }
        let is_grid = matches!(expression, Expression::Operation(operation) if operation.level == Level::Grid);
        if !is_grid {
            bodies_mut(expression, &mut |inner| deep(|| self.body(inner)));
        }
        out.push(statement);
    }

    /// True if an operation calls functions of the device for each of its indices, and threads of the
    /// device may share these.
    fn can_be_given(&self, operation: &ArrayOperation) -> bool {
        let effects = self.effects.of_body(&operation.body);
        effects.device
            && operation.carries.is_empty()
            && !operation.is_marked()
            && may_share(effects, true)
            && !self.makers.may_run_in(&operation.body)
    }

    /// Moves the body of an operation to a grid, if it gives numbers only. The grid computes these for
    /// each index, and the operation reads them.
    fn split(&mut self, operation: &mut ArrayOperation, place: &Place) -> Option<Statement> {
        let mut arrays: BTreeMap<Variable, Variable> = BTreeMap::new();
        for result in &operation.body.results {
            if let Atom::Variable(variable) = result
                && !operation.indices.contains(variable)
            {
                let Type::Scalar(scalar) = *self.program.ty(*variable) else {
                    return None;
                };
                let ty = Type::Array(scalar, operation.shape.clone());
                let name = self.program.variable(*variable).name.clone();
                let array = self.program.add_variable(name, ty);
                arrays.insert(*variable, array);
            }
        }
        let indices: Vec<Variable> = operation
            .indices
            .iter()
            .map(|index| {
                let info = self.program.variable(*index).clone();
                self.program.add_variable(info.name, info.ty)
            })
            .collect();
        let mut reads = Vec::with_capacity(arrays.len());
        let mut read: BTreeMap<Variable, Variable> = BTreeMap::new();
        read.extend(
            operation
                .indices
                .iter()
                .copied()
                .zip(indices.iter().copied()),
        );
        for (variable, array) in &arrays {
            let info = self.program.variable(*variable).clone();
            let element = self.program.add_variable(info.name, info.ty);
            read.insert(*variable, element);
            reads.push(Statement {
                pattern: vec![element],
                expression: Expression::Index {
                    array: *array,
                    indices: indices.iter().map(|i| Atom::Variable(*i)).collect(),
                },
                place: place.clone(),
            });
        }
        let renamed = |atom: &Atom| match atom {
            Atom::Variable(v) => Atom::Variable(read.get(v).copied().unwrap_or(*v)),
            Atom::Constant(_) => *atom,
        };
        let results = operation.body.results.iter().map(renamed).collect();
        let after = Body {
            statements: reads,
            results,
        };
        let mut before = std::mem::replace(&mut operation.body, after);
        before.results = arrays.keys().map(|v| Atom::Variable(*v)).collect();
        let grid = ArrayOperation {
            shape: operation.shape.clone(),
            indices: std::mem::replace(&mut operation.indices, indices),
            level: Level::Grid,
            strategy: None,
            carries: Vec::new(),
            body: before,
            outputs: vec![Output::Map; arrays.len()],
        };
        Some(Statement {
            pattern: arrays.into_values().collect(),
            expression: Expression::Operation(grid),
            place: place.clone(),
        })
    }

    /// Writes a call as a grid of one index.
    fn one(
        &mut self,
        call: Expression,
        pattern: Vec<Variable>,
        place: &Place,
        out: &mut Vec<Statement>,
    ) {
        let one = Atom::index(1);
        let index = self.program.add_variable("one", INDEX);
        let mut inner = Vec::with_capacity(pattern.len());
        let mut arrays = Vec::with_capacity(pattern.len());
        let mut reads = Vec::with_capacity(pattern.len());
        for variable in pattern {
            let info = self.program.variable(variable).clone();
            let Type::Scalar(scalar) = info.ty else {
                continue;
            };
            inner.push(self.program.add_variable(info.name.clone(), info.ty));
            let ty = Type::Array(scalar, vec![one]);
            let array = self.program.add_variable(info.name, ty);
            arrays.push(array);
            reads.push(Statement {
                pattern: vec![variable],
                expression: Expression::Index {
                    array,
                    indices: vec![Atom::index(0)],
                },
                place: place.clone(),
            });
        }
        let grid = ArrayOperation {
            shape: vec![one],
            indices: vec![index],
            level: Level::Grid,
            strategy: None,
            carries: Vec::new(),
            outputs: vec![Output::Map; arrays.len()],
            body: Body {
                results: inner.iter().map(|v| Atom::Variable(*v)).collect(),
                statements: vec![Statement {
                    pattern: inner,
                    expression: call,
                    place: place.clone(),
                }],
            },
        };
        out.push(Statement {
            pattern: arrays,
            expression: Expression::Operation(grid),
            place: place.clone(),
        });
        out.append(&mut reads);
    }
}

const INDEX: Type = Type::Scalar(nova_core::Scalar::I64);
