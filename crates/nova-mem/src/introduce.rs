//! Introduction of memory, from Flat to Mem: gives every array the simplest memory that is correct.
//!
//! A statement that makes elements gets a block of its own, allocated before it. A view shares the
//! block of its source. An array that is passed on lies at the start of a block bound with it (the page
//! of the crate says where). Where an array must be row-major and is not, a copy is made first. Later
//! passes choose better memory. If all cases of a conditional make an array whose size is known before,
//! the conditional writes it to one block. Each case copies its array into that block, so that later
//! passes can build it there, and further out.
//!
//! Only at entries does the caller choose. Elements that are fields of structures lie apart
//! ([`crate::ffi`]). A result that the body of the entry makes itself is made in the memory in which it
//! is handed to the caller ([`nova_flat::ir::Destination`]).

mod made;
mod refusals;

use self::made::Made;
use crate::MARK;
use crate::erase::unmark;
use crate::sizes::Sizes;
use crate::views::view_lmad;
use crate::{density, ffi};
use nova_diag::{Place, deep};
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Destination, Expression, Function, FunctionId, Output, Program,
    Statement, Type, Variable, View,
};
use nova_flat::memory::{Lmad, Memory};
use nova_flat::visit::{Substitution, bodies_mut, substitute};
use std::collections::{BTreeMap, HashMap};

/// Gives every array of a program of Flat a memory.
pub fn introduce(program: &Program) -> Program {
    introduce_for(program, false)
}

/// As [`introduce`], for a program whose operations run on a device.
pub fn introduce_for_device(program: &Program) -> Program {
    introduce_for(program, true)
}

fn introduce_for(program: &Program, on_device: bool) -> Program {
    let mut introducer = Introducer {
        on_device,
        program: program.clone(),
        strides: ffi::strides(program),
        entries: ffi::destinations(program),
        destinations: HashMap::new(),
        made: Made::of(program),
    };
    // Names with the mark are reserved for memory from here on.
    unmark(&mut introducer.program);
    let functions = std::mem::take(&mut introducer.program.functions);
    let functions = functions.into_iter().enumerate();
    let functions = functions
        .map(|(k, function)| introducer.function(FunctionId(k as u32), function))
        .collect();
    introducer.program.functions = functions;
    introducer.program
}

struct Introducer {
    /// True if the operations run on a device.
    on_device: bool,
    program: Program,
    /// The strides of parameters and results of entries that are fields of structures.
    strides: BTreeMap<Variable, i64>,
    /// By function of an entry, the memory in which it can build its results.
    entries: BTreeMap<FunctionId, Vec<Option<Destination>>>,
    /// The arrays that are built where a result is handed to the caller of an entry.
    destinations: HashMap<Variable, Destination>,
    /// The arrays that statements make.
    made: Made,
}

/// The statements of a body so far.
type Statements = Vec<Statement>;

impl Introducer {
    fn function(&mut self, id: FunctionId, mut function: Function) -> Function {
        self.own_blocks(&function.parameters);
        self.own_blocks(&function.results);
        let destinations = self.entries.remove(&id).unwrap_or_default();
        let made = self.made.in_function(id);
        for (result, destination) in function.body.results.iter().zip(&destinations) {
            let (Atom::Variable(array), Some(destination)) = (result, destination) else {
                continue;
            };
            // Fields of structures do not lie as other extents would require.
            let array = match destination.stride {
                1 => self.made.source(*array),
                _ => *array,
            };
            let is_filter_result =
                destination.stride == 1 && !self.on_device && self.made.is_filter_result(array);
            if is_filter_result || made.is_some_and(|made| made.contains(&array)) {
                self.destinations.entry(array).or_insert(*destination);
            }
        }
        let place = function.place.clone();
        let results = std::mem::take(&mut function.body.results);
        let mut statements = self.dense_fields(&mut function);
        statements.extend(self.statements(&mut function.body));
        for (k, result) in results.into_iter().enumerate() {
            let destination = destinations.get(k).copied().flatten();
            let result = self.give(result, destination, &mut statements, &place);
            function.body.results.push(result);
        }
        function.body.statements = statements;
        function
    }

