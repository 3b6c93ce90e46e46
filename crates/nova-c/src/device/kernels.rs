//! Emits kernels. A loop at the level of a grid becomes a function of the device, whose threads run its
//! iterations, and a launch in the code of the host.
//!
//! The code of kernels, and of the functions that they call, is emitted like the code of the host, with
//! three differences. Pointers to elements name the address space. A failure is recorded in memory, and
//! every active function returns. Arrays that kernels allocate lie in memory of the thread
//! (`runtime-c/device/heap.h`); code that allocates none has no blocks.

use crate::context::expressions::type_of;
use crate::context::function::Emitter;
use crate::context::unit::Unit;
use crate::context::writer::Writer;
use crate::device::launch::{kernel_argument, push_launch};
use crate::device::nodes::{
    UsedTables, find_nodes, growing, node_arguments, tables_used, take_structure, take_tables,
};
use crate::device::ordered_regions::{new_ordered, take_ordered_from_host};
use crate::device::work_groups::{
    group_arguments, size_of_groups, start_kernel, take_arrays_of_group, threads_of_group, waits,
};
use crate::dialect::{self, Dialect, Occupancy};
use crate::scalar::memory_type;
use crate::syntax::{context, context_parameter, int64, parameter, procedure, truth};
use nova_c_ast::ast::{Binary, Expression, Function, Hint, Name, Parameter, Statement, Type};
use nova_core::Scalar;
use nova_diag::Place;
use nova_loop::captures::captured;
use nova_loop::ir::{self, Command, Variable};
use nova_loop::kernels::{
    has_failing_part, own_pointers, shared_pointers, tables_in, takes_memory, written,
};
use nova_loop::neighbours::Addresses;

impl Unit<'_> {
    /// Returns the kernel that checks offsets of an application on the device, as an argument of a
    /// launch.
    pub fn offsets_kernel(&mut self) -> Expression {
        let dialect = self.options.dialect;
        let (number, name) = match self.kernels.offsets.clone() {
            Some(known) => known,
            None => {
                let name = self.names.fresh("nova_offsets_kernel", None);
                let number = self.kernels.names.len();
                self.kernels.names.push(name.clone());
                self.kernels.places.push(String::new());
                self.kernels
                    .kernels
                    .push(emit_offsets_kernel(dialect, name.clone()));
                self.kernels.offsets = Some((number, name.clone()));
                (number, name)
            }
        };
        dialect.kernel_reference(number, &name, "")
    }
}

/// Emits a loop as a kernel.
pub(crate) fn kernel(
    code: &mut Emitter,
    index: Variable,
    count: Expression,
    level: ir::Level,
    body: &[Command],
    place: &Place,
) {
    code.unit.need_on_device(body);
    let program = code.program();
    let tables = tables_in(body);
    let taken: Vec<Variable> = captured(index, body)
        .into_iter()
        .filter(|v| program.variable(*v).ty != ir::Type::Block || tables.contains(v))
        .collect();
    let memory = takes_memory(&code.unit.kernels.memory_users, body);
    let nodes = tables_used(program, body);
    let function = code.function.clone();
    let name = code.unit.names.fresh(&format!("{function}_kernel"), None);
    let source = code.remarked.clone();
    let place = match place.file.is_empty() {
        true => String::new(),
        false => place.to_string(),
    };
    let kernel = emit_kernel(
        code.unit,
        (name, source),
        (index, level),
        (&taken, memory, &nodes),
        body,
    );
    let (number, name) = code.unit.kernels.add(kernel, place.clone());
    let written = written(program, index, body);
    let mut arguments = node_arguments(code, &nodes);
    let taken = taken.iter();
    arguments.extend(taken.map(|v| kernel_argument(code, *v, written.contains(v))));
    arguments.extend(group_arguments(code, body));
    let ordered = new_ordered(code, &count, body);
    let ordered = ordered.map(|(block, argument)| {
        arguments.push(argument);
        block
    });
    let threads = (level == ir::Level::Block).then(|| threads_of_group(code, index, body));
    let truth = |holds: bool| truth(holds);
    let fails = truth(code.unit.may_fail(body));
    let appends = growing(&nodes).next().is_some();
    let (launch, more) = match (threads, appends, memory) {
        (Some(threads), _, _) => ("nova_launch_groups", vec![threads, fails]),
        (None, true, takes_memory) => ("nova_launch_with_nodes", vec![truth(takes_memory)]),
        (None, false, true) => ("nova_launch_with_memory", Vec::new()),
        (None, false, false) => ("nova_launch", vec![fails]),
    };
    let kernel = code
        .unit
        .options
        .dialect
        .kernel_reference(number, &name, &place);
    push_launch(code, (launch, kernel), count, more, arguments);
    // Nobody waits for the arrays that a failing part would have stored to, so the host waits here.
    if has_failing_part(program, body) {
        code.push(Statement::call("nova_check_kernels", vec![context()]));
    }
    if let Some(ordered) = ordered {
        let all = vec![context(), Expression::Name(ordered)];
        code.push(Statement::call("nova_release", all));
    }
    find_nodes(code, &nodes);
}

