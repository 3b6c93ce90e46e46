//! The text of Flat and Mem: S-expressions with one statement to a line and types where variables are
//! bound. [`crate::parse`] reads the text back to the same program, and prints that to the same text.
//!
//! | text | meaning |
//! | --- | --- |
//! | `x_7` | variable 7, called `x` |
//! | `5`, `5i32`, `1.5f`, `1.5L`, `nan.f32`, `true` | constants: an `i64`, an `i32`, floats, a bool |
//! | `n_1:i64 x_2:[n_1]f32` | variables with their types |
//! | `x_2:[n_1]f32 @ m_3` | an array in block `m_3`, row-major from its start |
//! | `… @ m_3 (lmad 0 [n_1 2])` | the same with every second element: offset, then extents and strides |
//! | `m_3:(block f32)` | a block |
//! | `(let [x_2:f32] EXPRESSION "dot.nova:1:4")` | a statement and its place |
//! | `(operation (strategy local global) [n_1] …)` | an operation with a strategy: level, then space if any |
//! | `(do STATEMENT … (in x_2 5))` | a body |
//!
//! The words of expressions are those of the tables in this file and [`crate::parse`].

mod expressions;
mod operands;

pub use operands::{print_atom, print_type, print_variable};

use crate::ir::{
    ArrayOperation, Atom, Body, Bracketing, Entry, Expression, Function, Lambda, Level, Output,
    Positions, Program, Statement, Type, Variable,
};
use crate::memory::{Lmad, Memory, Polynomial};
use nova_core::Strategy;
use nova_core::forms::write::{Lines, bracketed, function_head, print_place};
use nova_diag::deep;
use std::fmt::Write;

/// Returns the text of a program of Flat or Mem.
pub fn print(program: &Program) -> String {
    let mut printer = Printer {
        program,
        out: Lines::new("(program", 1),
    };
    program.sums.iter().for_each(|sum| printer.out.sum(sum));
    program.foreigns.iter().for_each(|f| printer.out.foreign(f));
    program.entries.iter().for_each(|e| printer.entry(e));
    program.functions.iter().for_each(|f| printer.function(f));
    printer.out.text(")\n");
    printer.out.finish()
}

/// Returns `(strategy local) `, or `(strategy local global) ` with its space.
fn strategy_text(strategy: Strategy) -> String {
    let level = strategy.level.word();
    match strategy.space {
        Some(space) => format!("(strategy {level} {}) ", space.word()),
        None => format!("(strategy {level}) "),
    }
}

struct Printer<'a> {
    program: &'a Program,
    out: Lines,
}

impl<'a> Printer<'a> {
    fn entry(&mut self, entry: &Entry) {
        let code = self.function_name(entry.function.0);
        let (name, inputs, result) = (&entry.name, &entry.inputs, &entry.result);
        self.out.entry(name, inputs, result, code);
    }

