//! The compiler from Core to the instructions of [`super::code`].
//!
//! Every variable becomes a slot of the activation that binds it, or a captured value if an inner
//! function uses it. The captured values of a function are found while its body is compiled. The
//! functions of a `letrec` share one list of captured values and reach each other without it, so that
//! no value ever contains itself.

use super::code::{Block, Code, Function, Instruction, Site};
use crate::ir::{Arm, ExpressionId, ExpressionKind, Program, Variable};
use crate::{Builtin, Elements, Type, Value};
use nova_diag::deep;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Compiles an entry. `last` marks the last uses of variables.
pub fn compile(
    program: &Program,
    inputs: &[Variable],
    body: ExpressionId,
    last: Vec<bool>,
) -> Code {
    let mut compiler = Compiler {
        program,
        last,
        code: Code::default(),
        home: vec![u32::MAX; program.variables.len()],
        slot: vec![0; program.variables.len()],
        groups: vec![Group::default()],
        current: Body::default(),
    };
    let entry = compiler.new_function();
    compiler.start(entry, inputs);
    compiler.expression(body, false);
    compiler.emit(Instruction::End);
    compiler.finish();
    compiler.code
}

/// Functions that share their captured values.
#[derive(Default)]
struct Group {
    /// The captured variables in order, and the position of each.
    captures: Vec<Variable>,
    positions: BTreeMap<Variable, u32>,
    /// The functions of the group by their variable.
    siblings: BTreeMap<Variable, u32>,
}

/// The function being compiled.
#[derive(Default)]
struct Body {
    function: u32,
    code: Vec<Instruction>,
    /// The number of slots in use here, and the largest so far.
    depth: usize,
    slots: usize,
}

/// The access to a variable.
enum Access {
    Local(u32),
    Captured(u32),
    Sibling(u32),
}

struct Compiler<'a> {
    program: &'a Program,
    last: Vec<bool>,
    code: Code,
    /// The function that binds each variable.
    home: Vec<u32>,
    slot: Vec<u32>,
    /// The groups that enclose the current expression, the innermost last, with the functions of the
    /// enclosing bodies.
    groups: Vec<Group>,
    current: Body,
}

