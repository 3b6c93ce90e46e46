//! Emits conditionals, switches and loops of Loop as C statements.

use crate::context::function::{FunctionEmitter, LoopState};
use crate::dialect;
use crate::dialect::Parallel;
use nova_c_ast::ast::{Expression, Statement, Type};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::Place;
use nova_loop::ir::{
    self, Command, Level, Variable, calls, errors, memory_commands, variable_commands,
};
use nova_loop::ordered_commands;

impl FunctionEmitter<'_, '_> {
    /// Emits a command of control flow.
    pub fn control(&mut self, command: &Command) {
        match command {
            Command::If {
                condition,
                then,
                otherwise,
            } => self.conditional(condition, then, otherwise),
            Command::Switch { scrutinee, cases } => self.switch(scrutinee, cases),
            Command::For {
                variable,
                count,
                level,
                body,
                place,
            } => {
                self.counted_loop(*variable, count, *level, body, place);
            }
            Command::Loop { body, place } => {
                self.endless_loop(body, place);
            }
            Command::Break => self.break_loop(),
            Command::Continue => self.push(Statement::Continue),
            Command::Barrier(Level::Thread) if self.is_on_device() => self.group_barrier(),
            Command::Barrier(level) if self.unit.traces() => self.traced_barrier(*level),
            // One thread needs no barrier, and regions end together.
            Command::Barrier(_) => {}
            // `command` passes no commands without control flow to this function.
            Command::Return
            | Command::Prefetch { .. }
            | ordered_commands!()
            | Command::StoreFence
            | Command::OnHost { .. }
            | Command::Comment(_)
            | variable_commands!()
            | memory_commands!()
            | errors!()
            | calls!() => {}
        }
    }

    fn conditional(&mut self, condition: &ir::Expression, then: &[Command], otherwise: &[Command]) {
        let (condition, then, otherwise) = if then.is_empty() && !otherwise.is_empty() {
            (self.negated(condition).own(), otherwise, then)
        } else {
            (self.expression(condition), then, otherwise)
        };
        let leaves = then.last().is_some_and(leaves);
        let then = self.block(then);
        if leaves {
            // No `else` is needed.
            self.push(Statement::when(condition, then));
            self.commands(otherwise);
            return;
        }
        let otherwise = self.block(otherwise);
        if then.is_empty() && !otherwise.is_empty() {
            self.push(Statement::when(nova_c_ast::ast::not(condition), otherwise));
            return;
        }
        self.push(Statement::If {
            condition,
            then: then.into(),
            otherwise: otherwise.into(),
        });
    }

    fn switch(&mut self, scrutinee: &ir::Expression, cases: &[Vec<Command>]) {
        match cases {
            [] => {}
            [only] => {
                let block = self.block(only);
                self.push(Statement::Block(block.into()));
            }
            [first, second] => {
                let value = self.expression(scrutinee);
                let condition = Expression::binary(
                    nova_c_ast::ast::Binary::Equal,
                    value,
                    Expression::literal("0"),
                );
                let (then, otherwise) = (self.block(first), self.block(second));
                self.push(if then.is_empty() {
                    Statement::when(nova_c_ast::ast::not(condition), otherwise)
                } else {
                    Statement::If {
                        condition,
                        then: then.into(),
                        otherwise: otherwise.into(),
                    }
                });
            }
            many => {
                let value = self.expression(scrutinee);
                self.enter_switch(1);
                let cases = many.iter().map(|case| self.block(case).into()).collect();
                self.enter_switch(-1);
                self.push(Statement::Switch { value, cases });
            }
        }
    }

    fn enter_switch(&mut self, by: isize) {
        if let Some(state) = self.loops.last_mut() {
            state.switches = state.switches.wrapping_add_signed(by);
        }
    }

    /// Emits a comment with the place of a loop, unless the loop before has the same place.
    fn remark(&mut self, place: &Place) {
        if !place.file.is_empty() && self.remarked.as_ref() != Some(place) {
            self.push(Statement::Comment(place.to_string().into()));
            self.remarked = Some(place.clone());
        }
    }

