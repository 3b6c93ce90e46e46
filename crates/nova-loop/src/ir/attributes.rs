//! The text of constants in commands.

use super::{Combined, FunctionId, Level, Members, Program, Sums};
use nova_core::forms::write::{print_members, print_type};
use nova_core::{ErrorKind, Scalar, ScalarOperation, SumId, Type as CoreType};
use nova_syntax::datum::write_text;
use std::sync::Arc;

/// A constant of a command: a number, a type, a word, a text.
pub trait Attribute {
    /// Returns its text.
    fn text(&self, program: &Program) -> String;
}

/// The levels and their keywords.
pub(crate) const LEVELS: [(Level, &str); 8] = [
    (Level::Sequential, "sequential"),
    (Level::Grid, "grid"),
    (Level::Block, "block"),
    (Level::Thread, "thread"),
    (Level::Vector, "vector"),
    (Level::Independent, "independent"),
    (Level::Unrolled, "unrolled"),
    (Level::Rank, "rank"),
];

/// Defines the texts of types whose text needs no program.
macro_rules! attributes {
    ($($ty:ty: |$value:ident| $text:expr;)*) => {
        $(impl Attribute for $ty {
            fn text(&self, _program: &Program) -> String {
                let $value = self;
                $text
            }
        })*
    };
}

attributes! {
    u32: |number| number.to_string();
    Scalar: |scalar| scalar.info().short.to_string();
    ScalarOperation: |operation| operation.short().to_string();
    ErrorKind: |error| error.info().word.to_string();
    Combined: |into| into.name().to_string();
    Level: |level| LEVELS.iter().find(|l| l.0 == *level).map_or("", |l| l.1).to_string();
    SumId: |sum| sum.0.to_string();
    Sums: |sums| print_sums(sums);
    Members: |members| print_members(members);
    CoreType: |ty| print_type(ty);
    Arc<[u8]>: |text| write_text(text);
    Arc<str>: |text| write_text(text.as_bytes());
}

impl Attribute for FunctionId {
    fn text(&self, program: &Program) -> String {
        let function = program.functions.get(self.index());
        write_text(function.map_or("?", |f| &f.name).as_bytes())
    }
}

/// Returns the text of a list of sums: `[3 4]`.
fn print_sums(sums: &[SumId]) -> String {
    let numbers: Vec<String> = sums.iter().map(|sum| sum.0.to_string()).collect();
    format!("[{}]", numbers.join(" "))
}
