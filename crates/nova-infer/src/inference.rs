//! The state of type inference, and the walk over definitions and entries.

use crate::calls::too_few;
use crate::convert::{AnnotationScope, Convert, Variables};
use crate::links::LinkFunction;
use crate::reasons::Because;
use crate::resolve::BindingId;
use crate::scheme::Scheme;
use crate::solver::Solver;
use crate::source::Source;
use crate::types::{Constraint, Ty, TyNode, Types};
use nova_diag::{Diagnostic, Span, codes};
use nova_syntax::ast::{self, ExpressionId};
use std::collections::HashMap;
use std::sync::Arc;

/// Infers the types of expressions: gives the solver the equations of each form, and keeps the types.
pub(crate) struct Inference<'a> {
    pub source: Source<'a>,
    pub solver: Solver<'a>,
    /// The type of each expression.
    pub expressions: Vec<Ty>,
    /// The type of each binding.
    pub bindings: Vec<Scheme>,
    /// The type of each definition; `None` before its group is reached.
    pub definitions: Vec<Option<Scheme>>,
    /// The types of the variables in each use of a generalised binding or definition.
    pub instances: HashMap<ExpressionId, Arc<[Ty]>>,
    /// All number literals.
    pub literals: Vec<ExpressionId>,
    /// The types of the payloads of the arms of each case expression.
    pub payloads: HashMap<ExpressionId, Vec<Ty>>,
    /// The functions that `foreach`es bind, with the numbers of their forms.
    pub link_functions: HashMap<BindingId, (u32, LinkFunction)>,
    /// The number of arguments that each binding takes as far as its value shows.
    pub arities: Vec<usize>,
    /// The same for each definition.
    pub definition_arities: Vec<usize>,
    /// The let value that is a partial application, whose arguments are evaluated outside of it.
    pub partial_value: Option<ExpressionId>,
    /// A lambda that must have a type: the value of a recursive binding.
    pub expected_lambda: Option<(ExpressionId, Ty, Because)>,
    /// A lambda that is the argument of a built-in, and the types that the other arguments give to its
    /// parameters, where they are known.
    pub known_parameters: Option<(ExpressionId, Vec<Option<Ty>>)>,
    /// The definitions in the order of their dependencies, in groups that call each other. The flag
    /// is true if a group is recursive.
    pub groups: Vec<(Vec<u32>, bool)>,
    /// The type variables of the annotations of the outermost binding.
    pub annotations: AnnotationScope,
    /// The number of bindings around the current expression.
    pub binding_depth: u32,
    /// All annotation variables seen.
    pub annotation_variables: Vec<(Arc<str>, Ty, Span)>,
}

impl<'a> Inference<'a> {
    /// Creates the state at the beginning. `diagnostics` are the messages so far.
    pub fn new(source: Source<'a>, types: Types, diagnostics: Vec<Diagnostic>) -> Self {
        let Source {
            program, resolved, ..
        } = source;
        let error = types.error();
        Inference {
            source,
            expressions: vec![types.unasked(); program.arena.len()],
            bindings: vec![Scheme::monomorphic(error); resolved.bindings.len()],
            definitions: vec![None; program.definitions.len()],
            instances: HashMap::new(),
            literals: Vec::new(),
            payloads: HashMap::new(),
            link_functions: HashMap::new(),
            arities: vec![0; resolved.bindings.len()],
            definition_arities: vec![0; program.definitions.len()],
            partial_value: None,
            expected_lambda: None,
            known_parameters: None,
            groups: Vec::new(),
            annotations: AnnotationScope {
                level: 1,
                ..AnnotationScope::default()
            },
            binding_depth: 0,
            annotation_variables: Vec::new(),
            solver: Solver::new(source, types, diagnostics),
        }
    }

    /// Returns the type of a type expression in an annotation.
    pub fn annotation(&mut self, ty: ast::TypeId) -> Ty {
        Convert {
            program: self.source.program,
            declarations: self.source.declarations,
            types: &mut self.solver.types,
            diagnostics: &mut self.solver.diagnostics,
            variables: Variables::Scoped(&mut self.annotations),
            replaced: std::collections::HashMap::new(),
        }
        .ty(ty)
    }

    /// Runs `body` inside a binding. The outermost binding is the scope of annotation variables.
    pub fn in_binding<R>(&mut self, body: impl FnOnce(&mut Self) -> R) -> R {
        self.binding_depth += 1;
        if self.binding_depth > 1 {
            let result = body(self);
            self.binding_depth -= 1;
            return result;
        }
        let fresh = AnnotationScope {
            level: self.solver.types.level,
            ..AnnotationScope::default()
        };
        let outside = std::mem::replace(&mut self.annotations, fresh);
        let result = body(self);
        let scope = std::mem::replace(&mut self.annotations, outside);
        self.annotation_variables.extend(scope.variables);
        self.binding_depth -= 1;
        result
    }

