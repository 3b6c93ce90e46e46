//! The forms of expressions: a table, beside that of the built-ins.

use super::Parser;
use crate::builtin::VECTOR_BUILTINS;
use crate::forms::read::named_constant;
use crate::ir::{Arm, ExpressionId, ExpressionKind};
use crate::{Builtin, ScalarOperation, SumType, Type};
use nova_diag::deep;
use nova_syntax::{DatumId, Kind};

/// The rule that parses the items of a form.
type Rule = for<'a> fn(&mut Parser<'a>, DatumId, &'a [DatumId]) -> Option<ExpressionId>;

/// All forms but built-ins.
const FORMS: &[(&str, Rule)] = &[
    ("text", |p, at, items| {
        let [text] = p.text.exactly(at, items)?;
        let bytes = p.text.bytes(text)?;
        p.plain(at, ExpressionKind::Text(bytes), None)
    }),
    ("lambda", |p, at, items| p.lambda(at, items)),
    ("apply", |p, at, items| p.apply(at, items)),
    ("let", |p, at, items| p.bindings(at, items)),
    ("letrec", |p, at, items| p.letrec(at, items)),
    ("if", |p, at, items| {
        let [condition, then, otherwise] = p.text.exactly(at, items)?;
        let condition = p.expression(condition)?;
        let then = p.expression(then)?;
        let otherwise = p.expression(otherwise)?;
        let kind = ExpressionKind::If {
            condition,
            then,
            otherwise,
        };
        p.plain(at, kind, None)
    }),
    ("case", |p, at, items| p.case(at, items)),
    ("tuple", |p, at, items| {
        let elements = p.expressions(items)?;
        p.plain(at, ExpressionKind::Tuple(elements), None)
    }),
    ("project", |p, at, items| {
        let [index, tuple] = p.text.exactly(at, items)?;
        let index = p.text.index(index)?;
        let tuple = p.expression(tuple)?;
        p.plain(at, ExpressionKind::Project(tuple, index), None)
    }),
    ("construct", |p, at, items| p.construct(at, items)),
    ("vector", |p, at, items| {
        let Some((element, elements)) = items.split_first() else {
            return p.text.error(at, "`(vector TYPE elements…)` is expected");
        };
        let ty = Type::vector(p.text.core_type(*element)?);
        let elements = p.expressions(elements)?;
        p.plain(at, ExpressionKind::Vector(elements), Some(&ty))
    }),
    ("foreign", |p, at, mut items| {
        let place = p.take_place(&mut items)?;
        let Some((foreign, arguments)) = items.split_first() else {
            return p
                .text
                .error(at, "`(foreign NUMBER arguments…)` is expected");
        };
        let kind = ExpressionKind::Foreign {
            foreign: p.text.index(*foreign)?,
            arguments: p.expressions(arguments)?,
        };
        p.add(at, kind, None, place)
    }),
];

/// Returns the built-in of a word.
fn builtin_of(word: &str) -> Option<Builtin> {
    let vector = VECTOR_BUILTINS.iter().find(|(_, w)| *w == word);
    match vector {
        Some((builtin, _)) => Some(*builtin),
        None => ScalarOperation::by_short(word).map(Builtin::Scalar),
    }
}

impl<'a> Parser<'a> {
    fn plain(
        &mut self,
        at: DatumId,
        kind: ExpressionKind,
        stated: Option<&Type>,
    ) -> Option<ExpressionId> {
        let place = self.nowhere.clone();
        self.add(at, kind, stated, place)
    }

    pub fn expression(&mut self, id: DatumId) -> Option<ExpressionId> {
        deep(|| match self.text.data.kind(id) {
            Kind::Number(_) => {
                let value = self.text.number(id)?;
                self.plain(id, ExpressionKind::Literal(value), None)
            }
            Kind::Symbol(symbol) => {
                if let Some(value) = named_constant(symbol) {
                    return self.plain(id, ExpressionKind::Literal(value), None);
                }
                match (self.names.get(symbol), &**symbol) {
                    (_, "nil") => self.plain(id, ExpressionKind::Unit, None),
                    (Some(v), _) => self.plain(id, ExpressionKind::Variable(*v), None),
                    (None, _) => self.text.error(id, "this variable is not bound before"),
                }
            }
            Kind::List(_) => self.form(id),
            _ => self.text.error(id, "an expression is expected here"),
        })
    }

    fn expressions(&mut self, ids: &'a [DatumId]) -> Option<Vec<ExpressionId>> {
        ids.iter().map(|id| self.expression(*id)).collect()
    }

    fn form(&mut self, id: DatumId) -> Option<ExpressionId> {
        let Some((word, items)) = self.text.data.form(id) else {
            return self.text.error(id, "a form starts with a word");
        };
        if let Some((_, rule)) = FORMS.iter().find(|(form, _)| *form == word) {
            return rule(self, id, items);
        }
        match builtin_of(word) {
            Some(builtin) => self.builtin(id, builtin, items),
            None => self.text.error(id, "there is no such form"),
        }
    }

    fn builtin(
        &mut self,
        at: DatumId,
        builtin: Builtin,
        mut items: &'a [DatumId],
    ) -> Option<ExpressionId> {
        let place = self.take_place(&mut items)?;
        let mut stated = None;
        if matches!(
            builtin,
            Builtin::Length | Builtin::Shape | Builtin::Segments | Builtin::Table { .. }
        ) && let [ty, rest @ ..] = items
            && !rest.is_empty()
        {
            stated = Some(self.text.core_type(*ty)?);
            items = rest;
        }
        let arguments = self.expressions(items)?;
        let kind = ExpressionKind::Builtin { builtin, arguments };
        self.add(at, kind, stated.as_ref(), place)
    }

