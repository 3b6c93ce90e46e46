//! Monomorphisation: translates the syntax tree and its types to Core.
//!
//! Each entry is translated on its own. A generalised binding is translated once for every list of
//! types that its uses demand. So a binding's scope is translated before its value, and the
//! instances demanded on the way become `let`s (or a `letrec`) around it. Types are interned, so
//! that an instance is found by comparing a few numbers.

mod application;
mod bindings;
mod commutes;
mod concrete;
mod expressions;
mod known;
mod lower;
mod recursive;
mod strategies;
mod sums;
mod writer;

use crate::inference::Inference;
use crate::resolve::BindingId;
use crate::source::Source;
use crate::types::{Ty, TypeVariable};
use crate::values::Forms;
use concrete::{Concrete, MonoType};
use nova_core::Type;
use nova_core::ir::{self, ExpressionKind, Variable};
use nova_diag::{Diagnostic, Span, codes};
use nova_syntax::ast;
use recursive::FormTables;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use writer::Writer;

/// Number of parts of a type above which a program is refused. Each part becomes a variable or an
/// array in C.
const LARGEST_TYPE: u64 = 1 << 15;
/// Number of parts of a type above which it counts as large.
const LARGE_TYPE: u64 = 1 << 8;
/// Maximum number of parts of all expressions of large types together.
const MOST_PARTS: u64 = 1 << 24;
/// Number of instances of generalised bindings above which a program is refused.
const MOST_INSTANCES: usize = 1 << 15;

/// Translates a program, and reports the errors that only its instances show. Entries with errors,
/// and those that use a definition with one, are left out. If there is one, the result is `None`.
pub(crate) fn monomorphise(inference: &mut Inference<'_>) -> Option<ir::Program> {
    let clean = inference.clean_parts();
    let bindings = inference.bindings.len();
    let mut group_of = vec![(0, 0); inference.source.program.definitions.len()];
    for (group, (members, _)) in inference.groups.iter().enumerate() {
        for (position, &member) in members.iter().enumerate() {
            group_of[member as usize] = (group, position);
        }
    }
    let source = inference.source;
    let writer = Writer {
        source,
        core: ir::Program::default(),
    };
    let mut mono = Mono {
        source,
        inference,
        writer,
        concrete: Concrete::default(),
        environment: HashMap::new(),
        ground: Vec::new(),
        frames: vec![HashMap::new()],
        bindings: (0..bindings).map(|_| Meaning::Unused).collect(),
        groups: Vec::new(),
        group_of,
        current_group: None,
        hoisted: HashMap::new(),
        forms: FormTables::new(),
        instances: 0,
        parts: 0,
        too_large: false,
        reported: HashSet::new(),
    };
    if !clean.outside {
        return None;
    }
    mono.foreigns();
    for (index, clean) in clean.entries.iter().enumerate() {
        if *clean {
            mono.entry(index);
        }
    }
    clean
        .entries
        .iter()
        .all(|clean| *clean)
        .then_some(mono.writer.core)
}

/// The meaning of a binding in the instance being translated.
enum Meaning {
    Unused,
    Variable(Variable),
    /// A generalised binding: an instance for each list of types that uses demand.
    Instances(Instances),
}

/// The instances of a generalised binding or group of definitions.
#[derive(Default)]
struct Instances {
    /// The types, and a variable for each member of the group, in the order of the demands.
    list: Vec<(Arc<[MonoType]>, Vec<Variable>)>,
    by_types: HashMap<Arc<[MonoType]>, usize>,
}

/// Translates the instances of a program to Core.
struct Mono<'a, 'p> {
    source: Source<'p>,
    inference: &'a mut Inference<'p>,
    writer: Writer<'p>,
    concrete: Concrete,
    /// The types of the quantified variables in the instance being translated.
    environment: HashMap<TypeVariable, MonoType>,
    /// Types without quantified variables, already converted.
    ground: Vec<Option<MonoType>>,
    /// Types with quantified variables, converted in each instance being translated.
    frames: Vec<HashMap<Ty, MonoType>>,
    bindings: Vec<Meaning>,
    /// The instances of each group of definitions that the entry uses.
    groups: Vec<Instances>,
    /// Group and position in it of each definition.
    group_of: Vec<(usize, usize)>,
    /// The recursive group being translated, with the variables of the instance.
    current_group: Option<(usize, Vec<Variable>)>,
    /// Arguments of generalised partial applications that have been evaluated already.
    hoisted: HashMap<ast::ExpressionId, Variable>,
    /// The tables of the `foreach`es being translated.
    forms: FormTables,
    /// The number of instances.
    instances: usize,
    /// The number of parts that the expressions of large types have so far.
    parts: u64,
    /// True if the program is already refused for its size.
    too_large: bool,
    /// Places of errors already reported, with their codes.
    reported: HashSet<(Span, u16)>,
}

