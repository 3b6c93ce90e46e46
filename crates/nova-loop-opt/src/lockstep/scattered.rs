//! Scattered reads: elements that do not lie side by side, read by the lanes of a mask. They are read in a loop
//! over lanes of their own. C compilers have no reads under a mask that all processors can do, and a single one
//! keeps a whole loop over lanes from becoming vector instructions.
//!
//! In lanes that are switched off, the index may be out of range. There the element of the first lane that takes
//! part is read instead, so that the loop has no branches.

use super::block::{Block, break_if};
use super::varying::{INDEX, reads};
use crate::masks::{MASK, flag, number, on_masks};
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::deep;
use nova_loop::ir::{Command, Expression, Type, Variable};

impl Block<'_> {
    /// Returns an expression with variables in place of the elements that the lanes of the mask read at places
    /// apart, and reads these elements.
    pub(super) fn gathered(&mut self, expression: &Expression) -> Option<Expression> {
        let Some(mask) = self.mask().filter(|_| self.scatters(expression)) else {
            return Some(expression.clone());
        };
        match expression {
            Expression::Select {
                condition,
                then,
                otherwise,
            } => {
                let condition = deep(|| self.gathered(condition))?;
                if !self.scatters(then) && !self.scatters(otherwise) {
                    return Some(Expression::Select {
                        condition: Box::new(condition),
                        then: then.clone(),
                        otherwise: otherwise.clone(),
                    });
                }
                let value = flag(self.own(&condition));
                let (chosen, condition) = self.case(value)?;
                let then = self.gathered_in(then, chosen)?;
                let not_chosen = flag(self.own(&condition).negated());
                let otherwise = match self.scatters(otherwise) {
                    true => {
                        let (others, _) = self.case(not_chosen)?;
                        self.gathered_in(otherwise, others)?
                    }
                    false => (**otherwise).clone(),
                };
                Some(Expression::Select {
                    condition: Box::new(condition),
                    then: Box::new(then),
                    otherwise: Box::new(otherwise),
                })
            }
            Expression::Load { pointer, index } if self.is_scattered(expression) => {
                let index = deep(|| self.gathered(index))?;
                let Expression::Variable(pointer) = **pointer else {
                    return None;
                };
                self.read_apart(pointer, &index, mask)
                    .map(Expression::Variable)
            }
            other => {
                let mut gathered = other.clone();
                for child in gathered.children_mut() {
                    *child = deep(|| self.gathered(child))?;
                }
                Some(gathered)
            }
        }
    }

    /// True if an expression reads elements apart under a mask.
    pub(super) fn scatters(&self, expression: &Expression) -> bool {
        let mut children = expression.children().into_iter();
        self.is_scattered(expression) || children.any(|e| deep(|| self.scatters(e)))
    }

    /// True if an expression is an element whose place in memory is no sum or product of the index.
    fn is_scattered(&self, expression: &Expression) -> bool {
        let Expression::Load { pointer, index } = expression else {
            return false;
        };
        matches!(&**pointer, Expression::Variable(p) if !self.private.contains(p) && !self.locals.contains(p))
            && reads(&self.varying, index)
            && !self.is_plain_sum(index)
    }

    /// Adds a mask of the lanes of the current one for which a flag is 1. Returns it and the condition that it
    /// has a lane.
    fn case(&mut self, flag: Expression) -> Option<(Variable, Expression)> {
        let (variable, array) = self.variable_of_lanes("chosen", MASK);
        let value = self.under_mask(flag, number(0), MASK);
        self.set(array, value);
        let is_in = on_masks(
            ScalarOperation::NotEqual,
            Expression::Variable(variable),
            number(0),
        );
        Some((array, is_in))
    }

    fn gathered_in(&mut self, expression: &Expression, mask: Variable) -> Option<Expression> {
        let occupied = std::mem::replace(&mut self.occupied, false);
        self.masks.push(mask);
        let gathered = deep(|| self.gathered(expression));
        self.masks.pop();
        self.occupied = occupied;
        gathered
    }

    /// Reads an element in each lane of a mask. Returns the variable that has it.
    fn read_apart(
        &mut self,
        pointer: Variable,
        index: &Expression,
        mask: Variable,
    ) -> Option<Variable> {
        let Type::Pointer(scalar) = self.program.variable(pointer).ty else {
            return None;
        };
        let places = self.array("place", Scalar::I64);
        let index = self.own(index);
        let index = self.unless_total(index, Expression::index(0), Scalar::I64);
        self.set(places, index);
        let name = self.program.variable(pointer).name.to_string();
        let (variable, elements) = self.variable_of_lanes(&name, scalar);
        let first = self.first_lane(mask);
        let read = self.inner(|block| {
            let spare = block.program.add_variable("spare", INDEX);
            let place = Expression::load(places, Expression::Variable(first));
            block.made.push(Command::declare(spare, place));
            let place = Expression::Select {
                condition: Box::new(block.is_in(mask)),
                then: Box::new(block.at(places)),
                otherwise: Box::new(Expression::Variable(spare)),
            };
            block.set(places, place);
            block.end_group();
            let element = Expression::load(pointer, block.at(places));
            block.set(elements, element);
            Some(())
        })?;
        if self.occupied {
            self.made.extend(read);
            return Some(variable);
        }
        let zero = Expression::Constant(ScalarValue::from_integer_wrapping(scalar, 0));
        let none = self.inner(|block| {
            block.set(elements, zero);
            Some(())
        })?;
        let has_lane = Expression::Variable(first)
            .compare(ScalarOperation::Less, Expression::index(self.width));
        self.made.push(Command::If {
            condition: has_lane,
            then: read,
            otherwise: none,
        });
        Some(variable)
    }

    /// Adds a search for the first lane of a mask. Returns the variable that has it, or the number of lanes.
    fn first_lane(&mut self, mask: Variable) -> Variable {
        self.end_group();
        let first = self.program.add_variable("first", INDEX);
        self.made
            .push(Command::declare(first, Expression::index(0)));
        let lane = Expression::load(mask, Expression::Variable(first));
        let is_in = on_masks(ScalarOperation::NotEqual, lane, number(0));
        let is_found = match self.occupied {
            true => is_in,
            false => Expression::index(self.width)
                .compare(ScalarOperation::LessEqual, Expression::Variable(first))
                .or(is_in),
        };
        let next = Expression::Variable(first).plus(Expression::index(1));
        let step = Command::Assign {
            variable: first,
            value: next,
        };
        let body = vec![break_if(is_found), step];
        self.made.push(Command::Loop {
            body,
            place: self.place.clone(),
        });
        first
    }

    /// Adds a variable that differs between lanes, and its array.
    fn variable_of_lanes(&mut self, name: &str, scalar: Scalar) -> (Variable, Variable) {
        let variable = self.program.add_variable(name, Type::Scalar(scalar));
        let array = self.array(name, scalar);
        self.varying.insert(variable);
        self.arrays.insert(variable, array);
        self.depths.insert(array, self.masks.len());
        (variable, array)
    }
}
