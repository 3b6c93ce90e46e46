//! The parser of commands, which follows from their table.

use super::Parser;
use crate::ir::{
    Combined, Command, Destination, FunctionId, Gather, HostAccess, Level, Members, Stays, Sums,
    TableCommand, Type, command_table, drop_commands,
};
use nova_core::{ErrorKind, Scalar, ScalarOperation, SumId, Type as CoreType};
use nova_diag::{Place, deep};
use nova_syntax::DatumId;
use std::sync::Arc;

/// Reads the items of a form.
type Rule = for<'a> fn(&mut Parser<'a>, DatumId, &'a [DatumId]) -> Option<Command>;

/// Reads an operand of a kind from the head of the items, and removes it from there.
macro_rules! read {
    (Declared $p:ident $at:ident $items:ident) => { $p.binding($at, $items) };
    (Counter $p:ident $at:ident $items:ident) => {
        $p.next($at, $items)
            .and_then(|id| $p.declare(id, Type::Scalar(Scalar::I64), None))
    };
    (Variable $p:ident $at:ident $items:ident) => {
        $p.next($at, $items).and_then(|id| $p.variable(id))
    };
    (Variables $p:ident $at:ident $items:ident) => {
        $p.next($at, $items).and_then(|id| $p.variables(id))
    };
    (Expression $p:ident $at:ident $items:ident) => {
        $p.next($at, $items).and_then(|id| $p.expression(id))
    };
    (Address $p:ident $at:ident $items:ident) => { read!(Expression $p $at $items) };
    (Optional $p:ident $at:ident $items:ident) => {
        match $items.is_empty() {
            true => Some(None),
            false => read!(Expression $p $at $items).map(Some),
        }
    };
    (Expressions $p:ident $at:ident $items:ident) => {
        $p.next($at, $items).and_then(|id| $p.arguments(id))
    };
    (Attribute $p:ident $at:ident $items:ident) => {
        $p.next($at, $items).and_then(|id| ReadAttribute::read($p, id))
    };
    (Place $p:ident $at:ident $items:ident) => { $p.optional_place($items) };
    (List $p:ident $at:ident $items:ident) => {
        $p.next($at, $items).and_then(|id| $p.list(id))
    };
    (Else $p:ident $at:ident $items:ident) => {
        match $items.is_empty() {
            true => Some(Vec::new()),
            false => read!(List $p $at $items),
        }
    };
    (Lists $p:ident $at:ident $items:ident) => {
        std::mem::take($items).iter().map(|list| $p.list(*list)).collect::<Option<_>>()
    };
    (Body $p:ident $at:ident $items:ident) => { $p.commands(std::mem::take($items)) };
}

macro_rules! define_rules {
    ($($word:literal [$($form:tt)*]
        $($field:ident: $kind:ident $(($($facts:tt)*))?),*;)*) => {
        /// Every form of a command.
        const COMMANDS: &[(&str, Rule)] = &[$(($word, |p, at, mut items| {
            let items = &mut items;
            $(let $field = read!($kind p at items)?;)*
            p.end(at, items)?;
            Some($($form)*)
        })),*];
    };
}

command_table!(define_rules);

/// A constant of a command that can be read from the text.
trait ReadAttribute: Sized {
    fn read(parser: &mut Parser, id: DatumId) -> Option<Self>;
}

macro_rules! attributes {
    ($($ty:ty: $read:expr;)*) => {
        $(impl ReadAttribute for $ty {
            fn read(parser: &mut Parser, id: DatumId) -> Option<Self> {
                $read(parser, id)
            }
        })*
    };
}

attributes! {
    u32: |p: &mut Parser, id| p.text.index(id);
    Scalar: |p: &mut Parser, id| p.text.scalar(id);
    ScalarOperation: Parser::operation;
    ErrorKind: |p: &mut Parser, id| p.text.error_kind(id);
    Combined: Parser::combined;
    Level: Parser::level;
    FunctionId: Parser::function_id;
    SumId: |p: &mut Parser, id| p.text.index(id).map(SumId);
    Sums: |p: &mut Parser, id| p.sums(id);
    Members: |p: &mut Parser, id| p.text.members(id);
    CoreType: |p: &mut Parser, id| p.text.core_type(id);
    Arc<[u8]>: |p: &mut Parser, id| p.text.bytes(id);
    Arc<str>: |p: &mut Parser, id| p.text.string(id);
}

impl<'a> Parser<'a> {
    /// Reads a list of sums.
    fn sums(&mut self, id: DatumId) -> Option<Sums> {
        let items = self.text.items(id)?;
        let sums = items.iter().map(|item| self.text.index(*item).map(SumId));
        sums.collect()
    }

    /// Reads a sequence of commands.
    pub(super) fn commands(&mut self, items: &'a [DatumId]) -> Option<Vec<Command>> {
        let mut commands = Vec::with_capacity(items.len());
        for item in items {
            match deep(|| self.command(*item)) {
                Some(command) => commands.push(command),
                None => {
                    drop_commands(commands);
                    return None;
                }
            }
        }
        Some(commands)
    }

    fn command(&mut self, id: DatumId) -> Option<Command> {
        let Some((word, items)) = self.text.data.form(id) else {
            return self.text.error(id, "a command is expected here");
        };
        match COMMANDS.iter().find(|c| c.0 == word) {
            Some((_, rule)) => rule(self, id, items),
            None => self.text.error(id, "there is no such command"),
        }
    }

    /// `(do COMMAND …)`.
    fn list(&mut self, id: DatumId) -> Option<Vec<Command>> {
        match self.text.data.form(id) {
            Some(("do", items)) => self.commands(items),
            Some(_) | None => self.text.error(id, "`(do …)` is expected here"),
        }
    }

    /// Removes the first of the items of a form.
    fn next(&mut self, at: DatumId, items: &mut &'a [DatumId]) -> Option<DatumId> {
        let Some((first, rest)) = items.split_first() else {
            return self.text.error(at, "this form takes more items");
        };
        *items = rest;
        Some(*first)
    }

    /// Reports items that are left over.
    fn end(&mut self, at: DatumId, items: &[DatumId]) -> Option<()> {
        match items {
            [] => Some(()),
            rest => self
                .text
                .error(at, format!("this form takes {} items less", rest.len())),
        }
    }

    /// Reads a place at the head of the items. Without a text there is none.
    fn optional_place(&mut self, items: &mut &'a [DatumId]) -> Option<Place> {
        let place = match *items {
            [first, rest @ ..] if self.text.data.as_text(*first).is_some() => {
                *items = rest;
                Some(*first)
            }
            _others => None,
        };
        self.text.place(place)
    }
}
