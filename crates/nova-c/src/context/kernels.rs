//! The state of a file's code for the device.

use crate::context::calls::FunctionInfo;
use crate::dialect::Dialect;
use nova_c_ast::ast::{Function, Item, Name};
use nova_c_ast::print;
use nova_core::{ErrorKind, SumId};
use nova_diag::Place;
use nova_loop::ir::{self, Command, FunctionId, Variable};
use nova_loop::kernels::{functions_with_memory, tables_of_kernels};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The state of a file's code for the device.
#[derive(Default)]
pub struct Kernels {
    /// The names of the kernels; the host launches them by number.
    pub names: Vec<Name>,
    /// The places of their loops in the program; empty where they are not known.
    pub places: Vec<String>,
    /// The kernels.
    pub kernels: Vec<Function>,
    /// The numbers of the kernels that were loops, by their text without the name.
    numbers: HashMap<String, usize>,
    /// The functions that kernels call, callees first.
    pub functions: Vec<Function>,
    /// The names and contexts of these functions on the device.
    pub infos: BTreeMap<FunctionId, FunctionInfo>,
    /// The wrappers by which kernels call foreign functions that are code of the device.
    pub foreigns: BTreeMap<u32, Name>,
    /// The functions that allocate memory of the thread.
    pub memory_users: BTreeSet<FunctionId>,
    /// The result buffers of kernels.
    pub tables: BTreeSet<Variable>,
    /// The node tables that kernels use.
    pub nodes: BTreeSet<SumId>,
    /// The node tables that kernels append to.
    pub growing: BTreeSet<SumId>,
    /// The node tables in which the host fills reserved places.
    pub stored: BTreeSet<SumId>,
    /// True if any kernel of the program may fail.
    pub may_fail: bool,
    /// The number and the name of the kernel that checks offsets, once it exists.
    pub offsets: Option<(usize, Name)>,
    /// The checks in kernels; a failure passes their numbers to the host.
    pub sites: Vec<(ErrorKind, Place)>,
}

impl Kernels {
    /// Returns the state before any kernel of a program is emitted.
    pub fn new(program: &ir::Program, dialect: &Dialect) -> Kernels {
        if !has_kernels(program, dialect) {
            return Kernels::default();
        }
        Kernels {
            memory_users: functions_with_memory(program),
            tables: tables_of_kernels(program),
            ..Kernels::default()
        }
    }
}

impl Kernels {
    /// Returns the number of a check in a kernel.
    pub(crate) fn site(&mut self, error: ErrorKind, place: &Place) -> usize {
        let site = (error, place.clone());
        let known = self.sites.iter().position(|known| *known == site);
        known.unwrap_or_else(|| {
            self.sites.push(site);
            self.sites.len() - 1
        })
    }

    /// Adds a kernel, unless one with the same code exists. Returns the number and the name of the
    /// kernel with this code.
    pub(crate) fn add(&mut self, mut kernel: Function, place: String) -> (usize, Name) {
        let name = std::mem::replace(&mut kernel.name, "".into());
        let text = print::print(&[Item::Function(kernel.clone())]);
        let number = *self.numbers.entry(text).or_insert(self.names.len());
        if let Some(known) = self.names.get(number) {
            return (number, known.clone());
        }
        kernel.name = name.clone();
        self.names.push(name.clone());
        self.places.push(place);
        self.kernels.push(kernel);
        (number, name)
    }
}

/// True if a program has kernels and the target is a device.
pub fn has_kernels(program: &ir::Program, dialect: &Dialect) -> bool {
    let mut found = false;
    for function in &program.functions {
        nova_loop::walk::each_command(&function.body, |command| {
            found |= matches!(command, Command::For { level, .. } if level.starts_kernel());
        });
    }
    dialect.has_device() && found
}
