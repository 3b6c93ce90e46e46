//! The syntax tree: the program as written, every node with its span (nova.txt fig. 3).
//!
//! Expressions and type expressions live in arenas and name their children by id, children before
//! parents. So trees of any depth are built, walked and dropped without recursion. Grouping
//! parentheses and `(at …)` have no node; the latter only changes spans.

use nova_diag::Span;
use std::collections::HashSet;
use std::sync::Arc;

/// An identifier with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// Its text.
    pub text: Arc<str>,
    /// Its place.
    pub span: Span,
}

nova_diag::ids! {
    /// Names an expression of a [`Program`].
    pub struct ExpressionId;

    /// Names a type expression of a [`Program`].
    pub struct TypeId;
}

/// A source file (language §2).
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Sums and synonyms.
    pub types: Vec<TypeDefinition>,
    /// Foreign functions.
    pub foreigns: Vec<Foreign>,
    /// Files whose types, foreigns and definitions this one uses.
    pub imports: Vec<Import>,
    /// Definitions, mutually recursive where they are functions.
    pub definitions: Vec<Definition>,
    /// The functions of the generated header: one named after the file, or the `entry` forms.
    pub entries: Vec<Entry>,
    /// The type expressions.
    pub type_arena: Vec<TypeNode>,
    /// The expressions.
    pub arena: Vec<Expression>,
    /// The names in code that could not be read.
    pub lost: Lost,
}

/// The names in code that could not be read. Their meaning is unknown, so that they cause no
/// messages elsewhere.
#[derive(Clone, Debug, Default)]
pub struct Lost {
    /// The names.
    pub names: HashSet<Arc<str>>,
    /// Set if any name may be among them, since a file that could not be read might declare it.
    pub any: bool,
}

impl Lost {
    /// True for a name whose declaration may be in code that could not be read.
    pub fn may_hold(&self, name: &str) -> bool {
        self.any || self.names.contains(name)
    }
}

/// `(Name 'a … : Type)`, a synonym or a sum.
#[derive(Clone, Debug)]
pub struct TypeDefinition {
    /// The type's name.
    pub name: Name,
    /// Its parameters, without the quote.
    pub parameters: Vec<Name>,
    /// Its meaning.
    pub kind: TypeDefinitionKind,
    /// The whole definition.
    pub span: Span,
}

/// The form of a type definition.
#[derive(Clone, Debug)]
pub enum TypeDefinitionKind {
    /// Another name for a type.
    Synonym(TypeId),
    /// A sum, constructors in the order written.
    Sum(Vec<(Name, TypeId)>),
}

/// The side effects of a foreign function, and the machine that runs it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ForeignKind {
    /// It has no side effects, and several threads may call it at once.
    #[default]
    Plain,
    /// It has side effects. Its calls run in the order of the program.
    Effect,
    /// It is code of the device on targets that have one, and plain elsewhere.
    Device,
}

/// The kinds of foreign functions that have a word before the name.
pub const FOREIGN_WORDS: [(ForeignKind, &str); 2] = [
    (ForeignKind::Effect, "effect"),
    (ForeignKind::Device, "device"),
];

impl ForeignKind {
    /// Returns its word in [`FOREIGN_WORDS`]. A plain function has none.
    pub fn word(self) -> Option<&'static str> {
        let row = FOREIGN_WORDS.iter().find(|(kind, _)| *kind == self);
        row.map(|(_, word)| *word)
    }

    /// Returns the kind with this word.
    pub fn by_word(word: &str) -> Option<ForeignKind> {
        let row = FOREIGN_WORDS.iter().find(|(_, known)| *known == word);
        row.map(|(kind, _)| *kind)
    }
}

/// `(name : Type)`, `(effect name : Type)`, `(device name : Type)` in the foreign section.
#[derive(Clone, Debug)]
pub struct Foreign {
    /// Its kind.
    pub kind: ForeignKind,
    /// The C function's name.
    pub name: Name,
    /// Its type.
    pub ty: TypeId,
    /// The whole form.
    pub span: Span,
}

/// A file named in the import section.
#[derive(Clone, Debug)]
pub struct Import {
    /// The path as written, relative to the importing file.
    pub path: String,
    /// Its place.
    pub span: Span,
}

/// `(name expr)` in a define section.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The name defined.
    pub name: Name,
    /// Its value.
    pub value: ExpressionId,
    /// True for one of the standard library, which a definition of the program may hide.
    pub library: bool,
    /// The whole form.
    pub span: Span,
}

