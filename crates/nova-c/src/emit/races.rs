//! Adds code that traces races (`runtime-c/common/races.h`). Parallel loops run in order and report the
//! current iteration. Every access to an array is reported, and every access to a variable that
//! iterations of an enclosing parallel loop assign. [`bulk`] handles commands on many elements.

mod bulk;

use crate::context::expressions::context;
use crate::context::function::FunctionEmitter;
use crate::context::groups::arrays;
use crate::context::tracing::kind;
use crate::dialect;
use crate::scalar::{Value, memory_type};
use nova_c_ast::ast::{Expression, Name, Statement, Type};
use nova_core::Scalar;
use nova_diag::{Place, deep};
use nova_loop::ir::{self, Command, Level, Stays, Variable};

/// Returns the first variable of a pointer: one of the arrays that it may point into, `None` for
/// constants.
fn array_of(pointer: &ir::Expression) -> Option<Variable> {
    match pointer {
        ir::Expression::Variable(variable) => Some(*variable),
        ir::Expression::Offset { pointer, .. } | ir::Expression::Load { pointer, .. } => {
            deep(|| array_of(pointer))
        }
        ir::Expression::Select {
            then, otherwise, ..
        } => deep(|| array_of(then).or_else(|| array_of(otherwise))),
        ir::Expression::Constant(_)
        | ir::Expression::Bytes(_)
        | ir::Expression::Data(..)
        | ir::Expression::Scalar { .. }
        | ir::Expression::NullPointer(_)
        | ir::Expression::NullBlock
        | ir::Expression::NodeTag { .. } => None,
    }
}

impl FunctionEmitter<'_, '_> {
    /// Emits a loop whose iterations run in order.
    pub fn traced_loop(
        &mut self,
        variable: Variable,
        count: Expression,
        level: Level,
        body: &[Command],
        place: &Place,
    ) {
        let enclosing = self.tracing.at(place);
        let index = self.declare(variable);
        self.add_index(variable);
        let kind = kind(level);
        let groups = match level {
            Level::Block => self.arrays_of_groups(body, place),
            Level::Sequential
            | Level::Grid
            | Level::Thread
            | Level::Vector
            | Level::Independent
            | Level::Unrolled
            | Level::Rank => Vec::new(),
        };
        if let Some(kind) = kind {
            let place = self.place_text();
            let arguments = vec![place, Expression::name(kind)];
            self.push(Statement::call("nova_race_enter", arguments));
        }
        self.tracing.parallel += usize::from(kind.is_some());
        let mut block = self.block(body);
        self.tracing.parallel -= usize::from(kind.is_some());
        if kind.is_some() {
            let iteration = vec![Expression::Name(index.clone())];
            block.insert(0, Statement::call("nova_race_next", iteration));
        }
        let counted = dialect::counted_loop(Level::Sequential, index, count, block);
        self.push(counted);
        if kind.is_some() {
            self.push(Statement::call("nova_race_leave", Vec::new()));
        }
        for group in groups {
            let arguments = vec![context(), Expression::Name(group)];
            self.push(Statement::call("nova_release", arguments));
        }
        self.tracing.place = enclosing;
    }

    /// Allocates the arrays that the threads of a group share, once for all groups. Returns their
    /// blocks.
    fn arrays_of_groups(&mut self, body: &[Command], place: &Place) -> Vec<Name> {
        let mut blocks = Vec::new();
        for (pointer, count) in arrays(body) {
            let element = memory_type(self.element_of(pointer));
            let name = self.declare(pointer);
            let block = self.fresh(&format!("{name}_block"));
            self.push(Statement::Declare {
                ty: Type::name("nova_block").pointer(),
                name: block.clone(),
                value: None,
            });
            let arguments = vec![
                context(),
                Expression::Name(block.clone()).address(),
                self.assigned(count),
                Expression::SizeOf(element.clone()),
                Expression::text(place.to_string()),
            ];
            let data = Expression::call("nova_allocate", arguments).cast(element.clone().pointer());
            self.push(Statement::declare(element.pointer(), name, data));
            blocks.push(block);
        }
        blocks
    }

    /// Emits a barrier of the loop at a level.
    pub fn traced_barrier(&mut self, level: Level) {
        if let Some(kind) = kind(level) {
            let arguments = vec![Expression::name(kind)];
            self.push(Statement::call("nova_race_barrier", arguments));
        }
    }

    /// Emits the beginning or the end of the ordered region of an iteration.
    pub fn traced_ordered(&mut self, ends: bool) {
        let ends = Expression::name(if ends { "true" } else { "false" });
        self.push(Statement::call("nova_race_ordered", vec![ends]));
    }

    /// Reports that control leaves the function, inside of a parallel loop.
    pub fn trace_return(&mut self) {
        if self.tracing.parallel > 0 {
            self.push(Statement::call("nova_race_return", Vec::new()));
        }
    }

