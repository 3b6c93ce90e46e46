//! Imports: appends the arenas of one syntax tree to those of another.

use nova_syntax::ast::{
    Arm, Definition, Entry, Expression, ExpressionId, ExpressionKind, Foreign, Name, NodeBody,
    Pattern, PatternKind, Program, TypeDefinition, TypeDefinitionKind, TypeId, TypeKind, TypeNode,
};

/// Appends the types, foreigns, definitions and entries of `from` to those of `into`.
///
/// Ids shift by the sizes of the arenas before, so the work is linear in `from`.
pub fn append(into: &mut Program, from: Program) {
    let shift = Shift {
        expressions: into.arena.len() as u32,
        types: into.type_arena.len() as u32,
    };
    let Program {
        types,
        foreigns,
        imports: _,
        definitions,
        entries,
        type_arena,
        arena,
        lost,
    } = from;
    into.lost.names.extend(lost.names);
    into.lost.any |= lost.any;
    into.type_arena
        .extend(type_arena.into_iter().map(|node| shift.type_node(node)));
    into.arena
        .extend(arena.into_iter().map(|node| shift.expression_node(node)));
    into.types
        .extend(types.into_iter().map(|t| shift.type_definition(t)));
    into.foreigns.extend(foreigns.into_iter().map(|f| Foreign {
        ty: shift.ty(f.ty),
        ..f
    }));
    let definitions = definitions.into_iter().map(|d| Definition {
        value: shift.expression(d.value),
        ..d
    });
    into.definitions.extend(definitions);
    into.entries
        .extend(entries.into_iter().map(|e| shift.entry(e)));
}

/// The offsets of ids.
struct Shift {
    expressions: u32,
    types: u32,
}

impl Shift {
    fn expression(&self, id: ExpressionId) -> ExpressionId {
        ExpressionId(id.0 + self.expressions)
    }

    fn expressions(&self, ids: Vec<ExpressionId>) -> Vec<ExpressionId> {
        ids.into_iter().map(|id| self.expression(id)).collect()
    }

    fn ty(&self, id: TypeId) -> TypeId {
        TypeId(id.0 + self.types)
    }

    fn types(&self, ids: Vec<TypeId>) -> Vec<TypeId> {
        ids.into_iter().map(|id| self.ty(id)).collect()
    }

    fn type_definition(&self, definition: TypeDefinition) -> TypeDefinition {
        let kind = match definition.kind {
            TypeDefinitionKind::Synonym(ty) => TypeDefinitionKind::Synonym(self.ty(ty)),
            TypeDefinitionKind::Sum(constructors) => {
                TypeDefinitionKind::Sum(self.constructors(constructors))
            }
        };
        TypeDefinition { kind, ..definition }
    }

    fn constructors(&self, constructors: Vec<(Name, TypeId)>) -> Vec<(Name, TypeId)> {
        let each = constructors.into_iter();
        each.map(|(name, ty)| (name, self.ty(ty))).collect()
    }

    fn entry(&self, entry: Entry) -> Entry {
        let inputs = entry.inputs.into_iter();
        Entry {
            inputs: inputs.map(|(name, ty)| (name, self.ty(ty))).collect(),
            body: self.expression(entry.body),
            name: entry.name,
            explicit: entry.explicit,
            span: entry.span,
        }
    }

    fn type_node(&self, node: TypeNode) -> TypeNode {
        let kind = match node.kind {
            TypeKind::Name(name) => TypeKind::Name(name),
            TypeKind::Variable(name) => TypeKind::Variable(name),
            TypeKind::Tuple(elements) => TypeKind::Tuple(self.types(elements)),
            TypeKind::Vector(rank, element) => TypeKind::Vector(rank, self.ty(element)),
            TypeKind::Lanes(n, element) => TypeKind::Lanes(n, self.ty(element)),
            TypeKind::Sum(constructors) => TypeKind::Sum(self.constructors(constructors)),
            TypeKind::Wrong => TypeKind::Wrong,
            TypeKind::Function(from, to) => TypeKind::Function(self.ty(from), self.ty(to)),
            TypeKind::Apply(name, arguments) => TypeKind::Apply(name, self.types(arguments)),
        };
        TypeNode {
            kind,
            span: node.span,
        }
    }

