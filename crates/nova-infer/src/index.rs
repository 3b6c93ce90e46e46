//! The index of a program for editors: what names stand for, and types on request.
//!
//! The index keeps the tables of an inference that would be dropped otherwise. It is made only where
//! [`crate::infer_with_index`] asks for it. A type becomes text when it is asked for. The names are those of the
//! program as it is written, before `mu`s move over their lambdas; types are found by their places.

use crate::builtins::BuiltinId;
use crate::declarations::Declarations;
use crate::inference::Inference;
use crate::resolve::{Resolution, Resolved};
use crate::scheme::Scheme;
use crate::show::Show;
use crate::types::{SumDeclarationId, Ty, Types};
use nova_diag::{FileId, Span};
use nova_syntax::ast::{ExpressionId, Name, Program};
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// The tables that an inference leaves.
pub(crate) struct Inferred {
    types: Types,
    /// The type of each expression, with its place.
    expressions: Vec<(Span, Ty)>,
    /// The type of each binding, by the place of its pattern.
    bindings: HashMap<Span, Scheme>,
    definitions: Vec<Option<Scheme>>,
}

impl Inferred {
    /// Takes the tables of an inference that has ended.
    pub fn of(inference: Inference<'_>) -> Self {
        let source = inference.source;
        let expressions = source.program.arena.iter().map(|e| e.span);
        let bindings = source.resolved.bindings.iter().map(|b| b.span);
        Inferred {
            expressions: expressions.zip(inference.expressions).collect(),
            bindings: bindings.zip(inference.bindings).collect(),
            definitions: inference.definitions,
            types: inference.solver.types,
        }
    }
}

/// A type as users read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeText {
    /// The type as source.
    pub text: String,
    /// Its variables that stand for some types only, in words: `'a` with "a number".
    pub classes: Vec<(String, &'static str)>,
}

impl TypeText {
    fn plain(text: String) -> Self {
        let classes = Vec::new();
        TypeText { text, classes }
    }
}

impl fmt::Display for TypeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        for (index, (variable, class)) in self.classes.iter().enumerate() {
            let before = if index == 0 { "  where" } else { "," };
            write!(f, "{before} {variable} is {class}")?;
        }
        Ok(())
    }
}

/// The thing that a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Referent {
    /// A binding inside an expression, or an input.
    Local(u32),
    /// A definition of the program, by its position.
    Definition(u32),
    /// A foreign function.
    Foreign(u32),
    /// A sum and its constructor. The constructor of its nodes is the same.
    Constructor(u32, u32),
    /// A declared type, by its position in the program. Its node type is the same.
    Type(u32),
    /// A built-in function.
    Builtin(&'static str),
}

/// The names and types of a program.
pub struct Index {
    resolved: Resolved,
    /// The type of each expression, in the order of their places, outer ones first.
    expressions: Vec<(Span, Ty)>,
    /// The types of the declared names.
    schemes: HashMap<Referent, Scheme>,
    /// The other names of built-ins.
    aliases: HashMap<Referent, BuiltinId>,
    declarations: Declarations,
    /// Following bound variables shortens their chains.
    types: RefCell<Types>,
}

impl Index {
    /// Makes the index of a program that was resolved and whose types were inferred.
    pub(crate) fn new(
        program: &Program,
        declarations: Declarations,
        resolved: Resolved,
        inferred: Inferred,
    ) -> Index {
        let mut schemes = HashMap::new();
        for (number, binding) in (0..).zip(&resolved.bindings) {
            let scheme = inferred.bindings.get(&binding.span);
            schemes.extend(scheme.map(|scheme| (Referent::Local(number), scheme.clone())));
        }
        for (number, scheme) in (0..).zip(inferred.definitions) {
            schemes.extend(scheme.map(|scheme| (Referent::Definition(number), scheme)));
        }
        for (number, foreign) in (0..).zip(&declarations.foreign_types) {
            let scheme = Scheme::monomorphic(foreign.ty);
            schemes.insert(Referent::Foreign(number), scheme);
        }
        let mut expressions = inferred.expressions;
        let unasked = inferred.types.unasked();
        expressions.retain(|(_, ty)| *ty != unasked);
        expressions.sort_by_key(|(span, _)| order(span));
        Index {
            aliases: aliases(program, &resolved),
            resolved,
            expressions,
            schemes,
            declarations,
            types: RefCell::new(inferred.types),
        }
    }

    /// Returns what an expression that is a name stands for.
    pub fn referent(&self, name: ExpressionId) -> Option<Referent> {
        let alias = self.resolved.aliases.get(&name).copied();
        match alias.unwrap_or(self.resolved.names[name.index()]) {
            Resolution::Unbound => None,
            Resolution::Binding(binding) => Some(Referent::Local(binding.0)),
            Resolution::Definition(definition) => Some(Referent::Definition(definition)),
            Resolution::Builtin(builtin) => Some(Referent::Builtin(&builtin.get().name)),
            Resolution::Constructor(sum, number) => Some(self.constructor_of(sum, number)),
            Resolution::Foreign(foreign) => Some(Referent::Foreign(foreign)),
        }
    }

    /// Returns the constructor of a name.
    pub fn constructor(&self, name: &str) -> Option<Referent> {
        let (sum, number) = self.declarations.constructor(name)?;
        Some(self.constructor_of(sum, number))
    }

