//! A program of Loop as C before it is text.

use crate::context::calls::reachable;
use crate::context::unit::Unit;
use crate::device::common::{self, DeviceCode};
use crate::device::kernels::report_function;
use crate::device::nodes::copied_nodes;
use crate::dialect::Dialect;
use crate::emit::nodes::{constants, node_fields};
use crate::ffi::data::free_functions;
use crate::ffi::interface::{EntryInterface, interface};
use crate::ffi::symbols::symbols;
use crate::ffi::{entry, foreign, header, manifest};
use crate::functions::emit_function;
use crate::names::Names;
use crate::options::Options;
use crate::syntax::{block_type, int64};
use nova_c_ast::ast::{self, Field, Function, Functions, Item, Type};
use nova_core::SumId;
use nova_loop::ir::{Command, Program};
use nova_loop::walk::each_command;

/// A program in C: its functions, and what stands around them in its files.
#[derive(Clone, Debug)]
pub struct Emission {
    /// The functions, which passes from C to C rewrite.
    pub program: ast::Program,
    /// The program's name: the name of its file without the extension.
    pub(crate) name: String,
    /// The text of the plan by which it is made.
    pub(crate) plan: Vec<String>,
    pub(crate) dialect: &'static Dialect,
    /// True if floating-point operations keep their order and their number.
    pub(crate) strict: bool,
    /// The C names of the entries.
    pub(crate) entries: Vec<String>,
    /// True if there are local arrays, which shall stay in registers.
    pub(crate) has_locals: bool,
    /// True if directives name the lines of the source.
    pub(crate) lines: bool,
    /// The node tables of the host.
    pub(crate) tables: Vec<Item>,
    /// The code for the device besides its functions, where there are kernels.
    pub(crate) device: Option<DeviceCode>,
    /// The structures that the functions of the host use.
    pub(crate) structures: Vec<Item>,
    /// The text of the header.
    pub(crate) header: String,
    /// The text of the manifest.
    pub(crate) manifest: String,
}

/// Emits a program that the verifier of Loop has accepted.
pub fn emit(program: &Program, options: &Options) -> Emission {
    let mut unit = Unit::new(program, options, names_of_users(program, options));
    let interfaces = program.entries.iter();
    let interfaces = interfaces.map(|entry| interface(&mut unit, entry));
    let interfaces: Vec<EntryInterface> = interfaces.collect();
    let foreigns = program.foreigns.iter();
    let foreigns = foreigns.map(|declared| foreign::declaration(&mut unit, declared));
    let foreigns: Vec<Function> = foreigns.collect();
    let (entry_items, host) = host_code(&mut unit, &interfaces);
    let tables = table_items(&unit);
    let (device, of_device) = match unit.has_kernels {
        true => {
            let (code, functions) = common::take(&mut unit);
            (Some(code), functions)
        }
        false => (None, Functions::default()),
    };
    let mut structures = std::mem::take(&mut unit.structures);
    structures.extend(entry_items);
    let symbol = |name: &str| symbols(&options.prefix, name).function;
    Emission {
        program: ast::Program {
            host,
            device: of_device,
        },
        name: options.name.clone(),
        plan: program.plan.lines(),
        dialect: options.dialect,
        strict: program.strict,
        entries: program.entries.iter().map(|e| symbol(&e.name)).collect(),
        has_locals: has_locals(program),
        lines: options.lines,
        tables,
        device,
        structures,
        header: header::header(&unit, &interfaces, &foreigns),
        manifest: manifest::manifest(&unit, &interfaces, &foreigns),
    }
}

/// Returns the names that users see.
fn names_of_users(program: &Program, options: &Options) -> Names {
    let mut names = Names::default();
    for entry in &program.entries {
        let symbols = symbols(&options.prefix, &entry.name);
        for name in [
            symbols.function,
            symbols.error,
            symbols.device,
            symbols.free,
        ] {
            names.take(&name);
        }
    }
    for foreign in &program.foreigns {
        names.take(&crate::names::foreign(&foreign.name));
    }
    names
}

