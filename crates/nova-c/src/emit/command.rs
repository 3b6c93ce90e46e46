//! Emits commands of Loop as C statements.

use crate::context::expressions::{context, offset};
use crate::context::function::{FunctionEmitter, returned};
use crate::context::making::Making;
use crate::scalar::memory_type;
use nova_c_ast::ast::{Expression, Name, Statement};
use nova_core::{ErrorKind, Scalar, ScalarOperation, ScalarValue};
use nova_diag::{Place, deep};
use nova_loop::ir::{
    self, Command, FunctionId, HostAccess, Variable, bulk_commands, calls, errors, jumps,
    memory_commands, remarks, structures, variable_commands,
};
use nova_loop::result_buffer_commands;

impl FunctionEmitter<'_, '_> {
    /// Emits commands into the current block.
    pub fn commands(&mut self, commands: &[Command]) {
        let mut left = commands;
        while let [first, rest @ ..] = left {
            left = match self.ordered_region(left).max(self.vector(left)) {
                0 => {
                    deep(|| self.command(first));
                    rest
                }
                width => left.get(width..).unwrap_or_default(),
            };
        }
    }

    fn command(&mut self, command: &Command) {
        if !self.counts && self.is_for_handles(command) {
            return;
        }
        match command {
            Command::Declare { variable, value } => {
                self.declare(*variable);
                self.declare_unset(*variable);
                if let Some(value) = value {
                    self.command_assign(*variable, value);
                }
            }
            Command::Local { pointer, count } => self.local_array(*pointer, *count),
            // Arrays of work-groups are parameters of kernels; the verifier allows the command nowhere
            // else.
            Command::Shared { pointer, count } => self.trace_shared(*pointer, count),
            Command::Spare {
                pointer,
                places,
                count,
                apart,
            } => self.spare(*pointer, places, count, apart),
            Command::Assign { variable, value } => self.command_assign(*variable, value),
            memory_commands!() => self.memory(command),
            Command::Break | Command::Continue | Command::Barrier(_) | structures!() => {
                self.control(command)
            }
            Command::Return => self.leave(false),
            calls!() => self.outside(command),
            Command::Check {
                condition,
                error,
                arguments,
                place,
            } => {
                let failed = self.negated(condition).own();
                let fail = self.fail(*error, arguments, place);
                self.push(Statement::when(failed, fail));
            }
            Command::Fail {
                error,
                arguments,
                place,
            } => {
                let fail = self.fail(*error, arguments, place);
                fail.into_iter().for_each(|statement| self.push(statement));
            }
            Command::OnHost { pointer, access } => self.on_host(*pointer, access),
            Command::Prefetch { .. } if self.is_on_device() => {}
            Command::Prefetch {
                pointer,
                index,
                only_linear,
            } => {
                if let ir::Type::Pointer(element) = self.unit.program.variable(*pointer).ty {
                    let arguments = vec![
                        Expression::Name(self.name(*pointer)),
                        self.assigned(index),
                        Expression::SizeOf(memory_type(element)),
                    ];
                    let function = match only_linear {
                        true => "nova_prefetch_linear",
                        false => "nova_prefetch",
                    };
                    self.push(Statement::call(function, arguments));
                }
            }
            Command::BeginOrdered(_) if self.unit.traces() => self.traced_ordered(false),
            Command::EndOrdered(_) if self.unit.traces() => self.traced_ordered(true),
            Command::BeginOrdered(index) => self.ordered_call("nova_begin_ordered", *index),
            Command::EndOrdered(index) => self.ordered_call("nova_end_ordered", *index),
            Command::StoreFence => self.push(Statement::call("nova_store_fence", Vec::new())),
            Command::Comment(text) => self.push(Statement::Comment(text.clone())),
        }
    }

    /// True if a command only manages blocks, of which kernels have none.
    fn is_for_handles(&self, command: &Command) -> bool {
        match command {
            Command::Retain(_) | Command::Release(_) => true,
            Command::Declare { variable, .. } | Command::Assign { variable, .. } => {
                self.program().variable(*variable).ty == ir::Type::Block
            }
            _others => false,
        }
    }

