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

use crate::ir::{
    ArrayOperation, Atom, Body, Entry, Expression, Function, Lambda, Output, Program, Statement,
    Type, Variable, View,
};
use crate::memory::{Lmad, Memory, Polynomial};
use nova_core::ir::Foreign;
use nova_core::{ScalarValue, SumType, Type as CoreType};
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

/// The text of an atom, as in [`print()`].
pub fn print_atom(program: &Program, atom: Atom) -> String {
    match atom {
        Atom::Variable(variable) => print_variable(program, variable),
        Atom::Constant(value) => print_constant(value),
    }
}

/// The text of a variable: its name with what could not be read back replaced, and its number.
pub fn print_variable(program: &Program, variable: Variable) -> String {
    let name = match program.variables.get(variable.0 as usize) {
        Some(info) => &*info.name,
        None => "",
    };
    let safe = |c: char| !c.is_whitespace() && !c.is_control() && !"()[],:;\"'.|#@".contains(c);
    let name: String = name
        .chars()
        .map(|c| if safe(c) { c } else { '-' })
        .collect();
    let digit_first = name
        .trim_start_matches('-')
        .starts_with(|c: char| c.is_ascii_digit());
    let prefix = if digit_first { "v" } else { "" };
    format!("{prefix}{name}_{}", variable.0)
}

/// The text of a type.
pub fn print_type(program: &Program, ty: &Type) -> String {
    match ty {
        Type::Scalar(scalar) => scalar.info().short.to_string(),
        Type::Array(scalar, shape) => {
            let mut out = String::new();
            for extent in shape {
                let _ = write!(out, "[{}]", print_atom(program, *extent));
            }
            out + scalar.info().short
        }
        Type::Block(scalar) => format!("(block {})", scalar.info().short),
    }
}

fn print_constant(value: ScalarValue) -> String {
    fn float(value: f64, text: String, suffix: &str, short: &str) -> String {
        if value.is_nan() {
            format!("nan.{short}")
        } else if value.is_infinite() {
            format!("{}inf.{short}", if value < 0.0 { "-" } else { "" })
        } else {
            text + suffix
        }
    }
    match value {
        ScalarValue::I64(v) => v.to_string(),
        ScalarValue::I8(v) => format!("{v}i8"),
        ScalarValue::I16(v) => format!("{v}i16"),
        ScalarValue::I32(v) => format!("{v}i32"),
        ScalarValue::U8(v) => format!("{v}u8"),
        ScalarValue::U16(v) => format!("{v}u16"),
        ScalarValue::U32(v) => format!("{v}u32"),
        ScalarValue::U64(v) => format!("{v}u64"),
        ScalarValue::F32(v) => float(f64::from(v), format!("{v:?}"), "f", "f32"),
        ScalarValue::F64(v) => float(v, format!("{v:?}"), "L", "f64"),
        ScalarValue::Bool(v) => v.to_string(),
    }
}