    /// Emits copies of the fields of structures that should be dense, and lets the body read the
    /// copies.
    fn dense_fields(&mut self, function: &mut Function) -> Statements {
        let mut statements = Statements::new();
        let parameters = function.parameters.iter().copied();
        let fields = parameters.filter(|p| self.strides.get(p).is_some_and(|s| *s > 1));
        let apart = density::copied_apart(function, fields, self.on_device);
        let mut copies = Substitution::default();
        for field in apart {
            let copy = self.copy(field, None, &mut statements, &function.place);
            copies.insert(field, Atom::Variable(copy));
        }
        substitute(&mut self.program, &mut function.body, &copies);
        statements
    }

    /// Returns a result of a function as it is handed to the caller: in the structures of a
    /// destination, or row-major.
    fn give(
        &mut self,
        result: Atom,
        destination: Option<Destination>,
        out: &mut Statements,
        place: &Place,
    ) -> Atom {
        match (result, destination) {
            (Atom::Variable(array), Some(destination))
                if (destination.stride > 1 || self.is_apart(array))
                    && self.destinations.get(&array) != Some(&destination) =>
            {
                Atom::Variable(self.copy(array, Some(destination), out, place))
            }
            // Built there, or handed to the caller in its own block.
            (Atom::Variable(_), Some(destination)) if destination.stride > 1 => result,
            (Atom::Variable(_) | Atom::Constant(_), _) => self.row_major(result, out, place),
        }
    }

    /// True if the elements of an array are not adjacent in memory.
    fn is_apart(&self, array: Variable) -> bool {
        let memory = self.memory(array);
        memory.is_some_and(|memory| !memory.lmad.is_row_major())
    }

    /// Visits a body whose results are passed on.
    fn body(&mut self, body: &mut Body, place: Place) {
        let results = std::mem::take(&mut body.results);
        let mut statements = self.statements(body);
        body.results = self.row_major_all(&results, &mut statements, &place);
        body.statements = statements;
    }

    fn statements(&mut self, body: &mut Body) -> Statements {
        let mut out = Vec::new();
        for statement in std::mem::take(&mut body.statements) {
            deep(|| self.statement(statement, &mut out));
        }
        out
    }

    fn statement(&mut self, mut statement: Statement, out: &mut Statements) {
        let place = statement.place.clone();
        match &mut statement.expression {
            Expression::Atom(Atom::Variable(source)) => {
                if let ([variable], Some(memory)) = (&statement.pattern[..], self.memory(*source)) {
                    self.set_memory(*variable, memory);
                }
            }
            Expression::View { array, view } => {
                let variable = statement.pattern.first().copied();
                self.view(variable, array, view, out, &place);
            }
            Expression::Literal { .. }
            | Expression::Iota { .. }
            | Expression::Replicate { .. }
            | Expression::Copy(_)
            | Expression::Concat { .. }
            | Expression::Update { .. }
            | Expression::SortKeys { .. } => self.allocate_all(&statement.pattern, out, &place),
            Expression::Sort { compare, .. } => {
                self.body(&mut compare.body, place.clone());
                self.allocate_all(&statement.pattern, out, &place);
            }
            Expression::Operation(operation) => {
                self.operation(operation, &statement.pattern, out, &place);
            }
            Expression::If { .. } | Expression::Switch { .. } => {
                self.conditional(&mut statement, out);
            }
            Expression::While { .. } => self.repeat(&mut statement, out),
            Expression::Call { arguments, .. }
            | Expression::Foreign { arguments, .. }
            | Expression::NodeNew {
                payload: arguments, ..
            }
            | Expression::NodeStore {
                payload: arguments, ..
            }
            | Expression::Trace {
                components: arguments,
                ..
            } => {
                *arguments = self.row_major_all(arguments, out, &place);
                self.own_blocks(&statement.pattern);
            }
            Expression::Bytes(_)
            | Expression::NodePayload { .. }
            | Expression::NodesReached { .. }
            | Expression::TableOpen { .. }
            | Expression::TableClose { .. }
            | Expression::TableShrink { .. }
            | Expression::Fail { .. } => {
                self.own_blocks(&statement.pattern);
            }
            Expression::Atom(Atom::Constant(_))
            | Expression::Scalar { .. }
            | Expression::Check { .. }
            | Expression::Index { .. }
            | Expression::NodeTag { .. }
            | Expression::NodesReserve { .. }
            | Expression::NodesSeal { .. }
            | Expression::NodesAcyclic { .. }
            | Expression::MaySplit
            | Expression::Allocate { .. }
            | Expression::Unique(_) => {}
        }
        out.push(statement);
    }

