//! Long bodies are split into functions.
//!
//! C compilers are superlinear in the size of a function: gcc 12 -O2 took 87 s for one of 10,000
//! dependent conditionals. So bodies of more than about a thousand statements become sequences of
//! calls. Consecutive statements, about that number together, become a function. Its parameters are
//! the variables that they use, and its results are those used after them. Inner bodies are treated
//! first. Where a body is heavy because of the bodies in one of its statements, those are outlined
//! whole.

use crate::limits::STATEMENTS_OF_A_FUNCTION;
use nova_diag::{Place, deep};
use nova_flat::ir::{
    Atom, Body, Expression, Function, FunctionId, Program, Statement, Type, Variable,
};
use nova_flat::recursion;
use nova_flat::visit::{
    Substitution, bodies, bodies_mut, each_variable, fresh_copy, fresh_variable, type_variables,
};
use nova_flat::{array_expressions, node_expressions, other_expressions, pure_expressions};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Splits every function that is too long.
pub fn run(program: &mut Program) {
    run_with_limit(program, STATEMENTS_OF_A_FUNCTION);
}

fn run_with_limit(program: &mut Program, limit: usize) {
    let names = program.functions.iter().map(|f| f.name.clone()).collect();
    let mut outliner = Outliner {
        program,
        limit,
        names,
    };
    let count = outliner.program.functions.len();
    for k in 0..count {
        let mut body = std::mem::take(&mut outliner.program.functions[k].body);
        let name = outliner.program.functions[k].name.clone();
        outliner.body(&mut body, &name);
        outliner.program.functions[k].body = body;
    }
    if outliner.program.functions.len() > count {
        recursion::mark(program);
    }
}

struct Outliner<'a> {
    program: &'a mut Program,
    limit: usize,
    names: BTreeSet<Arc<str>>,
}