/// The text of a type of Core.
pub fn print_core_type(ty: &CoreType) -> String {
    deep(|| match ty {
        CoreType::Scalar(scalar) => scalar.info().short.to_string(),
        CoreType::Unit => "unit".to_string(),
        CoreType::Tuple(elements) => {
            let elements: Vec<String> = elements.iter().map(print_core_type).collect();
            format!("(tuple {})", elements.join(" "))
        }
        CoreType::Vector(element) => format!("(vector {})", print_core_type(element)),
        CoreType::Array(rank, element) => format!("(array {rank} {})", print_core_type(element)),
        CoreType::Function(parameter, result) => {
            format!(
                "(-> {} {})",
                print_core_type(parameter),
                print_core_type(result)
            )
        }
        CoreType::Sum(id) => format!("(sum {})", id.0),
    })
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
        if !self.with_bodies(expression) {
            let text = self.simple(expression);
            self.text(&text);
        }
        self.text(")");
    }

    /// Expressions that hold bodies; says whether it was one.
    fn with_bodies(&mut self, expression: &Expression) -> bool {
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
            Expression::Atom(_)
            | Expression::Scalar { .. }
            | Expression::Check { .. }
            | Expression::Fail { .. }
            | Expression::Index { .. }
            | Expression::View { .. }
            | Expression::Literal { .. }
            | Expression::Bytes(_)
            | Expression::Iota { .. }
            | Expression::Replicate { .. }
            | Expression::Copy(_)
            | Expression::Concat { .. }
            | Expression::Update { .. }
            | Expression::Call { .. }
            | Expression::Foreign { .. }
            | Expression::NodeNew { .. }
            | Expression::NodeTag { .. }
            | Expression::NodePayload { .. }
            | Expression::Trace { .. }
            | Expression::Allocate { .. } => return false,
        }
        true
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

    /// Expressions without bodies.
    fn simple(&self, expression: &Expression) -> String {
        let atom = |a: &Atom| print_atom(self.program, *a);
        let name = |v: &Variable| print_variable(self.program, *v);
        match expression {
            Expression::Atom(a) => format!("atom {}", atom(a)),
            Expression::Scalar {
                operation,
                operand,
                arguments,
            } => {
                let mut out = format!("{} {}", operation.short(), operand.info().short);
                arguments.iter().for_each(|a| out.extend([" ", &atom(a)]));
                out
            }
            Expression::Check {
                condition,
                error,
                arguments,
            } => {
                let word = error.info().word;
                format!("check {} {word} {}", atom(condition), self.atoms(arguments))
            }
            Expression::Fail { error, arguments } => {
                format!("fail {} {}", error.info().word, self.atoms(arguments))
            }
            Expression::Index { array, indices } => {
                format!("index {} {}", name(array), self.atoms(indices))
            }
            Expression::View { array, view } => self.view(*array, view),
            Expression::Literal { element, elements } => {
                format!("literal {} {}", element.info().short, self.atoms(elements))
            }
            Expression::Bytes(bytes) => format!("bytes {}", write_text(bytes)),
            Expression::Iota { count, start, step } => {
                format!("iota {} {} {}", atom(count), atom(start), atom(step))
            }
            Expression::Replicate { shape, value } => {
                format!("replicate {} {}", self.atoms(shape), atom(value))
            }
            Expression::Copy(array) => format!("copy {}", name(array)),
            Expression::Concat { arrays, count } => {
                format!("concat {} {}", atom(count), self.arrays(arrays))
            }
            Expression::Update {
                array,
                indices,
                value,
            } => {
                format!(
                    "update {} {} {}",
                    name(array),
                    self.atoms(indices),
                    atom(value)
                )
            }
            Expression::Call {
                function,
                arguments,
                tail,
            } => {
                let word = if *tail { "tail" } else { "call" };
                let function = self.function_name(function.0);
                format!("{word} {function} {}", self.atoms(arguments))
            }
            Expression::Foreign { foreign, arguments } => {
                format!("foreign {foreign} {}", self.atoms(arguments))
            }
            Expression::NodeNew {
                sum,
                constructor,
                payload,
            } => {
                format!("new {} {constructor} {}", sum.0, self.atoms(payload))
            }
            Expression::NodeTag { sum, link } => format!("tag {} {}", sum.0, atom(link)),
            Expression::NodePayload {
                sum,
                constructor,
                link,
            } => {
                format!("payload {} {constructor} {}", sum.0, atom(link))
            }
            Expression::Trace {
                text,
                ty,
                components,
            } => {
                let (text, ty) = (write_text(text), print_core_type(ty));
                format!("trace {text} {ty} {}", self.atoms(components))
            }
            Expression::Allocate { element, count } => {
                format!("allocate {} {}", element.info().short, atom(count))
            }
            // Written by `with_bodies`.
            Expression::Sort { .. }
            | Expression::Operation(_)
            | Expression::If { .. }
            | Expression::Switch { .. }
            | Expression::While { .. } => String::new(),
        }
    }

    fn view(&self, array: Variable, view: &View) -> String {
        let array = print_variable(self.program, array);
        match view {
            View::Slice(dimensions) => {
                let mut out = format!("slice {array}");
                for d in dimensions {
                    let _ = write!(out, " {}", self.atoms(&[d.start, d.step, d.count]));
                }
                out
            }
            View::Transpose(permutation) => {
                let numbers: Vec<String> = permutation.iter().map(u32::to_string).collect();
                format!("transpose {array} [{}]", numbers.join(" "))
            }
            View::Reshape(shape) => format!("reshape {array} {}", self.atoms(shape)),
            View::Row(indices) => format!("row {array} {}", self.atoms(indices)),
        }
    }
}

/// ` "dot.nova:1:2"`; nothing for the place that says nothing.
fn place(place: &Place) -> String {
    if *place == Place::new("", 0, 0) {
        return String::new();
    }
    format!(" {}", write_text(place.to_string().as_bytes()))
}
