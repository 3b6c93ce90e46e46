//! Prints the C syntax tree. Indentation is four columns, lines have at most 100 columns where
//! possible, and there are parentheses where C or the warnings of its compilers ask for them.

mod expression;
mod lines;

use crate::ast::{
    Binary, Block, Expression, Field, Function, Hint, Item, Name, Parameter, Statement, Type,
    jump_statements, mark_statements, nested_statements, value_statements,
};
use expression::{Level, operator};
use nova_diag::deep;
use pretty::{Arena, DocAllocator, DocBuilder};

/// The columns of a line.
const WIDTH: usize = 100;
/// Columns of lines so long that each statement has one. A directive inside of a statement would stand
/// among the arguments of a macro.
const ONE_LINE: usize = 1 << 20;
/// The columns of one level of indentation.
const INDENT: isize = 4;

/// The indentation of the continuation of a list that does not fit on a line: more than that of a
/// block.
const CONTINUATION: isize = 2 * INDENT;

type Doc<'a> = DocBuilder<'a, Arena<'a>>;

/// Prints the items of a file, one after the other.
pub fn print(items: &[Item]) -> String {
    print_within(WIDTH, items)
}

/// Prints the items of a file. Its functions have directives for lines of the source
/// ([`crate::passes::lines`]), and `file` is its name.
pub fn print_with_lines(items: &[Item], file: &str) -> String {
    lines::numbered(&print_within(ONE_LINE, items), file)
}

fn print_within(width: usize, items: &[Item]) -> String {
    let mut out = String::new();
    for item in items {
        match item {
            Item::Text(text) => out.push_str(text),
            Item::Blank => out.push('\n'),
            Item::Comment(_)
            | Item::Directive(_)
            | Item::Function(_)
            | Item::Struct { .. }
            | Item::Variable { .. } => {
                let arena = Arena::new();
                let doc = Printer { arena: &arena }.item(item);
                let mut text = String::new();
                // Writing to a string cannot fail.
                let _ = doc.into_doc().render_fmt(width, &mut text);
                // Blank lines inside of indented code have no trailing blanks.
                for line in text.lines() {
                    out.push_str(line.trim_end());
                    out.push('\n');
                }
            }
        }
    }
    out
}

struct Printer<'a> {
    arena: &'a Arena<'a>,
}

/// Returns a type in front of a name: `float *`, `const int64_t `.
fn type_before_name(ty: &Type) -> String {
    let text = type_text(ty);
    if text.ends_with('*') {
        text
    } else {
        text + " "
    }
}

/// Returns the part of a type that follows a name: `[32]`.
fn type_after_name(ty: &Type) -> String {
    match ty {
        Type::Array(_, count) => format!("[{count}]"),
        Type::Name(_) | Type::Struct(_) | Type::Pointer(_) | Type::Const(_) => String::new(),
    }
}

/// Returns a type alone.
pub fn type_text(ty: &Type) -> String {
    match ty {
        Type::Name(name) => name.to_string(),
        Type::Struct(name) => format!("struct {name}"),
        Type::Pointer(to) => {
            let to = type_text(to);
            if to.ends_with('*') {
                to + "*"
            } else {
                to + " *"
            }
        }
        Type::Const(ty) => match &**ty {
            Type::Pointer(_) => type_text(ty) + "const",
            Type::Name(_) | Type::Struct(_) | Type::Const(_) | Type::Array(..) => {
                format!("const {}", type_text(ty))
            }
        },
        Type::Array(element, _) => type_text(element),
    }
}

