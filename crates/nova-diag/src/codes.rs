//! The stable codes of all diagnostics, one table.
//!
//! `N01xx` reading, `N02xx` types and scopes, `N03xx` monomorphisation, `N04xx` programs that a
//! target cannot compile. A code, once given out, keeps its meaning.

use std::fmt;

/// A stable diagnostic code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Code(pub u16);

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "N{:04}", self.0)
    }
}

/// Declares the codes and the table that lists them.
macro_rules! codes {
    ($($name:ident = $number:literal, $meaning:literal;)*) => {
        $(#[doc = $meaning] pub const $name: Code = Code($number);)*
        /// Every code with its meaning, in order.
        pub const ALL: &[(Code, &str)] = &[$((Code($number), $meaning)),*];
    };
}

codes! {
    INVALID_UTF8 = 101, "The source is not UTF-8.";
    UNCLOSED = 102, "A parenthesis, bracket, comment or text is not closed.";
    UNEXPECTED_CLOSE = 103, "A closing parenthesis or bracket without its opening one.";
    BAD_NUMBER = 104, "A number that its type cannot hold, or that is no number.";
    BAD_TEXT = 105, "A bad escape in a text.";
    UNEXPECTED_TOKEN = 106, "A token that cannot stand here.";
    BAD_FORM = 107, "A form that is not written as the language says.";
    RESERVED_WORD = 108, "A reserved word used as a name.";
    BAD_PROGRAM = 109, "The sections of a program are not as the language says.";
    DUPLICATE_NAME = 110, "A name given twice where it must be unique.";
    BAD_IMPORT = 111, "A file to import cannot be read, or imports itself.";
    NOT_SUPPORTED = 112, "A part of the language that this version does not compile yet.";
    SUBSCRIPT = 113, "A vector right behind an expression, as if it were an index.";
    UNBOUND_NAME = 201, "A name that is not bound here.";
    UNKNOWN_TYPE = 202, "A type that is not declared.";
    TYPE_MISMATCH = 203, "Two types that must be equal are not.";
    NOT_A_FUNCTION = 204, "Something applied that is no function.";
    TOO_MANY_ARGUMENTS = 205, "A function applied to too many arguments.";
    WRONG_CLASS = 206, "A type outside the number class that an operation demands.";
    INFINITE_TYPE = 207, "A type that would contain itself.";
    BAD_TUPLE_INDEX = 208, "An element that a tuple does not have.";
    MISSING_CONSTRUCTOR = 209, "A case that leaves out a constructor.";
    WRONG_CONSTRUCTOR = 210, "A case arm for a constructor of another type, twice, or never reached.";
    WRONG_TYPE_ARITY = 211, "A type applied to the wrong number of arguments.";
    RECURSIVE_SYNONYM = 212, "A type synonym that contains itself.";
    FUNCTION_IN_DATA = 213, "A function held in a vector, tuple or sum.";
    AMBIGUOUS_TYPE = 214, "An expression whose concrete type could not be determined.";
    VARIABLE_BECAME_CONCRETE = 215, "A type variable of an annotation that became a concrete type.";
    BAD_INPUT_TYPE = 216, "A type that an input, a result or a foreign function cannot have.";
    BAD_LITERAL = 217, "A literal that its type cannot hold exactly.";
    BAD_ARGUMENT_COUNT = 218, "A built-in given a number of arguments that it cannot take.";
    BAD_ENTRY_NAME = 219, "A name that no generated function can have.";
    BAD_RECURSION = 220, "A recursive binding that is no function.";
    UNUSED_EXPRESSION = 221, "An expression without any effect.";
    BAD_ADDRESS_SPACE = 222, "An address space for the result of what is no map or reduction with a strategy.";
    LINK_ESCAPES = 223, "A link that would leave its `foreach` or `up`.";
    WRONG_LINK = 224, "A link where another one, or no link, must be.";
    NO_NODE_TYPE = 225, "A type without nodes where recursive data must be.";
    NOT_A_NODE = 226, "A datum where a node must be, or a node where a datum must be.";
    BAD_GROUP = 227, "Bodies of a `foreach` that do not fit the group of types.";
    UNUSED_NAME = 228, "A name that nothing uses.";
    SUSPICIOUS = 229, "Something that is allowed, but probably not what is meant.";
    POLYMORPHIC_RECURSION = 301, "A function that calls itself at ever other types.";
    ENDLESS_INSTANTIATION = 302, "Types that would have to be instantiated without end, or that have too many parts.";
    TARGET_CANNOT = 401, "Something the chosen target cannot do.";
    BAD_NESTING = 402, "A strategy where no target, or not the chosen one, can honour it.";
}