    /// Patterns nest no deeper than the limit of the parser.
    fn pattern(&self, pattern: Pattern) -> Pattern {
        nova_diag::deep(|| Pattern {
            kind: match pattern.kind {
                PatternKind::Name(name) => PatternKind::Name(name),
                PatternKind::Wildcard => PatternKind::Wildcard,
                PatternKind::Tuple(elements) => {
                    PatternKind::Tuple(elements.into_iter().map(|p| self.pattern(p)).collect())
                }
            },
            annotation: pattern.annotation.map(|ty| self.ty(ty)),
            span: pattern.span,
        })
    }

    fn expression_node(&self, node: Expression) -> Expression {
        Expression {
            kind: self.expression_kind(node.kind),
            span: node.span,
        }
    }

    fn expression_kind(&self, kind: ExpressionKind) -> ExpressionKind {
        use ExpressionKind::*;
        match kind {
            Name(_) | Number(_) | Bool(_) | Nil | Text(_) => kind,
            Vector(elements) => Vector(self.expressions(elements)),
            Tuple(elements) => Tuple(self.expressions(elements)),
            Apply(function, arguments) => {
                Apply(self.expression(function), self.expressions(arguments))
            }
            Project(of, index, span) => Project(self.expression(of), index, span),
            Index(of, index) => Index(self.expression(of), self.expression(index)),
            Wrong(parts) => Wrong(self.expressions(parts)),
            Annotate(of, ty) => Annotate(self.expression(of), self.ty(ty)),
            Lambda {
                parameters,
                result,
                body,
            } => Lambda {
                parameters: parameters.into_iter().map(|p| self.pattern(p)).collect(),
                result: result.map(|ty| self.ty(ty)),
                body: self.expression(body),
            },
            Let { bindings, body } => Let {
                bindings: self.bindings(bindings),
                body: self.expression(body),
            },
            Mu { name, ty, value } => Mu {
                name,
                ty: ty.map(|ty| self.ty(ty)),
                value: self.expression(value),
            },
            If {
                condition,
                then,
                otherwise,
            } => If {
                condition: self.expression(condition),
                then: self.expression(then),
                otherwise: self.expression(otherwise),
            },
            Case { scrutinee, arms } => Case {
                scrutinee: self.expression(scrutinee),
                arms: arms.into_iter().map(|arm| self.arm(arm)).collect(),
            },
            Foreach {
                datum,
                links,
                nodes,
            } => Foreach {
                datum: self.expression(datum),
                links: Box::new((*links).map(|link| self.pattern(link))),
                nodes: nodes.into_iter().map(|node| self.node(node)).collect(),
            },
            Up { body, links } => Up {
                body: self.expression(body),
                links: self.bindings(links),
            },
            Down(datum) => Down(self.expression(datum)),
        }
    }

    fn bindings(&self, bindings: Vec<(Pattern, ExpressionId)>) -> Vec<(Pattern, ExpressionId)> {
        let each = bindings.into_iter();
        each.map(|(pattern, value)| (self.pattern(pattern), self.expression(value)))
            .collect()
    }

    fn node(&self, node: NodeBody) -> NodeBody {
        NodeBody {
            pattern: self.pattern(node.pattern),
            ty: node.ty,
            body: self.expression(node.body),
        }
    }

    fn arm(&self, arm: Arm) -> Arm {
        Arm {
            constructor: arm.constructor,
            payload: arm.payload.map(|p| self.pattern(p)),
            body: self.expression(arm.body),
            span: arm.span,
        }
    }
}
