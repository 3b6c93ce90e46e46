//! Reads the `types` and `foreign` sections: synonyms, sums, their constructors, foreign functions.

use crate::convert::{Convert, Variables};
use crate::declarations::{
    Declarations, ForeignDeclaration, SumDeclaration, Synonym, TypeMeaning, variable_of,
};
use crate::name_graph::{groups, type_names};
use crate::types::{Constraint, GENERIC, Shallow, SumDeclarationId, Ty, TyNode, Types};
use nova_core::Scalar;
use nova_diag::{Diagnostic, Span, codes};
use nova_syntax::ast::{self, Name, TypeDefinitionKind, TypeKind};
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

impl Declarations {
    /// Reads the declarations of a program.
    pub fn new(
        program: &ast::Program,
        types: &mut Types,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Declarations {
        let mut declarations = Declarations::default();
        let parameters = declarations.collect_names(program, types, diagnostics);
        let mut builder = Builder {
            program,
            parameters,
            declarations,
            types,
            diagnostics,
        };
        let models = builder.find_written();
        builder.plan_node_types();
        builder.synonyms();
        builder.sums();
        builder.written_sums(&models);
        builder.foreigns();
        builder.declarations.find_endless(builder.types);
        builder.declarations.declare_node_types(builder.types);
        builder.check_node_types();
        builder.declarations
    }

    /// Enters the names of all types, and makes variables for the parameters of each.
    fn collect_names(
        &mut self,
        program: &ast::Program,
        types: &mut Types,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Vec<Vec<(Arc<str>, Ty)>> {
        let mut parameters = Vec::new();
        for definition in &program.types {
            let name = &definition.name;
            if Scalar::by_name(&name.text).is_some() || &*name.text == "unit" {
                let message = format!("`{}` is a built-in type", name.text);
                let diagnostic = Diagnostic::error(codes::DUPLICATE_NAME, name.span, message);
                diagnostics.push(diagnostic.help("choose another name"));
            }
            let constraint = match definition.kind {
                TypeDefinitionKind::Synonym(_) => Constraint::default(),
                TypeDefinitionKind::Sum(_) => Constraint::DATA,
            };
            let mut own: Vec<(Arc<str>, Ty)> = definition
                .parameters
                .iter()
                .map(|parameter| {
                    let variable = types.fresh_at(GENERIC, constraint, parameter.span);
                    (parameter.text.clone(), variable)
                })
                .collect();
            for (name, span) in undeclared_variables(program, definition) {
                diagnostics.push(undeclared(definition, &name, span));
                own.push((name, types.fresh_at(GENERIC, constraint, span)));
            }
            let variables = own.iter().filter_map(|(_, ty)| variable_of(types, *ty));
            let variables = variables.collect();
            let meaning = match &definition.kind {
                TypeDefinitionKind::Synonym(_) => {
                    self.synonyms.push(Synonym {
                        parameters: variables,
                        body: types.error(),
                    });
                    TypeMeaning::Synonym(self.synonyms.len() as u32 - 1)
                }
                TypeDefinitionKind::Sum(_) => {
                    self.sums.push(SumDeclaration {
                        name: name.clone(),
                        parameters: variables,
                        constructors: Vec::new(),
                        endless: None,
                        nodes: None,
                        node_of: None,
                    });
                    TypeMeaning::Sum(SumDeclarationId(self.sums.len() as u32 - 1))
                }
            };
            self.names.insert(name.text.clone(), meaning);
            parameters.push(own);
        }
        parameters
    }
}

/// Reads the declarations of a program.
pub(crate) struct Builder<'a> {
    pub program: &'a ast::Program,
    /// The parameters of each type definition.
    parameters: Vec<Vec<(Arc<str>, Ty)>>,
    pub declarations: Declarations,
    pub types: &'a mut Types,
    pub diagnostics: &'a mut Vec<Diagnostic>,
}

impl Builder<'_> {
    fn convert(&mut self, ty: ast::TypeId, definition: Option<usize>) -> Ty {
        let named = definition.map(|index| self.parameters[index].iter().cloned().collect());
        self.converter(named.unwrap_or_default()).ty(ty)
    }