    /// Returns the place of the innermost loop, or the name of the function if there is none.
    fn place_text(&self) -> Expression {
        Expression::text(match &self.tracing.place {
            Some(place) => place.to_string(),
            None => self.function.to_string(),
        })
    }

    /// Returns the description of an access in messages.
    fn what(&self, array: Option<Variable>) -> Expression {
        let name = array.map_or("an array", |v| &self.program().variable(v).name);
        Expression::text(match &self.tracing.place {
            Some(place) => format!("{name} ({place})"),
            None => format!("{name} in {}", self.function),
        })
    }

    /// Returns an element that is read, with its report.
    pub fn traced_load(
        &mut self,
        element: Expression,
        scalar: Scalar,
        pointer: &ir::Expression,
        depth: u32,
    ) -> Value {
        let Some(array) = array_of(pointer) else {
            return Value::exact(element, scalar, depth);
        };
        let ty = memory_type(scalar);
        let read = self.touched("nova_race_read", element, ty, array);
        Value::exact(read, scalar, depth + 2)
    }

    /// Returns an element that is written, with its report.
    pub fn traced_target(&mut self, pointer: Variable, element: Expression) -> Expression {
        match self.unit.traces() {
            true => {
                let ty = memory_type(self.element_of(pointer));
                self.touched("nova_race_write", element, ty, pointer)
            }
            false => element,
        }
    }

    /// Returns an element that is written while other iterations may write it, with its report.
    pub fn traced_contention(
        &mut self,
        pointer: Variable,
        element: Expression,
        stays: Stays,
    ) -> Expression {
        if !self.unit.traces() {
            return element;
        }
        let ty = memory_type(self.element_of(pointer));
        let way = match stays {
            Stays::Any => "NOVA_RACE_ANY",
            Stays::Greatest => "NOVA_RACE_GREATEST",
        };
        let arguments = vec![
            element.address(),
            Expression::SizeOf(ty.clone()),
            Expression::name(way),
            self.what(Some(pointer)),
        ];
        Expression::call("nova_race_contend", arguments)
            .cast(ty.pointer())
            .dereference()
    }

    /// Returns a variable that is read, with its report where it is shared.
    pub fn read_variable(&mut self, variable: Variable) -> Expression {
        let value = Expression::Name(self.name(variable));
        match self.tracing.shared.contains(&variable) {
            true => {
                let ty = self.type_of_variable(variable);
                self.touched("nova_race_read", value, ty, variable)
            }
            false => value,
        }
    }

    /// Memory that is accessed through a function which reports the access and returns the address.
    fn touched(
        &mut self,
        function: &str,
        place: Expression,
        ty: Type,
        array: Variable,
    ) -> Expression {
        let size = Expression::SizeOf(ty.clone());
        let arguments = vec![place.address(), size, self.what(Some(array))];
        Expression::call(function, arguments)
            .cast(ty.pointer())
            .dereference()
    }

    /// Reports assignments to variables.
    pub fn trace_assigned(&mut self, variables: &[Variable]) {
        for variable in variables {
            if self.tracing.shared.contains(variable) {
                let arguments = vec![
                    Expression::Name(self.name(*variable)).address(),
                    Expression::SizeOf(self.type_of_variable(*variable)),
                    self.what(Some(*variable)),
                ];
                self.push(Statement::call("nova_race_write", arguments));
            }
        }
    }

    /// Reports the declaration of a variable.
    pub fn trace_variable(&mut self, variable: Variable) {
        if self.tracing.shared.contains(&variable) {
            let place = Expression::Name(self.name(variable)).address();
            let ty = self.type_of_variable(variable);
            self.trace_memory("nova_race_local", place, Expression::literal("1"), ty);
        }
    }

    /// Reports the declaration of a local array.
    pub fn trace_local(&mut self, pointer: Variable, count: u32) {
        if self.unit.traces() {
            let place = Expression::Name(self.name(pointer));
            let ty = memory_type(self.element_of(pointer));
            let count = Expression::literal(count.to_string());
            self.trace_memory("nova_race_local", place, count, ty);
        }
    }

    /// Reports an array that the threads of a group share, which is new for each group.
    pub fn trace_shared(&mut self, pointer: Variable, count: &ir::Expression) {
        self.trace_new(pointer, self.element_of(pointer), count);
    }

    /// Reports a new array.
    pub fn trace_new(&mut self, pointer: Variable, element: Scalar, count: &ir::Expression) {
        if self.unit.traces() {
            let place = Expression::Name(self.name(pointer));
            let count = self.assigned(count);
            self.trace_memory("nova_race_new", place, count, memory_type(element));
        }
    }

    fn trace_memory(&mut self, function: &str, place: Expression, count: Expression, ty: Type) {
        let arguments = vec![place, count, Expression::SizeOf(ty)];
        self.push(Statement::call(function, arguments));
    }
}
