//! Helpers of the tests: Loop programs written in Rust, and C hosts ([`hosts`]).

mod hosts;

pub use hosts::{compiles, global_symbols, output_of_two, output_plainly, prints};

use nova_c::{Dialect, Files, Options};
use nova_c_ast::passes;
use nova_core::{
    Constructor, ErrorKind, Scalar, ScalarOperation, ScalarValue, SumId, SumType, Type as CoreType,
};
use nova_diag::Place;
use nova_flat::representation::{destinations, input_fields};
use nova_loop::ir::{
    Command, Entry, Expression, Function, FunctionId, Level, Program, Type, Variable,
};

pub const I64: Type = Type::Scalar(Scalar::I64);
pub const I32: Type = Type::Scalar(Scalar::I32);
pub const F32: Type = Type::Scalar(Scalar::F32);
pub const BLOCK: Type = Type::Block;

pub fn pointer(scalar: Scalar) -> Type {
    Type::Pointer(scalar)
}

pub fn scalar(scalar: Scalar) -> CoreType {
    CoreType::Scalar(scalar)
}

pub fn place(line: u32, column: u32) -> Place {
    Place::new("test.nova", line, column)
}

pub fn var(variable: Variable) -> Expression {
    Expression::Variable(variable)
}

pub fn int(value: i64) -> Expression {
    Expression::Constant(ScalarValue::I64(value))
}

pub fn constant(value: ScalarValue) -> Expression {
    Expression::Constant(value)
}

pub fn operation(
    operation: ScalarOperation,
    operand: Scalar,
    arguments: Vec<Expression>,
) -> Expression {
    Expression::Scalar {
        operation,
        operand,
        arguments,
    }
}

pub fn binary(op: ScalarOperation, operand: Scalar, a: Expression, b: Expression) -> Expression {
    operation(op, operand, vec![a, b])
}

/// `a + b` on `i64`.
pub fn plus(a: Expression, b: Expression) -> Expression {
    binary(ScalarOperation::Add, Scalar::I64, a, b)
}

pub fn minus(a: Expression, b: Expression) -> Expression {
    binary(ScalarOperation::Subtract, Scalar::I64, a, b)
}

pub fn less(a: Expression, b: Expression) -> Expression {
    binary(ScalarOperation::Less, Scalar::I64, a, b)
}

pub fn equal(a: Expression, b: Expression) -> Expression {
    binary(ScalarOperation::Equal, Scalar::I64, a, b)
}

pub fn select(condition: Expression, then: Expression, otherwise: Expression) -> Expression {
    Expression::Select {
        condition: Box::new(condition),
        then: Box::new(then),
        otherwise: Box::new(otherwise),
    }
}

pub fn truth(value: bool) -> Expression {
    Expression::Constant(ScalarValue::Bool(value))
}

pub fn load(pointer: Variable, index: Expression) -> Expression {
    Expression::Load {
        pointer: Box::new(var(pointer)),
        index: Box::new(index),
    }
}

pub fn declare(variable: Variable, value: Expression) -> Command {
    Command::Declare {
        variable,
        value: Some(value),
    }
}

pub fn unset(variable: Variable) -> Command {
    Command::Declare {
        variable,
        value: None,
    }
}

pub fn assign(variable: Variable, value: Expression) -> Command {
    Command::Assign { variable, value }
}

pub fn store(pointer: Variable, index: Expression, value: Expression) -> Command {
    Command::Store {
        pointer,
        index,
        value,
    }
}

pub fn each(variable: Variable, count: Expression, body: Vec<Command>) -> Command {
    Command::For {
        variable,
        count,
        level: Level::Sequential,
        body,
        place: place(2, 1),
    }
}

pub fn when(condition: Expression, then: Vec<Command>, otherwise: Vec<Command>) -> Command {
    Command::If {
        condition,
        then,
        otherwise,
    }
}

pub fn repeat(body: Vec<Command>) -> Command {
    Command::Loop {
        body,
        place: place(3, 1),
    }
}

pub fn allocate(block: Variable, pointer: Variable, element: Scalar, count: Expression) -> Command {
    Command::Allocate {
        block,
        pointer,
        element,
        count,
        destination: None,
        place: place(4, 2),
    }
}

pub fn check(condition: Expression, error: ErrorKind, arguments: Vec<Expression>) -> Command {
    Command::Check {
        condition,
        error,
        arguments,
        place: place(1, 7),
    }
}

pub fn call(function: FunctionId, arguments: Vec<Expression>, results: Vec<Variable>) -> Command {
    Command::Call {
        function,
        arguments,
        results,
    }
}

/// Adds a function.
pub fn function(
    program: &mut Program,
    name: &str,
    parameters: Vec<Variable>,
    results: Vec<Variable>,
    body: Vec<Command>,
) -> FunctionId {
    program.functions.push(Function {
        name: name.into(),
        parameters,
        results,
        body,
        recursive: false,
        takes: false,
        place: place(1, 1),
    });
    FunctionId(program.functions.len() as u32 - 1)
}

