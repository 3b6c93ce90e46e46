//! Sums written where a type stands, `(s : (+ (A : int) (B : float)))`. Each is an instance of a
//! declared sum, or of one that this module declares for all sums with its constructors.

use crate::convert::{Convert, Variables};
use crate::declarations::{
    ConstructorDeclaration, Declarations, SumDeclaration, TypeMeaning, WrittenSum, variable_of,
};
use crate::declare::Builder;
use crate::name_graph::recursions;
use crate::types::{Constraint, GENERIC, SumDeclarationId, Ty};
use nova_diag::{Diagnostic, Span, codes};
use nova_syntax::ast::{self, Name, TypeDefinitionKind, TypeId, TypeKind};
use std::collections::HashMap;
use std::sync::Arc;

/// A sum that others are compared with: one declared in `types`, or the representative of all sums
/// with its constructors.
struct Model<'p> {
    sum: SumDeclarationId,
    parameters: Vec<Parameter>,
    constructors: &'p [(Name, TypeId)],
    /// Its type expression, if it is no declaration.
    written: Option<TypeId>,
    /// The types of its parameters, if it is no declaration.
    variables: Vec<Ty>,
}

/// A parameter of a model.
enum Parameter {
    /// A type variable.
    Variable(Arc<str>),
    /// The places in the model where one type of the recursive type around it stands.
    Recursion(Vec<TypeId>),
}

/// The models of a program, and the model of each sum that is written as a type.
pub(crate) struct Models<'p> {
    models: Vec<Model<'p>>,
    /// Each written sum with the index of its model.
    written: Vec<(TypeId, usize)>,
}

/// Returns the names of constructors, in order.
fn names(constructors: &[(Name, TypeId)]) -> Vec<Arc<str>> {
    let names = constructors.iter().map(|(name, _)| name.text.clone());
    names.collect()
}

/// Returns the name of a sum without a name of its own: its constructors with `+` before each. No
/// type that a program declares has such a name.
fn name_of(constructors: &[(Name, TypeId)]) -> Arc<str> {
    let each = constructors.iter();
    let each = each.map(|(name, _)| name.text.replace('\'', "''").replace('+', "'p"));
    let text: String = each.map(|name| format!("+{name}")).collect();
    text.into()
}