/// Returns the items of the entries, and the functions of the host: those that report errors, helpers,
/// those of the program, and the entries.
fn host_code(unit: &mut Unit, interfaces: &[EntryInterface]) -> (Vec<Item>, Functions) {
    let program = unit.program;
    let functions: Vec<Function> = reachable(program, unit.has_kernels)
        .into_iter()
        .map(|id| emit_function(unit, id))
        .collect();
    let mut items = Vec::new();
    let mut entries = Vec::new();
    for (entry, interface) in program.entries.iter().zip(interfaces) {
        let (own, functions) = entry::emit_entry(unit, entry, interface);
        items.extend(own);
        entries.extend(functions);
    }
    let free = free_functions(unit);
    let report = unit.has_kernels.then(|| report_function(unit));
    let helpers = std::mem::take(&mut unit.helpers);
    let parts = [unit.error_functions(), helpers, functions, entries, free];
    let host = Functions {
        list: parts.into_iter().flatten().chain(report).collect(),
        own: unit.functions.iter().map(|f| f.name.clone()).collect(),
    };
    (items, host)
}

/// True if there are local arrays.
fn has_locals(program: &Program) -> bool {
    let mut found = false;
    for function in &program.functions {
        each_command(&function.body, |command| {
            found |= matches!(command, Command::Local { .. });
        });
    }
    found
}

/// Returns the sentence that names the nodes of constructors that hold nothing.
fn constants_of(unit: &Unit, sum: SumId) -> String {
    let constructors = &unit.types.sum(sum).constructors;
    let names = constants(unit, sum).into_iter().enumerate();
    let names =
        names.filter_map(|(link, k)| Some(format!("{link} is {}", constructors.get(k)?.name)));
    let names: Vec<String> = names.collect();
    match names.is_empty() {
        true => String::new(),
        false => format!(" Node {}.", names.join(", node ")),
    }
}

/// Returns the types of the nodes and `struct nova_tables`; empty if there are no tables.
fn table_items(unit: &Unit) -> Vec<Item> {
    if unit.tables.is_empty() {
        return Vec::new();
    }
    let mut items = Vec::new();
    let mut tables = Vec::new();
    for (id, table) in &unit.tables {
        let sum = unit.types.sum(SumId(*id));
        items.push(Item::Comment(format!(
            "A node of {}: what its links name are other nodes.{}",
            unit.types.instance(SumId(*id)),
            constants_of(unit, SumId(*id)),
        )));
        items.push(Item::Struct {
            name: table.node.clone(),
            fields: node_fields(unit, sum),
            typedef: true,
        });
        items.push(Item::Blank);
        let node = Type::Name(table.node.clone());
        let mut fields = vec![Field::Plain(node.pointer(), "nodes".into())];
        match unit.shared.contains(&SumId(*id)) {
            true => fields.push(Field::Plain(Type::name("nova_appender"), "own".into())),
            false => fields.extend([
                Field::Plain(block_type(), "block".into()),
                Field::Plain(int64(), "count".into()),
                Field::Plain(int64(), "room".into()),
            ]),
        }
        fields.push(Field::Plain(Type::name("nova_reach"), "reach".into()));
        if unit.exported.contains(&SumId(*id)) {
            fields.push(Field::Plain(Type::name("nova_export"), "exported".into()));
        }
        let is_sent = unit.kernels.nodes.contains(&SumId(*id));
        if is_sent || unit.kernels.stored.contains(&SumId(*id)) {
            fields.push(Field::Plain(Type::name("nova_sent_nodes"), "sent".into()));
        }
        if is_sent {
            items.extend(copied_nodes(unit, SumId(*id)));
        }
        items.push(Item::Struct {
            name: table.table.clone(),
            fields,
            typedef: true,
        });
        items.push(Item::Blank);
        let table_type = Type::Name(table.table.clone());
        tables.push(Field::Plain(table_type, table.field.clone()));
    }
    items.push(Item::Struct {
        name: "nova_tables".into(),
        fields: tables,
        typedef: false,
    });
    items.push(Item::Blank);
    items
}
