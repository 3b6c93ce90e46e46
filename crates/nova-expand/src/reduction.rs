//! Reductions, in the order of docs/order.md. Elements go to the lanes of a block, or to contiguous chunks,
//! whose results the tree of adjacent pairs combines ([`crate::tree`]). Where the order makes no difference,
//! or need not be strict, a reduction is a left fold into variables. [`crate::lanes`] has the loops that fill
//! whole rows of lanes; here each element finds its lane by its number.

use crate::accumulators::{Blocks, Kind, Reduction, RowLanes, at, firsts, remainder, zero};
use crate::rows::{bounds_of, is_number};
use crate::space::{Rows, Space};
use crate::terms::{Term, variables_as_terms};
use crate::translator::{INDEX, Result, Translator};
use nova_core::order::{BLOCK, LANES};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::Place;
use nova_flat::ir as flat;
use nova_flat::ir::Bracketing;
use nova_flat::operators::by_component;
use nova_loop::error::internal;
use nova_loop::ir::{Command, Expression, Type, Variable};

impl<'a> Translator<'a> {
    /// Prepares a reduction.
    pub(crate) fn start_reduction(
        &mut self,
        lambda: &'a flat::Lambda,
        start: &[flat::Atom],
        (commutes, bracketing): (bool, Bracketing),
        pattern: &'a [flat::Variable],
        space: &Space,
    ) -> Result<Reduction<'a>> {
        let operators = by_component(lambda);
        let exact = operators
            .as_ref()
            .is_some_and(|all| all.iter().all(|operator| operator.exact));
        let mut starts = Vec::with_capacity(start.len());
        for atom in start {
            starts.push((self.scalar(*atom)?, self.scalar_type(*atom)?));
        }
        let scalars: Vec<Scalar> = starts.iter().map(|s| s.1).collect();
        let numbers: Vec<bool> = starts.iter().map(|s| is_number(&s.0)).collect();
        let names: Vec<_> = pattern.iter().map(|v| self.name(*v)).collect();
        let names: Vec<&str> = names.iter().map(|n| &**n).collect();
        let kind = if let (Rows::Of(schedule), Some(operators)) = (&space.rows, operators) {
            let lanes = self.buffers("lanes", &scalars, schedule.width);
            let blocks = match schedule.whole {
                true => Blocks::Whole(self.accumulators(&names, &starts)),
                false => Blocks::Tree(self.start_tree(starts, bracketing)),
            };
            let bounds = match self.program.strict {
                true => None,
                false => bounds_of(&operators, &numbers),
            };
            let identities = match &bounds {
                Some(bounds) => bounds.iter().map(|b| b.farthest).collect(),
                None => operators.iter().map(|o| o.identity).collect(),
            };
            Kind::Rows(RowLanes {
                lanes,
                width: schedule.width,
                fixed_block: Vec::new(),
                identities,
                bounds,
                blocks,
            })
        } else if bracketing == Bracketing::Pairs {
            Kind::Pairs(self.start_tree(starts, bracketing))
        } else if bracketing == Bracketing::Left {
            Kind::Left(self.accumulators(&names, &starts))
        } else if commutes && !exact {
            let lanes = self.buffers("lanes", &scalars, LANES as u32);
            let tree = self.start_tree(starts, bracketing);
            Kind::Lanes { lanes, tree }
        } else if self.program.strict && !commutes {
            let tree = self.start_tree(starts, bracketing);
            let running = self.unset("piece", &scalars);
            Kind::Chunks { running, tree }
        } else if bracketing == Bracketing::Chunk {
            Kind::Left(self.accumulators(&names, &starts))
        } else {
            Kind::Fold(self.accumulators(&names, &starts))
        };
        Ok(Reduction {
            lambda,
            pattern,
            scalars,
            kind,
        })
    }

    /// Consumes the next element.
    pub(crate) fn consume_reduction(
        &mut self,
        reduction: &Reduction<'a>,
        values: &[flat::Atom],
        space: &Space,
    ) -> Result<()> {
        let lambda = reduction.lambda;
        match &reduction.kind {
            Kind::Fold(accumulators) => {
                let mut arguments = variables_as_terms(accumulators);
                for value in values {
                    arguments.push(self.term(*value)?);
                }
                self.apply_to(lambda, arguments, accumulators)
            }
            Kind::Lanes { lanes, tree } => {
                let values = self.simple_values(values)?;
                self.flush_loads()?;
                self.fill_lanes(reduction, lanes, &values, space)?;
                let last = self.is_block_end(space, BLOCK);
                self.when(last, |this| {
                    this.combine_lanes(reduction, lanes, space)?;
                    let block = firsts(lanes);
                    this.push_subtree(reduction, tree, block, group(space, BLOCK), &space.place)
                })
            }
            Kind::Rows(rows) => {
                let values = self.scalars(values)?;
                match &space.rows {
                    Rows::At { lane } => self.combine_rows(reduction, rows, lane, values),
                    Rows::Alone => self.combine_alone(reduction, rows, values),
                    Rows::FixedBlock { lane } => {
                        for (pointer, value) in rows.fixed_block.iter().zip(values) {
                            self.set_element(*pointer, lane.clone(), value);
                        }
                        Ok(())
                    }
                    Rows::None | Rows::Of(_) => Err(internal("a row without a lane")),
                }
            }
            Kind::Pairs(tree) => {
                let values = self.simple_values(values)?;
                self.flush_loads()?;
                self.push_subtree(reduction, tree, values, space.number.clone(), &space.place)
            }
            Kind::Left(accumulators) => {
                let values = self.simple_values(values)?;
                self.flush_loads()?;
                let first = space.number.clone();
                let first = first.compare(ScalarOperation::Equal, zero());
                self.fold_from_first(lambda, accumulators, &values, first)
            }
            Kind::Chunks { running, tree } => {
                let values = self.simple_values(values)?;
                self.flush_loads()?;
                self.fold_chunk(lambda, running, &values, space)?;
                let last = self.is_block_end(space, LANES);
                self.when(last, |this| {
                    let chunk = running.iter().map(|r| Expression::Variable(*r)).collect();
                    this.push_subtree(reduction, tree, chunk, group(space, LANES), &space.place)
                })
            }
        }
    }

    /// Binds the results.
    pub(crate) fn finish_reduction(
        &mut self,
        reduction: Reduction<'a>,
        place: &Place,
    ) -> Result<()> {
        let tree = match &reduction.kind {
            Kind::Fold(accumulators)
            | Kind::Left(accumulators)
            | Kind::Rows(RowLanes {
                blocks: Blocks::Whole(accumulators),
                ..
            }) => {
                for (variable, accumulator) in reduction.pattern.iter().zip(accumulators) {
                    self.bind_simple(*variable, Expression::Variable(*accumulator))?;
                }
                return Ok(());
            }
            Kind::Lanes { tree, .. }
            | Kind::Chunks { tree, .. }
            | Kind::Pairs(tree)
            | Kind::Rows(RowLanes {
                blocks: Blocks::Tree(tree),
                ..
            }) => tree,
        };
        self.combine_subtrees(&reduction, tree, None, place)?;
        let components = reduction.pattern.iter().zip(&reduction.scalars);
        for ((variable, scalar), subtrees) in components.zip(&tree.subtrees) {
            let name = self.name(*variable);
            let result = self.declare(name, Type::Scalar(*scalar), at(*subtrees, zero()));
            self.bind_simple(*variable, Expression::Variable(result))?;
        }
        Ok(())
    }

    /// Returns values as variables or constants.
    pub(crate) fn simple_values(&mut self, values: &[flat::Atom]) -> Result<Vec<Expression>> {
        values.iter().map(|v| self.simple(*v)).collect()
    }

    /// Declares variables with the placeholder 0, one for each component.
    pub(crate) fn unset(&mut self, name: &str, scalars: &[Scalar]) -> Vec<Variable> {
        let mut variables = Vec::with_capacity(scalars.len());
        for scalar in scalars {
            let zero = nova_core::ScalarValue::from_integer_wrapping(*scalar, 0);
            let zero = Expression::Constant(zero);
            variables.push(self.declare(name, Type::Scalar(*scalar), zero));
        }
        variables
    }

    /// Applies an operator to its left and right operands, and assigns its results.
    pub(crate) fn apply_to(
        &mut self,
        lambda: &'a flat::Lambda,
        arguments: Vec<Term>,
        targets: &[Variable],
    ) -> Result<()> {
        self.apply(lambda, arguments, |this, results| {
            let values = this.scalars(results)?;
            this.assign_together(targets.iter().copied().zip(values).collect());
            Ok(())
        })?;
        Ok(())
    }

    /// Updates the running fold of a chunk, which starts again at the chunk's first element.
    pub(crate) fn fold_chunk(
        &mut self,
        lambda: &'a flat::Lambda,
        running: &[Variable],
        values: &[Expression],
        space: &Space,
    ) -> Result<()> {
        let first = remainder(&space.number, LANES).compare(ScalarOperation::Equal, zero());
        self.fold_from_first(lambda, running, values, first)
    }

    /// `running := x` for the first element, else `running ⊕ x`.
    fn fold_from_first(
        &mut self,
        lambda: &'a flat::Lambda,
        running: &[Variable],
        values: &[Expression],
        first: Expression,
    ) -> Result<()> {
        self.choose(
            first,
            |this| {
                for (variable, value) in running.iter().zip(values) {
                    this.assign(*variable, value.clone());
                }
                Ok(())
            },
            |this| {
                let mut arguments = variables_as_terms(running);
                arguments.extend(values.iter().cloned().map(Term::new));
                this.apply_to(lambda, arguments, running)
            },
        )
    }

    /// Returns the condition that this element is the last of a group of `size`, or of all.
    fn is_block_end(&self, space: &Space, size: usize) -> Expression {
        let last = Expression::index(size as i64 - 1);
        let at_end = remainder(&space.number, size).compare(ScalarOperation::Equal, last);
        at_end.or(is_last(space))
    }

    /// `lane[k % 32] ⊕= x`, or `= x` for the first element of each lane in the block.
    fn fill_lanes(
        &mut self,
        reduction: &Reduction<'a>,
        lanes: &[Variable],
        values: &[Expression],
        space: &Space,
    ) -> Result<()> {
        let lane = self.declare("lane", INDEX, remainder(&space.number, LANES));
        let lane = Expression::Variable(lane);
        let count = Expression::index(LANES as i64);
        let first = remainder(&space.number, BLOCK).compare(ScalarOperation::Less, count);
        self.choose(
            first,
            |this| {
                for (pointer, value) in lanes.iter().zip(values) {
                    this.set_element(*pointer, lane.clone(), value.clone());
                }
                Ok(())
            },
            |this| this.combine(reduction, lanes, &lane, values.to_vec()),
        )
    }

    /// `lane[l] ⊕= lane[l + half]` for half = 16, 8, 4, 2, 1, where both exist.
    fn combine_lanes(
        &mut self,
        reduction: &Reduction<'a>,
        lanes: &[Variable],
        space: &Space,
    ) -> Result<()> {
        let half = self.declare("half", INDEX, Expression::index(LANES as i64 / 2));
        let half_now = || Expression::Variable(half);
        let filled = remainder(&space.number, BLOCK).plus(Expression::index(1));
        let filled = self.declare("filled", INDEX, filled);
        let (code, ()) = self.nested(|this| {
            let done = half_now().compare(ScalarOperation::Equal, zero());
            this.when(done, |this| {
                this.emit(Command::Break);
                Ok(())
            })?;
            let others = Expression::Variable(filled).minus(half_now());
            let pairs = half_now().compare(ScalarOperation::Minimum, others);
            this.each_index(&[pairs], &space.place, |this, indices| {
                let lane = indices.first().cloned().unwrap_or(zero());
                let other = lane.clone().plus(half_now());
                let right = lanes.iter().map(|p| at(*p, other.clone())).collect();
                this.combine(reduction, lanes, &lane, right)
            })?;
            let next = half_now().compare(ScalarOperation::ShiftRight, Expression::index(1));
            this.assign(half, next);
            Ok(())
        })?;
        self.emit(Command::Loop {
            body: code,
            place: space.place.clone(),
        });
        Ok(())
    }

    /// `array[index] := array[index] ⊕ right`.
    pub(crate) fn combine(
        &mut self,
        reduction: &Reduction<'a>,
        arrays: &[Variable],
        index: &Expression,
        right: Vec<Expression>,
    ) -> Result<()> {
        let left = arrays.iter().map(|p| at(*p, index.clone()));
        let both: Vec<Expression> = left.chain(right).collect();
        // No store may come before the reads of another component.
        let apart = arrays.len() == 1 || by_component(reduction.lambda).is_some();
        let mut arguments = Vec::with_capacity(both.len());
        let scalars = reduction.scalars.iter().cycle();
        for (argument, scalar) in both.into_iter().zip(scalars) {
            arguments.push(Term::new(match apart {
                true => argument,
                false => self.simplify(argument, "chunk", Type::Scalar(*scalar)),
            }));
        }
        self.apply(reduction.lambda, arguments, |this, results| {
            for (pointer, result) in arrays.iter().zip(results) {
                let value = this.scalar(*result)?;
                this.set_element(*pointer, index.clone(), value);
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Declares a local array for each component.
    pub(crate) fn buffers(&mut self, name: &str, scalars: &[Scalar], count: u32) -> Vec<Variable> {
        let mut pointers = Vec::with_capacity(scalars.len());
        for scalar in scalars {
            let pointer = self.add_variable(name, Type::Pointer(*scalar));
            self.emit(Command::Local { pointer, count });
            pointers.push(pointer);
        }
        pointers
    }

    pub(crate) fn set_element(&mut self, pointer: Variable, index: Expression, value: Expression) {
        self.emit(Command::Store {
            pointer,
            index,
            value,
        });
    }
}

/// Returns the number of the group of `size` elements that this element is in.
fn group(space: &Space, size: usize) -> Expression {
    let shift = Expression::index(i64::from(size.trailing_zeros()));
    let number = space.number.clone();
    number.compare(ScalarOperation::ShiftRight, shift)
}

/// Returns the condition that this is the last element of all.
fn is_last(space: &Space) -> Expression {
    let last = space.count.clone().minus(Expression::index(1));
    space.number.clone().compare(ScalarOperation::Equal, last)
}
