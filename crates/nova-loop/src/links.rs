//! The variables that may hold links to nodes.
//!
//! A link is an `i64`, as any other number is. Links come from the commands that make or read nodes, and
//! from the callers of entries and foreign functions, whose types say where links stand. From there they
//! flow through assignments, arrays and calls. All pointers and handles that may lead into one array share
//! one description of its elements.

use crate::ir::{Command, Expression, Operand, Program, TableCommand, Type, Variable, operands};
use crate::walk::each_command;
use nova_core::{Scalar, ScalarValue, SumId, Type as CoreType};
use nova_diag::deep;
use nova_flat::representation::{Component, components};
use nova_flat::values::reached::reached_components;
use std::collections::BTreeSet;

/// The values that a variable may hold, or the elements that it leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// The recursive sums to whose nodes there may be links, or numbers computed from links.
    pub sums: BTreeSet<SumId>,
    /// True if there may be other numbers than links and 0. An alternative that is not active has 0
    /// where another one has a link.
    pub numbers: bool,
    /// The recursive sums whose nodes may hold the array to which a pointer leads.
    pub owners: BTreeSet<SumId>,
}

impl Held {
    fn link(sum: SumId) -> Held {
        Held {
            sums: BTreeSet::from([sum]),
            ..Held::default()
        }
    }

    fn number() -> Held {
        Held {
            numbers: true,
            ..Held::default()
        }
    }

    /// Returns the description of a number that is computed from it.
    fn into_number(mut self) -> Held {
        self.numbers = true;
        self
    }

    /// Adds another description. Returns true if something was new.
    fn add(&mut self, other: &Held) -> bool {
        let before = (self.sums.len(), self.owners.len(), self.numbers);
        self.sums.extend(&other.sums);
        self.owners.extend(&other.owners);
        self.numbers |= other.numbers;
        before != (self.sums.len(), self.owners.len(), self.numbers)
    }
}

/// The variables of a program that may hold links.
pub struct Links {
    /// For each variable, another one that leads into the same arrays, or itself.
    same: Vec<Variable>,
    /// The values that each variable may hold which stands for itself.
    held: Vec<Held>,
}

impl Links {
    /// Finds the variables of a program that may hold links.
    pub fn of(program: &Program) -> Links {
        let count = program.variables.len();
        let mut links = Links {
            same: (0..count as u32).map(Variable).collect(),
            held: vec![Held::default(); count],
        };
        for entry in &program.entries {
            if let Some(function) = program.functions.get(entry.function.index()) {
                let inputs: Vec<&CoreType> = entry.inputs.iter().map(|(_, ty)| ty).collect();
                links.values(program, &inputs, &function.parameters, None);
            }
        }
        // Until nothing new is found, since values flow around loops and through calls.
        let mut grows = true;
        while grows {
            grows = false;
            for function in &program.functions {
                each_command(&function.body, |command| {
                    grows |= links.see(program, command);
                });
            }
        }
        links
    }

    /// Returns what a variable may hold, or the elements that it leads to.
    pub fn held(&self, variable: Variable) -> &Held {
        static NOTHING: Held = Held {
            sums: BTreeSet::new(),
            numbers: false,
            owners: BTreeSet::new(),
        };
        let known = self.held.get(self.find(variable).index());
        known.unwrap_or(&NOTHING)
    }

    fn find(&self, mut variable: Variable) -> Variable {
        while let Some(next) = self.same.get(variable.index())
            && *next != variable
        {
            variable = *next;
        }
        variable
    }

    /// Adds to what a variable holds.
    fn add(&mut self, variable: Variable, held: &Held) -> bool {
        let place = self.find(variable).index();
        self.held.get_mut(place).is_some_and(|own| own.add(held))
    }

    /// Notes that two variables may lead into one array.
    fn unite(&mut self, left: Variable, right: Variable) -> bool {
        let (first, second) = (self.find(left), self.find(right));
        // Later searches are short.
        for variable in [left, right, first] {
            if let Some(same) = self.same.get_mut(variable.index()) {
                *same = second;
            }
        }
        if first == second {
            return false;
        }
        let held = self.held.get_mut(first.index()).map(std::mem::take);
        if let Some(held) = held {
            self.add(second, &held);
        }
        true
    }

