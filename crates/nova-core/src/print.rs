//! Core as text: S-expressions, with types where variables are bound and places on applications,
//! built-ins, foreign calls and lambdas. [`crate::parse`] reads it back to the same program, and
//! the text of that is the same.
//!
//! | text | is |
//! | --- | --- |
//! | `x_7` | variable 7, called `x` |
//! | `5i32`, `5`, `1.5f`, `1.5L`, `nan.f32`, `true`, `nil` | constants: an `int`, an `int64`, floats, a bool, unit |
//! | `(text "abc")` | a constant `vector uint8` |
//! | `(lambda [x_1:f32] BODY "dot.nova:1:4")` | a function |
//! | `(apply f_1 x_2 "dot.nova:3:5")` | an application |
//! | `(let [x_1:f32 VALUE] [y_2:i32 VALUE] BODY)` | sequential bindings |
//! | `(letrec [f_1:(-> i32 i32) LAMBDA] BODY)` | recursive functions |
//! | `(if CONDITION THEN OTHERWISE)` | a conditional |
//! | `(case E ("Nil" BODY) ("Cons" p_3:(tuple i32 (sum 0)) BODY) (else BODY))` | a match |
//! | `(tuple E E)`, `(project 0 E)` | tuples |
//! | `(construct (sum 0) "Cons" E)` | a constructor applied |
//! | `(vector f32 E E)` | a vector of these elements |
//! | `(add E E "dot.nova:3:5")`, `(map LAMBDA E "…")` | a built-in |
//! | `(length i64 E "…")` | one whose integer type is not `int` |
//! | `(foreign 0 E "…")` | a foreign function, by its number |

use crate::builtin::VECTOR_BUILTINS;
use crate::ir::{Arm, Entry, ExpressionId, ExpressionKind, Foreign, Program, Variable};
use crate::{Builtin, ScalarValue, SumType, Type, typing};
use nova_diag::{Place, deep};
use nova_syntax::datum::write_text;
use std::fmt::Write;

/// The text of a program.
pub fn print(program: &Program) -> String {
    let mut printer = Printer {
        program,
        out: String::from("(program"),
        indent: 1,
        tall: tall(program),
    };
    program.sums.iter().for_each(|sum| printer.sum(sum));
    program.foreigns.iter().for_each(|f| printer.foreign(f));
    program.entries.iter().for_each(|e| printer.entry(e));
    printer.out.push_str(")\n");
    printer.out
}

/// The text of a variable: its name with what could not be read back replaced, and its number.
pub fn print_variable(program: &Program, variable: Variable) -> String {
    let name = match program.variables.get(variable.0 as usize) {
        Some(info) => &*info.name,
        None => "",
    };
    let safe = |c: char| !c.is_whitespace() && !c.is_control() && !"()[],:;\"'.|#@".contains(c);
    let replaced = name.chars().map(|c| if safe(c) { c } else { '-' });
    let name: String = replaced.collect();
    let digit_first = name
        .trim_start_matches('-')
        .starts_with(|c: char| c.is_ascii_digit());
    let prefix = if digit_first { "v" } else { "" };
    format!("{prefix}{name}_{}", variable.0)
}

