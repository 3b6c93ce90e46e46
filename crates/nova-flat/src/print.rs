//! Flat and Mem as text: S-expressions with one statement to a line and types where variables are
//! bound. [`crate::parse`] reads them back to the same program, and the text of that is the same.
//!
//! | text | is |
//! | --- | --- |
//! | `x_7` | variable 7, called `x` |
//! | `5`, `5i32`, `1.5f`, `1.5L`, `nan.f32`, `true` | constants: an `i64`, an `i32`, floats, a bool |
//! | `n_1:i64 x_2:[n_1]f32` | variables with their types |
//! | `x_2:[n_1]f32 @ m_3` | an array in block `m_3`, row-major from its start |
//! | `… @ m_3 (lmad 0 [n_1 2])` | the same with every second element: offset, then extents and strides |
//! | `m_3:(block f32)` | a block |
//! | `(let [x_2:f32] EXPRESSION "dot.nova:1:4")` | a statement and its place |
//! | `(do STATEMENT … (in x_2 5))` | a body |
//!
//! The words of expressions are those of the tables in this file and [`crate::parse`].

mod expressions;
mod operands;

pub use operands::{print_atom, print_core_type, print_type, print_variable};

use crate::ir::{
    ArrayOperation, Atom, Body, Entry, Expression, Function, Lambda, Output, Program, Statement,
    Type, Variable,
};
use crate::memory::{Lmad, Memory, Polynomial};
use nova_core::ir::Foreign;
use nova_core::{SumType, Type as CoreType};
use nova_diag::{Place, deep};
use nova_syntax::datum::write_text;
use std::fmt::Write;

/// The text of a program of Flat or Mem.
pub fn print(program: &Program) -> String {
    let mut printer = Printer {
        program,
        out: String::from("(program"),
        indent: 1,
    };
    for sum in &program.sums {
        printer.sum(sum);
    }
    for foreign in &program.foreigns {
        printer.foreign(foreign);
    }
    for entry in &program.entries {
        printer.entry(entry);
    }
    for function in &program.functions {
        printer.function(function);
    }
    printer.out.push_str(")\n");
    printer.out
}

/// The text of a body alone, for messages and tests.
pub fn print_body(program: &Program, body: &Body) -> String {
    let mut printer = Printer {
        program,
        out: String::new(),
        indent: 0,
    };
    printer.body(body);
    printer.out
}

/// The most columns a line is indented by: texts of deep programs stay linear in their size.
const DEEPEST_INDENT: usize = 60;

struct Printer<'a> {
    program: &'a Program,
    out: String,
    indent: usize,
}

