//! Run-time errors of programs (language §8): one table of kinds. Errors of the compiler itself, kept apart
//! from those of users and of running programs.

use nova_diag::Place;
use std::fmt;
use std::sync::Arc;

/// The error that stopped a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ErrorKind {
    Index,
    Length,
    Division,
    Shift,
    Conversion,
    Permutation,
    Step,
    Negative,
    Shape,
    LengthOverflow,
    Recursion,
    Memory,
    Split,
    Link,
    Cycle,
}

/// A row of the table of kinds.
pub struct ErrorKindInfo {
    /// The kind.
    pub kind: ErrorKind,
    /// Its word in `;; test … => error WORD` and in the intermediate representations.
    pub word: &'static str,
    /// The message, in which `{0}` and `{1}` are integer arguments.
    pub message: &'static str,
    /// The number of its integer arguments.
    pub arguments: usize,
    /// The code that the generated function returns (abi §2).
    pub code: i32,
}

/// All kinds in the order of [`ErrorKind`].
pub const ERROR_KINDS: [ErrorKindInfo; 15] = [
    row(
        ErrorKind::Index,
        "index",
        "index {0} is out of range for length {1}",
        2,
        1,
    ),
    row(
        ErrorKind::Length,
        "length",
        "lengths differ: {0} and {1}",
        2,
        1,
    ),
    row(ErrorKind::Division, "division", "division by zero", 0, 1),
    row(
        ErrorKind::Shift,
        "shift",
        "shift by {0} is outside 0 to {1}",
        2,
        1,
    ),
    row(
        ErrorKind::Conversion,
        "conversion",
        "a number does not fit the type it is converted to",
        0,
        1,
    ),
    row(
        ErrorKind::Permutation,
        "permutation",
        "the indices are no permutation: {0}",
        1,
        1,
    ),
    row(ErrorKind::Step, "step", "a step of zero", 0, 1),
    row(
        ErrorKind::Negative,
        "negative",
        "a negative length: {0}",
        1,
        1,
    ),
    row(
        ErrorKind::Shape,
        "shape",
        "a shape of {0} elements for a vector of {1}",
        2,
        1,
    ),
    row(
        ErrorKind::LengthOverflow,
        "overflow",
        "length {0} does not fit its type",
        1,
        1,
    ),
    row(
        ErrorKind::Recursion,
        "recursion",
        "recursion too deep",
        0,
        1,
    ),
    row(ErrorKind::Memory, "memory", "out of memory", 0, 2),
    row(
        ErrorKind::Split,
        "split",
        "rows of {0} elements for a vector of {1}",
        2,
        1,
    ),
    row(
        ErrorKind::Link,
        "link",
        "link {0} is out of range for {1} nodes",
        2,
        1,
    ),
    row(ErrorKind::Cycle, "cycle", "a node contains itself", 0, 1),
];

const fn row(
    kind: ErrorKind,
    word: &'static str,
    message: &'static str,
    arguments: usize,
    code: i32,
) -> ErrorKindInfo {
    ErrorKindInfo {
        kind,
        word,
        message,
        arguments,
        code,
    }
}

impl ErrorKind {
    /// Returns its row of [`ERROR_KINDS`].
    pub fn info(self) -> &'static ErrorKindInfo {
        &ERROR_KINDS[self as usize]
    }

    /// Returns the kind with this word.
    pub fn by_word(word: &str) -> Option<ErrorKind> {
        ERROR_KINDS.iter().find(|i| i.word == word).map(|i| i.kind)
    }
}

/// A run-time error with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuntimeError {
    /// The kind of the error.
    pub kind: ErrorKind,
    /// The integers that its message shows. Missing ones are not shown.
    pub arguments: Vec<i64>,
    /// The place in the source.
    pub place: Option<Place>,
}

impl fmt::Display for RuntimeError {
    /// Writes `dot.nova:3:12: index 5 is out of range for length 3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        let mut text = self.kind.info().message.to_string();
        for (k, argument) in self.arguments.iter().enumerate() {
            text = text.replace(&format!("{{{k}}}"), &argument.to_string());
        }
        f.write_str(&text)
    }
}

impl std::error::Error for RuntimeError {}

/// A program in the compiler that violates the rules of its representation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InternalError {
    /// The message.
    pub message: String,
    /// The function in which it was found.
    pub function: Option<Arc<str>>,
    /// The place in the source that the code comes from.
    pub place: Option<Place>,
}

impl fmt::Display for InternalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "internal error of the compiler")?;
        if let Some(function) = &self.function {
            write!(f, " in function {function}")?;
        }
        // Programs written by hand may omit places.
        if let Some(place) = self.place.as_ref().filter(|p| p.line > 0) {
            write!(f, " at {place}")?;
        }
        write!(f, ": {}; please report it", self.message)
    }
}

impl std::error::Error for InternalError {}

/// Returns an internal failure without a place. An interpreter adds the place.
pub(crate) fn internal(message: &str) -> Failure {
    Failure::Internal(InternalError {
        message: message.to_string(),
        function: None,
        place: None,
    })
}

/// The reason why an interpreter gives no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The program stopped with a run-time error that its semantics require.
    Runtime(RuntimeError),
    /// The program violates the rules of its representation.
    Internal(InternalError),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Runtime(error) => error.fmt(f),
            Failure::Internal(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Failure {}
