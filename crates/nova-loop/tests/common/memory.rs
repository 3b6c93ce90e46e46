//! A simple way from Flat to Mem, for tests.
#![allow(dead_code)]
use nova_core::Scalar;
use nova_core::ScalarOperation as O;
use nova_flat::ir::*;
use nova_flat::memory::{Lmad, Memory, Polynomial};

pub fn introduce(mut p: Program) -> Program {
    let mut functions = std::mem::take(&mut p.functions);
    for f in &mut functions {
        for v in f.parameters.iter().chain(&f.results) {
            own(&mut p, *v);
        }
        body(&mut p, &mut f.body);
        pack(&mut p, &mut f.body);
    }
    p.functions = functions;
    p
}

fn shape(p: &Program, v: Variable) -> Option<(Scalar, Vec<Atom>)> {
    match p.ty(v) {
        Type::Array(s, shape) => Some((*s, shape.clone())),
        _ => None,
    }
}

fn row_major(shape: &[Atom]) -> Lmad {
    let e: Vec<_> = shape
        .iter()
        .map(|a| Polynomial::atom(*a).unwrap())
        .collect();
    Lmad::row_major(Polynomial::constant(0), &e)
}

/// Its own block, bound with it.
fn own(p: &mut Program, v: Variable) -> Option<Variable> {
    let (s, shape) = shape(p, v)?;
    let block = p.add_variable("m", Type::Block(s));
    p.variables[v.0 as usize].memory = Some(Memory {
        block,
        lmad: row_major(&shape),
    });
    Some(block)
}

fn let_(pattern: Vec<Variable>, expression: Expression) -> Statement {
    Statement {
        pattern,
        expression,
        place: nova_diag::Place::new("m", 1, 1),
    }
}

fn product(p: &mut Program, out: &mut Vec<Statement>, shape: &[Atom]) -> Atom {
    let mut a = shape[0];
    for b in &shape[1..] {
        let v = p.add_variable("size", Type::Scalar(Scalar::I64));
        out.push(let_(
            vec![v],
            Expression::Scalar {
                operation: O::Multiply,
                operand: Scalar::I64,
                arguments: vec![a, *b],
            },
        ));
        a = Atom::Variable(v);
    }
    a
}

fn allocate(p: &mut Program, out: &mut Vec<Statement>, v: Variable, count: Option<Atom>) {
    let (element, shape) = shape(p, v).unwrap();
    let count = match count {
        Some(c) => c,
        None => product(p, out, &shape),
    };
    let block = own(p, v).unwrap();
    out.push(let_(vec![block], Expression::Allocate { element, count }));
}

/// A row-major version of an atom.
fn packed(p: &mut Program, out: &mut Vec<Statement>, a: &mut Atom) {
    let Atom::Variable(v) = *a else { return };
    let Some((s, shape)) = shape(p, v) else {
        return;
    };
    if p.variable(v).memory.as_ref().unwrap().lmad.is_row_major() {
        return;
    }
    let w = p.add_variable("packed", Type::Array(s, shape));
    allocate(p, out, w, None);
    out.push(let_(vec![w], Expression::Copy(v)));
    *a = Atom::Variable(w);
}

fn pack(p: &mut Program, b: &mut Body) {
    let mut results = std::mem::take(&mut b.results);
    for r in &mut results {
        packed(p, &mut b.statements, r);
    }
    b.results = results;
}

fn body(p: &mut Program, b: &mut Body) {
    let mut out = Vec::new();
    for mut s in std::mem::take(&mut b.statements) {
        nova_diag::deep(|| statement(p, &mut s, &mut out));
        out.push(s);
    }
    b.statements = out;
}

