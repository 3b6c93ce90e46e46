//! The state that the functions of one generated file share: their names, the errors that they use,
//! node tables, foreign functions, and the definitions that these need.

use crate::context::assignments::{count_assignments, find_counters};
use crate::context::calls::{FunctionInfo, need_context};
use crate::context::ctype::CTypes;
use crate::context::kernels::{Kernels, has_kernels};
use crate::context::tables::NodeTable;
use crate::dialect::Parallel;
use crate::names::Names;
use crate::options::Options;
use crate::syntax::{context, context_parameter, int64, literal, parameter};
use nova_c_ast::ast::{Expression, Function, Item, Name, Statement, Type};
use nova_core::{ErrorKind, SumId, Type as CoreType};
use nova_diag::deep;
use nova_flat::representation::{Component, components};
use nova_loop::call_graph::made_in_grids;
use nova_loop::ir::{Command, Program, Variable};
use nova_loop::walk::{each_command, may_fail};
use std::collections::{BTreeMap, BTreeSet, HashSet};

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
    /// The sums to whose tables threads append.
    pub shared: BTreeSet<SumId>,
    /// The sums whose nodes results or arguments of foreign functions hold.
    pub exported: BTreeSet<SumId>,
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
            shared: match options.dialect.parallel {
                Parallel::Regions => {
                    let made = made_in_grids(program).into_iter();
                    made.filter_map(|(sum, appended)| appended.then_some(sum))
                        .collect()
                }
                Parallel::InOrder
                | Parallel::Traced
                | Parallel::OpenClKernels
                | Parallel::CudaKernels => BTreeSet::new(),
            },
            exported: BTreeSet::new(),
            foreigns: BTreeMap::new(),
            helpers: Vec::new(),
            has_kernels: has_kernels(program, options.dialect),
            kernels: Kernels::new(program, options.dialect),
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

    /// True if the code traces races.
    pub(crate) fn traces(&self) -> bool {
        self.options.dialect.parallel == Parallel::Traced
    }

    /// Returns the components of a type. A link inside of nodes is one scalar, as outside.
    pub(crate) fn components(&self, ty: &CoreType) -> Vec<Component> {
        components(ty, &self.program.sums)
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

    /// Returns a helper, which is defined on first use.
    pub(crate) fn helper(
        &mut self,
        key: String,
        name: &str,
        define: impl FnOnce(&mut Self, Name) -> Function,
    ) -> Name {
        if let Some(name) = self.helper_names.get(&key) {
            return name.clone();
        }
        let name = self.names.fresh(name, None);
        self.helper_names.insert(key, name.clone());
        let function = deep(|| define(self, name.clone()));
        self.helpers.push(function);
        name
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
    let mut parameters = vec![context_parameter(), parameter(text, "place")];
    let mut format = format!("%s: {}", info.message.replace('%', "%%"));
    let mut arguments = vec![context(), literal(info.code)];
    let mut values = vec![Expression::name("place")];
    for k in 0..info.arguments {
        let name: Name = ["first", "second"]
            .get(k)
            .copied()
            .unwrap_or("other")
            .into();
        format = format.replace(&format!("{{{k}}}"), "%lld");
        parameters.push(parameter(int64(), name.clone()));
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
        let mut fails = self.traces();
        each_command(commands, |command| match command {
            Command::Call { function, .. } => {
                let callee = self.functions.get(function.index());
                fails |= callee.is_none_or(|info| info.context);
            }
            Command::Allocate { destination, .. } => fails |= destination.is_none(),
            others => fails |= may_fail(others),
        });
        fails
    }
}
