//! The machine that executes instructions.

use super::code::{Code, Instruction};
use super::operands::{as_bool, as_integer, as_scalar, stop};
use super::{Options, vectors};
use crate::error::{Failure, internal};
use crate::ir::{ExpressionId, Program};
use crate::value::{Closure, Link, grow};
use crate::{Elements, ErrorKind, ScalarOperation, ScalarValue, Value, operations};
use nova_diag::deep;
use std::sync::Arc;

/// The largest nesting of calls in loop bodies in calls …, which use the host's stack.
const NESTING_LIMIT: usize = 200_000;

/// An activation of a function.
pub struct Frame {
    /// The function and the next instruction in it.
    function: u32,
    next: u32,
    /// The position of its slots on the stack. Below them lies a value that its result replaces.
    base: usize,
    captures: Arc<[Value]>,
    /// The arguments for its result, which is a function.
    pending: Vec<Value>,
}

pub struct Machine<'a> {
    pub program: &'a Program,
    pub code: &'a Code,
    pub options: &'a Options<'a>,
    pub stack: Vec<Value>,
    frames: Vec<Frame>,
    nesting: usize,
}

impl<'a> Machine<'a> {
    pub fn new(program: &'a Program, code: &'a Code, options: &'a Options<'a>) -> Self {
        Machine {
            program,
            code,
            options,
            stack: Vec::new(),
            frames: Vec::new(),
            nesting: 0,
        }
    }

    /// Runs the entry.
    pub fn run(&mut self, inputs: &[Value]) -> Result<Value, Failure> {
        let mut frame = Frame {
            function: 0,
            next: 0,
            base: 0,
            captures: Arc::default(),
            pending: Vec::new(),
        };
        self.stack.extend_from_slice(inputs);
        if inputs.len() != self.code.functions[0].arity {
            return Err(internal("an entry has another number of inputs"));
        }
        self.slots(0)?;
        self.execute(&mut frame)?;
        self.pop()
    }

    /// Adds the slots of function `number` that are not parameters.
    fn slots(&mut self, number: u32) -> Result<(), Failure> {
        let function = &self.code.functions[number as usize];
        let more = function.slots - function.arity;
        if self.stack.capacity() - self.stack.len() < more {
            grow(&mut self.stack, more)?;
        }
        let length = self.stack.len() + more;
        self.stack.resize(length, Value::Unit);
        Ok(())
    }

    pub fn pop(&mut self) -> Result<Value, Failure> {
        let top = self.stack.pop();
        top.ok_or_else(|| internal("the stack is empty"))
    }

    /// Pops n values. The first is the lowest.
    pub fn pop_many(&mut self, n: usize) -> Vec<Value> {
        self.stack.split_off(self.stack.len().saturating_sub(n))
    }

    fn slot(&mut self, frame: &Frame, slot: u32) -> &mut Value {
        &mut self.stack[frame.base + slot as usize]
    }

    /// Runs a block of `frame`'s function with these arguments.
    pub fn block<const N: usize>(
        &mut self,
        frame: &mut Frame,
        block: super::code::Block,
        arguments: [Value; N],
    ) -> Result<Value, Failure> {
        for (k, argument) in (0..).zip(arguments) {
            *self.slot(frame, block.slot + k) = argument;
        }
        self.run_block(frame, block)
    }

    /// Runs a block whose parameters are set.
    pub fn run_block(
        &mut self,
        frame: &mut Frame,
        block: super::code::Block,
    ) -> Result<Value, Failure> {
        let next = std::mem::replace(&mut frame.next, block.start);
        self.execute(frame)?;
        frame.next = next;
        for k in 0..block.parameters {
            *self.slot(frame, block.slot + k) = Value::Unit;
        }
        self.pop()
    }

    /// Sets parameter `k` of a block.
    pub fn set_parameter(
        &mut self,
        frame: &Frame,
        block: super::code::Block,
        k: usize,
        value: Value,
    ) {
        *self.slot(frame, block.slot + k as u32) = value;
    }