    fn counted_loop(
        &mut self,
        variable: Variable,
        count: &ir::Expression,
        level: Level,
        body: &[Command],
        place: &Place,
    ) {
        let count = match count {
            ir::Expression::Constant(_) => self.plain(count),
            ir::Expression::Variable(v) if self.unit.is_constant(*v) => self.plain(count),
            other @ (ir::Expression::Bytes(_)
            | ir::Expression::Data(..)
            | ir::Expression::Variable(_)
            | ir::Expression::Scalar { .. }
            | ir::Expression::Select { .. }
            | ir::Expression::Load { .. }
            | ir::Expression::Offset { .. }
            | ir::Expression::NullPointer(_)
            | ir::Expression::NullBlock
            | ir::Expression::NodeTag { .. }) => {
                let value = self.assigned(other);
                let name = self.fresh("count");
                let ty = Type::name("int64_t").constant();
                self.push(Statement::declare(ty, name.clone(), value));
                Expression::Name(name)
            }
        };
        self.remark(place);
        if self.unit.traces() {
            return self.traced_loop(variable, count, level, body, place);
        }
        if !self.program().strict
            && let Some(array) = rsqrt_in_place(variable, body)
        {
            let array = Expression::Name(self.name(array));
            self.push(Statement::call(RSQRT, vec![array, count]));
            return;
        }
        let dialect = self.unit.options.dialect;
        if level.starts_kernel() && !self.is_on_device() {
            match dialect.parallel {
                Parallel::Regions if level == Level::Grid => {
                    return self.region(variable, count, body);
                }
                Parallel::OpenClKernels | Parallel::CudaKernels => {
                    return self.kernel(variable, count, level, body, place);
                }
                Parallel::InOrder | Parallel::Traced | Parallel::Regions => {}
            }
        }
        if level == Level::Thread && self.is_on_device() {
            return self.loop_of_threads(variable, count, body);
        }
        let name = self.declare(variable);
        self.add_index(variable);
        let body = self.block(body);
        // Compilers of kernels do not know these hints.
        let level = if self.is_on_device() {
            Level::Sequential
        } else {
            level
        };
        let counted = dialect::counted_loop(level, name, count, body);
        self.push(counted);
    }

    fn endless_loop(&mut self, body: &[Command], place: &Place) {
        self.remark(place);
        let enclosing = self.tracing.at(place);
        self.loops.push(LoopState::default());
        let (condition, body) = self.loop_parts(body);
        self.push(Statement::While {
            condition,
            body: body.into(),
        });
        self.tracing.place = enclosing;
        if let Some(label) = self.loops.pop().and_then(|state| state.label) {
            self.push(Statement::Label(label));
        }
    }

    /// Splits the body of a loop into the condition that it starts with, if any, and the rest.
    fn loop_parts(&mut self, body: &[Command]) -> (Option<Expression>, Vec<Statement>) {
        let body = match body {
            [rest @ .., Command::Continue] => rest,
            other => other,
        };
        if let [
            Command::If {
                condition,
                then,
                otherwise,
            },
            rest @ ..,
        ] = body
        {
            let parts = match (&**then, &**otherwise) {
                ([Command::Break], []) => Some((true, None, rest)),
                ([], [Command::Break]) => Some((false, None, rest)),
                ([Command::Break], other) if rest.is_empty() => Some((true, Some(other), rest)),
                (other, [Command::Break]) if rest.is_empty() => Some((false, Some(other), rest)),
                _ => None,
            };
            if let Some((negate, inside, rest)) = parts {
                let (before, value) = self.apart(|emitter| match negate {
                    true => emitter.negated(condition),
                    false => emitter.value(condition),
                });
                if before.is_empty() {
                    return (Some(value.own()), self.block(inside.unwrap_or(rest)));
                }
            }
        }
        (None, self.block(body))
    }

    fn break_loop(&mut self) {
        let inside_switch = self.loops.last().is_some_and(|state| state.switches > 0);
        if !inside_switch {
            self.push(Statement::Break);
            return;
        }
        let known = self.loops.last().and_then(|state| state.label.clone());
        let label = match known {
            Some(label) => label,
            None => self.fresh("done"),
        };
        if let Some(state) = self.loops.last_mut() {
            state.label = Some(label.clone());
        }
        self.push(Statement::Goto(label));
    }
}

/// The runtime's function that replaces the elements of an array by their reciprocal square roots.
const RSQRT: &str = "nova_reciprocal_roots_f32";

/// Returns the array whose elements a loop over `index` replaces by their reciprocal square roots;
/// `None` if its body does anything else.
fn rsqrt_in_place(index: Variable, body: &[Command]) -> Option<Variable> {
    let [
        Command::Store {
            pointer,
            index: ir::Expression::Variable(to),
            value:
                ir::Expression::Scalar {
                    operation: ScalarOperation::ReciprocalSqrt,
                    operand: Scalar::F32,
                    arguments,
                },
        },
    ] = body
    else {
        return None;
    };
    let [
        ir::Expression::Load {
            pointer: read,
            index: from,
        },
    ] = &arguments[..]
    else {
        return None;
    };
    let same = matches!(**read, ir::Expression::Variable(read) if read == *pointer)
        && matches!(**from, ir::Expression::Variable(from) if from == index);
    (same && *to == index).then_some(*pointer)
}

/// True if control never reaches the command after this one.
pub fn leaves(command: &Command) -> bool {
    matches!(
        command,
        Command::Fail { .. } | Command::Return | Command::Break | Command::Continue
    )
}
