//! Emits parallel regions. A loop that threads share becomes a function that runs one iteration, a
//! structure of all variables that it takes from outside, and a call of the runtime.

use crate::ast::{Expression, Field, Function, Item, Name, Parameter, Statement, Type};
use crate::command::offset;
use crate::expression::type_of;
use crate::function::FunctionEmitter;
use nova_core::Scalar;
use nova_loop::captures::captured;
use nova_loop::ir::{Command, Variable};
use nova_loop::walk::{each_command, writes};
use std::collections::{BTreeMap, BTreeSet};

/// The pointers of a function to fields of structures. Parallel loops also compute them from each
/// other, so that C compilers know their distances.
#[derive(Default)]
pub struct Fields {
    /// The variables that the function changes.
    assigned: BTreeSet<Variable>,
    /// Pointers that lie a number of elements after another pointer.
    offsets: BTreeMap<Variable, (Variable, usize)>,
    /// The first field of the result made so far of each type, and its offset.
    made: Vec<(Scalar, Variable, usize)>,
}

impl Fields {
    /// Collects the variables that the body of a function changes.
    pub fn new(body: &[Command]) -> Fields {
        let mut fields = Fields::default();
        each_command(body, |command| match command {
            // These change elements. A result is allocated only once.
            Command::Store { .. }
            | Command::Contend { .. }
            | Command::TreeReduce { .. }
            | Command::Prefetch { .. }
            | Command::PlanNonTemporal { .. }
            | Command::NonTemporalStore { .. }
            | Command::Declare { .. }
            | Command::Allocate {
                destination: Some(_),
                ..
            } => {}
            other => writes(other, &mut |v| {
                fields.assigned.insert(v);
            }),
        });
        fields
    }

    /// Notes that a pointer lies a number of elements after another pointer.
    pub fn note(&mut self, field: Variable, other: Variable, distance: usize) {
        if !self.assigned.contains(&field) && !self.assigned.contains(&other) {
            self.offsets.insert(field, (other, distance));
        }
    }

    /// Notes a pointer to a field of the result, a number of elements from its start.
    pub fn note_made(&mut self, element: Scalar, field: Variable, start: usize) {
        match self.made.iter().find(|(scalar, ..)| *scalar == element) {
            None => self.made.push((element, field, start)),
            Some(&(_, first, before)) => {
                if let Some(distance) = start.checked_sub(before) {
                    self.note(field, first, distance);
                }
            }
        }
    }

    /// Returns the pointer from which a pointer is computed, and the distance.
    fn base_of(&self, field: Variable) -> Option<(Variable, usize)> {
        self.offsets.get(&field).copied()
    }
}

impl FunctionEmitter<'_, '_> {
    /// Emits a loop whose iterations threads share.
    pub fn region(&mut self, index: Variable, count: Expression, body: &[Command]) {
        let function = self.function.clone();
        let name = self.unit.names.fresh(&format!("{function}_chunk"), None);
        let structure = self.unit.names.fresh(&format!("{name}_data"), None);
        let mut fields = Vec::new();
        let mut values = Vec::new();
        let mut statements = Vec::new();
        let mut taken: BTreeSet<Variable> = captured(index, body).into_iter().collect();
        let offset_fields: Vec<_> = taken
            .iter()
            .filter_map(|v| self.fields.base_of(*v).map(|(other, by)| (*v, other, by)))
            .collect();
        for (field, other, _) in &offset_fields {
            taken.remove(field);
            taken.insert(*other);
        }
        for variable in taken {
            let own = self.name(variable);
            let ty = type_of(self.program().variable(variable).ty);
            let value = Expression::name("data").arrow(own.clone());
            statements.push(Statement::declare(ty.clone(), own.clone(), value));
            fields.push(Field::Plain(ty, own.clone()));
            values.push(Expression::Name(own));
        }
        for (field, other, distance) in offset_fields {
            let ty = type_of(self.program().variable(field).ty);
            let value = offset(Expression::Name(self.name(other)), distance);
            statements.push(Statement::declare(ty, self.name(field), value));
        }
        let pointer = Type::Struct(structure.clone()).constant().pointer();
        let argument = Expression::name("argument").cast(pointer.clone());
        if !fields.is_empty() {
            statements.insert(0, Statement::declare(pointer, "data", argument));
        }
        let number = self.declare(index);
        self.add_index(index);
        self.remarked = None;
        statements.extend(self.block(body));
        self.unit.helpers.push(Function {
            prefix: vec!["static".into()],
            result: Type::name("void"),
            name: name.clone(),
            parameters: vec![
                Parameter {
                    ty: Type::name("nova_context").pointer(),
                    name: "context".into(),
                },
                Parameter {
                    ty: Type::name("int64_t"),
                    name: number,
                },
                Parameter {
                    ty: Type::name("void").pointer(),
                    name: "argument".into(),
                },
            ],
            body: Some(statements.into()),
        });
        let data = self.region_data(structure, fields, values);
        let arguments = vec![
            Expression::name("context"),
            count,
            Expression::Name(name),
            data,
        ];
        self.push(Statement::call("nova_parallel", arguments));
    }

    /// Emits the beginning or the end of the ordered region of an iteration.
    pub fn ordered_call(&mut self, function: &str, index: Variable) {
        let arguments = vec![
            Expression::name("context"),
            Expression::Name(self.name(index)),
        ];
        self.push(Statement::call(function, arguments));
    }

    /// Declares the variables that the chunks of a region need, in a new structure. Returns the address
    /// of the structure.
    fn region_data(
        &mut self,
        structure: Name,
        fields: Vec<Field>,
        values: Vec<Expression>,
    ) -> Expression {
        if fields.is_empty() {
            return Expression::name("NULL");
        }
        let data = self.fresh("data");
        let ty = Type::Struct(structure.clone());
        let value = Expression::Braces(values);
        self.push(Statement::declare(ty, data.clone(), value));
        let function = &self.function;
        let remark = format!("What the chunks of a parallel loop in {function} need.");
        self.unit.structures.push(Item::Comment(remark));
        self.unit.structures.push(Item::Struct {
            name: structure,
            fields,
            typedef: false,
        });
        self.unit.structures.push(Item::Blank);
        Expression::Name(data).address()
    }
}