impl<'a> Printer<'a> {
    fn text(&self, text: impl Into<String>) -> Doc<'a> {
        self.arena.text(text.into())
    }

    fn lines(&self, docs: impl IntoIterator<Item = Doc<'a>>) -> Doc<'a> {
        self.arena.intersperse(docs, self.arena.hardline())
    }

    /// Parameters in parentheses. Lines break after commas where necessary, and continue below the
    /// first parameter.
    fn parameters(&self, docs: Vec<Doc<'a>>) -> Doc<'a> {
        let comma = self.arena.text(",").append(self.arena.softline());
        self.arena
            .text("(")
            .append(self.arena.intersperse(docs, comma).align())
            .append(")")
    }

    /// Documents in brackets. Lines break after commas where necessary: before a document that fits on
    /// the next line, rather than inside it.
    fn list(&self, open: &'static str, docs: Vec<Doc<'a>>, close: &'static str) -> Doc<'a> {
        let mut inside = self.arena.nil();
        for (place, doc) in docs.into_iter().enumerate() {
            inside = match place {
                0 => doc,
                _ => inside
                    .append(",")
                    .append(self.arena.line().append(doc).group()),
            };
        }
        self.arena
            .text(open)
            .append(inside.nest(CONTINUATION))
            .append(close)
    }

    fn item(&self, item: &Item) -> Doc<'a> {
        match item {
            Item::Comment(text) => self.comment(text),
            Item::Directive(text) => self.text(format!("#{}", without_trigraphs(text))),
            Item::Function(function) => self.function(function),
            Item::Struct {
                name,
                fields,
                typedef,
            } => {
                let (before, after) = if *typedef {
                    ("typedef ", format!("}} {name};"))
                } else {
                    ("", "};".to_string())
                };
                self.text(format!("{before}struct {name} {{"))
                    .append(self.fields(fields))
                    .append(after)
            }
            Item::Variable {
                prefix,
                ty,
                name,
                value,
            } => {
                let head = prefixed(prefix, &type_before_name(ty)) + name;
                let value = value
                    .as_ref()
                    .map(|v| self.text(" = ").append(self.expression(v)));
                self.text(head).append(value).append(";")
            }
            Item::Blank | Item::Text(_) => self.arena.nil(),
        }
    }

    fn comment(&self, text: &str) -> Doc<'a> {
        let mut lines = text.lines().map(|line| self.text(in_comment(line)));
        let first = lines.next().unwrap_or_else(|| self.arena.nil());
        let rest = lines.map(|line| self.arena.hardline().append(" * ").append(line));
        self.text("/* ")
            .append(first)
            .append(self.arena.concat(rest))
            .append(" */")
    }

    fn fields(&self, fields: &[Field]) -> Doc<'a> {
        let docs = fields.iter().map(|field| {
            self.arena.hardline().append(match field {
                Field::Plain(ty, name) => self.text(format!("{}{name};", type_before_name(ty))),
                Field::Union(fields, name) => self.nested_fields("union", fields, name),
                Field::Struct(fields, name) => self.nested_fields("struct", fields, name),
            })
        });
        self.arena
            .concat(docs)
            .nest(INDENT)
            .append(self.arena.hardline())
    }

    fn nested_fields(&self, keyword: &str, fields: &[Field], name: &Name) -> Doc<'a> {
        self.text(format!("{keyword} {{"))
            .append(deep(|| self.fields(fields)))
            .append(self.text(format!("}} {name};")))
    }

    fn function(&self, function: &Function) -> Doc<'a> {
        let head = prefixed(&function.prefix, &type_before_name(&function.result));
        let parameters = match &*function.parameters {
            [] => vec![self.text("void")],
            some => some
                .iter()
                .map(|Parameter { ty, name }| self.text(type_before_name(ty) + name))
                .collect(),
        };
        let head = self
            .text(format!("{head}{}", function.name))
            .append(self.parameters(parameters));
        match &function.body {
            None => head.append(";"),
            Some(body) => head
                .append(self.arena.hardline())
                .append("{")
                .append(self.indented(body))
                .append("}"),
        }
    }

    /// Returns the statements of a block, indented, on separate lines.
    fn indented(&self, block: &Block) -> Doc<'a> {
        let statements = deep(|| {
            let docs = block
                .0
                .iter()
                .map(|s| self.arena.hardline().append(self.statement(s)));
            self.arena.concat(docs.collect::<Vec<_>>())
        });
        statements.nest(INDENT).append(self.arena.hardline())
    }

    fn braces(&self, block: &Block) -> Doc<'a> {
        if block.0.is_empty() {
            return self.text("{}");
        }
        self.text("{").append(self.indented(block)).append("}")
    }

    /// Returns a block after `if (…)` and similar text, without braces if it is one simple statement.
    fn body(&self, block: &Block) -> Doc<'a> {
        match &*block.0 {
            [statement] if is_simple(statement) => self
                .arena
                .hardline()
                .append(self.statement(statement))
                .nest(INDENT),
            _ => self.text(" ").append(self.braces(block)),
        }
    }

    fn counted_loop(&self, ty: &str, variable: &str, count: &Expression, body: &Block) -> Doc<'a> {
        self.text(format!("for ({ty} {variable} = 0; {variable} < "))
            .append(self.operand(count, Level::Shift))
            .append(self.text(format!("; {variable}++)")))
            .append(self.body(body))
    }

    fn statement(&self, statement: &Statement) -> Doc<'a> {
        match statement {
            Statement::Declare { ty, name, value } => {
                let value = value
                    .as_ref()
                    .map(|v| self.text(" = ").append(self.expression(v)));
                self.text(type_before_name(ty) + name + &type_after_name(ty))
                    .append(value)
                    .append(";")
            }
            Statement::Assign { target, value } => self.assignment(target, value),
            Statement::Expression(expression) => self.expression(expression).append(";"),
            Statement::If {
                condition,
                then,
                otherwise,
            } => self.conditional(condition, then, otherwise),
            Statement::For {
                ty,
                variable,
                count,
                body,
            } => self.counted_loop(&type_text(ty), variable, count, body),
            Statement::Lanes {
                hint: hint @ (Hint::SharedByThreads | Hint::SharedByGroups | Hint::SharedInGroup),
                variable,
                count,
                body,
            } => self
                .text(format!("{}({variable}, ", hint.text()))
                .append(self.expression(count))
                .append(")")
                .append(self.body(body)),
            Statement::Lanes {
                hint,
                variable,
                count,
                body,
            } => self
                .text(hint.text())
                .append(self.arena.hardline())
                .append(self.counted_loop("int64_t", variable, count, body)),
            Statement::While { condition, body } => match condition {
                Some(condition) => self
                    .text("while (")
                    .append(self.expression(condition))
                    .append(")")
                    .append(self.body(body)),
                None => self.text("for (;;)").append(self.body(body)),
            },
            Statement::Switch { value, cases } => self.switch(value, cases),
            Statement::Break => self.text("break;"),
            Statement::Continue => self.text("continue;"),
            Statement::Return(None) => self.text("return;"),
            Statement::Return(Some(value)) => self
                .text("return ")
                .append(self.expression(value))
                .append(";"),
            Statement::Goto(label) => self.text(format!("goto {label};")),
            Statement::Label(label) => self.text(format!("{label}:;")),
            Statement::Block(block) => self.braces(block),
            Statement::Comment(text) => self.comment(text),
            Statement::Place(place) => self.comment(&place.to_string()),
            Statement::Line(place) => self.text(lines::directive(place.as_ref())),
        }
    }

    /// `x = v`, `x += v`, `x++`.
    fn assignment(&self, target: &Expression, value: &Expression) -> Doc<'a> {
        let target_doc = self.expression(target);
        if let Expression::Binary(binary, left, right) = value
            && **left == *target
            && is_compound(*binary)
        {
            return match (binary, &**right) {
                (Binary::Add, Expression::Literal(one)) if &**one == "1" => {
                    target_doc.append("++;")
                }
                _ => target_doc
                    .append(self.text(format!(" {}= ", operator(*binary).0)))
                    .append(self.expression(right))
                    .append(";"),
            };
        }
        target_doc
            .append(" = ")
            .append(self.expression(value))
            .append(";")
    }

    fn conditional(&self, condition: &Expression, then: &Block, otherwise: &Block) -> Doc<'a> {
        // The branch of an `if` with an `else` has braces if it ends in an `if`.
        let dangling = !otherwise.0.is_empty() || then.0.is_empty();
        let braces = dangling && !matches!(&*then.0, [s] if is_plain(s));
        let then_doc = if braces {
            self.text(" ").append(self.braces(then))
        } else {
            self.body(then)
        };
        let doc = self
            .text("if (")
            .append(self.expression(condition))
            .append(")")
            .append(then_doc);
        if otherwise.0.is_empty() {
            return doc;
        }
        let separator = if braces {
            self.text(" ")
        } else {
            self.arena.hardline()
        };
        let rest = match &*otherwise.0 {
            [statement @ Statement::If { .. }] => {
                self.text(" ").append(deep(|| self.statement(statement)))
            }
            _ => self.body(otherwise),
        };
        doc.append(separator).append("else").append(rest)
    }

    fn switch(&self, value: &Expression, cases: &[Block]) -> Doc<'a> {
        let last = cases.len().saturating_sub(1);
        let docs = cases.iter().enumerate().map(|(k, case)| {
            let label = if k == last {
                "default:".to_string()
            } else {
                format!("case {k}:")
            };
            let braces = case
                .0
                .iter()
                .any(|s| matches!(s, Statement::Declare { .. }));
            let mut body = if braces {
                self.text(label).append(" ").append(self.braces(case))
            } else if case.0.is_empty() {
                self.text(label)
            } else {
                self.text(label).append(self.outdented(case))
            };
            if !case.0.last().is_some_and(leaves) {
                let end = self.arena.hardline().append("break;");
                body = body.append(end.nest(INDENT));
            }
            body
        });
        self.text("switch (")
            .append(self.expression(value))
            .append(") {")
            .append(self.arena.hardline())
            .append(self.lines(docs.collect::<Vec<_>>()))
            .append(self.arena.hardline())
            .append("}")
    }

    /// Returns the statements of a block, indented, without a final line end.
    fn outdented(&self, block: &Block) -> Doc<'a> {
        deep(|| {
            let docs = block
                .0
                .iter()
                .map(|s| self.arena.hardline().append(self.statement(s)));
            self.arena.concat(docs.collect::<Vec<_>>()).nest(INDENT)
        })
    }
}

