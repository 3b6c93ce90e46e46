//! Reductions. Without strict order a left fold into variables; with it (docs/order.md) elements go
//! to the lanes of a block, or to contiguous pieces, whose results a stack of subtrees combines: the
//! tree of adjacent pairs is built as a binary counter counts, with the start value at its bottom.

use super::operation::Space;
use super::scalars::Term;
use super::{INDEX, Result, Translator};
use crate::ir::{Command, Expression, Type, Variable};
use nova_core::order::{BLOCK, LANES};
use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir as flat;

/// Subtrees of different heights that there can be at once, and the start value.
const HEIGHTS: i64 = 64;

/// A reduction under way.
pub(super) struct Reduction<'a> {
    lambda: &'a flat::Lambda,
    pattern: &'a [flat::Variable],
    scalars: Vec<Scalar>,
    kind: Kind,
}

enum Kind {
    /// The accumulators.
    Fold(Vec<Variable>),
    /// Commuting, strict.
    Lanes { lanes: Vec<Buffer>, tree: Tree },
    /// Not commuting, strict: the running fold of the current piece.
    Pieces { running: Vec<Variable>, tree: Tree },
}

/// The complete subtrees of the tree of adjacent pairs, the start value below them.
struct Tree {
    parts: Vec<Buffer>,
    depth: Variable,
}

/// Memory for one component.
#[derive(Clone, Copy)]
struct Buffer {
    pointer: Variable,
    handle: Variable,
}

