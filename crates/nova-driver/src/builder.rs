//! Builder of programs from calls, with places in a front end's own source.
//!
//! ```
//! use nova_driver::{Compiler, Options, Position, ProgramBuilder, Source, Typed};
//!
//! let builder = ProgramBuilder::new("scaled");
//! let file = builder.source("sheet.calc", "total = 2 * x\n");
//! let at = builder.at_position(file, Position {
//!     end: Some((1, 14)),
//!     construct: Some("*".into()),
//!     ..Position::start(1, 9)
//! });
//! let x = at.input("x", at.vector_type(at.named_type("double")));
//! let scale = at.call("*", &[at.double(2.0)]);
//! at.value(at.call("map", &[scale, x]));
//!
//! let compiler = Compiler::new(Options::default());
//! let loaded = compiler.open(Source::Built(Box::new(builder)), &[])?;
//! let value = loaded.library.call(0, &[vec![1.0, 2.5].into_value()])?;
//! assert_eq!(Vec::<f64>::from_value(&value), Some(vec![2.0, 5.0]));
//! # Ok::<(), nova_driver::Failure>(())
//! ```
//!
//! All methods take `&self`, so that calls nest. The result is the same syntax tree that the parser
//! makes of text. Nothing is checked before the program is compiled.

use nova_diag::{FileId, Position, SourceMap, Span};
use nova_syntax::ast::{
    Arm, Definition, Entry, ExpressionId, ExpressionKind, Foreign, ForeignKind, Import, Name,
    NodeBody, Number, NumberValue, Pattern, PatternKind, Program, Suffix, TypeDefinition,
    TypeDefinitionKind, TypeId, TypeKind,
};
use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;

/// A program under construction.
#[derive(Debug)]
pub struct ProgramBuilder {
    name: Arc<str>,
    state: RefCell<State>,
}

#[derive(Debug, Default)]
struct State {
    program: Program,
    sources: SourceMap,
    /// The inputs of the next entry.
    inputs: Vec<(Name, TypeId)>,
    /// The folder of imports, if it is not the working directory.
    folder: Option<PathBuf>,
}

/// What a builder has built.
pub(crate) struct Built {
    /// The tree, with its imports.
    pub program: Program,
    /// The sources of the front end.
    pub sources: SourceMap,
    /// The folder that imports are relative to.
    pub folder: PathBuf,
}

/// A builder at one place of a front end's source. Everything that it makes has that place.
#[derive(Clone, Copy, Debug)]
pub struct At<'a> {
    builder: &'a ProgramBuilder,
    span: Span,
}

impl ProgramBuilder {
    /// Creates an empty program. Messages call it `name`.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        ProgramBuilder {
            name: name.into(),
            state: RefCell::default(),
        }
    }

    /// Returns the program's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Adds a source of the front end; messages show its lines. `text` may be empty.
    pub fn source(&self, name: &str, text: &str) -> FileId {
        self.state.borrow_mut().sources.add_positions(name, text)
    }

    /// Returns a builder for a place in a source. Lines and columns count from 1.
    pub fn at(&self, file: FileId, line: u32, column: u32) -> At<'_> {
        self.at_position(file, Position::start(line, column))
    }

    /// Returns a builder for a part of a source, which goes from one line and column up to another, which is
    /// behind its last character. Messages mark the whole part.
    pub fn between(&self, file: FileId, start: (u32, u32), end: (u32, u32)) -> At<'_> {
        let position = Position {
            end: Some(end),
            ..Position::start(start.0, start.1)
        };
        self.at_position(file, position)
    }

    /// Returns a builder for a position in a source, which may have an end and the name of a construct.
    pub fn at_position(&self, file: FileId, position: Position) -> At<'_> {
        let span = self.state.borrow_mut().sources.position(file, position);
        At {
            builder: self,
            span,
        }
    }

    /// Names the folder that imports are relative to. Otherwise it is the working directory.
    pub fn imports_from(&self, folder: impl Into<PathBuf>) {
        self.state.borrow_mut().folder = Some(folder.into());
    }

    /// Returns what was built.
    pub(crate) fn finish(self) -> Built {
        let state = self.state.into_inner();
        Built {
            program: state.program,
            sources: state.sources,
            folder: state.folder.unwrap_or_else(|| PathBuf::from(".")),
        }
    }
}

