//! Loop as text: S-expressions with one command to a line. [`crate::parse`] reads them back to the
//! same program, and the text of that is the same.
//!
//! | text | is |
//! | --- | --- |
//! | `x_7` | variable 7, called `x` |
//! | `5`, `5i32`, `1.5f`, `1.5L`, `nan.f32`, `true` | constants: an `i64`, an `i32`, floats, a bool |
//! | `x_7:f32`, `p_8:(pointer f32)`, `b_9:block` | variables with their types, where declared |
//! | `(mul f32 x_1 x_2)` | a scalar operation on operands of that type |
//! | `(select c a b)`, `(load p i)`, `(offset p i)`, `(tag 0 link)` | other expressions |
//! | `(null f32)`, `null`, `(bytes "text")` | null pointer, null handle, constant bytes |
//! | `(for i_3 n_1 sequential "dot.nova:1:4" COMMAND …)` | a loop with its level and place |
//! | `(if c (do COMMAND …) (do COMMAND …))` | a conditional |

mod commands;

use crate::ir::{Command, Entry, Expression, Function, Level, Program, Type, Variable};
use nova_core::ir::Foreign;
use nova_core::{Scalar, ScalarValue, SumType};
use nova_diag::{Place, deep};
use nova_flat::print::print_core_type;
use nova_syntax::datum::write_text;

/// Levels and their words.
pub(crate) const LEVELS: [(Level, &str); 6] = [
    (Level::Sequential, "sequential"),
    (Level::Grid, "grid"),
    (Level::Block, "block"),
    (Level::Thread, "thread"),
    (Level::Vector, "vector"),
    (Level::Rank, "rank"),
];

/// The text of a program.
pub fn print(program: &Program) -> String {
    let mut printer = Printer {
        program,
        out: String::from("(program"),
        indent: 1,
    };
    if program.strict {
        printer.out.push_str(" strict");
    }
    program.sums.iter().for_each(|sum| printer.sum(sum));
    program.foreigns.iter().for_each(|f| printer.foreign(f));
    program.entries.iter().for_each(|e| printer.entry(e));
    program.functions.iter().for_each(|f| printer.function(f));
    printer.out.push_str(")\n");
    printer.out
}

/// The text of a variable: its name with what could not be read back replaced, and its number.
pub fn print_variable(program: &Program, variable: Variable) -> String {
    let name = match program.variables.get(variable.0 as usize) {
        Some(info) => &*info.name,
        None => "",
    };
    let kept = |c: char| c.is_alphanumeric() || c == '_';
    let mut text: String = name
        .chars()
        .map(|c| if kept(c) { c } else { '-' })
        .collect();
    if text
        .trim_start_matches('-')
        .starts_with(|c: char| c.is_numeric())
    {
        text.insert(0, 'v');
    }
    text.push('_');
    text.push_str(&variable.0.to_string());
    text
}

/// The text of an expression, for messages and tests.
pub fn print_expression(program: &Program, expression: &Expression) -> String {
    let mut printer = Printer {
        program,
        out: String::new(),
        indent: 0,
    };
    printer.expression(expression);
    printer.out
}

/// The text of a type.
pub fn print_type(ty: Type) -> String {
    match ty {
        Type::Scalar(scalar) => scalar.info().short.to_string(),
        Type::Pointer(scalar) => format!("(pointer {})", scalar.info().short),
        Type::Block => "block".to_string(),
    }
}

/// The most columns a line is indented by: texts of deep programs stay linear in their size.
const DEEPEST_INDENT: usize = 60;

struct Printer<'a> {
    program: &'a Program,
    out: String,
    indent: usize,
}

