//! The structure of a program as bytes: all that decides its meaning and the messages about it, without the
//! lines and columns of its source. Programs of different structure have different bytes.
//!
//! Every node is written in the order of the arenas, with the ids of its parts. One bit of a place is
//! kept: whether it is in a front end's file, since there are fewer warnings about what stands there.

use nova_diag::{SourceMap, Span};
use nova_syntax::ast::{
    Arm, Definition, Entry, Expression, ExpressionId, ExpressionKind, Foreign, Name, NodeBody,
    Number, NumberValue, Pattern, PatternKind, Program, Suffix, TypeDefinition, TypeDefinitionKind,
    TypeId, TypeKind, TypeNode,
};

/// Returns the structure of a program that was read without errors. Its imports are part of it.
pub fn structure(program: &Program, sources: &SourceMap) -> Vec<u8> {
    let Program {
        types,
        foreigns,
        // Their definitions are in the program.
        imports: _,
        definitions,
        entries,
        type_arena,
        arena,
        // A program without errors has lost nothing.
        lost: _,
    } = program;
    let mut w = Writer {
        bytes: Vec::with_capacity(16 * arena.len()),
        is_front_ends: sources
            .ids()
            .map(|file| sources.source(file).is_positions())
            .collect(),
    };
    w.list(type_arena, Writer::type_node);
    w.list(arena, Writer::expression);
    w.list(types, Writer::type_definition);
    w.list(foreigns, Writer::foreign);
    w.list(definitions, Writer::definition);
    w.list(entries, Writer::entry);
    w.bytes
}

struct Writer {
    bytes: Vec<u8>,
    /// By the number of a source, true if a front end gives positions in it.
    is_front_ends: Vec<bool>,
}