/// A function of the generated header.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name: the file's, or the one given in the `entry` form.
    pub name: Name,
    /// Inputs with their types.
    pub inputs: Vec<(Name, TypeId)>,
    /// Its value.
    pub body: ExpressionId,
    /// True if it was written as `(entry …)`; otherwise it is the file's only one, and its inputs
    /// are in scope of the definitions too.
    pub explicit: bool,
    /// The whole form.
    pub span: Span,
}

/// A type expression.
#[derive(Clone, Debug)]
pub struct TypeNode {
    /// Its form.
    pub kind: TypeKind,
    /// Its place.
    pub span: Span,
}

/// The n of `vec#n` (dpia.txt §6.1; OpenCL has 3, too).
pub const LANES: [u32; 4] = [2, 4, 8, 16];

/// The kinds of type expression (language §3).
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// A built-in scalar, `unit`, or a user's type without arguments.
    Name(Arc<str>),
    /// `'a`, without the quote.
    Variable(Arc<str>),
    /// `(T, T, …)`.
    Tuple(Vec<TypeId>),
    /// `vector T`, or `vector#n T` with n ≥ 1.
    Vector(u32, TypeId),
    /// `vec#n T`, where n is one of [`LANES`].
    Lanes(u32, TypeId),
    /// `(+ (Constructor : T) …)` where a type stands.
    Sum(Vec<(Name, TypeId)>),
    /// A type that could not be read. The error is reported.
    Wrong,
    /// `T -> T`.
    Function(TypeId, TypeId),
    /// `(Name T …)`.
    Apply(Name, Vec<TypeId>),
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expression {
    /// Its form.
    pub kind: ExpressionKind,
    /// Its place.
    pub span: Span,
}

/// The kinds of expression (language §1, §4).
#[derive(Clone, Debug)]
pub enum ExpressionKind {
    /// A variable, built-in, constructor or foreign function.
    Name(Arc<str>),
    /// A number; its suffix, if any, as written (`L`, `f`, `i8` … `u64`).
    Number(Number),
    /// `true`, `false`.
    Bool(bool),
    /// `nil`, `()`.
    Nil,
    /// `"text"`, a vector of bytes.
    Text(Arc<[u8]>),
    /// `[e …]`.
    Vector(Vec<ExpressionId>),
    /// `(f a …)`, at least one argument.
    Apply(ExpressionId, Vec<ExpressionId>),
    /// `(lambda (p …) : T e)`, at least one parameter.
    Lambda {
        parameters: Vec<Pattern>,
        result: Option<TypeId>,
        body: ExpressionId,
    },
    /// `(let (p e) … in body)`, in order.
    Let {
        bindings: Vec<(Pattern, ExpressionId)>,
        body: ExpressionId,
    },
    /// `(mu (f : T) (lambda …))`.
    Mu {
        name: Name,
        ty: Option<TypeId>,
        value: ExpressionId,
    },
    /// `(if c a b)`.
    If {
        condition: ExpressionId,
        then: ExpressionId,
        otherwise: ExpressionId,
    },
    /// `(case e arm …)`.
    Case {
        scrutinee: ExpressionId,
        arms: Vec<Arm>,
    },
    /// `(a, b, …)`, at least two.
    Tuple(Vec<ExpressionId>),
    /// `e.k`, with the span of the index.
    Project(ExpressionId, u32, Span),
    /// `(v ! i)`; `(m ! (i, j))` has a tuple as index.
    Index(ExpressionId, ExpressionId),
    /// `(e : T)`.
    Annotate(ExpressionId, TypeId),
    /// `(foreach (x M) (f d) body)`; `(foreach ((x M) (y T) …) (f d) body body …)` for a group.
    Foreach {
        /// The datum, M.
        datum: ExpressionId,
        /// The functions that rename and follow links: two patterns that are names or `_`.
        links: Box<[Pattern; 2]>,
        /// A body for each type of the group. The first is that of the datum's type.
        nodes: Vec<NodeBody>,
    },
    /// `(up body (x M) …)`, perhaps without links.
    Up {
        body: ExpressionId,
        links: Vec<(Pattern, ExpressionId)>,
    },
    /// `(dn M)`.
    Down(ExpressionId),
    /// An expression that could not be read, with the subexpressions that could. The error is
    /// reported.
    Wrong(Vec<ExpressionId>),
}

