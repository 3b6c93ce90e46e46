//! Parallel regions: a loop that threads share becomes a function of its own, which does one
//! iteration, a structure with all that it takes from around it, and a call of the runtime.

use crate::ast::{Expression, Field, Function, Item, Name, Parameter, Statement, Type};
use crate::command::offset;
use crate::expression::type_of;
use crate::function::FunctionEmitter;
use nova_core::Scalar;
use nova_loop::ir::{Command, Variable};
use nova_loop::parallel_regions::captured;
use nova_loop::walk::{each_command, writes};
use std::collections::{BTreeMap, BTreeSet};

/// The pointers of a function to fields of structures. Parallel loops compute them from each other
/// too, so that C compilers see what lies between them.
#[derive(Default)]
pub struct Fields {
    /// What changes in the function.
    assigned: BTreeSet<Variable>,
    /// Pointers that lie a number of elements behind another one.
    behind: BTreeMap<Variable, (Variable, usize)>,
    /// The first field of the result made so far of each type, and where it lies.
    made: Vec<(Scalar, Variable, usize)>,
}

impl Fields {
    /// Looks at what the body of a function changes.
    pub fn new(body: &[Command]) -> Fields {
        let mut fields = Fields::default();
        each_command(body, |command| match command {
            // They change elements; and a result stays where it is made.
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

    /// Notes that a pointer lies a number of elements behind another one.
    pub fn note(&mut self, field: Variable, other: Variable, distance: usize) {
        if !self.assigned.contains(&field) && !self.assigned.contains(&other) {
            self.behind.insert(field, (other, distance));
        }
    }

    /// Notes that a pointer to a field of the result has been made, so many elements from its start.
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

    /// The other pointer that a pointer lies behind, and the distance.
    fn behind(&self, field: Variable) -> Option<(Variable, usize)> {
        self.behind.get(&field).copied()
    }
}

impl FunctionEmitter<'_, '_> {
    /// Emits a loop over an index whose iterations threads share.
    pub fn region(&mut self, index: Variable, count: Expression, body: &[Command]) {
        let function = self.function.clone();
        let name = self.unit.names.fresh(&format!("{function}_part"), None);
        let structure = self.unit.names.fresh(&format!("{name}_data"), None);
        let mut fields = Vec::new();
        let mut values = Vec::new();
        let mut statements = Vec::new();
        let mut taken: BTreeSet<Variable> = captured(index, body).into_iter().collect();
        let fields_behind: Vec<_> = taken
            .iter()
            .filter_map(|v| self.fields.behind(*v).map(|(other, by)| (*v, other, by)))
            .collect();
        for (field, other, _) in &fields_behind {
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
        for (field, other, distance) in fields_behind {
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

    /// Emits what begins or ends the turn of an iteration.
    pub fn turn(&mut self, function: &str, index: Variable) {
        let arguments = vec![
            Expression::name("context"),
            Expression::Name(self.name(index)),
        ];
        self.push(Statement::call(function, arguments));
    }

    /// Declares what the parts of a region need, of a new structure; gives its address.
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
        let remark = format!("What the parts of a parallel loop in {function} need.");
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
