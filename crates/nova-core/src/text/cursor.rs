//! A place in the text of a value, and what is read from there: tokens, and the values without components.

use super::scalar::{Wrong, parse_scalar};
use crate::{Scalar, ScalarValue};
use std::fmt;
use std::str::FromStr;

/// The reason why a text is no value of its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueError {
    /// The byte of the text at which the error is noticed.
    pub offset: usize,
    /// The error message.
    pub message: String,
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.message, self.offset)
    }
}

impl std::error::Error for ValueError {}

/// A place in a text.
pub struct Cursor<'a> {
    /// The whole text.
    pub text: &'a str,
    /// The offset of the place.
    pub at: usize,
}

impl<'a> Cursor<'a> {
    /// Parses `(reshape (2, 0) [`: the extents of an array, which its rows do not show.
    pub fn extents(&mut self, rank: u32) -> Result<Vec<usize>, ValueError> {
        const FORM: &str = "expected [, or (reshape (n, m) [";
        self.expect('(', FORM)?;
        self.skip_space();
        let start = self.at;
        if self.token() != "reshape" {
            self.at = start;
            return Err(self.error(FORM));
        }
        self.skip_space();
        self.expect('(', FORM)?;
        let mut extents = Vec::new();
        for k in 0..rank {
            self.skip_space();
            if k > 0 {
                self.expect(',', &format!("expected {rank} extents"))?;
                self.skip_space();
            }
            let start = self.at;
            let extent = i64::from_str(self.token()).ok();
            match extent.and_then(|extent| usize::try_from(extent).ok()) {
                Some(extent) => extents.push(extent),
                None => {
                    self.at = start;
                    return Err(self.error("expected an extent, a number from 0 on"));
                }
            }
        }
        self.skip_space();
        self.expect(')', &format!("expected {rank} extents"))?;
        self.skip_space();
        self.expect('[', "expected [")?;
        Ok(extents)
    }

    /// Parses `nil` or `()`.
    pub fn unit(&mut self) -> Result<(), ValueError> {
        self.skip_space();
        if self.peek() == Some('(') {
            self.at += 1;
            self.expect(')', "expected )")?;
            return Ok(());
        }
        let start = self.at;
        if self.token() != "nil" {
            self.at = start;
            return Err(self.error("expected nil"));
        }
        Ok(())
    }

    /// Parses a scalar.
    pub fn scalar(&mut self, scalar: Scalar) -> Result<ScalarValue, ValueError> {
        let start = self.at;
        let token = self.token();
        let end = self.at;
        self.at = start;
        if token.is_empty() {
            return Err(match self.peek() {
                Some(',') => self.error("elements are separated by spaces"),
                found => self.error(&format!(
                    "expected a value of type {scalar}, found {}",
                    found.map_or("the end".to_string(), String::from)
                )),
            });
        }
        let value = match parse_scalar(token, scalar) {
            Ok(value) => value,
            Err(Wrong::Form) => {
                return Err(self.error(&format!("{token} is no value of type {scalar}")));
            }
            Err(Wrong::Range) => return Err(self.error(&format!("{token} does not fit {scalar}"))),
        };
        self.at = end;
        Ok(value)
    }

    /// Parses a text, which is only allowed for `vector uint8`.
    pub fn string(&mut self) -> Result<Vec<u8>, ValueError> {
        let start = self.at;
        let mut bytes = Vec::new();
        self.at += 1;
        loop {
            let rest = self.text.as_bytes().get(self.at..);
            match rest.unwrap_or_default() {
                [] | [b'\n', ..] => {
                    self.at = start;
                    return Err(self.error("the text is not closed"));
                }
                [b'"', ..] => {
                    self.at += 1;
                    return Ok(bytes);
                }
                [b'\\', b'x', high, low, ..] => match (hex(*high), hex(*low)) {
                    (Some(high), Some(low)) => {
                        bytes.push(high * 16 + low);
                        self.at += 4;
                    }
                    (_, _) => return Err(self.error("a bad escape")),
                },
                [b'\\', escape, ..] => {
                    bytes.push(match escape {
                        b'n' => b'\n',
                        b't' => b'\t',
                        b'\\' => b'\\',
                        b'"' => b'"',
                        _ => return Err(self.error("a bad escape")),
                    });
                    self.at += 2;
                }
                [byte, ..] => {
                    bytes.push(*byte);
                    self.at += 1;
                }
            }
        }
    }

    /// Returns an error at this place.
    pub fn error(&self, message: &str) -> ValueError {
        ValueError {
            offset: self.at,
            message: message.to_string(),
        }
    }

    /// Returns the next character.
    pub fn peek(&self) -> Option<char> {
        match self.text.as_bytes().get(self.at) {
            Some(byte) if byte.is_ascii() => Some(char::from(*byte)),
            _ => self.text.get(self.at..)?.chars().next(),
        }
    }

    /// Skips white space and this character.
    pub fn expect(&mut self, expected: char, message: &str) -> Result<(), ValueError> {
        self.skip_space();
        if self.peek() != Some(expected) {
            return Err(self.error(message));
        }
        self.at += expected.len_utf8();
        Ok(())
    }

    /// Returns the characters up to the next space or separator, perhaps none.
    pub fn token(&mut self) -> &'a str {
        let rest = self.text.get(self.at..).unwrap_or("");
        let separates = |c: char| {
            matches!(c, '(' | ')' | '[' | ']' | ',' | ':' | ';' | '"') || c.is_whitespace()
        };
        let end = rest.find(separates).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// Skips white space and comments to the end of the line.
    pub fn skip_space(&mut self) {
        loop {
            // Most values have no space here, or one.
            let bytes = self.text.as_bytes();
            self.at += usize::from(bytes.get(self.at) == Some(&b' '));
            if matches!(bytes.get(self.at), Some(b'!'..=b':' | b'<'..=b'~')) {
                return;
            }
            let rest = self.text.get(self.at..).unwrap_or("");
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            if !trimmed.starts_with(';') {
                return;
            }
            self.at += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|d| d as u8)
}