    /// Emits a command on memory.
    fn memory(&mut self, command: &Command) {
        match command {
            Command::Store {
                pointer,
                index,
                value,
            } => {
                let array = self.read_variable(*pointer);
                let index = self.plain(index);
                let value = self.assigned(value);
                let target = self.traced_target(*pointer, array.index(index));
                self.push(Statement::assign(target, value));
            }
            Command::Contend {
                pointer,
                index,
                value,
                stays,
            } => self.contend(*pointer, index, value, *stays),
            Command::Allocate {
                block,
                pointer,
                element,
                count,
                destination: None,
                place,
            } => self.allocate(*block, *pointer, *element, None, count, place),
            Command::Allocate {
                block,
                pointer,
                element,
                count,
                destination: Some(destination),
                place,
            } => {
                self.make_result(*pointer, *element, count, destination.component, place);
                self.assign(*block, Expression::name("NULL"));
            }
            Command::Reserve {
                block,
                pointer,
                element,
                used,
                count,
                place,
            } => self.allocate(*block, *pointer, *element, Some(used), count, place),
            Command::Unique {
                block,
                pointer,
                element,
                count,
                place,
            } => self.unique(*block, *pointer, *element, count, place),
            bulk_commands!() => {
                self.trace_bulk(command);
                self.bulk(command);
            }
            result_buffer_commands!() => {
                self.trace_result_buffers(command);
                self.result_buffers(command);
                self.trace_made_result_buffers(command);
            }
            Command::Retain(block) => {
                let block = Expression::Name(self.name(*block));
                let function = self.runtime("nova_retain");
                self.push(Statement::call(function, vec![block]));
            }
            Command::Release(block) => {
                let block = Expression::Name(self.name(*block));
                let function = self.runtime("nova_release");
                self.push(Statement::call(function, vec![context(), block]));
            }
            // `command` passes no other commands to this function.
            variable_commands!() | structures!() | jumps!() | errors!() | calls!() | remarks!() => {
            }
        }
    }

    /// Emits a command that needs code outside of the function: calls, nodes, traces.
    fn outside(&mut self, command: &Command) {
        match command {
            Command::Call {
                function,
                arguments,
                results,
            } => self.call(*function, arguments, results),
            Command::Foreign {
                foreign,
                arguments,
                results,
                ..
            } => self.foreign_call(*foreign, arguments, results),
            Command::NodeNew {
                sum,
                constructor,
                payload,
                link,
                place,
            } => self.new_node(*sum, *constructor, payload, *link, place),
            Command::NodePayload {
                sum,
                constructor,
                link,
                results,
            } => self.node_payload(*sum, *constructor, link, results),
            Command::Trace {
                text,
                ty,
                components,
            } => self.trace(text, ty, components),
            // `command` passes no other commands to this function.
            variable_commands!()
            | memory_commands!()
            | structures!()
            | jumps!()
            | errors!()
            | remarks!() => {}
        }
    }

    fn command_assign(&mut self, variable: Variable, value: &ir::Expression) {
        let value = self.assigned(value);
        self.assign(variable, value);
    }

    /// Emits `Allocate`, or `Reserve` if a number of used elements is given.
    fn allocate(
        &mut self,
        block: Variable,
        pointer: Variable,
        element: Scalar,
        used: Option<&ir::Expression>,
        count: &ir::Expression,
        place: &Place,
    ) {
        let block_variable = block;
        let block = Expression::Name(self.name(block)).address();
        let mut arguments = vec![context(), block];
        arguments.extend(used.map(|u| self.assigned(u)));
        arguments.push(self.assigned(count));
        arguments.push(Expression::SizeOf(memory_type(element)));
        if !self.is_on_device() {
            arguments.push(Expression::text(place.to_string()));
        }
        let name = self.runtime(if used.is_some() {
            "nova_reserve"
        } else {
            "nova_allocate"
        });
        let data = self.fresh_memory(used.is_none(), Expression::call(name, arguments));
        let ty = self.type_of_variable(pointer);
        self.trace_assigned(&[block_variable]);
        self.assign(pointer, data.cast(ty));
        self.trace_new(pointer, element, count);
        self.leave_if_failed();
    }