impl At<'_> {
    /// Returns the place, for diagnostics of the front end.
    pub fn span(&self) -> Span {
        self.span
    }

    fn add(&self, kind: ExpressionKind) -> ExpressionId {
        let mut state = self.builder.state.borrow_mut();
        state.program.add(kind, self.span)
    }

    fn add_type(&self, kind: TypeKind) -> TypeId {
        let mut state = self.builder.state.borrow_mut();
        state.program.add_type(kind, self.span)
    }

    fn named(&self, name: &str) -> Name {
        Name {
            text: name.into(),
            span: self.span,
        }
    }

    /// Makes a variable, built-in, constructor or foreign function.
    pub fn name(&self, name: &str) -> ExpressionId {
        self.add(ExpressionKind::Name(name.into()))
    }

    /// Makes an integer of the number type that its use demands.
    pub fn integer(&self, value: impl Into<i128>) -> ExpressionId {
        self.number(NumberValue::Integer(Some(value.into())), None)
    }

    /// Makes an integer with a suffix, which is its type: `7u8`.
    pub fn integer_of(&self, value: impl Into<i128>, suffix: Suffix) -> ExpressionId {
        self.number(NumberValue::Integer(Some(value.into())), Some(suffix))
    }

    /// Makes a decimal number of the floating type that its use demands. See [`At::special`] for
    /// nan and infinities.
    pub fn decimal(&self, value: f64) -> ExpressionId {
        self.floating(value, None)
    }

    /// Makes a `double`.
    pub fn double(&self, value: f64) -> ExpressionId {
        self.floating(value, Some(Suffix::Double))
    }

    /// Makes a `float`.
    pub fn float(&self, value: f32) -> ExpressionId {
        if !value.is_finite() {
            return self.special(f64::from(value), "0.0f");
        }
        let text = format!("{value:?}");
        self.number(NumberValue::Decimal(text.into()), Some(Suffix::Float))
    }

    fn floating(&self, value: f64, suffix: Option<Suffix>) -> ExpressionId {
        if !value.is_finite() {
            return self.special(value, "0.0L");
        }
        self.number(NumberValue::Decimal(format!("{value:?}").into()), suffix)
    }

    /// Makes nan or an infinity. These have no literals; they are quotients by zero.
    fn special(&self, value: f64, zero: &str) -> ExpressionId {
        let suffix = match zero.ends_with('f') {
            true => Suffix::Float,
            false => Suffix::Double,
        };
        let number = |text: &str| self.number(NumberValue::Decimal(text.into()), Some(suffix));
        let numerator = match (value.is_nan(), value > 0.0) {
            (true, _) => "0.0",
            (false, true) => "1.0",
            (false, false) => "-1.0",
        };
        self.call("/", &[number(numerator), number("0.0")])
    }

    fn number(&self, value: NumberValue, suffix: Option<Suffix>) -> ExpressionId {
        self.add(ExpressionKind::Number(Number { value, suffix }))
    }

    /// Makes `true` or `false`.
    pub fn bool(&self, value: bool) -> ExpressionId {
        self.add(ExpressionKind::Bool(value))
    }

    /// Makes `nil`.
    pub fn nil(&self) -> ExpressionId {
        self.add(ExpressionKind::Nil)
    }

    /// Makes a constant vector of the bytes of a text.
    pub fn text(&self, text: &str) -> ExpressionId {
        self.bytes(text.as_bytes())
    }

    /// Makes a constant vector of bytes.
    pub fn bytes(&self, bytes: &[u8]) -> ExpressionId {
        self.add(ExpressionKind::Text(bytes.into()))
    }

    /// Makes `[e …]`.
    pub fn vector(&self, elements: &[ExpressionId]) -> ExpressionId {
        self.add(ExpressionKind::Vector(elements.to_vec()))
    }

    /// Makes `(a, b, …)`. The tuple of one element is that element; that of none is `nil`.
    pub fn tuple(&self, elements: &[ExpressionId]) -> ExpressionId {
        match elements {
            [] => self.nil(),
            [only] => *only,
            _ => self.add(ExpressionKind::Tuple(elements.to_vec())),
        }
    }

    /// Makes `(f a …)`. Without arguments, it is `f`.
    pub fn apply(&self, function: ExpressionId, arguments: &[ExpressionId]) -> ExpressionId {
        match arguments {
            [] => function,
            _ => self.add(ExpressionKind::Apply(function, arguments.to_vec())),
        }
    }

    /// Makes an application of a named function: `(map f X)`. Functions with a strategy have names too:
    /// `(map_global f X)`.
    pub fn call(&self, function: &str, arguments: &[ExpressionId]) -> ExpressionId {
        let function = self.name(function);
        self.apply(function, arguments)
    }

    /// Makes `(lambda (p …) e)`. [`At::parameter`] and [`At::typed_parameter`] give the parameters.
    pub fn lambda(&self, parameters: Vec<Pattern>, body: ExpressionId) -> ExpressionId {
        self.function(parameters, None, body)
    }

    /// Makes `(lambda (p …) : T e)`.
    pub fn typed_lambda(
        &self,
        parameters: Vec<Pattern>,
        result: TypeId,
        body: ExpressionId,
    ) -> ExpressionId {
        self.function(parameters, Some(result), body)
    }

    fn function(
        &self,
        parameters: Vec<Pattern>,
        result: Option<TypeId>,
        body: ExpressionId,
    ) -> ExpressionId {
        self.add(ExpressionKind::Lambda {
            parameters,
            result,
            body,
        })
    }

    fn pattern(&self, kind: PatternKind) -> Pattern {
        Pattern {
            kind,
            annotation: None,
            span: self.span,
        }
    }

    /// Makes a name that a parameter or a `let` binds.
    pub fn parameter(&self, name: &str) -> Pattern {
        self.pattern(PatternKind::Name(name.into()))
    }

    /// Makes a name with its type.
    pub fn typed_parameter(&self, name: &str, ty: TypeId) -> Pattern {
        self.typed_pattern(self.parameter(name), ty)
    }

    /// Makes `_`, which binds nothing.
    pub fn wildcard(&self) -> Pattern {
        self.pattern(PatternKind::Wildcard)
    }

    /// Makes a tuple pattern of at least two elements.
    pub fn tuple_pattern(&self, elements: Vec<Pattern>) -> Pattern {
        self.pattern(PatternKind::Tuple(elements))
    }

    /// Makes `(p : T)`.
    pub fn typed_pattern(&self, pattern: Pattern, ty: TypeId) -> Pattern {
        Pattern {
            annotation: Some(ty),
            ..pattern
        }
    }

    /// Makes `(let (p e) … in body)`, with the bindings in order. Without bindings, it is `body`.
    pub fn bind(&self, bindings: Vec<(Pattern, ExpressionId)>, body: ExpressionId) -> ExpressionId {
        match bindings.is_empty() {
            true => body,
            false => self.add(ExpressionKind::Let { bindings, body }),
        }
    }

    /// Makes `(mu (f : T) (lambda …))`.
    pub fn recursive(&self, name: &str, ty: Option<TypeId>, value: ExpressionId) -> ExpressionId {
        self.add(ExpressionKind::Mu {
            name: self.named(name),
            ty,
            value,
        })
    }

    /// Makes `(if c a b)`.
    pub fn conditional(
        &self,
        condition: ExpressionId,
        then: ExpressionId,
        otherwise: ExpressionId,
    ) -> ExpressionId {
        self.add(ExpressionKind::If {
            condition,
            then,
            otherwise,
        })
    }

    /// Makes `(case e arm …)`.
    pub fn case(&self, scrutinee: ExpressionId, arms: Vec<Arm>) -> ExpressionId {
        self.add(ExpressionKind::Case { scrutinee, arms })
    }

    /// Makes `(Ctor x body)`. Without payload it is `(Ctor body)`, without constructor `(_ body)`.
    pub fn arm(
        &self,
        constructor: Option<&str>,
        payload: Option<Pattern>,
        body: ExpressionId,
    ) -> Arm {
        Arm {
            constructor: constructor.map(|name| self.named(name)),
            payload,
            body,
            span: self.span,
        }
    }

    /// Makes `(foreach (x M) (f d) body)`. More `nodes` are those of the other types of a group.
    /// [`At::node`] gives them.
    pub fn foreach(
        &self,
        datum: ExpressionId,
        links: [Pattern; 2],
        nodes: Vec<NodeBody>,
    ) -> ExpressionId {
        self.add(ExpressionKind::Foreach {
            datum,
            links: Box::new(links),
            nodes,
        })
    }

    /// Makes the body of a `foreach` for the nodes of a type. The datum's has no name.
    pub fn node(&self, pattern: Pattern, ty: Option<&str>, body: ExpressionId) -> NodeBody {
        NodeBody {
            pattern,
            ty: ty.map(|name| self.named(name)),
            body,
        }
    }

    /// Makes `(up body (x M) …)`.
    pub fn up(&self, links: Vec<(Pattern, ExpressionId)>, body: ExpressionId) -> ExpressionId {
        self.add(ExpressionKind::Up { body, links })
    }

    /// Makes `(dn M)`.
    pub fn down(&self, datum: ExpressionId) -> ExpressionId {
        self.add(ExpressionKind::Down(datum))
    }

    /// Makes `e.k`.
    pub fn project(&self, of: ExpressionId, index: u32) -> ExpressionId {
        self.add(ExpressionKind::Project(of, index, self.span))
    }

    /// Makes `(v ! i)`.
    pub fn index(&self, of: ExpressionId, index: ExpressionId) -> ExpressionId {
        self.add(ExpressionKind::Index(of, index))
    }

    /// Makes `(e : T)`.
    pub fn annotate(&self, of: ExpressionId, ty: TypeId) -> ExpressionId {
        self.add(ExpressionKind::Annotate(of, ty))
    }

    /// Makes a scalar type, `unit`, or a user's type without arguments.
    pub fn named_type(&self, name: &str) -> TypeId {
        self.add_type(TypeKind::Name(name.into()))
    }

    /// Makes `'a`. The name is given without the quote.
    pub fn type_variable(&self, name: &str) -> TypeId {
        self.add_type(TypeKind::Variable(name.into()))
    }

    /// Makes `vector T`.
    pub fn vector_type(&self, element: TypeId) -> TypeId {
        self.add_type(TypeKind::Vector(1, element))
    }

    /// Makes `vector#n T`.
    pub fn array_type(&self, rank: u32, element: TypeId) -> TypeId {
        self.add_type(TypeKind::Vector(rank, element))
    }

    /// Makes `vec#n T`, where n is 2, 4, 8 or 16.
    pub fn lanes_type(&self, lanes: u32, element: TypeId) -> TypeId {
        self.add_type(TypeKind::Lanes(lanes, element))
    }

    /// Makes `(T, T, …)` of at least two types.
    pub fn tuple_type(&self, elements: &[TypeId]) -> TypeId {
        self.add_type(TypeKind::Tuple(elements.to_vec()))
    }

    /// Makes `(+ (Name : T) …)`, a sum type where a type stands.
    pub fn sum_type(&self, constructors: &[(&str, TypeId)]) -> TypeId {
        self.add_type(TypeKind::Sum(self.constructors(constructors)))
    }

    /// Makes `T -> T`.
    pub fn function_type(&self, from: TypeId, to: TypeId) -> TypeId {
        self.add_type(TypeKind::Function(from, to))
    }

    /// Makes `(Name T …)`.
    pub fn applied_type(&self, name: &str, arguments: &[TypeId]) -> TypeId {
        let name = self.named(name);
        self.add_type(TypeKind::Apply(name, arguments.to_vec()))
    }

    /// Declares a synonym.
    pub fn synonym(&self, name: &str, parameters: &[&str], ty: TypeId) {
        self.define_type(name, parameters, TypeDefinitionKind::Synonym(ty));
    }

    /// Declares a sum type from its constructors and their payloads.
    pub fn sum(&self, name: &str, parameters: &[&str], constructors: &[(&str, TypeId)]) {
        let kind = TypeDefinitionKind::Sum(self.constructors(constructors));
        self.define_type(name, parameters, kind);
    }

    fn constructors(&self, constructors: &[(&str, TypeId)]) -> Vec<(Name, TypeId)> {
        let constructors = constructors.iter();
        let named = constructors.map(|(name, ty)| (self.named(name), *ty));
        named.collect()
    }

    fn define_type(&self, name: &str, parameters: &[&str], kind: TypeDefinitionKind) {
        let definition = TypeDefinition {
            name: self.named(name),
            parameters: parameters.iter().map(|p| self.named(p)).collect(),
            kind,
            span: self.span,
        };
        let mut state = self.builder.state.borrow_mut();
        state.program.types.push(definition);
    }

    /// Declares a foreign function.
    pub fn foreign(&self, kind: ForeignKind, name: &str, ty: TypeId) {
        let foreign = Foreign {
            kind,
            name: self.named(name),
            ty,
            span: self.span,
        };
        let mut state = self.builder.state.borrow_mut();
        state.program.foreigns.push(foreign);
    }

    /// Imports the types, the foreign functions and the definitions of a file, relative to
    /// [`ProgramBuilder::imports_from`], or those of a file of the standard library: `std/lists`.
    pub fn import(&self, path: &str) {
        let import = Import {
            path: path.to_string(),
            span: self.span,
        };
        let mut state = self.builder.state.borrow_mut();
        state.program.imports.push(import);
    }

    /// Defines a name for all entries.
    pub fn define(&self, name: &str, value: ExpressionId) {
        let definition = Definition {
            library: false,
            name: self.named(name),
            value,
            span: self.span,
        };
        let mut state = self.builder.state.borrow_mut();
        state.program.definitions.push(definition);
    }

    /// Adds an input to the next entry, and returns its value.
    pub fn input(&self, name: &str, ty: TypeId) -> ExpressionId {
        let input = (self.named(name), ty);
        self.builder.state.borrow_mut().inputs.push(input);
        self.name(name)
    }

    /// Adds an entry with the inputs added since the last one.
    pub fn entry(&self, name: &str, body: ExpressionId) {
        self.add_entry(name, body, true);
    }

    /// Makes a program of one expression, with the name of the builder. Definitions may use its inputs.
    pub fn value(&self, body: ExpressionId) {
        self.add_entry(self.builder.name(), body, false);
    }

    fn add_entry(&self, name: &str, body: ExpressionId, explicit: bool) {
        let name = self.named(name);
        let mut state = self.builder.state.borrow_mut();
        let inputs = std::mem::take(&mut state.inputs);
        state.program.entries.push(Entry {
            name,
            inputs,
            body,
            explicit,
            span: self.span,
        });
    }
}
