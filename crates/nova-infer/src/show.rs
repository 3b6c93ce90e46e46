//! Types as NOVA source, for messages.

use crate::declarations::Declarations;
use crate::types::Side;
use crate::types::{
    Constraint, Shallow, SumDeclarationId, Ty, TyNode, TypeVariable, Types, VariableValue,
};
use nova_core::Scalar;
use nova_diag::deep;

/// Number of parts of a type that a message shows before it leaves out the rest.
const SHOWN: usize = 60;

/// Writes types for one message: the same variable has the same name throughout.
pub(crate) struct Show<'a> {
    types: &'a mut Types,
    declarations: &'a Declarations,
    variables: Vec<TypeVariable>,
    /// True if quantified variables have names, also those with a default.
    generic: bool,
    left: usize,
}

/// The position of a type, by how tightly it binds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    /// No restriction.
    Free,
    /// The parameter of a function.
    Parameter,
    /// After `vector`, or an argument of a type.
    Tight,
}

impl<'a> Show<'a> {
    /// Creates a writer for one message.
    pub fn new(types: &'a mut Types, declarations: &'a Declarations) -> Self {
        Show {
            types,
            declarations,
            variables: Vec::new(),
            generic: false,
            left: SHOWN,
        }
    }

    /// Returns the type of a generalised binding as source, with the class of each of its variables that
    /// has one: ``'a -> 'a`` and ``'a`` with "a number".
    pub fn scheme(&mut self, ty: Ty) -> (String, Vec<(String, &'static str)>) {
        self.generic = true;
        let text = self.ty(ty);
        self.generic = false;
        let mut classes = Vec::new();
        for variable in self.variables.clone() {
            if let VariableValue::Unbound(unbound) = self.types.table.probe_value(variable)
                && unbound.constraint.scalars.is_some()
            {
                classes.push((self.variable(variable), class_words(unbound.constraint)));
            }
        }
        (text, classes)
    }

    /// Returns the type as source.
    pub fn ty(&mut self, ty: Ty) -> String {
        self.left = SHOWN;
        let mut text = String::new();
        self.write(ty, Position::Free, &mut text);
        text
    }

    fn write(&mut self, ty: Ty, position: Position, text: &mut String) {
        if self.left == 0 {
            text.push('…');
            return;
        }
        self.left -= 1;
        match self.types.shallow(ty) {
            // A number type that is not decided yet shows as its default.
            Shallow::Unbound(variable, unbound) => match unbound.constraint.default_scalar() {
                Some(default) if !(self.generic && self.types.is_generic(variable)) => {
                    text.push_str(default.info().name)
                }
                Some(_) | None => text.push_str(&self.variable(variable)),
            },
            Shallow::Node(node) => deep(|| self.node(&node, position, text)),
        }
    }

    fn node(&mut self, node: &TyNode, position: Position, text: &mut String) {
        match node {
            TyNode::Error | TyNode::Variable(_) => text.push('_'),
            TyNode::Scalar(scalar) => text.push_str(scalar.info().name),
            TyNode::Unit => text.push_str("unit"),
            TyNode::Link(link) => text.push_str(match link.side {
                Side::Old => "old-link",
                Side::New => "new-link",
            }),
            TyNode::Tuple(elements) => {
                text.push('(');
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        text.push_str(", ");
                    }
                    self.write(*element, Position::Free, text);
                }
                text.push(')');
            }
            TyNode::Vector(element) => {
                self.grouped(position == Position::Tight, text, |this, text| {
                    text.push_str("vector ");
                    this.write(*element, Position::Tight, text);
                });
            }
            TyNode::Array(rank, element) => {
                self.grouped(position == Position::Tight, text, |this, text| {
                    text.push_str(&format!("vector#{rank} "));
                    this.write(*element, Position::Tight, text);
                });
            }
            TyNode::Lanes(lanes, element) => {
                self.grouped(position == Position::Tight, text, |this, text| {
                    text.push_str(&format!("vec#{lanes} "));
                    this.write(*element, Position::Tight, text);
                });
            }
            TyNode::Function(parameter, result) => {
                self.grouped(position != Position::Free, text, |this, text| {
                    this.write(*parameter, Position::Parameter, text);
                    text.push_str(" -> ");
                    this.write(*result, Position::Free, text);
                });
            }
            TyNode::Sum(sum, arguments) => {
                if !self.declarations.is_named(*sum) {
                    return self.written(*sum, arguments, text);
                }
                let name = self.declarations.sum(*sum).name.text.clone();
                self.grouped(!arguments.is_empty(), text, |this, text| {
                    text.push_str(&name);
                    for argument in arguments.iter() {
                        text.push(' ');
                        this.write(*argument, Position::Tight, text);
                    }
                });
            }
        }
    }

    /// Writes a sum without a name: `(+ (A : int) (B : float))`.
    fn written(&mut self, sum: SumDeclarationId, arguments: &[Ty], text: &mut String) {
        let declaration = self.declarations.sum(sum);
        text.push_str("(+");
        for constructor in &declaration.constructors {
            text.push_str(&format!(" ({} : ", constructor.name.text));
            let (payload, parameters) = (constructor.payload, &declaration.parameters);
            let payload = self.types.substitute(payload, parameters, arguments);
            self.write(payload, Position::Free, text);
            text.push(')');
        }
        text.push(')');
    }

    fn grouped(
        &mut self,
        parentheses: bool,
        text: &mut String,
        body: impl FnOnce(&mut Self, &mut String),
    ) {
        if parentheses {
            text.push('(');
        }
        body(self, text);
        if parentheses {
            text.push(')');
        }
    }

    fn variable(&mut self, variable: TypeVariable) -> String {
        let index = match self.variables.iter().position(|known| *known == variable) {
            Some(index) => index,
            None => {
                self.variables.push(variable);
                self.variables.len() - 1
            }
        };
        let letter = char::from(b'a' + (index % 26) as u8);
        match index / 26 {
            0 => format!("'{letter}"),
            round => format!("'{letter}{round}"),
        }
    }

    /// Describes an expression of this type in words: ``a `vector int` ``, `a floating-point
    /// number`.
    pub fn words(&mut self, ty: Ty) -> String {
        match self.types.shallow(ty) {
            Shallow::Unbound(_, unbound) if unbound.constraint.scalars.is_some() => {
                class_words(unbound.constraint).to_string()
            }
            Shallow::Unbound(..) | Shallow::Node(_) => format!("`{}`", self.ty(ty)),
        }
    }
}

/// Describes a class of scalars in words.
pub(crate) fn class_words(constraint: Constraint) -> &'static str {
    let Some(scalars) = constraint.scalars else {
        return "data";
    };
    let has = |scalar| scalars.contains(scalar);
    match (has(Scalar::I32), has(Scalar::F32), has(Scalar::Bool)) {
        (true, true, true) => "a number or `bool`",
        (true, true, false) => "a number",
        (true, false, _) => "an integer",
        (false, true, _) => "a floating-point number",
        (false, false, _) => "a scalar",
    }
}
