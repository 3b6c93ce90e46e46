//! Translation of statements: the dispatch on the expressions of Mem.

use crate::terms::Term;
use crate::translator::{Flow, Result, Translator};
use nova_core::Scalar;
use nova_flat::ir as flat;
use nova_flat::{
    array_expressions, call_expressions, control_expressions, node_expressions, other_expressions,
    pure_expressions,
};
use nova_loop::error::internal;
use nova_loop::ir::{Command, Expression, Type};

/// Returns the only variable of a pattern.
pub(crate) fn single(pattern: &[flat::Variable]) -> Result<flat::Variable> {
    match pattern {
        [variable] => Ok(*variable),
        _ => Err(internal("a pattern of the wrong length")),
    }
}

impl<'a> Translator<'a> {
    /// Translates statements in order, up to one whose end is never reached.
    pub(crate) fn statements(&mut self, statements: &'a [flat::Statement]) -> Result<Flow> {
        for (index, statement) in statements.iter().enumerate() {
            self.lifetimes.begin_statement(index as u32);
            if self.statement(statement)? == Flow::Diverges {
                return Ok(Flow::Diverges);
            }
            self.release_ending(index as u32)?;
        }
        Ok(Flow::Continues)
    }

    fn statement(&mut self, statement: &'a flat::Statement) -> Result<Flow> {
        let (pattern, place) = (&statement.pattern, &statement.place);
        use flat::Expression as E;
        match &statement.expression {
            pure_expressions!() => {
                self.pure(&statement.expression, single(pattern)?)?;
            }
            E::View { .. } => {}
            E::Check {
                condition,
                error,
                arguments,
            } => {
                let condition = self.scalar(*condition)?;
                let arguments = self.scalars(arguments)?;
                self.emit(Command::Check {
                    condition,
                    error: *error,
                    arguments,
                    place: place.clone(),
                });
            }
            E::Fail { error, arguments } => {
                let arguments = self.scalars(arguments)?;
                self.emit(Command::Fail {
                    error: *error,
                    arguments,
                    place: place.clone(),
                });
                return Ok(Flow::Diverges);
            }
            E::Allocate {
                element,
                count,
                destination,
            } => {
                let block = single(pattern)?;
                self.allocate(block, *element, *count, *destination, place)?;
            }
            E::Unique(array) => self.unique(single(pattern)?, *array, place)?,
            array_expressions!() => self.array(statement, single(pattern)?)?,
            E::Sort { count, compare } => self.sort(single(pattern)?, *count, compare, place)?,
            E::Operation(operation) => self.operation(operation, pattern, place)?,
            control_expressions!() => return self.control(statement),
            call_expressions!() => return self.calls(statement),
            node_expressions!() => self.nodes(statement)?,
        }
        Ok(Flow::Continues)
    }

    /// Translates a scalar that is computed without side effects.
    fn pure(&mut self, expression: &flat::Expression, variable: flat::Variable) -> Result<()> {
        if matches!(self.info(variable)?.ty, flat::Type::Array(..)) {
            // The statement is another name of an array.
            return Ok(());
        }
        if self.facts.is_unused(variable) {
            return Ok(());
        }
        let term = match expression {
            flat::Expression::Scalar {
                operation,
                operand,
                arguments,
            } => self.operation_term(*operation, *operand, arguments)?,
            flat::Expression::Index { array, indices } => self.element(*array, indices)?,
            flat::Expression::MaySplit => {
                let splits = self.add_variable("splits", Type::Scalar(Scalar::Bool));
                self.declare_later(splits);
                self.emit(Command::MaySplit { splits });
                return self.bind_simple(variable, Expression::Variable(splits));
            }
            flat::Expression::NodeTag { sum, link } => {
                let sum = *sum;
                let link = self.term(*link)?;
                Term::over(vec![link], |mut operands| Expression::NodeTag {
                    sum,
                    link: Box::new(operands.pop().unwrap_or(Expression::index(0))),
                })
            }
            flat::Expression::Atom(atom) => self.term(*atom)?,
            array_expressions!()
            | control_expressions!()
            | call_expressions!()
            | node_expressions!()
            | other_expressions!() => {
                return Err(internal("an expression with effects"));
            }
        };
        self.bind_term(variable, term)
    }

    /// Returns an element of an array, which is read when the term is evaluated.
    pub(crate) fn element(
        &mut self,
        array: flat::Variable,
        indices: &[flat::Atom],
    ) -> Result<Term> {
        let place = self.place(array)?;
        let mut size = 2;
        let mut loads = vec![place.block];
        let mut expressions = Vec::with_capacity(indices.len());
        for index in indices {
            let term = self.term(*index)?;
            size += term.size + 2;
            loads.extend(term.loads);
            expressions.push(term.expression);
        }
        loads.sort();
        loads.dedup();
        Ok(Term {
            expression: self.load(place, expressions)?,
            size,
            loads,
        })
    }

    fn allocate(
        &mut self,
        block: flat::Variable,
        element: nova_core::Scalar,
        count: flat::Atom,
        destination: Option<flat::Destination>,
        place: &nova_diag::Place,
    ) -> Result<()> {
        let count = self.scalar(count)?;
        if self.allocate_row(block, &count, place)? {
            return Ok(());
        }
        let (pointer, handle) = self.block_variables(block, element);
        self.allocate_here(pointer, handle, count, destination, place)?;
        self.bind_block(block, pointer, handle)?;
        self.own(block)
    }

    /// Declares the pointer and the handle, and allocates a block.
    pub(crate) fn allocate_here(
        &mut self,
        pointer: nova_loop::ir::Variable,
        handle: nova_loop::ir::Variable,
        count: Expression,
        destination: Option<flat::Destination>,
        place: &nova_diag::Place,
    ) -> Result<()> {
        let Type::Pointer(element) = self.program.variable(pointer).ty else {
            return Err(internal("no pointer"));
        };
        self.declare_later(pointer);
        self.declare_later(handle);
        self.emit(Command::Allocate {
            block: handle,
            pointer,
            element,
            count,
            destination,
            place: place.clone(),
        });
        Ok(())
    }

    /// Returns the memory of an array that a statement makes: the memory that Mem has chosen, or a new block
    /// of `count` elements if Mem leaves the allocation to the statement.
    pub(crate) fn destination(
        &mut self,
        array: flat::Variable,
        count: Expression,
        place: &nova_diag::Place,
    ) -> Result<crate::places::Place<'a>> {
        let block = self.array_block(flat::Atom::Variable(array))?;
        let block = block.ok_or_else(|| internal("a scalar destination"))?;
        use crate::facts::Origin;
        let origin = self.facts.block(block).origin;
        if !matches!(origin, Origin::Allocated | Origin::Sole) {
            let flat::Type::Array(element, _) = &self.info(array)?.ty else {
                return Err(internal("a scalar destination"));
            };
            let (pointer, handle) = self.block_variables(block, *element);
            self.allocate_here(pointer, handle, count, None, place)?;
            self.bind_block(block, pointer, handle)?;
            self.own(block)?;
        }
        self.place(array)
    }
}
