//! Addresses of array elements (funmem.txt §3), as expressions.

use crate::env::Env;
use crate::places::Place;
use crate::source::info_of;
use crate::terms::Term;
use crate::writer::Result;
use nova_core::ScalarOperation;
use nova_flat::ir as flat;
use nova_flat::memory::{Lmad, Polynomial};
use nova_loop::error::internal;
use nova_loop::ir::{Command, Expression};

impl<'a> Env<'a> {
    /// Returns the place of an array of the source in memory.
    pub(crate) fn place(&self, array: flat::Variable) -> Result<Place<'a>> {
        let info = info_of(self.source, array)?;
        let (flat::Type::Array(element, shape), Some(memory)) = (&info.ty, &info.memory) else {
            return Err(internal(format!(
                "array {}_{} has no memory",
                info.name, array.0
            )));
        };
        Ok(Place {
            block: memory.block,
            pointer: self.block(memory.block)?.pointer,
            element: *element,
            shape,
            lmad: &memory.lmad,
        })
    }

    /// Returns the value of a polynomial, with the constant term last.
    pub(crate) fn polynomial(&mut self, polynomial: &Polynomial) -> Result<Expression> {
        let mut sum = Expression::index(0);
        let (products, constant) = polynomial.split_number();
        for (variables, coefficient) in products.products() {
            let mut product = Expression::index(1);
            for variable in variables {
                product = product.times(self.scalar(flat::Atom::Variable(*variable))?);
            }
            let is_first = sum.as_index() == Some(0);
            sum = match coefficient {
                c if c < 0 && c != i64::MIN && !is_first => {
                    sum.minus(product.times(Expression::index(-c)))
                }
                c => sum.plus(product.times(Expression::index(c))),
            };
        }
        Ok(sum.plus(Expression::index(constant)))
    }

    /// Returns the address of the element at `indices`.
    pub(crate) fn address(&mut self, lmad: &Lmad, indices: Vec<Expression>) -> Result<Expression> {
        if lmad.dimensions.len() != indices.len() {
            return Err(internal("an index of the wrong rank"));
        }
        let offset = self.polynomial(&lmad.offset)?;
        let mut sum = Expression::index(0);
        if lmad.is_row_major() {
            // Horner's rule: (i·m + j)·p + k.
            for ((extent, _), index) in lmad.dimensions.iter().zip(indices) {
                if sum.as_index() != Some(0) {
                    sum = sum.times(self.polynomial(extent)?);
                }
                sum = sum.plus(index);
            }
        } else {
            for ((_, stride), index) in lmad.dimensions.iter().zip(indices) {
                sum = match stride.as_constant() {
                    Some(c) if c < 0 && c != i64::MIN && sum.as_index() != Some(0) => {
                        sum.minus(index.times(Expression::index(-c)))
                    }
                    _ => sum.plus(index.times(self.polynomial(stride)?)),
                };
            }
        }
        Ok(match offset.as_index() {
            Some(_) => sum.plus(offset),
            None => offset.plus(sum),
        })
    }

    /// Writes an element. Pending terms that read this memory are evaluated before.
    pub(crate) fn store(
        &mut self,
        place: Place<'_>,
        indices: Vec<Expression>,
        value: Expression,
    ) -> Result<()> {
        let index = self.address(place.lmad, indices)?;
        self.flush_conflicts(place.block)?;
        self.emit(Command::Store {
            pointer: place.pointer,
            index,
            value,
        });
        Ok(())
    }

    /// Reads an element.
    pub(crate) fn load(
        &mut self,
        place: Place<'_>,
        indices: Vec<Expression>,
    ) -> Result<Expression> {
        let index = self.address(place.lmad, indices)?;
        Ok(Expression::load(place.pointer, index))
    }

    /// Returns the product of atoms.
    pub(crate) fn product(&mut self, atoms: &[flat::Atom]) -> Result<Expression> {
        let mut product = Expression::index(1);
        for atom in atoms {
            product = product.times(self.scalar(*atom)?);
        }
        Ok(product)
    }
}

/// Returns a pointer to the first element of a row-major array.
pub(crate) fn pointer_to(env: &mut Env<'_>, array: flat::Variable) -> Result<Expression> {
    let place = env.place(array)?;
    let offset = env.polynomial(&place.lmad.offset)?;
    Ok(Expression::offset(place.pointer, offset))
}

/// Returns the condition that `index` lies in 0..`count`. Both must be simple.
pub(crate) fn in_range(index: &Expression, count: &Expression) -> Expression {
    let low = Expression::index(0).compare(ScalarOperation::LessEqual, index.clone());
    let high = index.clone().compare(ScalarOperation::Less, count.clone());
    low.and(high)
}

/// Returns an element of an array, which is read when the term is evaluated.
pub(crate) fn element_term(
    env: &mut Env<'_>,
    array: flat::Variable,
    indices: &[flat::Atom],
) -> Result<Term> {
    let place = env.place(array)?;
    let mut size = 2;
    let mut loads = vec![place.block];
    let mut expressions = Vec::with_capacity(indices.len());
    for index in indices {
        let term = env.term(*index)?;
        size += term.size + 2;
        loads.extend(term.loads);
        expressions.push(term.expression);
    }
    loads.sort();
    loads.dedup();
    Ok(Term {
        expression: env.load(place, expressions)?,
        size,
        loads,
    })
}
