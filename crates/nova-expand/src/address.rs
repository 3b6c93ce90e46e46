//! Addresses of array elements (funmem.txt §3), as expressions.

use crate::places::Place;
use crate::translator::{INDEX, Result, Translator};
use nova_core::ScalarOperation;
use nova_flat::ir as flat;
use nova_flat::memory::{Lmad, Polynomial};
use nova_loop::error::internal;
use nova_loop::ir::{Command, Expression, Variable};

impl<'a> Translator<'a> {
    /// Returns the place of an array of the source in memory.
    pub(crate) fn place(&self, array: flat::Variable) -> Result<Place<'a>> {
        let info = self.info(array)?;
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

    /// Returns a pointer to the first element of a row-major array.
    pub(crate) fn pointer_to(&mut self, array: flat::Variable) -> Result<Expression> {
        let place = self.place(array)?;
        let offset = self.polynomial(&place.lmad.offset)?;
        Ok(Expression::offset(place.pointer, offset))
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

    /// Runs `write` for all indices of a space: writes nested loops, one for each extent.
    pub(crate) fn each_index(
        &mut self,
        extents: &[Expression],
        place: &nova_diag::Place,
        write: impl FnOnce(&mut Self, Vec<Expression>) -> Result<()>,
    ) -> Result<()> {
        const NAMES: [&str; 6] = ["i", "j", "k", "l", "m", "n"];
        let indices: Vec<Variable> = (0..extents.len())
            .map(|d| self.add_variable(NAMES[d.min(NAMES.len() - 1)], INDEX))
            .collect();
        let expressions = indices.iter().map(|v| Expression::Variable(*v)).collect();
        let (code, ()) = self.nested(|this| write(this, expressions))?;
        self.wrap(extents, &indices, code, place);
        Ok(())
    }

    /// Writes code inside the loops of a space.
    pub(crate) fn wrap(
        &mut self,
        extents: &[Expression],
        indices: &[Variable],
        code: Vec<Command>,
        place: &nova_diag::Place,
    ) {
        let mut code = code;
        for (count, variable) in extents.iter().zip(indices).rev() {
            code = vec![Command::For {
                variable: *variable,
                count: count.clone(),
                level: nova_loop::ir::Level::Sequential,
                body: code,
                place: place.clone(),
            }];
        }
        self.code.extend(code);
    }

    /// Copies all elements of an array into another array of the same extents.
    pub(crate) fn copy_array(
        &mut self,
        to: Place<'_>,
        from: Place<'_>,
        place: &nova_diag::Place,
    ) -> Result<()> {
        self.flush_conflicts(to.block)?;
        if to.lmad.is_row_major() && from.lmad.is_row_major() {
            let count = self.product(from.shape)?;
            let to_offset = self.polynomial(&to.lmad.offset)?;
            let from_offset = self.polynomial(&from.lmad.offset)?;
            self.emit(Command::Copy {
                to: Expression::offset(to.pointer, to_offset),
                from: Expression::offset(from.pointer, from_offset),
                element: to.element,
                count,
            });
            return Ok(());
        }
        self.copy_strided(to, from, place)
    }

    /// Returns the condition that `index` lies in 0..`count`. Both must be simple.
    pub(crate) fn in_range(index: &Expression, count: &Expression) -> Expression {
        let low = Expression::index(0).compare(ScalarOperation::LessEqual, index.clone());
        let high = index.clone().compare(ScalarOperation::Less, count.clone());
        low.and(high)
    }
}