fn prefixed(prefix: &[Name], rest: &str) -> String {
    let mut text = String::new();
    for word in prefix {
        text.push_str(word);
        text.push(' ');
    }
    text + rest
}

/// True if `x = x ⊕ v` is written `x ⊕= v`.
fn is_compound(binary: Binary) -> bool {
    match binary {
        Binary::Multiply
        | Binary::Divide
        | Binary::Remainder
        | Binary::Add
        | Binary::Subtract
        | Binary::ShiftLeft
        | Binary::ShiftRight
        | Binary::BitAnd
        | Binary::BitXor
        | Binary::BitOr => true,
        Binary::Less
        | Binary::LessEqual
        | Binary::Greater
        | Binary::GreaterEqual
        | Binary::Equal
        | Binary::NotEqual
        | Binary::And
        | Binary::Or => false,
    }
}

/// True if a statement may follow `if (…)` without braces.
fn is_simple(statement: &Statement) -> bool {
    match statement {
        Statement::If {
            then, otherwise, ..
        } => otherwise.0.is_empty() && !then.0.is_empty(),
        Statement::For { .. } | Statement::While { .. } => true,
        // A preprocessor line precedes the loop.
        Statement::Lanes { .. }
        | Statement::Switch { .. }
        | Statement::Block(_)
        | value_statements!()
        | jump_statements!()
        | mark_statements!() => is_plain(statement),
    }
}