    fn function_name(&self, function: u32) -> &'a str {
        let function = self.program.functions.get(function as usize);
        function.map_or("?", |f| &f.name)
    }

    fn function(&mut self, function: &Function) {
        self.out.line();
        let (recursive, takes) = (function.recursive, function.takes);
        let head = function_head(&function.name, recursive, takes, &function.place);
        self.out.text(&head);
        self.out.indent += 1;
        self.out.line();
        self.variables(&function.parameters);
        self.out.line();
        self.variables(&function.results);
        self.out.line();
        self.body(&function.body);
        self.out.indent -= 1;
        self.out.text(")");
    }

    /// Writes `[x_1:f32 y_2:[n_0]f32 @ m_3]`.
    fn variables(&mut self, variables: &[Variable]) {
        let texts = bracketed(variables, |v| self.binding(*v));
        self.out.text(&texts);
    }

    fn binding(&self, variable: Variable) -> String {
        let name = print_variable(self.program, variable);
        let Some(info) = self.program.variables.get(variable.index()) else {
            return name;
        };
        let ty = print_type(self.program, &info.ty);
        let memory = info.memory.as_ref().map(|m| self.memory(m, &info.ty));
        format!("{name}:{ty}{}", memory.unwrap_or_default())
    }

    fn memory(&self, memory: &Memory, ty: &Type) -> String {
        let block = print_variable(self.program, memory.block);
        if Lmad::of_shape(ty.shape()).as_ref() == Some(&memory.lmad) {
            return format!(" @ {block}");
        }
        let mut out = format!(" @ {block} (lmad {}", self.polynomial(&memory.lmad.offset));
        for (extent, stride) in &memory.lmad.dimensions {
            let (extent, stride) = (self.polynomial(extent), self.polynomial(stride));
            let _ = write!(out, " [{extent} {stride}]");
        }
        out + ")"
    }

    fn polynomial(&self, polynomial: &Polynomial) -> String {
        let term = |(product, coefficient): (&[Variable], i64)| {
            let factors: Vec<String> = product
                .iter()
                .map(|v| print_variable(self.program, *v))
                .collect();
            match (factors.as_slice(), coefficient) {
                ([], coefficient) => coefficient.to_string(),
                ([factor], 1) => factor.clone(),
                (factors, 1) => format!("(* {})", factors.join(" ")),
                (factors, coefficient) => format!("(* {coefficient} {})", factors.join(" ")),
            }
        };
        let terms: Vec<String> = polynomial.products().map(term).collect();
        match terms.as_slice() {
            [] => "0".to_string(),
            [term] => term.clone(),
            terms => format!("(+ {})", terms.join(" ")),
        }
    }

    fn body(&mut self, body: &Body) {
        self.out.text("(do");
        self.out.indent += 1;
        for statement in &body.statements {
            self.out.line();
            self.statement(statement);
        }
        self.out.line();
        self.out.text("(in");
        for result in &body.results {
            self.out.text(" ");
            self.atom(*result);
        }
        self.out.text("))");
        self.out.indent -= 1;
    }

    fn statement(&mut self, statement: &Statement) {
        self.out.text("(let ");
        self.variables(&statement.pattern);
        self.out.text(" ");
        self.out.indent += 1;
        self.expression(&statement.expression);
        self.out.indent -= 1;
        self.out.text(&print_place(&statement.place));
        self.out.text(")");
    }

    fn inner(&mut self, body: &Body) {
        self.out.line();
        deep(|| self.body(body));
    }

    fn atom(&mut self, atom: Atom) {
        let text = print_atom(self.program, atom);
        self.out.text(&text);
    }

    /// Returns `[a b c]`.
    fn atoms(&self, atoms: &[Atom]) -> String {
        bracketed(atoms, |a| print_atom(self.program, *a))
    }

    fn arrays(&self, arrays: &[Variable]) -> String {
        bracketed(arrays, |v| print_variable(self.program, *v))
    }

    fn expression(&mut self, expression: &Expression) {
        self.out.text("(");
        match expression {
            Expression::Sort { count, compare } => {
                let count = print_atom(self.program, *count);
                self.out.text(&format!("sort {count} "));
                self.lambda(compare);
            }
            Expression::Operation(operation) => self.operation(operation),
            Expression::If {
                condition,
                then,
                otherwise,
            } => {
                self.out.text("if ");
                self.atom(*condition);
                self.inner(then);
                self.inner(otherwise);
            }
            Expression::Switch { scrutinee, cases } => {
                self.out.text("switch ");
                self.atom(*scrutinee);
                cases.iter().for_each(|case| self.inner(case));
            }
            Expression::While {
                parameters,
                condition,
                body,
            } => {
                self.out.text("while ");
                self.starts(parameters);
                self.inner(condition);
                self.inner(body);
            }
            without_bodies => {
                let text = self.on_arrays(without_bodies);
                self.out.text(&text);
            }
        }
        self.out.text(")");
    }

    /// Writes `[x_1:f32 = 0.0f …]`.
    fn starts(&mut self, parameters: &[(Variable, Atom)]) {
        let texts = bracketed(parameters, |(variable, start)| {
            let start = print_atom(self.program, *start);
            format!("{} = {start}", self.binding(*variable))
        });
        self.out.text(&texts);
    }

    fn lambda(&mut self, lambda: &Lambda) {
        self.out.text("(lambda ");
        self.variables(&lambda.parameters);
        self.out.indent += 1;
        self.inner(&lambda.body);
        self.out.indent -= 1;
        self.out.text(")");
    }

    fn operation(&mut self, operation: &ArrayOperation) {
        let shape = self.atoms(&operation.shape);
        let word = match operation.level {
            Level::Sequential => "operation",
            Level::Grid => "grid",
        };
        let strategy = operation.strategy.map(strategy_text).unwrap_or_default();
        self.out.text(&format!("{word} {strategy}{shape} "));
        self.variables(&operation.indices);
        self.out.text(" ");
        self.starts(&operation.carries);
        self.inner(&operation.body);
        for output in &operation.outputs {
            self.out.line();
            self.output(output);
        }
    }

    fn output(&mut self, output: &Output) {
        let (head, lambda) = match output {
            Output::Map => ("map".to_string(), None),
            Output::Reduce {
                lambda,
                start,
                commutes,
                bracketing,
            } => {
                let word = if *commutes { "reduce_comm" } else { "reduce" };
                let ending = match bracketing {
                    Bracketing::Whole => "",
                    Bracketing::Chunk => "_chunk",
                    Bracketing::Pairs => "_pairs",
                    Bracketing::Left => "_left",
                };
                let start = self.atoms(start);
                (format!("{word}{ending} {start}"), Some(lambda))
            }
            Output::Scan {
                lambda,
                start,
                exclusive,
            } => {
                let word = if *exclusive { "exscan" } else { "scan" };
                (format!("{word} {}", self.atoms(start)), Some(lambda))
            }
            Output::Filter { values } => (format!("filter {values}"), None),
            Output::Scatter {
                destinations,
                positions,
            } => {
                let destinations = self.arrays(destinations);
                let head = match positions {
                    Positions::Given => format!("scatter {destinations}"),
                    Positions::Block(starts) => {
                        format!("scatter_block {} {destinations}", self.atoms(starts))
                    }
                    Positions::Unordered => format!("scatter_unordered {destinations}"),
                    Positions::Greatest => format!("scatter_greatest {destinations}"),
                };
                (head, None)
            }
            Output::Histogram {
                lambda,
                start,
                bins,
                guarded,
            } => {
                let bins = print_atom(self.program, *bins);
                let name = if *guarded {
                    "histogram_where"
                } else {
                    "histogram"
                };
                (format!("{name} {bins} {}", self.atoms(start)), Some(lambda))
            }
            Output::Collect { values } => (format!("collect {values}"), None),
            Output::Join { shape } => (format!("join {}", self.atoms(shape)), None),
        };
        self.out.text(&format!("({head}"));
        if let Some(lambda) = lambda {
            self.out.text(" ");
            self.lambda(lambda);
        }
        self.out.text(")");
    }
}
