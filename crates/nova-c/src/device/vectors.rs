//! Emits loads and stores of whole vectors in kernels, for consecutive commands that read or write
//! neighbouring elements, as `nova_kernels::vectors` leaves them (dpia.txt §6.3).

use crate::context::function::Emitter;
use crate::emit::expression::{assigned, expression};
use nova_c_ast::ast::{Statement, Type};
use nova_loop::ir::{self, Command, Variable};
use nova_loop::neighbours::WIDTHS;

/// Emits the first commands of a list as a load or store of a vector. Returns the number of these
/// commands; 0 if they are no vector.
pub(crate) fn vector(code: &mut Emitter, commands: &[Command]) -> usize {
    for width in WIDTHS {
        let Some(run) = commands.get(..width) else {
            continue;
        };
        if let Some((pointer, index, ty)) = neighbours(code, run) {
            match run.first() {
                Some(Command::Store { .. }) => store_vector(code, pointer, &index, &ty, run),
                _others => load_vector(code, pointer, &index, ty, run),
            }
            return width;
        }
    }
    0
}

/// Returns the start of the neighbouring elements that all commands load or store, and the type of
/// the vector.
fn neighbours(code: &Emitter, run: &[Command]) -> Option<(Variable, ir::Expression, Type)> {
    let addresses = code.device.addresses.as_ref()?;
    let (pointer, from) = access(run.first()?)?;
    let kind = std::mem::discriminant(run.first()?);
    for (k, command) in run.iter().enumerate() {
        let (other, index) = access(command)?;
        let follows = addresses.distance(from, index) == Some(k as i64);
        if other != pointer || !follows || std::mem::discriminant(command) != kind {
            return None;
        }
    }
    if code
        .device
        .own
        .as_ref()
        .is_none_or(|own| own.contains(&pointer))
    {
        return None;
    }
    let ir::Type::Pointer(element) = code.program().variable(pointer).ty else {
        return None;
    };
    let ty = code.unit.options.dialect.vector_type(element, run.len())?;
    Some((pointer, from.clone(), ty))
}

fn load_vector(
    code: &mut Emitter,
    pointer: Variable,
    index: &ir::Expression,
    ty: Type,
    run: &[Command],
) {
    let dialect = code.unit.options.dialect;
    let vector = code.fresh("vector");
    let place = expression(code, &ir::Expression::offset(pointer, index.clone()));
    let value = dialect.load_vector(run.len(), place);
    code.push(Statement::declare(ty, vector.clone(), value));
    for (k, command) in run.iter().enumerate() {
        if let Command::Declare { variable, .. } = command {
            let lane = dialect.lane(vector.clone(), k);
            let ty = code.type_of_variable(*variable);
            let name = code.declare(*variable);
            code.push(Statement::declare(ty, name, lane));
        }
    }
}

fn store_vector(
    code: &mut Emitter,
    pointer: Variable,
    index: &ir::Expression,
    ty: &Type,
    run: &[Command],
) {
    let mut values = Vec::with_capacity(run.len());
    for command in run {
        if let Command::Store { value, .. } = command {
            values.push(assigned(code, value));
        }
    }
    let place = expression(code, &ir::Expression::offset(pointer, index.clone()));
    let dialect = code.unit.options.dialect;
    code.push(dialect.store_vector(ty, values, place));
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
