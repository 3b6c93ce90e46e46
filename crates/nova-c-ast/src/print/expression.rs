//! Prints expressions, with parentheses where C or the warnings of its compilers ask for them.

use crate::ast::{Binary, Expression, Unary};
use crate::print::{Doc, INDENT, Printer, type_text};
use nova_diag::deep;
use pretty::DocAllocator;

/// The precedence levels of C's grammar, from loose to tight.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Conditional,
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equality,
    Relation,
    Shift,
    Sum,
    Product,
    Prefix,
    Postfix,
}

/// Returns the sign of an operator, its level, and the lowest levels of its operands. Where gcc and
/// clang advise parentheses, these levels are higher than C's grammar demands.
pub fn operator(binary: Binary) -> (&'static str, Level, Level, Level) {
    use Level::*;
    match binary {
        Binary::Multiply => ("*", Product, Product, Prefix),
        Binary::Divide => ("/", Product, Product, Prefix),
        Binary::Remainder => ("%", Product, Product, Prefix),
        Binary::Add => ("+", Sum, Sum, Product),
        Binary::Subtract => ("-", Sum, Sum, Product),
        Binary::ShiftLeft => ("<<", Shift, Prefix, Prefix),
        Binary::ShiftRight => (">>", Shift, Prefix, Prefix),
        Binary::Less => ("<", Relation, Shift, Shift),
        Binary::LessEqual => ("<=", Relation, Shift, Shift),
        Binary::Greater => (">", Relation, Shift, Shift),
        Binary::GreaterEqual => (">=", Relation, Shift, Shift),
        Binary::Equal => ("==", Equality, Shift, Shift),
        Binary::NotEqual => ("!=", Equality, Shift, Shift),
        Binary::BitAnd => ("&", BitAnd, Prefix, Prefix),
        Binary::BitXor => ("^", BitXor, Prefix, Prefix),
        Binary::BitOr => ("|", BitOr, Prefix, Prefix),
        Binary::And => ("&&", And, And, And),
        Binary::Or => ("||", Or, Or, Or),
    }
}

/// True if an operand needs no parentheses. The operands of `||` may be `||` but not `&&`, about which
/// compilers warn.
fn fits(parent: Binary, child: &Expression, least: Level) -> bool {
    match (parent, child) {
        (Binary::Or, Expression::Binary(Binary::And, ..)) => false,
        _ => level(child) >= least,
    }
}

/// Returns the lowest level of the condition of a conditional without parentheses. Compilers warn about
/// numbers computed there without parentheses, but not about truth values.
fn condition_level(condition: &Expression) -> Level {
    match level(condition) {
        Level::Or | Level::And | Level::Equality | Level::Relation => Level::Or,
        _ => Level::Prefix,
    }
}

fn level(expression: &Expression) -> Level {
    match expression {
        Expression::Name(_)
        | Expression::Text(_)
        | Expression::Pure(..)
        | Expression::Call(..)
        | Expression::Index(..)
        | Expression::Member(..)
        | Expression::Arrow(..)
        | Expression::Braces(_) => Level::Postfix,
        Expression::Literal(text) if !text.starts_with('-') => Level::Postfix,
        Expression::Literal(_)
        | Expression::Unary(..)
        | Expression::Cast(..)
        | Expression::SizeOf(_) => Level::Prefix,
        Expression::Binary(binary, ..) => operator(*binary).1,
        Expression::Conditional(_) => Level::Conditional,
    }
}