impl Printer<'_> {
    fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn line(&mut self) {
        self.out.push('\n');
        let columns = (2 * self.indent).min(DEEPEST_INDENT);
        self.out.extend(std::iter::repeat_n(' ', columns));
    }

    fn sum(&mut self, sum: &SumType) {
        let arguments: Vec<String> = sum.arguments.iter().map(print_core_type).collect();
        let group: Vec<String> = sum.group.iter().map(|id| id.0.to_string()).collect();
        self.line();
        let name = write_text(sum.name.as_bytes());
        let (arguments, group) = (arguments.join(" "), group.join(" "));
        self.text(&format!("(sum {name} [{arguments}] [{group}]"));
        self.indent += 1;
        for constructor in &sum.constructors {
            self.line();
            let name = write_text(constructor.name.as_bytes());
            let payload = print_core_type(&constructor.payload);
            self.text(&format!("({name} {payload})"));
        }
        self.indent -= 1;
        self.text(")");
    }

    fn foreign(&mut self, foreign: &Foreign) {
        let parameters: Vec<String> = foreign.parameters.iter().map(print_core_type).collect();
        let name = write_text(foreign.name.as_bytes());
        let (parameters, result) = (parameters.join(" "), print_core_type(&foreign.result));
        self.line();
        self.text(&format!("(foreign {name} [{parameters}] {result})"));
    }

    fn entry(&mut self, entry: &Entry) {
        let inputs: Vec<String> = entry
            .inputs
            .iter()
            .map(|(name, ty)| format!("({} {})", write_text(name.as_bytes()), print_core_type(ty)))
            .collect();
        let (name, result) = (
            write_text(entry.name.as_bytes()),
            print_core_type(&entry.result),
        );
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
        self.text(&format!("(function {name}{recursive}"));
        self.place(&function.place);
        self.indent += 1;
        for list in [&function.parameters, &function.results] {
            self.line();
            let bindings: Vec<String> = list.iter().map(|v| self.binding(*v)).collect();
            self.text(&format!("[{}]", bindings.join(" ")));
        }
        self.lines(&function.body);
        self.indent -= 1;
        self.text(")");
    }

    fn binding(&self, variable: Variable) -> String {
        let name = print_variable(self.program, variable);
        match self.program.variables.get(variable.0 as usize) {
            Some(info) => format!("{name}:{}", print_type(info.ty)),
            None => name,
        }
    }

    fn place(&mut self, place: &Place) {
        if *place != Place::new("", 0, 0) {
            self.text(" ");
            self.text(&write_text(place.to_string().as_bytes()));
        }
    }

    /// Each command on a line of its own.
    fn lines(&mut self, commands: &[Command]) {
        for command in commands {
            self.line();
            deep(|| self.command(command));
        }
    }

    fn list(&mut self, commands: &[Command]) {
        self.line();
        self.text("(do");
        self.indent += 1;
        self.lines(commands);
        self.indent -= 1;
        self.text(")");
    }

    fn variable(&mut self, variable: Variable) {
        let text = print_variable(self.program, variable);
        self.text(" ");
        self.text(&text);
    }

    fn variables(&mut self, variables: &[Variable]) {
        let texts: Vec<String> = variables
            .iter()
            .map(|v| print_variable(self.program, *v))
            .collect();
        self.text(&format!(" [{}]", texts.join(" ")));
    }

    fn argument(&mut self, expression: &Expression) {
        self.text(" ");
        self.expression(expression);
    }

    fn arguments(&mut self, expressions: &[Expression]) {
        self.text(" [");
        for (k, expression) in expressions.iter().enumerate() {
            if k > 0 {
                self.text(" ");
            }
            self.expression(expression);
        }
        self.text("]");
    }

    fn scalar(&mut self, scalar: Scalar) {
        self.text(" ");
        self.text(scalar.info().short);
    }

    fn expression(&mut self, expression: &Expression) {
        deep(|| match expression {
            Expression::Constant(value) => self.text(&print_constant(*value)),
            Expression::Bytes(bytes) => self.text(&format!("(bytes {})", write_text(bytes))),
            Expression::Variable(variable) => {
                let text = print_variable(self.program, *variable);
                self.text(&text);
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
                self.text(&format!("(null {})", scalar.info().short));
            }
            Expression::NullBlock => self.text("null"),
            Expression::NodeTag { sum, link } => {
                self.form(&format!("tag {}", sum.0), std::slice::from_ref(link));
            }
            Expression::Select { .. } | Expression::Load { .. } | Expression::Offset { .. } => {
                let word = match expression {
                    Expression::Select { .. } => "select",
                    Expression::Load { .. } => "load",
                    _ => "offset",
                };
                self.text("(");
                self.text(word);
                expression
                    .children()
                    .into_iter()
                    .for_each(|e| self.argument(e));
                self.text(")");
            }
        });
    }

    fn form(&mut self, head: &str, arguments: &[impl std::borrow::Borrow<Expression>]) {
        self.text("(");
        self.text(head);
        arguments.iter().for_each(|e| self.argument(e.borrow()));
        self.text(")");
    }
}

/// The text of a constant.
pub fn print_constant(value: ScalarValue) -> String {
    let empty = nova_flat::ir::Program::default();
    nova_flat::print::print_atom(&empty, nova_flat::ir::Atom::Constant(value))
}
