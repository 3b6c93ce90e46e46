//! The language: lines of `name = expression`, the last line an expression alone.
//!
//! Expressions are numbers, names, `+ - * /`, parentheses and calls of functions; `#` starts a
//! comment, `;` may stand for a line end.

use nova_driver::deep;

/// A place: line and column, from 1.
pub type Position = (u32, u32);

/// What is wrong, and where.
#[derive(Debug)]
pub struct Mistake {
    pub position: Position,
    pub message: String,
}

/// An expression with its place, which goes up to the position behind its last character.
#[derive(Debug)]
pub struct Expression {
    pub position: Position,
    pub end: Position,
    pub kind: Kind,
}

#[derive(Debug)]
pub enum Kind {
    Number(f64),
    Name(String),
    /// A function or an operator applied.
    Call(String, Vec<Expression>),
}

/// A program: bindings in order, then the value.
#[derive(Debug)]
pub struct Program {
    pub bindings: Vec<(String, Expression)>,
    pub value: Expression,
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Number(f64),
    Name(String),
    Symbol(char),
    /// The end of a line.
    End,
}

/// A token with its first position, and the one behind it.
type Placed = (Token, Position, Position);

/// Parses a source.
pub fn parse(text: &str) -> Result<Program, Mistake> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens, at: 0 };
    let mut bindings = Vec::new();
    loop {
        parser.skip_ends();
        let name = parser.name_of_binding();
        let value = parser.sum()?;
        parser.expect_end()?;
        match name {
            Some(name) => bindings.push((name, value)),
            None => {
                parser.skip_ends();
                return match parser.peek() {
                    None => Ok(Program { bindings, value }),
                    Some(_) => Err(parser.mistake("the value must be the last line")),
                };
            }
        }
    }
}

fn tokens(text: &str) -> Result<Vec<Placed>, Mistake> {
    let mut tokens = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.split('#').next().unwrap_or("");
        let characters: Vec<char> = text.chars().collect();
        let mut at = 0;
        while let Some(&c) = characters.get(at) {
            let position = (line, at as u32 + 1);
            let run = |belongs: fn(char) -> bool| -> String {
                characters[at..]
                    .iter()
                    .copied()
                    .take_while(|c| belongs(*c))
                    .collect()
            };
            let token = if c.is_ascii_digit() {
                let digits = run(|c| c.is_ascii_alphanumeric() || c == '.');
                at += digits.len();
                Token::Number(digits.parse().map_err(|_| Mistake {
                    position,
                    message: format!("`{digits}` is no number"),
                })?)
            } else if c.is_alphabetic() || c == '_' {
                let name = run(|c| c.is_alphanumeric() || c == '_');
                at += name.chars().count();
                Token::Name(name)
            } else {
                at += 1;
                match c {
                    ';' => Token::End,
                    c if c.is_whitespace() => continue,
                    c => Token::Symbol(c),
                }
            };
            tokens.push((token, position, (line, at as u32 + 1)));
        }
        let end = (line, characters.len() as u32 + 1);
        tokens.push((Token::End, end, end));
    }
    Ok(tokens)
}

struct Parser {
    tokens: Vec<Placed>,
    at: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, ..)| token)
    }

    fn position(&self) -> Position {
        let here = self.tokens.get(self.at).or(self.tokens.last());
        here.map_or((1, 1), |(_, position, _)| *position)
    }

    /// The position behind the last token that was taken.
    fn end(&self) -> Position {
        let taken = self.tokens.get(self.at.saturating_sub(1));
        taken.map_or((1, 1), |(.., end)| *end)
    }

    fn mistake(&self, message: &str) -> Mistake {
        Mistake {
            position: self.position(),
            message: message.to_string(),
        }
    }

    fn take(&mut self, symbol: char) -> bool {
        let found = self.peek() == Some(&Token::Symbol(symbol));
        self.at += usize::from(found);
        found
    }

    fn skip_ends(&mut self) {
        while self.peek() == Some(&Token::End) {
            self.at += 1;
        }
    }

    fn expect_end(&mut self) -> Result<(), Mistake> {
        match self.peek() {
            Some(Token::End) | None => Ok(()),
            Some(_) => Err(self.mistake("an operator or the end of the line is expected")),
        }
    }

    /// The name of `name = …`, if that is what stands here.
    fn name_of_binding(&mut self) -> Option<String> {
        let (Some((Token::Name(name), ..)), Some((Token::Symbol('='), ..))) =
            (self.tokens.get(self.at), self.tokens.get(self.at + 1))
        else {
            return None;
        };
        let name = name.clone();
        self.at += 2;
        Some(name)
    }

    fn sum(&mut self) -> Result<Expression, Mistake> {
        self.operators(&['+', '-'], |parser| {
            parser.operators(&['*', '/'], Parser::factor)
        })
    }

    /// Operands with operators between them, grouped to the left.
    fn operators(
        &mut self,
        symbols: &[char],
        operand: fn(&mut Parser) -> Result<Expression, Mistake>,
    ) -> Result<Expression, Mistake> {
        let mut left = operand(self)?;
        loop {
            let Some(symbol) = symbols.iter().find(|symbol| self.take(**symbol)) else {
                return Ok(left);
            };
            let position = left.position;
            let arguments = vec![left, operand(self)?];
            left = Expression {
                position,
                end: self.end(),
                kind: Kind::Call(symbol.to_string(), arguments),
            };
        }
    }

    fn factor(&mut self) -> Result<Expression, Mistake> {
        deep(|| {
            let position = self.position();
            let kind = match self.peek().cloned() {
                Some(Token::Number(value)) => {
                    self.at += 1;
                    Kind::Number(value)
                }
                Some(Token::Name(name)) => {
                    self.at += 1;
                    match self.take('(') {
                        true => Kind::Call(name, self.arguments()?),
                        false => Kind::Name(name),
                    }
                }
                Some(Token::Symbol('-')) => {
                    self.at += 1;
                    Kind::Call("neg".to_string(), vec![self.factor()?])
                }
                Some(Token::Symbol('(')) => {
                    self.at += 1;
                    let inner = self.sum()?;
                    return match self.take(')') {
                        true => Ok(inner),
                        false => Err(self.mistake("`)` is expected")),
                    };
                }
                Some(Token::Symbol(_) | Token::End) | None => {
                    return Err(self.mistake("a number, a name or `(` is expected"));
                }
            };
            let end = self.end();
            Ok(Expression {
                position,
                end,
                kind,
            })
        })
    }

    /// The arguments of a call, behind its `(`.
    fn arguments(&mut self) -> Result<Vec<Expression>, Mistake> {
        let mut arguments = vec![self.sum()?];
        while self.take(',') {
            arguments.push(self.sum()?);
        }
        match self.take(')') {
            true => Ok(arguments),
            false => Err(self.mistake("`,` or `)` is expected")),
        }
    }
}
