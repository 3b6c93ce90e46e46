//! The state that the functions of one generated file share: their names, the errors that they use,
//! node tables, foreign functions, and the definitions that these need.

use crate::ast::{Expression, Function, Item, Name, Parameter, Statement, Type};
use crate::ffi::ctype::CTypes;
use crate::kernel::{Kernels, has_kernels};
use crate::names::Names;
use crate::{Options, Target, nodes::NodeTable};
use nova_core::{ErrorKind, Scalar, ScalarOperation, ScalarValue};
use nova_loop::ir::Gather;
use nova_loop::ir::{Command, Expression as LoopExpression, FunctionId, Program, Variable};
use nova_loop::ir::{errors, jumps, remarks, structures, variable_commands};
use nova_loop::result_buffer_commands;
use nova_loop::walk::each_command;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The C name of a function of Loop, and facts for its calls.
#[derive(Clone, Debug)]
pub struct FunctionInfo {
    /// Its name.
    pub name: Name,
    /// True if its first parameter is the context.
    pub context: bool,
}

/// The state of one file.
pub struct Unit<'p> {
    /// The program.
    pub program: &'p Program,
    /// The options of the compilation.
    pub options: &'p Options,
    /// The names of the file.
    pub names: Names,
    /// The functions of Loop.
    pub functions: Vec<FunctionInfo>,
    /// The C types of the FFI boundary.
    pub types: CTypes<'p>,
    /// The node tables, by sum.
    pub tables: BTreeMap<u32, NodeTable>,
    /// The names of the wrappers of the foreign functions that are called.
    pub foreigns: BTreeMap<u32, Name>,
    /// Helpers that were found necessary, in the order in which they must stand.
    pub helpers: Vec<Function>,
    /// True if there is a device with kernels.
    pub has_kernels: bool,
    /// The state of the code for the device.
    pub kernels: Kernels,
    /// Structures for the functions of parallel loops.
    pub structures: Vec<Item>,
    /// The names of helpers, by their purpose.
    pub helper_names: BTreeMap<String, Name>,
    /// True if arrays inside of imported recursive data must be copied, because a foreign function may
    /// have returned it.
    pub copies_imports: bool,
    errors: BTreeSet<ErrorKind>,
    /// The number of assignments to each variable; 2 and more are the same.
    assignments: Vec<u8>,
    /// Variables that only count up or down from a small number by ones.
    counters: HashSet<Variable>,
}

impl<'p> Unit<'p> {
    /// Returns the state for a program. `names` are the names that users see.
    pub fn new(program: &'p Program, options: &'p Options, mut names: Names) -> Self {
        let context = need_context(program);
        let entries: BTreeSet<u32> = program.entries.iter().map(|e| e.function.0).collect();
        let functions = program
            .functions
            .iter()
            .enumerate()
            .map(|(k, function)| {
                let taken = entries.contains(&(k as u32)) && !names.take(&function.name);
                let name = if taken {
                    names.fresh(&format!("{}_value", function.name), None)
                } else {
                    names.fresh(&function.name, None)
                };
                FunctionInfo {
                    name,
                    context: context[k],
                }
            })
            .collect();
        let mut unit = Unit {
            program,
            options,
            functions,
            names,
            types: CTypes::new(&program.sums),
            tables: BTreeMap::new(),
            foreigns: BTreeMap::new(),
            helpers: Vec::new(),
            has_kernels: has_kernels(program, options.target),
            kernels: Kernels::new(program, options.target),
            structures: Vec::new(),
            helper_names: BTreeMap::new(),
            copies_imports: !program.foreigns.is_empty(),
            errors: BTreeSet::new(),
            assignments: count_assignments(program),
            counters: find_counters(program),
        };
        unit.kernels.may_fail = unit.has_kernels && unit.some_kernel_may_fail();
        unit
    }

    /// True if any kernel of the program may fail.
    fn some_kernel_may_fail(&self) -> bool {
        let mut fails = false;
        for function in &self.program.functions {
            each_command(&function.body, |command| {
                if let Command::For { level, body, .. } = command {
                    fails |= level.starts_kernel() && self.may_fail(body);
                }
            });
        }
        fails
    }

    /// True if there are node tables.
    pub fn uses_tables(&self) -> bool {
        !self.tables.is_empty()
    }

