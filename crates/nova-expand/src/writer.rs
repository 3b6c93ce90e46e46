//! The writer of commands.

use nova_core::Scalar;
use nova_diag::Place;
use nova_loop::error::{InternalError, internal};
use nova_loop::ir;
use nova_loop::ir::{Command, Expression, Type, Variable};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) type Result<T> = std::result::Result<T, InternalError>;

/// The type of indices and counts.
pub(crate) const INDEX: Type = Type::Scalar(Scalar::I64);

/// Appends commands to the list that is open, and adds variables to the program.
#[derive(Default)]
pub(crate) struct Writer {
    /// The translated program so far.
    pub(crate) program: ir::Program,
    /// The command list being written.
    pub(crate) commands: Vec<Command>,
    /// The enclosing command lists that are open, the outermost first.
    pub(crate) enclosing: Vec<Vec<Command>>,
}

/// Command lists inside commands, written with any context that has a writer.
pub(crate) trait Nesting: Sized {
    /// Returns the writer.
    fn writer(&mut self) -> &mut Writer;

    /// Writes commands into a list of their own.
    fn nested<R>(
        &mut self,
        write: impl FnOnce(&mut Self) -> Result<R>,
    ) -> Result<(Vec<Command>, R)> {
        let writer = self.writer();
        writer.enclosing.push(std::mem::take(&mut writer.commands));
        let result = write(self);
        let writer = self.writer();
        let Some(outer) = writer.enclosing.pop() else {
            return Err(internal("a list of commands that was not begun"));
        };
        let commands = std::mem::replace(&mut writer.commands, outer);
        Ok((commands, result?))
    }

    /// Writes a conditional without an `else` branch.
    fn when(
        &mut self,
        condition: Expression,
        write: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        self.choose(condition, write, |_| Ok(()))
    }

    /// Writes a conditional.
    fn choose(
        &mut self,
        condition: Expression,
        then: impl FnOnce(&mut Self) -> Result<()>,
        otherwise: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let (then, ()) = self.nested(then)?;
        let (otherwise, ()) = self.nested(otherwise)?;
        self.writer().emit(Command::If {
            condition,
            then,
            otherwise,
        });
        Ok(())
    }

    /// Writes a loop that only a `Break` ends.
    fn endless_loop(
        &mut self,
        place: &Place,
        write: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let (body, ()) = self.nested(write)?;
        let place = place.clone();
        self.writer().emit(Command::Loop { body, place });
        Ok(())
    }
}

impl Nesting for Writer {
    fn writer(&mut self) -> &mut Writer {
        self
    }
}

impl Writer {
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

    /// Returns the expression itself if it is simple, otherwise a new variable with its value.
    pub(crate) fn simplify(&mut self, expression: Expression, name: &str, ty: Type) -> Expression {
        if expression.is_simple() {
            return expression;
        }
        Expression::Variable(self.declare(name, ty, expression))
    }

    /// Assigns all variables in parallel: no expression sees a new value.
    ///
    /// A variable is assigned when no remaining assignment reads it. A copy of one of its variables breaks
    /// a cycle.
    pub(crate) fn assign_together(&mut self, assignments: Vec<(Variable, Expression)>) {
        let mut left: BTreeMap<usize, (Variable, Expression)> = assignments
            .into_iter()
            .filter(|(v, e)| !matches!(e, Expression::Variable(w) if w == v))
            .enumerate()
            .collect();
        let targets: BTreeMap<Variable, usize> = left.iter().map(|(k, (v, _))| (*v, *k)).collect();
        // For each assignment, the others whose targets it reads, and the number of readers of its own.
        let mut reads: Vec<Vec<usize>> = vec![Vec::new(); left.len()];
        let mut readers = vec![0usize; left.len()];
        for (k, (_, expression)) in &left {
            expression.each_variable(&mut |v| {
                if let Some(target) = targets.get(&v)
                    && target != k
                    && !reads[*k].contains(target)
                {
                    reads[*k].push(*target);
                    readers[*target] += 1;
                }
            });
        }
        let mut ready: Vec<usize> = (0..readers.len())
            .rev()
            .filter(|k| readers[*k] == 0)
            .collect();
        while let Some((&first, _)) = left.first_key_value() {
            let next = ready.pop().unwrap_or_else(|| {
                self.open_cycle(first, &mut left);
                first
            });
            let Some((variable, value)) = left.remove(&next) else {
                continue;
            };
            self.assign(variable, value);
            for target in std::mem::take(&mut reads[next]) {
                readers[target] = readers[target].saturating_sub(1);
                if readers[target] == 0 && left.contains_key(&target) {
                    ready.push(target);
                }
            }
        }
    }

    /// Copies the target of assignment `first`; the other assignments read the copy.
    fn open_cycle(&mut self, first: usize, left: &mut BTreeMap<usize, (Variable, Expression)>) {
        let Some(variable) = left.get(&first).map(|(v, _)| *v) else {
            return;
        };
        let info = self.program.variable(variable).clone();
        let copy = self.declare(
            format!("old_{}", info.name),
            info.ty,
            Expression::Variable(variable),
        );
        for (k, (_, expression)) in left.iter_mut() {
            if *k != first {
                expression.rename(&BTreeMap::from([(variable, copy)]));
            }
        }
    }

    pub(crate) fn add_variable(&mut self, name: impl Into<Arc<str>>, ty: Type) -> Variable {
        self.program.add_variable(name, ty)
    }

    pub(crate) fn emit(&mut self, command: Command) {
        self.commands.push(command);
    }

    /// Declares a variable with a value.
    pub(crate) fn declare(
        &mut self,
        name: impl Into<Arc<str>>,
        ty: Type,
        value: Expression,
    ) -> Variable {
        let variable = self.add_variable(name, ty);
        self.emit(Command::declare(variable, value));
        variable
    }

    /// Declares a variable that is assigned later.
    pub(crate) fn declare_later(&mut self, variable: Variable) {
        self.emit(Command::Declare {
            variable,
            value: None,
        });
    }

    /// Leaves the innermost loop if a condition holds.
    pub(crate) fn break_if(&mut self, condition: Expression) {
        self.emit(Command::If {
            condition,
            then: vec![Command::Break],
            otherwise: Vec::new(),
        });
    }

    pub(crate) fn assign(&mut self, variable: Variable, value: Expression) {
        self.emit(Command::Assign { variable, value });
    }
}
