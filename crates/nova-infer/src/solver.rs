//! The solution of equations and demands between types.

use crate::convert;
use crate::links::LinkForm;
use crate::obligations::Obligation;
use crate::reasons::Because;
use crate::resolve::BindingId;
use crate::source::Source;
use crate::types::{SumDeclarationId, Ty, TypeVariable, Types};
use nova_diag::{Diagnostic, Severity, Span};
use nova_syntax::ast::{ExpressionId, Pattern};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Solves equations and demands between types, and reports those without a solution.
pub(crate) struct Solver<'a> {
    pub source: Source<'a>,
    pub types: Types,
    /// The demands that wait for more types to be known.
    pub obligations: Vec<Obligation>,
    /// The `foreach`es and `up`s, by the numbers in their link types.
    pub forms: Vec<LinkForm>,
    /// The number of the form of each `foreach` and `up`.
    pub form_of: HashMap<ExpressionId, u32>,
    /// The expressions at which a link, node or datum of the wrong type has been reported.
    pub link_mistakes: HashSet<ExpressionId>,
    /// The sums without node type that have been reported.
    pub nodeless: HashSet<SumDeclarationId>,
    /// The names of constructors of the nodes of sums without nodes, with their places.
    pub no_constructors: Vec<(Span, Arc<str>, SumDeclarationId)>,
    /// Variables whose type nothing determines.
    pub undetermined: Vec<TypeVariable>,
    /// The definitions whose types are being inferred.
    pub current_group: Vec<u32>,
    /// The recursive functions around the current expression.
    pub recursive: HashSet<BindingId>,
    /// Arguments of calls that have been reported to lack others. They stand in the wrong positions.
    pub misplaced: HashSet<Span>,
    /// Messages.
    pub diagnostics: Vec<Diagnostic>,
}

impl<'a> Solver<'a> {
    /// Creates a solver without equations. `diagnostics` are the messages so far.
    pub fn new(source: Source<'a>, types: Types, diagnostics: Vec<Diagnostic>) -> Self {
        Solver {
            source,
            types,
            obligations: Vec::new(),
            forms: Vec::new(),
            form_of: HashMap::new(),
            link_mistakes: HashSet::new(),
            nodeless: HashSet::new(),
            no_constructors: source.resolved.no_constructors.clone(),
            undetermined: Vec::new(),
            current_group: Vec::new(),
            recursive: HashSet::new(),
            misplaced: HashSet::new(),
            diagnostics,
        }
    }

    /// Notes the arguments of a call that has been reported to lack others. Their types cause no messages.
    pub fn misplace(&mut self, arguments: &[ExpressionId]) {
        let spans = arguments.iter().map(|argument| self.source.span(*argument));
        self.misplaced.extend(spans);
    }

    /// Demands that a found type is the expected one, and reports a mismatch. Returns true if they
    /// agree.
    pub fn expect(&mut self, expected: Ty, found: Ty, at: ExpressionId, because: &Because) -> bool {
        let result = self.types.unify(expected, found);
        let agrees = result.is_ok();
        if let Err(conflict) = result {
            self.mismatch(expected, found, at, because, conflict);
        }
        self.run_ready();
        agrees
    }

    /// Demands that a pattern matches the type of its value.
    pub fn expect_pattern(
        &mut self,
        expected: Ty,
        found: Ty,
        pattern: &Pattern,
        because: &Because,
    ) {
        if let Err(conflict) = self.types.unify(expected, found) {
            self.mismatch_at(expected, found, pattern.span, None, because, conflict);
        }
        self.run_ready();
    }

    /// Demands that the type of an expression can be held in data.
    pub fn hold(&mut self, ty: Ty, at: ExpressionId) {
        let span = self.source.span(at);
        convert::hold(&mut self.types, &mut self.diagnostics, ty, span);
        self.run_ready();
    }

    /// True if there is an error among the messages.
    pub fn has_errors(&self) -> bool {
        self.diagnostics
            .iter()
            .any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

/// The part of the solver that knows recursive data, their nodes, and the links between these.
pub(crate) struct Recursive<'s, 'a> {
    /// The solver.
    pub solver: &'s mut Solver<'a>,
}

impl<'a> Solver<'a> {
    /// Returns the part that knows recursive data.
    pub fn recursive(&mut self) -> Recursive<'_, 'a> {
        Recursive { solver: self }
    }
}