impl<'a> Translator<'a> {
    /// Prepares a reduction.
    pub(super) fn start_reduction(
        &mut self,
        lambda: &'a flat::Lambda,
        start: &[flat::Atom],
        commutes: bool,
        pattern: &'a [flat::Variable],
        space: &Space,
    ) -> Result<Reduction<'a>> {
        let mut starts = Vec::with_capacity(start.len());
        for atom in start {
            starts.push((self.scalar(*atom)?, self.scalar_type(*atom)?));
        }
        let scalars: Vec<Scalar> = starts.iter().map(|s| s.1).collect();
        let names: Vec<_> = pattern.iter().map(|v| self.name(*v)).collect();
        let names: Vec<&str> = names.iter().map(|n| &**n).collect();
        let kind = if !self.program.strict {
            Kind::Fold(self.accumulators(&names, &starts))
        } else {
            let tree = self.start_tree(starts, space)?;
            if commutes {
                let lanes = self.buffers("lanes", &scalars, LANES as i64, space)?;
                Kind::Lanes { lanes, tree }
            } else {
                let running = self.unset("piece", &scalars);
                Kind::Pieces { running, tree }
            }
        };
        Ok(Reduction {
            lambda,
            pattern,
            scalars,
            kind,
        })
    }

    /// Uses the next elements.
    pub(super) fn consume_reduction(
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
                    let block: Vec<_> = lanes.iter().map(|l| l.at(Expression::index(0))).collect();
                    this.push_part(reduction, tree, block, space, BLOCK)
                })
            }
            Kind::Pieces { running, tree } => {
                let values = self.simple_values(values)?;
                self.flush_loads()?;
                self.fold_piece(lambda, running, &values, space)?;
                let last = self.is_block_end(space, LANES);
                self.when(last, |this| {
                    let piece = running.iter().map(|r| Expression::Variable(*r)).collect();
                    this.push_part(reduction, tree, piece, space, LANES)
                })
            }
        }
    }

    /// Binds the results.
    pub(super) fn finish_reduction(&mut self, reduction: Reduction<'a>) -> Result<()> {
        let (tree, lanes) = match reduction.kind {
            Kind::Fold(accumulators) => {
                for (variable, accumulator) in reduction.pattern.iter().zip(accumulators) {
                    self.bind_simple(*variable, Expression::Variable(accumulator))?;
                }
                return Ok(());
            }
            Kind::Lanes { lanes, tree } => (tree, lanes),
            Kind::Pieces { tree, .. } => (tree, Vec::new()),
        };
        let parts = reduction
            .pattern
            .iter()
            .zip(&reduction.scalars)
            .zip(&tree.parts);
        for ((variable, scalar), part) in parts {
            let name = self.name(*variable);
            let value = part.at(Expression::index(0));
            let result = self.declare(name, Type::Scalar(*scalar), value);
            self.bind_simple(*variable, Expression::Variable(result))?;
        }
        for buffer in tree.parts.iter().chain(&lanes) {
            self.emit(Command::Release(buffer.handle));
        }
        Ok(())
    }

    /// Values as variables or constants.
    pub(super) fn simple_values(&mut self, values: &[flat::Atom]) -> Result<Vec<Expression>> {
        values.iter().map(|v| self.simple(*v)).collect()
    }

    /// Declares variables without a value yet, one for each component.
    pub(super) fn unset(&mut self, name: &str, scalars: &[Scalar]) -> Vec<Variable> {
        let mut variables = Vec::with_capacity(scalars.len());
        for scalar in scalars {
            let zero = nova_core::ScalarValue::from_integer_wrapping(*scalar, 0);
            let zero = Expression::Constant(zero);
            variables.push(self.declare(name, Type::Scalar(*scalar), zero));
        }
        variables
    }

    /// Applies an operator to left then right operands and assigns its results.
    pub(super) fn apply_to(
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

    /// The running fold of the piece: starts again at its first element.
    pub(super) fn fold_piece(
        &mut self,
        lambda: &'a flat::Lambda,
        running: &[Variable],
        values: &[Expression],
        space: &Space,
    ) -> Result<()> {
        let first = remainder(&space.number, LANES).compare(ScalarOperation::Equal, zero());
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

    /// Whether this element is the last of a group of `size`, or of all.
    fn is_block_end(&self, space: &Space, size: usize) -> Expression {
        let last = Expression::index(size as i64 - 1);
        let at_end = remainder(&space.number, size).compare(ScalarOperation::Equal, last);
        at_end.or(is_last(space))
    }

    /// `lane[k % 32] ⊕= x`, or `= x` for the first of each lane in the block.
    fn fill_lanes(
        &mut self,
        reduction: &Reduction<'a>,
        lanes: &[Buffer],
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
                for (buffer, value) in lanes.iter().zip(values) {
                    this.set_buffer(*buffer, lane.clone(), value.clone());
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
        lanes: &[Buffer],
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
                let right = lanes.iter().map(|b| b.at(other.clone())).collect();
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

    /// `buffer[index] := buffer[index] ⊕ right`.
    fn combine(
        &mut self,
        reduction: &Reduction<'a>,
        buffers: &[Buffer],
        index: &Expression,
        right: Vec<Expression>,
    ) -> Result<()> {
        let left = buffers.iter().map(|b| b.at(index.clone()));
        let both: Vec<Expression> = left.chain(right).collect();
        let mut arguments = Vec::with_capacity(both.len());
        let scalars = reduction.scalars.iter().cycle();
        for (argument, scalar) in both.into_iter().zip(scalars) {
            // With several components a store comes between the reads.
            arguments.push(Term::new(match buffers.len() {
                1 => argument,
                _ => self.simplify(argument, "part", Type::Scalar(*scalar)),
            }));
        }
        self.apply(reduction.lambda, arguments, |this, results| {
            for (buffer, result) in buffers.iter().zip(results) {
                let value = this.scalar(*result)?;
                this.set_buffer(*buffer, index.clone(), value);
            }
            Ok(())
        })?;
        Ok(())
    }

    fn start_tree(&mut self, starts: Vec<(Expression, Scalar)>, space: &Space) -> Result<Tree> {
        let scalars: Vec<Scalar> = starts.iter().map(|s| s.1).collect();
        let parts = self.buffers("parts", &scalars, HEIGHTS, space)?;
        for (buffer, (start, _)) in parts.iter().zip(starts) {
            self.set_buffer(*buffer, zero(), start);
        }
        let depth = self.declare("depth", INDEX, Expression::index(1));
        Ok(Tree { parts, depth })
    }

    /// Pushes the result of a group of `size` elements and combines subtrees of equal height; after
    /// the last element all that there are.
    fn push_part(
        &mut self,
        reduction: &Reduction<'a>,
        tree: &Tree,
        values: Vec<Expression>,
        space: &Space,
        size: usize,
    ) -> Result<()> {
        let depth = || Expression::Variable(tree.depth);
        for (buffer, value) in tree.parts.iter().zip(values) {
            self.set_buffer(*buffer, depth(), value);
        }
        self.assign(tree.depth, depth().plus(Expression::index(1)));
        // One subtree to combine with for each one at the end of the group's number in binary.
        let shift = Expression::index(i64::from(size.trailing_zeros()));
        let group = space
            .number
            .clone()
            .compare(ScalarOperation::ShiftRight, shift);
        let merges = Expression::Select {
            condition: Box::new(is_last(space)),
            then: Box::new(Expression::index(-1)),
            otherwise: Box::new(group),
        };
        let merges = self.declare("merges", INDEX, merges);
        let (code, ()) = self.nested(|this| {
            let odd = remainder(&Expression::Variable(merges), 2);
            let odd = odd.compare(ScalarOperation::Equal, zero());
            let alone = depth().compare(ScalarOperation::Equal, Expression::index(1));
            this.when(alone.or(odd), |this| {
                this.emit(Command::Break);
                Ok(())
            })?;
            this.assign(tree.depth, depth().minus(Expression::index(1)));
            let right = tree.parts.iter().map(|b| b.at(depth())).collect();
            let left = depth().minus(Expression::index(1));
            this.combine(reduction, &tree.parts, &left, right)?;
            let rest = Expression::Variable(merges);
            let rest = rest.compare(ScalarOperation::ShiftRight, Expression::index(1));
            this.assign(merges, rest);
            Ok(())
        })?;
        self.emit(Command::Loop {
            body: code,
            place: space.place.clone(),
        });
        Ok(())
    }

    fn buffers(
        &mut self,
        name: &str,
        scalars: &[Scalar],
        count: i64,
        space: &Space,
    ) -> Result<Vec<Buffer>> {
        let mut buffers = Vec::with_capacity(scalars.len());
        for scalar in scalars {
            let pointer = self.add_variable(name, Type::Pointer(*scalar));
            let handle = self.add_variable(format!("{name}_block"), Type::Block);
            self.allocate_here(pointer, handle, Expression::index(count), &space.place)?;
            buffers.push(Buffer { pointer, handle });
        }
        Ok(buffers)
    }

    fn set_buffer(&mut self, buffer: Buffer, index: Expression, value: Expression) {
        self.emit(Command::Store {
            pointer: buffer.pointer,
            index,
            value,
        });
    }
}

impl Buffer {
    /// The element at `index`.
    fn at(self, index: Expression) -> Expression {
        Expression::load(self.pointer, index)
    }
}

fn zero() -> Expression {
    Expression::index(0)
}

/// Whether this is the last element of all.
fn is_last(space: &Space) -> Expression {
    let last = space.count.clone().minus(Expression::index(1));
    space.number.clone().compare(ScalarOperation::Equal, last)
}

/// `number % size` for a power of two and a number that is not negative.
pub(super) fn remainder(number: &Expression, size: usize) -> Expression {
    let mask = Expression::index(size as i64 - 1);
    number.clone().compare(ScalarOperation::BitAnd, mask)
}

/// Variables as operands.
pub(super) fn variables_as_terms(variables: &[Variable]) -> Vec<Term> {
    variables.iter().map(|v| Term::variable(*v)).collect()
}
