//! The text of Loop: S-expressions with one command per line. [`crate::parse`] reads the text back to the
//! same program, whose text is the same again.
//!
//! | text | meaning |
//! | --- | --- |
//! | `x_7` | variable 7, called `x` |
//! | `5`, `5i32`, `1.5f`, `1.5L`, `nan.f32`, `true` | constants: an `i64`, an `i32`, floats, a bool |
//! | `x_7:f32`, `p_8:(pointer f32)`, `b_9:block` | variables with their types, where they are declared |
//! | `(mul f32 x_1 x_2)` | a scalar operation on operands of that type |
//! | `(select c a b)`, `(load p i)`, `(offset p i)`, `(tag 0 link)` | other expressions |
//! | `(null f32)`, `null`, `(bytes "text")` | a null pointer, the null handle, constant bytes |
//! | `(for i_3 n_1 sequential "dot.nova:1:4" COMMAND …)` | a loop with its level and place |
//! | `(if c (do COMMAND …) (do COMMAND …))` | a conditional |
//! | `(witness i_3 (t_9 apart (scan i_2)))` | why the iterations of the loop over `i_3` do not interfere |

mod commands;

use crate::ir::{
    Command, Entry, Expression, Function, FunctionId, Program, Reason, Type, Variable, Witness,
};
use nova_core::forms::write::{
    Lines, bracketed, function_head, numbered, print_constant, print_place,
};
use nova_diag::{Place, deep};
use nova_syntax::datum::write_text;

/// Returns the text of a program.
pub fn print(program: &Program) -> String {
    let mut start = "(program".to_string();
    if program.strict {
        start.push_str(" strict");
    }
    if program.nodes_by_threads {
        start.push_str(" nodes_by_threads");
    }
    let mut printer = Printer {
        program,
        out: Lines::new(&start, 1),
    };
    program.sums.iter().for_each(|sum| printer.out.sum(sum));
    program.foreigns.iter().for_each(|f| printer.out.foreign(f));
    program.entries.iter().for_each(|e| printer.entry(e));
    program.functions.iter().for_each(|f| printer.function(f));
    for (original, instance) in &program.thread_instances {
        printer.thread_instance(*original, *instance);
    }
    for (index, witness) in &program.witnesses {
        printer.witness(*index, witness);
    }
    printer.out.text(")\n");
    printer.out.finish()
}

/// Returns the text of a variable: its name and its number. Characters that could not be read back are
/// replaced.
pub fn print_variable(program: &Program, variable: Variable) -> String {
    let info = program.variables.get(variable.index());
    let name = info.map_or("", |info| &info.name);
    numbered(name, variable.0, |c| c.is_alphanumeric() || c == '_')
}

/// Returns the text of an expression, for messages and tests.
pub fn print_expression(program: &Program, expression: &Expression) -> String {
    let mut printer = Printer {
        program,
        out: Lines::new("", 0),
    };
    printer.expression(expression);
    printer.out.finish()
}