    /// Returns the name of a function of the runtime on the platform for which the code is emitted.
    pub fn runtime(&self, name: &str) -> Name {
        match self.is_on_device() {
            true => format!("{name}_on_device").into(),
            false => name.into(),
        }
    }

    /// Marks new memory as not written yet, where the runtime of a device must know.
    fn fresh_memory(&self, is_new: bool, data: Expression) -> Expression {
        match is_new && self.unit.has_kernels && !self.is_on_device() {
            true => Expression::call("nova_fresh", vec![context(), data]),
            false => data,
        }
    }

    /// Makes a block the only owner of its elements: it becomes a copy if others hold it too.
    fn unique(
        &mut self,
        block: Variable,
        pointer: Variable,
        element: Scalar,
        count: &ir::Expression,
        place: &Place,
    ) {
        let mut arguments = vec![
            context(),
            Expression::Name(self.name(block)).address(),
            Expression::Name(self.name(pointer)),
            self.assigned(count),
            Expression::SizeOf(memory_type(element)),
        ];
        if !self.is_on_device() {
            arguments.push(Expression::text(place.to_string()));
        }
        let data = Expression::call(self.runtime("nova_unique"), arguments);
        let ty = self.type_of_variable(pointer);
        self.trace_assigned(&[block]);
        self.assign(pointer, data.cast(ty));
        self.trace_new(pointer, element, count);
        self.leave_if_failed();
    }

    /// Allocates the memory of a component of the result: a field of its elements.
    fn make_result(
        &mut self,
        pointer: Variable,
        element: Scalar,
        count: &ir::Expression,
        component: u32,
        place: &Place,
    ) {
        let Some(making) = self.making.clone() else {
            return;
        };
        let arguments = vec![
            context(),
            self.assigned(count),
            Expression::SizeOf(making.element.clone()),
            making.at_once.condition(),
            Expression::text(place.to_string()),
        ];
        let elements = memory_type(element).pointer();
        let made = self.fresh_memory(true, Expression::call("nova_make_result", arguments));
        let data = || made;
        let Some(field) = making.fields.get(component as usize).copied().flatten() else {
            return self.assign(pointer, data().cast(elements));
        };
        // All fields are addressed through one pointer, so that C compilers know their distances.
        let name = making.data.clone().unwrap_or_else(|| {
            let name = self.fresh("result");
            let ty = making.element.clone().pointer();
            self.push(Statement::declare(
                ty.clone(),
                name.clone(),
                data().cast(ty),
            ));
            name
        });
        let start = Expression::Name(name.clone()).cast(elements);
        self.assign(pointer, offset(start, field.offset));
        self.fields.note_made(element, pointer, field.offset);
        self.making = Some(Making {
            data: Some(name),
            ..making
        });
    }

    /// Returns the statements of a failure.
    fn fail(
        &mut self,
        error: ErrorKind,
        arguments: &[ir::Expression],
        place: &Place,
    ) -> Vec<Statement> {
        let (mut statements, fail) = self.apart(|emitter| {
            let arguments = arguments
                .iter()
                .map(|a| emitter.error_argument(a))
                .collect();
            match emitter.is_on_device() {
                true => emitter.fail_on_device(error, arguments, place),
                false => vec![emitter.failure(error, arguments, place)],
            }
        });
        statements.extend(fail);
        statements
    }

    /// Brings an array, or an element of it, to the host. Does nothing without a device.
    fn on_host(&mut self, pointer: Variable, access: &HostAccess) {
        if self.is_on_device() || !self.unit.has_kernels {
            return;
        }
        let mut arguments = vec![context(), Expression::Name(self.name(pointer))];
        let function = match access {
            HostAccess::Reads | HostAccess::Writes => {
                let writes = *access == HostAccess::Writes;
                arguments.push(Expression::name(if writes { "true" } else { "false" }));
                "nova_on_host"
            }
            HostAccess::ReadsElement(index) | HostAccess::WroteElement(index) => {
                let size = match self.program().variable(pointer).ty {
                    ir::Type::Pointer(element) => Expression::SizeOf(memory_type(element)),
                    ir::Type::Scalar(_) | ir::Type::Block => return,
                };
                arguments.extend([self.plain(index), size]);
                match matches!(access, HostAccess::ReadsElement(_)) {
                    true => "nova_element_on_host",
                    false => "nova_element_written",
                }
            }
        };
        self.push(Statement::call(function, arguments));
    }