    /// Goes through a command once. Returns true if something was new.
    fn see(&mut self, program: &Program, command: &Command) -> bool {
        match command {
            Command::Declare {
                variable,
                value: Some(value),
            }
            | Command::Assign { variable, value } => self.assign(program, *variable, value),
            Command::Declare { value: None, .. } => false,
            Command::Store { pointer, value, .. } | Command::Contend { pointer, value, .. } => {
                let held = self.of_expression(value);
                self.add(*pointer, &held)
            }
            Command::Call {
                function,
                arguments,
                results,
            } => {
                let Some(callee) = program.functions.get(function.index()) else {
                    return false;
                };
                let mut grows = false;
                for (parameter, argument) in callee.parameters.iter().zip(arguments) {
                    grows |= self.assign(program, *parameter, argument);
                }
                for (result, own) in results.iter().zip(&callee.results) {
                    grows |= self.assign(program, *result, &Expression::Variable(*own));
                }
                grows
            }
            Command::Foreign {
                foreign, results, ..
            } => match program.foreigns.get(*foreign as usize) {
                Some(foreign) => self.values(program, &[&foreign.result], results, None),
                None => false,
            },
            Command::NodeNew { sum, link, .. } => self.add(*link, &Held::link(*sum)),
            Command::NodePayload {
                sum,
                constructor,
                results,
                ..
            } => {
                let known = program.sums.get(sum.index());
                let known = known.and_then(|sum| sum.constructors.get(*constructor as usize));
                known.is_some_and(|known| {
                    self.values(program, &[&known.payload], results, Some(*sum))
                })
            }
            Command::Table(command) => self.table(command),
            // The elements that it reads may get to those that it writes.
            others => self.mixes(program, others),
        }
    }

    fn table(&mut self, command: &TableCommand) -> bool {
        match command {
            TableCommand::Reached {
                members, results, ..
            } => {
                let mut grows = false;
                let mut results = results.iter();
                for member in members {
                    for component in reached_components() {
                        let held = match component.name.as_str() {
                            "order" => Held::link(member.data),
                            "lowest" => Held::link(member.data).into_number(),
                            _numbers => Held::number(),
                        };
                        let own = variables_of(&component);
                        grows |= self.component(results.by_ref().take(own), &held);
                    }
                }
                grows
            }
            TableCommand::Reserve { sum, link, .. } | TableCommand::Seal { sum, link, .. } => {
                self.add(*link, &Held::link(*sum))
            }
            TableCommand::Reclaim { limits, .. } => {
                let mut grows = false;
                for limit in limits {
                    grows |= self.add(*limit, &Held::number());
                }
                grows
            }
            TableCommand::Mark { first, limit, .. } => {
                self.add(*first, &Held::number()) | self.add(*limit, &Held::number())
            }
            TableCommand::Store { .. } | TableCommand::Acyclic { .. } => false,
        }
    }

