//! The machine: the variables, the stack of open command lists and calls, and the loop that fetches one
//! command after the other.

use super::grids::{GridOrder, Iteration};
use super::heap::{BlockId, Heap};
use super::{Cell, Pointer, Step, runtime, wrong};
use crate::ir::{self, Command, Expression, Function, FunctionId, Level, Program, Variable};
use crate::walk;
use nova_core::ErrorKind;
use nova_core::interpret::Options;
use nova_diag::deep;
use nova_flat::values::Layouts;
use std::collections::HashMap;

/// The state of a run.
pub(super) struct Machine<'p> {
    pub(super) program: &'p Program,
    /// The layouts of its sums, for conversions of values.
    pub(super) layouts: Layouts<'p>,
    pub(super) options: &'p Options<'p>,
    /// The last answer of `MaySplit`.
    pub(super) splits: bool,
    pub(super) heap: Heap,
    /// The order in which the iterations of parallel loops run.
    pub(super) grid_order: GridOrder,
    /// The nodes of each recursive sum. `None` is a place that is reserved.
    pub(super) tables: Vec<Vec<Option<Node>>>,
    /// The blocks of constant arrays, by the addresses of their values.
    pub(super) constants: HashMap<*const u8, BlockId>,
    /// The slot of each variable in the activation of its function.
    slots: Vec<u32>,
    /// The number of slots of each function, once it has been called.
    sizes: Vec<Option<usize>>,
    /// The variables of all activations.
    cells: Vec<Cell>,
    /// The start of the current activation.
    base: usize,
    /// The number of active calls.
    calls: usize,
    stack: Vec<Open<'p>>,
}

/// A node of a recursive sum: its constructor and the components of its payload.
pub(super) struct Node {
    pub(super) constructor: u32,
    pub(super) payload: Vec<Cell>,
    /// The iteration of a parallel loop that has made it.
    pub(super) maker: Iteration,
}

/// A command list, loop or call under execution.
enum Open<'p> {
    /// A command list, and the index of the next command.
    List {
        commands: &'p [Command],
        next: usize,
    },
    /// A counted loop, and its next iteration.
    For {
        variable: Variable,
        next: i64,
        count: i64,
        body: &'p [Command],
        grid: Option<Grid>,
    },
    /// A loop without a count.
    Loop(&'p [Command]),
    /// A call, the variables for its results, and the start of the caller's activation.
    Call {
        function: &'p Function,
        results: &'p [Variable],
        base: usize,
    },
}

/// The state of a parallel loop.
#[derive(Clone, Copy)]
struct Grid {
    /// The number of this run of the loop.
    number: u32,
    /// The iteration that runs it.
    enclosing: Iteration,
    /// True if it has an ordered region.
    is_ordered: bool,
}

impl<'p> Machine<'p> {
    /// Returns a machine in its initial state.
    pub(super) fn new(program: &'p Program, options: &'p Options<'p>) -> Self {
        Machine {
            program,
            layouts: Layouts::new(&program.sums),
            options,
            heap: Heap::default(),
            grid_order: GridOrder::default(),
            splits: false,
            tables: program.sums.iter().map(|_| Vec::new()).collect(),
            constants: HashMap::new(),
            slots: vec![0; program.variables.len()],
            sizes: vec![None; program.functions.len()],
            cells: Vec::new(),
            base: 0,
            calls: 0,
            stack: Vec::new(),
        }
    }

    /// Gives the variables of a function their slots and returns the number of these.
    fn number(&mut self, function: &'p Function) -> usize {
        let mut count = 0;
        for variable in function.parameters.iter().chain(&function.results) {
            self.give_slot(*variable, &mut count);
        }
        self.give_slots(&function.body, &mut count);
        count as usize
    }

    fn give_slot(&mut self, variable: Variable, count: &mut u32) {
        if let Some(slot) = self.slots.get_mut(variable.index()) {
            *slot = *count;
            *count += 1;
        }
    }

    fn give_slots(&mut self, commands: &[Command], count: &mut u32) {
        for command in commands {
            if let Command::Declare { variable, .. }
            | Command::Local {
                pointer: variable, ..
            }
            | Command::Shared {
                pointer: variable, ..
            }
            | Command::Spare {
                pointer: variable, ..
            }
            | Command::For { variable, .. } = command
            {
                self.give_slot(*variable, count);
            }
            for list in command.lists() {
                deep(|| self.give_slots(list, count));
            }
        }
    }

