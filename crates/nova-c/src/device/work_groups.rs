//! Kernels with work-groups: the loops that the threads of a group share, arrays of the group, and
//! barriers (dpia.txt §6.3, §6.4).
//!
//! A thread that fails must not leave the others waiting at a barrier. It leaves only the loop that the
//! threads share. At the next barrier all threads of the group see that one of them has failed, and
//! return together.

use crate::context::expressions::context;
use crate::context::function::FunctionEmitter;
use crate::context::groups::arrays;
use crate::dialect::Dialect;
use crate::emit::control::leaves;
use crate::scalar::memory_type;
use nova_c_ast::ast::{Binary, Expression, Hint, Name, Parameter, Statement, Type};
use nova_core::{Scalar, ScalarOperation};
use nova_loop::captures::captured;
use nova_loop::ir::{self, Command, Level, Variable};
use nova_loop::walk::{each_command, has_ordered_region};

/// True if the body of a kernel has barriers of a work-group.
pub fn waits(body: &[Command]) -> bool {
    let mut found = false;
    each_command(body, |command| {
        found |= matches!(command, Command::Barrier(Level::Thread));
    });
    found
}

impl FunctionEmitter<'_, '_> {
    /// Returns the arguments that the host passes for the arrays of a group: their sizes.
    pub fn group_arguments(&mut self, body: &[Command]) -> Vec<Expression> {
        let mut arguments = Vec::new();
        for (pointer, count) in arrays(body) {
            let size = Expression::SizeOf(memory_type(self.element_of(pointer)));
            let all = vec![context(), self.plain(count), size];
            arguments.push(Expression::call("nova_local_array", all));
        }
        arguments
    }

    /// Returns the number of threads of a group that have work: that of the largest loop that they
    /// share. If it is not known before the launch, it is the largest size of groups.
    pub fn threads_of_group(&mut self, index: Variable, body: &[Command]) -> Expression {
        match most_threads(index, body) {
            Some(threads) => self.plain(&threads),
            None => Expression::name("NOVA_BLOCK_SIZE"),
        }
    }

    /// Adds the parameters for the arrays of the group.
    pub fn take_arrays_of_group(&mut self, body: &[Command], parameters: &mut Vec<Parameter>) {
        let arrays = arrays(body);
        if arrays.is_empty() {
            return;
        }
        let memory = self.fresh("shared");
        let declared = self.unit.options.dialect.group_memory(memory.clone());
        let has_offsets = declared.is_some();
        declared.into_iter().for_each(|d| self.push(d));
        for (pointer, _) in arrays {
            let name = self.declare(pointer);
            let ty = self.type_of_variable(pointer);
            if !has_offsets {
                parameters.push(Parameter { ty, name });
                continue;
            }
            let offset = self.fresh(&format!("{name}_offset"));
            let [all, from] = [&memory, &offset].map(|name| Expression::Name(name.clone()));
            let place = Expression::binary(Binary::Add, all, from).cast(ty.clone());
            self.push(Statement::declare(ty, name, place));
            let ty = Type::name("int64_t");
            parameters.push(Parameter { ty, name: offset });
        }
    }

    /// Declares a pointer to the first of several places for an array that does not overlap other
    /// arrays.
    pub fn spare(
        &mut self,
        pointer: Variable,
        places: &ir::Expression,
        count: &ir::Expression,
        apart: &[ir::Expression],
    ) {
        self.declare(pointer);
        self.declare_unset(pointer);
        let first = self.assigned(places);
        self.assign(pointer, first);
        let address = |place: Expression| place.cast(Type::name("uintptr_t"));
        let place = Expression::Name(self.name(pointer));
        let size = Expression::SizeOf(memory_type(self.element_of(pointer)));
        for _ in apart {
            let mut is_taken: Option<Expression> = None;
            for other in apart {
                let other = address(self.assigned(other));
                let distance = Expression::binary(Binary::Subtract, other, address(place.clone()));
                let count = address(self.assigned(count));
                let bytes = Expression::binary(Binary::Multiply, count, size.clone());
                let leads_there = Expression::binary(Binary::Less, distance, bytes);
                is_taken = Some(match is_taken {
                    Some(others) => Expression::binary(Binary::Or, others, leads_there),
                    None => leads_there,
                });
            }
            let next = Expression::binary(Binary::Add, place.clone(), self.assigned(count));
            let next = Statement::assign(place.clone(), next);
            let when = is_taken.map(|is_taken| Statement::when(is_taken, vec![next]));
            when.into_iter().for_each(|when| self.push(when));
        }
    }

    /// Returns the type of the elements that a pointer points to.
    pub fn element_of(&self, pointer: Variable) -> Scalar {
        match self.program().variable(pointer).ty {
            ir::Type::Pointer(element) => element,
            // The verifier refuses arrays without pointers.
            ir::Type::Scalar(scalar) => scalar,
            ir::Type::Block => Scalar::U8,
        }
    }