    /// Returns the conversion of types in which these variables are declared.
    pub fn converter(&mut self, named: HashMap<Arc<str>, Ty>) -> Convert<'_> {
        Convert {
            program: self.program,
            declarations: &self.declarations,
            types: self.types,
            diagnostics: self.diagnostics,
            variables: Variables::Declared(named),
            replaced: HashMap::new(),
        }
    }

    /// Converts the synonyms, those that others use first.
    fn synonyms(&mut self) {
        let program = self.program;
        let mut graph: DiGraph<usize, ()> = DiGraph::new();
        let nodes: Vec<NodeIndex> = (0..program.types.len())
            .map(|index| graph.add_node(index))
            .collect();
        let by_name: HashMap<&str, usize> = program
            .types
            .iter()
            .enumerate()
            .filter(|(_, definition)| matches!(definition.kind, TypeDefinitionKind::Synonym(_)))
            .map(|(index, definition)| (&*definition.name.text, index))
            .collect();
        for (index, definition) in program.types.iter().enumerate() {
            if let TypeDefinitionKind::Synonym(body) = definition.kind {
                for used in type_names(program, body) {
                    if let Some(&other) = by_name.get(&*used) {
                        graph.add_edge(nodes[index], nodes[other], ());
                    }
                }
            }
        }
        for (members, recursive) in groups(&graph) {
            if recursive {
                self.recursive_synonym(&members);
                continue;
            }
            for index in members {
                self.synonym(index);
            }
        }
    }

    fn synonym(&mut self, index: usize) {
        let definition = &self.program.types[index];
        if let TypeDefinitionKind::Synonym(body) = definition.kind {
            let body = self.convert(body, Some(index));
            if let Some(TypeMeaning::Synonym(synonym)) =
                self.declarations.names.get(&definition.name.text)
            {
                self.declarations.synonyms[*synonym as usize].body = body;
            }
        }
    }

    fn recursive_synonym(&mut self, members: &[usize]) {
        let Some((&first, others)) = members.split_first() else {
            return;
        };
        let name = &self.program.types[first].name;
        let message = format!("the type synonym `{}` contains itself", name.text);
        let mut diagnostic = Diagnostic::error(
            codes::RECURSIVE_SYNONYM,
            self.program.types[first].span,
            message,
        )
        .help("a recursive type must be a sum: `(List : (+ (Nil : unit) (Cons : (int, List))))`");
        for &other in others {
            diagnostic = diagnostic.also(self.program.types[other].span, "by way of this one");
        }
        self.diagnostics.push(diagnostic);
    }

    fn sums(&mut self) {
        let program = self.program;
        for (index, definition) in program.types.iter().enumerate() {
            let TypeDefinitionKind::Sum(constructors) = &definition.kind else {
                continue;
            };
            let Some(TypeMeaning::Sum(sum)) =
                self.declarations.names.get(&definition.name.text).copied()
            else {
                continue;
            };
            let named = self.parameters[index].iter().cloned().collect();
            self.constructors(sum, constructors, (&named, &HashMap::new()));
        }
    }

    /// Warns of a constructor that has the name of a built-in function.
    pub fn warn_of_builtin(&mut self, name: &Name) {
        if crate::builtins::BuiltinId::by_name(&name.text).is_some() {
            let message = format!("the constructor `{}` hides a built-in function", name.text);
            let diagnostic = Diagnostic::warning(codes::DUPLICATE_NAME, name.span, message);
            self.diagnostics.push(diagnostic);
        }
    }

    fn foreigns(&mut self) {
        for (index, foreign) in self.program.foreigns.iter().enumerate() {
            let ty = self.convert(foreign.ty, None);
            self.check_foreign(foreign, ty);
            self.declarations
                .foreigns
                .insert(foreign.name.text.clone(), index as u32);
            self.declarations.foreign_types.push(ForeignDeclaration {
                kind: foreign.kind,
                name: foreign.name.clone(),
                ty,
            });
        }
    }

    /// True if types are scalars or tuples of those. Shared types are visited once.
    fn are_of_numbers(&mut self, types: Vec<Ty>) -> bool {
        let mut seen = HashSet::new();
        let mut work = types;
        while let Some(ty) = work.pop() {
            if !seen.insert(ty) {
                continue;
            }
            match self.types.shallow(ty) {
                Shallow::Node(TyNode::Scalar(_)) => {}
                Shallow::Node(TyNode::Tuple(elements)) => work.extend(elements.iter()),
                Shallow::Node(_) | Shallow::Unbound(..) => return false,
            }
        }
        true
    }

    /// Checks that a foreign function takes and returns data.
    fn check_foreign(&mut self, foreign: &ast::Foreign, ty: Ty) {
        let (parameters, _, _) = self.types.peel(ty);
        let error = self.types.is_error(ty);
        let higher_order = parameters.iter().any(|parameter| {
            matches!(
                self.types.shallow(*parameter),
                Shallow::Node(TyNode::Function(..))
            )
        });
        let span = self.program.ty(foreign.ty).span;
        let name = &foreign.name.text;
        if error || (!parameters.is_empty() && !higher_order) {
            let (parameters, result, _) = self.types.peel(ty);
            let all = parameters.into_iter().chain([result]);
            let numbers = self.are_of_numbers(all.collect());
            if foreign.kind == ast::ForeignKind::Device && !error && !numbers {
                let message =
                    format!("the function of the device `{name}` must take and give numbers");
                let help = "code of the device takes and gives scalars and tuples of scalars";
                let code = codes::BAD_INPUT_TYPE;
                let diagnostic = Diagnostic::error(code, span, message).help(help);
                self.diagnostics.push(diagnostic);
            }
            return;
        }
        let (message, help) = if higher_order {
            (
                format!("the foreign function `{name}` cannot take a function"),
                "C functions take and give data",
            )
        } else {
            (
                format!("the foreign `{name}` is no function"),
                "write its type as `(f : int -> int)`",
            )
        };
        let diagnostic = Diagnostic::error(codes::BAD_INPUT_TYPE, span, message).help(help);
        self.diagnostics.push(diagnostic);
    }
}