    /// Notes what the variables of one component hold.
    fn component<'v>(&mut self, own: impl Iterator<Item = &'v Variable>, held: &Held) -> bool {
        let own: Vec<Variable> = own.copied().collect();
        let mut grows = false;
        if let [pointer, block] = own[..] {
            grows |= self.unite(pointer, block);
        }
        for variable in own {
            grows |= self.add(variable, held);
        }
        grows
    }

    /// Notes the links in values of these types, given by their components. `owner` is the sum whose nodes
    /// hold the arrays.
    fn values(
        &mut self,
        program: &Program,
        types: &[&CoreType],
        variables: &[Variable],
        owner: Option<SumId>,
    ) -> bool {
        let mut grows = false;
        let mut variables = variables.iter();
        for component in types.iter().flat_map(|ty| components(ty, &program.sums)) {
            let mut held = component.link.map_or_else(Held::number, Held::link);
            if !component.shape.is_empty() {
                held.owners.extend(owner);
            }
            let own = variables_of(&component);
            grows |= self.component(variables.by_ref().take(own), &held);
        }
        grows
    }

    /// Notes that a variable gets a value.
    fn assign(&mut self, program: &Program, variable: Variable, value: &Expression) -> bool {
        match program.variable(variable).ty {
            Type::Scalar(_) => {
                let held = self.of_expression(value);
                self.add(variable, &held)
            }
            Type::Pointer(_) | Type::Block => self.unite_with(program, variable, value),
        }
    }

    /// Notes that a variable may lead into the arrays of an expression.
    fn unite_with(&mut self, program: &Program, variable: Variable, value: &Expression) -> bool {
        let mut grows = false;
        for base in value.pointers() {
            if !matches!(program.variable(base).ty, Type::Scalar(_)) {
                grows |= self.unite(variable, base);
            }
        }
        grows
    }

    /// Returns what the value of an expression may hold.
    fn of_expression(&self, expression: &Expression) -> Held {
        match expression {
            Expression::Variable(variable) => self.held(*variable).clone(),
            Expression::Select {
                then, otherwise, ..
            } => deep(|| {
                let mut held = self.of_expression(then);
                held.add(&self.of_expression(otherwise));
                held
            }),
            Expression::Load { pointer, .. } | Expression::Offset { pointer, .. } => {
                let mut held: Option<Held> = None;
                for base in pointer.pointers() {
                    held.get_or_insert_default().add(self.held(base));
                }
                // An array without a variable is a constant.
                held.unwrap_or_else(Held::number)
            }
            Expression::Scalar {
                operation,
                operand,
                arguments,
            } => {
                let mut held = Held::default();
                if operation.result(*operand) != Scalar::Bool {
                    for argument in arguments {
                        held.add(&deep(|| self.of_expression(argument)));
                    }
                }
                held.into_number()
            }
            Expression::Constant(ScalarValue::I64(0))
            | Expression::NullPointer(_)
            | Expression::NullBlock => Held::default(),
            Expression::Constant(_)
            | Expression::Bytes(_)
            | Expression::Data(..)
            | Expression::NodeTag { .. } => Held::number(),
        }
    }

    /// Notes that all arrays and handles of a command may hold the same, and that its numbers are computed
    /// from these.
    fn mixes(&mut self, program: &Program, command: &Command) -> bool {
        let (mut arrays, mut numbers) = (Vec::new(), Vec::new());
        let mut see = |variable: Variable| match program.variable(variable).ty {
            Type::Scalar(_) => numbers.push(variable),
            Type::Pointer(_) | Type::Block => arrays.push(variable),
        };
        operands(command, &mut |operand| match operand {
            Operand::Declared(variable)
            | Operand::Counter(variable)
            | Operand::Variable(variable, _) => see(*variable),
            Operand::Variables(variables, _) => variables.iter().for_each(|v| see(*v)),
            Operand::Address(expression, ..) => {
                expression.pointers().into_iter().for_each(&mut see);
            }
            Operand::Expression(expression, _) => {
                let bases = expression.pointers().into_iter();
                let is_array =
                    |base: &Variable| !matches!(program.variable(*base).ty, Type::Scalar(_));
                bases.filter(is_array).for_each(&mut see);
            }
            _others => {}
        });
        let mut grows = false;
        for pair in arrays.windows(2) {
            if let [left, right] = pair {
                grows |= self.unite(*left, *right);
            }
        }
        let mut held = Held::number();
        if let Some(array) = arrays.first() {
            held.add(&self.held(*array).clone());
        }
        held.owners.clear();
        for number in numbers {
            grows |= self.add(number, &held);
        }
        grows
    }
}

/// Returns the number of variables of a component: a scalar, or a pointer and a handle.
fn variables_of(component: &Component) -> usize {
    match component.shape.is_empty() {
        true => 1,
        false => 2,
    }
}
