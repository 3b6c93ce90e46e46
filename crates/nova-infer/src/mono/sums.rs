//! Instances of sum types: their constructors, the groups of those that are recursive, and their
//! sizes.

use super::concrete::MonoType;
use super::{LARGEST_TYPE, Mono};
use crate::types::SumDeclarationId;
use nova_core::{Constructor, SumId, SumType};
use nova_diag::{Diagnostic, Span, codes};
use petgraph::algo::tarjan_scc;
use petgraph::graph::DiGraph;

/// Number of instances of sums above which a program is refused.
const MOST_SUMS: usize = 1 << 14;

impl Mono<'_, '_> {
    /// Returns the instance of a sum. Its constructors are filled in by [`Mono::finish_sums`].
    pub(super) fn sum(&mut self, declaration: SumDeclarationId, arguments: Vec<MonoType>) -> SumId {
        let key = (declaration, arguments);
        if let Some(sum) = self.concrete.sums.get(&key) {
            return *sum;
        }
        let sum = SumId(self.writer.core.sums.len() as u32);
        self.concrete.declarations.push(declaration);
        self.concrete.payloads.push(Vec::new());
        self.concrete.sum_arguments.push(key.1.clone());
        let declared = self.source.declarations.sum(declaration);
        let arguments = key.1.iter().map(|ty| self.concrete.core(*ty)).collect();
        self.writer.core.sums.push(SumType {
            name: declared.name.text.clone(),
            arguments,
            constructors: Vec::new(),
            group: Vec::new(),
            node_of: None,
        });
        if let Some(span) = declared.endless {
            self.endless(declaration, span);
        } else {
            let pending = (sum, declaration, key.1.clone());
            self.concrete.pending.push(pending);
        }
        self.concrete.sums.insert(key, sum);
        sum
    }

    fn endless(&mut self, declaration: SumDeclarationId, span: Span) {
        let name = &self.source.declarations.sum(declaration).name;
        let message = format!(
            "every instance of the type `{}` needs a larger instance of it, without end",
            name.text
        );
        let diagnostic = Diagnostic::error(codes::ENDLESS_INSTANTIATION, span, message)
            .label("contains itself at a larger type")
            .also(name.span, "declared here")
            .help("let the type contain itself with the same arguments only");
        self.report(diagnostic);
    }

    /// Fills in the constructors of all instances made since the last call, the groups of those
    /// that are recursive, and their sizes. Returns `false` where there are too many, or one is too
    /// large.
    pub(super) fn finish_sums(&mut self) -> bool {
        let first = self.concrete.sum_sizes.len();
        while let Some((sum, declaration, arguments)) = self.concrete.pending.pop() {
            if self.writer.core.sums.len() > MOST_SUMS {
                self.concrete.pending.clear();
                return false;
            }
            let declarations = self.source.declarations;
            let declared = declarations.sum(declaration);
            self.enter_instance(&declared.parameters, &arguments);
            let mut payloads = Vec::new();
            let mut constructors = Vec::new();
            for constructor in &declared.constructors {
                let payload = self.mono_type(constructor.payload);
                payloads.push(payload);
                constructors.push(Constructor {
                    name: constructor.name.text.clone(),
                    payload: self.concrete.core(payload),
                });
            }
            self.leave_instance(&declared.parameters);
            if !declarations.is_named(declaration) {
                // Sums without a name are distinguished by their payloads.
                let types = constructors.iter().map(|c| c.payload.clone());
                self.writer.core.sums[sum.index()].arguments = types.collect();
            }
            self.writer.core.sums[sum.index()].constructors = constructors;
            self.concrete.payloads[sum.index()] = payloads;
        }
        self.fill_groups(first)
    }

    /// Fills in the groups and sizes, which need all sums from `first` on. No sum before `first`
    /// contains one of these.
    fn fill_groups(&mut self, first: usize) -> bool {
        let mut graph: DiGraph<u32, ()> = DiGraph::new();
        let count = self.writer.core.sums.len();
        let nodes: Vec<_> = (first..count).map(|i| graph.add_node(i as u32)).collect();
        for (offset, payloads) in self.concrete.payloads[first..].iter().enumerate() {
            for contained in self.concrete.sums_in(payloads) {
                if let Some(contained) = contained.index().checked_sub(first) {
                    graph.add_edge(nodes[offset], nodes[contained], ());
                }
            }
        }
        self.concrete.sum_sizes.resize(count, 1);
        let mut within = true;
        // The contents of a component come before it.
        for component in tarjan_scc(&graph) {
            let recursive =
                component.len() > 1 || component.iter().any(|&n| graph.find_edge(n, n).is_some());
            let mut members: Vec<SumId> = component.iter().map(|&n| SumId(graph[n])).collect();
            members.sort_unstable();
            for &sum in &members {
                within &= self.measure_sum(sum, recursive) <= LARGEST_TYPE;
                if recursive {
                    self.writer.core.sums[sum.index()].group = members.clone();
                }
            }
        }
        within
    }

    /// Sets the number of parts that a sum adds to a type that contains it. Returns the number of
    /// its own parts.
    fn measure_sum(&mut self, sum: SumId, recursive: bool) -> u64 {
        let arguments = self.concrete.sum_arguments[sum.index()].clone();
        let payloads = self.concrete.payloads[sum.index()].clone();
        let of_arguments = self.concrete.sum_of_sizes(&arguments).saturating_add(1);
        let of_payloads = self.concrete.sum_of_sizes(&payloads).saturating_add(1);
        let own = of_arguments.max(of_payloads);
        self.concrete.sum_sizes[sum.index()] = if recursive { of_arguments } else { own };
        own
    }
}