impl TypeKind {
    /// Returns the name of the type that a type expression refers to.
    pub fn name(&self) -> Option<&Arc<str>> {
        match self {
            TypeKind::Name(name) => Some(name),
            TypeKind::Apply(name, _) => Some(&name.text),
            TypeKind::Variable(_)
            | TypeKind::Tuple(_)
            | TypeKind::Vector(..)
            | TypeKind::Lanes(..)
            | TypeKind::Function(..)
            | TypeKind::Sum(_)
            | TypeKind::Wrong => None,
        }
    }

    /// Returns the direct parts of a type expression, in order.
    pub fn parts(&self) -> Vec<TypeId> {
        match self {
            TypeKind::Name(_) | TypeKind::Variable(_) | TypeKind::Wrong => Vec::new(),
            TypeKind::Tuple(parts) | TypeKind::Apply(_, parts) => parts.clone(),
            TypeKind::Vector(_, element) | TypeKind::Lanes(_, element) => vec![*element],
            TypeKind::Function(parameter, result) => vec![*parameter, *result],
            TypeKind::Sum(constructors) => constructors.iter().map(|(_, ty)| *ty).collect(),
        }
    }
}

/// A number literal.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// The value.
    pub value: NumberValue,
    /// The type its suffix fixes.
    pub suffix: Option<Suffix>,
}

/// The value of a number literal.
#[derive(Clone, Debug, PartialEq)]
pub enum NumberValue {
    /// Written without point or exponent. It is `None` when it does not fit 128 bits. It then fits
    /// no type, and an error is reported where its type is known.
    Integer(Option<i128>),
    /// Written with point or exponent. The text has no suffix and has the form that Rust's float
    /// parser reads.
    Decimal(Arc<str>),
}

/// The suffixes of number literals, and the type each fixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suffix {
    /// `L`.
    Double,
    /// `f`.
    Float,
    /// `i8 i16 i32 i64`, by width.
    Signed(u8),
    /// `u8 u16 u32 u64`, by width.
    Unsigned(u8),
}

/// A pattern of a parameter or a let.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// Its form.
    pub kind: PatternKind,
    /// `(p : T)`.
    pub annotation: Option<TypeId>,
    /// Its place.
    pub span: Span,
}

/// The forms of pattern.
#[derive(Clone, Debug)]
pub enum PatternKind {
    /// A name.
    Name(Arc<str>),
    /// `_`.
    Wildcard,
    /// `(p, p, …)`, at least two.
    Tuple(Vec<Pattern>),
}

/// An arm of a case.
#[derive(Clone, Debug)]
pub struct Arm {
    /// The constructor; `None` for `_`.
    pub constructor: Option<Name>,
    /// The pattern of the payload.
    pub payload: Option<Pattern>,
    /// The arm's value.
    pub body: ExpressionId,
    /// The whole arm.
    pub span: Span,
}

/// The body of a `foreach` for the nodes of one type.
#[derive(Clone, Debug)]
pub struct NodeBody {
    /// The pattern that a node is bound to: a name, `_`, or a tuple, perhaps with a type.
    pub pattern: Pattern,
    /// The name of the type in a group; `None` for the datum's.
    pub ty: Option<Name>,
    /// The node that it becomes.
    pub body: ExpressionId,
}

impl Program {
    /// True where every part of the program could be read.
    pub fn is_whole(&self) -> bool {
        let wrong = |e: &Expression| matches!(e.kind, ExpressionKind::Wrong(_));
        let wrong_type = |node: &TypeNode| matches!(node.kind, TypeKind::Wrong);
        self.lost.names.is_empty()
            && !self.lost.any
            && !self.arena.iter().any(wrong)
            && !self.type_arena.iter().any(wrong_type)
    }

    /// Returns the expression of an id that this program gave out.
    pub fn expression(&self, id: ExpressionId) -> &Expression {
        &self.arena[id.index()]
    }

    /// Returns the type expression of an id that this program gave out.
    pub fn ty(&self, id: TypeId) -> &TypeNode {
        &self.type_arena[id.index()]
    }

    /// Adds an expression.
    pub fn add(&mut self, kind: ExpressionKind, span: Span) -> ExpressionId {
        self.arena.push(Expression { kind, span });
        ExpressionId(self.arena.len() as u32 - 1)
    }

    /// Adds a type expression.
    pub fn add_type(&mut self, kind: TypeKind, span: Span) -> TypeId {
        self.type_arena.push(TypeNode { kind, span });
        TypeId(self.type_arena.len() as u32 - 1)
    }
}
