//! Emits loads and stores of whole vectors in kernels, for consecutive commands that read or write
//! neighbouring elements, as `nova_loop_opt::vectors` leaves them (dpia.txt §6.3).

use crate::context::function::FunctionEmitter;
use nova_c_ast::ast::{Statement, Type};
use nova_loop::ir::{self, Command, Variable};
use nova_loop::neighbours::WIDTHS;

impl FunctionEmitter<'_, '_> {
    /// Emits the first commands of a list as a load or store of a vector. Returns the number of these
    /// commands; 0 if they are no vector.
    pub fn vector(&mut self, commands: &[Command]) -> usize {
        for width in WIDTHS {
            let Some(run) = commands.get(..width) else {
                continue;
            };
            if let Some((pointer, index, ty)) = self.neighbours(run) {
                match run.first() {
                    Some(Command::Store { .. }) => self.store_vector(pointer, &index, &ty, run),
                    _others => self.load_vector(pointer, &index, ty, run),
                }
                return width;
            }
        }
        0
    }

    /// Returns the start of the neighbouring elements that all commands load or store, and the type of
    /// the vector.
    fn neighbours(&self, run: &[Command]) -> Option<(Variable, ir::Expression, Type)> {
        let addresses = self.addresses.as_ref()?;
        let (pointer, from) = access(run.first()?)?;
        let kind = std::mem::discriminant(run.first()?);
        for (k, command) in run.iter().enumerate() {
            let (other, index) = access(command)?;
            let follows = addresses.distance(from, index) == Some(k as i64);
            if other != pointer || !follows || std::mem::discriminant(command) != kind {
                return None;
            }
        }
        if self.own.as_ref().is_none_or(|own| own.contains(&pointer)) {
            return None;
        }
        let ir::Type::Pointer(element) = self.program().variable(pointer).ty else {
            return None;
        };
        let ty = self.unit.options.dialect.vector_type(element, run.len())?;
        Some((pointer, from.clone(), ty))
    }

    fn load_vector(
        &mut self,
        pointer: Variable,
        index: &ir::Expression,
        ty: Type,
        run: &[Command],
    ) {
        let dialect = self.unit.options.dialect;
        let vector = self.fresh("vector");
        let place = self.expression(&ir::Expression::offset(pointer, index.clone()));
        let value = dialect.load_vector(run.len(), place);
        self.push(Statement::declare(ty, vector.clone(), value));
        for (k, command) in run.iter().enumerate() {
            if let Command::Declare { variable, .. } = command {
                let lane = dialect.lane(vector.clone(), k);
                let ty = self.type_of_variable(*variable);
                let name = self.declare(*variable);
                self.push(Statement::declare(ty, name, lane));
            }
        }
    }

    fn store_vector(
        &mut self,
        pointer: Variable,
        index: &ir::Expression,
        ty: &Type,
        run: &[Command],
    ) {
        let mut values = Vec::with_capacity(run.len());
        for command in run {
            if let Command::Store { value, .. } = command {
                values.push(self.assigned(value));
            }
        }
        let place = self.expression(&ir::Expression::offset(pointer, index.clone()));
        let dialect = self.unit.options.dialect;
        self.push(dialect.store_vector(ty, values, place));
    }
}

/// Returns the location that a command loads into a new variable, or to which it stores a variable or a
/// constant.
fn access(command: &Command) -> Option<(Variable, &ir::Expression)> {
    match command {
        Command::Declare {
            value: Some(ir::Expression::Load { pointer, index }),
            ..
        } => match &**pointer {
            ir::Expression::Variable(pointer) => Some((*pointer, &**index)),
            _others => None,
        },
        Command::Store {
            pointer,
            index,
            value,
        } if value.is_simple() => Some((*pointer, index)),
        _others => None,
    }
}