    fn cell(&mut self, variable: Variable) -> Step<&mut Cell> {
        let slot = self.slots.get(variable.index());
        let cell = slot.and_then(|p| self.cells.get_mut(self.base + *p as usize));
        match cell {
            Some(cell) => Ok(cell),
            None => wrong("a variable of another function"),
        }
    }

    /// Returns the content of a variable.
    pub(super) fn get(&self, variable: Variable) -> Step<Cell> {
        let slot = self.slots.get(variable.index());
        let cell = slot.and_then(|p| self.cells.get(self.base + *p as usize));
        match cell.copied() {
            Some(Cell::Unset) => {
                let name = crate::print::print_variable(self.program, variable);
                wrong(format!("{name} is read before it is assigned"))
            }
            Some(cell) => Ok(cell),
            None => wrong("a variable of another function"),
        }
    }

    /// Assigns a variable.
    pub(super) fn set(&mut self, variable: Variable, value: Cell) -> Step<()> {
        *self.cell(variable)? = value;
        Ok(())
    }

    /// Clears a variable. A declaration discards the value of the previous iteration.
    pub(super) fn unset(&mut self, variable: Variable) -> Step<()> {
        self.set(variable, Cell::Unset)
    }

    /// Calls a function, runs it to its end and returns its results.
    pub(super) fn run(&mut self, function: FunctionId, arguments: Vec<Cell>) -> Step<Vec<Cell>> {
        let results = match self.program.functions.get(function.index()) {
            Some(function) => &function.results,
            None => return wrong("there is no such function"),
        };
        self.call(function, arguments, &[])?;
        // The cells of the first call stay when it ends.
        while let Some(command) = self.next()? {
            self.execute(command)?;
        }
        results.iter().map(|r| self.get(*r)).collect()
    }

    /// Enters a function.
    pub(super) fn call(
        &mut self,
        id: FunctionId,
        arguments: Vec<Cell>,
        results: &'p [Variable],
    ) -> Step<()> {
        let index = id.index();
        let (Some(function), Some(known)) = (
            self.program.functions.get(index),
            self.sizes.get(index).copied(),
        ) else {
            return wrong("there is no such function");
        };
        if self.calls >= self.options.depth_limit {
            return Err(runtime(
                ErrorKind::Recursion,
                Vec::new(),
                Some(&function.place),
            ));
        }
        if arguments.len() != function.parameters.len() {
            return wrong("a call with another number of arguments");
        }
        let size = known.unwrap_or_else(|| self.number(function));
        if let Some(known) = self.sizes.get_mut(index) {
            *known = Some(size);
        }
        self.calls += 1;
        self.stack.push(Open::Call {
            function,
            results,
            base: self.base,
        });
        self.base = self.cells.len();
        self.cells.resize(self.base + size, Cell::Unset);
        for (parameter, argument) in function.parameters.iter().zip(arguments) {
            self.set(*parameter, argument)?;
        }
        self.open(&function.body);
        Ok(())
    }

    /// Opens a list of commands.
    pub(super) fn open(&mut self, commands: &'p [Command]) {
        self.stack.push(Open::List { commands, next: 0 });
    }

    /// Opens a counted loop.
    pub(super) fn open_for(
        &mut self,
        variable: Variable,
        count: i64,
        level: Level,
        body: &'p [Command],
    ) {
        let iterations = &mut self.heap.iterations;
        let grid = level.is_parallel().then(|| Grid {
            number: iterations.begin_grid(),
            enclosing: iterations.current(),
            is_ordered: walk::has_ordered_region(body),
        });
        self.stack.push(Open::For {
            variable,
            next: 0,
            count,
            body,
            grid,
        });
    }

    /// Opens a loop without a count.
    pub(super) fn open_loop(&mut self, body: &'p [Command]) {
        self.stack.push(Open::Loop(body));
    }

