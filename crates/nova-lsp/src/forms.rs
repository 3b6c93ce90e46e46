//! The forms of the language: their words, snippets, and meanings.

/// The place where a form may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// At the top of a file.
    Section,
    /// In an expression.
    Expression,
    /// Inside of another form.
    Inner,
}

/// A form of the language.
#[derive(Debug)]
pub struct Form {
    /// The word it begins with.
    pub word: &'static str,
    /// The places where it may stand.
    pub position: Position,
    /// The text that follows the word, as a snippet; empty if nothing does.
    pub snippet: &'static str,
    /// The way in which it is written.
    pub written: &'static str,
    /// Its meaning.
    pub meaning: &'static str,
}

/// A row for each reserved word.
pub const FORMS: &[Form] = &[
    Form {
        word: "types",
        position: Position::Section,
        snippet: " (${1:Name} : ${2:type})",
        written: "(types (Name : Type) (Name 'a : (+ (A : T) (B : T))))",
        meaning: "Declares synonyms and sums.",
    },
    Form {
        word: "foreign",
        position: Position::Section,
        snippet: " (${1:name} : ${2:type})",
        written: "(foreign (f : int -> float) (effect g : int -> int) (device h : float -> float))",
        meaning: "Declares functions that are written in C.",
    },
    Form {
        word: "import",
        position: Position::Section,
        snippet: " \"${1:std/vectors}\"",
        written: "(import \"other.nova\" \"std/vectors\")",
        meaning: "Takes over the types, foreign functions and definitions of files.",
    },
    Form {
        word: "define",
        position: Position::Section,
        snippet: " (${1:name} ${2:value})",
        written: "(define (name expr) (name expr))",
        meaning: "Defines names. Functions may call each other.",
    },
    Form {
        word: "entry",
        position: Position::Section,
        snippet: " ${1:name} ((${2:x} : ${3:int})) ${0:value}",
        written: "(entry name ((X : vector int)) expr)",
        meaning: "Declares a function of the generated header, with its inputs and its value.",
    },
    Form {
        word: "lambda",
        position: Position::Expression,
        snippet: " (${1:x}) ${0:body}",
        written: "(lambda (x (y : int) (a, b) _) : T e)",
        meaning: "A function. Parameters may be patterns; types may be left out.",
    },
    Form {
        word: "let",
        position: Position::Expression,
        snippet: " (${1:x} ${2:value}) in ${0:body}",
        written: "(let (x e) ((a, b) e) in e)",
        meaning: "Bindings in order. Each sees those before it.",
    },
    Form {
        word: "mu",
        position: Position::Expression,
        snippet: " (${1:f} : ${2:int -> int}) (lambda (${3:x}) ${0:body})",
        written: "(mu (f : T) e)",
        meaning: "A function that may call itself by the name `f`.",
    },
    Form {
        word: "if",
        position: Position::Expression,
        snippet: " ${1:condition} then ${2:a} else ${0:b}",
        written: "(if c then a else b)",
        meaning: "A conditional. Only one branch is evaluated.",
    },
    Form {
        word: "case",
        position: Position::Expression,
        snippet: " ${1:value} (${2:Constructor} ${3:x} ${4:a}) (_ ${0:b})",
        written: "(case e (Ctor p e) (Ctor e) (_ e))",
        meaning: "A match. Every constructor needs an arm unless `_` takes the rest.",
    },
    Form {
        word: "foreach",
        position: Position::Expression,
        snippet: " (${1:x} ${2:datum}) (${3:f} ${4:d}) ${0:node}",
        written: "(foreach (x M) (f d) e)",
        meaning: "The datum that `M` becomes when each of its nodes `x` becomes the node `e`.",
    },
    Form {
        word: "up",
        position: Position::Expression,
        snippet: " ${1:node} (${2:x} ${0:datum})",
        written: "(up e (x M) …)",
        meaning: "The datum whose root is the node `e`, in which `x` is a link to `M`.",
    },
    Form {
        word: "dn",
        position: Position::Expression,
        snippet: " ${0:datum}",
        written: "(dn M)",
        meaning: "The root of `M`, a node whose links are the data themselves.",
    },
    Form {
        word: "in",
        position: Position::Inner,
        snippet: "",
        written: "(let (x e) in e)",
        meaning: "Begins the body of a `let`.",
    },
    Form {
        word: "then",
        position: Position::Inner,
        snippet: "",
        written: "(if c then a else b)",
        meaning: "Begins the value where the condition holds.",
    },
    Form {
        word: "else",
        position: Position::Inner,
        snippet: "",
        written: "(if c then a else b)",
        meaning: "Begins the value where the condition does not hold.",
    },
    Form {
        word: "true",
        position: Position::Inner,
        snippet: "",
        written: "true",
        meaning: "The value of `bool` that holds.",
    },
    Form {
        word: "false",
        position: Position::Inner,
        snippet: "",
        written: "false",
        meaning: "The value of `bool` that does not hold.",
    },
    Form {
        word: "nil",
        position: Position::Inner,
        snippet: "",
        written: "nil",
        meaning: "The only value of `unit`, also written `()`.",
    },
];

/// Returns the form of a reserved word.
pub fn form_of(word: &str) -> Option<&'static Form> {
    FORMS.iter().find(|form| form.word == word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nova_syntax::parse::{RESERVED, is_reserved};

    #[test]
    fn every_reserved_word_has_a_row() {
        for word in RESERVED.iter().chain(&["nil"]) {
            assert!(form_of(word).is_some(), "{word}");
        }
        for form in FORMS {
            assert!(is_reserved(form.word), "{}", form.word);
        }
    }
}