fn statement(p: &mut Program, s: &mut Statement, out: &mut Vec<Statement>) {
    let pattern = s.pattern.clone();
    match &mut s.expression {
        Expression::View { array, view } => {
            if matches!(view, View::Reshape(_)) {
                let mut a = Atom::Variable(*array);
                packed(p, out, &mut a);
                if let Atom::Variable(v) = a {
                    *array = v;
                }
            }
            let m = p.variable(*array).memory.clone().unwrap();
            let lmad = compose(&m.lmad, view);
            p.variables[pattern[0].0 as usize].memory = Some(Memory {
                block: m.block,
                lmad,
            });
        }
        Expression::Atom(Atom::Variable(v)) => {
            let m = p.variable(*v).memory.clone();
            p.variables[pattern[0].0 as usize].memory = m;
        }
        Expression::Literal { .. }
        | Expression::Iota { .. }
        | Expression::Replicate { .. }
        | Expression::Copy(_)
        | Expression::Concat { .. }
        | Expression::Update { .. }
        | Expression::Bytes(_) => allocate(p, out, pattern[0], None),
        Expression::Sort { compare, .. } => {
            body(p, &mut compare.body);
            allocate(p, out, pattern[0], None)
        }
        Expression::If {
            then, otherwise, ..
        } => {
            for b in [then, otherwise] {
                body(p, b);
                pack(p, b);
            }
            for v in pattern {
                own(p, v);
            }
        }
        Expression::Switch { cases, .. } => {
            for b in cases {
                body(p, b);
                pack(p, b);
            }
            for v in pattern {
                own(p, v);
            }
        }
        Expression::While {
            parameters,
            condition,
            body: b,
        } => {
            for (v, a) in parameters {
                packed(p, out, a);
                own(p, *v);
            }
            body(p, condition);
            body(p, b);
            pack(p, b);
            for v in pattern {
                own(p, v);
            }
        }
        Expression::Call { arguments, .. }
        | Expression::Foreign { arguments, .. }
        | Expression::NodeNew {
            payload: arguments, ..
        }
        | Expression::Trace {
            components: arguments,
            ..
        } => {
            for a in arguments {
                packed(p, out, a);
            }
            for v in pattern {
                own(p, v);
            }
        }
        Expression::NodePayload { .. } | Expression::Fail { .. } => {
            for v in pattern {
                own(p, v);
            }
        }
        Expression::Operation(op) => {
            for (v, a) in &mut op.carries {
                packed(p, out, a);
                own(p, *v);
            }
            let (c, mut rest) = pattern.split_at(op.carries.len());
            for v in c {
                own(p, *v);
            }
            body(p, &mut op.body);
            pack(p, &mut op.body);
            for o in &mut op.outputs {
                let (mine, r) = rest.split_at(o.gives());
                rest = r;
                if let Output::Reduce { lambda, .. }
                | Output::Scan { lambda, .. }
                | Output::Histogram { lambda, .. } = o
                {
                    body(p, &mut lambda.body);
                }
                for v in mine {
                    match o {
                        Output::Collect { .. } => {
                            own(p, *v);
                        }
                        Output::Filter { .. } if shape(p, *v).is_some() => {
                            allocate(p, out, *v, Some(op.shape[0]))
                        }
                        _ if shape(p, *v).is_some() => allocate(p, out, *v, None),
                        _ => {}
                    }
                }
            }
        }
        _ => {}
    }
}

fn compose(lmad: &Lmad, view: &View) -> Lmad {
    let poly = |a: &Atom| Polynomial::atom(*a).unwrap();
    match view {
        View::Slice(dims) => {
            let mut out = Lmad {
                offset: lmad.offset.clone(),
                dimensions: vec![],
            };
            for (d, (_, stride)) in dims.iter().zip(&lmad.dimensions) {
                out.offset = out.offset.plus(&stride.times(&poly(&d.start)));
                out.dimensions
                    .push((poly(&d.count), stride.times(&poly(&d.step))));
            }
            out
        }
        View::Transpose(q) => Lmad {
            offset: lmad.offset.clone(),
            dimensions: q
                .iter()
                .map(|k| lmad.dimensions[*k as usize].clone())
                .collect(),
        },
        View::Reshape(shape) => {
            assert!(lmad.is_row_major());
            let e: Vec<_> = shape.iter().map(poly).collect();
            Lmad::row_major(lmad.offset.clone(), &e)
        }
        View::Row(ix) => {
            let mut out = lmad.clone();
            for (a, (_, stride)) in ix.iter().zip(&lmad.dimensions) {
                out.offset = out.offset.plus(&stride.times(&poly(a)));
            }
            out.dimensions.drain(..ix.len());
            out
        }
    }
}