    /// Executes from `frame.next` to the `End` of that activation.
    fn execute(&mut self, frame: &mut Frame) -> Result<(), Failure> {
        let code = self.code;
        let mut instructions = &code.functions[frame.function as usize].code[..];
        loop {
            let instruction = instructions[frame.next as usize];
            frame.next += 1;
            match instruction {
                Instruction::Jump(target) => frame.next = target,
                Instruction::JumpUnless(target) => {
                    if !as_bool(&self.pop()?)? {
                        frame.next = target;
                    }
                }
                Instruction::Case(table) => {
                    let targets = &code.tables[table as usize];
                    let Value::Sum(tag, payload) = self.pop()? else {
                        return Err(internal("a case of a value that is no sum"));
                    };
                    self.stack.push(payload.into_value());
                    frame.next = targets[tag as usize];
                }
                Instruction::Scalar {
                    operation,
                    expression,
                } => self
                    .scalar(operation)
                    .map_err(|error| self.place(error, expression))?,
                Instruction::Index(expression) => self
                    .index()
                    .map_err(|error| self.place(error, expression))?,
                Instruction::Builtin(site) => {
                    let site = &code.sites[site as usize];
                    self.nesting += 1;
                    let result = if site.blocks.is_empty() {
                        let operands = self.pop_many(site.operands);
                        vectors::apply(site, operands, &self.program.sums, self.options)
                    } else {
                        deep(|| self.loop_builtin(frame, site))
                    };
                    self.nesting -= 1;
                    let value = result.map_err(|error| self.place(error, site.expression))?;
                    self.stack.push(value);
                }
                Instruction::Call { count, expression } => {
                    self.call(frame, count as usize, false)
                        .map_err(|error| self.place(error, expression))?;
                    instructions = &code.functions[frame.function as usize].code;
                }
                Instruction::TailCall { count, expression } => {
                    self.call(frame, count as usize, true)
                        .map_err(|error| self.place(error, expression))?;
                    instructions = &code.functions[frame.function as usize].code;
                }
                Instruction::CallSibling {
                    function,
                    tail,
                    expression,
                } => {
                    let captures = frame.captures.clone();
                    let arity = code.functions[function as usize].arity;
                    self.enter(frame, function, captures, arity, tail, Vec::new())
                        .map_err(|error| self.place(error, expression))?;
                    instructions = &code.functions[frame.function as usize].code;
                }
                Instruction::Return => {
                    self.leave(frame)?;
                    instructions = &code.functions[frame.function as usize].code;
                }
                Instruction::End => return Ok(()),
                Instruction::Foreign {
                    foreign,
                    count,
                    expression,
                } => self
                    .foreign(foreign, count)
                    .map_err(|error| self.place(error, expression))?,
                simple => self.simple(frame, simple)?,
            }
        }
    }

    /// Executes instructions that only move values.
    #[inline]
    fn simple(&mut self, frame: &Frame, instruction: Instruction) -> Result<(), Failure> {
        let code = self.code;
        let value = match instruction {
            Instruction::Constant(k) => code.constants[k as usize].clone(),
            Instruction::Local(slot) => self.slot(frame, slot).clone(),
            Instruction::Take(slot) => std::mem::replace(self.slot(frame, slot), Value::Unit),
            Instruction::Field { slot, index, take } => {
                field(self.slot(frame, slot), index as usize, take)?
            }
            Instruction::Captured(k) => frame.captures[k as usize].clone(),
            Instruction::Sibling(function) => closure(function, frame.captures.clone()),
            Instruction::Store(slot) => {
                let value = self.pop()?;
                *self.slot(frame, slot) = value;
                return Ok(());
            }
            Instruction::Drop => {
                self.pop()?;
                return Ok(());
            }
            Instruction::Closure { function, captures } => {
                let captures = self.pop_shared(captures);
                closure(function, captures)
            }
            Instruction::Group {
                first,
                count,
                captures,
                slot,
            } => {
                let captures = self.pop_shared(captures);
                for k in 0..count {
                    *self.slot(frame, slot + k) = closure(first + k, captures.clone());
                }
                return Ok(());
            }
            Instruction::Tuple(n) => Value::Tuple(self.pop_shared(n)),
            Instruction::Project(index) => field(&mut self.pop()?, index as usize, true)?,
            Instruction::Construct(tag) => Value::Sum(tag, Link::new(self.pop()?)),
            Instruction::Vector { count, element } => {
                let element = &code.types[element as usize];
                let start = self.stack.len() - count as usize;
                let mut elements = Elements::with_capacity(element, count as usize)?;
                for value in self.stack.drain(start..) {
                    elements.push(value)?;
                }
                Value::Vector(elements)
            }
            _ => return Err(internal("an instruction that `execute` does")),
        };
        self.stack.push(value);
        Ok(())
    }

    fn pop_shared(&mut self, n: u32) -> Arc<[Value]> {
        let start = self.stack.len().saturating_sub(n as usize);
        self.stack.drain(start..).collect()
    }

    /// Applies the function below the topmost `count` values to them.
    fn call(&mut self, frame: &mut Frame, count: usize, tail: bool) -> Result<(), Failure> {
        let at = self.stack.len() - count - 1;
        let Value::Function(callee) = std::mem::replace(&mut self.stack[at], Value::Unit) else {
            return Err(internal("a call of a value that is no function"));
        };
        let arity = self.code.functions[callee.function as usize].arity;
        let total = callee.applied.len() + count;
        if total < arity {
            let mut closure = Closure::clone(&callee);
            closure.applied.extend(self.stack.drain(at + 1..));
            self.stack.truncate(at);
            self.stack.push(Value::Function(Arc::new(closure)));
            // In tail position a `Return` follows.
            return Ok(());
        }
        let extra = self.stack.split_off(self.stack.len() - (total - arity));
        if !callee.applied.is_empty() {
            let applied = callee.applied.iter().cloned();
            self.stack.splice(at + 1..at + 1, applied);
        }
        let captures = callee.captures.clone();
        self.enter(frame, callee.function, captures, arity, tail, extra)
    }

