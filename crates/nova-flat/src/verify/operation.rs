//! The rules of the array operation and its outputs.

use super::{INSIDE, Result, Verifier};
use crate::ir::{ArrayOperation, Atom, Level, Output, Positions, Type, Variable};
use crate::visit::Substitution;
use nova_core::{Scalar, Strategy, strategy};

impl<'a> Verifier<'a> {
    pub(super) fn operation(
        &mut self,
        operation: &'a ArrayOperation,
        pattern: &[Variable],
    ) -> Result<()> {
        let ArrayOperation {
            shape,
            indices,
            level,
            strategy,
            carries,
            body,
            outputs,
        } = operation;
        self.require(!shape.is_empty(), || {
            "an operation without extents".to_string()
        })?;
        shape.iter().try_for_each(|extent| self.extent(*extent))?;
        self.require(shape.len() == indices.len(), || {
            format!("{} indices for {} extents", indices.len(), shape.len())
        })?;
        if let Some(strategy) = strategy {
            self.strategy(*strategy, *level)?;
        }
        match level {
            Level::Sequential => {}
            Level::Grid => {
                let joins = |o: &Output| match o {
                    Output::Map | Output::Join { .. } | Output::Collect { .. } => true,
                    Output::Scatter { positions, .. } => positions.are_orderless(),
                    Output::Reduce { .. }
                    | Output::Scan { .. }
                    | Output::Filter { .. }
                    | Output::Histogram { .. } => false,
                };
                let groups = |s: &Strategy| s.level == strategy::Level::Workgroup;
                let may_carry = strategy.as_ref().is_some_and(groups);
                let fits = (carries.is_empty() || may_carry) && outputs.iter().all(joins);
                self.require(fits, || {
                    "a grid with carries, or outputs in order".to_string()
                })?;
            }
        }
        let gives: usize = outputs.iter().map(Output::gives).sum();
        let Some((carried, given)) = pattern.split_at_checked(carries.len()) else {
            return self.fail("an operation with too few results");
        };
        self.require(given.len() == gives, || {
            format!("{} variables for {gives} results of outputs", given.len())
        })?;
        let (names, starts): (Vec<Variable>, Vec<Atom>) = carries.iter().copied().unzip();
        let outside = self.scope.len();
        for index in indices {
            self.bind(*index)?;
            self.is(Atom::Variable(*index), Scalar::I64)?;
        }
        self.are_states(&names, &starts)?;
        self.statements(body, INSIDE)?;
        let Some((next, consumed)) = body.results.split_at_checked(names.len()) else {
            return self.fail("a body with too few results");
        };
        self.meet(&names, next)?;
        self.meet_pattern(&names, carried, Substitution::default())?;
        // The types that the outputs consume are checked while the variables of the body are in scope.
        // Their lambdas and destinations see only variables from outside.
        let types = self.all_consumed(outputs, consumed)?;
        self.leave(outside);
        let mut given = given;
        for (output, types) in outputs.iter().zip(types) {
            let (own, rest) = given.split_at(output.gives());
            self.output(output, shape, &types, own)?;
            given = rest;
        }
        Ok(())
    }

    /// Checks that a strategy allows a grid: the operation must be assigned to many threads, neither to
    /// one thread nor to the work-items of one group.
    fn strategy(&self, strategy: Strategy, level: Level) -> Result<()> {
        let by_many = match strategy.level {
            strategy::Level::Global | strategy::Level::Workgroup => true,
            strategy::Level::Sequential | strategy::Level::Local => false,
        };
        self.require(by_many || level == Level::Sequential, || {
            "a grid of what its strategy gives to one thread".to_string()
        })
    }

    /// Returns the element types of the values that each output consumes.
    fn all_consumed(&self, outputs: &[Output], mut consumed: &[Atom]) -> Result<Vec<Vec<Scalar>>> {
        let mut types = Vec::new();
        for output in outputs {
            let Some((own, rest)) = consumed.split_at_checked(output.consumes()) else {
                return self.fail("a body with too few results for the outputs");
            };
            types.push(self.consumed(output, own)?);
            consumed = rest;
        }
        self.require(consumed.is_empty(), || {
            "a body with too many results".to_string()
        })?;
        Ok(types)
    }