impl<'a> Printer<'a> {
    /// Returns an expression in parentheses if its level is lower than `least`.
    pub fn operand(&self, expression: &Expression, least: Level) -> Doc<'a> {
        let doc = self.expression(expression);
        if level(expression) >= least {
            doc
        } else {
            self.text("(").append(doc).append(")")
        }
    }

    pub fn expression(&self, expression: &Expression) -> Doc<'a> {
        deep(|| match expression {
            Expression::Name(name) | Expression::Literal(name) => self.text(&**name),
            Expression::Text(bytes) => self.string(bytes),
            Expression::Unary(unary, operand) => {
                let sign = match unary {
                    Unary::Minus => "-",
                    Unary::Not => "!",
                    Unary::Complement => "~",
                    Unary::Dereference => "*",
                    Unary::AddressOf => "&",
                };
                // `- -x`, never `--x`.
                let doubled = match &**operand {
                    Expression::Unary(inner, _) => inner == unary,
                    Expression::Literal(text) => text.starts_with('-'),
                    Expression::Name(_)
                    | Expression::Text(_)
                    | Expression::Binary(..)
                    | Expression::Conditional(_)
                    | Expression::Pure(..)
                    | Expression::Call(..)
                    | Expression::Index(..)
                    | Expression::Member(..)
                    | Expression::Arrow(..)
                    | Expression::Cast(..)
                    | Expression::SizeOf(_)
                    | Expression::Braces(_) => false,
                };
                let least = if doubled {
                    Level::Postfix
                } else {
                    Level::Prefix
                };
                self.text(sign).append(self.operand(operand, least))
            }
            Expression::Binary(binary, left, right) => self.binary(*binary, left, right),
            Expression::Conditional(parts) => {
                let [condition, then, otherwise] = &**parts;
                self.operand(condition, condition_level(condition))
                    .append(self.arena.line())
                    .append("? ")
                    .append(self.operand(then, Level::Or))
                    .append(self.arena.line())
                    .append(": ")
                    .append(self.operand(otherwise, Level::Or))
                    .group()
                    .nest(INDENT)
            }
            Expression::Pure(name, arguments) | Expression::Call(name, arguments) => {
                let docs = arguments.iter().map(|a| self.expression(a)).collect();
                self.text(&**name).append(self.list("(", docs, ")"))
            }
            Expression::Index(array, index) => self
                .operand(array, Level::Postfix)
                .append("[")
                .append(self.expression(index))
                .append("]"),
            Expression::Member(value, field) => self
                .operand(value, Level::Postfix)
                .append(self.text(format!(".{field}"))),
            Expression::Arrow(value, field) => self
                .operand(value, Level::Postfix)
                .append(self.text(format!("->{field}"))),
            Expression::Cast(ty, operand) => self
                .text(format!("({})", type_text(ty)))
                .append(self.operand(operand, Level::Prefix)),
            Expression::SizeOf(ty) => self.text(format!("sizeof({})", type_text(ty))),
            Expression::Braces(values) => {
                let docs = values.iter().map(|v| self.expression(v)).collect();
                self.list("{", docs, "}")
            }
        })
    }

    fn binary(&self, binary: Binary, left: &Expression, right: &Expression) -> Doc<'a> {
        let (sign, _, least_left, least_right) = operator(binary);
        let side = |operand: &Expression, least: Level| {
            if fits(binary, operand, least) {
                self.expression(operand)
            } else {
                self.text("(").append(self.expression(operand)).append(")")
            }
        };
        side(left, least_left)
            .append(self.arena.line())
            .append(self.text(format!("{sign} ")))
            .append(side(right, least_right))
            .group()
            .nest(INDENT)
    }

    /// Returns a string literal; long ones consist of several pieces.
    fn string(&self, bytes: &[u8]) -> Doc<'a> {
        const PIECE: usize = 64;
        let pieces: Vec<Doc<'a>> = match bytes {
            [] => vec![self.text("\"\"")],
            some => some
                .chunks(PIECE)
                .map(|piece| self.text(format!("\"{}\"", escaped(piece))))
                .collect(),
        };
        self.arena
            .intersperse(pieces, self.arena.line())
            .group()
            .nest(INDENT)
    }
}

/// Returns the text of bytes inside a string literal.
fn escaped(bytes: &[u8]) -> String {
    let mut out = String::new();
    for byte in bytes {
        match byte {
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            // A question mark could begin a trigraph.
            b'"' | b'\\' | b'?' => {
                out.push('\\');
                out.push(char::from(*byte));
            }
            b' '..=b'~' => out.push(char::from(*byte)),
            other => {
                for shift in [6, 3, 0] {
                    out.push(char::from(b'0' + ((other >> shift) & 7)));
                }
                out.insert(out.len() - 3, '\\');
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Clang warns about `a & b ? c : d`, and about other numbers without parentheses there.
    #[test]
    fn conditions_are_truths_or_stand_in_parentheses() {
        let [a, b] = ["a", "b"].map(Expression::name);
        let shown = |condition: Expression| {
            let [then, otherwise] = ["c", "d"].map(Expression::name);
            let all = Expression::conditional(condition, then, otherwise);
            let arena = pretty::Arena::new();
            let printer = Printer { arena: &arena };
            printer.expression(&all).pretty(80).to_string()
        };
        let of = |binary| Expression::binary(binary, a.clone(), b.clone());
        assert_eq!(shown(of(Binary::BitAnd)), "(a & b) ? c : d");
        assert_eq!(shown(of(Binary::Add)), "(a + b) ? c : d");
        assert_eq!(shown(of(Binary::Less)), "a < b ? c : d");
        assert_eq!(shown(of(Binary::And)), "a && b ? c : d");
        assert_eq!(shown(a.clone()), "a ? c : d");
    }
}