    /// Starts an activation with the topmost `arity` values, which lie above an unused value.
    fn enter(
        &mut self,
        frame: &mut Frame,
        function: u32,
        captures: Arc<[Value]>,
        arity: usize,
        tail: bool,
        mut pending: Vec<Value>,
    ) -> Result<(), Failure> {
        let base = self.stack.len() - arity;
        if tail {
            self.stack.drain(frame.base..base);
            frame.function = function;
            frame.next = 0;
            frame.captures = captures;
            if !frame.pending.is_empty() {
                pending.append(&mut frame.pending);
            }
            frame.pending = pending;
        } else {
            let depth = self.frames.len() + self.nesting;
            if depth >= self.options.depth_limit || self.nesting >= NESTING_LIMIT {
                return Err(stop(ErrorKind::Recursion, &[]));
            }
            grow(&mut self.frames, 1)?;
            let callee = Frame {
                function,
                next: 0,
                base,
                captures,
                pending,
            };
            self.frames.push(std::mem::replace(frame, callee));
        }
        self.slots(function)
    }

    /// Ends an activation. Its result replaces its slots.
    fn leave(&mut self, frame: &mut Frame) -> Result<(), Failure> {
        let result = self.pop()?;
        self.stack.truncate(frame.base);
        if let Some(below) = self.stack.last_mut() {
            *below = result;
        }
        let pending = std::mem::take(&mut frame.pending);
        if let Some(caller) = self.frames.pop() {
            *frame = caller;
        }
        if pending.is_empty() {
            return Ok(());
        }
        let count = pending.len();
        self.stack.extend(pending);
        self.call(frame, count, false)
    }

    fn scalar(&mut self, operation: ScalarOperation) -> Result<(), Failure> {
        let count = operation.arity();
        let mut operands = [ScalarValue::Bool(false); 2];
        for operand in operands[..count].iter_mut().rev() {
            *operand = as_scalar(&self.pop()?)?;
        }
        let operands = &operands[..count];
        match operations::evaluate(operation, operands, self.options.strict) {
            Ok(value) => self.stack.push(Value::Scalar(value)),
            Err(ErrorKind::Shift) => {
                let width = i128::from(operands[0].scalar().bits());
                let shift = operands.get(1).and_then(|s| s.as_integer()).unwrap_or(0);
                return Err(stop(ErrorKind::Shift, &[shift, width - 1]));
            }
            Err(kind) => return Err(stop(kind, &[])),
        }
        Ok(())
    }

    fn index(&mut self) -> Result<(), Failure> {
        let index = as_integer(&self.pop()?)?;
        let Value::Vector(elements) = self.pop()? else {
            return Err(internal("an element of a value that is no vector"));
        };
        let element = usize::try_from(index).ok().and_then(|k| elements.get(k));
        match element {
            Some(value) => self.stack.push(value),
            None => return Err(stop(ErrorKind::Index, &[index, elements.len() as i128])),
        }
        Ok(())
    }

    fn foreign(&mut self, foreign: u32, count: u32) -> Result<(), Failure> {
        let arguments = self.pop_many(count as usize);
        let function = &self.program.foreigns[foreign as usize];
        let result = match self.options.foreign {
            Some(handler) => handler(function, &arguments),
            None => Err(ErrorKind::Memory),
        };
        self.stack.push(result.map_err(|kind| stop(kind, &[]))?);
        Ok(())
    }

    /// Adds the place of an expression to an error without a place.
    fn place(&self, mut failure: Failure, expression: ExpressionId) -> Failure {
        let place = match &mut failure {
            Failure::Runtime(error) => &mut error.place,
            Failure::Internal(error) => &mut error.place,
        };
        place.get_or_insert_with(|| self.program.expression(expression).place.clone());
        failure
    }
}

fn closure(function: u32, captures: Arc<[Value]>) -> Value {
    Value::Function(Arc::new(Closure {
        function,
        captures,
        applied: Vec::new(),
    }))
}

/// Returns a component of a tuple. It is moved if nothing reads it again and nothing shares the tuple.
fn field(tuple: &mut Value, index: usize, take: bool) -> Result<Value, Failure> {
    let Value::Tuple(elements) = tuple else {
        return Err(internal("a component of a value that is no tuple"));
    };
    if take
        && let Some(elements) = Arc::get_mut(elements)
        && let Some(element) = elements.get_mut(index)
    {
        return Ok(std::mem::replace(element, Value::Unit));
    }
    let element = elements.get(index).cloned();
    element.ok_or_else(|| internal("a tuple has too few components"))
}