    /// Returns the next command, or none when the first call has ended.
    fn next(&mut self) -> Step<Option<&'p Command>> {
        loop {
            match self.stack.last_mut() {
                None => return wrong("the machine runs without a call"),
                Some(Open::List { commands, next }) => match commands.get(*next) {
                    Some(command) => {
                        *next += 1;
                        return Ok(Some(command));
                    }
                    None => {
                        self.stack.pop();
                    }
                },
                Some(Open::For {
                    variable,
                    next,
                    count,
                    body,
                    grid,
                }) => {
                    if *next < *count {
                        let (variable, body) = (*variable, *body);
                        let mut index = *next;
                        *next += 1;
                        if let Some(grid) = *grid {
                            if !grid.is_ordered {
                                index = self.grid_order.index(index, *count);
                            }
                            self.heap
                                .iterations
                                .begin_iteration(grid.number, grid.enclosing);
                        }
                        self.open(body);
                        let value = self.evaluate(&Expression::index(index))?;
                        self.set(variable, value)?;
                    } else {
                        self.close();
                    }
                }
                Some(Open::Loop(body)) => {
                    let body = *body;
                    self.open(body);
                }
                Some(Open::Call { .. }) => {
                    if self.end_call()? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Closes the innermost list, loop or call.
    fn close(&mut self) {
        if let Some(Open::For {
            grid: Some(grid), ..
        }) = self.stack.pop()
        {
            self.heap.iterations.end_grid(grid.enclosing);
        }
    }

    /// Ends the innermost call. Returns true if it was the first one.
    fn end_call(&mut self) -> Step<bool> {
        let Some(Open::Call {
            function,
            results,
            base,
        }) = self.stack.pop()
        else {
            return wrong("a return outside a call");
        };
        self.calls -= 1;
        if self.stack.is_empty() {
            return Ok(true);
        }
        let values = function.results.iter().map(|r| self.get(*r));
        let values = values.collect::<Step<Vec<_>>>()?;
        self.free_locals();
        self.cells.truncate(self.base);
        self.base = base;
        if results.len() != values.len() {
            return wrong("a call with another number of results");
        }
        for (result, value) in results.iter().zip(values) {
            self.set(*result, value)?;
        }
        Ok(false)
    }

    /// Makes a new local array for a pointer, and frees that of the previous iteration.
    pub(super) fn local(&mut self, pointer: Variable, count: u32) -> Step<()> {
        let ir::Type::Pointer(element) = self.program.variable(pointer).ty else {
            return wrong("a local array without a pointer to it");
        };
        let calls = self.calls;
        if let Cell::Pointer(old) = *self.cell(pointer)? {
            self.heap.free_local(old, calls);
        }
        let block = self.heap.local(element, count, calls);
        self.set(pointer, Cell::Pointer(Pointer::start(block)))
    }

    /// Makes a new array that the threads of a work-group share.
    pub(super) fn shared(&mut self, pointer: Variable, count: &Expression) -> Step<()> {
        let count = self.evaluate(count)?.index()?;
        match u32::try_from(count) {
            Ok(count) => self.local(pointer, count),
            Err(_) => wrong("an array of threads with a wrong number of elements"),
        }
    }

    /// Assigns the first of several slots into which none of the pointers in `apart` leads.
    pub(super) fn spare(
        &mut self,
        pointer: Variable,
        slots: &Expression,
        count: &Expression,
        apart: &[Expression],
    ) -> Step<()> {
        let mut slot = self.evaluate(slots)?.pointer()?;
        let count = self.evaluate(count)?.index()?;
        let mut taken = Vec::new();
        for other in apart {
            let other = self.evaluate(other)?.pointer()?;
            if other.block == slot.block {
                taken.push(other.index);
            }
        }
        let holds = |at: i64, index: i64| index >= at && index < at.saturating_add(count);
        for _ in apart {
            if taken.iter().any(|index| holds(slot.index, *index)) {
                slot.index = slot.index.wrapping_add(count);
            }
        }
        slot.bounds = Some((slot.index, slot.index.saturating_add(count)));
        self.set(pointer, Cell::Pointer(slot))
    }

    /// Frees the local arrays of the activation that ends.
    fn free_locals(&mut self) {
        for cell in self.cells.get(self.base..).unwrap_or_default() {
            if let Cell::Pointer(pointer) = cell {
                self.heap.free_local(*pointer, self.calls + 1);
            }
        }
    }

    /// Leaves everything inside the innermost loop without a count, and also the loop if `leave`.
    pub(super) fn jump(&mut self, leave: bool) -> Step<()> {
        loop {
            match self.stack.last() {
                Some(Open::List { .. }) => {
                    self.stack.pop();
                }
                Some(Open::Loop(_)) => {
                    if leave {
                        self.stack.pop();
                    }
                    return Ok(());
                }
                Some(Open::For { .. } | Open::Call { .. }) | None => {
                    return wrong("a jump outside a loop");
                }
            }
        }
    }

    /// Leaves everything inside the innermost call.
    pub(super) fn leave_call(&mut self) {
        while !matches!(self.stack.last(), Some(Open::Call { .. }) | None) {
            self.close();
        }
    }
}