impl Writer {
    fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    fn word(&mut self, word: u32) {
        self.bytes.extend(word.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend((bytes.len() as u64).to_le_bytes());
        self.bytes.extend(bytes);
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn list<T>(&mut self, items: &[T], write: impl Fn(&mut Self, &T)) {
        self.word(items.len() as u32);
        items.iter().for_each(|item| write(self, item));
    }

    fn maybe<T>(&mut self, item: Option<&T>, write: impl Fn(&mut Self, &T)) {
        self.byte(u8::from(item.is_some()));
        if let Some(item) = item {
            write(self, item);
        }
    }

    fn span(&mut self, span: &Span) {
        let is_front_ends = self.is_front_ends.get(span.file.index());
        self.byte(u8::from(is_front_ends.copied().unwrap_or(false)));
    }

    fn name(&mut self, name: &Name) {
        self.span(&name.span);
        self.text(&name.text);
    }

    fn id(&mut self, id: &ExpressionId) {
        self.word(id.0);
    }

    fn ty(&mut self, id: &TypeId) {
        self.word(id.0);
    }

    fn type_definition(&mut self, definition: &TypeDefinition) {
        self.span(&definition.span);
        self.name(&definition.name);
        self.list(&definition.parameters, Writer::name);
        match &definition.kind {
            TypeDefinitionKind::Synonym(ty) => {
                self.byte(0);
                self.ty(ty);
            }
            TypeDefinitionKind::Sum(constructors) => {
                self.byte(1);
                self.list(constructors, Writer::constructor);
            }
        }
    }

    fn constructor(&mut self, (name, ty): &(Name, TypeId)) {
        self.name(name);
        self.ty(ty);
    }

    fn foreign(&mut self, foreign: &Foreign) {
        self.span(&foreign.span);
        self.text(foreign.kind.word().unwrap_or(""));
        self.name(&foreign.name);
        self.ty(&foreign.ty);
    }

    fn definition(&mut self, definition: &Definition) {
        self.span(&definition.span);
        self.name(&definition.name);
        self.id(&definition.value);
        self.byte(u8::from(definition.library));
    }

    fn entry(&mut self, entry: &Entry) {
        self.span(&entry.span);
        self.name(&entry.name);
        self.list(&entry.inputs, Writer::constructor);
        self.id(&entry.body);
        self.byte(u8::from(entry.explicit));
    }

    fn type_node(&mut self, node: &TypeNode) {
        self.span(&node.span);
        match &node.kind {
            TypeKind::Name(name) => {
                self.byte(0);
                self.text(name);
            }
            TypeKind::Variable(name) => {
                self.byte(1);
                self.text(name);
            }
            TypeKind::Tuple(types) => {
                self.byte(2);
                self.list(types, Writer::ty);
            }
            TypeKind::Vector(rank, element) => {
                self.byte(3);
                self.word(*rank);
                self.ty(element);
            }
            TypeKind::Lanes(count, element) => {
                self.byte(4);
                self.word(*count);
                self.ty(element);
            }
            TypeKind::Sum(constructors) => {
                self.byte(5);
                self.list(constructors, Writer::constructor);
            }
            TypeKind::Wrong => self.byte(6),
            TypeKind::Function(from, to) => {
                self.byte(7);
                self.ty(from);
                self.ty(to);
            }
            TypeKind::Apply(name, arguments) => {
                self.byte(8);
                self.name(name);
                self.list(arguments, Writer::ty);
            }
        }
    }

    fn pattern(&mut self, pattern: &Pattern) {
        self.span(&pattern.span);
        self.maybe(pattern.annotation.as_ref(), Writer::ty);
        match &pattern.kind {
            PatternKind::Name(name) => {
                self.byte(0);
                self.text(name);
            }
            PatternKind::Wildcard => self.byte(1),
            PatternKind::Tuple(elements) => {
                self.byte(2);
                nova_diag::deep(|| self.list(elements, Writer::pattern));
            }
        }
    }

    fn number(&mut self, number: &Number) {
        let (kind, width) = match number.suffix {
            None => (0, 0),
            Some(Suffix::Double) => (1, 0),
            Some(Suffix::Float) => (2, 0),
            Some(Suffix::Signed(width)) => (3, width),
            Some(Suffix::Unsigned(width)) => (4, width),
        };
        self.byte(kind);
        self.byte(width);
        match &number.value {
            NumberValue::Integer(None) => self.byte(0),
            NumberValue::Integer(Some(value)) => {
                self.byte(1);
                self.bytes.extend(value.to_le_bytes());
            }
            NumberValue::Decimal(text) => {
                self.byte(2);
                self.text(text);
            }
        }
    }

    fn expression(&mut self, expression: &Expression) {
        self.span(&expression.span);
        match &expression.kind {
            ExpressionKind::Name(name) => {
                self.byte(0);
                self.text(name);
            }
            ExpressionKind::Number(number) => {
                self.byte(1);
                self.number(number);
            }
            ExpressionKind::Bool(value) => {
                self.byte(2);
                self.byte(u8::from(*value));
            }
            ExpressionKind::Nil => self.byte(3),
            ExpressionKind::Text(bytes) => {
                self.byte(4);
                self.bytes(bytes);
            }
            ExpressionKind::Vector(elements) => {
                self.byte(5);
                self.list(elements, Writer::id);
            }
            ExpressionKind::Tuple(elements) => {
                self.byte(6);
                self.list(elements, Writer::id);
            }
            ExpressionKind::Wrong(parts) => {
                self.byte(7);
                self.list(parts, Writer::id);
            }
            ExpressionKind::Project(of, index, span) => {
                self.byte(8);
                self.span(span);
                self.id(of);
                self.word(*index);
            }
            ExpressionKind::Index(of, index) => {
                self.byte(9);
                self.id(of);
                self.id(index);
            }
            ExpressionKind::Annotate(of, ty) => {
                self.byte(10);
                self.id(of);
                self.ty(ty);
            }
            ExpressionKind::Apply(function, arguments) => {
                self.byte(11);
                self.id(function);
                self.list(arguments, Writer::id);
            }
            binder => self.binder(binder),
        }
    }

    /// Writes an expression that binds names or chooses.
    fn binder(&mut self, kind: &ExpressionKind) {
        match kind {
            ExpressionKind::Lambda {
                parameters,
                result,
                body,
            } => {
                self.byte(12);
                self.list(parameters, Writer::pattern);
                self.maybe(result.as_ref(), Writer::ty);
                self.id(body);
            }
            ExpressionKind::Let { bindings, body } => {
                self.byte(13);
                self.list(bindings, Writer::binding);
                self.id(body);
            }
            ExpressionKind::Mu { name, ty, value } => {
                self.byte(14);
                self.name(name);
                self.maybe(ty.as_ref(), Writer::ty);
                self.id(value);
            }
            ExpressionKind::If {
                condition,
                then,
                otherwise,
            } => {
                self.byte(15);
                [condition, then, otherwise]
                    .into_iter()
                    .for_each(|part| self.id(part));
            }
            ExpressionKind::Case { scrutinee, arms } => {
                self.byte(16);
                self.id(scrutinee);
                self.list(arms, Writer::arm);
            }
            ExpressionKind::Foreach {
                datum,
                links,
                nodes,
            } => {
                self.byte(17);
                self.id(datum);
                self.list(&links[..], Writer::pattern);
                self.list(nodes, Writer::node);
            }
            ExpressionKind::Up { body, links } => {
                self.byte(18);
                self.id(body);
                self.list(links, Writer::binding);
            }
            ExpressionKind::Down(datum) => {
                self.byte(19);
                self.id(datum);
            }
            // These are written by `expression`.
            ExpressionKind::Name(_)
            | ExpressionKind::Number(_)
            | ExpressionKind::Bool(_)
            | ExpressionKind::Nil
            | ExpressionKind::Text(_)
            | ExpressionKind::Vector(_)
            | ExpressionKind::Tuple(_)
            | ExpressionKind::Wrong(_)
            | ExpressionKind::Project(..)
            | ExpressionKind::Index(..)
            | ExpressionKind::Annotate(..)
            | ExpressionKind::Apply(..) => {}
        }
    }

    fn binding(&mut self, (pattern, value): &(Pattern, ExpressionId)) {
        self.pattern(pattern);
        self.id(value);
    }

    fn node(&mut self, node: &NodeBody) {
        self.pattern(&node.pattern);
        self.maybe(node.ty.as_ref(), Writer::name);
        self.id(&node.body);
    }

    fn arm(&mut self, arm: &Arm) {
        self.span(&arm.span);
        self.maybe(arm.constructor.as_ref(), Writer::name);
        self.maybe(arm.payload.as_ref(), Writer::pattern);
        self.id(&arm.body);
    }
}

#[cfg(test)]
mod tests;