    /// Infers the entries, after the definitions.
    pub fn entries(&mut self) {
        let program = self.source.program;
        for (index, entry) in program.entries.iter().enumerate() {
            self.solver.entry_name(entry);
            self.inputs(index, entry);
        }
        self.all_definitions();
        for entry in &program.entries {
            let ty = self.infer(entry.body);
            self.solver.entry_result(entry.body, ty);
            let scope = AnnotationScope {
                level: 1,
                ..AnnotationScope::default()
            };
            let scope = std::mem::replace(&mut self.annotations, scope);
            self.annotation_variables.extend(scope.variables);
        }
        self.solver.finish_level();
    }

    fn inputs(&mut self, index: usize, entry: &ast::Entry) {
        let first = self.source.resolved.inputs[index];
        for (offset, (name, annotation)) in entry.inputs.iter().enumerate() {
            let before = self.annotations.variables.len();
            let ty = self.annotation(*annotation);
            let span = self.source.program.ty(*annotation).span;
            let open = self.annotations.variables.len() > before
                || !self.solver.types.unbound_in(&[ty]).is_empty();
            self.solver
                .check_boundary(ty, open, span, &format!("the input `{}`", name.text));
            self.bindings[first.0 as usize + offset] = Scheme::monomorphic(ty);
        }
        // Inputs have no variables. Each one in the annotation is reported.
        for (_, ty, _) in std::mem::take(&mut self.annotations.variables) {
            let error = self.solver.types.error();
            let _ = self.solver.types.unify(ty, error);
        }
        self.annotations.by_name.clear();
    }
}

impl Solver<'_> {
    fn entry_name(&mut self, entry: &ast::Entry) {
        if &*entry.name.text == "main" {
            let message = "no function of the generated header can be called `main`";
            let diagnostic = Diagnostic::error(codes::BAD_ENTRY_NAME, entry.name.span, message)
                .help(match entry.explicit {
                    true => "choose another name for the entry",
                    false => "choose another name for the file: it names the function",
                });
            self.diagnostics.push(diagnostic);
        }
    }

    /// Checks that a value which crosses the boundary of the program is data of a known type.
    fn check_boundary(&mut self, ty: Ty, open: bool, span: Span, what: &str) {
        let function = matches!(
            self.types.shallow(ty),
            crate::types::Shallow::Node(TyNode::Function(..))
        );
        let (message, help) = if function {
            (
                format!("{what} cannot be a function"),
                "C code passes and receives data; define the function in the program",
            )
        } else if open {
            (
                format!("{what} has a type variable in its type"),
                "write a concrete type, such as `float`",
            )
        } else {
            return;
        };
        let diagnostic = Diagnostic::error(codes::BAD_INPUT_TYPE, span, message).help(help);
        self.diagnostics.push(diagnostic);
    }

    fn entry_result(&mut self, body: ExpressionId, ty: Ty) {
        let (parameters, _, _) = self.types.peel(ty);
        if parameters.is_empty() {
            // Open results are reported where their type arises.
            let _ = self.types.require(ty, Constraint::DATA);
            return;
        }
        let span = self.source.span(body);
        let shown = self.show(ty);
        let (message, help) = match too_few(self.source, body, parameters.len()) {
            Some(too_few) => {
                self.misplace(&too_few.arguments);
                (
                    format!("the program's value is a function: {}", too_few.message),
                    too_few.help,
                )
            }
            None => (
                "the program's value cannot be a function".to_string(),
                match parameters.len() {
                    1 => "apply it to an argument".to_string(),
                    count => format!("apply it to {count} arguments"),
                },
            ),
        };
        let diagnostic = Diagnostic::error(codes::BAD_INPUT_TYPE, span, message)
            .label(format!("this is `{shown}`"))
            .help(help);
        self.diagnostics.push(diagnostic);
    }
}

impl Inference<'_> {
    /// Returns the types of the entries, as users read them.
    pub fn entry_types(&mut self) -> Vec<crate::EntryType> {
        let program = self.source.program;
        let mut types = Vec::new();
        for (index, entry) in program.entries.iter().enumerate() {
            let first = self.source.resolved.inputs[index].0 as usize;
            let inputs: Vec<Ty> = self.bindings[first..first + entry.inputs.len()]
                .iter()
                .map(|scheme| scheme.ty)
                .collect();
            let result = self.expressions[entry.body.0 as usize];
            let whole = self.solver.types.functions(&inputs, result);
            types.push(crate::EntryType {
                name: entry.name.text.clone(),
                text: self.solver.show(whole),
            });
        }
        types
    }
}