    /// True if a variable keeps the value of its declaration.
    pub fn is_constant(&self, variable: Variable) -> bool {
        let count = self.assignments.get(variable.0 as usize);
        count.is_some_and(|count| *count < 2)
    }

    /// True if a variable only counts by ones from a small number. A program would run for centuries
    /// before such a variable came near the ends of its type.
    pub fn is_counter(&self, variable: Variable) -> bool {
        self.counters.contains(&variable)
    }

    /// Returns the name of the function that reports an error.
    pub fn error(&mut self, error: ErrorKind) -> Name {
        self.errors.insert(error);
        format!("nova_{}_error", error.info().word).into()
    }

    /// Returns the functions that report errors.
    pub fn error_functions(&self) -> Vec<Function> {
        self.errors.iter().map(|e| error_function(*e)).collect()
    }
}

/// Defines a function that reports one kind of error, with the text from the table of kinds.
fn error_function(error: ErrorKind) -> Function {
    let info = error.info();
    let text = Type::name("char").constant().pointer();
    let mut parameters = vec![
        Parameter {
            ty: Type::name("nova_context").pointer(),
            name: "context".into(),
        },
        Parameter {
            ty: text,
            name: "place".into(),
        },
    ];
    let mut format = format!("%s: {}", info.message.replace('%', "%%"));
    let mut arguments = vec![
        Expression::name("context"),
        Expression::literal(info.code.to_string()),
    ];
    let mut values = vec![Expression::name("place")];
    for k in 0..info.arguments {
        let name: Name = ["first", "second"]
            .get(k)
            .copied()
            .unwrap_or("other")
            .into();
        format = format.replace(&format!("{{{k}}}"), "%lld");
        parameters.push(Parameter {
            ty: Type::name("int64_t"),
            name: name.clone(),
        });
        values.push(Expression::Name(name).cast(Type::name("long long")));
    }
    arguments.push(Expression::text(format));
    arguments.extend(values);
    Function {
        prefix: vec!["NOVA_NEVER_RETURNS static".into()],
        result: Type::name("void"),
        name: format!("nova_{}_error", info.word).into(),
        parameters,
        body: Some(vec![Statement::call("nova_fail", arguments)].into()),
    }
}

impl Unit<'_> {
    /// True if commands may stop the program, once the result has memory. Kernels whose iterations
    /// cannot fail do not count, although the device may fail.
    pub fn may_fail(&self, commands: &[Command]) -> bool {
        let mut fails = self.options.target == Target::Traced;
        each_command(commands, |command| match command {
            Command::Call { function, .. } => {
                let callee = self.functions.get(function.index());
                fails |= callee.is_none_or(|info| info.context);
            }
            Command::Allocate { destination, .. } => fails |= destination.is_none(),
            Command::Reserve { .. }
            | Command::Unique { .. }
            | Command::ResultBuffers { .. }
            | Command::StoreBuffer { .. }
            | Command::Foreign { .. }
            | Command::Check { .. }
            | Command::Fail { .. }
            | Command::NodeNew { .. } => fails = true,
            variable_commands!()
            | structures!()
            | jumps!()
            | remarks!()
            | Command::Store { .. }
            | Command::Contend { .. }
            | Command::Copy { .. }
            | Command::PlanNonTemporal { .. }
            | Command::NonTemporalStore { .. }
            | Command::PaddedCopy { .. }
            | Command::TreeReduce { .. }
            | Command::LaneReduce { .. }
            | Command::PlanRows { .. }
            | Command::PrefixScan { .. }
            | Command::Gather(_)
            | Command::MaySplit { .. }
            | Command::Buffer { .. }
            | Command::DropBuffers { .. }
            | Command::Retain(_)
            | Command::Release(_)
            | Command::NodePayload { .. }
            | Command::Trace { .. } => {}
        });
        fails
    }
}