    /// Returns an integer for a message. A `uint64` beyond the range of `int64` becomes the largest
    /// `int64`.
    fn error_argument(&mut self, argument: &ir::Expression) -> Expression {
        if !self.is_uint64(argument) {
            return self.plain(argument);
        }
        let largest = ScalarValue::U64(i64::MAX as u64);
        let shown = ir::Expression::Scalar {
            operation: ScalarOperation::Minimum,
            operand: Scalar::U64,
            arguments: vec![argument.clone(), ir::Expression::Constant(largest)],
        };
        self.plain(&shown)
    }

    fn is_uint64(&self, expression: &ir::Expression) -> bool {
        let of_type = |ty: ir::Type| {
            matches!(
                ty,
                ir::Type::Scalar(Scalar::U64) | ir::Type::Pointer(Scalar::U64)
            )
        };
        match expression {
            ir::Expression::Constant(value) => value.scalar() == Scalar::U64,
            ir::Expression::Variable(variable) => of_type(self.program().variable(*variable).ty),
            ir::Expression::Scalar {
                operation, operand, ..
            } => operation.result(*operand) == Scalar::U64,
            ir::Expression::Select { then: inner, .. }
            | ir::Expression::Load { pointer: inner, .. }
            | ir::Expression::Offset { pointer: inner, .. } => self.is_uint64(inner),
            ir::Expression::Bytes(_)
            | ir::Expression::Data(..)
            | ir::Expression::NullPointer(_)
            | ir::Expression::NullBlock
            | ir::Expression::NodeTag { .. } => false,
        }
    }

    fn call(&mut self, function: FunctionId, arguments: &[ir::Expression], results: &[Variable]) {
        let info = match (self.is_on_device(), self.unit.kernels.infos.get(&function)) {
            (true, Some(info)) => info.clone(),
            (true, None) | (false, _) => self.unit.functions[function.0 as usize].clone(),
        };
        let mut all = Vec::new();
        if info.context {
            all.push(context());
        }
        let parameters = &self.program().functions[function.0 as usize].parameters;
        let counts = !self.is_on_device() || self.unit.kernels.memory_users.contains(&function);
        for (argument, parameter) in arguments.iter().zip(parameters) {
            if counts || self.program().variable(*parameter).ty != ir::Type::Block {
                all.push(self.assigned(argument));
            }
        }
        self.call_with(function, info.name.clone(), all, results);
        if info.context {
            self.leave_if_failed();
        }
    }

    /// In code for a device, leaves the function if something in it has failed.
    pub fn leave_if_failed(&mut self) {
        if self.is_on_device() {
            let leave = self.leave_failed();
            let failed = context().arrow("failed");
            self.push(Statement::when(failed, vec![leave]));
        }
    }

    fn call_with(
        &mut self,
        function: FunctionId,
        name: Name,
        mut all: Vec<Expression>,
        results: &[Variable],
    ) {
        let callee = &self.program().functions[function.0 as usize];
        if let (Some(_), [result]) = (returned(self.program(), callee), results) {
            self.assign(*result, Expression::call(name, all));
            return;
        }
        all.extend(self.addresses(results));
        self.push(Statement::call(name, all));
    }

    /// Returns the addresses of variables that a call assigns.
    pub fn addresses(&mut self, results: &[Variable]) -> Vec<Expression> {
        self.trace_assigned(results);
        results
            .iter()
            .map(|result| Expression::Name(self.name(*result)).address())
            .collect()
    }

    fn foreign_call(&mut self, foreign: u32, arguments: &[ir::Expression], results: &[Variable]) {
        let (name, mut all) = match self.is_on_device() {
            true => (self.unit.device_function(foreign), Vec::new()),
            false => (self.unit.foreign_name(foreign), vec![context()]),
        };
        all.extend(arguments.iter().map(|a| self.assigned(a)));
        all.extend(self.addresses(results));
        self.push(Statement::call(name, all));
    }
}
