//! The text of Core: S-expressions, with types where variables are bound and places on applications,
//! built-ins, foreign calls and lambdas. [`crate::parse`] reads the text back to the same program, and
//! prints that to the same text.
//!
//! | text | meaning |
//! | --- | --- |
//! | `x_7` | variable 7, called `x` |
//! | `5i32`, `5`, `1.5f`, `1.5L`, `nan.f32`, `true`, `nil` | constants: `int`, `int64`, floats, bool, unit |
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
use crate::forms::write::{Lines, bracketed, is_symbolic, numbered, print_constant, print_type};
use crate::ir::{Arm, Entry, ExpressionId, ExpressionKind, Program, Variable};
use crate::{Builtin, Type, typing};
use nova_diag::{Place, deep};
use nova_syntax::datum::write_text;

/// Returns the text of a program.
pub fn print(program: &Program) -> String {
    let mut printer = Printer {
        program,
        out: Lines::new("(program", 1),
        tall: tall(program),
    };
    program.sums.iter().for_each(|sum| printer.out.sum(sum));
    program.foreigns.iter().for_each(|f| printer.out.foreign(f));
    program.entries.iter().for_each(|e| printer.entry(e));
    printer.out.text(")\n");
    printer.out.finish()
}

/// Returns the text of a variable: its number after its name, in which characters that cannot be parsed
/// are replaced.
pub fn print_variable(program: &Program, variable: Variable) -> String {
    let info = program.variables.get(variable.index());
    let name = info.map_or("", |info| &info.name);
    numbered(name, variable.0, is_symbolic)
}

/// Returns the word of a built-in.
pub fn builtin_word(builtin: Builtin) -> String {
    match builtin {
        Builtin::Scalar(operation) => operation.short(),
        other => {
            let row = VECTOR_BUILTINS.iter().find(|(b, _)| *b == other);
            row.map_or("?", |(_, word)| word).to_string()
        }
    }
}

/// The largest number of subexpressions of an expression that is printed on one line.
const LINE_SIZE: u32 = 12;