    /// Emits the start of a kernel. After an earlier failure the kernel does nothing, where kernels of
    /// the program may fail; `fails` says whether this one may. `slice` is the start and the size of
    /// the thread's memory, `tables` the address of its node tables.
    pub fn start_kernel(
        &mut self,
        (failure, fails): (Name, bool),
        state: Name,
        slice: Option<(Expression, Expression)>,
        tables: Option<Expression>,
    ) {
        let dialect = self.unit.options.dialect;
        let mut fields = vec![Expression::Name(failure.clone()), Expression::name("false")];
        if self.waits {
            let name = self.fresh("failed_in");
            let (declared, address) = dialect.group_variable("int", name);
            self.push(declared);
            fields.push(address);
        } else {
            fields.push(Expression::literal("0"));
            // Nothing is written there while a kernel without failures runs.
            let question = match fails {
                true => "nova_has_failed",
                false => "nova_failed_before",
            };
            if self.unit.kernels.may_fail {
                let failed = Expression::call(question, vec![Expression::Name(failure)]);
                self.push(Statement::when(failed, vec![Statement::Return(None)]));
            }
        }
        let zero = || Expression::literal("0");
        let (heap, size) = slice.unwrap_or_else(|| (zero(), zero()));
        fields.extend([zero(), heap, size, zero(), zero()]);
        fields.push(tables.unwrap_or_else(zero));
        let ty = Type::name("nova_context");
        let value = Expression::Braces(fields);
        self.push(Statement::declare(ty.clone(), state.clone(), value));
        let value = Expression::Name(state).address();
        self.push(Statement::declare(ty.pointer(), "context", value));
        if self.waits {
            self.return_if("nova_group_begins_failed");
        }
    }

    fn return_if(&mut self, question: &str) {
        let failed = Expression::call(question, vec![context()]);
        self.push(Statement::when(failed, vec![Statement::Return(None)]));
    }

    /// Emits a barrier of the work-group.
    pub fn group_barrier(&mut self) {
        let barrier = self.unit.options.dialect.group_barrier();
        self.push(barrier);
        if self.waits {
            self.return_if("nova_group_has_failed");
        }
    }

    /// Emits a barrier after a block that contains barriers and may be left early, in OpenCL C. PoCL
    /// splits kernels at barriers into regions, and runs the work-items of a group one after the other
    /// in each region. If a region has several successors (the end of the block, and the end of the
    /// kernel), the first work-item chooses the successor for all. Then all work-items enter a
    /// following loop of threads, or none does (seen with PoCL 3.1, which wrote past the end of
    /// arrays).
    pub fn meet_at_end(&mut self, commands: &[Command]) {
        let comes_there = commands
            .last()
            .is_some_and(|last| !leaves(last) && !matches!(last, Command::Barrier(_)));
        if self.waits && comes_there && waits(commands) {
            let barrier = self.unit.options.dialect.barrier_at_end();
            barrier.into_iter().for_each(|b| self.push(b));
        }
    }

    /// Emits a loop that the threads of a group share.
    pub fn loop_of_threads(&mut self, variable: Variable, count: Expression, body: &[Command]) {
        if self.waits {
            self.after_threads = Some((self.fresh("after"), false));
        }
        let name = self.declare(variable);
        self.add_index(variable);
        let body = self.block(body);
        self.push(Statement::Lanes {
            hint: Hint::SharedInGroup,
            variable: name,
            count,
            body: body.into(),
        });
        if let Some((label, true)) = self.after_threads.take() {
            self.push(Statement::Label(label));
            let failed = context().arrow("failed");
            self.push(Statement::assign(failed, Expression::name("false")));
        }
    }
}

/// Returns the largest number of threads of a group that have work, if it is known before the launch:
/// that of the largest loop that they share.
fn most_threads(index: Variable, body: &[Command]) -> Option<ir::Expression> {
    let known = captured(index, body);
    // A whole warp looks back in an ordered region.
    let least = if has_ordered_region(body) { 32 } else { 1 };
    let mut threads = ir::Expression::index(least);
    let mut all_known = true;
    each_command(body, |command| {
        if let Command::For {
            count,
            level: Level::Thread,
            ..
        } = command
        {
            count.each_variable(&mut |v| all_known &= known.contains(&v));
            all_known &= !count.reads_memory();
            let more = count
                .clone()
                .compare(ScalarOperation::Maximum, threads.clone());
            threads = match (count.as_index(), threads.as_index()) {
                (Some(a), Some(b)) => ir::Expression::index(a.max(b)),
                (None, Some(1)) => count.clone(),
                (Some(1), None) => threads.clone(),
                (_, _) => more,
            };
        }
    });
    all_known.then_some(threads)
}

/// Returns the statement at the start of a kernel of groups that states the number of their threads, if
/// it is known when the kernel is compiled.
pub fn size_of_groups(dialect: &Dialect, index: Variable, body: &[Command]) -> Option<Statement> {
    let threads = match most_threads(index, body) {
        Some(threads) => Expression::literal(threads.as_index()?.to_string()),
        None => Expression::name("NOVA_BLOCK_SIZE"),
    };
    dialect.size_of_groups(threads)
}