impl Outliner<'_> {
    /// Splits a body where it is too long. Returns the number of statements that are left in it at
    /// any depth.
    fn body(&mut self, body: &mut Body, name: &Arc<str>) -> usize {
        let mut weights = Vec::with_capacity(body.statements.len());
        for statement in &mut body.statements {
            weights.push(self.statement(statement, name));
        }
        let total: usize = weights.iter().sum();
        if total <= self.limit {
            return total;
        }
        let chunks = self.chunks(body, &weights);
        let outlined: usize = chunks
            .iter()
            .map(|c| weights[c.clone()].iter().sum::<usize>())
            .sum();
        let left = total - outlined + chunks.len();
        self.outline_chunks(body, chunks, name);
        left
    }

    /// Treats the bodies of a statement. Outlines them whole where together they are too heavy.
    /// Returns the number of statements that are left.
    fn statement(&mut self, statement: &mut Statement, name: &Arc<str>) -> usize {
        let mut weights = Vec::new();
        bodies_mut(&mut statement.expression, &mut |inner| {
            weights.push(deep(|| self.body(inner, name)));
        });
        let mut total: usize = weights.iter().sum();
        if total > self.limit {
            let average = total / weights.len();
            let mut weights = weights.into_iter();
            let place = statement.place.clone();
            bodies_mut(&mut statement.expression, &mut |inner| {
                let weight = weights.next().unwrap_or_default();
                if weight >= average.max(8) && !has_tail_call(inner) {
                    self.outline_body(inner, name, &place);
                    total = total - weight + 1;
                }
            });
        }
        total + 1
    }

    /// Returns the ranges of statements that become functions. Each has about the limit of
    /// statements, and none has a tail call.
    fn chunks(&self, body: &Body, weights: &[usize]) -> Vec<std::ops::Range<usize>> {
        let mut chunks = Vec::new();
        let (mut start, mut weight) = (0, 0);
        for (k, statement) in body.statements.iter().enumerate() {
            if statement_has_tail_call(statement) {
                chunks.push(start..k);
                (start, weight) = (k + 1, 0);
                continue;
            }
            if weight > 0 && weight + weights[k] > self.limit {
                chunks.push(start..k);
                (start, weight) = (k, 0);
            }
            weight += weights[k];
        }
        chunks.push(start..body.statements.len());
        let weight = |chunk: &std::ops::Range<usize>| weights[chunk.clone()].iter().sum::<usize>();
        chunks.retain(|chunk| chunk.len() > 1 || weight(chunk) > self.limit / 2);
        chunks
    }

    fn outline_chunks(
        &mut self,
        body: &mut Body,
        chunks: Vec<std::ops::Range<usize>>,
        name: &Arc<str>,
    ) {
        let last_uses = self.last_uses(body);
        let mut old = std::mem::take(&mut body.statements).into_iter();
        let mut done = 0;
        for chunk in chunks {
            body.statements
                .extend(old.by_ref().take(chunk.start - done));
            let statements: Vec<Statement> = old.by_ref().take(chunk.len()).collect();
            done = chunk.end;
            let outputs = self.outputs(&statements, |v| {
                last_uses.get(&v).is_some_and(|last| *last >= chunk.end)
            });
            let Some(place) = statements.first().map(|s| s.place.clone()) else {
                continue;
            };
            let results = outputs.iter().map(|v| Atom::Variable(*v)).collect();
            let outlined = Body {
                statements,
                results,
            };
            let call = self.make_function(&outlined, &outputs, name, &place);
            body.statements.push(Statement {
                pattern: outputs,
                expression: call,
                place,
            });
        }
        body.statements.extend(old);
    }

    /// Returns for each variable the last statement of the body that uses it. The results of the
    /// body count as one more statement.
    fn last_uses(&self, body: &Body) -> HashMap<Variable, usize> {
        let mut last = HashMap::new();
        for (k, statement) in body.statements.iter().enumerate() {
            each_use(self.program, statement, &mut |v| {
                last.insert(v, k);
            });
        }
        for result in &body.results {
            if let Atom::Variable(variable) = result {
                last.insert(*variable, body.statements.len());
            }
        }
        last
    }

    /// Returns the variables that statements bind and `used` accepts, with their sizes. Scalars
    /// come first.
    fn outputs(&self, statements: &[Statement], used: impl Fn(Variable) -> bool) -> Vec<Variable> {
        let bound: BTreeSet<Variable> = statements.iter().flat_map(|s| s.pattern.clone()).collect();
        let mut needed: BTreeSet<Variable> = bound.iter().copied().filter(|v| used(*v)).collect();
        for variable in needed.clone() {
            type_variables(self.program.ty(variable), None, &mut |size| {
                if bound.contains(&size) {
                    needed.insert(size);
                }
            });
        }
        self.scalars_first(needed)
    }

    fn scalars_first(&self, variables: BTreeSet<Variable>) -> Vec<Variable> {
        let is_scalar = |v: &Variable| matches!(self.program.ty(*v), Type::Scalar(_));
        let (mut ordered, arrays): (Vec<Variable>, Vec<Variable>) =
            variables.into_iter().partition(is_scalar);
        ordered.extend(arrays);
        ordered
    }

    /// Replaces a whole body by a call.
    fn outline_body(&mut self, body: &mut Body, name: &Arc<str>, place: &Place) {
        let outlined = std::mem::take(body);
        // The results of the body get new names at the call. Sizes of arrays come with them.
        let outputs = self.outputs(&outlined.statements, |v| {
            outlined.results.contains(&Atom::Variable(v))
        });
        let results = outlined.results.clone();
        let given = Body {
            statements: outlined.statements.clone(),
            results: outputs.iter().map(|v| Atom::Variable(*v)).collect(),
        };
        let call = self.make_function(&given, &outputs, name, place);
        *body = Body {
            statements: vec![Statement {
                pattern: outputs,
                expression: call,
                place: place.clone(),
            }],
            results,
        };
    }

    /// Makes a function of a body, and returns the call that replaces the body. `outputs` are its
    /// results.
    fn make_function(
        &mut self,
        body: &Body,
        outputs: &[Variable],
        name: &Arc<str>,
        place: &Place,
    ) -> Expression {
        let inputs = self.scalars_first(self.free(body));
        let mut substitution = Substitution::default();
        let parameters = inputs
            .iter()
            .map(|v| fresh_variable(self.program, *v, &mut substitution))
            .collect();
        let copy = fresh_copy(self.program, body, &mut substitution);
        // Result binders: sizes among the results are binders too, others are parameters.
        for input in outputs {
            substitution.insert(*input, Atom::Variable(*input));
        }
        let results = outputs
            .iter()
            .map(|v| fresh_variable(self.program, *v, &mut substitution))
            .collect();
        let function = FunctionId(self.program.functions.len() as u32);
        let name = self.fresh_name(name);
        self.program.functions.push(Function {
            name,
            parameters,
            results,
            body: copy,
            recursive: false,
            takes: false,
            place: place.clone(),
        });
        Expression::Call {
            function,
            arguments: inputs.into_iter().map(Atom::Variable).collect(),
            tail: false,
        }
    }

    /// Returns the free variables of a body with the sizes of the arrays among them.
    fn free(&self, body: &Body) -> BTreeSet<Variable> {
        let mut free = nova_flat::visit::free_variables(self.program, body);
        for variable in free.clone() {
            type_variables(self.program.ty(variable), None, &mut |size| {
                free.insert(size);
            });
        }
        free
    }

    fn fresh_name(&mut self, base: &Arc<str>) -> Arc<str> {
        let mut number = self.program.functions.len();
        loop {
            let name: Arc<str> = Arc::from(format!("{base}_part{number}"));
            if self.names.insert(name.clone()) {
                return name;
            }
            number += 1;
        }
    }
}

