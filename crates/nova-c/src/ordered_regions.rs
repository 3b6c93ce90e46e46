//! Kernels whose work-groups hand numbers on, each in its turn: groups take iterations by tickets, and
//! what they hand on is put together by looking back (`runtime-c/cuda/turns.h`). Only CUDA says enough
//! of which groups run at the same time; no pass makes such loops for OpenCL, whose compilers would
//! refuse the names.

use crate::ast::{Binary, Expression, Function, Name, Parameter, Statement, Type};
use crate::command::context;
use crate::function::FunctionEmitter;
use crate::scalar::{self, Value, memory_type, variable_type};
use nova_core::{Scalar, ScalarOperation};
use nova_loop::ir::Command;
use nova_loop::ordered_regions::handed_on;

/// What a kernel takes turns with.
#[derive(Clone)]
pub struct Turning {
    /// The words of the turns.
    words: Name,
    /// The iteration.
    index: Name,
    /// How many there are.
    count: Name,
}

impl Turning {
    /// The loop over iterations that groups take by tickets.
    pub fn loop_of_tickets(self, body: Vec<Statement>) -> Statement {
        let ticket = Expression::call("nova_take_ticket", vec![Expression::Name(self.words)]);
        let declared = Statement::declare(Type::name("int64_t"), self.index.clone(), ticket);
        let [index, count] = [self.index, self.count].map(Expression::Name);
        let is_behind = Expression::binary(Binary::GreaterEqual, index, count);
        let mut all = vec![declared, Statement::when(is_behind, vec![Statement::Break])];
        all.extend(body);
        Statement::While {
            condition: None,
            body: all.into(),
        }
    }
}

impl FunctionEmitter<'_, '_> {
    /// Before a launch: makes the words for the turns of so many iterations, if they take any; gives
    /// the block and the argument.
    pub fn new_turns(
        &mut self,
        count: &Expression,
        body: &[Command],
    ) -> Option<(Name, Expression)> {
        let numbers = handed_on(body)?.len();
        let turns = self.fresh("turns");
        let all = vec![
            context(),
            count.clone(),
            Expression::literal(numbers.to_string()),
        ];
        let made = Expression::call("nova_new_turns", all);
        let ty = Type::name("nova_block").pointer();
        self.push(Statement::declare(ty, turns.clone(), made));
        let data = Expression::Name(turns.clone()).arrow("data");
        Some((
            turns,
            self.array_argument(data, Type::name("uint64_t"), true),
        ))
    }

    /// Adds the parameter for the words of turns, if the loop of a kernel takes some.
    pub fn take_turns_from_host(
        &mut self,
        (index, count): (&Name, &Name),
        body: &[Command],
        parameters: &mut Vec<Parameter>,
    ) {
        if handed_on(body).is_none() {
            return;
        }
        let words = self.fresh("turns");
        parameters.push(Parameter {
            ty: Type::name("uint64_t").pointer(),
            name: words.clone(),
        });
        self.turning = Some(Turning {
            words,
            index: index.clone(),
            count: count.clone(),
        });
    }

    /// Emits the turn of a group that commands begin with; how many of them that are.
    pub fn turn_of_group(&mut self, commands: &[Command]) -> usize {
        let Some(turning) = self.turning.clone() else {
            return 0;
        };
        let (Some(Command::BeginOrdered(_)), Some(handed)) =
            (commands.first(), handed_on(commands))
        else {
            return 0;
        };
        for (number, each) in handed.iter().enumerate() {
            let combine = self.combination(each.operation, each.scalar);
            let own = self.expression(each.own);
            let arguments = vec![
                Expression::Name(turning.words.clone()),
                Expression::Name(turning.index.clone()),
                Expression::Name(turning.count.clone()),
                Expression::literal(number.to_string()),
                Expression::Name(self.name(each.state)),
                own.cast(memory_type(each.scalar)),
                Expression::Name(combine),
            ];
            let name = self.declare(each.begin);
            let given = Expression::call("nova_take_turn", arguments);
            let ty = variable_type(each.scalar);
            self.push(Statement::declare(ty, name, given));
        }
        // The turn begins, a declaration and a store for each number, and it ends.
        2 + 2 * handed.len()
    }

    /// A function of the device that combines two numbers.
    fn combination(&mut self, operation: ScalarOperation, scalar: Scalar) -> Name {
        let name = format!("{}_combine", self.function);
        let name = self.unit.names.fresh(&name, None);
        let [a, b] = ["a", "b"].map(|name| Value::exact(Expression::name(name), scalar, 0));
        let functions = self.functions();
        let value = scalar::apply(operation, vec![a, b], functions).own();
        let ty = || memory_type(scalar);
        let parameters = ["a", "b"].map(|name| Parameter {
            ty: ty(),
            name: name.into(),
        });
        self.unit.kernels.functions.push(Function {
            prefix: vec!["static __device__ inline".into()],
            result: ty(),
            name: name.clone(),
            parameters: parameters.into(),
            body: Some(vec![Statement::Return(Some(value))].into()),
        });
        name
    }
}