impl<'a> Builder<'a> {
    /// Finds the sum of which each sum written as a type is an instance.
    pub fn find_written(&mut self) -> Models<'a> {
        let program = self.program;
        let mut models: Vec<Model<'a>> = Vec::new();
        let mut by_names: HashMap<Vec<Arc<str>>, usize> = HashMap::new();
        for definition in &program.types {
            let known = self.declarations.names.get(&definition.name.text);
            if let (TypeDefinitionKind::Sum(constructors), Some(TypeMeaning::Sum(sum))) =
                (&definition.kind, known)
            {
                by_names.entry(names(constructors)).or_insert(models.len());
                models.push(Model {
                    sum: *sum,
                    parameters: definition
                        .parameters
                        .iter()
                        .map(|p| Parameter::Variable(p.text.clone()))
                        .collect(),
                    constructors,
                    written: None,
                    variables: Vec::new(),
                });
            }
        }
        let declared = models.len();
        let mut written = Vec::new();
        let within = recursions(program);
        for (index, node) in program.type_arena.iter().enumerate() {
            let id = TypeId(index as u32);
            let TypeKind::Sum(constructors) = &node.kind else {
                continue;
            };
            let recursion = within.get(&id).map_or(&[][..], |names| names);
            let parameters = parameters_in(program, id, recursion);
            let model = *by_names.entry(names(constructors)).or_insert(models.len());
            let new = Model {
                sum: SumDeclarationId(0),
                parameters,
                constructors,
                written: Some(id),
                variables: Vec::new(),
            };
            match models.get(model) {
                None => models.push(new),
                // The most general one represents all.
                Some(known)
                    if known.written.is_some() && known.parameters.len() < new.parameters.len() =>
                {
                    models[model] = new;
                }
                Some(_) => {}
            }
            written.push((id, model));
        }
        for model in &mut models[declared..] {
            self.declare_written(model, program);
        }
        for &(id, model) in &written {
            let model = &models[model];
            let mut found = HashMap::new();
            if let TypeKind::Sum(constructors) = &program.ty(id).kind {
                for ((_, of_model), (_, payload)) in model.constructors.iter().zip(constructors) {
                    compare(program, &model.parameters, *of_model, *payload, &mut found);
                }
            }
            let parameters = 0..model.parameters.len();
            let arguments = parameters.map(|p| found.get(&p).copied()).collect();
            let sum = model.sum;
            let instance = WrittenSum { sum, arguments };
            self.declarations.written.insert(id, instance);
        }
        Models { models, written }
    }

    fn declare_written(&mut self, model: &mut Model<'_>, program: &ast::Program) {
        let Some(id) = model.written else {
            return;
        };
        let span = program.ty(id).span;
        let mut parameters = Vec::new();
        for _ in &model.parameters {
            let variable = self.types.fresh_at(GENERIC, Constraint::DATA, span);
            parameters.extend(variable_of(self.types, variable));
            model.variables.push(variable);
        }
        model.sum = SumDeclarationId(self.declarations.sums.len() as u32);
        let text = name_of(model.constructors);
        self.declarations.sums.push(SumDeclaration {
            name: Name { text, span },
            parameters,
            constructors: Vec::new(),
            endless: None,
            nodes: None,
            node_of: None,
        });
    }

    /// Reads the constructors of the sums that have no name, and checks that sums of the same
    /// constructors have the same payloads.
    pub fn written_sums(&mut self, models: &Models<'a>) {
        for model in &models.models {
            if let Some(id) = model.written {
                self.written_constructors(model, id);
            }
        }
        for &(id, model) in &models.written {
            let model = &models.models[model];
            if model.written != Some(id) {
                self.check_written(model, id);
            }
        }
    }

    fn written_constructors(&mut self, model: &Model<'a>, id: TypeId) {
        let mut named = HashMap::new();
        let mut replaced = HashMap::new();
        for (parameter, variable) in model.parameters.iter().zip(&model.variables) {
            match parameter {
                Parameter::Variable(name) => {
                    named.insert(name.clone(), *variable);
                }
                Parameter::Recursion(places) => {
                    replaced.extend(places.iter().map(|place| (*place, *variable)));
                }
            }
        }
        if let TypeKind::Sum(constructors) = &self.program.ty(id).kind {
            self.constructors(model.sum, constructors, (&named, &replaced));
        }
    }

    /// Demands that a written sum has the payloads of its model.
    fn check_written(&mut self, model: &Model<'a>, id: TypeId) {
        let program = self.program;
        let TypeKind::Sum(constructors) = &program.ty(id).kind else {
            return;
        };
        let mut own = HashMap::new();
        for name in variables_in(program, id) {
            let variable = self
                .types
                .fresh_at(GENERIC, Constraint::DATA, program.ty(id).span);
            own.insert(name, variable);
        }
        // Errors in the arguments are reported with the payloads.
        let mut unheard = Vec::new();
        let declarations = &self.declarations;
        let instance = declarations.written.get(&id).map(|w| w.arguments.clone());
        let mut arguments = Vec::new();
        for argument in instance.unwrap_or_default() {
            let Some(argument) = argument else {
                arguments.clear();
                break;
            };
            arguments.push(
                Convert {
                    program,
                    declarations,
                    types: self.types,
                    diagnostics: &mut unheard,
                    variables: Variables::Declared(own.clone()),
                    replaced: HashMap::new(),
                }
                .ty(argument),
            );
        }
        let declaration = self.declarations.sum(model.sum);
        let complete = arguments.len() == declaration.parameters.len();
        let known: Vec<Ty> = declaration.constructors.iter().map(|c| c.payload).collect();
        let parameters = declaration.parameters.clone();
        for (((name, payload), (first, _)), known) in
            constructors.iter().zip(model.constructors).zip(known)
        {
            let at = program.ty(*payload).span;
            let payload = self.converter(own.clone()).held(*payload);
            let expected = self.types.substitute(known, &parameters, &arguments);
            if !complete || !self.types.same(expected, payload) {
                self.diagnostics.push(other_payload(name, at, first));
                return;
            }
        }
    }

    /// Enters the constructors of a sum. Their payloads have the types of `named` for variables, and
    /// those of `replaced` at some places.
    pub fn constructors(
        &mut self,
        sum: SumDeclarationId,
        constructors: &[(Name, TypeId)],
        (named, replaced): (&HashMap<Arc<str>, Ty>, &HashMap<TypeId, Ty>),
    ) {
        for (name, payload_type) in constructors {
            let mut converter = self.converter(named.clone());
            converter.replaced = replaced.clone();
            let payload = converter.held(*payload_type);
            let constant = self.types.is_unit(payload);
            self.warn_of_builtin(name);
            let declared = self.declarations.is_named(sum);
            if let (false, Some(diagnostic)) = (declared, self.clash(name)) {
                self.diagnostics.push(diagnostic);
            }
            let declaration = &mut self.declarations.sums[sum.0 as usize];
            let place = declaration.constructors.len() as u32;
            declaration.constructors.push(ConstructorDeclaration {
                name: name.clone(),
                payload,
                payload_span: self.program.ty(*payload_type).span,
                constant,
            });
            self.declarations.enter(name, sum, place);
        }
    }

    /// Returns the error about a constructor of a sum without a name whose name has another
    /// meaning, too.
    fn clash(&self, name: &Name) -> Option<Diagnostic> {
        let program = self.program;
        let same = |other: &&Name| other.text == name.text;
        let constructor = self
            .declarations
            .constructor(&name.text)
            .and_then(|(of, place)| {
                let of = self.declarations.sums.get(of as usize)?;
                Some(&of.constructors.get(place as usize)?.name)
            });
        let foreign = || program.foreigns.iter().map(|f| &f.name).find(same);
        let definition = || program.definitions.iter().map(|d| &d.name).find(same);
        let (first, noun) = match (constructor, foreign(), definition()) {
            (Some(first), _, _) => (first, "constructor"),
            (None, Some(first), _) => (first, "foreign function"),
            (None, None, Some(first)) => (first, "definition"),
            (None, None, None) => return None,
        };
        let message = match noun {
            "constructor" => format!("the constructor `{}` is given twice", name.text),
            _ => format!("`{}` names both a {noun} and a constructor", name.text),
        };
        let diagnostic = Diagnostic::error(codes::DUPLICATE_NAME, name.span, message)
            .label("here again")
            .also(first.span, "first here")
            .help("a constructor belongs to one type; sums are one type only where all constructors agree, in order");
        Some(diagnostic)
    }
}