/// Calls `visit` on each variable that a statement uses, at any depth, in types too.
fn each_use(program: &Program, statement: &Statement, visit: &mut dyn FnMut(Variable)) {
    nova_flat::visit::used_variables(&statement.expression, visit);
    let types = |v: Variable, visit: &mut dyn FnMut(Variable)| {
        let info = program.variable(v);
        type_variables(&info.ty, info.memory.as_ref(), visit);
    };
    for variable in &statement.pattern {
        types(*variable, visit);
    }
    nova_flat::visit::binders(&statement.expression, &mut |v| types(*v, visit));
    bodies(&statement.expression, &mut |inner| {
        each_variable(program, inner, &mut |_| {}, visit);
    });
}

fn statement_has_tail_call(statement: &Statement) -> bool {
    match &statement.expression {
        Expression::Call { tail, .. } => *tail,
        Expression::If {
            then, otherwise, ..
        } => [then, otherwise]
            .into_iter()
            .any(|b| deep(|| has_tail_call(b))),
        Expression::Switch { cases, .. } => cases.iter().any(|b| deep(|| has_tail_call(b))),
        Expression::While { .. }
        | Expression::Foreign { .. }
        | pure_expressions!()
        | array_expressions!()
        | node_expressions!()
        | other_expressions!() => false,
    }
}

/// True if a body ends in a tail call.
fn has_tail_call(body: &Body) -> bool {
    body.statements.last().is_some_and(statement_has_tail_call)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nova_core::interpret::Options;
    use nova_core::text::{print_value, read_value};

    const PROGRAM: &str = r#"(program (entry "f" [("x" (vector i32))] (vector i32) "f")
      (function "f" [n:i64 x:[n]i32] [r0:i64 r:[r0]i32] (do
        (let [m:i64 y:[m]i32] (operation [n] [i:i64] []
          (do (let [e:i32] (index x [i])) (let [c:bool] (gt i32 e 0i32)) (in c e))
          (filter 1)))
        (let [d:bool] (gt i64 m 2))
        (let [k:i64 z:[k]i32] (if d
          (do
            (let [h:i64] (div i64 m 2))
            (let [v:[h]i32] (slice y [0 1 h]))
            (let [w:[h]i32] (copy v))
            (in h w))
          (do
            (let [] (check d shape [m n]))
            (in m y))))
        (let [t:[k]i32] (operation [k] [j:i64] []
          (do
            (let [a:i32] (index z [j]))
            (let [b:i32] (index y [j]))
            (let [p:i32] (mul i32 a b))
            (let [q:i32] (add i32 p 1i32))
            (in q))
          (map)))
        (in k t))))"#;

    #[test]
    fn outlined_functions_mean_the_same() {
        let mut sources = nova_diag::SourceMap::new();
        let file = sources.add("test.flat", PROGRAM);
        let original = nova_flat::parse::parse(PROGRAM, file).unwrap();
        for limit in 1..12 {
            let mut program = original.clone();
            run_with_limit(&mut program, limit);
            nova_flat::verify::verify(&program).unwrap();
            let largest = program.functions.iter().map(|f| f.body.statements.len());
            assert!(limit > 5 || largest.max() < Some(5));
            let entry = &program.entries[0];
            let input = read_value("[3 -1 4 1 5]", &entry.inputs[0].1, &[]).unwrap();
            let options = Options::default();
            let value = nova_flat::interpret::evaluate(&program, 0, &[input], &options).unwrap();
            assert_eq!(print_value(&value, &entry.result, &[]), "[10 17]");
        }
    }
}