impl Printer<'_> {
    fn line(&mut self) {
        self.out.push('\n');
        let columns = (2 * self.indent).min(DEEPEST_INDENT);
        self.out.extend(std::iter::repeat_n(' ', columns));
    }

    fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn sum(&mut self, sum: &SumType) {
        let arguments: Vec<String> = sum.arguments.iter().map(print_core_type).collect();
        let group: Vec<String> = sum.group.iter().map(|id| id.0.to_string()).collect();
        self.line();
        let name = write_text(sum.name.as_bytes());
        self.text(&format!(
            "(sum {name} [{}] [{}]",
            arguments.join(" "),
            group.join(" ")
        ));
        self.indent += 1;
        for constructor in &sum.constructors {
            self.line();
            let name = write_text(constructor.name.as_bytes());
            self.text(&format!(
                "({name} {})",
                print_core_type(&constructor.payload)
            ));
        }
        self.indent -= 1;
        self.text(")");
    }

    fn foreign(&mut self, foreign: &Foreign) {
        let parameters: Vec<String> = foreign.parameters.iter().map(print_core_type).collect();
        let name = write_text(foreign.name.as_bytes());
        let result = print_core_type(&foreign.result);
        self.line();
        self.text(&format!(
            "(foreign {name} [{}] {result})",
            parameters.join(" ")
        ));
    }

    fn entry(&mut self, entry: &Entry) {
        let input = |(name, ty): &(std::sync::Arc<str>, CoreType)| {
            format!("({} {})", write_text(name.as_bytes()), print_core_type(ty))
        };
        let inputs: Vec<String> = entry.inputs.iter().map(input).collect();
        let name = write_text(entry.name.as_bytes());
        let result = print_core_type(&entry.result);
        let function = self.function_name(entry.function.0);
        self.line();
        self.text(&format!(
            "(entry {name} [{}] {result} {function})",
            inputs.join(" ")
        ));
    }

    fn function_name(&self, function: u32) -> String {
        match self.program.functions.get(function as usize) {
            Some(function) => write_text(function.name.as_bytes()),
            None => write_text(b"?"),
        }
    }

    fn function(&mut self, function: &Function) {
        self.line();
        let name = write_text(function.name.as_bytes());
        let recursive = if function.recursive { " recursive" } else { "" };
        self.text(&format!(
            "(function {name}{recursive}{}",
            place(&function.place)
        ));
        self.indent += 1;
        self.line();
        self.variables(&function.parameters);
        self.line();
        self.variables(&function.results);
        self.line();
        self.body(&function.body);
        self.indent -= 1;
        self.text(")");
    }

    /// `[x_1:f32 y_2:[n_0]f32 @ m_3]`.
    fn variables(&mut self, variables: &[Variable]) {
        let texts: Vec<String> = variables.iter().map(|v| self.binding(*v)).collect();
        self.text(&format!("[{}]", texts.join(" ")));
    }

    fn binding(&self, variable: Variable) -> String {
        let name = print_variable(self.program, variable);
        let Some(info) = self.program.variables.get(variable.0 as usize) else {
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
        let term = |(product, coefficient): (&Vec<Variable>, &i64)| {
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
        let terms: Vec<String> = polynomial.terms.iter().map(term).collect();
        match terms.as_slice() {
            [] => "0".to_string(),
            [term] => term.clone(),
            terms => format!("(+ {})", terms.join(" ")),
        }
    }

    fn body(&mut self, body: &Body) {
        self.text("(do");
        self.indent += 1;
        for statement in &body.statements {
            self.line();
            self.statement(statement);
        }
        self.line();
        self.text("(in");
        for result in &body.results {
            self.out.push(' ');
            self.atom(*result);
        }
        self.text("))");
        self.indent -= 1;
    }

    fn statement(&mut self, statement: &Statement) {
        self.text("(let ");
        self.variables(&statement.pattern);
        self.text(" ");
        self.indent += 1;
        self.expression(&statement.expression);
        self.indent -= 1;
        self.text(&place(&statement.place));
        self.text(")");
    }

    fn inner(&mut self, body: &Body) {
        self.line();
        deep(|| self.body(body));
    }

    fn atom(&mut self, atom: Atom) {
        let text = print_atom(self.program, atom);
        self.text(&text);
    }

    /// `[a b c]`.
    fn atoms(&self, atoms: &[Atom]) -> String {
        let texts: Vec<String> = atoms.iter().map(|a| print_atom(self.program, *a)).collect();
        format!("[{}]", texts.join(" "))
    }

    fn arrays(&self, arrays: &[Variable]) -> String {
        let texts: Vec<String> = arrays
            .iter()
            .map(|v| print_variable(self.program, *v))
            .collect();
        format!("[{}]", texts.join(" "))
    }

    fn expression(&mut self, expression: &Expression) {
        self.text("(");
        match expression {
            Expression::Sort { count, compare } => {
                let count = print_atom(self.program, *count);
                self.text(&format!("sort {count} "));
                self.lambda(compare);
            }
            Expression::Operation(operation) => self.operation(operation),
            Expression::If {
                condition,
                then,
                otherwise,
            } => {
                self.text("if ");
                self.atom(*condition);
                self.inner(then);
                self.inner(otherwise);
            }
            Expression::Switch { scrutinee, cases } => {
                self.text("switch ");
                self.atom(*scrutinee);
                cases.iter().for_each(|case| self.inner(case));
            }
            Expression::While {
                parameters,
                condition,
                body,
            } => {
                self.text("while ");
                self.starts(parameters);
                self.inner(condition);
                self.inner(body);
            }
            without_bodies => {
                let text = self.on_arrays(without_bodies);
                self.text(&text);
            }
        }
        self.text(")");
    }

    /// `[x_1:f32 = 0.0f …]`.
    fn starts(&mut self, parameters: &[(Variable, Atom)]) {
        let start = |(variable, start): &(Variable, Atom)| {
            format!(
                "{} = {}",
                self.binding(*variable),
                print_atom(self.program, *start)
            )
        };
        let texts: Vec<String> = parameters.iter().map(start).collect();
        self.text(&format!("[{}]", texts.join(" ")));
    }

    fn lambda(&mut self, lambda: &Lambda) {
        self.text("(lambda ");
        self.variables(&lambda.parameters);
        self.indent += 1;
        self.inner(&lambda.body);
        self.indent -= 1;
        self.text(")");
    }

    fn operation(&mut self, operation: &ArrayOperation) {
        let shape = self.atoms(&operation.shape);
        self.text(&format!("operation {shape} "));
        self.variables(&operation.indices);
        self.text(" ");
        self.starts(&operation.carries);
        self.inner(&operation.body);
        for output in &operation.outputs {
            self.line();
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
            } => {
                let word = if *commutes { "reduce_comm" } else { "reduce" };
                (format!("{word} {}", self.atoms(start)), Some(lambda))
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
            Output::Scatter { destinations } => {
                (format!("scatter {}", self.arrays(destinations)), None)
            }
            Output::Histogram {
                lambda,
                start,
                bins,
            } => {
                let bins = print_atom(self.program, *bins);
                (
                    format!("histogram {bins} {}", self.atoms(start)),
                    Some(lambda),
                )
            }
            Output::Collect { values } => (format!("collect {values}"), None),
        };
        self.text(&format!("({head}"));
        if let Some(lambda) = lambda {
            self.text(" ");
            self.lambda(lambda);
        }
        self.text(")");
    }
}

/// ` "dot.nova:1:2"`; nothing for the place that says nothing.
fn place(place: &Place) -> String {
    if *place == Place::new("", 0, 0) {
        return String::new();
    }
    format!(" {}", write_text(place.to_string().as_bytes()))
}
