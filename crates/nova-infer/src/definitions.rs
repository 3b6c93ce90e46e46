//! The types of definitions: groups that call each other are inferred together, in the order of
//! their dependencies.

use crate::inference::Inference;
use crate::name_graph::groups;
use crate::reasons::Because;
use crate::scheme::Scheme;
use crate::types::Ty;
use nova_diag::{Diagnostic, codes};
use petgraph::graph::{DiGraph, NodeIndex};

impl Inference<'_> {
    /// Infers all definitions.
    pub fn all_definitions(&mut self) {
        let mut graph: DiGraph<u32, ()> = DiGraph::new();
        let nodes: Vec<NodeIndex> = (0..self.source.program.definitions.len())
            .map(|index| graph.add_node(index as u32))
            .collect();
        for (from, dependencies) in self.source.resolved.dependencies.iter().enumerate() {
            // The graph lists edges in the reverse order of their addition, and a group is
            // evaluated in the order in which it is met.
            for &to in dependencies.iter().rev() {
                graph.add_edge(nodes[from], nodes[to as usize], ());
            }
        }
        for (members, recursive) in groups(&graph) {
            if recursive {
                self.recursive_definitions(&members);
            } else {
                for &member in &members {
                    self.single_definition(member);
                }
            }
            self.groups.push((members, recursive));
        }
    }

    fn single_definition(&mut self, index: u32) {
        let value = self.source.program.definitions[index as usize].value;
        if self.source.names_builtin(value) {
            return;
        }
        self.definition_arities[index as usize] = self.forms().arity(value);
        let scheme = if self.forms().generalises(value) {
            self.solver.types.enter();
            let ty = self.in_binding(|this| this.infer_value(value));
            let quantified = self.solver.generalise(&[ty]);
            Scheme { quantified, ty }
        } else {
            let ty = self.in_binding(|this| this.infer(value));
            Scheme::monomorphic(ty)
        };
        self.definitions[index as usize] = Some(scheme);
    }

    fn recursive_definitions(&mut self, members: &[u32]) {
        for &member in members {
            let value = self.source.program.definitions[member as usize].value;
            self.definition_arities[member as usize] = self.forms().arity(value);
        }
        if !self.check_functions(members) {
            let error = Scheme::monomorphic(self.solver.types.error());
            for &member in members {
                self.definitions[member as usize] = Some(error.clone());
            }
            return;
        }
        self.solver.types.enter();
        self.solver.current_group = members.to_vec();
        let types: Vec<Ty> = members
            .iter()
            .map(|&member| {
                let ty = self
                    .solver
                    .types
                    .open(self.source.program.definitions[member as usize].name.span);
                self.definitions[member as usize] = Some(Scheme::monomorphic(ty));
                ty
            })
            .collect();
        for (&member, &ty) in members.iter().zip(&types) {
            let definition = &self.source.program.definitions[member as usize];
            let because = Because::Recursion {
                name: definition.name.text.clone(),
                at: definition.name.span,
            };
            self.in_binding(|this| this.infer_recursive(ty, definition.value, because));
        }
        self.solver.current_group.clear();
        let quantified = self.solver.generalise(&types);
        for (&member, &ty) in members.iter().zip(&types) {
            let quantified = quantified.clone();
            self.definitions[member as usize] = Some(Scheme { quantified, ty });
        }
    }

    /// True if all definitions of a recursive group are functions by their form.
    fn check_functions(&mut self, members: &[u32]) -> bool {
        let program = self.source.program;
        let mut all = true;
        for &member in members {
            let definition = &program.definitions[member as usize];
            let forms = self.forms();
            if forms.arity(definition.value) > 0 && forms.is_duplicable(definition.value) {
                continue;
            }
            all = false;
            let name = &definition.name;
            let message = format!("the definition of `{}` depends on itself", name.text);
            let mut diagnostic = Diagnostic::error(
                codes::BAD_RECURSION,
                self.source.span(definition.value),
                message,
            )
            .label("this needs its own value")
            .help("only functions can refer to themselves: make it a lambda");
            for &other in members.iter().filter(|&&other| other != member) {
                let other = &program.definitions[other as usize].name;
                diagnostic = diagnostic.also(other.span, format!("by way of `{}`", other.text));
            }
            self.solver.diagnostics.push(diagnostic);
        }
        all
    }
}