    /// Returns a constructor. The constructor of a node is that of its datum.
    fn constructor_of(&self, sum: u32, number: u32) -> Referent {
        let of = self.declarations.sums[sum as usize].node_of;
        Referent::Constructor(of.map_or(sum, |of| of.0), number)
    }

    /// Returns the names and the patterns' places of all bindings. The bindings of one expression have numbers
    /// without gaps.
    pub fn bindings(&self) -> impl Iterator<Item = (&Arc<str>, Span)> {
        let bindings = self.resolved.bindings.iter();
        bindings.map(|binding| (&binding.name, binding.span))
    }

    /// Returns the number of the first binding of an expression that binds.
    pub fn first_binding(&self, of: ExpressionId) -> u32 {
        self.resolved.first_binding[of.index()].0
    }

    /// Returns the number of the first input of an entry.
    pub fn first_input(&self, entry: usize) -> u32 {
        self.resolved.inputs[entry].0
    }

    /// Returns the innermost expression at an offset and its type, if it has one.
    pub fn expression_at(&self, file: FileId, offset: u32) -> Option<(Span, TypeText)> {
        let is_before = |span: &Span| (span.file, span.start) <= (file, offset);
        let upto = self
            .expressions
            .partition_point(|(span, _)| is_before(span));
        let before = self.expressions[..upto].iter().rev();
        let mut before = before.take_while(|(span, _)| span.file == file);
        let (span, ty) = before.find(|(span, _)| offset <= span.end)?;
        self.known(*ty).map(|text| (*span, text))
    }

    /// Returns the type of the expression at a place, as it is used there.
    pub fn type_at(&self, place: Span) -> Option<TypeText> {
        let all = &self.expressions;
        let found = all.binary_search_by_key(&order(&place), |(span, _)| order(span));
        self.known(self.expressions[found.ok()?].1)
    }

    /// Returns the type of a name as it is declared.
    pub fn type_of(&self, referent: Referent) -> Option<TypeText> {
        if let Some(builtin) = self.aliases.get(&referent) {
            return Some(TypeText::plain(builtin.get().shown_type()));
        }
        match referent {
            Referent::Builtin(name) => {
                let builtin = BuiltinId::by_name(name)?;
                Some(TypeText::plain(builtin.get().shown_type()))
            }
            Referent::Constructor(sum, constructor) => self.constructor_type(sum, constructor),
            Referent::Type(_) => None,
            Referent::Local(_) | Referent::Definition(_) | Referent::Foreign(_) => {
                self.known(self.schemes.get(&referent)?.ty)
            }
        }
    }

    /// Returns the text of a type. A type with an error has none.
    fn known(&self, ty: Ty) -> Option<TypeText> {
        let mut types = self.types.borrow_mut();
        if types.is_error(ty) {
            return None;
        }
        let (text, classes) = Show::new(&mut types, &self.declarations).scheme(ty);
        Some(TypeText { text, classes })
    }

    fn constructor_type(&self, sum: u32, constructor: u32) -> Option<TypeText> {
        let declaration = self.declarations.sums.get(sum as usize)?;
        let constructor = declaration.constructors.get(constructor as usize)?;
        let ty = {
            let mut types = self.types.borrow_mut();
            let parameters = declaration.parameters.iter();
            let parameters = parameters.map(|p| types.variable(*p)).collect();
            let whole = types.sum(SumDeclarationId(sum), parameters);
            match constructor.constant {
                true => whole,
                false => types.function(constructor.payload, whole),
            }
        };
        self.known(ty)
    }

    /// Returns the constructors with their names.
    pub fn constructors(&self) -> impl Iterator<Item = (&Name, Referent)> {
        let sums = (0..).zip(&self.declarations.sums);
        let own = sums.filter(|(_, sum)| sum.node_of.is_none());
        own.flat_map(|(number, sum)| {
            let each = (0..).zip(&sum.constructors);
            each.map(move |(k, c)| (&c.name, Referent::Constructor(number, k)))
        })
    }

    /// Returns the foreign functions with their names.
    pub fn foreigns(&self) -> impl Iterator<Item = (&Name, Referent)> {
        let each = (0..).zip(&self.declarations.foreign_types);
        each.map(|(k, foreign)| (&foreign.name, Referent::Foreign(k)))
    }
}

/// Returns the key by which expressions are sorted.
fn order(span: &Span) -> (FileId, u32, Reverse<u32>) {
    (span.file, span.start, Reverse(span.end))
}

/// Returns the bindings and definitions that only give built-ins other names.
fn aliases(program: &Program, resolved: &Resolved) -> HashMap<Referent, BuiltinId> {
    let mut found = HashMap::new();
    for (id, alias) in &resolved.aliases {
        if let (Resolution::Builtin(builtin), Resolution::Binding(binding)) =
            (resolved.names[id.index()], *alias)
        {
            found.insert(Referent::Local(binding.0), builtin);
        }
    }
    for (number, definition) in (0..).zip(&program.definitions) {
        if let Resolution::Builtin(builtin) = resolved.names[definition.value.index()] {
            found.insert(Referent::Definition(number), builtin);
        }
    }
    found
}