/// True if a statement is one line without statements inside.
fn is_plain(statement: &Statement) -> bool {
    match statement {
        Statement::Assign { .. } | Statement::Expression(_) | jump_statements!() => true,
        Statement::Declare { .. } | nested_statements!() | mark_statements!() => false,
    }
}

/// True if control never reaches the statement after this one.
fn leaves(statement: &Statement) -> bool {
    matches!(
        statement,
        Statement::Break | Statement::Continue | Statement::Return(_) | Statement::Goto(_)
    )
}

/// The third characters of trigraphs, which strict C replaces (`??-` by `~`).
const TRIGRAPHS: &str = "=/'()!<>-";

/// Returns a line without trigraphs. A line continuation, which compilers remove again, separates two
/// question marks that would begin one, so that all compilers read the same.
pub fn without_trigraphs(line: &str) -> String {
    let mut out = String::new();
    for (at, c) in line.char_indices() {
        let mut after = line[at..].chars().skip(1);
        out.push(c);
        if c == '?'
            && after.next() == Some('?')
            && after.next().is_some_and(|last| TRIGRAPHS.contains(last))
        {
            out.push_str("\\\n");
        }
    }
    out
}

/// Returns a line inside of a comment. Nothing in it ends the comment, begins another one, or joins two
/// lines.
fn in_comment(line: &str) -> String {
    let line = line.replace("*/", "* /").replace("/*", "/ *");
    let line = line.replace("??/", "? ?/");
    let visible = |c: char| if c.is_control() { ' ' } else { c };
    let line: String = line.chars().map(visible).collect();
    match line.ends_with('\\') {
        true => line + " ",
        false => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_mean_the_same_in_strict_c() {
        let split = "include \"a?\\\n?-??b?\\\n?=.h\"";
        assert_eq!(without_trigraphs("include \"a??-??b??=.h\""), split);
        assert_eq!(without_trigraphs("???>"), "??\\\n?>");
        assert_eq!(in_comment("a*/ /* b??/ \\"), "a* / / * b? ?/ \\ ");
        assert_eq!(in_comment("*/*"), "* / *");
    }
}