impl Declarations {
    /// True for a sum that is declared in `types`.
    pub fn is_named(&self, sum: SumDeclarationId) -> bool {
        !self.sum(sum).name.text.starts_with('+')
    }

    /// Returns the text for a sum in messages.
    pub fn shown_name(&self, sum: SumDeclarationId) -> String {
        if self.is_named(sum) {
            return self.sum(sum).name.text.to_string();
        }
        let constructors = self.sum(sum).constructors.iter();
        let each: String = constructors
            .map(|c| format!(" ({} : …)", c.name.text))
            .collect();
        format!("(+{each})")
    }
}

/// Returns the error about two sums that have the same constructors with other payloads.
fn other_payload(name: &Name, at: Span, first: &Name) -> Diagnostic {
    let message = format!("the constructor `{}` has another payload here", name.text);
    Diagnostic::error(codes::DUPLICATE_NAME, at, message)
        .label("here again")
        .also(first.span, "first here")
        .help("a constructor belongs to one type: give the constructors of one of the two other names")
}

/// Returns the type variables in a type expression, each once, in order.
fn variables_in(program: &ast::Program, id: TypeId) -> Vec<Arc<str>> {
    let mut found: Vec<Arc<str>> = Vec::new();
    let mut work = vec![id];
    while let Some(id) = work.pop() {
        if let TypeKind::Variable(name) = &program.ty(id).kind
            && !found.contains(name)
        {
            found.push(name.clone());
        }
        work.extend(program.ty(id).kind.parts().into_iter().rev());
    }
    found
}