/// Returns the type variables that a definition uses and does not declare, each once.
fn undeclared_variables(
    program: &ast::Program,
    definition: &ast::TypeDefinition,
) -> Vec<(Arc<str>, Span)> {
    let mut found: Vec<(Arc<str>, Span)> = Vec::new();
    let mut work: Vec<ast::TypeId> = match &definition.kind {
        TypeDefinitionKind::Synonym(body) => vec![*body],
        TypeDefinitionKind::Sum(constructors) => constructors
            .iter()
            .rev()
            .map(|(_, payload)| *payload)
            .collect(),
    };
    while let Some(ty) = work.pop() {
        let node = program.ty(ty);
        if let TypeKind::Variable(name) = &node.kind {
            let declared = definition.parameters.iter().any(|p| p.text == *name);
            if !declared && !found.iter().any(|(known, _)| known == name) {
                found.push((name.clone(), node.span));
            }
        }
        work.extend(node.kind.parts().into_iter().rev());
    }
    found
}

fn undeclared(definition: &ast::TypeDefinition, variable: &str, used: Span) -> Diagnostic {
    let name = &definition.name;
    let message = format!(
        "the type variable `'{variable}` is not declared by the type `{}`",
        name.text
    );
    let declared: String = definition
        .parameters
        .iter()
        .map(|parameter| format!(" '{}", parameter.text))
        .collect();
    Diagnostic::error(codes::UNKNOWN_TYPE, name.span, message)
        .label("declare it after this name")
        .also(used, "used here")
        .help(format!("write `({}{declared} '{variable} : …)`", name.text))
}
