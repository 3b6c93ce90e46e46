//! Conversion of type expressions to types: looks up names, expands synonyms, and finds variables
//! in their scope.

use crate::declarations::{Declarations, TypeMeaning};
use crate::suggest::did_you_mean;
use crate::types::{Constraint, Ty, Types};
use nova_core::Scalar;
use nova_core::builtin::Class;
use nova_core::scalar::SCALARS;
use nova_diag::{Diagnostic, Span, codes, deep};
use nova_syntax::ast::{self, TypeKind};
use std::collections::HashMap;
use std::sync::Arc;

/// The meaning of the type variables of a type expression.
pub(crate) enum Variables<'a> {
    /// The parameters of a declaration, and nothing else.
    Declared(HashMap<Arc<str>, Ty>),
    /// The variables of the outermost binding that encloses the annotation. New ones are made at its level.
    Scoped(&'a mut AnnotationScope),
}

/// The type variables written in the annotations of one outermost binding.
#[derive(Default)]
pub(crate) struct AnnotationScope {
    /// The level of the binding.
    pub level: u32,
    /// Each variable with its first place.
    pub variables: Vec<(Arc<str>, Ty, Span)>,
    /// By name.
    pub by_name: HashMap<Arc<str>, Ty>,
}

/// Converts type expressions.
pub(crate) struct Convert<'a> {
    pub program: &'a ast::Program,
    pub declarations: &'a Declarations,
    pub types: &'a mut Types,
    pub diagnostics: &'a mut Vec<Diagnostic>,
    pub variables: Variables<'a>,
    /// The types of some places, which are not converted.
    pub replaced: HashMap<ast::TypeId, Ty>,
}

/// Reports `ty` when it is a function, and otherwise constrains it to be none.
pub(crate) fn hold(types: &mut Types, diagnostics: &mut Vec<Diagnostic>, ty: Ty, span: Span) {
    if types.require(ty, Constraint::DATA).is_err() {
        diagnostics.push(function_in_data(span));
    }
}

/// Returns the error for a function inside data.
pub(crate) fn function_in_data(span: Span) -> Diagnostic {
    let message = "vectors, tuples and sums cannot hold functions";
    Diagnostic::error(codes::FUNCTION_IN_DATA, span, message)
        .label("a function")
        .help("keep the data the function needs, and apply the function where it is used")
}