impl<'p> Mono<'_, 'p> {
    fn forms(&self) -> Forms<'_> {
        self.inference.forms()
    }

    /// Reports an error once.
    fn report(&mut self, diagnostic: Diagnostic) {
        let key = (diagnostic.primary.span, diagnostic.code.0);
        if self.reported.insert(key) {
            self.inference.solver.diagnostics.push(diagnostic);
        }
    }

    /// Returns the Core type of a type in the instance being translated, for something that stands
    /// at `at`. A type that is too large is reported there.
    fn core_type(&mut self, ty: Ty, at: Span) -> Type {
        let mono = self.mono_type(ty);
        self.check_type(mono, at, true);
        self.concrete.core(mono)
    }

    /// Returns the Core type of an expression.
    fn type_of(&mut self, id: ast::ExpressionId) -> Type {
        let ty = self.inference.expressions[id.0 as usize];
        let mono = self.mono_type(ty);
        let expression = self.source.program.expression(id);
        self.check_type(mono, expression.span, makes_parts(&expression.kind));
        self.concrete.core(mono)
    }

    /// Refuses types beyond limits that no sensible program reaches. Shared parts of types are
    /// copied from Flat on. `new` is true if the parts are new ones.
    fn check_type(&mut self, ty: MonoType, at: Span, new: bool) {
        let finished = self.concrete.pending.is_empty() || self.finish_sums();
        let size = self.concrete.size(ty);
        if new && size > LARGE_TYPE {
            self.parts = self.parts.saturating_add(size);
        }
        let within = finished && size <= LARGEST_TYPE && self.parts <= MOST_PARTS;
        if within || self.too_large {
            return;
        }
        let message = match (finished && size <= LARGEST_TYPE, self.parts <= MOST_PARTS) {
            (true, false) => {
                format!("the values of this program have more than {MOST_PARTS} parts")
            }
            (_, _) => format!("this has a type of more than {LARGEST_TYPE} parts"),
        };
        self.refuse_size(
            at,
            message,
            "each part of a type is a variable or an array in C",
        );
    }

    /// Reports once that a program is too large. The rest of it is not translated.
    fn refuse_size(&mut self, at: Span, message: String, help: &str) {
        if std::mem::replace(&mut self.too_large, true) {
            return;
        }
        let diagnostic = Diagnostic::error(codes::ENDLESS_INSTANTIATION, at, message).help(help);
        self.report(diagnostic);
    }

    fn foreigns(&mut self) {
        let declarations = self.source.declarations;
        for foreign in &declarations.foreign_types {
            let (parameters, result, _) = self.inference.solver.types.peel(foreign.ty);
            let at = foreign.name.span;
            let parameters = parameters
                .iter()
                .map(|ty| self.core_type(*ty, at))
                .collect();
            let result = self.core_type(result, at);
            self.writer.core.foreigns.push(ir::Foreign {
                kind: foreign.kind,
                name: foreign.name.text.clone(),
                parameters,
                result,
            });
        }
    }

    fn entry(&mut self, index: usize) {
        let entry = &self.source.program.entries[index];
        let first = self.source.resolved.inputs[index].0;
        let groups = self.inference.groups.len();
        self.groups = (0..groups).map(|_| Instances::default()).collect();
        let mut inputs = Vec::new();
        for offset in 0..entry.inputs.len() as u32 {
            inputs.push(self.plain_variable(BindingId(first + offset)));
        }
        let mut body = self.translate(entry.body);
        for group in (0..groups).rev() {
            body = self.group(group, body);
        }
        self.writer.core.entries.push(ir::Entry {
            name: entry.name.text.clone(),
            inputs,
            body,
        });
    }

    /// Binds the demanded instances of a group of definitions around `body`.
    fn group(&mut self, group: usize, body: ir::ExpressionId) -> ir::ExpressionId {
        let instances = std::mem::take(&mut self.groups[group]);
        if instances.list.is_empty() {
            return body;
        }
        let (members, recursive) = self.inference.groups[group].clone();
        let quantified = match members.first() {
            Some(&member) => self.quantified_by(member),
            None => return body,
        };
        if recursive {
            return self.recursive_group(group, &members, instances, &quantified, body);
        }
        let mut body = body;
        for member in members {
            let value = self.source.program.definitions[member as usize].value;
            let list = instances.list.iter();
            let list = list.map(|(types, variables)| (types.clone(), variables[0]));
            body = self.instances(value, &quantified, list.collect(), body, value);
        }
        body
    }

    fn quantified_by(&self, definition: u32) -> Arc<[TypeVariable]> {
        match &self.inference.definitions[definition as usize] {
            Some(scheme) => scheme.quantified.clone(),
            None => [].into(),
        }
    }

    fn recursive_group(
        &mut self,
        group: usize,
        members: &[u32],
        instances: Instances,
        quantified: &Arc<[TypeVariable]>,
        body: ir::ExpressionId,
    ) -> ir::ExpressionId {
        let mut body = body;
        for (types, variables) in instances.list {
            let outer = self.current_group.replace((group, variables.clone()));
            self.enter_instance(quantified, &types);
            let mut bindings = Vec::new();
            let mut at = None;
            for (&member, &variable) in members.iter().zip(&variables) {
                let value = self.source.program.definitions[member as usize].value;
                bindings.push((variable, self.translate_lambda(value)));
                at.get_or_insert(value);
            }
            self.leave_instance(quantified);
            self.current_group = outer;
            if let Some(at) = at {
                let ty = self.writer.core.expression(body).ty.clone();
                body = self
                    .writer
                    .add(ExpressionKind::Letrec { bindings, body }, ty, at);
            }
        }
        body
    }

    /// Returns the variable of the instance of a definition that a use demands.
    fn definition_instance(&mut self, id: ast::ExpressionId, definition: u32) -> Variable {
        let (group, position) = self.group_of[definition as usize];
        if let Some((current, variables)) = &self.current_group
            && *current == group
            && !self.inference.instances.contains_key(&id)
        {
            return variables[position];
        }
        let types = self.instance_types(id);
        if let Some(&found) = self.groups[group].by_types.get(&types) {
            return self.groups[group].list[found].1[position];
        }
        let members = self.inference.groups[group].0.clone();
        let quantified = self.quantified_by(definition);
        self.check_instance(&types, id);
        self.enter_instance(&quantified, &types);
        let variables: Vec<Variable> = members
            .iter()
            .map(|&member| {
                let name = self.source.program.definitions[member as usize]
                    .name
                    .text
                    .clone();
                let ty = match &self.inference.definitions[member as usize] {
                    Some(scheme) => scheme.ty,
                    None => self.inference.solver.types.error(),
                };
                let ty = self.core_type(ty, self.source.span(id));
                self.writer.core.add_variable(name, ty)
            })
            .collect();
        self.leave_instance(&quantified);
        let variable = variables[position];
        self.groups[group].insert(types, variables);
        variable
    }

    /// Returns the types of the quantified variables of a used binding.
    fn instance_types(&mut self, id: ast::ExpressionId) -> Arc<[MonoType]> {
        let types = self.inference.instances.get(&id).cloned();
        let types = types.unwrap_or_else(|| [].into());
        types.iter().map(|ty| self.mono_type(*ty)).collect()
    }

    /// Refuses instances beyond limits that no sensible program reaches.
    fn check_instance(&mut self, types: &[MonoType], at: ast::ExpressionId) {
        self.instances += 1;
        if !self.concrete.pending.is_empty() {
            self.finish_sums();
        }
        let large = self.concrete.sum_of_sizes(types) > LARGEST_TYPE;
        if !large && self.instances <= MOST_INSTANCES {
            return;
        }
        let name = self.source.name_of(at);
        let name = name.as_deref().unwrap_or("this");
        let message = match large {
            true => format!("`{name}` is used at a type of more than {LARGEST_TYPE} parts"),
            false => format!("more than {MOST_INSTANCES} instances of generalised functions"),
        };
        let help = "every type a function is used at needs a copy of the function";
        self.refuse_size(self.source.span(at), message, help);
    }

    fn enter_instance(&mut self, quantified: &[TypeVariable], types: &[MonoType]) {
        self.environment
            .extend(quantified.iter().copied().zip(types.iter().copied()));
        self.frames.push(HashMap::new());
    }

    fn leave_instance(&mut self, quantified: &[TypeVariable]) {
        self.frames.pop();
        for variable in quantified {
            self.environment.remove(variable);
        }
    }
}

impl Instances {
    fn insert(&mut self, types: Arc<[MonoType]>, variables: Vec<Variable>) {
        self.by_types.insert(types.clone(), self.list.len());
        self.list.push((types, variables));
    }
}

/// True for an expression that creates the parts of its value, and does not only name existing
/// parts.
fn makes_parts(kind: &ast::ExpressionKind) -> bool {
    !matches!(
        kind,
        ast::ExpressionKind::Name(_)
            | ast::ExpressionKind::Tuple(_)
            | ast::ExpressionKind::Project(..)
            | ast::ExpressionKind::Annotate(..)
            | ast::ExpressionKind::Lambda { .. }
            | ast::ExpressionKind::Let { .. }
    )
}