/// Returns the parameters of a written sum: its variables, and the types of the recursive type
/// around it, whose names are `recursion`, in the order in which they stand.
fn parameters_in(program: &ast::Program, id: TypeId, recursion: &[Arc<str>]) -> Vec<Parameter> {
    let mut found: Vec<Parameter> = Vec::new();
    let mut work = vec![id];
    while let Some(id) = work.pop() {
        let kind = &program.ty(id).kind;
        let is_recursion = kind.name().is_some_and(|name| recursion.contains(name));
        let same = found.iter_mut().find_map(|parameter| match parameter {
            Parameter::Recursion(places) if is_recursion => {
                is_same(program, *places.first()?, id).then_some(places)
            }
            Parameter::Recursion(_) | Parameter::Variable(_) => None,
        });
        match (same, kind) {
            (Some(places), _) => places.push(id),
            (None, _) if is_recursion => found.push(Parameter::Recursion(vec![id])),
            (None, TypeKind::Variable(name)) => {
                let known = found
                    .iter()
                    .any(|p| matches!(p, Parameter::Variable(known) if known == name));
                if !known {
                    found.push(Parameter::Variable(name.clone()));
                }
            }
            (None, kind) => work.extend(kind.parts().into_iter().rev()),
        }
    }
    found
}

/// True if two type expressions are the same text.
fn is_same(program: &ast::Program, a: TypeId, b: TypeId) -> bool {
    let mut work = vec![(a, b)];
    while let Some((a, b)) = work.pop() {
        let (a, b) = (&program.ty(a).kind, &program.ty(b).kind);
        let (parts, others) = (a.parts(), b.parts());
        let alike = match (a, b) {
            (TypeKind::Variable(a), TypeKind::Variable(b)) => a == b,
            (TypeKind::Vector(a, _), TypeKind::Vector(b, _))
            | (TypeKind::Lanes(a, _), TypeKind::Lanes(b, _)) => a == b,
            (TypeKind::Sum(a), TypeKind::Sum(b)) => names(a) == names(b),
            _ => a.name() == b.name() && std::mem::discriminant(a) == std::mem::discriminant(b),
        };
        if !alike || parts.len() != others.len() {
            return false;
        }
        work.extend(parts.into_iter().zip(others));
    }
    true
}

/// Finds the parts of `other` where `model` has its parameters.
fn compare(
    program: &ast::Program,
    parameters: &[Parameter],
    model: TypeId,
    other: TypeId,
    found: &mut HashMap<usize, TypeId>,
) {
    let mut work = vec![(model, other)];
    while let Some((model, other)) = work.pop() {
        let (of_model, of_other) = (&program.ty(model).kind, &program.ty(other).kind);
        let parameter = parameters.iter().position(|parameter| match parameter {
            Parameter::Variable(name) => {
                matches!(of_model, TypeKind::Variable(found) if found == name)
            }
            Parameter::Recursion(places) => places.contains(&model),
        });
        if let Some(parameter) = parameter {
            found.entry(parameter).or_insert(other);
            continue;
        }
        let (parts, others) = (of_model.parts(), of_other.parts());
        if std::mem::discriminant(of_model) == std::mem::discriminant(of_other)
            && parts.len() == others.len()
        {
            work.extend(parts.into_iter().zip(others).rev());
        }
    }
}