impl Convert<'_> {
    /// Converts a type expression.
    pub fn ty(&mut self, id: ast::TypeId) -> Ty {
        deep(|| self.kind(id))
    }

    fn kind(&mut self, id: ast::TypeId) -> Ty {
        let program = self.program;
        let node = program.ty(id);
        if let Some(ty) = self.replaced.get(&id) {
            return *ty;
        }
        match &node.kind {
            TypeKind::Name(name) => self.named(name, node.span, node.span, &[]),
            TypeKind::Variable(name) => self.variable(name, node.span),
            TypeKind::Tuple(elements) => {
                let elements = elements.iter().map(|element| self.held(*element)).collect();
                self.types.tuple(elements)
            }
            TypeKind::Vector(rank, element) => {
                let element = self.held(*element);
                self.types.array(*rank, element)
            }
            TypeKind::Lanes(lanes, element) => self.lanes(*lanes, *element),
            TypeKind::Sum(_) => self.sum(id),
            TypeKind::Wrong => self.types.error(),
            TypeKind::Function(parameter, result) => {
                let parameter = self.ty(*parameter);
                let result = self.ty(*result);
                self.types.function(parameter, result)
            }
            TypeKind::Apply(name, arguments) => {
                let arguments: Vec<(Ty, Span)> = arguments
                    .iter()
                    .map(|argument| (self.ty(*argument), program.ty(*argument).span))
                    .collect();
                if arguments.iter().any(|(ty, _)| self.types.is_error(*ty)) {
                    // The intended number is unknown.
                    return self.types.error();
                }
                self.named(&name.text, name.span, node.span, &arguments)
            }
        }
    }

    /// Converts a sum that stands where a type does.
    fn sum(&mut self, id: ast::TypeId) -> Ty {
        let declarations = self.declarations;
        let Some(written) = declarations.written.get(&id) else {
            return self.types.error();
        };
        let mut arguments = Vec::new();
        for argument in &written.arguments {
            arguments.push(match argument {
                Some(argument) => self.held(*argument),
                None => self.types.error(),
            });
        }
        self.types.sum(written.sum, arguments)
    }

    /// Converts a type that data hold.
    pub fn held(&mut self, id: ast::TypeId) -> Ty {
        let ty = self.ty(id);
        hold(self.types, self.diagnostics, ty, self.program.ty(id).span);
        ty
    }

    /// Converts a `vec#n`, which holds numbers.
    fn lanes(&mut self, lanes: u32, element: ast::TypeId) -> Ty {
        let ty = self.ty(element);
        let numbers = Constraint::class(Class::Number, false);
        if self.types.require(ty, numbers).is_ok() {
            return self.types.lanes(lanes, ty);
        }
        let span = self.program.ty(element).span;
        let message = format!("a `vec#{lanes}` holds numbers");
        self.diagnostics
            .push(Diagnostic::error(codes::WRONG_CLASS, span, message).label("this is no number"));
        self.types.error()
    }

    fn variable(&mut self, name: &Arc<str>, span: Span) -> Ty {
        match &mut self.variables {
            Variables::Declared(known) => match known.get(name) {
                Some(ty) => *ty,
                None => {
                    let message = format!("the type variable `'{name}` is not declared here");
                    let help = format!("write it after the type's name: `(Name '{name} : …)`");
                    let diagnostic = Diagnostic::error(codes::UNKNOWN_TYPE, span, message);
                    self.diagnostics.push(diagnostic.help(help));
                    self.types.error()
                }
            },
            Variables::Scoped(scope) => {
                if let Some(ty) = scope.by_name.get(name) {
                    return *ty;
                }
                let ty = self
                    .types
                    .fresh_at(scope.level, Constraint::default(), span);
                scope.by_name.insert(name.clone(), ty);
                scope.variables.push((name.clone(), ty, span));
                ty
            }
        }
    }

    fn named(&mut self, name: &str, at: Span, whole: Span, arguments: &[(Ty, Span)]) -> Ty {
        let builtin = match Scalar::by_name(name) {
            Some(scalar) => Some(self.types.scalar(scalar)),
            None if name == "unit" => Some(self.types.unit()),
            None => None,
        };
        if let Some(ty) = builtin {
            self.check_arity(name, whole, 0, arguments.len());
            return ty;
        }
        match self.declarations.names.get(name).copied() {
            None => self.unknown(name, at),
            Some(TypeMeaning::Sum(sum)) => {
                if self.declarations.is_without_nodes(sum) {
                    return self.types.error();
                }
                let expected = self.declarations.sum(sum).parameters.len();
                if !self.check_arity(name, whole, expected, arguments.len()) {
                    return self.types.error();
                }
                for (ty, span) in arguments {
                    hold(self.types, self.diagnostics, *ty, *span);
                }
                let arguments = arguments.iter().map(|(ty, _)| *ty).collect();
                self.types.sum(sum, arguments)
            }
            Some(TypeMeaning::Synonym(synonym)) => self.expand(synonym, name, whole, arguments),
        }
    }

    fn expand(&mut self, synonym: u32, name: &str, whole: Span, arguments: &[(Ty, Span)]) -> Ty {
        let declarations = self.declarations;
        let synonym = &declarations.synonyms[synonym as usize];
        if !self.check_arity(name, whole, synonym.parameters.len(), arguments.len()) {
            return self.types.error();
        }
        for (parameter, (ty, span)) in synonym.parameters.iter().zip(arguments) {
            if self.types.constraint(*parameter).data {
                hold(self.types, self.diagnostics, *ty, *span);
            }
        }
        let arguments: Vec<Ty> = arguments.iter().map(|(ty, _)| *ty).collect();
        let ty = self
            .types
            .substitute(synonym.body, &synonym.parameters, &arguments);
        if self.types.say_overgrown() {
            self.diagnostics.push(crate::scheme::too_large(whole));
        }
        ty
    }

    fn check_arity(&mut self, name: &str, span: Span, expected: usize, found: usize) -> bool {
        if expected == found {
            return true;
        }
        let plural = |count| match count {
            0 => "no argument".to_string(),
            1 => "1 argument".to_string(),
            count => format!("{count} arguments"),
        };
        let message = format!(
            "the type `{name}` takes {}, {} given",
            plural(expected),
            match found {
                0 => "none is".to_string(),
                1 => "1 is".to_string(),
                found => format!("{found} are"),
            }
        );
        let mut diagnostic = Diagnostic::error(codes::WRONG_TYPE_ARITY, span, message);
        if expected > 0 {
            let example = "'a 'b 'c 'd".split(' ').cycle().take(expected);
            let example: Vec<&str> = example.collect();
            diagnostic = diagnostic.help(format!("write `({name} {})`", example.join(" ")));
        }
        self.diagnostics.push(diagnostic);
        false
    }

    fn unknown(&mut self, name: &str, span: Span) -> Ty {
        if self.program.lost.may_hold(name) {
            return self.types.error();
        }
        if let Some(diagnostic) = self.declarations.no_nodes_named(name, span) {
            self.diagnostics.push(diagnostic);
            return self.types.error();
        }
        let message = format!("the type `{name}` is not declared");
        let mut diagnostic = Diagnostic::error(codes::UNKNOWN_TYPE, span, message);
        let scalars = SCALARS.iter().map(|info| info.name);
        let declared = self.declarations.names.keys().map(|name| &**name);
        let known = scalars.chain(declared).chain(["unit", "vector"]);
        let other = FOREIGN_TYPES.iter().find(|(other, _)| *other == name);
        if let Some((_, ours)) = other {
            diagnostic = diagnostic.help(format!("it is called `{ours}` here"));
        } else if let Some(candidate) = did_you_mean(name, known) {
            diagnostic = diagnostic.help(format!("did you mean `{candidate}`?"));
        }
        self.diagnostics.push(diagnostic);
        self.types.error()
    }
}

/// The names of types in other languages.
const FOREIGN_TYPES: &[(&str, &str)] = &[
    ("i8", "int8"),
    ("i16", "int16"),
    ("i32", "int"),
    ("i64", "int64"),
    ("u8", "uint8"),
    ("u16", "uint16"),
    ("u32", "uint32"),
    ("u64", "uint64"),
    ("f32", "float"),
    ("f64", "double"),
    ("float32", "float"),
    ("float64", "double"),
    ("long", "int64"),
    ("short", "int16"),
    ("char", "uint8"),
    ("boolean", "bool"),
    ("void", "unit"),
    ("string", "vector uint8"),
];

impl Types {
    /// Returns the constraint of a variable.
    pub fn constraint(&mut self, variable: crate::types::TypeVariable) -> Constraint {
        match self.table.probe_value(variable) {
            crate::types::VariableValue::Unbound(unbound) => unbound.constraint,
            crate::types::VariableValue::Bound(_) => Constraint::default(),
        }
    }
}