/// Emits the function of a kernel, whose loop has a place in the source. Its parameters are the
/// variables that it takes from outside the loop.
fn emit_kernel(
    unit: &mut Unit,
    (name, source): (Name, Option<Place>),
    (index, level): (Variable, ir::Level),
    (taken, memory, nodes): (&[Variable], bool, &UsedTables),
    body: &[Command],
) -> Function {
    let dialect = unit.options.dialect;
    let program = unit.program;
    let own = own_pointers(&program.clone_types(), body).unwrap_or_default();
    let of_group = shared_pointers(&program.clone_types(), body).unwrap_or_default();
    let fails = unit.may_fail(body);
    let waits = waits(body) && fails;
    let code = &mut Emitter::new(unit);
    code.device.own = Some(own);
    code.counts = memory;
    code.device.of_group = of_group;
    code.device.addresses = Some(Addresses::of(body));
    code.device.waits = waits;
    code.function = name.clone();
    let count = code.fresh("count");
    let failure = code.fresh("failure");
    let state = code.fresh("state");
    let mut parameters = vec![
        parameter(int64(), count.clone()),
        parameter(
            dialect.shared_type(Type::name("nova_failure")).pointer(),
            failure.clone(),
        ),
    ];
    let slice = memory.then(|| take_heap(code, &mut parameters));
    let tables = take_tables(code, nodes, &mut parameters);
    for variable in taken {
        take_from_host(code, *variable, &mut parameters);
    }
    take_arrays_of_group(code, body, &mut parameters);
    let number = code.declare(index);
    take_ordered_from_host(code, (&number, &count), body, &mut parameters);
    start_kernel(code, (failure, fails), state, slice, tables);
    code.add_index(index);
    let size = match level {
        ir::Level::Block => size_of_groups(dialect, index, body),
        _others => None,
    };
    let mut block = code.block(body);
    let has_lines = code.unit.options.lines && dialect.kernels_see_host();
    let source = source.filter(|_| has_lines);
    block.splice(0..0, source.map(Statement::Place));
    if memory {
        block.insert(0, Statement::call("nova_empty_heap", vec![context()]));
    }
    let all = match code.device.ordered.clone() {
        Some(ordered) => ordered.loop_of_tickets(block),
        None => Statement::Lanes {
            hint: dialect::shared_loop(level).unwrap_or(Hint::SharedByThreads),
            variable: number,
            count: Expression::Name(count),
            body: block.into(),
        },
    };
    if let Some(size) = size {
        code.push(size);
    }
    code.push(all);
    let occupancy = match (memory, &code.device.ordered) {
        (true, _) => Occupancy::AnyRegisters,
        (false, Some(_)) => Occupancy::Waiting,
        (false, None) => Occupancy::Usual,
    };
    Function {
        prefix: vec![dialect.kernel_prefix(occupancy).into()],
        result: Type::name("void"),
        name,
        parameters,
        body: Some(code.take().into()),
    }
}

/// Returns the kernel that checks offsets, one thread for each (`device/offset_check.h`).
fn emit_offsets_kernel(dialect: &Dialect, name: Name) -> Function {
    let integer = int64;
    let mut parameters = vec![
        parameter(integer(), "count"),
        parameter(
            dialect.shared_type(Type::name("nova_failure")).pointer(),
            "failure",
        ),
    ];
    let mut array = |name: &str, element: Type| {
        let ty = dialect.shared_type(element).pointer();
        let name_of = |what: &str| Name::from(format!("{name}{what}"));
        let start = Expression::Name(name_of(""));
        parameters.push(parameter(ty, name_of("")));
        if !dialect.passes_offsets() {
            return start;
        }
        parameters.push(parameter(integer(), name_of("_offset")));
        Expression::binary(Binary::Add, start, Expression::Name(name_of("_offset")))
    };
    let offsets = array("offsets", integer().constant());
    let found = array("found", integer());
    let count = Expression::name("count");
    let arguments = vec![offsets, Expression::name("i"), count.clone(), found];
    let check = Statement::call("nova_check_offset", arguments);
    let each = Statement::Lanes {
        hint: Hint::SharedByThreads,
        variable: "i".into(),
        count,
        body: vec![check].into(),
    };
    let unused = Expression::name("failure").cast(Type::name("void"));
    Function {
        prefix: vec![dialect.kernel_prefix(Occupancy::Usual).into()],
        result: Type::name("void"),
        name,
        parameters,
        body: Some(vec![Statement::Expression(unused), each].into()),
    }
}