/// Returns the expressions that take lines of their own.
fn tall(program: &Program) -> Vec<bool> {
    let mut sizes: Vec<u32> = Vec::with_capacity(program.arena.len());
    let mut tall = Vec::with_capacity(program.arena.len());
    for expression in &program.arena {
        let inner = expression.kind.children();
        let size = inner.iter().fold(1u32, |sum, child| {
            sum.saturating_add(sizes.get(child.index()).copied().unwrap_or(0))
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
            .any(|child| tall.get(child.index()).copied().unwrap_or(false));
        tall.push(structured || holds || size > LINE_SIZE);
        sizes.push(size);
    }
    tall
}

struct Printer<'a> {
    program: &'a Program,
    out: Lines,
    tall: Vec<bool>,
}

impl Printer<'_> {
    fn entry(&mut self, entry: &Entry) {
        let name = write_text(entry.name.as_bytes());
        self.out.line();
        self.out.text(&format!("(entry {name} "));
        self.parameters(&entry.inputs);
        self.out.indent += 1;
        self.out.line();
        self.expression(entry.body);
        self.out.indent -= 1;
        self.out.text(")");
    }

    fn binding(&self, variable: Variable) -> String {
        let name = print_variable(self.program, variable);
        match self.program.variables.get(variable.index()) {
            Some(info) => format!("{name}:{}", print_type(&info.ty)),
            None => name,
        }
    }

    fn parameters(&mut self, variables: &[Variable]) {
        let texts = bracketed(variables, |v| self.binding(*v));
        self.out.text(&texts);
    }

    /// Prints a child of an expression, on a line of its own if it is tall.
    fn child(&mut self, id: ExpressionId) {
        if self.tall[id.index()] {
            self.below(id);
        } else {
            self.out.text(" ");
            self.expression(id);
        }
    }

    fn below(&mut self, id: ExpressionId) {
        self.out.indent += 1;
        self.out.line();
        self.expression(id);
        self.out.indent -= 1;
    }

    fn children(&mut self, ids: &[ExpressionId]) {
        ids.iter().for_each(|id| self.child(*id));
    }

    fn place(&mut self, place: &Place) {
        let text = write_text(place.to_string().as_bytes());
        self.out.text(&format!(" {text}"));
    }

    fn expression(&mut self, id: ExpressionId) {
        deep(|| self.kind(id));
    }

    fn kind(&mut self, id: ExpressionId) {
        let program = self.program;
        let expression = program.expression(id);
        match &expression.kind {
            ExpressionKind::Literal(value) => self.out.text(&print_constant(*value)),
            ExpressionKind::Unit => self.out.text("nil"),
            ExpressionKind::Variable(v) => self.out.text(&print_variable(program, *v)),
            ExpressionKind::Text(bytes) => self.out.text(&format!("(text {})", write_text(bytes))),
            ExpressionKind::Lambda { parameters, body } => {
                self.out.text("(lambda ");
                self.parameters(parameters);
                self.child(*body);
                self.place(&expression.place);
                self.out.text(")");
            }
            ExpressionKind::Apply {
                function,
                arguments,
            } => {
                self.out.text("(apply");
                self.child(*function);
                self.children(arguments);
                self.place(&expression.place);
                self.out.text(")");
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
                self.out.text(&format!("(foreign {foreign}"));
                self.children(arguments);
                self.place(&expression.place);
                self.out.text(")");
            }
        }
    }

    fn control(&mut self, kind: &ExpressionKind) {
        match kind {
            ExpressionKind::Letrec { bindings, body } => {
                self.out.text("(letrec");
                for (variable, value) in bindings {
                    self.bound(*variable, *value);
                }
                self.below(*body);
                self.out.text(")");
            }
            ExpressionKind::If {
                condition,
                then,
                otherwise,
            } => {
                self.out.text("(if");
                self.child(*condition);
                self.below(*then);
                self.below(*otherwise);
                self.out.text(")");
            }
            ExpressionKind::Case {
                scrutinee,
                arms,
                default,
            } => {
                self.out.text("(case");
                self.child(*scrutinee);
                self.arms(*scrutinee, arms, *default);
                self.out.text(")");
            }
            _ => {}
        }
    }

    fn form(&mut self, word: &str, children: &[ExpressionId]) {
        self.out.text(&format!("({word}"));
        self.children(children);
        self.out.text(")");
    }

    /// Prints nested `let`s as one form.
    fn bindings(&mut self, mut id: ExpressionId) {
        let program = self.program;
        self.out.text("(let");
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
        self.out.text(")");
    }

    fn bound(&mut self, variable: Variable, value: ExpressionId) {
        self.out.indent += 1;
        self.out.line();
        self.out.text(&format!("[{}", self.binding(variable)));
        self.child(value);
        self.out.text("]");
        self.out.indent -= 1;
    }

    fn constructor(&self, ty: &Type, constructor: u32) -> String {
        let sum = match ty {
            Type::Sum(id) => self.program.sums.get(id.index()),
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
        self.out.indent += 1;
        for (name, variable, body) in all {
            self.out.line();
            self.out.text(&format!("({name}"));
            if let Some(variable) = variable {
                self.out.text(&format!(" {}", self.binding(variable)));
            }
            self.child(body);
            self.out.text(")");
        }
        self.out.indent -= 1;
    }

    fn builtin(&mut self, id: ExpressionId, builtin: Builtin, arguments: &[ExpressionId]) {
        let expression = self.program.expression(id);
        self.out.text(&format!("({}", builtin_word(builtin)));
        if matches!(
            builtin,
            Builtin::Length | Builtin::Shape | Builtin::Segments | Builtin::Table { .. }
        ) && typing::type_of(self.program, &expression.kind, None).as_ref() != Ok(&expression.ty)
        {
            self.out.text(&format!(" {}", print_type(&expression.ty)));
        }
        self.children(arguments);
        self.place(&expression.place);
        self.out.text(")");
    }
}