/// The text of a scalar constant.
pub fn print_constant(value: ScalarValue) -> String {
    let float = |value: f64, text: String, suffix: &str, short: &str| {
        if value.is_nan() {
            format!("nan.{short}")
        } else if value.is_infinite() {
            format!("{}inf.{short}", if value < 0.0 { "-" } else { "" })
        } else {
            text + suffix
        }
    };
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

/// The text of a type.
pub fn print_type(ty: &Type) -> String {
    let mut out = String::new();
    write_type(&mut out, ty);
    out
}

fn write_type(out: &mut String, ty: &Type) {
    deep(|| match ty {
        Type::Scalar(scalar) => out.push_str(scalar.info().short),
        Type::Unit => out.push_str("unit"),
        Type::Tuple(elements) => {
            out.push_str("(tuple");
            for element in elements.iter() {
                out.push(' ');
                write_type(out, element);
            }
            out.push(')');
        }
        Type::Vector(element) => {
            out.push_str("(vector ");
            write_type(out, element);
            out.push(')');
        }
        Type::Array(rank, element) => {
            let _ = write!(out, "(array {rank} ");
            write_type(out, element);
            out.push(')');
        }
        Type::Function(parameter, result) => {
            out.push_str("(-> ");
            write_type(out, parameter);
            out.push(' ');
            write_type(out, result);
            out.push(')');
        }
        Type::Sum(id) => {
            let _ = write!(out, "(sum {})", id.0);
        }
    });
}

/// The word of a built-in.
pub fn builtin_word(builtin: Builtin) -> String {
    match builtin {
        Builtin::Scalar(operation) => operation.short(),
        other => {
            let row = VECTOR_BUILTINS.iter().find(|(b, _)| *b == other);
            row.map_or("?", |(_, word)| word).to_string()
        }
    }
}

/// Expressions of more parts than this take lines of their own.
const LINE_PARTS: u32 = 12;
/// The most columns a line is indented by: texts of deep programs stay linear in their size.
const DEEPEST_INDENT: usize = 60;

/// Which expressions take lines of their own.
fn tall(program: &Program) -> Vec<bool> {
    let mut sizes: Vec<u32> = Vec::with_capacity(program.arena.len());
    let mut tall = Vec::with_capacity(program.arena.len());
    for expression in &program.arena {
        let inner = expression.kind.children();
        let size = inner.iter().fold(1u32, |sum, child| {
            sum.saturating_add(sizes.get(child.0 as usize).copied().unwrap_or(0))
        });
        let structured = matches!(
            &expression.kind,
            ExpressionKind::Let { .. }
                | ExpressionKind::Letrec { .. }
                | ExpressionKind::If { .. }
                | ExpressionKind::Case { .. }
        );
        let holds = inner
            .iter()
            .any(|child| tall.get(child.0 as usize).copied().unwrap_or(false));
        tall.push(structured || holds || size > LINE_PARTS);
        sizes.push(size);
    }
    tall
}

struct Printer<'a> {
    program: &'a Program,
    out: String,
    indent: usize,
    tall: Vec<bool>,
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

    fn types(&self, types: &[Type]) -> String {
        let types: Vec<String> = types.iter().map(print_type).collect();
        types.join(" ")
    }

    fn sum(&mut self, sum: &SumType) {
        let group: Vec<String> = sum.group.iter().map(|id| id.0.to_string()).collect();
        let name = write_text(sum.name.as_bytes());
        let arguments = self.types(&sum.arguments);
        self.line();
        self.text(&format!("(sum {name} [{arguments}] [{}]", group.join(" ")));
        self.indent += 1;
        for constructor in &sum.constructors {
            let name = write_text(constructor.name.as_bytes());
            let payload = print_type(&constructor.payload);
            self.line();
            self.text(&format!("({name} {payload})"));
        }
        self.indent -= 1;
        self.text(")");
    }

    fn foreign(&mut self, foreign: &Foreign) {
        let name = write_text(foreign.name.as_bytes());
        let parameters = self.types(&foreign.parameters);
        let result = print_type(&foreign.result);
        self.line();
        self.text(&format!("(foreign {name} [{parameters}] {result})"));
    }

    fn entry(&mut self, entry: &Entry) {
        let name = write_text(entry.name.as_bytes());
        self.line();
        self.text(&format!("(entry {name} "));
        self.parameters(&entry.inputs);
        self.indent += 1;
        self.line();
        self.expression(entry.body);
        self.indent -= 1;
        self.text(")");
    }

    fn binding(&self, variable: Variable) -> String {
        let name = print_variable(self.program, variable);
        match self.program.variables.get(variable.0 as usize) {
            Some(info) => format!("{name}:{}", print_type(&info.ty)),
            None => name,
        }
    }

    fn parameters(&mut self, variables: &[Variable]) {
        let texts: Vec<String> = variables.iter().map(|v| self.binding(*v)).collect();
        self.text(&format!("[{}]", texts.join(" ")));
    }

    /// A part of an expression, on a line of its own where it is tall.
    fn part(&mut self, id: ExpressionId) {
        if self.tall[id.0 as usize] {
            self.below(id);
        } else {
            self.text(" ");
            self.expression(id);
        }
    }

    fn below(&mut self, id: ExpressionId) {
        self.indent += 1;
        self.line();
        self.expression(id);
        self.indent -= 1;
    }

    fn parts(&mut self, ids: &[ExpressionId]) {
        ids.iter().for_each(|id| self.part(*id));
    }

    fn place(&mut self, place: &Place) {
        let text = write_text(place.to_string().as_bytes());
        self.text(&format!(" {text}"));
    }

    fn expression(&mut self, id: ExpressionId) {
        deep(|| self.kind(id));
    }

    fn kind(&mut self, id: ExpressionId) {
        let program = self.program;
        let expression = program.expression(id);
        match &expression.kind {
            ExpressionKind::Literal(value) => self.text(&print_constant(*value)),
            ExpressionKind::Unit => self.text("nil"),
            ExpressionKind::Variable(v) => self.text(&print_variable(program, *v)),
            ExpressionKind::Text(bytes) => self.text(&format!("(text {})", write_text(bytes))),
            ExpressionKind::Lambda { parameters, body } => {
                self.text("(lambda ");
                self.parameters(parameters);
                self.part(*body);
                self.place(&expression.place);
                self.text(")");
            }
            ExpressionKind::Apply {
                function,
                arguments,
            } => {
                self.text("(apply");
                self.part(*function);
                self.parts(arguments);
                self.place(&expression.place);
                self.text(")");
            }
            ExpressionKind::Let { .. } => self.bindings(id),
            ExpressionKind::Letrec { .. } => self.control(&expression.kind),
            ExpressionKind::If { .. } | ExpressionKind::Case { .. } => {
                self.control(&expression.kind);
            }
            ExpressionKind::Tuple(elements) => self.form("tuple", elements),
            ExpressionKind::Project(tuple, index) => {
                self.form(&format!("project {index}"), &[*tuple]);
            }
            ExpressionKind::Construct {
                constructor,
                payload,
            } => {
                let name = self.constructor(&expression.ty, *constructor);
                let ty = print_type(&expression.ty);
                self.form(&format!("construct {ty} {name}"), &[*payload]);
            }
            ExpressionKind::Vector(elements) => {
                let element = match &expression.ty {
                    Type::Vector(element) => print_type(element),
                    other => print_type(other),
                };
                self.form(&format!("vector {element}"), elements);
            }
            ExpressionKind::Builtin { builtin, arguments } => {
                self.builtin(id, *builtin, arguments);
            }
            ExpressionKind::Foreign { foreign, arguments } => {
                self.text(&format!("(foreign {foreign}"));
                self.parts(arguments);
                self.place(&expression.place);
                self.text(")");
            }
        }
    }

    fn control(&mut self, kind: &ExpressionKind) {
        match kind {
            ExpressionKind::Letrec { bindings, body } => {
                self.text("(letrec");
                for (variable, value) in bindings {
                    self.bound(*variable, *value);
                }
                self.below(*body);
                self.text(")");
            }
            ExpressionKind::If {
                condition,
                then,
                otherwise,
            } => {
                self.text("(if");
                self.part(*condition);
                self.below(*then);
                self.below(*otherwise);
                self.text(")");
            }
            ExpressionKind::Case {
                scrutinee,
                arms,
                default,
            } => {
                self.text("(case");
                self.part(*scrutinee);
                self.arms(*scrutinee, arms, *default);
                self.text(")");
            }
            _ => {}
        }
    }

    fn form(&mut self, word: &str, parts: &[ExpressionId]) {
        self.text(&format!("({word}"));
        self.parts(parts);
        self.text(")");
    }

    /// A chain of `let`s as one form.
    fn bindings(&mut self, mut id: ExpressionId) {
        let program = self.program;
        self.text("(let");
        while let ExpressionKind::Let {
            variable,
            value,
            body,
        } = &program.expression(id).kind
        {
            self.bound(*variable, *value);
            id = *body;
        }
        self.below(id);
        self.text(")");
    }

    fn bound(&mut self, variable: Variable, value: ExpressionId) {
        self.indent += 1;
        self.line();
        self.text(&format!("[{}", self.binding(variable)));
        self.part(value);
        self.text("]");
        self.indent -= 1;
    }

    fn constructor(&self, ty: &Type, constructor: u32) -> String {
        let sum = match ty {
            Type::Sum(id) => self.program.sums.get(id.0 as usize),
            _ => None,
        };
        match sum.and_then(|s| s.constructors.get(constructor as usize)) {
            Some(constructor) => write_text(constructor.name.as_bytes()),
            None => constructor.to_string(),
        }
    }

    fn arms(
        &mut self,
        scrutinee: ExpressionId,
        arms: &[Option<Arm>],
        default: Option<ExpressionId>,
    ) {
        let ty = &self.program.expression(scrutinee).ty;
        let named = (0..).zip(arms).filter_map(|(k, arm)| {
            let arm = arm.as_ref()?;
            Some((self.constructor(ty, k), arm.variable, arm.body))
        });
        let otherwise = default.map(|body| ("else".to_string(), None, body));
        let all: Vec<_> = named.chain(otherwise).collect();
        self.indent += 1;
        for (name, variable, body) in all {
            self.line();
            self.text(&format!("({name}"));
            if let Some(variable) = variable {
                self.text(&format!(" {}", self.binding(variable)));
            }
            self.part(body);
            self.text(")");
        }
        self.indent -= 1;
    }

    fn builtin(&mut self, id: ExpressionId, builtin: Builtin, arguments: &[ExpressionId]) {
        let expression = self.program.expression(id);
        self.text(&format!("({}", builtin_word(builtin)));
        if matches!(
            builtin,
            Builtin::Length | Builtin::Shape | Builtin::Segments
        ) && typing::type_of(self.program, &expression.kind, None).as_ref() != Ok(&expression.ty)
        {
            self.text(&format!(" {}", print_type(&expression.ty)));
        }
        self.parts(arguments);
        self.place(&expression.place);
        self.text(")");
    }
}