/// Returns the text of a type.
pub fn print_type(ty: Type) -> String {
    match ty {
        Type::Scalar(scalar) => scalar.info().short.to_string(),
        Type::Pointer(scalar) => format!("(pointer {})", scalar.info().short),
        Type::Block => "block".to_string(),
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

    fn thread_instance(&mut self, original: FunctionId, instance: FunctionId) {
        self.out.line();
        let name = |id: FunctionId| write_text(self.function_name(id.0).as_bytes());
        let text = format!("(thread_instance {} {})", name(original), name(instance));
        self.out.text(&text);
    }

    fn function(&mut self, function: &Function) {
        self.out.line();
        let (recursive, takes) = (function.recursive, function.takes);
        let head = function_head(&function.name, recursive, takes, &function.place);
        self.out.text(&head);
        self.out.indent += 1;
        for list in [&function.parameters, &function.results] {
            self.out.line();
            let bindings = bracketed(list, |v| self.binding(*v));
            self.out.text(&bindings);
        }
        self.lines(&function.body);
        self.out.indent -= 1;
        self.out.text(")");
    }

    fn binding(&self, variable: Variable) -> String {
        let name = print_variable(self.program, variable);
        match self.program.variables.get(variable.index()) {
            Some(info) => match (info.ty, info.space) {
                (ty @ Type::Pointer(_), Some(space)) => {
                    let text = print_type(ty);
                    let text = text.trim_end_matches(')');
                    format!("{name}:{text} {})", space.word())
                }
                (ty, _) => format!("{name}:{}", print_type(ty)),
            },
            None => name,
        }
    }

    fn witness(&mut self, index: Variable, witness: &Witness) {
        self.out.line();
        self.out.text("(witness");
        self.variable(index);
        for (pointer, reasons) in &witness.blocks {
            let pointer = print_variable(self.program, *pointer);
            self.out.text(&format!(" ({pointer}"));
            for reason in reasons {
                match reason {
                    Reason::Scan(index) => {
                        self.out.text(" (scan");
                        self.variable(*index);
                        self.out.text(")");
                    }
                    Reason::Segment(low, length) => {
                        self.out.text(" (segment");
                        self.variable(*low);
                        self.variable(*length);
                        self.out.text(")");
                    }
                    Reason::Apart
                    | Reason::Contended
                    | Reason::Ordered
                    | Reason::Propagated
                    | Reason::Phases
                    | Reason::Bisected
                    | Reason::Checked => {
                        self.out.text(&format!(" {}", reason.word()));
                    }
                }
            }
            self.out.text(")");
        }
        self.out.text(")");
    }

    fn place(&mut self, place: &Place) {
        self.out.text(&print_place(place));
    }

    /// Prints each command on a line of its own.
    fn lines(&mut self, commands: &[Command]) {
        for command in commands {
            self.out.line();
            deep(|| self.command(command));
        }
    }

    fn list(&mut self, commands: &[Command]) {
        self.out.line();
        self.out.text("(do");
        self.out.indent += 1;
        self.lines(commands);
        self.out.indent -= 1;
        self.out.text(")");
    }

    fn variable(&mut self, variable: Variable) {
        let text = print_variable(self.program, variable);
        self.out.text(" ");
        self.out.text(&text);
    }

    fn variables(&mut self, variables: &[Variable]) {
        let texts = bracketed(variables, |v| print_variable(self.program, *v));
        self.out.text(&format!(" {texts}"));
    }

    fn argument(&mut self, expression: &Expression) {
        self.out.text(" ");
        self.expression(expression);
    }

    fn arguments(&mut self, expressions: &[Expression]) {
        self.out.text(" [");
        for (k, expression) in expressions.iter().enumerate() {
            if k > 0 {
                self.out.text(" ");
            }
            self.expression(expression);
        }
        self.out.text("]");
    }

    fn expression(&mut self, expression: &Expression) {
        deep(|| match expression {
            Expression::Constant(value) => self.out.text(&print_constant(*value)),
            Expression::Bytes(bytes) => self.out.text(&format!("(bytes {})", write_text(bytes))),
            Expression::Data(element, values) => {
                let values = bracketed(values, |value| print_constant(*value));
                let element = element.info().short;
                self.out.text(&format!("(data {element} {values})"));
            }
            Expression::Variable(variable) => {
                let text = print_variable(self.program, *variable);
                self.out.text(&text);
            }
            Expression::Scalar {
                operation,
                operand,
                arguments,
            } => {
                let operand = operand.info().short;
                self.form(&format!("{} {operand}", operation.short()), arguments);
            }
            Expression::NullPointer(scalar) => {
                self.out.text(&format!("(null {})", scalar.info().short));
            }
            Expression::NullBlock => self.out.text("null"),
            Expression::NodeTag { sum, link } => {
                self.form(&format!("tag {}", sum.0), std::slice::from_ref(link));
            }
            Expression::Select { .. } | Expression::Load { .. } | Expression::Offset { .. } => {
                let word = match expression {
                    Expression::Select { .. } => "select",
                    Expression::Load { .. } => "load",
                    _ => "offset",
                };
                self.out.text("(");
                self.out.text(word);
                expression
                    .children()
                    .into_iter()
                    .for_each(|e| self.argument(e));
                self.out.text(")");
            }
        });
    }

    fn form(&mut self, head: &str, arguments: &[impl std::borrow::Borrow<Expression>]) {
        self.out.text("(");
        self.out.text(head);
        arguments.iter().for_each(|e| self.argument(e.borrow()));
        self.out.text(")");
    }
}
