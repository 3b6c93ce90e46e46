//! The names that are bound at the place of an expression.

use super::types::Type;
use crate::random::Random;

/// Names that programs tend to bind: of built-ins, of C, with unusual letters.
const ODD_NAMES: &[&str] = &[
    "map",
    "length",
    "+",
    "-",
    "*",
    "reduce",
    "range",
    "min",
    "max",
    "zip",
    "filter",
    "concat",
    "reverse",
    "<=",
    "=",
    "scan",
    "rotate",
    "&",
    "neg",
    "not",
    "to_int",
    "twice",
    "cap",
    "at",
    "register",
    "volatile",
    "static",
    "restrict",
    "main",
    "result",
    "x'",
    "n+1",
    "été",
    "a->b",
    "tmp",
    "int",
    "NULL",
    "i",
    "k",
    "t",
    "i32",
    "n?",
    "nova",
    "_x",
    "default",
    "double'",
    "result_len",
    "result_seg1",
    "in0",
    "in0_len",
];

/// Bound names with their types, the innermost last.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    bindings: Vec<(String, Type)>,
    fresh: usize,
}

impl Scope {
    /// Binds a name. An earlier binding of it is hidden.
    pub fn bind(&mut self, name: &str, ty: Type) {
        self.bindings.push((name.to_string(), ty));
    }

    /// Returns the number of bindings, for [`Scope::leave`].
    pub fn mark(&self) -> usize {
        self.bindings.len()
    }

    /// Removes the bindings since a mark.
    pub fn leave(&mut self, mark: usize) {
        self.bindings.truncate(mark);
    }

    /// Replaces all bindings, for an expression that may use only some names. Returns the old ones.
    pub fn replace(&mut self, by: Vec<(String, Type)>) -> Vec<(String, Type)> {
        std::mem::replace(&mut self.bindings, by)
    }

    /// True if a name is bound, and so has no other meaning.
    pub fn binds(&self, name: &str) -> bool {
        self.bindings.iter().any(|(bound, _)| bound == name)
    }

    /// Returns the bindings that are not hidden, the innermost first.
    pub fn visible(&self) -> Vec<(&str, &Type)> {
        let mut seen: Vec<(&str, &Type)> = Vec::new();
        for (name, ty) in self.bindings.iter().rev() {
            if !seen.iter().any(|(other, _)| other == name) {
                seen.push((name, ty));
            }
        }
        seen
    }

    /// Returns a visible name whose type satisfies a condition. Later ones are more frequent.
    pub fn pick(
        &self,
        random: &mut Random,
        holds: impl Fn(&Type) -> bool,
    ) -> Option<(String, Type)> {
        let mut visible = self.visible();
        visible.retain(|(_, ty)| holds(ty));
        if visible.is_empty() {
            return None;
        }
        let bound = 1 + random.below(visible.len());
        let (name, ty) = visible[random.below(bound)];
        Some((name.to_string(), ty.clone()))
    }

    /// Returns a new name.
    pub fn fresh(&mut self) -> String {
        self.fresh += 1;
        format!("v{}", self.fresh)
    }

    /// Returns a name for a binding: new, or one that hides another or a built-in.
    pub fn name(&mut self, random: &mut Random) -> String {
        match random.below(100) {
            0..12 => random.pick(ODD_NAMES).to_string(),
            12..24 => match self.pick(random, |_| true) {
                // Large vectors and inputs stay visible.
                Some((name, _)) if !name.starts_with("big") => name,
                Some(_) | None => self.fresh(),
            },
            _ => self.fresh(),
        }
    }
}