    fn lambda(&mut self, at: DatumId, mut items: &'a [DatumId]) -> Option<ExpressionId> {
        let place = self.take_place(&mut items)?;
        let [parameters, body] = self.text.exactly(at, items)?;
        let parameters = self.parameters(parameters)?;
        let body = self.expression(body)?;
        let kind = ExpressionKind::Lambda { parameters, body };
        self.add(at, kind, None, place)
    }

    fn apply(&mut self, at: DatumId, mut items: &'a [DatumId]) -> Option<ExpressionId> {
        let place = self.take_place(&mut items)?;
        let Some((function, arguments)) = items.split_first() else {
            return self.text.error(at, "an application needs a function");
        };
        let kind = ExpressionKind::Apply {
            function: self.expression(*function)?,
            arguments: self.expressions(arguments)?,
        };
        self.add(at, kind, None, place)
    }

    /// Parses `(let [x VALUE] … BODY)`: nested `let`s.
    fn bindings(&mut self, at: DatumId, items: &'a [DatumId]) -> Option<ExpressionId> {
        let Some((body, bindings)) = items.split_last() else {
            return self.text.error(at, "a `let` needs a body");
        };
        let mut bound = Vec::new();
        for binding in bindings {
            let mut items = self.text.items(*binding)?;
            let (name, ty) = self.binding(*binding, &mut items)?;
            let [value] = self.text.exactly(*binding, items)?;
            let value = self.expression(value)?;
            let ty = ty.unwrap_or_else(|| self.program.expression(value).ty.clone());
            bound.push((self.bind(name, ty)?, value));
        }
        let body = self.expression(*body)?;
        bound
            .into_iter()
            .rev()
            .try_fold(body, |body, (variable, value)| {
                let kind = ExpressionKind::Let {
                    variable,
                    value,
                    body,
                };
                self.plain(at, kind, None)
            })
    }

    /// Parses `(letrec [f:TYPE LAMBDA] … BODY)`.
    fn letrec(&mut self, at: DatumId, items: &'a [DatumId]) -> Option<ExpressionId> {
        let Some((body, list)) = items.split_last() else {
            return self.text.error(at, "a `letrec` needs a body");
        };
        let mut bound = Vec::new();
        for binding in list {
            let mut items = self.text.items(*binding)?;
            let (name, ty) = self.binding(*binding, &mut items)?;
            let Some(ty) = ty else {
                return self.text.error(name, "a recursive function needs its type");
            };
            let [value] = self.text.exactly(*binding, items)?;
            bound.push((self.bind(name, ty)?, value));
        }
        let mut bindings = Vec::new();
        for (variable, value) in bound {
            bindings.push((variable, self.expression(value)?));
        }
        let body = self.expression(*body)?;
        self.plain(at, ExpressionKind::Letrec { bindings, body }, None)
    }

    fn sum_of(&mut self, at: DatumId, ty: &Type) -> Option<SumType> {
        let sum = match ty {
            Type::Sum(id) => self.program.sums.get(id.index()).cloned(),
            _ => None,
        };
        match sum {
            Some(sum) => Some(sum),
            None => self.text.error(at, "this is no sum"),
        }
    }

    fn constructor(&mut self, at: DatumId, sum: &SumType) -> Option<usize> {
        let name = self.text.string(at)?;
        match sum.constructors.iter().position(|c| c.name == name) {
            Some(index) => Some(index),
            None => self
                .text
                .error(at, format!("{name} is no constructor of {}", sum.name)),
        }
    }

    /// Parses `(construct (sum 0) "Cons" PAYLOAD)`.
    fn construct(&mut self, at: DatumId, items: &'a [DatumId]) -> Option<ExpressionId> {
        let [ty, name, payload] = self.text.exactly(at, items)?;
        let stated = self.text.core_type(ty)?;
        let sum = self.sum_of(ty, &stated)?;
        let constructor = self.constructor(name, &sum)? as u32;
        let payload = self.expression(payload)?;
        let kind = ExpressionKind::Construct {
            constructor,
            payload,
        };
        self.plain(at, kind, Some(&stated))
    }

    /// Parses `(case E ("Cons" p:T BODY) … (else BODY))`.
    fn case(&mut self, at: DatumId, items: &'a [DatumId]) -> Option<ExpressionId> {
        let Some((scrutinee, cases)) = items.split_first() else {
            return self.text.error(at, "a `case` needs a scrutinee");
        };
        let scrutinee_id = self.expression(*scrutinee)?;
        let ty = self.program.expression(scrutinee_id).ty.clone();
        let sum = self.sum_of(*scrutinee, &ty)?;
        let mut arms = vec![None; sum.constructors.len()];
        let mut default = None;
        for case in cases {
            let items = self.text.data.as_list(*case).unwrap_or_default();
            let (Some(name), Some((body, before))) = (items.first(), items.split_last()) else {
                return self.text.error(*case, "an arm is expected here");
            };
            if self.text.data.is_symbol(*name, "else") {
                default = Some(self.expression(*body)?);
                continue;
            }
            let index = self.constructor(*name, &sum)?;
            let mut variable = None;
            if let [_, _, ..] = before {
                let mut binding = &before[1..];
                let (name, ty) = self.binding(*case, &mut binding)?;
                let ty = ty.unwrap_or_else(|| sum.constructors[index].payload.clone());
                variable = Some(self.bind(name, ty)?);
            }
            let body = self.expression(*body)?;
            arms[index] = Some(Arm { variable, body });
        }
        let kind = ExpressionKind::Case {
            scrutinee: scrutinee_id,
            arms,
            default,
        };
        self.plain(at, kind, None)
    }
}