impl Compiler<'_> {
    fn new_function(&mut self) -> u32 {
        self.code.functions.push(Function::default());
        self.code.functions.len() as u32 - 1
    }

    fn start(&mut self, function: u32, parameters: &[Variable]) {
        self.code.functions[function as usize].arity = parameters.len();
        self.current = Body {
            function,
            ..Body::default()
        };
        self.bind(parameters);
    }

    fn finish(&mut self) {
        let function = &mut self.code.functions[self.current.function as usize];
        function.slots = self.current.slots;
        function.code = std::mem::take(&mut self.current.code);
    }

    /// Gives variables the next slots. `release` frees them at the end of their scope.
    fn bind(&mut self, variables: &[Variable]) -> u32 {
        let first = self.current.depth;
        for variable in variables {
            self.home[variable.index()] = self.current.function;
            self.slot[variable.index()] = self.current.depth as u32;
            self.current.depth += 1;
        }
        self.current.slots = self.current.slots.max(self.current.depth);
        first as u32
    }

    fn release(&mut self, count: usize) {
        self.current.depth -= count;
    }

    fn emit(&mut self, instruction: Instruction) {
        self.current.code.push(instruction);
    }

    fn here(&self) -> u32 {
        self.current.code.len() as u32
    }

    /// Emits a jump whose target [`Compiler::land`] sets.
    fn jump(&mut self, jump: fn(u32) -> Instruction) -> (usize, fn(u32) -> Instruction) {
        self.emit(jump(0));
        (self.current.code.len() - 1, jump)
    }

    fn land(&mut self, (at, jump): (usize, fn(u32) -> Instruction)) {
        self.current.code[at] = jump(self.here());
    }

    fn constant(&mut self, value: Value) {
        self.code.constants.push(value);
        self.emit(Instruction::Constant(self.code.constants.len() as u32 - 1));
    }

    fn access(&mut self, variable: Variable) -> Access {
        if self.home[variable.index()] == self.current.function {
            return Access::Local(self.slot[variable.index()]);
        }
        let Some(group) = self.groups.last_mut() else {
            return Access::Captured(0);
        };
        if let Some(function) = group.siblings.get(&variable) {
            return Access::Sibling(*function);
        }
        let next = group.captures.len() as u32;
        let position = *group.positions.entry(variable).or_insert(next);
        if position == next {
            group.captures.push(variable);
        }
        Access::Captured(position)
    }

    fn load(&mut self, variable: Variable, last: bool) {
        let instruction = match self.access(variable) {
            Access::Local(slot) if last => Instruction::Take(slot),
            Access::Local(slot) => Instruction::Local(slot),
            Access::Captured(position) => Instruction::Captured(position),
            Access::Sibling(function) => Instruction::Sibling(function),
        };
        self.emit(instruction);
    }

    fn all(&mut self, ids: &[ExpressionId]) {
        for id in ids {
            self.expression(*id, false);
        }
    }

    /// Emits code that pushes the value of an expression. In tail position calls end the activation.
    fn expression(&mut self, id: ExpressionId, tail: bool) {
        deep(|| self.kind(id, tail));
    }

    fn kind(&mut self, id: ExpressionId, tail: bool) {
        let program = self.program;
        let expression = program.expression(id);
        let last = self.last[id.index()];
        match &expression.kind {
            ExpressionKind::Literal(scalar) => self.constant(Value::Scalar(*scalar)),
            ExpressionKind::Unit => self.constant(Value::Unit),
            ExpressionKind::Text(bytes) => {
                let elements = Elements::U8(Arc::new(bytes.to_vec()));
                self.constant(Value::Vector(elements));
            }
            ExpressionKind::Variable(variable) => self.load(*variable, last),
            ExpressionKind::Lambda { .. } => self.closure(id),
            ExpressionKind::Apply {
                function,
                arguments,
            } => self.apply(id, *function, arguments, tail),
            ExpressionKind::Let {
                variable,
                value,
                body,
            } => {
                self.expression(*value, false);
                let slot = self.bind(&[*variable]);
                self.emit(Instruction::Store(slot));
                self.expression(*body, tail);
                self.release(1);
            }
            ExpressionKind::Letrec { bindings, body } => {
                self.letrec(bindings);
                self.expression(*body, tail);
                self.release(bindings.len());
            }
            ExpressionKind::If {
                condition,
                then,
                otherwise,
            } => self.conditional(*condition, *then, *otherwise, tail),
            ExpressionKind::Case {
                scrutinee,
                arms,
                default,
            } => {
                self.expression(*scrutinee, false);
                self.case(arms, *default, tail);
            }
            ExpressionKind::Tuple(elements) => {
                self.all(elements);
                self.emit(Instruction::Tuple(elements.len() as u32));
            }
            ExpressionKind::Project(tuple, index) => self.project(*tuple, *index, last),
            ExpressionKind::Construct {
                constructor,
                payload,
            } => {
                self.expression(*payload, false);
                self.emit(Instruction::Construct(*constructor));
            }
            ExpressionKind::Vector(elements) => self.vector(&expression.ty, elements),
            ExpressionKind::Builtin { builtin, arguments } => {
                self.builtin(id, *builtin, arguments);
            }
            ExpressionKind::Foreign { foreign, arguments } => {
                self.all(arguments);
                self.emit(Instruction::Foreign {
                    foreign: *foreign,
                    count: arguments.len() as u32,
                    expression: id,
                });
            }
        }
    }

    fn conditional(
        &mut self,
        condition: ExpressionId,
        then: ExpressionId,
        otherwise: ExpressionId,
        tail: bool,
    ) {
        self.expression(condition, false);
        let to_otherwise = self.jump(Instruction::JumpUnless);
        self.expression(then, tail);
        let to_end = self.jump(Instruction::Jump);
        self.land(to_otherwise);
        self.expression(otherwise, tail);
        self.land(to_end);
    }

    fn apply(
        &mut self,
        id: ExpressionId,
        function: ExpressionId,
        arguments: &[ExpressionId],
        tail: bool,
    ) {
        if let ExpressionKind::Variable(variable) = self.program.expression(function).kind
            && let Access::Sibling(function) = self.access(variable)
            && self.code.functions[function as usize].arity == arguments.len()
        {
            self.constant(Value::Unit);
            self.all(arguments);
            self.emit(Instruction::CallSibling {
                function,
                tail,
                expression: id,
            });
            return;
        }
        self.expression(function, false);
        self.all(arguments);
        let (count, expression) = (arguments.len() as u32, id);
        self.emit(if tail {
            Instruction::TailCall { count, expression }
        } else {
            Instruction::Call { count, expression }
        });
    }

    /// Compiles the body of a lambda as a function of its own.
    fn function(&mut self, number: u32, lambda: ExpressionId) {
        let ExpressionKind::Lambda { parameters, body } = &self.program.expression(lambda).kind
        else {
            return;
        };
        let outside = std::mem::take(&mut self.current);
        self.start(number, parameters);
        self.expression(*body, true);
        self.emit(Instruction::Return);
        self.finish();
        self.current = outside;
    }

    fn closure(&mut self, lambda: ExpressionId) {
        let function = self.new_function();
        self.groups.push(Group::default());
        self.function(function, lambda);
        let captures = self.captures();
        self.emit(Instruction::Closure { function, captures });
    }

    fn letrec(&mut self, bindings: &[(Variable, ExpressionId)]) {
        let first = self.code.functions.len() as u32;
        let mut group = Group::default();
        for (variable, lambda) in bindings {
            let number = self.new_function();
            group.siblings.insert(*variable, number);
            if let ExpressionKind::Lambda { parameters, .. } =
                &self.program.expression(*lambda).kind
            {
                self.code.functions[number as usize].arity = parameters.len();
            }
        }
        self.groups.push(group);
        for (number, (_, lambda)) in (first..).zip(bindings) {
            self.function(number, *lambda);
        }
        let captures = self.captures();
        let variables: Vec<Variable> = bindings.iter().map(|(variable, _)| *variable).collect();
        let slot = self.bind(&variables);
        self.emit(Instruction::Group {
            first,
            count: bindings.len() as u32,
            captures,
            slot,
        });
    }

    /// Closes the innermost group and pushes the values that it captures.
    fn captures(&mut self) -> u32 {
        let captures = self.groups.pop().unwrap_or_default().captures;
        for variable in &captures {
            self.load(*variable, false);
        }
        captures.len() as u32
    }

    fn case(&mut self, arms: &[Option<Arm>], default: Option<ExpressionId>, tail: bool) {
        let table = self.code.tables.len();
        self.code.tables.push(Vec::new());
        self.emit(Instruction::Case(table as u32));
        let mut ends = Vec::new();
        let mut targets = vec![None; arms.len()];
        for (tag, arm) in arms.iter().enumerate() {
            let Some(arm) = arm else { continue };
            targets[tag] = Some(self.here());
            match arm.variable {
                Some(variable) => {
                    let slot = self.bind(&[variable]);
                    self.emit(Instruction::Store(slot));
                    self.expression(arm.body, tail);
                    self.release(1);
                }
                None => {
                    self.emit(Instruction::Drop);
                    self.expression(arm.body, tail);
                }
            }
            ends.push(self.jump(Instruction::Jump));
        }
        let otherwise = self.here();
        if let Some(body) = default {
            self.emit(Instruction::Drop);
            self.expression(body, tail);
        }
        for end in ends {
            self.land(end);
        }
        let targets = targets.into_iter().map(|t| t.unwrap_or(otherwise));
        self.code.tables[table] = targets.collect();
    }

    fn project(&mut self, tuple: ExpressionId, index: u32, take: bool) {
        if let ExpressionKind::Variable(variable) = self.program.expression(tuple).kind
            && let Access::Local(slot) = self.access(variable)
        {
            self.emit(Instruction::Field { slot, index, take });
            return;
        }
        self.expression(tuple, false);
        self.emit(Instruction::Project(index));
    }

    fn vector(&mut self, ty: &Type, elements: &[ExpressionId]) {
        let element = match ty {
            Type::Vector(element) => Type::clone(element),
            other => other.clone(),
        };
        let literals = elements
            .iter()
            .map(|e| match self.program.expression(*e).kind {
                ExpressionKind::Literal(scalar) => Some(Value::Scalar(scalar)),
                _ => None,
            });
        if let Some(values) = literals.collect::<Option<Vec<Value>>>() {
            return self.constant(Value::from_elements(&element, values));
        }
        self.all(elements);
        self.code.types.push(element);
        self.emit(Instruction::Vector {
            count: elements.len() as u32,
            element: self.code.types.len() as u32 - 1,
        });
    }

    fn builtin(&mut self, id: ExpressionId, builtin: Builtin, arguments: &[ExpressionId]) {
        let program = self.program;
        let mut blocks = Vec::new();
        let mut operands = 0;
        let functions = builtin.functions(arguments.len());
        for (position, argument) in arguments.iter().enumerate() {
            match &program.expression(*argument).kind {
                ExpressionKind::Lambda { parameters, body } if functions.contains(&position) => {
                    blocks.push(self.block(parameters, *body));
                }
                _ => {
                    self.expression(*argument, false);
                    operands += 1;
                }
            }
        }
        match builtin {
            Builtin::Scalar(operation) => {
                return self.emit(Instruction::Scalar {
                    operation,
                    expression: id,
                });
            }
            Builtin::Index => return self.emit(Instruction::Index(id)),
            _ => {}
        }
        let result = program.expression(id).ty.clone();
        let tables = match (builtin, arguments) {
            (Builtin::Table { .. }, _) => Some(&result),
            (Builtin::Datum { .. }, [_, tables]) => Some(&program.expression(*tables).ty),
            (_, _) => None,
        };
        let members = tables.and_then(|ty| crate::nodes::members(&program.sums, ty));
        let members = members.unwrap_or_default();
        let combined = match &result {
            Type::Vector(element) => element,
            other => other,
        };
        let combined = match builtin {
            Builtin::Reduce { .. } => &result,
            _ => combined,
        };
        self.code.sites.push(Site {
            builtin,
            expression: id,
            scalars_only: !combined.holds_vectors(&program.sums),
            result,
            operands,
            blocks,
            members,
        });
        self.emit(Instruction::Builtin(self.code.sites.len() as u32 - 1));
    }

    fn block(&mut self, parameters: &[Variable], body: ExpressionId) -> Block {
        let over = self.jump(Instruction::Jump);
        let start = self.here();
        let slot = self.bind(parameters);
        self.expression(body, false);
        self.emit(Instruction::End);
        self.release(parameters.len());
        self.land(over);
        Block {
            start,
            slot,
            parameters: parameters.len() as u32,
        }
    }
}