/// For each function, whether it needs the context: functions that may fail, manage memory or use
/// nodes, and their callers.
fn need_context(program: &Program) -> Vec<bool> {
    let nodes = program.sums.iter().any(|sum| sum.is_recursive());
    let mut needed = vec![nodes; program.functions.len()];
    let mut callers: Vec<Vec<usize>> = vec![Vec::new(); program.functions.len()];
    let mut left = Vec::new();
    for (k, function) in program.functions.iter().enumerate() {
        let mut own = function.recursive;
        each_command(&function.body, |command| match command {
            Command::Call { function, .. } => callers[function.0 as usize].push(k),
            Command::Allocate { .. }
            | Command::Reserve { .. }
            | Command::Unique { .. }
            | result_buffer_commands!()
            | Command::Release(_)
            | Command::Foreign { .. }
            | Command::NodeNew { .. }
            | Command::NodePayload { .. }
            | Command::Trace { .. }
            | errors!() => own = true,
            Command::For { level, .. } if level.starts_kernel() => own = true,
            Command::OnHost { .. } => own = true,
            Command::Store { .. }
            | Command::Contend { .. }
            | Command::Copy { .. }
            | Command::PlanNonTemporal { .. }
            | Command::NonTemporalStore { .. }
            | Command::PaddedCopy { .. }
            | Command::TreeReduce { .. }
            | Command::LaneReduce { .. }
            | Command::PlanRows { .. }
            | Command::PrefixScan { .. }
            | Command::Gather(_)
            | Command::Retain(_)
            | variable_commands!()
            | structures!()
            | jumps!()
            | remarks!() => {}
        });
        if own && !needed[k] {
            needed[k] = true;
            left.push(k);
        }
    }
    while let Some(callee) = left.pop() {
        for caller in std::mem::take(&mut callers[callee]) {
            if !needed[caller] {
                needed[caller] = true;
                left.push(caller);
            }
        }
    }
    needed
}

fn count_assignments(program: &Program) -> Vec<u8> {
    let mut counts = vec![0u8; program.variables.len()];
    let mut add = |variable: &Variable| {
        if let Some(count) = counts.get_mut(variable.0 as usize) {
            *count = count.saturating_add(1);
        }
    };
    for function in &program.functions {
        function.parameters.iter().for_each(&mut add);
        each_command(&function.body, |command| {
            for_each_assignment(command, &mut |variable, _| add(&variable));
        });
    }
    counts
}

/// Returns the `i64` variables whose assignments are all a small constant, or their own value plus or
/// minus one.
fn find_counters(program: &Program) -> HashSet<Variable> {
    let mut counters = HashSet::new();
    let mut others = HashSet::new();
    for function in &program.functions {
        others.extend(function.parameters.iter().copied());
        each_command(&function.body, |command| {
            for_each_assignment(command, &mut |variable, value| {
                let counts = value.is_some_and(|v| is_small(v) || is_next(variable, v));
                let set = if counts { &mut counters } else { &mut others };
                set.insert(variable);
            });
        });
    }
    counters.retain(|variable| !others.contains(variable));
    counters
}

/// Calls `visit` with every variable that a command itself assigns, and with the value if that is an
/// expression.
pub fn for_each_assignment(
    command: &Command,
    visit: &mut dyn FnMut(Variable, Option<&LoopExpression>),
) {
    match command {
        Command::Declare {
            variable,
            value: Some(value),
        }
        | Command::Assign { variable, value } => visit(*variable, Some(value)),
        Command::NodeNew { link, .. } => visit(*link, None),
        Command::PlanNonTemporal {
            shift: variable, ..
        }
        | Command::PlanRows { joins: variable }
        | Command::PrefixScan { last: variable, .. }
        | Command::Gather(Gather::Precheck {
            outside: variable, ..
        })
        | Command::MaySplit { splits: variable }
        | Command::ResultBuffers {
            pieces: variable, ..
        }
        | Command::Buffer {
            pointer: variable, ..
        }
        | Command::Spare {
            pointer: variable, ..
        } => {
            visit(*variable, None);
        }
        Command::Allocate { block, pointer, .. }
        | Command::Reserve { block, pointer, .. }
        | Command::Unique { block, pointer, .. } => {
            visit(*block, None);
            visit(*pointer, None);
        }
        Command::Call { results, .. }
        | Command::Foreign { results, .. }
        | Command::NodePayload { results, .. } => results.iter().for_each(|v| visit(*v, None)),
        Command::Declare { value: None, .. }
        | Command::Local { .. }
        | Command::Shared { .. }
        | Command::Store { .. }
        | Command::Contend { .. }
        | Command::Copy { .. }
        | Command::NonTemporalStore { .. }
        | Command::PaddedCopy { .. }
        | Command::TreeReduce { .. }
        | Command::LaneReduce { .. }
        | Command::Gather(Gather::Strided { .. } | Gather::Indexed { .. })
        | Command::StoreBuffer { .. }
        | Command::DropBuffers { .. }
        | Command::Retain(_)
        | Command::Release(_)
        | Command::Trace { .. }
        | structures!()
        | jumps!()
        | errors!()
        | remarks!() => {}
    }
}