/// Adds the parameters for the memory of threads. Returns the start of this thread's slice, and its
/// size.
fn take_heap(code: &mut Writer, parameters: &mut Vec<Parameter>) -> (Expression, Expression) {
    let dialect = code.unit.options.dialect;
    let (heap, slice) = (code.fresh("heap"), code.fresh("slice"));
    parameters.push(parameter(
        dialect.shared_type(Type::name("uint8_t")).pointer(),
        heap.clone(),
    ));
    parameters.push(parameter(int64(), slice.clone()));
    let slice = Expression::Name(slice);
    let begin = Expression::call("nova_slice", vec![Expression::Name(heap), slice.clone()]);
    (begin, slice)
}

/// Adds the parameters for result buffers.
fn take_result_buffers(code: &mut Emitter, variable: Variable, parameters: &mut Vec<Parameter>) {
    let dialect = code.unit.options.dialect;
    let name = code.declare(variable);
    let integer = int64;
    let shared = || dialect.shared_type(integer()).pointer();
    let parts = vec![
        ("table", shared()),
        ("words", shared()),
        ("capacity", integer()),
        ("number", integer()),
    ];
    take_structure(
        code,
        &name,
        Type::name("nova_device_result_buffers"),
        parts,
        parameters,
    );
}

/// Adds the parameters for a variable from outside the loop. For a pointer these may be the memory
/// and the offset of the first element.
fn take_from_host(code: &mut Emitter, variable: Variable, parameters: &mut Vec<Parameter>) {
    if code.program().variable(variable).ty == ir::Type::Block {
        return take_result_buffers(code, variable, parameters);
    }
    let name = code.declare(variable);
    match code.program().variable(variable).ty {
        ir::Type::Pointer(element) => {
            let dialect = code.unit.options.dialect;
            let ty = dialect.shared_type(memory_type(element)).pointer();
            if !dialect.passes_offsets() {
                parameters.push(parameter(ty, name));
                return;
            }
            let base = code.fresh(&format!("{name}_base"));
            let offset = code.fresh(&format!("{name}_offset"));
            let at = Expression::binary(
                Binary::Add,
                Expression::Name(base.clone()),
                Expression::Name(offset.clone()),
            );
            code.push(Statement::declare(ty.clone(), name, at));
            parameters.push(parameter(ty, base));
            let ty = int64();
            parameters.push(parameter(ty, offset));
        }
        // Kernels have no parameters of type `bool`.
        ir::Type::Scalar(Scalar::Bool) => {
            let ty = memory_type(Scalar::Bool);
            parameters.push(parameter(ty, name));
        }
        ty @ (ir::Type::Scalar(_) | ir::Type::Block) => {
            let ty = type_of(ty);
            parameters.push(parameter(ty, name));
        }
    }
}

/// Defines `nova_report`, which reports the failures of checks in kernels on the host.
pub fn report_function(unit: &mut Unit) -> Function {
    let sites = unit.kernels.sites.clone();
    let names: Vec<Name> = sites.iter().map(|(error, _)| unit.error(*error)).collect();
    let values = ["first", "second"].map(Expression::name);
    let mut cases: Vec<nova_c_ast::ast::Block> = Vec::new();
    for ((error, place), name) in sites.iter().zip(names) {
        let mut arguments = vec![context(), Expression::text(place.to_string())];
        let count = error.info().arguments;
        arguments.extend(values.iter().take(count).cloned());
        cases.push(vec![Statement::call(name, arguments)].into());
    }
    let message = Expression::text("a kernel failed");
    let code = Expression::name("NOVA_ERROR_DEVICE");
    let unknown = Statement::call("nova_fail", vec![context(), code, message]);
    cases.push(vec![unknown].into());
    let void = |name: &str| {
        let value = Expression::name(name).cast(Type::name("void"));
        Statement::Expression(value)
    };
    let body = vec![
        void("first"),
        void("second"),
        Statement::Switch {
            value: Expression::name("site"),
            cases,
        },
    ];
    procedure(
        "nova_report",
        vec![
            context_parameter(),
            parameter(Type::name("int32_t"), "site"),
            parameter(int64(), "first"),
            parameter(int64(), "second"),
        ],
        body,
    )
}