/// Adds an entry.
pub fn entry(
    program: &mut Program,
    name: &str,
    inputs: Vec<(&str, CoreType)>,
    result: CoreType,
    function: FunctionId,
) {
    program.entries.push(Entry {
        name: name.into(),
        inputs: inputs.into_iter().map(|(n, t)| (n.into(), t)).collect(),
        result,
        function,
    });
}

/// Adds an entry that returns its only input: its function retains and returns the components.
pub fn identity(program: &mut Program, name: &str, ty: CoreType) {
    let mut parameters = Vec::new();
    let mut results = Vec::new();
    let mut body = Vec::new();
    let components = nova_flat::representation::components(&ty, &program.sums);
    let inputs = input_fields(&ty, &program.sums);
    let made = destinations(&ty, &program.sums);
    // The parameter that holds each component's scalar.
    let mut scalars = Vec::new();
    for ((component, field), destination) in components.iter().zip(inputs).zip(made) {
        let mut pair = |suffix: &str, ty: Type| {
            let parameter = program.add_variable(format!("{}{suffix}", component.name), ty);
            let result = program.add_variable(format!("out_{}{suffix}", component.name), ty);
            parameters.push(parameter);
            results.push(result);
            (parameter, result)
        };
        if component.shape.is_empty() {
            let (parameter, result) = pair("", Type::Scalar(component.scalar));
            body.push(assign(result, var(parameter)));
            scalars.push(parameter);
            continue;
        }
        let (from, to) = pair("", Type::Pointer(component.scalar));
        let (block, to_block) = pair("_block", Type::Block);
        scalars.push(from);
        let Some(field) = field else {
            body.push(Command::Retain(block));
            body.push(assign(to, var(from)));
            body.push(assign(to_block, var(block)));
            continue;
        };
        let extents = component.shape.iter().map(|k| var(scalars[*k]));
        let count = extents.reduce(Expression::times).expect("an extent");
        let i = program.add_variable("i", Type::Scalar(Scalar::I64));
        let destination = destination.filter(|d| d.stride > 1);
        let stride = destination.map_or(1, |d| i64::from(d.stride));
        let apart = |stride: i64| var(i).times(Expression::index(stride));
        body.push(Command::Allocate {
            block: to_block,
            pointer: to,
            element: component.scalar,
            count: count.clone(),
            destination,
            place: place(4, 2),
        });
        body.push(Command::For {
            variable: i,
            count,
            level: nova_loop::ir::Level::Sequential,
            body: vec![store(
                to,
                apart(stride),
                load(from, apart(field.stride as i64)),
            )],
            place: place(5, 2),
        });
    }
    let id = function(program, name, parameters, results, body);
    entry(program, name, vec![("x", ty.clone())], ty, id);
}

pub fn emit(program: &Program, name: &str) -> Files {
    emit_for(Dialect::SEQUENTIAL, program, name)
}

pub fn emit_for(dialect: &'static Dialect, program: &Program, name: &str) -> Files {
    let options = Options {
        name: name.into(),
        dialect,
        one_thread: Vec::new(),
        device_source: String::new(),
        prefix: String::new(),
        lines: false,
    };
    let mut emission = nova_c::emit(program, &options);
    for pass in PASSES {
        pass(&mut emission.program);
    }
    nova_c::files(emission)
}

/// The passes on C, as the driver's table has them.
const PASSES: [fn(&mut nova_c_ast::ast::Program); 6] = [
    passes::signature::run,
    passes::declare::run,
    passes::copies::run,
    passes::declare::run,
    passes::nesting::run,
    passes::accumulators::run,
];

/// The variables for the components of a type.
pub fn components(program: &mut Program, ty: &CoreType, name: &str) -> Vec<Variable> {
    let mut variables = Vec::new();
    for component in nova_flat::representation::components(ty, &program.sums) {
        let name = format!("{name}_{}", component.name);
        if component.shape.is_empty() {
            let ty = Type::Scalar(component.scalar);
            variables.push(program.add_variable(&*name, ty));
        } else {
            variables.push(program.add_variable(&*name, pointer(component.scalar)));
            variables.push(program.add_variable(format!("{name}_block"), BLOCK));
        }
    }
    variables
}

pub fn sum_type(name: &str, group: &[u32], constructors: Vec<(&str, CoreType)>) -> SumType {
    SumType {
        name: name.into(),
        arguments: vec![],
        constructors: constructors
            .into_iter()
            .map(|(name, payload)| Constructor {
                name: name.into(),
                payload,
            })
            .collect(),
        group: group.iter().map(|k| SumId(*k)).collect(),
        node_of: None,
    }
}