    /// Visits a loop, which passes on the results of its body.
    fn repeat(&mut self, statement: &mut Statement, out: &mut Statements) {
        let place = statement.place.clone();
        self.own_blocks(&statement.pattern);
        if let Expression::While {
            parameters,
            condition,
            body,
        } = &mut statement.expression
        {
            self.start_states(parameters, out, &place);
            self.body(condition, place.clone());
            self.body(body, place);
        }
    }

    /// Visits a conditional. It passes on the results of its cases, or each case copies them to one
    /// block.
    fn conditional(&mut self, statement: &mut Statement, out: &mut Statements) {
        let place = statement.place.clone();
        for variable in &statement.pattern {
            match self.made.is_placed(*variable) {
                true => self.allocate_all(&[*variable], out, &place),
                false => self.own_blocks(&[*variable]),
            }
        }
        let pattern = statement.pattern.clone();
        bodies_mut(&mut statement.expression, &mut |body| {
            let results = std::mem::take(&mut body.results);
            let mut statements = self.statements(body);
            for (result, variable) in results.into_iter().zip(&pattern) {
                let given = match result {
                    Atom::Variable(array) if self.made.is_placed(*variable) => {
                        Atom::Variable(self.copy_to(*variable, array, &mut statements, &place))
                    }
                    Atom::Variable(_) | Atom::Constant(_) => {
                        self.row_major(result, &mut statements, &place)
                    }
                };
                body.results.push(given);
            }
            body.statements = statements;
        });
    }

    /// Emits a copy of an array to the memory of a variable of the same type.
    fn copy_to(
        &mut self,
        variable: Variable,
        array: Variable,
        out: &mut Statements,
        place: &Place,
    ) -> Variable {
        let info = self.program.variable(variable).clone();
        let name = format!("{MARK}{}", info.name);
        let copy = self.program.add_variable(name, info.ty);
        if let Some(memory) = info.memory {
            self.set_memory(copy, memory);
        }
        out.push(Statement {
            pattern: vec![copy],
            expression: Expression::Copy(array),
            place: place.clone(),
        });
        copy
    }

    /// Gives a view its memory in the block of its source. A source is copied first if no LMAD gives
    /// the view.
    fn view(
        &mut self,
        variable: Option<Variable>,
        array: &mut Variable,
        view: &View,
        out: &mut Statements,
        place: &Place,
    ) {
        let (Some(variable), Some(memory)) = (variable, self.memory(*array)) else {
            return;
        };
        if let Some(lmad) = view_lmad(&memory.lmad, view) {
            return self.set_memory(
                variable,
                Memory {
                    block: memory.block,
                    lmad,
                },
            );
        }
        *array = self.copy(*array, None, out, place);
        let memory = self.memory(*array);
        if let Some((memory, lmad)) =
            memory.and_then(|m| Some((m.block, view_lmad(&m.lmad, view)?)))
        {
            self.set_memory(
                variable,
                Memory {
                    block: memory,
                    lmad,
                },
            );
        }
    }

    fn operation(
        &mut self,
        operation: &mut ArrayOperation,
        pattern: &[Variable],
        out: &mut Statements,
        place: &Place,
    ) {
        self.start_states(&mut operation.carries, out, place);
        let carries = operation.carries.len().min(pattern.len());
        let (carried, mut given) = pattern.split_at(carries);
        self.own_blocks(carried);
        for output in &mut operation.outputs {
            let (own, rest) = given.split_at(output.gives().min(given.len()));
            given = rest;
            match output {
                Output::Map | Output::Scatter { .. } | Output::Join { .. } => {
                    self.allocate_all(own, out, place)
                }
                Output::Reduce { lambda, .. } => self.body(&mut lambda.body, place.clone()),
                Output::Scan { lambda, .. } | Output::Histogram { lambda, .. } => {
                    self.allocate_all(own, out, place);
                    self.body(&mut lambda.body, place.clone());
                }
                Output::Filter { .. } => {
                    // There is room for all elements, since their count is known only afterwards.
                    for variable in own.iter().skip(1) {
                        let destination = self.destinations.get(variable).copied();
                        self.allocate(*variable, &operation.shape, destination, out, place);
                    }
                }
                Output::Collect { .. } => {
                    let (descriptor, rows) = own.split_at(own.len().min(3));
                    self.allocate_all(descriptor, out, place);
                    self.own_blocks(rows);
                }
            }
        }
        self.body(&mut operation.body, place.clone());
    }