    /// Returns the element types of the values that an output consumes, except its index, condition or
    /// length.
    fn consumed(&self, output: &Output, own: &[Atom]) -> Result<Vec<Scalar>> {
        let own = match (output, own) {
            (Output::Histogram { guarded: true, .. }, [guard, own @ ..]) => {
                self.is(*guard, Scalar::Bool)?;
                own
            }
            _others => own,
        };
        let (first, values) = match output {
            Output::Map | Output::Reduce { .. } | Output::Scan { .. } => (None, own),
            Output::Filter { .. } => (Some(Scalar::Bool), &own[1..]),
            Output::Scatter { positions, .. } if !positions.are_given() => (None, own),
            Output::Scatter { .. }
            | Output::Histogram { .. }
            | Output::Collect { .. }
            | Output::Join { .. } => (Some(Scalar::I64), &own[1..]),
        };
        if let (Some(expected), Some(first)) = (first, own.first()) {
            self.is(*first, expected)?;
        }
        let mut types = Vec::new();
        for value in values {
            match (output, value) {
                (Output::Collect { .. }, Atom::Variable(array)) => {
                    let (scalar, shape) = self.array(*array)?;
                    let fits = shape.len() == 1 && self.same(shape[0], own[0]);
                    self.require(fits, || "a row of another length".to_string())?;
                    types.push(scalar);
                }
                (Output::Join { shape }, Atom::Variable(array)) => {
                    let (scalar, own) = self.array(*array)?;
                    let pairs = own.iter().zip(shape).skip(1);
                    let fits = own.len() == shape.len()
                        && !own.is_empty()
                        && pairs.into_iter().all(|(a, b)| self.same(*a, *b));
                    self.require(fits, || "a chunk of another shape".to_string())?;
                    types.push(scalar);
                }
                (_, value) => types.push(self.scalar(*value)?),
            }
        }
        Ok(types)
    }

    /// Checks an output on values of these types, and the variables that it gives.
    fn output(
        &mut self,
        output: &'a Output,
        shape: &[Atom],
        values: &[Scalar],
        pattern: &[Variable],
    ) -> Result<()> {
        let vectors = |extent: Atom| {
            let vector = |scalar: &Scalar| Type::Array(*scalar, vec![extent]);
            values.iter().map(vector).collect::<Vec<Type>>()
        };
        self.demands(output, shape)?;
        let own = |k: usize| {
            pattern
                .get(k)
                .map_or(Atom::index(0), |v| Atom::Variable(*v))
        };
        let n = shape[0];
        let types = match output {
            Output::Map => values
                .iter()
                .map(|s| Type::Array(*s, shape.to_vec()))
                .collect(),
            Output::Reduce { lambda, start, .. } => {
                self.operator(lambda, start, values)?;
                values.iter().map(|s| Type::Scalar(*s)).collect()
            }
            Output::Scan { lambda, start, .. } => {
                self.operator(lambda, start, values)?;
                vectors(n)
            }
            Output::Filter { .. } => {
                let mut types = vec![Type::Scalar(Scalar::I64)];
                types.extend(vectors(own(0)));
                types
            }
            Output::Scatter {
                destinations,
                positions,
            } => {
                if let Positions::Block(starts) = positions {
                    self.are(starts, Scalar::I64)?;
                    self.require(starts.len() == shape.len(), || {
                        "a block with another number of starts".to_string()
                    })?;
                }
                if *positions == Positions::Greatest {
                    self.require(values.iter().all(|s| s.is_integer()), || {
                        "the greatest of what is no integer".to_string()
                    })?;
                }
                self.destinations(destinations, values, shape.len())?
            }
            Output::Histogram {
                lambda,
                start,
                bins,
                guarded: _,
            } => {
                self.extent(*bins)?;
                self.operator(lambda, start, values)?;
                vectors(*bins)
            }
            Output::Collect { .. } => {
                let descriptor = Type::Array(Scalar::I64, vec![n]);
                let mut types = vec![descriptor.clone(), descriptor, Type::Scalar(Scalar::I64)];
                types.extend(vectors(own(2)));
                types
            }
            Output::Join { shape } => {
                shape.iter().try_for_each(|extent| self.extent(*extent))?;
                let joined = |s: &Scalar| Type::Array(*s, shape.clone());
                values.iter().map(joined).collect()
            }
        };
        self.gives_all(pattern, &types)
    }

    /// Checks that only some outputs have a space of several dimensions.
    fn demands(&self, output: &Output, shape: &[Atom]) -> Result<()> {
        let accepted = match output {
            Output::Map | Output::Reduce { .. } | Output::Histogram { .. } => true,
            Output::Scatter { positions, .. } if !positions.are_given() => true,
            Output::Scan { .. }
            | Output::Filter { .. }
            | Output::Scatter { .. }
            | Output::Collect { .. }
            | Output::Join { .. } => shape.len() == 1,
        };
        self.require(accepted, || {
            "an output that demands a space of rank 1".to_string()
        })
    }

    /// Checks the operator and start value of a reduction.
    fn operator(
        &mut self,
        lambda: &'a crate::ir::Lambda,
        start: &[Atom],
        values: &[Scalar],
    ) -> Result<()> {
        for (start, value) in start.iter().zip(values) {
            self.is(*start, *value)?;
        }
        self.lambda(lambda, &[values, values].concat(), values)
    }

    fn destinations(
        &self,
        destinations: &[Variable],
        values: &[Scalar],
        rank: usize,
    ) -> Result<Vec<Type>> {
        let mut types = Vec::new();
        let mut first: Option<&[Atom]> = None;
        for (destination, value) in destinations.iter().zip(values) {
            let (scalar, shape) = self.array(*destination)?;
            let mut pairs = shape.iter().zip(*first.get_or_insert(shape));
            let agree = shape.len() == rank && pairs.all(|(own, first)| self.same(*first, *own));
            self.require(scalar == *value && agree, || {
                "a destination of another type or shape".to_string()
            })?;
            types.push(Type::Array(scalar, shape.to_vec()));
        }
        Ok(types)
    }
}