fn is_small(value: &LoopExpression) -> bool {
    let LoopExpression::Constant(ScalarValue::I64(value)) = value else {
        return false;
    };
    i32::try_from(*value).is_ok()
}

/// `variable + 1` or `variable - 1`.
fn is_next(variable: Variable, value: &LoopExpression) -> bool {
    let LoopExpression::Scalar {
        operation: ScalarOperation::Add | ScalarOperation::Subtract,
        operand: Scalar::I64,
        arguments,
    } = value
    else {
        return false;
    };
    match &**arguments {
        [
            LoopExpression::Variable(own),
            LoopExpression::Constant(ScalarValue::I64(1)),
        ] => *own == variable,
        _ => false,
    }
}

/// Returns the functions that the entries reach, callees before their callers where there is no cycle.
/// With `kernels`, only those that the host calls.
pub fn reachable(program: &Program, kernels: bool) -> Vec<FunctionId> {
    let mut search = Search {
        kernels,
        ..Search::default()
    };
    for entry in &program.entries {
        search.visit(program, entry.function);
    }
    search.order
}

/// Returns the functions that one function reaches.
pub fn reachable_from(program: &Program, function: FunctionId) -> Vec<FunctionId> {
    let mut search = Search::default();
    search.visit(program, function);
    search.order
}

/// A search of the graph of calls.
#[derive(Default)]
struct Search {
    /// True if calls inside of kernels are left out.
    kernels: bool,
    seen: BTreeSet<FunctionId>,
    order: Vec<FunctionId>,
}

impl Search {
    fn visit(&mut self, program: &Program, start: FunctionId) {
        // Functions, each with its callees that are still to be visited; the next callee is the last
        // one.
        let mut stack: Vec<(FunctionId, Vec<FunctionId>)> = Vec::new();
        if self.seen.insert(start) {
            stack.push((start, callees(program, start, self.kernels)));
        }
        while let Some((id, rest)) = stack.last_mut() {
            match rest.pop() {
                Some(callee) if self.seen.insert(callee) => {
                    stack.push((callee, callees(program, callee, self.kernels)));
                }
                Some(_) => {}
                None => {
                    self.order.push(*id);
                    stack.pop();
                }
            }
        }
    }
}

fn callees(program: &Program, id: FunctionId, kernels: bool) -> Vec<FunctionId> {
    let mut list = Vec::new();
    let function = program.functions.get(id.0 as usize);
    let mut left: Vec<&[Command]> = function.iter().map(|f| &*f.body).collect();
    while let Some(commands) = left.pop() {
        for command in commands {
            match command {
                Command::Call { function, .. } => list.push(*function),
                Command::For { level, .. } if kernels && level.starts_kernel() => {}
                others => left.extend(others.lists().into_iter().map(Vec::as_slice)),
            }
        }
    }
    list.sort();
    list.dedup();
    list.reverse();
    list
}

/// Functions as items, each with a blank line after it. Functions that are called before their
/// definitions are declared first.
pub fn function_items(functions: Vec<Function>) -> Vec<Item> {
    let all: BTreeMap<Name, Function> = functions
        .iter()
        .map(|f| (f.name.clone(), f.declaration()))
        .collect();
    let mut known: BTreeSet<Name> = BTreeSet::new();
    let mut items = Vec::new();
    for function in functions {
        known.insert(function.name.clone());
        let mut called = Vec::new();
        crate::uses::called(&function, &mut called);
        let mut declared = false;
        for name in called {
            if let Some(declaration) = all.get(&name)
                && known.insert(name)
            {
                items.push(Item::Function(declaration.clone()));
                declared = true;
            }
        }
        if declared {
            items.push(Item::Blank);
        }
        items.push(Item::Function(function));
        items.push(Item::Blank);
    }
    items
}