    /// Gives the states of a loop blocks of their own, and makes their start values row-major.
    fn start_states(
        &mut self,
        states: &mut [(Variable, Atom)],
        out: &mut Statements,
        place: &Place,
    ) {
        for (variable, start) in states {
            *start = self.row_major(*start, out, place);
            self.own_blocks(&[*variable]);
        }
    }

    fn memory(&self, variable: Variable) -> Option<Memory> {
        self.program.variables.get(variable.index())?.memory.clone()
    }

    fn set_memory(&mut self, variable: Variable, memory: Memory) {
        if let Some(info) = self.program.variables.get_mut(variable.index()) {
            info.memory = Some(memory);
        }
    }

    /// Adds a block for an array.
    fn new_block(&mut self, array: Variable) -> Variable {
        let info = self.program.variable(array);
        let (name, element) = (format!("{}_block", info.name), info.ty.element());
        self.program.add_variable(name, Type::Block(element))
    }

    /// Puts each array of a list at the start of a block that is bound with it.
    fn own_blocks(&mut self, variables: &[Variable]) {
        for variable in variables {
            if let Some(lmad) = self.lmad_of(*variable) {
                let stride = self.strides.get(variable).copied().unwrap_or(1);
                let lmad = ffi::spread(lmad, stride);
                let block = self.new_block(*variable);
                self.set_memory(*variable, Memory { block, lmad });
            }
        }
    }

    /// Returns the row-major LMAD from the start of a block, or `None` for a variable that is no array.
    fn lmad_of(&self, variable: Variable) -> Option<Lmad> {
        let ty = self.program.ty(variable);
        if ty.is_array() {
            Lmad::of_shape(ty.shape())
        } else {
            None
        }
    }

    /// Allocates a block for each array of a list.
    fn allocate_all(&mut self, variables: &[Variable], out: &mut Statements, place: &Place) {
        for variable in variables {
            let shape = self.program.ty(*variable).shape().to_vec();
            let destination = self.destinations.get(variable).copied();
            self.allocate(*variable, &shape, destination, out, place);
        }
    }

    /// Allocates a block of `shape` for an array.
    fn allocate(
        &mut self,
        variable: Variable,
        shape: &[Atom],
        destination: Option<Destination>,
        out: &mut Statements,
        place: &Place,
    ) {
        let Some(lmad) = self.lmad_of(variable) else {
            return;
        };
        let lmad = ffi::spread(lmad, destination.map_or(1, |d| i64::from(d.stride)));
        let element = self.program.ty(variable).element();
        let program = &mut self.program;
        let count = Sizes { program, place }.of(shape, out);
        let block = self.new_block(variable);
        out.push(Statement {
            pattern: vec![block],
            expression: Expression::Allocate {
                element,
                count,
                destination,
            },
            place: place.clone(),
        });
        self.set_memory(variable, Memory { block, lmad });
    }

    fn row_major_all(&mut self, atoms: &[Atom], out: &mut Statements, place: &Place) -> Vec<Atom> {
        atoms
            .iter()
            .map(|atom| self.row_major(*atom, out, place))
            .collect()
    }

    /// Returns an operand, or a copy of it if it is an array that is not row-major.
    fn row_major(&mut self, atom: Atom, out: &mut Statements, place: &Place) -> Atom {
        match atom {
            Atom::Variable(variable) if self.is_apart(variable) => {
                Atom::Variable(self.copy(variable, None, out, place))
            }
            Atom::Variable(_) | Atom::Constant(_) => atom,
        }
    }

    /// Emits a copy of an array in a block of its own.
    fn copy(
        &mut self,
        array: Variable,
        destination: Option<Destination>,
        out: &mut Statements,
        place: &Place,
    ) -> Variable {
        let info = self.program.variable(array).clone();
        let copy = self
            .program
            .add_variable(format!("{MARK}{}", info.name), info.ty.clone());
        self.allocate(copy, info.ty.shape(), destination, out, place);
        out.push(Statement {
            pattern: vec![copy],
            expression: Expression::Copy(array),
            place: place.clone(),
        });
        copy
    }
}
