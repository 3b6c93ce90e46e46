//! Calls with too few or too many arguments, and what to write instead.

use crate::builtins::Arity;
use crate::resolve::Resolution;
use crate::source::{Source, innermost, spine};
use nova_syntax::ast::ExpressionId;

/// Calls of built-ins as they are written, with the names that the reference gives their arguments.
const CALLS: &[&str] = &[
    "(reduce f z X)",
    "(reduce_comm f z X)",
    "(scan f z X)",
    "(exscan f z X)",
    "(foldl f z X)",
    "(scanl f z X)",
    "(filter p X)",
    "(partition p X)",
    "(imap f X)",
    "(permute I X)",
    "(gather I X)",
    "(scatter D I X)",
    "(histogram f z n I X)",
    "(count n I)",
    "(sort le X)",
    "(slice b s e X)",
    "(zip X Y)",
    "(concat X Y)",
    "(rotate k X)",
    "(replicate n v)",
    "(update X i v)",
    "(update_slice X b V)",
    "(tabulate n f)",
    "(reshape (n, m) X)",
    "(unflatten L X)",
    "(iterate n f x)",
    "(while p f x)",
    "(trace \"text\" x)",
    "(datum r V)",
    "(pow x y)",
    "(atan2 y x)",
    "(min x y)",
    "(max x y)",
];

/// A call with too few arguments, as a sentence, and what to write.
pub(crate) struct TooFew {
    pub message: String,
    pub help: String,
    /// The arguments that are given.
    pub arguments: Vec<ExpressionId>,
}

/// Describes a call whose value is a function that takes `missing` more arguments.
pub(crate) fn too_few(source: Source, at: ExpressionId, missing: usize) -> Option<TooFew> {
    let (head, arguments) = spine(source.program, source.resolved, innermost(source, at));
    let name = source.name_of(head)?;
    let given = arguments.len();
    let is_parameter = matches!(
        source.resolved.names[head.0 as usize],
        Resolution::Binding(_)
    );
    if missing == 0 || given == 0 || is_parameter {
        return None;
    }
    let is_builtin = source.builtin_named(head).is_some();
    if is_builtin && name.starts_with("map") {
        let vectors = given - 1;
        let operator = arguments.first().and_then(|f| source.name_of(*f));
        let reduces = match operator {
            Some(operator) if vectors == 1 => {
                format!("; `(reduce {operator} z X)` combines the elements of one")
            }
            Some(_) | None => String::new(),
        };
        return Some(TooFew {
            message: format!(
                "the function of this `{name}` takes {}, but {} given",
                counted(vectors + missing, "argument"),
                are_given(vectors, "vector")
            ),
            help: format!(
                "`{name}` takes as many vectors as its function takes arguments{reduces}"
            ),
            arguments,
        });
    }
    let call = call_of(&name).filter(|_| is_builtin);
    Some(TooFew {
        message: format!(
            "`{name}` takes {}, but {} given",
            counted(given + missing, "argument"),
            are_given(given, "")
        ),
        help: match (call, &*name) {
            (Some(call), _) => format!("write `{call}`"),
            (None, "-") if is_builtin => "`(neg x)` is the negative of a number".to_string(),
            (None, _) => format!("give it {}", counted(missing, "more argument")),
        },
        arguments,
    })
}

/// Returns the remedy of a call with too many arguments.
pub(crate) fn too_many(source: Source, call: ExpressionId) -> Option<String> {
    let (head, arguments) = spine(source.program, source.resolved, call);
    let name = source.name_of(head)?;
    let texts: Option<Vec<String>> = arguments.iter().map(|a| source.source_text(*a)).collect();
    let texts = texts?;
    if let Resolution::Constructor(..) = source.resolved.names[head.0 as usize] {
        return Some(format!(
            "it takes one tuple: `({name} ({}))`",
            texts.join(", ")
        ));
    }
    let builtin = source.builtin_named(head)?;
    let [first, second, third] = texts.as_slice() else {
        return call_of(&name).map(|call| format!("write `{call}`"));
    };
    match (&*name, builtin.scalar_operation()) {
        ("<" | "<=" | ">" | ">=" | "=" | "~=", Some(_)) => Some(format!(
            "write `(and ({name} {first} {second}) ({name} {second} {third}))`"
        )),
        ("concat", _) => Some(format!(
            "nest them: `(concat {first} (concat {second} {third}))`"
        )),
        (_, Some(_)) if builtin.arity() == Arity::Fixed(2) => Some(format!(
            "nest them: `({name} ({name} {first} {second}) {third})`"
        )),
        _ => call_of(&name).map(|call| format!("write `{call}`")),
    }
}

/// Returns a call of a built-in as it is written.
pub fn call_of(builtin: &str) -> Option<&'static str> {
    let name_in = |call: &str| call.trim_start_matches('(').split(' ').next() == Some(builtin);
    CALLS.iter().find(|call| name_in(call)).copied()
}

/// Returns a number of things in words: `1 argument`, `2 arguments`.
fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

fn are_given(count: usize, thing: &str) -> String {
    let verb = if count == 1 { "is" } else { "are" };
    match thing {
        "" => format!("{count} {verb}"),
        _ => format!("{} {verb}", counted(count, thing)),
    }
}
